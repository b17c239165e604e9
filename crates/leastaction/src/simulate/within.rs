//! Formulas between the last two steps of a run.
//!
//! The polynomial of the step gives values that cost little, for a look at many points and for a first guess of a zero. Partial steps of size τh
//! from the state before the step give values as exact as the method, with a stepper of their own, so that the run does not
//! notice. What the values mean is left to `events`.

use super::root::sign;
use crate::error::Cause;
use crate::method::Method;
use crate::scalar::{Ledger, Real};
use crate::step::{Basis, Polynomial, State, Stepper};
use crate::system::{Gauge, Problem, Quantities};

/// A step is looked at in at least so many parts, and in no fewer than its polynomial has a degree.
const PARTS: usize = 4;
/// Up to this degree a polynomial bends less than the motion does.
const STIFF: usize = 2;

type Found<T> = Result<T, Cause>;

/// The formulas, and states between the last two steps.
#[derive(Clone, Debug)]
pub(super) struct Within<R> {
    pub(super) gauge: Gauge<R>,
    polynomial: Polynomial<R>,
    /// The points looked at in every step: fractions of it, and the basis of the polynomial there.
    points: Vec<(R, Basis<R>)>,
    /// The basis anywhere else.
    basis: Basis<R>,
    q: Vec<R>,
    v: Vec<R>,
    stepper: Stepper<R>,
    before: State<R>,
    t: R,
    h: R,
    /// The end of the last partial step, and its size as a fraction.
    pub(super) state: State<R>,
    fraction: Option<R>,
    /// How many partial steps were taken.
    pub(super) partial_steps: u64,
}

impl<R: Real> Within<R> {
    pub(super) fn new(
        problem: &Problem<R>,
        method: &Method,
        stepper: &Stepper<R>,
        formulas: &Quantities,
    ) -> Self {
        let h = stepper.step_size().clone();
        let polynomial = Polynomial::new(stepper, problem.system.n());
        let parts = polynomial.degree().max(PARTS);
        let point = |j: usize| {
            let fraction = R::from_f64(j as f64) / R::from_f64(parts as f64);
            (fraction.clone(), polynomial.basis(&fraction))
        };
        Self {
            gauge: formulas.gauge(problem),
            points: (1..parts).map(point).collect(),
            basis: polynomial.basis(&R::one()),
            polynomial,
            q: problem.q0.clone(),
            v: problem.v0.clone(),
            stepper: Stepper::new(problem, method, h.clone()),
            before: State::new(problem),
            t: problem.t0.clone(),
            h,
            state: State::new(problem),
            fraction: None,
            partial_steps: 0,
        }
    }

    /// How many points within a step are looked at.
    pub(super) fn points(&self) -> usize {
        self.points.len()
    }
    /// The fraction of the step at one of them.
    pub(super) fn fraction(&self, point: usize) -> &R {
        &self.points[point].0
    }
    /// Whether the polynomial of a step bends less than the motion does.
    pub(super) fn is_stiff(&self) -> bool {
        self.polynomial.degree() <= STIFF
    }

    /// Begins anew, with other parameters if they are given, at a start with these velocities.
    pub(super) fn restart(&mut self, parameters: Option<&[R]>, v: &[R]) {
        self.gauge.restart(parameters, v);
        self.stepper.restart(parameters, v);
    }

    /// Watches steps of another size from now on.
    pub(super) fn resize(&mut self, stepper: &Stepper<R>) {
        self.h = stepper.step_size().clone();
        self.polynomial.resize(stepper);
    }

    /// Writes or reads what it has seen.
    pub(super) fn exchange(&mut self, ledger: &mut Ledger) {
        self.gauge.exchange(ledger);
        self.stepper.exchange(ledger);
        self.before.exchange(ledger);
        ledger.number(&mut self.t);
    }

    /// A step ended with this state: the next one begins there.
    pub(super) fn pass(&mut self, state: &State<R>, t: &R) {
        self.before.copy_from(state);
        self.t = t.clone();
        self.fraction = None;
    }

    /// The time at a fraction of the step.
    pub(super) fn time(&self, fraction: &R) -> R {
        self.t.clone() + fraction.clone() * self.h.clone()
    }

    /// The values of all formulas at the points within the last step, point by point, on its polynomial.
    pub(super) fn look(&mut self, stepper: &Stepper<R>, values: &mut [R]) {
        self.polynomial.take(stepper);
        let velocities = self.gauge.uses_velocities();
        let rows = values.chunks_mut((values.len() / self.points.len().max(1)).max(1));
        for ((fraction, basis), row) in self.points.iter().zip(rows) {
            let t = self.t.clone() + fraction.clone() * self.h.clone();
            self.polynomial.evaluate(basis, velocities, &mut self.q, &mut self.v);
            row.clone_from_slice(self.gauge.at(&self.q, &self.v, &t));
        }
    }

    /// The values of all formulas on the polynomial at a fraction of the step.
    pub(super) fn all_on_polynomial(&mut self, fraction: &R) -> &[R] {
        let t = self.time(fraction);
        self.polynomial.set_basis(&mut self.basis, fraction);
        let velocities = self.gauge.uses_velocities();
        self.polynomial.evaluate(&self.basis, velocities, &mut self.q, &mut self.v);
        self.gauge.at(&self.q, &self.v, &t)
    }

    /// The value of a formula on the polynomial at a fraction of the step.
    pub(super) fn on_polynomial(&mut self, fraction: &R, index: usize) -> R {
        self.all_on_polynomial(fraction)[index].clone()
    }

    /// Sets the state at a fraction of the step by a step of that size, and returns the time.
    pub(super) fn go_to(&mut self, fraction: &R) -> Found<R> {
        if self.fraction.as_ref() != Some(fraction) {
            self.fraction = None;
            self.state.copy_from(&self.before);
            let size = fraction.clone() * self.h.clone();
            if sign(&size) != 0 {
                self.partial_steps += 1;
                self.stepper.step_by(&mut self.state, &self.t, &size)?;
            }
            self.fraction = Some(fraction.clone());
        }
        Ok(self.time(fraction))
    }

    /// The value of a formula at the end of a partial step; infinite at a pole.
    pub(super) fn near(&mut self, fraction: &R, index: usize, name: &str) -> Found<R> {
        let t = self.go_to(fraction)?;
        let value = self.gauge.at_momenta(&self.state.q, &self.state.p, &t)?[index].clone();
        if value.to_f64().is_nan() { Err(not_finite(name, &value, &t)) } else { Ok(value) }
    }

    /// The same where it must be finite.
    pub(super) fn value(&mut self, fraction: &R, index: usize, name: &str) -> Found<R> {
        let value = self.near(fraction, index, name)?;
        if value.is_finite() { Ok(value) } else { Err(not_finite(name, &value, &self.time(fraction))) }
    }
}

pub(super) fn not_finite<R: Real>(name: &str, value: &R, t: &R) -> Cause {
    Cause::EventNotFinite { event: name.to_owned(), value: value.to_f64(), time: t.to_f64() }
}
