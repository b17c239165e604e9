//! An observer that finds events: sign changes of formulas, located as exactly as the method steps.
//!
//! A formula g is looked at on the step's polynomial, at as many points as that has a degree, and between them where second
//! differences say that zeros may hide (`bend`). Equidistant points may agree with another formula by chance, so two more are looked at, at places that
//! change from step to step; where they disagree, so many more follow that the formula is resolved, or is told not to be.
//! The polynomial only gives the guess, because it is less exact than the method: from there Newton's method, and then secants, find a root τ of g(state(τ)), with state(τ) the end of a partial step of size τh (`within`). Where that
//! does not confirm the polynomial, all points are looked at by partial steps and roots are bracketed. Time and state of an event are
//! therefore those of a step that ends there. A zero at the very start is no event, nor is a zero without a change of sign. A change of sign
//! without a zero, at a pole or a jump, is counted apart.

use super::bend::{bend, may_hide};
use super::observed::Observed;
use super::root::{Change, root, sign, zero};
use super::within::{Within, not_finite};
use super::{Crossings, Event, Moment, Observer, Outcome};
use crate::error::Cause;
use crate::method::Method;
use crate::scalar::{Ledger, Real};
use crate::step::{State, Stepper};
use crate::system::{Gauge, Problem, Velocities};
use std::ops::ControlFlow;

/// A change within so many units of rounding after the start belongs to a motion that starts at the zero.
const START: f64 = 1e3;
/// The same as a part of the first step where the formula is zero at the start: what steps leave unsolved may turn it to the other side for a while.
const START_AT_ZERO: f64 = 1e-5;
/// So many more points are looked at in a step for one formula. A zero that is only touched takes about 60.
const MOST_POINTS: usize = 128;
/// A formula that changes faster than the points of a step show is looked at in so many parts of this step and of so many more.
const DENSE: usize = 1024;
const STAYS_FAST: u8 = 64;
/// More values than this that bend by more than the formula is large are no jumps.
const MOST_JUMPS: usize = 16;
/// Points that change from step to step, multiples of the golden ratio apart.
const PROBES: [f64; 2] = [0.618_033_988_749_894_8, 0.324_717_957_244_746];
/// Parts of a step that are not divided any more. Zeros nearer to each other are taken for one that is touched.
const CLOSEST: f64 = 1.0 / (1 << 26) as f64;
/// Partial steps from the guess of the polynomial to the event; two or three are usual.
const MOST_PARTIAL_STEPS: usize = 8;

type Found<T> = std::result::Result<T, Cause>;

/// Finds the events of a run.
#[derive(Clone, Debug)]
pub struct Events<R> {
    events: Vec<(String, Event)>,
    within: Within<R>,
    /// Values of the formulas one step before, before the step, and after it.
    values: [Vec<R>; 3],
    /// Values at the points within the step, point by point.
    inner: Vec<R>,
    /// The last sign of each formula that was not zero, or 0.
    side: Vec<i8>,
    /// For so many more steps each formula is looked at more closely.
    fast: Vec<u8>,
    /// Values of one formula: fractions of the step and values there.
    samples: Vec<(R, R)>,
    /// Parts of the step that may have to be divided, the first one last.
    pending: Vec<Part<R>>,
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

/// A part of a step that ends with this sample, and the second differences at both ends.
#[derive(Clone, Debug)]
struct Part<R> {
    end: (R, R),
    bends: [f64; 2],
}

/// Where values of a formula come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Polynomial,
    Steps,
}

