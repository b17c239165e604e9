//! Number types and what the rest of the program asks of them.
//!
//! Three traits, from the least demanding to the most:
//! - [`Field`]: arithmetic. Enough for tableaus and linear solves; [`DoubleDouble`] is one.
//! - [`Real`]: a field with the elementary functions. Tapes and steppers run in any `Real`: `f64`,
//!   [`Dual`] (a number with its derivative), [`Digits`] (many digits). Not `Copy`, so that numbers on the heap qualify.
//! - [`Scalar`]: what a Lagrangian is written in. `Copy`, so that formulas read like formulas: `f64` and the
//!   recording type [`Expr`](crate::expr::Expr).

mod digits;
mod double_double;
mod dual;
pub mod elementary;
mod ledger;

pub use digits::{Digits, limbs_for};
pub use double_double::DoubleDouble;
pub use dual::Dual;
pub use ledger::{Checksum, Ledger, checksum_of_bytes};

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Arithmetic over a field, with conversions from and to `f64`.
pub trait Field:
    Clone
    + Debug
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The number nearest to `x`; exact for every type at least as wide as `f64`.
    fn from_f64(x: f64) -> Self;
    /// The nearest `f64`.
    fn to_f64(&self) -> f64;
    /// The distance from 1 to the next larger number.
    fn epsilon() -> f64;
    /// `self += a * b`.
    fn add_mul(&mut self, a: &Self, b: &Self) {
        *self = self.clone() + a.clone() * b.clone();
    }
    /// `self -= a * b`.
    fn sub_mul(&mut self, a: &Self, b: &Self) {
        *self = self.clone() - a.clone() * b.clone();
    }
    /// `self · factor + sum`, where the type can, rounded once.
    fn times_plus(&self, factor: &Self, sum: &Self) -> Self {
        self.clone() * factor.clone() + sum.clone()
    }
    /// Zero.
    fn zero() -> Self {
        Self::from_f64(0.0)
    }
    /// One.
    fn one() -> Self {
        Self::from_f64(1.0)
    }
    /// The size of the number, for pivoting and for deciding when an iteration has converged. A number with
    /// parts (a derivative, lanes) reports its largest part, so that all of them have to converge.
    fn magnitude(&self) -> f64 {
        self.to_f64().abs()
    }
    /// Whether every part of the number is finite.
    fn is_finite(&self) -> bool {
        self.magnitude().is_finite()
    }
}

