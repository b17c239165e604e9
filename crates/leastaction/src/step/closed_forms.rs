//! The linear schemes as the papers print them, misprints corrected: independent checks of [`Propagator`](super::Propagator).
//!
//! All give the matrix Φ of a step, here with coordinates before momenta; the papers put momenta first.

use crate::error::{Error, Result};
use crate::linear::Square;
use crate::scalar::Real;

/// The sum of coefficients times powers of x.
fn series<R: Real>(x: &R, coefficients: &[(f64, f64)]) -> R {
    let mut power = R::one();
    let mut sum = R::zero();
    for (above, below) in coefficients {
        sum.add_mul(&(R::from_f64(*above) / R::from_f64(*below)), &power);
        power = power * x.clone();
    }
    sum
}

/// A matrix of the papers, momenta first, with coordinates first.
fn exchanged<R: Real>(matrix: &Square<R>) -> Square<R> {
    let (size, n) = (matrix.size(), matrix.size() / 2);
    Square::from_fn(size, |i, j| matrix[((i + n) % size, (j + n) % size)].clone())
}

/// (1/d) [[a, b], [c, a]] of the papers.
fn two_by_two<R: Real>(d: &R, a: R, b: R, c: R) -> Square<R> {
    let rows = [[a.clone(), b], [c, a]];
    exchanged(&Square::from_fn(2, |i, j| rows[i][j].clone() / d.clone()))
}

/// The oscillator by Newmark's scheme, β = ¼, γ = ½ (003, eq. 11).
pub fn oscillator_newmark<R: Real>(m: &R, omega: &R, h: &R) -> Square<R> {
    let x = omega.clone() * omega.clone() * h.clone() * h.clone();
    let b = -(m.clone() * omega.clone() * omega.clone() * h.clone());
    let a = series(&x, &[(1.0, 1.0), (-1.0, 4.0)]);
    two_by_two(&series(&x, &[(1.0, 1.0), (1.0, 4.0)]), a, b, h.clone() / m.clone())
}

/// The oscillator by Simpson's scheme (003, eq. 26).
pub fn oscillator_simpson<R: Real>(m: &R, omega: &R, h: &R) -> Square<R> {
    let x = omega.clone() * omega.clone() * h.clone() * h.clone();
    let a = series(&x, &[(1.0, 1.0), (-11.0, 24.0), (1.0, 48.0)]);
    let factors = series(&x, &[(1.0, 1.0), (-1.0, 12.0)]) * series(&x, &[(1.0, 1.0), (-1.0, 24.0)]);
    let b = -(m.clone() * omega.clone() * omega.clone() * h.clone() * factors);
    let c = h.clone() / m.clone() * series(&x, &[(1.0, 1.0), (-1.0, 8.0)]);
    two_by_two(&series(&x, &[(1.0, 1.0), (1.0, 24.0)]), a, b, c)
}

/// The oscillator by Lobatto's scheme of order 6 (004, eqs. 16 and 17).
pub fn oscillator_lobatto<R: Real>(m: &R, omega: &R, h: &R) -> Square<R> {
    let x = omega.clone() * omega.clone() * h.clone() * h.clone();
    let d = series(&x, &[(1.0, 1.0), (1.0, 30.0), (1.0, 1800.0)]);
    let a = series(&x, &[(1.0, 1.0), (-7.0, 15.0), (23.0, 900.0), (-1.0, 3600.0)]);
    let factors =
        series(&x, &[(-60.0, 1.0), (1.0, 1.0)]) * series(&x, &[(720.0, 1.0), (-84.0, 1.0), (1.0, 1.0)]);
    let b = m.clone() * h.clone() * omega.clone() * omega.clone() / R::from_f64(43200.0) * factors;
    let c = h.clone() / m.clone() * series(&x, &[(1.0, 1.0), (-2.0, 15.0), (1.0, 300.0)]);
    two_by_two(&d, a, b, c)
}

