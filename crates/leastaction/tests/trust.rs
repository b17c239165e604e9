//! Runs that can be trusted: what ends well has only finite numbers, what fails keeps what was before, an energy that jumps is a failure, and a
//! failure says what would have worked.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::analysis::verify::{Effort, verify_states};
use leastaction::error::{Cause, Failure, Source, Trial};
use leastaction::prelude::*;
use leastaction::simulate::ensemble::{Ensemble, EnsemblePlan, Spread, Status};
use leastaction::simulate::{Event, InitialState, Outcome, Plan, Recorder, Recording, simulate};
use leastaction::step::State;
use leastaction::system::Quantity;
use std::ops::ControlFlow;

fn run(system: &str, method: &str, step: f64, steps: f64) -> Run {
    Run {
        method: Some(method.to_owned()),
        step: Some(step.into()),
        until: Some((step * steps).into()),
        every: Some(1),
        ..Run::of(system)
    }
}

/// Checks that every number of a solution is finite, and that a failure keeps the rows before it and no other.
fn check(solution: &Solution, what: &str) {
    let (summary, recording) = (&solution.summary, &solution.recording);
    let lists =
        [&recording.t, &recording.q, &recording.v, &recording.p, &recording.energy, &summary.q, &summary.p];
    for list in lists {
        assert!(list.iter().all(|x| x.is_finite()), "{what}: {list:?}");
    }
    let energy = &summary.energy;
    for x in [energy.initial, energy.r#final, energy.max_relative_error, energy.scale, summary.t_end] {
        assert!(x.is_finite(), "{what}: {energy:?}");
    }
    assert_eq!(recording.len() as u64, summary.steps + 1, "{what}");
    let last = recording.q.len() - recording.n;
    assert_eq!(&recording.q[last..], &summary.q[..], "{what}");
    if let Outcome::Failed(failure) = &solution.outcome {
        assert_eq!(
            (failure.step, &failure.q, &failure.p),
            (summary.steps + 1, &summary.q, &summary.p),
            "{what}"
        );
        let told = summary.failure.as_ref().unwrap();
        assert_eq!((told.step, told.cause), (failure.step, failure.cause.word()));
    }
}

/// The systems of the catalogue with all sorts of methods, and steps from sensible to silly.
fn coarse_runs(factors: &[f64], mut look: impl FnMut(&Plan, &Solution, f64)) {
    for entry in catalogue::ENTRIES {
        let base = Run::of(entry.name).plan().unwrap();
        let steps = (600 / base.problem.system.n()).clamp(20, 150) as f64;
        for method in ["midpoint", "verlet", "simpson", "lobatto10", "gauss4", "gauss16", "rk4", "split6"] {
            for factor in factors {
                // not all methods fit all systems
                let Ok(plan) = run(entry.name, method, base.step * factor, steps).plan() else { continue };
                look(&plan, &plan.simulate().unwrap(), *factor);
            }
        }
    }
}

#[test]
fn what_ends_well_is_finite_and_what_fails_keeps_what_was_before() {
    let mut failed = 0;
    coarse_runs(&[1.0, 37.0, 1000.0, 1e9, 1e150], |plan, solution, factor| {
        let what = format!("{} {} {factor}", plan.problem.system.name, plan.method.name);
        failed += u32::from(matches!(solution.outcome, Outcome::Failed(_)));
        check(solution, &what);
    });
    assert!(failed > 100, "{failed}");
}

/// Coarse runs that fail, by how many times the usual step they have, and why. All others of the catalogue end well.
const COARSE_FAILURES: [(&str, &str, f64, &str); 9] = [
    ("linear-double-pendulum", "verlet", 10.0, "beyond stability"),
    ("n-pendulum", "midpoint", 10.0, "not converged"),
    ("kepler", "midpoint", 10.0, "not converged"),
    ("kepler", "gauss4", 10.0, "not converged"),
    ("fput", "verlet", 10.0, "energy jump"),
    ("fput", "rk4", 10.0, "energy jump"),
    ("outer-solar-system", "midpoint", 3.0, "not converged"),
    ("outer-solar-system", "midpoint", 10.0, "not converged"),
    ("outer-solar-system", "gauss4", 10.0, "not converged"),
];

