//! Tables: from rows of data to studies, and from what the studies find to entries with verdicts.

use super::printed::Printed;
use super::verdict::{Computed, Evidence, Verdict, judge, sentence};
use crate::analysis::order::fitted_order;
use crate::analysis::study::Watch;
use crate::analysis::{Finding, Findings, Measure, Reference, Studies, Study};
use crate::error::{Error, Result};
use crate::simulate::Run;
use crate::simulate::numbers::Numbers;
use crate::system::{Quantity, catalogue};
use serde::{Deserialize, Serialize};
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

    fn measure_of(&self, row: &Row) -> Result<&Measure> {
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
    fn time(&self, until: &Quantity) -> Result<f64> {
        let mut run = self.run.clone();
        let system = catalogue::sized_system(&run.system, &mut run.parameters)?;
        Numbers::<f64>::new(&run, &system)?.until(Some(until))
    }

    /// The same table with the rows that end in time.
    fn shortened(&self, options: &Options) -> Result<Self> {
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

    fn study(&self) -> Study {
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

    fn study_of_choice(&self, choice: &Choice) -> Result<Study> {
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

fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

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

/// One printed number and the computed one.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The table.
    pub table: String,
    /// Its row.
    pub row: String,
    /// Its column.
    pub column: String,
    /// The printed value.
    pub printed: f64,
    /// The printed value with its digits.
    #[serde(skip)]
    pub printed_text: String,
    /// The computed value.
    pub computed: Option<f64>,
    /// What that says.
    pub verdict: Verdict,
    /// In a sentence.
    pub note: String,
    /// The computed value with all its digits, if more were asked for than an `f64` has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computed_digits: Option<String>,
    /// The order printed for the row.
    pub printed_order: String,
    /// The order of the computed values of the row.
    pub computed_order: Option<f64>,
}

/// A printed order and the computed one.
#[derive(Clone, Debug, Serialize)]
pub struct OrderCheck {
    /// Which row.
    pub row: String,
    /// The printed order.
    pub printed: String,
    /// The slope of the computed errors; none if they are rounding errors.
    pub computed: Option<f64>,
    /// Whether they agree.
    pub agrees: bool,
}

/// A row that the paper does not have.
#[derive(Clone, Debug, Serialize)]
pub struct Beyond {
    /// Length of the run, quantity.
    pub label: String,
    /// The method.
    pub method: String,
    /// The errors, by step.
    pub values: Vec<f64>,
    /// Their slope, where they are not rounding errors.
    pub order: Option<f64>,
}

/// An entry computed as printed.
#[derive(Clone, Debug, Serialize)]
pub struct ChoiceReport {
    /// What is printed.
    pub printed: String,
    /// What reproduces the table.
    pub used: String,
    /// Which entry.
    pub entry: String,
    /// Its printed value.
    pub value_printed: f64,
    /// Its value with what reproduces the table.
    pub value_used: f64,
    /// Its value as printed.
    pub value_as_printed: f64,
}

/// A table, computed.
#[derive(Clone, Debug)]
pub struct TableReport {
    /// The table.
    pub table: Table,
    /// Its entries, row by row.
    pub entries: Vec<Entry>,
    /// Its orders.
    pub orders: Vec<OrderCheck>,
    /// Its rows that the paper does not have.
    pub beyond: Vec<Beyond>,
    /// What was left open or misprinted about the experiment.
    pub choices: Vec<ChoiceReport>,
    /// What errors were measured against.
    pub reference: String,
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

/// A table with what was found for it.
struct Found<'a> {
    table: &'a Table,
    study: &'a Study,
    findings: &'a Findings,
}

impl Found<'_> {
    /// Where the findings of a method, measure and end time are.
    fn place(&self, method: &str, measure: &Measure, until: &Quantity) -> (usize, usize, usize) {
        let method = self.study.methods.iter().position(|name| name == method).unwrap_or(0);
        let measure = self.study.measures.iter().position(|m| m == measure).unwrap_or(0);
        let until = self.study.until.iter().position(|t| t == until).unwrap_or(0);
        (method, measure, until)
    }

    fn of_row(&self, row: &Row) -> Result<&[Finding]> {
        let (method, measure, until) = self.place(&row.method, self.table.measure_of(row)?, &row.until);
        Ok(self.findings.row(method, measure, until))
    }

    fn report(&self, choices: &[&Findings]) -> Result<TableReport> {
        let rows = &self.table.rows;
        let found = rows.iter().map(|row| self.of_row(row)).collect::<Result<Vec<_>>>()?;
        let computed: Vec<Vec<f64>> =
            found.iter().map(|cells| cells.iter().map(Finding::value).collect()).collect();
        let until = rows.iter().map(|row| self.table.time(&row.until)).collect::<Result<Vec<_>>>()?;
        let mut evidence = Evidence {
            row: 0,
            column: 0,
            printed: rows.iter().map(|row| row.printed.as_slice()).collect(),
            computed,
            kinds: rows.iter().map(|r| (r.method.as_str(), r.measure.as_deref().unwrap_or(""))).collect(),
            until,
            names: rows.iter().map(Row::title).collect(),
            order: "",
            steps: &self.findings.steps,
        };
        let orders: Vec<OrderCheck> =
            rows.iter().zip(&found).map(|(row, cells)| self.order_check(row, cells)).collect();
        let mut entries = Vec::new();
        for (r, row) in rows.iter().enumerate() {
            for (c, finding) in found[r].iter().enumerate() {
                (evidence.row, evidence.column, evidence.order) = (r, c, &row.order);
                entries.push(self.entry(row, finding, &evidence, self.all_rounding(found[r]), &orders[r]));
            }
        }
        Ok(TableReport {
            table: self.table.clone(),
            entries,
            orders,
            beyond: self.beyond()?,
            choices: self.choices(choices)?,
            reference: self.findings.reference.clone(),
        })
    }

    fn entry(
        &self,
        row: &Row,
        finding: &Finding,
        evidence: &Evidence<'_>,
        zeros: bool,
        order: &OrderCheck,
    ) -> Entry {
        let column = evidence.column;
        let (computed, digits, verdict, note) = match finding {
            Finding::Value { value, digits, unit } => {
                let computed = Computed { value: *value, unit: *unit, epsilon: self.epsilon() };
                let verdict = judge(&row.printed[column], computed, zeros);
                (Some(*value), digits.clone(), verdict, sentence(verdict, evidence))
            }
            Finding::Failed(why) => (None, None, Verdict::Missing, why.clone()),
            Finding::Missing => (None, None, Verdict::Missing, "interrupted".to_owned()),
        };
        Entry {
            table: self.table.id.clone(),
            row: row.title(),
            column: row.columns.as_ref().unwrap_or(&self.table.columns)[column].clone(),
            printed: row.printed[column].value,
            printed_text: row.printed[column].to_string(),
            computed,
            verdict,
            note,
            computed_digits: digits,
            printed_order: row.order.clone(),
            computed_order: order.computed,
        }
    }

    /// The distance from 1 to the next number in the precision computed with.
    fn epsilon(&self) -> f64 {
        crate::simulate::numbers::epsilon(self.study.run.precision)
    }

    fn is_rounding(&self, cell: &Finding) -> bool {
        match cell {
            Finding::Value { value, unit, .. } => {
                Computed { value: *value, unit: *unit, epsilon: self.epsilon() }.is_rounding()
            }
            _ => false,
        }
    }

    fn all_rounding(&self, cells: &[Finding]) -> bool {
        cells.iter().all(|cell| self.is_rounding(cell))
    }

    /// The slope of the errors, if they are not all rounding errors.
    fn slope(&self, cells: &[Finding]) -> Option<f64> {
        if self.all_rounding(cells) {
            return None;
        }
        let points: Vec<(f64, f64)> =
            self.findings.steps.iter().copied().zip(cells.iter().map(Finding::value)).collect();
        fitted_order(&points, 0.0)
    }

    fn order_check(&self, row: &Row, cells: &[Finding]) -> OrderCheck {
        let computed = self.slope(cells);
        let agrees = match (row.order.parse::<f64>(), computed) {
            // `exact`: nothing but rounding errors
            (Err(_), slope) => slope.is_none(),
            (Ok(stated), Some(slope)) => {
                // an order given as a whole number is the nearest one; signs are not printed
                let decimals = row.order.split_once('.').map_or(0, |(_, fraction)| fraction.len());
                let tolerance = if decimals == 0 { 0.5 } else { 1.05 * 10f64.powi(-(decimals as i32)) };
                (stated - slope.abs()).abs() <= tolerance
            }
            (Ok(_), None) => false,
        };
        OrderCheck { row: row.title(), printed: row.order.clone(), computed, agrees }
    }

    fn beyond(&self) -> Result<Vec<Beyond>> {
        let mut rows: Vec<Beyond> = Vec::new();
        let labels = distinct(self.table.rows.iter().map(|row| (row.label.clone(), row.until.clone())));
        for (label, until) in labels {
            let Some(row) = self.table.rows.iter().find(|row| row.label == label) else { continue };
            for method in &self.table.beyond {
                let (m, k, u) = self.place(method, self.table.measure_of(row)?, &until);
                let values = self.findings.row(m, k, u).iter().map(Finding::value).collect();
                rows.push(Beyond {
                    label: label.clone(),
                    method: method.clone(),
                    values,
                    order: self.findings.order(m, k, u),
                });
            }
        }
        Ok(rows)
    }

    fn choices(&self, findings: &[&Findings]) -> Result<Vec<ChoiceReport>> {
        let report = |(choice, other): (&Choice, &&Findings)| {
            let [r, c] = choice.entry;
            let row = &self.table.rows[r];
            Ok(ChoiceReport {
                printed: choice.printed.clone(),
                used: choice.used.clone(),
                entry: format!("{}, {}", row.title(), row.columns.as_ref().unwrap_or(&self.table.columns)[c]),
                value_printed: row.printed[c].value,
                value_used: self.of_row(row)?[c].value(),
                value_as_printed: other.cell(0, 0, 0, 0).value(),
            })
        };
        self.table.choice.iter().zip(findings).map(report).collect()
    }
}
