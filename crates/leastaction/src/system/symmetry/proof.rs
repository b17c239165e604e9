//! Whether L is the same before and after a motion, node by node, beyond doubt.
//!
//! The search compares numbers, and a potential that is flat where it looks (a far barrier, a wall that is not touched, a saturated
//! tanh) is a zero to it. So what it finds is proved on the graph: every node is evaluated at a state and at the moved state, with
//! 77 digits. A node either is the same at both, because its operands are, or because the changes of its two operands cancel,
//! which is asked relative to those changes, however small; or it changes. What is the same plus what changes, changes. A
//! kink of something that changes is not looked through.

use super::candidates::{Motion, Place};
use super::search::{Number, Sample};
use crate::expr::{Binary, Graph, Node, NodeId, Unary, apply_binary, apply_unary};
use crate::scalar::{Field, Real};
use crate::system::System;

/// How far the motion goes: nothing special.
const FAR: f64 = 0.637;
/// Changes cancel if this part of them is left.
const LEFT: f64 = 1e-48;
/// More terms than this no exponential of a motion needs.
const TERMS: u32 = 200;

/// A node before and after the motion.
#[derive(Clone)]
struct Pair {
    before: Number,
    after: Number,
    /// Whether it is the same.
    same: bool,
}

impl Pair {
    fn of(before: Number, after: Number) -> Self {
        Self { same: before == after, before, after }
    }
    /// The part of the node that is its change.
    fn change(&self) -> f64 {
        (self.after - self.before).magnitude()
    }
}

/// Whether a motion leaves L unchanged, by what happens to a state.
pub(super) fn leaves_unchanged(system: &System, motion: &Motion<f64>, at: &Sample) -> bool {
    is_same(system, &Moved::new(motion, at))
}

/// Whether L is the same at a later time.
pub(super) fn time_drops_out(system: &System, at: &Sample) -> bool {
    let mut inputs = Moved::new(&Motion::new(), at);
    let later = inputs.t.before + Number::from_f64(FAR);
    inputs.t = Pair::of(inputs.t.before, later);
    is_same(system, &inputs)
}

fn is_same(system: &System, inputs: &Moved) -> bool {
    let (graph, root) = (&system.model.graph, system.model.lagrangian);
    let mut pairs: Vec<Option<Pair>> = vec![None; root.0 as usize + 1];
    for id in graph.below(root) {
        pairs[id.0 as usize] = inputs.pair(graph, id, &pairs);
    }
    pairs[root.0 as usize].as_ref().is_some_and(|pair| pair.same)
}

/// Coordinates, velocities, time and parameters before and after the motion.
struct Moved {
    q: Vec<Pair>,
    v: Vec<Pair>,
    t: Pair,
    parameters: Vec<Number>,
}

impl Moved {
    fn new(motion: &Motion<f64>, at: &Sample) -> Self {
        let list = |x: &[f64]| -> Vec<Number> { x.iter().map(|x| Number::from_f64(*x)).collect() };
        let (q, v) = (list(&at.q), list(&at.v));
        let pairs = |before: Vec<Number>, shifted: bool| -> Vec<Pair> {
            let after = moved(motion, &before, shifted);
            before.into_iter().zip(after).map(|(before, after)| Pair::of(before, after)).collect()
        };
        let t = Number::from_f64(at.t);
        Self { q: pairs(q, true), v: pairs(v, false), t: Pair::of(t, t), parameters: list(&at.parameters) }
    }

    /// A node from its operands; nothing if it cannot be decided.
    fn pair(&self, graph: &Graph, id: NodeId, pairs: &[Option<Pair>]) -> Option<Pair> {
        let operand = |id: NodeId| pairs[id.0 as usize].as_ref();
        let fixed = |x: Number| Some(Pair::of(x, x));
        match graph.node(id) {
            Node::Number(bits) => fixed(Number::from_f64(f64::from_bits(bits))),
            Node::Decimal(index) => fixed(Number::from_decimal(graph.decimal_text(index))),
            Node::Pi => fixed(Number::pi()),
            Node::Parameter(i) => fixed(*self.parameters.get(i as usize)?),
            Node::Time => Some(self.t.clone()),
            Node::Coordinate(i) => self.q.get(i as usize).cloned(),
            Node::Velocity(i) => self.v.get(i as usize).cloned(),
            // a scale cancels, whatever it is
            Node::Unary(Unary::PowerOfTwo, _) => fixed(Number::one()),
            Node::Unary(op, a) => {
                let a = operand(a)?;
                if a.same {
                    return fixed(apply_unary(op, &a.before));
                }
                // on one side of a kink a function may be another than on the other
                if matches!(op, Unary::Abs | Unary::Sign) {
                    return None;
                }
                let (before, after) = (apply_unary(op, &a.before), apply_unary(op, &a.after));
                Some(Pair { before, after, same: false })
            }
            Node::Binary(op, a, b) => Some(joined(op, operand(a)?, operand(b)?)),
        }
    }
}

/// A function of two operands.
fn joined(op: Binary, a: &Pair, b: &Pair) -> Pair {
    let before = apply_binary(op, &a.before, &b.before);
    if a.same && b.same {
        return Pair::of(before, before);
    }
    let after = apply_binary(op, &a.after, &b.after);
    if a.same || b.same {
        return Pair { before, after, same: false };
    }
    // what each operand changes alone
    let alone = [apply_binary(op, &a.after, &b.before), apply_binary(op, &a.before, &b.after)];
    let largest = alone.iter().map(|x| (*x - before).magnitude()).fold(0.0, f64::max);
    let pair = Pair { before, after, same: false };
    let same = largest > 0.0 && pair.change() <= LEFT * largest;
    Pair { after: if same { before } else { after }, same, ..pair }
}

/// exp(FAR·(A, b)) of coordinates, or exp(FAR·A) of velocities, which are not shifted.
fn moved(motion: &Motion<f64>, x: &[Number], shifted: bool) -> Vec<Number> {
    let mut sum = x.to_vec();
    let mut term = x.to_vec();
    for k in 1..=TERMS {
        let mut next = vec![Number::zero(); x.len()];
        for (place, factor) in motion {
            let factor = Number::from_f64(*factor);
            match *place {
                Place::Lower(i, j) | Place::Upper(i, j) => next[i].add_mul(&factor, &term[j]),
                Place::Shift(i) if shifted && k == 1 => next[i] = next[i] + factor,
                Place::Shift(_) => {}
            }
        }
        let scale = Number::from_f64(FAR) / Number::from_f64(f64::from(k));
        let mut largest = 0.0f64;
        for (sum, next) in sum.iter_mut().zip(&mut next) {
            *next = *next * scale;
            largest = largest.max(next.magnitude());
            *sum = *sum + *next;
        }
        if largest == 0.0 || largest < 1e-70 {
            break;
        }
        term = next;
    }
    sum
}
