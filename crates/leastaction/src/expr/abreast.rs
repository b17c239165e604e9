//! Sweeps over the nodes of four trajectories side by side.
//!
//! The same sweeps as those of [`Nodes`], in the same order of operations and so to the same bits, with one trajectory in each lane of a register.
//! As machine code only.

use super::aligned::Aligned;
use super::layout::{Column, Layout, Matrix, Sweep, Tapes, Weights, measure};
use super::native::{Arrays, Code, widely};
use super::nodes::Nodes;
use std::sync::Arc;

/// So many trajectories go side by side.
pub const ABREAST: usize = 4;

/// The nodes of four trajectories, and where their steps start.
#[derive(Clone, Debug)]
pub struct Abreast {
    layout: Layout,
    /// Places of the layout that are asked for in every sweep.
    first_change: usize,
    first_turn: usize,
    variables: Aligned,
    /// The largest size of each group.
    largest: Vec<f64>,
    /// Starts and velocities as they were when a step began.
    before: Vec<f64>,
    /// For the three kinds of sweeps: of all trajectories, and of some while others rest.
    code: [[Arc<Code>; 2]; 3],
    scratch: Vec<f64>,
}

impl Abreast {
    /// Nodes for the tapes of a system, whose coordinates fall into groups; `None` if there is no machine code for them.
    pub fn new(tapes: &Tapes, group: &[usize], weights: &Weights) -> Option<Self> {
        let layout = Layout::new(tapes, group, weights, ABREAST);
        // where nothing can be fresh, refining is as good
        let kind =
            |sweep: Sweep| if tapes.fresh.is_none() && sweep == Sweep::Fresh { Sweep::Refine } else { sweep };
        let code = |sweep: Sweep| {
            let all = layout.of(kind(sweep));
            let some = all.with_rest();
            Some([tapes.of(sweep).sweep_code(&all)?, tapes.of(sweep).sweep_code(&some)?])
        };
        let code = [code(Sweep::First)?, code(Sweep::Fresh)?, code(Sweep::Refine)?];
        let scratch = code.iter().flatten().map(|code| code.scratch()).max().unwrap_or(0);
        Some(Self {
            variables: Aligned::zeros(layout.all(tapes)),
            before: vec![0.0; layout.force(0)],
            first_change: layout.change(0),
            first_turn: layout.turn(),
            largest: vec![0.0; layout.groups * ABREAST],
            code,
            scratch: vec![0.0; scratch],
            layout,
        })
    }

    /// Gives a lane the parameters of a trajectory and the weights of its step.
    pub fn take_constants(&mut self, lane: usize, from: &mut Nodes) {
        let nodes = self.layout.nodes;
        for matrix in Matrix::ALL {
            for node in 0..nodes {
                let (mine, theirs) =
                    (self.layout.weight(matrix, node) + lane, from.layout.weight(matrix, node));
                for i in 0..nodes {
                    self.variables[mine + ABREAST * i] = from.variables[theirs + i];
                }
            }
        }
        for column in Column::ALL {
            let (mine, theirs) = (self.layout.column(column) + lane, from.layout.column(column));
            for i in 0..nodes {
                self.variables[mine + ABREAST * i] = from.variables[theirs + i];
            }
        }
        for sweep in Sweep::ALL {
            for (i, &x) in from.registers(sweep).iter().enumerate() {
                self.variables[self.layout.register(sweep, i) + lane] = x;
            }
        }
    }

    /// Gives a lane a state, q and p and what rounding took from them, and the velocities of the step that led there.
    pub fn take(&mut self, lane: usize, state: [&[f64]; 4], from: &Nodes) {
        let places = self.variables[lane..].iter_mut().step_by(ABREAST);
        places.zip(state.into_iter().flatten()).for_each(|(place, x)| *place = *x);
        let (mine, theirs) = (&self.layout, &from.layout);
        for i in 0..mine.n {
            let velocities = &from.variables[theirs.velocity(i)..][..mine.nodes];
            for (node, &v) in velocities.iter().enumerate() {
                self.variables[mine.velocity(i) + ABREAST * node + lane] = v;
            }
        }
    }
    /// Gives a lane the state and the velocities of another.
    pub fn copy(&mut self, lane: usize, other: usize) {
        let (start, end) = (self.layout.velocity(0), self.layout.force(0));
        for place in (0..4 * self.layout.n * ABREAST).chain(start..end).step_by(ABREAST) {
            self.variables[place + lane] = self.variables[place + other];
        }
    }
    /// Tells a lane the times of its nodes.
    pub fn set_times(&mut self, lane: usize, time: impl Fn(usize) -> f64) {
        let place = self.layout.time() + lane;
        for node in 0..self.layout.nodes {
            self.variables[place + ABREAST * node] = time(node);
        }
    }

