//! The bytes of the few instructions that tapes need: AVX and AVX2 with three operands, in their VEX form, and
//! their EVEX form for eight lanes.
//!
//! An instruction is a prefix that names registers and sizes, an opcode, and a last operand in a register or in memory; Intel's
//! manual, volume 2, describes it. Constants lie behind the code and are addressed relative to the instruction.

use super::program::{Fusion, Width};

/// The number of a vector register.
pub(super) type Xmm = u8;

/// What the general registers point to when the code is called (the System V convention).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Base {
    Registers = 7,
    Coordinates = 6,
    Velocities = 2,
    Time = 1,
    Outputs = 8,
    Scratch = 9,
    /// From [`Encoder::begin`] on.
    Changes = 11,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Memory {
    /// So many bytes behind the start of an array.
    Array(Base, i32),
    /// The same in the first turn of a loop.
    Moving(Base, i32),
    /// A constant of the table.
    Table(u32),
}

/// A last operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Register(Xmm),
    Memory(Memory),
}

/// What a fused operation replaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Replaced {
    Factor,
    Term,
}

/// A constant takes so many bytes: it is there four times.
const ENTRY: usize = 32;

/// The general register that counts the bytes which a loop has gone: r10, of which an address names three bits.
const INDEX: u8 = 10;
/// The instruction that does nothing.
const NOTHING: u8 = 0x90;

/// The opcode maps 0F, 0F38 and 0F3A.
const MAP_1: u8 = 1;
const MAP_2: u8 = 2;
const MAP_3: u8 = 3;
/// The prefixes 66 (all lanes) and F2 (one number).
const ALL: u8 = 1;
const ONE: u8 = 3;
/// The prefix F3, of instructions between masks and values.
const SINGLE: u8 = 2;
/// The map and opcode of the instruction that puts one number into all lanes.
const SPREAD: (u8, u8) = (MAP_2, 0x19);
/// The register of mask bits that is used.
const MASK: u8 = 1;

#[derive(Default)]
pub(super) struct Encoder {
    pub(super) bytes: Vec<u8>,
    /// Where the distance to a constant goes, which constant, and how many bytes of the instruction follow.
    constants: Vec<(usize, u32, usize)>,
    /// Where the distance to the way out goes.
    exits: Vec<usize>,
    uses_upper_halves: bool,
}

/// An instruction but for its last operand.
#[derive(Clone, Copy)]
struct Instruction {
    prefix: u8,
    map: u8,
    opcode: u8,
    long: bool,
    /// Eight lanes, which takes another prefix.
    eight: bool,
    /// The bit W of the prefix, which makes some instructions work on 64-bit numbers.
    wide: bool,
    /// The register in the middle byte; the target mostly.
    register: u8,
    /// The first operand; `None` where the instruction has none.
    first: Option<Xmm>,
    immediate: Option<u8>,
}

impl Instruction {
    /// So many bytes of memory an instruction of eight lanes reads or writes. Short distances are counted in them.
    fn unit(&self) -> i32 {
        let one = self.prefix == ONE || (self.map, self.opcode) == SPREAD;
        if one { 8 } else { 64 }
    }
    fn units(&self, distance: i32) -> Option<i32> {
        (distance % self.unit() == 0).then_some(distance / self.unit())
    }
}

fn lanes(width: Width) -> u8 {
    if width == Width::One { ONE } else { ALL }
}

