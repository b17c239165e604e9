//! Sweeps over the nodes of four trajectories side by side.
//!
//! The same sweeps as those of [`Nodes`], in the same order of operations and so to the same bits, with one trajectory in each lane of a register.
//! As machine code only.

use super::aligned::Aligned;
use super::native::{Arrays, Code};
use super::nodes::{Layout, Matrix, Nodes, Sweep, Tapes, Weights};
use std::sync::Arc;

/// So many trajectories go side by side.
pub const ABREAST: usize = 4;

/// The nodes of four trajectories.
#[derive(Clone, Debug)]
pub struct Abreast {
    layout: Layout,
    variables: Aligned,
    /// For the three kinds of sweeps.
    code: [Arc<Code>; 3],
    scratch: Vec<f64>,
}

impl Abreast {
    /// Nodes for the tapes of a system, whose coordinates fall into groups; `None` if there is no machine code for them.
    pub fn new(tapes: &Tapes, group: &[usize], weights: &Weights) -> Option<Self> {
        let layout = Layout::new(tapes, group, weights, ABREAST);
        // where nothing can be fresh, refining is as good
        let kind =
            |sweep: Sweep| if tapes.fresh.is_none() && sweep == Sweep::Fresh { Sweep::Refine } else { sweep };
        let code = |sweep: Sweep| tapes.of(sweep).sweep_code(&layout.of(kind(sweep)));
        let code = [code(Sweep::First)?, code(Sweep::Fresh)?, code(Sweep::Refine)?];
        let scratch = code.iter().map(|code| code.scratch()).max().unwrap_or(0);
        Some(Self { variables: Aligned::zeros(layout.all(tapes)), code, scratch: vec![0.0; scratch], layout })
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
        for sweep in Sweep::ALL {
            for (i, &x) in from.registers(sweep).iter().enumerate() {
                self.variables[self.layout.register(sweep, i) + lane] = x;
            }
        }
    }

    /// Gives a lane the start of a trajectory's step, and the velocities of its step before.
    pub fn take(&mut self, lane: usize, from: &Nodes) {
        let (mine, theirs) = (&self.layout, &from.layout);
        for i in 0..4 * mine.n {
            self.variables[ABREAST * i + lane] = from.variables[i];
        }
        for node in 0..mine.nodes {
            self.variables[mine.time() + ABREAST * node + lane] = from.variables[theirs.time() + node];
        }
        for i in 0..mine.n {
            let velocities = &from.variables[theirs.velocity(i)..][..mine.nodes];
            for (node, &v) in velocities.iter().enumerate() {
                self.variables[mine.velocity(i) + ABREAST * node + lane] = v;
            }
        }
    }

    /// Gives the velocities and forces of a lane to its trajectory.
    pub fn give(&self, lane: usize, to: &mut Nodes) {
        let (mine, theirs) = (&self.layout, &to.layout);
        for i in 0..2 * mine.n {
            let (from, place) = (mine.velocity(i) + lane, theirs.velocity(i));
            for node in 0..mine.nodes {
                to.variables[place + node] = self.variables[from + ABREAST * node];
            }
        }
    }

    /// What [`Nodes::sizes`] tells, of one lane.
    pub fn sizes(&mut self, lane: usize, sweep: Sweep) -> impl Iterator<Item = f64> {
        let (first, end) = (self.layout.size(0), self.layout.change(0));
        // the code of first sweeps does this
        if sweep != Sweep::First {
            for i in 0..2 * self.layout.n {
                let numbers = self.variables[self.layout.velocity(i)..][..self.layout.lanes].iter();
                let lanes = numbers.skip(lane).step_by(ABREAST);
                self.variables[first + ABREAST * i + lane] =
                    lanes.fold(0.0, |largest, x| if x.abs() > largest { x.abs() } else { largest });
            }
        }
        self.variables[first..end].iter().skip(lane).step_by(ABREAST).copied()
    }
    /// Tells a lane one over the sizes of all V and then of all F.
    pub fn set_inverse_sizes(&mut self, lane: usize, sizes: &[f64]) {
        for (i, size) in sizes.iter().enumerate() {
            self.variables[self.layout.inverse_size(i) + lane] = 1.0 / size;
        }
    }
    /// What [`Nodes::changes`] tells, of one lane.
    pub fn changes(&self, lane: usize) -> impl Iterator<Item = f64> {
        let (first, end) = (self.layout.change(0), self.layout.turn());
        self.variables[first..end].iter().skip(lane).step_by(ABREAST).copied()
    }
    /// What [`Nodes::turn`] tells, of one lane.
    pub fn turn(&self, lane: usize) -> f64 {
        self.variables[self.layout.turn() + lane]
    }

    /// A sweep of some lanes; the others rest. `false` if the code gave up on the way: then nothing here means anything.
    pub fn sweep(&mut self, sweep: Sweep, lanes: [bool; ABREAST]) -> bool {
        let resting = self.layout.resting();
        for (place, sweeps) in self.variables[resting..].iter_mut().zip(lanes) {
            *place = if sweeps { 1.0 } else { -1.0 };
        }
        self.code[sweep as usize].run(Arrays {
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
