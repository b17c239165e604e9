//! Watching what should be conserved: the energy, the momenta of cyclic coordinates, and what linear symmetries conserve.

use super::{Moment, Observer};
use crate::error::Cause;
use crate::scalar::{Ledger, Real};
use crate::step::State;
use crate::system::{Energy, Hamiltonian, Model, Momentum, Problem, Sum, Velocities};
use std::ops::ControlFlow;
use std::sync::Arc;

/// An initial energy below this part of the kinetic energy counts as zero, where it cannot measure errors.
const NEGLIGIBLE: f64 = 1e-9;

/// A step that changes a conserved energy by more than so many times the energy of the motion has found another solution of its equations.
/// Steps that still show something of a motion change it by a few times that at most (`tests/trust.rs`).
const JUMP: f64 = 1000.0;
/// A motion whose energy is wrong by more than so many times all there is of it, at its start, on average and at the place where it is, has
/// been left: what has fallen into a centre flies away from it with a speed that nothing gave it. The steps before show in a warning.
const LEFT: f64 = 5.0;
/// A kinetic energy is that of the motion as long as the energy is wrong by no more than this part of it: what was gained by an error is not.
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
    energy: Energy<R>,
    velocities: Velocities<R>,
    v: Vec<R>,
    rest: Vec<R>,
    initial: R,
    /// The largest kinetic energy seen while the energy was right.
    kinetic: f64,
    /// What a jump is measured by, where L conserves the energy.
    motion: Option<Motion>,
    rounding: Rounding<R>,
}

/// How large rounding errors of the energy are, which is looked at only where it seems to jump.
#[derive(Clone, Debug)]
struct Rounding<R> {
    model: Arc<Model>,
    parameters: Vec<R>,
    /// (q, v) and the time at the start.
    start: [Vec<R>; 2],
    t: R,
    known: bool,
}

/// How much energy a motion has, whatever the zero of the energy is.
#[derive(Clone, Copy, Debug, Default)]
struct Motion {
    /// the kinetic energy at the start.
    start: f64,
    /// The energy of the state before.
    last: f64,
    /// The largest energy that was kinetic. |E0| would not do but in linear systems: it is anything, with a constant in the potential.
    scale: f64,
    /// the kinetic energy at the start, or what rounding makes of the energy.
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

