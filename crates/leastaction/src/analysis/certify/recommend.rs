//! Which method and step reach a relative energy error at the least cost.
//!
//! A handful of methods are tried on the user's own run, each with steps that are changed by its order until the error is just
//! reached. Cost is the number of evaluations of the derivatives of L, which is the same on every machine. The cheapest are
//! run again, as far as the certificate looked at the run itself, with a step that divides the time and does not fit a small
//! whole number of times into the period; their errors are printed as measured there.

use super::conserved::{Progress, rounding};
use super::spectrum::{aside, simple};
use super::terrain::{LEAST_POINTS, Terrain};
use super::trail::Trail;
use super::{Candidate, LEAST_STEPS, Options, Recommendation, Subject, digits, each};
use crate::method::Method;
use crate::scalar::elementary;
use crate::simulate::{Invariants, Outcome, simulate};
use crate::step::{State, Stepper};

/// What is tried, and the method of the run.
const METHODS: [&str; 7] = ["verlet", "midpoint", "simpson", "lobatto", "lobatto8", "gauss8", "gauss12"];
/// The work of one trial, in nanoseconds as estimated.
const TRIAL_WORK: f64 = 3e7;
/// The work of a run that confirms a trial.
const CONFIRM_WORK: f64 = 3e8;
/// So many trials a method.
const TRIALS: u32 = 8;
/// The search ends when the error is between this part of the one asked for and all of it.
const CLOSE_ENOUGH: f64 = 0.3;
/// Errors asked for that are at least so many times rounding are told from it.
const ABOVE_ROUNDING: f64 = 30.0;
/// So many are run again and listed.
const LISTED: usize = 4;
/// Errors must be measured over this part of what was looked at of the run.
const LEAST_SEEN: f64 = 0.25;
/// Runs of more steps are not recommended.
const MOST_STEPS: f64 = 1e9;

/// About how many steps will be taken.
pub(super) fn steps(subject: &Subject<'_>) -> u64 {
    let methods = METHODS.iter().filter_map(|name| Method::named(name).ok());
    methods.map(|method| 3 * subject.affordable(&method, TRIAL_WORK).min(subject.plan.steps)).sum()
}

pub(super) fn recommend(
    subject: &Subject<'_>,
    trail: &Trail,
    terrain: &Terrain,
    options: &Options,
    period: Option<f64>,
) -> Recommendation {
    let plan = subject.plan;
    let own = (trail.steps > 0 && trail.energy.largest.is_finite()).then(|| Candidate {
        method: plan.method.name.clone(),
        step: plan.step,
        steps: plan.steps,
        evaluations: (trail.evaluations as f64 / trail.steps as f64 * plan.steps as f64).round(),
        energy_error: trail.energy.largest,
        measured_until: subject.time(trail.steps),
    });
    let mut found =
        Recommendation { energy_error: options.energy_error, own, candidates: Vec::new(), notes: Vec::new() };
    let system = &plan.problem.system;
    if !system.structure().autonomous {
        found.own = None;
        found.notes.push("none: the energy is not conserved, so its error says nothing".to_owned());
        return found;
    }
    let mut methods: Vec<Method> = METHODS.iter().filter_map(|name| Method::named(name).ok()).collect();
    if plan.method.is_variational() && !methods.iter().any(|m| m.scheme == plan.method.scheme) {
        methods.push(plan.method.clone());
    }
    let slow = |method: &Method| LEAST_STEPS as f64 * subject.work(method) > 2.0 * TRIAL_WORK;
    let left_out = names(methods.iter().filter(|method| slow(method)));
    if !left_out.is_empty() {
        found.notes.push(format!("not tried, because a step takes too long: {left_out}"));
    }
    methods.retain(|method| !slow(method));
    let search = Search {
        subject,
        target: options.energy_error,
        length: plan.steps as f64 * plan.step,
        fastest: terrain.to_resolve(),
        rounding: rounding(subject, trail),
        period,
    };
    let tried = each(&methods, |method| Some((method.clone(), search.search(method)?)));
    let (exact, mut tried): (Vec<_>, Vec<_>) =
        tried.into_iter().flatten().partition(|(method, t)| search.is_exact(method, t));
    for (method, trial) in &exact {
        found.notes.push(format!(
            "not listed: {}, whose energy error was rounding with every step tried, up to {}",
            method.name,
            digits(trial.step)
        ));
    }
    tried.sort_by(|a, b| search.cost(&a.1).total_cmp(&search.cost(&b.1)));
    tried.truncate(LISTED);
    let confirmed = each(&tried, |(method, trial)| search.confirm(method, trial));
    found.candidates = confirmed.into_iter().flatten().collect();
    // an error over a small part of the run says little about all of it
    let seen = plan.problem.t0 + LEAST_SEEN * trail.steps as f64 * plan.step;
    let short: Vec<String> =
        found.candidates.iter().filter(|c| c.measured_until < seen).map(|c| c.method.clone()).collect();
    if !short.is_empty() {
        found
            .notes
            .push(format!("not listed, because their runs take too long to measure: {}", short.join(", ")));
    }
    found.candidates.retain(|c| c.measured_until >= seen);
    found.candidates.sort_by(|a, b| a.evaluations.total_cmp(&b.evaluations));
    let end = subject.time(plan.steps) - 0.5 * plan.step;
    let until = found.candidates.iter().map(|c| c.measured_until).fold(f64::INFINITY, f64::min);
    if subject.interrupted() {
        found.notes.push("interrupted: not all methods were tried".to_owned());
    } else if found.candidates.is_empty() && exact.is_empty() && short.is_empty() && !methods.is_empty() {
        let why = "it takes too many steps, or more digits than 64-bit numbers have";
        found.notes.push(format!("no method reached {:e}: {why}", options.energy_error));
    } else if until < end {
        found.notes.push(format!("energy errors were measured up to t = {}", subject.with_unit(until)));
    }
    found
}

