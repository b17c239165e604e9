//! The step equations solved by sweeps that need no second derivatives.
//!
//! The unknowns are the rates V_i, F_i at the points of the quadrature. A sweep puts them into
//!
//! ```text
//! Q_i = q + h Σ_j a_ij V_j      P_i = p + h Σ_j â_ij F_j      V_i, F_i from L_v(Q_i, V_i) = P_i, F_i = L_q(Q_i, V_i)
//! ```
//!
//! at all points at once ([`Nodes`]) and is repeated until the rates no longer change. That converges fast where the step is small beside
//! the time scales of the motion. Where it does not, `galerkin` solves the same equations by Newton's method. In f64 only.

use super::{State, compensated_add};
use crate::expr::Nodes;
use crate::method::{Galerkin, Partitioned, Rule};
use crate::scalar::Real;
use crate::system::{Model, Problem, Structure};

/// More sweeps than this are not worth it.
const MOST: u32 = 60;
/// After so many sweeps the changes must shrink at least by this factor each, or Newton's method takes over.
const EARLY: u32 = 4;
const SLOWEST: f64 = 0.7;
/// What is still missing may be this part of a unit of rounding of the rates.
const MISSING: f64 = 1.0 / 16.0;
/// Changes of so many units of rounding that no longer shrink are rounding.
const ROUNDING: f64 = 1e3;
/// A rate near zero carries rounding errors of the others it is coupled to, so it is measured against this part of the largest.
const COUPLED: f64 = 1e-3;

/// A state in f64.
pub(super) struct Parts<'a> {
    q: &'a mut [f64],
    p: &'a mut [f64],
    q_low: &'a mut [f64],
    p_low: &'a mut [f64],
}

impl<'a> Parts<'a> {
    /// The parts of a state, if its numbers are f64.
    pub(super) fn of<R: Real>(state: &'a mut State<R>) -> Option<Self> {
        Some(Self {
            q: R::as_f64s_mut(&mut state.q)?,
            p: R::as_f64s_mut(&mut state.p)?,
            q_low: R::as_f64s_mut(&mut state.q_low)?,
            p_low: R::as_f64s_mut(&mut state.p_low)?,
        })
    }
}

#[derive(Clone, Debug)]
pub(super) struct Sweeper {
    n: usize,
    nodes: Nodes,
    table: Partitioned<f64>,
    h: f64,
    /// Changes of the rates of all q and all p, in groups of coupled coordinates.
    group: Vec<usize>,
    changes: Vec<Change>,
    /// Rates of the step before.
    last: Vec<f64>,
    increments: Vec<f64>,
    /// The largest ratio of successive changes in the last step.
    contraction: f64,
}

/// How much a group of rates changed in a sweep, relative to its size.
#[derive(Clone, Copy, Debug)]
struct Change {
    largest: f64,
    now: f64,
    before: f64,
    settled: bool,
}

impl Change {
    const NEW: Self = Self { largest: 0.0, now: f64::INFINITY, before: f64::INFINITY, settled: false };
}

impl Sweeper {
    /// A sweeper for a method, if sweeps solve its equations for this problem.
    pub(super) fn new<R: Real>(problem: &Problem<R>, galerkin: &Galerkin, h: &R) -> Option<Self> {
        let parameters = R::as_f64s(&problem.parameters)?;
        let h = h.to_f64();
        let model: &Model = &problem.system.model;
        let Structure { separable, constant_mass, group, groups, .. } = &model.structure;
        if galerkin.rule == Rule::Lobatto && !(*separable && *constant_mass) {
            return None;
        }
        let tape = model.field_tape()?;
        let table: Partitioned<f64> = Partitioned::new(galerkin);
        let (n, count) = (model.n, table.d.len());
        let mut sweeper = Self {
            n,
            nodes: Nodes::new(&tape, parameters, count, model.backend),
            table,
            h,
            group: group.iter().copied().chain(group.iter().map(|g| g + groups)).collect(),
            changes: vec![Change::NEW; 2 * groups],
            last: vec![0.0; 2 * n * count],
            increments: vec![0.0; 2 * n],
            contraction: -1.0,
        };
        sweeper.resize(h);
        Some(sweeper)
    }

