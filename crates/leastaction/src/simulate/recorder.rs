//! An observer that keeps states: every so many steps, and if wanted a number of points within each.

use super::{Moment, Observer};
use crate::error::Cause;
use crate::step::{Stepper, Weights};
use crate::system::{Energy, Problem, Velocities};
use std::ops::ControlFlow;

/// Recorded times and states, one row after the other.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// How many coordinates a row has.
    pub n: usize,
    /// Times.
    pub t: Vec<f64>,
    /// Coordinates, n a row.
    pub q: Vec<f64>,
    /// Velocities, n a row.
    pub v: Vec<f64>,
    /// Momenta, n a row.
    pub p: Vec<f64>,
    /// Energies.
    pub energy: Vec<f64>,
}

impl Recording {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.t.len()
    }
    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.t.is_empty()
    }
    /// One coordinate over time.
    pub fn coordinate(&self, i: usize) -> impl Iterator<Item = f64> {
        self.q.iter().skip(i).step_by(self.n).copied()
    }
    /// One velocity over time.
    pub fn velocity(&self, i: usize) -> impl Iterator<Item = f64> {
        self.v.iter().skip(i).step_by(self.n).copied()
    }
    /// One momentum over time.
    pub fn momentum(&self, i: usize) -> impl Iterator<Item = f64> {
        self.p.iter().skip(i).step_by(self.n).copied()
    }
}

/// Keeps states.
#[derive(Clone, Debug)]
pub struct Recorder {
    every: u64,
    /// Points within a step, with their fractions of it.
    inner: Vec<(f64, Weights<f64>)>,
    energy: Energy<f64>,
    velocities: Velocities<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    p: Vec<f64>,
    /// What has been kept.
    pub recording: Recording,
}

impl Recorder {
    /// Keeps every `every`-th step and `dense` − 1 points within each step kept. Room for `rows` rows is made at once.
    pub fn new(problem: &Problem<f64>, stepper: &Stepper<f64>, every: u64, dense: u64, rows: usize) -> Self {
        let model = &problem.system.model;
        let n = model.n;
        let inner = (1..dense)
            .filter_map(|j| {
                let fraction = j as f64 / dense as f64;
                stepper.weights(&fraction).map(|weights| (fraction, weights))
            })
            .collect();
        let room = |width: usize| Vec::with_capacity(rows * width);
        let recording = Recording { n, t: room(1), q: room(n), v: room(n), p: room(n), energy: room(1) };
        Self {
            every,
            inner,
            energy: Energy::new(model, &problem.parameters),
            velocities: Velocities::new(model, &problem.parameters),
            q: problem.q0.clone(),
            v: problem.v0.clone(),
            p: problem.p0.clone(),
            recording,
        }
    }

    fn push(&mut self, t: f64) {
        let energy = self.energy.at(&self.q, &self.v, &t).0;
        let r = &mut self.recording;
        r.t.push(t);
        r.q.extend_from_slice(&self.q);
        r.v.extend_from_slice(&self.v);
        r.p.extend_from_slice(&self.p);
        r.energy.push(energy);
    }
}

impl Observer<f64> for Recorder {
    fn observe(&mut self, moment: &Moment<'_, f64>) -> Result<ControlFlow<()>, Cause> {
        let state = moment.state;
        if state.steps == 0 {
            // the velocities given, not ones recovered from momenta
            self.push(moment.t);
            return Ok(ControlFlow::Continue(()));
        }
        if !state.steps.is_multiple_of(self.every) {
            return Ok(ControlFlow::Continue(()));
        }
        let h = *moment.stepper.step_size();
        for k in 0..self.inner.len() {
            let (fraction, weights) = &self.inner[k];
            let t = moment.t - (1.0 - fraction) * h;
            moment.stepper.within(weights, &mut self.q, &mut self.v);
            self.velocities.momenta(&self.q, &self.v, &t, &mut self.p);
            self.push(t);
        }
        self.q.clone_from_slice(&state.q);
        self.p.clone_from_slice(&state.p);
        self.velocities.velocities(&self.q, &self.p, &moment.t, &mut self.v)?;
        self.push(moment.t);
        Ok(ControlFlow::Continue(()))
    }
}
