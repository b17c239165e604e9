//! Machine code for tapes in `f64`, made at run time with Cranelift.
//!
//! [`Code`] computes what the interpreter computes, in the same order, and so to the same bits. `emit` turns the generic elementary
//! functions into instructions, `compile` a tape into functions, and `machine` holds and calls them: all unsafe code is there.
//! Without the feature `native`, or on a processor that Cranelift does not know, there is no `Code` and the interpreter runs.

#[cfg(feature = "native")]
mod compile;
#[cfg(feature = "native")]
mod emit;
#[cfg(feature = "native")]
mod machine;
#[cfg(all(test, feature = "native"))]
mod tests;

#[cfg(feature = "native")]
pub(super) use machine::Code;

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What runs the tapes of an `f64` computation. The result does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// Machine code made at run time.
    Native,
    /// The interpreter, which runs everywhere and in every number type.
    Interpreter,
}

impl Backend {
    /// The back end itself, or an error if this build or this processor has none.
    pub fn checked(self) -> Result<Self> {
        match (self, unavailable()) {
            (Self::Native, Some(reason)) => Err(Error::NoMachineCode { reason }),
            _ => Ok(self),
        }
    }
    /// What it is called in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::Native => "machine code",
            Self::Interpreter => "interpreter",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "native",
            Self::Interpreter => "interpreter",
        })
    }
}

/// Why there can be no machine code.
#[cfg(feature = "native")]
fn unavailable() -> Option<String> {
    machine::target().err()
}

/// Why there can be no machine code.
#[cfg(not(feature = "native"))]
fn unavailable() -> Option<String> {
    Some("this build is without the feature `native`".to_owned())
}

/// Machine code, of which there is none in this build.
#[cfg(not(feature = "native"))]
#[derive(Debug)]
pub(super) enum Code {}

#[cfg(not(feature = "native"))]
impl Code {
    pub(super) fn new(_: &super::tape::Tape) -> Option<Self> {
        None
    }
    pub(super) fn run(&self, _: &mut [f64], _: &[f64], _: &[f64], _: &f64, _: &mut [f64]) -> bool {
        match *self {}
    }
}
