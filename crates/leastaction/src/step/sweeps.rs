//! The step equations solved by sweeps that need no second derivatives.
//!
//! The unknowns are the velocities V_i at the points of the quadrature. With the forces F_i = L_q and momenta P_i = L_v at
//! Q_i = q + Σ_j μ_ij (h b_j V_j), the equations are P_i = p + Σ_j μ̂_ij (h b_j F_j), projected where there are more points than a polynomial has free
//! velocities. A sweep evaluates all points at once and corrects the velocities by L_vv⁻¹ times what is missing in momenta, with
//! L_vv as it was in the first sweep of the step; [`Nodes`] says in which order. That converges fast where the step is small beside the time scales of the motion.
//! Where it does not, `galerkin` solves the same equations by Newton's method. In f64 only.

use super::course::{Course, Memory, Next};
use super::{State, compensated_add};
use crate::expr::{Abreast, Backend, Nodes, Sweep, Weights};
use crate::method::{Galerkin, Partitioned};
use crate::scalar::{Ledger, Real};
use crate::system::{Model, Problem, Reduced};

/// Sweeps of longer tapes wait for the memory their code comes from, and gain nothing over Newton's method.
const LONGEST: usize = 50_000;
/// Several trajectories have code for each point; with more of it than this they wait as well.
const LONGEST_ABREAST: usize = 20_000;
/// With more points one trajectory fills registers as well as four do.
const MOST_POINTS_ABREAST: usize = 6;

/// A state in f64.
pub(super) struct Parts<'a> {
    pub(super) q: &'a mut [f64],
    pub(super) p: &'a mut [f64],
    pub(super) q_low: &'a mut [f64],
    pub(super) p_low: &'a mut [f64],
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

/// What the sweeps of a step begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guess {
    /// The velocities of the step before continued.
    Continued,
    /// The same, however far off it seems to be.
    Patient,
    /// A uniform motion.
    Uniform,
}

#[derive(Clone, Debug)]
pub(super) struct Sweeper {
    n: usize,
    /// The coordinates that are solved for, and those whose velocities follow: cyclic ones, with their momenta behind the parameters.
    left: Vec<usize>,
    cyclic: Vec<usize>,
    parameters: Vec<f64>,
    /// Whether time matters.
    timed: bool,
    pub(super) nodes: Nodes,
    table: Partitioned<f64>,
    weights: Weights,
    h: f64,
    pub(super) course: Course,
    /// Velocities of the step before: of all that are solved for, then of those that follow.
    last: Vec<f64>,
    /// Velocities that the sweeps of the present step began with.
    guess: Vec<f64>,
    increments: Vec<f64>,
}

impl Sweeper {
    /// A sweeper for a method, if the mass matrix can be factored in a straight tape that is not too long.
    pub(super) fn new<R: Real>(problem: &Problem<R>, galerkin: &Galerkin, h: &R) -> Option<Self> {
        let parameters = R::as_f64s(&problem.parameters)?;
        let h = h.to_f64();
        let model: &Model = &problem.system.model;
        let table: Partitioned<f64> = Partitioned::new(galerkin);
        // a projection keeps momenta constant in the mean only
        let reduced = model
            .reduced(parameters.len())
            .filter(|_| table.dropped.is_none() && problem.indefinite().is_none());
        let (tapes, group, left, cyclic) = match reduced {
            Some(Reduced { tapes, group, left, cyclic }) => (tapes, group, left.clone(), cyclic.clone()),
            None => (model.sweeps()?, &model.structure.group, (0..model.n).collect(), Vec::new()),
        };
        if tapes.refine.len() > LONGEST {
            return None;
        }
        let n = model.n;
        let weights = weights(&table);
        let momenta = R::as_f64s(&problem.p0)?;
        let parameters: Vec<f64> =
            parameters.iter().copied().chain(cyclic.iter().map(|&i| momenta[i])).collect();
        let nodes = Nodes::new(tapes, group, &weights, h, &parameters, model.backend);
        Some(Self {
            n,
            left,
            cyclic,
            parameters,
            timed: !model.structure.autonomous,
            last: [nodes.velocities(), nodes.all_following()].concat(),
            guess: nodes.velocities().to_vec(),
            nodes,
            table,
            weights,
            h,
            course: Course::new(group, h),
            increments: vec![0.0; 2 * n],
        })
    }

