//! What happened: times and states of events, one row after the other, and how often each happened.

use crate::scalar::{Ledger, Real};

/// So many numbers are kept at most: 160 MB of them. Events beyond are counted.
const MODERATE: usize = 20_000_000;
/// More than so many events happen in no run.
const MOST_COUNTED: u64 = 1 << 53;
/// Room for so many rows is made at once.
const ROOM: usize = 1024;

/// Located events in the order of time. Rows beyond a moderate amount of memory are left out; the tallies are not.
#[derive(Clone, Debug, Default)]
pub struct Crossings<R> {
    /// How many coordinates a row has.
    pub n: usize,
    /// Names of the outputs in a row.
    pub outputs: Vec<String>,
    /// How often each event happened, in the order of the run's events.
    pub tallies: Vec<Tally<R>>,
    /// Which event, by its place in the run.
    pub event: Vec<usize>,
    /// The how manieth of this event, counted from 1.
    pub count: Vec<u64>,
    /// Times.
    pub t: Vec<R>,
    /// Coordinates, n a row.
    pub q: Vec<R>,
    /// Velocities, n a row.
    pub v: Vec<R>,
    /// Momenta, n a row.
    pub p: Vec<R>,
    /// Values of the outputs, a row after the other.
    pub values: Vec<R>,
    /// So many numbers are kept at most.
    most: usize,
}

/// How often an event happened.
#[derive(Clone, Debug)]
pub struct Tally<R> {
    /// The name of the event.
    pub name: String,
    /// How often.
    pub count: u64,
    /// The first time.
    pub first: Option<R>,
    /// The last time.
    pub last: Option<R>,
    /// The run ends when it has happened so often.
    pub stop: Option<u64>,
    /// How often its formula changed its sign without a zero, at a jump or a pole.
    pub jumps: u64,
    /// When it did so first.
    pub first_jump: Option<f64>,
    /// In how many steps its formula bent too much to see whether it is zero.
    pub unresolved: u64,
    /// Where its formula was nearest to zero at the end of a step, as long as it had not happened: the value and the time. Infinite before the start.
    pub(super) nearest: (f64, f64),
}

/// Farther from zero than any value.
const FAR: (f64, f64) = (f64::INFINITY, 0.0);

impl<R> Default for Tally<R> {
    fn default() -> Self {
        let (name, first, last, stop) = (String::new(), None, None, None);
        Self { name, count: 0, first, last, stop, jumps: 0, first_jump: None, unresolved: 0, nearest: FAR }
    }
}

impl<R> Tally<R> {
    /// Counts a change of sign without a zero.
    pub(super) fn jump(&mut self, t: f64) {
        self.jumps += 1;
        self.first_jump.get_or_insert(t);
    }
}

impl<R: Real> Crossings<R> {
    pub(super) fn new(
        n: usize,
        events: impl Iterator<Item = (String, Option<u64>)>,
        outputs: Vec<String>,
    ) -> Self {
        let tally = |(name, stop)| Tally { name, stop, ..Tally::default() };
        let room = |width: usize| Vec::with_capacity((ROOM * width).min(MODERATE));
        Self {
            n,
            tallies: events.map(tally).collect(),
            event: Vec::with_capacity(ROOM),
            count: Vec::with_capacity(ROOM),
            t: room(1),
            q: room(n),
            v: room(n),
            p: room(n),
            values: room(outputs.len()),
            outputs,
            most: MODERATE,
        }
    }

    /// The same, but events are only counted.
    pub(super) fn without_rows(self) -> Self {
        Self { most: 0, ..self }
    }

    /// Forgets what happened.
    pub(super) fn clear(&mut self) {
        for tally in &mut self.tallies {
            *tally = Tally { name: std::mem::take(&mut tally.name), stop: tally.stop, ..Tally::default() };
        }
        self.event.clear();
        self.count.clear();
        for list in [&mut self.t, &mut self.q, &mut self.v, &mut self.p, &mut self.values] {
            list.clear();
        }
    }

