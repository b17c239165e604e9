//! Linear systems: propagators, what they conserve, and for which steps they are stable.
//!
//! The propagators are compared with the general stepper, which knows nothing of M and K, and with what the papers print. Stability
//! limits are compared with their closed forms, and then measured: high powers of Φ on both sides of each.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{method, problem, problem_with};
use leastaction::linear::Square;
use leastaction::method::{Scheme, Tableau, Window};
use leastaction::prelude::*;
use leastaction::scalar::{Digits, Field, Real};
use leastaction::step::{Propagator, closed_forms};

/// 77 digits.
type Number = Digits<4>;

/// Where the first window of `split6` ends: bisection of |C(ωh)| = 1 in another program, with the published digits.
const SPLIT6: f64 = 3.1414310877530025;

const METHODS: [&str; 15] = [
    "midpoint",
    "verlet",
    "simpson",
    "lobatto",
    "lobatto8",
    "lobatto12",
    "lobatto20",
    "gauss4",
    "gauss8",
    "gauss20",
    "split4",
    "split6",
    "split10",
    "rk4",
    "rk4-velocity",
];

/// A repeatable sequence of multiples of 1/64 in (−1, 1), which are exact in every number type.
fn noise(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    ((*seed >> 57) as f64 - 63.5).round() / 64.0
}

/// G Gᵀ + shift: symmetric, and positive if the shift is.
fn random_matrix(n: usize, seed: &mut u64, shift: f64) -> Square<f64> {
    let values: Vec<f64> = (0..n * n).map(|_| noise(seed)).collect();
    let g = Square::from_fn(n, |i, j| values[n * i + j]);
    g.product(&g.transposed()).plus(&shift, &Square::identity(n))
}

fn convert<R: Real>(matrix: &Square<f64>) -> Square<R> {
    Square::from_fn(matrix.size(), |i, j| R::from_f64(matrix[(i, j)]))
}

fn random_matrices() -> (Square<f64>, Square<f64>) {
    let mut seed = 5;
    (random_matrix(5, &mut seed, 1.0), random_matrix(5, &mut seed, 0.5).times(&16.0))
}

/// Five coordinates with full M and K.
fn random_system() -> System {
    let (m, k) = random_matrices();
    System::build("random", "Random linear system")
        .coordinates((1..=5).map(|i| format!("x{i}")), "")
        .start_with_momenta(["1", "0.5", "-1", "0.25", "0"], ["0.5", "-1", "0", "1", "2"])
        .lagrangian(move |q, v, _, _| {
            let form = |a: &Square<f64>, x: &[Expr]| -> Expr {
                (0..5)
                    .flat_map(|i| (0..5).map(move |j| (i, j)))
                    .map(|(i, j)| x[i] * x[j] * (0.5 * a[(i, j)]))
                    .sum()
            };
            form(&m, v) - form(&k, q)
        })
        .unwrap()
}

fn linear_systems() -> Vec<System> {
    let named = |name| catalogue::system(name).unwrap();
    vec![named("harmonic-oscillator"), named("linear-double-pendulum"), random_system()]
}

fn distance<R: Real>(a: &[R], b: &[R]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x.clone() - y.clone()).magnitude()).fold(0.0, f64::max)
}

fn assert_alike<R: Real>(what: &str, found: &Square<R>, expected: &Square<R>, tolerance: f64) {
    let difference = found.plus(&R::from_f64(-1.0), expected).largest() / expected.largest();
    assert!(difference < tolerance, "{what}: {difference:e}");
}

/// The largest differences of q and of p between propagator and stepper over some steps, relative to their largest values.
fn disagreement<R: Real>(system: &System, method: &Method, steps: usize) -> f64 {
    let problem: Problem<R> = system.problem(&Settings::default()).unwrap();
    let h = R::from_f64(0.0625);
    let mut stepper = Stepper::new(&problem, method, h.clone());
    let mut propagator = Propagator::new(&problem, method, &h).unwrap();
    let (mut expected, mut state) = (State::new(&problem), State::new(&problem));
    let zeros = vec![R::zero(); system.n()];
    let (mut error, mut size) = ([0.0f64; 2], [0.0f64; 2]);
    for _ in 0..steps {
        stepper.step(&mut expected).unwrap();
        propagator.step(&mut state);
        for (i, (found, expected)) in
            [(&state.q, &expected.q), (&state.p, &expected.p)].into_iter().enumerate()
        {
            error[i] = error[i].max(distance(found, expected));
            size[i] = size[i].max(distance(expected, &zeros));
        }
    }
    assert_eq!(state.steps, expected.steps);
    (error[0] / size[0]).max(error[1] / size[1])
}

