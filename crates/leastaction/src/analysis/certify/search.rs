//! The search for the method and the step that reach an error at the least cost.
//!
//! Every method starts with its largest step that resolves the motion and goes down by its order until the error is reached, then
//! back between what was enough and what was not, and at last down again while that is cheaper: larger steps take more sweeps.
//! All methods look at the same first part of the run, and those that are far more expensive than one of high order are left early. The
//! cheapest look at as much of the run as can be afforded. Steps fill the time, and no simple number of them fills a period.
//! Cost is counted ([`Cost`]), so that the search is the same on every machine.

use super::conserved::Progress;
use super::cost::{Cost, MANY, NARROW_LANES};
use super::spectrum::{aside, simple};
use super::terrain::LEAST_POINTS;
use super::{LEAST_STEPS, each};
use crate::analysis::Watch;
use crate::error::Cause;
use crate::method::{Galerkin, Method, Scheme};
use crate::scalar::elementary;
use crate::simulate::{EnergyMeter, Moment, Observer, Outcome, Resolution, simulate};
use crate::step::{State, Stepper, Voyage};
use crate::system::{Problem, System};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Methods up to this order are tried; beyond it those only that fill registers with their points.
const SMALL_ORDER: usize = 12;
/// Methods above this order leave nothing to be gained with 64-bit numbers.
const HIGHEST_ORDER: usize = 24;
/// The method that others are compared with first: of this order, or the next.
const REFERENCE_ORDER: usize = 16;
/// The work of one trial, as [`Cost`] counts.
const TRIAL_WORK: f64 = 8e5;
/// The work of a trial that looks at as much of the run as can be afforded.
const LONG_WORK: f64 = 4e7;
/// So many trials a method, and so many long ones.
const TRIALS: u32 = 12;
const LONG_TRIALS: u32 = 4;
/// A step this much smaller than one that is too large is as large as it needs to be.
const CLOSE: f64 = 1.04;
/// What is aimed at, as a part of the error wanted.
const AIM: f64 = 0.7;
/// A smaller step must be cheaper by this factor; costs are counted, not timed.
const CHEAPER: f64 = 0.95;
/// Smaller steps are tried by this factor.
const SMALLER: f64 = 0.85;
/// So many steps of a trial are compared with their halves.
const SAMPLES: u64 = 16;
/// Runs of more steps are not recommended.
const MOST_STEPS: f64 = 1e9;
/// A part of a run may miss its hardest moments; see [`margin`].
const LEAST_MARGIN: f64 = 0.1;

/// The methods that are worth a trial on a system, from the registry: those that keep its structure and fit it, implicit ones up to an
/// order and beyond it where the points of a step fill registers. One more point costs as much as several then. Where there are many coordinates and explicit
/// methods fit, no implicit one is as fast.
pub(super) fn methods(system: &System) -> Vec<Method> {
    let worth = |method: &Method| match method.scheme {
        Scheme::Galerkin(Galerkin { points, .. }) => {
            method.order <= SMALL_ORDER
                || points.is_multiple_of(NARROW_LANES) && method.order <= HIGHEST_ORDER
        }
        _ => true,
    };
    let fits = |method: &Method| method.is_variational() && method.fits(system).is_ok() && worth(method);
    let mut methods: Vec<Method> = Method::all().into_iter().filter(fits).collect();
    let is_explicit = |method: &Method| matches!(method.scheme, Scheme::Splitting(_));
    if system.n() >= MANY && methods.iter().any(is_explicit) {
        methods.retain(is_explicit);
    }
    methods
}

/// The methods that are worth a trial for an ensemble, if some of them let members go side by side: of these only those with few points, because a fixed number
/// of sweeps is too small for the large steps of others (`gauss16` on double pendula).
pub(super) fn methods_abreast(problem: &Problem<f64>) -> Option<Vec<Method>> {
    let mut methods = methods(&problem.system);
    let served: Vec<bool> = methods.iter().map(|method| Voyage::serves(problem, method)).collect();
    let mut is_served = served.iter();
    methods.retain(|method| is_served.next() == Some(&false) || method.order <= SMALL_ORDER);
    served.contains(&true).then_some(methods)
}

