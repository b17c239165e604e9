//! An event as data: a formula of the state whose sign changes are looked for, and what they are for.
//!
//! In a file it is a formula alone, or a table with more: `hit = "theta"`,
//! `hit = { of = "theta", direction = "rising", stop = 10 }`.

use crate::system::Quantity;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// Which sign changes count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From negative to positive.
    Rising,
    /// From positive to negative.
    Falling,
    /// Either.
    #[default]
    Both,
}

impl Direction {
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
    fn is_both(&self) -> bool {
        *self == Self::Both
    }

    /// Whether a change to this sign counts.
    pub fn admits(self, rising: bool) -> bool {
        match self {
            Self::Rising => rising,
            Self::Falling => !rising,
            Self::Both => true,
        }
    }
}

/// Something that happens when a formula of the state changes its sign.
///
/// Written as a table always: TOML puts plain values before tables, which would change the order of events.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// The formula.
    pub of: Quantity,
    /// Which sign changes count.
    #[serde(skip_serializing_if = "Direction::is_both")]
    pub direction: Direction,
    /// The run ends when it has happened so often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<u64>,
}

impl Event {
    /// Every sign change of a formula.
    pub fn of(formula: &str) -> Self {
        Self { of: formula.into(), direction: Direction::Both, stop: None }
    }
}

/// The long form in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    of: Quantity,
    #[serde(default)]
    direction: Direction,
    #[serde(default)]
    stop: Option<u64>,
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EventVisitor)
    }
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a formula in quotes, or a table with `of`, `direction` and `stop`")
    }
    fn visit_str<E>(self, text: &str) -> Result<Event, E> {
        Ok(Event::of(text))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Event, A::Error> {
        let Table { of, direction, stop } = Table::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Event { of, direction, stop })
    }
}
