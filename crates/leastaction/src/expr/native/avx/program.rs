//! Straight-line programs: what a tape becomes before it is given registers of a processor.
//!
//! Every operation makes one value, named by its place in the list. A value is one number, or two, four or eight side by side. [`Emit`] is
//! such a value with operators that append to the program, so that the elementary functions, which are written for any [`Lanes`],
//! write themselves. All answers to comparisons are values whose sign bits tell.

use crate::scalar::elementary::Lanes;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// A value, by the place of the operation that makes it.
pub(super) type ValueId = u32;

/// How many numbers a value has side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Width {
    One,
    Two,
    Four,
    /// With AVX-512 only.
    Eight,
}

impl Width {
    /// The same as a number.
    pub(super) fn lanes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}

/// An array that the code is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Array {
    Registers,
    Coordinates,
    Velocities,
    Time,
    Outputs,
    Changes,
}

/// Operations of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Double {
    Add,
    Sub,
    Mul,
    Div,
    And,
    Or,
    Xor,
    /// The larger one; the second if one of them is no number.
    Max,
    /// Sum of the bits as whole numbers.
    AddWords,
    SubWords,
    Compare(Comparison),
    /// The first lanes of two values, each of one lane.
    Beside,
    /// The two or four lanes of one value before those of another.
    Before,
    /// The last two lanes of one value before the first two of another.
    Across,
    /// Of two values a and b: a's second lane, b's first, a's fourth, b's third.
    Interlace,
    /// Eight of the sixteen lanes of two values, from this one on.
    Window(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Below,
    NotBelow,
}

impl Comparison {
    fn complement(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Below => Self::NotBelow,
            Self::NotBelow => Self::Below,
        }
    }
}

/// Operations of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Single {
    Sqrt,
    /// Bits moved to the left.
    Left(u8),
    /// Bits moved to the right.
    Right(u8),
    /// The second lane of two comes first.
    Second,
    /// The last two lanes of four.
    UpperHalf,
    /// The first lane in all lanes.
    Spread,
    /// Of eight lanes: halves exchanged, quarters within halves, lanes within quarters.
    OtherHalf,
    OtherQuarter,
    OtherLane,
}

/// How a product and a third value become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fusion {
    /// a·b + c
    Plus,
    /// a·b − c
    Minus,
    /// c − a·b
    From,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    /// What an array has so many bytes behind its start, as many numbers as the value has lanes.
    Load(Array, i32),
    /// One number of an array, in every lane.
    Broadcast(Array, i32),
    /// A number of the table, in every lane.
    Constant(u32),
    Single(Single, ValueId),
    Double(Double, ValueId, ValueId),
    /// The product of the first two with the third, in one rounding.
    Fused(Fusion, ValueId, ValueId, ValueId),
    /// The second where the first one's sign bit is set, the third elsewhere.
    Select(ValueId, ValueId, ValueId),
    Store(Array, i32, ValueId),
    /// The code gives up where the sign bit of a lane is set.
    GiveUp(ValueId),
    /// Before a loop: what a value is in its first turn, and what [`Carry`](Self::Carry) makes it in the next ones.
    Carried(ValueId),
    /// Before a loop: a value that stays in its register until the loop is left.
    Hold(ValueId),
    /// What follows is done again and again. In a loop, loads, broadcasts and stores move on from turn to turn.
    LoopStart,
    /// A carried value is that of another one in the next turn.
    Carry(ValueId, ValueId),
    /// A value from before the loop that its next turn reads.
    Keep(ValueId),
    /// So many turns, and by how many bytes they move on.
    LoopEnd {
        turns: i32,
        stride: i32,
    },
}

