//! A formula with some of its inputs replaced by numbers.

use super::graph::{Binary, Graph, Node, NodeId};

impl Graph {
    /// The node `root` with every input for which `value` gives a number replaced by it. What follows from that is simplified, as
    /// if the formula had been written with the number.
    pub fn substitute(&mut self, root: NodeId, value: impl Fn(Node) -> Option<f64>) -> NodeId {
        let mut needed = vec![false; root.0 as usize + 1];
        needed[root.0 as usize] = true;
        for at in (0..needed.len()).rev() {
            if needed[at] {
                match self.node(NodeId(at as u32)) {
                    Node::Unary(_, a) => needed[a.0 as usize] = true,
                    Node::Binary(_, a, b) => {
                        needed[a.0 as usize] = true;
                        needed[b.0 as usize] = true;
                    }
                    _ => {}
                }
            }
        }
        // operands come before their users
        let mut replaced: Vec<NodeId> = (0..needed.len() as u32).map(NodeId).collect();
        for at in (0..needed.len()).filter(|&at| needed[at]) {
            let node = self.node(NodeId(at as u32));
            let new = |id: NodeId| replaced[id.0 as usize];
            replaced[at] = match node {
                Node::Unary(op, a) if new(a) != a => self.unary(op, new(a)),
                Node::Binary(op, a, b) if (new(a), new(b)) != (a, b) => self.binary(op, new(a), new(b)),
                input => match value(input) {
                    Some(x) => self.number(x),
                    None => NodeId(at as u32),
                },
            };
        }
        replaced[root.0 as usize]
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
