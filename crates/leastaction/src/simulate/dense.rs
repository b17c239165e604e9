//! States between those that were recorded.
//!
//! The polynomials of the steps are not kept. A state at any time is the end of a partial step from the recorded state before it, which
//! has the full order of the method, unlike the polynomial, and which methods without a polynomial have as well.

use super::{Plan, Recording};
use crate::error::{Error, Failure, Result, number};
use crate::step::{State, Stepper};
use crate::system::{Energy, Velocities};

/// Parts of a step that are taken for rounding.
const NOTHING: f64 = 1e-12;

/// Evaluates a solution at any time of it.
#[derive(Clone, Debug)]
pub struct Dense {
    plan: Plan,
    stepper: Stepper<f64>,
    velocities: Velocities<f64>,
    energy: Energy<f64>,
    /// The state found last.
    pub q: Vec<f64>,
    /// Its velocities.
    pub v: Vec<f64>,
    /// Its momenta.
    pub p: Vec<f64>,
}

/// Recorded rows, as they are kept by whoever has them.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// Times.
    pub t: &'a [f64],
    /// Coordinates, n a row.
    pub q: &'a [f64],
    /// Momenta, n a row.
    pub p: &'a [f64],
}

impl<'a> From<&'a Recording> for Rows<'a> {
    fn from(recording: &'a Recording) -> Self {
        Self { t: &recording.t, q: &recording.q, p: &recording.p }
    }
}

impl Dense {
    /// For solutions of a plan, in `f64`.
    pub fn new(plan: &Plan) -> Self {
        let problem = &plan.problem;
        let model = &problem.system.model;
        Self {
            plan: plan.clone(),
            stepper: plan.stepper(problem, plan.step),
            velocities: Velocities::new(model, &problem.parameters),
            energy: Energy::new(model, &problem.parameters),
            q: problem.q0.clone(),
            v: problem.v0.clone(),
            p: problem.p0.clone(),
        }
    }

    /// Finds the state at a time within the recorded ones, and gives its energy.
    pub fn find(&mut self, rows: Rows<'_>, t: f64) -> Result<f64> {
        let row = self.row_before(rows, t)?;
        let n = self.q.len();
        let (from, range) = (rows.t[row], row * n..(row + 1) * n);
        let mut state = State::at(rows.q[range.clone()].to_vec(), rows.p[range].to_vec());
        self.advance(&mut state, from, t)?;
        self.q.clone_from_slice(&state.q);
        self.p.clone_from_slice(&state.p);
        let found = self.velocities.velocities(&self.q, &self.p, &t, &mut self.v);
        found.map_err(|cause| self.plan.problem.failure(0, &t, (&self.q, &self.p), cause))?;
        Ok(self.energy.at(&self.q, &self.v, &t).0)
    }

    /// The recorded row at a time or before it.
    fn row_before(&self, rows: Rows<'_>, t: f64) -> Result<usize> {
        let (Some(first), Some(last)) = (rows.t.first(), rows.t.last()) else {
            let message = "nothing was recorded, so there is nothing between\n  try every = 1".to_owned();
            return Err(Error::BadRun { message });
        };
        // a run to 100 may end at 99.99999999999999
        let slack = NOTHING * self.plan.step + 4.0 * f64::EPSILON * first.abs().max(last.abs());
        if !(*first - slack..=*last + slack).contains(&t) {
            let message = format!(
                "t = {} lies outside of what was computed, {} to {}",
                number(t),
                number(*first),
                number(*last)
            );
            return Err(Error::BadRun { message });
        }
        let after = rows.t.partition_point(|x| *x <= t);
        Ok(after.saturating_sub(1))
    }

    /// Whole steps as far as they go, where not every step was recorded, and a partial one.
    fn advance(&mut self, state: &mut State<f64>, mut from: f64, to: f64) -> Result<()> {
        let step = self.plan.step;
        // times are rounded; what is less than that is no step
        while to - from > NOTHING * step {
            let rest = to - from;
            let size = if rest > (1.0 + NOTHING) * step { step } else { rest };
            let taken = self.stepper.step_by(state, &from, &size);
            taken.map_err(|cause| self.failure(state, from, cause))?;
            from += size;
        }
        Ok(())
    }

    fn failure(&self, state: &State<f64>, from: f64, cause: crate::error::Cause) -> Failure {
        self.plan.problem.failure(state.steps + 1, &from, (&state.q, &state.p), cause)
    }
}
