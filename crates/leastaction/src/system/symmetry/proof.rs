//! Whether L is the same before and after a motion, for all states, times and parameters.
//!
//! The change of L along a motion is asked at points of several prime fields (`point`), so no state is sampled and no
//! branch of a function is looked at. It is zero at all of them by chance with a probability below 1e-50. A function
//! of operands that the motion leaves unchanged is unchanged, whatever the function; where the operands change,
//! nothing is proved. What cannot be decided is taken for a change. docs/decisions/01-symmetries-are-proved.md has the
//! argument.

use super::candidates::{Motion, Place};
use super::point::{Formula, Point};
use crate::expr::Node;

/// Points that decide together.
#[derive(Debug)]
pub(super) struct Proof {
    points: Vec<Point>,
}

impl Proof {
    /// `None` if the formula cannot be decided: it has no value, or is too large.
    pub(super) fn of(formula: &Formula<'_>) -> Option<Self> {
        let points: Option<_> = (0..formula.points_needed()?).map(|number| formula.at(number)).collect();
        Some(Self { points: points? })
    }

    /// Whether a motion leaves L unchanged.
    pub(super) fn leaves_unchanged(&self, motion: &Motion<f64>) -> bool {
        self.points.iter().all(|point| point.change(motion) == Some(0))
    }
}

impl Point {
    /// (Aq + b)·Φ_q + (Av)·Φ_v.
    pub(super) fn change(&self, motion: &Motion<f64>) -> Option<u64> {
        let field = self.field;
        motion.iter().try_fold(0, |sum, (place, factor)| {
            let slope = match *place {
                Place::Shift(i) => self.by_q[i],
                Place::Lower(i, j) | Place::Upper(i, j) => {
                    field.add(field.mul(self.q[j], self.by_q[i]), field.mul(self.v[j], self.by_v[i]))
                }
            };
            Some(field.add(sum, field.mul(field.number(*factor)?, slope)))
        })
    }

    /// Whether the derivative by an input is zero here.
    fn ignores(&self, input: Node) -> bool {
        match input {
            Node::Coordinate(i) => self.by_q[i as usize] == 0,
            Node::Time => self.by_t == 0,
            _ => false,
        }
    }
}

/// Those of some coordinates, and time, whose shifts leave L unchanged and defined where it was.
pub(super) fn ignored(formula: &Formula<'_>, mut inputs: Vec<Node>) -> Vec<Node> {
    let Some(points) = formula.points_needed() else { return Vec::new() };
    for number in 0..points {
        if inputs.is_empty() {
            break;
        }
        let point = formula.at(number);
        inputs.retain(|input| point.as_ref().is_some_and(|point| point.ignores(*input)));
    }
    inputs
}
