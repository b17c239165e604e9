//! From a tape to a straight-line program.
//!
//! For one state, formulas that are alike go through the lanes of one register where that saves instructions (`pack`, `packed`). Otherwise functions that do not wait for each other go through the lanes of one register, up to four at once: a sine costs
//! hundreds of times what it costs to put numbers side by side. For several states each lane is a state and nothing is rearranged.

use super::pack::Packs;
use super::packed;
use super::program::{Array, Emit, Fusion, Program, Width};
use crate::expr::graph::{Binary, Unary};
use crate::expr::native::steps::{FAR, Source, Step, early, steps};
use crate::expr::tape::{Action, Tape};
use crate::scalar::elementary::{self, Lanes};
use std::cell::RefCell;

/// So many functions that do not wait for each other are computed at once.
const TOGETHER: usize = 4;

/// What is done with an output of a tape, or with a pack of neighbours from it on.
pub(super) type Output<'a> = &'a dyn for<'p> Fn(u32, Emit<'p>);

/// The program of a tape for one state, in registers of so many lanes at most.
pub(super) fn translate(tape: &Tape, widest: Width) -> Program {
    translate_to(tape, widest, &store)
}

/// The program of a tape for one state that does something else than storing its outputs: the shortest of those with wider and narrower
/// packs and without any.
pub(super) fn translate_to(tape: &Tape, widest: Width, output: Output<'_>) -> Program {
    let mut shortest: Option<(usize, Program)> = None;
    for width in [Width::Eight, Width::Four] {
        // with so many lanes an instruction does no more than so many of the tape
        let is_short = |(cost, _): &(usize, Program)| *cost < tape.len() / width.lanes();
        if width.lanes() <= widest.lanes()
            && !shortest.as_ref().is_some_and(is_short)
            && let Some(program) = in_packs(tape, width, output)
        {
            shortest = Some(shorter(shortest, program));
        }
    }
    match shortest {
        Some((cost, program)) if cost < tape.len() => program,
        Some(packed) => shorter(Some(packed), one_by_one(tape, output)).1,
        None => one_by_one(tape, output),
    }
}

/// The shorter one of two programs, and its cost; the second one if they are equal.
fn shorter(first: Option<(usize, Program)>, second: Program) -> (usize, Program) {
    let cost = second.cost();
    match first {
        Some(first) if first.0 < cost => first,
        _ => (cost, second),
    }
}

pub(super) fn store(index: u32, value: Emit<'_>) {
    value.store(Array::Outputs, 8 * index as i32);
}

/// The program with alike formulas as many at a time as a width has lanes, if there are any.
pub(super) fn in_packs(tape: &Tape, width: Width, output: Output<'_>) -> Option<Program> {
    match width {
        Width::Eight => in_packs_of::<8>(tape, output),
        Width::Four => in_packs_of::<4>(tape, output),
        Width::Two | Width::One => None,
    }
}

fn in_packs_of<const LANES: usize>(tape: &Tape, output: Output<'_>) -> Option<Program> {
    let n = tape.coordinates as u32;
    let steps = steps(&tape.body);
    // neighbours in memory are those of one array
    let packs = Packs::<LANES>::new(&steps, &|register| place_of(register, n).0 as u32);
    (!packs.stores.is_empty()).then(|| packed::translate(tape, &steps, &packs, output))
}

fn one_by_one(tape: &Tape, output: Output<'_>) -> Program {
    let program = RefCell::new(Program::default());
    let n = tape.coordinates as u32;
    let input = |register: u32| {
        let (array, place) = place_of(register, n);
        Emit::load(&program, array, place, Width::One)
    };
    write(tape, Width::One, &input, output);
    program.into_inner()
}

/// The program of a tape for four states: in each place there are four numbers.
pub(super) fn four_states(tape: &Tape) -> Program {
    let program = RefCell::new(Program::default());
    let n = tape.coordinates as u32;
    let input = |register: u32| {
        let (array, place) = place_of(register, n);
        Emit::load(&program, array, 4 * place, Width::Four)
    };
    write(tape, Width::Four, &input, &|index, value| value.store(Array::Outputs, 32 * index as i32));
    program.into_inner()
}

/// Where a register of a tape lies before the first instruction: the array, and so many bytes behind its start.
pub(super) fn place_of(register: u32, n: u32) -> (Array, i32) {
    let (array, index) = match register {
        i if i < n => (Array::Coordinates, i),
        i if i < 2 * n => (Array::Velocities, i - n),
        i if i == 2 * n => (Array::Time, 0),
        i => (Array::Registers, i),
    };
    (array, 8 * index as i32)
}

/// Writes a tape whose inputs and outputs are where the two functions say.
pub(super) fn write<'p>(
    tape: &Tape,
    width: Width,
    input: &dyn Fn(u32) -> Emit<'p>,
    output: &dyn Fn(u32, Emit<'p>),
) {
    let steps = steps(&tape.body);
    let mut writer = Writer { width, input, output, results: vec![None; steps.len()], steps };
    for index in 0..writer.steps.len() {
        writer.write(index);
    }
}

