//! What the Lagrangian conserves: momenta, and the energy, which a variational method lets swing but not move away.
//!
//! Energies are compared with the energy scale of the motion. Where time occurs in L, the balance E − W takes the energy's place; what a variational
//! method makes of it may move away, because what is conserved in its stead depends on time as well. In both cases the change of a step must
//! fall with the order of the method.

use super::single_steps::{SingleSteps, Unexplained};
use super::sizes::Sizes;
use super::trail::{Trail, WINDOWS};
use super::{Check, EnergyFound, MomentumFound, Subject, Verdict, compared, digits};
use crate::analysis::drift::{EnergyDrift, EnergyWindows};
use crate::error::Cause;
use crate::scalar::{Dual, Field, elementary};
use crate::simulate::{Drift, Moment, Observer, Outcome, simulate};
use crate::step::State;
use crate::system::{Energy, Problem, Velocities};
use std::ops::ControlFlow;

/// Rounding adds up like a random walk; so many times its typical length is still explained by it.
const ROUNDING: f64 = 10.0;
/// An energy error above this part of the energy scale is another motion.
const ANOTHER_MOTION: f64 = 0.1;
/// One that the order does not explain fails from this on; below, it is warned of.
const WRONG: f64 = 1e-3;
/// What looks like a drift is watched for so many times as long, within this work in nanoseconds.
const LONGER: u64 = 10;
const WORK: f64 = 6e8;
/// Watched for less than so many times as long, a drift is not told from a slow swing.
const ENOUGH: f64 = 6.0;

/// What steps of a variational method leave unsolved where a tolerance allows it, as a part of energy and momenta.
fn unsolved(subject: &Subject<'_>) -> f64 {
    subject.plan.tolerance.filter(|_| subject.plan.method.is_variational()).unwrap_or(0.0)
}

pub(super) fn momenta(subject: &Subject<'_>, trail: &Trail, sizes: &Sizes) -> Vec<Check<MomentumFound>> {
    let unsolved = unsolved(subject);
    let what = if unsolved > 0.0 { "the tolerance explains" } else { "rounding explains" };
    let walk = 100.0 * f64::EPSILON * (trail.steps.max(1) as f64).sqrt();
    let check = |drift: &Drift| {
        let Drift { name, initial, largest: largest_change, .. } = drift.clone();
        // of a single coordinate: its own size; of a sum: that of its terms
        let size = drift.coordinate.and_then(|i| sizes.p().get(i)).map_or(drift.size, |size| *size);
        let allowed = (walk + unsolved) * initial.abs().max(size);
        let found = MomentumFound { name: name.clone(), initial, largest_change, allowed };
        if largest_change == 0.0 {
            return Check::new(Verdict::Pass, format!("{name} unchanged to the last bit"), found);
        }
        let [change, limit] = compared(largest_change, allowed);
        let finding = format!("{name} changes by {change}; {what} {limit}");
        if largest_change <= allowed {
            return Check::new(Verdict::Pass, finding, found);
        }
        Check::new(Verdict::Fail, finding, found).advise(
            "the Lagrangian conserves this momentum and the method does not\ntry a variational method",
        )
    };
    trail.invariants.momenta.iter().map(check).collect()
}

/// Whether the energy, or the balance, is conserved.
fn is_energy(subject: &Subject<'_>) -> bool {
    subject.plan.problem.system.structure().autonomous
}

