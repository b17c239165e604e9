//! What goes wrong is said by name, and nothing computed before is lost.
//!
//! Mistakes in the input give the right variant of [`Error`] with the culprit in the message, before anything is computed. A
//! run that breaks down gives a failure with its step, its time and the last good state, and keeps every step before.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::error::{Cause, Failure};
use leastaction::prelude::*;
use leastaction::simulate::{InitialState, Outcome};
use leastaction::system::Quantity;

fn numbers(values: &[f64]) -> Option<Vec<Quantity>> {
    Some(values.iter().map(|x| Quantity::Number(*x)).collect())
}

fn formulas(values: &[&str]) -> Option<Vec<Quantity>> {
    Some(values.iter().map(|text| Quantity::from(*text)).collect())
}

/// Asserts that a message has all these parts.
#[track_caller]
fn assert_says(error: &Error, parts: &[&str]) {
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
}

macro_rules! assert_input_error {
    ($run:expr, $pattern:pat, $parts:expr) => {
        let error = $run.plan().expect_err("an error");
        assert!(matches!(error, $pattern), "{error:?}");
        assert!(error.is_input(), "{error:?}");
        assert_says(&error, &$parts);
    };
}

#[test]
fn an_upright_top_has_no_velocities() {
    let initial = InitialState { q: numbers(&[0.0; 3]), ..InitialState::default() };
    let run = Run { initial, ..Run::of("lagrange-top") };
    let error = run.plan().expect_err("phi and psi turn about the same axis");
    let Error::Failed(failure) = &error else { panic!("{error:?}") };
    let Cause::SingularMass { direction } = &failure.cause else { panic!("{failure:?}") };
    let [phi, theta, psi] = direction[..] else { panic!("{direction:?}") };
    assert!((phi + psi).abs() < 1e-12 && phi != 0.0 && theta == 0.0, "{direction:?}");
    assert_eq!(failure.step, 0);
    assert!(error.is_input());
    let message = error.to_string();
    assert!(message.contains("v_phi - v_psi") || message.contains("v_psi - v_phi"), "{message}");
    // from momenta it is noticed too
    let initial =
        InitialState { q: numbers(&[0.0; 3]), p: numbers(&[0.03, 0.0, 0.03]), ..Default::default() };
    let error = Run { initial, ..Run::of("lagrange-top") }.plan().expect_err("singular");
    assert_says(&error, &["v_phi", "v_psi", "singular"]);
}

/// Runs into a failure, checks that everything before it was kept, and returns it.
fn failed_run(run: &Run) -> Failure {
    let plan = run.plan().unwrap();
    let solution = plan.simulate().unwrap();
    let Outcome::Failed(failure) = &solution.outcome else { panic!("{run:?} did not fail") };
    let recording = &solution.recording;
    let n = recording.n;
    assert!(failure.step >= 1 && failure.step <= plan.steps);
    assert_eq!(failure.time, plan.problem.t0 + (failure.step - 1) as f64 * plan.step);
    assert_eq!(recording.len() as u64, failure.step, "the initial state and every step before the failure");
    for list in [&recording.t, &recording.q, &recording.v, &recording.p, &recording.energy] {
        assert!(list.iter().all(|x| x.is_finite()), "{list:?}");
    }
    let last = recording.q.len() - n;
    assert_eq!((&recording.q[last..], &recording.p[last..]), (&failure.q[..], &failure.p[..]));
    assert_eq!((solution.summary.outcome, solution.summary.steps), ("failed", failure.step - 1));
    assert_eq!((&solution.summary.q, &solution.summary.p), (&failure.q, &failure.p));
    let failure = (**failure).clone();
    let error = solution.into_result().expect_err("a failure");
    assert!(!error.is_input());
    assert_says(&error, &[&format!("in step {}", failure.step), "smaller step", &failure.coordinates[0]]);
    failure
}

