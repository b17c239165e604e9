//! Parameters that replace the defaults of a system: vectors given as a whole, and names that are none.

use super::formulas::entry_name;
use super::{Quantity, System};
use crate::error::{Diagnostic, Error, Result, nearest};
use crate::expr::{Role, in_name};
use std::collections::{BTreeMap, HashMap, HashSet};

impl System {
    /// The error for a parameter that does not exist.
    fn unknown_parameter(&self, name: &str) -> Error {
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
    pub(super) fn unknown_parameter_at(&self, name: &str, value: &Quantity) -> Error {
        let error = self.unknown_parameter(name);
        let (Some(origin), Error::UnknownParameter { system, hint, known, .. }) = (value.origin(), &error)
        else {
            return error;
        };
        let bare = name.split('[').next().unwrap_or(name);
        let entries = self.parameters.iter().filter(|p| entry_name(&p.name).is_some_and(|(v, _)| v == bare));
        let (count, single) = (entries.count(), self.parameters.iter().any(|p| p.name == bare));
        // the name stands before its value: `mm = 3`, `--set mm=3`
        let value = origin.whole();
        let before = origin.source().text.get(..value.start).unwrap_or("");
        let is_key = |at: usize| {
            let after = before[at + bare.len()..].trim_start_matches(['"', '\'']).trim_start();
            after.starts_with(['=', '[']) && !before[..at].ends_with(in_name)
        };
        let key = before.rmatch_indices(bare).map(|(at, _)| at).find(|at| !bare.is_empty() && is_key(*at));
        let place = key.map_or(value, |at| at..at + bare.len());
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
    pub fn entries_of_vectors(
        &self,
        replaced: &BTreeMap<String, Quantity>,
    ) -> Result<BTreeMap<String, Quantity>> {
        let known: HashSet<&str> = self.parameters.iter().map(|p| p.name.as_str()).collect();
        let mut vectors: HashMap<&str, usize> = HashMap::new();
        for (vector, _) in self.parameters.iter().filter_map(|p| entry_name(&p.name)) {
            *vectors.entry(vector).or_default() += 1;
        }
        let mut all = replaced.clone();
        all.retain(|name, _| known.contains(name.as_str()) || !vectors.contains_key(name.as_str()));
        if all.len() == replaced.len() {
            return Ok(all);
        }
        let mut formulas = self.formulas(&all)?;
        for (name, value) in replaced {
            let Some(&count) = vectors.get(name.as_str()).filter(|_| !known.contains(name.as_str())) else {
                continue;
            };
            let Some(entries) = formulas.entries(value)? else {
                return Err(self.unknown_parameter_at(name, value));
            };
            if entries.len() != count {
                let message =
                    format!("the parameter `{name}` has {count} entries, but {} are given", entries.len());
                return Err(value.locate(Error::BadSystem { system: self.name.clone(), message }));
            }
            let named = |(i, entry)| (format!("{name}[{}]", i + 1), entry);
            all.extend(entries.into_iter().enumerate().map(named));
        }
        Ok(all)
    }
}
