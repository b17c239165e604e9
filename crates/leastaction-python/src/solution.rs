//! Running, and handing over what comes out: arrays that own the recorded numbers, so that nothing is copied.

use crate::errors::{Kind, json, of_library};
use crate::system::System;
use crate::watch;
use leastaction::analysis::pick_for;
use leastaction::error::number;
use leastaction::simulate::{Conserved, Dense, Outcome, Plan, Rows};
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, PoisonError};

type Array1 = Py<PyArray1<f64>>;
type Array2 = Py<PyArray2<f64>>;

/// What comes out of a run, complete or not.
#[pyclass(frozen, module = "leastaction._core")]
pub(crate) struct Solution {
    plan: Plan,
    solution: leastaction::simulate::Solution,
    picked: Option<String>,
    #[pyo3(get)]
    t: Array1,
    #[pyo3(get)]
    q: Array2,
    #[pyo3(get)]
    v: Array2,
    #[pyo3(get)]
    p: Array2,
    #[pyo3(get)]
    energy: Array1,
    #[pyo3(get)]
    energy_change: Array1,
    #[pyo3(get)]
    outputs: Vec<(String, Array1)>,
    dense: Mutex<Option<Dense>>,
}

/// An array that owns numbers and cannot be changed: dense output and tables read the same ones.
fn array<'py>(py: Python<'py>, numbers: Vec<f64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let array = numbers.into_pyarray(py);
    fixed(array.as_any())?;
    Ok(array)
}

fn fixed(array: &Bound<'_, PyAny>) -> PyResult<()> {
    let arguments = PyDict::new(array.py());
    arguments.set_item("write", false)?;
    array.call_method("setflags", (), Some(&arguments)).map(|_| ())
}

/// The same with n numbers a row.
fn rows(py: Python<'_>, numbers: Vec<f64>, n: usize) -> PyResult<Array2> {
    let count = numbers.len().checked_div(n).unwrap_or(0);
    let table = array(py, numbers)?.reshape([count, n])?;
    Ok(table.unbind())
}

impl Solution {
    fn new(
        py: Python<'_>,
        plan: Plan,
        mut solution: leastaction::simulate::Solution,
        picked: Option<String>,
    ) -> PyResult<Self> {
        let recording = std::mem::take(&mut solution.recording);
        let n = plan.problem.system.n();
        let outputs: PyResult<_> = recording
            .outputs
            .into_iter()
            .map(|output| Ok((output.name, array(py, output.values)?.unbind())))
            .collect();
        Ok(Self {
            t: array(py, recording.t)?.unbind(),
            q: rows(py, recording.q, n)?,
            v: rows(py, recording.v, n)?,
            p: rows(py, recording.p, n)?,
            energy: array(py, recording.energy)?.unbind(),
            energy_change: array(py, recording.energy_change)?.unbind(),
            outputs: outputs?,
            plan,
            solution,
            picked,
            dense: Mutex::new(None),
        })
    }
}

/// Runs a system. `keywords` are those of `leastaction.simulate`; `progress` is called with steps taken and all steps.
///
/// A run that fails or is interrupted gives a solution too; the exception of an interruption comes beside it.
#[pyfunction]
#[pyo3(signature = (system, keywords, progress=None))]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    system: &System,
    keywords: &Bound<'py, PyDict>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Solution, Option<Bound<'py, PyAny>>)> {
    let (run, system) = system.with(py, keywords)?;
    let done = watch::work(py, progress, |watch| -> leastaction::Result<_> {
        let picked = pick_for(&run, &system, &|_| watch.flow())?;
        let (run, words) = match picked {
            Some(picked) => (picked.run.clone(), Some(picked.to_string())),
            None => (run, None),
        };
        let plan = run.plan_for(&system)?;
        watch.begin(plan.steps);
        let solution = plan.simulate_watched(&mut |step| watch.reach(step))?;
        Ok((plan, solution, words))
    })?;
    let interrupt = done.interrupt;
    let (plan, solution, picked) = match (done.value, &interrupt) {
        (Ok(found), _) => found,
        // a search that was broken off ends with whatever it had
        (Err(_), Some(error)) => return Err(error.clone_ref(py)),
        (Err(error), None) => return Err(of_library(py, &error)),
    };
    let solution = Solution::new(py, plan, solution, picked)?;
    Ok((solution, interrupt.map(|error| error.into_value(py).into_bound(py).into_any())))
}

