//! One sweep over the nodes of a step as a straight-line program.
//!
//! Four nodes go through the lanes of a register. Where they stand follows from what they gave in the sweep before, weighted; the
//! weights lie behind the tape's registers. See [`crate::expr::Nodes`], which does the same without machine code.

use super::program::{Array, Emit, Program, Width};
use super::translate::write;
use crate::expr::nodes::Layout;
use crate::expr::tape::Tape;
use std::cell::RefCell;

/// The program of a sweep.
pub(super) fn sweep(tape: &Tape, layout: &Layout) -> Program {
    let program = RefCell::new(Program::default());
    let n = tape.coordinates;
    let groups = layout.lanes / 4;
    let four = |array: Array, number: usize| Emit::load(&program, array, bytes(number), Width::Four);
    // start + (lost + Σ weight · rate) for all q, then all p, of each group of nodes
    let stages: Vec<Vec<Emit<'_>>> = (0..2 * n)
        .map(|i| {
            let lost = Emit::broadcast(&program, Array::Coordinates, bytes(layout.lost(i)));
            let mut sums = vec![lost; groups];
            for node in 0..layout.nodes {
                let rate = Emit::broadcast(&program, Array::Coordinates, bytes(layout.rate(i) + node));
                for (group, sum) in sums.iter_mut().enumerate() {
                    let weight = four(Array::Registers, layout.weight(i >= n, node) + 4 * group);
                    *sum = *sum + rate * weight;
                }
            }
            let start = Emit::broadcast(&program, Array::Coordinates, bytes(layout.start(i)));
            sums.into_iter().map(|sum| start + sum).collect()
        })
        .collect();
    for group in 0..groups {
        let input = |register: u32| match register as usize {
            i if i < 2 * n => stages[i][group],
            i if i == 2 * n => four(Array::Time, 4 * group),
            i => four(Array::Registers, layout.lanes * i + 4 * group),
        };
        let output = |index: u32, value: Emit<'_>| {
            value.store(Array::Outputs, bytes(layout.lanes * index as usize + 4 * group));
        };
        write(tape, Width::Four, &input, &output);
    }
    program.into_inner()
}

fn bytes(numbers: usize) -> i32 {
    8 * numbers as i32
}
