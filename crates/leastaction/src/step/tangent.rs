//! The derivative of one step: in one direction, or as a matrix of all.

use super::{State, Stepper};
use crate::error::Cause;
use crate::method::Method;
use crate::scalar::{Dual, Field};
use crate::system::Problem;

/// D(q⁺, p⁺)/D(q, p): row i of 2n is the result i, column j the direction j.
///
/// Exact: the step is run in [`Dual`] numbers, so its own iteration carries the derivatives. It starts at t0 + steps·step_size: where time occurs
/// in L and the state was reached with other steps, give a problem that starts there.
pub fn tangent_map(
    problem: &Problem<f64>,
    method: &Method,
    step_size: f64,
    state: &State<f64>,
) -> Result<Vec<Vec<f64>>, Cause> {
    tangent_map_in_units(problem, method, step_size, state, &vec![1.0; 2 * state.q.len()])
}

/// The same with each coordinate, and then each momentum, in a unit of its own. Derivatives converge with the numbers they belong to, so units should
/// be their sizes.
pub fn tangent_map_in_units(
    problem: &Problem<f64>,
    method: &Method,
    step_size: f64,
    state: &State<f64>,
    units: &[f64],
) -> Result<Vec<Vec<f64>>, Cause> {
    let n = state.q.len();
    let mut stepper = Stepper::new(&problem.convert(), method, Dual::from_f64(step_size));
    let mut map = vec![vec![0.0; 2 * n]; 2 * n];
    for direction in 0..2 * n {
        let mut start = vec![0.0; 2 * n];
        start[direction] = units[direction];
        let end = tangent(&mut stepper, state, &start)?;
        for ((row, x), unit) in map.iter_mut().zip(end).zip(units) {
            row[direction] = x / unit;
        }
    }
    Ok(map)
}

/// How the result of a step changes with its start in a direction: 2n numbers, those of q first, from 2n numbers.
pub fn tangent(
    stepper: &mut Stepper<Dual>,
    state: &State<f64>,
    direction: &[f64],
) -> Result<Vec<f64>, Cause> {
    let lift = |values: &[f64], tangents: &[f64]| -> Vec<Dual> {
        values.iter().zip(tangents).map(|(&value, &tangent)| Dual { value, tangent }).collect()
    };
    let (dq, dp) = direction.split_at(state.q.len());
    let mut moved = State::at(lift(&state.q, dq), lift(&state.p, dp));
    moved.steps = state.steps;
    stepper.step(&mut moved)?;
    Ok(moved.q.iter().chain(&moved.p).map(|x| x.tangent).collect())
}
