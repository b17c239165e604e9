//! The flags, and how they fill a [`Run`]. Those of `certify`, `converge` and `reproduce` have files of their own.

mod certify;
mod converge;
mod ensemble;
mod observe;
mod reproduce;
mod section;
mod verify;

pub(crate) use certify::CertifyFlags;
pub(crate) use converge::ConvergeFlags;
pub(crate) use ensemble::{EnsembleFlags, Shard};
pub(crate) use reproduce::ReproduceFlags;
pub(crate) use section::SectionFlags;
pub(crate) use verify::VerifyFlags;

use observe::ObserveFlags;

use crate::{Ending, files};
use clap::{Args, Parser, Subcommand, ValueEnum};
use leastaction::error::{Origin, Source};
use leastaction::expr::Backend;
use leastaction::prelude::Run;
use leastaction::simulate::{Interval, MAX_DIGITS};
use leastaction::system::Quantity;
use std::collections::HashSet;
use std::path::PathBuf;

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
    /// Measure order, symplecticity, conservation and more on a run of your own, with a verdict for each
    Certify(Box<CertifyFlags>),
    /// Continue a run or an ensemble that was interrupted, from its checkpoint
    Resume(ResumeFlags),
    /// Check a result or a checkpoint: checksum, energies, steps taken again, the same bits
    Verify(VerifyFlags),
    /// Find where motions pass through a surface: a Poincaré section
    Section(Box<SectionFlags>),
    /// Run many members that differ in parameters and initial states: a grid, a list, draws
    Ensemble(Box<EnsembleFlags>),
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
    /// Write a file that defines a system, to be changed
    Init(InitFlags),
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
    /// Name of a system (see `leastaction systems`), a TOML file that defines a system or describes a run, or a CSV file that
    /// carries one
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
    /// Replace a parameter or a size, e.g. g=1.62, n=10 or "m[2]=3"; may be repeated
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

/// With which method and step.
#[derive(Debug, Args)]
pub(crate) struct MethodFlags {
    /// Method (see `leastaction methods`)
    #[arg(long, short)]
    method: Option<String>,
    /// Step size
    #[arg(long, allow_hyphen_values = true)]
    step: Option<String>,
    /// Relative energy error that is wanted, such as 1e-8: step and method are picked for it, and those of a file are not used
    #[arg(long, value_name = "EPS", allow_hyphen_values = true)]
    tolerance: Option<String>,
}

impl MethodFlags {
    /// Puts them into a run.
    fn fill(&self, run: &mut Run) {
        if let Some(tolerance) = &self.tolerance {
            // asked for instead of what a file says
            (run.method, run.step) = (None, None);
            run.tolerance = Some(formula("--tolerance", tolerance));
        }
        if let Some(method) = &self.method {
            run.method = Some(method.clone());
        }
        if let Some(step) = &self.step {
            run.step = Some(formula("--step", step));
        }
    }
}

/// Numbers may be formulas of parameters and constants everywhere, e.g. --q0 pi/4,pi/3 or --step period/200.
#[derive(Debug, Args)]
pub(crate) struct SimulateFlags {
    #[command(flatten)]
    start: StartFlags,
    #[command(flatten)]
    method: MethodFlags,
    /// Record every K-th step and the last one (0 records nothing) [default: as often as 160 MB allow]
    #[arg(long, value_name = "K", value_parser = every, allow_hyphen_values = true)]
    every: Option<u64>,
    /// Record K points a step, from the step's polynomial [default: 1, the end of the step]
    #[arg(long, value_name = "K", value_parser = dense, allow_hyphen_values = true)]
    dense: Option<u64>,
    /// Estimate the error of the final state, by the same run with half the step [default: for short runs]
    #[arg(long)]
    accuracy: bool,
    /// Write the recorded states: .csv, .npz (or .parquet where built in); may be repeated
    #[arg(long, value_name = "FILE")]
    out: Vec<String>,
    #[command(flatten)]
    observe: ObserveFlags,
    /// Write times and states of the events: .csv, .npz (or .parquet where built in); may be repeated
    #[arg(long, value_name = "FILE")]
    events: Vec<String>,
    /// Draw motion, coordinates, phase portrait and energy error: .svg or .png; may be repeated
    #[arg(long, value_name = "FILE")]
    plot: Vec<String>,
    /// Save the run on its way, so that `leastaction resume FILE` can continue it
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<String>,
    /// How often to save it, such as 5min or 100000steps [default: 30s]
    #[arg(long, value_name = "INTERVAL", allow_hyphen_values = true)]
    checkpoint_every: Option<Interval>,
    /// How to print the summary
    #[arg(long, value_enum, default_value_t = SummaryFormat::Text)]
    pub(crate) summary: SummaryFormat,
}

/// Files are those of the run, unless others are named.
#[derive(Debug, Args)]
pub(crate) struct ResumeFlags {
    /// The checkpoint of a run, or what is left of an ensemble (map.npz.part)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write the recorded states to other files
    #[arg(long, value_name = "FILE")]
    out: Vec<String>,
    /// Write the events to other files
    #[arg(long, value_name = "FILE")]
    events: Vec<String>,
    /// Draw other pictures
    #[arg(long, value_name = "FILE")]
    plot: Vec<String>,
    /// How often to save it from now on
    #[arg(long, value_name = "INTERVAL", allow_hyphen_values = true)]
    checkpoint_every: Option<Interval>,
    /// Threads to compute an ensemble with
    #[arg(long, value_name = "N", value_parser = ensemble::threads, allow_hyphen_values = true)]
    pub(crate) threads: Option<usize>,
    /// How to print the summary
    #[arg(long, value_enum, default_value_t = SummaryFormat::Text)]
    pub(crate) summary: SummaryFormat,
}

