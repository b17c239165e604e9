//! Ensembles: every member is the run it stands for, whatever the threads, shards and members around it; to the last bit where steps are given, and within
//! the tolerance where one is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::error::Source;
use leastaction::expr::Backend;
use leastaction::prelude::*;
use leastaction::simulate::ensemble::{Block, Column, Draw, Ensemble, EnsemblePlan, List, Spread, Status};
use leastaction::simulate::{Direction, Event, Outcome};
use leastaction::system::Quantity;
use std::convert::Infallible;
use std::ops::{ControlFlow, Range};

/// A particle whose velocity is bounded: L is not quadratic in it, so that velocities are solved for by Newton's method.
const RELATIVISTIC: &str = r#"
coordinates = ["x"]
[parameters]
m = 1
c = 2
k = 1
[lagrangian]
expression = "-m*c^2*sqrt(1 - v_x^2/c^2) - k*x^2/2"
[initial]
q = [1]
p = [0.5]
[run]
method = "gauss4"
step = 0.05
until = 2
"#;

fn spread(text: &str) -> Spread {
    let source = Source::new("spread", text);
    Spread::read(text, &leastaction::error::Origin::part(source, 0, text.len())).unwrap()
}

fn draw(text: &str) -> Draw {
    let source = Source::new("draw", text);
    Draw::read(text, &leastaction::error::Origin::part(source, 0, text.len())).unwrap()
}

fn grid(run: &Run, axes: &[(&str, &str)]) -> Run {
    let vary = axes.iter().map(|(name, text)| ((*name).to_owned(), spread(text))).collect();
    Run { ensemble: Some(Ensemble { vary, ..Ensemble::default() }), ..run.clone() }
}

fn plan(run: &Run) -> EnsemblePlan {
    EnsemblePlan::new(run, None).unwrap()
}

/// All rows of a range of members.
fn rows(plan: &EnsemblePlan, members: &Range<u64>, threads: usize) -> Vec<Vec<u64>> {
    let mut rows = Vec::new();
    let keep = |block: &Block| {
        for row in 0..block.rows {
            rows.push((0..plan.columns.len()).map(|column| block.column(column)[row]).collect());
        }
        Ok::<(), Infallible>(())
    };
    let blocks = plan.run(members, 0, threads, &|| ControlFlow::Continue(()), keep).unwrap();
    assert_eq!(blocks, plan.blocks(members));
    assert_eq!(rows.len() as u64, members.end - members.start);
    rows
}

fn all(plan: &EnsemblePlan) -> Vec<Vec<u64>> {
    rows(plan, &(0..plan.count()), 2)
}

fn cell(plan: &EnsemblePlan, row: &[u64], name: &str) -> u64 {
    let column = plan.columns.iter().position(|column: &Column| column.name == name);
    row[column.unwrap_or_else(|| panic!("no column {name}"))]
}

fn real(plan: &EnsemblePlan, row: &[u64], name: &str) -> f64 {
    f64::from_bits(cell(plan, row, name))
}

fn status(plan: &EnsemblePlan, row: &[u64]) -> Status {
    Status::of_code(cell(plan, row, "status"))
}

/// The run that a member stands for.
fn single(run: &Run, names: &[String], values: &[f64]) -> Run {
    let (system, _) = run.resolve().unwrap();
    let mut single = Run { ensemble: None, every: Some(0), ..run.clone() };
    let base = single.plan().unwrap().problem;
    let numbers = |list: &[f64]| list.iter().map(|x| Quantity::Number(*x)).collect::<Vec<_>>();
    for (name, value) in names.iter().zip(values) {
        let value = Quantity::Number(*value);
        let place = |name: &str| system.coordinate_names().iter().position(|other| other == name);
        if let Some(i) = place(name) {
            single.initial.q.get_or_insert_with(|| system.initial.q.clone())[i] = value;
        } else if let Some(i) = name.strip_prefix("v_").and_then(place) {
            single.initial.v.get_or_insert_with(|| numbers(&base.v0))[i] = value;
            single.initial.p = None;
        } else if let Some(i) = name.strip_prefix("p_").and_then(place) {
            single.initial.p.get_or_insert_with(|| numbers(&base.p0))[i] = value;
            single.initial.v = None;
        } else {
            single.parameters.insert(name.clone(), value);
        }
    }
    single
}

