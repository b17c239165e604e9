//! What comes out of a run.

use super::report::{EventSummary, FailureSummary, OutputSummary};
use super::{Crossings, Invariants, Outcome, Plan, Recording, Resolution, Run};
use crate::error::{Error, Result, number};
use crate::expr::Backend;
use crate::scalar::Real;
use crate::step::State;
use indexmap::IndexMap;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The result of a run, complete or not.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The run it is the result of, every default filled in.
    pub run: Run,
    /// How it ended.
    pub outcome: Outcome,
    /// The numbers that matter.
    pub summary: Summary,
    /// Recorded states.
    pub recording: Recording,
    /// Events that were found.
    pub events: Crossings<f64>,
}

impl Solution {
    /// The solution if the run was completed or interrupted, the failure otherwise.
    pub fn into_result(self) -> Result<Self> {
        match self.outcome {
            Outcome::Failed(failure) => Err(Error::Failed(failure)),
            _ => Ok(self),
        }
    }
}

/// The numbers that matter.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of the system.
    pub system: String,
    /// Name of the method.
    pub method: String,
    /// Its order.
    pub order: usize,
    /// Step size.
    pub step: f64,
    /// The energy error that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Steps taken.
    pub steps: u64,
    /// The time reached.
    pub t_end: f64,
    /// Coordinates then.
    pub q: Vec<f64>,
    /// Momenta then.
    pub p: Vec<f64>,
    /// The energy over the run.
    pub energy: EnergySummary,
    /// What one step gets wrong, of those that were compared with their two halves, and in which coordinate.
    pub resolution: Option<StepError>,
    /// The estimated error of the final state, and the coordinate where it is largest; where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<StepError>,
    /// Largest change of each conserved momentum: by the name of its coordinate, or by its own such as `total p_x`.
    pub momenta: BTreeMap<String, f64>,
    /// How the step equations were solved.
    pub newton: NewtonSummary,
    /// Seconds the run took.
    pub wall_seconds: f64,
    /// What ran the formulas.
    pub backend: Backend,
    /// `done`, `stopped` (by an event), `interrupted` or `failed`.
    pub outcome: &'static str,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureSummary>,
    /// The outputs over the run.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub outputs: IndexMap<String, OutputSummary>,
    /// The events of the run.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub events: IndexMap<String, EventSummary>,
    /// The end with all its digits, if more were asked for than an `f64` has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digits: Option<DigitsSummary>,
    #[serde(skip)]
    units: Units,
}

#[derive(Clone, Debug)]
struct Units {
    title: String,
    names: Vec<String>,
    time: String,
    wanted_steps: u64,
    /// Conserved momenta: name, largest change, size of the terms.
    momenta: Vec<(String, f64, f64)>,
}

/// Numbers with more digits than an `f64` has, as decimals.
#[derive(Clone, Debug, Serialize)]
pub struct DigitsSummary {
    /// How many digits were asked for.
    pub precision: usize,
    /// Coordinates at the end.
    pub q: Vec<String>,
    /// Momenta at the end.
    pub p: Vec<String>,
    /// The energy at the start.
    pub energy_initial: String,
    /// The energy at the end.
    pub energy_final: String,
    /// Outputs at the end.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub outputs: IndexMap<String, String>,
    /// The times of events, the first thousand of each.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub events: IndexMap<String, Vec<String>>,
}

/// The energy over a run.
#[derive(Clone, Debug, Serialize)]
pub struct EnergySummary {
    /// At the start.
    pub initial: f64,
    /// At the end.
    pub r#final: f64,
    /// The largest |E − E0 − W|/scale over every step, as the papers print it; W is the work below.
    pub max_relative_error: f64,
    /// What that error is relative to: |E0|, or the largest kinetic energy of the run if E0 is as good as zero.
    pub scale: f64,
    /// The largest |E − E0 − W| over every step, relative to the energy scale of the motion: what tolerances and warnings judge.
    pub max_error: f64,
    /// The energy scale of the motion: the mean kinetic energy of its states.
    pub energy_scale: f64,
    /// How much of that error may be rounding of the energy's terms, which may cancel.
    pub rounding: f64,
    /// Whether the Lagrangian conserves it.
    pub conserved: bool,
    /// The work W = −∫ ∂L/∂t dt of a Lagrangian that depends on time.
    pub work: f64,
}

