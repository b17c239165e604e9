//! Vectors modulo a prime, reduced against each other as they come: rank, null space and a sparse basis.

use super::field::PrimeField;

/// Independent vectors. Each begins with a 1, at a column of its own.
#[derive(Debug)]
pub(super) struct Echelon {
    field: PrimeField,
    rows: Vec<(usize, Vec<u64>)>,
}

impl Echelon {
    pub(super) fn new(field: PrimeField) -> Self {
        Self { field, rows: Vec::new() }
    }

    /// Takes a vector in, unless it is a combination of those that are there.
    pub(super) fn insert(&mut self, mut vector: Vec<u64>) -> bool {
        for (column, row) in &self.rows {
            self.field.eliminate(&mut vector, *column, row);
        }
        let Some(column) = vector.iter().position(|x| *x != 0) else { return false };
        let Some(inverse) = self.field.inverse(vector[column]) else { return false };
        vector.iter_mut().for_each(|x| *x = self.field.mul(*x, inverse));
        self.rows.push((column, vector));
        true
    }

    pub(super) fn rank(&self) -> usize {
        self.rows.len()
    }

    /// The basis of the same space in which each vector has a 1 where all others have a 0, the first columns first.
    pub(super) fn reduced(mut self) -> Vec<Vec<u64>> {
        self.rows.sort_by_key(|(column, _)| *column);
        for k in 0..self.rows.len() {
            let (above, rest) = self.rows.split_at_mut(k);
            let Some(((column, pivot), _)) = rest.split_first_mut() else { break };
            for (_, row) in above {
                self.field.eliminate(row, *column, pivot);
            }
        }
        self.rows.into_iter().map(|(_, row)| row).collect()
    }

    /// A basis of the vectors of this length whose products with all vectors here are zero.
    pub(super) fn null_space(self, length: usize) -> Vec<Vec<u64>> {
        let field = self.field;
        let rows = self.reduced();
        let pivots: Vec<usize> = rows.iter().filter_map(|row| row.iter().position(|x| *x != 0)).collect();
        let free = (0..length).filter(|column| pivots.binary_search(column).is_err());
        let vector = |column: usize| {
            let mut x = vec![0; length];
            x[column] = 1;
            for (row, pivot) in rows.iter().zip(&pivots) {
                x[*pivot] = field.neg(row[column]);
            }
            x
        };
        free.map(vector).collect()
    }
}

impl PrimeField {
    /// Subtracts the multiple of a row that makes the entry in its first column zero.
    fn eliminate(self, vector: &mut [u64], column: usize, row: &[u64]) {
        let factor = self.neg(vector[column]);
        if factor != 0 {
            for (x, y) in vector[column..].iter_mut().zip(&row[column..]) {
                *x = self.add(*x, self.mul(factor, *y));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echelon(rows: &[[i64; 4]]) -> Echelon {
        let field = PrimeField::new(0);
        let mut echelon = Echelon::new(field);
        for row in rows {
            let entry = |x: &i64| field.number(*x as f64).expect("finite");
            echelon.insert(row.iter().map(entry).collect());
        }
        echelon
    }

    #[test]
    fn a_reduced_basis_is_sparse_and_drops_repetitions() {
        let found = echelon(&[[1, 1, 1, 1], [1, -1, 1, -1], [3, 1, 3, 1], [0; 4]]);
        assert_eq!(found.rank(), 2);
        assert_eq!(found.reduced(), [[1, 0, 1, 0], [0, 1, 0, 1]]);
    }

    #[test]
    fn the_null_space_of_a_singular_matrix() {
        // the third row is the sum of the first two
        let rows = [[0, 2, 0, -1], [0, 1, 1, 5], [0, 3, 1, 4]];
        let basis = echelon(&rows).null_space(4);
        assert_eq!(basis.len(), 2);
        let field = PrimeField::new(0);
        for row in rows {
            for x in &basis {
                let products =
                    row.iter().zip(x).map(|(a, x)| field.mul(field.number(*a as f64).unwrap(), *x));
                assert_eq!(products.fold(0, |sum, x| field.add(sum, x)), 0, "{x:?}");
            }
        }
        assert!(echelon(&[[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 2, 0], [1, 1, 1, 1]]).null_space(4).is_empty());
    }
}
