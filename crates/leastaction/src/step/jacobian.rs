//! The matrix of a step's equations: from the second derivatives at the quadrature points to ∂G_k/∂Z_l, ready to be factored.
//!
//! Rows and columns are ordered so that sparse coupling is a narrow band, the s unknowns of a coordinate next to each other.

use crate::linear::Matrix;
use crate::method::Tableau;
use crate::scalar::Real;
use crate::system::{Entry, Problem};

/// The matrix ∂G_k/∂Z_l and how it is put together.
#[derive(Clone, Debug)]
pub(super) struct Jacobian<R> {
    pub(super) matrix: Matrix<R>,
    /// coordinate → position
    pub(super) position: Vec<usize>,
    degree: usize,
    l_qq: Vec<Target>,
    l_qv: Vec<Target>,
    l_vv: Vec<Target>,
    /// For each quadrature point, the factors of L_qq, L_qv, L_vq, L_vv that are not zero.
    factors: Vec<[Vec<Factor<R>>; 4]>,
    /// Whether the factors are those of another step size.
    stale: bool,
}

/// Where an entry of a second derivative goes: the block of its row and column, and of their exchange.
#[derive(Clone, Copy, Debug)]
struct Target {
    block: usize,
    mirrored: usize,
}

/// A factor and its place within a block.
#[derive(Clone, Debug)]
struct Factor<R> {
    offset: usize,
    value: R,
}

impl<R: Real> Jacobian<R> {
    pub(super) fn new(problem: &Problem<R>, tableau: &Tableau<R>, h: &R) -> Self {
        let model = &problem.system.model;
        let s = tableau.degree;
        let ordering = &model.structure.ordering;
        let matrix = Matrix::new(model.n * s, (ordering.bandwidth + 1) * s - 1);
        let position = ordering.position.clone();
        let target = |e: &Entry| Target {
            block: matrix.index(position[e.row] * s, position[e.column] * s),
            mirrored: matrix.index(position[e.column] * s, position[e.row] * s),
        };
        let targets = |entries: &[Entry]| entries.iter().map(target).collect();
        let mut jacobian = Self {
            l_qq: targets(model.l_qq()),
            l_qv: targets(&model.l_qv),
            l_vv: targets(&model.l_vv),
            factors: vec![Default::default(); tableau.b.len()],
            position,
            degree: s,
            matrix,
            stale: false,
        };
        jacobian.weigh(tableau, h);
        jacobian
    }

    /// The step size has changed. Factors are computed when a matrix is: most steps of another size are solved without one.
    pub(super) fn resize(&mut self) {
        self.stale = true;
    }

    /// Begins a new matrix for a step size.
    pub(super) fn begin(&mut self, tableau: &Tableau<R>, h: &R) {
        if std::mem::take(&mut self.stale) {
            self.weigh(tableau, h);
        }
        self.matrix.clear();
    }

    /// Computes the factors for a step size. Nothing is allocated where there were factors before.
    fn weigh(&mut self, tableau: &Tableau<R>, h: &R) {
        let (s, stride) = (self.degree, self.matrix.row_stride());
        // ∂G_k/∂Q_l = Σ_i b_i [ h φ_k φ_l L_qq + φ_k φ'_l L_qv + φ'_k φ_l L_vq + (1/h) φ'_k φ'_l L_vv ]
        for (i, factors) in self.factors.iter_mut().enumerate() {
            let (b, phi, slope) = (&tableau.b[i], &tableau.phi[i], &tableau.slope[i]);
            let scales = [b.clone() * h.clone(), b.clone(), b.clone(), b.clone() / h.clone()];
            let pairs = [(phi, phi), (phi, slope), (slope, phi), (slope, slope)];
            for ((list, scale), (left, right)) in factors.iter_mut().zip(scales).zip(pairs) {
                list.clear();
                for k in 0..s {
                    for l in 1..=s {
                        let value = scale.clone() * left[k].clone() * right[l].clone();
                        if value.magnitude() != 0.0 {
                            list.push(Factor { offset: k * stride + (l - 1), value });
                        }
                    }
                }
            }
        }
    }

    /// Adds the second derivatives at quadrature point i.
    pub(super) fn add(&mut self, i: usize, l_qq: &[R], l_qv: &[R], l_vv: &[R]) {
        let [qq, qv, vq, vv] = &self.factors[i];
        let values = self.matrix.values();
        let mut add = |start: usize, factors: &[Factor<R>], entry: &R| {
            for factor in factors {
                values[start + factor.offset].add_mul(&factor.value, entry);
            }
        };
        for (targets, factors, entries) in [(&self.l_qq, qq, l_qq), (&self.l_vv, vv, l_vv)] {
            for (target, entry) in targets.iter().zip(entries) {
                add(target.block, factors, entry);
                if target.mirrored != target.block {
                    add(target.mirrored, factors, entry);
                }
            }
        }
        for (target, entry) in self.l_qv.iter().zip(l_qv) {
            add(target.block, qv, entry);
            add(target.mirrored, vq, entry);
        }
    }

    /// The coordinate to which a row or column of the matrix belongs.
    pub(super) fn coordinate(&self, index: usize) -> usize {
        self.position.iter().position(|&place| place == index / self.degree).unwrap_or(0)
    }
}
