//! What a certificate holds: one [`Check`] for every property, each with its verdict, a sentence and the numbers behind it.
//!
//! Everything here is data, serialised as it is for `--json`; `page` prints it.

use serde::Serialize;
use std::fmt;

/// What was found out about a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// As it should be.
    Pass,
    /// As it should be, but the user should know something.
    Warn,
    /// Not as it should be.
    Fail,
    /// The system or the method has no such property.
    NotApplicable,
    /// It could not be found out; the finding says why.
    NotMeasured,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "PASS",
            Self::Warn => "WARN",
            Self::Fail => "FAIL",
            Self::NotApplicable => "-",
            Self::NotMeasured => "?",
        })
    }
}

/// A property with its verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Check<T> {
    /// The verdict.
    pub verdict: Verdict,
    /// What was found, in words.
    pub finding: String,
    /// What it means and what to try, where the verdict is not a plain pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// The numbers.
    #[serde(flatten)]
    pub measured: T,
}

impl<T> Check<T> {
    pub(super) fn new(verdict: Verdict, finding: impl Into<String>, measured: T) -> Self {
        Self { verdict, finding: finding.into(), advice: None, measured }
    }

    pub(super) fn advise(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }
}

/// The run itself.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunFound {
    /// Steps that were looked at.
    pub steps_measured: u64,
    /// The largest difference between a step and two of half its size, relative to the size of each coordinate and momentum over the run.
    pub largest_step_error: Option<f64>,
    /// The time at which that step starts.
    pub largest_step_error_at: Option<f64>,
}

/// Whether L as it was typed has the values of the L that runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LagrangianFound {
    /// The largest difference of L and of the energy, in parts of the sizes of their terms.
    pub difference: f64,
    /// When.
    pub at: f64,
}

/// The order, from errors against a computed reference.
#[derive(Clone, Debug, Default, Serialize)]
pub struct OrderFound {
    /// The order of the method.
    pub expected: usize,
    /// The order that the errors of q show.
    pub q: Option<f64>,
    /// The order that the errors of p show.
    pub p: Option<f64>,
    /// The time at which the stretch starts.
    pub from: Option<f64>,
    /// Its length.
    pub length: Option<f64>,
    /// Step sizes.
    pub steps: Vec<f64>,
    /// The largest error of q with each step, each coordinate relative to its size over the run.
    pub errors_q: Vec<f64>,
    /// The largest error of p with each step, likewise.
    pub errors_p: Vec<f64>,
    /// Digits of the runs; none for 64-bit numbers.
    pub precision: Option<usize>,
    /// What was compared with.
    pub reference: String,
}

/// A defect that is rounding if the method has the property.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DefectFound {
    /// The largest defect of one step.
    pub defect: Option<f64>,
    /// What rounding explains.
    pub allowed: f64,
    /// The time at which it was found.
    pub at: Option<f64>,
    /// At so many states along the run.
    pub states: usize,
    /// The step with which it was found.
    pub step: f64,
}

/// A momentum that should not change.
#[derive(Clone, Debug, Serialize)]
pub struct MomentumFound {
    /// Its name.
    pub name: String,
    /// At the start.
    pub initial: f64,
    /// The largest change.
    pub largest_change: f64,
    /// What rounding explains.
    pub allowed: f64,
}

/// The energy over the run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EnergyFound {
    /// Whether the Lagrangian conserves it.
    pub conserved: bool,
    /// The largest relative error.
    pub largest: Option<f64>,
    /// The change of the mean relative error over the steps measured.
    pub drift: Option<f64>,
    /// Its standard error.
    pub uncertainty: Option<f64>,
    /// The same per unit of time.
    pub slope: Option<f64>,
    /// What rounding explains.
    pub rounding: Option<f64>,
    /// Steps measured.
    pub steps: u64,
}

/// How the step equations were solved.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SolverFound {
    /// Corrections per step, on average.
    pub iterations_mean: Option<f64>,
    /// Corrections in the worst step.
    pub iterations_max: Option<u32>,
    /// How much smaller a correction is than the one before it: the worst of a step, on (geometric) average over the steps.
    pub contraction: Option<f64>,
    /// The largest step that could be solved from every state tried.
    pub largest_step: Option<f64>,
    /// Whether larger ones fail; otherwise none was found that does.
    pub limited: bool,
}

/// How fast the motion is, and whether the step follows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FrequencyFound {
    /// The largest rate of the linearised motion over the run, in radians per unit of time.
    pub fastest: Option<f64>,
    /// Its median over the run.
    pub median: Option<f64>,
    /// When it is largest.
    pub at: Option<f64>,
    /// The largest rate times the step.
    pub omega_h: Option<f64>,
    /// The rate at which forces change with the time alone, in radians per unit of time; none if they do not.
    pub drive: Option<f64>,
    /// Up to which ωh the method keeps oscillations bounded; none if there is no limit.
    pub stability_limit: Option<f64>,
}

