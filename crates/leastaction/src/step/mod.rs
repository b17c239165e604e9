//! One step: from (q, p) to (q⁺, p⁺).
//!
//! [`Stepper`] is made from a [`Problem`], a [`Method`] and a step size, and then called as often as wanted on a
//! [`State`]; nothing allocates after it is made. Variational methods are all served by `galerkin`, with many
//! digits after a start in f64 by `coarse`, and where a step is small by `sweeps`; `splitting`, with `motion`, is for methods
//! that kick and drift, `runge_kutta` the explicit reference. [`Propagator`] does the same for linear systems by one matrix; [`closed_forms`] are those that the
//! papers print. [`Work`] is what the explicit time dependence of L adds to the energy in a step. The loop over steps is left to `simulate`.

pub mod closed_forms;
mod coarse;
mod convergence;
mod convoy;
mod course;
mod fleet;
mod galerkin;
mod jacobian;
mod motion;
mod polynomial;
mod propagator;
mod runge_kutta;
mod splitting;
mod sweeps;
mod tangent;
mod whole;
mod work;

pub use convoy::{Sines, Voyage};
pub use fleet::Fleet;
pub(crate) use polynomial::{Basis, Polynomial};
pub use propagator::{Propagator, QuadraticForm};
pub use tangent::{tangent, tangent_map, tangent_map_in_units};
pub use work::Work;

use crate::error::Cause;
use crate::method::{HERMITE_DEGREE, Method, STAGES, Scheme};
use crate::scalar::{Ledger, Real};
use crate::system::Problem;
use galerkin::GalerkinStepper;
use runge_kutta::RungeKutta4;
use splitting::SplittingStepper;
use work::Point;

/// Coordinates and momenta after a number of steps.
///
/// Sums over steps are compensated: `q_low` and `p_low` hold what the additions so far have lost.
#[derive(Clone, Debug, PartialEq)]
pub struct State<R> {
    /// How many steps have been taken.
    pub steps: u64,
    /// Coordinates.
    pub q: Vec<R>,
    /// Momenta.
    pub p: Vec<R>,
    /// What q has lost to rounding.
    pub q_low: Vec<R>,
    /// What p has lost to rounding.
    pub p_low: Vec<R>,
}

impl<R: Real> State<R> {
    /// The initial state of a problem.
    pub fn new(problem: &Problem<R>) -> Self {
        Self::at(problem.q0.clone(), problem.p0.clone())
    }
    /// A state with these coordinates and momenta.
    pub fn at(q: Vec<R>, p: Vec<R>) -> Self {
        let zeros = vec![R::zero(); q.len()];
        Self { steps: 0, q, p, q_low: zeros.clone(), p_low: zeros }
    }
    /// Becomes another state of as many coordinates, without asking for memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.steps = other.steps;
        self.q.clone_from_slice(&other.q);
        self.p.clone_from_slice(&other.p);
        self.q_low.clone_from_slice(&other.q_low);
        self.p_low.clone_from_slice(&other.p_low);
    }
    /// Writes or reads it.
    pub fn exchange(&mut self, ledger: &mut Ledger) {
        ledger.whole(&mut self.steps);
        for list in [&mut self.q, &mut self.p, &mut self.q_low, &mut self.p_low] {
            ledger.numbers(list);
        }
    }
}

/// x += increment, with the rounding error of the sum kept in `low`.
#[inline]
pub(crate) fn compensated_add<R: Real>(x: &mut R, low: &mut R, increment: R) {
    let y = low.clone() + increment;
    let sum = x.clone() + y.clone();
    let part = sum.clone() - x.clone();
    *low = (x.clone() - (sum.clone() - part.clone())) + (y - part);
    *x = sum;
}

/// Takes steps of one size with one method.
#[derive(Clone, Debug)]
pub struct Stepper<R> {
    step_size: R,
    t0: R,
    /// When the last step began.
    began: R,
    scheme: AnyStepper<R>,
}

#[derive(Clone, Debug)]
enum AnyStepper<R> {
    Galerkin(Box<GalerkinStepper<R>>),
    Splitting(Box<SplittingStepper<R>>),
    RungeKutta4(Box<RungeKutta4<R>>),
}

