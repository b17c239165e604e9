//! How leastaction takes part: a text file is read into a `Run`, the run is planned, and its steps are taken with the plan's own
//! stepper, as the command does, but with nobody watching. What a tolerance changes about the steps is therefore timed.
//!
//! Settings: `METHOD:STEPS`; `METHOD:STEPS:TOLERANCE`, which is what `pick` finds; `METHOD:STEPS@64` with 64 digits; for ensembles
//! `METHOD:STEPS/THREADS`.

use crate::clock::{self, Clock};
use crate::conversation::number;
use leastaction::analysis;
use leastaction::error::Source;
use leastaction::method::Method;
use leastaction::scalar::Real;
use leastaction::simulate::ensemble::{Ensemble, EnsemblePlan, List, Tally};
use leastaction::simulate::{Invariants, Observer, Outcome, Plan, Run, simulate};
use leastaction::step::{State, Stepper};
use leastaction::system::{Problem, Quantity};
use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// What a setting says.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The method.
    pub method: String,
    /// The number of steps of the run.
    pub steps: u64,
    /// The energy error that is wanted.
    pub tolerance: Option<f64>,
    /// Whether to compute with 64 digits.
    pub digits: bool,
    /// Threads of an ensemble.
    pub threads: usize,
}

impl Setting {
    /// Reads a setting.
    pub fn read(text: &str) -> Result<Self, String> {
        let (rest, threads) = text.split_once('/').unwrap_or((text, "1"));
        let (rest, digits) = rest.strip_suffix("@64").map_or((rest, false), |rest| (rest, true));
        let mut parts = rest.splitn(3, ':');
        let (Some(method), Some(steps)) = (parts.next(), parts.next()) else {
            return Err(format!("`{text}` should be METHOD:STEPS"));
        };
        Ok(Self {
            method: method.to_owned(),
            steps: number(steps)? as u64,
            tolerance: parts.next().map(number).transpose()?,
            digits,
            threads: number(threads)? as usize,
        })
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.method, self.steps)?;
        self.tolerance.map_or(Ok(()), |tolerance| write!(f, ":{tolerance:e}"))
    }
}

/// The folder of the text files.
#[derive(Clone, Debug)]
pub struct Systems(pub PathBuf);

impl Systems {
    /// A run of the system in a file, until a time. An ensemble is of double pendula whose energies are counted from the hanging rest.
    pub fn run(&self, system: &str, until: f64) -> Result<Run, String> {
        let system = if system == "ensemble" { "double-pendulum-from-rest" } else { system };
        let path = self.0.join(system).with_extension("toml");
        let text = read(&path)?;
        let run = Run::read(system, &Source::new(system, &text)).map_err(|error| error.to_string())?;
        Ok(Run { every: Some(0), until: Some(Quantity::Number(until)), ..run })
    }

    /// The same with the method, the number of steps and the tolerance of a setting.
    pub fn run_with(&self, system: &str, until: f64, setting: &Setting) -> Result<Run, String> {
        Ok(Run {
            method: Some(setting.method.clone()),
            step: Some(Quantity::Number(until / setting.steps as f64)),
            tolerance: setting.tolerance.map(Quantity::Number),
            ..self.run(system, until)?
        })
    }

    /// The setting that the tool itself finds for an energy error.
    pub fn pick(&self, system: &str, until: f64, tolerance: f64) -> Result<Setting, String> {
        let run = Run { tolerance: Some(Quantity::Number(tolerance)), ..self.run(system, until)? };
        let ensemble = (system == "ensemble").then(|| self.members());
        let run = Run { ensemble, ..run };
        let picked =
            analysis::pick(&run, &|_| ControlFlow::Continue(())).map_err(|error| error.to_string())?;
        let picked = picked.ok_or("it has nothing to pick")?;
        Ok(Setting {
            method: picked.method,
            steps: picked.steps,
            tolerance: Some(tolerance),
            digits: false,
            threads: 1,
        })
    }

