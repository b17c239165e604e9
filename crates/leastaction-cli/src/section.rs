//! `leastaction section`: where motions pass through a surface, as a list, as points, and as a picture.

use crate::arguments::{Format, SectionFlags};
use crate::figure::{Axis, Figure, Mark, Panel, Place, Shape, palette, with_unit};
use crate::progress::{AFTER_THIS_STEP, Interrupt, Progress};
use crate::{Ending, counted, list, output, pick, print, say};
use leastaction::analysis::{Orbit, Section, SectionPlan, SectionStart};
use leastaction::simulate::Outcome;
use serde::Serialize;
use std::collections::BTreeMap;

/// Formulas longer than this are numbers in a legend.
const LONG_FORMULA: usize = 10;
/// More motions than this are not named in a legend.
const MOST_NAMES: usize = 8;

pub(crate) fn section(flags: &SectionFlags) -> Result<(), Ending> {
    for path in &flags.out {
        output::check_points(path)?;
    }
    for path in &flags.plot {
        output::check_picture(path)?;
    }
    let mut section = flags.to_section()?;
    let interrupt = Interrupt::install(AFTER_THIS_STEP);
    // one step for all motions, that of the run which is not varied
    pick::pick(&mut section.run, Some(&interrupt))?;
    let plan = section.plan()?;
    for note in &plan.base.notes {
        say(&format!("note: {note}"));
    }
    note_left_out(&plan);
    for warning in plan.warnings() {
        say(&format!("warning: {warning}"));
    }
    let progress = Progress::new(plan.steps(), 1);
    let orbits = plan.run(&|steps| {
        progress.advance(steps);
        interrupt.flow()
    })?;
    progress.finish();
    for path in &flags.out {
        let run = base_run(&section, &plan)?;
        let outputs = section.run.outputs.keys().cloned().collect();
        output::write_points(path, &output::Points { plan: &plan, orbits: &orbits, run, outputs })
            .map_err(Ending::Failed)?;
        let count: usize = orbits.iter().map(|orbit| orbit.points.len()).sum();
        say(&format!("wrote {} ({})", path.display(), counted(count, "point")));
    }
    for path in &flags.plot {
        output::write_picture(path, &picture(&plan, &orbits)).map_err(Ending::Failed)?;
        say(&format!("wrote {}", path.display()));
    }
    write_list(flags.format, &plan, &orbits)?;
    ending(&plan, &orbits, &interrupt)
}

fn note_left_out(plan: &SectionPlan) {
    let Some((values, why)) = plan.left_out.first() else { return };
    let (count, all) = (plan.left_out.len(), plan.left_out.len() + plan.starts.len());
    let values = label(&plan.names, values);
    say(&format!(
        "note: {count} of {all} starts do not exist and are left out, the first with {values}: {why}"
    ));
}

/// The run without its variations, which are comments in it.
fn base_run(section: &Section, plan: &SectionPlan) -> Result<String, Ending> {
    let mut run = plan.base.run.clone();
    // the axes are outputs of the section alone
    run.outputs = section.run.outputs.clone();
    let mut text = format!("# section of `{}`, axes {} and {}\n", plan.event, plan.axes[0], plan.axes[1]);
    for vary in section.panels.iter().chain(&section.vary) {
        let values: Vec<String> = vary.values.iter().map(ToString::to_string).collect();
        text += &format!("# {} = {}\n", vary.name, values.join(", "));
    }
    if let Some(momentum) = &section.same_energy {
        text += &format!("# {momentum} adjusted to the same energy\n");
    }
    Ok(text + &run.to_toml()?)
}

/// Failed motions are said once each; what they gave is kept.
fn ending(plan: &SectionPlan, orbits: &[Orbit], interrupt: &Interrupt) -> Result<(), Ending> {
    if interrupt.flow().is_break() {
        say(&format!("interrupted; {} of {} motions were begun", orbits.len(), plan.starts.len()));
        return Err(Ending::Interrupted);
    }
    let count = orbits.iter().filter(|orbit| orbit.points.is_empty()).count();
    if count > 0 {
        say(&format!("note: {count} of {} motions never pass through the section", orbits.len()));
    }
    let failures = plan.starts.iter().zip(orbits).enumerate().filter_map(|(index, (start, orbit))| {
        let Outcome::Failed(failure) = &orbit.outcome else { return None };
        let values = label(&plan.names, &start.values);
        Some(format!("motion {} ({values}): {failure}", index + 1))
    });
    let failures: Vec<String> = failures.chain(missed(orbits)).collect();
    if failures.is_empty() { Ok(()) } else { Err(Ending::Failed(failures.join("\nerror: "))) }
}

