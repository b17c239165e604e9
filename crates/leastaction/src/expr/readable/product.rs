//! Products of powers: what a term of a sum becomes before it is printed.
//!
//! Numbers are kept as small fractions; anything else stays a factor.

use crate::expr::NodeId;
use std::collections::BTreeMap;

/// A product: ± numerator/denominator · Π base^exponent.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Product {
    pub(super) negative: bool,
    pub(super) numerator: u64,
    pub(super) denominator: u64,
    pub(super) factors: BTreeMap<Base, i32>,
}

/// What is raised to a power in a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Base {
    /// A node.
    Node(NodeId),
    /// The node of a sum, without what its terms have in common.
    Sum(NodeId),
    /// The sine of the difference of two angles.
    SineBetween(NodeId, NodeId),
    /// The cosine of the difference of two angles.
    CosineBetween(NodeId, NodeId),
}

impl Product {
    pub(super) fn one() -> Self {
        Self { negative: false, numerator: 1, denominator: 1, factors: BTreeMap::new() }
    }

    pub(super) fn is_one(&self) -> bool {
        !self.negative && self.numerator == 1 && self.denominator == 1 && self.factors.is_empty()
    }

    /// Multiplies by a small number to a power; says no if it is not one.
    pub(super) fn multiply(&mut self, x: f64, exponent: i32) -> bool {
        let size = x.abs();
        let denominators = [1.0, 2.0, 4.0, 8.0, 16.0];
        let Some(denominator) = denominators.into_iter().find(|d| (size * d).fract() == 0.0) else {
            return false;
        };
        let fraction = ((size * denominator) as u64, denominator as u64);
        size < 1e6 && size > 0.0 && self.multiply_fraction(x < 0.0, fraction, exponent)
    }

    /// Multiplies by a fraction to a power; says no if that becomes too large.
    pub(super) fn multiply_fraction(&mut self, negative: bool, (p, q): (u64, u64), exponent: i32) -> bool {
        let (p, q) = if exponent < 0 { (q, p) } else { (p, q) };
        let power = |x: u64, times: u64| {
            x.checked_pow(exponent.unsigned_abs()).and_then(|x| x.checked_mul(times)).filter(|x| *x < 1 << 31)
        };
        let (Some(p), Some(q)) = (power(p, self.numerator), power(q, self.denominator)) else { return false };
        let common = gcd(p, q).max(1);
        (self.numerator, self.denominator) = (p / common, q / common);
        self.negative ^= negative && exponent % 2 != 0;
        true
    }

    /// Multiplies by another product to a power; says no if its numbers become too large.
    pub(super) fn multiply_product(&mut self, other: &Self, exponent: i32) -> bool {
        if !self.multiply_fraction(other.negative, (other.numerator, other.denominator), exponent) {
            return false;
        }
        for (base, power) in &other.factors {
            *self.factors.entry(*base).or_default() += power * exponent;
        }
        true
    }

    /// Adds a product with the same factors; says no if numbers become too large.
    pub(super) fn add(&mut self, other: &Self) -> bool {
        let signed = |x: &Self| if x.negative { -(x.numerator as i64) } else { x.numerator as i64 };
        // numbers are below 2³¹, so that products of two fit
        let sum = signed(self) * other.denominator as i64 + signed(other) * self.denominator as i64;
        let (p, q) = (sum.unsigned_abs(), self.denominator * other.denominator);
        let common = gcd(p, q).max(1);
        if p / common >= 1 << 31 || q / common >= 1 << 31 {
            return false;
        }
        (self.negative, self.numerator, self.denominator) = (sum < 0, p / common, q / common);
        true
    }

    /// The sum that this is, with nothing before it but a sign.
    pub(super) fn as_sum(&self) -> Option<NodeId> {
        let mut factors = self.factors.iter();
        match (factors.next(), factors.next()) {
            (Some((Base::Sum(id), 1)), None) if self.numerator == 1 && self.denominator == 1 => Some(*id),
            _ => None,
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Takes out of a sum what all its products have in common.
pub(super) fn take_out_common(products: &mut [Product]) -> Product {
    let mut common = Product::one();
    let Some((first, others)) = products.split_first() else { return common };
    for (&id, &exponent) in &first.factors {
        // the smallest power, if all have one of the same sign
        let shared = others.iter().try_fold(exponent, |shared: i32, product| {
            let &other = product.factors.get(&id)?;
            (other.signum() == shared.signum()).then(|| shared.signum() * shared.abs().min(other.abs()))
        });
        common.factors.extend(shared.map(|exponent| (id, exponent)));
    }
    common.negative = products.iter().all(|product| product.negative);
    if others.iter().all(|product| product.denominator == first.denominator) {
        common.denominator = first.denominator;
    }
    if others.iter().all(|product| product.numerator == first.numerator) {
        common.numerator = first.numerator;
    }
    for product in products {
        for (id, exponent) in &common.factors {
            *product.factors.entry(*id).or_default() -= exponent;
        }
        product.factors.retain(|_, exponent| *exponent != 0);
        product.negative ^= common.negative;
        product.numerator /= common.numerator;
        product.denominator /= common.denominator;
    }
    common
}
