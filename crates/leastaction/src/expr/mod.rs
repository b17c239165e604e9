//! Expressions: recorded or parsed into a graph, differentiated on it, and run as a tape.
//!
//! [`Expr`] records, [`Formula`] reads text and [`Scope`] says what its names mean, [`Graph`] holds, [`Differentiator`]
//! derives, [`Tape`] and [`Evaluator`] run, by interpreting or, in `f64`, as machine code: the [`Backend`]. What the expressions
//! mean (coordinates, momenta, energy) is left to `system`.

mod abreast;
mod aligned;
mod circle;
mod convoy;
mod derive;
mod display;
mod evaluate;
mod finite;
mod graph;
mod layout;
mod native;
mod nodes;
mod parse;
mod rate;
mod readable;
mod scope;
mod slips;
mod stage;
mod states;
mod substitute;
mod syntax;
mod tape;
mod trace;
mod value;

pub use abreast::{ABREAST, Abreast};
pub(crate) use aligned::Aligned;
pub use convoy::{CONVOY, Convoy, Current, Sailing};
pub use derive::Differentiator;
pub use display::{Names, formula};
pub use finite::Parts;
pub use graph::{Binary, Depends, Graph, Node, NodeId, Unary};
pub use layout::{COUPLED, Pattern, Sweep, Tapes, Weights};
pub use native::Backend;
pub(crate) use native::widely;
pub use nodes::Nodes;
pub use parse::{MAX_DEPTH, MAX_PARTS, in_name, is_name, parse};
pub use rate::Rates;
pub use readable::{Readable, Terms};
pub use scope::{Elsewhere, MAX_EXPANSION, Role, Scope, is_reserved};
pub(crate) use slips::number_and_word;
pub use stage::{Stage, Staging};
pub use states::FourStates;
pub use syntax::{Ast, Flaw, Formula, Kind, Loop, LoopKind, Shared};
pub use tape::{Evaluator, Tape};
pub(crate) use trace::Inputs;
pub use trace::{Expr, record};
pub use value::{CONSTANTS, Value, functions};

#[cfg(test)]
mod tests;
