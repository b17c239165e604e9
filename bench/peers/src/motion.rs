//! Equations of motion in the form that costs the least, and energies, for those who want them by hand. The numbers are
//! those of the text files in `systems`; states are (q, p), in the form that needs the fewest operations.

use std::f64::consts::PI;

/// A system of ordinary differential equations with an energy.
pub trait Motion: Clone {
    /// The initial state.
    fn start(&self) -> Vec<f64>;
    /// The derivative of a state.
    fn derivative(&self, y: &[f64], dy: &mut [f64]);
    /// The energy of a state.
    fn energy(&self, y: &[f64]) -> f64;
}

const GRAVITY: f64 = 9.81;

/// Two equal masses on equal rods; momenta and energies over m l².
#[derive(Clone)]
pub struct DoublePendulum;

const FREQUENCY_SQUARED: f64 = 4.0 * PI * PI;

impl Motion for DoublePendulum {
    fn start(&self) -> Vec<f64> {
        vec![PI / 4.0, PI / 3.0, 0.0, 0.0]
    }
    #[inline(always)]
    fn derivative(&self, y: &[f64], dy: &mut [f64]) {
        let (sine, cosine) = (y[0] - y[1]).sin_cos();
        let over = 1.0 / (2.0 - cosine * cosine);
        let (v1, v2) = ((y[2] - cosine * y[3]) * over, (2.0 * y[3] - cosine * y[2]) * over);
        let coupling = sine * v1 * v2;
        dy[0] = v1;
        dy[1] = v2;
        dy[2] = -coupling - 2.0 * FREQUENCY_SQUARED * y[0].sin();
        dy[3] = coupling - FREQUENCY_SQUARED * y[1].sin();
    }
    fn energy(&self, y: &[f64]) -> f64 {
        let cosine = (y[0] - y[1]).cos();
        let kinetic =
            (y[2] * y[2] - 2.0 * cosine * y[2] * y[3] + 2.0 * y[3] * y[3]) / (2.0 * (2.0 - cosine * cosine));
        kinetic - FREQUENCY_SQUARED * (2.0 * y[0].cos() + y[1].cos())
    }
}

/// The Lagrange top: (phi, theta, psi, p_theta); the other momenta are constants. Momenta are over I.
#[derive(Clone)]
pub struct Top;

const TOP_INERTIA: f64 = 2.33e-3;
const TOP_SPIN_INERTIA: f64 = 1.25e-4;
const TOP_WEIGHT: f64 = 0.1 * GRAVITY * 0.15 / TOP_INERTIA;

impl Top {
    fn momenta() -> (f64, f64) {
        let (sine, cosine) = (PI / 3.0).sin_cos();
        let spin = TOP_SPIN_INERTIA / TOP_INERTIA * (252.0 + 9.2 * cosine);
        (sine * sine * 9.2 + spin * cosine, spin)
    }
}

impl Motion for Top {
    fn start(&self) -> Vec<f64> {
        vec![0.0, PI / 3.0, 0.0, 0.0]
    }
    #[inline(always)]
    fn derivative(&self, y: &[f64], dy: &mut [f64]) {
        let (about_vertical, about_axis) = Self::momenta();
        let (sine, cosine) = y[1].sin_cos();
        let precession = (about_vertical - about_axis * cosine) / (sine * sine);
        dy[0] = precession;
        dy[1] = y[3];
        dy[2] = about_axis * (TOP_INERTIA / TOP_SPIN_INERTIA) - cosine * precession;
        dy[3] = sine * (TOP_WEIGHT - precession * (about_axis - cosine * precession));
    }
    fn energy(&self, y: &[f64]) -> f64 {
        let (about_vertical, about_axis) = Self::momenta();
        let (sine, cosine) = y[1].sin_cos();
        let across = (about_vertical - about_axis * cosine) / sine;
        let spin = about_axis * about_axis * (TOP_INERTIA / TOP_SPIN_INERTIA);
        0.5 * (y[3] * y[3] + across * across + spin) + TOP_WEIGHT * cosine
    }
}

/// The pendulum.
#[derive(Clone)]
pub struct Pendulum;

impl Motion for Pendulum {
    fn start(&self) -> Vec<f64> {
        vec![PI / 2.0, 0.0]
    }
    #[inline(always)]
    fn derivative(&self, y: &[f64], dy: &mut [f64]) {
        dy[0] = y[1];
        dy[1] = -FREQUENCY_SQUARED * y[0].sin();
    }
    fn energy(&self, y: &[f64]) -> f64 {
        0.5 * y[1] * y[1] + FREQUENCY_SQUARED * (1.0 - y[0].cos())
    }
}

/// The Fermi–Pasta–Ulam–Tsingou chain: positions, then velocities.
#[derive(Clone)]
pub struct Chain(pub usize);

/// The quadratic part of the spring force.
pub const ALPHA: f64 = 0.25;

