//! The yardstick: the classical Runge–Kutta method written by hand. Settings: `rk4:STEPS`.

use leastaction_bench_peers::conversation::{Question, answer, parts};
use leastaction_bench_peers::motion::Motion;
use leastaction_bench_peers::solver::{Job, See, Solver};
use leastaction_bench_peers::with_motion;

fn main() {
    answer(&Solver(job));
}

fn job(question: &Question) -> Result<Job, String> {
    let (until, steps) = (question.until, parts(question.setting)?.1 as usize);
    let h = until / steps as f64;
    with_motion!(question.system, motion, N =>
        Job::new(motion, move |motion, see| {
            let mut y = [0.0; N];
            y.copy_from_slice(&motion.start());
            run(motion, &mut y, &mut [[0.0; N]; 3], h, steps, see)
        }),
        Job::new(motion, move |motion, see| {
            let mut y = motion.start();
            let room = vec![0.0; y.len()];
            run(motion, &mut y, &mut [room.clone(), room.clone(), room], h, steps, see)
        })
    )
}

#[inline(always)]
fn run<Y: AsMut<[f64]> + AsRef<[f64]>>(
    motion: &impl Motion,
    y: &mut Y,
    room: &mut [Y; 3],
    h: f64,
    steps: usize,
    mut see: See,
) -> Result<(), String> {
    for _ in 0..steps {
        step(motion, y, room, h);
        if let Some(see) = &mut see {
            see(y.as_ref());
        }
    }
    std::hint::black_box(y.as_ref());
    Ok(())
}

/// y += h (k1 + 2 k2 + 2 k3 + k4)/6
#[inline(always)]
fn step<Y: AsMut<[f64]> + AsRef<[f64]>>(motion: &impl Motion, y: &mut Y, room: &mut [Y; 3], h: f64) {
    let [k, sum, at] = room;
    let (k, sum, at, y) = (k.as_mut(), sum.as_mut(), at.as_mut(), y.as_mut());
    motion.derivative(y, k);
    sum.copy_from_slice(k);
    for (weight, part) in [(2.0, 0.5), (2.0, 0.5), (1.0, 1.0)] {
        for i in 0..y.len() {
            at[i] = y[i] + part * h * k[i];
        }
        motion.derivative(at, k);
        for i in 0..y.len() {
            sum[i] += weight * k[i];
        }
    }
    for i in 0..y.len() {
        y[i] += h / 6.0 * sum[i];
    }
}
