//! What machine code gains: `cargo bench -p leastaction --bench kernels`.
//!
//! Times of value, gradient and Hessian of the double pendulum by the interpreter, by machine code and by hand-written Rust with the
//! platform's sine and cosine; of one Simpson step with both back ends; and of compiling. The candidates take turns and the smallest
//! time of each counts, so that other work on the machine does not.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use leastaction::expr::{Backend, Evaluator, Tape};
use leastaction::prelude::*;
use leastaction::system::catalogue;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// The smallest times of several candidates in nanoseconds, measured in turns.
fn minima(rounds: usize, repetitions: usize, candidates: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; candidates.len()];
    for _ in 0..rounds {
        for (best, candidate) in best.iter_mut().zip(candidates.iter_mut()) {
            let start = Instant::now();
            for _ in 0..repetitions {
                candidate();
            }
            *best = best.min(start.elapsed().as_secs_f64() * 1e9 / repetitions as f64);
        }
    }
    best
}

fn main() {
    kernels();
    steps();
    compiling();
}

fn kernels() {
    let system = catalogue::system("double-pendulum").unwrap();
    let problem: Problem<f64> = system.problem(&Settings::default()).unwrap();
    let model = &system.model;
    let entries = model.l_qq().iter().chain(&model.l_qv).chain(&model.l_vv).map(|e| e.node);
    let nodes: Vec<_> = [model.lagrangian]
        .into_iter()
        .chain(model.l_q.clone())
        .chain(model.l_v.clone())
        .chain(entries)
        .collect();
    let tape = Arc::new(Tape::new(&model.graph, 2, &nodes));
    let parameters: [f64; 6] = problem.parameters.clone().try_into().expect("six parameters");
    let mut interpreted = Evaluator::new(tape.clone(), &parameters);
    let mut native = Evaluator::compiled(tape, &parameters, Some(Backend::Native));

    // a new state each time, along a motion
    let states: Vec<[f64; 4]> = (0..256)
        .map(|i| {
            let s = f64::from(i) * 0.037;
            [1.1 * s.sin(), 2.0 * (0.7 * s).cos(), 3.0 * (0.9 * s).cos(), s.sin()]
        })
        .collect();
    let mut out = [vec![0.0; nodes.len()], vec![0.0; nodes.len()], vec![0.0; nodes.len()]];
    for state in &states {
        let [q, v] = [[state[0], state[1]], [state[2], state[3]]];
        interpreted.evaluate(&q, &v, &0.0, &mut out[0]);
        native.evaluate(&q, &v, &0.0, &mut out[1]);
        by_hand(&parameters, &q, &v, &mut out[2]);
        assert_eq!(out[0], out[1], "both back ends give the same bits");
        for (a, b) in out[0].iter().zip(&out[2]) {
            assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()), "{:?} by hand, {:?}", out[2], out[0]);
        }
    }
    let [out_1, out_2, out_3] = &mut out;
    let each = |work: &mut dyn FnMut(&[f64], &[f64])| {
        for state in &states {
            let state = black_box(state);
            work(&state[..2], &state[2..]);
        }
    };
    let times = minima(
        200,
        4,
        &mut [
            &mut || each(&mut |q, v| interpreted.evaluate(q, v, &0.0, black_box(out_1))),
            &mut || each(&mut |q, v| native.evaluate(q, v, &0.0, black_box(out_2))),
            &mut || each(&mut |q, v| by_hand(&parameters, q, v, black_box(out_3))),
        ],
    );
    let [interpreter, native, hand] = [0, 1, 2].map(|i| times[i] / states.len() as f64);
    println!("double pendulum: value, gradient and Hessian at one state");
    println!("  interpreter                 {interpreter:8.1} ns");
    println!("  machine code                {native:8.1} ns");
    println!("  by hand, platform's sines   {hand:8.1} ns");
    println!("  machine code / by hand      {:8.2}", native / hand);
    println!("  machine code / interpreter  {:8.2}", native / interpreter);
}

