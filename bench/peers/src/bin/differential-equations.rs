//! The crate `differential-equations`. Settings: `dop853:TOLERANCE`, `rkv877e:TOLERANCE`, `rkv988e:TOLERANCE`: its explicit methods
//! of the highest orders.

use differential_equations::prelude::{
    ControlFlag, Error, ExplicitRungeKutta, IVP, Interpolation, ODE, Solout, Solution,
};
use differential_equations::traits::State;
use leastaction_bench_peers::conversation::{Question, answer, parts};
use leastaction_bench_peers::motion::Motion;
use leastaction_bench_peers::solver::{Job, See, Solver};
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

/// Shows the states of steps, and keeps none.
struct Show<'a>(See<'a>);

impl<Y: State<f64> + AsRef<[f64]>> Solout<f64, Y> for Show<'_> {
    fn solout<I: Interpolation<f64, Y> + ?Sized>(
        &mut self,
        _: f64,
        _: f64,
        y: &Y,
        _: &Y,
        _: &mut I,
        _: &mut Solution<f64, Y>,
    ) -> ControlFlag<f64, Y> {
        if let Some(see) = &mut self.0 {
            see(y.as_ref());
        }
        ControlFlag::Continue
    }
}

fn run<M: Motion, Y: State<f64> + AsRef<[f64]>>(
    motion: &M,
    start: Y,
    (until, method, tolerance): (f64, &str, f64),
    see: See,
) -> Result<(), String>
where
    Equations<M>: ODE<f64, Y>,
{
    let equations = Equations(motion.clone());
    let problem = IVP::ode(&equations, 0.0, until, start).solout(Show(see));
    macro_rules! with {
        ($method:expr) => {
            problem.method($method.rtol(tolerance).atol(tolerance).max_steps(usize::MAX)).solve().map(drop)
        };
    }
    let solved = match method {
        "dop853" => with!(ExplicitRungeKutta::dop853()),
        "rkv877e" => with!(ExplicitRungeKutta::rkv877e()),
        "rkv988e" => with!(ExplicitRungeKutta::rkv988e()),
        other => return Err(format!("`{other}` is not one of its methods here")),
    };
    solved.map_err(said)
}

/// Its message, without the state: a chain's is long.
fn said<Y: State<f64>>(error: Error<f64, Y>) -> String {
    match error {
        Error::BadInput { msg } => format!("bad input: {msg}"),
        Error::MaxSteps { t, .. } => format!("too many steps at t = {t}"),
        Error::StepSize { t, .. } => format!("the step became too small at t = {t}"),
        Error::Stiffness { t, .. } => format!("it found the system stiff at t = {t}"),
        _ => "an error that has nothing to do with ordinary differential equations".to_owned(),
    }
}

fn job(question: &Question) -> Result<Job, String> {
    let (name, tolerance) = parts(question.setting)?;
    let (until, name) = (question.until, name.to_owned());
    with_motion!(question.system, motion, N =>
        Job::new(motion, move |motion, see| {
            let mut start = [0.0; N];
            start.copy_from_slice(&motion.start());
            run(motion, start, (until, &name, tolerance), see)
        }),
        Job::new(motion, move |motion, see| {
            run(motion, motion.start(), (until, &name, tolerance), see)
        })
    )
}
