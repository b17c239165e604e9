//! Marks: from one mark in data units to shapes in pixels inside the plot of its panel.

use super::colour::{AXIS, LABEL as LABEL_INK, PAPER};
use super::layout::Layout;
use super::svg::{Anchor, Pen, Svg};
use super::thin::{Pixel, evenly, thin};
use super::{Colour, Mark, Shape, heat, text};

/// Pieces into which a line that shows the direction of time is cut.
const FADE_STEPS: usize = 24;
/// Size of the words at a level.
const LEVEL: f64 = 11.0;
/// Share of the full colour at the start of such a line.
const FADE_FROM: f64 = 0.28;

/// Draws a mark with at most about `cap` points.
pub(crate) fn draw(svg: &mut Svg, mark: &Mark, layout: &Layout, cap: usize) {
    let colour = mark.colour;
    match &mark.shape {
        Shape::Line { points, width, dashed, fade } => {
            let runs = thin(points.iter().map(|&p| pixel(layout, p)), cap);
            let pen = Pen { colour, width: *width, opacity: mark.opacity, dashed: *dashed };
            let (lone, runs): (Vec<_>, Vec<_>) = runs.into_iter().partition(|run| run.len() == 1);
            // a few points without neighbours would be lost as dots of the width of the line
            let radius = if lone.len() <= 60 { 3.0 } else { width.max(1.0) / 2.0 };
            circles(svg, &lone.concat(), radius, true, colour, mark.opacity);
            if *fade { faded(svg, &runs, pen) } else { svg.polyline(&runs, pen) }
        }
        Shape::Points { points, radius, filled } => {
            let seen: Vec<[f64; 2]> = points.iter().filter_map(|&p| pixel(layout, p)).collect();
            // a circle takes about forty bytes, five times a point of a line
            circles(svg, &evenly(seen, cap / 5), *radius, *filled, colour, mark.opacity);
        }
        Shape::Dots { points, size } => {
            let seen: Vec<[f64; 2]> = points.iter().filter_map(|&p| pixel(layout, p)).collect();
            svg.dots(
                &evenly(seen, cap / 2),
                Pen { colour, width: *size, opacity: mark.opacity, dashed: false },
            );
        }
        Shape::Area { points } => {
            for run in thin(points.iter().map(|&p| pixel(layout, p)), cap) {
                svg.polygon(&run, colour, mark.opacity);
            }
        }
        Shape::Heat(map) => heat::draw(svg, map, layout),
        Shape::Level { y, text: words } => level(svg, mark, *y, words, layout),
        Shape::Slope { from, ratio, order } => slope(svg, *from, *ratio, *order, layout),
        Shape::Text { at, text: words } => {
            if let Some([x, y]) = pixel(layout, *at) {
                svg.text(x, y, 12.0, colour, Anchor::Start, &text::fit(words, 12.0, layout.plot.width));
            }
        }
    }
}

fn pixel(layout: &Layout, point: [f64; 2]) -> Pixel {
    Some([layout.map[0].pixel(point[0])?, layout.map[1].pixel(point[1])?])
}

/// Discs with a thin white border that keeps neighbours apart, or rings.
pub(crate) fn circles(
    svg: &mut Svg,
    at: &[[f64; 2]],
    radius: f64,
    filled: bool,
    colour: Colour,
    opacity: f64,
) {
    let (fill, edge, width) = if filled { (colour, PAPER, 0.8) } else { (PAPER, colour, 1.6) };
    svg.circles(at, radius, fill, Pen { colour: edge, width, opacity, dashed: false });
}

/// Consecutive pieces of the runs, from pale to full colour. As separate paths they also
/// darken where they overlap, which shows where a dense path has been more often.
fn faded(svg: &mut Svg, runs: &[Vec<[f64; 2]>], pen: Pen) {
    let total: usize = runs.iter().map(Vec::len).sum();
    let per_piece = total.div_ceil(FADE_STEPS).max(2);
    let mut piece: Vec<Vec<[f64; 2]>> = Vec::new();
    let (mut in_piece, mut done) = (0, 0);
    let shade = |done: usize| {
        let share = FADE_FROM + (1.0 - FADE_FROM) * done as f64 / total.max(1) as f64;
        Pen { colour: PAPER.mix(pen.colour, share), ..pen }
    };
    for run in runs {
        piece.push(Vec::new());
        for &point in run {
            if let Some(open) = piece.last_mut() {
                open.push(point);
            }
            in_piece += 1;
            done += 1;
            if in_piece >= per_piece {
                svg.polyline(&piece, shade(done));
                // the next piece starts where this one ends
                piece = vec![vec![point]];
                in_piece = 0;
            }
        }
    }
    piece.retain(|run| run.len() > 1);
    svg.polyline(&piece, shade(total));
}

fn level(svg: &mut Svg, mark: &Mark, y: f64, words: &str, layout: &Layout) {
    let plot = layout.plot;
    if let Some(y) = layout.map[1].pixel(y).filter(|y| (plot.y..=plot.bottom()).contains(y)) {
        let pen = Pen { colour: mark.colour, width: 1.0, opacity: mark.opacity, dashed: true };
        svg.line([plot.x, y], [plot.right(), y], pen);
        let right = plot.right() - 4.0;
        let left = right - text::width(words, LEVEL);
        // curves may pass there: the words stand on a piece of paper
        let (top, bottom) = (y - 4.0 - LEVEL, y - 1.0);
        svg.polygon(
            &[[left - 3.0, top], [right + 3.0, top], [right + 3.0, bottom], [left - 3.0, bottom]],
            PAPER,
            0.85,
        );
        svg.text(right, y - 4.0, LEVEL, mark.colour, Anchor::End, words);
    }
}

/// Horizontal leg, vertical leg, hypotenuse, and the order beside the vertical leg.
fn slope(svg: &mut Svg, from: [f64; 2], ratio: f64, order: f64, layout: &Layout) {
    let right = from[0] * ratio;
    let corners = [from, [right, from[1]], [right, from[1] * ratio.powf(order)]];
    let corners: Vec<[f64; 2]> = corners.iter().filter_map(|&c| pixel(layout, c)).collect();
    if let [a, b, c] = corners[..] {
        svg.polygon(&corners, AXIS, 0.12);
        svg.polyline(&[vec![a, b, c, a]], Pen::new(AXIS, 1.0));
        let middle = (b[1] + c[1]) / 2.0 + 4.0;
        let words = text::short(order);
        // beside the triangle, or inside it at the border of the plot
        let outside = b[0] + 5.0 + text::width(&words, 12.0) < layout.plot.right();
        let (x, anchor) = if outside { (b[0] + 5.0, Anchor::Start) } else { (b[0] - 5.0, Anchor::End) };
        svg.text(x, middle, 12.0, LABEL_INK, anchor, &words);
    }
}
