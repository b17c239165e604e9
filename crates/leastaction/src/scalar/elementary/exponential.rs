//! Exponential, logarithm and power.
//!
//! Powers of two are split off through the bits; what is left is a polynomial. A power is the exponential of a logarithm that is kept
//! with 70 bits.

use super::coefficients::{
    EXP, FIFTH_HIGH, FIFTH_LOW, LN, LN_2_1, LN_2_2, LN_TAIL, LOG2_E, THIRD_HIGH, THIRD_LOW,
};
use super::lanes::Lanes;
use super::pairs::{ROUND, polynomial, product, product_of_pairs, quotient, sum};

/// Beyond these the exponential is infinite or zero.
const LARGEST: f64 = 710.0;
const SMALLEST: f64 = -746.0;
/// The bits of 1.
const ONE: u64 = 1023 << 52;
/// The bits of √½, where mantissas begin.
const ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
/// 2^52, whose lowest bits count ones.
const COUNT: f64 = 4_503_599_627_370_496.0;
/// 2^54, which makes subnormal numbers normal.
const LIFT: f64 = 18_014_398_509_481_984.0;
/// Larger exponents give nothing new: 1 ± 2^-53 to this power is infinite or zero.
const LARGEST_EXPONENT: f64 = 7.378_697_629_483_821e19; // 2^66

/// A number between two bounds; NaN stays.
#[inline(always)]
fn clamp<L: Lanes>(x: L, low: f64, high: f64) -> L {
    let (low, high) = (x.constant(low), x.constant(high));
    let x = L::select(x.below(low), low, x);
    L::select(high.below(x), high, x)
}

/// exp(x + low) = (first + second) · 2^k, for x within the bounds. Gives first, second, k.
#[inline(always)]
pub(super) fn parts<L: Lanes>(x: L, low: L) -> (L, L, L) {
    let k = (x * LOG2_E + ROUND) - ROUND;
    // r = x − k ln 2 with what rounding takes
    let near = x - k * LN_2_1;
    let step = k * LN_2_2;
    let r = near - step;
    let rest = ((near - r) - step) + low;
    let (first, lost) = sum(r.constant(1.0), r);
    let bend = r * r * polynomial(r, &EXP);
    (first, lost + (bend + (rest + rest * (r + bend))), k)
}

/// x · 2^k for whole k from −1080 to 1080: in two factors, each of which is a number.
#[inline(always)]
pub(super) fn scale<L: Lanes>(x: L, k: L) -> L {
    let power = |shifted: L| L::from_bits(L::plus(L::left(shifted.bits(), 52), x.word(ONE)));
    let half = k * 0.5 + ROUND;
    let rest = (k - (half - ROUND)) + ROUND;
    x * power(half) * power(rest)
}

/// Exponential.
#[inline(always)]
pub fn exp<L: Lanes>(x: L) -> L {
    let x = clamp(x, SMALLEST, LARGEST);
    let (first, second, k) = parts(x, x.constant(0.0));
    scale(first + second, k)
}

/// x = m · 2^k with m from √½ to √2, for positive x. Gives m, k.
#[inline(always)]
fn mantissa<L: Lanes>(x: L) -> (L, L) {
    let tiny = x.below(x.constant(f64::MIN_POSITIVE));
    let lifted = L::select(tiny, x * LIFT, x);
    let lift = L::select(tiny, x.constant(54.0), x.constant(0.0));
    // k + 1024 in the places of the exponent
    let offset = L::plus(L::minus(lifted.bits(), x.word(ROOT)), x.word(1024 << 52));
    let count = L::right(offset, 52);
    let k = L::from_bits(L::or(count, x.word(COUNT.to_bits()))) - (COUNT + 1024.0) - lift;
    let m = L::minus(lifted.bits(), L::minus(L::left(count, 52), x.word(1024 << 52)));
    (L::from_bits(m), k)
}

/// Natural logarithm.
#[inline(always)]
pub fn ln<L: Lanes>(x: L) -> L {
    let (m, k) = mantissa(x);
    // with s = f/(2 + f): ln(1 + f) = f − (f²/2 − s (f²/2 + s² P))
    let f = m - 1.0;
    let s = f / (f + 2.0);
    let z = s * s;
    let half = f * f * 0.5;
    let bend = s * (half + z * polynomial(z, &LN));
    let (high, low) = sum(k * LN_2_1, f);
    let value = high + (low - (half - (bend + k * LN_2_2)));
    let zero = x.constant(0.0);
    let value = L::select(x.below(x.constant(f64::INFINITY)), value, x);
    let value = L::select(x.equals(zero), x.constant(f64::NEG_INFINITY), value);
    L::select(x.below(zero), x.constant(f64::NAN), value)
}

/// The logarithm of a positive number with 70 bits.
#[inline(always)]
fn long_ln<L: Lanes>(x: L) -> (L, L) {
    let (m, k) = mantissa(x);
    let f = m - 1.0;
    let zero = x.constant(0.0);
    let s = quotient((f, zero), sum(x.constant(2.0), f));
    let z = product_of_pairs(s, s);
    // s (2 + z (2/3 + z (2/5 + z P(z))))
    let inner = sum(x.constant(FIFTH_HIGH), z.0 * polynomial(z.0, &LN_TAIL) + FIFTH_LOW);
    let next = |head: f64, tail: f64, inner: (L, L)| {
        let (high, low) = product_of_pairs(z, inner);
        let (first, second) = sum(x.constant(head), high);
        sum(first, second + (low + tail))
    };
    let inner = next(2.0, 0.0, next(THIRD_HIGH, THIRD_LOW, inner));
    let (high, low) = product_of_pairs(s, inner);
    let (first, second) = sum(k * LN_2_1, high);
    sum(first, second + (low + k * LN_2_2))
}

/// Whether a number that is not negative is whole.
#[inline(always)]
fn is_whole<L: Lanes>(a: L) -> L::Mask {
    let large = !a.below(a.constant(COUNT));
    ((a + COUNT) - COUNT).equals(a) | large
}

/// x to the power y.
#[inline(always)]
pub fn pow<L: Lanes>(x: L, y: L) -> L {
    let (zero, one) = (x.constant(0.0), x.constant(1.0));
    let infinity = x.constant(f64::INFINITY);
    let a = x.abs();
    // exp(y ln |x|)
    let exponent = clamp(y, -LARGEST_EXPONENT, LARGEST_EXPONENT);
    let (log, log_low) = long_ln(a);
    let (high, low) = product(exponent, log);
    let (high, low) = sum(high, low + exponent * log_low);
    let bounded = clamp(high, SMALLEST, LARGEST);
    let low = L::select(bounded.equals(high), low, zero);
    let (first, second, k) = parts(bounded, low);
    let value = scale(first + second, k);
    // 0 and ∞, whose logarithms are none
    let (at_zero, at_infinity) = (a.equals(zero), a.equals(infinity));
    let negative = y.below(zero);
    let limit = L::select(at_zero, zero, infinity);
    let inverse = L::select(at_zero, infinity, zero);
    let value = L::select(at_zero | at_infinity, L::select(negative, inverse, limit), value);
    // negative bases: odd powers are negative, broken ones none
    let whole = is_whole(y.abs());
    let odd = whole & !is_whole(y.abs() * 0.5);
    let value = L::select(x.is_negative() & odd, -value, value);
    let none = x.below(zero) & a.below(infinity) & !whole;
    let unordered = !(x.equals(x) & y.equals(y));
    let value = L::select(none | unordered, x.constant(f64::NAN), value);
    L::select(y.equals(zero) | x.equals(one), one, value)
}
