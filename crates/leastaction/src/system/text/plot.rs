//! `[plot]`: how the bodies of a system move in space, from formulas of their positions.
//!
//! `bodies` gives names and positions, `links` the rods between them: pairs of names, `origin` being the fixed point. A pair may
//! have a range as third entry, for bodies with an index: `["mass[i]", "mass[i+1]", "i = 1..n-1"]`.

use super::Reader;
use super::document::Item;
use crate::error::{Result, nearest, number};
use crate::expr::{Formula, Graph, Kind, NodeId, Scope, Value};
use crate::system::System;
use crate::system::build::RecordedMotion;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use toml::de::DeValue;

impl Reader<'_> {
    pub(super) fn motion(&self, graph: &mut Graph, scope: &mut Scope) -> Result<Option<RecordedMotion>> {
        let d = self.document;
        let Some(table) = d.table("plot")? else { return Ok(None) };
        let Some(bodies) = table.get("bodies") else {
            let place = d.root.get_key_value("plot").map_or(0..0, |(key, _)| key.span());
            return Err(d
                .error(place, "[plot] needs `bodies`")
                .help("bodies = { mass = [\"x\", \"y\"] }")
                .into());
        };
        let DeValue::Table(entries) = bodies.get_ref() else {
            return Err(d
                .wrong_type(bodies, "a table of names and positions: { mass = [\"x\", \"y\"] }")
                .into());
        };
        let mut names: Vec<String> = Vec::new();
        let mut positions: Vec<NodeId> = Vec::new();
        let mut dimension = None;
        for (key, item) in entries {
            let indexed = self.indexed(key, scope)?;
            let (variable, from, to) = indexed.indices.clone().unwrap_or((None, 0, 0));
            for i in from..=to {
                names.push(match indexed.indices {
                    Some(_) => format!("{}[{i}]", indexed.name),
                    None => indexed.name.clone(),
                });
                let bindings: Vec<(Arc<str>, i64)> = variable.iter().map(|v| (v.clone(), i)).collect();
                let mut position = self.position(graph, scope, item, &bindings)?;
                if !matches!(position.len(), 2 | 3) || dimension.is_some_and(|n| n != position.len()) {
                    let expected = dimension.map_or("2 or 3".to_owned(), |n: usize| n.to_string());
                    let title =
                        format!("a position needs {expected} coordinates, but this has {}", position.len());
                    return Err(d.error(item.span(), title).into());
                }
                dimension = Some(position.len());
                position.resize_with(3, || graph.number(0.0));
                positions.extend(position);
            }
        }
        let links = match table.get("links") {
            None => Vec::new(),
            Some(item) => self.links(item, &names, scope)?,
        };
        let sphere = table.get("sphere").map(|item| d.quantity(item)).transpose()?;
        let unit = table.get("unit").map(|item| d.string(item)).transpose()?.unwrap_or_default();
        let dimension = dimension.unwrap_or(2);
        Ok(Some(RecordedMotion { dimension, bodies: names, links, sphere, unit, positions }))
    }

    /// The radius of the sphere must be a positive number.
    pub(super) fn check_sphere(&self, system: &System) -> Result<()> {
        let d = self.document;
        let Some(item) = d.table("plot")?.and_then(|table| table.get("sphere")) else { return Ok(()) };
        let radius: f64 =
            system.formulas(&BTreeMap::new())?.value("the radius of the sphere", &d.quantity(item)?)?;
        if radius > 0.0 {
            return Ok(());
        }
        Err(d
            .error(
                item.span(),
                format!("the radius of the sphere must be positive, but is {}", number(radius)),
            )
            .help("leave `sphere` out if the bodies do not move on one")
            .into())
    }

    /// A position: a list of formulas, or a vector.
    fn position(
        &self,
        graph: &mut Graph,
        scope: &mut Scope,
        item: &Item<'_>,
        bindings: &[(Arc<str>, i64)],
    ) -> Result<Vec<NodeId>> {
        let d = self.document;
        let mut nodes = Vec::new();
        let parts: Vec<&Item<'_>> = match item.get_ref() {
            DeValue::Array(list) => list.iter().collect(),
            _ => vec![item],
        };
        for part in parts {
            let formula = d.formula(part)?;
            let value: Value = scope.evaluate_with(graph, &formula, bindings.to_vec())?;
            nodes.extend_from_slice(value.nodes());
        }
        Ok(nodes)
    }

    fn links(
        &self,
        item: &Item<'_>,
        names: &[String],
        scope: &mut Scope,
    ) -> Result<Vec<(Option<usize>, usize)>> {
        let d = self.document;
        let expected = "a list of pairs of names: [[\"origin\", \"upper\"], [\"upper\", \"lower\"]]";
        let DeValue::Array(list) = item.get_ref() else { return Err(d.wrong_type(item, expected).into()) };
        let places: HashMap<&str, usize> = names.iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect();
        let mut links = Vec::new();
        for pair in list.iter() {
            let DeValue::Array(ends) = pair.get_ref() else {
                return Err(d.wrong_type(pair, expected).into());
            };
            let ends: Vec<&Item<'_>> = ends.iter().collect();
            let (from, to, range) = match ends.as_slice() {
                [from, to] => (from, to, None),
                [from, to, range] => (from, to, Some(range)),
                _ => return Err(d.error(pair.span(), format!("expected {expected}")).into()),
            };
            let indices = match range {
                None => (None, 0, 0),
                Some(range) => {
                    let text = d.string(range)?;
                    self.index_range(&text, &d.origin(range.span(), &text), scope)?
                }
            };
            for i in indices.1..=indices.2 {
                let bindings: Vec<(Arc<str>, i64)> = indices.0.iter().map(|v| (v.clone(), i)).collect();
                let end = |scope: &mut Scope, item: &Item<'_>| -> Result<Option<usize>> {
                    let name = self.body(item, scope, &bindings)?;
                    if name == "origin" {
                        return Ok(None);
                    }
                    places.get(name.as_str()).copied().map(Some).ok_or_else(|| {
                        let hint = nearest(&name, names.iter().map(String::as_str).chain(["origin"]));
                        d.error(item.span(), format!("there is no body `{name}`{hint}")).into()
                    })
                };
                let (from, to_end) = (end(scope, from)?, end(scope, to)?);
                let Some(to_end) = to_end else {
                    return Err(d.error(to.span(), "a link ends at a body; put `origin` first").into());
                };
                links.push((from, to_end));
            }
        }
        Ok(links)
    }

    /// The name of a body, its index evaluated.
    fn body(&self, item: &Item<'_>, scope: &mut Scope, bindings: &[(Arc<str>, i64)]) -> Result<String> {
        let d = self.document;
        let text = d.string(item)?;
        if !text.contains('[') {
            return Ok(text);
        }
        let formula = Formula::from_origin(&text, Some(d.origin(item.span(), &text)))?;
        let Kind::Entry(name, index) = &formula.ast.kind else {
            return Err(d.error(item.span(), "expected the name of a body, such as mass[1]").into());
        };
        let at = scope.whole_part(&formula, index, bindings.to_vec())?;
        Ok(format!("{}[{at}]", formula.of(name)))
    }
}
