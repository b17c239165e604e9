//! Numbers that are instructions: [`Emit`] is a value of the function under construction, and its operators append to it.
//!
//! With it the elementary functions, which are written for any [`Lanes`], write themselves as machine code. A number is an `f64` or two
//! of them side by side, which cost no more than one; its type tells. Constants are loaded from a table where they are used.

use crate::scalar::elementary::Lanes;
use cranelift_codegen::ir::condcodes::{CondCode, FloatCC};
use cranelift_codegen::ir::{Block, Endianness, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// Constants of the code, each once and twice in a row: for one lane or two.
#[derive(Default)]
pub(super) struct Table {
    pub(super) numbers: Vec<f64>,
    places: FxHashMap<u64, usize>,
}

impl Table {
    fn place(&mut self, bits: u64) -> usize {
        *self.places.entry(bits).or_insert_with(|| {
            self.numbers.extend([f64::from_bits(bits); 2]);
            self.numbers.len() - 2
        })
    }
}

/// The function under construction.
pub(super) struct Function<'f> {
    pub(super) builder: RefCell<FunctionBuilder<'f>>,
    pub(super) table: RefCell<&'f mut Table>,
    /// Where the table lies when the function runs.
    pub(super) table_address: Value,
    /// Where to go when the fast way of a function fails.
    pub(super) give_up: Block,
}

/// Never a trap. Two lanes may lie at odd places of the table, so nothing is said of alignment.
fn trusted() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

impl<'f> Function<'f> {
    pub(super) fn number(&self, value: Value) -> Emit<'_, 'f> {
        Emit { value, function: self }
    }
    /// The number at a place of an array.
    pub(super) fn load(&self, array: Value, index: usize) -> Emit<'_, 'f> {
        let value = self.builder.borrow_mut().ins().load(types::F64, trusted(), array, offset(index));
        self.number(value)
    }
    /// Writes to a place of an array.
    pub(super) fn store(&self, number: Emit<'_, 'f>, array: Value, index: usize) {
        self.builder.borrow_mut().ins().store(trusted(), number.value, array, offset(index));
    }
    /// A constant of a type.
    fn constant(&self, ty: types::Type, bits: u64) -> Value {
        let place = self.table.borrow_mut().place(bits);
        self.builder.borrow_mut().ins().load(ty, trusted(), self.table_address, offset(place))
    }
}

/// The place of a number in bytes. Arrays of a tape have less than 2^28 numbers.
fn offset(index: usize) -> i32 {
    8 * index as i32
}

/// A number of the function under construction.
#[derive(Clone, Copy)]
pub(super) struct Emit<'a, 'f> {
    pub(super) value: Value,
    function: &'a Function<'f>,
}

/// The answer to a comparison, not yet asked for: a jump asks in a cheaper way than a choice.
#[derive(Clone, Copy)]
pub(super) struct Answer<'a, 'f> {
    test: Test,
    function: &'a Function<'f>,
}

#[derive(Clone, Copy)]
enum Test {
    Compare(FloatCC, Value, Value),
    Known(Value),
}

impl<'a, 'f> Answer<'a, 'f> {
    fn value(self) -> Value {
        match self.test {
            Test::Compare(code, a, b) => self.function.builder.borrow_mut().ins().fcmp(code, a, b),
            Test::Known(value) => value,
        }
    }
    fn known(self, value: Value) -> Self {
        Self { test: Test::Known(value), function: self.function }
    }
    /// Whether it holds in any lane, as a condition of a jump.
    fn in_any_lane(self) -> Value {
        let value = self.value();
        let mut builder = self.function.builder.borrow_mut();
        if builder.func.dfg.value_type(value).is_vector() {
            builder.ins().vhigh_bits(types::I32, value)
        } else {
            value
        }
    }
}

impl BitAnd for Answer<'_, '_> {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        let (a, b) = (self.value(), other.value());
        let both = self.function.builder.borrow_mut().ins().band(a, b);
        self.known(both)
    }
}
impl BitOr for Answer<'_, '_> {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        let (a, b) = (self.value(), other.value());
        let one = self.function.builder.borrow_mut().ins().bor(a, b);
        self.known(one)
    }
}
impl Not for Answer<'_, '_> {
    type Output = Self;
    fn not(self) -> Self {
        match self.test {
            Test::Compare(code, a, b) => {
                Self { test: Test::Compare(code.complement(), a, b), function: self.function }
            }
            Test::Known(value) => {
                let mut builder = self.function.builder.borrow_mut();
                let other = if builder.func.dfg.value_type(value).is_vector() {
                    builder.ins().bnot(value)
                } else {
                    let one = builder.ins().iconst(types::I8, 1);
                    builder.ins().bxor(value, one)
                };
                drop(builder);
                self.known(other)
            }
        }
    }
}

