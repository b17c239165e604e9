//! Time that this thread has worked: what other programs take from the same core does not count.

use rustix::time::{ClockId, clock_gettime};

/// Seconds of work of this thread.
pub fn seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

/// The shortest of as many calls as fit into a number of seconds, at least one. What `prepare` does is not counted.
pub fn shortest<T>(budget: f64, mut prepare: impl FnMut() -> T, mut work: impl FnMut(T)) -> f64 {
    let (mut best, mut spent) = (f64::INFINITY, 0.0);
    loop {
        let prepared = prepare();
        let start = seconds();
        work(prepared);
        let time = seconds() - start;
        best = best.min(time);
        spent += time;
        if spent >= budget {
            return best;
        }
    }
}