/// The part of an error that may be used up when only a part of the run was looked at. An energy error that is bounded has been seen;
/// rounding grows with the root of the time, and so, at most, did the largest error of chaotic motions as they met rarer moments.
/// What is not derived from the action drifts.
fn margin(method: &Method, seen: f64) -> f64 {
    match method.is_variational() {
        _ if seen >= 1.0 => 1.0,
        true => seen.sqrt().clamp(LEAST_MARGIN, 0.5),
        false => seen,
    }
}

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) method: Method,
    pub(super) step: f64,
    /// Steps to the end of the run, and how many of them were taken.
    pub(super) whole: u64,
    pub(super) steps: u64,
    /// The error measured, and the part of it that is the energy's.
    pub(super) error: f64,
    pub(super) energy_error: f64,
    pub(super) energy_scale: f64,
    /// A step on average.
    cost: f64,
    pub(super) evaluations: f64,
    /// Whether a larger step would do but costs more.
    lowered: bool,
}

impl Trial {
    /// Whether a step is cheaper than another of the same method; a smaller one by more than the counts are good for.
    fn is_better_than(&self, other: &Self) -> bool {
        let fair = if self.step < other.step { CHEAPER } else { 1.0 / CHEAPER };
        self.rate() < fair * other.rate()
    }

    /// What a unit of time costs.
    fn rate(&self) -> f64 {
        self.cost / self.step
    }
    /// The whole run.
    pub(super) fn total(&self) -> f64 {
        self.cost * self.whole as f64
    }
}

/// What is looked for, and in which motion.
pub(super) struct Search<'a> {
    pub(super) problem: &'a Problem<f64>,
    pub(super) watch: Watch<'a>,
    /// The error wanted.
    pub(super) target: f64,
    /// How long the run is.
    pub(super) length: f64,
    /// The largest rate that steps must follow.
    pub(super) fastest: f64,
    /// What rounding does to the energy in a step.
    pub(super) rounding: f64,
    pub(super) period: Option<f64>,
    /// Whether the run will solve its steps only as exactly as the error needs.
    pub(super) tolerant: bool,
    /// Whether steps cost what they cost members of an ensemble side by side.
    pub(super) abreast: bool,
    /// Methods so many times as expensive as the best are of no interest.
    pub(super) interest: f64,
    /// Runs made.
    pub(super) trials: AtomicUsize,
}

/// What a search found.
#[derive(Default)]
pub(super) struct Found {
    /// What reaches the error over as much of the run as was looked at, the cheapest first.
    pub(super) reached: Vec<Trial>,
    /// The cheapest that reaches the error over the first part of the run.
    first: Option<Trial>,
    /// The least error of all trials, whether it was enough or not.
    least: Option<Trial>,
}

impl Found {
    /// What is to be run: what reaches the error, or else comes nearest to that.
    pub(super) fn best(&self) -> Option<&Trial> {
        self.reached.first().or(self.first.as_ref()).or(self.least.as_ref())
    }
}

/// What was found with one method.
#[derive(Default)]
struct Course {
    best: Option<Trial>,
    least: Option<Trial>,
    /// The time that was looked at.
    window: f64,
}

impl Course {
    /// Notes a trial; whether it was good enough.
    fn note(&mut self, trial: &Trial, allowed: f64) -> bool {
        self.window = self.window.max(trial.steps as f64 * trial.step);
        if self.least.as_ref().is_none_or(|least| trial.error < least.error) {
            self.least = Some(trial.clone());
        }
        let good = trial.error <= allowed;
        if good && self.best.as_ref().is_none_or(|best| trial.is_better_than(best)) {
            self.best = Some(trial.clone());
        }
        good
    }
}

