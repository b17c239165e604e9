//! What a formula is made of, and the formula with some of its inputs replaced by numbers.

use super::graph::{Binary, Graph, Node, NodeId};
use super::tape::operands;

impl Graph {
    /// The node `root` with every input for which `value` gives a number replaced by it. What follows from that is simplified, as
    /// if the formula had been written with the number.
    pub fn substitute(&mut self, root: NodeId, value: impl Fn(Node) -> Option<f64>) -> NodeId {
        self.substitute_all(&[root], value)[0]
    }

    /// The same for many nodes at once.
    pub fn substitute_all(&mut self, roots: &[NodeId], value: impl Fn(Node) -> Option<f64>) -> Vec<NodeId> {
        let last = roots.iter().max().map_or(0, |root| root.0);
        // operands come before their users
        let mut replaced: Vec<NodeId> = (0..=last).map(NodeId).collect();
        for id in self.below_all(roots) {
            let new = |id: NodeId| replaced[id.0 as usize];
            replaced[id.0 as usize] = match self.node(id) {
                Node::Unary(op, a) if new(a) != a => self.unary(op, new(a)),
                Node::Binary(op, a, b) if (new(a), new(b)) != (a, b) => self.binary(op, new(a), new(b)),
                input => value(input).map_or(id, |x| self.number(x)),
            };
        }
        roots.iter().map(|root| replaced[root.0 as usize]).collect()
    }

    /// The nodes that a node is made of, operands before their users, itself last.
    pub fn below(&self, root: NodeId) -> Vec<NodeId> {
        self.below_all(&[root])
    }

    fn below_all(&self, roots: &[NodeId]) -> Vec<NodeId> {
        let length = roots.iter().max().map_or(0, |root| root.0 + 1);
        let mut needed = vec![false; length as usize];
        for root in roots {
            needed[root.0 as usize] = true;
        }
        for at in (0..length).rev() {
            if needed[at as usize] {
                for operand in operands(self.node(NodeId(at))) {
                    needed[operand.0 as usize] = true;
                }
            }
        }
        (0..length).filter(|&at| needed[at as usize]).map(NodeId).collect()
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
    use crate::expr::Unary;

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
}
