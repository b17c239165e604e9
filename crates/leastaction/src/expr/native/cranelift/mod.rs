//! Machine code made with Cranelift, for processors that the library itself makes none for.
//!
//! `emit` turns the generic elementary functions into instructions, `compile` a tape into functions, and `machine` holds and
//! calls them. One state at a time.

mod compile;
mod emit;
mod machine;

pub(crate) use machine::{Code, target};