impl Operation {
    /// The values it reads.
    pub(super) fn operands(self) -> impl Iterator<Item = ValueId> {
        let list = match self {
            Self::Load(..)
            | Self::Broadcast(..)
            | Self::Constant(_)
            | Self::LoopStart
            | Self::LoopEnd { .. } => [None; 3],
            Self::Single(_, a)
            | Self::Store(_, _, a)
            | Self::GiveUp(a)
            | Self::Carried(a)
            | Self::Hold(a)
            | Self::Keep(a) => [Some(a), None, None],
            Self::Double(_, a, b) | Self::Carry(a, b) => [Some(a), Some(b), None],
            Self::Fused(_, a, b, c) | Self::Select(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        list.into_iter().flatten()
    }
    /// The same with other names for the values it reads.
    pub(super) fn renamed(self, mut name: impl FnMut(ValueId) -> ValueId) -> Self {
        match self {
            Self::Load(..)
            | Self::Broadcast(..)
            | Self::Constant(_)
            | Self::LoopStart
            | Self::LoopEnd { .. } => self,
            Self::Single(single, a) => Self::Single(single, name(a)),
            Self::Double(double, a, b) => Self::Double(double, name(a), name(b)),
            Self::Fused(fusion, a, b, c) => Self::Fused(fusion, name(a), name(b), name(c)),
            Self::Select(a, b, c) => Self::Select(name(a), name(b), name(c)),
            Self::Store(array, place, a) => Self::Store(array, place, name(a)),
            Self::GiveUp(a) => Self::GiveUp(name(a)),
            Self::Carried(a) => Self::Carried(name(a)),
            Self::Hold(a) => Self::Hold(name(a)),
            Self::Carry(a, b) => Self::Carry(name(a), name(b)),
            Self::Keep(a) => Self::Keep(name(a)),
        }
    }
    /// Whether it does something beside making a value.
    fn is_effect(self) -> bool {
        matches!(
            self,
            Self::Store(..)
                | Self::GiveUp(_)
                | Self::Hold(_)
                | Self::LoopStart
                | Self::Carry(..)
                | Self::Keep(_)
                | Self::LoopEnd { .. }
        )
    }
    /// Whether it is in memory before the program runs, and is read from there where it is used.
    pub(super) fn is_source(self) -> bool {
        matches!(self, Self::Load(..) | Self::Constant(_))
    }
}

/// A straight-line program, but for the loops that `roll` makes.
#[derive(Default)]
pub(super) struct Program {
    pub(super) operations: Vec<(Operation, Width)>,
    /// Constants, by their bits.
    pub(super) table: Vec<u64>,
    places: FxHashMap<u64, u32>,
    /// Constants and loads that exist already.
    known: FxHashMap<(Source, Width), ValueId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    Load(Array, i32),
    Broadcast(Array, i32),
    Constant(u64),
}

impl Program {
    /// An empty program with the constants of another.
    pub(super) fn with_table_of(other: &Self) -> Self {
        Self { table: other.table.clone(), ..Self::default() }
    }
    pub(super) fn push(&mut self, operation: Operation, width: Width) -> ValueId {
        self.operations.push((operation, width));
        (self.operations.len() - 1) as ValueId
    }
    fn load(&mut self, array: Array, place: i32, width: Width) -> ValueId {
        self.once((Source::Load(array, place), width), Operation::Load(array, place))
    }
    /// What an operation makes, which is done only if it was not done before.
    fn once(&mut self, source: (Source, Width), operation: Operation) -> ValueId {
        if let Some(&value) = self.known.get(&source) {
            return value;
        }
        let value = self.push(operation, source.1);
        self.known.insert(source, value);
        value
    }
    fn constant(&mut self, bits: u64, width: Width) -> ValueId {
        let source = (Source::Constant(bits), width);
        if let Some(&value) = self.known.get(&source) {
            return value;
        }
        let next = self.table.len() as u32;
        let place = *self.places.entry(bits).or_insert(next);
        if place == next {
            self.table.push(bits);
        }
        let value = self.push(Operation::Constant(place), width);
        self.known.insert(source, value);
        value
    }
    /// Lets pieces of the program that follow one another take turns, some together, operation by operation, so that a processor need not wait for one of
    /// them. The pieces begin at these places and must not depend on each other but in the order of their operations.
    pub(super) fn interleave(&mut self, starts: &[usize], together: usize) {
        let Some(&first) = starts.first() else { return };
        let ends = starts[1..].iter().copied().chain([self.operations.len()]);
        let is_source = |i: &usize| self.operations[*i].0.is_source();
        // what is read where it is used may stand anywhere
        let mut order: Vec<usize> =
            (0..first).chain((first..self.operations.len()).filter(is_source)).collect();
        let mut pieces: Vec<_> =
            starts.iter().zip(ends).map(|(&start, end)| (start..end).filter(|i| !is_source(i))).collect();
        for pieces in pieces.chunks_mut(together) {
            let mut left = 1;
            while left > 0 {
                let before = order.len();
                order.extend(pieces.iter_mut().filter_map(Iterator::next));
                left = order.len() - before;
            }
        }
        let mut place = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new as ValueId;
        }
        let renamed = |operation: Operation| operation.renamed(|value| place[value as usize]);
        self.operations =
            order.iter().map(|&old| (renamed(self.operations[old].0), self.operations[old].1)).collect();
        self.known.clear();
    }
    /// How many instructions it takes; what is in memory anyway takes none.
    pub(super) fn cost(&self) -> usize {
        let takes_one =
            |((operation, _), needed): &(&(Operation, Width), bool)| *needed && !operation.is_source();
        self.operations.iter().zip(self.needed()).filter(takes_one).count()
    }
    /// Which operations have a reader or an effect.
    pub(super) fn needed(&self) -> Vec<bool> {
        let mut needed = vec![false; self.operations.len()];
        for (i, (operation, _)) in self.operations.iter().enumerate().rev() {
            if operation.is_effect() || needed[i] {
                needed[i] = true;
                for operand in operation.operands() {
                    needed[operand as usize] = true;
                }
            }
        }
        needed
    }
}

/// A value of the program under construction.
#[derive(Clone, Copy)]
pub(super) struct Emit<'p> {
    pub(super) value: ValueId,
    pub(super) width: Width,
    pub(super) program: &'p RefCell<Program>,
}

