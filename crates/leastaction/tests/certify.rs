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

/// A pendulum in space by its Cartesian position, from which the azimuth cancels, in so strong a field.
fn by_position(gravity: &str) -> Run {
    let text = format!(
        "coordinates = ['theta', 'phi']\n\
         [definitions]\nx = 'sin(theta)*cos(phi)'\ny = 'sin(theta)*sin(phi)'\nz = '-cos(theta)'\n\
         [lagrangian]\nkinetic = '1/2*(dot(x)^2 + dot(y)^2 + dot(z)^2)'\npotential = '{gravity}*z'\n\
         [initial]\nq = [1, 0]\nv = [0, 2]\n[run]\nmethod = 'lobatto'\nstep = 0.02\nuntil = 4\n"
    );
    Run::read("position", &leastaction::error::Source::new("position.toml", text)).unwrap()
}

#[test]
fn l_is_compared_with_what_was_typed() {
    let plan = by_position("9.81").plan().unwrap();
    let certificate = measured(&plan);
    let found = certificate.lagrangian.unwrap();
    assert!(found.verdict == Verdict::Pass && found.measured.difference < 1e-14, "{found:?}");
    // had another Lagrangian been typed, this would be noticed
    let mut other = plan;
    other.problem.system.typed = by_position("9.82").plan().unwrap().problem.system.typed;
    let certificate = measured(&other);
    assert_eq!(certificate.failed, ["Lagrangian"]);
    // nothing was taken out here
    assert!(of("pendulum", "", "", "", &[]).lagrangian.is_none());
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
        // rounding, of the top with a little to cancel
        let limit = if entry.name == "lagrange-top" { 1e-14 } else { 1e-15 };
        let found = &c.symplecticity.measured;
        assert!(found.defect.unwrap() < limit && found.allowed < 1e-13, "{}", entry.name);
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
    let ratio = c.energy.measured.largest.unwrap() / summary.energy.max_error;
    assert!((ratio - 1.0).abs() < 1e-5, "{ratio}");
    assert_eq!(c.solver.measured.iterations_mean.unwrap(), summary.newton.iterations_mean);
    assert_eq!(c.solver.measured.iterations_max.unwrap(), summary.newton.iterations_max);
    // the second correction by Newton's method is next to nothing
    assert!((1e-12..1e-6).contains(&c.solver.measured.contraction.unwrap()));
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
    let found = &c.symplecticity.measured;
    // what it lacks is no rounding: it does not change with the last digits of the state
    assert!(found.defect.unwrap() > 1e-8 && found.allowed < 1e-13, "{found:?}");
    // the drift per unit of time is that of the run itself: 3.7e-6 of the mean kinetic energy in 10 s
    let slope = c.energy.measured.slope.unwrap();
    assert!((-4.3e-7..-3.2e-7).contains(&slope), "{slope:e}");
    // in coordinates and velocities the momenta of a top are lost too
    let top = of("lagrange-top", "rk4-velocity", "", "", &[]);
    assert!(top.failed.contains(&"momentum".to_owned()), "{:?}", top.failed);
}

#[test]
fn a_drift_that_grows_faster_than_the_time_is_no_swing() {
    // 5.5e-6 at the end of the run, 3.2e-4 after ten times as long
    let c = of("n-pendulum", "rk4", "", "", &[]);
    assert_eq!(c.energy.verdict, Verdict::Fail, "{}", c.energy.finding);
    assert!(c.energy.measured.largest.unwrap() > 1e-4, "{}", c.energy.finding);
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
    // 10 and 16.5 steps a nutation: a larger step has a smaller energy error
    for steps in ["10", "16.5"] {
        let resonant = of("lagrange-top", "gauss8", &format!("period/{steps}"), "40*period", &[]);
        assert_eq!(resonant.period.verdict, Verdict::Warn, "{steps}");
        let found = &resonant.period.measured;
        let [own, other] = found.energy_errors.unwrap();
        assert!(found.other_step.unwrap() > resonant.step && own > 5.0 * other, "{own:e} {other:e}");
        // what is recommended avoids it
        let period = found.period.unwrap();
        assert!(!resonant.recommendation.candidates.is_empty());
        for candidate in &resonant.recommendation.candidates {
            let halves = 2.0 * period / candidate.step;
            assert!(
                halves > 56.0 || (halves - halves.round()).abs() >= 0.05,
                "{}: {halves}",
                candidate.method
            );
        }
    }
    let other = of("lagrange-top", "gauss8", "period/10.236", "40*period", &[]);
    assert_eq!((other.period.verdict, other.period.measured.energy_errors), (Verdict::Pass, None));
    // of an oscillator nothing adds up, and that was measured
    let linear = of("harmonic-oscillator", "simpson", "period/10", "40*period", &[]);
    let [own, other] = linear.period.measured.energy_errors.unwrap();
    assert!(own <= other && linear.period.verdict == Verdict::Pass, "{own:e} {other:e}");
    assert!(linear.period.finding.contains("do not add up"), "{}", linear.period.finding);
}

