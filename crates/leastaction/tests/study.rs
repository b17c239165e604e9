//! Studies: what is measured, against what, and what happens when a run fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::analysis::{Computed, Finding, Findings, Measure, Over, Reference, Studies, Study, Vector};
use leastaction::prelude::Run;
use leastaction::system::Quantity;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

fn study(system: &str, methods: &[&str], steps: &[&str], until: &str, of: &[&str]) -> Study {
    Study {
        run: Run::of(system),
        methods: methods.iter().map(|name| (*name).to_owned()).collect(),
        steps: steps.iter().map(|step| Quantity::from(*step)).collect(),
        until: vec![Quantity::from(until)],
        measures: of.iter().map(|name| Measure::of(name)).collect(),
        reference: Reference::Auto,
    }
}

fn findings(study: Study) -> Findings {
    let studies = Studies::new(&[study]).unwrap();
    studies.run(&|_| ControlFlow::Continue(())).remove(0)
}

fn message(study: Study) -> String {
    Studies::new(&[study]).err().unwrap().to_string()
}

#[test]
fn a_computed_reference_is_as_good_as_the_exact_solution() {
    let of = ["q", "p"];
    let exact = study("pendulum", &["simpson", "gauss8"], &["period/40", "period/80"], "period", &of);
    let computed = Study { reference: Reference::Computed(Computed::default()), ..exact.clone() };
    let (exact, computed) = (findings(exact), findings(computed));
    assert_eq!(exact.reference, "the exact solution");
    assert_eq!(computed.reference, "a run of pendulum with gauss12 and half the smallest step, 32 digits");
    for method in 0..2 {
        for measure in 0..2 {
            for (a, b) in exact.row(method, measure, 0).iter().zip(computed.row(method, measure, 0)) {
                let tolerance = 1e-6 * a.value() + 2e-14;
                assert!((a.value() - b.value()).abs() < tolerance, "{a:?} {b:?}");
            }
        }
    }
}

