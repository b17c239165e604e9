//! Natural numbers of any length: exact, for what is computed once. Decimals, constants and tables are made from them.

use super::Digits;

/// A natural number as limbs, least significant first: exact, for conversions only.
#[derive(Clone, Debug, Default)]
pub(super) struct Natural(pub(super) Vec<u64>);

impl Natural {
    /// self·factor + term
    pub(super) fn scale(&mut self, factor: u64, term: u64) {
        let mut carry = u128::from(term);
        for limb in &mut self.0 {
            let total = u128::from(*limb) * u128::from(factor) + carry;
            *limb = total as u64;
            carry = total >> 64;
        }
        if carry > 0 {
            self.0.push(carry as u64);
        }
    }

    /// Divides by a limb.
    pub(super) fn over(&mut self, divisor: u64) {
        let mut rest = 0u128;
        for limb in self.0.iter_mut().rev() {
            let total = rest << 64 | u128::from(*limb);
            *limb = (total / u128::from(divisor)) as u64;
            rest = total % u128::from(divisor);
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    /// Adds or subtracts; a difference must not be negative.
    pub(super) fn add(&mut self, other: &Self, subtract: bool) {
        self.0.resize(self.0.len().max(other.0.len()) + 1, 0);
        let mut carry = false;
        for (k, place) in self.0.iter_mut().enumerate() {
            let y = other.0.get(k).copied().unwrap_or(0);
            let ((first, over), extra) = if subtract {
                (place.overflowing_sub(y), u64::from(carry))
            } else {
                (place.overflowing_add(y), u64::from(carry))
            };
            let (second, more) =
                if subtract { first.overflowing_sub(extra) } else { first.overflowing_add(extra) };
            *place = second;
            carry = over | more;
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    /// times 2^(64·limbs)
    pub(super) fn raised(mut self, limbs: usize) -> Self {
        self.0.splice(0..0, std::iter::repeat_n(0, limbs));
        self
    }

    /// How many bits the number has.
    pub(super) fn bits(&self) -> usize {
        self.0.last().map_or(0, |top| 64 * self.0.len() - top.leading_zeros() as usize)
    }

    /// Sets all bits from `from` on to zero, or all below it.
    pub(super) fn masked(&self, from: usize, keep_low: bool) -> Self {
        let mask = |k: usize| match from.saturating_sub(64 * k) {
            0 => 0,
            bits if bits >= 64 => u64::MAX,
            bits => (1 << bits) - 1,
        };
        let limb = |(k, limb): (usize, &u64)| limb & if keep_low { mask(k) } else { !mask(k) };
        let mut masked = Self(self.0.iter().enumerate().map(limb).collect());
        while masked.0.last() == Some(&0) {
            masked.0.pop();
        }
        masked
    }

    /// The number over 2^(64·fraction), rounded.
    pub(super) fn rounded<const N: usize>(&self, fraction: usize) -> Digits<N> {
        // one limb more than fits, because the top one may be nearly empty; largest first, so that one sum rounds
        let lowest = self.0.len().saturating_sub(N + 1);
        (lowest..self.0.len()).rev().fold(Digits::ZERO, |sum, k| {
            let half = Digits::<N>::integer((self.0[k] >> 1) as i64).scaled(1);
            let limb = half + Digits::integer((self.0[k] & 1) as i64);
            sum + limb.scaled(64 * (k as i64 - fraction as i64))
        })
    }
}
