//! The Kepler problem in the plane, started at the pericentre of an ellipse with semi-major axis 1.

use crate::error::Result;
use crate::scalar::Scalar;
use crate::system::{Parameters, System};

pub(super) fn define(_: &[usize]) -> Result<System> {
    System::build("kepler", "Kepler problem")
        .summary("A body attracted by a fixed centre; it starts at the pericentre of an ellipse with semi-major axis 1.")
        .time_unit("")
        .coordinate("x", "")
        .coordinate("y", "")
        .parameter("mu", "1", "", "strength of the attraction")
        .parameter("e", "0.6", "", "eccentricity of the initial orbit, below 1")
        .start(["1 - e", "0"], ["0", "sqrt(mu*(1 + e)/(1 - e))"])
        .run("lobatto8", "period/100", "10*period")
        .motion(2, "", ["body".to_owned()], [], |q, _| vec![[q[0], q[1], 0.0.into()]])
        .lagrangian(lagrangian)
}

fn lagrangian<S: Scalar>(q: &[S], v: &[S], _t: S, p: &Parameters<S>) -> S {
    let kinetic = (v[0].squared() + v[1].squared()) * 0.5;
    let distance = (q[0].squared() + q[1].squared()).sqrt();
    kinetic + p["mu"] / distance
}
