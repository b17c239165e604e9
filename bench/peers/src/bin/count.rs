//! What `bench/counts` counts: `count FOLDER SYSTEM STEP METHOD N` takes N steps of a text system, `METHOD@64` with 64 digits;
//! `read` instead of a method gets ready N times for a run: reads, derives, compiles. Of the system `ensemble` it runs N members for a
//! hundred steps.

use leastaction::scalar::{Digits, Real};
use leastaction::simulate::Plan;
use leastaction_bench_peers::ours::{Setting, Steps, Systems};
use std::process::ExitCode;

/// The steps of a member of an ensemble.
const MEMBER_STEPS: u64 = 100;

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
    let systems = Systems(folder.into());
    let step: f64 = step.parse().map_err(|_| format!("`{step}` is not a number"))?;
    let n: u64 = n.parse().map_err(|_| format!("`{n}` is not a count"))?;
    let planned = |method: &str, steps: u64| {
        let setting = Setting::read(&format!("{method}:{steps}"))?;
        let run = systems.run_with(system, step * steps as f64, &setting)?;
        run.plan().map_err(|error| error.to_string())
    };
    if system == "ensemble" {
        let setting = Setting::read(&format!("{method}:{MEMBER_STEPS}"))?;
        return systems.ensemble(step * MEMBER_STEPS as f64, &setting)?.run(n).map(drop);
    }
    if method == "read" {
        for _ in 0..n {
            Steps::<f64>::new(&planned("gauss8", 1)?);
        }
        return Ok(());
    }
    match method.strip_suffix("@64") {
        Some(method) => take::<Digits<4>>(&planned(method, n)?),
        None => take::<f64>(&planned(method, n)?),
    }
}

fn take<R: Real>(plan: &Plan) -> Result<(), String> {
    Steps::<R>::new(plan).once()
}
