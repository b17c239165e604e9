//! A Lagrangian at all nodes of a step at once.
//!
//! [`Nodes`] holds velocities V, forces F = L_q and momenta at the nodes of a step, and the factors of the mass matrix there. A sweep
//! goes, with weights that belong to a method and a step size,
//!
//! ```text
//! T = p + Σ forces · (share F)            the momenta that are wanted, but for what the projection Π drops
//! Y = V + L_vv⁻¹ (T − T before)
//! V' = Π Y      Q = q + Σ positions · (share Y)
//! P = L_v(Q, V')      V = V' + L_vv⁻¹ (T − P)      F = L_q(Q, V)
//! ```
//! where V' loses some bits unless Π drops something; `COARSE` in `layout` says why.
//!
//! The first sweep of a step instead continues the velocities of the step before, and evaluates the factors of L_vv, which are then kept
//! until a fresh sweep evaluates them anew. Sines and cosines are kept as well: refining sweeps turn them by the little that angles change.
//! Π takes velocities to the polynomials of the method; with Gauss points it is the identity. Else what it drops of T is taken from P.
//! As machine code nodes go side by side, as many as a register has lanes; without, they go one after the other, in the same order of operations and so to the same bits.

use super::aligned::Aligned;
use super::layout::{
    COARSE, Column, Layout, Matrix, Output, Sweep, Tapes, Weights, measure, sum_of_products,
};
use super::native::{Arrays, Backend, Code};
use super::tape::{Evaluator, Tape};
use crate::scalar::Ledger;
use std::sync::Arc;

/// The size of the largest of some numbers; what is none is left out.
fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |largest, x| if x.abs() > largest { x.abs() } else { largest })
}

/// A number near x with fewer bits: x rounded where 257 x is rounded.
fn coarse(x: f64) -> f64 {
    x.mul_add(-COARSE, x * (COARSE + 1.0))
}

/// Velocities, forces and momenta at the nodes of a step, and how to get better ones.
#[derive(Clone, Debug)]
pub struct Nodes {
    pub(super) layout: Layout,
    /// Places of the layout that are asked for in every sweep.
    first_velocity: usize,
    first_force: usize,
    first_size: usize,
    first_change: usize,
    /// All numbers.
    pub(super) variables: Aligned,
    pub(super) kernels: Kernels,
    scratch: Vec<f64>,
    /// Inputs of a tape at one node, and room for one linear solve.
    q: Vec<f64>,
    v: Vec<f64>,
    room: Vec<f64>,
    /// What changes, as it was before a sweep one by one.
    old: Vec<f64>,
    /// The largest size of each group.
    largest: Vec<f64>,
}

/// The kernels of the three kinds of sweeps.
#[derive(Clone, Debug)]
pub(super) struct Kernels {
    first: Kernel,
    fresh: Option<Kernel>,
    refine: Kernel,
}

impl Kernels {
    pub(super) fn of(&mut self, sweep: Sweep) -> &mut Kernel {
        match (sweep, &mut self.fresh) {
            (Sweep::First, _) => &mut self.first,
            (Sweep::Fresh, Some(fresh)) => fresh,
            _ => &mut self.refine,
        }
    }
    fn scratch(&self) -> usize {
        let kernels = [&self.first, &self.refine].into_iter().chain(&self.fresh);
        kernels.filter_map(|kernel| kernel.code.as_ref()).map(|code| code.scratch()).max().unwrap_or(0)
    }
}

/// A tape and its code.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    code: Option<Arc<Code>>,
    /// One node alone.
    single: Evaluator<f64>,
    out: Vec<f64>,
}

impl Kernel {
    fn new(tape: &Arc<Tape>, layout: &Layout, parameters: &[f64], backend: Option<Backend>) -> Self {
        let wanted = Evaluator::<f64>::wants_code(tape, backend);
        let code = if wanted { tape.sweep_code(layout) } else { None };
        // where there is code for sweeps, single nodes are rare
        let one = if code.is_some() { Some(Backend::Interpreter) } else { backend };
        let single = Evaluator::compiled(tape.clone(), parameters, one);
        Self { code, out: vec![0.0; single.outputs()], single }
    }
}