    /// The methods that fit a system.
    pub fn methods(&self, system: &str) -> Result<Vec<String>, String> {
        let (system, _) = self.run(system, 1.0)?.resolve().map_err(|error| error.to_string())?;
        let fitting = Method::all().into_iter().filter(|method| method.fits(&system).is_ok());
        Ok(fitting.map(|method| method.name).collect())
    }

    fn angles(&self) -> PathBuf {
        self.0.join("ensemble.csv")
    }
    fn members(&self) -> Ensemble {
        Ensemble { list: Some(self.angles().display().to_string()), ..Ensemble::default() }
    }

    /// The double pendula that start at the angles of `ensemble.csv`.
    pub fn ensemble(&self, until: f64, setting: &Setting) -> Result<Members, String> {
        let list = list(&read(&self.angles())?)?;
        let run = Run { ensemble: Some(self.members()), ..self.run_with("ensemble", until, setting)? };
        let plan = EnsemblePlan::new(&run, Some(list)).map_err(|error| error.to_string())?;
        Ok(Members { plan, threads: setting.threads })
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// A line of names, a line for each member.
fn list(text: &str) -> Result<List, String> {
    let mut lines = text.lines();
    let names = lines.next().unwrap_or_default().split(',').map(str::to_owned).collect();
    let values = lines.flat_map(|line| line.split(',')).map(number).collect::<Result<_, _>>()?;
    Ok(List { names, values })
}

/// A single trajectory: where it starts and the steps to take.
pub struct Steps<R> {
    problem: Problem<R>,
    stepper: Stepper<R>,
    steps: u64,
}

impl<R: Real> Steps<R> {
    /// The steps of a planned run in a number type.
    pub fn new(plan: &Plan) -> Self {
        let problem = plan.problem.convert();
        let stepper = plan.stepper(&problem, R::from_f64(plan.step));
        Self { problem, stepper, steps: plan.steps }
    }

    /// The largest relative energy error at the ends of steps.
    pub fn error(&self) -> Result<f64, String> {
        let mut invariants = Invariants::new(&self.problem);
        self.take(self.stepper.clone(), &mut [&mut invariants])?;
        Ok(invariants.max_relative_error())
    }

    /// The time of a typical one of some runs.
    pub fn time(&self, clock: Clock, budget: f64) -> Result<f64, String> {
        // the stepper remembers the step before, so that each run starts with one that has taken none
        clock::typical(clock, budget, || self.stepper.clone(), |stepper| self.take(stepper, &mut []))
    }

    /// Takes the steps once.
    pub fn once(&self) -> Result<(), String> {
        self.take(self.stepper.clone(), &mut [])
    }

    fn take(&self, mut stepper: Stepper<R>, observers: &mut [&mut dyn Observer<R>]) -> Result<(), String> {
        let mut state = State::new(&self.problem);
        match simulate(&self.problem, &mut stepper, &mut state, self.steps, observers) {
            Outcome::Failed(failure) => Err(failure.to_string()),
            _ => Ok(()),
        }
    }
}

/// An ensemble.
pub struct Members {
    plan: EnsemblePlan,
    threads: usize,
}

impl Members {
    /// Runs the first members, or all; what is known of them.
    pub fn run(&self, most: u64) -> Result<Tally, String> {
        let mut tally = Tally::new(&self.plan);
        let members = 0..self.plan.count().min(most);
        let keep = |block: &_| {
            tally.add(&self.plan, block);
            Ok::<_, String>(())
        };
        self.plan.run(&members, 0, self.threads, &|| ControlFlow::Continue(()), keep)?;
        if tally.failed > 0 {
            return Err(format!("{} members of {} failed", tally.failed, tally.members));
        }
        Ok(tally)
    }

    /// The largest relative energy error of the worst member.
    pub fn error(&self) -> Result<f64, String> {
        self.run(u64::MAX)?.energy_error.map(|worst| worst.value).ok_or("no member has an energy".to_owned())
    }

    /// The time of a typical one of some runs of all members.
    pub fn time(&self, clock: Clock, budget: f64) -> Result<f64, String> {
        clock::typical(clock, budget, || (), |()| self.run(u64::MAX).map(drop))
    }
}
