//! Running studies: every pair of a method and a step size is a task of its own, on all cores, the longest first. One run serves
//! all measures and all end times.

use super::measure::{Measure, Ruler, Shared};
use super::reference::{Plan as ReferencePlan, Tracks};
use super::study::{Finding, Findings, Study};
use super::truth::{Needs, Reference, Truth};
use crate::error::{Cause, Error, Result};
use crate::method::Method;
use crate::scalar::Real;
use crate::simulate::numbers::{Numbers, count_steps, in_precision};
use crate::simulate::stability::growing_oscillations;
use crate::simulate::{EnergyMeter, Moment, Observer, Outcome, simulate};
use crate::step::{State, Stepper};
use crate::system::{Problem, System};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Is told of every so many steps taken, from any thread; `Break` ends the studies.
pub type Watch<'a> = &'a (dyn Fn(u64) -> ControlFlow<()> + Sync);

/// Steps between reports to whoever watches.
const REPORT: u64 = 64;

/// Checked studies.
pub struct Studies {
    jobs: Vec<Box<dyn Job>>,
}

impl Studies {
    /// Checks studies, of catalogue systems or of their own definitions, and counts their steps.
    pub fn new(studies: &[Study]) -> Result<Self> {
        let job = |study: &Study| {
            let (system, run) = study.run.resolve()?;
            job(&Study { run, ..study.clone() }, &system)
        };
        Ok(Self { jobs: studies.iter().map(job).collect::<Result<_>>()? })
    }

    /// Checks studies of a system given as such and counts their steps.
    pub fn of_system(studies: &[Study], system: &System) -> Result<Self> {
        Ok(Self { jobs: studies.iter().map(|study| job(study, system)).collect::<Result<_>>()? })
    }

    /// How many steps there are to take.
    pub fn steps(&self) -> u64 {
        let all = self.jobs.iter().flat_map(|job| (0..job.tasks()).map(|task| job.steps(task)));
        all.sum::<u64>() + self.jobs.iter().map(|job| job.reference_steps()).sum::<u64>()
    }

    /// What the user should be warned of before the studies start: steps that are unstable, references that are too weak.
    pub fn warnings(&self) -> Vec<String> {
        self.jobs.iter().flat_map(|job| job.warnings()).collect()
    }

    /// Takes the steps, on all cores.
    pub fn run(&self, watch: Watch<'_>) -> Vec<Findings> {
        let mut tasks: Vec<(usize, usize)> = Vec::new();
        for (j, job) in self.jobs.iter().enumerate() {
            tasks.extend((0..job.tasks()).map(|task| (j, task)));
        }
        // the longest first, so that no core waits for the last one
        tasks.sort_by(|a, b| self.jobs[b.0].cost(b.1).total_cmp(&self.jobs[a.0].cost(a.1)));
        let findings = Mutex::new(self.jobs.iter().map(|job| job.blank()).collect::<Vec<_>>());
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(&(j, task)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                if watch(0).is_break() {
                    break;
                }
                let column = self.jobs[j].run(task, watch);
                if let Ok(mut findings) = findings.lock() {
                    findings[j].fill(task, column);
                }
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from).min(tasks.len());
        std::thread::scope(|scope| {
            for _ in 1..cores {
                scope.spawn(work);
            }
            work();
        });
        findings.into_inner().unwrap_or_default()
    }
}

fn job(study: &Study, system: &System) -> Result<Box<dyn Job>> {
    in_precision!(study.run.precision, R => Ok(Box::new(Prepared::<R>::new(study, system)?)))
}

