//! Long chains: everything about them is linear in their length.
//!
//! Graph, tapes, couplings and memory of ten times as many particles are at most ten times as large, and the matrix of a step
//! is a narrow band. Where all pairs are coupled, explicit methods do without second derivatives. Times are printed, not asserted: `--nocapture` shows them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{method, problem_with, run};
use leastaction::linear::Matrix;
use leastaction::prelude::*;
use leastaction::simulate::Invariants;
use leastaction::system::Hessian;
use std::time::Instant;

fn chain(n: usize) -> Problem<f64> {
    problem_with("fput", &[("n", n as f64)], None)
}

/// What must not grow faster than the chain.
fn sizes(problem: &Problem<f64>) -> Vec<(&'static str, usize)> {
    let model = &problem.system.model;
    vec![
        ("graph", model.graph.len()),
        ("gradient tape", model.gradient_tape().len()),
        ("hessian tape", model.hessian_tape().len()),
        ("momentum tape", model.momentum_tape().len()),
        ("mass tape", model.mass_tape().len()),
        ("energy tape", model.energy_tape().len()),
        ("acceleration tape", model.acceleration_tape().len()),
        ("entries of L_qq", model.l_qq().len()),
        ("entries of L_vv", model.l_vv.len()),
        ("nonzeros", model.structure.nonzeros),
    ]
}

#[test]
fn a_chain_ten_times_as_long_is_ten_times_as_large() {
    let (short, long) = (chain(1_000), chain(10_000));
    for ((what, short), (_, long)) in sizes(&short).into_iter().zip(sizes(&long)) {
        println!("{what}: {short} and {long}, {:.2} a particle", long as f64 / 1e4);
        assert!(short > 0);
        assert!((long as f64) < 10.5 * short as f64, "{what}: {short} and {long}");
    }
    let structure = long.system.structure();
    assert_eq!((structure.ordering.bandwidth, structure.mass_ordering.bandwidth), (1, 0));
    assert!(structure.separable && structure.constant_mass && structure.autonomous);
    // the matrix of a Simpson step: two unknowns a particle, coupled to the neighbours'
    let mut matrix = Matrix::<f64>::new(2 * long.system.n(), (structure.ordering.bandwidth + 1) * 2 - 1);
    assert!(matches!(matrix, Matrix::Banded(_)));
    assert!(matrix.values().len() <= 10 * matrix_rows(&long), "{}", matrix.values().len());
}

/// Bodies on a line, each attracting each.
fn all_pairs(n: usize) -> Problem<f64> {
    let system = System::build("bodies", "Bodies on a line")
        .coordinates((1..=n).map(|i| format!("x{i}")), "m")
        .start_at_rest((0..n).map(|i| i as f64 + (i as f64).sin() / 2.0))
        .lagrangian(move |q, v, _, _| {
            let kinetic: Expr = v.iter().map(|v| v.squared() * 0.5).sum();
            let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
            let terms = pairs.map(|(i, j)| ((q[i] - q[j]).squared() + 0.25).sqrt());
            kinetic + terms.map(|distance| Expr::from(1.0) / distance).sum::<Expr>()
        });
    system.unwrap().problem(&Settings::default()).unwrap()
}

#[test]
fn all_pairs_need_no_second_derivatives_but_for_newton() {
    let nodes_a_pair = |n: usize| {
        let problem = all_pairs(n);
        let model = &problem.system.model;
        run(&problem, &method("split4"), 0.01, 10, &mut [&mut Invariants::new(&problem)]);
        assert!(!problem.has_constant_derivatives() && problem.quadratic().is_err());
        assert!(!model.has_stiffness(), "{n}: L_qq was made for nobody");
        model.graph.len() as f64 / (n * (n - 1) / 2) as f64
    };
    let (small, large) = (nodes_a_pair(90), nodes_a_pair(180));
    println!("{small:.2} and {large:.2} nodes a pair");
    assert!(small < 20.0 && large < 20.0, "{small} and {large} nodes a pair");
    // Newton's method asks for L_qq, whose pattern was known before
    let problem = all_pairs(90);
    let model = &problem.system.model;
    assert_eq!((model.structure.nonzeros, model.structure.groups), (90 * 90, 1));
    let [newton, split] = ["simpson", "split4"].map(|name| run(&problem, &method(name), 1e-3, 10, &mut []));
    assert!(model.has_stiffness());
    assert_eq!(model.l_qq().len(), 90 * 91 / 2);
    for (a, b) in newton.q.iter().zip(&split.q) {
        assert!((a - b).abs() < 1e-11, "{a} {b}");
    }
}