/// One step serves all motions, and some may need a smaller one.
fn missed(orbits: &[Orbit]) -> Option<String> {
    let over: Vec<(f64, f64)> = orbits.iter().filter_map(|orbit| orbit.summary.exceeded()).collect();
    let (tolerance, _) = over.first()?;
    let worst = over.iter().fold(0.0, |worst, (_, error)| if *error <= worst { worst } else { *error });
    Some(format!(
        "{} of {} motions exceed the tolerance of {tolerance:.1e}, the worst with an energy error of {worst:.1e}; the result is kept\n  \
         all have the step of the run that is not varied; try a smaller tolerance or --step",
        over.len(),
        orbits.len()
    ))
}

/// `E = 1/8, y0 = 0.1`
fn label<T: std::fmt::Display>(names: &[String], values: &[T]) -> String {
    let pairs: Vec<String> =
        names.iter().zip(values).map(|(name, value)| format!("{name} = {value}")).collect();
    pairs.join(", ")
}

/// The same with few digits, for a picture. Short formulas stay formulas.
fn short_label(plan: &SectionPlan, start: &SectionStart, range: std::ops::Range<usize>) -> String {
    let shown = |i: usize| {
        let text = start.values[i].to_string();
        let number = text.parse().ok().or_else(|| start.value(&plan.names[i]));
        match number {
            Some(x) if text.parse::<f64>().is_ok() || text.len() > LONG_FORMULA => {
                format!("{x:.3e}").parse::<f64>().unwrap_or(x).to_string()
            }
            _ => text,
        }
    };
    let values: Vec<String> = range.clone().map(shown).collect();
    label(&plan.names[range], &values)
}

/// One motion in a list.
#[derive(Serialize)]
struct Line {
    orbit: usize,
    values: BTreeMap<String, String>,
    energy: f64,
    points: usize,
    first: Option<f64>,
    last: Option<f64>,
    steps: u64,
    /// None where time occurs in the Lagrangian.
    max_relative_energy_error: Option<f64>,
    outcome: &'static str,
}

fn write_list(format: Format, plan: &SectionPlan, orbits: &[Orbit]) -> Result<(), Ending> {
    let line = |(index, (start, orbit)): (usize, (&SectionStart, &Orbit))| Line {
        orbit: index + 1,
        values: plan.names.iter().cloned().zip(start.values.iter().map(ToString::to_string)).collect(),
        energy: orbit.summary.energy.initial,
        points: orbit.points.len(),
        first: orbit.t.first().copied(),
        last: orbit.t.last().copied(),
        steps: orbit.summary.steps,
        max_relative_energy_error: orbit
            .summary
            .energy
            .conserved
            .then_some(orbit.summary.energy.max_relative_error),
        outcome: orbit.summary.outcome,
    };
    let lines: Vec<Line> = plan.starts.iter().zip(orbits).enumerate().map(line).collect();
    let mut header = vec!["orbit"];
    header.extend(plan.names.iter().map(String::as_str));
    header.extend(["energy", "points", "last at t", "energy error", "ended"]);
    let row = |line: &Line| {
        let mut row = vec![line.orbit.to_string()];
        row.extend(plan.names.iter().map(|name| line.values.get(name).cloned().unwrap_or_default()));
        row.extend([
            short(line.energy),
            line.points.to_string(),
            line.last.map_or(String::new(), short),
            line.max_relative_energy_error.map_or("not conserved".to_owned(), |error| format!("{error:.1e}")),
            line.outcome.to_owned(),
        ]);
        row
    };
    let rows: Vec<Vec<String>> = lines.iter().map(row).collect();
    match format {
        Format::Table => print(&list::table(&header, &rows)),
        Format::Markdown => print(&list::plain_markdown(&header, &rows)),
        Format::Json => {
            let json = serde_json::to_string_pretty(&lines);
            print(&json.map_err(|error| Ending::Failed(error.to_string()))?)
        }
    }
}

