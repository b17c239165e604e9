//! Many starts of one system: from the numbers that are varied to parameters, coordinates, velocities and momenta.
//!
//! The formulas of parameters and of the initial state are read once, with the varied parameters as inputs of a tape, so that
//! what depends on them follows. A start is then an evaluation, a solve for velocities and the checks that a
//! [`Problem`] makes, to the same bits, without reading or compiling anything.

use super::{Energy, Problem, Quantity, Settings, Start, System, Velocities};
use crate::error::{Cause, Error, Result, nearest};
use crate::expr::Evaluator;
use crate::linear::not_positive;

/// A number of a start, by its place in the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// A parameter.
    Parameter(usize),
    /// An initial coordinate.
    Coordinate(usize),
    /// An initial velocity.
    Velocity(usize),
    /// An initial momentum.
    Momentum(usize),
}

impl System {
    /// What a name stands for at the start: a parameter, a coordinate `x`, a velocity `v_x` or a momentum `p_x`.
    pub fn variable(&self, name: &str) -> Result<Variable> {
        if let Some(i) = self.parameters.iter().position(|parameter| parameter.name == name) {
            return Ok(Variable::Parameter(i));
        }
        let coordinate = |name: &str| self.coordinates.iter().position(|c| c.name == name);
        let rate = |prefix: &str| name.strip_prefix(prefix).and_then(coordinate);
        let found = coordinate(name)
            .map(Variable::Coordinate)
            .or_else(|| rate("v_").map(Variable::Velocity))
            .or_else(|| rate("p_").map(Variable::Momentum));
        found.ok_or_else(|| {
            let names = self.coordinate_names();
            let parameters = self.parameters.iter().map(|parameter| parameter.name.clone());
            let rates = names.iter().flat_map(|name| [format!("v_{name}"), format!("p_{name}")]);
            let known: Vec<String> = parameters.chain(names.iter().cloned()).chain(rates).collect();
            let hint = nearest(name, known.iter().map(String::as_str));
            let message = format!(
                "`{name}` cannot be varied{hint}\n  it must be a parameter of `{}`, a coordinate, or v_ or p_ with a coordinate",
                self.name
            );
            Error::BadStudy { message }
        })
    }
}

/// Why a start is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A parameter, a number of the state or the Lagrangian is not finite.
    NotFinite,
    /// The mass matrix is singular.
    SingularMass,
    /// The kinetic energy is not positive definite.
    NotDefinite,
    /// No velocities were found for the momenta.
    NoVelocity,
}

/// Makes starts. Nothing allocates after it is made, but for checks that a mass matrix is positive.
#[derive(Clone, Debug)]
pub struct Starter {
    variables: Vec<Variable>,
    n: usize,
    /// The formulas, from the varied parameters to all parameters, coordinates, and velocities or momenta.
    formulas: Evaluator<f64>,
    inputs: Vec<f64>,
    out: Vec<f64>,
    /// Parts of the formulas that may not be finite.
    parts: Evaluator<f64>,
    part_values: Vec<f64>,
    from_velocities: bool,
    t0: f64,
    velocities: Velocities<f64>,
    energy: Energy<f64>,
    mass: Option<Mass>,
    /// The parameters that the kernels have.
    parameters: Vec<f64>,
}

/// The mass matrix, to be checked.
#[derive(Clone, Debug)]
struct Mass {
    evaluator: Evaluator<f64>,
    out: Vec<f64>,
    /// Row and column of each entry, in an order that makes the band narrow.
    places: Vec<(usize, usize)>,
    bandwidth: usize,
}

impl Starter {
    /// A starter for a problem and the settings it was made from.
    pub fn new(problem: &Problem<f64>, settings: &Settings, variables: &[Variable]) -> Result<Self> {
        let system = &problem.system;
        let inputs: Vec<usize> = variables
            .iter()
            .filter_map(|variable| match variable {
                Variable::Parameter(i) => Some(*i),
                _ => None,
            })
            .collect();
        let varies = |kind: fn(&Variable) -> bool| variables.iter().any(kind);
        let velocities = varies(|v| matches!(v, Variable::Velocity(_)));
        if velocities && varies(|v| matches!(v, Variable::Momentum(_))) {
            let message = "velocities and momenta cannot be varied together, because each determines the other\n  vary one kind".to_owned();
            return Err(Error::BadStudy { message });
        }
        let momenta = varies(|v| matches!(v, Variable::Momentum(_)));
        // rates of the other kind are those of the problem
        let numbers = |list: &[f64]| list.iter().map(|x| Quantity::Number(*x)).collect::<Vec<_>>();
        let start = settings.start.as_ref().unwrap_or(&system.initial.start);
        let (from_velocities, rates) = match start {
            Start::Velocities(_) if momenta => (false, numbers(&problem.p0)),
            Start::Momenta(_) if velocities => (true, numbers(&problem.v0)),
            Start::Velocities(list) => (true, list.clone()),
            Start::Momenta(list) => (false, list.clone()),
        };
        let mut formulas = system.formulas_with_inputs(&settings.parameters, &inputs)?;
        let parameters = system.parameters.iter().map(|p| Quantity::Formula(p.name.clone()));
        let mut all: Vec<Quantity> = parameters.collect();
        all.extend(formulas.expand(settings.q.as_ref().unwrap_or(&system.initial.q), system.n())?);
        all.extend(formulas.expand(&rates, system.n())?);
        let [tape, parts] = formulas.tapes(&all, inputs.len())?;
        // what a problem has checked holds for all starts if it is the same for all
        let always_positive = system.structure().constant_mass && inputs.is_empty();
        let mass = (system.definite && !always_positive).then(|| Mass::new(problem));
        Ok(Self {
            variables: variables.to_vec(),
            n: system.n(),
            out: vec![0.0; all.len()],
            part_values: vec![0.0; parts.outputs()],
            formulas: Evaluator::new(tape, &[]),
            parts: Evaluator::new(parts, &[]),
            inputs: vec![0.0; inputs.len()],
            from_velocities,
            t0: problem.t0,
            velocities: Velocities::new(&system.model, &problem.parameters),
            energy: Energy::new(&system.model, &problem.parameters),
            mass,
            parameters: problem.parameters.clone(),
        })
    }

