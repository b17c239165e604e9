//! Elliptic integrals of the first kind and Jacobi functions in any number type, by the arithmetic–geometric mean.
//!
//! Parameter m = k² throughout. A [`Modulus`] carries 1 − m beside m, so that motions close to a separatrix (m → 1) keep their
//! digits: no formula here takes a difference of nearly equal numbers. Own code because it has to run in every [`Real`]
//! (Abramowitz & Stegun 16.12, 17.6; Carlson's integrals for the incomplete ones).

use super::{carlson, squared};
use crate::scalar::Real;

/// The complete integral K(m), 0 ≤ m < 1.
pub fn complete<R: Real>(m: &R) -> R {
    Modulus::new(m.clone(), R::one() - m.clone()).quarter
}

/// The incomplete integral F(φ, m) for |φ| ≤ π/2, from sin φ and cos φ.
pub fn incomplete<R: Real>(sine: &R, cosine: &R, m: &R) -> R {
    // 1 − m sin² = cos² + (1 − m) sin²
    let rest = squared(cosine) + (R::one() - m.clone()) * squared(sine);
    sine.clone() * carlson::first(&squared(cosine), &rest)
}

/// The Jacobi functions of u, 0 ≤ m ≤ 1.
pub fn jacobi<R: Real>(u: &R, m: &R) -> Jacobi<R> {
    Modulus::new(m.clone(), R::one() - m.clone()).jacobi(u)
}

/// sn, cn, dn and the amplitude am of u.
#[derive(Clone, Debug)]
pub struct Jacobi<R> {
    /// sn(u, m).
    pub sn: R,
    /// cn(u, m).
    pub cn: R,
    /// dn(u, m).
    pub dn: R,
    /// Whole multiples of 2K in u, to the nearest.
    half_turns: f64,
}

impl<R: Real> Jacobi<R> {
    /// The amplitude: sn = sin am, without jumps.
    pub fn am(&self) -> R {
        // at u − 2K j both sn and cn have the sign (−1)^j
        let sign = R::from_f64(parity(self.half_turns));
        let rest = (sign.clone() * self.sn.clone()).atan2(&(sign * self.cn.clone()));
        rest + R::from_f64(self.half_turns) * R::pi()
    }
}

/// 1 for even, −1 for odd whole numbers.
fn parity(whole: f64) -> f64 {
    if whole.rem_euclid(2.0) == 0.0 { 1.0 } else { -1.0 }
}

/// A parameter m with its complement 1 − m, and the arithmetic–geometric mean that belongs to it.
#[derive(Clone, Debug)]
pub(super) struct Modulus<R> {
    pub(super) m: R,
    /// 1 − m; zero means hyperbolic functions.
    pub(super) complement: R,
    /// The quarter period K(m).
    pub(super) quarter: R,
    /// The mean of 1 and √(1 − m).
    mean: R,
    /// k_n = c_n/a_n and 1 − k_n = b_{n−1}/a_n, the moduli of Landen's descending steps.
    steps: Vec<[R; 2]>,
}

impl<R: Real> Modulus<R> {
    pub(super) fn new(m: R, complement: R) -> Self {
        let mut steps = Vec::new();
        if complement.magnitude() == 0.0 {
            return Self { m, complement, quarter: R::from_f64(f64::INFINITY), mean: R::one(), steps };
        }
        let half = R::from_f64(0.5);
        let (mut a, mut b, mut square) = (R::one(), complement.sqrt(), m.clone());
        loop {
            // a' = (a + b)/2, b' = √(ab), c' = c²/(4a'); the larger of k and 1 − k from the smaller
            let mean = half.clone() * (a.clone() + b.clone());
            let (mut modulus, mut rest) =
                (square / (R::from_f64(4.0) * squared(&mean)), b.clone() / mean.clone());
            if modulus.to_f64() < 0.5 {
                rest = R::one() - modulus.clone();
            } else {
                modulus = R::one() - rest.clone();
            }
            steps.push([modulus.clone(), rest]);
            b = (a * b).sqrt();
            a = mean;
            square = squared(&(modulus.clone() * a.clone()));
            // the next modulus is about a quarter of this one's square; NaN ends the loop too
            let goes_on = modulus.magnitude().powi(2) > R::epsilon();
            if !goes_on {
                break;
            }
        }
        let quarter = half * R::pi() / a.clone();
        Self { m, complement, quarter, mean: a, steps }
    }

