//! Counts as regression: how much work standard runs take.
//!
//! Corrections a step and lengths of tapes are exact and the same on every machine. Better is welcome: then lower the
//! numbers here. Worse needs a reason.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::problem;
use leastaction::prelude::*;
use leastaction::system::Quantity;

#[test]
fn corrections_a_step() {
    // system, method, corrections of a step of the default run, by sweeps or as one tape: on average and at most
    for (system, method, mean, largest) in [
        ("double-pendulum", "midpoint", 2.15, 8),
        ("double-pendulum", "simpson", 2.16, 7),
        ("double-pendulum", "lobatto", 2.15, 7),
        ("double-pendulum", "gauss8", 6.54, 11),
        ("double-pendulum", "gauss16", 4.96, 7),
        ("lagrange-top", "simpson", 2.43, 11),
        ("pendulum", "simpson", 2.01, 4),
        ("harmonic-oscillator", "simpson", 2.03, 8),
        ("kepler", "lobatto8", 5.70, 9),
        ("fput", "simpson", 7.98, 12),
        ("outer-solar-system", "lobatto8", 8.68, 10),
        ("n-pendulum", "simpson", 11.43, 17),
    ] {
        let run = Run { method: Some(method.to_owned()), every: Some(0), ..Run::of(system) };
        let found = run.simulate().unwrap().summary.newton;
        let what =
            format!("{system} with {method}: {:.2} and {}", found.iterations_mean, found.iterations_max);
        println!("{what}");
        assert!(found.iterations_mean < mean + 0.15, "{what}");
        // one correction cannot be judged by how it shrinks: a step that takes no second one was accepted as guessed
        assert!(found.iterations_mean > 1.99, "{what}");
        assert!(found.iterations_max <= largest + 1, "{what}");
    }
}

#[test]
fn corrections_a_step_with_64_digits() {
    // after a start in f64, whose matrix gains about 15 digits a correction
    for (system, method, mean, largest) in [
        ("double-pendulum", "simpson", 4.84, 5),
        ("double-pendulum", "lobatto8", 5.00, 5),
        ("lagrange-top", "simpson", 4.78, 5),
        ("kepler", "lobatto8", 4.73, 5),
    ] {
        let run = Run {
            method: Some(method.to_owned()),
            every: Some(0),
            precision: Some(64),
            until: Some(Quantity::Number(1.0)),
            ..Run::of(system)
        };
        let found = run.simulate().unwrap().summary.newton;
        let what =
            format!("{system} with {method}: {:.2} and {}", found.iterations_mean, found.iterations_max);
        println!("{what}");
        assert!(found.iterations_mean < mean + 0.15 && found.iterations_max <= largest + 1, "{what}");
    }
}

#[test]
fn lengths_of_tapes() {
    // graph; gradient, Hessian, momentum, mass, energy, acceleration
    for (name, graph, tapes) in [
        ("double-pendulum", 131, [27, 54, 14, 18, 33, 32]),
        // two nodes are replaced when sines and cosines are put together, and stay in the graph
        ("lagrange-top", 116, [25, 58, 14, 24, 27, 39]),
        ("kepler", 105, [19, 64, 2, 4, 13, 19]),
    ] {
        let model = &problem(name).system.model;
        let found = [
            model.gradient_tape(),
            model.hessian_tape(),
            model.momentum_tape(),
            model.mass_tape(),
            model.energy_tape(),
            model.acceleration_tape(),
        ]
        .map(|tape| tape.len());
        println!("{name}: graph {}, tapes {found:?}", model.graph.len());
        assert!(model.graph.len() <= graph, "{name}: {}", model.graph.len());
        for (found, most) in found.into_iter().zip(tapes) {
            assert!(found > 0 && found <= most, "{name}: {found} instead of {most}");
        }
    }
}
