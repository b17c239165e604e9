//! The expression graph: every subexpression once, in an order where operands come before their users.
//!
//! Nodes are made only through the constructors here, which look up an equal node first (hash-consing) and
//! apply the few rewrites that make derivatives short: exact constant folding, neutral elements, signs pulled
//! outwards, state-independent factors gathered in front so that they can be computed once per parameter set, sums of such factors
//! as well, sin² + cos² = 1 (`circle`).
//! Constants are folded only where the result is exact, so that a graph means the same at 16 and at 64 digits.
//! A strict graph records formulas as typed: x − x, x/x and 0·x stay where x may have no finite value.

use rustc_hash::FxHashMap;

/// The place of a node in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

/// One subexpression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A number, by its bits.
    Number(u64),
    /// A decimal literal that no `f64` equals; index into the graph's list of literals.
    Decimal(u32),
    /// π.
    Pi,
    /// The parameter with this index.
    Parameter(u32),
    /// The coordinate q with this index.
    Coordinate(u32),
    /// The velocity v with this index.
    Velocity(u32),
    /// Time.
    Time,
    /// A function of one operand.
    Unary(Unary, NodeId),
    /// A function of two operands.
    Binary(Binary, NodeId, NodeId),
}

/// Functions of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Unary {
    Neg,
    Sqrt,
    Exp,
    Ln,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Abs,
    Sign,
    /// The largest power of two that is not above |x|, where it takes a factor out of a formula and puts it back: a scale, of which
    /// the formula does not depend.
    PowerOfTwo,
}

/// Functions of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Atan2,
    Pow,
}

/// What a node depends on, as a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Depends(u8);

impl Depends {
    /// On nothing.
    pub const NOTHING: Self = Self(0);
    /// On parameters.
    pub const PARAMETERS: Self = Self(1);
    /// On time.
    pub const TIME: Self = Self(2);
    /// On coordinates.
    pub const COORDINATES: Self = Self(4);
    /// On velocities.
    pub const VELOCITIES: Self = Self(8);
    /// On anything that changes during a run.
    pub const STATE: Self = Self(2 | 4 | 8);
    /// On an operation that may have no finite value for finite operands.
    pub const DOMAIN: Self = Self(16);

