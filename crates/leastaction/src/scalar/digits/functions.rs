//! Elementary functions: argument reduction and Taylor series for exp, Newton's method for those that are inverses of others.
//! Sine and cosine are left to `circle`.

use super::{Class, Digits, circle, text};
use crate::scalar::{Field, Real, elementary};
use rustc_hash::FxHashMap;
use std::any::Any;
use std::cell::RefCell;

/// Constants that are computed once per thread and number of limbs.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Constant {
    Pi,
    /// ln 2 in two parts: the first has 64 zero bits at its end, so that whole multiples of it are exact.
    Ln2High,
    Ln2Low,
}

thread_local! {
    static CONSTANTS: RefCell<FxHashMap<(Constant, usize), Box<dyn Any>>> = RefCell::default();
}

impl<const N: usize> Digits<N> {
    fn constant(which: Constant) -> Self {
        let known = CONSTANTS
            .with_borrow(|map| map.get(&(which, N)).and_then(|value| value.downcast_ref::<Self>().copied()));
        known.unwrap_or_else(|| {
            let value = Self::compute(which);
            CONSTANTS.with_borrow_mut(|map| map.insert((which, N), Box::new(value)));
            value
        })
    }

    fn compute(which: Constant) -> Self {
        let (high, low) = match which {
            Constant::Pi => circle::quarter(),
            // ln 2 = 18 artanh(1/26) − 2 artanh(1/4801) + 8 artanh(1/8749)
            Constant::Ln2High | Constant::Ln2Low => {
                text::fixed_point_sum::<N>(&[(18, 26, false), (-2, 4801, false), (8, 8749, false)])
            }
        };
        match which {
            Constant::Pi => (high + low).scaled(1),
            Constant::Ln2High => high,
            Constant::Ln2Low => low,
        }
    }

    /// How many halvings of the argument balance the length of a Taylor series.
    const fn halvings() -> i64 {
        (64 * N as i64).isqrt() / 2 + 2
    }

    /// A term below this exponent no longer counts beside one with exponent `of`.
    const fn floor(of: i64) -> i64 {
        of - 64 * N as i64 - 2
    }

    /// exp(r) − 1 for |r| < 1: Taylor at r/2^m, then e^(2x) − 1 = (e^x − 1)(e^x − 1 + 2).
    fn exp_minus_one_small(self) -> Self {
        if self.is_zero() {
            return self;
        }
        let m = Self::halvings();
        let r = self.scaled(-m);
        let (mut term, mut sum) = (r, r);
        let mut k = 2;
        while !term.is_zero() && term.exponent > Self::floor(r.exponent) {
            term = (term * r).over(k);
            sum = sum + term;
            k += 1;
        }
        for _ in 0..m {
            sum = sum * (sum + Self::integer(2));
        }
        sum
    }

    /// x minus the nearest whole multiple of a constant given in two parts, and that multiple.
    pub(super) fn reduced(self, high: Self, low: Self) -> Option<(Self, i64)> {
        let unit = high.to_f64();
        let turns = (self.to_f64() / unit).round();
        if turns.abs() > 4e15 {
            return None;
        }
        let without = |x: Self, turns: f64| {
            if turns == 0.0 {
                return x;
            }
            let count = Self::from_f64(turns);
            (x - count * high) - count * low
        };
        // of very many turns the f64 may have missed one
        let rest = without(self, turns);
        let missed = (rest.to_f64() / unit).round();
        Some((without(rest, missed), turns as i64 + missed as i64))
    }

    /// Whether the number is whole, and if so whether it is odd.
    fn parity(&self) -> Option<bool> {
        match self.class {
            Class::Zero => Some(false),
            Class::Finite if self.exponent > 0 => {
                // the bit of value 1 stands at this place above the bottom of the mantissa
                let place = 64 * N as i64 - self.exponent;
                let bit = |k: i64| self.limbs[(k / 64) as usize] >> (k % 64) & 1 == 1;
                if place < 0 {
                    return Some(false);
                }
                (0..place).all(|k| !bit(k)).then(|| bit(place))
            }
            _ => None,
        }
    }
}