    /// Writes or reads all rows and tallies, which must fit together.
    pub(super) fn exchange(&mut self, ledger: &mut Ledger) {
        for tally in &mut self.tallies {
            ledger.whole(&mut tally.count);
            ledger.perhaps(&mut tally.first);
            ledger.perhaps(&mut tally.last);
            ledger.whole(&mut tally.jumps);
            ledger.perhaps(&mut tally.first_jump);
            ledger.whole(&mut tally.unresolved);
            ledger.number(&mut tally.nearest.0);
            ledger.number(&mut tally.nearest.1);
        }
        let mut events: Vec<u64> = self.event.iter().map(|event| *event as u64).collect();
        ledger.wholes(&mut events);
        self.event = events.into_iter().map(|event| event as usize).collect();
        ledger.wholes(&mut self.count);
        let rows = self.event.len();
        let Self { n, t, q, v, p, values, .. } = self;
        for (list, width) in [(t, 1), (q, *n), (v, *n), (p, *n), (values, self.outputs.len())] {
            ledger.list(list);
            ledger.require(list.len() == rows * width);
        }
        let known = self.event.iter().all(|event| *event < self.tallies.len());
        let counted = self.tallies.iter().map(|tally| tally.count).fold(0, u64::saturating_add);
        ledger
            .require(known && self.count.len() == rows && counted >= rows as u64 && counted <= MOST_COUNTED);
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.t.len()
    }
    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.t.is_empty()
    }
    /// How many events were counted but not kept.
    pub fn left_out(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.count).sum::<u64>() - self.len() as u64
    }
    /// The times of one event.
    pub fn times(&self, event: usize) -> impl Iterator<Item = &R> {
        self.event.iter().zip(&self.t).filter(move |(which, _)| **which == event).map(|(_, t)| t)
    }
    /// One output at every event.
    pub fn output(&self, index: usize) -> impl Iterator<Item = &R> {
        self.values.iter().skip(index).step_by(self.outputs.len().max(1))
    }

    /// Takes note of the values of all formulas at the end of a step.
    pub(super) fn look(&mut self, values: &[R], t: &R) {
        for (tally, value) in self.tallies.iter_mut().zip(values).filter(|(tally, _)| tally.count == 0) {
            let value = value.to_f64();
            if value.abs() < tally.nearest.0.abs() {
                tally.nearest = (value, t.to_f64());
            }
        }
    }

    /// Counts an event and keeps it if there is room. Says whether the run ends with it.
    pub(super) fn push(&mut self, event: usize, t: &R, [q, v, p, values]: [&[R]; 4]) -> bool {
        let tally = &mut self.tallies[event];
        tally.count += 1;
        tally.first.get_or_insert_with(|| t.clone());
        tally.last = Some(t.clone());
        let count = tally.count;
        let stop = tally.stop.is_some_and(|stop| count >= stop);
        if (self.t.len() + 1) * (3 * self.n + 3 + values.len()) <= self.most {
            self.event.push(event);
            self.count.push(count);
            self.t.push(t.clone());
            self.q.extend_from_slice(q);
            self.v.extend_from_slice(v);
            self.p.extend_from_slice(p);
            self.values.extend_from_slice(values);
        }
        stop
    }

    /// The same in 64-bit numbers.
    pub fn rounded(&self) -> Crossings<f64> {
        let list = |numbers: &[R]| numbers.iter().map(R::to_f64).collect();
        let tally = |tally: &Tally<R>| Tally {
            name: tally.name.clone(),
            count: tally.count,
            first: tally.first.as_ref().map(R::to_f64),
            last: tally.last.as_ref().map(R::to_f64),
            stop: tally.stop,
            jumps: tally.jumps,
            first_jump: tally.first_jump,
            unresolved: tally.unresolved,
            nearest: tally.nearest,
        };
        Crossings {
            n: self.n,
            outputs: self.outputs.clone(),
            tallies: self.tallies.iter().map(tally).collect(),
            event: self.event.clone(),
            count: self.count.clone(),
            t: list(&self.t),
            q: list(&self.q),
            v: list(&self.v),
            p: list(&self.p),
            values: list(&self.values),
            most: self.most,
        }
    }
}
