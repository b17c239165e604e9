//! The classical explicit Runge–Kutta method of order 4: the reference the papers compare with, not variational.
//!
//! In (q, p): q' = v(q, p), p' = L_q. In (q, v): q' = v, v' = L_vv⁻¹ (L_q − L_vq v − L_vt). The state is (q, p) in both;
//! the second form converts at the ends of the step, and so does not keep the momentum of a cyclic coordinate.

use super::work::Point;
use super::{State, Weights, compensated_add};
use crate::error::Cause;
use crate::method::{Form, STAGES};
use crate::scalar::{Ledger, Real};
use crate::system::{Accelerations, Gradient, Problem, Velocities};

#[derive(Clone, Debug)]
pub(super) struct RungeKutta4<R> {
    form: Form,
    h: R,
    velocities: Velocities<R>,
    gradient: Gradient<R>,
    accelerations: Accelerations<R>,
    /// Velocity at the start of the step.
    v: Vec<R>,
    /// q and second variable (p or v) of the present stage, and their rates.
    stage: [Vec<R>; 2],
    rate: [Vec<R>; 2],
    /// Σ b_i k_i
    sum: [Vec<R>; 2],
    /// q at the start of the last step, and q' at its stages.
    start: Vec<R>,
    rates: Vec<R>,
    /// q and v of all stages, if time occurs in L.
    stages: [Vec<R>; 2],
    /// Evaluations of the derivatives of L, since the stepper was made.
    pub(super) evaluations: u64,
}

impl<R: Real> RungeKutta4<R> {
    pub(super) fn new(problem: &Problem<R>, form: Form, h: R) -> Self {
        let model = &problem.system.model;
        let zeros = vec![R::zero(); model.n];
        let pair = || [zeros.clone(), zeros.clone()];
        let timed = if model.structure.autonomous { 0 } else { STAGES.len() };
        Self {
            form,
            h,
            velocities: Velocities::new(model, &problem.parameters),
            gradient: Gradient::new(model, &problem.parameters),
            accelerations: Accelerations::new(model, &problem.parameters),
            v: problem.v0.clone(),
            stage: pair(),
            rate: pair(),
            sum: pair(),
            start: zeros.clone(),
            rates: vec![R::zero(); STAGES.len() * model.n],
            stages: std::array::from_fn(|_| vec![R::zero(); timed * model.n]),
            evaluations: 0,
        }
    }

    /// Begins anew at a start with these velocities, and with other parameters if they are given.
    pub(super) fn restart(&mut self, parameters: Option<&[R]>, v: &[R]) {
        if let Some(parameters) = parameters {
            self.velocities.assign(parameters);
            self.gradient.assign(parameters);
            self.accelerations.assign(parameters);
        }
        // where velocities are solved for, the last ones are the guess
        self.v.clone_from_slice(v);
        for part in &mut self.rate {
            part.fill(R::zero());
        }
    }

    /// See [`super::Stepper::exchange`].
    pub(super) fn exchange(&mut self, ledger: &mut Ledger) {
        ledger.numbers(&mut self.v);
        // where velocities are solved for, rates are guesses
        self.rate.iter_mut().for_each(|rate| ledger.numbers(rate));
    }

    /// Changes the step size.
    pub(super) fn resize(&mut self, h: &R) {
        self.h = h.clone();
    }

    pub(super) fn step(&mut self, state: &mut State<R>, t: &R) -> Result<u32, Cause> {
        let n = state.q.len();
        if self.form == Form::Velocities {
            self.velocities.velocities(&state.q, &state.p, t, &mut self.v)?;
        }
        for part in &mut self.sum {
            part.fill(R::zero());
        }
        self.start.clone_from_slice(&state.q);
        // k_i = f(y + c_i h k_{i−1}), c = 0, ½, ½, 1, b = 1/6, 1/3, 1/3, 1/6
        for (stage, (c, b)) in STAGES.into_iter().enumerate() {
            let ch = R::from_f64(c) * self.h.clone();
            for i in 0..n {
                self.stage[0][i] = state.q[i].clone();
                self.stage[0][i].add_mul(&ch, &self.rate[0][i]);
                let second = if self.form == Form::Momenta { &state.p[i] } else { &self.v[i] };
                self.stage[1][i] = second.clone();
                self.stage[1][i].add_mul(&ch, &self.rate[1][i]);
            }
            if c == 0.0 {
                // the rates of the step before must not enter, not even times zero: they may be infinite
                self.stage[0].clone_from_slice(&state.q);
                let second = if self.form == Form::Momenta { &state.p } else { &self.v };
                self.stage[1].clone_from_slice(second);
            }
            let mut time = t.clone();
            time.add_mul(&R::from_f64(c), &self.h);
            self.rates(&time)?;
            self.rates[stage * n..(stage + 1) * n].clone_from_slice(&self.rate[0]);
            self.keep(stage);
            let weight = R::from_f64(b);
            for part in 0..2 {
                for i in 0..n {
                    self.sum[part][i].add_mul(&weight, &self.rate[part][i]);
                }
            }
        }
        self.finish(state, t)?;
        Ok(0)
    }

