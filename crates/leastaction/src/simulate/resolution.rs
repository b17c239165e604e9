//! Whether steps resolve the motion: some of them are compared with their two halves.
//!
//! The energy cannot tell. Gauss methods keep the energy of a linear oscillator to rounding with any step, however wrong its phase is. So some
//! steps of a run, spread over it, are taken again in two halves from the same state. The difference is what a step gets wrong. It is relative to
//! the range that each coordinate and each momentum goes through, so that small and fast parts of a system count as much as large and slow ones.

use super::{Moment, Observer, exceeds};
use crate::error::Cause;
use crate::scalar::{Ledger, Real};
use crate::step::{State, Stepper};
use std::ops::ControlFlow;

/// At most so many steps are compared, and one of so many: two halves cost somewhat more than two steps.
const MOST: u64 = 16;
const ONE_OF: u64 = 32;
/// At least so many, if there are as many steps.
const LEAST: u64 = 2;
/// Ranges are taken from so many states.
const STATES: u64 = 256;
/// The range of a momentum counts as this part of its largest value at least: a small oscillation on top of a fast flight is known no better.
const LEAST_RANGE: f64 = 1e-3;
/// A coordinate whose action, range of q times range of p, is below this part of the largest does not move but for rounding.
const AT_REST: f64 = 1e-28;
/// Differences below so many units of rounding of the largest value are none.
const ROUNDING: f64 = 64.0;

/// Compares steps with their halves.
#[derive(Clone, Debug)]
pub struct Resolution<R> {
    /// One of so many steps is compared, and one of so many states widens the ranges.
    stride: u64,
    states: u64,
    /// The state and the stepper before the step that will be compared.
    before: State<R>,
    half: Option<Box<Stepper<R>>>,
    /// Coordinates, then momenta.
    parts: [Vec<Part>; 2],
}

/// A coordinate or a momentum.
#[derive(Clone, Copy, Debug)]
struct Part {
    low: f64,
    high: f64,
    /// The largest difference between a step and its halves.
    difference: f64,
}

impl Part {
    fn new(x: f64) -> Self {
        Self { low: x, high: x, difference: 0.0 }
    }

    fn widen(&mut self, x: f64) {
        (self.low, self.high) = (self.low.min(x), self.high.max(x));
    }

    fn range(&self) -> f64 {
        self.high - self.low
    }

    fn largest(&self) -> f64 {
        self.high.abs().max(self.low.abs())
    }

    /// The difference as a part of the range, or of a larger one.
    fn relative(&self, least: f64) -> f64 {
        let missed = self.difference - ROUNDING * f64::EPSILON * self.largest();
        // a difference that is no number is none of these
        if missed <= 0.0 { 0.0 } else { missed / self.range().max(least) }
    }
}

impl<R: Real> Resolution<R> {
    /// For a run of so many steps from a state.
    pub fn new(start: &State<R>, steps: u64) -> Self {
        Self::with_samples(start, steps, (steps / ONE_OF).clamp(LEAST, MOST))
    }

    /// The same with a number of steps to compare.
    pub fn with_samples(start: &State<R>, steps: u64, samples: u64) -> Self {
        let parts = |x: &[R]| x.iter().map(|x| Part::new(x.to_f64())).collect();
        Self {
            stride: (steps / samples.max(1)).max(1),
            states: steps.div_ceil(STATES).max(1),
            before: start.clone(),
            half: None,
            parts: [parts(&start.q), parts(&start.p)],
        }
    }

    /// What the worst of the steps that were compared got wrong, as a part of the range of its coordinate or momentum.
    pub fn error(&self) -> f64 {
        self.worst().map_or(0.0, |(_, error)| error)
    }

    /// The coordinate that a step got most wrong, and its error.
    pub fn worst(&self) -> Option<(usize, f64)> {
        let [q, p] = &self.parts;
        let action = |i: usize| q[i].range() * p[i].range();
        let largest = (0..q.len()).map(action).fold(0.0, f64::max);
        // an action that is no number counts
        let moves = |i: &usize| exceeds(action(*i), AT_REST * largest);
        let error = |i: usize| (i, larger(q[i].relative(0.0), p[i].relative(LEAST_RANGE * p[i].largest())));
        (0..q.len()).filter(moves).map(error).reduce(|a, b| if b.1 <= a.1 || a.1.is_nan() { a } else { b })
    }

    /// The coordinate in which two states differ most, and by what part of the range of it or its momentum.
    pub(super) fn between(&self, a: &State<R>, b: &State<R>) -> Option<(usize, f64)> {
        let mut other = self.clone();
        other.parts.iter_mut().flatten().for_each(|part| part.difference = 0.0);
        other.note([(&a.q, &b.q), (&a.p, &b.p)]);
        other.worst()
    }

    /// Writes or reads what it has seen.
    pub fn exchange(&mut self, ledger: &mut Ledger) {
        for part in self.parts.iter_mut().flatten() {
            for number in [&mut part.low, &mut part.high, &mut part.difference] {
                ledger.number(number);
            }
        }
        self.before.exchange(ledger);
    }

    /// Takes the last step again in two halves.
    fn compare(&mut self, moment: &Moment<'_, R>) {
        let size = moment.stepper.step_size().clone() / R::from_f64(2.0);
        let half = self.half.get_or_insert_with(|| Box::new(moment.stepper.clone()));
        let mut t = moment.stepper.time(self.before.steps);
        for _ in 0..2 {
            if half.step_by(&mut self.before, &t, &size).is_err() {
                // the run goes on to where its own steps fail
                return;
            }
            t = t + size.clone();
        }
        let before = std::mem::replace(&mut self.before, State::at(Vec::new(), Vec::new()));
        self.note([(&before.q, &moment.state.q), (&before.p, &moment.state.p)]);
        self.before = before;
    }

    /// Notes what two states differ by, coordinates and momenta.
    fn note(&mut self, pairs: [(&Vec<R>, &Vec<R>); 2]) {
        for (parts, (list, other)) in self.parts.iter_mut().zip(pairs) {
            for (part, (a, b)) in parts.iter_mut().zip(list.iter().zip(other)) {
                part.widen(a.to_f64());
                part.difference = larger(part.difference, (a.clone() - b.clone()).magnitude());
            }
        }
    }
}

impl<R: Real> Observer<R> for Resolution<R> {
    fn observe(&mut self, moment: &Moment<'_, R>) -> Result<ControlFlow<()>, Cause> {
        let State { steps, q, p, .. } = moment.state;
        if *steps > 0 && steps % self.stride == 1 % self.stride && self.before.steps + 1 == *steps {
            self.compare(moment);
        }
        if steps % self.stride == 0 {
            self.before.copy_from(moment.state);
        }
        if steps % self.states == 0 {
            for (parts, list) in self.parts.iter_mut().zip([q, p]) {
                parts.iter_mut().zip(list).for_each(|(part, x)| part.widen(x.to_f64()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The larger of two numbers; no number is larger than any.
fn larger(a: f64, b: f64) -> f64 {
    if a <= b || b.is_nan() { b } else { a }
}
