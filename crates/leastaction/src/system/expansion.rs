//! A Lagrangian that is quadratic in the velocities, written out: L = ½ v·Mv + c·v − V with M = L_vv, c = L_v(v = 0), V = −L(v = 0).
//!
//! Only `describe` needs it, so the nodes are made in a copy of the graph.

use super::Model;
use crate::expr::{Graph, Node, NodeId, Readable, Terms};

/// Mass matrices with more entries are not written out.
const MOST_ENTRIES: usize = 5000;

/// The parts of L as nodes.
pub(super) struct Expansion {
    graph: Graph,
    /// Terms of ½ v·Mv, squares first.
    kinetic: Vec<NodeId>,
    /// Terms of c·v.
    linear: Vec<NodeId>,
    /// Terms M_ij v_j and c_i of each momentum.
    momenta: Vec<Vec<NodeId>>,
    /// L without velocities.
    rest: NodeId,
}

impl Expansion {
    /// `None` if M depends on velocities, or is too large to be printed.
    pub(super) fn of(model: &Model) -> Option<Self> {
        if !model.structure.quadratic || model.l_vv.len() > MOST_ENTRIES {
            return None;
        }
        let mut graph = (*model.graph).clone();
        let half = graph.number(0.5);
        let (mut squares, mut products) = (Vec::new(), Vec::new());
        let mut momenta = vec![Vec::new(); model.n];
        for entry in &model.l_vv {
            let (row, column) = (graph.velocity(entry.row), graph.velocity(entry.column));
            let (of_row, velocities) = (graph.mul(entry.node, column), graph.mul(row, column));
            momenta[entry.row].push(of_row);
            let term = graph.mul(entry.node, velocities);
            if entry.row == entry.column {
                squares.push(graph.mul(half, term));
            } else {
                products.push(term);
                momenta[entry.column].push(graph.mul(entry.node, row));
            }
        }
        let at_rest =
            |graph: &mut Graph, node: Node| matches!(node, Node::Velocity(_)).then(|| graph.number(0.0));
        let roots: Vec<NodeId> = model.l_v.iter().copied().chain([model.lagrangian]).collect();
        let mut constants = graph.substitute_all(&roots, at_rest);
        let rest = constants.pop()?;
        let mut linear = Vec::new();
        for (i, c) in constants.into_iter().enumerate() {
            if !graph.is_zero(c) {
                let velocity = graph.velocity(i);
                linear.push(graph.mul(c, velocity));
                momenta[i].push(c);
            }
        }
        squares.extend(products);
        Some(Self { graph, kinetic: squares, linear, momenta, rest })
    }

    /// Prints nodes of the copy.
    pub(super) fn readable<'b>(&'b self, like: &Readable<'b>) -> Readable<'b> {
        Readable { graph: &self.graph, ..*like }
    }

    /// p_i.
    pub(super) fn momentum(&self, i: usize) -> Terms {
        self.momenta[i].iter().map(|&id| (false, id)).collect()
    }

    /// T, G and V.
    pub(super) fn parts(&self) -> [Terms; 3] {
        let plus = |list: &[NodeId]| list.iter().map(|&id| (false, id)).collect();
        [plus(&self.kinetic), plus(&self.linear), vec![(true, self.rest)]]
    }
}
