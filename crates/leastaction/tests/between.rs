//! States between those that were recorded, and what is conserved at any of them.

#![allow(clippy::unwrap_used, missing_docs)]

use leastaction::prelude::*;
use leastaction::simulate::{Checkpoint, Conserved, Dense, Event, Plan, Recording};
use std::ops::ControlFlow;

fn plan(method: &str, step: f64, every: u64) -> Plan {
    let run = Run {
        method: Some(method.into()),
        step: Some(step.into()),
        until: Some(8.0.into()),
        every: Some(every),
        ..Run::of("henon-heiles")
    };
    run.plan().unwrap()
}

/// The largest error of the coordinates between steps, against a run of high order.
fn error(method: &str, step: f64) -> f64 {
    let (sharp_plan, own_plan) = (plan("gauss16", 0.01, 1), plan(method, step, 1));
    let (sharp, own) = (sharp_plan.simulate().unwrap().recording, own_plan.simulate().unwrap().recording);
    let (mut right, mut found) = (Dense::new(&sharp_plan), Dense::new(&own_plan));
    let mut largest = 0.0f64;
    for k in 0..40 {
        let t = 0.05 + 0.197 * f64::from(k);
        right.find((&sharp).into(), t).unwrap();
        found.find((&own).into(), t).unwrap();
        let errors = right.q.iter().chain(&right.p).zip(found.q.iter().chain(&found.p));
        largest = errors.fold(largest, |most, (a, b)| most.max((a - b).abs()));
    }
    largest
}

#[test]
fn states_between_steps_have_the_order_of_the_method() {
    for (method, step, order) in [
        ("gauss8", 0.8, 8.0),
        ("simpson", 0.2, 4.0),
        ("rk4", 0.1, 4.0),
        ("verlet", 0.2, 2.0),
        ("split6", 0.4, 6.0),
    ] {
        let slope = (error(method, step) / error(method, step / 2.0)).log2();
        assert!((slope - order).abs() < 0.2, "{method}: {slope}");
    }
}

/// A run that records every seventh step, and the rows of the same one that records all.
fn some_and_all(run: &Run) -> (Solution, Recording) {
    let some = Run { every: Some(7), ..run.clone() }.plan().unwrap();
    let all = Run { every: Some(1), ..run.clone() }.plan().unwrap();
    (some.simulate().unwrap(), all.simulate().unwrap().recording)
}

fn assert_ends_alike(some: &Recording, all: &Recording) {
    let (a, b) = (some.len() - 1, all.len() - 1);
    assert_ne!(b % 7, 0, "seven does not divide the steps");
    assert_eq!(some.len(), 2 + b / 7);
    assert_eq!((some.t[a], some.energy[a]), (all.t[b], all.energy[b]));
    let ends = |r: &Recording, row: usize| [&r.q, &r.p].map(|list| list[row * r.n..(row + 1) * r.n].to_vec());
    assert_eq!(ends(some, a), ends(all, b));
}

#[test]
fn the_end_is_recorded_however_a_run_ends() {
    let to_the_end = plan("gauss6", 0.1, 7);
    assert_eq!((to_the_end.steps, to_the_end.rows()), (80, 13));
    let (done, all) = some_and_all(&to_the_end.run);
    assert_ends_alike(&done.recording, &all);

    let mut run = to_the_end.run.clone();
    run.events.insert("turn".to_owned(), Event { stop: Some(1), ..Event::of("dot(x)") });
    let (stopped, all) = some_and_all(&run);
    assert_eq!(stopped.summary.outcome, "stopped");
    assert_ends_alike(&stopped.recording, &all);

    let large = Run { step: Some(0.5.into()), until: Some(500.0.into()), ..Run::of("double-pendulum") };
    let (failed, all) = some_and_all(&large);
    assert_eq!(failed.summary.outcome, "failed");
    assert_ends_alike(&failed.recording, &all);
}

#[test]
fn a_pause_is_no_end() {
    let plan = plan("gauss6", 0.1, 7);
    let mut journey = plan.begin().unwrap();
    journey.go(&mut |step| if step == 24 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
    assert_eq!(journey.show(|seen| seen.recording.len()), 4);
    let kept = Checkpoint::new(&plan, &mut journey);
    assert_eq!(
        journey.into_solution().recording.len(),
        5,
        "given up after 24 steps, the last of them is there"
    );
    let mut again = plan.begin().unwrap();
    kept.restore(&mut again).unwrap();
    again.go(&mut |_| ControlFlow::Continue(()));
    let (gone_on, whole) = (again.into_solution().recording, plan.simulate().unwrap().recording);
    assert_eq!((gone_on.t, gone_on.v), (whole.t, whole.v));
}

#[test]
fn states_are_found_where_not_every_step_was_recorded() {
    let (all, some) = (plan("gauss6", 0.1, 1), plan("gauss6", 0.1, 7));
    let (all, few) = (all.simulate().unwrap().recording, some.simulate().unwrap().recording);
    let mut dense = Dense::new(&some);
    let last = few.t[few.len() - 1];
    for row in 0..all.len() {
        let energy = dense.find((&few).into(), all.t[row]).unwrap();
        assert!((dense.q[0] - all.q[2 * row]).abs() < 1e-13, "t = {}", all.t[row]);
        assert!((dense.v[1] - all.v[2 * row + 1]).abs() < 1e-13);
        assert!((energy - all.energy[row]).abs() < 1e-14);
    }
    // the time at the end of a run may be rounded down
    let energy = dense.find((&few).into(), last.next_up()).unwrap();
    assert!((energy - all.energy[all.len() - 1]).abs() < 1e-14);
    for t in [-0.1, last + 0.01, f64::NAN] {
        let message = dense.find((&few).into(), t).unwrap_err().to_string();
        assert!(message.contains("outside of what was computed"), "{message}");
    }
    let nothing = Recording::default();
    let message = dense.find((&nothing).into(), 1.0).unwrap_err().to_string();
    assert!(message.contains("nothing was recorded"), "{message}");
}

#[test]
fn conserved_momenta_have_the_names_and_values_of_the_summary() {
    for system in ["lagrange-top", "kepler", "outer-solar-system"] {
        let plan = Run { every: Some(1), ..Run::of(system) }.plan().unwrap();
        let solution = plan.simulate().unwrap();
        let conserved = Conserved::new(&plan.problem);
        assert_eq!(conserved.names.len(), solution.summary.momenta.len(), "{system}");
        let recording = &solution.recording;
        let at = |row: usize| -> Vec<f64> {
            let range = row * recording.n..(row + 1) * recording.n;
            conserved.at(&recording.q[range.clone()], &recording.p[range]).collect()
        };
        let first = at(0);
        for (name, drift) in &solution.summary.momenta {
            // the summary calls momenta of single coordinates by these
            let place = conserved.names.iter().position(|n| n == name || *n == format!("p_{name}")).unwrap();
            let rows = (0..recording.len()).map(|row| (at(row)[place] - first[place]).abs());
            let largest = rows.fold(0.0, f64::max);
            assert!(
                largest <= drift + 1e-15 * (1.0 + first[place].abs()),
                "{system} {name}: {largest}, {drift}"
            );
        }
    }
}
