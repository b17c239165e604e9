//! Symmetries that the program finds by itself, and what they conserve.
//!
//! Which catalogue system has which; systems built for the purpose, with symmetries and with broken ones; and runs: every
//! variational method keeps what the symmetries conserve to rounding, `rk4` does not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use leastaction::prelude::*;

fn names(system: &System) -> Vec<String> {
    system.symmetries().iter().map(|s| s.name.clone()).collect()
}

#[test]
fn probe() {
    for entry in catalogue::ENTRIES {
        let system = catalogue::system(entry.name).unwrap();
        let start = std::time::Instant::now();
        let found = names(&system);
        println!("{} {:?} {:?}", entry.name, start.elapsed(), found);
        for s in system.symmetries() { println!("    {:?} {}", s.kind, s.formula); }
    }
    for n in [15, 24, 100, 500] {
        let system = common::problem_with("n-pendulum", &[("n", n as f64)], None).system;
        let start = std::time::Instant::now();
        println!("n-pendulum {n} {:?} {:?}", names(&system), start.elapsed());
    }
    for n in [10, 19, 300, 10_000, 100_000] {
        let system = common::problem_with("fput", &[("n", n as f64)], None).system;
        let start = std::time::Instant::now();
        println!("fput {n} {:?} {:?}", names(&system), start.elapsed());
    }
    for n in [3usize, 19, 300, 10_000] {
        let system = System::build("c", "c").coordinates((1..=n).map(|i| format!("x{i}")), "m")
            .parameter("k", "1", "", "k")
            .lagrangian(|q, v, _, p| {
            let t: Expr = v.iter().map(|v| v.squared() * 0.5).sum();
            let u: Expr = q.windows(2).map(|w| (w[1] - w[0]).powi(4) * p["k"]).sum();
            t - u
        }).unwrap();
        let start = std::time::Instant::now();
        println!("free {n} {:?} {:?}", names(&system), start.elapsed());
    }
}
