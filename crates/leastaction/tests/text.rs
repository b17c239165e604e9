//! Systems written as text: equal to their twins of the catalogue, in any size, with definitions of any length.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::error::Source;
use leastaction::prelude::*;
use leastaction::simulate::Definition;
use leastaction::system::Quantity;
use std::collections::BTreeMap;

/// The default run of a text.
fn run(name: &str, text: &str) -> Run {
    Run::read(name, &Source::new(format!("{name}.toml"), text)).unwrap()
}

fn twin(name: &str) -> Run {
    let text = catalogue::text(name).unwrap_or_else(|| panic!("no text of {name}"));
    run(name, text)
}

fn with(base: Run, until: &str, sizes: &[(&str, f64)]) -> Run {
    let sizes = sizes.iter().map(|(name, x)| ((*name).to_owned(), Quantity::Number(*x)));
    Run { until: Some(until.into()), every: Some(1), parameters: sizes.collect(), ..base }
}

/// The largest relative difference of q and p at the end of two runs, from text and from the catalogue.
fn difference(name: &str, until: &str, sizes: &[(&str, f64)]) -> f64 {
    let text = with(twin(name), until, sizes).simulate().unwrap();
    let rust = with(Run::of(name), until, sizes).simulate().unwrap();
    assert_eq!(text.summary.steps, rust.summary.steps, "{name}");
    let size = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let worst = |a: &[f64], b: &[f64]| {
        assert_eq!(a.len(), b.len(), "{name}");
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size(b)
    };
    worst(&text.summary.q, &rust.summary.q).max(worst(&text.summary.p, &rust.summary.p))
}

#[test]
fn the_double_pendulum_from_text_equals_that_of_the_catalogue_bit_for_bit() {
    assert_eq!(difference("double-pendulum", "100", &[]), 0.0);
}

#[test]
fn every_system_of_the_catalogue_has_a_twin() {
    // those whose text is the Rust function word for word agree to the last bit
    let equal = [
        "harmonic-oscillator",
        "pendulum",
        "linear-double-pendulum",
        "double-pendulum",
        "lagrange-top-cusps",
        "spherical-pendulum",
        "cart-pole",
        "outer-solar-system",
    ];
    for entry in catalogue::ENTRIES {
        let until = if entry.name == "outer-solar-system" { "200000" } else { "1" };
        let error = difference(entry.name, until, &[]);
        let limit = if equal.contains(&entry.name) { 0.0 } else { 1e-12 };
        assert!(error <= limit, "{}: {error:e}", entry.name);
    }
}

#[test]
fn twins_agree_in_other_sizes() {
    for (name, until, n) in
        [("n-pendulum", "0.3", 1.0), ("n-pendulum", "0.2", 20.0), ("fput", "20", 1.0), ("fput", "2", 1000.0)]
    {
        let error = difference(name, until, &[("n", n)]);
        assert!(error < 1e-12, "{name} {n}: {error:e}");
    }
}

#[test]
fn twins_look_the_same() {
    for entry in catalogue::ENTRIES {
        let (text, _) = twin(entry.name).resolve().unwrap();
        let rust = catalogue::system(entry.name).unwrap();
        assert!(text.warnings.is_empty(), "{}: {:?}", entry.name, text.warnings);
        let heading =
            |s: &System| (s.title.clone(), s.summary.clone(), s.time_unit.clone(), s.energy_unit.clone());
        assert_eq!(heading(&text), heading(&rust));
        let units = |s: &System| s.coordinates.iter().map(|c| c.unit.clone()).collect::<Vec<_>>();
        assert_eq!(units(&text), units(&rust), "{}", entry.name);
        let parameters = |s: &System| -> Vec<(String, String, String)> {
            s.parameters.iter().map(|p| (p.name.clone(), p.unit.clone(), p.meaning.clone())).collect()
        };
        assert_eq!(parameters(&text), parameters(&rust), "{}", entry.name);
        assert_eq!(text.motion.is_some(), rust.motion.is_some(), "{}", entry.name);
        let (Some(a), Some(b)) = (&text.motion, &rust.motion) else { continue };
        assert_eq!((a.dimension, &a.links, &a.unit), (b.dimension, &b.links, &b.unit), "{}", entry.name);
        let positions = |system: &System, motion: &leastaction::system::Motion| {
            let problem: Problem<f64> = system.problem(&Settings::default()).unwrap();
            let mut evaluator = leastaction::expr::Evaluator::new(motion.tape.clone(), &problem.parameters);
            let mut out = vec![0.0; evaluator.outputs()];
            evaluator.evaluate(&problem.q0, &problem.v0, &problem.t0, &mut out);
            out
        };
        for (a, b) in positions(&text, a).iter().zip(positions(&rust, b)) {
            assert!((a - b).abs() < 1e-14, "{}: {a} {b}", entry.name);
        }
    }
}

