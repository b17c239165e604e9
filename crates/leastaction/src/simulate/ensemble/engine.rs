//! What runs members: starts in, endings out.
//!
//! [`Engine`] is the seam: whoever runs several members side by side implements it and gives the same bits. [`OneByOne`] runs
//! them one after the other with one stepper and one set of observers, which begin anew for each.

use super::record::{Ending, Status};
use crate::error::Cause;
use crate::simulate::{EnergyMeter, Events, Moment, Observed, Observer, Outcome, Plan, simulate};
use crate::step::{State, Stepper};
use crate::system::{Problem, Refusal, starter::same_bits};
use std::ops::ControlFlow;

/// Asked now and then whether to go on, from any thread.
pub type GoOn<'a> = &'a (dyn Fn() -> ControlFlow<()> + Sync);

/// Steps between two such questions.
const PATIENCE: u64 = 256;

/// How long members run: the same for all, so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// The step size.
    pub step: f64,
    /// How many steps.
    pub steps: u64,
}

/// Starts of members, one after the other in flat lists.
#[derive(Clone, Debug, Default)]
pub struct Starts {
    /// Whether each is a start at all; those that are not run no step.
    pub refused: Vec<Option<Refusal>>,
    /// All parameters of each.
    pub parameters: Vec<f64>,
    /// Coordinates, velocities and momenta, n for each.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
    /// Momenta.
    pub p: Vec<f64>,
}

impl Starts {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.refused.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.refused.is_empty()
    }
    /// Makes room for so many.
    pub(super) fn resize(&mut self, count: usize, n: usize, parameters: usize) {
        self.refused.resize(count, None);
        self.parameters.resize(count * parameters, f64::NAN);
        for list in [&mut self.q, &mut self.v, &mut self.p] {
            list.resize(count * n, f64::NAN);
        }
    }
    /// The part of a list that belongs to a member.
    fn of<'a>(&self, list: &'a [f64], member: usize) -> &'a [f64] {
        let width = list.len() / self.len().max(1);
        &list[member * width..(member + 1) * width]
    }
}

/// Runs members. The result of a member depends on its start alone: not on the members before it, beside it or after it.
pub trait Engine: Send {
    /// Runs members and shows the ending of each, with its place, in their order. `Break` if it was told not to go on.
    fn run(
        &mut self,
        starts: &Starts,
        go_on: GoOn<'_>,
        ended: &mut dyn FnMut(usize, &Ending),
    ) -> ControlFlow<()>;
}

/// Runs members one after the other.
#[derive(Clone, Debug)]
pub struct OneByOne {
    problem: Problem<f64>,
    pace: Pace,
    stepper: Stepper<f64>,
    state: State<f64>,
    energy: EnergyRange,
    events: Option<Events<f64>>,
    /// The parameters that stepper and observers have.
    parameters: Vec<f64>,
    ending: Ending,
}

impl OneByOne {
    /// An engine for a run with its observed formulas.
    pub fn new(plan: &Plan, observed: &Observed) -> Self {
        let problem = plan.problem.clone();
        let stepper = Stepper::new(&problem, &plan.method, plan.step);
        let events = (!observed.events.is_empty())
            .then(|| Events::new(&problem, &plan.method, &stepper, observed).counting());
        Self {
            pace: Pace { step: plan.step, steps: plan.steps },
            state: State::new(&problem),
            energy: EnergyRange { meter: EnergyMeter::new(&problem), low: 0.0, high: 0.0 },
            stepper,
            events,
            parameters: problem.parameters.clone(),
            ending: Ending::new(problem.system.n(), observed.events.len()),
            problem,
        }
    }

    /// Gives stepper, observers and state a new start.
    fn restart(&mut self, parameters: &[f64], [q, v, p]: [&[f64]; 3]) {
        let new = (!same_bits(parameters, &self.parameters)).then_some(parameters);
        if new.is_some() {
            self.parameters.copy_from_slice(parameters);
        }
        self.stepper.restart(new, v);
        self.energy.restart(new, self.problem.t0, [q, v, p]);
        if let Some(events) = &mut self.events {
            events.restart(new, v);
        }
        self.state.steps = 0;
        self.state.q.copy_from_slice(q);
        self.state.p.copy_from_slice(p);
        self.state.q_low.fill(0.0);
        self.state.p_low.fill(0.0);
    }