impl EnergySummary {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (initial, error) = (number(self.initial), self.max_relative_error);
        if self.conserved {
            writeln!(f, "  energy     {initial} at the start, largest relative error {error:.6e}")?;
        } else {
            let (last, work) = (number(self.r#final), number(self.work));
            writeln!(f, "  energy     {initial} at the start, {last} at the end, work done in time {work}")?;
            writeln!(f, "  {:<10} largest relative error of the balance {error:.6e}", "")?;
        }
        if self.initial == 0.0 && self.scale == 1.0 {
            writeln!(f, "  {:<10} (absolute: there is no energy to compare with)", "")?;
        } else if self.scale != self.initial.abs() {
            writeln!(
                f,
                "  {:<10} (relative to the largest kinetic energy, {:.6e}, because the initial energy is nearly zero)",
                "", self.scale
            )?;
        }
        // rounding-sized errors have nothing to say twice
        let ratio = self.scale / self.energy_scale;
        if error > 1e-13 && !(1.0 / ALIKE..ALIKE).contains(&ratio) {
            writeln!(
                f,
                "  {:<10} {:.1e} of the energy scale of the motion, its mean kinetic energy {:.3e}",
                "", self.max_error, self.energy_scale
            )?;
        }
        Ok(())
    }
}

/// Scales of errors that differ by less than this factor are not told apart in a summary.
const ALIKE: f64 = 10.0;

/// What a step, or a run, gets wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepError {
    /// The coordinate.
    pub coordinate: String,
    /// The difference from the same with half the step, as a part of the range of the coordinate or its momentum.
    pub error: f64,
}

impl StepError {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { coordinate, error } = self;
        write!(f, "  accuracy   ")?;
        if *error <= UNKNOWN {
            writeln!(
                f,
                "final state within about {error:.0e} of the range of each coordinate, worst {coordinate}"
            )
        } else {
            writeln!(f, "none left at the end: with half the step, {coordinate} ends elsewhere")
        }
    }
}

/// A final state that is wrong by more than this part of a range is not known.
const UNKNOWN: f64 = 0.1;

/// How the step equations were solved.
#[derive(Clone, Debug, Serialize)]
pub struct NewtonSummary {
    /// Corrections per step, on average.
    pub iterations_mean: f64,
    /// Corrections in the worst step.
    pub iterations_max: u32,
}

impl Summary {
    pub(super) fn new<R: Real>(
        plan: &Plan,
        state: &State<R>,
        t_end: f64,
        invariants: &mut Invariants<R>,
        newton: NewtonSummary,
        wall_seconds: f64,
        outcome: &Outcome,
    ) -> Self {
        let system = &plan.problem.system;
        let momenta = invariants
            .momenta
            .iter()
            .map(|drift| {
                let name = drift.coordinate.map_or(&drift.name, |i| &system.coordinates[i].name);
                (name.clone(), drift.largest)
            })
            .collect();
        Self {
            system: system.name.clone(),
            method: plan.method.name.clone(),
            order: plan.method.order,
            step: plan.step,
            tolerance: plan.tolerance,
            steps: state.steps,
            t_end,
            q: state.q.iter().map(R::to_f64).collect(),
            p: state.p.iter().map(R::to_f64).collect(),
            energy: EnergySummary {
                initial: (invariants.meter.initial().clone() + invariants.meter.constant().clone()).to_f64(),
                r#final: invariants.meter.total(&invariants.last).to_f64(),
                max_relative_error: invariants.max_relative_error(),
                scale: invariants.meter.scale(),
                max_error: invariants.max_error_of_motion(),
                energy_scale: invariants.meter.energy_scale(),
                rounding: invariants.rounding_of_motion(),
                conserved: system.structure().autonomous,
                work: invariants.meter.work().to_f64(),
            },
            resolution: None,
            accuracy: None,
            momenta,
            newton,
            wall_seconds,
            backend: match plan.precision {
                None => system.model.backend_used(),
                Some(_) => Backend::Interpreter,
            },
            outcome: outcome.word(),
            failure: FailureSummary::of(outcome),
            outputs: IndexMap::new(),
            events: IndexMap::new(),
            digits: plan.precision.map(|precision| DigitsSummary::new(precision, state, invariants)),
            units: Units {
                title: system.title.clone(),
                names: system.coordinate_names(),
                time: system.time_unit.clone(),
                wanted_steps: plan.steps,
                momenta: invariants.momenta.iter().map(|d| (d.name.clone(), d.largest, d.size)).collect(),
            },
        }
    }
}

