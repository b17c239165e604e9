//! L and its derivatives at a random point of a prime field.
//!
//! Coordinates, velocities, time, parameters and π are random. Polynomials, quotients, sin, cos, exp, sinh and cosh
//! follow their rules. Any other function f is not interpreted: its value is a hash of f and of the values of its
//! operands. L can only be proved to be unchanged where those operands are, so each of them gets an adjoint of its
//! own, a random number: the derivative of Φ = L + Σ r_k u_k with random r_k and f(u_k) taken as constant vanishes
//! along a motion only if it leaves all u_k and L unchanged.

use super::angles::{Angles, Curve, CurvePoint};
use super::field::PrimeField;
use crate::expr::{Binary, Graph, Node, NodeId, Unary};
use std::collections::BTreeSet;

/// What a hash is made for, so that no two of them meet.
const INPUT: u64 = 1;
const FUNCTION: u64 = 2;
const ANGLE: u64 = 3;
const OPERAND: u64 = 4;

/// Kinds of inputs.
const PI: u64 = 0;
const TIME: u64 = 1;
const PARAMETER: u64 = 2;
const COORDINATE: u64 = 3;
const VELOCITY: u64 = 4;

/// Points fail to tell a change with a probability below 2 to minus this (1e-51).
const CERTAINTY: u64 = 170;

/// A formula ready to be evaluated at points.
#[derive(Debug)]
pub(super) struct Formula<'a> {
    graph: &'a Graph,
    /// What the formula is made of, operands first.
    nodes: Vec<NodeId>,
    n: usize,
    circle: Angles,
    hyperbola: Angles,
    /// Whether denominators must be unchanged as well.
    fixed_denominators: bool,
}

/// A point, and the derivatives of Φ there.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) field: PrimeField,
    pub(super) q: Vec<u64>,
    pub(super) v: Vec<u64>,
    pub(super) by_q: Vec<u64>,
    pub(super) by_v: Vec<u64>,
    pub(super) by_t: u64,
}

/// The values of nodes at a point.
struct Values {
    field: PrimeField,
    seed: u64,
    values: Vec<u64>,
    on_circle: Vec<CurvePoint>,
    on_hyperbola: Vec<CurvePoint>,
}

impl<'a> Formula<'a> {
    /// A node of a graph as a function of n coordinates. Where nothing may gain or lose a definition along a motion,
    /// denominators are fixed.
    pub(super) fn new(graph: &'a Graph, root: NodeId, n: usize, fixed_denominators: bool) -> Self {
        let nodes = without_scales(graph, root);
        let [circle, hyperbola] =
            [Curve::Circle, Curve::Hyperbola].map(|curve| Angles::new(graph, &nodes, curve));
        Self { graph, nodes, n, circle, hyperbola, fixed_denominators }
    }

    fn angles(&self, curve: Curve) -> &Angles {
        if curve == Curve::Circle { &self.circle } else { &self.hyperbola }
    }

    /// How many points decide with certainty; `None` if the formula is too large for the fields there are.
    pub(super) fn points_needed(&self) -> Option<u64> {
        // the exponent of an f64 is its logarithm, rounded down
        let lost = (self.zeros().to_bits() >> 52) - 1022;
        let points = CERTAINTY.div_ceil(60u64.checked_sub(lost).filter(|bits| *bits > 0)?);
        (points <= PrimeField::COUNT as u64).then_some(points)
    }

    /// How many values of a random number may hide a change, at most: the degrees of L and of its derivatives, and of
    /// the differences of all pairs of operands whose values may be taken for equal.
    fn zeros(&self) -> f64 {
        let size = self.nodes.last().map_or(0, |root| root.0 as usize + 1);
        let mut degrees = Degrees { of: vec![[0.0; 2]; size], points: [vec![0.0; size], vec![0.0; size]] };
        let (mut largest, mut largest_operand, mut functions) = (1.0f64, 1.0f64, 0.0f64);
        for &id in &self.nodes {
            degrees.find(self, id);
            largest = largest.max(degrees.size(id));
            let is_atom = self.circle.is_atom(id) || self.hyperbola.is_atom(id);
            let operands = match self.graph.node(id) {
                Node::Unary(Unary::Neg | Unary::PowerOfTwo, _) => continue,
                Node::Unary(op, a) if Curve::of(op).is_none() => degrees.size(a),
                Node::Binary(Binary::Atan2 | Binary::Pow, a, b) => degrees.size(a).max(degrees.size(b)),
                _ if is_atom => degrees.size(id),
                _ => continue,
            };
            functions += 1.0;
            largest_operand = largest_operand.max(operands);
        }
        4.0 * (largest + functions * functions * largest_operand)
    }

