//! Keywords of Python's functions, and how they fill a [`Run`]: as the command's flags do, one for one.

use crate::errors::{Kind, of_library};
use crate::quantity::{describe, items, list, quantity};
use leastaction::error::{Origin, Source, nearest, number};
use leastaction::expr::Backend;
use leastaction::prelude::{Run, System};
use leastaction::simulate::ensemble::{Draw, Ensemble, Spread};
use leastaction::simulate::{Direction, Event, Interval, MAX_DIGITS};
use leastaction::system::Quantity;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

/// All keywords.
const KNOWN: [&str; 23] = [
    "q",
    "v",
    "p",
    "t0",
    "until",
    "step",
    "method",
    "tolerance",
    "precision",
    "backend",
    "every",
    "dense",
    "accuracy",
    "checkpoint",
    "checkpoint_every",
    "parameters",
    "outputs",
    "events",
    "vary",
    "draw",
    "members",
    "seed",
    "list",
];

/// Puts keywords into a run of a system.
pub(crate) fn fill(run: &mut Run, system: &System, keywords: &Bound<'_, PyDict>) -> PyResult<()> {
    let n = system.n();
    let mut given: Vec<(String, Bound<'_, PyAny>)> = Vec::new();
    for (name, value) in keywords {
        given.push((name.extract()?, value));
    }
    let names: Vec<&str> = given.iter().map(|(name, _)| name.as_str()).collect();
    if names.contains(&"tolerance") {
        // asked for instead of what a file says
        (run.method, run.step) = (None, None);
    }
    if names.contains(&"v") || names.contains(&"p") {
        (run.initial.v, run.initial.p) = (None, None);
    }
    for (name, value) in &given {
        match name.as_str() {
            "q" => run.initial.q = Some(list("q", value, n)?),
            "v" => run.initial.v = Some(list("v", value, n)?),
            "p" => run.initial.p = Some(list("p", value, n)?),
            "t0" => run.initial.t = Some(quantity("t0", value)?),
            "until" => run.until = Some(quantity("until", value)?),
            "step" => run.step = Some(quantity("step", value)?),
            "tolerance" => run.tolerance = Some(quantity("tolerance", value)?),
            "method" => run.method = Some(text("method", value)?),
            "precision" => run.precision = Some(whole("precision", value, 1, MAX_DIGITS as u64)? as usize),
            "backend" => run.backend = Some(backend(value)?),
            "every" => run.every = Some(whole("every", value, 0, u64::MAX)?),
            "dense" => run.dense = Some(whole("dense", value, 1, u64::MAX)?),
            "accuracy" => run.accuracy = Some(value.extract()?),
            "checkpoint" => run.checkpoint = Some(text("checkpoint", value)?),
            "checkpoint_every" => run.checkpoint_every = Some(interval(value)?),
            "parameters" => parameters(run, value)?,
            "outputs" => outputs(run, value)?,
            "events" => events(run, value)?,
            "vary" | "draw" | "members" | "seed" | "list" => spread(run, name, value)?,
            other => {
                let message = format!("unknown keyword `{other}`{}", nearest(other, KNOWN));
                return Err(PyTypeError::new_err(message));
            }
        }
    }
    Ok(())
}

fn dictionary<'a, 'py>(what: &str, value: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyDict>> {
    value.cast::<PyDict>().map_err(|_| {
        PyTypeError::new_err(format!("{what} must be a dict of names and values, but is {}", describe(value)))
    })
}

fn text(what: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(text.to_str()?.to_owned()),
        Err(_) => Err(PyTypeError::new_err(format!("{what} must be a string, but is {}", describe(value)))),
    }
}

/// A whole number within limits.
pub(crate) fn whole(what: &str, value: &Bound<'_, PyAny>, least: u64, most: u64) -> PyResult<u64> {
    let found = if value.is_instance_of::<PyBool>() { None } else { value.extract::<i128>().ok() };
    // 1e6 is a whole number too
    let found = found.or_else(|| {
        let x = value.extract::<f64>().ok().filter(|x| x.fract() == 0.0 && x.abs() < 9e15);
        x.filter(|_| !value.is_instance_of::<PyBool>()).map(|x| x as i128)
    });
    match found.and_then(|x| u64::try_from(x).ok()).filter(|x| (least..=most).contains(x)) {
        Some(x) => Ok(x),
        None => {
            let range =
                if most == u64::MAX { format!("{least} or more") } else { format!("from {least} to {most}") };
            let message = format!("{what} must be a whole number, {range}, but is {}", describe(value));
            Err(Kind::Input.error(value.py(), message))
        }
    }
}

/// Seconds as a number, or a time or a number of steps in words.
fn interval(value: &Bound<'_, PyAny>) -> PyResult<Interval> {
    let words = match value.extract::<f64>() {
        Ok(seconds) if !value.is_instance_of::<PyBool>() => format!("{seconds}s"),
        _ => text("checkpoint_every", value)?,
    };
    words
        .parse()
        .map_err(|message: String| Kind::Input.error(value.py(), format!("checkpoint_every: {message}")))
}

fn backend(value: &Bound<'_, PyAny>) -> PyResult<Backend> {
    match text("backend", value)?.as_str() {
        "native" => Ok(Backend::Native),
        "interpreter" => Ok(Backend::Interpreter),
        other => {
            let message = format!("`{other}` is no back end; try \"native\" or \"interpreter\"");
            Err(Kind::Input.error(value.py(), message))
        }
    }
}

/// Parameters by name; a list is a vector.
pub(crate) fn parameters(run: &mut Run, value: &Bound<'_, PyAny>) -> PyResult<()> {
    for (name, value) in dictionary("parameters", value)? {
        let name = text("the name of a parameter", &name)?;
        let what = format!("parameter `{name}`");
        let value = match items(&value)? {
            None => quantity(&what, &value)?,
            Some(list) => Quantity::Formula(vector(&what, &list)?),
        };
        run.parameters.insert(name, value);
    }
    Ok(())
}

/// `[1, 2, g/3]`
fn vector(what: &str, list: &[Bound<'_, PyAny>]) -> PyResult<String> {
    let entry = |item: &Bound<'_, PyAny>| {
        Ok(match quantity(what, item)? {
            Quantity::Number(x) => number(x),
            formula => formula.to_string(),
        })
    };
    let entries: PyResult<Vec<String>> = list.iter().map(entry).collect();
    Ok(format!("[{}]", entries?.join(", ")))
}

fn outputs(run: &mut Run, value: &Bound<'_, PyAny>) -> PyResult<()> {
    for (name, value) in dictionary("outputs", value)? {
        let name = text("the name of an output", &name)?;
        let formula = quantity(&format!("output `{name}`"), &value)?;
        run.outputs.insert(name, formula);
    }
    Ok(())
}

fn events(run: &mut Run, value: &Bound<'_, PyAny>) -> PyResult<()> {
    for (name, value) in dictionary("events", value)? {
        let name = text("the name of an event", &name)?;
        run.events.insert(name.clone(), event(&name, &value)?);
    }
    Ok(())
}

/// A formula, or a dict with `of`, `direction` and `stop`.
fn event(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Event> {
    let what = format!("event `{name}`");
    let Ok(table) = value.cast::<PyDict>() else {
        let of = quantity(&what, value)?;
        return Ok(Event { of, direction: Direction::Both, stop: None });
    };
    let mut event = Event::of("0");
    let mut found = false;
    for (key, value) in table {
        match text("a key of an event", &key)?.as_str() {
            "of" => (event.of, found) = (quantity(&what, &value)?, true),
            "direction" => event.direction = direction(&what, &value)?,
            "stop" => event.stop = Some(whole(&format!("stop of {what}"), &value, 1, u64::MAX)?),
            other => {
                let hint = nearest(other, ["of", "direction", "stop"]);
                let message =
                    format!("{what} has an unknown key `{other}`{hint}\n  its keys: of, direction, stop");
                return Err(Kind::Input.error(value.py(), message));
            }
        }
    }
    if found {
        return Ok(event);
    }
    Err(Kind::Input.error(value.py(), format!("{what} has no formula; give it as `of`")))
}

fn direction(what: &str, value: &Bound<'_, PyAny>) -> PyResult<Direction> {
    let word = text(&format!("direction of {what}"), value)?;
    match word.as_str() {
        "rising" => Ok(Direction::Rising),
        "falling" => Ok(Direction::Falling),
        "both" => Ok(Direction::Both),
        _ => {
            let hint = nearest(&word, ["rising", "falling", "both"]);
            let message = format!("{what}: `{word}` is not a direction{hint}\n  try rising, falling or both");
            Err(Kind::Input.error(value.py(), message))
        }
    }
}

/// What varies in an ensemble.
fn spread(run: &mut Run, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = value.py();
    let ensemble = run.ensemble.get_or_insert_with(Ensemble::default);
    match name {
        "members" => ensemble.members = Some(whole("members", value, 1, u64::MAX)?),
        "seed" => ensemble.seed = Some(whole("seed", value, 0, leastaction::simulate::ensemble::MAX_SEED)?),
        // the rows themselves are handed over beside the run
        "list" => ensemble.list = Some(text("list", value)?),
        "vary" => {
            for (name, values) in dictionary("vary", value)? {
                let name = text("a name in vary", &name)?;
                let what = format!("vary `{name}`");
                let spread = match (items(&values)?, values.cast::<PyString>()) {
                    (Some(list), _) => {
                        let list: PyResult<_> = list.iter().map(|item| quantity(&what, item)).collect();
                        Spread::Values(list?)
                    }
                    (None, Ok(text)) => {
                        let text = text.to_str()?;
                        Spread::read(text, &place(&what, text)).map_err(|error| of_library(py, &error))?
                    }
                    (None, Err(_)) => Spread::Values(vec![quantity(&what, &values)?]),
                };
                ensemble.vary.insert(name, spread);
            }
        }
        _ => {
            for (name, distribution) in dictionary("draw", value)? {
                let name = text("a name in draw", &name)?;
                let what = format!("draw `{name}`");
                let distribution = text(&what, &distribution)?;
                let draw = Draw::read(&distribution, &place(&what, &distribution));
                ensemble.draw.insert(name, draw.map_err(|error| of_library(py, &error))?);
            }
        }
    }
    Ok(())
}

fn place(what: &str, text: &str) -> Origin {
    Origin::part(Source::new(what, text), 0, text.len())
}
