//! The order in q and in p, over a short stretch around the step of the run that is least accurate.
//!
//! The stretch is run with halved steps and compared with a Gauss method of higher order and half the smallest step. Where errors
//! drown in the rounding of 64-bit numbers, or do not show the order yet, the same is done with more digits and smaller steps.

use super::defects::carried;
use super::single_steps::SingleSteps;
use super::sizes::Sizes;
use super::terrain::Terrain;
use super::trail::Trail;
use super::{Check, OrderFound, Subject, Verdict};
use crate::analysis::order::{fitted_order, pairwise_orders};
use crate::analysis::{Computed, Finding, Findings, Measure, Reference, Studies, Study};
use crate::error::Result;
use crate::method::MAX_ORDER;
use crate::simulate::{InitialState, Run};
use crate::step::State;
use crate::system::{Problem, Quantity};

/// Orders below the expected one by more than this are a failure. More than expected is not.
const TOLERANCE: f64 = 0.25;
/// The stretch has so many of the largest steps, and starts a quarter of them before the worst one. Where steps take long it has
/// fewer.
const STEPS: u64 = 8;
const FEW_STEPS: u64 = 4;
/// The step is halved so often, with more digits more often.
const HALVINGS: u32 = 3;
const MORE_HALVINGS: u32 = 5;
const MOST_HALVINGS: u32 = 8;
const DIGITS: usize = 64;
/// The order is fitted to so many errors, of the smallest steps that stand clear of rounding.
const FITTED: usize = 3;
/// So many orders between successive steps must be near to it as well: errors at a kink fall by chance.
const STEADY: usize = 4;
/// Numbers with many digits take so many times as long.
const SLOWER: f64 = 15.0;
/// The work with many digits, in nanoseconds as estimated.
const WORK: f64 = 4e9;
/// Steps up to so many times larger are tried where errors are rounding.
const LARGER: f64 = 64.0;
/// Errors of 64-bit numbers below this part of the sizes of q or p are rounding: 64 steps and 128 of the reference, each of
/// which leaves some ten units in the last place, all in one direction at worst.
const PLATEAU: f64 = 4096.0 * f64::EPSILON;
/// And those below so many units of rounding of q and p as a step carries it on: forces of many terms that cancel leave more in a small
/// momentum than its own size says. Measured for a chain of 1000 at rest: 4 units.
const CARRIED: f64 = 64.0 * f64::EPSILON;
/// The stretch starts with steps at most so many radians of the fastest motion long, for each degree of the polynomial.
const RESOLVED: f64 = 0.5;

pub(super) fn order(
    subject: &Subject<'_>,
    trail: &Trail,
    sizes: &Sizes,
    single: &SingleSteps,
    terrain: &Terrain,
) -> Check<OrderFound> {
    let method = &subject.plan.method;
    let blank = OrderFound { expected: method.order, ..OrderFound::default() };
    if subject.interrupted() {
        return Check::new(Verdict::NotMeasured, "not measured: interrupted", blank);
    }
    let heavy = SLOWER * 80.0 * STEPS as f64 * subject.work(method) > WORK;
    let steps = if heavy { FEW_STEPS } else { STEPS };
    let worst = single.worst().map_or(0, |(step, _)| step);
    let Some(state) = trail.state_after(subject, worst.saturating_sub(steps / 4)) else {
        return Check::new(Verdict::NotMeasured, "not measured: the run does not get there", blank);
    };
    let fastest = terrain.to_resolve();
    // halved until the fastest motion is resolved, so that errors fall as they should
    let wanted = RESOLVED * method.degree().unwrap_or(2) as f64;
    let mut step = subject.plan.step;
    for _ in 0..40 {
        if fastest * step <= wanted {
            break;
        }
        step *= 0.5;
    }
    let carried = carried(&subject.from(&state), method, step, sizes);
    let (q, p) = carried.split_at(state.q.len());
    let plateau = [(q, sizes.q()), (p, sizes.p())].map(|(carried, sizes)| {
        carried.iter().zip(sizes).fold(PLATEAU, |m, (carried, size)| m.max(CARRIED * carried / size))
    });
    let stretch = Stretch { subject, sizes, state: &state, step, steps, resolved: wanted / fastest, plateau };
    match stretch.measure() {
        Ok(mut reading) => {
            reading.found.from = Some(subject.time(state.steps));
            reading.judge(subject, worst)
        }
        Err(error) => Check::new(Verdict::NotMeasured, format!("not measured: {error}"), blank),
    }
}

/// Where and with which largest step.
struct Stretch<'a> {
    subject: &'a Subject<'a>,
    sizes: &'a Sizes,
    state: &'a State<f64>,
    step: f64,
    steps: u64,
    /// The largest step that resolves the fastest motion.
    resolved: f64,
    /// Errors of q and p in 64-bit numbers that are rounding, relative to their sizes.
    plateau: [f64; 2],
}