/// A study whatever its number type. Task k is the method k / steps with the step k % steps.
trait Job: Send + Sync {
    fn tasks(&self) -> usize;
    /// Steps a task takes.
    fn steps(&self, task: usize) -> u64;
    fn reference_steps(&self) -> u64;
    /// How long a task takes, roughly.
    fn cost(&self, task: usize) -> f64;
    fn warnings(&self) -> Vec<String>;
    /// Findings with everything missing.
    fn blank(&self) -> Findings;
    /// By measure and end time.
    fn run(&self, task: usize, watch: Watch<'_>) -> Vec<Vec<Finding>>;
}

struct Prepared<R> {
    problem: Problem<R>,
    methods: Vec<Method>,
    steps: Vec<R>,
    until: Vec<R>,
    /// Steps to each end time, by step size.
    ends: Vec<Vec<u64>>,
    measures: Vec<Measure>,
    precision: Option<usize>,
    needs: Needs,
    /// `None` for the closed form, or if nothing has to be known.
    tracks: Option<Tracks<R>>,
}

impl<R: Real + Send + Sync + 'static> Prepared<R> {
    fn new(study: &Study, system: &System) -> Result<Self> {
        let run = &study.run;
        let mut numbers: Numbers<R> = Numbers::new(run, system)?;
        let methods =
            study.methods.iter().map(|name| Method::for_system(name, system)).collect::<Result<Vec<_>>>()?;
        let steps = study.steps.iter().map(|h| numbers.step(Some(h))).collect::<Result<Vec<_>>>()?;
        let until = study.until.iter().map(|t| numbers.until(Some(t))).collect::<Result<Vec<_>>>()?;
        for (what, empty) in [
            ("method", methods.is_empty()),
            ("step", steps.is_empty()),
            ("end time", until.is_empty()),
            ("measure", study.measures.is_empty()),
        ] {
            if empty {
                return Err(Error::BadStudy { message: format!("there is no {what}; give at least one") });
            }
        }
        let problem = numbers.problem;
        let ends = steps.iter().map(|h| ends(&problem, h, &until)).collect::<Result<Vec<_>>>()?;
        let mut needs = Needs::default();
        for measure in &study.measures {
            measure.target(system)?.needs(&mut needs);
            Ruler::new(measure, &problem, &steps[0])?;
        }
        let plan = match &study.reference {
            _ if needs.nothing() => None,
            Reference::Exact => Truth::exact(&problem, &needs).map(|_| None)?,
            Reference::Auto if Truth::exact(&problem, &needs).is_ok() => None,
            Reference::Auto => {
                Some(ReferencePlan::new(&Default::default(), (run, system), &methods, &steps, &ends)?)
            }
            Reference::Computed(how) => {
                Some(ReferencePlan::new(how, (run, system), &methods, &steps, &ends)?)
            }
        };
        let tracks = plan.map(|plan| Tracks::new(plan, &problem, &needs)).transpose()?;
        let (measures, precision) = (study.measures.clone(), run.precision);
        Ok(Self { problem, methods, steps, until, ends, measures, precision, needs, tracks })
    }

    fn parts(&self, task: usize) -> (usize, usize) {
        (task / self.steps.len(), task % self.steps.len())
    }

    fn truth(&self, step: usize, watch: Watch<'_>) -> std::result::Result<Truth<R>, String> {
        match &self.tracks {
            None => Truth::exact(&self.problem, &self.needs).map_err(|error| error.to_string()),
            Some(tracks) => {
                let (track, rows) =
                    tracks.get(step, (&self.steps[step], longest(&self.ends[step])), watch)?;
                Ok(Truth::track(&self.problem, track, rows))
            }
        }
    }

    fn finding(&self, ruler: &Ruler<R>, measure: &Measure) -> Finding {
        let reading = ruler.reading();
        if !reading.is_finite() {
            return Finding::Failed(format!(
                "the {} is not finite, because the right value is zero somewhere\n  try it without `relative`",
                measure.title()
            ));
        }
        let digits = self.precision.map(|digits| reading.to_text(Some(digits)));
        Finding::Value { value: reading.to_f64(), digits, unit: ruler.unit() }
    }
}

fn longest(ends: &[u64]) -> u64 {
    ends.iter().copied().max().unwrap_or(0)
}

/// The number of steps to each end time.
fn ends<R: Real>(problem: &Problem<R>, step: &R, until: &[R]) -> Result<Vec<u64>> {
    let count = |until: &R| {
        let length = (until.clone() - problem.t0.clone()).to_f64();
        let (steps, whole) = count_steps(length, step.to_f64(), until.to_f64())?;
        if whole {
            return Ok(steps);
        }
        let message = format!(
            "until = {} is not a whole number of steps of {}, so errors would belong to different times\n  \
             try steps that divide it, e.g. {}",
            until.to_f64(),
            step.to_f64(),
            length / (steps + 1) as f64
        );
        Err(Error::BadStudy { message })
    };
    until.iter().map(count).collect()
}

