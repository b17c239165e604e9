//! Rojas-Quintero, Dubois & Jourdan: the formulas of Simpson's scheme for M(q), of the midpoint rule and of the Lagrange top.

use crate::{
    Number, about, derivative, discrete_lagrangian, erratum, gradient, hessian, numbers, right, wrong,
};
use leastaction::exact;
use leastaction::linear::Matrix;
use leastaction::prelude::*;
use leastaction::scalar::{Field, Real};
use std::f64::consts::PI;

const N: usize = 3;
const H: f64 = 0.37;
const LEFT: [f64; N] = [0.3, -0.7, 1.1];
const MIDDLE: [f64; N] = [0.45, -0.5, 0.8];
const RIGHT: [f64; N] = [0.8, -0.65, 0.9];

/// A mass matrix without any special structure.
fn mass(q: &[Number], a: usize, b: usize) -> Number {
    let (a, b) = (a.min(b) as f64, a.max(b) as f64);
    let rate = |k: f64| Number::from_f64(0.4 + 0.3 * (a + b) - 0.25 * k * (1.0 + a * b));
    let angle = q[0] * rate(0.0) + q[1] * rate(1.0) + q[2] * rate(2.0) + Number::from_f64(a - 2.0 * b);
    let diagonal = if a == b { 2.0 + a } else { 0.0 };
    Number::from_f64(diagonal) + Number::from_f64(0.5) * angle.sin()
}

fn potential(q: &[Number]) -> Number {
    (q[0] + q[1] * Number::from_f64(0.5)).cos() + (q[1] * q[2]).sin() + q[2] * q[2] * q[2] * q[0]
}

fn lagrangian(q: &[Number], v: &[Number]) -> Number {
    let mut twice = Number::zero();
    for a in 0..N {
        for b in 0..N {
            twice = twice + mass(q, a, b) * v[a] * v[b];
        }
    }
    twice / Number::from_f64(2.0) - potential(q)
}

/// M, V and their derivatives at a place, with a velocity: what the formulas of the paper are made of.
struct Place {
    m: [[f64; N]; N],
    /// ∂_c M_ab as dm[c][a][b]
    dm: [[[f64; N]; N]; N],
    /// ∂_d ∂_c M_ab as ddm[d][c][a][b]
    ddm: [[[[f64; N]; N]; N]; N],
    dv: [f64; N],
    k: [[f64; N]; N],
    g: [f64; N],
}

impl Place {
    fn new(q: &[f64; N], g: [f64; N]) -> Self {
        let exact = numbers(q);
        let dv = gradient(&potential, q);
        let k = hessian(&potential, q);
        let mut place = Self {
            m: [[0.0; N]; N],
            dm: [[[0.0; N]; N]; N],
            ddm: [[[[0.0; N]; N]; N]; N],
            dv: [dv[0], dv[1], dv[2]],
            k: std::array::from_fn(|c| std::array::from_fn(|d| k[c][d])),
            g,
        };
        for a in 0..N {
            for b in 0..N {
                let entry = |q: &[Number]| mass(q, a, b);
                place.m[a][b] = entry(&exact).to_f64();
                let second = hessian(&entry, q);
                for c in 0..N {
                    place.dm[c][a][b] = derivative(&entry, &exact, c).to_f64();
                    for d in 0..N {
                        place.ddm[d][c][a][b] = second[d][c];
                    }
                }
            }
        }
        place
    }
    /// M_γβ g^β
    fn mg(&self, c: usize) -> f64 {
        (0..N).map(|b| self.m[c][b] * self.g[b]).sum()
    }
    /// ∂_γ M_αβ g^α g^β
    fn dm_gg(&self, c: usize) -> f64 {
        (0..N).map(|a| self.dm_g(c, a) * self.g[a]).sum()
    }
    /// ∂_γ M_αδ g^α
    fn dm_g(&self, c: usize, d: usize) -> f64 {
        (0..N).map(|a| self.dm[c][a][d] * self.g[a]).sum()
    }
    /// ∂_δ ∂_γ M_αβ g^α g^β
    fn ddm_gg(&self, c: usize, d: usize) -> f64 {
        (0..N)
            .flat_map(|a| (0..N).map(move |b| (a, b)))
            .map(|(a, b)| self.ddm[d][c][a][b] * self.g[a] * self.g[b])
            .sum()
    }
}

