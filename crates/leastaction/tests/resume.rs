//! A run that is saved, dropped and continued gives the same bits, rows and summary as one without a pause.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::small_catalogue;
use leastaction::prelude::*;
use leastaction::simulate::{Checkpoint, Event, Interval, Keeper, Plan};
use leastaction::system::Quantity;
use std::ops::ControlFlow;

/// What a solution says, but for the time it took.
fn told(solution: &Solution) -> String {
    let mut solution = solution.clone();
    solution.summary.wall_seconds = 0.0;
    // decimals that read back to the same bits
    format!("{:?}", (&solution.summary, &solution.recording, &solution.events, &solution.outcome))
}

fn without_pause(plan: &Plan) -> String {
    told(&plan.simulate().unwrap())
}

/// Saves after so many steps, again and again, and goes on with a plan that is read from what was saved.
fn with_pauses(plan: &Plan, pauses: &[u64]) -> String {
    let mut kept: Option<Vec<u8>> = None;
    let mut pauses = pauses.iter().cycle();
    loop {
        let found = kept.as_ref().map(|bytes| Checkpoint::read(bytes).unwrap());
        let plan = found.as_ref().map_or(plan.clone(), |found| found.run.plan().unwrap());
        let mut journey = plan.begin().unwrap();
        if let Some(found) = &found {
            found.restore(&mut journey).unwrap();
            assert_eq!(journey.steps(), found.steps);
        }
        let stop = journey.steps() + pauses.next().unwrap();
        journey.go(&mut |step| if step >= stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
        if journey.is_over() {
            return told(&journey.into_solution());
        }
        kept = Some(Checkpoint::new(&plan, &mut journey).to_bytes().unwrap());
    }
}

fn compare(run: &Run, pauses: &[u64]) {
    let plan = run.plan().unwrap();
    let name = format!("{} {:?}", run.system, run.method);
    assert!(without_pause(&plan) == with_pauses(&plan, pauses), "{name}: a pause has changed something");
}

fn short(run: &Run, steps: u32) -> Run {
    let plan = run.plan().unwrap();
    let end = plan.problem.t0 + f64::from(steps) * plan.step;
    Run { step: Some(Quantity::Number(plan.step)), until: Some(Quantity::Number(end)), ..run.clone() }
}

#[test]
fn every_system_goes_on_to_the_same_bits() {
    let mut compared = 0;
    for plan in small_catalogue() {
        for method in ["verlet", "midpoint", "simpson", "gauss8", "lobatto8", "split6", "rk4", "rk4-velocity"]
        {
            let run = Run { method: Some(method.to_owned()), every: Some(3), ..plan.run.clone() };
            // splitting methods do not fit all systems
            if run.plan().is_err() {
                assert_eq!(method, "split6");
                continue;
            }
            compare(&short(&run, 60), &[7, 1, 12]);
            compared += 1;
        }
    }
    assert!(compared > 80, "{compared}");
}

#[test]
fn large_steps_and_tolerances_go_on_to_the_same_bits() {
    // Newton's method, memories of hard steps, and equations that are solved loosely
    for (method, step, tolerance) in [
        ("gauss16", 0.4, None),
        ("lobatto6", 0.25, None),
        ("simpson", 0.12, None),
        ("gauss12", 0.1, Some(1e-6)),
    ] {
        let run = Run {
            method: Some(method.to_owned()),
            step: Some(Quantity::Number(step)),
            tolerance: tolerance.map(Quantity::Number),
            until: Some(Quantity::Number(200.0 * step)),
            ..Run::of("double-pendulum")
        };
        compare(&run, &[13, 29]);
    }
}

#[test]
fn events_outputs_and_dense_points_go_on_as_well() {
    let mut run = Run {
        method: Some("gauss8".to_owned()),
        step: Some(Quantity::Number(0.05)),
        until: Some(Quantity::Number(20.0)),
        dense: Some(3),
        ..Run::of("double-pendulum")
    };
    run.outputs.insert("height".to_owned(), "-cos(q1) - cos(q2)".into());
    run.outputs.insert("pole".to_owned(), "1/sin(q2)".into());
    run.events.insert("down".to_owned(), Event::of("q1"));
    run.events.insert("turn".to_owned(), Event { stop: Some(20), ..Event::of("dot(q2)") });
    compare(&run, &[7]);
    compare(&run, &[1]);
    assert!(without_pause(&run.plan().unwrap()).contains("Stopped"), "the event ends the run");
}

#[test]
fn a_lagrangian_that_is_not_quadratic_goes_on_as_well() {
    // velocities are solved for from those before
    let text = "coordinates = [\"x\", \"y\"]\n[lagrangian]\nexpression = \"-sqrt(1 - dot(x)^2 - dot(y)^2) - x^2/2 - y^4/4\"\n\
                [initial]\nq = [0.3, 0.2]\nv = [0.5, -0.6]\n[run]\nmethod = \"gauss6\"\nstep = 0.02\nuntil = 4\n";
    for method in ["gauss6", "lobatto4", "rk4", "rk4-velocity"] {
        let mut run = Run::from_toml(text).unwrap();
        run.method = Some(method.to_owned());
        run.outputs.insert("speed".to_owned(), "dot(x)".into());
        run.events.insert("over".to_owned(), Event::of("x"));
        compare(&run, &[11, 2]);
    }
}

#[test]
fn many_digits_go_on_as_well() {
    for digits in [64, 150] {
        let mut run = Run { precision: Some(digits), ..short(&Run::of("double-pendulum"), 12) };
        run.step = Some("1/50".into());
        run.until = Some("12/50".into());
        run.events.insert("down".to_owned(), Event::of("q1"));
        compare(&run, &[5]);
    }
}

#[test]
fn a_run_that_is_over_stays_over() {
    for end in ["done", "stopped"] {
        let mut run = short(&Run::of("pendulum"), 300);
        if end == "stopped" {
            run.events.insert("down".to_owned(), Event { stop: Some(1), ..Event::of("q") });
        }
        let plan = run.plan().unwrap();
        let mut journey = plan.begin().unwrap();
        journey.go(&mut |_| ControlFlow::Continue(()));
        assert!(journey.is_over());
        let told_before = journey.show(told);
        let bytes = Checkpoint::new(&plan, &mut journey).to_bytes().unwrap();
        let found = Checkpoint::read(&bytes).unwrap();
        let plan = found.run.plan().unwrap();
        let mut again = plan.begin().unwrap();
        found.restore(&mut again).unwrap();
        again.go(&mut |_| ControlFlow::Continue(()));
        let solution = again.into_solution();
        assert_eq!(solution.summary.outcome, end);
        assert!(told(&solution) == told_before, "{end}");
    }
}

/// A run that is kept in a file and fails does not go on when it is resumed, however often.
#[test]
fn a_run_that_has_failed_fails_again() {
    let folder = std::env::temp_dir().join(format!("leastaction-failed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut refused = short(&Run::of("pendulum"), 2000);
    refused.events.insert("bad".to_owned(), Event::of("log(q)"));
    let wild = |system: &str, method: &str, step: f64| Run {
        method: Some(method.to_owned()),
        step: Some(Quantity::Number(step)),
        until: Some(Quantity::Number(300.0 * step)),
        ..Run::of(system)
    };
    let runs = [refused, wild("cart-pole", "gauss16", 1.0), wild("double-pendulum", "simpson", 0.5)];
    for (k, run) in runs.into_iter().enumerate() {
        let path = folder.join(format!("{k}.check"));
        let plan = run.plan().unwrap();
        let mut journey = plan.begin().unwrap();
        let mut keeper = Keeper::create(&path, Interval::Steps(7)).unwrap();
        keeper.go(&plan, &mut journey, &mut |_| ControlFlow::Continue(()), &mut |_| Ok(())).unwrap();
        assert!(journey.has_failed(), "{k}");
        let first = told(&journey.into_solution());
        drop(keeper);
        for _ in 0..3 {
            let (mut keeper, found) = Keeper::open(&path).unwrap();
            assert!(found.over && found.steps.is_multiple_of(7), "{k}: {}", found.steps);
            let plan = found.run.plan().unwrap();
            let mut journey = plan.begin().unwrap();
            found.restore(&mut journey).unwrap();
            keeper.go(&plan, &mut journey, &mut |_| ControlFlow::Continue(()), &mut |_| Ok(())).unwrap();
            assert!(told(&journey.into_solution()) == first, "{k}");
        }
        // and its file may be used for another run
        drop(Keeper::create(&path, Interval::Steps(7)).unwrap());
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_run_that_cannot_be_saved_leaves_the_checkpoint_of_another_one() {
    let folder = std::env::temp_dir().join(format!("leastaction-left-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("run.check");
    let plan = short(&Run::of("pendulum"), 30).plan().unwrap();
    let go = |keeper: &mut Keeper| {
        let mut journey = plan.begin().unwrap();
        keeper.go(&plan, &mut journey, &mut |_| ControlFlow::Continue(()), &mut |_| Ok(()))
    };
    go(&mut Keeper::create(&path, Interval::default()).unwrap()).unwrap();
    let before = std::fs::read(&path).unwrap();
    // a folder stands where it would be written
    std::fs::create_dir(folder.join("run.check.leastaction-new")).unwrap();
    assert!(go(&mut Keeper::create(&path, Interval::default()).unwrap()).is_err());
    assert!(std::fs::read(&path).unwrap() == before);
    let new = folder.join("new.check");
    std::fs::create_dir(folder.join("new.check.leastaction-new")).unwrap();
    assert!(go(&mut Keeper::create(&new, Interval::default()).unwrap()).is_err());
    assert!(!new.exists(), "an empty file is left");
    std::fs::remove_dir_all(&folder).unwrap();
}