#[test]
fn propagators_agree_with_the_general_stepper() {
    for system in linear_systems() {
        for name in METHODS {
            let rounding = disagreement::<f64>(&system, &method(name), 200);
            println!("{} {name}: {rounding:.1e}", system.name);
            assert!(rounding < 1e-13, "{} {name}: {rounding:e}", system.name);
            let digits = disagreement::<Number>(&system, &method(name), 4);
            assert!(digits < 1e-70, "{} {name}: {digits:e}", system.name);
        }
    }
}

#[test]
fn a_step_that_grows_where_forces_depend_on_velocities_is_warned_of() {
    let warnings = |method: &str, step: f64| {
        let run = Run {
            method: Some(method.to_owned()),
            step: Some(step.into()),
            until: Some((10.0 * step).into()),
            ..Run::of("charged-particle")
        };
        run.plan().unwrap().warnings()
    };
    // |R(iωh)| > 1 for ωh beyond 2√2, and ω = 2π here
    let found = warnings("rk4", 0.5);
    assert!(found.len() == 1 && found[0].contains("every step of `rk4` multiplies it by 2.0"), "{found:?}");
    assert!(warnings("rk4", 2.0 * 2f64.sqrt() / (2.0 * std::f64::consts::PI) * 1.01).len() == 1);
    assert!(warnings("rk4", 2.0 * 2f64.sqrt() / (2.0 * std::f64::consts::PI) * 0.99).is_empty());
    for method in ["verlet", "simpson", "lobatto", "gauss4"] {
        assert!(warnings(method, 0.5).is_empty(), "{method}");
    }
}

#[test]
fn parameters_can_make_a_system_linear() {
    let chain = problem_with("fput", &[("n", 5.0), ("alpha", 0.0), ("beta", 0.0)], None);
    let stiffness = chain.quadratic().unwrap().stiffness();
    for i in 0..5 {
        for j in 0..5 {
            let expected = [2.0, -1.0, 0.0, 0.0, 0.0][usize::abs_diff(i, j)];
            assert_eq!(stiffness[(i, j)], expected, "{i} {j}");
        }
    }
    assert!(problem_with("fput", &[("n", 5.0)], None).quadratic().is_err());
    assert!(
        Propagator::from_matrices(&Square::<f64>::zero(0), &Square::zero(0), &method("simpson"), &0.1)
            .is_err()
    );
}

#[test]
fn matrices_are_read_off_the_graph() {
    let quadratic = random_system().problem::<f64>(&Settings::default()).unwrap().quadratic().unwrap();
    let (m, k) = random_matrices();
    assert_alike("M", &quadratic.mass(), &m, 1e-15);
    assert_alike("K", &quadratic.stiffness(), &k, 1e-15);
    for (system, reason) in [
        ("pendulum", "its forces are not linear"),
        ("double-pendulum", "its mass matrix L_vv is not constant"),
        ("charged-particle", "couples coordinates and velocities"),
    ] {
        let message = problem(system).quadratic().expect_err(system).to_string();
        assert!(message.contains(reason) && message.contains("try another system"), "{message}");
    }
    let falling = System::build("falling", "Falling")
        .coordinate("z", "m")
        .start_at_rest(["0"])
        .lagrangian(|q, v, _, _| v[0].squared() * 0.5 - q[0] * 9.81)
        .unwrap();
    let message = falling.problem::<f64>(&Settings::default()).unwrap().quadratic().unwrap_err().to_string();
    assert!(message.contains("`z` feels a constant force"), "{message}");
}

