//! A chain of n equal pendulums, each hanging from the one before.

use crate::error::Result;
use crate::scalar::Scalar;
use crate::system::{Parameters, System};

pub(super) fn define(sizes: &[usize]) -> Result<System> {
    let n = sizes[0];
    System::build("n-pendulum", "n-pendulum")
        .summary(
            "n equal point masses on massless rods, one hanging from the other; angles from the vertical.",
        )
        .size("n", n, "number of masses")
        .energy_unit("J")
        .coordinates((1..=n).map(|i| format!("q{i}")), "rad")
        .parameter("m", "1", "kg", "each mass")
        .parameter("l", format!("1/{n}").as_str(), "m", "length of each rod")
        .parameter("g", "9.81", "m/s²", "gravity")
        .start_at_rest(vec!["pi/2"; n])
        .run("simpson", "0.002", "5")
        .motion(
            2,
            "m",
            (1..=n).map(|i| format!("mass {i}")),
            (0..n).map(|i| (i.checked_sub(1), i)),
            positions,
        )
        .lagrangian(lagrangian)
}

fn positions<S: Scalar>(q: &[S], p: &Parameters<S>) -> Vec<[S; 3]> {
    let (mut x, mut y) = (S::from(0.0), S::from(0.0));
    q.iter()
        .map(|angle| {
            x += p["l"] * angle.sin();
            y -= p["l"] * angle.cos();
            [x, y, S::from(0.0)]
        })
        .collect()
}

fn lagrangian<S: Scalar>(q: &[S], v: &[S], _t: S, p: &Parameters<S>) -> S {
    let mut lagrangian = S::from(0.0);
    // position and velocity of each mass, in units of the rods
    let (mut y, mut vx, mut vy) = (S::from(0.0), S::from(0.0), S::from(0.0));
    for (angle, rate) in q.iter().zip(v) {
        y -= angle.cos();
        vx += angle.cos() * *rate;
        vy += angle.sin() * *rate;
        lagrangian += p["m"] * p["l"].squared() * 0.5 * (vx.squared() + vy.squared());
        lagrangian -= p["m"] * p["g"] * p["l"] * y;
    }
    lagrangian
}
