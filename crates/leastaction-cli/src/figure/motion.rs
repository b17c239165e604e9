//! The motion of bodies in space: from paths and rods to one panel.
//!
//! In the plane with axes; in space as a parallel projection over a grid on the ground
//! or around a sphere. The last moments are shown as a chronophotograph: earlier
//! positions of the rods are paler.

use super::colour::{AXIS, Colour, GRID, INK, PAPER};
use super::project::{Camera, graticule, outline};
use super::{Axis, Frame, Mark, Motion, Panel, Scale, Shape, palette, scale, text, with_unit};

/// Positions of the rods that are drawn, and how far apart relative to the picture.
const MOST_SNAPSHOTS: usize = 9;
const SNAPSHOT_DISTANCE: f64 = 0.055;

/// The panel that shows a motion.
pub(crate) fn motion_panel(motion: &Motion) -> Panel {
    let mut panel = Panel::new("Motion", axis("x", motion), axis("y", motion));
    panel.equal_aspect = true;
    if motion.dimension < 3 {
        let page = |p: [f64; 3]| [p[0], p[1]];
        shadows(&mut panel, motion, &page);
        paths(&mut panel, motion, &page);
        bodies(&mut panel, motion, &page);
        return panel;
    }
    panel.frame = Frame::Bare;
    match motion.sphere.filter(|r| r.is_finite() && *r > 0.0) {
        Some(radius) => on_sphere(&mut panel, motion, radius),
        None => in_space(&mut panel, motion),
    }
    panel
}

fn axis(name: &str, motion: &Motion) -> Axis {
    Axis::linear(with_unit(name, &motion.unit))
}

/// Thinner lines for longer paths, which cross themselves more often.
fn line(points: Vec<[f64; 2]>, many: bool) -> Shape {
    let width: f64 = match points.len() {
        0..2_000 => 1.5,
        2_000..20_000 => 1.1,
        _ => 0.6,
    };
    Shape::Line { points, width: if many { width.min(1.2) } else { width }, dashed: false, fade: true }
}

fn paths(panel: &mut Panel, motion: &Motion, page: &dyn Fn([f64; 3]) -> [f64; 2]) {
    keys(panel, motion);
    // the first bodies on top: they usually carry the others and move less
    for (i, path) in motion.paths.iter().enumerate().rev() {
        let points: Vec<[f64; 2]> = path.points.iter().map(|&p| page(p)).collect();
        let opacity = if points.len() > 20_000 { 0.6 } else { 1.0 };
        panel.marks.push(Mark::new(palette(i), line(points, motion.paths.len() > 4)).faint(opacity));
    }
}

/// Entries of the legend in the order of the bodies, whatever the order of drawing.
fn keys(panel: &mut Panel, motion: &Motion) {
    if motion.paths.len() > 1 {
        let key = |(i, path): (usize, &super::Path)| {
            Mark::line(palette(i), 1.6, Vec::new()).named(path.name.clone())
        };
        panel.marks.extend(motion.paths.iter().enumerate().map(key));
    }
}

/// The rods at one moment.
fn rods(
    motion: &Motion,
    index: usize,
    page: &dyn Fn([f64; 3]) -> [f64; 2],
    colour: Colour,
    width: f64,
) -> Vec<Mark> {
    let at = |body: usize| motion.paths.get(body)?.points.get(index).map(|&p| page(p));
    let rod = |&(from, to): &(Option<usize>, usize)| {
        let start = from.map_or(Some(page([0.0; 3])), at)?;
        Some(Mark::line(colour, width, vec![start, at(to)?]))
    };
    motion.links.iter().filter_map(rod).collect()
}

/// The rods at a few earlier moments, the older the paler.
fn shadows(panel: &mut Panel, motion: &Motion, page: &dyn Fn([f64; 3]) -> [f64; 2]) {
    let moments = snapshots(motion);
    for (k, &index) in moments.iter().enumerate().take(moments.len().saturating_sub(1)) {
        let age = (k + 1) as f64 / moments.len() as f64;
        let colour = PAPER.mix(INK, 0.12 + 0.4 * age * age);
        panel.marks.extend(rods(motion, index, page, colour, 1.2));
    }
}

/// The rods and the bodies where they end.
fn bodies(panel: &mut Panel, motion: &Motion, page: &dyn Fn([f64; 3]) -> [f64; 2]) {
    let origin = page([0.0; 3]);
    if let Some(&end) = snapshots(motion).last() {
        panel.marks.extend(rods(motion, end, page, PAPER.mix(INK, 0.85), 2.2));
    }
    if motion.links.iter().any(|link| link.0.is_none()) {
        panel.marks.push(Mark::new(INK, Shape::Points { points: vec![origin], radius: 3.5, filled: true }));
    }
    for (body, path) in motion.paths.iter().enumerate() {
        let points = path.points.last().map(|&p| page(p)).into_iter().collect();
        panel.marks.push(Mark::new(palette(body), Shape::Points { points, radius: 6.0, filled: true }));
    }
}