    /// The point with this number; `None` where a denominator is zero or a number is not finite.
    pub(super) fn at(&self, number: u64) -> Option<Point> {
        let values = Values::new(self, number)?;
        let adjoints = self.adjoints(&values)?;
        // also those that do not occur: a motion may carry others along them
        let all = |kind: u64| (0..self.n as u64).map(|i| values.hash(&[INPUT, kind, i])).collect();
        let (by_q, by_v) = (vec![0; self.n], vec![0; self.n]);
        let mut point =
            Point { field: values.field, q: all(COORDINATE), v: all(VELOCITY), by_q, by_v, by_t: 0 };
        for &id in &self.nodes {
            let adjoint = adjoints[id.0 as usize];
            match self.graph.node(id) {
                Node::Coordinate(i) => point.by_q[i as usize] = adjoint,
                Node::Velocity(i) => point.by_v[i as usize] = adjoint,
                Node::Time => point.by_t = adjoint,
                _ => {}
            }
        }
        Some(point)
    }

    /// The derivatives of Φ by all nodes, users before operands.
    fn adjoints(&self, values: &Values) -> Option<Vec<u64>> {
        let field = values.field;
        let mut adjoints = vec![0u64; values.values.len()];
        *adjoints.last_mut()? = 1;
        for &id in self.nodes.iter().rev() {
            let adjoint = adjoints[id.0 as usize];
            let mut pass = |to: NodeId, slope: u64| {
                let sum = &mut adjoints[to.0 as usize];
                *sum = field.add(*sum, slope);
            };
            let random = |operand: u64| values.hash(&[OPERAND, u64::from(id.0), operand]);
            match self.graph.node(id) {
                Node::Unary(Unary::PowerOfTwo, _) => {}
                Node::Unary(op, a) => match self.slope(values, op, a) {
                    Some(slope) => pass(a, field.mul(adjoint, slope)),
                    None => pass(a, random(0)),
                },
                Node::Binary(Binary::Add, a, b) => {
                    pass(a, adjoint);
                    pass(b, adjoint);
                }
                Node::Binary(Binary::Sub, a, b) => {
                    pass(a, adjoint);
                    pass(b, field.neg(adjoint));
                }
                Node::Binary(Binary::Mul, a, b) => {
                    pass(a, field.mul(adjoint, values.of(b)));
                    pass(b, field.mul(adjoint, values.of(a)));
                }
                Node::Binary(Binary::Div, a, b) => {
                    // (a/b)' = a'/b − (a/b) b'/b
                    let over = field.mul(adjoint, field.inverse(values.of(b))?);
                    pass(a, over);
                    pass(
                        b,
                        if self.fixed_denominators {
                            random(1)
                        } else {
                            field.neg(field.mul(over, values.of(id)))
                        },
                    );
                }
                Node::Binary(Binary::Atan2 | Binary::Pow, a, b) => {
                    pass(a, random(0));
                    pass(b, random(1));
                }
                _ => {}
            }
        }
        Some(adjoints)
    }

    /// The derivative of a function whose operand may change.
    fn slope(&self, values: &Values, op: Unary, a: NodeId) -> Option<u64> {
        let field = values.field;
        if op == Unary::Neg {
            return Some(field.neg(1));
        }
        let [c, s] = values.functions(self, Curve::of(op)?, a);
        match op {
            Unary::Sin => Some(c),
            Unary::Cos => Some(field.neg(s)),
            Unary::Exp => Some(field.add(c, s)),
            Unary::Sinh => Some(c),
            Unary::Cosh => Some(s),
            _ => None,
        }
    }
}

/// What a node is made of, operands first, without what gives a scale its size: a scale cancels, whatever it is, and so it is 1 here.
fn without_scales(graph: &Graph, root: NodeId) -> Vec<NodeId> {
    let (mut found, mut stack) = (BTreeSet::new(), vec![root]);
    while let Some(id) = stack.pop() {
        if found.insert(id) {
            match graph.node(id) {
                Node::Unary(Unary::PowerOfTwo, _) => {}
                Node::Unary(_, a) => stack.push(a),
                Node::Binary(_, a, b) => stack.extend([a, b]),
                _ => {}
            }
        }
    }
    found.into_iter().collect()
}

/// Degrees of numerators and denominators, and of the points of angles, by node.
struct Degrees {
    of: Vec<[f64; 2]>,
    points: [Vec<f64>; 2],
}

impl Degrees {
    fn size(&self, id: NodeId) -> f64 {
        self.of[id.0 as usize].iter().sum()
    }