/// A polynomial that is continued through a fast moment of the motion is so bad a guess that Newton's method may run from it to a solution that is not
/// the motion's: the energy grows by many powers of ten.
#[test]
fn bad_guesses_do_not_lead_away_from_the_motion() {
    for (q, step) in
        [([-2.03, 0.515], 0.05), ([-1.0, 1.0], 0.1), ([0.676_767_676_767, -0.232_323_232_323], 0.1)]
    {
        let run = Run {
            method: Some("gauss16".to_owned()),
            step: Some(step.into()),
            until: Some(10.0.into()),
            initial: InitialState { q: numbers(&q), ..InitialState::default() },
            ..Run::of("double-pendulum")
        };
        let solution = run.plan().unwrap().simulate().unwrap();
        let energy = &solution.summary.energy;
        assert!(matches!(solution.outcome, Outcome::Done), "{q:?}: {:?}", solution.outcome);
        // relative to the depth of the potential: the energy at the start is nearly zero
        let error = (energy.max_relative_error * energy.initial).abs() / 7.0;
        assert!(error < 1e-2, "{q:?}: {error:e}");
    }
}

#[test]
fn a_step_far_too_large_stops_the_run() {
    let run = |method: &str, step: f64| Run {
        method: Some(method.to_owned()),
        step: Some(step.into()),
        until: Some((1000.0 * step).into()),
        ..Run::of("double-pendulum")
    };
    for (method, step) in [("simpson", 0.5), ("midpoint", 3.0), ("gauss8", 5.0), ("lobatto8", 1.0)] {
        let failure = failed_run(&run(method, step));
        match failure.cause {
            Cause::NotConverged { iterations, correction, tolerance, step_size, .. } => {
                assert!(iterations > 0 && correction > tolerance && step_size == step, "{failure:?}");
            }
            // on the way to no solution there may be a matrix without an inverse
            Cause::SingularStep { step_size, .. } => assert_eq!(step_size, step),
            // or a solution that is not the motion
            Cause::EnergyJump { step_size, .. } => assert_eq!(step_size, step),
            _ => panic!("{method}: {failure:?}"),
        }
    }
    // the explicit method has nothing to solve: it runs off to infinity, and is stopped on its way
    let failure = failed_run(&run("rk4", 0.5));
    assert!(matches!(failure.cause, Cause::EnergyJump { .. }), "{failure:?}");
}

#[test]
fn a_collision_stops_the_run() {
    // released at rest, the body falls into the centre at t = π/√8 = 1.1107
    let initial = InitialState { q: numbers(&[1.0, 0.0]), v: numbers(&[0.0; 2]), ..InitialState::default() };
    for method in ["midpoint", "lobatto8", "lobatto12"] {
        let run = Run {
            method: Some(method.to_owned()),
            step: Some(0.01.into()),
            until: Some(5.0.into()),
            initial: initial.clone(),
            ..Run::of("kepler")
        };
        let failure = failed_run(&run);
        assert!((1.09..1.12).contains(&failure.time), "{method}: {failure:?}");
        assert!(failure.q[0].abs() < 0.1);
    }
    // starting there is an error of the input
    let initial = InitialState { q: numbers(&[0.0, 0.0]), v: numbers(&[0.0; 2]), ..InitialState::default() };
    assert_input_error!(Run { initial, ..Run::of("kepler") }, Error::BadStart { .. }, ["x = 0", "y = 0"]);
}

#[test]
fn wrong_names() {
    assert_input_error!(
        Run::of("double-pendulm"),
        Error::UnknownSystem { .. },
        ["double-pendulm", "`double-pendulum`"]
    );
    assert_input_error!(
        Run { method: Some("simson".to_owned()), ..Run::of("kepler") },
        Error::UnknownMethod { .. },
        ["simson", "`simpson`"]
    );
    let run = |name: &str, value: Quantity, system: &str| Run {
        parameters: [(name.to_owned(), value)].into(),
        ..Run::of(system)
    };
    assert_input_error!(
        run("omega", 3.0.into(), "double-pendulum"),
        Error::UnknownParameter { .. },
        ["`omega`", "double-pendulum", "`omega0`", "l1"]
    );
    assert_input_error!(run("n", 0.0.into(), "fput"), Error::BadParameter { .. }, ["`n`", "fput", "`0`"]);
    assert_input_error!(
        run("g", "omega0^2*l1".into(), "double-pendulum"),
        Error::Source(_),
        ["`g`", "`l1`", "defined through itself"]
    );
}

