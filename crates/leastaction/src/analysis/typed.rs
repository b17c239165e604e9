//! Whether the Lagrangian that is simulated is the one that was typed.
//!
//! Coordinates and time that L does not depend on are taken out of its formulas before a run. Here both are evaluated
//! at states of the run, each by its own tape: L and the energy may differ by rounding only.

use crate::expr::Evaluator;
use crate::system::{Energy, Problem};

/// Values may differ by this part of the sizes of their terms.
const ROUNDING: f64 = 1e-11;

/// What was found at the states of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Difference {
    /// The largest difference, in parts of the sizes of the terms.
    pub(super) largest: f64,
    /// When.
    pub(super) t: f64,
}

impl Difference {
    pub(super) fn is_rounding(self) -> bool {
        self.largest <= ROUNDING
    }
}

/// Compares at states (q, v, t); `None` if nothing was taken out of L.
pub(super) fn difference<'a>(
    problem: &Problem<f64>,
    states: impl IntoIterator<Item = (&'a [f64], &'a [f64], f64)>,
) -> Option<Difference> {
    let (model, typed) = (&problem.system.model, &problem.system.typed);
    if model.lagrangian == typed.lagrangian {
        return None;
    }
    let [mut simulated, mut written] = [model, typed].map(|model| Energy::new(model, &problem.parameters));
    let (mut sizes, mut size) = (Evaluator::new(typed.energy_sizes_tape(), &problem.parameters), [0.0; 2]);
    let mut worst = Difference { largest: 0.0, t: problem.t0 };
    for (q, v, t) in states {
        let ((energy, l), (typed_energy, typed_l)) = (simulated.at(q, v, &t), written.at(q, v, &t));
        sizes.evaluate(q, v, &t, &mut size);
        let largest = ((energy - typed_energy).abs() + (l - typed_l).abs()) / size[0].max(f64::MIN_POSITIVE);
        if largest > worst.largest || largest.is_nan() {
            worst = Difference { largest, t };
        }
    }
    Some(worst)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Scalar;
    use crate::system::System;

    /// A pendulum whose azimuth q₁ cancels, in so strong a field.
    fn problem(gravity: f64) -> Problem<f64> {
        let names = ["theta", "phi"].map(str::to_owned);
        let system = System::build("azimuth", "Azimuth").coordinates(names, "").start_at_rest(["1", "0"]);
        let system = system.lagrangian(|q, v, _, _| {
            let (s, c) = (q[0].sin(), q[0].cos());
            let x = c * q[1].cos() * v[0] - s * q[1].sin() * v[1];
            let y = c * q[1].sin() * v[0] + s * q[1].cos() * v[1];
            (x.squared() + y.squared() + (s * v[0]).squared()) * 0.5 + c * gravity
        });
        system.expect("a system").problem(&Default::default()).expect("a state")
    }

    #[test]
    fn another_lagrangian_is_noticed() {
        let (mut problem, other) = (problem(9.81), problem(9.82));
        let states = [([1.0, 2.0], [0.3, 4.0], 0.0), ([0.5, -40.0], [1.0, 0.1], 3.0)];
        let find = |problem: &Problem<f64>| {
            difference(problem, states.iter().map(|(q, v, t)| (q.as_slice(), v.as_slice(), *t)))
        };
        let found = find(&problem).expect("phi was taken out");
        assert!(found.is_rounding() && found.largest < 1e-15, "{found:?}");
        problem.system.typed = other.system.typed;
        assert!(!find(&problem).expect("another one").is_rounding());
        let undefined = [([f64::NAN, 0.0], [0.0, 0.0], 0.0)];
        let found = difference(&problem, undefined.iter().map(|(q, v, t)| (&q[..], &v[..], *t)));
        assert!(!found.expect("compared").is_rounding());
    }
}
