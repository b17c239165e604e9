//! Certificates: what they say of runs that are right, and that they fail where something is wrong.
//!
//! Every system of the catalogue passes with its default run; `rk4`, a kink, a step beyond stability and a motion that is lost each
//! fail the line they should; a singular point of the coordinates, a close approach and a resonance are warned of; and what is
//! recommended is run and does what was said.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{invariants, method};
use leastaction::analysis::certify::{Certificate, Options, Verdict, certify};
use leastaction::analysis::structure::{symplecticity_defect, symplecticity_defect_of_pairs, tangent_map};
use leastaction::prelude::*;
use leastaction::simulate::Plan;
use leastaction::system::Quantity;
use std::ops::ControlFlow;

fn measured(plan: &Plan) -> Certificate {
    let certificate = certify(plan, &Options::default(), &|_| ControlFlow::Continue(())).unwrap();
    println!("{certificate}\n");
    certificate
}

/// A certificate of a run described as on the command line.
fn of(system: &str, method: &str, step: &str, until: &str, set: &[(&str, f64)]) -> Certificate {
    let given = |text: &str| (!text.is_empty()).then(|| Quantity::from(text));
    let run = Run {
        method: (!method.is_empty()).then(|| method.to_owned()),
        step: given(step),
        until: given(until),
        parameters: set.iter().map(|(name, x)| ((*name).to_owned(), Quantity::Number(*x))).collect(),
        every: Some(0),
        ..Run::of(system)
    };
    measured(&run.plan().unwrap())
}

#[test]
fn every_system_of_the_catalogue_passes() {
    for entry in catalogue::ENTRIES {
        let c = of(entry.name, "", "", "", &[]);
        assert_eq!((c.verdict, c.failed.as_slice()), (Verdict::Pass, [].as_slice()), "{}", entry.name);
        let order = &c.order.measured;
        assert_eq!(c.order.verdict, Verdict::Pass, "{}", entry.name);
        for found in [order.q.unwrap(), order.p.unwrap()] {
            assert!((found - order.expected as f64).abs() < 0.3, "{}: {found}", entry.name);
        }
        assert!(c.symplecticity.measured.defect.unwrap() < 1e-9, "{}", entry.name);
        assert!(c.reversibility.measured.defect.unwrap() < 1e-14, "{}", entry.name);
        assert_eq!(c.symplecticity.measured.states, 7);
        for momentum in &c.momenta {
            assert_eq!(momentum.verdict, Verdict::Pass, "{}: {}", entry.name, momentum.finding);
        }
        assert!(c.solver.measured.largest_step.unwrap() > 1.5 * c.step, "{}", entry.name);
        assert_eq!(c.mass.verdict, Verdict::Pass, "{}", entry.name);
        assert_eq!(c.frequency.verdict, Verdict::Pass, "{}", entry.name);
        assert!(c.to_string().lines().count() <= 50);
    }
}

#[test]
fn the_numbers_of_the_double_pendulum() {
    let c = of("double-pendulum", "simpson", "0.01", "10", &[]);
    let (q, p) = (c.order.measured.q.unwrap(), c.order.measured.p.unwrap());
    assert!((q - 4.0).abs() < 0.05 && (p - 4.0).abs() < 0.05, "{q} {p}");
    // the same energy error as that of the summary
    let summary = Run::of("double-pendulum").simulate().unwrap().summary;
    assert_eq!(c.energy.measured.largest.unwrap(), summary.energy.max_relative_error);
    assert_eq!(c.solver.measured.iterations_mean.unwrap(), summary.newton.iterations_mean);
    assert_eq!(c.solver.measured.iterations_max.unwrap(), summary.newton.iterations_max);
    assert!((1e-7..1e-2).contains(&c.solver.measured.contraction.unwrap()));
    // the frequencies of the linear double pendulum are the scale of those along the run
    assert!((6.0..40.0).contains(&c.frequency.measured.fastest.unwrap()));
}

#[test]
fn the_largest_solvable_step_is_where_steps_fail() {
    let c = of("double-pendulum", "", "", "", &[]);
    let limit = c.solver.measured.largest_step.unwrap();
    assert!(c.solver.measured.limited);
    let run = |step: f64| Run {
        step: Some(step.into()),
        until: Some((20.0 * step).into()),
        ..Run::of("double-pendulum")
    };
    assert!(run(0.1 * limit).simulate().is_ok());
    assert!(run(4.0 * limit).simulate().is_err(), "{limit}");
}

