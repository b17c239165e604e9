//! Whether the Lagrangian that runs is the one that was typed, where coordinates or time were taken out of it.

use super::trail::Trail;
use super::{Check, LagrangianFound, Subject, Verdict, digits};
use crate::analysis::typed::difference;
use crate::system::Velocities;

/// L is looked at in so many states of the run.
const STATES: usize = 50;

pub(super) fn lagrangian(subject: &Subject<'_>, trail: &Trail) -> Option<Check<LagrangianFound>> {
    let problem = &subject.plan.problem;
    let mut velocities = Velocities::new(&problem.system.model, &problem.parameters);
    let mut states = vec![(problem.q0.clone(), problem.v0.clone(), problem.t0)];
    for state in trail.some(STATES) {
        let (mut v, t) = (problem.v0.clone(), subject.time(state.steps));
        if velocities.velocities(&state.q, &state.p, &t, &mut v).is_ok() {
            states.push((state.q.clone(), v, t));
        }
    }
    let found = difference(problem, states.iter().map(|(q, v, t)| (q.as_slice(), v.as_slice(), *t)))?;
    let words = format!("differs from L as it was typed by at most {:.1e} of its terms", found.largest);
    let measured = LagrangianFound { difference: found.largest, at: found.t };
    Some(if found.is_rounding() {
        Check::new(Verdict::Pass, words, measured)
    } else {
        let finding = format!("{words}, at t = {}", digits(found.t));
        Check::new(Verdict::Fail, finding, measured).advise(
            "a coordinate or time was taken out of L although L depends on it, or its terms lose their digits\n\
             write L in another form, and report this",
        )
    })
}