    /// All there is of the motion, if an energy that is so wrong has left it. Divisions are for those who have.
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
            Some(_) => (Energy::for_a_start(model, parameters), Velocities::for_a_start(model, parameters)),
            None => (Energy::new(model, parameters), Velocities::new(model, parameters)),
        };
        let v = problem.v0.clone();
        let linear = model.is_linear();
        let motion = problem.system.structure().autonomous.then(|| Motion { linear, ..Motion::default() });
        let rounding = Rounding {
            model: model.clone(),
            parameters: parameters.clone(),
            start: [problem.q0.clone(), v.clone()],
            t: problem.t0.clone(),
            known: false,
        };
        let rest = vec![R::zero(); v.len()];
        let mut made = Self {
            hamiltonian,
            energy,
            velocities,
            v,
            rest,
            initial: R::zero(),
            kinetic: 0.0,
            motion,
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
            self.rounding.parameters.clone_from_slice(parameters);
        }
        self.begin(t, start);
    }

    fn begin(&mut self, t: &R, [q, v, p]: [&[R]; 3]) {
        self.v.clone_from_slice(v);
        let rounding = &mut self.rounding;
        (rounding.t, rounding.known) = (t.clone(), false);
        rounding.start[0].clone_from_slice(q);
        rounding.start[1].clone_from_slice(v);
        (self.initial, self.kinetic) = match self.by_momenta(q, p, t) {
            Some(found) => found,
            None => self.by_velocities(q, p, t),
        };
        let (last, start) = (self.initial.to_f64(), self.kinetic);
        let linear = self.motion.is_some_and(|motion| motion.linear);
        // close to the limit of a method a linear system from rest has kinetic energies far below the errors, which stay bounded
        let scale = if linear { last.abs().max(start) } else { start };
        // rest is no part of an average
        let seen = if start > 0.0 { 1.0 } else { 0.0 };
        let begun = Motion { start, last, scale, base: start, total: start, seen, moved: false, linear };
        self.motion = self.motion.map(|_| begun);
    }

    /// The energy of a state.
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
        if energy.is_finite() && kinetic.is_finite() {
            return self.note(&energy, kinetic, moment.stepper.step_size().to_f64()).map(|()| energy);
        }
        let bad = |numbers: &[R]| numbers.iter().position(|x| !x.is_finite());
        let coordinate = bad(q).or_else(|| bad(p));
        Err(Cause::NotFinite { coordinate, step_size: moment.stepper.step_size().to_f64() })
    }

    /// The energy and the kinetic energy the short way, if that gives numbers.
    fn by_momenta(&mut self, q: &[R], p: &[R], t: &R) -> Option<(R, f64)> {
        let [energy, kinetic] = self.hamiltonian.as_mut()?.at(q, p, t);
        (energy.is_finite() && kinetic.is_finite()).then(|| (energy, kinetic.magnitude()))
    }

    /// The energy and the kinetic energy the long way: what is more than at rest, or |v·p|/2 where that cannot be.
    fn by_velocities(&mut self, q: &[R], p: &[R], t: &R) -> (R, f64) {
        let energy = self.energy.at(q, &self.v, t).0;
        let at_rest = self.energy.at(q, &self.rest, t).0;
        let kinetic = (energy.clone() - at_rest).magnitude();
        let product = || 0.5 * self.v.iter().zip(p).map(|(v, p)| v.to_f64() * p.to_f64()).sum::<f64>().abs();
        (energy, if kinetic.is_finite() { kinetic } else { product() })
    }

    /// The kinetic energy of a state (q, v, p).
    pub(crate) fn kinetic(&mut self, t: &R, [q, v, p]: [&[R]; 3]) -> f64 {
        self.v.clone_from_slice(v);
        self.by_momenta(q, p, t).unwrap_or_else(|| self.by_velocities(q, p, t)).1
    }

    /// Takes note of an energy and a kinetic energy, unless the energy jumped.
    #[inline]
    pub(crate) fn note(&mut self, energy: &R, kinetic: f64, step_size: f64) -> Result<(), Cause> {
        if let Some(motion) = &mut self.motion {
            let (initial, after) = (self.initial.to_f64(), energy.to_f64());
            if let Err(jumped) = motion.note(initial, after, kinetic) {
                let jump = |(before, scale)| Cause::EnergyJump { initial, before, after, scale, step_size };
                let floor = self.rounding.look().ok_or_else(|| jump(jumped))?;
                motion.allow(floor);
                motion.note(initial, after, kinetic).map_err(jump)?;
            }
        }
        // the kinetic energy of a run that blows up must not hide that it does
        let error = (energy.clone() - self.initial.clone()).magnitude();
        if error < 0.1 * kinetic {
            self.kinetic = self.kinetic.max(kinetic);
        }
        Ok(())
    }

    /// Writes or reads what it has seen.
    fn exchange(&mut self, ledger: &mut Ledger) {
        ledger.numbers(&mut self.v);
        ledger.number(&mut self.kinetic);
        if let Some(Motion { last, scale, total, seen, moved, .. }) = &mut self.motion {
            for number in [last, scale, total, seen] {
                ledger.number(number);
            }
            ledger.flag(moved);
        }
    }

    /// The short way from momenta, where there is one.
    pub(super) fn hamiltonian(&self) -> Option<&Hamiltonian<R>> {
        self.hamiltonian.as_ref()
    }

    /// The initial energy.
    pub fn initial(&self) -> &R {
        &self.initial
    }

    /// What errors are divided by: |E0|; or, if E0 is as good as zero, the largest kinetic energy so far; or 1.
    pub fn scale(&self) -> f64 {
        let initial = self.initial.magnitude();
        if initial > NEGLIGIBLE * self.kinetic {
            initial
        } else if self.kinetic > 0.0 {
            self.kinetic
        } else {
            1.0
        }
    }
}

impl<R: Real> Rounding<R> {
    /// What an energy may be wrong by, if nobody has looked yet: its rounding at the start, or the terms of it that change. Steps may see a motion only where
    /// it rests: at its turning points, if there are one or two of them to a period.
    #[cold]
    fn look(&mut self) -> Option<f64> {
        let Self { model, parameters, start: [q, v], t, known } = self;
        (!std::mem::replace(known, true)).then(|| {
            let [size, moving] = model.energy_sizes(parameters, [q, v], t);
            moving.max(ROUNDING * f64::EPSILON * size)
        })
    }
}

