//! The balance of the energy where time occurs in L: E(t) − E(0) − ΣW, with the work W of each step by the quadrature of the method.
//!
//! For many systems and methods: it falls with the order of the method, W agrees with the integral of −L_t along a fine reference, and W is the same
//! in all number types and by all solvers of a step. Where time does not occur, W is zero.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

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

/// Name, coordinates, Lagrangian, q, v, the time of the start.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str, f64);

const SYSTEMS: [Row; 30] = [
    ("driven pendulum", "q", "v_q^2/2 + cos(q) + 0.8*q*sin(1.7*t)", "1", "0.3", 0.0),
    ("Mathieu", "x", "v_x^2/2 - (1 + 0.6*cos(2*t))*x^2/2", "1", "0.2", 0.0),
    ("damped oscillator", "x", "exp(0.4*t)*(v_x^2 - 4*x^2)/2", "1", "0.5", 0.0),
    ("growing mass", "x", "(1 + 0.3*t^2)*v_x^2/2 - cosh(x)", "0.8", "-0.4", 0.2),
    ("burning rocket", "x", "(2 - tanh(t))*v_x^2/2 - (2 - tanh(t))*9.81*x", "0", "7", 0.0),
    ("wire that turns faster", "r", "(v_r^2 + r^2*(0.7 + 0.5*t)^2)/2 - 3*(r - 1)^2/2", "1.1", "0", 0.0),
    ("tilted wire", "r", "(v_r^2 + (r*sin(0.6)*(1 + 0.4*sin(t)))^2)/2 - 2*r*cos(0.6)", "1", "0.5", 0.0),
    ("pivot up and down", "q", "v_q^2/2 + 0.3*3*sin(3*t)*v_q*sin(q) + 4*cos(q)", "1.5", "0.1", 0.0),
    ("pivot to and fro", "q", "v_q^2/2 + 0.4*cos(3*t)*v_q*cos(q) + (4 + 0.3*cos(t))*cos(q)", "1", "0.5", 0.7),
    ("switched force", "x", "v_x^2/2 - x^4/4 + 0.9*x*tanh(2*(t - 0.8))", "0.7", "0.2", 0.0),
    ("sweep", "x", "v_x^2/2 - x^2 - x^4/5 + 0.5*x*cos(t + 0.6*t^2)", "0.5", "0.4", 0.0),
    ("pulse", "x", "v_x^2/2 + cos(x) + 2*x*exp(-4*(t - 0.9)^2)", "0.4", "0", 0.0),
    ("two tones", "x", "v_x^2/2 - x^2/2 - x^4/4 + x*(0.3*cos(2*t) + 0.2*sin(3.1*t))", "0.3", "0.6", 0.0),
    (
        "double pendulum, driven",
        "a, b",
        "v_a^2 + v_b^2/2 + v_a*v_b*cos(a - b) + 5*(2*cos(a) + cos(b)) + 0.7*a*sin(2*t)",
        "0.9, 0.4",
        "0.1, -0.3",
        0.0,
    ),
    (
        "double pendulum, shaken",
        "a, b",
        "v_a^2 + v_b^2/2 + v_a*v_b*cos(a - b) + (4 + cos(3*t))*(2*cos(a) + cos(b))",
        "0.9, 0.4",
        "0.1, -0.3",
        0.3,
    ),
    (
        "spring pendulum, driven",
        "r, q",
        "(v_r^2 + r^2*v_q^2)/2 + 3*r*cos(q) - 10*(r - 1)^2 + 0.4*r*sin(2*t)",
        "1.2, 0.8",
        "0, 0.5",
        0.0,
    ),
    ("lengthened pendulum", "q", "(1 + 0.3*t)^2*v_q^2/2 + 4*(1 + 0.3*t)*cos(q)", "1.2", "0", 0.0),
    (
        "breathing Kepler",
        "x, y",
        "(v_x^2 + v_y^2)/2 + (1 + 0.2*sin(t))/sqrt(x^2 + y^2)",
        "1, 0.1",
        "0, 0.9",
        0.0,
    ),
    ("polar Kepler", "r, phi", "(v_r^2 + r^2*v_phi^2)/2 + (1 + 0.2*sin(2*t))/r", "1, 0", "0.1, 0.9", 0.0),
    (
        "growing field",
        "x, y",
        "(v_x^2 + v_y^2)/2 + (1 + 0.5*t)*(x*v_y - y*v_x)/2 - (x^2 + y^2)/2",
        "1, 0.2",
        "0.1, -0.6",
        0.0,
    ),
    (
        "wave on a charge",
        "x, y",
        "(v_x^2 + v_y^2)/2 + 0.7*x*v_y + 0.4*cos(2*x - 1.5*t) - y^2/2",
        "0.3, 0.1",
        "0.5, 0.2",
        0.0,
    ),
    ("travelling potential", "x", "v_x^2/2 + cos(x - 0.8*t)", "0.5", "0.1", 0.0),
    (
        "chain, one end shaken",
        "x, y, z",
        "(v_x^2 + v_y^2 + v_z^2)/2 - ((x - 0.3*sin(2*t))^2 + (y - x)^2 + (z - y)^2 + z^2)/2 - (y - x)^4/4",
        "0.2, -0.4, 0.3",
        "0, 0.2, 0.1",
        0.0,
    ),
    (
        "full mass matrix",
        "x, y",
        "v_x^2 + v_x*v_y + 1.5*v_y^2 + 0.7*v_y - (x - y)^4 - cos(x)*sin(2*t) - y^2",
        "1, -0.4",
        "0.5, 0.2",
        0.7,
    ),
    ("relativistic, driven", "x", "-sqrt(1 - v_x^2) - x^2/2 + 0.3*x*cos(2*t)", "0.4", "0.3", 0.0),
    (
        "top on a lift",
        "theta, phi, psi",
        "(v_theta^2 + v_phi^2*sin(theta)^2 + 0.5*(v_psi + v_phi*cos(theta))^2)/2 - (2 + 0.5*sin(2*t))*cos(theta)",
        "0.8, 0, 0",
        "0.1, 0.7, 3",
        0.0,
    ),
    (
        "two masses, one melts",
        "x, y",
        "(2 - 0.5*tanh(t))*v_x^2/2 + v_y^2/2 - (x - y)^2 - (x - y)^4/4",
        "0.5, -0.3",
        "0.2, 0",
        0.0,
    ),
    (
        "turning saddle",
        "x, y",
        "(v_x^2 + v_y^2)/2 - ((x^2 - y^2)*cos(3*t) + 2*x*y*sin(3*t))/2",
        "0.4, 0.1",
        "-0.1, 0.2",
        0.0,
    ),
    ("moving wall", "x", "v_x^2/2 - 0.1/(2 + 0.3*sin(t) - x)^2 - 0.1/x^2", "1", "0.4", 0.0),
    ("bead, loop spun up", "q", "(v_q^2 + (0.5 + t)^2*sin(q)^2)/2 + 3*cos(q)", "0.7", "0.2", 0.0),
];

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

fn system((name, coordinates, lagrangian, q, v, t): &Row) -> System {
    let names: Vec<String> = coordinates.split(", ").map(|name| format!("\"{name}\"")).collect();
    let text = format!(
        "title = \"{name}\"\ncoordinates = [{}]\n[parameters]\nunused = 1\n[lagrangian]\nexpression = \"{lagrangian}\"\n\
         [initial]\nq = [{q}]\nv = [{v}]\nt = {t}\n[run]\nmethod = \"gauss8\"\nstep = 0.01\nuntil = 3\n",
        names.join(", ")
    );
    System::from_text(name, &Source::new(format!("{name}.toml"), &text), &mut BTreeMap::new()).expect(name)
}

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
