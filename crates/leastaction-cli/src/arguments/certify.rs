//! The flags of `certify`.

use super::{MethodFlags, StartFlags};
use crate::Ending;
use clap::Args;
use leastaction::analysis::certify::Options;
use leastaction::prelude::Run;

/// Everything is measured on the system as given: parameters, initial state, method and step. Exit code 0 if nothing failed, 1 if
/// something did; the certificate is printed in both cases.
#[derive(Debug, Args)]
pub(crate) struct CertifyFlags {
    #[command(flatten)]
    start: StartFlags,
    #[command(flatten)]
    method: MethodFlags,
    /// The relative energy error for which a method and a step are recommended [default: the tolerance, or 1e-8]
    #[arg(long, value_name = "ERROR")]
    energy_error: Option<f64>,
    /// Print the certificate as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl CertifyFlags {
    /// The run that the flags describe.
    pub(crate) fn to_run(&self) -> Result<Run, Ending> {
        let mut run = self.start.to_run()?;
        self.method.fill(&mut run);
        // nothing is recorded
        (run.every, run.dense) = (Some(0), None);
        Ok(run)
    }

    /// What is wanted of the certificate of a run with this tolerance.
    pub(crate) fn options(&self, tolerance: Option<f64>) -> Options {
        let usual = Options::default().energy_error;
        Options { energy_error: self.energy_error.or(tolerance).unwrap_or(usual) }
    }
}
