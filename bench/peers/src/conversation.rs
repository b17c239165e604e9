//! The conversation with the benchmark, one line each way:
//!
//! ```text
//! error  SYSTEM UNTIL SETTING          →  ok 7.4e-9     the largest relative energy error of a run
//! time   SYSTEM UNTIL SETTING SECONDS  →  ok 8.8e-5     the median of the runs that fit into some seconds, in seconds of work
//! wall   SYSTEM UNTIL SETTING SECONDS  →  ok 8.8e-5     the same by the clock on the wall, for several threads
//! setup  SYSTEM UNTIL SETTING          →  ok 1.2e-3     how long it takes to get ready for a run
//! pick   SYSTEM UNTIL TOLERANCE        →  ok 0.31 SETTING   how long it takes to find the setting for an energy error, and which it is
//! ```
//!
//! or `fail REASON`. The end of the input ends the program.

use crate::clock::{self, Clock};
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
    /// The median time of some runs by a clock.
    fn time(&self, ready: &mut Self::Ready, clock: Clock, budget: f64) -> Result<f64, String>;
    /// Finds the setting for an energy error, which stands where settings do.
    fn pick(&self, _: &Question) -> Result<String, String> {
        Err("it picks no settings".to_owned())
    }
}

/// Answers until the input ends.
pub fn answer(contestant: &impl Contestant) {
    let mut out = std::io::stdout();
    let mut kept = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let written = match reply(contestant, &line, &mut kept) {
            Ok(answer) => writeln!(out, "ok {answer}"),
            Err(reason) => writeln!(out, "fail {}", reason.replace('\n', " ")),
        };
        if written.and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

/// What was made last and for which question: others about it follow.
type Kept<T> = Vec<(String, T)>;

/// Of each case, up to eight settings for each of three errors are asked for in turns.
const KEPT: usize = 24;

fn reply<C: Contestant>(contestant: &C, line: &str, kept: &mut Kept<C::Ready>) -> Result<String, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [what, system, until, setting, ..] = words[..] else {
        return Err(format!("`{line}` is not a question"));
    };
    let question =
        Question { system, until: until.parse().map_err(|_| format!("`{until}` is not a time"))?, setting };
    let start = Instant::now();
    if what == "pick" {
        let found = contestant.pick(&question)?;
        return Ok(format!("{:e} {found}", start.elapsed().as_secs_f64()));
    }
    let key = format!("{system} {until} {setting}");
    if what == "setup" {
        contestant.ready(&question)?;
        return Ok(format!("{:e}", start.elapsed().as_secs_f64()));
    }
    if !kept.iter().any(|(made_for, _)| *made_for == key) {
        kept.drain(..(kept.len() + 1).saturating_sub(KEPT));
        kept.push((key.clone(), contestant.ready(&question)?));
    }
    let Some((_, ready)) = kept.iter_mut().find(|(made_for, _)| *made_for == key) else {
        return Err("nothing is ready".to_owned());
    };
    let budget = words.get(4).and_then(|word| word.parse().ok()).unwrap_or(0.0);
    let number = match what {
        "error" => contestant.error(ready)?,
        "time" => contestant.time(ready, clock::work, budget)?,
        "wall" => contestant.time(ready, clock::wall, budget)?,
        _ => return Err(format!("`{what}` is not a question")),
    };
    Ok(format!("{number:e}"))
}

/// The parts of a setting `a:b`.
pub fn parts(setting: &str) -> Result<(&str, f64), String> {
    let (name, text) = setting.split_once(':').ok_or(format!("`{setting}` should be NAME:NUMBER"))?;
    Ok((name, number(text)?))
}

/// A number of a setting.
pub fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}
