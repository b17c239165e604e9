//! What solvers of ordinary differential equations have in common here: a run whose steps can be seen, so that energy errors are
//! measured, and that is timed without being seen. Steps and not points between them: an interpolation may be worse than they are.

use crate::clock::{self, Clock};
use crate::conversation::{Contestant, Question};
use crate::motion::Motion;

/// Is shown the states at the ends of steps, if anybody is.
pub type See<'a> = Option<&'a mut dyn FnMut(&[f64])>;

/// A run from start to end.
type Solve = Box<dyn Fn(See<'_>) -> Result<(), String>>;

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
        solve: impl Fn(&M, See<'_>) -> Result<(), String> + 'static,
    ) -> Self {
        let initial = motion.energy(&motion.start());
        let copy = motion.clone();
        Self {
            solve: Box::new(move |see| solve(&copy, see)),
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
        (job.solve)(Some(&mut |y: &[f64]| {
            let error = (((job.energy)(y) - job.initial) / job.initial).abs();
            // a number that is none is an error without bounds
            worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
        }))?;
        Ok(worst)
    }

    fn time(&self, job: &mut Job, clock: Clock, budget: f64) -> Result<f64, String> {
        clock::typical(clock, budget, || (), |()| (job.solve)(None))
    }
}
