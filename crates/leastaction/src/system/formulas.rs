//! Numbers given as formulas: `9.81`, `pi/4`, `g/omega0^2`.
//!
//! [`Quantity`] is how a number is written in files, flags and the catalogue; [`Formulas`] holds the named ones of a
//! system and evaluates any formula of them, in any number type, so that `g/(2*pi)^2` is as exact at 64 digits as at 16.

use crate::error::{Error, Result};
use crate::expr::{Evaluator, Graph, NodeId, Tape, parse};
use crate::scalar::Real;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// A number, or a formula that gives one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Quantity {
    /// A plain number.
    Number(f64),
    /// A formula of parameters and constants.
    Formula(String),
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor)
    }
}

struct QuantityVisitor;

impl Visitor<'_> for QuantityVisitor {
    type Value = Quantity;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a formula in quotes")
    }
    fn visit_f64<E>(self, x: f64) -> std::result::Result<Quantity, E> {
        Ok(Quantity::Number(x))
    }
    fn visit_i64<E>(self, x: i64) -> std::result::Result<Quantity, E> {
        Ok(Quantity::Number(x as f64))
    }
    fn visit_u64<E>(self, x: u64) -> std::result::Result<Quantity, E> {
        Ok(Quantity::Number(x as f64))
    }
    fn visit_str<E>(self, text: &str) -> std::result::Result<Quantity, E> {
        Ok(Quantity::from(text))
    }
}

impl From<f64> for Quantity {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}

impl From<&str> for Quantity {
    fn from(text: &str) -> Self {
        match text.trim().parse::<f64>() {
            // a short decimal reads back as the same text; anything else stays a formula
            Ok(x) if x.is_finite() && x.to_string() == text.trim() => Self::Number(x),
            _ => Self::Formula(text.trim().to_owned()),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Formula(text) => f.write_str(text),
        }
    }
}

/// More definitions than this between a name and its value are refused.
const MAX_CHAIN: usize = 200;

/// Named formulas, any of which may use the others.
#[derive(Clone, Debug, Default)]
pub struct Formulas {
    graph: Graph,
    names: Vec<String>,
    nodes: HashMap<String, NodeId>,
}

impl Formulas {
    /// Reads the definitions, in whatever order they depend on each other.
    pub fn new(definitions: &[(String, Quantity)]) -> Result<Self> {
        let texts: HashMap<&str, &Quantity> = definitions.iter().map(|(n, q)| (n.as_str(), q)).collect();
        let names: Vec<String> = definitions.iter().map(|(name, _)| name.clone()).collect();
        let mut formulas = Self { graph: Graph::new(), names, nodes: HashMap::new() };
        for (name, _) in definitions {
            formulas.define(name, &texts, &mut Vec::new())?;
        }
        Ok(formulas)
    }

    fn define<'a>(
        &mut self,
        name: &'a str,
        texts: &HashMap<&'a str, &'a Quantity>,
        open: &mut Vec<&'a str>,
    ) -> Result<()> {
        if self.nodes.contains_key(name) {
            return Ok(());
        }
        if let Some(start) = open.iter().position(|n| *n == name) {
            let names: Vec<String> = open[start..].iter().map(|n| format!("`{n}`")).collect();
            return Err(Error::ParameterCycle { names: names.join(", ") });
        }
        let Some(quantity) = texts.get(name) else { return Ok(()) };
        if open.len() == MAX_CHAIN {
            let message =
                format!("more than {MAX_CHAIN} definitions stand between `{}` and its value", open[0]);
            return Err(Error::BadRun { message });
        }
        open.push(name);
        let text = quantity.to_string();
        // definitions that this one mentions come first
        for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            if let Some((&used, _)) = texts.get_key_value(word) {
                self.define(used, texts, open)?;
            }
        }
        open.pop();
        let node = self.node(&text)?;
        self.nodes.insert(name.to_owned(), node);
        Ok(())
    }

    fn node(&mut self, text: &str) -> Result<NodeId> {
        let nodes = &self.nodes;
        parse(&mut self.graph, text, &self.names, &mut |_, name| nodes.get(name).copied())
    }

    /// Adds a name with a value, for the formulas that come later.
    pub fn add<R: Real>(&mut self, name: &str, value: &R) {
        let node = self.graph.decimal(&value.to_text(None));
        self.names.push(name.to_owned());
        self.nodes.insert(name.to_owned(), node);
    }

    /// The value of a formula; `what` names it in the error.
    pub fn value<R: Real>(&mut self, what: &str, quantity: &Quantity) -> Result<R> {
        let mut values = self.values(std::slice::from_ref(quantity), |_| what.to_owned())?;
        Ok(values.remove(0))
    }

    /// The values of many formulas, by one tape; `what` names them in errors.
    pub fn values<R: Real>(
        &mut self,
        quantities: &[Quantity],
        what: impl Fn(usize) -> String,
    ) -> Result<Vec<R>> {
        let mut nodes = Vec::with_capacity(quantities.len());
        for quantity in quantities {
            nodes.push(match quantity {
                // infinities and NaN have no literal
                Quantity::Number(x) if !x.is_finite() => self.graph.number(*x),
                _ => self.node(&quantity.to_string())?,
            });
        }
        let mut out = vec![R::zero(); nodes.len()];
        let tape = Arc::new(Tape::new(&self.graph, 0, &nodes));
        Evaluator::new(tape, &[]).evaluate(&[], &[], &R::zero(), &mut out);
        match out.iter().position(|x| !x.is_finite()) {
            None => Ok(out),
            Some(i) => {
                let (formula, value) = (quantities[i].to_string(), out[i].to_f64());
                Err(Error::NotANumber { what: what(i), formula, value })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formulas(list: &[(&str, &str)]) -> Result<Formulas> {
        let list: Vec<_> = list.iter().map(|(n, q)| ((*n).to_owned(), Quantity::from(*q))).collect();
        Formulas::new(&list)
    }

    #[test]
    fn definitions_may_come_in_any_order() {
        let mut f = formulas(&[("l", "g/omega^2"), ("omega", "2*pi"), ("g", "9.81")]).expect("defined");
        let l: f64 = f.value("l", &Quantity::from("l")).expect("value");
        assert!((l - 0.248_490_202_882_833_4).abs() < 1e-16);
    }

    #[test]
    fn cycles_and_bad_values_are_errors() {
        assert!(matches!(formulas(&[("a", "b"), ("b", "2*a")]), Err(Error::ParameterCycle { .. })));
        let mut f = formulas(&[("a", "0")]).expect("defined");
        assert!(matches!(f.value::<f64>("x", &Quantity::from("1/a")), Err(Error::NotANumber { .. })));
        assert!(matches!(f.value::<f64>("x", &Quantity::Number(f64::NAN)), Err(Error::NotANumber { .. })));
        assert!(matches!(f.value::<f64>("x", &Quantity::from("nan")), Err(Error::Formula { .. })));
    }
}
