//! Time that this program has worked, on all its threads: what other programs take from the same core does not count. And the clock on
//! the wall, for several threads.

use rustix::time::{ClockId, clock_gettime};

/// Shows seconds.
pub type Clock = fn() -> f64;

/// Seconds of work of this program.
pub fn work() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

/// Seconds on the wall.
pub fn wall() -> f64 {
    seconds(ClockId::Monotonic)
}

fn seconds(clock: ClockId) -> f64 {
    let now = clock_gettime(clock);
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

/// The shortest of as many calls as fit into a number of seconds, at least one. What `prepare` does is not counted.
pub fn shortest<T>(
    clock: Clock,
    budget: f64,
    mut prepare: impl FnMut() -> T,
    mut work: impl FnMut(T) -> Result<(), String>,
) -> Result<f64, String> {
    let (mut best, mut spent) = (f64::INFINITY, 0.0);
    loop {
        let prepared = prepare();
        let start = clock();
        work(prepared)?;
        let time = clock() - start;
        best = best.min(time);
        spent += time;
        if spent >= budget {
            return Ok(best);
        }
    }
}