/// ln(1 + x), also where 1 + x rounds x away (Kahan).
fn logarithm_near_one(x: f64) -> f64 {
    let sum = 1.0 + x;
    if sum == 1.0 { x } else { elementary::ln(sum) * (x / (sum - 1.0)) }
}

/// Exponents beyond this are not those of any computation; sums of two stay within their type.
const LARGEST_EXPONENT: u64 = 1 << 60;

impl<const N: usize> Real for Digits<N> {
    type Wide = Self;
    const REFINES_F64: bool = true;
    const WORDS: usize = N + 2;
    fn write_words(&self, words: &mut Vec<u64>) {
        words.push(self.class as u64 | u64::from(self.negative) << 8);
        words.push(self.exponent as u64);
        words.extend(self.limbs);
    }
    fn from_words(words: &[u64]) -> Option<Self> {
        let (&[head, exponent], limbs) = words.split_first_chunk::<2>()?;
        let limbs: [u64; N] = limbs.try_into().ok()?;
        let class = [Class::Zero, Class::Finite, Class::Infinite, Class::NaN]
            .into_iter()
            .find(|c| *c as u64 == head & 255)?;
        let number = Self { class, negative: head >> 8 == 1, exponent: exponent as i64, limbs };
        let normal = limbs[N - 1] >> 63 == 1 && number.exponent.unsigned_abs() < LARGEST_EXPONENT;
        (head >> 8 <= 1 && (class != Class::Finite || normal)).then_some(number)
    }
    fn narrow(wide: &Self) -> Self {
        *wide
    }
    fn from_decimal(text: &str) -> Self {
        text::parse(text).unwrap_or(Self::NAN)
    }
    fn to_text(&self, digits: Option<usize>) -> String {
        // one digit more than the mantissa holds, so that it reads back to within its last place
        let all = (64.0 * N as f64 / std::f64::consts::LOG2_10) as usize + 2;
        self.to_decimal(digits.unwrap_or(all))
    }
    fn pi() -> Self {
        Self::constant(Constant::Pi)
    }

    fn sqrt(&self) -> Self {
        match self.class {
            Class::Zero => return *self,
            Class::Finite if !self.negative => {}
            Class::Infinite if !self.negative => return *self,
            _ => return Self::NAN,
        }
        // x = m·4^k with m in [¼, 1): 1/√m by Newton from its f64, y += y (1 − m y²)/2
        let k = self.exponent.div_euclid(2) + self.exponent.rem_euclid(2);
        let m = self.scaled(-2 * k);
        let mut y = Self::from_f64(1.0 / m.to_f64().sqrt());
        let mut bits = 50;
        while bits < 32 * N {
            y = y + (y * (Self::one() - m * (y * y))).scaled(-1);
            bits *= 2;
        }
        // the last step gives the root itself
        let root = m * y;
        (root + (y * (m - root * root)).scaled(-1)).scaled(k)
    }

    fn exp(&self) -> Self {
        match self.class {
            Class::Zero => return Self::one(),
            Class::NaN => return Self::NAN,
            Class::Infinite if self.negative => return Self::ZERO,
            Class::Infinite => return *self,
            Class::Finite => {}
        }
        match self.reduced(Self::constant(Constant::Ln2High), Self::constant(Constant::Ln2Low)) {
            Some((rest, k)) => (Self::one() + rest.exp_minus_one_small()).scaled(k),
            None if self.negative => Self::ZERO,
            None => Self::special(Class::Infinite, false),
        }
    }

    fn ln(&self) -> Self {
        match self.class {
            Class::Zero => return Self::special(Class::Infinite, true),
            Class::Finite if !self.negative => {}
            Class::Infinite if !self.negative => return *self,
            _ => return Self::NAN,
        }
        // x = m·2^k with m in [0.7, 1.4): near 1 nothing cancels
        let mut k = self.exponent;
        if self.scaled(-k).to_f64() < 0.7 {
            k -= 1;
        }
        let m = self.scaled(-k);
        // Halley: y += 2 (m − e^y)/(m + e^y) triples the digits; e^y − 1 keeps those of a small y
        let mut y = Self::from_f64(logarithm_near_one((m - Self::one()).to_f64()));
        let mut bits = 48;
        while bits < 64 * N {
            let e = y.exp_minus_one_small();
            let above = (m - Self::one()) - e;
            y = y + (above / (m + Self::one() + e)).scaled(1);
            bits *= 3;
        }
        let count = Self::integer(k);
        y + count * Self::constant(Constant::Ln2High) + count * Self::constant(Constant::Ln2Low)
    }

