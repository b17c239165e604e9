//! Named formulas of the state: `l*cos(theta)`, `p_theta`, `energy - E`.
//!
//! [`Dictionary`] knows what a formula may name and reads formulas into (a clone of) the model's graph; [`Quantities`] are
//! some of them on one tape, [`Gauge`] evaluates them in a number type. A momentum is the node of L_v in the graph, so that
//! a tape needs no other inputs than q, v and t. Which quantities are wanted, and when, is left to `simulate`.

use super::{Problem, System, Velocities};
use crate::error::{Cause, Error, Result, nearest};
use crate::expr::{Depends, Evaluator, Graph, NodeId, Tape, parse};
use crate::scalar::Real;
use std::collections::HashMap;
use std::sync::Arc;

/// What a formula of the state may name: coordinates, velocities (`v_theta`, `dot(theta)`), momenta (`p_theta`), `t`, parameters,
/// `energy`, `pi`, `period` where one is known, and what was defined before.
#[derive(Clone, Debug)]
pub struct Dictionary {
    graph: Graph,
    nodes: HashMap<String, NodeId>,
    known: Vec<String>,
    coordinates: usize,
}

impl Dictionary {
    /// The names of a system. The period is given as a decimal, if there is one.
    pub fn new(system: &System, period: Option<&str>) -> Self {
        let model = &system.model;
        let mut dictionary = Self {
            graph: model.graph.clone(),
            nodes: HashMap::new(),
            known: Vec::new(),
            coordinates: system.n(),
        };
        // the first of two equal names is kept: those of the state before those of numbers
        for (i, name) in system.coordinate_names().into_iter().enumerate() {
            let (q, v) = (dictionary.graph.coordinate(i), dictionary.graph.velocity(i));
            dictionary.add(name.clone(), q);
            dictionary.add(format!("v_{name}"), v);
            dictionary.add(format!("p_{name}"), model.l_v[i]);
        }
        let time = dictionary.graph.time();
        dictionary.add("t".to_owned(), time);
        for (i, parameter) in system.parameters.iter().enumerate() {
            let node = dictionary.graph.parameter(i);
            dictionary.add(parameter.name.clone(), node);
        }
        dictionary.add("energy".to_owned(), model.energy);
        if let Some(text) = period {
            let node = dictionary.graph.decimal(text);
            dictionary.add("period".to_owned(), node);
        }
        dictionary
    }

    fn add(&mut self, name: String, node: NodeId) {
        self.nodes.entry(name.clone()).or_insert(node);
        self.known.push(name);
    }

    /// Reads a formula; `what` names it in errors.
    pub fn formula(&mut self, what: &str, text: &str) -> Result<NodeId> {
        let nodes = &self.nodes;
        let prepared = with_velocities(text);
        parse(&mut self.graph, &prepared, &self.known, &mut |_, name| nodes.get(name).copied()).map_err(
            |error| {
                let message = match error {
                    Error::Formula { column, message, .. } => {
                        let message =
                            message.replace("function `dot`", "derivative: `dot` takes a coordinate");
                        format!("in the formula `{text}`, column {column}: {message}")
                    }
                    other => other.to_string(),
                };
                Error::BadQuantity { what: what.to_owned(), message }
            },
        )
    }

    /// Reads a formula and gives it a name that formulas after it may use.
    pub fn define(&mut self, what: &str, name: &str, text: &str) -> Result<NodeId> {
        let bad = |message: String| Err(Error::BadQuantity { what: what.to_owned(), message });
        if !is_name(name) {
            return bad("a name has letters, digits and `_`, and does not start with a digit".to_owned());
        }
        if self.nodes.contains_key(name) || matches!(name, "pi" | "π" | "period") {
            return bad("the name is taken; choose another".to_owned());
        }
        let node = self.formula(what, text)?;
        self.add(name.to_owned(), node);
        Ok(node)
    }

    /// Whether a formula gives something else during a run than at its start.
    pub fn varies(&self, node: NodeId) -> bool {
        self.graph.depends(node).on(Depends::STATE)
    }

    /// What is said of an unknown name.
    pub fn hint(&self, wrong: &str) -> String {
        nearest(wrong, self.known.iter().map(String::as_str))
    }

    /// Formulas on one tape.
    pub fn quantities(&self, nodes: &[NodeId]) -> Quantities {
        Quantities {
            tape: Arc::new(Tape::new(&self.graph, self.coordinates, nodes)),
            uses_velocities: nodes.iter().any(|node| self.graph.depends(*node).on(Depends::VELOCITIES)),
        }
    }
}

/// Whether a text can be a name in a formula.
pub fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && letters.all(|c| c.is_alphanumeric() || c == '_')
}

/// The text with `dot(x)` replaced by ` (v_x)`, of the same length, so that columns in errors stay right.
fn with_velocities(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("dot") {
        let (head, tail) = rest.split_at(at);
        result += head;
        let joined = result.chars().last().is_some_and(|c| c.is_alphanumeric() || c == '_');
        let argument = tail["dot".len()..].trim_start().strip_prefix('(').map(str::trim_start);
        let name = argument.and_then(|inside| inside.split_once(')')).map(|(name, _)| name.trim_end());
        match (joined, argument, name) {
            (false, Some(argument), Some(name)) if is_name(name) => {
                let blanks = tail.len() - argument.len() - "(v_".len();
                result += &" ".repeat(blanks);
                result += "(v_";
                rest = argument;
            }
            _ => {
                result += "dot";
                rest = &tail["dot".len()..];
            }
        }
    }
    result + rest
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
    /// The quantities at coordinates and velocities.
    pub fn at(&mut self, q: &[R], v: &[R], t: &R) -> &[R] {
        self.evaluator.evaluate(q, v, t, &mut self.out);
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
        let node = dictionary.formula("output `a`", text)?;
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
            ("dot(x) + lambd", ["output `a`", "in the formula `dot(x) + lambd`, column 10", "unknown name"]),
            ("1 + xx", ["column 5", "did you mean", "`x`"]),
            ("dot(x*y)", ["column 1", "dot", "coordinate"]),
            ("p_xx", ["column 1", "p_x", "unknown name `p_xx`"]),
        ] {
            let message = value(text).map_err(|error| error.to_string()).err().unwrap_or_default();
            for part in parts {
                assert!(message.contains(part), "{text}: {message}");
            }
        }
    }

    #[test]
    fn derivatives_are_replaced_without_moving_anything() {
        for (text, expected) in [
            ("dot(x)", " (v_x)"),
            ("2*dot (θ)+1", "2*  (v_θ)+1"),
            ("mydot(x) + dot(x+1) + dot", "mydot(x) + dot(x+1) + dot"),
            ("dot( x )*dot(y)", "  (v_x )* (v_y)"),
            ("dot(", "dot("),
        ] {
            assert_eq!(with_velocities(text), expected);
            assert_eq!(text.chars().count(), expected.chars().count());
        }
    }

    #[test]
    fn names_are_taken_once() -> Result<()> {
        let system = catalogue::system("kepler")?;
        let mut dictionary = Dictionary::new(&system, None);
        dictionary.define("output `r`", "r", "sqrt(x^2 + y^2)")?;
        dictionary.define("output `u`", "u", "1/r")?;
        for name in ["r", "x", "v_x", "p_y", "t", "energy", "pi", "period", "2x", "a b", "", "a-b"] {
            let found = dictionary.define(&format!("output `{name}`"), name, "1");
            assert!(matches!(found, Err(Error::BadQuantity { .. })), "{name}");
        }
        Ok(())
    }
}
