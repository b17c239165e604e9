//! What runs members: starts in, endings out.
//!
//! [`Engine`] is the seam. [`OneByOne`] runs members one after the other with one stepper and one set of observers, which begin anew for
//! each; [`FourAbreast`] has four of each, whose steps a [`Fleet`] takes together. Both give the same bits.

use super::convoy::EightAbreast;
use super::ladder::Ladder;
use super::record::{Ending, Status};
use crate::error::Cause;
use crate::expr::FourStates;
use crate::simulate::{EnergyMeter, Events, Moment, Observed, Observer, Plan, exceeds};
use crate::step::{Fleet, State, Stepper};
use crate::system::{Hamiltonian, Problem, Refusal, starter::same_bits};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Asked now and then whether to go on, from any thread.
pub type GoOn<'a> = &'a (dyn Fn() -> ControlFlow<()> + Sync);

/// Steps between two such questions.
pub(super) const PATIENCE: u64 = 256;

/// The fixed step of a member.
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
    pub(super) fn of<'a>(&self, list: &'a [f64], member: usize) -> &'a [f64] {
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

/// Runs members, side by side where there is machine code for that and else one after the other.
#[derive(Clone, Debug)]
pub enum AnyEngine {
    /// Side by side.
    Abreast(Box<FourAbreast>),
    /// One after the other.
    OneByOne(Box<OneByOne>),
    /// Side by side with a fixed number of sweeps.
    Convoy(Box<EightAbreast>),
}

impl AnyEngine {
    /// An engine for a run with its observed formulas.
    pub fn new(plan: &Plan, observed: &Observed) -> Self {
        match FourAbreast::new(plan, observed) {
            Some(engine) => Self::Abreast(Box::new(engine)),
            None => Self::OneByOne(Box::new(OneByOne::new(plan, observed))),
        }
    }
    /// Lets members have steps of their own.
    pub(super) fn climb(&mut self, ladder: &Arc<Ladder>) {
        match self {
            Self::Abreast(engine) => {
                engine.seats.iter_mut().for_each(|seat| seat.climb(ladder));
            }
            Self::OneByOne(engine) => engine.seat.climb(ladder),
            Self::Convoy(engine) => engine.climb(ladder),
        }
    }
    /// The engine alone.
    pub fn boxed(self) -> Box<dyn Engine> {
        match self {
            Self::Abreast(engine) => engine,
            Self::OneByOne(engine) => engine,
            Self::Convoy(engine) => engine,
        }
    }
}

/// What becomes of a member after a step.
pub(super) enum Look {
    On,
    Ended(Status),
    /// It begins anew on another rung.
    Again(usize),
}

/// A member that runs, but for its stepper and state.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    problem: Problem<f64>,
    pace: Pace,
    /// Where steps come from that keep to a tolerance, and the rung of the present one.
    ladder: Option<Arc<Ladder>>,
    rung: usize,
    energy: EnergyRange,
    events: Option<Events<f64>>,
    /// The parameters that stepper and observers have.
    parameters: Vec<f64>,
    pub(super) ending: Ending,
}

impl Seat {
    pub(super) fn new(plan: &Plan, observed: &Observed, stepper: &Stepper<f64>) -> Self {
        let problem = plan.problem.clone();
        let events = (!observed.events.is_empty())
            .then(|| Events::new(&problem, &plan.method, stepper, observed).counting());
        Self {
            pace: Pace { step: plan.step, steps: plan.steps },
            ladder: None,
            rung: 0,
            energy: EnergyRange { meter: EnergyMeter::new(&problem), low: 0.0, high: 0.0 },
            events,
            parameters: problem.parameters.clone(),
            ending: Ending::new(problem.system.n(), observed.events.len()),
            problem,
        }
    }

    /// Lets members have steps of their own.
    pub(super) fn climb(&mut self, ladder: &Arc<Ladder>) {
        self.ladder = Some(ladder.clone());
    }
    pub(super) fn pace(&self) -> Pace {
        self.pace
    }
    pub(super) fn parameters(&self) -> &[f64] {
        &self.parameters
    }
    pub(super) fn problem(&self) -> &Problem<f64> {
        &self.problem
    }