    /// Both sets together.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Whether there is nothing in the set that has a value of its own.
    const fn is_of_numbers(self) -> bool {
        self.0 & !Self::DOMAIN.0 == 0
    }
    /// Whether the sets have something in common.
    pub const fn on(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A hash-consed expression graph.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    depends: Vec<Depends>,
    index: FxHashMap<Node, NodeId>,
    decimals: Vec<String>,
    decimal_index: FxHashMap<String, u32>,
    strict: bool,
}

/// Numbers nested deeper than this are not evaluated to see whether they are finite.
const NESTED_NUMBERS: u32 = 8;

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }
    /// An empty graph for typed formulas.
    pub fn strict() -> Self {
        Self { strict: true, ..Self::default() }
    }
    /// Keeps what may have no finite value, as in typed formulas, or drops it where it cancels, as in derivatives. Gives what
    /// was done before.
    pub fn set_strict(&mut self, strict: bool) -> bool {
        std::mem::replace(&mut self.strict, strict)
    }
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// Whether there are no nodes yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    /// The node at a place.
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.0 as usize]
    }
    /// What the node depends on.
    pub fn depends(&self, id: NodeId) -> Depends {
        self.depends[id.0 as usize]
    }
    /// The text of a decimal literal.
    pub fn decimal_text(&self, index: u32) -> &str {
        &self.decimals[index as usize]
    }
    /// Whether nothing in the node changes during a run.
    pub fn is_fixed(&self, id: NodeId) -> bool {
        !self.depends(id).on(Depends::STATE)
    }
    /// The value of a node that is a plain number.
    pub fn as_number(&self, id: NodeId) -> Option<f64> {
        match self.node(id) {
            Node::Number(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }
    /// Whether the node is the number zero: a structural zero.
    pub fn is_zero(&self, id: NodeId) -> bool {
        self.as_number(id) == Some(0.0)
    }

    /// Whether a node may be dropped where it cancels: it is finite for all finite inputs, products of inputs that overflow aside.
    /// In derivatives everything may.
    pub(super) fn may_drop(&self, id: NodeId) -> bool {
        !self.strict || !self.depends(id).on(Depends::DOMAIN)
    }

    /// Whether a node is a number other than zero, or nothing has to be kept.
    fn may_divide(&self, id: NodeId) -> bool {
        !self.strict || self.constant(id, NESTED_NUMBERS).is_some_and(|x| x != 0.0)
    }

    /// About the value of a node that is made of few numbers, if it and its parts are finite.
    fn constant(&self, id: NodeId, depth: u32) -> Option<f64> {
        let of = |id| self.constant(id, depth.checked_sub(1)?);
        let value = match self.node(id) {
            Node::Number(bits) => Some(f64::from_bits(bits)),
            Node::Decimal(index) => self.decimal_text(index).parse().ok(),
            Node::Pi => Some(std::f64::consts::PI),
            Node::Unary(Unary::Neg, a) => of(a).map(|a| -a),
            Node::Binary(Binary::Add, a, b) => Some(of(a)? + of(b)?),
            Node::Binary(Binary::Sub, a, b) => Some(of(a)? - of(b)?),
            Node::Binary(Binary::Mul, a, b) => Some(of(a)? * of(b)?),
            Node::Binary(Binary::Div, a, b) => Some(of(a)? / of(b)?),
            _ => None,
        };
        value.filter(|x| x.is_finite())
    }

    /// `DOMAIN` for an operation that may have no finite value for finite operands.
    fn domain(&self, node: Node) -> Depends {
        let doubtful = match node {
            Node::Unary(op, _) => {
                matches!(
                    op,
                    Unary::Sqrt
                        | Unary::Exp
                        | Unary::Ln
                        | Unary::Asin
                        | Unary::Acos
                        | Unary::Sinh
                        | Unary::Cosh
                )
            }
            Node::Binary(Binary::Div, _, b) => self.constant(b, NESTED_NUMBERS).is_none_or(|b| b == 0.0),
            Node::Binary(op, ..) => op == Binary::Pow,
            _ => false,
        };
        if doubtful { Depends::DOMAIN } else { Depends::NOTHING }
    }

    /// What a node made of numbers only depends on: on nothing if its value is finite.
    fn of_numbers(&self, id: NodeId) -> Depends {
        self.constant(id, NESTED_NUMBERS).map_or(Depends::DOMAIN, |_| Depends::NOTHING)
    }

    /// The place of a node, if it is in the graph.
    pub fn find(&self, node: Node) -> Option<NodeId> {
        self.index.get(&node).copied()
    }

    /// The one place where nodes are made.
    fn intern(&mut self, node: Node) -> NodeId {
        if let Some(&id) = self.index.get(&node) {
            return id;
        }
        let depends = match node {
            Node::Number(_) | Node::Decimal(_) | Node::Pi => Depends::NOTHING,
            Node::Parameter(_) => Depends::PARAMETERS,
            Node::Coordinate(_) => Depends::COORDINATES,
            Node::Velocity(_) => Depends::VELOCITIES,
            Node::Time => Depends::TIME,
            Node::Unary(_, a) => self.depends(a).and(self.domain(node)),
            Node::Binary(_, a, b) => self.depends(a).and(self.depends(b)).and(self.domain(node)),
        };
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.depends.push(depends);
        if depends.is_of_numbers() {
            self.depends[id.0 as usize] = self.of_numbers(id);
        }
        self.index.insert(node, id);
        id
    }

    /// A number.
    pub fn number(&mut self, x: f64) -> NodeId {
        let x = if x == 0.0 { 0.0 } else { x }; // one zero only
        self.intern(Node::Number(x.to_bits()))
    }
    /// A decimal literal. One that an `f64` holds exactly becomes a plain number.
    pub fn decimal(&mut self, text: &str) -> NodeId {
        let value: f64 = text.parse().unwrap_or(f64::NAN);
        if value.fract() == 0.0 && value.abs() < 9e15 || value.is_nan() {
            return self.number(value);
        }
        // the shortest decimal of a dyadic fraction such as 0.5 or 0.375 has at most a few digits
        if (value * 1024.0).fract() == 0.0 && value.abs() < 1e6 && text.len() < 16 {
            return self.number(value);
        }
        let next = self.decimals.len() as u32;
        let index = *self.decimal_index.entry(text.to_owned()).or_insert(next);
        if index == next {
            self.decimals.push(text.to_owned());
        }
        self.intern(Node::Decimal(index))
    }
    /// π.
    pub fn pi(&mut self) -> NodeId {
        self.intern(Node::Pi)
    }
    /// A parameter.
    pub fn parameter(&mut self, index: usize) -> NodeId {
        self.intern(Node::Parameter(index as u32))
    }
    /// A coordinate.
    pub fn coordinate(&mut self, index: usize) -> NodeId {
        self.intern(Node::Coordinate(index as u32))
    }
    /// A velocity.
    pub fn velocity(&mut self, index: usize) -> NodeId {
        self.intern(Node::Velocity(index as u32))
    }
    /// Time.
    pub fn time(&mut self) -> NodeId {
        self.intern(Node::Time)
    }

    /// The operand of a negation.
    fn negated(&self, id: NodeId) -> Option<NodeId> {
        match self.node(id) {
            Node::Unary(Unary::Neg, a) => Some(a),
            _ => None,
        }
    }
    /// A product with a state-independent first factor, as (factor, rest).
    fn fixed_times(&self, id: NodeId) -> Option<(NodeId, NodeId)> {
        match self.node(id) {
            Node::Binary(Binary::Mul, a, b) if self.is_fixed(a) && !self.is_fixed(b) => Some((a, b)),
            _ => None,
        }
    }
    /// A product with a number as its first factor, as (factor, rest).
    fn number_times(&self, id: NodeId) -> Option<(NodeId, NodeId)> {
        match self.node(id) {
            Node::Binary(Binary::Mul, a, b) if self.as_number(a).is_some() => Some((a, b)),
            _ => None,
        }
    }
    /// c, d and x if the terms are c·x and d·x with state-independent c and d, or with numbers, of which one may be 1.
    fn like_terms(&mut self, a: NodeId, b: NodeId) -> Option<(NodeId, NodeId, NodeId)> {
        if let (Some((c, x)), Some((d, y))) = (self.fixed_times(a), self.fixed_times(b))
            && x == y
        {
            return Some((c, d, x));
        }
        match (self.number_times(a), self.number_times(b)) {
            (Some((c, x)), Some((d, y))) if x == y => Some((c, d, x)),
            (Some((c, x)), _) if x == b => Some((c, self.number(1.0), x)),
            (_, Some((d, y))) if y == a => Some((self.number(1.0), d, y)),
            _ => None,
        }
    }
    /// Interns a commutative operation with its operands in one order.
    fn commutative(&mut self, op: Binary, a: NodeId, b: NodeId) -> NodeId {
        // fixed factors first, so that `fixed_times` finds them; then by age
        let key = |g: &Self, id: NodeId| (!g.is_fixed(id), g.as_number(id).is_none(), id);
        let (a, b) = if key(self, a) <= key(self, b) { (a, b) } else { (b, a) };
        self.intern(Node::Binary(op, a, b))
    }

    /// a + b
    pub fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        if let (Some(x), Some(y)) = (self.as_number(a), self.as_number(b))
            && let Some(sum) = exact_sum(x, y)
        {
            return self.number(sum);
        }
        if self.is_zero(a) {
            return b;
        }
        if self.is_zero(b) {
            return a;
        }
        if let Some(b) = self.negated(b) {
            return self.sub(a, b);
        }
        if let Some(a) = self.negated(a) {
            return self.sub(b, a);
        }
        if a == b {
            let two = self.number(2.0);
            return self.mul(two, a);
        }
        if let Some((c, d, x)) = self.like_terms(a, b) {
            let factor = self.add(c, d);
            if !self.is_zero(factor) || self.may_drop(a) {
                return self.mul(factor, x);
            }
        }
        if let Some(rest) = self.completed(a, b).or_else(|| self.completed(b, a)) {
            return rest;
        }
        if let Some(sum) = self.united(a, b, false).or_else(|| self.united(b, a, false)) {
            return sum;
        }
        self.commutative(Binary::Add, a, b)
    }

    /// x for (x − b) + b.
    fn completed(&self, difference: NodeId, b: NodeId) -> Option<NodeId> {
        match self.node(difference) {
            Node::Binary(Binary::Sub, x, other) if other == b && self.may_drop(b) => Some(x),
            _ => None,
        }
    }

    /// x for (x + b) − b.
    fn relieved(&self, sum: NodeId, b: NodeId) -> Option<NodeId> {
        match self.node(sum) {
            Node::Binary(Binary::Add, x, other) if other == b && self.may_drop(b) => Some(x),
            Node::Binary(Binary::Add, other, x) if other == b && self.may_drop(b) => Some(x),
            _ => None,
        }
    }

    /// a − b
    pub fn sub(&mut self, a: NodeId, b: NodeId) -> NodeId {
        if let (Some(x), Some(y)) = (self.as_number(a), self.as_number(b))
            && let Some(difference) = exact_sum(x, -y)
        {
            return self.number(difference);
        }
        if a == b && self.may_drop(a) {
            return self.number(0.0);
        }
        if self.is_zero(b) {
            return a;
        }
        if self.is_zero(a) {
            return self.neg(b);
        }
        if let Some(b) = self.negated(b) {
            return self.add(a, b);
        }
        if let Some(a) = self.negated(a) {
            let sum = self.add(a, b);
            return self.neg(sum);
        }
        if let Some((c, d, x)) = self.like_terms(a, b) {
            let factor = self.sub(c, d);
            if !self.is_zero(factor) || self.may_drop(a) {
                return self.mul(factor, x);
            }
        }
        if let Some(rest) = self.relieved(a, b) {
            return rest;
        }
        if let Some(sum) = self.united(a, b, true) {
            return sum;
        }
        if let Some(sum) = self.united(b, a, true) {
            return self.neg(sum);
        }
        self.intern(Node::Binary(Binary::Sub, a, b))
    }

    /// a · b
    pub fn mul(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let (a, b) = if self.is_fixed(b) && !self.is_fixed(a) { (b, a) } else { (a, b) };
        let (x, y) = (self.as_number(a), self.as_number(b));
        if let (Some(x), Some(y)) = (x, y)
            && let Some(product) = exact_product(x, y)
        {
            return self.number(product);
        }
        if x == Some(0.0) && self.may_drop(b) || y == Some(0.0) && self.may_drop(a) {
            return self.number(0.0);
        }
        if x == Some(1.0) {
            return b;
        }
        if y == Some(1.0) {
            return a;
        }
        if x == Some(-1.0) {
            return self.neg(b);
        }
        if y == Some(-1.0) {
            return self.neg(a);
        }
        match (self.negated(a), self.negated(b)) {
            (Some(a), Some(b)) => return self.mul(a, b),
            (Some(a), None) => {
                let product = self.mul(a, b);
                return self.neg(product);
            }
            (None, Some(b)) => {
                let product = self.mul(a, b);
                return self.neg(product);
            }
            (None, None) => {}
        }
        // (c·a)·b = c·(a·b) and c·(d·b) = (c·d)·b for state-independent c, d
        if !self.is_fixed(b)
            && let Some((c, rest)) = self.fixed_times(a)
        {
            let product = self.mul(rest, b);
            return self.mul(c, product);
        }
        if let Some((d, rest)) = self.fixed_times(b) {
            return if self.is_fixed(a) {
                let factor = self.mul(a, d);
                self.mul(factor, rest)
            } else {
                let product = self.mul(a, rest);
                self.mul(d, product)
            };
        }
        // numbers in front of products of parameters: 2·(½·m) = m
        if let (Some(_), Node::Binary(Binary::Mul, d, rest)) = (x, self.node(b))
            && self.as_number(d).is_some()
        {
            let factor = self.mul(a, d);
            if self.as_number(factor).is_some() {
                return self.mul(factor, rest);
            }
        }
        if let (Some(_), Node::Binary(Binary::Mul, c, rest)) = (y, self.node(a))
            && self.as_number(c).is_some()
        {
            let factor = self.mul(b, c);
            if self.as_number(factor).is_some() {
                return self.mul(factor, rest);
            }
        }
        self.commutative(Binary::Mul, a, b)
    }

    /// a / b
    pub fn div(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let (x, y) = (self.as_number(a), self.as_number(b));
        if let (Some(x), Some(y)) = (x, y)
            && let Some(quotient) = exact_quotient(x, y)
        {
            return self.number(quotient);
        }
        if x == Some(0.0) && y != Some(0.0) && self.may_divide(b) {
            return a;
        }
        if a == b && self.may_divide(b) {
            return self.number(1.0);
        }
        if let Some(y) = y
            && let Some(inverse) = exact_quotient(1.0, y)
        {
            let inverse = self.number(inverse);
            return self.mul(inverse, a);
        }
        if let Some(a) = self.negated(a) {
            let quotient = self.div(a, b);
            return self.neg(quotient);
        }
        if let Some(b) = self.negated(b) {
            let quotient = self.div(a, b);
            return self.neg(quotient);
        }
        self.intern(Node::Binary(Binary::Div, a, b))
    }

    /// −a
    pub fn neg(&mut self, a: NodeId) -> NodeId {
        match self.node(a) {
            Node::Number(bits) => self.number(-f64::from_bits(bits)),
            Node::Unary(Unary::Neg, a) => a,
            Node::Binary(Binary::Sub, x, y) => self.sub(y, x),
            _ => self.intern(Node::Unary(Unary::Neg, a)),
        }
    }

    /// A function of one operand.
    pub fn unary(&mut self, op: Unary, a: NodeId) -> NodeId {
        if op == Unary::Neg {
            return self.neg(a);
        }
        if let Some(x) = self.as_number(a)
            && let Some(value) = exact_function(op, x)
        {
            return self.number(value);
        }
        // even functions drop a sign, odd ones pass it on
        if let Some(inner) = self.negated(a) {
            match op {
                Unary::Cos | Unary::Cosh | Unary::Abs => return self.unary(op, inner),
                Unary::Sin
                | Unary::Tan
                | Unary::Asin
                | Unary::Atan
                | Unary::Sinh
                | Unary::Tanh
                | Unary::Sign => {
                    let value = self.unary(op, inner);
                    return self.neg(value);
                }
                _ => {}
            }
        }
        self.intern(Node::Unary(op, a))
    }

    /// The angle of the point (x, y).
    pub fn atan2(&mut self, y: NodeId, x: NodeId) -> NodeId {
        self.intern(Node::Binary(Binary::Atan2, y, x))
    }

    /// √(Σ x²), with a power of two taken out, so that no square overflows or underflows.
    pub fn hypot(&mut self, list: &[NodeId]) -> NodeId {
        let list: Vec<NodeId> = list.iter().copied().filter(|x| !self.is_zero(*x)).collect();
        match list.as_slice() {
            [] => return self.number(0.0),
            [x] => return self.unary(Unary::Abs, *x),
            _ => {}
        }
        // a quarter of each, so that their sum does not overflow; zeros have a scale, too
        let mut size = self.number(f64::MIN_POSITIVE);
        let quarter = self.number(0.25);
        for x in &list {
            let part = self.unary(Unary::Abs, *x);
            let part = self.mul(quarter, part);
            size = self.add(size, part);
        }
        let scale = self.unary(Unary::PowerOfTwo, size);
        let mut sum = self.number(0.0);
        for x in list {
            let scaled = self.div(x, scale);
            let square = self.mul(scaled, scaled);
            sum = self.add(sum, square);
        }
        let root = self.unary(Unary::Sqrt, sum);
        self.mul(scale, root)
    }

    /// An integer power, by repeated squaring.
    pub fn powi(&mut self, base: NodeId, exponent: i32) -> NodeId {
        let mut result = self.number(1.0);
        if exponent == 0 && !self.may_drop(base) {
            // 1 where the base is finite
            let zero = self.number(0.0);
            let nothing = self.mul(zero, base);
            return self.add(result, nothing);
        }
        let mut square = base;
        let mut left = exponent.unsigned_abs();
        while left > 0 {
            if left & 1 == 1 {
                result = self.mul(result, square);
            }
            left >>= 1;
            if left > 0 {
                square = self.mul(square, square);
            }
        }
        if exponent < 0 {
            let one = self.number(1.0);
            return self.div(one, result);
        }
        result
    }

    /// A real power; integers and halves take the cheaper way.
    pub fn pow(&mut self, base: NodeId, exponent: NodeId) -> NodeId {
        match self.as_number(exponent) {
            Some(e) if e.fract() == 0.0 && e.abs() <= 1024.0 => self.powi(base, e as i32),
            Some(0.5) => self.unary(Unary::Sqrt, base),
            Some(-0.5) => {
                let one = self.number(1.0);
                let root = self.unary(Unary::Sqrt, base);
                self.div(one, root)
            }
            _ => self.intern(Node::Binary(Binary::Pow, base, exponent)),
        }
    }
}

