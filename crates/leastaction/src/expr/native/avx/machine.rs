//! Holds machine code and calls it, and calls what was compiled for AVX2 or AVX-512: the only unsafe code of the library in its default build.
//!
//! Why it is needed: to run instructions that were not there when the program was compiled, their address has to be called as a
//! function. Why it is sound:
//! - The code is made here, from a tape, for the calling convention of [`Entry`], and only on a processor that has its instructions.
//! - It reads q, v, t, the registers and the changes, and writes changes, outputs and scratch memory, at places that follow from what the tape names.
//!   [`is_consistent`] checks what it names, so that all places lie below the lengths in [`Lengths`], and [`Code::run`] checks that
//!   every array is as long.
//! - It calls nothing and leaves the stack alone but for its seventh argument, which it reads. It jumps forward within itself, and back to
//!   the start of a loop so many times as the loop has turns; places in a loop are those that the program without it names.
//! - The memory it lies in belongs to [`Code`], is not writable any more when it can be executed, and is given back when it is
//!   dropped, when nobody can be in [`Code::run`], which borrows it.
#![allow(unsafe_code)]

use super::assemble::assemble;
use super::convoy::convoy;
use super::program::{Program, Width};
use super::roll::roll;
use super::stage::stage;
use super::sweep::sweep;
use super::translate::{four_states, translate};
#[cfg(test)]
use super::translate::{in_packs, store};
use crate::expr::convoy::{Berths, CONVOY, Task};
use crate::expr::layout::Layout;
use crate::expr::native::Arrays;
use crate::expr::stage::Staging;
use crate::expr::tape::{Action, Tape};
use memmap2::{Mmap, MmapMut};
use std::fmt;

/// Registers, q, v, t, outputs, scratch memory and changes; 1 if it gave up, 0 else.
type Entry = unsafe extern "sysv64" fn(
    *const f64,
    *const f64,
    *const f64,
    *const f64,
    *mut f64,
    *mut f64,
    *mut f64,
) -> i32;

/// The machine code of a tape.
pub(crate) struct Code {
    entry: Entry,
    lengths: Lengths,
    /// Numbers of scratch memory.
    pub(crate) scratch: usize,
    /// Where the code lies.
    memory: Mmap,
}

/// How many numbers the arrays have that the code was made for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lengths {
    registers: usize,
    q: usize,
    v: usize,
    t: usize,
    outputs: usize,
    changes: usize,
}

/// Why there can be no machine code.
pub(crate) fn unavailable() -> Option<String> {
    let able = std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
    (!able).then(|| "the processor has no AVX2 with fused multiply-add".to_owned())
}

/// Whether registers have eight lanes, and instructions for all that programs do with them.
pub(super) fn has_eight_lanes() -> bool {
    std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512dq")
}

/// The most numbers that a register holds.
fn widest() -> Width {
    if has_eight_lanes() { Width::Eight } else { Width::Four }
}

/// Does some work, compiled for AVX-512 or AVX2 as far as it is inlined, if the processor has it. The results are the same: nothing is fused or reordered.
#[inline]
pub(crate) fn widely<T>(work: impl FnOnce() -> T) -> T {
    #[target_feature(enable = "avx2")]
    fn with_avx2<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
    #[target_feature(enable = "avx512f,avx512dq")]
    fn with_avx512<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
    if has_eight_lanes() {
        // SAFETY: the processor has what the function is compiled for, as just checked.
        unsafe { with_avx512(work) }
    } else if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has what the function is compiled for, as just checked.
        unsafe { with_avx2(work) }
    } else {
        work()
    }
}

impl Code {
    /// The code of a tape for one state; `None` if this machine cannot run it.
    pub(crate) fn new(tape: &Tape) -> Option<Self> {
        Self::new_in(widest(), tape)
    }
    pub(super) fn new_in(widest: Width, tape: &Tape) -> Option<Self> {
        let n = tape.coordinates;
        let lengths =
            Lengths { registers: tape.registers, q: n, v: n, t: 1, outputs: tape.outputs, changes: 0 };
        Self::of(tape, lengths, || Some(roll(&translate(tape, widest))))
    }

    /// The code of a tape for four states side by side.
    pub(crate) fn four(tape: &Tape) -> Option<Self> {
        let (n, registers, outputs) = (4 * tape.coordinates, 4 * tape.registers, 4 * tape.outputs);
        let lengths = Lengths { registers, q: n, v: n, t: 4, outputs, changes: 0 };
        Self::of(tape, lengths, || Some(four_states(tape)))
    }

    /// The code of a stage; `None` also if it might give up, or if the forces depend on velocities.
    pub(crate) fn stage(tape: &Tape, staging: Staging) -> Option<Self> {
        Self::stage_in(widest(), tape, staging)
    }
    pub(super) fn stage_in(widest: Width, tape: &Tape, staging: Staging) -> Option<Self> {
        let n = staging.n;
        let ([changes, ..], [fixed, ..]) = (staging.changes(), staging.fixed());
        let lengths = Lengths { registers: tape.registers, q: n, v: fixed, t: 1, outputs: n, changes };
        if tape.coordinates != n || tape.outputs != n {
            return None;
        }
        Self::of(tape, lengths, || stage(tape, staging, widest).map(|program| roll(&program)))
    }

