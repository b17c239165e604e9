//! Numbers in memory that begin where a vector register likes to read them.

use crate::scalar::Field;
use std::ops::{Deref, DerefMut};

/// A line of the cache, in numbers.
const LINE: usize = 8;

/// A list of fixed length that begins at a line of the cache.
#[derive(Debug)]
pub(crate) struct Aligned<R = f64> {
    numbers: Vec<R>,
    first: usize,
    length: usize,
}

impl<R: Field> Aligned<R> {
    pub(crate) fn zeros(length: usize) -> Self {
        Self::filled(length, R::zero())
    }
}

impl<R: Clone> Aligned<R> {
    fn filled(length: usize, value: R) -> Self {
        let numbers = vec![value; length + LINE];
        // speed depends on it, nothing else
        let first = numbers.as_ptr().align_offset(8 * LINE).min(LINE);
        Self { numbers, first, length }
    }
}

impl<R: Clone> Clone for Aligned<R> {
    fn clone(&self) -> Self {
        let mut copy = Self::filled(self.length, self.numbers[0].clone());
        copy.clone_from_slice(self);
        copy
    }
}

impl<R> Deref for Aligned<R> {
    type Target = [R];
    fn deref(&self) -> &[R] {
        &self.numbers[self.first..self.first + self.length]
    }
}

impl<R> DerefMut for Aligned<R> {
    fn deref_mut(&mut self) -> &mut [R] {
        &mut self.numbers[self.first..self.first + self.length]
    }
}
