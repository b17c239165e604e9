//! The crate `russell_ode`. Settings: `dopri8:TOLERANCE`.

use leastaction_bench_peers::conversation::{Question, answer, parts};
use leastaction_bench_peers::motion::Motion;
use leastaction_bench_peers::solver::{Job, See, Solver};
use leastaction_bench_peers::with_motion;
use russell_lab::Vector;
use russell_ode::prelude::*;

fn main() {
    answer(&Solver(job));
}

fn run<M: Motion + Send + Sync>(motion: &M, (until, tolerance): (f64, f64), see: See) -> Result<(), String> {
    let start = motion.start();
    let system = System::new(start.len(), |dy: &mut Vector, _: f64, y: &Vector, _: &mut NoArgs| {
        motion.derivative(y.as_data(), dy.as_mut_data());
        Ok(())
    });
    let mut params = Params::new(Method::DoPri8);
    params.step.n_step_max = usize::MAX;
    params.set_tolerances(tolerance, tolerance, None)?;
    let mut solver = OdeSolver::new(params, system)?;
    let mut y = Vector::from(&start);
    let Some(see) = see else { return Ok(solver.solve(&mut y, 0.0, until, None, &mut 0, None)?) };
    let components: Vec<usize> = (0..start.len()).collect();
    let mut out = Output::new();
    out.set_step_recording(&components);
    solver.solve(&mut y, 0.0, until, None, &mut 0, Some(&mut out))?;
    for k in 0..out.step_x().len() {
        let state: Vec<f64> = components.iter().map(|m| out.step_y(*m)[k]).collect();
        see(&state);
    }
    Ok(())
}

fn job(question: &Question) -> Result<Job, String> {
    let wanted = (question.until, parts(question.setting)?.1);
    with_motion!(question.system, motion, _N =>
        Job::new(motion, move |motion, see| run(motion, wanted, see)),
        Job::new(motion, move |motion, see| run(motion, wanted, see))
    )
}