    /// A step begins: keeps states and velocities for those who need them again.
    pub fn begin(&mut self) {
        let end = self.before.len();
        self.before.copy_from_slice(&self.variables[..end]);
    }
    /// The lists of a trajectory's state, of all four: q, p, and what rounding took from them.
    pub fn states(&self) -> [&[f64]; 4] {
        let length = self.layout.n * ABREAST;
        std::array::from_fn(|k| &self.variables[k * length..(k + 1) * length])
    }
    /// The same, to be changed, and behind them all V and then all F at the nodes.
    pub fn states_and_rates(&mut self) -> (&mut [f64], &[f64]) {
        let first = self.layout.velocity(0);
        let (states, rates) = self.variables.split_at_mut(first);
        (&mut states[..4 * self.layout.n * ABREAST], &rates[..2 * self.layout.n * self.layout.lanes])
    }
    /// Copies the state of a lane, as it is or as it was when the step began.
    pub fn state(&self, lane: usize, before: bool, state: [&mut [f64]; 4]) {
        let from = if before { &*self.before } else { &*self.variables };
        let numbers = from[lane..].iter().step_by(ABREAST);
        state.into_iter().flatten().zip(numbers).for_each(|(place, x)| *place = *x);
    }
    /// Copies q of a lane as it was when the step began.
    pub fn start_coordinates(&self, lane: usize, q: &mut [f64]) {
        let numbers = self.before[lane..].iter().step_by(ABREAST);
        q.iter_mut().zip(numbers).for_each(|(place, x)| *place = *x);
    }
    /// Gives the velocities of a lane to its trajectory, as they are or as they were when the step began.
    pub fn give(&self, lane: usize, before: bool, to: &mut Nodes) {
        let from = if before { &*self.before } else { &*self.variables };
        let (mine, theirs) = (&self.layout, &to.layout);
        for i in 0..mine.n {
            let place = theirs.velocity(i);
            for node in 0..mine.nodes {
                to.variables[place + node] = from[mine.velocity(i) + ABREAST * node + lane];
            }
        }
    }

    /// Measures V and F of all lanes after a first sweep: see [`Nodes::measure`].
    pub fn measure(&mut self) {
        widely(|| measure::<ABREAST>(&self.layout, &mut self.variables, &mut self.largest));
    }
    /// What [`Nodes::sizes`] tells, of one lane.
    pub fn sizes(&self, lane: usize) -> impl Iterator<Item = f64> {
        self.variables[self.layout.size(0) + lane..self.first_change].iter().step_by(ABREAST).copied()
    }
    /// What [`Nodes::changes`] tells, of one lane.
    #[inline]
    pub fn changes(&self, lane: usize) -> impl Iterator<Item = f64> {
        let lanes = self.variables[self.first_change..self.first_turn].chunks_exact(ABREAST);
        lanes.map(move |lanes| lanes[lane])
    }
    /// What [`Nodes::turn`] tells, of one lane.
    pub fn turn(&self, lane: usize) -> f64 {
        self.variables[self.first_turn + lane]
    }

    /// A sweep of some lanes; the others rest. `false` if the code gave up on the way: then nothing here means anything.
    pub fn sweep(&mut self, sweep: Sweep, lanes: [bool; ABREAST]) -> bool {
        let some_rest = lanes != [true; ABREAST];
        if some_rest {
            let resting = self.first_turn + ABREAST;
            for (place, sweeps) in self.variables[resting..].iter_mut().zip(lanes) {
                *place = if sweeps { 1.0 } else { -1.0 };
            }
        }
        self.code[sweep as usize][usize::from(some_rest)].run(Arrays {
            registers: &mut [],
            q: &[],
            v: &[],
            t: &[],
            outputs: &mut self.variables,
            changes: &mut [],
            scratch: &mut self.scratch,
        })
    }
}
