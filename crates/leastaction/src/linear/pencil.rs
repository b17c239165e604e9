//! A small symmetric pencil A − xB with A diagonal and B tridiagonal, in any field: its eigenvalues to all the digits of the
//! field, and its Schur complement.
//!
//! The linear theory of every variational method comes down to such pencils (`method/stability.rs`). Eigenvalues are located in
//! `f64` by counting negative pivots (Sturm), and then refined by Rayleigh quotients, which triple the digits each time.

use crate::scalar::Field;

/// A − xB: `a` the diagonal of A, `b` and `c` the diagonal and off-diagonal of B. Neither A nor B has a negative eigenvalue.
#[derive(Clone, Debug)]
pub struct Pencil<F> {
    /// Diagonal of A.
    pub a: Vec<F>,
    /// Diagonal of B.
    pub b: Vec<F>,
    /// Off-diagonal of B, one shorter.
    pub c: Vec<F>,
}

impl<F: Field> Pencil<F> {
    /// How many rows there are.
    pub fn size(&self) -> usize {
        self.a.len()
    }

    /// The pencil without its first row and column.
    pub fn interior(&self) -> Self {
        let rest = |list: &[F]| list.get(1..).unwrap_or_default().to_vec();
        Self { a: rest(&self.a), b: rest(&self.b), c: rest(&self.c) }
    }

    /// What eliminating all but the first row leaves of it, as a function of x.
    pub fn schur(&self, x: &F) -> F {
        self.upward(x).into_iter().next().unwrap_or_else(F::zero)
    }

    /// The entries of A − xB: diagonal, off-diagonal.
    fn entries(&self, x: &F) -> (Vec<F>, Vec<F>) {
        let diagonal = self.a.iter().zip(&self.b).map(|(a, b)| a.clone() - x.clone() * b.clone());
        (diagonal.collect(), self.c.iter().map(|c| -(x.clone() * c.clone())).collect())
    }

    /// Pivots of the elimination from the last row up: d_k = t_k − e_k²/d_{k+1}
    fn upward(&self, x: &F) -> Vec<F> {
        let (mut pivots, off) = self.entries(x);
        for k in (0..off.len()).rev() {
            let taken = off[k].clone() * off[k].clone() / pivots[k + 1].clone();
            pivots[k] = pivots[k].clone() - taken;
        }
        pivots
    }

    /// Pivots of the elimination from the first row down.
    fn downward(&self, x: &F) -> Vec<F> {
        let (mut pivots, off) = self.entries(x);
        for k in 0..off.len() {
            let taken = off[k].clone() * off[k].clone() / pivots[k].clone();
            pivots[k + 1] = pivots[k + 1].clone() - taken;
        }
        pivots
    }

    /// How many eigenvalues lie below x.
    fn count_below(&self, x: f64) -> usize {
        self.upward(&F::from_f64(x)).iter().filter(|pivot| pivot.to_f64() < 0.0).count()
    }

    fn rounded(&self) -> Pencil<f64> {
        let round = |list: &[F]| list.iter().map(F::to_f64).collect();
        Pencil { a: round(&self.a), b: round(&self.b), c: round(&self.c) }
    }

    /// The eigenvalues in ascending order, those at infinity left out, of which there are so many. Zero is one if A says so.
    pub fn eigenvalues(&self, infinite: usize) -> Vec<F> {
        let rounded = self.rounded();
        let finite = self.size() - infinite;
        let mut top = 1.0;
        while rounded.count_below(top) < finite {
            top *= 2.0;
        }
        (0..finite).map(|i| self.refine(F::from_f64(rounded.locate(i, top)))).collect()
    }

    /// Bisects for the i-th eigenvalue, counted from 0, until no number is left between the bounds.
    fn locate(&self, i: usize, top: f64) -> f64 {
        let (mut low, mut high) = (0.0, top);
        loop {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                return middle;
            }
            if self.count_below(middle) > i {
                high = middle;
            } else {
                low = middle;
            }
        }
    }

    /// Rayleigh quotients of the vectors v with (A − xB) v = γ e_k: x + γ/(vᵀBv), until the correction no longer shrinks.
    fn refine(&self, mut x: F) -> F {
        let mut previous = f64::INFINITY;
        loop {
            let (v, gamma) = self.null_vector(&x);
            let correction = gamma / self.b_form(&v);
            let size = correction.magnitude();
            if size == 0.0 || size >= previous || !size.is_finite() {
                return x;
            }
            x = x + correction;
            previous = size;
        }
    }

    /// The solution of (A − xB) v = γ e_k with v_k = 1, for the k where γ is smallest, from eliminations that meet at k.
    fn null_vector(&self, x: &F) -> (Vec<F>, F) {
        let (diagonal, off) = self.entries(x);
        let (down, up) = (self.downward(x), self.upward(x));
        let gamma = |k: usize| down[k].clone() + up[k].clone() - diagonal[k].clone();
        let size = |k: &usize| gamma(*k).magnitude();
        let k = (0..self.size()).min_by(|i, j| size(i).total_cmp(&size(j))).unwrap_or(0);
        let mut v = vec![F::one(); self.size()];
        for i in (0..k).rev() {
            v[i] = -(off[i].clone() * v[i + 1].clone() / down[i].clone());
        }
        for i in k..off.len() {
            v[i + 1] = -(off[i].clone() * v[i].clone() / up[i + 1].clone());
        }
        (v, gamma(k))
    }

    /// vᵀBv
    fn b_form(&self, v: &[F]) -> F {
        let mut sum = F::zero();
        for (b, v) in self.b.iter().zip(v) {
            sum.add_mul(b, &(v.clone() * v.clone()));
        }
        for (c, pair) in self.c.iter().zip(v.windows(2)) {
            sum.add_mul(c, &(F::from_f64(2.0) * pair[0].clone() * pair[1].clone()));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{Digits, Real};

    #[test]
    fn a_pencil_with_known_eigenvalues() {
        // det [[1 − 2x, −x], [−x, 1 − 2x]] = (1 − 3x)(1 − x)
        type R = Digits<8>;
        let list = |values: &[f64]| values.iter().map(|v| R::from_f64(*v)).collect::<Vec<_>>();
        let pencil = Pencil { a: list(&[1.0, 1.0]), b: list(&[2.0, 2.0]), c: list(&[1.0]) };
        let found = pencil.eigenvalues(0);
        assert!((found[0] * R::from_f64(3.0) - R::one()).magnitude() < 1e-150);
        assert!((found[1] - R::one()).abs().magnitude() < 1e-150);
        // 1 − 2x − x²/(1 − 2x) at x = 1/4
        assert!((pencil.schur(&R::from_f64(0.25)).to_f64() - 0.375).abs() < 1e-16);
    }
}
