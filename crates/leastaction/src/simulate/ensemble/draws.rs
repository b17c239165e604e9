//! Random numbers that are not a sequence: each is a function of the seed, the member and the name of what is drawn.
//!
//! The function is Philox 2×64 with ten rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011),
//! with the seed as key and (member, hash of the name) as counter, so that any shard makes its members alone and further
//! names change nothing. Its 128 bits give a uniform number, or by Box and Muller a normal one; logarithm, root and cosine are the library's own, so that the
//! bits are the same on every machine.

use super::spec::Shape;
use crate::scalar::Real;

/// A distribution with numbers.
#[derive(Clone, Debug)]
pub(super) struct Dice {
    shape: Shape,
    numbers: [f64; 2],
    name: u64,
}

impl Dice {
    pub(super) fn new(name: &str, shape: Shape, numbers: [f64; 2]) -> Self {
        Self { shape, numbers, name: hash(name) }
    }

    /// The value of a member.
    pub(super) fn value(&self, seed: u64, member: u64) -> f64 {
        let [a, b] = self.numbers;
        let [first, second] = philox(seed, [member, self.name]);
        match self.shape {
            // a + (b − a) u, u in [0, 1)
            Shape::Uniform => a + (b - a) * unit(first),
            // mean + deviation √(−2 ln u) cos 2πw, u in (0, 1]
            Shape::Normal => {
                let radius = (-2.0 * Real::ln(&(unit(first) + UNIT))).sqrt();
                a + b * (radius * Real::cos(&(std::f64::consts::TAU * unit(second))))
            }
        }
    }
}

/// 2⁻⁵³
const UNIT: f64 = 1.0 / (1u64 << 53) as f64;

/// A number in [0, 1) from 53 of the bits.
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * UNIT
}

/// 128 bits from a key and a counter.
fn philox(mut key: u64, [mut a, mut b]: [u64; 2]) -> [u64; 2] {
    const MULTIPLIER: u64 = 0xD2B7_4407_B1CE_6E93;
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    for _ in 0..10 {
        let product = u128::from(MULTIPLIER) * u128::from(a);
        (a, b) = ((product >> 64) as u64 ^ key ^ b, product as u64);
        key = key.wrapping_add(GOLDEN);
    }
    [a, b]
}

/// The hash FNV-1a of a name.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_is_the_published_one() {
        // kat_vectors of Random123, philox2x64 10
        for (counter, key, expected) in [
            ([0, 0], 0, [0xca00_a045_9843_d731, 0x66c2_4222_c9a8_45b5]),
            ([u64::MAX; 2], u64::MAX, [0x65b0_21d6_0cd8_310f, 0x4d02_f322_2f86_df20]),
            (
                [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344],
                0xa409_3822_299f_31d0,
                [0x0a5e_742c_2997_341c, 0xb0f8_83d3_8000_de5d],
            ),
        ] {
            assert_eq!(philox(key, counter), expected);
        }
    }

    #[test]
    fn draws_have_their_moments() {
        for (shape, numbers, mean, variance, fourth) in [
            (Shape::Uniform, [-1.0, 3.0], 1.0, 16.0 / 12.0, 256.0 / 80.0),
            (Shape::Normal, [2.0, 0.5], 2.0, 0.25, 3.0 / 16.0),
        ] {
            let dice = Dice::new("q1", shape, numbers);
            let count = 200_000;
            let values: Vec<f64> = (0..count).map(|member| dice.value(7, member)).collect();
            let moment = |k: i32| values.iter().map(|x| (x - mean).powi(k)).sum::<f64>() / count as f64;
            assert!(moment(1).abs() < 0.01, "{}", moment(1));
            assert!((moment(2) / variance - 1.0).abs() < 0.02, "{}", moment(2));
            assert!((moment(4) / fourth - 1.0).abs() < 0.04, "{}", moment(4));
        }
    }

    #[test]
    fn seeds_names_and_members_differ() {
        let value =
            |name: &str, seed, member| Dice::new(name, Shape::Uniform, [0.0, 1.0]).value(seed, member);
        let base = value("q1", 1, 0);
        assert_eq!(base.to_bits(), value("q1", 1, 0).to_bits());
        for other in [value("q2", 1, 0), value("q1", 2, 0), value("q1", 1, 1)] {
            assert!((base - other).abs() > 1e-3);
        }
    }
}
