//! Measured orders: the slope of log error against log step, in q and in p separately.
//!
//! Every method of the registry, up to order 30, on two nonlinear systems, some of them also where the Lagrangian depends on
//! time, is linear in v, or is not quadratic in v; and the polynomials within the steps. The reference is a run of high order
//! with small steps. Everything runs in numbers of 96 digits, so that no plateau of rounding bends the lines.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{method, problem};
use leastaction::analysis::order::fitted_order;
use leastaction::prelude::*;
use leastaction::scalar::{Digits, Field};
use leastaction::system::Velocities;

/// A measured order may differ from the declared one by this much, or by this part of it for orders above 16.
const BAND: f64 = 0.2;
const RELATIVE_BAND: f64 = 0.012;
/// 96 digits.
type Number = Digits<5>;
/// Errors below this are rounding.
const FLOOR: f64 = 1e-90;

/// Errors are taken at this many times, so that one that happens to vanish does not matter.
const TIMES: u64 = 4;

/// Coordinates and momenta, or velocities, at all times.
type Samples = [Vec<Number>; 2];

/// Takes equal steps and looks at the state at each of the times.
fn integrate(
    problem: &Problem<Number>,
    method: &Method,
    until: Number,
    steps: u64,
    mut look: impl FnMut(&Stepper<Number>, &State<Number>),
) {
    let mut stepper = Stepper::new(problem, method, until / Number::from_f64(steps as f64));
    let mut state = State::new(problem);
    for _ in 0..steps {
        stepper.step(&mut state).expect("a step");
        if state.steps.is_multiple_of(steps / TIMES) {
            look(&stepper, &state);
        }
    }
}

fn samples(problem: &Problem<Number>, method: &Method, until: Number, steps: u64) -> Samples {
    let (mut q, mut p) = (Vec::new(), Vec::new());
    integrate(problem, method, until, steps, |_, state| {
        q.extend(&state.q);
        p.extend(&state.p);
    });
    [q, p]
}

fn distance(a: &[Number], b: &[Number]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (*a - *b).to_f64().powi(2)).sum::<f64>().sqrt()
}

/// The slopes of two lists of (step, error).
fn slopes(points: [Vec<(f64, f64)>; 2]) -> [f64; 2] {
    points.map(|points| fitted_order(&points, FLOOR).expect("errors above rounding"))
}

/// Orders in q and in p.
fn orders(problem: &Problem<Number>, method: &Method, until: Number, exact: &Samples) -> [f64; 2] {
    // the explicit methods reach their asymptotic range later
    let coarsest = if method.is_variational() { 80 } else { 800 };
    let mut points = [Vec::new(), Vec::new()];
    // all multiples of the number of times
    for steps in [4, 5, 6].map(|part| part * coarsest / 4) {
        let found = samples(problem, method, until, steps);
        for i in 0..2 {
            points[i].push((1.0 / steps as f64, distance(&found[i], &exact[i])));
        }
    }
    slopes(points)
}

/// Asserts the declared order of methods on a problem, and prints what was measured.
fn check(problem: &Problem<f64>, until: f64, methods: &[Method]) {
    let name = &problem.system.name;
    let problem: Problem<Number> = problem.convert();
    // high orders need smaller steps to show their slope, so they run for a fifth of the time with as many
    for (high, until) in [(false, until), (true, until / 5.0)] {
        let wanted = |method: &&Method| (method.order > 12) == high && method.fits(&problem.system).is_ok();
        let methods: Vec<&Method> = methods.iter().filter(wanted).collect();
        if methods.is_empty() {
            continue;
        }
        let until = Number::from_f64(until);
        let exact = samples(&problem, &method("gauss40"), until, 140);
        for method in methods {
            let measured = orders(&problem, method, until, &exact);
            println!("{name} {}: q {:.2}, p {:.2}", method.name, measured[0], measured[1]);
            for order in measured {
                let error = (order - method.order as f64).abs();
                let band = BAND.max(RELATIVE_BAND * method.order as f64);
                assert!(error < band, "{name} with {}: measured {measured:?} in q and p", method.name);
            }
        }
    }
}

fn some() -> Vec<Method> {
    ["midpoint", "simpson", "lobatto", "gauss8"].map(method).into()
}

#[test]
fn double_pendulum() {
    check(&problem("double-pendulum"), 1.0, &Method::all());
}

#[test]
fn lagrange_top() {
    check(&problem("lagrange-top"), 1.3, &Method::all());
}

fn splitting() -> Vec<Method> {
    ["split4", "split6", "split8", "split10"].map(method).into()
}

#[test]
fn splitting_methods() {
    check(&problem("henon-heiles"), 3.0, &splitting());
    // a full mass matrix, a potential that depends on time, a term that is linear in velocities, a time that does not start at zero
    let pushed = System::build("pushed", "Coupled masses that are pushed")
        .coordinate("x", "m")
        .coordinate("y", "m")
        .start(["1", "-0.4"], ["0.5", "0.2"])
        .lagrangian(|q, v, t, _| {
            let kinetic = v[0].squared() + v[0] * v[1] + v[1].squared() * 1.5;
            kinetic + v[1] * 0.7 - (q[0] - q[1]).powi(4) - q[0].cos() * (t * 2.0).sin() - q[1].squared()
        });
    check(&Problem { t0: 0.7, ..defined(pushed) }, 2.0, &splitting());
}

