//! A program for one state in which alike formulas are computed four or eight at a time.
//!
//! Packs and single steps are written when what they need is written, from the outputs backwards, with a stack of its own because tapes may
//! be deep. A single step that needs one lane of a pack takes it out; a pack that needs single numbers puts them side by side.

use super::pack::{Pack, Packs, Shift, Whole};
use super::program::{Array, Emit, Program, Width};
use super::translate::{Output, apply, place_of};
use crate::expr::native::steps::{Source, Step};
use crate::expr::tape::{Action, Tape};
use std::cell::RefCell;

/// The program of a tape with packs.
pub(super) fn translate<const LANES: usize>(
    tape: &Tape,
    steps: &[Step],
    packs: &Packs<LANES>,
    output: Output<'_>,
) -> Program {
    let program = RefCell::new(Program::default());
    let mut writer = Writer {
        coordinates: tape.coordinates as u32,
        program: &program,
        steps,
        packs,
        values: vec![None; packs.packs.len()],
        results: vec![None; steps.len()],
    };
    for (i, step) in steps.iter().enumerate() {
        if step.instruction.action != Action::Store || packs.stored[i] {
            continue;
        }
        if let Some(&pack) = packs.stores.get(&i) {
            writer.write(Unit::Pack(pack));
            output(step.instruction.target, writer.value(pack, 0));
        } else {
            if let Source::Step(other, _) = step.operands[0] {
                writer.write(Unit::Step(other));
            }
            output(step.instruction.target, writer.read(step.operands[0]));
        }
    }
    drop(writer);
    program.into_inner()
}

#[derive(Clone, Copy)]
enum Unit {
    Pack(usize),
    Step(usize),
}

struct Writer<'a, 'p, const LANES: usize> {
    coordinates: u32,
    program: &'p RefCell<Program>,
    steps: &'a [Step],
    packs: &'a Packs<LANES>,
    /// What is written: packs and single steps, both with a second result if they have one.
    values: Vec<Option<[Emit<'p>; 2]>>,
    results: Vec<Option<[Emit<'p>; 2]>>,
}

impl<'p, const LANES: usize> Writer<'_, 'p, LANES> {
    const WIDTH: Width = if LANES == 8 { Width::Eight } else { Width::Four };

    /// Writes something and all that it needs.
    fn write(&mut self, unit: Unit) {
        let mut stack = vec![unit];
        while let Some(&unit) = stack.last() {
            let before = stack.len();
            if !self.is_written(unit) {
                self.push_missing(unit, &mut stack);
                if stack.len() > before {
                    continue;
                }
                match unit {
                    Unit::Pack(pack) => self.values[pack] = Some(self.pack(pack)),
                    Unit::Step(step) => self.results[step] = Some(self.step(step)),
                }
            }
            stack.pop();
        }
    }

    fn is_written(&self, unit: Unit) -> bool {
        match unit {
            Unit::Pack(pack) => self.values[pack].is_some(),
            Unit::Step(step) => self.results[step].is_some(),
        }
    }

    /// What a unit needs that is not there yet.
    fn push_missing(&self, unit: Unit, stack: &mut Vec<Unit>) {
        let mut need = |unit: Unit| {
            if !self.is_written(unit) {
                stack.push(unit);
            }
        };
        match unit {
            Unit::Step(step) => match self.packs.home[step] {
                Some((pack, _)) => need(Unit::Pack(pack)),
                None => self.steps[step].waits_for().for_each(|other| need(Unit::Step(other))),
            },
            Unit::Pack(pack) => match self.packs.packs[pack] {
                Pack::Inputs(_) | Pack::Same(Source::Register(_)) => {}
                Pack::Same(Source::Step(step, _)) => need(Unit::Step(step)),
                Pack::Result { pack, .. } => need(Unit::Pack(pack)),
                Pack::Steps { operands, .. } => {
                    operands.into_iter().flatten().for_each(|pack| need(Unit::Pack(pack)));
                }
                Pack::Mixed(group) => match self.packs.shift(&group) {
                    Some(Shift { first, second, .. }) => {
                        for whole in [first, second] {
                            match whole {
                                Whole::Result { pack, .. } => need(Unit::Pack(pack)),
                                Whole::Same(Source::Step(step, _)) => need(Unit::Step(step)),
                                Whole::Same(Source::Register(_)) => {}
                            }
                        }
                    }
                    None => {
                        for source in group {
                            if let Source::Step(step, _) = source {
                                need(Unit::Step(step));
                            }
                        }
                    }
                },
            },
        }
    }

    /// A result of a pack that is written.
    fn value(&self, pack: usize, place: usize) -> Emit<'p> {
        self.values[pack].map_or_else(|| self.nothing(), |values| values[place])
    }

