//! An observer that finds events: sign changes of formulas, located as exactly as the method steps.
//!
//! Whether a formula g changes its sign is seen at the ends of a step and, from the step's polynomial, at a few points within
//! it. The polynomial only gives the hint, because it is less exact than the method: where there may be a change, partial
//! steps of size τh are solved from the state before the step, with a stepper of their own, and a root of g(state(τ)) is
//! found in τ. Time and state of an event are therefore those of a step that ends there, and the run itself does
//! not notice. A zero at the very start is no event, nor is a zero without a change of sign, nor a change of sign without a
//! zero: at a pole or a jump.

use super::observed::Observed;
use super::root::{root, sign};
use super::{Crossings, Event, Moment, Observer, Outcome};
use crate::error::Cause;
use crate::method::Method;
use crate::scalar::{Ledger, Real};
use crate::step::{State, Stepper, Weights};
use crate::system::{Gauge, Problem, Velocities};
use std::ops::ControlFlow;

/// A step is looked at in so many parts. Two sign changes within one part are not seen.
const PARTS: u32 = 4;
/// A change within so many units of rounding after the start belongs to a motion that starts at the zero.
const START: f64 = 1e3;

type Found<T> = std::result::Result<T, Cause>;

/// Finds the events of a run.
#[derive(Clone, Debug)]
pub struct Events<R> {
    events: Vec<(String, Event)>,
    watch: Watch<R>,
    /// Values of the formulas before the step and after it.
    values: [Vec<R>; 2],
    /// Signs at the points within the step, point by point; 0 also where the formula is not finite.
    hints: Vec<i8>,
    /// The last sign of each formula that was not zero, or 0.
    side: Vec<i8>,
    /// Samples of one formula: fractions of the step and values there.
    samples: Vec<(R, R)>,
    /// Changes found in this step: fraction, event.
    found: Vec<(R, usize)>,
    velocities: Velocities<R>,
    outputs: Gauge<R>,
    v: Vec<R>,
    /// What has been found.
    pub crossings: Crossings<R>,
    /// The event that ended the run, and when.
    pub stopped: Option<(usize, R)>,
}

/// The formulas, and states between the last two steps.
#[derive(Clone, Debug)]
struct Watch<R> {
    gauge: Gauge<R>,
    /// Fractions of a step, and the weights of its polynomial there.
    inner: Vec<(R, Weights<R>)>,
    stepper: Stepper<R>,
    before: State<R>,
    t: R,
    h: R,
    /// The state at a fraction of the step.
    state: State<R>,
}

impl<R: Real> Watch<R> {
    /// Sets the state at a fraction of the step by a step of that size, and returns the time.
    fn go_to(&mut self, fraction: &R) -> Found<R> {
        copy(&self.before, &mut self.state);
        let size = fraction.clone() * self.h.clone();
        if sign(&size) != 0 {
            self.stepper.step_by(&mut self.state, &self.t, &size)?;
        }
        Ok(self.t.clone() + size)
    }

    /// The value of a formula at a fraction of the step; infinite at a pole.
    fn near(&mut self, fraction: &R, index: usize, name: &str) -> Found<R> {
        let t = self.go_to(fraction)?;
        let value = self.gauge.at_momenta(&self.state.q, &self.state.p, &t)?[index].clone();
        if value.to_f64().is_nan() { Err(not_finite(name, &value, &t)) } else { Ok(value) }
    }

    /// The same where it must be finite.
    fn value(&mut self, fraction: &R, index: usize, name: &str) -> Found<R> {
        let value = self.near(fraction, index, name)?;
        let t = || self.t.clone() + fraction.clone() * self.h.clone();
        if value.is_finite() { Ok(value) } else { Err(not_finite(name, &value, &t())) }
    }
}

/// Fractions of a step within it, and the weights of its polynomial there.
fn inner_points<R: Real>(stepper: &Stepper<R>) -> Vec<(R, Weights<R>)> {
    let point = |j: u32| {
        let fraction = R::from_f64(f64::from(j) / f64::from(PARTS));
        stepper.weights(&fraction).map(|weights| (fraction, weights))
    };
    (1..PARTS).filter_map(point).collect()
}

