//! Derivatives on the graph, by one backward sweep per function.
//!
//! From a node, all its partial derivatives with respect to the chosen inputs, as nodes of the same graph. A sweep
//! visits only what lies below the node and leads to such an input, so the derivatives of a sum of local
//! terms (a chain, a lattice) cost as much as the terms, never n × n.

use super::graph::{Binary, Depends, Graph, Node, NodeId, Unary};

/// The scratch space of the sweeps, kept between calls because a chain makes thousands of them.
#[derive(Debug, Default)]
pub struct Differentiator {
    /// `seen[node] == sweep` marks a node of the present sweep.
    seen: Vec<u32>,
    adjoint: Vec<Option<NodeId>>,
    sweep: u32,
    below: Vec<NodeId>,
    stack: Vec<NodeId>,
}

impl Differentiator {
    /// The derivatives of `of` with respect to every input in the set `to`, structural zeros left out,
    /// in the order in which the inputs entered the graph.
    pub fn gradient(&mut self, graph: &mut Graph, of: NodeId, to: Depends) -> Vec<(Node, NodeId)> {
        self.collect(graph, of, to);
        if self.below.is_empty() {
            return Vec::new();
        }
        let one = graph.number(1.0);
        self.adjoint[of.0 as usize] = Some(one);
        let mut result = Vec::new();
        let below = std::mem::take(&mut self.below);
        for &id in below.iter().rev() {
            let Some(adjoint) = self.adjoint[id.0 as usize].take() else { continue };
            match graph.node(id) {
                Node::Unary(op, a) => {
                    let slope = unary_slope(graph, op, a, id, adjoint);
                    self.accumulate(graph, a, slope);
                }
                Node::Binary(op, a, b) => self.binary(graph, op, (a, b), id, adjoint),
                input => {
                    if !graph.is_zero(adjoint) {
                        result.push((input, adjoint));
                    }
                }
            }
        }
        self.below = below;
        result.reverse();
        result
    }

    /// Fills `below` with the nodes from which the sweep passes, in graph order.
    fn collect(&mut self, graph: &Graph, of: NodeId, to: Depends) {
        self.seen.resize(graph.len(), 0);
        self.adjoint.resize(graph.len(), None);
        self.sweep += 1;
        self.below.clear();
        self.stack.clear();
        self.visit(graph, of, to);
        while let Some(id) = self.stack.pop() {
            self.below.push(id);
            match graph.node(id) {
                Node::Unary(_, a) => self.visit(graph, a, to),
                Node::Binary(_, a, b) => {
                    self.visit(graph, a, to);
                    self.visit(graph, b, to);
                }
                _ => {}
            }
        }
        // operands are older than their users, so age is a topological order
        self.below.sort_unstable();
    }

    fn visit(&mut self, graph: &Graph, id: NodeId, to: Depends) {
        let mark = &mut self.seen[id.0 as usize];
        if *mark != self.sweep && graph.depends(id).on(to) {
            *mark = self.sweep;
            self.adjoint[id.0 as usize] = None;
            self.stack.push(id);
        }
    }

    fn wanted(&self, id: NodeId) -> bool {
        self.seen.get(id.0 as usize) == Some(&self.sweep)
    }

    /// `adjoint[id] += contribution`
    fn accumulate(&mut self, graph: &mut Graph, id: NodeId, contribution: NodeId) {
        if self.wanted(id) {
            let sum = match self.adjoint[id.0 as usize] {
                None => contribution,
                Some(sum) => graph.add(sum, contribution),
            };
            self.adjoint[id.0 as usize] = Some(sum);
        }
    }

