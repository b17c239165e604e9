//! The null space of a matrix, one vector of that of a symmetric band matrix, and a reduced basis of given vectors.
//!
//! All by elimination with an explicit threshold, or that of [`Matrix`]: entries below it count as zero. With many digits the threshold can lie so far
//! below every number that occurs and so far above rounding that the answer is beyond doubt.

use super::Matrix;
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

/// A vector x with A x = 0 for a symmetric matrix without inverse, given by the entries (i, j, a) of a triangle. `broken` is a
/// column without a pivot: a combination of the others.
///
/// x is 1 there, in units in which the diagonal is near 1. Columns that depend on the rest as well are left out, x = 0, until the
/// rest has an inverse.
pub fn null_vector<R: Field>(size: usize, entries: &[(usize, usize, R)], broken: usize) -> Vec<R> {
    let unit: Vec<R> = units(size, entries).into_iter().map(R::from_f64).collect();
    let scaled =
        |(i, j, value): &(usize, usize, R)| (*i, *j, value.clone() * unit[*i].clone() * unit[*j].clone());
    let entries: Vec<(usize, usize, R)> = entries.iter().map(scaled).collect();
    let bandwidth = entries.iter().map(|(i, j, _)| i.abs_diff(*j)).max().unwrap_or(0);
    let mut matrix = Matrix::new(size, bandwidth);
    let mut left_out = vec![false; size];
    let mut factor = |left_out: &[bool]| {
        matrix.clear();
        for (i, j, value) in entries.iter().filter(|(i, j, _)| !left_out[*i] && !left_out[*j]) {
            *matrix.entry(*i, *j) = value.clone();
            *matrix.entry(*j, *i) = value.clone();
        }
        for i in (0..size).filter(|&i| left_out[i]) {
            *matrix.entry(i, i) = R::one();
        }
        // a column that is left out has a pivot
        matrix.factor().err().map(|singular| singular.column).filter(|&column| !left_out[column])
    };
    // other units may break down elsewhere
    let broken = factor(&left_out).unwrap_or(broken);
    let mut next = Some(broken);
    while let Some(column) = next {
        left_out[column] = true;
        next = factor(&left_out);
    }
    let mut x = vec![R::zero(); size];
    x[broken] = R::one();
    for (i, j, value) in &entries {
        for (row, column) in [(*i, *j), (*j, *i)] {
            if column == broken && !left_out[row] {
                x[row] = -value.clone();
            }
        }
    }
    matrix.solve(&mut x);
    drop_rounding(&entries, &mut x);
    x.into_iter().zip(unit).map(|(x, unit)| x * unit).collect()
}

/// Powers of two that, multiplied to rows and columns, bring the diagonal near 1, or the largest of a row whose diagonal is zero.
fn units<R: Field>(size: usize, entries: &[(usize, usize, R)]) -> Vec<f64> {
    let (mut diagonal, mut largest) = (vec![0.0f64; size], vec![0.0f64; size]);
    for (i, j, value) in entries {
        let value = value.magnitude();
        for k in [*i, *j] {
            largest[k] = largest[k].max(value);
        }
        if i == j {
            diagonal[*i] = value;
        }
    }
    let unit = |(diagonal, largest): (f64, f64)| match if diagonal > 0.0 { diagonal } else { largest } {
        0.0 => 1.0,
        size => {
            let exponent = (size.to_bits() >> 52) as i64 - 1023;
            f64::from_bits(((1023 - exponent / 2) as u64) << 52)
        }
    };
    diagonal.into_iter().zip(largest).map(unit).collect()
}

/// Sets to zero what carries less than rounding of the size of the vector, measured by the matrix, whatever the units.
fn drop_rounding<R: Field>(entries: &[(usize, usize, R)], x: &mut [R]) {
    let mut size = vec![0.0f64; x.len()];
    for (i, j, value) in entries {
        size[*i] = size[*i].max(value.magnitude());
        size[*j] = size[*j].max(value.magnitude());
    }
    let weight: Vec<f64> = size.iter().zip(&*x).map(|(size, x)| size.sqrt() * x.magnitude()).collect();
    let largest = weight.iter().fold(0.0f64, |largest, weight| largest.max(*weight));
    for (x, weight) in x.iter_mut().zip(weight) {
        if weight < 1e3 * R::epsilon() * largest {
            *x = R::zero();
        }
    }
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
