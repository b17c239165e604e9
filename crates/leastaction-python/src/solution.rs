//! Running, and handing over what comes out: arrays that own the recorded numbers, so that nothing is copied.

use crate::errors::{Kind, json, of_library};
use crate::system::System;
use crate::watch::{self, Watch};
use leastaction::analysis::{Attempts, pick_for};
use leastaction::error::number;
use leastaction::prelude::Run;
use leastaction::simulate::{
    Conserved, Crossings, Dense, Journey, Keeper, Outcome, Plan, Rows, Summary, Tally,
};
use leastaction::system::Energy;
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

type Array1 = Py<PyArray1<f64>>;
type Array2 = Py<PyArray2<f64>>;

/// What comes out of a run, complete or not.
#[pyclass(frozen, module = "leastaction._core")]
pub(crate) struct Solution {
    plan: Plan,
    told: Told,
    summary: Summarised,
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
    /// Times and states of events by name: `(name, t, q, v, p)`.
    #[pyo3(get)]
    events: Vec<Happened>,
    dense: Mutex<Option<Dense>>,
}

/// What is said of a run in words.
#[derive(Clone, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
struct Told {
    outcome: String,
    message: String,
    /// The event that ended it.
    stopped: Option<String>,
    notes: Vec<String>,
    warnings: Vec<String>,
}

/// The numbers that matter: as they come from the run, or as they were kept.
enum Summarised {
    Made(Box<Summary>),
    Kept { json: String, text: String },
}

/// Everything there is to know of a solution, to be kept and read again.
#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Kept {
    run: String,
    told: Told,
    summary_json: String,
    summary_text: String,
    t: Array1,
    q: Array2,
    v: Array2,
    p: Array2,
    energy: Array1,
    energy_change: Array1,
    outputs: Vec<(String, Array1)>,
    events: Vec<Happened>,
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

impl Told {
    fn new(plan: &Plan, solution: &leastaction::simulate::Solution, picked: Option<String>) -> Self {
        let summary = &solution.summary;
        let missed = summary.exceeded().map(|(tolerance, error)| {
            let help = match picked {
                Some(_) => "the smaller steps tried did not help; give a still smaller step, a larger tolerance, or a shorter run",
                None => "leave out the step, so that one is picked",
            };
            format!("the energy error is {error:.1e}, more than the tolerance of {tolerance:.1e}\n  {help}")
        });
        Self {
            outcome: summary.outcome.to_owned(),
            message: message(plan, solution),
            stopped: match &solution.outcome {
                Outcome::Stopped { event, .. } => Some(event.clone()),
                _ => None,
            },
            notes: picked.into_iter().chain(plan.notes.iter().cloned()).chain(solution.notes()).collect(),
            warnings: plan.warnings().into_iter().chain(solution.warnings()).chain(missed).collect(),
        }
    }
}

/// How a run ended, in words.
fn message(plan: &Plan, solution: &leastaction::simulate::Solution) -> String {
    let summary = &solution.summary;
    let end = number(summary.t_end);
    match &solution.outcome {
        Outcome::Done => format!("reached t = {end} in {} steps", summary.steps),
        Outcome::Stopped { event, time } => {
            let time = number(*time);
            format!("the event `{event}` ended the run at t = {time}, within the step to t = {end}")
        }
        Outcome::NotReached { .. } => solution.not_reached().join("\n"),
        Outcome::Interrupted | Outcome::Exceeded => {
            format!("interrupted after {} of {} steps", summary.steps, plan.steps)
        }
        Outcome::Failed(failure) => {
            format!("{failure}\n  steps computed and kept before it: {}", summary.steps)
        }
    }
}

/// Events as arrays by name.
fn happened(py: Python<'_>, events: &Crossings<f64>, n: usize) -> PyResult<Vec<Happened>> {
    let one = |(k, tally): (usize, &Tally<f64>)| {
        let own: Vec<usize> = (0..events.len()).filter(|row| events.event[*row] == k).collect();
        let pick = |numbers: &[f64], width: usize| -> Vec<f64> {
            own.iter().flat_map(|row| &numbers[row * width..(row + 1) * width]).copied().collect()
        };
        let t = array(py, pick(&events.t, 1))?.unbind();
        let [q, v, p] = [&events.q, &events.v, &events.p].map(|numbers| rows(py, pick(numbers, n), n));
        Ok((tally.name.clone(), t, q?, v?, p?))
    };
    events.tallies.iter().enumerate().map(one).collect()
}

