//! Arithmetic modulo a prime, in which an identity of polynomials is decided without rounding.
//!
//! A prime is 2⁶¹ − c with a small c, so that products are reduced by shifts. Numbers and decimal literals are
//! fractions of whole numbers and map exactly. Everything else is random or a hash: a number that depends on nothing
//! but what it is made of.

/// c of the primes 2⁶¹ − c, the largest first.
const PRIMES: [u64; 14] = [1, 31, 45, 229, 259, 283, 339, 391, 403, 465, 531, 579, 675, 759];
const BITS: u32 = 61;
/// Decimal exponents beyond this are given up.
const LARGEST_EXPONENT: i64 = 100_000;

/// The whole numbers modulo a prime.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrimeField {
    c: u64,
}

impl PrimeField {
    /// How many there are.
    pub(super) const COUNT: usize = PRIMES.len();

    /// The field with this number, modulo [`COUNT`](Self::COUNT).
    pub(super) fn new(index: usize) -> Self {
        Self { c: PRIMES[index % PRIMES.len()] }
    }

    fn prime(self) -> u64 {
        (1 << BITS) - self.c
    }

    fn reduce(self, x: u128) -> u64 {
        // 2⁶¹ ≡ c
        let fold = |x: u128| (x >> BITS) * u128::from(self.c) + (x & ((1 << BITS) - 1));
        let x = fold(fold(x)) as u64;
        if x >= self.prime() { x - self.prime() } else { x }
    }

    pub(super) fn add(self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= self.prime() { sum - self.prime() } else { sum }
    }

    pub(super) fn neg(self, a: u64) -> u64 {
        if a == 0 { 0 } else { self.prime() - a }
    }

    pub(super) fn sub(self, a: u64, b: u64) -> u64 {
        self.add(a, self.neg(b))
    }

    pub(super) fn mul(self, a: u64, b: u64) -> u64 {
        self.reduce(u128::from(a) * u128::from(b))
    }

    pub(super) fn pow(self, base: u64, exponent: u64) -> u64 {
        let (mut result, mut square, mut left) = (1, base, exponent);
        while left > 0 {
            if left & 1 == 1 {
                result = self.mul(result, square);
            }
            square = self.mul(square, square);
            left >>= 1;
        }
        result
    }

    /// 1/a (Fermat); `None` for zero.
    pub(super) fn inverse(self, a: u64) -> Option<u64> {
        (a != 0).then(|| self.pow(a, self.prime() - 2))
    }

    /// A finite number, m·2^e.
    pub(super) fn number(self, x: f64) -> Option<u64> {
        if !x.is_finite() {
            return None;
        }
        let bits = x.to_bits();
        let (exponent, digits) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
        // subnormal numbers have no leading bit
        let (digits, exponent) =
            if exponent == 0 { (digits, -1074) } else { (digits | 1 << 52, exponent - 1075) };
        let zeros = if digits == 0 { 0 } else { digits.trailing_zeros() };
        let exponent = exponent + i64::from(zeros);
        let half = self.prime().div_ceil(2);
        let power = self.pow(if exponent < 0 { half } else { 2 }, exponent.unsigned_abs());
        let size = self.mul(digits >> zeros, power);
        Some(if x < 0.0 { self.neg(size) } else { size })
    }

    /// A decimal literal, digits·10^e.
    pub(super) fn decimal(self, text: &str) -> Option<u64> {
        let (digits, mut exponent) = decimal_parts(text)?;
        let mut value = 0;
        for digit in digits.bytes() {
            match digit {
                b'0'..=b'9' => value = self.add(self.mul(value, 10), u64::from(digit - b'0')),
                b'.' => {}
                _ => return None,
            }
        }
        if let Some((_, fraction)) = digits.split_once('.') {
            exponent -= fraction.len() as i64;
        }
        let power = self.pow(10, exponent.unsigned_abs());
        let size = self.mul(value, if exponent < 0 { self.inverse(power)? } else { power });
        Some(if text.starts_with('-') { self.neg(size) } else { size })
    }

    /// A number that looks random and depends on the words alone.
    pub(super) fn hash(self, words: &[u64]) -> u64 {
        self.reduce(u128::from(hash(words)))
    }

    /// The fraction numerator/denominator ≡ a with the smallest numbers, if they are small enough to be unique.
    pub(super) fn fraction(self, a: u64) -> Option<(i64, i64)> {
        const LARGEST: i64 = 1_000_000;
        // remainders r = s·p + d·a of Euclid's algorithm; the first small one is the numerator
        let (mut r, mut d) = ([self.prime() as i64, a as i64], [0i64, 1]);
        while r[1] > LARGEST {
            let quotient = r[0] / r[1];
            r = [r[1], r[0] - quotient * r[1]];
            d = [d[1], d[0] - quotient * d[1]];
        }
        (d[1].abs() <= LARGEST).then(|| (r[1] * d[1].signum(), d[1].abs()))
    }
}

/// The digits of a decimal literal and its exponent of ten.
pub(super) fn decimal_parts(text: &str) -> Option<(&str, i64)> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse().ok()?),
        None => (unsigned, 0),
    };
    (i64::abs(exponent) <= LARGEST_EXPONENT && digits.len() as i64 <= LARGEST_EXPONENT)
        .then_some((digits, exponent))
}

/// 64 bits that depend on all words (SplitMix64's steps, one a word).
fn hash(words: &[u64]) -> u64 {
    words.iter().fold(0x243f_6a88_85a3_08d3, |state: u64, word| {
        let mut z = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_fields() {
        for index in 0..PrimeField::COUNT {
            let field = PrimeField::new(index);
            for a in (1..50).map(|k| field.hash(&[k])) {
                let inverse = field.inverse(a).expect("not zero");
                assert_eq!(field.mul(a, inverse), 1, "{a} modulo 2^61 - {}", field.c);
                assert_eq!(field.add(a, field.neg(a)), 0);
                assert_eq!(field.pow(a, field.prime() - 1), 1);
            }
            assert_eq!(field.inverse(0), None);
            let largest = field.prime() - 1;
            assert_eq!(field.mul(largest, largest), 1);
        }
    }

    #[test]
    fn numbers_and_decimals_are_exact() {
        for index in 0..PrimeField::COUNT {
            let field = PrimeField::new(index);
            for (x, text) in [(0.5, "0.5"), (-0.375, "-0.375"), (3.0, "3"), (1e20, "1e20"), (0.0, "0.0")] {
                assert_eq!(field.number(x), field.decimal(text), "{text}");
            }
            // 0.1 is a tenth as a decimal, and not as a number
            let tenth = field.decimal("0.1").expect("a decimal");
            assert_eq!(field.mul(tenth, 10), 1);
            assert_eq!(field.decimal("1.00e-1"), Some(tenth));
            assert_ne!(field.number(0.1), Some(tenth));
            let smallest = field.number(f64::from_bits(1)).expect("finite");
            assert_eq!(field.mul(smallest, field.pow(2, 1074)), 1);
            assert_eq!(field.number(f64::NAN), None);
        }
    }

    #[test]
    fn fractions_come_back() {
        let field = PrimeField::new(0);
        for (n, d) in [(0, 1), (1, 1), (-1, 1), (2, 3), (-355, 113), (999_983, 999_979)] {
            let size = field.mul(i64::abs(n) as u64, field.inverse(d as u64).expect("not zero"));
            let a = if n < 0 { field.neg(size) } else { size };
            assert_eq!(field.fraction(a), Some((n, d)));
        }
        assert_eq!(field.fraction(field.hash(&[1])), None);
    }
}
