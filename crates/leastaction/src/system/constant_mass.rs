//! A mass matrix that never changes, factored once: velocities from momenta of L = ½ vᵀMv + c·v − V(q, t).

use super::model::{Entry, Model};
use super::velocities::without_inverse;
use crate::error::Cause;
use crate::expr::Evaluator;
use crate::linear::Matrix;
use crate::scalar::Real;

/// M and c, ready to solve p = Mv + c for v any number of times.
#[derive(Clone, Debug)]
pub struct ConstantMass<R> {
    evaluator: Evaluator<R>,
    entries: Vec<Entry>,
    /// c, then the entries of M.
    out: Vec<R>,
    zeros: Vec<R>,
    inverse: Inverse<R>,
    /// Why there is no inverse, if there is none.
    failure: Option<Cause>,
}

#[derive(Clone, Debug)]
enum Inverse<R> {
    /// 1/m for each coordinate.
    Diagonal(Vec<R>),
    /// Factors in another order of the coordinates: where each is, and the exchanges that lead there.
    Factored { matrix: Matrix<R>, position: Vec<usize>, exchanges: Vec<(usize, usize)> },
}

impl<R: Real> ConstantMass<R> {
    /// Factors the matrix of a model whose mass matrix is constant.
    pub fn new(model: &Model, parameters: &[R]) -> Self {
        let evaluator = Evaluator::new(model.mass_tape(), parameters);
        let ordering = &model.structure.mass_ordering;
        let inverse = if model.l_vv.iter().all(|entry| entry.row == entry.column) {
            Inverse::Diagonal(vec![R::zero(); model.n])
        } else {
            Inverse::Factored {
                matrix: Matrix::new(model.n, ordering.bandwidth),
                position: ordering.position.clone(),
                exchanges: exchanges(&ordering.position),
            }
        };
        let mut mass = Self {
            out: vec![R::zero(); evaluator.outputs()],
            evaluator,
            entries: model.l_vv.clone(),
            zeros: vec![R::zero(); model.n],
            inverse,
            failure: None,
        };
        mass.factor();
        mass
    }

    /// Replaces the parameters.
    pub fn assign(&mut self, parameters: &[R]) {
        self.evaluator.assign(parameters);
        self.factor();
    }

    /// Factors the matrix, or notes why it has no inverse.
    fn factor(&mut self) {
        self.evaluator.evaluate(&self.zeros, &self.zeros, &R::zero(), &mut self.out);
        let n = self.zeros.len();
        let (entries, values) = (&self.entries, &self.out[n..]);
        let pairs = entries.iter().zip(values);
        self.failure = match &mut self.inverse {
            Inverse::Diagonal(reciprocals) => {
                // a coordinate without an entry has no mass
                reciprocals.fill(R::one() / R::zero());
                for (entry, value) in pairs {
                    reciprocals[entry.row] = R::one() / value.clone();
                }
                let broken = reciprocals.iter().position(|x| !x.is_finite());
                let own: Vec<usize> = (0..n).collect();
                broken.map(|coordinate| without_inverse(entries, values, &own, coordinate))
            }
            Inverse::Factored { matrix, position, .. } => {
                matrix.clear();
                for (entry, value) in pairs {
                    let (i, j) = (position[entry.row], position[entry.column]);
                    *matrix.entry(i, j) = value.clone();
                    *matrix.entry(j, i) = value.clone();
                }
                let broken = matrix.factor().err();
                broken.map(|broken| without_inverse(entries, values, position, broken.column))
            }
        };
    }

    /// Whether there is an inverse.
    pub fn check(&self) -> Result<(), Cause> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// c: the momenta at rest.
    pub fn at_rest(&self) -> &[R] {
        &self.out[..self.zeros.len()]
    }

    /// 1/m for each coordinate, if M is diagonal.
    pub fn reciprocals(&self) -> Option<&[R]> {
        match &self.inverse {
            Inverse::Diagonal(reciprocals) => Some(reciprocals),
            Inverse::Factored { .. } => None,
        }
    }

    /// Replaces p − c by v.
    pub fn solve(&self, x: &mut [R]) {
        match &self.inverse {
            Inverse::Diagonal(reciprocals) => {
                for (x, reciprocal) in x.iter_mut().zip(reciprocals) {
                    *x = x.clone() * reciprocal.clone();
                }
            }
            Inverse::Factored { matrix, exchanges, .. } => {
                for (i, j) in exchanges {
                    x.swap(*i, *j);
                }
                matrix.solve(x);
                for (i, j) in exchanges.iter().rev() {
                    x.swap(*i, *j);
                }
            }
        }
    }
}

/// Exchanges, one after the other, that bring what is at i to `position[i]`, for every i.
fn exchanges(position: &[usize]) -> Vec<(usize, usize)> {
    let mut goal = position.to_vec();
    let mut list = Vec::new();
    for i in 0..goal.len() {
        // each exchange brings one to where it belongs
        while goal[i] != i {
            let j = goal[i];
            list.push((i, j));
            goal.swap(i, j);
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanges_lead_to_the_positions() {
        let position = [3, 0, 4, 1, 2, 5];
        let mut x = [0, 1, 2, 3, 4, 5];
        let list = exchanges(&position);
        for (i, j) in &list {
            x.swap(*i, *j);
        }
        for (i, place) in position.iter().enumerate() {
            assert_eq!(x[*place], i);
        }
        for (i, j) in list.iter().rev() {
            x.swap(*i, *j);
        }
        assert_eq!(x, [0, 1, 2, 3, 4, 5]);
    }
}
