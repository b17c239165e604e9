//! Whether a result is what it says it is: what its rows state is computed again, and some of its steps are taken again.
//!
//! Rows that were recorded from the start on are compared bit by bit, as far as the effort allows. Rows further on are reached from the
//! row before, whose state lacks the last digits that a run keeps, so that these agree within rounding only: how much that is, is measured
//! by moving the state in its last digits.

mod events;

use super::typed::difference;
use crate::error::{Error, Result, number};
use crate::simulate::{Checkpoint, Conserved, EnergyMeter, InitialState, Journey, Plan, Recording, Run};
use crate::system::{Energy, Gradient, Quantity};
pub use events::verify_events;
use serde::Serialize;
use std::ops::ControlFlow;

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// What.
    pub what: &'static str,
    /// Whether it is as it should be.
    pub good: bool,
    /// What was found.
    pub found: String,
}

impl Check {
    /// Something that was looked at.
    pub fn new(what: &'static str, good: bool, found: impl Into<String>) -> Self {
        Self { what, good, found: found.into() }
    }
}

/// How much is computed again.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// So many steps at most, from the start and between rows; nothing for all of them.
    pub steps: Option<u64>,
    /// So many pairs of rows are compared.
    pub spots: usize,
    /// Which of them.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { steps: Some(1_000_000), spots: 12, seed: 0 }
    }
}

impl Effort {
    /// Steps of a plan that may be taken: those of large systems, and with many digits, take longer.
    fn steps(&self, plan: &Plan) -> u64 {
        let dear = plan.problem.system.n() as u64 * if plan.precision.is_some() { 1000 } else { 1 };
        self.steps.map_or(u64::MAX, |steps| (steps / dear).max(100))
    }
}

/// Numbers that differ by more than this part of their size are not the same with other rounding.
const ROUNDING: f64 = 1e-11;
/// How much faster than a moved state two computations may part.
const SLACK: f64 = 100.0;
/// A state is moved by this part of itself.
const MOVED: f64 = 4.0 * f64::EPSILON;

/// L as it was typed is looked at in so many rows.
const TYPED_STATES: usize = 50;

/// Asked now and then whether to go on.
pub type GoOn<'a> = &'a dyn Fn() -> ControlFlow<()>;

/// Looks at the recorded states of a run.
pub fn verify_states(run: &Run, rows: &Recording, effort: &Effort, go_on: GoOn<'_>) -> Result<Vec<Check>> {
    let plan = run.plan()?;
    if rows.n != plan.problem.system.n() || rows.is_empty() {
        let message = "the rows do not belong to the run: there are none, or of another system".to_owned();
        return Err(Error::BadStudy { message });
    }
    let ends = Ends::new(&plan, rows);
    let mut checks =
        vec![ends.times(&plan, rows), numbers_are_finite(rows), energies(&plan, rows), momenta(&plan, rows)];
    checks.extend(lagrangian(&plan, rows));
    checks.extend(conserved(&plan, rows, &ends));
    let (same_bits, computed) = from_the_start(&plan, rows, effort, go_on)?;
    checks.push(same_bits);
    // what comes next would only repeat that the rows are wrong
    if checks.iter().all(|check| check.good) {
        checks.push(spots(&plan, rows, &ends, computed, effort, go_on)?);
    }
    Ok(checks)
}

/// Rows at the end of steps: their numbers, and how many steps were taken until then.
struct Ends(Vec<(usize, u64)>);

impl Ends {
    fn new(plan: &Plan, rows: &Recording) -> Self {
        let dense = plan.dense.max(1) as usize;
        let last = rows.len() - 1;
        let ends = (0..rows.len()).filter(|row| row % dense == 0 || *row == last);
        let steps = |row: usize| ((rows.t[row] - plan.problem.t0) / plan.step).round() as u64;
        Self(ends.map(|row| (row, steps(row))).collect())
    }

