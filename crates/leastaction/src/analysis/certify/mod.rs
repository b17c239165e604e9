//! A certificate: what a method does to a user's own system, measured on it, with a verdict for every property.
//!
//! [`certify`] takes a checked run ([`Plan`]) and measures in this order: the run once (`trail`), L as it was typed (`lagrangian`), the order where its steps are
//! least accurate (`order`), symplecticity and reversibility (`defects`), momenta and energy (`conserved`), the solver and how
//! far it reaches (`solver`), frequencies, mass matrix (`terrain`) and the dominant period (`spectrum`), and what would reach a
//! given energy error at the least cost (`recommend`). All of it runs the stepper that simulates. Work is bounded by counts, not
//! by clocks, so that a certificate is the same on every machine. Nothing is invented: what could not be measured says so.
//!
//! [`pick()`] uses the same search to give a run with a tolerance its method and step.

mod attempts;
mod certificate;
mod conserved;
mod cost;
mod defects;
mod lagrangian;
mod order;
mod page;
mod pick;
mod recommend;
mod search;
mod single_steps;
mod sizes;
mod solver;
mod spectrum;
mod terrain;
mod trail;

pub use certificate::{
    Candidate, Certificate, Check, DefectFound, EnergyFound, FrequencyFound, LagrangianFound, MassFound,
    MomentumFound, OrderFound, PeriodFound, Recommendation, RunFound, SolverFound, Verdict,
};

pub use attempts::{Attempts, simulate_within};
pub use pick::{Measure, Picked, pick, pick_for};

use super::Watch;
use crate::error::{Error, Result};
use crate::method::{Method, Scheme};
use crate::simulate::{Outcome, Plan};
use crate::step::State;
use crate::system::Problem;
use single_steps::SingleSteps;
use sizes::Sizes;
use trail::Trail;

/// What is wanted of a certificate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The relative energy error for which a method and a step are recommended.
    pub energy_error: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { energy_error: 1e-8 }
    }
}

/// The work of the main run, in nanoseconds as estimated: half a second.
const RUN_WORK: f64 = 5e8;
/// However large the system, so many steps are looked at.
const LEAST_STEPS: u64 = 32;

/// What is measured, and who watches.
pub(super) struct Subject<'a> {
    pub(super) plan: &'a Plan,
    pub(super) watch: Watch<'a>,
}

impl Subject<'_> {
    /// How long a step takes, in nanoseconds, estimated from lengths and sizes.
    pub(super) fn work(&self, method: &Method) -> f64 {
        let system = &self.plan.problem.system;
        let (model, n) = (&system.model, system.n() as f64);
        let (gradient, hessian) = (model.gradient_tape().len() as f64, model.hessian_tape().len() as f64);
        if let Scheme::Splitting(splitting) = method.scheme {
            return splitting.stages as f64 * (gradient + 4.0 * n);
        }
        // with 3 corrections a step; explicit methods solve for velocities instead
        let s = method.degree().unwrap_or(1) as f64;
        let band = s * (system.structure().ordering.bandwidth as f64 + 1.0).min(n);
        (s + 1.0) * (2.0 * hessian + 6.0 * gradient + 20.0 * n * s) + 0.5 * n * s * band * (band + 10.0)
    }

    /// So many steps fit into an amount of work.
    pub(super) fn affordable(&self, method: &Method, work: f64) -> u64 {
        ((work / self.work(method)) as u64).max(LEAST_STEPS)
    }

    /// The time after so many steps of the run.
    pub(super) fn time(&self, steps: u64) -> f64 {
        self.plan.problem.t0 + steps as f64 * self.plan.step
    }

    /// The problem started at a state of the run.
    pub(super) fn from(&self, state: &State<f64>) -> Problem<f64> {
        let problem = &self.plan.problem;
        let autonomous = problem.system.structure().autonomous;
        Problem {
            // the digits of a late time are of no use to a system that does not know it
            t0: if autonomous { 0.0 } else { self.time(state.steps) },
            q0: state.q.clone(),
            p0: state.p.clone(),
            ..problem.clone()
        }
    }

    pub(super) fn interrupted(&self) -> bool {
        (self.watch)(0).is_break()
    }

    /// A time with its unit.
    pub(super) fn with_unit(&self, time: f64) -> String {
        format!("{} {}", digits(time), self.plan.problem.system.time_unit).trim_end().to_owned()
    }
}

/// About how many steps will be taken, for a progress bar.
pub fn steps(plan: &Plan) -> u64 {
    let subject = Subject { plan, watch: &|_| std::ops::ControlFlow::Continue(()) };
    let main = plan.steps.min(subject.affordable(&plan.method, RUN_WORK / 3.0));
    3 * main + recommend::steps(&subject)
}

