//! Dubois & Rojas-Quintero (GSI 2025): the scheme of order 6, for the oscillator and the pendulum.

use crate::{Number, about, discrete_lagrangian, erratum, gradient, hessian, oscillator_map, right};
use leastaction::linear::Matrix;
use leastaction::scalar::{Field, Real};
use std::f64::consts::PI;

const H: f64 = 0.31;
const M: f64 = 1.7;
const OMEGA: f64 = 2.3;
/// ω² h²
const X: f64 = OMEGA * OMEGA * H * H;

fn root5() -> f64 {
    5.0f64.sqrt()
}

#[test]
fn moments_of_the_quadrature() {
    let xi: f64 = 0.5 - root5() / 10.0;
    let (alpha, beta) = (1.0 / 12.0, 5.0 / 12.0);
    let integral = |k: i32| beta * (xi.powi(k) + (1.0 - xi).powi(k)) + alpha * (1.0 + 0.0f64.powi(k));
    for k in 0..=5 {
        right("(2)", &[1.0 / f64::from(k + 1)], &[integral(k)]);
    }
    let product = beta * xi * (1.0 - xi);
    right("f = t²", &[product], &[1.0 / 12.0]);
    erratum("f = t⁴", &[product * (xi * xi - xi + 2.0)], &[3.0 / 20.0], &[3.0 / 10.0]);
    // exact for V(q(t)) of degree 5 in t, not for V of degree 5 in q: already q² of a cubic q has degree 6
    assert!((integral(6) - 1.0 / 7.0).abs() > 4e-4);
}

/// Coefficients of q_{j−1} + q_{j+1} and of q_j in (12), times h².
fn scheme(x: f64) -> [f64; 2] {
    [1.0 + x / 30.0 + x * x / 1800.0, -2.0 + 28.0 * x / 30.0 - 92.0 * x * x / 1800.0 + x * x * x / 1800.0]
}

#[test]
fn eqs_9_to_18_are_right() {
    let [[a, b], [c, d]] = oscillator_map("lobatto", M, OMEGA, H);
    let scale = 1.0 + X / 30.0 + X * X / 1800.0;
    let corner = 1.0 - 7.0 / 15.0 * X + 23.0 / 900.0 * X * X - X.powi(3) / 3600.0;
    let lower = H / M * (1.0 - 2.0 / 15.0 * X + X * X / 300.0);
    let upper = M * H * OMEGA * OMEGA / 43200.0 * (X - 60.0) * (X * X - 84.0 * X + 720.0);
    right("(17)", &[a, b, c, d], &[corner, upper, lower, corner].map(|entry| entry / scale));
    let (p0, q0) = (0.4, 0.9);
    let (p1, q1) = (a * p0 + b * q0, c * p0 + d * q0);
    let q2 = c * p1 + d * q1;
    let [outer, inner] = scheme(X);
    right("(12)", &[0.0], &[outer * (q0 + q2) + inner * q1]);
    let first = -M * OMEGA * OMEGA * (X - 60.0) / (12.0 * (X - 10.0)) * (q0 + q1);
    let second = 24.0 * (30.0 - X) / (X * X - 84.0 * X + 720.0) * (p0 + p1) / (2.0 * M);
    right("(15)", &[(p1 - p0) / H, (q1 - q0) / H], &[first, second]);
    let energy = |p: f64, q: f64| (lower * p * p - upper * q * q) / (2.0 * scale);
    right("(18)", &[energy(p0, q0)], &[energy(p1, q1)]);
    let delta = (X - 30.0) * (X - 10.0);
    let printed = M * (q1 - q0) / H
        + M / (6.0 * delta)
            * (-300.0 * H * OMEGA.powi(2) * (q0 + 2.0 * q1)
                + 5.0 * H.powi(3) * OMEGA.powi(4) * (q0 + 8.0 * q1)
                - 0.5 * H.powi(5) * OMEGA.powi(6) * q1);
    right("p_r", &[p1], &[printed]);
    // (9): the inner values make the discrete Lagrangian of (8) stationary
    let sum = -5.0 * (X - 30.0) * (q1 + q0);
    let difference = 3.0 * root5() * (X - 10.0) * (q1 - q0);
    let inner = [(sum + difference) / delta, (sum - difference) / delta];
    let action = |q: &[f64]| {
        let spring = |q: &[Number], v: &[Number]| {
            Number::from_f64(M / 2.0) * (v[0] * v[0] - Number::from_f64(OMEGA * OMEGA) * q[0] * q[0])
        };
        gradient(&discrete_lagrangian("lobatto", H, 1, &spring), q)
    };
    let found = action(&[q0, inner[0], inner[1], q1]);
    right("(9)", &[-p0, 0.0, 0.0, p1], &found);
    // L_r is quadratic: central differences are exact
    let reduced = |l: f64, r: f64| {
        (M / 4.0 * (-X.powi(3) + 92.0 * X * X - 1680.0 * X + 3600.0) * (l * l + r * r)
            - M * (X * X + 60.0 * X + 1800.0) * l * r)
            / (6.0 * H * delta)
    };
    right("L_r", &[p1], &[reduced(q0, q1 + 0.5) - reduced(q0, q1 - 0.5)]);
}

