//! One step at several states along the run: whether it is symplectic, and whether a step back undoes it.
//!
//! Steps start at the time of their state, and each coordinate and momentum is measured in its own unit.
//!
//! How much of a defect is rounding is measured, not assumed: a defect of the method is the same at a state that is moved in its
//! last digits, rounding is another one there.

use super::sizes::Sizes;
use super::terrain::Terrain;
use super::trail::Trail;
use super::{Check, DefectFound, Subject, Verdict, compared, digits, each};
use crate::analysis::structure::{Random, defects, defects_of_pairs, largest, there_and_back};
use crate::error::Cause;
use crate::method::Method;
use crate::scalar::{Dual, Field};
use crate::step::{State, Stepper, tangent, tangent_map_in_units};
use crate::system::Problem;

/// Defects up to so many units of rounding need no explanation: entries of DᵀJD are sums of a few products of few units each.
/// Of the catalogue all but the top, which shows 16, show less than two units.
const UNITS: f64 = 100.0;
/// Beyond, rounding explains so many times what a defect changes by if the state is moved in its last digits.
const TIMES: f64 = 10.0;
/// Where equations are solved, their iteration in dual numbers explains this much too: its tolerance is relative to the largest of unknowns
/// whose sizes may differ.
const SOLVED: f64 = 1e-12;
/// But no more than this: a map of fewer digits is solved too badly to be called symplectic.
const MOST: f64 = 1e-6;
/// The state is moved by so many units of rounding at most.
const MOVED: f64 = 8.0;
/// A larger step than that of the run is so many radians of the fastest motion.
const RADIANS: f64 = 0.5;
/// What rounding explains, relative to what a step makes of the rounding of its start: so many units. Both steps together leave a few; of the
/// catalogue none shows more than two.
const REVERSIBLE: f64 = 500.0 * f64::EPSILON;
/// Looked at in so many states.
const STATES: usize = 7;
/// The work of all tangent maps, in nanoseconds as estimated; if they take more, pairs of directions are looked at.
const WORK: f64 = 5e8;
/// So many pairs.
const PAIRS: usize = 8;
/// A step in dual numbers takes so many times as long as one in 64-bit numbers.
const DUAL: f64 = 5.0;

pub(super) fn symplecticity(
    subject: &Subject<'_>,
    trail: &Trail,
    sizes: &Sizes,
    terrain: &Terrain,
) -> Check<DefectFound> {
    let plan = subject.plan;
    let n = plan.problem.system.n();
    let whole = STATES as f64 * 2.0 * n as f64 * DUAL * subject.work(&plan.method) <= WORK;
    let actions: Vec<f64> = sizes.q().iter().zip(sizes.p()).map(|(q, p)| q * p).collect();
    let all = |problem: &Problem<f64>, step: f64| -> Result<Vec<f64>, Cause> {
        let (method, state, units) = (&plan.method, State::new(problem), &sizes.all);
        if whole {
            Ok(defects(&tangent_map_in_units(problem, method, step, &state, units)?, &actions))
        } else {
            defects_of_pairs(problem, method, step, &state, units, PAIRS)
        }
    };
    let defect = |state: &State<f64>, step: f64| -> Result<Seen, Cause> {
        let start = subject.from(state);
        let here = all(&start, step)?;
        let (defect, least) = (largest(&here), UNITS * f64::EPSILON);
        if defect <= least {
            return Ok(Seen { defect, allowed: least });
        }
        let there = all(&moved(start), step)?;
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
        if let Ok(seen) = defect(state, larger)
            && seen.excess() > 1.0
        {
            let (at, Seen { defect, allowed }) = (Some(subject.time(state.steps)), seen);
            let measured = DefectFound { defect: Some(defect), allowed, at, step: larger, ..found.measured };
            let [defect, allowed] = compared(defect, allowed);
            let finding = format!(
                "{defect} with a step of {} (rounding: up to {allowed}), at the step of the run less than rounding",
                digits(larger)
            );
            let advice = "the method is not symplectic; its step is so small that one step does not show it\ntry a variational method";
            return Check::new(Verdict::Fail, finding, measured).advise(advice);
        }
    }
    explain(found, how, "")
}