impl Search<'_> {
    /// Tries methods and returns at most so many of those that reach the error, the cheapest first.
    pub(super) fn among(&self, methods: &[Method], most: usize) -> Found {
        // one sets the part of the run that all look at, and the cost above which others are of no interest
        let reference = methods.iter().rev().find(|m| m.order <= REFERENCE_ORDER && !m.is_explicit());
        let Some(reference) = reference.or(methods.last()) else { return Found::default() };
        let first = self.search(reference, None, f64::INFINITY);
        let limit = first.best.as_ref().map_or(f64::INFINITY, |best| self.interest * best.rate());
        let window = first.window;
        let others: Vec<&Method> = methods.iter().filter(|m| m.name != reference.name).collect();
        let mut courses = each(&others, |method| self.search(method, Some(window), limit));
        courses.push(first);
        let mut found = Found::default();
        let mut tried = Vec::new();
        for course in courses {
            found.note(course.least);
            tried.extend(course.best);
        }
        let by_rate = |a: &Trial, b: &Trial| a.rate().total_cmp(&b.rate());
        tried.sort_by(by_rate);
        let limit = tried.first().map_or(0.0, |best| self.interest * best.rate());
        tried.retain(|trial| trial.rate() <= limit);
        tried.truncate(most);
        found.first = tried.first().cloned();
        for course in each(&tried, |trial| self.long(trial)) {
            found.note(course.least);
            found.reached.extend(course.best);
        }
        found.reached.sort_by(|a, b| a.total().total_cmp(&b.total()));
        found
    }

    /// The cheapest step with which a method reaches the error over a part of the run.
    fn search(&self, method: &Method, window: Option<f64>, limit: f64) -> Course {
        let mut course = Course::default();
        let mut bracket = Bracket { good: None, bad: f64::INFINITY, top: self.top(method) };
        let mut look = self.look(method, window);
        // too large a step takes many corrections, so not the largest first
        let mut next = Some(0.7 * bracket.top);
        // the more steps could not be solved, the smaller the next
        let (mut before, mut unsolved) = (f64::INFINITY, 1.0);
        for _ in 0..TRIALS {
            let Some((step, whole)) = next.map(|step| self.rounded(step)) else { break };
            if self.interrupted() || whole as f64 > MOST_STEPS || bracket.knows(step) {
                break;
            }
            let Some(trial) = self.run(method, step, whole, &mut look) else {
                unsolved *= 0.5;
                next = bracket.after(step, false, unsolved);
                continue;
            };
            let good = course.note(&trial, self.target);
            next = bracket.after(step, good, self.wanted(&trial, self.target));
            if good {
                continue;
            }
            // rounding does not fall with the step, and a method of low order takes too many
            let stuck = trial.error > 0.5 * before && trial.error <= self.rounding(trial.steps);
            let expensive = next.is_some_and(|next| 0.5 * trial.cost / next > limit);
            if stuck || bracket.good.is_none() && expensive {
                break;
            }
            before = trial.error;
        }
        self.lower(method, bracket.good, &mut look, &mut course);
        course
    }

    /// Tries smaller steps than the largest that is good enough, while they are cheaper.
    fn lower(&self, method: &Method, largest: Option<f64>, look: &mut Look, course: &mut Course) {
        while let Some(step) = course.best.as_ref().map(|best| best.step) {
            let (smaller, whole) = self.rounded(SMALLER * step);
            let Some(trial) = self.run(method, smaller, whole, look) else { break };
            course.note(&trial, self.target);
            if self.interrupted() || course.best.as_ref().is_none_or(|best| best.step == step) {
                break;
            }
        }
        if let (Some(best), Some(largest)) = (&mut course.best, largest) {
            best.lowered = best.step < largest;
        }
    }

    /// The same method over as much of the run as can be afforded, with its step adapted to that.
    fn long(&self, trial: &Trial) -> Course {
        let mut course = Course::default();
        let top = if trial.lowered { trial.step } else { self.top(&trial.method) };
        let mut bracket = Bracket { good: None, bad: f64::INFINITY, top };
        let mut look = Look { work: LONG_WORK, ..self.look(&trial.method, None) };
        let (mut next, mut unsolved) = (Some(trial.step), 1.6);
        for _ in 0..LONG_TRIALS {
            let Some((step, whole)) = next.map(|step| self.rounded(step)) else { break };
            if self.interrupted() || bracket.knows(step) {
                break;
            }
            let Some(trial) = self.run(&trial.method, step, whole, &mut look) else {
                unsolved *= 0.5;
                next = bracket.after(step, false, unsolved);
                continue;
            };
            let allowed = self.target * margin(&trial.method, trial.steps as f64 / trial.whole as f64);
            let good = course.note(&trial, allowed);
            next = bracket.after(step, good, self.wanted(&trial, allowed));
        }
        course
    }

    /// The factor by which a step should change, by the order of the method.
    fn wanted(&self, trial: &Trial, allowed: f64) -> f64 {
        let error = trial.error.max(f64::MIN_POSITIVE);
        elementary::pow(AIM * allowed / error, 1.0 / trial.method.order as f64)
    }

    /// One run, as far as it is to be looked at.
    fn run(&self, method: &Method, step: f64, whole: u64, look: &mut Look) -> Option<Trial> {
        self.trials.fetch_add(1, Ordering::Relaxed);
        let affordable = ((look.work / look.cost.usual()) as u64).max(LEAST_STEPS);
        let steps = match look.window {
            None => affordable,
            // all look at the same time, unless that is out of proportion
            Some(window) => ((window / step).ceil() as u64).min(10 * affordable),
        };
        let steps = steps.min(whole);
        let mut stepper = self.sized(&look.base, step);
        if self.tolerant {
            stepper.tolerate(self.target, whole);
        }
        let mut state = State::new(self.problem);
        let before = stepper.evaluations();
        let mut gauge = Gauge {
            cost: look.price.clone(),
            spent: 0.0,
            evaluations: before,
            meter: EnergyMeter::new(self.problem),
            largest: 0.0,
            resolution: Resolution::with_samples(&state, steps, SAMPLES),
        };
        let observers: &mut [&mut dyn Observer<f64>] = &mut [&mut gauge, &mut Progress(self.watch)];
        let outcome = simulate(self.problem, &mut stepper, &mut state, steps, observers);
        let (energy_error, error) = (gauge.energy_error(), gauge.error());
        if !matches!(outcome, Outcome::Done) || !error.is_finite() {
            return None;
        }
        Some(Trial {
            method: method.clone(),
            step,
            whole,
            steps,
            error,
            energy_error,
            energy_scale: gauge.meter.energy_scale(),
            cost: gauge.spent / steps as f64,
            evaluations: (stepper.evaluations() - before) as f64 / steps as f64,
            lowered: false,
        })
    }

    /// A stepper as the run will have it, of no step in particular. It takes as long to make as a thousand steps.
    fn base(&self, method: &Method) -> Stepper<f64> {
        Stepper::new(self.problem, method, self.length / MOST_STEPS)
    }

    /// How the runs of a method are looked at.
    fn look(&self, method: &Method, window: Option<f64>) -> Look {
        let cost = Cost::new(self.problem, method);
        let abreast = if self.abreast { Cost::abreast(self.problem, method) } else { None };
        Look {
            base: self.base(method),
            price: abreast.unwrap_or_else(|| cost.clone()),
            cost,
            window,
            work: TRIAL_WORK,
        }
    }

    /// The same for a step, as if just made.
    fn sized(&self, base: &Stepper<f64>, step: f64) -> Stepper<f64> {
        let mut stepper = base.clone();
        stepper.resize(&step);
        stepper.restart(None, &self.problem.v0);
        stepper
    }

    /// Rounding of the energy over so many steps.
    fn rounding(&self, steps: u64) -> f64 {
        self.rounding * (steps as f64).sqrt()
    }

    /// The largest step that resolves the motion.
    fn top(&self, method: &Method) -> f64 {
        let points = match method.scheme {
            Scheme::Galerkin(Galerkin { degree, .. }) => degree as f64,
            // as many as there are forces in a step
            _ => self.forces(method).max(1.0),
        };
        let resolved = std::f64::consts::TAU * points / (LEAST_POINTS * self.fastest);
        resolved.min(self.length / 16.0)
    }

    /// Evaluations in a step of an explicit method.
    fn forces(&self, method: &Method) -> f64 {
        let mut stepper = self.base(method);
        let mut state = State::new(self.problem);
        let taken = (0..4).filter(|_| stepper.step(&mut state).is_ok()).count();
        stepper.evaluations() as f64 / taken.max(1) as f64
    }

    /// The step made smaller until a whole number of them fills the time and no simple number of them a period.
    pub(super) fn rounded(&self, step: f64) -> (f64, u64) {
        let whole = |steps: f64| (steps * (1.0 - 1e-12)).ceil().max(1.0);
        let mut steps = whole(self.length / step);
        for _ in 0..50 {
            let Some(period) = self.period else { break };
            let Some(fraction) = simple(period, self.length / steps) else { break };
            // a time of few periods cannot be divided into any number of steps a period
            steps = whole(aside(fraction) * self.length / period).max(steps + 1.0);
        }
        (self.length / steps, steps as u64)
    }

    fn interrupted(&self) -> bool {
        (self.watch)(0).is_break()
    }
}

