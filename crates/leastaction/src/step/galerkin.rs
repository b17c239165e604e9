//! The one stepper of all variational methods.
//!
//! Unknowns are the increments Z_k = Q_k − q, k = 1 … s. Newton's method solves
//!
//! ```text
//! G_0 = −p,  G_1 = … = G_{s−1} = 0      with  G_k = Σ_i b_i [ h φ_k(d_i) L_q(i) + φ'_k(d_i) L_v(i) ]
//! ```
//!
//! and then q⁺ = q + Z_s, p⁺ = p + h Σ_i b_i L_q(i): the sum of all G_k, which leaves the momentum of a cyclic coordinate
//! untouched to the last bit and does not inherit the residual of the iteration. The matrix is computed at the first
//! correction of a step and again whenever the corrections shrink too slowly. With many digits `coarse` provides the first
//! matrix and a better guess.

use super::coarse::Coarse;
use super::convergence::{Convergence, Verdict};
use super::jacobian::Jacobian;
use super::sweeps::{Guess, Parts, Sweeper};
use super::whole::Whole;
use super::work::Point;
use super::{State, Weights, compensated_add};
use crate::error::Cause;
use crate::method::{Galerkin, Tableau};
use crate::scalar::{Ledger, Real};
use crate::system::{Gradient, Hessian, Problem, Velocities};

/// A correction that is more than this part of the one before is a sign of a bad guess.
const STEADY: f64 = 0.5;
/// More corrections than this in one step are a failure.
const MAX_CORRECTIONS: u32 = 50;

#[derive(Clone, Debug)]
pub(super) struct GalerkinStepper<R> {
    n: usize,
    h: R,
    tableau: Tableau<R>,
    gradient: Gradient<R>,
    hessian: Hessian<R>,
    velocities: Velocities<R>,
    pub(super) jacobian: Jacobian<R>,
    /// The step as one tape where there are few unknowns, tried first.
    pub(super) whole: Option<Box<Whole>>,
    /// A way without second derivatives, tried next.
    pub(super) sweeper: Option<Box<Sweeper>>,
    /// Whether the last step was found by it.
    pub(super) swept: bool,
    /// How many sweeps were made in this step, and whether they converged.
    solved: Option<(u32, bool)>,
    /// The same equations in f64, for numbers with more digits.
    coarse: Option<Box<Coarse>>,
    /// How often the matrix was computed in the present step.
    pub(super) renewals: u32,
    /// Z_k of the present step, node by node.
    pub(super) z: Vec<R>,
    /// Z_k of the step before, to continue its polynomial; `continuable` says whether there was one.
    z_before: Vec<R>,
    continuable: bool,
    /// q at the start of the step.
    pub(super) start: Vec<R>,
    convergence: Convergence,
    /// Corrections of the present step.
    corrections: u32,
    /// Evaluations of the derivatives of L, since the stepper was made.
    pub(super) evaluations: u64,
    /// Right-hand side and solution of the linear system, in matrix order.
    correction: Vec<R>,
    /// h Σ_i b_i L_q(i)
    impulse: Vec<R>,
    stage_q: Vec<R>,
    stage_v: Vec<R>,
}

impl<R: Real> GalerkinStepper<R> {
    pub(super) fn new(problem: &Problem<R>, galerkin: &Galerkin, h: R) -> Self {
        let model = &problem.system.model;
        let tableau = Tableau::new(galerkin);
        let (n, s) = (model.n, tableau.degree);
        let zeros = |count: usize| vec![R::zero(); count];
        Self {
            n,
            gradient: Gradient::new(model, &problem.parameters),
            hessian: Hessian::new(model, &problem.parameters),
            velocities: Velocities::new(model, &problem.parameters),
            jacobian: Jacobian::new(problem, &tableau, &h),
            whole: None,
            sweeper: None,
            swept: false,
            solved: None,
            coarse: R::REFINES_F64.then(|| Box::new(Coarse::new(problem, galerkin, &h))),
            renewals: 0,
            z: zeros(n * s),
            z_before: zeros(n * s),
            continuable: false,
            start: zeros(n),
            convergence: Convergence::new(&model.structure, n * s, R::epsilon()),
            corrections: 0,
            evaluations: 0,
            correction: zeros(n * s),
            impulse: zeros(n),
            stage_q: zeros(n),
            stage_v: problem.v0.clone(),
            h,
            tableau,
        }
    }

