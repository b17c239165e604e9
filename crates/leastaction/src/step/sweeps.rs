//! The step equations solved by sweeps that need no second derivatives.
//!
//! The unknowns are the velocities V_i at the points of the quadrature. With the forces F_i = L_q and momenta P_i = L_v at
//! Q_i = q + h Σ_j a_ij V_j, the equations are P_i = p + h Σ_j â_ij F_j, projected where there are more points than a polynomial has free
//! velocities. A sweep evaluates all points at once and corrects the velocities by L_vv⁻¹ times what is missing in momenta, with
//! L_vv as it was in the first sweep of the step; [`Nodes`] says in which order. That converges fast where the step is small beside the time scales of the motion.
//! Where it does not, `galerkin` solves the same equations by Newton's method. In f64 only.

use super::{State, compensated_add};
use crate::expr::{Nodes, Sweep, Tapes, Weights};
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
/// Nobody asks for less than this.
const MOST_MISSING: f64 = 1e-6;
/// Changes of so many units of rounding that no longer shrink are rounding: a nearly singular mass matrix amplifies it.
const ROUNDING: f64 = 1e4;
/// So many units of rounding of the coordinates do not move them.
const LOST: f64 = 16.0 * f64::EPSILON;
/// Changes below this are rounding mostly.
const ROUGH: f64 = 64.0 * f64::EPSILON;
/// Where velocities or forces change by this part in a sweep, everything is evaluated anew.
const FAR: f64 = 0.02;
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

/// What is known after a sweep.
struct Verdict {
    done: bool,
    /// Whether the motion is far from where it was when everything was evaluated.
    far: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Sweeper {
    n: usize,
    nodes: Nodes,
    table: Partitioned<f64>,
    weights: Weights,
    h: f64,
    /// Groups of coupled coordinates, and what is known of each.
    group: Vec<usize>,
    changes: Vec<Change>,
    /// How large velocities and forces are.
    sizes: Vec<f64>,
    /// How large the velocities, or forces, of each group are, and the coordinates.
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
    /// How much smaller changes become in a sweep, as long as they can be told from rounding; 1 if that is not known.
    rate: f64,
    /// The change of exact arithmetic, as the rate lets expect it.
    expected: f64,
    settled: bool,
}

impl Change {
    const NEW: Self = Self {
        now: f64::INFINITY,
        before: f64::INFINITY,
        earlier: f64::INFINITY,
        rate: 1.0,
        expected: f64::INFINITY,
        settled: false,
    };

