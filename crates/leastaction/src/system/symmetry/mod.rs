//! Linear symmetries of a Lagrangian and what they conserve.
//!
//! A motion q → q + ε(Aq + b) that leaves L unchanged, (Aq + b)·L_q + (Av)·L_v = 0 for all states, times and parameters, conserves
//! J = p·(Aq + b) (Noether). b alone is a translation, and J a total momentum; an antisymmetric A is a rotation, and J an angular
//! momentum. Variational methods keep every such J to rounding, because their polynomials are carried along by the motion.
//!
//! `candidates` lists motions that may be symmetries, `search` finds the combinations of them that are, `proof` makes sure of them, `words` names those and `momentum` computes J.
//! `hidden` takes coordinates out of L that only seem to occur in it.
//! Coordinates that do not occur in L are known from [`Structure::cyclic`](super::Structure::cyclic) and not listed again.

mod candidates;
mod hidden;
mod momentum;
mod proof;
mod search;
mod words;

pub(super) use hidden::without_hidden;
pub use momentum::{Compensated, Momentum, Sum};

use super::{Problem, System};
use crate::scalar::Real;
use search::Sample;

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
    /// The linear symmetries of the Lagrangian that hold for all values of its parameters, but for shifts of cyclic coordinates.
    /// They are looked for once, when they are first asked for, around the default initial state.
    pub fn symmetries(&self) -> &[Symmetry] {
        self.model
            .symmetries
            .get_or_init(|| Sample::default_of(self).map_or_else(Vec::new, |at| find(self, &at)))
    }
}

impl<R: Real> Problem<R> {
    /// The [symmetries of the system](System::symmetries), looked for around the initial state of the problem if they are not
    /// known yet.
    pub fn symmetries(&self) -> &[Symmetry] {
        self.system.model.symmetries.get_or_init(|| find(&self.system, &Sample::of(self)))
    }
}

fn find(system: &System, around: &Sample) -> Vec<Symmetry> {
    words::named(system, search::symmetries(system, around))
}