    /// Whether every row has the time of its step, and none is missing.
    fn times(&self, plan: &Plan, rows: &Recording) -> Check {
        let stepper = plan.stepper(&plan.problem, plan.step);
        // many digits are rounded from another sum
        let near = |a: f64, b: f64| match plan.precision {
            None => a.to_bits() == b.to_bits(),
            Some(_) => (a - b).abs() <= 2.0 * f64::EPSILON * b.abs(),
        };
        let every = plan.every.max(1);
        let last = self.0.len() - 1;
        let wrong = self.0.iter().enumerate().find(|(k, (row, steps))| {
            // a file may claim any number, so that products may not fit
            let due = |k: usize| (k as u64).checked_mul(every);
            // the last one may be the end of the run
            let is_late = |before: usize| due(before).is_some_and(|before| *steps > before);
            let ends = *k == last && k.checked_sub(1).is_some_and(is_late);
            !(due(*k) == Some(*steps) || ends) || !near(rows.t[*row], stepper.time(*steps))
        });
        match wrong {
            Some((_, (row, _))) => Check::new(
                "times",
                false,
                format!("row {row} has t = {}, which is no time of the run", number(rows.t[*row])),
            ),
            None => {
                let steps = self.0[last].1;
                let all = if steps < plan.steps {
                    format!(", of {} in the run", plan.steps)
                } else {
                    String::new()
                };
                Check::new("times", true, format!("{} rows over {steps} steps{all}", rows.len()))
            }
        }
    }
}

fn numbers_are_finite(rows: &Recording) -> Check {
    let lists =
        [("q", &rows.q, rows.n), ("v", &rows.v, rows.n), ("p", &rows.p, rows.n), ("energy", &rows.energy, 1)];
    for (name, list, width) in lists {
        if let Some(at) = list.iter().position(|x| !x.is_finite()) {
            return Check::new("numbers", false, format!("{name} in row {} is {}", at / width, list[at]));
        }
    }
    Check::new("numbers", true, "all states are finite")
}

/// The part of a list that belongs to a row.
fn of_row(list: &[f64], row: usize, n: usize) -> &[f64] {
    &list[row * n..(row + 1) * n]
}

/// The largest size in a list.
fn size(list: &[f64]) -> f64 {
    list.iter().fold(0.0, |size: f64, x| size.max(x.abs()))
}

/// Energies of all rows, from their coordinates and velocities.
fn energies(plan: &Plan, rows: &Recording) -> Check {
    let mut energy = Energy::new(&plan.problem.system.model, &plan.problem.parameters);
    let found: Vec<(f64, f64)> = (0..rows.len())
        .map(|row| energy.at(of_row(&rows.q, row, rows.n), of_row(&rows.v, row, rows.n), &rows.t[row]))
        .collect();
    let scale = found.iter().fold(f64::MIN_POSITIVE, |scale: f64, (e, l)| scale.max(e.abs() + l.abs()));
    let mut largest: f64 = 0.0;
    for (row, ((found, _), said)) in found.iter().zip(&rows.energy).enumerate() {
        let difference = if found.to_bits() == said.to_bits() { 0.0 } else { (found - said).abs() / scale };
        let allowed = if plan.precision.is_some() { ROUNDING } else { 0.0 };
        if difference.is_nan() || difference > allowed {
            let found = format!("row {row} says {}, its state has {}", number(*said), number(*found));
            return Check::new("energies", false, found);
        }
        largest = largest.max(difference);
    }
    let how = if largest == 0.0 { "bit by bit".to_owned() } else { format!("within {largest:.1e}") };
    Check::new("energies", true, format!("those of the states, {how}"))
}

/// Whether L as it was typed has the same values in some rows, where something was taken out of it.
fn lagrangian(plan: &Plan, rows: &Recording) -> Option<Check> {
    let states = (0..rows.len()).step_by(rows.len().div_ceil(TYPED_STATES)).chain([rows.len() - 1]);
    let states = states.map(|row| (of_row(&rows.q, row, rows.n), of_row(&rows.v, row, rows.n), rows.t[row]));
    let found = difference(&plan.problem, states)?;
    let words = format!("differs from L as it was typed by at most {:.1e} of its terms", found.largest);
    let place = if found.is_rounding() { String::new() } else { format!(", at t = {}", number(found.t)) };
    Some(Check::new("lagrangian", found.is_rounding(), words + &place))
}