/// Left, middle and right place of a step, with the velocities of the quadratic polynomial. Not a solution: identities that hold
/// for every polynomial are tested on one that is not special.
fn places() -> [Place; 3] {
    let velocity =
        |w: [f64; 3]| std::array::from_fn(|a| (w[0] * LEFT[a] + w[1] * MIDDLE[a] + w[2] * RIGHT[a]) / H);
    [
        Place::new(&LEFT, velocity([-3.0, 4.0, -1.0])),
        Place::new(&MIDDLE, velocity([-1.0, 0.0, 1.0])),
        Place::new(&RIGHT, velocity([1.0, -4.0, 3.0])),
    ]
}

/// ∂L_d/∂q_ℓ, ∂L_d/∂q_m, ∂L_d/∂q of Simpson's discrete Lagrangian.
fn simpson_gradient() -> [Vec<f64>; 3] {
    let action = discrete_lagrangian("simpson", H, N, &lagrangian);
    let all = gradient(&action, &[LEFT, MIDDLE, RIGHT].concat());
    [0, 1, 2].map(|k| all[k * N..(k + 1) * N].to_vec())
}

fn each(f: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..N).map(f).collect()
}

fn each2(f: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    (0..N).flat_map(|c| (0..N).map(move |d| (c, d))).map(|(c, d)| f(c, d)).collect()
}

/// The right-hand side of (8) as printed.
fn eq_8() -> Vec<f64> {
    let [l, m, r] = places();
    each(|c| l.mg(c) / 3.0 - r.mg(c) / 3.0 + H / 6.0 * m.dm_gg(c) - H / 3.0 * m.dv[c])
}

/// The last line of (10).
fn eq_10() -> Vec<f64> {
    let [l, m, r] = places();
    each(|c| -l.mg(c) / 6.0 + 2.0 / 3.0 * m.mg(c) + r.mg(c) / 2.0 + H / 12.0 * r.dm_gg(c) - H / 6.0 * r.dv[c])
}

#[test]
fn eq_8_lacks_a_factor_2() {
    let [_, middle, _] = simpson_gradient();
    let printed = eq_8();
    erratum("eq. (8)", &middle, &each(|c| 2.0 * printed[c]), &printed);
}

#[test]
fn eq_10_is_the_derivative_by_the_right_state() {
    let [left, _, right_end] = simpson_gradient();
    right("eq. (10), by q", &right_end, &eq_10());
    wrong("eq. (10), by q_l", &left, &eq_10());
}

#[test]
fn eq_11_is_eq_10_and_all_of_eq_8_as_printed() {
    let [l, m, r] = places();
    let eq_11 = each(|c| {
        l.mg(c) / 6.0 + 2.0 / 3.0 * m.mg(c) + r.mg(c) / 6.0 + H / 6.0 * m.dm_gg(c) + H / 12.0 * r.dm_gg(c)
            - H / 3.0 * m.dv[c]
            - H / 6.0 * r.dv[c]
    });
    let with = |share: f64| each(|c| eq_10()[c] + share * eq_8()[c]);
    erratum("eq. (11)", &eq_11, &with(1.0), &with(0.5));
}

#[test]
fn appendix_a_difference_is_right() {
    let [l, m, r] = places();
    let [left, middle, right_end] = simpson_gradient();
    // p1 − p0 of a solution, where ∂L_d/∂q_m = 0
    let truth = each(|c| left[c] + middle[c] + right_end[c]);
    let printed = each(|c| {
        H / 12.0 * l.dm_gg(c) + H / 3.0 * m.dm_gg(c) + H / 12.0 * r.dm_gg(c)
            - H / 6.0 * l.dv[c]
            - 2.0 * H / 3.0 * m.dv[c]
            - H / 6.0 * r.dv[c]
    });
    right("p1 - p0", &truth, &printed);
}

