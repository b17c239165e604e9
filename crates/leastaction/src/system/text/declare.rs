//! The names that a system file declares: sizes, coordinates, parameters, definitions.
//!
//! `x[32]` among the coordinates is a vector of 32; a list among the parameters is a vector; a definition with a key such as
//! `x[i = 1..n]` is one for each index.

use super::Reader;
use super::document::{Item, Key};
use crate::error::{Error, Origin, Result};
use crate::expr::{Formula, Kind, LoopKind, Scope, Shared, is_name};
use crate::system::{Quantity, Size};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use toml::de::DeValue;

/// More coordinates than this are refused.
pub(super) const MAX_COORDINATES: usize = 1_000_000;

/// One coordinate.
pub(super) struct Single {
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) meaning: String,
}

/// An entry of the list of coordinates: one, or a vector of them.
pub(super) struct Group {
    pub(super) name: String,
    pub(super) vector: bool,
    pub(super) range: Range<usize>,
    pub(super) place: Range<usize>,
}

/// All coordinates.
pub(super) struct Coordinates {
    pub(super) list: Vec<Single>,
    pub(super) groups: Vec<Group>,
}

/// A parameter or a vector of them.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) vector: bool,
    pub(super) first: i64,
    pub(super) values: Vec<Quantity>,
    unit: String,
    meaning: String,
    pub(super) place: Range<usize>,
}

impl Named {
    /// Name, value, unit and meaning of each.
    pub(super) fn entries(&self) -> impl Iterator<Item = (String, Quantity, &str, &str)> {
        self.values.iter().enumerate().map(|(i, value)| {
            let name = if self.vector {
                format!("{}[{}]", self.name, i as i64 + self.first)
            } else {
                self.name.clone()
            };
            (name, value.clone(), self.unit.as_str(), self.meaning.as_str())
        })
    }
}

/// A definition, or one for each index.
pub(super) struct Family {
    pub(super) name: String,
    pub(super) place: Range<usize>,
    /// The variable, and the first and last index.
    pub(super) indices: Option<(Option<Arc<str>>, i64, i64)>,
    formula: Shared,
}

impl Family {
    pub(super) fn define(&self, scope: &mut Scope) {
        match &self.indices {
            None => scope.define(&self.name, self.formula.clone()),
            Some((variable, from, to)) => {
                for i in *from..=*to {
                    scope.define_entry(&self.name, i, self.formula.clone(), variable.clone());
                }
            }
        }
    }
}

/// A name with an index or a range of indices: `x`, `x[3]`, `x[i = 1..n]`.
pub(super) struct Indexed {
    pub(super) name: String,
    pub(super) indices: Option<(Option<Arc<str>>, i64, i64)>,
}