impl<'a, 'f> Emit<'a, 'f> {
    fn with(self, value: Value) -> Self {
        Self { value, function: self.function }
    }
    /// F64 or F64X2.
    fn number_type(self) -> types::Type {
        if self.is_pair() { types::F64X2 } else { types::F64 }
    }
    /// I64 or I64X2.
    fn word_type(self) -> types::Type {
        if self.is_pair() { types::I64X2 } else { types::I64 }
    }
    fn is_pair(self) -> bool {
        self.function.builder.borrow().func.dfg.value_type(self.value).is_vector()
    }
    fn bitcast(self, to: types::Type) -> Value {
        // which lane comes first matters to no one, but has to be said
        let flags = MemFlagsData::new().with_endianness(Endianness::Little);
        self.function.builder.borrow_mut().ins().bitcast(to, flags, self.value)
    }
    /// Two numbers side by side.
    pub(super) fn beside(self, other: Self) -> Self {
        let mut builder = self.function.builder.borrow_mut();
        let first = builder.ins().scalar_to_vector(types::F64X2, self.value);
        let both = builder.ins().insertlane(first, other.value, 1);
        drop(builder);
        self.with(both)
    }
    /// One number, with nothing beside it.
    pub(super) fn alone(self) -> Self {
        let pair = self.function.builder.borrow_mut().ins().scalar_to_vector(types::F64X2, self.value);
        self.with(pair)
    }
    /// One of two numbers side by side.
    pub(super) fn lane(self, lane: u8) -> Self {
        let value = self.function.builder.borrow_mut().ins().extractlane(self.value, lane);
        self.with(value)
    }
    /// The product with a number, added to another in one rounding.
    pub(super) fn mul_add(self, factor: Self, sum: Self) -> Self {
        let value = self.function.builder.borrow_mut().ins().fma(self.value, factor.value, sum.value);
        self.with(value)
    }
    fn compare(self, code: FloatCC, other: Self) -> Answer<'a, 'f> {
        Answer { test: Test::Compare(code, self.value, other.value), function: self.function }
    }
}

/// An operator of two numbers, and of a number and a constant.
macro_rules! operator {
    ($($trait:ident $name:ident $instruction:ident)*) => {$(
        impl $trait for Emit<'_, '_> {
            type Output = Self;
            fn $name(self, other: Self) -> Self {
                let value = self.function.builder.borrow_mut().ins().$instruction(self.value, other.value);
                self.with(value)
            }
        }
        impl $trait<f64> for Emit<'_, '_> {
            type Output = Self;
            fn $name(self, other: f64) -> Self {
                self.$name(Lanes::constant(self, other))
            }
        }
    )*};
}
operator!(Add add fadd Sub sub fsub Mul mul fmul Div div fdiv);

impl Neg for Emit<'_, '_> {
    type Output = Self;
    fn neg(self) -> Self {
        // only the sign bit is set in −0
        let sign = Lanes::constant(self, -0.0);
        let value = self.function.builder.borrow_mut().ins().bxor(self.value, sign.value);
        self.with(value)
    }
}

/// Bits of a number of the function under construction.
#[derive(Clone, Copy)]
pub(super) struct Word<'a, 'f>(Emit<'a, 'f>);

/// An operation on bits.
macro_rules! word {
    ($($name:ident $instruction:ident)*) => {$(
        fn $name(a: Self::Bits, b: Self::Bits) -> Self::Bits {
            let value = a.0.function.builder.borrow_mut().ins().$instruction(a.0.value, b.0.value);
            Word(a.0.with(value))
        }
    )*};
}

impl<'a, 'f> Lanes for Emit<'a, 'f> {
    type Bits = Word<'a, 'f>;
    type Mask = Answer<'a, 'f>;