    /// Keeps q and v of a stage for those who evaluate L_t there.
    fn keep(&mut self, stage: usize) {
        let lists = [&self.stage[0], &self.rate[0]];
        for (kept, list) in self.stages.iter_mut().zip(lists).filter(|(kept, _)| !kept.is_empty()) {
            kept[stage * list.len()..(stage + 1) * list.len()].clone_from_slice(list);
        }
    }

    /// h b_i(x): what the rates of the stages add to q at a fraction x of the step. Of order 3 (Hairer, Nørsett & Wanner,
    /// *Solving ordinary differential equations I*, II.6).
    pub(super) fn weights(&self, x: &R) -> Weights<R> {
        let third = |k: f64| R::from_f64(k) / R::from_f64(3.0);
        let number = R::from_f64;
        let cubic = |[a, b, c]: [R; 3]| ((c * x.clone() + b) * x.clone() + a) * x.clone() * self.h.clone();
        let inner = || [number(0.0), number(1.0), third(-2.0)];
        let first = [number(1.0), number(-1.5), third(2.0)];
        let last = [number(0.0), number(-0.5), third(2.0)];
        Weights { value: [first, inner(), inner(), last].map(cubic).to_vec(), slope: Vec::new() }
    }

    /// The start of the last step.
    pub(super) fn start(&self) -> &[R] {
        &self.start
    }

    /// The sum of the rates of the stages, each times its weight.
    pub(super) fn combine(&self, weights: &[R], out: &mut [R]) {
        out.fill(R::zero());
        for (rates, weight) in self.rates.chunks(out.len().max(1)).zip(weights) {
            out.iter_mut().zip(rates).for_each(|(out, rate)| out.add_mul(weight, rate));
        }
    }

    /// q and v at a stage of the last step.
    pub(super) fn point(&self, i: usize, q: &mut [R], v: &mut [R]) -> Point<R> {
        let n = q.len();
        for (out, kept) in [q, v].into_iter().zip(&self.stages) {
            if let Some(kept) = kept.get(i * n..(i + 1) * n) {
                out.clone_from_slice(kept);
            }
        }
        let (c, b) = STAGES[i];
        Point { weight: R::from_f64(b) / R::from_f64(6.0), fraction: R::from_f64(c) }
    }

    /// The rates of the present stage.
    fn rates(&mut self, t: &R) -> Result<(), Cause> {
        self.evaluations += 1;
        let [q, second] = &self.stage;
        let [q_rate, second_rate] = &mut self.rate;
        match self.form {
            Form::Momenta => {
                self.velocities.velocities(q, second, t, q_rate)?;
                let (l_q, _) = self.gradient.at(q, q_rate, t);
                second_rate.clone_from_slice(l_q);
            }
            Form::Velocities => {
                q_rate.clone_from_slice(second);
                self.accelerations.at(q, second, t, second_rate)?;
            }
        }
        Ok(())
    }

    /// Adds h/6 times the sums, unless they are not finite.
    fn finish(&mut self, state: &mut State<R>, t: &R) -> Result<(), Cause> {
        let n = state.q.len();
        for i in 0..n {
            if !self.sum[0][i].is_finite() || !self.sum[1][i].is_finite() {
                return Err(Cause::NotFinite { coordinate: Some(i), step_size: self.h.to_f64() });
            }
        }
        let sixth = self.h.clone() / R::from_f64(6.0);
        for i in 0..n {
            let increment = sixth.clone() * self.sum[0][i].clone();
            compensated_add(&mut state.q[i], &mut state.q_low[i], increment);
            let increment = sixth.clone() * self.sum[1][i].clone();
            match self.form {
                Form::Momenta => compensated_add(&mut state.p[i], &mut state.p_low[i], increment),
                Form::Velocities => self.v[i] = self.v[i].clone() + increment,
            }
        }
        if self.form == Form::Velocities {
            let end = t.clone() + self.h.clone();
            self.velocities.momenta(&state.q, &self.v, &end, &mut state.p);
        }
        Ok(())
    }
}