fn names<'a>(methods: impl Iterator<Item = &'a Method>) -> String {
    methods.map(|method| method.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// One run.
#[derive(Clone, Copy)]
struct Trial {
    step: f64,
    error: f64,
    /// Evaluations a step.
    evaluations: f64,
    steps: u64,
    /// Whether every step tried with the method left the energy to rounding.
    always: bool,
}

struct Search<'a> {
    subject: &'a Subject<'a>,
    target: f64,
    length: f64,
    fastest: f64,
    /// What rounding does to the energy in a step.
    rounding: f64,
    period: Option<f64>,
}

impl Search<'_> {
    /// Evaluations for the whole time.
    fn cost(&self, trial: &Trial) -> f64 {
        trial.evaluations * self.length / trial.step
    }

    /// Runs so long, but not longer than some work.
    fn run(&self, method: &Method, step: f64, work: f64) -> Option<Trial> {
        let problem = &self.subject.plan.problem;
        let steps = ((self.length / step).round() as u64).max(1).min(self.subject.affordable(method, work));
        let mut stepper = Stepper::new(problem, method, step);
        let mut state = State::new(problem);
        let mut invariants = Invariants::new(problem);
        let mut progress = Progress(self.subject.watch);
        let observers: &mut [&mut dyn crate::simulate::Observer<f64>] = &mut [&mut invariants, &mut progress];
        let outcome = simulate(problem, &mut stepper, &mut state, steps, observers);
        let error = invariants.max_relative_error();
        (matches!(outcome, Outcome::Done) && error.is_finite()).then(|| Trial {
            step,
            error,
            evaluations: stepper.evaluations() as f64 / steps as f64,
            steps,
            always: false,
        })
    }

    /// Rounding of the energy over so many steps.
    fn rounding(&self, steps: u64) -> f64 {
        self.rounding * (steps as f64).sqrt()
    }

    /// Whether the energy is kept to rounding with all steps up to the largest, over the whole time, though less was asked for.
    fn is_exact(&self, method: &Method, trial: &Trial) -> bool {
        let told = self.target > ABOVE_ROUNDING * self.rounding(trial.steps);
        let whole = trial.steps as f64 * trial.step > self.length - trial.step;
        told && whole && trial.always && trial.step >= self.top(method)
    }

    /// The largest step that resolves the motion.
    fn top(&self, method: &Method) -> f64 {
        let degree = method.degree().unwrap_or(1) as f64;
        let resolved = std::f64::consts::TAU * degree / (LEAST_POINTS * self.fastest);
        resolved.min(self.length / 16.0)
    }

    /// The largest step found with which a method reaches the error.
    fn search(&self, method: &Method) -> Option<Trial> {
        let top = self.top(method);
        let mut step = self.subject.plan.step.min(top);
        let (mut best, mut bad): (Option<Trial>, Option<f64>) = (None, None);
        let mut always = true;
        for _ in 0..TRIALS {
            if self.subject.interrupted() || self.length / step > MOST_STEPS {
                break;
            }
            let trial = self.run(method, step, TRIAL_WORK);
            let rounding = trial.is_some_and(|trial| trial.error <= self.rounding(trial.steps));
            always &= rounding;
            let factor = match trial {
                None => 0.25,
                Some(_) if rounding => 4.0,
                Some(trial) => {
                    let wanted = 0.6 * self.target / trial.error;
                    elementary::pow(wanted, 1.0 / method.order as f64).clamp(0.05, 8.0)
                }
            };
            match trial.filter(|trial| trial.error <= self.target) {
                Some(trial) => {
                    if best.is_none_or(|best| trial.step > best.step) {
                        best = Some(trial);
                    }
                    if trial.error >= CLOSE_ENOUGH * self.target || step >= top {
                        break;
                    }
                }
                None => bad = Some(bad.map_or(step, |bad| bad.min(step))),
            }
            let mut next = (step * factor).min(top);
            // between what was enough and what was not
            if let (Some(good), Some(bad)) = (best, bad)
                && !(good.step * 1.02..bad * 0.98).contains(&next)
            {
                if bad / good.step < 1.1 {
                    break;
                }
                next = (good.step * bad).sqrt();
            }
            step = next;
        }
        best.map(|best| Trial { always, ..best })
    }

    /// The step made smaller until a whole number of them fills the time and no simple number of them a period.
    fn rounded(&self, step: f64) -> (f64, u64) {
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

    /// Runs a step that divides the time, as far as the run itself was looked at, and makes it smaller where that is needed.
    fn confirm(&self, method: &Method, trial: &Trial) -> Option<Candidate> {
        let mut wanted = trial.step;
        for _ in 0..5 {
            let (step, steps) = self.rounded(wanted);
            let found = self.run(method, step, CONFIRM_WORK)?;
            if found.error <= self.target {
                return Some(Candidate {
                    method: method.name.clone(),
                    step,
                    steps,
                    evaluations: (found.evaluations * steps as f64).round(),
                    energy_error: found.error,
                    measured_until: self.subject.plan.problem.t0 + found.steps as f64 * step,
                });
            }
            let factor = elementary::pow(0.8 * self.target / found.error, 1.0 / method.order as f64);
            wanted = step * factor.clamp(0.3, 0.95);
        }
        None
    }
}
