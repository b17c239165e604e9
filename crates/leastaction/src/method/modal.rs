//! A variational method seen by one oscillation: two small pencils, one for each parity in time.
//!
//! For one mode with x = (ωh)² the discrete Lagrangian is (m/2h) Qᵀ(A − xB)Q. In place of the values Q_k at the nodes we take
//! the amplitudes of ½, t − ½ and of the functions (P_k − P_{k−2})/(2(2k − 1)), k = 2 … s, where P_k is the Legendre polynomial on
//! [0, 1]. The latter vanish at both ends of the step and their slopes are P_{k−1}. Then A is diagonal, B couples only k and k ± 2, and
//! all entries are known fractions: a rule exact to degree 2s − 1 gives ∫P_k² = 1/(2k + 1) for k < s, and only Σ b P_s²
//! differs, 0 for Gauss with s points and 1/s for Lobatto with s + 1.
//!
//! Eliminating the amplitudes within the step leaves
//!
//! ```text
//! p₀ + p₁ = (m/h) f(x) (q₁ − q₀)        p₁ − p₀ = −(m/h) g(x) (q₀ + q₁)
//! ```

use super::{Galerkin, Rule};
use crate::error::{Error, Result};
use crate::linear::Pencil;
use crate::scalar::Field;

/// The pencils of a method: first the amplitude of the ends, then those within the step.
#[derive(Clone, Debug)]
pub struct Modal<F> {
    /// Of motions that are even about the middle of the step; the first amplitude is q₀ + q₁.
    pub even: Pencil<F>,
    /// Of motions that are odd about it; the first amplitude is q₁ − q₀.
    pub odd: Pencil<F>,
    /// Whether an even (0) or an odd (1) motion has no potential energy at all, which puts an eigenvalue at infinity.
    unseen: Option<usize>,
}

impl<F: Field> Modal<F> {
    /// The pencils of a method. The quadrature must be exact to degree 2s − 1, as that of every named method is.
    pub fn new(galerkin: &Galerkin) -> Result<Self> {
        let Galerkin { degree: s, rule, points } = *galerkin;
        let needed = match rule {
            Rule::Gauss => s,
            Rule::Lobatto => s + 1,
        };
        if s == 0 || points < needed {
            return Err(Error::TooFewPoints { degree: s, rule: format!("{rule:?}"), points, needed });
        }
        // Σ b P_k²
        let norm = |k: usize| match rule {
            Rule::Gauss if k == points => F::zero(),
            Rule::Lobatto if k + 1 == points => one_over(k),
            _ => one_over(2 * k + 1),
        };
        let unseen = (rule == Rule::Gauss && points == s).then_some(s % 2);
        Ok(Self { even: pencil(s, 0, norm), odd: pencil(s, 1, norm), unseen })
    }

    /// f and g.
    pub fn forces(&self, x: &F) -> (F, F) {
        let two = F::from_f64(2.0);
        (two.clone() * self.odd.schur(x), -(two * self.even.schur(x)))
    }

    /// All positive zeros and poles of f and g, in no order. Each is simple, so each changes the sign of f·g.
    pub fn sign_changes(&self) -> Vec<F> {
        let infinite = |parity: usize| usize::from(self.unseen == Some(parity));
        // zeros: all amplitudes free; poles: those of the ends held; the motion that is constant in time is the first of the even ones
        let zeros =
            self.even.eigenvalues(infinite(0)).into_iter().skip(1).chain(self.odd.eigenvalues(infinite(1)));
        let poles = self.even.interior().eigenvalues(0).into_iter().chain(self.odd.interior().eigenvalues(0));
        zeros.chain(poles).collect()
    }
}

fn one_over<F: Field>(k: usize) -> F {
    F::one() / F::from_f64(k as f64)
}

/// The pencil of the functions u_k of one parity: u_k = l_k (P_k − P_{k−2}), without the second part for k = 0, 1.
fn pencil<F: Field>(s: usize, parity: usize, norm: impl Fn(usize) -> F) -> Pencil<F> {
    let half = F::from_f64(0.5);
    // l_0 = ½, l_k = 1/(2(2k − 1));  u_k' = P_{k−1}
    let slope_norm = |k: usize| if k == 0 { F::zero() } else { one_over(2 * k - 1) };
    let lead = |k: usize| if k == 0 { half.clone() } else { half.clone() * slope_norm(k) };
    let square = |k: usize| {
        let sum = if k < 2 { norm(k) } else { norm(k) + norm(k - 2) };
        lead(k) * lead(k) * sum
    };
    let all = || (parity..=s).step_by(2);
    Pencil {
        a: all().map(slope_norm).collect(),
        b: all().map(square).collect(),
        c: all().skip(1).map(|k| -(lead(k - 2) * lead(k) * norm(k - 2))).collect(),
    }
}