/// Indices of late moments between which some linked body has moved a visible distance;
/// only the last one if there are no rods.
fn snapshots(motion: &Motion) -> Vec<usize> {
    let length = motion.paths.iter().map(|p| p.points.len()).min().unwrap_or(0);
    let Some(end) = length.checked_sub(1) else { return Vec::new() };
    let mut moments = vec![end];
    let points = motion.paths.iter().flat_map(|p| p.points.iter().flatten());
    let size = points.filter(|v| v.is_finite()).fold(0.0, |m: f64, v| m.max(v.abs()));
    let mut latest = end;
    for index in (0..end).rev() {
        if motion.links.is_empty() || moments.len() >= MOST_SNAPSHOTS {
            break;
        }
        let moved =
            motion.paths.iter().map(|p| distance(p.points[index], p.points[latest])).fold(0.0, f64::max);
        if moved >= 2.0 * SNAPSHOT_DISTANCE * size && moved > 0.0 {
            moments.push(index);
            latest = index;
        }
    }
    moments.reverse();
    moments
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

/// The sphere with a graticule; what lies behind is paler.
fn on_sphere(panel: &mut Panel, motion: &Motion, radius: f64) {
    panel.title = format!("Motion on the sphere of radius {} {}", text::short(radius), motion.unit)
        .trim_end()
        .to_owned();
    let heights = motion.paths.iter().flat_map(|p| p.points.iter().map(|q| q[2])).filter(|z| z.is_finite());
    let (sum, count) = heights.fold((0.0, 0.0), |(s, n), z| (s + z, n + 1.0));
    // the higher the motion on the sphere, the more from above
    let height = if count > 0.0 { sum / count / radius } else { 0.0 };
    let camera = Camera::new(-60.0, (26.0 + 24.0 * height).clamp(12.0, 44.0));
    let edge = outline(radius);
    panel.marks.push(Mark::new(Colour(247, 249, 251), Shape::Area { points: edge.clone() }));
    let grid = graticule(radius);
    let halves: Vec<[Vec<[f64; 2]>; 2]> = grid.iter().map(|l| camera.front_and_back(l)).collect();
    for [_, back] in &halves {
        panel.marks.push(Mark::line(GRID, 0.7, back.clone()));
    }
    let parts: Vec<[Vec<[f64; 2]>; 2]> =
        motion.paths.iter().map(|p| camera.front_and_back(&p.points)).collect();
    for (i, [_, back]) in parts.iter().enumerate() {
        panel.marks.push(Mark::line(palette(i), 1.1, back.clone()).faint(0.28));
    }
    for [front, _] in halves {
        panel.marks.push(Mark::line(PAPER.mix(AXIS, 0.45), 0.7, front));
    }
    panel.marks.push(Mark::line(PAPER.mix(AXIS, 0.8), 1.0, edge));
    shadows(panel, motion, &|p| camera.page(p));
    keys(panel, motion);
    for (i, [front, _]) in parts.into_iter().enumerate() {
        panel.marks.push(Mark::line(palette(i), 1.6, front));
    }
    bodies(panel, motion, &|p| camera.page(p));
}

/// Paths over a grid on a horizontal plane, with a plumb line from each body to the plane.
fn in_space(panel: &mut Panel, motion: &Motion) {
    let camera = Camera::new(-60.0, 30.0);
    let range = |k: usize| {
        let values = motion.paths.iter().flat_map(move |p| p.points.iter().map(move |q| q[k]));
        scale::range_of(values, Scale::Linear, 0.02)
    };
    let (x, y, z) = (range(0), range(1), range(2));
    let side = (x.1 - x.0).max(y.1 - y.0);
    // a flat motion is shown around its own plane, any other above the ground
    let ground = if z.1 - z.0 < 0.5 * side { z.0 / 2.0 + z.1 / 2.0 } else { z.0 };
    let step = match scale::ticks((0.0, side), Scale::Linear, 6).major[..] {
        [first, second, ..] => second - first,
        _ => side,
    };
    let lines = |(low, high): (f64, f64)| -> Vec<f64> {
        let (first, last) = ((low / step).floor(), (high / step).ceil());
        (0..=(last - first).clamp(0.0, 40.0) as usize).map(|i| (first + i as f64) * step).collect()
    };
    let (xs, ys) = (lines(x), lines(y));
    let ends = |v: &[f64]| (v.first().copied().unwrap_or(0.0), v.last().copied().unwrap_or(0.0));
    let ((x0, x1), (y0, y1)) = (ends(&xs), ends(&ys));
    let mut ground_line = |a: [f64; 2], b: [f64; 2]| {
        let ends = vec![camera.page([a[0], a[1], ground]), camera.page([b[0], b[1], ground])];
        panel.marks.push(Mark::line(PAPER.mix(AXIS, 0.3), 0.8, ends));
    };
    for &x in &xs {
        ground_line([x, y0], [x, y1]);
    }
    for &y in &ys {
        ground_line([x0, y], [x1, y]);
    }
    for (words, at) in [("x", [x1 + 0.3 * step, y0, ground]), ("y", [x1, y1 + 0.3 * step, ground])] {
        panel.marks.push(Mark::new(AXIS, Shape::Text { at: camera.page(at), text: words.into() }));
    }
    shadows(panel, motion, &|p| camera.page(p));
    paths(panel, motion, &|p| camera.page(p));
    for (body, path) in motion.paths.iter().enumerate() {
        if let Some(&[x, y, z]) = path.points.last() {
            let plumb = vec![camera.page([x, y, ground]), camera.page([x, y, z])];
            panel.marks.push(Mark::line(PAPER.mix(palette(body), 0.6), 1.0, plumb));
        }
    }
    bodies(panel, motion, &|p| camera.page(p));
    panel.title = format!("Motion, grid of {} {}", text::short(step), motion.unit).trim_end().to_owned();
}
