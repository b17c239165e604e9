//! Energy errors and errors against exact solutions, to the digits of an independent computation.
//!
//! Every expected number is the supremum over all steps, computed in quad precision (double pendulum, tops) or with 30 to
//! 40 digits (linear systems, pendulum) by another program: full Newton on the same discrete Euler–Lagrange equations, the
//! error against the closed-form solution or the initial energy. Rows hold three step sizes, each half of the one before.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{Watch, assert_close, invariants, method, problem, run};
use leastaction::analysis::order::distance;
use leastaction::error::Source;
use leastaction::exact;
use leastaction::prelude::*;
use leastaction::scalar::Dual;
use leastaction::simulate::Moment;
use leastaction::system::Velocities;

/// Digits in which the tables must agree.
const DIGITS: f64 = 1e-6;
/// The rounding of one energy, relative.
const ROUNDING: f64 = 4e-15;

/// Method, duration, three suprema.
type Row = (&'static str, f64, [f64; 3]);

#[test]
fn double_pendulum_energy() {
    // duration in seconds; h = 0.04, 0.02, 0.01
    let rows: [Row; 16] = [
        ("midpoint", 1.0, [7.60881812e-4, 2.08834269e-4, 5.34877937e-5]),
        ("rk4", 1.0, [7.28105234e-5, 2.10852304e-6, 6.25072016e-8]),
        ("simpson", 1.0, [8.08828791e-6, 4.93757368e-7, 3.06799539e-8]),
        ("lobatto", 1.0, [2.00473228e-8, 2.79402250e-10, 4.26764641e-12]),
        ("midpoint", 10.0, [8.30530654e-4, 2.29308910e-4, 5.77778997e-5]),
        ("rk4", 10.0, [1.03938766e-3, 3.40691433e-5, 1.07745616e-6]),
        ("simpson", 10.0, [8.82707089e-6, 5.46951385e-7, 3.42240694e-8]),
        ("lobatto", 10.0, [2.52056129e-8, 3.36229229e-10, 5.10764608e-12]),
        ("midpoint", 100.0, [8.32917910e-4, 2.34772624e-4, 5.91617907e-5]),
        ("rk4", 100.0, [9.57589506e-3, 3.24964703e-4, 1.02715032e-5]),
        ("simpson", 100.0, [9.74531111e-6, 5.96340855e-7, 3.70531436e-8]),
        ("lobatto", 100.0, [3.682641e-8, 4.724184e-10, 7.147751e-12]),
        ("midpoint", 1000.0, [8.32917910e-4, 2.34777680e-4, 5.92063752e-5]),
        // the printed row of the paper repeats the one for 1 s
        ("rk4", 1000.0, [7.42364480e-2, 3.21916642e-3, 1.03052826e-4]),
        ("simpson", 1000.0, [9.78038962e-6, 5.97913322e-7, 3.71561933e-8]),
        ("lobatto", 1000.0, [3.799175e-8, 4.813695e-10, 7.277130e-12]),
    ];
    let problem = problem("double-pendulum");
    for (name, duration, expected) in rows {
        for (i, steps_per_second) in [25.0, 50.0, 100.0].into_iter().enumerate() {
            let steps = (duration * steps_per_second) as u64;
            let found = invariants(&problem, &method(name), 1.0 / steps_per_second, steps);
            let what = format!("{name}, {duration} s, {steps} steps");
            assert_close(&what, found.max_relative_error(), expected[i], DIGITS, ROUNDING);
        }
    }
}

#[test]
fn top_energy() {
    // duration in nutation periods; 50, 100, 200 steps each
    let rows: [Row; 12] = [
        ("midpoint", 1.0, [1.02255925e-5, 2.59608054e-6, 6.51551996e-7]),
        ("rk4-velocity", 1.0, [6.73389702e-7, 4.47397281e-8, 2.87343142e-9]),
        ("simpson", 1.0, [3.55523659e-8, 2.19810659e-9, 1.37302603e-10]),
        ("lobatto", 1.0, [6.657705e-11, 1.011608e-12, 1.584817e-14]),
        ("midpoint", 10.0, [1.02258134e-5, 2.59609243e-6, 6.51551996e-7]),
        ("rk4-velocity", 10.0, [1.27770034e-6, 4.47397281e-8, 2.87343142e-9]),
        ("simpson", 10.0, [3.55809584e-8, 2.19816194e-9, 1.37302683e-10]),
        ("lobatto", 10.0, [6.657734e-11, 1.011609e-12, 1.584817e-14]),
        ("midpoint", 100.0, [1.02258143e-5, 2.59609243e-6, 6.51552006e-7]),
        ("rk4-velocity", 100.0, [1.31659355e-5, 4.30421252e-7, 1.36818503e-8]),
        ("simpson", 100.0, [3.58499749e-8, 2.19870820e-9, 1.37303484e-10]),
        ("lobatto", 100.0, [6.657734e-11, 1.011610e-12, 1.584817e-14]),
    ];
    let problem = problem("lagrange-top");
    let period = exact::period(&problem).unwrap();
    for (name, periods, expected) in rows {
        let method = method(name);
        for (i, per_period) in [50.0, 100.0, 200.0].into_iter().enumerate() {
            let steps = (periods * per_period) as u64;
            let found = invariants(&problem, &method, period / per_period, steps);
            let what = format!("{name}, {periods} periods, {steps} steps");
            // rk4 in (q, v) converts momenta to velocities and back in every step, and collects rounding
            let digits = if method.is_variational() { DIGITS } else { 1e-5 };
            assert_close(&what, found.max_relative_error(), expected[i], digits, ROUNDING);
            let names: Vec<&str> = found.momenta.iter().map(|drift| drift.name.as_str()).collect();
            assert_eq!(names, ["p_phi", "p_psi"], "phi and psi are cyclic");
            for drift in found.momenta {
                assert_eq!(drift.largest == 0.0, method.is_variational(), "{what}: {drift:?}");
            }
        }
    }
}

#[test]
fn top_nutation() {
    // relative error of theta against the closed form; duration in periods; 50, 100, 200 steps each
    let rows: [Row; 8] = [
        ("midpoint", 1.0, [1.53273189e-1, 3.70036535e-2, 9.21289545e-3]),
        ("rk4-velocity", 1.0, [2.84104759e-3, 1.66384144e-4, 1.00719602e-5]),
        ("simpson", 1.0, [2.65961456e-4, 1.64401059e-5, 1.02075863e-6]),
        ("lobatto", 1.0, [1.408567e-6, 2.218870e-8, 3.476392e-10]),
        ("midpoint", 10.0, [3.22048787e+0, 5.47689471e-1, 1.20647947e-1]),
        ("rk4-velocity", 10.0, [9.31942011e-2, 3.72451337e-3, 1.70662669e-4]),
        ("simpson", 10.0, [1.61064732e-3, 9.46448348e-5, 5.80961246e-6]),
        ("lobatto", 10.0, [1.650186e-5, 2.592487e-7, 4.059572e-9]),
    ];
    let problem = problem("lagrange-top");
    let period = exact::period(&problem).unwrap();
    let solution = exact::solution(&problem).unwrap();
    assert_eq!(solution.coordinates, [0, 1, 2]);
    for (name, periods, expected) in rows {
        for (i, per_period) in [50.0, 100.0, 200.0].into_iter().enumerate() {
            let steps = (periods * per_period) as u64;
            let mut worst = 0.0f64;
            let mut watch = Watch(|moment: &Moment<'_, f64>| {
                let theta = solution.at(&moment.t)[1];
                worst = worst.max((moment.state.q[1] / theta - 1.0).abs());
            });
            run(&problem, &method(name), period / per_period, steps, &mut [&mut watch]);
            let what = format!("{name}, {periods} periods, {steps} steps");
            // the axis comes within 0.05 of the vertical, where rounding grows
            assert_close(&what, worst, expected[i], DIGITS, 3e-12);
        }
    }
}

