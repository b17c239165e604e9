//! What the book's chapter on the five papers says of their formulas, one test for each item of its list of errata.
//!
//! The truth is never a formula of a paper: it is the discrete Lagrangian L_d = h Σ b_i L(q_i, v_i), written once below from
//! the tableau of a method, and its derivatives by differences in 77 digits, of which more than 30 are good. A formula counts as right if
//! it agrees with that to the last digits of 64 bits, as wrong if it is off by more than a thousandth. Runs use the stepper.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

mod p000;
mod p000_runs;
mod p001;
mod p002;
mod p003;
mod p004;

use leastaction::analysis::structure::tangent_map;
use leastaction::method::{Method, Scheme, Tableau};
use leastaction::prelude::*;
use leastaction::scalar::{Digits, Field, Real};

type Number = Digits<4>;

fn numbers(x: &[f64]) -> Vec<Number> {
    x.iter().map(|x| Number::from_f64(*x)).collect()
}

/// ∂f/∂x_i by a central difference with a step of 1e-20. Its error is that step squared; it can be nested.
fn derivative(f: &dyn Fn(&[Number]) -> Number, x: &[Number], i: usize) -> Number {
    let step = Number::from_decimal("1e-20");
    let (mut ahead, mut behind) = (x.to_vec(), x.to_vec());
    ahead[i] = x[i] + step;
    behind[i] = x[i] - step;
    (f(&ahead) - f(&behind)) / (step + step)
}

/// Gradient of a function at a point of 64-bit numbers.
fn gradient(f: &dyn Fn(&[Number]) -> Number, x: &[f64]) -> Vec<f64> {
    let x = numbers(x);
    (0..x.len()).map(|i| derivative(f, &x, i).to_f64()).collect()
}

/// Second derivatives of a function at a point of 64-bit numbers.
fn hessian(f: &dyn Fn(&[Number]) -> Number, x: &[f64]) -> Vec<Vec<f64>> {
    let x = numbers(x);
    let entry = |i: usize, j: usize| derivative(&|x| derivative(f, x, j), &x, i).to_f64();
    (0..x.len()).map(|i| (0..x.len()).map(|j| entry(i, j)).collect()).collect()
}

/// A Lagrangian L(q, v).
type Lagrangian<'a> = &'a dyn Fn(&[Number], &[Number]) -> Number;

/// L_d = h Σ_i b_i L(q_i, v_i) with q_i = Σ_k φ_k(d_i) Q_k and v_i = (1/h) Σ_k φ'_k(d_i) Q_k, as a function of Q_0 … Q_s one
/// after the other, each with n coordinates.
fn discrete_lagrangian<'a>(
    method: &str,
    h: f64,
    n: usize,
    lagrangian: Lagrangian<'a>,
) -> impl Fn(&[Number]) -> Number + 'a {
    let Scheme::Galerkin(galerkin) = Method::named(method).unwrap().scheme else { panic!("{method}") };
    let tableau = Tableau::<Number>::new(&galerkin);
    let h = Number::from_f64(h);
    move |nodes: &[Number]| {
        let at = |weights: &[Number], a: usize| {
            weights.iter().enumerate().fold(Number::zero(), |sum, (k, w)| sum + *w * nodes[k * n + a])
        };
        let action = tableau.b.iter().enumerate().map(|(i, b)| {
            let q: Vec<Number> = (0..n).map(|a| at(&tableau.phi[i], a)).collect();
            let v: Vec<Number> = (0..n).map(|a| at(&tableau.slope[i], a) / h).collect();
            *b * lagrangian(&q, &v)
        });
        h * action.fold(Number::zero(), |sum, x| sum + x)
    }
}

/// The largest difference, relative to the largest number (at least 1).
fn defect(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = a.iter().fold(1.0f64, |size, x| size.max(x.abs()));
    a.iter().zip(b).fold(0.0f64, |worst, (a, b)| worst.max((a - b).abs())) / size
}

/// The formula holds as printed.
fn right(what: &str, truth: &[f64], printed: &[f64]) {
    let defect = defect(truth, printed);
    assert!(defect < 1e-13, "{what}: off by {defect:e}");
}

/// The printed formula does not hold.
fn wrong(what: &str, truth: &[f64], printed: &[f64]) {
    let defect = defect(truth, printed);
    assert!(defect > 1e-3, "{what}: the printed formula is off by {defect:e} only");
}

/// The corrected formula holds, the printed one does not.
fn erratum(what: &str, truth: &[f64], corrected: &[f64], printed: &[f64]) {
    right(what, truth, corrected);
    wrong(what, truth, printed);
}

/// Asserts that a number agrees with one given with so many digits as it is written with here.
fn about(what: &str, found: f64, expected: f64) {
    common::assert_close(what, found, expected, 6e-4, 0.0);
}

/// The step of an oscillator with m and ω as a matrix on (p, q), as papers 003 and 004 order it, from the stepper.
fn oscillator_map(method: &str, m: f64, omega: f64, h: f64) -> [[f64; 2]; 2] {
    let problem = common::problem_with("harmonic-oscillator", &[("m", m), ("omega", omega)], None);
    let map = tangent_map(&problem, &common::method(method), h, &State::new(&problem)).unwrap();
    [[map[1][1], map[1][0]], [map[0][1], map[0][0]]]
}

