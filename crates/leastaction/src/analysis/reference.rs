//! References that are computed: a run of higher order, with smaller steps and more digits, whose states are kept.
//!
//! [`Plan`] chooses what was left open, [`Tracks`] computes a track for every step size when it is first asked for.

use super::studies::Watch;
use super::truth::{Computed, Needs, Track};
use crate::error::{Error, Result};
use crate::method::Method;
use crate::scalar::Real;
use crate::simulate::numbers::{Numbers, in_precision};
use crate::simulate::{MAX_DIGITS, Run};
use crate::step::{State, Stepper};
use crate::system::{Problem, System, catalogue};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A reference of so many unknowns in all its steps is computed with more digits than an `f64` has, if nothing else is said:
/// about a second of work.
const SHORT: u64 = 100_000;
/// Digits of such a reference.
const MORE_DIGITS: usize = 32;
/// At least this order, and this much more than that of the methods compared.
const LEAST_ORDER: usize = 12;
const MORE_ORDER: usize = 4;
const LARGEST_ORDER: usize = 40;
/// At most so many 64-bit numbers are kept: 320 MB.
const MOST_NUMBERS: u64 = 40_000_000;
/// At most so many steps are taken, of which no machine would see the end.
const MOST_STEPS: u64 = 1 << 50;

/// How the reference is computed, with nothing left open.
pub(super) struct Plan {
    run: Run,
    system: System,
    method: Method,
    /// Steps of the reference for each row of a track, by step size.
    refine: Vec<u64>,
    /// Where steps divide each other, the track of the smallest serves all: its index, and its rows for each step of the others.
    shared: Option<(usize, Vec<u64>)>,
    digits: Option<usize>,
    /// Steps of all tracks.
    pub(super) total: u64,
}

impl Plan {
    pub(super) fn new<R: Real>(
        how: &Computed,
        (run, own): (&Run, &System),
        methods: &[Method],
        steps: &[R],
        ends: &[Vec<u64>],
    ) -> Result<Self> {
        let (mut reference, system) = match &how.system {
            None => (run.clone(), own.clone()),
            Some(name) => (Run::of(name), catalogue::system(name)?),
        };
        let order = methods.iter().map(|m| m.order + MORE_ORDER).max().unwrap_or(0);
        let order = order.clamp(LEAST_ORDER, LARGEST_ORDER);
        let name = how.method.clone().unwrap_or_else(|| format!("gauss{order}"));
        let method = Method::for_system(&name, &system)?;
        if how.refine == Some(0) {
            return Err(Error::ZeroCount { what: "refine".to_owned() });
        }
        let sizes: Vec<f64> = steps.iter().map(R::to_f64).collect();
        let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let finer = |h: &f64| how.refine.unwrap_or_else(|| (2.0 * h / least).ceil() as u64);
        let refine: Vec<u64> = sizes.iter().map(finer).collect();
        let longest = |ends: &Vec<u64>| ends.iter().copied().max().unwrap_or(0);
        let shared = if how.refine.is_none() { nested(&sizes) } else { None };
        let total = match &shared {
            Some((finest, _)) => refine[*finest].saturating_mul(longest(&ends[*finest])),
            None => refine
                .iter()
                .zip(ends)
                .map(|(refine, ends)| refine.saturating_mul(longest(ends)))
                .fold(0, u64::saturating_add),
        };
        if total > MOST_STEPS {
            return Err(Error::TooManySteps { steps: total as f64 });
        }
        let rows: u64 = match &shared {
            Some((finest, _)) => longest(&ends[*finest]),
            None => ends.iter().map(longest).sum(),
        };
        let kept = rows * 2 * system.n() as u64 * (size_of::<R>() / size_of::<f64>()).max(1) as u64;
        if kept > MOST_NUMBERS {
            let message = format!(
                "a computed reference would keep {kept} numbers; try the exact solution, larger steps or a shorter time"
            );
            return Err(Error::BadStudy { message });
        }
        let digits = match (how.precision, run.precision) {
            (None, None) => {
                let unknowns = total.saturating_mul((method.degree().unwrap_or(1) * system.n()) as u64);
                (unknowns <= SHORT).then_some(MORE_DIGITS)
            }
            (None, some) => some,
            (Some(digits), of_run) => Some(digits.max(of_run.unwrap_or(0))),
        };
        if digits.is_some_and(|digits| !(1..=MAX_DIGITS).contains(&digits)) {
            let message = format!("a reference can have 1 to {MAX_DIGITS} digits");
            return Err(Error::BadStudy { message });
        }
        reference.precision = digits;
        Ok(Self { run: reference, system, method, refine, shared, digits, total })
    }
}

/// The smallest step, and how often it fits into each of the others, if it does.
fn nested(sizes: &[f64]) -> Option<(usize, Vec<u64>)> {
    let (finest, least) = sizes.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let ratios: Vec<f64> = sizes.iter().map(|h| h / least).collect();
    let whole = ratios.iter().all(|ratio| (ratio - ratio.round()).abs() < 1e-9 * ratio);
    whole.then(|| (finest, ratios.iter().map(|ratio| ratio.round() as u64).collect()))
}