impl Nodes {
    /// Nodes for the tapes of a system, whose coordinates fall into groups.
    pub fn new(
        tapes: &Tapes,
        group: &[usize],
        weights: &Weights,
        h: f64,
        parameters: &[f64],
        backend: Option<Backend>,
    ) -> Self {
        let n = group.len();
        let layout = Layout::new(tapes, group, weights, 1);
        let kernel =
            |tape: &Arc<Tape>, sweep: Sweep| Kernel::new(tape, &layout.of(sweep), parameters, backend);
        let kernels = Kernels {
            first: kernel(&tapes.first, Sweep::First),
            fresh: tapes.fresh.as_ref().map(|tape| kernel(tape, Sweep::Fresh)),
            refine: kernel(&tapes.refine, Sweep::Refine),
        };
        let inputs = 2 * n + tapes.kept;
        let mut made = Self {
            variables: Aligned::zeros(layout.all(tapes)),
            scratch: vec![0.0; kernels.scratch()],
            kernels,
            q: vec![0.0; inputs],
            v: vec![0.0; inputs],
            room: vec![0.0; n],
            old: vec![0.0; layout.variables()],
            largest: vec![0.0; layout.groups],
            first_velocity: layout.velocity(0),
            first_force: layout.force(0),
            first_size: layout.size(0),
            first_change: layout.change(0),
            layout,
        };
        made.weigh(weights, h);
        made.spread();
        made
    }

    /// Changes the weights, or the step size.
    pub fn weigh(&mut self, weights: &Weights, h: f64) {
        self.set_matrix(Matrix::Forces, 1.0, &weights.forces);
        self.set_matrix(Matrix::Positions, 1.0, &weights.positions);
        self.set_matrix(Matrix::Ahead, 1.0, &weights.ahead);
        if let Some([dropped, dropping]) = &weights.dropped {
            self.set_column(Column::Dropped, 1.0, dropped);
            self.set_column(Column::Dropping, 1.0, dropping);
        }
        self.resize(weights, h);
    }

    /// Changes the step size.
    pub fn resize(&mut self, weights: &Weights, h: f64) {
        self.set_matrix(Matrix::PositionsAhead, h, &weights.positions_ahead);
        self.set_column(Column::Share, h, &weights.shares);
    }

    fn set_matrix(&mut self, matrix: Matrix, factor: f64, rows: &[Vec<f64>]) {
        // lanes that are left over do what the last node does
        for (i, row) in (0..self.layout.lanes).zip(rows.iter().chain(rows.last().into_iter().cycle())) {
            for (j, &weight) in row.iter().enumerate() {
                self.variables[self.layout.weight(matrix, j) + i] = factor * weight;
            }
        }
    }

    fn set_column(&mut self, column: Column, factor: f64, list: &[f64]) {
        for (i, x) in (0..self.layout.lanes).zip(list.iter().chain(list.last().into_iter().cycle())) {
            self.variables[self.layout.column(column) + i] = factor * x;
        }
    }

    /// Replaces the parameters.
    pub fn assign(&mut self, parameters: &[f64]) {
        for sweep in Sweep::ALL {
            self.kernels.of(sweep).single.assign(parameters);
        }
        self.spread();
    }

    /// Copies parameters, and what follows from them, into every lane.
    fn spread(&mut self) {
        for sweep in Sweep::ALL {
            for (i, &x) in self.kernels.of(sweep).single.registers().iter().enumerate() {
                let place = self.layout.register(sweep, i);
                self.variables[place..place + self.layout.lanes].fill(x);
            }
        }
    }
    /// The registers of a kind of sweep, in one lane.
    pub(super) fn registers(&mut self, sweep: Sweep) -> &[f64] {
        self.kernels.of(sweep).single.registers()
    }

