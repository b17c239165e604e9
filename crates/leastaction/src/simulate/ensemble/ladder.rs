//! A step for each member that keeps its energy to a tolerance.
//!
//! Steps come from a ladder: each rung has a fixed step, a fifth smaller than the rung above. A member starts on the rung that members with about its
//! energy needed, among a few that were tried beforehand; as soon as its energy error exceeds the tolerance, or a step cannot be solved, it begins anew
//! on the next rung. So every member runs with one step from start to end, and which one follows from the ensemble and the member alone.

use super::engine::Pace;
use crate::scalar::elementary::pow;

/// Rungs to half the step.
const RUNGS_A_HALF: f64 = 3.0;
/// Rungs above the step picked for the run itself, and below it.
const ABOVE: i32 = 6;
const BELOW: i32 = 24;
/// So many of the members tried are neighbours of a member in energy, but no more than a quarter of them. This part of them must be content with its
/// rung.
const NEIGHBOURS: usize = 16;
const CONTENT: f64 = 0.6;

/// The rungs, and which of them members needed that were tried.
#[derive(Clone, Debug)]
pub(super) struct Ladder {
    pub(super) tolerance: f64,
    pub(super) rungs: Vec<Pace>,
    /// The rung of the run's own step.
    pub(super) middle: usize,
    /// Energies at the start and rungs, by energy.
    tried: Vec<(f64, usize)>,
}

impl Ladder {
    /// A ladder about a step. Larger ones are left out from the first on that does not resolve the motion, which need not show in the energy.
    pub(super) fn new(tolerance: f64, own: Pace, resolves: impl Fn(Pace) -> bool) -> Self {
        let length = own.step * own.steps as f64;
        let steps = |rung: i32| {
            let factor = pow(2.0, f64::from(rung) / RUNGS_A_HALF);
            (own.steps as f64 * factor).ceil().max(1.0)
        };
        let pace = |count: f64| Pace { step: length / count, steps: count as u64 };
        let above = (1..=ABOVE).take_while(|rung| resolves(pace(steps(-rung)))).last().unwrap_or(0);
        let mut counts: Vec<f64> = (-above..=BELOW).map(steps).collect();
        counts.dedup();
        let middle = counts.iter().position(|count| *count >= own.steps as f64).unwrap_or(0);
        let rungs = counts.iter().map(|count| pace(*count)).collect();
        Self { tolerance, rungs, middle, tried: Vec::new() }
    }

    /// Notes which rungs some members needed.
    pub(super) fn learn(&mut self, mut tried: Vec<(f64, usize)>) {
        tried.retain(|(energy, _)| !energy.is_nan());
        tried.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.tried = tried;
    }

    /// The rung to start on with an energy.
    pub(super) fn rung(&self, energy: f64) -> usize {
        let place = self.tried.partition_point(|(other, _)| *other < energy);
        let count = self.tried.len().div_ceil(4).min(NEIGHBOURS);
        let end = (place + count / 2).max(count).min(self.tried.len());
        let mut rungs = [self.middle; NEIGHBOURS];
        let neighbours = &self.tried[end - count..end];
        rungs.iter_mut().zip(neighbours).for_each(|(rung, (_, other))| *rung = *other);
        rungs[..count].sort_unstable();
        rungs[(count.saturating_sub(1) as f64 * CONTENT) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rungs_go_down_by_a_fifth_through_the_own_step() {
        let ladder = Ladder::new(1e-8, Pace { step: 0.1, steps: 100 }, |_| true);
        assert_eq!(ladder.rungs[ladder.middle], Pace { step: 0.1, steps: 100 });
        for pair in ladder.rungs.windows(2) {
            let ratio = pair[0].step / pair[1].step;
            assert!((1.19..1.34).contains(&ratio), "{ratio}");
            assert!((pair[0].step * pair[0].steps as f64 - 10.0).abs() < 1e-12);
        }
        assert_eq!(ladder.rungs[0].steps, 25);
        assert_eq!(Ladder::new(1e-8, Pace { step: 0.1, steps: 100 }, |_| false).middle, 0);
        assert_eq!(Ladder::new(1e-8, Pace { step: 0.1, steps: 100 }, |pace| pace.step < 0.17).middle, 2);
    }

    #[test]
    fn members_start_where_others_of_their_energy_ended() {
        let mut ladder = Ladder::new(1e-8, Pace { step: 0.1, steps: 100 }, |_| true);
        assert_eq!(ladder.rung(3.0), ladder.middle);
        ladder.learn((0..100).map(|i| (f64::from(i), if i < 50 { 4 } else { 9 })).collect());
        assert_eq!((ladder.rung(-1.0), ladder.rung(20.0), ladder.rung(80.0), ladder.rung(1e9)), (4, 4, 9, 9));
        // an energy that is no number finds some rung too
        assert!(ladder.rung(f64::NAN) < ladder.rungs.len());
    }
}