#[test]
fn truncation_error_is_positive_and_fourteen_times_smaller() {
    // (12) applied to cos ωt at t = 0, over ω² x³
    let with = |cosine: f64, x: f64| {
        let [outer, inner] = scheme(x);
        (2.0 * outer * cosine + inner) / x.powi(4)
    };
    let x = Number::from_f64(1e-4);
    let cosine = x.sqrt().cos();
    // in 77 digits: the sum is 25 orders of magnitude smaller than its terms
    let n = Number::from_f64;
    let outer = n(1.0) + x / n(30.0) + x * x / n(1800.0);
    let inner = n(-2.0) + n(28.0) * x / n(30.0) - n(92.0) * x * x / n(1800.0) + x * x * x / n(1800.0);
    let truth = ((n(2.0) * outer * cosine + inner) / (x * x * x * x)).to_f64();
    about("T_h", truth * 302400.0, 1.0);
    erratum("T_h", &[1.0], &[(truth * 302400.0 * 1e4).round() / 1e4], &[truth * -21600.0]);
    // the printed number comes out if Taylor's series ends with h⁶/720
    let x: f64 = 0.25;
    let cut = 1.0 - x / 2.0 + x * x / 24.0 - x.powi(3) / 720.0;
    let exact = with(cut, x) + (1.0 / 21600.0) * (1.0 + x / 30.0);
    right("T_h, cut off", &[0.0], &[exact]);
    // the phase of a period is ahead by 2π (ωh)⁶/604800 for ten steps each
    let h: f64 = 0.1;
    let [[a, _], _] = oscillator_map("lobatto", 1.0, 2.0 * PI, h);
    let slip = (10.0 * a.acos() - 2.0 * PI).abs();
    about("phase slip", slip, 6.393e-7);
    let leading = 2.0 * PI * (0.2 * PI).powi(6) / 604800.0;
    assert!((slip / leading - 1.0).abs() < 0.01, "{slip:e} {leading:e}");
}

#[test]
fn discriminant_lacks_a_factor() {
    for x in [1.0, 9.8, 20.0, 40.0, 70.0, 80.0f64] {
        // of the characteristic polynomial as printed, with 1/h² = 1: outer r² + inner r + outer, so h = 1 and ω² = x
        let [outer, inner] = scheme(x);
        let truth = inner * inner - 4.0 * outer * outer;
        let printed = x * (x - 10.0) * (x - 30.0) * (x - 60.0) * (x * x - 84.0 * x + 720.0);
        erratum("discriminant", &[truth], &[printed / 1800.0f64.powi(2)], &[printed]);
    }
    let limit = (42.0 - 6.0 * 29.0f64.sqrt()).sqrt();
    about("stable below", limit, 3.112717648);
}

/// A step so long that small terms count.
const STEP: f64 = 2.5;
/// Values at 0, ξ, 1 − ξ and 1, not of a solution.
const Q: [f64; 4] = [0.3, 0.2, 1.6, 1.2];

/// A potential whose derivatives all differ.
fn potential(q: Number) -> Number {
    q.sin() * q.exp()
}

fn lagrangian(q: &[Number], v: &[Number]) -> Number {
    Number::from_f64(M / 2.0) * v[0] * v[0] - potential(q[0])
}

fn slope(q: f64) -> f64 {
    gradient(&|q| potential(q[0]), &[q])[0]
}

