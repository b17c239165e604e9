//! Watching a run from the terminal: a progress bar when it takes long, and Ctrl-C.

use crate::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A bar appears only on a terminal and after this long.
const PATIENCE: Duration = Duration::from_millis(500);
/// Shows how far a run is. May be told from any thread.
pub(crate) struct Progress {
    start: Instant,
    bar: ProgressBar,
    /// Steps between looks at the clock.
    stride: u64,
    enabled: bool,
    shown: AtomicBool,
}

impl Progress {
    pub(crate) fn new(steps: u64, stride: u64) -> Self {
        // hidden at first, but counting from the start, so that its estimate is right when it appears
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(
            "{percent:>3} % {wide_bar} {human_pos}/{human_len} steps, {eta} left",
        ) {
            bar.set_style(style);
        }
        let enabled = std::io::stderr().is_terminal();
        Self { start: Instant::now(), bar, stride, enabled, shown: AtomicBool::new(false) }
    }

    /// So many steps have been taken in all.
    pub(crate) fn show(&self, step: u64) {
        if self.enabled && step.is_multiple_of(self.stride) {
            self.bar.set_position(step);
            self.appear();
        }
    }

    /// So many more steps have been taken.
    pub(crate) fn advance(&self, steps: u64) {
        if self.enabled && steps > 0 {
            self.bar.inc(steps);
            self.appear();
        }
    }

    fn appear(&self) {
        if self.start.elapsed() > PATIENCE && !self.shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
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

    /// Whether to go on.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        if self.pressed.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
