//! Decimal literals, printing, and the constants that are sums of fixed-point series.

use super::natural::Natural;
use super::{Class, Digits};
use crate::scalar::Field;
use std::fmt;

/// Σ factor · arctan(1/n) (alternating) or artanh(1/n), as a sum of two numbers: whole multiples of the first
/// are exact.
pub(super) fn fixed_point_sum<const N: usize>(terms: &[(i64, u64, bool)]) -> (Digits<N>, Digits<N>) {
    let fraction = 2 * N + 1;
    let (mut positive, mut negative) = (Natural::default(), Natural::default());
    for &(factor, n, alternating) in terms {
        // factor/n, factor/n³, … in units of 2^(−64·fraction)
        let mut power = Natural(vec![factor.unsigned_abs()]).raised(fraction);
        power.over(n);
        let mut k = 0;
        while !power.0.is_empty() {
            let mut term = power.clone();
            term.over(2 * k + 1);
            let minus = (factor < 0) ^ (alternating && k % 2 == 1);
            if minus {
                negative.add(&term, false);
            } else {
                positive.add(&term, false);
            }
            power.over(n * n);
            k += 1;
        }
    }
    positive.add(&negative, true);
    // the first part leaves the last limb of a mantissa free (half of it if there is only one)
    let cut = positive.bits() - if N == 1 { 32 } else { 64 * (N - 1) };
    (positive.masked(cut, false).rounded(fraction), positive.masked(cut, true).rounded(fraction))
}

/// The number that a decimal literal such as `-1.5e-3` stands for.
pub(super) fn parse<const N: usize>(text: &str) -> Option<Digits<N>> {
    let text = text.trim();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = whole.bytes().chain(fraction.bytes());
    if whole.is_empty() && fraction.is_empty()
        || !digits.clone().all(|c| c.is_ascii_digit())
        || exponent.abs() > 100_000
    {
        return None;
    }
    let mut integer = Natural::default();
    for c in digits {
        integer.scale(10, u64::from(c - b'0'));
    }
    let value: Digits<N> = integer.rounded(0);
    let power = exponent - fraction.len() as i64;
    // one rounding: divide by a power of ten rather than multiply by its inverse
    let value = if power < 0 { value / power_of_ten(-power) } else { value * power_of_ten(power) };
    Some(if negative { -value } else { value })
}

/// 10^power, power ≥ 0.
fn power_of_ten<const N: usize>(power: i64) -> Digits<N> {
    let (mut result, mut square) = (Digits::<N>::one(), Digits::<N>::integer(10));
    let mut left = power;
    while left > 0 {
        if left & 1 == 1 {
            result = result * square;
        }
        square = square * square;
        left >>= 1;
    }
    result
}

impl<const N: usize> Digits<N> {
    /// The number in scientific notation with so many significant digits.
    pub fn to_decimal(&self, digits: usize) -> String {
        let sign = if self.negative { "-" } else { "" };
        match self.class {
            Class::Zero => return "0".to_owned(),
            Class::NaN => return "NaN".to_owned(),
            Class::Infinite => return format!("{sign}inf"),
            Class::Finite => {}
        }
        let size = Self { negative: false, ..*self };
        // a first guess of the decimal exponent, corrected below
        let mut power = ((self.exponent - 1) as f64 * std::f64::consts::LOG10_2).floor() as i64;
        let ten = Self::integer(10);
        let mut scaled = if power < 0 { size * power_of_ten(-power) } else { size / power_of_ten(power) };
        // half a unit of the last digit, so that cutting rounds
        let half = |scaled: Self| scaled + Self::integer(5) / power_of_ten(digits.max(1) as i64);
        while half(scaled).compare_size(&ten).is_ge() {
            scaled = scaled / ten;
            power += 1;
        }
        scaled = half(scaled);
        let mut text = String::from(sign);
        for k in 0..digits.max(1) {
            // the whole part is below 10, so it is in the top bits of the top limb
            let digit = if scaled.exponent <= 0 || scaled.is_zero() {
                0
            } else {
                scaled.limbs[N - 1] >> (64 - scaled.exponent)
            };
            text.push(char::from(b'0' + digit as u8));
            if k == 0 && digits > 1 {
                text.push('.');
            }
            scaled = (scaled - Self::integer(digit as i64)) * ten;
        }
        if power != 0 {
            text.push_str(&format!("e{power}"));
        }
        text
    }
}

impl<const N: usize> fmt::Display for Digits<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = ((64 * N) as f64 - super::SPARE_BITS) / std::f64::consts::LOG2_10;
        f.write_str(&self.to_decimal(f.precision().map_or(all as usize, |digits| digits + 1)))
    }
}
