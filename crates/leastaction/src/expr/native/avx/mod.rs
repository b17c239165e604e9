//! Machine code for x86-64 processors with AVX2, made by the library itself.
//!
//! `translate` makes a straight-line `program` of a tape, four or eight alike formulas at a time where `pack` finds them, `stage` of a stage of a
//! splitting method and `sweep` of a sweep over nodes; `roll` makes loops of what repeats itself, `assemble` gives it registers and `encode`
//! writes the bytes; `machine` calls them.

mod assemble;
mod convoy;
mod encode;
mod machine;
mod overlap;
mod pack;
mod packed;
mod program;
mod repeat;
mod roll;
mod stage;
mod sweep;
#[cfg(test)]
mod tests;
mod translate;
#[cfg(test)]
mod widths;

pub(crate) use machine::{Code, unavailable, widely};