    /// What nobody reads: all that a unit needs is written before it.
    fn nothing(&self) -> Emit<'p> {
        Emit::broadcast(self.program, Array::Time, 0, Self::WIDTH)
    }

    /// An operand that is written, or an input.
    fn read(&self, source: Source) -> Emit<'p> {
        match source {
            Source::Step(step, place) => match self.results[step] {
                Some(results) => results[place],
                None => self.nothing(),
            },
            Source::Register(register) => {
                let (array, place) = place_of(register, self.coordinates);
                Emit::load(self.program, array, place, Width::One)
            }
        }
    }

    fn step(&self, step: usize) -> [Emit<'p>; 2] {
        if let Some((pack, lane)) = self.packs.home[step] {
            return [0, 1].map(|place| self.value(pack, place).lane(lane));
        }
        let Step { instruction, operands } = self.steps[step];
        apply(instruction.action, self.read(operands[0]), |k| self.read(operands[k]))
    }

    fn pack(&self, pack: usize) -> [Emit<'p>; 2] {
        let one = match self.packs.packs[pack] {
            Pack::Same(source) => self.whole(Whole::Same(source)),
            Pack::Inputs(first) => {
                let (array, place) = place_of(first, self.coordinates);
                Emit::load(self.program, array, place, Self::WIDTH)
            }
            Pack::Result { pack, place } => self.whole(Whole::Result { pack, place }),
            Pack::Steps { members, operands } => {
                let action = self.steps[members[0]].instruction.action;
                let operand =
                    |k: usize| operands[k].map_or_else(|| self.nothing(), |pack| self.value(pack, 0));
                return apply(action, operand(0), operand);
            }
            Pack::Mixed(group) => self.mixed(&group),
        };
        [one; 2]
    }

    fn whole(&self, whole: Whole) -> Emit<'p> {
        match whole {
            Whole::Result { pack, place } => self.value(pack, place),
            Whole::Same(Source::Register(register)) => {
                let (array, place) = place_of(register, self.coordinates);
                Emit::broadcast(self.program, array, place, Self::WIDTH)
            }
            Whole::Same(source) => self.read(source).spread(Self::WIDTH),
        }
    }

    fn mixed(&self, group: &[Source; LANES]) -> Emit<'p> {
        match self.packs.shift(group) {
            Some(Shift { first, second, by }) => self.whole(first).shifted(self.whole(second), by),
            None => Emit::side_by_side(&group.map(|source| self.read(source))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::program::Operation;
    use super::super::translate::{in_packs, store, translate};
    use super::*;
    use crate::expr::Graph;
    use crate::expr::graph::NodeId;

    /// V'(x_i − x_{i−1}) − V'(x_{i+1} − x_i) of a chain of n particles between walls, for springs d + d³.
    fn chain(n: usize) -> Tape {
        let mut graph = Graph::new();
        let spring = |graph: &mut Graph, i: usize| {
            let zero = graph.number(0.0);
            let left = if i == 0 { zero } else { graph.coordinate(i - 1) };
            let right = if i == n { zero } else { graph.coordinate(i) };
            let d = graph.sub(right, left);
            let square = graph.mul(d, d);
            let cube = graph.mul(square, d);
            graph.add(d, cube)
        };
        let springs: Vec<NodeId> = (0..=n).map(|i| spring(&mut graph, i)).collect();
        let outputs: Vec<NodeId> = springs.windows(2).map(|pair| graph.sub(pair[1], pair[0])).collect();
        Tape::new(&graph, n, &outputs)
    }

    fn wide_operations(program: &Program) -> usize {
        let wide = |(operation, width): &&(Operation, Width)| {
            *width == Width::Four && !matches!(operation, Operation::Load(..))
        };
        program.operations.iter().filter(wide).count()
    }

    #[test]
    fn springs_of_a_chain_are_computed_four_at_a_time_and_once() {
        let tape = chain(100);
        let program = translate(&tape, Width::Four);
        // a difference, two operations of a spring, two to move the springs by one, a difference and a store, for four particles
        let (cost, wide) = (program.cost(), wide_operations(&program));
        assert!(cost <= 25 * 7 + 30 && wide >= 23 * 7, "{cost} instructions, {wide} of them wide");
        assert!(3 * cost < tape.len() + tape.outputs());
    }

    #[test]
    fn short_chains_have_nothing_to_pack() {
        assert!(in_packs(&chain(3), Width::Four, &store).is_none());
    }

    #[test]
    fn what_waits_for_its_neighbour_is_not_packed() {
        // x_0, x_0 x_1, x_0 x_1 x_2, …
        let mut graph = Graph::new();
        let mut product = graph.coordinate(0);
        let outputs: Vec<NodeId> = (1..20)
            .map(|i| {
                let next = graph.coordinate(i);
                product = graph.mul(product, next);
                product
            })
            .collect();
        let tape = Tape::new(&graph, 20, &outputs);
        assert!(in_packs(&tape, Width::Four, &store).is_none());
        assert_eq!(wide_operations(&translate(&tape, Width::Four)), 0);
    }

    #[test]
    fn numbers_from_everywhere_are_left_alone() {
        // x_i · x_{7i mod 31}: bringing the second factors together costs more than is saved
        let mut graph = Graph::new();
        let outputs: Vec<NodeId> = (0..28)
            .map(|i| {
                let (a, b) = (graph.coordinate(i), graph.coordinate(7 * i % 31));
                graph.mul(a, b)
            })
            .collect();
        assert_eq!(wide_operations(&translate(&Tape::new(&graph, 31, &outputs), Width::Four)), 0);
    }
}
