//! A number with about 31 digits and the elementary functions of the test systems.
//!
//! Errors of high orders fall below the rounding of `f64` before they fall regularly. In this type they do not, so orders
//! can be measured without a plateau; and the steppers are seen to run in a number type they have never met.

use leastaction::scalar::{DoubleDouble, Field, Real};
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::LazyLock;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quad(DoubleDouble);

/// 1/k!
static INVERSE_FACTORIALS: LazyLock<Vec<Quad>> = LazyLock::new(|| {
    let mut list = vec![Quad::one()];
    for k in 1..32 {
        list.push(list[k - 1] / Quad::from_f64(k as f64));
    }
    list
});

macro_rules! forward {
    ($($operator:ident $name:ident)*) => {
        $(impl $operator for Quad {
            type Output = Self;
            fn $name(self, other: Self) -> Self { Self(self.0.$name(other.0)) }
        })*
    };
}
forward!(Add add Sub sub Mul mul Div div);

impl Neg for Quad {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Field for Quad {
    fn from_f64(x: f64) -> Self {
        Self(DoubleDouble::from_f64(x))
    }
    fn to_f64(&self) -> f64 {
        self.0.to_f64()
    }
    fn epsilon() -> f64 {
        DoubleDouble::epsilon()
    }
}

impl Quad {
    /// sin and cos by Taylor's series after taking out multiples of π/2.
    fn sin_cos(self) -> (Self, Self) {
        let half_pi = Self::pi() * Self::from_f64(0.5);
        let quadrant = (self.to_f64() / half_pi.to_f64()).round();
        let x = self - Self::from_f64(quadrant) * half_pi;
        let square = -(x * x);
        let series = |first: usize| {
            (0..14).rev().fold(Self::zero(), |sum, k| sum * square + INVERSE_FACTORIALS[2 * k + first])
        };
        let (sin, cos) = (x * series(1), series(0));
        match quadrant.rem_euclid(4.0) as u8 {
            0 => (sin, cos),
            1 => (cos, -sin),
            2 => (-sin, -cos),
            _ => (-cos, sin),
        }
    }
}

macro_rules! missing {
    ($($name:ident)*) => {
        $(fn $name(&self) -> Self { unimplemented!("no test system needs it") })*
    };
}

impl Real for Quad {
    type Wide = Self;
    fn narrow(wide: &Self) -> Self {
        *wide
    }
    fn from_decimal(text: &str) -> Self {
        Self::from_f64(f64::from_decimal(text))
    }
    fn pi() -> Self {
        // π less its nearest f64: Cody and Waite
        Self::from_f64(std::f64::consts::PI) + Self::from_f64(1.224_646_799_147_353_2e-16)
    }
    fn sqrt(&self) -> Self {
        let half = Self::from_f64(0.5);
        let mut root = Self::from_f64(self.to_f64().sqrt());
        for _ in 0..2 {
            root = half * (root + *self / root);
        }
        root
    }
    fn sin(&self) -> Self {
        self.sin_cos().0
    }
    fn cos(&self) -> Self {
        self.sin_cos().1
    }
    missing!(exp ln tan asin acos atan sinh cosh tanh);
    fn atan2(&self, _: &Self) -> Self {
        unimplemented!("no test system needs it")
    }
    fn pow(&self, _: &Self) -> Self {
        unimplemented!("no test system needs it")
    }
    fn abs(&self) -> Self {
        if self.to_f64() < 0.0 { -*self } else { *self }
    }
    fn sign(&self) -> Self {
        Self::from_f64(self.to_f64().signum())
    }
}
