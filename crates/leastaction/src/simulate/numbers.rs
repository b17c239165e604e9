//! The numbers of a run in one number type: its formulas evaluated, its steps counted.

use super::Run;
use crate::error::{Error, Result};
use crate::exact;
use crate::scalar::{Field, Real};
use crate::system::{Formulas, Problem, Quantity, System};

/// The most digits that can be asked for.
pub const MAX_DIGITS: usize = 200;

/// Runs a block with `$R` the number type for so many digits: `f64` for `None`.
macro_rules! in_precision {
    ($digits:expr, $R:ident => $body:expr) => {
        match $digits.map($crate::scalar::limbs_for) {
            None => {
                type $R = f64;
                $body
            }
            Some(0..=4) => {
                type $R = $crate::scalar::Digits<4>;
                $body
            }
            Some(_) => {
                type $R = $crate::scalar::Digits<12>;
                $body
            }
        }
    };
}

pub(crate) use in_precision;

/// A run's problem, and what its steps and times are made of.
pub(crate) struct Numbers<R> {
    pub(crate) problem: Problem<R>,
    pub(crate) period: Option<R>,
    formulas: Formulas,
}

impl<R: Real> Numbers<R> {
    pub(crate) fn new(run: &Run, system: &System) -> Result<Self> {
        if let Some(digits) = run.precision
            && !(1..=MAX_DIGITS).contains(&digits)
        {
            let message = format!("precision = {digits} digits; give a number from 1 to {MAX_DIGITS}");
            return Err(Error::BadRun { message });
        }
        let system = match run.backend {
            None => system,
            some => &system.with_backend(some)?,
        };
        let settings = run.settings()?;
        let problem: Problem<R> = system.problem(&settings)?;
        let period = exact::period(&problem);
        let mut formulas = system.formulas(&settings.parameters)?;
        if let Some(period) = &period {
            formulas.add("period", period);
        }
        Ok(Self { problem, period, formulas })
    }

    /// A step size, or the system's own.
    pub(crate) fn step(&mut self, step: Option<&Quantity>) -> Result<R> {
        let usual = self.problem.system.defaults.step.clone();
        let quantity = step.unwrap_or(&usual);
        let step: R = self.formulas.value("the step", quantity)?;
        if step.to_f64() <= 0.0 {
            let usual = self.formulas.value("the default step", &usual).map_or(0.0, |x: R| x.to_f64());
            let try_step = if usual > 0.0 { usual.to_string() } else { "a positive one".to_owned() };
            return Err(quantity.locate(Error::BadStep { step: step.to_f64(), try_step }));
        }
        Ok(step)
    }

    /// Any other number.
    pub(crate) fn value(&mut self, what: &str, quantity: &Quantity) -> Result<R> {
        self.formulas.value(what, quantity)
    }

    /// The tolerance of a run, if it has one.
    pub(crate) fn tolerance(&mut self, run: &Run) -> Result<Option<f64>> {
        let Some(quantity) = &run.tolerance else { return Ok(None) };
        let value = self.formulas.value::<R>("the tolerance", quantity)?.to_f64();
        if !(value > 0.0 && value < 1.0) {
            return Err(quantity.locate(Error::BadTolerance { tolerance: value }));
        }
        // below that only rounding is left, whatever the step
        let rounding = in_precision!(run.precision, R => R::epsilon());
        if value < rounding {
            return Err(quantity.locate(Error::TinyTolerance { tolerance: value, rounding }));
        }
        Ok(Some(value))
    }

    /// An end time, or the system's own.
    pub(crate) fn until(&mut self, until: Option<&Quantity>) -> Result<R> {
        let default = self.problem.system.defaults.until.clone();
        self.formulas.value("until", until.unwrap_or(&default))
    }
}

/// How many steps fit into a length, and whether they fill it.
pub(crate) fn count_steps(length: f64, step: f64, until: f64) -> Result<(u64, bool)> {
    let ratio = length / step;
    if ratio > 9e15 {
        return Err(Error::TooManySteps { steps: ratio });
    }
    // the ends of steps must be different times
    let start = until - length;
    let far = if until.abs() > start.abs() { until } else { start };
    let apart = far.abs() * f64::EPSILON;
    if step.abs() < 2.0 * apart {
        let message = format!(
            "times near t = {far:e} are numbers {apart:.0e} apart, and the step is {step}\n  \
             count time from a start nearer to zero, or take larger steps"
        );
        return Err(Error::BadRun { message });
    }
    let nearest = ratio.round();
    // formulas such as 5*period over period/200 leave a rounding error
    let whole = (ratio - nearest).abs() <= (1e-9 * nearest.max(1.0)).min(1e-3);
    let steps = if whole { nearest } else { ratio.floor() };
    if steps < 1.0 {
        return Err(Error::BadUntil { until, step });
    }
    Ok((steps as u64, whole))
}

/// The distance from 1 to the next number with so many digits.
pub(crate) fn epsilon(digits: Option<usize>) -> f64 {
    use crate::scalar::Field;
    in_precision!(digits, R => R::epsilon())
}