/// α and β of the end matrix, by eliminating the inner nodes of A − xB made from the method's tableau.
fn condensed(tableau: &Tableau<Number>, x: Number) -> (Number, Number) {
    let s = tableau.degree;
    let entry = |k: usize, l: usize| {
        let mut sum = Number::zero();
        for (i, b) in tableau.b.iter().enumerate() {
            sum.add_mul(b, &(tableau.slope[i][k] * tableau.slope[i][l]));
            sum.sub_mul(&(x * *b), &(tableau.phi[i][k] * tableau.phi[i][l]));
        }
        sum
    };
    if s == 1 {
        return (entry(0, 0), entry(0, 1));
    }
    let inner = Square::from_fn(s - 1, |k, l| entry(k + 1, l + 1));
    // the columns of both ends, in a matrix with room for them; s = 2 has one inner node only
    let ends =
        |end: usize| Square::from_fn(s - 1, |k, l| if l == 0 { entry(k + 1, end) } else { Number::zero() });
    let reduced = |from: usize, to: usize| {
        let solved = inner.solve(&ends(to)).unwrap();
        (0..s - 1).fold(entry(from, to), |sum, k| sum - entry(from, k + 1) * solved[(k, 0)])
    };
    (reduced(0, 0), reduced(0, s))
}

#[test]
fn stability_functions_are_those_of_the_tableaus() {
    for method in Method::all() {
        let Scheme::Galerkin(galerkin) = method.scheme else { continue };
        for x in [0.001, 2.5, 70.0] {
            let x = Number::from_f64(x);
            let (alpha, beta) = condensed(&Tableau::new(&galerkin), x);
            let (f, g) = method.forces(&x).unwrap().unwrap();
            for (found, expected) in [(f, alpha - beta), (g, -(alpha + beta))] {
                let error = ((found - expected) / expected).magnitude();
                assert!(error < 1e-60, "{} at {}: {error:e}", method.name, x.to_f64());
            }
        }
    }
}

#[test]
fn closed_forms_of_the_oscillator_agree() {
    let number = |text: &str| Number::from_decimal(text);
    let (m, omega) = (number("1.7"), number("2.3"));
    let [mass, stiffness] = [m, m * omega * omega].map(|x| Square::from_fn(1, |_, _| x));
    // ωh = 0.23, 3.45, 9.2: in and out of the stable windows
    for h in ["0.1", "1.5", "4"].map(number) {
        for (name, form) in [
            ("midpoint", closed_forms::oscillator_newmark(&m, &omega, &h)),
            ("simpson", closed_forms::oscillator_simpson(&m, &omega, &h)),
            ("lobatto", closed_forms::oscillator_lobatto(&m, &omega, &h)),
        ] {
            let propagator = Propagator::from_matrices(&mass, &stiffness, &method(name), &h).unwrap();
            assert_alike(name, &propagator.matrix(), &form, 1e-70);
        }
    }
}

#[test]
fn closed_forms_of_many_coordinates_agree() {
    let (m, k) = random_matrices();
    let (m, k): (Square<Number>, Square<Number>) = (convert(&m), convert(&k));
    for h in ["0.01", "0.3"].map(Number::from_decimal) {
        let newmark = closed_forms::newmark_blocks(&m, &k, &h);
        let simpson = closed_forms::simpson_blocks(&m, &k, &h).unwrap();
        for (name, blocks) in [("midpoint", newmark), ("simpson", simpson)] {
            let propagator = Propagator::from_matrices(&m, &k, &method(name), &h).unwrap();
            let [x, y] = propagator.blocks().unwrap();
            assert_alike("X", &x, &blocks[0], 1e-70);
            assert_alike("Y", &y, &blocks[1], 1e-70);
            let phi = closed_forms::from_blocks(&blocks[0], &blocks[1]).unwrap();
            assert_alike(name, &propagator.matrix(), &phi, 1e-70);
        }
    }
}

