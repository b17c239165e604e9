//! What the elementary functions are written in: [`Lanes`], the operations that a processor does exactly.
//!
//! An implementation is one number (`f64`), several side by side ([`Pack`]), or the instructions of a compiler (`expr::native`). All
//! operations are IEEE 754's, rounded once each, so that every implementation gives the same bits. A fused multiply-add is not among
//! them: not every machine has one.

use std::array::from_fn;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// A number, or several side by side.
pub trait Lanes:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    /// The 64 bits of a number, as a whole number that wraps around.
    type Bits: Copy;
    /// The answer to a comparison.
    type Mask: Copy + BitAnd<Output = Self::Mask> + BitOr<Output = Self::Mask> + Not<Output = Self::Mask>;

    /// A constant. It is asked of a number because a compiler's numbers know where they belong.
    fn constant(self, x: f64) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// `self` < `other`; false for NaN.
    fn below(self, other: Self) -> Self::Mask;
    /// `self` = `other`; false for NaN.
    fn equals(self, other: Self) -> Self::Mask;
    /// `yes` where the mask holds, `no` elsewhere. For what is mostly the same: a compiler may jump.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// The bits.
    fn bits(self) -> Self::Bits;
    /// The number of these bits.
    fn from_bits(bits: Self::Bits) -> Self;
    /// Constant bits.
    fn word(self, bits: u64) -> Self::Bits;
    /// Bits that both have.
    fn and(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// Bits that one of them has.
    fn or(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// Bits that exactly one of them has.
    fn xor(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// The sum.
    fn plus(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// The difference.
    fn minus(a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// Moved to the left.
    fn left(a: Self::Bits, places: u32) -> Self::Bits;
    /// Moved to the right, zeros from the left.
    fn right(a: Self::Bits, places: u32) -> Self::Bits;
    /// The number with some of its bits turned over.
    fn flip(self, bits: Self::Bits) -> Self;
    /// (b, a) where the lowest bit is set, (a, b) elsewhere. For what changes all the time: no compiler jumps here.
    fn swap(bits: Self::Bits, a: Self, b: Self) -> (Self, Self);
    /// Whether the sign bit is set.
    fn is_negative(self) -> Self::Mask;

    /// What `fast` gives where no mask holds. Elsewhere what `exact` gives for the number: the way out of the rare case that would
    /// make all others slow.
    fn rescue<const M: usize, const K: usize>(
        self,
        slow: [Self::Mask; M],
        fast: impl FnOnce() -> [Self; K],
        exact: fn(f64) -> [f64; K],
    ) -> [Self; K];
}

impl Lanes for f64 {
    type Bits = u64;
    type Mask = bool;
    #[inline(always)]
    fn constant(self, x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }
    #[inline(always)]
    fn below(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn equals(self, other: Self) -> bool {
        self == other
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.to_bits()
    }
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        f64::from_bits(bits)
    }
    #[inline(always)]
    fn word(self, bits: u64) -> u64 {
        bits
    }
    #[inline(always)]
    fn and(a: u64, b: u64) -> u64 {
        a & b
    }
    #[inline(always)]
    fn or(a: u64, b: u64) -> u64 {
        a | b
    }
    #[inline(always)]
    fn xor(a: u64, b: u64) -> u64 {
        a ^ b
    }
    #[inline(always)]
    fn plus(a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
    #[inline(always)]
    fn minus(a: u64, b: u64) -> u64 {
        a.wrapping_sub(b)
    }
    #[inline(always)]
    fn left(a: u64, places: u32) -> u64 {
        a << places
    }
    #[inline(always)]
    fn right(a: u64, places: u32) -> u64 {
        a >> places
    }
    #[inline(always)]
    fn flip(self, bits: u64) -> Self {
        f64::from_bits(self.to_bits() ^ bits)
    }
    #[inline(always)]
    fn swap(bits: u64, a: Self, b: Self) -> (Self, Self) {
        // all ones or all zeros
        let mask = (bits & 1).wrapping_neg();
        let change = (a.to_bits() ^ b.to_bits()) & mask;
        (f64::from_bits(a.to_bits() ^ change), f64::from_bits(b.to_bits() ^ change))
    }
    #[inline(always)]
    fn is_negative(self) -> bool {
        self.is_sign_negative()
    }
    #[inline(always)]
    fn rescue<const M: usize, const K: usize>(
        self,
        slow: [bool; M],
        fast: impl FnOnce() -> [Self; K],
        exact: fn(f64) -> [f64; K],
    ) -> [Self; K] {
        if slow.contains(&true) { exact(self) } else { fast() }
    }
}

/// Several numbers side by side. Their loops are short and of fixed length, so that a compiler makes vector instructions of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pack<const N: usize>(pub [f64; N]);

/// Answers for several numbers.
#[derive(Clone, Copy, Debug)]
pub struct Masks<const N: usize>([bool; N]);

/// An operator of two packs, and of a pack and a number.
macro_rules! operator {
    ($($trait:ident $name:ident)*) => {$(
        impl<const N: usize> $trait for Pack<N> {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Self(from_fn(|i| self.0[i].$name(other.0[i])))
            }
        }
        impl<const N: usize> $trait<f64> for Pack<N> {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: f64) -> Self {
                Self(from_fn(|i| self.0[i].$name(other)))
            }
        }
    )*};
}
operator!(Add add Sub sub Mul mul Div div);

impl<const N: usize> Neg for Pack<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(Neg::neg))
    }
}