/// A field with elementary functions: what a tape can be run in.
pub trait Real: Field {
    /// A wider type in which constants of a method are computed before rounding once to `Self`.
    type Wide: Field;
    /// Whether the number is an `f64` with further digits and nothing else, so that equations may be solved in `f64` first and
    /// then refined. Numbers with parts (a derivative) are not.
    const REFINES_F64: bool = false;
    /// Whether it carries derivatives, which iterations settle later than the numbers themselves.
    const HAS_DERIVATIVES: bool = false;
    /// The same numbers as `f64`s, if that is what they are: machine code runs in nothing else.
    fn as_f64s(_numbers: &[Self]) -> Option<&[f64]> {
        None
    }
    /// The same numbers as `f64`s, if that is what they are.
    fn as_f64s_mut(_numbers: &mut [Self]) -> Option<&mut [f64]> {
        None
    }
    /// How many words of 64 bits hold a number.
    const WORDS: usize;
    /// Adds the number to a list, bit by bit.
    fn write_words(&self, words: &mut Vec<u64>);
    /// The number that so many words hold, if they hold any.
    fn from_words(words: &[u64]) -> Option<Self>;
    /// Rounds a wide number.
    fn narrow(wide: &Self::Wide) -> Self;
    /// The number a decimal literal such as `9.81` stands for, rounded once.
    fn from_decimal(text: &str) -> Self;
    /// The number as a decimal rounded to so many digits, or with all it has.
    fn to_text(&self, digits: Option<usize>) -> String;
    /// π.
    fn pi() -> Self;
    /// Square root.
    fn sqrt(&self) -> Self;
    /// Exponential.
    fn exp(&self) -> Self;
    /// Natural logarithm.
    fn ln(&self) -> Self;
    /// Sine.
    fn sin(&self) -> Self;
    /// Cosine.
    fn cos(&self) -> Self;
    /// Sine and cosine, where both cost little more than one.
    fn sin_cos(&self) -> (Self, Self) {
        (self.sin(), self.cos())
    }
    /// Tangent.
    fn tan(&self) -> Self;
    /// Inverse sine.
    fn asin(&self) -> Self;
    /// Inverse cosine.
    fn acos(&self) -> Self;
    /// Inverse tangent.
    fn atan(&self) -> Self;
    /// The angle of the point (`x`, `self`).
    fn atan2(&self, x: &Self) -> Self;
    /// Hyperbolic sine.
    fn sinh(&self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(&self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(&self) -> Self;
    /// Absolute value.
    fn abs(&self) -> Self;
    /// −1, 0 or 1: the derivative of `abs`.
    fn sign(&self) -> Self;
    /// A power of two that is not above |self|, zero for the least numbers: a scale for formulas. Types with exponents of any size
    /// need none: they give 1.
    fn power_of_two(&self) -> Self;
    /// `self` to a real power.
    fn pow(&self, exponent: &Self) -> Self;
}

impl Field for f64 {
    fn from_f64(x: f64) -> Self {
        x
    }
    fn to_f64(&self) -> f64 {
        *self
    }
    fn epsilon() -> f64 {
        f64::EPSILON
    }
    fn add_mul(&mut self, a: &Self, b: &Self) {
        *self += a * b;
    }
    fn sub_mul(&mut self, a: &Self, b: &Self) {
        *self -= a * b;
    }
    fn times_plus(&self, factor: &Self, sum: &Self) -> Self {
        self.mul_add(*factor, *sum)
    }
    fn is_finite(&self) -> bool {
        f64::is_finite(*self)
    }
}

/// The elementary functions, with `&self` receivers.
macro_rules! elementary {
    ($($name:ident)*) => {
        $(fn $name(&self) -> Self { elementary::$name(*self) })*
    };
}

impl Real for f64 {
    type Wide = DoubleDouble;
    fn as_f64s(numbers: &[Self]) -> Option<&[f64]> {
        Some(numbers)
    }
    fn as_f64s_mut(numbers: &mut [Self]) -> Option<&mut [f64]> {
        Some(numbers)
    }
    const WORDS: usize = 1;
    fn write_words(&self, words: &mut Vec<u64>) {
        words.push(self.to_bits());
    }
    fn from_words(words: &[u64]) -> Option<Self> {
        words.first().map(|word| f64::from_bits(*word))
    }
    fn narrow(wide: &DoubleDouble) -> Self {
        wide.to_f64()
    }
    fn from_decimal(text: &str) -> Self {
        text.parse().unwrap_or(f64::NAN)
    }
    fn to_text(&self, digits: Option<usize>) -> String {
        match digits {
            None => format!("{self:?}"),
            Some(digits) => format!("{self:.*e}", digits.max(1) - 1),
        }
    }
    fn pi() -> Self {
        std::f64::consts::PI
    }
    fn sqrt(&self) -> Self {
        f64::sqrt(*self)
    }
    fn abs(&self) -> Self {
        f64::abs(*self)
    }
    elementary!(exp ln sin cos tan asin acos atan sinh cosh tanh power_of_two);
    fn sin_cos(&self) -> (Self, Self) {
        elementary::sin_cos(*self)
    }
    fn atan2(&self, x: &Self) -> Self {
        elementary::atan2(*self, *x)
    }
    fn sign(&self) -> Self {
        if *self > 0.0 {
            1.0
        } else if *self < 0.0 {
            -1.0
        } else {
            0.0
        }
    }
    fn pow(&self, exponent: &Self) -> Self {
        elementary::pow(*self, *exponent)
    }
}

/// The number type a Lagrangian is written in.
///
/// There is no comparison on purpose: a Lagrangian is recorded once, so a branch on the state would be taken
/// once and for all. The compiler rejects such a branch at its line; write it with smooth functions or
/// [`abs`](Scalar::abs) instead.
///
/// ```
/// use leastaction::scalar::Scalar;
///
/// fn pendulum<S: Scalar>(q: S, v: S, l: S, g: S) -> S {
///     (l * v).powi(2) * 0.5 + g * l * q.cos()
/// }
/// assert_eq!(pendulum(0.0, 2.0, 1.0, 9.81), 2.0 + 9.81);
/// ```
pub trait Scalar:
    Copy
    + Debug
    + From<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
    + AddAssign
    + SubAssign
    + Sum
{
    /// π, to all the digits of whatever the formula is evaluated in.
    fn pi() -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Exponential.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Sine.
    fn sin(self) -> Self;
    /// Cosine.
    fn cos(self) -> Self;
    /// Tangent.
    fn tan(self) -> Self;
    /// Inverse sine.
    fn asin(self) -> Self;
    /// Inverse cosine.
    fn acos(self) -> Self;
    /// Inverse tangent.
    fn atan(self) -> Self;
    /// The angle of the point (`x`, `self`).
    fn atan2(self, x: Self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// An integer power.
    fn powi(self, exponent: i32) -> Self;
    /// A real power.
    fn powf(self, exponent: impl Into<Self>) -> Self;
    /// The square, which mechanics needs most.
    fn squared(self) -> Self {
        self * self
    }
}

/// The same functions, with `self` receivers.
macro_rules! forward_by_value {
    ($($name:ident)*) => {
        $(fn $name(self) -> Self { Real::$name(&self) })*
    };
}

impl Scalar for f64 {
    fn pi() -> Self {
        std::f64::consts::PI
    }
    forward_by_value!(sqrt exp ln sin cos tan asin acos atan sinh cosh tanh abs);
    fn atan2(self, x: Self) -> Self {
        Real::atan2(&self, &x)
    }
    fn powi(self, exponent: i32) -> Self {
        elementary::powi(self, exponent)
    }
    fn powf(self, exponent: impl Into<Self>) -> Self {
        Real::pow(&self, &exponent.into())
    }
}