impl Encoder {
    fn emit(&mut self, instruction: Instruction, last: Place) {
        if instruction.eight {
            return self.emit_eight(instruction, last, 0);
        }
        let Instruction { prefix, map, opcode, long, wide, register, first, immediate, eight: _ } =
            instruction;
        self.uses_upper_halves |= long;
        let base = match last {
            Place::Register(x) => x,
            Place::Memory(Memory::Array(base, _) | Memory::Moving(base, _)) => base as u8,
            Place::Memory(Memory::Table(_)) => 0,
        };
        let moves = matches!(last, Place::Memory(Memory::Moving(..)));
        // extensions are stored inverted
        let r = u8::from(register < 8) << 7;
        let x = u8::from(!moves) << 6;
        let b = u8::from(base < 8) << 5;
        let rest = (!first.unwrap_or(0) & 15) << 3 | u8::from(long) << 2 | prefix;
        if map == MAP_1 && base < 8 && !moves {
            self.bytes.extend([0xc5, r | rest]);
        } else {
            self.bytes.extend([0xc4, r | x | b | map, u8::from(wide) << 7 | rest]);
        }
        self.bytes.push(opcode);
        let middle = (register & 7) << 3;
        match last {
            Place::Register(x) => self.bytes.push(0xc0 | middle | (x & 7)),
            Place::Memory(Memory::Array(_, offset)) => {
                self.address(middle | (base & 7), None, offset, Some(offset));
            }
            Place::Memory(Memory::Moving(_, offset)) => {
                self.address(middle | 4, Some((INDEX & 7) << 3 | (base & 7)), offset, Some(offset));
            }
            Place::Memory(Memory::Table(place)) => {
                self.bytes.push(middle | 5);
                self.constants.push((self.bytes.len(), place, immediate.map_or(0, |_| 1)));
                self.bytes.extend([0; 4]);
            }
        }
        self.bytes.extend(immediate);
    }

    /// An instruction of eight lanes, in its EVEX form, with a register of mask bits. Constants are there less than eight times and are spread on the way.
    fn emit_eight(&mut self, instruction: Instruction, last: Place, mask: u8) {
        let Instruction { prefix, map, opcode, register, first, immediate, .. } = instruction;
        self.uses_upper_halves = true;
        let base = match last {
            Place::Register(x) => x,
            Place::Memory(Memory::Array(base, _) | Memory::Moving(base, _)) => base as u8,
            Place::Memory(Memory::Table(_)) => 0,
        };
        let moves = matches!(last, Place::Memory(Memory::Moving(..)));
        let spread = matches!(last, Place::Memory(Memory::Table(_)));
        // the fourth and fifth bits of registers, inverted; with an index there is no fifth one of the base
        let [fourth, fifth] = [8, 16].map(|bit| move |register: u8| u8::from(register & bit == 0));
        let x = if moves { 0 } else { fifth(base) };
        let first = first.unwrap_or(0);
        self.bytes
            .extend([0x62, fourth(register) << 7 | x << 6 | fourth(base) << 5 | fifth(register) << 4 | map]);
        self.bytes.extend([1 << 7 | (!first & 15) << 3 | 1 << 2 | prefix]);
        self.bytes.extend([0b10 << 5 | u8::from(spread) << 4 | fifth(first) << 3 | mask, opcode]);
        let middle = (register & 7) << 3;
        match last {
            Place::Register(x) => self.bytes.push(0xc0 | middle | (x & 7)),
            Place::Memory(Memory::Array(_, offset)) => {
                self.address(middle | (base & 7), None, offset, instruction.units(offset));
            }
            Place::Memory(Memory::Moving(_, offset)) => {
                self.address(
                    middle | 4,
                    Some((INDEX & 7) << 3 | (base & 7)),
                    offset,
                    instruction.units(offset),
                );
            }
            Place::Memory(Memory::Table(place)) => {
                self.bytes.push(middle | 5);
                self.constants.push((self.bytes.len(), place, immediate.map_or(0, |_| 1)));
                self.bytes.extend([0; 4]);
            }
        }
        self.bytes.extend(immediate);
    }
    /// The sign bits of eight lanes as a mask.
    fn signs(&mut self, a: Xmm) {
        let instruction = all(MAP_2, 0x39, Width::Eight, MASK, None);
        self.emit(Instruction { prefix: SINGLE, ..instruction }, Place::Register(a));
    }

