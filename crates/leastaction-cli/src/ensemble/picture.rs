//! Pictures of grids: a map of two names in colours, a curve over one.

use crate::Ending;
use crate::figure::{Axis, Colours, Figure, HeatMap, Mark, Panel, Scale, Shape, palette, with_unit};
use crate::output::journal::Journal;
use leastaction::error::nearest;
use leastaction::simulate::ensemble::{Axis as Values, Column, EnsemblePlan, Kind};
use leastaction::system::Variable;

/// Values that differ by more than this factor are laid along a logarithmic scale.
const WIDE: f64 = 50.0;
/// The most cells along a side: those of a PNG are pixels, those of an SVG are bytes.
const MOST_IN_PNG: usize = 1200;
const MOST_IN_SVG: usize = 250;
/// Larger steps between values than this part more than others make a map wrong.
const UNEVEN: f64 = 1e-9;
/// More points than this are not marked one by one.
const MOST_MARKERS: usize = 130;

/// The column that is drawn; checked before anything is computed.
pub(super) fn column(plan: &EnsemblePlan, wanted: Option<&str>, drawn: bool) -> Result<usize, Ending> {
    if drawn {
        check_grid(plan).map_err(Ending::BadInput)?;
    }
    let named = |name: &str| plan.columns.iter().position(|column| column.name == name);
    let Some(name) = wanted else {
        let event = plan.run.events.keys().next().and_then(|event| named(&format!("{event}_first")));
        return Ok(event.or_else(|| named("energy_error")).unwrap_or(0));
    };
    named(name).ok_or_else(|| {
        let names = plan.columns.iter().map(|column| column.name.as_str());
        let hint = nearest(name, names.clone());
        let known: Vec<&str> = names.collect();
        Ending::BadInput(format!("there is no column `{name}`{hint}\n  columns: {}", known.join(", ")))
    })
}

fn check_grid(plan: &EnsemblePlan) -> Result<(), String> {
    let Some(axes @ ([_] | [_, _])) = plan.grid() else {
        return Err("--plot draws grids of one or two names, without a list and draws\n  leave it out, or vary fewer names".to_owned());
    };
    match axes.iter().find(|axis| axes.len() == 2 && !is_even(axis)) {
        None => Ok(()),
        Some(axis) => Err(format!(
            "--plot: the values of `{}` are not evenly spaced and rising, as a map needs them\n  try {}=A..B:K",
            axis.name, axis.name
        )),
    }
}

fn is_even(axis: &Values) -> bool {
    let (first, last) = (axis.value(0), axis.value(axis.count - 1));
    let even = |k: u64| first + (last - first) * (k as f64 / (axis.count - 1).max(1) as f64);
    (last > first || axis.count == 1)
        && (0..axis.count).all(|k| (axis.value(k) - even(k)).abs() <= UNEVEN * (last - first))
}

/// Draws a column; so many members failed.
pub(super) fn figure(
    plan: &EnsemblePlan,
    journal: &mut Journal,
    (column, failed): (usize, u64),
    svg: bool,
) -> std::io::Result<Figure> {
    let drawn = &plan.columns[column];
    let number = |cell: u64| if drawn.kind == Kind::Real { f64::from_bits(cell) } else { cell as f64 };
    let mut values = Vec::with_capacity(plan.count() as usize);
    for block in 0..journal.blocks {
        values.extend(journal.column(block, column)?.into_iter().map(number));
    }
    let axes = plan.grid().unwrap_or_default();
    let missing = values.iter().filter(|value| !value.is_finite()).count();
    let panel = match axes {
        [x, y] => map(plan, [x, y], drawn, &values, if svg { MOST_IN_SVG } else { MOST_IN_PNG }),
        _ => curve(plan, axes, drawn, &values),
    };
    let base = &plan.base;
    let unit = &base.problem.system.time_unit;
    let steps = match base.tolerance {
        Some(tolerance) => format!("steps for an energy error of {tolerance:e}"),
        None => format!("{} steps of {}", base.steps, with_space(base.step, unit)),
    };
    let mut subtitle =
        format!("{} members, {} (order {}), {steps}", plan.count(), base.method.name, base.method.order);
    if missing > 0 && drawn.name.ends_with("_first") {
        let end = base.problem.t0 + base.steps as f64 * base.step;
        let others = if failed > 0 { format!(", or one of {failed} that failed") } else { String::new() };
        subtitle += &format!("; white: never until t = {}{others}", with_space(end, unit));
    }
    let (width, height) = if axes.len() == 2 { (880.0, 860.0) } else { (860.0, 560.0) };
    let alert =
        if failed > 0 { format!("{failed} of {} members FAILED", plan.count()) } else { String::new() };
    Ok(Figure { title: title(plan, drawn), alert, subtitle, width, height, panels: vec![panel] })
}

