//! LU factorisation of a band matrix with partial pivoting: O(size · bandwidth²) time, O(size · bandwidth) memory.

use super::{Singular, is_lost};
use crate::scalar::Field;

/// A band matrix and, once factored, its LU factors in the same place.
///
/// Row i holds columns i − w … i + 2w for half-bandwidth w; the last w of them are room for the fill that row
/// exchanges bring. Multipliers stay where they were computed, and the exchanges are replayed while solving.
#[derive(Clone, Debug)]
pub struct BandedLu<R> {
    size: usize,
    bandwidth: usize,
    a: Vec<R>,
    exchange: Vec<usize>,
    column_size: Vec<f64>,
}

impl<R: Field> BandedLu<R> {
    pub(super) fn new(size: usize, bandwidth: usize) -> Self {
        let a = vec![R::zero(); size * (3 * bandwidth + 1)];
        Self { size, bandwidth, a, exchange: vec![0; size], column_size: vec![0.0; size] }
    }

    pub(super) fn clear(&mut self) {
        self.a.fill(R::zero());
    }

    pub(super) fn index(&self, row: usize, column: usize) -> usize {
        row * (3 * self.bandwidth + 1) + (column + self.bandwidth - row)
    }

    pub(super) fn row_stride(&self) -> usize {
        3 * self.bandwidth
    }

    pub(super) fn values(&mut self) -> &mut [R] {
        &mut self.a
    }

    fn measure_columns(&mut self) {
        let (n, w) = (self.size, self.bandwidth);
        for j in 0..n {
            let rows = j.saturating_sub(w)..(j + w + 1).min(n);
            self.column_size[j] = rows.map(|i| self.a[self.index(i, j)].magnitude()).fold(0.0, f64::max);
        }
    }

    pub(super) fn factor(&mut self) -> Result<(), Singular> {
        self.measure_columns();
        let (n, w) = (self.size, self.bandwidth);
        let width = 3 * w + 1;
        for k in 0..n {
            let below = k + 1..(k + w + 1).min(n);
            let mut pivot = k;
            let mut largest = self.a[self.index(k, k)].magnitude();
            for i in below.clone() {
                let candidate = self.a[self.index(i, k)].magnitude();
                if candidate > largest {
                    (pivot, largest) = (i, candidate);
                }
            }
            // an exchange moves a column's content at most w rows, so a bandwidth of columns bounds the size
            if is_lost::<R>(largest, self.column_size[k], width) {
                return Err(Singular { column: k });
            }
            self.exchange[k] = pivot;
            let columns = (k + 2 * w + 1).min(n) - k;
            if pivot != k {
                let (first, second) = (self.index(k, k), self.index(pivot, k));
                for j in 0..columns {
                    self.a.swap(first + j, second + j);
                }
            }
            let (upper, lower) = self.a.split_at_mut((k + 1) * width);
            let row_k = &upper[k * width + w..][..columns];
            for i in below {
                let start = (i - k - 1) * width + (k + w - i);
                let row_i = &mut lower[start..start + columns];
                let factor = row_i[0].clone() / row_k[0].clone();
                for (x, y) in row_i[1..].iter_mut().zip(&row_k[1..]) {
                    x.sub_mul(&factor, y);
                }
                row_i[0] = factor;
            }
        }
        Ok(())
    }

    pub(super) fn solve(&self, x: &mut [R]) {
        let (n, w) = (self.size, self.bandwidth);
        for k in 0..n {
            x.swap(k, self.exchange[k]);
            let (done, rest) = x.split_at_mut(k + 1);
            for i in k + 1..(k + w + 1).min(n) {
                rest[i - k - 1].sub_mul(&self.a[self.index(i, k)], &done[k]);
            }
        }
        for i in (0..n).rev() {
            let (rest, done) = x.split_at_mut(i + 1);
            let start = self.index(i, i);
            let columns = (i + 2 * w + 1).min(n) - i;
            for (factor, y) in self.a[start + 1..start + columns].iter().zip(done.iter()) {
                rest[i].sub_mul(factor, y);
            }
            rest[i] = rest[i].clone() / self.a[start].clone();
        }
    }
}
