//! How the sweeps of a step go on, judged by how much they change.
//!
//! Velocities and forces of each group of coupled coordinates are looked at apart, relative to their sizes, so that units do not matter.

use crate::expr::{Sweep, Tapes};

/// More sweeps than this are not worth it.
const MOST: u32 = 60;
/// After so many sweeps the changes must shrink at least by this factor each, or Newton's method takes over.
const EARLY: u32 = 4;
const SLOWEST: f64 = 0.7;
/// Changes larger than this part that still grow do not come back.
const WILD: f64 = 10.0;
/// What is still missing may be this part of velocities and forces: a thousandth of a unit of rounding.
const MISSING: f64 = f64::EPSILON / 1024.0;
/// Nobody asks for less than this.
const MOST_MISSING: f64 = 1e-6;
/// Changes of so many units of rounding that no longer shrink are rounding: a nearly singular mass matrix amplifies it.
const ROUNDING: f64 = 1e4;
/// So many units of rounding of the coordinates do not move them.
const LOST: f64 = 16.0 * f64::EPSILON;
/// Changes below this are rounding mostly.
const ROUGH: f64 = 64.0 * f64::EPSILON;
/// Where velocities or forces change by this part in a sweep, everything is evaluated anew.
const FAR: f64 = 0.02;
/// A number near zero carries rounding errors of the others it is coupled to, so it is measured against this part of the largest.
const COUPLED: f64 = 1e-3;

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
    /// How large all velocities and then all forces are.
    sizes: Vec<f64>,
    /// How large the velocities, or forces, of each group are, and the coordinates.
    largest: Vec<f64>,
    extent: Vec<f64>,
    /// After so many sweeps the sizes are known.
    measured: u32,
    /// The largest ratio of successive changes in the last step.
    contraction: f64,
    /// The part of velocities and forces that may be missing when a step is done.
    missing: f64,
}

/// How much a group of velocities and forces changed in a sweep, relative to its size.
#[derive(Clone, Copy, Debug)]
struct Change {
    now: f64,
    before: f64,
    earlier: f64,
    /// How much smaller changes become in a sweep, as long as they can be told from rounding; 1 if that is not known.
    rate: f64,
    /// The change of exact arithmetic, as the rate lets expect it.
    expected: f64,
    settled: bool,
}

impl Change {
    const NEW: Self = Self {
        now: f64::INFINITY,
        before: f64::INFINITY,
        earlier: f64::INFINITY,
        rate: 1.0,
        expected: f64::INFINITY,
        settled: false,
    };

    /// Another sweep was made: how much smaller its change is, over two sweeps where there were as many, because errors of q and p take
    /// turns. 1 if there was nothing to compare with.
    fn update(&mut self, now: f64, sweep: u32) -> f64 {
        (self.earlier, self.before, self.now) = (self.before, self.now, now);
        let last = match sweep {
            0..=2 => 1.0,
            _ => now / self.before,
        };
        let ratio = if sweep > 3 { (now / self.earlier).sqrt() } else { last };
        if now > ROUGH || self.rate >= 1.0 {
            self.rate = last.max(ratio);
            self.expected = now;
        } else {
            self.expected = now.min(2.0 * self.rate * self.expected);
        }
        ratio
    }
    /// Whether all changes that would follow are below a limit.
    fn is_below(&self, limit: f64) -> bool {
        self.rate < 1.0 && self.expected * self.rate <= limit * (1.0 - self.rate)
    }
}

impl Course {
    pub(super) fn new(group: &[usize], h: f64) -> Self {
        let groups = group.iter().max().map_or(0, |group| group + 1);
        Self {
            h,
            changes: vec![Change::NEW; groups],
            sizes: vec![0.0; 2 * group.len()],
            group: group.to_vec(),
            largest: vec![0.0; groups],
            extent: vec![0.0; groups],
            measured: 1,
            contraction: -1.0,
            missing: MISSING,
        }
    }
    pub(super) fn resize(&mut self, h: f64) {
        self.h = h;
    }
    /// Changes which part may be missing.
    pub(super) fn leave(&mut self, missing: f64) {
        self.missing = missing.clamp(MISSING, MOST_MISSING);
    }