fn with_space(x: f64, unit: &str) -> String {
    let x = format!("{x:.7e}").parse::<f64>().unwrap_or(x);
    if unit.is_empty() { x.to_string() } else { format!("{x} {unit}") }
}

/// What a column shows, in words.
fn words(name: &str) -> String {
    match name.strip_suffix("_first") {
        Some(event) => format!("first time of {event}"),
        None => match name.strip_suffix("_count") {
            Some(event) => format!("number of {event}"),
            None => name.replace('_', " "),
        },
    }
}

fn title(plan: &EnsemblePlan, column: &Column) -> String {
    format!("{}: {}", plan.base.problem.system.title, words(&column.name))
}

/// The label of a column, with its unit where it is known.
fn label(plan: &EnsemblePlan, column: &Column) -> String {
    let system = &plan.base.problem.system;
    let time = column.name.ends_with("_first") || column.name == "t_end";
    with_unit(&words(&column.name), if time { &system.time_unit } else { "" })
}

/// The label of what varies.
fn varied(plan: &EnsemblePlan, name: &str) -> String {
    let system = &plan.base.problem.system;
    let unit = match system.variable(name) {
        Ok(Variable::Parameter(i)) => system.parameters[i].unit.clone(),
        Ok(Variable::Coordinate(i)) => system.coordinates[i].unit.clone(),
        Ok(Variable::Momentum(i)) => system.momentum_unit(i),
        _ => String::new(),
    };
    with_unit(name, &unit)
}

/// Logarithmic if values are positive and differ much.
fn scale(values: &[f64]) -> Scale {
    let finite = || values.iter().copied().filter(|value| value.is_finite() && *value != 0.0);
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(0.0, f64::max));
    if low > 0.0 && high > WIDE * low { Scale::Log } else { Scale::Linear }
}

fn map(plan: &EnsemblePlan, [x, y]: [&Values; 2], column: &Column, values: &[f64], most: usize) -> Panel {
    let (columns, rows) = (x.count as usize, y.count as usize);
    // members have the second name fastest, a map has the first one fastest
    let turned = (0..rows).flat_map(|row| (0..columns).map(move |column| column * rows + row));
    let heat = HeatMap {
        x: around(x),
        y: around(y),
        columns,
        values: turned.map(|member| values[member]).collect(),
        label: label(plan, column),
        colours: Colours::Sequential,
        scale: scale(values),
        most: (most, most),
    };
    let mut panel = Panel::new("", Axis::linear(varied(plan, &x.name)), Axis::linear(varied(plan, &y.name)));
    panel.marks.push(Mark::new(palette(0), Shape::Heat(heat)));
    panel
}

/// The ends of an axis whose values are the middles of cells.
fn around(axis: &Values) -> (f64, f64) {
    let (first, last) = (axis.value(0), axis.value(axis.count - 1));
    let half = if axis.count > 1 { (last - first) / (axis.count - 1) as f64 / 2.0 } else { 0.5 };
    (first - half, last + half)
}

fn curve(plan: &EnsemblePlan, axes: &[Values], column: &Column, values: &[f64]) -> Panel {
    let x = |k: usize| axes.first().map_or(k as f64, |axis| axis.value(k as u64));
    let name = axes.first().map_or_else(String::new, |axis| varied(plan, &axis.name));
    let label = label(plan, column);
    let y = if scale(values) == Scale::Log { Axis::log(label) } else { Axis::linear(label) };
    let mut panel = Panel::new("", Axis::linear(name), y);
    let points: Vec<[f64; 2]> = values.iter().enumerate().map(|(k, y)| [x(k), *y]).collect();
    if points.len() <= MOST_MARKERS {
        let dots = Shape::Points { points: points.clone(), radius: 3.0, filled: true };
        panel.marks.push(Mark::new(palette(0), dots));
    }
    panel.marks.push(Mark::line(palette(0), 1.4, points));
    panel
}
