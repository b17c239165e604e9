//! A mass matrix that never changes, factored once: velocities from momenta of L = ½ vᵀMv + c·v − V(q, t).

use super::model::Model;
use crate::error::Cause;
use crate::expr::Evaluator;
use crate::linear::Matrix;
use crate::scalar::Real;

/// M and c, ready to solve p = Mv + c for v any number of times.
#[derive(Clone, Debug)]
pub struct ConstantMass<R> {
    /// c: the momenta at rest.
    pub at_rest: Vec<R>,
    inverse: Inverse<R>,
}

#[derive(Clone, Debug)]
enum Inverse<R> {
    /// 1/m for each coordinate.
    Diagonal(Vec<R>),
    /// Factors in another order of the coordinates, and the exchanges that lead to it.
    Factored(Matrix<R>, Vec<(usize, usize)>),
}

impl<R: Real> ConstantMass<R> {
    /// Factors the matrix of a model whose mass matrix is constant.
    pub fn new(model: &Model, parameters: &[R]) -> Result<Self, Cause> {
        let n = model.n;
        let mut evaluator = Evaluator::new(model.mass_tape(), parameters);
        let mut at_rest = vec![R::zero(); evaluator.outputs()];
        let zeros = vec![R::zero(); n];
        evaluator.evaluate(&zeros, &zeros, &R::zero(), &mut at_rest);
        let entries = at_rest.split_off(n);
        let inverse = if model.l_vv.len() <= n && model.l_vv.iter().all(|entry| entry.row == entry.column) {
            diagonal(model, &entries)?
        } else {
            factored(model, &entries)?
        };
        Ok(Self { at_rest, inverse })
    }

    /// 1/m for each coordinate, if M is diagonal.
    pub fn reciprocals(&self) -> Option<&[R]> {
        match &self.inverse {
            Inverse::Diagonal(reciprocals) => Some(reciprocals),
            Inverse::Factored(..) => None,
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
            Inverse::Factored(matrix, exchanges) => {
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

fn diagonal<R: Real>(model: &Model, entries: &[R]) -> Result<Inverse<R>, Cause> {
    let mut masses = vec![R::zero(); model.n];
    for (entry, value) in model.l_vv.iter().zip(entries) {
        masses[entry.row] = value.clone();
    }
    let reciprocals: Vec<R> = masses.into_iter().map(|mass| R::one() / mass).collect();
    match reciprocals.iter().position(|x| !x.is_finite()) {
        Some(massless) => Err(singular(model.n, massless)),
        None => Ok(Inverse::Diagonal(reciprocals)),
    }
}

fn factored<R: Real>(model: &Model, entries: &[R]) -> Result<Inverse<R>, Cause> {
    let ordering = &model.structure.mass_ordering;
    let mut matrix = Matrix::new(model.n, ordering.bandwidth);
    for (entry, value) in model.l_vv.iter().zip(entries) {
        let (i, j) = (ordering.position[entry.row], ordering.position[entry.column]);
        *matrix.entry(i, j) = value.clone();
        *matrix.entry(j, i) = value.clone();
    }
    matrix.factor().map_err(|broken| {
        let coordinate = ordering.position.iter().position(|place| *place == broken.column);
        singular(model.n, coordinate.unwrap_or(0))
    })?;
    Ok(Inverse::Factored(matrix, exchanges(&ordering.position)))
}

/// Exchanges, one after the other, that bring what is at i to position[i], for every i.
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

fn singular(n: usize, coordinate: usize) -> Cause {
    Cause::SingularMass { direction: (0..n).map(|i| f64::from(u8::from(i == coordinate))).collect() }
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
