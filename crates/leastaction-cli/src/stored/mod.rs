//! Tables in files, read: results (states, events or members) as CSV, NPZ or Parquet, and the parts that lists of starts share.
//! Files may come from anywhere, so what they claim is compared with what they have. Uses nothing else of the command, so
//! that it can be fuzzed alone.

mod archive;
pub(crate) mod csv;
mod npy;
mod npz;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
mod seal;
mod words;

pub(crate) use seal::Seal;
use std::fs::File;
use std::path::Path;
pub(crate) use words::Words;

/// What stands in a column.
#[derive(Debug)]
pub(crate) enum Cells {
    Numbers(Vec<f64>),
    Words(Words),
}

impl Cells {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Words(words) => words.len(),
        }
    }
}

/// A table, with what it says about itself.
#[derive(Debug)]
pub(crate) struct Stored {
    /// The version of the program that wrote it.
    pub(crate) version: Option<String>,
    /// The checksum it claims to have.
    pub(crate) seal: Option<String>,
    /// The run as TOML.
    pub(crate) run: String,
    /// Names and contents.
    pub(crate) columns: Vec<(String, Cells)>,
}

/// The ending of a file's name, which tells its kind.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// A file that has an end.
fn open(path: &Path) -> Result<File, String> {
    // a device or a pipe may never end
    if std::fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        return Err("it is no regular file\n  give the path of a result".to_owned());
    }
    File::open(path).map_err(|error| error.to_string())
}

/// The run that a file carries, as it was written; nothing if it is no such file.
pub(crate) fn run_of(path: &Path) -> Option<String> {
    let file = open(path).ok()?;
    match extension(path).as_str() {
        #[cfg(feature = "parquet")]
        "parquet" => parquet::run_of(file),
        "npz" => npz::run_of(file),
        _ => csv::run_of(file),
    }
}

impl Stored {
    /// Reads a file, by its ending.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let file = open(path)?;
        let stored = match extension(path).as_str() {
            #[cfg(feature = "parquet")]
            "parquet" => parquet::read(file),
            #[cfg(not(feature = "parquet"))]
            "parquet" => Err("this build cannot read Parquet\n  build with `--features parquet`".to_owned()),
            "npz" => npz::read(file),
            _ => csv::read(file),
        }?;
        match stored.columns.iter().find(|(_, cells)| cells.len() != stored.rows()) {
            Some((name, _)) => Err(format!("the column `{name}` has another length than the first")),
            None => Ok(stored),
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, cells)| cells.len())
    }

    /// The numbers of a column.
    pub(crate) fn numbers(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|column| column.0 == name).and_then(|(_, cells)| match cells {
            Cells::Numbers(numbers) => Some(numbers.as_slice()),
            Cells::Words(_) => None,
        })
    }

    /// The checksum it has.
    pub(crate) fn own_seal(&self) -> String {
        self.seal_with(self.version.as_deref())
    }

    /// Whether it has the checksum that it says it has. That of older files leaves out the version.
    pub(crate) fn is_sealed(&self) -> bool {
        self.seal.as_ref().is_some_and(|seal| *seal == self.own_seal() || *seal == self.seal_with(None))
    }

    fn seal_with(&self, version: Option<&str>) -> String {
        let mut seal = Seal::new(version, &self.run, self.columns.iter().map(|(name, _)| name.as_str()));
        for (index, (_, cells)) in self.columns.iter().enumerate() {
            match cells {
                Cells::Numbers(numbers) => numbers.iter().for_each(|x| seal.number(index, *x)),
                Cells::Words(words) => words.iter().for_each(|word| seal.word(index, word)),
            }
        }
        seal.close()
    }
}
