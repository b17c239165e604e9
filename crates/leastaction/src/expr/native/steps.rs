//! A tape without its registers: instructions that name the instructions whose results they read.

use crate::expr::tape::{Action, Instruction};
use rustc_hash::FxHashMap;

/// The registers that an instruction writes.
pub(super) fn targets(instruction: &Instruction) -> impl Iterator<Item = u32> {
    let pair = match instruction.action {
        Action::Store => [None, None],
        Action::SinCos => [Some(instruction.target), Some(instruction.b)],
        _ => [Some(instruction.target), None],
    };
    pair.into_iter().flatten()
}

/// The registers that an instruction reads.
pub(super) fn sources(instruction: &Instruction) -> impl Iterator<Item = u32> {
    let second = match instruction.action {
        Action::Add | Action::Sub | Action::Mul | Action::Div | Action::Binary(_) => Some(instruction.b),
        _ => None,
    };
    [Some(instruction.a), second].into_iter().flatten()
}

/// Where an operand comes from.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// An input, a constant, or what an earlier piece has computed.
    Register(u32),
    /// The first or second result of a step of this piece.
    Step(usize, usize),
}

/// An instruction whose operands are other instructions instead of registers.
pub(super) struct Step {
    pub(super) instruction: Instruction,
    pub(super) a: Source,
    pub(super) b: Source,
}

impl Step {
    /// The steps it waits for.
    pub(super) fn waits_for(&self) -> impl Iterator<Item = usize> {
        let step = |source: Source| match source {
            Source::Step(index, _) => Some(index),
            Source::Register(_) => None,
        };
        let second = if sources(&self.instruction).count() == 2 { step(self.b) } else { None };
        step(self.a).into_iter().chain(second)
    }
}

/// A piece of a tape without its registers.
pub(super) fn steps(body: &[Instruction]) -> Vec<Step> {
    let mut written: FxHashMap<u32, Source> = FxHashMap::default();
    body.iter()
        .enumerate()
        .map(|(index, &instruction)| {
            let source =
                |register: u32| written.get(&register).copied().unwrap_or(Source::Register(register));
            let step = Step { instruction, a: source(instruction.a), b: source(instruction.b) };
            for (place, target) in targets(&instruction).enumerate() {
                written.insert(target, Source::Step(index, place));
            }
            step
        })
        .collect()
}
