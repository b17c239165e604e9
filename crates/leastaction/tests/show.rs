//! What `show` prints means what the graph computes.
//!
//! Formulas for people are gathered, shortened and put in order by rules of their own. Here they are read back and evaluated beside
//! the tapes that simulate: for every system of the catalogue, and for systems that are hard to print.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use leastaction::expr::{Evaluator, Graph, Tape, parse};
use leastaction::prelude::*;
use leastaction::system::MassFacts;
use std::sync::Arc;

/// When formulas are evaluated.
const TIME: f64 = 0.37;

struct Point {
    q: Vec<f64>,
    v: Vec<f64>,
    parameters: Vec<f64>,
}

/// A formula in the names of a system, evaluated; nothing if terms were left out.
fn value(system: &System, formula: &str, at: &Point) -> Option<f64> {
    if formula.contains('…') {
        return None;
    }
    // m[1] is no name of a formula by itself
    let plain = |name: &str| name.replace('[', "_").replace(']', "");
    let formula = &plain(formula);
    let index = |names: Vec<String>, name: &str| names.iter().position(|n| plain(n) == name);
    let mut graph = Graph::new();
    let mut resolve = |graph: &mut Graph, name: &str| {
        if name == "t" {
            return Some(graph.time());
        }
        let parameters = system.parameters.iter().map(|p| p.name.clone()).collect();
        if let Some(i) = index(parameters, name) {
            return Some(graph.parameter(i));
        }
        if let Some(i) = index(system.coordinate_names(), name) {
            return Some(graph.coordinate(i));
        }
        let i = index(system.coordinate_names(), name.strip_prefix("v_")?)?;
        Some(graph.velocity(i))
    };
    let node = parse(&mut graph, formula, &[], &mut resolve).unwrap_or_else(|e| panic!("{formula}: {e}"));
    let tape = Arc::new(Tape::new(&graph, system.n(), &[node]));
    let mut out = [0.0];
    Evaluator::new(tape, &at.parameters).evaluate(&at.q, &at.v, &TIME, &mut out);
    Some(out[0])
}

/// Compares all formulas of a system with its tapes, and says how many there were.
fn compare(system: &System) -> usize {
    let facts = system.describe(1000);
    let problem: Problem<f64> = system.problem(&Settings::default()).unwrap();
    let number = |k: usize| 0.3 * ((k * k + 2 * k + 1) as f64).sin();
    let shifted = |x: &[f64], by: usize| x.iter().enumerate().map(|(i, x)| x + number(i + by)).collect();
    let at = Point {
        q: shifted(&problem.q0, 1),
        v: shifted(&problem.v0, 20),
        parameters: problem.parameters.iter().enumerate().map(|(k, x)| x * (1.0 + number(k + 40))).collect(),
    };
    let run = |tape: Arc<Tape>| {
        let mut out = vec![0.0; tape.outputs()];
        Evaluator::new(tape, &at.parameters).evaluate(&at.q, &at.v, &TIME, &mut out);
        out
    };
    let mut compared = 0;
    let mut check = |what: &str, formula: Option<f64>, right: f64, size: f64| {
        let Some(found) = formula else { return };
        let error = (found - right).abs();
        assert!(
            error <= 1e-13 * size.max(right.abs()),
            "{}, {what}: {found} instead of {right}",
            system.name
        );
        compared += 1;
    };
    let masses = run(system.model.mass_tape());
    let (momenta, entries) = masses.split_at(system.n());
    for (facts, right) in facts.momenta.first.iter().zip(momenta) {
        check(&facts.formula, value(system, &facts.formula, &at), *right, momenta[0].abs());
    }
    let coordinates = system.coordinate_names();
    let largest = entries.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
    let mut shown = facts.mass_matrix.first.iter().peekable();
    for (entry, right) in system.model.l_vv.iter().zip(entries) {
        let is_entry = |facts: &&MassFacts| {
            (&facts.row, &facts.column) == (&coordinates[entry.row], &coordinates[entry.column])
        };
        // what is not shown is zero
        let formula = shown.next_if(is_entry).map_or("0", |facts| facts.formula.as_str());
        check(formula, value(system, formula, &at), *right, largest);
    }
    assert!(shown.next().is_none() && !facts.mass_matrix.is_cut(), "{}", system.name);
    let [energy, lagrangian] = run(system.model.energy_tape())[..] else { panic!("two outputs") };
    let size = energy.abs() + lagrangian.abs();
    let parts = &facts.lagrangian.parts;
    let part = |name: &str| match parts.iter().find(|part| part.name == name) {
        None => Some(0.0),
        Some(part) => value(system, &part.formula, &at),
    };
    if parts.is_empty() {
        check("L", value(system, &facts.lagrangian.formula, &at), lagrangian, size);
        check("energy", value(system, &facts.lagrangian.energy, &at), energy, size);
    } else if let (Some(t), Some(g), Some(v)) = (part("T"), part("G"), part("V")) {
        check("L", Some(t + g - v), lagrangian, size + t.abs());
        check("energy", Some(t + v), energy, size + t.abs());
    }
    compared
}

#[test]
fn the_formulas_of_the_catalogue_are_right() {
    let mut compared = 0;
    for plan in common::small_catalogue() {
        let system = &plan.problem.system;
        let count = compare(system);
        assert!(count >= 3 * system.n().min(2), "{}: {count}", system.name);
        compared += count;
    }
    assert!(compared >= 120, "{compared}");
}

