//! The sun and the five outer bodies of Hairer, Lubich & Wanner, *Geometric Numerical Integration*, I.2.4.
//!
//! Astronomical units, days, masses relative to the sun; the sun's mass includes the inner planets. Positions and
//! velocities of September 5, 1994, 0h00, relative to the sun, which starts at rest.

use crate::error::Result;
use crate::scalar::Scalar;
use crate::system::{Parameters, System};

/// Name, mass, position, velocity.
type Body = (&'static str, &'static str, [&'static str; 3], [&'static str; 3]);

const BODIES: [Body; 6] = [
    ("sun", "1.00000597682", ["0", "0", "0"], ["0", "0", "0"]),
    (
        "jupiter",
        "0.000954786104043",
        ["-3.5023653", "-3.8169847", "-1.5507963"],
        ["0.00565429", "-0.00412490", "-0.00190589"],
    ),
    (
        "saturn",
        "0.000285583733151",
        ["9.0755314", "-3.0458353", "-1.6483708"],
        ["0.00168318", "0.00483525", "0.00192462"],
    ),
    (
        "uranus",
        "0.0000437273164546",
        ["8.3101420", "-16.2901086", "-7.2521278"],
        ["0.00354178", "0.00137102", "0.00055029"],
    ),
    (
        "neptune",
        "0.0000517759138449",
        ["11.4707666", "-25.7294829", "-10.8169456"],
        ["0.00288930", "0.00114527", "0.00039677"],
    ),
    (
        "pluto",
        "1/1.3e8",
        ["-15.5387357", "-25.2225594", "-3.1902382"],
        ["0.00276725", "-0.00170702", "-0.00136504"],
    ),
];

pub(super) fn define(_: &[usize]) -> Result<System> {
    let coordinates =
        BODIES.iter().flat_map(|(name, ..)| ["x", "y", "z"].map(|axis| format!("{axis}_{name}")));
    let mut builder = System::build("outer-solar-system", "Outer solar system")
        .summary(
            "The sun, Jupiter, Saturn, Uranus, Neptune and Pluto as point masses, from September 5, 1994.",
        )
        .time_unit("d")
        .coordinates(coordinates, "AU")
        .parameter(
            "G",
            "2.95912208286e-4",
            "AU³/d²",
            "gravitational constant, for masses relative to the sun",
        );
    for (name, mass, ..) in BODIES {
        builder = builder.parameter(&format!("m_{name}"), mass, "", &format!("mass of {name}"));
    }
    builder
        .start(BODIES.iter().flat_map(|b| b.2), BODIES.iter().flat_map(|b| b.3))
        .run("lobatto8", "200", "200000")
        .motion(3, "AU", BODIES.iter().map(|b| b.0.to_owned()), [], |q, _| {
            q.chunks(3).map(|x| [x[0], x[1], x[2]]).collect()
        })
        .lagrangian(lagrangian)
}

fn lagrangian<S: Scalar>(q: &[S], v: &[S], _t: S, p: &Parameters<S>) -> S {
    let mass = |i: usize| p[format!("m_{}", BODIES[i].0).as_str()];
    let mut lagrangian = S::from(0.0);
    for i in 0..BODIES.len() {
        let speed: S = (0..3).map(|k| v[3 * i + k].squared()).sum();
        lagrangian += mass(i) * speed * 0.5;
        for j in 0..i {
            let square: S = (0..3).map(|k| (q[3 * i + k] - q[3 * j + k]).squared()).sum();
            lagrangian += p["G"] * mass(i) * mass(j) / square.sqrt();
        }
    }
    lagrangian
}
