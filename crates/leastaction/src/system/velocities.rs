//! Momenta from velocities, velocities from momenta, and accelerations: everything that needs the mass matrix L_vv.
//!
//! p = L_v(q, v) is evaluated; v is found from L_v(q, v) = p. For L quadratic in v that is one linear solve (with the
//! matrix factored once if it is constant); otherwise Newton's method, with steps cut back while they leave the domain
//! of L (a relativistic particle must not pass the speed of light on the way to its velocity).

use super::model::{Entry, Model};
use crate::error::Cause;
use crate::expr::Evaluator;
use crate::linear::{Matrix, Singular, null_vector};
use crate::scalar::Real;

const MAX_CORRECTIONS: u32 = 100;
/// Velocities must give their momenta to this part of the largest.
const REPRESENTABLE: f64 = 1e-4;

/// Converts between momenta and velocities.
#[derive(Clone, Debug)]
pub struct Velocities<R> {
    momentum: Evaluator<R>,
    mass: Evaluator<R>,
    out: Vec<R>,
    matrix: MassMatrix<R>,
    quadratic: bool,
    constant_mass: bool,
    factored: bool,
    /// Where L_v is evaluated for a quadratic L.
    at_rest: Vec<R>,
    residual: Vec<R>,
    trial: Vec<R>,
}

/// L_vv as a matrix to solve with.
#[derive(Clone, Debug)]
struct MassMatrix<R> {
    entries: Vec<Entry>,
    position: Vec<usize>,
    matrix: Matrix<R>,
    ordered: Vec<R>,
}

impl<R: Real> MassMatrix<R> {
    fn new(model: &Model) -> Self {
        let ordering = &model.structure.mass_ordering;
        Self {
            entries: model.l_vv.clone(),
            position: ordering.position.clone(),
            matrix: Matrix::new(model.n, ordering.bandwidth),
            ordered: vec![R::zero(); model.n],
        }
    }

    fn fill(&mut self, values: &[R]) {
        self.matrix.clear();
        for (entry, value) in self.entries.iter().zip(values) {
            let (i, j) = (self.position[entry.row], self.position[entry.column]);
            *self.matrix.entry(i, j) = value.clone();
            *self.matrix.entry(j, i) = value.clone();
        }
    }

    fn factor(&mut self, values: &[R]) -> Result<(), Cause> {
        self.fill(values);
        match self.matrix.factor() {
            Ok(()) => Ok(()),
            Err(Singular { column }) => Err(without_inverse(&self.entries, values, &self.position, column)),
        }
    }

    /// Replaces the right-hand side by the solution, in the coordinates' own order.
    fn solve(&mut self, x: &mut [R]) {
        for (i, value) in x.iter().enumerate() {
            self.ordered[self.position[i]] = value.clone();
        }
        self.matrix.solve(&mut self.ordered);
        for (i, value) in x.iter_mut().enumerate() {
            *value = self.ordered[self.position[i]].clone();
        }
    }
}

/// Why L_vv with these entries has no inverse: a combination of velocities that it sends to zero, or an entry that is not finite.
/// `column` is the place at which the elimination broke down.
pub(super) fn without_inverse<R: Real>(
    entries: &[Entry],
    values: &[R],
    position: &[usize],
    column: usize,
) -> Cause {
    let place = |entry: &Entry| (position[entry.row], position[entry.column]);
    if let Some((entry, _)) = entries.iter().zip(values).find(|(_, value)| !value.is_finite()) {
        return Cause::MassNotFinite { coordinate: entry.row };
    }
    let list: Vec<_> = entries.iter().zip(values).map(|(e, x)| (place(e).0, place(e).1, x.clone())).collect();
    let x = null_vector(position.len(), &list, column);
    let mut direction: Vec<f64> = position.iter().map(|&i| x[i].to_f64()).collect();
    if direction.iter().find(|x| **x != 0.0).is_some_and(|x| *x < 0.0) {
        direction.iter_mut().for_each(|x| *x = -*x);
    }
    Cause::SingularMass { direction }
}

fn largest<R: Real>(x: &[R]) -> f64 {
    // NaN must not be overlooked, as f64::max would
    x.iter().map(R::magnitude).fold(0.0, |m, y| if y > m || y.is_nan() { y } else { m })
}

fn index_of_largest<R: Real>(x: &[R]) -> usize {
    let size = |i: usize| if x[i].is_finite() { x[i].magnitude() } else { f64::INFINITY };
    (0..x.len()).max_by(|&i, &j| size(i).total_cmp(&size(j))).unwrap_or(0)
}

impl<R: Real> Velocities<R> {
    /// The converter for one set of parameters.
    pub fn new(model: &Model, parameters: &[R]) -> Self {
        let momentum = model.evaluator(model.momentum_tape(), parameters);
        let mass = model.evaluator(model.mass_tape(), parameters);
        Self::with(model, momentum, mass)
    }

    /// A converter for a few times only, not worth machine code.
    pub fn for_a_start(model: &Model, parameters: &[R]) -> Self {
        let momentum = Evaluator::new(model.momentum_tape(), parameters);
        Self::with(model, momentum, Evaluator::new(model.mass_tape(), parameters))
    }

    fn with(model: &Model, momentum: Evaluator<R>, mass: Evaluator<R>) -> Self {
        let zeros = vec![R::zero(); model.n];
        Self {
            momentum,
            out: vec![R::zero(); mass.outputs()],
            mass,
            matrix: MassMatrix::new(model),
            quadratic: model.structure.quadratic,
            constant_mass: model.structure.constant_mass,
            factored: false,
            at_rest: zeros.clone(),
            residual: zeros.clone(),
            trial: zeros,
        }
    }

