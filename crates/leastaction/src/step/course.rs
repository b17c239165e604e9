//! How the sweeps of a step go on, judged by how much they change.
//!
//! Velocities and forces of each group of coupled coordinates are looked at apart, relative to their sizes, so that units do not matter.

use super::sweeps::Guess;
use crate::expr::{Sweep, Tapes};
use crate::scalar::Ledger;

/// More sweeps than this are not worth it.
const MOST: u32 = 60;
/// After so many sweeps the changes must shrink at least by this factor each, or Newton's method takes over.
const EARLY: u32 = 4;
const SLOWEST: f64 = 0.7;
/// Changes larger than this part that still grow do not come back.
const WILD: f64 = 10.0;
/// What is still missing may be this part of velocities and forces: it has the same sign step after step, and a thousandth of a unit of rounding was a drift
/// that 10⁸ steps of the double pendulum showed.
pub(super) const MISSING: f64 = f64::EPSILON / 65536.0;
/// Nobody asks for less than this.
pub(super) const MOST_MISSING: f64 = 1e-6;
/// Changes of so many units of rounding that no longer shrink are rounding: a nearly singular mass matrix amplifies it.
const ROUNDING: f64 = 1e4;
/// So many units of rounding of the coordinates do not move them.
const LOST: f64 = 16.0 * f64::EPSILON;
/// A guess that is so far off is worse than a uniform motion.
const HOPELESS: f64 = 2.0;
/// Changes of so many times what may be missing are not the last.
const ON_THE_WAY: f64 = 1e6;
/// Changes below this are rounding mostly.
const ROUGH: f64 = 64.0 * f64::EPSILON;
/// Where velocities or forces change by this part in a sweep, everything is evaluated anew.
const FAR: f64 = 0.1;
/// Where the first change is as large, even after everything was evaluated anew.
const VERY_FAR: f64 = 0.5;

/// What comes after a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Next {
    Sweep(Sweep),
    /// They have converged.
    Done,
    /// They will not.
    Failed,
}

/// What is known of the sweeps of a trajectory's step.
#[derive(Clone, Debug)]
pub(super) struct Course {
    h: f64,
    /// The group of each coordinate, and what is known of each group.
    group: Vec<usize>,
    changes: Vec<Change>,
    /// How large the coordinates of each group are.
    extent: Vec<f64>,
    /// After so many sweeps the sizes are known.
    measured: u32,
    /// How much each group changed in the sweeps of the last step, relative to its size, from the first that was measured on, and how many such
    /// sweeps there are.
    trail: Vec<f64>,
    made: usize,
    /// The part of velocities and forces that may be missing when a step is done.
    missing: f64,
    memory: Memory,
    /// Whether a guess may be as far off as it likes, and whether that was why the last one was given up.
    patient: bool,
    hopeless: bool,
}

/// What the sweeps of a step know of the step before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    /// How many sweeps it needed. The next one will hardly need two less, so until then nobody looks: a processor begins a sweep before it
    /// has finished the other, as long as nothing is decided in between.
    usual: u32,
    /// Whether its guess was so far off that everything had to be evaluated anew.
    was_far: bool,
}

/// What is known of how a group of velocities and forces changes from sweep to sweep.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// How much smaller changes become in a sweep, as long as they can be told from rounding; 1 if that is not known.
    rate: f64,
    /// The change of exact arithmetic, as the rate lets expect it.
    expected: f64,
    settled: bool,
}

impl Change {
    const NEW: Self = Self { rate: 1.0, expected: f64::INFINITY, settled: false };

    /// Looks at how fast changes shrink, beyond their ratio.
    fn expect(&mut self, Recent { now, before, earlier }: Recent, ratio: f64, sweep: u32) {
        if now <= ROUGH && self.rate >= 1.0 && sweep > 3 {
            // nobody looked while they were larger
            (self.rate, self.expected) = (before / earlier, before);
        }
        let last = if sweep > 2 { now / before } else { 1.0 };
        if now > ROUGH || self.rate >= 1.0 {
            self.rate = if last > ratio { last } else { ratio };
            self.expected = now;
        } else {
            let expected = 2.0 * self.rate * self.expected;
            self.expected = if expected < now { expected } else { now };
        }
    }
    /// Whether all changes that would follow are below a limit.
    fn is_below(&self, limit: f64) -> bool {
        self.rate < 1.0 && self.expected * self.rate <= limit * (1.0 - self.rate)
    }
}

