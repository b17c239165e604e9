//! States between those that were recorded, and what is conserved at any of them.

#![allow(clippy::unwrap_used, missing_docs)]

use leastaction::prelude::*;
use leastaction::simulate::{Conserved, Dense, Plan, Recording};

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

#[test]
fn states_are_found_where_not_every_step_was_recorded() {
    let (all, some) = (plan("gauss6", 0.1, 1), plan("gauss6", 0.1, 7));
    let (all, few) = (all.simulate().unwrap().recording, some.simulate().unwrap().recording);
    let mut dense = Dense::new(&some);
    let last = few.t[few.len() - 1];
    for row in (0..all.len()).filter(|row| all.t[*row] <= last) {
        let energy = dense.find((&few).into(), all.t[row]).unwrap();
        assert!((dense.q[0] - all.q[2 * row]).abs() < 1e-13, "t = {}", all.t[row]);
        assert!((dense.v[1] - all.v[2 * row + 1]).abs() < 1e-13);
        assert!((energy - all.energy[row]).abs() < 1e-14);
    }
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