impl<R: Real> Events<R> {
    /// Watches for the events of a run that is stepped with this method and step.
    pub fn new(problem: &Problem<R>, method: &Method, stepper: &Stepper<R>, observed: &Observed) -> Self {
        let within = Within::new(problem, method, stepper, &observed.formulas);
        let (count, points) = (observed.events.len(), within.points());
        let stops = observed.events.iter().map(|(name, event)| (name.clone(), event.stop));
        let zeros = vec![R::zero(); count];
        Self {
            values: std::array::from_fn(|_| zeros.clone()),
            inner: vec![R::zero(); count * points],
            side: vec![0; count],
            fast: vec![0; count],
            samples: Vec::with_capacity(DENSE + MOST_POINTS + points + 2),
            pending: Vec::with_capacity(DENSE + MOST_POINTS + points + 2),
            found: Vec::with_capacity(count * (points + 1)),
            velocities: Velocities::new(&problem.system.model, &problem.parameters),
            outputs: observed.outputs.gauge(problem),
            v: problem.v0.clone(),
            crossings: Crossings::new(problem.system.n(), stops, observed.output_names.clone()),
            stopped: None,
            events: observed.events.clone(),
            within,
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
        self.within.restart(parameters, v);
        self.outputs.restart(parameters, v);
        self.v.clone_from_slice(v);
        self.fast.fill(0);
        self.found.clear();
        self.crossings.clear();
        self.stopped = None;
    }

    /// Watches steps of another size from now on.
    pub fn resize(&mut self, stepper: &Stepper<R>) {
        self.within.resize(stepper);
    }

    /// Writes or reads what it has seen.
    pub fn exchange(&mut self, ledger: &mut Ledger) {
        self.within.exchange(ledger);
        let [earlier, before, _] = &mut self.values;
        ledger.numbers(earlier);
        ledger.numbers(before);
        for side in &mut self.side {
            let mut number = f64::from(*side);
            ledger.number(&mut number);
            ledger.require([-1.0, 0.0, 1.0].contains(&number));
            *side = number as i8;
        }
        for fast in &mut self.fast {
            let mut number = f64::from(*fast);
            ledger.number(&mut number);
            ledger.require((0.0..=f64::from(STAYS_FAST)).contains(&number));
            *fast = number as u8;
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

    /// Values at the end of the step, and within it.
    fn look(&mut self, moment: &Moment<'_, R>) -> Found<()> {
        let (gauge, state) = (&mut self.within.gauge, moment.state);
        let values = if state.steps == 0 {
            gauge.at(&state.q, &self.v, &moment.t)
        } else {
            gauge.at_momenta(&state.q, &state.p, &moment.t)?
        };
        self.values[2].clone_from_slice(values);
        if let Some(at) = values.iter().position(|x| !x.is_finite()) {
            return Err(not_finite(&self.events[at].0, &values[at], &moment.t));
        }
        if state.steps == 1 {
            // nothing is known of a step before: a straight line
            let [earlier, before, after] = &mut self.values;
            for ((earlier, before), after) in earlier.iter_mut().zip(before).zip(after) {
                *earlier = before.clone() + before.clone() - after.clone();
            }
        }
        if state.steps > 0 {
            self.within.look(moment.stepper, &mut self.inner);
            self.probe(state.steps);
        }
        Ok(())
    }

    /// Looks at two more points, whether the others show how fast each formula changes.
    fn probe(&mut self, steps: u64) {
        self.fast.iter_mut().for_each(|fast| *fast = fast.saturating_sub(1));
        for ratio in PROBES {
            let fraction = (steps as f64 * ratio).fract();
            self.within.all_on_polynomial(&R::from_f64(fraction));
            for event in 0..self.events.len() {
                let value = self.within.gauge.values()[event].to_f64();
                if self.is_missed(event, fraction, value) {
                    self.fast[event] = STAYS_FAST;
                }
            }
        }
    }

    /// Whether a value is far from the line between the points beside it, and the bends of all points do not explain that.
    fn is_missed(&self, event: usize, fraction: f64, value: f64) -> bool {
        let parts = self.within.points() + 1;
        let of_steps = self.bend_of_steps(event);
        let (mut bends, mut largest) = (0.0f64, 0.0f64);
        for j in 0..=parts {
            bends = bends.max(self.bend(event, j, of_steps).abs());
            largest = largest.max(self.value(event, j).to_f64().abs());
        }
        let place = fraction * parts as f64;
        let j = (place as usize).min(parts - 1);
        let [left, right] = [j, j + 1].map(|j| self.value(event, j).to_f64());
        let line = left + (right - left) * (place - j as f64);
        // a parabola is off by an eighth of its bend; a sine that bends by more than it is large turns by a radian from point to point
        bends > largest || (value - line).abs() > 0.25 * bends + 1e-9 * largest
    }

    /// Many equal parts of the step between points that are looked at. Where these do not show the formula either, that is told.
    fn sample_densely(&mut self, event: usize, by: By) -> Found<()> {
        let parts = if by == By::Steps { MOST_POINTS } else { DENSE };
        self.samples.clear();
        self.pending.clear();
        self.samples.push((R::zero(), self.values[1][event].clone()));
        for k in 1..parts {
            let fraction = R::from_f64(k as f64 / parts as f64);
            let value = self.evaluate(&fraction, event, by)?;
            self.samples.push((fraction, value));
        }
        self.samples.push((R::one(), self.values[2][event].clone()));
        let value = |j: usize| self.samples[j].1.to_f64();
        let bend_at = |j: usize| {
            let j = j.clamp(1, parts - 1);
            bend(value(j - 1), value(j), value(j + 1))
        };
        let largest = (0..=parts).map(|j| value(j).abs()).fold(0.0, f64::max);
        if (1..parts).filter(|j| bend_at(*j).abs() > largest).count() > MOST_JUMPS {
            self.crossings.tallies[event].unresolved += 1;
        }
        for j in (1..=parts).rev() {
            let bends = [bend_at(j - 1), bend_at(j)];
            self.pending.push(Part { end: self.samples[j].clone(), bends });
        }
        self.samples.truncate(1);
        Ok(())
    }

    /// The value at the start of the step, at a point within it, or at its end.
    fn value(&self, event: usize, j: usize) -> &R {
        match j.checked_sub(1) {
            None => &self.values[1][event],
            Some(point) => {
                self.inner.get(point * self.events.len() + event).unwrap_or(&self.values[2][event])
            }
        }
    }

    /// The second difference of the values of the last two steps, as it is for parts of a step.
    fn bend_of_steps(&self, event: usize) -> f64 {
        let [earlier, before, after] = self.values.each_ref().map(|values| values[event].to_f64());
        let parts = (self.within.points() + 1) as f64;
        bend(earlier, before, after) / (parts * parts)
    }

    /// The second difference at a point; at the ends of the step, where a neighbour is missing, as those of the next two points continue.
    fn bend(&self, event: usize, j: usize, of_steps: f64) -> f64 {
        let own = |j: usize| {
            let [left, middle, right] = [j - 1, j, j + 1].map(|j| self.value(event, j).to_f64());
            bend(left, middle, right)
        };
        let last = self.within.points();
        let own = match j {
            0 => 2.0 * own(1) - own(2),
            _ if j > last => 2.0 * own(last) - own(last - 1),
            _ => own(j),
        };
        if self.within.is_stiff() && of_steps.abs() > own.abs() { of_steps } else { own }
    }

    /// Whether zeros may hide between values.
    fn bends(&self, event: usize) -> bool {
        let of_steps = self.bend_of_steps(event);
        let mut left = (self.value(event, 0).to_f64(), self.bend(event, 0, of_steps));
        (1..=self.within.points() + 1).any(|j| {
            let right = (self.value(event, j).to_f64(), self.bend(event, j, of_steps));
            let hides = may_hide(left.0, right.0, [left.1, right.1]);
            left = right;
            hides
        })
    }

    /// Whether a formula may have changed its sign in the step, or is zero somewhere.
    fn suspicious(&self, event: usize) -> bool {
        let inner = self.inner.iter().skip(event).step_by(self.events.len());
        let end = sign(&self.values[2][event]);
        let first = self.side[event];
        let first = if first == 0 { end } else { first };
        // a zero at the start of the step needs no look of its own: beyond it the sign is another than before it, or nothing happens
        self.fast[event] > 0
            || end != first
            || inner.clone().any(|x| sign(x) != first || !x.is_finite())
            || self.bends(event)
    }

    /// Finds the sign changes of a formula in the step.
    fn search(&mut self, event: usize, first_step: bool) -> Found<()> {
        let by_steps = self.within.is_stiff() && (self.fast[event] > 0 || self.bends(event));
        let by = if by_steps { By::Steps } else { By::Polynomial };
        if self.fast[event] > 0 {
            self.sample_densely(event, by)?;
        } else {
            self.sample(event, by)?;
        }
        self.refine(event, by)?;
        let before = (self.found.len(), self.side[event]);
        if !self.locate(event, first_step, by)? {
            self.found.truncate(before.0);
            self.side[event] = before.1;
            self.sample_by_steps(event)?;
            self.locate(event, first_step, By::Steps)?;
        }
        Ok(())
    }

    /// Parts of the step between the points that were looked at.
    fn sample(&mut self, event: usize, by: By) -> Found<()> {
        let of_steps = self.bend_of_steps(event);
        self.samples.clear();
        self.pending.clear();
        self.samples.push((R::zero(), self.values[1][event].clone()));
        for point in 0..self.within.points() {
            let place = point * self.events.len() + event;
            if by == By::Steps || !self.inner[place].is_finite() {
                let fraction = self.within.fraction(point).clone();
                self.inner[place] = self.within.value(&fraction, event, &self.events[event].0)?;
            }
        }
        for j in (1..=self.within.points() + 1).rev() {
            let fraction =
                if j > self.within.points() { R::one() } else { self.within.fraction(j - 1).clone() };
            let bends = [j - 1, j].map(|j| self.bend(event, j, of_steps));
            self.pending.push(Part { end: (fraction, self.value(event, j).clone()), bends });
        }
        Ok(())
    }

    /// Divides parts of the step in which zeros may hide.
    fn refine(&mut self, event: usize, by: By) -> Found<()> {
        let mut left_over = MOST_POINTS;
        let mut resolved = true;
        while let (Some(part), Some((start, value))) = (self.pending.pop(), self.samples.last()) {
            let (left, right) = (value.to_f64(), part.end.1.to_f64());
            let width = (part.end.0.clone() - start.clone()).to_f64();
            let divides = width > CLOSEST && may_hide(left, right, part.bends);
            resolved &= !divides || left_over > 0;
            if !divides || left_over == 0 {
                self.samples.push(part.end);
                continue;
            }
            left_over -= 1;
            let middle = (start.clone() + part.end.0.clone()) * R::from_f64(0.5);
            let value = self.evaluate(&middle, event, by)?;
            let own = bend(left, value.to_f64(), right);
            // a quarter of it where points are half as far apart
            let [before, after] = part.bends.map(|bend| 0.25 * bend);
            self.pending.push(Part { end: part.end, bends: [own, after] });
            self.pending.push(Part { end: (middle, value), bends: [before, own] });
        }
        if !resolved {
            self.crossings.tallies[event].unresolved += 1;
        }
        Ok(())
    }

    /// A value within the step.
    fn evaluate(&mut self, fraction: &R, event: usize, by: By) -> Found<R> {
        if by == By::Polynomial {
            let value = self.within.on_polynomial(fraction, event);
            if !value.to_f64().is_nan() {
                return Ok(value);
            }
        }
        self.within.near(fraction, event, &self.events[event].0)
    }

    /// Replaces values of the polynomial.
    fn sample_by_steps(&mut self, event: usize) -> Found<()> {
        let inner = self.samples.len() - 1;
        for (fraction, value) in self.samples.iter_mut().take(inner).skip(1) {
            *value = self.within.near(fraction, event, &self.events[event].0)?;
        }
        Ok(())
    }

    /// Locates all sign changes between the samples. False if partial steps do not confirm those of the polynomial.
    fn locate(&mut self, event: usize, first_step: bool, by: By) -> Found<bool> {
        let mut at_zero: Option<usize> = None;
        let mut last: Option<R> = None;
        for j in 0..self.samples.len() {
            let here = sign(&self.samples[j].1);
            if here == 0 {
                at_zero = at_zero.or(Some(j));
                continue;
            }
            if self.side[event] == -here {
                let change = match (by, self.change(event, at_zero, j, by)?) {
                    (By::Steps, change) => change,
                    (By::Polynomial, Change::Jump(_)) => return Ok(false),
                    (By::Polynomial, Change::Root(guess)) => match self.approach(event, guess, here)? {
                        Some(at) => Change::Root(at),
                        None => return Ok(false),
                    },
                };
                if let Change::Root(at) = &change {
                    if last.as_ref().is_some_and(|last| sign(&(at.clone() - last.clone())) <= 0) {
                        return Ok(false);
                    }
                    last = Some(at.clone());
                }
                if self.events[event].1.direction.admits(here > 0) {
                    self.note(event, change, first_step);
                }
            }
            (self.side[event], at_zero) = (here, None);
        }
        Ok(true)
    }

    /// The change of sign at a sample that is zero, or else between a sample and the one before it.
    fn change(&mut self, event: usize, at: Option<usize>, j: usize, by: By) -> Found<Change<R>> {
        let (within, name) = (&mut self.within, &self.events[event].0);
        let function = |x: &R| match by {
            By::Polynomial => Ok(within.on_polynomial(x, event)),
            By::Steps => within.near(x, event, name),
        };
        match at {
            Some(at) => zero(self.samples[at].0.clone(), &self.samples[j].1, function),
            None => root(self.samples[j.saturating_sub(1)].clone(), self.samples[j].clone(), function),
        }
    }

    /// Changes up to this part of the first step are of the start.
    fn start_of(&self, event: usize) -> f64 {
        if sign(&self.values[1][event]) == 0 { START_AT_ZERO } else { START * R::epsilon() }
    }

    /// Keeps a change for now.
    fn note(&mut self, event: usize, change: Change<R>, first_step: bool) {
        match change {
            Change::Root(at) if first_step && at.to_f64() <= self.start_of(event) => {}
            Change::Root(at) => self.found.push((at, event)),
            Change::Jump(at) => self.crossings.tallies[event].jump(self.within.time(&at).to_f64()),
        }
    }

    /// From a root on the polynomial to one at the end of a partial step, by Newton's method with the slope of the polynomial and then by
    /// secants. Nothing if that does not converge, within the step, to a change to this sign.
    fn approach(&mut self, event: usize, guess: R, rising: i8) -> Found<Option<R>> {
        let one = R::one();
        let mut slope = self.slope(event, &guess);
        let mut last: Option<(R, R, R)> = None;
        let mut at = guess;
        for _ in 0..MOST_PARTIAL_STEPS {
            let value = self.within.near(&at, event, &self.events[event].0)?;
            if sign(&value) == 0 {
                return Ok(Some(at));
            }
            if let Some((before, value_before, _)) = &last {
                slope = (value.clone() - value_before.clone()) / (at.clone() - before.clone());
            }
            if !value.is_finite() || !slope.is_finite() || sign(&slope) != rising {
                return Ok(None);
            }
            let change = value.clone() / slope.clone();
            if change.magnitude() <= 2.0 * R::epsilon() {
                return Ok(Some(at));
            }
            if let Some((before, value_before, change_before)) = &last
                && change.magnitude() >= 0.5 * change_before.magnitude()
            {
                // rounding is reached, or nothing is
                let rounding = change_before.magnitude() <= R::epsilon().sqrt();
                let nearer = value.magnitude() <= value_before.magnitude();
                return Ok(rounding.then(|| if nearer { at } else { before.clone() }));
            }
            let next = at.clone() - change.clone();
            if sign(&next) < 0 || sign(&(next.clone() - one.clone())) > 0 {
                return Ok(None);
            }
            last = Some((std::mem::replace(&mut at, next), value, change));
        }
        Ok(None)
    }

    /// The slope of a formula on the polynomial.
    fn slope(&mut self, event: usize, at: &R) -> R {
        // the root of the root of rounding: the error of the difference is that of its square
        let apart = R::from_f64(R::epsilon().sqrt().sqrt());
        let [low, high] = [at.clone() - apart.clone(), at.clone() + apart.clone()]
            .map(|x| self.within.on_polynomial(&x, event));
        (high - low) / (apart.clone() + apart)
    }

    /// Keeps what was found, in the order of time, up to a stop.
    fn keep(&mut self) -> Found<()> {
        // equal times keep the order of the run's events; sorting in place allocates nothing
        self.found.sort_unstable_by(|a, b| {
            let order = sign(&(a.0.clone() - b.0.clone()));
            order.cmp(&0).then(a.1.cmp(&b.1))
        });
        for (fraction, event) in &self.found {
            let t = self.within.go_to(fraction)?;
            let State { q, p, .. } = &self.within.state;
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
            for (side, value) in self.side.iter_mut().zip(&self.values[2]) {
                *side = sign(value);
            }
        } else {
            for event in 0..self.events.len() {
                if self.suspicious(event) {
                    self.search(event, moment.state.steps == 1)?;
                } else if self.side[event] == 0 {
                    self.side[event] = sign(&self.values[2][event]);
                }
            }
            self.keep()?;
        }
        self.crossings.look(&self.values[2], &moment.t);
        self.within.pass(moment.state, &moment.t);
        self.values.rotate_left(1);
        Ok(if self.stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Run, simulate};
    use super::*;
    use crate::system::{Settings, catalogue};

    #[test]
    fn an_event_takes_a_handful_of_partial_steps() {
        let mut run = Run::of("kepler");
        run.events.insert("plane".into(), Event::of("y - 0.1*x - 0.05"));
        let problem: Problem<f64> =
            catalogue::system("kepler").unwrap().problem(&Settings::default()).unwrap();
        let observed = Observed::new(&run, &problem.system, None).unwrap();
        for (name, step, most) in [
            ("gauss24", 0.2, 3.0),
            ("gauss8", 0.05, 4.0),
            ("lobatto8", 0.05, 4.0),
            ("split8", 0.05, 4.0),
            ("midpoint", 0.01, 6.0),
            ("rk4", 0.02, 5.0),
        ] {
            let method = Method::named(name).unwrap();
            let mut stepper = Stepper::new(&problem, &method, step);
            let mut events = Events::new(&problem, &method, &stepper, &observed);
            let mut state = State::new(&problem);
            let steps = (60.0 / step) as u64;
            simulate(&problem, &mut stepper, &mut state, steps, &mut [&mut events]);
            let count = events.crossings.len() as f64;
            assert!(count > 10.0, "{name}: {count}");
            let each = events.within.partial_steps as f64 / count;
            assert!((1.0..=most).contains(&each), "{name}: {each}");
        }
    }
}
