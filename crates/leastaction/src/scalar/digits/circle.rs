//! Sine and cosine: a table of both on a grid of angles, and short series in fixed point for what lies between.
//!
//! x = turns·π/2 ± (a + b) with a on the grid and |b| at most half its spacing. The series are summed over plain limbs, where
//! a product costs half and a sum a fifth of what it does for [`Digits`]; only what they add to b, sin a and cos a, which is
//! small, carries their errors. The table is made from whole numbers, once per thread and number of limbs.

use super::arithmetic::{normalised, shifted_down};
use super::natural::Natural;
use super::{Digits, text};
use crate::scalar::Field;
use rustc_hash::FxHashMap;
use std::any::Any;
use std::cell::RefCell;

/// Angles of the grid are whole multiples of 2^−GRID. A finer one shortens the series by a term or two, and takes longer to make.
const GRID: i64 = 6;
/// The grid reaches beyond π/4.
const ANGLES: u64 = 52;

thread_local! {
    static CIRCLES: RefCell<FxHashMap<usize, Box<dyn Any>>> = RefCell::default();
}

/// Sine and cosine; NaN for infinite angles and for those of more turns than f64 counts.
pub(super) fn sin_cos<const N: usize>(x: &Digits<N>) -> (Digits<N>, Digits<N>) {
    if !x.is_finite() {
        return (Digits::NAN, Digits::NAN);
    }
    let known = CIRCLES.with_borrow(|map| Some(map.get(&N)?.downcast_ref::<Circle<N>>()?.sin_cos(*x)));
    known.unwrap_or_else(|| {
        let circle = Circle::new();
        let result = circle.sin_cos(*x);
        CIRCLES.with_borrow_mut(|map| map.insert(N, Box::new(circle)));
        result
    })
}

/// π/2 in two parts: the first has 64 zero bits at its end, so that whole multiples of it are exact.
pub(super) fn quarter<const N: usize>() -> (Digits<N>, Digits<N>) {
    // Machin: π/4 = 4 arctan(1/5) − arctan(1/239)
    text::fixed_point_sum(&[(8, 5, true), (-2, 239, true)])
}

/// What sines and cosines with N limbs are made of.
struct Circle<const N: usize> {
    quarter: (Digits<N>, Digits<N>),
    /// Sine and cosine on the grid.
    grid: Vec<(Digits<N>, Digits<N>)>,
    /// The last first.
    coefficients: Vec<Coefficients<N>>,
}

/// Of w^k in both series: 2^(−2·GRID·k) / (2k + 3)! and 2^(−2·GRID·k) / (2k + 2)!
struct Coefficients<const N: usize> {
    odd: Fraction<N>,
    even: Fraction<N>,
    /// Limbs above so many are zero.
    length: usize,
}

impl<const N: usize> Circle<N> {
    fn new() -> Self {
        Self { quarter: quarter(), grid: (0..ANGLES).map(on_grid).collect(), coefficients: coefficients() }
    }

    fn sin_cos(&self, x: Digits<N>) -> (Digits<N>, Digits<N>) {
        let Some((rest, turns)) = x.reduced(self.quarter.0, self.quarter.1) else {
            return (Digits::NAN, Digits::NAN);
        };
        let (size, cosine) = self.near_zero(Digits { negative: false, ..rest });
        let sine = if rest.negative { -size } else { size };
        match turns.rem_euclid(4) {
            0 => (sine, cosine),
            1 => (cosine, -sine),
            2 => (-sine, -cosine),
            _ => (-cosine, sine),
        }
    }

    /// Sine and cosine for 0 ≤ x ≤ π/4.
    fn near_zero(&self, x: Digits<N>) -> (Digits<N>, Digits<N>) {
        let nearest = Field::to_f64(&x.scaled(GRID)).round();
        let b = x - Digits::from_f64(nearest).scaled(-GRID);
        let (less, versine) = self.series(b * b);
        let sine = b - b * less;
        if nearest == 0.0 {
            return (sine, Digits::integer(1) - versine);
        }
        // sin(a + b) = sin a + (cos a sin b − sin a (1 − cos b)),  cos(a + b) = cos a − (sin a sin b + cos a (1 − cos b))
        let (s, c) = self.grid[nearest as usize];
        (s + (c * sine - s * versine), c - (s * sine + c * versine))
    }

