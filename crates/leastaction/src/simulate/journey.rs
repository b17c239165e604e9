//! A run on its way.
//!
//! A [`Journey`] may pause after any step. What it has seen so far can be looked at, and can be written down: a journey of the same
//! plan that reads it goes on to the same bits, and to the same rows, as if there had been no pause.

use super::accuracy::final_error;
use super::numbers::{Numbers, in_precision};
use super::plan::period_text;
use super::{
    Events, Invariants, Moment, NewtonSummary, Observed, Observer, Outcome, Outputs, Plan, Recorder,
    Resolution, Solution, StepError, Summary, Watch, diagnose, proceed, simulate,
};
use crate::error::{Cause, Error, Result};
use crate::scalar::{Ledger, Real};
use crate::step::{State, Stepper};
use crate::system::Problem;
use std::ops::ControlFlow;
use std::time::Instant;

/// A run on its way, in whatever number type it is computed.
pub struct Journey<'p>(Box<dyn Going + 'p>);

impl Plan {
    /// Goes to the start of the run.
    pub fn begin(&self) -> Result<Journey<'_>> {
        in_precision!(self.precision, R => Ok(Journey(Box::new(Way::<R>::new(self)?))))
    }
}

impl Journey<'_> {
    /// Takes steps until all are taken, an event or a failure ends the run, or the watch breaks; after that it may go on.
    pub fn go(&mut self, watch: Watch<'_>) {
        self.0.go(watch);
    }

    /// How many steps have been taken.
    pub fn steps(&self) -> u64 {
        self.0.steps()
    }

    /// Whether there is nothing more to do: all steps were taken, or an event or a failure has ended the run.
    pub fn is_over(&self) -> bool {
        !matches!(self.0.outcome(), Outcome::Interrupted)
    }

    /// Whether a failure has ended it. A stepper that has failed is not where it was, so that there is nothing to save.
    pub fn has_failed(&self) -> bool {
        matches!(self.0.outcome(), Outcome::Failed(_))
    }

    /// Shows the solution up to here.
    pub fn show<T>(&mut self, look: impl FnOnce(&Solution) -> T) -> T {
        if self.is_over() {
            self.0.end();
        }
        let solution = self.0.lend();
        let seen = look(&solution);
        self.0.take_back(solution);
        seen
    }

    /// Estimates the error of the final state of a run that is over, by the same run with half the step, which takes about twice as long.
    pub fn estimate_accuracy(&mut self, watch: Watch<'_>) {
        if matches!(self.0.outcome(), Outcome::Done | Outcome::Stopped { .. } | Outcome::NotReached { .. }) {
            self.0.estimate_accuracy(watch);
        }
    }

    /// Whether the run was so short that nobody has to wait for an estimate of its accuracy.
    pub fn was_short(&self) -> bool {
        self.0.instructions() < SHORT
    }

    /// The solution up to here, which is where it ends.
    pub fn into_solution(mut self) -> Solution {
        self.0.end();
        self.0.lend()
    }

    /// Which of the words that are saved says how long it took so far.
    pub(super) const CLOCK: usize = 1;

    /// Everything that it takes to go on from here, as words.
    pub fn save(&mut self) -> Vec<u64> {
        let mut ledger = Ledger::new();
        self.0.exchange(&mut ledger);
        // what is written always fits
        ledger.close().unwrap_or_default()
    }

    /// Goes to where another journey of the same plan was when it was saved. If the words are not of such a one nothing is known of
    /// where this one is.
    pub fn restore(&mut self, words: Vec<u64>) -> Result<()> {
        let mut ledger = Ledger::of(words);
        self.0.exchange(&mut ledger);
        let message = "what was saved does not fit the run that it belongs to".to_owned();
        ledger.close().map(drop).ok_or(Error::BadCheckpoint { message })
    }
}