    /// The same with sweeps tried first, where they solve the equations.
    pub(super) fn with_sweeps(self, problem: &Problem<R>, galerkin: &Galerkin) -> Self {
        let sweeper = Sweeper::new(problem, galerkin, &self.h).map(Box::new);
        // a motion without its cyclic coordinates is cheaper still
        let whole = sweeper.as_ref().filter(|sweeper| !sweeper.is_reduced()).and_then(|_| {
            let tableau = Tableau::new(galerkin);
            Whole::new(problem, &tableau, self.h.to_f64()).map(Box::new)
        });
        Self { whole, sweeper, ..self }
    }

    /// Begins anew at a start with these velocities, and with other parameters if they are given.
    pub(super) fn restart(&mut self, parameters: Option<&[R]>, v: &[R]) {
        if let Some(parameters) = parameters {
            self.gradient.assign(parameters);
            self.hessian.assign(parameters);
            self.velocities.assign(parameters);
            if let (Some(sweeper), Some(parameters)) = (&mut self.sweeper, R::as_f64s(parameters)) {
                sweeper.assign(parameters);
            }
            if let (Some(whole), Some(parameters)) = (&mut self.whole, R::as_f64s(parameters)) {
                whole.assign(parameters);
            }
            if let Some(coarse) = &mut self.coarse {
                coarse.assign(parameters);
            }
        }
        // where velocities are solved for, the last ones are the guess
        self.stage_v.clone_from_slice(v);
        (self.continuable, self.swept) = (false, false);
        if let Some(whole) = &mut self.whole {
            whole.forget();
        }
    }

    /// Changes the step size. The polynomial of the step before belongs to another size and is forgotten.
    pub(super) fn resize(&mut self, h: &R) {
        self.h = h.clone();
        self.jacobian.resize();
        if let Some(sweeper) = &mut self.sweeper {
            sweeper.resize(h.to_f64());
        }
        if let Some(whole) = &mut self.whole {
            whole.resize(h.to_f64());
        }
        if let Some(coarse) = &mut self.coarse {
            coarse.resize(h.to_f64());
        }
        self.continuable = false;
    }

    /// See [`super::Stepper::exchange`].
    pub(super) fn exchange(&mut self, ledger: &mut Ledger) {
        ledger.flag(&mut self.swept);
        ledger.flag(&mut self.continuable);
        ledger.numbers(&mut self.z);
        ledger.numbers(&mut self.stage_v);
        if let Some(sweeper) = &mut self.sweeper {
            sweeper.exchange(ledger);
        }
        if let Some(whole) = &mut self.whole {
            whole.exchange(ledger);
        }
    }

    /// See [`super::Stepper::tolerate`].
    pub(super) fn leave(&mut self, missing: f64) {
        if let Some(sweeper) = &mut self.sweeper {
            sweeper.leave(missing);
        }
        if let Some(whole) = &mut self.whole {
            whole.leave(missing);
        }
    }

    /// Goes to where the sweeps of a step begin, with a guess. Whether there are any.
    fn begin_sweeps(&mut self, state: &mut State<R>, t: &R, guess: Guess) -> bool {
        self.solved = None;
        let velocities = &mut self.velocities;
        if self.sweeper.is_none()
            || guess == Guess::Uniform
                && velocities.velocities(&state.q, &state.p, t, &mut self.stage_v).is_err()
        {
            return false;
        }
        let (Some(sweeper), Some(parts), Some(v)) =
            (&mut self.sweeper, Parts::of(state), R::as_f64s(&self.stage_v))
        else {
            return false;
        };
        sweeper.begin(&parts, t.to_f64(), guess, v);
        true
    }

    /// Sweeps.
    fn sweep(&mut self) {
        self.solved = self.sweeper.as_mut().map(|sweeper| sweeper.solve());
    }

    /// Takes a step: as one tape, if there are few unknowns and that solves it, and else by sweeps or Newton's method.
    pub(super) fn step(&mut self, state: &mut State<R>, t: &R) -> Result<u32, Cause> {
        self.start.clone_from_slice(&state.q);
        self.restart_counts();
        if self.step_whole(state, t) {
            return Ok(self.corrections);
        }
        let result = self.step_by_iteration(state, t);
        self.tell_whole(result.is_ok());
        result
    }

