//! Drawing: from a figure to its SVG. Header, then for each panel the grid, the marks,
//! the axes and the words, in this order, so that marks cover the grid and not the labels.

use super::colour::{ALERT as ALERT_INK, AXIS, GRID, INK, LABEL as LABEL_INK};
use super::layout::{self, LABEL, Layout, SWATCH, TICK, TITLE, layout};
use super::svg::{Anchor, Pen, Svg};
use super::{Colour, Figure, Frame, Panel, Shape, heat, marks, text};

/// Points of all lines of a figure together; a point takes about eight bytes.
const MOST_POINTS: usize = 130_000;

/// The figure as an SVG file.
pub(crate) fn to_svg(figure: &Figure) -> String {
    drawn(figure, Svg::new(figure.width, figure.height))
}

/// The same with letters as outlines, which needs no font to be shown.
pub(crate) fn to_svg_with_outlines(figure: &Figure, face: ttf_parser::Face<'static>) -> String {
    drawn(figure, Svg::new(figure.width, figure.height).with_outlines(face))
}

fn drawn(figure: &Figure, mut svg: Svg) -> String {
    let room = figure.width - 56.0;
    if !figure.title.is_empty() {
        svg.text(28.0, 38.0, 21.0, INK, Anchor::Start, &text::fit(&figure.title, 21.0, room));
    }
    let alert = (!figure.alert.is_empty()).then(|| (text::fit(&figure.alert, 14.0, room), 14.0, ALERT_INK));
    let subtitle = layout::subtitle(figure).into_iter().map(|line| (line, 13.0, LABEL_INK));
    for (i, (line, size, ink)) in alert.into_iter().chain(subtitle).enumerate() {
        svg.text(28.0, 60.0 + layout::SUBTITLE_LINE * i as f64, size, ink, Anchor::Start, &line);
    }
    let cap = points_per_mark(figure);
    let layouts = layout(figure);
    for (panel, layout) in figure.panels.iter().zip(&layouts) {
        draw(&mut svg, panel, layout, cap);
        let title_room = title_room(figure, &layouts, panel, layout);
        if !panel.title.is_empty() {
            let title = text::fit(&panel.title, TITLE, title_room);
            svg.text(layout.outer.x, layout.outer.y + 13.0, TITLE, INK, Anchor::Start, &title);
        }
    }
    svg.finish()
}

/// The largest cap per mark with which all marks together keep below the bound.
fn points_per_mark(figure: &Figure) -> usize {
    let marks = figure.panels.iter().flat_map(|p| &p.marks);
    let mut sizes: Vec<usize> = marks.map(|mark| mark.shape.size()).collect();
    sizes.sort_unstable();
    let mut room = MOST_POINTS;
    for (i, size) in sizes.iter().enumerate() {
        let share = room / (sizes.len() - i);
        // from here on all marks are larger than their share
        if *size > share {
            return share;
        }
        room -= size;
    }
    MOST_POINTS
}

/// A title may run on over panels without one, up to the next title in its row.
fn title_room(figure: &Figure, layouts: &[Layout], panel: &Panel, layout: &Layout) -> f64 {
    let others = figure.panels.iter().zip(layouts);
    let next = others
        .filter(|(p, _)| p.place.y == panel.place.y && p.place.x > panel.place.x && !p.title.is_empty())
        .map(|(_, l)| l.outer.x - 16.0)
        .fold(figure.width - 28.0, f64::min);
    next - layout.outer.x
}

fn draw(svg: &mut Svg, panel: &Panel, layout: &Layout, cap: usize) {
    if panel.frame == Frame::Axes {
        grid(svg, layout);
    }
    let plot = layout.plot;
    // a little outside, so that a line along the border keeps its width
    svg.open_clip(plot.x - 1.0, plot.y - 1.5, plot.width + 2.5, plot.height + 2.5);
    for mark in &panel.marks {
        marks::draw(svg, mark, layout, cap);
    }
    svg.close();
    if panel.frame == Frame::Axes {
        axes(svg, panel, layout);
    }
    for mark in &panel.marks {
        if let Shape::Heat(map) = &mark.shape {
            heat::colour_bar(svg, map, layout);
        }
    }
    legend(svg, panel, layout);
}

fn grid(svg: &mut Svg, layout: &Layout) {
    let plot = layout.plot;
    let pen = Pen::new(GRID, 1.0);
    for x in layout.ticks[0].major.iter().filter_map(|&v| layout.map[0].pixel(v)) {
        svg.line([half(x), plot.y], [half(x), plot.bottom()], pen);
    }
    for y in layout.ticks[1].major.iter().filter_map(|&v| layout.map[1].pixel(v)) {
        svg.line([plot.x, half(y)], [plot.right(), half(y)], pen);
    }
}

