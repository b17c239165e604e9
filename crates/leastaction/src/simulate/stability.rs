//! Whether a step is too large for the oscillations of a linear system, found before the run starts.
//!
//! The frequencies ω of the modes are those of K x = ω²M x; how many of them lie where the method is unstable is counted by band
//! eliminations, of which a stable run needs two, at any size. Where forces depend on velocities there are no such modes; there the
//! matrix of one step is multiplied with itself. Nonlinear systems are not looked at.

use super::Plan;
use crate::error::{Cause, smaller_than};
use crate::linear::{BandPencil, Square};
use crate::method::{Method, Window};
use crate::scalar::elementary;
use crate::step::{State, tangent_map};
use crate::system::Problem;

/// Ends of windows are known to rounding, and so are frequencies.
const ROUNDING: f64 = 1e-12;

/// The modes that will grow.
struct Unstable {
    /// How many there are.
    count: usize,
    /// The largest ω among them.
    omega: f64,
    /// The largest ω of all modes.
    fastest: f64,
}

/// A step with which the motion grows without bound.
pub(crate) struct Growth {
    step: f64,
    /// What grows, and with what the method does not let it.
    pub(crate) reason: String,
    /// A step below which nothing grows.
    pub(crate) stable: f64,
}

impl std::fmt::Display for Growth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { step, reason, stable } = self;
        write!(
            f,
            "with a step of {step} the motion will grow without bound: {reason}\n  try {}",
            smaller_than(*stable)
        )
    }
}

impl Plan {
    /// What the user should be warned of before the run starts: oscillations that the step makes grow without bound.
    pub fn warnings(&self) -> Vec<String> {
        let growth = growing_oscillations(&self.problem, &self.method, self.step);
        growth.iter().map(ToString::to_string).collect()
    }

    /// Why a step failed; where the motion has grown without bound, that is why.
    pub(super) fn reason_of(&self, cause: Cause) -> Cause {
        if !cause.is_of_solver() {
            return cause;
        }
        match growing_oscillations(&self.problem, &self.method, self.step) {
            None => cause,
            Some(Growth { step, reason, stable }) => {
                Cause::BeyondStability { reason, stable, step_size: step, met: Box::new(cause) }
            }
        }
    }
}

/// What grows, if the step makes oscillations of a linear system grow without bound.
pub(crate) fn growing_oscillations(problem: &Problem<f64>, method: &Method, step: f64) -> Option<Growth> {
    let windows = method.stable_windows().ok()?;
    if !windows.first()?.to.is_finite() {
        return None;
    }
    let structure = problem.system.structure();
    let Ok(derivatives) = problem.second_derivatives() else {
        return growing_step(problem, method, step);
    };
    let modes = derivatives.band(&structure.ordering);
    // the equations of motion do not change with the sign of L
    let modes = if modes.has_positive_mass() { modes } else { modes.negated() };
    let n = structure.group.len();
    let found = unstable(&modes, n, &windows, step.abs())?;
    let whose = match (n, found.count) {
        (1, _) => "it oscillates".to_owned(),
        (_, 1) => format!("one of {n} modes is unstable and oscillates"),
        (_, count) => format!("{count} of {n} modes are unstable and the fastest of them oscillates"),
    };
    let limit = windows.first().map_or(0.0, |window| window.to);
    let shown: Vec<String> = windows.iter().take(3).map(Window::to_string).collect();
    let more = if windows.len() > 3 { " and in narrower ranges beyond" } else { "" };
    let reason = format!(
        "{whose} with omega = {}, so omega*h = {}, but `{}` is stable for omega*h from {}{more}",
        significant(found.omega, 6),
        significant(found.omega * step.abs(), 6),
        method.name,
        shown.join(", "),
    );
    Some(Growth { step, reason, stable: significant(limit / found.fastest * (1.0 - 1e-4), 4) })
}

/// Systems of more coordinates are not multiplied out.
const MOST_COORDINATES: usize = 30;
/// A growth by less than this in one step is rounding, or a drift.
const LEAST_GROWTH: f64 = 1e-6;

/// What grows, if a linear system with forces that depend on velocities grows faster with this step than with a small one.
fn growing_step(problem: &Problem<f64>, method: &Method, step: f64) -> Option<Growth> {
    if problem.system.n() > MOST_COORDINATES || !problem.has_constant_derivatives() {
        return None;
    }
    let excess = |h: f64| {
        let own = growth(problem, method, h / 64.0)? * 64.0;
        Some(growth(problem, method, h)? - own)
    };
    let found = excess(step)?;
    if found < LEAST_GROWTH {
        return None;
    }
    let stable =
        (1..30).map(|k| step / f64::from(1 << k)).find(|h| excess(*h).is_some_and(|e| e < LEAST_GROWTH))?;
    let factor = significant(elementary::exp(found), 6);
    let reason = format!("every step of `{}` multiplies it by {factor}", method.name);
    Some(Growth { step, reason, stable: significant(stable, 4) })
}

/// How fast the powers of the matrix of one step grow: log |Φ^N| / N for a large N.
fn growth(problem: &Problem<f64>, method: &Method, step: f64) -> Option<f64> {
    const SQUARINGS: i32 = 30;
    let map = tangent_map(problem, method, step, &State::new(problem)).ok()?;
    let mut power = Square::from_fn(map.len(), |i, j| map[i][j]);
    let mut logarithm = 0.0;
    for _ in 0..SQUARINGS {
        let size = power.largest();
        if size == 0.0 || !size.is_finite() {
            return None;
        }
        // Φ^2N = |Φ^N|² (Φ^N/|Φ^N|)²
        power = power.times(&(1.0 / size));
        power = power.product(&power);
        logarithm = 2.0 * (logarithm + elementary::ln(size));
    }
    Some((logarithm + elementary::ln(power.largest())) / elementary::powi(2.0, SQUARINGS))
}

/// The modes outside all windows, if there are any.
fn unstable(modes: &BandPencil, n: usize, windows: &[Window], h: f64) -> Option<Unstable> {
    let below = |end: f64| {
        let omega = end / h;
        if omega.is_finite() { modes.count_below(omega * omega) } else { n }
    };
    let limit = windows.first()?.to;
    if !limit.is_finite() || !modes.has_positive_mass() || below(limit * (1.0 + ROUNDING)) == n {
        return None;
    }
    let next = windows.iter().skip(1).map(|window| window.from).chain([f64::INFINITY]);
    let gaps = windows.iter().map(|window| window.to).zip(next);
    let (mut count, mut last) = (0, None);
    for (from, to) in gaps.map(|(from, to)| (from * (1.0 + ROUNDING), to * (1.0 - ROUNDING))) {
        let (start, end) = (below(from), below(to));
        if from < to && end > start {
            count += end - start;
            last = Some(end - 1);
        }
    }
    let omega = |index: usize| modes.eigenvalue(index).map(f64::sqrt);
    Some(Unstable { count, omega: omega(last?)?, fastest: omega(n - 1)? })
}

/// A number rounded to so many digits.
fn significant(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits - 1).parse().unwrap_or(x)
}
