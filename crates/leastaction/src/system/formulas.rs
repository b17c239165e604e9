//! Numbers given as formulas: `9.81`, `pi/4`, `g/omega0^2`.
//!
//! [`Quantity`] is how a number is written in files, flags and the catalogue; [`Formulas`] holds the named ones of a
//! system and evaluates any formula of them, in any number type, so that `g/(2*pi)^2` is as exact at 64 digits as at 16.

use crate::error::{Diagnostic, Error, Origin, Result};
use crate::expr::{Elsewhere, Evaluator, Formula, Graph, Kind, LoopKind, Parts, Scope, Shared, Tape, Value};
use crate::scalar::Real;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A number, or a formula that gives one.
#[derive(Clone, Debug)]
pub enum Quantity {
    /// A plain number.
    Number(f64),
    /// A formula of parameters and constants.
    Formula(String),
    /// A formula and the place where it was written, which errors show.
    Written(String, Origin),
}

impl Quantity {
    /// A number or formula that was written somewhere.
    pub fn written(text: &str, origin: &Origin) -> Self {
        let start = text.len() - text.trim_start().len();
        Self::Written(text.trim().to_owned(), origin.of_part(start..start + text.trim().len()))
    }

    /// Where it was written, if that is known.
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Written(_, origin) => Some(origin),
            _ => None,
        }
    }

    /// An error about this quantity, shown at its place if that is known.
    pub fn locate(&self, error: Error) -> Error {
        self.locate_at(error, Origin::whole)
    }

    /// An error about the name that this quantity was given to, shown at the name if `name = quantity` is how it was written.
    pub fn locate_name(&self, name: &str, error: Error) -> Error {
        self.locate_at(error, |origin| origin.name_before(name).unwrap_or_else(|| origin.whole()))
    }

    fn locate_at(&self, error: Error, place: impl FnOnce(&Origin) -> Range<usize>) -> Error {
        let (Some(origin), false) = (self.origin(), matches!(error, Error::Source(_))) else { return error };
        let text = error.to_string();
        let (title, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let located = Diagnostic::new(origin.source(), place(origin), title);
        rest.lines().fold(located, |located, line| located.help(line.trim())).into()
    }

    /// The formula; numbers are formulas too.
    pub fn formula(&self) -> Result<Formula> {
        Formula::from_origin(&self.to_string(), self.origin().cloned())
    }
}

/// The same number, or the same text, wherever it was written.
impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        let number = |x: &Self| match x {
            Self::Number(x) => Some(*x),
            Self::Formula(text) | Self::Written(text, _) => text.parse::<f64>().ok(),
        };
        match (number(self), number(other)) {
            (Some(a), Some(b)) => a == b,
            (None, None) => self.to_string() == other.to_string(),
            _ => false,
        }
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Number(x) => serializer.serialize_f64(*x),
            Self::Formula(text) | Self::Written(text, _) => match text.parse::<f64>() {
                // a number in the file, too, if it stands there in the same way: else it would be another text when it is read, and a text of
                // that yet another
                Ok(x) if x.is_finite() && toml::Value::Float(x).to_string() == *text => {
                    serializer.serialize_f64(x)
                }
                _ => serializer.serialize_str(text),
            },
        }
    }
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
            Self::Formula(text) | Self::Written(text, _) => f.write_str(text),
        }
    }
}

/// Named formulas, any of which may use the others.
#[derive(Clone, Debug, Default)]
pub struct Formulas {
    graph: Graph,
    scope: Scope,
}

impl Formulas {
    /// Reads the definitions, in whatever order they depend on each other. A name such as `m[2]` is an entry of a vector.
    pub fn new(definitions: &[(String, Quantity)]) -> Result<Self> {
        Self::with_sizes(definitions, [], None)
    }

    /// The same, with whole numbers that may stand in indices and ranges, and with names that mean something elsewhere.
    pub fn with_sizes<'a>(
        definitions: &[(String, Quantity)],
        sizes: impl IntoIterator<Item = (&'a str, usize)>,
        elsewhere: Option<Arc<Elsewhere>>,
    ) -> Result<Self> {
        let mut formulas = Self::begin(sizes, elsewhere);
        formulas.define(definitions)?;
        Ok(formulas)
    }

