//! A number together with its derivative in one direction.
//!
//! Running the stepper in `Dual` gives the exact tangent map of a step: the same code, the same iteration,
//! with derivatives carried along. That is how symplecticity is measured; and a closed-form motion in `Dual` gives the
//! velocity too. `magnitude` reports the larger part, so an iteration in `Dual` goes on until the derivative has
//! converged too.

use super::{Field, Real};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `value + tangent·ε` with ε² = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<R = f64> {
    /// The number.
    pub value: R,
    /// Its derivative.
    pub tangent: R,
}

impl<R: Field> Dual<R> {
    /// A number that does not change.
    pub fn constant(value: R) -> Self {
        Self { value, tangent: R::zero() }
    }
    /// A number that changes at the rate 1.
    pub fn variable(value: R) -> Self {
        Self { value, tangent: R::one() }
    }
    /// f(x) and f'(x)·dx. What does not change stays so, also where f' is infinite.
    fn chain(&self, value: R, slope: R) -> Self {
        if self.is_constant() {
            return Self::constant(value);
        }
        Self { value, tangent: slope * self.tangent.clone() }
    }
    fn is_constant(&self) -> bool {
        self.tangent == R::zero()
    }
}

impl<R: Field> Add for Dual<R> {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        Self { value: self.value + b.value, tangent: self.tangent + b.tangent }
    }
}

impl<R: Field> Sub for Dual<R> {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        Self { value: self.value - b.value, tangent: self.tangent - b.tangent }
    }
}

impl<R: Field> Mul for Dual<R> {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        Self {
            tangent: self.tangent * b.value.clone() + self.value.clone() * b.tangent,
            value: self.value * b.value,
        }
    }
}

impl<R: Field> Div for Dual<R> {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        let value = self.value / b.value.clone();
        Self { tangent: (self.tangent - value.clone() * b.tangent) / b.value, value }
    }
}

impl<R: Field> Neg for Dual<R> {
    type Output = Self;
    fn neg(self) -> Self {
        Self { value: -self.value, tangent: -self.tangent }
    }
}

impl<R: Field> Field for Dual<R> {
    fn from_f64(x: f64) -> Self {
        Self::constant(R::from_f64(x))
    }
    fn to_f64(&self) -> f64 {
        self.value.to_f64()
    }
    fn epsilon() -> f64 {
        R::epsilon()
    }
    fn magnitude(&self) -> f64 {
        self.value.magnitude().max(self.tangent.magnitude())
    }
    fn is_finite(&self) -> bool {
        self.value.is_finite() && self.tangent.is_finite()
    }
    fn times_plus(&self, factor: &Self, sum: &Self) -> Self {
        let tangent = self.value.times_plus(&factor.tangent, &sum.tangent);
        Self {
            value: self.value.times_plus(&factor.value, &sum.value),
            tangent: self.tangent.times_plus(&factor.value, &tangent),
        }
    }
}

