//! Letting the library work while Python stays responsive.
//!
//! The work is done on a thread that never touches Python. The calling thread sleeps without the interpreter's lock, wakes now and then,
//! lets Python see its signals, and tells whoever shows progress. So Ctrl-C works whatever is computed, other Python threads run, and
//! the loop over steps costs the same as without Python.

use crate::errors::{Kind, of_panic};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How long a Ctrl-C may have to wait.
const PATIENCE: Duration = Duration::from_millis(50);
/// As much as a main thread has; a formula may be nested deeply.
const STACK: usize = 16 << 20;

/// What both threads know of the work.
#[derive(Default)]
pub(crate) struct Watch {
    interrupted: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl Watch {
    /// So much is done of all.
    pub(crate) fn begin(&self, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }
    /// So much is done in all.
    pub(crate) fn reach(&self, done: u64) -> ControlFlow<()> {
        self.done.store(done, Ordering::Relaxed);
        self.flow()
    }
    /// So much more is done.
    pub(crate) fn advance(&self, more: u64) -> ControlFlow<()> {
        self.done.fetch_add(more, Ordering::Relaxed);
        self.flow()
    }
    /// All is done, also where less was counted: an event may end a run before its end.
    pub(crate) fn end(&self) {
        self.done.store(self.total.load(Ordering::Relaxed), Ordering::Relaxed);
    }
    /// Whether to go on.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        if self.is_interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
    /// Whether it was told to end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// What the work gave, and the exception that interrupted it.
pub(crate) struct Done<T> {
    pub(crate) value: T,
    pub(crate) interrupt: Option<PyErr>,
}

impl<T> Done<T> {
    /// The value of work that is of no use if it was interrupted.
    pub(crate) fn whole(self, py: Python<'_>) -> PyResult<T> {
        match self.interrupt {
            Some(error) => Err(without_result(py, error)),
            None => Ok(self.value),
        }
    }
}

/// What is raised after an interruption that leaves nothing to keep.
pub(crate) fn without_result(py: Python<'_>, interrupt: PyErr) -> PyErr {
    if interrupt.is_instance_of::<PyKeyboardInterrupt>(py) {
        return Kind::Interrupted.error(py, "interrupted before there was a result");
    }
    interrupt
}

/// Does work on another thread. `progress` is called with how much is done of how much, now and then and at the end.
pub(crate) fn work<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send,
) -> PyResult<Done<T>> {
    let watch = Watch::default();
    let (sender, mut receiver) = channel();
    std::thread::scope(|scope| {
        let watch = &watch;
        let worker = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
            let value = work(watch);
            // nobody listens any more if Python raised; the value is dropped then
            let _ = sender.send(value);
        });
        let worker = worker.map_err(|error| {
            pyo3::exceptions::PyMemoryError::new_err(format!("cannot start a thread: {error}"))
        })?;
        let mut interrupt = None;
        let value = loop {
            match py.detach(|| next(&mut receiver)) {
                Ok(value) => break Some(value),
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interrupt.is_none()
                && let Err(error) = py.check_signals().and_then(|()| tell(progress, watch))
            {
                watch.interrupted.store(true, Ordering::Relaxed);
                interrupt = Some(error);
            }
        };
        let joined = py.detach(|| worker.join());
        match (value, joined) {
            (Some(value), _) => {
                let interrupt = interrupt.or_else(|| tell(progress, watch).err());
                Ok(Done { value, interrupt })
            }
            (None, Err(panic)) => Err(of_panic(py, panic.as_ref())),
            (None, Ok(())) => Err(of_panic(py, &"the work ended without a result")),
        }
    })
}

fn next<T>(receiver: &mut Receiver<T>) -> Result<T, RecvTimeoutError> {
    receiver.recv_timeout(PATIENCE)
}

fn tell(progress: Option<&Bound<'_, PyAny>>, watch: &Watch) -> PyResult<()> {
    let (done, total) = (watch.done.load(Ordering::Relaxed), watch.total.load(Ordering::Relaxed));
    match progress {
        Some(progress) if total > 0 => progress.call1((done, total)).map(|_| ()),
        _ => Ok(()),
    }
}

/// Panics while it works, so that the tests see what becomes of it.
#[pyfunction]
#[allow(clippy::panic)] // that is what it is for
pub(crate) fn panic_for_tests(py: Python<'_>) -> PyResult<()> {
    work(py, None, |_| panic!("asked for by a test"))?.whole(py)
}
