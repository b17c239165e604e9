//! What a summary says of outputs and events.

use super::solution::MAX_COORDINATES;
use super::{Crossings, Outcome, Outputs, Summary, Tally};
use crate::error::{Trial, number};
use crate::scalar::Real;
use serde::Serialize;
use std::fmt;

/// An output over a run.
#[derive(Clone, Debug, Serialize)]
pub struct OutputSummary {
    /// At the end.
    pub r#final: f64,
    /// The least value at the end of a step.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// When it was first no finite number, if it ever was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_finite_at: Option<f64>,
}

/// An event over a run.
#[derive(Clone, Debug, Serialize)]
pub struct EventSummary {
    /// How often it happened.
    pub count: u64,
    /// When it happened first.
    pub first: Option<f64>,
    /// When it happened last.
    pub last: Option<f64>,
    /// How often it had to happen to end the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<u64>,
    /// When it happened, the first thousand times.
    pub times: Vec<f64>,
    /// How often its formula changed its sign without a zero, at a jump or a pole.
    #[serde(skip_serializing_if = "is_zero")]
    pub jumps: u64,
    /// In how many steps its formula changed too fast to see all of its zeros.
    #[serde(skip_serializing_if = "is_zero")]
    pub unresolved: u64,
    /// Where its formula came nearest to zero, if it never happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Where the formula of an event came nearest to zero, at the end of a step.
#[derive(Clone, Debug, Serialize)]
pub struct Nearest {
    /// Its value.
    pub value: f64,
    /// When.
    pub t: f64,
}

/// Why a run failed, for a summary.
#[derive(Clone, Debug, Serialize)]
pub struct FailureSummary {
    /// The step that failed, counted from 1.
    pub step: u64,
    /// The time at which it started.
    pub t: f64,
    /// Why, in two words.
    pub cause: &'static str,
    /// The same as a sentence, with what to try.
    pub message: String,
    /// What was tried from there.
    pub tried: Vec<Trial>,
}

impl FailureSummary {
    pub(super) fn of(outcome: &Outcome) -> Option<Self> {
        let Outcome::Failed(failure) = outcome else { return None };
        Some(Self {
            step: failure.step,
            t: failure.time,
            cause: failure.cause.word(),
            message: failure.to_string(),
            tried: failure.tried.clone(),
        })
    }
}

impl<R> Tally<R> {
    /// Where its formula came nearest to zero, if it never happened.
    pub fn nearest(&self) -> Option<Nearest> {
        let (value, t) = self.nearest;
        (self.count == 0 && value.is_finite()).then_some(Nearest { value, t })
    }
}

/// So many times of an event are listed at most; files have all of them.
const MOST_TIMES: usize = 1000;

impl Summary {
    /// The same with outputs.
    pub(super) fn with_outputs<R: Real>(mut self, names: &[String], outputs: &Outputs<R>) -> Self {
        for (i, (name, last)) in names.iter().zip(&outputs.last).enumerate() {
            let (min, max) = outputs.range[i];
            let not_finite_at = outputs.broken[i];
            let summary = OutputSummary { r#final: last.to_f64(), min, max, not_finite_at };
            self.outputs.insert(name.clone(), summary);
            if let Some(digits) = &mut self.digits {
                digits.outputs.insert(name.clone(), last.to_text(Some(digits.precision)));
            }
        }
        self
    }

    /// The same with events.
    pub(super) fn with_events<R: Real>(mut self, crossings: Option<&Crossings<R>>) -> Self {
        let Some(crossings) = crossings else { return self };
        for (event, tally) in crossings.tallies.iter().enumerate() {
            let times = || crossings.times(event).take(MOST_TIMES);
            let summary = EventSummary {
                count: tally.count,
                first: tally.first.as_ref().map(R::to_f64),
                last: tally.last.as_ref().map(R::to_f64),
                stop: tally.stop,
                times: times().map(R::to_f64).collect(),
                jumps: tally.jumps,
                unresolved: tally.unresolved,
                nearest: tally.nearest(),
            };
            self.events.insert(tally.name.clone(), summary);
            if let Some(digits) = &mut self.digits {
                let text = |t: &R| t.to_text(Some(digits.precision));
                digits.events.insert(tally.name.clone(), times().map(text).collect());
            }
        }
        self
    }

    pub(super) fn write_outputs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, output) in self.outputs.iter().take(MAX_COORDINATES) {
            let digits = self.digits.as_ref().and_then(|digits| digits.outputs.get(name));
            let last = digits.cloned().unwrap_or_else(|| number(output.r#final));
            writeln!(
                f,
                "  output     {name} = {last}, from {} to {}",
                number(output.min),
                number(output.max)
            )?;
        }
        if self.outputs.len() > MAX_COORDINATES {
            writeln!(f, "  {:<10} … and {} more outputs", "", self.outputs.len() - MAX_COORDINATES)?;
        }
        Ok(())
    }

    pub(super) fn write_events(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, event) in &self.events {
            let times = self.digits.as_ref().and_then(|digits| digits.events.get(name));
            let text = |t: f64, digits: Option<&String>| digits.cloned().unwrap_or_else(|| number(t));
            let first = event.first.map(|t| text(t, times.and_then(|list| list.first())));
            // what is beyond the list has the digits of an f64
            let all = times.filter(|list| list.len() as u64 == event.count);
            let last = event.last.map(|t| text(t, all.and_then(|list| list.last())));
            let often = match (event.count, event.stop) {
                (count, Some(stop)) if count < stop => format!("{count} of {stop} times"),
                (0, _) => "never happened".to_owned(),
                (1, _) => "once".to_owned(),
                (count, _) => format!("{count} times"),
            };
            let when = match (first, last) {
                (Some(first), Some(last)) if event.count > 1 => {
                    format!(", first at t = {first}, last at t = {last}")
                }
                (Some(first), _) => format!(", at t = {first}"),
                _ => String::new(),
            };
            writeln!(f, "  event      {name} {often}{when}")?;
        }
        Ok(())
    }
}