/// Whether momenta are those of the velocities, as far as their last digits tell.
fn momenta(plan: &Plan, rows: &Recording) -> Check {
    let mut gradient = Gradient::new(&plan.problem.system.model, &plan.problem.parameters);
    let scale = size(&rows.p).max(f64::MIN_POSITIVE);
    let mut largest: f64 = 0.0;
    for row in 0..rows.len() {
        let (q, v) = (of_row(&rows.q, row, rows.n), of_row(&rows.v, row, rows.n));
        let p = gradient.at(q, v, &rows.t[row]).1.to_vec();
        let moved: Vec<f64> = v.iter().map(|v| v * (1.0 - MOVED)).collect();
        let (_, moved) = gradient.at(q, &moved, &rows.t[row]);
        for ((found, moved), said) in p.iter().zip(moved).zip(of_row(&rows.p, row, rows.n)) {
            let difference = (found - said).abs() / scale;
            let allowed = ROUNDING.max(SLACK * (found - moved).abs() / scale);
            if difference.is_nan() || difference > allowed {
                let found =
                    format!("row {row} says {}, its velocities give {}", number(*said), number(*found));
                return Check::new("momenta", false, found);
            }
            largest = largest.max(difference);
        }
    }
    Check::new("momenta", true, format!("those of the velocities, within {largest:.1e} of their size"))
}

/// What must not change: momenta of coordinates that do not occur in L; and how much the energy does.
fn conserved(plan: &Plan, rows: &Recording, ends: &Ends) -> Vec<Check> {
    let structure = plan.problem.system.structure();
    let names = plan.problem.system.coordinate_names();
    let mut checks = Vec::new();
    if !structure.cyclic.is_empty() && plan.method.is_variational() {
        let changed = structure.cyclic.iter().find_map(|&i| {
            let first = rows.p[i].to_bits();
            let row =
                ends.0.iter().map(|end| end.0).find(|row| rows.p[row * rows.n + i].to_bits() != first)?;
            Some(format!("p_{} of row {row} differs from that of the first", names[i]))
        });
        let kept: Vec<String> = structure.cyclic.iter().take(8).map(|&i| format!("p_{}", names[i])).collect();
        let good = changed.is_none();
        checks.push(Check::new(
            "conserved",
            good,
            changed.unwrap_or(format!("{} to the last bit", kept.join(", "))),
        ));
    }
    checks.extend(symmetries(plan, rows, ends));
    if structure.autonomous {
        let first = rows.energy[0];
        let change = rows.energy.iter().fold(0.0, |change: f64, e| change.max((e - first).abs()));
        checks.push(match left_motion(plan, rows) {
            None => {
                Check::new("energy", true, format!("within {change:.3e} of {} in all rows", number(first)))
            }
            Some(row) => Check::new(
                "energy",
                false,
                format!(
                    "{} at the start and {} in row {row}, many times what the motion has: it was left before",
                    number(first),
                    number(rows.energy[row])
                ),
            ),
        });
    }
    checks
}

/// The first row whose energy is so wrong that a run would have ended before it: one that was made by a version, or by somebody, who did not mind.
/// What a motion has is an average over its steps, so there must be a row for each.
fn left_motion(plan: &Plan, rows: &Recording) -> Option<usize> {
    if rows.t.get(1).is_none_or(|t| (t - rows.t[0]).abs() > 1.5 * plan.step.abs()) {
        return None;
    }
    let mut meter = EnergyMeter::new(&plan.problem);
    (1..rows.len()).find(|&row| {
        let state = [&rows.q, &rows.v, &rows.p].map(|numbers| of_row(numbers, row, rows.n));
        let kinetic = meter.kinetic(&rows.t[row], state);
        let bare = rows.energy[row] - meter.constant();
        meter.note(&bare, kinetic, plan.step).is_err()
    })
}

/// How much what symmetries conserve differs from row to row: angular momenta, say.
fn symmetries(plan: &Plan, rows: &Recording, ends: &Ends) -> Vec<Check> {
    let conserved = Conserved::new(&plan.problem);
    // momenta of coordinates come first
    let known = plan.problem.system.structure().cyclic.len();
    let at = |row: usize| -> Vec<f64> {
        conserved.at(of_row(&rows.q, row, rows.n), of_row(&rows.p, row, rows.n)).skip(known).collect()
    };
    let first = at(0);
    if first.is_empty() {
        return Vec::new();
    }
    let mut changes = vec![0.0f64; first.len()];
    for (row, _) in &ends.0 {
        for (change, (now, before)) in changes.iter_mut().zip(at(*row).iter().zip(&first)) {
            *change = change.max((now - before).abs());
        }
    }
    let words: Vec<String> = conserved
        .names
        .iter()
        .skip(known)
        .zip(&first)
        .zip(&changes)
        .take(8)
        .map(|((name, first), change)| format!("{name} within {change:.1e} of {}", number(*first)))
        .collect();
    vec![Check::new("symmetries", changes.iter().all(|x| x.is_finite()), words.join(", "))]
}

