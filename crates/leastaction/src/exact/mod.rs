//! Closed-form solutions of catalogue systems, for any parameters and initial state, in any number type.
//!
//! [`solution`] gives the motion of the coordinates that have one, [`period`] the period that the motion repeats with
//! (for tops and the spherical pendulum: of `theta`). Systems without either give `None`; so do motions outside the closed
//! form's range: unbound orbits, tops without weight or with gravity upwards, and tops that start at a pole, where their
//! angles are not defined. Motions that never repeat, on a separatrix, have a solution and no period.

mod carlson;
mod elliptic;
mod kepler;
mod linear;
mod nutation;
mod pendulum;
mod precession;
mod top;

pub use elliptic::{Jacobi, complete, incomplete, jacobi};

use crate::scalar::Real;
use crate::system::Problem;

/// The exact motion of some coordinates.
pub struct Solution<R> {
    /// Which coordinates.
    pub coordinates: Vec<usize>,
    motion: Motion<R>,
}

/// Values of the coordinates at a time since the start.
type Motion<R> = Box<dyn Fn(&R) -> Vec<R>>;

impl<R> Solution<R> {
    fn new(coordinates: impl IntoIterator<Item = usize>, motion: impl Fn(&R) -> Vec<R> + 'static) -> Self {
        Self { coordinates: coordinates.into_iter().collect(), motion: Box::new(motion) }
    }

    /// The values of the coordinates, in the order of `coordinates`, at a time since the start.
    pub fn at(&self, time: &R) -> Vec<R> {
        (self.motion)(time)
    }
}

/// The exact motion, where one is known.
pub fn solution<R: Real + 'static>(problem: &Problem<R>) -> Option<Solution<R>> {
    candidate(problem).filter(|solution| starts_right(problem, solution))
}

/// Whether the closed form gives the initial state: outside of its range (an angle of the other sign, a field that points the
/// other way, no frequency at all) it does not.
fn starts_right<R: Real>(problem: &Problem<R>, solution: &Solution<R>) -> bool {
    let start = solution.at(&R::zero());
    let later = solution.at(&R::one());
    let near = |(x, i): (&R, &usize)| {
        let q = &problem.q0[*i];
        (x.clone() - q.clone()).magnitude() <= 1e-6 * (1.0 + q.magnitude())
    };
    start.iter().zip(&solution.coordinates).all(near) && later.iter().all(R::is_finite)
}

fn candidate<R: Real + 'static>(problem: &Problem<R>) -> Option<Solution<R>> {
    match known_name(problem)? {
        "harmonic-oscillator" => Some(linear::oscillator(problem)),
        "linear-double-pendulum" => Some(linear::double_pendulum(problem)),
        "charged-particle" => Some(linear::helix(problem)),
        "pendulum" => Some(pendulum::solution(problem)),
        "kepler" => kepler::solution(problem),
        "lagrange-top" | "lagrange-top-cusps" => top::solution(problem),
        "lagrange-top-reduced" => top::reduced_solution(problem),
        "spherical-pendulum" => top::spherical_solution(problem),
        _ => None,
    }
}

/// The period of the motion, where one is known.
pub fn period<R: Real>(problem: &Problem<R>) -> Option<R> {
    let two_pi = || R::from_f64(2.0) * R::pi();
    match known_name(problem)? {
        "harmonic-oscillator" => Some(two_pi() / parameter(problem, "omega").abs()),
        "charged-particle" => Some(two_pi() / linear::cyclotron_frequency(problem).abs()),
        "pendulum" => pendulum::pendulum(problem).period(),
        "kepler" => kepler::period(problem),
        "lagrange-top" | "lagrange-top-cusps" => top::top(problem)?.period(),
        "lagrange-top-reduced" => top::reduced(problem)?.period(),
        "spherical-pendulum" => top::spherical_pendulum(problem)?.period(),
        _ => None,
    }
    .filter(|period| period.is_finite() && period.to_f64() > 0.0)
}

/// The name of a catalogue system; a user's system of the same name is another one.
fn known_name<R>(problem: &Problem<R>) -> Option<&str> {
    problem.system.catalogued.then_some(problem.system.name.as_str())
}

/// The value of a parameter.
fn parameter<R: Real>(problem: &Problem<R>, name: &str) -> R {
    let index = problem.system.parameters.iter().position(|p| p.name == name);
    index.map_or_else(|| R::from_f64(f64::NAN), |i| problem.parameters[i].clone())
}

fn squared<R: Real>(x: &R) -> R {
    x.clone() * x.clone()
}

fn half<R: Real>(x: &R) -> R {
    R::from_f64(0.5) * x.clone()
}

/// The square root, of zero too: derivatives are infinite there, and times zero not a number.
fn root<R: Real>(x: &R) -> R {
    if x.magnitude() == 0.0 { R::zero() } else { x.sqrt() }
}