    /// The same, with the definitions at some places replaced by inputs, for tapes.
    pub(super) fn with_inputs<'a>(
        definitions: &[(String, Quantity)],
        sizes: impl IntoIterator<Item = (&'a str, usize)>,
        elsewhere: Option<Arc<Elsewhere>>,
        inputs: &[usize],
    ) -> Result<Self> {
        let mut formulas = Self::begin(sizes, elsewhere);
        let taken = |name: &str| {
            formulas.scope.knows(name) || definitions.iter().any(|(other, _)| other.starts_with(name))
        };
        let mut hidden = "input".to_owned();
        while taken(&hidden) {
            hidden.push('_');
        }
        let nodes = (0..inputs.len()).map(|i| formulas.graph.coordinate(i)).collect();
        formulas.scope.set(&hidden, Value::Vector(nodes));
        let mut definitions = definitions.to_vec();
        for (i, &place) in inputs.iter().enumerate() {
            definitions[place].1 = Quantity::Formula(format!("{hidden}[{}]", i + 1));
        }
        formulas.define(&definitions)?;
        Ok(formulas)
    }

    fn begin<'a>(
        sizes: impl IntoIterator<Item = (&'a str, usize)>,
        elsewhere: Option<Arc<Elsewhere>>,
    ) -> Self {
        let mut formulas = Self { graph: Graph::strict(), scope: Scope::default() };
        formulas.scope.set_elsewhere(elsewhere);
        for (name, value) in sizes {
            formulas.scope.set_whole(name, value as i64);
        }
        formulas
    }

    fn define(&mut self, definitions: &[(String, Quantity)]) -> Result<()> {
        for (name, quantity) in definitions {
            if let Quantity::Number(x) = quantity
                && !x.is_finite()
            {
                return Err(not_a_number(&format!("parameter `{name}`"), quantity, *x, None));
            }
            let formula = Arc::new(quantity.formula()?);
            match entry_name(name) {
                Some((vector, index)) => self.scope.define_entry(vector, index, formula, None),
                None => self.scope.define(name, formula),
            }
        }
        self.scope.settle_all(&mut self.graph)
    }

    /// Adds a name with a value, for the formulas that come later.
    pub fn add<R: Real>(&mut self, name: &str, value: &R) {
        let node = self.graph.decimal(&value.to_text(None));
        self.scope.set(name, Value::Scalar(node));
    }

    /// Says of a name why it cannot be used.
    pub fn refuse(&mut self, name: &str, why: &str) {
        if !self.scope.knows(name) {
            self.scope.refuse(name, why);
        }
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
        let [out, parts] = self.tapes(quantities, 0)?.map(|tape| {
            let mut out = vec![R::zero(); tape.outputs()];
            Evaluator::new(tape, &[]).evaluate(&[], &[], &R::zero(), &mut out);
            out
        });
        if out.iter().chain(&parts).all(R::is_finite) {
            return Ok(out);
        }
        for (i, (quantity, value)) in quantities.iter().zip(&out).enumerate() {
            let part = self.culprit(quantity)?;
            if !value.is_finite() || part.is_some() {
                return Err(not_a_number(&what(i), quantity, value.to_f64(), part));
            }
        }
        // some part is finite with the digits of an `f64` only
        Err(not_a_number(&what(0), &quantities[0], f64::NAN, None))
    }

    /// The smallest part of a formula, or of a definition it uses, that is not finite.
    fn culprit(&mut self, quantity: &Quantity) -> Result<Option<Culprit>> {
        if let Quantity::Number(_) = quantity {
            return Ok(None);
        }
        let formula = Arc::new(quantity.formula()?);
        let mut parts = Parts { parameters: &[], q: &[], v: &[], t: 0.0, values: Vec::new() };
        let mut value = |graph: &Graph, node| parts.value(graph, node);
        let found = self.scope.culprit(&mut self.graph, &formula, &mut value);
        Ok(found.map(|(formula, range, value)| Culprit { formula, range, value }))
    }

    /// A tape of formulas, which has so many inputs, and one of their parts that may not be finite. On one tape the parts would
    /// change how the formulas are rounded.
    pub(super) fn tapes(&mut self, quantities: &[Quantity], inputs: usize) -> Result<[Arc<Tape>; 2]> {
        let mut nodes = Vec::with_capacity(quantities.len());
        for quantity in quantities {
            nodes.push(match quantity {
                // infinities and NaN have no literal
                Quantity::Number(x) if !x.is_finite() => self.graph.number(*x),
                _ => self.scope.scalar(&mut self.graph, &quantity.formula()?)?,
            });
        }
        let parts = self.graph.doubtful(&nodes);
        Ok([nodes, parts].map(|nodes| Arc::new(Tape::new(&self.graph, inputs, &nodes))))
    }