#[test]
fn coarse_steps_are_no_jumps() {
    let (mut done, mut failed) = (0, Vec::new());
    coarse_runs(&[3.0, 10.0], |plan, solution, factor| {
        let (system, method) = (plan.problem.system.name.as_str(), plan.method.name.as_str());
        let known =
            COARSE_FAILURES.iter().find(|known| (known.0, known.1, known.2) == (system, method, factor));
        match (&solution.outcome, known) {
            (Outcome::Done, None) => done += 1,
            (Outcome::Failed(failure), Some(known)) => {
                assert_eq!(failure.cause.word(), known.3, "{known:?}: {failure}");
                failed.push(known);
            }
            (outcome, _) => panic!("{system} {method} {factor}: {outcome:?}"),
        }
        let Outcome::Failed(failure) = &solution.outcome else { return };
        let Cause::EnergyJump { initial, after, .. } = failure.cause else { return };
        // what grows without bound may jump at last; the step that did was not kept
        let energy = &solution.summary.energy;
        let error = energy.max_relative_error.max((after - initial).abs() / energy.scale);
        assert!(error > 5.0, "{system} {method} {factor}: {error}");
    });
    assert_eq!(failed.len(), COARSE_FAILURES.len(), "{failed:?}");
    assert!(done >= 217, "{done}");
}