/// What one study says.
struct Reading {
    found: OrderFound,
    /// How many errors of q and of p stand clear of rounding.
    clear: [usize; 2],
    /// The lowest order between two of the last of them.
    lowest: f64,
    /// Why a run failed.
    failure: Option<String>,
}

impl Stretch<'_> {
    fn measure(&self) -> Result<Reading> {
        let first = self.study(self.step, HALVINGS, None)?;
        let many = self.is_affordable(MORE_HALVINGS);
        if first.is_settled() || self.subject.interrupted() || (!many && first.is_clear()) {
            return Ok(first);
        }
        if !many {
            return self.larger(first, HALVINGS, None);
        }
        let reading = self.study(self.step, MORE_HALVINGS, Some(DIGITS))?;
        let mut reading = self.larger(reading, MORE_HALVINGS, Some(DIGITS))?;
        // an order that still rises belongs to steps that are too large for it
        if !reading.is_high_enough() && reading.is_clear() && self.is_affordable(MOST_HALVINGS) {
            reading = self.study(reading.found.steps[0], MOST_HALVINGS, Some(DIGITS))?;
        }
        Ok(reading)
    }

    /// Where all errors are rounding: the same with larger steps, as long as they resolve the motion.
    fn larger(&self, mut reading: Reading, halvings: u32, precision: Option<usize>) -> Result<Reading> {
        let mut step = self.step;
        while !reading.is_clear() && 4.0 * step <= self.resolved.min(LARGER * self.step) {
            step *= 4.0;
            let larger = self.study(step, halvings, precision)?;
            if larger.failure.is_some() {
                break;
            }
            reading = larger;
        }
        Ok(reading)
    }

    /// Whether runs with many digits take no longer than one would wait.
    fn is_affordable(&self, halvings: u32) -> bool {
        let steps = (self.steps << (halvings + 2)) as f64;
        SLOWER * steps * self.subject.work(&self.subject.plan.method) <= WORK
    }

    fn study(&self, step: f64, halvings: u32, precision: Option<usize>) -> Result<Reading> {
        let problem = self.subject.from(self.state);
        let method = &self.subject.plan.method;
        let length = self.steps as f64 * step;
        let reference = format!("gauss{}", (method.order + 4).clamp(8, MAX_ORDER));
        let study = Study {
            run: run_of(&problem, precision),
            methods: vec![method.name.clone()],
            // as formulas: many digits see that a number and its half, printed, do not divide each other
            steps: (0..=halvings).map(|k| Quantity::Formula(format!("({step:e})/{}", 1u32 << k))).collect(),
            until: vec![Quantity::Formula(format!("({:e}) + {}*({step:e})", problem.t0, self.steps))],
            measures: [("q", self.sizes.q()), ("p", self.sizes.p())]
                .map(|(of, sizes)| Measure { units: sizes.to_vec(), ..Measure::of(of) })
                .into(),
            reference: Reference::Computed(Computed { method: Some(reference), ..Computed::default() }),
        };
        let studies = Studies::of_system(std::slice::from_ref(&study), &problem.system)?;
        let all = studies.run(self.subject.watch);
        let findings = &all[0];
        let expected = method.order;
        let mut lowest = f64::INFINITY;
        let (mut found, mut clear, mut failure) =
            (OrderFound { expected, precision, length: Some(length), ..OrderFound::default() }, [0; 2], None);
        found.reference.clone_from(&findings.reference);
        found.steps.clone_from(&findings.steps);
        for (measure, clear) in clear.iter_mut().enumerate() {
            let cells = findings.row(0, measure, 0);
            let plateau = if precision.is_none() { self.plateau[measure] } else { 0.0 };
            let points = clear_points(findings, measure, plateau);
            *clear = points.len();
            let last = &points[points.len().saturating_sub(STEADY + 1)..];
            lowest = pairwise_orders(last).into_iter().fold(lowest, f64::min);
            let fitted =
                points.len().checked_sub(FITTED).and_then(|first| fitted_order(&points[first..], 0.0));
            let errors = cells.iter().map(Finding::value).collect();
            if measure == 0 {
                (found.q, found.errors_q) = (fitted, errors);
            } else {
                (found.p, found.errors_p) = (fitted, errors);
            }
            failure = failure.or_else(|| {
                cells.iter().find_map(|cell| match cell {
                    Finding::Failed(why) => Some(why.clone()),
                    _ => None,
                })
            });
        }
        Ok(Reading { found, clear, lowest, failure })
    }
}

