//! The Hénon–Heiles system (1964): a star in the potential of a galaxy, from regular to chaotic as the energy grows.

use crate::error::Result;
use crate::scalar::Scalar;
use crate::system::{Parameters, System};

pub(super) fn define(_: &[usize]) -> Result<System> {
    System::build("henon-heiles", "Hénon–Heiles system")
        .summary("Two oscillators with a cubic coupling; bounded below the energy 1/6, mostly chaotic close to it.")
        .time_unit("")
        .coordinate("x", "")
        .coordinate("y", "")
        .parameter("lambda", "1", "", "strength of the coupling")
        .parameter("E", "1/12", "", "energy of the initial state")
        .parameter("y0", "0.1", "", "initial y, on the section x = 0")
        .start(["0", "y0"], ["sqrt(2*E - y0^2 + 2/3*lambda*y0^3)", "0"])
        .run("simpson", "0.1", "200")
        .motion(2, "", ["star".to_owned()], [], |q, _| vec![[q[0], q[1], 0.0.into()]])
        .lagrangian(lagrangian)
}

fn lagrangian<S: Scalar>(q: &[S], v: &[S], _t: S, p: &Parameters<S>) -> S {
    let (x, y) = (q[0], q[1]);
    let kinetic = (v[0].squared() + v[1].squared()) * 0.5;
    let oscillators = (x.squared() + y.squared()) * 0.5;
    let coupling = p["lambda"] * (x.squared() * y - y.powi(3) / 3.0);
    kinetic - oscillators - coupling
}
