//! The energy of a run: its error, and the energy scale of the motion that errors are compared with.
//!
//! The energy E is measured without its additive constant, so that a constant in the potential costs no digits. Where time occurs in L the energy
//! is not conserved, but E − W is, with the work W = −∫ ∂L/∂t dt that the stepper integrates with its own quadrature: errors are those of this balance.
//!
//! Errors are relative to the **energy scale** of the motion, the mean kinetic energy of its states: no constant in the potential and no rest energy
//! changes it. The papers' |E/E0 − 1| has a scale of its own. An error far above the energy scale means that a step has left the motion: a
//! failure ([`Cause::EnergyJump`]), but not within the rounding of the energy's terms.

use super::Moment;
use crate::error::Cause;
use crate::expr::Evaluator;
use crate::scalar::{Ledger, Real};
use crate::step::{State, Work, compensated_add};
use crate::system::{BareEnergy, Hamiltonian, Model, Problem, Velocities};
use std::sync::Arc;

/// An initial energy below this part of the kinetic energy counts as zero, where it cannot measure errors.
const NEGLIGIBLE: f64 = 1e-9;

/// A step that changes a conserved energy by more than so many times the energy of the motion has found another solution of its equations.
/// Steps that still show something of a motion change it by a few times that at most (`tests/trust.rs`).
const JUMP: f64 = 1000.0;
/// A motion whose energy is wrong by more than so many times its energy scale, at its start, on average and at the place where it is, has
/// been left: a body that fell into a centre flies away with a speed that nothing gave it. The steps before show in a warning.
const LEFT: f64 = 5.0;
/// A kinetic energy is that of the motion as long as the energy is wrong by no more than this part of it: an error may have added the rest.
const OF_THE_MOTION: f64 = 0.5;
/// One that is as wrong as this may have a potential that has lost its digits, within a formula or beside a large constant.
const WITHOUT_DIGITS: f64 = 1.01;
/// An energy may be wrong by so many units of rounding of its terms, which may cancel: 1 − cos q has no digits where q is small.
const ROUNDING: f64 = 64.0;

/// Measures the energy of states, and what its errors are to be compared with.
#[derive(Clone, Debug)]
pub struct EnergyMeter<R> {
    /// The short way from momenta, where there is one.
    hamiltonian: Option<Hamiltonian<R>>,
    /// The long way, by velocities.
    energy: BareEnergy<R>,
    velocities: Velocities<R>,
    v: Vec<R>,
    rest: Vec<R>,
    /// The energy at the start, without its constant, and the constant.
    initial: R,
    constant: R,
    /// The work of the explicit time dependence of L so far, and what its sum has lost to rounding.
    work: [R; 2],
    /// The step that was added to it last.
    worked: u64,
    work_of_step: Work<R>,
    /// The largest kinetic energy seen while the energy was right.
    kinetic: f64,
    motion: Motion,
    rounding: Rounding<R>,
}

/// The sizes of the terms of the energy at the start, which are computed only where they are asked for.
#[derive(Clone, Debug)]
struct Rounding<R> {
    model: Arc<Model>,
    evaluator: Option<Evaluator<R>>,
    parameters: Vec<R>,
    /// (q, v) and the time at the start.
    start: [Vec<R>; 2],
    t: R,
    sizes: Option<[f64; 2]>,
}

/// Kinetic energies of a motion, whatever the zero of its energy is.
#[derive(Clone, Copy, Debug, Default)]
struct Motion {
    /// The kinetic energy at the start.
    start: f64,
    /// The energy of the state before.
    last: f64,
    /// The largest energy that was kinetic. |E0| would not do but in linear systems: it is anything, with a constant in the potential.
    scale: f64,
    /// The kinetic energy at the start, or the rounding of the energy.
    base: f64,
    /// Kinetic energies added up over the states, and how many they were. The largest would not do: in a close approach it is as large as the step is
    /// unlucky.
    total: f64,
    seen: f64,
    /// Whether a step has been seen.
    moved: bool,
    /// Whether L is quadratic: there the stability of a method decides, and close to its limit energies are large and bounded.
    linear: bool,
}

