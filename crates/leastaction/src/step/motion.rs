//! The numbers of a splitting step and how kicks and drifts change them.
//!
//! q and p stay as they are at the start of the step, Δq and Δp are what kicks and drifts have changed, and Q = q + Δq is where forces are
//! evaluated. With a diagonal mass matrix a stage is one pass over memory, as machine code together with the forces if there is any.

use super::{State, compensated_add};
use crate::expr::{Aligned, Stage, Staging, widely};
use crate::scalar::Real;
use crate::system::{ConstantMass, Forces};

/// Fewer coordinates fill no register.
const FEWEST: usize = 4;

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

    /// Whether Q is at the start of a step.
    pub(super) fn is_at(&self, q: &[R]) -> bool {
        // counted, because that needs no branch
        on_lists(self.staging.n, || self.q().iter().zip(q).filter(|(a, b)| a != b).count() == 0)
    }

    /// q, p and what was lost of both before.
    pub(super) fn begin(&mut self, state: &State<R>, at_rest: &[R]) {
        let n = self.staging.n;
        let Lists { q, p, dq, dp, .. } = self.lists();
        on_lists(n, || {
            q.clone_from_slice(&state.q);
            dq.clone_from_slice(&state.q_low);
            dp.clone_from_slice(&state.p_low);
            for ((start, p), at_rest) in p.iter_mut().zip(&state.p).zip(at_rest) {
                *start = p.clone() - at_rest.clone();
            }
        });
    }

    /// The parts of the arrays.
    #[inline(always)]
    fn lists(&mut self) -> Lists<'_, R> {
        let n = self.staging.n;
        let [_, _, p_at, masses_at] = self.staging.fixed();
        let (q, rest) = self.fixed.split_at_mut(p_at);
        let (p, reciprocals) = rest.split_at_mut(masses_at - p_at);
        let (dq, dp) = self.changes.split_at_mut(self.staging.changes()[2]);
        Lists {
            q: &mut q[..n],
            p: &mut p[..n],
            reciprocals: &reciprocals[..n],
            dq: &mut dq[..n],
            dp: &mut dp[..n],
            stage: &mut self.stage[0],
        }
    }

    /// Δp += kick F(Q),  Δq += drift M⁻¹(p + Δp),  Q = q + Δq in one pass; `false` if there is no machine code for it.
    pub(super) fn advance(&mut self, forces: &mut Forces<R>, sizes: &[R; 2], t: &R) -> bool {
        if !forces.have_stages() {
            return false;
        }
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
        let lists = self.lists();
        if mass.reciprocals().is_some() {
            return on_lists(n, || one_pass([kick, drift], force, lists));
        }
        let Lists { q, p, dq, dp, stage, .. } = lists;
        for j in 0..q.len() {
            dp[j].add_mul(kick, &force[j]);
            stage[j] = p[j].clone() + dp[j].clone();
        }
        mass.solve(stage);
        for j in 0..q.len() {
            dq[j].add_mul(drift, &stage[j]);
            stage[j] = q[j].clone() + dq[j].clone();
        }
    }

    /// Δp += kick F; a coordinate that is lost, if there is one: its change is not finite.
    pub(super) fn last_kick(&mut self, kick: &R, force: &[R]) -> Option<usize> {
        let n = self.staging.n;
        let Lists { dq, dp, .. } = self.lists();
        // counted, because that needs no branch
        if on_lists(n, || kick_and_count(kick, force, dq, dp)) == 0 {
            return None;
        }
        (0..dq.len()).find(|&j| !dq[j].is_finite() || !dp[j].is_finite())
    }

    /// q + Δq and p + Δp.
    pub(super) fn end(&self, state: &mut State<R>) {
        let [dq, dp] = self.changes();
        on_lists(self.staging.n, || {
            add_all(&mut state.q, &mut state.q_low, dq);
            add_all(&mut state.p, &mut state.p_low, dp);
        });
    }
}

/// Does some work on lists of n numbers, in wide registers if they fill some.
#[inline]
fn on_lists<T>(n: usize, work: impl FnOnce() -> T) -> T {
    if n < FEWEST { work() } else { widely(work) }
}

/// Parts of a motion, all of one length.
struct Lists<'a, R> {
    q: &'a mut [R],
    p: &'a mut [R],
    reciprocals: &'a [R],
    dq: &'a mut [R],
    dp: &'a mut [R],
    stage: &'a mut [R],
}

// Slices of one length, and inlined, so that the compiler makes vector instructions of loops.

/// A kick and a drift with a diagonal mass matrix.
#[inline(always)]
fn one_pass<R: Real>([kick, drift]: [&R; 2], force: &[R], lists: Lists<'_, R>) {
    let Lists { q, p, reciprocals, dq, dp, stage } = lists;
    let n = stage.len();
    let (q, p, reciprocals, dq, dp) = (&q[..n], &p[..n], &reciprocals[..n], &mut dq[..n], &mut dp[..n]);
    let force = &force[..n];
    for j in 0..n {
        dp[j].add_mul(kick, &force[j]);
        let v = (p[j].clone() + dp[j].clone()) * reciprocals[j].clone();
        dq[j].add_mul(drift, &v);
        stage[j] = q[j].clone() + dq[j].clone();
    }
}

/// A kick, and how many changes are not finite.
#[inline(always)]
fn kick_and_count<R: Real>(kick: &R, force: &[R], dq: &[R], dp: &mut [R]) -> usize {
    let n = dp.len();
    let (force, dq) = (&force[..n], &dq[..n]);
    let mut lost = 0;
    for j in 0..n {
        dp[j].add_mul(kick, &force[j]);
        lost += usize::from(!dp[j].is_finite()) + usize::from(!dq[j].is_finite());
    }
    lost
}

/// x += change, with the rounding errors of the sums in `low`; what was there before is part of the changes.
#[inline(always)]
fn add_all<R: Real>(x: &mut [R], low: &mut [R], changes: &[R]) {
    let n = changes.len();
    let (x, low) = (&mut x[..n], &mut low[..n]);
    for j in 0..n {
        low[j] = R::zero();
        compensated_add(&mut x[j], &mut low[j], changes[j].clone());
    }
}

#[cfg(test)]
mod tests {
    use crate::method::Method;
    use crate::scalar::Scalar;
    use crate::step::{State, Stepper};
    use crate::system::{Settings, System};

    #[test]
    fn a_restart_with_other_masses_is_a_new_start() {
        let system = System::build("pair", "Pair")
            .coordinates(["x", "y"].map(str::to_owned), "")
            .parameter("m", "1", "", "mass")
            .start_at_rest([0.3, -0.2])
            .lagrangian(|q, v, _, p| {
                p["m"] * (v[0].squared() + 2.0 * v[1].squared()) - (q[0] - q[1]).powi(4) - q[0].squared()
            })
            .unwrap();
        let problem = system.problem(&Settings::default()).unwrap();
        let method = Method::named("split6").unwrap();
        let end = |mut stepper: Stepper<f64>| {
            let mut state = State::new(&problem);
            (0..5).for_each(|_| assert!(stepper.step(&mut state).is_ok()));
            state
        };
        let other = crate::system::Problem { parameters: vec![3.0], ..problem.clone() };
        let mut restarted = Stepper::new(&problem, &method, 0.1);
        restarted.restart(Some(&[3.0]), &problem.v0);
        assert_eq!(end(restarted), end(Stepper::new(&other, &method, 0.1)));
        assert_ne!(end(Stepper::new(&problem, &method, 0.1)), end(Stepper::new(&other, &method, 0.1)));
    }
}
