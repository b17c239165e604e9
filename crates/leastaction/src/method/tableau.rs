//! A method as a table of numbers: the basis of a step's polynomial at the points of its quadrature.
//!
//! From a degree and a quadrature rule to c, d, b, φ_k(d_i), φ'_k(d_i), computed in the wide type of the number type in
//! use and rounded once. The stepper reads nothing else of a method.

use super::quadrature::{Quadrature, gauss, legendre, lobatto};
use super::{Galerkin, Rule};
use crate::scalar::{Field, Real};

/// The numbers of a Galerkin method with polynomials of degree s.
#[derive(Clone, Debug)]
pub struct Tableau<R> {
    /// The degree s of the polynomial of a step.
    pub degree: usize,
    /// Its nodes c_0 = 0 … c_s = 1.
    pub c: Vec<R>,
    /// Quadrature points d_i.
    pub d: Vec<R>,
    /// Quadrature weights b_i.
    pub b: Vec<R>,
    /// φ_k(d_i), row i, s + 1 columns.
    pub phi: Vec<Vec<R>>,
    /// φ'_k(d_i), row i, s + 1 columns.
    pub slope: Vec<Vec<R>>,
    /// φ_l(1 + c_k) for k = 1 … s: where the polynomial of one step goes in the next.
    pub ahead: Vec<Vec<R>>,
}

impl<R: Real> Tableau<R> {
    /// The numbers of a method.
    pub fn new(galerkin: &Galerkin) -> Self {
        let s = galerkin.degree;
        let nodes: Vec<R::Wide> = lobatto(s + 1).points;
        let Quadrature { points, weights } = quadrature::<R::Wide>(galerkin);
        let narrow = |list: &[R::Wide]| list.iter().map(R::narrow).collect::<Vec<R>>();
        Self {
            degree: s,
            d: narrow(&points),
            b: narrow(&weights),
            phi: points.iter().map(|x| narrow(&basis(&nodes, x))).collect(),
            slope: points.iter().map(|x| narrow(&basis_slope(&nodes, x))).collect(),
            ahead: nodes[1..].iter().map(|c| narrow(&basis(&nodes, &(R::Wide::one() + c.clone())))).collect(),
            c: narrow(&nodes),
        }
    }

    /// φ_k(x) for all k, where x = 0 is the start and x = 1 the end of the step.
    pub fn basis_at(&self, x: &R) -> Vec<R> {
        basis(&self.c, x)
    }

    /// φ'_k(x) for all k.
    pub fn slope_at(&self, x: &R) -> Vec<R> {
        basis_slope(&self.c, x)
    }
}

/// The same method in terms of velocities V_j and forces F_j at the points d_i of the quadrature:
/// Q_i = q + h Σ_j a_ij V_j, and P_i = p + h Σ_j â_ij F_j but for what the projection Π drops, with â_ij = b_j (1 − a_ji/b_i).
///
/// For Gauss points that is the collocation method. For Lobatto points there is one point more than a polynomial of the method's degree
/// has free velocities, so that these lie on a polynomial of lower degree, and momenta agree after projection to such polynomials. Without
/// the projection it would be the pair IIIA–IIIB, which is the same only if L is separable with a constant mass matrix.
///
/// Rounded as they are, a and â would belong to a method that is symplectic only up to rounding, and that is a drift: the same error
/// in every step. So they are kept as parts of the weights, μ_ij = (aΠ)_ij/b_j and μ̂_ij = (Πâ)_ij/b_j, rounded so that
/// μ_ij + μ̂_ji = 1 holds exactly. Such a pair is symplectic whatever the numbers are (Antoñana, Makazaga & Murua, *Reducing and monitoring
/// round-off error propagation for symplectic implicit Runge–Kutta schemes*, 2017).
#[derive(Clone, Debug)]
pub struct Partitioned<R> {
    /// Points d_i.
    pub d: Vec<R>,
    /// Weights b_i.
    pub b: Vec<R>,
    /// a_ij = ∫_0^{d_i} l_j, with l_j the polynomial that is 1 at d_j and 0 at the other points.
    pub a: Vec<Vec<R>>,
    /// μ_ij = (aΠ)_ij/b_j: Q_i = q + Σ_j μ_ij (h b_j V_j).
    pub positions: Vec<Vec<R>>,
    /// μ̂_ij = 1 − μ_ji: P_i = p + Σ_j μ̂_ij (h b_j F_j).
    pub forces: Vec<Vec<R>>,
    /// What Π drops, unless it drops nothing: x_i − (Πx)_i = u_i Σ_j w_j x_j, with u and w. The sum is small where x is smooth, and
    /// so is what rounding of u and w does.
    pub dropped: Option<[Vec<R>; 2]>,
    /// l_j(1 + d_i): where the velocities of one step go in the next.
    pub ahead: Vec<Vec<R>>,
    /// ∫_0^{c_k} l_j for the nodes c_1 … c_s of the polynomial of a step: its increments from velocities.
    pub to_nodes: Vec<Vec<R>>,
}

