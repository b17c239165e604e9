//! Named formulas of the state: `l*cos(theta)`, `p_theta`, `energy - E`.
//!
//! [`Dictionary`] knows what a formula may name and reads formulas into (a clone of) the model's graph; [`Quantities`] are
//! some of them on one tape, [`Gauge`] evaluates them in a number type. A momentum is the node of L_v in the graph, so that
//! a tape needs no other inputs than q, v and t. Which quantities are wanted, and when, is left to `simulate`.

use super::formulas::entry_name;
use super::{Problem, Quantity, System, Velocities};
use crate::error::{Cause, Error, Origin, Result, Source, nearest};
use crate::expr::{Depends, Evaluator, Formula, Graph, NodeId, Scope, Tape, Value, is_name, is_reserved};
use crate::scalar::{Ledger, Real};
use std::sync::Arc;

/// What a formula of the state may name: coordinates, velocities (`v_theta`, `dot(theta)`), momenta (`p_theta`), `t`, parameters,
/// definitions of a text, `energy`, `pi`, `period` where one is known, and what was defined before.
#[derive(Clone, Debug)]
pub struct Dictionary {
    graph: Graph,
    scope: Scope,
    coordinates: usize,
}

impl Dictionary {
    /// The names of a system. The period is given as a decimal, if there is one.
    pub fn new(system: &System, period: Option<&str>) -> Self {
        let model = &system.model;
        let mut graph = (*model.graph).clone();
        graph.set_strict(true);
        let mut scope = system.scope(&mut graph);
        for (name, value) in momenta(system, &scope) {
            scope.set(&format!("p_{name}"), value);
        }
        scope.set("energy", Value::Scalar(model.energy));
        if let Some(text) = period {
            scope.set("period", Value::Scalar(graph.decimal(text)));
        }
        Self { graph, scope, coordinates: system.n() }
    }

    /// Reads a formula; `what` names it in errors if nothing else says where it stands.
    pub fn formula(&mut self, what: &str, quantity: &Quantity) -> Result<NodeId> {
        let text = quantity.to_string();
        let place = || Origin::part(Source::new(what, text.as_str()), 0, text.len());
        let origin = quantity.origin().cloned().unwrap_or_else(place);
        let formula = Formula::from_origin(&text, Some(origin))?;
        self.scope.scalar(&mut self.graph, &formula)
    }

    /// Reads a formula and gives it a name that formulas after it may use.
    pub fn define(&mut self, what: &str, name: &str, quantity: &Quantity) -> Result<NodeId> {
        let bad =
            |message: String| Err(quantity.locate(Error::BadQuantity { what: what.to_owned(), message }));
        if !is_name(name) {
            return bad("a name has letters, digits and `_`, and does not start with a digit".to_owned());
        }
        if is_reserved(name) || self.scope.knows(name) {
            return bad("the name is taken; choose another".to_owned());
        }
        let node = self.formula(what, quantity)?;
        self.scope.set(name, Value::Scalar(node));
        Ok(node)
    }

    /// Whether a formula gives something else during a run than at its start.
    pub fn varies(&self, node: NodeId) -> bool {
        self.graph.depends(node).on(Depends::STATE)
    }

    /// The constants in a formula that may not be finite.
    pub fn constants(&self, node: NodeId) -> Vec<NodeId> {
        let mut list = self.graph.doubtful(&[node]);
        list.retain(|node| self.graph.is_fixed(*node));
        list
    }

    /// What is said of an unknown name.
    pub fn hint(&self, wrong: &str) -> String {
        nearest(wrong, self.scope.names())
    }

    /// Formulas on one tape.
    pub fn quantities(&self, nodes: &[NodeId]) -> Quantities {
        Quantities {
            tape: Arc::new(Tape::new(&self.graph, self.coordinates, nodes)),
            uses_velocities: nodes.iter().any(|node| self.graph.depends(*node).on(Depends::VELOCITIES)),
        }
    }
}

/// The momenta by the names of their coordinates; those of `x[1]`, `x[2]`, … are a vector where `x` is one.
fn momenta(system: &System, scope: &Scope) -> Vec<(String, Value)> {
    let mut found: Vec<(String, Value)> = Vec::new();
    for (name, &node) in system.coordinate_names().into_iter().zip(&system.model.l_v) {
        match (entry_name(&name), found.last_mut()) {
            (Some((vector, _)), Some((last, Value::Vector(nodes)))) if last == vector => nodes.push(node),
            (Some((vector, _)), _) if scope.is_vector(vector) => {
                found.push((vector.to_owned(), Value::Vector(vec![node])));
            }
            _ => found.push((name, Value::Scalar(node))),
        }
    }
    found
}

/// Formulas of the state on one tape, for any number type.
#[derive(Clone, Debug)]
pub struct Quantities {
    tape: Arc<Tape>,
    uses_velocities: bool,
}

