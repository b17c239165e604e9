//! The double pendulum of paper 000, Table 1. The lengths are g/omega0²; the printed g/omega0 is a misprint that does
//! not reproduce the paper's Table 2.

use crate::error::Result;
use crate::scalar::Scalar;
use crate::system::{Parameters, System};

pub(super) fn define(_: &[usize]) -> Result<System> {
    System::build("double-pendulum", "Double pendulum")
        .summary("Two point masses on massless rods, one hanging from the other; angles from the vertical.")
        .energy_unit("J")
        .coordinate("q1", "rad")
        .coordinate("q2", "rad")
        .parameter("m1", "1", "kg", "upper mass")
        .parameter("m2", "1", "kg", "lower mass")
        .parameter("g", "9.81", "m/s²", "gravity")
        .parameter("omega0", "2*pi", "1/s", "angular frequency of small oscillations of one rod")
        .parameter("l1", "g/omega0^2", "m", "length of the upper rod")
        .parameter("l2", "g/omega0^2", "m", "length of the lower rod")
        .start_with_momenta(["pi/4", "pi/3"], ["0", "0"])
        .run("simpson", "0.01", "10")
        .motion(2, "m", ["upper".to_owned(), "lower".to_owned()], [(None, 0), (Some(0), 1)], |q, p| {
            let (x1, y1) = (p["l1"] * q[0].sin(), -p["l1"] * q[0].cos());
            vec![[x1, y1, 0.0.into()], [x1 + p["l2"] * q[1].sin(), y1 - p["l2"] * q[1].cos(), 0.0.into()]]
        })
        .lagrangian(lagrangian)
}

fn lagrangian<S: Scalar>(q: &[S], v: &[S], _t: S, p: &Parameters<S>) -> S {
    let (m1, m2, l1, l2, g) = (p["m1"], p["m2"], p["l1"], p["l2"], p["g"]);
    let (u1, u2) = (l1 * v[0], l2 * v[1]);
    let kinetic =
        (m1 + m2) * u1.squared() * 0.5 + m2 * u2.squared() * 0.5 + m2 * u1 * u2 * (q[0] - q[1]).cos();
    let potential = -(m1 + m2) * g * l1 * q[0].cos() - m2 * g * l2 * q[1].cos();
    kinetic - potential
}
