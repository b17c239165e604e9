//! Errors against steps, as data: what is to be found out, and what was found.
//!
//! A [`Study`] names a system, methods, steps, end times and measures; [`Findings`] hold a number for each combination, also for
//! runs that failed or were not reached. Between the two stands [`Studies`](super::Studies).

use super::measure::Measure;
use super::order::fitted_order;
use super::truth::Reference;
use crate::error::Result;
use crate::simulate::Run;
use crate::system::{Quantity, System};

/// Errors above so many units of rounding show the order of a method.
const CLEAR: f64 = 300.0;

/// What is to be found out.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// System, parameters, initial state and precision. Its method, step and end are not used.
    pub run: Run,
    /// Names of methods.
    pub methods: Vec<String>,
    /// Step sizes.
    pub steps: Vec<Quantity>,
    /// End times; every step size must divide them.
    pub until: Vec<Quantity>,
    /// What is measured.
    pub measures: Vec<Measure>,
    /// Against what.
    pub reference: Reference,
}

/// The step is halved so often, if nothing else is said.
const HALVINGS: u32 = 5;
/// The largest step, in default steps of the system.
const COARSEST: f64 = 8.0;

impl Study {
    /// A study of a run of a catalogue system: its method among those of order 2, 4 and 6, steps halved from about eight
    /// times its own, its end, and the errors of q, p and energy.
    pub fn of(run: &Run) -> Result<Self> {
        let (system, sized) = run.resolve()?;
        let study = Self::of_system(&sized, &system)?;
        Ok(Self { run: Run { tolerance: None, ..run.clone() }, ..study })
    }

    /// The same for a system given as such, for [`Studies::of_system`](super::Studies::of_system).
    pub fn of_system(run: &Run, system: &System) -> Result<Self> {
        // steps are what is varied, so a tolerance says nothing
        let run = &Run { tolerance: None, ..run.clone() };
        let plan = Run { precision: None, every: Some(0), ..run.clone() }.plan_for(system)?;
        let until = run.until.clone().unwrap_or_else(|| system.defaults.until.clone());
        let mut methods: Vec<String> = ["midpoint", "simpson", "lobatto"].map(str::to_owned).into();
        if !methods.contains(&plan.method.name) {
            methods.insert(0, plan.method.name.clone());
        }
        let start = run.initial.t.clone().unwrap_or_else(|| system.initial.t.clone());
        let steps = Self::halved(&start, &until, round_count(plan.steps as f64 / COARSEST), HALVINGS);
        let measures = ["q", "p", "energy"].map(Measure::of).into();
        Ok(Self {
            run: run.clone(),
            methods,
            steps,
            until: vec![until],
            measures,
            reference: Reference::Auto,
        })
    }

    /// The time from start to end in so many steps, and in twice, four times, … as many.
    pub fn halved(start: &Quantity, until: &Quantity, steps: u64, halvings: u32) -> Vec<Quantity> {
        let count = |k: u32| steps.max(1).saturating_mul(1 << k.min(60));
        (0..=halvings).map(|k| Quantity::Formula(format!("(({until})-({start}))/{}", count(k)))).collect()
    }
}

/// The next number of steps that divides most times into short decimals.
fn round_count(steps: f64) -> u64 {
    const ROUND: [f64; 8] = [10.0, 16.0, 20.0, 25.0, 32.0, 40.0, 50.0, 80.0];
    // a tenth of the largest power of ten that is not larger
    let mut scale = 0.1;
    while 100.0 * scale <= steps {
        scale *= 10.0;
    }
    let nice = ROUND.iter().map(|r| r * scale).find(|nice| *nice >= steps && nice.fract() == 0.0);
    nice.unwrap_or((steps.max(1.0) / scale / 100.0).ceil() * 100.0 * scale).ceil() as u64
}

/// What was found out.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Step sizes.
    pub steps: Vec<f64>,
    /// End times.
    pub until: Vec<f64>,
    /// The unit of both.
    pub time_unit: String,
    /// What was compared with, in words.
    pub reference: String,
    /// By method, measure, end time and step.
    pub(super) cells: Vec<Finding>,
    pub(super) counts: [usize; 4],
}

/// One number of a study.
#[derive(Clone, Debug)]
pub enum Finding {
    /// The run reached the end time.
    Value {
        /// The error.
        value: f64,
        /// The error as a decimal, where more digits were asked for than an `f64` has.
        digits: Option<String>,
        /// An error of this size is a unit of rounding.
        unit: f64,
    },
    /// The run failed before; why.
    Failed(String),
    /// The run was not made or not finished.
    Missing,
}

impl Finding {
    /// The error, NaN if there is none.
    pub fn value(&self) -> f64 {
        match self {
            Self::Value { value, .. } => *value,
            _ => f64::NAN,
        }
    }
}

impl Finding {
    /// Whether the error stands clear of rounding.
    pub fn is_clear(&self) -> bool {
        matches!(self, Self::Value { value, unit, .. } if *value > CLEAR * unit)
    }
}

impl Findings {
    /// One number.
    pub fn cell(&self, method: usize, measure: usize, until: usize, step: usize) -> &Finding {
        &self.cells[self.index([method, measure, until, step])]
    }

    /// The errors of all steps.
    pub fn row(&self, method: usize, measure: usize, until: usize) -> &[Finding] {
        let first = self.index([method, measure, until, 0]);
        &self.cells[first..first + self.counts[3]]
    }

    /// Pairs of step and error, for the order.
    pub fn points(&self, method: usize, measure: usize, until: usize) -> Vec<(f64, f64)> {
        self.steps.iter().zip(self.row(method, measure, until)).map(|(h, cell)| (*h, cell.value())).collect()
    }

    /// The order that the errors show, fitted to those that stand clear of rounding.
    pub fn order(&self, method: usize, measure: usize, until: usize) -> Option<f64> {
        let cells = self.steps.iter().zip(self.row(method, measure, until));
        let cells = cells.filter(|(_, cell)| cell.is_clear());
        fitted_order(&cells.map(|(h, cell)| (*h, cell.value())).collect::<Vec<_>>(), 0.0)
    }

    fn index(&self, at: [usize; 4]) -> usize {
        at.iter().zip(&self.counts).fold(0, |index, (i, count)| index * count + i)
    }
}

impl Findings {
    /// Puts in what one task found: by measure and end time.
    pub(super) fn fill(&mut self, task: usize, column: Vec<Vec<Finding>>) {
        let (method, step) = (task / self.counts[3], task % self.counts[3]);
        for (measure, row) in column.into_iter().enumerate() {
            for (until, finding) in row.into_iter().enumerate() {
                let index = self.index([method, measure, until, step]);
                self.cells[index] = finding;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::round_count;

    #[test]
    fn default_numbers_of_steps_are_round() {
        for (steps, round) in
            [(0.3, 1), (1.0, 1), (1.5, 2), (12.5, 16), (62.5, 80), (125.0, 160), (90.0, 100)]
        {
            assert_eq!(round_count(steps), round, "{steps}");
        }
        assert_eq!(round_count(1e6), 1_000_000);
    }
}