/// θ of a top at every step.
fn nutation(name: &str, method_name: &str, steps: u64) -> Vec<f64> {
    let problem = problem(name);
    let coordinate = problem.q0.len() / 2;
    let mut path = Vec::new();
    let mut watch = Watch(|moment: &Moment<'_, f64>| path.push(moment.state.q[coordinate]));
    run(&problem, &method(method_name), 1.0 / steps as f64, steps, &mut [&mut watch]);
    path
}

#[test]
fn reduced_top_against_the_complete_one() {
    // paper 000, section 4.3: one second with so many steps; the suprema of
    // simpson − rk4 of the reduced top, then simpson, rk4 reduced, lobatto and midpoint, each against the closed form
    let rows = [
        (10, [5.02939758e-3, 4.53423076e-3, 9.56362834e-3, 1.07497626e-4, 1.30312717e-1]),
        (20, [3.60862360e-4, 3.17317836e-4, 6.78180196e-4, 1.63871703e-6, 3.57888039e-2]),
        (40, [2.09700705e-5, 2.02127466e-5, 4.11802658e-5, 2.70045354e-8, 9.15418282e-3]),
        (80, [1.20910584e-6, 1.27570063e-6, 2.48480647e-6, 4.25747320e-10, 2.30911557e-3]),
        (160, [7.22999132e-8, 7.98312344e-8, 1.52018075e-7, 6.66881147e-12, 5.78280905e-4]),
        (320, [4.42063031e-9, 4.99101696e-9, 9.39269958e-9, 1.04272817e-13, 1.44645486e-4]),
    ];
    let solution = exact::solution(&problem("lagrange-top-reduced")).unwrap();
    for (steps, expected) in rows {
        let exact: Vec<f64> = (0..=steps).map(|k| solution.at(&(k as f64 / steps as f64))[0]).collect();
        let reduced = nutation("lagrange-top-reduced", "rk4-velocity", steps);
        let [simpson, lobatto, midpoint] =
            ["simpson", "lobatto", "midpoint"].map(|name| nutation("lagrange-top-cusps", name, steps));
        let pairs = [
            (&simpson, &reduced),
            (&simpson, &exact),
            (&reduced, &exact),
            (&lobatto, &exact),
            (&midpoint, &exact),
        ];
        for ((a, b), expected) in pairs.into_iter().zip(expected) {
            assert_eq!(a.len(), b.len());
            let found = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert_close(&format!("{steps} steps"), found, expected, DIGITS, 4e-15);
        }
    }
}

/// An elimination without exchanges of rows would lose half of the digits here.
#[test]
fn the_energy_of_an_indefinite_lagrangian_is_exact() {
    let text = "coordinates = [\"x\", \"y\"]\n[lagrangian]\nexpression = \"5e-11*v_x^2 + v_x*v_y - x*y\"\n\
                [initial]\nq = [0.3, 1]\nv = [1, 2]\n[run]\nmethod = \"gauss8\"\nstep = 0.01\nuntil = 1\n";
    let solution = Run::read("x", &Source::new("x.toml", text)).unwrap().simulate().unwrap();
    assert!(solution.summary.energy.max_relative_error < 1e-13, "{:?}", solution.summary.energy);
}

#[test]
fn every_variational_method_keeps_the_momenta_of_the_top_to_the_last_bit() {
    let problem = problem("lagrange-top");
    let step = exact::period(&problem).unwrap() / 100.0;
    for method in Method::all().into_iter().filter(|method| method.fits(&problem.system).is_ok()) {
        let steps = if method.order <= 8 { 1000 } else { 200 };
        let mut changes = 0u32;
        let mut watch = Watch(|moment: &Moment<'_, f64>| {
            for i in [0, 2] {
                changes += u32::from(moment.state.p[i].to_bits() != problem.p0[i].to_bits());
            }
        });
        run(&problem, &method, step, steps, &mut [&mut watch]);
        // rk4 in (q, p) keeps them too, because their rates are zero; in (q, v) it does not
        assert_eq!(changes == 0, method.name != "rk4-velocity", "{}: {changes} changes", method.name);
    }
}