#[test]
fn one_reference_serves_all_steps_that_divide_each_other() {
    let nested = study("double-pendulum", &["simpson"], &["0.04", "0.02", "0.01"], "1.2", &["q"]);
    let apart = Study { steps: ["0.04", "0.03", "0.02"].map(Quantity::from).into(), ..nested.clone() };
    // 2 steps of the reference for each of the 120, against 3, 3 and 2 for each of the 30, 40 and 60
    assert_eq!(Studies::new(std::slice::from_ref(&nested)).unwrap().steps(), 30 + 60 + 120 + 2 * 120);
    assert_eq!(
        Studies::new(std::slice::from_ref(&apart)).unwrap().steps(),
        30 + 40 + 60 + 4 * 30 + 3 * 40 + 2 * 60
    );
    let (nested, apart) = (findings(nested), findings(apart));
    for (a, b) in [(0, 0), (1, 2)] {
        let (a, b) = (nested.cell(0, 0, 0, a).value(), apart.cell(0, 0, 0, b).value());
        assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn a_relative_error_of_zero_over_zero_is_no_error_of_zero() {
    let mut study = study("lagrange-top", &["simpson"], &["0.01"], "0.1", &["p_phi"]);
    study.run.initial.v = Some(vec![0.0.into(), 0.0.into(), 0.0.into()]);
    study.measures[0].relative = Some(true);
    for over in [Over::Sup, Over::End, Over::Rms] {
        study.measures[0].over = over;
        let found = findings(study.clone());
        let cell = found.cell(0, 0, 0, 0);
        assert!(matches!(cell, Finding::Failed(why) if why.contains("the right value is zero")), "{cell:?}");
    }
}

#[test]
fn one_run_serves_all_end_times() {
    let mut both = study("pendulum", &["simpson"], &["0.05", "0.025"], "1", &["energy"]);
    let short = findings(both.clone());
    both.until = ["1", "5", "2"].map(Quantity::from).into();
    let all = findings(both);
    assert_eq!(all.until, [1.0, 5.0, 2.0]);
    for step in 0..2 {
        assert_eq!(all.cell(0, 0, 0, step).value(), short.cell(0, 0, 0, step).value());
        let (one, five, two) = (
            all.cell(0, 0, 0, step).value(),
            all.cell(0, 0, 1, step).value(),
            all.cell(0, 0, 2, step).value(),
        );
        assert!(one <= two && two <= five, "a supremum cannot shrink: {one} {two} {five}");
    }
}

#[test]
fn norms_order_as_they_must() {
    let mut measures = Vec::new();
    for over in [Over::Sup, Over::End, Over::Rms] {
        for vector in [Vector::Euclid, Vector::Max] {
            measures.push(Measure { over, vector, ..Measure::of("q") });
        }
    }
    let plain = study("linear-double-pendulum", &["midpoint"], &["0.1"], "1", &[]);
    let found = findings(Study { measures, ..plain });
    let [sup, sup_max, end, end_max, rms, rms_max] = std::array::from_fn(|k| found.cell(0, k, 0, 0).value());
    assert!(end <= sup && rms <= sup && sup_max <= sup && end_max <= end && rms_max <= rms);
    // of two components the larger one is at least 1/√2 of the length
    assert!(sup_max >= sup / 2f64.sqrt() && end_max >= end / 2f64.sqrt() && rms_max >= rms / 2f64.sqrt());
    // printed in paper 001
    assert!((sup - 3.425_066_36e-1).abs() < 1e-9, "{sup}");
    assert!(rms > 0.0 && end > 0.0);
}

#[test]
fn relative_errors_are_divided_by_what_they_should_be() {
    let mut energy = study("harmonic-oscillator", &["simpson"], &["period/10"], "period", &["energy"]);
    let relative = findings(energy.clone()).cell(0, 0, 0, 0).value();
    energy.measures[0].relative = Some(false);
    let absolute = findings(energy).cell(0, 0, 0, 0).value();
    // E0 = ½ ω² (π/2)²
    let initial = 0.5 * (2.0 * std::f64::consts::PI).powi(2) * (std::f64::consts::PI / 2.0).powi(2);
    assert!((absolute / relative / initial - 1.0).abs() < 1e-14, "{absolute} {relative}");
}

#[test]
fn what_a_method_conserves_is_measured_as_conserved() {
    let of = ["energy of simpson", "form of simpson", "energy of lobatto", "energy"];
    let found = findings(study("linear-double-pendulum", &["simpson"], &["0.1"], "10", &of));
    let value = |k: usize| found.cell(0, k, 0, 0).value();
    assert!(value(0) < 1e-13 && value(1) < 1e-13, "{} {}", value(0), value(1));
    assert!(value(2) > 1e-4 && value(3) > 1e-4, "{} {}", value(2), value(3));
    // a cyclic momentum needs no reference
    let of = ["p_phi", "p_psi"];
    let found = findings(study("lagrange-top", &["simpson", "rk4-velocity"], &["period/50"], "period", &of));
    assert_eq!(found.reference, "the initial values");
    assert_eq!([found.cell(0, 0, 0, 0).value(), found.cell(0, 1, 0, 0).value()], [0.0, 0.0]);
    assert!(found.cell(1, 0, 0, 0).value() > 1e-9);
}

#[test]
fn the_reference_may_be_another_system() {
    let plain = study("lagrange-top-cusps", &["simpson"], &["1/10", "1/20", "1/40"], "1", &["theta"]);
    let how = Computed {
        system: Some("lagrange-top-reduced".to_owned()),
        method: Some("rk4-velocity".to_owned()),
        refine: Some(1),
        precision: None,
    };
    let found = findings(Study { reference: Reference::Computed(how.clone()), ..plain.clone() });
    // an independent computation, in quad precision
    for (cell, expected) in found.row(0, 0, 0).iter().zip([5.029398e-3, 3.608624e-4, 2.097007e-5]) {
        assert!((cell.value() / expected - 1.0).abs() < 1e-6, "{cell:?} {expected}");
    }
    let measures = vec![Measure::of("phi")];
    let missing = message(Study { reference: Reference::Computed(how), measures, ..plain });
    assert!(missing.contains("the reference `lagrange-top-reduced` has no coordinate `phi`"), "{missing}");
}

#[test]
fn many_digits_show_orders_that_f64_cannot() {
    let mut study = study("pendulum", &["lobatto20"], &["period/40", "period/80"], "period", &["q"]);
    study.run.precision = Some(60);
    let found = findings(study);
    let order = found.order(0, 0, 0).unwrap();
    assert!((order - 20.0).abs() < 0.5, "{order}");
    let Finding::Value { digits, value, .. } = found.cell(0, 0, 0, 1) else { panic!() };
    assert_eq!(digits.as_ref().unwrap().len(), 65, "{digits:?}");
    assert!(*value < 1e-25, "{value:e}");
}

#[test]
fn orders_leave_out_rounding() {
    let steps = ["period/10", "period/20", "period/40", "period/80", "period/160", "period/320"];
    let found = findings(study("pendulum", &["gauss8"], &steps, "period", &["q"]));
    let order = found.order(0, 0, 0).unwrap();
    assert!((order - 8.0).abs() < 0.5, "{order}");
    // fitted to all of them the slope would be far off
    let all = leastaction::analysis::order::fitted_order(&found.points(0, 0, 0), 0.0).unwrap();
    assert!(all < 7.0, "{all}");
}

#[test]
fn a_failed_run_is_a_finding_and_leaves_the_others() {
    // h = 3 is far too large for the step equations
    let found = findings(study("double-pendulum", &["lobatto20", "rk4"], &["3", "0.01"], "3", &["energy"]));
    let cells: Vec<&Finding> = found.row(0, 0, 0).iter().collect();
    assert!(matches!(cells[0], Finding::Failed(why) if why.contains("step 1")), "{:?}", cells[0]);
    assert!(cells[0].value().is_nan());
    assert!(cells[1].value() < 1e-13, "{:?}", cells[1]);
    assert!(found.order(0, 0, 0).is_none());
}

#[test]
fn steps_are_counted_and_can_be_interrupted() {
    let study = study("pendulum", &["midpoint", "simpson"], &["0.01", "0.005"], "10", &["energy"]);
    let studies = Studies::new(std::slice::from_ref(&study)).unwrap();
    assert_eq!(studies.steps(), 2 * (1000 + 2000));
    let taken = AtomicU64::new(0);
    studies.run(&|steps| {
        taken.fetch_add(steps, Ordering::Relaxed);
        ControlFlow::Continue(())
    });
    let taken = taken.into_inner();
    assert!(taken <= studies.steps() && taken + 4 * 64 >= studies.steps(), "{taken}");
    let found =
        studies.run(&|steps| if steps > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
    let all = (0..2).flat_map(|method| found[0].row(method, 0, 0));
    assert!(all.into_iter().all(|cell| matches!(cell, Finding::Missing)));
}

#[test]
fn unstable_steps_and_weak_references_are_warned_of() {
    let warnings = |study: Study| Studies::new(&[study]).unwrap().warnings();
    let oscillator =
        study("harmonic-oscillator", &["simpson", "midpoint"], &["0.5", "0.25"], "5", &["energy"]);
    let found = warnings(oscillator.clone());
    assert!(found.len() == 1 && found[0].contains("with a step of 0.5"), "{found:?}");
    let small = Study { steps: vec!["0.25".into()], ..oscillator };
    assert!(warnings(small).is_empty());
    let how = Computed { method: Some("verlet".to_owned()), ..Computed::default() };
    let weak = study("pendulum", &["simpson"], &["0.1"], "1", &["q"]);
    let found = warnings(Study { reference: Reference::Computed(how), ..weak });
    assert!(found.len() == 1 && found[0].contains("`verlet` has order 2"), "{found:?}");
}

#[test]
fn bad_studies_are_refused_with_what_to_try() {
    let good = || study("pendulum", &["simpson"], &["0.1"], "1", &["q"]);
    let refused = message(Study { steps: vec![Quantity::from("0.3")], ..good() });
    assert!(refused.contains("until = 1 is not a whole number of steps of 0.3") && refused.contains("0.25"));
    let refused = message(Study { measures: vec![Measure::of("theta")], ..good() });
    assert!(refused.contains("`theta` of `pendulum` cannot be measured; try energy, q, p"), "{refused}");
    let refused = message(Study { methods: vec!["simson".to_owned()], ..good() });
    assert!(refused.contains("unknown method `simson`"), "{refused}");
    let refused = message(Study { methods: Vec::new(), ..good() });
    assert!(refused.contains("there is no method"), "{refused}");
    let refused = message(Study { run: Run::of("double-pendulum"), reference: Reference::Exact, ..good() });
    assert!(refused.contains("no closed-form solution of `double-pendulum`"), "{refused}");
    let refused = message(Study { measures: vec![Measure::of("energy of simpson")], ..good() });
    assert!(refused.contains("pendulum"), "{refused}");
    let how = Computed { precision: Some(1000), ..Computed::default() };
    let refused = message(Study { reference: Reference::Computed(how), ..good() });
    assert!(refused.contains("1 to 200 digits"), "{refused}");
    let how = Computed { refine: Some(u64::MAX), ..Computed::default() };
    let refused = message(Study { reference: Reference::Computed(how), ..good() });
    assert!(refused.contains("more than can be counted"), "{refused}");
    let how = Computed { refine: Some(0), ..Computed::default() };
    let refused = message(Study { reference: Reference::Computed(how), ..good() });
    assert!(refused.contains("refine"), "{refused}");
    let refused = message(Study { until: vec![Quantity::from("1e9")], steps: vec!["1e-9".into()], ..good() });
    assert!(refused.contains("more than can be counted"), "{refused}");
}
