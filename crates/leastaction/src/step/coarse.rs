//! The step equations in f64, for numbers with more digits.
//!
//! From a guess with many digits to the solution in f64 and the matrix there, factored. That matrix is right to about 15
//! digits, so each correction it makes of a residual with many digits gains as many, and neither second derivatives nor
//! factors with many digits are needed. Whatever f64 cannot do (exponents beyond its range, matrices it finds singular) is
//! refused, and left to `galerkin` with its own matrix; so is the judgement whether corrections shrink fast enough.

use super::State;
use super::galerkin::GalerkinStepper;
use crate::method::Galerkin;
use crate::scalar::{Field, Real};
use crate::system::Problem;

/// Residuals below this may be lost in what f64 can represent.
const SMALLEST: f64 = 1e-280;

#[derive(Clone, Debug)]
pub(super) struct Coarse {
    stepper: GalerkinStepper<f64>,
    state: State<f64>,
    correction: Vec<f64>,
}

impl Coarse {
    pub(super) fn new<R: Real>(problem: &Problem<R>, galerkin: &Galerkin, h: &R) -> Self {
        let problem: Problem<f64> = problem.convert();
        let stepper = GalerkinStepper::new(&problem, galerkin, h.to_f64());
        Self { correction: vec![0.0; stepper.z.len()], stepper, state: State::new(&problem) }
    }

    /// Replaces the parameters.
    pub(super) fn assign<R: Real>(&mut self, parameters: &[R]) {
        let parameters: Vec<f64> = parameters.iter().map(R::to_f64).collect();
        let v = vec![0.0; self.state.q.len()];
        self.stepper.restart(Some(&parameters), &v);
    }

    /// Changes the step size.
    pub(super) fn resize(&mut self, h: f64) {
        self.stepper.resize(&h);
    }

    /// Replaces a guess of the increments by their solution in f64 and factors the matrix there; false if that fails.
    pub(super) fn solve<R: Real>(&mut self, state: &State<R>, t: &R, z: &mut [R]) -> bool {
        round(&state.q, &mut self.state.q);
        round(&state.p, &mut self.state.p);
        round(z, &mut self.stepper.z);
        self.stepper.restart_counts();
        let t = t.to_f64();
        let solved =
            self.stepper.solve(&self.state, &t).and_then(|()| self.stepper.residual(&self.state, &t, true));
        if solved.is_ok() {
            for (z, coarse) in z.iter_mut().zip(&self.stepper.z) {
                *z = R::from_f64(*coarse);
            }
        }
        solved.is_ok()
    }

    /// Replaces a residual by the correction; false, and nothing replaced, if it leaves the range of f64.
    pub(super) fn correction<R: Real>(&mut self, residual: &mut [R]) -> bool {
        round(residual, &mut self.correction);
        let lost = |(x, coarse): (&R, &f64)| coarse.abs() < SMALLEST && *x != R::zero();
        if residual.iter().zip(&self.correction).any(lost) {
            return false;
        }
        self.stepper.jacobian.matrix.solve(&mut self.correction);
        if !self.correction.iter().all(Field::is_finite) {
            return false;
        }
        for (x, coarse) in residual.iter_mut().zip(&self.correction) {
            *x = R::from_f64(*coarse);
        }
        true
    }
}