/// Suprema of the errors of q, p and energy over a run, against a solution that gives q and p at a time.
fn suprema(
    problem: &Problem<f64>,
    name: &str,
    step: f64,
    steps: u64,
    mut solution: impl FnMut(f64) -> (Vec<f64>, Vec<f64>),
) -> [f64; 2] {
    let mut worst = [0.0f64; 2];
    let mut watch = Watch(|moment: &Moment<'_, f64>| {
        let (q, p) = solution(moment.t);
        worst[0] = worst[0].max(distance(&q, &moment.state.q));
        worst[1] = worst[1].max(distance(&p, &moment.state.p));
    });
    run(problem, &method(name), step, steps, &mut [&mut watch]);
    worst
}

#[test]
fn pendulum_over_a_period() {
    // N = 50, 100, 200; errors of q, p, energy (relative)
    let tables = [
        (
            "midpoint",
            [5.26466003e-3, 1.31686059e-3, 3.29176101e-4],
            [2.93326455e-2, 7.32299584e-3, 1.83011117e-3],
            [9.05576290e-4, 2.29046859e-4, 5.72853378e-5],
        ),
        (
            "simpson",
            [1.04968574e-6, 6.51374244e-8, 4.06381888e-9],
            [6.08558263e-6, 3.78190649e-7, 2.36100023e-8],
            [1.30476139e-6, 8.41928149e-8, 5.25452087e-9],
        ),
        (
            "lobatto",
            [4.21836941e-10, 6.69107167e-12, 1.04304702e-13],
            [2.83173867e-9, 4.56688429e-11, 7.11235690e-13],
            [6.23383596e-10, 1.02791011e-11, 1.60084274e-13],
        ),
    ];
    let problem = problem("pendulum");
    let omega = 2.0 * std::f64::consts::PI;
    let (m, quarter) = (0.5, exact::complete(&0.5));
    let period = exact::period(&problem).unwrap();
    let solution = exact::solution(&problem).unwrap();
    // p = q' = 2 k omega cn, released at a quarter period of sn
    let state = |t: f64| {
        let cn = exact::jacobi(&(quarter + omega * t), &m).cn;
        (solution.at(&t), vec![2.0 * m.sqrt() * omega * cn])
    };
    for (name, q, p, energy) in tables {
        for (i, steps) in [50u64, 100, 200].into_iter().enumerate() {
            let step = period / steps as f64;
            let [q_error, p_error] = suprema(&problem, name, step, steps, state);
            let found = invariants(&problem, &method(name), step, steps).max_relative_error();
            assert_close(&format!("{name} {steps} q"), q_error, q[i], DIGITS, 6e-15);
            assert_close(&format!("{name} {steps} p"), p_error, p[i], DIGITS, 3e-14);
            assert_close(&format!("{name} {steps} energy"), found, energy[i], DIGITS, ROUNDING);
        }
    }
}

