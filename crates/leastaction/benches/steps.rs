//! Steps of variational methods of low order on small systems, and the classical Runge–Kutta step of the double pendulum by hand:
//! `cargo bench --workspace --bench steps`. Words behind `--` choose systems and methods.
//!
//! The candidates take turns, each a thousand steps from the start of its run, and the smallest time of each counts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::prelude::*;
use leastaction::system::catalogue;
use std::f64::consts::PI;
use std::hint::black_box;
use std::time::Instant;

const STEPS: u32 = 1000;
const ROUNDS: u32 = 200;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let chosen = |name: &str, among: &[&str]| {
        let mut words = wanted.iter().filter(|word| among.contains(&word.as_str())).peekable();
        words.peek().is_none() || words.any(|word| word == name)
    };
    let methods = ["verlet", "midpoint", "simpson", "gauss4", "gauss6", "lobatto6", "lobatto", "gauss8"];
    let systems = [
        ("pendulum", 0.01),
        ("double-pendulum", 0.01),
        ("lagrange-top", 0.001),
        ("kepler", 0.02),
        ("henon-heiles", 0.1),
    ];
    let names = systems.map(|(system, _)| system);
    let mut cases = Vec::new();
    for (system, h) in systems.into_iter().filter(|(system, _)| chosen(system, &names)) {
        let Ok(found) = catalogue::system(system) else { continue };
        let problem: Problem<f64> = found.problem(&Settings::default()).unwrap();
        for method in methods.into_iter().filter(|method| chosen(method, &methods)) {
            let stepper = Stepper::new(&problem, &Method::named(method).unwrap(), h);
            cases.push(Case {
                system,
                method,
                problem: problem.clone(),
                stepper,
                best: f64::INFINITY,
                rounds: 0,
            });
        }
    }
    let mut by_hand = f64::INFINITY;
    for _ in 0..ROUNDS {
        by_hand = by_hand.min(nanoseconds(|| {
            let mut y = [PI / 4.0, PI / 3.0, 0.0, 0.0];
            (0..STEPS).for_each(|_| runge_kutta(&mut y, 0.01));
            black_box(y);
        }));
        cases.iter_mut().for_each(Case::run);
    }
    println!("{:<16} {:<9} {:>8} {:>6} {:>12}", "system", "method", "ns/step", "ratio", "corrections");
    println!("{:<16} {:<9} {by_hand:>8.1} {:>6.2}", "double-pendulum", "by hand", 1.0);
    for Case { system, method, best, rounds, .. } in cases {
        let corrections = f64::from(rounds) / f64::from(STEPS);
        println!("{system:<16} {method:<9} {best:>8.1} {:>6.2} {corrections:>12.2}", best / by_hand);
    }
}

struct Case {
    system: &'static str,
    method: &'static str,
    problem: Problem<f64>,
    stepper: Stepper<f64>,
    best: f64,
    rounds: u32,
}

impl Case {
    fn run(&mut self) {
        // a stepper remembers the steps before
        let (mut stepper, mut state) = (self.stepper.clone(), State::new(&self.problem));
        let mut rounds = 0;
        let time = nanoseconds(|| {
            for _ in 0..STEPS {
                rounds += stepper.step(&mut state).unwrap();
            }
        });
        self.best = self.best.min(time);
        self.rounds = rounds;
    }
}

/// The time of one of the steps that some work takes.
fn nanoseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    1e9 * start.elapsed().as_secs_f64() / f64::from(STEPS)
}

/// The double pendulum of the catalogue with momenta over m l².
#[inline(always)]
#[allow(clippy::disallowed_methods)] // what a program by hand would use
fn derivative(y: &[f64; 4]) -> [f64; 4] {
    let gravity = 4.0 * PI * PI;
    let (sine, cosine) = (y[0] - y[1]).sin_cos();
    let over = 1.0 / (2.0 - cosine * cosine);
    let (v1, v2) = ((y[2] - cosine * y[3]) * over, (2.0 * y[3] - cosine * y[2]) * over);
    let coupling = sine * v1 * v2;
    [v1, v2, -coupling - 2.0 * gravity * y[0].sin(), coupling - gravity * y[1].sin()]
}

#[inline(always)]
fn runge_kutta(y: &mut [f64; 4], h: f64) {
    let mut k = derivative(y);
    let mut sum = k;
    for (weight, part) in [(2.0, 0.5), (2.0, 0.5), (1.0, 1.0)] {
        k = derivative(&std::array::from_fn(|i| y[i] + part * h * k[i]));
        sum = std::array::from_fn(|i| sum[i] + weight * k[i]);
    }
    *y = std::array::from_fn(|i| y[i] + h / 6.0 * sum[i]);
}