#[pymethods]
impl Solution {
    /// The numbers that matter, as JSON.
    fn summary_json(&self) -> PyResult<String> {
        json(&self.solution.summary)
    }
    /// The same for people.
    fn summary_text(&self) -> String {
        self.solution.summary.to_string()
    }
    /// The run with every default filled in, as TOML.
    fn run_toml(&self, py: Python<'_>) -> PyResult<String> {
        self.solution.run.to_toml().map_err(|error| of_library(py, &error))
    }
    /// `done`, `stopped`, `interrupted` or `failed`.
    #[getter]
    fn outcome(&self) -> &'static str {
        self.solution.summary.outcome
    }
    /// How it ended, in words.
    #[getter]
    fn message(&self) -> String {
        let summary = &self.solution.summary;
        let end = number(summary.t_end);
        match &self.solution.outcome {
            Outcome::Done => format!("reached t = {end} in {} steps", summary.steps),
            Outcome::Stopped { event, time } => {
                format!("the event `{event}` ended the run at t = {}", number(*time))
            }
            Outcome::Interrupted => {
                format!("interrupted after {} of {} steps", summary.steps, self.plan.steps)
            }
            Outcome::Failed(failure) => {
                format!("{failure}\n  steps computed and kept before it: {}", summary.steps)
            }
        }
    }
    /// What the user should know.
    #[getter]
    fn notes(&self) -> Vec<String> {
        let picked = self.picked.iter().cloned();
        picked.chain(self.plan.notes.iter().cloned()).chain(self.solution.notes()).collect()
    }
    /// What makes the solution doubtful.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        let missed = self.solution.summary.exceeded().map(|(tolerance, error)| {
            let help = match self.picked {
                Some(_) => "ask for a smaller one",
                None => "leave out the step, so that one is picked, or ask for a smaller one",
            };
            format!("the energy error is {error:.1e}, more than the tolerance of {tolerance:.1e}\n  {help}")
        });
        self.plan.warnings().into_iter().chain(self.solution.warnings()).chain(missed).collect()
    }
    /// The system, with the parameters of this run.
    fn system(&self) -> System {
        System::of_solution(&self.solution.run, &self.plan.problem.system)
    }

    /// Times and states of events by name: `(name, t, q, v, p)`.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Vec<Happened>> {
        let events = &self.solution.events;
        let n = self.plan.problem.system.n();
        let mut all = Vec::new();
        for (k, tally) in events.tallies.iter().enumerate() {
            let own: Vec<usize> = (0..events.len()).filter(|row| events.event[*row] == k).collect();
            let pick = |numbers: &[f64], width: usize| -> Vec<f64> {
                own.iter().flat_map(|row| &numbers[row * width..(row + 1) * width]).copied().collect()
            };
            let t = array(py, pick(&events.t, 1))?.unbind();
            let states = [&events.q, &events.v, &events.p].map(|numbers| rows(py, pick(numbers, n), n));
            let [q, v, p] = states;
            all.push((tally.name.clone(), t, q?, v?, p?));
        }
        Ok(all)
    }

    /// States at any times within the run: `(q, v, p, energy)`.
    fn at<'py>(
        &self,
        py: Python<'py>,
        times: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<(Array2, Array2, Array2, Array1)> {
        let times = times.as_array().to_vec();
        let n = self.plan.problem.system.n();
        let (t, q, p) = (self.t.bind(py).readonly(), self.q.bind(py).readonly(), self.p.bind(py).readonly());
        let rows_of = Rows { t: t.as_slice()?, q: q.as_slice()?, p: p.as_slice()? };
        let found = py.detach(|| -> leastaction::Result<_> {
            let mut slot = self.dense.lock().unwrap_or_else(PoisonError::into_inner);
            let dense = slot.get_or_insert_with(|| Dense::new(&self.plan));
            let mut found: [Vec<f64>; 4] = Default::default();
            for t in &times {
                let energy = dense.find(rows_of, *t)?;
                found[0].extend_from_slice(&dense.q);
                found[1].extend_from_slice(&dense.v);
                found[2].extend_from_slice(&dense.p);
                found[3].push(energy);
            }
            Ok(found)
        });
        let [q, v, p, energy] = found.map_err(|error| of_library(py, &error))?;
        Ok((rows(py, q, n)?, rows(py, v, n)?, rows(py, p, n)?, array(py, energy)?.unbind()))
    }

    /// Conserved momenta over time, by name.
    fn momenta<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Array1)>> {
        let (q, p) = (self.q.bind(py).readonly(), self.p.bind(py).readonly());
        let (q, p) = (q.as_slice()?, p.as_slice()?);
        let n = self.plan.problem.system.n();
        let (names, columns) = py.detach(|| {
            let conserved = Conserved::new(&self.plan.problem);
            let mut columns: Vec<Vec<f64>> =
                vec![Vec::with_capacity(q.len() / n.max(1)); conserved.names.len()];
            for (q, p) in q.chunks(n).zip(p.chunks(n)) {
                for (column, value) in columns.iter_mut().zip(conserved.at(q, p)) {
                    column.push(value);
                }
            }
            (conserved.names, columns)
        });
        let named = names.into_iter().zip(columns);
        named.map(|(name, column)| Ok((name, array(py, column)?.unbind()))).collect()
    }

    /// How bodies are drawn: names, links (from, to; from −1 is the origin), dimension, radius of a sphere, unit. None if the system
    /// does not say.
    fn bodies(&self, py: Python<'_>) -> PyResult<Option<Drawn>> {
        let bodies = self.plan.bodies().map_err(|error| of_library(py, &error))?;
        Ok(bodies.map(|bodies| {
            let links = bodies.motion.links.iter();
            let links = links.map(|(from, to)| (from.map_or(-1, |from| from as i64), *to)).collect();
            let motion = bodies.motion;
            (motion.bodies, links, motion.dimension, bodies.sphere, motion.unit)
        }))
    }

    /// Positions of the bodies at coordinates and velocities at times, in an array by time, body and x, y, z.
    fn positions<'py>(
        &self,
        py: Python<'py>,
        times: PyReadonlyArray1<'py, f64>,
        q: numpy::PyReadonlyArray2<'py, f64>,
        v: numpy::PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Option<Bound<'py, PyArray3<f64>>>> {
        let n = self.plan.problem.system.n();
        if q.shape() != [times.len(), n] || v.shape() != q.shape() {
            let message = format!("q and v must have the shape ({}, {n})", times.len());
            return Err(Kind::Input.error(py, message));
        }
        let Some(mut bodies) = self.plan.bodies().map_err(|error| of_library(py, &error))? else {
            return Ok(None);
        };
        let (times, q, v) = (times.as_array(), q.as_array(), v.as_array());
        let mut all = Vec::with_capacity(times.len() * 3 * bodies.motion.bodies.len());
        for ((t, q), v) in times.iter().zip(q.rows()).zip(v.rows()) {
            all.extend_from_slice(bodies.at(&q.to_vec(), &v.to_vec(), *t));
        }
        let count = bodies.motion.bodies.len();
        Ok(Some(all.into_pyarray(py).reshape([times.len(), count, 3])?))
    }
}

/// Names, links, dimension, sphere, unit.
type Drawn = (Vec<String>, Vec<(i64, usize)>, usize, Option<f64>, String);

/// Name, times, coordinates, velocities and momenta of an event.
type Happened = (String, Array1, Array2, Array2, Array2);