/// Compares every member with its run.
fn compare(run: &Run) -> Vec<Status> {
    let plan = plan(run);
    let names = plan.varied().to_vec();
    let coordinates = plan.base.problem.system.coordinate_names();
    let mut values = vec![0.0; names.len()];
    let mut statuses = Vec::new();
    for (member, row) in all(&plan).iter().enumerate() {
        plan.values(member as u64, &mut values);
        let what = format!("{} {names:?} = {values:?}", run.system);
        let status = status(&plan, row);
        statuses.push(status);
        assert_eq!(cell(&plan, row, "index"), member as u64);
        for (name, value) in names.iter().zip(&values) {
            assert_eq!(cell(&plan, row, name), value.to_bits(), "{what}");
        }
        let mut single = single(run, &names, &values);
        // members that keep to a tolerance have steps of their own
        if status.is_complete() {
            single.step = Some(real(&plan, row, "step").into());
        }
        let solution = match single.plan() {
            Ok(single) => single.simulate().unwrap(),
            Err(error) => {
                assert!(!status.is_complete(), "{what}: {error}");
                assert_eq!(real(&plan, row, "t_end"), plan.base.problem.t0);
                continue;
            }
        };
        let outcome = match &solution.outcome {
            Outcome::Done => Status::Done,
            Outcome::Stopped { .. } => Status::Stopped,
            Outcome::NotReached { .. } => Status::NotReached,
            Outcome::Failed(failure) => Status::from(&failure.cause),
            Outcome::Interrupted | Outcome::Exceeded => panic!("{what}"),
        };
        assert_eq!(status, outcome, "{what}");
        let summary = &solution.summary;
        let mut expected = vec![
            ("t_end".to_owned(), summary.t_end),
            ("energy".to_owned(), summary.energy.initial),
            ("energy_error".to_owned(), summary.energy.max_error),
        ];
        for (i, name) in coordinates.iter().enumerate() {
            expected.push((format!("{name}_end"), summary.q[i]));
            expected.push((format!("p_{name}_end"), summary.p[i]));
        }
        for tally in &solution.events.tallies {
            expected.push((format!("{}_first", tally.name), tally.first.unwrap_or(f64::NAN)));
            assert_eq!(cell(&plan, row, &format!("{}_count", tally.name)), tally.count, "{what}");
        }
        for (name, value) in expected {
            assert_eq!(cell(&plan, row, &name), value.to_bits(), "{what}: {name} {value}");
        }
        let (low, high) = (real(&plan, row, "energy_error_low"), real(&plan, row, "energy_error_high"));
        assert!(low <= 0.0 && high >= 0.0 && high.max(-low) == summary.energy.max_error, "{what}");
    }
    statuses
}

fn short(system: &str, method: &str, step: f64, until: f64) -> Run {
    Run {
        method: Some(method.to_owned()),
        step: Some(step.into()),
        until: Some(until.into()),
        ..Run::of(system)
    }
}

#[test]
fn members_are_their_runs_to_the_last_bit() {
    let relativistic = Run::of_definition("relativistic", &Source::new("", RELATIVISTIC)).unwrap();
    for (run, axes) in [
        (short("double-pendulum", "simpson", 0.01, 0.5), vec![("q1", "-pi..pi:5"), ("q2", "-2..2:4")]),
        // what follows from a parameter follows: l1 and l2 are g/omega0^2
        (short("double-pendulum", "gauss8", 0.05, 1.0), vec![("g", "1.62, 9.81"), ("m2", "0.1..3:3")]),
        (short("double-pendulum", "verlet", 0.01, 0.3), vec![("v_q2", "-1..8:4"), ("m1", "1..2:2")]),
        (short("double-pendulum", "rk4", 0.01, 0.3), vec![("p_q1", "-0.1..0.2:3"), ("l2", "0.1,0.5")]),
        (short("kepler", "lobatto8", 0.05, 2.0), vec![("x", "0.5..1.5:4")]),
        (short("fput", "gauss4", 0.1, 3.0), vec![("alpha", "0..0.3:3")]),
        (relativistic.clone(), vec![("p_x", "-3..3:5"), ("c", "1, 2")]),
        (Run { method: Some("rk4-velocity".into()), ..relativistic }, vec![("v_x", "-0.5..0.5:3")]),
    ] {
        let statuses = compare(&grid(&run, &axes));
        assert!(statuses.iter().all(|status| *status == Status::Done), "{} {statuses:?}", run.system);
    }
}