    /// Replaces the parameters.
    pub(super) fn assign(&mut self, parameters: &[f64]) {
        self.parameters[..parameters.len()].copy_from_slice(parameters);
        self.nodes.assign(&self.parameters);
    }

    /// Replaces the momenta of cyclic coordinates, if they are others.
    fn assign_momenta(&mut self, p: &[f64]) {
        let first = self.parameters.len() - self.cyclic.len();
        let mut changed = false;
        for (known, &i) in self.parameters[first..].iter_mut().zip(&self.cyclic) {
            changed |= known.to_bits() != p[i].to_bits();
            *known = p[i];
        }
        if changed {
            self.nodes.assign(&self.parameters);
        }
    }

    /// Changes the step size.
    pub(super) fn resize(&mut self, h: f64) {
        self.h = h;
        self.course.resize(h);
        self.nodes.resize(&self.weights, h);
    }

    /// Writes or reads what the next step needs to know of this one.
    pub(super) fn exchange(&mut self, ledger: &mut Ledger) {
        self.nodes.exchange(ledger);
        self.course.exchange(ledger);
    }

    /// Changes which part of velocities and forces may be missing when a step is done.
    pub(super) fn leave(&mut self, missing: f64) {
        self.course.leave(missing);
    }

    /// What it takes to step four trajectories: the points of the method, their weights, and whether time matters.
    pub(super) fn method(&self) -> (&[f64], &[f64], bool) {
        (&self.table.d, &self.table.b, self.timed)
    }

    /// The nodes of four trajectories, if there is machine code for them.
    pub(super) fn abreast<R: Real>(&self, problem: &Problem<R>) -> Option<Abreast> {
        let model: &Model = &problem.system.model;
        let tapes = model.sweeps()?;
        let wanted = model.backend != Some(Backend::Interpreter);
        let long = self.points() * tapes.refine.len() > LONGEST_ABREAST;
        if !wanted || long || self.points() > MOST_POINTS_ABREAST || !self.cyclic.is_empty() {
            return None;
        }
        Abreast::new(tapes, &model.structure.group, &self.weights)
    }

    /// How many points a sweep evaluates.
    pub(super) fn points(&self) -> usize {
        self.table.d.len()
    }

    /// Whether cyclic coordinates are no unknowns.
    pub(super) fn is_reduced(&self) -> bool {
        !self.cyclic.is_empty()
    }

    /// Takes the velocities of a step that was solved in another way, by point and coordinate, for those of the step before.
    pub(super) fn recall(&mut self, velocity: impl Fn(usize, usize) -> f64) {
        for (k, &i) in self.left.iter().enumerate() {
            self.nodes.set_velocities(k, |point| velocity(point, i));
        }
        self.course.remember(Memory::default());
    }

    /// Goes to where a step begins; a uniform motion has velocities v.
    pub(super) fn begin(&mut self, state: &Parts<'_>, t: f64, guess: Guess, v: &[f64]) {
        self.assign_momenta(state.p);
        self.nodes.start([state.q, state.p, state.q_low, state.p_low], &self.left);
        if self.timed {
            let (h, table) = (self.h, &self.table);
            self.nodes.set_times(|i| t + table.d[i] * h);
        }
        self.course.start(guess);
        match guess {
            Guess::Continued => {
                let (velocities, following) = self.last.split_at_mut(self.guess.len());
                velocities.copy_from_slice(self.nodes.velocities());
                following.copy_from_slice(self.nodes.all_following());
            }
            Guess::Patient => self.nodes.restore_velocities(&self.last[..self.guess.len()]),
            Guess::Uniform => {
                self.left.iter().enumerate().for_each(|(k, &i)| self.nodes.set_velocity(k, v[i]));
            }
        }
        self.guess.copy_from_slice(self.nodes.velocities());
    }

