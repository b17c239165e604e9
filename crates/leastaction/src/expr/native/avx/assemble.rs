//! From a straight-line program to instructions of an x86-64 processor with AVX2.
//!
//! A value lives in one of sixteen registers, or of thirty-two if nothing reads it but instructions of eight lanes, while it is needed soon. When all are taken, the one whose next reader is furthest away
//! goes to memory. Constants and inputs are in memory anyway and are mostly read from there by the instruction that needs them.
//! One pass, linear in the length of the program.

use super::encode::{Base, Encoder, Memory, Place, Replaced, Xmm};
use super::program::{Array, Comparison, Double, Fusion, Operation, Program, Single, ValueId, Width};
use super::roll::HELD;

/// Machine code and the constants behind it.
pub(super) struct Assembled {
    pub(super) bytes: Vec<u8>,
    /// How many numbers of memory it needs to put values aside.
    pub(super) scratch: usize,
}

/// Numbers that a value takes in memory at most.
const SLOT: usize = 8;
/// Registers that there are for values of eight lanes.
const REGISTERS: usize = 32;
/// Those that instructions of less than eight lanes can name.
const NARROW: usize = 16;
const NEVER: u32 = u32::MAX;

/// The code of a program.
pub(super) fn assemble(program: &Program) -> Assembled {
    let mut assembler = Assembler::new(program);
    assembler.encoder.begin();
    for at in 0..program.operations.len() {
        if assembler.needed[at] {
            assembler.write(at as u32);
        }
    }
    assembler.encoder.finish(&program.table);
    Assembled { bytes: assembler.encoder.bytes, scratch: SLOT * assembler.slots }
}

struct Assembler<'p> {
    program: &'p Program,
    needed: Vec<bool>,
    /// The readers of all values, in order, and for each value where its own go on and end.
    readers: Vec<u32>,
    next: Vec<u32>,
    end: Vec<u32>,
    /// Where a value is: in a register, and in memory.
    register: Vec<Option<Xmm>>,
    memory: Vec<Option<Memory>>,
    /// Whether a value may be in any register: it and all that read it have eight lanes.
    anywhere: Vec<bool>,
    holds: [Option<ValueId>; REGISTERS],
    /// Registers that belong to one value until the loop is left.
    held: [bool; REGISTERS],
    /// Where the present loop begins.
    start: Option<usize>,
    free_slots: Vec<usize>,
    slot: Vec<Option<usize>>,
    /// Slots that are free after the present operation.
    leaving: Vec<usize>,
    slots: usize,
    encoder: Encoder,
}

impl<'p> Assembler<'p> {
    fn new(program: &'p Program) -> Self {
        let count = program.operations.len();
        let needed = program.needed();
        let mut next = vec![0u32; count + 1];
        let operations = || program.operations.iter().enumerate().filter(|(i, _)| needed[*i]);
        for (_, (operation, _)) in operations() {
            for operand in operation.operands() {
                next[operand as usize + 1] += 1;
            }
        }
        for i in 0..count {
            next[i + 1] += next[i];
        }
        let mut readers = vec![0u32; next[count] as usize];
        let mut end = next.clone();
        for (i, (operation, _)) in operations() {
            for operand in operation.operands() {
                readers[end[operand as usize] as usize] = i as u32;
                end[operand as usize] += 1;
            }
        }
        Self {
            anywhere: may_be_anywhere(program, &needed),
            program,
            needed,
            readers,
            next,
            end,
            register: vec![None; count],
            memory: vec![None; count],
            holds: [None; REGISTERS],
            held: [false; REGISTERS],
            start: None,
            free_slots: Vec::new(),
            slot: vec![None; count],
            leaving: Vec::new(),
            slots: 0,
            encoder: Encoder::default(),
        }
    }

