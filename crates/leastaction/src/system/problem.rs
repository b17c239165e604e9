//! A system with numbers: parameter values and an initial state in one number type.
//!
//! From a [`System`] and the [`Settings`] that replace its defaults, to checked numbers: counts match, everything is
//! finite, and momenta and velocities determine each other at the start.

use super::{Energy, Quantity, Start, System, Velocities};
use crate::error::{Cause, Error, Failure, Result, list_state};
use crate::scalar::Real;
use std::collections::BTreeMap;

/// What replaces the defaults of a system.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Parameters, by name.
    pub parameters: BTreeMap<String, Quantity>,
    /// Initial coordinates.
    pub q: Option<Vec<Quantity>>,
    /// Initial velocities or momenta.
    pub start: Option<Start>,
    /// The time at which the state is given.
    pub t0: Quantity,
}

impl Default for Settings {
    fn default() -> Self {
        Self { parameters: BTreeMap::new(), q: None, start: None, t0: Quantity::Number(0.0) }
    }
}

/// A system with parameter values and an initial state.
#[derive(Clone, Debug)]
pub struct Problem<R> {
    /// The system.
    pub system: System,
    /// Values of its parameters.
    pub parameters: Vec<R>,
    /// Initial time.
    pub t0: R,
    /// Initial coordinates.
    pub q0: Vec<R>,
    /// Initial velocities.
    pub v0: Vec<R>,
    /// Initial momenta.
    pub p0: Vec<R>,
}

impl<R: Real> Problem<R> {
    pub(super) fn new(system: &System, settings: &Settings) -> Result<Self> {
        let mut formulas = system.formulas(&settings.parameters)?;
        let names = system.coordinate_names();
        let parameters: Vec<Quantity> =
            system.parameters.iter().map(|p| Quantity::Formula(p.name.clone())).collect();
        let parameters =
            formulas.values(&parameters, |i| format!("parameter `{}`", system.parameters[i].name))?;

        let q = settings.q.as_ref().unwrap_or(&system.initial.q);
        let start = settings.start.as_ref().unwrap_or(&system.initial.start);
        let (letter, list) = match start {
            Start::Velocities(list) => ("v", list),
            Start::Momenta(list) => ("p", list),
        };
        for (what, list) in [("the initial q", q), (&format!("the initial {letter}"), list)] {
            if list.len() != system.n() {
                return Err(Error::WrongCount {
                    what: what.to_owned(),
                    expected: system.n(),
                    found: list.len(),
                    coordinates: shortened(&names),
                });
            }
        }
        let q0 = formulas.values(q, |i| format!("initial {}", names[i]))?;
        let given = formulas.values(list, |i| format!("initial {letter}_{}", names[i]))?;
        let t0 = formulas.value("the initial time", &settings.t0)?;
        let zeros = vec![R::zero(); system.n()];
        let (v0, p0) = match start {
            Start::Velocities(_) => (given, zeros),
            Start::Momenta(_) => (zeros, given),
        };
        let mut problem = Self { system: system.clone(), parameters, t0, q0, v0, p0 };
        problem.complete_start(matches!(start, Start::Velocities(_)))?;
        Ok(problem)
    }

    /// Fills in momenta from velocities or the reverse, and checks that each determines the other.
    fn complete_start(&mut self, from_velocities: bool) -> Result<()> {
        let mut velocities = Velocities::for_a_start(&self.system.model, &self.parameters);
        if from_velocities {
            velocities.momenta(&self.q0, &self.v0, &self.t0, &mut self.p0);
        }
        let mut v = self.v0.clone();
        let solved = velocities.velocities(&self.q0, &self.p0, &self.t0, &mut v);
        let mut energy = Energy::for_a_start(&self.system.model, &self.parameters);
        let (_, lagrangian) = energy.at(&self.q0, &v, &self.t0);
        if !lagrangian.is_finite() && !matches!(solved, Err(Cause::SingularMass { .. })) {
            let q: Vec<f64> = self.q0.iter().map(R::to_f64).collect();
            let state = list_state(&self.system.coordinate_names(), &q);
            return Err(Error::BadStart { value: lagrangian.to_f64(), state });
        }
        solved.map_err(|cause| self.failure(0, &self.t0, (&self.q0, &self.p0), cause))?;
        if !from_velocities {
            self.v0 = v;
        }
        Ok(())
    }

    /// The same problem in another number type, from the nearest `f64` of every number.
    pub fn convert<T: Real>(&self) -> Problem<T> {
        self.map(|x| T::from_f64(x.to_f64()))
    }

    /// The same problem with every number turned into another.
    pub fn map<T>(&self, number: impl Fn(&R) -> T) -> Problem<T> {
        let list = |values: &[R]| values.iter().map(&number).collect();
        Problem {
            system: self.system.clone(),
            parameters: list(&self.parameters),
            t0: number(&self.t0),
            q0: list(&self.q0),
            v0: list(&self.v0),
            p0: list(&self.p0),
        }
    }

    /// A failure of this problem at a state.
    pub fn failure(&self, step: u64, time: &R, (q, p): (&[R], &[R]), cause: Cause) -> Failure {
        Failure {
            step,
            time: time.to_f64(),
            coordinates: self.system.coordinate_names(),
            q: q.iter().map(R::to_f64).collect(),
            p: p.iter().map(R::to_f64).collect(),
            cause,
        }
    }
}

/// At most eight names.
fn shortened(names: &[String]) -> String {
    if names.len() <= 8 { names.join(", ") } else { format!("{}, …", names[..8].join(", ")) }
}
