//! One step at several states along the run: whether it is symplectic, and whether a step back undoes it.

use super::terrain::Terrain;
use super::trail::Trail;
use super::{Check, DefectFound, Subject, Verdict, digits, each};
use crate::analysis::structure::{
    Random, reversibility_defect, symplecticity_defect, symplecticity_defect_of_pairs, tangent_map,
};
use crate::error::Cause;
use crate::scalar::{Dual, Field};
use crate::step::{State, Stepper, tangent};

/// What rounding explains, relative to the products that must cancel: the iteration in dual numbers may end at 2e-11 for 100
/// unknowns of very different sizes (the outer planets), while `rk4` shows far more with steps of half a radian.
const SYMPLECTIC: f64 = 1e-9;
/// A larger step than that of the run is so many radians of the fastest motion.
const RADIANS: f64 = 0.5;
/// What rounding explains, relative to the state.
const REVERSIBLE: f64 = 1e-13;
/// Looked at in so many states.
const STATES: usize = 7;
/// The work of all tangent maps, in nanoseconds as estimated; if they take more, pairs of directions are looked at.
const WORK: f64 = 5e8;
/// So many pairs.
const PAIRS: usize = 8;
/// A step in dual numbers takes so many times as long as one in 64-bit numbers.
const DUAL: f64 = 5.0;

pub(super) fn symplecticity(subject: &Subject<'_>, trail: &Trail, terrain: &Terrain) -> Check<DefectFound> {
    let plan = subject.plan;
    let n = plan.problem.system.n();
    let whole = STATES as f64 * 2.0 * n as f64 * DUAL * subject.work(&plan.method) <= WORK;
    let defect = |state: &State<f64>, step: f64| -> Result<f64, Cause> {
        if whole {
            Ok(symplecticity_defect(&tangent_map(&plan.problem, &plan.method, step, state)?))
        } else {
            symplecticity_defect_of_pairs(&plan.problem, &plan.method, step, state, PAIRS)
        }
    };
    let how = if whole { "" } else { " for pairs of directions" };
    let found = measure(subject, trail, SYMPLECTIC, defect);
    if found.verdict != Verdict::Pass {
        let advice = if plan.method.is_variational() {
            "a variational method is symplectic to rounding: the step equations are solved badly there, or the \
             Lagrangian is not smooth\ntry a smaller step"
        } else {
            "the method is not symplectic: energy and phase space will drift in a long run\ntry a variational method"
        };
        return explain(found, how, advice);
    }
    // a small step may hide in rounding what one shows that just resolves the motion
    let fastest = terrain.fastest().map_or(0.0, |(_, rate)| rate);
    let larger = if fastest > 0.0 { RADIANS / fastest } else { 0.0 };
    for state in trail.some(3).into_iter().filter(|_| larger > plan.step) {
        if let Ok(seen) = defect(&fresh(state), larger)
            && seen > SYMPLECTIC
        {
            let at = Some(subject.time(state.steps));
            let measured = DefectFound { defect: Some(seen), at, step: larger, ..found.measured };
            let finding = format!(
                "{seen:.1e} with a step of {}, at the step of the run less than rounding",
                digits(larger)
            );
            let advice = "the method is not symplectic; its step is so small that one step does not show it\ntry a variational method";
            return Check::new(Verdict::Fail, finding, measured).advise(advice);
        }
    }
    explain(found, how, "")
}

pub(super) fn reversibility(subject: &Subject<'_>, trail: &Trail) -> Check<DefectFound> {
    let plan = subject.plan;
    let found = measure(subject, trail, REVERSIBLE, |state, step| {
        let defect = reversibility_defect(&plan.problem, &plan.method, step, state)?;
        Ok(defect / amplification(subject, trail, state))
    });
    let advice = if plan.method.is_variational() {
        "a step back should undo a step to rounding: the step equations have another solution there\ntry a smaller step"
    } else {
        "a step back does not undo a step\ntry a variational method"
    };
    explain(found, "", advice)
}

/// How much a step enlarges the rounding of its start, at least 1, sizes of q and of p being the units.
fn amplification(subject: &Subject<'_>, trail: &Trail, state: &State<f64>) -> f64 {
    let plan = subject.plan;
    let n = state.q.len();
    let size = |x: &[f64]| x.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    // over the whole run: where it is at rest the momenta are no unit
    let [q, p] = trail.sizes.map(|size| if size > 0.0 { size } else { 1.0 });
    let mut stepper = Stepper::new(&plan.problem.convert(), &plan.method, Dual::from_f64(plan.step));
    let mut largest = 1.0f64;
    let mut random = Random::new();
    for direction in 0..3 {
        let units = ([q, q, 0.0][direction], [p, 0.0, p][direction]);
        let unit = |i: usize| if i < n { units.0 } else { units.1 };
        let start: Vec<f64> = (0..2 * n).map(|i| unit(i) * random.next().signum()).collect();
        if let Ok(end) = tangent(&mut stepper, state, &start) {
            largest = largest.max(size(&end[..n]) / q).max(size(&end[n..]) / p);
        }
    }
    largest
}

/// The largest defect over some states of the run; a state from which no step can be taken is left out.
fn measure(
    subject: &Subject<'_>,
    trail: &Trail,
    allowed: f64,
    defect: impl Fn(&State<f64>, f64) -> Result<f64, Cause> + Sync,
) -> Check<DefectFound> {
    let step = subject.plan.step;
    let mut found = DefectFound { allowed, step, ..DefectFound::default() };
    let states = trail.some(STATES);
    let seen = each(&states, |state| {
        let seen = if subject.interrupted() { None } else { defect(&fresh(state), step).ok() };
        seen.map(|x| (subject.time(state.steps), x))
    });
    for (at, seen) in seen.into_iter().flatten() {
        found.states += 1;
        if found.defect.is_none_or(|worst| seen > worst || seen.is_nan()) {
            (found.defect, found.at) = (Some(seen), Some(at));
        }
    }
    let verdict = match found.defect {
        None => Verdict::NotMeasured,
        Some(worst) if worst <= allowed => Verdict::Pass,
        Some(_) => Verdict::Fail,
    };
    Check::new(verdict, "", found)
}

/// A state without what the compensated sums have lost, which is no part of the map.
fn fresh(state: &State<f64>) -> State<f64> {
    State { steps: state.steps, ..State::at(state.q.clone(), state.p.clone()) }
}

/// Puts the numbers into words.
fn explain(check: Check<DefectFound>, how: &str, advice: &str) -> Check<DefectFound> {
    let found = &check.measured;
    let Some(defect) = found.defect else {
        return Check::new(Verdict::NotMeasured, "not measured: no step could be taken", check.measured);
    };
    let count = found.states;
    let plural = if count == 1 { "" } else { "s" };
    let finding = format!(
        "{defect:.1e} at most, at {count} state{plural} of the run{how} (rounding: below {:.0e})",
        found.allowed
    );
    let explained = Check::new(check.verdict, finding, check.measured);
    if check.verdict == Verdict::Pass { explained } else { explained.advise(advice) }
}