struct Writer<'a, 'p> {
    width: Width,
    /// What a register holds before the first instruction.
    input: &'a dyn Fn(u32) -> Emit<'p>,
    output: &'a dyn Fn(u32, Emit<'p>),
    steps: Vec<Step>,
    results: Vec<Option<[Emit<'p>; 2]>>,
}

impl<'p> Writer<'_, 'p> {
    /// Writes a step whose operands are written, unless it is written already.
    fn write(&mut self, index: usize) {
        if self.results[index].is_some() {
            return;
        }
        let Step { instruction, operands } = self.steps[index];
        let a = self.read(operands[0]);
        match instruction.action {
            Action::Store => (self.output)(instruction.target, a),
            Action::Unary(op) if !costs_little(op) => self.write_in_lanes(index, a),
            Action::SinCos => self.write_in_lanes(index, a),
            action => self.results[index] = Some(apply(action, a, |k| self.read(operands[k]))),
        }
    }

    /// Several functions at once, where there are others that can be done now.
    fn write_in_lanes(&mut self, index: usize, a: Emit<'p>) {
        let action = self.steps[index].instruction.action;
        let mut group = vec![index];
        if self.width == Width::One {
            self.find_partners(&mut group);
        }
        let numbers: Vec<Emit<'p>> = group
            .iter()
            .map(|&other| if other == index { a } else { self.read(self.steps[other].operands[0]) })
            .collect();
        let operand = if group.len() > 1 { Emit::side_by_side(&numbers) } else { a };
        let values = apply(action, operand, |_| operand);
        for (lane, &member) in group.iter().enumerate() {
            let own = if group.len() > 1 { values.map(|value| value.lane(lane)) } else { values };
            self.results[member] = Some(own);
        }
    }

    /// The next steps with the same function that wait for none of the group; what they wait for is written.
    fn find_partners(&mut self, group: &mut Vec<usize>) {
        let first = group[0];
        let action = self.steps[first].instruction.action;
        let end = (first + FAR).min(self.steps.len());
        for other in first + 1..end {
            if self.steps[other].instruction.action == action
                && self.results[other].is_none()
                && let Some(needed) = early(&self.steps, |step| self.results[step].is_some(), group, other)
            {
                for step in needed {
                    self.write(step);
                }
                group.push(other);
                if group.len() == TOGETHER {
                    return;
                }
            }
        }
    }

    /// An operand. Inputs and constants are read where they are used.
    fn read(&self, source: Source) -> Emit<'p> {
        let register = match source {
            Source::Step(index, place) => match self.results[index] {
                Some(results) => return results[place],
                // steps are written in order, and what one waits for comes before it
                None => self.steps[index].instruction.target,
            },
            Source::Register(register) => register,
        };
        (self.input)(register)
    }
}

/// What an instruction makes of its first operand and others, by their places; a second result where there is one.
pub(super) fn apply<'p>(action: Action, a: Emit<'p>, other: impl Fn(usize) -> Emit<'p>) -> [Emit<'p>; 2] {
    let b = || other(1);
    let value = match action {
        Action::Add => a + b(),
        Action::Sub => a - b(),
        Action::Mul => a * b(),
        Action::Div => a / b(),
        Action::Neg => -a,
        Action::MulAdd => a.fused(Fusion::Plus, b(), other(2)),
        Action::MulSub => a.fused(Fusion::Minus, b(), other(2)),
        Action::MulFrom => a.fused(Fusion::From, b(), other(2)),
        Action::SinCos => return elementary::sin_cos(a).into(),
        Action::Unary(op) => unary(op, a),
        Action::Binary(op) => binary(op, a, b()),
        Action::Store => a,
    };
    [value; 2]
}

/// Whether a function is as cheap as putting its operand beside another.
fn costs_little(op: Unary) -> bool {
    matches!(op, Unary::Neg | Unary::Sqrt | Unary::Abs | Unary::Sign | Unary::PowerOfTwo)
}

fn unary<L: Lanes>(op: Unary, a: L) -> L {
    match op {
        Unary::Neg => -a,
        Unary::Sqrt => a.sqrt(),
        Unary::Abs => a.abs(),
        Unary::Sign => {
            let zero = a.constant(0.0);
            let below = L::select(a.below(zero), a.constant(-1.0), zero);
            L::select(zero.below(a), a.constant(1.0), below)
        }
        Unary::PowerOfTwo => elementary::power_of_two(a),
        Unary::Exp => elementary::exp(a),
        Unary::Ln => elementary::ln(a),
        Unary::Sin => elementary::sin(a),
        Unary::Cos => elementary::cos(a),
        Unary::Tan => elementary::tan(a),
        Unary::Asin => elementary::asin(a),
        Unary::Acos => elementary::acos(a),
        Unary::Atan => elementary::atan(a),
        Unary::Sinh => elementary::sinh(a),
        Unary::Cosh => elementary::cosh(a),
        Unary::Tanh => elementary::tanh(a),
    }
}

fn binary<L: Lanes>(op: Binary, a: L, b: L) -> L {
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Atan2 => elementary::atan2(a, b),
        Binary::Pow => elementary::pow(a, b),
    }
}
