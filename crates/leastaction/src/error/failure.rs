//! A run that stopped on its way: where, in which state, why, and what would have worked.

use super::{combination, list_state, number, short};
use serde::Serialize;
use std::fmt;

/// A computation that stopped on its way: where, in which state, and why.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The step that failed, counted from 1; 0 is the initial state.
    pub step: u64,
    /// The time at which it started.
    pub time: f64,
    /// Names of the coordinates.
    pub coordinates: Vec<String>,
    /// The coordinates at that time.
    pub q: Vec<f64>,
    /// The momenta at that time.
    pub p: Vec<f64>,
    /// Why.
    pub cause: Cause,
    /// What was tried from there to find out what would have worked; nothing where that would not help.
    pub tried: Vec<Trial>,
}

/// Something else that was tried from the state before the step that failed, over the same time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// The method.
    pub method: String,
    /// The size of its steps.
    pub step: f64,
    /// How many of them the step that failed was divided into.
    pub parts: u32,
    /// Whether it got through, and kept an energy that is conserved.
    pub works: bool,
}

/// Why a step failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// The step equations were not solved.
    NotConverged {
        /// How many corrections were tried.
        iterations: u32,
        /// The coordinate with the largest last correction.
        coordinate: usize,
        /// That correction, relative to the size of the coordinate.
        correction: f64,
        /// The correction at which it would have been accepted.
        tolerance: f64,
        /// The step size.
        step_size: f64,
    },
    /// L_vv has no inverse: momenta do not determine velocities.
    SingularMass {
        /// The combination of velocities that carries no kinetic energy, one factor per coordinate.
        direction: Vec<f64>,
    },
    /// An entry of L_vv is infinite or undefined.
    MassNotFinite {
        /// The first coordinate concerned.
        coordinate: usize,
    },
    /// The matrix of the step equations has no inverse.
    SingularStep {
        /// The coordinate at which the elimination broke down.
        coordinate: usize,
        /// The step size.
        step_size: f64,
    },
    /// The method is not for this Lagrangian.
    DoesNotFit {
        /// What in the Lagrangian prevents it.
        reason: String,
    },
    /// A number became infinite or undefined.
    NotFinite {
        /// The first coordinate concerned; none if it is only the energy.
        coordinate: Option<usize>,
        /// The step size.
        step_size: f64,
    },
    /// An energy that is conserved changed, in one step or by and by, by many times what the motion has of it.
    EnergyJump {
        /// The energy at the start.
        initial: f64,
        /// The energy before the step.
        before: f64,
        /// The energy after it.
        after: f64,
        /// What the motion has: |E0|, or a kinetic energy.
        scale: f64,
        /// The step size.
        step_size: f64,
    },
    /// The motion grew without bound, as it does with such steps of the method in a linear system.
    BeyondStability {
        /// What grows, and with what the method does not let it.
        reason: String,
        /// A step below which nothing grows.
        stable: f64,
        /// The step size.
        step_size: f64,
        /// What became of it in this step.
        met: Box<Cause>,
    },
    /// The formula of an event gave no finite number.
    EventNotFinite {
        /// The name of the event.
        event: String,
        /// What the formula gave.
        value: f64,
        /// When.
        time: f64,
    },
    /// Velocities could not be found for the momenta of a Lagrangian that is not quadratic in them.
    NoVelocity {
        /// How many corrections were tried.
        iterations: u32,
        /// The coordinate with the largest last correction.
        coordinate: usize,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            0 => write!(f, "at the initial state: ")?,
            step => write!(f, "in step {step}, from t = {}: ", self.time)?,
        }
        self.write_cause(&self.cause, f)?;
        let momenta: Vec<String> = self.coordinates.iter().map(|n| format!("p_{n}")).collect();
        write!(f, "\n  state: {}", list_state(&self.coordinates, &self.q))?;
        write!(f, "\n         {}", list_state(&momenta, &self.p))?;
        write!(f, "\n  try {}", self.advice())?;
        if self.tried.is_empty() { Ok(()) } else { write!(f, "\n  {}", self.findings()) }
    }
}

/// What to try where a step is too large for the method.
pub(crate) fn smaller_than(stable: f64) -> String {
    format!("a step below {stable}, or `midpoint` or another Gauss method, which are stable for every step")
}