    /// Replaces the parameters.
    pub fn assign(&mut self, parameters: &[R]) {
        self.momentum.assign(parameters);
        self.mass.assign(parameters);
        self.factored = false;
    }

    /// p = L_v(q, v, t).
    pub fn momenta(&mut self, q: &[R], v: &[R], t: &R, p: &mut [R]) {
        self.momentum.evaluate(q, v, t, p);
    }

    /// Finds v with L_v(q, v, t) = p. The content of `v` is the starting guess where one is needed.
    pub fn velocities(&mut self, q: &[R], p: &[R], t: &R, v: &mut [R]) -> Result<(), Cause> {
        if self.quadratic { self.solve_linear(q, p, t, v) } else { self.solve_newton(q, p, t, v) }
    }

    /// L_vv(q) v = p − L_v(q, 0)
    fn solve_linear(&mut self, q: &[R], p: &[R], t: &R, v: &mut [R]) -> Result<(), Cause> {
        let n = p.len();
        if self.constant_mass && self.factored {
            self.momentum.evaluate(q, &self.at_rest, t, &mut self.out[..n]);
        } else {
            self.mass.evaluate(q, &self.at_rest, t, &mut self.out);
            self.matrix.factor(&self.out[n..])?;
            self.factored = true;
        }
        for i in 0..n {
            v[i] = p[i].clone() - self.out[i].clone();
        }
        self.matrix.solve(v);
        Ok(())
    }

    /// v += L_vv⁻¹ (p − L_v), until the correction no longer shrinks.
    fn solve_newton(&mut self, q: &[R], p: &[R], t: &R, v: &mut [R]) -> Result<(), Cause> {
        let n = p.len();
        self.mass.evaluate(q, v, t, &mut self.out);
        if !self.out[..n].iter().all(R::is_finite) {
            // the guess lies outside the domain of L: rest is inside
            v.fill(R::zero());
            self.mass.evaluate(q, v, t, &mut self.out);
        }
        let mut previous = f64::INFINITY;
        for iteration in 1..=MAX_CORRECTIONS {
            for i in 0..n {
                self.residual[i] = p[i].clone() - self.out[i].clone();
            }
            let mismatch = largest(&self.residual);
            self.matrix.factor(&self.out[n..])?;
            self.matrix.solve(&mut self.residual);
            let correction = largest(&self.residual);
            let small = 1e3 * R::epsilon() * (largest(v) + correction);
            // velocities next to a bound (the speed of light) may be too coarse for their momenta
            let matches = mismatch <= REPRESENTABLE * largest(p);
            if correction == 0.0 || correction <= small && correction >= 0.5 * previous {
                return if matches { Ok(()) } else { Err(self.no_velocity(iteration)) };
            }
            previous = correction;
            if !self.advance(q, p, t, v, mismatch) {
                // no shorter step is better: either rounding is reached or there is no solution
                let done = correction <= small && matches;
                return if done { Ok(()) } else { Err(self.no_velocity(iteration)) };
            }
        }
        Err(self.no_velocity(MAX_CORRECTIONS))
    }

    /// Adds the correction, halved until L is finite there and the mismatch of momenta is smaller.
    fn advance(&mut self, q: &[R], p: &[R], t: &R, v: &mut [R], mismatch: f64) -> bool {
        let n = p.len();
        let mut length = 1.0;
        for _ in 0..60 {
            let factor = R::from_f64(length);
            for i in 0..n {
                self.trial[i] = v[i].clone();
                self.trial[i].add_mul(&factor, &self.residual[i]);
            }
            self.mass.evaluate(q, &self.trial, t, &mut self.out);
            let finite = self.out.iter().all(R::is_finite);
            let after = (0..n).map(|i| (p[i].clone() - self.out[i].clone()).magnitude()).fold(0.0, f64::max);
            let rounding = 1e2 * R::epsilon() * largest(p);
            if finite && (after < mismatch || after <= rounding) {
                v.clone_from_slice(&self.trial);
                return true;
            }
            length *= 0.5;
        }
        false
    }

    fn no_velocity(&self, iterations: u32) -> Cause {
        Cause::NoVelocity { iterations, coordinate: index_of_largest(&self.residual) }
    }
}

/// Accelerations from L_vv a = L_q − L_vq v − L_vt.
#[derive(Clone, Debug)]
pub struct Accelerations<R> {
    evaluator: Evaluator<R>,
    out: Vec<R>,
    matrix: MassMatrix<R>,
}

impl<R: Real> Accelerations<R> {
    /// The kernel for one set of parameters.
    pub fn new(model: &Model, parameters: &[R]) -> Self {
        let evaluator = model.evaluator(model.acceleration_tape(), parameters);
        Self { out: vec![R::zero(); evaluator.outputs()], evaluator, matrix: MassMatrix::new(model) }
    }

    /// Replaces the parameters.
    pub fn assign(&mut self, parameters: &[R]) {
        self.evaluator.assign(parameters);
    }

    /// The accelerations at a state.
    pub fn at(&mut self, q: &[R], v: &[R], t: &R, a: &mut [R]) -> Result<(), Cause> {
        self.evaluator.evaluate(q, v, t, &mut self.out);
        let (force, entries) = self.out.split_at(a.len());
        self.matrix.factor(entries)?;
        a.clone_from_slice(force);
        self.matrix.solve(a);
        Ok(())
    }
}
