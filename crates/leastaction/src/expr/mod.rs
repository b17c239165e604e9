//! Expressions: recorded or parsed into a graph, differentiated on it, and run as a tape.
//!
//! [`Expr`] records, [`parse`](parse()) reads text, [`Graph`] holds, [`Differentiator`] derives, [`Tape`] and
//! [`Evaluator`] run. What the expressions mean (coordinates, momenta, energy) is left to `system`.

mod derive;
mod display;
mod graph;
mod parse;
mod readable;
mod tape;
mod trace;

pub use derive::Differentiator;
pub use display::{Names, formula};
pub use graph::{Binary, Depends, Graph, Node, NodeId, Unary};
pub use parse::parse;
pub use readable::{Readable, Terms};
pub use tape::{Evaluator, Tape};
pub(crate) use trace::Inputs;
pub use trace::{Expr, record};

#[cfg(test)]
mod tests;
