//! Charts: from computed curves to a picture. One look for all: a method has the same colour everywhere, what is
//! exact is broad and pale, steps are marked where they can be told apart.

use crate::figure::{
    AXIS, Axis, Colour, Figure, LABEL, Mark, PAPER, Panel, Place, Shape, error_range, motion_panel, palette,
};
use crate::picture;
use leastaction::papers::{Chart, Line, Plot, figure::Style};

/// More steps than this are not marked one by one.
const MOST_MARKERS: usize = 130;
/// Zeros on a logarithmic axis are drawn here.
const FLOOR: f64 = 1e-17;

/// Plots under one title, side by side in so many columns.
pub(crate) fn figure(
    title: String,
    caption: String,
    columns: usize,
    plots: &[Plot],
) -> Result<Figure, String> {
    let columns = columns.clamp(1, 3);
    let rows = plots.len().div_ceil(columns);
    let mut panels = Vec::new();
    for (i, plot) in plots.iter().enumerate() {
        // curves that are named in the first panel are not named again, unless their slopes are
        let named = i == 0 || has_slopes(plot) || !same_names(plot, &plots[0]);
        let mut panel = match plot {
            Plot::Chart(chart) => panel(chart, named),
            Plot::Motion(run) => {
                let motion = picture::motion(&run.0, &run.1)?.ok_or("this system has no motion in space")?;
                motion_panel(&motion)
            }
        };
        let (width, height) = (1.0 / columns as f64, 1.0 / rows as f64);
        panel.place =
            Place { x: width * (i % columns) as f64, y: height * (i / columns) as f64, width, height };
        panels.push(panel);
    }
    let (width, row) = match (columns, rows) {
        (1, 1) => (860.0, 480.0),
        (1, _) => (1000.0, 300.0),
        (2, 1) => (1200.0, 460.0),
        (2, _) => (1200.0, 340.0),
        _ => (1500.0, 440.0),
    };
    Ok(Figure {
        title,
        alert: String::new(),
        subtitle: caption,
        width,
        height: 90.0 + row * rows as f64,
        panels,
    })
}

fn has_slopes(plot: &Plot) -> bool {
    matches!(plot, Plot::Chart(chart) if chart.lines.iter().any(|line| line.order.is_some()))
}

fn same_names(a: &Plot, b: &Plot) -> bool {
    let names = |plot: &Plot| match plot {
        Plot::Chart(chart) => chart.lines.iter().map(|line| line.name.clone()).collect(),
        Plot::Motion(_) => Vec::new(),
    };
    names(a) == names(b)
}

fn panel(chart: &Chart, named: bool) -> Panel {
    let axis = |log: bool, label: &String| if log { Axis::log(label) } else { Axis::linear(label) };
    let mut panel =
        Panel::new(chart.title.clone(), axis(chart.log_x, &chart.x_label), axis(chart.log_y, &chart.y_label));
    let over_time = chart.log_y && !chart.log_x;
    if over_time {
        panel.y.range = Some(sizes_range(chart));
    }
    for (line, colour) in chart.lines.iter().zip(colours(chart)) {
        let named = named && (chart.lines.len() > 1 || line.order.is_some());
        panel.marks.extend(marks(line, colour, over_time, named));
    }
    if over_time && chart.lines.iter().any(is_zero) {
        let text = "exactly zero".to_owned();
        panel.marks.push(Mark::new(LABEL, Shape::Level { y: FLOOR, text }));
    }
    panel.marks.extend(slopes(chart));
    panel
}

/// Whole decades around the sizes of all curves, without their dips.
fn sizes_range(chart: &Chart) -> (f64, f64) {
    let ranges = chart.lines.iter().map(|line| {
        if is_zero(line) {
            return (FLOOR / 10.0, FLOOR);
        }
        error_range(&line.points.iter().map(|p| p[1].abs()).collect::<Vec<_>>())
    });
    ranges.fold((f64::INFINITY, 0.0), |all, own| (all.0.min(own.0), all.1.max(own.1)))
}

/// Whether a curve does not leave zero.
fn is_zero(line: &Line) -> bool {
    line.points.iter().all(|p| p[1] == 0.0)
}

