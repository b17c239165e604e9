//! From a tape to functions of the compiler's language.
//!
//! Each function runs a piece of the tape of bounded length, because registers are allotted in more than linear time. Within a piece
//! values live where the compiler likes; what a later piece reads goes through the tape's registers.

use super::emit::{Emit, Function, Table};
use crate::expr::graph::{Binary, Unary};
use crate::expr::native::steps::{FAR, Source, Step, early, sources, steps, targets};
use crate::expr::tape::{Action, Instruction, Tape};
use crate::scalar::elementary::{self, Lanes};
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ops::Range;

/// So much work goes into one function, in instructions of the compiler.
const PIECE: usize = 1500;

/// How many instructions of the compiler an instruction becomes, roughly.
fn weight(action: Action) -> usize {
    match action {
        Action::SinCos => 90,
        Action::Unary(Unary::Sin | Unary::Cos | Unary::Exp | Unary::Ln) => 70,
        Action::Unary(Unary::Tan) => 130,
        _ => 3,
    }
}

/// Cuts a tape into pieces of bounded work.
pub(super) fn pieces(body: &[Instruction]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let (mut start, mut work) = (0, 0);
    for (i, instruction) in body.iter().enumerate() {
        work += weight(instruction.action);
        if work >= PIECE || i + 1 == body.len() {
            pieces.push(start..i + 1);
            (start, work) = (i + 1, 0);
        }
    }
    pieces
}

/// For each piece the registers it writes that a later one reads.
pub(super) fn survivors(tape: &Tape, pieces: &[Range<usize>]) -> Vec<Vec<u32>> {
    let mut awaited = vec![false; tape.registers];
    let mut all = vec![Vec::new(); pieces.len()];
    for (piece, list) in pieces.iter().zip(&mut all).rev() {
        let body = &tape.body[piece.clone()];
        for instruction in body.iter().rev() {
            for target in targets(instruction) {
                // the last one to write it
                if std::mem::replace(&mut awaited[target as usize], false) {
                    list.push(target);
                }
            }
        }
        // what is read here must come from before, unless it is written here first
        for instruction in body.iter().rev() {
            for target in targets(instruction) {
                awaited[target as usize] = false;
            }
            for source in sources(instruction) {
                awaited[source as usize] = true;
            }
        }
    }
    all
}

/// Registers, constants, q, v, t and outputs; whether all went well.
pub(super) fn signature(convention: CallConv, pointer: types::Type) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend([AbiParam::new(pointer); 6]);
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

/// Writes one piece of a tape as a function. It returns 1 when it gives up, 0 else.
pub(super) fn translate(
    tape: &Tape,
    piece: &Range<usize>,
    survivors: &[u32],
    table: &mut Table,
    into: &mut ir::Function,
    context: &mut FunctionBuilderContext,
    target: cranelift_codegen::isa::TargetFrontendConfig,
) {
    let convention = into.signature.call_conv;
    let mut builder = FunctionBuilder::new(into, context);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    builder.seal_block(entry);
    let give_up = builder.create_block();
    builder.set_cold_block(give_up);
    let arguments: Vec<Value> = builder.block_params(entry).to_vec();
    let &[registers, table_address, q, v, t, outputs] = arguments.as_slice() else { return };
    let function =
        Function { builder: RefCell::new(builder), table: RefCell::new(table), table_address, give_up };
    let mut writer = Writer {
        function: &function,
        n: tape.coordinates,
        registers,
        inputs: [q, v, t],
        outputs,
        convention,
        steps: steps(&tape.body[piece.clone()]),
        results: vec![None; piece.len()],
    };
    for index in 0..piece.len() {
        writer.write(index);
    }
    writer.keep(survivors);
    let mut builder = function.builder.into_inner();
    for (block, code) in [(None, 0), (Some(give_up), 1)] {
        if let Some(block) = block {
            builder.seal_block(block);
            builder.switch_to_block(block);
        }
        let code = builder.ins().iconst(types::I32, code);
        builder.ins().return_(&[code]);
    }
    builder.finalize(target);
}

