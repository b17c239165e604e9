//! Sweeps over the nodes of eight trajectories side by side, in coordinates and momenta.
//!
//! The unknowns of a step are the rates V = q̇ and F = ṗ at the nodes. A sweep evaluates them all at Q = q + Σ w V and P = p + Σ w F. Nothing is judged and no
//! lane waits for another, so a lane has the bits it would have alone. As machine code where there is some; else, and where code
//! gives up, lane by lane by the interpreter, in the same order of operations.

use super::aligned::Aligned;
use super::layout::sum_of_products;
use super::native::{Arrays, Backend, Code};
use super::tape::{Evaluator, Tape};
use std::sync::Arc;

/// So many trajectories go side by side.
pub const CONVOY: usize = 8;
/// How many [`Task`]s there are.
const TASKS: usize = Task::ALL.len();

/// Tapes of the motion in momenta.
#[derive(Clone, Debug)]
pub struct Current {
    /// How many coordinates there are.
    pub n: usize,
    /// How many numbers are kept of each evaluation.
    pub kept: usize,
    /// q̇, ṗ and what is kept, from (q, p).
    pub fresh: Arc<Tape>,
    /// q̇ and ṗ from (q, p) and what is kept of the start of the step, behind q, less exactly.
    pub ahead: Arc<Tape>,
    /// The same exactly, and what is kept; then how far angles are from the start.
    pub wide: Arc<Tape>,
    /// q̇ and ṗ from (q, p) and what is kept of the node, less exactly.
    pub rough: Arc<Tape>,
    /// The same exactly; then how far angles are from where they were.
    pub last: Arc<Tape>,
    /// The energy and the kinetic energy from (q, p), and what is kept.
    pub arrive: Arc<Tape>,
}

/// What is done with all lanes at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Task {
    /// A sweep that evaluates everything.
    Fresh,
    /// A sweep that turns sines and cosines of the start of the step, less exactly.
    Ahead,
    /// The same exactly; it keeps them, and tells how far they were turned.
    Wide,
    /// A sweep that turns those of the node, less exactly.
    Rough,
    /// The same exactly; it also tells how far they were turned.
    Last,
    /// The end of the step, its energy and its sines and cosines.
    Arrive,
}

impl Task {
    /// All of them, in their order.
    const ALL: [Self; 6] = [Self::Fresh, Self::Ahead, Self::Wide, Self::Rough, Self::Last, Self::Arrive];

    /// Whether angles, sines and cosines of nodes are kept.
    pub(super) fn keeps(self) -> bool {
        matches!(self, Self::Fresh | Self::Wide)
    }
    /// Whether it tells how far angles were turned.
    pub(super) fn tells(self) -> bool {
        matches!(self, Self::Wide | Self::Last)
    }
}

/// Where numbers lie; of each there are eight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Berths {
    pub(super) n: usize,
    pub(super) nodes: usize,
    pub(super) kept: usize,
}

impl Berths {
    /// V_k for k below n, then F_{k−n}.
    pub(super) fn rate(&self, k: usize, node: usize) -> usize {
        CONVOY * (k * self.nodes + node)
    }
    pub(super) fn rates(&self) -> usize {
        self.rate(2 * self.n, 0)
    }
    /// The weight of one node for another; at the end of a step the one other is 0.
    pub(super) fn weight(&self, to: usize, from: usize) -> usize {
        CONVOY * (to * self.nodes + from)
    }
    /// q and p, and behind them what rounding took from each.
    pub(super) fn state(&self, k: usize) -> usize {
        CONVOY * k
    }
    pub(super) fn lost(&self, k: usize) -> usize {
        CONVOY * (2 * self.n + k)
    }
    pub(super) fn kept(&self, index: usize, node: usize) -> usize {
        CONVOY * (4 * self.n + index * self.nodes + node)
    }
    /// What is kept of the start of the step.
    pub(super) fn base(&self, index: usize) -> usize {
        self.kept(self.kept, 0) + CONVOY * index
    }
    /// What a task turns.
    pub(super) fn known(&self, task: Task, index: usize, node: usize) -> usize {
        match task {
            Task::Ahead | Task::Wide => self.base(index),
            _ => self.kept(index, node),
        }
    }
    /// How far angles were turned in a wide sweep and in the last one.
    pub(super) fn turn(&self, task: Task) -> usize {
        self.base(self.kept) + if task == Task::Wide { 0 } else { CONVOY }
    }
    pub(super) fn all(&self) -> usize {
        self.turn(Task::Last) + CONVOY
    }
}

