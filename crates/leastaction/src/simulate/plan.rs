//! A checked run, ready to go: numbers instead of formulas, steps counted, memory bounded.

use super::{InitialState, Invariants, Observer, Recorder, Run, Solution, Summary, simulate};
use crate::error::{Error, Result};
use crate::exact;
use crate::method::Method;
use crate::step::{State, Stepper};
use crate::system::{Parameter, Problem, Quantity, System};
use std::time::Instant;

/// How many numbers are recorded at most if nothing else is said: 160 MB of them.
const MODERATE: f64 = 2e7;
/// How many numbers are recorded at most: 16 GB of them.
const LARGEST: f64 = 2e9;

/// So many points are recorded within a step at most.
const MAX_DENSE: u64 = 1000;

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
}

impl Plan {
    pub(super) fn new(run: &Run, system: &System) -> Result<Self> {
        let method = Method::named(run.method.as_ref().unwrap_or(&system.defaults.method))?;
        let settings = run.settings()?;
        let problem: Problem<f64> = system.problem(&settings)?;
        let period = exact::period(&problem);

        let mut formulas = system.formulas(&settings.parameters)?;
        if let Some(period) = period {
            formulas.add("period", period);
        }
        let default_step = formulas.value("the default step", &system.defaults.step);
        let step: f64 = match &run.step {
            Some(quantity) => formulas.value("the step", quantity)?,
            None => default_step.clone()?,
        };
        if step <= 0.0 {
            let try_step = default_step.map_or("a positive one".to_owned(), |x: f64| x.to_string());
            return Err(Error::BadStep { step, try_step });
        }
        let until: f64 = formulas.value("until", run.until.as_ref().unwrap_or(&system.defaults.until))?;
        let mut notes = Vec::new();
        let steps = count_steps(until - problem.t0, step, until, &mut notes)?;
        let (every, dense) = recording(run, &method, steps, system.n(), &mut notes)?;

        let mut plan = Self { problem, method, step, steps, every, dense, period, run: run.clone(), notes };
        plan.run = plan.resolved();
        Ok(plan)
    }

    /// The run with every default filled in by a number that reads back to the same bits.
    fn resolved(&self) -> Run {
        let numbers = |values: &[f64]| Some(values.iter().map(|x| Quantity::Number(*x)).collect());
        let system = &self.problem.system;
        let sizes = system.sizes.iter().map(|s| (s.name.clone(), Quantity::Number(s.value as f64)));
        let value = |(p, x): (&Parameter, &f64)| (p.name.clone(), Quantity::Number(*x));
        let parameters = system.parameters.iter().zip(&self.problem.parameters).map(value);
        Run {
            system: system.name.clone(),
            method: Some(self.method.name.clone()),
            step: Some(self.step.into()),
            until: Some((self.problem.t0 + self.steps as f64 * self.step).into()),
            every: Some(self.every),
            dense: Some(self.dense),
            // a file that named itself would be overwritten when its run is repeated
            out: Vec::new(),
            plot: Vec::new(),
            initial: InitialState {
                t: Some(self.problem.t0.into()),
                q: numbers(&self.problem.q0),
                v: None,
                p: numbers(&self.problem.p0),
            },
            parameters: sizes.chain(parameters).collect(),
        }
    }

    /// How many rows the recording will have.
    pub fn rows(&self) -> u64 {
        self.steps.checked_div(self.every).map_or(0, |kept| 1 + kept * self.dense)
    }

    /// Runs, and shows every step to the observers.
    pub fn simulate(&self, observers: &mut [&mut dyn Observer<f64>]) -> Solution {
        let mut stepper = Stepper::new(&self.problem, &self.method, self.step);
        let mut state = State::new(&self.problem);
        let mut invariants = Invariants::new(&self.problem);
        let mut recorder = (self.every > 0).then(|| {
            let rows = self.rows() as usize;
            Recorder::new(&self.problem, &stepper, self.every, self.dense, rows)
        });
        let mut newton = Newton::default();
        let mut all: Vec<&mut dyn Observer<f64>> = vec![&mut invariants, &mut newton];
        if let Some(recorder) = &mut recorder {
            all.push(recorder);
        }
        for observer in observers {
            all.push(&mut **observer);
        }
        let start = Instant::now();
        let outcome = simulate(&self.problem, &mut stepper, &mut state, self.steps, &mut all);
        let wall_seconds = start.elapsed().as_secs_f64();
        let t_end = stepper.time(state.steps);
        let summary =
            Summary::new(self, &state, t_end, &invariants, newton.summary(), wall_seconds, &outcome);
        Solution {
            run: self.run.clone(),
            outcome,
            summary,
            recording: recorder.map(|r| r.recording).unwrap_or_default(),
        }
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
    fn summary(&self) -> super::NewtonSummary {
        let mean = if self.steps == 0 { 0.0 } else { self.total as f64 / self.steps as f64 };
        super::NewtonSummary { iterations_mean: mean, iterations_max: self.largest }
    }
}

impl Observer<f64> for Newton {
    fn observe(
        &mut self,
        moment: &super::Moment<'_, f64>,
    ) -> std::result::Result<std::ops::ControlFlow<()>, crate::error::Cause> {
        if moment.state.steps > 0 {
            self.total += u64::from(moment.iterations);
            self.steps += 1;
            self.largest = self.largest.max(moment.iterations);
        }
        Ok(std::ops::ControlFlow::Continue(()))
    }
}

/// The whole number of steps; a remainder is left out, and said.
fn count_steps(length: f64, step: f64, until: f64, notes: &mut Vec<String>) -> Result<u64> {
    let ratio = length / step;
    if ratio > 9e15 {
        return Err(Error::TooManySteps { steps: ratio });
    }
    let nearest = ratio.round();
    // formulas such as 5*period over period/200 leave a rounding error
    let whole = (ratio - nearest).abs() <= (1e-9 * nearest.max(1.0)).min(1e-3);
    let steps = if whole { nearest } else { ratio.floor() };
    if steps < 1.0 {
        return Err(Error::BadUntil { until, step });
    }
    if !whole {
        notes.push(format!(
            "until = {until} is not a whole number of steps of {step}: the run ends at t = {} after {steps} steps",
            until - length + steps * step
        ));
    }
    Ok(steps as u64)
}

/// How often to record.
fn recording(
    run: &Run,
    method: &Method,
    steps: u64,
    n: usize,
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
    let numbers = steps as f64 * dense as f64 * (3 * n + 2) as f64;
    let least = |limit: f64| ((numbers / limit).ceil() as u64).max(1);
    match run.every {
        None => {
            let every = least(MODERATE).min(steps);
            if every > 1 {
                notes.push(format!(
                    "every {every}th step is recorded, to spare memory; --every 1 records all"
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
