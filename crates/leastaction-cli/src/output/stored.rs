//! Tables that were written, read again: states, events or members, as CSV, NPZ or Parquet.

use super::seal::Seal;
use super::{csv, extension, npz};
use std::path::Path;

/// What stands in a column.
#[derive(Debug, PartialEq)]
pub(crate) enum Cells {
    Numbers(Vec<f64>),
    Words(Vec<String>),
}

impl Cells {
    fn len(&self) -> usize {
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

impl Stored {
    /// Reads a file, by its ending.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let stored = match extension(path).as_str() {
            #[cfg(feature = "parquet")]
            "parquet" => super::parquet::read(path),
            #[cfg(not(feature = "parquet"))]
            "parquet" => Err("this build cannot read Parquet\n  build with `--features parquet`".to_owned()),
            "npz" => npz::read(path),
            _ => csv::read(path),
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
        let mut seal = Seal::new(&self.run, self.columns.iter().map(|(name, _)| name.as_str()));
        for (index, (_, cells)) in self.columns.iter().enumerate() {
            match cells {
                Cells::Numbers(numbers) => numbers.iter().for_each(|x| seal.number(index, *x)),
                Cells::Words(words) => words.iter().for_each(|word| seal.word(index, word)),
            }
        }
        seal.close()
    }
}
