//! Systems in whose Lagrangian time occurs: drives, moving supports, masses that change, moving walls.

use leastaction::error::Source;
use leastaction::prelude::*;
use std::collections::BTreeMap;

/// Name, coordinates, Lagrangian, q, v, the time of the start.
pub type Row = (&'static str, &'static str, &'static str, &'static str, &'static str, f64);

pub const SYSTEMS: [Row; 30] = [
    ("driven pendulum", "q", "v_q^2/2 + cos(q) + 0.8*q*sin(1.7*t)", "1", "0.3", 0.0),
    ("Mathieu", "x", "v_x^2/2 - (1 + 0.6*cos(2*t))*x^2/2", "1", "0.2", 0.0),
    ("damped oscillator", "x", "exp(0.4*t)*(v_x^2 - 4*x^2)/2", "1", "0.5", 0.0),
    ("growing mass", "x", "(1 + 0.3*t^2)*v_x^2/2 - cosh(x)", "0.8", "-0.4", 0.2),
    ("burning rocket", "x", "(2 - tanh(t))*v_x^2/2 - (2 - tanh(t))*9.81*x", "0", "7", 0.0),
    ("wire that turns faster", "r", "(v_r^2 + r^2*(0.7 + 0.5*t)^2)/2 - 3*(r - 1)^2/2", "1.1", "0", 0.0),
    ("tilted wire", "r", "(v_r^2 + (r*sin(0.6)*(1 + 0.4*sin(t)))^2)/2 - 2*r*cos(0.6)", "1", "0.5", 0.0),
    ("pivot up and down", "q", "v_q^2/2 + 0.3*3*sin(3*t)*v_q*sin(q) + 4*cos(q)", "1.5", "0.1", 0.0),
    ("pivot to and fro", "q", "v_q^2/2 + 0.4*cos(3*t)*v_q*cos(q) + (4 + 0.3*cos(t))*cos(q)", "1", "0.5", 0.7),
    ("switched force", "x", "v_x^2/2 - x^4/4 + 0.9*x*tanh(2*(t - 0.8))", "0.7", "0.2", 0.0),
    ("sweep", "x", "v_x^2/2 - x^2 - x^4/5 + 0.5*x*cos(t + 0.6*t^2)", "0.5", "0.4", 0.0),
    ("pulse", "x", "v_x^2/2 + cos(x) + 2*x*exp(-4*(t - 0.9)^2)", "0.4", "0", 0.0),
    ("two tones", "x", "v_x^2/2 - x^2/2 - x^4/4 + x*(0.3*cos(2*t) + 0.2*sin(3.1*t))", "0.3", "0.6", 0.0),
    (
        "double pendulum, driven",
        "a, b",
        "v_a^2 + v_b^2/2 + v_a*v_b*cos(a - b) + 5*(2*cos(a) + cos(b)) + 0.7*a*sin(2*t)",
        "0.9, 0.4",
        "0.1, -0.3",
        0.0,
    ),
    (
        "double pendulum, shaken",
        "a, b",
        "v_a^2 + v_b^2/2 + v_a*v_b*cos(a - b) + (4 + cos(3*t))*(2*cos(a) + cos(b))",
        "0.9, 0.4",
        "0.1, -0.3",
        0.3,
    ),
    (
        "spring pendulum, driven",
        "r, q",
        "(v_r^2 + r^2*v_q^2)/2 + 3*r*cos(q) - 10*(r - 1)^2 + 0.4*r*sin(2*t)",
        "1.2, 0.8",
        "0, 0.5",
        0.0,
    ),
    ("lengthened pendulum", "q", "(1 + 0.3*t)^2*v_q^2/2 + 4*(1 + 0.3*t)*cos(q)", "1.2", "0", 0.0),
    (
        "breathing Kepler",
        "x, y",
        "(v_x^2 + v_y^2)/2 + (1 + 0.2*sin(t))/sqrt(x^2 + y^2)",
        "1, 0.1",
        "0, 0.9",
        0.0,
    ),
    ("polar Kepler", "r, phi", "(v_r^2 + r^2*v_phi^2)/2 + (1 + 0.2*sin(2*t))/r", "1, 0", "0.1, 0.9", 0.0),
    (
        "growing field",
        "x, y",
        "(v_x^2 + v_y^2)/2 + (1 + 0.5*t)*(x*v_y - y*v_x)/2 - (x^2 + y^2)/2",
        "1, 0.2",
        "0.1, -0.6",
        0.0,
    ),
    (
        "wave on a charge",
        "x, y",
        "(v_x^2 + v_y^2)/2 + 0.7*x*v_y + 0.4*cos(2*x - 1.5*t) - y^2/2",
        "0.3, 0.1",
        "0.5, 0.2",
        0.0,
    ),
    ("travelling potential", "x", "v_x^2/2 + cos(x - 0.8*t)", "0.5", "0.1", 0.0),
    (
        "chain, one end shaken",
        "x, y, z",
        "(v_x^2 + v_y^2 + v_z^2)/2 - ((x - 0.3*sin(2*t))^2 + (y - x)^2 + (z - y)^2 + z^2)/2 - (y - x)^4/4",
        "0.2, -0.4, 0.3",
        "0, 0.2, 0.1",
        0.0,
    ),
    (
        "full mass matrix",
        "x, y",
        "v_x^2 + v_x*v_y + 1.5*v_y^2 + 0.7*v_y - (x - y)^4 - cos(x)*sin(2*t) - y^2",
        "1, -0.4",
        "0.5, 0.2",
        0.7,
    ),
    ("relativistic, driven", "x", "-sqrt(1 - v_x^2) - x^2/2 + 0.3*x*cos(2*t)", "0.4", "0.3", 0.0),
    (
        "top on a lift",
        "theta, phi, psi",
        "(v_theta^2 + v_phi^2*sin(theta)^2 + 0.5*(v_psi + v_phi*cos(theta))^2)/2 - (2 + 0.5*sin(2*t))*cos(theta)",
        "0.8, 0, 0",
        "0.1, 0.7, 3",
        0.0,
    ),
    (
        "two masses, one melts",
        "x, y",
        "(2 - 0.5*tanh(t))*v_x^2/2 + v_y^2/2 - (x - y)^2 - (x - y)^4/4",
        "0.5, -0.3",
        "0.2, 0",
        0.0,
    ),
    (
        "turning saddle",
        "x, y",
        "(v_x^2 + v_y^2)/2 - ((x^2 - y^2)*cos(3*t) + 2*x*y*sin(3*t))/2",
        "0.4, 0.1",
        "-0.1, 0.2",
        0.0,
    ),
    ("moving wall", "x", "v_x^2/2 - 0.1/(2 + 0.3*sin(t) - x)^2 - 0.1/x^2", "1", "0.4", 0.0),
    ("bead, loop spun up", "q", "(v_q^2 + (0.5 + t)^2*sin(q)^2)/2 + 3*cos(q)", "0.7", "0.2", 0.0),
];

/// A system of this row, with a run of 150 steps.
pub fn system((name, coordinates, lagrangian, q, v, t): &Row) -> System {
    let names: Vec<String> = coordinates.split(", ").map(|name| format!("\"{name}\"")).collect();
    let text = format!(
        "title = \"{name}\"\ncoordinates = [{}]\n[parameters]\nunused = 1\n[lagrangian]\nexpression = \"{lagrangian}\"\n\
         [initial]\nq = [{q}]\nv = [{v}]\nt = {t}\n[run]\nmethod = \"gauss8\"\nstep = 0.02\nuntil = {}\n",
        names.join(", "),
        t + 3.0
    );
    System::from_text(name, &Source::new(format!("{name}.toml"), &text), &mut BTreeMap::new()).expect(name)
}
