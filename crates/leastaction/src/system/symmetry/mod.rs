//! Linear symmetries of a Lagrangian and what they conserve.
//!
//! A motion q → q + ε(Aq + b) that leaves L unchanged, (Aq + b)·L_q + (Av)·L_v = 0 for all states, times and
//! parameters, conserves J = p·(Aq + b) (Noether). b alone is a translation, and J a total momentum; an antisymmetric
//! A is a rotation, and J an angular momentum. Variational methods keep every such J to rounding, because their
//! polynomials are carried along by the motion.
//!
//! `candidates` lists motions that may be symmetries, `search` finds the combinations of them that are, `proof` proves
//! them, `words` names those and `momentum` computes J. Search and proof evaluate L at a `point` of a prime `field`,
//! with `angles` for sines and exponentials and `echelon` for linear equations. `hidden` takes coordinates out of L
//! that only seem to occur in it. Coordinates that do not occur in L are known from
//! [`Structure::cyclic`](super::Structure::cyclic) and not listed again.

mod angles;
mod candidates;
mod echelon;
mod field;
mod hidden;
mod momentum;
mod point;
mod proof;
mod search;
mod words;

pub(super) use hidden::without_hidden;
pub use momentum::{Compensated, Momentum, Sum};

use super::{Problem, System};
use crate::scalar::Real;

/// A motion q → q + ε(Aq + b) that leaves the Lagrangian unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct Symmetry {
    /// What it conserves, in short: `total p_x`, `x*p_y - y*p_x`.
    pub name: String,
    /// What it conserves, written out; sums of many terms are shortened.
    pub formula: String,
    /// What kind of motion it is.
    pub kind: Kind,
    /// Entries (i, j, A_ij) of A.
    pub linear: Vec<(usize, usize, f64)>,
    /// Entries (i, b_i) of b.
    pub shift: Vec<(usize, f64)>,
}

/// Kinds of motions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A = 0.
    Translation,
    /// A is antisymmetric, and b = 0.
    Rotation,
    /// Anything else.
    Linear,
}

impl Symmetry {
    /// The coordinate, if the motion shifts a single one.
    pub fn coordinate(&self) -> Option<usize> {
        match (self.linear.as_slice(), self.shift.as_slice()) {
            ([], [(i, _)]) => Some(*i),
            _ => None,
        }
    }
}

impl System {
    /// The linear symmetries of the Lagrangian that hold for all values of its parameters, but for shifts of cyclic
    /// coordinates. They are proved for all states. They are looked for once, when they are first asked for.
    pub fn symmetries(&self) -> &[Symmetry] {
        self.model.symmetries.get_or_init(|| words::named(self, search::symmetries(self)))
    }
}

impl<R: Real> Problem<R> {
    /// The [symmetries of the system](System::symmetries).
    pub fn symmetries(&self) -> &[Symmetry] {
        self.system.symmetries()
    }
}
