//! The conserved momenta of a system at any state, by the names that a summary gives them.

use crate::scalar::Real;
use crate::system::{Momentum, Problem};

/// Computes the momenta of cyclic coordinates, then those of linear symmetries.
#[derive(Clone, Debug)]
pub struct Conserved<R> {
    /// What they are: `p_phi`, `total p_x`, `x*p_y - y*p_x`.
    pub names: Vec<String>,
    cyclic: Vec<usize>,
    momenta: Vec<Momentum<R>>,
    zeros: Vec<R>,
}

impl<R: Real> Conserved<R> {
    /// Those of a problem.
    pub fn new(problem: &Problem<R>) -> Self {
        let system = &problem.system;
        let cyclic = system.structure().cyclic.clone();
        let names = cyclic.iter().map(|&i| format!("p_{}", system.coordinates[i].name));
        let symmetries = problem.symmetries();
        Self {
            names: names.chain(symmetries.iter().map(|symmetry| symmetry.name.clone())).collect(),
            cyclic,
            momenta: symmetries.iter().map(Momentum::new).collect(),
            zeros: vec![R::zero(); system.n()],
        }
    }

    /// Their values at coordinates and momenta.
    pub fn at(&self, q: &[R], p: &[R]) -> impl Iterator<Item = R> {
        let cyclic = self.cyclic.iter().map(|&i| p[i].clone());
        cyclic.chain(self.momenta.iter().map(|momentum| momentum.at((q, &self.zeros), (p, &self.zeros)).high))
    }
}
