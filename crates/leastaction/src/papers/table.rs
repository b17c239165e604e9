//! Tables as data: from rows of printed values to the studies that compute them.

use super::batch::{Options, Precision};
use super::printed::Printed;
use crate::analysis::{Measure, Reference, Study};
use crate::error::{Error, Result};
use crate::simulate::Run;
use crate::simulate::numbers::Numbers;
use crate::system::{Quantity, catalogue};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A table of errors: rows of methods and times, columns of steps.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Such as `000.T2`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The step size of each column.
    pub steps: Vec<Quantity>,
    /// What errors are measured against.
    #[serde(default)]
    pub reference: Reference,
    /// What is measured, by name.
    pub measure: BTreeMap<String, Measure>,
    /// Methods the paper does not have, for the same experiment.
    #[serde(default)]
    pub beyond: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
    /// System, parameters and initial state.
    pub run: Run,
    /// What the paper leaves open or misprints about the experiment.
    #[serde(default)]
    pub choice: Vec<Choice>,
}

/// A row of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The first columns: length of the run, quantity.
    pub label: String,
    /// The method's name here.
    pub method: String,
    /// The method's name in the paper.
    pub name: String,
    /// What is measured; may be left out if the table measures one thing.
    #[serde(default)]
    pub measure: Option<String>,
    /// End time.
    pub until: Quantity,
    /// Names of the columns, where they differ from row to row.
    #[serde(default)]
    pub columns: Option<Vec<String>>,
    /// The printed values.
    pub printed: Vec<Printed>,
    /// The printed order.
    pub order: String,
}

/// Something the paper leaves open or misprints, and what an entry would be if it were taken as printed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What is printed.
    pub printed: String,
    /// What reproduces the table.
    pub used: String,
    /// The entry that is computed the other way: row and column.
    pub entry: [usize; 2],
    /// The other way: another run,
    #[serde(default)]
    pub run: Option<Run>,
    /// another step,
    #[serde(default)]
    pub step: Option<Quantity>,
    /// another end,
    #[serde(default)]
    pub until: Option<Quantity>,
    /// another method,
    #[serde(default)]
    pub method: Option<String>,
    /// or another measure.
    #[serde(default)]
    pub measure: Option<Measure>,
}

impl Row {
    /// The name of the row.
    pub fn title(&self) -> String {
        format!("{}, {}", self.label, self.name)
    }
}

impl Table {
    /// Checks that the pieces fit together.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::BadStudy { message: format!("table {}: {what}", self.id) });
        if self.columns.len() != self.steps.len() {
            return wrong("there must be as many columns as steps".to_owned());
        }
        for row in &self.rows {
            if row.printed.len() != self.steps.len() {
                return wrong(format!("row `{}` must have one value for each step", row.title()));
            }
            if row.columns.as_ref().is_some_and(|names| names.len() != self.steps.len()) {
                return wrong(format!("row `{}` must have one column for each step", row.title()));
            }
            self.measure_of(row)?;
        }
        let inside = |c: &Choice| c.entry[0] < self.rows.len() && c.entry[1] < self.steps.len();
        if !self.choice.iter().all(inside) {
            return wrong("a choice names an entry outside of the table".to_owned());
        }
        Ok(())
    }

    pub(super) fn measure_of(&self, row: &Row) -> Result<&Measure> {
        let found = match &row.measure {
            Some(name) => self.measure.get(name),
            None if self.measure.len() == 1 => self.measure.values().next(),
            None => None,
        };
        found.ok_or_else(|| Error::BadStudy {
            message: format!("table {}: row `{}` must name one of its measures", self.id, row.title()),
        })
    }

    /// The value of an end time, in the time of the system.
    pub(super) fn time(&self, until: &Quantity) -> Result<f64> {
        let mut run = self.run.clone();
        let system = catalogue::sized_system(&run.system, &mut run.parameters)?;
        Numbers::<f64>::new(&run, &system)?.until(Some(until))
    }

    /// The same table with the rows that end in time.
    pub(super) fn shortened(&self, options: &Options) -> Result<Self> {
        let mut table = self.clone();
        match options.precision {
            Precision::Own => {}
            Precision::F64 => table.run.precision = None,
            Precision::Digits(digits) => table.run.precision = Some(digits),
        }
        if let Some(longest) = &options.longest {
            let longest = self.time(longest)?;
            let mut kept = Vec::new();
            for row in &self.rows {
                if self.time(&row.until)? <= longest * (1.0 + 1e-9) {
                    kept.push(row.clone());
                }
            }
            table.rows = kept;
        }
        if !options.beyond {
            table.beyond.clear();
        }
        // an entry that is gone cannot be computed another way
        table.choice.retain(|choice| {
            let row = &self.rows[choice.entry[0]];
            table.rows.get(choice.entry[0]).is_some_and(|kept| kept.title() == row.title())
        });
        Ok(table)
    }

    pub(super) fn study(&self) -> Study {
        let methods = self.rows.iter().map(|row| &row.method).chain(&self.beyond).cloned();
        Study {
            run: self.run.clone(),
            methods: distinct(methods),
            steps: self.steps.clone(),
            until: distinct(self.rows.iter().map(|row| row.until.clone())),
            measures: self.measure.values().cloned().collect(),
            reference: self.reference.clone(),
        }
    }

    pub(super) fn study_of_choice(&self, choice: &Choice) -> Result<Study> {
        let (row, column) = (&self.rows[choice.entry[0]], choice.entry[1]);
        let mut run = choice.run.clone().unwrap_or_else(|| self.run.clone());
        run.precision = self.run.precision;
        Ok(Study {
            run,
            methods: vec![choice.method.clone().unwrap_or_else(|| row.method.clone())],
            steps: vec![choice.step.clone().unwrap_or_else(|| self.steps[column].clone())],
            until: vec![choice.until.clone().unwrap_or_else(|| row.until.clone())],
            measures: vec![choice.measure.clone().map_or_else(|| self.measure_of(row).cloned(), Ok)?],
            reference: self.reference.clone(),
        })
    }
}
/// Every item once, in the order of its first appearance.
pub(super) fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}