/// A conserved momentum, and how it changed.
#[derive(Clone, Debug)]
pub struct Drift {
    /// What it is: `p_phi`, `total p_x`, `x*p_y - y*p_x`.
    pub name: String,
    /// The coordinate, if it is the momentum of a single one.
    pub coordinate: Option<usize>,
    /// Its value at the start.
    pub initial: f64,
    /// The largest difference from it.
    pub largest: f64,
    /// The sizes of all its terms added up, where they were largest: rounding errors are to be compared with this.
    pub size: f64,
}

/// Energy and conserved momenta, checked after every step.
#[derive(Clone, Debug)]
pub struct Invariants<R> {
    /// The meter of the energy.
    pub meter: EnergyMeter<R>,
    /// The energy of the last step seen.
    pub last: R,
    /// The largest difference from the initial energy.
    pub largest: f64,
    /// The momenta of cyclic coordinates, then those of linear symmetries.
    pub momenta: Vec<Drift>,
    /// How to compute the last of the momenta, and their initial values.
    symmetries: Vec<(Momentum<R>, Sum<R>)>,
}

impl<R: Real> Invariants<R> {
    /// Measures against the initial state of a problem.
    pub fn new(problem: &Problem<R>) -> Self {
        let system = &problem.system;
        let drift = |name: String, coordinate, initial: f64, size| Drift {
            name,
            coordinate,
            initial,
            largest: 0.0,
            size,
        };
        let cyclic = system.structure().cyclic.iter().map(|&i| {
            let initial = problem.p0[i].to_f64();
            drift(format!("p_{}", system.coordinates[i].name), Some(i), initial, initial.abs())
        });
        let mut momenta: Vec<Drift> = cyclic.collect();
        let zeros = vec![R::zero(); system.n()];
        let mut symmetries = Vec::new();
        for symmetry in problem.symmetries() {
            let momentum = Momentum::new(symmetry);
            let initial = momentum.at((&problem.q0, &zeros), (&problem.p0, &zeros));
            let name = symmetry.name.clone();
            momenta.push(drift(name, symmetry.coordinate(), initial.high.to_f64(), initial.size));
            symmetries.push((momentum, initial));
        }
        let meter = EnergyMeter::new(problem);
        Self { last: meter.initial().clone(), meter, largest: 0.0, momenta, symmetries }
    }

    /// Writes or reads what it has seen.
    pub fn exchange(&mut self, ledger: &mut Ledger) {
        self.meter.exchange(ledger);
        ledger.number(&mut self.last);
        ledger.number(&mut self.largest);
        for drift in &mut self.momenta {
            ledger.number(&mut drift.largest);
            ledger.number(&mut drift.size);
        }
    }

    /// The largest relative error of the energy so far.
    pub fn max_relative_error(&self) -> f64 {
        self.largest / self.meter.scale()
    }
}

impl<R: Real> Observer<R> for Invariants<R> {
    fn observe(&mut self, moment: &Moment<'_, R>) -> Result<ControlFlow<()>, Cause> {
        if moment.state.steps > 0 {
            self.last = self.meter.measure(moment)?;
            let error = (self.last.clone() - self.meter.initial().clone()).magnitude();
            self.largest = self.largest.max(error);
        }
        let State { q, p, q_low, p_low, .. } = moment.state;
        let first = self.momenta.len().saturating_sub(self.symmetries.len());
        let (cyclic, others) = self.momenta.split_at_mut(first);
        for drift in cyclic {
            let value = drift.coordinate.map_or(drift.initial, |i| p[i].to_f64());
            drift.largest = drift.largest.max((value - drift.initial).abs());
        }
        for (drift, (momentum, initial)) in others.iter_mut().zip(&self.symmetries) {
            let value = momentum.at((q, q_low), (p, p_low));
            drift.largest = drift.largest.max(value.distance(initial));
            drift.size = drift.size.max(value.size);
        }
        Ok(ControlFlow::Continue(()))
    }
}