    /// A step starts at q, with a uniform motion as guess or not.
    pub(super) fn start(&mut self, q: &[f64], uniform: bool) {
        self.extent.fill(0.0);
        for (q, &group) in q.iter().zip(&self.group) {
            let extent = &mut self.extent[group];
            *extent = extent.max(q.abs());
        }
        // sizes of a uniform motion mean nothing, because it may be rest
        self.measured = if uniform { 2 } else { 1 };
    }
    /// The first sweep is to come.
    pub(super) fn begin(&mut self) {
        self.changes.fill(Change::NEW);
        self.contraction = -1.0;
    }

    /// Whether sizes were known in a sweep, so that its changes can be judged.
    pub(super) fn is_measured(&self, sweep: u32) -> bool {
        sweep > self.measured
    }
    /// Measures velocities and forces by the largest of each: of V_i, or of F_{i−n}.
    pub(super) fn measure(&mut self, size: impl Fn(usize) -> f64) {
        let n = self.group.len();
        for first in [0, n] {
            self.largest.fill(f64::MIN_POSITIVE);
            for i in 0..n {
                let size = size(first + i);
                self.sizes[first + i] = size;
                let of_group = &mut self.largest[self.group[i]];
                *of_group = of_group.max(size);
            }
            for (size, &group) in self.sizes[first..first + n].iter_mut().zip(&self.group) {
                *size = size.max(COUPLED * self.largest[group]);
            }
        }
    }
    /// What was measured.
    pub(super) fn sizes(&self) -> &[f64] {
        &self.sizes
    }
    /// What comes after a sweep that was measured.
    pub(super) fn kind_after_measuring(&self, sweep: u32) -> Sweep {
        if sweep > 1 { Sweep::Fresh } else { Sweep::Refine }
    }

    /// Judges a sweep by the changes of all groups and, at the end, the turn of angles.
    pub(super) fn judge(
        &mut self,
        sweep: u32,
        kind: Sweep,
        mut changes: impl DoubleEndedIterator<Item = f64>,
    ) -> Next {
        let count = sweep - self.measured + 1;
        let rounding = ROUNDING * f64::EPSILON;
        let mut far = changes.next_back().is_some_and(|turn| turn > Tapes::TURN);
        let (mut done, mut slow) = (true, false);
        for (change, now) in self.changes.iter_mut().zip(changes) {
            let ratio = change.update(now, count);
            far |= now > FAR;
            if count > 2 && change.before > rounding {
                self.contraction = self.contraction.max(ratio);
            }
            if change.settled || change.is_below(self.missing) || now == 0.0 {
                continue;
            }
            let stagnant = count > 2 && ratio > SLOWEST;
            change.settled = stagnant && now <= rounding;
            let diverges = !now.is_finite() || count > 2 && now > WILD && now > change.before;
            slow |= stagnant && count > EARLY && !change.settled || diverges;
            done &= change.settled;
        }
        // a sweep that settles nothing may still have moved nothing
        if slow && !self.moves_no_coordinate() {
            return Next::Failed;
        }
        let far = far && kind == Sweep::Refine;
        match done || slow {
            true if !far => Next::Done,
            _ if sweep >= MOST => Next::Failed,
            _ => Next::Sweep(if far { Sweep::Fresh } else { Sweep::Refine }),
        }
    }

    /// Whether the last changes of the velocities are lost in the rounding of the coordinates. Forces that are small differences of
    /// large numbers never settle to their own rounding, and need not.
    fn moves_no_coordinate(&self) -> bool {
        self.group
            .iter()
            .zip(&self.sizes)
            .all(|(&group, size)| self.h.abs() * self.changes[group].now * size <= LOST * self.extent[group])
    }

    /// How much smaller each change of the last step was than the one before, at worst.
    pub(super) fn contraction(&self) -> Option<f64> {
        (self.contraction >= 0.0).then_some(self.contraction)
    }
}

/// The size of the largest of some numbers; what is none is left out.
pub(super) fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |largest, x| if x.abs() > largest { x.abs() } else { largest })
}
