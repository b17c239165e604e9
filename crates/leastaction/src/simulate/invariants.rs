//! Watching what should be conserved: the energy or its balance, the momenta of cyclic coordinates, and those of linear symmetries.

use super::{EnergyMeter, Moment, Observer};
use crate::error::Cause;
use crate::scalar::{Ledger, Real};
use crate::step::State;
use crate::system::{Momentum, Problem, Sum};
use std::ops::ControlFlow;

/// Rounding of terms that cancel is asked for only where errors exceed this part of the energy scale.
const DIGITS: f64 = 1e-13;

/// A conserved momentum, and how it changed.
#[derive(Clone, Debug)]
pub struct Drift {
    /// What it is: `p_phi`, `total p_x`, `x*p_y - y*p_x`.
    pub name: String,
    /// The coordinate, if it is the momentum of a single one.
    pub coordinate: Option<usize>,
    /// Its value at the start.
    pub initial: f64,
    /// The largest difference from it.
    pub largest: f64,
    /// The sizes of all its terms added up, where they were largest: rounding errors are to be compared with this.
    pub size: f64,
}

/// Energy and conserved momenta, checked after every step.
#[derive(Clone, Debug)]
pub struct Invariants<R> {
    /// The meter of the energy.
    pub meter: EnergyMeter<R>,
    /// The energy of the last step seen, without its constant and less the work done.
    pub last: R,
    /// The largest difference from the initial energy.
    pub largest: f64,
    /// A larger difference ends the run; infinite for most.
    limit: f64,
    /// The momenta of cyclic coordinates, then those of linear symmetries.
    pub momenta: Vec<Drift>,
    /// How to compute the last of the momenta, and their initial values.
    symmetries: Vec<(Momentum<R>, Sum<R>)>,
}

impl<R: Real> Invariants<R> {
    /// Measures against the initial state of a problem.
    pub fn new(problem: &Problem<R>) -> Self {
        let system = &problem.system;
        let drift = |name: String, coordinate, initial: f64, size| Drift {
            name,
            coordinate,
            initial,
            largest: 0.0,
            size,
        };
        let cyclic = system.structure().cyclic.iter().map(|&i| {
            let initial = problem.p0[i].to_f64();
            drift(format!("p_{}", system.coordinates[i].name), Some(i), initial, initial.abs())
        });
        let mut momenta: Vec<Drift> = cyclic.collect();
        let zeros = vec![R::zero(); system.n()];
        let mut symmetries = Vec::new();
        for symmetry in problem.symmetries() {
            let momentum = Momentum::new(symmetry);
            let initial = momentum.at((&problem.q0, &zeros), (&problem.p0, &zeros));
            let name = symmetry.name.clone();
            momenta.push(drift(name, symmetry.coordinate(), initial.high.to_f64(), initial.size));
            symmetries.push((momentum, initial));
        }
        let meter = EnergyMeter::new(problem);
        Self { last: meter.initial().clone(), meter, largest: 0.0, limit: f64::INFINITY, momenta, symmetries }
    }

    /// The same for a run that ends when its energy is wrong by more than this.
    pub fn with_limit(self, limit: Option<f64>) -> Self {
        Self { limit: limit.unwrap_or(f64::INFINITY), ..self }
    }

    /// Whether the energy is wrong by more than the limit.
    pub(super) fn is_beyond_limit(&self) -> bool {
        self.largest > self.limit
    }

    /// Writes or reads what it has seen.
    pub fn exchange(&mut self, ledger: &mut Ledger) {
        self.meter.exchange(ledger);
        ledger.number(&mut self.last);
        ledger.number(&mut self.largest);
        for drift in &mut self.momenta {
            ledger.number(&mut drift.largest);
            ledger.number(&mut drift.size);
        }
    }

    /// The largest error of the energy so far, relative to |E0| as in the papers.
    pub fn max_relative_error(&self) -> f64 {
        self.largest / self.meter.scale()
    }

    /// The largest error of the energy so far, relative to the energy scale of the motion.
    pub fn max_error_of_motion(&self) -> f64 {
        self.largest / self.meter.energy_scale()
    }

    /// How much of that may be rounding of the energy's terms.
    pub fn rounding_of_motion(&mut self) -> f64 {
        if self.largest <= DIGITS * self.meter.energy_scale() { 0.0 } else { self.meter.rounding() }
    }
}

impl<R: Real> Observer<R> for Invariants<R> {
    fn observe(&mut self, moment: &Moment<'_, R>) -> Result<ControlFlow<()>, Cause> {
        if moment.state.steps > 0 {
            self.last = self.meter.measure(moment)?;
            let error = (self.last.clone() - self.meter.initial().clone()).magnitude();
            // not `max`, which would hide a NaN
            self.largest = if error <= self.largest { self.largest } else { error };
        }
        let State { q, p, q_low, p_low, .. } = moment.state;
        let first = self.momenta.len().saturating_sub(self.symmetries.len());
        let (cyclic, others) = self.momenta.split_at_mut(first);
        for drift in cyclic {
            let value = drift.coordinate.map_or(drift.initial, |i| p[i].to_f64());
            drift.largest = drift.largest.max((value - drift.initial).abs());
        }
        for (drift, (momentum, initial)) in others.iter_mut().zip(&self.symmetries) {
            let value = momentum.at((q, q_low), (p, p_low));
            drift.largest = drift.largest.max(value.distance(initial));
            drift.size = drift.size.max(value.size);
        }
        Ok(if self.is_beyond_limit() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
