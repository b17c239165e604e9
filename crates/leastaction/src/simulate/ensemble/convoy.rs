//! Members eight abreast, each with a fixed step from the ladder and as many sweeps in every step.
//!
//! For ensembles with a tolerance: whether a step is small enough for its sweeps shows in the energy, which is watched anyway. First steps, which take more
//! sweeps, are taken by eight members together in a harbour; from there they go to sea when a seat becomes free.

use super::engine::{Engine, GoOn, Look, PATIENCE, Seat, Starts};
use super::ladder::Ladder;
use super::record::{Ending, Status};
use crate::simulate::{Observed, Plan};
use crate::step::{Sines, Voyage};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

const SEATS: usize = Voyage::SIZE;

/// Runs eight members side by side; whenever one ends, the next takes its seat.
#[derive(Clone, Debug)]
pub struct EightAbreast {
    sea: Ship,
    harbour: Ship,
    /// Members that begin anew, and on which rung.
    again: Vec<(usize, usize)>,
    /// Rungs to start on instead of those to be expected.
    rungs: Vec<usize>,
    endings: Vec<Ending>,
}

/// Eight seats whose members take steps together.
#[derive(Clone, Debug)]
struct Ship {
    voyage: Voyage,
    seats: [Seat; SEATS],
    /// Who has the seats, and how many steps each has taken.
    members: [Option<usize>; SEATS],
    steps: [u64; SEATS],
}

impl Ship {
    /// What became of a member in the last step.
    fn look(&mut self, seat: usize) -> Look {
        self.steps[seat] += 1;
        let [energy, kinetic] = self.voyage.energy(seat);
        if energy.is_finite() && kinetic.is_finite() {
            self.seats[seat].look_at_energy(self.steps[seat], energy, kinetic)
        } else {
            self.seats[seat].judge(Some(Status::NotConverged))
        }
    }
    /// A seat without a member stays at the start of the run.
    fn empty(&mut self, seat: usize) {
        let problem = self.seats[seat].problem();
        self.voyage.leave(seat, &problem.q0, &problem.p0);
    }
}

impl EightAbreast {
    /// An engine for a run with its observed formulas on a ladder; `None` if its members cannot go like this.
    pub(super) fn new(plan: &Plan, observed: &Observed, ladder: &Arc<Ladder>, sines: Sines) -> Option<Self> {
        if !observed.events.is_empty() {
            return None;
        }
        let voyage = Voyage::new(&plan.problem, &plan.method, sines)?;
        let mut seat = Seat::new(plan, observed, &plan.stepper(&plan.problem, plan.step));
        seat.climb(ladder);
        let ship = Ship {
            voyage,
            seats: std::array::from_fn(|_| seat.clone()),
            members: [None; SEATS],
            steps: [0; SEATS],
        };
        Some(Self {
            sea: ship.clone(),
            harbour: ship,
            again: Vec::new(),
            rungs: Vec::new(),
            endings: Vec::new(),
        })
    }

    /// Lets members have steps of another ladder.
    pub(super) fn climb(&mut self, ladder: &Arc<Ladder>) {
        for ship in [&mut self.sea, &mut self.harbour] {
            ship.seats.iter_mut().for_each(|seat| seat.climb(ladder));
        }
    }

    /// The rungs on which members keep to the tolerance, from these on downwards.
    pub(super) fn try_rungs(&mut self, ladder: &Ladder, starts: &Starts, rungs: Vec<usize>) -> Vec<usize> {
        self.rungs = rungs;
        let mut found = vec![0; starts.len()];
        let rung_of = |step: f64| ladder.rungs.iter().position(|pace| pace.step.to_bits() == step.to_bits());
        let _ = self.run(starts, &|| ControlFlow::Continue(()), &mut |member, ending| {
            found[member] = rung_of(ending.step).unwrap_or(0);
        });
        self.rungs.clear();
        found
    }