    /// Takes a step as one tape; if that does not solve it, goes to where sweeps continue the step before.
    fn step_whole(&mut self, state: &mut State<R>, t: &R) -> bool {
        let (Some(whole), Some(mut parts), Some(z)) =
            (&mut self.whole, Parts::of(state), R::as_f64s_mut(&mut self.z))
        else {
            return false;
        };
        if whole.is_ready() {
            let (corrections, solved) = whole.solve(&parts, t.to_f64());
            self.evaluations += u64::from(corrections) * self.tableau.d.len() as u64;
            if solved {
                whole.update(&mut parts);
                z.copy_from_slice(whole.increments());
                whole.remember(z);
                self.corrections = corrections;
                (self.swept, self.continuable) = (false, true);
                return true;
            }
        }
        if std::mem::replace(&mut whole.took_last, false)
            && let Some(sweeper) = &mut self.sweeper
        {
            let (n, h) = (self.n, self.h.to_f64());
            // v_i = (1/h) Σ_k φ'_k(d_i) Z_k
            sweeper.recall(|i, j| {
                let slopes = self.tableau.slope[i].iter().skip(1).map(R::to_f64);
                let own = z[j..].iter().step_by(n);
                slopes.zip(own).map(|(slope, z)| slope * z).sum::<f64>() / h
            });
            self.swept = true;
        }
        false
    }

    /// Lets the tape of whole steps know of a step that it did not take.
    fn tell_whole(&mut self, taken: bool) {
        if self.whole.is_none() {
            return;
        }
        for k in 0..self.tableau.degree {
            for j in 0..self.n {
                self.z_before[k * self.n + j] = self.increment(k, j);
            }
        }
        match (&mut self.whole, R::as_f64s(&self.z_before)) {
            (Some(whole), Some(z)) if taken => whole.remember(z),
            (Some(whole), _) => whole.forget(),
            _ => {}
        }
    }

    /// Takes a step by sweeps, if they converge, and else by Newton's method.
    fn step_by_iteration(&mut self, state: &mut State<R>, t: &R) -> Result<u32, Cause> {
        let continued = self.continuable && self.swept;
        if self.begin_sweeps(state, t, if continued { Guess::Continued } else { Guess::Uniform }) {
            self.sweep();
        }
        if self.update_by_sweeps(state) {
            return Ok(self.corrections);
        }
        if continued && self.solved.is_some() && self.sweep_again(state, t) {
            return Ok(self.corrections);
        }
        let mut solved = false;
        if self.continuable {
            self.continue_polynomial();
            // a polynomial continued too far is a bad guess, not yet a failure
            solved = self.solve(state, t).is_ok() && self.was_steady();
        }
        if !solved {
            self.guess_uniform(state, t)?;
            self.solve(state, t)?;
        }
        self.update(state);
        Ok(self.corrections)
    }

