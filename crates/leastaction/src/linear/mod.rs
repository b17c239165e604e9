//! Linear solves for the step equations and for velocities from momenta, and the eigenvalues of the linear theory.
//!
//! Own code rather than a crate: it runs in any [`Field`] (derivatives and many digits included), allocates only
//! when it is made, and the matrices are either small and dense or long and banded. [`Matrix`] picks one of
//! the two; [`Ordering`] numbers the coordinates so that a sparse coupling becomes a narrow band. [`Square`] is plain matrix
//! algebra; [`Pencil`] and [`BandPencil`] know eigenvalues, of a method to many digits and of a large system by counting.

mod banded;
mod definite;
mod dense;
mod inertia;
mod null_vector;
mod ordering;
mod pencil;
mod square;

pub use definite::not_positive;
pub use inertia::BandPencil;
pub use null_vector::null_vector;
pub use ordering::Ordering;
pub use pencil::Pencil;
pub use square::Square;

use crate::scalar::Field;
use banded::BandedLu;
use dense::DenseLu;

/// The matrix has no inverse, to working precision.
#[derive(Clone, Debug, PartialEq)]
pub struct Singular {
    /// The column without a usable pivot.
    pub column: usize,
}

/// A square matrix that can be filled, factored in place and solved with, any number of times.
#[derive(Clone, Debug)]
pub enum Matrix<R> {
    /// All entries.
    Dense(DenseLu<R>),
    /// Entries near the diagonal.
    Banded(BandedLu<R>),
}

impl<R: Field> Matrix<R> {
    /// A zero matrix that will only have entries up to `bandwidth` away from the diagonal. Band storage holds
    /// three bands because of pivoting, so it pays below a quarter of the size.
    pub fn new(size: usize, bandwidth: usize) -> Self {
        if size > 16 && 4 * bandwidth + 1 < size {
            Self::Banded(BandedLu::new(size, bandwidth))
        } else {
            Self::Dense(DenseLu::new(size))
        }
    }
    /// Sets all entries to zero.
    pub fn clear(&mut self) {
        match self {
            Self::Dense(m) => m.clear(),
            Self::Banded(m) => m.clear(),
        }
    }
    /// The entry in a row and a column, to be written before factoring.
    pub fn entry(&mut self, row: usize, column: usize) -> &mut R {
        let index = self.index(row, column);
        &mut self.values()[index]
    }
    /// The place of an entry among [`values`](Self::values). Neighbouring columns have neighbouring places.
    pub fn index(&self, row: usize, column: usize) -> usize {
        match self {
            Self::Dense(m) => m.index(row, column),
            Self::Banded(m) => m.index(row, column),
        }
    }
    /// How far the places of an entry and of the one below it are apart.
    pub fn row_stride(&self) -> usize {
        match self {
            Self::Dense(m) => m.row_stride(),
            Self::Banded(m) => m.row_stride(),
        }
    }
    /// All stored entries, to be written before factoring.
    pub fn values(&mut self) -> &mut [R] {
        match self {
            Self::Dense(m) => m.values(),
            Self::Banded(m) => m.values(),
        }
    }
    /// Factors in place.
    pub fn factor(&mut self) -> Result<(), Singular> {
        match self {
            Self::Dense(m) => m.factor(),
            Self::Banded(m) => m.factor(),
        }
    }
    /// Replaces the right-hand side by the solution.
    pub fn solve(&self, x: &mut [R]) {
        match self {
            Self::Dense(m) => m.solve(x),
            Self::Banded(m) => m.solve(x),
        }
    }
}

/// A pivot counts as zero when it is lost in the rounding of the column it came from.
fn is_lost<R: Field>(pivot: f64, column_size: f64, size: usize) -> bool {
    pivot <= R::epsilon() * size as f64 * column_size || !pivot.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repeatable sequence of numbers in (−1, 1).
    fn noise(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn check(size: usize, bandwidth: usize, expect_banded: bool) {
        let mut seed = 7;
        let mut matrix = Matrix::new(size, bandwidth);
        assert_eq!(matches!(matrix, Matrix::Banded(_)), expect_banded);
        // twice, to see that clearing and refilling works after row exchanges
        for _ in 0..2 {
            matrix.clear();
            let x: Vec<f64> = (0..size).map(|_| noise(&mut seed)).collect();
            let mut b = vec![0.0; size];
            for i in 0..size {
                for j in i.saturating_sub(bandwidth)..=(i + bandwidth).min(size - 1) {
                    // a small diagonal forces row exchanges
                    let a = if i == j { 1e-3 } else { noise(&mut seed) };
                    *matrix.entry(i, j) += a;
                    b[i] += a * x[j];
                }
            }
            matrix.factor().expect("regular");
            matrix.solve(&mut b);
            for i in 0..size {
                assert!((b[i] - x[i]).abs() < 1e-9, "{size} {bandwidth} {i}: {} {}", b[i], x[i]);
            }
        }
    }

    #[test]
    fn dense_and_banded_solve() {
        check(1, 0, false);
        check(7, 6, false);
        check(40, 3, true);
        check(100, 1, true);
        check(60, 12, true);
    }

    #[test]
    fn singular_matrices_name_the_column() {
        let mut dense = Matrix::new(3, 2);
        for (i, j, a) in [(0, 0, 2.0), (0, 2, 2.0), (1, 1, 1.0), (2, 0, 2.0), (2, 2, 2.0)] {
            *dense.entry(i, j) = a;
        }
        assert_eq!(dense.factor(), Err(Singular { column: 2 }));
        let mut banded = Matrix::new(50, 1);
        for i in 0..50 {
            *banded.entry(i, i) = if i == 31 { 0.0 } else { 1.0 };
        }
        assert_eq!(banded.factor(), Err(Singular { column: 31 }));
    }

    #[test]
    fn different_units_are_not_singular() {
        let mut dense = Matrix::new(2, 1);
        *dense.entry(0, 0) = 1e12;
        *dense.entry(1, 1) = 1e-12;
        assert!(dense.factor().is_ok());
    }
}