impl Motion for Chain {
    fn start(&self) -> Vec<f64> {
        let n = self.0;
        let shape = (1..=n).map(|i| 0.3 * ((i * i) as f64).sin());
        shape.chain((0..n).map(|_| 0.0)).collect()
    }
    #[inline(always)]
    fn derivative(&self, y: &[f64], dy: &mut [f64]) {
        let n = self.0;
        let (q, v) = y.split_at(n);
        let (dq, dv) = dy.split_at_mut(n);
        dq.copy_from_slice(v);
        let force = |stretch: f64| stretch + ALPHA * stretch * stretch;
        // each spring once
        let mut left = force(q[0]);
        for i in 0..n - 1 {
            let right = force(q[i + 1] - q[i]);
            dv[i] = right - left;
            left = right;
        }
        dv[n - 1] = force(-q[n - 1]) - left;
    }
    fn energy(&self, y: &[f64]) -> f64 {
        let n = self.0;
        let at = |i: usize| if i == 0 || i > n { 0.0 } else { y[i - 1] };
        let springs = (0..=n).map(|i| {
            let d = at(i + 1) - at(i);
            d * d * (0.5 + ALPHA / 3.0 * d)
        });
        exact_sum(springs.chain(y[n..].iter().map(|v| 0.5 * v * v)))
    }
}

/// A sum that loses nothing to rounding that matters here.
fn exact_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for x in terms {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    sum + lost
}

/// The sun and the five outer planets: positions, then velocities.
#[derive(Clone)]
pub struct OuterSolarSystem;

const BODIES: usize = 6;
const GRAVITATION: f64 = 2.95912208286e-4;
const MASSES: [f64; BODIES] = [
    1.00000597682,
    0.000954786104043,
    0.000285583733151,
    0.0000437273164546,
    0.0000517759138449,
    1.0 / 1.3e8,
];
const POSITIONS: [f64; 3 * BODIES] = [
    0.0,
    0.0,
    0.0,
    -3.5023653,
    -3.8169847,
    -1.5507963,
    9.0755314,
    -3.0458353,
    -1.6483708,
    8.3101420,
    -16.2901086,
    -7.2521278,
    11.4707666,
    -25.7294829,
    -10.8169456,
    -15.5387357,
    -25.2225594,
    -3.1902382,
];
const VELOCITIES: [f64; 3 * BODIES] = [
    0.0,
    0.0,
    0.0,
    0.00565429,
    -0.00412490,
    -0.00190589,
    0.00168318,
    0.00483525,
    0.00192462,
    0.00354178,
    0.00137102,
    0.00055029,
    0.00288930,
    0.00114527,
    0.00039677,
    0.00276725,
    -0.00170702,
    -0.00136504,
];

impl Motion for OuterSolarSystem {
    fn start(&self) -> Vec<f64> {
        POSITIONS.iter().chain(&VELOCITIES).copied().collect()
    }
    #[inline(always)]
    fn derivative(&self, y: &[f64], dy: &mut [f64]) {
        let (q, v) = y.split_at(3 * BODIES);
        let (dq, dv) = dy.split_at_mut(3 * BODIES);
        dq.copy_from_slice(v);
        dv.fill(0.0);
        for i in 0..BODIES {
            for j in 0..i {
                let d: [f64; 3] = std::array::from_fn(|k| q[3 * i + k] - q[3 * j + k]);
                let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                let pull = GRAVITATION / (square * square.sqrt());
                for k in 0..3 {
                    dv[3 * i + k] -= MASSES[j] * pull * d[k];
                    dv[3 * j + k] += MASSES[i] * pull * d[k];
                }
            }
        }
    }
    fn energy(&self, y: &[f64]) -> f64 {
        let (q, v) = y.split_at(3 * BODIES);
        let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let mut energy = 0.0;
        for i in 0..BODIES {
            energy += 0.5 * MASSES[i] * square(&v[3 * i..3 * i + 3]);
            for j in 0..i {
                let d: [f64; 3] = std::array::from_fn(|k| q[3 * i + k] - q[3 * j + k]);
                energy -= GRAVITATION * MASSES[i] * MASSES[j] / square(&d).sqrt();
            }
        }
        energy
    }
}

/// Does something with the equations of motion of a system: `with_motion!(name, motion, N => short, long)`, where N is the
/// length of a state if that is known when this is compiled, and `long` is done if it is not.
#[macro_export]
macro_rules! with_motion {
    ($name:expr, $motion:ident, $N:ident => $short:expr, $long:expr) => {{
        use $crate::motion::*;
        macro_rules! short {
            ($size:expr, $value:expr) => {{
                const $N: usize = $size;
                let $motion = $value;
                Ok($short)
            }};
        }
        macro_rules! long {
            ($value:expr) => {{
                let $motion = $value;
                Ok($long)
            }};
        }
        match $name {
            "double-pendulum" => short!(4, DoublePendulum),
            "lagrange-top" => short!(4, Top),
            "pendulum" => short!(2, Pendulum),
            "outer-solar-system" => short!(36, OuterSolarSystem),
            "fput-1000" => long!(Chain(1000)),
            "fput-10000" => long!(Chain(10000)),
            other => Err(format!("no equations of motion for `{other}`")),
        }
    }};
}
