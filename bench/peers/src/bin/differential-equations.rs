//! The crate `differential-equations`. Settings: `dop853:TOLERANCE`, `rkv98e:TOLERANCE` and others of its explicit methods.

use differential_equations::prelude::{ExplicitRungeKutta, IVP, ODE};
use differential_equations::traits::State;
use leastaction_bench_peers::conversation::{Question, answer, parts};
use leastaction_bench_peers::motion::Motion;
use leastaction_bench_peers::solver::{Job, Solver};
use leastaction_bench_peers::with_motion;

fn main() {
    answer(&Solver(job));
}

/// Equations of motion as the crate wants them.
struct Equations<M>(M);

impl<M: Motion, const N: usize> ODE<f64, [f64; N]> for Equations<M> {
    fn diff(&self, _: f64, y: &[f64; N], dy: &mut [f64; N]) {
        self.0.derivative(y, dy);
    }
}

impl<M: Motion> ODE<f64, Vec<f64>> for Equations<M> {
    fn diff(&self, _: f64, y: &Vec<f64>, dy: &mut Vec<f64>) {
        self.0.derivative(y, dy);
    }
}

fn run<M: Motion, Y: State<f64> + AsRef<[f64]>>(
    motion: &M,
    start: Y,
    (until, method, tolerance): (f64, &str, f64),
    points: usize,
    see: &mut dyn FnMut(&[f64]),
) -> Result<(), String>
where
    Equations<M>: ODE<f64, Y>,
{
    let equations = Equations(motion.clone());
    let problem = IVP::ode(&equations, 0.0, until, start).even(until / points.max(1) as f64);
    macro_rules! with {
        ($method:expr) => {
            problem.method($method.rtol(tolerance).atol(tolerance).max_steps(usize::MAX)).solve()
        };
    }
    let solution = match method {
        "dop853" => with!(ExplicitRungeKutta::dop853()),
        "rkv87e" => with!(ExplicitRungeKutta::rkv87e()),
        "rkv98e" => with!(ExplicitRungeKutta::rkv98e()),
        other => return Err(format!("`{other}` is not one of its methods here")),
    };
    let solution = solution.map_err(|error| error.to_string())?;
    solution.y.iter().for_each(|y| see(y.as_ref()));
    Ok(())
}

fn job(question: &Question) -> Result<Job, String> {
    let (name, tolerance) = parts(question.setting)?;
    let (until, name) = (question.until, name.to_owned());
    with_motion!(question.system, motion, N =>
        Job::new(motion, move |motion, points, see| {
            let mut start = [0.0; N];
            start.copy_from_slice(&motion.start());
            run(motion, start, (until, &name, tolerance), points, see)
        }),
        Job::new(motion, move |motion, points, see| {
            run(motion, motion.start(), (until, &name, tolerance), points, see)
        })
    )
}
