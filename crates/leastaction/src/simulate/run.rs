//! A whole run as data: the same in a TOML file, in flags and in the outputs.
//!
//! [`Run`] says what is wanted, with formulas and defaults left open; [`Run::plan`] checks it and fills them in.

use super::{Plan, Solution};
use crate::error::{Error, Result};
use crate::expr::Backend;
use crate::system::{Quantity, Settings, Start, System, catalogue};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A description of a run. What is not given is the system's default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Name of the system.
    pub system: String,
    /// Name of the method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Step size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Quantity>,
    /// End time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Quantity>,
    /// Compute with so many decimal digits; `f64` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<usize>,
    /// What runs the formulas: `native` or `interpreter`. The numbers are the same; by default machine code where there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<Backend>,
    /// Record every so many steps; by default as often as a moderate amount of memory allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// Record so many points a step, from the step's polynomial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dense: Option<u64>,
    /// Files for the recorded states. The library leaves files to its callers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub out: Vec<String>,
    /// Files for pictures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plot: Vec<String>,
    /// Initial state.
    #[serde(default, skip_serializing_if = "InitialState::is_default")]
    pub initial: InitialState,
    /// Parameters that differ from the default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Quantity>,
}

/// An initial state: coordinates with velocities or momenta.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InitialState {
    /// Time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t: Option<Quantity>,
    /// Coordinates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<Vec<Quantity>>,
    /// Velocities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub v: Option<Vec<Quantity>>,
    /// Momenta.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<Vec<Quantity>>,
}

impl InitialState {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Run {
    /// The default run of a system.
    pub fn of(system: &str) -> Self {
        Self { system: system.to_owned(), ..Self::default() }
    }

    /// Reads a run from TOML. Unknown keys are errors.
    pub fn from_toml(text: &str) -> Result<Self> {
        toml::from_str(text)
            .map_err(|error| Error::BadRun { message: error.to_string().trim_end().to_owned() })
    }

    /// Writes the run as TOML.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|error| Error::BadRun { message: error.to_string() })
    }

    /// Checks the run of a catalogue system and fills in its defaults.
    pub fn plan(&self) -> Result<Plan> {
        let mut rest = self.clone();
        let system = catalogue::sized_system(&self.system, &mut rest.parameters)?;
        rest.plan_for(&system)
    }

    /// Checks the run for a system given as such and fills in its defaults. The run's own system is left empty or is
    /// that system's name.
    pub fn plan_for(&self, system: &System) -> Result<Plan> {
        if !self.system.is_empty() && self.system != system.name {
            let message = format!("it is for the system `{}`, not for `{}`", self.system, system.name);
            return Err(Error::BadRun { message });
        }
        Plan::new(self, system)
    }

    /// Plans and simulates a catalogue system.
    pub fn simulate(&self) -> Result<Solution> {
        self.plan()?.simulate()?.into_result()
    }

    /// Plans and simulates a system given as such.
    pub fn simulate_system(&self, system: &System) -> Result<Solution> {
        self.plan_for(system)?.simulate()?.into_result()
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
            t0: self.initial.t.clone().unwrap_or(Quantity::Number(0.0)),
        })
    }
}
