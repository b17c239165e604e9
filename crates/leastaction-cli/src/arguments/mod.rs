//! The flags, and how they fill a [`Run`]. Those of `converge` and `reproduce` have files of their own.

mod converge;
mod reproduce;

pub(crate) use converge::ConvergeFlags;
pub(crate) use reproduce::ReproduceFlags;

use crate::Ending;
use clap::{Args, Parser, Subcommand, ValueEnum};
use leastaction::expr::Backend;
use leastaction::prelude::Run;
use leastaction::simulate::MAX_DIGITS;
use leastaction::system::Quantity;
use std::path::Path;

/// Simulate mechanical systems with integrators derived from the principle of least action.
#[derive(Debug, Parser)]
#[command(name = "leastaction", version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Simulate a system and print a summary
    Simulate(Box<SimulateFlags>),
    /// Measure errors against steps: table, orders, plot
    Converge(Box<ConvergeFlags>),
    /// Compute the tables and figures of the five papers beside what they print
    Reproduce(ReproduceFlags),
    /// List the systems of the catalogue
    Systems {
        /// How to print the list
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// List the methods
    Methods {
        /// How to print the list
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Show all there is to know about a system or a method
    Show(ShowFlags),
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Json,
    Markdown,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum SummaryFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum BackendFlag {
    Native,
    Interpreter,
}

/// Which system, from where, until when.
#[derive(Debug, Args)]
pub(crate) struct StartFlags {
    /// Name of a system (see `leastaction systems`), a TOML file that describes a run, or a CSV file that carries one
    #[arg(value_name = "SYSTEM|FILE")]
    pub(crate) source: String,
    /// End time
    #[arg(long, allow_hyphen_values = true)]
    until: Option<String>,
    /// Decimal digits to compute with: f64, or a number such as 64
    #[arg(long, value_name = "DIGITS", value_parser = precision)]
    precision: Option<Precision>,
    /// What runs the formulas; the numbers are the same [default: native where there is machine code]
    #[arg(long, value_enum)]
    backend: Option<BackendFlag>,
    /// Replace a parameter; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Initial coordinates, separated by commas
    #[arg(long, value_name = "A,B,…", allow_hyphen_values = true)]
    q0: Option<String>,
    /// Initial momenta, separated by commas
    #[arg(long, value_name = "A,B,…", allow_hyphen_values = true, conflicts_with = "v0")]
    p0: Option<String>,
    /// Initial velocities, separated by commas
    #[arg(long, value_name = "A,B,…", allow_hyphen_values = true)]
    v0: Option<String>,
    /// Time at which the initial state is given [default: 0]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    t0: Option<String>,
}

/// Numbers may be formulas of parameters and constants everywhere, e.g. --q0 pi/4,pi/3 or --step period/200.
#[derive(Debug, Args)]
pub(crate) struct SimulateFlags {
    #[command(flatten)]
    start: StartFlags,
    /// Method (see `leastaction methods`)
    #[arg(long, short)]
    method: Option<String>,
    /// Step size
    #[arg(long, allow_hyphen_values = true)]
    step: Option<String>,
    /// Record every K-th step (0 records nothing) [default: as often as 160 MB allow]
    #[arg(long, value_name = "K")]
    every: Option<u64>,
    /// Record K points a step, from the step's polynomial [default: 1, the end of the step]
    #[arg(long, value_name = "K")]
    dense: Option<u64>,
    /// Write the recorded states: .csv, .npz (or .parquet where built in); may be repeated
    #[arg(long, value_name = "FILE")]
    out: Vec<String>,
    /// Draw motion, coordinates, phase portrait and energy error: .svg or .png; may be repeated
    #[arg(long, value_name = "FILE")]
    plot: Vec<String>,
    /// How to print the summary
    #[arg(long, value_enum, default_value_t = SummaryFormat::Text)]
    pub(crate) summary: SummaryFormat,
}

/// What `--precision` asks for.
#[derive(Clone, Copy, Debug)]
enum Precision {
    F64,
    Digits(usize),
}

fn precision(text: &str) -> Result<Precision, String> {
    match (text, text.parse()) {
        ("f64", _) => Ok(Precision::F64),
        (_, Ok(digits)) if (1..=MAX_DIGITS).contains(&digits) => Ok(Precision::Digits(digits)),
        _ => Err(format!("give `f64` or a number of digits from 1 to {MAX_DIGITS}")),
    }
}

#[derive(Debug, Args)]
pub(crate) struct ShowFlags {
    /// Name of a system or of a method
    pub(crate) name: String,
    /// Replace a parameter or a size, e.g. n=100; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
}

impl StartFlags {
    /// The run as far as these flags describe it.
    fn to_run(&self) -> Result<Run, Ending> {
        let mut run =
            if is_file(&self.source) { read_run(Path::new(&self.source))? } else { Run::of(&self.source) };
        if let Some(until) = &self.until {
            run.until = Some(Quantity::from(until.as_str()));
        }
        if let Some(t0) = &self.t0 {
            run.initial.t = Some(Quantity::from(t0.as_str()));
        }
        match self.precision {
            None => {}
            Some(Precision::F64) => run.precision = None,
            Some(Precision::Digits(digits)) => run.precision = Some(digits),
        }
        match self.backend {
            None => {}
            Some(BackendFlag::Native) => run.backend = Some(Backend::Native),
            Some(BackendFlag::Interpreter) => run.backend = Some(Backend::Interpreter),
        }
        for (name, value) in assignments(&self.set)? {
            run.parameters.insert(name, value);
        }
        if let Some(list) = &self.q0 {
            run.initial.q = Some(split(list));
        }
        // velocities on the command line replace momenta in the file, and the reverse
        if let Some(list) = &self.p0 {
            (run.initial.p, run.initial.v) = (Some(split(list)), None);
        }
        if let Some(list) = &self.v0 {
            (run.initial.v, run.initial.p) = (Some(split(list)), None);
        }
        Ok(run)
    }
}

impl SimulateFlags {
    /// The run that the flags describe.
    pub(crate) fn to_run(&self) -> Result<Run, Ending> {
        let mut run = self.start.to_run()?;
        if let Some(method) = &self.method {
            run.method = Some(method.clone());
        }
        if let Some(step) = &self.step {
            run.step = Some(Quantity::from(step.as_str()));
        }
        if !self.out.is_empty() {
            run.out = self.out.clone();
        }
        if !self.plot.is_empty() {
            run.plot = self.plot.clone();
        }
        run.every = self.every.or(run.every);
        run.dense = self.dense.or(run.dense);
        Ok(run)
    }
}

/// Whether a source is meant as a file rather than as a name.
fn is_file(source: &str) -> bool {
    source.contains(['/', '\\', '.']) || Path::new(source).is_file()
}

fn read_run(path: &Path) -> Result<Run, Ending> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Ending::BadInput(format!("cannot read `{}`: {error}", path.display())))?;
    // a table made by this command carries its run in comments, after a line with the version
    let is_table = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
    let text = if is_table {
        let comments = text.lines().take_while(|line| line.starts_with('#')).skip(1);
        comments.map(|line| line.strip_prefix("# ").unwrap_or("")).collect::<Vec<_>>().join("\n")
    } else {
        text
    };
    Run::from_toml(&text).map_err(|error| Ending::BadInput(format!("{}: {error}", path.display())))
}

/// Splits NAME=VALUE.
pub(crate) fn assignments(list: &[String]) -> Result<Vec<(String, Quantity)>, Ending> {
    list.iter()
        .map(|text| match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
                Ok((name.trim().to_owned(), Quantity::from(value)))
            }
            _ => Err(Ending::BadInput(format!(
                "`--set {text}` is not of the form NAME=VALUE, e.g. --set g=1.62"
            ))),
        })
        .collect()
}

/// Splits at the commas that are not inside parentheses.
fn split(list: &str) -> Vec<Quantity> {
    let mut depth = 0i32;
    let parts = list.split(|c: char| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        c == ',' && depth == 0
    });
    parts.map(Quantity::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_split_outside_parentheses() {
        let list: Vec<String> = split("1, atan2(1,2),-pi/3").iter().map(ToString::to_string).collect();
        assert_eq!(list, ["1", "atan2(1,2)", "-pi/3"]);
    }

    #[test]
    fn names_and_files_are_told_apart() {
        assert!(is_file("run.toml") && is_file("./x") && !is_file("double-pendulum"));
    }
}