struct Writer<'a, 'f> {
    function: &'a Function<'f>,
    n: usize,
    registers: Value,
    /// q, v, t
    inputs: [Value; 3],
    outputs: Value,
    convention: CallConv,
    steps: Vec<Step>,
    results: Vec<Option<[Emit<'a, 'f>; 2]>>,
}

impl<'a, 'f> Writer<'a, 'f> {
    /// Writes a step whose operands are written, unless it is written already.
    fn write(&mut self, index: usize) {
        if self.results[index].is_some() {
            return;
        }
        let Step { instruction, operands: [a, b, c] } = self.steps[index];
        let a = self.read(a);
        let value = match instruction.action {
            Action::Add => a + self.read(b),
            Action::Sub => a - self.read(b),
            Action::Mul => a * self.read(b),
            Action::Div => a / self.read(b),
            Action::Neg => -a,
            Action::MulAdd => a.mul_add(self.read(b), self.read(c)),
            Action::MulSub => a.mul_add(self.read(b), -self.read(c)),
            Action::MulFrom => (-a).mul_add(self.read(b), self.read(c)),
            Action::Store => {
                self.function.store(a, self.outputs, instruction.target as usize);
                return;
            }
            Action::SinCos | Action::Unary(Unary::Sin | Unary::Cos | Unary::Exp) => {
                return self.write_in_lanes(index, a);
            }
            Action::Unary(op) => self.unary(op, a),
            Action::Binary(op) => {
                let b = self.read(b);
                self.binary(op, a, b)
            }
        };
        self.results[index] = Some([value; 2]);
    }

    /// Two functions at once, where there is another that can be done now: in two lanes they cost no more than one.
    fn write_in_lanes(&mut self, index: usize, a: Emit<'a, 'f>) {
        let action = self.steps[index].instruction.action;
        let partner = self.partner(index);
        let operand = match partner {
            Some(other) => {
                let b = self.read(self.steps[other].operands[0]);
                a.beside(b)
            }
            None => a.alone(),
        };
        let (first, second) = match action {
            Action::Unary(Unary::Exp) => {
                let value = elementary::exp(operand);
                (value, value)
            }
            Action::Unary(Unary::Sin) => {
                let value = elementary::sin(operand);
                (value, value)
            }
            Action::Unary(Unary::Cos) => {
                let value = elementary::cos(operand);
                (value, value)
            }
            _ => elementary::sin_cos(operand),
        };
        for (index, lane) in [Some(index), partner].into_iter().zip([0, 1]) {
            if let Some(index) = index {
                self.results[index] = Some([first.lane(lane), second.lane(lane)]);
            }
        }
    }

    /// The next step with the same function that does not wait for this one; what it waits for is written.
    fn partner(&mut self, index: usize) -> Option<usize> {
        let action = self.steps[index].instruction.action;
        let end = (index + FAR).min(self.steps.len());
        for other in index + 1..end {
            if self.steps[other].instruction.action == action
                && self.results[other].is_none()
                && let Some(needed) = early(&self.steps, |step| self.results[step].is_some(), &[index], other)
            {
                for step in needed {
                    self.write(step);
                }
                return Some(other);
            }
        }
        None
    }

    /// Stores what later pieces read.
    fn keep(&self, survivors: &[u32]) {
        let mut last: FxHashMap<u32, Emit<'a, 'f>> = FxHashMap::default();
        for (step, results) in self.steps.iter().zip(&self.results) {
            for (target, result) in targets(&step.instruction).zip(results.iter().flatten()) {
                last.insert(target, *result);
            }
        }
        for register in survivors {
            if let Some(value) = last.get(register) {
                self.function.store(*value, self.registers, *register as usize);
            }
        }
    }

