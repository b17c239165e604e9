//! What a table holds, whatever kind of file it becomes: the states of a run, or its events.

use crate::stored::{Seal, Stored};
use leastaction::prelude::Solution;
use leastaction::simulate::Plan;
use std::borrow::Cow;
use std::path::Path;

/// Columns of numbers that lie side by side.
pub(super) struct Block<'a> {
    /// Its name as an array.
    pub(super) name: String,
    /// Names of its columns.
    pub(super) columns: Vec<String>,
    /// Row by row.
    pub(super) values: Cow<'a, [f64]>,
    /// Whether its columns are a second dimension of the array.
    pub(super) wide: bool,
}

impl Block<'_> {
    pub(super) fn row(&self, row: usize) -> &[f64] {
        let width = self.columns.len();
        &self.values[row * width..(row + 1) * width]
    }
}

/// A table with what it says about itself.
pub(crate) struct Table<'a> {
    /// How many rows there are.
    pub(super) rows: usize,
    /// A first column of words, with its name.
    pub(super) words: Option<(&'static str, Vec<&'a str>)>,
    /// The other columns.
    pub(super) blocks: Vec<Block<'a>>,
    /// Names of the coordinates.
    pub(super) coordinates: Vec<String>,
    /// The run as TOML.
    pub(super) run: String,
}

/// One column of numbers.
fn single<'a>(name: &str, values: impl Into<Cow<'a, [f64]>>) -> Block<'a> {
    Block { name: name.to_owned(), columns: vec![name.to_owned()], values: values.into(), wide: false }
}

/// A column for each coordinate.
fn each<'a>(name: &str, prefix: &str, coordinates: &[String], values: &'a [f64]) -> Block<'a> {
    let columns = coordinates.iter().map(|coordinate| format!("{prefix}{coordinate}")).collect();
    Block { name: name.to_owned(), columns, values: values.into(), wide: true }
}

impl<'a> Table<'a> {
    /// The recorded states.
    pub(crate) fn of_states(plan: &Plan, solution: &'a Solution) -> Result<Self, String> {
        let coordinates = plan.problem.system.coordinate_names();
        let r = &solution.recording;
        let mut blocks = vec![
            single("t", &r.t),
            each("q", "", &coordinates, &r.q),
            each("v", "v_", &coordinates, &r.v),
            each("p", "p_", &coordinates, &r.p),
            single("energy", &r.energy),
        ];
        blocks.extend(r.outputs.iter().map(|output| single(&output.name, &output.values)));
        let run = solution.run.to_toml().map_err(|error| error.to_string())?;
        Ok(Self { rows: r.len(), words: None, blocks, coordinates, run })
    }

    /// The events that were found.
    pub(crate) fn of_events(plan: &Plan, solution: &'a Solution) -> Result<Self, String> {
        let coordinates = plan.problem.system.coordinate_names();
        let e = &solution.events;
        let names = e.event.iter().map(|event| e.tallies[*event].name.as_str()).collect();
        let count: Vec<f64> = e.count.iter().map(|count| *count as f64).collect();
        let mut blocks = vec![
            single("count", count),
            single("t", &e.t),
            each("q", "", &coordinates, &e.q),
            each("v", "v_", &coordinates, &e.v),
            each("p", "p_", &coordinates, &e.p),
        ];
        for (index, name) in e.outputs.iter().enumerate() {
            blocks.push(single(name, e.output(index).copied().collect::<Vec<_>>()));
        }
        let run = solution.run.to_toml().map_err(|error| error.to_string())?;
        Ok(Self { rows: e.len(), words: Some(("event", names)), blocks, coordinates, run })
    }

    /// Its checksum.
    pub(super) fn seal(&self) -> String {
        let words = self.words.as_ref();
        let mut seal = Seal::new(
            Some(env!("CARGO_PKG_VERSION")),
            &self.run,
            words.map(|(name, _)| *name).into_iter().chain(self.names()),
        );
        let mut column = 0;
        if let Some((_, words)) = words {
            words.iter().for_each(|word| seal.word(0, word));
            column = 1;
        }
        for block in &self.blocks {
            let width = block.columns.len();
            block.values.iter().enumerate().for_each(|(at, x)| seal.number(column + at % width, *x));
            column += width;
        }
        seal.close()
    }

    /// Whether a file holds it already.
    pub(crate) fn is_in(&self, path: &Path) -> bool {
        let own = self.seal();
        Stored::read(path).is_ok_and(|found| found.is_sealed() && found.own_seal() == own)
    }

    /// Names of all columns of numbers.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().flat_map(|block| block.columns.iter().map(String::as_str))
    }
}