/// Reaches rows from those before, where they were not computed from the start.
fn spots(
    plan: &Plan,
    rows: &Recording,
    ends: &Ends,
    computed: usize,
    effort: &Effort,
    go_on: GoOn<'_>,
) -> Result<Check> {
    let pairs: Vec<&[(usize, u64)]> = ends.0.windows(2).filter(|pair| pair[1].0 >= computed).collect();
    if pairs.is_empty() {
        return Ok(Check::new("steps", true, "all were taken again from the start"));
    }
    let between = pairs.first().map_or(1, |pair| pair[1].1 - pair[0].1).max(1);
    let affordable = (effort.steps(plan) / (2 * between)) as usize;
    let count = effort.spots.min(pairs.len()).min(affordable);
    if count == 0 {
        return Ok(Check::new(
            "steps",
            true,
            "none taken again: rows are too far apart, or there is only one",
        ));
    }
    // a tolerance leaves equations unsolved by a part of it
    let missing = plan.tolerance.map_or(0.0, |tolerance| tolerance / plan.steps.max(1) as f64);
    let mut dice = effort.seed;
    let mut largest: f64 = 0.0;
    for _ in 0..count {
        if go_on().is_break() {
            return Ok(Check::new("steps", true, "not all were taken again: interrupted"));
        }
        let pair = pairs[(draw(&mut dice) % pairs.len() as u64) as usize];
        let ((from, before), (to, after)) = (pair[0], pair[1]);
        let reached = reach(plan, rows, from, after - before, 0.0)?;
        let moved = reach(plan, rows, from, after - before, MOVED)?;
        let said = [of_row(&rows.q, to, rows.n), of_row(&rows.p, to, rows.n)].concat();
        let scales = [size(&rows.q), size(&rows.p)];
        for (i, said) in said.iter().enumerate() {
            let scale = scales[i / rows.n].max(f64::MIN_POSITIVE);
            let difference = (reached[i] - said).abs() / scale;
            let rounding = (f64::EPSILON + missing) * between as f64;
            let allowed = SLACK * ((reached[i] - moved[i]).abs() / scale + rounding);
            if difference.is_nan() || difference > allowed {
                return Ok(Check::new(
                    "steps",
                    false,
                    format!(
                        "from row {from} the run comes to {} where row {to} says {}",
                        number(reached[i]),
                        number(*said)
                    ),
                ));
            }
            largest = largest.max(difference);
        }
    }
    let rows = if count == 1 { "1 row is".to_owned() } else { format!("{count} rows are") };
    Ok(Check::new("steps", true, format!("{rows} reached from those before, within {largest:.1e}")))
}

/// q and p after so many steps, from the state in a row, moved by a part of itself.
fn reach(plan: &Plan, rows: &Recording, from: usize, steps: u64, moved: f64) -> Result<Vec<f64>> {
    // half a step more, because times are rounded
    let until = rows.t[from] + (steps as f64 + 0.5) * plan.step;
    let numbers = |list: &[f64]| {
        Some(of_row(list, from, rows.n).iter().map(|x| Quantity::Number(x * (1.0 + moved))).collect())
    };
    let run = Run {
        initial: InitialState {
            t: Some(Quantity::Number(rows.t[from])),
            q: numbers(&rows.q),
            p: numbers(&rows.p),
            v: None,
        },
        until: Some(Quantity::Number(until)),
        // a period that it is a part of may depend on the state
        step: Some(Quantity::Number(plan.step)),
        tolerance: None,
        every: Some(0),
        dense: None,
        events: Default::default(),
        outputs: Default::default(),
        ..plan.run.clone()
    };
    let summary = run.simulate()?.into_result()?.summary;
    Ok([summary.q, summary.p].concat())
}

