//! A whole run as data: the same in a TOML file, in flags and in the outputs.
//!
//! [`Run`] says what is wanted, with formulas and defaults left open; [`Run::plan`] checks it and fills them in. How a run is
//! written in a file, and how system files and run files go together, is in `file`.

use super::ensemble::Ensemble;
use super::file::{Definition, RunFile};
use super::numbers::Numbers;
use super::{Event, Interval, Plan, Solution};
use crate::error::{Error, Result};
use crate::expr::Backend;
use crate::system::{Quantity, Settings, Start, System, catalogue};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A description of a run. What is not given is the system's default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "RunFile", into = "RunFile")]
pub struct Run {
    /// Name of the system.
    pub system: String,
    /// The text that defines the system, if it is not one of the catalogue.
    pub definition: Option<Definition>,
    /// Name of the method.
    pub method: Option<String>,
    /// Step size.
    pub step: Option<Quantity>,
    /// The relative error of the energy that is wanted. Without a step, `analysis::pick` finds one that keeps to it, and unless
    /// there is a method, that too.
    pub tolerance: Option<Quantity>,
    /// End time.
    pub until: Option<Quantity>,
    /// Compute with so many decimal digits; `f64` if not given.
    pub precision: Option<usize>,
    /// What runs the formulas: `native` or `interpreter`. The numbers are the same; by default machine code where there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<Backend>,
    /// Record every so many steps; by default as often as a moderate amount of memory allows.
    pub every: Option<u64>,
    /// Record so many points a step, from the step's polynomial.
    pub dense: Option<u64>,
    /// Whether the error of the final state is estimated, by the same run with half the step.
    pub accuracy: Option<bool>,
    /// Files for the recorded states. The library leaves files to its callers.
    pub out: Vec<String>,
    /// Files for times and states of events.
    pub out_events: Vec<String>,
    /// Files for pictures.
    pub plot: Vec<String>,
    /// The file for checkpoints.
    pub checkpoint: Option<String>,
    /// How often to write one.
    pub checkpoint_every: Option<Interval>,
    /// Initial state.
    pub initial: InitialState,
    /// Parameters that differ from the default.
    pub parameters: BTreeMap<String, Quantity>,
    /// Quantities to record beside the states: names and formulas of the state.
    pub outputs: IndexMap<String, Quantity>,
    /// Sign changes of formulas to be found.
    pub events: IndexMap<String, Event>,
    /// What varies, if the run is one of many.
    pub ensemble: Option<Ensemble>,
}

/// An initial state: coordinates with velocities or momenta.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialState {
    /// Time.
    pub t: Option<Quantity>,
    /// Coordinates.
    pub q: Option<Vec<Quantity>>,
    /// Velocities.
    pub v: Option<Vec<Quantity>>,
    /// Momenta.
    pub p: Option<Vec<Quantity>>,
}

impl Run {
    /// The default run of a system.
    pub fn of(system: &str) -> Self {
        Self { system: system.to_owned(), ..Self::default() }
    }

    /// The system of the run, and the run without the sizes that shaped it.
    pub fn resolve(&self) -> Result<(System, Run)> {
        let mut rest = self.clone();
        let system = match &self.definition {
            Some(definition) => {
                System::from_text(&self.system, &definition.source(&self.system), &mut rest.parameters)?
            }
            None => catalogue::sized_system(&self.system, &mut rest.parameters)?,
        };
        Ok((system, rest))
    }

    /// Checks the run, of a catalogue system or of its own definition, and fills in its defaults.
    pub fn plan(&self) -> Result<Plan> {
        let (system, rest) = self.resolve()?;
        rest.plan_for(&system)
    }

    /// Checks the run for a system given as such and fills in its defaults. The run's own system is left empty or is
    /// that system's name.
    pub fn plan_for(&self, system: &System) -> Result<Plan> {
        if !self.system.is_empty() && self.system != system.name {
            let message = format!("it is for the system `{}`, not for `{}`", self.system, system.name);
            return Err(Error::BadRun { message });
        }
        Plan::new(&self.expanded(system)?, system)
    }

    /// Plans and simulates.
    pub fn simulate(&self) -> Result<Solution> {
        self.plan()?.simulate()?.into_result()
    }

    /// Plans and simulates a system given as such.
    pub fn simulate_system(&self, system: &System) -> Result<Solution> {
        self.plan_for(system)?.simulate()?.into_result()
    }

    /// The run's numbers in `f64`, for those who look for a step.
    pub(crate) fn numbers(&self, system: &System) -> Result<Numbers<f64>> {
        Numbers::new(&self.expanded(system)?, system)
    }

    /// The run with one formula for each coordinate in its initial state.
    pub(super) fn expanded(&self, system: &System) -> Result<Self> {
        let mut run = self.clone();
        run.parameters = system.entries_of_vectors(&self.parameters)?;
        let parameters = run.parameters.clone();
        let lists = [&mut run.initial.q, &mut run.initial.v, &mut run.initial.p];
        if lists.iter().any(|list| list.is_some()) {
            let mut formulas = system.formulas(&parameters)?;
            for list in lists.into_iter().flatten() {
                *list = formulas.expand(list, system.n())?;
            }
        }
        Ok(run)
    }

    /// What the run replaces of a system's defaults.
    pub(super) fn settings(&self) -> Result<Settings> {
        let start = match (&self.initial.v, &self.initial.p) {
            (None, None) => None,
            (Some(v), None) => Some(Start::Velocities(v.clone())),
            (None, Some(p)) => Some(Start::Momenta(p.clone())),
            (Some(_), Some(_)) => return Err(Error::VelocityAndMomentum),
        };
        Ok(Settings {
            parameters: self.parameters.clone(),
            q: self.initial.q.clone(),
            start,
            t0: self.initial.t.clone(),
        })
    }
}
