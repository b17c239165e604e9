//! The run itself, watched once: what it conserves, how its steps were solved, and states along it for everything else.
//!
//! Every step is also taken in two halves, so that the place where a step is least accurate is known: a close approach, or a
//! kink of the Lagrangian. There the order is measured.

use super::Subject;
use crate::analysis::drift::{EnergyDrift, EnergyWindows};
use crate::error::Cause;
use crate::scalar::elementary;
use crate::simulate::{Invariants, Moment, Observer, Outcome, diagnose, simulate};
use crate::step::{State, Stepper};
use std::ops::ControlFlow;

/// Energies are collected in so many windows.
pub(super) const WINDOWS: u64 = 20;
/// At most so many states are kept, and so many numbers of them.
const MOST_STATES: usize = 256;
const MOST_NUMBERS: usize = 20_000_000;
/// Momenta of so many coordinates over so many steps are kept for the period.
const MOST_SIGNALS: usize = 8;
pub(super) const SIGNAL_STEPS: usize = 4096;

/// What the run left behind.
pub(super) struct Trail {
    pub(super) outcome: Outcome,
    /// Steps taken.
    pub(super) steps: u64,
    pub(super) invariants: Invariants<f64>,
    pub(super) energy: EnergyDrift,
    /// The largest Σ|p_i v_i| of the states kept is made from these: states every `stride` steps, and the last.
    pub(super) states: Vec<State<f64>>,
    pub(super) corrections: u64,
    pub(super) most_corrections: u32,
    /// Sum of the logarithms of the contraction, and of how many steps.
    pub(super) contraction: (f64, u64),
    pub(super) evaluations: u64,
    /// Differences between a step and its two halves, of q and of p.
    pub(super) halves: Vec<[f64; 2]>,
    /// The largest |q| and |p|.
    pub(super) sizes: [f64; 2],
    /// Momenta of some coordinates over the first steps.
    pub(super) signals: Vec<Vec<f64>>,
}

impl Trail {
    /// Runs at most so many steps.
    pub(super) fn new(subject: &Subject<'_>, steps: u64) -> Self {
        let problem = &subject.plan.problem;
        let n = problem.system.n();
        let mut stepper = subject.plan.stepper(problem, subject.plan.step);
        let mut state = State::new(problem);
        let mut invariants = Invariants::new(problem);
        let mut windows = EnergyWindows::new(problem, steps, WINDOWS.min(steps));
        let states = (MOST_NUMBERS / (4 * n)).clamp(4, MOST_STATES) as u64;
        let moving = (0..n).filter(|i| !problem.system.structure().cyclic.contains(i));
        let moving: Vec<usize> = moving.collect();
        let every = moving.len().div_ceil(MOST_SIGNALS).max(1);
        let mut scan = Scan {
            half: Stepper::new(problem, &subject.plan.method, 0.5 * subject.plan.step),
            before: state.clone(),
            trial: state.clone(),
            stride: steps.div_ceil(states).max(1),
            states: Vec::new(),
            corrections: 0,
            most_corrections: 0,
            contraction: (0.0, 0),
            halves: Vec::with_capacity(steps as usize),
            sizes: [0.0; 2],
            signals: moving
                .iter()
                .step_by(every)
                .map(|i| (*i, Vec::with_capacity(SIGNAL_STEPS.min(steps as usize))))
                .collect(),
            watch: subject.watch,
        };
        let observers: &mut [&mut dyn Observer<f64>] = &mut [&mut invariants, &mut windows, &mut scan];
        let mut outcome = simulate(problem, &mut stepper, &mut state, steps, observers);
        if let Outcome::Failed(failure) = &mut outcome {
            failure.tried = diagnose(problem, &subject.plan.method, &stepper, &state, &failure.cause);
        }
        if scan.states.last().is_some_and(|last| last.steps < state.steps) {
            scan.states.push(state.clone());
        }
        Self {
            outcome,
            steps: state.steps,
            invariants,
            energy: windows.drift(),
            states: scan.states,

            corrections: scan.corrections,
            most_corrections: scan.most_corrections,
            contraction: scan.contraction,
            evaluations: stepper.evaluations(),
            halves: scan.halves,
            sizes: scan.sizes,
            signals: scan.signals.into_iter().map(|(_, signal)| signal).collect(),
        }
    }

