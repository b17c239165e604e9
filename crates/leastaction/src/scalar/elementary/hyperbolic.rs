//! Hyperbolic sine, cosine and tangent: odd polynomials near zero, exponentials beyond.

use super::coefficients::{SINH, TANH};
use super::exponential::{parts, scale};
use super::lanes::Lanes;
use super::pairs::{difference, polynomial, quotient, sum};

/// From here on sinh and cosh are infinite.
const LARGEST: f64 = 711.0;
/// From here on tanh is 1.
const FLAT: f64 = 22.0;

#[inline(always)]
fn at_most<L: Lanes>(x: L, bound: f64) -> L {
    let bound = x.constant(bound);
    L::select(bound.below(x), bound, x)
}

/// x + x³ P(x²)
#[inline(always)]
fn odd<L: Lanes, const N: usize>(x: L, c: &[f64; N]) -> L {
    let z = x * x;
    x + x * z * polynomial(z, c)
}

/// exp(a)/2 in two parts, and exp(−a)/2.
#[inline(always)]
fn halves<L: Lanes>(a: L) -> (L, L, L) {
    let (first, second, k) = parts(at_most(a, LARGEST), a.constant(0.0));
    let (high, low) = (scale(first, k - 1.0), scale(second, k - 1.0));
    (high, low, a.constant(0.25) / (high + low))
}

/// The sign of x given to a number that is not negative.
#[inline(always)]
fn signed<L: Lanes>(value: L, x: L) -> L {
    value.flip(L::and(x.bits(), x.word(1 << 63)))
}

/// Hyperbolic sine.
#[inline(always)]
pub fn sinh<L: Lanes>(x: L) -> L {
    let a = x.abs();
    let (high, low, inverse) = halves(a);
    let value = L::select(a.below(a.constant(1.0)), odd(a, &SINH), high + (low - inverse));
    signed(value, x)
}

/// Hyperbolic cosine.
#[inline(always)]
pub fn cosh<L: Lanes>(x: L) -> L {
    let (high, low, inverse) = halves(x.abs());
    high + (low + inverse)
}

/// Hyperbolic tangent.
#[inline(always)]
pub fn tanh<L: Lanes>(x: L) -> L {
    let a = x.abs();
    // 1 − 2/(exp(2a) + 1)
    let (zero, one) = (a.constant(0.0), a.constant(1.0));
    let (first, second, k) = parts(at_most(a, FLAT) * 2.0, zero);
    let (first, second) = sum(first, second);
    let (high, low) = (scale(first, k), scale(second, k));
    let (below, lost) = sum(high, one);
    let (part, part_low) = quotient((a.constant(2.0), zero), (below, lost + low));
    let (value, value_low) = difference(one, part);
    let value = value + (value_low - part_low);
    signed(L::select(a.below(a.constant(0.5)), odd(a, &TANH), value), x)
}
