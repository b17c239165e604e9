//! Computed tables: from what the studies find to entries with verdicts.

use super::table::{Choice, Row, Table, distinct};
use super::verdict::{Computed, Evidence, Verdict, judge, sentence};
use crate::analysis::order::fitted_order;
use crate::analysis::{Finding, Findings, Measure, Over, Study};
use crate::error::{Error, Result};
use crate::scalar::elementary;
use crate::simulate::numbers::epsilon;
use crate::system::Quantity;
use serde::Serialize;

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
    /// Whether all errors of the row were computed.
    pub measured: bool,
    /// The slope of the computed errors; none if they are rounding errors or were not computed.
    pub computed: Option<f64>,
    /// Whether they agree, or nothing was measured that says otherwise.
    pub agrees: bool,
}

/// A row that the paper does not have.
#[derive(Clone, Debug, Serialize)]
pub struct Beyond {
    /// Length of the run, quantity.
    pub label: String,
    /// The method.
    pub method: String,
    /// The errors, by step; none where a run failed or was not made.
    pub values: Vec<Option<f64>>,
    /// Whether an error is so small that rounding shows in it.
    pub rounded: Vec<bool>,
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
/// A table with what was found for it.
pub(super) struct Found<'a> {
    pub(super) table: &'a Table,
    pub(super) study: &'a Study,
    pub(super) findings: &'a Findings,
}

impl Found<'_> {
    /// Where the findings of a method, measure and end time are.
    fn place(&self, method: &str, measure: &Measure, until: &Quantity) -> Result<(usize, usize, usize)> {
        let method = self.study.methods.iter().position(|name| name == method);
        let measure = self.study.measures.iter().position(|m| m == measure);
        let until = self.study.until.iter().position(|t| t == until);
        match (method, measure, until) {
            (Some(method), Some(measure), Some(until)) => Ok((method, measure, until)),
            _ => Err(Error::BadStudy { message: format!("table {}: a row has no study", self.table.id) }),
        }
    }

    fn of_row(&self, row: &Row) -> Result<&[Finding]> {
        let (method, measure, until) = self.place(&row.method, self.table.measure_of(row)?, &row.until)?;
        Ok(self.findings.row(method, measure, until))
    }

    /// The table with verdicts; `choices` are the findings of its choices.
    pub(super) fn report(&self, choices: &[&Findings]) -> Result<TableReport> {
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
            suprema: true,
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
                evidence.suprema = self.table.measure_of(row)?.over == Over::Sup;
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
        epsilon(self.study.run.precision)
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
        let measured = cells.iter().all(|cell| cell.value().is_finite());
        let computed = if measured { self.slope(cells) } else { None };
        let agrees = match (row.order.parse::<f64>(), computed) {
            _ if !measured => true,
            // `exact`: nothing but rounding errors
            (Err(_), slope) => slope.is_none(),
            (Ok(stated), Some(slope)) => {
                // an order given as a whole number is the nearest one; signs are not printed
                let decimals = row.order.split_once('.').map_or(0, |(_, fraction)| fraction.len());
                let tolerance =
                    if decimals == 0 { 0.5 } else { 1.05 * elementary::powi(10.0, -(decimals as i32)) };
                (stated - slope.abs()).abs() <= tolerance
            }
            (Ok(_), None) => false,
        };
        OrderCheck { row: row.title(), printed: row.order.clone(), measured, computed, agrees }
    }

    fn beyond(&self) -> Result<Vec<Beyond>> {
        let mut rows: Vec<Beyond> = Vec::new();
        let labels = distinct(self.table.rows.iter().map(|row| (row.label.clone(), row.until.clone())));
        for (label, until) in labels {
            let Some(row) = self.table.rows.iter().find(|row| row.label == label) else { continue };
            for method in &self.table.beyond {
                let (m, k, u) = self.place(method, self.table.measure_of(row)?, &until)?;
                let cells = self.findings.row(m, k, u);
                let finite = |cell: &Finding| Some(cell.value()).filter(|x| x.is_finite());
                let rounded = |cell: &Finding| !cell.is_clear() && cell.value().is_finite();
                rows.push(Beyond {
                    label: label.clone(),
                    method: method.clone(),
                    values: cells.iter().map(finite).collect(),
                    rounded: cells.iter().map(rounded).collect(),
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
