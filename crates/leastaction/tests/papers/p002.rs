//! Dubois & Rojas-Quintero (FVCA 10): Simpson's scheme for one coordinate in a potential.

use crate::{Number, discrete_lagrangian, erratum, gradient, hessian, right};
use leastaction::linear::Matrix;
use leastaction::scalar::{Field, Real};

const H: f64 = 0.4;
const M: f64 = 1.7;
/// Left, middle and right value, not of a solution.
const Q: [f64; 3] = [0.3, 0.9, 1.2];

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

fn action_gradient() -> Vec<f64> {
    gradient(&discrete_lagrangian("simpson", H, 1, &lagrangian), &Q)
}

/// g_ℓ, g_m, g_r of (13) and (14).
fn velocities() -> [f64; 3] {
    let [l, m, r] = Q;
    [(-3.0 * l + 4.0 * m - r) / H, (r - l) / H, (l - 4.0 * m + 3.0 * r) / H]
}

#[test]
fn derivative_by_the_middle_value_has_a_difference_of_velocities() {
    let [l, m, r] = Q;
    let [gl, _, gr] = velocities();
    let with = |other: f64| M * H / 6.0 * (gl * 4.0 / H + other * 4.0 / H) - 2.0 / 3.0 * H * slope(m);
    erratum("dL_S/dq_m", &[action_gradient()[1]], &[with(-gr)], &[with(gl)]);
    let last = 16.0 / 3.0 * M / H * (m - 0.5 * (l + r) - H * H / (8.0 * M) * slope(m));
    right("its last line, and (17)", &[action_gradient()[1]], &[last]);
}

#[test]
fn second_line_of_p_r_has_four_times_the_middle_velocity() {
    let [l, m, r] = Q;
    let [gl, gm, gr] = velocities();
    let with = |middle: f64| M / 6.0 * (-gl / H * H + middle * gm + 3.0 * gr) - H / 6.0 * slope(r);
    erratum("p_r", &[action_gradient()[2]], &[with(4.0)], &[with(1.0)]);
    let last = (2.0 * M / H * (l - 8.0 * m + 7.0 * r) - H * slope(r)) / 6.0;
    right("its last line", &[action_gradient()[2]], &[last]);
}

#[test]
fn eqs_19_to_21_are_right() {
    // on a solution of (17): the left value that makes the middle one stationary
    let [_, m, r] = Q;
    let l = 2.0 * (m - H * H / (8.0 * M) * slope(m)) - r;
    let first = gradient(&discrete_lagrangian("simpson", H, 1, &lagrangian), &[l, m, r]);
    let (p0, p1) = (-first[0], first[2]);
    right("(17)", &[0.0], &[first[1]]);
    right("(19)", &[p1], &[M / H * (r - l) - H / 6.0 * (2.0 * slope(m) + slope(r))]);
    right("(20)", &[p0], &[M / H * (r - l) + H / 6.0 * (slope(l) + 2.0 * slope(m))]);
    right("(21)", &[p0 - p1], &[H / 6.0 * (slope(l) + 4.0 * slope(m) + slope(r))]);
    let second = H * H / (12.0 * M) * (slope(r) - slope(l)) + H / (2.0 * M) * (p1 + p0);
    right("(21)", &[r - l], &[second]);
}

/// dF_S as printed.
fn jacobian(theta: f64, phi: f64) -> [[f64; 3]; 3] {
    [
        [1.0 - H * theta / 8.0, 0.0, -0.5],
        [2.0 / 3.0 * M * theta, 1.0, M * phi / 6.0],
        [0.0, -H / (2.0 * M), 1.0 - H * phi / 12.0],
    ]
}

#[test]
fn inverse_of_the_jacobian_has_a_determinant_and_an_entry_more() {
    let (theta, phi) = (H / M * curvature(Q[1]), H / M * curvature(Q[2]));
    let mut matrix = Matrix::new(3, 2);
    for (i, row) in jacobian(theta, phi).iter().enumerate() {
        for (j, value) in row.iter().enumerate() {
            *matrix.entry(i, j) = *value;
        }
    }
    matrix.factor().unwrap();
    let mut truth = vec![0.0; 9];
    for j in 0..3 {
        let mut column = vec![0.0; 3];
        column[j] = 1.0;
        matrix.solve(&mut column);
        for i in 0..3 {
            truth[3 * i + j] = column[i];
        }
    }
    let (h, m) = (H, M);
    let adjugate = [
        1.0,
        h / (4.0 * m),
        0.5,
        -2.0 / 3.0 * m * theta + h * m * theta * phi / 18.0,
        1.0 - h * theta / 8.0 - h * phi / 12.0 + h * h * theta * phi / 96.0,
        -m * theta / 3.0 - m * phi / 6.0 + h * m * theta * phi / 48.0,
        -h * theta / 3.0,
        h / (2.0 * m) - h * h * theta / (16.0 * m),
        1.0 - h * theta / 8.0,
    ];
    let corrected = adjugate.map(|entry| entry / (1.0 + h * theta / 24.0));
    erratum("inverse of dF_S", &truth, &corrected, &adjugate);
}

#[test]
fn determinants_of_the_tangent_map_are_right_with_second_derivatives() {
    // Ṽ'' = 2 V''/(1 − h² V''/8m), and V'' in it is the second derivative
    let (middle, end) = (curvature(Q[1]), curvature(Q[2]));
    let tilde = |second: f64| 2.0 * second / (1.0 - H * H / (8.0 * M) * second);
    let determinant = |tilde: f64| {
        let a = [[1.0, H / 6.0 * (end + tilde)], [-H / (2.0 * M), 1.0 - H * H / (12.0 * M) * end]];
        a[0][0] * a[1][1] - a[0][1] * a[1][0]
    };
    right("det A", &[determinant(tilde(middle))], &[1.0 + H * H / (12.0 * M) * tilde(middle)]);
    // ∂q_m/∂q_ℓ from the discrete Lagrangian: −L_mℓ/L_mm = ½/(1 − h² V''/8m)
    let second = hessian(&discrete_lagrangian("simpson", H, 1, &lagrangian), &Q);
    let by_left = -second[1][0] / second[1][1];
    let with = |v: f64| 0.5 / (1.0 - H * H / (8.0 * M) * v);
    erratum("V''", &[by_left], &[with(middle)], &[with(slope(Q[1]))]);
    // what 4 V'(q_m) contributes to the variation of (21)
    right("Ṽ''", &[4.0 * middle * by_left], &[tilde(middle)]);
}
