//! The numbers of a splitting step and how kicks and drifts change them.
//!
//! q and p stay as they are at the start of the step, Δq and Δp are what kicks and drifts have changed, and Q = q + Δq is where forces are
//! evaluated. With a diagonal mass matrix a stage is one pass over memory, as machine code together with the forces if there is any.

use super::{State, compensated_add};
use crate::expr::{Aligned, Stage, Staging};
use crate::scalar::Real;
use crate::system::{ConstantMass, Forces};

#[derive(Clone, Debug)]
pub(super) struct Motion<R> {
    staging: Staging,
    /// q and Mv at the start of the step, 1/m, and the sizes of a kick and a drift.
    fixed: Aligned<R>,
    /// Δq and Δp.
    changes: Aligned<R>,
    /// Q, and memory for the next one.
    stage: [Aligned<R>; 2],
}

impl<R: Real> Motion<R> {
    pub(super) fn new(n: usize, mass: &ConstantMass<R>) -> Self {
        let staging = Staging { n, equal_masses: false };
        let ([changes, ..], [fixed, ..]) = (staging.changes(), staging.fixed());
        let mut motion = Self {
            staging,
            fixed: Aligned::zeros(fixed),
            changes: Aligned::zeros(changes),
            stage: [Aligned::zeros(n), Aligned::zeros(n)],
        };
        motion.weigh(mass);
        motion
    }

    /// Takes other masses.
    pub(super) fn weigh(&mut self, mass: &ConstantMass<R>) {
        let [.., at] = self.staging.fixed();
        if let Some(reciprocals) = mass.reciprocals() {
            self.fixed[at..at + self.staging.n].clone_from_slice(reciprocals);
        }
    }

    /// q and Mv at the start of the step.
    pub(super) fn start(&self) -> [&[R]; 2] {
        let (n, [_, q, p, _]) = (self.staging.n, self.staging.fixed());
        [&self.fixed[q..q + n], &self.fixed[p..p + n]]
    }

    /// Δq and Δp.
    pub(super) fn changes(&self) -> [&[R]; 2] {
        let (n, [_, dq, dp]) = (self.staging.n, self.staging.changes());
        [&self.changes[dq..dq + n], &self.changes[dp..dp + n]]
    }

    /// Q.
    pub(super) fn q(&self) -> &[R] {
        &self.stage[0]
    }

    /// Puts Q somewhere.
    pub(super) fn go(&mut self, q: &[R]) {
        self.stage[0].clone_from_slice(q);
    }

    /// q, p and what was lost of both before.
    pub(super) fn begin(&mut self, state: &State<R>, at_rest: &[R]) {
        let (n, [_, q, p, _], [_, dq, dp]) = (self.staging.n, self.staging.fixed(), self.staging.changes());
        self.fixed[q..q + n].clone_from_slice(&state.q);
        for ((start, p), at_rest) in self.fixed[p..p + n].iter_mut().zip(&state.p).zip(at_rest) {
            *start = p.clone() - at_rest.clone();
        }
        self.changes[dq..dq + n].clone_from_slice(&state.q_low);
        self.changes[dp..dp + n].clone_from_slice(&state.p_low);
    }

    /// Δp += kick F(Q),  Δq += drift M⁻¹(p + Δp),  Q = q + Δq in one pass; `false` if there is no machine code for it.
    pub(super) fn advance(&mut self, forces: &mut Forces<R>, sizes: &[R; 2], t: &R) -> bool {
        for (at, size) in self.staging.sizes().into_iter().zip(sizes) {
            self.fixed[at] = size.clone();
        }
        let [q, next] = &mut self.stage;
        let done = forces.advance(Stage { q, t, fixed: &self.fixed, changes: &mut self.changes, next });
        if done {
            self.stage.swap(0, 1);
        }
        done
    }

    /// Δp += kick F,  Δq += drift M⁻¹(p + Δp),  Q = q + Δq
    pub(super) fn kick_and_drift(&mut self, [kick, drift]: &[R; 2], force: &[R], mass: &ConstantMass<R>) {
        let n = self.staging.n;
        let (q, rest) = self.fixed.split_at(self.staging.fixed()[2]);
        let (p, reciprocals) = rest.split_at(self.staging.fixed()[3] - self.staging.fixed()[2]);
        let (dq, dp) = self.changes.split_at_mut(self.staging.changes()[2]);
        let stage = &mut self.stage[0];
        let (q, p, dq, dp) = (&q[..n], &p[..n], &mut dq[..n], &mut dp[..n]);
        if mass.reciprocals().is_some() {
            return one_pass([kick, drift], [force, reciprocals, q, p], dq, dp, stage);
        }
        for j in 0..n {
            dp[j].add_mul(kick, &force[j]);
            stage[j] = p[j].clone() + dp[j].clone();
        }
        mass.solve(stage);
        for j in 0..n {
            dq[j].add_mul(drift, &stage[j]);
            stage[j] = q[j].clone() + dq[j].clone();
        }
    }

    /// Δp += kick F
    pub(super) fn kick(&mut self, kick: &R, force: &[R]) {
        let [_, _, dp] = self.staging.changes();
        for (dp, force) in self.changes[dp..].iter_mut().zip(force) {
            dp.add_mul(kick, force);
        }
    }

    /// A coordinate that is lost, if there is one: its change is not finite.
    pub(super) fn lost(&self) -> Option<usize> {
        let [dq, dp] = self.changes();
        // counted, because that needs no branch
        let lost = |x: &&R| !x.is_finite();
        if dq.iter().filter(lost).count() + dp.iter().filter(lost).count() == 0 {
            return None;
        }
        (0..dq.len()).find(|&j| !dq[j].is_finite() || !dp[j].is_finite())
    }

    /// q + Δq and p + Δp.
    pub(super) fn end(&self, state: &mut State<R>) {
        let [dq, dp] = self.changes();
        add_all(&mut state.q, &mut state.q_low, dq);
        add_all(&mut state.p, &mut state.p_low, dp);
    }
}

/// A kick and a drift with a diagonal mass matrix: one pass over memory, slices of one length, so that the compiler makes vector instructions
/// of it.
fn one_pass<R: Real>(
    [kick, drift]: [&R; 2],
    [force, reciprocals, start_q, start_p]: [&[R]; 4],
    dq: &mut [R],
    dp: &mut [R],
    q: &mut [R],
) {
    let n = q.len();
    let (dq, dp) = (&mut dq[..n], &mut dp[..n]);
    let (force, reciprocals) = (&force[..n], &reciprocals[..n]);
    let (start_q, start_p) = (&start_q[..n], &start_p[..n]);
    for j in 0..n {
        dp[j].add_mul(kick, &force[j]);
        let v = (start_p[j].clone() + dp[j].clone()) * reciprocals[j].clone();
        dq[j].add_mul(drift, &v);
        q[j] = start_q[j].clone() + dq[j].clone();
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