    /// Takes the first steps of up to eight members.
    fn launch(&mut self, starts: &Starts, left: &mut Range<usize>) {
        for place in 0..SEATS {
            let next = self.again.pop().map(|(member, rung)| (member, Some(rung)));
            let next = next.or_else(|| self.next(place, starts, left));
            let ship = &mut self.harbour;
            ship.members[place] = next.map(|(member, _)| member);
            ship.steps[place] = 0;
            let Some((member, rung)) = next else {
                ship.empty(place);
                continue;
            };
            let seat = &mut ship.seats[place];
            seat.begin(starts, member, rung);
            let start = [starts.of(&starts.q, member), starts.of(&starts.p, member)];
            ship.voyage.begin(place, seat.parameters(), seat.pace().step, start);
        }
        self.harbour.voyage.first_step();
        Self::look(&mut self.harbour, &mut self.again, &mut self.endings);
    }

    /// The next member that takes a step at all.
    fn next(
        &mut self,
        place: usize,
        starts: &Starts,
        left: &mut Range<usize>,
    ) -> Option<(usize, Option<usize>)> {
        for member in left {
            match starts.refused[member] {
                None => return Some((member, self.rungs.get(member).copied())),
                Some(refusal) => {
                    let seat = &mut self.harbour.seats[place];
                    seat.refuse(refusal, starts, member);
                    self.endings[member].clone_from(&seat.ending);
                }
            }
        }
        None
    }

    /// Looks at all members of a ship after a step. Those that end, or begin anew, leave it.
    fn look(ship: &mut Ship, again: &mut Vec<(usize, usize)>, endings: &mut [Ending]) {
        for place in 0..SEATS {
            let Some(member) = ship.members[place] else { continue };
            match ship.look(place) {
                Look::On => continue,
                Look::Again(rung) => again.push((member, rung)),
                Look::Ended(status) => {
                    let (seat, ending) = (&mut ship.seats[place], &mut endings[member]);
                    seat.finish_after(status, ship.steps[place]);
                    ending.clone_from(&seat.ending);
                    ship.voyage.state(place, &mut ending.q, &mut ending.p);
                }
            }
            ship.members[place] = None;
        }
    }

    /// Gives free seats to members that are in the harbour.
    fn board(&mut self, starts: &Starts, left: &mut Range<usize>) {
        for place in 0..SEATS {
            if self.sea.members[place].is_some() {
                continue;
            }
            while self.harbour.members == [None; SEATS] && !(left.start >= left.end && self.again.is_empty())
            {
                self.launch(starts, left);
            }
            let (sea, harbour) = (&mut self.sea, &mut self.harbour);
            match harbour.members.iter().position(Option::is_some) {
                None => sea.empty(place),
                Some(from) => {
                    std::mem::swap(&mut sea.seats[place], &mut harbour.seats[from]);
                    sea.members[place] = harbour.members[from].take();
                    sea.steps[place] = harbour.steps[from];
                    let seat = &sea.seats[place];
                    let step = seat.pace().step;
                    sea.voyage.take_over(place, seat.parameters(), step, &harbour.voyage, from);
                }
            }
        }
    }
}

impl Engine for EightAbreast {
    fn run(
        &mut self,
        starts: &Starts,
        go_on: GoOn<'_>,
        ended: &mut dyn FnMut(usize, &Ending),
    ) -> ControlFlow<()> {
        self.endings.resize(starts.len(), self.sea.seats[0].ending.clone());
        self.again.clear();
        for ship in [&mut self.sea, &mut self.harbour] {
            ship.members = [None; SEATS];
        }
        let mut left = 0..starts.len();
        let mut steps: u64 = 0;
        loop {
            if steps.is_multiple_of(PATIENCE) {
                go_on()?;
            }
            if self.sea.members.contains(&None) {
                self.board(starts, &mut left);
                if self.sea.members == [None; SEATS] {
                    break;
                }
            }
            self.sea.voyage.step();
            Self::look(&mut self.sea, &mut self.again, &mut self.endings);
            steps += 1;
        }
        for (member, ending) in self.endings.iter().enumerate() {
            ended(member, ending);
        }
        ControlFlow::Continue(())
    }
}
