//! Whether events are what a table says: each is a zero of its formula, and the run computed again has the same.

use super::{Check, Effort, GoOn, MOVED, SLACK, go_again, of_row};
use crate::error::{Error, Result, number};
use crate::simulate::{Crossings, Plan, Run};

/// Looks at the located events of a run.
pub fn verify_events(
    run: &Run,
    rows: &Crossings<f64>,
    effort: &Effort,
    go_on: GoOn<'_>,
) -> Result<Vec<Check>> {
    let plan = run.plan()?;
    if rows.n != plan.problem.system.n() || rows.event.iter().any(|event| *event >= run.events.len()) {
        let message = "the events do not belong to the run: they are of others, or of another system";
        return Err(Error::BadStudy { message: message.to_owned() });
    }
    Ok(vec![zeros(&plan, rows)?, from_the_start(&plan, rows, effort, go_on)?])
}

/// Whether the formula of each event vanishes at its state, as far as the digits of a row tell.
fn zeros(plan: &Plan, rows: &Crossings<f64>) -> Result<Check> {
    let observed = plan.observed()?;
    let mut gauge = observed.formulas.gauge(&plan.problem);
    let mut at = |event: usize, q: &[f64], v: &[f64], t: f64| gauge.at(q, v, &t)[event];
    for row in 0..rows.len() {
        let (event, t) = (rows.event[row], rows.t[row]);
        let (mut q, mut v) = (of_row(&rows.q, row, rows.n).to_vec(), of_row(&rows.v, row, rows.n).to_vec());
        let value = at(event, &q, &v, t);
        // a time that differs in its last digits is one of a state further on
        let later = MOVED * (t.abs() + plan.step.abs());
        let on: Vec<f64> = q.iter().zip(&v).map(|(q, v)| q + later * v).collect();
        let mut allowed = (at(event, &on, &v, t + later) - value).abs();
        for i in 0..rows.n {
            let (q_i, v_i) = (q[i], v[i]);
            q[i] *= 1.0 + MOVED;
            allowed += (at(event, &q, &v, t) - value).abs();
            (q[i], v[i]) = (q_i, v_i * (1.0 + MOVED));
            allowed += (at(event, &q, &v, t) - value).abs();
            v[i] = v_i;
        }
        if value.is_nan() || value.abs() > SLACK * allowed + f64::MIN_POSITIVE {
            let name = &observed.events[event].0;
            let found = format!("row {row}: the formula of `{name}` is {} there, and no zero", number(value));
            return Ok(Check::new("zeros", false, found));
        }
    }
    Ok(Check::new("zeros", true, "the formulas of all events vanish where they happened"))
}

/// Runs again from the start, and compares bits.
fn from_the_start(plan: &Plan, rows: &Crossings<f64>, effort: &Effort, go_on: GoOn<'_>) -> Result<Check> {
    let mut journey = go_again(plan, effort, go_on)?;
    let (steps, over) = (journey.steps(), journey.is_over());
    Ok(journey.show(|solution| {
        let own = &solution.events;
        let count = own.len().min(rows.len());
        let check = |good: bool, found: String| Check::new("same bits", good, found);
        if let Some(row) = (0..count).find(|&row| bits(own, row) != bits(rows, row)) {
            let t = number(rows.t[row]);
            return check(false, format!("no: computed here, row {row} (t = {t}) differs"));
        }
        let left = own.len() - count;
        match over {
            _ if left > 0 => check(true, format!("yes: {count} events; the run goes on for {left} more")),
            true if rows.len() > own.len() => {
                check(false, format!("no: computed here, the run has {} events of {}", own.len(), rows.len()))
            }
            true => check(true, format!("yes: all {count} events, over {steps} steps")),
            // those that are left must belong to later steps
            false if rows.t.get(count).is_some_and(|t| (solution.summary.t_end - t) * plan.step >= 0.0) => {
                check(false, format!("no: computed here, row {count} does not happen"))
            }
            false => check(true, format!("yes: the first {count} events, over {steps} steps")),
        }
    }))
}

/// All that a row says.
fn bits(rows: &Crossings<f64>, row: usize) -> Vec<u64> {
    let width = rows.outputs.len();
    let numbers = [
        of_row(&rows.t, row, 1),
        of_row(&rows.q, row, rows.n),
        of_row(&rows.v, row, rows.n),
        of_row(&rows.p, row, rows.n),
        of_row(&rows.values, row, width),
    ];
    // no numbers are all the same in a file
    let word = |x: &f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
    let counts = [rows.event[row] as u64, rows.count[row]];
    counts.into_iter().chain(numbers.concat().iter().map(word)).collect()
}