/// How much a group changed in the last sweeps, relative to its size.
#[derive(Clone, Copy, Debug)]
struct Recent {
    now: f64,
    before: f64,
    earlier: f64,
}

impl Recent {
    /// How much smaller its change is, over two sweeps where there were as many, because errors of q and p take turns. 1 if there was nothing to
    /// compare with.
    fn ratio(&self, sweep: u32) -> f64 {
        match sweep {
            0..=2 => 1.0,
            3 => self.now / self.before,
            _ => (self.now / self.earlier).sqrt(),
        }
    }
    /// Whether the change of the last sweep is that of sweeps that converge and have far to go, so that there is nothing to judge.
    fn is_on_its_way(&self, limit: f64) -> bool {
        self.now > ON_THE_WAY * limit && self.now < 0.5 * self.before
    }
    /// How many sweeps ago changes were below a limit. Bits of a number are a fair logarithm, and the same on every machine.
    fn too_many(&self, limit: f64) -> u32 {
        let [limit, now, before] = [limit, self.now, self.before].map(|x| x.to_bits() as i64);
        let (below, each) = (limit - now, before - now);
        if below > 0 && each > 0 { (below / each).min(4) as u32 } else { 0 }
    }
}

impl Course {
    pub(super) fn new(group: &[usize], h: f64) -> Self {
        let groups = group.iter().max().map_or(0, |group| group + 1);
        Self {
            h,
            changes: vec![Change::NEW; groups],
            group: group.to_vec(),
            extent: vec![0.0; groups],
            measured: 1,
            trail: vec![0.0; (MOST as usize + 1) * groups],
            made: 0,
            missing: MISSING,
            memory: Memory::default(),
            patient: false,
            hopeless: false,
        }
    }
    pub(super) fn resize(&mut self, h: f64) {
        self.h = h;
    }
    /// Changes which part may be missing.
    pub(super) fn leave(&mut self, missing: f64) {
        self.missing = missing.clamp(MISSING, MOST_MISSING);
    }

    /// What is known of the step before.
    pub(super) fn memory(&self) -> Memory {
        self.memory
    }
    /// Writes or reads the memory.
    pub(super) fn exchange(&mut self, ledger: &mut Ledger) {
        ledger.small(&mut self.memory.usual);
        ledger.require(self.memory.usual <= MOST);
        ledger.flag(&mut self.memory.was_far);
    }
    /// Goes on as another does that has this memory.
    pub(super) fn remember(&mut self, memory: Memory) {
        self.memory = memory;
    }
    /// Takes the step size of another, and what may be missing.
    pub(super) fn follow(&mut self, other: &Self) {
        (self.h, self.missing) = (other.h, other.missing);
    }

    /// A step starts with a guess.
    pub(super) fn start(&mut self, guess: Guess) {
        let uniform = guess == Guess::Uniform;
        self.patient = guess == Guess::Patient;
        // sizes of a uniform motion mean nothing, because it may be rest
        self.measured = if uniform { 2 } else { 1 };
        if uniform || self.patient {
            self.memory = Memory::default();
        }
    }
    /// The first sweep is to come.
    pub(super) fn begin(&mut self) {
        self.hopeless = false;
        self.changes.fill(Change::NEW);
        self.made = 0;
    }

    /// Whether sizes were known in a sweep, so that its changes can be judged.
    pub(super) fn is_measured(&self, sweep: u32) -> bool {
        sweep > self.measured
    }
    /// What comes after a sweep that was measured.
    pub(super) fn kind_after_measuring(&self, sweep: u32) -> Sweep {
        if sweep > 1 || self.memory.was_far { Sweep::Fresh } else { Sweep::Refine }
    }

    /// Takes note of the changes of all groups in a sweep that was measured.
    #[inline]
    pub(super) fn note(&mut self, changes: impl Iterator<Item = f64>) {
        let groups = self.changes.len();
        let places = &mut self.trail[self.made * groups..(self.made + 1) * groups];
        places.iter_mut().zip(changes).for_each(|(place, change)| *place = change);
        self.made += 1;
    }
    /// What comes after a sweep that there is no need to judge: the first one says how good the guess was, and the last ones whether they are the
    /// last.
    #[inline]
    pub(super) fn goes_on(&self, sweep: u32) -> bool {
        sweep > self.measured + 1 && sweep + 1 < self.memory.usual
    }
    /// How much a group changed in the last sweeps.
    fn recent(&self, group: usize) -> Recent {
        let change = |back: usize| match self.made.checked_sub(back) {
            Some(place) => self.trail[place * self.changes.len() + group],
            None => f64::INFINITY,
        };
        Recent { now: change(1), before: change(2), earlier: change(3) }
    }

