//! A cart on a frictionless track with a pole hinged to it: the test bench of control.

use crate::error::Result;
use crate::scalar::Scalar;
use crate::system::{Parameters, System};

pub(super) fn define(_: &[usize]) -> Result<System> {
    System::build("cart-pole", "Cart and pole")
        .summary(
            "A cart on a frictionless track with a point mass on a massless pole; theta from the upright.",
        )
        .energy_unit("J")
        .coordinate("x", "m")
        .coordinate("theta", "rad")
        .parameter("M", "1", "kg", "mass of the cart")
        .parameter("m", "0.1", "kg", "mass at the end of the pole")
        .parameter("l", "0.5", "m", "length of the pole")
        .parameter("g", "9.81", "m/s²", "gravity")
        .start_at_rest(["0", "pi/6"])
        .run("simpson", "0.01", "10")
        .motion(2, "m", ["cart".to_owned(), "pole".to_owned()], [(Some(0), 1)], |q, p| {
            let tip = [q[0] + p["l"] * q[1].sin(), p["l"] * q[1].cos(), 0.0.into()];
            vec![[q[0], 0.0.into(), 0.0.into()], tip]
        })
        .lagrangian(lagrangian)
}

fn lagrangian<S: Scalar>(q: &[S], v: &[S], _t: S, p: &Parameters<S>) -> S {
    let (cart, swing) = (v[0], p["l"] * v[1]);
    let kinetic = (p["M"] + p["m"]) * cart.squared() * 0.5
        + p["m"] * cart * swing * q[1].cos()
        + p["m"] * swing.squared() * 0.5;
    let potential = p["m"] * p["g"] * p["l"] * q[1].cos();
    kinetic - potential
}
