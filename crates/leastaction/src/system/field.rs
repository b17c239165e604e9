//! Hamilton's equations on the graph: velocities and forces from coordinates and momenta.
//!
//! For L quadratic in the velocities, L_vv(q) v = p − L_v(q, 0) is solved on the graph by elimination, LDLᵀ without pivoting, and v is put
//! into L_q. So a straight tape computes (v, L_q) from (q, p), and what depends on parameters alone, such as the factors of a constant mass
//! matrix, is computed once. Where the mass matrix is not positive definite a pivot may vanish; the numbers are not finite then, and who asked
//! must look for the velocities in another way.

use super::Model;
use crate::expr::{Graph, Node, NodeId};
use std::collections::BTreeMap;

/// Elimination may add so many operations, or this many for each coordinate; else the tape would be long.
const MOST: usize = 20_000;
const MOST_EACH: usize = 40;

/// The velocities, then L_q, as nodes of a graph in which the velocities' nodes stand for momenta. `None` for L that is not quadratic in
/// the velocities, and where elimination would make too much of it.
pub(super) fn field(model: &Model) -> Option<(Graph, Vec<NodeId>)> {
    if !model.structure.quadratic {
        return None;
    }
    let n = model.n;
    let mut graph = (*model.graph).clone();
    let at_rest = graph.substitute_all(&model.l_v, |graph, node| {
        matches!(node, Node::Velocity(_)).then(|| graph.number(0.0))
    });
    let position = &model.structure.mass_ordering.position;
    let mut order = vec![0; n];
    for (i, &place) in position.iter().enumerate() {
        order[place] = i;
    }
    let right: Vec<NodeId> = order
        .iter()
        .map(|&i| {
            let momentum = graph.velocity(i);
            graph.sub(momentum, at_rest[i])
        })
        .collect();
    let mut columns = vec![BTreeMap::new(); n];
    for entry in &model.l_vv {
        let (i, j) = (position[entry.row], position[entry.column]);
        columns[i.min(j)].insert(i.max(j), entry.node);
    }
    let solved = Elimination { graph: &mut graph, columns, left: MOST.max(MOST_EACH * n) }.solve(right)?;
    let velocities: Vec<NodeId> = position.iter().map(|&place| solved[place]).collect();
    let forces = graph.substitute_all(&model.l_q, |_, node| match node {
        Node::Velocity(i) => Some(velocities[i as usize]),
        _ => None,
    });
    let outputs = velocities.into_iter().chain(forces).collect();
    Some((graph, outputs))
}

/// A symmetric matrix on its way to LDLᵀ.
struct Elimination<'g> {
    graph: &'g mut Graph,
    /// The lower triangle, column by column.
    columns: Vec<BTreeMap<usize, NodeId>>,
    /// So many operations may follow.
    left: usize,
}

impl Elimination<'_> {
    /// The solution for a right-hand side; `None` if it takes too much.
    fn solve(mut self, mut x: Vec<NodeId>) -> Option<Vec<NodeId>> {
        let n = x.len();
        let one = self.graph.number(1.0);
        let zero = self.graph.number(0.0);
        let mut factors: Vec<Vec<(usize, NodeId)>> = Vec::with_capacity(n);
        let mut inverses = Vec::with_capacity(n);
        for k in 0..n {
            let column = std::mem::take(&mut self.columns[k]);
            let pivot = column.get(&k).copied().unwrap_or(zero);
            let inverse = self.graph.div(one, pivot);
            inverses.push(inverse);
            let below: Vec<(usize, NodeId)> = column.into_iter().filter(|(i, _)| *i > k).collect();
            self.left = self.left.checked_sub(below.len() * (below.len() + 3) + 1)?;
            let factor: Vec<(usize, NodeId)> =
                below.iter().map(|&(i, entry)| (i, self.graph.mul(entry, inverse))).collect();
            for (place, &(i, factor_i)) in factor.iter().enumerate() {
                for &(j, entry_j) in &below[..=place] {
                    let entry = self.columns[j].get(&i).copied().unwrap_or(zero);
                    let product = self.graph.mul(factor_i, entry_j);
                    let entry = self.graph.sub(entry, product);
                    self.columns[j].insert(i, entry);
                }
                let product = self.graph.mul(factor_i, x[k]);
                x[i] = self.graph.sub(x[i], product);
            }
            factors.push(factor);
        }
        for k in (0..n).rev() {
            x[k] = self.graph.mul(x[k], inverses[k]);
            for &(i, factor) in &factors[k] {
                let product = self.graph.mul(factor, x[i]);
                x[k] = self.graph.sub(x[k], product);
            }
        }
        Some(x)
    }
}
