//! An ensemble of double pendula on one core: `cargo bench --workspace --bench ensemble`.
//!
//! The ensemble of `bench/run`: double pendula from rest at angles that fill (−π, π)² evenly, until t = 10, within an energy error of 1e-8 for each member.
//! For some methods, the time of a member and its steps. The methods take turns and the smallest time of each counts. `MEMBERS=10000` runs as many as
//! `bench/run` does; methods may be named behind `--`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::error::Source;
use leastaction::simulate::Run;
use leastaction::simulate::ensemble::{Ensemble, EnsemblePlan, List, Tally};
use leastaction::system::Quantity;
use std::ops::ControlFlow;
use std::time::Instant;

const UNTIL: f64 = 10.0;
const ERROR: f64 = 1e-8;
const ROUNDS: usize = 5;

fn main() {
    let members: u64 = std::env::var("MEMBERS").map_or(2_000, |text| text.parse().unwrap());
    let named: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    // with the number of steps that the ladder is built about
    let methods = [("gauss8", 700), ("gauss12", 400), ("gauss16", 250)];
    let chosen = methods.iter().filter(|(name, _)| named.is_empty() || named.iter().any(|n| n == name));
    let mut all: Vec<_> =
        chosen.map(|&(name, steps)| (name, plan(name, steps, members), f64::INFINITY)).collect();
    for _ in 0..ROUNDS {
        for (_, plan, best) in &mut all {
            let start = Instant::now();
            run(plan, |_| {});
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    println!(
        "{:>8} {:>8} {:>12} {:>12} {:>12} {:>9}",
        "method", "members", "all [s]", "each [µs]", "steps each", "error"
    );
    for (name, plan, best) in &all {
        let mut tally = Tally::new(plan);
        let mut steps = 0.0;
        let column = plan.columns.iter().position(|column| column.name == "step").unwrap();
        run(plan, |block| {
            tally.add(plan, block);
            steps += block.reals(column).map(|step| (UNTIL / step).round()).sum::<f64>();
        });
        let (count, worst) = (members as f64, tally.energy_error.unwrap().value);
        assert!(tally.failed == 0 && worst <= ERROR, "{} failed, worst {worst:e}", tally.failed);
        println!(
            "{name:>8} {members:>8} {best:>12.4} {:>12.2} {:>12.1} {worst:>9.1e}",
            1e6 * best / count,
            steps / count
        );
    }
}

fn run(plan: &EnsemblePlan, mut keep: impl FnMut(&leastaction::simulate::ensemble::Block)) {
    let keep = |block: &_| {
        keep(block);
        Ok::<_, String>(())
    };
    plan.run(&(0..plan.count()), 0, 1, &|| ControlFlow::Continue(()), keep).unwrap();
}

fn plan(method: &str, steps: u64, members: u64) -> EnsemblePlan {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/systems/double-pendulum-from-rest.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let run =
        Run::read("double-pendulum-from-rest", &Source::new("double-pendulum-from-rest", &text)).unwrap();
    let run = Run {
        every: Some(0),
        until: Some(Quantity::Number(UNTIL)),
        method: Some(method.to_owned()),
        step: Some(Quantity::Number(UNTIL / steps as f64)),
        tolerance: Some(Quantity::Number(ERROR)),
        ensemble: Some(Ensemble { list: Some("angles".to_owned()), ..Ensemble::default() }),
        ..run
    };
    EnsemblePlan::new(&run, Some(angles(members))).unwrap()
}

/// A sequence that fills the square evenly (Roberts, 2018).
fn angles(members: u64) -> List {
    let root = 1.324_717_957_244_746;
    let values = (1..=members).flat_map(|k| {
        [1.0 / root, 1.0 / (root * root)]
            .map(|share| std::f64::consts::TAU * ((k as f64 * share) % 1.0 - 0.5))
    });
    List { names: vec!["q1".to_owned(), "q2".to_owned()], values: values.collect() }
}
