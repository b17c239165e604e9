//! A run with a tolerance gets a method and a fixed step that keep to it, the same on every machine, and says why where none does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::Error;
use leastaction::analysis::certify::Measure;
use leastaction::analysis::{Attempts, Picked, pick, pick_for, simulate_within};
use leastaction::prelude::*;
use leastaction::system::Quantity;
use std::ops::ControlFlow;

fn run(name: &str, until: &str, tolerance: f64) -> Run {
    Run {
        until: Some(Quantity::from(until)),
        tolerance: Some(Quantity::Number(tolerance)),
        every: Some(0),
        ..Run::of(name)
    }
}

fn picked(run: &Run) -> Result<Picked, Error> {
    pick(run, &|_| ControlFlow::Continue(())).map(|picked| picked.expect("something to pick"))
}

#[test]
fn picked_runs_keep_to_their_tolerance() {
    for (name, until, tolerance) in [
        ("double-pendulum", "10", 1e-4),
        ("double-pendulum", "10", 1e-11),
        ("double-pendulum", "10", 1e-14),
        ("double-pendulum", "1000", 1e-8),
        ("double-pendulum", "1000", 1e-13),
        ("lagrange-top", "10*period", 1e-14),
        ("lagrange-top", "1000*period", 1e-13),
        ("kepler", "20*period", 1e-8),
        ("pendulum", "100", 1e-2),
    ] {
        let found = picked(&run(name, until, tolerance)).unwrap();
        let plan = found.run.plan().unwrap();
        assert_eq!((plan.step, plan.steps, plan.tolerance), (found.step, found.steps, Some(tolerance)));
        assert!(plan.notes.is_empty(), "the steps fill the time: {:?}", plan.notes);
        let summary = plan.simulate().unwrap().summary;
        let error = summary.energy.max_error;
        assert!(error <= tolerance, "{name} until {until}, {tolerance:e}: {error:e} with {found}");
        assert_eq!(summary.tolerance, Some(tolerance));
        // what was measured is what the run does
        assert!(found.whole && found.error <= tolerance);
        if found.measure == Measure::Energy {
            assert_eq!(found.error, error, "{name} until {until}, {tolerance:e}");
        }
        let step = summary.resolution.unwrap().error;
        assert!(step <= tolerance, "{name} until {until}, {tolerance:e}: {step:e} with {found}");
    }
}

#[test]
fn ensembles_get_methods_whose_members_go_side_by_side() {
    let alone = run("double-pendulum", "10", 1e-8);
    let ensemble =
        Run { ensemble: Some(leastaction::simulate::ensemble::Ensemble::default()), ..alone.clone() };
    let down = ("down".to_owned(), leastaction::simulate::Event::of("q1"));
    let watched = Run { events: [down].into_iter().collect(), ..ensemble.clone() };
    let [alone, ensemble, watched] = [alone, ensemble, watched].map(|run| picked(&run).unwrap().method);
    assert_eq!(alone, "gauss16");
    assert!(["gauss8", "gauss10", "gauss12"].contains(&ensemble.as_str()), "{ensemble}");
    // members with events go one by one
    assert_eq!(watched, alone);
}

#[test]
fn the_search_counts_and_has_no_clock() {
    let run = run("henon-heiles", "100", 1e-9);
    let all: Vec<String> = (0..3).map(|_| picked(&run).unwrap().to_string()).collect();
    assert!(all.iter().all(|text| *text == all[0]), "{all:?}");
    // the interpreter gives the same numbers, and so the same choice
    let slow = Run { backend: Some(leastaction::expr::Backend::Interpreter), ..run };
    assert_eq!(picked(&slow).unwrap().to_string(), all[0]);
}

#[test]
fn a_looser_tolerance_is_cheaper_and_not_kept_far_too_well() {
    let steps = |tolerance: f64| {
        let run = Run { method: Some("simpson".to_owned()), ..run("double-pendulum", "10", tolerance) };
        let found = picked(&run).unwrap();
        assert_eq!(found.method, "simpson");
        assert!(found.error > 0.3 * tolerance, "{tolerance:e}: {:e}", found.error);
        found.steps
    };
    let [loose, tight] = [steps(1e-5), steps(1e-7)];
    // a method of order 4 takes 100^(1/4) times as many
    assert!((2.5..4.0).contains(&(tight as f64 / loose as f64)), "{loose} {tight}");
}

#[test]
fn steps_are_no_simple_fraction_of_the_period() {
    for tolerance in [1e-6, 1e-9, 1e-12] {
        let found = picked(&run("lagrange-top", "100*period", tolerance)).unwrap();
        let period = found.run.plan().unwrap().period.unwrap();
        let halves = 2.0 * period / found.step;
        assert!((halves - halves.round()).abs() > 0.04, "{tolerance:e}: {} steps a period", 0.5 * halves);
    }
}

