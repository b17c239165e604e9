//! The work that the explicit time dependence of L does in a step.
//!
//! Along a motion dE/dt = −L_t. The quadrature of the last step, with its own points, weights and times, makes of this
//!
//! ```text
//! W = −h Σ_i b_i L_t(q_i, v_i, t + d_i h)
//! ```
//!
//! and E⁺ − E − W is as small as the errors of the method: W is −∂L_d/∂t of the discrete action for variational methods, the change of −p_t in
//! extended phase space for kicks and drifts, and a further row of the equations for Runge–Kutta. A stepper knows the points; the owner of a
//! [`Work`], an observer mostly, evaluates L_t there when it asks. Steps themselves do not.

use super::Stepper;
use crate::scalar::Real;
use crate::system::{Problem, TimeDerivative};

/// Evaluates the work of the explicit time dependence in a step.
#[derive(Clone, Debug)]
pub struct Work<R> {
    /// None if time does not occur in L.
    l_t: Option<TimeDerivative<R>>,
    q: Vec<R>,
    v: Vec<R>,
}

impl<R: Real> Work<R> {
    /// For the steps of a problem.
    pub fn new(problem: &Problem<R>) -> Self {
        let model = &problem.system.model;
        let zeros = vec![R::zero(); model.n];
        let l_t = (!model.structure.autonomous).then(|| TimeDerivative::new(model, &problem.parameters));
        Self { l_t, q: zeros.clone(), v: zeros }
    }

    /// Whether time occurs in L: if not, no work is done.
    pub fn is_done(&self) -> bool {
        self.l_t.is_some()
    }

    /// Replaces the parameters.
    pub fn assign(&mut self, parameters: &[R]) {
        if let Some(l_t) = &mut self.l_t {
            l_t.assign(parameters);
        }
    }

    /// The work W in the last step of a stepper, which must have taken one since it was made or restarted. Zero if time does not occur in L.
    pub fn of_step(&mut self, stepper: &Stepper<R>) -> R {
        let Self { l_t: Some(l_t), q, v } = self else { return R::zero() };
        let mut work = R::zero();
        for i in 0..stepper.points() {
            let Point { weight, fraction } = stepper.point(i, q, v);
            let mut time = stepper.began.clone();
            time.add_mul(&fraction, &stepper.step_size);
            work.sub_mul(&(weight * stepper.step_size.clone()), &l_t.at(q, v, &time));
        }
        work
    }
}

/// A point of the quadrature of a step.
pub(super) struct Point<R> {
    /// b_i.
    pub(super) weight: R,
    /// d_i.
    pub(super) fraction: R,
}
