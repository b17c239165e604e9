//! Bound Kepler orbits in the plane, from any initial state, by Kepler's equation.

use super::{Solution, parameter, squared};
use crate::scalar::Real;
use crate::system::Problem;

/// The semi-major axis, positive for bound orbits: 1/a = 2/r − v²/μ.
fn axis<R: Real>(problem: &Problem<R>) -> Option<R> {
    let (q, v) = (&problem.q0, &problem.v0);
    let distance = (squared(&q[0]) + squared(&q[1])).sqrt();
    let speed = squared(&v[0]) + squared(&v[1]);
    let inverse = R::from_f64(2.0) / distance - speed / parameter(problem, "mu");
    (inverse.to_f64() > 0.0).then(|| R::one() / inverse)
}

/// 2π √(a³/μ)
pub(super) fn period<R: Real>(problem: &Problem<R>) -> Option<R> {
    let a = axis(problem)?;
    let cube = squared(&a) * a;
    Some(R::from_f64(2.0) * R::pi() * (cube / parameter(problem, "mu")).sqrt())
}

/// With the eccentric anomaly's change x since the start:
/// n t = x − e_c sin x + e_s (1 − cos x), e_c = 1 − r0/a, e_s = q·v/√(μa);
/// q(t) = f q0 + g v0 (Gauss' f and g functions).
pub(super) fn solution<R: Real + 'static>(problem: &Problem<R>) -> Option<Solution<R>> {
    let a = axis(problem)?;
    let mu = parameter(problem, "mu");
    let period = period(problem)?;
    let (q0, v0) = (problem.q0.clone(), problem.v0.clone());
    let distance = (squared(&q0[0]) + squared(&q0[1])).sqrt();
    let mean_motion = R::from_f64(2.0) * R::pi() / period.clone();
    let e_c = R::one() - distance.clone() / a.clone();
    let dot = q0[0].clone() * v0[0].clone() + q0[1].clone() * v0[1].clone();
    let e_s = dot / (mu * a.clone()).sqrt();
    Some(Solution::new([0, 1], move |t: &R| {
        let turns = R::from_f64((t.to_f64() / period.to_f64()).round());
        let within = t.clone() - turns * period.clone();
        let mean = mean_motion.clone() * within.clone();
        let x = eccentric_change(&mean, &e_c, &e_s);
        let (sine, versine) = (x.sin(), R::one() - x.cos());
        let f = R::one() - a.clone() / distance.clone() * versine;
        let g = within - (x - sine) / mean_motion.clone();
        (0..2).map(|i| f.clone() * q0[i].clone() + g.clone() * v0[i].clone()).collect()
    }))
}

/// Solves x − e_c sin x + e_s (1 − cos x) = mean by Newton, kept inside the interval that holds the root.
fn eccentric_change<R: Real>(mean: &R, e_c: &R, e_s: &R) -> R {
    let reach = (e_c.to_f64().powi(2) + e_s.to_f64().powi(2)).sqrt() + e_s.to_f64().abs();
    let (mut low, mut high) = (mean.to_f64() - reach, mean.to_f64() + reach);
    let mut x = mean.clone();
    let mut previous = f64::INFINITY;
    for _ in 0..200 {
        let value = x.clone() - e_c.clone() * x.sin() + e_s.clone() * (R::one() - x.cos()) - mean.clone();
        let slope = R::one() - e_c.clone() * x.cos() + e_s.clone() * x.sin();
        if value.to_f64() > 0.0 {
            high = high.min(x.to_f64());
        } else {
            low = low.max(x.to_f64());
        }
        let delta = value / slope;
        let size = delta.magnitude();
        if size == 0.0 || size >= previous && size < 1e-8 {
            break;
        }
        previous = size;
        let next = x.clone() - delta;
        let inside = next.to_f64() >= low && next.to_f64() <= high;
        x = if inside { next } else { R::from_f64(0.5 * (low + high)) };
    }
    x
}
