//! What an expression is: a graph of shared nodes, each made of earlier ones.

use std::sync::Arc;

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Coordinate,
    Parameter,
    Time,
}

/// Operations on one operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unary {
    Neg,
    /// A function, by its name in formulas.
    Call(&'static str),
}

/// Operations on two operands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Atan2,
    Hypot,
}

/// How a node is made.
#[derive(Debug)]
pub(super) enum Term {
    Number(f64),
    /// A symbol; `made` counts all of them, so that they have an order.
    Name {
        role: Role,
        name: String,
        made: u64,
    },
    Unary(Unary, Node),
    Binary(Binary, Node, Node),
}

/// A shared node.
#[derive(Clone, Debug)]
pub(super) struct Node(Option<Arc<Term>>);

const NOTHING: Term = Term::Number(0.0);

impl Node {
    pub(super) fn new(term: Term) -> Self {
        Self(Some(Arc::new(term)))
    }
    pub(super) fn number(x: f64) -> Self {
        Self::new(Term::Number(x))
    }
    pub(super) fn term(&self) -> &Term {
        self.0.as_deref().unwrap_or(&NOTHING)
    }
    /// What tells it from others.
    pub(super) fn address(&self) -> usize {
        self.0.as_ref().map_or(0, |term| Arc::as_ptr(term).addr())
    }
    /// What it is made of.
    pub(super) fn operands(&self) -> impl Iterator<Item = &Node> {
        let (a, b) = match self.term() {
            Term::Unary(_, a) => (Some(a), None),
            Term::Binary(_, a, b) => (Some(a), Some(b)),
            Term::Number(_) | Term::Name { .. } => (None, None),
        };
        a.into_iter().chain(b)
    }
}

/// A sum of a million terms is a chain of a million nodes, too deep to be dropped one within the other.
impl Drop for Node {
    fn drop(&mut self) {
        let mut rest = vec![self.0.take()];
        while let Some(term) = rest.pop() {
            let Some(mut term) = term.and_then(Arc::into_inner) else { continue };
            match &mut term {
                Term::Unary(_, a) => rest.push(a.0.take()),
                Term::Binary(_, a, b) => rest.extend([a.0.take(), b.0.take()]),
                Term::Number(_) | Term::Name { .. } => {}
            }
        }
    }
}
