//! Which parts of formulas are finite numbers.
//!
//! The value of a formula may hide that a part of it has none: atan(1/0) = π/2. [`Parts`] evaluates every node of a graph and
//! gives constants the first value below them that is not finite. What is done about it is left to `system`.

use super::graph::{Depends, Graph, Node, NodeId};
use super::tape::{Evaluator, Tape, operands};
use std::sync::Arc;

/// The values of all nodes of a graph at a state.
#[derive(Debug)]
pub struct Parts<'a> {
    /// Parameters.
    pub parameters: &'a [f64],
    /// Coordinates.
    pub q: &'a [f64],
    /// Velocities.
    pub v: &'a [f64],
    /// Time.
    pub t: f64,
    /// The values so far; empty at first.
    pub values: Vec<f64>,
}

impl Parts<'_> {
    /// The value of a node. If a part of a constant is not finite, that part's value.
    pub fn value(&mut self, graph: &Graph, node: NodeId) -> f64 {
        if self.values.len() <= node.0 as usize {
            self.evaluate(graph);
        }
        self.values[node.0 as usize]
    }

    fn evaluate(&mut self, graph: &Graph) {
        let nodes: Vec<NodeId> = (0..graph.len()).map(|i| NodeId(i as u32)).collect();
        let mut values = vec![0.0; nodes.len()];
        let tape = Arc::new(Tape::new(graph, self.q.len(), &nodes));
        Evaluator::new(tape, self.parameters).evaluate(self.q, self.v, &self.t, &mut values);
        // of each node the first constant below it that is not finite
        let mut bad: Vec<Option<f64>> = vec![None; nodes.len()];
        for id in nodes {
            let at = id.0 as usize;
            let own = Some(values[at]).filter(|x| graph.is_fixed(id) && !x.is_finite());
            bad[at] = operands(graph.node(id)).find_map(|part| bad[part.0 as usize]).or(own);
        }
        for (value, bad) in values.iter_mut().zip(bad) {
            *value = if value.is_finite() { bad.unwrap_or(*value) } else { *value };
        }
        self.values = values;
    }
}

impl Graph {
    /// The parts of some nodes that may have no finite value although their operands have one.
    pub fn doubtful(&self, roots: &[NodeId]) -> Vec<NodeId> {
        let doubtful =
            |id: &NodeId| self.depends(*id).on(Depends::DOMAIN) && !matches!(self.node(*id), Node::Number(_));
        self.below_all(roots).into_iter().filter(doubtful).collect()
    }
}
