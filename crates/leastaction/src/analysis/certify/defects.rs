//! One step at several states along the run: whether it is symplectic, and whether a step back undoes it.
//!
//! How much of a defect is rounding is measured, not assumed: a defect of the method is the same at a state that is moved in its
//! last digits, rounding is another one there.

use super::terrain::Terrain;
use super::trail::Trail;
use super::{Check, DefectFound, Subject, Verdict, digits, each};
use crate::analysis::structure::{
    Random, defects, defects_of_pairs, largest, reversibility_defect, tangent_map,
};
use crate::error::Cause;
use crate::scalar::{Dual, Field};
use crate::step::{State, Stepper, tangent};

/// Defects up to so many units of rounding need no explanation: entries of DᵀJD are sums of a few products of few units each.
/// Of the catalogue all but two show less than two units: the top 500 and the outer planets, whose masses differ, 4e5.
const UNITS: f64 = 100.0;
/// Beyond, rounding explains so many times what a defect changes by if the state is moved in its last digits.
const TIMES: f64 = 10.0;
/// Where equations are solved, their iteration in dual numbers explains this much too. A constant, because its tolerance is relative to
/// the largest of unknowns whose sizes differ: for the outer planets it ends at 9e-11, and at the same place beside them.
const SOLVED: f64 = 1e-9;
/// But no more than this: a map of fewer digits is solved too badly to be called symplectic.
const MOST: f64 = 1e-6;
/// The state is moved by so many units of rounding at most.
const MOVED: f64 = 8.0;
/// A larger step than that of the run is so many radians of the fastest motion.
const RADIANS: f64 = 0.5;
/// What rounding explains, relative to the state and to how much a step enlarges the rounding of its start: so many units. Both steps
/// together leave a few; of the catalogue none shows more than two.
const REVERSIBLE: f64 = 500.0 * f64::EPSILON;
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
    let all = |state: &State<f64>, step: f64| -> Result<Vec<f64>, Cause> {
        if whole {
            Ok(defects(&tangent_map(&plan.problem, &plan.method, step, state)?))
        } else {
            defects_of_pairs(&plan.problem, &plan.method, step, state, PAIRS)
        }
    };
    let defect = |state: &State<f64>, step: f64| -> Result<Seen, Cause> {
        let here = all(state, step)?;
        let (defect, least) = (largest(&here), UNITS * f64::EPSILON);
        if defect <= least {
            return Ok(Seen { defect, allowed: least });
        }
        let there = all(&moved(state), step)?;
        let changes: Vec<f64> = here.iter().zip(&there).map(|(a, b)| a - b).collect();
        let least = if plan.method.is_variational() { SOLVED } else { least };
        Ok(Seen { defect, allowed: (TIMES * largest(&changes)).clamp(least, MOST) })
    };
    let how = if whole { "" } else { " for pairs of directions" };
    let found = measure(subject, trail, defect);
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
    let fastest = terrain.to_resolve();
    let larger = if fastest > 0.0 { RADIANS / fastest } else { 0.0 };
    for state in trail.some(3).into_iter().filter(|_| larger > plan.step) {
        if let Ok(seen) = defect(&fresh(state), larger)
            && seen.excess() > 1.0
        {
            let (at, Seen { defect, allowed }) = (Some(subject.time(state.steps)), seen);
            let measured = DefectFound { defect: Some(defect), allowed, at, step: larger, ..found.measured };
            let finding = format!(
                "{defect:.1e} with a step of {}, at the step of the run less than rounding",
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
    let found = measure(subject, trail, |state, step| {
        let defect = reversibility_defect(&plan.problem, &plan.method, step, state)?;
        Ok(Seen { defect: defect / amplification(subject, trail, state), allowed: REVERSIBLE })
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
    let carried = carried(subject, trail, state, subject.plan.step);
    (0..2).fold(1.0, |m, part| m.max(carried[part] / unit(trail.sizes[part])))
}

/// Sizes over the whole run: where it is at rest the momenta are no unit.
fn unit(size: f64) -> f64 {
    if size > 0.0 { size } else { 1.0 }
}

/// What a step makes of changes of q, of p, and of both that are as large as q and p themselves: the largest changes of q and of p
/// at its end. Times a unit of rounding it is what the rounding of the start becomes.
pub(super) fn carried(subject: &Subject<'_>, trail: &Trail, state: &State<f64>, step: f64) -> [f64; 2] {
    let plan = subject.plan;
    let n = state.q.len();
    let size = |x: &[f64]| x.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    let [q, p] = trail.sizes.map(unit);
    let mut stepper = Stepper::new(&plan.problem.convert(), &plan.method, Dual::from_f64(step));
    let mut largest = [0.0f64; 2];
    let mut random = Random::new();
    for direction in 0..3 {
        let units = ([q, q, 0.0][direction], [p, 0.0, p][direction]);
        let unit = |i: usize| if i < n { units.0 } else { units.1 };
        let start: Vec<f64> = (0..2 * n).map(|i| unit(i) * random.next().signum()).collect();
        if let Ok(end) = tangent(&mut stepper, state, &start) {
            largest = [largest[0].max(size(&end[..n])), largest[1].max(size(&end[n..]))];
        }
    }
    largest
}

/// A defect, and what rounding explains of it.
#[derive(Clone, Copy)]
struct Seen {
    defect: f64,
    allowed: f64,
}

impl Seen {
    /// Beyond 1 it is no rounding; a number also where the defect is none.
    fn excess(self) -> f64 {
        if self.defect.is_nan() { f64::INFINITY } else { self.defect / self.allowed }
    }
}

/// A state with other last digits.
fn moved(state: &State<f64>) -> State<f64> {
    let mut random = Random::new();
    let mut list =
        |x: &[f64]| x.iter().map(|x| x * (1.0 + MOVED * f64::EPSILON * random.next())).collect::<Vec<f64>>();
    let (q, p) = (list(&state.q), list(&state.p));
    State { steps: state.steps, ..State::at(q, p) }
}

/// The defect over some states of the run that rounding explains least; a state from which no step can be taken is left out.
fn measure(
    subject: &Subject<'_>,
    trail: &Trail,
    defect: impl Fn(&State<f64>, f64) -> Result<Seen, Cause> + Sync,
) -> Check<DefectFound> {
    let step = subject.plan.step;
    let mut found = DefectFound { step, ..DefectFound::default() };
    let states = trail.some(STATES);
    let seen = each(&states, |state| {
        let seen = if subject.interrupted() { None } else { defect(&fresh(state), step).ok() };
        seen.map(|x| (subject.time(state.steps), x))
    });
    let mut worst: Option<Seen> = None;
    for (at, seen) in seen.into_iter().flatten() {
        found.states += 1;
        if worst.is_none_or(|worst| seen.excess() > worst.excess()) {
            (worst, found.at) = (Some(seen), Some(at));
            (found.defect, found.allowed) = (Some(seen.defect), seen.allowed);
        }
    }
    let verdict = match worst {
        None => Verdict::NotMeasured,
        Some(worst) if worst.excess() <= 1.0 => Verdict::Pass,
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
        "{defect:.1e} at most, at {count} state{plural} of the run{how} (rounding: below {:.1e})",
        found.allowed
    );
    let explained = Check::new(check.verdict, finding, check.measured);
    if check.verdict == Verdict::Pass { explained } else { explained.advise(advice) }
}