#[test]
fn harmonic_oscillator_over_a_period() {
    // N = 10, 20, 40; errors of q, p, energy (absolute)
    let tables = [
        (
            "midpoint",
            [2.38335485e-1, 6.12484471e-2, 1.54886069e-2],
            [1.91500707e+0, 5.02395431e-1, 1.27034843e-1],
            // the midpoint rule conserves the energy of a linear system exactly
            [0.0; 3],
        ),
        (
            "simpson",
            [4.11412783e-4, 2.54738244e-5, 1.59818965e-6],
            [3.40617410e-3, 2.17090557e-4, 1.34776504e-5],
            [2.50816185e-2, 1.66789120e-3, 1.03275679e-4],
        ),
        (
            "lobatto",
            [7.64033971e-7, 1.19367617e-8, 1.87641563e-10],
            [8.95248370e-6, 1.39278998e-7, 2.17033658e-9],
            [6.61947630e-5, 1.09830692e-6, 1.69916382e-8],
        ),
    ];
    let problem = problem("harmonic-oscillator");
    let (omega, amplitude) = (2.0 * std::f64::consts::PI, std::f64::consts::FRAC_PI_2);
    let solution = exact::solution(&problem).unwrap();
    let state = |t: f64| (solution.at(&t), vec![-amplitude * omega * (omega * t).sin()]);
    for (name, q, p, energy) in tables {
        for (i, steps) in [10u64, 20, 40].into_iter().enumerate() {
            let step = 1.0 / steps as f64;
            let [q_error, p_error] = suprema(&problem, name, step, steps, state);
            let found = invariants(&problem, &method(name), step, steps).largest;
            assert_close(&format!("{name} {steps} q"), q_error, q[i], DIGITS, 1e-14);
            assert_close(&format!("{name} {steps} p"), p_error, p[i], DIGITS, 1e-13);
            assert_close(&format!("{name} {steps} energy"), found, energy[i], DIGITS, 50.0 * ROUNDING);
        }
    }
}

