//! What `bench/counts` counts: `count FOLDER SYSTEM STEP METHOD N` takes N steps of a text system, `METHOD@64` with 64 digits;
//! `read` instead of a method gets ready N times for a run: reads, derives, compiles.

use leastaction::error::Source;
use leastaction::method::Method;
use leastaction::scalar::{Digits, Real};
use leastaction::simulate::{Outcome, Run, simulate};
use leastaction::step::{State, Stepper};
use leastaction::system::Problem;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match count(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn count(words: &[String]) -> Result<(), String> {
    let [folder, system, step, method, n] = words else {
        return Err("count FOLDER SYSTEM STEP METHOD N".to_owned());
    };
    let step: f64 = step.parse().map_err(|_| format!("`{step}` is not a number"))?;
    let n: u64 = n.parse().map_err(|_| format!("`{n}` is not a count"))?;
    let path = Path::new(folder).join(system).with_extension("toml");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    if method == "read" {
        for _ in 0..n {
            take(&ready(system, &text)?, "gauss8", step, 0)?;
        }
        return Ok(());
    }
    let problem = ready(system, &text)?;
    match method.strip_suffix("@64") {
        Some(method) => take::<Digits<4>>(&problem.convert(), method, step, n),
        None => take(&problem, method, step, n),
    }
}

fn ready(system: &str, text: &str) -> Result<Problem<f64>, String> {
    let run = Run::read(system, &Source::new(system, text)).map_err(|error| error.to_string())?;
    Ok(Run { every: Some(0), ..run }.plan().map_err(|error| error.to_string())?.problem)
}

fn take<R: Real>(problem: &Problem<R>, method: &str, step: f64, steps: u64) -> Result<(), String> {
    let method = Method::named(method).map_err(|error| error.to_string())?;
    let mut stepper = Stepper::new(problem, &method, R::from_f64(step));
    match simulate(problem, &mut stepper, &mut State::new(problem), steps, &mut []) {
        Outcome::Failed(failure) => Err(failure.to_string()),
        _ => Ok(()),
    }
}
