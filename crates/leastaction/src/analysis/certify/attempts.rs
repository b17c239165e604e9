//! A run that keeps to its tolerance: one that misses it begins again with a smaller step.
//!
//! A step is picked from a look at the run, often at a part of it, and at steps that a later close approach may make too large. So the run itself is
//! watched. As soon as its energy is wrong by more than the tolerance, or a step fails, it begins again with the same method and a smaller
//! step. When that does not help, or has been done often enough, the last attempt goes to its end, and its error is told.

use super::pick::{Picked, pick_for};
use crate::analysis::Watch;
use crate::error::Result;
use crate::simulate::{Outcome, Plan, Run, Solution};
use std::ops::ControlFlow;

/// How much smaller the step becomes with each new attempt.
const SMALLER: [f64; 10] = [0.8, 0.7, 0.6, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5];
/// The same after a step that failed.
const AFTER_FAILURE: f64 = 0.25;
/// So many attempts that get no further than those before end the search.
const STUCK: u32 = 3;
/// A run ends early only when its error is so many times the tolerance: the energy scale was that of the look.
const EARLY: f64 = 1.5;

/// The attempts at a run with a tolerance.
#[derive(Clone, Debug)]
pub struct Attempts {
    picked: Option<Picked>,
    count: usize,
    /// The latest time reached, and how many attempts since got no further.
    reached: f64,
    stuck: u32,
}

impl Attempts {
    /// The first attempt at what was picked. A run that nothing was picked for has one only.
    pub fn new(picked: Option<Picked>) -> Self {
        Self { picked, count: 0, reached: f64::NEG_INFINITY, stuck: 0 }
    }

    /// What is to be run now.
    pub fn picked(&self) -> Option<&Picked> {
        self.picked.as_ref()
    }

    /// Whether this attempt is the last one.
    fn is_last(&self) -> bool {
        self.count >= SMALLER.len() || self.stuck >= STUCK
    }

    /// Lets the plan of this attempt end early if another one may follow.
    pub fn prepare(&self, plan: &mut Plan) {
        let early = |picked: &Picked| EARLY * picked.tolerance * picked.energy_scale;
        plan.limit = self.picked.as_ref().filter(|_| !self.is_last()).map(early);
    }

    /// Whether the run missed the tolerance and must begin again, with what is [picked](Self::picked) now.
    pub fn again(&mut self, solution: &Solution) -> bool {
        let (missed, failed) = match &solution.outcome {
            Outcome::Failed(failure) => (failure.cause.is_of_steps(), true),
            Outcome::Interrupted => (false, false),
            Outcome::Exceeded => (true, false),
            _ => (solution.summary.exceeded().is_some(), false),
        };
        let begins = missed && !self.is_last();
        let Some(picked) = self.picked.as_mut().filter(|_| begins) else { return false };
        let reached = (solution.summary.t_end - picked.run_start).abs();
        self.stuck = if reached > self.reached { 0 } else { self.stuck + 1 };
        self.reached = self.reached.max(reached);
        picked.shrink(if failed { AFTER_FAILURE } else { SMALLER[self.count] });
        self.count += 1;
        true
    }
}

/// Runs a system as a run says. With a tolerance and no step these are picked, and the run begins again with a smaller step while it misses the
/// tolerance; [`Summary::exceeded`](crate::simulate::Summary::exceeded) says if the last attempt missed it too.
pub fn simulate_within(run: &Run, watch: Watch<'_>) -> Result<Solution> {
    let (system, rest) = run.resolve()?;
    let mut attempts = Attempts::new(pick_for(&rest, &system, watch)?);
    loop {
        let run = attempts.picked().map_or(&rest, |picked| &picked.run);
        let mut plan = run.plan_for(&system)?;
        attempts.prepare(&mut plan);
        let mut flow = |_| watch(0);
        let solution = plan.simulate_watched(&mut flow)?;
        if matches!(watch(0), ControlFlow::Break(())) || !attempts.again(&solution) {
            return Ok(solution);
        }
    }
}