    /// Registers of an address, a second byte with the index if there is one, and a distance as short as it can be; short ones are counted in other units.
    fn address(&mut self, registers: u8, index: Option<u8>, offset: i32, units: Option<i32>) {
        let short = units.and_then(|units| i8::try_from(units).ok()).map(i8::cast_unsigned);
        let size = match short {
            Some(0) => 0,
            Some(_) => 0x40,
            None => 0x80,
        };
        self.bytes.push(size | registers);
        self.bytes.extend(index);
        match short {
            Some(0) => {}
            Some(short) => self.bytes.push(short),
            None => self.bytes.extend(offset.to_le_bytes()),
        }
    }

    /// Arithmetic, in as many lanes as a value has.
    pub(super) fn arithmetic(&mut self, opcode: u8, width: Width, target: Xmm, a: Xmm, b: Place) {
        let instruction = Instruction { prefix: lanes(width), ..all(MAP_1, opcode, width, target, Some(a)) };
        self.emit(instruction, b);
    }
    /// A fused operation that replaces the target, which holds a factor or the other term.
    pub(super) fn fused(
        &mut self,
        fusion: Fusion,
        replaced: Replaced,
        width: Width,
        target: Xmm,
        a: Xmm,
        b: Place,
    ) {
        let kind = match fusion {
            Fusion::Plus => 0x08,
            Fusion::Minus => 0x0a,
            Fusion::From => 0x0c,
        };
        let form = match replaced {
            Replaced::Factor => 0xa0,
            Replaced::Term => 0xb0,
        };
        let opcode = form | kind | u8::from(width == Width::One);
        let instruction = all(MAP_2, opcode, width, target, Some(a));
        self.emit(Instruction { wide: true, ..instruction }, b);
    }
    pub(super) fn copy(&mut self, width: Width, target: Xmm, a: Xmm) {
        self.emit(all(MAP_1, 0x28, width, target, None), Place::Register(a));
    }
    pub(super) fn square_root(&mut self, width: Width, target: Xmm, a: Xmm) {
        let first = (width == Width::One).then_some(a);
        let instruction = Instruction { prefix: lanes(width), ..all(MAP_1, 0x51, width, target, first) };
        self.emit(instruction, Place::Register(a));
    }
    /// Operations on all bits of a register, at least of two lanes.
    pub(super) fn whole(&mut self, opcode: u8, width: Width, target: Xmm, a: Xmm, b: Place) {
        self.emit(all(MAP_1, opcode, width, target, Some(a)), b);
    }
    pub(super) fn compare(&mut self, width: Width, target: Xmm, a: Xmm, b: Place, predicate: u8) {
        if width == Width::Eight {
            // the answer is a mask, which becomes a value
            let instruction = all(MAP_1, 0xc2, width, MASK, Some(a));
            self.emit(Instruction { immediate: Some(predicate), ..instruction }, b);
            let instruction = all(MAP_2, 0x38, width, target, None);
            return self.emit(Instruction { prefix: SINGLE, ..instruction }, Place::Register(MASK));
        }
        let instruction = all(MAP_1, 0xc2, width, target, Some(a));
        self.emit(Instruction { prefix: lanes(width), immediate: Some(predicate), ..instruction }, b);
    }
    /// `yes` where the mask's sign bits are set.
    pub(super) fn blend(&mut self, width: Width, target: Xmm, no: Xmm, yes: Place, mask: Xmm) {
        if width == Width::Eight {
            self.signs(mask);
            return self.emit_eight(all(MAP_2, 0x65, width, target, Some(no)), yes, MASK);
        }
        let instruction = all(MAP_3, 0x4b, width, target, Some(no));
        self.emit(Instruction { immediate: Some(mask << 4), ..instruction }, yes);
    }
    /// Shifts of the bits: `kind` 6 to the left, 2 to the right.
    pub(super) fn shift(&mut self, kind: u8, width: Width, target: Xmm, a: Xmm, places: u8) {
        let instruction = all(MAP_1, 0x73, width, kind, Some(target));
        self.emit(Instruction { immediate: Some(places), ..instruction }, Place::Register(a));
    }
    pub(super) fn upper_half(&mut self, target: Xmm, a: Xmm) {
        let instruction = all(MAP_3, 0x19, Width::Four, a, None);
        self.emit(Instruction { immediate: Some(1), ..instruction }, Place::Register(target));
    }
    /// The halves of two registers side by side.
    pub(super) fn before(&mut self, target: Xmm, a: Xmm, b: Xmm) {
        let instruction = all(MAP_3, 0x18, Width::Four, target, Some(a));
        self.emit(Instruction { immediate: Some(1), ..instruction }, Place::Register(b));
    }
    /// The first four lanes of two registers side by side.
    pub(super) fn fours(&mut self, target: Xmm, a: Xmm, b: Xmm) {
        let instruction = all(MAP_3, 0x1a, Width::Eight, target, Some(a));
        self.emit(Instruction { immediate: Some(1), ..instruction }, Place::Register(b));
    }
    /// Eight of the sixteen lanes of two registers, from one on.
    pub(super) fn window(&mut self, target: Xmm, a: Xmm, b: Xmm, from: u8) {
        let instruction = all(MAP_3, 0x03, Width::Eight, target, Some(b));
        self.emit(Instruction { immediate: Some(from), ..instruction }, Place::Register(a));
    }
    /// The upper half of a register before the lower half of another.
    pub(super) fn across(&mut self, target: Xmm, a: Xmm, b: Xmm) {
        let instruction = all(MAP_3, 0x06, Width::Four, target, Some(a));
        self.emit(Instruction { immediate: Some(0x21), ..instruction }, Place::Register(b));
    }
    /// In each half: the second number of a register, the first of another.
    pub(super) fn interlace(&mut self, target: Xmm, a: Xmm, b: Xmm) {
        let instruction = all(MAP_1, 0xc6, Width::Four, target, Some(a));
        self.emit(Instruction { immediate: Some(0b0101), ..instruction }, Place::Register(b));
    }
    pub(super) fn load(&mut self, width: Width, target: Xmm, memory: Memory) {
        if let (Width::Eight, Memory::Table(_)) = (width, memory) {
            // of a constant only one number is needed
            return self.spread_constant(target, memory);
        }
        let instruction = Instruction { prefix: lanes(width), ..all(MAP_1, 0x10, width, target, None) };
        self.emit(instruction, Place::Memory(memory));
    }
    /// A constant into eight lanes.
    fn spread_constant(&mut self, target: Xmm, memory: Memory) {
        let place = self.bytes.len();
        self.emit(all(SPREAD.0, SPREAD.1, Width::Eight, target, None), Place::Memory(memory));
        // it reads one number by itself
        self.bytes[place + 3] &= !(1 << 4);
    }
    /// The first lane of a register into all lanes.
    pub(super) fn spread(&mut self, width: Width, target: Xmm, a: Xmm) {
        self.emit(all(SPREAD.0, SPREAD.1, width, target, None), Place::Register(a));
    }
    /// One number into all lanes.
    pub(super) fn broadcast(&mut self, width: Width, target: Xmm, memory: Memory) {
        self.emit(all(SPREAD.0, SPREAD.1, width, target, None), Place::Memory(memory));
    }
    /// The quarters of a register of eight lanes in the order of two bits each.
    pub(super) fn quarters(&mut self, target: Xmm, a: Xmm, order: u8) {
        let instruction = all(MAP_3, 0x23, Width::Eight, target, Some(a));
        self.emit(Instruction { immediate: Some(order), ..instruction }, Place::Register(a));
    }
    /// Neighbours among eight lanes exchanged.
    pub(super) fn other_lanes(&mut self, target: Xmm, a: Xmm) {
        let instruction = all(MAP_3, 0x05, Width::Eight, target, None);
        self.emit(Instruction { immediate: Some(0b0101_0101), ..instruction }, Place::Register(a));
    }
    /// Stores as many lanes as a width has; one lane of any register.
    pub(super) fn store(&mut self, width: Width, memory: Memory, a: Xmm) {
        // only the longer prefix can name a later register; it stores as many lanes as its prefix tells
        let eight = width == Width::Eight || a >= 16;
        let instruction = Instruction { prefix: lanes(width), eight, ..all(MAP_1, 0x11, width, a, None) };
        self.emit(instruction, Place::Memory(memory));
    }
    /// Leaves if a sign bit is set in one of the lanes.
    pub(super) fn give_up(&mut self, width: Width, mask: Xmm) {
        if width == Width::Eight {
            self.signs(mask);
            // whether any bit of the mask is set
            self.bytes.extend([0xc5, 0xf9, 0x98, 0xc0 | MASK << 3 | MASK]);
        } else {
            self.emit(all(MAP_1, 0x50, width, 0, None), Place::Register(mask));
            self.bytes.extend([0xa8, (1 << width.lanes()) - 1]);
        }
        self.bytes.extend([0x0f, 0x85]);
        self.exits.push(self.bytes.len());
        self.bytes.extend([0; 4]);
    }

