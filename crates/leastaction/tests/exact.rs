//! Every closed-form solution against a simulation of high order with small steps.
//!
//! Default states and others: pendulums that swing with an initial velocity, nearly stop at the top or turn round either way,
//! tops and spherical pendulums caught between their turning points, orbits started anywhere. Periods against independent
//! values with 16 digits.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::excessive_precision)] // digits as computed

mod common;

use common::{Watch, method, problem, problem_with, run};
use leastaction::exact;
use leastaction::prelude::*;
use leastaction::simulate::Moment;

/// The largest difference between the closed form and a simulation over a time.
fn difference(problem: &Problem<f64>, until: f64, steps: u64) -> f64 {
    let solution = exact::solution(problem).expect("a closed form");
    let mut worst = 0.0f64;
    let mut watch = Watch(|moment: &Moment<'_, f64>| {
        let exact = solution.at(&moment.t);
        assert_eq!(exact.len(), solution.coordinates.len());
        for (&i, exact) in solution.coordinates.iter().zip(exact) {
            let difference = (moment.state.q[i] - exact).abs();
            // NaN must count
            worst = if difference <= worst { worst } else { difference };
        }
    });
    run(problem, &method("gauss12"), until / steps as f64, steps, &mut [&mut watch]);
    println!("{} {:?} {:?}: {worst:.1e}", problem.system.name, problem.q0, problem.v0);
    worst
}

/// Compares over three periods, and checks that the period is one.
fn check(problem: &Problem<f64>, steps_per_period: u64, tolerance: f64) {
    let period = exact::period(problem).expect("a period");
    let worst = difference(problem, 3.0 * period, 3 * steps_per_period);
    assert!(worst < tolerance, "{} {:?}: {worst:e}", problem.system.name, problem.q0);
    let solution = exact::solution(problem).unwrap();
    // after a period the motion repeats, but for a whole turn or a drift; in between it does not
    let at = |fraction: f64| solution.at(&(fraction * period))[0];
    let (start, later) = (at(1.1) - at(0.1), at(2.1) - at(1.1));
    assert!((start - later).abs() < 1e-10, "{} {:?}: {start} {later}", problem.system.name, problem.q0);
}

#[test]
fn every_closed_form_of_the_catalogue_at_its_defaults() {
    let mut found = Vec::new();
    for entry in catalogue::ENTRIES {
        let problem = match entry.sizes {
            [] => problem(entry.name),
            _ => problem_with(entry.name, &[("n", 3.0)], None),
        };
        if exact::solution(&problem).is_none() {
            assert!(exact::period(&problem).is_none(), "{}: a period without a motion", entry.name);
            continue;
        }
        let until = exact::period(&problem).map_or(3.0, |period| 3.0 * period);
        let worst = difference(&problem, until, 600);
        assert!(worst < 2e-12, "{}: {worst:e}", entry.name);
        found.push(entry.name);
    }
    assert_eq!(found.len(), 9, "{found:?}");
}

#[test]
fn periods() {
    // computed with 25 digits
    for (name, expected) in [
        ("lagrange-top", 1.846_708_477_081_638_17),
        ("lagrange-top-cusps", 0.777_626_549_919_943_09),
        ("lagrange-top-reduced", 0.777_626_549_919_943_09),
        ("pendulum", 1.180_340_599_016_096_23),
        ("harmonic-oscillator", 1.0),
        ("charged-particle", 1.0),
        ("kepler", 2.0 * std::f64::consts::PI),
    ] {
        let found = exact::period(&problem(name)).expect(name);
        assert!((found / expected - 1.0).abs() < 4e-15, "{name}: {found:.17} {expected:.17}");
    }
    // the turning points of the tops, from the roots of their cubics with 25 digits
    for (name, coordinate, expected) in [
        ("lagrange-top", 0.5, 0.047_493_196_982_738_048),
        ("lagrange-top-cusps", 0.5, 1.067_447_279_700_808_37),
        ("lagrange-top-reduced", 0.5, 1.067_447_279_700_808_37),
    ] {
        let problem = problem(name);
        let half = coordinate * exact::period(&problem).unwrap();
        let solution = exact::solution(&problem).unwrap();
        let theta = solution.coordinates.iter().position(|&i| problem.system.coordinates[i].name == "theta");
        let found = solution.at(&half)[theta.unwrap()];
        assert!((found - expected).abs() < 1e-14, "{name}: {found:.17}");
    }
}