impl<R: Real + Send + Sync + 'static> Job for Prepared<R> {
    fn tasks(&self) -> usize {
        self.methods.len() * self.steps.len()
    }

    fn steps(&self, task: usize) -> u64 {
        longest(&self.ends[self.parts(task).1])
    }

    fn reference_steps(&self) -> u64 {
        self.tracks.as_ref().map_or(0, |tracks| tracks.plan.total)
    }

    fn cost(&self, task: usize) -> f64 {
        let method = &self.methods[self.parts(task).0];
        let degree = method.degree().unwrap_or(1) as f64;
        let digits = if self.precision.is_some() { 50.0 } else { 1.0 };
        self.steps(task) as f64 * degree * self.problem.system.n() as f64 * digits
    }

    fn warnings(&self) -> Vec<String> {
        let problem: Problem<f64> = self.problem.convert();
        let mut found: Vec<String> = Vec::new();
        for method in &self.methods {
            // the largest step that is unstable stands for all
            let mut steps: Vec<f64> = self.steps.iter().map(R::to_f64).collect();
            steps.sort_by(|a, b| b.total_cmp(a));
            found.extend(
                steps
                    .iter()
                    .find_map(|h| growing_oscillations(&problem, method, *h))
                    .map(|growth| growth.to_string()),
            );
        }
        found.extend(self.tracks.as_ref().and_then(|tracks| tracks.plan.weakness(&self.methods)));
        found
    }

    fn blank(&self) -> Findings {
        let counts = [self.methods.len(), self.measures.len(), self.until.len(), self.steps.len()];
        let reference = match &self.tracks {
            _ if self.needs.nothing() => "the initial values".to_owned(),
            None => "the exact solution".to_owned(),
            Some(tracks) => tracks.plan.to_string(),
        };
        Findings {
            steps: self.steps.iter().map(R::to_f64).collect(),
            until: self.until.iter().map(R::to_f64).collect(),
            time_unit: self.problem.system.time_unit.clone(),
            reference,
            cells: vec![Finding::Missing; counts.iter().product()],
            counts,
        }
    }

    fn run(&self, task: usize, watch: Watch<'_>) -> Vec<Vec<Finding>> {
        let (method, step) = self.parts(task);
        let count = self.until.len();
        let everywhere = |finding: Finding| vec![vec![finding; count]; self.measures.len()];
        let truth = match self.truth(step, watch) {
            Ok(truth) => truth,
            Err(_) if watch(0).is_break() => return everywhere(Finding::Missing),
            Err(message) => return everywhere(Finding::Failed(message)),
        };
        let rulers: Result<Vec<Ruler<R>>> =
            self.measures.iter().map(|m| Ruler::new(m, &self.problem, &self.steps[step])).collect();
        let rulers = match rulers {
            Ok(rulers) => rulers,
            Err(error) => return everywhere(Finding::Failed(error.to_string())),
        };
        let mut gauge = Gauge {
            study: self,
            meter: EnergyMeter::new(&self.problem),
            truth,
            rulers,
            ends: &self.ends[step],
            found: everywhere(Finding::Missing),
            watch,
        };
        let mut stepper = Stepper::new(&self.problem, &self.methods[method], self.steps[step].clone());
        let mut state = State::new(&self.problem);
        let last = longest(&self.ends[step]);
        let outcome = simulate(&self.problem, &mut stepper, &mut state, last, &mut [&mut gauge]);
        if let Outcome::Failed(failure) = outcome {
            for (row, end) in gauge.found.iter_mut().flat_map(|row| row.iter_mut().zip(&self.ends[step])) {
                if *end > state.steps || matches!(row, Finding::Missing) {
                    *row = Finding::Failed(failure.to_string());
                }
            }
        }
        gauge.found
    }
}

/// Holds all rulers to a run.
struct Gauge<'a, R> {
    study: &'a Prepared<R>,
    meter: EnergyMeter<R>,
    truth: Truth<R>,
    rulers: Vec<Ruler<R>>,
    ends: &'a [u64],
    found: Vec<Vec<Finding>>,
    watch: Watch<'a>,
}

impl<R: Real + Send + Sync + 'static> Observer<R> for Gauge<'_, R> {
    fn observe(&mut self, moment: &Moment<'_, R>) -> std::result::Result<ControlFlow<()>, Cause> {
        let step = moment.state.steps;
        if step == 0 {
            return Ok(ControlFlow::Continue(()));
        }
        self.truth.advance(step, &moment.t);
        let (truth, meter) = (&mut self.truth, &mut self.meter);
        let mut shared = Shared { problem: &self.study.problem, truth, meter };
        for ruler in &mut self.rulers {
            ruler.observe(moment, &mut shared)?;
        }
        for (until, end) in self.ends.iter().enumerate() {
            if *end == step {
                for (measure, ruler) in self.rulers.iter().enumerate() {
                    let of = &self.study.measures[measure];
                    self.found[measure][until] = self.study.finding(ruler, of);
                }
            }
        }
        if step.is_multiple_of(REPORT) { Ok((self.watch)(REPORT)) } else { Ok(ControlFlow::Continue(())) }
    }
}