#[test]
fn formulas_that_are_hard_to_print_are_right() {
    let build = |lagrangian: fn(&[Expr], &[Expr], Expr, &Parameters<Expr>) -> Expr| {
        System::build("hard", "Hard to print")
            .coordinates(["x", "y"].map(str::to_owned), "")
            .parameter("a", "0.7", "", "a")
            .parameter("b", "1.3", "", "b")
            .start(["0.4", "0.6"], ["0.1", "0.2"])
            .lagrangian(lagrangian)
            .unwrap()
    };
    let relativistic = build(|q, v, _, p| {
        -p["a"] * (Expr::from(1.0) - (v[0].squared() + v[1].squared()) / 9.0).sqrt() - p["b"] * (q[0] * q[1])
    });
    // the energy is not T + V
    assert!(relativistic.describe(9).lagrangian.parts.is_empty());
    let quotients = build(|q, v, _, p| {
        let metric = (q[0] / (q[1] - p["a"] * 7.0)).powi(-2) / (p["b"] / q[1]) * 0.375;
        (v[0] * metric).squared() / metric + v[1].squared() * 0.3 - v[0] * q[1] / 3.0 - (-q[0]).exp().powi(-3)
    });
    assert_eq!(quotients.describe(9).lagrangian.formula, "T + G - V");
    let powers = build(|q, v, _, p| {
        let kinetic = (v[0] - v[1] * 2.0).powi(2) * 1e-3 + v[1].powi(2) * q[0].powf(2.5);
        kinetic - (q[0] - 1.0).powi(8) * p["a"].powi(3) - (q[1] * -2.0).powi(3) - q[1].atan2(q[0])
    });
    for system in [relativistic, quotients, powers] {
        assert!(compare(&system) >= 6, "{system}");
    }
}

fn read(name: &str, text: &str) -> System {
    let source = leastaction::error::Source::new(format!("{name}.toml"), text);
    Run::read(name, &source).unwrap().resolve().unwrap().0
}

/// What is shown of the kinetic energy, the mass matrix and the momenta.
fn formulas(system: &System) -> Vec<String> {
    let facts = system.describe(100);
    let parts = facts.lagrangian.parts.iter().map(|part| format!("{} = {}", part.name, part.formula));
    let masses = facts.mass_matrix.first.iter().map(|m| format!("{}, {}: {}", m.row, m.column, m.formula));
    let momenta = facts.momenta.first.iter().map(|p| format!("{} = {}", p.name, p.formula));
    parts.chain(masses).chain(momenta).collect()
}

#[test]
fn systems_typed_by_positions_read_like_those_typed_by_angles() {
    let triple = read("triple", include_str!("text/triple_pendulum.toml"));
    let found = formulas(&triple);
    for expected in [
        "a, a: l[1]^2*(m[1] + m[2] + m[3])",
        "b, a: (m[2] + m[3])*l[1]*l[2]*cos(a - b)",
        "c, b: m[3]*l[2]*l[3]*cos(b - c)",
        "p_c = m[3]*l[3]*(l[1]*cos(a - c)*v_a + l[2]*cos(b - c)*v_b + l[3]*v_c)",
    ] {
        assert!(found.iter().any(|line| line == expected), "{expected} is not in {found:#?}");
    }
    let elastic = read("elastic", include_str!("text/elastic_spherical.toml"));
    assert_eq!(
        formulas(&elastic),
        [
            "T = m*(v_r^2 + r^2*v_theta^2 + r^2*sin(theta)^2*v_phi^2)/2",
            "V = k*(r - l)^2/2 - m*g*r*cos(theta)",
            "r, r: m",
            "theta, theta: m*r^2",
            "phi, phi: m*r^2*sin(theta)^2",
            "p_r = m*v_r",
            "p_theta = m*r^2*v_theta",
            "p_phi = m*r^2*sin(theta)^2*v_phi",
        ]
    );
    // squares that mix velocities and time are taken apart, and the graph knows that the mass is constant
    let shaken = read("shaken", include_str!("text/shaken_pendulum.toml"));
    assert_eq!(formulas(&shaken)[..2], ["T = m*l^2*v_θ^2/2", "G = -m*l*a*Ω*sin(θ)*sin(Ω*t)*v_θ"]);
    assert!(shaken.structure().constant_mass && !shaken.structure().autonomous);
    let trap = read("trap", include_str!("text/magnetic_trap.toml"));
    for (system, least) in [(triple, 11), (elastic, 8), (shaken, 4), (trap, 8)] {
        let count = compare(&system);
        assert!(count >= least, "{}: {count}", system.name);
    }
}

#[test]
fn long_sums_are_short_and_the_mass_matrix_of_many_pendulums_is_what_it_should_be() {
    for n in [2, 5, 50] {
        let sizes = [("n".to_owned(), leastaction::system::Quantity::Number(f64::from(n)))].into();
        let (system, _) = Run { parameters: sizes, ..Run::of("n-pendulum") }.resolve().unwrap();
        let facts = system.describe(2000);
        let mut entries = facts.mass_matrix.first.iter();
        for i in 1..=n {
            for j in 1..=i {
                let entry = entries.next().unwrap();
                assert_eq!(
                    (entry.row.as_str(), entry.column.as_str()),
                    (&*format!("q{i}"), &*format!("q{j}"))
                );
                let factor = if i == n { String::new() } else { format!("{}*", n - i + 1) };
                let cosine = if i == j { String::new() } else { format!("*cos(q{j} - q{i})") };
                assert_eq!(entry.formula, format!("{factor}m*l^2{cosine}"));
            }
        }
        assert!(entries.next().is_none());
        for formula in facts.lagrangian.parts.iter().chain(&facts.momenta.first) {
            assert!(formula.formula.chars().count() <= 300, "{}", formula.formula);
        }
        let text = system.to_string();
        assert!(text.lines().count() < 60 && text.lines().all(|line| line.chars().count() < 160), "{text}");
    }
}