    /// Gives observers the start of a member, on a rung of the ladder or on the one that is to be expected; its parameters, if those before were
    /// others.
    pub(super) fn begin<'s>(
        &mut self,
        starts: &'s Starts,
        member: usize,
        rung: Option<usize>,
    ) -> Option<&'s [f64]> {
        let [q, v, p] = [&starts.q, &starts.v, &starts.p].map(|list| starts.of(list, member));
        let parameters = starts.of(&starts.parameters, member);
        let new = (!same_bits(parameters, &self.parameters)).then_some(parameters);
        if new.is_some() {
            self.parameters.copy_from_slice(parameters);
        }
        self.energy.restart(new, self.problem.t0, [q, v, p]);
        if let Some(events) = &mut self.events {
            events.restart(new, v);
        }
        if let Some(ladder) = &self.ladder {
            self.rung = rung.unwrap_or_else(|| ladder.rung(*self.energy.meter.initial()));
            self.pace = ladder.rungs[self.rung];
        }
        new
    }

    /// The same for stepper and state as well.
    fn restart(
        &mut self,
        starts: &Starts,
        member: usize,
        rung: Option<usize>,
        stepper: &mut Stepper<f64>,
        state: &mut State<f64>,
    ) {
        let [q, v, p] = [&starts.q, &starts.v, &starts.p].map(|list| starts.of(list, member));
        let new = self.begin(starts, member, rung);
        stepper.restart(new, v);
        if let Some(ladder) = &self.ladder {
            stepper.resize(&self.pace.step);
            stepper.tolerate(ladder.tolerance, self.pace.steps);
            if let Some(events) = &mut self.events {
                events.resize(stepper);
            }
        }
        state.steps = 0;
        state.q.copy_from_slice(q);
        state.p.copy_from_slice(p);
        state.q_low.fill(0.0);
        state.p_low.fill(0.0);
    }

    /// Looks at what became of a step; whether and how it was the last one.
    fn look(&mut self, stepper: &Stepper<f64>, state: &State<f64>, step: Result<u32, Cause>) -> Look {
        let status = match step {
            Ok(iterations) => self.observe(stepper, state, iterations),
            Err(cause) => Some((&cause).into()),
        };
        self.judge(status)
    }

    /// Looks at the energy after a step that was taken, where there is nothing else to see; whether it was the last one.
    pub(super) fn look_at_energy(&mut self, steps: u64, energy: f64, kinetic: f64) -> Look {
        let status = match self.energy.note(energy, kinetic, self.pace.step) {
            Ok(()) => (steps >= self.pace.steps).then_some(Status::Done),
            Err(cause) => Some((&cause).into()),
        };
        self.judge(status)
    }

    pub(super) fn judge(&self, status: Option<Status>) -> Look {
        let failed = status.is_some_and(Status::is_of_steps);
        match (status, &self.ladder) {
            (_, Some(ladder)) if failed || self.energy.exceeds(ladder.tolerance) => {
                let next = self.rung + 1;
                // the last rung is kept, whatever it gives
                match status {
                    _ if next < ladder.rungs.len() => Look::Again(next),
                    Some(status) => Look::Ended(status),
                    None => Look::On,
                }
            }
            (Some(status), _) => Look::Ended(status),
            (None, _) => Look::On,
        }
    }

    fn observe(&mut self, stepper: &Stepper<f64>, state: &State<f64>, iterations: u32) -> Option<Status> {
        let moment = Moment { t: stepper.time(state.steps), state, stepper, iterations };
        let looked = self.energy.observe(&moment).and_then(|_| match &mut self.events {
            Some(events) => events.observe(&moment),
            None => Ok(ControlFlow::Continue(())),
        });
        match looked {
            Err(cause) => Some((&cause).into()),
            Ok(flow) => (state.steps >= self.pace.steps || flow.is_break()).then(|| self.status()),
        }
    }

    /// How a member ended that did not fail.
    fn status(&self) -> Status {
        match &self.events {
            Some(events) if events.stopped.is_some() => Status::Stopped,
            Some(events) if events.are_awaited() => Status::NotReached,
            _ => Status::Done,
        }
    }

    /// Writes down what there is at the end of a member. Where a step was taken and then refused, that is the state before it.
    fn end(
        &mut self,
        status: Status,
        (starts, member): (&Starts, usize),
        stepper: &mut Stepper<f64>,
        state: &mut State<f64>,
    ) {
        if matches!(status, Status::EnergyJump | Status::EventNotFinite) && state.steps > 0 {
            // nobody kept it, so the steps up to there are taken again
            let (steps, energy, events) = (state.steps - 1, self.energy.clone(), self.events.clone());
            self.restart(starts, member, Some(self.rung), stepper, state);
            while state.steps < steps && stepper.step(state).is_ok() {}
            (self.energy, self.events) = (energy, events);
        }
        self.finish(status, stepper, state);
    }

    /// Writes down what there is.
    fn finish(&mut self, status: Status, stepper: &Stepper<f64>, state: &State<f64>) {
        self.finish_after(status, state.steps);
        let ending = &mut self.ending;
        ending.t = stepper.time(state.steps);
        ending.q.copy_from_slice(&state.q);
        ending.p.copy_from_slice(&state.p);
    }

    /// The same but for the state.
    pub(super) fn finish_after(&mut self, status: Status, steps: u64) {
        let ending = &mut self.ending;
        ending.status = status;
        ending.t = self.problem.t0 + steps as f64 * self.pace.step;
        ending.step = self.pace.step;
        let meter = &self.energy.meter;
        ending.energy = meter.initial() + meter.constant();
        ending.energy_error = [self.energy.low, self.energy.high].map(|error| error / meter.energy_scale());
        let tallies = self.events.iter().flat_map(|events| &events.crossings.tallies);
        for ((count, first), tally) in ending.counts.iter_mut().zip(&mut ending.firsts).zip(tallies) {
            (*count, *first) = (tally.count, tally.first.unwrap_or(f64::NAN));
        }
    }

    /// The ending of a start that is none: what was given, and nothing computed.
    pub(super) fn refuse(&mut self, refusal: Refusal, starts: &Starts, member: usize) {
        let ending = &mut self.ending;
        ending.status = refusal.into();
        ending.t = self.problem.t0;
        ending.step = f64::NAN;
        ending.q.copy_from_slice(starts.of(&starts.q, member));
        ending.p.copy_from_slice(starts.of(&starts.p, member));
        ending.energy = f64::NAN;
        ending.energy_error = [f64::NAN; 2];
        ending.counts.fill(0);
        ending.firsts.fill(f64::NAN);
    }
}