/// The next of numbers that look as if drawn (Steele, Lea and Flood, 2014).
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Goes from the start as far as the effort allows.
fn go_again<'p>(plan: &'p Plan, effort: &Effort, go_on: GoOn<'_>) -> Result<Journey<'p>> {
    let most = effort.steps(plan);
    let mut journey = plan.begin()?;
    journey.go(&mut |step| {
        let enough = step >= most || (step.is_multiple_of(1024) && go_on().is_break());
        if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    Ok(journey)
}

/// Runs again from the start, and compares bits. How many rows were.
fn from_the_start(plan: &Plan, rows: &Recording, effort: &Effort, go_on: GoOn<'_>) -> Result<(Check, usize)> {
    let mut journey = go_again(plan, effort, go_on)?;
    let (steps, over) = (journey.steps(), journey.is_over());
    Ok(journey.show(|solution| {
        let own = &solution.recording;
        let count = own.len().min(rows.len());
        let check = |good: bool, found: String| (Check::new("same bits", good, found), count);
        // a run that was left early has its last row where it was left
        let last = rows.len() - 1;
        if let Some(row) =
            (0..count).find(|&row| differs(own, rows, row) && !(row == last && over && row < own.len() - 1))
        {
            let t = number(rows.t[row]);
            return check(false, format!("no: computed here, row {row} (t = {t}) differs"));
        }
        match over {
            true if rows.len() > own.len() => check(
                false,
                format!("no: computed here, the run ends after {} rows of {}", own.len(), rows.len()),
            ),
            true if rows.len() < own.len() => {
                check(true, format!("yes: {count} rows; the run goes on for {} more", own.len() - rows.len()))
            }
            true => check(true, format!("yes: all {count} rows, over {steps} steps")),
            false => check(true, format!("yes: the first {count} rows, over {steps} steps")),
        }
    }))
}

/// Whether a row has other bits than another.
fn differs(own: &Recording, other: &Recording, row: usize) -> bool {
    let bits = |r: &Recording| {
        let lists = [
            of_row(&r.t, row, 1),
            of_row(&r.q, row, r.n),
            of_row(&r.v, row, r.n),
            of_row(&r.p, row, r.n),
            of_row(&r.energy, row, 1),
        ];
        lists.concat().iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    };
    let outputs = || {
        own.outputs.iter().zip(&other.outputs).any(|(a, b)| {
            let (a, b) = (a.values[row], b.values[row]);
            a.to_bits() != b.to_bits() && !(a.is_nan() && b.is_nan())
        })
    };
    bits(own) != bits(other) || own.outputs.len() != other.outputs.len() || outputs()
}

/// Looks at a checkpoint that was read: it fits its run, and the same steps lead there.
pub fn verify_checkpoint(found: &Checkpoint, effort: &Effort, go_on: GoOn<'_>) -> Result<Vec<Check>> {
    let plan = found.run.plan()?;
    let mut journey = plan.begin()?;
    found.restore(&mut journey)?;
    let way = format!("step {} of {}{}", found.steps, found.of, if found.over { ", over" } else { "" });
    let mut checks =
        vec![Check::new("run", true, format!("{} with {}, {way}", found.run.system, plan.method.name))];
    checks.push(journey.show(|solution| {
        let summary = &solution.summary;
        let finite = summary.q.iter().chain(&summary.p).all(|x| x.is_finite());
        let error = summary.energy.max_relative_error;
        Check::new("state", finite, format!("t = {}, energy error {error:.3e} so far", number(summary.t_end)))
    }));
    if found.steps > effort.steps(&plan) {
        let found = format!("not computed again: {} steps are many", found.steps);
        checks.push(Check::new("same bits", true, found));
        return Ok(checks);
    }
    let mut again = plan.begin()?;
    if found.steps > 0 {
        again.go(&mut |step| {
            let enough = step >= found.steps || go_on().is_break();
            if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }
    if again.steps() < found.steps && !again.is_over() {
        checks.push(Check::new("same bits", true, "not known: interrupted"));
        return Ok(checks);
    }
    let same = found.steps == 0 || found.agrees(&mut again);
    let words = if same {
        "yes: all that it holds, computed again"
    } else {
        "no: computed here, it would be another"
    };
    checks.push(Check::new("same bits", same, words));
    Ok(checks)
}
