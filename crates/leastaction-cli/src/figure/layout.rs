//! Layout: from a figure to pixel rectangles, axis ranges, ticks and legend positions.
//!
//! Margins come from the widths of the labels. Panels that start at the same left edge
//! share the left margin and panels in the same row share top and bottom, so that their
//! axes line up. Legends get lines or a column of their own and never cover data.

use super::scale::{self, Ticks, Transform};
use super::text;
use super::{Axis, Figure, Frame, Legend, Panel, Scale, Shape};

/// Font size of panel titles.
pub(crate) const TITLE: f64 = 14.5;
/// Font size of axis labels and legends.
pub(crate) const LABEL: f64 = 12.5;
/// Font size of tick labels.
pub(crate) const TICK: f64 = 12.0;
/// Height of the title and a subtitle of one line.
const HEADER: f64 = 66.0;
/// Height of each further line of the subtitle.
pub(super) const SUBTITLE_LINE: f64 = 18.0;
/// Border of the page, and half the distance between panels.
const BORDER: f64 = 28.0;
const HALF_GAP: f64 = 16.0;
/// Space for a colour bar with its labels.
pub(crate) const COLOUR_BAR: f64 = 78.0;
/// Length of the line sample in a legend, and the gaps around the name.
pub(crate) const SWATCH: f64 = 18.0;
const AFTER_SWATCH: f64 = 6.0;
const AFTER_NAME: f64 = 14.0;
const LEGEND_LINE: f64 = 18.0;
/// The least side of a plot, so that a crowded page still has something to draw on.
const LEAST: f64 = 24.0;

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    /// Left.
    pub(crate) x: f64,
    /// Top.
    pub(crate) y: f64,
    /// Width.
    pub(crate) width: f64,
    /// Height.
    pub(crate) height: f64,
}

impl Rect {
    /// Right edge.
    pub(crate) fn right(&self) -> f64 {
        self.x + self.width
    }

    /// Bottom edge.
    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// A legend entry at its place: middle of the line, left end of the sample.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Name of the marks it stands for.
    pub(crate) name: String,
    /// The name as far as there is room for it.
    pub(crate) shown: String,
    /// Left end of the sample.
    pub(crate) x: f64,
    /// Baseline of the name.
    pub(crate) y: f64,
}

/// Everything that is drawn around and under the marks of one panel.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The whole place of the panel.
    pub(crate) outer: Rect,
    /// The part the axes span.
    pub(crate) plot: Rect,
    /// Ticks of the horizontal and the vertical axis.
    pub(crate) ticks: [Ticks; 2],
    /// Data to pixels on both axes.
    pub(crate) map: [Transform; 2],
    /// Legend.
    pub(crate) legend: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Margins {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// The part of `top` that legend lines take.
    legend: f64,
}

/// One layout per panel, in the order of the panels.
pub(crate) fn layout(figure: &Figure) -> Vec<Layout> {
    let outers: Vec<Rect> = figure.panels.iter().map(|panel| outer(figure, panel)).collect();
    let own: Vec<Margins> = figure.panels.iter().zip(&outers).map(|(p, o)| margins(p, o)).collect();
    let mut shared = own.clone();
    for (i, panel) in figure.panels.iter().enumerate().filter(|(_, p)| p.frame == Frame::Axes) {
        for (j, other) in figure.panels.iter().enumerate().filter(|(_, p)| p.frame == Frame::Axes) {
            if other.place.x == panel.place.x {
                shared[i].left = shared[i].left.max(own[j].left);
            }
            if other.place.y == panel.place.y && other.place.height == panel.place.height {
                shared[i].top = shared[i].top.max(own[j].top);
                shared[i].bottom = shared[i].bottom.max(own[j].bottom);
            }
        }
    }
    figure.panels.iter().zip(outers).zip(shared).map(|((p, outer), m)| arrange(p, outer, m)).collect()
}

/// The subtitle of a figure in lines that fit its width.
pub(super) fn subtitle(figure: &Figure) -> Vec<String> {
    text::wrapped(&figure.subtitle, 13.0, figure.width - 56.0, 4)
}

