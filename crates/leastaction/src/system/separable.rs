//! What in a Lagrangian keeps it from being ½ vᵀMv − V(q, t) with a constant mass matrix M, by name.
//!
//! Terms that are linear in velocities with constant factors do no harm.

use super::System;
use crate::expr::{Depends, NodeId};

impl System {
    /// Why kinetic and potential energy cannot be taken apart, if they cannot: the first entry at fault.
    pub fn inseparable(&self) -> Option<String> {
        let model = &self.model;
        let name = |i: usize| self.coordinates.get(i).map_or("?", |coordinate| coordinate.name.as_str());
        let changes = |node: NodeId| model.graph.depends(node).on(Depends::STATE);
        if let Some(entry) = model.l_vv.iter().find(|entry| changes(entry.node)) {
            let with = [
                (Depends::COORDINATES, "coordinates"),
                (Depends::VELOCITIES, "velocities"),
                (Depends::TIME, "time"),
            ];
            let depends = model.graph.depends(entry.node);
            let what: Vec<&str> =
                with.iter().filter(|(set, _)| depends.on(*set)).map(|(_, word)| *word).collect();
            let which = match entry.row == entry.column {
                true => format!("its entry for `{}`", name(entry.row)),
                false => format!("its entry for `{}` and `{}`", name(entry.column), name(entry.row)),
            };
            return Some(format!(
                "the mass matrix L_vv is not constant: {which} depends on {}",
                what.join(" and ")
            ));
        }
        if let Some(entry) = model.l_qv.first() {
            let (q, v) = (name(entry.row), name(entry.column));
            return Some(format!(
                "a force depends on a velocity: `{q}` and the velocity of `{v}` occur in one term"
            ));
        }
        let depends_on_time = |node: &NodeId| model.graph.depends(*node).on(Depends::TIME);
        let i = model.l_v.iter().position(depends_on_time)?;
        Some(format!("the momentum of `{}` depends on time as well as on velocities", name(i)))
    }
}