#[test]
fn a_chain_of_ten_thousand_definitions_is_evaluated() {
    // each refers to the one before, or to the one behind it
    for formula in ["x[i-1] + q/n", "x[i+1] + q/n"] {
        let text = format!(
            "coordinates = [\"q\"]\n[sizes]\nn = 10000\n[definitions]\n\"x[0]\" = \"{}\"\n\"x[{}]\" = 0\n\"x[i = 1..n]\" = \"{formula}\"\n\
             [lagrangian]\nkinetic = \"dot(x[{}])^2/2\"\npotential = \"x[1] + x[n]\"\n",
            0,
            "n + 1",
            if formula.contains("i-1") { "n" } else { "1" }
        );
        let solution = Run { until: Some(0.1.into()), ..run("chain", &text) }.simulate().unwrap();
        // ½ v² − (1 + 1/n) q
        let expected = -(1.0 + 1e-4) * 0.005;
        assert!((solution.summary.q[0] - expected).abs() < 1e-12, "{}", solution.summary.q[0]);
    }
}

#[test]
fn time_derivatives_follow_the_chain_rule() {
    // a pendulum whose pivot is shaken, by positions, against the same written out
    let head = "coordinates = [\"θ\"]\n[parameters]\nl = 0.7\ng = 9.81\na = 0.1\n\"ω\" = 5\n";
    let tail = "[initial]\nq = [1]\nv = [0.5]\n[run]\nstep = 0.01\nuntil = 2\n";
    let by_position = format!(
        "{head}[definitions]\nx = \"l*sin(θ)\"\ny = \"a*cos(ω*t) - l*cos(θ)\"\n\
         [lagrangian]\nkinetic = \"(dot(x)^2 + dot(y)^2)/2\"\npotential = \"g*y\"\n{tail}"
    );
    let by_hand = format!(
        "{head}[lagrangian]\nexpression = \"\"\"\n(l*v_θ)^2/2 - a*ω*sin(ω*t)*l*sin(θ)*v_θ + (a*ω*sin(ω*t))^2/2\n\
         - g*(a*cos(ω*t) - l*cos(θ))\"\"\"\n{tail}"
    );
    let (a, b) = (run("a", &by_position).simulate().unwrap(), run("b", &by_hand).simulate().unwrap());
    assert!((a.summary.q[0] - b.summary.q[0]).abs() < 1e-13, "{} {}", a.summary.q[0], b.summary.q[0]);
    assert!((a.summary.q[0] - 1.0).abs() > 1e-3);
}

