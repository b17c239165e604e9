//! Systems: a Lagrangian with names, parameters, an initial state and a way to be drawn.
//!
//! [`System::build`] starts a definition, [`Builder::lagrangian`] records the function and differentiates it.
//! A [`System`] has formulas; a [`Problem`] has numbers: the system with parameters and initial state filled in, in one
//! number type. [`catalogue`] holds the systems that come with the program.

mod build;
pub mod catalogue;
mod describe;
mod display;
mod formulas;
mod kernels;
mod model;
mod problem;
mod quadratic;
mod quantities;
mod symmetry;
pub(crate) mod text;
mod velocities;

pub use build::{Builder, Parameters};
pub use describe::{
    ConservedFacts, CoordinateFacts, Description, GraphFacts, LagrangianFacts, Listed, MassFacts, Named,
    ParameterFacts, RunFacts,
};
pub use formulas::{Formulas, Quantity};
pub use kernels::{Energy, Gradient, Hessian, SecondOrder};
pub use model::{Entry, Model, Structure};
pub use problem::{Problem, Settings};
pub use quadratic::Quadratic;
pub use quantities::{Dictionary, Gauge, Quantities};
pub use symmetry::{Compensated, Kind, Momentum, Sum, Symmetry};
pub use text::MAX_FILE;
pub use velocities::{Accelerations, Velocities};

use crate::error::{Diagnostic, Error, Origin, Result, nearest};
use crate::expr::{Backend, Elsewhere, Graph, NodeId, Role, Scope, Shared, Tape, Value};
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
        let definitions: Vec<(String, Quantity)> = self
            .parameters
            .iter()
            .map(|p| (p.name.clone(), replaced.get(&p.name).unwrap_or(&p.value).clone()))
            .collect();
        let sizes = self.sizes.iter().map(|s| (s.name.as_str(), s.value));
        Formulas::with_sizes(&definitions, sizes, Some(self.names.clone()))
    }

    /// The error for a parameter that does not exist.
    pub(crate) fn unknown_parameter(&self, name: &str) -> Error {
        let known: Vec<&str> = self
            .sizes
            .iter()
            .map(|s| s.name.as_str())
            .chain(self.parameters.iter().map(|p| p.name.as_str()))
            .collect();
        Error::UnknownParameter {
            system: self.name.clone(),
            name: name.to_owned(),
            hint: nearest(name, known.iter().copied()),
            known: match known.as_slice() {
                [] => "none".to_owned(),
                [first @ .., _] if first.len() >= 40 => format!("{}, …", first[..40].join(", ")),
                all => all.join(", "),
            },
        }
    }

    /// The same at the place where its value is written.
    fn unknown_parameter_at(&self, name: &str, value: &Quantity) -> Error {
        let error = self.unknown_parameter(name);
        let (Some(origin), Error::UnknownParameter { system, hint, known, .. }) = (value.origin(), &error)
        else {
            return error;
        };
        let bare = name.split('[').next().unwrap_or(name);
        let entries =
            self.parameters.iter().filter(|p| formulas::entry_name(&p.name).is_some_and(|(v, _)| v == bare));
        let (count, single) = (entries.count(), self.parameters.iter().any(|p| p.name == bare));
        // the name stands before its value: `mm = 3`, `--set mm=3`
        let value = origin.whole();
        let before = origin.source().text.get(..value.start).unwrap_or("");
        let line = before.rfind(bare).filter(|at| !bare.is_empty() && before[*at..].contains('='));
        let place = line.map_or(value, |at| at..at + bare.len());
        let error = match (count, single) {
            (1.., _) if bare == name => Diagnostic::new(
                origin.source(),
                origin.whole(),
                format!("the parameter `{bare}` is a vector of {count} entries, but one number is given"),
            )
            .help(format!("give all entries, {bare} = [a, b, …], or one of them, {bare}[1]")),
            (1.., _) => Diagnostic::new(
                origin.source(),
                place,
                format!("the parameter `{bare}` has no entry `{name}`; its entries are 1 to {count}"),
            ),
            (0, true) => Diagnostic::new(
                origin.source(),
                place,
                format!("the parameter `{bare}` is a number, not a vector"),
            )
            .help(format!("give one number: {bare} = 1")),
            _ => {
                let title = match self.names.get(name) {
                    Some(Role::Coordinate) => {
                        format!(
                            "`{name}` is a coordinate of `{system}`, not a parameter; its initial value is given by q"
                        )
                    }
                    Some(Role::Definition) => {
                        format!("`{name}` is a definition of `{system}`, not a parameter")
                    }
                    _ => format!("system `{system}` has no parameter `{name}`{hint}"),
                };
                Diagnostic::new(origin.source(), place, title).note(format!("its parameters: {known}"))
            }
        };
        error.into()
    }

    /// Parameters with the vectors among them taken apart: `b = [1, 2]` is `b[1] = 1` and `b[2] = 2`.
    pub(crate) fn entries_of_vectors(
        &self,
        replaced: &BTreeMap<String, Quantity>,
    ) -> Result<BTreeMap<String, Quantity>> {
        let is_entry = |name: &str| {
            self.parameters
                .iter()
                .any(|p| formulas::entry_name(&p.name).is_some_and(|(vector, _)| vector == name))
        };
        let single = |name: &str| self.parameters.iter().any(|p| p.name == name);
        let mut all = replaced.clone();
        for (name, value) in replaced.iter().filter(|(name, _)| !single(name) && is_entry(name)) {
            let others = replaced.iter().filter(|(name, _)| single(name));
            let others = others.map(|(name, value)| (name.clone(), value.clone())).collect();
            let Some(entries) = self.formulas(&others)?.entries(value)? else { continue };
            let count = self
                .parameters
                .iter()
                .filter(|p| formulas::entry_name(&p.name).is_some_and(|(v, _)| v == name))
                .count();
            if entries.len() != count {
                let message =
                    format!("the parameter `{name}` has {count} entries, but {} are given", entries.len());
                return Err(value.locate(Error::BadSystem { system: self.name.clone(), message }));
            }
            all.remove(name);
            all.extend(
                entries.into_iter().enumerate().map(|(i, entry)| (format!("{name}[{}]", i + 1), entry)),
            );
        }
        Ok(all)
    }

    /// The system with numbers filled in.
    pub fn problem<R: crate::scalar::Real>(&self, settings: &Settings) -> Result<Problem<R>> {
        Problem::new(self, settings)
    }
}