#[test]
fn a_motion_that_keeps_its_energy_anyhow_is_resolved_too() {
    let found = picked(&run("harmonic-oscillator", "100", 1e-9)).unwrap();
    let plan = found.run.plan().unwrap();
    let exact = leastaction::exact::period(&plan.problem).unwrap();
    assert!(found.step < 2.0 * exact, "{found}");
    // two halves of a step are the step to the tolerance, and so the whole run to as much a step
    let halved = Run { step: Some(Quantity::Number(0.5 * found.step)), ..found.run.clone() };
    let [a, b] = [&found.run, &halved].map(|run| run.simulate().unwrap().summary);
    let size = a.q[0].abs().max(1.0);
    assert!((a.q[0] - b.q[0]).abs() <= 1e-9 * size * found.steps as f64, "{found}");
}

/// An oscillator shaken in time, whose energy is not conserved.
fn shaken() -> System {
    System::build("shaken", "Shaken oscillator")
        .coordinate("x", "m")
        .start_at_rest(["1"])
        .run("simpson", "0.05", "20")
        .lagrangian(|q, v, t, _| (v[0].squared() - q[0].squared()) * 0.5 + q[0] * (t * 3.0).sin())
        .unwrap()
}

#[test]
fn driven_motions_keep_their_balance() {
    let run = Run {
        tolerance: Some(Quantity::Number(1e-7)),
        until: Some(Quantity::Number(200.0)),
        ..Run::default()
    };
    let system = shaken();
    let found = pick_for(&run, &system, &|_| ControlFlow::Continue(())).unwrap().unwrap();
    assert_ne!(found.measure, Measure::Energy);
    // x = cos t + (sin 3t − 3 sin t)/(1 − 9) from x'' = −x + sin 3t at rest at 1
    let end = found.run.simulate_system(&system).unwrap().summary;
    let exact = 200f64.cos() + (600f64.sin() - 3.0 * 200f64.sin()) / -8.0;
    let error = (end.q[0] - exact).abs();
    assert!(error < 1e-7 * end.steps as f64, "{} {exact}", end.q[0]);
    assert!(end.energy.max_error <= 1e-7 && found.error > 1e-9, "{found}");
}

#[test]
fn long_runs_are_measured_in_part_with_a_margin() {
    let run = Run { method: Some("gauss8".to_owned()), ..run("henon-heiles", "1e6", 1e-6) };
    let found = picked(&run).unwrap();
    assert!(!found.whole && found.measured_until < 1e6, "{found}");
    assert!(found.error <= 0.5e-6, "{found}");
}

#[test]
fn what_cannot_be_reached_says_what_can() {
    // more digits than there are: the last attempt goes to the end and says what it reached
    let solution = within(&run("double-pendulum", "10", 2.3e-16));
    assert_eq!(solution.outcome.word(), "done");
    let (tolerance, error) = solution.summary.exceeded().unwrap();
    assert!(tolerance == 2.3e-16 && error > tolerance && error < 1e-13, "{error:e}");
    // rounding alone is more than that, also beside a step, unless there are more digits
    let tiny = Run { step: Some("0.1".into()), ..run("double-pendulum", "10", 1e-19) };
    let alone = Run { step: None, ..tiny.clone() };
    for message in [tiny.plan().unwrap_err().to_string(), picked(&alone).unwrap_err().to_string()] {
        for part in ["1e-19 is below the rounding", "2.2e-16", "try 1e-15", "--precision 40"] {
            assert!(message.contains(part), "{message}");
        }
    }
    assert!(Run { precision: Some(40), ..tiny }.plan().is_ok());
    let run = Run { precision: Some(40), ..run("double-pendulum", "10", 1e-8) };
    let message = picked(&run).unwrap_err().to_string();
    assert!(message.contains("precision = 40"), "{message}");
}

