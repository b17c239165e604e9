//! Sines, cosines and exponentials modulo a prime, by the addition theorem.
//!
//! An angle is taken apart into sums and rational multiples until only atoms are left. Each atom gets a random point
//! of the circle c² + s² = 1, or for exp, sinh and cosh of the hyperbola c² − s² = 1, and a sum of angles the product
//! of their points. So sin² + cos² = 1, cos(a − b) and exp(a) exp(−a) = 1 are known, and nothing else is assumed.
//! Fractions of an angle are whole multiples of a smaller one: the point of a node belongs to the node divided by its
//! `scale`.

use super::field::{PrimeField, decimal_parts};
use crate::expr::{Binary, Depends, Graph, Node, NodeId, Unary};

/// Denominators beyond this, and multiples beyond it, are not taken apart.
const LARGEST: u64 = 4096;

/// Which curve: the sign of s² in c² ± s² = 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    /// For sin, cos and tan.
    Circle,
    /// For exp, sinh, cosh and tanh.
    Hyperbola,
}

/// A point (c, s) of a curve.
pub(super) type CurvePoint = [u64; 2];

impl Curve {
    /// The curve on which a function is evaluated.
    pub(super) fn of(op: Unary) -> Option<Self> {
        match op {
            Unary::Sin | Unary::Cos | Unary::Tan => Some(Self::Circle),
            Unary::Exp | Unary::Sinh | Unary::Cosh | Unary::Tanh => Some(Self::Hyperbola),
            _ => None,
        }
    }

    /// A product of two s with the sign of s² in c² ± s².
    fn signed(self, field: PrimeField, x: u64) -> u64 {
        if self == Self::Circle { x } else { field.neg(x) }
    }

    /// The point of parameter u: ((1 ∓ u²)/(1 ± u²), 2u/(1 ± u²)).
    fn point(self, field: PrimeField, u: u64) -> Option<CurvePoint> {
        let square = self.signed(field, field.mul(u, u));
        let inverse = field.inverse(field.add(1, square))?;
        Some([field.mul(field.sub(1, square), inverse), field.mul(field.add(u, u), inverse)])
    }

    /// The point of the sum of two angles.
    fn product(self, field: PrimeField, [a, b]: CurvePoint, [c, d]: CurvePoint) -> CurvePoint {
        let sines = self.signed(field, field.mul(b, d));
        [field.sub(field.mul(a, c), sines), field.add(field.mul(a, d), field.mul(b, c))]
    }

    /// The point of a multiple of an angle.
    fn power(self, field: PrimeField, [c, s]: CurvePoint, factor: i64) -> CurvePoint {
        let (mut result, mut square) = ([1, 0], [c, if factor < 0 { field.neg(s) } else { s }]);
        let mut left = factor.unsigned_abs();
        while left > 0 {
            if left & 1 == 1 {
                result = self.product(field, result, square);
            }
            square = self.product(field, square, square);
            left >>= 1;
        }
        result
    }
}

/// How a node follows from its operands: a sum of rational multiples.
#[derive(Clone, Copy, Debug)]
enum Part {
    Atom,
    One(Term),
    Two(Term, Term),
}

/// A rational multiple of a node.
#[derive(Clone, Copy, Debug)]
struct Term {
    node: NodeId,
    numerator: i64,
    denominator: u64,
}

/// What the angles of one curve are made of.
#[derive(Debug)]
pub(super) struct Angles {
    curve: Curve,
    /// By node: the scale, zero where the node is no part of an angle, and what it is made of. Empty without such
    /// functions.
    scale: Vec<u64>,
    part: Vec<Part>,
}

impl Angles {
    /// Takes apart the angles of the functions among these nodes, which are in graph order.
    pub(super) fn new(graph: &Graph, nodes: &[NodeId], curve: Curve) -> Self {
        let angle = |id: NodeId| match graph.node(id) {
            Node::Unary(op, a) if Curve::of(op) == Some(curve) => Some(a),
            _ => None,
        };
        let last = nodes.iter().rev().find(|id| angle(**id).is_some());
        let size = last.map_or(0, |last| last.0 as usize + 1);
        let mut angles = Self { curve, scale: vec![0; size], part: vec![Part::Atom; size] };
        // users before their operands, so that a scale is final when its node is taken apart
        for id in nodes.iter().rev().filter(|id| (id.0 as usize) < size) {
            if let Some(a) = angle(*id) {
                angles.widen(a, 1);
            }
            if angles.scale[id.0 as usize] > 0 {
                angles.part[id.0 as usize] = angles.take_apart(graph, *id).unwrap_or(Part::Atom);
            }
        }
        angles
    }

    /// Asks for a fraction of a node; false if its scale would become too large.
    fn widen(&mut self, id: NodeId, scale: u64) -> bool {
        let known = &mut self.scale[id.0 as usize];
        let common = if *known == 0 { scale } else { *known / common_divisor(*known, scale) * scale };
        let fits = common <= LARGEST;
        if fits {
            *known = common;
        }
        fits
    }

    fn take_apart(&mut self, graph: &Graph, id: NodeId) -> Option<Part> {
        match graph.node(id) {
            Node::Unary(Unary::Neg, a) => Some(Part::One(self.term(id, a, (-1, 1))?)),
            Node::Binary(Binary::Add, a, b) => {
                Some(Part::Two(self.term(id, a, (1, 1))?, self.term(id, b, (1, 1))?))
            }
            Node::Binary(Binary::Sub, a, b) => {
                Some(Part::Two(self.term(id, a, (1, 1))?, self.term(id, b, (-1, 1))?))
            }
            Node::Binary(Binary::Mul, factor, a) => {
                Some(Part::One(self.term(id, a, rational(graph, factor)?)?))
            }
            Node::Binary(Binary::Div, a, divisor) => {
                let (numerator, denominator) = rational(graph, divisor)?;
                let inverse = (numerator.signum() * denominator as i64, numerator.unsigned_abs());
                Some(Part::One(self.term(id, a, inverse)?))
            }
            _ => None,
        }
    }