    /// Judges the sweep that was noted last by its changes and the turn of angles, in a step that starts at q with velocities of
    /// these sizes.
    pub(super) fn judge(
        &mut self,
        sweep: u32,
        kind: Sweep,
        turn: f64,
        q: impl Iterator<Item = f64>,
        sizes: impl Iterator<Item = f64>,
    ) -> Next {
        let count = sweep - self.measured + 1;
        let rounding = ROUNDING * f64::EPSILON;
        let (mut done, mut slow, mut largest) = (true, false, 0.0);
        for group in 0..self.changes.len() {
            let recent = self.recent(group);
            let Recent { now, before, .. } = recent;
            largest = if now > largest { now } else { largest };
            // most sweeps: nobody waits for a division
            if recent.is_on_its_way(self.missing) {
                done = false;
                continue;
            }
            let ratio = recent.ratio(count);
            let change = &mut self.changes[group];
            change.expect(recent, ratio, count);
            if change.settled || change.is_below(self.missing) || now == 0.0 {
                continue;
            }
            let stagnant = count > 2 && ratio > SLOWEST;
            change.settled = stagnant && now <= rounding;
            let diverges = !now.is_finite() || count > 2 && now > WILD && now > before;
            slow |= stagnant && count > EARLY && !change.settled || diverges;
            done &= change.settled;
        }
        // a sweep that settles nothing may still have moved nothing
        if slow && !self.moves_no_coordinate(q, sizes) {
            return Next::Failed;
        }
        let refined = kind == Sweep::Refine;
        // only refining tells of turns
        let far = refined && turn > Tapes::TURN || largest > FAR;
        let mut anew = far && refined;
        if count == 2 {
            self.hopeless = largest > HOPELESS && self.measured == 1 && !self.patient;
            if self.hopeless {
                return Next::Failed;
            }
            // what was evaluated anew was so far from where it ends
            anew |= largest > VERY_FAR;
            self.memory.was_far = far;
        }
        match done || slow {
            true if !anew => {
                self.memory.usual = sweep.saturating_sub(self.too_many());
                Next::Done
            }
            _ if sweep >= MOST => Next::Failed,
            _ => Next::Sweep(if anew { Sweep::Fresh } else { Sweep::Refine }),
        }
    }

    /// Whether the last guess was given up because it was too far off.
    pub(super) fn was_hopeless(&self) -> bool {
        self.hopeless
    }

    /// How many sweeps were made in vain because nobody looked. What is below rounding is in vain as well.
    fn too_many(&self) -> u32 {
        let limit = self.missing.max(f64::EPSILON / 4.0);
        (0..self.changes.len()).map(|group| self.recent(group).too_many(limit)).min().unwrap_or(0)
    }

    /// Whether the last changes of the velocities are lost in the rounding of the coordinates. Forces that are small differences of
    /// large numbers never settle to their own rounding, and need not.
    fn moves_no_coordinate(
        &mut self,
        q: impl Iterator<Item = f64>,
        sizes: impl Iterator<Item = f64>,
    ) -> bool {
        self.extent.fill(0.0);
        for (q, &group) in q.zip(&self.group) {
            let extent = &mut self.extent[group];
            *extent = extent.max(q.abs());
        }
        self.group
            .iter()
            .zip(sizes)
            .all(|(&group, size)| self.h.abs() * self.recent(group).now * size <= LOST * self.extent[group])
    }

    /// How much smaller each change of the last step was than the one before, at worst.
    pub(super) fn contraction(&self) -> Option<f64> {
        let ratio = |before: f64, now: f64| (before > ROUNDING * f64::EPSILON).then(|| now / before);
        let groups = self.changes.len();
        let sweeps = self.trail[..self.made * groups].chunks_exact(groups.max(1));
        let largest = sweeps.map(|changes| changes.iter().copied().fold(0.0, f64::max));
        let later = largest.clone().skip(1);
        largest.zip(later).filter_map(|(before, now)| ratio(before, now)).reduce(f64::max)
    }
}