    /// The Jacobi functions of u, after taking off whole half turns 2K.
    pub(super) fn jacobi(&self, u: &R) -> Jacobi<R> {
        if self.complement.magnitude() == 0.0 {
            let cn = R::one() / u.cosh();
            return Jacobi { sn: u.tanh(), cn: cn.clone(), dn: cn, half_turns: 0.0 };
        }
        let (half_turns, rest) = self.reduced(u);
        let sign = R::from_f64(parity(half_turns));
        let (mut sn, mut cn) = (self.mean.clone() * rest).sin_cos();
        let mut dn = R::one();
        // sn ← (1 + k) sn/D, cn ← cn dn/D, dn ← (1 − k + k cn²)/D, D = 1 + k sn²: positive terms only
        for [k, rest] in self.steps.iter().rev() {
            let inverse = R::one() / (R::one() + k.clone() * squared(&sn));
            let next = (rest.clone() + k.clone() * squared(&cn)) * inverse.clone();
            sn = (R::one() + k.clone()) * sn * inverse.clone();
            cn = if squared(&sn).to_f64() < 0.5 {
                // the product would double the rounding of a cosine close to 1
                (R::one() - squared(&sn)).sqrt()
            } else {
                cn * dn * inverse
            };
            dn = next;
        }
        Jacobi { sn: sign.clone() * sn, cn: sign * cn, dn, half_turns }
    }

    /// u = 2K j + rest with j whole and |rest| ≤ K.
    pub(super) fn reduced(&self, u: &R) -> (f64, R) {
        let period = R::from_f64(2.0) * self.quarter.clone();
        let half_turns = (u.to_f64() / period.to_f64()).round();
        (half_turns, u.clone() - R::from_f64(half_turns) * period)
    }

    /// The u with |u| ≤ K that has these sn and cn ≥ 0.
    pub(super) fn inverse(&self, sn: &R, cn: &R) -> R {
        let square = squared(cn);
        let rest = square.clone() + self.complement.clone() * squared(sn);
        sn.clone() * carlson::first(&square, &rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert!((complete(&0.5) - 1.854_074_677_301_371_9).abs() < 1e-15);
        assert!((complete(&0.0) - std::f64::consts::FRAC_PI_2).abs() < 4e-16);
        // A&S Table 17.5: F(30°\ sin²α = 0.5)
        let (s, c) = (0.5f64, 0.75f64.sqrt());
        assert!((incomplete(&s, &c, &0.5) - 0.535_622_732_805_403_3).abs() < 1e-15);
    }

    #[test]
    fn functions_invert_the_integral() {
        for complement in [0.99, 0.7, 0.1, 1e-3, 1e-15, 1e-40, 0.0] {
            let modulus = Modulus::new(1.0 - complement, complement);
            for u in [-1.2, 0.1, 0.7, 1.5] {
                let j = modulus.jacobi(&u);
                assert!((modulus.inverse(&j.sn, &j.cn) - u).abs() < 1e-14, "{complement} {u}");
                assert!((j.sn * j.sn + j.cn * j.cn - 1.0).abs() < 2e-15, "{complement} {u}");
                assert!((j.am() - j.sn.asin()).abs() < 4e-15, "{complement} {u}");
            }
            if complement > 0.0 {
                let quarter = modulus.jacobi(&modulus.quarter);
                let dn = complement.sqrt();
                assert!((quarter.dn / dn - 1.0).abs() < 1e-14, "{complement}: {quarter:?}");
                assert!((quarter.sn - 1.0).abs() < 1e-15 && quarter.cn.abs() < 1e-15, "{quarter:?}");
                let far = modulus.jacobi(&(21.3 * modulus.quarter));
                let near = modulus.jacobi(&(1.3 * modulus.quarter));
                let turns = 10.0 * std::f64::consts::PI;
                assert!((far.am() - near.am() - turns).abs() < 1e-13, "{complement}");
            }
        }
    }
}
