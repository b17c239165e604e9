//! The natural units of a motion: how large each coordinate and each momentum becomes along the run.
//!
//! Defects, errors and directions are measured in these units, so that no verdict depends on the units in which a system is written. A coordinate
//! at rest gets the size that the energy scale and its own mass give it: its momentum at that energy, and the way that it goes in a step.

use super::Subject;
use super::trail::Trail;
use crate::step::State;
use crate::system::{Hessian, Velocities};

/// A coordinate or momentum counts at least for this part of what the energy scale gives it. It is small enough to see a coordinate with
/// a millionth of the energy, and large enough to ignore one that only carries the rounding of others.
const LEAST: f64 = 1e-3;
/// Masses are looked at in so many states.
const STATES: usize = 7;

/// Sizes of all coordinates, then of all momenta; all are positive.
pub(super) struct Sizes {
    pub(super) all: Vec<f64>,
}

impl Sizes {
    pub(super) fn new(subject: &Subject<'_>, trail: &Trail) -> Self {
        let n = subject.plan.problem.system.n();
        let energy = trail.invariants.meter.energy_scale();
        let masses = masses(subject, &trail.some(STATES));
        let mut all = largest(&trail.states, n);
        for (i, mass) in masses.into_iter().enumerate().filter(|(_, mass)| *mass > 0.0) {
            all[i] = all[i].max(LEAST * (energy / mass).sqrt() * subject.plan.step);
            all[n + i] = all[n + i].max(LEAST * (energy * mass).sqrt());
        }
        for i in 0..n {
            // without a mass: the other one of the pair that has the action of the energy scale in a step
            let action = energy * subject.plan.step;
            for (own, other) in [(i, n + i), (n + i, i)] {
                if all[own] == 0.0 && all[other] > 0.0 {
                    all[own] = action / all[other];
                }
            }
        }
        // what overflows or is nothing at all has no size
        all.iter_mut().filter(|size| !(size.is_normal() && **size > 0.0)).for_each(|size| *size = 1.0);
        Self { all }
    }

    /// How many coordinates there are.
    fn n(&self) -> usize {
        self.all.len() / 2
    }

    pub(super) fn q(&self) -> &[f64] {
        &self.all[..self.n()]
    }

    pub(super) fn p(&self) -> &[f64] {
        &self.all[self.n()..]
    }

    /// Numbers for all coordinates, then all momenta, in these units: the largest, NaN if there is one.
    pub(super) fn largest(&self, numbers: &[f64]) -> f64 {
        let relative = numbers.iter().zip(&self.all).map(|(x, size)| x.abs() / size);
        relative.fold(0.0, |m, x| if x > m || x.is_nan() { x } else { m })
    }
}

/// The largest |q_i| and |p_i| over some states.
fn largest(states: &[State<f64>], n: usize) -> Vec<f64> {
    let mut all = vec![0.0f64; 2 * n];
    for state in states {
        for (size, x) in all.iter_mut().zip(state.q.iter().chain(&state.p)) {
            *size = size.max(x.abs());
        }
    }
    all
}

/// The largest |∂²L/∂v_i²| over some states.
fn masses(subject: &Subject<'_>, states: &[&State<f64>]) -> Vec<f64> {
    let problem = &subject.plan.problem;
    let model = &problem.system.model;
    let mut hessian = Hessian::new(model, &problem.parameters);
    let mut velocities = Velocities::new(model, &problem.parameters);
    let mut masses = vec![0.0f64; model.n];
    let mut v = problem.v0.clone();
    for state in states {
        let t = subject.time(state.steps);
        if velocities.velocities(&state.q, &state.p, &t, &mut v).is_err() {
            continue;
        }
        let entries = hessian.at(&state.q, &v, &t);
        for (entry, mass) in
            model.l_vv.iter().zip(entries.l_vv).filter(|(entry, _)| entry.row == entry.column)
        {
            masses[entry.row] = masses[entry.row].max(mass.abs());
        }
    }
    masses
}
