//! The derivative of one step.

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
    let dual: Problem<Dual> = problem.convert();
    let mut stepper = Stepper::new(&dual, method, Dual::from_f64(step_size));
    let mut map = vec![vec![0.0; 2 * n]; 2 * n];
    for direction in 0..2 * n {
        let lift = |values: &[f64], offset: usize| -> Vec<Dual> {
            let tangent = |i: usize| if i + offset == direction { 1.0 } else { 0.0 };
            values.iter().enumerate().map(|(i, &value)| Dual { value, tangent: tangent(i) }).collect()
        };
        let mut moved = State::at(lift(&state.q, 0), lift(&state.p, n));
        moved.steps = state.steps;
        stepper.step(&mut moved)?;
        for i in 0..n {
            map[i][direction] = moved.q[i].tangent;
            map[n + i][direction] = moved.p[i].tangent;
        }
    }
    Ok(map)
}
