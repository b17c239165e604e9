//! Turns of a repetition that overlap, so that a processor need not wait for one of them.
//!
//! A force, a kick and a drift are one long chain of operations, of which each waits for the one before. A processor looks ahead over a
//! hundred operations or so, which is no more than a few turns. Here the operations of a turn are cut into phases by their depth, and the late
//! phases of a turn are done beside the early ones of the next turns: what is waited for was begun a turn ago.

use super::repeat::{Line, Operand, Repetition};

const PHASES: usize = 3;
/// Fewer turns do not pay, nor do turns that are less deep.
const FEWEST: usize = 16;
const SHALLOWEST: usize = 9;

/// The line with turns that overlap, where it still has its loops then: what phases leave to the next ones takes registers.
pub(super) fn overlapped(line: Line) -> Line {
    let mut order = Vec::with_capacity(line.operations.len());
    for repetition in line.repetitions() {
        order.extend(order.len()..repetition.start);
        match phases(&line, &repetition) {
            Some(phases) => interleave(&repetition, &phases, &mut order),
            None => order.extend(repetition.start..repetition.end()),
        }
    }
    order.extend(order.len()..line.operations.len());
    let overlapped = line.in_order(&order);
    if 10 * rolled(&overlapped) >= 9 * rolled(&line) { overlapped } else { line }
}

/// How many operations are done by loops.
fn rolled(line: &Line) -> usize {
    let of = |repetition: &Repetition| {
        let turns: usize = line.pieces(repetition).iter().map(ExactSizeIterator::len).sum();
        turns * repetition.period
    };
    line.repetitions().iter().map(of).sum()
}

/// The phase of each operation of a turn, if it is worth while.
fn phases(line: &Line, repetition: &Repetition) -> Option<Vec<usize>> {
    let &Repetition { start, period, turns, .. } = repetition;
    let second = start + period;
    let reads = |i: usize| {
        line.operations[second + i].2.into_iter().flatten().filter_map(|operand| match operand {
            Operand::Value(value) if value >= start => Some(value),
            _ => None,
        })
    };
    let mut depth = vec![0; period];
    for i in 0..period {
        let own = reads(i).filter(|&value| value >= second).map(|value| depth[value - second] + 1);
        depth[i] = own.max().unwrap_or(0);
    }
    let deepest = depth.iter().max()? + 1;
    if turns < FEWEST || deepest < SHALLOWEST {
        return None;
    }
    let phases: Vec<usize> = depth.iter().map(|depth| depth * PHASES / deepest).collect();
    // what comes from the turn before may be at most one phase later there
    let in_time = |i: usize| {
        reads(i).filter(|&value| value < second).all(|value| phases[value - start] <= phases[i] + 1)
    };
    (0..period).all(in_time).then_some(phases)
}

/// Turn after turn, the late phases of earlier turns first.
fn interleave(repetition: &Repetition, phases: &[usize], order: &mut Vec<usize>) {
    let &Repetition { start, period, turns, .. } = repetition;
    for now in 0..turns + PHASES - 1 {
        for phase in (0..PHASES).rev() {
            if let Some(turn) = now.checked_sub(phase)
                && turn < turns
            {
                let own = (0..period).filter(|&i| phases[i] == phase);
                order.extend(own.map(|i| start + turn * period + i));
            }
        }
    }
}