#[test]
fn recommended_steps_fill_no_period_with_a_simple_number() {
    // runs of few and of many periods, for errors that large steps reach
    for (until, target) in [("7*period", 1e-4), ("40*period", 1e-6), ("300*period", 1e-5)] {
        let run = Run { until: Some(until.into()), ..Run::of("lagrange-top") };
        let plan = run.plan().unwrap();
        let c = certify(&plan, &Options { energy_error: target }, &|_| ControlFlow::Continue(())).unwrap();
        let period = c.period.measured.period.unwrap();
        for candidate in &c.recommendation.candidates {
            let halves = 2.0 * period / candidate.step;
            assert!(
                halves > 56.0 || (halves - halves.round()).abs() >= 0.05,
                "{}: {halves}",
                candidate.method
            );
        }
        assert!(c.recommendation.candidates.iter().any(|c| period / c.step < 28.0), "{until}");
    }
}

/// A pendulum in a field that swings.
fn driven(rate: f64) -> System {
    System::build("driven", "Driven pendulum")
        .coordinate("q", "rad")
        .start_at_rest(["1"])
        .run("simpson", "0.5", "100")
        .lagrangian(move |q, v, t, _| v[0].squared() * 0.5 + ((t * rate).cos() * 0.1 + 1.0) * q[0].cos())
        .unwrap()
}

#[test]
fn a_drive_faster_than_the_step_is_warned_of() {
    let tau = std::f64::consts::TAU;
    // the last two keep pace with the steps: every step sees the same phase
    for (rate, resolved) in [
        (0.7, true),
        (3.0, true),
        (7.0, false),
        (1e3, false),
        (1e7, false),
        (2.0 * tau, false),
        (20.0 * tau, false),
    ] {
        let c = measured(&Run::default().plan_for(&driven(rate)).unwrap());
        let found = c.frequency.measured.drive.unwrap();
        assert!((found / rate - 1.0).abs() < 0.15, "{rate}: {found}");
        assert_eq!(c.frequency.verdict == Verdict::Pass, resolved, "{rate}");
        let advice = c.frequency.advice.unwrap_or_default();
        assert_eq!(advice.contains("a turn of the drive"), !resolved, "{rate}: {advice}");
        // the order is measured with steps that resolve the drive
        assert_eq!(c.order.verdict, Verdict::Pass, "{rate}");
    }
    // a force on something that does not oscillate
    let pushed = System::build("pushed", "Pushed particle")
        .coordinate("x", "m")
        .start_at_rest(["0"])
        .run("simpson", "0.5", "100")
        .lagrangian(|q, v, t, _| v[0].squared() * 0.5 + q[0] * (t * 40.0).sin())
        .unwrap();
    let c = measured(&Run::default().plan_for(&pushed).unwrap());
    assert_eq!(c.frequency.verdict, Verdict::Warn);
    assert!((c.frequency.measured.drive.unwrap() / 40.0 - 1.0).abs() < 0.15);
    // a small ripple on a slow drive is seen
    let ripple = System::build("ripple", "Ripple")
        .coordinate("x", "m")
        .start_at_rest(["0"])
        .run("simpson", "0.1", "100")
        .lagrangian(|q, v, t, _| v[0].squared() * 0.5 + q[0] * (t.sin() + (t * 1e3).sin() * 0.01))
        .unwrap();
    let c = measured(&Run::default().plan_for(&ripple).unwrap());
    assert!((800.0..1200.0).contains(&c.frequency.measured.drive.unwrap()));
    // time in a term that moves nothing is no drive
    let idle = System::build("idle", "Idle")
        .coordinate("x", "m")
        .start_at_rest(["1"])
        .run("simpson", "0.1", "20")
        .lagrangian(|q, v, t, _| (v[0].squared() - q[0].squared()) * 0.5 + (t * 1e5).sin())
        .unwrap();
    let c = measured(&Run::default().plan_for(&idle).unwrap());
    assert_eq!((c.frequency.verdict, c.frequency.measured.drive), (Verdict::Pass, None));
}

