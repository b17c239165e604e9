//! An observer that keeps states: every so many steps, if wanted a number of points within each, and where the run ends.

use super::{Moment, Observer};
use crate::error::Cause;
use crate::scalar::{Ledger, Real};
use crate::step::{State, Stepper, Weights};
use crate::system::{Energy, Gauge, Problem, Quantities, Velocities};
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
    /// Energies minus the initial one, subtracted before rounding to 64 bits.
    pub energy_change: Vec<f64>,
    /// The outputs of the run, in its order.
    pub outputs: Vec<Output>,
}

/// A named quantity at every row.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// One value a row.
    pub values: Vec<f64>,
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
    /// An empty one, of so many coordinates.
    pub fn of(n: usize) -> Self {
        Self { n, ..Self::default() }
    }
    /// A column more.
    pub fn add_output(&mut self, name: &str, values: Vec<f64>) {
        self.outputs.push(Output { name: name.to_owned(), values });
    }
    /// Writes or reads all rows, which must have one length.
    fn exchange(&mut self, ledger: &mut Ledger) {
        let Self { n, t, q, v, p, energy, energy_change, outputs } = self;
        ledger.list(t);
        let rows = t.len();
        for (list, width) in [(q, *n), (v, *n), (p, *n), (energy, 1), (energy_change, 1)] {
            ledger.list(list);
            ledger.require(list.len() == rows * width);
        }
        for output in outputs {
            ledger.list(&mut output.values);
            ledger.require(output.values.len() == rows);
        }
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

/// Keeps states, rounded to 64 bits.
#[derive(Clone, Debug)]
pub struct Recorder<R> {
    every: u64,
    /// Points within a step, with their fractions of it.
    inner: Vec<(R, Weights<R>)>,
    energy: Energy<R>,
    initial_energy: R,
    velocities: Velocities<R>,
    outputs: Option<Gauge<R>>,
    q: Vec<R>,
    v: Vec<R>,
    p: Vec<R>,
    /// What has been kept.
    pub recording: Recording,
}

impl<R: Real> Recorder<R> {
    /// Keeps every `every`-th step and `dense` − 1 points within each step kept. Room for `rows` rows is made at once.
    pub fn new(problem: &Problem<R>, stepper: &Stepper<R>, every: u64, dense: u64, rows: usize) -> Self {
        let model = &problem.system.model;
        let n = model.n;
        let inner = (1..dense)
            .filter_map(|j| {
                let fraction = R::from_f64(j as f64) / R::from_f64(dense as f64);
                stepper.weights(&fraction).map(|weights| (fraction, weights))
            })
            .collect();
        let room = |width: usize| Vec::with_capacity(rows * width);
        let (t, q, v, p) = (room(1), room(n), room(n), room(n));
        let recording =
            Recording { n, t, q, v, p, energy: room(1), energy_change: room(1), outputs: Vec::new() };
        let mut energy = Energy::new(model, &problem.parameters);
        let (initial_energy, _) = energy.at(&problem.q0, &problem.v0, &problem.t0);
        Self {
            every,
            inner,
            energy,
            initial_energy,
            velocities: Velocities::new(model, &problem.parameters),
            outputs: None,
            q: problem.q0.clone(),
            v: problem.v0.clone(),
            p: problem.p0.clone(),
            recording,
        }
    }

    /// Keeps outputs beside the states.
    pub fn with_outputs(mut self, problem: &Problem<R>, names: &[String], outputs: &Quantities) -> Self {
        let rows = self.recording.t.capacity();
        let output = |name: &String| Output { name: name.clone(), values: Vec::with_capacity(rows) };
        self.recording.outputs = names.iter().map(output).collect();
        self.outputs = (!outputs.is_empty()).then(|| outputs.gauge(problem));
        self
    }

    /// Writes or reads what has been kept.
    pub fn exchange(&mut self, ledger: &mut Ledger) {
        ledger.numbers(&mut self.v);
        if let Some(gauge) = &mut self.outputs {
            gauge.exchange(ledger);
        }
        self.recording.exchange(ledger);
    }

    /// Keeps the state in which a run ends, if it is not kept already. One that has no velocities is left out.
    pub fn end(&mut self, state: &State<R>, t: &R) {
        if self.recording.t.last() == Some(&t.to_f64()) {
            return;
        }
        if self.look(state, t).is_ok() {
            self.push(t);
        }
    }

    /// Takes over a state and finds its velocities.
    fn look(&mut self, state: &State<R>, t: &R) -> Result<(), Cause> {
        self.q.clone_from_slice(&state.q);
        self.p.clone_from_slice(&state.p);
        self.velocities.velocities(&self.q, &self.p, t, &mut self.v)
    }

    fn push(&mut self, t: &R) {
        let energy = self.energy.at(&self.q, &self.v, t).0;
        let r = &mut self.recording;
        r.t.push(t.to_f64());
        r.q.extend(self.q.iter().map(R::to_f64));
        r.v.extend(self.v.iter().map(R::to_f64));
        r.p.extend(self.p.iter().map(R::to_f64));
        r.energy.push(energy.to_f64());
        r.energy_change.push((energy - self.initial_energy.clone()).to_f64());
        if let Some(gauge) = &mut self.outputs {
            let values = gauge.at(&self.q, &self.v, t);
            for (output, value) in r.outputs.iter_mut().zip(values) {
                output.values.push(value.to_f64());
            }
        }
    }
}

impl<R: Real> Observer<R> for Recorder<R> {
    fn observe(&mut self, moment: &Moment<'_, R>) -> Result<ControlFlow<()>, Cause> {
        let state = moment.state;
        if state.steps == 0 {
            // the velocities given, not ones recovered from momenta
            self.push(&moment.t);
            return Ok(ControlFlow::Continue(()));
        }
        if !state.steps.is_multiple_of(self.every) {
            return Ok(ControlFlow::Continue(()));
        }
        let h = moment.stepper.step_size();
        for k in 0..self.inner.len() {
            let (fraction, weights) = &self.inner[k];
            let t = moment.t.clone() - (R::one() - fraction.clone()) * h.clone();
            moment.stepper.within(weights, &mut self.q, &mut self.v);
            self.velocities.momenta(&self.q, &self.v, &t, &mut self.p);
            self.push(&t);
        }
        self.look(state, &moment.t)?;
        self.push(&moment.t);
        Ok(ControlFlow::Continue(()))
    }
}
