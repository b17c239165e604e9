//! Ensembles: arrays of starts and parameters in, a column for each quantity out.
//!
//! [`EnsembleWork`] is a checked ensemble. A worker of a cluster makes the same from the same run and computes its shard of it.

use crate::errors::{Kind, json, of_library};
use crate::system::System;
use crate::watch;
use leastaction::analysis::pick_for;
use leastaction::simulate::ensemble::{Block, EnsemblePlan, Kind as Column, List, Status, Tally};
use numpy::{IntoPyArray, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::convert::Infallible;
use std::ops::Range;

/// A checked ensemble.
#[pyclass(frozen, module = "leastaction._core")]
pub(crate) struct EnsembleWork {
    plan: EnsemblePlan,
    picked: Option<String>,
}

/// Checks an ensemble. `keywords` are those of a run and of what varies, `names` and `rows` a list of starts.
#[pyfunction]
#[pyo3(signature = (system, keywords, names=None, rows=None))]
pub(crate) fn ensemble<'py>(
    py: Python<'py>,
    system: &System,
    keywords: &Bound<'py, PyDict>,
    names: Option<Vec<String>>,
    rows: Option<PyReadonlyArray2<'py, f64>>,
) -> PyResult<EnsembleWork> {
    let (mut run, system) = system.with(py, keywords)?;
    let list = match (names, rows) {
        (Some(names), Some(rows)) => Some(list(py, names, &rows)?),
        _ => None,
    };
    let named = run.ensemble.as_ref().and_then(|ensemble| ensemble.list.clone());
    if let (None, Some(file)) = (&list, named) {
        let message = format!(
            "the run names a list of starts, `{file}`\n  read it, for instance with pandas, and give its columns as arrays: q, v, p, parameters"
        );
        return Err(Kind::Input.error(py, message));
    }
    if list.is_some() {
        run.ensemble.get_or_insert_default().list = Some("arrays".to_owned());
    }
    let done = watch::work(py, None, |watch| -> leastaction::Result<_> {
        // the step of the run that is not varied; members have it, or steps near it
        let picked = pick_for(&run, &system, &|_| watch.flow())?;
        let (run, words) = match picked {
            Some(picked) => (picked.run.clone(), Some(picked.to_string())),
            None => (run, None),
        };
        Ok(EnsembleWork { plan: EnsemblePlan::of_system(&run, &system, list)?, picked: words })
    })?;
    done.whole(py)?.map_err(|error| of_library(py, &error))
}

fn list(py: Python<'_>, names: Vec<String>, rows: &PyReadonlyArray2<'_, f64>) -> PyResult<List> {
    if rows.shape()[1] != names.len() {
        let message = format!("{} names for {} columns", names.len(), rows.shape()[1]);
        return Err(Kind::Input.error(py, message));
    }
    let values: Vec<f64> = rows.as_array().iter().copied().collect();
    if let Some(bad) = values.iter().position(|x| !x.is_finite()) {
        let (row, column) = (bad / names.len(), bad % names.len());
        let message =
            format!("`{}` of member {row} must be a finite number, but is {}", names[column], values[bad]);
        return Err(Kind::Input.error(py, message));
    }
    Ok(List { names, values })
}

/// Numbers of a column: whole, or not.
enum Values {
    Whole(Vec<u64>),
    Real(Vec<f64>),
}

impl EnsembleWork {
    fn columns(&self, members: usize) -> Vec<Values> {
        let column = |column: &leastaction::simulate::ensemble::Column| match column.kind {
            Column::Real => Values::Real(Vec::with_capacity(members)),
            Column::Whole | Column::Status => Values::Whole(Vec::with_capacity(members)),
        };
        self.plan.columns.iter().map(column).collect()
    }

    fn shard_range(&self, py: Python<'_>, shard: Option<(u64, u64)>) -> PyResult<Range<u64>> {
        match shard {
            None => Ok(0..self.plan.count()),
            Some((index, count)) if (1..=count).contains(&index) => Ok(self.plan.shard(index, count)),
            Some((index, count)) => Err(Kind::Input
                .error(py, format!("there is no shard {index} of {count}; they go from 1 to {count}"))),
        }
    }
}

