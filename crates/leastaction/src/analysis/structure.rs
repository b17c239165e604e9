//! One step under the microscope: its symplecticity and its reversibility.

use crate::error::Cause;
use crate::method::Method;
use crate::step::{State, Stepper};

pub use crate::step::tangent_map;
use crate::system::Problem;

/// The largest entry of DᵀJD − J, each relative to the sizes of the products it is the sum of (at least 1): zero but for
/// rounding if the map is symplectic, whatever the units of coordinates and momenta.
pub fn symplecticity_defect(map: &[Vec<f64>]) -> f64 {
    let n = map.len() / 2;
    let mut worst = 0.0f64;
    for a in 0..2 * n {
        for b in 0..a {
            let (mut sum, mut size) = (0.0, 1.0);
            for i in 0..n {
                let (x, y) = (map[i][a] * map[n + i][b], map[n + i][a] * map[i][b]);
                sum += x - y;
                size += x.abs() + y.abs();
            }
            // J has −1 at (n + i, i)
            let expected = if a == b + n { -1.0 } else { 0.0 };
            worst = worst.max((sum - expected).abs() / size);
        }
    }
    worst
}

/// How far a step and its reverse miss the start, relative to the size of the coordinates, and of the momenta.
pub fn reversibility_defect(
    problem: &Problem<f64>,
    method: &Method,
    step_size: f64,
    state: &State<f64>,
) -> Result<f64, Cause> {
    let mut moved = state.clone();
    Stepper::new(problem, method, step_size).step(&mut moved)?;
    let scale = |a: &[f64], b: &[f64]| a.iter().chain(b).fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    let (q_scale, p_scale) = (scale(&state.q, &moved.q), scale(&state.p, &moved.p));
    // the reverse step starts at the time the forward step ended
    let mut back =
        Stepper::new(&Problem { t0: problem.t0 + step_size, ..problem.clone() }, method, -step_size);
    moved.steps = 0;
    back.step(&mut moved)?;
    let miss = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0f64, |m, (x, y)| m.max((x - y).abs()));
    Ok((miss(&state.q, &moved.q) / q_scale).max(miss(&state.p, &moved.p) / p_scale))
}
