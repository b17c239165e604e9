//! Carlson's symmetric integrals R_F and R_J by duplication, in any number type (B. C. Carlson, Numerical Algorithms 10, 1995).
//!
//! Each duplication brings the arguments four times closer together; a series ends it. R_J comes in two parts, because the
//! angle of the second one is what an axis that passes close to a pole turns by: with δ = (p − x)(p − y)(p − z) ≥ 0,
//!
//! ```text
//! R_J(x, y, z, p) = regular + (6/√δ) angle,   angle = Σ_k 2^k atan(8^−k √δ / d_k)
//! ```

use super::{root, squared};
use crate::scalar::{Real, elementary};

/// R_F(x, y, 1), x and y ≥ 0.
pub(super) fn first<R: Real>(x: &R, y: &R) -> R {
    let mut w = [x.clone(), y.clone(), R::one()];
    let mut mean = (x.clone() + y.clone() + R::one()) / R::from_f64(3.0);
    while spread(&w, &mean) {
        let roots = w.clone().map(|x| root(&x));
        duplicate(&mut w, &mut mean, &roots);
    }
    let [dx, dy] = [0, 1].map(|i| R::one() - w[i].clone() / mean.clone());
    let dz = -(dx.clone() + dy.clone());
    let e2 = dx.clone() * dy.clone() - squared(&dz);
    let e3 = dx * dy * dz;
    // 1 − E2/10 + E3/14 + E2²/24 − 3 E2 E3/44
    let series = R::one() - ratio(1, 10, &e2) + ratio(1, 14, &e3) + ratio(1, 24, &squared(&e2))
        - ratio(3, 44, &(e2 * e3));
    series / mean.sqrt()
}

/// The two parts of R_J(x, y, 1, p) for p ≥ 0, given √x, √y and √δ; the angle has the sign of the last.
///
/// √x rather than x, because R_J is a smooth function of it at zero.
pub(super) fn third<R: Real>([root_x, root_y]: [R; 2], p: &R, root_delta: &R) -> (R, R) {
    let (x, y) = (squared(&root_x), squared(&root_y));
    let mut given = Some([root_x, root_y, R::one(), root(p)]);
    let mut w = [x.clone(), y.clone(), R::one(), p.clone()];
    let two = R::from_f64(2.0);
    let mut mean = (x + y + R::one() + two * p.clone()) / R::from_f64(5.0);
    let mut tangents = Vec::new();
    let (mut weight, mut eighths) = (R::one(), root_delta.clone());
    while spread(&w, &mean) {
        // d = (√p + √x)(√p + √y)(√p + √z)
        let roots = given.take().unwrap_or_else(|| w.clone().map(|x| root(&x)));
        duplicate(&mut w, &mut mean, &roots);
        let [rx, ry, rz, rp] = roots;
        let d = (rp.clone() + rx) * (rp.clone() + ry) * (rp + rz);
        tangents.push(eighths.clone() / d);
        weight = R::from_f64(0.25) * weight;
        eighths = R::from_f64(0.125) * eighths;
    }
    let regular = weight * third_series(&w, &mean) / (mean.clone() * mean.sqrt());
    (regular, doubled_angles(&tangents))
}

/// 1 − 3E2/14 + E3/6 + 9E2²/88 − 3E4/22 − 9E2E3/52 + 3E5/26
fn third_series<R: Real>(w: &[R; 4], mean: &R) -> R {
    let [x, y, z] = [0, 1, 2].map(|i| R::one() - w[i].clone() / mean.clone());
    let p = R::from_f64(-0.5) * (x.clone() + y.clone() + z.clone());
    let product = x.clone() * y.clone() * z.clone();
    let (square, cube) = (squared(&p), squared(&p) * p.clone());
    let e2 = x.clone() * y.clone() + x * z.clone() + y * z - R::from_f64(3.0) * square.clone();
    let mixed = e2.clone() * p.clone();
    let e3 = product.clone() + R::from_f64(2.0) * mixed.clone() + R::from_f64(4.0) * cube.clone();
    let e4 = (R::from_f64(2.0) * product.clone() + mixed + R::from_f64(3.0) * cube) * p;
    let e5 = product * square;
    R::one() - ratio(3, 14, &e2) + ratio(1, 6, &e3) + ratio(9, 88, &squared(&e2))
        - ratio(3, 22, &e4)
        - ratio(9, 52, &(e2 * e3))
        + ratio(3, 26, &e5)
}