fn round<R: Real>(numbers: &[R], rounded: &mut [f64]) {
    for (x, y) in numbers.iter().zip(rounded) {
        *y = x.to_f64();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;
    use crate::method::{Method, Scheme};
    use crate::scalar::{Digits, Dual, Scalar as _};
    use crate::system::{Settings, System, catalogue};

    type Number = Digits<4>;

    const STEP: &str = "0.01";

    fn stepper<R: Real>(problem: &Problem<R>) -> GalerkinStepper<R> {
        let Scheme::Galerkin(galerkin) = Method::named("simpson").unwrap().scheme else { panic!() };
        GalerkinStepper::new(problem, &galerkin, R::from_decimal(STEP))
    }

    /// Twenty steps: the last state, and the most matrices and corrections in one step.
    fn run<R: Real>(problem: &Problem<R>) -> (State<R>, u32, u32) {
        let (mut stepper, mut state) = (stepper(problem), State::new(problem));
        let (mut renewals, mut corrections) = (0, 0);
        for _ in 0..20 {
            let count = stepper.step(&mut state, &R::zero()).unwrap();
            corrections = corrections.max(count);
            renewals = renewals.max(stepper.renewals);
        }
        (state, renewals, corrections)
    }

    fn catalogued<R: Real>(name: &str) -> Problem<R> {
        catalogue::system(name).unwrap().problem(&Settings::default()).unwrap()
    }

    /// Oscillators of masses 1 and `mass`, of frequency 1, in the coordinates q1 = x1 − x2, q2 = x2.
    fn mixed_oscillators(mass: &str) -> Problem<Number> {
        let system = System::build("mixed", "Mixed oscillators")
            .coordinate("q1", "")
            .coordinate("q2", "")
            .parameter("m", mass, "", "mass of the second")
            .start(["-0.5", "1"], ["0", "0.25"])
            .lagrangian(|q, v, _, p| {
                let energy = |x: Expr, v: Expr| (v.powi(2) - x.powi(2)) * 0.5;
                energy(q[0] + q[1], v[0] + v[1]) + p["m"] * energy(q[1], v[1])
            });
        system.unwrap().problem(&Settings::default()).unwrap()
    }

    fn pendulum(mass: &str) -> Problem<Number> {
        let system = System::build("heavy", "Pendulum with a mass")
            .coordinate("q", "")
            .parameter("m", mass, "", "mass")
            .start(["1"], ["0.5"])
            .lagrangian(|q, v, _, p| p["m"] * (v[0].powi(2) * 0.5 + q[0].cos()));
        system.unwrap().problem(&Settings::default()).unwrap()
    }

    #[test]
    fn many_digits_need_no_second_derivatives() {
        for name in ["double-pendulum", "lagrange-top", "kepler", "henon-heiles", "cart-pole"] {
            let (_, renewals, corrections) = run::<Number>(&catalogued(name));
            assert_eq!(renewals, 0, "{name}");
            assert!(corrections <= 6, "{name}: {corrections}");
        }
        // with twice the digits one matrix with all of them pays
        let (_, renewals, corrections) = run::<Digits<8>>(&catalogued("double-pendulum"));
        assert!(renewals <= 1 && corrections <= 7, "{renewals} {corrections}");
    }

    #[test]
    fn only_plain_numbers_start_in_f64() {
        let (_, renewals, _) = run::<f64>(&catalogued("double-pendulum"));
        assert!(renewals > 0);
        let (_, renewals, _) = run::<Dual<Number>>(&catalogued("double-pendulum"));
        assert!(renewals > 0);
    }

    #[test]
    fn what_is_singular_in_f64_is_solved_with_many_digits() {
        // the mass matrix has a condition number of 1e30, so f64 finds it singular and 77 digits keep 47
        let (near, renewals, _) = run(&mixed_oscillators("1e-30"));
        assert!(renewals > 0);
        let (plain, renewals, _) = run(&mixed_oscillators("1"));
        assert_eq!(renewals, 0);
        for i in 0..2 {
            assert!((near.q[i] - plain.q[i]).to_f64().abs() < 1e-44, "{i}");
        }
    }

    #[test]
    fn slow_contraction_renews_the_matrix() {
        // a condition number of 1e9 leaves f64 about six digits a correction
        let (near, renewals, _) = run(&mixed_oscillators("1e-9"));
        assert_eq!(renewals, 1);
        let (plain, ..) = run(&mixed_oscillators("1"));
        for i in 0..2 {
            assert!((near.q[i] - plain.q[i]).to_f64().abs() < 1e-64, "{i}");
        }
    }

    #[test]
    fn residuals_below_the_range_of_f64_are_not_lost() {
        // momenta near 1e-271 are in the range of f64, the last digits of their 77 are not
        let (tiny, renewals, _) = run(&pendulum("2^(-900)"));
        assert!(renewals > 0);
        let (plain, renewals, _) = run(&pendulum("1"));
        assert_eq!(renewals, 0);
        assert!((tiny.q[0] - plain.q[0]).to_f64().abs() < 1e-74);
        let ratio = tiny.p[0] / plain.p[0] * Number::from_f64(2f64.powi(900));
        assert!((ratio - Number::one()).to_f64().abs() < 1e-74);
    }
}
