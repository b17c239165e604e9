//! The stepper of splitting methods: kicks and drifts in turn, nothing to solve but with a constant mass matrix.
//!
//! Within a step only the changes of q and p are summed, Q = q + Δq, P = p + Δp, so that a step loses no more than the rounding of its
//! changes; Δq and Δp start with what earlier sums have lost. The forces at the end of a step are those at the start of the next one.

use super::motion::Motion;
use super::work::Point;
use super::{State, Weights};
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
    motion: Motion<R>,
    /// The time of the last forces, and whether they are those at Q.
    time: R,
    known: bool,
    force: Vec<R>,
    /// The forces at the start of the step.
    first_force: Vec<R>,
    /// Q at each kick, if time occurs in L.
    kicked: Vec<R>,
    /// Evaluations of the forces, since the stepper was made.
    pub(super) evaluations: u64,
}

impl<R: Real> SplittingStepper<R> {
    pub(super) fn new(problem: &Problem<R>, splitting: &Splitting, h: R) -> Self {
        let model = &problem.system.model;
        let mut forces = Forces::new(model, &problem.parameters);
        let mass = ConstantMass::new(model, &problem.parameters);
        if mass.reciprocals().is_some() {
            forces = forces.with_stages(model);
        }
        let flows = Flows::new(splitting);
        let timed = if model.structure.autonomous { 0 } else { flows.kicks.len() };
        Self {
            h,
            kicked: vec![R::zero(); timed * model.n],
            flows,
            forces,
            motion: Motion::new(model.n, &mass),
            mass,
            misfit: problem.system.inseparable(),
            autonomous: model.structure.autonomous,
            time: R::zero(),
            known: false,
            force: vec![R::zero(); model.n],
            first_force: vec![R::zero(); model.n],
            evaluations: 0,
        }
    }

    /// Begins anew, with other parameters if they are given.
    pub(super) fn restart(&mut self, parameters: Option<&[R]>) {
        if let Some(parameters) = parameters {
            self.forces.assign(parameters);
            self.mass.assign(parameters);
            self.motion.weigh(&self.mass);
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
        self.keep(0);
        let stages = self.flows.drifts.len();
        self.motion.kick_and_drift(&self.sizes(0), &self.first_force, &self.mass);
        for i in 1..stages {
            self.keep(i);
            self.advance(i, self.time_of(i, t));
        }
        self.keep(stages);
        self.evaluate(self.time_of(stages, t));
        self.end(state)?;
        Ok(0)
    }

    /// Keeps Q at a kick for those who evaluate L_t there.
    fn keep(&mut self, i: usize) {
        if !self.autonomous {
            let q = self.motion.q();
            self.kicked[i * q.len()..(i + 1) * q.len()].clone_from_slice(q);
        }
    }

    /// How many kicks a step has.
    pub(super) fn points(&self) -> usize {
        self.flows.kicks.len()
    }

    /// Q at a kick. L_t does not depend on velocities where the method fits.
    pub(super) fn point(&self, i: usize, q: &mut [R], v: &mut [R]) -> Point<R> {
        let n = q.len();
        if let Some(kicked) = self.kicked.get(i * n..(i + 1) * n) {
            q.clone_from_slice(kicked);
        }
        v.fill(R::zero());
        Point { weight: self.flows.kicks[i].clone(), fraction: self.flows.times[i].clone() }
    }

    /// b_i h and a_{i+1} h.
    fn sizes(&self, i: usize) -> [R; 2] {
        [&self.flows.kicks, &self.flows.drifts].map(|list| list[i].clone() * self.h.clone())
    }

    /// The time of a kick in a step that begins at t.
    fn time_of(&self, i: usize, t: &R) -> R {
        let mut time = t.clone();
        time.add_mul(&self.flows.times[i], &self.h);
        time
    }

    /// The forces at Q.
    fn evaluate(&mut self, time: R) {
        self.time = time;
        self.evaluations += 1;
        self.forces.at(self.motion.q(), &self.time, &mut self.force);
    }

    /// The forces at Q, a kick and a drift.
    fn advance(&mut self, i: usize, time: R) {
        let sizes = self.sizes(i);
        if self.motion.advance(&mut self.forces, &sizes, &time) {
            self.evaluations += 1;
            return;
        }
        self.evaluate(time);
        self.motion.kick_and_drift(&sizes, &self.force, &self.mass);
    }

    /// Q = q and its forces, Δq and Δp what was lost before.
    fn begin(&mut self, state: &State<R>, t: &R) {
        let same = self.known && (self.autonomous || self.time == *t) && self.motion.is_at(&state.q);
        if !same {
            self.motion.go(&state.q);
            self.evaluate(t.clone());
        }
        std::mem::swap(&mut self.first_force, &mut self.force);
        self.motion.begin(state, self.mass.at_rest());
    }

    /// The last kick; then q + Δq and p + Δp, unless they are not finite.
    fn end(&mut self, state: &mut State<R>) -> Result<(), Cause> {
        let kick = self.flows.kicks[self.flows.drifts.len()].clone() * self.h.clone();
        let lost = self.motion.last_kick(&kick, &self.force);
        self.known = lost.is_none();
        if let Some(coordinate) = lost {
            return Err(Cause::NotFinite { coordinate: Some(coordinate), step_size: self.h.to_f64() });
        }
        self.motion.end(state);
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
        self.combine(&weights.value, q);
        self.combine(&weights.slope, v);
        for (q, start) in q.iter_mut().zip(self.start()) {
            *q = start.clone() + q.clone();
        }
    }

    /// The start of the last step.
    pub(super) fn start(&self) -> &[R] {
        self.motion.start()[0]
    }

    /// The sum of Δq and, below M⁻¹, Mv and F at both ends, each times its weight.
    pub(super) fn combine(&self, weights: &[R], out: &mut [R]) {
        let ([_, start_p], [dq, dp]) = (self.motion.start(), self.motion.changes());
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
}

/// The polynomials of degree 5, by powers, that take up the change of q, the slopes and the curvatures at the start and at the end.
const HERMITE: [[f64; 6]; 5] = [
    [0.0, 0.0, 0.0, 10.0, -15.0, 6.0],
    [0.0, 1.0, 0.0, -6.0, 8.0, -3.0],
    [0.0, 0.0, 0.0, -4.0, 7.0, -3.0],
    [0.0, 0.0, 0.5, -1.5, 1.5, -0.5],
    [0.0, 0.0, 0.0, 0.5, -1.0, 0.5],
];
