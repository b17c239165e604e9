//! A system's derivatives as numbers: at a state (q, v, t), in any number type.
//!
//! Thin names over [`Evaluator`]s for the tapes of a [`Model`]. Each owner (a stepper, an observer) makes the
//! kernels it needs; nothing here allocates after that.

use super::model::Model;
use crate::expr::{Evaluator, FourStates, Stage};
use crate::scalar::Real;

/// L_q and L_v.
#[derive(Clone, Debug)]
pub struct Gradient<R> {
    evaluator: Evaluator<R>,
    out: Vec<R>,
    n: usize,
}

impl<R: Real> Gradient<R> {
    /// The kernel for one set of parameters.
    pub fn new(model: &Model, parameters: &[R]) -> Self {
        let evaluator = model.evaluator(model.gradient_tape(), parameters);
        Self { out: vec![R::zero(); evaluator.outputs()], evaluator, n: model.n }
    }
    /// Replaces the parameters.
    pub fn assign(&mut self, parameters: &[R]) {
        self.evaluator.assign(parameters);
    }
    /// L_q and L_v at a state.
    pub fn at(&mut self, q: &[R], v: &[R], t: &R) -> (&[R], &[R]) {
        self.evaluator.evaluate(q, v, t, &mut self.out);
        self.out.split_at(self.n)
    }
}

/// L_q of a Lagrangian in which velocities do not meet coordinates.
#[derive(Clone, Debug)]
pub struct Forces<R> {
    evaluator: Evaluator<R>,
    at_rest: Vec<R>,
}

impl<R: Real> Forces<R> {
    /// The kernel for one set of parameters.
    pub fn new(model: &Model, parameters: &[R]) -> Self {
        let evaluator = model.evaluator(model.force_tape(), parameters);
        Self { evaluator, at_rest: vec![R::zero(); model.n] }
    }
    /// Replaces the parameters.
    pub fn assign(&mut self, parameters: &[R]) {
        self.evaluator.assign(parameters);
    }
    /// L_q at coordinates and a time.
    pub fn at(&mut self, q: &[R], t: &R, l_q: &mut [R]) {
        self.evaluator.evaluate(q, &self.at_rest, t, l_q);
    }
    /// Prepares [`advance`](Self::advance), for a diagonal mass matrix.
    pub fn with_stages(self, model: &Model) -> Self {
        let equal = model.l_vv.iter().all(|entry| entry.node == model.l_vv[0].node);
        Self { evaluator: self.evaluator.with_stages(equal), ..self }
    }
    /// Whether there is machine code for [`advance`](Self::advance).
    #[inline]
    pub fn have_stages(&self) -> bool {
        self.evaluator.has_stages()
    }
    /// A whole stage of a splitting method. `false` if there is no machine code for it; then nothing has changed.
    #[inline]
    pub fn advance(&mut self, stage: Stage<'_, R>) -> bool {
        self.evaluator.advance(stage)
    }
}

/// L_t: how L changes with time itself. Along a motion the energy changes at the rate −L_t.
#[derive(Clone, Debug)]
pub struct TimeDerivative<R> {
    evaluator: Evaluator<R>,
}

impl<R: Real> TimeDerivative<R> {
    /// The kernel for one set of parameters.
    pub fn new(model: &Model, parameters: &[R]) -> Self {
        Self { evaluator: model.evaluator(model.time_derivative_tape(), parameters) }
    }
    /// Replaces the parameters.
    pub fn assign(&mut self, parameters: &[R]) {
        self.evaluator.assign(parameters);
    }
    /// L_t at a state.
    pub fn at(&mut self, q: &[R], v: &[R], t: &R) -> R {
        let mut out = [R::zero()];
        self.evaluator.evaluate(q, v, t, &mut out);
        let [l_t] = out;
        l_t
    }
}

/// L_q, L_v and the second derivatives.
#[derive(Clone, Debug)]
pub struct Hessian<R> {
    evaluator: Evaluator<R>,
    out: Vec<R>,
    n: usize,
    /// Where L_qv and L_vv begin among the entries.
    starts: (usize, usize),
}

/// First and second derivatives at a state; the entries are in the order of the model's lists.
#[derive(Debug)]
pub struct SecondOrder<'a, R> {
    /// L_q.
    pub l_q: &'a [R],
    /// L_v.
    pub l_v: &'a [R],
    /// Entries of L_qq, lower triangle.
    pub l_qq: &'a [R],
    /// Entries of L_qv.
    pub l_qv: &'a [R],
    /// Entries of L_vv, lower triangle.
    pub l_vv: &'a [R],
}

