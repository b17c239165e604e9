//! Numbers in memory that begin where a vector register likes to read them.

use std::ops::{Deref, DerefMut};

/// A line of the cache, in numbers.
const LINE: usize = 8;

/// A list of fixed length that begins at a line of the cache.
#[derive(Debug)]
pub(super) struct Aligned {
    numbers: Vec<f64>,
    first: usize,
    length: usize,
}

impl Aligned {
    pub(super) fn zeros(length: usize) -> Self {
        let numbers = vec![0.0; length + LINE];
        // speed depends on it, nothing else
        let first = numbers.as_ptr().align_offset(8 * LINE).min(LINE);
        Self { numbers, first, length }
    }
}

impl Clone for Aligned {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.length);
        copy.copy_from_slice(self);
        copy
    }
}

impl Deref for Aligned {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        &self.numbers[self.first..self.first + self.length]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.numbers[self.first..self.first + self.length]
    }
}
