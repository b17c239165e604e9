//! Sweeps of eight trajectories as straight-line programs: see [`crate::expr::Convoy`], which does the same without machine code.
//!
//! Rates are read from one array and written to another. The trajectories go four by four, or all at once where registers have eight lanes.

use super::program::{Array, Emit, Program, Width};
use super::translate::write;
use crate::expr::convoy::{Berths, CONVOY, Task, arrived};
use crate::expr::layout::sum_of_products;
use crate::expr::tape::Tape;
use crate::scalar::elementary::Lanes;
use std::cell::RefCell;

/// So many nodes take turns where there are registers for it.
const TOGETHER: usize = 2;

/// The program of a task.
pub(super) fn convoy(tape: &Tape, berths: &Berths, task: Task, width: Width) -> Program {
    let program = RefCell::new(Program::default());
    let mut lane = 0;
    while lane < CONVOY {
        let writer = Writer { program: &program, berths, width, lane };
        match task {
            Task::Arrive => writer.arrive(tape),
            _ => writer.sweep(tape, task),
        }
        lane += width.lanes();
    }
    program.into_inner()
}

/// Writes what is done with neighbouring lanes.
struct Writer<'a, 'p> {
    program: &'p RefCell<Program>,
    berths: &'a Berths,
    width: Width,
    /// The first of the lanes.
    lane: usize,
}

impl<'p> Writer<'_, 'p> {
    fn load(&self, array: Array, place: usize) -> Emit<'p> {
        Emit::load(self.program, array, self.bytes(place), self.width)
    }
    fn store(&self, array: Array, place: usize, value: Emit<'p>) {
        value.store(array, self.bytes(place));
    }
    fn bytes(&self, place: usize) -> i32 {
        8 * (place + self.lane) as i32
    }

    /// Σ_j weight_j · rate_kj for all k, added to something. A weight serves all k from a register, and what comes first in a product is put
    /// into one.
    fn weighted(&self, start: Option<Vec<Emit<'p>>>, to: usize) -> Vec<Emit<'p>> {
        let berths = self.berths;
        let mut product = |sums: Option<Vec<Emit<'p>>>, j: usize| {
            let weight = self.load(Array::Velocities, berths.weight(to, j));
            let rate = |k: usize| self.load(Array::Coordinates, berths.rate(k, j));
            match sums {
                Some(sums) => {
                    sums.into_iter().enumerate().map(|(k, sum)| weight.mul_add(rate(k), sum)).collect()
                }
                None => (0..2 * berths.n).map(|k| weight * rate(k)).collect::<Vec<_>>(),
            }
        };
        let mut add = |a: Vec<Emit<'p>>, b: Vec<Emit<'p>>| a.into_iter().zip(b).map(|(a, b)| a + b).collect();
        sum_of_products(start, 0, berths.nodes, &mut product, &mut add)
    }
    /// What a register of a tape for (q, p) holds before the first instruction; what is kept follows q.
    fn input(
        &self,
        tape: &Tape,
        register: u32,
        state: &[Emit<'p>],
        known: &dyn Fn(usize) -> usize,
    ) -> Emit<'p> {
        let (n, all) = (self.berths.n, tape.coordinates);
        match register as usize {
            i if i < n => state[i],
            i if i < all => self.load(Array::Changes, known(i - n)),
            i if i < all + n => state[n + i - all],
            // nothing depends on time
            i if i <= 2 * all => self.load(Array::Time, 0),
            i => self.load(Array::Registers, CONVOY * i),
        }
    }

    fn sweep(&self, tape: &Tape, task: Task) {
        let (berths, n) = (self.berths, self.berths.n);
        // of each node apart, because nodes take turns
        let turns = RefCell::new(vec![None; berths.nodes]);
        let mut starts = Vec::new();
        for node in 0..berths.nodes {
            starts.push(self.program.borrow().operations.len());
            let lost = (0..2 * n).map(|k| self.load(Array::Changes, berths.lost(k))).collect();
            let sums = self.weighted(Some(lost), node).into_iter().enumerate();
            let state: Vec<_> =
                sums.map(|(k, sum)| self.load(Array::Changes, berths.state(k)) + sum).collect();
            let kept = if task.keeps() { berths.kept } else { 0 };
            let output = |index: u32, value: Emit<'p>| match index as usize {
                k if k < 2 * n => self.store(Array::Outputs, berths.rate(k, node), value),
                k if k < 2 * n + kept => self.store(Array::Changes, berths.kept(k - 2 * n, node), value),
                _ => {
                    let by = value.abs();
                    let turn = &mut turns.borrow_mut()[node];
                    *turn = Some(turn.map_or(by, |others: Emit<'p>| others.max(by)));
                }
            };
            let known = |index| berths.known(task, index, node);
            write(tape, self.width, &|register| self.input(tape, register, &state, &known), &output);
        }
        if let Some(turn) = turns.into_inner().into_iter().flatten().reduce(Emit::max) {
            self.store(Array::Changes, berths.turn(task), turn);
        }
        if self.width == Width::Eight {
            self.program.borrow_mut().interleave(&starts, TOGETHER);
        }
    }

    /// States are stored last, because the energy may give up.
    fn arrive(&self, tape: &Tape) {
        let berths = self.berths;
        let increments = self.weighted(None, 0).into_iter().enumerate();
        let arrivals: Vec<_> = increments
            .map(|(k, increment)| {
                let [x, lost] =
                    [berths.state(k), berths.lost(k)].map(|place| self.load(Array::Changes, place));
                arrived(x, lost, increment)
            })
            .collect();
        let state: Vec<_> = arrivals.iter().map(|[x, _]| *x).collect();
        let output = |index: u32, value| match index as usize {
            k if k < 2 => self.store(Array::Outputs, CONVOY * k, value),
            k => self.store(Array::Changes, berths.base(k - 2), value),
        };
        write(tape, self.width, &|register| self.input(tape, register, &state, &|_| 0), &output);
        for (k, [x, lost]) in arrivals.into_iter().enumerate() {
            self.store(Array::Changes, berths.state(k), x);
            self.store(Array::Changes, berths.lost(k), lost);
        }
    }
}
