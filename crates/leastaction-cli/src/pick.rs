//! A run with a tolerance gets its method and step before it is planned, and says which.

use crate::progress::Interrupt;
use crate::{Ending, say};
use leastaction::analysis::{self, Picked};
use leastaction::prelude::Run;
use leastaction::simulate::Summary;
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

/// Puts method and step into a run with a tolerance and no step; other runs stay as they are.
/// Who has no interrupt is ended by Ctrl-C at once.
pub(crate) fn pick(run: &mut Run, interrupt: Option<&Interrupt>) -> Result<Option<Found>, Ending> {
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
    let Picked { run: with_step, error, measured_until, tried, .. } = picked;
    *run = with_step;
    Ok(Some(Found { error, measured_until, tried, seconds }))
}

/// Says if a run did not keep to its tolerance, and what to do.
pub(crate) fn warn(summary: &Summary, found: Option<&Found>) {
    let Some((tolerance, error)) = summary.exceeded() else { return };
    let seen = match found {
        Some(found) => format!(
            ": up to t = {} it was {:.1e}, and it grew after that\n  try --tolerance {:.0e}",
            leastaction::error::number(found.measured_until),
            found.error,
            0.3 * tolerance * tolerance / error
        ),
        None => "\n  give a smaller step, or leave out the step, so that one is picked".to_owned(),
    };
    say(&format!(
        "warning: the energy error is {error:.1e}, more than the tolerance of {tolerance:.1e}{seen}"
    ));
}