#[test]
fn wrong_initial_states() {
    let run = |initial: InitialState| Run { initial, ..Run::of("double-pendulum") };
    let q = |q| InitialState { q, ..InitialState::default() };
    assert_input_error!(
        run(q(numbers(&[1.0]))),
        Error::WrongCount { expected: 2, found: 1, .. },
        ["the initial q", "q1, q2", "1 were given"]
    );
    let three = numbers(&[1.0; 3]);
    assert_input_error!(
        run(InitialState { v: three.clone(), ..Default::default() }),
        Error::WrongCount { expected: 2, found: 3, .. },
        ["the initial v"]
    );
    assert_input_error!(
        run(InitialState { p: three, ..Default::default() }),
        Error::WrongCount { expected: 2, found: 3, .. },
        ["the initial p"]
    );
    let both = InitialState { v: numbers(&[0.0; 2]), p: numbers(&[0.0; 2]), ..Default::default() };
    assert_input_error!(run(both), Error::VelocityAndMomentum, ["v or p"]);
    for bad in [f64::NAN, f64::INFINITY] {
        let run = run(q(numbers(&[0.0, bad])));
        assert_input_error!(run, Error::NotANumber { .. }, ["initial q2", &bad.to_string()]);
    }
    assert_input_error!(run(q(formulas(&["0", "1/(g-g)"]))), Error::NotANumber { .. }, ["q2", "1/(g-g)"]);
    assert_input_error!(run(q(formulas(&["0", "pi/"]))), Error::Source(_), ["pi/", "formula:1:4"]);
    assert_input_error!(run(q(formulas(&["0", "2*omgea0"]))), Error::Source(_), ["omgea0", "`omega0`"]);
}

#[test]
fn splitting_methods_say_what_they_do_not_fit() {
    let run = |system: &str| Run { method: Some("split6".to_owned()), ..Run::of(system) };
    let pendulum = [
        "`split6`",
        "`double-pendulum`",
        "for `q1` and `q2` depends on coordinates",
        "`lobatto6` or `gauss6`",
    ];
    assert_input_error!(run("double-pendulum"), Error::DoesNotFit { .. }, pendulum);
    let magnetic = ["`x` and the velocity of `y`", "`gauss6`"];
    assert_input_error!(run("charged-particle"), Error::DoesNotFit { .. }, magnetic);
    let shaken = System::build("shaken", "Shaken")
        .coordinate("x", "")
        .lagrangian(|q, v, t, _| v[0].squared() + v[0] * t.sin() - q[0].squared())
        .unwrap();
    let error = run("shaken").plan_for(&shaken).unwrap_err().to_string();
    assert!(error.contains("momentum of `x` depends on time"), "{error}");
    // a stepper that nobody asked does not pretend
    let problem = Run::of("double-pendulum").plan().unwrap().problem;
    let mut stepper = Stepper::new(&problem, &Method::named("split6").unwrap(), 0.01);
    let mut state = State::new(&problem);
    assert!(matches!(stepper.step(&mut state), Err(Cause::DoesNotFit { .. })));
    assert_eq!(state, State::new(&problem));
    // without mass there is no velocity
    let massless = System::build("massless", "Massless")
        .coordinates(["x", "y"].map(str::to_owned), "")
        .lagrangian(|q, v, _, _| v[0].squared() - q[0].squared() - q[1].squared())
        .unwrap();
    assert!(run("massless").plan_for(&massless).is_err());
}

