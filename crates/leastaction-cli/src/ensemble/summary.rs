//! What is printed of an ensemble: for people, or as JSON.

use super::Work;
use crate::arguments::SummaryFormat;
use crate::{Ending, print};
use leastaction::simulate::ensemble::{EventTally, Tally};
use serde::Serialize;

/// An ensemble as JSON.
#[derive(Serialize)]
struct Summary<'a> {
    system: &'a str,
    method: &'a str,
    order: usize,
    step: f64,
    steps: u64,
    t_end: f64,
    varied: &'a [String],
    #[serde(flatten)]
    tally: &'a Tally,
    /// The first member and the one after the last, of all.
    range: [u64; 2],
    all_members: u64,
    threads: usize,
    wall_seconds: f64,
}

pub(super) fn print_summary(
    format: SummaryFormat,
    work: &Work,
    tally: &Tally,
    wall_seconds: f64,
) -> Result<(), Ending> {
    let base = &work.plan.base;
    let summary = Summary {
        system: &base.problem.system.name,
        method: &base.method.name,
        order: base.method.order,
        step: base.step,
        steps: base.steps,
        t_end: base.problem.t0 + base.steps as f64 * base.step,
        varied: work.plan.varied(),
        tally,
        range: [work.members.start, work.members.end],
        all_members: work.plan.count(),
        threads: work.threads,
        wall_seconds,
    };
    match format {
        SummaryFormat::Text => print(&text(work, &summary)),
        SummaryFormat::Json => {
            let json = serde_json::to_string(&summary);
            print(&json.map_err(|error| Ending::Failed(error.to_string()))?)
        }
    }
}

fn text(work: &Work, summary: &Summary<'_>) -> String {
    let system = &work.plan.base.problem.system;
    let unit = if system.time_unit.is_empty() { String::new() } else { format!(" {}", system.time_unit) };
    let tally = summary.tally;
    let mut lines = vec![format!("{} with {} (order {})", system.title, summary.method, summary.order)];
    let part = match work.shard {
        None => String::new(),
        Some(shard) => format!(", shard {}/{} of {}", shard.index, shard.count, summary.all_members),
    };
    lines.push(format!("  members    {}, {} varied{part}", tally.members, summary.varied.join(", ")));
    let ends = format!("to t = {}{unit}", leastaction::error::number(summary.t_end));
    lines.push(match tally.step_sizes {
        Some([least, largest]) if least < largest => {
            format!("  steps      a size for each member, from {least:.4e} to {largest:.4e}{unit}, {ends}")
        }
        Some([step, _]) if step != summary.step => format!("  steps      each {step}{unit}, {ends}"),
        _ => format!("  steps      {} each, each {}{unit}, {ends}", summary.steps, summary.step),
    });
    let statuses: Vec<String> =
        tally.statuses.iter().map(|(word, count)| format!("{count} {word}")).collect();
    lines.push(format!("  ended      {}", statuses.join(", ")));
    if let Some(largest) = &tally.energy_error {
        let of = if system.structure().autonomous { "" } else { " of the balance" };
        lines.push(format!(
            "  energy     largest error{of} {:.6e} of a member's energy scale (member {})",
            largest.value, largest.index
        ));
    }
    lines.extend(tally.events.iter().map(|(name, event)| event_line(name, event)));
    let rate = tally.members as f64 / summary.wall_seconds.max(1e-9);
    let threads = crate::counted(summary.threads, "thread");
    lines.push(format!("  time       {threads}, {:.3} s, {rate:.0} members a second", summary.wall_seconds));
    lines.join("\n")
}

fn event_line(name: &str, event: &EventTally) -> String {
    let time = |t: Option<f64>| t.map_or(String::new(), leastaction::error::number);
    match event.members {
        0 => format!("  event      {name} in no member"),
        members => format!(
            "  event      {name} in {members} members, first between t = {} and {}",
            time(event.earliest),
            time(event.latest)
        ),
    }
}
