//! A system with numbers: parameter values and an initial state in one number type.
//!
//! From a [`System`] and the [`Settings`] that replace its defaults, to checked numbers: counts match, everything is
//! finite, and momenta and velocities determine each other at the start.

use super::{Energy, Parameter, Quantity, Start, System, Velocities};
use crate::error::{Cause, Diagnostic, Error, Failure, Origin, Result, combination, list_state};
use crate::expr::{Evaluator, Graph, Names, Parts, Shared, Tape, formula};
use crate::linear::not_positive;
use crate::scalar::Real;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// What replaces the defaults of a system.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Parameters, by name.
    pub parameters: BTreeMap<String, Quantity>,
    /// Initial coordinates.
    pub q: Option<Vec<Quantity>>,
    /// Initial velocities or momenta.
    pub start: Option<Start>,
    /// The time at which the state is given.
    pub t0: Option<Quantity>,
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
        let by_name = |p: &Parameter| {
            let quantity = settings.parameters.get(&p.name).unwrap_or(&p.value);
            match quantity.origin() {
                Some(origin) => Quantity::Written(p.name.clone(), origin.derived()),
                None => Quantity::Formula(p.name.clone()),
            }
        };
        let parameters: Vec<Quantity> = system.parameters.iter().map(by_name).collect();
        let parameters =
            formulas.values(&parameters, |i| format!("parameter `{}`", system.parameters[i].name))?;

        let q = settings.q.as_ref().unwrap_or(&system.initial.q);
        let start = settings.start.as_ref().unwrap_or(&system.initial.start);
        let (letter, list) = match start {
            Start::Velocities(list) => ("v", list),
            Start::Momenta(list) => ("p", list),
        };
        let q = &formulas.expand(q, system.n())?;
        let list = &formulas.expand(list, system.n())?;
        for (what, list) in [("the initial q", q), (&format!("the initial {letter}"), list)] {
            if list.len() != system.n() {
                return Err(wrong_count(what, list, &names));
            }
        }
        let q0 = formulas.values(q, |i| format!("initial {}", names[i]))?;
        let given = formulas.values(list, |i| format!("initial {letter}_{}", names[i]))?;
        let t0 = formulas.value("the initial time", settings.t0.as_ref().unwrap_or(&system.initial.t))?;
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
        // as typed: what was taken out of L must have a value too
        let mut energy = Energy::for_a_start(&self.system.typed, &self.parameters);
        let (_, lagrangian) = energy.at(&self.q0, &v, &self.t0);
        if !lagrangian.is_finite() && !matches!(solved, Err(Cause::SingularMass { .. })) {
            let q: Vec<f64> = self.q0.iter().map(R::to_f64).collect();
            let state = list_state(&self.system.coordinate_names(), &q);
            let value = lagrangian.to_f64();
            return Err(match &self.system.origin {
                None => Error::BadStart { value, state },
                Some(origin) => {
                    let title = format!("the Lagrangian is not finite at the initial state (L = {value})");
                    let culprit = self.culprit(&v);
                    let (source, range, label) = match &culprit {
                        Some((origin, range, value)) => {
                            (origin.source(), range.clone(), format!("gives {value}"))
                        }
                        None => (origin.source(), origin.whole(), String::new()),
                    };
                    Diagnostic::new(source, range, title)
                        .label(label)
                        .note(format!("initial state: {state}"))
                        .help("try another initial state, or look for a division by zero or a root or logarithm of a negative number; where numbers near 1e308 overflow, other units")
                        .into()
                }
            });
        }
        solved.map_err(|cause| self.refused(cause))?;
        self.check_constants(&v)?;
        self.check_range()?;
        if !from_velocities {
            self.v0 = v;
        }
        if self.system.definite
            && let Some(direction) = self.indefinite()
        {
            return Err(match &self.system.origin {
                None => Error::NotDefinite { direction },
                Some(origin) => {
                    let title = "the kinetic energy is not positive definite at the initial state";
                    Diagnostic::new(origin.source(), origin.whole(), title)
                        .label(direction)
                        .help("masses and moments of inertia must be positive; a Lagrangian that is meant so is given as `expression`")
                        .into()
                }
            });
        }
        Ok(())
    }

    /// Checks that the constants of the Lagrangian are finite, where its value does not show it: atan(1/0).
    fn check_constants(&self, v: &[R]) -> Result<()> {
        let model = &self.system.typed;
        let mut nodes = model.graph.doubtful(&[model.lagrangian]);
        nodes.retain(|node| model.graph.is_fixed(*node));
        let mut values = vec![R::zero(); nodes.len()];
        if nodes.is_empty() {
            return Ok(());
        }
        let tape = Arc::new(Tape::new(&model.graph, self.system.n(), &nodes));
        Evaluator::new(tape, &self.parameters).evaluate(&self.q0, &self.v0, &self.t0, &mut values);
        let Some(at) = values.iter().position(|x| !x.is_finite()) else { return Ok(()) };
        let what = "a constant in the Lagrangian";
        if let Some((origin, range, value)) = self.culprit(v) {
            return Err(Diagnostic::new(origin.source(), range, format!("{what} is not a finite number"))
                .label(format!("gives {value}"))
                .help("look for a division by zero, or a root or logarithm of a negative number")
                .into());
        }
        let parameters: Vec<String> = self.system.parameters.iter().map(|p| p.name.clone()).collect();
        let names = Names { coordinates: &self.system.coordinate_names(), parameters: &parameters };
        let formula = formula(&model.graph, nodes[at], names, 80).unwrap_or_else(|| "…".to_owned());
        Err(Error::NotANumber { what: what.to_owned(), formula, value: values[at].to_f64() })
    }

    /// The part of the Lagrangian's formulas that is not finite at the initial state although what it is made of is: where it
    /// stands, and what it gives.
    fn culprit(&self, v: &[R]) -> Option<(Origin, Range<usize>, f64)> {
        let to_f64 = |list: &[R]| -> Vec<f64> { list.iter().map(R::to_f64).collect() };
        let (parameters, q, v) = (to_f64(&self.parameters), to_f64(&self.q0), to_f64(v));
        let mut graph = (*self.system.model.graph).clone();
        graph.set_strict(true);
        let mut scope = self.system.scope(&mut graph);
        let mut parts =
            Parts { parameters: &parameters, q: &q, v: &v, t: self.t0.to_f64(), values: Vec::new() };
        let mut value = |graph: &Graph, node| parts.value(graph, node);
        let found = |formula: &Shared| {
            let (formula, range, value) = scope.culprit(&mut graph, formula, &mut value)?;
            let origin = formula.origin.clone()?;
            let range = origin.range(range);
            Some((origin, range, value))
        };
        self.system.written.iter().find_map(found)
    }

    /// The error for a start that does not determine the motion, at the Lagrangian if it was read from a text.
    fn refused(&self, cause: Cause) -> Error {
        match (&self.system.origin, &cause) {
            (Some(origin), Cause::SingularMass { direction }) => {
                let combination = combination(&self.system.coordinate_names(), direction);
                let title = "the mass matrix L_vv is singular at the initial state";
                let q: Vec<f64> = self.q0.iter().map(R::to_f64).collect();
                Diagnostic::new(origin.source(), origin.whole(), title)
                    .label(format!("{combination} carries no kinetic energy"))
                    .note(format!("initial state: {}", list_state(&self.system.coordinate_names(), &q)))
                    .help("try an initial state away from this point, coordinates that are regular here, or masses that are not zero")
                    .into()
            }
            _ => self.failure(0, &self.t0, (&self.q0, &self.p0), cause).into(),
        }
    }

    /// A combination of velocities whose kinetic energy is not positive at the initial state, in words.
    pub fn indefinite(&self) -> Option<String> {
        let model = &self.system.model;
        let mut mass = Evaluator::new(model.mass_tape(), &self.parameters);
        let mut out = vec![R::zero(); mass.outputs()];
        mass.evaluate(&self.q0, &self.v0, &self.t0, &mut out);
        let ordering = &model.structure.mass_ordering;
        let entries = model.l_vv.iter().zip(&out[model.n..]).map(|(entry, value)| {
            (ordering.position[entry.row], ordering.position[entry.column], value.to_f64())
        });
        let (x, energy) = not_positive(model.n, ordering.bandwidth, entries)?;
        let direction: Vec<f64> = (0..model.n).map(|i| x[ordering.position[i]]).collect();
        let combination = combination(&self.system.coordinate_names(), &direction);
        Some(match energy < 0.0 {
            true => format!("{combination} carries negative kinetic energy"),
            false => format!("{combination} carries no kinetic energy"),
        })
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
            tried: Vec::new(),
        }
    }
}

/// The error for a list of the wrong length, at its place if that is known.
fn wrong_count(what: &str, list: &[Quantity], names: &[String]) -> Error {
    let ends = list.first().and_then(Quantity::origin).zip(list.last().and_then(Quantity::origin));
    match ends {
        Some((first, last)) => {
            let range = first.whole().start..last.whole().end.max(first.whole().end);
            let values = if list.len() == 1 { "1 was".to_owned() } else { format!("{} were", list.len()) };
            let title =
                format!("{what} needs {} values, one for each coordinate, but {values} given", names.len());
            Diagnostic::new(first.source(), range, title)
                .note(format!("coordinates: {}", shortened(names)))
                .help("`...` as last value repeats the one before it")
                .into()
        }
        None => Error::WrongCount {
            what: what.to_owned(),
            expected: names.len(),
            found: list.len(),
            coordinates: shortened(names),
        },
    }
}

/// At most eight names.
pub(super) fn shortened(names: &[String]) -> String {
    if names.len() <= 8 { names.join(", ") } else { format!("{}, …", names[..8].join(", ")) }
}
