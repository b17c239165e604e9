//! Sine, cosine and tangent of angles far from zero, or closer to a multiple of π/2 than `circle` can tell.
//!
//! 2/π is kept with 1280 bits. Those that matter for the last two bits of the multiple and 190 bits of the fraction are multiplied by
//! the angle's 53 bits, in whole numbers (Payne and Hanek's reduction).

use super::circle::{Reduced, sin_cos_of, tan_of};
use super::coefficients::{HALF_PI_BITS, TWO_OVER_PI_BITS};

/// Sine and cosine.
#[cold]
#[inline(never)]
pub(super) fn sin_cos(x: f64) -> [f64; 2] {
    if x.is_finite() { sin_cos_of(x, &reduce(x.abs())) } else { [f64::NAN; 2] }
}

/// Tangent.
#[cold]
#[inline(never)]
pub(super) fn tan(x: f64) -> [f64; 1] {
    if x.is_finite() { tan_of(x, &reduce(x.abs())) } else { [f64::NAN] }
}

/// a − k π/2, for 2^-12 < a.
fn reduce(a: f64) -> Reduced<f64> {
    let exponent = (a.to_bits() >> 52) as usize; // a = mantissa · 2^(exponent − 1075)
    let mantissa = (a.to_bits() & ((1 << 52) - 1)) | 1 << 52;
    // The product with bit number j after the point of 2/π has the weight 2^(exponent − 1075 − j): bits of weight 4 and more
    // do not matter. The list begins with 128 zeros.
    let first = (exponent + 128).saturating_sub(1075 + 2);
    let [a0, a1, a2] = [0, 1, 2].map(|i| word(first + 64 * i));
    // mantissa · (a0, a1, a2) modulo 2^192
    let low = u128::from(mantissa) * u128::from(a2);
    let middle = u128::from(mantissa) * u128::from(a1) + (low >> 64);
    let high = mantissa.wrapping_mul(a0).wrapping_add((middle >> 64) as u64);
    let fraction =
        [high << 2 | (middle as u64) >> 62, (middle as u64) << 2 | (low as u64) >> 62, (low as u64) << 2];
    // to the nearest multiple: a fraction of a half or more counts as one less
    let up = fraction[0] >> 63;
    let quadrant = (high >> 62).wrapping_add(up);
    let fraction = if up == 1 { negated(fraction) } else { fraction };
    let (r, low) = times_half_pi(fraction);
    if up == 1 { Reduced { r: -r, low: -low, quadrant } } else { Reduced { r, low, quadrant } }
}

/// 64 bits of 2/π from a place on.
fn word(bit: usize) -> u64 {
    let at = |i: usize| TWO_OVER_PI_BITS.get(i).copied().unwrap_or(0);
    let (index, shift) = (bit / 64, bit % 64);
    if shift == 0 { at(index) } else { at(index) << shift | at(index + 1) >> (64 - shift) }
}

/// 2^192 − x
fn negated(x: [u64; 3]) -> [u64; 3] {
    let (c, carry) = (!x[2]).overflowing_add(1);
    let (b, carry) = (!x[1]).overflowing_add(u64::from(carry));
    [(!x[0]).wrapping_add(u64::from(carry)), b, c]
}

/// x · 2^-192 · π/2 as the nearest f64 and what is left.
fn times_half_pi(x: [u64; 3]) -> (f64, f64) {
    // the first 128 bits that are not zeros; no double is so close to a multiple of π/2 that less than 64 of them are known
    let zeros = if x[0] == 0 { 64 + x[1].leading_zeros() } else { x[0].leading_zeros() };
    let wide = |i: usize| u128::from(x.get(i).copied().unwrap_or(0));
    let (skip, shift) = ((zeros / 64) as usize, zeros % 64);
    let head = wide(skip) << 64 | wide(skip + 1);
    let head = if shift == 0 { head } else { head << shift | wide(skip + 2) >> (64 - shift) };
    // both have 128 bits, and so has the upper half of the product: x π/2 = whole · 2^(1 − 128 − zeros)
    let (a, b) = (head >> 64, head & u128::from(u64::MAX));
    let (c, d) = (HALF_PI_BITS >> 64, HALF_PI_BITS & u128::from(u64::MAX));
    let whole = a * c + ((a * d) >> 64) + ((b * c) >> 64);
    // 53 bits, and what they leave
    let first = (whole >> 75) as u64;
    let second = (whole >> 11) as u64;
    let scale = f64::from_bits(u64::from(1023 - 52 - zeros) << 52);
    let high = first as f64 * scale;
    let low = second as f64 * (scale * 5.421_010_862_427_522e-20); // 2^-64
    let r = high + low;
    (r, (high - r) + low)
}
