//! leastaction: reads the text of a system, as the command does, and takes steps. Settings: `METHOD:STEPS`.
//!
//! `METHOD:STEPS@DIGITS` computes with many digits. The system `ensemble` is a file of initial angles, `ensemble.csv`.
//! Called with `methods` instead of the folder of the text files, it lists the methods there are.

use leastaction::error::Source;
use leastaction::method::Method;
use leastaction::scalar::{Digits, Real};
use leastaction::simulate::{Invariants, Observer, Outcome, Run, simulate};
use leastaction::step::{State, Stepper};
use leastaction::system::Problem;
use leastaction_bench_peers::conversation::{Contestant, Question, answer, parts};
use leastaction_bench_peers::{clock, motion};
use std::path::PathBuf;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("methods") => Method::all().iter().for_each(|method| println!("{}", method.name)),
        folder => answer(&LeastAction { systems: folder.unwrap_or_default().into() }),
    }
}

struct LeastAction {
    /// The folder of the text files.
    systems: PathBuf,
}

/// A run in one of the number types.
enum Ready {
    Double(Steps<f64>),
    Digits(Steps<Digits<4>>),
}

/// A problem, where its members start (one, if it is no ensemble), and the steps to take.
struct Steps<R> {
    problem: Problem<R>,
    stepper: Stepper<R>,
    starts: Vec<State<R>>,
    steps: u64,
}

impl Contestant for LeastAction {
    type Ready = Ready;

    fn ready(&self, question: &Question) -> Result<Ready, String> {
        let (setting, digits) = match question.setting.split_once('@') {
            Some((setting, digits)) => (setting, Some(digits)),
            None => (question.setting, None),
        };
        let (method, steps) = parts(setting)?;
        let file = if question.system == "ensemble" { "double-pendulum-from-rest" } else { question.system };
        let problem = self.read(file)?;
        let method = Method::named(method).map_err(|error| error.to_string())?;
        let mut made = Steps::new(problem, &method, question.until, steps as u64);
        if question.system == "ensemble" {
            made.starts = motion::ensemble(&self.systems.join("ensemble.csv"))?
                .iter()
                .map(|q| State::at(q.to_vec(), vec![0.0; 2]))
                .collect();
        }
        Ok(match digits {
            None => Ready::Double(made),
            Some(_) => Ready::Digits(Steps::new(made.problem.convert(), &method, question.until, made.steps)),
        })
    }

    fn error(&self, ready: &mut Ready) -> Result<f64, String> {
        match ready {
            Ready::Double(steps) => steps.error(),
            Ready::Digits(steps) => steps.error(),
        }
    }

    fn time(&self, ready: &mut Ready, budget: f64) -> Result<f64, String> {
        match ready {
            Ready::Double(steps) => steps.time(budget),
            Ready::Digits(steps) => steps.time(budget),
        }
    }
}

impl LeastAction {
    fn read(&self, system: &str) -> Result<Problem<f64>, String> {
        let path = self.systems.join(system).with_extension("toml");
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let run = Run::read(system, &Source::new(system, &text)).map_err(|error| error.to_string())?;
        Ok(Run { every: Some(0), ..run }.plan().map_err(|error| error.to_string())?.problem)
    }
}

impl<R: Real> Steps<R> {
    fn new(problem: Problem<R>, method: &Method, until: f64, steps: u64) -> Self {
        let stepper = Stepper::new(&problem, method, R::from_f64(until) / R::from_f64(steps as f64));
        Self { starts: vec![State::new(&problem)], problem, stepper, steps }
    }

    fn error(&self) -> Result<f64, String> {
        let mut worst = 0.0_f64;
        for start in &self.starts {
            let problem = Problem { q0: start.q.clone(), p0: start.p.clone(), ..self.problem.clone() };
            let mut invariants = Invariants::new(&problem);
            let observers: &mut [&mut dyn Observer<R>] = &mut [&mut invariants];
            let mut stepper = self.stepper.clone();
            match simulate(&problem, &mut stepper, &mut start.clone(), self.steps, observers) {
                Outcome::Failed(failure) => return Err(failure.to_string()),
                _ => worst = worst.max(invariants.max_relative_error()),
            }
        }
        Ok(worst)
    }

    fn time(&self, budget: f64) -> Result<f64, String> {
        let mut failed = None;
        // the stepper remembers the step before, so that each run starts with one that has taken none
        let fresh = || (self.starts.clone(), vec![self.stepper.clone(); self.starts.len()]);
        let best = clock::shortest(budget, fresh, |(mut states, mut steppers)| {
            for (state, stepper) in states.iter_mut().zip(&mut steppers) {
                if let Outcome::Failed(failure) = simulate(&self.problem, stepper, state, self.steps, &mut [])
                {
                    failed = Some(failure.to_string());
                }
            }
        });
        failed.map_or(Ok(best), Err)
    }
}
