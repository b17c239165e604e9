//! The step equations solved by sweeps that need no second derivatives.
//!
//! The unknowns are the velocities V_i at the points of the quadrature. With the forces F_i = L_q and momenta P_i = L_v at
//! Q_i = q + h Σ_j a_ij V_j, the equations are P_i = p + h Σ_j â_ij F_j, projected where there are more points than a polynomial has free
//! velocities. A sweep evaluates all points at once and corrects the velocities by L_vv⁻¹ times what is missing in momenta, with
//! L_vv as it was in the first sweep of the step; [`Nodes`] says in which order. That converges fast where the step is small beside the time scales of the motion.
//! Where it does not, `galerkin` solves the same equations by Newton's method. In f64 only.

use super::{State, compensated_add};
use crate::expr::{Nodes, Weights};
use crate::method::{Galerkin, Partitioned};
use crate::scalar::Real;
use crate::system::{Model, Problem, Structure};

/// Sweeps of longer tapes wait for the memory their code comes from, and gain nothing over Newton's method.
const LONGEST: usize = 50_000;
/// More sweeps than this are not worth it.
const MOST: u32 = 60;
/// After so many sweeps the changes must shrink at least by this factor each, or Newton's method takes over.
const EARLY: u32 = 4;
const SLOWEST: f64 = 0.7;
/// What is still missing may be this part of velocities and forces: a thousandth of a unit of rounding.
const MISSING: f64 = f64::EPSILON / 1024.0;
/// Changes of so many units of rounding that no longer shrink are rounding: a nearly singular mass matrix amplifies it.
const ROUNDING: f64 = 1e4;
/// So many units of rounding of the coordinates do not move them.
const LOST: f64 = 16.0 * f64::EPSILON;
/// A number near zero carries rounding errors of the others it is coupled to, so it is measured against this part of the largest.
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
    weights: Weights,
    h: f64,
    /// Groups of coupled coordinates, of their velocities and of their forces, and what is known of each.
    group: Vec<usize>,
    changes: Vec<Change>,
    /// One over how large each velocity and force is.
    inverse: Vec<f64>,
    /// How large those of each group are, and the coordinates.
    largest: Vec<f64>,
    extent: Vec<f64>,
    /// Velocities of the step before.
    last: Vec<f64>,
    increments: Vec<f64>,
    /// The largest ratio of successive changes in the last step.
    contraction: f64,
    /// The part of velocities and forces that may be missing when a step is done.
    missing: f64,
}

/// How much a group of velocities and forces changed in a sweep, relative to its size.
#[derive(Clone, Copy, Debug)]
struct Change {
    now: f64,
    before: f64,
    earlier: f64,
    settled: bool,
}

impl Change {
    const NEW: Self =
        Self { now: f64::INFINITY, before: f64::INFINITY, earlier: f64::INFINITY, settled: false };
}

impl Sweeper {
    /// A sweeper for a method, if the mass matrix can be factored in a straight tape that is not too long.
    pub(super) fn new<R: Real>(problem: &Problem<R>, galerkin: &Galerkin, h: &R) -> Option<Self> {
        let parameters = R::as_f64s(&problem.parameters)?;
        let h = h.to_f64();
        let model: &Model = &problem.system.model;
        let Structure { group, groups, .. } = &model.structure;
        let factors = model.factors()?;
        if factors.refine.len() > LONGEST {
            return None;
        }
        let table: Partitioned<f64> = Partitioned::new(galerkin);
        let (n, count) = (model.n, table.d.len());
        let tapes = [&factors.tape, &factors.refine];
        let weights = weights(&table);
        Some(Self {
            n,
            nodes: Nodes::new(tapes, &factors.pattern, &weights, h, parameters, model.backend),
            table,
            weights,
            h,
            group: group.iter().chain(group).copied().collect(),
            changes: vec![Change::NEW; *groups],
            inverse: vec![0.0; 2 * n],
            largest: vec![0.0; *groups],
            extent: vec![0.0; *groups],
            last: vec![0.0; n * count],
            increments: vec![0.0; 2 * n],
            contraction: -1.0,
            missing: MISSING,
        })
    }

    /// Replaces the parameters.
    pub(super) fn assign(&mut self, parameters: &[f64]) {
        self.nodes.assign(parameters);
    }

    /// Changes the step size.
    pub(super) fn resize(&mut self, h: f64) {
        self.h = h;
        self.nodes.weigh(&self.weights, h);
    }

    /// How many points a sweep evaluates.
    pub(super) fn points(&self) -> usize {
        self.table.d.len()
    }

