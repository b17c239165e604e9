//! One step: from (q, p) to (q⁺, p⁺).
//!
//! [`Stepper`] is made from a [`Problem`], a [`Method`] and a step size, and then called as often as wanted on a
//! [`State`]; nothing allocates after it is made. Variational methods are all served by `galerkin`; `runge_kutta`
//! is the explicit reference. The loop over steps is left to `simulate`.

mod galerkin;
mod runge_kutta;

use crate::error::Cause;
use crate::method::{Method, Scheme, Tableau};
use crate::scalar::Real;
use crate::system::Problem;
use galerkin::GalerkinStepper;
use runge_kutta::RungeKutta4;

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
}

/// x += increment, with the rounding error of the sum kept in `low`.
fn compensated_add<R: Real>(x: &mut R, low: &mut R, increment: R) {
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
    scheme: AnyStepper<R>,
}

#[derive(Clone, Debug)]
enum AnyStepper<R> {
    Galerkin(Box<GalerkinStepper<R>>),
    RungeKutta4(Box<RungeKutta4<R>>),
}

impl<R: Real> Stepper<R> {
    /// A stepper for a problem. The step size may be negative: that runs time backwards.
    pub fn new(problem: &Problem<R>, method: &Method, step_size: R) -> Self {
        let scheme = match method.scheme {
            Scheme::Galerkin(galerkin) => {
                let tableau = Tableau::new(&galerkin);
                AnyStepper::Galerkin(Box::new(GalerkinStepper::new(problem, tableau, step_size.clone())))
            }
            Scheme::RungeKutta4(form) => {
                AnyStepper::RungeKutta4(Box::new(RungeKutta4::new(problem, form, step_size.clone())))
            }
        };
        Self { step_size, t0: problem.t0.clone(), scheme }
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

    /// Takes one step and returns how many corrections it needed. On failure the state is unchanged.
    pub fn step(&mut self, state: &mut State<R>) -> Result<u32, Cause> {
        let t = self.time(state.steps);
        let iterations = match &mut self.scheme {
            AnyStepper::Galerkin(stepper) => stepper.step(state, &t)?,
            AnyStepper::RungeKutta4(stepper) => stepper.step(state, &t)?,
        };
        state.steps += 1;
        Ok(iterations)
    }

    /// The polynomial of the last step, if the method has one.
    pub fn polynomial(&self) -> Option<Polynomial<'_, R>> {
        match &self.scheme {
            AnyStepper::Galerkin(stepper) => Some(stepper.polynomial()),
            AnyStepper::RungeKutta4(_) => None,
        }
    }
}

/// The path of the coordinates within one step.
#[derive(Debug)]
pub struct Polynomial<'a, R> {
    tableau: &'a Tableau<R>,
    /// q at the start of the step.
    start: &'a [R],
    /// Increments Z_k = Q_k − q at the nodes k = 1 … s, node by node.
    increments: &'a [R],
    step_size: &'a R,
}

impl<R: Real> Polynomial<'_, R> {
    /// q and v at a fraction of the step, 0 for its start and 1 for its end.
    ///
    /// Less accurate inside the step than the method is at its ends: the error of q is of order s + 1 and that of v of
    /// order s, for polynomials of degree s.
    pub fn at(&self, fraction: &R, q: &mut [R], v: &mut [R]) {
        let phi = self.tableau.basis_at(fraction);
        let slope = self.tableau.slope_at(fraction);
        let n = self.start.len();
        for i in 0..n {
            let (mut position, mut velocity) = (R::zero(), R::zero());
            for k in 1..=self.tableau.degree {
                let z = &self.increments[(k - 1) * n + i];
                position.add_mul(&phi[k], z);
                velocity.add_mul(&slope[k], z);
            }
            q[i] = self.start[i].clone() + position;
            v[i] = velocity / self.step_size.clone();
        }
    }
}