#[test]
fn members_keep_to_a_tolerance_with_steps_of_their_own() {
    let tolerance = 1e-7;
    let run = Run { tolerance: Some(tolerance.into()), ..short("double-pendulum", "gauss8", 0.1, 3.0) };
    let run = grid(&run, &[("q1", "-3..3:7"), ("q2", "-2.9..3:6")]);
    let plan = plan(&run);
    let rows = all(&plan);
    let steps: Vec<f64> = rows.iter().map(|row| real(&plan, row, "step")).collect();
    for row in &rows {
        assert_eq!(status(&plan, row), Status::Done);
        assert!(real(&plan, row, "energy_error") <= tolerance);
    }
    let (least, largest) = steps.iter().fold((1.0f64, 0.0f64), |(a, b), x| (a.min(*x), b.max(*x)));
    assert!(largest > 2.0 * least, "{least} {largest}");
    // threads, shards and the back end change no bit
    assert_eq!(self::rows(&plan, &plan.shard(2, 3), 1), rows[plan.shard(2, 3).start as usize..][..14]);
    assert_eq!(self::rows(&plan, &(0..plan.count()), 3), rows);
    let interpreted = Run { backend: Some(Backend::Interpreter), ..run.clone() };
    assert_eq!(all(&self::plan(&interpreted)), rows);
    // each is a run with its step, but for what the tolerance leaves unsolved
    assert!(farthest(&run) < 100.0 * tolerance, "{:e}", farthest(&run));
    // with events also to the last bit
    compare(&flips(run));
}

/// How far members are at the end from runs with their steps whose steps are solved to rounding, at most, relative to the largest number.
fn farthest(run: &Run) -> f64 {
    let plan = plan(run);
    let names = plan.varied().to_vec();
    let coordinates = plan.base.problem.system.coordinate_names();
    let mut values = vec![0.0; names.len()];
    let mut farthest = 0.0f64;
    for (member, row) in all(&plan).iter().enumerate() {
        plan.values(member as u64, &mut values);
        let step = Some(real(&plan, row, "step").into());
        let single = Run { step, tolerance: None, ..single(run, &names, &values) };
        let summary = single.plan().unwrap().simulate().unwrap().summary;
        let pairs = coordinates.iter().enumerate().flat_map(|(i, name)| {
            [(format!("{name}_end"), summary.q[i]), (format!("p_{name}_end"), summary.p[i])]
        });
        let pairs: Vec<(f64, f64)> = pairs.map(|(name, x)| (real(&plan, row, &name), x)).collect();
        let size = pairs.iter().fold(0.0f64, |size, (_, x)| size.max(x.abs()));
        farthest = pairs.iter().fold(farthest, |far, (a, b)| far.max((a - b).abs() / size));
    }
    farthest
}

/// Steps that turn an angle by more than a radian compute its sines at their points; the others where they begin.
#[test]
fn members_may_turn_by_more_than_a_radian_in_a_step() {
    let tolerance = 1e-7;
    let run = Run { tolerance: Some(tolerance.into()), ..short("pendulum", "gauss12", 0.1, 4.0) };
    for (speeds, far) in [("100..200:24", true), ("0..6:24", false)] {
        let run = grid(&run, &[("v_q", speeds)]);
        let plan = plan(&run);
        let rows = all(&plan);
        let turned =
            rows.iter().fold(0.0f64, |m, row| m.max(real(&plan, row, "v_q") * real(&plan, row, "step")));
        assert_eq!(turned > 1.0, far, "{turned}");
        for row in &rows {
            assert_eq!(status(&plan, row), Status::Done);
            assert!(real(&plan, row, "energy_error") <= tolerance);
        }
        let interpreted = Run { backend: Some(Backend::Interpreter), ..run.clone() };
        assert_eq!(all(&self::plan(&interpreted)), rows);
        assert!(farthest(&run) < 1000.0 * tolerance, "{:e}", farthest(&run));
    }
}

#[test]
fn driven_members_keep_their_balance_with_steps_of_their_own() {
    let text = "coordinates = [\"x\"]\n[lagrangian]\nkinetic = \"v_x^2/2\"\npotential = \"x^4/4 - x*cos(t)\"\n\
                [run]\nmethod = \"gauss8\"\nstep = 0.1\nuntil = 2\ntolerance = 1e-8\n";
    let driven = Run::read("x", &Source::new("x.toml", text)).unwrap();
    let plan = plan(&grid(&driven, &[("x", "0..3:4")]));
    let rows = all(&plan);
    let steps: Vec<f64> = rows.iter().map(|row| real(&plan, row, "step")).collect();
    assert!(steps.iter().any(|step| *step != steps[0]), "{steps:?}");
    assert!(rows.iter().all(|row| real(&plan, row, "energy_error") <= 1e-8));
}