/// Weierstrass' ℘(z; g2, g3) for real z: its Laurent series at z/2^k, doubled k times.
fn weierstrass(z: f64, g2: f64, g3: f64) -> f64 {
    const HALVINGS: i32 = 4;
    let mut c = vec![0.0, 0.0, g2 / 20.0, g3 / 28.0];
    for k in 4..20 {
        let sum: f64 = (2..=k - 2).map(|j| c[j] * c[k - j]).sum();
        c.push(3.0 * sum / ((2 * k + 1) * (k - 3)) as f64);
    }
    let square = (z / 2f64.powi(HALVINGS)).powi(2);
    let series = (2..20).map(|k| c[k] * square.powi(k as i32 - 1)).sum::<f64>();
    // ℘(2z) = −2℘ + (℘''/2℘')²
    (0..HALVINGS).fold(1.0 / square + series, |p, _| {
        (6.0 * p * p - g2 / 2.0).powi(2) / (4.0 * (4.0 * p.powi(3) - g2 * p - g3)) - 2.0 * p
    })
}

#[test]
fn top_in_the_form_of_weierstrass() {
    // paper 000 eq. (20), its denominator corrected: cos θ = (2/m) ℘(t + ω3) + (2Ic + p_ψ²)/(6 I² m)
    let problem = problem("lagrange-top");
    let (inertia, m) = (2.33e-3, 0.1 * 9.81 * 0.15 / 2.33e-3);
    let (p_phi, p_psi) = (problem.p0[0], problem.p0[2]);
    let across = (p_phi - p_psi * 0.5).powi(2) / (2.0 * inertia * 0.75);
    let c = across + inertia * m * 0.5;
    let mean = (2.0 * inertia * c + p_psi * p_psi) / (6.0 * inertia * inertia * m);
    assert!((mean - 0.834302727988).abs() < 1e-12, "{mean}");
    // roots e = (u − mean) m/2; ℘(t + ω3) = e3 + (e3 − e1)(e3 − e2)/(℘(t) − e3)
    let [e3, e2, e1] = [0.5, 0.9988724100937546, 1.004035773870813971].map(|u: f64| (u - mean) * m / 2.0);
    let (g2, g3) = (-4.0 * (e1 * e2 + e1 * e3 + e2 * e3), 4.0 * e1 * e2 * e3);
    let solution = exact::solution(&problem).unwrap();
    for k in 1..40 {
        let t = 0.02 * f64::from(k);
        let shifted = e3 + (e3 - e1) * (e3 - e2) / (weierstrass(t, g2, g3) - e3);
        let difference = 2.0 / m * shifted + mean - solution.at(&t)[1].cos();
        assert!(difference.abs() < 1e-11, "{t}: {difference:e}");
    }
}

#[test]
fn pendulums() {
    let start = |q: f64, v: f64| problem_with("pendulum", &[], Some((&[q], &[v])));
    let omega = 2.0 * std::f64::consts::PI;
    // swinging: to the right and to the left, nearly at rest, on another turn
    for (q, v) in [(0.3, 2.0), (-1.0, -5.0), (2.9, 0.0), (0.0, 1e-3), (1.0, 4.0), (4.0 * omega + 0.5, -3.0)] {
        check(&start(q, v), 400, 2e-12);
    }
    // turning: forwards, backwards, fast, and from several turns away
    for (q, v) in [(0.5, 14.0), (0.5, -14.0), (-2.0, 40.0), (3.0, -13.0), (-31.0, 15.0)] {
        check(&start(q, v), 400, 2e-12);
    }
    // near the separatrix v = 2ω cos(q/2), on both sides: the errors grow as exp(ωt)
    for factor in [1.0 - 1e-6, 1.0 + 1e-6, -1.0 - 1e-6, -1.0 + 1e-6] {
        check(&start(0.0, 2.0 * omega * factor), 4000, 1e-8);
    }
    // other parameters
    let slow = problem_with("pendulum", &[("omega", 0.7), ("m", 3.0)], Some((&[1.0], &[0.2])));
    check(&slow, 400, 2e-12);
    // on the separatrix there is no period
    assert!(exact::period(&start(std::f64::consts::PI, 0.0)).is_none());
}

#[test]
fn tops() {
    let start = |q: [f64; 3], v: [f64; 3]| problem_with("lagrange-top", &[], Some((&q, &v)));
    for nutation in [3.0, -3.0, 0.5, -0.01] {
        check(&start([0.4, 1.0, 0.2], [2.0, nutation, 252.0]), 1000, 1e-12);
        // psi turns by a hundred radians, whose last bit is 1.4e-14
        check(&start([0.0, 2.0, 0.0], [-4.0, nutation, 100.0]), 1000, 2e-12);
        check(&start([0.0, 0.7, 0.0], [1.0, nutation, -180.0]), 1000, 1e-12);
    }
    for nutation in [1.0, -1.0] {
        let cusps = problem_with("lagrange-top-cusps", &[], Some((&[0.0, 1.0, 0.0], &[0.5, nutation, 6.0])));
        check(&cusps, 1000, 1e-12);
    }
}

