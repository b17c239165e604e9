//! Dense LU factorisation with partial pivoting.

use super::{Singular, is_lost};
use crate::scalar::Field;

/// A dense matrix and, once factored, its LU factors in the same place.
#[derive(Clone, Debug)]
pub struct DenseLu<R> {
    size: usize,
    a: Vec<R>,
    /// `exchange[k]` is the row that was exchanged with row k.
    exchange: Vec<usize>,
    /// The largest entry of each column before factoring.
    column_size: Vec<f64>,
}

impl<R: Field> DenseLu<R> {
    pub(super) fn new(size: usize) -> Self {
        Self { size, a: vec![R::zero(); size * size], exchange: vec![0; size], column_size: vec![0.0; size] }
    }

    pub(super) fn clear(&mut self) {
        self.a.fill(R::zero());
    }

    pub(super) fn index(&self, row: usize, column: usize) -> usize {
        row * self.size + column
    }

    pub(super) fn row_stride(&self) -> usize {
        self.size
    }

    pub(super) fn values(&mut self) -> &mut [R] {
        &mut self.a
    }

    pub(super) fn factor(&mut self) -> Result<(), Singular> {
        let n = self.size;
        self.column_size.fill(0.0);
        for row in self.a.chunks_exact(n) {
            for (size, entry) in self.column_size.iter_mut().zip(row) {
                *size = size.max(entry.magnitude());
            }
        }
        for k in 0..n {
            let mut pivot = k;
            let mut largest = self.a[k * n + k].magnitude();
            for i in k + 1..n {
                let candidate = self.a[i * n + k].magnitude();
                if candidate > largest {
                    (pivot, largest) = (i, candidate);
                }
            }
            if is_lost::<R>(largest, self.column_size[k], n) {
                return Err(Singular { column: k });
            }
            self.exchange[k] = pivot;
            let (above, below) = self.a.split_at_mut((k + 1) * n);
            let row_k = &mut above[k * n..];
            if pivot != k {
                row_k.swap_with_slice(&mut below[(pivot - k - 1) * n..(pivot - k) * n]);
            }
            for row_i in below.chunks_exact_mut(n) {
                // row_i −= (a_ik / a_kk) row_k
                let factor = row_i[k].clone() / row_k[k].clone();
                for (x, y) in row_i[k + 1..].iter_mut().zip(&row_k[k + 1..]) {
                    x.sub_mul(&factor, y);
                }
                row_i[k] = factor;
            }
        }
        Ok(())
    }

    pub(super) fn solve(&self, x: &mut [R]) {
        let n = self.size;
        for k in 0..n {
            x.swap(k, self.exchange[k]);
        }
        for i in 0..n {
            let (done, rest) = x.split_at_mut(i);
            for (factor, y) in self.a[i * n..].iter().zip(done.iter()) {
                rest[0].sub_mul(factor, y);
            }
        }
        for i in (0..n).rev() {
            let (rest, done) = x.split_at_mut(i + 1);
            let row = &self.a[i * n..(i + 1) * n];
            for (factor, y) in row[i + 1..].iter().zip(done.iter()) {
                rest[i].sub_mul(factor, y);
            }
            rest[i] = rest[i].clone() / row[i].clone();
        }
    }
}
