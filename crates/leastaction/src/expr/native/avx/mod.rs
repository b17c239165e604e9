//! Machine code for x86-64 processors with AVX2, made by the library itself.
//!
//! `translate` makes a straight-line `program` of a tape, four alike formulas at a time where `pack` finds them, and `sweep` of a sweep over nodes, `assemble` gives it registers and `encode` writes the bytes; `machine`
//! calls them.

mod assemble;
mod encode;
mod machine;
mod pack;
mod packed;
mod program;
mod roll;
mod stage;
mod sweep;
mod translate;

pub(crate) use machine::{Code, unavailable, widely};