#[test]
fn appendix_a_sum_has_one_third_instead_of_two() {
    let [l, m, r] = places();
    let [left, _, right_end] = simpson_gradient();
    let truth = each(|c| right_end[c] - left[c]);
    let with = |end: f64| {
        each(|c| {
            end * l.mg(c) + 4.0 / 3.0 * m.mg(c) + end * r.mg(c) - H / 12.0 * l.dm_gg(c)
                + H / 12.0 * r.dm_gg(c)
                + H / 6.0 * l.dv[c]
                - H / 6.0 * r.dv[c]
        })
    };
    erratum("p1 + p0", &truth, &with(1.0 / 3.0), &with(2.0 / 3.0));
}

#[test]
fn eq_27a_is_right() {
    let [l, m, r] = places();
    let [_, middle, _] = simpson_gradient();
    let printed = each(|c| r.mg(c) - l.mg(c) - H / 2.0 * m.dm_gg(c) + H * m.dv[c]);
    right("eq. (27a)", &each(|c| -1.5 * middle[c]), &printed);
}

#[test]
fn eq_27c_has_terms_twice_too_large() {
    let [l, m, r] = places();
    let [left, _, right_end] = simpson_gradient();
    // without −(p0 + p1)/2
    let truth = each(|c| 0.5 * (right_end[c] - left[c]));
    let with = |share: f64| {
        each(|c| {
            l.mg(c) / 6.0
                + 2.0 / 3.0 * m.mg(c)
                + r.mg(c) / 6.0
                + share * H * (r.dm_gg(c) - l.dm_gg(c) - 2.0 * r.dv[c] + 2.0 * l.dv[c])
        })
    };
    erratum("eq. (27c) and F_q", &truth, &with(1.0 / 24.0), &with(1.0 / 12.0));
}

/// Blocks ∂F/∂(q_m, q) of Appendix A from the discrete Lagrangian: F_qm = −(3h/2) ∂L_d/∂q_m, F_p = h (p − p_j) − h² Σ b L_q,
/// F_q = (h/2) (∂L_d/∂q − ∂L_d/∂q_ℓ) − (h/2) (p + p_j). `row` and `column` are nodes, the rows summed with weights.
fn block(weights: [f64; 3], column: usize) -> Vec<f64> {
    let action = discrete_lagrangian("simpson", H, N, &lagrangian);
    let second = hessian(&action, &[LEFT, MIDDLE, RIGHT].concat());
    each2(|c, d| (0..3).map(|k| weights[k] * second[k * N + c][column * N + d]).sum())
}