#[test]
fn vectors_of_parameters_and_initial_states() {
    let text = "coordinates = [\"x[3]\", \"y\"]\n[sizes]\nn = 3\n[parameters]\nm = [1, 2, \"m[1]/2\"]\n\"k[i = 1..n]\" = \"i^2\"\n\
                s = \"list(i = 1..n, i/2)\"\n\
                [lagrangian]\nkinetic = \"sum(i = 1..n, m[i]/2*dot(x[i])^2) + dot(y)^2/2\"\npotential = \"sum(i = 1..n, k[i]/2*x[i]^2)\"\n\
                [initial]\nq = [\"s\", \"m[3]\"]\nv = [\"list(i = 1..n, -i)\", 7]\n";
    let start = |run: &Run| {
        let plan = run.plan().unwrap();
        (plan.problem.parameters.clone(), plan.problem.q0.clone(), plan.problem.v0.clone())
    };
    let base = run("v", text);
    let (parameters, q, v) = start(&base);
    assert_eq!(parameters, [1.0, 2.0, 0.5, 1.0, 4.0, 9.0, 0.5, 1.0, 1.5]);
    assert_eq!((q, v), (vec![0.5, 1.0, 1.5, 0.5], vec![-1.0, -2.0, -3.0, 7.0]));
    // an entry replaced, as --set "m[1]=4" does
    let mut changed = base.clone();
    changed.parameters.insert("m[1]".to_owned(), 4.0.into());
    assert_eq!(start(&changed).0[..3], [4.0, 2.0, 2.0]);
    // and by a run file, with one value for all
    let mut other =
        run("r", "system = \"v\"\n[parameters]\nm = [3, 3, 3]\n[initial]\nq = 0.25\nv = [1, \"...\"]\n");
    other.definition = base.definition.clone();
    let (parameters, q, v) = start(&other);
    assert_eq!(parameters[..3], [3.0, 3.0, 3.0]);
    assert_eq!((q, v), (vec![0.25; 4], vec![1.0; 4]));
}

#[test]
fn a_run_keeps_its_definition() {
    let text = catalogue::text("n-pendulum").unwrap();
    let mut first = with(run("chain", text), "0.1", &[("n", 3.0)]);
    first.outputs.insert("depth".to_owned(), "y[n]".into());
    let solution = first.simulate().unwrap();
    let stored = solution.run.to_toml().unwrap();
    let again = Run::from_toml(&stored).unwrap();
    assert_eq!(again, solution.run, "{stored}");
    assert_eq!(again.definition, Some(Definition::from(text)));
    assert_eq!(again.simulate().unwrap().summary.q, solution.summary.q);
    // quotes and backslashes survive as well
    let odd = Run { definition: Some(Definition::from("a = '''\n\\u \"\"\" '''\n")), ..Run::of("x") };
    assert_eq!(Run::from_toml(&odd.to_toml().unwrap()).unwrap(), odd);
}

#[test]
fn units_and_meanings_come_from_comments() {
    let (system, _) = twin("double-pendulum").resolve().unwrap();
    let rust = catalogue::system("double-pendulum").unwrap();
    assert_eq!(system.coordinates[0].unit, "rad");
    for (text, rust) in system.parameters.iter().zip(&rust.parameters) {
        assert_eq!((&text.name, &text.unit, &text.meaning), (&rust.name, &rust.unit, &rust.meaning));
    }
    let settings = |_: ()| Settings { parameters: BTreeMap::new(), ..Settings::default() };
    let (a, b): (Problem<f64>, Problem<f64>) =
        (system.problem(&settings(())).unwrap(), rust.problem(&settings(())).unwrap());
    assert_eq!((a.parameters, a.q0, a.p0), (b.parameters, b.q0, b.p0));
}

#[test]
fn unused_definitions_leave_no_trace_in_the_bits() {
    let text = catalogue::text("double-pendulum").unwrap();
    let more = text.replace("[lagrangian]", "spare = \"sin(q1 - q2)*cos(q1)*dot(x2)\"\n[lagrangian]");
    let (a, b) = (run("a", text).simulate().unwrap(), run("b", &more).simulate().unwrap());
    assert_eq!((a.summary.q, a.summary.p), (b.summary.q, b.summary.p));
}

#[test]
fn old_keys_are_told_where_to_go() {
    let error = Run::from_toml("system = \"pendulum\"\nmethod = \"simpson\"\n").unwrap_err().to_string();
    assert!(error.contains("move `method` under [run]"), "{error}");
}

#[test]
fn negative_variables_keep_their_sign_in_lists() {
    let text = "coordinates = [\"x[3]\"]\n[parameters]\n\"k[i = 1..3]\" = \"(i - 2)^2 + 1\"\n[lagrangian]\nkinetic = \"sum(i = 1..3, k[i]*v_x[i]^2)/2\"\n[initial]\nq = \"list(i = -1..1, i^2 - i)\"\n[run]\nuntil = 0.01\n";
    let plan = run("lists", text).plan().unwrap();
    assert_eq!(plan.problem.q0, [2.0, 0.0, 0.0]);
    assert_eq!(plan.problem.parameters, [2.0, 1.0, 2.0]);
}
