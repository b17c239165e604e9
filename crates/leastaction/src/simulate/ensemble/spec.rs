//! An ensemble as data: what varies from member to member, the same in the table `[ensemble]` of a file and in flags.
//!
//! [`Spread`] is a row of values, written `0..pi:100` or `1, 2, 5`; [`Draw`] a distribution, written `uniform(0, 1)`. Their
//! numbers are formulas of parameters and constants. Here they are only read; `members` makes numbers of them.

use crate::error::{Diagnostic, Origin, Result, Source, nearest};
use crate::system::Quantity;
use indexmap::IndexMap;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Range;

/// What varies: a list, a grid and draws, and all their combinations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ensemble {
    /// A table of starts: columns are names, rows are starts. The library leaves files to its callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<String>,
    /// How often each start of list and grid is drawn for; 1 if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members: Option<u64>,
    /// Which draws; 0 if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// A grid: names and their values. The first name changes slowest.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub vary: IndexMap<String, Spread>,
    /// Names and how they are drawn.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub draw: IndexMap<String, Draw>,
}

/// The largest seed: what a file can hold.
pub const MAX_SEED: u64 = i64::MAX as u64;

/// Values of a number.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// Evenly from one value to another, both included.
    Even {
        /// The first value.
        from: Quantity,
        /// The last value.
        to: Quantity,
        /// How many.
        count: u64,
    },
    /// One after the other.
    Values(Vec<Quantity>),
}

/// A distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    /// Its shape.
    pub shape: Shape,
    /// Its two numbers: least and largest, or mean and standard deviation.
    pub numbers: [Quantity; 2],
}

/// The shape of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All values between two numbers alike.
    Uniform,
    /// A bell with a mean and a standard deviation.
    Normal,
}

const FORMS: &str = "A..B:K for K values from A to B, or A, B, C";
const SHAPES: [&str; 2] = ["uniform", "normal"];

impl Spread {
    /// Reads `A..B:K` or `A, B, C`.
    pub fn read(text: &str, origin: &Origin) -> Result<Self> {
        let part = |range: Range<usize>| Quantity::written(&text[range.clone()], &origin.of_part(range));
        let wrong = |range: Range<usize>, title: &str| {
            let range = if range.is_empty() { origin.whole() } else { origin.range(range) };
            Err(Diagnostic::new(origin.source(), range, title).help(format!("try {FORMS}")).into())
        };
        let Some(&dots) = outside_brackets(text, "..").first() else {
            let values = pieces(text);
            if let Some(empty) = values.iter().find(|range| text[(*range).clone()].trim().is_empty()) {
                return wrong(empty.clone(), "a value is missing");
            }
            return Ok(Self::Values(values.into_iter().map(part).collect()));
        };
        let rest = dots + 2;
        let Some(colon) = outside_brackets(&text[rest..], ":").last().map(|at| rest + at) else {
            return wrong(0..text.len(), "how many values is missing");
        };
        let digits = text[colon + 1..].trim();
        let Some(count) = digits.parse::<u64>().ok().filter(|count| *count > 0) else {
            return wrong(colon + 1..text.len(), "the number of values must be a whole number, 1 or more");
        };
        if text[..dots].trim().is_empty() || text[rest..colon].trim().is_empty() {
            return wrong(0..text.len(), "an end of the values is missing");
        }
        Ok(Self::Even { from: part(0..dots), to: part(rest..colon), count })
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        match self {
            Self::Even { count, .. } => *count,
            Self::Values(list) => list.len() as u64,
        }
    }

    /// A quantity that says where it was written.
    pub(super) fn place(&self) -> Option<&Quantity> {
        match self {
            Self::Even { from, .. } => Some(from),
            Self::Values(list) => list.first(),
        }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Even { from, to, count } => write!(f, "{from}..{to}:{count}"),
            Self::Values(list) => {
                let list: Vec<String> = list.iter().map(ToString::to_string).collect();
                f.write_str(&list.join(", "))
            }
        }
    }
}

