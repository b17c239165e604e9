//! Holds machine code and calls it: the only unsafe code of this back end.
//!
//! Why it is needed: to run instructions that were not there when the program was compiled, their address has to be called as a
//! function. Why it is sound:
//! - The functions are made here, from a tape, with the signature [`Piece`] and the processor's own calling convention.
//! - They read q, v, t, the registers and the constants, and write registers and outputs, at places that the tape names.
//!   [`Code::new`] checks that all of these lie below the lengths in [`Lengths`], and [`Code::run`] that every array is as long.
//! - They call nothing but functions with the C convention that do not unwind: of this program, and `fma` of the platform where processors have no such instruction.
//! - The memory they lie in belongs to [`Code`] and is given back when it is dropped, when nobody can be in [`Code::run`], which
//!   borrows it.
#![allow(unsafe_code)]

use super::compile::{pieces, signature, survivors, translate};
use super::emit::Table;
use crate::expr::tape::{Action, Tape};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable, Flags};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};
use std::fmt;
use std::sync::{Mutex, OnceLock};

/// Registers, constants, q, v, t, outputs; 1 if it gave up, 0 else.
type Piece = unsafe extern "C" fn(*mut f64, *const f64, *const f64, *const f64, *const f64, *mut f64) -> i32;

/// The machine code of a tape.
pub(crate) struct Code {
    pieces: Vec<Piece>,
    constants: Vec<f64>,
    lengths: Lengths,
    /// Owns the memory of the code. Behind a lock only because it is not made to be shared; nobody looks at it until the end.
    memory: Mutex<Option<JITModule>>,
}

/// How long the arrays are that the code was made for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lengths {
    registers: usize,
    coordinates: usize,
    outputs: usize,
}

/// The processor this runs on, or why there can be no code for it.
pub(crate) fn target() -> Result<OwnedTargetIsa, String> {
    static TARGET: OnceLock<Result<OwnedTargetIsa, String>> = OnceLock::new();
    TARGET
        .get_or_init(|| {
            let mut flags = settings::builder();
            for (name, value) in [
                ("opt_level", "none"),
                ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
                ("use_colocated_libcalls", "false"),
                ("is_pic", "false"),
                ("unwind_info", "false"),
            ] {
                flags.set(name, value).map_err(|error| error.to_string())?;
            }
            let builder = cranelift_native::builder().map_err(str::to_owned)?;
            builder.finish(Flags::new(flags)).map_err(|error| error.to_string())
        })
        .clone()
}

impl Code {
    /// The code of a tape, if this machine can run it.
    pub(crate) fn new(tape: &Tape) -> Option<Self> {
        let lengths =
            Lengths { registers: tape.registers, coordinates: tape.coordinates, outputs: tape.outputs };
        // places in arrays are counted in 31 bits of bytes
        let longest = (i32::MAX / 8) as usize;
        if !lengths.hold(tape) || [lengths.registers, lengths.outputs].iter().any(|&x| x > longest) {
            return None;
        }
        let mut module = JITModule::new(JITBuilder::with_isa(target().ok()?, default_libcall_names()));
        let mut table = Table::default();
        let functions = define(tape, &mut module, &mut table);
        let finished = functions.and_then(|list| module.finalize_definitions().ok().map(|()| list));
        let Some(functions) = finished else {
            // SAFETY: no function of the module was ever called.
            unsafe { module.free_memory() };
            return None;
        };
        let pieces = functions
            .into_iter()
            .map(|id| {
                let address = module.get_finalized_function(id);
                // SAFETY: the function at this address was made with the signature of `Piece`, and its memory lives as long as
                // `memory` below.
                unsafe { std::mem::transmute::<*const u8, Piece>(address) }
            })
            .collect();
        Some(Self { pieces, constants: table.numbers, lengths, memory: Mutex::new(Some(module)) })
    }

    /// Evaluates the tape. `false` if that needs a function far from where it is fast: then the outputs mean nothing.
    #[inline]
    pub(crate) fn run(
        &self,
        registers: &mut [f64],
        q: &[f64],
        v: &[f64],
        t: &f64,
        outputs: &mut [f64],
    ) -> bool {
        let n = self.lengths.coordinates;
        let fit = registers.len() == self.lengths.registers
            && q.len() == n
            && v.len() == n
            && outputs.len() >= self.lengths.outputs;
        assert!(fit, "arrays as long as the tape asks for");
        for piece in &self.pieces {
            // SAFETY: the arrays are as long as the code was made for, as just checked; they do not overlap, because two of them are
            // borrowed mutably; the code lives as long as `self`.
            let gave_up = unsafe {
                piece(
                    registers.as_mut_ptr(),
                    self.constants.as_ptr(),
                    q.as_ptr(),
                    v.as_ptr(),
                    t,
                    outputs.as_mut_ptr(),
                )
            };
            if gave_up != 0 {
                return false;
            }
        }
        true
    }
}

impl Lengths {
    /// Whether every place that a tape names lies within.
    fn hold(&self, tape: &Tape) -> bool {
        tape.body.iter().all(|instruction| {
            let end = if instruction.action == Action::Store { self.outputs } else { self.registers };
            let registers =
                [instruction.a, instruction.b, instruction.c].iter().all(|&r| (r as usize) < self.registers);
            registers && (instruction.target as usize) < end
        })
    }
}

/// Compiles the pieces of a tape.
fn define(tape: &Tape, module: &mut JITModule, table: &mut Table) -> Option<Vec<FuncId>> {
    let (convention, pointer) = (module.isa().default_call_conv(), module.target_config().pointer_type());
    let config = module.target_config();
    let pieces = pieces(&tape.body);
    let survivors = survivors(tape, &pieces);
    let mut context = module.make_context();
    let mut builder_context = FunctionBuilderContext::new();
    let mut functions = Vec::with_capacity(pieces.len());
    for (piece, survivors) in pieces.iter().zip(&survivors) {
        context.func.signature = signature(convention, pointer);
        translate(tape, piece, survivors, table, &mut context.func, &mut builder_context, config);
        let id = module.declare_anonymous_function(&context.func.signature).ok()?;
        module.define_function(id, &mut context).ok()?;
        module.clear_context(&mut context);
        functions.push(id);
    }
    Some(functions)
}

impl Drop for Code {
    fn drop(&mut self) {
        let memory = match self.memory.get_mut() {
            Ok(memory) => memory.take(),
            Err(poisoned) => poisoned.into_inner().take(),
        };
        if let Some(module) = memory {
            // SAFETY: whoever could call the code has borrowed `self`, and nobody does any more.
            unsafe { module.free_memory() };
        }
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("pieces", &self.pieces.len()).field("lengths", &self.lengths).finish()
    }
}