#[test]
fn wrong_steps() {
    let run = |step: f64, until: f64| Run {
        step: Some(step.into()),
        until: Some(until.into()),
        ..Run::of("pendulum")
    };
    for step in [0.0, -0.1] {
        assert_input_error!(run(step, 1.0), Error::BadStep { .. }, [&step.to_string(), "try 0.01"]);
    }
    assert_input_error!(run(f64::NAN, 1.0), Error::NotANumber { .. }, ["the step"]);
    assert_input_error!(run(0.1, f64::NAN), Error::NotANumber { .. }, ["until"]);
    assert_input_error!(run(0.1, 0.05), Error::BadUntil { .. }, ["0.05", "0.1"]);
    assert_input_error!(run(0.1, -3.0), Error::BadUntil { .. }, ["-3"]);
    assert_input_error!(run(1e-20, 1.0), Error::TooManySteps { .. }, ["1e20"]);
    let mut late = run(0.1, 1e16 + 100.0);
    late.initial.t = Some(1e16.into());
    assert_input_error!(late, Error::BadRun { .. }, ["1e16", "2e0 apart", "0.1"]);
    let often = Run { every: Some(1), ..run(1e-10, 10.0) };
    assert_input_error!(often, Error::TooMuchToRecord { .. }, ["GB", "try every = "]);
    let dense = Run { dense: Some(4), method: Some("rk4".to_owned()), ..run(0.1, 1.0) };
    assert_input_error!(dense, Error::NotDense { .. }, ["`rk4`"]);
    assert_input_error!(Run { dense: Some(0), ..run(0.1, 1.0) }, Error::ZeroCount { .. }, ["`dense`"]);
}

#[test]
fn wrong_run_descriptions() {
    for (text, culprit) in [
        ("system = \"pendulum\"\nmetod = \"rk4\"", "metod"),
        ("system = \"pendulum\"\n[initial]\nw = [1]", "w"),
        ("method = \"rk4\"", "under [run]"),
        ("[run]\nmethod = \"rk4\"", "system"),
        ("system = 3", "3"),
    ] {
        let error = Run::from_toml(text).expect_err(text);
        assert!(matches!(error, Error::Source(_)), "{error:?}");
        assert_says(&error, &[culprit]);
    }
}

/// A definition that goes wrong.
#[track_caller]
fn bad_system(system: leastaction::Result<System>, parts: &[&str]) {
    let error = system.expect_err("an error");
    assert!(matches!(error, Error::BadSystem { .. }), "{error:?}");
    assert_says(&error, &["`mine`"]);
    assert_says(&error, parts);
}

#[test]
fn wrong_systems() {
    let build = || System::build("mine", "Mine");
    let free = |_: &[Expr], v: &[Expr], _: Expr, _: &Parameters<Expr>| v[0].squared();
    bad_system(build().lagrangian(|q, v, _, _| q[0] * v[0]), &["no coordinates"]);
    bad_system(build().coordinate("x", "m").coordinate("x", "m").lagrangian(free), &["`x`", "twice"]);
    bad_system(build().coordinate("x", "m").parameter("x", "1", "", "").lagrangian(free), &["`x`", "twice"]);
    bad_system(build().coordinate("2x", "m").lagrangian(free), &["`2x`", "not a name"]);
    bad_system(build().coordinate("x", "m").lagrangian(|q, _, _, _| q[0].cos()), &["no velocity"]);
    bad_system(
        build().coordinate("x", "m").start(["1"], ["2", "3"]).lagrangian(free),
        &["2 values for 1 coordinates"],
    );
    let undeclared = build()
        .coordinate("x", "m")
        .parameter("mass", "1", "kg", "mass")
        .lagrangian(|_, v, _, p| p["mas"] * v[0].squared())
        .expect_err("undeclared");
    assert!(matches!(undeclared, Error::UndeclaredParameter { .. }), "{undeclared:?}");
    assert_says(&undeclared, &["`mas`", "`mine`", "`mass`"]);
    // a coordinate without kinetic energy is named when the numbers are known
    let massless = build()
        .coordinate("x", "m")
        .coordinate("y", "m")
        .lagrangian(|q, v, _, _| v[0].squared() - q[1].squared())
        .expect("a system");
    let error = massless.problem::<f64>(&Settings::default()).expect_err("singular");
    assert_says(&error, &["singular", "v_y"]);
}

