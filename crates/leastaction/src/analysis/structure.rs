//! One step under the microscope: its symplecticity and its reversibility.

use crate::error::Cause;
use crate::method::Method;
use crate::scalar::{Dual, Field};
use crate::step::{State, Stepper, tangent};

pub use crate::step::tangent_map;
use crate::system::Problem;

/// The largest entry of DᵀJD − J, each relative to the sizes of the products it is the sum of (at least 1): zero but for
/// rounding if the map is symplectic, whatever the units of coordinates and momenta.
pub fn symplecticity_defect(map: &[Vec<f64>]) -> f64 {
    largest(&defects(map, &vec![1.0; map.len() / 2]))
}

/// The largest size; NaN if there is one.
pub(super) fn largest(defects: &[f64]) -> f64 {
    defects.iter().fold(0.0f64, |m, x| if x.is_nan() { *x } else { m.max(x.abs()) })
}

/// All of these entries below the diagonal, with their signs. The map is in units of its own; `actions` are the products of the units of each coordinate and its
/// momentum, of which only the ratios matter.
pub(super) fn defects(map: &[Vec<f64>], actions: &[f64]) -> Vec<f64> {
    let n = map.len() / 2;
    let mut all = Vec::with_capacity(n * (2 * n).saturating_sub(1));
    for a in 0..2 * n {
        for b in 0..a {
            // an entry that is zero is compared with the actions of its two directions
            let (mut sum, mut size) = (0.0, actions[a % n].sqrt() * actions[b % n].sqrt());
            for (i, action) in actions.iter().enumerate() {
                let (x, y) = (action * map[i][a] * map[n + i][b], action * map[n + i][a] * map[i][b]);
                sum += x - y;
                size += x.abs() + y.abs();
            }
            // J has −1 at (n + i, i)
            let expected = if a == b + n { -actions[b] } else { 0.0 };
            all.push((sum - expected) / size);
        }
    }
    all
}

/// The same for so many pairs of directions, where the whole map is too large: half of them a coordinate with its own
/// momentum, half of them random.
pub fn symplecticity_defect_of_pairs(
    problem: &Problem<f64>,
    method: &Method,
    step_size: f64,
    state: &State<f64>,
    pairs: usize,
) -> Result<f64, Cause> {
    let units = vec![1.0; 2 * state.q.len()];
    Ok(largest(&defects_of_pairs(problem, method, step_size, state, &units, pairs)?))
}

/// The defect of each pair, with its sign. Directions are in units of each coordinate and momentum.
pub(super) fn defects_of_pairs(
    problem: &Problem<f64>,
    method: &Method,
    step_size: f64,
    state: &State<f64>,
    units: &[f64],
    pairs: usize,
) -> Result<Vec<f64>, Cause> {
    let n = state.q.len();
    let scaled = |direction: Vec<f64>| direction.iter().zip(units).map(|(x, unit)| x * unit).collect();
    let mut stepper = Stepper::new(&problem.convert(), method, Dual::from_f64(step_size));
    let mut random = Random::new();
    let mut all = Vec::with_capacity(pairs);
    for pair in 0..pairs {
        let [u, w] = if pair % 2 == 0 {
            let i = (random.next().abs() * n as f64) as usize % n;
            [i, n + i].map(|one| (0..2 * n).map(|j| f64::from(u8::from(j == one))).collect::<Vec<f64>>())
        } else {
            [0, 1].map(|_| (0..2 * n).map(|_| random.next()).collect())
        };
        let [u, w]: [Vec<f64>; 2] = [scaled(u), scaled(w)];
        let (before, _) = area(&u, &w);
        let (after, size) = area(&tangent(&mut stepper, state, &u)?, &tangent(&mut stepper, state, &w)?);
        all.push((after - before) / (size + before.abs()));
    }
    Ok(all)
}

/// Σ_i u_i w_{n+i} − u_{n+i} w_i, and the sum of the sizes of its terms.
fn area(u: &[f64], w: &[f64]) -> (f64, f64) {
    let n = u.len() / 2;
    let terms = (0..n).flat_map(|i| [u[i] * w[n + i], -u[n + i] * w[i]]);
    terms.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()))
}

/// Repeatable numbers between −1 and 1.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new() -> Self {
        Self(7)
    }

    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// How far a step and its reverse miss the start, relative to the size of the coordinates, and of the momenta.
pub fn reversibility_defect(
    problem: &Problem<f64>,
    method: &Method,
    step_size: f64,
    state: &State<f64>,
) -> Result<f64, Cause> {
    let [end, back] = there_and_back(problem, method, step_size, state)?;
    let scale = |a: &[f64], b: &[f64]| a.iter().chain(b).fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    let miss = |a: &[f64], b: &[f64]| {
        let far = a.iter().zip(b).map(|(x, y)| (x - y).abs());
        far.fold(0.0, |m, x| if x > m || x.is_nan() { x } else { m })
    };
    let q = miss(&state.q, &back.q) / scale(&state.q, &end.q);
    let p = miss(&state.p, &back.p) / scale(&state.p, &end.p);
    Ok(if q > p || q.is_nan() { q } else { p })
}

/// The state after a step, and after a step back from there.
pub(super) fn there_and_back(
    problem: &Problem<f64>,
    method: &Method,
    step_size: f64,
    state: &State<f64>,
) -> Result<[State<f64>; 2], Cause> {
    let mut moved = state.clone();
    Stepper::new(problem, method, step_size).step(&mut moved)?;
    // the reverse step starts at the time the forward step ended
    let t0 = problem.t0 + moved.steps as f64 * step_size;
    let mut back = Stepper::new(&Problem { t0, ..problem.clone() }, method, -step_size);
    let end = State { steps: 0, ..moved };
    let mut start = end.clone();
    back.step(&mut start)?;
    Ok([end, start])
}
