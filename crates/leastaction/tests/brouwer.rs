//! Brouwer's law: at machine precision errors of energy and angular momentum are random walks, which grow like √steps and no faster.
//!
//! `cargo bench --workspace --bench brouwer` does the same over many more steps.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

// what is slow is left to the benchmark
#[allow(dead_code)]
#[path = "common/walk.rs"]
mod walk;

use leastaction::method::{Method, Partitioned, Scheme};
use walk::{CASES, Case, Growth, Runs, Way, growth, mean, samples};

/// Where a fit begins.
const FIT_FROM: u64 = 100;

/// The growth of the energy error, and that of angular momentum.
fn measure(case: &Case, way: Way, runs: u64, steps: u64) -> [Growth; 2] {
    let samples = samples(10, steps, 4);
    let errors: Runs = (0..runs).map(|run| case.errors(way, run, &samples)).collect();
    let found = [0, 1].map(|which| growth(&samples, &errors, which, FIT_FROM));
    for (what, Growth { exponent, a_step }) in ["energy", "angular momentum"].iter().zip(found) {
        println!("{} {}: {what} {a_step:.1e} a step, exponent {exponent:.2}", case.system, way.name());
    }
    found
}

/// How many runs and steps a test can afford.
fn affordable(case: &Case) -> (u64, u64) {
    if case.system == "outer-solar-system" { (16, 100_000) } else { (16, 300_000) }
}

#[test]
fn errors_of_long_runs_grow_like_the_root_of_the_number_of_steps() {
    for case in &CASES {
        let (runs, steps) = affordable(case);
        for (what, found) in ["energy", "angular momentum"].iter().zip(measure(case, Way::Ours, runs, steps))
        {
            if found.a_step > 0.0 {
                assert!(found.exponent <= 0.6, "{} {what}: {found:?}", case.system);
                // rounding of a step's changes, in a few units
                assert!(found.a_step < 1e-16, "{} {what}: {found:?}", case.system);
            }
        }
    }
}

/// A drift that is too small to show in an exponent yet: the double pendulum had one of 6e-22 a step, 9 standard errors here, while velocities kept
/// what was left of the guess they came from.
#[test]
fn what_a_step_begins_with_leaves_no_drift() {
    const RUNS: u64 = 8;
    const STRETCHES: u64 = 64;
    let case = &CASES[0];
    let samples: Vec<u64> = (0..=STRETCHES).map(|k| k * 15_000).collect();
    // of each run in its own standard errors, because some walk ten times as far as others
    let drifts = (0..RUNS).map(|run| {
        let errors = case.errors(Way::Ours, run, &samples);
        let [drift, error] = mean(errors.windows(2).map(|ends| ends[1][0] - ends[0][0]));
        drift / error
    });
    let drift = drifts.sum::<f64>() / (RUNS as f64).sqrt();
    println!("{}: a drift of {drift:.1} standard errors", case.system);
    assert!(drift.abs() < 4.0, "{drift} standard errors");
}

#[test]
fn an_iteration_that_stops_at_1e_12_drifts() {
    for case in &CASES {
        let (runs, steps) = affordable(case);
        let [energy, _] = measure(case, Way::Early, runs / 2, steps / 4);
        assert!(energy.exponent > 0.7 && energy.a_step > 1e-16, "{}: {energy:?}", case.system);
    }
}

#[test]
fn naive_sums_walk_with_longer_steps() {
    let kepler = &CASES[1];
    let ours = measure(kepler, Way::Ours, 16, 30_000)[0].a_step;
    let naive = measure(kepler, Way::Naive, 16, 30_000)[0].a_step;
    assert!(naive > 2.5 * ours, "{naive:e} and {ours:e}");
}

/// The reason that coefficients are kept as they are: see [`Partitioned`].
#[test]
fn rounded_coefficients_are_symplectic_to_the_last_bit() {
    for method in Method::all() {
        let Scheme::Galerkin(galerkin) = method.scheme else { continue };
        let table: Partitioned<f64> = Partitioned::new(&galerkin);
        for (i, row) in table.positions.iter().enumerate() {
            for (j, &position) in row.iter().enumerate() {
                let force = table.forces[j][i];
                // both differences are exact
                assert!(1.0 - position == force && 1.0 - force == position, "{} {i} {j}", method.name);
            }
        }
    }
}