impl<R: Real> Events<R> {
    /// Watches for the events of a run that is stepped with this method and step.
    pub fn new(problem: &Problem<R>, method: &Method, stepper: &Stepper<R>, observed: &Observed) -> Self {
        let h = stepper.step_size().clone();
        let inner = inner_points(stepper);
        let count = observed.events.len();
        let stops = observed.events.iter().map(|(name, event)| (name.clone(), event.stop));
        let zeros = vec![R::zero(); count];
        Self {
            values: [zeros.clone(), zeros],
            hints: vec![0; count * inner.len()],
            side: vec![0; count],
            samples: Vec::with_capacity(inner.len() + 2),
            found: Vec::with_capacity(count * PARTS as usize),
            velocities: Velocities::new(&problem.system.model, &problem.parameters),
            outputs: observed.outputs.gauge(problem),
            v: problem.v0.clone(),
            crossings: Crossings::new(problem.system.n(), stops, observed.output_names.clone()),
            stopped: None,
            events: observed.events.clone(),
            watch: Watch {
                gauge: observed.formulas.gauge(problem),
                inner,
                stepper: Stepper::new(problem, method, h.clone()),
                before: State::new(problem),
                t: problem.t0.clone(),
                h,
                state: State::new(problem),
            },
        }
    }

    /// The same without rows of what was found: only tallies.
    #[must_use]
    pub fn counting(self) -> Self {
        Self { crossings: self.crossings.without_rows(), ..self }
    }

    /// Begins anew, as if just made, for a start with these velocities, and for other parameters if they are given.
    pub fn restart(&mut self, parameters: Option<&[R]>, v: &[R]) {
        if let Some(parameters) = parameters {
            self.velocities.assign(parameters);
        }
        self.watch.gauge.restart(parameters, v);
        self.watch.stepper.restart(parameters, v);
        self.outputs.restart(parameters, v);
        self.v.clone_from_slice(v);
        self.found.clear();
        self.crossings.clear();
        self.stopped = None;
    }

    /// Watches steps of another size from now on.
    pub fn resize(&mut self, stepper: &Stepper<R>) {
        self.watch.h = stepper.step_size().clone();
        self.watch.inner = inner_points(stepper);
    }

    /// Writes or reads what it has seen.
    pub fn exchange(&mut self, ledger: &mut Ledger) {
        let Watch { gauge, stepper, before, t, .. } = &mut self.watch;
        gauge.exchange(ledger);
        stepper.exchange(ledger);
        before.exchange(ledger);
        ledger.number(t);
        ledger.numbers(&mut self.values[0]);
        for side in &mut self.side {
            let mut number = f64::from(*side);
            ledger.number(&mut number);
            ledger.require([-1.0, 0.0, 1.0].contains(&number));
            *side = number as i8;
        }
        self.outputs.exchange(ledger);
        ledger.numbers(&mut self.v);
        self.crossings.exchange(ledger);
        let (event, time) = self.stopped.take().unzip();
        let (mut event, mut time) = (event.unwrap_or(0) as u64, time);
        ledger.whole(&mut event);
        ledger.perhaps(&mut time);
        ledger.require(event < self.events.len() as u64);
        self.stopped = time.map(|time| (event as usize, time));
    }

    /// How a run ended that was watched: a stop by an event is neither the end nor an interruption, and the end comes too early where an event was to
    /// come first.
    pub fn outcome(&self, outcome: Outcome) -> Outcome {
        match (&self.stopped, outcome) {
            (_, Outcome::Failed(failure)) => Outcome::Failed(failure),
            (Some((event, time)), _) => {
                Outcome::Stopped { event: self.events[*event].0.clone(), time: time.to_f64() }
            }
            (None, Outcome::Done) => match self.events.iter().find(|(_, event)| event.stop.is_some()) {
                Some((name, _)) => Outcome::NotReached { event: name.clone() },
                None => Outcome::Done,
            },
            (None, outcome) => outcome,
        }
    }

    /// Whether one of them is to end the run and has not.
    pub(super) fn are_awaited(&self) -> bool {
        self.stopped.is_none() && self.events.iter().any(|(_, event)| event.stop.is_some())
    }

    /// Values at the end of the step, and hints of what happened within.
    fn look(&mut self, moment: &Moment<'_, R>) -> Found<()> {
        let (watch, count) = (&mut self.watch, self.events.len());
        let state = moment.state;
        let values = if state.steps == 0 {
            watch.gauge.at(&state.q, &self.v, &moment.t)
        } else {
            watch.gauge.at_momenta(&state.q, &state.p, &moment.t)?
        };
        self.values[1].clone_from_slice(values);
        if let Some(at) = values.iter().position(|x| !x.is_finite()) {
            return Err(not_finite(&self.events[at].0, &values[at], &moment.t));
        }
        if state.steps == 0 {
            return Ok(());
        }
        for (j, (fraction, weights)) in watch.inner.iter().enumerate() {
            let t = watch.t.clone() + fraction.clone() * watch.h.clone();
            moment.stepper.within(weights, &mut watch.state.q, &mut self.v);
            let values = watch.gauge.at(&watch.state.q, &self.v, &t);
            for (hint, value) in self.hints[j * count..].iter_mut().zip(values) {
                *hint = if value.is_finite() { sign(value) } else { 0 };
            }
        }
        Ok(())
    }

