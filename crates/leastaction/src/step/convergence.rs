//! When an iteration has converged.
//!
//! Corrections are followed for each group of coupled coordinates apart, so that the rounding of a large coordinate cannot
//! hide what is still missing in one it has nothing to do with. A group is settled when its corrections no longer shrink; a
//! tolerance only tells rounding from failure.

use crate::scalar::elementary;
use crate::system::Structure;

/// Corrections of this many units of rounding (times the root of the number of unknowns) may be due to rounding. Generous,
/// because a nearly singular mass matrix amplifies rounding; what ends the iteration is that corrections stop to shrink.
const ROUNDING: f64 = 1e4;
/// A coordinate (or its increment) near zero carries rounding errors of the others it is coupled to, so it is measured
/// against at least this part of the largest in its group.
const COUPLED: f64 = 1e-3;
/// Corrections that shrink by less than this factor have reached rounding, if they are small enough.
const STAGNANT: f64 = 0.5;
/// If at their present rate more corrections than this would be needed, the matrix is computed anew.
const PATIENCE: f64 = 4.0;

/// What to do with a correction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Nothing: the unknowns have converged as they are.
    Done,
    /// Apply it, and then they have converged.
    DoneAfter,
    /// Apply it and go on, with a new matrix or with the same.
    Continue {
        /// Compute the matrix anew.
        renew: bool,
    },
}

/// Follows the corrections of a step.
#[derive(Clone, Debug)]
pub(super) struct Convergence {
    /// coordinate → group
    group: Vec<usize>,
    groups: Vec<Group>,
    /// What corrections of each coordinate are compared with.
    size: Vec<f64>,
    epsilon: f64,
    pub(super) tolerance: f64,
    /// The largest ratio of a correction to the one before it that says something; below zero if none does.
    contraction: f64,
}

#[derive(Clone, Debug)]
struct Group {
    /// The largest size, and the largest increment.
    size: f64,
    reach: f64,
    /// The largest correction relative to sizes, whose it is, and the one before.
    correction: f64,
    coordinate: usize,
    before: f64,
    /// The largest correction relative to increments.
    of_increments: f64,
    settled: bool,
}

impl Group {
    const NEW: Self = Self {
        size: f64::MIN_POSITIVE,
        reach: f64::MIN_POSITIVE,
        correction: 0.0,
        coordinate: 0,
        before: f64::INFINITY,
        of_increments: 0.0,
        settled: false,
    };
}

impl Convergence {
    pub(super) fn new(structure: &Structure, unknowns: usize, epsilon: f64) -> Self {
        Self {
            group: structure.group.clone(),
            groups: vec![Group::NEW; structure.groups],
            size: vec![0.0; structure.group.len()],
            epsilon,
            tolerance: ROUNDING * epsilon * (unknowns as f64).sqrt(),
            contraction: -1.0,
        }
    }

    /// Starts a step. `sizes` gives each coordinate's magnitude and the reach of its guessed increments.
    pub(super) fn start(&mut self, sizes: impl Fn(usize) -> (f64, f64)) {
        self.groups.fill(Group::NEW);
        self.contraction = -1.0;
        for i in 0..self.size.len() {
            let (magnitude, reach) = sizes(i);
            self.size[i] = magnitude + reach;
            let group = &mut self.groups[self.group[i]];
            group.size = group.size.max(self.size[i]);
        }
        for i in 0..self.size.len() {
            self.size[i] = self.size[i].max(COUPLED * self.groups[self.group[i]].size);
        }
    }

    /// Judges a correction. `corrections` gives for each coordinate its largest correction and the reach of its increments.
    pub(super) fn judge(&mut self, iteration: u32, corrections: impl Fn(usize) -> (f64, f64)) -> Verdict {
        for group in &mut self.groups {
            (group.before, group.correction, group.of_increments) = (group.correction, 0.0, 0.0);
        }
        for i in 0..self.size.len() {
            let group = &mut self.groups[self.group[i]];
            group.reach = group.reach.max(corrections(i).1);
        }
        for i in 0..self.size.len() {
            let (correction, reach) = corrections(i);
            let group = &mut self.groups[self.group[i]];
            let relative = correction / self.size[i];
            if relative > group.correction {
                (group.correction, group.coordinate) = (relative, i);
            }
            let increments = (correction + reach).max(COUPLED * group.reach);
            group.of_increments = group.of_increments.max(correction / increments);
        }
        // the first correction has nothing to shrink from, so it is always applied, however small
        let compared = iteration > 1;
        let (mut all_settled, mut all_done, mut renew) = (true, true, false);
        for group in &mut self.groups {
            let rate = group.correction / group.before;
            // a ratio of corrections that are both rounding says nothing
            if compared && group.before > self.tolerance {
                self.contraction = self.contraction.max(rate);
            }
            let stagnant = compared && group.correction <= self.tolerance && rate >= STAGNANT;
            group.settled |= group.correction == 0.0 || stagnant;
            if group.settled {
                continue;
            }
            all_settled = false;
            // the next correction would change no increment by a quarter of its last bit
            if compared && rate < 1.0 && group.of_increments * rate < 0.25 * self.epsilon {
                continue;
            }
            all_done = false;
            // at this rate the rounding of the number type is reached after so many corrections
            let needed = elementary::ln(self.epsilon / group.correction) / elementary::ln(rate);
            renew |= compared && !(0.0..PATIENCE).contains(&needed);
        }
        match (all_settled, all_done) {
            (true, _) => Verdict::Done,
            (false, true) => Verdict::DoneAfter,
            (false, false) => Verdict::Continue { renew },
        }
    }

    /// The largest ratio of a correction of this step to the one before it, if there were two above rounding.
    pub(super) fn contraction(&self) -> Option<f64> {
        (self.contraction >= 0.0).then_some(self.contraction)
    }

    /// The coordinate with the largest last correction among those that have not settled, and that correction.
    pub(super) fn worst(&self) -> (usize, f64) {
        let open = self.groups.iter().filter(|group| !group.settled);
        let worst = open.max_by(|a, b| a.correction.total_cmp(&b.correction));
        worst.map_or((0, 0.0), |group| (group.coordinate, group.correction))
    }
}
