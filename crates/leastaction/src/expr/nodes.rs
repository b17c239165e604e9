//! A tape at all nodes of a step at once.
//!
//! [`Nodes`] holds rates at the nodes of a step: V and F for a tape that computes them from (Q, P), together with entries of the matrix W
//! that takes changes of P to changes of V. A sweep goes, at every node,
//!
//! ```text
//! P = p + Σ weight · F        V' = V + W (P − P before)        Q = q + Σ weight · V'        next V, F, W from the tape at (Q, P)
//! ```
//!
//! and measures how much the rates changed. As machine code four nodes go side by side; without, they go one after the other, in the same
//! order of operations and so to the same bits.

use super::aligned::Aligned;
use super::native::{Arrays, Backend, Code};
use super::tape::{Evaluator, Tape};
use std::sync::Arc;

/// Where numbers lie in the arrays of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    /// Coordinates.
    n: usize,
    /// Nodes, and how many lanes they take: a multiple of four.
    pub(super) nodes: usize,
    pub(super) lanes: usize,
    /// The entries of W, row ≤ column.
    pub(super) entries: Vec<(usize, usize)>,
    /// Whether V is taken as it is, because W and P belong to another step.
    pub(super) first: bool,
}

impl Layout {
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
    /// The entries of W at the nodes, in the order of the list: they are outputs of the tape like rates.
    pub(super) fn entry(&self, k: usize) -> usize {
        self.rate(2 * self.n + k)
    }
    /// P_i at the nodes.
    pub(super) fn momentum(&self, i: usize) -> usize {
        self.entry(self.entries.len()) + self.lanes * i
    }
    /// V'_i at the nodes.
    pub(super) fn corrected(&self, i: usize) -> usize {
        self.momentum(self.n) + self.lanes * i
    }
    /// How much the rates of variable i changed at most.
    pub(super) fn change(&self, i: usize) -> usize {
        self.corrected(self.n) + i
    }
    /// Where the rates begin.
    fn rates(&self) -> usize {
        (4 * self.n).next_multiple_of(8)
    }
    /// How many numbers there are of start, rates and changes.
    pub(super) fn variables(&self) -> usize {
        self.change(2 * self.n)
    }
    /// What a node's rate adds at all nodes, for coordinates or for momenta.
    pub(super) fn weight(&self, momenta: bool, node: usize) -> usize {
        self.lanes * (node + if momenta { self.nodes } else { 0 })
    }
    /// How many weights there are.
    pub(super) fn weights(&self) -> usize {
        self.weight(true, self.nodes)
    }
}

/// How much rates at the nodes add to coordinates and momenta at the nodes.
#[derive(Clone, Debug)]
pub struct Weights(Aligned);

/// Rates at the nodes of a step, and how to get better ones.
#[derive(Clone, Debug)]
pub struct Nodes {
    layout: Layout,
    /// The tape's registers, each in every lane.
    registers: Aligned,
    /// Start of the step and rates: present ones, and those of the sweep before.
    now: Aligned,
    before: Aligned,
    time: Aligned,
    /// Code for the first sweep of a step and for the others.
    code: Option<[Arc<Code>; 2]>,
    scratch: Vec<f64>,
    /// One node alone.
    single: Evaluator<f64>,
    q: Vec<f64>,
    p: Vec<f64>,
    out: Vec<f64>,
}

impl Nodes {
    /// Nodes for a tape that computes the rates of all q and p, and entries of W (row ≤ column), from q and, in place of velocities, p.
    pub fn new(
        tape: &Arc<Tape>,
        entries: &[(usize, usize)],
        parameters: &[f64],
        nodes: usize,
        backend: Option<Backend>,
    ) -> Self {
        let (n, lanes) = (tape.coordinates, nodes.next_multiple_of(4));
        let layout = Layout { n, nodes, lanes, entries: entries.to_vec(), first: false };
        let code = if Evaluator::<f64>::wants_code(tape, backend) {
            let first = tape.sweep_code(&Layout { first: true, ..layout.clone() });
            first.zip(tape.sweep_code(&layout)).map(|(first, next)| [first, next])
        } else {
            None
        };
        // where there is code for sweeps, single nodes are rare
        let one = if code.is_some() { Some(Backend::Interpreter) } else { backend };
        let single = Evaluator::compiled(tape.clone(), parameters, one);
        let mut wide = Aligned::zeros(layout.lanes * tape.registers);
        for (i, &x) in single.registers().iter().enumerate() {
            wide[layout.lanes * i..layout.lanes * (i + 1)].fill(x);
        }
        let scratch = code.iter().flatten().map(|code| code.scratch()).max().unwrap_or(0);
        Self {
            registers: wide,
            now: Aligned::zeros(layout.variables()),
            before: Aligned::zeros(layout.variables()),
            time: Aligned::zeros(layout.lanes),
            scratch: vec![0.0; scratch],
            code,
            single,
            q: vec![0.0; n],
            p: vec![0.0; n],
            out: vec![0.0; tape.outputs],
            layout,
        }
    }

