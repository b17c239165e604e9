//! What is measured rather than simulated: orders, certificates, the papers. Results go to Python as JSON.

use crate::errors::{Kind, json, of_library};
use crate::quantity::quantity;
use crate::system::System;
use crate::watch;
use leastaction::Error;
use leastaction::analysis::certify::{self as certificate, Options, Verdict};
use leastaction::analysis::{
    Convergence, Finding, Measure, Over, Reference, Studies, Study, Vector, pick_for,
};
use leastaction::papers::{self, Batch, Precision, Selection};
use leastaction::system::Quantity;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How errors are measured.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Measured {
    of: Vec<String>,
    over: String,
    vector: String,
    relative: Option<bool>,
    reference: Option<String>,
    refine: Option<u64>,
    reference_precision: Option<usize>,
}

impl Measured {
    fn measures(&self, py: Python<'_>) -> PyResult<Vec<Measure>> {
        let over = match self.over.as_str() {
            "sup" => Over::Sup,
            "end" => Over::End,
            "rms" => Over::Rms,
            other => {
                return Err(
                    Kind::Input.error(py, format!("over = {other:?}: try \"sup\", \"end\" or \"rms\""))
                );
            }
        };
        let vector = match self.vector.as_str() {
            "euclid" => Vector::Euclid,
            "max" => Vector::Max,
            other => {
                return Err(Kind::Input.error(py, format!("vector = {other:?}: try \"euclid\" or \"max\"")));
            }
        };
        let measure = |of: &String| Measure {
            of: of.trim().to_owned(),
            relative: self.relative,
            over,
            vector,
            units: Vec::new(),
        };
        Ok(self.of.iter().map(measure).collect())
    }
}

/// Errors against steps, as JSON, with warnings and failures.
#[pyfunction]
#[pyo3(signature = (system, keywords, methods, steps, measured, progress=None))]
pub(crate) fn converge<'py>(
    py: Python<'py>,
    system: &System,
    keywords: &Bound<'py, PyDict>,
    methods: Option<Vec<String>>,
    steps: Option<Vec<Bound<'py, PyAny>>>,
    measured: Measured,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(String, Vec<String>, Vec<String>)> {
    let (mut run, system) = system.with(py, keywords)?;
    let measures = measured.measures(py)?;
    let steps: Option<Vec<Quantity>> = steps
        .map(|list| list.iter().enumerate().map(|(i, step)| quantity(&format!("steps[{i}]"), step)).collect())
        .transpose()?;
    if let Some(first) = steps.as_ref().and_then(|list| list.first()) {
        // the system's own step may have no value where others are given
        run.step = Some(first.clone());
    }
    let done = watch::work(py, progress, |watch| -> leastaction::Result<_> {
        let mut study = Study::of_system(&run, &system)?;
        study.methods = methods.unwrap_or(study.methods);
        study.steps = steps.unwrap_or(study.steps);
        study.measures = measures;
        let (name, precision) = (measured.reference.as_deref(), measured.reference_precision);
        study.reference = Reference::by_name(name, measured.refine, precision)?;
        // what the report calls it
        study.run.system = system.name.clone();
        let studies = Studies::of_system(std::slice::from_ref(&study), &system)?;
        watch.begin(studies.steps());
        let all = studies.run(&|steps| watch.advance(steps));
        watch.end();
        let Some(findings) = all.first() else { return Ok((None, Vec::new(), Vec::new())) };
        let mut failures = Vec::new();
        for (m, method) in study.methods.iter().enumerate() {
            for (h, cell) in findings.steps.iter().zip(findings.row(m, 0, 0)) {
                if let Finding::Failed(why) = cell {
                    failures.push(format!("{method}, step {h}: {why}"));
                }
            }
        }
        Ok((Some(Convergence::new(&study, findings)?), studies.warnings(), failures))
    })?;
    let (report, warnings, failures) = done.whole(py)?.map_err(|error| of_library(py, &error))?;
    Ok((json(&report)?, warnings, failures))
}

/// Measures everything on one run: the certificate as JSON and as text, and whether nothing failed.
#[pyfunction]
#[pyo3(signature = (system, keywords, energy_error=None, progress=None))]
pub(crate) fn certify<'py>(
    py: Python<'py>,
    system: &System,
    keywords: &Bound<'py, PyDict>,
    energy_error: Option<f64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(String, String, bool)> {
    let (mut run, system) = system.with(py, keywords)?;
    // nothing is recorded
    (run.every, run.dense) = (Some(0), None);
    let done = watch::work(py, progress, |watch| -> leastaction::Result<_> {
        let picked = pick_for(&run, &system, &|_| watch.flow())?;
        let plan = picked.map_or(run, |picked| picked.run).plan_for(&system)?;
        watch.begin(certificate::steps(&plan));
        let usual = Options::default().energy_error;
        let options = Options { energy_error: energy_error.or(plan.tolerance).unwrap_or(usual) };
        let found = certificate::certify(&plan, &options, &|steps| watch.advance(steps))?;
        watch.end();
        Ok(found)
    })?;
    let found = done.whole(py)?.map_err(|error| of_library(py, &error))?;
    Ok((json(&found)?, found.to_string(), !matches!(found.verdict, Verdict::Fail)))
}

/// The tables of the papers computed beside what they print: all entries as JSON.
#[pyfunction]
#[pyo3(signature = (what, until=None, precision=None, progress=None))]
pub(crate) fn reproduce<'py>(
    py: Python<'py>,
    what: Vec<String>,
    until: Option<Bound<'py, PyAny>>,
    precision: Option<usize>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<String> {
    let longest = until.map(|until| quantity("until", &until)).transpose()?;
    let precision = precision.map_or(Precision::Own, Precision::Digits);
    let done = watch::work(py, progress, |watch| -> leastaction::Result<_> {
        let papers = papers::papers()?;
        let selection = Selection::new(&papers, &what)?;
        if selection.tables.is_empty() {
            let message = format!(
                "{} is a figure, which the command draws: leastaction reproduce {}\n  here are tables, such as 002.T1",
                what.join(" "),
                what.join(" ")
            );
            return Err(Error::BadStudy { message });
        }
        let options = papers::Options { precision, longest, beyond: false };
        let batch = Batch::new(&selection.tables, &options)?;
        watch.begin(batch.steps());
        let reports = batch.run(&|steps| watch.advance(steps))?;
        watch.end();
        Ok(reports.into_iter().flat_map(|report| report.entries).collect::<Vec<_>>())
    })?;
    json(&done.whole(py)?.map_err(|error| of_library(py, &error))?)
}