    /// Whether a formula may have changed its sign in the step, or is zero somewhere.
    fn suspicious(&self, event: usize) -> bool {
        let inner = self.hints.iter().skip(event).step_by(self.events.len());
        let end = sign(&self.values[1][event]);
        let mut signs = inner.copied().chain([end]);
        let first = self.side[event];
        let first = if first == 0 { end } else { first };
        // a zero at the start of the step needs no look of its own: beyond it the sign is another than before it, or nothing happens
        signs.any(|s| s != first)
    }

    /// Finds the sign changes of a formula in the step, by partial steps.
    fn search(&mut self, event: usize, first_step: bool) -> Found<()> {
        let (watch, name) = (&mut self.watch, &self.events[event].0);
        self.samples.clear();
        self.samples.push((R::zero(), self.values[0][event].clone()));
        for j in 0..watch.inner.len() {
            let fraction = watch.inner[j].0.clone();
            let value = watch.value(&fraction, event, name)?;
            self.samples.push((fraction, value));
        }
        self.samples.push((R::one(), self.values[1][event].clone()));
        let side = &mut self.side[event];
        let mut zero: Option<&R> = None;
        for (j, (fraction, value)) in self.samples.iter().enumerate() {
            let here = sign(value);
            if here == 0 {
                zero = Some(zero.unwrap_or(fraction));
                continue;
            }
            if *side == -here {
                let at = match zero {
                    Some(fraction) => Some(fraction.clone()),
                    None => {
                        let before = self.samples[j.saturating_sub(1)].clone();
                        root(before, (fraction.clone(), value.clone()), |x| watch.near(x, event, name))?
                    }
                };
                let at = at.filter(|at| !(first_step && at.to_f64() <= START * R::epsilon()));
                if let Some(at) = at.filter(|_| self.events[event].1.direction.admits(here > 0)) {
                    self.found.push((at, event));
                }
            }
            (*side, zero) = (here, None);
        }
        Ok(())
    }

    /// Keeps what was found, in the order of time, up to a stop.
    fn keep(&mut self) -> Found<()> {
        // equal times keep the order of the run's events; sorting in place allocates nothing
        self.found.sort_unstable_by(|a, b| {
            let order = sign(&(a.0.clone() - b.0.clone()));
            order.cmp(&0).then(a.1.cmp(&b.1))
        });
        for (fraction, event) in &self.found {
            let watch = &mut self.watch;
            let t = watch.go_to(fraction)?;
            let State { q, p, .. } = &watch.state;
            self.velocities.velocities(q, p, &t, &mut self.v)?;
            let values = self.outputs.at(q, &self.v, &t);
            if self.crossings.push(*event, &t, [q, &self.v, p, values]) {
                self.stopped = Some((*event, t));
                break;
            }
        }
        self.found.clear();
        Ok(())
    }
}

impl<R: Real> Observer<R> for Events<R> {
    fn observe(&mut self, moment: &Moment<'_, R>) -> Found<ControlFlow<()>> {
        self.look(moment)?;
        if moment.state.steps == 0 {
            for (side, value) in self.side.iter_mut().zip(&self.values[1]) {
                *side = sign(value);
            }
        } else {
            for event in 0..self.events.len() {
                if self.suspicious(event) {
                    self.search(event, moment.state.steps == 1)?;
                } else if self.side[event] == 0 {
                    self.side[event] = sign(&self.values[1][event]);
                }
            }
            self.keep()?;
        }
        self.crossings.look(&self.values[1], &moment.t);
        copy(moment.state, &mut self.watch.before);
        self.watch.t = moment.t.clone();
        self.values.swap(0, 1);
        Ok(if self.stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

fn not_finite<R: Real>(name: &str, value: &R, t: &R) -> Cause {
    Cause::EventNotFinite { event: name.to_owned(), value: value.to_f64(), time: t.to_f64() }
}

/// Copies a state without asking for memory.
fn copy<R: Real>(from: &State<R>, to: &mut State<R>) {
    to.steps = from.steps;
    to.q.clone_from_slice(&from.q);
    to.p.clone_from_slice(&from.p);
    to.q_low.clone_from_slice(&from.q_low);
    to.p_low.clone_from_slice(&from.p_low);
}