#[test]
fn spherical_pendulums() {
    let start = |q: [f64; 2], v: [f64; 2]| problem_with("spherical-pendulum", &[], Some((&q, &v)));
    for swing in [0.8, -0.8, 2.5, -2.5] {
        check(&start([1.0, 0.3], [swing, 1.5]), 1000, 1e-12);
        check(&start([2.0, 0.0], [swing, -3.0]), 1000, 1e-12);
    }
    let short =
        problem_with("spherical-pendulum", &[("l", 0.2), ("m", 5.0)], Some((&[0.4, 0.0], &[1.0, 2.0])));
    check(&short, 1000, 1e-12);
}

#[test]
fn orbits() {
    let start = |mu: f64, q: [f64; 2], v: [f64; 2]| problem_with("kepler", &[("mu", mu)], Some((&q, &v)));
    // off the apsis, outwards, inwards and clockwise
    for v in [[0.4, 0.9], [-0.4, 0.9], [0.3, -1.1], [-0.7, -0.2]] {
        check(&start(1.0, [0.8, 0.6], v), 4000, 2e-12);
    }
    check(&start(3.0, [-1.0, 2.0], [0.5, 0.6]), 4000, 2e-12);
    let eccentric = problem_with("kepler", &[("e", 0.9)], None);
    check(&eccentric, 6000, 1e-11);
    // unbound orbits have neither period nor closed form here
    let unbound = start(1.0, [1.0, 0.0], [0.0, 1.5]);
    assert!(exact::period(&unbound).is_none() && exact::solution(&unbound).is_none());
}

#[test]
fn linear_systems() {
    let oscillator = problem_with("harmonic-oscillator", &[("omega", 3.0)], Some((&[0.5], &[-2.0])));
    check(&oscillator, 100, 1e-12);
    let charge = problem_with(
        "charged-particle",
        &[("m", 0.5), ("charge", -1.2), ("B", 3.0)],
        Some((&[0.1, 0.2, 0.3], &[1.0, -0.5, 0.7])),
    );
    check(&charge, 100, 1e-12);
    for (q, v) in [([0.1, -0.2], [1.0, -0.4]), ([0.0, 0.0], [0.0, 2.0])] {
        let parameters = [("m1", 0.7), ("m2", 2.0), ("l1", 0.4)];
        let pendulum = problem_with("linear-double-pendulum", &parameters, Some((&q, &v)));
        assert!(exact::period(&pendulum).is_none(), "two frequencies");
        let worst = difference(&pendulum, 5.0, 1000);
        assert!(worst < 1e-12, "{worst:e}");
    }
}

#[test]
fn outside_of_its_range_a_closed_form_is_not_given() {
    let solution = |name: &str, settings: Settings| {
        let problem: Problem<f64> = catalogue::system(name).unwrap().problem(&settings).unwrap();
        leastaction::exact::solution(&problem).is_some()
    };
    let set = |name: &str, value: f64| Settings {
        parameters: [(name.to_owned(), value.into())].into(),
        ..Settings::default()
    };
    for (name, parameter, value) in [
        ("pendulum", "omega", 0.0),
        ("harmonic-oscillator", "omega", 0.0),
        ("charged-particle", "B", 0.0),
        ("lagrange-top", "g", -9.81),
        ("spherical-pendulum", "g", -9.81),
    ] {
        assert!(!solution(name, set(parameter, value)), "{name} with {parameter} = {value}");
    }
    // at a pole the angles of a top are not defined
    let pole = Settings { q: Some(vec![0.0.into(), 0.0.into(), 0.0.into()]), ..Settings::default() };
    assert!(catalogue::system("lagrange-top").unwrap().problem::<f64>(&pole).is_err());
    // a system of the same name that is not the catalogue's
    let impostor = System::build("pendulum", "Another pendulum")
        .coordinate("q", "rad")
        .parameter("omega", "1", "", "not what it seems")
        .start(["1"], ["0"])
        .lagrangian(|q, v, _, _| v[0].squared() - q[0].powi(4))
        .unwrap();
    let problem: Problem<f64> = impostor.problem(&Settings::default()).unwrap();
    assert!(leastaction::exact::period(&problem).is_none());
}