/// The dominant period.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PeriodFound {
    /// The period.
    pub period: Option<f64>,
    /// Steps in it.
    pub steps: Option<f64>,
    /// Where that is nearly a small whole or half number: another step, a little larger, which is none.
    pub other_step: Option<f64>,
    /// The largest energy errors with the step of the run and with the other, over the same time.
    pub energy_errors: Option<[f64; 2]>,
}

/// The mass matrix L_vv over the run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MassFound {
    /// Its smallest eigenvalue, each velocity in the unit that makes its largest diagonal entry 1.
    pub smallest: Option<f64>,
    /// When.
    pub at: Option<f64>,
    /// The velocities that carry the least energy then, as a combination.
    pub direction: Option<String>,
}

/// A method with a step.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// The method.
    pub method: String,
    /// The step.
    pub step: f64,
    /// Steps to the end of the run.
    pub steps: u64,
    /// Evaluations of the derivatives of L for the whole run.
    pub evaluations: f64,
    /// The counted cost of the whole run, by which candidates are sorted; only ratios mean something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The largest relative energy error that was measured with it.
    pub energy_error: f64,
    /// Up to which time.
    pub measured_until: f64,
}

/// What to use for an energy error.
#[derive(Clone, Debug, Serialize)]
pub struct Recommendation {
    /// The relative energy error asked for.
    pub energy_error: f64,
    /// What the run itself takes.
    pub own: Option<Candidate>,
    /// What reaches it, the cheapest first.
    pub candidates: Vec<Candidate>,
    /// What has to be said about it.
    pub notes: Vec<String>,
}

/// What was measured on a system, with its parameters, its initial state, a method and a step.
#[derive(Clone, Debug, Serialize)]
pub struct Certificate {
    /// Name of the system.
    pub system: String,
    /// Its name, as printed.
    #[serde(skip)]
    pub title: String,
    /// Name of the method.
    pub method: String,
    /// Step size.
    pub step: f64,
    /// Steps of the run.
    pub steps: u64,
    /// The time at its end.
    pub t_end: f64,
    /// The unit of time.
    pub time_unit: String,
    /// Fail if any check failed.
    pub verdict: Verdict,
    /// Names of the checks that failed.
    pub failed: Vec<String>,
    /// Whether the run gets to its end.
    pub run: Check<RunFound>,
    /// Whether L is as it was typed, where coordinates or time were taken out of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lagrangian: Option<Check<LagrangianFound>>,
    /// The order in q and p.
    pub order: Check<OrderFound>,
    /// Whether a step is symplectic.
    pub symplecticity: Check<DefectFound>,
    /// Whether a step back undoes a step.
    pub reversibility: Check<DefectFound>,
    /// Whether momenta are conserved.
    pub momenta: Vec<Check<MomentumFound>>,
    /// Whether the energy stays.
    pub energy: Check<EnergyFound>,
    /// How the step equations are solved.
    pub solver: Check<SolverFound>,
    /// Whether the step follows the motion.
    pub frequency: Check<FrequencyFound>,
    /// Whether the step is a simple fraction of the period.
    pub period: Check<PeriodFound>,
    /// Whether velocities follow from momenta.
    pub mass: Check<MassFound>,
    /// What to use instead.
    pub recommendation: Recommendation,
    /// What the reader should know.
    pub notes: Vec<String>,
}

impl Certificate {
    /// The rows of the page: name, verdict, finding, advice.
    pub fn rows(&self) -> Vec<(&str, Verdict, &str, Option<&str>)> {
        fn row<'a, T>(name: &'a str, c: &'a Check<T>) -> (&'a str, Verdict, &'a str, Option<&'a str>) {
            (name, c.verdict, &c.finding, c.advice.as_deref())
        }
        let mut rows = vec![row("run", &self.run)];
        rows.extend(self.lagrangian.iter().map(|check| row("Lagrangian", check)));
        rows.extend([
            row("order", &self.order),
            row("symplecticity", &self.symplecticity),
            row("reversibility", &self.reversibility),
        ]);
        rows.extend(self.momenta.iter().map(|check| row("momentum", check)));
        rows.extend([
            row("energy", &self.energy),
            row("solver", &self.solver),
            row("frequency", &self.frequency),
            row("period", &self.period),
            row("mass matrix", &self.mass),
        ]);
        rows
    }

    /// Names what failed, and fails if anything did.
    pub(super) fn conclude(mut self) -> Self {
        let failed = self.rows().into_iter().filter(|row| row.1 == Verdict::Fail);
        let mut names: Vec<String> = failed.map(|row| row.0.to_owned()).collect();
        names.dedup();
        self.verdict = if names.is_empty() { Verdict::Pass } else { Verdict::Fail };
        self.failed = names;
        self
    }
}
