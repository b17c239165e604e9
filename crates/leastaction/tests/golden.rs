//! Same bits: final states of every system with methods of every kind, against a file.
//!
//! Machine code and interpreter, members alone and in fleets, threads and shards must all give the bits of `data/golden.txt`, on every machine.
//! `UPDATE_GOLDEN=1 cargo test --release -p leastaction --test golden` writes it anew; CONTRIBUTING.md says when that is allowed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::small_catalogue;
use leastaction::expr::Backend;
use leastaction::prelude::*;
use leastaction::scalar::{Digits, Field, Real};
use leastaction::simulate::Plan;
use leastaction::simulate::ensemble::{Block, EnsemblePlan};
use leastaction::system::Quantity;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::ops::{ControlFlow, Range};
use std::path::Path;

const METHODS: [&str; 8] =
    ["verlet", "midpoint", "simpson", "lobatto8", "gauss8", "gauss16", "split6", "rk4"];
const STEPS: f64 = 200.0;
/// With many digits.
const FEW: [(&str, &str); 4] = [
    ("double-pendulum", "simpson"),
    ("kepler", "gauss8"),
    ("henon-heiles", "split6"),
    ("lagrange-top", "lobatto8"),
];
/// More numbers than this are summed up.
const MOST: usize = 6;
const ENSEMBLE: &str = r#"
system = "double-pendulum"
[run]
method = "gauss8"
step = 0.02
until = 4
[ensemble]
vary = { q1 = "-2..2:5", m2 = "0.5..1.5:3" }
"#;

/// Words as hexadecimal numbers; many as their first two and a sum that every bit changes.
fn hexadecimal(words: &[u64]) -> String {
    let shown = if words.len() > MOST { &words[..2] } else { words };
    let mut text: Vec<String> = shown.iter().map(|word| format!("{word:016x}")).collect();
    if words.len() > MOST {
        let mut sum = leastaction::scalar::Checksum::new();
        words.iter().for_each(|word| sum.add(*word));
        text.push(format!("… {} words, sum {:016x}", words.len(), sum.value()));
    }
    text.join(" ")
}

/// What this build and this processor have.
fn backends() -> Vec<Backend> {
    let all = [Backend::Interpreter, Backend::Native];
    all.into_iter().filter(|backend| backend.checked().is_ok()).collect()
}

/// q and p at the end of a run, the same on all back ends.
fn end(plan: &Plan, method: &str) -> String {
    let ends = backends().into_iter().map(|backend| {
        let run = Run {
            method: Some(method.to_owned()),
            until: Some(Quantity::Number(plan.problem.t0 + STEPS * plan.step)),
            step: Some(Quantity::Number(plan.step)),
            backend: Some(backend),
            every: Some(0),
            ..plan.run.clone()
        };
        let summary = run.simulate().unwrap_or_else(|error| panic!("{method}: {error}")).summary;
        hexadecimal(&summary.q.iter().chain(&summary.p).map(|x| x.to_bits()).collect::<Vec<_>>())
    });
    let ends: Vec<String> = ends.collect();
    assert!(ends.iter().all(|end| *end == ends[0]), "back ends differ: {} with {method}", plan.run.system);
    ends[0].clone()
}

/// The same with 64 digits and more.
fn end_with_digits(name: &str, method: &str) -> String {
    let problem: Problem<Digits<4>> = catalogue::system(name).unwrap().problem(&Settings::default()).unwrap();
    let plan = Run::of(name).plan().unwrap();
    let mut stepper = Stepper::new(&problem, &common::method(method), Digits::from_f64(plan.step));
    let mut state = State::new(&problem);
    for _ in 0..20 {
        stepper.step(&mut state).unwrap();
    }
    let mut words = Vec::new();
    state.q.iter().chain(&state.p).for_each(|x| x.write_words(&mut words));
    hexadecimal(&words)
}

/// All members of a range, each as the words of its row.
fn members(plan: &EnsemblePlan, range: &Range<u64>, threads: usize) -> Vec<Vec<u64>> {
    let mut rows = Vec::new();
    let keep = |block: &Block| {
        let row = |row: usize| (0..plan.columns.len()).map(|column| block.column(column)[row]).collect();
        rows.extend((0..block.rows).map(row));
        Ok::<(), Infallible>(())
    };
    plan.run(range, 0, threads, &|| ControlFlow::Continue(()), keep).unwrap();
    rows
}

/// The members of an ensemble, the same alone and in fleets, on one thread and two, in one piece and in shards.
fn ensemble() -> Vec<(String, String)> {
    let run = Run::from_toml(ENSEMBLE).unwrap();
    let mut found: Vec<Vec<Vec<u64>>> = Vec::new();
    for backend in backends() {
        let plan = EnsemblePlan::new(&Run { backend: Some(backend), ..run.clone() }, None).unwrap();
        let count = plan.count();
        found.extend([1, 2].map(|threads| members(&plan, &(0..count), threads)));
        found.push([0..4, 4..5, 5..count].iter().flat_map(|range| members(&plan, range, 2)).collect());
    }
    assert!(found.iter().all(|rows| *rows == found[0]), "back ends, threads or shards differ");
    let row = |(member, words): (usize, &Vec<u64>)| {
        (format!("ensemble of double-pendulum, gauss8, member {member}"), hexadecimal(words))
    };
    found[0].iter().enumerate().map(row).collect()
}

#[test]
fn final_states_are_those_of_the_golden_file() {
    let mut found: Vec<(String, String)> = Vec::new();
    for plan in small_catalogue() {
        for method in
            METHODS.into_iter().filter(|name| common::method(name).fits(&plan.problem.system).is_ok())
        {
            found.push((format!("{}, {method}", plan.run.system), end(&plan, method)));
        }
    }
    found.extend(ensemble());
    for (name, method) in FEW {
        found.push((format!("{name}, {method}, 77 digits"), end_with_digits(name, method)));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let mut text =
            String::from("# final q and p as the bits of f64, in hexadecimal; see tests/golden.rs\n");
        for (name, bits) in &found {
            writeln!(text, "{name}: {bits}").unwrap();
        }
        std::fs::write(&path, text).unwrap();
    }
    let text = std::fs::read_to_string(&path).expect("UPDATE_GOLDEN=1 writes it");
    let golden: Vec<(String, String)> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(": "))
        .map(|(name, bits)| (name.to_owned(), bits.to_owned()))
        .collect();
    let differ: Vec<&str> =
        found.iter().filter(|entry| !golden.contains(entry)).map(|(name, _)| name.as_str()).collect();
    assert!(
        differ.is_empty() && found.len() == golden.len(),
        "other bits than in tests/data/golden.txt ({} entries here, {} there):\n  {}\nAllowed only for a change that means to \
         change numbers (a step solver, an elementary function, a default of a system), in a commit that says so: \
         UPDATE_GOLDEN=1 cargo test --release -p leastaction --test golden, then look at the difference.",
        found.len(),
        golden.len(),
        differ.join("\n  ")
    );
}
