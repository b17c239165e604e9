//! What can be wrong with a system file although every formula of it can be read: names used twice, coordinates that occur
//! nowhere, parameters and definitions that nothing uses.

use super::declare::{Coordinates, Family, Named};
use super::{Lagrangian, Reader};
use crate::error::{Diagnostic, Result};
use crate::expr::{Graph, Node, in_name, is_reserved};
use crate::system::Size;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use toml::de::DeValue;

impl Reader<'_> {
    /// Names must differ, and none may have a meaning already.
    pub(super) fn check_names(
        &self,
        sizes: &[Size],
        coordinates: &Coordinates,
        parameters: &[Named],
        definitions: &[Family],
    ) -> Result<()> {
        let d = self.document;
        let mut seen: HashMap<String, (Range<usize>, &str)> = HashMap::new();
        let mut declare = |name: &str, place: Range<usize>, kind: &'static str| -> Result<()> {
            if is_reserved(name) {
                let what = if crate::expr::CONSTANTS.contains(&name) {
                    "has a meaning of its own"
                } else {
                    "is a function"
                };
                return Err(d
                    .error(place, format!("the name `{name}` {what}"))
                    .help("take another name")
                    .into());
            }
            match seen.get(name) {
                Some((first, what)) => Err(d
                    .error(place, format!("the name `{name}` is used twice"))
                    .label(format!("again as {kind}"))
                    .other(first.clone(), format!("first as {what}"))
                    .help("rename one of them")
                    .into()),
                None => {
                    seen.insert(name.to_owned(), (place, kind));
                    Ok(())
                }
            }
        };
        let table = d.table("sizes")?;
        for size in sizes {
            let place =
                table.and_then(|t| t.get_key_value(size.name.as_str())).map_or(0..0, |(k, _)| k.span());
            declare(&size.name, place, "a size")?;
        }
        for group in &coordinates.groups {
            declare(&group.name, group.place.clone(), "a coordinate")?;
        }
        for group in &coordinates.groups {
            declare(&format!("v_{}", group.name), group.place.clone(), "the velocity of a coordinate")?;
        }
        for parameter in parameters {
            declare(&parameter.name, parameter.place.clone(), "a parameter")?;
        }
        let mut families: HashMap<&str, Vec<&Family>> = HashMap::new();
        for family in definitions {
            let others = families.entry(&family.name).or_default();
            if others.is_empty() {
                declare(&family.name, family.place.clone(), "a definition")?;
            }
            others.push(family);
        }
        for list in families.values() {
            self.check_indices(list)?;
        }
        for family in definitions {
            if let Some((Some(variable), ..)) = &family.indices
                && seen.contains_key(&**variable)
            {
                let title = format!("the variable `{variable}` has a meaning already");
                return Err(d.error(family.place.clone(), title).help("take another name").into());
            }
        }
        Ok(())
    }

    /// The indices of definitions with one name must not overlap, and leave no gap.
    fn check_indices(&self, list: &[&Family]) -> Result<()> {
        let mut ranges: Vec<(i64, i64, &Family)> = Vec::new();
        for family in list {
            match &family.indices {
                Some((_, from, to)) if to >= from => ranges.push((*from, *to, family)),
                Some(_) => {}
                None if list.len() > 1 => {
                    let title = format!("`{}` is defined with and without an index", family.name);
                    return Err(self.document.error(family.place.clone(), title).into());
                }
                None => {}
            }
        }
        ranges.sort_by_key(|(from, ..)| *from);
        for pair in ranges.windows(2) {
            if pair[1].0 <= pair[0].1 {
                let title = format!("`{}[{}]` is defined twice", pair[1].2.name, pair[1].0);
                return Err(self
                    .document
                    .error(pair[1].2.place.clone(), title)
                    .other(pair[0].2.place.clone(), "also here")
                    .into());
            }
            let (from, to) = (pair[0].1 + 1, pair[1].0 - 1);
            if from <= to {
                let name = &pair[1].2.name;
                let title = match from == to {
                    true => format!("`{name}[{from}]` is missing between the entries of `{name}`"),
                    false => format!(
                        "`{name}[{from}]` to `{name}[{to}]` are missing between the entries of `{name}`"
                    ),
                };
                return Err(self
                    .document
                    .error(pair[1].2.place.clone(), title)
                    .label(format!("this is {}", pair[1].0))
                    .other(pair[0].2.place.clone(), format!("this ends at {}", pair[0].1))
                    .help("give all of them, or other numbers to those that there are")
                    .into());
            }
        }
        Ok(())
    }

    /// Every coordinate's velocity must occur: otherwise nothing determines its motion.
    pub(super) fn check_occurrence(
        &self,
        graph: &Graph,
        lagrangian: &Lagrangian,
        coordinates: &Coordinates,
    ) -> Result<()> {
        let n = coordinates.list.len();
        let (mut q, mut v) = (vec![false; n], vec![false; n]);
        let mut seen = vec![false; graph.len()];
        let mut stack = vec![lagrangian.node];
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut seen[id.0 as usize], true) {
                continue;
            }
            match graph.node(id) {
                Node::Coordinate(i) => q[i as usize] = true,
                Node::Velocity(i) => v[i as usize] = true,
                Node::Unary(_, a) => stack.push(a),
                Node::Binary(_, a, b) => stack.extend([a, b]),
                _ => {}
            }
        }
        let Some(i) = v.iter().position(|found| !found) else { return Ok(()) };
        let name = &coordinates.list[i].name;
        let group = coordinates.groups.iter().find(|g| g.range.contains(&i));
        let place = group.map_or(0..0, |g| g.place.clone());
        let d = self.document;
        if !v.contains(&true) {
            return Err(d
                .error(
                    lagrangian.origin.whole(),
                    "no velocity occurs in the Lagrangian, so nothing determines the motion",
                )
                .help(format!("the velocity of `{name}` is written dot({name}) or v_{name}"))
                .into());
        }
        let error = if q[i] {
            d.error(place, format!("the velocity of `{name}` does not occur in the Lagrangian"))
                .label("nothing determines its motion")
                .help(format!("its velocity is written dot({name}) or v_{name}"))
        } else {
            d.error(place, format!("the coordinate `{name}` occurs nowhere in the Lagrangian"))
                .label("nothing determines its motion")
                .help("remove it, or use it")
        };
        Err(error.into())
    }

    /// Parameters and definitions that no formula mentions.
    pub(super) fn warnings(&self, parameters: &[Named], definitions: &[Family]) -> Vec<Diagnostic> {
        let mut words = HashSet::new();
        for (_, item) in &self.document.root {
            collect_words(item.get_ref(), &mut words);
        }
        let warn = |name: &str, place: &Range<usize>, kind: &str| {
            let warning =
                self.document.error(place.clone(), format!("the {kind} `{name}` is not used")).warning();
            (!words.contains(name)).then_some(warning)
        };
        let unused = parameters.iter().filter_map(|p| warn(&p.name, &p.place, "parameter"));
        let mut named = HashSet::new();
        let first = definitions.iter().filter(|f| named.insert(f.name.as_str()));
        unused.chain(first.filter_map(|f| warn(&f.name, &f.place, "definition"))).collect()
    }
}

/// The words of all texts below a value.
fn collect_words(value: &DeValue<'_>, words: &mut HashSet<String>) {
    match value {
        DeValue::String(text) => {
            words.extend(text.split(|c: char| !in_name(c)).filter(|w| !w.is_empty()).map(str::to_owned));
        }
        DeValue::Array(list) => list.iter().for_each(|item| collect_words(item.get_ref(), words)),
        DeValue::Table(table) => table.iter().for_each(|(_, item)| collect_words(item.get_ref(), words)),
        _ => {}
    }
}