impl ResumeFlags {
    /// Whether other files are asked for than those there are.
    pub(crate) fn changes_files(&self) -> bool {
        let lists = [&self.out, &self.events, &self.plot];
        lists.iter().any(|list| !list.is_empty()) || self.checkpoint_every.is_some()
    }
    /// Puts the files into a run.
    pub(crate) fn fill(&self, run: &mut Run) {
        for (given, kept) in
            [(&self.out, &mut run.out), (&self.events, &mut run.out_events), (&self.plot, &mut run.plot)]
        {
            if !given.is_empty() {
                kept.clone_from(given);
            }
        }
        run.checkpoint_every = self.checkpoint_every.or(run.checkpoint_every);
    }
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

fn every(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "give a whole number: 1 records every step, 10 every tenth, 0 none".to_owned())
}

fn dense(text: &str) -> Result<u64, String> {
    let points = text.parse().ok().filter(|points| *points >= 1);
    points.ok_or_else(|| "give a whole number of points a step, 1 or more".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct ShowFlags {
    /// Name of a system or of a method, or a file
    pub(crate) name: String,
    /// Replace a parameter or a size, e.g. n=100; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print a system as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InitFlags {
    /// Name of the new system; the file is NAME.toml
    pub(crate) name: String,
    /// Write a system of the catalogue
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) from: Option<String>,
    /// Overwrite a file that exists
    #[arg(long)]
    pub(crate) force: bool,
}

impl StartFlags {
    /// The run as far as these flags describe it.
    fn to_run(&self) -> Result<Run, Ending> {
        let mut run = files::run(&self.source)?;
        if let Some(until) = &self.until {
            run.until = Some(formula("--until", until));
        }
        if let Some(t0) = &self.t0 {
            run.initial.t = Some(formula("--t0", t0));
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
            run.initial.q = Some(split("--q0", list));
        }
        // velocities on the command line replace momenta in the file, and the reverse
        if let Some(list) = &self.p0 {
            (run.initial.p, run.initial.v) = (Some(split("--p0", list)), None);
        }
        if let Some(list) = &self.v0 {
            (run.initial.v, run.initial.p) = (Some(split("--v0", list)), None);
        }
        Ok(run)
    }
}

impl SimulateFlags {
    /// The run that the flags describe.
    pub(crate) fn to_run(&self) -> Result<Run, Ending> {
        let mut run = self.start.to_run()?;
        self.method.fill(&mut run);
        if !self.out.is_empty() {
            run.out = self.out.clone();
        }
        if !self.events.is_empty() {
            run.out_events = self.events.clone();
        }
        if !self.plot.is_empty() {
            run.plot = self.plot.clone();
        }
        run.checkpoint = self.checkpoint.clone().or(run.checkpoint);
        run.checkpoint_every = self.checkpoint_every.or(run.checkpoint_every);
        if run.checkpoint.is_none() && run.checkpoint_every.is_some() {
            let message = "there is no checkpoint to save so often; name its file with --checkpoint FILE";
            return Err(Ending::BadInput(message.to_owned()));
        }
        run.every = self.every.or(run.every);
        run.dense = self.dense.or(run.dense);
        run.accuracy = self.accuracy.then_some(true).or(run.accuracy);
        self.observe.fill(&mut run)?;
        Ok(run)
    }
}

/// A formula of a flag, which errors show.
pub(crate) fn formula(flag: &str, text: &str) -> Quantity {
    Quantity::written(text, &Origin::part(Source::new(flag, text), 0, text.len()))
}

/// An error if a flag gives a name twice: one of them would be forgotten.
pub(super) fn once(flag: &str, name: &str, given: &mut HashSet<String>) -> Result<(), Ending> {
    match given.insert(name.to_owned()) {
        true => Ok(()),
        false => Err(Ending::BadInput(format!("`{flag} {name}` is given twice\n  leave one of them out"))),
    }
}

/// Splits NAME=VALUE.
pub(crate) fn assignments(list: &[String]) -> Result<Vec<(String, Quantity)>, Ending> {
    list.iter()
        .map(|text| match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
                let origin = Origin::part(Source::new("--set", text), name.len() + 1, value.len());
                // m[ 2 ] is m[2]
                let name = name.chars().filter(|c| !c.is_whitespace()).collect();
                Ok((name, Quantity::written(value, &origin)))
            }
            _ => Err(Ending::BadInput(format!(
                "`--set {text}` is not of the form NAME=VALUE, e.g. --set g=1.62"
            ))),
        })
        .collect()
}

/// Splits the list of a flag at the commas that are not inside brackets.
pub(crate) fn split(flag: &str, list: &str) -> Vec<Quantity> {
    let source = Source::new(flag, list);
    let mut depth = 0i32;
    let parts = list.split(|c: char| {
        depth += match c {
            '(' | '[' => 1,
            ')' | ']' => -1,
            _ => 0,
        };
        c == ',' && depth == 0
    });
    let mut start = 0;
    let mut quantities = Vec::new();
    for part in parts {
        quantities.push(Quantity::written(part, &Origin::part(source.clone(), start, part.len())));
        start += part.len() + 1;
    }
    quantities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_split_outside_parentheses() {
        let list: Vec<String> =
            split("--q0", "1, atan2(1,2),-pi/3").iter().map(ToString::to_string).collect();
        assert_eq!(list, ["1", "atan2(1,2)", "-pi/3"]);
    }
}
