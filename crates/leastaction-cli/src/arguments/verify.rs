//! The flags of `verify`.

use super::SummaryFormat;
use clap::Args;
use leastaction::analysis::verify::Effort;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct VerifyFlags {
    /// A table of states or members (.csv, .npz, .parquet where built in), or a checkpoint
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Compute everything again, however long it takes [default: a million steps at most]
    #[arg(long)]
    all: bool,
    /// How many rows to reach from those before, or members to compute again [default: 12]
    #[arg(long, value_name = "K")]
    spots: Option<usize>,
    /// Which of them
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = SummaryFormat::Text)]
    pub(crate) format: SummaryFormat,
}

impl VerifyFlags {
    pub(crate) fn effort(&self) -> Effort {
        let usual = Effort::default();
        Effort {
            steps: if self.all { None } else { usual.steps },
            spots: self.spots.unwrap_or(usual.spots),
            seed: self.seed,
        }
    }
}
