//! Numbers on their way into a file or back, bit by bit.
//!
//! What is to be kept says once what belongs to it, in a function that is called to write and to read:
//! `ledger.numbers(&mut self.q)` writes q into a new ledger and replaces it by what stands in an old one. So both directions
//! cannot disagree. Lengths are written as well and must fit. A ledger that does not fit is not believed: from there on it
//! changes nothing, and `close` says so.

use super::Real;

/// Words of 64 bits, written or read.
#[derive(Clone, Debug)]
pub struct Ledger {
    words: Vec<u64>,
    /// Where the next word is read; nothing if they are written.
    next: Option<usize>,
    fits: bool,
}

impl Ledger {
    /// An empty one to write into.
    pub fn new() -> Self {
        Self { words: Vec::new(), next: None, fits: true }
    }

    /// One to read from.
    pub fn of(words: Vec<u64>) -> Self {
        Self { words, next: Some(0), fits: true }
    }

    /// The words; nothing if what was read did not fit, or was not all.
    pub fn close(self) -> Option<Vec<u64>> {
        let whole = self.next.is_none_or(|next| next == self.words.len());
        (self.fits && whole).then_some(self.words)
    }

    /// Whether it is read and what was read so far fits.
    fn is_read(&self) -> bool {
        self.next.is_some() && self.fits
    }

    /// So many words from where reading is.
    fn take(&mut self, count: usize) -> Option<&[u64]> {
        let from = self.next.filter(|_| self.fits)?;
        let to = from.checked_add(count).filter(|to| *to <= self.words.len());
        self.fits = to.is_some();
        self.next = to;
        self.words.get(from..to?)
    }

    /// What was read is refused for another reason.
    pub fn require(&mut self, fits: bool) {
        self.fits &= fits;
    }

    /// A whole number.
    pub fn whole(&mut self, x: &mut u64) {
        match self.next {
            None => self.words.push(*x),
            Some(_) => {
                if let Some(&[word]) = self.take(1) {
                    *x = word;
                }
            }
        }
    }

    /// A whole number of 32 bits.
    pub fn small(&mut self, x: &mut u32) {
        let mut word = u64::from(*x);
        self.whole(&mut word);
        match u32::try_from(word) {
            Ok(word) => *x = word,
            Err(_) => self.fits = false,
        }
    }

    /// Yes or no.
    pub fn flag(&mut self, x: &mut bool) {
        let mut word = u64::from(*x);
        self.whole(&mut word);
        self.require(word < 2);
        *x = word == 1;
    }

    /// A length that is what it is.
    fn length(&mut self, length: usize) {
        let mut found = length as u64;
        self.whole(&mut found);
        self.require(found == length as u64);
    }

    /// A number.
    pub fn number<R: Real>(&mut self, x: &mut R) {
        match self.next {
            None => x.write_words(&mut self.words),
            Some(_) => match self.take(R::WORDS).map(R::from_words) {
                Some(Some(number)) => *x = number,
                _ => self.fits = false,
            },
        }
    }

    /// A list of numbers whose length is known.
    pub fn numbers<R: Real>(&mut self, list: &mut [R]) {
        self.length(list.len());
        for x in list {
            self.number(x);
        }
    }

    /// A list of numbers that grows.
    pub fn list<R: Real>(&mut self, list: &mut Vec<R>) {
        self.grown(list, R::WORDS, R::zero(), Self::number);
    }

    /// A list of whole numbers that grows.
    pub fn wholes(&mut self, list: &mut Vec<u64>) {
        self.grown(list, 1, 0, Self::whole);
    }

    fn grown<T: Clone>(
        &mut self,
        list: &mut Vec<T>,
        words: usize,
        empty: T,
        one: impl Fn(&mut Self, &mut T),
    ) {
        let mut length = list.len() as u64;
        self.whole(&mut length);
        if self.is_read() {
            // a length that is not followed by as much must not ask for memory
            let rest = self.words.len() - self.next.unwrap_or(0);
            self.require(length.checked_mul(words as u64).is_some_and(|count| count <= rest as u64));
            if !self.fits {
                return;
            }
            list.clear();
            list.resize(length as usize, empty);
        }
        for x in list {
            one(self, x);
        }
    }

    /// A number that there may be.
    pub fn perhaps<R: Real>(&mut self, x: &mut Option<R>) {
        let mut there = x.is_some();
        self.flag(&mut there);
        if !self.fits {
            return;
        }
        if there {
            self.number(x.get_or_insert_with(R::zero));
        } else {
            *x = None;
        }
    }
}

impl Default for Ledger {
    fn default() -> Self {
        Self::new()
    }
}

/// A number that says whether words are what they were. Each word goes through steps that can be undone, so that words that differ in one place
/// never have the same sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum(u64);

impl Checksum {
    /// Of nothing.
    pub fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
    /// Goes on with a word.
    pub fn add(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 29);
    }
    /// Goes on with bytes, and how many there are.
    pub fn add_bytes(&mut self, bytes: &[u8]) {
        self.add(bytes.len() as u64);
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.add(u64::from_le_bytes(word));
        }
    }
    /// The number.
    pub fn value(self) -> u64 {
        self.0
    }
}