    /// The code of a sweep over the nodes of a step, in registers as wide as the processor has them and nodes fill them.
    pub(crate) fn sweep(tape: &Tape, layout: &Layout) -> Option<Self> {
        let eight = layout.takes_eight() && has_eight_lanes();
        Self::sweep_in(if eight { Width::Eight } else { Width::Four }, tape, layout)
    }
    pub(super) fn sweep_in(width: Width, tape: &Tape, layout: &Layout) -> Option<Self> {
        let outputs = layout.register(layout.sweep, tape.registers);
        let lengths = Lengths { registers: 0, q: 0, v: 0, t: 0, outputs, changes: 0 };
        Self::of(tape, lengths, || Some(sweep(tape, layout, width)))
    }

    /// The code of a task of a convoy, in registers as wide as the processor has them.
    pub(crate) fn convoy(tape: &Tape, berths: &Berths, task: Task) -> Option<Self> {
        Self::convoy_in(widest(), tape, berths, task)
    }
    pub(super) fn convoy_in(width: Width, tape: &Tape, berths: &Berths, task: Task) -> Option<Self> {
        let (rates, nodes) = (berths.rates(), berths.weight(berths.nodes, 0));
        let (v, outputs) = match task {
            Task::Arrive => (berths.weight(1, 0), 2 * CONVOY),
            _ => (nodes, rates),
        };
        let registers = CONVOY * tape.registers;
        let lengths = Lengths { registers, q: rates, v, t: CONVOY, outputs, changes: berths.all() };
        let (n, kept) = (berths.n, berths.kept);
        let beside = if task.keeps() { kept } else { 0 } + if task.tells() { kept / 3 } else { 0 };
        let fits = match task {
            Task::Arrive => tape.coordinates == n && tape.outputs == 2 + kept,
            Task::Fresh => tape.coordinates == n && tape.outputs == 2 * n + beside,
            _ => tape.coordinates == n + kept && tape.outputs == 2 * n + beside,
        };
        if !fits {
            return None;
        }
        Self::of(tape, lengths, || Some(convoy(tape, berths, task, width)))
    }

    fn of(tape: &Tape, lengths: Lengths, program: impl FnOnce() -> Option<Program>) -> Option<Self> {
        if unavailable().is_some() || !lengths.can_be_counted() || !is_consistent(tape) {
            return None;
        }
        let assembled = assemble(&program()?);
        let mut memory = MmapMut::map_anon(assembled.bytes.len()).ok()?;
        memory.copy_from_slice(&assembled.bytes);
        let memory = memory.make_exec().ok()?;
        // SAFETY: the code at the start of this memory was made for the calling convention of `Entry`.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(memory.as_ptr()) };
        Some(Self { entry, lengths, scratch: assembled.scratch, memory })
    }

    /// The code of a tape for one state with packs of so many lanes, even if it would be shorter without; `None` if there are none.
    #[cfg(test)]
    pub(super) fn in_packs(width: Width, tape: &Tape) -> Option<Self> {
        let n = tape.coordinates;
        let lengths =
            Lengths { registers: tape.registers, q: n, v: n, t: 1, outputs: tape.outputs, changes: 0 };
        Self::of(tape, lengths, || in_packs(tape, width, &store).map(|program| roll(&program)))
    }

    /// How long it is, with its constants.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.memory.len()
    }

    /// Runs the code. `false` if that needs a function far from where it is fast: then the outputs mean nothing.
    #[inline]
    pub(crate) fn run(&self, arrays: Arrays<'_>) -> bool {
        let Arrays { registers, q, v, t, outputs, changes, scratch } = arrays;
        let lengths = &self.lengths;
        let fit = registers.len() == lengths.registers
            && q.len() == lengths.q
            && v.len() == lengths.v
            && t.len() == lengths.t
            && outputs.len() >= lengths.outputs
            && changes.len() >= lengths.changes
            && scratch.len() >= self.scratch;
        assert!(fit, "arrays as long as the code was made for");
        // SAFETY: the arrays are as long as the code was made for, as just checked, and do not overlap, because those it writes to are
        // borrowed mutably; the code lives as long as `self`.
        let gave_up = unsafe {
            (self.entry)(
                registers.as_ptr(),
                q.as_ptr(),
                v.as_ptr(),
                t.as_ptr(),
                outputs.as_mut_ptr(),
                scratch.as_mut_ptr(),
                changes.as_mut_ptr(),
            )
        };
        gave_up == 0
    }
}

impl Lengths {
    /// Places in arrays are counted in 31 bits of bytes.
    fn can_be_counted(&self) -> bool {
        [self.registers, self.q, self.v, self.outputs, self.changes]
            .iter()
            .all(|&length| length <= i32::MAX as usize / 8)
    }
}

/// Whether every register and output that a tape names lies within its own counts.
fn is_consistent(tape: &Tape) -> bool {
    tape.body.iter().all(|instruction| {
        let end = if instruction.action == Action::Store { tape.outputs } else { tape.registers };
        let registers =
            [instruction.a, instruction.b, instruction.c].iter().all(|&r| (r as usize) < tape.registers);
        registers && (instruction.target as usize) < end
    })
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("bytes", &self.memory.len()).field("lengths", &self.lengths).finish()
    }
}