impl Failure {
    fn write_cause(&self, cause: &Cause, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |i: usize| self.coordinates.get(i).map_or("?", String::as_str);
        match cause {
            Cause::NotConverged { iterations, coordinate, correction, tolerance, .. } => write!(
                f,
                "the step equations did not converge: after {iterations} corrections the last one still changed \
                 `{}` by {correction:.1e} of its size (accepted below {tolerance:.1e})",
                name(*coordinate)
            ),
            Cause::SingularMass { direction } => write!(
                f,
                "the mass matrix L_vv is singular: the velocity combination {} carries no kinetic energy",
                combination(&self.coordinates, direction)
            ),
            Cause::MassNotFinite { coordinate } => {
                write!(f, "the mass matrix L_vv is not finite at `{}`", name(*coordinate))
            }
            Cause::SingularStep { coordinate, .. } => {
                write!(f, "the matrix of the step equations is singular at `{}`", name(*coordinate))
            }
            Cause::DoesNotFit { reason } => write!(f, "the method does not fit the system: {reason}"),
            Cause::NotFinite { coordinate, .. } => {
                let what = coordinate.map_or_else(|| "the energy".to_owned(), |i| format!("`{}`", name(i)));
                write!(f, "{what} became infinite or undefined")
            }
            Cause::EnergyJump { initial, before, after, scale, .. } => {
                let (step, all) = ((after - before).abs(), (after - initial).abs());
                let (went, from, has_left) = match step >= 0.5 * all {
                    true => ("jumped", before, "this step has left the motion"),
                    false => ("went step by step", initial, "the steps have left the motion"),
                };
                write!(
                    f,
                    "the energy, which only work in time can change, {went} from {} to {}, wrong by {:.1e} times what the motion has of it, so {has_left}",
                    short(*from),
                    short(*after),
                    step.max(all) / scale
                )
            }
            Cause::BeyondStability { reason, step_size, met, .. } => {
                let size = step_size.abs();
                write!(f, "a step of {size} is beyond what the method is stable with: {reason}; now ")?;
                self.write_cause(met, f)
            }
            Cause::EventNotFinite { event, value, time } => {
                write!(f, "the formula of the event `{event}` gives {value} at t = {}", number(*time))
            }
            Cause::NoVelocity { iterations, coordinate } => write!(
                f,
                "no velocity of `{}` was found for its momentum in {iterations} corrections",
                name(*coordinate)
            ),
        }
    }

    fn advice(&self) -> String {
        let beyond = |x: &f64| *x != 0.0 && !(1e-100..1e100).contains(&x.abs());
        if self.q.iter().chain(&self.p).any(beyond) && self.cause.is_of_solver() {
            return "other units of mass, length and time, so that no square of a number leaves 2e-308 to 2e308, or a smaller step"
                .to_owned();
        }
        match &self.cause {
            Cause::SingularMass { .. } => {
                "an initial state away from this point, coordinates that are regular here (angles of a body are singular \
                 where its axis meets the polar axis), or masses that are not zero"
                    .to_owned()
            }
            Cause::MassNotFinite { .. } => {
                "an initial state away from this point, or other units: numbers beyond 1e308 overflow".to_owned()
            }
            Cause::NotConverged { step_size, .. }
            | Cause::SingularStep { step_size, .. }
            | Cause::EnergyJump { step_size, .. }
            | Cause::NotFinite { step_size, .. } => format!(
                "a smaller step than {} (half of it first), or a method of higher order; a close approach or a \
                 singular point of the coordinates needs other coordinates",
                step_size.abs()
            ),
            Cause::BeyondStability { stable, .. } => smaller_than(*stable),
            Cause::DoesNotFit { .. } => "a Lobatto or Gauss method, which take every Lagrangian".to_owned(),
            Cause::EventNotFinite { .. } => "a formula that is finite along the whole motion; look for a division by zero, or a \
                 root or logarithm of a negative number"
                .to_owned(),
            Cause::NoVelocity { .. } => {
                "momenta within the range that the Lagrangian can give, or initial velocities instead of momenta"
                    .to_owned()
            }
        }
    }

    /// What the trials from the state before the step gave.
    fn findings(&self) -> String {
        let (work, fail): (Vec<&Trial>, Vec<&Trial>) = self.tried.iter().partition(|trial| trial.works);
        match (work.as_slice(), fail.as_slice()) {
            ([], all) => format!(
                "tried from this state: {}; none gets through: it may be a singular point, or the steps before have left the motion already",
                listed(all)
            ),
            ([one], []) => format!("tried from this state: {one} gets through"),
            ([one], fail) => format!("tried from this state: {one} gets through; not so {}", listed(fail)),
            (several, []) => format!("tried from this state: {} get through", listed(several)),
            (several, fail) => {
                format!("tried from this state: {} get through; not so {}", listed(several), listed(fail))
            }
        }
    }
}

/// `a, b and c`
fn listed(trials: &[&Trial]) -> String {
    let words: Vec<String> = trials.iter().map(ToString::to_string).collect();
    match words.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => words.concat(),
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = number(self.step);
        match self.parts {
            1 => write!(f, "`{}` with the same step", self.method),
            2 => write!(f, "half the step ({step})"),
            4 => write!(f, "a quarter of the step ({step})"),
            parts => write!(f, "1/{parts} of the step ({step})"),
        }
    }
}

impl Cause {
    /// A word for files and listings.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NotConverged { .. } => "not converged",
            Self::SingularMass { .. } => "singular mass",
            Self::MassNotFinite { .. } => "not finite",
            Self::SingularStep { .. } => "singular step",
            Self::DoesNotFit { .. } => "does not fit",
            Self::NotFinite { .. } => "not finite",
            Self::EnergyJump { .. } => "energy jump",
            Self::BeyondStability { .. } => "beyond stability",
            Self::EventNotFinite { .. } => "event not finite",
            Self::NoVelocity { .. } => "no velocity",
        }
    }

    /// Whether a step was not solved, or led away from the motion.
    pub(crate) fn is_of_solver(&self) -> bool {
        matches!(
            self,
            Self::NotConverged { .. }
                | Self::SingularStep { .. }
                | Self::NotFinite { .. }
                | Self::EnergyJump { .. }
                | Self::BeyondStability { .. }
        )
    }

    /// Whether another step or another method may help.
    pub fn is_of_steps(&self) -> bool {
        !matches!(self, Self::DoesNotFit { .. } | Self::EventNotFinite { .. })
    }
}