/// A linear motion keeps its energy with any step, also with gyroscopic terms: that is no reason for larger ones.
#[test]
fn steps_of_linear_motions_are_not_raised() {
    let text = "coordinates = [\"x\", \"y\"]\n[parameters]\nB = 3\n[lagrangian]\n\
                expression = \"(v_x^2 + v_y^2)/2 + B/2*(x*v_y - y*v_x) - x^2/2 - y^2\"\n\
                [initial]\nq = [0.3, 1]\nv = [1, 2]\n\
                [run]\nmethod = \"gauss8\"\nstep = 0.25\nuntil = 20\ntolerance = 1e-8\n";
    let run = Run::read("x", &Source::new("x.toml", text)).unwrap();
    let plan = plan(&grid(&run, &[("x", "0.1..0.5:9")]));
    for row in all(&plan) {
        assert_eq!(real(&plan, &row, "step"), 0.25);
    }
}

#[test]
fn members_that_cannot_keep_to_a_tolerance_end_all_the_same() {
    let run = Run { tolerance: Some(3e-16.into()), ..short("pendulum", "midpoint", 1.0, 4.0) };
    let plan = plan(&grid(&run, &[("q", "0.5..3:4")]));
    for row in all(&plan) {
        assert_eq!(status(&plan, &row), Status::Done);
        assert!((real(&plan, &row, "step") - 1.0 / 256.0).abs() < 1e-15);
    }
}

#[test]
fn failures_that_no_step_mends_are_not_tried_again() {
    let event = Event { of: "sqrt(q - 0.2)".into(), direction: Direction::Both, stop: None };
    let run = Run {
        tolerance: Some(1e-6.into()),
        events: [("root".to_owned(), event)].into_iter().collect(),
        ..short("pendulum", "gauss8", 0.1, 5.0)
    };
    let plan = plan(&grid(&run, &[("q", "0.5..1:4")]));
    for row in all(&plan) {
        assert_eq!(status(&plan, &row), Status::EventNotFinite);
        assert!(real(&plan, &row, "step") > 0.01, "{}", real(&plan, &row, "step"));
    }
}

fn flips(run: Run) -> Run {
    let event = |of: &str, stop| Event { of: of.into(), direction: Direction::Both, stop };
    let events = [
        ("flip".to_owned(), event("cos(q1/2)*cos(q2/2)", Some(1))),
        ("turn".to_owned(), event("v_q1", None)),
    ];
    Run { events: events.into_iter().collect(), ..run }
}

#[test]
fn events_are_those_of_the_runs_and_stop_members_early() {
    let run = flips(short("double-pendulum", "gauss8", 0.05, 3.0));
    let statuses = compare(&grid(&run, &[("q1", "-pi..pi:6"), ("q2", "-pi..pi:5")]));
    assert!(statuses.contains(&Status::Stopped) && statuses.contains(&Status::NotReached));
}

#[test]
fn arms_without_the_energy_never_flip() {
    let run = flips(short("double-pendulum", "gauss8", 0.05, 5.0));
    let plan = plan(&grid(&run, &[("q1", "-pi..pi:21"), ("q2", "-pi..pi:21")]));
    let (mut able, mut flipped) = (0, 0);
    for row in all(&plan) {
        let (q1, q2) = (real(&plan, &row, "q1"), real(&plan, &row, "q2"));
        // equal masses and lengths: the lower arm needs −2 + 1 = −1 of m g l, the upper one more
        if 2.0 * q1.cos() + q2.cos() > 1.0 {
            assert_eq!(cell(&plan, &row, "flip_count"), 0, "{q1} {q2}");
        } else {
            able += 1;
            flipped += cell(&plan, &row, "flip_count");
        }
    }
    assert!(able > 200 && flipped > 100, "{flipped} of {able}");
}