    /// Passes an adjoint on to the two operands; `value` is the node itself.
    fn binary(
        &mut self,
        g: &mut Graph,
        op: Binary,
        (a, b): (NodeId, NodeId),
        value: NodeId,
        adjoint: NodeId,
    ) {
        let (to_a, to_b) = (self.wanted(a), self.wanted(b));
        match op {
            Binary::Add => {
                self.accumulate(g, a, adjoint);
                self.accumulate(g, b, adjoint);
            }
            Binary::Sub => {
                self.accumulate(g, a, adjoint);
                if to_b {
                    let minus = g.neg(adjoint);
                    self.accumulate(g, b, minus);
                }
            }
            Binary::Mul => {
                if to_a {
                    let slope = g.mul(adjoint, b);
                    self.accumulate(g, a, slope);
                }
                if to_b {
                    let slope = g.mul(adjoint, a);
                    self.accumulate(g, b, slope);
                }
            }
            Binary::Div => {
                // (a/b)' = a'/b − (a/b) b'/b
                let over_b = g.div(adjoint, b);
                self.accumulate(g, a, over_b);
                if to_b {
                    let slope = g.mul(over_b, value);
                    let slope = g.neg(slope);
                    self.accumulate(g, b, slope);
                }
            }
            Binary::Atan2 => {
                // atan2(a, b)' = (b a' − a b')/(a² + b²)
                let (aa, bb) = (g.mul(a, a), g.mul(b, b));
                let square = g.add(aa, bb);
                let scaled = g.div(adjoint, square);
                if to_a {
                    let slope = g.mul(scaled, b);
                    self.accumulate(g, a, slope);
                }
                if to_b {
                    let slope = g.mul(scaled, a);
                    let slope = g.neg(slope);
                    self.accumulate(g, b, slope);
                }
            }
            Binary::Pow => {
                // (a^b)' = b a^(b−1) a' + a^b ln(a) b'
                if to_a {
                    let one = g.number(1.0);
                    let less = g.sub(b, one);
                    let power = g.pow(a, less);
                    let slope = g.mul(b, power);
                    let slope = g.mul(adjoint, slope);
                    self.accumulate(g, a, slope);
                }
                if to_b {
                    let log = g.unary(Unary::Ln, a);
                    let slope = g.mul(value, log);
                    let slope = g.mul(adjoint, slope);
                    self.accumulate(g, b, slope);
                }
            }
        }
    }
}

/// adjoint · f'(x), where `value` is the node f(x) itself.
pub(super) fn unary_slope(g: &mut Graph, op: Unary, x: NodeId, value: NodeId, adjoint: NodeId) -> NodeId {
    let one = g.number(1.0);
    match op {
        Unary::Neg => g.neg(adjoint),
        Unary::Sqrt => {
            let half = g.number(0.5);
            let halved = g.mul(half, adjoint);
            g.div(halved, value)
        }
        Unary::Exp => g.mul(adjoint, value),
        Unary::Ln => g.div(adjoint, x),
        Unary::Sin => {
            let cos = g.unary(Unary::Cos, x);
            g.mul(adjoint, cos)
        }
        Unary::Cos => {
            let sin = g.unary(Unary::Sin, x);
            let slope = g.mul(adjoint, sin);
            g.neg(slope)
        }
        Unary::Tan => {
            let square = g.mul(value, value);
            let slope = g.add(one, square);
            g.mul(adjoint, slope)
        }
        Unary::Asin | Unary::Acos => {
            let square = g.mul(x, x);
            let rest = g.sub(one, square);
            let root = g.unary(Unary::Sqrt, rest);
            let slope = g.div(adjoint, root);
            if op == Unary::Acos { g.neg(slope) } else { slope }
        }
        Unary::Atan => {
            let square = g.mul(x, x);
            let sum = g.add(one, square);
            g.div(adjoint, sum)
        }
        Unary::Sinh => {
            let cosh = g.unary(Unary::Cosh, x);
            g.mul(adjoint, cosh)
        }
        Unary::Cosh => {
            let sinh = g.unary(Unary::Sinh, x);
            g.mul(adjoint, sinh)
        }
        Unary::Tanh => {
            let square = g.mul(value, value);
            let slope = g.sub(one, square);
            g.mul(adjoint, slope)
        }
        Unary::Abs => {
            let sign = g.unary(Unary::Sign, x);
            g.mul(adjoint, sign)
        }
        Unary::Sign | Unary::PowerOfTwo => g.number(0.0),
    }
}
