//! The crate `diffsol`: its explicit method, Tsitouras 5(4), which suits systems that are not stiff. Settings:
//! `tsit45:TOLERANCE`.

use diffsol::{NalgebraMat, OdeBuilder, OdeSolverMethod, OdeSolverStopReason};
use leastaction_bench_peers::conversation::{Question, answer, parts};
use leastaction_bench_peers::motion::Motion;
use leastaction_bench_peers::solver::{Job, See, Solver};
use leastaction_bench_peers::with_motion;

fn main() {
    answer(&Solver(job));
}

fn run(motion: &impl Motion, (until, tolerance): (f64, f64), mut see: See) -> Result<(), String> {
    let said = |error: diffsol::error::DiffsolError| error.to_string();
    let start = motion.start();
    let problem = OdeBuilder::<NalgebraMat<f64>>::new()
        .rtol(tolerance)
        .atol([tolerance])
        .rhs(|y: &[f64], _: &[f64], _: f64, dy: &mut [f64]| motion.derivative(y, dy))
        .init(|_: &[f64], _: f64, y: &mut [f64]| y.copy_from_slice(&start), start.len())
        .build()
        .map_err(said)?;
    let mut solver = problem.tsit45().map_err(said)?;
    solver.set_stop_time(until).map_err(said)?;
    loop {
        let reason = solver.step().map_err(said)?;
        if let Some(see) = &mut see {
            see(solver.state().y.batch_as_slice(0));
        }
        if matches!(reason, OdeSolverStopReason::TstopReached) {
            return Ok(());
        }
    }
}

fn job(question: &Question) -> Result<Job, String> {
    let wanted = (question.until, parts(question.setting)?.1);
    with_motion!(question.system, motion, _N =>
        Job::new(motion, move |motion, see| run(motion, wanted, see)),
        Job::new(motion, move |motion, see| run(motion, wanted, see))
    )
}
