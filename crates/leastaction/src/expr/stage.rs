//! A stage of a splitting method in one pass: the forces at Q, a kick, a drift, and the next Q, as machine code.
//!
//! ```text
//! Δp += b h F(Q),  Δq += a h M⁻¹(p + Δp),  Q' = q + Δq
//! ```
//!
//! Forces are used where they are computed and never stored, so that a long chain goes through memory once. The masses are diagonal. What is
//! computed is what the stepper computes without machine code, in the same order. Code that may give up half way is not made, because Δp and
//! Δq are replaced in place.

use super::native::{Arrays, Code};
use super::tape::{Evaluator, Tape};
use crate::scalar::Real;
use std::sync::Arc;

/// A line of the cache, in numbers.
const LINE: usize = 8;

/// Where a stage finds and leaves its numbers: in an array of changes, and in one that stays the same but for the sizes of kick and drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Staging {
    /// How many coordinates there are.
    pub n: usize,
    /// Whether the first mass is that of all coordinates.
    pub equal_masses: bool,
}

impl Staging {
    /// From one list to the next, so that each begins at a line of the cache if the first one does.
    fn stride(&self) -> usize {
        self.n.next_multiple_of(LINE)
    }
    /// The length of the array of changes, where Δq begins, and where Δp.
    pub fn changes(&self) -> [usize; 3] {
        [2 * self.stride(), 0, self.stride()]
    }
    /// The length of the fixed array, and where q, p and 1/m begin.
    pub fn fixed(&self) -> [usize; 4] {
        [3 * self.stride() + 2, 0, self.stride(), 2 * self.stride()]
    }
    /// Where in the fixed array the sizes b h and a h are.
    pub fn sizes(&self) -> [usize; 2] {
        [3 * self.stride(), 3 * self.stride() + 1]
    }
}

/// The numbers of a stage.
#[derive(Debug)]
pub struct Stage<'a, R> {
    /// Q.
    pub q: &'a [R],
    /// The time there.
    pub t: &'a R,
    /// q and p at the start of the step, 1/m, and the sizes of kick and drift.
    pub fixed: &'a [R],
    /// Δq and Δp.
    pub changes: &'a mut [R],
    /// Q'.
    pub next: &'a mut [R],
}

/// The machine code of stages and its memory.
#[derive(Clone, Debug)]
pub(super) struct StageCode {
    code: Arc<Code>,
    scratch: Vec<f64>,
}

impl StageCode {
    pub(super) fn new(tape: &Tape, staging: Staging) -> Option<Self> {
        let code = tape.stage_code(staging)?;
        let scratch = vec![0.0; code.scratch()];
        Some(Self { code, scratch })
    }
}

impl<R: Real> Evaluator<R> {
    /// Whether there is machine code for stages.
    #[inline]
    pub fn has_stages(&self) -> bool {
        self.stages.is_some()
    }

    /// Does a stage with the outputs as forces. `false` if there is no machine code for it; then nothing has changed.
    #[inline]
    pub fn advance(&mut self, stage: Stage<'_, R>) -> bool {
        let Stage { q, t, fixed, changes, next } = stage;
        if let Some(StageCode { code, scratch }) = &mut self.stages
            && let (Some(registers), Some(q), Some([t]), Some(v), Some(changes), Some(outputs)) = (
                R::as_f64s_mut(&mut self.registers),
                R::as_f64s(q),
                R::as_f64s(std::slice::from_ref(t)),
                R::as_f64s(fixed),
                R::as_f64s_mut(changes),
                R::as_f64s_mut(next),
            )
        {
            return code.run(Arrays { registers, q, v, t: &[*t], outputs, changes, scratch });
        }
        false
    }
}