impl Summary {
    /// The same with what steps get wrong.
    pub(super) fn with_resolution<R: Real>(self, resolution: &Resolution<R>) -> Self {
        let named = |(i, error): (usize, f64)| StepError { coordinate: self.units.names[i].clone(), error };
        Self { resolution: resolution.worst().map(named), ..self }
    }

    /// The same with the error of the final state.
    pub(super) fn with_accuracy(self, accuracy: Option<StepError>) -> Self {
        Self { accuracy, ..self }
    }
}

impl DigitsSummary {
    fn new<R: Real>(precision: usize, state: &State<R>, invariants: &Invariants<R>) -> Self {
        let text = |x: &R| x.to_text(Some(precision));
        Self {
            precision,
            q: state.q.iter().map(text).collect(),
            p: state.p.iter().map(text).collect(),
            energy_initial: text(&(invariants.meter.initial().clone() + invariants.meter.constant().clone())),
            energy_final: text(&invariants.meter.total(&invariants.last)),
            outputs: IndexMap::new(),
            events: IndexMap::new(),
        }
    }
}

/// At most this many coordinates are printed.
pub(super) const MAX_COORDINATES: usize = 8;

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.units.time.is_empty() { String::new() } else { format!(" {}", self.units.time) };
        writeln!(f, "{} with {} (order {})", self.units.title, self.method, self.order)?;
        let steps = if self.outcome == "done" {
            self.steps.to_string()
        } else {
            format!("{} of {} ({})", self.steps, self.units.wanted_steps, self.outcome)
        };
        writeln!(
            f,
            "  steps      {steps}, each {}{unit}, to t = {}{unit}",
            number(self.step),
            number(self.t_end)
        )?;
        for (i, name) in self.units.names.iter().enumerate().take(MAX_COORDINATES) {
            let label = if i == 0 { "state" } else { "" };
            match &self.digits {
                None => {
                    let (q, p) = (number(self.q[i]), number(self.p[i]));
                    writeln!(f, "  {label:<10} {name} = {q:<24} p_{name} = {p}")?;
                }
                Some(digits) => {
                    writeln!(f, "  {label:<10} {name} = {}", digits.q[i])?;
                    writeln!(f, "  {:<10} p_{name} = {}", "", digits.p[i])?;
                }
            }
        }
        if self.q.len() > MAX_COORDINATES {
            writeln!(f, "  {:<10} … and {} more coordinates", "", self.q.len() - MAX_COORDINATES)?;
        }
        self.energy.write(f)?;
        if let Some(accuracy) = &self.accuracy {
            accuracy.write(f)?;
        }
        let momenta = &self.units.momenta;
        for (name, drift, size) in momenta.iter().take(MAX_COORDINATES) {
            if *drift == 0.0 {
                writeln!(f, "  momentum   {name} unchanged to the last bit")?;
            } else {
                let relative = drift / size;
                writeln!(f, "  momentum   {name} largest change {drift:.3e}, {relative:.0e} of its terms")?;
            }
        }
        if momenta.len() > MAX_COORDINATES {
            writeln!(f, "  {:<10} … and {} more conserved momenta", "", momenta.len() - MAX_COORDINATES)?;
        }
        self.write_outputs(f)?;
        self.write_events(f)?;
        if self.newton.iterations_max > 0 {
            writeln!(
                f,
                "  solver     {:.2} corrections a step on average, {} at most",
                self.newton.iterations_mean, self.newton.iterations_max
            )?;
        }
        write!(f, "  time       {}, {:.3} s", self.backend.words(), self.wall_seconds)
    }
}
