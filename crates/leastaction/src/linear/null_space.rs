//! The null space of a matrix, and a reduced basis of given vectors.
//!
//! Both by elimination with an explicit threshold: entries below it count as zero. With many digits the threshold can lie so far
//! below every number that occurs and so far above rounding that the answer is beyond doubt.

use crate::scalar::Field;

/// A basis of the vectors x with M x = 0, for M given by rows whose entries are of the size of 1. Pivots below `zero` end the
/// elimination. M is used up.
pub fn null_space<R: Field>(mut rows: Vec<Vec<R>>, columns: usize, zero: f64) -> Vec<Vec<R>> {
    // pivots[k] is the column that row k stands for, once the elimination is done
    let mut pivots: Vec<usize> = Vec::new();
    let mut free: Vec<usize> = (0..columns).collect();
    while let Some((row, place)) = largest(&rows[pivots.len()..], &free, zero) {
        let (rank, column) = (pivots.len(), free.remove(place));
        rows.swap(rank, rank + row);
        let (above, below) = rows.split_at_mut(rank);
        let Some((pivot, below)) = below.split_first_mut() else { break };
        normalise(pivot, column, &free);
        for other in above.iter_mut().chain(below) {
            subtract(other, pivot, column, &free);
        }
        pivots.push(column);
    }
    let vector = |&column: &usize| {
        let mut x = vec![R::zero(); columns];
        x[column] = R::one();
        for (row, pivot) in rows.iter().zip(&pivots) {
            x[*pivot] = -row[column].clone();
        }
        x
    };
    free.iter().map(vector).collect()
}

/// The same space with a basis in which every vector begins with a 1 where all others have a 0, the first columns first.
pub fn reduced_basis<R: Field>(mut vectors: Vec<Vec<R>>, zero: f64) -> Vec<Vec<R>> {
    let columns = vectors.first().map_or(0, Vec::len);
    let mut rank = 0;
    for column in 0..columns {
        let Some((row, _)) = largest(&vectors[rank..], &[column], zero) else { continue };
        vectors.swap(rank, rank + row);
        let rest: Vec<usize> = (0..columns).filter(|&c| c != column).collect();
        let (above, below) = vectors.split_at_mut(rank);
        let Some((pivot, below)) = below.split_first_mut() else { break };
        normalise(pivot, column, &rest);
        for other in above.iter_mut().chain(below) {
            subtract(other, pivot, column, &rest);
        }
        rank += 1;
        if rank == vectors.len() {
            break;
        }
    }
    vectors.truncate(rank);
    vectors
}

/// The row and the place in `columns` of the largest entry above `zero`.
fn largest<R: Field>(rows: &[Vec<R>], columns: &[usize], zero: f64) -> Option<(usize, usize)> {
    let mut found = None;
    let mut size = zero;
    for (i, row) in rows.iter().enumerate() {
        for (place, &column) in columns.iter().enumerate() {
            let entry = row[column].magnitude();
            if entry > size {
                (size, found) = (entry, Some((i, place)));
            }
        }
    }
    found
}

/// Divides a row by its entry in a column.
fn normalise<R: Field>(row: &mut [R], column: usize, others: &[usize]) {
    let inverse = R::one() / row[column].clone();
    for &c in others {
        row[c] = row[c].clone() * inverse.clone();
    }
    row[column] = R::one();
}

/// Subtracts the multiple of a normalised row that makes an entry zero.
fn subtract<R: Field>(row: &mut [R], pivot: &[R], column: usize, others: &[usize]) {
    let factor = std::mem::replace(&mut row[column], R::zero());
    if factor.magnitude() != 0.0 {
        for &c in others {
            row[c].sub_mul(&factor, &pivot[c]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_null_space_of_a_singular_matrix() {
        // the third row is the sum of the first two
        let rows = vec![vec![1.0, 2.0, 0.0, -1.0], vec![0.0, 1.0, 1.0, 0.5], vec![1.0, 3.0, 1.0, -0.5]];
        let basis = null_space(rows.clone(), 4, 1e-12);
        assert_eq!(basis.len(), 2);
        for x in &basis {
            for row in &rows {
                let product: f64 = row.iter().zip(x).map(|(a, x)| a * x).sum();
                assert!(product.abs() < 1e-15, "{x:?}");
            }
        }
        assert!(null_space(vec![vec![1.0, 0.0], vec![1.0, 1e-6]], 2, 1e-9).is_empty());
        assert_eq!(null_space(vec![vec![1.0, 0.0], vec![1.0, 1e-12]], 2, 1e-9), [[0.0, 1.0]]);
    }

    #[test]
    fn a_reduced_basis_is_sparse_and_drops_repetitions() {
        let vectors = vec![
            vec![1.0, 1.0, 1.0, 1.0],
            vec![1.0, -1.0, 1.0, -1.0],
            vec![3.0, 1.0, 3.0, 1.0],
            vec![0.0; 4],
        ];
        assert_eq!(reduced_basis(vectors, 1e-12), [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]);
    }
}