    /// Another sweep was made: how much smaller its change is, over two sweeps where there were as many, because errors of q and p take
    /// turns. 1 if there was nothing to compare with.
    fn update(&mut self, now: f64, sweep: u32) -> f64 {
        (self.earlier, self.before, self.now) = (self.before, self.now, now);
        let last = match sweep {
            0..=2 => 1.0,
            _ => now / self.before,
        };
        let ratio = if sweep > 3 { (now / self.earlier).sqrt() } else { last };
        if now > ROUGH || self.rate >= 1.0 {
            self.rate = last.max(ratio);
            self.expected = now;
        } else {
            self.expected = now.min(2.0 * self.rate * self.expected);
        }
        ratio
    }
    /// Whether all changes that would follow are below a limit.
    fn is_below(&self, limit: f64) -> bool {
        self.rate < 1.0 && self.expected * self.rate <= limit * (1.0 - self.rate)
    }
}

impl Sweeper {
    /// A sweeper for a method, if the mass matrix can be factored in a straight tape that is not too long.
    pub(super) fn new<R: Real>(problem: &Problem<R>, galerkin: &Galerkin, h: &R) -> Option<Self> {
        let parameters = R::as_f64s(&problem.parameters)?;
        let h = h.to_f64();
        let model: &Model = &problem.system.model;
        let Structure { group, groups, .. } = &model.structure;
        let tapes = model.sweeps()?;
        if tapes.refine.len() > LONGEST {
            return None;
        }
        let table: Partitioned<f64> = Partitioned::new(galerkin);
        let (n, count) = (model.n, table.d.len());
        let weights = weights(&table);
        Some(Self {
            n,
            nodes: Nodes::new(tapes, group, &weights, h, parameters, model.backend),
            table,
            weights,
            h,
            group: group.clone(),
            changes: vec![Change::NEW; *groups],
            sizes: vec![0.0; 2 * n],
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

    /// Changes which part of velocities and forces may be missing when a step is done.
    pub(super) fn leave(&mut self, missing: f64) {
        self.missing = missing.clamp(MISSING, MOST_MISSING);
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
        // sizes of a uniform motion mean nothing, because it may be rest
        let measured = if uniform { 2 } else { 1 };
        let mut kind = Sweep::First;
        for sweep in 1..=MOST {
            if !self.nodes.sweep(kind, one_by_one) {
                return None;
            }
            let verdict = if sweep <= measured {
                self.measure();
                Verdict { done: false, far: sweep > 1 }
            } else {
                match self.judge(sweep - measured + 1) {
                    Some(verdict) => verdict,
                    None => return Some((sweep, false)),
                }
            };
            let far = verdict.far && kind == Sweep::Refine && self.nodes.can_be_fresh();
            if verdict.done && !far {
                return Some((sweep, true));
            }
            kind = if far { Sweep::Fresh } else { Sweep::Refine };
        }
        Some((MOST, false))
    }

    /// Measures velocities and forces.
    fn measure(&mut self) {
        let n = self.n;
        for (first, forces) in [(0, false), (n, true)] {
            self.largest.fill(f64::MIN_POSITIVE);
            for (i, (size, &group)) in self.sizes[first..first + n].iter_mut().zip(&self.group).enumerate() {
                let numbers = if forces { self.nodes.forces(i) } else { self.nodes.velocities(i) };
                *size = largest(numbers);
                let of_group = &mut self.largest[group];
                *of_group = of_group.max(*size);
            }
            for (size, &group) in self.sizes[first..first + n].iter_mut().zip(&self.group) {
                *size = size.max(COUPLED * self.largest[group]);
            }
        }
        for (inverse, size) in self.nodes.inverse_sizes().iter_mut().zip(&self.sizes) {
            *inverse = 1.0 / size;
        }
    }

    /// Whether they have converged; `None` if they will not.
    fn judge(&mut self, sweep: u32) -> Option<Verdict> {
        let rounding = ROUNDING * f64::EPSILON;
        let Some((&turn, measured)) = self.nodes.changes().split_last() else { return None };
        let mut verdict = Verdict { done: true, far: turn > Tapes::TURN };
        let mut slow = false;
        for (change, &now) in self.changes.iter_mut().zip(measured) {
            let ratio = change.update(now, sweep);
            verdict.far |= now > FAR;
            if sweep > 2 && change.before > rounding {
                self.contraction = self.contraction.max(ratio);
            }
            if change.settled || change.is_below(self.missing) || now == 0.0 {
                continue;
            }
            let stagnant = sweep > 2 && ratio > SLOWEST;
            change.settled = stagnant && now <= rounding;
            slow |= stagnant && sweep > EARLY && !change.settled || !now.is_finite();
            verdict.done &= change.settled;
        }
        // a sweep that settles nothing may still have moved nothing
        if slow && !self.moves_no_coordinate() {
            return None;
        }
        verdict.done |= slow;
        Some(verdict)
    }

    /// Whether the last changes of the velocities are lost in the rounding of the coordinates. Forces that are small differences of
    /// large numbers never settle to their own rounding, and need not.
    fn moves_no_coordinate(&self) -> bool {
        self.group
            .iter()
            .zip(&self.sizes)
            .all(|(&group, size)| self.h.abs() * self.changes[group].now * size <= LOST * self.extent[group])
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

/// The size of the largest of some numbers; what is none is left out.
fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |largest, x| if x.abs() > largest { x.abs() } else { largest })
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
            let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
            largest(&differences) / largest(x)
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