impl<'p> Emit<'p> {
    fn with(self, value: ValueId) -> Self {
        Self { value, ..self }
    }
    pub(super) fn single(self, operation: Single) -> Self {
        self.with(self.program.borrow_mut().push(Operation::Single(operation, self.value), self.width))
    }
    fn double(self, operation: Double, other: Self) -> Self {
        let operation = Operation::Double(operation, self.value, other.value);
        self.with(self.program.borrow_mut().push(operation, self.width))
    }
    fn bits_constant(self, bits: u64) -> Self {
        self.with(self.program.borrow_mut().constant(bits, self.width))
    }
    pub(super) fn store(self, array: Array, place: i32) {
        let mut program = self.program.borrow_mut();
        program.push(Operation::Store(array, place, self.value), self.width);
        // a register may hold what was there before
        program.known.remove(&(Source::Load(array, place), self.width));
    }
    /// What an array has at a place.
    pub(super) fn load(program: &'p RefCell<Program>, array: Array, place: i32, width: Width) -> Self {
        Self { value: program.borrow_mut().load(array, place, width), width, program }
    }
    /// One number of an array in all lanes.
    pub(super) fn broadcast(program: &'p RefCell<Program>, array: Array, place: i32, width: Width) -> Self {
        let value = program.borrow_mut().push(Operation::Broadcast(array, place), width);
        Self { value, width, program }
    }
    /// One number of an array in all lanes of a value of some width, brought there once for the whole program: nothing may change it.
    pub(super) fn everywhere(program: &'p RefCell<Program>, array: Array, place: i32, width: Width) -> Self {
        if width == Width::One {
            return Self::load(program, array, place, width);
        }
        let source = (Source::Broadcast(array, place), width);
        let value = program.borrow_mut().once(source, Operation::Broadcast(array, place));
        Self { value, width, program }
    }