fn curvature(q: f64) -> f64 {
    hessian(&|q| potential(q[0]), &[q])[0][0]
}

/// q_ξ and q_{1−ξ} minus the right-hand sides of (21), for any four values.
fn eq_21(q: [f64; 4]) -> [f64; 2] {
    let share = STEP * STEP / (30.0 * M);
    let (u, v) = (slope(q[1]), slope(q[2]));
    let (near, far) = ((5.0 + root5()) / 10.0, (5.0 - root5()) / 10.0);
    [
        q[1] - share * (v + 2.0 * u) - near * q[0] - far * q[3],
        q[2] - share * (2.0 * v + u) - far * q[0] - near * q[3],
    ]
}

#[test]
fn eqs_21_to_24_are_right() {
    let g = gradient(&discrete_lagrangian("lobatto", STEP, 1, &lagrangian), &Q);
    let scale = 2.0 * STEP / (25.0 * M);
    let sums = [scale * (2.0 * g[1] + g[2]), scale * (g[1] + 2.0 * g[2])];
    right("(21)", &sums, &eq_21(Q));
    // for any four values: the sum of all G_k, and G_3 − G_0 with what (21) leaves of the inner ones
    let [l, x, y, r] = Q.map(slope);
    let impulse = -STEP / 12.0 * (l + 5.0 * (x + y) + r);
    right("(24), first line", &[g.iter().sum()], &[impulse]);
    // (24), second line: (p1 + p0)/2 on a solution, where G_1 = G_2 = 0
    let both = g[3] - g[0] + root5() / 5.0 * (g[2] - g[1]);
    let second = (Q[3] - Q[0]) - STEP * STEP / (24.0 * M) * (r + root5() * (y - x) - l);
    right("(24), second line", &[STEP / (2.0 * M) * both], &[second]);
    // (23) is (24) of two steps
    let p1 = M / STEP * (Q[3] - Q[0]) - STEP / 24.0 * ((5.0 - root5()) * x + (5.0 + root5()) * y + 2.0 * r);
    let on_shell = g[3] + (5.0 - root5()) / 10.0 * g[1] + (5.0 + root5()) / 10.0 * g[2];
    right("(23)", &[on_shell], &[p1]);
}

/// dF_L with the printed or the corrected entry (2, 1), and its determinant by the formula with 1/m or 1/m².
fn jacobian(second_row: f64) -> [[f64; 4]; 4] {
    let (u, v, w) = (curvature(Q[1]), curvature(Q[2]), curvature(Q[3]));
    let (h, s) = (STEP, STEP * STEP / M);
    [
        [1.0 - s / 15.0 * u, -s / 30.0 * v, 0.0, (-5.0 + root5()) / 10.0],
        [-s / 30.0 * second_row, 1.0 - s / 15.0 * v, 0.0, -(5.0 + root5()) / 10.0],
        [5.0 * h / 12.0 * u, 5.0 * h / 12.0 * v, 1.0, h / 12.0 * w],
        [root5() * s / 24.0 * u, -root5() * s / 24.0 * v, -h / (2.0 * M), 1.0 - s / 24.0 * w],
    ]
}

/// By expansion along the first row.
fn determinant(a: &[Vec<f64>]) -> f64 {
    if a.len() == 1 {
        return a[0][0];
    }
    (0..a.len())
        .map(|j| {
            let minor: Vec<Vec<f64>> = a[1..]
                .iter()
                .map(|row| row.iter().enumerate().filter(|(k, _)| *k != j).map(|(_, x)| *x).collect())
                .collect();
            let sign = if j % 2 == 0 { 1.0 } else { -1.0 };
            sign * a[0][j] * determinant(&minor)
        })
        .sum()
}