    /// The entries of a vector as formulas of their own, or nothing if the formula is no vector.
    pub fn entries(&mut self, quantity: &Quantity) -> Result<Option<Vec<Quantity>>> {
        Ok(if self.is_vector(quantity)? {
            Some(self.expand(std::slice::from_ref(quantity), 0)?)
        } else {
            None
        })
    }

    /// Whether a formula is a vector, by what it says: `[…]`, `list(…)`, or the name of one.
    pub fn is_vector(&self, quantity: &Quantity) -> Result<bool> {
        let formula = quantity.formula()?;
        Ok(match &formula.ast.kind {
            Kind::Vector(_) => true,
            Kind::Loop(l) => l.kind == LoopKind::List,
            Kind::Name => self.scope.is_vector(&formula.text),
            _ => false,
        })
    }

    /// A list of quantities as one for each of `n` places: vectors give their entries, and `...` at the end repeats the last.
    pub fn expand(&mut self, list: &[Quantity], n: usize) -> Result<Vec<Quantity>> {
        let mut all = Vec::with_capacity(n);
        for (i, quantity) in list.iter().enumerate() {
            let text = match quantity {
                Quantity::Number(_) => "",
                Quantity::Formula(text) | Quantity::Written(text, _) => text,
            };
            if matches!(text, "..." | "…") && i + 1 == list.len() {
                let last = all.last().cloned().unwrap_or(Quantity::Number(0.0));
                all.resize(n.max(all.len()), last);
            } else if text.contains('[') || text.contains("list") || self.scope.is_vector(text) {
                let formula = quantity.formula()?;
                let parts = self.scope.entries_of(&formula)?;
                all.extend(parts.into_iter().map(|(text, origin)| match origin {
                    Some(origin) => Quantity::Written(text, origin),
                    None => Quantity::Formula(text),
                }));
            } else {
                all.push(quantity.clone());
            }
        }
        Ok(all)
    }
}

/// `m[2]` as name and index.
pub(super) fn entry_name(name: &str) -> Option<(&str, i64)> {
    let (vector, rest) = name.split_once('[')?;
    Some((vector, rest.strip_suffix(']')?.parse().ok()?))
}

/// A part of a formula that is not finite.
struct Culprit {
    formula: Shared,
    range: Range<usize>,
    value: f64,
}

/// The error for a formula that is not a finite number, or has a part that is none, at its place if that is known.
fn not_a_number(what: &str, quantity: &Quantity, value: f64, part: Option<Culprit>) -> Error {
    let text = |part: &Culprit| part.formula.text.get(part.range.clone()).unwrap_or_default().to_owned();
    let part = part.filter(|part| text(part) != quantity.to_string() || part.formula.origin.is_none());
    let title = match &part {
        Some(part) if value.is_finite() => format!("`{}` in {what}", text(part)),
        _ => what.to_owned(),
    };
    let place =
        part.as_ref().and_then(|part| part.formula.origin.as_ref().map(|o| (o, o.range(part.range.clone()))));
    let gives = part.as_ref().map_or(value, |part| part.value);
    match place.or_else(|| quantity.origin().map(|origin| (origin, origin.whole()))) {
        Some((origin, range)) => {
            Diagnostic::new(origin.source(), range, format!("{title} is not a finite number"))
                .label(format!("gives {gives}"))
                .help("look for a division by zero, or a root or logarithm of a negative number")
                .into()
        }
        None => {
            // of a parameter known by its name, the part of its formula
            let formula = part.as_ref().map_or_else(|| quantity.to_string(), text);
            Error::NotANumber { what: what.to_owned(), formula, value: gives }
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
        assert!(matches!(formulas(&[("a", "b"), ("b", "2*a")]), Err(Error::Source(_))));
        let mut f = formulas(&[("a", "0")]).expect("defined");
        assert!(matches!(f.value::<f64>("x", &Quantity::from("1/a")), Err(Error::NotANumber { .. })));
        assert!(matches!(f.value::<f64>("x", &Quantity::Number(f64::NAN)), Err(Error::NotANumber { .. })));
        assert!(matches!(f.value::<f64>("x", &Quantity::from("nan")), Err(Error::Source(_))));
    }
}