/// The place of a panel in pixels.
fn outer(figure: &Figure, panel: &Panel) -> Rect {
    let lines = subtitle(figure).len() + usize::from(!figure.alert.is_empty());
    let further = lines.saturating_sub(1) as f64 * SUBTITLE_LINE;
    let header = if figure.title.is_empty() && figure.subtitle.is_empty() { 0.0 } else { HEADER + further };
    let (width, height) = (figure.width - 2.0 * BORDER, figure.height - header - 1.4 * BORDER);
    let place = panel.place;
    // no gap at the border of the page
    let left = if place.x <= 0.0 { 0.0 } else { HALF_GAP };
    let right = if place.x + place.width >= 0.999 { 0.0 } else { HALF_GAP };
    let top = if place.y <= 0.0 { 0.0 } else { HALF_GAP * 0.7 };
    let bottom = if place.y + place.height >= 0.999 { 0.0 } else { HALF_GAP * 0.7 };
    Rect {
        x: BORDER + place.x * width + left,
        y: header + 0.6 * BORDER + place.y * height + top,
        width: (place.width * width - left - right).max(LEAST),
        height: (place.height * height - top - bottom).max(LEAST),
    }
}

/// Names in the legend, each once, in the order of the marks.
pub(crate) fn names(panel: &Panel) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for mark in panel.marks.iter().filter(|m| !m.name.is_empty()) {
        if !names.contains(&mark.name.as_str()) {
            names.push(&mark.name);
        }
    }
    names
}

fn has_heat(panel: &Panel) -> bool {
    panel.marks.iter().any(|m| matches!(m.shape, Shape::Heat(_)))
}

fn margins(panel: &Panel, outer: &Rect) -> Margins {
    let legend = names(panel);
    let mut m = Margins { left: 2.0, right: 10.0, top: 6.0, bottom: 6.0, legend: 0.0 };
    if !panel.title.is_empty() {
        m.top += 22.0;
    }
    if panel.frame == Frame::Axes {
        m.bottom = 5.0;
        m.bottom += if panel.x.tick_labels { 19.0 } else { 0.0 };
        m.bottom += if panel.x.label.is_empty() { 0.0 } else { 18.0 };
    }
    let has_label_line = panel.frame == Frame::Axes && !panel.y.label.is_empty();
    if has_label_line {
        m.top += 21.0;
    }
    if panel.legend == Legend::Right && !legend.is_empty() {
        let widest = legend.iter().map(|n| text::width(n, LABEL)).fold(0.0, f64::max);
        m.right += (SWATCH + AFTER_SWATCH + 14.0 + widest).min(outer.width * 0.35);
    } else if !(legend.is_empty() || has_label_line && fits_beside_label(panel, &legend, outer.width)) {
        m.legend = LEGEND_LINE * legend_lines(&legend, outer.width).len() as f64;
        m.top += m.legend;
    }
    if has_heat(panel) {
        m.right += COLOUR_BAR;
    }
    if panel.frame == Frame::Axes {
        let height = (outer.height - m.top - m.bottom).max(LEAST);
        let ticks = scale::ticks(range(panel, 1), panel.y.scale, tick_count(height, panel.y.scale));
        let widest = ticks.labels.iter().map(|l| text::width(l, TICK)).fold(0.0, f64::max);
        m.left = (widest + 12.0).clamp(34.0, 140.0);
    }
    m
}

/// Whether all names fit at the right of the label of the vertical axis.
fn fits_beside_label(panel: &Panel, names: &[&str], width: f64) -> bool {
    let needed: f64 = names.iter().map(|name| entry_width(name, width)).sum();
    needed + text::width(&panel.y.label, LABEL) + 70.0 < width
}

fn entry_width(name: &str, room: f64) -> f64 {
    (SWATCH + AFTER_SWATCH + text::width(name, LABEL) + AFTER_NAME).min(room)
}

/// The names in lines that fit the width.
fn legend_lines<'a>(names: &[&'a str], width: f64) -> Vec<Vec<&'a str>> {
    let mut lines: Vec<Vec<&str>> = vec![Vec::new()];
    let mut used = 0.0;
    for name in names {
        let needed = entry_width(name, width);
        if used + needed > width + AFTER_NAME && used > 0.0 {
            lines.push(Vec::new());
            used = 0.0;
        }
        used += needed;
        if let Some(line) = lines.last_mut() {
            line.push(name);
        }
    }
    lines
}