/// The middle of the pixel, where a line of width one is sharp.
fn half(position: f64) -> f64 {
    position.floor() + 0.5
}

fn axes(svg: &mut Svg, panel: &Panel, layout: &Layout) {
    let plot = layout.plot;
    let (left, bottom) = (half(plot.x), half(plot.bottom()));
    let pen = Pen::new(AXIS, 1.0);
    svg.line([left, half(plot.y)], [left, bottom], pen);
    svg.line([left, bottom], [half(plot.right()), bottom], pen);
    let [x_ticks, y_ticks] = &layout.ticks;
    for (value, name) in x_ticks.major.iter().zip(&x_ticks.labels) {
        if let Some(x) = layout.map[0].pixel(*value) {
            svg.line([half(x), bottom], [half(x), bottom + 4.0], pen);
            if panel.x.tick_labels {
                svg.text(x, bottom + 18.0, TICK, LABEL_INK, Anchor::Middle, name);
            }
        }
    }
    for (value, name) in y_ticks.major.iter().zip(&y_ticks.labels) {
        if let Some(y) = layout.map[1].pixel(*value) {
            svg.line([left - 4.0, half(y)], [left, half(y)], pen);
            svg.text(left - 7.0, y + 4.3, TICK, LABEL_INK, Anchor::End, name);
        }
    }
    for x in x_ticks.minor.iter().filter_map(|&v| layout.map[0].pixel(v)) {
        svg.line([half(x), bottom], [half(x), bottom + 2.5], pen);
    }
    for y in y_ticks.minor.iter().filter_map(|&v| layout.map[1].pixel(v)) {
        svg.line([left - 2.5, half(y)], [left, half(y)], pen);
    }
    axis_labels(svg, panel, layout);
}

/// Both labels are horizontal: under the middle of the x axis, above the end of the y axis.
fn axis_labels(svg: &mut Svg, panel: &Panel, layout: &Layout) {
    let plot = layout.plot;
    let with_factor = |label: &str, factor: &str| match factor {
        "" => label.to_owned(),
        factor => format!("{label}  {factor}"),
    };
    let x_label = with_factor(&panel.x.label, &layout.ticks[0].factor);
    let (middle, below) = (plot.x + plot.width / 2.0, plot.bottom() + 36.0);
    svg.text(
        middle,
        below,
        LABEL,
        LABEL_INK,
        Anchor::Middle,
        &text::fit(&x_label, LABEL, layout.outer.width),
    );
    let y_label = with_factor(&panel.y.label, &layout.ticks[1].factor);
    let beside =
        layout.legend.iter().filter(|e| e.y > plot.y - 14.0).map(|e| e.x).fold(f64::INFINITY, f64::min);
    let room = layout.outer.right().min(beside - 10.0) - layout.outer.x;
    let words = text::fit(&y_label, LABEL, room);
    svg.text(layout.outer.x, plot.y - 12.0, LABEL, LABEL_INK, Anchor::Start, &words);
}

fn legend(svg: &mut Svg, panel: &Panel, layout: &Layout) {
    for entry in &layout.legend {
        let y = entry.y - 4.3;
        for mark in panel.marks.iter().filter(|m| m.name == entry.name) {
            let sample = [[entry.x, y], [entry.x + SWATCH, y]];
            swatch(svg, mark, sample);
        }
        svg.text(entry.x + SWATCH + 6.0, entry.y, layout::LABEL, LABEL_INK, Anchor::Start, &entry.shown);
    }
}

/// A sample of a mark in the legend.
fn swatch(svg: &mut Svg, mark: &super::Mark, sample: [[f64; 2]; 2]) {
    let colour: Colour = mark.colour;
    match &mark.shape {
        Shape::Line { width, dashed, .. } => {
            let pen = Pen { colour, width: width.clamp(1.6, 3.0), opacity: mark.opacity, dashed: *dashed };
            svg.line(sample[0], sample[1], pen);
        }
        Shape::Points { radius, filled, .. } => {
            let centre = [(sample[0][0] + sample[1][0]) / 2.0, sample[0][1]];
            marks::circles(svg, &[centre], radius.min(4.5), *filled, colour, mark.opacity);
        }
        Shape::Dots { .. } => {
            let centre = [(sample[0][0] + sample[1][0]) / 2.0, sample[0][1]];
            marks::circles(svg, &[centre], 4.0, true, colour, 1.0);
        }
        _ => {
            let [[x0, y], [x1, _]] = sample;
            let corners = [[x0, y - 4.0], [x1, y - 4.0], [x1, y + 4.0], [x0, y + 4.0]];
            svg.polygon(&corners, colour, mark.opacity);
        }
    }
}
