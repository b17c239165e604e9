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
        Self::styled(steps, stride, "{percent:>3} % {wide_bar} {human_pos}/{human_len} steps, {eta} left")
    }

    /// The progress of an ensemble.
    pub(crate) fn of_members(members: u64) -> Self {
        let style = "{percent:>3} % {wide_bar} {human_pos}/{human_len} members, {per_sec}, {eta} left{msg}";
        Self::styled(members, 1, style)
    }

    fn styled(count: u64, stride: u64, style: &str) -> Self {
        // hidden at first, but counting from the start, so that its estimate is right when it appears
        let bar = ProgressBar::with_draw_target(Some(count), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(style) {
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

    /// So much was done before it began.
    pub(crate) fn begin_at(&self, count: u64) {
        self.bar.set_position(count);
        self.bar.reset_eta();
    }

    /// Says something at the end of the bar.
    pub(crate) fn say(&self, text: String) {
        if self.enabled {
            self.bar.set_message(text);
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

/// What is said at the first Ctrl-C of a run.
pub(crate) const AFTER_THIS_STEP: &str = "ending after this step; press Ctrl-C again to drop everything";

/// Ctrl-C: the first ends the run after the present step, the second ends the program.
pub(crate) struct Interrupt {
    pressed: Arc<AtomicBool>,
}

impl Interrupt {
    /// What is said at the first Ctrl-C tells what it does.
    pub(crate) fn install(words: &'static str) -> Self {
        let pressed = Arc::new(AtomicBool::new(false));
        let flag = pressed.clone();
        let handler = move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            say(&format!("\n{words}"));
        };
        // without a handler Ctrl-C ends the program at once, which is no reason not to run
        let _ = ctrlc::set_handler(handler);
        // schedulers of clusters ask a program to end before they end it
        #[cfg(unix)]
        let _ = signal_hook::flag::register(signal_hook::consts::SIGTERM, pressed.clone());
        Self { pressed }
    }

    /// Whether to go on.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        if self.pressed.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
