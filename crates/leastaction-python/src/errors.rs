//! What goes wrong, as the exceptions of `leastaction._errors`.
//!
//! Bad input is an `InputError`, a run that fails on its way a `SimulationError`, a function that cannot be recorded a
//! `TracingError`. A panic would be a mistake of this package: it becomes an `InternalError`, so that the interpreter survives.

use leastaction::error::shortened;
use pyo3::prelude::*;
use std::any::Any;

/// The exceptions of the package.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Input,
    Simulation,
    Tracing,
    Interrupted,
    Internal,
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Self::Input => "InputError",
            Self::Simulation => "SimulationError",
            Self::Tracing => "TracingError",
            Self::Interrupted => "Interrupted",
            Self::Internal => "InternalError",
        }
    }

    /// Whether an exception is of this kind.
    pub(crate) fn is(self, py: Python<'_>, error: &PyErr) -> bool {
        let class = py.import("leastaction._errors").and_then(|module| module.getattr(self.class()));
        class.is_ok_and(|class| error.is_instance(py, &class))
    }

    /// An exception of this kind.
    pub(crate) fn error(self, py: Python<'_>, message: impl AsRef<str>) -> PyErr {
        let class = py.import("leastaction._errors").and_then(|module| module.getattr(self.class()));
        match class.and_then(|class| class.call1((message.as_ref(),))) {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        }
    }
}

/// An error of the library as a Python exception.
pub(crate) fn of_library(py: Python<'_>, error: &leastaction::Error) -> PyErr {
    let kind = if error.is_input() { Kind::Input } else { Kind::Simulation };
    kind.error(py, in_python(&shortened(&error.to_string())))
}

/// A message with the functions that do here what the command does in a shell.
fn in_python(message: &str) -> String {
    let names = ["systems", "methods", "converge"];
    names.iter().fold(message.to_owned(), |message, name| {
        message.replace(&format!("`leastaction {name}`"), &format!("`la.{name}()`"))
    })
}

/// A panic as a Python exception.
pub(crate) fn of_panic(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let words = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let words = words.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Kind::Internal.error(py, format!("a mistake in leastaction, please report it: {words}"))
}

/// Something as JSON, which Python's own module reads.
pub(crate) fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
}
