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
    let Instruction { a, b, c, .. } = *instruction;
    let list = match instruction.action {
        Action::MulAdd | Action::MulSub | Action::MulFrom => [Some(a), Some(b), Some(c)],
        Action::Add | Action::Sub | Action::Mul | Action::Div | Action::Binary(_) => [Some(a), Some(b), None],
        _ => [Some(a), None, None],
    };
    list.into_iter().flatten()
}

/// Where an operand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// An input, a constant, or what an earlier piece has computed.
    Register(u32),
    /// The first or second result of a step of this piece.
    Step(usize, usize),
}

/// An instruction whose operands are other instructions instead of registers.
pub(super) struct Step {
    pub(super) instruction: Instruction,
    /// As many of a, b and c as its action reads; the others mean nothing.
    pub(super) operands: [Source; 3],
}

impl Step {
    /// Where its operands come from.
    pub(super) fn reads(&self) -> &[Source] {
        &self.operands[..sources(&self.instruction).count()]
    }
    /// The steps it waits for.
    pub(super) fn waits_for(&self) -> impl Iterator<Item = usize> {
        self.reads().iter().filter_map(|source| match *source {
            Source::Step(index, _) => Some(index),
            Source::Register(_) => None,
        })
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
            let Instruction { a, b, c, .. } = instruction;
            let step = Step { instruction, operands: [a, b, c].map(source) };
            for (place, target) in targets(&instruction).enumerate() {
                written.insert(target, Source::Step(index, place));
            }
            step
        })
        .collect()
}

/// A partner for a function is looked for among so many steps, and so many are done early for it.
pub(super) const FAR: usize = 200;
const EARLY: usize = 12;

/// What has to be written before a step, in order, if that is little and simple and none of a group is among it.
pub(super) fn early(
    steps: &[Step],
    is_written: impl Fn(usize) -> bool,
    group: &[usize],
    step: usize,
) -> Option<Vec<usize>> {
    let mut list: Vec<usize> = Vec::new();
    let mut waiting: Vec<usize> = steps[step].waits_for().collect();
    while let Some(next) = waiting.pop() {
        if is_written(next) || list.contains(&next) {
            continue;
        }
        let simple = matches!(
            steps[next].instruction.action,
            Action::Add
                | Action::Sub
                | Action::Mul
                | Action::Div
                | Action::Neg
                | Action::MulAdd
                | Action::MulSub
                | Action::MulFrom
        );
        if group.contains(&next) || !simple || list.len() == EARLY {
            return None;
        }
        list.push(next);
        waiting.extend(steps[next].waits_for());
    }
    list.sort_unstable();
    Some(list)
}