impl Found {
    /// Notes the least error of a method.
    fn note(&mut self, least: Option<Trial>) {
        if let Some(trial) = least
            && self.least.as_ref().is_none_or(|own| trial.error < own.error)
        {
            self.least = Some(trial);
        }
    }
}

/// How a run is looked at.
struct Look {
    /// A stepper of the method.
    base: Stepper<f64>,
    /// What steps cost here, and what they will cost.
    cost: Cost,
    price: Cost,
    /// For how long, if others have to be compared.
    window: Option<f64>,
    /// With how much work at most.
    work: f64,
}

/// The largest step that was good enough and the smallest that was not.
struct Bracket {
    good: Option<f64>,
    bad: f64,
    top: f64,
}

impl Bracket {
    /// Whether a step has been tried.
    fn knows(&self, step: f64) -> bool {
        self.good == Some(step) || self.bad == step
    }

    /// What to try after a step that was good enough or not, and should be changed by a factor; nothing if it is as large as it can be.
    fn after(&mut self, step: f64, good: bool, wanted: f64) -> Option<f64> {
        let next = if good {
            self.good = Some(self.good.map_or(step, |good| good.max(step)));
            (step * wanted.clamp(1.0, 4.0)).min(self.top)
        } else {
            self.bad = self.bad.min(step);
            step * wanted.clamp(0.1, 0.95)
        };
        let Some(least) = self.good else { return Some(next) };
        if good && next < CLOSE * step || self.bad < CLOSE * CLOSE * least {
            return None;
        }
        let between = (CLOSE * least..self.bad / CLOSE).contains(&next);
        Some(if between || self.bad.is_infinite() { next } else { (least * self.bad).sqrt() })
    }
}

/// Measures the error of a run and counts its cost.
struct Gauge {
    cost: Cost,
    spent: f64,
    evaluations: u64,
    meter: EnergyMeter<f64>,
    largest: f64,
    resolution: Resolution<f64>,
}

impl Gauge {
    /// The error of the energy, or of its balance.
    fn energy_error(&self) -> f64 {
        self.largest / self.meter.energy_scale()
    }

    /// The larger of the error of the energy and what a step gets wrong.
    fn error(&self) -> f64 {
        let (energy, step) = (self.energy_error(), self.resolution.error());
        if step <= energy { energy } else { step }
    }
}

impl Observer<f64> for Gauge {
    fn observe(&mut self, moment: &Moment<'_, f64>) -> Result<ControlFlow<()>, Cause> {
        if moment.state.steps > 0 {
            let evaluations = moment.stepper.evaluations();
            self.spent += self.cost.of(evaluations - self.evaluations, moment.stepper.matrices());
            self.evaluations = evaluations;
            let error = (self.meter.measure(moment)? - self.meter.initial()).abs();
            // not `max`, which would hide a NaN
            self.largest = if error <= self.largest { self.largest } else { error };
        }
        self.resolution.observe(moment)
    }
}
