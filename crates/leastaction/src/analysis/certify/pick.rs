//! The method and the fixed step for a run that names a tolerance instead.
//!
//! A short look with small steps says how fast the motion is, what its period is and how large rounding is; `search` does the rest.
//! The tolerance is the largest error of the energy, or of the energy balance where time occurs in L, at the ends of steps, relative to the energy
//! scale of the motion. A step must also resolve the motion: it may differ from its two halves by no more than the tolerance, relative to the range of
//! each coordinate and momentum.

use super::conserved::rounding;
use super::search::{Search, methods, methods_abreast};
use super::spectrum::known;
use super::terrain::Terrain;
use super::trail::Trail;
use super::{Subject, digits};
use crate::analysis::Watch;
use crate::error::{Error, Result, number};
use crate::method::Method;
use crate::simulate::numbers::count_steps;
use crate::simulate::{Outcome, Run};
use crate::step::State;
use crate::system::{Quantity, System};
use std::fmt;

/// The method of the look, its step in units of the fastest rate, the least number of steps and the work it may take.
const METHOD: &str = "gauss8";
const TURN: f64 = 0.5;
const LEAST: f64 = 64.0;
const WORK: f64 = 1e7;
/// Rates are measured at so many states.
const STATES: usize = 24;
/// The look is repeated with smaller steps so often if the motion turns out to be faster.
const LOOKS: usize = 8;
/// So many methods look at more than the first part of the run, and none that costs more than so many times the best.
const SHORTLIST: usize = 4;
const INTEREST: f64 = 1.25;

/// What was picked for a run.
#[derive(Clone, Debug)]
pub struct Picked {
    /// The run with its method and step.
    pub run: Run,
    /// The method.
    pub method: String,
    /// The step.
    pub step: f64,
    /// Steps to the end of the run.
    pub steps: u64,
    /// The tolerance.
    pub tolerance: f64,
    /// The error that was measured with them, and of what.
    pub error: f64,
    /// What the error is of.
    pub measure: Measure,
    /// Up to which time.
    pub measured_until: f64,
    /// Whether that is the end.
    pub whole: bool,
    /// How many runs were tried.
    pub tried: usize,
    /// The energy scale of the motion looked at: errors of the energy are parts of it.
    pub energy_scale: f64,
    /// When the run starts.
    pub run_start: f64,
}

impl Picked {
    /// Makes the step smaller by a factor, so that a whole number of steps fills the time.
    pub(super) fn shrink(&mut self, factor: f64) {
        let length = self.step * self.steps as f64;
        let steps = (self.steps as f64 / factor).ceil();
        (self.step, self.steps) = (length / steps, steps as u64);
        self.run.step = Some(Quantity::Number(self.step));
    }
}

/// What the error of a picked run is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The energy.
    Energy,
    /// The energy balance, because time occurs in the Lagrangian.
    Balance,
    /// A step against its two halves, because the energy error is smaller.
    Step,
}

impl fmt::Display for Picked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.measure {
            Measure::Energy => "energy error",
            Measure::Balance => "error of the energy balance",
            Measure::Step => "error of a step",
        };
        write!(
            f,
            "picked {}, step {} ({} steps): {what} {:.1e} measured up to t = {}, {} methods and steps tried",
            self.method,
            digits(self.step),
            self.steps,
            self.error,
            digits(self.measured_until),
            self.tried
        )
    }
}

/// Picks the step, and unless the run has one the method, for the tolerance of a run. Nothing if it has a step or no tolerance.
pub fn pick(run: &Run, watch: Watch<'_>) -> Result<Option<Picked>> {
    if run.tolerance.is_none() || run.step.is_some() {
        return Ok(None);
    }
    let (system, rest) = run.resolve()?;
    let Some(mut picked) = pick_for(&rest, &system, watch)? else { return Ok(None) };
    picked.run = Run { method: picked.run.method, step: picked.run.step, ..run.clone() };
    Ok(Some(picked))
}

