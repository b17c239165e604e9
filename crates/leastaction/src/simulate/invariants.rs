//! An observer that watches what should be conserved: the energy, and the momenta of cyclic coordinates.

use super::{Moment, Observer};
use crate::error::Cause;
use crate::scalar::Real;
use crate::system::{Energy, Problem, Velocities};
use std::ops::ControlFlow;

/// The momentum of a cyclic coordinate.
#[derive(Clone, Debug)]
pub struct Drift {
    /// Which coordinate.
    pub coordinate: usize,
    /// Its momentum at the start.
    pub initial: f64,
    /// The largest difference from it.
    pub largest: f64,
}

/// Energy and cyclic momenta, checked after every step.
#[derive(Clone, Debug)]
pub struct Invariants<R> {
    energy: Energy<R>,
    velocities: Velocities<R>,
    v: Vec<R>,
    initial: R,
    /// The energy of the last step seen.
    pub last: R,
    /// The largest difference from the initial energy.
    pub largest: f64,
    /// The momenta of cyclic coordinates.
    pub momenta: Vec<Drift>,
}

impl<R: Real> Invariants<R> {
    /// Measures against the initial state of a problem.
    pub fn new(problem: &Problem<R>) -> Self {
        let model = &problem.system.model;
        let mut energy = Energy::new(model, &problem.parameters);
        let (initial, _) = energy.at(&problem.q0, &problem.v0, &problem.t0);
        let momenta = model
            .structure
            .cyclic
            .iter()
            .map(|&coordinate| Drift { coordinate, initial: problem.p0[coordinate].to_f64(), largest: 0.0 })
            .collect();
        Self {
            energy,
            velocities: Velocities::new(model, &problem.parameters),
            v: problem.v0.clone(),
            last: initial.clone(),
            initial,
            largest: 0.0,
            momenta,
        }
    }

    /// The initial energy.
    pub fn initial(&self) -> &R {
        &self.initial
    }

    /// What energy differences are divided by: the initial energy, or 1 if that is zero.
    pub fn scale(&self) -> f64 {
        let size = self.initial.magnitude();
        if size == 0.0 { 1.0 } else { size }
    }

    /// The largest relative error of the energy so far.
    pub fn max_relative_error(&self) -> f64 {
        self.largest / self.scale()
    }
}

impl<R: Real> Observer<R> for Invariants<R> {
    fn observe(&mut self, moment: &Moment<'_, R>) -> Result<ControlFlow<()>, Cause> {
        let State { q, p, .. } = moment.state;
        if moment.state.steps > 0 {
            self.velocities.velocities(q, p, &moment.t, &mut self.v)?;
            self.last = self.energy.at(q, &self.v, &moment.t).0;
        }
        let error = (self.last.clone() - self.initial.clone()).magnitude();
        if !error.is_finite() {
            let coordinate = q.iter().position(|x| !x.is_finite()).unwrap_or(0);
            return Err(Cause::NotFinite { coordinate, step_size: moment.stepper.step_size().to_f64() });
        }
        self.largest = self.largest.max(error);
        for drift in &mut self.momenta {
            let error = (p[drift.coordinate].to_f64() - drift.initial).abs();
            drift.largest = drift.largest.max(error);
        }
        Ok(ControlFlow::Continue(()))
    }
}

use crate::step::State;