fn within(run: &Run) -> Solution {
    simulate_within(run, &|_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn a_run_that_misses_its_tolerance_begins_again() {
    let run = Run {
        parameters: [("e".to_owned(), Quantity::Number(0.95))].into(),
        ..run("kepler", "20*period", 1e-7)
    };
    let mut attempts = Attempts::new(Some(picked(&run).unwrap()));
    // a step that is far too large to begin with
    let first = attempts.picked().unwrap().clone();
    let coarse = Quantity::Number(first.step * 2.0);
    let mut coarse = Run { step: Some(coarse), ..first.run.clone() }.plan().unwrap();
    attempts.prepare(&mut coarse);
    let missed = coarse.simulate().unwrap();
    assert_eq!(missed.outcome.word(), "exceeded");
    assert!(missed.summary.t_end < coarse.steps as f64 * coarse.step);
    assert!(attempts.again(&missed));
    let next = attempts.picked().unwrap();
    assert!(next.step < 0.81 * first.step && next.steps > first.steps);
    let length = first.step * first.steps as f64;
    assert!((next.step * next.steps as f64 / length - 1.0).abs() < 1e-12, "the steps fill the time");
    // the whole of it
    let kept = within(&run).summary;
    assert!(kept.exceeded().is_none() && kept.energy.max_error <= 1e-7, "{:?}", kept.energy);
}

#[test]
fn attempts_end() {
    let mut attempts = Attempts::new(Some(picked(&run("double-pendulum", "10", 2.3e-16)).unwrap()));
    let mut count = 1;
    loop {
        let mut plan = attempts.picked().unwrap().run.plan().unwrap();
        attempts.prepare(&mut plan);
        if !attempts.again(&plan.simulate().unwrap()) {
            // the last attempt has no limit and so all of the run
            assert_eq!(plan.limit, None);
            break;
        }
        count += 1;
    }
    assert!((2..=11).contains(&count), "{count}");
    // what was not picked is tried once
    let given = Run { step: Some("0.1".into()), ..run("double-pendulum", "10", 1e-12) };
    let missed = given.simulate().unwrap();
    assert!(missed.summary.exceeded().is_some() && !Attempts::new(None).again(&missed));
}

#[test]
fn bad_tolerances_are_refused() {
    for tolerance in [0.0, -1e-8, 1.0, f64::NAN, f64::INFINITY] {
        let message = picked(&run("pendulum", "10", tolerance)).unwrap_err().to_string();
        assert!(message.contains("tolerance"), "{message}");
        // also beside a step
        let both = Run { step: Some("0.1".into()), ..run("pendulum", "10", tolerance) };
        assert!(both.plan().is_err(), "{tolerance}");
    }
    let message = picked(&run("pendulum", "-1", 1e-8)).unwrap_err().to_string();
    assert!(message.contains("until"), "{message}");
    // a plan alone has no step to go with
    let message = run("pendulum", "10", 1e-8).plan().unwrap_err().to_string();
    assert!(message.contains("pick") && message.contains("1e-8"), "{message}");
}

#[test]
fn a_step_or_no_tolerance_leaves_nothing_to_pick() {
    let watch = |_| ControlFlow::Continue(());
    let both = Run { step: Some("0.1".into()), ..run("pendulum", "10", 1e-8) };
    assert!(pick(&both, &watch).unwrap().is_none());
    assert!(pick(&Run::of("pendulum"), &watch).unwrap().is_none());
    // an interruption ends the search
    assert!(pick(&run("double-pendulum", "1000", 1e-8), &|_| ControlFlow::Break(())).is_err());
}

#[test]
fn files_have_tolerances() {
    let text = "system = \"pendulum\"\n[run]\ntolerance = 1e-9\nuntil = \"2*period\"\n";
    let run = Run::from_toml(text).unwrap();
    assert_eq!(run.tolerance, Some(Quantity::Number(1e-9)));
    let found = picked(&run).unwrap();
    let stored = found.run.plan().unwrap().run;
    assert_eq!(stored.tolerance, Some(Quantity::Number(1e-9)));
    // the stored run has all that is needed, and gives the same bits
    let again = Run::from_toml(&stored.to_toml().unwrap()).unwrap();
    let [a, b] = [&found.run, &again].map(|run| run.simulate().unwrap().summary);
    assert_eq!((a.q, a.p, a.steps), (b.q, b.p, b.steps));
    // a formula that is none is shown
    let wrong = Run::from_toml("system = \"pendulum\"\n[run]\ntolerance = \"tight\"\n").unwrap();
    assert!(picked(&wrong).unwrap_err().to_string().contains("tight"));
}

#[test]
fn a_system_file_with_a_tolerance_keeps_its_method() {
    let system = "coordinates = [\"x\"]\n[lagrangian]\nkinetic = \"v_x^2/2\"\npotential = \"x^4/4\"\n[initial]\nq = [1]\nv = [0]\n";
    let read = |table: &str| Run::from_toml(&format!("{system}[run]\nuntil = 20\n{table}")).unwrap();
    let found = picked(&read("tolerance = 1e-7\nmethod = \"lobatto\"\n")).unwrap();
    assert_eq!(found.method, "lobatto");
    assert_ne!(picked(&read("tolerance = 1e-7\n")).unwrap().method, "simpson");
    let both = read("tolerance = 1e-7\nstep = 0.1\n");
    assert_eq!(both.step.as_ref().map(ToString::to_string), Some("0.1".to_owned()));
    // a run of that file with a tolerance of its own takes neither method nor step from it
    let own = Run { tolerance: Some(Quantity::Number(1e-5)), ..Run::default() }.over(both);
    assert_eq!((own.step, own.tolerance), (None, Some(Quantity::Number(1e-5))));
}