/// Ends of the intervals of x in (0, end) where the step of the oscillator with (ωh)² = x is stable: |trace| < 2.
fn stable_intervals(trace: impl Fn(f64) -> f64, end: f64) -> Vec<f64> {
    let stable = |x: f64| trace(x).abs() < 2.0;
    let mut ends = Vec::new();
    let steps = 10_000;
    let x = |i: i32| end * f64::from(i) / f64::from(steps) + 1e-7;
    for i in 0..steps {
        let (mut a, mut b) = (x(i), x(i + 1));
        if stable(a) != stable(b) {
            // bisection
            for _ in 0..60 {
                let middle = 0.5 * (a + b);
                if stable(middle) == stable(a) { a = middle } else { b = middle }
            }
            ends.push(a);
        }
    }
    ends
}

/// The pattern of all methods on an oscillator, p0 + p1 = X (q1 − q0) and p1 − p0 = −Y (q0 + q1), with m = ω = 1 and x = h².
fn pattern(method: &str, x: f64) -> [f64; 2] {
    let h = x.sqrt();
    match method {
        "midpoint" => [2.0 / h, h / 2.0],
        "simpson" => [2.0 / h * (1.0 - x / 12.0), h / 2.0 * (1.0 - x / 24.0) / (1.0 - x / 8.0)],
        "lobatto" => [
            2.0 / h * (1.0 - 7.0 * x / 60.0 + x * x / 720.0) / (1.0 - x / 30.0),
            h / 2.0 * (1.0 - x / 60.0) / (1.0 - x / 10.0),
        ],
        _ => panic!("{method}"),
    }
}

#[test]
fn all_methods_have_the_same_pattern_on_an_oscillator() {
    for method in ["midpoint", "simpson", "lobatto"] {
        for h in [0.1f64, 0.7, 1.5, 2.5] {
            let [x, y] = pattern(method, h * h);
            let [[a, b], [c, d]] = oscillator_map(method, 1.0, 1.0, h);
            // for p0 = 1, q0 = 0, then for p0 = 0, q0 = 1
            right(method, &[1.0 + a, a - 1.0], &[x * c, -y * c]);
            right(method, &[b, b], &[x * (d - 1.0), -y * (1.0 + d)]);
            right("cosine of the angle of a step", &[d], &[(x - y) / (x + y)]);
        }
        // cot and tan of half the angle, to the order of the method
        for h in [0.2f64, 0.1] {
            let order = Method::named(method).unwrap().order;
            let [x, y] = pattern(method, h * h);
            let size = h.powi(order as i32);
            assert!((x * (h / 2.0).tan() - 1.0).abs() < size, "{method}: X");
            assert!((y / (h / 2.0).tan() - 1.0).abs() < size, "{method}: Y");
        }
    }
}

#[test]
fn stable_where_the_product_of_x_and_y_is_positive() {
    let root = 6.0 * 29.0f64.sqrt();
    let windows: [(&str, &[f64], f64); 3] = [
        ("midpoint", &[], 1000.0),
        ("simpson", &[8.0, 12.0, 24.0], 100.0),
        ("lobatto", &[42.0 - root, 10.0, 30.0, 60.0, 42.0 + root], 100.0),
    ];
    for (method, expected, end) in windows {
        let trace = |x: f64| {
            let [x, y] = pattern(method, x);
            2.0 * (x - y) / (x + y)
        };
        let ends = stable_intervals(trace, end);
        assert_eq!(ends.len(), expected.len(), "{method}: {ends:?}");
        for (found, expected) in ends.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{method}: {found} {expected}");
        }
        // the stepper agrees in the middle of each interval
        let all: Vec<f64> = [0.0].iter().chain(expected).chain([&end]).copied().collect();
        for (i, pair) in all.windows(2).enumerate() {
            let x = 0.5 * (pair[0] + pair[1]);
            let [[a, _], [_, d]] = oscillator_map(method, 1.0, 1.0, x.sqrt());
            assert_eq!((a + d).abs() < 2.0, i % 2 == 0, "{method}: (ωh)² = {x}, trace {}", a + d);
        }
    }
}

/// Names of the test functions in a file of this folder.
fn test_names(source: &str) -> Vec<&str> {
    let functions = source.split("#[test]\nfn ").skip(1);
    functions.filter_map(|rest| rest.split_once('(')).map(|(name, _)| name).collect()
}

#[test]
fn the_errata_of_the_book_name_every_test_and_no_other() {
    let page = include_str!("../../../../book/src/errata.md");
    let sources = [
        include_str!("main.rs"),
        include_str!("p000.rs"),
        include_str!("p000_runs.rs"),
        include_str!("p001.rs"),
        include_str!("p002.rs"),
        include_str!("p003.rs"),
        include_str!("p004.rs"),
    ];
    let own = "the_errata_of_the_book_name_every_test_and_no_other";
    let tests: Vec<&str> = sources.into_iter().flat_map(test_names).filter(|name| *name != own).collect();
    for name in &tests {
        assert!(page.contains(&format!("`{name}`")), "`{name}` is not on the page");
    }
    // what stands between single backticks and looks like a name of a test
    let quoted = page.split('`').skip(1).step_by(2).filter(|text| text.contains('_') && !text.contains('/'));
    for name in quoted {
        assert!(tests.contains(&name), "there is no test `{name}`");
    }
}