impl<R: Real> Real for Dual<R> {
    const HAS_DERIVATIVES: bool = true;
    type Wide = R::Wide;
    const WORDS: usize = 2 * R::WORDS;
    fn write_words(&self, words: &mut Vec<u64>) {
        self.value.write_words(words);
        self.tangent.write_words(words);
    }
    fn from_words(words: &[u64]) -> Option<Self> {
        let (value, tangent) = words.split_at_checked(R::WORDS)?;
        Some(Self { value: R::from_words(value)?, tangent: R::from_words(tangent)? })
    }
    fn narrow(wide: &R::Wide) -> Self {
        Self::constant(R::narrow(wide))
    }
    fn from_decimal(text: &str) -> Self {
        Self::constant(R::from_decimal(text))
    }
    fn to_text(&self, digits: Option<usize>) -> String {
        self.value.to_text(digits)
    }
    fn pi() -> Self {
        Self::constant(R::pi())
    }
    fn sqrt(&self) -> Self {
        let root = self.value.sqrt();
        self.chain(root.clone(), R::from_f64(0.5) / root)
    }
    fn exp(&self) -> Self {
        let exp = self.value.exp();
        self.chain(exp.clone(), exp)
    }
    fn ln(&self) -> Self {
        self.chain(self.value.ln(), R::one() / self.value.clone())
    }
    fn sin(&self) -> Self {
        self.sin_cos().0
    }
    fn cos(&self) -> Self {
        self.sin_cos().1
    }
    fn sin_cos(&self) -> (Self, Self) {
        let (sin, cos) = self.value.sin_cos();
        (self.chain(sin.clone(), cos.clone()), self.chain(cos, -sin))
    }
    fn tan(&self) -> Self {
        let tan = self.value.tan();
        self.chain(tan.clone(), R::one() + squared(&tan))
    }
    fn asin(&self) -> Self {
        self.chain(self.value.asin(), R::one() / (R::one() - squared(&self.value)).sqrt())
    }
    fn acos(&self) -> Self {
        self.chain(self.value.acos(), -R::one() / (R::one() - squared(&self.value)).sqrt())
    }
    fn atan(&self) -> Self {
        self.chain(self.value.atan(), R::one() / (R::one() + squared(&self.value)))
    }
    fn atan2(&self, x: &Self) -> Self {
        let value = self.value.atan2(&x.value);
        if self.is_constant() && x.is_constant() {
            return Self::constant(value);
        }
        let across = x.value.clone() * self.tangent.clone() - self.value.clone() * x.tangent.clone();
        Self { value, tangent: across / (squared(&self.value) + squared(&x.value)) }
    }
    fn sinh(&self) -> Self {
        self.chain(self.value.sinh(), self.value.cosh())
    }
    fn cosh(&self) -> Self {
        self.chain(self.value.cosh(), self.value.sinh())
    }
    fn tanh(&self) -> Self {
        let tanh = self.value.tanh();
        self.chain(tanh.clone(), R::one() - squared(&tanh))
    }
    fn abs(&self) -> Self {
        self.chain(self.value.abs(), self.value.sign())
    }
    fn sign(&self) -> Self {
        Self::constant(self.value.sign())
    }
    fn power_of_two(&self) -> Self {
        Self::constant(self.value.power_of_two())
    }
    fn pow(&self, exponent: &Self) -> Self {
        let value = self.value.pow(&exponent.value);
        let mut tangent = R::zero();
        // a constant base or exponent must not bring in the slope of the other where that is infinite
        if !self.is_constant() {
            let lower = exponent.value.clone() - R::one();
            tangent = exponent.value.clone() * self.value.pow(&lower) * self.tangent.clone();
        }
        if !exponent.is_constant() {
            tangent.add_mul(&(value.clone() * self.value.ln()), &exponent.tangent);
        }
        Self { value, tangent }
    }
}

fn squared<R: Field>(x: &R) -> R {
    x.clone() * x.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every function of `Real`, by name, in any number type.
    fn functions<R: Real>(x: &R, y: &R) -> Vec<(&'static str, R)> {
        vec![
            ("add", x.clone() + y.clone()),
            ("sub", x.clone() - y.clone()),
            ("mul", x.clone() * y.clone()),
            ("div", x.clone() / y.clone()),
            ("neg", -x.clone()),
            ("sqrt", x.sqrt()),
            ("exp", x.exp()),
            ("ln", x.ln()),
            ("sin", x.sin()),
            ("cos", x.cos()),
            ("tan", x.tan()),
            ("asin", x.asin()),
            ("acos", x.acos()),
            ("atan", x.atan()),
            ("atan2", x.atan2(y)),
            ("sinh", x.sinh()),
            ("cosh", x.cosh()),
            ("tanh", x.tanh()),
            ("abs", x.abs()),
            ("pow", x.pow(y)),
        ]
    }

    #[test]
    fn tangents_agree_with_differences() {
        let (x, y, dx, dy) = (0.37, 0.81, 0.6, -0.45);
        let step = 1e-5;
        let exact = functions(&Dual { value: x, tangent: dx }, &Dual { value: y, tangent: dy });
        let ahead = functions(&(x + step * dx), &(y + step * dy));
        let behind = functions(&(x - step * dx), &(y - step * dy));
        for ((dual, a), b) in exact.iter().zip(&ahead).zip(&behind) {
            let difference = (a.1 - b.1) / (2.0 * step);
            assert!((dual.1.tangent - difference).abs() < 1e-8, "{}: {:?} {difference}", dual.0, dual.1);
        }
    }

    #[test]
    fn constants_stay_constant_where_slopes_are_infinite() {
        for (name, x) in functions(&Dual::<f64>::from_f64(0.0), &Dual::from_f64(1.0)) {
            assert_eq!(x.tangent, 0.0, "{name}");
        }
        assert_eq!(Dual::<f64>::from_f64(1.0).asin().tangent, 0.0);
    }
}
