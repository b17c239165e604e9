//! Which method and step reach a relative energy error at the least cost, as `search` finds them on the user's own run.
//!
//! The errors printed are those measured with the steps printed. What is not listed and why is in the notes.

use super::conserved::rounding;
use super::search::{Found, Search, Trial, methods};
use super::terrain::Terrain;
use super::trail::Trail;
use super::{Candidate, Options, Recommendation, Subject};
use crate::method::Method;

/// So many are listed.
const LISTED: usize = 4;
/// Nothing is listed that costs so many times as much as the best.
const INTEREST: f64 = 30.0;
/// Errors must be measured over this part of what was looked at of the run.
const LEAST_SEEN: f64 = 0.25;
/// A method of which fewer steps than can be judged fit into this work, in nanoseconds as estimated, is not tried.
const TRIAL_WORK: f64 = 3e7;
/// So many runs are made with each method, in about so many steps each; for a progress bar.
const RUNS: u64 = 6;
const RUN_STEPS: u64 = 1000;

/// About how many steps will be taken.
pub(super) fn steps(subject: &Subject<'_>) -> u64 {
    let methods = methods(&subject.plan.problem.system).len() as u64;
    methods * RUNS * subject.plan.steps.min(RUN_STEPS)
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
        cost: None,
        energy_error: trail.energy.largest,
        measured_until: subject.time(trail.steps),
    });
    let mut recommendation =
        Recommendation { energy_error: options.energy_error, own, candidates: Vec::new(), notes: Vec::new() };
    let system = &plan.problem.system;
    let mut methods = methods(system);
    if plan.method.is_variational() && !methods.iter().any(|m| m.scheme == plan.method.scheme) {
        methods.push(plan.method.clone());
    }
    let slow = |method: &Method| super::LEAST_STEPS as f64 * subject.work(method) > 2.0 * TRIAL_WORK;
    let left_out = names(methods.iter().filter(|method| slow(method)));
    if !left_out.is_empty() {
        recommendation.notes.push(format!("not tried, because a step takes too long: {left_out}"));
    }
    methods.retain(|method| !slow(method));
    let search = Search {
        problem: &plan.problem,
        watch: subject.watch,
        target: options.energy_error,
        length: plan.steps as f64 * plan.step,
        fastest: terrain.to_resolve(),
        rounding: rounding(subject, trail),
        period,
        tolerant: false,
        abreast: false,
        interest: INTEREST,
        trials: 0.into(),
    };
    let found = search.among(&methods, LISTED);
    fill(&mut recommendation, subject, trail, &found);
    if methods.is_empty() {
        recommendation.notes.retain(|note| !note.starts_with("no method"));
    }
    recommendation
}

/// Lists what was found and says what was not.
fn fill(recommendation: &mut Recommendation, subject: &Subject<'_>, trail: &Trail, found: &Found) {
    let plan = subject.plan;
    // an error over a small part of the run says little about all of it
    let seen = plan.problem.t0 + LEAST_SEEN * trail.steps as f64 * plan.step;
    let all = found.reached.iter().map(|trial| candidate(trial, plan.problem.t0));
    let (listed, short): (Vec<_>, Vec<_>) = all.partition(|c| c.measured_until >= seen);
    if !short.is_empty() {
        let names: Vec<String> = short.into_iter().map(|c| c.method).collect();
        recommendation
            .notes
            .push(format!("not listed, because their runs take too long to measure: {}", names.join(", ")));
    }
    let end = subject.time(plan.steps) - 0.5 * plan.step;
    let until = listed.iter().map(|c| c.measured_until).fold(f64::INFINITY, f64::min);
    if subject.interrupted() {
        recommendation.notes.push("interrupted: not all methods were tried".to_owned());
    } else if found.reached.is_empty() {
        let why = "it takes too many steps, or more digits than 64-bit numbers have";
        recommendation.notes.push(format!("no method reached {:e}: {why}", recommendation.energy_error));
    } else if until < end {
        recommendation
            .notes
            .push(format!("energy errors were measured up to t = {}", subject.with_unit(until)));
    }
    recommendation.candidates = listed;
}

fn candidate(trial: &Trial, t0: f64) -> Candidate {
    Candidate {
        method: trial.method.name.clone(),
        step: trial.step,
        steps: trial.whole,
        evaluations: (trial.evaluations * trial.whole as f64).round(),
        cost: Some(trial.total().round()),
        energy_error: trial.energy_error,
        measured_until: t0 + trial.steps as f64 * trial.step,
    }
}

fn names<'a>(methods: impl Iterator<Item = &'a Method>) -> String {
    methods.map(|method| method.name.as_str()).collect::<Vec<_>>().join(", ")
}
