//! What the Lagrangian conserves: momenta, and the energy, which a variational method lets swing but not move away.

use super::trail::{Trail, WINDOWS};
use super::{Check, EnergyFound, MomentumFound, Subject, Verdict, digits};
use crate::analysis::drift::{EnergyDrift, EnergyWindows};
use crate::error::Cause;
use crate::scalar::elementary;
use crate::simulate::{Drift, Moment, Observer, Outcome, simulate};
use crate::step::State;
use crate::system::Velocities;
use std::ops::ControlFlow;

/// Rounding adds up like a random walk; so many times its typical length is still explained by it.
const ROUNDING: f64 = 10.0;
/// An energy error above this part of the energy is another motion.
const ANOTHER_MOTION: f64 = 0.1;
/// What looks like a drift is watched for so many times as long, within this work in nanoseconds.
const LONGER: u64 = 10;
const WORK: f64 = 6e8;
/// Watched for less than so many times as long, a drift is not told from a slow swing.
const ENOUGH: f64 = 6.0;

pub(super) fn momenta(trail: &Trail) -> Vec<Check<MomentumFound>> {
    let walk = 100.0 * f64::EPSILON * (trail.steps.max(1) as f64).sqrt();
    let check = |drift: &Drift| {
        let Drift { name, initial, largest: largest_change, .. } = drift.clone();
        // of a single coordinate: the momenta's own size; of a sum: that of its terms
        let allowed =
            walk * initial.abs().max(if drift.coordinate.is_some() { trail.sizes[1] } else { drift.size });
        let found = MomentumFound { name: name.clone(), initial, largest_change, allowed };
        if largest_change == 0.0 {
            return Check::new(Verdict::Pass, format!("{name} unchanged to the last bit"), found);
        }
        let finding = format!("{name} changes by {largest_change:.1e}; rounding explains {allowed:.1e}");
        if largest_change <= allowed {
            return Check::new(Verdict::Pass, finding, found);
        }
        Check::new(Verdict::Fail, finding, found).advise(
            "the Lagrangian conserves this momentum and the method does not\ntry a variational method",
        )
    };
    trail.invariants.momenta.iter().map(check).collect()
}

pub(super) fn energy(subject: &Subject<'_>, trail: &Trail) -> Check<EnergyFound> {
    let conserved = subject.plan.problem.system.structure().autonomous;
    let blank = EnergyFound { conserved, steps: trail.steps, ..EnergyFound::default() };
    if !conserved {
        let finding = "not conserved: time occurs in the Lagrangian";
        return Check::new(Verdict::NotApplicable, finding, blank);
    }
    if trail.steps == 0 {
        return Check::new(Verdict::NotMeasured, "not measured: no step was taken", blank);
    }
    let seen = trail.energy;
    let rounding = rounding(subject, trail);
    let short = Swing { steps: trail.steps, seen, rounding: rounding * (trail.steps as f64).sqrt() };
    let mut found = short.found(subject);
    let rate = short.words();
    if seen.largest > ANOTHER_MOTION || !seen.largest.is_finite() {
        return Check::new(Verdict::Fail, rate, found).advise(format!(
            "the energy changes by {:.1e} of its size, so this is not the motion of the system\n\
             try a smaller step or a method of higher order",
            seen.largest
        ));
    }
    if seen.largest <= short.rounding {
        return Check::new(Verdict::Pass, format!("{rate}: rounding"), found);
    }
    if !short.drifts() {
        return Check::new(Verdict::Pass, format!("{rate}: it swings, no drift"), found);
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
    let rate = long.words();
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
        "drifts by {} of its size in {longer} steps, {} per {unit}",
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

/// The rounding of the energy that one step may leave behind, relative to the unit of its errors.
pub(super) fn rounding(subject: &Subject<'_>, trail: &Trail) -> f64 {
    let problem = &subject.plan.problem;
    let mut velocities = Velocities::new(&problem.system.model, &problem.parameters);
    let mut v = problem.v0.clone();
    let mut action = 0.0f64;
    for state in &trail.states {
        if velocities.velocities(&state.q, &state.p, &subject.time(state.steps), &mut v).is_ok() {
            action = action.max(state.p.iter().zip(&v).map(|(p, v)| (p * v).abs()).sum());
        }
    }
    ROUNDING * f64::EPSILON * (1.0 + action / trail.invariants.meter.scale())
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

    fn words(&self) -> String {
        let EnergyDrift { drift, uncertainty, largest, .. } = self.seen;
        let moved = plus_minus(drift, uncertainty);
        format!("within {largest:.1e} of its size, mean moves by {moved} in {} steps", self.steps)
    }

    fn found(&self, subject: &Subject<'_>) -> EnergyFound {
        let finite = |x: f64| x.is_finite().then_some(x);
        EnergyFound {
            conserved: true,
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