    fn write(&mut self, at: u32) {
        self.free_slots.append(&mut self.leaving);
        let (operation, width) = self.program.operations[at as usize];
        match operation {
            Operation::Load(array, place) => self.memory[at as usize] = Some(self.in_array(array, place)),
            Operation::Broadcast(array, place) => {
                let (target, memory) = (self.target(at), self.in_array(array, place));
                self.encoder.broadcast(width, target, memory);
            }
            Operation::Constant(place) => self.memory[at as usize] = Some(Memory::Table(place)),
            Operation::Single(single, a) => self.write_single(at, single, a, width),
            Operation::Double(double, a, b) => self.write_double(at, double, a, b, width),
            Operation::Fused(fusion, a, b, other) => self.write_fused(at, fusion, [a, b, other], width),
            Operation::Select(mask, yes, no) => {
                let (at_mask, at_no) = (mask, no);
                let (mask, no) = (self.in_register(mask, &[yes, no]), self.in_register(no, &[mask, yes]));
                let yes = self.whole_operand(yes, width, &[at_mask, at_no]);
                self.done(operation);
                let target = self.target(at);
                self.encoder.blend(width, target, no, yes, mask);
            }
            Operation::Store(array, place, a) => {
                let a = self.in_register(a, &[]);
                self.encoder.store(width, self.in_array(array, place), a);
                self.done(operation);
            }
            Operation::GiveUp(a) => {
                let a = self.in_register(a, &[]);
                self.encoder.give_up(width, a);
                self.done(operation);
            }
            _ => self.write_loop(at, operation, width),
        }
    }

    /// What surrounds the turns of a loop. It starts with held values in registers and all others in memory, whatever the turn.
    fn write_loop(&mut self, at: u32, operation: Operation, width: Width) {
        match operation {
            Operation::Carried(first) => {
                let a = self.in_register(first, &[]);
                let target = self.vacant(at, &[first]);
                self.put(at, target);
                self.encoder.copy(width, target, a);
                self.held[target as usize] = true;
            }
            Operation::Hold(value) => {
                let register = self.in_register(value, &[]) as usize;
                // some are left to what is narrower; what is not held is read from memory
                let narrow = self.held[..NARROW].iter().filter(|held| **held).count();
                self.held[register] |= register >= NARROW || narrow < HELD;
            }
            Operation::LoopStart => {
                for register in 0..REGISTERS {
                    if !self.held[register] {
                        self.put_aside(register as Xmm);
                    }
                }
                self.start = Some(self.encoder.loop_start());
            }
            Operation::Carry(carried, next) => {
                let next = self.in_register(next, &[]);
                // held, so it is in its register
                let carried = self.in_register(carried, &[]);
                self.encoder.copy(width, carried, next);
            }
            Operation::LoopEnd { turns, stride } => {
                if let Some(start) = self.start.take() {
                    self.encoder.loop_end(start, stride, turns * stride);
                }
                self.held = [false; REGISTERS];
            }
            _ => {}
        }
        self.done(operation);
    }

    fn write_single(&mut self, at: u32, single: Single, a: ValueId, width: Width) {
        let operation = Operation::Single(single, a);
        let a = self.in_register(a, &[]);
        self.done(operation);
        let target = self.target(at);
        match single {
            Single::Left(places) => self.encoder.shift(6, width, target, a, places),
            Single::Right(places) => self.encoder.shift(2, width, target, a, places),
            Single::Second => self.encoder.whole(0x15, Width::Two, target, a, Place::Register(a)),
            Single::UpperHalf => self.encoder.upper_half(target, a),
            Single::Spread => self.encoder.spread(width, target, a),
            Single::OtherHalf => self.encoder.quarters(target, a, 0b01_00_11_10),
            Single::OtherQuarter => self.encoder.quarters(target, a, 0b10_11_00_01),
            Single::OtherLane => self.encoder.other_lanes(target, a),
            Single::Sqrt => self.encoder.square_root(width, target, a),
        }
    }