#[test]
fn methods_that_keep_the_energy_anyhow_are_listed_by_what_a_step_gets_wrong() {
    let c = of("harmonic-oscillator", "simpson", "0.01", "5", &[]);
    let list = &c.recommendation.candidates;
    assert!(list.iter().any(|found| found.method.starts_with("gauss")), "{list:?}");
    let plan = Run::of("harmonic-oscillator").plan().unwrap();
    let period = leastaction::exact::period(&plan.problem).unwrap();
    for found in list {
        assert!(found.energy_error <= 1e-8 && found.step < 0.7 * period, "{found:?}");
        let run = Run {
            method: Some(found.method.clone()),
            step: Some(found.step.into()),
            ..Run::of("harmonic-oscillator")
        };
        let resolution = run.simulate().unwrap().summary.resolution.unwrap();
        assert!(resolution.error <= 2e-8, "{found:?}: {resolution:?}");
    }
}

#[test]
fn why_an_order_was_not_measured_is_the_true_reason() {
    // a smooth chain: everything is rounding, also what cancels in the forces
    let smooth = of("fput", "lobatto8", "5", "10", &[("n", 1000.0)]);
    assert_eq!(smooth.order.verdict, Verdict::NotMeasured);
    assert!(smooth.order.finding.contains("all 4 errors are rounding"), "{}", smooth.order.finding);
    // a quartic one: some errors are not, but too few
    let n = 1000;
    let start = (1..=n).map(|i| format!("sin(3*pi*{i}/{})", n + 1));
    let chain = System::build("chain", "Quartic chain")
        .coordinates((1..=n).map(|i| format!("x{i}")), "")
        .start_at_rest(start.map(Quantity::Formula))
        .run("lobatto8", "5", "10")
        .lagrangian(move |q, v, _, _| {
            let mut sum = v[0].squared() * 0.5 - q[0].squared() * 0.5 - q[n - 1].squared() * 0.5;
            for i in 0..n {
                sum -= q[i].powi(4) * 0.05;
                if i > 0 {
                    sum += v[i].squared() * 0.5 - (q[i] - q[i - 1]).squared() * 0.5;
                }
            }
            sum
        })
        .unwrap();
    let c = measured(&Run::default().plan_for(&chain).unwrap());
    assert_eq!(c.order.verdict, Verdict::NotMeasured);
    assert!(
        c.order.finding.contains("2 of 4 errors stand clear of rounding and 3 are needed"),
        "{}",
        c.order.finding
    );
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
            let error = found.max_error_of_motion();
            assert!(error <= target, "{name} with {}: {error:e}", candidate.method);
            assert_eq!(error, candidate.energy_error);
            // and not with far more work than needed: half as many steps would be too few
            let order = method(&candidate.method).order as i32;
            assert!(error * 2f64.powi(order) > target, "{name} with {}: {error:e}", candidate.method);
            // the step fills the time
            let end = candidate.step * candidate.steps as f64;
            assert!((end - plan.step * plan.steps as f64).abs() < 1e-9 * end);
        }
        assert!(list.windows(2).all(|pair| pair[0].cost.unwrap() <= pair[1].cost.unwrap()));
    }
}

#[test]
fn where_time_occurs_the_balance_is_judged() {
    let system = System::build("shaken", "Shaken oscillator")
        .coordinate("x", "m")
        .start_at_rest(["1"])
        .run("simpson", "0.05", "20")
        .lagrangian(|q, v, t, _| (v[0].squared() - q[0].squared()) * 0.5 + q[0] * (t * 3.0).sin())
        .unwrap();
    let c = measured(&Run::default().plan_for(&system).unwrap());
    assert_eq!((c.verdict, c.energy.verdict), (Verdict::Pass, Verdict::Pass));
    assert!(
        !c.energy.measured.conserved && c.energy.finding.starts_with("balance within"),
        "{}",
        c.energy.finding
    );
    let error = c.energy.measured.largest.unwrap();
    assert!((1e-9..1e-5).contains(&error), "{error:e}");
    assert!((c.order.measured.q.unwrap() - 4.0).abs() < 0.1);
    assert!(!c.recommendation.candidates.is_empty());
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
