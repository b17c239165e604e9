//! Ten thousand revolutions of an eccentric Kepler orbit: the energy swings and does not move away.
//!
//! Eccentricity 0.6, a million steps of a size that is no fraction of the period, so that no resonance flatters or spoils
//! the result. The energy error late in the run is as large as early, its mean has no slope beyond rounding; the same run
//! with the explicit method, over a hundredth of the time, fails both checks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{Watch, method, problem, run};
use leastaction::analysis::drift::{EnergyDrift, EnergyWindows};
use leastaction::simulate::Moment;

/// The period is 2π: 100.69 steps a revolution.
const STEP: f64 = 0.0624;

/// Energy, and the largest change of the angular momentum, relative.
fn revolve(name: &str, revolutions: f64) -> (EnergyDrift, f64) {
    let problem = problem("kepler");
    let steps = (revolutions * 2.0 * std::f64::consts::PI / STEP) as u64;
    let mut windows = EnergyWindows::new(&problem, steps, 100);
    let angular = |q: &[f64], p: &[f64]| q[0] * p[1] - q[1] * p[0];
    let initial = angular(&problem.q0, &problem.p0);
    let mut change = 0.0f64;
    let mut watch = Watch(|moment: &Moment<'_, f64>| {
        change = change.max((angular(&moment.state.q, &moment.state.p) / initial - 1.0).abs());
    });
    run(&problem, &method(name), STEP, steps, &mut [&mut windows, &mut watch]);
    let drift = windows.drift();
    println!("{name}, {steps} steps: {drift:?}, angular momentum {change:.1e}");
    (drift, change)
}

fn stays_bounded(name: &str) {
    let (energy, angular) = revolve(name, 1e4);
    assert!(energy.largest <= 1.5 * energy.largest_early, "{energy:?}");
    // rounding adds up in one direction, by about a hundredth of the last bit a step; more would be a drift
    let rounding = 0.03 * f64::EPSILON * 1e6;
    assert!(energy.drift.abs() < rounding.max(4.0 * energy.uncertainty), "{energy:?}");
    assert!(energy.drift.abs() < 0.05 * energy.largest, "{energy:?}");
    // the methods respect the rotational symmetry, so the angular momentum changes by rounding alone
    assert!(angular < rounding, "{angular:e}");
}

#[test]
fn lobatto8_stays_bounded() {
    stays_bounded("lobatto8");
}

#[test]
fn gauss8_stays_bounded() {
    stays_bounded("gauss8");
}

#[test]
fn rk4_does_not() {
    let (energy, angular) = revolve("rk4", 1e2);
    assert!(energy.largest > 5.0 * energy.largest_early, "{energy:?}");
    assert!(energy.drift.abs() > 0.5 * energy.largest && energy.drift.abs() > 10.0 * energy.uncertainty);
    assert!(angular > 1e-6, "{angular:e}");
}
