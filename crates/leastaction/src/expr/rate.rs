//! The total time derivative: dx/dt = Σ ∂x/∂q_i v_i + ∂x/∂t, forward through the graph.
//!
//! Every node's rate is made once and kept, so that the velocities of a chain of n bodies, each position built on the one
//! before, cost O(n). What depends on velocities has no rate here: it would need accelerations.

use super::derive::unary_slope;
use super::graph::{Binary, Depends, Graph, Node, NodeId, Unary};
use rustc_hash::FxHashMap;

/// Rates that are known already.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    known: FxHashMap<NodeId, NodeId>,
}

impl Rates {
    /// The rate of a node; `None` if it depends on velocities.
    pub fn of(&mut self, g: &mut Graph, node: NodeId) -> Option<NodeId> {
        // a derivative is not typed
        let strict = g.set_strict(false);
        let rate = self.derivative(g, node);
        g.set_strict(strict);
        rate
    }

    fn derivative(&mut self, g: &mut Graph, node: NodeId) -> Option<NodeId> {
        if g.depends(node).on(Depends::VELOCITIES) {
            return None;
        }
        let changing = Depends::COORDINATES.and(Depends::TIME);
        // operands first, without recursion
        let mut stack = vec![node];
        while let Some(&id) = stack.last() {
            if self.known.contains_key(&id) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            if g.depends(id).on(changing) {
                match g.node(id) {
                    Node::Unary(_, a) => stack.extend((!self.known.contains_key(&a)).then_some(a)),
                    Node::Binary(_, a, b) => {
                        stack.extend([b, a].into_iter().filter(|x| !self.known.contains_key(x)));
                    }
                    _ => {}
                }
            }
            if stack.len() == before {
                stack.pop();
                let rate = self.rule(g, id);
                self.known.insert(id, rate);
            }
        }
        self.known.get(&node).copied()
    }

    fn rate(&self, g: &mut Graph, id: NodeId) -> NodeId {
        self.known.get(&id).copied().unwrap_or_else(|| g.number(0.0))
    }

    /// The rate of a node whose operands' rates are known.
    fn rule(&self, g: &mut Graph, id: NodeId) -> NodeId {
        match g.node(id) {
            Node::Coordinate(i) => g.velocity(i as usize),
            Node::Time => g.number(1.0),
            Node::Unary(op, a) => {
                let rate = self.rate(g, a);
                if g.is_zero(rate) { rate } else { unary_slope(g, op, a, id, rate) }
            }
            Node::Binary(op, a, b) => {
                let (ra, rb) = (self.rate(g, a), self.rate(g, b));
                binary(g, op, (a, b), id, (ra, rb))
            }
            _ => g.number(0.0),
        }
    }
}

/// The rate of `value` = a ∘ b from those of a and b.
fn binary(
    g: &mut Graph,
    op: Binary,
    (a, b): (NodeId, NodeId),
    value: NodeId,
    (ra, rb): (NodeId, NodeId),
) -> NodeId {
    if g.is_zero(ra) && g.is_zero(rb) {
        return ra;
    }
    match op {
        Binary::Add => g.add(ra, rb),
        Binary::Sub => g.sub(ra, rb),
        Binary::Mul => {
            let (left, right) = (g.mul(ra, b), g.mul(a, rb));
            g.add(left, right)
        }
        Binary::Div => {
            // (a' − (a/b) b')/b
            let change = g.mul(value, rb);
            let top = g.sub(ra, change);
            g.div(top, b)
        }
        Binary::Atan2 => {
            // (b a' − a b')/(a² + b²)
            let (left, right) = (g.mul(b, ra), g.mul(a, rb));
            let top = g.sub(left, right);
            let (aa, bb) = (g.mul(a, a), g.mul(b, b));
            let square = g.add(aa, bb);
            g.div(top, square)
        }
        Binary::Pow => {
            // b a^(b−1) a' + a^b ln(a) b'
            let one = g.number(1.0);
            let less = g.sub(b, one);
            let power = g.pow(a, less);
            let slope = g.mul(b, power);
            let left = g.mul(slope, ra);
            if g.is_zero(rb) {
                return left;
            }
            let log = g.unary(Unary::Ln, a);
            let slope = g.mul(value, log);
            let right = g.mul(slope, rb);
            g.add(left, right)
        }
    }
}