    /// Changes the step size.
    pub(super) fn resize(&mut self, h: f64) {
        self.h = h;
        let scaled = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
            rows.iter().map(|row| row.iter().map(|x| h * x).collect()).collect()
        };
        self.nodes.weigh(&scaled(&self.table.a), &scaled(&self.table.a_hat));
    }

    /// How many points a sweep evaluates.
    pub(super) fn points(&self) -> usize {
        self.table.d.len()
    }

    /// Solves the equations of a step: how many sweeps were made, and whether they converged. With `continued` the rates of the last
    /// step are a guess of where these go.
    pub(super) fn solve(&mut self, state: &Parts<'_>, t: f64, continued: bool) -> (u32, bool) {
        let (h, table) = (self.h, &self.table);
        self.nodes.start([state.q, state.q_low], [state.p, state.p_low], |i| t + table.d[i] * h);
        if continued { self.continue_rates() } else { self.nodes.clear() }
        self.changes.fill(Change::NEW);
        self.contraction = -1.0;
        for sweep in 1..=MOST {
            self.nodes.sweep();
            match self.judge(sweep) {
                Some(true) => return (sweep, true),
                Some(false) => {}
                None => return (sweep, false),
            }
        }
        (MOST, false)
    }

    /// The rates of the step before, continued into this one.
    fn continue_rates(&mut self) {
        let count = self.points();
        for i in 0..2 * self.n {
            let last = &mut self.last[i * count..(i + 1) * count];
            last.copy_from_slice(self.nodes.rates(i));
            for (rate, ahead) in self.nodes.rates_mut(i).iter_mut().zip(&self.table.ahead) {
                *rate = ahead.iter().zip(&*last).map(|(weight, x)| weight * x).sum();
            }
        }
    }

    /// Whether the rates have converged; `None` if they will not.
    fn judge(&mut self, sweep: u32) -> Option<bool> {
        for change in &mut self.changes {
            (change.before, change.now, change.largest) = (change.now, 0.0, 0.0);
        }
        for i in 0..2 * self.n {
            let size = largest(self.nodes.rates(i).iter().map(|x| x.abs()));
            let change = &mut self.changes[self.group[i]];
            change.largest = change.largest.max(size);
            if !size.is_finite() {
                return None;
            }
        }
        for i in 0..2 * self.n {
            let (now, before) = (self.nodes.rates(i), self.nodes.rates_before(i));
            let size = largest(now.iter().map(|x| x.abs()));
            let difference = largest(now.iter().zip(before).map(|(x, y)| (x - y).abs()));
            let change = &mut self.changes[self.group[i]];
            if difference > 0.0 {
                change.now = change.now.max(difference / size.max(COUPLED * change.largest));
            }
        }
        let mut done = true;
        for change in &mut self.changes {
            let rate = change.now / change.before;
            let rounding = ROUNDING * f64::EPSILON;
            if sweep > 1 && change.before > rounding {
                self.contraction = self.contraction.max(rate);
            }
            change.settled |= change.now == 0.0 || change.now <= rounding && rate > SLOWEST;
            if change.settled {
                continue;
            }
            let missing = change.now * rate / (1.0 - rate);
            if sweep > 1 && rate < 1.0 && missing <= MISSING * f64::EPSILON {
                continue;
            }
            if sweep > EARLY && rate > SLOWEST {
                return None;
            }
            done = false;
        }
        Some(done)
    }

    /// q⁺ = q + h Σ b V,  p⁺ = p + h Σ b F
    pub(super) fn update(&mut self, state: &mut Parts<'_>) {
        for i in 0..2 * self.n {
            let sum: f64 = self.table.b.iter().zip(self.nodes.rates(i)).map(|(b, rate)| b * rate).sum();
            self.increments[i] = self.h * sum;
        }
        let (coordinates, momenta) = self.increments.split_at(self.n);
        for j in 0..self.n {
            compensated_add(&mut state.q[j], &mut state.q_low[j], coordinates[j]);
            compensated_add(&mut state.p[j], &mut state.p_low[j], momenta[j]);
        }
    }

    /// The increment of coordinate j at node k + 1 of the step's polynomial.
    pub(super) fn increment(&self, k: usize, j: usize) -> f64 {
        self.increment_from(k, self.nodes.rates(j))
    }
    /// The same for the step before the one that was tried last, if that continued it.
    pub(super) fn increment_before(&self, k: usize, j: usize) -> f64 {
        let count = self.points();
        self.increment_from(k, &self.last[j * count..(j + 1) * count])
    }
    fn increment_from(&self, k: usize, rates: &[f64]) -> f64 {
        let sum: f64 = self.table.to_nodes[k].iter().zip(rates).map(|(w, rate)| w * rate).sum();
        self.h * sum
    }

    /// How much smaller each change of the last step was than the one before, at worst.
    pub(super) fn contraction(&self) -> Option<f64> {
        (self.contraction >= 0.0).then_some(self.contraction)
    }
}

/// The largest of some numbers, NaN if one is.
fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |m, x| if x > m || x.is_nan() { x } else { m })
}