    fn sin(&self) -> Self {
        circle::sin_cos(self).0
    }
    fn cos(&self) -> Self {
        circle::sin_cos(self).1
    }
    fn sin_cos(&self) -> (Self, Self) {
        circle::sin_cos(self)
    }
    fn tan(&self) -> Self {
        let (s, c) = circle::sin_cos(self);
        s / c
    }
    fn asin(&self) -> Self {
        self.atan2(&((Self::one() - *self) * (Self::one() + *self)).sqrt())
    }
    fn acos(&self) -> Self {
        ((Self::one() - *self) * (Self::one() + *self)).sqrt().atan2(self)
    }
    fn atan(&self) -> Self {
        self.atan2(&Self::one())
    }
    fn atan2(&self, x: &Self) -> Self {
        if self.class == Class::NaN || x.class == Class::NaN {
            return Self::NAN;
        }
        let half_turn = |angle: Self| match (x.negative, self.negative) {
            (false, _) => angle,
            (true, false) => angle + Self::pi(),
            (true, true) => angle - Self::pi(),
        };
        if !self.is_finite() || !x.is_finite() || self.is_zero() || x.is_zero() {
            // on the axes and at infinity the angle is a multiple of π/4
            let eighths =
                (elementary::atan2(self.to_f64(), x.to_f64()) / std::f64::consts::FRAC_PI_4).round();
            return Self::pi() * Self::from_f64(eighths / 4.0);
        }
        let ratio = *self / *x;
        if ratio.exponent < -200 {
            // below what f64 gives a start for; arctan r = r − r³/3 is exact there
            return half_turn(ratio - (ratio * ratio * ratio).over(3));
        }
        // the rest after an angle y is arctan e, e = (r cos y − sin y)/(cos y + r sin y), taken as e − e³/3
        let mut angle = Self::from_f64(elementary::atan(ratio.to_f64()));
        let (top, bottom) = if x.negative { (-*self, -*x) } else { (*self, *x) };
        let mut bits = 48;
        while bits < 64 * N {
            let (s, c) = circle::sin_cos(&angle);
            let e = (top * c - bottom * s) / (bottom * c + top * s);
            angle = angle + e - (e * e * e).over(3);
            bits *= 5;
        }
        half_turn(angle)
    }

    fn sinh(&self) -> Self {
        if self.class == Class::Finite && self.exponent <= 0 {
            // (e − 1)(e + 1)/2e with e − 1 from its series: nothing cancels
            let less = self.exp_minus_one_small();
            return (less * (less + Self::integer(2)) / (less + Self::one())).scaled(-1);
        }
        let e = self.exp();
        (e - Self::one() / e).scaled(-1)
    }
    fn cosh(&self) -> Self {
        let e = self.exp();
        (e + Self::one() / e).scaled(-1)
    }
    fn tanh(&self) -> Self {
        if self.to_f64().abs() > 1e5 {
            return Self::integer(if self.negative { -1 } else { 1 });
        }
        self.sinh() / self.cosh()
    }
    fn abs(&self) -> Self {
        Self { negative: false, ..*self }
    }
    fn sign(&self) -> Self {
        match self.class {
            Class::NaN => Self::NAN,
            Class::Zero => Self::ZERO,
            _ => Self::integer(if self.negative { -1 } else { 1 }),
        }
    }
    fn power_of_two(&self) -> Self {
        Self::one()
    }
    fn pow(&self, exponent: &Self) -> Self {
        if exponent.is_zero() {
            return Self::one();
        }
        if self.is_zero() {
            return if exponent.negative { Self::special(Class::Infinite, false) } else { Self::ZERO };
        }
        let size = (self.abs().ln() * *exponent).exp();
        match (self.negative, exponent.parity()) {
            (false, _) | (true, Some(false)) => size,
            (true, Some(true)) => -size,
            (true, None) => Self::NAN,
        }
    }
}