    /// Where the step starts: q and p, and what rounding took from them, of some coordinates.
    pub fn start(&mut self, parts: [&[f64]; 4], which: &[usize]) {
        let places = self.variables.chunks_exact_mut(self.layout.n);
        for (place, list) in places.zip(parts) {
            place.iter_mut().zip(which).for_each(|(place, &i)| *place = list[i]);
        }
    }
    /// q where the step starts.
    pub fn start_coordinates(&self) -> &[f64] {
        &self.variables[..self.layout.n]
    }
    /// The times of the nodes.
    pub fn set_times(&mut self, time: impl Fn(usize) -> f64) {
        let place = self.layout.time();
        for i in 0..self.layout.lanes {
            self.variables[place + i] = time(i.min(self.layout.nodes - 1));
        }
    }

    /// Replaces the velocities of the step before by V_i the same at all nodes.
    pub fn set_velocity(&mut self, i: usize, v: f64) {
        self.variables[self.layout.velocity(i)..][..self.layout.lanes].fill(v);
    }
    /// Replaces V_i at all nodes.
    pub fn set_velocities(&mut self, i: usize, v: impl Fn(usize) -> f64) {
        let (place, last) = (self.layout.velocity(i), self.layout.nodes - 1);
        for (lane, x) in self.variables[place..place + self.layout.lanes].iter_mut().enumerate() {
            *x = v(lane.min(last));
        }
    }
    /// V_i at the nodes, for all coordinates, and between them what fills registers.
    pub fn velocities(&self) -> &[f64] {
        &self.variables[self.first_velocity..self.first_force]
    }
    /// All that the next step needs to know of this one: velocities, and those that follow from them.
    pub fn exchange(&mut self, ledger: &mut Ledger) {
        let layout = &self.layout;
        let velocities = (0..layout.n).map(|i| layout.velocity(i));
        let following = (0..layout.following).map(|k| layout.following(k));
        for place in velocities.chain(following) {
            // whatever the width of registers, as many numbers as fill one of four lanes
            let (known, rest) =
                self.variables[place..place + layout.lanes].split_at_mut(layout.nodes.next_multiple_of(4));
            ledger.numbers(known);
            rest.fill(known[layout.nodes - 1]);
        }
    }
    /// V_i at the nodes.
    pub fn velocity(&self, i: usize) -> &[f64] {
        &self.variables[self.first_velocity + i * self.layout.lanes..][..self.layout.nodes]
    }
    /// h b at the nodes.
    pub fn shares(&self) -> &[f64] {
        &self.variables[self.layout.column(Column::Share)..][..self.layout.nodes]
    }
    /// F_i at the nodes.
    pub fn force(&self, i: usize) -> &[f64] {
        &self.variables[self.first_force + i * self.layout.lanes..][..self.layout.nodes]
    }
    /// All velocities that follow from the others.
    pub fn all_following(&self) -> &[f64] {
        let (first, layout) = (self.layout.following(0), &self.layout);
        &self.variables[first..first + layout.following * layout.lanes]
    }
    /// Velocities that follow from the others, at the nodes.
    pub fn following(&self, k: usize) -> &[f64] {
        &self.variables[self.layout.following(k)..][..self.layout.nodes]
    }
    /// Measures V and F after a sweep, which went as [`sweep`](Self::sweep) was told: from now on changes are relative to this.
    pub fn measure(&mut self, sweep: Sweep, one_by_one: bool) {
        let (first, count) = (self.first_size, 2 * self.layout.n);
        // the code of first sweeps does this
        if sweep != Sweep::First || one_by_one || self.kernels.first.code.is_none() {
            for i in 0..count {
                let numbers =
                    &self.variables[self.first_velocity + i * self.layout.lanes..][..self.layout.nodes];
                self.variables[first + i] = largest(numbers);
            }
        }
        measure::<1>(&self.layout, &mut self.variables, &mut self.largest);
    }
    /// The sizes of all V and then of all F, as they were measured.
    pub fn sizes(&self) -> &[f64] {
        &self.variables[self.first_size..self.first_size + 2 * self.layout.n]
    }
    /// Replaces all V by what they were.
    pub fn restore_velocities(&mut self, velocities: &[f64]) {
        self.variables[self.first_velocity..self.first_force].copy_from_slice(velocities);
    }
    /// How much V and F of each group changed in the last sweep, relative to their sizes, at the node where they changed most. Where a V or F is no
    /// number this may overlook it once.
    pub fn changes(&self) -> &[f64] {
        &self.variables[self.first_change..self.first_change + self.layout.groups]
    }
    /// How far an angle is from where its sine was evaluated, at most, as of the last refining sweep.
    pub fn turn(&self) -> f64 {
        self.variables[self.first_change + self.layout.groups]
    }
    /// A sweep. `false` if the code gave up on the way: then nothing here means anything, and the step has to be done again from its start,
    /// one node after the other.
    #[inline]
    pub fn sweep(&mut self, sweep: Sweep, one_by_one: bool) -> bool {
        match &self.kernels.of(sweep).code {
            Some(code) if !one_by_one => code.run(Arrays {
                registers: &mut [],
                q: &[],
                v: &[],
                t: &[],
                outputs: &mut self.variables,
                changes: &mut [],
                scratch: &mut self.scratch,
            }),
            _ => {
                // where nothing can be fresh, refining is as good
                let never_fresh = sweep == Sweep::Fresh && self.kernels.fresh.is_none();
                self.sweep_one_by_one(if never_fresh { Sweep::Refine } else { sweep });
                true
            }
        }
    }

