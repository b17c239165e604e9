//! `leastaction ensemble`: plan, compute blocks of members into a journal, write tables and pictures from it, summarise.
//!
//! Members that fail are counted and named; the ensemble goes on. It fails only if every member does.

mod list;
mod picture;
mod request;
mod summary;

use crate::arguments::{EnsembleFlags, ResumeFlags, Shard};
use crate::output::journal::{self, Journal, Shape};
use crate::output::{self, Heading};
use crate::progress::{Interrupt, Progress};
use crate::{Ending, pick, say, stored, warn_of_text};
use leastaction::prelude::Run;
use leastaction::scalar::Checksum;
use leastaction::simulate::ensemble::{Block, EnsemblePlan, List, Tally};
use request::{Files, Request};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) fn ensemble(flags: &EnsembleFlags) -> Result<(), Ending> {
    let mut run = flags.to_run()?;
    if run.checkpoint.is_some() {
        let message = "ensembles need no checkpoint: members are kept beside --out, and --resume continues\n  leave out `checkpoint`";
        return Err(Ending::BadInput(message.to_owned()));
    }
    // the step of the run that is not varied; members have it, or steps near it
    pick::pick(&mut run, None)?;
    perform(&Request::new(run, flags)?)
}

/// Continues what a journal has begun. `None` if the file is no journal.
pub(crate) fn resume(flags: &ResumeFlags) -> Option<Result<(), Ending>> {
    let (identity, note) = match Journal::about(&flags.file) {
        Ok(found) => found?,
        Err(error) if journal::is_damage(&error) => return Some(Err(journal::damaged(&flags.file))),
        // whoever opens it next says what is wrong
        Err(_) => return None,
    };
    if flags.changes_files() {
        let message = "what is left of an ensemble is continued with its own files; leave out --out, --events, --plot and --checkpoint-every";
        return Some(Err(Ending::BadInput(message.to_owned())));
    }
    let request = Request::of_journal(&identity, &note, flags);
    Some(request.ok_or_else(|| journal::damaged(&flags.file)).and_then(|request| perform(&request)))
}

/// The list of starts of a run that has one, found from here or from where its result is.
pub(crate) fn list_of(run: &Run, result: &Path) -> Result<Option<List>, Ending> {
    let Some(path) = run.ensemble.as_ref().and_then(|ensemble| ensemble.list.as_ref()) else {
        return Ok(None);
    };
    let (here, there) = (Path::new(path), result.with_file_name(path));
    list::read(if !here.exists() && there.exists() { &there } else { here }).map(Some)
}

fn perform(request: &Request) -> Result<(), Ending> {
    let list = request.list.as_deref().map(list::read).transpose()?;
    let fingerprint = list.as_ref().map(fingerprint);
    let plan = EnsemblePlan::new(&request.run, list)?;
    warn_of_text(&plan.base.problem.system);
    for note in &plan.base.notes {
        say(&format!("note: {note}"));
    }
    for warning in plan.base.warnings() {
        say(&format!("warning: {warning}"));
    }
    let files = &request.files;
    let column = picture::column(&plan, request.colour.as_deref(), !files.pictures.is_empty())?;
    let work = Work::new(plan, request, fingerprint)?;
    if request.resume && request.journal.is_none() && files.are_complete(&work.text)? {
        return Ok(());
    }
    let mut journal = files.journal(&work, request)?;
    let mut tally = Tally::new(&work.plan);
    let start = Instant::now();
    let finished = work.compute(journal.as_mut(), &mut tally)?;
    if !finished {
        return Err(interrupted(&tally, &work, journal.as_ref()));
    }
    if let Some(journal) = journal {
        files.write(&work, journal, (column, tally.failed))?;
    }
    summary::print_summary(request.summary, &work, &tally, start.elapsed().as_secs_f64())?;
    name_failures(&tally);
    if tally.failed == tally.members && tally.members > 0 {
        return Err(Ending::Failed("every member failed; try a smaller step or other starts".to_owned()));
    }
    missed(&work, &tally).map_or(Ok(()), |message| Err(Ending::Failed(message)))
}