impl Solution {
    fn new(
        py: Python<'_>,
        plan: Plan,
        solution: leastaction::simulate::Solution,
        picked: Option<String>,
    ) -> PyResult<Self> {
        let told = Told::new(&plan, &solution, picked);
        let n = plan.problem.system.n();
        let recording = solution.recording;
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
            events: happened(py, &solution.events, n)?,
            plan,
            told,
            summary: Summarised::Made(Box::new(solution.summary)),
            dense: Mutex::new(None),
        })
    }

    /// States at so many times.
    fn check_rows(&self, py: Python<'_>, count: usize, shapes: [&[usize]; 2]) -> PyResult<()> {
        let n = self.plan.problem.system.n();
        if shapes.iter().all(|shape| *shape == [count, n]) {
            return Ok(());
        }
        Err(Kind::Input.error(py, format!("q and v must have the shape ({count}, {n})")))
    }

    /// Arrays that were kept must be those of a run of this system, for others read them by their places.
    fn check(py: Python<'_>, kept: &Kept, n: usize) -> PyResult<()> {
        let count = kept.t.bind(py).len();
        let of_states = [&kept.q, &kept.v, &kept.p];
        let lists = [&kept.t, &kept.energy, &kept.energy_change];
        let all_lists = lists.into_iter().chain(kept.outputs.iter().map(|(_, values)| values));
        let mut fits = of_states.iter().all(|table| table.bind(py).shape() == [count, n]);
        for table in of_states {
            fits &= table.bind(py).is_c_contiguous();
            fixed(table.bind(py).as_any())?;
        }
        for list in all_lists {
            fits &= list.bind(py).len() == count && list.bind(py).is_c_contiguous();
            fixed(list.bind(py).as_any())?;
        }
        for (_, t, q, v, p) in &kept.events {
            fixed(t.bind(py).as_any())?;
            for table in [q, v, p] {
                fits &= table.bind(py).shape() == [t.bind(py).len(), n];
                fixed(table.bind(py).as_any())?;
            }
        }
        if fits { Ok(()) } else { Err(Kind::Input.error(py, "these are not the arrays of a solution")) }
    }
}

/// A solution, and the exception that interrupted its run.
type Ended<'py> = (Solution, Option<Bound<'py, PyAny>>);

/// A plan, what came out of it, and how it was picked.
type Found = (Plan, leastaction::simulate::Solution, Option<String>);

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
) -> PyResult<Ended<'py>> {
    let (run, system) = system.with(py, keywords)?;
    let done = watch::work(py, progress, |watch| -> leastaction::Result<Found> {
        let mut attempts = Attempts::new(pick_for(&run, &system, &|_| watch.flow())?);
        let words = attempts.picked().map(ToString::to_string);
        let interval = run.checkpoint_every.unwrap_or_default();
        let mut keeper =
            run.checkpoint.as_ref().map(|path| Keeper::create(Path::new(path), interval)).transpose()?;
        loop {
            let run = attempts.picked().map_or(&run, |picked| &picked.run);
            let mut plan = run.plan_for(&system)?;
            attempts.prepare(&mut plan);
            let solution = travel(&plan, plan.begin()?, keeper.as_mut(), watch)?;
            if watch.is_interrupted() || !attempts.again(&solution) {
                return Ok((plan, solution, words));
            }
        }
    })?;
    ended(py, done)
}

/// Continues a run from its checkpoint.
#[pyfunction]
#[pyo3(signature = (path, progress=None))]
pub(crate) fn resume<'py>(
    py: Python<'py>,
    path: PathBuf,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Ended<'py>> {
    let done = watch::work(py, progress, |watch| -> leastaction::Result<Found> {
        let (mut keeper, checkpoint) = Keeper::open(&path)?;
        let plan = checkpoint.run.plan()?;
        let mut journey = plan.begin()?;
        checkpoint.restore(&mut journey)?;
        let solution = travel(&plan, journey, Some(&mut keeper), watch)?;
        Ok((plan, solution, None))
    })?;
    ended(py, done)
}

/// Takes the steps of a run, and keeps checkpoints if somebody does.
fn travel(
    plan: &Plan,
    mut journey: Journey<'_>,
    keeper: Option<&mut Keeper>,
    watch: &Watch,
) -> leastaction::Result<leastaction::simulate::Solution> {
    watch.begin(plan.steps);
    let mut reach = |step| watch.reach(step);
    match keeper {
        None => journey.go(&mut reach),
        Some(keeper) => keeper.go(plan, &mut journey, &mut reach, &mut |_| Ok(()))?,
    }
    if journey.is_over() && !journey.has_failed() {
        watch.end();
    }
    if plan.run.accuracy == Some(true) {
        journey.estimate_accuracy(&mut |_| watch.flow());
    }
    Ok(journey.into_solution())
}

fn ended<'py>(py: Python<'py>, done: watch::Done<leastaction::Result<Found>>) -> PyResult<Ended<'py>> {
    let interrupt = done.interrupt;
    let (plan, solution, picked) = match (done.value, &interrupt) {
        (Ok(found), _) => found,
        // a search that was broken off ends with whatever it had
        (Err(_), Some(error)) => return Err(watch::without_result(py, error.clone_ref(py))),
        (Err(error), None) => return Err(of_library(py, &error)),
    };
    let solution = Solution::new(py, plan, solution, picked)?;
    Ok((solution, interrupt.map(|error| error.into_value(py).into_bound(py).into_any())))
}

/// Times of dense output that are found before Python may handle signals.
const AT_ONCE: usize = 16;