impl Motion {
    /// Takes note of the energy after a step; the cause if it jumped, in which case nothing is noted.
    fn note(&mut self, initial: f64, energy: f64, kinetic: f64) -> Result<(), (f64, f64)> {
        let change = energy - initial;
        // what was potential at the start and is kinetic now, or the other way round
        let potential = (change - (kinetic - self.start)).abs();
        // from rest nothing is known before the first step
        let scale = if self.moved { self.scale } else { self.scale.max(kinetic.min(potential)) };
        // energies that cancel are rounding errors, velocities are not
        if scale > 0.0 && (energy - self.last).abs() > JUMP * scale && kinetic > JUMP * scale {
            return Err((self.last, scale));
        }
        if let Some(all) = self.left(change.abs().min(kinetic), potential) {
            return Err((self.last, all));
        }
        // what runs off step by step must not hide that it does; the first step may be all there is to go by
        let of_the_motion = change.abs() < OF_THE_MOTION * kinetic;
        let without_digits = !self.linear && change.abs() < WITHOUT_DIGITS * kinetic;
        let counts = of_the_motion || without_digits || !self.moved;
        let scale = if counts { self.scale.max(kinetic) } else { self.scale };
        if of_the_motion {
            (self.total, self.seen) = (self.total + kinetic, self.seen + 1.0);
        }
        (self.last, self.scale, self.moved) = (energy, scale, true);
        Ok(())
    }

    /// Takes no energy for wrong that is off by no more than this.
    #[cold]
    fn allow(&mut self, floor: f64) {
        (self.base, self.scale) = (self.base.max(floor), self.scale.max(floor));
    }

    /// The energy scale, if an energy that is so wrong has left the motion. Divisions are only for those that have.
    fn left(&self, wrong: f64, potential: f64) -> Option<f64> {
        let seen = self.seen.max(1.0);
        let far = wrong > LEFT * self.base && wrong > LEFT * potential && wrong * seen > LEFT * self.total;
        if self.linear || !far {
            return None;
        }
        let all = self.base.max(potential).max(self.total / seen);
        // from rest, with a potential that has no digits which change, nothing is known
        (all > 0.0).then_some(all)
    }
}

impl<R: Real> EnergyMeter<R> {
    /// A meter that starts at the initial state of a problem.
    pub fn new(problem: &Problem<R>) -> Self {
        let (model, parameters) = (&problem.system.model, &problem.parameters);
        // an elimination without exchanges of rows loses digits of others
        let definite = problem.indefinite().is_none();
        let hamiltonian = if definite { Hamiltonian::new(model, parameters) } else { None };
        let (energy, velocities) = match hamiltonian {
            Some(_) => {
                (BareEnergy::for_a_start(model, parameters), Velocities::for_a_start(model, parameters))
            }
            None => (BareEnergy::new(model, parameters), Velocities::new(model, parameters)),
        };
        let v = problem.v0.clone();
        let rounding = Rounding {
            model: model.clone(),
            evaluator: None,
            parameters: parameters.clone(),
            start: [problem.q0.clone(), v.clone()],
            t: problem.t0.clone(),
            sizes: None,
        };
        let rest = vec![R::zero(); v.len()];
        let mut made = Self {
            hamiltonian,
            energy,
            velocities,
            v,
            rest,
            initial: R::zero(),
            constant: R::zero(),
            work: [R::zero(), R::zero()],
            worked: 0,
            work_of_step: Work::new(problem),
            kinetic: 0.0,
            motion: Motion { linear: model.is_linear(), ..Motion::default() },
            rounding,
        };
        made.begin(&problem.t0, [&problem.q0, &problem.v0, &problem.p0]);
        made
    }

    /// Begins anew at a start (q, v, p) at time t, with other parameters if they are given.
    pub fn restart(&mut self, parameters: Option<&[R]>, t: &R, start: [&[R]; 3]) {
        if let Some(parameters) = parameters {
            if let Some(hamiltonian) = &mut self.hamiltonian {
                hamiltonian.assign(parameters);
            }
            self.energy.assign(parameters);
            self.velocities.assign(parameters);
            self.work_of_step.assign(parameters);
            self.rounding.parameters.clone_from_slice(parameters);
            if let Some(evaluator) = &mut self.rounding.evaluator {
                evaluator.assign(parameters);
            }
        }
        self.begin(t, start);
    }