/// Even the smallest steps may not be small enough.
fn missed(work: &Work, tally: &Tally) -> Option<String> {
    let (tolerance, largest) = (work.plan.base.tolerance?, tally.energy_error.as_ref()?);
    let kept = largest.value <= tolerance;
    (!kept).then(|| {
        format!(
            "the energy error of member {} is {:.1e}, more than the tolerance of {tolerance:.1e}; the results are kept\n  \
             its steps are the smallest there are; try a smaller --step to begin with, or a method of higher order",
            largest.index, largest.value
        )
    })
}

/// What is to be computed.
struct Work {
    plan: EnsemblePlan,
    members: Range<u64>,
    shard: Option<Shard>,
    threads: usize,
    /// The run as it is stored in files.
    text: String,
    /// What tells this ensemble from others.
    identity: String,
}

impl Work {
    fn new(plan: EnsemblePlan, request: &Request, list: Option<u64>) -> Result<Self, Ending> {
        let members = match request.shard {
            None => 0..plan.count(),
            Some(Shard { index, count }) => plan.shard(index, count),
        };
        let run = plan.run.to_toml()?;
        let text = match request.shard {
            None => run,
            Some(Shard { index, count }) => format!("{}\n{run}", title_of_shard(index, count, &plan)),
        };
        let identity = format!(
            "# leastaction {}\n# list {list:?}\n# blocks of {}\n{text}",
            env!("CARGO_PKG_VERSION"),
            plan.block_size()
        );
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = request.threads.unwrap_or_else(cores);
        Ok(Self { plan, members, shard: request.shard, threads, text, identity })
    }

    fn count(&self) -> u64 {
        self.members.end - self.members.start
    }

    fn shape(&self) -> Shape {
        Shape { members: self.count(), block: self.plan.block_size(), columns: self.plan.columns.len() }
    }

    /// Computes what the journal does not have yet. Says whether all blocks are there.
    fn compute(&self, mut journal: Option<&mut Journal>, tally: &mut Tally) -> Result<bool, Ending> {
        let interrupt = Interrupt::install("ending; press Ctrl-C again to end at once");
        let mut first = 0;
        if let Some(journal) = journal.as_deref_mut() {
            first = journal.blocks;
            for block in 0..first {
                let block = journal.read(block).map_err(|error| unreadable(&error, journal))?;
                tally.add(&self.plan, &block);
            }
        }
        if tally.members > 0 {
            say(&format!("note: {} of {} members were computed before", tally.members, self.count()));
        }
        let progress = Progress::of_members(self.count());
        progress.begin_at(tally.members);
        let keep = |block: &Block| {
            if let Some(journal) = journal.as_deref_mut() {
                journal.append(block)?;
            }
            tally.add(&self.plan, block);
            progress.advance(block.rows as u64);
            if tally.failed > 0 {
                progress.say(format!(", {} failed", tally.failed));
            }
            Ok(())
        };
        let blocks = self.plan.run(&self.members, first, self.threads, &|| interrupt.flow(), keep);
        progress.finish();
        // who interrupts an ensemble may switch off the machine
        let Some(journal) = journal else {
            let blocks = blocks.map_err(|error: std::io::Error| Ending::Failed(error.to_string()))?;
            return Ok(blocks == self.shape().blocks());
        };
        let synced = journal.sync();
        let blocks = synced.and(blocks).map_err(|error: std::io::Error| {
            let name = journal.path().display();
            Ending::Failed(format!(
                "cannot write `{name}`: {error}\n  {} of {} members are kept in it; `leastaction resume {name}` continues from there",
                tally.members,
                self.count()
            ))
        })?;
        Ok(blocks == self.shape().blocks())
    }
}

/// What a part of an ensemble says of itself, before its run.
pub(crate) fn title_of_shard(index: u64, count: u64, plan: &EnsemblePlan) -> String {
    let Range { start, end } = plan.shard(index, count);
    format!("# shard {index}/{count}: members {start} to {end} of {}", plan.count())
}