    #[cold]
    fn sweep_one_by_one(&mut self, sweep: Sweep) {
        self.old.copy_from_slice(&self.variables[..self.layout.variables()]);
        self.variables[self.layout.change(0)..self.layout.variables()].fill(0.0);
        if sweep != Sweep::First {
            self.find_targets();
        }
        for node in 0..self.layout.nodes {
            self.evaluate(node, sweep);
            if sweep == Sweep::First {
                for i in 0..self.layout.n {
                    self.variables[self.layout.velocity(i) + node] = self.v[i];
                }
            }
            for k in 0..self.kernels.of(sweep).out.len() {
                self.put(sweep, k, node);
            }
        }
    }

    /// Stores an output, and looks how much it changed.
    fn put(&mut self, sweep: Sweep, k: usize, node: usize) {
        let (layout, value) = (&self.layout, self.kernels.of(sweep).out[k]);
        let (place, changed) = match layout.output(sweep, k) {
            Output::Force(i) => (layout.force(i), Some(layout.n + i)),
            Output::Velocity(i) => (layout.velocity(i), Some(i)),
            Output::Momentum(i) => {
                if sweep == Sweep::First {
                    self.variables[layout.target(i) + node] = value;
                }
                (layout.momentum(i), None)
            }
            Output::Following(k) => (layout.following(k), None),
            Output::Kept(k) => (layout.kept(k), None),
            Output::Turn => {
                let turn = &mut self.variables[layout.turn()];
                *turn = turn.max(value.abs());
                return;
            }
        };
        self.variables[place + node] = value;
        if let Output::Force(i) = layout.output(sweep, k) {
            let counted = layout.counted(layout.n + i);
            self.variables[counted + node] = value * self.variables[layout.column(Column::Share) + node];
        }
        if let Some(i) = changed
            && sweep != Sweep::First
        {
            let difference = (value - self.old[place + node]).abs() * self.old[layout.inverse_size(i)];
            let change = &mut self.variables[layout.change(layout.group[i % layout.n])];
            *change = change.max(difference);
        }
    }

