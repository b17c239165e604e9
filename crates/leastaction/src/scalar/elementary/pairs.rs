//! Sums and products with what rounding took from them, and polynomials: the tools of the elementary functions.

use super::lanes::Lanes;

/// Adding this to a number below 2^51 rounds it to a whole number, whose lowest bits are then the lowest bits of the sum.
pub(super) const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52

/// a + b and what rounding took from it, for |a| ≥ |b| or a = 0.
#[inline(always)]
pub(super) fn sum<L: Lanes>(a: L, b: L) -> (L, L) {
    let high = a + b;
    (high, (a - high) + b)
}

/// a − b and what rounding took from it, for |a| ≥ |b| or a = 0.
#[inline(always)]
pub(super) fn difference<L: Lanes>(a: L, b: L) -> (L, L) {
    let high = a - b;
    (high, (a - high) - b)
}

/// The first 26 bits and the others (Veltkamp's splitting), for |a| < 2^995.
#[inline(always)]
fn split<L: Lanes>(a: L) -> (L, L) {
    let c = a * 134_217_729.0; // 2^27 + 1
    let high = c - (c - a);
    (high, a - high)
}

/// a·b and what rounding took from it (Dekker's product), where neither over- nor underflows.
#[inline(always)]
pub(super) fn product<L: Lanes>(a: L, b: L) -> (L, L) {
    let high = a * b;
    let ((a1, a2), (b1, b2)) = (split(a), split(b));
    (high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2)
}

/// (a + a')·(b + b') for a', b' small beside a, b.
#[inline(always)]
pub(super) fn product_of_pairs<L: Lanes>(a: (L, L), b: (L, L)) -> (L, L) {
    let (high, low) = product(a.0, b.0);
    sum(high, low + (a.0 * b.1 + a.1 * b.0))
}

/// (a + a')/(b + b') for a', b' small beside a, b.
#[inline(always)]
pub(super) fn quotient<L: Lanes>(a: (L, L), b: (L, L)) -> (L, L) {
    let high = a.0 / b.0;
    let (whole, rest) = product(high, b.0);
    let left = ((a.0 - whole) - rest) + (a.1 - high * b.1);
    (high, left / b.0)
}

/// c_0 + c_1 z + …, even and odd powers apart so that both can go on at the same time.
#[inline(always)]
pub(super) fn polynomial<L: Lanes, const N: usize>(z: L, c: &[f64; N]) -> L {
    let square = z * z;
    let last = N - 1;
    let (mut upper, mut lower) = (z.constant(c[last]), z.constant(c[last - 1]));
    let mut k = last;
    while k >= 3 {
        k -= 2;
        upper = upper * square + c[k];
        lower = lower * square + c[k - 1];
    }
    if k == 2 {
        // upper has even powers now
        upper * square + (lower * z + c[0])
    } else {
        upper * z + lower
    }
}