    /// Fills in a start from the values of the variables. If it is refused, what was found so far is filled in, and the rest is NaN.
    pub fn start(
        &mut self,
        values: &[f64],
        parameters: &mut [f64],
        [q, v, p]: [&mut [f64]; 3],
    ) -> std::result::Result<(), Refusal> {
        let (n, from_velocities) = (self.n, self.from_velocities);
        let mut input = 0;
        for (variable, value) in self.variables.iter().zip(values) {
            if let Variable::Parameter(_) = variable {
                self.inputs[input] = *value;
                input += 1;
            }
        }
        self.formulas.evaluate(&self.inputs, &self.inputs, &0.0, &mut self.out);
        self.parts.evaluate(&self.inputs, &self.inputs, &0.0, &mut self.part_values);
        let (all, state) = self.out.split_at(parameters.len());
        parameters.copy_from_slice(all);
        q.copy_from_slice(&state[..n]);
        let (given, other) = if from_velocities { (&mut *v, &mut *p) } else { (&mut *p, &mut *v) };
        given.copy_from_slice(&state[n..]);
        other.fill(f64::NAN);
        for (variable, value) in self.variables.iter().zip(values) {
            match *variable {
                Variable::Parameter(_) => {}
                Variable::Coordinate(i) => q[i] = *value,
                Variable::Velocity(i) | Variable::Momentum(i) => given[i] = *value,
            }
        }
        let finite = |list: &[f64]| list.iter().all(|x| x.is_finite());
        if !(finite(parameters) && finite(q) && finite(given) && finite(&self.part_values)) {
            return Err(Refusal::NotFinite);
        }
        self.adopt(parameters);
        self.complete([q, v, p])
    }

    /// Gives the kernels their parameters, if they are new.
    fn adopt(&mut self, parameters: &[f64]) {
        if same_bits(parameters, &self.parameters) {
            return;
        }
        self.parameters.copy_from_slice(parameters);
        self.velocities.assign(parameters);
        self.energy.assign(parameters);
        if let Some(mass) = &mut self.mass {
            mass.evaluator.assign(parameters);
        }
    }

    /// Momenta from velocities or the reverse, checked.
    fn complete(&mut self, [q, v, p]: [&mut [f64]; 3]) -> std::result::Result<(), Refusal> {
        let given = self.from_velocities;
        if given {
            self.velocities.momenta(q, v, &self.t0, p);
        } else {
            v.fill(0.0);
        }
        // that velocities can be found is checked, too, where they were given
        self.out[..self.n].copy_from_slice(v);
        let solved = &mut self.out[..self.n];
        let result = self.velocities.velocities(q, p, &self.t0, solved);
        let (_, lagrangian) = self.energy.at(q, solved, &self.t0);
        if !given {
            v.copy_from_slice(solved);
        }
        match result {
            Err(Cause::SingularMass { .. }) => Err(Refusal::SingularMass),
            Err(Cause::MassNotFinite { .. }) => Err(Refusal::NotFinite),
            _ if !lagrangian.is_finite() => Err(Refusal::NotFinite),
            Err(_) => Err(Refusal::NoVelocity),
            Ok(()) => match self.mass.as_mut().is_none_or(|mass| mass.is_positive(q, v, &self.t0)) {
                true => Ok(()),
                false => Err(Refusal::NotDefinite),
            },
        }
    }
}

/// Whether numbers are the same, zeros with their signs.
pub(crate) fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
}

impl Mass {
    fn new(problem: &Problem<f64>) -> Self {
        let model = &problem.system.model;
        let ordering = &model.structure.mass_ordering;
        let evaluator = model.evaluator(model.mass_tape(), &problem.parameters);
        let place = |entry: &super::Entry| (ordering.position[entry.row], ordering.position[entry.column]);
        Self {
            out: vec![0.0; evaluator.outputs()],
            evaluator,
            places: model.l_vv.iter().map(place).collect(),
            bandwidth: ordering.bandwidth,
        }
    }

    fn is_positive(&mut self, q: &[f64], v: &[f64], t: &f64) -> bool {
        self.evaluator.evaluate(q, v, t, &mut self.out);
        let entries = self.places.iter().zip(&self.out[q.len()..]);
        let entries = entries.map(|((row, column), value)| (*row, *column, *value));
        not_positive(q.len(), self.bandwidth, entries).is_none()
    }
}
