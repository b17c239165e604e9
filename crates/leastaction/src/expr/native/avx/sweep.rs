//! One sweep over the nodes of a step as a straight-line program.
//!
//! Four nodes go through the lanes of a register. Where they stand follows from what they gave in the sweep before, weighted; the
//! weights are given in place of velocities. See [`crate::expr::Nodes`], which does the same without machine code.

use super::program::{Array, Emit, Program, Width};
use super::translate::write;
use crate::expr::nodes::Layout;
use crate::expr::tape::Tape;
use crate::scalar::elementary::Lanes;
use std::cell::RefCell;

/// The program of a sweep.
pub(super) fn sweep(tape: &Tape, layout: &Layout) -> Program {
    let program = RefCell::new(Program::default());
    write_sweep(&program, tape, layout);
    program.into_inner()
}

fn write_sweep<'p>(program: &'p RefCell<Program>, tape: &Tape, layout: &Layout) {
    let n = tape.coordinates;
    let groups = layout.lanes / 4;
    let four = |array: Array, number: usize| Emit::load(program, array, bytes(number), Width::Four);
    // results lie behind the start of the step
    let result = |number: usize| bytes(number - layout.rate(0));
    // start + (lost + Σ weight · rate) of a variable at the nodes of each group
    let stage = |i: usize, rate: &dyn Fn(usize) -> Emit<'p>| -> Vec<Emit<'p>> {
        let lost = Emit::broadcast(program, Array::Coordinates, bytes(layout.lost(i)));
        let mut sums = vec![lost; groups];
        for node in 0..layout.nodes {
            let rate = rate(node);
            for (group, sum) in sums.iter_mut().enumerate() {
                let weight = four(Array::Velocities, layout.weight(i >= n, node) + 4 * group);
                *sum = *sum + rate * weight;
            }
        }
        let start = Emit::broadcast(program, Array::Coordinates, bytes(layout.start(i)));
        sums.into_iter().map(|sum| start + sum).collect()
    };
    let momenta: Vec<Vec<Emit<'p>>> = (0..n)
        .map(|i| {
            let place = layout.rate(n + i);
            stage(n + i, &|node| Emit::broadcast(program, Array::Coordinates, bytes(place + node)))
        })
        .collect();
    for group in 0..groups {
        let before = |number: usize| four(Array::Coordinates, number + 4 * group);
        for i in 0..n {
            momenta[i][group].store(Array::Outputs, result(layout.momentum(i) + 4 * group));
        }
        let mut corrected: Vec<Emit<'p>> = (0..n).map(|i| before(layout.rate(i))).collect();
        if !layout.first {
            for (k, &(row, column)) in layout.entries.iter().enumerate() {
                let entry = before(layout.entry(k));
                let change = |j: usize| momenta[j][group] - before(layout.momentum(j));
                corrected[row] = corrected[row] + entry * change(column);
                if row != column {
                    corrected[column] = corrected[column] + entry * change(row);
                }
            }
        }
        for (i, value) in corrected.into_iter().enumerate() {
            value.store(Array::Outputs, result(layout.corrected(i) + 4 * group));
        }
    }
    let coordinates: Vec<Vec<Emit<'p>>> = (0..n)
        .map(|i| {
            let place = layout.corrected(i);
            stage(i, &|node| Emit::broadcast(program, Array::Outputs, result(place + node)))
        })
        .collect();
    let changes = RefCell::new(vec![None; 2 * n]);
    for group in 0..groups {
        let input = |register: u32| match register as usize {
            i if i < n => coordinates[i][group],
            i if i < 2 * n => momenta[i - n][group],
            i if i == 2 * n => four(Array::Time, 4 * group),
            i => four(Array::Registers, layout.lanes * i + 4 * group),
        };
        let output = |index: u32, value: Emit<'p>| {
            let i = index as usize;
            value.store(Array::Outputs, result(layout.rate(i) + 4 * group));
            if i < 2 * n {
                let change = (value - four(Array::Coordinates, layout.rate(i) + 4 * group)).abs();
                let mut changes = changes.borrow_mut();
                changes[i] = Some(changes[i].map_or(change, |others: Emit<'p>| others.max(change)));
            }
        };
        write(tape, Width::Four, &input, &output);
    }
    for (i, change) in changes.into_inner().into_iter().enumerate() {
        if let Some(change) = change {
            change.largest().store(Array::Outputs, result(layout.change(i)));
        }
    }
}

fn bytes(numbers: usize) -> i32 {
    8 * numbers as i32
}