#[test]
fn jacobian_has_the_other_curvature_and_its_determinant_a_mass_squared() {
    let (u, v) = (curvature(Q[1]), curvature(Q[2]));
    // rows 1 and 2 of dF_L from the discrete Lagrangian, as (21) is made from it
    let second = hessian(&discrete_lagrangian("lobatto", STEP, 1, &lagrangian), &Q);
    let scale = 2.0 * STEP / (25.0 * M);
    let row =
        |a: f64, b: f64| [1, 2, 3].map(|j: usize| scale * (a * second[1][j] + b * second[2][j])).to_vec();
    let truth = [row(2.0, 1.0), row(1.0, 2.0)].concat();
    let with = |entry: f64| {
        let j = jacobian(entry);
        [[j[0][0], j[0][1], j[0][3]], [j[1][0], j[1][1], j[1][3]]].concat()
    };
    erratum("dF_L", &truth, &with(u), &with(v));
    let rows: Vec<Vec<f64>> = jacobian(u).iter().map(|row| row.to_vec()).collect();
    let formula =
        |last: f64| 1.0 + STEP * STEP / (60.0 * M) * (u + v) + STEP.powi(4) / (1800.0 * last) * u * v;
    erratum("det dF_L", &[determinant(&rows)], &[formula(M * M)], &[formula(M)]);
}

#[test]
fn variations_before_25_and_the_determinant_of_a_are_right() {
    let (u, v) = (curvature(Q[1]), curvature(Q[2]));
    let second = hessian(&discrete_lagrangian("lobatto", STEP, 1, &lagrangian), &Q);
    // ∂(q_ξ, q_{1−ξ})/∂(q_ℓ, q_r) from stationarity
    let mut matrix = Matrix::new(2, 1);
    for i in 0..2 {
        for j in 0..2 {
            *matrix.entry(i, j) = second[1 + i][1 + j];
        }
    }
    matrix.factor().unwrap();
    let column = |end: usize| {
        let mut x = vec![-second[1][end], -second[2][end]];
        matrix.solve(&mut x);
        x
    };
    let (left, right_end) = (column(0), column(3));
    let (h2, delta) = (STEP * STEP, 300.0 * M * M - 20.0 * M * STEP * STEP * (u + v) + STEP.powi(4) * u * v);
    let s = root5();
    let first = [
        30.0 * M * M * (5.0 + s) - M * h2 * v * (5.0 + 3.0 * s),
        -30.0 * M * M * (s - 5.0) - M * h2 * v * (5.0 - 3.0 * s),
    ];
    let last = [
        -30.0 * M * M * (s - 5.0) - M * h2 * u * (5.0 - 3.0 * s),
        30.0 * M * M * (5.0 + s) - M * h2 * u * (5.0 + 3.0 * s),
    ];
    right("δq_ξ", &[left[0], right_end[0]], &first.map(|x| x / delta));
    right("δq_{1−ξ}", &[left[1], right_end[1]], &last.map(|x| x / delta));
    // δp1 = R δq1 + S δq0 and δp0 = −S' δq1 − …: det A of (24) is −(h/m) S, up to the sign of S
    let total = |a: usize, b: usize| {
        let inner = if b == 0 { &left } else { &right_end };
        second[a][b] + second[a][1] * inner[0] + second[a][2] * inner[1]
    };
    let printed = (1800.0 * M * M + 30.0 * M * h2 * (u + v) + h2 * h2 * u * v) / (6.0 * delta);
    right("det A", &[-STEP / M * total(0, 3)], &[printed]);
}

#[test]
fn growth_rate_of_figure_2_is_no_drift() {
    // H_d is conserved, so q = q0 cos nφ, and the energy is off by a bound times sin² nφ
    let [[a, b], [c, d]] = oscillator_map("lobatto", 1.0, 2.0 * PI, 0.1);
    let omega2 = (2.0 * PI).powi(2);
    let energy = |p: f64, q: f64| 0.5 * (p * p + omega2 * q * q);
    let (mut p, mut q) = (0.0, PI / 2.0);
    let start = energy(p, q);
    let bound = (-b / c / omega2 - 1.0) * start;
    let error = |n: u32| bound * (f64::from(n) * a.acos()).sin().powi(2);
    for n in 1..=10 {
        (p, q) = (a * p + b * q, c * p + d * q);
        right("energy", &[energy(p, q)], &[start + error(n)]);
    }
    // ten steps a period: the phase slip moves the points towards q = 0, where the error is largest
    let largest = |periods: u32| (1..=10 * periods).fold(0.0f64, |worst, n| worst.max(error(n).abs()));
    about("one period", largest(1), 6.619e-5);
    about("1e5 periods", largest(100_000), 6.870e-5);
    about("rate", (largest(100_000) - largest(1)) / 1e5, 2.5008e-11);
    about("bound", bound.abs(), 7.318e-5);
}
