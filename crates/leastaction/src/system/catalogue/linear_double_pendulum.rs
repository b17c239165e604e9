//! The double pendulum for small angles: a linear system M, K (paper 001).

use crate::error::Result;
use crate::scalar::Scalar;
use crate::system::{Parameters, System};

pub(super) fn define(_: &[usize]) -> Result<System> {
    System::build("linear-double-pendulum", "Linear double pendulum")
        .summary("Two point masses on massless rods, angles so small that the motion is linear.")
        .energy_unit("J")
        .coordinate("q1", "rad")
        .coordinate("q2", "rad")
        .parameter("m1", "1", "kg", "upper mass")
        .parameter("m2", "1", "kg", "lower mass")
        .parameter("g", "9.81", "m/s²", "gravity")
        .parameter("omega0", "2*pi", "1/s", "angular frequency of one rod alone")
        .parameter("l1", "g/omega0^2", "m", "length of the upper rod")
        .parameter("l2", "g/omega0^2", "m", "length of the lower rod")
        .start_with_momenta(["0", "pi/6"], ["0", "0"])
        .run("simpson", "0.02", "10")
        .motion(2, "m", ["upper".to_owned(), "lower".to_owned()], [(None, 0), (Some(0), 1)], |q, p| {
            // small angles: sin q = q
            let (x1, y1) = (p["l1"] * q[0], -p["l1"]);
            vec![[x1, y1, 0.0.into()], [x1 + p["l2"] * q[1], y1 - p["l2"], 0.0.into()]]
        })
        .lagrangian(lagrangian)
}

fn lagrangian<S: Scalar>(q: &[S], v: &[S], _t: S, p: &Parameters<S>) -> S {
    let (u1, u2) = (p["l1"] * v[0], p["l2"] * v[1]);
    let kinetic = (p["m1"] * u1.squared() + p["m2"] * (u1 + u2).squared()) * 0.5;
    let stiffness1 = (p["m1"] + p["m2"]) * p["g"] * p["l1"];
    let stiffness2 = p["m2"] * p["g"] * p["l2"];
    let potential = (stiffness1 * q[0].squared() + stiffness2 * q[1].squared()) * 0.5;
    kinetic - potential
}
