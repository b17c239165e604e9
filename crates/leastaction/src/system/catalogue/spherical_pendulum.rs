//! The spherical pendulum: a mass on a rod that may swing in all directions.

use crate::error::Result;
use crate::scalar::Scalar;
use crate::system::{Parameters, System};

pub(super) fn define(_: &[usize]) -> Result<System> {
    System::build("spherical-pendulum", "Spherical pendulum")
        .summary(
            "A mass on a rod that swings in all directions; theta from the downward vertical, phi around it.",
        )
        .energy_unit("J")
        .coordinate("theta", "rad")
        .coordinate("phi", "rad")
        .parameter("m", "1", "kg", "mass")
        .parameter("l", "1", "m", "length of the rod")
        .parameter("g", "9.81", "m/s²", "gravity")
        .start(["pi/3", "0"], ["0", "1.5"])
        .run("simpson", "0.01", "20")
        .motion(3, "m", ["bob".to_owned()], [(None, 0)], |q, p| {
            let radius = p["l"] * q[0].sin();
            vec![[radius * q[1].cos(), radius * q[1].sin(), -p["l"] * q[0].cos()]]
        })
        .on_sphere("l")
        .lagrangian(lagrangian)
}

fn lagrangian<S: Scalar>(q: &[S], v: &[S], _t: S, p: &Parameters<S>) -> S {
    let square = v[0].squared() + (q[0].sin() * v[1]).squared();
    let kinetic = p["m"] * p["l"].squared() * square * 0.5;
    let potential = -p["m"] * p["g"] * p["l"] * q[0].cos();
    kinetic - potential
}