#[test]
fn threads_and_shards_change_no_bit() {
    let run = flips(short("double-pendulum", "simpson", 0.01, 0.2));
    let mut run = grid(&run, &[("q1", "-pi..pi:13"), ("g", "5..15:7")]);
    let ensemble = run.ensemble.as_mut().unwrap();
    ensemble.draw.insert("q2".to_owned(), draw("normal(0, 1)"));
    (ensemble.members, ensemble.seed) = (Some(11), Some(5));
    let plan = plan(&run);
    assert_eq!(plan.count(), 13 * 7 * 11);
    let whole = all(&plan);
    for threads in [1, 3] {
        assert_eq!(rows(&plan, &(0..plan.count()), threads), whole);
    }
    for shards in [1, 3, 7, 2000] {
        let parts = (1..=shards).flat_map(|shard| rows(&plan, &plan.shard(shard, shards), 2));
        assert_eq!(parts.collect::<Vec<_>>(), whole, "{shards} shards");
    }
    // a later block does not need those before it
    let mut tail = Vec::new();
    let members = 0..plan.count();
    let keep = |block: &Block| {
        tail.extend_from_slice(block.column(0));
        Ok::<(), Infallible>(())
    };
    plan.run(&members, 3, 2, &|| ControlFlow::Continue(()), keep).unwrap();
    assert_eq!(tail[0], 3 * plan.block_size());
    assert_eq!(tail.len() as u64, plan.count() - 3 * plan.block_size());
}

#[test]
fn the_first_name_changes_slowest_and_draws_fastest() {
    let mut run = grid(&Run::of("double-pendulum"), &[("q1", "0..1:3"), ("g", "5, 7")]);
    let ensemble = run.ensemble.as_mut().unwrap();
    ensemble.list = Some("starts.csv".to_owned());
    ensemble.draw.insert("q2".to_owned(), draw("uniform(0, g)"));
    ensemble.members = Some(2);
    let list = List { names: vec!["m1".into(), "m2".into()], values: vec![1.0, 2.0, 3.0, 4.0] };
    let plan = EnsemblePlan::new(&run, Some(list)).unwrap();
    assert_eq!((plan.count(), plan.varied().join(" ")), (24, "m1 m2 q1 g q2".to_owned()));
    let values = |member: u64| {
        let mut values = [0.0; 5];
        plan.values(member, &mut values);
        values
    };
    assert_eq!(values(0)[..4], [1.0, 2.0, 0.0, 5.0]);
    assert_eq!(values(1)[..4], [1.0, 2.0, 0.0, 5.0]);
    assert_eq!(values(2)[..4], [1.0, 2.0, 0.0, 7.0]);
    assert_eq!(values(4)[..4], [1.0, 2.0, 0.5, 5.0]);
    assert_eq!(values(12)[..4], [3.0, 4.0, 0.0, 5.0]);
    assert_eq!(values(23)[..4], [3.0, 4.0, 1.0, 7.0]);
    assert!(values(0)[4] != values(1)[4] && (0.0..9.81).contains(&values(23)[4]));
    assert!(plan.grid().is_none());
}

#[test]
fn members_that_fail_do_not_hurt_the_others() {
    // negative masses, none at all, infinite lengths (g/0), and steps that are too large for the equations
    let run = short("double-pendulum", "simpson", 0.01, 0.1);
    let statuses = compare(&grid(&run, &[("m2", "1, 0, -3, 2"), ("omega0", "6, 0, 7")]));
    let done = statuses.iter().filter(|status| **status == Status::Done).count();
    assert_eq!(done, 4, "{statuses:?}");
    for expected in [Status::SingularMass, Status::NotDefinite, Status::BadStart] {
        assert!(statuses.contains(&expected), "{expected:?} {statuses:?}");
    }
    // a step that is too large for some of the motions
    let run = short("double-pendulum", "gauss8", 0.5, 15.0);
    let statuses = compare(&grid(&run, &[("q1", "-pi, 0.1, -pi"), ("q2", "-0.79, 0.2")]));
    assert_eq!(statuses[3], Status::Done, "{statuses:?}");
    assert!(!statuses[0].is_complete() && statuses[0] != Status::BadStart && statuses[0] == statuses[4]);
    // a division by zero
    let statuses = compare(&grid(&short("kepler", "simpson", 0.01, 0.1), &[("x", "1, 0, 1.1")]));
    assert_eq!(statuses, [Status::Done, Status::BadStart, Status::Done]);
    // numbers that are none, as a list of a Rust program may have them
    let mut run = Run::of("pendulum");
    run.ensemble = Some(Ensemble { list: Some("a list".into()), ..Ensemble::default() });
    let list = List { names: vec!["q".into()], values: vec![0.5, f64::NAN, f64::INFINITY, 0.5] };
    let plan = EnsemblePlan::new(&run, Some(list)).unwrap();
    let rows = all(&plan);
    assert_eq!(status(&plan, &rows[1]), Status::BadStart);
    assert_eq!(status(&plan, &rows[2]), Status::BadStart);
    assert_eq!(rows[0][1..], rows[3][1..]);
}

