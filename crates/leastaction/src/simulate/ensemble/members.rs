//! From the number of a member to the values that are its own.
//!
//! Members are all combinations of the rows of a list, the points of a grid and repeated draws, in this order: the list changes
//! slowest, then the first name of the grid, and repetitions change fastest. Each value follows from the member's number alone.

use super::draws::Dice;
use super::spec::{Ensemble, Shape, Spread};
use crate::error::{Error, Result};
use crate::simulate::numbers::Numbers;
use crate::system::Quantity;

/// Rows of values by names, from a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct List {
    /// The names of the columns.
    pub names: Vec<String>,
    /// Row after row.
    pub values: Vec<f64>,
}

impl List {
    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.values.len().checked_div(self.names.len()).unwrap_or(0) as u64
    }
}

/// More members than this have no number of their own in an `f64`.
const MOST: u64 = 1 << 53;

/// A name of the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The name.
    pub name: String,
    /// How many values it has.
    pub count: u64,
    values: Values,
}

#[derive(Clone, Debug, PartialEq)]
enum Values {
    Even { from: f64, to: f64 },
    Listed(Vec<f64>),
}

impl Axis {
    /// One of its values.
    pub fn value(&self, k: u64) -> f64 {
        match &self.values {
            Values::Listed(list) => list[k as usize],
            Values::Even { from, .. } if k == 0 => *from,
            // the end to the last bit
            Values::Even { to, .. } if k + 1 == self.count => *to,
            Values::Even { from, to } => from + (to - from) * (k as f64 / (self.count - 1) as f64),
        }
    }
}

/// All members of an ensemble.
#[derive(Clone, Debug)]
pub(super) struct Members {
    pub(super) names: Vec<String>,
    pub(super) axes: Vec<Axis>,
    list: List,
    dice: Vec<Dice>,
    seed: u64,
    repeats: u64,
    pub(super) count: u64,
}

impl Members {
    pub(super) fn new(spec: &Ensemble, list: List, numbers: &mut Numbers<f64>) -> Result<Self> {
        check(spec, &list)?;
        let mut axes = Vec::new();
        for (name, spread) in &spec.vary {
            let mut value = |quantity: &Quantity| numbers.value(&format!("a value of `{name}`"), quantity);
            let values = match spread {
                Spread::Even { from, to, .. } => Values::Even { from: value(from)?, to: value(to)? },
                Spread::Values(list) => Values::Listed(list.iter().map(value).collect::<Result<_>>()?),
            };
            axes.push(Axis { name: name.clone(), count: spread.count(), values });
        }
        let mut dice = Vec::new();
        for (name, draw) in &spec.draw {
            let [a, b] = &draw.numbers;
            let what = format!("a number of the distribution of `{name}`");
            let numbers = [numbers.value(&what, a)?, numbers.value(&what, b)?];
            if draw.shape == Shape::Normal && numbers[1] < 0.0 {
                let message = format!("the standard deviation of `{name}` is negative: {}", numbers[1]);
                return Err(b.locate(bad(message)));
            }
            if draw.shape == Shape::Uniform && numbers[1] < numbers[0] {
                let [a, b] = numbers;
                let message = format!(
                    "the largest number of `{name}` is below the least: {b} < {a}\n  try uniform({b}, {a})"
                );
                return Err(draw.numbers[1].locate(bad(message)));
            }
            dice.push(Dice::new(name, draw.shape, numbers));
        }
        let names = list.names.iter().chain(spec.vary.keys()).chain(spec.draw.keys()).cloned().collect();
        let rows = if spec.list.is_some() { list.rows() } else { 1 };
        let repeats = spec.members.unwrap_or(1);
        let mut counts = axes.iter().map(|axis| axis.count).chain([rows, repeats]);
        let count = counts.try_fold(1u64, u64::checked_mul);
        let Some(count) = count.filter(|count| *count <= MOST) else {
            return Err(bad("there would be more than 2^53 members; vary fewer names or values".to_owned()));
        };
        Ok(Self { names, axes, list, dice, seed: spec.seed.unwrap_or(0), repeats, count })
    }

    /// The values of a member.
    pub(super) fn values(&self, member: u64, values: &mut [f64]) {
        let (first, rest) = values.split_at_mut(self.list.names.len());
        let (grid, drawn) = rest.split_at_mut(self.axes.len());
        for (value, dice) in drawn.iter_mut().zip(&self.dice) {
            *value = dice.value(self.seed, member);
        }
        let mut place = member / self.repeats;
        for (value, axis) in grid.iter_mut().zip(&self.axes).rev() {
            *value = axis.value(place % axis.count);
            place /= axis.count;
        }
        let row = place as usize * first.len();
        first.copy_from_slice(&self.list.values[row..row + first.len()]);
    }
}

fn bad(message: String) -> Error {
    Error::BadStudy { message }
}

/// What can be checked without numbers.
fn check(spec: &Ensemble, list: &List) -> Result<()> {
    if spec.list.is_some() && list.rows() == 0 {
        return Err(bad("the list has no rows, so there are no members".to_owned()));
    }
    for (name, spread) in &spec.vary {
        if spread.count() == 0 {
            return Err(bad(format!("`{name}` has no values; give one at least")));
        }
    }
    if spec.list.is_none() && spec.vary.is_empty() && spec.draw.is_empty() {
        let message = "nothing varies\n  give a grid (--vary q=0..1:100), a list of starts (--list starts.csv) or draws (--draw \"q=uniform(0,1)\" --members 100)";
        return Err(bad(message.to_owned()));
    }
    match spec.members {
        Some(0) => return Err(bad("members = 0 leaves nothing to do; give 1 or more".to_owned())),
        Some(2..) if spec.draw.is_empty() => {
            let message = "members says how often to draw, but nothing is drawn\n  leave it out, or draw something: --draw \"q=uniform(0,1)\"";
            return Err(bad(message.to_owned()));
        }
        _ => {}
    }
    let mut names: Vec<(&String, Option<&Quantity>)> = list.names.iter().map(|name| (name, None)).collect();
    let grid = spec.vary.iter().map(|(name, spread)| (name, spread.place()));
    let drawn = spec.draw.iter().map(|(name, draw)| (name, Some(&draw.numbers[0])));
    for (name, place) in grid.chain(drawn) {
        if names.iter().any(|(other, _)| *other == name) {
            let error = bad(format!("`{name}` is varied twice; leave out one of them"));
            return Err(
                place.map_or_else(|| error.clone(), |quantity| quantity.locate_name(name, error.clone()))
            );
        }
        names.push((name, place));
    }
    Ok(())
}