impl Draw {
    /// Reads `uniform(A, B)` or `normal(MEAN, DEVIATION)`.
    pub fn read(text: &str, origin: &Origin) -> Result<Self> {
        let wrong = |title: String| {
            let help = "try uniform(A, B), or normal(MEAN, DEVIATION)";
            Err(Diagnostic::new(origin.source(), origin.whole(), title).help(help).into())
        };
        let trimmed = text.trim_end();
        let (Some(open), true) = (text.find('('), trimmed.ends_with(')')) else {
            return wrong(format!("`{}` is no distribution", text.trim()));
        };
        let shape = match text[..open].trim() {
            "uniform" => Shape::Uniform,
            "normal" => Shape::Normal,
            other => return wrong(format!("unknown distribution `{other}`{}", nearest(other, SHAPES))),
        };
        let inside = &text[open + 1..trimmed.len() - 1];
        let numbers = pieces(inside);
        let missing = |range: &Range<usize>| inside[range.clone()].trim().is_empty();
        let [first, second] = numbers.as_slice() else {
            return wrong(format!("{} has two numbers", shape.word()));
        };
        if missing(first) || missing(second) {
            return wrong(format!("{} has two numbers", shape.word()));
        }
        let part = |range: &Range<usize>| {
            let place = origin.of_part(open + 1 + range.start..open + 1 + range.end);
            Quantity::written(&inside[range.clone()], &place)
        };
        Ok(Self { shape, numbers: [part(first), part(second)] })
    }
}

impl Shape {
    /// Its name.
    pub fn word(self) -> &'static str {
        SHAPES[self as usize]
    }
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}, {})", self.shape.word(), self.numbers[0], self.numbers[1])
    }
}

/// Where a mark stands outside of brackets.
fn outside_brackets(text: &str, mark: &str) -> Vec<usize> {
    let mut depth = 0i32;
    let mut found = Vec::new();
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ if depth == 0 && text[i..].starts_with(mark) => found.push(i),
            _ => {}
        }
    }
    found
}

/// The parts between commas outside of brackets.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut parts = Vec::new();
    for comma in outside_brackets(text, ",").into_iter().chain([text.len()]) {
        parts.push(start..comma);
        start = comma + 1;
    }
    parts
}

/// A text that stands nowhere.
fn nowhere(text: &str) -> Origin {
    Origin::part(Source::new("", text), 0, text.len())
}

impl Serialize for Spread {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Even { .. } => serializer.serialize_str(&self.to_string()),
            Self::Values(list) => list.serialize(serializer),
        }
    }
}

impl Serialize for Draw {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_string())
    }
}

impl<'de> Deserialize<'de> for Spread {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(SpreadVisitor)
    }
}

impl<'de> Deserialize<'de> for Draw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text, &nowhere(&text)).map_err(D::Error::custom)
    }
}

struct SpreadVisitor;

impl<'de> Visitor<'de> for SpreadVisitor {
    type Value = Spread;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("values such as \"0..pi:100\", or a list of them")
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Spread, E> {
        Spread::read(text, &nowhere(text)).map_err(E::custom)
    }
    fn visit_f64<E>(self, x: f64) -> std::result::Result<Spread, E> {
        Ok(Spread::Values(vec![Quantity::Number(x)]))
    }
    fn visit_i64<E>(self, x: i64) -> std::result::Result<Spread, E> {
        Ok(Spread::Values(vec![Quantity::Number(x as f64)]))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Spread, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Spread::Values(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(text: &str) -> Result<Spread> {
        Spread::read(text, &nowhere(text))
    }

    #[test]
    fn spreads_are_even_or_listed() -> Result<()> {
        for (text, count, shown) in [
            ("-pi .. pi:1000", 1000, "-pi..pi:1000"),
            ("1, atan2(1,2) ,3", 3, "1, atan2(1,2), 3"),
            ("0.5", 1, "0.5"),
            ("sum(i = 1..3, i)..9:4", 4, "sum(i = 1..3, i)..9:4"),
        ] {
            let read = spread(text)?;
            assert_eq!((read.count(), read.to_string().as_str()), (count, shown), "{text}");
            assert_eq!(spread(&read.to_string())?, read);
        }
        for wrong in ["0..1", "0..1:0", "0..1:-3", "0..1:2.5", "..1:3", "0..:3", "1,,2", "", "1,2,"] {
            assert!(spread(wrong).is_err(), "{wrong}");
        }
        Ok(())
    }

    #[test]
    fn draws_have_a_shape_and_two_numbers() -> Result<()> {
        let draw = |text: &str| Draw::read(text, &nowhere(text));
        assert_eq!(draw(" uniform( -pi , atan2(1,2)) ")?.to_string(), "uniform(-pi, atan2(1,2))");
        assert_eq!(draw("normal(0, 1)")?.shape, Shape::Normal);
        for wrong in ["uniform", "uniform(1)", "uniform(1,2,3)", "unifrom(1,2)", "normal(1,", "normal(,1)"] {
            assert!(draw(wrong).is_err(), "{wrong}");
        }
        let message = draw("unifrom(1, 2)").map_err(|error| error.to_string()).err();
        assert!(message.is_some_and(|text| text.contains("did you mean `uniform`")));
        Ok(())
    }
}
