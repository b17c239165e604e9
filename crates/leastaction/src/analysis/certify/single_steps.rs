//! Every step of the run by itself: how much it differs from its two halves, and how much of the energy it makes or loses.
//!
//! Differences are in the natural units of the motion, each coordinate and momentum in its own. Where time occurs in L, the energy is the balance
//! E − W. The steps that change it most are taken again in ever smaller parts: the change must fall with the order of the method.

use super::Subject;
use super::sizes::Sizes;
use super::trail::Trail;
use crate::error::Cause;
use crate::method::Method;
use crate::simulate::{EnergyMeter, Moment, Observer, simulate};
use crate::step::{State, Stepper};
use crate::system::{Problem, Velocities};
use std::ops::ControlFlow;

/// A step is taken again in so many parts: many, because errors at a kink depend on where in a part it lies.
const PARTS: [u64; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];
/// So many steps are.
const AGAIN: usize = 4;
/// Changes must fall at least with this part of the order. A force that jumps makes them fall like 1/k at best, a potential that jumps not at all.
const OF_THE_ORDER: f64 = 0.75;
/// An order is fitted to so many changes.
const FITTED: usize = 3;

/// What was seen of each step.
pub(super) struct SingleSteps {
    /// The largest difference between a step and its two halves.
    pub(super) halves: Vec<f64>,
    /// The change of the energy or the balance.
    changes: Vec<f64>,
}

/// Changes of the energy that do not fall with the order of the method.
pub(super) struct Unexplained {
    /// The order with which they fall.
    pub(super) order: f64,
    /// The change with the step of the run, relative to the energy scale.
    pub(super) change: f64,
    /// The time at which the step starts.
    pub(super) at: f64,
}

impl SingleSteps {
    /// Looks at as many steps as the run was watched for.
    pub(super) fn new(subject: &Subject<'_>, trail: &Trail, sizes: &Sizes) -> Self {
        let (problem, step) = (&subject.plan.problem, subject.plan.step);
        let mut state = State::new(problem);
        let mut scan = Scan {
            meter: EnergyMeter::new(problem),
            energy: 0.0,
            half: Stepper::new(problem, &subject.plan.method, 0.5 * step),
            before: state.clone(),
            difference: vec![0.0; sizes.all.len()],
            sizes,
            seen: Self { halves: Vec::new(), changes: Vec::new() },
            subject,
        };
        let mut stepper = subject.plan.stepper(problem, step);
        // a run that fails has been reported
        simulate(problem, &mut stepper, &mut state, trail.steps, &mut [&mut scan]);
        scan.seen
    }

    /// The step that differs most from its two halves, and that difference.
    pub(super) fn worst(&self) -> Option<(u64, f64)> {
        let all = self.halves.iter().copied().enumerate();
        all.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, error)| (i as u64, error))
    }

    /// The steps that change the energy most, in which it does not fall with the order as it should; changes up to `rounding` say nothing.
    pub(super) fn unexplained(
        &self,
        subject: &Subject<'_>,
        trail: &Trail,
        rounding: f64,
    ) -> Option<Unexplained> {
        let meter = &trail.invariants.meter;
        let relative = |change: f64| change.abs() / meter.energy_scale();
        let mut order: Vec<usize> = (0..self.changes.len()).collect();
        order.sort_by(|a, b| self.changes[*b].abs().total_cmp(&self.changes[*a].abs()));
        order.truncate(AGAIN);
        let first = *order.first()?;
        let mut worst = [0.0f64; PARTS.len()];
        for step in order {
            let state = trail.state_after(subject, step as u64)?;
            for (worst, change) in worst.iter_mut().zip(in_parts(subject, &state).ok()?) {
                *worst = worst.max(change.map_or(0.0, relative));
            }
        }
        let expected = OF_THE_ORDER * subject.plan.method.order as f64;
        let order = order_of(&worst, rounding).filter(|order| *order < expected)?;
        Some(Unexplained { order, change: worst[0], at: subject.time(first as u64) })
    }
}