impl<const N: usize> BitAnd for Masks<N> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] & other.0[i]))
    }
}
impl<const N: usize> BitOr for Masks<N> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] | other.0[i]))
    }
}
impl<const N: usize> Not for Masks<N> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.map(|x| !x))
    }
}

/// Functions that do the same in every lane.
macro_rules! by_lane {
    ($($name:ident($($x:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[inline(always)]
        fn $name($($x: $type),*) -> $result {
            from_fn(|i| <f64 as Lanes>::$name($($x[i]),*))
        }
    )*};
}

impl<const N: usize> Lanes for Pack<N> {
    type Bits = [u64; N];
    type Mask = Masks<N>;
    by_lane! {
        and(a: [u64; N], b: [u64; N]) -> [u64; N];
        or(a: [u64; N], b: [u64; N]) -> [u64; N];
        xor(a: [u64; N], b: [u64; N]) -> [u64; N];
        plus(a: [u64; N], b: [u64; N]) -> [u64; N];
        minus(a: [u64; N], b: [u64; N]) -> [u64; N];
    }
    #[inline(always)]
    fn constant(self, x: f64) -> Self {
        Self([x; N])
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f64::sqrt))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.map(f64::abs))
    }
    #[inline(always)]
    fn below(self, other: Self) -> Masks<N> {
        Masks(from_fn(|i| self.0[i] < other.0[i]))
    }
    #[inline(always)]
    fn equals(self, other: Self) -> Masks<N> {
        Masks(from_fn(|i| self.0[i] == other.0[i]))
    }
    #[inline(always)]
    fn select(mask: Masks<N>, yes: Self, no: Self) -> Self {
        Self(from_fn(|i| if mask.0[i] { yes.0[i] } else { no.0[i] }))
    }
    #[inline(always)]
    fn bits(self) -> [u64; N] {
        self.0.map(f64::to_bits)
    }
    #[inline(always)]
    fn from_bits(bits: [u64; N]) -> Self {
        Self(bits.map(f64::from_bits))
    }
    #[inline(always)]
    fn word(self, bits: u64) -> [u64; N] {
        [bits; N]
    }
    #[inline(always)]
    fn left(a: [u64; N], places: u32) -> [u64; N] {
        a.map(|a| a << places)
    }
    #[inline(always)]
    fn right(a: [u64; N], places: u32) -> [u64; N] {
        a.map(|a| a >> places)
    }
    #[inline(always)]
    fn flip(self, bits: [u64; N]) -> Self {
        Self(from_fn(|i| Lanes::flip(self.0[i], bits[i])))
    }
    #[inline(always)]
    fn swap(bits: [u64; N], a: Self, b: Self) -> (Self, Self) {
        let pairs: [(f64, f64); N] = from_fn(|i| Lanes::swap(bits[i], a.0[i], b.0[i]));
        (Self(pairs.map(|pair| pair.0)), Self(pairs.map(|pair| pair.1)))
    }
    #[inline(always)]
    fn is_negative(self) -> Masks<N> {
        Masks(self.0.map(f64::is_sign_negative))
    }
    #[inline(always)]
    fn rescue<const M: usize, const K: usize>(
        self,
        slow: [Masks<N>; M],
        fast: impl FnOnce() -> [Self; K],
        exact: fn(f64) -> [f64; K],
    ) -> [Self; K] {
        let mut values = fast();
        for i in 0..N {
            if slow.iter().any(|mask| mask.0[i]) {
                for (all, one) in values.iter_mut().zip(exact(self.0[i])) {
                    all.0[i] = one;
                }
            }
        }
        values
    }
}