    /// The degrees of a node from those of older ones.
    fn find(&mut self, formula: &Formula<'_>, id: NodeId) {
        for (angles, points) in [&formula.circle, &formula.hyperbola].into_iter().zip(&mut self.points) {
            if angles.has(id) {
                points[id.0 as usize] = angles.degree(id, points);
            }
        }
        let of = |id: NodeId| self.of[id.0 as usize];
        self.of[id.0 as usize] = match formula.graph.node(id) {
            Node::Number(_) | Node::Decimal(_) | Node::Unary(Unary::PowerOfTwo, _) => [0.0, 0.0],
            Node::Unary(Unary::Neg, a) => of(a),
            Node::Unary(op, a) => match Curve::of(op) {
                Some(curve) => {
                    let point = self.points[usize::from(curve == Curve::Hyperbola)][a.0 as usize];
                    [2.0 * formula.angles(curve).multiple(a) * point; 2]
                }
                None => [1.0, 0.0],
            },
            Node::Binary(Binary::Add | Binary::Sub, a, b) => {
                let ([n, d], [m, e]) = (of(a), of(b));
                [(n + e).max(m + d), d + e]
            }
            Node::Binary(Binary::Mul, a, b) => [of(a)[0] + of(b)[0], of(a)[1] + of(b)[1]],
            Node::Binary(Binary::Div, a, b) => [of(a)[0] + of(b)[1], of(a)[1] + of(b)[0]],
            _ => [1.0, 0.0],
        };
    }
}

impl Values {
    fn new(formula: &Formula<'_>, number: u64) -> Option<Self> {
        let size = formula.nodes.last()?.0 as usize + 1;
        let field = PrimeField::new(number as usize);
        let (on_circle, on_hyperbola) = (Vec::new(), Vec::new());
        let mut values = Self { field, seed: number, values: vec![0; size], on_circle, on_hyperbola };
        for &id in &formula.nodes {
            let value = values.value(formula, id)?;
            values.values[id.0 as usize] = value;
            let atom = |curve: u64| move |scale: u64| field.hash(&[number, ANGLE, curve, value, scale]);
            if formula.circle.has(id) {
                formula.circle.place(field, id, &mut values.on_circle, atom(0))?;
            }
            if formula.hyperbola.has(id) {
                formula.hyperbola.place(field, id, &mut values.on_hyperbola, atom(1))?;
            }
        }
        Some(values)
    }

    fn of(&self, id: NodeId) -> u64 {
        self.values[id.0 as usize]
    }

    fn hash(&self, [kind, a, b]: &[u64; 3]) -> u64 {
        self.field.hash(&[self.seed, *kind, *a, *b])
    }

    /// (cos, sin) or (cosh, sinh) of an angle.
    fn functions(&self, formula: &Formula<'_>, curve: Curve, angle: NodeId) -> CurvePoint {
        let points = if curve == Curve::Circle { &self.on_circle } else { &self.on_hyperbola };
        formula.angles(curve).functions(self.field, angle, points)
    }

    fn value(&self, formula: &Formula<'_>, id: NodeId) -> Option<u64> {
        let field = self.field;
        let input = |kind: u64, index: u32| Some(self.hash(&[INPUT, kind, u64::from(index)]));
        match formula.graph.node(id) {
            Node::Number(bits) => field.number(f64::from_bits(bits)),
            Node::Decimal(index) => field.decimal(formula.graph.decimal_text(index)),
            Node::Pi => input(PI, 0),
            Node::Time => input(TIME, 0),
            Node::Parameter(i) => input(PARAMETER, i),
            Node::Coordinate(i) => input(COORDINATE, i),
            Node::Velocity(i) => input(VELOCITY, i),
            Node::Unary(Unary::Neg, a) => Some(field.neg(self.of(a))),
            Node::Unary(Unary::PowerOfTwo, _) => Some(1),
            Node::Unary(op, a) => self.unary(formula, op, a),
            Node::Binary(op, a, b) => self.binary(op, self.of(a), self.of(b)),
        }
    }

    fn unary(&self, formula: &Formula<'_>, op: Unary, a: NodeId) -> Option<u64> {
        let field = self.field;
        let Some(curve) = Curve::of(op) else {
            return Some(self.hash(&[FUNCTION, op as u64, self.of(a)]));
        };
        let [c, s] = self.functions(formula, curve, a);
        match op {
            Unary::Cos | Unary::Cosh => Some(c),
            Unary::Sin | Unary::Sinh => Some(s),
            Unary::Exp => Some(field.add(c, s)),
            _ => Some(field.mul(s, field.inverse(c)?)),
        }
    }

    fn binary(&self, op: Binary, a: u64, b: u64) -> Option<u64> {
        let field = self.field;
        match op {
            Binary::Add => Some(field.add(a, b)),
            Binary::Sub => Some(field.sub(a, b)),
            Binary::Mul => Some(field.mul(a, b)),
            Binary::Div => Some(field.mul(a, field.inverse(b)?)),
            Binary::Atan2 | Binary::Pow => Some(field.hash(&[self.seed, FUNCTION, op as u64, a, b])),
        }
    }
}
