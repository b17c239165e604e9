//! The stepper of splitting methods: kicks and drifts in turn, nothing to solve but with a constant mass matrix.
//!
//! Within a step only the changes of q and p are summed, Q = q + Δq, P = p + Δp, so that a step loses no more than the rounding of its
//! changes; Δq and Δp start with what earlier sums have lost. The forces at the end of a step are those at the start of the next one.

use super::{State, Weights, compensated_add};
use crate::error::Cause;
use crate::method::{Flows, Splitting};
use crate::scalar::Real;
use crate::system::{ConstantMass, Forces, Problem};

#[derive(Clone, Debug)]
pub(super) struct SplittingStepper<R> {
    h: R,
    flows: Flows<R>,
    forces: Forces<R>,
    mass: ConstantMass<R>,
    /// What in the Lagrangian prevents the method.
    misfit: Option<String>,
    autonomous: bool,
    /// q and Mv at the start of the step.
    start: [Vec<R>; 2],
    /// Δq and Δp.
    change: [Vec<R>; 2],
    /// Q, the time there, and the forces there if they are known.
    stage: Vec<R>,
    time: R,
    known: bool,
    force: Vec<R>,
    /// The forces at the start of the step.
    first_force: Vec<R>,
    /// Evaluations of the forces, since the stepper was made.
    pub(super) evaluations: u64,
}

impl<R: Real> SplittingStepper<R> {
    pub(super) fn new(problem: &Problem<R>, splitting: &Splitting, h: R) -> Self {
        let model = &problem.system.model;
        let zeros = || vec![R::zero(); model.n];
        Self {
            h,
            flows: Flows::new(splitting),
            forces: Forces::new(model, &problem.parameters),
            mass: ConstantMass::new(model, &problem.parameters),
            misfit: problem.system.inseparable(),
            autonomous: model.structure.autonomous,
            start: [zeros(), zeros()],
            change: [zeros(), zeros()],
            stage: zeros(),
            time: R::zero(),
            known: false,
            force: zeros(),
            first_force: zeros(),
            evaluations: 0,
        }
    }

    /// Begins anew, with other parameters if they are given.
    pub(super) fn restart(&mut self, parameters: Option<&[R]>) {
        if let Some(parameters) = parameters {
            self.forces.assign(parameters);
            self.mass.assign(parameters);
        }
        self.known = false;
    }

    /// Changes the step size.
    pub(super) fn resize(&mut self, h: &R) {
        self.h = h.clone();
    }

    pub(super) fn step(&mut self, state: &mut State<R>, t: &R) -> Result<u32, Cause> {
        if let Some(reason) = &self.misfit {
            return Err(Cause::DoesNotFit { reason: reason.clone() });
        }
        self.mass.check()?;
        self.begin(state, t);
        for i in 0..self.flows.drifts.len() {
            self.kick_and_drift(i);
            let mut time = t.clone();
            time.add_mul(&self.flows.times[i + 1], &self.h);
            self.evaluate(time);
        }
        self.end(state)?;
        Ok(0)
    }

    /// The forces at Q.
    fn evaluate(&mut self, time: R) {
        self.time = time;
        self.evaluations += 1;
        self.forces.at(&self.stage, &self.time, &mut self.force);
    }

    /// Q = q and its forces, Δq and Δp what was lost before.
    fn begin(&mut self, state: &State<R>, t: &R) {
        let same = self.known && self.stage == state.q && (self.autonomous || self.time == *t);
        if !same {
            self.stage.clone_from_slice(&state.q);
            self.evaluate(t.clone());
        }
        std::mem::swap(&mut self.first_force, &mut self.force);
        self.start[0].clone_from_slice(&state.q);
        for ((start, p), at_rest) in self.start[1].iter_mut().zip(&state.p).zip(self.mass.at_rest()) {
            *start = p.clone() - at_rest.clone();
        }
        self.change[0].clone_from_slice(&state.q_low);
        self.change[1].clone_from_slice(&state.p_low);
    }

    /// Δp += b_i h F,  Δq += a_{i+1} h M⁻¹(p + Δp),  Q = q + Δq
    fn kick_and_drift(&mut self, i: usize) {
        let kick = self.flows.kicks[i].clone() * self.h.clone();
        let drift = self.flows.drifts[i].clone() * self.h.clone();
        let force = if i == 0 { &self.first_force } else { &self.force };
        let [start_q, start_p] = &self.start;
        let [dq, dp] = &mut self.change;
        let q = &mut self.stage;
        if let Some(reciprocals) = self.mass.reciprocals() {
            let motion = Motion { kick, drift, force, reciprocals, start_q, start_p };
            return motion.kick_and_drift(dq, dp, q);
        }
        for j in 0..q.len() {
            dp[j].add_mul(&kick, &force[j]);
            q[j] = start_p[j].clone() + dp[j].clone();
        }
        self.mass.solve(q);
        for j in 0..q.len() {
            dq[j].add_mul(&drift, &q[j]);
            q[j] = start_q[j].clone() + dq[j].clone();
        }
    }

