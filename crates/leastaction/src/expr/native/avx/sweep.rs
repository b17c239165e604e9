//! One sweep over the nodes of a step as a straight-line program.
//!
//! Four nodes go through the lanes of a register. All variables lie in the array of outputs and the weights are given in place of
//! velocities. See [`crate::expr::Nodes`], which does the same without machine code. Values are loaded where they are used, so
//! whatever is used of the old variables comes before what replaces them.

use super::program::{Array, Emit, Program, Width};
use super::translate::write;
use crate::expr::nodes::{Layout, Matrix};
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
    let writer = Writer { program, layout, groups: layout.lanes / 4 };
    let n = layout.n;
    let targets = if layout.first { Vec::new() } else { writer.targets() };
    let velocities: Vec<Vec<Emit<'p>>> = (0..n).map(|i| writer.velocity(i)).collect();
    let coordinates: Vec<Vec<Emit<'p>>> = (0..n).map(|i| writer.position(i)).collect();
    let changes = RefCell::new(vec![None; 2 * n]);
    let mut starts = Vec::new();
    // stores a velocity or a force and looks how much it changed
    let replace = |place: usize, i: usize, group: usize, value: Emit<'p>| {
        let change = (value - writer.four(place, group)).abs();
        let mut changes = changes.borrow_mut();
        changes[i] = Some(changes[i].map_or(change, |others: Emit<'p>| others.max(change)));
        writer.store(place, group, value);
    };
    for group in 0..writer.groups {
        starts.push(program.borrow().operations.len());
        let all = tape.coordinates;
        let input = |register: u32| match register as usize {
            i if i < n => coordinates[i][group],
            i if i < 2 * n && i < all => targets[i - n][group],
            i if i < all => writer.four(layout.factor(i - 2 * n), group),
            i if i < 2 * all => velocities[i - all][group],
            i if i == 2 * all => Emit::load(program, Array::Time, bytes(4 * group), Width::Four),
            i => Emit::load(program, Array::Registers, bytes(layout.lanes * i + 4 * group), Width::Four),
        };
        if layout.first {
            for i in 0..n {
                replace(layout.velocity(i), i, group, velocities[i][group]);
            }
        }
        let output = |index: u32, value: Emit<'p>| {
            let k = index as usize;
            let place = layout.output(k, layout.first);
            match k {
                k if k < n => replace(place, n + k, group, value),
                k if k >= 2 * n && !layout.first => replace(place, k - 2 * n, group, value),
                _ => writer.store(place, group, value),
            }
            if layout.first && (n..2 * n).contains(&k) {
                writer.store(layout.target(k - n), group, value);
            }
        };
        write(tape, Width::Four, &input, &output);
    }
    for (i, change) in changes.into_inner().into_iter().enumerate() {
        if let Some(change) = change {
            change.largest().store(Array::Outputs, bytes(layout.change(i)));
        }
    }
    program.borrow_mut().interleave(&starts);
}

struct Writer<'a, 'p> {
    program: &'p RefCell<Program>,
    layout: &'a Layout,
    groups: usize,
}

impl<'p> Writer<'_, 'p> {
    /// Variables at the nodes of a group.
    fn four(&self, place: usize, group: usize) -> Emit<'p> {
        Emit::load(self.program, Array::Outputs, bytes(place + 4 * group), Width::Four)
    }
    fn one(&self, place: usize) -> Emit<'p> {
        Emit::broadcast(self.program, Array::Outputs, bytes(place))
    }
    fn store(&self, place: usize, group: usize, value: Emit<'p>) {
        value.store(Array::Outputs, bytes(place + 4 * group));
    }

    /// Adds Σ_j weight_ij · x_j to the sums of all groups.
    fn add_weighted(&self, sums: &mut [Option<Emit<'p>>], matrix: Matrix, place: usize) {
        for node in 0..self.layout.nodes {
            let x = self.one(place + node);
            for (group, sum) in sums.iter_mut().enumerate() {
                let place = bytes(self.layout.weight(matrix, node) + 4 * group);
                let term = x * Emit::load(self.program, Array::Velocities, place, Width::Four);
                *sum = Some(sum.map_or_else(|| self.zero() + term, |sum| sum + term));
            }
        }
    }
    fn zero(&self) -> Emit<'p> {
        Emit::number(self.program, 0.0)
    }
    /// start + (lost + Σ_j weight_ij · x_j) for all groups.
    fn beyond_start(&self, (start, lost): (usize, usize), matrix: Matrix, place: usize) -> Vec<Emit<'p>> {
        let mut sums = vec![Some(self.one(lost)); self.groups];
        self.add_weighted(&mut sums, matrix, place);
        let start = self.one(start);
        sums.into_iter().flatten().map(|sum| start + sum).collect()
    }

    /// T = p + Σ forces · F + (P − Π P), stored with Y = V + L_vv⁻¹ (T − T before)
    fn targets(&self) -> Vec<Vec<Emit<'p>>> {
        let layout = self.layout;
        let targets: Vec<Vec<Emit<'p>>> = (0..layout.n)
            .map(|i| {
                let mut sums = self.beyond_start(layout.start_momentum(i), Matrix::Forces, layout.force(i));
                if layout.projected {
                    let mut projected = vec![None; self.groups];
                    self.add_weighted(&mut projected, Matrix::Projection, layout.momentum(i));
                    for (group, (sum, projected)) in
                        sums.iter_mut().zip(projected.into_iter().flatten()).enumerate()
                    {
                        *sum = *sum + (self.four(layout.momentum(i), group) - projected);
                    }
                }
                sums
            })
            .collect();
        for group in 0..self.groups {
            let factor = |k: usize| self.four(layout.factor(k), group);
            let order = layout.pattern.order();
            let mut solution: Vec<Emit<'p>> =
                order.iter().map(|&i| targets[i][group] - self.four(layout.target(i), group)).collect();
            layout.pattern.solve(&mut solution, |x, k, y| x - factor(k) * y, |x, k| x * factor(k));
            for (&i, x) in order.iter().zip(solution) {
                self.store(layout.corrected(i), group, self.four(layout.velocity(i), group) + x);
            }
            for (i, target) in targets.iter().enumerate() {
                self.store(layout.target(i), group, target[group]);
            }
        }
        targets
    }

    /// V', from the step before in the first sweep and else Π Y.
    fn velocity(&self, i: usize) -> Vec<Emit<'p>> {
        let layout = self.layout;
        let (matrix, place) = match (layout.first, layout.projected) {
            (true, _) => (Matrix::Ahead, layout.velocity(i)),
            (false, true) => (Matrix::Projection, layout.corrected(i)),
            (false, false) => {
                return (0..self.groups).map(|group| self.four(layout.corrected(i), group)).collect();
            }
        };
        let mut sums = vec![None; self.groups];
        self.add_weighted(&mut sums, matrix, place);
        sums.into_iter().flatten().collect()
    }

    /// Q
    fn position(&self, i: usize) -> Vec<Emit<'p>> {
        let layout = self.layout;
        let (matrix, place) = match layout.first {
            true => (Matrix::PositionsAhead, layout.velocity(i)),
            false => (Matrix::Positions, layout.corrected(i)),
        };
        self.beyond_start(layout.start(i), matrix, place)
    }
}

fn bytes(numbers: usize) -> i32 {
    8 * numbers as i32
}
