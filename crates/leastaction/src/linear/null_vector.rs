//! A vector of the null space of a symmetric band matrix.
//!
//! By elimination with the threshold of [`Matrix`], in units in which the diagonal is near 1, so that no coordinate's unit decides.

use super::Matrix;
use crate::scalar::Field;

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
