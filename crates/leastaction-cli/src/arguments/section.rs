//! The flags of `section`, and the section they describe.

use super::{Format, MethodFlags, ObserveFlags, StartFlags, split};
use crate::Ending;
use clap::Args;
use leastaction::analysis::{Section, Vary};
use leastaction::system::Quantity;
use std::path::PathBuf;

/// Values are formulas separated by commas, or A..B:K for K values from A to B.
#[derive(Debug, Args)]
pub(crate) struct SectionFlags {
    #[command(flatten)]
    start: StartFlags,
    #[command(flatten)]
    observe: ObserveFlags,
    #[command(flatten)]
    method: MethodFlags,
    /// The event that is the section, if there are several
    #[arg(long, value_name = "NAME")]
    on: Option<String>,
    /// Formula of the horizontal axis [default: the first coordinate that the event does not name]
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    x: Option<String>,
    /// Formula of the vertical axis [default: the momentum of that coordinate]
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    y: Option<String>,
    /// Start once for each value of a parameter, a coordinate, or v_ or p_ with a coordinate; may be repeated, for all
    /// combinations
    #[arg(long, value_name = "NAME=VALUES")]
    vary: Vec<String>,
    /// Draw one panel for each value
    #[arg(long, value_name = "NAME=VALUES")]
    panels: Option<String>,
    /// Adjust this momentum so that every start has the energy of the run
    #[arg(long, value_name = "p_NAME")]
    same_energy: Option<String>,
    /// Points of each motion [default: as many as come until the end]
    #[arg(long, value_name = "K", value_parser = points, allow_hyphen_values = true)]
    points: Option<u64>,
    /// Write the points: .csv; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
    /// Draw the section: .svg or .png; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Vec<PathBuf>,
    /// How to print the list of motions
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

impl SectionFlags {
    /// The section that the flags describe.
    pub(crate) fn to_section(&self) -> Result<Section, Ending> {
        let mut run = self.start.to_run()?;
        self.method.fill(&mut run);
        self.observe.fill(&mut run)?;
        Ok(Section {
            run,
            event: self.on.clone(),
            x: self.x.clone(),
            y: self.y.clone(),
            panels: self.panels.as_deref().map(|text| vary("--panels", text)).transpose()?,
            vary: self.vary.iter().map(|text| vary("--vary", text)).collect::<Result<_, _>>()?,
            same_energy: self.same_energy.clone(),
            points: self.points,
        })
    }
}

fn points(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "give a whole number of points, such as 100".to_owned())
}

/// Reads NAME=VALUES.
fn vary(flag: &str, text: &str) -> Result<Vary, Ending> {
    let bad = |why: &str| {
        Ending::BadInput(format!(
            "`{flag} {text}`: {why}\n  try NAME=A,B,C, or NAME=A..B:K for K values from A to B, e.g. {flag} y0=-0.2..0.4:12"
        ))
    };
    let (name, values) = text.split_once('=').ok_or_else(|| bad("there is no `=`"))?;
    if name.trim().is_empty() || values.trim().is_empty() {
        return Err(bad("a name or its values are missing"));
    }
    let values = match values.split_once("..") {
        None => split(flag, values),
        Some((from, rest)) => {
            let (to, count) = rest.rsplit_once(':').ok_or_else(|| bad("there is no number of values"))?;
            let count: u32 =
                count.trim().parse().map_err(|_| bad("the number of values is not a whole number"))?;
            if !(2..=100_000).contains(&count) {
                return Err(bad("give from 2 to 100000 values"));
            }
            spread(from.trim(), to.trim(), count)
        }
    };
    Ok(Vary { name: name.trim().to_owned(), values })
}

/// Values evenly from one to another, both included; as numbers where both are numbers.
fn spread(from: &str, to: &str, count: u32) -> Vec<Quantity> {
    let value = |k: u32| match (from.parse::<f64>(), to.parse::<f64>()) {
        (Ok(a), Ok(b)) => {
            let x = a + (b - a) * (f64::from(k) / f64::from(count - 1));
            // twelve digits of the larger end: 0.3 is meant, not 0.30000000000000004
            let decimals = (12.0 - a.abs().max(b.abs()).log10().floor()).clamp(0.0, 300.0) as usize;
            let rounded: f64 = format!("{x:.decimals$}").parse().unwrap_or(x);
            Quantity::Number(if rounded == 0.0 { 0.0 } else { rounded })
        }
        _ => Quantity::from(format!("({from}) + (({to}) - ({from}))*{k}/{}", count - 1).as_str()),
    };
    (0..count).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_lists_or_spreads() {
        let values = |text: &str| -> Vec<String> {
            vary("--vary", text)
                .map(|v| v.values.iter().map(ToString::to_string).collect())
                .unwrap_or_default()
        };
        assert_eq!(values("E=1/12,1/8, 1/6"), ["1/12", "1/8", "1/6"]);
        assert_eq!(values("y=-0.2..0.4:4"), ["-0.2", "0", "0.2", "0.4"]);
        assert_eq!(values("y=0..pi:3")[1], "(0) + ((pi) - (0))*1/2");
        for wrong in ["y", "y=", "=1", "y=1..2", "y=1..2:1", "y=1..2:x"] {
            assert!(values(wrong).is_empty(), "{wrong}");
        }
    }
}