    /// Fetches the seventh argument, which is behind the address to return to.
    pub(super) fn begin(&mut self) {
        self.bytes.extend([0x4c, 0x8b, 0x5c, 0x24, 8]);
    }
    /// The index is zero from here on; where a loop begins.
    pub(super) fn loop_start(&mut self) -> usize {
        self.bytes.extend([0x45, 0x31, 0xd2]);
        self.bytes.resize(self.bytes.len().next_multiple_of(ENTRY), NOTHING);
        self.bytes.len()
    }
    /// Moves the index on and goes back to the start of the loop until it has gone all the way.
    pub(super) fn loop_end(&mut self, start: usize, stride: i32, way: i32) {
        self.bytes.extend([0x49, 0x81, 0xc2]);
        self.bytes.extend(stride.to_le_bytes());
        self.bytes.extend([0x49, 0x81, 0xfa]);
        self.bytes.extend(way.to_le_bytes());
        self.bytes.extend([0x0f, 0x85]);
        let at = self.bytes.len();
        self.bytes.extend([0; 4]);
        self.patch(at, start, 0);
    }

    /// The two ways out, 0 when all went well and 1 when it gave up, and the constants.
    pub(super) fn finish(&mut self, table: &[u64]) {
        self.leave(&[0x31, 0xc0]);
        let exit = self.bytes.len();
        self.leave(&[0xb8, 1, 0, 0, 0]);
        for at in std::mem::take(&mut self.exits) {
            self.patch(at, exit, 0);
        }
        self.bytes.resize(self.bytes.len().next_multiple_of(ENTRY), 0xcc);
        let start = self.bytes.len();
        for &bits in table {
            self.bytes.extend([bits; 4].iter().flat_map(|bits| bits.to_le_bytes()));
        }
        for (at, place, behind) in std::mem::take(&mut self.constants) {
            self.patch(at, start + ENTRY * place as usize, behind);
        }
    }

    fn leave(&mut self, result: &[u8]) {
        self.bytes.extend(result);
        if self.uses_upper_halves {
            self.bytes.extend([0xc5, 0xf8, 0x77]);
        }
        self.bytes.push(0xc3);
    }

    /// Writes the distance from the end of an instruction to its goal.
    fn patch(&mut self, at: usize, goal: usize, behind: usize) {
        let distance = goal as i64 - (at + 4 + behind) as i64;
        self.bytes[at..at + 4].copy_from_slice(&(distance as i32).to_le_bytes());
    }
}

/// An instruction of all lanes.
fn all(map: u8, opcode: u8, width: Width, register: u8, first: Option<Xmm>) -> Instruction {
    let (long, eight) = (width == Width::Four, width == Width::Eight);
    Instruction { prefix: ALL, map, opcode, long, eight, wide: false, register, first, immediate: None }
}