/// A number with eight digits.
fn short(x: f64) -> String {
    format!("{x:.7e}").parse::<f64>().unwrap_or(x).to_string()
}

/// How many motions did not come to their end; nothing if all did.
fn alert(plan: &SectionPlan, orbits: &[Orbit]) -> String {
    let is_broken = |orbit: &&Orbit| matches!(orbit.outcome, Outcome::Failed(_) | Outcome::Interrupted);
    let begun = orbits.len();
    let broken = orbits.iter().filter(is_broken).count();
    let missing = plan.starts.len().saturating_sub(begun);
    match (broken, missing) {
        (0, 0) => String::new(),
        (broken, 0) => format!("{broken} of {begun} motions FAILED or were interrupted before their end"),
        (broken, missing) => format!("INTERRUPTED: {missing} motions are missing, and {broken} ended early"),
    }
}

/// A panel for each value of what the panels differ in, a colour for each motion.
fn picture(plan: &SectionPlan, orbits: &[Orbit]) -> Figure {
    let system = &plan.base.problem.system;
    let summary = |orbit: &Orbit| format!("{} (order {})", orbit.summary.method, orbit.summary.order);
    let count: usize = orbits.iter().map(|orbit| orbit.points.len()).sum();
    let event = &plan.base.run.events[&plan.event];
    let subtitle = format!(
        "section {} = 0, {count} points of {} motions, {}, steps of {}",
        event.of,
        orbits.len(),
        orbits.first().map(summary).unwrap_or_default(),
        short(plan.base.step)
    );
    let fold = plan.turns(orbits);
    let columns = plan.panels.min(3);
    let rows = plan.panels.div_ceil(columns);
    let panel = |index: usize| {
        let mut panel = section_panel(plan, orbits, fold, index);
        let (width, height) = (1.0 / columns as f64, 1.0 / rows as f64);
        let (x, y) = ((index % columns) as f64, (index / columns) as f64);
        panel.place = Place { x: width * x, y: height * y, width, height };
        panel
    };
    let (width, row) = [(760.0, 640.0), (1200.0, 520.0), (1500.0, 470.0)][columns - 1];
    Figure {
        title: format!("{}: Poincaré section", system.title),
        alert: alert(plan, orbits),
        subtitle,
        width,
        height: 90.0 + row * rows as f64,
        panels: (0..plan.panels).map(panel).collect(),
    }
}

fn section_panel(plan: &SectionPlan, orbits: &[Orbit], fold: [bool; 2], index: usize) -> Panel {
    let own: Vec<(&SectionStart, &Orbit)> =
        plan.starts.iter().zip(orbits).filter(|(start, _)| start.panel == index).collect();
    let title = match (plan.panels, own.first(), plan.names.first()) {
        (2.., Some((start, _)), Some(_)) => short_label(plan, start, 0..1),
        _ => String::new(),
    };
    let [x, y] = [0, 1].map(|axis| Axis::linear(with_unit(&plan.axes[axis], &unit(plan, &plan.axes[axis]))));
    let mut panel = Panel::new(title, x, y);
    let count: usize = own.iter().map(|(_, orbit)| orbit.points.len()).sum();
    // dots that can still be told apart
    let size = if count > 4000 { 1.3 } else { 2.0 };
    let varied = if plan.panels > 1 { 1 } else { 0 };
    for (k, (start, orbit)) in own.iter().enumerate() {
        let mark = Mark::new(palette(k), Shape::Dots { points: plan.folded(orbit, fold), size });
        let names = short_label(plan, start, varied..plan.names.len());
        let named = (2..=MOST_NAMES).contains(&own.len()) && !names.is_empty();
        panel.marks.push(if named { mark.named(names) } else { mark });
    }
    panel
}

/// The unit of an axis that is a coordinate or a momentum.
fn unit(plan: &SectionPlan, formula: &str) -> String {
    let system = &plan.base.problem.system;
    for (i, coordinate) in system.coordinates.iter().enumerate() {
        if coordinate.name == formula {
            return coordinate.unit.clone();
        }
        if formula.strip_prefix("p_") == Some(coordinate.name.as_str()) {
            return system.momentum_unit(i);
        }
    }
    String::new()
}
