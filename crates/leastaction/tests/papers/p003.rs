//! Dubois & Rojas-Quintero (GSI 2023): Simpson's scheme for the oscillator.

use crate::common::{Watch, method, problem_with, run};
use crate::{Number, about, erratum, oscillator_map, right, wrong};
use leastaction::exact;
use leastaction::scalar::{Dual, Field, Real};
use leastaction::simulate::Moment;
use std::f64::consts::PI;

const H: f64 = 0.31;
const M: f64 = 1.7;
const OMEGA: f64 = 2.3;
/// ω² h²
const X: f64 = OMEGA * OMEGA * H * H;

/// The reduced Lagrangian (23) and its derivative by the right value, (25).
fn reduced(l: f64, r: f64) -> f64 {
    let sum = (22.0 - X) / 48.0 * (l * l + r * r) + l * r / 12.0;
    (0.5 * M * H * ((r - l) / H).powi(2) - H / 2.0 * M * OMEGA * OMEGA * sum) / (1.0 - X / 8.0)
}

#[test]
fn eqs_23_to_26_are_right() {
    let [[a, b], [c, d]] = oscillator_map("simpson", M, OMEGA, H);
    let corner = 1.0 - 11.0 / 24.0 * X + X * X / 48.0;
    let printed = [
        corner,
        -M * OMEGA * OMEGA * H * (1.0 - X / 12.0) * (1.0 - X / 24.0),
        H / M * (1.0 - X / 8.0),
        corner,
    ];
    right("(26)", &[a, b, c, d], &printed.map(|entry| entry / (1.0 + X / 24.0)));
    // a motion of three points: from p0, q0 by two steps
    let (p0, q0) = (0.4, 0.9);
    let (p1, q1) = (a * p0 + b * q0, c * p0 + d * q0);
    let q2 = c * p1 + d * q1;
    let scheme = (q2 - 2.0 * q1 + q0) / (H * H) + OMEGA * OMEGA / 24.0 * (q2 + 22.0 * q1 + q0)
        - OMEGA.powi(4) * H * H / 24.0 * q1;
    right("(24)", &[0.0], &[scheme]);
    let rest = (1.0 - X / 8.0) * 6.0;
    let printed = M * (q1 - q0) / H - H * M * OMEGA * OMEGA * (q0 + 2.0 * q1) / rest
        + H.powi(3) * M * OMEGA.powi(4) / 8.0 * q1 / rest;
    right("(25)", &[p1], &[printed]);
    // quadratic: central differences are exact
    let slope = (reduced(q0, q1 + 0.5) - reduced(q0, q1 - 0.5)) / 1.0;
    right("(23)", &[p1], &[slope]);
}

#[test]
fn truncation_error_and_discriminant_are_right() {
    // (24) applied to cos ωt at t = 0, over ω² x², in 77 digits
    let n = Number::from_f64;
    let x = n(1e-4);
    let cosine = x.sqrt().cos();
    let size = (n(2.0) * cosine - n(2.0)) / x + (n(2.0) * cosine + n(22.0)) / n(24.0) - x / n(24.0);
    about("T_h", (size / (x * x)).to_f64(), 1.0 / 1440.0);
    for x in [1.0, 9.0, 15.0, 30.0f64] {
        let (a, b) = (1.0 + x / 24.0, -(48.0 - 22.0 * x + x * x) / 24.0);
        let printed = x / 576.0 * (x - 24.0) * (x - 12.0) * (x - 8.0);
        right("discriminant", &[b * b - 4.0 * a * a], &[printed]);
    }
}

#[test]
fn gamma_matrix_has_delta_in_its_last_entry_and_its_determinant_a_quarter() {
    // Q(Φ y) − Q(y) as coefficients of p², p q, q², for any Φ
    let [alpha, beta, gamma, delta] = [1.3f64, 0.4, -0.7, 0.8];
    let change = |xi: f64, eta: f64, zeta: f64| {
        let form = |p: f64, q: f64| 0.5 * xi * p * p + eta * p * q + 0.5 * zeta * q * q;
        let moved = |p: f64, q: f64| form(alpha * p + beta * q, gamma * p + delta * q) - form(p, q);
        let (pp, qq) = (moved(1.0, 0.0), moved(0.0, 1.0));
        [pp, moved(1.0, 1.0) - pp - qq, qq]
    };
    let columns = [change(1.0, 0.0, 0.0), change(0.0, 1.0, 0.0), change(0.0, 0.0, 1.0)];
    let truth: Vec<f64> = (0..9).map(|i| columns[i % 3][i / 3]).collect();
    let with = |last: f64| {
        [
            (alpha * alpha - 1.0) / 2.0,
            alpha * gamma,
            gamma * gamma / 2.0,
            alpha * beta,
            alpha * delta + beta * gamma - 1.0,
            gamma * delta,
            beta * beta / 2.0,
            beta * delta,
            (last * last - 1.0) / 2.0,
        ]
    };
    erratum("Gamma", &truth, &with(delta), &with(gamma));
    let [a, b, c, d, e, f, g, h, i] = with(delta);
    let determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
    let area = alpha * delta - beta * gamma;
    let printed = (area - 1.0) * (1.0 - alpha - delta + area) * (1.0 + alpha + delta + area);
    erratum("det Gamma", &[determinant], &[printed / 4.0], &[printed]);
}

#[test]
fn eq_28_is_conserved_with_an_eight() {
    let [[a, b], [c, d]] = oscillator_map("simpson", M, OMEGA, H);
    let energy = |p: f64, q: f64, number: f64| {
        let share = (1.0 - X / 12.0) * (1.0 - X / 24.0) / (1.0 - X / number);
        p * p / (2.0 * M) + M * OMEGA * OMEGA / 2.0 * share * q * q
    };
    let (p, q) = (0.4, 0.9);
    let change = |number: f64| energy(a * p + b * q, c * p + d * q, number) - energy(p, q, number);
    erratum("(28)", &[0.0], &[change(8.0)], &[change(9.81)]);
}

#[test]
fn table_1_starts_at_rest() {
    let omega = 2.0 * PI;
    let errors = |q0: f64, v0: f64, name: &str| {
        let problem = problem_with("harmonic-oscillator", &[], Some((&[q0], &[v0])));
        let moving = exact::solution(&problem.convert::<Dual>()).unwrap();
        let mut worst = [0.0f64; 2];
        let mut watch = Watch(|moment: &Moment<'_, f64>| {
            let q = moving.at(&Dual { value: moment.t, tangent: 1.0 })[0];
            worst[0] = worst[0].max((q.tangent - moment.state.p[0]).abs());
            worst[1] = worst[1].max((q.value - moment.state.q[0]).abs());
        });
        run(&problem, &method(name), 0.1, 10, &mut [&mut watch]);
        worst
    };
    // (π/2) cos ωt gives the printed 1.91, 2.38e-1, 3.41e-3, 4.11e-4
    let [p, q] = errors(PI / 2.0, 0.0, "midpoint");
    about("Newmark p", p, 1.915);
    about("Newmark q", q, 2.383e-1);
    let [p, q] = errors(PI / 2.0, 0.0, "simpson");
    about("Simpson p", p, 3.406e-3);
    about("Simpson q", q, 4.114e-4);
    // sin ωt does not
    let [p, q] = errors(0.0, omega, "midpoint");
    about("Newmark p", p, 9.533e-1);
    about("Newmark q", q, 1.940e-1);
    let [p, q] = errors(0.0, omega, "simpson");
    about("Simpson p", p, 1.646e-3);
    wrong("Simpson q", &[4.11], &[q * 1e4]);
}