    fn begin(&mut self, t: &R, [q, v, p]: [&[R]; 3]) {
        self.v.clone_from_slice(v);
        let rounding = &mut self.rounding;
        rounding.t = t.clone();
        rounding.sizes = None;
        rounding.start[0].clone_from_slice(q);
        rounding.start[1].clone_from_slice(v);
        (self.initial, self.kinetic) = match self.by_momenta(q, p, t) {
            Some(found) => found,
            None => self.by_velocities(q, p, t),
        };
        let [_, constant] = self.energy.at(q, &self.v, t);
        self.constant = constant;
        (self.work, self.worked) = ([R::zero(), R::zero()], 0);
        let (last, start, linear) = (self.initial.to_f64(), self.kinetic, self.motion.linear);
        // close to the limit of a method a linear system from rest has kinetic energies far below the errors, which stay bounded
        let scale = if linear { last.abs().max(start) } else { start };
        // rest is no part of an average
        let seen = if start > 0.0 { 1.0 } else { 0.0 };
        self.motion = Motion { start, last, scale, base: start, total: start, seen, moved: false, linear };
    }

    /// The energy of a state after a step, less the work since the start: equal to [`initial`](Self::initial) but for errors.
    pub fn measure(&mut self, moment: &Moment<'_, R>) -> Result<R, Cause> {
        let State { q, p, .. } = moment.state;
        let (energy, kinetic) = match self.by_momenta(q, p, &moment.t) {
            Some(found) => found,
            // by velocities, or at least to why there are none
            None => {
                self.velocities.velocities(q, p, &moment.t, &mut self.v)?;
                self.by_velocities(q, p, &moment.t)
            }
        };
        let energy = if self.work_of_step.is_done() { self.less_work(energy, moment) } else { energy };
        if energy.is_finite() && kinetic.is_finite() {
            return self.note(&energy, kinetic, moment.stepper.step_size().to_f64()).map(|()| energy);
        }
        let bad = |numbers: &[R]| numbers.iter().position(|x| !x.is_finite());
        let coordinate = bad(q).or_else(|| bad(p));
        Err(Cause::NotFinite { coordinate, step_size: moment.stepper.step_size().to_f64() })
    }

    /// Adds the work of the last step to the compensated sum, once, and takes all of it from an energy.
    fn less_work(&mut self, energy: R, moment: &Moment<'_, R>) -> R {
        let [work, low] = &mut self.work;
        if self.worked != moment.state.steps {
            compensated_add(work, low, self.work_of_step.of_step(moment.stepper));
            self.worked = moment.state.steps;
        }
        (energy - work.clone()) - low.clone()
    }

    /// The energy and the kinetic energy the short way, if that gives numbers.
    fn by_momenta(&mut self, q: &[R], p: &[R], t: &R) -> Option<(R, f64)> {
        let [energy, kinetic] = self.hamiltonian.as_mut()?.at(q, p, t);
        (energy.is_finite() && kinetic.is_finite()).then(|| (energy, kinetic.magnitude()))
    }

    /// The energy and the kinetic energy the long way: what is more than at rest, or |v·p|/2 where that cannot be.
    fn by_velocities(&mut self, q: &[R], p: &[R], t: &R) -> (R, f64) {
        let [energy, _] = self.energy.at(q, &self.v, t);
        let [at_rest, _] = self.energy.at(q, &self.rest, t);
        let kinetic = (energy.clone() - at_rest).magnitude();
        let product = || 0.5 * self.v.iter().zip(p).map(|(v, p)| v.to_f64() * p.to_f64()).sum::<f64>().abs();
        (energy, if kinetic.is_finite() { kinetic } else { product() })
    }

    /// The kinetic energy of a state (q, v, p).
    pub(crate) fn kinetic(&mut self, t: &R, [q, v, p]: [&[R]; 3]) -> f64 {
        self.v.clone_from_slice(v);
        self.by_momenta(q, p, t).unwrap_or_else(|| self.by_velocities(q, p, t)).1
    }

