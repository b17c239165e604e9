//! One sweep over the nodes of a step as a straight-line program.
//!
//! Nodes of one trajectory, as many as a register has lanes, or a node of four trajectories, go side by side. All numbers lie in the array of outputs. See [`crate::expr::Nodes`], which does the same without machine code. Values are loaded where they are used, so
//! whatever is used of the old variables comes before what replaces them.

use super::program::{Array, Emit, Fusion, Program, Width};
use super::translate::write;
use crate::expr::layout::{COARSE, Column, Layout, Matrix, Output, Sweep, sum_of_products};
use crate::expr::tape::Tape;
use crate::scalar::elementary::Lanes;
use std::cell::RefCell;

/// The program of a sweep, in registers of a width that has no more lanes than a block.
pub(super) fn sweep(tape: &Tape, layout: &Layout, width: Width) -> Program {
    let program = RefCell::new(Program::default());
    write_sweep(&program, tape, layout, width);
    program.into_inner()
}

fn write_sweep<'p>(program: &'p RefCell<Program>, tape: &Tape, layout: &Layout, width: Width) {
    let groups = (layout.nodes * layout.abreast).div_ceil(width.lanes());
    let writer = Writer { program, layout, width, groups };
    let n = layout.n;
    let first = layout.sweep == Sweep::First;
    let targets = if first { Vec::new() } else { writer.targets() };
    let velocities: Vec<Vec<Emit<'p>>> = (0..n).map(|i| writer.velocity(i)).collect();
    let coordinates: Vec<Vec<Emit<'p>>> = (0..n).map(|i| writer.position(i)).collect();
    // of each group of coordinates, and of angles; apart for each group of lanes, which take turns
    let largest = RefCell::new(vec![vec![None; layout.groups + 1]; writer.groups]);
    let grow = |lanes: usize, place: usize, value: Emit<'p>| {
        let present = &mut largest.borrow_mut()[lanes][place];
        *present = Some(present.map_or(value, |others: Emit<'p>| others.max(value)));
    };
    let mut starts = Vec::new();
    for group in 0..writer.groups {
        starts.push(program.borrow().operations.len());
        let all = tape.coordinates;
        let input = |register: u32| match register as usize {
            i if i < n => coordinates[i][group],
            i if i < 2 * n && i < all => targets[i - n][group],
            i if i < all => writer.several(layout.kept(i - 2 * n), group),
            i if i < 2 * all => velocities[i - all][group],
            i if i == 2 * all => writer.several(layout.time(), group),
            i => writer.register(i, group),
        };
        if first {
            for i in 0..n {
                writer.store(layout.velocity(i), group, velocities[i][group]);
            }
        }
        let output = |index: u32, value: Emit<'p>| {
            let (place, changed) = match layout.output(layout.sweep, index as usize) {
                Output::Force(i) if !layout.forced[i] => return,
                Output::Force(i) => (layout.force(i), Some(n + i)),
                Output::Velocity(i) => (layout.velocity(i), Some(i)),
                Output::Momentum(i) => {
                    if first {
                        writer.store(layout.target(i), group, value);
                    }
                    if !layout.projected {
                        return;
                    }
                    (layout.momentum(i), None)
                }
                Output::Following(k) => (layout.following(k), None),
                Output::Kept(k) => (layout.kept(k), None),
                Output::Turn => return grow(group, layout.groups, value.abs()),
            };
            if let Some(i) = changed
                && !first
            {
                let change =
                    (value - writer.several(place, group)).abs() * writer.one(layout.inverse_size(i));
                grow(group, layout.group[i % n], change);
            }
            writer.replace(place, group, value);
            if let Output::Force(i) = layout.output(layout.sweep, index as usize) {
                writer.replace(layout.counted(n + i), group, value * writer.column(Column::Share, group));
            }
        };
        write(tape, width, &input, &output);
    }
    let largest = largest.into_inner();
    for i in 0..=layout.groups {
        if let Some(value) = largest.iter().filter_map(|of_lanes| of_lanes[i]).reduce(Emit::max) {
            let value = if layout.abreast == 1 { value.largest() } else { value };
            value.store(Array::Outputs, bytes(layout.change(i)));
        }
    }
    if first {
        for i in (0..2 * n).filter(|&i| i < n || layout.forced[i - n]) {
            writer.measure(i);
        }
    }
    // many groups that take turns would leave no registers
    if layout.abreast == 1 {
        program.borrow_mut().interleave(&starts, starts.len());
    }
}