/// Steps and errors that stand clear of rounding.
fn clear_points(findings: &Findings, measure: usize, plateau: f64) -> Vec<(f64, f64)> {
    let cells = findings.steps.iter().zip(findings.row(0, measure, 0));
    let clear = cells.filter(|(_, cell)| cell.is_clear() && cell.value() > plateau);
    clear.map(|(h, cell)| (*h, cell.value())).collect()
}

/// The run of a problem as it is.
fn run_of(problem: &Problem<f64>, precision: Option<usize>) -> Run {
    let list = |values: &[f64]| Some(values.iter().map(|x| Quantity::Number(*x)).collect());
    let names = problem.system.parameters.iter().map(|p| p.name.clone());
    Run {
        system: problem.system.name.clone(),
        precision,
        initial: InitialState {
            t: Some(Quantity::Number(problem.t0)),
            q: list(&problem.q0),
            v: None,
            p: list(&problem.p0),
        },
        parameters: names.zip(problem.parameters.iter().map(|x| Quantity::Number(*x))).collect(),
        ..Run::default()
    }
}

impl Reading {
    fn orders(&self) -> [Option<f64>; 2] {
        [self.found.q, self.found.p]
    }

    /// Whether errors of q or of p stand clear of rounding often enough.
    fn is_clear(&self) -> bool {
        self.clear.iter().any(|count| *count >= FITTED)
    }

    /// Whether every order that was measured is as high as it should be.
    fn is_high_enough(&self) -> bool {
        let least = self.found.expected as f64 - TOLERANCE;
        self.lowest >= least - TOLERANCE && self.orders().iter().flatten().all(|order| *order >= least)
    }

    /// Whether nothing more is to be learnt.
    fn is_settled(&self) -> bool {
        let least = self.found.expected as f64 - TOLERANCE;
        // far more than expected may be larger steps that do not show the order yet
        let most = self.found.expected as f64 + 1.0;
        self.is_high_enough()
            && self.orders().iter().all(|order| order.is_some_and(|order| (least..most).contains(&order)))
    }

    fn judge(self, subject: &Subject<'_>, worst: u64) -> Check<OrderFound> {
        let expected = self.found.expected;
        let word = |order: Option<f64>, errors: &[f64]| match order {
            Some(order) => format!("{order:.2}"),
            None if errors.iter().all(|e| *e == 0.0) => "exact".to_owned(),
            None => "exact to rounding".to_owned(),
        };
        let shown = |reading: &Self| {
            format!(
                "{} in q, {} in p",
                word(reading.found.q, &reading.found.errors_q),
                word(reading.found.p, &reading.found.errors_p)
            )
        };
        let (from, to) = (self.found.steps.first(), self.found.steps.last());
        let steps = from.zip(to).map_or(String::new(), |(from, to)| {
            format!("steps {} to {}", super::digits(*from), super::digits(*to))
        });
        let at = subject.with_unit(self.found.from.unwrap_or(0.0));
        if subject.interrupted() {
            return Check::new(Verdict::NotMeasured, "not measured: interrupted", self.found);
        }
        let orders = self.orders();
        if orders.iter().all(Option::is_none) {
            return match self.failure {
                Some(why) => Check::new(Verdict::NotMeasured, format!("not measured: {why}"), self.found),
                None if self.found.precision.is_some() || self.is_exact() => {
                    let finding = format!("no error to measure ({steps} from t = {at})");
                    Check::new(Verdict::Pass, finding, self.found)
                }
                None => {
                    let (all, most) = (self.found.steps.len(), self.clear.iter().max().unwrap_or(&0));
                    let clear = match most {
                        0 => format!("all {all} errors are rounding"),
                        most => {
                            format!("{most} of {all} errors stand clear of rounding and {FITTED} are needed")
                        }
                    };
                    let finding = format!(
                        "not measured: {clear} ({steps} from t = {at}), and more digits would take too long"
                    );
                    Check::new(Verdict::NotMeasured, finding, self.found)
                }
            };
        }
        let finding = format!("{}, expected {expected} ({steps} from t = {at})", shown(&self));
        if self.is_high_enough() {
            return Check::new(Verdict::Pass, finding, self.found);
        }
        let lowest = orders.iter().flatten().copied().fold(self.lowest, f64::min);
        let place = subject.with_unit(subject.time(worst));
        Check::new(Verdict::Fail, finding, self.found).advise(format!(
            "as low as {lowest:.1} between two steps: near t = {place} the Lagrangian or one of its derivatives may have a kink\n\
             or a jump (abs, a spring that pulls one way only, a wall)\n\
             try a smooth formula there, or a method of low order and a small step"
        ))
    }

    fn is_exact(&self) -> bool {
        self.found.errors_q.iter().chain(&self.found.errors_p).all(|error| *error == 0.0)
    }
}
