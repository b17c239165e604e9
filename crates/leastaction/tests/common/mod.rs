//! What the tests of the numerical claims share: problems by name, runs that watch something, comparisons.
#![allow(dead_code, unreachable_pub)]

pub mod timed;

use leastaction::error::Cause;
use leastaction::prelude::*;
use leastaction::simulate::{Invariants, Moment, Observer, Outcome, Plan, simulate};
use leastaction::system::{Quantity, Start};
use std::ops::ControlFlow;

/// The method with this name.
pub fn method(name: &str) -> Method {
    Method::named(name).expect(name)
}

/// A catalogue system with its defaults, the sized ones small.
pub fn problem(name: &str) -> Problem<f64> {
    problem_with(name, &[], None)
}

/// A catalogue system with parameters replaced, and with q and v if given.
pub fn problem_with(name: &str, parameters: &[(&str, f64)], start: Option<(&[f64], &[f64])>) -> Problem<f64> {
    let number = |x: &f64| Quantity::Number(*x);
    let mut parameters =
        parameters.iter().map(|(name, value)| ((*name).to_owned(), Quantity::Number(*value))).collect();
    let system = catalogue::sized_system(name, &mut parameters).expect(name);
    let settings = Settings {
        parameters,
        q: start.map(|(q, _)| q.iter().map(number).collect()),
        start: start.map(|(_, v)| Start::Velocities(v.iter().map(number).collect())),
        ..Settings::default()
    };
    system.problem(&settings).expect(name)
}

/// The default run of every system of the catalogue, the sized ones in a small size.
pub fn small_catalogue() -> Vec<Plan> {
    let plan = |entry: &catalogue::Entry| {
        let n = if entry.name == "fput" { 6.0 } else { 3.0 };
        let sizes = entry.sizes.iter().map(|size| (size.name.to_owned(), Quantity::Number(n)));
        let run = Run { parameters: sizes.collect(), ..Run::of(entry.name) };
        run.plan().expect(entry.name)
    };
    catalogue::ENTRIES.iter().map(plan).collect()
}

/// An observer made of a function.
pub struct Watch<F>(pub F);

impl<F: FnMut(&Moment<'_, f64>)> Observer<f64> for Watch<F> {
    fn observe(&mut self, moment: &Moment<'_, f64>) -> std::result::Result<ControlFlow<()>, Cause> {
        (self.0)(moment);
        Ok(ControlFlow::Continue(()))
    }
}

/// Runs to the end and shows every step to the observers.
pub fn run(
    problem: &Problem<f64>,
    method: &Method,
    step: f64,
    steps: u64,
    observers: &mut [&mut dyn Observer<f64>],
) -> State<f64> {
    let mut stepper = Stepper::new(problem, method, step);
    let mut state = State::new(problem);
    match simulate(problem, &mut stepper, &mut state, steps, observers) {
        Outcome::Done => state,
        Outcome::Failed(failure) => panic!("{} with {}: {failure}", problem.system.name, method.name),
        other => panic!("nobody ends it: {other:?}"),
    }
}

/// Runs and returns energy and momenta as they were conserved.
pub fn invariants(problem: &Problem<f64>, method: &Method, step: f64, steps: u64) -> Invariants<f64> {
    let mut invariants = Invariants::new(problem);
    run(problem, method, step, steps, &mut [&mut invariants]);
    invariants
}

/// Asserts that a number agrees with the expected one to a relative tolerance and an absolute one, for rounding.
pub fn assert_close(what: &str, found: f64, expected: f64, relative: f64, rounding: f64) {
    let error = (found - expected).abs();
    assert!(
        error <= relative * expected.abs() + rounding,
        "{what}: found {found:.9e}, expected {expected:.9e}, relative difference {:.1e}",
        error / expected.abs()
    );
}
