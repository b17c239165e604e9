//! Where a program repeats itself.
//!
//! A stretch of it is a repetition if each part, its *turn*, does what the turn before did, with places in memory that move on by one stride or
//! stay, and with values of the same turn, of one of the turns before, or from before the repetition.

use super::program::{Operation, Program, Width};
use std::ops::Range;

/// Fewer turns than this are no repetition: more than a value lasts.
const FEWEST: usize = FURTHEST + 1;
/// The longest turn, in operations, and the most stores in one.
const LONGEST: usize = 1000;
const STORES: usize = 6;
/// So many turns later a value may be read.
pub(super) const FURTHEST: usize = 5;
/// So many registers carry values to later turns at most; the others are for the turn itself.
const CARRIED: usize = 10;

/// What an operation reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operand {
    /// The result of an operation of the line.
    Value(usize),
    /// A load or a constant.
    Source(Operation, Width),
}

/// An operation, how many numbers it makes, and what it reads.
pub(super) type Instruction = (Operation, Width, [Option<Operand>; 3]);

/// The operations of a program that are instructions.
#[derive(Default)]
pub(super) struct Line {
    pub(super) operations: Vec<Instruction>,
    /// Who reads the result of each last.
    last_reader: Vec<usize>,
    stores: Vec<usize>,
}

/// How an operand or a place in memory goes from turn to turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Course {
    Stays,
    Moves,
}

#[derive(Clone)]
pub(super) struct Repetition {
    pub(super) start: usize,
    /// Operations in a turn.
    pub(super) period: usize,
    pub(super) turns: usize,
    /// Bytes from turn to turn.
    pub(super) stride: i32,
    /// For each operation of a turn how its operands go.
    pub(super) courses: Vec<[Option<Course>; 3]>,
}

impl Repetition {
    /// Where it ends.
    pub(super) fn end(&self) -> usize {
        self.start + self.turns * self.period
    }
}

impl Line {
    pub(super) fn new(program: &Program) -> Self {
        let needed = program.needed();
        let mut place = vec![0; program.operations.len()];
        let mut line = Self::default();
        for (i, &(operation, width)) in program.operations.iter().enumerate() {
            if !needed[i] || operation.is_source() {
                continue;
            }
            let mut operands = [None; 3];
            for (operand, value) in operands.iter_mut().zip(operation.operands()) {
                let (source, width) = program.operations[value as usize];
                *operand = Some(match source.is_source() {
                    true => Operand::Source(source, width),
                    false => Operand::Value(place[value as usize]),
                });
            }
            place[i] = line.operations.len();
            line.push((operation, width, operands));
        }
        line
    }

    fn push(&mut self, operation: Instruction) {
        let at = self.operations.len();
        for operand in operation.2.into_iter().flatten() {
            if let Operand::Value(value) = operand {
                self.last_reader[value] = at;
            }
        }
        if let Operation::Store(..) = operation.0 {
            self.stores.push(at);
        }
        self.operations.push(operation);
        self.last_reader.push(at);
    }

    /// The same operations in another order, if each still comes after those that it reads.
    pub(super) fn in_order(&self, order: &[usize]) -> Option<Self> {
        let mut place = vec![None; self.operations.len()];
        let mut line = Self::default();
        for (new, &old) in order.iter().enumerate() {
            place[old] = Some(new);
            let (operation, width, mut operands) = self.operations[old];
            for operand in operands.iter_mut().flatten() {
                if let Operand::Value(value) = operand {
                    *value = place[*value]?;
                }
            }
            line.push((operation, width, operands));
        }
        Some(line)
    }

    /// Where the line repeats itself, one after the other. A turn ends with a store.
    pub(super) fn repetitions(&self) -> Vec<Repetition> {
        let mut found: Vec<Repetition> = Vec::new();
        let mut end = 0;
        for (i, &store) in self.stores.iter().enumerate() {
            if store + 1 < end {
                continue;
            }
            let candidates = self.stores[i + 1..].iter().take(STORES).map(|next| next - store);
            let repetition = candidates
                .take_while(|&period| period <= LONGEST)
                .filter_map(|period| self.repetition(store + 1, period))
                .find(|repetition| repetition.turns >= FEWEST);
            if let Some(repetition) = repetition {
                end = repetition.end();
                found.push(repetition);
            }
        }
        found
    }

