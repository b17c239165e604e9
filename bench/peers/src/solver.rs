//! What solvers of ordinary differential equations have in common here: a run that can be seen at some points, whose energy
//! errors are measured, and that is timed without being seen.

use crate::clock;
use crate::conversation::{Contestant, Question};
use crate::motion::Motion;

/// Errors are looked for at so many points of a run.
const POINTS: usize = 1000;

/// A run from start to end that shows its states at a number of points, or at no point if that is zero.
type Solve = Box<dyn Fn(usize, &mut dyn FnMut(&[f64])) -> Result<(), String>>;

/// A run that can be repeated, with the energy of its states.
pub struct Job {
    solve: Solve,
    energy: Box<dyn Fn(&[f64]) -> f64>,
    initial: f64,
}

impl Job {
    /// A job of some equations of motion.
    pub fn new<M: Motion + 'static>(
        motion: M,
        solve: impl Fn(&M, usize, &mut dyn FnMut(&[f64])) -> Result<(), String> + 'static,
    ) -> Self {
        let initial = motion.energy(&motion.start());
        let copy = motion.clone();
        Self {
            solve: Box::new(move |points, see| solve(&copy, points, see)),
            energy: Box::new(move |y| motion.energy(y)),
            initial,
        }
    }
}

/// A solver: makes jobs.
pub struct Solver(pub fn(&Question) -> Result<Job, String>);

impl Contestant for Solver {
    type Ready = Job;

    fn ready(&self, question: &Question) -> Result<Job, String> {
        (self.0)(question)
    }

    fn error(&self, job: &mut Job) -> Result<f64, String> {
        let mut worst = 0.0_f64;
        (job.solve)(POINTS, &mut |y| {
            let error = (((job.energy)(y) - job.initial) / job.initial).abs();
            // a number that is none is an error without bounds
            worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
        })?;
        Ok(worst)
    }

    fn time(&self, job: &mut Job, budget: f64) -> Result<f64, String> {
        let mut outcome = Ok(());
        let best = clock::shortest(budget, || (), |()| outcome = (job.solve)(0, &mut |_| ()));
        outcome.map(|()| best)
    }
}
