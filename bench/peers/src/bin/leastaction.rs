//! leastaction: reads the text of a system, as the command does, and takes steps. Settings are in `ours`.
//!
//! The system `ensemble` is a file of initial angles, `ensemble.csv`. Called with `methods SYSTEM` behind the folder of the text
//! files, it lists the methods that fit a system.

use leastaction::scalar::Digits;
use leastaction_bench_peers::clock::Clock;
use leastaction_bench_peers::conversation::{Contestant, Question, answer, number};
use leastaction_bench_peers::ours::{Members, Setting, Steps, Systems};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let systems = Systems(words.next().unwrap_or_default().into());
    let [command, system] = [words.next(), words.next()].map(Option::unwrap_or_default);
    if command != "methods" {
        answer(&LeastAction(systems));
        return ExitCode::SUCCESS;
    }
    match systems.methods(&system) {
        Ok(names) => {
            println!("{}", names.join("\n"));
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

struct LeastAction(Systems);

/// A run in one of the number types, or many.
enum Ready {
    Double(Box<Steps<f64>>),
    Digits(Box<Steps<Digits<4>>>),
    Many(Box<Members>),
}

impl Contestant for LeastAction {
    type Ready = Ready;

    fn ready(&self, question: &Question) -> Result<Ready, String> {
        let setting = Setting::read(question.setting)?;
        if question.system == "ensemble" {
            return Ok(Ready::Many(Box::new(self.0.ensemble(question.until, &setting)?)));
        }
        let run = self.0.run_with(question.system, question.until, &setting)?;
        let plan = run.plan().map_err(|error| error.to_string())?;
        Ok(match setting.digits {
            false => Ready::Double(Box::new(Steps::new(&plan))),
            true => Ready::Digits(Box::new(Steps::new(&plan))),
        })
    }

    fn error(&self, ready: &mut Ready) -> Result<f64, String> {
        match ready {
            Ready::Double(steps) => steps.error(),
            Ready::Digits(steps) => steps.error(),
            Ready::Many(members) => members.error(),
        }
    }

    fn time(&self, ready: &mut Ready, clock: Clock, budget: f64) -> Result<f64, String> {
        match ready {
            Ready::Double(steps) => steps.time(clock, budget),
            Ready::Digits(steps) => steps.time(clock, budget),
            Ready::Many(members) => members.time(clock, budget),
        }
    }

    fn pick(&self, question: &Question) -> Result<String, String> {
        let setting = self.0.pick(question.system, question.until, number(question.setting)?)?;
        Ok(setting.to_string())
    }
}