impl Default for Checksum {
    fn default() -> Self {
        Self::new()
    }
}

/// The sum of bytes.
pub fn checksum_of_bytes(bytes: &[u8]) -> u64 {
    let mut sum = Checksum::new();
    sum.add_bytes(bytes);
    sum.value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{Digits, Dual, Field};

    #[derive(Clone, Debug, PartialEq)]
    struct Kept<R> {
        steps: u64,
        few: u32,
        known: bool,
        q: Vec<R>,
        rows: Vec<R>,
        counts: Vec<u64>,
        first: Option<R>,
        last: Option<R>,
    }

    impl<R: Real> Kept<R> {
        fn exchange(&mut self, ledger: &mut Ledger) {
            ledger.whole(&mut self.steps);
            ledger.small(&mut self.few);
            ledger.flag(&mut self.known);
            ledger.numbers(&mut self.q);
            ledger.list(&mut self.rows);
            ledger.wholes(&mut self.counts);
            ledger.perhaps(&mut self.first);
            ledger.perhaps(&mut self.last);
        }
        fn words(&self) -> Vec<u64> {
            let mut ledger = Ledger::new();
            self.clone().exchange(&mut ledger);
            ledger.close().unwrap()
        }
        fn read(&self, words: Vec<u64>) -> Option<Self> {
            let mut found = Self {
                steps: 0,
                few: 0,
                known: false,
                q: vec![R::zero(); self.q.len()],
                rows: Vec::new(),
                counts: Vec::new(),
                first: None,
                last: Some(R::one()),
            };
            let mut ledger = Ledger::of(words);
            found.exchange(&mut ledger);
            ledger.close().map(|_| found)
        }
    }

    fn comes_back<R: Real>(third: &R) {
        let numbers = |k: usize| (0..k).map(|i| third.clone() - R::from_f64(i as f64)).collect::<Vec<R>>();
        let kept = Kept {
            steps: u64::MAX,
            few: 7,
            known: true,
            q: numbers(3),
            rows: numbers(5),
            counts: vec![4, 5],
            first: Some(-third.clone()),
            last: None,
        };
        let words = kept.words();
        assert_eq!(kept.read(words.clone()), Some(kept.clone()));
        for cut in 0..words.len() {
            assert_eq!(kept.read(words[..cut].to_vec()), None, "cut at {cut}");
        }
        assert_eq!(kept.read([words.clone(), vec![0]].concat()), None, "more than was written");
        // a list of 2^60 numbers
        let at = 3 + 1 + 3 * R::WORDS;
        let mut long = words;
        long[at] = 1 << 60;
        assert_eq!(kept.read(long), None);
    }

    #[test]
    fn what_is_written_comes_back_and_nothing_else() {
        comes_back(&(1.0f64 / 3.0));
        comes_back(&(Digits::<4>::one() / Digits::from_f64(3.0)));
        comes_back(&Dual { value: 1.0 / 3.0, tangent: -2.5 });
    }

    #[test]
    fn numbers_that_are_none_come_back_as_they_are() {
        for x in [f64::NAN, -0.0, f64::INFINITY, f64::MIN_POSITIVE / 3.0] {
            let mut words = Vec::new();
            x.write_words(&mut words);
            assert_eq!(f64::from_words(&words).map(f64::to_bits), Some(x.to_bits()));
            let many = Digits::<4>::from_f64(x);
            let mut words = Vec::new();
            many.write_words(&mut words);
            let back = Digits::<4>::from_words(&words).unwrap();
            assert_eq!(format!("{back:?}"), format!("{many:?}"));
        }
    }

    #[test]
    fn digits_that_cannot_be_are_refused() {
        let mut words = Vec::new();
        Digits::<4>::from_f64(3.0).write_words(&mut words);
        assert!(Digits::<4>::from_words(&words).is_some());
        // a class that is none, a mantissa without its top bit, an exponent beyond all bounds
        for (at, word) in [(0, 9), (words.len() - 1, 1), (1, i64::MAX as u64)] {
            let mut bad = words.clone();
            bad[at] = word;
            assert!(Digits::<4>::from_words(&bad).is_none(), "{at}");
        }
    }

    #[test]
    fn a_checksum_notices_every_bit() {
        let bytes: Vec<u8> = (0..45).map(|i| i * 37).collect();
        let sum = checksum_of_bytes(&bytes);
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(checksum_of_bytes(&changed), sum, "{bit}");
            // and two signs that change at once
            changed[(bit / 8 + 8) % 45] ^= 1 << (bit % 8);
            assert_ne!(checksum_of_bytes(&changed), sum, "{bit} twice");
        }
        assert_ne!(checksum_of_bytes(&bytes[..44]), sum);
        assert_ne!(checksum_of_bytes(&[bytes.as_slice(), &[0]].concat()), sum, "zeros count as well");
    }
}
