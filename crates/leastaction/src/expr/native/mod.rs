//! Machine code for tapes in `f64`, made at run time.
//!
//! [`Code`] computes what the interpreter computes, in the same order, and so to the same bits. On x86-64 the library makes it
//! itself (`avx`), for one state or for several side by side; elsewhere Cranelift does if the feature `cranelift` is on. Without either there
//! is no `Code` and the interpreter runs.

#[cfg(all(feature = "native", target_arch = "x86_64"))]
mod avx;
#[cfg(feature = "cranelift")]
mod cranelift;
#[cfg(any(all(feature = "native", target_arch = "x86_64"), feature = "cranelift"))]
mod steps;
#[cfg(all(test, feature = "native", target_arch = "x86_64"))]
mod tests;

use super::convoy::{Berths, Task};
use super::layout::Layout;
use super::stage::Staging;
use super::tape::Tape;
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

/// What code reads and writes.
pub(crate) struct Arrays<'a> {
    pub(super) registers: &'a mut [f64],
    pub(super) q: &'a [f64],
    pub(super) v: &'a [f64],
    pub(super) t: &'a [f64],
    pub(super) outputs: &'a mut [f64],
    /// What a stage adds to.
    pub(super) changes: &'a mut [f64],
    pub(super) scratch: &'a mut [f64],
}

/// Does some work on lists, in registers as wide as the processor has them. The results do not depend on it.
#[inline]
pub(crate) fn widely<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(all(feature = "native", target_arch = "x86_64"))]
    return avx::widely(work);
    #[cfg(not(all(feature = "native", target_arch = "x86_64")))]
    work()
}

/// Why there can be no machine code.
fn unavailable() -> Option<String> {
    #[cfg(all(feature = "native", target_arch = "x86_64"))]
    let reason = avx::unavailable();
    #[cfg(not(all(feature = "native", target_arch = "x86_64")))]
    let reason = Some("this build makes code for x86-64 only".to_owned());
    #[cfg(feature = "cranelift")]
    let reason = reason.and(cranelift::target().err());
    reason
}

/// The machine code of a tape.
#[derive(Debug)]
pub(crate) enum Code {
    #[cfg(all(feature = "native", target_arch = "x86_64"))]
    Avx(avx::Code),
    #[cfg(feature = "cranelift")]
    Cranelift(cranelift::Code),
}

impl Code {
    /// Code for one state, if this machine can run it.
    pub(super) fn new(tape: &Tape) -> Option<Self> {
        #[cfg(all(feature = "native", target_arch = "x86_64"))]
        if let Some(code) = avx::Code::new(tape) {
            return Some(Self::Avx(code));
        }
        #[cfg(feature = "cranelift")]
        if let Some(code) = cranelift::Code::new(tape) {
            return Some(Self::Cranelift(code));
        }
        let _ = tape;
        None
    }
    /// Code for four states side by side, if this machine can run it.
    pub(super) fn four(tape: &Tape) -> Option<Self> {
        #[cfg(all(feature = "native", target_arch = "x86_64"))]
        if let Some(code) = avx::Code::four(tape) {
            return Some(Self::Avx(code));
        }
        let _ = tape;
        None
    }
    /// Code for a sweep over the nodes of a step, if this machine can run it.
    pub(super) fn sweep(tape: &Tape, layout: &Layout) -> Option<Self> {
        #[cfg(all(feature = "native", target_arch = "x86_64"))]
        if let Some(code) = avx::Code::sweep(tape, layout) {
            return Some(Self::Avx(code));
        }
        let _ = (tape, layout);
        None
    }
    /// Code for a task of a convoy, if this machine can run it.
    pub(super) fn convoy(tape: &Tape, berths: &Berths, task: Task) -> Option<Self> {
        #[cfg(all(feature = "native", target_arch = "x86_64"))]
        if let Some(code) = avx::Code::convoy(tape, berths, task) {
            return Some(Self::Avx(code));
        }
        let _ = (tape, berths, task);
        None
    }
    /// Code for a stage of a splitting method, if this machine can run it and it never gives up.
    pub(super) fn stage(tape: &Tape, staging: Staging) -> Option<Self> {
        #[cfg(all(feature = "native", target_arch = "x86_64"))]
        if let Some(code) = avx::Code::stage(tape, staging) {
            return Some(Self::Avx(code));
        }
        let _ = (tape, staging);
        None
    }
    /// How many numbers of scratch memory it needs.
    pub(super) fn scratch(&self) -> usize {
        match *self {
            #[cfg(all(feature = "native", target_arch = "x86_64"))]
            Self::Avx(ref code) => code.scratch,
            #[cfg(feature = "cranelift")]
            Self::Cranelift(_) => 0,
        }
    }
    /// Runs it. `false` if that needs a function far from where it is fast: then the outputs mean nothing.
    #[inline]
    pub(super) fn run(&self, arrays: Arrays<'_>) -> bool {
        match *self {
            #[cfg(all(feature = "native", target_arch = "x86_64"))]
            Self::Avx(ref code) => code.run(arrays),
            #[cfg(feature = "cranelift")]
            Self::Cranelift(ref code) => {
                code.run(arrays.registers, arrays.q, arrays.v, &arrays.t[0], arrays.outputs)
            }
        }
    }
}
