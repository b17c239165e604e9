//! Sweeps over the nodes of four trajectories side by side.
//!
//! The same sweeps as those of [`Nodes`], in the same order of operations and so to the same bits, with one trajectory in each lane of a register.
//! As machine code only.

use super::aligned::Aligned;
use super::native::{Arrays, Code};
use super::nodes::{Layout, Nodes, Sweep, Tapes, Weights, weigh};
use super::tape::Tape;
use std::sync::Arc;

/// So many trajectories go side by side.
pub const ABREAST: usize = 4;

/// The nodes of four trajectories.
#[derive(Clone, Debug)]
pub struct Abreast {
    layout: Layout,
    weights: Aligned,
    variables: Aligned,
    time: Aligned,
    /// For the three kinds of sweeps.
    kernels: [Kernel; 3],
    scratch: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Kernel {
    code: Arc<Code>,
    registers: Aligned,
}

impl Abreast {
    /// Nodes for the tapes of a system, whose coordinates fall into groups; `None` if there is no machine code for them.
    pub fn new(tapes: &Tapes, group: &[usize], weights: &Weights, h: f64) -> Option<Self> {
        let layout = Layout::new(tapes, group, weights, ABREAST);
        let kernel = |tape: &Arc<Tape>, sweep: Sweep| {
            let layout = Layout { sweep, ..layout.clone() };
            let registers = Aligned::zeros(layout.registers(tape.registers));
            Some(Kernel { code: tape.sweep_code(&layout)?, registers })
        };
        // where nothing can be fresh, refining is as good
        let fresh = match &tapes.fresh {
            Some(tape) => kernel(tape, Sweep::Fresh)?,
            None => kernel(&tapes.refine, Sweep::Refine)?,
        };
        let kernels = [kernel(&tapes.first, Sweep::First)?, fresh, kernel(&tapes.refine, Sweep::Refine)?];
        let scratch = kernels.iter().map(|kernel| kernel.code.scratch()).max().unwrap_or(0);
        let mut made = Self {
            weights: Aligned::zeros(layout.weights()),
            variables: Aligned::zeros(layout.variables()),
            time: Aligned::zeros(layout.lanes),
            kernels,
            scratch: vec![0.0; scratch],
            layout,
        };
        made.weigh(weights, h);
        Some(made)
    }

    /// Changes the weights, or the step size.
    pub fn weigh(&mut self, weights: &Weights, h: f64) {
        weigh(&self.layout, weights, h, &mut self.weights);
    }

    /// Gives a lane the parameters of a trajectory.
    pub fn take_parameters(&mut self, lane: usize, from: &mut Nodes) {
        let each = from.layout.lanes;
        for (kernel, sweep) in self.kernels.iter_mut().zip(Sweep::ALL) {
            let registers = from.kernels.of(sweep).registers.iter().step_by(each);
            for (place, &x) in kernel.registers.iter_mut().skip(lane).step_by(ABREAST).zip(registers) {
                *place = x;
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
            self.time[ABREAST * node + lane] = from.time[node];
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

    /// The size of the largest of V_i, or of F_{i−n}, at the nodes of a lane; what is no number is left out.
    pub fn size(&self, lane: usize, i: usize) -> f64 {
        let numbers = self.variables[self.layout.velocity(i)..][..self.layout.lanes].iter();
        let lane = numbers.skip(lane).step_by(ABREAST);
        lane.fold(0.0, |largest, x| if x.abs() > largest { x.abs() } else { largest })
    }
    /// Tells a lane one over the sizes of all V and then of all F.
    pub fn set_inverse_sizes(&mut self, lane: usize, sizes: &[f64]) {
        for (i, size) in sizes.iter().enumerate() {
            self.variables[self.layout.inverse_size(i) + lane] = 1.0 / size;
        }
    }
    /// What [`Nodes::changes`] tells, of one lane.
    pub fn changes(&self, lane: usize) -> impl DoubleEndedIterator<Item = f64> {
        let end = self.layout.resting();
        self.variables[self.layout.change(0)..end].iter().skip(lane).step_by(ABREAST).copied()
    }

    /// A sweep of some lanes; the others rest. `false` if the code gave up on the way: then nothing here means anything.
    pub fn sweep(&mut self, sweep: Sweep, lanes: [bool; ABREAST]) -> bool {
        let resting = self.layout.resting();
        for (place, sweeps) in self.variables[resting..].iter_mut().zip(lanes) {
            *place = if sweeps { 1.0 } else { -1.0 };
        }
        let kernel = &mut self.kernels[sweep as usize];
        kernel.code.run(Arrays {
            registers: &mut kernel.registers,
            q: &[],
            v: &self.weights,
            t: &self.time,
            outputs: &mut self.variables,
            changes: &mut [],
            scratch: &mut self.scratch,
        })
    }
}