    /// The step that differs most from its two halves, relative to the sizes of q and p, and that difference.
    pub(super) fn worst(&self) -> Option<(u64, f64)> {
        let part = |x: f64, size: f64| if x == 0.0 { 0.0 } else { x / size };
        let relative = |[q, p]: &[f64; 2]| part(*q, self.sizes[0]).max(part(*p, self.sizes[1]));
        let all = self.halves.iter().map(relative).enumerate();
        all.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, error)| (i as u64, error))
    }

    /// The state after so many steps, by steps from the last state kept before it.
    pub(super) fn state_after(&self, subject: &Subject<'_>, steps: u64) -> Option<State<f64>> {
        let mut state = self.states.iter().rev().find(|state| state.steps <= steps)?.clone();
        let mut stepper = subject.plan.stepper(&subject.plan.problem, subject.plan.step);
        while state.steps < steps {
            stepper.step(&mut state).ok()?;
        }
        Some(state)
    }

    /// So many of the states kept, spread over the run.
    pub(super) fn some(&self, count: usize) -> Vec<&State<f64>> {
        let last = self.states.len().saturating_sub(1);
        let count = count.min(self.states.len());
        let index = |i: usize| if count > 1 { i * last / (count - 1) } else { 0 };
        (0..count).map(|i| &self.states[index(i)]).collect()
    }
}

struct Scan<'a> {
    half: Stepper<f64>,
    before: State<f64>,
    trial: State<f64>,
    stride: u64,
    states: Vec<State<f64>>,
    corrections: u64,
    most_corrections: u32,
    contraction: (f64, u64),
    halves: Vec<[f64; 2]>,
    sizes: [f64; 2],
    signals: Vec<(usize, Vec<f64>)>,
    watch: crate::analysis::Watch<'a>,
}

impl Scan<'_> {
    /// How far two steps of half the size miss the present state.
    fn halves(&mut self, state: &State<f64>) -> [f64; 2] {
        self.trial.copy_from(&self.before);
        self.trial.steps *= 2;
        for _ in 0..2 {
            if self.half.step(&mut self.trial).is_err() {
                return [f64::INFINITY; 2];
            }
        }
        let far = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0f64, |m, (x, y)| m.max((x - y).abs()));
        [far(&self.trial.q, &state.q), far(&self.trial.p, &state.p)]
    }
}

impl Observer<f64> for Scan<'_> {
    fn observe(&mut self, moment: &Moment<'_, f64>) -> Result<ControlFlow<()>, Cause> {
        let state = moment.state;
        if state.steps > 0 {
            self.corrections += u64::from(moment.iterations);
            self.most_corrections = self.most_corrections.max(moment.iterations);
            if let Some(rate) = moment.stepper.contraction() {
                self.contraction.0 += elementary::ln(rate.max(f64::MIN_POSITIVE));
                self.contraction.1 += 1;
            }
            let halves = self.halves(state);
            self.halves.push(halves);
        }
        for (size, part) in self.sizes.iter_mut().zip([&state.q, &state.p]) {
            *size = part.iter().fold(*size, |m, x| m.max(x.abs()));
        }
        if state.steps.is_multiple_of(self.stride) {
            self.states.push(state.clone());
        }
        for (i, signal) in &mut self.signals {
            if signal.len() < SIGNAL_STEPS {
                signal.push(state.p[*i]);
            }
        }
        self.before.copy_from(state);
        Ok((self.watch)(3))
    }
}