#[pymethods]
impl Solution {
    /// Everything there is to know of it, for `of_state`.
    fn state(&self, py: Python<'_>) -> PyResult<Kept> {
        let named = self.outputs.iter().map(|(name, values)| (name.clone(), values.clone_ref(py)));
        let events = self.events.iter().map(|(name, t, q, v, p)| {
            (name.clone(), t.clone_ref(py), q.clone_ref(py), v.clone_ref(py), p.clone_ref(py))
        });
        Ok(Kept {
            run: self.run_toml(py)?,
            told: self.told.clone(),
            summary_json: self.summary_json()?,
            summary_text: self.summary_text(),
            t: self.t.clone_ref(py),
            q: self.q.clone_ref(py),
            v: self.v.clone_ref(py),
            p: self.p.clone_ref(py),
            energy: self.energy.clone_ref(py),
            energy_change: self.energy_change.clone_ref(py),
            outputs: named.collect(),
            events: events.collect(),
        })
    }

    /// A solution again of what `state` gave.
    #[staticmethod]
    fn of_state(py: Python<'_>, state: Kept) -> PyResult<Self> {
        let planned = py.detach(|| -> leastaction::Result<_> {
            let (system, run) = Run::from_toml(&state.run)?.resolve()?;
            run.plan_for(&system)
        });
        let plan = planned.map_err(|error| of_library(py, &error))?;
        Self::check(py, &state, plan.problem.system.n())?;
        Ok(Self {
            plan,
            told: state.told,
            summary: Summarised::Kept { json: state.summary_json, text: state.summary_text },
            t: state.t,
            q: state.q,
            v: state.v,
            p: state.p,
            energy: state.energy,
            energy_change: state.energy_change,
            outputs: state.outputs,
            events: state.events,
            dense: Mutex::new(None),
        })
    }

    /// The numbers that matter, as JSON.
    fn summary_json(&self) -> PyResult<String> {
        match &self.summary {
            Summarised::Made(summary) => json(summary),
            Summarised::Kept { json, .. } => Ok(json.clone()),
        }
    }
    /// The same for people.
    fn summary_text(&self) -> String {
        match &self.summary {
            Summarised::Made(summary) => summary.to_string(),
            Summarised::Kept { text, .. } => text.clone(),
        }
    }
    /// The run with every default filled in, as TOML.
    fn run_toml(&self, py: Python<'_>) -> PyResult<String> {
        self.plan.run.to_toml().map_err(|error| of_library(py, &error))
    }
    /// `done`, `stopped`, `interrupted` or `failed`.
    #[getter]
    fn outcome(&self) -> &str {
        &self.told.outcome
    }
    /// How it ended, in words.
    #[getter]
    fn message(&self) -> &str {
        &self.told.message
    }
    /// The event that ended it.
    #[getter]
    fn stopped(&self) -> Option<&str> {
        self.told.stopped.as_deref()
    }
    /// What the user should know.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.told.notes.clone()
    }
    /// What makes the solution doubtful.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.told.warnings.clone()
    }
    /// The system, with the parameters of this run.
    fn system(&self) -> System {
        System::of_solution(&self.plan.run, &self.plan.problem.system)
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
        let mut found: [Vec<f64>; 4] = Default::default();
        // a few at a time, so that Ctrl-C need not wait for all
        for some in times.chunks(AT_ONCE) {
            let done = py.detach(|| -> leastaction::Result<()> {
                let mut slot = self.dense.lock().unwrap_or_else(PoisonError::into_inner);
                let dense = slot.get_or_insert_with(|| Dense::new(&self.plan));
                for t in some {
                    let energy = dense.find(rows_of, *t)?;
                    found[0].extend_from_slice(&dense.q);
                    found[1].extend_from_slice(&dense.v);
                    found[2].extend_from_slice(&dense.p);
                    found[3].push(energy);
                }
                Ok(())
            });
            done.map_err(|error| of_library(py, &error))?;
            py.check_signals().map_err(|error| watch::without_result(py, error))?;
        }
        let [q, v, p, energy] = found;
        Ok((rows(py, q, n)?, rows(py, v, n)?, rows(py, p, n)?, array(py, energy)?.unbind()))
    }

    /// Energies of states.
    fn energies(
        &self,
        py: Python<'_>,
        times: PyReadonlyArray1<'_, f64>,
        q: numpy::PyReadonlyArray2<'_, f64>,
        v: numpy::PyReadonlyArray2<'_, f64>,
    ) -> PyResult<Array1> {
        self.check_rows(py, times.len(), [q.shape(), v.shape()])?;
        let problem = &self.plan.problem;
        let mut energy = Energy::new(&problem.system.model, &problem.parameters);
        let (times, q, v) = (times.as_array(), q.as_array(), v.as_array());
        let states = times.iter().zip(q.rows()).zip(v.rows());
        let found = states.map(|((t, q), v)| energy.at(&q.to_vec(), &v.to_vec(), t).0).collect();
        Ok(array(py, found)?.unbind())
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
        self.check_rows(py, times.len(), [q.shape(), v.shape()])?;
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
