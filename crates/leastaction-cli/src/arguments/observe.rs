//! The flags for outputs and events, and how they change a run.

use super::{formula, once};
use crate::Ending;
use clap::Args;
use leastaction::error::nearest;
use leastaction::prelude::Run;
use leastaction::simulate::{Direction, Event};
use std::collections::HashSet;

/// What is watched beside the state.
#[derive(Debug, Args)]
pub(crate) struct ObserveFlags {
    /// Record a quantity beside the states, a formula of coordinates, velocities (v_x), momenta (p_x), t, energy and
    /// parameters; may be repeated
    #[arg(long, value_name = "NAME=FORMULA")]
    output: Vec<String>,
    /// Find when a formula changes its sign, in both directions or with `:rising` or `:falling` at the end; may be repeated
    #[arg(long, value_name = "NAME=FORMULA[:DIRECTION]")]
    event: Vec<String>,
    /// End the run when an event has happened so often [default: once]
    #[arg(long, value_name = "NAME[=COUNT]")]
    stop: Vec<String>,
}

impl ObserveFlags {
    /// Puts outputs and events into a run.
    pub(crate) fn fill(&self, run: &mut Run) -> Result<(), Ending> {
        let (mut outputs, mut events) = (HashSet::new(), HashSet::new());
        for text in &self.output {
            let (name, of) = named("--output", text, "height=-l*cos(theta)")?;
            once("--output", &name, &mut outputs)?;
            let of = formula(&format!("--output {name}"), &of);
            run.outputs.insert(name, of);
        }
        for text in &self.event {
            let (name, rest) = named("--event", text, "low=theta:rising")?;
            once("--event", &name, &mut events)?;
            let (of, direction) = match rest.rsplit_once(':') {
                None => (rest, Direction::Both),
                Some((of, word)) => (of.trim().to_owned(), direction(text, word.trim())?),
            };
            // a stop that a file gives for this event stays
            let stop = run.events.get(&name).and_then(|event| event.stop);
            let of = formula(&format!("--event {name}"), &of);
            run.events.insert(name, Event { of, direction, stop });
        }
        for text in &self.stop {
            let (name, count) = text.split_once('=').unwrap_or((text, "1"));
            let (name, count) = (name.trim(), count.trim());
            let Some(event) = run.events.get_mut(name) else {
                let hint = nearest(name, run.events.keys().map(String::as_str));
                return Err(Ending::BadInput(format!(
                    "`--stop {text}`: there is no event `{name}`{hint}\n  define it with --event {name}=FORMULA"
                )));
            };
            event.stop = Some(count.parse().map_err(|_| {
                Ending::BadInput(format!(
                    "`--stop {text}`: `{count}` is not a whole number, e.g. --stop {name}=10"
                ))
            })?);
        }
        Ok(())
    }
}

fn direction(text: &str, word: &str) -> Result<Direction, Ending> {
    match word {
        "rising" => Ok(Direction::Rising),
        "falling" => Ok(Direction::Falling),
        "both" => Ok(Direction::Both),
        _ => {
            let hint = nearest(word, ["rising", "falling", "both"]);
            Err(Ending::BadInput(format!(
                "`--event {text}`: `{word}` is not a direction{hint}\n  try rising, falling or both"
            )))
        }
    }
}

/// Splits NAME=FORMULA.
fn named(flag: &str, text: &str, example: &str) -> Result<(String, String), Ending> {
    match text.split_once('=') {
        Some((name, formula)) if !name.trim().is_empty() && !formula.trim().is_empty() => {
            Ok((name.trim().to_owned(), formula.trim().to_owned()))
        }
        _ => Err(Ending::BadInput(format!(
            "`{flag} {text}` is not of the form NAME=FORMULA, e.g. {flag} \"{example}\""
        ))),
    }
}