    /// Up to four numbers side by side, or eight; with two at least.
    pub(super) fn side_by_side(numbers: &[Self]) -> Self {
        let pair = |a: Self, b: Self| Self { width: Width::Two, ..a }.double(Double::Beside, b);
        match *numbers {
            [.., _, _, _, _, _] => {
                let (first, last) = numbers.split_at(Width::Four.lanes());
                Self { width: Width::Eight, ..Self::side_by_side(first) }.before(Self::side_by_side(last))
            }
            [a, b, c, d] => Self { width: Width::Four, ..a }.with(pair(a, b).value).before(pair(c, d)),
            [a, b, c] => Self { width: Width::Four, ..a }.with(pair(a, b).value).before(pair(c, c)),
            [a, b] => pair(a, b),
            [a] => pair(a, a),
            _ => numbers[0],
        }
    }
    /// One number in all lanes.
    pub(super) fn spread(self, width: Width) -> Self {
        Self { width, ..self }.single(Single::Spread)
    }
    /// The product with a number, and another one, in one rounding.
    pub(super) fn fused(self, fusion: Fusion, factor: Self, other: Self) -> Self {
        let operation = Operation::Fused(fusion, self.value, factor.value, other.value);
        self.with(self.program.borrow_mut().push(operation, self.width))
    }
    /// The product with a number, added to another in one rounding.
    pub(super) fn mul_add(self, factor: Self, sum: Self) -> Self {
        self.fused(Fusion::Plus, factor, sum)
    }
    /// The larger one of two.
    pub(super) fn max(self, other: Self) -> Self {
        self.double(Double::Max, other)
    }
    /// The largest of four or eight lanes, alone.
    pub(super) fn largest(self) -> Self {
        if self.width == Width::Eight {
            let exchanges = [Single::OtherHalf, Single::OtherQuarter, Single::OtherLane];
            let all = exchanges.into_iter().fold(self, |largest, other| largest.max(largest.single(other)));
            return Self { width: Width::One, ..all };
        }
        let two = Self { width: Width::Two, ..self };
        let half = two.max(two.single(Single::UpperHalf));
        let one = Self { width: Width::One, ..half };
        one.max(one.single(Single::Second))
    }
    fn before(self, other: Self) -> Self {
        self.double(Double::Before, other)
    }
    /// As many lanes of two values as one has: those from lane `by` on.
    pub(super) fn shifted(self, next: Self, by: usize) -> Self {
        if self.width == Width::Eight {
            return if by == 0 { self } else { self.double(Double::Window(by as u8), next) };
        }
        let middle = |a: Self| a.double(Double::Across, next);
        match by {
            0 => self,
            1 => self.double(Double::Interlace, middle(self)),
            2 => middle(self),
            _ => middle(self).double(Double::Interlace, next),
        }
    }
    /// One of several numbers side by side.
    pub(super) fn lane(self, lane: usize) -> Self {
        if self.width == Width::Eight {
            return Self { width: Width::One, ..self.shifted(self, lane) };
        }
        let half = if lane >= 2 {
            Self { width: Width::Two, ..self }.single(Single::UpperHalf)
        } else {
            Self { width: Width::Two, ..self }
        };
        let one = Self { width: Width::One, ..half };
        if lane % 2 == 1 { one.single(Single::Second) } else { one }
    }
}

/// An operator of two numbers, and of a number and a constant.
macro_rules! operator {
    ($($trait:ident $name:ident)*) => {$(
        impl $trait for Emit<'_> {
            type Output = Self;
            fn $name(self, other: Self) -> Self {
                self.double(Double::$trait, other)
            }
        }
        impl $trait<f64> for Emit<'_> {
            type Output = Self;
            fn $name(self, other: f64) -> Self {
                self.double(Double::$trait, Lanes::constant(self, other))
            }
        }
    )*};
}
operator!(Add add Sub sub Mul mul Div div);