/// Weights of a step, for each lane.
#[derive(Clone, Debug)]
struct LaneWeights {
    /// To nodes, from rates of the step before.
    ahead: Aligned,
    /// To nodes, and to the end of the step.
    within: Aligned,
    end: Aligned,
}

/// The weights of a method for a step of size 1; rows are nodes that something is added to.
#[derive(Clone, Debug)]
pub struct Sailing {
    /// From rates of the step before to nodes.
    pub ahead: Vec<Vec<f64>>,
    /// From rates to nodes.
    pub within: Vec<Vec<f64>>,
    /// From rates to the end.
    pub end: Vec<f64>,
}

/// Eight trajectories and the nodes of their steps.
#[derive(Clone, Debug)]
pub struct Convoy {
    berths: Berths,
    sailing: Sailing,
    weights: LaneWeights,
    rates: Aligned,
    next_rates: Aligned,
    /// States, what is kept, and turns.
    numbers: Aligned,
    energies: Aligned,
    /// Of the tape of each task, with the parameters of each lane.
    evaluators: [Vec<Evaluator<f64>>; TASKS],
    registers: [Aligned; TASKS],
    code: Option<Vec<Arc<Code>>>,
    scratch: Vec<f64>,
    point: Point,
}

/// Where the interpreter evaluates.
#[derive(Clone, Debug)]
struct Point {
    q: Vec<f64>,
    p: Vec<f64>,
    outputs: Vec<f64>,
}

impl Convoy {
    /// Trajectories of a motion with a method; all have these parameters to begin with.
    pub fn new(current: &Current, sailing: Sailing, parameters: &[f64], backend: Option<Backend>) -> Self {
        let berths = Berths { n: current.n, nodes: sailing.end.len(), kept: current.kept };
        let tapes =
            [&current.fresh, &current.ahead, &current.wide, &current.rough, &current.last, &current.arrive];
        let make = |task: Task| Code::convoy(tapes[task as usize], &berths, task).map(Arc::new);
        let wanted = tapes.iter().all(|tape| Evaluator::<f64>::wants_code(tape, backend));
        let code: Option<Vec<_>> = if wanted { Task::ALL.into_iter().map(make).collect() } else { None };
        let scratch = code.iter().flatten().map(|code| code.scratch()).max().unwrap_or(0);
        let of_nodes = || Aligned::zeros(berths.weight(berths.nodes, 0));
        let all = current.n + current.kept;
        let mut made = Self {
            weights: LaneWeights {
                ahead: of_nodes(),
                within: of_nodes(),
                end: Aligned::zeros(berths.weight(1, 0)),
            },
            rates: Aligned::zeros(berths.rates()),
            next_rates: Aligned::zeros(berths.rates()),
            numbers: Aligned::zeros(berths.all()),
            energies: Aligned::zeros(2 * CONVOY),
            evaluators: tapes.map(|tape| vec![Evaluator::new(tape.clone(), parameters); CONVOY]),
            registers: tapes.map(|tape| Aligned::zeros(CONVOY * tape.registers)),
            code,
            scratch: vec![0.0; scratch],
            point: Point {
                q: vec![0.0; all],
                p: vec![0.0; all],
                outputs: vec![0.0; 2 * current.n + 2 * current.kept + 2],
            },
            berths,
            sailing,
        };
        (0..CONVOY).for_each(|lane| made.assign(lane, None));
        made
    }

