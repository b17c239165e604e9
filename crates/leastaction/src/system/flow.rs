//! The equations of motion in momenta: v and L_q from (q, p), where L is quadratic in velocities.
//!
//! Velocities are eliminated on the graph, as for the energy. While a step is refined its angles change little, so there are two tapes: one computes sines
//! and cosines, the other turns those that are kept.

use super::Model;
use super::factors::{Turn, energies, factor, solve, turn, with_velocities};
use crate::expr::{Current, Depends, Graph, Node, NodeId, Tape, Unary};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tapes of the motion in momenta; `None` if L is not quadratic in velocities, or the factors of its mass matrix take too much.
pub(super) fn current(model: &Model) -> Option<Current> {
    if !model.structure.quadratic {
        return None;
    }
    let n = model.n;
    let mut graph = (*model.graph).clone();
    let (pattern, factors) = factor(&mut graph, &model.structure.mass_ordering.position, &model.l_vv)?;
    let zero = graph.number(0.0);
    let at_rest = with_velocities(&mut graph, &model.l_v, &vec![zero; n]);
    let momenta: Vec<NodeId> = (0..n).map(|i| graph.velocity(i)).collect();
    let solution = solve(&mut graph, &pattern, &momenta, &at_rest, |_, k| factors[k]);
    let mut rates = vec![zero; n];
    for (&i, velocity) in pattern.order().iter().zip(solution) {
        rates[i] = velocity;
    }
    rates.extend(with_velocities(&mut graph, &model.l_q, &rates));
    let energies = energies(&mut graph, model, &rates[..n], &at_rest);
    let turning = |graph: &mut Graph, turn| Turning::new(graph, n, &rates, turn);
    let [far, rough] = [Turn::Far, Turn::Rough].map(|turn| turning(&mut graph, turn));
    let [wide, ahead] = [Turn::Wide, Turn::WideRough].map(|turn| turning(&mut graph, turn));
    let all = n + far.kept.len();
    let tape = |n: usize, lists: &[&[NodeId]]| Arc::new(Tape::new(&graph, n, &lists.concat()));
    Some(Current {
        n,
        kept: far.kept.len(),
        fresh: tape(n, &[&rates, &far.kept]),
        ahead: tape(all, &[&ahead.rates]),
        wide: tape(all, &[&wide.rates, &wide.turned, &wide.by]),
        rough: tape(all, &[&rough.rates]),
        last: tape(all, &[&far.rates, &far.by]),
        arrive: tape(n, &[&energies, &far.kept]),
    })
}

/// Rates with sines and cosines that are turned from others.
struct Turning {
    rates: Vec<NodeId>,
    /// The angles, and their sines and cosines, as they are; and as they are turned.
    kept: Vec<NodeId>,
    turned: Vec<NodeId>,
    /// How far.
    by: Vec<NodeId>,
}

impl Turning {
    /// What is kept stands behind n coordinates.
    fn new(graph: &mut Graph, n: usize, rates: &[NodeId], how: Turn) -> Self {
        let mut known: BTreeMap<NodeId, [NodeId; 2]> = BTreeMap::new();
        let [mut kept, mut turned, mut by] = [const { Vec::new() }; 3];
        let rates = graph.substitute_all(rates, |graph, node| match node {
            Node::Unary(op @ (Unary::Sin | Unary::Cos), angle)
                if graph.depends(angle).on(Depends::STATE)
                    && !graph.depends(angle).on(Depends::VELOCITIES) =>
            {
                let [sine, cosine] = *known.entry(angle).or_insert_with(|| {
                    let before = [0, 1, 2].map(|k| graph.coordinate(n + kept.len() + k));
                    kept.extend([angle, graph.unary(Unary::Sin, angle), graph.unary(Unary::Cos, angle)]);
                    let [sine, cosine, far] = turn(graph, angle, before, how);
                    turned.extend([angle, sine, cosine]);
                    by.push(far);
                    [sine, cosine]
                });
                Some(if op == Unary::Sin { sine } else { cosine })
            }
            _ => None,
        });
        Self { rates, kept, turned, by }
    }
}