impl Reader<'_> {
    pub(super) fn sizes(&self, replaced: &mut BTreeMap<String, Quantity>) -> Result<Vec<Size>> {
        let d = self.document;
        let Some(table) = d.table("sizes")? else { return Ok(Vec::new()) };
        let mut scope = Scope::default();
        scope.set_elsewhere(Some(self.names.clone()));
        let mut sizes: Vec<Size> = Vec::new();
        for (key, item) in table {
            let name = self.key_name(key)?;
            let given = replaced.remove(&name);
            let quantity = match &given {
                Some(quantity) => quantity.clone(),
                None => d.quantity(item)?,
            };
            let formula = quantity.formula()?;
            let value = scope.whole(&formula)?;
            let Some(count) = usize::try_from(value).ok().filter(|x| *x <= 1_000_000_000) else {
                let title =
                    format!("the size `{name}` must be a whole number from 0 to 1000000000, but is {value}");
                return Err(match quantity.origin() {
                    Some(origin) => {
                        crate::error::Diagnostic::new(origin.source(), origin.whole(), title).into()
                    }
                    None => Error::BadParameter {
                        system: self.name.to_owned(),
                        name,
                        expected: "a whole number from 0 to 1000000000".to_owned(),
                        found: value.to_string(),
                    },
                });
            };
            scope.set_whole(&name, value);
            let meaning = d.comment(item.span().end).map_or(String::new(), |(_, meaning)| meaning);
            sizes.push(Size { name, value: count, meaning });
        }
        Ok(sizes)
    }

    pub(super) fn coordinates(&self, scope: &mut Scope) -> Result<Coordinates> {
        let d = self.document;
        let end = d.source.text.len();
        let Some(item) = d.root.get("coordinates") else {
            return Err(d
                .error(0..0, "`coordinates` is missing")
                .help("begin the file with the names of the coordinates: coordinates = [\"x\", \"theta\"]")
                .note("a file that describes a run of another system begins with `system`")
                .into());
        };
        let DeValue::Array(array) = item.get_ref() else {
            return Err(d.wrong_type(item, "a list of names, such as [\"x\", \"theta\"]").into());
        };
        let shared = d.comment(item.span().end.min(end));
        let mut result = Coordinates { list: Vec::new(), groups: Vec::new() };
        for entry in array.iter() {
            let (name, count) = self.coordinate(entry, scope)?;
            let comment = d.comment(entry.span().end).or_else(|| shared.clone());
            let (unit, meaning) = comment.unwrap_or_default();
            let start = result.list.len();
            if count.unwrap_or(1) > MAX_COORDINATES - start {
                let title = format!("more than {MAX_COORDINATES} coordinates");
                return Err(d.error(entry.span(), title).into());
            }
            for i in 1..=count.unwrap_or(1) {
                let name = if count.is_some() { format!("{name}[{i}]") } else { name.clone() };
                result.list.push(Single { name, unit: unit.clone(), meaning: meaning.clone() });
            }
            let (range, place) = (start..result.list.len(), entry.span());
            result.groups.push(Group { name, vector: count.is_some(), range, place });
        }
        if result.list.is_empty() {
            return Err(d
                .error(item.span(), "a system needs at least one coordinate")
                .help("name them: coordinates = [\"x\", \"theta\"]")
                .into());
        }
        Ok(result)
    }

    /// `x` or `x[32]`.
    fn coordinate(&self, entry: &Item<'_>, scope: &mut Scope) -> Result<(String, Option<usize>)> {
        let d = self.document;
        let DeValue::String(text) = entry.get_ref() else {
            return Err(d.wrong_type(entry, "a name in quotes").into());
        };
        let origin = d.origin(entry.span(), text);
        let Some((name, rest)) = text.split_once('[') else {
            self.check_name(text, entry.span())?;
            return Ok((text.to_string(), None));
        };
        self.check_name(name.trim_end(), entry.span())?;
        let Some(inner) = rest.trim_end().strip_suffix(']') else {
            return Err(d.error(entry.span(), "expected `]` at the end").into());
        };
        let start = name.len() + 1;
        let formula = Formula::from_origin(inner, Some(origin.of_part(start..start + inner.len())))?;
        let count = scope.whole(&formula)?;
        match usize::try_from(count) {
            Ok(count) => Ok((name.trim_end().to_owned(), Some(count))),
            Err(_) => {
                Err(d.error(entry.span(), format!("`{}` would have {count} entries", name.trim_end())).into())
            }
        }
    }

    pub(super) fn parameters(&self, scope: &mut Scope) -> Result<Vec<Named>> {
        let d = self.document;
        let Some(table) = d.table("parameters")? else { return Ok(Vec::new()) };
        let mut list: Vec<Named> = Vec::new();
        for (key, item) in table {
            let indexed = self.indexed(key, scope)?;
            let (values, vector) = match (&indexed.indices, item.get_ref()) {
                (None, DeValue::Array(_)) => (d.quantities(item)?, true),
                (None, _) => self.entries(d.quantity(item)?, scope)?,
                (Some((variable, from, to)), _) => {
                    (self.repeated(&d.quantity(item)?, variable.as_ref(), *from..=*to, scope)?, true)
                }
            };
            let (unit, meaning) = d.comment(item.span().end).unwrap_or_default();
            let first = indexed.indices.as_ref().map_or(1, |(_, from, _)| *from);
            if first != 1 {
                let title = "the indices of a vector of parameters start at 1";
                return Err(d.error(key.span(), title).into());
            }
            list.push(Named { name: indexed.name, vector, first, values, unit, meaning, place: key.span() });
        }
        // what is wrong with them is found now, where their places are known
        let definitions: Vec<(String, Quantity)> =
            list.iter().flat_map(Named::entries).map(|(name, value, ..)| (name, value)).collect();
        let sizes: Vec<(String, usize)> = self.size_values(scope);
        let sizes = sizes.iter().map(|(name, x)| (name.as_str(), *x));
        crate::system::Formulas::with_sizes(&definitions, sizes, Some(self.names.clone()))?;
        Ok(list)
    }

    fn size_values(&self, scope: &Scope) -> Vec<(String, usize)> {
        let wholes = scope.wholes();
        wholes.map(|(name, value)| (name.to_owned(), usize::try_from(value).unwrap_or(0))).collect()
    }

    /// The entries of a vector formula, or the one of a scalar.
    fn entries(&self, quantity: Quantity, scope: &mut Scope) -> Result<(Vec<Quantity>, bool)> {
        let formula = quantity.formula()?;
        let vector = match &formula.ast.kind {
            Kind::Vector(_) => true,
            Kind::Loop(l) => l.kind == LoopKind::List,
            _ => false,
        };
        if !vector {
            return Ok((vec![quantity], false));
        }
        Ok((scope.entries_of(&formula)?.into_iter().map(from_entry).collect(), true))
    }

    /// One formula for each value of a variable.
    fn repeated(
        &self,
        quantity: &Quantity,
        variable: Option<&Arc<str>>,
        range: std::ops::RangeInclusive<i64>,
        scope: &mut Scope,
    ) -> Result<Vec<Quantity>> {
        let formula = quantity.formula()?;
        let mut list = Vec::new();
        for i in range {
            let bindings = variable.map(|variable| (variable.clone(), i)).into_iter().collect();
            list.extend(scope.entries_with(&formula, bindings)?.into_iter().map(from_entry));
        }
        Ok(list)
    }

    pub(super) fn definitions(&self, scope: &mut Scope) -> Result<Vec<Family>> {
        let d = self.document;
        let Some(table) = d.table("definitions")? else { return Ok(Vec::new()) };
        let mut list = Vec::new();
        for (key, item) in table {
            let indexed = self.indexed(key, scope)?;
            let formula = match item.get_ref() {
                // a list is a vector
                DeValue::Array(_) => {
                    let parts = d.quantities(item)?;
                    let text: Vec<String> = parts.iter().map(ToString::to_string).collect();
                    for part in &parts {
                        part.formula()?;
                    }
                    let origin = Origin::new(d.source.clone(), &[], item.span());
                    Formula::from_origin(&format!("[{}]", text.join(", ")), Some(origin))?
                }
                _ => d.formula(item)?,
            };
            let (name, indices) = (indexed.name, indexed.indices);
            list.push(Family { name, place: key.span(), indices, formula: Arc::new(formula) });
        }
        Ok(list)
    }

    /// A key that is a name.
    fn key_name(&self, key: &Key<'_>) -> Result<String> {
        self.check_name(key.get_ref(), key.span())?;
        Ok(key.get_ref().to_string())
    }

    pub(super) fn check_name(&self, name: &str, place: Range<usize>) -> Result<()> {
        if is_name(name) {
            return Ok(());
        }
        Err(self
            .document
            .error(place, format!("`{name}` is not a name"))
            .note("a name has letters (also Greek ones), digits and _, and does not start with a digit")
            .into())
    }

    /// A key with indices.
    pub(super) fn indexed(&self, key: &Key<'_>, scope: &mut Scope) -> Result<Indexed> {
        let text = key.get_ref().as_ref();
        let origin = self.document.origin(key.span(), text);
        let Some((name, rest)) = text.split_once('[') else {
            return Ok(Indexed { name: self.key_name(key)?, indices: None });
        };
        self.check_name(name.trim(), key.span())?;
        let Some(inner) = rest.trim_end().strip_suffix(']') else {
            return Err(self.document.error(key.span(), "expected `]` at the end").into());
        };
        let start = name.len() + 1;
        let indices = self.index_range(inner, &origin.of_part(start..start + inner.len()), scope)?;
        Ok(Indexed { name: name.trim().to_owned(), indices: Some(indices) })
    }

    /// `3` or `i = 1..n`.
    pub(super) fn index_range(
        &self,
        text: &str,
        origin: &Origin,
        scope: &mut Scope,
    ) -> Result<(Option<Arc<str>>, i64, i64)> {
        let whole = |scope: &mut Scope, part: Range<usize>| {
            let formula = Formula::from_origin(&text[part.clone()], Some(origin.of_part(part)))?;
            scope.whole(&formula)
        };
        let Some(equals) = text.find('=') else {
            let index = whole(scope, 0..text.len())?;
            return Ok((None, index, index));
        };
        let variable = text[..equals].trim();
        self.check_name(variable, origin.whole())?;
        if scope.knows(variable) || crate::expr::is_reserved(variable) {
            let title = format!("the variable `{variable}` has a meaning already");
            return Err(self.document.error(origin.whole(), title).help("take another name").into());
        }
        let Some(dots) = text[equals..].find("..").map(|i| i + equals) else {
            let error = self.document.error(origin.whole(), "expected a range such as `i = 1..n`");
            return Err(error.into());
        };
        let (from, to) = (whole(scope, equals + 1..dots)?, whole(scope, dots + 2..text.len())?);
        if to.saturating_sub(from) > 10_000_000 {
            return Err(self.document.error(origin.whole(), "more than 10000000 indices").into());
        }
        Ok((Some(variable.into()), from, to))
    }
}

fn from_entry((text, origin): (String, Option<Origin>)) -> Quantity {
    match origin {
        Some(origin) => Quantity::Written(text, origin),
        None => Quantity::Formula(text),
    }
}
