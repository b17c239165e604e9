//! The balance of the energy where time occurs in L: E(t) − E(0) − ΣW, with the work W of each step by the quadrature of the method.
//!
//! For many systems and methods: it falls with the order of the method, W agrees with the integral of −L_t along a fine reference, and W is the same
//! in all number types and by all solvers of a step. Where time does not occur, W is zero.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::timed::{Row, SYSTEMS, system};
use common::{method, problem};
use leastaction::analysis::order::fitted_order;
use leastaction::error::Source;
use leastaction::prelude::*;
use leastaction::scalar::{Digits, Dual, Field, Real};
use leastaction::step::Work;
use leastaction::system::{Energy, Quantity, Velocities};
use std::collections::BTreeMap;

/// 38 digits: no plateau of rounding bends the lines.
type Number = Digits<2>;

/// A measured order may differ from that of the method by this much.
const BAND: f64 = 0.3;

const METHODS: [&str; 12] = [
    "midpoint",
    "verlet",
    "simpson",
    "gauss4",
    "lobatto",
    "gauss6",
    "gauss8",
    "split4",
    "split6",
    "split8",
    "rk4",
    "rk4-velocity",
];

const UNTIL: f64 = 1.5;
/// Slopes are measured over a shorter time, with small steps.
const SHORT: f64 = 0.4;

fn problem_of<R: Real>(row: &Row) -> Problem<R> {
    system(row).problem(&Settings::default()).expect(row.0)
}

/// Takes steps and adds up their work, as observers do.
struct Watched<R> {
    stepper: Stepper<R>,
    state: State<R>,
    work: Work<R>,
    energy: Energy<R>,
    velocities: Velocities<R>,
    initial: R,
    total: R,
}

impl<R: Real> Watched<R> {
    fn new(problem: &Problem<R>, method: &Method, h: R) -> Self {
        let model = &problem.system.model;
        let mut made = Self {
            stepper: Stepper::new(problem, method, h),
            state: State::new(problem),
            work: Work::new(problem),
            energy: Energy::new(model, &problem.parameters),
            velocities: Velocities::new(model, &problem.parameters),
            initial: R::zero(),
            total: R::zero(),
        };
        made.initial = made.energy_at(&problem.t0);
        made
    }
    fn energy_at(&mut self, t: &R) -> R {
        let mut v = vec![R::zero(); self.state.q.len()];
        self.velocities.velocities(&self.state.q, &self.state.p, t, &mut v).expect("velocities");
        self.energy.at(&self.state.q, &v, t).0
    }
    /// The work of a step.
    fn step(&mut self) -> R {
        self.stepper.step(&mut self.state).expect("a step");
        let work = self.work.of_step(&self.stepper);
        self.total = self.total.clone() + work.clone();
        work
    }
    /// E − E₀ − ΣW.
    fn balance(&mut self) -> f64 {
        let t = self.stepper.time(self.state.steps);
        (self.energy_at(&t) - self.initial.clone() - self.total.clone()).to_f64()
    }
}

/// The balance at four times, and the work of all steps.
fn balance<R: Real>(problem: &Problem<R>, method: &Method, until: f64, steps: u64) -> (f64, R) {
    let h = R::from_f64(until) / R::from_f64(steps as f64);
    let mut run = Watched::new(problem, method, h);
    let mut squares = 0.0;
    for step in 1..=steps {
        run.step();
        if step.is_multiple_of(steps / 4) {
            squares += run.balance().powi(2);
        }
    }
    (squares.sqrt(), run.total)
}

/// The measured order of the balance.
fn order(problem: &Problem<Number>, method: &Method) -> f64 {
    let points: Vec<(f64, f64)> =
        [40, 52, 64].map(|steps| (1.0 / steps as f64, balance(problem, method, SHORT, steps).0)).into();
    fitted_order(&points, 1e-30).expect("errors above rounding")
}

/// Does something for a share of the systems: the tests run side by side.
fn each(share: usize, mut check: impl FnMut(&Row)) {
    SYSTEMS.iter().skip(share).step_by(2).for_each(&mut check);
}