    /// How much a rate at node j adds at node i, for coordinates and for momenta: rows i, columns j.
    pub fn weights(&self, coordinates: &[Vec<f64>], momenta: &[Vec<f64>]) -> Weights {
        let mut weights = Aligned::zeros(self.layout.weights());
        for (is_momenta, rows) in [(false, coordinates), (true, momenta)] {
            for (i, row) in rows.iter().enumerate() {
                for (j, &weight) in row.iter().enumerate() {
                    weights[self.layout.weight(is_momenta, j) + i] = weight;
                }
            }
        }
        Weights(weights)
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
    /// How much the rates of all variables changed in the last sweep, at the node where they changed most. Where a rate is no number
    /// this may overlook it once.
    pub fn changes(&self) -> &[f64] {
        &self.now[self.layout.change(0)..]
    }
    /// Forgets all rates.
    pub fn clear(&mut self) {
        let from = self.layout.rates();
        self.now[from..].fill(0.0);
    }

    /// The next rates. The first sweep of a step takes V as it is.
    pub fn sweep(&mut self, weights: &Weights, first: bool) {
        std::mem::swap(&mut self.now, &mut self.before);
        if let Some([for_first, for_next]) = &self.code {
            let from = self.layout.rates();
            let arrays = Arrays {
                registers: &mut self.registers,
                q: &self.before,
                v: &weights.0,
                t: &self.time,
                outputs: &mut self.now[from..],
                scratch: &mut self.scratch,
            };
            if (if first { for_first } else { for_next }).run(arrays) {
                return;
            }
        }
        self.sweep_one_by_one(weights, first);
    }

    fn sweep_one_by_one(&mut self, weights: &Weights, first: bool) {
        let (layout, n, nodes) = (&self.layout, self.layout.n, self.layout.nodes);
        let (now, before) = (&mut self.now, &self.before);
        // start + (lost + Σ weight · rate)
        let stage = |i: usize, rates: &[f64], node: usize| {
            let mut sum = before[layout.lost(i)];
            for (other, rate) in rates.iter().enumerate() {
                sum += rate * weights.0[layout.weight(i >= n, other) + node];
            }
            before[layout.start(i)] + sum
        };
        for i in n..2 * n {
            for node in 0..nodes {
                now[layout.momentum(i - n) + node] = stage(i, &before[layout.rate(i)..][..nodes], node);
            }
        }
        for i in 0..n {
            now[layout.corrected(i)..][..nodes].copy_from_slice(&before[layout.rate(i)..][..nodes]);
        }
        if !first {
            for (k, &(row, column)) in layout.entries.iter().enumerate() {
                for node in 0..nodes {
                    let entry = before[layout.entry(k) + node];
                    let change = |j: usize, now: &Aligned| {
                        now[layout.momentum(j) + node] - before[layout.momentum(j) + node]
                    };
                    now[layout.corrected(row) + node] += entry * change(column, now);
                    if row != column {
                        now[layout.corrected(column) + node] += entry * change(row, now);
                    }
                }
            }
        }
        now[layout.change(0)..].fill(0.0);
        for node in 0..nodes {
            for i in 0..n {
                self.q[i] = stage(i, &now[layout.corrected(i)..][..nodes], node);
                self.p[i] = now[layout.momentum(i) + node];
            }
            self.single.evaluate(&self.q, &self.p, &self.time[node], &mut self.out);
            for (i, &value) in self.out.iter().enumerate() {
                now[layout.rate(i) + node] = value;
                if i < 2 * n {
                    let change = (value - before[layout.rate(i) + node]).abs();
                    let largest = &mut now[layout.change(i)];
                    *largest = largest.max(change);
                }
            }
        }
    }
}