    /// Solves the equations of the step that was begun: how many sweeps were made, and whether they converged.
    pub(super) fn solve(&mut self) -> (u32, bool) {
        let memory = self.course.memory();
        if let Some(result) = self.iterate(false) {
            return result;
        }
        self.course.remember(memory);
        // an angle was far from where machine code knows its sine
        self.nodes.restore_velocities(&self.guess);
        self.iterate(true).unwrap_or((0, false))
    }

    /// Sweeps until velocities and forces no longer change; `None` if machine code gave up.
    fn iterate(&mut self, one_by_one: bool) -> Option<(u32, bool)> {
        self.course.begin();
        let mut kind = Sweep::First;
        for sweep in 1.. {
            if !self.nodes.sweep(kind, one_by_one) {
                return None;
            }
            let next = if self.course.is_measured(sweep) {
                self.course.note(self.nodes.changes().iter().copied());
                if self.course.goes_on(sweep) {
                    kind = Sweep::Refine;
                    continue;
                }
                let [q, sizes] =
                    [self.nodes.start_coordinates(), self.nodes.sizes()].map(|list| list.iter().copied());
                self.course.judge(sweep, kind, self.nodes.turn(), q, sizes)
            } else {
                self.nodes.measure(kind, one_by_one);
                Next::Sweep(self.course.kind_after_measuring(sweep))
            };
            match next {
                Next::Sweep(next) => kind = next,
                Next::Done => return Some((sweep, true)),
                Next::Failed => return Some((sweep, false)),
            }
        }
        None
    }

    /// q⁺ = q + Σ (h b) V,  p⁺ = p + Σ (h b) F; false, and nothing done, if that is no number.
    pub(super) fn update(&mut self, state: &mut Parts<'_>) -> bool {
        let nodes = &self.nodes;
        let shares = nodes.shares();
        let (coordinates, momenta) = self.increments.split_at_mut(self.n);
        for (k, &i) in self.left.iter().enumerate() {
            coordinates[i] = sum_of_four(shares, nodes.velocity(k));
            momenta[i] = sum_of_four(shares, nodes.force(k));
        }
        for (k, &i) in self.cyclic.iter().enumerate() {
            coordinates[i] = sum_of_four(shares, nodes.following(k));
        }
        if !self.increments.iter().all(|increment| increment.is_finite()) {
            return false;
        }
        let (coordinates, momenta) = self.increments.split_at(self.n);
        for (x, low, increments) in
            [(&mut *state.q, &mut *state.q_low, coordinates), (&mut *state.p, &mut *state.p_low, momenta)]
        {
            for ((x, low), increment) in x.iter_mut().zip(low).zip(increments) {
                compensated_add(x, low, *increment);
            }
        }
        true
    }

    /// Q_i = q + Σ_j μ_ij (h b_j V_j) and V_i, for all coordinates.
    pub(super) fn point(&self, i: usize, start: &[f64], q: &mut [f64], v: &mut [f64]) {
        let (nodes, table) = (&self.nodes, &self.table);
        let all = self.left.iter().enumerate().map(|(k, &j)| (j, nodes.velocity(k)));
        let following = self.cyclic.iter().enumerate().map(|(k, &j)| (j, nodes.following(k)));
        for (j, velocities) in all.chain(following) {
            let mut change = 0.0;
            for ((part, share), velocity) in table.positions[i].iter().zip(nodes.shares()).zip(velocities) {
                change += part * (share * velocity);
            }
            (q[j], v[j]) = (start[j] + change, velocities[i]);
        }
    }