/// The same for a system given as such.
pub fn pick_for(run: &Run, system: &System, watch: Watch<'_>) -> Result<Option<Picked>> {
    if run.tolerance.is_none() || run.step.is_some() {
        return Ok(None);
    }
    if let Some(digits) = run.precision {
        let message = format!(
            "a step for a tolerance is looked for with 64-bit numbers, and precision = {digits} asks for more\n  \
             give method and step; `leastaction converge` shows which are good for how many digits"
        );
        return Err(Error::BadRun { message });
    }
    let mut numbers = run.numbers(system)?;
    let Some(target) = numbers.tolerance(run)? else { return Ok(None) };
    let until = numbers.until(run.until.as_ref())?;
    let (t0, length) = (numbers.problem.t0, until - numbers.problem.t0);
    let end = run.until.as_ref().unwrap_or(&system.defaults.until);
    if length == 0.0 {
        let message = format!("the run ends where it starts, at t = {t0}\n  try a larger until");
        return Err(end.locate(Error::BadRun { message }));
    }
    count_steps(length, length.abs() / LEAST, until).map_err(|error| end.locate(error))?;
    let abreast = match (&run.ensemble, &run.method) {
        (Some(_), None) if run.events.is_empty() => methods_abreast(&numbers.problem),
        _ => None,
    };
    let is_abreast = abreast.is_some();
    let methods = match &run.method {
        Some(name) => vec![Method::for_system(name, system)?],
        None => abreast.unwrap_or_else(|| methods(system)),
    };
    let sight = look(run, system, length, watch)?;
    let search = Search {
        problem: &numbers.problem,
        watch,
        target,
        length,
        fastest: sight.fastest,
        rounding: sight.rounding,
        period: sight.period,
        tolerant: true,
        abreast: is_abreast,
        interest: INTEREST,
        trials: 0.into(),
    };
    let found = search.among(&methods, SHORTLIST);
    let Some(best) = found.best() else { return Err(unsolved(target)) };
    Ok(Some(Picked {
        run: Run {
            method: Some(best.method.name.clone()),
            step: Some(Quantity::Number(best.step)),
            ..run.clone()
        },
        method: best.method.name.clone(),
        step: best.step,
        steps: best.whole,
        tolerance: target,
        error: best.error,
        measure: match system.structure().autonomous {
            _ if best.error > best.energy_error => Measure::Step,
            false => Measure::Balance,
            true => Measure::Energy,
        },
        measured_until: t0 + best.steps as f64 * best.step,
        whole: best.steps == best.whole,
        tried: search.trials.into_inner(),
        energy_scale: best.energy_scale,
        run_start: t0,
    }))
}

/// What a short look shows.
struct Sight {
    fastest: f64,
    rounding: f64,
    period: Option<f64>,
}

/// Looks at the beginning of a run with steps that are small beside its fastest motion.
fn look(run: &Run, system: &System, length: f64, watch: Watch<'_>) -> Result<Sight> {
    let plan = |step: f64| {
        // a whole number of steps
        let step = length / (length / step).ceil();
        let (method, step) = (Some(METHOD.to_owned()), Some(Quantity::Number(step)));
        Run { method, step, tolerance: None, every: Some(0), dense: None, ensemble: None, ..run.clone() }
            .plan_for(system)
    };
    let mut step = length / LEAST;
    let start = plan(step)?;
    let subject = Subject { plan: &start, watch };
    let rate = Terrain::rates(&subject, &[State::new(&start.problem)]).to_resolve();
    step = smaller(step, rate);
    for _ in 0..LOOKS {
        let plan = plan(step)?;
        let subject = Subject { plan: &plan, watch };
        let steps = plan.steps.min(subject.affordable(&plan.method, WORK));
        let trail = Trail::new(&subject, steps);
        let states: Vec<State<f64>> = trail.some(STATES).into_iter().cloned().collect();
        let fastest = Terrain::rates(&subject, &states).to_resolve();
        let failed = matches!(trail.outcome, Outcome::Failed(_));
        if failed || fastest * step > 2.0 * TURN {
            step = smaller(0.5 * step, fastest);
            continue;
        }
        let (rounding, period) = (rounding(&subject, &trail), known(&subject, &trail));
        return Ok(Sight { fastest, rounding, period });
    }
    let message = format!(
        "the tolerance needs a step, and none was found: not even steps of {} can be solved\n  \
         `leastaction certify` says more; other coordinates may help",
        number(step)
    );
    Err(Error::BadRun { message })
}

/// A step that is small beside a rate.
fn smaller(step: f64, rate: f64) -> f64 {
    if rate > 0.0 { step.min(TURN / rate) } else { step }
}

/// Why there is nothing to pick.
fn unsolved(target: f64) -> Error {
    let message = format!(
        "no method and step for a tolerance of {target:e}: no step of any method could be solved\n  \
         `leastaction certify` says more"
    );
    Error::BadRun { message }
}