    /// Solves the equations of a step: how many sweeps were made, and whether they converged. The guess continues the velocities of the
    /// last step, or is a uniform motion with those given.
    pub(super) fn solve(&mut self, state: &Parts<'_>, t: f64, uniform: Option<&[f64]>) -> (u32, bool) {
        let (h, table) = (self.h, &self.table);
        self.nodes.start([state.q, state.q_low], [state.p, state.p_low], |i| t + table.d[i] * h);
        self.extent.fill(0.0);
        for (i, q) in state.q.iter().enumerate() {
            let extent = &mut self.extent[self.group[i]];
            *extent = extent.max(q.abs());
        }
        if let Some(v) = uniform {
            v.iter().enumerate().for_each(|(i, v)| self.nodes.set_velocity(i, *v));
        }
        let count = self.points();
        for i in 0..self.n {
            self.last[i * count..(i + 1) * count].copy_from_slice(self.nodes.velocities(i));
        }
        if let Some(result) = self.iterate(uniform.is_some(), false) {
            return result;
        }
        // an angle was far from where machine code knows its sine
        for i in 0..self.n {
            self.nodes.restore_velocities(i, &self.last[i * count..(i + 1) * count]);
        }
        self.iterate(uniform.is_some(), true).unwrap_or((0, false))
    }

    /// Sweeps until velocities and forces no longer change; `None` if machine code gave up.
    fn iterate(&mut self, uniform: bool, one_by_one: bool) -> Option<(u32, bool)> {
        self.changes.fill(Change::NEW);
        self.contraction = -1.0;
        for sweep in 1..=MOST {
            if !self.nodes.sweep(sweep == 1, one_by_one) {
                return None;
            }
            // a uniform motion may be rest
            if sweep == 1 || sweep == 2 && uniform {
                self.measure();
            }
            match if sweep == 1 { Some(false) } else { self.judge(sweep) } {
                Some(true) => return Some((sweep, true)),
                Some(false) => {}
                None => return Some((sweep, false)),
            }
        }
        Some((MOST, false))
    }

    /// Measures velocities and forces.
    fn measure(&mut self) {
        for list in [0..self.n, self.n..2 * self.n] {
            self.largest.fill(f64::MIN_POSITIVE);
            for i in list.clone() {
                let numbers =
                    if i < self.n { self.nodes.velocities(i) } else { self.nodes.forces(i - self.n) };
                self.inverse[i] = largest(numbers.iter().map(|x| x.abs()));
                let group = &mut self.largest[self.group[i]];
                *group = group.max(self.inverse[i]);
            }
            for i in list {
                self.inverse[i] = 1.0 / self.inverse[i].max(COUPLED * self.largest[self.group[i]]);
            }
        }
    }

    /// Whether they have converged; `None` if they will not.
    fn judge(&mut self, sweep: u32) -> Option<bool> {
        for change in &mut self.changes {
            (change.earlier, change.before, change.now) = (change.before, change.now, 0.0);
        }
        for ((difference, inverse), &group) in self.nodes.changes().iter().zip(&self.inverse).zip(&self.group)
        {
            let change = &mut self.changes[group];
            change.now = change.now.max(difference * inverse);
        }
        // the first change has nothing to shrink from
        let compared = sweep > 2;
        let rounding = ROUNDING * f64::EPSILON;
        let unmoved = sweep > EARLY && self.moves_no_coordinate();
        let mut done = true;
        for change in &mut self.changes {
            let last = change.now / change.before;
            // over two sweeps where there were as many: errors of q and p take turns
            let rate = if sweep > 3 { (change.now / change.earlier).sqrt() } else { last };
            if compared && change.before > rounding {
                self.contraction = self.contraction.max(rate);
            }
            let stagnant = compared && rate > SLOWEST;
            change.settled |= change.now == 0.0 || stagnant && (change.now <= rounding || unmoved);
            let next = change.now * rate.max(last);
            if change.settled || compared && rate < 1.0 && next <= self.missing * (1.0 - rate) {
                continue;
            }
            // not a number, or too slow
            if !change.now.is_finite() || sweep > EARLY && rate > SLOWEST {
                return None;
            }
            done = false;
        }
        Some(done)
    }

    /// Whether the last changes of the velocities are lost in the rounding of the coordinates. Forces that are small differences of
    /// large numbers never settle to their own rounding, and need not.
    fn moves_no_coordinate(&self) -> bool {
        (0..self.n).all(|i| self.h.abs() * self.nodes.changes()[i] <= LOST * self.extent[self.group[i]])
    }

    /// q⁺ = q + h Σ b V,  p⁺ = p + h Σ b F; false, and nothing done, if that is no number.
    pub(super) fn update(&mut self, state: &mut Parts<'_>) -> bool {
        for i in 0..2 * self.n {
            let rates = if i < self.n { self.nodes.velocities(i) } else { self.nodes.forces(i - self.n) };
            let sum: f64 = self.table.b.iter().zip(rates).map(|(b, rate)| b * rate).sum();
            self.increments[i] = self.h * sum;
        }
        if !self.increments.iter().all(|x| x.is_finite()) {
            return false;
        }
        let (coordinates, momenta) = self.increments.split_at(self.n);
        for j in 0..self.n {
            compensated_add(&mut state.q[j], &mut state.q_low[j], coordinates[j]);
            compensated_add(&mut state.p[j], &mut state.p_low[j], momenta[j]);
        }
        true
    }

