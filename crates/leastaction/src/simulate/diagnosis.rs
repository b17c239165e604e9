//! What would have worked, where a step failed.
//!
//! From the state before the step the same time is gone through with smaller steps, and with methods of higher order and the same step. What
//! gets through, and keeps an energy that is conserved, is told with the failure. A few hundred steps are taken at most.

use super::{EnergyMeter, Moment, Resolution, exceeds};
use crate::error::{Cause, Trial};
use crate::method::Method;
use crate::scalar::Real;
use crate::step::{State, Stepper};
use crate::system::{Problem, Velocities};

/// The step is divided into so many parts, until one works.
const PARTS: [u32; 6] = [2, 4, 8, 16, 64, 256];
/// Methods of at most this order are tried.
const MAX_ORDER: usize = 16;
/// An energy that changes by more than this part of the energy scale is not kept, and a state that differs from that with half the step by
/// more than this part of what the step moved it is not resolved.
const KEPT: f64 = 0.1;

/// Tries what may work where a step from this state failed.
pub(crate) fn diagnose<R: Real>(
    problem: &Problem<R>,
    method: &Method,
    stepper: &Stepper<R>,
    state: &State<R>,
    cause: &Cause,
) -> Vec<Trial> {
    if !cause.is_of_steps() {
        return Vec::new();
    }
    let t = stepper.time(state.steps);
    let mut v = problem.v0.clone();
    let mut velocities = Velocities::new(&problem.system.model, &problem.parameters);
    // where there are no velocities there is nothing to go on from
    if velocities.velocities(&state.q, &state.p, &t, &mut v).is_err() {
        return Vec::new();
    }
    let here = Problem { t0: t, q0: state.q.clone(), p0: state.p.clone(), v0: v, ..problem.clone() };
    let mut tried = Vec::new();
    for parts in PARTS {
        let trial = attempt(&here, method, stepper.step_size(), parts);
        tried.push(trial);
        if tried.last().is_some_and(|trial| trial.works) {
            break;
        }
    }
    tried.extend(others(method).iter().map(|other| attempt(&here, other, stepper.step_size(), 1)));
    tried
}

/// Methods of a higher order, or of the same if there is none.
fn others(method: &Method) -> Vec<Method> {
    let order = (2 * method.order).max(4).min(MAX_ORDER.max(method.order));
    let named = |family: &str| Method::named(&format!("{family}{order}")).ok();
    ["lobatto", "gauss"]
        .iter()
        .filter_map(|family| named(family))
        .filter(|m| m.scheme != method.scheme)
        .collect()
}

/// Goes through a step in so many parts, and in twice as many: what is recommended must resolve the motion, not only get through.
fn attempt<R: Real>(here: &Problem<R>, method: &Method, step: &R, parts: u32) -> Trial {
    let size = step.clone() / R::from_f64(f64::from(parts));
    let works = || {
        let [coarse, fine] = [parts, 2 * parts].map(|parts| in_parts(here, method, step, parts));
        let (_, difference) = Resolution::new(&State::new(here), 1).between(&fine?, &coarse?)?;
        Some(difference <= KEPT)
    };
    Trial { method: method.name.clone(), step: size.to_f64(), parts, works: works().unwrap_or(false) }
}

/// The state after a step in so many parts, if they can be solved and keep the energy or its balance.
fn in_parts<R: Real>(here: &Problem<R>, method: &Method, step: &R, parts: u32) -> Option<State<R>> {
    let mut stepper = Stepper::new(here, method, step.clone() / R::from_f64(f64::from(parts)));
    let mut meter = EnergyMeter::new(here);
    let mut state = State::new(here);
    for _ in 0..parts {
        let iterations = stepper.step(&mut state).ok()?;
        let moment = Moment { t: stepper.time(state.steps), state: &state, stepper: &stepper, iterations };
        let energy = meter.measure(&moment).ok()?;
        let error = (energy - meter.initial().clone()).magnitude();
        if exceeds(error, KEPT * meter.energy_scale()) {
            return None;
        }
    }
    Some(state)
}