#[test]
fn simpson_with_its_midpoint_is_the_same_scheme() {
    let system = random_system();
    let problem: Problem<Number> = system.problem(&Settings::default()).unwrap();
    let quadratic = problem.quadratic().unwrap();
    let h = Number::from_decimal("0.2");
    let (midpoint, phi) =
        closed_forms::simpson_with_midpoint(&quadratic.mass(), &quadratic.stiffness(), &h).unwrap();
    let propagator = Propagator::new(&problem, &method("simpson"), &h).unwrap();
    assert_alike("Φ", &propagator.matrix(), &phi, 1e-70);
    // the midpoint of the stepper's polynomial
    let mut stepper = Stepper::new(&problem, &method("simpson"), h);
    stepper.step(&mut State::new(&problem)).unwrap();
    let weights = stepper.weights(&Number::from_f64(0.5)).unwrap();
    let (mut q, mut v) = (problem.q0.clone(), problem.q0.clone());
    stepper.within(&weights, &mut q, &mut v);
    let start: Vec<Number> = problem.q0.iter().chain(&problem.p0).copied().collect();
    let row = |row: &Vec<Number>| row.iter().zip(&start).fold(Number::zero(), |sum, (a, b)| sum + *a * *b);
    let expected: Vec<Number> = midpoint.iter().map(row).collect();
    assert!(distance(&q, &expected) < 1e-70);
}

#[test]
fn propagators_are_symplectic_and_rk4_is_not() {
    let problem: Problem<Number> = random_system().problem(&Settings::default()).unwrap();
    for name in METHODS {
        let propagator = Propagator::new(&problem, &method(name), &Number::from_f64(0.125)).unwrap();
        let defect = propagator.symplecticity_defect();
        if method(name).is_variational() {
            assert!(defect < 1e-70, "{name}: {defect:e}");
        } else {
            assert!(defect > 1e-6, "{name}: {defect:e}");
            let message = propagator.quadratic_form().unwrap_err().to_string();
            assert!(message.contains("is not variational"), "{message}");
        }
    }
}

#[test]
fn quadratic_forms_are_conserved() {
    for system in linear_systems() {
        let problem: Problem<f64> = system.problem(&Settings::default()).unwrap();
        for name in METHODS.into_iter().filter(|name| method(name).is_variational()) {
            let mut propagator = Propagator::new(&problem, &method(name), &0.05).unwrap();
            let forms = [propagator.quadratic_form().unwrap(), propagator.discrete_energy().unwrap()];
            let initial = forms.clone().map(|form| form.at(&problem.q0, &problem.p0));
            let mut state = State::new(&problem);
            for _ in 0..2000 {
                propagator.step(&mut state);
                for (form, initial) in forms.iter().zip(initial) {
                    let error = (form.at(&state.q, &state.p) / initial - 1.0).abs();
                    assert!(error < 2e-13, "{} {name}, step {}: {error:e}", system.name, state.steps);
                }
            }
        }
    }
}

#[test]
fn conserved_forms_are_those_of_the_papers() {
    let one = |x: Number| Square::from_fn(1, |_, _| x);
    let (m, omega, h) =
        (Number::from_decimal("1.7"), Number::from_decimal("2.3"), Number::from_decimal("0.4"));
    let (two, x) = (Number::from_f64(2.0), omega * omega * h * h);
    let of =
        |name: &str| Propagator::from_matrices(&one(m), &one(m * omega * omega), &method(name), &h).unwrap();
    // the energy itself for midpoint (003, eq. 12); 003, eq. 28 for Simpson
    let factor = |denominator: f64| Number::one() - x / Number::from_f64(denominator);
    let simpson = factor(12.0) * factor(24.0) / factor(8.0);
    for (name, expected) in [("midpoint", Number::one()), ("simpson", simpson)] {
        let energy = of(name).discrete_energy().unwrap();
        assert_alike(name, &energy.momenta, &one(Number::one() / m), 1e-70);
        assert_alike(name, &energy.coordinates, &one(m * omega * omega * expected), 1e-70);
    }
    // 004, eq. 18: c/δ and −b/δ, entries of Φ, are twice ξ and ζ
    let phi = closed_forms::oscillator_lobatto(&m, &omega, &h);
    let form = of("lobatto").quadratic_form().unwrap();
    assert_alike("c/δ", &form.momenta.times(&two), &one(phi[(0, 1)]), 1e-70);
    assert_alike("−b/δ", &form.coordinates.times(&two), &one(-phi[(1, 0)]), 1e-70);
    // 001, Prop. 7: ξ⁻¹ = X + Y and ζ⁻¹ = X⁻¹ + Y⁻¹
    let (mass, stiffness) = random_matrices();
    let propagator =
        Propagator::from_matrices(&convert(&mass), &convert(&stiffness), &method("lobatto8"), &h).unwrap();
    let [x, y] = propagator.blocks().unwrap();
    let form = propagator.quadratic_form().unwrap();
    let unit = Square::<Number>::identity(5);
    let inverse = |a: &Square<Number>| a.solve(&unit).unwrap();
    assert_alike("ξ⁻¹", &inverse(&form.momenta), &x.plus(&Number::one(), &y), 1e-68);
    assert_alike("ζ⁻¹", &inverse(&form.coordinates), &inverse(&x).plus(&Number::one(), &inverse(&y)), 1e-68);
}

