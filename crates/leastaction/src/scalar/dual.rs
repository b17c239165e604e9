//! A number together with its derivative in one direction.
//!
//! Running the stepper in `Dual` gives the exact tangent map of a step: the same code, the same iteration,
//! with derivatives carried along. That is how symplecticity is measured. `magnitude` reports the larger part, so
//! an iteration in `Dual` goes on until the derivative has converged too.

use super::{DoubleDouble, Field, Real};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `value + tangent·ε` with ε² = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    /// The number.
    pub value: f64,
    /// Its derivative.
    pub tangent: f64,
}

impl Dual {
    /// f(x) and f'(x)·dx.
    fn chain(&self, value: f64, slope: f64) -> Self {
        Self { value, tangent: slope * self.tangent }
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        Self { value: self.value + b.value, tangent: self.tangent + b.tangent }
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        Self { value: self.value - b.value, tangent: self.tangent - b.tangent }
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        Self { value: self.value * b.value, tangent: self.tangent * b.value + self.value * b.tangent }
    }
}

impl Div for Dual {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        let value = self.value / b.value;
        Self { value, tangent: (self.tangent - value * b.tangent) / b.value }
    }
}

impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        Self { value: -self.value, tangent: -self.tangent }
    }
}

impl Field for Dual {
    fn from_f64(x: f64) -> Self {
        Self { value: x, tangent: 0.0 }
    }
    fn to_f64(&self) -> f64 {
        self.value
    }
    fn epsilon() -> f64 {
        f64::EPSILON
    }
    fn magnitude(&self) -> f64 {
        self.value.abs().max(self.tangent.abs())
    }
    fn is_finite(&self) -> bool {
        self.value.is_finite() && self.tangent.is_finite()
    }
}

impl Real for Dual {
    type Wide = DoubleDouble;
    fn narrow(wide: &DoubleDouble) -> Self {
        Self::from_f64(wide.to_f64())
    }
    fn from_decimal(text: &str) -> Self {
        Self::from_f64(f64::from_decimal(text))
    }
    fn to_text(&self, digits: Option<usize>) -> String {
        self.value.to_text(digits)
    }
    fn pi() -> Self {
        Self::from_f64(std::f64::consts::PI)
    }
    fn sqrt(&self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, 0.5 / root)
    }
    fn exp(&self) -> Self {
        let exp = self.value.exp();
        self.chain(exp, exp)
    }
    fn ln(&self) -> Self {
        self.chain(self.value.ln(), 1.0 / self.value)
    }
    fn sin(&self) -> Self {
        self.chain(self.value.sin(), self.value.cos())
    }
    fn cos(&self) -> Self {
        self.chain(self.value.cos(), -self.value.sin())
    }
    fn sin_cos(&self) -> (Self, Self) {
        let (sin, cos) = self.value.sin_cos();
        (self.chain(sin, cos), self.chain(cos, -sin))
    }
    fn tan(&self) -> Self {
        let tan = self.value.tan();
        self.chain(tan, 1.0 + tan * tan)
    }
    fn asin(&self) -> Self {
        self.chain(self.value.asin(), 1.0 / (1.0 - self.value * self.value).sqrt())
    }
    fn acos(&self) -> Self {
        self.chain(self.value.acos(), -1.0 / (1.0 - self.value * self.value).sqrt())
    }
    fn atan(&self) -> Self {
        self.chain(self.value.atan(), 1.0 / (1.0 + self.value * self.value))
    }
    fn atan2(&self, x: &Self) -> Self {
        let square = self.value * self.value + x.value * x.value;
        Self {
            value: self.value.atan2(x.value),
            tangent: (x.value * self.tangent - self.value * x.tangent) / square,
        }
    }
    fn sinh(&self) -> Self {
        self.chain(self.value.sinh(), self.value.cosh())
    }
    fn cosh(&self) -> Self {
        self.chain(self.value.cosh(), self.value.sinh())
    }
    fn tanh(&self) -> Self {
        let tanh = self.value.tanh();
        self.chain(tanh, 1.0 - tanh * tanh)
    }
    fn abs(&self) -> Self {
        self.chain(self.value.abs(), Real::sign(&self.value))
    }
    fn sign(&self) -> Self {
        Self::from_f64(Real::sign(&self.value))
    }
    fn pow(&self, exponent: &Self) -> Self {
        let value = self.value.powf(exponent.value);
        let from_base = exponent.value * self.value.powf(exponent.value - 1.0) * self.tangent;
        // a constant exponent must not bring in ln of a base that may be zero
        let from_exponent =
            if exponent.tangent == 0.0 { 0.0 } else { value * self.value.ln() * exponent.tangent };
        Self { value, tangent: from_base + from_exponent }
    }
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
}
