//! Whether numbers on the way to forces and energies leave the range of `f64`.
//!
//! Lengths of 1e-170 have squares of zero, and a norm of them is zero without a word. Where a number of a problem is very large or
//! very small, the Lagrangian and its derivatives at the initial state are evaluated once more with exponents of any size. What
//! differs there because a part overflowed or underflowed is an error.

use super::Problem;
use crate::error::{Error, Result};
use crate::expr::{Evaluator, NodeId, Tape};
use crate::scalar::{Digits, Field, Real};
use std::sync::Arc;

/// A number with exponents of any size.
type Wide = Digits<2>;
/// Products of a few numbers between these overflow nowhere.
const ORDINARY: std::ops::Range<f64> = 1e-50..1e50;
/// Values that differ by less than this part have the same range.
const SAME: f64 = 1e-9;
/// Smaller energies have changes that no `f64` shows.
const LEAST_ENERGY: f64 = 1e-290;

impl<R: Real> Problem<R> {
    /// Checks that nothing that matters at the initial state overflows or underflows.
    pub(super) fn check_range(&self) -> Result<()> {
        let lists = [&self.parameters, &self.q0, &self.v0, &self.p0];
        let ordinary = |x: &R| x.magnitude() == 0.0 || ORDINARY.contains(&x.magnitude());
        if R::as_f64s(&self.q0).is_none() || lists.iter().all(|list| list.iter().all(ordinary)) {
            return Ok(());
        }
        let roots = self.roots();
        let nodes: Vec<NodeId> = roots.iter().map(|(_, node)| *node).collect();
        let (values, wide) = (self.evaluate::<R>(&nodes), self.evaluate::<Wide>(&nodes));
        let is_lost = |x: &Wide| x.is_finite() && *x != Wide::zero() && !x.to_f64().is_normal();
        let energy = wide[0].magnitude() + wide[1].magnitude();
        let still = wide.iter().all(|x| *x == Wide::zero());
        if energy < LEAST_ENERGY && !still {
            return Err(out_of_range("the energy", &(wide[0].abs() + wide[1].abs())));
        }
        let differs = |(value, wide): (&R, &Wide)| {
            let difference = Wide::from_f64(value.to_f64()) - *wide;
            // also where one of them is NaN
            let part = (difference / *wide).magnitude();
            difference != Wide::zero() && (part > SAME || part.is_nan())
        };
        // the kinetic energy from momenta, whose formulas have constants of their own
        if self.hamiltonian::<R>().iter().zip(&self.hamiltonian::<Wide>()).skip(1).any(differs) {
            let what = "the kinetic energy from momenta".to_owned();
            return Err(Error::OutOfRange { what, value: "a product".to_owned() });
        }
        let Some(at) = values.iter().zip(&wide).position(differs) else { return Ok(()) };
        let parts = self.evaluate::<Wide>(&self.system.model.graph.below(nodes[at]));
        match parts.iter().find(|x| is_lost(x)) {
            Some(part) => Err(out_of_range(&roots[at].0, part)),
            None => Ok(()),
        }
    }

    /// What must be right: the energy, L, its derivatives and the mass matrix.
    fn roots(&self) -> Vec<(String, NodeId)> {
        let (model, names) = (&self.system.model, self.system.coordinate_names());
        let mut roots = vec![("the energy".to_owned(), model.energy), ("L".to_owned(), model.lagrangian)];
        let list = |what: &str, nodes: &[NodeId]| -> Vec<_> {
            names.iter().zip(nodes).map(|(name, node)| (format!("{what}{name}"), *node)).collect()
        };
        roots.extend(list("the force on ", &model.l_q));
        roots.extend(list("p_", &model.l_v));
        roots.extend(model.l_vv.iter().map(|e| (format!("the mass of {}", names[e.row]), e.node)));
        roots
    }

    /// The energy from momenta, where there is a tape for it.
    fn hamiltonian<T: Real>(&self) -> Vec<T> {
        let tape = self.system.model.hamiltonian_tape();
        tape.map_or_else(Vec::new, |tape| self.run(tape, &self.p0))
    }

    /// Nodes at the initial state, in any number type.
    fn evaluate<T: Real>(&self, nodes: &[NodeId]) -> Vec<T> {
        self.run(Arc::new(Tape::new(&self.system.model.graph, self.system.n(), nodes)), &self.v0)
    }

    /// A tape at the initial state, of velocities or momenta, in any number type.
    fn run<T: Real>(&self, tape: Arc<Tape>, rates: &[R]) -> Vec<T> {
        let list = |x: &[R]| -> Vec<T> { x.iter().map(|x| T::from_f64(x.to_f64())).collect() };
        let mut values = vec![T::zero(); tape.outputs()];
        let t = T::from_f64(self.t0.to_f64());
        Evaluator::new(tape, &list(&self.parameters)).evaluate(
            &list(&self.q0),
            &list(rates),
            &t,
            &mut values,
        );
        values
    }
}

fn out_of_range(what: &str, value: &Wide) -> Error {
    Error::OutOfRange { what: what.to_owned(), value: value.to_text(Some(3)) }
}