#[test]
fn jacobian_of_appendix_a() {
    let [l, m, r] = places();
    let (f_qm, f_p, f_q) = ([0.0, -1.5 * H, 0.0], [-H; 3], [-0.5 * H, 0.0, 0.5 * H]);
    let (by_qm, by_q) = (1, 2);

    let printed =
        each2(|c, d| -4.0 * (r.m[c][d] + l.m[c][d]) + H * H * m.k[c][d] - H * H / 2.0 * m.ddm_gg(c, d));
    right("dF_qm/dq_m", &block(f_qm, by_qm), &printed);

    let with =
        |last: &Place| each2(|c, d| l.m[c][d] + 3.0 * r.m[c][d] - H * m.dm_g(c, d) + H * last.dm_g(d, c));
    erratum("dF_qm/dq: M at q_m instead of q", &block(f_qm, by_q), &with(&r), &with(&m));

    let printed = each2(|c, d| {
        2.0 * H / 3.0 * (r.dm_g(c, d) - l.dm_g(c, d)) - H * H / 3.0 * m.ddm_gg(c, d)
            + 2.0 * H * H / 3.0 * m.k[c][d]
    });
    right("dF_p/dq_m", &block(f_p, by_qm), &printed);

    let printed = each2(|c, d| {
        H / 6.0 * l.dm_g(c, d)
            - 2.0 * H / 3.0 * m.dm_g(c, d)
            - H / 2.0 * r.dm_g(c, d)
            - H * H / 12.0 * r.ddm_gg(c, d)
            + H * H / 6.0 * r.k[c][d]
    });
    right("dF_p/dq", &block(f_p, by_q), &printed);

    // the printed ∂_δ M_αδ g^β has no index γ; read with g^α it is ∂_δ M_αδ g^α
    let with = |first: fn(usize, usize) -> usize| {
        each2(|c, d| {
            2.0 / 3.0 * (l.m[c][d] - r.m[c][d]) + 2.0 * H / 3.0 * m.dm_g(d, c)
                - H / 3.0 * l.dm_g(first(c, d), d)
                - H / 3.0 * r.dm_g(first(c, d), d)
        })
    };
    erratum("dF_q/dq_m: derivative by q^delta", &block(f_q, by_qm), &with(|c, _| c), &with(|_, d| d));

    let with = |first: fn(usize, usize) -> usize, at: &Place| {
        each2(|c, d| {
            -l.m[c][d] / 6.0 + 2.0 / 3.0 * m.m[c][d] + r.m[c][d] / 2.0 + H * H / 24.0 * r.ddm_gg(c, d)
                - H * H / 12.0 * at.k[c][d]
                + H / 6.0 * r.dm_g(d, c)
                + H / 12.0 * l.dm_g(c, d)
                + H / 4.0 * r.dm_g(first(c, d), d)
        })
    };
    erratum("dF_q/dq: derivative by q^delta", &block(f_q, by_q), &with(|c, _| c, &r), &with(|_, d| d, &r));
    wrong("dF_q/dq: K at q_m, where it was defined", &block(f_q, by_q), &with(|c, _| c, &m));
}

/// The double pendulum of Table 1 with l = g/ω0² for the scheme of Appendix A as it stands.
struct DoublePendulum {
    l: f64,
}

impl DoublePendulum {
    const G: f64 = 9.81;
    fn mass(&self, q: &[f64]) -> [[f64; 2]; 2] {
        let (square, cosine) = (self.l * self.l, (q[0] - q[1]).cos());
        [[2.0 * square, square * cosine], [square * cosine, square]]
    }
    fn mg(&self, q: &[f64], g: [f64; 2], c: usize) -> f64 {
        self.mass(q)[c][0] * g[0] + self.mass(q)[c][1] * g[1]
    }
    /// ∂_γ M_αβ g^α g^β
    fn dm_gg(&self, q: &[f64], g: [f64; 2], c: usize) -> f64 {
        let slope = -2.0 * self.l * self.l * (q[0] - q[1]).sin() * g[0] * g[1];
        if c == 0 { slope } else { -slope }
    }
    fn dv(&self, q: &[f64], c: usize) -> f64 {
        [2.0, 1.0][c] * Self::G * self.l * q[c].sin()
    }
    fn energy(&self, q: &[f64], p: &[f64]) -> f64 {
        let [[a, b], [_, d]] = self.mass(q);
        let kinetic = 0.5 * (d * p[0] * p[0] - 2.0 * b * p[0] * p[1] + a * p[1] * p[1]) / (a * d - b * b);
        kinetic - Self::G * self.l * (2.0 * q[0].cos() + q[1].cos())
    }
    /// F_qm, F_p, F_q of Appendix A at x = (q_m, p, q); `share` is 1/12 as printed, 1/24 as it should be.
    fn residual(&self, h: f64, start: &[f64; 4], x: &[f64; 6], share: f64) -> [f64; 6] {
        let (l, m, r) = (&start[..2], &x[..2], &x[4..]);
        let velocity =
            |w: [f64; 3]| -> [f64; 2] { [0, 1].map(|a| (w[0] * l[a] + w[1] * m[a] + w[2] * r[a]) / h) };
        let (gl, gm, gr) =
            (velocity([-3.0, 4.0, -1.0]), velocity([-1.0, 0.0, 1.0]), velocity([1.0, -4.0, 3.0]));
        std::array::from_fn(|i| {
            let c = i % 2;
            let (p0, p1) = (start[2 + c], x[2 + c]);
            let (ml, mm, mr) = (self.mg(l, gl, c), self.mg(m, gm, c), self.mg(r, gr, c));
            let (cl, cm, cr) = (self.dm_gg(l, gl, c), self.dm_gg(m, gm, c), self.dm_gg(r, gr, c));
            let (vl, vm, vr) = (self.dv(l, c), self.dv(m, c), self.dv(r, c));
            match i / 2 {
                0 => h * (mr - ml) + h * h * vm - h * h / 2.0 * cm,
                1 => h * (p1 - p0) + h * h * (vl + 4.0 * vm + vr) / 6.0 - h * h / 12.0 * (cl + 4.0 * cm + cr),
                _ => {
                    h * (ml + 4.0 * mm + mr) / 6.0 - h / 2.0 * (p0 + p1)
                        + share * h * h * (cr - cl + 2.0 * vl - 2.0 * vr)
                }
            }
        })
    }
    /// Newton's method, with a matrix of differences.
    fn step(&self, h: f64, start: &[f64; 4], share: f64) -> [f64; 4] {
        let mut x = [start[0], start[1], start[2], start[3], start[0], start[1]];
        for _ in 0..12 {
            let mut f = self.residual(h, start, &x, share);
            let mut matrix = Matrix::new(6, 5);
            for j in 0..6 {
                let mut moved = x;
                moved[j] += 1e-7;
                let ahead = self.residual(h, start, &moved, share);
                for i in 0..6 {
                    *matrix.entry(i, j) = (ahead[i] - f[i]) / 1e-7;
                }
            }
            matrix.factor().unwrap();
            matrix.solve(&mut f);
            for i in 0..6 {
                x[i] -= f[i];
            }
        }
        [x[4], x[5], x[2], x[3]]
    }
    fn energy_error(&self, h: f64, steps: u32, share: f64) -> f64 {
        let mut state = [PI / 4.0, PI / 3.0, 0.0, 0.0];
        let energy = self.energy(&state[..2], &state[2..]);
        let mut worst = 0.0f64;
        for _ in 0..steps {
            state = self.step(h, &state, share);
            worst = worst.max((self.energy(&state[..2], &state[2..]) / energy - 1.0).abs());
        }
        worst
    }
}