impl Quantities {
    /// No quantities of a system.
    pub fn none(system: &System) -> Self {
        Self { tape: Arc::new(Tape::new(&Graph::new(), system.n(), &[])), uses_velocities: false }
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        self.tape.outputs()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The kernel that evaluates them for a problem.
    pub fn gauge<R: Real>(&self, problem: &Problem<R>) -> Gauge<R> {
        let model = &problem.system.model;
        Gauge {
            evaluator: Evaluator::new(self.tape.clone(), &problem.parameters),
            velocities: self.uses_velocities.then(|| Velocities::new(model, &problem.parameters)),
            v: problem.v0.clone(),
            out: vec![R::zero(); self.len()],
        }
    }
}

/// Evaluates quantities; nothing allocates after it is made.
#[derive(Clone, Debug)]
pub struct Gauge<R> {
    evaluator: Evaluator<R>,
    velocities: Option<Velocities<R>>,
    v: Vec<R>,
    out: Vec<R>,
}

impl<R: Real> Gauge<R> {
    /// Whether velocities matter.
    pub(crate) fn uses_velocities(&self) -> bool {
        self.velocities.is_some()
    }
    /// How many quantities there are.
    pub fn len(&self) -> usize {
        self.out.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Begins anew, with other parameters if they are given, at a state with these velocities: what they are solved from later
    /// starts with them.
    pub fn restart(&mut self, parameters: Option<&[R]>, v: &[R]) {
        if let Some(parameters) = parameters {
            self.evaluator.assign(parameters);
            if let Some(velocities) = &mut self.velocities {
                velocities.assign(parameters);
            }
        }
        self.v.clone_from_slice(v);
    }

    /// Writes or reads the velocities that others are solved from.
    pub fn exchange(&mut self, ledger: &mut Ledger) {
        ledger.numbers(&mut self.v);
    }

    /// The quantities at coordinates and velocities.
    pub fn at(&mut self, q: &[R], v: &[R], t: &R) -> &[R] {
        self.evaluator.evaluate(q, v, t, &mut self.out);
        &self.out
    }

    /// The quantities as they were found last.
    pub(crate) fn values(&self) -> &[R] {
        &self.out
    }

    /// The quantities at coordinates and momenta. Velocities are found only if a formula needs them.
    pub fn at_momenta(&mut self, q: &[R], p: &[R], t: &R) -> std::result::Result<&[R], Cause> {
        if let Some(velocities) = &mut self.velocities {
            velocities.velocities(q, p, t, &mut self.v)?;
        }
        self.evaluator.evaluate(q, &self.v, t, &mut self.out);
        Ok(&self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Settings, catalogue};
    use super::*;

    fn value(text: &str) -> Result<f64> {
        let system = catalogue::system("kepler")?;
        let problem: Problem<f64> = system.problem(&Settings::default())?;
        let mut dictionary = Dictionary::new(&system, Some("6.25"));
        let node = dictionary.formula("output `a`", &Quantity::from(text))?;
        let mut gauge = dictionary.quantities(&[node]).gauge(&problem);
        let (q, p) = (problem.q0.clone(), problem.p0.clone());
        let from_momenta = gauge.at_momenta(&q, &p, &2.0).map(|out| out[0]).ok();
        let from_velocities = gauge.at(&q, &problem.v0, &2.0)[0];
        assert_eq!(from_momenta, Some(from_velocities), "{text}");
        Ok(from_velocities)
    }

    #[test]
    fn everything_that_a_state_has_can_be_named() -> Result<()> {
        let system = catalogue::system("kepler")?;
        let problem: Problem<f64> = system.problem(&Settings::default())?;
        let (q, v, p) = (&problem.q0, &problem.v0, &problem.p0);
        let names = system.coordinate_names();
        for (i, name) in names.iter().enumerate() {
            assert_eq!(value(name)?, q[i]);
            assert_eq!(value(&format!("v_{name}"))?, v[i]);
            assert_eq!(value(&format!("p_{name}"))?, p[i]);
            assert_eq!(value(&format!("1 + dot( {name} )*2"))?, 1.0 + v[i] * 2.0);
        }
        assert_eq!(value("2*t - pi")?, 4.0 - std::f64::consts::PI);
        assert_eq!(value("period")?, 6.25);
        let (energy, _) = super::super::Energy::new(&system.model, &problem.parameters).at(q, v, &2.0);
        assert_eq!(value("energy")?, energy);
        assert_eq!(value(&system.parameters[0].name)?, problem.parameters[0]);
        Ok(())
    }

    #[test]
    fn errors_name_the_quantity_the_place_and_the_nearest_name() {
        for (text, parts) in [
            ("dot(x) + lambd", ["output `a`:1:10", "unknown name `lambd`"]),
            ("1 + xx", ["output `a`:1:5", "did you mean `x`"]),
            ("dot(v_x*y)", ["output `a`:1:", "acceleration"]),
            ("p_xx", ["output `a`:1:1", "`p_x`"]),
        ] {
            let message = value(text).map_err(|error| error.to_string()).err().unwrap_or_default();
            for part in parts {
                assert!(message.contains(part), "{text}: {message}");
            }
        }
    }

    #[test]
    fn names_are_taken_once() -> Result<()> {
        let system = catalogue::system("kepler")?;
        let mut dictionary = Dictionary::new(&system, None);
        dictionary.define("output `r`", "r", &"sqrt(x^2 + y^2)".into())?;
        dictionary.define("output `u`", "u", &"1/r".into())?;
        for name in ["r", "x", "v_x", "p_y", "t", "energy", "pi", "period", "2x", "a b", "", "a-b"] {
            let found = dictionary.define(&format!("output `{name}`"), name, &"1".into());
            assert!(matches!(found, Err(Error::BadQuantity { .. })), "{name}");
        }
        Ok(())
    }
}
