//! A charged particle in a uniform magnetic field along z, symmetric gauge: a Lagrangian with a term linear in v.

use crate::error::Result;
use crate::scalar::Scalar;
use crate::system::{Parameters, System};

pub(super) fn define(_: &[usize]) -> Result<System> {
    System::build("charged-particle", "Charged particle in a magnetic field")
        .summary(
            "A charge in a uniform magnetic field along z: it moves on a helix with the cyclotron frequency.",
        )
        .energy_unit("J")
        .coordinate("x", "m")
        .coordinate("y", "m")
        .coordinate("z", "m")
        .parameter("m", "1", "kg", "mass")
        .parameter("charge", "1", "C", "electric charge")
        .parameter("B", "2*pi", "T", "magnetic field")
        .start(["1", "0", "0"], ["0", "-2*pi", "0.5"])
        .run("simpson", "0.02", "10")
        .motion(3, "m", ["charge".to_owned()], [], |q, _| vec![[q[0], q[1], q[2]]])
        .lagrangian(lagrangian)
}

fn lagrangian<S: Scalar>(q: &[S], v: &[S], _t: S, p: &Parameters<S>) -> S {
    let kinetic = p["m"] * (v[0].squared() + v[1].squared() + v[2].squared()) * 0.5;
    // charge · v·A with A = B/2 (−y, x, 0)
    let magnetic = p["charge"] * p["B"] * 0.5 * (q[0] * v[1] - q[1] * v[0]);
    kinetic + magnetic
}