    /// Gives a lane other parameters.
    pub fn assign(&mut self, lane: usize, parameters: Option<&[f64]>) {
        for (evaluators, registers) in self.evaluators.iter_mut().zip(&mut self.registers) {
            if let Some(parameters) = parameters {
                evaluators[lane].assign(parameters);
            }
            let places = registers[lane..].iter_mut().step_by(CONVOY);
            places.zip(evaluators[lane].registers()).for_each(|(place, x)| *place = *x);
        }
    }
    /// Gives a lane a step size. With none it stays where it is.
    pub fn resize(&mut self, lane: usize, h: f64) {
        let Self { weights, sailing, berths, .. } = self;
        for (place, weight) in sailing.end.iter().enumerate() {
            weights.end[berths.weight(0, place) + lane] = h * weight;
        }
        for (to, (ahead, within)) in sailing.ahead.iter().zip(&sailing.within).enumerate() {
            for from in 0..berths.nodes {
                let place = berths.weight(to, from) + lane;
                weights.ahead[place] = h * ahead[from];
                weights.within[place] = h * within[from];
            }
        }
    }
    /// Puts a lane at a state, with nothing known of steps before.
    pub fn place(&mut self, lane: usize, q: &[f64], p: &[f64]) {
        let numbers = self.numbers[lane..].iter_mut().step_by(CONVOY);
        let zeros = std::iter::repeat_n(&0.0, 2 * q.len());
        numbers.zip(q.iter().chain(p).chain(zeros)).for_each(|(place, x)| *place = *x);
        self.rates[lane..].iter_mut().step_by(CONVOY).for_each(|place| *place = 0.0);
        // a first step has no wide turn
        let place = self.berths.turn(Task::Wide) + lane;
        self.numbers[place] = 0.0;
    }
    /// Puts a lane where one of another convoy is; its parameters and step size are left to others.
    pub fn follow(&mut self, lane: usize, other: &Self, from: usize) {
        let states = 0..4 * self.berths.n;
        for place in states.map(|k| self.berths.state(k)) {
            self.numbers[place + lane] = other.numbers[place + from];
        }
        for place in (0..self.rates.len()).step_by(CONVOY) {
            self.rates[place + lane] = other.rates[place + from];
        }
        for place in (self.berths.kept(0, 0)..self.berths.turn(Task::Wide)).step_by(CONVOY) {
            self.numbers[place + lane] = other.numbers[place + from];
        }
    }
    /// Copies the state of a lane.
    pub fn state(&self, lane: usize, q: &mut [f64], p: &mut [f64]) {
        let numbers = self.numbers[lane..].iter().step_by(CONVOY);
        q.iter_mut().chain(p).zip(numbers).for_each(|(place, x)| *place = *x);
    }
    /// The energies after a step, then kinetic energies, of all lanes.
    pub fn energies(&self) -> &[f64] {
        &self.energies
    }
    /// How far angles of a lane were turned in the last sweep, at most, and before from the start of the step.
    pub fn turns(&self, lane: usize) -> [f64; 2] {
        [Task::Last, Task::Wide].map(|task| self.numbers[self.berths.turn(task) + lane])
    }

    /// A sweep that goes on from the step before, with its rates, and with the sines and cosines of its end turned.
    pub fn go_ahead(&mut self) {
        self.run(Task::Ahead, true);
    }
    /// The same with those of its nodes turned, by whatever angle.
    pub fn go_ahead_by_nodes(&mut self) {
        self.run(Task::Last, true);
    }
    /// A sweep with the sines and cosines of the start of the step turned, as exactly as they are there.
    pub fn spread(&mut self) {
        self.run(Task::Wide, false);
    }
    /// A sweep that evaluates everything.
    pub fn evaluate(&mut self) {
        self.run(Task::Fresh, false);
    }
    /// A sweep that refines the last one.
    pub fn refine(&mut self) {
        self.run(Task::Rough, false);
    }
    /// A sweep that refines the last one to the end.
    pub fn settle(&mut self) {
        self.run(Task::Last, false);
    }
    /// Goes to the end of the step.
    pub fn arrive(&mut self) {
        self.run(Task::Arrive, false);
    }

    fn run(&mut self, task: Task, ahead: bool) {
        if !self.run_code(task, ahead) {
            (0..CONVOY).for_each(|lane| self.interpret(task, ahead, lane));
        }
        if task != Task::Arrive {
            std::mem::swap(&mut self.rates, &mut self.next_rates);
        }
    }

    fn run_code(&mut self, task: Task, ahead: bool) -> bool {
        let Self {
            code: Some(code), weights, registers, rates, next_rates, numbers, energies, scratch, ..
        } = self
        else {
            return false;
        };
        let (v, outputs) = match task {
            Task::Arrive => (&weights.end, energies),
            _ if ahead => (&weights.ahead, next_rates),
            _ => (&weights.within, next_rates),
        };
        code[task as usize].run(Arrays {
            registers: &mut registers[task as usize],
            q: rates,
            v,
            t: &[0.0; CONVOY],
            outputs,
            changes: numbers,
            scratch,
        })
    }