pub(super) fn energy(subject: &Subject<'_>, trail: &Trail, single: &SingleSteps) -> Check<EnergyFound> {
    let conserved = is_energy(subject);
    let blank = EnergyFound { conserved, steps: trail.steps, ..EnergyFound::default() };
    if trail.steps == 0 {
        return Check::new(Verdict::NotMeasured, "not measured: no step was taken", blank);
    }
    let seen = trail.energy;
    let rounding = rounding(subject, trail);
    let short = Swing { steps: trail.steps, seen, rounding: rounding * (trail.steps as f64).sqrt() };
    let mut found = short.found(subject);
    let rate = short.words(subject);
    if seen.largest > ANOTHER_MOTION || !seen.largest.is_finite() {
        return Check::new(Verdict::Fail, rate, found).advise(format!(
            "the {} changes by {:.1e} of the energy of the motion, so this is not the motion of the system\n\
             try a smaller step or a method of higher order",
            name(subject),
            seen.largest
        ));
    }
    if seen.largest <= short.rounding {
        return Check::new(Verdict::Pass, format!("{rate}: rounding"), found);
    }
    if seen.largest <= unsolved(subject) {
        return Check::new(Verdict::Pass, format!("{rate}: within the tolerance"), found);
    }
    if let Some(unexplained) = single.unexplained(subject, trail, rounding) {
        return unexplained.check(subject, seen.largest, &rate, found);
    }
    if !short.drifts() {
        return Check::new(Verdict::Pass, format!("{rate}: it swings, no drift"), found);
    }
    if !conserved {
        return drift_of_the_balance(subject, &rate, found);
    }
    // a slow swing looks like a drift until it is watched for longer: a drift then grows with the time
    let longer = longer(subject, trail);
    let watched = if longer >= 3 * trail.steps {
        watch_longer(subject, subject.plan.step, longer)
    } else {
        Err("it would take too long to watch it for longer".to_owned())
    };
    let long = match watched {
        Ok(long) => long,
        Err(why) => {
            let finding = format!("{rate}: a drift, or a slow swing");
            return Check::new(Verdict::Warn, finding, found).advise(format!("{why}, which would tell"));
        }
    };
    let long = Swing { steps: longer, seen: long, rounding: rounding * (longer as f64).sqrt() };
    let times = longer as f64 / trail.steps as f64;
    let grown = (long.seen.drift / seen.drift).abs();
    let rate = long.words(subject);
    found = long.found(subject);
    // a swing that is over does not grow with the time
    if long.seen.largest <= ANOTHER_MOTION && !(long.drifts() && grown >= 0.4 * times) {
        let finding = format!("{rate}: a slow swing, no drift");
        return Check::new(Verdict::Pass, finding, found);
    }
    // one that has only begun grows faster
    let begun = grown > 2.5 * times && subject.plan.method.is_variational();
    if long.seen.largest <= ANOTHER_MOTION && (times < ENOUGH || begun) {
        let finding = format!("{rate}: a drift, or a slow swing");
        let advice = "it would take too long to watch it until that is clear";
        return Check::new(Verdict::Warn, finding, found).advise(advice);
    }
    let slope = found.slope.unwrap_or(f64::NAN);
    let unit = &subject.plan.problem.system.time_unit;
    let unit = if unit.is_empty() { "unit of time" } else { unit };
    let text = format!(
        "drifts by {} of the energy scale in {longer} steps, {} per {unit}",
        plus_minus(long.seen.drift, long.seen.uncertainty),
        digits(slope)
    );
    let advice = if subject.plan.method.is_variational() {
        "a variational method keeps the energy bounded while its steps resolve the motion\ntry a smaller step"
    } else {
        "the method does not keep the energy; a smaller step only slows the drift\ntry a variational method"
    };
    Check::new(Verdict::Fail, text, found).advise(advice)
}

