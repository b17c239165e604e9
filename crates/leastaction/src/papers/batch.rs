//! Tables computed together: one run serves all tables that need it.

use super::report::{Found, TableReport};
use super::table::{Table, distinct};
use crate::analysis::{Findings, Studies, Study, Watch};
use crate::error::{Error, Result};
use crate::system::Quantity;

/// Which numbers to compute a table with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Those of its experiment: `f64`, unless its errors are too small for that.
    Own,
    /// `f64` in any case.
    F64,
    /// So many decimal digits.
    Digits(usize),
}

/// What part of the tables is computed, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which numbers to compute with.
    pub precision: Precision,
    /// Only rows that end by this time; a formula of the system's parameters and its `period`.
    pub longest: Option<Quantity>,
    /// Also the methods that the papers do not have.
    pub beyond: bool,
}
/// Tables ready to be computed together: one run serves all tables that need it.
pub struct Batch {
    tables: Vec<Table>,
    /// The study of each table.
    places: Vec<usize>,
    /// The first study that is a choice.
    studies: Vec<Study>,
    checked: Studies,
}

impl Batch {
    /// Checks tables and counts their steps.
    pub fn new(tables: &[&Table], options: &Options) -> Result<Self> {
        let tables = tables.iter().map(|table| table.shortened(options)).collect::<Result<Vec<_>>>()?;
        let any = !tables.is_empty();
        let tables: Vec<Table> = tables.into_iter().filter(|table| !table.rows.is_empty()).collect();
        if any && tables.is_empty() {
            let message = format!(
                "no row of these tables ends by t = {}\n  try a later time",
                options.longest.as_ref().map_or("none".to_owned(), ToString::to_string)
            );
            return Err(Error::BadStudy { message });
        }
        let mut studies: Vec<Study> = Vec::new();
        let mut places = Vec::new();
        for table in &tables {
            let study = table.study();
            let same = |other: &Study| Study { measures: study.measures.clone(), ..other.clone() } == study;
            match studies.iter().position(same) {
                None => {
                    places.push(studies.len());
                    studies.push(study);
                }
                Some(place) => {
                    places.push(place);
                    let all = studies[place].measures.iter().chain(&study.measures).cloned();
                    studies[place].measures = distinct(all);
                }
            }
        }
        for table in &tables {
            for choice in &table.choice {
                studies.push(table.study_of_choice(choice)?);
            }
        }
        let checked = Studies::new(&studies)?;
        Ok(Self { tables, places, studies, checked })
    }

    /// How many steps there are to take.
    pub fn steps(&self) -> u64 {
        self.checked.steps()
    }

    /// Computes the tables.
    pub fn run(&self, watch: Watch<'_>) -> Result<Vec<TableReport>> {
        let findings = self.checked.run(watch);
        let choices: usize = self.tables.iter().map(|table| table.choice.len()).sum();
        let mut of_choices = findings[findings.len() - choices..].iter();
        let mut reports = Vec::new();
        for (table, place) in self.tables.iter().zip(&self.places) {
            let of_table: Vec<&Findings> = of_choices.by_ref().take(table.choice.len()).collect();
            let found = Found { table, study: &self.studies[*place], findings: &findings[*place] };
            reports.push(found.report(&of_table)?);
        }
        Ok(reports)
    }
}