    /// The increment of coordinate j at node k + 1 of the step's polynomial.
    pub(super) fn increment(&self, k: usize, j: usize) -> f64 {
        let velocities = match self.left.binary_search(&j) {
            Ok(place) => self.nodes.velocity(place),
            Err(before) => self.nodes.following(j - before),
        };
        self.increment_from(k, velocities)
    }
    /// The same for the step before the one that was tried last, if that continued it.
    pub(super) fn increment_before(&self, k: usize, j: usize) -> f64 {
        let lanes = self.last.len() / self.n;
        let place = match self.left.binary_search(&j) {
            Ok(place) => place,
            Err(before) => self.left.len() + j - before,
        };
        self.increment_from(k, &self.last[place * lanes..])
    }
    fn increment_from(&self, k: usize, velocities: &[f64]) -> f64 {
        let sum: f64 = self.table.to_nodes[k].iter().zip(velocities).map(|(w, v)| w * v).sum();
        self.h * sum
    }

    /// How much smaller each change of the last step was than the one before, at worst.
    pub(super) fn contraction(&self) -> Option<f64> {
        self.course.contraction()
    }
}

/// Σ weight · rate, as four sums that are added at the end, because a processor adds four numbers as fast as one.
fn sum_of_four(weights: &[f64], rates: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, of_rates) = (weights.chunks_exact(4), rates.chunks_exact(4));
    let rest = fours.remainder().iter().zip(of_rates.remainder());
    for (weights, rates) in fours.zip(of_rates) {
        for k in 0..4 {
            sums[k] += weights[k] * rates[k];
        }
    }
    for (sum, (weight, rate)) in sums.iter_mut().zip(rest) {
        *sum += weight * rate;
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// The weights of a method.
fn weights(table: &Partitioned<f64>) -> Weights {
    Weights {
        shares: table.b.clone(),
        forces: table.forces.clone(),
        positions: table.positions.clone(),
        positions_ahead: product(&table.a, &table.ahead),
        ahead: table.ahead.clone(),
        dropped: table.dropped.clone(),
    }
}

/// The product of two matrices.
fn product(left: &[Vec<f64>], right: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let entry = |row: &[f64], j: usize| row.iter().zip(right).map(|(x, other)| x * other[j]).sum();
    left.iter().map(|row| (0..right.len()).map(|j| entry(row, j)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::galerkin::GalerkinStepper;
    use super::*;
    use crate::method::{Method, Scheme};
    use crate::system::{Settings, catalogue};

    fn largest(numbers: &[f64]) -> f64 {
        numbers.iter().fold(0.0, |largest, x| x.abs().max(largest))
    }

    /// Takes steps by sweeps and by Newton's method: the largest difference, relative to the largest number, and how many steps sweeps took.
    fn compare(name: &str, method: &str, h: f64, steps: u32) -> (f64, u32) {
        let system = catalogue::system(name).unwrap();
        let problem: Problem<f64> = system.problem(&Settings::default()).unwrap();
        let Scheme::Galerkin(galerkin) = Method::named(method).unwrap().scheme else { panic!("{method}") };
        let mut newton = GalerkinStepper::new(&problem, &galerkin, h);
        let mut swept = newton.clone().with_sweeps(&problem, &galerkin);
        swept.whole = None;
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
    fn steps_may_be_solved_less_exactly() {
        let system = catalogue::system("double-pendulum").unwrap();
        let problem: Problem<f64> = system.problem(&Settings::default()).unwrap();
        let method = Method::named("gauss16").unwrap();
        let run = |missing: f64| {
            let mut stepper = super::super::Stepper::new(&problem, &method, 0.1);
            stepper.tolerate(50.0 * missing, 5);
            let mut state = State::new(&problem);
            let sweeps: u32 = (0..50).map(|_| stepper.step(&mut state).unwrap()).sum();
            (sweeps, state.q[0])
        };
        let ((all, exact), (few, q)) = (run(0.0), run(1e-10));
        assert!(f64::from(few) < 0.75 * f64::from(all), "{few} {all}");
        assert!((q - exact).abs() < 1e-8 && q != exact, "{q} {exact}");
    }

    #[test]
    fn large_steps_are_left_to_newton() {
        let (difference, swept) = compare("fput", "gauss4", 1.9, 20);
        assert!(difference < 1e-11, "{difference:e}");
        assert!(swept < 20, "{swept}");
    }
}
