//! Splitting methods against the same method written by hand: `cargo bench --workspace --bench splitting`.
//!
//! The Fermi–Pasta–Ulam–Tsingou chain until t = 10 with `split6`, from a start that is rough enough to move all its modes, with the largest
//! step that keeps the relative energy error below 1e-10. By hand: two arrays, the formula of the force as short as it gets, no compensated
//! sums, what the compiler makes of it. The candidates take turns and the smallest time of each counts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::method::{Flows, Method, Scheme};
use leastaction::prelude::*;
use leastaction::system::{Energy, Quantity, Start, catalogue};
use std::collections::BTreeMap;
use std::time::Instant;

const UNTIL: f64 = 10.0;
const ERROR: f64 = 1e-10;
const ALPHA: f64 = 0.25;

fn main() {
    println!("{:>6} {:>6} {:>12} {:>12} {:>6} {:>9}", "n", "steps", "ours [ms]", "by hand", "ratio", "error");
    let thousand = compare(1_000, 60);
    let ten_thousand = compare(10_000, 15);
    println!("ten times as long takes {:.1} times as long", ten_thousand / thousand);
}

/// Prints and returns our time in milliseconds.
fn compare(n: usize, rounds: usize) -> f64 {
    let problem = rough_chain(n);
    let method = Method::named("split6").unwrap();
    let steps = (8..).find(|&steps| energy_error(&problem, &method, steps) < ERROR).unwrap();
    let h = UNTIL / steps as f64;
    let mut best = [f64::INFINITY; 2];
    let mut stepper = Stepper::new(&problem, &method, h);
    for _ in 0..rounds {
        let mut state = State::new(&problem);
        let start = Instant::now();
        for _ in 0..steps {
            stepper.step(&mut state).unwrap();
        }
        best[0] = best[0].min(1e3 * start.elapsed().as_secs_f64());
        let mut by_hand = ByHand::new(&problem, &method, h);
        let start = Instant::now();
        by_hand.run(steps);
        best[1] = best[1].min(1e3 * start.elapsed().as_secs_f64());
        let difference = state.q.iter().zip(&by_hand.q[1..]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(difference < 1e-9, "both compute the same: {difference:e}");
    }
    let error = energy_error(&problem, &method, steps);
    println!(
        "{n:>6} {steps:>6} {:>12.4} {:>12.4} {:>6.2} {error:>9.1e}",
        best[0],
        best[1],
        best[0] / best[1]
    );
    best[0]
}

/// Displacements and velocities between −½ and ½ without any order.
fn rough_chain(n: usize) -> Problem<f64> {
    let mut sizes = BTreeMap::from([("n".to_owned(), Quantity::Number(n as f64))]);
    let system = catalogue::sized_system("fput", &mut sizes).unwrap();
    let mut seed = 7u64;
    let mut noise = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        Quantity::Number((seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5)
    };
    let q = (0..n).map(|_| noise()).collect();
    let v = (0..n).map(|_| noise()).collect();
    let settings = Settings { q: Some(q), start: Some(Start::Velocities(v)), ..Settings::default() };
    system.problem(&settings).unwrap()
}

/// The largest relative energy error.
fn energy_error(problem: &Problem<f64>, method: &Method, steps: u64) -> f64 {
    let mut stepper = Stepper::new(problem, method, UNTIL / steps as f64);
    let mut state = State::new(problem);
    let mut energy = Energy::new(&problem.system.model, &problem.parameters);
    let (first, _) = energy.at(&problem.q0, &problem.v0, &0.0);
    let mut largest = 0.0f64;
    for _ in 0..steps {
        stepper.step(&mut state).unwrap();
        // masses are 1
        let (now, _) = energy.at(&state.q, &state.p, &0.0);
        largest = largest.max((now / first - 1.0).abs());
    }
    largest
}

/// The same method for this chain alone. A zero at both ends of q stands for the walls.
struct ByHand {
    q: Vec<f64>,
    p: Vec<f64>,
    kicks: Vec<f64>,
    drifts: Vec<f64>,
}

impl ByHand {
    fn new(problem: &Problem<f64>, method: &Method, h: f64) -> Self {
        let Scheme::Splitting(splitting) = method.scheme else { panic!("{}", method.name) };
        let flows = Flows::<f64>::new(&splitting);
        let scaled = |list: &[f64]| list.iter().map(|x| x * h).collect();
        Self {
            q: [&[0.0], &problem.q0[..], &[0.0]].concat(),
            p: problem.p0.clone(),
            kicks: scaled(&flows.kicks),
            drifts: scaled(&flows.drifts),
        }
    }

    fn run(&mut self, steps: u64) {
        let last = self.kicks.len() - 1;
        self.kick(self.kicks[0]);
        for step in 0..steps {
            for i in 0..last {
                self.drift(self.drifts[i]);
                // the last kick of a step and the first of the next are one
                let both = i + 1 == last && step + 1 < steps;
                self.kick(if both { self.kicks[last] + self.kicks[0] } else { self.kicks[i + 1] });
            }
        }
    }

    fn kick(&mut self, size: f64) {
        for (p, q) in self.p.iter_mut().zip(self.q.windows(3)) {
            let (left, right) = (q[1] - q[0], q[2] - q[1]);
            *p += size * ((right - left) * (1.0 + ALPHA * (right + left)));
        }
    }

    fn drift(&mut self, size: f64) {
        for (q, p) in self.q[1..].iter_mut().zip(&self.p) {
            *q += size * p;
        }
    }
}