    /// How often turns of a length repeat from a place on.
    fn repetition(&self, start: usize, period: usize) -> Option<Repetition> {
        let mut pair = Pair { line: self, start, period, stride: None };
        let mut courses = Vec::with_capacity(period);
        for at in start..start + period {
            courses.push(pair.courses(at)?);
        }
        let mut turns = 2;
        while (0..period)
            .all(|i| pair.courses(start + (turns - 1) * period + i).is_some_and(|found| found == courses[i]))
        {
            turns += 1;
        }
        let repetition = Repetition { start, period, turns, stride: pair.stride?, courses };
        let carried = self.carried(&repetition);
        let width = |at: usize| self.operations[at].1;
        let fits = carried.len() <= CARRIED && carried.iter().all(|&at| width(at) == width(at + period));
        fits.then_some(repetition)
    }

    /// Whether all that a turn does has eight lanes, for which there are twice as many registers.
    pub(super) fn has_eight_lanes(&self, repetition: &Repetition) -> bool {
        let turn = &self.operations[repetition.start..][..repetition.period];
        turn.iter().all(|(_, width, _)| *width == Width::Eight)
    }

    /// What turns leave to later ones, by what is there before the first turn, in order: what the first turn reads, and what goes through it
    /// to the next ones.
    pub(super) fn carried(&self, repetition: &Repetition) -> Vec<usize> {
        let mut carried: Vec<usize> = Vec::new();
        for (i, courses) in repetition.courses.iter().enumerate() {
            let (_, _, operands) = self.operations[repetition.start + i];
            for (operand, course) in operands.into_iter().zip(courses) {
                if let (Some(Operand::Value(value)), Some(Course::Moves)) = (operand, course) {
                    carried.extend((value..repetition.start).step_by(repetition.period));
                }
            }
        }
        carried.sort_unstable();
        carried.dedup();
        carried
    }

    /// The turns of a repetition that can be loops. Who comes later finds what the last turn has made and what it would leave to the next
    /// one, so a loop ends with the turn of which something else is read.
    pub(super) fn pieces(&self, repetition: &Repetition) -> Vec<Range<usize>> {
        let &Repetition { start, period, turns, .. } = repetition;
        let carried = self.carried(repetition);
        let is_left = |at: usize| carried.binary_search(&(at - turns * period)).is_ok();
        let is_read_later =
            |at: usize| self.last_reader[at] >= repetition.end() && !(at >= turns * period && is_left(at));
        let mut pieces = Vec::new();
        let mut first = 0;
        for turn in 0..turns {
            let mut own = start + turn * period..start + (turn + 1) * period;
            if turn + 1 == turns || own.any(is_read_later) {
                pieces.push(first..turn + 1);
                first = turn + 1;
            }
        }
        pieces.retain(|piece| piece.len() >= FEWEST);
        pieces
    }
}

/// Turns that follow one another.
struct Pair<'a> {
    line: &'a Line,
    start: usize,
    period: usize,
    stride: Option<i32>,
}

impl Pair<'_> {
    /// How the operands of an operation go on to the next turn, if that does the same. A broadcast and a store move.
    fn courses(&mut self, at: usize) -> Option<[Option<Course>; 3]> {
        let (first, width, operands) = self.line.operations[at];
        let &(second, next_width, next_operands) = self.line.operations.get(at + self.period)?;
        let same = match (first, second) {
            (Operation::Store(array, place, _), Operation::Store(other, next, _))
            | (Operation::Broadcast(array, place), Operation::Broadcast(other, next)) => {
                array == other && self.course(place, next)? == Course::Moves
            }
            _ => first.renamed(|_| 0) == second.renamed(|_| 0),
        };
        if !same || width != next_width {
            return None;
        }
        let mut courses = [None; 3];
        for i in 0..3 {
            if let (Some(operand), Some(next)) = (operands[i], next_operands[i]) {
                courses[i] = Some(self.operand(at, operand, next)?);
            }
        }
        Some(courses)
    }

    fn operand(&mut self, at: usize, operand: Operand, next: Operand) -> Option<Course> {
        match (operand, next) {
            (
                Operand::Source(Operation::Load(array, place), width),
                Operand::Source(Operation::Load(other, goal), next),
            ) => {
                if array == other && width == next {
                    self.course(place, goal)
                } else {
                    None
                }
            }
            (Operand::Value(value), Operand::Value(later)) if later == value + self.period => {
                // of the same turn or of one before
                let turn = self.start + (at - self.start) / self.period * self.period;
                (value + FURTHEST * self.period >= turn).then_some(Course::Moves)
            }
            (Operand::Value(value), Operand::Value(_)) if value >= self.start => None,
            _ => (operand == next).then_some(Course::Stays),
        }
    }

    fn course(&mut self, place: i32, next: i32) -> Option<Course> {
        if place == next {
            return Some(Course::Stays);
        }
        let stride = *self.stride.get_or_insert(next - place);
        (stride == next - place).then_some(Course::Moves)
    }
}
