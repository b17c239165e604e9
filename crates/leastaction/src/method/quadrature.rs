//! Gauss and Gauss–Lobatto points and weights on [0, 1], in any field.
//!
//! Roots of Legendre polynomials by Newton's method, started from their asymptotic places and iterated until the
//! correction no longer shrinks; computed once in a wider type and rounded, so the last bit is right.

use crate::scalar::{Field, elementary};

/// Points and weights of a quadrature on [0, 1], in ascending order.
#[derive(Clone, Debug)]
pub struct Quadrature<F> {
    /// Points.
    pub points: Vec<F>,
    /// Weights.
    pub weights: Vec<F>,
}

/// P_n(x) and P_n'(x) for n ≥ 1, |x| < 1; at the ends P_n alone.
pub(super) fn legendre<F: Field>(n: usize, x: &F) -> (F, F) {
    // (k+1) P_{k+1} = (2k+1) x P_k − k P_{k−1}
    let (mut before, mut value) = (F::one(), x.clone());
    for k in 1..n {
        let k = k as f64;
        let next = (F::from_f64(2.0 * k + 1.0) * x.clone() * value.clone() - F::from_f64(k) * before)
            / F::from_f64(k + 1.0);
        before = std::mem::replace(&mut value, next);
    }
    // (1 − x²) P_n' = n (P_{n−1} − x P_n)
    let slope =
        F::from_f64(n as f64) * (before - x.clone() * value.clone()) / (F::one() - x.clone() * x.clone());
    (value, slope)
}

/// Iterates x − f(x)/f'(x) until the correction no longer shrinks.
fn newton_root<F: Field>(guess: f64, correction: impl Fn(&F) -> F) -> F {
    let mut x = F::from_f64(guess);
    let mut previous = f64::INFINITY;
    loop {
        let delta = correction(&x);
        let size = delta.magnitude();
        if size == 0.0 || size >= previous {
            return x;
        }
        x = x - delta;
        previous = size;
    }
}

/// Turns roots in (−1, 0] and a weight function of the root into a symmetric quadrature on [0, 1].
fn mirrored<F: Field>(count: usize, lower: &[F], weight: impl Fn(&F) -> F) -> Quadrature<F> {
    let half = F::from_f64(0.5);
    let mut points = vec![F::zero(); count];
    let mut weights = vec![F::zero(); count];
    for (i, x) in lower.iter().enumerate() {
        let w = half.clone() * weight(x);
        points[i] = half.clone() * (F::one() + x.clone());
        points[count - 1 - i] = half.clone() * (F::one() - x.clone());
        weights[i] = w.clone();
        weights[count - 1 - i] = w;
    }
    Quadrature { points, weights }
}

/// The Gauss quadrature with n ≥ 1 points: exact for polynomials of degree 2n − 1.
pub fn gauss<F: Field>(n: usize) -> Quadrature<F> {
    let lower: Vec<F> = (0..n.div_ceil(2))
        .map(|i| {
            if 2 * i + 1 == n {
                return F::zero();
            }
            let guess = -elementary::cos(std::f64::consts::PI * (i as f64 + 0.75) / (n as f64 + 0.5));
            newton_root(guess, |x: &F| {
                let (value, slope) = legendre(n, x);
                value / slope
            })
        })
        .collect();
    // w = 2 / ((1 − x²) P_n'²)
    mirrored(n, &lower, |x| {
        let (_, slope) = legendre(n, x);
        F::from_f64(2.0) / ((F::one() - x.clone() * x.clone()) * slope.clone() * slope)
    })
}

/// The Gauss–Lobatto quadrature with n ≥ 2 points, both ends among them: exact for degree 2n − 3.
pub fn lobatto<F: Field>(n: usize) -> Quadrature<F> {
    let degree = n - 1;
    let size = (degree * (degree + 1)) as f64;
    let lower: Vec<F> = (0..n.div_ceil(2))
        .map(|i| {
            if i == 0 {
                return F::from_f64(-1.0);
            }
            if 2 * i + 1 == n {
                return F::zero();
            }
            let guess = -elementary::cos(std::f64::consts::PI * i as f64 / degree as f64);
            // P'' from Legendre's equation: (1 − x²) P'' = 2x P' − n(n+1) P
            newton_root(guess, |x: &F| {
                let (value, slope) = legendre(degree, x);
                let room = F::one() - x.clone() * x.clone();
                let curvature =
                    (F::from_f64(2.0) * x.clone() * slope.clone() - F::from_f64(size) * value) / room;
                slope / curvature
            })
        })
        .collect();
    // w = 2 / (n (n−1) P_{n−1}²), and P(−1)² = 1
    mirrored(n, &lower, |x| {
        let square = if x.to_f64() == -1.0 {
            F::one()
        } else {
            let (value, _) = legendre(degree, x);
            value.clone() * value
        };
        F::from_f64(2.0) / (F::from_f64(size) * square)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::DoubleDouble;

    /// ∫ t^k = 1/(k+1), to 30 digits.
    fn check(quadrature: &Quadrature<DoubleDouble>, degree: usize) {
        for k in 0..=degree {
            let mut sum = DoubleDouble::from_f64(-1.0) / DoubleDouble::from_f64(k as f64 + 1.0);
            for (x, w) in quadrature.points.iter().zip(&quadrature.weights) {
                let power = (0..k).fold(DoubleDouble::one(), |power, _| power * *x);
                sum.add_mul(w, &power);
            }
            assert!(
                sum.magnitude() < 1e-29,
                "{} points, degree {k}: {}",
                quadrature.points.len(),
                sum.to_f64()
            );
        }
    }

    #[test]
    fn quadratures_are_exact_to_their_degree() {
        for n in 1..=20 {
            check(&gauss(n), 2 * n - 1);
            check(&lobatto(n + 1), 2 * n - 1);
        }
    }

    #[test]
    fn known_points() {
        let three = lobatto::<f64>(4);
        assert!((three.points[1] - (5.0 - 5f64.sqrt()) / 10.0).abs() < 1e-16);
        assert!((three.weights[0] - 1.0 / 12.0).abs() < 1e-16);
        let two = gauss::<f64>(2);
        assert!((two.points[0] - (0.5 - 3f64.sqrt() / 6.0)).abs() < 1e-16);
    }
}