    fn write_double(&mut self, at: u32, double: Double, a: ValueId, b: ValueId, width: Width) {
        let commutes = matches!(
            double,
            Double::Add | Double::Mul | Double::And | Double::Or | Double::Xor | Double::AddWords
        );
        // the second operand may come from memory
        let swap = commutes && self.register[a as usize].is_none() && self.register[b as usize].is_some();
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let first = self.in_register(a, &[b]);
        if matches!(double, Double::Before | Double::Across | Double::Interlace | Double::Window(_)) {
            let second = self.in_register(b, &[a]);
            self.done(Operation::Double(double, a, b));
            let target = self.target(at);
            return match double {
                Double::Across => self.encoder.across(target, first, second),
                Double::Interlace => self.encoder.interlace(target, first, second),
                Double::Window(from) => self.encoder.window(target, first, second, from),
                _ if width == Width::Eight => self.encoder.fours(target, first, second),
                _ => self.encoder.before(target, first, second),
            };
        }
        let numbers = matches!(
            double,
            Double::Add | Double::Sub | Double::Mul | Double::Div | Double::Max | Double::Compare(_)
        );
        let second = if numbers { self.operand(b) } else { self.whole_operand(b, width, &[a]) };
        self.done(Operation::Double(double, a, b));
        let target = self.target(at);
        let encoder = &mut self.encoder;
        match double {
            Double::Add => encoder.arithmetic(0x58, width, target, first, second),
            Double::Mul => encoder.arithmetic(0x59, width, target, first, second),
            Double::Sub => encoder.arithmetic(0x5c, width, target, first, second),
            Double::Div => encoder.arithmetic(0x5e, width, target, first, second),
            Double::Max => encoder.arithmetic(0x5f, width, target, first, second),
            Double::And => encoder.whole(0x54, width, target, first, second),
            Double::Or => encoder.whole(0x56, width, target, first, second),
            Double::Xor => encoder.whole(0x57, width, target, first, second),
            Double::AddWords => encoder.whole(0xd4, width, target, first, second),
            Double::SubWords => encoder.whole(0xfb, width, target, first, second),
            Double::Beside => encoder.whole(0x14, Width::Two, target, first, second),
            Double::Before | Double::Across | Double::Interlace | Double::Window(_) => {}
            Double::Compare(comparison) => {
                let predicate = match comparison {
                    Comparison::Equal => 0,
                    Comparison::Below => 1,
                    Comparison::NotEqual => 4,
                    Comparison::NotBelow => 5,
                };
                encoder.compare(width, target, first, second, predicate);
            }
        }
    }

    /// The instruction replaces the term beside the product or one of the factors, whichever nobody needs later; if all are needed, a copy.
    fn write_fused(&mut self, at: u32, fusion: Fusion, [a, b, term]: [ValueId; 3], width: Width) {
        let operation = Operation::Fused(fusion, a, b, term);
        let dies = |value: ValueId| {
            let own = [a, b, term].iter().filter(|&&other| other == value).count() as u32;
            self.register[value as usize].is_some_and(|register| usize::from(register) < self.registers(at))
                && self.end[value as usize] - self.next[value as usize] == own
        };
        // of the factors, the one that is not replaced and may come from memory
        let (a, b) = if self.register[a as usize].is_none() { (b, a) } else { (a, b) };
        if dies(term) && a != term && b != term {
            let first = self.in_register(a, &[b, term]);
            let (target, second) = (self.in_register(term, &[a, b]), self.operand(b));
            self.done(operation);
            self.put(at, target);
            return self.encoder.fused(fusion, Replaced::Term, width, target, first, second);
        }
        let (a, b) = if dies(a) && a != term { (a, b) } else { (b, a) };
        if dies(a) && a != term {
            let target = self.in_register(a, &[b, term]);
            let first = self.in_register(b, &[a, term]);
            let term = self.operand(term);
            self.done(operation);
            self.put(at, target);
            return self.encoder.fused(fusion, Replaced::Factor, width, target, first, term);
        }
        let (a, b) = if self.register[a as usize].is_none() { (b, a) } else { (a, b) };
        let first = self.in_register(a, &[b, term]);
        let target = self.vacant(at, &[a, b, term]);
        match (self.register[term as usize], self.memory[term as usize]) {
            (None, Some(memory)) => {
                self.encoder.load(self.program.operations[term as usize].1, target, memory);
            }
            (register, _) => self.encoder.copy(width, target, register.unwrap_or(0)),
        }
        self.put(at, target);
        let second = self.operand(b);
        self.encoder.fused(fusion, Replaced::Term, width, target, first, second);
        self.done(operation);
    }

    /// An operand that may be in memory.
    fn operand(&self, value: ValueId) -> Place {
        match (self.register[value as usize], self.memory[value as usize]) {
            (Some(register), _) => Place::Register(register),
            (None, Some(memory)) => Place::Memory(memory),
            // every value was written before it is read
            (None, None) => Place::Register(0),
        }
    }

    /// An operand of an instruction that reads two lanes at least, of which an array may hold one only.
    fn whole_operand(&mut self, value: ValueId, width: Width, others: &[ValueId]) -> Place {
        match self.operand(value) {
            Place::Memory(Memory::Array(base, _) | Memory::Moving(base, _))
                if matches!(width, Width::One | Width::Two) && base != Base::Scratch =>
            {
                Place::Register(self.in_register(value, others))
            }
            place => place,
        }
    }

