//! Watching a run from the terminal: a progress bar when it takes long, and Ctrl-C.

use crate::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use leastaction::error::Cause;
use leastaction::simulate::{Moment, Observer};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A bar appears only on a terminal and after this long.
const PATIENCE: Duration = Duration::from_millis(500);
/// Steps between looks at the clock.
const STRIDE: u64 = 64;

/// Shows how far a run is.
pub(crate) struct Progress {
    start: Instant,
    bar: ProgressBar,
    enabled: bool,
    shown: bool,
}

impl Progress {
    pub(crate) fn new(steps: u64) -> Self {
        // hidden at first, but counting from the start, so that its estimate is right when it appears
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(
            "{percent:>3} % {wide_bar} {human_pos}/{human_len} steps, {eta} left",
        ) {
            bar.set_style(style);
        }
        Self { start: Instant::now(), bar, enabled: std::io::stderr().is_terminal(), shown: false }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer<f64> for Progress {
    fn observe(&mut self, moment: &Moment<'_, f64>) -> Result<ControlFlow<()>, Cause> {
        let step = moment.state.steps;
        // large systems take long over a single step, so the clock is read at every step there
        let due = moment.state.q.len() > 1000 || step.is_multiple_of(STRIDE);
        if self.enabled && due {
            self.bar.set_position(step);
            if !self.shown && self.start.elapsed() > PATIENCE {
                self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
                self.shown = true;
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Ctrl-C: the first ends the run after the present step, the second ends the program.
pub(crate) struct Interrupt {
    pressed: Arc<AtomicBool>,
}

impl Interrupt {
    pub(crate) fn install() -> Self {
        let pressed = Arc::new(AtomicBool::new(false));
        let flag = pressed.clone();
        let handler = move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            say("\nending after this step; press Ctrl-C again to drop everything");
        };
        // without a handler Ctrl-C ends the program at once, which is no reason not to run
        let _ = ctrlc::set_handler(handler);
        Self { pressed }
    }

    pub(crate) fn observer(&self) -> InterruptObserver {
        InterruptObserver { pressed: self.pressed.clone() }
    }
}

/// Breaks the run when Ctrl-C was pressed.
pub(crate) struct InterruptObserver {
    pressed: Arc<AtomicBool>,
}

impl Observer<f64> for InterruptObserver {
    fn observe(&mut self, _: &Moment<'_, f64>) -> Result<ControlFlow<()>, Cause> {
        let stop = self.pressed.load(Ordering::Relaxed);
        Ok(if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