pub(super) fn reversibility(subject: &Subject<'_>, trail: &Trail, sizes: &Sizes) -> Check<DefectFound> {
    let plan = subject.plan;
    let found = measure(subject, trail, |state, step| {
        let problem = subject.from(state);
        let [end, back] = there_and_back(&problem, &plan.method, step, &State::new(&problem))?;
        let returning =
            Problem { t0: problem.t0 + step, q0: end.q.clone(), p0: end.p.clone(), ..problem.clone() };
        let there = carried(&problem, &plan.method, step, sizes);
        let here = carried(&returning, &plan.method, -step, sizes);
        let misses = numbers(&back).zip(numbers(state)).map(|(a, b)| (a - b).abs());
        let parts = misses.zip(there.iter().zip(&here)).map(|(miss, (there, here))| miss / there.max(*here));
        let defect = largest(&parts.collect::<Vec<f64>>());
        Ok(Seen { defect, allowed: REVERSIBLE })
    });
    let advice = if plan.method.is_variational() {
        "a step back should undo a step to rounding: the step equations have another solution there\ntry a smaller step"
    } else {
        "a step back does not undo a step\ntry a variational method"
    };
    explain(found, "", advice)
}

/// The coordinates and momenta of a state.
fn numbers(state: &State<f64>) -> impl Iterator<Item = &f64> {
    state.q.iter().chain(&state.p)
}

/// What a step makes of changes of q, of p, of both, and of the time, that are as large as these themselves: the largest changes at its end, at
/// least the sizes. Times a unit of rounding it is what the rounding of the start becomes.
pub(super) fn carried(problem: &Problem<f64>, method: &Method, step: f64, sizes: &Sizes) -> Vec<f64> {
    let n = problem.q0.len();
    let state = State::new(problem);
    let mut dual: Problem<Dual> = problem.convert();
    let mut largest = sizes.all.clone();
    let mut random = Random::new();
    for [q, p, t] in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
        // a time is rounded at both ends of the step
        dual.t0.tangent = t * problem.t0.abs().max((problem.t0 + step).abs());
        let mut stepper = Stepper::new(&dual, method, Dual::from_f64(step));
        let sign = |i: usize| random.next().signum() * if i < n { q } else { p };
        let start: Vec<f64> = (0..2 * n).map(sign).zip(&sizes.all).map(|(sign, size)| sign * size).collect();
        if let Ok(end) = tangent(&mut stepper, &state, &start) {
            largest.iter_mut().zip(end).for_each(|(largest, x)| *largest = largest.max(x.abs()));
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

/// A start with other last digits.
fn moved(mut start: Problem<f64>) -> Problem<f64> {
    let mut random = Random::new();
    for x in start.q0.iter_mut().chain(&mut start.p0) {
        *x *= 1.0 + MOVED * f64::EPSILON * random.next();
    }
    start
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
        let seen = if subject.interrupted() { None } else { defect(state, step).ok() };
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

/// Puts the numbers into words.
fn explain(check: Check<DefectFound>, how: &str, advice: &str) -> Check<DefectFound> {
    let found = &check.measured;
    let Some(defect) = found.defect else {
        return Check::new(Verdict::NotMeasured, "not measured: no step could be taken", check.measured);
    };
    let count = found.states;
    let plural = if count == 1 { "" } else { "s" };
    let [defect, allowed] = compared(defect, found.allowed);
    let finding =
        format!("{defect} at most, at {count} state{plural} of the run{how} (rounding: up to {allowed})");
    let explained = Check::new(check.verdict, finding, check.measured);
    if check.verdict == Verdict::Pass { explained } else { explained.advise(advice) }
}