struct Writer<'a, 'p> {
    program: &'p RefCell<Program>,
    layout: &'a Layout,
    width: Width,
    groups: usize,
}

impl<'p> Writer<'_, 'p> {
    /// Variables at the nodes of a group.
    fn several(&self, place: usize, group: usize) -> Emit<'p> {
        Emit::load(self.program, Array::Outputs, bytes(place + self.width.lanes() * group), self.width)
    }
    /// A number that there is once for a trajectory.
    fn one(&self, place: usize) -> Emit<'p> {
        match self.layout.abreast {
            1 => Emit::broadcast(self.program, Array::Outputs, bytes(place), self.width),
            _ => self.several(place, 0),
        }
    }
    /// Parameters, and what follows from them.
    fn register(&self, register: usize, group: usize) -> Emit<'p> {
        let place = self.layout.register(self.layout.sweep, register);
        self.several(place, if self.layout.abreast == 1 { group } else { 0 })
    }
    fn store(&self, place: usize, group: usize, value: Emit<'p>) {
        value.store(Array::Outputs, bytes(place + self.width.lanes() * group));
    }
    /// Stores what later sweeps build on, but not for trajectories that rest.
    fn replace(&self, place: usize, group: usize, value: Emit<'p>) {
        let value = if self.layout.resting_allowed && self.layout.sweep != Sweep::First {
            let rests = self.several(self.layout.resting(), 0).is_negative();
            Emit::select(rests, self.several(place, group), value)
        } else {
            value
        };
        self.store(place, group, value);
    }

    /// Stores the largest of V_i, or of F_{i−n}.
    fn measure(&self, i: usize) {
        let (layout, place) = (self.layout, self.layout.velocity(i));
        let size = |group: usize| self.several(place, group).abs();
        if let Some(value) = (0..self.groups).map(size).reduce(Emit::max) {
            let value = if layout.abreast == 1 { value.largest() } else { value };
            value.store(Array::Outputs, bytes(layout.size(i)));
        }
    }

    /// Numbers of the method at the nodes of a group.
    fn column(&self, column: Column, group: usize) -> Emit<'p> {
        self.several(self.layout.column(column), group)
    }
    /// A number of one node.
    fn at(&self, place: usize, node: usize) -> Emit<'p> {
        match self.layout.abreast {
            1 => self.one(place + node),
            _ => self.several(place, node),
        }
    }
    /// What the projection drops of x: u Σ_j w_j x_j, for all groups.
    fn dropped(&self, place: usize) -> Vec<Emit<'p>> {
        let mut product = |sum: Option<Emit<'p>>, node: usize| {
            let (x, w) = (self.at(place, node), self.at(self.layout.column(Column::Dropping), node));
            sum.map_or_else(|| x * w, |sum| x.mul_add(w, sum))
        };
        let sum = sum_of_products(None, 0, self.layout.nodes, &mut product, &mut |a, b| a + b);
        (0..self.groups).map(|group| self.column(Column::Dropped, group) * sum).collect()
    }

    /// Σ_j weight_ij · x_j, added to something, for all groups.
    fn weighted(&self, start: Option<Emit<'p>>, matrix: Matrix, place: usize) -> Vec<Emit<'p>> {
        let mut product = |sums: Option<Vec<Emit<'p>>>, node: usize| {
            let x = self.at(place, node);
            let term = |group: usize| {
                let weight = self.several(self.layout.weight(matrix, node), group);
                sums.as_ref().map_or_else(|| x * weight, |sums| x.mul_add(weight, sums[group]))
            };
            (0..self.groups).map(term).collect()
        };
        let mut add = |a: Vec<Emit<'p>>, b: Vec<Emit<'p>>| a.into_iter().zip(b).map(|(a, b)| a + b).collect();
        let start = start.map(|start| vec![start; self.groups]);
        sum_of_products(start, 0, self.layout.nodes, &mut product, &mut add)
    }
    /// start + (lost + Σ_j weight_ij · x_j) for all groups.
    fn beyond_start(&self, (start, lost): (usize, usize), matrix: Matrix, place: usize) -> Vec<Emit<'p>> {
        let sums = self.weighted(Some(self.one(lost)), matrix, place);
        let start = self.one(start);
        sums.into_iter().map(|sum| start + sum).collect()
    }

    /// T = p + Σ forces · (share F) + (P − Π P), stored with Y = V + L_vv⁻¹ (T − T before)
    fn targets(&self) -> Vec<Vec<Emit<'p>>> {
        let layout = self.layout;
        let targets: Vec<Vec<Emit<'p>>> = (0..layout.n)
            .map(|i| {
                let start = layout.start_momentum(i);
                let mut sums = if layout.forced[i] {
                    self.beyond_start(start, Matrix::Forces, layout.counted(layout.n + i))
                } else {
                    vec![self.one(start.0) + self.one(start.1); self.groups]
                };
                if layout.projected {
                    for (sum, dropped) in sums.iter_mut().zip(self.dropped(layout.momentum(i))) {
                        *sum = *sum + dropped;
                    }
                }
                sums
            })
            .collect();
        for group in 0..self.groups {
            let factor = |k: usize| self.several(layout.kept(k), group);
            let order = layout.pattern.order();
            let mut solution: Vec<Emit<'p>> =
                order.iter().map(|&i| targets[i][group] - self.several(layout.target(i), group)).collect();
            layout.pattern.solve(
                &mut solution,
                |x, k, y| factor(k).fused(Fusion::From, y, x),
                |x, k| x * factor(k),
            );
            for (&i, x) in order.iter().zip(solution) {
                let corrected = self.several(layout.velocity(i), group) + x;
                self.store(layout.corrected(i), group, corrected);
                self.store(layout.counted(i), group, corrected * self.column(Column::Share, group));
            }
            for (i, target) in targets.iter().enumerate() {
                self.replace(layout.target(i), group, target[group]);
            }
        }
        targets
    }

    /// V', from the step before in the first sweep and else Π Y.
    fn velocity(&self, i: usize) -> Vec<Emit<'p>> {
        let layout = self.layout;
        if layout.sweep == Sweep::First {
            return self.weighted(None, Matrix::Ahead, layout.velocity(i));
        }
        let corrected = (0..self.groups).map(|group| self.several(layout.corrected(i), group));
        if !layout.projected {
            return corrected.map(coarse).collect();
        }
        corrected.zip(self.dropped(layout.corrected(i))).map(|(x, dropped)| x - dropped).collect()
    }

    /// Q
    fn position(&self, i: usize) -> Vec<Emit<'p>> {
        let layout = self.layout;
        let (matrix, place) = match layout.sweep {
            Sweep::First => (Matrix::PositionsAhead, layout.velocity(i)),
            _ => (Matrix::Positions, layout.counted(i)),
        };
        self.beyond_start(layout.start(i), matrix, place)
    }
}

/// A number near x with fewer bits.
fn coarse(x: Emit<'_>) -> Emit<'_> {
    x.mul_add(x.constant(-COARSE), x * x.constant(COARSE + 1.0))
}

fn bytes(numbers: usize) -> i32 {
    8 * numbers as i32
}