/// Runs members one after the other.
#[derive(Clone, Debug)]
pub struct OneByOne {
    seat: Seat,
    stepper: Stepper<f64>,
    state: State<f64>,
}

impl OneByOne {
    /// An engine for a run with its observed formulas.
    pub fn new(plan: &Plan, observed: &Observed) -> Self {
        let stepper = plan.stepper(&plan.problem, plan.step);
        let seat = Seat::new(plan, observed, &stepper);
        Self { seat, stepper, state: State::new(&plan.problem) }
    }

    /// Takes the steps of a member, from the rung that is to be expected or another. `Break` if it was told not to go on.
    fn steps(
        &mut self,
        starts: &Starts,
        member: usize,
        rung: Option<usize>,
        go_on: GoOn<'_>,
    ) -> ControlFlow<()> {
        let Self { seat, stepper, state } = self;
        seat.restart(starts, member, rung, stepper, state);
        let mut step = Ok(0);
        loop {
            if state.steps.is_multiple_of(PATIENCE) {
                go_on()?;
            }
            match seat.look(stepper, state, step) {
                Look::On => step = stepper.step(state),
                Look::Again(next) => {
                    seat.restart(starts, member, Some(next), stepper, state);
                    step = Ok(0);
                }
                Look::Ended(status) => {
                    seat.end(status, (starts, member), stepper, state);
                    return ControlFlow::Continue(());
                }
            }
        }
    }

