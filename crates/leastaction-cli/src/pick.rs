//! A run with a tolerance gets its method and step before it is planned, and says which.

use crate::progress::Interrupt;
use crate::{Ending, say};
use leastaction::analysis::{self, Picked};
use leastaction::error::number;
use leastaction::prelude::{Run, Solution};
use leastaction::simulate::{Outcome, Summary};
use serde::Serialize;
use std::ops::ControlFlow;
use std::time::Instant;

/// What was picked, as a summary has it.
#[derive(Debug, Serialize)]
pub(crate) struct Found {
    /// The error that was measured.
    error: f64,
    /// Up to which time.
    measured_until: f64,
    /// Methods and steps tried.
    tried: usize,
    /// Seconds that took.
    seconds: f64,
}

/// What is picked for a run with a tolerance and no step, and how a summary has it; nothing for other runs.
/// Who has no interrupt is ended by Ctrl-C at once.
pub(crate) fn look(run: &Run, interrupt: Option<&Interrupt>) -> Result<Option<(Picked, Found)>, Ending> {
    let start = Instant::now();
    let flow = || interrupt.map_or(ControlFlow::Continue(()), Interrupt::flow);
    let picked = analysis::pick(run, &|_| flow());
    if flow().is_break() {
        say("interrupted before a method and a step were found");
        return Err(Ending::Interrupted);
    }
    let Some(picked) = picked? else { return Ok(None) };
    let seconds = start.elapsed().as_secs_f64();
    say(&format!("{picked} in {seconds:.2} s"));
    let found =
        Found { error: picked.error, measured_until: picked.measured_until, tried: picked.tried, seconds };
    Ok(Some((picked, found)))
}

/// Puts method and step into a run with a tolerance and no step; other runs stay as they are.
pub(crate) fn pick(run: &mut Run, interrupt: Option<&Interrupt>) -> Result<(), Ending> {
    if let Some((picked, _)) = look(run, interrupt)? {
        *run = picked.run;
    }
    Ok(())
}

/// Says that a run begins again, why, and with which step.
pub(crate) fn say_again(solution: &Solution, picked: &Picked) {
    let (t, step) = (number(solution.summary.t_end), number(picked.step));
    let why = match &solution.outcome {
        Outcome::Failed(_) => format!("a step failed after t = {t}"),
        _ => format!("the error exceeded the tolerance at t = {t}"),
    };
    say(&format!("note: {why}\n  the run begins again with a step of {step}"));
}

/// That a run did not keep to its tolerance, and what to do.
pub(crate) fn missed(summary: &Summary, was_picked: bool) -> Option<String> {
    let (tolerance, error) = summary.exceeded()?;
    let what = if summary.energy.conserved { "energy error" } else { "error of the energy balance" };
    let help = match was_picked {
        true => {
            "the smaller steps tried did not help; give a still smaller --step, a larger tolerance, or a shorter run"
        }
        false => "give a smaller step, or leave out the step, so that one is picked",
    };
    Some(format!(
        "the {what} is {error:.1e}, more than the tolerance of {tolerance:.1e}; the result is kept\n  {help}"
    ))
}
