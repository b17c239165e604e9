//! The conversation with the benchmark, one line each way:
//!
//! ```text
//! error  SYSTEM UNTIL SETTING          →  ok 7.4e-9     the largest relative energy error of a run
//! time   SYSTEM UNTIL SETTING SECONDS  →  ok 8.8e-5     the shortest of the runs that fit into some seconds
//! setup  SYSTEM UNTIL SETTING          →  ok 1.2e-3     how long it takes to get ready for a run
//! ```
//!
//! or `fail REASON`. The end of the input ends the program.

use std::io::{BufRead, Write};
use std::time::Instant;

/// What is asked for.
pub struct Question<'a> {
    /// The name of a system.
    pub system: &'a str,
    /// The end of the run.
    pub until: f64,
    /// What the contestant can be set to: methods, steps, tolerances, in its own words.
    pub setting: &'a str,
}

/// One who integrates.
pub trait Contestant {
    /// What is made before a run can start.
    type Ready;
    /// Gets ready: everything that does not have to be done again for another run.
    fn ready(&self, question: &Question) -> Result<Self::Ready, String>;
    /// The largest relative energy error of a run.
    fn error(&self, ready: &mut Self::Ready) -> Result<f64, String>;
    /// The shortest time of some runs.
    fn time(&self, ready: &mut Self::Ready, budget: f64) -> Result<f64, String>;
}

/// Answers until the input ends.
pub fn answer(contestant: &impl Contestant) {
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let written = match reply(contestant, &line) {
            Ok(number) => writeln!(out, "ok {number:e}"),
            Err(reason) => writeln!(out, "fail {}", reason.replace('\n', " ")),
        };
        if written.and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

fn reply(contestant: &impl Contestant, line: &str) -> Result<f64, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [what, system, until, setting, ..] = words[..] else {
        return Err(format!("`{line}` is not a question"));
    };
    let until = until.parse().map_err(|_| format!("`{until}` is not a time"))?;
    let start = Instant::now();
    let mut ready = contestant.ready(&Question { system, until, setting })?;
    let setup = start.elapsed().as_secs_f64();
    match what {
        "setup" => Ok(setup),
        "error" => contestant.error(&mut ready),
        "time" => {
            let budget = words.get(4).and_then(|word| word.parse().ok()).unwrap_or(0.0);
            contestant.time(&mut ready, budget)
        }
        _ => Err(format!("`{what}` is not a question")),
    }
}

/// The parts of a setting `a:b`.
pub fn parts(setting: &str) -> Result<(&str, f64), String> {
    let (name, number) = setting.split_once(':').ok_or(format!("`{setting}` should be NAME:NUMBER"))?;
    Ok((name, number.parse().map_err(|_| format!("`{number}` is not a number"))?))
}