fn extend(columns: &mut [Values], block: &Block) {
    for (k, column) in columns.iter_mut().enumerate() {
        match column {
            Values::Whole(list) => list.extend_from_slice(block.column(k)),
            Values::Real(list) => list.extend(block.reals(k)),
        }
    }
}

#[pymethods]
impl EnsembleWork {
    /// How many members there are.
    #[getter]
    fn count(&self) -> u64 {
        self.plan.count()
    }
    /// Names of what varies.
    #[getter]
    fn varied(&self) -> Vec<String> {
        self.plan.varied().to_vec()
    }
    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.plan.columns.iter().map(|column| column.name.clone()).collect()
    }
    /// Names of the coordinates.
    #[getter]
    fn coordinates(&self) -> Vec<String> {
        self.plan.base.problem.system.coordinate_names()
    }
    /// Names of the events.
    #[getter]
    fn events(&self) -> Vec<String> {
        self.plan.run.events.keys().cloned().collect()
    }
    /// The grid, slowest first: names and numbers of values; None if members are not a grid.
    #[getter]
    fn grid(&self) -> Option<Vec<(String, u64)>> {
        Some(self.plan.grid()?.iter().map(|axis| (axis.name.clone(), axis.count)).collect())
    }
    /// The run with its ensemble, as TOML.
    fn run_toml(&self, py: Python<'_>) -> PyResult<String> {
        self.plan.run.to_toml().map_err(|error| of_library(py, &error))
    }
    /// The method and the step of the run that is not varied.
    #[getter]
    fn method(&self) -> (String, f64) {
        (self.plan.base.method.name.clone(), self.plan.base.step)
    }
    /// The error of the energy, or of its balance, that was asked for.
    #[getter]
    fn tolerance(&self) -> Option<f64> {
        self.plan.base.tolerance
    }
    /// What the user should know.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.picked.iter().chain(&self.plan.base.notes).cloned().collect()
    }
    /// What makes the result doubtful.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.plan.base.warnings()
    }
    /// The first member of a shard and the one after its last; shards are counted from 1.
    fn shard(&self, py: Python<'_>, index: u64, count: u64) -> PyResult<(u64, u64)> {
        let range = self.shard_range(py, Some((index, count)))?;
        Ok((range.start, range.end))
    }

    /// Computes all members or those of a shard: columns by name, and what can be said of them together as JSON.
    #[pyo3(signature = (threads=None, shard=None, progress=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        threads: Option<usize>,
        shard: Option<(u64, u64)>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyDict>, String)> {
        let members = self.shard_range(py, shard)?;
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.unwrap_or_else(cores);
        let done = watch::work(py, progress, |watch| {
            let mut columns = self.columns((members.end - members.start) as usize);
            let mut tally = Tally::new(&self.plan);
            watch.begin(members.end - members.start);
            let keep = |block: &Block| -> Result<(), Infallible> {
                extend(&mut columns, block);
                tally.add(&self.plan, block);
                let _ = watch.advance(block.rows as u64);
                Ok(())
            };
            // an interruption is told by the watch
            let _ = self.plan.run(&members, 0, threads, &|| watch.flow(), keep);
            watch.end();
            (columns, tally)
        })?;
        let (columns, tally) = done.whole(py)?;
        let table = PyDict::new(py);
        for (column, values) in self.plan.columns.iter().zip(columns) {
            match values {
                Values::Whole(list) => table.set_item(&column.name, list.into_pyarray(py))?,
                Values::Real(list) => table.set_item(&column.name, list.into_pyarray(py))?,
            }
        }
        Ok((table, json(&tally)?))
    }

    /// Words for the codes in the column `status`.
    #[staticmethod]
    fn statuses() -> Vec<&'static str> {
        Status::ALL.iter().map(|status| status.word()).collect()
    }
    /// Which codes mean that a member went as far as it was meant to.
    #[staticmethod]
    fn complete() -> Vec<bool> {
        Status::ALL.iter().map(|status| status.is_complete()).collect()
    }
}