trait Going {
    fn go(&mut self, watch: Watch<'_>);
    fn steps(&self) -> u64;
    fn outcome(&self) -> &Outcome;
    /// Records the last state, whatever `every` is. Going on after that would leave a row that is not there without a pause.
    fn end(&mut self);
    /// The solution; what was recorded is missed until it is taken back.
    fn lend(&mut self) -> Solution;
    fn take_back(&mut self, solution: Solution);
    fn exchange(&mut self, ledger: &mut Ledger);
    fn estimate_accuracy(&mut self, watch: Watch<'_>);
    /// About how many instructions the steps took so far.
    fn instructions(&self) -> f64;
}

/// A run of so many instructions is short: some milliseconds.
const SHORT: f64 = 1e7;
/// What surrounds the evaluations of a step, in instructions; a number of many digits takes so many times as long.
const AROUND: f64 = 100.0;
const MANY_DIGITS: f64 = 100.0;

/// A run in one number type, and all who watch it.
struct Way<'p, R> {
    plan: &'p Plan,
    problem: Problem<R>,
    observed: Observed,
    stepper: Stepper<R>,
    state: State<R>,
    invariants: Invariants<R>,
    resolution: Resolution<R>,
    newton: Newton,
    recorder: Option<Recorder<R>>,
    outputs: Outputs<R>,
    events: Option<Events<R>>,
    /// Whether the observers have seen the initial state.
    begun: bool,
    outcome: Outcome,
    /// How long it took so far.
    seconds: f64,
    /// The error of the final state, where it was asked for.
    accuracy: Option<StepError>,
}

impl<'p, R: Real> Way<'p, R> {
    fn new(plan: &'p Plan) -> Result<Self> {
        let (given, system) = (plan.given(), &plan.problem.system);
        let mut numbers: Numbers<R> = Numbers::new(given, system)?;
        let step = numbers.step(given.step.as_ref())?;
        let observed = Observed::new(given, system, period_text(numbers.period.as_ref()).as_deref())?;
        let problem = numbers.problem;
        let stepper = plan.stepper(&problem, step);
        let recorder = (plan.every > 0).then(|| {
            Recorder::new(&problem, &stepper, plan.every, plan.dense, plan.rows() as usize).with_outputs(
                &problem,
                &observed.output_names,
                &observed.outputs,
            )
        });
        // a stepper of their own, only if there are any
        let events =
            (!observed.events.is_empty()).then(|| Events::new(&problem, &plan.method, &stepper, &observed));
        let state = State::new(&problem);
        Ok(Self {
            plan,
            resolution: Resolution::new(&state, plan.steps),
            state,
            invariants: Invariants::new(&problem).with_limit(plan.limit),
            newton: Newton::default(),
            recorder,
            outputs: Outputs::new(&problem, &observed.outputs),
            events,
            begun: false,
            outcome: Outcome::Interrupted,
            seconds: 0.0,
            accuracy: None,
            stepper,
            observed,
            problem,
        })
    }
}

impl<R: Real> Going for Way<'_, R> {
    fn go(&mut self, watch: Watch<'_>) {
        let mut watcher = Watcher(watch);
        // first those who may refuse a step
        let mut all: Vec<&mut dyn Observer<R>> = vec![&mut self.invariants, &mut self.resolution];
        let stopped = self.events.as_ref().is_some_and(|events| events.stopped.is_some());
        if let Some(events) = &mut self.events {
            all.push(events);
        }
        all.push(&mut self.newton);
        if let Some(recorder) = &mut self.recorder {
            all.push(recorder);
        }
        if !self.observed.outputs.is_empty() {
            all.push(&mut self.outputs);
        }
        all.push(&mut watcher);
        let start = Instant::now();
        let take = if self.begun { proceed } else { simulate };
        let steps = if stopped { 0 } else { self.plan.steps };
        let outcome = take(&self.problem, &mut self.stepper, &mut self.state, steps, &mut all);
        self.begun = true;
        self.outcome = match &self.events {
            Some(events) => events.outcome(outcome),
            None => outcome,
        };
        if matches!(self.outcome, Outcome::Interrupted) && self.invariants.is_beyond_limit() {
            self.outcome = Outcome::Exceeded;
        }
        if let Outcome::Failed(failure) = &mut self.outcome {
            let (stepper, plan) = (&self.stepper, self.plan);
            failure.cause = plan.reason_of(failure.cause.clone());
            failure.tried = diagnose(&self.problem, &plan.method, stepper, &self.state, &failure.cause);
        }
        self.seconds += start.elapsed().as_secs_f64();
    }

    fn steps(&self) -> u64 {
        self.state.steps
    }

    fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    fn end(&mut self) {
        // a state in which something failed is no result; one before a step that failed is
        let failed_here =
            matches!(&self.outcome, Outcome::Failed(failure) if failure.step <= self.state.steps);
        if let Some(recorder) = self.recorder.as_mut().filter(|_| self.begun && !failed_here) {
            recorder.end(&self.state, &self.stepper.time(self.state.steps));
        }
    }

    fn lend(&mut self) -> Solution {
        let t_end = self.stepper.time(self.state.steps).to_f64();
        let (newton, outcome) = (self.newton.summary(), self.outcome.clone());
        let events = self.events.as_ref().map(|events| &events.crossings);
        let summary =
            Summary::new(self.plan, &self.state, t_end, &mut self.invariants, newton, self.seconds, &outcome)
                .with_resolution(&self.resolution)
                .with_accuracy(self.accuracy.clone())
                .with_outputs(&self.observed.output_names, &self.outputs)
                .with_events(events);
        let events = events.map(|events| events.rounded()).unwrap_or_default();
        let recording = self.recorder.as_mut().map(|r| std::mem::take(&mut r.recording)).unwrap_or_default();
        Solution { run: self.plan.run.clone(), outcome, summary, recording, events }
    }

    fn take_back(&mut self, solution: Solution) {
        if let Some(recorder) = &mut self.recorder {
            recorder.recording = solution.recording;
        }
    }

    fn estimate_accuracy(&mut self, watch: Watch<'_>) {
        let steps = self.state.steps;
        let run = (&self.stepper, &self.state);
        let mut watch = |_| watch(steps);
        self.accuracy = final_error(&self.problem, &self.plan.method, run, &self.resolution, &mut watch);
    }

    fn instructions(&self) -> f64 {
        let model = &self.problem.system.model;
        let one = if self.plan.precision.is_some() { MANY_DIGITS } else { 1.0 };
        let evaluations = self.stepper.evaluations() as f64 * model.gradient_tape().len() as f64;
        one * (evaluations + AROUND * self.state.steps as f64)
    }

    fn exchange(&mut self, ledger: &mut Ledger) {
        ledger.flag(&mut self.begun);
        ledger.number(&mut self.seconds);
        self.state.exchange(ledger);
        let finite = self.state.q.iter().chain(&self.state.p).all(R::is_finite);
        ledger.require(finite && self.state.steps <= self.plan.steps);
        self.stepper.exchange(ledger);
        self.invariants.exchange(ledger);
        self.resolution.exchange(ledger);
        self.newton.exchange(ledger);
        ledger.require(self.newton.steps == self.state.steps);
        if let Some(recorder) = &mut self.recorder {
            recorder.exchange(ledger);
        }
        self.outputs.exchange(ledger);
        if let Some(events) = &mut self.events {
            events.exchange(ledger);
        }
    }
}

/// Shows the number of steps to whoever watches.
pub(super) fn watched(watch: Watch<'_>) -> Watcher<'_> {
    Watcher(watch)
}

/// See [`watched`].
pub(super) struct Watcher<'a>(Watch<'a>);

impl<R: Real> Observer<R> for Watcher<'_> {
    fn observe(&mut self, moment: &Moment<'_, R>) -> std::result::Result<ControlFlow<()>, Cause> {
        Ok((self.0)(moment.state.steps))
    }
}

/// Counts corrections.
#[derive(Default)]
struct Newton {
    total: u64,
    steps: u64,
    largest: u32,
}

impl Newton {
    fn exchange(&mut self, ledger: &mut Ledger) {
        ledger.whole(&mut self.total);
        ledger.whole(&mut self.steps);
        ledger.small(&mut self.largest);
        ledger.require(self.total <= self.steps.saturating_mul(u64::from(self.largest)));
    }
    fn summary(&self) -> NewtonSummary {
        let mean = if self.steps == 0 { 0.0 } else { self.total as f64 / self.steps as f64 };
        NewtonSummary { iterations_mean: mean, iterations_max: self.largest }
    }
}

impl<R: Real> Observer<R> for Newton {
    fn observe(&mut self, moment: &Moment<'_, R>) -> std::result::Result<ControlFlow<()>, Cause> {
        if moment.state.steps > 0 {
            self.total += u64::from(moment.iterations);
            self.steps += 1;
            self.largest = self.largest.max(moment.iterations);
        }
        Ok(ControlFlow::Continue(()))
    }
}