    /// An operand. Inputs and constants are read where they are used.
    fn read(&self, source: Source) -> Emit<'a, 'f> {
        let register = match source {
            Source::Step(index, place) => match self.results[index] {
                Some(results) => return results[place],
                // steps are written in order, and what one waits for comes before it
                None => self.steps[index].instruction.target,
            },
            Source::Register(register) => register,
        };
        match register as usize {
            i if i < self.n => self.function.load(self.inputs[0], i),
            i if i < 2 * self.n => self.function.load(self.inputs[1], i - self.n),
            i if i == 2 * self.n => self.function.load(self.inputs[2], 0),
            i => self.function.load(self.registers, i),
        }
    }

    fn unary(&self, op: Unary, a: Emit<'a, 'f>) -> Emit<'a, 'f> {
        match op {
            Unary::Neg => -a,
            Unary::Sqrt => a.sqrt(),
            Unary::Abs => a.abs(),
            Unary::Sign => {
                let zero = a.constant(0.0);
                let below = Emit::select(a.below(zero), a.constant(-1.0), zero);
                Emit::select(zero.below(a), a.constant(1.0), below)
            }
            Unary::PowerOfTwo => elementary::power_of_two(a),
            Unary::Exp => elementary::exp(a),
            Unary::Ln => elementary::ln(a),
            Unary::Sin => elementary::sin(a),
            Unary::Cos => elementary::cos(a),
            Unary::Tan => elementary::tan(a),
            // long and rare
            Unary::Asin => self.call(called::asin as extern "C" fn(f64) -> f64 as usize, &[a]),
            Unary::Acos => self.call(called::acos as extern "C" fn(f64) -> f64 as usize, &[a]),
            Unary::Atan => self.call(called::atan as extern "C" fn(f64) -> f64 as usize, &[a]),
            Unary::Sinh => self.call(called::sinh as extern "C" fn(f64) -> f64 as usize, &[a]),
            Unary::Cosh => self.call(called::cosh as extern "C" fn(f64) -> f64 as usize, &[a]),
            Unary::Tanh => self.call(called::tanh as extern "C" fn(f64) -> f64 as usize, &[a]),
        }
    }

    fn binary(&self, op: Binary, a: Emit<'a, 'f>, b: Emit<'a, 'f>) -> Emit<'a, 'f> {
        match op {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            Binary::Atan2 => self.call(called::atan2 as extern "C" fn(f64, f64) -> f64 as usize, &[a, b]),
            Binary::Pow => self.call(called::pow as extern "C" fn(f64, f64) -> f64 as usize, &[a, b]),
        }
    }

    /// Calls a function of this program at its address.
    fn call(&self, address: usize, operands: &[Emit<'a, 'f>]) -> Emit<'a, 'f> {
        let mut signature = Signature::new(self.convention);
        signature.params.extend(operands.iter().map(|_| AbiParam::new(types::F64)));
        signature.returns.push(AbiParam::new(types::F64));
        let operands: Vec<Value> = operands.iter().map(|x| x.value).collect();
        let mut builder = self.function.builder.borrow_mut();
        let pointer = builder.func.dfg.value_type(self.registers);
        let signature = builder.import_signature(signature);
        let callee = builder.ins().iconst(pointer, address as i64);
        let call = builder.ins().call_indirect(signature, callee, &operands);
        let result = builder.inst_results(call)[0];
        drop(builder);
        self.function.number(result)
    }
}

/// The functions that are called.
mod called {
    use crate::scalar::elementary;

    macro_rules! functions {
        ($($name:ident($($x:ident),*))*) => {
            $(pub(super) extern "C" fn $name($($x: f64),*) -> f64 { elementary::$name($($x),*) })*
        };
    }
    functions!(asin(x) acos(x) atan(x) sinh(x) cosh(x) tanh(x) atan2(y, x) pow(x, y));
}