    /// Runs the tape at a node.
    fn evaluate(&mut self, node: usize, sweep: Sweep) {
        let (layout, n, nodes) = (&self.layout, self.layout.n, self.layout.nodes);
        let first = sweep == Sweep::First;
        for i in 0..n {
            let (start, lost) = layout.start(i);
            let (matrix, from) = if first {
                let from = &self.old[layout.velocity(i)..][..nodes];
                self.v[i] = self.weighted(None, Matrix::Ahead, node, from);
                (Matrix::PositionsAhead, from)
            } else {
                let corrected = &self.variables[layout.corrected(i)..][..nodes];
                self.v[i] = if layout.projected {
                    corrected[node] - self.dropped(node, corrected)
                } else {
                    coarse(corrected[node])
                };
                (Matrix::Positions, &self.variables[layout.counted(i)..][..nodes])
            };
            self.q[i] = self.old[start] + self.weighted(Some(self.old[lost]), matrix, node, from);
        }
        for i in 0..n {
            self.q[n + i] = self.variables[layout.target(i) + node];
        }
        for k in 0..layout.kept {
            self.q[2 * n + k] = self.old[layout.kept(k) + node];
        }
        // what there is of velocities of momenta and of what is kept is not read
        let inputs = match sweep {
            Sweep::First => n,
            Sweep::Fresh => 2 * n,
            Sweep::Refine => self.q.len(),
        };
        let (kernel, time) = (self.kernels.of(sweep), &self.variables[self.layout.time() + node]);
        kernel.single.evaluate(&self.q[..inputs], &self.v[..inputs], time, &mut kernel.out);
    }

    /// Σ_j weight_ij · x_j, added to something.
    fn weighted(&self, start: Option<f64>, matrix: Matrix, node: usize, numbers: &[f64]) -> f64 {
        let weight = |j: usize| self.variables[self.layout.weight(matrix, j) + node];
        let mut product = |sum: Option<f64>, j: usize| match sum {
            Some(sum) => numbers[j].mul_add(weight(j), sum),
            None => numbers[j] * weight(j),
        };
        sum_of_products(start, 0, numbers.len(), &mut product, &mut |a, b| a + b)
    }

    /// What the projection drops of x at a node: u Σ_j w_j x_j.
    fn dropped(&self, node: usize, numbers: &[f64]) -> f64 {
        let [u, w] =
            [Column::Dropped, Column::Dropping].map(|column| &self.variables[self.layout.column(column)..]);
        let mut product = |sum: Option<f64>, j: usize| match sum {
            Some(sum) => numbers[j].mul_add(w[j], sum),
            None => numbers[j] * w[j],
        };
        u[node] * sum_of_products(None, 0, numbers.len(), &mut product, &mut |a, b| a + b)
    }

    /// T = p + Σ forces · (share F) + (P − Π P) and Y = V + L_vv⁻¹ (T − T before) at all nodes.
    fn find_targets(&mut self) {
        let (n, nodes) = (self.layout.n, self.layout.nodes);
        for node in 0..nodes {
            for i in 0..n {
                let layout = &self.layout;
                let (start, lost) = layout.start_momentum(i);
                let forces = &self.old[layout.counted(n + i)..][..nodes];
                let mut target =
                    self.old[start] + self.weighted(Some(self.old[lost]), Matrix::Forces, node, forces);
                if layout.projected {
                    target += self.dropped(node, &self.old[layout.momentum(i)..][..nodes]);
                }
                let place = layout.target(i) + node;
                self.variables[place] = target;
            }
            let (layout, old) = (&self.layout, &self.old);
            let factor = |k: usize| old[layout.kept(k) + node];
            for (x, &i) in self.room.iter_mut().zip(layout.pattern.order()) {
                *x = self.variables[layout.target(i) + node] - old[layout.target(i) + node];
            }
            layout.pattern.solve(&mut self.room, |x, k, y| (-factor(k)).mul_add(y, x), |x, k| x * factor(k));
            for (x, &i) in self.room.iter().zip(layout.pattern.order()) {
                let corrected = old[layout.velocity(i) + node] + x;
                self.variables[layout.corrected(i) + node] = corrected;
                self.variables[layout.counted(i) + node] =
                    corrected * self.variables[layout.column(Column::Share) + node];
            }
        }
    }
}