    /// 1 − (sin b)/b and 1 − cos b from b².
    fn series(&self, square: Digits<N>) -> (Digits<N>, Digits<N>) {
        // w = b²·2^(2·GRID) ≤ ¼, and w/3! − w²/5! + …, w/2! − w²/4! + … by Horner's rule
        let w = fraction(&square.scaled(2 * GRID));
        let (mut odd, mut even, mut length) = ([0; N], [0; N], 0);
        for next in &self.coefficients {
            odd = difference(&next.odd, &product(&odd, length, &w));
            even = difference(&next.even, &product(&even, length, &w));
            length = next.length;
        }
        let number = |sum: &Fraction<N>| normalised(product(sum, N, &w), 0, -2 * GRID, false);
        (number(&odd), number(&even))
    }
}

/// sin(k/2^GRID) and cos(k/2^GRID), correctly rounded.
fn on_grid<const N: usize>(k: u64) -> (Digits<N>, Digits<N>) {
    // powers x^j/j!, in turn to cos, sin, −cos, −sin, with a limb to spare
    let fraction = N + 1;
    let mut power = Natural(vec![1]).raised(fraction);
    let mut sums = <[[Natural; 2]; 2]>::default();
    let mut j = 0;
    while !power.0.is_empty() {
        sums[j as usize / 2 % 2][j as usize % 2].add(&power, false);
        j += 1;
        power.scale(k, 0);
        power.over(j << GRID);
    }
    let [[mut cosine, mut sine], less] = sums;
    cosine.add(&less[0], true);
    sine.add(&less[1], true);
    (sine.rounded(fraction), cosine.rounded(fraction))
}

/// The coefficients of both series, as many as count.
fn coefficients<const N: usize>() -> Vec<Coefficients<N>> {
    let mut list = Vec::new();
    let mut even = Natural(vec![1]).raised(N);
    even.over(2);
    let mut j = 2;
    while !even.0.is_empty() {
        let mut odd = even.clone();
        odd.over(j + 1);
        list.push(Coefficients { odd: limbs(&odd), even: limbs(&even), length: even.0.len() });
        even.over(((j + 1) * (j + 2)) << (2 * GRID));
        j += 2;
    }
    list.reverse();
    list
}

/// A number from 0 to 1 in units of 2^(−64·N), least significant limb first.
type Fraction<const N: usize> = [u64; N];

fn limbs<const N: usize>(natural: &Natural) -> Fraction<N> {
    std::array::from_fn(|k| natural.0.get(k).copied().unwrap_or(0))
}

/// A number from 0 to ½ as a fraction.
fn fraction<const N: usize>(x: &Digits<N>) -> Fraction<N> {
    if x.is_zero() { [0; N] } else { shifted_down(&x.limbs, x.exponent.unsigned_abs()).0 }
}

/// a·b for an `a` with so many limbs, at most N + 1 units too small: limbs that only carry into the last one are left out.
fn product<const N: usize>(a: &Fraction<N>, length: usize, b: &Fraction<N>) -> Fraction<N> {
    let (mut high, mut guard) = ([0u64; N], 0u64);
    for i in 0..N {
        if i >= length {
            break;
        }
        let x = u128::from(a[i]);
        let total = x * u128::from(b[N - 1 - i]) + u128::from(guard);
        guard = total as u64;
        let mut carry = (total >> 64) as u64;
        for j in N - i..N {
            let total = x * u128::from(b[j]) + u128::from(high[i + j - N]) + u128::from(carry);
            high[i + j - N] = total as u64;
            carry = (total >> 64) as u64;
        }
        high[i] = carry;
    }
    high
}

/// a − b for a ≥ b.
fn difference<const N: usize>(a: &Fraction<N>, b: &Fraction<N>) -> Fraction<N> {
    let mut borrow = false;
    std::array::from_fn(|k| {
        let (first, under) = a[k].overflowing_sub(b[k]);
        let (second, more) = first.overflowing_sub(u64::from(borrow));
        borrow = under | more;
        second
    })
}