/// The same 15 numbers as a careful programmer writes them: each sine once, common factors shared.
#[inline(never)]
fn by_hand(parameters: &[f64; 6], q: &[f64], v: &[f64], out: &mut [f64]) {
    let [m1, m2, g, _, l1, l2] = *parameters;
    let (sin_1, cos_1) = q[0].sin_cos();
    let (sin_2, cos_2) = q[1].sin_cos();
    let (sin_d, cos_d) = (q[0] - q[1]).sin_cos();
    let (v1, v2) = (v[0], v[1]);
    let (a, b, c) = ((m1 + m2) * l1 * l1, m2 * l2 * l2, m2 * l1 * l2);
    let (d, e) = ((m1 + m2) * g * l1, m2 * g * l2);
    let coupling = c * cos_d;
    let turning = c * sin_d;
    let product = v1 * v2;
    out[0] = 0.5 * a * v1 * v1 + 0.5 * b * v2 * v2 + coupling * product + d * cos_1 + e * cos_2;
    // L_q, L_v
    out[1] = -turning * product - d * sin_1;
    out[2] = turning * product - e * sin_2;
    out[3] = a * v1 + coupling * v2;
    out[4] = b * v2 + coupling * v1;
    // L_qq: 11, 21, 22; L_qv: 11, 12, 21, 22; L_vv: 11, 21, 22
    out[5] = -coupling * product - d * cos_1;
    out[6] = coupling * product;
    out[7] = -coupling * product - e * cos_2;
    out[8] = -turning * v2;
    out[9] = -turning * v1;
    out[10] = turning * v2;
    out[11] = turning * v1;
    out[12] = a;
    out[13] = coupling;
    out[14] = b;
}

/// One step with both back ends.
fn steps() {
    println!("one step");
    for (name, method, step) in [
        ("double-pendulum", "simpson", 0.01),
        ("double-pendulum", "lobatto8", 0.01),
        ("lagrange-top", "simpson", 0.001),
        ("outer-solar-system", "simpson", 10.0),
        ("fput", "simpson", 0.1),
        ("n-pendulum", "simpson", 0.001),
    ] {
        let system = catalogue::system(name).unwrap();
        let mut runs: Vec<_> = [Backend::Interpreter, Backend::Native]
            .map(|backend| {
                let system = system.with_backend(Some(backend)).unwrap();
                let problem: Problem<f64> = system.problem(&Settings::default()).unwrap();
                let stepper = Stepper::new(&problem, &Method::named(method).unwrap(), step);
                (stepper, State::new(&problem))
            })
            .into();
        let [first, second] = runs.as_mut_slice() else { unreachable!() };
        let times = minima(
            60,
            20,
            &mut [&mut || drop(black_box(first.0.step(&mut first.1))), &mut || {
                drop(black_box(second.0.step(&mut second.1)));
            }],
        );
        println!(
            "  {:32} interpreter {:9.0} ns, machine code {:9.0} ns, ratio {:.2}",
            format!("{name}, {method}"),
            times[0],
            times[1],
            times[1] / times[0]
        );
    }
}

/// From a Lagrangian to derivatives, tapes and machine code.
fn compiling() {
    println!("from the Lagrangian to machine code of gradient and Hessian");
    for (name, n) in [
        ("double-pendulum", None),
        ("outer-solar-system", None),
        ("n-pendulum", Some(10)),
        ("n-pendulum", Some(50)),
        ("fput", Some(1000)),
    ] {
        let mut best = [f64::INFINITY; 2];
        let mut length = 0;
        for _ in 0..if n == Some(50) { 3 } else { 10 } {
            let mut sizes: BTreeMap<_, _> =
                n.map(|n| ("n".to_owned(), f64::from(n).into())).into_iter().collect();
            let start = Instant::now();
            let system = catalogue::sized_system(name, &mut sizes).unwrap();
            let (gradient, hessian) = (system.model.gradient_tape(), system.model.hessian_tape());
            let traced = start.elapsed().as_secs_f64();
            let parameters = vec![1.0; system.parameters.len()];
            for tape in [&gradient, &hessian] {
                black_box(Evaluator::compiled(tape.clone(), &parameters, Some(Backend::Native)));
            }
            let all = start.elapsed().as_secs_f64();
            best = [best[0].min(traced), best[1].min(all)];
            length = gradient.len() + hessian.len();
        }
        let name = n.map_or(name.to_owned(), |n| format!("{name}, n = {n}"));
        println!(
            "  {name:24} tapes {:9.3} ms, with machine code {:9.3} ms ({length} instructions)",
            best[0] * 1e3,
            best[1] * 1e3
        );
    }
}
