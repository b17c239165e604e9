//! Errors against steps, and the order they show.

use crate::error::{Failure, Result};
use crate::method::Method;
use crate::scalar::elementary::ln;
use crate::step::{State, Stepper};
use crate::system::Problem;

/// Coordinates and momenta at some time.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Coordinates.
    pub q: Vec<f64>,
    /// Momenta.
    pub p: Vec<f64>,
}

/// Integrates to a time in a number of equal steps.
pub fn endpoint(problem: &Problem<f64>, method: &Method, until: f64, steps: u64) -> Result<Endpoint> {
    let mut stepper = Stepper::new(problem, method, until / steps as f64);
    let mut state = State::new(problem);
    for _ in 0..steps {
        if let Err(cause) = stepper.step(&mut state) {
            let time = stepper.time(state.steps);
            let failure: Failure = problem.failure(state.steps + 1, &time, (&state.q, &state.p), cause);
            return Err(failure.into());
        }
    }
    Ok(Endpoint { q: state.q, p: state.p })
}

/// Euclidean distance.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

/// The slope of log error against log step, fitted by least squares to the points above the plateau of rounding.
///
/// `points` are (step, error). Points with an error below `floor` are left out. `None` with fewer than two points.
pub fn fitted_order(points: &[(f64, f64)], floor: f64) -> Option<f64> {
    let used: Vec<(f64, f64)> =
        points.iter().filter(|(_, error)| *error > floor).map(|(h, e)| (ln(*h), ln(*e))).collect();
    if used.len() < 2 {
        return None;
    }
    let count = used.len() as f64;
    let (x, y) = used.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / count, y + p.1 / count));
    let (mut above, mut below) = (0.0, 0.0);
    for (h, e) in used {
        above += (h - x) * (e - y);
        below += (h - x) * (h - x);
    }
    // equal steps show no slope
    (below > 0.0).then(|| above / below)
}

/// The orders that pairs of successive points show: log(e1/e2) / log(h1/h2).
pub fn pairwise_orders(points: &[(f64, f64)]) -> Vec<f64> {
    points.windows(2).map(|pair| ln(pair[0].1 / pair[1].1) / ln(pair[0].0 / pair[1].0)).collect()
}
