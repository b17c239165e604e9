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

/// The median of the calls that fit into a number of seconds: at least three, if that takes no more than ten times as long, and one at
/// least. What `prepare` does is not counted.
///
/// The shortest would not do: virtual processors set the time of work back by what others were given, at times for calls that were not disturbed.
pub fn typical<T>(
    clock: Clock,
    budget: f64,
    mut prepare: impl FnMut() -> T,
    mut work: impl FnMut(T) -> Result<(), String>,
) -> Result<f64, String> {
    let (mut times, mut spent) = (Vec::new(), 0.0);
    loop {
        let prepared = prepare();
        let start = clock();
        work(prepared)?;
        let time = clock() - start;
        times.push(time);
        spent += time;
        if spent >= budget && (times.len() >= 3 || spent >= 10.0 * budget) {
            times.sort_by(f64::total_cmp);
            return Ok(times[(times.len() - 1) / 2]);
        }
    }
}