#[test]
fn one_member_is_an_ensemble() {
    let statuses = compare(&grid(&Run::of("pendulum"), &[("q", "0.3")]));
    assert_eq!(statuses, [Status::Done]);
    let statuses = compare(&grid(&Run::of("pendulum"), &[("q", "0.3..9:1")]));
    assert_eq!(statuses, [Status::Done]);
}

#[test]
fn an_interruption_keeps_whole_blocks_in_order() {
    let plan = plan(&grid(&short("pendulum", "simpson", 0.01, 0.5), &[("q", "0..1:2000")]));
    let asked = std::sync::atomic::AtomicU64::new(0);
    let go_on = || {
        let count = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if count > 900 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut kept = Vec::new();
    let keep = |block: &Block| {
        kept.extend_from_slice(block.column(0));
        Ok::<(), Infallible>(())
    };
    let blocks = plan.run(&(0..plan.count()), 0, 2, &go_on, keep).unwrap();
    assert!(blocks > 0 && blocks < plan.blocks(&(0..plan.count())));
    assert_eq!(kept, (0..blocks * plan.block_size()).collect::<Vec<_>>());
}

#[test]
fn ensembles_are_read_from_texts_and_written_back() {
    let text = "system = \"double-pendulum\"\n[ensemble]\nmembers = 3\nseed = 9\n[ensemble.vary]\nq1 = \"-pi..pi:10\"\n\
                g = [1, \"2*pi\"]\n[ensemble.draw]\nq2 = \"uniform(-pi, pi)\"\n";
    let run = Run::from_toml(text).unwrap();
    let ensemble = run.ensemble.clone().unwrap();
    assert_eq!(ensemble.vary.keys().collect::<Vec<_>>(), ["q1", "g"]);
    assert_eq!((ensemble.members, ensemble.seed), (Some(3), Some(9)));
    assert_eq!(Run::from_toml(&run.to_toml().unwrap()).unwrap(), run);
    let stored = plan(&run).run;
    let again = Run::from_toml(&stored.to_toml().unwrap()).unwrap();
    assert_eq!(all(&plan(&again))[..5], all(&plan(&run))[..5]);
}

#[test]
fn mistakes_are_shown_at_their_place() {
    let start = "system = \"pendulum\"\n[ensemble]\n";
    for (text, place, words) in [
        ("vray = 1", "run:3:1", "unknown key `vray` in [ensemble]; did you mean `vary`"),
        ("vary = 3", "run:3:8", "a table of names"),
        ("vary = { q = \"0..1\" }", "run:3:", "how many values is missing"),
        ("vary = { q = \"0..1:x\" }", "run:3:", "whole number"),
        ("vary = { q = \"0..oops:3\" }", "run:3:18", "unknown name `oops`"),
        ("vary = { z = \"0..1:3\" }", "run:3:", "`z` cannot be varied"),
        ("vary = { q = [] }", "", "`q` has no values"),
        ("draw = { q = \"gauss(0,1)\" }", "run:3:", "unknown distribution `gauss`"),
        ("draw = { q = 3 }", "run:3:", "expected a text"),
        ("draw = { q = \"normal(0,-1)\" }", "run:3:", "standard deviation"),
        ("members = 0", "run:3:", "`members` must be"),
        ("members = 4\nvary = { q = \"0..1:3\" }", "", "nothing is drawn"),
        ("seed = -1", "run:3:", "`seed` must be"),
        ("seed = 1", "", "nothing varies"),
        ("vary = { q = [1] }\ndraw = { q = \"uniform(0,1)\" }", "run:4:", "varied twice"),
        ("vary = { v_q = [1], p_q = [2] }", "", "cannot be varied together"),
        ("vary = { q = \"0..1:99999999999\", g = \"1..2:9999999\" }", "", "more than 2^53"),
    ] {
        let error = Run::from_toml(&format!("{start}{text}"))
            .and_then(|run| EnsemblePlan::new(&run, None).map(|_| ()))
            .expect_err(text)
            .to_string();
        assert!(error.contains(place) && error.contains(words), "{text}: {error}");
    }
}
