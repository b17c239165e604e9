//! A checked run, ready to go: numbers instead of formulas, steps counted, memory bounded.
//!
//! A plan keeps the run's numbers in `f64` and makes those of the precision asked for when it runs.

use super::numbers::{self, Numbers};
use super::{InitialState, Observed, Run, Solution};
use crate::error::{Error, Result};
use crate::expr::Backend;
use crate::method::Method;
use crate::scalar::Real;
use crate::step::Stepper;
use crate::system::{Parameter, Problem, Quantity, Start, System};
use std::ops::ControlFlow;

/// How many numbers are recorded at most if nothing else is said: 160 MB of them.
const MODERATE: f64 = 2e7;
/// How many numbers are recorded at most: 16 GB of them.
const LARGEST: f64 = 2e9;

/// So many points are recorded within a step at most.
pub(super) const MAX_DENSE: u64 = 1000;

/// Is shown the number of steps taken after each; `Break` ends the run.
pub type Watch<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// A checked run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The system with its numbers.
    pub problem: Problem<f64>,
    /// The method.
    pub method: Method,
    /// The step size.
    pub step: f64,
    /// How many steps.
    pub steps: u64,
    /// The relative error of the energy that is wanted, if that was said.
    pub tolerance: Option<f64>,
    /// A larger error of the energy ends the run, because it will begin again with a smaller step.
    pub limit: Option<f64>,
    /// Decimal digits to compute with; `None` is `f64`.
    pub precision: Option<usize>,
    /// Every so many steps are recorded; 0 records nothing.
    pub every: u64,
    /// So many points are recorded for each step recorded.
    pub dense: u64,
    /// The period of the motion, where one is known.
    pub period: Option<f64>,
    /// The run with every default filled in, as it is stored in outputs.
    pub run: Run,
    /// What the user should know before it starts.
    pub notes: Vec<String>,
    /// The run as it was given, with its formulas.
    given: Run,
}

impl Plan {
    pub(super) fn new(run: &Run, system: &System) -> Result<Self> {
        if let (Some(Backend::Native), Some(digits)) = (run.backend, run.precision) {
            let reason = format!("it computes with 64-bit numbers, and precision = {digits} asks for more");
            return Err(Error::NoMachineCode { reason });
        }
        let method = Method::for_system(run.method.as_ref().unwrap_or(&system.defaults.method), system)?;
        let mut numbers: Numbers<f64> = Numbers::new(run, system)?;
        let tolerance = numbers.tolerance(run)?;
        if let (Some(tolerance), None) = (tolerance, &run.step) {
            let message = format!(
                "there is a tolerance of {tolerance:e} but no step\n  `analysis::pick` finds one for it, or give a step as well"
            );
            return Err(Error::BadRun { message });
        }
        let step = numbers.step(run.step.as_ref())?;
        let until = numbers.until(run.until.as_ref())?;
        let mut notes = Vec::new();
        let end = run.until.as_ref().unwrap_or(&system.defaults.until);
        let steps = count_steps(until - numbers.problem.t0, step, until, &mut notes)
            .map_err(|error| end.locate(error))?;
        let width = 3 * system.n() + 2 + run.outputs.len();
        let (every, dense) = recording(run, &method, steps, width, &mut notes)?;
        Observed::new(run, system, period_text(numbers.period.as_ref()).as_deref())?
            .check_start(&numbers.problem)?;
        if !system.definite
            && let Some(direction) = numbers.problem.indefinite()
        {
            notes.push(format!("the mass matrix is not positive definite at the initial state: {direction}"));
        }
        let mut plan = Self {
            problem: numbers.problem,
            method,
            step,
            steps,
            tolerance,
            limit: None,
            precision: run.precision,
            every,
            dense,
            period: numbers.period,
            run: run.clone(),
            notes,
            given: run.clone(),
        };
        plan.run = plan.resolved();
        Ok(plan)
    }

    /// The run with every default filled in: by numbers that read back to the same bits, or, if there are more digits than
    /// an `f64` has, by the formulas that give them.
    fn resolved(&self) -> Run {
        let system = &self.problem.system;
        let exact = self.precision.is_some();
        let choose = |formula: &Quantity, x: f64| if exact { formula.clone() } else { Quantity::Number(x) };
        // one formula may stand for many values
        let list = |formulas: &[Quantity], values: &[f64]| {
            let numbers = || values.iter().map(|x| Quantity::Number(*x)).collect();
            Some(if exact { formulas.to_vec() } else { numbers() })
        };
        let given = &self.given;
        let sizes = system.sizes.iter().map(|s| (s.name.clone(), Quantity::Number(s.value as f64)));
        let value = |(p, x): (&Parameter, &f64)| {
            (p.name.clone(), choose(given.parameters.get(&p.name).unwrap_or(&p.value), *x))
        };
        let parameters = system.parameters.iter().zip(&self.problem.parameters).map(value);
        let (default_v, default_p) = match &system.initial.start {
            Start::Velocities(list) => (Some(list), None),
            Start::Momenta(list) => (None, Some(list)),
        };
        let (v, p) = match (&given.initial.v, &given.initial.p) {
            (None, None) => (default_v, default_p),
            (v, p) => (v.as_ref(), p.as_ref()),
        };
        let start = match (v, p) {
            (Some(v), _) => (list(v, &self.problem.v0), None),
            (None, Some(p)) => (None, list(p, &self.problem.p0)),
            _ => (None, Some(self.problem.p0.iter().map(|x| Quantity::Number(*x)).collect())),
        };
        let end = self.problem.t0 + self.steps as f64 * self.step;
        Run {
            system: system.name.clone(),
            definition: given.definition.clone(),
            method: Some(self.method.name.clone()),
            step: Some(choose(given.step.as_ref().unwrap_or(&system.defaults.step), self.step)),
            tolerance: given.tolerance.as_ref().zip(self.tolerance).map(|(formula, x)| choose(formula, x)),
            until: Some(choose(given.until.as_ref().unwrap_or(&system.defaults.until), end)),
            precision: self.precision,
            // the numbers do not depend on it, and another machine may have no machine code
            backend: given.backend,
            every: Some(self.every),
            dense: Some(self.dense),
            accuracy: given.accuracy,
            // a file that named itself would be overwritten when its run is repeated
            out: Vec::new(),
            out_events: Vec::new(),
            plot: Vec::new(),
            checkpoint: None,
            checkpoint_every: None,
            initial: InitialState {
                t: Some(choose(given.initial.t.as_ref().unwrap_or(&system.initial.t), self.problem.t0)),
                q: list(given.initial.q.as_ref().unwrap_or(&system.initial.q), &self.problem.q0),
                v: start.0,
                p: start.1,
            },
            parameters: sizes.chain(parameters).collect(),
            outputs: given.outputs.clone(),
            events: given.events.clone(),
            ensemble: None,
        }
    }