    /// The energies of members at the start, none if it is no start, and rungs on which they keep to the tolerance while they do not on the one above. Each is looked for from the rung of
    /// the one before.
    pub(super) fn try_rungs(&mut self, ladder: &Arc<Ladder>, starts: &Starts) -> Vec<(f64, usize)> {
        self.seat.climb(ladder);
        let mut tried = Vec::new();
        let mut rung = ladder.middle;
        for member in 0..starts.len() {
            if starts.refused[member].is_some() {
                tried.push((f64::NAN, rung));
                continue;
            }
            loop {
                let _ = self.steps(starts, member, Some(rung), &|| ControlFlow::Continue(()));
                let kept = self.seat.rung == rung && self.seat.ending.status.is_complete();
                rung = self.seat.rung;
                // up while that works
                if !kept || rung == 0 {
                    break;
                }
                rung -= 1;
            }
            tried.push((self.seat.ending.energy, rung));
        }
        tried
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
            match starts.refused[member] {
                Some(refusal) => self.seat.refuse(refusal, starts, member),
                None => self.steps(starts, member, None, go_on)?,
            }
            ended(member, &self.seat.ending);
        }
        ControlFlow::Continue(())
    }
}

/// Runs four members side by side; whenever one ends, the next takes its seat.
#[derive(Clone, Debug)]
pub struct FourAbreast {
    fleet: Fleet,
    /// The energies of all seats at once, where there is nothing else to see of a step.
    energies: Option<FourStates>,
    seats: [Seat; Fleet::SIZE],
    steppers: [Stepper<f64>; Fleet::SIZE],
    states: [State<f64>; Fleet::SIZE],
    /// Who has the seats.
    members: [Option<usize>; Fleet::SIZE],
    /// Endings, kept until it is their turn.
    endings: Vec<Ending>,
}

impl FourAbreast {
    /// An engine for a run with its observed formulas; `None` if its members cannot go side by side.
    pub fn new(plan: &Plan, observed: &Observed) -> Option<Self> {
        let stepper = plan.stepper(&plan.problem, plan.step);
        let seat = Seat::new(plan, observed, &stepper);
        let state = State::new(&plan.problem);
        Some(Self {
            fleet: Fleet::new(&plan.problem, &stepper)?,
            energies: match seat.events {
                Some(_) => None,
                // what steppers know of the work of a step is asked one by one
                None if !plan.problem.system.structure().autonomous => None,
                None => seat.energy.meter.hamiltonian().and_then(Hamiltonian::abreast),
            },
            seats: std::array::from_fn(|_| seat.clone()),
            steppers: std::array::from_fn(|_| stepper.clone()),
            states: std::array::from_fn(|_| state.clone()),
            members: [None; Fleet::SIZE],
            endings: Vec::new(),
        })
    }

    /// Gives a seat to the first of the members that are left which takes a step at all.
    fn seat(&mut self, lane: usize, starts: &Starts, left: &mut Range<usize>) {
        let (seat, stepper, state) =
            (&mut self.seats[lane], &mut self.steppers[lane], &mut self.states[lane]);
        self.members[lane] = None;
        for member in left {
            if let Some(refusal) = starts.refused[member] {
                seat.refuse(refusal, starts, member);
            } else {
                seat.restart(starts, member, None, stepper, state);
                match seat.observe(stepper, state, 0) {
                    Some(status) => seat.finish(status, stepper, state),
                    None => {
                        self.members[lane] = Some(member);
                        self.board(lane);
                        return;
                    }
                }
            }
            self.endings[member].clone_from(&seat.ending);
        }
    }

    /// Tells those who work for all seats that a member begins in one.
    fn board(&mut self, lane: usize) {
        self.fleet.assign(lane, &mut self.steppers[lane]);
        if let (Some(energies), Some(own)) = (&mut self.energies, self.seats[lane].energy.meter.hamiltonian())
        {
            own.lend_parameters(lane, energies);
        }
    }

