//! The same stepper with many digits. Energies to twenty digits are in `reproduce.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::prelude::*;
use leastaction::scalar::{Digits, Field, Real};

type Number = Digits<4>;

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
