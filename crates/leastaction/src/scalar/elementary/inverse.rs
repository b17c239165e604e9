//! Inverse sine, cosine and tangent, and the angle of a point.

use super::coefficients::{ASIN, ATAN, PI_2_HIGH, PI_2_LOW, PI_4_HIGH, PI_4_LOW};
use super::lanes::Lanes;
use super::pairs::{difference, polynomial, quotient, sum};

/// The sign bit.
const SIGN: u64 = 1 << 63;

/// asin a for a ≤ ½ is a + rest; for larger a it is π/2 − 2 (head + rest), where head² has few bits.
struct Arc<L: Lanes> {
    large: L::Mask,
    head: L,
    rest: L,
}

#[inline(always)]
fn arc<L: Lanes>(a: L) -> Arc<L> {
    let large = a.constant(0.5).below(a);
    // sin²(π/4 − angle/2) = (1 − a)/2
    let halved = (a.constant(1.0) - a) * 0.5;
    let z = L::select(large, halved, a * a);
    let root = halved.sqrt();
    let head = L::from_bits(L::and(root.bits(), a.word(0xffff_ffff_0000_0000)));
    // root = head + tail; the smallest root is 2^-27, so that the last term only keeps 0/0 away
    let tail = (halved - head * head) / (root + head + 1e-60);
    let p = z * polynomial(z, &ASIN);
    Arc { large, head: L::select(large, head, a), rest: L::select(large, tail + root * p, a * p) }
}

/// π/2 − a − rest
#[inline(always)]
fn from_right_angle<L: Lanes>(a: L, rest: L) -> L {
    let (high, low) = difference(a.constant(PI_2_HIGH), a);
    high + (low + (a.constant(PI_2_LOW) - rest))
}

/// Inverse sine; NaN beyond 1.
#[inline(always)]
pub fn asin<L: Lanes>(x: L) -> L {
    let Arc { large, head, rest } = arc(x.abs());
    let value = L::select(large, from_right_angle(head * 2.0, rest * 2.0), head + rest);
    value.flip(L::and(x.bits(), x.word(SIGN)))
}

/// Inverse cosine; NaN beyond 1.
#[inline(always)]
pub fn acos<L: Lanes>(x: L) -> L {
    let sign = L::and(x.bits(), x.word(SIGN));
    let Arc { large, head, rest } = arc(x.abs());
    let small = from_right_angle(head.flip(sign), rest.flip(sign));
    let beyond = L::select(x.is_negative(), from_right_angle(head, rest), head + rest) * 2.0;
    L::select(large, beyond, small)
}

/// atan(small/large) for 0 ≤ small ≤ large, 0 < large, in two parts.
#[inline(always)]
fn octant<L: Lanes>(small: L, large: L) -> (L, L) {
    let zero = small.constant(0.0);
    // beyond π/8: π/4 + atan((small − large)/(small + large))
    let upper = (large * 0.414_213_562_373_095_1).below(small);
    let (less, less_low) = difference(large, small);
    let (more, more_low) = sum(large, small);
    let above = (L::select(upper, -less, small), L::select(upper, -less_low, zero));
    let below = (L::select(upper, more, large), L::select(upper, more_low, zero));
    let (r, r_low) = quotient(above, below);
    let z = r * r;
    let rest = r * z * polynomial(z, &ATAN) + r_low;
    let (quarter, quarter_low) = (zero.constant(PI_4_HIGH), zero.constant(PI_4_LOW));
    let (high, low) = sum(L::select(upper, quarter, zero), r);
    (high, low + (L::select(upper, quarter_low, zero) + rest))
}

/// Inverse tangent.
#[inline(always)]
pub fn atan<L: Lanes>(x: L) -> L {
    let a = x.abs();
    let one = a.constant(1.0);
    // a huge number is as good as infinite, and its quotient would overflow
    let bound = a.constant(1e200);
    let a = L::select(bound.below(a), bound, a);
    let steep = one.below(a);
    let (high, low) = octant(L::select(steep, one, a), L::select(steep, a, one));
    let value = L::select(steep, from_right_angle(high, low), high + low);
    value.flip(L::and(x.bits(), x.word(SIGN)))
}

/// The angle of the point (x, y).
#[inline(always)]
pub fn atan2<L: Lanes>(y: L, x: L) -> L {
    let (zero, one) = (x.constant(0.0), x.constant(1.0));
    let infinity = x.constant(f64::INFINITY);
    let (a, b) = (x.abs(), y.abs());
    let steep = a.below(b);
    let (small, large) = (L::select(steep, a, b), L::select(steep, b, a));
    // numbers whose squares would over- or underflow, by a power of two: 2^±500
    let shrink = L::select(x.constant(1e150).below(large), x.constant(3.054_936_363_499_605e-151), one);
    let factor = L::select(large.below(x.constant(1e-150)), x.constant(3.273_390_607_896_142e150), shrink);
    let (scaled_small, scaled_large) = (small * factor, large * factor);
    // 0/0 counts as 0/1, ∞/∞ as 1/1, and anything else over ∞ as 0/1
    let unbounded = large.equals(infinity);
    let alike = L::select(small.equals(infinity), one, zero);
    let small = L::select(unbounded, alike, scaled_small);
    let large = L::select(unbounded | large.equals(zero), one, scaled_large);
    let (high, low) = octant(small, large);
    // from the octant to the half plane: π/2 − angle, π − angle
    let turned = difference(x.constant(PI_2_HIGH), high);
    let (high, low) =
        (L::select(steep, turned.0, high), L::select(steep, turned.1 + (x.constant(PI_2_LOW) - low), low));
    let turned = difference(x.constant(2.0 * PI_2_HIGH), high);
    let (high, low) = (
        L::select(x.is_negative(), turned.0, high),
        L::select(x.is_negative(), turned.1 + (x.constant(2.0 * PI_2_LOW) - low), low),
    );
    let value = (high + low).flip(L::and(y.bits(), y.word(SIGN)));
    L::select(x.equals(x) & y.equals(y), value, x + y)
}