    /// The run with every default filled in, and with its files: as it is stored in a checkpoint.
    pub(super) fn with_files(&self) -> Run {
        let Run { out, out_events, plot, checkpoint, checkpoint_every, .. } = self.given.clone();
        Run { out, out_events, plot, checkpoint, checkpoint_every, ..self.run.clone() }
    }

    /// How many rows the recording will have: the start, the steps that are kept, and the end.
    pub fn rows(&self) -> u64 {
        let kept = self.steps.checked_div(self.every);
        kept.map_or(0, |kept| 1 + kept * self.dense + u64::from(kept * self.every < self.steps))
    }

    /// A stepper for this run, or for one like it: other numbers, or another step. It solves as exactly as the tolerance asks for.
    pub fn stepper<R: Real>(&self, problem: &Problem<R>, step: R) -> Stepper<R> {
        let mut stepper = Stepper::new(problem, &self.method, step);
        if let Some(tolerance) = self.tolerance {
            stepper.tolerate(tolerance, self.steps);
        }
        stepper
    }

    /// Runs.
    pub fn simulate(&self) -> Result<Solution> {
        self.simulate_watched(&mut |_| ControlFlow::Continue(()))
    }

    /// Runs while somebody watches. A run that fails on its way is a solution too, up to there.
    pub fn simulate_watched(&self, watch: Watch<'_>) -> Result<Solution> {
        let mut journey = self.begin()?;
        journey.go(watch);
        if self.given.accuracy == Some(true) {
            journey.estimate_accuracy(watch);
        }
        Ok(journey.into_solution())
    }

    /// The formulas of outputs and events.
    pub(crate) fn observed(&self) -> Result<Observed> {
        Observed::new(&self.given, &self.problem.system, period_text(self.period.as_ref()).as_deref())
    }

    /// The run as it was given, with its formulas.
    pub(super) fn given(&self) -> &Run {
        &self.given
    }
}

/// A period with all its digits.
pub(super) fn period_text<R: Real>(period: Option<&R>) -> Option<String> {
    period.map(|period| period.to_text(None))
}

/// The whole number of steps; a remainder is left out, and said.
fn count_steps(length: f64, step: f64, until: f64, notes: &mut Vec<String>) -> Result<u64> {
    let (steps, whole) = numbers::count_steps(length, step, until)?;
    if !whole {
        notes.push(format!(
            "until = {until} is not a whole number of steps of {step}: the run ends at t = {} after {steps} steps",
            until - length + steps as f64 * step
        ));
    }
    Ok(steps)
}

/// How often to record.
fn recording(
    run: &Run,
    method: &Method,
    steps: u64,
    width: usize,
    notes: &mut Vec<String>,
) -> Result<(u64, u64)> {
    let dense = run.dense.unwrap_or(1);
    if dense == 0 {
        return Err(Error::ZeroCount { what: "dense".to_owned() });
    }
    if dense > MAX_DENSE {
        let message = format!("dense = {dense} points a step are too many; at most {MAX_DENSE}");
        return Err(Error::BadRun { message });
    }
    if dense > 1 && method.degree().is_none() {
        return Err(Error::NotDense { method: method.name.clone() });
    }
    let numbers = steps as f64 * dense as f64 * width as f64;
    let least = |limit: f64| ((numbers / limit).ceil() as u64).max(1);
    match run.every {
        None => {
            let every = least(MODERATE).min(steps);
            if every > 1 {
                notes.push(format!(
                    "every {every}th step is recorded, to spare memory; every = 1 records all"
                ));
            }
            Ok((every, dense))
        }
        Some(0) => Ok((0, dense)),
        Some(every) if !fits(numbers / every as f64) => Err(Error::TooMuchToRecord {
            every,
            gigabytes: numbers / every as f64 * 8e-9,
            try_every: least(MODERATE).max(every + 1),
        }),
        Some(every) => Ok((every, dense)),
    }
}

/// Whether so many numbers can be had in memory now.
fn fits(numbers: f64) -> bool {
    numbers <= LARGEST && Vec::<f64>::new().try_reserve_exact(numbers as usize).is_ok()
}