/// The order with which changes that stand clear of rounding fall, from all of them or from the smaller parts alone if that is more: steps that are a
/// little large fall with their order in the end. Nothing if there are too few.
fn order_of(changes: &[f64], rounding: f64) -> Option<f64> {
    let points = PARTS.iter().zip(changes).filter(|(_, change)| **change > rounding);
    let points: Vec<(f64, f64)> = points.map(|(parts, change)| (1.0 / *parts as f64, *change)).collect();
    let late = &points[(points.len() / 2).min(points.len().checked_sub(FITTED)?)..];
    let fit = |points: &[(f64, f64)]| crate::analysis::order::fitted_order(points, 0.0);
    Some(fit(&points)?.max(fit(late)?))
}

/// The changes of the energy in a step that is taken in 1, 2, 3, … parts, where these can be solved.
fn in_parts(subject: &Subject<'_>, state: &State<f64>) -> Result<[Option<f64>; PARTS.len()], Cause> {
    let problem = started(subject, state)?;
    let method: &Method = &subject.plan.method;
    let mut stepper = Stepper::new(&problem, method, subject.plan.step);
    let mut meter = EnergyMeter::new(&problem);
    Ok(PARTS.map(|parts| {
        stepper.resize(&(subject.plan.step / parts as f64));
        meter.restart(None, &problem.t0, [&problem.q0, &problem.v0, &problem.p0]);
        change(&problem, &mut stepper, &mut meter, parts).ok().filter(|change| change.is_finite())
    }))
}

/// The change of the energy in so many steps.
fn change(
    problem: &Problem<f64>,
    stepper: &mut Stepper<f64>,
    meter: &mut EnergyMeter<f64>,
    steps: u64,
) -> Result<f64, Cause> {
    let mut state = State::new(problem);
    let mut energy = *meter.initial();
    for _ in 0..steps {
        let iterations = stepper.step(&mut state)?;
        let t = stepper.time(state.steps);
        energy = meter.measure(&Moment { t, state: &state, stepper, iterations })?;
    }
    Ok(energy - meter.initial())
}

/// The problem started at a state of the run, with its velocities.
fn started(subject: &Subject<'_>, state: &State<f64>) -> Result<Problem<f64>, Cause> {
    let mut problem = subject.from(state);
    let mut velocities = Velocities::new(&problem.system.model, &problem.parameters);
    velocities.velocities(&problem.q0, &problem.p0, &problem.t0, &mut problem.v0)?;
    Ok(problem)
}

struct Scan<'a> {
    meter: EnergyMeter<f64>,
    energy: f64,
    half: Stepper<f64>,
    before: State<f64>,
    difference: Vec<f64>,
    sizes: &'a Sizes,
    seen: SingleSteps,
    subject: &'a Subject<'a>,
}

impl Scan<'_> {
    /// How far two steps of half the size miss the present state.
    fn halves(&mut self, state: &State<f64>) -> f64 {
        self.before.steps *= 2;
        for _ in 0..2 {
            if self.half.step(&mut self.before).is_err() {
                return f64::INFINITY;
            }
        }
        let pairs = self.before.q.iter().zip(&state.q).chain(self.before.p.iter().zip(&state.p));
        for (difference, (a, b)) in self.difference.iter_mut().zip(pairs) {
            *difference = a - b;
        }
        self.sizes.largest(&self.difference)
    }
}

impl Observer<f64> for Scan<'_> {
    fn observe(&mut self, moment: &Moment<'_, f64>) -> Result<ControlFlow<()>, Cause> {
        let energy = self.meter.measure(moment)?;
        if moment.state.steps > 0 {
            let halves = self.halves(moment.state);
            self.seen.halves.push(halves);
            self.seen.changes.push(energy - self.energy);
        }
        self.energy = energy;
        self.before.clone_from(moment.state);
        Ok((self.subject.watch)(0))
    }
}
