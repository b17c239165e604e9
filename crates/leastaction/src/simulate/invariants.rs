//! Watching what should be conserved: the energy, and the momenta of cyclic coordinates.

use super::{Moment, Observer};
use crate::error::Cause;
use crate::scalar::Real;
use crate::step::State;
use crate::system::{Energy, Problem, Velocities};
use std::ops::ControlFlow;

/// An initial energy below this part of the kinetic energy counts as zero, where it cannot measure errors.
const NEGLIGIBLE: f64 = 1e-9;

/// Measures the energy of states, and what its errors are to be compared with.
#[derive(Clone, Debug)]
pub struct EnergyMeter<R> {
    energy: Energy<R>,
    velocities: Velocities<R>,
    v: Vec<R>,
    initial: R,
    /// The largest |v·p|/2 seen while the energy was right: the kinetic energy where L is quadratic.
    kinetic: f64,
}

impl<R: Real> EnergyMeter<R> {
    /// A meter that starts at the initial state of a problem.
    pub fn new(problem: &Problem<R>) -> Self {
        let model = &problem.system.model;
        let mut energy = Energy::new(model, &problem.parameters);
        let (initial, _) = energy.at(&problem.q0, &problem.v0, &problem.t0);
        let velocities = Velocities::new(model, &problem.parameters);
        Self {
            energy,
            velocities,
            v: problem.v0.clone(),
            initial,
            kinetic: kinetic(&problem.v0, &problem.p0),
        }
    }

    /// The energy of a state.
    pub fn measure(&mut self, moment: &Moment<'_, R>) -> Result<R, Cause> {
        let State { q, p, .. } = moment.state;
        self.velocities.velocities(q, p, &moment.t, &mut self.v)?;
        let kinetic = kinetic(&self.v, p);
        let energy = self.energy.at(q, &self.v, &moment.t).0;
        if energy.is_finite() && kinetic.is_finite() {
            // the kinetic energy of a run that blows up must not hide that it does
            let error = (energy.clone() - self.initial.clone()).magnitude();
            if error < 0.1 * kinetic {
                self.kinetic = self.kinetic.max(kinetic);
            }
            return Ok(energy);
        }
        let coordinate = q.iter().position(|x| !x.is_finite()).unwrap_or(0);
        Err(Cause::NotFinite { coordinate, step_size: moment.stepper.step_size().to_f64() })
    }

    /// The initial energy.
    pub fn initial(&self) -> &R {
        &self.initial
    }

    /// What errors are divided by: |E0|; or, if E0 is as good as zero, the largest kinetic energy so far; or 1.
    pub fn scale(&self) -> f64 {
        let initial = self.initial.magnitude();
        if initial > NEGLIGIBLE * self.kinetic {
            initial
        } else if self.kinetic > 0.0 {
            self.kinetic
        } else {
            1.0
        }
    }
}

fn kinetic<R: Real>(v: &[R], p: &[R]) -> f64 {
    0.5 * v.iter().zip(p).map(|(v, p)| v.to_f64() * p.to_f64()).sum::<f64>().abs()
}

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
    /// The meter of the energy.
    pub meter: EnergyMeter<R>,
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
        let cyclic = problem.system.structure().cyclic.iter();
        let drift = |&coordinate: &usize| Drift {
            coordinate,
            initial: problem.p0[coordinate].to_f64(),
            largest: 0.0,
        };
        let momenta = cyclic.map(drift).collect();
        let meter = EnergyMeter::new(problem);
        Self { last: meter.initial().clone(), meter, largest: 0.0, momenta }
    }

    /// The largest relative error of the energy so far.
    pub fn max_relative_error(&self) -> f64 {
        self.largest / self.meter.scale()
    }
}

impl<R: Real> Observer<R> for Invariants<R> {
    fn observe(&mut self, moment: &Moment<'_, R>) -> Result<ControlFlow<()>, Cause> {
        if moment.state.steps > 0 {
            self.last = self.meter.measure(moment)?;
            let error = (self.last.clone() - self.meter.initial().clone()).magnitude();
            self.largest = self.largest.max(error);
        }
        for drift in &mut self.momenta {
            let error = (moment.state.p[drift.coordinate].to_f64() - drift.initial).abs();
            drift.largest = drift.largest.max(error);
        }
        Ok(ControlFlow::Continue(()))
    }
}
