//! The flags of `reproduce`.

use super::{Format, Precision, precision};
use clap::Args;
use leastaction::papers::{self, Options};
use leastaction::system::Quantity;
use std::path::PathBuf;

/// Tables are printed. With --out, tables, figures and an index page are also written into a folder; figures asked for without
/// it are drawn in the present one.
#[derive(Debug, Args)]
pub(crate) struct ReproduceFlags {
    /// A table (000.T4), a figure (001.F7), a paper (003), or all
    #[arg(value_name = "TABLE|FIGURE|PAPER|all", default_value = "all")]
    pub(crate) what: Vec<String>,
    /// How to print tables
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Write tables, figures and an index page into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Decimal digits to compute tables (not figures) with: f64, or a number such as 64 [default: f64, but 32 for 004.T2]
    #[arg(long, value_name = "DIGITS", value_parser = precision)]
    precision: Option<Precision>,
    /// Only rows of tables that end by this time, e.g. 10, or 10*period where the system has one
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    until: Option<String>,
    /// Only what the papers print, without the rows of further methods
    #[arg(long)]
    pub(crate) no_beyond: bool,
}

impl ReproduceFlags {
    pub(crate) fn options(&self) -> Options {
        let precision = match self.precision {
            None => papers::Precision::Own,
            Some(Precision::F64) => papers::Precision::F64,
            Some(Precision::Digits(digits)) => papers::Precision::Digits(digits),
        };
        // JSON without a report has no place for them
        let shown = self.format != Format::Json || self.out.is_some();
        let longest = self.until.as_deref().map(Quantity::from);
        Options { precision, longest, beyond: shown && !self.no_beyond }
    }
}