#[test]
fn scheme_of_appendix_a_as_printed_has_order_2() {
    let pendulum = DoublePendulum { l: DoublePendulum::G / (2.0 * PI).powi(2) };
    let errors = |share: f64| [25, 50, 100].map(|n| pendulum.energy_error(1.0 / f64::from(n), n, share));
    let (printed, corrected) = (errors(1.0 / 12.0), errors(1.0 / 24.0));
    for (found, expected) in printed.into_iter().zip([1.4555e-3, 3.5883e-4, 8.9374e-5]) {
        about("as printed", found, expected);
    }
    for (found, expected) in corrected.into_iter().zip([8.0883e-6, 4.9376e-7, 3.0680e-8]) {
        about("corrected", found, expected);
    }
    let order = |errors: [f64; 3]| (errors[0] / errors[2]).log2() / 2.0;
    assert!((order(printed) - 2.0).abs() < 0.05 && (order(corrected) - 4.0).abs() < 0.05);
}

#[test]
fn appendix_b_momenta_residual_and_jacobian() {
    let h = H;
    let action = discrete_lagrangian("midpoint", h, N, &lagrangian);
    let nodes = [LEFT, RIGHT].concat();
    let (first, second) = (gradient(&action, &nodes), hessian(&action, &nodes));
    let place = Place::new(
        &std::array::from_fn(|a| 0.5 * (LEFT[a] + RIGHT[a])),
        std::array::from_fn(|a| (RIGHT[a] - LEFT[a]) / h),
    );
    // (28): p1 − p0 and p1 + p0 with p0 = −∂L_d/∂q_ℓ and p1 = +∂L_d/∂q_r
    let (p0, p1) = (each(|c| -first[c]), each(|c| first[N + c]));
    let difference = each(|c| p1[c] - p0[c]);
    erratum(
        "sign of p1",
        &difference,
        &each(|c| h / 2.0 * place.dm_gg(c) - h * place.dv[c]),
        &each(|c| -first[N + c] + first[c]),
    );
    right("p1 + p0", &each(|c| p1[c] + p0[c]), &each(|c| 2.0 * place.mg(c)));
    // F_q at the solution, with M (q − q_j) = h M g and without
    let f_q = |share: f64| each(|c| share * h * place.mg(c) - h / 2.0 * (p0[c] + p1[c]));
    erratum("F_q", &[0.0; N], &f_q(1.0), &f_q(0.0));
    // the printed Jacobian: F_p = p − p0 − (∂L_d/∂q_ℓ + ∂L_d/∂q), F_q = (h/2) (∂L_d/∂q − ∂L_d/∂q_ℓ − p − p0)
    let truth = each2(|c, d| -second[c][N + d] - second[N + c][N + d]);
    let printed = each2(|c, d| h / 2.0 * place.k[c][d] - h / 4.0 * place.ddm_gg(c, d) - place.dm_g(c, d));
    right("dF_p/dq", &truth, &printed);
    let truth = each2(|c, d| h / 2.0 * (second[N + c][N + d] - second[c][N + d]));
    right("dF_q/dq", &truth, &each2(|c, d| place.m[c][d] + h / 2.0 * place.dm_g(d, c)));
}

