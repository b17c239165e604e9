//! Sums, products and quotients of mantissas.

use super::{Class, Digits};
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Rounds a mantissa with one limb below it to nearest, after shifting both up until the top bit is set.
///
/// `guard` is the limb below `limbs`. Leading zero limbs occur after cancellation, where everything below the guard was
/// zero already.
pub(super) fn normalised<const N: usize>(
    mut limbs: [u64; N],
    mut guard: u64,
    mut exponent: i64,
    negative: bool,
) -> Digits<N> {
    let mut moved = 0;
    while limbs[N - 1] == 0 {
        if moved == N + 1 {
            return Digits::ZERO;
        }
        for k in (1..N).rev() {
            limbs[k] = limbs[k - 1];
        }
        limbs[0] = guard;
        guard = 0;
        exponent -= 64;
        moved += 1;
    }
    let shift = limbs[N - 1].leading_zeros();
    if shift > 0 {
        for k in (1..N).rev() {
            limbs[k] = limbs[k] << shift | limbs[k - 1] >> (64 - shift);
        }
        limbs[0] = limbs[0] << shift | guard >> (64 - shift);
        guard <<= shift;
        exponent -= i64::from(shift);
    }
    rounded(limbs, guard, exponent, negative)
}

/// Rounds a mantissa, the top bit of which is set, with one limb below it to nearest.
fn rounded<const N: usize>(mut limbs: [u64; N], guard: u64, mut exponent: i64, negative: bool) -> Digits<N> {
    let mut carry = guard >> 63 == 1;
    for limb in &mut limbs {
        let (sum, over) = limb.overflowing_add(u64::from(carry));
        *limb = sum;
        carry = over;
    }
    if carry {
        // all ones became zeros with a carry: 1.000…
        limbs[N - 1] = 1 << 63;
        exponent += 1;
    }
    Digits { class: Class::Finite, negative, exponent, limbs }
}

/// The mantissa moved down by so many bits, and the limb that then stands below it.
pub(super) fn shifted_down<const N: usize>(limbs: &[u64; N], shift: u64) -> ([u64; N], u64) {
    let (whole, bits) = ((shift / 64) as usize, (shift % 64) as u32);
    let at = |k: usize| if k < N { limbs[k] } else { 0 };
    let part = |k: usize| {
        if bits == 0 { at(k) } else { at(k) >> bits | at(k + 1) << (64 - bits) }
    };
    let below = match whole {
        0 if bits == 0 => 0,
        0 => limbs[0] << (64 - bits),
        _ => part(whole - 1),
    };
    (std::array::from_fn(|k| part(k + whole)), below)
}

/// |a| + |b| for finite numbers with |a| ≥ |b|.
fn sum<const N: usize>(a: &Digits<N>, b: &Digits<N>, negative: bool) -> Digits<N> {
    let shift = (a.exponent - b.exponent) as u64;
    if shift > 64 * N as u64 {
        return Digits { negative, ..*a };
    }
    let (mut limbs, mut guard) = shifted_down(&b.limbs, shift);
    let mut carry = false;
    for (x, y) in limbs.iter_mut().zip(&a.limbs) {
        let (first, over) = x.overflowing_add(*y);
        let (second, more) = first.overflowing_add(u64::from(carry));
        *x = second;
        carry = over | more;
    }
    // down by one bit if the sum needs it, without a branch that could go either way
    let down = u32::from(carry);
    let moved = |x: u64, above: u64| (x >> down) | ((above << 63) * u64::from(carry));
    guard = moved(guard, limbs[0]);
    for k in 0..N - 1 {
        limbs[k] = moved(limbs[k], limbs[k + 1]);
    }
    limbs[N - 1] = moved(limbs[N - 1], 1);
    rounded(limbs, guard, a.exponent + i64::from(down), negative)
}

/// |a| − |b| for finite numbers with |a| ≥ |b|.
fn difference<const N: usize>(a: &Digits<N>, b: &Digits<N>, negative: bool) -> Digits<N> {
    let shift = (a.exponent - b.exponent) as u64;
    if shift > 64 * N as u64 + 1 {
        return Digits { negative, ..*a };
    }
    let (mut limbs, below) = shifted_down(&b.limbs, shift);
    let (guard, mut borrow) = 0u64.overflowing_sub(below);
    for (y, x) in limbs.iter_mut().zip(&a.limbs) {
        let (first, under) = x.overflowing_sub(*y);
        let (second, more) = first.overflowing_sub(u64::from(borrow));
        *y = second;
        borrow = under | more;
    }
    normalised(limbs, guard, a.exponent, negative)
}

/// a + b, or a − b if `flip`.
fn signed_sum<const N: usize>(a: &Digits<N>, b: &Digits<N>, flip: bool) -> Digits<N> {
    let b_negative = b.negative ^ flip;
    match (a.class, b.class) {
        (Class::Finite, Class::Finite) => {
            let (large, small, negative) = match a.compare_size(b) {
                Ordering::Less => (b, a, b_negative),
                _ => (a, b, a.negative),
            };
            if a.negative == b_negative {
                sum(large, small, negative)
            } else {
                difference(large, small, negative)
            }
        }
        (Class::NaN, _) | (_, Class::NaN) => Digits::NAN,
        (Class::Infinite, Class::Infinite) if a.negative != b_negative => Digits::NAN,
        (Class::Infinite, _) | (_, Class::Zero) => *a,
        (Class::Zero, Class::Infinite | Class::Finite) | (Class::Finite, Class::Infinite) => {
            Digits { negative: b_negative, ..*b }
        }
    }
}

impl<const N: usize> Add for Digits<N> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        signed_sum(&self, &other, false)
    }
}

impl<const N: usize> Sub for Digits<N> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        signed_sum(&self, &other, true)
    }
}

