//! How often a checkpoint is written: every so many seconds, or every so many steps.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Time or steps between two checkpoints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interval {
    /// Seconds, by the clock that only goes forward.
    Seconds(f64),
    /// Steps.
    Steps(u64),
}

/// Longer than this is never.
const LONGEST: f64 = 1e9;

impl Default for Interval {
    fn default() -> Self {
        Self::Seconds(30.0)
    }
}

impl Interval {
    /// What is expected.
    pub(super) const EXPECTED: &'static str =
        "give a time such as 30s, 5min or 2h, or steps such as 100000steps";

    /// Whether it is over after so many steps and so much time.
    pub fn is_over(&self, steps: u64, time: impl FnOnce() -> Duration) -> bool {
        match self {
            Self::Seconds(seconds) => time().as_secs_f64() >= *seconds,
            Self::Steps(count) => steps >= *count,
        }
    }
}

impl FromStr for Interval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}`: {}", Self::EXPECTED);
        let trimmed = text.trim();
        let at = trimmed.find(|c: char| c.is_alphabetic() && c != 'e').ok_or_else(bad)?;
        let (count, unit) = (trimmed[..at].trim(), trimmed[at..].trim());
        let factor = match unit {
            "steps" | "step" => {
                let steps = count.replace('_', "").parse().ok().filter(|steps| *steps > 0);
                return steps.map(Self::Steps).ok_or_else(bad);
            }
            "s" | "sec" | "seconds" => 1.0,
            "min" | "minutes" => 60.0,
            "h" | "hours" => 3600.0,
            _ => return Err(bad()),
        };
        let seconds: f64 = count.parse().map_err(|_| bad())?;
        let seconds = factor * seconds;
        (seconds > 0.0 && seconds <= LONGEST).then_some(Self::Seconds(seconds)).ok_or_else(bad)
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seconds(seconds) => write!(f, "{seconds}s"),
            Self::Steps(steps) => write!(f, "{steps}steps"),
        }
    }
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Interval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_steps_are_read() {
        for (text, interval) in [
            ("30s", Interval::Seconds(30.0)),
            (" 1.5 min ", Interval::Seconds(90.0)),
            ("2h", Interval::Seconds(7200.0)),
            ("1e2s", Interval::Seconds(100.0)),
            ("0.01 seconds", Interval::Seconds(0.01)),
            ("100_000 steps", Interval::Steps(100_000)),
            ("1step", Interval::Steps(1)),
        ] {
            assert_eq!(text.parse(), Ok(interval), "{text}");
            assert_eq!(interval.to_string().parse(), Ok(interval), "{text}");
        }
        for text in
            ["", "30", "s", "-1s", "0 steps", "1.5 steps", "nans", "inf h", "1e300h", "3 days", "ten s"]
        {
            let message = text.parse::<Interval>().unwrap_err();
            assert!(message.contains("30s, 5min or 2h"), "{text}: {message}");
        }
    }

    #[test]
    fn steps_do_not_look_at_the_clock() {
        let never = || -> Duration { panic!("nobody asks") };
        assert!(!Interval::Steps(5).is_over(4, never));
        assert!(Interval::Steps(5).is_over(5, never));
        assert!(Interval::Seconds(2.0).is_over(0, || Duration::from_secs(2)));
        assert!(!Interval::Seconds(2.0).is_over(u64::MAX, || Duration::from_secs(1)));
    }
}
