//! The loop over steps, and those who watch it.
//!
//! [`simulate`](simulate()) steps a [`State`] and shows every step to its [`Observer`]s: a recorder, a checker of invariants, a
//! progress bar. [`Run`] describes a whole run as data, [`Plan`] is the checked run ready to go, [`Solution`] what comes
//! out, also when the run stops early.

mod accuracy;
mod advice;
mod bend;
mod bodies;
mod checkpoint;
mod conserved;
mod crossings;
mod dense;
mod diagnosis;
mod energy_meter;
pub mod ensemble;
mod event;
mod events;
mod file;
mod interval;
mod invariants;
mod journey;
mod keeper;
pub(crate) mod numbers;
mod observed;
mod path;
mod plan;
mod recorder;
mod report;
mod resolution;
mod root;
mod run;
mod solution;
pub(crate) mod stability;
mod whole;
mod within;

pub use bodies::Bodies;
pub use checkpoint::Checkpoint;
pub use conserved::Conserved;
pub use crossings::{Crossings, Tally};
pub use dense::{Dense, Rows};
pub(crate) use diagnosis::diagnose;
pub use energy_meter::EnergyMeter;
pub use event::{Direction, Event};
pub use events::Events;
pub use file::Definition;
pub use interval::Interval;
pub use invariants::{Drift, Invariants};
pub use journey::Journey;
pub use keeper::Keeper;
pub use numbers::MAX_DIGITS;
pub use observed::{Observed, Outputs};
pub use plan::{Plan, Watch};
pub use recorder::{Output, Recorder, Recording};
pub use report::{EventSummary, FailureSummary, Nearest, OutputSummary};
pub use resolution::Resolution;
pub use run::{InitialState, Run};
pub use solution::{DigitsSummary, EnergySummary, NewtonSummary, Solution, StepError, Summary};
pub use whole::write_whole;

use crate::error::{Cause, Failure};
use crate::scalar::Real;
use crate::step::{State, Stepper};
use crate::system::Problem;
use std::ops::ControlFlow;

/// Whether an error is larger than a limit, or no number.
pub(crate) fn exceeds(error: f64, limit: f64) -> bool {
    let within = error <= limit;
    !within
}

/// What an observer sees after a step, and once before the first.
#[derive(Debug)]
pub struct Moment<'a, R> {
    /// Time.
    pub t: R,
    /// Coordinates and momenta.
    pub state: &'a State<R>,
    /// The stepper, for the path within the last step.
    pub stepper: &'a Stepper<R>,
    /// How many corrections the step took.
    pub iterations: u32,
}

/// Watches a run.
pub trait Observer<R> {
    /// Looks at a step. `Break` ends the run after it; an error stops it as failed.
    fn observe(&mut self, moment: &Moment<'_, R>) -> Result<ControlFlow<()>, Cause>;
}

/// How a run ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// All steps were taken.
    Done,
    /// An observer ended it.
    Interrupted,
    /// An event that was to end it did.
    Stopped {
        /// The name of the event.
        event: String,
        /// When it happened, in the last step.
        time: f64,
    },
    /// All steps were taken, and no event that was to end the run did.
    NotReached {
        /// The name of the first of these events.
        event: String,
    },
    /// The error of the energy exceeded the [limit](Plan::limit) of the plan.
    Exceeded,
    /// A step failed; the state is the one before it.
    Failed(Box<Failure>),
}

impl Outcome {
    /// It in a word or two.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Interrupted => "interrupted",
            Self::Stopped { .. } => "stopped",
            Self::NotReached { .. } => "not reached",
            Self::Exceeded => "exceeded",
            Self::Failed(_) => "failed",
        }
    }
}

/// Takes steps until `steps` of them are taken in all, an observer breaks, or a step fails.
pub fn simulate<R: Real>(
    problem: &Problem<R>,
    stepper: &mut Stepper<R>,
    state: &mut State<R>,
    steps: u64,
    observers: &mut [&mut dyn Observer<R>],
) -> Outcome {
    match show(stepper, state, 0, observers) {
        Ok(ControlFlow::Continue(())) => proceed(problem, stepper, state, steps, observers),
        Ok(ControlFlow::Break(())) if state.steps < steps => Outcome::Interrupted,
        Ok(ControlFlow::Break(())) => Outcome::Done,
        Err(cause) => failed(problem, stepper, state, state.steps, cause),
    }
}

/// The same from a state that the observers have seen already: goes on after an interruption.
pub fn proceed<R: Real>(
    problem: &Problem<R>,
    stepper: &mut Stepper<R>,
    state: &mut State<R>,
    steps: u64,
    observers: &mut [&mut dyn Observer<R>],
) -> Outcome {
    let (mut q, mut p) = (state.q.clone(), state.p.clone());
    while state.steps < steps {
        q.clone_from_slice(&state.q);
        p.clone_from_slice(&state.p);
        let iterations = match stepper.step(state) {
            Ok(iterations) => iterations,
            Err(cause) => return failed(problem, stepper, state, state.steps + 1, cause),
        };
        match show(stepper, state, iterations, observers) {
            Ok(ControlFlow::Break(())) if state.steps < steps => return Outcome::Interrupted,
            Ok(_) => {}
            Err(cause) => {
                // a step that was taken and then refused is none
                state.steps -= 1;
                (state.q, state.p) = (q, p);
                return failed(problem, stepper, state, state.steps + 1, cause);
            }
        }
    }
    Outcome::Done
}

/// Shows a state to all observers. `Break` if one of them ends the run.
fn show<R: Real>(
    stepper: &Stepper<R>,
    state: &State<R>,
    iterations: u32,
    observers: &mut [&mut dyn Observer<R>],
) -> std::result::Result<ControlFlow<()>, Cause> {
    let moment = Moment { t: stepper.time(state.steps), state, stepper, iterations };
    let mut flow = ControlFlow::Continue(());
    for observer in observers.iter_mut() {
        match observer.observe(&moment)? {
            ControlFlow::Continue(()) => {}
            stop => flow = stop,
        }
    }
    Ok(flow)
}

fn failed<R: Real>(
    problem: &Problem<R>,
    stepper: &Stepper<R>,
    state: &State<R>,
    step: u64,
    cause: Cause,
) -> Outcome {
    // where the step starts
    let time = stepper.time(step.saturating_sub(1));
    let failure = problem.failure(step, &time, (&state.q, &state.p), cause);
    Outcome::Failed(Box::new(failure))
}
