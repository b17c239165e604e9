//! The reduced Lagrange top: paper 000, eqs. (23) to (26), with the data of Table 6. In the velocity form of Runge–Kutta its
//! equations are the paper's first-order system in θ and ξ = θ'.

use crate::error::Result;
use crate::scalar::Scalar;
use crate::system::{Parameters, System};

pub(super) fn define(_: &[usize]) -> Result<System> {
    System::build("lagrange-top-reduced", "Reduced Lagrange top")
        .summary("The nutation of the top with cusps alone, precession and spin eliminated by their momenta.")
        .energy_unit("J")
        .coordinate("theta", "rad")
        .parameter("m", "1", "kg", "mass")
        .parameter("I", "1", "kg m²", "moment of inertia across the axis, about the fixed point")
        .parameter("g", "9.81", "m/s²", "gravity")
        .parameter("l", "4*pi^2/g", "m", "distance of the centre of mass from the fixed point")
        .parameter("p_phi", "2*pi*sqrt(3)", "kg m²/s", "momentum about the vertical")
        .parameter("p_psi", "4*pi", "kg m²/s", "momentum about the axis")
        .start_at_rest(["pi/6"])
        .run("simpson", "0.005", "5")
        .motion(2, "", ["axis".to_owned()], [(None, 0)], |q, _| vec![[q[0].sin(), q[0].cos(), 0.0.into()]])
        .lagrangian(lagrangian)
}

fn lagrangian<S: Scalar>(q: &[S], v: &[S], _t: S, p: &Parameters<S>) -> S {
    let theta = q[0];
    // I φ' sin θ, eq. (25)
    let across = (p["p_phi"] - p["p_psi"] * theta.cos()) / theta.sin();
    let kinetic = p["I"] * v[0].squared() * 0.5;
    let potential = p["m"] * p["g"] * p["l"] * theta.cos() + across.squared() / (p["I"] * 2.0);
    kinetic - potential
}