    /// Sweeps that continue the step before have failed: tries a uniform motion, and then once more with patience where that was lacking.
    fn sweep_again(&mut self, state: &mut State<R>, t: &R) -> bool {
        let hopeless = self.sweeper.as_ref().is_some_and(|sweeper| sweeper.course.was_hopeless());
        for guess in [Guess::Uniform, Guess::Patient] {
            if (guess == Guess::Uniform || hopeless) && self.begin_sweeps(state, t, guess) {
                self.sweep();
                if self.update_by_sweeps(state) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether corrections shrank all the way. The equations have many solutions, and corrections that hardly shrink may lead to one that has nothing to
    /// do with the motion.
    ///
    /// Where no sweeps were tried first, steps are taken that are much too large for them, and corrections may well shrink slowly.
    fn was_steady(&self) -> bool {
        self.sweeper.is_none() || self.convergence.contraction().is_none_or(|ratio| ratio <= STEADY)
    }

    /// Takes the step by the sweeps that were made, if they converged.
    fn update_by_sweeps(&mut self, state: &mut State<R>) -> bool {
        let continued = self.continuable && self.swept;
        let (Some((sweeps, converged)), Some(sweeper), Some(mut parts)) =
            (self.solved, &mut self.sweeper, Parts::of(state))
        else {
            return false;
        };
        self.evaluations += u64::from(sweeps) * sweeper.points() as u64;
        let converged = converged && sweeper.update(&mut parts);
        if converged {
            self.corrections = sweeps;
            (self.swept, self.continuable) = (true, true);
        } else if std::mem::replace(&mut self.swept, false) && continued {
            // Newton's method continues the polynomial as well
            for k in 0..self.tableau.degree {
                for j in 0..self.n {
                    self.z[k * self.n + j] = R::from_f64(sweeper.increment_before(k, j));
                }
            }
        }
        converged
    }

    /// Z_{k+1} of coordinate j.
    fn increment(&self, k: usize, j: usize) -> R {
        match &self.sweeper {
            Some(sweeper) if self.swept => R::from_f64(sweeper.increment(k, j)),
            _ => self.z[k * self.n + j].clone(),
        }
    }

    /// Counts corrections and matrices from zero.
    pub(super) fn restart_counts(&mut self) {
        (self.corrections, self.renewals) = (0, 0);
    }

    /// Z_k = Q_before(1 + c_k) − Q_before(1)
    fn continue_polynomial(&mut self) {
        let (n, s) = (self.n, self.tableau.degree);
        self.z_before.clone_from_slice(&self.z);
        for k in 1..=s {
            let ahead = &self.tableau.ahead[k - 1];
            for i in 0..n {
                let mut sum = -self.z_before[(s - 1) * n + i].clone();
                for l in 1..=s {
                    sum.add_mul(&ahead[l], &self.z_before[(l - 1) * n + i]);
                }
                self.z[(k - 1) * n + i] = sum;
            }
        }
    }

    /// Z_k = c_k h v with v from p
    fn guess_uniform(&mut self, state: &State<R>, t: &R) -> Result<(), Cause> {
        self.velocities.velocities(&state.q, &state.p, t, &mut self.stage_v)?;
        for k in 1..=self.tableau.degree {
            let ch = self.tableau.c[k].clone() * self.h.clone();
            for i in 0..self.n {
                self.z[(k - 1) * self.n + i] = ch.clone() * self.stage_v[i].clone();
            }
        }
        Ok(())
    }

    /// One more correction, with the matrix of the solution: it is nothing for the numbers and everything for their derivatives.
    fn settle_derivatives(&mut self, state: &State<R>, t: &R) -> Result<(), Cause> {
        self.find_correction(state, t, true, false)?;
        self.correct();
        self.residual(state, t, false)
    }

    /// Newton's method, until the corrections no longer shrink.
    pub(super) fn solve(&mut self, state: &State<R>, t: &R) -> Result<(), Cause> {
        let mut coarse = self.coarse.as_mut().is_some_and(|coarse| coarse.solve(state, t, &mut self.z));
        let (z, n) = (&self.z, self.n);
        self.convergence.start(|i| (state.q[i].magnitude(), reach(z, n, i)));
        let mut renew = !coarse;
        for iteration in 1..=MAX_CORRECTIONS {
            self.corrections += 1;
            let before = coarse;
            coarse = self.find_correction(state, t, renew, coarse && !renew)?;
            match self.judge(iteration)? {
                Verdict::Done | Verdict::DoneAfter if R::HAS_DERIVATIVES => {
                    self.correct();
                    return self.settle_derivatives(state, t);
                }
                // the increments and the impulse stay as they were evaluated
                Verdict::Done => return Ok(()),
                Verdict::DoneAfter => {
                    self.correct();
                    return self.residual(state, t, false);
                }
                // how fast the coarse matrix was says nothing about the first own one
                Verdict::Continue { renew: wanted } => renew = wanted && coarse == before,
            }
            self.correct();
        }
        let (coordinate, correction) = self.convergence.worst();
        let tolerance = self.convergence.tolerance;
        if correction <= tolerance {
            // within rounding, only not steady
            return self.residual(state, t, false);
        }
        let step_size = self.h.to_f64();
        Err(Cause::NotConverged { iterations: MAX_CORRECTIONS, coordinate, correction, tolerance, step_size })
    }

    /// The correction from the residual: by the coarse matrix while it serves, which is returned, or else by the own one.
    fn find_correction(&mut self, state: &State<R>, t: &R, renew: bool, coarse: bool) -> Result<bool, Cause> {
        self.residual(state, t, renew)?;
        if coarse {
            if self.coarse.as_mut().is_some_and(|coarse| coarse.correction(&mut self.correction)) {
                return Ok(true);
            }
            self.residual(state, t, true)?;
        }
        self.jacobian.matrix.solve(&mut self.correction);
        Ok(false)
    }

    /// What to do with the correction.
    fn judge(&mut self, iteration: u32) -> Result<Verdict, Cause> {
        if let Some(index) = self.correction.iter().position(|delta| !delta.is_finite()) {
            let coordinate = Some(self.jacobian.coordinate(index));
            return Err(Cause::NotFinite { coordinate, step_size: self.h.to_f64() });
        }
        let (z, n, s) = (&self.z, self.n, self.tableau.degree);
        let (correction, position) = (&self.correction, &self.jacobian.position);
        Ok(self.convergence.judge(iteration, |i| {
            let own = &correction[position[i] * s..(position[i] + 1) * s];
            (own.iter().map(R::magnitude).fold(0.0, f64::max), reach(z, n, i))
        }))
    }

    /// Evaluates −G_k − p [k = 0] into `correction` and the impulse h Σ b L_q; if `renew`, also the matrix, factored.
    pub(super) fn residual(&mut self, state: &State<R>, t: &R, renew: bool) -> Result<(), Cause> {
        let (n, s) = (self.n, self.tableau.degree);
        self.correction.fill(R::zero());
        self.impulse.fill(R::zero());
        self.evaluations += self.tableau.b.len() as u64;
        if renew {
            self.renewals += 1;
            self.jacobian.begin(&self.tableau, &self.h);
        }
        for i in 0..self.tableau.b.len() {
            self.stage(state, i);
            let mut time = t.clone();
            time.add_mul(&self.tableau.d[i], &self.h);
            let (l_q, l_v) = if renew {
                let d = self.hessian.at(&self.stage_q, &self.stage_v, &time);
                self.jacobian.add(i, d.l_qq, d.l_qv, d.l_vv);
                (d.l_q, d.l_v)
            } else {
                self.gradient.at(&self.stage_q, &self.stage_v, &time)
            };
            let b = &self.tableau.b[i];
            let bh = b.clone() * self.h.clone();
            for j in 0..n {
                self.impulse[j].add_mul(&bh, &l_q[j]);
            }
            // −b_i [ h φ_k L_q + φ'_k L_v ]
            for k in 0..s {
                let from_q = bh.clone() * self.tableau.phi[i][k].clone();
                let from_v = b.clone() * self.tableau.slope[i][k].clone();
                for j in 0..n {
                    let row = &mut self.correction[self.jacobian.position[j] * s + k];
                    row.sub_mul(&from_q, &l_q[j]);
                    row.sub_mul(&from_v, &l_v[j]);
                }
            }
        }
        for j in 0..n {
            let row = &mut self.correction[self.jacobian.position[j] * s];
            *row = row.clone() - (state.p[j].clone() + state.p_low[j].clone());
        }
        if let Some(index) = self.correction.iter().position(|x| !x.is_finite()) {
            let coordinate = Some(self.jacobian.coordinate(index));
            return Err(Cause::NotFinite { coordinate, step_size: self.h.to_f64() });
        }
        if renew {
            self.jacobian.matrix.factor().map_err(|singular| Cause::SingularStep {
                coordinate: self.jacobian.coordinate(singular.column),
                step_size: self.h.to_f64(),
            })?;
        }
        Ok(())
    }

    /// q_i = q + Σ_k φ_k(d_i) Z_k,  v_i = (1/h) Σ_k φ'_k(d_i) Z_k
    fn stage(&mut self, state: &State<R>, i: usize) {
        let n = self.n;
        let (phi, slope) = (&self.tableau.phi[i], &self.tableau.slope[i]);
        for j in 0..n {
            let (mut position, mut velocity) = (state.q_low[j].clone(), R::zero());
            for k in 1..=self.tableau.degree {
                let z = &self.z[(k - 1) * n + j];
                position.add_mul(&phi[k], z);
                velocity.add_mul(&slope[k], z);
            }
            self.stage_q[j] = state.q[j].clone() + position;
            self.stage_v[j] = velocity / self.h.clone();
        }
    }

    /// Adds the correction to the unknowns.
    fn correct(&mut self) {
        let (n, s) = (self.n, self.tableau.degree);
        for j in 0..n {
            for k in 0..s {
                let z = &mut self.z[k * n + j];
                *z = z.clone() + self.correction[self.jacobian.position[j] * s + k].clone();
            }
        }
    }

    /// q⁺ = q + Z_s,  p⁺ = p + h Σ b L_q
    fn update(&mut self, state: &mut State<R>) {
        let last = (self.tableau.degree - 1) * self.n;
        for j in 0..self.n {
            compensated_add(&mut state.q[j], &mut state.q_low[j], self.z[last + j].clone());
            compensated_add(&mut state.p[j], &mut state.p_low[j], self.impulse[j].clone());
        }
        self.continuable = true;
    }

    /// How much smaller each correction of the last step was than the one before, at worst.
    pub(super) fn contraction(&self) -> Option<f64> {
        match (&self.whole, &self.sweeper) {
            (Some(whole), _) if whole.took_last => whole.contraction(),
            (_, Some(sweeper)) if self.swept => sweeper.contraction(),
            _ => self.convergence.contraction(),
        }
    }

    /// How many points the quadrature has.
    pub(super) fn points(&self) -> usize {
        self.tableau.b.len()
    }

    /// q_i and v_i at a point of the quadrature of the last step.
    pub(super) fn point(&self, i: usize, q: &mut [R], v: &mut [R]) -> Point<R> {
        let (n, phi, slope) = (self.n, &self.tableau.phi[i], &self.tableau.slope[i]);
        match (&self.sweeper, R::as_f64s(&self.start), R::as_f64s_mut(q), R::as_f64s_mut(v)) {
            (Some(sweeper), Some(start), Some(q), Some(v)) if self.swept => sweeper.point(i, start, q, v),
            _ => {
                for j in 0..n {
                    let (mut position, mut velocity) = (R::zero(), R::zero());
                    for k in 1..=self.tableau.degree {
                        let z = &self.z[(k - 1) * n + j];
                        position.add_mul(&phi[k], z);
                        velocity.add_mul(&slope[k], z);
                    }
                    q[j] = self.start[j].clone() + position;
                    v[j] = velocity / self.h.clone();
                }
            }
        }
        Point { weight: self.tableau.b[i].clone(), fraction: self.tableau.d[i].clone() }
    }

    pub(super) fn weights(&self, fraction: &R) -> Weights<R> {
        let slope = self.tableau.slope_at(fraction).into_iter().map(|x| x / self.h.clone()).collect();
        Weights { value: self.tableau.basis_at(fraction), slope }
    }

    /// The degree of the polynomial.
    pub(super) fn degree(&self) -> usize {
        self.tableau.degree
    }

    /// The start of the last step, and the increments Z_1 … Z_s.
    pub(super) fn increments(&self, start: &mut [R], increments: &mut [R]) {
        start.clone_from_slice(&self.start);
        for (k, row) in increments.chunks_mut(self.n.max(1)).enumerate() {
            row.iter_mut().enumerate().for_each(|(j, z)| *z = self.increment(k, j));
        }
    }

    /// q + Σ_k φ_k Z_k and (1/h) Σ_k φ'_k Z_k
    pub(super) fn within(&self, weights: &Weights<R>, q: &mut [R], v: &mut [R]) {
        for j in 0..self.n {
            let (mut position, mut velocity) = (R::zero(), R::zero());
            for k in 1..=self.tableau.degree {
                let z = self.increment(k - 1, j);
                position.add_mul(&weights.value[k], &z);
                velocity.add_mul(&weights.slope[k], &z);
            }
            q[j] = self.start[j].clone() + position;
            v[j] = velocity;
        }
    }
}

/// The largest increment of a coordinate.
fn reach<R: Real>(z: &[R], n: usize, i: usize) -> f64 {
    z[i..].iter().step_by(n).map(R::magnitude).fold(0.0, f64::max)
}
