//! A dense square matrix and the algebra of the linear schemes: sums, products, solutions of A X = B.
//!
//! Plain rows of numbers in any [`Field`]. What the stepper factors again and again is a [`Matrix`] instead.

use super::{Matrix, Singular};
use crate::scalar::Field;
use std::ops::{Index, IndexMut};

/// A square matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Square<R> {
    size: usize,
    entries: Vec<R>,
}

impl<R> Index<(usize, usize)> for Square<R> {
    type Output = R;
    fn index(&self, (row, column): (usize, usize)) -> &R {
        &self.entries[row * self.size + column]
    }
}

impl<R> IndexMut<(usize, usize)> for Square<R> {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut R {
        &mut self.entries[row * self.size + column]
    }
}

impl<R: Field> Square<R> {
    /// The matrix with these entries.
    pub fn from_fn(size: usize, entry: impl Fn(usize, usize) -> R) -> Self {
        let entries = (0..size * size).map(|k| entry(k / size, k % size)).collect();
        Self { size, entries }
    }

    /// The zero matrix.
    pub fn zero(size: usize) -> Self {
        Self::from_fn(size, |_, _| R::zero())
    }

    /// The identity.
    pub fn identity(size: usize) -> Self {
        Self::from_fn(size, |i, j| if i == j { R::one() } else { R::zero() })
    }

    /// The number of rows.
    pub fn size(&self) -> usize {
        self.size
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[R] {
        &self.entries[row * self.size..(row + 1) * self.size]
    }

    /// factor · self
    pub fn times(&self, factor: &R) -> Self {
        Self::from_fn(self.size, |i, j| factor.clone() * self[(i, j)].clone())
    }

    /// self + factor · other
    pub fn plus(&self, factor: &R, other: &Self) -> Self {
        Self::from_fn(self.size, |i, j| {
            let mut sum = self[(i, j)].clone();
            sum.add_mul(factor, &other[(i, j)]);
            sum
        })
    }

    /// The product of two matrices.
    pub fn product(&self, other: &Self) -> Self {
        Self::from_fn(self.size, |i, j| {
            let mut sum = R::zero();
            for k in 0..self.size {
                sum.add_mul(&self[(i, k)], &other[(k, j)]);
            }
            sum
        })
    }

    /// Rows and columns exchanged.
    pub fn transposed(&self) -> Self {
        Self::from_fn(self.size, |i, j| self[(j, i)].clone())
    }

    /// (A + Aᵀ)/2, for a matrix that is symmetric but for rounding.
    pub fn symmetrised(&self) -> Self {
        let half = R::from_f64(0.5);
        Self::from_fn(self.size, |i, j| half.clone() * (self[(i, j)].clone() + self[(j, i)].clone()))
    }

    /// The X with self · X = other.
    pub fn solve(&self, other: &Self) -> Result<Self, Singular> {
        let n = self.size;
        let mut lu = Matrix::new(n, n);
        for i in 0..n {
            for j in 0..n {
                *lu.entry(i, j) = self[(i, j)].clone();
            }
        }
        lu.factor()?;
        let mut solution = Self::zero(n);
        let mut column = vec![R::zero(); n];
        for j in 0..n {
            for i in 0..n {
                column[i] = other[(i, j)].clone();
            }
            lu.solve(&mut column);
            for i in 0..n {
                solution[(i, j)] = column[i].clone();
            }
        }
        Ok(solution)
    }

    /// y += self · x
    pub fn apply(&self, x: &[R], y: &mut [R]) {
        for (i, sum) in y.iter_mut().enumerate() {
            for (entry, x) in self.row(i).iter().zip(x) {
                sum.add_mul(entry, x);
            }
        }
    }

    /// ½ xᵀ self x
    pub fn half_form(&self, x: &[R]) -> R {
        let mut image = vec![R::zero(); self.size];
        self.apply(x, &mut image);
        let mut sum = R::zero();
        for (a, b) in x.iter().zip(&image) {
            sum.add_mul(a, b);
        }
        R::from_f64(0.5) * sum
    }

    /// The size of the largest entry.
    pub fn largest(&self) -> f64 {
        self.entries.iter().map(R::magnitude).fold(0.0, f64::max)
    }
}