    /// The energy and the kinetic energy in all seats, where there is nothing else to see.
    fn energies(&mut self) -> Option<[(f64, f64); Fleet::SIZE]> {
        let times = std::array::from_fn(|lane| self.steppers[lane].time(self.states[lane].steps));
        let [q, p] = self.fleet.states();
        let found = self.energies.as_mut()?.evaluate(q, p, &times)?;
        Some(std::array::from_fn(|lane| (found[lane], found[Fleet::SIZE + lane].abs())))
    }

    /// Takes a step in every seat that is taken, and gives those whose members end to others. `Break` if it was told not to go on.
    fn step(&mut self, starts: &Starts, left: &mut Range<usize>, go_on: GoOn<'_>) -> ControlFlow<()> {
        let takes_part = self.members.map(|member| member.is_some());
        let solved = self.fleet.step(&self.steppers, &mut self.states, takes_part);
        let energies = self.energies();
        for lane in 0..Fleet::SIZE {
            let Some(member) = self.members[lane] else { continue };
            let (seat, stepper, state) =
                (&mut self.seats[lane], &mut self.steppers[lane], &mut self.states[lane]);
            let seen = energies.map(|energies| energies[lane]);
            let look = match (solved[lane], seen) {
                (Some(_), Some((energy, kinetic))) if energy.is_finite() && kinetic.is_finite() => {
                    seat.look_at_energy(state.steps, energy, kinetic)
                }
                (Some(sweeps), _) => {
                    self.fleet.show(lane, stepper, state);
                    seat.look(stepper, state, Ok(sweeps))
                }
                (None, _) => {
                    let result = self.fleet.step_alone(lane, stepper, state);
                    seat.look(stepper, state, result)
                }
            };
            match look {
                Look::On => {}
                Look::Again(rung) => {
                    seat.restart(starts, member, Some(rung), stepper, state);
                    // what there is to see at the start was seen
                    let _ = seat.observe(stepper, state, 0);
                    self.board(lane);
                }
                Look::Ended(status) => {
                    self.fleet.show(lane, stepper, state);
                    seat.end(status, (starts, member), stepper, state);
                    self.endings[member].clone_from(&seat.ending);
                    go_on()?;
                    self.seat(lane, starts, left);
                }
            }
        }
        ControlFlow::Continue(())
    }
}

impl Engine for FourAbreast {
    fn run(
        &mut self,
        starts: &Starts,
        go_on: GoOn<'_>,
        ended: &mut dyn FnMut(usize, &Ending),
    ) -> ControlFlow<()> {
        self.endings.resize(starts.len(), self.seats[0].ending.clone());
        let mut left = 0..starts.len();
        for lane in 0..Fleet::SIZE {
            self.seat(lane, starts, &mut left);
        }
        let mut steps: u64 = 0;
        while self.members.iter().any(Option::is_some) {
            if steps.is_multiple_of(PATIENCE) {
                go_on()?;
            }
            self.step(starts, &mut left, go_on)?;
            steps += 1;
        }
        for (member, ending) in self.endings.iter().enumerate() {
            ended(member, ending);
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

    /// An energy and a kinetic energy that somebody measured.
    fn note(&mut self, energy: f64, kinetic: f64, step_size: f64) -> Result<(), Cause> {
        self.meter.note(&energy, kinetic, step_size)?;
        self.widen(energy);
        Ok(())
    }

    fn widen(&mut self, energy: f64) {
        let error = energy - self.meter.initial();
        (self.low, self.high) = (self.low.min(error), self.high.max(error));
    }

    /// Whether the error is larger than a part of the energy scale, or no number.
    fn exceeds(&self, tolerance: f64) -> bool {
        exceeds(self.high.max(-self.low), tolerance * self.meter.energy_scale())
    }
}

impl Observer<f64> for EnergyRange {
    fn observe(&mut self, moment: &Moment<'_, f64>) -> Result<ControlFlow<()>, Cause> {
        if moment.state.steps > 0 {
            let energy = self.meter.measure(moment)?;
            self.widen(energy);
        }
        Ok(ControlFlow::Continue(()))
    }
}
