//! Systems: a Lagrangian with names, parameters, an initial state and a way to be drawn.
//!
//! [`System::build`] starts a definition, [`Builder::lagrangian`] records the function and differentiates it.
//! A [`System`] has formulas; a [`Problem`] has numbers: the system with parameters and initial state filled in, in one
//! number type. [`catalogue`] holds the systems that come with the program.

mod build;
pub mod catalogue;
mod constant_mass;
mod coupling;
mod describe;
mod display;
mod expansion;
mod factors;
mod flow;
mod formulas;
mod kernels;
mod model;
mod problem;
mod quadratic;
mod quantities;
mod range;
mod replace;
mod routh;
mod separable;
pub(crate) mod starter;
mod symmetry;
pub(crate) mod text;
mod velocities;

pub use build::{Builder, Parameters};
pub use constant_mass::ConstantMass;
pub use describe::{
    ConservedFacts, CoordinateFacts, Description, GraphFacts, LagrangianFacts, Listed, MassFacts, Named,
    ParameterFacts, RunFacts,
};
pub(crate) use factors::{Turn, turn};
pub use formulas::{Formulas, Quantity};
pub use kernels::{BareEnergy, Energy, Forces, Gradient, Hamiltonian, Hessian, SecondOrder, TimeDerivative};
pub use model::{Entry, Model, Stiffness, Structure};
pub use problem::{Problem, Settings};
pub use quadratic::Quadratic;
pub use quantities::{Dictionary, Gauge, Quantities};
pub use routh::Reduced;
pub use starter::{Refusal, Starter, Variable};
pub use symmetry::{Compensated, Kind, Momentum, Sum, Symmetry};
pub use text::MAX_FILE;
pub use velocities::{Accelerations, Velocities};

use crate::error::{Diagnostic, Origin, Result};
use crate::expr::{Backend, Elsewhere, Graph, NodeId, Scope, Shared, Tape, Value};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// A coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinate {
    /// Its name.
    pub name: String,
    /// Its unit, empty if it has none.
    pub unit: String,
    /// What it is; may be empty.
    pub meaning: String,
}

/// A parameter with its default value.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its default value, which may be a formula of other parameters.
    pub value: Quantity,
    /// Its unit, empty if it has none.
    pub unit: String,
    /// What it is.
    pub meaning: String,
}

/// A whole number that shapes the system, such as a number of particles.
#[derive(Clone, Debug, PartialEq)]
pub struct Size {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: usize,
    /// What it counts.
    pub meaning: String,
}

/// How a state starts to move.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// With given velocities.
    Velocities(Vec<Quantity>),
    /// With given momenta.
    Momenta(Vec<Quantity>),
}

/// The default initial state.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial {
    /// Coordinates.
    pub q: Vec<Quantity>,
    /// Velocities or momenta.
    pub start: Start,
    /// The time at which the state is given.
    pub t: Quantity,
}

/// The default run.
#[derive(Clone, Debug, PartialEq)]
pub struct Defaults {
    /// Name of the method.
    pub method: String,
    /// Step size.
    pub step: Quantity,
    /// End time.
    pub until: Quantity,
}

/// How the bodies of a system move in space.
#[derive(Clone, Debug)]
pub struct Motion {
    /// 2 or 3.
    pub dimension: usize,
    /// Names of the bodies.
    pub bodies: Vec<String>,
    /// Rods to draw, from a body or from the origin (`None`) to a body.
    pub links: Vec<(Option<usize>, usize)>,
    /// The radius of a sphere on which everything moves.
    pub sphere: Option<Quantity>,
    /// The unit of length, empty if it has none.
    pub unit: String,
    /// Positions x, y, z of the bodies one after the other, from q.
    pub tape: Arc<Tape>,
}

/// A mechanical system.
#[derive(Clone, Debug)]
pub struct System {
    /// Its name, as typed.
    pub name: String,
    /// Its name, as printed.
    pub title: String,
    /// What it is, in a sentence or two.
    pub summary: String,
    /// Whether it is the system of this name in the catalogue, so that what is known of that holds for it.
    pub catalogued: bool,
    /// The unit of time, empty if it has none.
    pub time_unit: String,
    /// The unit of energy, empty if it has none.
    pub energy_unit: String,
    /// Whole numbers that shaped it.
    pub sizes: Vec<Size>,
    /// Coordinates.
    pub coordinates: Vec<Coordinate>,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Default initial state.
    pub initial: Initial,
    /// Default run.
    pub defaults: Defaults,
    /// How to draw it.
    pub motion: Option<Motion>,
    /// The Lagrangian and its derivatives.
    pub model: Arc<Model>,
    /// The same of the Lagrangian as it was typed, with coordinates and time that were taken out of `model` because L
    /// does not depend on them.
    pub typed: Arc<Model>,
    /// The names of a text; see [`System::scope`].
    scope: Option<Arc<Scope>>,
    /// Where the Lagrangian is written, if it was read from a text.
    pub origin: Option<Origin>,
    /// Whether its mass matrix is that of a kinetic energy, so that it must be positive definite.
    pub definite: bool,
    /// What may not be as it was meant.
    pub warnings: Vec<Diagnostic>,
    /// The formulas of its Lagrangian, if it was read from a text.
    written: Vec<Shared>,
    /// What its names stand for, for errors.
    names: Arc<Elsewhere>,
}

