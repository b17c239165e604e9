//! Energies over a long run: how wide they swing, and whether they move away.

use crate::error::Cause;
use crate::scalar::Real;
use crate::simulate::{EnergyMeter, Moment, Observer};
use crate::system::Problem;
use std::ops::ControlFlow;

/// An observer that collects the energy error of every step in a number of equal windows.
#[derive(Clone, Debug)]
pub struct EnergyWindows<R> {
    meter: EnergyMeter<R>,
    steps_per_window: u64,
    windows: Vec<Window>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    count: u64,
    sum: f64,
    largest: f64,
}

/// What the windows show.
#[derive(Clone, Copy, Debug)]
pub struct EnergyDrift {
    /// The largest error, relative to the energy scale of the motion, as all of these.
    pub largest: f64,
    /// The largest relative error in the first tenth of the run.
    pub largest_early: f64,
    /// The change of the mean error over the whole run, from a line fitted to the means of the windows.
    pub drift: f64,
    /// Its standard error: how large a drift chance alone would show.
    pub uncertainty: f64,
}

impl<R: Real> EnergyWindows<R> {
    /// Collects the steps of a run in `count` windows.
    pub fn new(problem: &Problem<R>, steps: u64, count: u64) -> Self {
        Self {
            meter: EnergyMeter::new(problem),
            steps_per_window: steps.div_ceil(count).max(1),
            windows: vec![Window::default(); count as usize],
        }
    }

    /// Fits a line to the windows' means.
    pub fn drift(&self) -> EnergyDrift {
        let used: Vec<Window> = self.windows.iter().filter(|w| w.count > 0).copied().collect();
        let count = used.len() as f64;
        let scale = self.meter.energy_scale();
        let means: Vec<f64> = used.iter().map(|w| w.sum / w.count as f64 / scale).collect();
        let middle = (count - 1.0) / 2.0;
        let mean = means.iter().sum::<f64>() / count;
        let spread: f64 = (0..used.len()).map(|i| (i as f64 - middle).powi(2)).sum();
        let slope =
            means.iter().enumerate().map(|(i, y)| (i as f64 - middle) * (y - mean)).sum::<f64>() / spread;
        let residual: f64 =
            means.iter().enumerate().map(|(i, y)| (y - mean - slope * (i as f64 - middle)).powi(2)).sum();
        let uncertainty = (residual / (count - 2.0).max(1.0) / spread).sqrt();
        let early = used.len().div_ceil(10);
        EnergyDrift {
            largest: used.iter().fold(0.0f64, |m, w| m.max(w.largest)) / scale,
            largest_early: used[..early].iter().fold(0.0f64, |m, w| m.max(w.largest)) / scale,
            drift: slope * count,
            uncertainty: uncertainty * count,
        }
    }
}

impl<R: Real> Observer<R> for EnergyWindows<R> {
    fn observe(&mut self, moment: &Moment<'_, R>) -> Result<ControlFlow<()>, Cause> {
        let state = moment.state;
        if state.steps == 0 {
            return Ok(ControlFlow::Continue(()));
        }
        let error = (self.meter.measure(moment)? - self.meter.initial().clone()).to_f64();
        let index = ((state.steps - 1) / self.steps_per_window) as usize;
        if let Some(window) = self.windows.get_mut(index) {
            window.count += 1;
            window.sum += error;
            window.largest = window.largest.max(error.abs());
        }
        Ok(ControlFlow::Continue(()))
    }
}
