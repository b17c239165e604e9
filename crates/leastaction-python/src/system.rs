//! Systems: from a name, a text or a file to derivatives, once; what Python asks of them.

use crate::errors::{json, of_library};
use crate::keywords;
use leastaction::error::Source;
use leastaction::prelude::Run;
use leastaction::simulate::Definition;
use leastaction::simulate::ensemble::Ensemble;
use leastaction::system::Quantity;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// A system with its derivatives and machine code, and what its file says about runs.
#[pyclass(frozen, module = "leastaction._core")]
pub(crate) struct System {
    /// The run of which every other one of this system begins.
    run: Run,
    system: leastaction::system::System,
}

/// Entries of lists in a description.
const MOST_ENTRIES: usize = 1000;

impl System {
    fn of_run(py: Python<'_>, mut run: Run, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        if let Some(parameters) = parameters {
            keywords::parameters(&mut run, parameters.as_any())?;
        }
        let resolved = py.detach(|| {
            let (system, rest) = run.resolve()?;
            // a name that is no parameter is an error now, not at the first run
            system.formulas(&system.entries_of_vectors(&rest.parameters)?)?;
            Ok(system)
        });
        let system = resolved.map_err(|error| of_library(py, &error))?;
        Ok(Self { run, system })
    }

    /// The system of a solution, which shares its derivatives.
    pub(crate) fn of_solution(run: &Run, system: &leastaction::system::System) -> Self {
        Self { run: run.clone(), system: system.clone() }
    }

    /// The run that keywords describe, and the system it is for: another one if they change a size.
    pub(crate) fn with(
        &self,
        py: Python<'_>,
        keywords: &Bound<'_, PyDict>,
    ) -> PyResult<(Run, leastaction::system::System)> {
        let mut run = self.run.clone();
        keywords::fill(&mut run, &self.system, keywords)?;
        let size = |name: &String| self.system.sizes.iter().any(|size| size.name == *name);
        let changed = run
            .parameters
            .iter()
            .any(|(name, value)| size(name) && self.run.parameters.get(name) != Some(value));
        if changed {
            let (system, rest) = py.detach(|| run.resolve()).map_err(|error| of_library(py, &error))?;
            return Ok((rest, system));
        }
        run.parameters.retain(|name, _| !size(name));
        Ok((run, self.system.clone()))
    }
}

#[pymethods]
impl System {
    /// A system of the catalogue.
    #[staticmethod]
    #[pyo3(signature = (name, parameters=None))]
    fn named(py: Python<'_>, name: &str, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::of_run(py, Run::of(name), parameters)
    }

    /// A system that a text defines, or the run that it describes.
    #[staticmethod]
    #[pyo3(signature = (name, text, parameters=None))]
    fn written(
        py: Python<'_>,
        name: &str,
        text: &str,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let source = Source::new(format!("{name}.toml"), text.replace("\r\n", "\n"));
        let run = py.detach(|| Run::read(name, &source)).map_err(|error| of_library(py, &error))?;
        Self::of_run(py, run, parameters)
    }

    /// A system or a run in a file.
    #[staticmethod]
    #[pyo3(signature = (path, parameters=None))]
    fn open(py: Python<'_>, path: PathBuf, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let run = py.detach(|| Run::open(&path)).map_err(|error| of_library(py, &error))?;
        Self::of_run(py, run, parameters)
    }

    /// The system of a run, as `run_toml` of a system or a solution gives it.
    #[staticmethod]
    fn of_toml(py: Python<'_>, text: &str) -> PyResult<Self> {
        let run = Run::from_toml(text).map_err(|error| of_library(py, &error))?;
        Self::of_run(py, run, None)
    }

    /// The run of which all of this system begin, as TOML.
    #[getter]
    fn run_toml(&self, py: Python<'_>) -> PyResult<String> {
        self.run.to_toml().map_err(|error| of_library(py, &error))
    }

    /// The text that defines it, if it is not one of the catalogue.
    #[getter]
    fn definition(&self) -> Option<String> {
        self.run.definition.as_ref().map(Definition::text).map(str::to_owned)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.system.name
    }
    #[getter]
    fn title(&self) -> &str {
        &self.system.title
    }
    #[getter]
    fn summary(&self) -> &str {
        &self.system.summary
    }
    #[getter]
    fn time_unit(&self) -> &str {
        &self.system.time_unit
    }
    #[getter]
    fn energy_unit(&self) -> &str {
        &self.system.energy_unit
    }
    /// Names of the coordinates.
    #[getter]
    fn coordinates(&self) -> Vec<String> {
        self.system.coordinate_names()
    }
    /// Units of the coordinates.
    #[getter]
    fn units(&self) -> Vec<String> {
        self.system.coordinates.iter().map(|c| c.unit.clone()).collect()
    }
    /// Units of the momenta.
    #[getter]
    fn momentum_units(&self) -> Vec<String> {
        (0..self.system.n()).map(|i| self.system.momentum_unit(i)).collect()
    }
    /// Sizes and their values.
    #[getter]
    fn sizes(&self) -> Vec<(String, usize)> {
        self.system.sizes.iter().map(|size| (size.name.clone(), size.value)).collect()
    }

    /// Names of the parameters and their values: numbers, by the formulas they are given as.
    #[getter]
    fn parameters(&self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        let values = || {
            let mut replaced = self.run.parameters.clone();
            replaced.retain(|name, _| !self.system.sizes.iter().any(|size| size.name == *name));
            let replaced = self.system.entries_of_vectors(&replaced)?;
            let names: Vec<Quantity> =
                self.system.parameters.iter().map(|p| Quantity::Formula(p.name.clone())).collect();
            let name = |i: usize| format!("parameter `{}`", self.system.parameters[i].name);
            self.system.formulas(&replaced)?.values::<f64>(&names, name)
        };
        let values = values().map_err(|error| of_library(py, &error))?;
        let names = self.system.parameters.iter().map(|p| p.name.clone());
        Ok(names.zip(values).collect())
    }

    /// The default method, step and end, as text.
    #[getter]
    fn defaults(&self) -> (String, String, String) {
        let defaults = &self.system.defaults;
        let or = |own: &Option<Quantity>, other: &Quantity| own.as_ref().unwrap_or(other).to_string();
        let method = self.run.method.as_ref().unwrap_or(&defaults.method).clone();
        (method, or(&self.run.step, &defaults.step), or(&self.run.until, &defaults.until))
    }

    /// Whether its file says what varies in an ensemble.
    #[getter]
    fn varies(&self) -> bool {
        let varies = |e: &Ensemble| e.list.is_some() || !e.vary.is_empty() || !e.draw.is_empty();
        self.run.ensemble.as_ref().is_some_and(varies)
    }

    /// Names of what is conserved.
    #[getter]
    fn conserved(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.system.conserved_names())
    }

    /// What may not be as it was meant in its text.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.system.warnings.iter().map(ToString::to_string).collect()
    }

    /// Everything about it as JSON: the Lagrangian and its parts, momenta, what is conserved.
    fn describe_json(&self, py: Python<'_>) -> PyResult<String> {
        json(&py.detach(|| self.system.describe(MOST_ENTRIES)))
    }

    /// Everything about it, for people.
    fn describe(&self, py: Python<'_>) -> String {
        py.detach(|| self.system.to_string())
    }

    fn __repr__(&self) -> String {
        format!("System({:?})", self.system.name)
    }
}
