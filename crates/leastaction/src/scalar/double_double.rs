//! Double-double arithmetic: an unevaluated sum of two `f64`, about 32 digits.
//!
//! Used where a constant has to be right to the last bit of an `f64` (nodes and weights of every method) and
//! wherever a reference with twice the digits is enough. Arithmetic only; after Dekker (1971) and Knuth.

use super::Field;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `high + low` with `|low| ≤ ulp(high)/2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleDouble {
    high: f64,
    low: f64,
}

/// a + b = s + e exactly.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let bb = s - a;
    (s, (a - (s - bb)) + (b - bb))
}

/// a·b = p + e exactly.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    (p, a.mul_add(b, -p))
}

impl DoubleDouble {
    /// a + b, exactly.
    fn from_sum(a: f64, b: f64) -> Self {
        let (high, low) = two_sum(a, b);
        Self { high, low }
    }
}

impl Add for DoubleDouble {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (s, e) = two_sum(self.high, other.high);
        let (t, f) = two_sum(self.low, other.low);
        let first = Self::from_sum(s, e + t);
        Self::from_sum(first.high, first.low + f)
    }
}

impl Neg for DoubleDouble {
    type Output = Self;
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for DoubleDouble {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + (-other)
    }
}

impl Mul for DoubleDouble {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let (p, e) = two_product(self.high, other.high);
        Self::from_sum(p, e + (self.high * other.low + self.low * other.high))
    }
}

impl Div for DoubleDouble {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        // three digits of long division, each the nearest f64 to what is left
        let first = self.high / other.high;
        let left = self - other * Self::from_f64(first);
        let second = left.high / other.high;
        let left = left - other * Self::from_f64(second);
        let third = left.high / other.high;
        Self::from_sum(first, second) + Self::from_f64(third)
    }
}

impl Field for DoubleDouble {
    fn from_f64(x: f64) -> Self {
        Self { high: x, low: 0.0 }
    }
    fn to_f64(&self) -> f64 {
        self.high + self.low
    }
    fn epsilon() -> f64 {
        f64::EPSILON * f64::EPSILON
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_times_three_is_one_to_31_digits() {
        let third = DoubleDouble::from_f64(1.0) / DoubleDouble::from_f64(3.0);
        let defect = third * DoubleDouble::from_f64(3.0) - DoubleDouble::from_f64(1.0);
        assert!(defect.to_f64().abs() < 1e-31, "{defect:?}");
        assert!(third.low != 0.0);
    }

    #[test]
    fn sums_keep_what_f64_drops() {
        let tiny = DoubleDouble::from_f64(1e-25);
        let sum = DoubleDouble::from_f64(1.0) + tiny - DoubleDouble::from_f64(1.0);
        assert_eq!(sum.to_f64(), 1e-25);
    }
}
