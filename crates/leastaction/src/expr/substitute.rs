//! What a formula is made of, and the formula with some of its inputs replaced by numbers.

use super::graph::{Binary, Depends, Graph, Node, NodeId, Unary};
use super::tape::operands;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

impl Graph {
    /// The sizes of the terms of sums added up, in products as well: |a| + |b| for a − b.
    pub fn size_of_terms(&mut self, root: NodeId) -> NodeId {
        let parts = |node: Node| match node {
            Node::Unary(Unary::Neg, a) => [Some(a), None],
            Node::Binary(Binary::Add | Binary::Sub | Binary::Mul, a, b) => [Some(a), Some(b)],
            _ => [None, None],
        };
        // operands come before what reads them
        let mut below = BTreeSet::new();
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if below.insert(id) {
                stack.extend(parts(self.node(id)).into_iter().flatten());
            }
        }
        let mut sizes: FxHashMap<NodeId, NodeId> = FxHashMap::default();
        for id in below {
            let node = self.node(id);
            let size = match (node, parts(node).map(|part| part.and_then(|part| sizes.get(&part).copied()))) {
                (Node::Binary(Binary::Mul, ..), [Some(a), Some(b)]) => self.mul(a, b),
                (_, [Some(a), Some(b)]) => self.add(a, b),
                (_, [Some(a), None]) => a,
                _ => self.unary(Unary::Abs, id),
            };
            sizes.insert(id, size);
        }
        sizes.get(&root).copied().unwrap_or(root)
    }

    /// The sizes of the terms of a sum added up, but for those that are the same in all states.
    pub fn size_of_moving_terms(&mut self, root: NodeId) -> NodeId {
        let mut sum = self.number(0.0);
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            match self.node(id) {
                Node::Unary(Unary::Neg, a) => stack.push(a),
                Node::Binary(Binary::Add | Binary::Sub, a, b) => stack.extend([a, b]),
                _ if self.depends(id).on(Depends::STATE) => {
                    let size = self.unary(Unary::Abs, id);
                    sum = self.add(sum, size);
                }
                _ => {}
            }
        }
        sum
    }

    /// A sum as what changes with the state and what does not: `root` = the first + the second. Fixed factors are multiplied out.
    pub fn split_constant(&mut self, root: NodeId) -> (NodeId, NodeId) {
        let parts = |graph: &Self, id: NodeId| match graph.node(id) {
            _ if graph.is_fixed(id) => [None, None],
            Node::Unary(Unary::Neg, a) => [Some(a), None],
            Node::Binary(Binary::Add | Binary::Sub, a, b) => [Some(a), Some(b)],
            Node::Binary(Binary::Mul, factor, a) if graph.is_fixed(factor) => [None, Some(a)],
            Node::Binary(Binary::Div, a, divisor) if graph.is_fixed(divisor) => [Some(a), None],
            _ => [None, None],
        };
        // operands come before what reads them
        let (mut below, mut stack) = (BTreeSet::new(), vec![root]);
        while let Some(id) = stack.pop() {
            if below.insert(id) {
                stack.extend(parts(self, id).into_iter().flatten());
            }
        }
        let zero = self.number(0.0);
        let mut split: FxHashMap<NodeId, (NodeId, NodeId)> = FxHashMap::default();
        for id in below {
            let found = parts(self, id).map(|part| part.and_then(|part| split.get(&part).copied()));
            let has_none = found.iter().flatten().all(|(_, constant)| *constant == zero);
            let pair = match (self.node(id), found) {
                _ if self.is_fixed(id) => (zero, id),
                _ if has_none => (id, zero),
                (Node::Unary(..), [Some((a, c)), _]) => (self.neg(a), self.neg(c)),
                (Node::Binary(Binary::Mul, factor, _), [_, Some((a, c))]) => {
                    (self.mul(factor, a), self.mul(factor, c))
                }
                (Node::Binary(Binary::Div, _, divisor), [Some((a, c)), _]) => {
                    (self.div(a, divisor), self.div(c, divisor))
                }
                (Node::Binary(op, ..), [Some((a, c)), Some((b, d))]) => {
                    (self.binary(op, a, b), self.binary(op, c, d))
                }
                _ => (id, zero),
            };
            split.insert(id, pair);
        }
        split.get(&root).copied().unwrap_or((root, zero))
    }

    /// The node `root` with every input for which `value` gives a number replaced by it. What follows from that is simplified, as
    /// if the formula had been written with the number.
    pub fn substitute(&mut self, root: NodeId, value: impl Fn(Node) -> Option<f64>) -> NodeId {
        let numbers = |graph: &mut Self, node: Node| value(node).map(|x| graph.number(x));
        self.substitute_all(&[root], numbers)[0]
    }

    /// Nodes with inputs replaced by other nodes, all at once.
    pub fn substitute_all(
        &mut self,
        roots: &[NodeId],
        mut value: impl FnMut(&mut Self, Node) -> Option<NodeId>,
    ) -> Vec<NodeId> {
        let Some(last) = roots.iter().max() else { return Vec::new() };
        // operands come before their users
        let mut replaced: Vec<NodeId> = (0..=last.0).map(NodeId).collect();
        for id in self.below_all(roots) {
            let new = |id: NodeId| replaced[id.0 as usize];
            replaced[id.0 as usize] = match self.node(id) {
                Node::Unary(op, a) if new(a) != a => self.unary(op, new(a)),
                Node::Binary(op, a, b) if (new(a), new(b)) != (a, b) => self.binary(op, new(a), new(b)),
                input => value(self, input).unwrap_or(id),
            };
        }
        roots.iter().map(|root| replaced[root.0 as usize]).collect()
    }

    /// The nodes that a node is made of, operands before their users, itself last.
    pub fn below(&self, root: NodeId) -> Vec<NodeId> {
        self.below_all(&[root])
    }

    /// The nodes that some nodes are made of, operands before their users.
    pub(super) fn below_all(&self, roots: &[NodeId]) -> Vec<NodeId> {
        let Some(last) = roots.iter().max() else { return Vec::new() };
        let mut needed = vec![false; last.0 as usize + 1];
        for root in roots {
            needed[root.0 as usize] = true;
        }
        for at in (0..=last.0).rev() {
            if needed[at as usize] {
                for operand in operands(self.node(NodeId(at))) {
                    needed[operand.0 as usize] = true;
                }
            }
        }
        (0..=last.0).filter(|&at| needed[at as usize]).map(NodeId).collect()
    }

    /// A function of two operands.
    fn binary(&mut self, op: Binary, a: NodeId, b: NodeId) -> NodeId {
        match op {
            Binary::Add => self.add(a, b),
            Binary::Sub => self.sub(a, b),
            Binary::Mul => self.mul(a, b),
            Binary::Div => self.div(a, b),
            Binary::Atan2 => self.atan2(a, b),
            Binary::Pow => self.pow(a, b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_from_a_number_is_simplified() {
        let mut g = Graph::new();
        let (x, y) = (g.coordinate(0), g.coordinate(1));
        let (sine, cosine) = (g.unary(Unary::Sin, x), g.unary(Unary::Cos, x));
        let (left, right) = (g.mul(sine, y), g.mul(cosine, y));
        let sum = g.add(left, right);
        // sin(0) y + cos(0) y = y
        assert_eq!(g.substitute(sum, |node| (node == Node::Coordinate(0)).then_some(0.0)), y);
        assert_eq!(g.substitute(sum, |_| None), sum);
    }

    #[test]
    fn terms_that_cancel_have_sizes() {
        let mut g = Graph::new();
        let (x, y) = (g.coordinate(0), g.coordinate(1));
        let cosine = g.unary(Unary::Cos, x);
        let one = g.number(1.0);
        let difference = g.sub(one, cosine);
        let product = g.mul(difference, y);
        let found = g.size_of_terms(product);
        // (1 + |cos x|) |y|
        let (cosine, y) = (g.unary(Unary::Abs, cosine), g.unary(Unary::Abs, y));
        let sum = g.add(one, cosine);
        assert_eq!(found, g.mul(sum, y));
    }

    #[test]
    fn constants_of_a_sum_are_split_off() {
        let mut g = Graph::new();
        let (x, m, c) = (g.coordinate(0), g.parameter(0), g.parameter(1));
        let square = g.mul(x, x);
        // m (x² + c) − (c − x): m x² + x, and m c − c
        let (sum, rest) = (g.add(square, c), g.sub(c, x));
        let product = g.mul(m, sum);
        let root = g.sub(product, rest);
        let (changing, constant) = g.split_constant(root);
        let (mx, mc) = (g.mul(m, square), g.mul(m, c));
        assert_eq!((changing, constant), (g.add(mx, x), g.sub(mc, c)));
        // without a constant nothing is made anew
        let zero = g.number(0.0);
        let nodes = g.len();
        assert_eq!(g.split_constant(changing), (changing, zero));
        assert_eq!(g.len(), nodes);
        assert_eq!(g.split_constant(mc), (zero, mc));
        // a sum of many terms
        let mut long = square;
        for exponent in 3..20_000 {
            let (factor, power) = (g.number(f64::from(exponent)), g.mul(square, x));
            let term = g.mul(factor, power);
            let sine = g.unary(Unary::Sin, term);
            long = g.add(long, sine);
        }
        let with = g.add(long, c);
        assert_eq!(g.split_constant(with), (long, c));
    }
}
