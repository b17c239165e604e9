//! How far the final state of a run can be trusted: the same run with half the step ends elsewhere by about its error.
//!
//! A small energy error says nothing of phases, and a chaotic motion forgets its start whatever the energy does. So the run is repeated with half
//! the step. With a method of order r the halved run is 2^r times as accurate, so the difference of both ends is nearly all of the error.

use super::journey::watched;
use super::{Outcome, Resolution, StepError, Watch, simulate};
use crate::method::Method;
use crate::scalar::{Real, elementary};
use crate::step::{State, Stepper};
use crate::system::Problem;

/// The error of the final state, and the coordinate where it is largest: what the same run with half the step ends elsewhere by, as a part of the
/// range of the coordinate or its momentum. Nothing if that run fails or is interrupted.
pub(super) fn final_error<R: Real>(
    problem: &Problem<R>,
    method: &Method,
    (stepper, end): (&Stepper<R>, &State<R>),
    ranges: &Resolution<R>,
    watch: Watch<'_>,
) -> Option<StepError> {
    let mut half = stepper.clone();
    half.resize(&(stepper.step_size().clone() / R::from_f64(2.0)));
    half.restart(None, &problem.v0);
    let mut state = State::new(problem);
    let outcome = simulate(problem, &mut half, &mut state, 2 * end.steps, &mut [&mut watched(watch)]);
    if !matches!(outcome, Outcome::Done) {
        return None;
    }
    let (i, difference) = ranges.between(&state, end)?;
    let power = elementary::powi(2.0, method.order as i32);
    Some(StepError {
        coordinate: problem.system.coordinates[i].name.clone(),
        error: difference * power / (power - 1.0),
    })
}
