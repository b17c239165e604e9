//! From a solution to what the figure module draws.

use crate::figure::{Figure, Motion, Path, RunPicture, Series, picture_of_run};
use leastaction::prelude::Solution;
use leastaction::simulate::{Outcome, Plan};

pub(crate) fn draw(plan: &Plan, solution: &Solution) -> Result<Figure, String> {
    let system = &plan.problem.system;
    let (summary, recording) = (&solution.summary, &solution.recording);
    // six digits say enough about a step such as period/200
    let short = |value: f64| format!("{value:.6e}").parse::<f64>().unwrap_or(value);
    let with_unit = |value: f64| format!("{} {}", short(value), system.time_unit).trim_end().to_owned();
    let series = |prefix: &str, unit: &dyn Fn(usize) -> String, values: &dyn Fn(usize) -> Vec<f64>| {
        let series = |i: usize| Series {
            name: format!("{prefix}{}", system.coordinates[i].name),
            unit: unit(i),
            values: values(i),
        };
        (0..system.n()).map(series).collect::<Vec<_>>()
    };
    let scale = summary.energy.scale;
    Ok(picture_of_run(&RunPicture {
        title: system.title.clone(),
        alert: alert(plan, solution, &with_unit),
        subtitle: format!(
            "{} (order {}), {} steps of {}",
            summary.method,
            summary.order,
            summary.steps,
            with_unit(summary.step)
        ),
        time_label: if system.time_unit.is_empty() {
            "t".to_owned()
        } else {
            format!("t [{}]", system.time_unit)
        },
        time: recording.t.clone(),
        coordinates: series("", &|i| system.coordinates[i].unit.clone(), &|i| {
            recording.coordinate(i).collect()
        }),
        momenta: series("p_", &|i| system.momentum_unit(i), &|i| recording.momentum(i).collect()),
        outputs: recording
            .outputs
            .iter()
            .map(|output| Series {
                name: output.name.clone(),
                unit: String::new(),
                values: output.values.clone(),
            })
            .collect(),
        energy_error: if summary.energy.conserved {
            recording.energy_change.iter().map(|change| change / scale).collect()
        } else {
            Vec::new()
        },
        energy_largest: Some(summary.energy.max_relative_error),
        energy_label: "relative energy error".to_owned(),
        motion: motion(plan, solution)?,
    }))
}

/// That a run did not come to the end it was meant to, and when; nothing if it did.
fn alert(plan: &Plan, solution: &Solution, time: &dyn Fn(f64) -> String) -> String {
    let steps = format!("after {} of {} steps", solution.summary.steps, plan.steps);
    match &solution.outcome {
        Outcome::Done | Outcome::Stopped { .. } => match solution.summary.exceeded() {
            Some((tolerance, error)) => {
                format!("TOLERANCE MISSED: energy error {error:.1e} instead of {tolerance:.1e}")
            }
            None => String::new(),
        },
        Outcome::Failed(failure) => format!("FAILED at t = {}, {steps}", time(failure.time)),
        Outcome::Interrupted | Outcome::Exceeded => {
            let reached = plan.problem.t0 + solution.summary.steps as f64 * plan.step;
            format!("INTERRUPTED at t = {}, {steps}", time(reached))
        }
        Outcome::NotReached { event } => format!("NOT REACHED: `{event}` was to end the run and did not"),
    }
}

/// The bodies' positions at every recorded state.
pub(crate) fn motion(plan: &Plan, solution: &Solution) -> Result<Option<Motion>, String> {
    let Some(mut bodies) = plan.bodies().map_err(|error| error.to_string())? else { return Ok(None) };
    let recording = &solution.recording;
    let names = bodies.motion.bodies.iter();
    let mut paths: Vec<Path> = names.map(|name| Path { name: name.clone(), points: Vec::new() }).collect();
    for row in 0..recording.len() {
        let range = row * recording.n..(row + 1) * recording.n;
        let positions = bodies.at(&recording.q[range.clone()], &recording.v[range], recording.t[row]);
        for (path, position) in paths.iter_mut().zip(positions.chunks(3)) {
            path.points.push([position[0], position[1], position[2]]);
        }
    }
    Ok(Some(Motion {
        dimension: bodies.motion.dimension,
        paths,
        links: bodies.motion.links.clone(),
        sphere: bodies.sphere,
        unit: bodies.motion.unit.clone(),
    }))
}