/// The energy or the balance, in words.
fn name(subject: &Subject<'_>) -> &'static str {
    if is_energy(subject) { "energy" } else { "balance of energy and work" }
}

/// A balance that moves away: what a variational method conserves in its stead depends on time and may do so too.
fn drift_of_the_balance(subject: &Subject<'_>, rate: &str, found: EnergyFound) -> Check<EnergyFound> {
    if subject.plan.method.is_variational() {
        let finding = format!("{rate}: as the time dependence lets it, and with the order of the method");
        return Check::new(Verdict::Pass, finding, found);
    }
    let advice =
        "the method does not keep the balance; a smaller step only slows the drift\ntry a variational method";
    Check::new(Verdict::Fail, format!("{rate}: it drifts"), found).advise(advice)
}

impl Unexplained {
    /// Fails, or warns where the errors are small.
    fn check(
        self,
        subject: &Subject<'_>,
        largest: f64,
        rate: &str,
        found: EnergyFound,
    ) -> Check<EnergyFound> {
        let verdict = if largest > WRONG { Verdict::Fail } else { Verdict::Warn };
        let (name, at) = (name(subject), subject.with_unit(self.at));
        let finding = format!("{rate}; smaller steps do not make it as much smaller as the order says");
        Check::new(verdict, finding, found).advise(format!(
            "the step at t = {at} changes the {name} by {:.1e}; in smaller parts that falls with order {:.1} instead of {}:\n\
             the Lagrangian or its derivatives may have a jump or a kink there, or be too steep for the step\n\
             try a smooth formula there, or a method of low order and a small step",
            self.change,
            self.order.max(0.0),
            subject.plan.method.order
        ))
    }
}

/// `(1.2 ± 0.3)e-9`
fn plus_minus(x: f64, error: f64) -> String {
    let size = x.abs().max(error.abs());
    if size == 0.0 || !size.is_finite() {
        return "0".to_owned();
    }
    let power = (elementary::ln(size) / std::f64::consts::LN_10).floor() as i32;
    let unit = 10f64.powi(power);
    format!("({:.1} ± {:.1})e{power}", x / unit, error / unit)
}

/// The rounding of the energy that one step may leave behind, relative to the energy scale. It includes what the rounding of a late time leaves.
pub(super) fn rounding(subject: &Subject<'_>, trail: &Trail) -> f64 {
    let problem = &subject.plan.problem;
    let mut velocities = Velocities::new(&problem.system.model, &problem.parameters);
    let mut power = Power::new(problem);
    let mut v = problem.v0.clone();
    let mut action = 0.0f64;
    for state in &trail.states {
        let t = subject.time(state.steps);
        if velocities.velocities(&state.q, &state.p, &t, &mut v).is_ok() {
            let action_here: f64 = state.p.iter().zip(&v).map(|(p, v)| (p * v).abs()).sum();
            action = action.max(action_here + power.times(&state.q, &v, t));
        }
    }
    ROUNDING * f64::EPSILON * (1.0 + action / trail.invariants.meter.energy_scale())
}

/// How fast the energy changes with the time alone.
struct Power {
    /// None if time does not occur in L.
    energy: Option<Energy<Dual>>,
}

impl Power {
    fn new(problem: &Problem<f64>) -> Self {
        let model = &problem.system.model;
        let parameters: Vec<Dual> = problem.parameters.iter().map(|x| Dual::from_f64(*x)).collect();
        Self { energy: (!model.structure.autonomous).then(|| Energy::new(model, &parameters)) }
    }

    /// |t ∂E/∂t| at constant momenta, which is |t ∂L/∂t| at constant velocities
    fn times(&mut self, q: &[f64], v: &[f64], t: f64) -> f64 {
        let lift = |x: &[f64]| x.iter().map(|x| Dual::from_f64(*x)).collect::<Vec<_>>();
        let Some(energy) = &mut self.energy else { return 0.0 };
        let changed = energy.at(&lift(q), &lift(v), &Dual { value: t, tangent: t }).1.tangent.abs();
        if changed.is_finite() { changed } else { 0.0 }
    }
}

/// The energy over so many steps.
struct Swing {
    steps: u64,
    seen: EnergyDrift,
    rounding: f64,
}

impl Swing {
    /// Whether the mean moves by more than chance, more than a part of its swing and more than rounding explain.
    fn drifts(&self) -> bool {
        let EnergyDrift { drift, uncertainty, largest, .. } = self.seen;
        drift.abs() > 4.0 * uncertainty && drift.abs() > 0.1 * largest && drift.abs() > self.rounding
    }

    fn words(&self, subject: &Subject<'_>) -> String {
        let EnergyDrift { drift, uncertainty, largest, .. } = self.seen;
        let moved = plus_minus(drift, uncertainty);
        let balance = if is_energy(subject) { "" } else { "balance " };
        format!(
            "{balance}within {largest:.1e} of the energy scale, mean moves by {moved} in {} steps",
            self.steps
        )
    }

    fn found(&self, subject: &Subject<'_>) -> EnergyFound {
        let finite = |x: f64| x.is_finite().then_some(x);
        EnergyFound {
            conserved: is_energy(subject),
            largest: finite(self.seen.largest),
            drift: finite(self.seen.drift),
            uncertainty: finite(self.seen.uncertainty),
            slope: finite(self.seen.drift / (self.steps as f64 * subject.plan.step)),
            rounding: finite(self.rounding),
            steps: self.steps,
        }
    }
}

/// How many steps a run is watched for that deserves a longer look.
pub(super) fn longer(subject: &Subject<'_>, trail: &Trail) -> u64 {
    (LONGER * trail.steps).min(subject.affordable(&subject.plan.method, WORK)).max(1)
}

/// The same run, longer or with another step.
pub(super) fn watch_longer(subject: &Subject<'_>, step: f64, steps: u64) -> Result<EnergyDrift, String> {
    let problem = &subject.plan.problem;
    let mut stepper = subject.plan.stepper(problem, step);
    let mut state = State::new(problem);
    let mut windows = EnergyWindows::new(problem, steps, WINDOWS);
    let mut progress = Progress(subject.watch);
    let outcome = simulate(problem, &mut stepper, &mut state, steps, &mut [&mut windows, &mut progress]);
    match outcome {
        Outcome::Done => Ok(windows.drift()),
        Outcome::Failed(failure) => Err(format!("step {} of a longer run cannot be solved", failure.step)),
        _ => Err("a longer run was interrupted".to_owned()),
    }
}

/// Tells whoever watches of every step.
pub(super) struct Progress<'a>(pub(super) crate::analysis::Watch<'a>);

impl Observer<f64> for Progress<'_> {
    fn observe(&mut self, _: &Moment<'_, f64>) -> Result<ControlFlow<()>, Cause> {
        Ok((self.0)(1))
    }
}