    /// Takes note of an energy, without its constant and the work done, and of a kinetic energy, unless the energy jumped.
    #[inline]
    pub(crate) fn note(&mut self, energy: &R, kinetic: f64, step_size: f64) -> Result<(), Cause> {
        let (initial, after) = (self.initial.to_f64(), energy.to_f64());
        if self.motion.note(initial, after, kinetic).is_err() {
            let [rounding, moving] = self.rounding.sizes();
            // steps may see a motion only where it rests: at its turning points, if there are one or two of them to a period
            self.motion.allow(moving.max(rounding));
            let jump = |(before, scale)| {
                let constant = self.constant.to_f64();
                let [initial, before, after] = [initial, before, after].map(|energy| energy + constant);
                Cause::EnergyJump { initial, before, after, scale, step_size }
            };
            self.motion.note(initial, after, kinetic).map_err(jump)?;
        }
        // the kinetic energy of a run that blows up must not hide that it does
        let error = (energy.clone() - self.initial.clone()).magnitude();
        if error < 0.1 * kinetic {
            self.kinetic = self.kinetic.max(kinetic);
        }
        Ok(())
    }

    /// Writes or reads what it has seen.
    pub(super) fn exchange(&mut self, ledger: &mut Ledger) {
        ledger.numbers(&mut self.v);
        ledger.number(&mut self.kinetic);
        ledger.numbers(&mut self.work);
        ledger.whole(&mut self.worked);
        let Motion { last, scale, base, total, seen, moved, .. } = &mut self.motion;
        for number in [last, scale, base, total, seen] {
            ledger.number(number);
        }
        ledger.flag(moved);
    }

    /// The short way from momenta, where there is one.
    pub(super) fn hamiltonian(&self) -> Option<&Hamiltonian<R>> {
        self.hamiltonian.as_ref()
    }

    /// The initial energy without its additive constant: what measured energies are compared with.
    pub fn initial(&self) -> &R {
        &self.initial
    }

    /// The additive constant of the energy.
    pub fn constant(&self) -> &R {
        &self.constant
    }

    /// The work of the explicit time dependence of L since the start.
    pub fn work(&self) -> R {
        self.work[0].clone() + self.work[1].clone()
    }

    /// The papers' unit of errors: |E0|; or, if E0 is as good as zero, the largest kinetic energy so far; or 1.
    pub fn scale(&self) -> f64 {
        let initial = (self.initial.clone() + self.constant.clone()).magnitude();
        if initial > NEGLIGIBLE * self.kinetic {
            initial
        } else if self.kinetic > 0.0 {
            self.kinetic
        } else {
            1.0
        }
    }

    /// The energy scale of the motion: the mean kinetic energy of its states so far; of a body at rest |E0|, or 1.
    pub fn energy_scale(&self) -> f64 {
        let Motion { total, seen, .. } = self.motion;
        let choices = [total / seen, self.kinetic, self.initial.magnitude()];
        choices.into_iter().find(|scale| *scale > 0.0).unwrap_or(1.0)
    }

    /// What rounding of the energy's terms may be of the energy scale: a small motion beside large terms has an energy without digits. Rounding
    /// errors add up like a random walk.
    pub fn rounding(&mut self) -> f64 {
        let growth = (1.0 + self.motion.seen / (ROUNDING * ROUNDING)).sqrt();
        let [rounding, _] = self.rounding.sizes();
        growth * rounding / self.energy_scale()
    }

    /// The energy with its constant and the work done, of an energy that was measured.
    pub fn total(&self, measured: &R) -> R {
        measured.clone() + self.work() + self.constant.clone()
    }
}

impl<R: Real> Rounding<R> {
    /// How much rounding may change the energy, and the size of its terms that are not the same in all states, both at the start.
    #[cold]
    fn sizes(&mut self) -> [f64; 2] {
        let Self { model, evaluator, parameters, start: [q, v], t, sizes } = self;
        *sizes.get_or_insert_with(|| {
            let evaluator =
                evaluator.get_or_insert_with(|| Evaluator::new(model.energy_sizes_tape(), parameters));
            let mut out = [R::zero(), R::zero()];
            evaluator.evaluate(q, v, t, &mut out);
            let [size, moving] = out.map(|x| x.magnitude());
            [ROUNDING * f64::EPSILON * size, moving]
        })
    }
}
