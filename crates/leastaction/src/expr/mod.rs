//! Expressions: recorded or parsed into a graph, differentiated on it, and run as a tape.
//!
//! [`Expr`] records, [`parse`](parse()) reads text, [`Graph`] holds, [`Differentiator`] derives, [`Tape`] and
//! [`Evaluator`] run, by interpreting or, in `f64`, as machine code: the [`Backend`]. What the expressions mean (coordinates, momenta, energy) is left to `system`.

mod derive;
mod display;
mod graph;
mod native;
mod parse;
mod tape;
mod trace;

pub use derive::Differentiator;
pub use display::{Names, formula};
pub use graph::{Binary, Depends, Graph, Node, NodeId, Unary};
pub use native::Backend;
pub use parse::parse;
pub use tape::{Evaluator, Tape};
pub(crate) use trace::Inputs;
pub use trace::{Expr, record};

#[cfg(test)]
mod tests;