#[test]
fn windows_have_their_closed_forms() {
    let root = 29f64.sqrt();
    for (name, ends) in [
        ("verlet", vec![0.0, 4.0]),
        ("simpson", vec![0.0, 8.0, 12.0, 24.0]),
        ("lobatto", vec![0.0, 42.0 - 6.0 * root, 10.0, 30.0, 60.0, 42.0 + 6.0 * root]),
        ("rk4", vec![0.0, 8.0]),
        ("rk4-velocity", vec![0.0, 8.0]),
    ] {
        let windows = method(name).stable_windows().unwrap();
        let found: Vec<f64> = windows.iter().flat_map(|w| [w.from, w.to]).collect();
        assert_eq!(found.len(), ends.len(), "{name}: {windows:?}");
        for (found, expected) in found.iter().zip(&ends) {
            assert!(
                (found - expected.sqrt()).abs() <= 1e-15 * expected.max(1.0),
                "{name}: {found} {expected}"
            );
        }
    }
    for name in (2..=40).step_by(2).map(|order| format!("gauss{order}")) {
        let windows = method(&name).stable_windows().unwrap();
        assert_eq!(windows, [Window { from: 0.0, to: f64::INFINITY }], "{name}");
    }
    // the first window of Lobatto methods approaches π from below; s windows for degree s
    for order in (2..=40).step_by(2) {
        let name = format!("lobatto{order}");
        let windows = method(&name).stable_windows().unwrap();
        assert_eq!(windows.len(), order / 2, "{name}");
        assert!(windows[0].to <= std::f64::consts::PI && windows[order / 2 - 1].to.is_finite(), "{name}");
    }
}

/// The largest entry of Φ^(2^40) for one oscillation of frequency 1.
fn power(method: &Method, h: f64) -> f64 {
    let one = Square::from_fn(1, |_, _| Number::one());
    let mut phi = Propagator::from_matrices(&one, &one, method, &Number::from_f64(h)).unwrap().matrix();
    for _ in 0..40 {
        phi = phi.product(&phi);
        if !phi.largest().is_finite() || phi.largest() > 1e100 {
            return f64::INFINITY;
        }
    }
    phi.largest()
}

#[test]
fn powers_grow_outside_the_windows_and_not_inside() {
    for name in
        ["verlet", "simpson", "lobatto", "lobatto8", "lobatto12", "split4", "split6", "rk4", "rk4-velocity"]
    {
        let method = method(name);
        let windows = method.stable_windows().unwrap();
        let starts =
            windows.iter().skip(1).map(|window| window.from).chain([2.0 * windows[windows.len() - 1].to]);
        for (window, next) in windows.iter().zip(starts) {
            let (inside, outside) = (1e-3 * (window.to - window.from), 1e-3 * (next - window.to));
            for h in [window.from + inside, window.to - inside] {
                // large where a window is narrow
                assert!(power(&method, h) < 1e8, "{name} at ωh = {h}: {:e}", power(&method, h));
            }
            for h in [window.to + outside, next - outside] {
                assert!(power(&method, h) > 1e10, "{name} at ωh = {h}: {:e}", power(&method, h));
            }
        }
    }
    for name in ["midpoint", "gauss4", "gauss8", "gauss20"] {
        for h in [0.1, 3.0, 3.5, 6.2, 6.4, 10.0, 100.0, 1e4] {
            let size = power(&method(name), h);
            assert!(size < 1e7, "{name} at ωh = {h}: {size:e}");
        }
    }
}

