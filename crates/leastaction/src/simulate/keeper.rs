//! A run whose checkpoints are kept in a file.
//!
//! A checkpoint is written beside its place, synced and moved there, so that the file is always a whole one, the last or the one
//! before it. The file is locked by the process that runs: the lock is on the file itself, and each new one is locked before it is moved. Where a
//! file system has no locks nothing prevents two processes.

use super::checkpoint::about;
use super::{Checkpoint, Interval, Journey, Plan, Solution, Watch};
use crate::error::{Error, Result};
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
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
    held: Option<File>,
    /// The step that was saved last.
    saved: u64,
}

impl Keeper {
    /// Begins a file for a new run. A file that is there is replaced only if it is the checkpoint of a run that was finished.
    pub fn create(path: &Path, interval: Interval) -> Result<Self> {
        let mut keeper = Self { path: path.to_owned(), interval, held: None, saved: 0 };
        if std::fs::exists(path).unwrap_or(true) {
            let (file, found) = take(path)?;
            if found.steps < found.of {
                return Err(Error::BadCheckpoint {
                    message: format!(
                        "`{name}` has a run at step {} of {}\n  `leastaction resume {name}` continues it; remove the file, or name another, to begin anew",
                        found.steps,
                        found.of,
                        name = path.display()
                    ),
                });
            }
            keeper.held = Some(file);
        }
        Ok(keeper)
    }

    /// Takes up a file that was left.
    pub fn open(path: &Path) -> Result<(Self, Checkpoint)> {
        let (file, found) = take(path)?;
        let interval = found.run.checkpoint_every.unwrap_or_default();
        Ok((Self { path: path.to_owned(), interval, held: Some(file), saved: found.steps }, found))
    }

    /// The step of the last checkpoint.
    pub fn saved(&self) -> u64 {
        self.saved
    }

    /// Goes on until the run is over or the watch breaks, and saves now and then. `write` is shown the solution before each
    /// checkpoint, so that what it writes is never behind.
    pub fn go(
        &mut self,
        plan: &Plan,
        journey: &mut Journey<'_>,
        watch: Watch<'_>,
        write: &mut dyn FnMut(&Solution) -> Result<()>,
    ) -> Result<()> {
        // where a single step takes long, the clock is read at each
        let glance = if plan.precision.is_some() || plan.problem.system.n() > 1000 { 1 } else { GLANCE };
        let mut pause = Duration::ZERO;
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
            if left || journey.is_over() {
                return Ok(());
            }
            let start = Instant::now();
            let written = journey.show(&mut *write);
            // also where that failed: then it is all there is
            self.save(plan, journey)?;
            written?;
            // where writing takes long it is done less often
            pause = SHARE * start.elapsed();
        }
    }

    /// Saves where a journey is.
    pub fn save(&mut self, plan: &Plan, journey: &mut Journey<'_>) -> Result<()> {
        let checkpoint = Checkpoint::new(plan, journey);
        let bytes = checkpoint.to_bytes()?;
        match self.write(&bytes) {
            Ok(file) => {
                (self.held, self.saved) = (Some(file), checkpoint.steps);
                Ok(())
            }
            Err(error) => Err(Error::NotSaved {
                message: format!("cannot write the checkpoint `{}`: {error}", self.path.display()),
            }),
        }
    }

    fn write(&self, bytes: &[u8]) -> std::io::Result<File> {
        // a link is followed, not replaced
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let part = beside(&path);
        let mut file = File::options().write(true).create(true).truncate(false).open(&part)?;
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(std::io::Error::new(ErrorKind::ResourceBusy, "another process is writing it"));
        }
        let written = file
            .set_len(0)
            .and_then(|()| file.write_all(bytes))
            .and_then(|()| file.sync_all())
            .and_then(|()| std::fs::rename(&part, &path));
        if let Err(error) = written {
            // only what was written here is removed, and if that fails it is overwritten next time
            let _ = std::fs::remove_file(&part);
            return Err(error);
        }
        // the folder's entry as well; not all systems can
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(file)
    }
}

/// Where a file is written before it is moved to its place.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    path.with_file_name(name)
}

/// Locks a checkpoint and reads it.
fn take(path: &Path) -> Result<(File, Checkpoint)> {
    let cannot = |error: std::io::Error| Error::BadCheckpoint {
        message: format!("cannot read `{}`: {error}", path.display()),
    };
    loop {
        let mut file = File::open(path).map_err(cannot)?;
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(Error::BadCheckpoint {
                message: format!(
                    "`{}` belongs to a run that another process is computing\n  wait for it, or name another file",
                    path.display()
                ),
            });
        }
        // it may have been replaced before it was locked
        if !is_at(&file, path) {
            continue;
        }
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(cannot)?;
        return Checkpoint::read(&bytes).map(|found| (file, found)).map_err(|error| about(path, error));
    }
}

/// Whether a file is the one at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(own), Ok(there)) => own.dev() == there.dev() && own.ino() == there.ino(),
        _ => true,
    }
}

/// Elsewhere nobody can tell.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}
