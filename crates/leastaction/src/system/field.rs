//! Hamilton's equations on the graph: velocities and forces from coordinates and momenta.
//!
//! For L quadratic in the velocities, L_vv(q) v = p − L_v(q, 0) is solved on the graph by elimination, LDLᵀ without pivoting, and v is put
//! into L_q. So a straight tape computes (v, L_q) from (q, p), and what depends on parameters alone, such as the factors of a constant mass
//! matrix, is computed once. Where the mass matrix is not positive definite a pivot may vanish; the numbers are not finite then, and who asked
//! must look for the velocities in another way.

use super::Model;
use crate::expr::{Graph, Node, NodeId, Tape};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Elimination may add so many operations, or this many for each coordinate; else the tape would be long.
const MOST: usize = 20_000;
const MOST_EACH: usize = 40;

/// Up to so many coordinates all entries of the inverse mass matrix are written down.
const FULL: usize = 4;

/// Hamilton's equations as a tape.
#[derive(Clone, Debug)]
pub struct Field {
    /// Computes the velocities, L_q and entries of the inverse of L_vv from coordinates and momenta, which are given in place of velocities.
    pub tape: Arc<Tape>,
    /// Which entries of the inverse these are, row ≤ column: all, or none if there would be many.
    pub inverse: Vec<(usize, usize)>,
}

/// Hamilton's equations. `None` for L that is not quadratic in the velocities, and where elimination would make too much of it.
pub(super) fn field(model: &Model) -> Option<Field> {
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
    let factored = Elimination { graph: &mut graph, columns, left: MOST.max(MOST_EACH * n) }.factor()?;
    let solved = factored.solve(&mut graph, right);
    let velocities: Vec<NodeId> = position.iter().map(|&place| solved[place]).collect();
    let inverse = factored.inverse(&mut graph, position);
    let forces = graph.substitute_all(&model.l_q, |_, node| match node {
        Node::Velocity(i) => Some(velocities[i as usize]),
        _ => None,
    });
    let entries = inverse.iter().map(|(_, node)| *node);
    let outputs: Vec<NodeId> = velocities.into_iter().chain(forces).chain(entries).collect();
    let tape = Arc::new(Tape::new(&graph, n, &outputs));
    Some(Field { tape, inverse: inverse.into_iter().map(|(place, _)| place).collect() })
}

/// A symmetric matrix on its way to LDLᵀ.
struct Elimination<'g> {
    graph: &'g mut Graph,
    /// The lower triangle, column by column.
    columns: Vec<BTreeMap<usize, NodeId>>,
    /// So many operations may follow.
    left: usize,
}

/// LDLᵀ.
struct Factored {
    /// The columns of L below the diagonal.
    columns: Vec<Vec<(usize, NodeId)>>,
    /// The inverses of D.
    inverses: Vec<NodeId>,
}

impl Elimination<'_> {
    /// The factors; `None` if that takes too much.
    fn factor(mut self) -> Option<Factored> {
        let n = self.columns.len();
        let (one, zero) = (self.graph.number(1.0), self.graph.number(0.0));
        let mut factored = Factored { columns: Vec::with_capacity(n), inverses: Vec::with_capacity(n) };
        for k in 0..n {
            let column = std::mem::take(&mut self.columns[k]);
            let pivot = column.get(&k).copied().unwrap_or(zero);
            let inverse = self.graph.div(one, pivot);
            let below: Vec<(usize, NodeId)> = column.into_iter().filter(|(i, _)| *i > k).collect();
            self.left = self.left.checked_sub(below.len() * (below.len() + 3) + 1)?;
            let factor: Vec<(usize, NodeId)> =
                below.iter().map(|&(i, entry)| (i, self.graph.mul(entry, inverse))).collect();
            for (place, &(i, factor)) in factor.iter().enumerate() {
                for &(j, entry_j) in &below[..=place] {
                    let entry = self.columns[j].get(&i).copied().unwrap_or(zero);
                    let product = self.graph.mul(factor, entry_j);
                    let entry = self.graph.sub(entry, product);
                    self.columns[j].insert(i, entry);
                }
            }
            factored.columns.push(factor);
            factored.inverses.push(inverse);
        }
        Some(factored)
    }
}

impl Factored {
    /// The solution for a right-hand side.
    fn solve(&self, graph: &mut Graph, mut x: Vec<NodeId>) -> Vec<NodeId> {
        for (k, column) in self.columns.iter().enumerate() {
            for &(i, factor) in column {
                let product = graph.mul(factor, x[k]);
                x[i] = graph.sub(x[i], product);
            }
        }
        for (k, column) in self.columns.iter().enumerate().rev() {
            x[k] = graph.mul(x[k], self.inverses[k]);
            for &(i, factor) in column {
                let product = graph.mul(factor, x[i]);
                x[k] = graph.sub(x[k], product);
            }
        }
        x
    }

    /// The entries of the inverse that are not zero, if the matrix is small or diagonal.
    fn inverse(&self, graph: &mut Graph, position: &[usize]) -> Vec<((usize, usize), NodeId)> {
        let n = position.len();
        if self.columns.iter().all(Vec::is_empty) {
            return (0..n).map(|i| ((i, i), self.inverses[position[i]])).collect();
        }
        if n > FULL {
            return Vec::new();
        }
        let (one, zero) = (graph.number(1.0), graph.number(0.0));
        let mut entries = Vec::new();
        for i in 0..n {
            let mut unit = vec![zero; n];
            unit[position[i]] = one;
            let column = self.solve(graph, unit);
            entries.extend((i..n).map(|j| ((i, j), column[position[j]])));
        }
        entries.retain(|(_, node)| !graph.is_zero(*node));
        entries
    }
}
