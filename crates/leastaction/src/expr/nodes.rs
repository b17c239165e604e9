//! A tape at all nodes of a step at once.
//!
//! [`Nodes`] holds rates at the nodes of a step: V and F for a tape that computes them from (Q, P). A sweep takes
//! Q = q + Σ weight · V and P = p + Σ weight · F at every node and evaluates the tape there, which gives the next rates. As machine code four
//! nodes go side by side; without, they go one after the other, in the same order of operations and so to the same bits.

use super::aligned::Aligned;
use super::native::{Arrays, Backend, Code};
use super::tape::{Evaluator, Tape};
use std::sync::Arc;

/// Where numbers lie in the arrays of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Layout {
    /// Coordinates.
    n: usize,
    /// Nodes, and how many lanes they take: a multiple of four.
    pub(super) nodes: usize,
    pub(super) lanes: usize,
    /// Registers of the tape.
    registers: usize,
}

impl Layout {
    fn new(tape: &Tape, nodes: usize) -> Self {
        let lanes = nodes.next_multiple_of(4);
        Self { n: tape.coordinates, nodes, lanes, registers: tape.registers }
    }
    /// The value of variable i (q, then p) at the start of the step.
    pub(super) fn start(&self, i: usize) -> usize {
        i
    }
    /// What rounding took from it so far.
    pub(super) fn lost(&self, i: usize) -> usize {
        2 * self.n + i
    }
    /// The rates of variable i at the nodes.
    pub(super) fn rate(&self, i: usize) -> usize {
        self.rates() + self.lanes * i
    }
    /// Where the rates begin.
    fn rates(&self) -> usize {
        (4 * self.n).next_multiple_of(8)
    }
    /// What a node's rate adds at all nodes, for coordinates or for momenta.
    pub(super) fn weight(&self, momenta: bool, node: usize) -> usize {
        self.lanes * (self.registers + node + if momenta { self.nodes } else { 0 })
    }
    /// How many numbers the two arrays have.
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.weight(true, self.nodes), self.rate(2 * self.n))
    }
}

/// Rates at the nodes of a step, and how to get better ones.
#[derive(Clone, Debug)]
pub struct Nodes {
    layout: Layout,
    /// Lanes of registers, then weights.
    registers: Aligned,
    /// Start of the step and rates: present ones, and those of the sweep before.
    now: Aligned,
    before: Aligned,
    time: Aligned,
    code: Option<Arc<Code>>,
    scratch: Vec<f64>,
    /// One node alone.
    single: Evaluator<f64>,
    q: Vec<f64>,
    p: Vec<f64>,
    out: Vec<f64>,
}

impl Nodes {
    /// Nodes for a tape that computes rates of all q and p from q and, in place of velocities, p.
    pub fn new(tape: &Arc<Tape>, parameters: &[f64], nodes: usize, backend: Option<Backend>) -> Self {
        let layout = Layout::new(tape, nodes);
        let (registers, variables) = layout.sizes();
        let code = if Evaluator::<f64>::wants_code(tape, backend) { tape.sweep_code(&layout) } else { None };
        // where there is code for sweeps, single nodes are rare
        let one = if code.is_some() { Some(Backend::Interpreter) } else { backend };
        let single = Evaluator::compiled(tape.clone(), parameters, one);
        let mut wide = Aligned::zeros(registers);
        for (i, &x) in single.registers().iter().enumerate() {
            wide[layout.lanes * i..layout.lanes * (i + 1)].fill(x);
        }
        let n = tape.coordinates;
        Self {
            layout,
            registers: wide,
            now: Aligned::zeros(variables),
            before: Aligned::zeros(variables),
            time: Aligned::zeros(layout.lanes),
            scratch: vec![0.0; code.as_ref().map_or(0, |code| code.scratch())],
            code,
            single,
            q: vec![0.0; n],
            p: vec![0.0; n],
            out: vec![0.0; 2 * n],
        }
    }

    /// How much a rate at node j adds at node i, for coordinates and for momenta: rows i, columns j.
    pub fn weigh(&mut self, coordinates: &[Vec<f64>], momenta: &[Vec<f64>]) {
        for (is_momenta, rows) in [(false, coordinates), (true, momenta)] {
            for (i, row) in rows.iter().enumerate() {
                for (j, &weight) in row.iter().enumerate() {
                    self.registers[self.layout.weight(is_momenta, j) + i] = weight;
                }
            }
        }
    }

    /// Where the step starts: q and p with what rounding took from them, and the times of the nodes.
    pub fn start(&mut self, q: [&[f64]; 2], p: [&[f64]; 2], time: impl Fn(usize) -> f64) {
        let n = self.layout.n;
        for array in [&mut self.now, &mut self.before] {
            for (place, list) in [q[0], p[0], q[1], p[1]].into_iter().enumerate() {
                array[place * n..(place + 1) * n].copy_from_slice(list);
            }
        }
        for (i, t) in self.time.iter_mut().enumerate() {
            *t = time(i.min(self.layout.nodes - 1));
        }
    }

    /// The rates of variable i (all q, then all p) at the nodes.
    pub fn rates(&self, i: usize) -> &[f64] {
        &self.now[self.layout.rate(i)..][..self.layout.nodes]
    }
    /// The rates before the last sweep.
    pub fn rates_before(&self, i: usize) -> &[f64] {
        &self.before[self.layout.rate(i)..][..self.layout.nodes]
    }
    /// To write better rates.
    pub fn rates_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.now[self.layout.rate(i)..][..self.layout.nodes]
    }
    /// Forgets all rates.
    pub fn clear(&mut self) {
        let from = self.layout.rates();
        self.now[from..].fill(0.0);
    }

    /// The next rates.
    pub fn sweep(&mut self) {
        std::mem::swap(&mut self.now, &mut self.before);
        if let Some(code) = &self.code {
            let from = self.layout.rates();
            let arrays = Arrays {
                registers: &mut self.registers,
                q: &self.before,
                v: &[],
                t: &self.time,
                outputs: &mut self.now[from..],
                scratch: &mut self.scratch,
            };
            if code.run(arrays) {
                return;
            }
        }
        self.sweep_one_by_one();
    }

    fn sweep_one_by_one(&mut self) {
        let (layout, n) = (self.layout, self.layout.n);
        for node in 0..layout.nodes {
            for i in 0..2 * n {
                let mut sum = self.before[layout.lost(i)];
                for other in 0..layout.nodes {
                    let weight = self.registers[layout.weight(i >= n, other) + node];
                    sum += self.before[layout.rate(i) + other] * weight;
                }
                let target = if i < n { &mut self.q[i] } else { &mut self.p[i - n] };
                *target = self.before[layout.start(i)] + sum;
            }
            self.single.evaluate(&self.q, &self.p, &self.time[node], &mut self.out);
            for (i, &rate) in self.out.iter().enumerate() {
                self.now[layout.rate(i) + node] = rate;
            }
        }
    }
}
