//! The harmonic oscillator, with the data of papers 003 and 004.

use crate::error::Result;
use crate::scalar::Scalar;
use crate::system::{Parameters, System};

pub(super) fn define(_: &[usize]) -> Result<System> {
    System::build("harmonic-oscillator", "Harmonic oscillator")
        .summary("A mass on a spring: q = q0 cos(omega t).")
        .energy_unit("J")
        .coordinate("q", "m")
        .parameter("m", "1", "kg", "mass")
        .parameter("omega", "2*pi", "1/s", "angular frequency")
        .start_with_momenta(["pi/2"], ["0"])
        .run("simpson", "0.02", "10")
        .lagrangian(lagrangian)
}

fn lagrangian<S: Scalar>(q: &[S], v: &[S], _t: S, p: &Parameters<S>) -> S {
    let kinetic = p["m"] * v[0].squared() * 0.5;
    let potential = p["m"] * (p["omega"] * q[0]).squared() * 0.5;
    kinetic - potential
}
