//! From a tape to functions of the compiler's language.
//!
//! Each function runs a piece of the tape of bounded length, because registers are allotted in more than linear time. Within a piece
//! values live where the compiler likes; what a later piece reads goes through the tape's registers.

use super::super::graph::{Binary, Unary};
use super::super::tape::{Action, Instruction, Tape};
use super::emit::{Emit, Function, Table};
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

/// The registers that an instruction writes.
fn targets(instruction: &Instruction) -> impl Iterator<Item = u32> {
    let pair = match instruction.action {
        Action::Store => [None, None],
        Action::SinCos => [Some(instruction.target), Some(instruction.b)],
        _ => [Some(instruction.target), None],
    };
    pair.into_iter().flatten()
}

/// The registers that an instruction reads.
fn sources(instruction: &Instruction) -> impl Iterator<Item = u32> {
    let second = match instruction.action {
        Action::Add | Action::Sub | Action::Mul | Action::Div | Action::Binary(_) => Some(instruction.b),
        _ => None,
    };
    [Some(instruction.a), second].into_iter().flatten()
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
    let piece_of = Piece {
        function: &function,
        n: tape.coordinates,
        registers,
        inputs: [q, v, t],
        convention,
        values: FxHashMap::default(),
    };
    piece_of.write(&tape.body[piece.clone()], survivors, outputs);
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

struct Piece<'a, 'f> {
    function: &'a Function<'f>,
    n: usize,
    registers: Value,
    /// q, v, t
    inputs: [Value; 3],
    convention: CallConv,
    /// What this piece has computed, by register.
    values: FxHashMap<u32, Emit<'a, 'f>>,
}

impl<'a, 'f> Piece<'a, 'f> {
    fn write(mut self, body: &[Instruction], survivors: &[u32], outputs: Value) {
        for instruction in body {
            let a = self.read(instruction.a);
            let value = match instruction.action {
                Action::Add => a + self.read(instruction.b),
                Action::Sub => a - self.read(instruction.b),
                Action::Mul => a * self.read(instruction.b),
                Action::Div => a / self.read(instruction.b),
                Action::Neg => -a,
                Action::Store => {
                    self.function.store(a, outputs, instruction.target as usize);
                    continue;
                }
                Action::SinCos => {
                    let (sine, cosine) = elementary::sin_cos(a);
                    self.values.insert(instruction.b, cosine);
                    sine
                }
                Action::Unary(op) => self.unary(op, a),
                Action::Binary(op) => {
                    let b = self.read(instruction.b);
                    self.binary(op, a, b)
                }
            };
            self.values.insert(instruction.target, value);
        }
        for register in survivors {
            if let Some(value) = self.values.get(register) {
                self.function.store(*value, self.registers, *register as usize);
            }
        }
    }

    /// A register's value. Inputs and constants are read where they are used: as operands in memory they cost nothing.
    fn read(&self, register: u32) -> Emit<'a, 'f> {
        let index = register as usize;
        match self.values.get(&register) {
            Some(value) => *value,
            None if index < self.n => self.function.load(self.inputs[0], index),
            None if index < 2 * self.n => self.function.load(self.inputs[1], index - self.n),
            None if index == 2 * self.n => self.function.load(self.inputs[2], 0),
            None => self.function.load(self.registers, index),
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
