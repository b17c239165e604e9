//! The mass matrix L_vv factored on the graph.
//!
//! Elimination, LDLᵀ without pivoting, written as formulas: a straight tape computes the factors beside the derivatives of L, and what depends on
//! parameters alone, such as the factors of a constant mass matrix, is computed once. Where the matrix is not positive definite a pivot
//! may vanish; the factors are not finite then, and who asked must solve in another way.

use super::Model;
use crate::expr::{Graph, Node, NodeId, Pattern, Tape};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Elimination may take so many operations, or this many for each coordinate; else the tape would be long.
const MOST: usize = 60_000;
const MOST_EACH: usize = 40;

/// First derivatives of L and the factors of L_vv.
#[derive(Clone, Debug)]
pub struct Factors {
    /// Computes L_q, L_v and the factors.
    pub tape: Arc<Tape>,
    /// Computes, from q, momenta p and factors in place of q, and v: L_q at w, L_v at v, and w = v + L_vv⁻¹ (p − L_v), by those factors.
    pub refine: Arc<Tape>,
    /// Which factors these are.
    pub pattern: Pattern,
}

/// The factors of a model's mass matrix. `None` if that takes too much.
pub(super) fn factors(model: &Model) -> Option<Factors> {
    let mut graph = (*model.graph).clone();
    let position = &model.structure.mass_ordering.position;
    let mut columns = vec![BTreeMap::new(); model.n];
    for entry in &model.l_vv {
        let (i, j) = (position[entry.row], position[entry.column]);
        columns[i.min(j)].insert(i.max(j), entry.node);
    }
    let left = MOST.max(MOST_EACH * model.n);
    let (rows, nodes) = Elimination { graph: &mut graph, columns, left }.factor()?;
    let outputs: Vec<NodeId> = model.l_q.iter().chain(&model.l_v).copied().chain(nodes).collect();
    let tape = Arc::new(Tape::new(&graph, model.n, &outputs));
    let pattern = Pattern::new(position, rows);
    let refine = Arc::new(refine(&model.graph, model, &pattern));
    Some(Factors { tape, refine, pattern })
}

fn refine(graph: &Graph, model: &Model, pattern: &Pattern) -> Tape {
    let n = model.n;
    // the elimination's nodes are not needed here
    let graph = RefCell::new(graph.clone());
    let factor = |k: usize| graph.borrow_mut().coordinate(2 * n + k);
    let mut corrections: Vec<NodeId> = pattern
        .order()
        .iter()
        .map(|&i| {
            let momentum = graph.borrow_mut().coordinate(n + i);
            graph.borrow_mut().sub(momentum, model.l_v[i])
        })
        .collect();
    let reduce = |x: NodeId, k: usize, y: NodeId| {
        let factor = factor(k);
        let product = graph.borrow_mut().mul(factor, y);
        graph.borrow_mut().sub(x, product)
    };
    let scale = |x: NodeId, k: usize| {
        let factor = factor(k);
        graph.borrow_mut().mul(x, factor)
    };
    pattern.solve(&mut corrections, reduce, scale);
    let mut graph = graph.into_inner();
    let mut velocities: Vec<NodeId> = (0..n).map(|i| graph.velocity(i)).collect();
    for (&i, correction) in pattern.order().iter().zip(corrections) {
        velocities[i] = graph.add(velocities[i], correction);
    }
    let forces = graph.substitute_all(&model.l_q, |_, node| match node {
        Node::Velocity(i) => Some(velocities[i as usize]),
        _ => None,
    });
    let outputs: Vec<NodeId> =
        forces.into_iter().chain(model.l_v.iter().copied()).chain(velocities).collect();
    Tape::new(&graph, 2 * n + pattern.len(), &outputs)
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
    /// The rows of L that are not zero, column by column, and the nodes: all 1/D, then the columns of L. `None` if that takes too much.
    fn factor(mut self) -> Option<(Vec<Vec<usize>>, Vec<NodeId>)> {
        let n = self.columns.len();
        let (one, zero) = (self.graph.number(1.0), self.graph.number(0.0));
        let (mut rows, mut inverses, mut entries) =
            (Vec::with_capacity(n), Vec::with_capacity(n), Vec::new());
        for k in 0..n {
            let column = std::mem::take(&mut self.columns[k]);
            let pivot = column.get(&k).copied().unwrap_or(zero);
            let inverse = self.graph.div(one, pivot);
            let below: Vec<(usize, NodeId)> = column.into_iter().filter(|(i, _)| *i > k).collect();
            self.left = self.left.checked_sub(below.len() * (below.len() + 3) + 1)?;
            let factors: Vec<NodeId> =
                below.iter().map(|&(_, entry)| self.graph.mul(entry, inverse)).collect();
            for (place, &(i, _)) in below.iter().enumerate() {
                for &(j, entry_j) in &below[..=place] {
                    let entry = self.columns[j].get(&i).copied().unwrap_or(zero);
                    let product = self.graph.mul(factors[place], entry_j);
                    let entry = self.graph.sub(entry, product);
                    self.columns[j].insert(i, entry);
                }
            }
            rows.push(below.iter().map(|(i, _)| *i).collect());
            inverses.push(inverse);
            entries.extend(factors);
        }
        inverses.extend(entries);
        Some((rows, inverses))
    }
}