#[test]
fn rk4_fails() {
    let c = of("double-pendulum", "rk4", "", "", &[]);
    assert_eq!(c.verdict, Verdict::Fail);
    assert_eq!(c.failed, ["symplecticity", "reversibility", "energy"]);
    // its order is what it should be
    assert_eq!(c.order.verdict, Verdict::Pass);
    assert_eq!(c.solver.verdict, Verdict::NotApplicable);
    assert!(c.symplecticity.measured.defect.unwrap() > 1e-9);
    // the drift per unit of time is that of the run itself: 1.1e-6 in 10 s
    let slope = c.energy.measured.slope.unwrap();
    assert!((-1.3e-7..-0.8e-7).contains(&slope), "{slope:e}");
    // in coordinates and velocities the momenta of a top are lost too
    let top = of("lagrange-top", "rk4-velocity", "", "", &[]);
    assert!(top.failed.contains(&"momentum".to_owned()), "{:?}", top.failed);
}

#[test]
fn rk4_fails_also_with_steps_so_small_that_one_does_not_show_it() {
    let c = of("pendulum", "rk4", "1e-5", "0.01", &[]);
    assert_eq!(c.symplecticity.verdict, Verdict::Fail);
    assert!(c.symplecticity.measured.step > 1e-2, "{}", c.symplecticity.measured.step);
    // a variational method passes the same
    assert_eq!(of("pendulum", "verlet", "1e-5", "0.01", &[]).symplecticity.verdict, Verdict::Pass);
}

/// A particle in the potential |x|^power.
fn wedge(power: i32) -> System {
    System::build("wedge", "Particle in a wedge")
        .coordinate("x", "m")
        .start_at_rest(["1"])
        .run("simpson", "0.01", "6")
        .lagrangian(move |q, v, _, _| v[0].squared() * 0.5 - q[0].abs().powi(power))
        .unwrap()
}

#[test]
fn a_kink_fails_the_order() {
    for name in ["simpson", "gauss8", "verlet"] {
        let run = Run { method: Some(name.to_owned()), ..Run::default() };
        let c = measured(&run.plan_for(&wedge(1)).unwrap());
        assert_eq!(c.order.verdict, Verdict::Fail, "{name}");
        assert!(c.failed.contains(&"order".to_owned()));
        let found = &c.order.measured;
        // it is found where the particle passes the kink: √2 after the start, then every 2√2
        let at = (found.from.unwrap() + 0.5 * found.length.unwrap()) / 2f64.sqrt();
        assert!(((at - 1.0) / 2.0 - ((at - 1.0) / 2.0).round()).abs() < 0.03, "{at}");
        assert!(c.order.advice.unwrap().contains("kink"));
    }
    // |x|³ has a jump in its third derivative: enough for order 2, not for 8
    let of = |name: &str| {
        let run = Run { method: Some(name.to_owned()), ..Run::default() };
        measured(&run.plan_for(&wedge(3)).unwrap()).order.verdict
    };
    assert_eq!((of("midpoint"), of("gauss8")), (Verdict::Pass, Verdict::Fail));
    // without a kink nothing fails
    assert_eq!(measured(&Run::default().plan_for(&wedge(2)).unwrap()).verdict, Verdict::Pass);
}

#[test]
fn high_orders_are_measured_with_more_digits() {
    let c = of("pendulum", "gauss16", "", "", &[]);
    assert_eq!(c.order.measured.precision, Some(64));
    assert!((c.order.measured.q.unwrap() - 16.0).abs() < 0.1);
    assert_eq!(c.verdict, Verdict::Pass);
}

#[test]
fn exact_steps_have_no_order_to_fail() {
    let system = System::build("free", "Free particle")
        .coordinate("x", "m")
        .start(["0"], ["1"])
        .run("simpson", "0.1", "10")
        .lagrangian(|_, v, _, _| v[0].squared() * 0.5)
        .unwrap();
    let c = measured(&Run::default().plan_for(&system).unwrap());
    assert_eq!(c.verdict, Verdict::Pass);
    assert_eq!((c.order.measured.q, c.order.measured.p), (None, None));
    assert!(c.order.finding.contains("no error"), "{}", c.order.finding);
    assert_eq!(c.frequency.verdict, Verdict::NotApplicable);
}