    /// Takes the steps of the member that was started. `Break` if it was told not to go on.
    fn steps(&mut self, go_on: GoOn<'_>) -> ControlFlow<()> {
        let mut asker = Asker { go_on, told: false };
        let Self { problem, stepper, state, energy, events, pace, .. } = self;
        let outcome = match events {
            None => simulate(problem, stepper, state, pace.steps, &mut [energy, &mut asker]),
            Some(events) => simulate(problem, stepper, state, pace.steps, &mut [energy, events, &mut asker]),
        };
        if asker.told {
            return ControlFlow::Break(());
        }
        let stopped = events.as_ref().is_some_and(|events| events.stopped.is_some());
        self.ending.status = match outcome {
            Outcome::Failed(failure) => Status::from(&failure.cause),
            _ if stopped => Status::Stopped,
            _ => Status::Done,
        };
        ControlFlow::Continue(())
    }

    /// Writes down what there is at the end.
    fn finish(&mut self) {
        let ending = &mut self.ending;
        ending.t = self.stepper.time(self.state.steps);
        ending.q.copy_from_slice(&self.state.q);
        ending.p.copy_from_slice(&self.state.p);
        let scale = self.energy.meter.scale();
        ending.energy = *self.energy.meter.initial();
        ending.energy_error = [self.energy.low / scale, self.energy.high / scale];
        let tallies = self.events.iter().flat_map(|events| &events.crossings.tallies);
        for ((count, first), tally) in ending.counts.iter_mut().zip(&mut ending.firsts).zip(tallies) {
            (*count, *first) = (tally.count, tally.first.unwrap_or(f64::NAN));
        }
    }

    /// The ending of a start that is none: what was given, and nothing computed.
    fn refuse(&mut self, refusal: Refusal, q: &[f64], p: &[f64]) {
        let ending = &mut self.ending;
        ending.status = refusal.into();
        ending.t = self.problem.t0;
        ending.q.copy_from_slice(q);
        ending.p.copy_from_slice(p);
        ending.energy = f64::NAN;
        ending.energy_error = [f64::NAN; 2];
        ending.counts.fill(0);
        ending.firsts.fill(f64::NAN);
    }
}

impl Engine for OneByOne {
    fn run(
        &mut self,
        starts: &Starts,
        go_on: GoOn<'_>,
        ended: &mut dyn FnMut(usize, &Ending),
    ) -> ControlFlow<()> {
        for member in 0..starts.len() {
            go_on()?;
            let [q, v, p] = [&starts.q, &starts.v, &starts.p].map(|list| starts.of(list, member));
            match starts.refused[member] {
                Some(refusal) => self.refuse(refusal, q, p),
                None => {
                    self.restart(starts.of(&starts.parameters, member), [q, v, p]);
                    self.steps(go_on)?;
                    self.finish();
                }
            }
            ended(member, &self.ending);
        }
        ControlFlow::Continue(())
    }
}

/// The range of the energy's error over all steps.
#[derive(Clone, Debug)]
struct EnergyRange {
    meter: EnergyMeter<f64>,
    low: f64,
    high: f64,
}

impl EnergyRange {
    fn restart(&mut self, parameters: Option<&[f64]>, t: f64, start: [&[f64]; 3]) {
        self.meter.restart(parameters, &t, start);
        (self.low, self.high) = (0.0, 0.0);
    }
}

impl Observer<f64> for EnergyRange {
    fn observe(&mut self, moment: &Moment<'_, f64>) -> Result<ControlFlow<()>, Cause> {
        if moment.state.steps > 0 {
            let error = self.meter.measure(moment)? - self.meter.initial();
            (self.low, self.high) = (self.low.min(error), self.high.max(error));
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Asks whether to go on.
struct Asker<'a> {
    go_on: GoOn<'a>,
    told: bool,
}

impl Observer<f64> for Asker<'_> {
    fn observe(&mut self, moment: &Moment<'_, f64>) -> Result<ControlFlow<()>, Cause> {
        self.told = moment.state.steps.is_multiple_of(PATIENCE) && (self.go_on)().is_break();
        Ok(if self.told { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
