//! The nonlinear pendulum, with the data of paper 002.

use crate::error::Result;
use crate::scalar::Scalar;
use crate::system::{Parameters, System};

pub(super) fn define(_: &[usize]) -> Result<System> {
    System::build("pendulum", "Pendulum")
        .summary("A mass on a rod in a uniform field; omega is the frequency of small oscillations.")
        .energy_unit("J")
        .coordinate("q", "rad")
        .parameter("m", "1", "kg m²", "moment of inertia")
        .parameter("omega", "2*pi", "1/s", "angular frequency of small oscillations")
        .start_with_momenta(["pi/2"], ["0"])
        .run("simpson", "0.01", "10")
        .motion(2, "", ["bob".to_owned()], [(None, 0)], |q, _| vec![[q[0].sin(), -q[0].cos(), 0.0.into()]])
        .lagrangian(lagrangian)
}

fn lagrangian<S: Scalar>(q: &[S], v: &[S], _t: S, p: &Parameters<S>) -> S {
    let kinetic = p["m"] * v[0].squared() * 0.5;
    let potential = p["m"] * p["omega"].squared() * (S::from(1.0) - q[0].cos());
    kinetic - potential
}