#[test]
fn second_derivatives_made_later_are_right() {
    let problem = all_pairs(90);
    let model = &problem.system.model;
    assert!(!model.has_stiffness());
    let mut hessian = Hessian::new(model, &problem.parameters);
    let found = hessian.at(&problem.q0, &problem.v0, &problem.t0).l_qq.to_vec();
    // ∂²/∂d² of (d² + 1/4)^(−1/2)
    let bend = |i: usize, j: usize| {
        let d = problem.q0[i] - problem.q0[j];
        (2.0 * d * d - 0.25) / (d * d + 0.25).powf(2.5)
    };
    for (entry, found) in model.l_qq().iter().zip(found) {
        let (i, j) = (entry.row, entry.column);
        let own = || (0..90).filter(|&k| k != i).map(|k| bend(i, k)).sum();
        let exact = if i == j { own() } else { -bend(i, j) };
        assert!((found - exact).abs() < 1e-12 * exact.abs().max(1.0), "{i} {j}: {found} {exact}");
    }
}

fn matrix_rows(problem: &Problem<f64>) -> usize {
    2 * problem.system.n()
}

#[test]
fn a_long_chain_conserves_its_energy() {
    let chain = chain(1_000);
    let mut invariants = Invariants::new(&chain);
    run(&chain, &method("simpson"), 0.1, 200, &mut [&mut invariants]);
    assert!(invariants.max_relative_error() < 1e-6, "{:e}", invariants.max_relative_error());
}

#[test]
fn a_ring_gets_a_band_of_two() {
    let ring = |n: usize| {
        System::build("ring", "Ring of oscillators")
            .coordinates((1..=n).map(|i| format!("x{i}")), "m")
            .lagrangian(move |q, v, _, _| {
                let kinetic: Expr = v.iter().map(|v| v.squared() * 0.5).sum();
                let springs: Expr = (0..n).map(|i| (q[(i + 1) % n] - q[i]).squared() * 0.5).sum();
                kinetic - springs
            })
            .expect("a ring")
    };
    for n in [5, 50, 501] {
        assert_eq!(ring(n).structure().ordering.bandwidth, 2, "{n}");
    }
}

#[test]
fn the_smallest_chain_works() {
    let one = chain(1);
    assert_eq!(one.system.structure().ordering.bandwidth, 0);
    let mut invariants = Invariants::new(&one);
    // one particle between two walls: L = v²/2 − q², the cubic parts of its two springs cancel
    let state = run(&one, &method("lobatto8"), 0.1, 100, &mut [&mut invariants]);
    let exact = (2f64.sqrt() * 10.0).cos();
    assert!((state.q[0] - exact).abs() < 1e-9, "{} {exact}", state.q[0]);
    assert!(invariants.max_relative_error() < 1e-9);
}

#[test]
fn times_per_particle() {
    let simpson = method("simpson");
    // both too long to be compiled
    let sizes = [4_000usize, 16_000];
    let (mut building, mut stepping) = ([f64::INFINITY; 2], [f64::INFINITY; 2]);
    let mut prepared = sizes.map(|n| {
        let problem = chain(n);
        (Stepper::new(&problem, &simpson, 0.1), State::new(&problem))
    });
    for _ in 0..8 {
        for (i, n) in sizes.into_iter().enumerate() {
            let start = Instant::now();
            let problem = chain(n);
            let stepper = Stepper::new(&problem, &simpson, 0.1);
            building[i] = building[i].min(start.elapsed().as_secs_f64());
            drop((problem, stepper));
            let (stepper, state) = &mut prepared[i];
            let start = Instant::now();
            let steps = 32_000 / n;
            for _ in 0..steps {
                stepper.step(state).unwrap();
            }
            let time = start.elapsed().as_secs_f64() / (steps * n) as f64;
            stepping[i] = stepping[i].min(time);
        }
    }
    for (i, n) in sizes.into_iter().enumerate() {
        println!("n = {n}: built in {:.3} s, step {:.1} ns a particle", building[i], stepping[i] * 1e9);
    }
    println!("ratio of step times a particle: {:.3}", stepping[1] / stepping[0]);
    // loose enough for any machine: quadratic growth would give 16 and 4
    assert!(building[1] < 10.0 * building[0], "{building:?}");
    assert!(stepping[1] < 2.8 * stepping[0], "{stepping:?}");
}