impl<R: Real> Stepper<R> {
    /// A stepper for a problem. The step size may be negative: that runs time backwards.
    pub fn new(problem: &Problem<R>, method: &Method, step_size: R) -> Self {
        let scheme = match method.scheme {
            Scheme::Galerkin(galerkin) => {
                let stepper = GalerkinStepper::new(problem, &galerkin, step_size.clone());
                AnyStepper::Galerkin(Box::new(stepper.with_sweeps(problem, &galerkin)))
            }
            Scheme::Splitting(splitting) => {
                AnyStepper::Splitting(Box::new(SplittingStepper::new(problem, &splitting, step_size.clone())))
            }
            Scheme::RungeKutta4(form) => {
                AnyStepper::RungeKutta4(Box::new(RungeKutta4::new(problem, form, step_size.clone())))
            }
        };
        Self { step_size, t0: problem.t0.clone(), began: problem.t0.clone(), scheme }
    }

    /// Begins anew, as if just made, for a start with these velocities, and for other parameters if they are given. The time of the
    /// start stays. Nothing is compiled and nothing allocates.
    pub fn restart(&mut self, parameters: Option<&[R]>, v: &[R]) {
        match &mut self.scheme {
            AnyStepper::Galerkin(stepper) => stepper.restart(parameters, v),
            AnyStepper::Splitting(stepper) => stepper.restart(parameters),
            AnyStepper::RungeKutta4(stepper) => stepper.restart(parameters, v),
        }
    }

    /// The step size.
    pub fn step_size(&self) -> &R {
        &self.step_size
    }

    /// The time after a number of steps: t0 + n·h, never accumulated.
    pub fn time(&self, steps: u64) -> R {
        let mut time = self.t0.clone();
        time.add_mul(&R::from_f64(steps as f64), &self.step_size);
        time
    }

    /// Takes one step and returns how many corrections it needed, those of a start in f64 not counted. On failure the state is
    /// unchanged.
    pub fn step(&mut self, state: &mut State<R>) -> Result<u32, Cause> {
        check_size(self.step_size.to_f64())?;
        let t = self.time(state.steps);
        self.step_from(state, &t)
    }

    /// Takes one step of another size, from a state at time t, and keeps that size. The guess is a uniform motion, so that the
    /// result depends on the state alone.
    pub fn step_by(&mut self, state: &mut State<R>, t: &R, size: &R) -> Result<u32, Cause> {
        check_size(size.to_f64())?;
        self.resize(size);
        self.step_from(state, t)
    }

    /// Changes the step size. The next step begins with a uniform motion as guess.
    pub fn resize(&mut self, size: &R) {
        self.step_size = size.clone();
        match &mut self.scheme {
            AnyStepper::Galerkin(stepper) => stepper.resize(size),
            AnyStepper::Splitting(stepper) => stepper.resize(size),
            AnyStepper::RungeKutta4(stepper) => stepper.resize(size),
        }
    }

    /// Solves the equations of a step only as exactly as so many steps need for a relative error, which saves iterations. What is missing in a
    /// step adds up over the steps, as it is estimated to a tenth of the error: energy, momenta and symplecticity are as good as that and no better.
    /// Without it what is missing is well below rounding.
    pub fn tolerate(&mut self, error: f64, steps: u64) {
        if let AnyStepper::Galerkin(stepper) = &mut self.scheme {
            stepper.leave(0.1 * error / steps.max(1) as f64);
        }
    }

    /// Writes or reads what the next step needs to know of those before, beside the state: a guess to begin with, and how well the last ones
    /// went. With it, and with the state, another stepper of the same problem, method and size goes on to the same bits.
    pub fn exchange(&mut self, ledger: &mut Ledger) {
        match &mut self.scheme {
            AnyStepper::Galerkin(stepper) => stepper.exchange(ledger),
            // forces that were kept are those that are evaluated anew
            AnyStepper::Splitting(_) => {}
            AnyStepper::RungeKutta4(stepper) => stepper.exchange(ledger),
        }
    }

    fn step_from(&mut self, state: &mut State<R>, t: &R) -> Result<u32, Cause> {
        let iterations = match &mut self.scheme {
            AnyStepper::Galerkin(stepper) => stepper.step(state, t)?,
            AnyStepper::Splitting(stepper) => stepper.step(state, t)?,
            AnyStepper::RungeKutta4(stepper) => stepper.step(state, t)?,
        };
        state.steps += 1;
        self.began = t.clone();
        Ok(iterations)
    }

    /// How many points the quadrature of a step has.
    fn points(&self) -> usize {
        match &self.scheme {
            AnyStepper::Galerkin(stepper) => stepper.points(),
            AnyStepper::Splitting(stepper) => stepper.points(),
            AnyStepper::RungeKutta4(_) => STAGES.len(),
        }
    }

    /// q and v at a point of the quadrature of the last step; explicit methods keep them only if time occurs in L.
    fn point(&self, i: usize, q: &mut [R], v: &mut [R]) -> Point<R> {
        match &self.scheme {
            AnyStepper::Galerkin(stepper) => stepper.point(i, q, v),
            AnyStepper::Splitting(stepper) => stepper.point(i, q, v),
            AnyStepper::RungeKutta4(stepper) => stepper.point(i, q, v),
        }
    }

