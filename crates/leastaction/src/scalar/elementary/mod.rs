//! The elementary functions of `f64`, the same bits on every machine.
//!
//! The standard library's come from the platform and differ in their last bits. These use nothing but the operations of IEEE 754 and
//! are written once, in any [`Lanes`]: for one number, for several side by side, and for the compiler's instructions. The errors are
//! measured in `tests.rs`: below one unit in the last place each. `coefficients.py` makes the constants.

mod circle;
#[allow(clippy::approx_constant)] // the constants are printed by a script, with the digits an f64 has
mod coefficients;
mod exponential;
mod far;
mod hyperbolic;
mod inverse;
mod lanes;
mod pairs;
#[cfg(test)]
mod tests;

pub use circle::{sin_cos, tan};
pub use exponential::{exp, ln, pow};
pub use hyperbolic::{cosh, sinh, tanh};
pub use inverse::{acos, asin, atan, atan2};
pub use lanes::{Lanes, Masks, Pack};

/// Sine.
#[inline(always)]
pub fn sin<L: Lanes>(x: L) -> L {
    sin_cos(x).0
}

/// Cosine.
#[inline(always)]
pub fn cos<L: Lanes>(x: L) -> L {
    sin_cos(x).1
}

/// The largest power of two that is not above |x|; zero for numbers below 2^-1022, infinite for what is not finite.
#[inline(always)]
pub fn power_of_two<L: Lanes>(x: L) -> L {
    L::from_bits(L::and(x.bits(), x.word(0x7ff0_0000_0000_0000)))
}

/// An integer power, by repeated squaring as the graph does it.
pub fn powi(x: f64, exponent: i32) -> f64 {
    let (mut result, mut square) = (1.0, x);
    let mut left = exponent.unsigned_abs();
    while left > 0 {
        if left & 1 == 1 {
            result *= square;
        }
        left >>= 1;
        if left > 0 {
            square *= square;
        }
    }
    if exponent < 0 { 1.0 / result } else { result }
}
