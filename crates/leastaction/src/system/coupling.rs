//! Which coordinates meet in L_q, found on the graph without second derivatives.
//!
//! A pair that is not listed has no second derivative. A listed pair may have one that is zero, where terms cancel only
//! after they are differentiated. [`Model`](super::Model) takes this list for the pattern of L_qq where L_qq has too many
//! entries to be made before somebody needs them.

use crate::expr::{Binary, Depends, Graph, Node, NodeId, Unary};

/// Pairs (row, column) of coordinates with column ≤ row, where the force of the row depends on the column, in order.
/// `None` if there are more than `most`.
pub(super) fn pairs(graph: &Graph, forces: &[NodeId], most: usize) -> Option<Vec<(usize, usize)>> {
    let mut seen = vec![0; graph.len()];
    let (mut pairs, mut stack) = (Vec::new(), Vec::new());
    for (row, &force) in forces.iter().enumerate() {
        let first = pairs.len();
        stack.push(force);
        while let Some(id) = stack.pop() {
            if !graph.depends(id).on(Depends::COORDINATES)
                || std::mem::replace(&mut seen[id.0 as usize], row + 1) == row + 1
            {
                continue;
            }
            match graph.node(id) {
                Node::Coordinate(column) if column as usize <= row => pairs.push((row, column as usize)),
                // a sign has no slope
                Node::Unary(Unary::Sign, _) => {}
                Node::Unary(_, a) => stack.push(a),
                Node::Binary(_, a, b) => stack.extend([a, b]),
                _ => {}
            }
        }
        if pairs.len() > most {
            return None;
        }
        pairs[first..].sort_unstable();
    }
    Some(pairs)
}

/// Whether formulas are sums of inputs with fixed factors, as they are written: their slopes are fixed.
pub(super) fn are_linear(graph: &Graph, formulas: &[NodeId]) -> bool {
    let Some(last) = formulas.iter().max() else { return true };
    let mut linear: Vec<bool> = Vec::with_capacity(last.0 as usize + 1);
    for id in (0..=last.0).map(NodeId) {
        let of = |id: NodeId| linear[id.0 as usize];
        let is_linear = graph.is_fixed(id)
            || match graph.node(id) {
                Node::Unary(Unary::Neg, a) => of(a),
                Node::Unary(..) => false,
                Node::Binary(Binary::Add | Binary::Sub, a, b) => of(a) && of(b),
                Node::Binary(Binary::Mul, a, b) => graph.is_fixed(a) && of(b) || graph.is_fixed(b) && of(a),
                Node::Binary(Binary::Div, a, b) => of(a) && graph.is_fixed(b),
                Node::Binary(..) => false,
                _ => true,
            };
        linear.push(is_linear);
    }
    formulas.iter().all(|id| linear[id.0 as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_those_of_coordinates_that_meet() {
        let mut g = Graph::new();
        let [x, y, z] = [0, 1, 2].map(|i| g.coordinate(i));
        let (xy, m) = (g.mul(x, y), g.parameter(0));
        let sign = g.unary(Unary::Sign, x);
        let of_z = g.mul(m, z);
        let of_z = g.add(of_z, sign);
        assert_eq!(pairs(&g, &[y, xy, of_z], 9), Some(vec![(1, 0), (1, 1), (2, 2)]));
        assert_eq!(pairs(&g, &[y, xy, of_z], 2), None);
    }

    #[test]
    fn only_sums_with_fixed_factors_are_linear() {
        let mut g = Graph::new();
        let (x, y, m) = (g.coordinate(0), g.coordinate(1), g.parameter(0));
        let (mx, xy) = (g.mul(m, x), g.mul(x, y));
        let sum = g.sub(mx, y);
        let (over, under) = (g.div(sum, m), g.div(m, x));
        let sine = g.unary(Unary::Sin, x);
        assert!(are_linear(&g, &[mx, sum, over, m]));
        for other in [xy, under, sine] {
            assert!(!are_linear(&g, &[mx, other]));
        }
    }
}