#[test]
fn a_step_beyond_stability_fails() {
    // ωh = 3.77 and the limit is 2
    let c = of("harmonic-oscillator", "verlet", "0.6", "60", &[]);
    assert!(c.failed.contains(&"frequency".to_owned()) && c.failed.contains(&"energy".to_owned()));
    assert!((c.frequency.measured.omega_h.unwrap() - 3.770).abs() < 1e-3);
    assert_eq!(c.frequency.measured.stability_limit, Some(2.0));
    // midpoint has no limit, but does not resolve the motion
    let c = of("harmonic-oscillator", "midpoint", "0.6", "60", &[]);
    assert_eq!((c.failed.as_slice(), c.frequency.verdict), (&["run".to_owned()][..], Verdict::Warn));
    assert!(c.frequency.advice.unwrap().contains("under-resolved"));
}

#[test]
fn a_run_that_fails_gets_a_certificate_too() {
    let c = of("double-pendulum", "simpson", "2", "100", &[]);
    assert_eq!(c.run.verdict, Verdict::Fail);
    assert!(c.run.finding.contains("in step"), "{}", c.run.finding);
    assert_eq!(c.solver.verdict, Verdict::Fail);
    // what the recommendation finds does not need the run
    assert!(!c.recommendation.candidates.is_empty());
}

#[test]
fn a_singular_point_of_the_coordinates_is_warned_of() {
    // a spherical pendulum that nearly passes through its lowest point, where phi means nothing
    let run = Run {
        initial: leastaction::simulate::InitialState {
            q: Some(vec![1.0.into(), 0.0.into()]),
            v: Some(vec![0.0.into(), 0.01.into()]),
            ..Default::default()
        },
        step: Some(0.0005.into()),
        until: Some(2.0.into()),
        ..Run::of("spherical-pendulum")
    };
    let c = measured(&run.plan().unwrap());
    assert_eq!(c.mass.verdict, Verdict::Warn);
    assert!(c.mass.measured.smallest.unwrap() < 1e-4);
    assert_eq!(c.mass.measured.direction.as_deref(), Some("v_phi"));
    assert_eq!(c.frequency.verdict, Verdict::Warn);
}

#[test]
fn a_nearly_upright_top_names_the_combination_that_carries_no_energy() {
    let run = Run {
        initial: leastaction::simulate::InitialState {
            q: Some(vec![0.0.into(), 0.002.into(), 0.0.into()]),
            v: Some(vec![0.0.into(), 0.0.into(), 300.0.into()]),
            ..Default::default()
        },
        step: Some(0.0005.into()),
        until: Some(0.2.into()),
        ..Run::of("lagrange-top")
    };
    let c = measured(&run.plan().unwrap());
    assert_eq!(c.mass.verdict, Verdict::Warn);
    let direction = c.mass.measured.direction.unwrap();
    assert!(direction.contains("v_phi") && direction.contains("v_psi"), "{direction}");
}

#[test]
fn a_close_approach_is_warned_of() {
    let c = of("kepler", "", "period/20000", "period", &[("e", 0.99)]);
    assert_eq!(c.frequency.verdict, Verdict::Warn);
    assert!(c.frequency.advice.unwrap().contains("close approach"));
    // at the pericentre r = 0.01 the rate is √(2/r³)
    let fastest = c.frequency.measured.fastest.unwrap();
    assert!((fastest / 2e6f64.sqrt() - 1.0).abs() < 0.01, "{fastest}");
    assert_eq!(c.verdict, Verdict::Pass);
    // with a hundredth of the steps the motion is lost
    let lost = of("kepler", "", "period/200", "period", &[("e", 0.99)]);
    assert_eq!(lost.failed, ["run", "energy"]);
}

#[test]
fn a_step_that_divides_the_period_is_warned_of() {
    let resonant = of("lagrange-top", "gauss8", "period/10", "40*period", &[]);
    assert_eq!(resonant.period.verdict, Verdict::Warn);
    let other = of("lagrange-top", "gauss8", "period/10.4", "40*period", &[]);
    assert_eq!(other.period.verdict, Verdict::Pass);
    // what is recommended avoids it
    let period = resonant.period.measured.period.unwrap();
    for candidate in &resonant.recommendation.candidates {
        let steps = period / candidate.step;
        assert!(steps > 16.0 || (steps - steps.round()).abs() >= 0.02, "{}: {steps}", candidate.method);
    }
}

#[test]
fn the_period_is_measured_where_none_is_known() {
    // of the same pendulum, once from the catalogue and once as a system of one's own
    let known = of("pendulum", "", "", "", &[]);
    let mut own = catalogue::system("pendulum").unwrap();
    own.catalogued = false;
    let measured = measured(&Run::of("pendulum").plan_for(&own).unwrap());
    let (a, b) = (known.period.measured.period.unwrap(), measured.period.measured.period.unwrap());
    assert!((a / b - 1.0).abs() < 0.01, "{a} {b}");
}