    /// How often the derivatives of L were evaluated since the stepper was made, those of a start in f64 not counted: the
    /// same on every machine, which a time is not.
    pub fn evaluations(&self) -> u64 {
        match &self.scheme {
            AnyStepper::Galerkin(stepper) => stepper.evaluations,
            AnyStepper::Splitting(stepper) => stepper.evaluations,
            AnyStepper::RungeKutta4(stepper) => stepper.evaluations,
        }
    }

    /// How many matrices Newton's method computed in the last step: none where sweeps solved it.
    pub fn matrices(&self) -> u32 {
        match &self.scheme {
            AnyStepper::Galerkin(stepper) => stepper.renewals,
            AnyStepper::Splitting(_) | AnyStepper::RungeKutta4(_) => 0,
        }
    }

    /// How much smaller each correction of the last step was than the one before, at worst. `None` for an explicit method,
    /// and where the first correction was as small as rounding.
    pub fn contraction(&self) -> Option<f64> {
        match &self.scheme {
            AnyStepper::Galerkin(stepper) => stepper.contraction(),
            AnyStepper::Splitting(_) | AnyStepper::RungeKutta4(_) => None,
        }
    }

    /// What it takes to evaluate the polynomial of any step at a fraction of it, 0 for its start and 1 for its end.
    /// `None` for methods without a polynomial.
    pub fn weights(&self, fraction: &R) -> Option<Weights<R>> {
        match &self.scheme {
            AnyStepper::Galerkin(stepper) => Some(stepper.weights(fraction)),
            AnyStepper::Splitting(stepper) => Some(stepper.weights(fraction)),
            AnyStepper::RungeKutta4(_) => None,
        }
    }

    /// The degree of the polynomial that events are looked for on.
    fn degree(&self) -> usize {
        match &self.scheme {
            AnyStepper::Galerkin(stepper) => stepper.degree(),
            AnyStepper::Splitting(_) => HERMITE_DEGREE,
            AnyStepper::RungeKutta4(_) => CONTINUED_DEGREE,
        }
    }

    /// What it takes to find an increment of that polynomial, if it is not an unknown of the step.
    fn increment_weights(&self, fraction: &R) -> Option<Weights<R>> {
        match &self.scheme {
            AnyStepper::Galerkin(_) => None,
            AnyStepper::Splitting(stepper) => Some(stepper.weights(fraction)),
            AnyStepper::RungeKutta4(stepper) => Some(stepper.weights(fraction)),
        }
    }

    /// The start of the last step, and the increments from there at the nodes of its polynomial.
    fn increments(&self, weights: &[Weights<R>], start: &mut [R], increments: &mut [R]) {
        let rows = increments.chunks_mut(start.len().max(1)).zip(weights);
        match &self.scheme {
            AnyStepper::Galerkin(stepper) => stepper.increments(start, increments),
            AnyStepper::Splitting(stepper) => {
                rows.for_each(|(row, weights)| stepper.combine(&weights.value, row));
                start.clone_from_slice(stepper.start());
            }
            AnyStepper::RungeKutta4(stepper) => {
                rows.for_each(|(row, weights)| stepper.combine(&weights.value, row));
                start.clone_from_slice(stepper.start());
            }
        }
    }

    /// q and v within the last step, from its polynomial.
    ///
    /// Less accurate than the method is at the ends of the step: for polynomials of degree s the error of q is of order
    /// s + 1 and that of v of order s, or of the order of the method if that is less. Methods without a polynomial leave q and v as they are.
    pub fn within(&self, weights: &Weights<R>, q: &mut [R], v: &mut [R]) {
        match &self.scheme {
            AnyStepper::Galerkin(stepper) => stepper.within(weights, q, v),
            AnyStepper::Splitting(stepper) => stepper.within(weights, q, v),
            AnyStepper::RungeKutta4(_) => {}
        }
    }
}

/// The degree of the continuous extension of the classical Runge–Kutta method.
const CONTINUED_DEGREE: usize = 3;

fn check_size(size: f64) -> Result<(), Cause> {
    if size == 0.0 || !size.is_finite() {
        return Err(Cause::NotFinite { coordinate: Some(0), step_size: size });
    }
    Ok(())
}

/// Values φ_k and slopes φ'_k/h of the basis of a method's polynomial at a fraction of a step.
#[derive(Clone, Debug)]
pub struct Weights<R> {
    value: Vec<R>,
    slope: Vec<R>,
}
