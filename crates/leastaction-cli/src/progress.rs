//! Watching a run from the terminal: a progress bar when it takes long, and Ctrl-C.

use crate::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
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

/// The number of SIGINT on all systems.
const SIGINT: usize = 2;

/// The signal that asked for the end, or 0. There is one for the process, as for signals.
static RECEIVED: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// What the program ends with after an interrupt: 128 and the number of the signal, as shells say it.
pub(crate) fn code_of_interrupt() -> u8 {
    match RECEIVED.load(Ordering::Relaxed) {
        0 => 128 + SIGINT as u8,
        signal => 128u8.saturating_add(signal as u8),
    }
}

/// Ctrl-C: the first ends the run after the present step, the second ends the program.
pub(crate) struct Interrupt {
    received: Arc<AtomicUsize>,
}

impl Interrupt {
    /// What is said at the first Ctrl-C tells what it does.
    pub(crate) fn install(words: &'static str) -> Self {
        let received = RECEIVED.clone();
        let flag = received.clone();
        let handler = move || {
            if flag.swap(SIGINT, Ordering::Relaxed) != 0 {
                std::process::exit(128 + SIGINT as i32);
            }
            say(&format!("\n{words}"));
        };
        // without a handler Ctrl-C ends the program at once, which is no reason not to run
        let _ = ctrlc::set_handler(handler);
        #[cfg(unix)]
        requests::watch(&received);
        Self { received }
    }

    /// Whether to go on.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        if self.received.load(Ordering::Relaxed) == 0 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

/// Other signals that ask a program to end before it is killed.
#[cfg(unix)]
mod requests {
    use signal_hook::consts::{SIGHUP, SIGTERM};
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    /// Notes the signals of schedulers of clusters and of terminals that close, but for those that are ignored, as `nohup` has it.
    pub(super) fn watch(received: &Arc<AtomicUsize>) {
        for signal in [SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal)) {
            let _ = signal_hook::flag::register_usize(signal, received.clone(), signal as usize);
        }
    }

    /// Whether whoever started the program has it ignore a signal.
    #[allow(unsafe_code)]
    fn is_ignored(signal: i32) -> bool {
        // SAFETY: all bytes zero are a valid sigaction; with no new action the call only fills it in
        let (asked, action) = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            (libc::sigaction(signal, std::ptr::null(), &raw mut action), action)
        };
        asked == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}
