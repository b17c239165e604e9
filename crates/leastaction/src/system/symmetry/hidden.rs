//! Coordinates, and time, that stand in the formulas of L although L does not change with them.
//!
//! The azimuth of a pendulum in space, typed by its Cartesian position, cancels by sin² + cos² = 1 only after squares
//! of sums are written out, which the graph does not do. Where it is proved that L is the same at every value of such
//! a coordinate, it is set to zero in the formulas: they get shorter, and its momentum is conserved to the last bit,
//! as that of a coordinate that was never typed. Time is taken out in the same way: a bead on a wire that turns
//! uniformly has the energy of its own frame.

use super::point::Formula;
use super::proof::ignored;
use crate::expr::Node;
use crate::system::{Model, System};
use std::collections::HashSet;
use std::sync::Arc;

/// The system with hidden cyclic coordinates, and hidden time, taken out of its Lagrangian.
pub(in crate::system) fn without_hidden(system: System) -> System {
    let (model, structure) = (&system.model, system.structure());
    let typed = (0..system.n()).filter(|i| structure.cyclic.binary_search(i).is_err());
    let typed = typed.map(|i| Node::Coordinate(i as u32));
    let inputs: Vec<Node> = typed.chain((!structure.autonomous).then_some(Node::Time)).collect();
    let formula = Formula::new(&model.graph, model.lagrangian, model.n, true);
    let hidden: HashSet<Node> = ignored(&formula, inputs).into_iter().collect();
    if hidden.is_empty() {
        return system;
    }
    let mut graph = (*model.graph).clone();
    let lagrangian = graph.substitute(model.lagrangian, |node| hidden.contains(&node).then_some(0.0));
    match Model::new(graph, model.n, lagrangian) {
        Some(model) => System { model: Arc::new(model), ..system },
        None => system,
    }
}