    /// The increment of coordinate j at node k + 1 of the step's polynomial.
    pub(super) fn increment(&self, k: usize, j: usize) -> f64 {
        self.increment_from(k, self.nodes.velocities(j))
    }
    /// The same for the step before the one that was tried last, if that continued it.
    pub(super) fn increment_before(&self, k: usize, j: usize) -> f64 {
        let count = self.points();
        self.increment_from(k, &self.last[j * count..(j + 1) * count])
    }
    fn increment_from(&self, k: usize, velocities: &[f64]) -> f64 {
        let sum: f64 = self.table.to_nodes[k].iter().zip(velocities).map(|(w, v)| w * v).sum();
        self.h * sum
    }

    /// How much smaller each change of the last step was than the one before, at worst.
    pub(super) fn contraction(&self) -> Option<f64> {
        (self.contraction >= 0.0).then_some(self.contraction)
    }
}

/// The weights of a method.
fn weights(table: &Partitioned<f64>) -> Weights {
    let projection = table.projection.as_deref();
    Weights {
        forces: projection
            .map_or_else(|| table.a_hat.clone(), |projection| product(projection, &table.a_hat)),
        positions: projection.map_or_else(|| table.a.clone(), |projection| product(&table.a, projection)),
        positions_ahead: product(&table.a, &table.ahead),
        ahead: table.ahead.clone(),
        projection: table.projection.clone(),
    }
}

/// The product of two matrices.
fn product(left: &[Vec<f64>], right: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let entry = |row: &[f64], j: usize| row.iter().zip(right).map(|(x, other)| x * other[j]).sum();
    left.iter().map(|row| (0..right.len()).map(|j| entry(row, j)).collect()).collect()
}

/// The largest of some numbers; what is none is left out.
fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::galerkin::GalerkinStepper;
    use super::*;
    use crate::method::{Method, Scheme};
    use crate::system::{Settings, catalogue};

    /// Takes steps by sweeps and by Newton's method: the largest difference, relative to the largest number, and how many steps sweeps took.
    fn compare(name: &str, method: &str, h: f64, steps: u32) -> (f64, u32) {
        let system = catalogue::system(name).unwrap();
        let problem: Problem<f64> = system.problem(&Settings::default()).unwrap();
        let Scheme::Galerkin(galerkin) = Method::named(method).unwrap().scheme else { panic!("{method}") };
        let mut newton = GalerkinStepper::new(&problem, &galerkin, h);
        let mut swept = newton.clone().with_sweeps(&problem, &galerkin);
        let (mut a, mut b) = (State::new(&problem), State::new(&problem));
        let mut count = 0;
        for k in 0..steps {
            let t = problem.t0 + f64::from(k) * h;
            newton.step(&mut a, &t).unwrap();
            swept.step(&mut b, &t).unwrap();
            count += u32::from(swept.swept);
        }
        let difference = |x: &[f64], y: &[f64]| {
            let size = largest(x.iter().map(|x| x.abs()));
            largest(x.iter().zip(y).map(|(x, y)| (x - y).abs())) / size
        };
        (difference(&a.q, &b.q).max(difference(&a.p, &b.p)), count)
    }

    #[test]
    fn sweeps_and_newton_solve_the_same_equations() {
        for (name, method, h) in [
            ("double-pendulum", "midpoint", 0.01),
            ("double-pendulum", "gauss8", 0.02),
            ("double-pendulum", "gauss16", 0.05),
            ("double-pendulum", "gauss20", 0.05),
            ("lagrange-top", "gauss12", 0.005),
            ("pendulum", "simpson", 0.02),
            ("double-pendulum", "simpson", 0.01),
            ("double-pendulum", "verlet", 0.002),
            ("lagrange-top", "lobatto8", 0.005),
            ("kepler", "lobatto10", 0.02),
            ("outer-solar-system", "lobatto", 50.0),
            ("outer-solar-system", "gauss6", 50.0),
            ("fput", "verlet", 0.02),
            ("n-pendulum", "gauss6", 0.002),
        ] {
            let (difference, swept) = compare(name, method, h, 20);
            assert!(difference < 1e-12, "{name}, {method}: {difference:e}");
            assert_eq!(swept, 20, "{name}, {method}");
        }
    }

    #[test]
    fn large_steps_are_left_to_newton() {
        let (difference, swept) = compare("fput", "gauss4", 1.9, 20);
        assert!(difference < 1e-11, "{difference:e}");
        assert!(swept < 20, "{swept}");
    }
}
