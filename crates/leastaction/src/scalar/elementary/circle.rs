//! Sine, cosine and tangent.
//!
//! An angle is reduced to r + low with |r| ≤ π/4 by subtracting a multiple of π/2 that is known to 119 bits, in three parts whose
//! products are exact. Larger angles, and the few that lie so close to a multiple of π/2 that 119 bits leave too little, take
//! `far`.

use super::coefficients::{COS, HALF_PI_1, HALF_PI_2, HALF_PI_3, SIN, TWO_OVER_PI};
use super::far;
use super::lanes::Lanes;
use super::pairs::{ROUND, quotient, sum};

/// Up to here the multiple of π/2 has 20 bits, and its product with 33 bits of π/2 is exact.
const LIMIT: f64 = 1_647_099.0; // 2^20 π/2
/// The reduced angle must be larger than this times the multiple.
const CLOSEST: f64 = 2.168_404_344_971_009e-19; // 2^-62

/// The sign bit.
const SIGN: u64 = 1 << 63;

/// An angle without multiples of π/2.
#[derive(Clone, Copy)]
pub(super) struct Reduced<L: Lanes> {
    /// What is left: |r| ≤ π/4.
    pub(super) r: L,
    /// What rounding took from it.
    pub(super) low: L,
    /// The multiple; two bits matter.
    pub(super) quadrant: L::Bits,
}

/// Reduces an angle that is not negative. The masks say where that failed.
#[inline(always)]
fn reduce<L: Lanes>(a: L) -> (Reduced<L>, [L::Mask; 2]) {
    let shifted = a * TWO_OVER_PI + ROUND;
    let k = shifted - ROUND;
    // a − k π/2: the first difference is exact, the second is kept with its error
    let t = a - k * HALF_PI_1;
    let w = k * HALF_PI_2;
    let high = t - w;
    let lost = (t - high) - w;
    let last = k * HALF_PI_3;
    // r waits for as little as possible; what is lost before it goes to what is lost by it
    let r = high - last;
    let low = ((high - r) - last) + lost;
    let slow = [!a.below(a.constant(LIMIT)), r.abs().below(k * CLOSEST)];
    (Reduced { r, low, quadrant: shifted.bits() }, slow)
}

/// sin and cos of r + low, each with what rounding took from it.
#[inline(always)]
fn kernel<L: Lanes>(reduced: &Reduced<L>) -> ((L, L), (L, L)) {
    let Reduced { r, low, .. } = *reduced;
    let z = r * r;
    let square = z * z;
    let fourth = square * square;
    // in three parts that do not wait for each other
    let polynomial =
        |c: &[f64; 6]| (z * c[1] + c[0]) + square * (z * c[3] + c[2]) + fourth * (z * c[5] + c[4]);
    let half = z * 0.5;
    let one = r.constant(1.0);
    // 1 − z/2 and its error
    let w = one - half;
    let lost = (one - w) - half;
    let sine = sum(r, z * r * polynomial(&SIN) + low * w);
    let cosine = sum(w, lost + (square * polynomial(&COS) - r * low));
    (sine, cosine)
}

/// The signs and places of sine and cosine follow from the quadrant, and the sine's from the angle's.
#[inline(always)]
pub(super) fn sin_cos_of<L: Lanes>(x: L, reduced: &Reduced<L>) -> [L; 2] {
    let ((sine, _), (cosine, _)) = kernel(reduced);
    let (sine, cosine) = L::swap(reduced.quadrant, sine, cosine);
    let sign = x.word(SIGN);
    let turned = L::and(L::left(reduced.quadrant, 62), sign);
    let next = L::and(L::left(L::plus(reduced.quadrant, x.word(1)), 62), sign);
    [sine.flip(L::xor(turned, L::and(x.bits(), sign))), cosine.flip(next)]
}

/// sin/cos, or −cos/sin in the odd quadrants.
#[inline(always)]
pub(super) fn tan_of<L: Lanes>(x: L, reduced: &Reduced<L>) -> [L; 1] {
    let ((sine, sine_low), (cosine, cosine_low)) = kernel(reduced);
    let (above, below) = L::swap(reduced.quadrant, sine, cosine);
    let (above_low, below_low) = L::swap(reduced.quadrant, sine_low, cosine_low);
    let (high, low) = quotient((above, above_low), (below, below_low));
    let odd = L::left(reduced.quadrant, 63);
    [(high + low).flip(L::xor(odd, L::and(x.bits(), x.word(SIGN))))]
}

/// Sine and cosine.
#[inline(always)]
pub fn sin_cos<L: Lanes>(x: L) -> (L, L) {
    let (reduced, slow) = reduce(x.abs());
    let [sine, cosine] = x.rescue(slow, || sin_cos_of(x, &reduced), far::sin_cos);
    (sine, cosine)
}

/// Tangent.
#[inline(always)]
pub fn tan<L: Lanes>(x: L) -> L {
    let (reduced, slow) = reduce(x.abs());
    let [value] = x.rescue(slow, || tan_of(x, &reduced), far::tan);
    value
}
