//! The polynomial of a step apart from its stepper, to evaluate at many places.
//!
//! From q at the start and the increments Z_k at the nodes c_1 … c_s to q and v at any fraction of the step, in O(s) operations a
//! coordinate and without asking for memory. Methods without nodes of their own give their increments at those of
//! Lobatto's quadrature. Where it is evaluated is left to `simulate`.

use super::{Stepper, Weights};
use crate::method::lobatto;
use crate::scalar::Real;

/// The polynomial of the last step.
#[derive(Clone, Debug)]
pub(crate) struct Polynomial<R> {
    h: R,
    /// c_0 = 0 … c_s = 1
    nodes: Vec<R>,
    /// 1/Π_{j≠k} (c_k − c_j)
    scales: Vec<R>,
    /// What the stepper needs to find increments that are no unknowns.
    weights: Vec<Weights<R>>,
    start: Vec<R>,
    /// Z_1 … Z_s, node by node.
    increments: Vec<R>,
}

/// φ_k(x) and φ'_k(x) for k = 0 … s.
#[derive(Clone, Debug)]
pub(crate) struct Basis<R> {
    value: Vec<R>,
    slope: Vec<R>,
}

impl<R: Real> Polynomial<R> {
    /// Room for the polynomials of a stepper with n coordinates.
    pub(crate) fn new(stepper: &Stepper<R>, n: usize) -> Self {
        let degree = stepper.degree();
        let nodes: Vec<R> = lobatto::<R::Wide>(degree + 1).points.iter().map(R::narrow).collect();
        let product = |k: usize| {
            let others = nodes.iter().enumerate().filter(|(j, _)| *j != k);
            others.fold(R::one(), |product, (_, c)| product * (nodes[k].clone() - c.clone()))
        };
        let mut polynomial = Self {
            h: stepper.step_size().clone(),
            scales: (0..=degree).map(|k| R::one() / product(k)).collect(),
            nodes,
            weights: Vec::new(),
            start: vec![R::zero(); n],
            increments: vec![R::zero(); n * degree],
        };
        polynomial.resize(stepper);
        polynomial
    }

    /// The stepper has another step size.
    pub(crate) fn resize(&mut self, stepper: &Stepper<R>) {
        self.h = stepper.step_size().clone();
        self.weights = self.nodes.iter().skip(1).filter_map(|c| stepper.increment_weights(c)).collect();
    }

    /// The degree s.
    pub(crate) fn degree(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Takes the polynomial of the stepper's last step.
    pub(crate) fn take(&mut self, stepper: &Stepper<R>) {
        stepper.increments(&self.weights, &mut self.start, &mut self.increments);
    }

    /// The basis at a fraction of the step.
    pub(crate) fn basis(&self, x: &R) -> Basis<R> {
        let zeros = vec![R::zero(); self.nodes.len()];
        let mut basis = Basis { value: zeros.clone(), slope: zeros };
        self.set_basis(&mut basis, x);
        basis
    }

    /// φ_k = Π_{j≠k} (x − c_j)/(c_k − c_j) as the product of the factors before k and of those behind it; slopes by the product rule.
    pub(crate) fn set_basis(&self, Basis { value, slope }: &mut Basis<R>, x: &R) {
        let (mut product, mut rate) = (R::one(), R::zero());
        for (k, c) in self.nodes.iter().enumerate() {
            (value[k], slope[k]) = (product.clone(), rate.clone());
            let factor = x.clone() - c.clone();
            rate = rate * factor.clone() + product.clone();
            product = product * factor;
        }
        (product, rate) = (R::one(), R::zero());
        for (k, c) in self.nodes.iter().enumerate().rev() {
            let scale = &self.scales[k];
            slope[k] = (slope[k].clone() * product.clone() + value[k].clone() * rate.clone()) * scale.clone();
            value[k] = value[k].clone() * product.clone() * scale.clone();
            let factor = x.clone() - c.clone();
            rate = rate * factor.clone() + product.clone();
            product = product * factor;
        }
    }

    /// q + Σ_k φ_k Z_k, and (1/h) Σ_k φ'_k Z_k if velocities are wanted.
    pub(crate) fn evaluate(&self, basis: &Basis<R>, velocities: bool, q: &mut [R], v: &mut [R]) {
        self.sum(&basis.value, q);
        for (q, start) in q.iter_mut().zip(&self.start) {
            *q = start.clone() + q.clone();
        }
        if velocities {
            self.sum(&basis.slope, v);
            v.iter_mut().for_each(|v| *v = v.clone() / self.h.clone());
        }
    }

    /// Σ_k w_k Z_k
    fn sum(&self, weights: &[R], out: &mut [R]) {
        out.fill(R::zero());
        for (row, weight) in self.increments.chunks(out.len().max(1)).zip(weights.iter().skip(1)) {
            out.iter_mut().zip(row).for_each(|(out, z)| out.add_mul(weight, z));
        }
    }
}
