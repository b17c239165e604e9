//! The five papers' experiments as data, and what comes out when they are run.
//!
//! The files in `papers/` hold, for every table and figure, the system, methods, steps and norms, and every printed
//! number. [`papers`] reads them; [`Batch`] runs tables, with a [`Verdict`] for each printed number; [`Album`]
//! computes the curves of figures and leaves drawing to its callers.

mod album;
mod batch;
pub mod figure;
mod printed;
mod report;
mod samples;
mod selection;
mod table;
mod verdict;

pub use album::{Album, Chart, Drawing, Line, Plot};
pub use batch::{Batch, Options, Precision};
pub use figure::Figure;
pub use printed::Printed;
pub use report::{Beyond, ChoiceReport, Entry, OrderCheck, TableReport};
pub use selection::Selection;
pub use table::{Choice, Row, Table};
pub use verdict::Verdict;

use crate::error::{Error, Result};
use serde::Deserialize;

/// A paper's experiments.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Its number.
    pub id: String,
    /// Who wrote it.
    pub authors: String,
    /// Its title.
    pub title: String,
    /// When it appeared.
    pub year: u32,
    /// What it does and what comes out, in a few sentences.
    pub about: String,
    /// Its tables and figures, as they follow each other.
    pub order: Vec<String>,
    /// Its tables of results.
    #[serde(default, rename = "table")]
    pub tables: Vec<Table>,
    /// Its figures.
    #[serde(default, rename = "figure")]
    pub figures: Vec<Figure>,
}

const FILES: [(&str, &str); 5] = [
    ("papers/000.toml", include_str!("../../../../papers/000.toml")),
    ("papers/001.toml", include_str!("../../../../papers/001.toml")),
    ("papers/002.toml", include_str!("../../../../papers/002.toml")),
    ("papers/003.toml", include_str!("../../../../papers/003.toml")),
    ("papers/004.toml", include_str!("../../../../papers/004.toml")),
];

/// The five papers.
pub fn papers() -> Result<Vec<Paper>> {
    FILES.iter().map(|(name, text)| Paper::from_toml(name, text)).collect()
}

impl Paper {
    /// Reads a paper's experiments; `name` is that of the file, for errors.
    pub fn from_toml(name: &str, text: &str) -> Result<Self> {
        let paper: Self = toml::from_str(text).map_err(|error| Error::BadStudy {
            message: format!("{name}: {}", error.to_string().trim_end()),
        })?;
        paper.tables.iter().try_for_each(Table::check)?;
        let ids = || paper.tables.iter().map(|t| &t.id).chain(paper.figures.iter().map(|f| &f.id));
        let unknown = paper.order.iter().find(|id| !ids().any(|other| other == *id));
        if let Some(id) = unknown.or_else(|| ids().find(|id| !paper.order.contains(id))) {
            let message = format!("{name}: `{id}` must be both in `order` and a table or figure");
            return Err(Error::BadStudy { message });
        }
        Ok(paper)
    }
}
