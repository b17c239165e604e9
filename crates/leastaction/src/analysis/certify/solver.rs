//! How the step equations are solved, and up to which step they can be.

use super::trail::Trail;
use super::{Check, SolverFound, Subject, Verdict, digits, each};
use crate::scalar::elementary;
use crate::simulate::Outcome;
use crate::step::{State, Stepper};

/// Tried from at most so many states, within this work in nanoseconds; a step that cannot be solved takes fifty corrections.
const STATES: f64 = 40.0;
const WORK: f64 = 5e8;
const TRIES: f64 = 150.0;
/// Steps up to 2 to this power times the given one are tried.
const DOUBLINGS: i32 = 12;
/// The limit is found to this part.
const NARROW: f64 = 1.05;
/// A run at the limit takes at most so many steps, and is tried with steps smaller by this factor until it lasts.
const MOST_STEPS: u64 = 2000;
const SMALLER: f64 = 1.15;
/// A limit nearer than this is worth a word.
const NEAR: f64 = 1.5;

pub(super) fn solver(subject: &Subject<'_>, trail: &Trail) -> Check<SolverFound> {
    let (method, step) = (&subject.plan.method, subject.plan.step);
    let mut found = SolverFound::default();
    if method.is_explicit() {
        return Check::new(Verdict::NotApplicable, "explicit: there are no equations to solve", found);
    }
    if subject.interrupted() {
        return Check::new(Verdict::NotMeasured, "not measured: interrupted", found);
    }
    let (sum, count) = trail.contraction;
    if trail.steps > 0 {
        found.iterations_mean = Some(trail.corrections as f64 / trail.steps as f64);
        found.iterations_max = Some(trail.most_corrections);
        found.contraction = (count > 0).then(|| elementary::exp(sum / count as f64));
    }
    let states = trail.some((WORK / (TRIES * subject.work(method))).clamp(2.0, STATES) as usize);
    let limits = each(&states, |state| limit(subject, state));
    let smallest = limits.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, true));
    let smallest = lasting(subject, smallest);
    found.largest_step = Some(smallest.0 * step);
    found.limited = smallest.1;
    let mut finding = match (found.iterations_mean, found.contraction) {
        (Some(mean), rate) => format!(
            "{mean:.1} corrections a step, {} at most{}",
            trail.most_corrections,
            rate.map_or(String::new(), |rate| format!(", each {rate:.0e} of the one before"))
        ),
        _ => "no step was solved".to_owned(),
    };
    finding += &match smallest {
        (factor, true) => {
            format!("; solvable up to a step of {} ({} times)", digits(factor * step), digits(factor))
        }
        (factor, false) => format!("; solvable at every step tried, to {}", digits(factor * step)),
    };
    match &trail.outcome {
        Outcome::Failed(failure) if failure.cause.is_of_solver() => {
            let advice = format!("step {} could not be solved\ntry a smaller step", failure.step);
            Check::new(Verdict::Fail, finding, found).advise(advice)
        }
        _ if smallest.1 && smallest.0 < NEAR => {
            let advice =
                "the step is close to where the equations can no longer be solved; try a smaller one";
            Check::new(Verdict::Warn, finding, found).advise(advice)
        }
        _ => Check::new(Verdict::Pass, finding, found),
    }
}

/// The limit made smaller until not only single steps are solved but a run of them, over the time of the run.
fn lasting(subject: &Subject<'_>, (mut factor, mut limited): (f64, bool)) -> (f64, bool) {
    let (plan, length) = (subject.plan, subject.plan.steps as f64 * subject.plan.step);
    let lasts = |factor: f64| {
        let step = factor * plan.step;
        let steps = (length / step).clamp(1.0, subject.affordable(&plan.method, WORK).min(MOST_STEPS) as f64);
        let mut stepper = Stepper::new(&plan.problem, &plan.method, step);
        let mut state = State::new(&plan.problem);
        (0..steps as u64).all(|_| (subject.watch)(0).is_continue() && stepper.step(&mut state).is_ok())
    };
    while factor > 1.0 && !lasts(factor) {
        (factor, limited) = ((factor / SMALLER).max(1.0), true);
    }
    (factor, limited)
}

/// The largest factor by which the step can be multiplied, and whether larger ones fail.
fn limit(subject: &Subject<'_>, state: &State<f64>) -> (f64, bool) {
    let problem = subject.from(state);
    let solvable = |factor: f64| {
        let mut stepper = Stepper::new(&problem, &subject.plan.method, factor * subject.plan.step);
        stepper.step(&mut State::new(&problem)).is_ok()
    };
    let power = |k: i32| 2f64.powi(k);
    let good = |k: &i32| (subject.watch)(1).is_continue() && solvable(power(*k));
    let (mut low, mut high) = if good(&0) {
        match (1..=DOUBLINGS).find(|k| !good(k)) {
            None => return (power(DOUBLINGS), false),
            Some(k) => (power(k - 1), power(k)),
        }
    } else {
        match (1..=DOUBLINGS).find(|k| good(&-k)) {
            None => return (0.0, true),
            Some(k) => (power(-k), power(1 - k)),
        }
    };
    while high / low > NARROW {
        let middle = (low * high).sqrt();
        if solvable(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low, true)
}
