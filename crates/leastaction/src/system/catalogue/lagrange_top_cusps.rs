//! The Lagrange top with cusps: paper 000, Table 6. Released with its axis at rest, it falls into cusps.

use super::lagrange_top::{lagrangian, names};
use crate::error::Result;
use crate::system::System;

pub(super) fn define(_: &[usize]) -> Result<System> {
    names(System::build("lagrange-top-cusps", "Lagrange top with cusps"))
        .summary("A heavy symmetric top whose axis is released at rest: its path has cusps.")
        .parameter("m", "1", "kg", "mass")
        .parameter("I", "1", "kg m²", "moment of inertia across the axis, about the fixed point")
        .parameter("I3", "2", "kg m²", "moment of inertia about the axis")
        .parameter("g", "9.81", "m/s²", "gravity")
        .parameter("l", "4*pi^2/g", "m", "distance of the centre of mass from the fixed point")
        .start(["0", "pi/6", "0"], ["0", "0", "2*pi"])
        .run("simpson", "0.005", "5")
        .lagrangian(lagrangian)
}