#[test]
fn linear_double_pendulum() {
    // 10, 20, 40 steps a second; errors of q and of p in the Euclidean norm
    let tables = [
        (
            "midpoint",
            1,
            [3.42506636e-1, 9.61438022e-2, 2.51452434e-2],
            [7.51018181e-2, 2.30958566e-2, 6.06797665e-3],
        ),
        (
            "rk4",
            1,
            [4.83076210e-2, 3.48895855e-3, 2.14613068e-4],
            [1.39351351e-2, 8.77199426e-4, 5.40414610e-5],
        ),
        (
            "simpson",
            1,
            [2.01760482e-3, 1.41387141e-4, 8.76704827e-6],
            [6.40973153e-4, 4.16792041e-5, 2.57142108e-6],
        ),
        (
            "midpoint",
            100,
            [1.02408222e+0, 9.64036301e-1, 6.65400928e-1],
            [5.21409711e-1, 4.91676895e-1, 2.23159579e-1],
        ),
        (
            "rk4",
            100,
            [3.27620471e-1, 2.65016955e-1, 2.16870879e-2],
            [1.07690148e-1, 7.86558807e-2, 6.47110597e-3],
        ),
        (
            "simpson",
            100,
            [2.37348820e-1, 1.47207479e-2, 9.14581226e-4],
            [7.05399038e-2, 4.39913242e-3, 2.72192151e-4],
        ),
    ];
    let problem = problem("linear-double-pendulum");
    // in dual numbers the solution gives the velocities too
    let solution = exact::solution::<Dual>(&problem.convert()).unwrap();
    let mut velocities = Velocities::new(&problem.system.model, &problem.parameters);
    let mut momenta = |q: &[f64], v: &[f64]| {
        let mut p = vec![0.0; 2];
        velocities.momenta(q, v, &0.0, &mut p);
        p
    };
    for (name, seconds, q, p) in tables {
        for (i, per_second) in [10u64, 20, 40].into_iter().enumerate() {
            let steps = seconds * per_second;
            let state = |t: f64| {
                let motion = solution.at(&Dual { value: t, tangent: 1.0 });
                let q: Vec<f64> = motion.iter().map(|x| x.value).collect();
                let v: Vec<f64> = motion.iter().map(|x| x.tangent).collect();
                let p = momenta(&q, &v);
                (q, p)
            };
            let [q_error, p_error] = suprema(&problem, name, 1.0 / per_second as f64, steps, state);
            assert_close(&format!("{name} {steps} q"), q_error, q[i], DIGITS, 1e-12);
            assert_close(&format!("{name} {steps} p"), p_error, p[i], DIGITS, 1e-12);
        }
    }
}