#[test]
fn eq_20_has_the_square_of_the_inertia() {
    // cos θ = (2/m) ℘ + constant, where ℘'' − 6 ℘² does not change: only one constant can do that
    let system = catalogue::system("lagrange-top").unwrap();
    let top: Problem<Number> = system.problem(&Settings::default()).unwrap();
    let solution = exact::solution(&top).unwrap();
    let cosine = |t: &[Number]| solution.at(&t[0])[1].cos();
    let (mass, inertia, i3, l, g) = (0.1, 2.33e-3, 1.25e-4, 0.15, 9.81);
    let m = mass * g * l / inertia;
    let (theta, precession, spin) = (PI / 3.0, 9.2, 252.0);
    let p_psi = i3 * (spin + precession * theta.cos());
    let p_phi = p_psi * theta.cos() + inertia * precession * theta.sin().powi(2);
    // sin θ in c is sin θ_0
    let c = (p_phi - p_psi * theta.cos()).powi(2) / (2.0 * inertia * theta.sin().powi(2))
        + inertia * m * theta.cos();
    let invariant = |constant: f64| {
        [0.1, 0.4, 0.7].map(|t| {
            let w = 0.5 * m * (cosine(&numbers(&[t])).to_f64() - constant);
            let second = hessian(&cosine, &[t])[0][0];
            (0.5 * m * second - 6.0 * w * w) / (m * m)
        })
    };
    let numerator = 2.0 * inertia * c + p_psi * p_psi;
    let corrected = numerator / (6.0 * inertia * inertia * m);
    about("the constant", corrected, 0.834302727988);
    let constant = invariant(corrected);
    right("eq. (20)", &[constant[0]; 2], &constant[1..]);
    let printed = invariant(numerator / (6.0 * inertia * m));
    wrong("eq. (20)", &[printed[0]; 2], &printed[1..]);
    about("nutation period", exact::period(&top).unwrap().to_f64(), 1.8467084770816);
}

#[test]
fn equation_22_and_the_reduced_system_follow_from_18b() {
    // θ'' of the top with cusps, from its closed form, against (26)
    let system = catalogue::system("lagrange-top-cusps").unwrap();
    let top: Problem<Number> = system.problem(&Settings::default()).unwrap();
    let solution = exact::solution(&top).unwrap();
    let angle = |t: &[Number]| solution.at(&t[0])[1];
    for t in [0.1, 0.3, 0.6] {
        let theta = angle(&numbers(&[t])).to_f64();
        let precession = 2.0 * PI * (3.0f64.sqrt() - 2.0 * theta.cos()) / theta.sin().powi(2);
        let with = |square: f64| (4.0 * PI * PI + square * theta.cos() - 4.0 * PI * precession) * theta.sin();
        right("eq. (26c)", &[hessian(&angle, &[t])[0][0]], &[with(precession * precession)]);
    }
}