impl System {
    /// Starts a definition.
    pub fn build(name: &str, title: &str) -> Builder {
        Builder::new(name, title)
    }

    /// How many coordinates there are.
    pub fn n(&self) -> usize {
        self.coordinates.len()
    }

    /// The unit of a coordinate's momentum: energy times time over the coordinate's unit, angles counting as numbers.
    pub fn momentum_unit(&self, i: usize) -> String {
        if self.energy_unit.is_empty() {
            return String::new();
        }
        let action = format!("{} {}", self.energy_unit, self.time_unit).trim_end().to_owned();
        match self.coordinates[i].unit.as_str() {
            "" | "rad" => action,
            unit => format!("{action}/{unit}"),
        }
    }

    /// The names of the coordinates.
    pub fn coordinate_names(&self) -> Vec<String> {
        self.coordinates.iter().map(|c| c.name.clone()).collect()
    }

    /// What names mean in formulas, as nodes of `graph`, the model's or one that has grown from it: coordinates, velocities, time,
    /// parameters, sizes, and what a text defines. Definitions that nothing needed so far are evaluated when a formula needs them.
    pub fn scope(&self, graph: &mut Graph) -> Scope {
        if let Some(scope) = &self.scope {
            return (**scope).clone();
        }
        let mut scope = Scope::default();
        let mut set = |name: &str, node: NodeId| scope.set(name, Value::Scalar(node));
        for (i, p) in self.parameters.iter().enumerate() {
            set(&p.name, graph.parameter(i));
        }
        set("t", graph.time());
        for (i, c) in self.coordinates.iter().enumerate() {
            set(&c.name, graph.coordinate(i));
            set(&format!("v_{}", c.name), graph.velocity(i));
        }
        for size in &self.sizes {
            scope.set_whole(&size.name, size.value as i64);
        }
        scope
    }

    /// What can be read off the graph.
    pub fn structure(&self) -> &Structure {
        &self.model.structure
    }

    /// The same system with its `f64` computations run by another back end, as suits if nothing is said. An error if this machine
    /// has no machine code and it is asked for.
    pub fn with_backend(&self, backend: Option<Backend>) -> Result<Self> {
        let backend = backend.map(Backend::checked).transpose()?;
        if backend == self.model.backend {
            return Ok(self.clone());
        }
        Ok(Self { model: Arc::new(self.model.with_backend(backend)), ..self.clone() })
    }

    /// The parameters' formulas, with some of them replaced.
    pub fn formulas(&self, replaced: &BTreeMap<String, Quantity>) -> Result<Formulas> {
        if !replaced.is_empty() {
            let known: HashSet<&str> = self.parameters.iter().map(|p| p.name.as_str()).collect();
            if let Some((name, value)) = replaced.iter().find(|(name, _)| !known.contains(name.as_str())) {
                return Err(self.unknown_parameter_at(name, value));
            }
        }
        let sizes = self.sizes.iter().map(|s| (s.name.as_str(), s.value));
        Formulas::with_sizes(&self.definitions(replaced), sizes, Some(self.names.clone()))
    }

    /// The same, with parameters at some places as inputs of their tapes.
    fn formulas_with_inputs(
        &self,
        replaced: &BTreeMap<String, Quantity>,
        inputs: &[usize],
    ) -> Result<Formulas> {
        let sizes = self.sizes.iter().map(|s| (s.name.as_str(), s.value));
        Formulas::with_inputs(&self.definitions(replaced), sizes, Some(self.names.clone()), inputs)
    }

    fn definitions(&self, replaced: &BTreeMap<String, Quantity>) -> Vec<(String, Quantity)> {
        let value = |p: &Parameter| replaced.get(&p.name).unwrap_or(&p.value).clone();
        self.parameters.iter().map(|p| (p.name.clone(), value(p))).collect()
    }

    /// The system with numbers filled in.
    pub fn problem<R: crate::scalar::Real>(&self, settings: &Settings) -> Result<Problem<R>> {
        Problem::new(self, settings)
    }
}
