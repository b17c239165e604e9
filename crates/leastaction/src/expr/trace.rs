//! The recording number type.
//!
//! [`Expr`] looks like a number to a Lagrangian written over [`Scalar`]; every operation on it adds a node to the
//! graph under recording. The graph sits in a thread-local slot while a function is recorded, so that `Expr` is a
//! plain `Copy` value without lifetime and formulas stay formulas.

use super::graph::{Graph, NodeId, Unary};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use std::cell::RefCell;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};
use std::sync::atomic::{AtomicU32, Ordering};

/// A number under recording. It cannot be compared: what a comparison gives while recording would hold for ever.
#[derive(Clone, Copy, Debug)]
pub struct Expr {
    recording: u32,
    node: NodeId,
}

struct Recording {
    id: u32,
    graph: Graph,
    /// An `Expr` of another recording was used here.
    foreign: bool,
}

thread_local! {
    static CURRENT: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

static NEXT: AtomicU32 = AtomicU32::new(1);

/// Restores the recording that was under way before, also when the recorded function panics.
struct Restore(Option<Recording>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Runs `function` while its operations on `Expr` are recorded into `graph`, and gives the nodes it returns.
pub fn record(graph: &mut Graph, function: impl FnOnce() -> Vec<Expr>) -> Result<Vec<NodeId>> {
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    let recording = Recording { id, graph: std::mem::take(graph), foreign: false };
    let restore = Restore(CURRENT.replace(Some(recording)));
    let result = function();
    let recording = CURRENT.take();
    drop(restore);
    let Some(recording) = recording else { return Err(Error::ForeignNumber) };
    *graph = recording.graph;
    if recording.foreign || result.iter().any(|e| e.recording != id) {
        return Err(Error::ForeignNumber);
    }
    Ok(result.into_iter().map(|e| e.node).collect())
}

impl Expr {
    /// Makes a node in the graph under recording. Outside of any recording the result belongs to none, which
    /// `record` reports when it meets it.
    pub(crate) fn make(operands: &[Expr], build: impl FnOnce(&mut Graph, &[Expr]) -> NodeId) -> Expr {
        CURRENT.with_borrow_mut(|current| match current {
            None => Expr { recording: 0, node: NodeId(0) },
            Some(recording) => {
                if operands.iter().any(|e| e.recording != recording.id) {
                    recording.foreign = true;
                    return Expr { recording: 0, node: NodeId(0) };
                }
                Expr { recording: recording.id, node: build(&mut recording.graph, operands) }
            }
        })
    }

    fn unary(self, op: Unary) -> Self {
        Self::make(&[self], |g, x| g.unary(op, x[0].node))
    }

    /// −1, 0 or 1.
    pub fn sign(self) -> Self {
        self.unary(Unary::Sign)
    }
}

impl From<f64> for Expr {
    fn from(x: f64) -> Self {
        Self::make(&[], |g, _| g.number(x))
    }
}

/// Implements an operator for Expr ∘ Expr, Expr ∘ f64 and f64 ∘ Expr.
macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl $trait for Expr {
            type Output = Expr;
            fn $method(self, other: Expr) -> Expr {
                Expr::make(&[self, other], |g, x| g.$method(x[0].node, x[1].node))
            }
        }
        impl $trait<f64> for Expr {
            type Output = Expr;
            fn $method(self, other: f64) -> Expr {
                $trait::$method(self, Expr::from(other))
            }
        }
        impl $trait<Expr> for f64 {
            type Output = Expr;
            fn $method(self, other: Expr) -> Expr {
                $trait::$method(Expr::from(self), other)
            }
        }
    };
}

operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl AddAssign for Expr {
    fn add_assign(&mut self, other: Expr) {
        *self = *self + other;
    }
}

impl SubAssign for Expr {
    fn sub_assign(&mut self, other: Expr) {
        *self = *self - other;
    }
}

impl Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        self.unary(Unary::Neg)
    }
}

impl Sum for Expr {
    fn sum<I: Iterator<Item = Expr>>(iter: I) -> Expr {
        iter.fold(Expr::from(0.0), |sum, x| sum + x)
    }
}

/// Forwards the functions of one operand to their graph node.
macro_rules! functions {
    ($($name:ident $op:ident),*) => {
        $(fn $name(self) -> Self { self.unary(Unary::$op) })*
    };
}

impl Scalar for Expr {
    fn pi() -> Self {
        Self::make(&[], |g, _| g.pi())
    }
    functions!(sqrt Sqrt, exp Exp, ln Ln, sin Sin, cos Cos, tan Tan, asin Asin, acos Acos, atan Atan,
               sinh Sinh, cosh Cosh, tanh Tanh, abs Abs);
    fn atan2(self, x: Self) -> Self {
        Self::make(&[self, x], |g, e| g.atan2(e[0].node, e[1].node))
    }
    fn powi(self, exponent: i32) -> Self {
        Self::make(&[self], |g, e| g.powi(e[0].node, exponent))
    }
    fn powf(self, exponent: impl Into<Self>) -> Self {
        Self::make(&[self, exponent.into()], |g, e| g.pow(e[0].node, e[1].node))
    }
}

/// The numbers a Lagrangian is recorded with.
pub(crate) struct Inputs {
    pub(crate) q: Vec<Expr>,
    pub(crate) v: Vec<Expr>,
    pub(crate) t: Expr,
    pub(crate) parameters: Vec<Expr>,
}

impl Inputs {
    /// Fresh inputs of the recording under way.
    pub(crate) fn new(coordinates: usize, parameters: usize) -> Self {
        Self {
            q: (0..coordinates).map(|i| Expr::make(&[], |g, _| g.coordinate(i))).collect(),
            v: (0..coordinates).map(|i| Expr::make(&[], |g, _| g.velocity(i))).collect(),
            t: Expr::make(&[], |g, _| g.time()),
            parameters: (0..parameters).map(|i| Expr::make(&[], |g, _| g.parameter(i))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_another_recording_is_an_error() {
        let mut stray = None;
        let mut first = Graph::new();
        record(&mut first, || {
            let x = Expr::from(2.0);
            stray = Some(x);
            vec![x]
        })
        .expect("recorded");
        let stray = stray.expect("set");
        assert!(record(&mut Graph::new(), || vec![stray]).is_err());
        assert!(record(&mut Graph::new(), || vec![Expr::from(1.0) + stray]).is_err());
    }

    #[test]
    fn recordings_nest() {
        let mut outer = Graph::new();
        let nodes = record(&mut outer, || {
            let x = Expr::from(3.0);
            let mut inner = Graph::new();
            record(&mut inner, || vec![Expr::from(5.0)]).expect("inner");
            vec![x + 1.0]
        })
        .expect("outer");
        assert_eq!(outer.as_number(nodes[0]), Some(4.0));
    }
}
