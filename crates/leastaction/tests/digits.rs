//! The same stepper with many digits, against independent computations.
//!
//! The expected numbers are suprema of the relative energy error over all steps, computed in quad precision by another
//! program, with parameters, initial state and steps given as decimals. They hold about 20 digits, far more than 64 bits carry,
//! so they test that constants, formulas, nodes and weights all enter with the digits of the number type.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::prelude::*;
use leastaction::scalar::{Digits, Field, Real};
use leastaction::simulate::{Invariants, simulate};

type Number = Digits<4>;

/// The largest relative energy error over a run.
fn energy_error(system: &str, method: &str, step: Number, steps: u64) -> Number {
    let system = catalogue::system(system).unwrap();
    let problem: Problem<Number> = system.problem(&Settings::default()).unwrap();
    let mut stepper = Stepper::new(&problem, &Method::named(method).unwrap(), step);
    let mut state = State::new(&problem);
    let mut largest = Largest { invariants: Invariants::new(&problem), error: Number::zero() };
    simulate(&problem, &mut stepper, &mut state, steps, &mut [&mut largest]);
    assert_eq!(state.steps, steps);
    largest.error
}

/// Keeps the largest error with all its digits.
struct Largest {
    invariants: Invariants<Number>,
    error: Number,
}

impl leastaction::simulate::Observer<Number> for Largest {
    fn observe(
        &mut self,
        moment: &leastaction::simulate::Moment<'_, Number>,
    ) -> Result<std::ops::ControlFlow<()>, leastaction::error::Cause> {
        let flow = self.invariants.observe(moment)?;
        let initial = *self.invariants.meter.initial();
        let error = ((self.invariants.last - initial) / initial).abs();
        if (error - self.error).to_f64() > 0.0 {
            self.error = error;
        }
        Ok(flow)
    }
}

#[test]
fn energies_of_the_double_pendulum_to_twenty_digits() {
    for (method, step, steps, expected) in [
        ("midpoint", "0.04", 25, "7.608818120477352783889915e-04"),
        ("midpoint", "0.02", 50, "2.088342689977609089849172e-04"),
        ("midpoint", "0.01", 100, "5.348779365236878149850381e-05"),
        ("simpson", "0.04", 25, "8.088287905749441750071126e-06"),
        ("simpson", "0.02", 50, "4.937573676457003682054046e-07"),
        ("simpson", "0.01", 100, "3.067995394138585656299775e-08"),
        ("midpoint", "0.04", 250, "8.305306537956383398393808e-04"),
        ("midpoint", "0.02", 500, "2.293089102102308901832987e-04"),
        ("midpoint", "0.01", 1000, "5.777789970134084912044398e-05"),
        ("simpson", "0.04", 250, "8.827070885504967053731059e-06"),
        ("simpson", "0.02", 500, "5.469513847374848926638069e-07"),
        ("simpson", "0.01", 1000, "3.422406941240863719712193e-08"),
    ] {
        let found = energy_error("double-pendulum", method, Number::from_decimal(step), steps);
        let expected = Number::from_decimal(expected);
        let difference = ((found - expected) / expected).to_f64().abs();
        assert!(difference < 2e-20, "{method} {step}: {} differs by {difference:e}", found.to_decimal(30));
    }
}

#[test]
fn states_to_sixty_digits() {
    // q1 at t = 1 after 100 steps, by Newton's method with matrices of all 77 digits, and sines and cosines from series alone
    for (method, expected) in [
        ("simpson", "-8.405583701303774042525217961686858302691293099344570650406143344e-2"),
        ("lobatto8", "-8.405584310635760904395894049532313748415228908248052407974433853e-2"),
        ("gauss8", "-8.405584310638912741715644990446944998210487935311177243893236656e-2"),
    ] {
        let problem: Problem<Number> =
            catalogue::system("double-pendulum").unwrap().problem(&Settings::default()).unwrap();
        let mut stepper =
            Stepper::new(&problem, &Method::named(method).unwrap(), Number::from_decimal("0.01"));
        let mut state = State::new(&problem);
        for _ in 0..100 {
            stepper.step(&mut state).unwrap();
        }
        let difference = (state.q[0] - Number::from_decimal(expected)).to_f64().abs();
        assert!(difference < 1e-64, "{method}: {difference:e}");
    }
}