fn plan(system: &System, name: &str, step: f64) -> leastaction::simulate::Plan {
    let run = Run {
        method: Some(name.to_owned()),
        step: Some(step.into()),
        until: Some(100.0.into()),
        ..Run::default()
    };
    run.plan_for(system).unwrap()
}

/// n masses 1 and springs 1 between walls: ω_j = 2 sin(jπ/(2n + 2)).
fn chain(n: usize, springs: f64) -> System {
    System::build("chain", "Chain")
        .coordinates((1..=n).map(|i| format!("x{i}")), "")
        .start_at_rest((1..=n).map(|i| if i == 1 { 1.0 } else { 0.0 }))
        .lagrangian(move |q, v, _, _| {
            let kinetic: Expr = v.iter().map(|v| v.squared() * 0.5).sum();
            let walls = q[0].squared() + q[n - 1].squared();
            let between: Expr = q.windows(2).map(|pair| (pair[1] - pair[0]).squared()).sum();
            kinetic - (walls + between) * (0.5 * springs)
        })
        .unwrap()
}

#[test]
fn unstable_steps_are_warned_of_before_the_run() {
    let chain = chain(30, 1.0);
    let fastest = 2.0 * (30.0 * std::f64::consts::PI / 62.0).sin();
    for (name, limit) in [
        ("verlet", 2.0),
        ("simpson", 8f64.sqrt()),
        ("lobatto", 3.112717648),
        ("split6", SPLIT6),
        ("rk4", 8f64.sqrt()),
    ] {
        let step = limit / fastest;
        assert!(plan(&chain, name, step * 0.9999).warnings().is_empty(), "{name}");
        let warnings = plan(&chain, name, step * 1.0001).warnings();
        let [warning] = warnings.as_slice() else { panic!("{name}: {warnings:?}") };
        assert!(
            warning.contains(&format!("`{name}` is stable for omega*h from 0 to {limit:.6}")),
            "{warning}"
        );
        assert!(
            warning.contains("of 30 modes") && warning.contains(&format!("omega = {fastest:.5}")),
            "{warning}"
        );
    }
    assert!(plan(&chain, "gauss8", 50.0).warnings().is_empty());
}

#[test]
fn every_mode_counts_not_only_the_fastest() {
    // ω = 1 and 1.5: with Simpson and a step of 3 the fast mode is in the second window, the slow one between the two
    let system = |fast: f64| {
        System::build("two", "Two oscillators")
            .coordinates(["a".to_owned(), "b".to_owned()], "")
            .start_at_rest(["1", "1"])
            .lagrangian(move |q, v, _, _| {
                (v[0].squared() + v[1].squared() - q[0].squared() - (q[1] * fast).squared()) * 0.5
            })
            .unwrap()
    };
    let warnings = plan(&system(1.5), "simpson", 3.0).warnings();
    assert!(
        warnings[0].contains("one of 2 modes is unstable and oscillates with omega = 1, so omega*h = 3,"),
        "{warnings:?}"
    );
    // the step that is safe for all is that of the fast one: 2√2/1.5 = 1.8856
    assert!(warnings[0].contains("try a step below 1.885,"), "{warnings:?}");
    // both inside: ωh = 2.5 and 3.75
    assert!(plan(&system(1.5), "simpson", 2.5).warnings().is_empty());
}

#[test]
fn what_grows_by_itself_is_not_the_step_s_fault() {
    // springs that push, and a nonlinear system
    assert!(plan(&chain(5, -1.0), "verlet", 10.0).warnings().is_empty());
    assert!(plan(&catalogue::system("pendulum").unwrap(), "verlet", 10.0).warnings().is_empty());
}

#[test]
fn a_long_chain_is_checked_in_no_time() {
    let mut plan = plan(&chain(10_000, 1.0), "verlet", 0.99);
    let start = std::time::Instant::now();
    assert!(plan.warnings().is_empty());
    println!("10,000 modes checked in {:?}", start.elapsed());
    plan.step = 1.01;
    let start = std::time::Instant::now();
    assert_eq!(plan.warnings().len(), 1);
    println!("and warned of in {:?}", start.elapsed());
}