    /// A multiple of a node as a part of another; `None` if its numbers are too large.
    fn term(&mut self, of: NodeId, node: NodeId, (numerator, denominator): (i64, u64)) -> Option<Term> {
        let small = numerator != 0 && denominator != 0 && numerator.unsigned_abs() <= LARGEST;
        let scale = denominator.checked_mul(self.scale[of.0 as usize]).filter(|_| small)?;
        (scale <= LARGEST && self.widen(node, scale)).then_some(Term { node, numerator, denominator })
    }

    /// What is made of these terms: each node with the power of its point.
    fn powers(&self, id: NodeId) -> impl Iterator<Item = (NodeId, i64)> {
        let terms = match self.part[id.0 as usize] {
            Part::Atom => [None, None],
            Part::One(term) => [Some(term), None],
            Part::Two(a, b) => [Some(a), Some(b)],
        };
        let own = self.scale[id.0 as usize];
        terms.into_iter().flatten().map(move |Term { node, numerator, denominator }| {
            (node, numerator * (self.scale[node.0 as usize] / (denominator * own)) as i64)
        })
    }

    /// Whether the node is a part of an angle.
    pub(super) fn has(&self, id: NodeId) -> bool {
        self.scale.get(id.0 as usize).is_some_and(|scale| *scale > 0)
    }

    /// Whether the node is an angle that is not taken apart.
    pub(super) fn is_atom(&self, id: NodeId) -> bool {
        self.has(id) && matches!(self.part[id.0 as usize], Part::Atom)
    }

    /// Calculates the point of a node from those of older nodes, or from its value.
    pub(super) fn place(
        &self,
        field: PrimeField,
        id: NodeId,
        points: &mut Vec<CurvePoint>,
        atom: impl Fn(u64) -> u64,
    ) -> Option<()> {
        points.resize(self.scale.len(), [1, 0]);
        let scale = self.scale[id.0 as usize];
        let point = match self.part[id.0 as usize] {
            Part::Atom => self.curve.point(field, atom(scale))?,
            _ => self.powers(id).fold([1, 0], |point, (node, power)| {
                let factor = self.curve.power(field, points[node.0 as usize], power);
                self.curve.product(field, point, factor)
            }),
        };
        points[id.0 as usize] = point;
        Some(())
    }

    /// (cos, sin) or (cosh, sinh) of a node that is an angle.
    pub(super) fn functions(&self, field: PrimeField, id: NodeId, points: &[CurvePoint]) -> CurvePoint {
        self.curve.power(field, points[id.0 as usize], self.scale[id.0 as usize] as i64)
    }

    /// The degree of the point of a node in the parameters of its atoms.
    pub(super) fn degree(&self, id: NodeId, degrees: &[f64]) -> f64 {
        match self.part[id.0 as usize] {
            Part::Atom => 2.0,
            _ => self.powers(id).map(|(node, power)| power.abs() as f64 * degrees[node.0 as usize]).sum(),
        }
    }

    /// How many times the point of an angle is multiplied to give its functions.
    pub(super) fn multiple(&self, id: NodeId) -> f64 {
        self.scale[id.0 as usize] as f64
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// The value of a node that is a simple fraction.
fn rational(graph: &Graph, id: NodeId) -> Option<(i64, u64)> {
    if graph.depends(id) != Depends::NOTHING {
        return None;
    }
    let whole = |x: f64| (x.fract() == 0.0 && x.abs() <= LARGEST as f64).then_some(x as i64);
    match graph.node(id) {
        Node::Number(bits) => {
            let x = f64::from_bits(bits);
            let denominators = (0..=12).map(|k| 1u64 << k);
            denominators.into_iter().find_map(|d| Some((whole(x * d as f64)?, d)))
        }
        Node::Decimal(index) => {
            let (digits, exponent) = decimal_parts(graph.decimal_text(index))?;
            let (head, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            let power = exponent - fraction.len() as i64;
            let number: i64 = format!("{head}{fraction}").parse().ok()?;
            let ten = 10u64.checked_pow(u32::try_from(power.unsigned_abs()).ok()?)?;
            if power < 0 {
                reduced(number, ten)
            } else {
                reduced(number.checked_mul(i64::try_from(ten).ok()?)?, 1)
            }
        }
        Node::Unary(Unary::Neg, a) => rational(graph, a).map(|(n, d)| (-n, d)),
        Node::Binary(Binary::Div, a, b) => {
            let ((n, d), (m, e)) = (rational(graph, a)?, rational(graph, b)?);
            reduced(n.checked_mul(e as i64)? * m.signum(), d.checked_mul(m.unsigned_abs())?)
        }
        _ => None,
    }
}

/// A fraction in lowest terms, if its numbers are small enough.
fn reduced(numerator: i64, denominator: u64) -> Option<(i64, u64)> {
    if numerator == 0 || denominator == 0 {
        return None;
    }
    let divisor = common_divisor(numerator.unsigned_abs(), denominator);
    let (n, d) = (numerator / i64::try_from(divisor).ok()?, denominator / divisor);
    (n.unsigned_abs() <= LARGEST && d <= LARGEST).then_some((n, d))
}