    /// The last kick; then q + Δq and p + Δp, unless they are not finite.
    fn end(&mut self, state: &mut State<R>) -> Result<(), Cause> {
        let [dq, dp] = &mut self.change;
        let kick = self.flows.kicks[self.flows.drifts.len()].clone() * self.h.clone();
        for (dp, force) in dp.iter_mut().zip(&self.force) {
            dp.add_mul(&kick, force);
        }
        // counted, because that needs no branch
        let lost = |x: &&R| !x.is_finite();
        self.known = dq.iter().filter(lost).count() + dp.iter().filter(lost).count() == 0;
        if !self.known {
            let coordinate = (0..dq.len()).position(|j| !dq[j].is_finite() || !dp[j].is_finite());
            return Err(Cause::NotFinite { coordinate: coordinate.unwrap_or(0), step_size: self.h.to_f64() });
        }
        add_all(&mut state.q, &mut state.q_low, dq);
        add_all(&mut state.p, &mut state.p_low, dp);
        Ok(())
    }

    /// Values and slopes, at a fraction x of a step, of the polynomial through q, v and M⁻¹F at both ends: factors of Δq, then, below M⁻¹,
    /// of Mv and F at the start and at the end.
    pub(super) fn weights(&self, x: &R) -> Weights<R> {
        let h = &self.h;
        let polynomial = |coefficients: [f64; 6]| {
            coefficients.iter().rev().fold(R::zero(), |sum, c| sum * x.clone() + R::from_f64(*c))
        };
        let value = HERMITE.map(polynomial);
        let slope =
            HERMITE.map(|[_, a, b, c, d, e]| polynomial([a, 2.0 * b, 3.0 * c, 4.0 * d, 5.0 * e, 0.0]));
        let powers = [R::one(), h.clone(), h.clone(), h.clone() * h.clone(), h.clone() * h.clone()];
        let scaled = |list: [R; 5]| list.into_iter().zip(&powers).map(|(x, power)| x * power.clone());
        Weights { value: scaled(value).collect(), slope: scaled(slope).map(|x| x / h.clone()).collect() }
    }

    pub(super) fn within(&self, weights: &Weights<R>, q: &mut [R], v: &mut [R]) {
        let ([start_q, start_p], [dq, dp]) = (&self.start, &self.change);
        for (weights, out) in [(&weights.value, &mut *q), (&weights.slope, &mut *v)] {
            for (j, out) in out.iter_mut().enumerate() {
                let mut sum = weights[1].clone() * start_p[j].clone();
                sum.add_mul(&weights[2], &(start_p[j].clone() + dp[j].clone()));
                sum.add_mul(&weights[3], &self.first_force[j]);
                sum.add_mul(&weights[4], &self.force[j]);
                *out = sum;
            }
            self.mass.solve(out);
            for (out, dq) in out.iter_mut().zip(dq) {
                out.add_mul(&weights[0], dq);
            }
        }
        for (q, start) in q.iter_mut().zip(start_q) {
            *q = start.clone() + q.clone();
        }
    }
}

/// The polynomials of degree 5, by powers, that take up the change of q, the slopes and the curvatures at the start and at the end.
const HERMITE: [[f64; 6]; 5] = [
    [0.0, 0.0, 0.0, 10.0, -15.0, 6.0],
    [0.0, 1.0, 0.0, -6.0, 8.0, -3.0],
    [0.0, 0.0, 0.0, -4.0, 7.0, -3.0],
    [0.0, 0.0, 0.5, -1.5, 1.5, -0.5],
    [0.0, 0.0, 0.0, 0.5, -1.0, 0.5],
];

/// A kick and a drift with a diagonal mass matrix.
struct Motion<'a, R> {
    kick: R,
    drift: R,
    force: &'a [R],
    reciprocals: &'a [R],
    start_q: &'a [R],
    start_p: &'a [R],
}

impl<R: Real> Motion<'_, R> {
    /// One pass over memory, slices of one length, so that the compiler makes vector instructions of it.
    fn kick_and_drift(&self, dq: &mut [R], dp: &mut [R], q: &mut [R]) {
        let n = q.len();
        let (dq, dp) = (&mut dq[..n], &mut dp[..n]);
        let (force, reciprocals) = (&self.force[..n], &self.reciprocals[..n]);
        let (start_q, start_p) = (&self.start_q[..n], &self.start_p[..n]);
        for j in 0..n {
            dp[j].add_mul(&self.kick, &force[j]);
            let v = (start_p[j].clone() + dp[j].clone()) * reciprocals[j].clone();
            dq[j].add_mul(&self.drift, &v);
            q[j] = start_q[j].clone() + dq[j].clone();
        }
    }
}

/// x += change, with the rounding errors of the sums in `low`; what was there before is part of the changes.
fn add_all<R: Real>(x: &mut [R], low: &mut [R], changes: &[R]) {
    let n = changes.len();
    let (x, low) = (&mut x[..n], &mut low[..n]);
    for j in 0..n {
        low[j] = R::zero();
        compensated_add(&mut x[j], &mut low[j], changes[j].clone());
    }
}
