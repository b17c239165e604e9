//! How many eigenvalues of K x = λ M x lie below a number, for symmetric band matrices.
//!
//! By Sylvester's law they are as many as K − λM has negative pivots. One elimination of a band answers, for any size, what would
//! otherwise need all eigenvalues; bisection then finds any single one.

/// The lower triangles of symmetric K and M in one band; M has positive eigenvalues only.
#[derive(Clone, Debug)]
pub struct BandPencil {
    size: usize,
    bandwidth: usize,
    k: Vec<f64>,
    m: Vec<f64>,
}

impl BandPencil {
    /// Zero matrices with so many entries beside the diagonal.
    pub fn new(size: usize, bandwidth: usize) -> Self {
        let zeros = vec![0.0; size * (bandwidth + 1)];
        Self { size, bandwidth, k: zeros.clone(), m: zeros }
    }

    /// Row i holds columns i − w … i.
    fn index(&self, i: usize, j: usize) -> usize {
        let (row, column) = (i.max(j), i.min(j));
        row * (self.bandwidth + 1) + (column + self.bandwidth - row)
    }

    /// Adds to the entry of K in a row and a column, and to its mirror image.
    pub fn add_stiffness(&mut self, i: usize, j: usize, value: f64) {
        let index = self.index(i, j);
        self.k[index] += value;
    }

    /// Adds to the entry of M in a row and a column, and to its mirror image.
    pub fn add_mass(&mut self, i: usize, j: usize, value: f64) {
        let index = self.index(i, j);
        self.m[index] += value;
    }

    /// Whether M has positive eigenvalues only, as everything here needs.
    pub fn has_positive_mass(&self) -> bool {
        self.negative_pivots(self.m.clone()) == 0
    }

    /// −K and −M, which have the same eigenvalues.
    pub fn negated(&self) -> Self {
        let negative = |entries: &[f64]| entries.iter().map(|x| -x).collect();
        Self { k: negative(&self.k), m: negative(&self.m), ..*self }
    }

    /// How many eigenvalues lie below λ.
    pub fn count_below(&self, lambda: f64) -> usize {
        self.negative_pivots(self.k.iter().zip(&self.m).map(|(k, m)| k - lambda * m).collect())
    }

    /// Negative pivots of L D Lᵀ, without exchanges: a pivot lost in rounding counts as a tiny positive one.
    fn negative_pivots(&self, mut a: Vec<f64>) -> usize {
        let w = self.bandwidth;
        let width = w + 1;
        let tiny = f64::EPSILON * a.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
        let mut negative = 0;
        for k in 0..self.size {
            let mut pivot = a[k * width + w];
            if pivot.abs() < tiny {
                pivot = tiny;
            }
            negative += usize::from(pivot < 0.0);
            for i in k + 1..(k + w + 1).min(self.size) {
                // a_ij −= a_ik a_jk / d_k for k < j ≤ i
                let factor = a[self.index(i, k)] / pivot;
                if factor != 0.0 {
                    for j in k + 1..=i {
                        a[self.index(i, j)] -= factor * a[self.index(j, k)];
                    }
                }
            }
        }
        negative
    }

    /// The eigenvalue with so many below it, if it is positive: to ten digits.
    pub fn eigenvalue(&self, below: usize) -> Option<f64> {
        if below >= self.size || self.count_below(0.0) > below {
            return None;
        }
        let mut high = 1.0;
        while self.count_below(high) <= below {
            high *= 4.0;
            if !f64::is_finite(high) {
                return None;
            }
        }
        // bisected in the logarithm: any unit of time will do
        let mut low = high;
        while self.count_below(low) > below {
            low /= 4.0;
            if low < f64::MIN_POSITIVE {
                return None;
            }
        }
        while high / low > 1.0 + 1e-10 {
            let middle = (low * high).sqrt();
            if self.count_below(middle) > below {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some((low * high).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of n masses m and springs 1 between walls: λ_j = 4/m sin²(jπ/(2n + 2)).
    fn chain(n: usize, m: f64, bandwidth: usize) -> BandPencil {
        let mut pencil = BandPencil::new(n, bandwidth);
        for i in 0..n {
            pencil.add_mass(i, i, m);
            pencil.add_stiffness(i, i, 2.0);
            if i > 0 {
                pencil.add_stiffness(i, i - 1, -1.0);
            }
        }
        pencil
    }

    #[test]
    fn frequencies_of_a_chain() {
        for (n, bandwidth) in [(1, 0), (5, 4), (60, 1), (60, 3)] {
            let pencil = chain(n, 1e-6, bandwidth);
            assert!(pencil.has_positive_mass());
            for j in [1, n.div_ceil(2), n] {
                let angle = std::f64::consts::PI * j as f64 / (2 * n + 2) as f64;
                let expected = 4e6 * angle.sin().powi(2);
                let found = pencil.eigenvalue(j - 1).expect("positive");
                assert!((found / expected - 1.0).abs() < 1e-9, "{n} {j}: {found} {expected}");
                assert_eq!(pencil.count_below(expected * 1.001), j);
            }
        }
    }

    #[test]
    fn negative_and_missing_ones_are_none() {
        let mut pencil = BandPencil::new(2, 1);
        for (i, k) in [(0, -1.0), (1, 4.0)] {
            pencil.add_mass(i, i, 1.0);
            pencil.add_stiffness(i, i, k);
        }
        assert_eq!((pencil.eigenvalue(0), pencil.eigenvalue(2)), (None, None));
        assert!((pencil.eigenvalue(1).expect("positive") - 4.0).abs() < 1e-8);
        pencil.add_mass(0, 0, -2.0);
        assert!(!pencil.has_positive_mass());
    }
}
