//! Errors against steps as they are reported: by measure, and for each by method.

use super::measure::{Over, Vector};
use super::order::pairwise_orders;
use super::study::{Finding, Findings, Study};
use crate::error::Result;
use crate::method::Method;
use serde::Serialize;

/// What a study found, as one object.
#[derive(Clone, Debug, Serialize)]
pub struct Convergence {
    /// The system.
    pub system: String,
    /// Decimal digits of the runs; none is `f64`.
    pub precision: Option<usize>,
    /// The end time.
    pub until: f64,
    /// What the runs were compared with.
    pub reference: String,
    /// Step sizes.
    pub steps: Vec<f64>,
    /// The errors, by measure, and for each by method.
    pub series: Vec<Series>,
}

/// The errors of one method and measure.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// The method.
    pub method: String,
    /// Its order, as declared.
    pub order: usize,
    /// What the errors are of.
    pub of: String,
    /// Whether they are divided by the right values.
    pub relative: bool,
    /// Over the steps.
    pub over: Over,
    /// Over the coordinates.
    pub vector: Vector,
    /// Errors by step; none where a run failed.
    pub errors: Vec<Option<f64>>,
    /// The same with all their digits, if more were asked for than an `f64` has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub digits: Vec<Option<String>>,
    /// Orders between successive steps.
    pub pairwise_orders: Vec<Option<f64>>,
    /// The order fitted to all errors that stand clear of rounding.
    pub fitted_order: Option<f64>,
}

impl Convergence {
    /// What was found, at the first end time.
    pub fn new(study: &Study, findings: &Findings) -> Result<Self> {
        let mut series = Vec::new();
        for k in 0..study.measures.len() {
            for m in 0..study.methods.len() {
                series.push(Series::new(study, findings, m, k)?);
            }
        }
        Ok(Self {
            system: study.run.system.clone(),
            precision: study.run.precision,
            until: findings.until.first().copied().unwrap_or(f64::NAN),
            reference: findings.reference.clone(),
            steps: findings.steps.clone(),
            series,
        })
    }
}

impl Series {
    fn new(study: &Study, findings: &Findings, m: usize, k: usize) -> Result<Self> {
        let (name, measure) = (&study.methods[m], &study.measures[k]);
        let cells = findings.row(m, k, 0);
        let finite = |x: f64| x.is_finite().then_some(x);
        let digits = cells.iter().map(|cell| match cell {
            Finding::Value { digits, .. } => digits.clone(),
            _ => None,
        });
        let digits: Vec<Option<String>> = digits.collect();
        Ok(Self {
            method: name.clone(),
            order: Method::named(name)?.order,
            of: measure.of.clone(),
            relative: measure.is_relative(),
            over: measure.over,
            vector: measure.vector,
            errors: cells.iter().map(|cell| finite(cell.value())).collect(),
            digits: if digits.iter().any(Option::is_some) { digits } else { Vec::new() },
            pairwise_orders: pairwise_orders(&findings.points(m, k, 0)).into_iter().map(finite).collect(),
            fitted_order: findings.order(m, k, 0),
        })
    }
}
