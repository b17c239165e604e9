//! Numbers with many digits: N limbs of 64 bits, fixed when the program is compiled.
//!
//! `Digits<4>` has 77 digits and serves computations with 64; [`limbs_for`] says how many limbs a number of digits takes.
//! Own code rather than a crate: the fast ones need GMP and its build tools and are LGPL, the pure ones allocate and are
//! several times slower. A `Digits` is a plain `Copy` value, so nothing allocates.
//!
//! Sums, products and quotients are rounded to nearest (but for ties); elementary functions are good to a few units in the
//! last place, which the spare digits absorb.

mod arithmetic;
mod circle;
mod functions;
mod natural;
mod text;

use super::Field;

/// Digits to spare for rounding errors and elementary functions.
const SPARE_BITS: f64 = 30.0;

/// How many limbs hold so many decimal digits, with some to spare.
pub fn limbs_for(digits: usize) -> usize {
    ((digits as f64 * std::f64::consts::LOG2_10 + SPARE_BITS) / 64.0).ceil() as usize
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Class {
    Zero,
    Finite,
    Infinite,
    NaN,
}

/// A number with N limbs: ±0.m × 2^exponent, the top bit of m set.
#[derive(Clone, Copy, Debug)]
pub struct Digits<const N: usize> {
    class: Class,
    negative: bool,
    exponent: i64,
    /// The mantissa, least significant limb first.
    limbs: [u64; N],
}

impl<const N: usize> Digits<N> {
    const NAN: Self = Self::special(Class::NaN, false);
    const ZERO: Self = Self::special(Class::Zero, false);

    const fn special(class: Class, negative: bool) -> Self {
        Self { class, negative, exponent: 0, limbs: [0; N] }
    }

    const fn is_zero(&self) -> bool {
        matches!(self.class, Class::Zero)
    }

    /// times 2^shift
    const fn scaled(mut self, shift: i64) -> Self {
        self.exponent += shift;
        self
    }

    /// A whole number.
    const fn integer(value: i64) -> Self {
        if value == 0 {
            return Self::ZERO;
        }
        let mut number = Self::special(Class::Finite, value < 0);
        let size = value.unsigned_abs();
        number.limbs[N - 1] = size << size.leading_zeros();
        number.exponent = 64 - size.leading_zeros() as i64;
        number
    }

    /// Compares sizes.
    fn compare_size(&self, other: &Self) -> std::cmp::Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => std::cmp::Ordering::Equal,
            (true, false) => std::cmp::Ordering::Less,
            (false, true) => std::cmp::Ordering::Greater,
            (false, false) => self
                .exponent
                .cmp(&other.exponent)
                .then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev())),
        }
    }
}

impl<const N: usize> PartialEq for Digits<N> {
    fn eq(&self, other: &Self) -> bool {
        match (self.class, other.class) {
            (Class::NaN, _) | (_, Class::NaN) => false,
            (Class::Finite, Class::Finite) => {
                self.negative == other.negative && self.compare_size(other).is_eq()
            }
            (a, b) => a == b && (a == Class::Zero || self.negative == other.negative),
        }
    }
}

impl<const N: usize> Field for Digits<N> {
    fn from_f64(x: f64) -> Self {
        if x.is_nan() {
            return Self::NAN;
        }
        if x.is_infinite() {
            return Self::special(Class::Infinite, x < 0.0);
        }
        // x = mantissa × 2^power, exactly
        let bits = x.to_bits();
        let field = ((bits >> 52) & 0x7ff) as i64;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, power) =
            if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
        let number = Self::integer(mantissa as i64).scaled(power);
        if x.is_sign_negative() { -number } else { number }
    }

    fn to_f64(&self) -> f64 {
        let sign = if self.negative { -1.0 } else { 1.0 };
        match self.class {
            Class::Zero => 0.0,
            Class::Infinite => sign * f64::INFINITY,
            Class::NaN => f64::NAN,
            Class::Finite => {
                // a sticky bit makes the conversion of the top limb round correctly
                let rest = self.limbs[..N - 1].iter().any(|limb| *limb != 0);
                let mantissa = (self.limbs[N - 1] | u64::from(rest)) as f64;
                let exponent = self.exponent - 64;
                if exponent > 2000 {
                    return sign * f64::INFINITY;
                }
                if exponent < -2000 {
                    return 0.0;
                }
                // in two factors, neither of which leaves the range of f64
                let power = |exponent: i64| f64::from_bits(((1023 + exponent) as u64) << 52);
                let half = exponent / 2;
                sign * mantissa * power(half) * power(exponent - half)
            }
        }
    }

    fn epsilon() -> f64 {
        2f64.powi(1 - 64 * N as i32)
    }

    fn is_finite(&self) -> bool {
        matches!(self.class, Class::Zero | Class::Finite)
    }
}

#[cfg(test)]
mod tests;