    /// What code does, for one lane.
    fn interpret(&mut self, task: Task, ahead: bool, lane: usize) {
        if task == Task::Arrive {
            return self.interpret_arrival(lane);
        }
        let Self { berths, weights, evaluators, rates, next_rates, numbers, point, .. } = self;
        let weights = if ahead { &weights.ahead } else { &weights.within };
        let Point { q, p, outputs } = point;
        let n = berths.n;
        let all = if task == Task::Fresh { n } else { q.len() };
        let mut turn = 0.0;
        for node in 0..berths.nodes {
            for k in 0..2 * n {
                let lost = numbers[berths.lost(k) + lane];
                let weight = |from: usize| weights[berths.weight(node, from) + lane];
                let sum = weighted(Some(lost), berths, &|j| rates[berths.rate(k, j) + lane], &weight);
                let place = if k < n { &mut q[k] } else { &mut p[k - n] };
                *place = numbers[berths.state(k) + lane] + sum;
            }
            let known = |index| berths.known(task, index, node);
            (0..all - n).for_each(|index| q[n + index] = numbers[known(index) + lane]);
            evaluators[task as usize][lane].evaluate(&q[..all], &p[..all], &0.0, outputs);
            let (found, rest) = outputs.split_at(2 * n);
            for (k, rate) in found.iter().enumerate() {
                next_rates[berths.rate(k, node) + lane] = *rate;
            }
            let kept = if task.keeps() { berths.kept } else { 0 };
            for (index, kept) in rest[..kept].iter().enumerate() {
                numbers[berths.kept(index, node) + lane] = *kept;
            }
            if task.tells() {
                let turns = rest[kept..][..berths.kept / 3].iter().map(|by| by.abs());
                turn = larger(turn, turns.fold(0.0, larger));
            }
        }
        if task.tells() {
            numbers[berths.turn(task) + lane] = turn;
        }
    }

    fn interpret_arrival(&mut self, lane: usize) {
        let Self { berths, weights, evaluators, rates, numbers, point, energies, .. } = self;
        let n = berths.n;
        for k in 0..2 * n {
            let weight = |from: usize| weights.end[berths.weight(0, from) + lane];
            let increment = weighted(None, berths, &|j| rates[berths.rate(k, j) + lane], &weight);
            let [x, lost] = [berths.state(k), berths.lost(k)].map(|place| numbers[place + lane]);
            let [x, lost] = arrived(x, lost, increment);
            (numbers[berths.state(k) + lane], numbers[berths.lost(k) + lane]) = (x, lost);
            *(if k < n { &mut point.q[k] } else { &mut point.p[k - n] }) = x;
        }
        let outputs = &mut point.outputs[..2 + berths.kept];
        evaluators[Task::Arrive as usize][lane].evaluate(&point.q[..n], &point.p[..n], &0.0, outputs);
        (energies[lane], energies[CONVOY + lane]) = (outputs[0], outputs[1]);
        for (index, kept) in outputs[2..].iter().enumerate() {
            numbers[berths.base(index) + lane] = *kept;
        }
    }
}

/// The larger one, or the second if one is no number, as processors have it.
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Σ_j weight · rate, added to something.
fn weighted(
    start: Option<f64>,
    berths: &Berths,
    rate: &dyn Fn(usize) -> f64,
    weight: &dyn Fn(usize) -> f64,
) -> f64 {
    let mut product = |sum: Option<f64>, j: usize| match sum {
        Some(sum) => rate(j).mul_add(weight(j), sum),
        None => rate(j) * weight(j),
    };
    sum_of_products(start, 0, berths.nodes, &mut product, &mut |a, b| a + b)
}

/// A number and what rounding took from it, after an increment; for numbers and for code.
pub(super) fn arrived<X>(x: X, lost: X, increment: X) -> [X; 2]
where
    X: Copy + std::ops::Add<Output = X> + std::ops::Sub<Output = X>,
{
    let y = lost + increment;
    let sum = x + y;
    let part = sum - x;
    [sum, (x - (sum - part)) + (y - part)]
}