/// A⁻¹B with A = [[1, −X], [1, Y]], B = [[−1, −X], [1, −Y]] (001, eqs. 12 and 34).
pub fn from_blocks<R: Real>(x: &Square<R>, y: &Square<R>) -> Result<Square<R>> {
    let n = x.size();
    let matrix = |signs: [f64; 4]| {
        Square::from_fn(2 * n, |i, j| {
            let sign = R::from_f64(signs[2 * (i / n) + j / n]);
            let unit = if i % n == j % n { R::one() } else { R::zero() };
            let entry = if i < n { x[(i % n, j % n)].clone() } else { y[(i % n, j % n)].clone() };
            sign * if j < n { unit } else { entry }
        })
    };
    let (a, b) = (matrix([1.0, -1.0, 1.0, 1.0]), matrix([-1.0, -1.0, 1.0, -1.0]));
    Ok(exchanged(&a.solve(&b).map_err(|_| singular("A"))?))
}

/// X = (2/h) M and Y = (h/2) K of Newmark's scheme (001, eq. 11).
pub fn newmark_blocks<R: Real>(mass: &Square<R>, stiffness: &Square<R>, h: &R) -> [Square<R>; 2] {
    let two = R::from_f64(2.0);
    [mass.times(&(two.clone() / h.clone())), stiffness.times(&(h.clone() / two))]
}

/// X = (2/h) M − (h/6) K and Y = (h/3) (K L⁻¹ + ½ K), L = 1 − (h²/8) M⁻¹K, of Simpson's scheme without its midpoint (001, eq. 31).
pub fn simpson_blocks<R: Real>(mass: &Square<R>, stiffness: &Square<R>, h: &R) -> Result<[Square<R>; 2]> {
    let number = R::from_f64;
    let x = mass.times(&(number(2.0) / h.clone())).plus(&-(h.clone() / number(6.0)), stiffness);
    // K L⁻¹ = (L⁻ᵀ K)ᵀ for symmetric K
    let l = middle(mass, stiffness, h)?;
    let quotient = l.transposed().solve(stiffness).map_err(|_| singular("L"))?.transposed();
    let y = quotient.plus(&number(0.5), stiffness).times(&(h.clone() / number(3.0)));
    Ok([x, y])
}

/// L = 1 − (h²/8) M⁻¹K
fn middle<R: Real>(mass: &Square<R>, stiffness: &Square<R>, h: &R) -> Result<Square<R>> {
    let ratio = mass.solve(stiffness).map_err(|_| singular("the mass matrix"))?;
    Ok(Square::identity(mass.size()).plus(&-(h.clone() * h.clone() / R::from_f64(8.0)), &ratio))
}

/// Simpson's scheme with its midpoint kept (001, eqs. 28 and 29, where the right-hand side of 27 is B η_j): the
/// columns q, p of q_{1/2} (n rows), and Φ.
pub fn simpson_with_midpoint<R: Real>(
    mass: &Square<R>,
    stiffness: &Square<R>,
    h: &R,
) -> Result<(Vec<Vec<R>>, Square<R>)> {
    let n = mass.size();
    let l = middle(mass, stiffness, h)?;
    let [x, _] = simpson_blocks(mass, stiffness, h)?;
    let unit = Square::identity(n);
    let half = unit.times(&R::from_f64(0.5));
    let sixth = stiffness.times(&(h.clone() / R::from_f64(6.0)));
    let (zero, minus) = (Square::zero(n), |block: &Square<R>| block.times(&R::from_f64(-1.0)));
    // rows: eq. 26; columns of A: q_{1/2}, p⁺, q⁺; of B, padded to a square: nothing, p, q
    let a = [
        [l, zero.clone(), minus(&half)],
        [zero.clone(), unit.clone(), minus(&x)],
        [sixth.times(&R::from_f64(4.0)), unit.clone(), sixth.clone()],
    ];
    let b = [
        [zero.clone(), zero.clone(), half],
        [zero.clone(), minus(&unit), minus(&x)],
        [zero, unit, minus(&sixth)],
    ];
    let joined = |blocks: &[[Square<R>; 3]; 3]| {
        Square::from_fn(3 * n, |i, j| blocks[i / n][j / n][(i % n, j % n)].clone())
    };
    let map = joined(&a).solve(&joined(&b)).map_err(|_| singular("A"))?;
    // momenta first, as printed, to coordinates first
    let column = |j: usize| n + (j + n) % (2 * n);
    let midpoint = (0..n).map(|i| (0..2 * n).map(|j| map[(i, column(j))].clone()).collect()).collect();
    let phi = Square::from_fn(2 * n, |i, j| map[(n + (i + n) % (2 * n), column(j))].clone());
    Ok((midpoint, phi))
}

fn singular(what: &str) -> Error {
    Error::SingularMatrix { what: format!("{what} of the scheme") }
}