#[test]
fn names_with_a_meaning_of_their_own_are_refused() {
    for name in ["t", "energy", "v_x", "p_x", "pi"] {
        let system =
            System::build("named", "Named").coordinate(name, "").lagrangian(|_, v, _, _| v[0].squared());
        let message = system.unwrap_err().to_string();
        assert!(message.contains(&format!("`{name}`")), "{message}");
    }
}

#[test]
fn a_step_of_no_size_fails() {
    let problem: Problem<f64> = catalogue::system("pendulum").unwrap().problem(&Settings::default()).unwrap();
    for method in ["simpson", "rk4"] {
        for size in [0.0, f64::NAN, f64::INFINITY] {
            let mut stepper = Stepper::new(&problem, &Method::named(method).unwrap(), size);
            assert!(stepper.step(&mut State::new(&problem)).is_err(), "{method} {size}");
        }
    }
}

#[test]
fn momenta_too_close_to_a_bound_for_velocities_are_refused() {
    let system = System::build("relativistic", "Relativistic particle")
        .coordinate("x", "")
        .lagrangian(|_, v, _, _| -(leastaction::expr::Expr::from(1.0) - v[0].squared()).sqrt())
        .unwrap();
    let start = |p: f64| {
        let momenta = leastaction::system::Start::Momenta(vec![p.into()]);
        system.problem::<f64>(&Settings { start: Some(momenta), ..Settings::default() })
    };
    let good = start(1e3).unwrap();
    assert!((good.v0[0] - 1e3 / (1e6f64 + 1.0).sqrt()).abs() < 1e-15);
    let error = start(1e8).unwrap_err();
    assert!(error.is_input() && error.to_string().contains("no velocity of `x`"), "{error}");
}

#[test]
fn a_potential_without_digits_near_the_start_is_no_jump() {
    // log(x + sqrt(1 + x²)) near 0 changes in steps of 1e-16, far more than the kinetic energy there
    let text = "coordinates = [\"x\"]\n[lagrangian]\nkinetic = \"dot(x)^2/2\"\npotential = \"-log(x + sqrt(1 + x^2))\"\n\
                [initial]\nq = [0]\nv = [0]\n[run]\nmethod = \"verlet\"\nstep = 1e-12\nuntil = 2e-8\n";
    let solution = Run::from_toml(text).unwrap().simulate().unwrap();
    assert!(matches!(solution.outcome, Outcome::Done), "{:?}", solution.outcome);
}

#[test]
fn terms_of_an_energy_that_cancel_are_no_jump() {
    // 1 - cos(q) is zero below 1e-8, and what is kinetic seems to come from nowhere
    for (potential, q, v, until) in [
        ("39*(1 - cos(q))", "1e-9", "1e-10", 10),
        ("39*(1 - cos(q))", "1e-8", "1e-12", 10),
        ("cos(q) - 1", "1e-10", "0", 20),
        ("(q^2 - 1)^2/4 - 1/4", "1e-9", "0", 20),
    ] {
        let text = format!(
            "coordinates = [\"q\"]\n[lagrangian]\nkinetic = \"dot(q)^2/2\"\npotential = \"{potential}\"\n\
             [initial]\nq = [{q}]\nv = [{v}]\n[run]\nmethod = \"simpson\"\nstep = 0.01\nuntil = {until}\n"
        );
        let solution = Run::from_toml(&text).unwrap().simulate().unwrap();
        assert!(matches!(solution.outcome, Outcome::Done), "{potential}: {:?}", solution.outcome);
    }
}