/// Measures a run. Only what makes every measurement impossible is an error; a run that fails gets a certificate that says so.
pub fn certify(plan: &Plan, options: &Options, watch: Watch<'_>) -> Result<Certificate> {
    if !(options.energy_error.is_finite() && options.energy_error > 0.0) {
        let message = format!("an energy error of {} cannot be asked for; try 1e-8", options.energy_error);
        return Err(Error::BadStudy { message });
    }
    let subject = Subject { plan, watch };
    let system = &plan.problem.system;
    let steps = plan.steps.min(subject.affordable(&plan.method, RUN_WORK / 3.0));
    let trail = Trail::new(&subject, steps);
    let sizes = Sizes::new(&subject, &trail);
    let single = SingleSteps::new(&subject, &trail, &sizes);
    let terrain = terrain::Terrain::new(&subject, &trail);
    let period = spectrum::period(&subject, &trail);
    let mut notes = plan.notes.clone();
    if plan.precision.is_some() {
        notes.push(
            "measured with 64-bit numbers, the order with more where needed; precision is not used"
                .to_owned(),
        );
    }
    let certificate = Certificate {
        system: system.name.clone(),
        title: system.title.clone(),
        method: plan.method.name.clone(),
        step: plan.step,
        steps: plan.steps,
        t_end: subject.time(plan.steps),
        time_unit: system.time_unit.clone(),
        verdict: Verdict::Pass,
        failed: Vec::new(),
        run: run(&subject, &trail, &single),
        lagrangian: lagrangian::lagrangian(&subject, &trail),
        order: order::order(&subject, &trail, &sizes, &single, &terrain),
        symplecticity: defects::symplecticity(&subject, &trail, &sizes, &terrain),
        reversibility: defects::reversibility(&subject, &trail, &sizes),
        momenta: conserved::momenta(&subject, &trail, &sizes),
        energy: conserved::energy(&subject, &trail, &single),
        solver: solver::solver(&subject, &trail),
        frequency: terrain.frequency(&subject),
        mass: terrain.mass(&subject),
        recommendation: recommend::recommend(&subject, &trail, &terrain, options, period.measured.period),
        period,
        notes,
    };
    Ok(certificate.conclude())
}

/// A step that differs from its two halves by this part of the motion fails, and by this one deserves a word. Parts of what the motion
/// itself is, so they need no scale: after 30 such steps nothing of it need be left, or after 300.
const WRONG: f64 = 3e-2;
const COARSE: f64 = 3e-3;

/// Whether the run gets to its end, with steps that resolve it.
fn run(subject: &Subject<'_>, trail: &Trail, single: &SingleSteps) -> Check<RunFound> {
    let worst = single.worst().filter(|(_, error)| error.is_finite());
    let found = RunFound {
        steps_measured: trail.steps,
        largest_step_error: worst.map(|(_, error)| error),
        largest_step_error_at: worst.map(|(step, _)| subject.time(step)),
    };
    let all = subject.plan.steps;
    let least = match worst {
        Some((step, error)) if error > 0.0 => {
            let at = subject.with_unit(subject.time(step));
            format!("; a step and its two halves differ by at most {error:.1e}, at t = {at}")
        }
        _ => String::new(),
    };
    match &trail.outcome {
        Outcome::Failed(failure) => {
            let text = failure.to_string();
            let (first, rest) = text.split_once('\n').unwrap_or((&text, "try a smaller step"));
            Check::new(Verdict::Fail, format!("stops {first}"), found).advise(rest.trim().to_owned())
        }
        Outcome::Interrupted => {
            Check::new(Verdict::NotMeasured, format!("interrupted after {} steps", trail.steps), found)
        }
        _ => {
            let finding = if trail.steps < all {
                format!("the first {} of {all} steps were looked at{least}", trail.steps)
            } else {
                format!("all {all} steps were solved{least}")
            };
            match worst.map_or(0.0, |(_, error)| error) {
                error if error > WRONG => Check::new(Verdict::Fail, finding, found).advise(
                    "a step that differs so much from its halves misses the motion\ntry a smaller step",
                ),
                error if error > COARSE => Check::new(Verdict::Warn, finding, found)
                    .advise("single steps are that coarse; try a smaller step or a method of higher order"),
                _ => Check::new(Verdict::Pass, finding, found),
            }
        }
    }
}

/// A number with four digits.
pub(super) fn digits(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let rounded: f64 = format!("{x:.3e}").parse().unwrap_or(x);
    crate::error::number(rounded)
}

/// A number and its limit in words, with as many digits as it takes to see which is larger.
pub(super) fn compared(number: f64, limit: f64) -> [String; 2] {
    let words = |digits: usize| [number, limit].map(|x| format!("{x:.digits$e}"));
    let shown = |words: &[String; 2]| {
        let [number, limit] = [0, 1].map(|i| words[i].parse().unwrap_or(f64::NAN));
        number <= limit
    };
    (1..=17).map(words).find(|words| shown(words) == (number <= limit)).unwrap_or_else(|| words(17))
}

/// Does the same to every item, on all cores. Results are in the order of the items.
pub(super) fn each<T: Sync, U: Send>(items: &[T], work: impl Fn(&T) -> U + Sync) -> Vec<U> {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let run = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = work(item);
            if let Ok(mut done) = done.lock() {
                done.push((index, result));
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    std::thread::scope(|scope| {
        for _ in 1..cores {
            scope.spawn(run);
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::compared;

    #[test]
    fn what_is_printed_never_contradicts_the_comparison() {
        let limits = [2.22e-14, 1e-9, 1.0, 3.05e7];
        for (number, limit) in limits.into_iter().flat_map(|x| {
            [-0.3, -1e-2, -1e-4, -1e-9, -3e-16, 0.0, 3e-16, 1e-9, 1e-4, 1e-2, 0.3]
                .map(|part| (x * (1.0 + part), x))
        }) {
            let [shown, shown_limit] = compared(number, limit);
            let [a, b]: [f64; 2] = [&shown, &shown_limit].map(|x| x.parse().unwrap());
            assert_eq!(a <= b, number <= limit, "{number:e} {limit:e}: {shown} {shown_limit}");
        }
        assert_eq!(compared(2.1e-14, 2.22e-14), ["2.1e-14", "2.2e-14"]);
        assert_eq!(compared(2.231e-14, 2.22e-14), ["2.23e-14", "2.22e-14"]);
        assert_eq!(compared(f64::NAN, 1.0)[0], "NaN");
    }
}