/// Σ_k 2^k atan(x_k), as the angle of one complex number: z_k = (1 + i x_k) z_{k+1}². One arctangent instead of dozens.
fn doubled_angles<R: Real>(tangents: &[R]) -> R {
    let (mut re, mut im) = (R::one(), R::zero());
    let mut estimate = 0.0;
    for x in tangents.iter().rev() {
        let square = (squared(&re) - squared(&im), R::from_f64(2.0) * re * im);
        re = square.0.clone() - x.clone() * square.1.clone();
        im = square.1 + x.clone() * square.0;
        estimate = 2.0 * estimate + elementary::atan(x.to_f64());
    }
    let angle = im.atan2(&re);
    let turn = 2.0 * std::f64::consts::PI;
    let turns = ((estimate - angle.to_f64()) / turn).round();
    angle + R::from_f64(2.0 * turns) * R::pi()
}

/// Whether the arguments are still too far apart for a series that is good to the sixth power of their spread.
fn spread<R: Real>(w: &[R], mean: &R) -> bool {
    let largest = w.iter().map(|x| (x.clone() - mean.clone()).magnitude()).fold(0.0, f64::max);
    largest > mean.magnitude() * elementary::pow(R::epsilon(), 1.0 / 6.0) * 0.1
}

/// w ← (w + λ)/4 for all arguments and their mean, λ = √x√y + √x√z + √y√z.
fn duplicate<R: Real, const N: usize>(w: &mut [R; N], mean: &mut R, roots: &[R; N]) {
    let [x, y, z] = [0, 1, 2].map(|i| roots[i].clone());
    let lambda = x.clone() * y.clone() + x * z.clone() + y * z;
    for x in w.iter_mut().chain([mean]) {
        *x = R::from_f64(0.25) * (x.clone() + lambda.clone());
    }
}

/// (a/b) x
fn ratio<R: Real>(a: i32, b: i32, x: &R) -> R {
    R::from_f64(f64::from(a)) * x.clone() / R::from_f64(f64::from(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{Digits, Field};

    /// R_J from its parts.
    fn r_j(x: f64, y: f64, p: f64) -> f64 {
        let delta = (p - x) * (p - y) * (p - 1.0);
        let (regular, angle) = third([x.sqrt(), y.sqrt()], &p, &delta.sqrt());
        regular + 6.0 / delta.sqrt() * angle
    }

    #[test]
    fn values_computed_with_thirty_digits() {
        // mpmath elliprf and elliprj
        let cases = [
            (0.0, 2.0, 1.311_028_777_146_059_9),
            (0.3, 0.9, 1.208_573_759_482_708_5),
            (1e-20, 1e-15, 18.652_525_270_399_08),
        ];
        for (x, y, expected) in cases {
            assert!((first(&x, &y) / expected - 1.0).abs() < 1e-15, "{x} {y}");
        }
        let cases = [
            (0.0, 0.5, 0.3, 7.320_140_455_215_176),
            (0.2, 0.8, 0.5, 2.460_680_738_035_631),
            (1e-12, 0.5, 1e-9, 206_596.318_321_313_3),
        ];
        for (x, y, p, expected) in cases {
            assert!((r_j(x, y, p) / expected - 1.0).abs() < 2e-15, "{x} {y} {p}: {}", r_j(x, y, p));
        }
    }

    #[test]
    fn values_with_seventy_seven_digits() {
        type Wide = Digits<4>;
        let [x, y, p] = [0.25, 0.75, 0.5].map(Wide::from_f64);
        let delta = ((p - x) * (p - y) * (p - Wide::one())).sqrt();
        let (regular, angle) = third([x.sqrt(), y.sqrt()], &p, &delta);
        let six = Wide::from_f64(6.0);
        // mpmath with 90 digits
        let r_j = "2.39053694605777502189106171321940286546445594682950510731151143142652063984251";
        let r_f = "1.27683547847370629734634743462829398279181530154755594426634294073190327767169";
        for (found, expected) in [(regular + six / delta * angle, r_j), (first(&x, &y), r_f)] {
            let error = found / Wide::from_decimal(expected) - Wide::one();
            assert!(error.to_f64().abs() < 1e-75, "{error:?}");
        }
    }
}
