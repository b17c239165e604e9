//! The Lagrange top with loops: paper 000, Table 3. Gravity is 9.81 m/s².

use crate::error::Result;
use crate::scalar::Scalar;
use crate::system::{Builder, Parameters, System};

pub(super) fn define(_: &[usize]) -> Result<System> {
    names(System::build("lagrange-top", "Lagrange top"))
        .summary("A heavy symmetric top with a fixed point, in Euler angles; this one makes loops.")
        .parameter("m", "0.1", "kg", "mass")
        .parameter("I", "2.33e-3", "kg m²", "moment of inertia across the axis, about the fixed point")
        .parameter("I3", "1.25e-4", "kg m²", "moment of inertia about the axis")
        .parameter("l", "0.15", "m", "distance of the centre of mass from the fixed point")
        .parameter("g", "9.81", "m/s²", "gravity")
        .start(["0", "pi/3", "0"], ["9.2", "0", "252"])
        .run("simpson", "period/200", "5*period")
        .lagrangian(lagrangian)
}

/// Coordinates and picture of every top: the path of its axis on the unit sphere.
pub(super) fn names(builder: Builder) -> Builder {
    builder
        .energy_unit("J")
        .coordinate("phi", "rad")
        .coordinate("theta", "rad")
        .coordinate("psi", "rad")
        .motion(3, "", ["axis".to_owned()], [(None, 0)], |q, _| {
            vec![[q[1].sin() * q[0].sin(), -q[1].sin() * q[0].cos(), q[1].cos()]]
        })
        .on_sphere("1")
}

pub(super) fn lagrangian<S: Scalar>(q: &[S], v: &[S], _t: S, p: &Parameters<S>) -> S {
    let theta = q[1];
    let (precession, nutation, spin) = (v[0], v[1], v[2]);
    let about_axis = spin + precession * theta.cos();
    let across = (precession * theta.sin()).squared() + nutation.squared();
    let kinetic = p["I3"] * about_axis.squared() * 0.5 + p["I"] * across * 0.5;
    let potential = p["m"] * p["g"] * p["l"] * theta.cos();
    kinetic - potential
}
