//! Python values as the quantities of a run: numbers, formulas in strings, lists and arrays of them.

use crate::errors::Kind;
use leastaction::error::{Origin, Source};
use leastaction::system::Quantity;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyList, PyString, PyTuple};

/// A number, or a string with a formula. `what` names it in errors.
pub(crate) fn quantity(what: &str, value: &Bound<'_, PyAny>) -> PyResult<Quantity> {
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_str()?;
        if text.trim().is_empty() {
            return Err(Kind::Input.error(value.py(), format!("{what} is an empty string")));
        }
        return Ok(Quantity::written(text, &Origin::part(Source::new(what, text), 0, text.len())));
    }
    number(what, value).map(Quantity::Number)
}

/// A finite number.
pub(crate) fn number(what: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let wrong = |found: String| {
        let message = format!("{what} must be a number or a formula in a string, but is {found}");
        PyTypeError::new_err(message)
    };
    if value.is_instance_of::<PyBool>() || value.is_none() {
        return Err(wrong(value.repr()?.to_string()));
    }
    if !value.is_exact_instance_of::<PyFloat>() && !is_real(value) {
        return Err(wrong(describe(value)));
    }
    let number = match value.extract::<f64>() {
        Ok(number) => number,
        // what cannot be recorded says so itself
        Err(error) if Kind::Tracing.is(value.py(), &error) => return Err(error),
        Err(_) => return Err(wrong(describe(value))),
    };
    if number.is_finite() {
        return Ok(number);
    }
    Err(Kind::Input.error(value.py(), format!("{what} must be a finite number, but is {number}")))
}

/// Whether a number of NumPy is a real one: truth values, complex numbers and dates can be turned into numbers, but are none.
fn is_real(value: &Bound<'_, PyAny>) -> bool {
    let kind = value.getattr("dtype").and_then(|dtype| dtype.getattr("kind")?.extract::<String>());
    kind.map_or(true, |kind| matches!(kind.as_str(), "i" | "u" | "f" | "O"))
}

/// What a value is, in a few words.
pub(crate) fn describe(value: &Bound<'_, PyAny>) -> String {
    let class = value.get_type().name().map_or_else(|_| "something".to_owned(), |name| name.to_string());
    let shown = value.repr().map_or_else(|_| String::new(), |text| text.to_string());
    if shown.chars().count() <= 60 { format!("{shown} ({class})") } else { format!("a {class}") }
}

/// One value for each of n coordinates: a list, an array, or one for all.
pub(crate) fn list(what: &str, value: &Bound<'_, PyAny>, n: usize) -> PyResult<Vec<Quantity>> {
    if let Ok(array) = value.cast::<PyArrayDyn<f64>>() {
        return numbers(what, array, n);
    }
    let Some(items) = items(value)? else {
        let one = quantity(what, value).map_err(|error| {
            if value.hasattr("__iter__").unwrap_or(false) && error.is_instance_of::<PyTypeError>(value.py()) {
                let message = format!(
                    "{what} must be a number for all coordinates, or a list or an array with one for each, but is {}",
                    describe(value)
                );
                return PyTypeError::new_err(message);
            }
            error
        });
        return Ok(vec![one?; n]);
    };
    items.iter().enumerate().map(|(i, item)| quantity(&format!("{what}[{i}]"), item)).collect()
}

fn numbers(what: &str, array: &Bound<'_, PyArrayDyn<f64>>, n: usize) -> PyResult<Vec<Quantity>> {
    let values =
        array.to_vec().or_else(|_| array.call_method0("ravel")?.call_method0("tolist")?.extract())?;
    if let Some(bad) = values.iter().position(|x| !x.is_finite()) {
        let message = format!("{what}[{bad}] must be a finite number, but is {}", values[bad]);
        return Err(Kind::Input.error(array.py(), message));
    }
    match array.ndim() {
        0 => Ok(vec![Quantity::Number(values[0]); n]),
        1 => Ok(values.into_iter().map(Quantity::Number).collect()),
        _ => Err(Kind::Input.error(
            array.py(),
            format!(
                "{what} must have one value for each of the {n} coordinates, but has the shape {:?}\n  la.ensemble takes many starts at once",
                array.shape()
            ),
        )),
    }
}

/// The items of a list, a tuple or an array of one dimension; nothing for a single value.
pub(crate) fn items<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    if let Ok(list) = value.cast::<PyList>() {
        return Ok(Some(list.iter().collect()));
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return Ok(Some(tuple.iter().collect()));
    }
    if value.is_instance_of::<PyString>() || !value.hasattr("tolist")? {
        return Ok(None);
    }
    // arrays of other numbers, and whatever else looks like an array
    let plain = value.call_method0("tolist")?;
    Ok(plain.cast::<PyList>().ok().map(|list| list.iter().collect()))
}