fn arrange(panel: &Panel, outer: Rect, m: Margins) -> Layout {
    let plot = Rect {
        x: outer.x + m.left,
        y: outer.y + m.top,
        width: (outer.width - m.left - m.right).max(LEAST),
        height: (outer.height - m.top - m.bottom).max(LEAST),
    };
    let mut ranges = [range(panel, 0), range(panel, 1)];
    if panel.equal_aspect && panel.x.scale == Scale::Linear && panel.y.scale == Scale::Linear {
        ranges = equal_aspect(ranges, &plot);
    }
    let map = [
        Transform::new(ranges[0], panel.x.scale, plot.x, plot.right()),
        Transform::new(ranges[1], panel.y.scale, plot.bottom(), plot.y),
    ];
    let y_ticks = scale::ticks(ranges[1], panel.y.scale, tick_count(plot.height, panel.y.scale));
    let ticks = [horizontal_ticks(ranges[0], &panel.x, plot.width), y_ticks];
    Layout { legend: legend(panel, &outer, &plot, &m), outer, plot, ticks, map }
}

fn tick_count(height: f64, scale: Scale) -> usize {
    (height / if scale == Scale::Log { 30.0 } else { 46.0 }) as usize
}

/// As many ticks as have room for their labels side by side.
fn horizontal_ticks(range: (f64, f64), axis: &Axis, width: f64) -> Ticks {
    let mut target = ((width / 75.0) as usize).clamp(3, 12);
    loop {
        let ticks = scale::ticks(range, axis.scale, target);
        let widest = ticks.labels.iter().map(|l| text::width(l, TICK)).fold(0.0, f64::max);
        let crowded = (widest + 12.0) * ticks.labels.len() as f64 > width;
        if !crowded || target <= 2 {
            return ticks;
        }
        target -= 1;
    }
}

/// Ends of an axis: given, or fitted to the marks.
fn range(panel: &Panel, axis: usize) -> (f64, f64) {
    let side = if axis == 0 { &panel.x } else { &panel.y };
    if let Some((low, high)) = side.range {
        return scale::widened(low, high, side.scale);
    }
    let heat = panel.marks.iter().find_map(|m| match &m.shape {
        Shape::Heat(map) => Some(if axis == 0 { map.x } else { map.y }),
        _ => None,
    });
    if let Some((low, high)) = heat {
        return scale::widened(low, high, side.scale);
    }
    let values = panel.marks.iter().flat_map(|mark| {
        let points: &[[f64; 2]] = match &mark.shape {
            Shape::Line { points, .. }
            | Shape::Points { points, .. }
            | Shape::Dots { points, .. }
            | Shape::Area { points } => points,
            Shape::Slope { from, .. } => std::slice::from_ref(from),
            Shape::Text { at, .. } => std::slice::from_ref(at),
            _ => &[],
        };
        points.iter().map(move |p| p[axis])
    });
    scale::range_of(values, side.scale, if panel.frame == Frame::Bare { 0.03 } else { 0.05 })
}

/// The smallest ranges around the given ones with the same length per pixel on both axes.
fn equal_aspect(ranges: [(f64, f64); 2], plot: &Rect) -> [(f64, f64); 2] {
    let sides = [plot.width, plot.height];
    let per_pixel = (0..2).map(|a| (ranges[a].1 - ranges[a].0) / sides[a]).fold(0.0, f64::max);
    [0, 1].map(|a| {
        let middle = ranges[a].0 / 2.0 + ranges[a].1 / 2.0;
        (middle - per_pixel * sides[a] / 2.0, middle + per_pixel * sides[a] / 2.0)
    })
}

fn legend(panel: &Panel, outer: &Rect, plot: &Rect, m: &Margins) -> Vec<Entry> {
    let names = names(panel);
    let entry = |name: &str, x: f64, y: f64, room: f64| Entry {
        name: name.to_owned(),
        shown: text::fit(name, LABEL, room - SWATCH - AFTER_SWATCH),
        x,
        y,
    };
    if panel.legend == Legend::Right {
        let x = outer.right() - m.right + 22.0;
        let lines = names.iter().enumerate();
        return lines
            .map(|(i, n)| entry(n, x, plot.y + 10.0 + LEGEND_LINE * i as f64, outer.right() - x))
            .collect();
    }
    let mut entries = Vec::new();
    if m.legend == 0.0 {
        // on the line of the label, against the right end of the axis
        let mut x = plot.right() + AFTER_NAME;
        for name in names.iter().rev() {
            x -= entry_width(name, outer.width);
            entries.insert(0, entry(name, x, plot.y - 12.0, outer.width));
        }
        return entries;
    }
    let mut y = outer.y + 13.0 + if panel.title.is_empty() { 0.0 } else { 22.0 };
    for line in legend_lines(&names, outer.width) {
        let mut x = outer.x;
        for name in line {
            entries.push(entry(name, x, y, outer.width));
            x += entry_width(name, outer.width);
        }
        y += LEGEND_LINE;
    }
    entries
}
