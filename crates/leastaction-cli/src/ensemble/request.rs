//! What is asked for: an ensemble, its files, a part of it. From flags, or from what a journal says about itself.

use crate::arguments::{EnsembleFlags, ResumeFlags, Shard, SummaryFormat};
use crate::{Ending, output};
use leastaction::prelude::Run;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// An ensemble, and what is to become of it.
pub(super) struct Request {
    pub(super) run: Run,
    pub(super) files: Files,
    /// Where the list of starts is.
    pub(super) list: Option<PathBuf>,
    pub(super) colour: Option<String>,
    pub(super) shard: Option<Shard>,
    pub(super) threads: Option<usize>,
    pub(super) summary: SummaryFormat,
    pub(super) resume: bool,
    /// The journal to continue, if it is not the one beside the first file.
    pub(super) journal: Option<PathBuf>,
}

/// Where the results go.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Files {
    pub(super) tables: Vec<PathBuf>,
    pub(super) pictures: Vec<PathBuf>,
}

/// What a journal keeps of a request beside the ensemble: names of files that mean the same in every folder.
#[derive(Serialize, Deserialize)]
struct Note {
    files: Files,
    list: Option<PathBuf>,
    colour: Option<String>,
    /// Which part, and of how many.
    shard: Option<(u64, u64)>,
}

impl Request {
    pub(super) fn new(run: Run, flags: &EnsembleFlags) -> Result<Self, Ending> {
        let files = Files::new(flags, &run.out, &run.plot)?;
        let list = run.ensemble.as_ref().and_then(|ensemble| ensemble.list.as_ref()).map(PathBuf::from);
        Ok(Self {
            files,
            list,
            colour: flags.colour.clone(),
            shard: flags.shard,
            threads: flags.threads,
            summary: flags.summary,
            resume: flags.resume,
            journal: None,
            run,
        })
    }

    /// What a journal says was asked for; nothing if that cannot be read.
    pub(super) fn of_journal(identity: &str, note: &str, flags: &ResumeFlags) -> Option<Self> {
        let Note { files, list, colour, shard } = serde_json::from_str(note).ok()?;
        Some(Self {
            run: Run::from_toml(identity).ok()?,
            files,
            list,
            colour,
            shard: shard.map(|(index, count)| Shard { index, count }),
            threads: flags.threads,
            summary: flags.summary,
            resume: true,
            journal: Some(flags.file.clone()),
        })
    }

    /// What a journal keeps of it.
    pub(super) fn note(&self) -> Result<String, Ending> {
        let absolute = |path: &PathBuf| std::path::absolute(path);
        let all = |paths: &[PathBuf]| paths.iter().map(absolute).collect::<Result<_, _>>();
        let note = || -> std::io::Result<String> {
            let note = Note {
                files: Files { tables: all(&self.files.tables)?, pictures: all(&self.files.pictures)? },
                list: self.list.as_ref().map(absolute).transpose()?,
                colour: self.colour.clone(),
                shard: self.shard.map(|shard| (shard.index, shard.count)),
            };
            Ok(serde_json::to_string(&note)?)
        };
        note().map_err(|error| Ending::BadInput(format!("a name of a file cannot be kept: {error}")))
    }
}

impl Files {
    fn new(flags: &EnsembleFlags, out: &[String], plot: &[String]) -> Result<Self, Ending> {
        let table = |name: &String| match flags.shard {
            None => PathBuf::from(name),
            Some(shard) => of_shard(Path::new(name), shard),
        };
        let files = Self {
            tables: out.iter().map(table).collect(),
            pictures: plot.iter().map(PathBuf::from).collect(),
        };
        files.tables.iter().try_for_each(|path| output::check_table(path))?;
        files.pictures.iter().try_for_each(|path| output::check_picture(path))?;
        if flags.shard.is_some() && !files.pictures.is_empty() {
            let message = "--plot needs all members, and --shard computes a part\n  \
                           leave out --plot, and when all parts are there join their columns (numpy.concatenate) and draw them; or leave out --shard";
            return Err(Ending::BadInput(message.to_owned()));
        }
        if flags.resume && files.tables.is_empty() && files.pictures.is_empty() {
            return Err(Ending::BadInput("there is nothing to resume without --out or --plot".to_owned()));
        }
        Ok(files)
    }
}

/// `map.npz` as `map.2-of-7.npz`
fn of_shard(path: &Path, shard: Shard) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
    path.with_file_name(format!("{stem}.{}-of-{}{extension}", shard.index, shard.count))
}