fn check_orders(share: usize) {
    let mut wrong = Vec::new();
    each(share, |row| {
        let problem: Problem<Number> = problem_of(row);
        assert!(!problem.system.structure().autonomous, "{}", row.0);
        for method in METHODS.map(method).into_iter().filter(|method| method.fits(&problem.system).is_ok()) {
            let measured = order(&problem, &method);
            println!("{}, {}: {measured:.2}", row.0, method.name);
            if (measured - method.order as f64).abs() >= BAND || measured.is_nan() {
                wrong.push(format!("{} with {}: order {measured:.2}", row.0, method.name));
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_balance_falls_with_the_order_of_the_method() {
    check_orders(0);
}

#[test]
fn the_balance_falls_with_the_order_of_the_method_in_the_other_half() {
    check_orders(1);
}

/// ∫ −L_t dt by Simpson's rule along steps of high order, with L_t as a difference quotient of L.
fn integral(problem: &Problem<Number>, steps: u64) -> f64 {
    let h = Number::from_f64(UNTIL) / Number::from_f64(steps as f64);
    let mut stepper = Stepper::new(problem, &method("gauss16"), h);
    let mut state = State::new(problem);
    let model = &problem.system.model;
    let mut lagrangian = Energy::new(model, &problem.parameters);
    let mut velocities = Velocities::new(model, &problem.parameters);
    let mut v = problem.v0.clone();
    let mut sum = Number::zero();
    for k in 0..=steps {
        let t = stepper.time(k);
        velocities.velocities(&state.q, &state.p, &t, &mut v).unwrap();
        let delta = Number::from_f64(1e-12);
        let [later, earlier] = [t + delta, t - delta].map(|t| lagrangian.at(&state.q, &v, &t).1);
        let weight = if k == 0 || k == steps { 1.0 } else { 2.0 + 2.0 * (k % 2) as f64 };
        sum = sum - Number::from_f64(weight) * (later - earlier) / (delta + delta);
        if k < steps {
            stepper.step(&mut state).unwrap();
        }
    }
    (sum * h / Number::from_f64(3.0)).to_f64()
}

#[test]
fn work_is_the_integral_along_a_fine_reference() {
    for row in &SYSTEMS {
        let problem: Problem<Number> = problem_of(row);
        // Simpson's rule with one step of extrapolation
        let [coarse, fine] = [40, 80].map(|steps| integral(&problem, steps));
        let exact = fine + (fine - coarse) / 15.0;
        assert!(exact.abs() > 1e-3, "{}: no work to speak of, {exact}", row.0);
        for name in ["gauss8", "split6", "split8"] {
            let method = method(name);
            if method.fits(&problem.system).is_ok() {
                let found = balance(&problem, &method, UNTIL, 120).1.to_f64();
                let error = (found - exact).abs();
                assert!(error < 1e-7, "{} with {name}: {found} instead of {exact}, {error:e}", row.0);
            }
        }
    }
}

#[test]
fn work_is_the_same_in_all_number_types_and_by_all_solvers() {
    for row in &SYSTEMS {
        let (many, few): (Problem<Number>, Problem<f64>) = (problem_of(row), problem_of(row));
        for method in METHODS.map(method).into_iter().filter(|method| method.fits(&few.system).is_ok()) {
            let (error, work) = balance(&few, &method, UNTIL, 200);
            let (expected_error, expected) = balance(&many, &method, UNTIL, 200);
            let case = format!("{} with {}", row.0, method.name);
            let difference = (work - expected.to_f64()).abs();
            assert!(difference < 1e-12, "{case}: {work} and {expected:?}, {difference:e}");
            assert!((error - expected_error).abs() < 1e-12, "{case}: {error:e} and {expected_error:e}");
        }
    }
}

#[test]
fn without_time_there_is_no_work() {
    for name in ["double-pendulum", "kepler", "henon-heiles", "lagrange-top"] {
        let problem = problem(name);
        assert!(!Work::new(&problem).is_done());
        for method in METHODS.map(method).into_iter().filter(|method| method.fits(&problem.system).is_ok()) {
            assert_eq!(
                balance(&problem, &method, UNTIL, 40).1.to_bits(),
                0.0f64.to_bits(),
                "{name}, {}",
                method.name
            );
        }
    }
}

#[test]
fn work_backwards_takes_back_what_was_done() {
    for row in &SYSTEMS {
        let problem: Problem<f64> = problem_of(row);
        // all of them read the same from both ends
        let names = METHODS.map(method).into_iter().filter(Method::is_variational);
        for method in names.filter(|method| method.fits(&problem.system).is_ok()) {
            let mut run = Watched::new(&problem, &method, 0.02);
            let works: Vec<f64> = (0..10).map(|_| run.step()).collect();
            for (k, forward) in works.iter().enumerate().rev() {
                let t = problem.t0 + 0.02 * (k + 1) as f64;
                run.stepper.step_by(&mut run.state, &t, &-0.02).unwrap();
                let back = run.work.of_step(&run.stepper);
                let case = format!("{} with {}, step {k}", row.0, method.name);
                assert!((forward + back).abs() < 1e-13, "{case}: {forward:e}, {back:e}");
            }
        }
    }
}

#[test]
fn work_of_steps_of_other_sizes() {
    // steps of sizes that change all the time, some of them backwards: the balance stays as small as the steps are good
    let sizes = [0.02, 0.005, 0.013, -0.01, 0.02, 0.0001, 0.017, -0.004, 0.011];
    for row in &SYSTEMS {
        let problem: Problem<f64> = problem_of(row);
        for method in ["gauss8", "split6", "lobatto8"].map(method) {
            if method.fits(&problem.system).is_err() {
                continue;
            }
            let mut run = Watched::new(&problem, &method, 0.02);
            let (mut t, mut moved) = (problem.t0, 0.0f64);
            for size in sizes.iter().cycle().take(45) {
                run.stepper.step_by(&mut run.state, &t, size).unwrap();
                t += size;
                run.total += run.work.of_step(&run.stepper);
                moved = moved.max(run.total.abs());
            }
            let balance = run.energy_at(&t) - run.initial - run.total;
            assert!(balance.abs() < 1e-9 && moved > 1e-4, "{} with {}: {balance:e}", row.0, method.name);
        }
    }
}

#[test]
fn work_after_a_restart_with_other_parameters() {
    let text = "title = \"d\"\ncoordinates = [\"q\"]\n[parameters]\na = 0.5\nw = 2\nm = 1\n[lagrangian]\n\
                expression = \"m*v_q^2/2 + cos(q) + a*q*sin(w*t)\"\n[initial]\nq = [1]\nv = [0]\n\
                [run]\nmethod = \"gauss8\"\nstep = 0.01\nuntil = 3\n";
    let system = System::from_text("d", &Source::new("d.toml", text), &mut BTreeMap::new()).unwrap();
    let problem: Problem<f64> = system.problem(&Settings::default()).unwrap();
    let others = [("a", 1.5), ("w", 3.0), ("m", 2.0)];
    let parameters = others.map(|(name, x)| (name.to_owned(), Quantity::Number(x))).into_iter().collect();
    let other: Problem<f64> = system.problem(&Settings { parameters, ..Settings::default() }).unwrap();
    for method in METHODS.map(method) {
        let mut fresh = Watched::new(&other, &method, 0.05);
        let mut used = Watched::new(&problem, &method, 0.05);
        let before: Vec<f64> = (0..7).map(|_| used.step()).collect();
        used.state = State::new(&other);
        used.stepper.restart(Some(&other.parameters), &other.v0);
        used.work.assign(&other.parameters);
        for (k, before) in before.into_iter().enumerate() {
            let (found, expected) = (used.step(), fresh.step());
            assert_eq!(found.to_bits(), expected.to_bits(), "{}, step {k}", method.name);
            assert!(found != before, "{}, step {k}", method.name);
        }
    }
}

#[test]
fn work_in_dual_numbers_is_the_derivative_of_work() {
    for row in &SYSTEMS {
        let problem: Problem<f64> = problem_of(row);
        for method in ["midpoint", "simpson", "gauss8", "split6", "rk4", "rk4-velocity"].map(method) {
            if method.fits(&problem.system).is_err() {
                continue;
            }
            let mut dual: Problem<Dual> = problem.convert();
            dual.q0[0].tangent = 1.0;
            let mut run = Watched::new(&dual, &method, Dual::from_f64(0.05));
            let found = (0..5).fold(Dual::from_f64(0.0), |sum, _| sum + run.step());
            let delta = 1e-5;
            let [value, later, earlier] = [0.0, delta, -delta].map(|change| {
                let mut moved = problem.clone();
                moved.q0[0] += change;
                let mut run = Watched::new(&moved, &method, 0.05);
                (0..5).map(|_| run.step()).sum::<f64>()
            });
            let (slope, case) =
                ((later - earlier) / (2.0 * delta), format!("{} with {}", row.0, method.name));
            assert!((found.value - value).abs() < 1e-13, "{case}: {found:?}, {value}");
            assert!((found.tangent - slope).abs() < 1e-8, "{case}: {found:?}, {slope}");
        }
    }
}