impl<const N: usize> Neg for Digits<N> {
    type Output = Self;
    fn neg(mut self) -> Self {
        self.negative = !self.negative && !self.is_zero();
        self
    }
}

impl<const N: usize> Mul for Digits<N> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let negative = self.negative != other.negative;
        match (self.class, other.class) {
            (Class::Finite, Class::Finite) => {}
            (Class::NaN, _) | (_, Class::NaN) => return Self::NAN,
            (Class::Infinite, Class::Zero) | (Class::Zero, Class::Infinite) => return Self::NAN,
            (Class::Infinite, _) | (_, Class::Infinite) => return Self::special(Class::Infinite, negative),
            (Class::Zero, _) | (_, Class::Zero) => return Self::ZERO,
        }
        // the product has 2N limbs: `low` are the N lower ones
        let (mut low, mut high) = ([0u64; N], [0u64; N]);
        for i in 0..N {
            let x = u128::from(self.limbs[i]);
            let mut carry = 0u64;
            for j in 0..N {
                let place = if i + j < N { &mut low[i + j] } else { &mut high[i + j - N] };
                let total = x * u128::from(other.limbs[j]) + u128::from(*place) + u128::from(carry);
                *place = total as u64;
                carry = (total >> 64) as u64;
            }
            high[i] = carry;
        }
        // a product of mantissas from ½ to 1 is at least ¼: up by one bit if needed, without a branch
        let up = 1 - (high[N - 1] >> 63);
        let moved = |x: u64, below: u64| (x << up) | ((below >> 63) * up);
        for k in (1..N).rev() {
            high[k] = moved(high[k], high[k - 1]);
        }
        high[0] = moved(high[0], low[N - 1]);
        rounded(high, low[N - 1] << up, self.exponent + other.exponent - up as i64, negative)
    }
}

impl<const N: usize> Digits<N> {
    /// Divides by a whole number from 1 to 2⁶³.
    pub(super) fn over(mut self, divisor: u64) -> Self {
        if self.class != Class::Finite {
            return self;
        }
        let divisor = u128::from(divisor);
        let mut rest = 0u128;
        for limb in self.limbs.iter_mut().rev() {
            let total = rest << 64 | u128::from(*limb);
            *limb = (total / divisor) as u64;
            rest = total % divisor;
        }
        let guard = ((rest << 64) / divisor) as u64;
        normalised(self.limbs, guard, self.exponent, self.negative)
    }

    /// The quotient of mantissas by long division (Knuth, TAOCP 4.3.1 D), with one limb below.
    fn quotient(&self, other: &Self) -> ([u64; N], u64, i64) {
        // start from half of the mantissa, which is below the divisor: every digit of the quotient then fits a limb
        let mut rest: [u64; N] =
            std::array::from_fn(|k| self.limbs[k] >> 1 | if k + 1 < N { self.limbs[k + 1] << 63 } else { 0 });
        let mut next = self.limbs[0] << 63;
        let mut digits = [0u64; N];
        let mut guard = 0;
        for k in (0..=N).rev() {
            let digit = next_digit(&mut rest, next, &other.limbs);
            next = 0;
            if k > 0 { digits[k - 1] = digit } else { guard = digit }
        }
        (digits, guard, 1)
    }
}

/// Replaces `rest` by what remains of (rest, next) after dividing by the divisor, and returns the quotient's digit.
fn next_digit<const N: usize>(rest: &mut [u64; N], next: u64, divisor: &[u64; N]) -> u64 {
    // an estimate from the two leading limbs, at most 2 too large
    let lead = u128::from(divisor[N - 1]);
    let pair = u128::from(rest[N - 1]) << 64 | u128::from(if N > 1 { rest[N - 2] } else { next });
    let mut digit = u64::try_from(pair / lead).unwrap_or(u64::MAX);
    // (rest, next) −= digit · divisor, one limb up
    let mut top = rest[N - 1];
    for k in (1..N).rev() {
        rest[k] = rest[k - 1];
    }
    rest[0] = next;
    let (mut carry, mut borrow) = (0u128, false);
    for (place, &limb) in rest.iter_mut().zip(divisor) {
        let product = u128::from(digit) * u128::from(limb) + carry;
        carry = product >> 64;
        let (first, under) = place.overflowing_sub(product as u64);
        let (second, more) = first.overflowing_sub(u64::from(borrow));
        *place = second;
        borrow = under | more;
    }
    let (first, under) = top.overflowing_sub(carry as u64);
    let (second, more) = first.overflowing_sub(u64::from(borrow));
    top = second;
    let mut negative = under | more;
    while negative {
        // too large: give one divisor back
        digit -= 1;
        let mut carry = false;
        for (place, &limb) in rest.iter_mut().zip(divisor) {
            let (first, over) = place.overflowing_add(limb);
            let (second, more) = first.overflowing_add(u64::from(carry));
            *place = second;
            carry = over | more;
        }
        let (sum, over) = top.overflowing_add(u64::from(carry));
        top = sum;
        negative = !over;
    }
    digit
}

impl<const N: usize> Div for Digits<N> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let negative = self.negative != other.negative;
        match (self.class, other.class) {
            (Class::Finite, Class::Finite) => {}
            (Class::NaN, _) | (_, Class::NaN) => return Self::NAN,
            (Class::Infinite, Class::Infinite) | (Class::Zero, Class::Zero) => return Self::NAN,
            (Class::Infinite, _) | (_, Class::Zero) => return Self::special(Class::Infinite, negative),
            (Class::Zero, _) | (_, Class::Infinite) => return Self::ZERO,
        }
        let (limbs, guard, up) = self.quotient(&other);
        normalised(limbs, guard, self.exponent - other.exponent + up, negative)
    }
}