impl Neg for Emit<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        // only the sign bit is set in −0
        self.double(Double::Xor, self.bits_constant(1 << 63))
    }
}

/// The answer to a comparison.
#[derive(Clone, Copy)]
pub(super) struct Answer<'p>(Emit<'p>);

impl BitAnd for Answer<'_> {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0.double(Double::And, other.0))
    }
}
impl BitOr for Answer<'_> {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0.double(Double::Or, other.0))
    }
}
impl Not for Answer<'_> {
    type Output = Self;
    fn not(self) -> Self {
        let (operation, _) = self.0.program.borrow().operations[self.0.value as usize];
        if let Operation::Double(Double::Compare(comparison), a, b) = operation {
            let complement = Operation::Double(Double::Compare(comparison.complement()), a, b);
            return Self(self.0.with(self.0.program.borrow_mut().push(complement, self.0.width)));
        }
        Self(self.0.double(Double::Xor, self.0.bits_constant(u64::MAX)))
    }
}

/// Bits of a value of the program under construction.
#[derive(Clone, Copy)]
pub(super) struct Word<'p>(Emit<'p>);

/// An operation on bits.
macro_rules! word {
    ($($name:ident $operation:ident)*) => {$(
        fn $name(a: Word<'p>, b: Word<'p>) -> Word<'p> {
            Word(a.0.double(Double::$operation, b.0))
        }
    )*};
}

impl<'p> Lanes for Emit<'p> {
    type Bits = Word<'p>;
    type Mask = Answer<'p>;

    fn constant(self, x: f64) -> Self {
        self.bits_constant(x.to_bits())
    }
    fn sqrt(self) -> Self {
        self.single(Single::Sqrt)
    }
    fn abs(self) -> Self {
        self.double(Double::And, self.bits_constant(u64::MAX >> 1))
    }
    fn below(self, other: Self) -> Answer<'p> {
        Answer(self.double(Double::Compare(Comparison::Below), other))
    }
    fn equals(self, other: Self) -> Answer<'p> {
        Answer(self.double(Double::Compare(Comparison::Equal), other))
    }
    fn select(mask: Answer<'p>, yes: Self, no: Self) -> Self {
        let operation = Operation::Select(mask.0.value, yes.value, no.value);
        yes.with(yes.program.borrow_mut().push(operation, yes.width))
    }
    fn bits(self) -> Word<'p> {
        Word(self)
    }
    fn from_bits(bits: Word<'p>) -> Self {
        bits.0
    }
    fn word(self, bits: u64) -> Word<'p> {
        Word(self.bits_constant(bits))
    }
    word!(and And or Or xor Xor plus AddWords minus SubWords);
    fn left(a: Word<'p>, places: u32) -> Word<'p> {
        Word(a.0.single(Single::Left(places as u8)))
    }
    fn right(a: Word<'p>, places: u32) -> Word<'p> {
        Word(a.0.single(Single::Right(places as u8)))
    }
    fn flip(self, bits: Word<'p>) -> Self {
        self.double(Double::Xor, bits.0)
    }
    fn swap(bits: Word<'p>, a: Self, b: Self) -> (Self, Self) {
        let odd = Answer(Self::left(bits, 63).0);
        (Self::select(odd, b, a), Self::select(odd, a, b))
    }
    fn is_negative(self) -> Answer<'p> {
        Answer(self)
    }
    /// Gives up: the interpreter, which knows the exact way, does the whole evaluation again.
    fn rescue<const M: usize, const K: usize>(
        self,
        slow: [Answer<'p>; M],
        fast: impl FnOnce() -> [Self; K],
        _exact: fn(f64) -> [f64; K],
    ) -> [Self; K] {
        if let Some(any) = slow.into_iter().reduce(|a, b| a | b) {
            self.program.borrow_mut().push(Operation::GiveUp(any.0.value), self.width);
        }
        fast()
    }
}
