//! What the user should know of a solution beyond its numbers.

use super::{Nearest, Outcome, Solution, StepError, Summary, Tally, exceeds};
use crate::error::number;

/// An energy or a balance that is wrong by more than this part of the motion's energy deserves a word, and by this one says that nothing
/// was simulated.
const DOUBTFUL: f64 = 1e-3;
const LARGE: f64 = 0.1;
/// A step that gets more than this part of the motion wrong does not resolve it: about twenty steps of `midpoint` to a period, or five of `simpson`.
const UNRESOLVED: f64 = 1e-3;

impl Solution {
    /// What was looked for and did not happen, or happened too often to be kept.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for tally in &self.events.tallies {
            if tally.stop.is_none() && tally.count == 0 {
                notes.push(format!("`{}` never happened{}", tally.name, nearest(tally)));
            }
            notes.extend(tally.jumped());
            notes.extend(tally.unresolved());
        }
        if self.events.left_out() > 0 {
            notes.push(format!(
                "{} events were counted but not kept, to spare memory; a stop ends the run earlier",
                self.events.left_out()
            ));
        }
        notes
    }

    /// Why none of the events ended the run that were to end it, and what to try, for each of them; nothing if one did.
    pub fn not_reached(&self) -> Vec<String> {
        let Outcome::NotReached { .. } = self.outcome else { return Vec::new() };
        let awaited = |tally: &Tally<f64>| tally.stop.map(|stop| self.missed(tally, stop));
        self.events.tallies.iter().filter_map(awaited).collect()
    }

    /// That an event did not happen as often as it was to, and what to try.
    fn missed(&self, tally: &Tally<f64>, stop: u64) -> String {
        let (name, often, count) = (&tally.name, times(stop), times(tally.count));
        let Summary { t_end: end, steps, step, .. } = self.summary;
        let advice = match tally.count {
            0 if tally.nearest().is_some_and(|nearest| nearest.value == 0.0) => {
                "try a later end: whether its sign changes there is not known yet".to_owned()
            }
            0 => "try a later end or the other direction, or look at its formula as an output".to_owned(),
            happened => {
                let missing = (stop - happened) as f64 / happened as f64;
                let needed = end + steps as f64 * step * missing;
                format!("try a later end; if it goes on as often, t = {needed:.3} will do")
            }
        };
        format!(
            "the run ended at t = {} before `{name}` happened {often}: it happened {count}{}\n  {advice}",
            number(end),
            nearest(tally)
        )
    }

    /// What makes the solution doubtful: outputs that were no finite numbers, and an energy that should be conserved and is not.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for (name, output) in &self.summary.outputs {
            if let Some(time) = output.not_finite_at {
                warnings.push(format!(
                    "the output `{name}` is not a finite number at t = {}\n  \
                     look for a division by zero, or a root or logarithm of a negative number, in its formula",
                    number(time)
                ));
            }
        }
        let energy = &self.summary.energy;
        let what = if energy.conserved { "energy error" } else { "error of the energy balance" };
        // the step is too large, even if every step was solved; an error that is no number is one too
        if exceeds(energy.max_error, DOUBTFUL.max(energy.rounding)) {
            let verdict = if !energy.conserved {
                "the motion, or the work of what drives it, is not resolved"
            } else if energy.max_error <= LARGE {
                "positions are probably wrong"
            } else {
                "this is not the motion of the system"
            };
            warnings.push(format!(
                "the {what} is {} of the energy scale of the motion: {verdict}\n  \
                 try a smaller step, a method of higher order, or a tolerance of 1e-8",
                percent(energy.max_error)
            ));
        }
        if let Some(StepError { coordinate, error }) = &self.summary.resolution
            && exceeds(*error, UNRESOLVED)
        {
            warnings.push(format!(
                "the step is too large for the motion of `{coordinate}`: one step and its two halves differ by {} of its range\n  \
                 try a smaller step, or a tolerance of 1e-8 without a step",
                percent(*error)
            ));
        }
        if let Some(StepError { coordinate, error }) = &self.summary.accuracy
            && exceeds(*error, LARGE)
        {
            warnings.push(format!(
                "the end of the run is not known: with half the step `{coordinate}` ends elsewhere by {} of its range\n  \
                 the motion is chaotic, or the step too large for something on its way; try a smaller step",
                percent(*error)
            ));
        }
        warnings
    }
}

impl<R> Tally<R> {
    /// That a formula changed its sign without a zero.
    fn jumped(&self) -> Option<String> {
        let t = self.first_jump?;
        Some(format!(
            "the formula of `{}` changed its sign without a zero {}, first at t = {}: a jump or a pole is no event\n  \
             try a formula that is continuous there, such as sin(x) for an angle x, or x for sign(x)",
            self.name,
            times(self.jumps),
            number(t)
        ))
    }

    /// That a formula bent too much.
    fn unresolved(&self) -> Option<String> {
        (self.unresolved > 0).then(|| {
            format!(
                "the formula of `{}` changes too fast in {} of the steps to see all of its zeros\n  try a smaller step",
                self.name, self.unresolved
            )
        })
    }
}

impl Summary {
    /// The tolerance and the energy error of a run that did not keep to it.
    pub fn exceeded(&self) -> Option<(f64, f64)> {
        let (tolerance, error) = (self.tolerance?, self.energy.max_error);
        // an error that is no number exceeds every tolerance
        exceeds(error, tolerance).then_some((tolerance, error))
    }
}

/// How near an event was that never happened.
fn nearest(tally: &Tally<f64>) -> String {
    tally.nearest().map_or_else(String::new, |Nearest { value, t }| {
        format!("; its formula came nearest to zero at t = {}, where it is {value:.3e}", number(t))
    })
}

/// A part as a percentage that people can read.
fn percent(part: f64) -> String {
    match 100.0 * part {
        percent if percent < 0.1 => format!("{part:.1e}"),
        percent if percent < 10.0 => format!("{percent:.1} %"),
        percent if percent < 1e4 => format!("{percent:.0} %"),
        _ => format!("{part:.1e} times"),
    }
}

fn times(count: u64) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        _ => format!("{count} times"),
    }
}
