//! `leastaction simulate`: plan, run, write, summarise.
//!
//! Output paths are checked before anything is computed; what was computed is written also when the run fails or is
//! interrupted.

use crate::arguments::{SimulateFlags, SummaryFormat};
use crate::progress::{AFTER_THIS_STEP, Interrupt, Progress};
use crate::{Ending, counted, output, pick, picture, print, say, warn_of_text};
use leastaction::prelude::Solution;
use leastaction::simulate::{Outcome, Plan, Summary};
use serde::Serialize;
use std::path::PathBuf;

pub(crate) fn simulate(flags: &SimulateFlags) -> Result<(), Ending> {
    let mut run = flags.to_run()?;
    let files = Files {
        tables: run.out.iter().map(PathBuf::from).collect(),
        events: flags.events.clone(),
        pictures: run.plot.iter().map(PathBuf::from).collect(),
    };
    for path in files.tables.iter().chain(&files.events) {
        output::check_table(path)?;
    }
    for path in &files.pictures {
        output::check_picture(path)?;
    }
    if run.events.is_empty() && !files.events.is_empty() {
        let message = "there are no events for --events to write; define one with --event NAME=FORMULA";
        return Err(Ending::BadInput(message.to_owned()));
    }
    let nothing_kept = files.tables.is_empty() && files.pictures.is_empty();
    if nothing_kept && run.every.is_none() && run.dense.is_none() {
        run.every = Some(0);
    }
    let interrupt = Interrupt::install(AFTER_THIS_STEP);
    let picked = pick::pick(&mut run, Some(&interrupt))?;
    let plan = run.plan()?;
    warn_of_text(&plan.problem.system);
    for note in &plan.notes {
        say(&format!("note: {note}"));
    }
    if plan.every == 0 && !nothing_kept {
        return Err(Ending::BadInput(
            "nothing would be recorded for --out or --plot; try --every 1".to_owned(),
        ));
    }
    for warning in plan.warnings() {
        say(&format!("warning: {warning}"));
    }
    // where a single step takes long, the clock is read at each
    let slow = plan.precision.is_some() || plan.problem.system.n() > 1000;
    let progress = Progress::new(plan.steps, if slow { 1 } else { 64 });
    let solution = plan.simulate_watched(&mut |step| {
        progress.show(step);
        interrupt.flow()
    })?;
    progress.finish();
    finish(flags.summary, &files, &plan, &solution, picked.as_ref())
}

/// Where the results go.
struct Files {
    tables: Vec<PathBuf>,
    events: Vec<PathBuf>,
    pictures: Vec<PathBuf>,
}

/// The summary, and what was picked for the run.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    picked: Option<&'a pick::Found>,
}

/// Writes what there is, prints the summary, and says how it ended.
fn finish(
    summary: SummaryFormat,
    files: &Files,
    plan: &Plan,
    solution: &Solution,
    picked: Option<&pick::Found>,
) -> Result<(), Ending> {
    let mut failed_writes = Vec::new();
    for path in &files.tables {
        match output::write_states(path, plan, solution) {
            Ok(()) => {
                say(&format!("wrote {} ({})", path.display(), counted(solution.recording.len(), "row")));
            }
            Err(message) => failed_writes.push(message),
        }
    }
    for path in &files.events {
        match output::write_events(path, plan, solution) {
            Ok(()) => say(&format!("wrote {} ({})", path.display(), counted(solution.events.len(), "event"))),
            Err(message) => failed_writes.push(message),
        }
    }
    for path in &files.pictures {
        match picture::draw(plan, solution).and_then(|figure| output::write_picture(path, &figure)) {
            Ok(()) => say(&format!("wrote {}", path.display())),
            Err(message) => failed_writes.push(message),
        }
    }
    match summary {
        SummaryFormat::Text => print(&solution.summary.to_string())?,
        SummaryFormat::Json => {
            let json = serde_json::to_string(&Report { summary: &solution.summary, picked });
            print(&json.map_err(|error| Ending::Failed(error.to_string()))?)?;
        }
    }
    for note in solution.notes() {
        say(&format!("note: {note}"));
    }
    for warning in solution.warnings() {
        say(&format!("warning: {warning}"));
    }
    pick::warn(&solution.summary, picked);
    let all_written = failed_writes.is_empty();
    match &solution.outcome {
        Outcome::Failed(failure) => {
            let kept = solution.summary.steps;
            let mut messages = vec![format!("{failure}\n  steps computed and kept before it: {kept}")];
            messages.append(&mut failed_writes);
            Err(Ending::Failed(messages.join("\nerror: ")))
        }
        _ if !all_written => Err(Ending::Failed(failed_writes.join("\nerror: "))),
        Outcome::Interrupted => {
            say(&format!("interrupted after {} of {} steps", solution.summary.steps, plan.steps));
            Err(Ending::Interrupted)
        }
        Outcome::Done | Outcome::Stopped { .. } => Ok(()),
    }
}