/// x + y, if no bit is lost.
fn exact_sum(x: f64, y: f64) -> Option<f64> {
    let sum = x + y;
    let part = sum - x;
    let lost = (x - (sum - part)) + (y - part);
    (lost == 0.0 && sum.is_finite()).then_some(sum)
}

/// x·y, if no bit is lost.
pub(super) fn exact_product(x: f64, y: f64) -> Option<f64> {
    let product = x * y;
    let normal = product == 0.0 && (x == 0.0 || y == 0.0) || product.is_normal();
    (normal && x.mul_add(y, -product) == 0.0).then_some(product)
}

/// x/y, if no bit is lost.
fn exact_quotient(x: f64, y: f64) -> Option<f64> {
    let quotient = x / y;
    let normal = quotient == 0.0 && x == 0.0 && y != 0.0 || quotient.is_normal();
    (normal && quotient.mul_add(y, -x) == 0.0).then_some(quotient)
}

/// The value of a function where it is known exactly.
fn exact_function(op: Unary, x: f64) -> Option<f64> {
    match op {
        Unary::Neg => Some(-x),
        Unary::Abs => Some(x.abs()),
        Unary::Sign if !x.is_nan() => Some(if x == 0.0 { 0.0 } else { x.signum() }),
        Unary::Sqrt => {
            let root = x.sqrt();
            (exact_product(root, root) == Some(x)).then_some(root)
        }
        Unary::Exp | Unary::Cos | Unary::Cosh if x == 0.0 => Some(1.0),
        Unary::Sin | Unary::Tan | Unary::Asin | Unary::Atan | Unary::Sinh | Unary::Tanh if x == 0.0 => {
            Some(0.0)
        }
        Unary::Ln | Unary::Acos if x == 1.0 => Some(0.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_expressions_are_one_node() {
        let mut g = Graph::new();
        let (x, y) = (g.coordinate(0), g.coordinate(1));
        let (a, b) = (g.add(x, y), g.add(y, x));
        assert_eq!(a, b);
        let size = g.len();
        g.add(x, y);
        assert_eq!(g.len(), size);
    }

    #[test]
    fn neutral_elements_and_signs_vanish() {
        let mut g = Graph::new();
        let x = g.coordinate(0);
        let (zero, one) = (g.number(0.0), g.number(1.0));
        assert_eq!(g.mul(x, one), x);
        assert_eq!(g.add(zero, x), x);
        assert!({
            let d = g.sub(x, x);
            g.is_zero(d)
        });
        let minus = g.neg(x);
        assert_eq!(g.neg(minus), x);
        assert_eq!(g.add(x, minus), zero);
        assert_eq!(g.mul(minus, minus), g.mul(x, x));
    }

    #[test]
    fn constants_fold_only_where_exact() {
        let mut g = Graph::new();
        let (one, three, half) = (g.number(1.0), g.number(3.0), g.number(0.5));
        let third = g.div(one, three);
        assert_eq!(g.as_number(third), None);
        let product = g.mul(three, half);
        assert_eq!(g.as_number(product), Some(1.5));
        let tenth = g.decimal("0.1");
        assert_eq!(g.as_number(tenth), None);
        let quarter = g.decimal("0.25");
        assert_eq!(g.as_number(quarter), Some(0.25));
        let two = g.number(2.0);
        let root = g.unary(Unary::Sqrt, two);
        assert_eq!(g.as_number(root), None);
    }

    #[test]
    fn fixed_factors_gather_in_front() {
        let mut g = Graph::new();
        let (m, l, x) = (g.parameter(0), g.parameter(1), g.coordinate(0));
        let mx = g.mul(x, m);
        let both = g.mul(mx, l);
        let ml = g.mul(m, l);
        assert_eq!(both, g.mul(ml, x));
        let (two, half) = (g.number(2.0), g.number(0.5));
        let halved = g.mul(half, mx);
        assert_eq!(g.mul(two, halved), mx);
    }

    #[test]
    fn fixed_factors_of_like_terms_add_up() {
        let mut g = Graph::new();
        let (m, l, x) = (g.parameter(0), g.parameter(1), g.coordinate(0));
        let sine = g.unary(Unary::Sin, x);
        let (a, b) = (g.mul(m, sine), g.mul(sine, l));
        let (sum, difference) = (g.add(m, l), g.sub(m, l));
        assert_eq!(g.add(a, b), g.mul(sum, sine));
        assert_eq!(g.sub(a, b), g.mul(difference, sine));
        // also numbers before what is fixed
        let (two, three, ml) = (g.number(2.0), g.number(3.0), g.mul(m, l));
        let (twice, thrice) = (g.mul(two, ml), g.mul(three, ml));
        assert_eq!(g.add(twice, ml), thrice);
        assert_eq!((g.sub(thrice, twice), g.sub(thrice, ml)), (ml, twice));
    }

    #[test]
    fn integer_powers_multiply() {
        let mut g = Graph::new();
        let x = g.coordinate(0);
        let square = g.mul(x, x);
        let (two, half) = (g.number(2.0), g.number(0.5));
        assert_eq!(g.pow(x, two), square);
        assert_eq!(g.pow(x, half), g.unary(Unary::Sqrt, x));
        let fourth = g.mul(square, square);
        assert_eq!(g.powi(x, 4), fourth);
    }
}
