//! Loops instead of straight lines: a long chain does the same to one pack of particles after the other.
//!
//! A stretch of a program becomes a loop if each part of it, its *turn*, does what the turn before did, with places in memory that move on
//! by one stride or stay, and with values of the same turn, of the turn before, or from before the loop. The order of operations stays as it
//! was, and so do their results. What a turn leaves to the next one is carried in registers; what anybody reads later must come from the
//! last turn, so a loop ends where something else is read.

use super::program::{Operation, Program, ValueId, Width};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Fewer turns than this are written out.
const FEWEST: usize = 4;
/// The longest turn, in operations, and the most stores in one.
const LONGEST: usize = 1000;
const STORES: usize = 6;
/// So many registers hold what all turns need; the others are for the turn.
const HELD: usize = 8;

/// The same program with loops where it repeats itself.
pub(super) fn roll(program: Program) -> Program {
    let line = Line::new(&program);
    let mut rolled = Rolled {
        line: &line,
        result: Program::with_table_of(&program),
        names: vec![0; line.operations.len()],
        sources: FxHashMap::default(),
    };
    let mut at = 0;
    for repetition in line.repetitions() {
        for turns in line.pieces(&repetition) {
            let start = repetition.start + turns.start * repetition.period;
            rolled.write(at..start);
            at = repetition.start + turns.end * repetition.period;
            rolled.write_loop(&Repetition { start, turns: turns.len(), ..repetition.clone() });
        }
    }
    rolled.write(at..line.operations.len());
    rolled.result
}

/// What an operation reads.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operand {
    /// The result of an operation of the line.
    Value(usize),
    /// A load or a constant.
    Source(Operation, Width),
}

/// The operations of a program that are instructions.
struct Line {
    operations: Vec<(Operation, Width, [Option<Operand>; 3])>,
    /// Who reads the result of each last.
    last_reader: Vec<usize>,
    stores: Vec<usize>,
}

/// How an operand or a place in memory goes from turn to turn.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Course {
    Stays,
    Moves,
}

#[derive(Clone)]
struct Repetition {
    start: usize,
    /// Operations in a turn.
    period: usize,
    turns: usize,
    /// Bytes from turn to turn.
    stride: i32,
    /// For each operation of a turn how its operands go.
    courses: Vec<[Option<Course>; 3]>,
}

impl Line {
    fn new(program: &Program) -> Self {
        let needed = program.needed();
        let mut place = vec![0; program.operations.len()];
        let mut line = Self { operations: Vec::new(), last_reader: Vec::new(), stores: Vec::new() };
        for (i, &(operation, width)) in program.operations.iter().enumerate() {
            if !needed[i] || operation.is_source() {
                continue;
            }
            let at = line.operations.len();
            place[i] = at;
            let mut operands = [None; 3];
            for (operand, value) in operands.iter_mut().zip(operation.operands()) {
                let (source, width) = program.operations[value as usize];
                *operand = Some(if source.is_source() {
                    Operand::Source(source, width)
                } else {
                    line.last_reader[place[value as usize]] = at;
                    Operand::Value(place[value as usize])
                });
            }
            if let Operation::Store(..) = operation {
                line.stores.push(at);
            }
            line.operations.push((operation, width, operands));
            line.last_reader.push(at);
        }
        line
    }

    /// Where the line repeats itself, one after the other. A turn ends with a store.
    fn repetitions(&self) -> Vec<Repetition> {
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
                end = repetition.start + repetition.turns * repetition.period;
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
        (self.carried(&repetition).len() <= HELD).then_some(repetition)
    }

    /// What the first turn reads of what each turn leaves to the next one.
    fn carried(&self, repetition: &Repetition) -> Vec<usize> {
        let mut carried: Vec<usize> = Vec::new();
        for (i, courses) in repetition.courses.iter().enumerate() {
            let (_, _, operands) = self.operations[repetition.start + i];
            for (operand, course) in operands.into_iter().zip(courses) {
                if let (Some(Operand::Value(value)), Some(Course::Moves)) = (operand, course)
                    && value < repetition.start
                    && !carried.contains(&value)
                {
                    carried.push(value);
                }
            }
        }
        carried
    }

    /// The turns of a repetition that can be loops: those before the last one of each leave nothing to later readers.
    fn pieces(&self, repetition: &Repetition) -> Vec<Range<usize>> {
        let &Repetition { start, period, turns, .. } = repetition;
        let mut pieces = Vec::new();
        let mut first = 0;
        for turn in 0..turns {
            let own = start + turn * period..start + (turn + 1) * period;
            let is_last =
                turn + 1 == turns || self.last_reader[own.clone()].iter().any(|&r| r >= own.end + period);
            if is_last {
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
                // of the same turn or the one before, which is as wide before the first turn
                let turn = self.start + (at - self.start) / self.period * self.period;
                let width = |value: usize| self.line.operations[value].1;
                (value + self.period >= turn && width(value) == width(later)).then_some(Course::Moves)
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
        let carried: Vec<(usize, ValueId)> =
            self.line.carried(repetition).into_iter().map(|at| (at, self.carry(at))).collect();
        for value in fixed.iter().take(HELD.saturating_sub(carried.len())) {
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
                    (Operand::Value(value), Some(Course::Moves)) => carried
                        .iter()
                        .find(|(before, _)| *before == value)
                        .map_or(self.names[value], |(_, name)| *name),
                    _ => self.name(operand),
                });
            }
            self.push(at, operation, width, names);
        }
        for (before, name) in carried {
            let (_, width, _) = self.line.operations[before];
            self.result.push(Operation::Carry(name, self.names[before + period]), width);
        }
        for value in fixed {
            self.result.push(Operation::Keep(value), Width::Four);
        }
        self.result.push(Operation::LoopEnd { turns: turns as i32, stride }, Width::Four);
        // what later operations read is what the last turn has made
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

#[cfg(test)]
mod tests {
    use super::super::translate::translate;
    use super::*;
    use crate::system::Quantity;
    use crate::system::catalogue;

    #[test]
    fn tmp() {
        let mut sizes = std::collections::BTreeMap::from([("n".to_owned(), Quantity::Number(40.0))]);
        let system = catalogue::sized_system("fput", &mut sizes).unwrap();
        let tape = system.model.force_tape();
        let p = translate(&tape);
        println!("{}", p.operations.len());
        let r = roll(p);
        for (i, o) in r.operations.iter().enumerate() {
            println!("{i} {o:?}");
        }
    }
}
