//! A run whose checkpoints are kept in a file.
//!
//! A checkpoint is written beside its place, synced and moved there, so that the file is always a whole one, the last or the one
//! before it. The file is locked by the process that runs: the lock is on the file itself, and each new one is locked before it is moved. Where a
//! file system has no locks nothing prevents two processes.

use super::checkpoint::{TITLE, about};
use super::{Checkpoint, Interval, Journey, Plan, Solution, Watch, write_whole};
use crate::error::{Error, Result};
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Writing may take this part of the time.
const SHARE: u32 = 20;
/// Steps between two looks at the clock, where a step is quick.
const GLANCE: u64 = 64;

/// Keeps the checkpoints of one run.
#[derive(Debug)]
pub struct Keeper {
    path: PathBuf,
    interval: Interval,
    /// The file as it is, locked.
    held: File,
    /// Whether it was made for this run.
    made: bool,
    /// Whether it says that nothing is left to do.
    over: bool,
    /// The step that was saved last.
    saved: Option<u64>,
}

impl Keeper {
    /// Begins a file for a new run. A file that is there is replaced only if nothing is left to do for the run in it.
    pub fn create(path: &Path, interval: Interval) -> Result<Self> {
        let (held, made) = match File::options().read(true).write(true).create_new(true).open(path) {
            // an empty file takes the place from now on, so that two processes cannot begin the same
            Ok(file) => lock(&file, path).map(|()| (file, true))?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let (file, bytes) = take(path)?;
                if !bytes.is_empty() {
                    is_checkpoint(path, &bytes, "it is not written over; name another file")?;
                    replaceable(path, &Checkpoint::read(&bytes).map_err(|error| about(path, error))?)?;
                }
                (file, false)
            }
            Err(error) => {
                return Err(Error::BadCheckpoint {
                    message: format!("cannot write the checkpoint `{}`: {error}", path.display()),
                });
            }
        };
        Ok(Self { path: path.to_owned(), interval, held, made, over: false, saved: None })
    }

    /// Takes up a file that was left.
    pub fn open(path: &Path) -> Result<(Self, Checkpoint)> {
        let (held, bytes) = take(path)?;
        if bytes.is_empty() {
            return Err(Error::BadCheckpoint {
                message: format!(
                    "`{}` is empty: its run ended before anything was computed\n  begin the run again",
                    path.display()
                ),
            });
        }
        is_checkpoint(
            path,
            &bytes,
            "give the file that a run was saved to, or the .part that is left of an ensemble",
        )?;
        let found = Checkpoint::read(&bytes).map_err(|error| about(path, error))?;
        let interval = found.run.checkpoint_every.unwrap_or_default();
        let (over, saved) = (found.over, Some(found.steps));
        Ok((Self { path: path.to_owned(), interval, held, made: false, over, saved }, found))
    }

    /// The same, saved so often.
    pub fn every(self, interval: Interval) -> Self {
        Self { interval, ..self }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The step of the last checkpoint.
    pub fn saved(&self) -> Option<u64> {
        self.saved
    }

    /// Goes on until the run is over or the watch breaks, and saves at the start, now and then, and at the end. `write` is shown the
    /// solution before each checkpoint but the first, so that what it writes is never behind. A run that was over when its file was taken up is not saved again.
    pub fn go(
        &mut self,
        plan: &Plan,
        journey: &mut Journey<'_>,
        watch: Watch<'_>,
        write: &mut dyn FnMut(&Solution) -> Result<()>,
    ) -> Result<()> {
        let start = Instant::now();
        if !self.over {
            // a place that cannot be written to is better known now
            self.save(plan, journey).inspect_err(|_| self.leave())?;
        }
        // where a single step takes long, the clock is read at each
        let glance = if plan.precision.is_some() || plan.problem.system.n() > 1000 { 1 } else { GLANCE };
        let (mut before, mut pause) = (start.elapsed(), Duration::ZERO);
        loop {
            let (start, first, interval) = (Instant::now(), journey.steps(), self.interval);
            let mut left = false;
            journey.go(&mut |step| {
                left = watch(step).is_break();
                let due = || match interval {
                    Interval::Seconds(_) if !step.is_multiple_of(glance) => false,
                    _ => interval.is_over(step - first, || start.elapsed().saturating_sub(pause)),
                };
                if left || due() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let start = Instant::now();
            let written = journey.show(&mut *write);
            // the file says so already; it may be on a disk that can only be read
            if self.over && journey.is_over() {
                return written;
            }
            self.over = false;
            // also where that failed: then it is all there is
            let saved = if journey.has_failed() { self.end() } else { self.save(plan, journey) };
            both(written, saved)?;
            if left || journey.is_over() {
                return Ok(());
            }
            // where writing takes long it is done less often; a machine that slept meanwhile does not write for long
            let writing = start.elapsed();
            pause = writing.min(before).saturating_mul(SHARE);
            before = writing;
        }
    }

    /// Leaves no empty file behind.
    fn leave(&self) {
        if self.made {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Marks the last checkpoint as that of a run which is over. A failure comes again if it is continued from there.
    fn end(&mut self) -> Result<()> {
        let bytes = Checkpoint::open(&self.path)?.ended().to_bytes()?;
        self.held = self.write(&bytes).map_err(|error| self.not_saved(&error))?;
        Ok(())
    }

    /// Saves where a journey is.
    pub fn save(&mut self, plan: &Plan, journey: &mut Journey<'_>) -> Result<()> {
        let checkpoint = Checkpoint::new(plan, journey);
        let bytes = checkpoint.to_bytes()?;
        match self.write(&bytes) {
            Ok(file) => {
                (self.held, self.saved) = (file, Some(checkpoint.steps));
                Ok(())
            }
            Err(error) => {
                if !is_at(&self.held, &self.path) {
                    self.saved = None;
                }
                Err(self.not_saved(&error))
            }
        }
    }

    fn not_saved(&self, error: &std::io::Error) -> Error {
        Error::NotSaved { message: format!("cannot write the checkpoint `{}`: {error}", self.path.display()) }
    }

    fn write(&self, bytes: &[u8]) -> std::io::Result<File> {
        if !is_at(&self.held, &self.path) {
            return Err(std::io::Error::other("another file took its place while the run went on"));
        }
        write_whole(&self.path, |file| file.write_all(bytes))
    }
}

/// The errors of two things that were done, in one.
fn both(first: Result<()>, second: Result<()>) -> Result<()> {
    match (first, second) {
        (Err(first), Err(second)) => Err(Error::NotSaved { message: format!("{first}\nerror: {second}") }),
        (first, second) => first.and(second),
    }
}

/// An error, with what to do, if a file has another beginning than checkpoints.
fn is_checkpoint(path: &Path, bytes: &[u8], advice: &str) -> Result<()> {
    if bytes.starts_with(TITLE.as_bytes()) {
        return Ok(());
    }
    Err(Error::BadCheckpoint { message: format!("`{}`: it is no checkpoint\n  {advice}", path.display()) })
}

/// An error unless nothing is left to do for a run.
fn replaceable(path: &Path, found: &Checkpoint) -> Result<()> {
    if found.over {
        return Ok(());
    }
    Err(Error::BadCheckpoint {
        message: format!(
            "`{name}` has a run at step {} of {}\n  `leastaction resume {name}` continues it; remove the file, or name another, to begin anew",
            found.steps,
            found.of,
            name = path.display()
        ),
    })
}

/// Locks a file, or says that another process has it.
fn lock(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Error::BadCheckpoint {
            message: format!(
                "`{}` belongs to a run that another process is computing\n  wait for it, or name another file",
                path.display()
            ),
        }),
        // not all file systems have locks
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Locks a file and reads it.
fn take(path: &Path) -> Result<(File, Vec<u8>)> {
    let cannot = |error: std::io::Error| Error::BadCheckpoint {
        message: format!("cannot read `{}`: {error}", path.display()),
    };
    loop {
        // a device or a pipe must not be replaced, or waited for
        match std::fs::metadata(path) {
            Ok(data) if data.is_dir() => {
                return Err(cannot(std::io::Error::other("it is a folder\n  name a file in it")));
            }
            Ok(data) if !data.is_file() => {
                return Err(cannot(std::io::Error::other("it is no regular file\n  name another file")));
            }
            _ => {}
        }
        // some systems lock only what may be written
        let both = File::options().read(true).write(true).open(path);
        let mut file = both.or_else(|_| File::open(path)).map_err(cannot)?;
        lock(&file, path)?;
        // it may have been replaced before it was locked
        if is_at(&file, path) {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(cannot)?;
            return Ok((file, bytes));
        }
    }
}

/// Whether a file is the one at a path.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(own), Ok(there)) => own.dev() == there.dev() && own.ino() == there.ino(),
        _ => true,
    }
}

/// Elsewhere nobody can tell.
#[cfg(not(unix))]
pub(super) fn is_at(_: &File, _: &Path) -> bool {
    true
}
