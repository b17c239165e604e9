//! The flags of `converge`, and the study they describe.

use super::{Format, StartFlags, split};
use crate::Ending;
use clap::{Args, ValueEnum};
use leastaction::analysis::{Measure, Over, Reference, Study, Vector};
use std::path::PathBuf;

/// Each run is compared with the exact solution where there is one, else with a run of higher order, smaller steps and more
/// digits.
#[derive(Debug, Args)]
pub(crate) struct ConvergeFlags {
    #[command(flatten)]
    start: StartFlags,
    /// Methods, separated by commas [default: midpoint,simpson,lobatto and that of the run]
    #[arg(long, short, value_name = "A,B,…", value_delimiter = ',')]
    methods: Vec<String>,
    /// Step sizes, separated by commas; they must divide the time [default: halved five times]
    #[arg(long, value_name = "A,B,…", allow_hyphen_values = true)]
    steps: Option<String>,
    /// What is measured, separated by commas: q, p, energy, a coordinate such as theta, its momentum p_theta; for linear
    /// systems also what a method conserves: "energy of simpson", "form of simpson"
    #[arg(long, value_name = "A,B,…", default_value = "q,p,energy", value_delimiter = ',')]
    of: Vec<String>,
    /// Over the steps: the largest error, the last, or the root of the mean square
    #[arg(long, value_enum, default_value_t = OverFlag::Sup)]
    over: OverFlag,
    /// Over the coordinates: the Euclidean length, or the largest
    #[arg(long, value_enum, default_value_t = VectorFlag::Euclid)]
    vector: VectorFlag,
    /// Divide errors by the right values (the energy is always relative unless --absolute)
    #[arg(long, conflicts_with = "absolute")]
    relative: bool,
    /// Do not divide the error of the energy by the energy
    #[arg(long)]
    absolute: bool,
    /// Compare with `exact`, with a run by this method, or `auto`: exact where known, else a Gauss method [default: auto]
    #[arg(long, value_name = "exact|METHOD|auto")]
    reference: Option<String>,
    /// Steps of the reference for each step of the run
    #[arg(long, value_name = "K")]
    refine: Option<u64>,
    /// Decimal digits of the reference
    #[arg(long, value_name = "DIGITS")]
    reference_precision: Option<usize>,
    /// How to print the results
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Draw errors against steps: .svg or .png; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum OverFlag {
    Sup,
    End,
    Rms,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum VectorFlag {
    Euclid,
    Max,
}

impl ConvergeFlags {
    /// The study that the flags describe.
    pub(crate) fn to_study(&self) -> Result<Study, Ending> {
        let mut run = self.start.to_run()?;
        // the system's own step may have no value where others are given
        if let Some(step) = self.steps.as_deref().and_then(|list| split("--steps", list).into_iter().next()) {
            run.step = Some(step);
        }
        let mut study = Study::of(&run)?;
        if !self.methods.is_empty() {
            study.methods = self.methods.clone();
        }
        if let Some(list) = &self.steps {
            study.steps = split("--steps", list);
        }
        study.measures = self.of.iter().map(|of| self.measure(of)).collect();
        // the same thing twice is measured once
        study.measures = distinct(study.measures);
        study.methods = distinct(study.methods);
        study.reference =
            Reference::by_name(self.reference.as_deref(), self.refine, self.reference_precision)?;
        Ok(study)
    }

    fn measure(&self, of: &str) -> Measure {
        let relative = match (self.relative, self.absolute) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let over = match self.over {
            OverFlag::Sup => Over::Sup,
            OverFlag::End => Over::End,
            OverFlag::Rms => Over::Rms,
        };
        let vector = match self.vector {
            VectorFlag::Euclid => Vector::Euclid,
            VectorFlag::Max => Vector::Max,
        };
        Measure { of: of.trim().to_owned(), relative, over, vector, units: Vec::new() }
    }
}

fn distinct<T: PartialEq>(items: Vec<T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}