    fn constant(self, x: f64) -> Self {
        self.with(self.function.constant(self.number_type(), x.to_bits()))
    }
    fn sqrt(self) -> Self {
        let value = self.function.builder.borrow_mut().ins().sqrt(self.value);
        self.with(value)
    }
    fn abs(self) -> Self {
        let mask = Lanes::constant(self, f64::from_bits(u64::MAX >> 1));
        let value = self.function.builder.borrow_mut().ins().band(self.value, mask.value);
        self.with(value)
    }
    fn below(self, other: Self) -> Answer<'a, 'f> {
        self.compare(FloatCC::LessThan, other)
    }
    fn equals(self, other: Self) -> Answer<'a, 'f> {
        self.compare(FloatCC::Equal, other)
    }
    fn select(mask: Answer<'a, 'f>, yes: Self, no: Self) -> Self {
        let condition = mask.value();
        if yes.is_pair() {
            let condition = Self::from_bits(Word(yes.with(condition)));
            let value =
                yes.function.builder.borrow_mut().ins().bitselect(condition.value, yes.value, no.value);
            return yes.with(value);
        }
        let value = yes.function.builder.borrow_mut().ins().select(condition, yes.value, no.value);
        yes.with(value)
    }
    fn bits(self) -> Word<'a, 'f> {
        Word(self.with(self.bitcast(self.word_type())))
    }
    fn from_bits(bits: Word<'a, 'f>) -> Self {
        let Word(word) = bits;
        word.with(word.bitcast(word.number_type()))
    }
    fn word(self, bits: u64) -> Word<'a, 'f> {
        if self.is_pair() {
            return Word(self.with(self.function.constant(types::I64X2, bits)));
        }
        let value = self.function.builder.borrow_mut().ins().iconst(types::I64, bits.cast_signed());
        Word(self.with(value))
    }
    word!(and band or bor xor bxor plus iadd minus isub);
    fn left(a: Word<'a, 'f>, places: u32) -> Word<'a, 'f> {
        let value = a.0.function.builder.borrow_mut().ins().ishl_imm_u(a.0.value, i64::from(places));
        Word(a.0.with(value))
    }
    fn right(a: Word<'a, 'f>, places: u32) -> Word<'a, 'f> {
        let value = a.0.function.builder.borrow_mut().ins().ushr_imm_u(a.0.value, i64::from(places));
        Word(a.0.with(value))
    }
    fn flip(self, bits: Word<'a, 'f>) -> Self {
        let bits = Self::from_bits(bits);
        let value = self.function.builder.borrow_mut().ins().bxor(self.value, bits.value);
        self.with(value)
    }
    fn swap(bits: Word<'a, 'f>, a: Self, b: Self) -> (Self, Self) {
        // all ones or all zeros
        let odd = Self::and(bits, a.word(1));
        let mask = odd.0.function.builder.borrow_mut().ins().ineg(odd.0.value);
        let mask = Self::from_bits(Word(a.with(mask)));
        let mut builder = a.function.builder.borrow_mut();
        let difference = builder.ins().bxor(a.value, b.value);
        let change = builder.ins().band(difference, mask.value);
        let first = builder.ins().bxor(a.value, change);
        let second = builder.ins().bxor(b.value, change);
        drop(builder);
        (a.with(first), a.with(second))
    }
    fn is_negative(self) -> Answer<'a, 'f> {
        let bits = self.bits();
        let pair = self.is_pair();
        let mut builder = self.function.builder.borrow_mut();
        let value = if pair {
            builder.ins().sshr_imm_u(bits.0.value, 63)
        } else {
            let sign = builder.ins().ushr_imm_u(bits.0.value, 63);
            builder.ins().ireduce(types::I8, sign)
        };
        Answer { test: Test::Known(value), function: self.function }
    }
    /// Gives up: the interpreter, which knows the exact way, does the whole evaluation again.
    fn rescue<const M: usize, const K: usize>(
        self,
        slow: [Answer<'a, 'f>; M],
        fast: impl FnOnce() -> [Self; K],
        _exact: fn(f64) -> [f64; K],
    ) -> [Self; K] {
        let together = if self.is_pair() { slow.into_iter().reduce(|a, b| a | b) } else { None };
        let conditions = together.as_ref().map_or(slow.as_slice(), std::slice::from_ref);
        for mask in conditions {
            let condition = mask.in_any_lane();
            let mut builder = self.function.builder.borrow_mut();
            let go_on = builder.create_block();
            builder.ins().brif(condition, self.function.give_up, &[], go_on, &[]);
            builder.seal_block(go_on);
            builder.switch_to_block(go_on);
        }
        fast()
    }
}