impl Plan {
    /// A reference that is no better than what is compared with it shows itself, not the other.
    pub(super) fn weakness(&self, methods: &[Method]) -> Option<String> {
        let best = methods.iter().max_by_key(|method| method.order)?;
        let same_steps = self.refine.iter().all(|refine| *refine <= 1) && self.shared.is_none();
        let weak = self.method.order < best.order || (self.method.order == best.order && same_steps);
        weak.then(|| {
            format!(
                "the reference `{}` has order {}, no more than `{}` with {}: their difference is not the error of the latter\n  \
                 try a reference of higher order, or a larger refine",
                self.method.name, self.method.order, best.name, best.order
            )
        })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = self.refine.iter().fold((u64::MAX, 0), |(a, b), r| (a.min(*r), b.max(*r)));
        write!(f, "a run of {} with {}", self.system.name, self.method.name)?;
        match (least, most) {
            _ if self.shared.is_some() => write!(f, " and half the smallest step")?,
            (1, 1) => write!(f, " and the same steps")?,
            (least, most) if least == most => write!(f, " and steps {least} times smaller")?,
            (least, most) => write!(f, " and steps {least} to {most} times smaller")?,
        }
        match self.digits {
            Some(digits) => write!(f, ", {digits} digits"),
            None => write!(f, ", f64"),
        }
    }
}

type Made<R> = std::result::Result<Arc<Track<R>>, String>;

/// Tracks by step size.
pub(super) struct Tracks<R> {
    pub(super) plan: Plan,
    /// Where the run's coordinates are in the reference.
    places: Vec<Option<usize>>,
    made: Vec<OnceLock<Made<R>>>,
}

impl<R: Real + Send + Sync + 'static> Tracks<R> {
    pub(super) fn new(plan: Plan, problem: &Problem<R>, needs: &Needs) -> Result<Self> {
        let names = plan.system.coordinate_names();
        let place = |name: &String| names.iter().position(|other| other == name);
        let places: Vec<Option<usize>> = problem.system.coordinate_names().iter().map(place).collect();
        let missing = places
            .iter()
            .enumerate()
            .find(|(i, place)| place.is_none() && (needs.momenta || needs.coordinates.contains(i)));
        if let Some((i, _)) = missing {
            let (other, name) = (&plan.system.name, &problem.system.coordinates[i].name);
            let message = format!("the reference `{other}` has no coordinate `{name}` to compare with");
            return Err(Error::BadStudy { message });
        }
        let made = plan.refine.iter().map(|_| OnceLock::new()).collect();
        Ok(Self { plan, places, made })
    }

    /// The track for a step size, which takes so many steps, and its rows for each of them. Whoever asks first computes it.
    pub(super) fn get(
        &self,
        index: usize,
        (step, steps): (&R, u64),
        watch: Watch<'_>,
    ) -> std::result::Result<(Arc<Track<R>>, u64), String> {
        match &self.plan.shared {
            None => Ok((self.made(index, step, steps, watch)?, 1)),
            Some((finest, rows)) => {
                let rows = rows[index];
                let small = step.clone() / R::from_f64(rows as f64);
                Ok((self.made(*finest, &small, steps * rows, watch)?, rows))
            }
        }
    }

    fn made(&self, index: usize, step: &R, steps: u64, watch: Watch<'_>) -> Made<R> {
        let make = || {
            in_precision!(self.plan.digits, W => {
                let numbers: Numbers<W> =
                    Numbers::new(&self.plan.run, &self.plan.system).map_err(|error| error.to_string())?;
                self.track(&numbers.problem, index, step, steps, watch)
            })
        };
        self.made[index].get_or_init(make).clone()
    }

    fn track<W: Real>(
        &self,
        problem: &Problem<W>,
        index: usize,
        step: &R,
        steps: u64,
        watch: Watch<'_>,
    ) -> Made<R> {
        let refine = self.plan.refine[index];
        let size = convert::<R, W>(step) / W::from_f64(refine as f64);
        let mut stepper = Stepper::new(problem, &self.plan.method, size);
        let mut state = State::new(problem);
        let (mut q, mut p) = (Vec::new(), Vec::new());
        let mut keep = |state: &State<W>| {
            q.extend(state.q.iter().map(convert::<W, R>));
            p.extend(state.p.iter().map(convert::<W, R>));
        };
        keep(&state);
        for _ in 0..steps {
            for _ in 0..refine {
                if let Err(cause) = stepper.step(&mut state) {
                    let time = stepper.time(state.steps);
                    let failure = problem.failure(state.steps + 1, &time, (&state.q, &state.p), cause);
                    return Err(format!("the reference failed: {failure}"));
                }
                if watch(1).is_break() {
                    return Err("interrupted".to_owned());
                }
            }
            keep(&state);
        }
        let places = self.places.clone();
        Ok(Arc::new(Track { places, width: self.plan.system.n(), q, p }))
    }
}

/// A number in another type: by way of `f64` if one of them is no wider, else by its decimal digits.
fn convert<A: Real, B: Real>(x: &A) -> B {
    if A::epsilon() >= f64::EPSILON || B::epsilon() >= f64::EPSILON {
        B::from_f64(x.to_f64())
    } else {
        B::from_decimal(&x.to_text(None))
    }
}
