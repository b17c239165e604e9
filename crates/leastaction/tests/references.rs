//! Systems that are nowhere in the catalogue, typed as text, against motions computed by other means: the equations of motion by
//! SymPy, the integration by extrapolation with 40 digits (tests/text/text_references.py).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::error::Source;
use leastaction::prelude::*;
use std::collections::BTreeMap;

fn simulate(name: &str, text: &str) -> Solution {
    let run = Run::read(name, &Source::new(format!("{name}.toml"), text)).unwrap();
    run.simulate().unwrap()
}

/// Quantities at the end, by name.
fn reference(system: &str) -> BTreeMap<String, f64> {
    let mut values = BTreeMap::new();
    for line in include_str!("text/text_references.csv").lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[0] == system {
            values.insert(cells[2].to_owned(), cells[3].parse().unwrap());
        }
    }
    assert!(values.len() >= 3, "{system}");
    values
}

/// Checks a system with lobatto8 in steps of 0.005, and the momenta that should be conserved, by name.
fn agrees(system: &str, text: &str, names: &[&str], conserved: &[&str]) -> Solution {
    let solution = simulate(system, text);
    let (summary, right) = (&solution.summary, reference(system));
    assert_eq!((summary.method.as_str(), summary.step), ("lobatto8", 0.005));
    for (i, name) in names.iter().enumerate() {
        for (found, name) in [(summary.q[i], (*name).to_owned()), (summary.p[i], format!("p_{name}"))] {
            let error = (found - right[&name]).abs();
            assert!(error < 1e-9, "{system}: {name} = {found}, off by {error:e}");
        }
    }
    let found: Vec<&str> = summary.momenta.keys().map(String::as_str).collect();
    assert_eq!(found, conserved, "{system}");
    solution
}

#[test]
fn a_charge_in_a_magnetic_field_and_an_anharmonic_trap() {
    let text = include_str!("text/magnetic_trap.toml");
    let solution = agrees("magnetic_trap", text, &["x", "y", "z"], &["x*p_y - y*p_x"]);
    assert!(solution.summary.momenta["x*p_y - y*p_x"] < 1e-15);
    assert!(solution.summary.energy.max_relative_error < 1e-14);
}

#[test]
fn a_relativistic_oscillator() {
    let text = include_str!("text/relativistic.toml");
    let solution = agrees("relativistic", text, &["x", "y"], &["x*p_y - y*p_x"]);
    assert!(solution.summary.momenta["x*p_y - y*p_x"] < 1e-15);
    assert!(solution.summary.energy.max_relative_error < 1e-14);
}

#[test]
fn a_shaken_pendulum() {
    let solution = agrees("shaken_pendulum", include_str!("text/shaken_pendulum.toml"), &["theta"], &[]);
    assert!(!solution.summary.energy.conserved);
}

#[test]
fn a_triple_pendulum_by_cartesian_definitions() {
    let text = include_str!("text/triple_pendulum.toml");
    let solution = agrees("triple_pendulum", text, &["a", "b", "c"], &[]);
    assert!(solution.summary.energy.max_relative_error < 1e-12);
}

#[test]
fn an_elastic_spherical_pendulum_by_cartesian_definitions() {
    let text = include_str!("text/elastic_spherical.toml");
    let solution = agrees("elastic_spherical", text, &["r", "theta", "phi"], &["phi"]);
    // phi occurs in the definitions, but not in what they give
    assert_eq!(solution.summary.momenta["phi"], 0.0);
}
