//! Loops instead of straight lines: a long chain does the same to one pack of particles after the other.
//!
//! Where a program repeats itself (`repeat`), one turn is written and done again and again, after `overlap` has let turns overlap. What turns
//! leave to later ones is carried in registers. No operation changes, so results do not either.

use super::overlap::overlapped;
use super::program::{Operation, Program, ValueId, Width};
use super::repeat::{Course, Line, Operand, Repetition};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// So many registers hold what turns read of others, if it is not more that they leave to each other; the rest is for the turn itself.
pub(super) const HELD: usize = 8;
/// The same where all that a turn does has eight lanes.
const HELD_OF_EIGHT: usize = 22;

/// The same program with loops where it repeats itself.
pub(super) fn roll(program: &Program) -> Program {
    let line = overlapped(Line::new(program));
    let mut rolled = Rolled {
        line: &line,
        result: Program::with_table_of(program),
        names: vec![0; line.operations.len()],
        sources: FxHashMap::default(),
    };
    let mut at = 0;
    for repetition in line.repetitions() {
        for turns in line.pieces(&repetition) {
            let start = repetition.start + turns.start * repetition.period;
            let piece = Repetition { start, turns: turns.len(), ..repetition.clone() };
            rolled.write(at..start);
            rolled.write_loop(&piece);
            at = piece.end();
        }
    }
    rolled.write(at..line.operations.len());
    rolled.result
}

/// The program under construction.
struct Rolled<'a> {
    line: &'a Line,
    result: Program,
    /// What the results of the line are called now.
    names: Vec<ValueId>,
    /// Loads and constants of the present stretch.
    sources: FxHashMap<(Operation, Width), ValueId>,
}

impl Rolled<'_> {
    /// Writes a stretch as it is.
    fn write(&mut self, stretch: Range<usize>) {
        for at in stretch {
            let (operation, width, operands) = self.line.operations[at];
            let names = operands.map(|operand| operand.map(|operand| self.name(operand)));
            self.push(at, operation, width, names);
        }
    }

    fn push(&mut self, at: usize, operation: Operation, width: Width, names: [Option<ValueId>; 3]) {
        let mut names = names.into_iter().flatten();
        let operation = operation.renamed(|old| names.next().unwrap_or(old));
        self.names[at] = self.result.push(operation, width);
    }

    fn name(&mut self, operand: Operand) -> ValueId {
        match operand {
            Operand::Value(at) => self.names[at],
            Operand::Source(source, width) => {
                *self.sources.entry((source, width)).or_insert_with(|| self.result.push(source, width))
            }
        }
    }

    fn write_loop(&mut self, repetition: &Repetition) {
        let &Repetition { start, period, turns, stride, ref courses } = repetition;
        let turn = start..start + period;
        let fixed = self.fixed(repetition);
        let before = self.line.carried(repetition);
        let carried: FxHashMap<usize, ValueId> = before.iter().map(|&at| (at, self.carry(at))).collect();
        let held = if self.line.has_eight_lanes(repetition) { HELD_OF_EIGHT } else { HELD };
        for value in fixed.iter().take(held.saturating_sub(carried.len())) {
            self.result.push(Operation::Hold(*value), Width::Four);
        }
        self.result.push(Operation::LoopStart, Width::Four);
        let mut moving: FxHashMap<(Operation, Width), ValueId> = FxHashMap::default();
        for at in turn {
            let (operation, width, operands) = self.line.operations[at];
            let mut names = [None; 3];
            for i in 0..3 {
                names[i] = operands[i].map(|operand| match (operand, courses[at - start][i]) {
                    (Operand::Source(source, width), Some(Course::Moves)) => {
                        *moving.entry((source, width)).or_insert_with(|| self.result.push(source, width))
                    }
                    (Operand::Value(value), Some(Course::Moves)) => {
                        carried.get(&value).copied().unwrap_or(self.names[value])
                    }
                    _ => self.name(operand),
                });
            }
            self.push(at, operation, width, names);
        }
        // from the oldest on, before it is replaced by the next one
        for &at in &before {
            let (_, width, _) = self.line.operations[at];
            let next = carried.get(&(at + period)).copied().unwrap_or(self.names[at + period]);
            self.result.push(Operation::Carry(carried[&at], next), width);
        }
        for value in fixed {
            self.result.push(Operation::Keep(value), Width::Four);
        }
        self.result.push(Operation::LoopEnd { turns: turns as i32, stride }, Width::Four);
        // what later operations read is what the last turn has left, or made
        for (at, name) in carried {
            self.names[at + turns * period] = name;
        }
        for at in start..start + period {
            self.names[at + (turns - 1) * period] = self.names[at];
        }
    }

    /// A register for what turns leave to the next one, with what the first turn reads.
    fn carry(&mut self, at: usize) -> ValueId {
        let (_, width, _) = self.line.operations[at];
        self.result.push(Operation::Carried(self.names[at]), width)
    }

    /// What all turns read, the most wanted first.
    fn fixed(&mut self, repetition: &Repetition) -> Vec<ValueId> {
        let mut readers: Vec<(ValueId, usize)> = Vec::new();
        for (i, courses) in repetition.courses.iter().enumerate() {
            let (_, _, operands) = self.line.operations[repetition.start + i];
            for (operand, course) in operands.into_iter().zip(courses) {
                if let (Some(operand), Some(Course::Stays)) = (operand, course) {
                    let name = self.name(operand);
                    match readers.iter_mut().find(|(other, _)| *other == name) {
                        Some((_, count)) => *count += 1,
                        None => readers.push((name, 1)),
                    }
                }
            }
        }
        readers.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        readers.into_iter().map(|(name, _)| name).collect()
    }
}