#[test]
fn what_is_recommended_does_what_was_said() {
    for (name, target) in [("double-pendulum", 1e-8), ("kepler", 1e-6), ("henon-heiles", 1e-10)] {
        let plan = Run::of(name).plan().unwrap();
        let options = Options { energy_error: target };
        let c = certify(&plan, &options, &|_| ControlFlow::Continue(())).unwrap();
        let list = &c.recommendation.candidates;
        assert!(list.len() >= 2, "{name}: {list:?}");
        for candidate in list {
            let found =
                invariants(&plan.problem, &method(&candidate.method), candidate.step, candidate.steps);
            let error = found.max_relative_error();
            assert!(error <= target, "{name} with {}: {error:e}", candidate.method);
            assert_eq!(error, candidate.energy_error);
            // and not with far more work than needed
            assert!(error > 1e-2 * target, "{name} with {}: {error:e}", candidate.method);
            // the step fills the time
            let end = candidate.step * candidate.steps as f64;
            assert!((end - plan.step * plan.steps as f64).abs() < 1e-9 * end);
        }
        assert!(list.windows(2).all(|pair| pair[0].evaluations <= pair[1].evaluations));
    }
}

#[test]
fn an_energy_that_is_not_conserved_is_not_judged() {
    let system = System::build("shaken", "Shaken oscillator")
        .coordinate("x", "m")
        .start_at_rest(["1"])
        .run("simpson", "0.05", "20")
        .lagrangian(|q, v, t, _| (v[0].squared() - q[0].squared()) * 0.5 + q[0] * (t * 3.0).sin())
        .unwrap();
    let c = measured(&Run::default().plan_for(&system).unwrap());
    assert_eq!((c.verdict, c.energy.verdict), (Verdict::Pass, Verdict::NotApplicable));
    assert!((c.order.measured.q.unwrap() - 4.0).abs() < 0.1);
    assert!(c.recommendation.candidates.is_empty() && c.recommendation.notes.len() == 1);
}

#[test]
fn a_long_chain_is_sampled() {
    let c = of("fput", "verlet", "", "", &[("n", 1000.0)]);
    assert_eq!(c.verdict, Verdict::Pass);
    assert!(c.symplecticity.finding.contains("pairs of directions"));
    assert!(c.run.measured.steps_measured < c.steps);
    let explicit = of("fput", "rk4", "0.8", "", &[("n", 1000.0)]);
    assert!(explicit.failed.contains(&"symplecticity".to_owned()), "{:?}", explicit.failed);
}

#[test]
fn pairs_of_directions_see_what_the_whole_map_sees() {
    let plan = Run::of("double-pendulum").plan().unwrap();
    let state = common::run(&plan.problem, &plan.method, plan.step, 30, &mut []);
    let state = State::at(state.q, state.p);
    for (name, symplectic) in [("simpson", true), ("rk4", false)] {
        let method = method(name);
        let whole = symplecticity_defect(&tangent_map(&plan.problem, &method, 0.04, &state).unwrap());
        let pairs = symplecticity_defect_of_pairs(&plan.problem, &method, 0.04, &state, 8).unwrap();
        assert_eq!((whole < 1e-12, pairs < 1e-12), (symplectic, symplectic), "{name}: {whole:e} {pairs:e}");
        if !symplectic {
            assert!(pairs > 0.1 * whole && pairs < 10.0 * whole, "{whole:e} {pairs:e}");
        }
    }
}

#[test]
fn an_interrupted_certificate_says_what_is_missing() {
    let plan = Run::of("double-pendulum").plan().unwrap();
    let c = certify(&plan, &Options::default(), &|_| ControlFlow::Break(())).unwrap();
    assert_eq!((c.run.verdict, c.order.verdict), (Verdict::NotMeasured, Verdict::NotMeasured));
    assert!(c.run.finding.contains("interrupted") && c.recommendation.candidates.is_empty());
}

#[test]
fn bad_options_are_errors() {
    let plan = Run::of("pendulum").plan().unwrap();
    for energy_error in [0.0, -1.0, f64::NAN] {
        let error = certify(&plan, &Options { energy_error }, &|_| ControlFlow::Continue(())).unwrap_err();
        assert!(error.to_string().contains("try 1e-8"), "{error}");
    }
}
