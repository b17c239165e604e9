//! Turns of a repetition that overlap, so that a processor need not wait for one of them.
//!
//! A force, a kick and a drift are one long chain of operations, of which each waits for the one before. A processor looks ahead over a
//! hundred operations or so, which is no more than a few turns. Here the operations of a turn are cut into phases by their depth, and the late
//! phases of a turn are done beside the early ones of the next turns: what is waited for was begun a turn ago. Places in memory that a turn
//! stores to are read by itself only, and before, as tapes and stages do; so no turn reads too early what another one stores.

use super::program::Operation;
use super::repeat::{FURTHEST, Line, Operand, Repetition};

/// So many phases at most, each of so many operations that wait for each other at least.
const MOST: usize = 5;
const DEPTH: usize = 3;
/// Fewer turns do not pay.
const FEWEST: usize = 16;

/// The line with turns that overlap, in as many phases as leave it its loops: what phases leave to the next ones takes registers.
pub(super) fn overlapped(line: Line) -> Line {
    let repetitions = line.repetitions();
    if repetitions.is_empty() {
        return line;
    }
    let before = rolled(&line, &repetitions);
    for most in (2..=MOST).rev() {
        let overlapped = line.in_order(&order(&line, &repetitions, most));
        if let Some(overlapped) = overlapped
            && 10 * rolled(&overlapped, &overlapped.repetitions()) >= 9 * before
        {
            return overlapped;
        }
    }
    line
}

/// The order of operations with up to so many phases.
fn order(line: &Line, repetitions: &[Repetition], most: usize) -> Vec<usize> {
    let mut order = Vec::with_capacity(line.operations.len());
    for repetition in repetitions {
        // wherever turns are said to begin, they are the same; best where their chain of operations does
        let deepest = starts(line, repetition)
            .filter_map(|start| {
                let turns = Turns { start, period: repetition.period, count: repetition.turns - 1 };
                turns.phases(line, most).map(|(depth, phases)| (depth, turns, phases))
            })
            .max_by_key(|(depth, ..)| *depth);
        if let Some((_, turns, phases)) = deepest {
            order.extend(order.len()..turns.start);
            turns.interleave(&phases, &mut order);
        }
    }
    order.extend(order.len()..line.operations.len());
    order
}

/// How many operations are done by loops.
fn rolled(line: &Line, repetitions: &[Repetition]) -> usize {
    let of = |repetition: &Repetition| {
        let turns: usize = line.pieces(repetition).iter().map(ExactSizeIterator::len).sum();
        turns * repetition.period
    };
    repetitions.iter().map(of).sum()
}

/// Where turns may begin: behind stores.
fn starts(line: &Line, repetition: &Repetition) -> impl Iterator<Item = usize> {
    let turn = repetition.start..repetition.start + repetition.period;
    turn.filter(|&at| matches!(line.operations[at - 1].0, Operation::Store(..)))
}

struct Turns {
    start: usize,
    period: usize,
    count: usize,
}

impl Turns {
    /// How deep a turn is, and the phase of each of its operations, if it is worth while.
    fn phases(&self, line: &Line, most: usize) -> Option<(usize, Vec<usize>)> {
        let &Self { start, period, count } = self;
        if count < FEWEST {
            return None;
        }
        // a turn that reads nothing but turns after the first one, and what is there before all
        let turn = start + FURTHEST * period;
        let reads = |i: usize| {
            line.operations[turn + i].2.into_iter().flatten().filter_map(|operand| match operand {
                Operand::Value(value) if value >= start => Some(value),
                _ => None,
            })
        };
        let mut depth = vec![0; period];
        for i in 0..period {
            let own = reads(i).filter(|&value| value >= turn).map(|value| depth[value - turn] + 1);
            depth[i] = own.max().unwrap_or(0);
        }
        let deepest = depth.iter().max()? + 1;
        let number = most.min(deepest / DEPTH);
        if number < 2 {
            return None;
        }
        let phases: Vec<usize> = depth.iter().map(|depth| depth * number / deepest).collect();
        // what a turn before has made must be there: it may be made as many phases later as it is turns earlier
        let in_time = |i: usize, value: usize| {
            let turns = FURTHEST - (value - start) / period;
            phases[(value - start) % period] <= phases[i] + turns
        };
        (0..period).all(|i| reads(i).all(|value| in_time(i, value))).then_some((deepest, phases))
    }

    /// Turn after turn, the late phases of earlier turns first.
    fn interleave(&self, phases: &[usize], order: &mut Vec<usize>) {
        let &Self { start, period, count } = self;
        let mut in_phase = vec![Vec::new(); MOST];
        for (i, &phase) in phases.iter().enumerate() {
            in_phase[phase].push(i);
        }
        for now in 0..count + MOST - 1 {
            for (phase, operations) in in_phase.iter().enumerate().rev() {
                if let Some(turn) = now.checked_sub(phase)
                    && turn < count
                {
                    order.extend(operations.iter().map(|i| start + turn * period + i));
                }
            }
        }
    }
}