impl<R: Real> Hessian<R> {
    /// The kernel for one set of parameters.
    pub fn new(model: &Model, parameters: &[R]) -> Self {
        let evaluator = model.evaluator(model.hessian_tape(), parameters);
        let l_qq = model.l_qq().len();
        let starts = (l_qq, l_qq + model.l_qv.len());
        Self { out: vec![R::zero(); evaluator.outputs()], evaluator, n: model.n, starts }
    }
    /// Replaces the parameters.
    pub fn assign(&mut self, parameters: &[R]) {
        self.evaluator.assign(parameters);
    }
    /// All derivatives at a state.
    pub fn at(&mut self, q: &[R], v: &[R], t: &R) -> SecondOrder<'_, R> {
        self.evaluator.evaluate(q, v, t, &mut self.out);
        let (first, entries) = self.out.split_at(2 * self.n);
        let (l_q, l_v) = first.split_at(self.n);
        let (l_qq, rest) = entries.split_at(self.starts.0);
        let (l_qv, l_vv) = rest.split_at(self.starts.1 - self.starts.0);
        SecondOrder { l_q, l_v, l_qq, l_qv, l_vv }
    }
}

/// The energy from momenta, for a Lagrangian that is quadratic in velocities.
#[derive(Clone, Debug)]
pub struct Hamiltonian<R> {
    evaluator: Evaluator<R>,
}

impl<R: Real> Hamiltonian<R> {
    /// The kernel for one set of parameters, if there is one.
    pub fn new(model: &Model, parameters: &[R]) -> Option<Self> {
        Some(Self { evaluator: model.evaluator(model.hamiltonian_tape()?, parameters) })
    }
    /// Replaces the parameters.
    pub fn assign(&mut self, parameters: &[R]) {
        self.evaluator.assign(parameters);
    }
    /// The energy without its additive constant and the kinetic energy at (q, p).
    pub fn at(&mut self, q: &[R], p: &[R], t: &R) -> [R; 2] {
        let mut out = [R::zero(), R::zero()];
        self.evaluator.evaluate(q, p, t, &mut out);
        out
    }
}

impl Hamiltonian<f64> {
    /// The same for four states side by side, if there is machine code for it.
    pub fn abreast(&self) -> Option<FourStates> {
        FourStates::new(&self.evaluator)
    }
    /// Gives one of four states its parameters.
    pub fn lend_parameters(&self, lane: usize, four: &mut FourStates) {
        four.assign(lane, &self.evaluator);
    }
}

/// The energy without its additive constant, which costs it no digits then, and the constant.
#[derive(Clone, Debug)]
pub struct BareEnergy<R> {
    evaluator: Evaluator<R>,
}

impl<R: Real> BareEnergy<R> {
    /// The kernel for one set of parameters.
    pub fn new(model: &Model, parameters: &[R]) -> Self {
        Self { evaluator: model.evaluator(model.bare_energy_tape(), parameters) }
    }
    /// A kernel for a few times only, not worth machine code.
    pub fn for_a_start(model: &Model, parameters: &[R]) -> Self {
        Self { evaluator: Evaluator::new(model.bare_energy_tape(), parameters) }
    }
    /// Replaces the parameters.
    pub fn assign(&mut self, parameters: &[R]) {
        self.evaluator.assign(parameters);
    }
    /// The energy without its constant, and the constant.
    pub fn at(&mut self, q: &[R], v: &[R], t: &R) -> [R; 2] {
        let mut out = [R::zero(), R::zero()];
        self.evaluator.evaluate(q, v, t, &mut out);
        out
    }
}

/// The energy v·L_v − L.
#[derive(Clone, Debug)]
pub struct Energy<R> {
    evaluator: Evaluator<R>,
}

impl<R: Real> Energy<R> {
    /// The kernel for one set of parameters.
    pub fn new(model: &Model, parameters: &[R]) -> Self {
        Self { evaluator: model.evaluator(model.energy_tape(), parameters) }
    }
    /// A kernel for a few times only, not worth machine code.
    pub fn for_a_start(model: &Model, parameters: &[R]) -> Self {
        Self { evaluator: Evaluator::new(model.energy_tape(), parameters) }
    }
    /// Replaces the parameters.
    pub fn assign(&mut self, parameters: &[R]) {
        self.evaluator.assign(parameters);
    }
    /// The energy and L at a state.
    pub fn at(&mut self, q: &[R], v: &[R], t: &R) -> (R, R) {
        let mut out = [R::zero(), R::zero()];
        self.evaluator.evaluate(q, v, t, &mut out);
        let [energy, lagrangian] = out;
        (energy, lagrangian)
    }
}
