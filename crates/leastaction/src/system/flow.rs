//! The equations of motion in momenta: v and L_q from (q, p), where L is quadratic in velocities.
//!
//! Velocities are eliminated on the graph, as for the energy. While a step is refined its angles change little, so there are two tapes: one computes sines
//! and cosines, the other turns those that are kept.

use super::Model;
use super::factors::{Turn, factor, solve, turn, with_velocities};
use crate::expr::{Current, Depends, Node, NodeId, Tape, Unary};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tapes of the motion in momenta; `None` if L is not quadratic in velocities, or the factors of its mass matrix take too much.
pub(super) fn current(model: &Model) -> Option<Current> {
    let energy = model.hamiltonian_tape()?;
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
    let mut turned: BTreeMap<NodeId, [NodeId; 3]> = BTreeMap::new();
    let mut kept = Vec::new();
    let turning = graph.substitute_all(&rates, |graph, node| match node {
        Node::Unary(op @ (Unary::Sin | Unary::Cos), angle)
            if graph.depends(angle).on(Depends::STATE) && !graph.depends(angle).on(Depends::VELOCITIES) =>
        {
            let [sine, cosine, _] = *turned.entry(angle).or_insert_with(|| {
                let before = [0, 1, 2].map(|k| graph.coordinate(n + kept.len() + k));
                kept.extend([angle, graph.unary(Unary::Sin, angle), graph.unary(Unary::Cos, angle)]);
                turn(graph, angle, before, Turn::Far)
            });
            Some(if op == Unary::Sin { sine } else { cosine })
        }
        _ => None,
    });
    let turns = kept.iter().step_by(3).map(|angle| turned[angle][2]);
    let refine: Vec<NodeId> = turning.into_iter().chain(turns).collect();
    let fresh: Vec<NodeId> = rates.into_iter().chain(kept.iter().copied()).collect();
    Some(Current {
        n,
        kept: kept.len(),
        fresh: Arc::new(Tape::new(&graph, n, &fresh)),
        refine: Arc::new(Tape::new(&graph, n + kept.len(), &refine)),
        energy,
    })
}