#[test]
fn charged_particle() {
    check(&problem("charged-particle"), 1.3, &some());
}

fn defined(system: leastaction::Result<System>) -> Problem<f64> {
    system.expect("a system").problem(&Settings::default()).expect("a problem")
}

#[test]
fn a_lagrangian_that_depends_on_time() {
    // a pendulum whose pivot is shaken, from a time that is not zero
    let driven = System::build("driven-pendulum", "Driven pendulum")
        .coordinate("q", "rad")
        .start(["1"], ["0.5"])
        .lagrangian(|q, v, t, _| {
            let pivot = (t * 3.0).sin() * 0.4;
            v[0].squared() * 0.5 + pivot * v[0] * q[0].cos() + q[0].cos() * (t.cos() * 0.3 + 4.0)
        });
    let problem = Problem { t0: 0.7, ..defined(driven) };
    check(&problem, 3.0, &some());
    check(&problem, 3.0, &[method("rk4"), method("rk4-velocity")]);
}

#[test]
fn a_lagrangian_with_a_magnetic_field_that_varies() {
    let magnetic = System::build("varying-field", "Charge in a field that varies")
        .coordinate("x", "m")
        .coordinate("y", "m")
        .start(["1", "0.3"], ["0.4", "-1"])
        .lagrangian(|q, v, _, _| {
            let kinetic = (v[0].squared() + v[1].squared()) * 0.5;
            // A = (−y(1 + x²), sin x): a field 1 + x² + cos x along z, and a hill to keep the charge near
            let magnetic = q[0].sin() * v[1] - q[1] * (q[0].squared() + 1.0) * v[0];
            kinetic + magnetic - (q[0].squared() + q[1].squared()) * 0.5
        });
    check(&defined(magnetic), 2.0, &some());
}

#[test]
fn a_lagrangian_that_is_not_quadratic_in_the_velocity() {
    // −m c² √(1 − v²/c²) − k q²/2 with speeds up to 0.8 c
    let relativistic = System::build("relativistic-oscillator", "Relativistic oscillator")
        .coordinate("q", "m")
        .parameter("c", "1.5", "m/s", "speed of light")
        .start(["1.2"], ["0.3"])
        .lagrangian(|q, v, _, p| {
            let square = p["c"].squared();
            -square * (-v[0].squared() / square + 1.0).sqrt() - q[0].squared() * 0.5
        });
    let problem = defined(relativistic);
    assert!(!problem.system.structure().quadratic);
    check(&problem, 3.0, &some());
}

/// Orders of q and v within a step, at a fraction of it.
fn orders_within(problem: &Problem<Number>, method: &Method, fraction: f64) -> [f64; 2] {
    let mut velocities = Velocities::new(&problem.system.model, &problem.parameters);
    let mut points = [Vec::new(), Vec::new()];
    for steps in [160, 200, 240, 320] {
        let mut errors = [0.0f64; 2];
        integrate(problem, method, Number::one(), steps, |stepper, state| {
            let (mut q, mut v) = (problem.q0.clone(), problem.v0.clone());
            let weights = stepper.weights(&Number::from_f64(fraction)).expect("a polynomial");
            stepper.within(&weights, &mut q, &mut v);
            let before = Number::from_f64((state.steps - 1) as f64);
            let time = (before + Number::from_f64(fraction)) * *stepper.step_size();
            let exact = samples(problem, &common::method("gauss16"), time, 40);
            let last = |list: &[Number]| list[list.len() - q.len()..].to_vec();
            let (exact_q, exact_p, mut exact_v) = (last(&exact[0]), last(&exact[1]), v.clone());
            velocities.velocities(&exact_q, &exact_p, &Number::zero(), &mut exact_v).expect("velocities");
            errors[0] = errors[0].hypot(distance(&q, &exact_q));
            errors[1] = errors[1].hypot(distance(&v, &exact_v));
        });
        for i in 0..2 {
            points[i].push((1.0 / steps as f64, errors[i]));
        }
    }
    slopes(points)
}

#[test]
fn polynomials_within_steps() {
    // degree s: order s + 1 in q and s in v, except where the method itself has no more
    let galerkin = ["midpoint", "verlet", "simpson", "gauss4", "lobatto", "gauss6", "lobatto8", "gauss8"];
    check_within("double-pendulum", &galerkin);
    check_within("henon-heiles", &["split4", "split6", "split8"]);
}

fn check_within(system: &str, names: &[&str]) {
    let problem: Problem<Number> = problem(system).convert();
    for name in names {
        let method = method(name);
        let degree = method.degree().expect("a polynomial") as f64;
        let (in_q, in_v) = ((degree + 1.0).min(method.order as f64), degree.min(method.order as f64));
        for fraction in [0.37, 0.8] {
            let [q, v] = orders_within(&problem, &method, fraction);
            println!("{name} at {fraction} of a step: q {q:.2}, v {v:.2}");
            assert!((q - in_q).abs() < BAND, "{name} at {fraction}: order {q} in q");
            assert!((v - in_v).abs() < BAND, "{name} at {fraction}: order {v} in v");
        }
    }
}
