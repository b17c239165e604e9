//! The flags of `ensemble`, and the run with its ensemble they describe.

use super::{MethodFlags, ObserveFlags, StartFlags, SummaryFormat, once};
use crate::Ending;
use clap::Args;
use leastaction::error::{Origin, Source};
use leastaction::prelude::Run;
use leastaction::simulate::ensemble::{Draw, MAX_SEED, Spread};
use std::collections::HashSet;

/// Values are formulas separated by commas, or A..B:K for K values from A to B.
#[derive(Debug, Args)]
pub(crate) struct EnsembleFlags {
    #[command(flatten)]
    start: StartFlags,
    #[command(flatten)]
    method: MethodFlags,
    #[command(flatten)]
    observe: ObserveFlags,
    /// A member for each value of a parameter, a coordinate, or v_ or p_ with a coordinate; may be repeated, for all
    /// combinations, the first name slowest
    #[arg(long, value_name = "NAME=VALUES")]
    vary: Vec<String>,
    /// A member for each row of a table with named columns: .csv (or .parquet where built in)
    #[arg(long, value_name = "FILE")]
    list: Option<String>,
    /// Draw a value for each member: uniform(A,B) or normal(MEAN,DEVIATION); may be repeated
    #[arg(long, value_name = "NAME=DISTRIBUTION")]
    draw: Vec<String>,
    /// How many members to draw, for each row of a list and each point of a grid [default: 1]
    #[arg(long, value_name = "N", value_parser = members, allow_hyphen_values = true)]
    members: Option<u64>,
    /// Which draws: the same seed gives the same members [default: 0]
    #[arg(long, value_name = "S", value_parser = seed, allow_hyphen_values = true)]
    seed: Option<u64>,
    /// Write a row for each member: .csv, .npz (or .parquet where built in); may be repeated
    #[arg(long, value_name = "FILE")]
    out: Vec<String>,
    /// Draw a map of a grid of two names, or a curve over one: .svg or .png; may be repeated
    #[arg(long, value_name = "FILE")]
    plot: Vec<String>,
    /// The column that the picture shows [default: when the first event happens first, or the energy error]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) colour: Option<String>,
    /// Compute one of N parts and write it beside the others: map.npz becomes map.2-of-7.npz with 2/7
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub(crate) shard: Option<Shard>,
    /// Continue where an interrupted run of the same command ended
    #[arg(long)]
    pub(crate) resume: bool,
    /// Threads to compute with; the numbers do not depend on it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = threads, allow_hyphen_values = true)]
    pub(crate) threads: Option<usize>,
    /// How to print the summary
    #[arg(long, value_enum, default_value_t = SummaryFormat::Text)]
    pub(crate) summary: SummaryFormat,
}

/// One of several parts, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shard {
    pub(crate) index: u64,
    pub(crate) count: u64,
}

fn shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(index, count)| {
        Some(Shard { index: index.trim().parse().ok()?, count: count.trim().parse().ok()? })
    });
    parts
        .filter(|shard| (1..=shard.count).contains(&shard.index))
        .ok_or_else(|| "give a part and their number, from 1/7 to 7/7".to_owned())
}

fn members(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "give a whole number, 1 or more".to_owned())
}

fn seed(text: &str) -> Result<u64, String> {
    let seed = text.parse().ok().filter(|seed| *seed <= MAX_SEED);
    seed.ok_or_else(|| format!("give a whole number from 0 to {MAX_SEED}"))
}

pub(super) fn threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| (1..=4096).contains(threads));
    threads.ok_or_else(|| "give a whole number of threads, from 1 to 4096".to_owned())
}

impl EnsembleFlags {
    /// The run that the flags describe.
    pub(crate) fn to_run(&self) -> Result<Run, Ending> {
        let mut run = self.start.to_run()?;
        self.method.fill(&mut run);
        self.observe.fill(&mut run)?;
        if !self.out.is_empty() {
            run.out = self.out.clone();
        }
        if !self.plot.is_empty() {
            run.plot = self.plot.clone();
        }
        let ensemble = run.ensemble.get_or_insert_default();
        let (mut varied, mut drawn) = (HashSet::new(), HashSet::new());
        for text in &self.vary {
            let (name, values, origin) = named("--vary", text, "q1=-pi..pi:100")?;
            once("--vary", &name, &mut varied)?;
            ensemble.vary.insert(name, Spread::read(values, &origin)?);
        }
        for text in &self.draw {
            let (name, values, origin) = named("--draw", text, "q1=uniform(-pi,pi)")?;
            once("--draw", &name, &mut drawn)?;
            ensemble.draw.insert(name, Draw::read(values, &origin)?);
        }
        ensemble.list = self.list.clone().or(ensemble.list.take());
        ensemble.members = self.members.or(ensemble.members);
        ensemble.seed = self.seed.or(ensemble.seed);
        if self.seed.is_some() && ensemble.draw.is_empty() {
            let message = "--seed says which draws, but nothing is drawn\n  leave it out, or draw something: --draw \"q=uniform(0,1)\"";
            return Err(Ending::BadInput(message.to_owned()));
        }
        if self.colour.is_some() && run.plot.is_empty() {
            let message = "--colour names what a picture shows, but there is none\n  leave it out, or draw one: --plot map.png";
            return Err(Ending::BadInput(message.to_owned()));
        }
        Ok(run)
    }
}

/// Splits NAME=VALUES, and says where the values stand.
fn named<'a>(flag: &str, text: &'a str, example: &str) -> Result<(String, &'a str, Origin), Ending> {
    match text.split_once('=') {
        Some((name, values)) if !name.trim().is_empty() && !values.trim().is_empty() => {
            let origin = Origin::part(Source::new(flag, text), name.len() + 1, values.len());
            // m[ 2 ] is m[2]
            Ok((name.chars().filter(|c| !c.is_whitespace()).collect(), values, origin))
        }
        _ => Err(Ending::BadInput(format!(
            "`{flag} {text}` is not of the form NAME=VALUES, e.g. {flag} \"{example}\""
        ))),
    }
}