fn failure(run: &Run) -> Failure {
    match run.plan().unwrap().simulate().unwrap().outcome {
        Outcome::Failed(failure) => *failure,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_energy_that_jumps_is_a_failure_with_its_numbers() {
    let failure = failure(&run("double-pendulum", "rk4", 0.5, 100.0));
    let Cause::EnergyJump { before, after, scale, step_size, .. } = failure.cause else {
        panic!("{failure:?}")
    };
    assert!((after - before).abs() > 5.0 * scale && scale > 1.0 && step_size == 0.5, "{failure:?}");
    let text = failure.to_string();
    for part in ["jumped from", "smaller step", "tried from this state", "q1 = "] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    // a driven system has a balance to keep: a force of e^15 times itself in a step is none that the step sees
    let driven = System::build("driven", "Driven")
        .coordinate("x", "")
        .lagrangian(|q, v, t, _| v[0].squared() + q[0] * (t * 30.0).exp())
        .unwrap();
    let run = Run { step: Some(0.5.into()), until: Some(5.0.into()), ..Run::of("driven") };
    let Outcome::Failed(failure) = run.plan_for(&driven).unwrap().simulate().unwrap().outcome else {
        panic!()
    };
    assert!(matches!(failure.cause, Cause::EnergyJump { .. }), "{failure}");
    let run = Run { step: Some(0.001.into()), ..run };
    let solution = run.plan_for(&driven).unwrap().simulate().unwrap();
    assert!(matches!(solution.outcome, Outcome::Done) && solution.summary.energy.max_error < 1e-3);
}

#[test]
fn what_runs_off_step_by_step_does_not_end_well() {
    // energies of 1e8 times the motion's, gained by factors of ten a step
    let mut failed = 0;
    for method in ["gauss4", "gauss8", "midpoint"] {
        for step in [4.0, 8.0, 10.0, 20.0] {
            let solution = run("henon-heiles", method, step, 40.0).plan().unwrap().simulate().unwrap();
            let error = solution.summary.energy.max_relative_error;
            let over = matches!(solution.outcome, Outcome::Done);
            assert!(!over || error < 1e5, "{method} {step}: {error}");
            failed += u32::from(!over);
        }
    }
    assert!(failed >= 6, "{failed}");
}

/// A body that falls into the centre, or nearly, at t = π/√8 = 1.1107.
fn fall(method: &str, step: f64, sideways: f64) -> Plan {
    let numbers = |list: [f64; 2]| Some(list.map(Quantity::Number).to_vec());
    let (q, v) = (numbers([1.0, 0.0]), numbers([0.0, sideways]));
    let initial = InitialState { q, v, ..InitialState::default() };
    Run { initial, ..run("kepler", method, step, 3.0 / step) }.plan().unwrap()
}

#[test]
fn what_falls_into_the_centre_does_not_end_well() {
    // it came out with energies of 20 to 50,000 instead of -1, by some methods in one step and by others in a few
    let (mut jumped, mut crept) = (0, 0);
    for method in ["midpoint", "verlet", "simpson", "lobatto8", "gauss4", "gauss16", "split6", "rk4"] {
        for step in [1e-4, 1e-3, 1e-2, 0.05] {
            for sideways in [0.0, 0.003] {
                let what = format!("{method} {step} {sideways}");
                let solution = fall(method, step, sideways).simulate().unwrap();
                let Outcome::Failed(failure) = &solution.outcome else { panic!("{what}: it ended well") };
                // with coarse steps it may come by more than once
                assert!((1.0..1.6).contains(&failure.time), "{what}: {failure}");
                check(&solution, &what);
                let Cause::EnergyJump { initial, before, after, scale, .. } = failure.cause else { continue };
                assert!((after - initial).abs() > 5.0 * scale, "{what}: {failure}");
                let (words, count) = match (after - before).abs() >= 0.5 * (after - initial).abs() {
                    true => ("jumped from", &mut jumped),
                    false => ("went step by step from", &mut crept),
                };
                *count += 1;
                assert!(failure.to_string().contains(words), "{what}: {failure}");
            }
        }
    }
    assert!(jumped > 15 && crept >= 3, "{jumped} {crept}");
}

/// A body that starts at (1, 0).
fn in_a_plane(potential: &str, velocity: &str, run: &str) -> Solution {
    let text = format!(
        "coordinates = [\"x\", \"y\"]\n[lagrangian]\nkinetic = \"(v_x^2 + v_y^2)/2\"\npotential = \"{potential}\"\n\
         [initial]\nq = [1, 0]\n{velocity}\n[run]\n{run}\n"
    );
    Run::read("x", &Source::new("x.toml", text)).unwrap().plan().unwrap().simulate().unwrap()
}

/// |E0| says nothing of a motion then.
#[test]
fn a_constant_in_the_potential_hides_no_fall() {
    for constant in ["0", "1e3", "1e6", "-1e9"] {
        let potential = format!("-1/sqrt(x^2 + y^2) + {constant}");
        for (method, step) in [("verlet", 1e-3), ("simpson", 0.01), ("gauss8", 0.003), ("split6", 0.01)] {
            let base = format!("method = \"{method}\"\nstep = {step}\nuntil = 3");
            let solution = in_a_plane(&potential, "v = [0, 0.003]", &base);
            let Outcome::Failed(failure) = &solution.outcome else {
                panic!("{potential} {method}: it ended well")
            };
            assert!((1.0..1.6).contains(&failure.time), "{potential} {method}: {failure}");
        }
    }
}

/// Momenta of terms that are linear in velocities have no energy.
#[test]
fn a_term_that_changes_no_motion_hides_no_fall() {
    for term in ["0", "30*v_x", "1000*(x*v_y + y*v_x)"] {
        for method in ["simpson", "rk4"] {
            let potential = format!("-1/sqrt(x^2 + y^2) - {term}");
            let solution = in_a_plane(
                &potential,
                "v = [0, 0.01]",
                &format!("method = \"{method}\"\nstep = 0.01\nuntil = 50"),
            );
            let Outcome::Failed(failure) = &solution.outcome else {
                panic!("{term} {method}: it ended well")
            };
            assert!((1.0..1.6).contains(&failure.time), "{term} {method}: {failure}");
        }
    }
}

/// Steps of half a period see a motion only where it rests.
#[test]
fn turning_points_are_no_jumps() {
    for (q, method) in [(1.5, "lobatto20"), (1.5, "gauss30"), (0.5, "gauss16")] {
        let initial = InitialState {
            q: Some(vec![Quantity::Number(q)]),
            v: Some(vec![Quantity::Number(0.0)]),
            ..InitialState::default()
        };
        let run = Run {
            method: Some(method.to_owned()),
            step: Some(Quantity::from("period/2")),
            until: Some(Quantity::from("100*period")),
            initial,
            ..Run::of("pendulum")
        };
        let solution = run.plan().unwrap().simulate().unwrap();
        assert!(matches!(solution.outcome, Outcome::Done), "{q} {method}: {:?}", solution.outcome);
        assert!(solution.summary.energy.max_relative_error < 1e-3);
    }
}

#[test]
fn an_energy_that_overflows_alone_is_named() {
    // x grows like exp(t), and its square is not finite where it is
    let solution = in_a_plane("-x^2/2", "v = [1, 0]", "method = \"gauss8\"\nstep = 0.1\nuntil = 400");
    let Outcome::Failed(failure) = &solution.outcome else { panic!("it ended well") };
    assert!(matches!(failure.cause, Cause::NotFinite { coordinate: None, .. }), "{failure:?}");
    assert!(failure.to_string().contains("the energy became infinite or undefined"), "{failure}");
    assert!((350.0..360.0).contains(&failure.time), "{failure}");
}

#[test]
fn a_close_approach_that_is_survived_is_no_failure() {
    // at the pericentre, 800 times nearer, the kinetic energy is 800 and the energy wrong by up to 44; afterwards it differs by less than one
    for (method, most) in [("simpson", 0.9), ("split6", 0.7), ("gauss16", 0.01)] {
        let solution = fall(method, 1e-4, 0.05).simulate().unwrap();
        assert!(matches!(solution.outcome, Outcome::Done), "{method}: {:?}", solution.outcome);
        let energy = &solution.summary.energy;
        assert!((energy.r#final - energy.initial).abs() < most, "{method}: {energy:?}");
    }
    // so is a large energy that stays bounded, as in linear systems close to the limit of a method
    let near = run("harmonic-oscillator", "simpson", 0.99 * 8f64.sqrt() / std::f64::consts::TAU, 2000.0);
    let solution = near.plan().unwrap().simulate().unwrap();
    assert!(matches!(solution.outcome, Outcome::Done), "{:?}", solution.outcome);
    assert!(solution.summary.energy.max_relative_error > 8.0);
}

#[test]
fn a_result_that_has_left_its_motion_is_not_verified() {
    let plan = fall("verlet", 1e-3, 0.0);
    let problem = &plan.problem;
    let verified = |rows: &Recording| {
        let checks =
            verify_states(&plan.run, rows, &Effort::default(), &|| ControlFlow::Continue(())).unwrap();
        checks.into_iter().find(|check| check.what == "energy").unwrap()
    };
    let record = |steps: u64| {
        let mut stepper = plan.stepper(problem, plan.step);
        let mut recorder = Recorder::new(problem, &stepper, 1, 1, 0);
        // nobody looks at the energy
        let mut state = State::new(problem);
        let outcome = simulate(problem, &mut stepper, &mut state, steps, &mut [&mut recorder]);
        assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
        recorder.recording
    };
    let good = verified(&record(1100));
    assert!(good.good, "{good:?}");
    let bad = verified(&record(2000));
    assert!(
        !bad.good && bad.found.contains("-1 at the start and") && bad.found.contains("in row 111"),
        "{bad:?}"
    );
}

#[test]
fn what_grows_without_bound_says_which_step_does_not() {
    let failure = failure(&run("harmonic-oscillator", "verlet", 0.35, 5000.0));
    let Cause::BeyondStability { stable, step_size, met, .. } = &failure.cause else { panic!("{failure:?}") };
    assert!(*step_size == 0.35 && (0.3..0.3184).contains(stable), "{failure:?}");
    assert!(matches!(met.as_ref(), Cause::NotFinite { .. } | Cause::EnergyJump { .. }), "{failure:?}");
    let text = failure.to_string();
    for part in ["a step of 0.35 is beyond", "omega*h = 2.19911", "try a step below 0.3183"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    // and that one lasts
    let stable = run("harmonic-oscillator", "verlet", *stable, 5000.0).plan().unwrap().simulate().unwrap();
    assert!(matches!(stable.outcome, Outcome::Done));
}

#[test]
fn a_member_that_jumps_ends_before_the_jump() {
    let spread = Spread::Values(vec![Quantity::Number(0.5)]);
    let ensemble =
        Ensemble { vary: [("q1".to_owned(), spread)].into_iter().collect(), ..Ensemble::default() };
    let base = run("double-pendulum", "rk4", 0.5, 100.0);
    let plan =
        EnsemblePlan::new(&Run { ensemble: Some(ensemble), every: None, ..base.clone() }, None).unwrap();
    let place = |name: &str| plan.columns.iter().position(|column| column.name == name).unwrap();
    let mut blocks = Vec::new();
    let keep = |block: &leastaction::simulate::ensemble::Block| {
        blocks.push(block.clone());
        Ok::<(), ()>(())
    };
    plan.run(&(0..1), 0, 1, &|| ControlFlow::Continue(()), keep).unwrap();
    let of = |name: &str| blocks[0].column(place(name))[0];
    assert_eq!(Status::of_code(of("status")), Status::EnergyJump);
    let q2 = plan.base.problem.q0[1];
    let q = Some(vec![Quantity::Number(0.5), Quantity::Number(q2)]);
    let alone = failure(&Run { initial: InitialState { q, ..InitialState::default() }, ..base });
    assert_eq!(of("t_end"), alone.time.to_bits());
    assert_eq!([of("q1_end"), of("p_q2_end")], [alone.q[0].to_bits(), alone.p[1].to_bits()]);
}

#[test]
fn what_is_said_to_work_works() {
    let failure = failure(&run("double-pendulum", "simpson", 0.5, 100.0));
    let works: Vec<&Trial> = failure.tried.iter().filter(|trial| trial.works).collect();
    assert!(!works.is_empty() && failure.tried.iter().any(|trial| !trial.works), "{failure}");
    let numbers = |list: &[f64]| Some(list.iter().map(|x| Quantity::Number(*x)).collect());
    for trial in &failure.tried {
        let again = |parts: f64| {
            let initial =
                InitialState { q: numbers(&failure.q), p: numbers(&failure.p), ..InitialState::default() };
            let step = trial.step / parts;
            let run = Run {
                initial,
                ..run("double-pendulum", &trial.method, step, f64::from(trial.parts) * parts)
            };
            run.plan().unwrap().simulate().unwrap()
        };
        // it keeps the energy, and half its step ends where it does
        let [once, twice] = [again(1.0), again(2.0)];
        let kept = |solution: &Solution| {
            matches!(solution.outcome, Outcome::Done) && solution.summary.energy.max_error < 0.1
        };
        let moved = |i: usize| (twice.summary.q[i] - failure.q[i]).abs();
        let close = (0..2).all(|i| (once.summary.q[i] - twice.summary.q[i]).abs() <= 0.11 * moved(i));
        if trial.works {
            assert!(kept(&once) && kept(&twice) && close, "{trial:?}");
        }
    }
    assert!(failure.to_string().contains(&works[0].to_string()), "{failure}");
    // at a collision nothing works
    let start = InitialState { q: numbers(&[1.0, 0.0]), v: numbers(&[0.0, 0.0]), ..InitialState::default() };
    let collision = Run { initial: start, ..run("kepler", "lobatto8", 0.01, 500.0) };
    let text = self::failure(&collision).to_string();
    assert!(text.contains("none gets through") && text.contains("singular point"), "{text}");
}

#[test]
fn an_event_that_is_never_reached_says_how_near_it_was() {
    let mut run = run("pendulum", "simpson", 0.01, 1000.0);
    run.events.insert("over".to_owned(), Event { stop: Some(1), ..Event::of("q - 4") });
    let solution = run.plan().unwrap().simulate().unwrap();
    assert!(matches!(&solution.outcome, Outcome::NotReached { event } if event == "over"));
    assert_eq!((solution.summary.outcome, solution.summary.steps), ("not reached", 1000));
    let nearest = solution.summary.events["over"].nearest.as_ref().unwrap();
    let values = || solution.recording.q.iter().map(|q| q - 4.0);
    let best = values().fold(f64::INFINITY, |m, x| m.min(x.abs()));
    assert_eq!(nearest.value.abs(), best);
    let at = values().position(|x| x.abs() == best).unwrap();
    assert_eq!(nearest.t, solution.recording.t[at]);
    let told = solution.not_reached().concat();
    assert!(told.contains("before `over` happened once") && told.contains("nearest to zero"), "{told}");
}

/// Found by fuzzing: a count that was changed, with a checksum that fits, overflowed when the run went on.
#[test]
fn counts_of_a_checkpoint_that_cannot_be_are_refused() {
    let mut run = run("pendulum", "simpson", 0.01, 100.0);
    run.every = Some(0);
    run.events.insert("low".to_owned(), Event::of("q"));
    let plan = run.plan().unwrap();
    let mut journey = plan.begin().unwrap();
    journey.go(&mut |step| if step == 40 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
    let words = journey.save();
    for place in 0..words.len() {
        let mut changed = words.clone();
        changed[place] = u64::MAX / 2;
        let mut journey = plan.begin().unwrap();
        if journey.restore(changed).is_ok() {
            journey.go(&mut |_| ControlFlow::Continue(()));
            let summary = journey.into_solution().summary;
            let newton = &summary.newton;
            assert!(newton.iterations_mean <= f64::from(newton.iterations_max), "word {place}: {newton:?}");
            assert!(summary.events["low"].count < 1 << 54, "word {place}");
        }
    }
}
