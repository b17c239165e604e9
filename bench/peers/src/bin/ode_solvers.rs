//! The crate `ode_solvers`. Settings: `dop853:TOLERANCE`.

use leastaction_bench_peers::conversation::{Question, answer, parts};
use leastaction_bench_peers::motion::Motion;
use leastaction_bench_peers::solver::{Job, Solver};
use leastaction_bench_peers::with_motion;
use ode_solvers::dop_shared::OutputType;
use ode_solvers::{DVector, Dop853, SVector, System};

fn main() {
    answer(&Solver(job));
}

/// Equations of motion as the crate wants them.
struct Equations<M>(M);

impl<M: Motion, const N: usize> System<f64, SVector<f64, N>> for Equations<M> {
    fn system(&self, _: f64, y: &SVector<f64, N>, dy: &mut SVector<f64, N>) {
        self.0.derivative(y.as_slice(), dy.as_mut_slice());
    }
}

impl<M: Motion> System<f64, DVector<f64>> for Equations<M> {
    fn system(&self, _: f64, y: &DVector<f64>, dy: &mut DVector<f64>) {
        self.0.derivative(y.as_slice(), dy.as_mut_slice());
    }
}

/// A run; it keeps the states of all steps, since without that it would compute what it needs to interpolate.
macro_rules! solve {
    ($vector:ty, $until:expr, $tolerance:expr) => {
        move |motion, see| {
            let start = <$vector>::from_vec(motion.start());
            let mut solver = Dop853::from_param(
                Equations(motion.clone()),
                0.0,
                $until,
                $until,
                start,
                $tolerance,
                $tolerance,
                0.9,
                0.0,
                0.333,
                6.0,
                $until,
                0.0,
                u32::MAX,
                u32::MAX,
                OutputType::Sparse,
            );
            solver.integrate().map_err(|error| error.to_string())?;
            if let Some(see) = see {
                solver.y_out().iter().for_each(|y| see(y.as_slice()));
            }
            Ok(())
        }
    };
}

fn job(question: &Question) -> Result<Job, String> {
    let (until, tolerance) = (question.until, parts(question.setting)?.1);
    with_motion!(question.system, motion, N =>
        Job::new(motion, solve!(SVector<f64, N>, until, tolerance)),
        Job::new(motion, solve!(DVector<f64>, until, tolerance))
    )
}