    /// Brings a value into a register, not into one of those that hold the others.
    fn in_register(&mut self, value: ValueId, others: &[ValueId]) -> Xmm {
        if let Some(register) = self.register[value as usize] {
            return register;
        }
        let register = self.vacant(value, others);
        if let Some(memory) = self.memory[value as usize] {
            let (_, width) = self.program.operations[value as usize];
            self.encoder.load(width, register, memory);
        }
        self.put(value, register);
        register
    }

    fn put(&mut self, value: ValueId, register: Xmm) {
        self.register[value as usize] = Some(register);
        self.holds[register as usize] = Some(value);
    }

    /// A register for a new value.
    fn target(&mut self, value: u32) -> Xmm {
        let register = self.vacant(value, &[]);
        self.put(value, register);
        register
    }

    /// How many registers there are for a value, from the first on.
    fn registers(&self, value: ValueId) -> usize {
        if self.anywhere[value as usize] { REGISTERS } else { NARROW }
    }

    /// A register for a value that holds nothing, if need be after putting aside what is needed last. The first ones are left to values
    /// that have no choice.
    fn vacant(&mut self, value: ValueId, others: &[ValueId]) -> Xmm {
        let registers = self.registers(value);
        let is_free = |&i: &usize| self.holds[i].is_none() && !self.held[i];
        if let Some(register) = (0..registers).rev().find(is_free) {
            return register as Xmm;
        }
        let (mut furthest, mut distance) = (0, 0);
        for (register, present) in self.holds[..registers].iter().enumerate() {
            let Some(present) = *present else { continue };
            if self.held[register] {
                continue;
            }
            let when = self.next_reader(present);
            if when >= distance && !others.contains(&present) {
                (furthest, distance) = (register, when);
            }
        }
        self.put_aside(furthest as Xmm);
        furthest as Xmm
    }

    fn next_reader(&self, value: ValueId) -> u32 {
        let (next, end) = (self.next[value as usize], self.end[value as usize]);
        if next < end { self.readers[next as usize] } else { NEVER }
    }

    fn put_aside(&mut self, register: Xmm) {
        let Some(value) = self.holds[register as usize].take() else { return };
        self.register[value as usize] = None;
        if self.memory[value as usize].is_none() {
            let slot = self.free_slots.pop().unwrap_or_else(|| {
                self.slots += 1;
                self.slots - 1
            });
            let memory = Memory::Array(Base::Scratch, (8 * SLOT * slot) as i32);
            let (_, width) = self.program.operations[value as usize];
            self.encoder.store(width, memory, register);
            self.memory[value as usize] = Some(memory);
            self.slot[value as usize] = Some(slot);
        }
    }

    /// An operation has read its operands; what nobody reads any more is forgotten.
    fn done(&mut self, operation: Operation) {
        for operand in operation.operands() {
            let place = operand as usize;
            self.next[place] += 1;
            if self.next[place] == self.end[place] {
                if let Some(register) = self.register[place].take() {
                    self.holds[register as usize] = None;
                }
                // the operation itself may still read it
                self.leaving.extend(self.slot[place].take());
            }
        }
    }

    /// A place in an array, which moves on in a loop.
    fn in_array(&self, array: Array, place: i32) -> Memory {
        let base = match array {
            Array::Registers => Base::Registers,
            Array::Coordinates => Base::Coordinates,
            Array::Velocities => Base::Velocities,
            Array::Time => Base::Time,
            Array::Outputs => Base::Outputs,
            Array::Changes => Base::Changes,
        };
        if self.start.is_some() { Memory::Moving(base, place) } else { Memory::Array(base, place) }
    }
}

/// Which values may be in registers that only instructions of eight lanes can name. Stores can name all of them.
fn may_be_anywhere(program: &Program, needed: &[bool]) -> Vec<bool> {
    let mut anywhere: Vec<bool> =
        program.operations.iter().map(|(_, width)| *width == Width::Eight).collect();
    for (&(operation, width), _) in program.operations.iter().zip(needed).filter(|(_, needed)| **needed) {
        let names_all = matches!(operation, Operation::Store(..) | Operation::Hold(_) | Operation::Keep(_));
        if width != Width::Eight && !names_all {
            operation.operands().for_each(|operand| anywhere[operand as usize] = false);
        }
    }
    anywhere
}
