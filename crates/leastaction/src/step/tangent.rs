//! The derivative of one step: in one direction, or as a matrix of all.

use super::{State, Stepper};
use crate::error::Cause;
use crate::method::Method;
use crate::scalar::{Dual, Field};
use crate::system::Problem;

/// D(q⁺, p⁺)/D(q, p): row i of 2n is the result i, column j the direction j.
///
/// Exact: the step is run in [`Dual`] numbers, so its own iteration carries the derivatives.
pub fn tangent_map(
    problem: &Problem<f64>,
    method: &Method,
    step_size: f64,
    state: &State<f64>,
) -> Result<Vec<Vec<f64>>, Cause> {
    let n = state.q.len();
    let mut stepper = Stepper::new(&problem.convert(), method, Dual::from_f64(step_size));
    let mut map = vec![vec![0.0; 2 * n]; 2 * n];
    for direction in 0..2 * n {
        let unit: Vec<f64> = (0..2 * n).map(|i| f64::from(u8::from(i == direction))).collect();
        for (row, x) in map.iter_mut().zip(tangent(&mut stepper, state, &unit)?) {
            row[direction] = x;
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