fn marks(line: &Line, colour: Colour, over_time: bool, named: bool) -> Vec<Mark> {
    let mut points = line.points.clone();
    if over_time {
        // the error at the start is zero by definition; other zeros stand on the floor
        points.retain(|p| p[0] > 0.0);
        points.iter_mut().for_each(|p| p[1] = p[1].max(FLOOR));
    }
    let name = match line.order {
        Some((slope, _)) => format!("{}, slope {slope:.2}", line.name),
        None => line.name.clone(),
    };
    let many = points.len() > MOST_MARKERS;
    let dots = |filled| {
        Mark::new(
            colour,
            Shape::Points { points: points.clone(), radius: if many { 1.6 } else { 3.0 }, filled },
        )
    };
    let mut marks = match line.style {
        Style::Reference => {
            vec![Mark::line(PAPER.mix(AXIS, 0.5), 5.0, points)]
        }
        Style::Line => vec![Mark::line(colour, if many { 1.1 } else { 1.6 }, points)],
        Style::Points => vec![dots(false)],
        Style::Marked if many => vec![Mark::line(colour, 1.4, points)],
        Style::Marked => {
            let dots = dots(true);
            vec![Mark::line(colour, 1.3, points), dots]
        }
    };
    if named && let Some(first) = marks.first_mut() {
        first.name = name;
    }
    marks
}

/// The colours of all curves. The papers' methods have the same in all figures; others, and curves of one and the same method,
/// take what is left in turn.
fn colours(chart: &Chart) -> Vec<Colour> {
    let same = chart.lines.windows(2).all(|pair| pair[0].method == pair[1].method);
    let has = |name: &str| chart.lines.iter().any(|line| line.method.as_deref() == Some(name));
    let fixed = |line: &Line| match line.method.as_deref() {
        _ if same => None,
        Some("simpson") => Some(0),
        Some("midpoint") => Some(1),
        Some("lobatto") => Some(2),
        Some("rk4") => Some(3),
        Some("rk4-velocity") if !has("rk4") => Some(3),
        _ => None,
    };
    let taken: Vec<usize> = chart.lines.iter().filter_map(fixed).collect();
    let mut free = (0..).filter(|i| !taken.contains(i));
    let line_colour = |line: &Line| {
        let index = fixed(line).or_else(|| free.next()).unwrap_or(0);
        // a path within the steps stands behind the steps
        let behind = line.style == Style::Line && fixed(line) == Some(2);
        if behind { PAPER.mix(palette(index), 0.7) } else { palette(index) }
    };
    chart.lines.iter().map(line_colour).collect()
}

/// Triangles with the methods' own orders, under the curves.
fn slopes(chart: &Chart) -> Vec<Mark> {
    let mut orders: Vec<usize> = Vec::new();
    let mut marks = Vec::new();
    for line in &chart.lines {
        let Some((_, order)) = line.order else { continue };
        if orders.contains(&order) {
            continue;
        }
        orders.push(order);
        // under the lowest curve of this order
        let same = chart.lines.iter().filter(|other| other.order.is_some_and(|(_, o)| o == order));
        let lowest = same.min_by(|a, b| end(a).total_cmp(&end(b))).unwrap_or(line);
        if let Some([right, left]) = steady_pair(&lowest.points, order as f64) {
            // between the two points, a little below the left one
            let ratio = right[0] / left[0];
            let from = [left[0] * ratio.powf(0.2), left[1] * 0.25];
            let shape = Shape::Slope { from, ratio: ratio.powf(0.7), order: order as f64 };
            marks.push(Mark::new(LABEL, shape));
        }
    }
    marks
}

/// The last but one pair of neighbours, from large steps to small, that shows an order; rounding makes others.
fn steady_pair(points: &[[f64; 2]], order: f64) -> Option<[[f64; 2]; 2]> {
    let slope = |a: [f64; 2], b: [f64; 2]| (a[1] / b[1]).ln() / (a[0] / b[0]).ln();
    let steady = points.windows(2).filter(|w| (slope(w[0], w[1]) / order - 1.0).abs() < 0.25);
    let pairs: Vec<[[f64; 2]; 2]> = steady.map(|w| [w[0], w[1]]).collect();
    pairs.iter().rev().nth(1).or(pairs.last()).copied()
}

fn end(line: &Line) -> f64 {
    line.points.last().map_or(f64::NAN, |p| p[1])
}