impl<R: Real> Partitioned<R> {
    /// The numbers of a method.
    pub fn new(galerkin: &Galerkin) -> Self {
        let Quadrature { points, weights } = quadrature::<R::Wide>(galerkin);
        // exact for the polynomials l_j
        let rule: Quadrature<R::Wide> = gauss(points.len());
        let integrals = |end: &R::Wide| -> Vec<R::Wide> {
            let mut sums = vec![R::Wide::zero(); points.len()];
            for (x, w) in rule.points.iter().zip(&rule.weights) {
                let values = basis(&points, &(end.clone() * x.clone()));
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum = sum.clone() + end.clone() * w.clone() * value;
                }
            }
            sums
        };
        let a: Vec<Vec<R::Wide>> = points.iter().map(integrals).collect();
        let narrow = |list: &[R::Wide]| list.iter().map(R::narrow).collect::<Vec<R>>();
        let count = points.len();
        // all polynomials but the multiples of the Legendre polynomial P_s, which is orthogonal to them: Σ b P_s² = 1/s
        let highest: Vec<R::Wide> = points
            .iter()
            .map(|d| legendre(galerkin.degree, &(d.clone() + d.clone() - R::Wide::one())).0)
            .collect();
        let drops = count > galerkin.degree;
        let degree = R::Wide::from_f64(galerkin.degree as f64);
        let u: Vec<R::Wide> = highest.iter().map(|x| degree.clone() * x.clone()).collect();
        let w: Vec<R::Wide> = highest.iter().zip(&weights).map(|(x, b)| x.clone() * b.clone()).collect();
        // (aΠ)_ij/b_j = a_ij/b_j − (Σ_k a_ik u_k) P_s(d_j), and the nearest number that leaves one to the last bit
        let part = |i: usize, j: usize| {
            let mut part = a[i][j].clone() / weights[j].clone();
            if drops {
                let lost =
                    a[i].iter().zip(&u).fold(R::Wide::zero(), |sum, (a, u)| sum + a.clone() * u.clone());
                part = part - lost * highest[j].clone();
            }
            R::one() - (R::one() - R::narrow(&part))
        };
        let matrix = |entry: &dyn Fn(usize, usize) -> R| -> Vec<Vec<R>> {
            (0..count).map(|i| (0..count).map(|j| entry(i, j)).collect()).collect()
        };
        let positions = matrix(&part);
        let nodes: Vec<R::Wide> = lobatto(galerkin.degree + 1).points;
        Self {
            forces: matrix(&|i, j| R::one() - positions[j][i].clone()),
            positions,
            dropped: drops.then(|| [narrow(&u), narrow(&w)]),
            ahead: points.iter().map(|d| narrow(&basis(&points, &(R::Wide::one() + d.clone())))).collect(),
            to_nodes: nodes[1..].iter().map(|c| narrow(&integrals(c))).collect(),
            a: a.iter().map(|row| narrow(row)).collect(),
            d: narrow(&points),
            b: narrow(&weights),
        }
    }
}

fn quadrature<F: Field>(galerkin: &Galerkin) -> Quadrature<F> {
    match galerkin.rule {
        Rule::Gauss => gauss(galerkin.points),
        Rule::Lobatto => lobatto(galerkin.points),
    }
}

/// φ_k(x) = Π_{j≠k} (x − c_j)/(c_k − c_j)
fn basis<F: Field>(nodes: &[F], x: &F) -> Vec<F> {
    (0..nodes.len()).map(|k| product_without(nodes, x, k, None)).collect()
}

/// φ'_k(x) = Σ_{m≠k} 1/(c_k − c_m) Π_{j≠k,m} (x − c_j)/(c_k − c_j)
fn basis_slope<F: Field>(nodes: &[F], x: &F) -> Vec<F> {
    (0..nodes.len())
        .map(|k| {
            (0..nodes.len()).filter(|&m| m != k).fold(F::zero(), |sum, m| {
                sum + product_without(nodes, x, k, Some(m)) / (nodes[k].clone() - nodes[m].clone())
            })
        })
        .collect()
}

fn product_without<F: Field>(nodes: &[F], x: &F, k: usize, m: Option<usize>) -> F {
    (0..nodes.len()).filter(|&j| j != k && Some(j) != m).fold(F::one(), |product, j| {
        product * (x.clone() - nodes[j].clone()) / (nodes[k].clone() - nodes[j].clone())
    })
}