fn unreadable(error: &std::io::Error, journal: &Journal) -> Ending {
    let name = journal.path().display();
    Ending::Failed(format!(
        "cannot read what was computed, in `{name}`: {error}\n  `leastaction resume {name}` tries again and computes what is damaged once more; remove the file to begin anew"
    ))
}

impl Files {
    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.tables.iter().chain(&self.pictures)
    }

    /// The journal that was named, or the one beside the first file; none if nothing is written.
    fn journal(&self, work: &Work, request: &Request) -> Result<Option<Journal>, Ending> {
        let Some(first) = self.all().next() else { return Ok(None) };
        let path = request.journal.clone().unwrap_or_else(|| journal::path_beside(first));
        let note = request.note()?;
        Journal::open(&path, &work.identity, &note, work.shape(), request.resume).map(Some)
    }

    /// Whether an earlier run has written everything, so that nothing is left to resume.
    fn are_complete(&self, text: &str) -> Result<bool, Ending> {
        let unfinished = self.all().next().is_some_and(|first| journal::path_beside(first).exists());
        if unfinished || self.tables.is_empty() || !self.all().all(|path| path.exists()) {
            return Ok(false);
        }
        for path in &self.tables {
            if stored::run_of(path).is_none_or(|run| run.trim_end() != text.trim_end()) {
                return Err(Ending::BadInput(format!(
                    "`{}` holds something else than this ensemble, and no part of it is left to be resumed\n  \
                     choose another --out, or leave out --resume to replace it",
                    path.display()
                )));
            }
        }
        say("note: all members were computed before; there is nothing to resume");
        Ok(true)
    }

    /// Writes tables and pictures, and removes the journal when all are there.
    fn write(&self, work: &Work, mut journal: Journal, drawn: (usize, u64)) -> Result<(), Ending> {
        let heading = Heading { columns: &work.plan.columns, members: work.count(), run: &work.text };
        for path in &self.tables {
            output::write_members(path, &heading, &mut journal)
                .map_err(|message| resumable(&message, &journal))?;
            say(&format!("wrote {} ({} members)", path.display(), work.count()));
        }
        for path in &self.pictures {
            let svg = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg"));
            let figure = picture::figure(&work.plan, &mut journal, drawn, svg);
            let figure = figure.map_err(|error| unreadable(&error, &journal))?;
            output::write_picture(path, &figure).map_err(|message| resumable(&message, &journal))?;
            say(&format!("wrote {}", path.display()));
        }
        journal.remove().map_err(|error| Ending::Failed(format!("cannot remove what is written: {error}")))
    }
}

fn resumable(message: &str, journal: &Journal) -> Ending {
    let name = journal.path().display();
    Ending::Failed(format!(
        "{message}\n  all members are kept in `{name}`; `leastaction resume {name}` writes them without computing again"
    ))
}

fn interrupted(tally: &Tally, work: &Work, journal: Option<&Journal>) -> Ending {
    let advice = match journal {
        Some(journal) => format!("`leastaction resume {}` continues", journal.path().display()),
        None => "with --out it could be resumed".to_owned(),
    };
    say(&format!("interrupted after {} of {} members; {advice}", tally.members, work.count()));
    Ending::Interrupted
}

/// How many members failed, and why the first of them did.
fn name_failures(tally: &Tally) {
    if tally.failed == 0 {
        return;
    }
    say(&format!("warning: {} of {} members failed", tally.failed, tally.members));
    for failed in &tally.failures {
        let values: Vec<String> = failed.values.iter().map(|(name, x)| format!("{name} = {x}")).collect();
        say(&format!(
            "  member {}: {} at t = {} ({})",
            failed.index,
            failed.status,
            failed.t,
            values.join(", ")
        ));
    }
    if let Some(more @ 1..) = tally.failed.checked_sub(tally.failures.len() as u64) {
        say(&format!("  … and {more} more"));
    }
}

/// A number that tells the rows of a list from others.
fn fingerprint(list: &List) -> u64 {
    let mut sum = Checksum::new();
    list.values.iter().for_each(|x| sum.add(x.to_bits()));
    sum.value()
}
