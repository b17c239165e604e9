//! The registry of methods and the catalogue of systems.

use crate::errors::of_library;
use leastaction::prelude::{Method, catalogue};
use leastaction::system::catalogue::ENTRIES;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The version of the package.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// All methods: name, aliases, order, largest stable ωh, description and reference.
#[pyfunction]
pub(crate) fn methods(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |method: Method| {
        let row = PyDict::new(py);
        let limit = method.stability_limit().map_err(|error| of_library(py, &error))?;
        row.set_item("name", &method.name)?;
        row.set_item("aliases", &method.aliases)?;
        row.set_item("order", method.order)?;
        row.set_item("limit", limit)?;
        row.set_item("description", method.description())?;
        row.set_item("reference", method.reference)?;
        Ok(row)
    };
    Method::all().into_iter().map(row).collect()
}

/// All systems of the catalogue: name, title, summary, coordinates, parameters, sizes.
#[pyfunction]
pub(crate) fn systems(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |entry: &catalogue::Entry| {
        let system = catalogue::system(entry.name).map_err(|error| of_library(py, &error))?;
        let row = PyDict::new(py);
        let parameters: Vec<&str> = system.parameters.iter().map(|p| p.name.as_str()).collect();
        let sizes: Vec<&str> = entry.sizes.iter().map(|size| size.name).collect();
        row.set_item("name", &system.name)?;
        row.set_item("title", &system.title)?;
        row.set_item("summary", &system.summary)?;
        row.set_item("coordinates", system.coordinate_names())?;
        row.set_item("parameters", parameters)?;
        row.set_item("sizes", sizes)?;
        Ok(row)
    };
    ENTRIES.iter().map(row).collect()
}

/// The papers whose experiments can be reproduced: number, authors, title, year.
#[pyfunction]
pub(crate) fn papers(py: Python<'_>) -> PyResult<Vec<(String, String, String, u32)>> {
    let papers = leastaction::papers::papers().map_err(|error| of_library(py, &error))?;
    Ok(papers.into_iter().map(|paper| (paper.id, paper.authors, paper.title, paper.year)).collect())
}
