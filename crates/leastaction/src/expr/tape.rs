//! The tape: chosen nodes of a graph as a straight list of instructions over numbered registers.
//!
//! [`Tape`] is independent of number type and parameter values. [`Evaluator`] is a tape with registers of one
//! number type and the parameters filled in; what depends on parameters alone is computed once, when they are.
//! Registers are reused as soon as their value is spent, so a tape of a long chain stays in the cache.

use super::graph::{Binary, Graph, Node, NodeId, Unary};
use super::layout::Layout;
use super::native::{Arrays, Backend, Code};
use super::stage::{StageCode, Staging};
use crate::scalar::Real;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What an instruction does. Flat, so that the interpreter has one jump to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Action {
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    /// a·b + c, rounded once.
    MulAdd,
    /// a·b − c, rounded once.
    MulSub,
    /// c − a·b, rounded once.
    MulFrom,
    /// Output number `target` receives register `a`.
    Store,
    /// Sine of register `a` into `target` and its cosine into `b`.
    SinCos,
    /// Any other function of one operand.
    Unary(Unary),
    /// Any other function of two operands.
    Binary(Binary),
}

impl Action {
    fn of(node: Node) -> Self {
        match node {
            Node::Binary(Binary::Add, ..) => Self::Add,
            Node::Binary(Binary::Sub, ..) => Self::Sub,
            Node::Binary(Binary::Mul, ..) => Self::Mul,
            Node::Binary(Binary::Div, ..) => Self::Div,
            Node::Unary(Unary::Neg, _) => Self::Neg,
            Node::Binary(op, ..) => Self::Binary(op),
            Node::Unary(op, _) => Self::Unary(op),
            // inputs and constants have registers of their own and are never emitted
            _ => Self::Store,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub(super) action: Action,
    pub(super) target: u32,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) c: u32,
}

/// A value that a register holds from the start.
#[derive(Clone, Debug)]
enum Constant {
    Number(f64),
    Decimal(String),
    Pi,
    Parameter(u32),
}

/// Instructions that compute chosen nodes from (q, v, t) and parameters.
///
/// Registers: q, v, t; then constants, parameters and what follows from them; then intermediate results.
#[derive(Clone, Debug)]
pub struct Tape {
    pub(super) coordinates: usize,
    constants: Vec<(u32, Constant)>,
    /// Run once per parameter set.
    prologue: Vec<Instruction>,
    /// Run at every evaluation.
    pub(super) body: Vec<Instruction>,
    pub(super) registers: usize,
    pub(super) outputs: usize,
    /// Machine code of the body, made where it is first asked for.
    code: OnceLock<Option<Arc<Code>>>,
    /// Machine code of sweeps over nodes, by the number of nodes.
    sweeps: Arc<Mutex<Vec<SweepCode>>>,
    /// Machine code of stages, for equal masses and for others.
    stages: [OnceLock<Option<Arc<Code>>>; 2],
    /// Machine code for four states.
    four: OnceLock<Option<Arc<Code>>>,
}

/// Machine code of a sweep over so many nodes, if there can be any.
type SweepCode = (Layout, Option<Arc<Code>>);

impl Tape {
    /// The tape that computes `outputs` from n coordinates.
    pub fn new(graph: &Graph, coordinates: usize, outputs: &[NodeId]) -> Self {
        Compiler::new(graph, coordinates, outputs).compile(outputs)
    }
    /// How many instructions an evaluation runs.
    pub fn len(&self) -> usize {
        self.body.len()
    }

    /// How much machine code it would become, in instructions of a sum.
    fn weight(&self) -> usize {
        let function =
            |i: &&Instruction| matches!(i.action, Action::SinCos | Action::Unary(_) | Action::Binary(_));
        self.body.len() + (WEIGHT_OF_FUNCTION - 1) * self.body.iter().filter(function).count()
    }
    /// Whether an evaluation has nothing to do.
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }
    /// How many numbers an evaluation gives.
    pub fn outputs(&self) -> usize {
        self.outputs
    }
    /// Whether evaluations in `f64` may run as machine code.
    pub fn is_compiled(&self) -> bool {
        self.code.get().is_some_and(Option::is_some)
    }
    /// The machine code, if this machine can run it.
    fn code(&self) -> Option<Arc<Code>> {
        self.code.get_or_init(|| Code::new(self).map(Arc::new)).clone()
    }
    /// The machine code for four states side by side.
    fn code_for_four(&self) -> Option<Arc<Code>> {
        self.four.get_or_init(|| Code::four(self).map(Arc::new)).clone()
    }
    /// The machine code of a stage, made once for all who ask.
    pub(super) fn stage_code(&self, staging: Staging) -> Option<Arc<Code>> {
        let known = &self.stages[usize::from(staging.equal_masses)];
        known.get_or_init(|| Code::stage(self, staging).map(Arc::new)).clone()
    }
    /// The machine code of a sweep, made once for all who ask.
    pub(super) fn sweep_code(&self, layout: &Layout) -> Option<Arc<Code>> {
        let mut known = self.sweeps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, code)) = known.iter().find(|(made_for, _)| made_for == layout) {
            return code.clone();
        }
        let code = Code::sweep(self, layout).map(Arc::new);
        known.push((layout.clone(), code.clone()));
        code
    }
}

const UNPLACED: u32 = u32::MAX;

struct Compiler<'g> {
    graph: &'g Graph,
    /// node → register
    place: Vec<u32>,
    /// how many instructions of the body still read a node
    uses: Vec<u32>,
    /// for a sum or a difference the term that is a product and is never rounded by itself
    fused: FxHashMap<NodeId, NodeId>,
    free: Vec<u32>,
    tape: Tape,
}

impl<'g> Compiler<'g> {
    fn new(graph: &'g Graph, coordinates: usize, outputs: &[NodeId]) -> Self {
        let tape = Tape {
            coordinates,
            constants: Vec::new(),
            prologue: Vec::new(),
            body: Vec::new(),
            registers: 2 * coordinates + 1,
            outputs: outputs.len(),
            code: OnceLock::new(),
            sweeps: Arc::default(),
            stages: Default::default(),
            four: OnceLock::new(),
        };
        let mut compiler = Self {
            graph,
            place: vec![UNPLACED; graph.len()],
            uses: vec![0; graph.len()],
            fused: FxHashMap::default(),
            free: Vec::new(),
            tape,
        };
        compiler.count_uses(outputs);
        compiler.fuse();
        compiler
    }

    /// Finds sums and differences of the body with a product that nobody else reads. Of two products the one that is ready last is fused, because the
    /// other has to be rounded before.
    fn fuse(&mut self) {
        let mut depth = vec![0u32; self.graph.len()];
        for (place, uses) in self.uses.iter().enumerate() {
            let id = NodeId(place as u32);
            if *uses == 0 || self.graph.is_fixed(id) {
                continue;
            }
            let node = self.graph.node(id);
            depth[place] = operands(node).map(|operand| depth[operand.0 as usize] + 1).max().unwrap_or(0);
            let Node::Binary(Binary::Add | Binary::Sub, a, b) = node else { continue };
            let is_product = |term: &NodeId| {
                let computed = matches!(self.graph.node(*term), Node::Binary(Binary::Mul, ..));
                computed && self.uses[term.0 as usize] == 1 && !self.graph.is_fixed(*term)
            };
            let product = [a, b].into_iter().filter(is_product).max_by_key(|term| depth[term.0 as usize]);
            if let Some(product) = product {
                self.fused.insert(id, product);
            }
        }
    }

    /// What an instruction for a node does, and what it reads.
    fn reads(&self, id: NodeId) -> (Action, [Option<NodeId>; 3]) {
        let node = self.graph.node(id);
        if let Node::Binary(op, x, y) = node
            && let Some(&product) = self.fused.get(&id)
            && let Node::Binary(_, a, b) = self.graph.node(product)
        {
            let (action, c) = match (op, product == x) {
                (Binary::Add, true) => (Action::MulAdd, y),
                (Binary::Add, false) => (Action::MulAdd, x),
                (_, true) => (Action::MulSub, y),
                (_, false) => (Action::MulFrom, x),
            };
            return (action, [Some(a), Some(b), Some(c)]);
        }
        let mut list = operands(node);
        (Action::of(node), [list.next(), list.next(), None])
    }

    /// Counts the readers of every node that the body will compute.
    fn count_uses(&mut self, outputs: &[NodeId]) {
        let mut stack: Vec<NodeId> = Vec::new();
        let read = |uses: &mut Vec<u32>, stack: &mut Vec<NodeId>, id: NodeId| {
            uses[id.0 as usize] += 1;
            if uses[id.0 as usize] == 1 {
                stack.push(id);
            }
        };
        for &id in outputs {
            read(&mut self.uses, &mut stack, id);
        }
        while let Some(id) = stack.pop() {
            if !self.graph.is_fixed(id) {
                for operand in operands(self.graph.node(id)) {
                    read(&mut self.uses, &mut stack, operand);
                }
            }
        }
    }

    fn compile(mut self, outputs: &[NodeId]) -> Tape {
        self.place_fixed(outputs);
        for (k, &output) in outputs.iter().enumerate() {
            self.emit(output);
            let a = self.register_of(output);
            self.tape.body.push(Instruction { action: Action::Store, target: k as u32, a, b: 0, c: 0 });
            self.release(output);
        }
        self.tape
    }

    /// Gives a lasting register to every constant, parameter and prologue result that is needed. All of them come
    /// before the first intermediate result, whose registers are reused.
    fn place_fixed(&mut self, outputs: &[NodeId]) {
        let mut visited = vec![false; self.graph.len()];
        let mut stack: Vec<NodeId> = outputs.to_vec();
        let mut fixed = Vec::new();
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut visited[id.0 as usize], true) {
                continue;
            }
            if self.graph.is_fixed(id) {
                fixed.push(id);
            }
            stack.extend(operands(self.graph.node(id)));
        }
        fixed.sort_unstable();
        for id in fixed {
            let target = self.tape.registers as u32;
            self.tape.registers += 1;
            self.place[id.0 as usize] = target;
            let constant = match self.graph.node(id) {
                Node::Number(bits) => Constant::Number(f64::from_bits(bits)),
                Node::Decimal(index) => Constant::Decimal(self.graph.decimal_text(index).to_owned()),
                Node::Pi => Constant::Pi,
                Node::Parameter(index) => Constant::Parameter(index),
                _ => {
                    let instruction = self.instruction(id, target);
                    self.tape.prologue.push(instruction);
                    continue;
                }
            };
            self.tape.constants.push((target, constant));
        }
    }

    /// Emits what `root` needs, operands first, without recursion: sums of chains are ten thousand deep.
    fn emit(&mut self, root: NodeId) {
        let mut stack = vec![(root, false)];
        while let Some((id, ready)) = stack.pop() {
            if self.is_placed(id) {
                continue;
            }
            if ready {
                self.emit_one(id);
            } else {
                stack.push((id, true));
                // the last operand is emitted first, so that left-leaning sums run from their start
                for operand in self.reads(id).1.into_iter().flatten() {
                    if !self.is_placed(operand) {
                        stack.push((operand, false));
                    }
                }
            }
        }
    }

    fn emit_one(&mut self, id: NodeId) {
        let node = self.graph.node(id);
        if let Some((sine, cosine, operand)) = self.sine_and_cosine(node) {
            let a = self.register_of(operand);
            // each of the two functions was counted as a reader
            self.release(operand);
            self.release(operand);
            let (target, b) = (self.fresh_register(), self.fresh_register());
            self.place[sine.0 as usize] = target;
            self.place[cosine.0 as usize] = b;
            self.tape.body.push(Instruction { action: Action::SinCos, target, a, b, c: 0 });
            return;
        }
        let mut instruction = self.instruction(id, UNPLACED);
        for operand in self.reads(id).1.into_iter().flatten() {
            self.release(operand);
        }
        let target = self.fresh_register();
        self.place[id.0 as usize] = target;
        instruction.target = target;
        self.tape.body.push(instruction);
    }

    fn fresh_register(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.tape.registers += 1;
            self.tape.registers as u32 - 1
        })
    }

    /// Sine, cosine and their operand, if the node is one of the two and the tape needs the other as well.
    fn sine_and_cosine(&self, node: Node) -> Option<(NodeId, NodeId, NodeId)> {
        let Node::Unary(Unary::Sin | Unary::Cos, operand) = node else { return None };
        let sine = self.graph.find(Node::Unary(Unary::Sin, operand))?;
        let cosine = self.graph.find(Node::Unary(Unary::Cos, operand))?;
        let needed = |id: NodeId| self.uses[id.0 as usize] > 0 && !self.is_placed(id);
        (needed(sine) && needed(cosine)).then_some((sine, cosine, operand))
    }

    /// One reader of a node is done; the last one frees its register.
    fn release(&mut self, id: NodeId) {
        let uses = &mut self.uses[id.0 as usize];
        *uses -= 1;
        let computed = matches!(self.graph.node(id), Node::Unary(..) | Node::Binary(..));
        if *uses == 0 && computed && !self.graph.is_fixed(id) {
            self.free.push(self.place[id.0 as usize]);
        }
    }

    fn is_placed(&self, id: NodeId) -> bool {
        match self.graph.node(id) {
            Node::Coordinate(_) | Node::Velocity(_) | Node::Time => true,
            _ => self.place[id.0 as usize] != UNPLACED,
        }
    }

    fn register_of(&self, id: NodeId) -> u32 {
        let n = self.tape.coordinates as u32;
        match self.graph.node(id) {
            Node::Coordinate(i) => i,
            Node::Velocity(i) => n + i,
            Node::Time => 2 * n,
            _ => self.place[id.0 as usize],
        }
    }

    fn instruction(&self, id: NodeId, target: u32) -> Instruction {
        let (action, operands) = self.reads(id);
        let [a, b, c] = operands.map(|operand| operand.map_or(0, |id| self.register_of(id)));
        Instruction { action, target, a, b, c }
    }
}

/// The operands of a node.
pub(super) fn operands(node: Node) -> impl Iterator<Item = NodeId> {
    let pair = match node {
        Node::Unary(_, a) => [Some(a), None],
        Node::Binary(_, a, b) => [Some(a), Some(b)],
        _ => [None, None],
    };
    pair.into_iter().flatten()
}

/// A tape with registers, ready to run for one set of parameters.
#[derive(Clone, Debug)]
pub struct Evaluator<R> {
    tape: Arc<Tape>,
    pub(super) registers: Vec<R>,
    /// Only in `f64`, and only if it was asked for.
    code: Option<Arc<Code>>,
    /// Memory for the code to put values aside.
    scratch: Vec<f64>,
    pub(super) stages: Option<StageCode>,
}

/// Longer tapes are interpreted unless machine code is asked for: compiling them would take longer than most runs gain. A chain of 10,000 particles
/// has 120,000 instructions and wins back in 40 steps of order 6 what its code costs.
const LONGEST_COMPILED: usize = 250_000;
/// A sine or another function becomes about so many times the code of a sum.
const WEIGHT_OF_FUNCTION: usize = 20;

impl<R: Real> Evaluator<R> {
    /// Like [`new`](Self::new), for a tape that will run many times: as machine code if this machine can and the back end is not
    /// the interpreter. Without a choice of back end only tapes up to a certain length are compiled.
    pub fn compiled(tape: Arc<Tape>, parameters: &[R], backend: Option<Backend>) -> Self {
        let wanted = Self::wants_code(&tape, backend) && R::as_f64s(&[]).is_some();
        let code = if wanted { tape.code() } else { None };
        let scratch = vec![0.0; code.as_ref().map_or(0, |code| code.scratch())];
        Self { code, scratch, ..Self::new(tape, parameters) }
    }

    /// Makes machine code of stages whose forces the outputs are, if there is machine code of the tape.
    pub fn with_stages(self, equal_masses: bool) -> Self {
        let staging = Staging { n: self.tape.coordinates, equal_masses };
        let stages = self.code.as_ref().and_then(|_| StageCode::new(&self.tape, staging));
        Self { stages, ..self }
    }

    /// Whether a tape that will run many times should have machine code.
    pub(super) fn wants_code(tape: &Tape, backend: Option<Backend>) -> bool {
        match backend {
            Some(Backend::Interpreter) => false,
            Some(Backend::Native) => true,
            None => tape.weight() <= LONGEST_COMPILED,
        }
    }

    /// Machine code for four states side by side, where there is code for one.
    pub(super) fn code_for_four(&self) -> Option<Arc<Code>> {
        self.code.as_ref().and_then(|_| self.tape.code_for_four())
    }
    /// The registers, with parameters and what follows from them filled in.
    pub(super) fn registers(&self) -> &[R] {
        &self.registers
    }

    /// Fills in the parameters and computes what depends on them alone.
    pub fn new(tape: Arc<Tape>, parameters: &[R]) -> Self {
        let mut registers = vec![R::zero(); tape.registers];
        for (target, constant) in &tape.constants {
            registers[*target as usize] = match constant {
                Constant::Number(x) => R::from_f64(*x),
                Constant::Decimal(text) => R::from_decimal(text),
                Constant::Pi => R::pi(),
                Constant::Parameter(index) => parameters[*index as usize].clone(),
            };
        }
        run(&tape.prologue, &mut registers, &mut []);
        Self { tape, registers, code: None, scratch: Vec::new(), stages: None }
    }

    /// Replaces the parameters, and what depends on them alone.
    pub fn assign(&mut self, parameters: &[R]) {
        for (target, constant) in &self.tape.constants {
            if let Constant::Parameter(index) = constant {
                self.registers[*target as usize] = parameters[*index as usize].clone();
            }
        }
        run(&self.tape.prologue, &mut self.registers, &mut []);
    }

    /// Evaluates the tape at (q, v, t).
    pub fn evaluate(&mut self, q: &[R], v: &[R], t: &R, outputs: &mut [R]) {
        if let Some(code) = &self.code
            && let (Some(registers), Some(q), Some(v), Some([t]), Some(outputs)) = (
                R::as_f64s_mut(&mut self.registers),
                R::as_f64s(q),
                R::as_f64s(v),
                R::as_f64s(std::slice::from_ref(t)),
                R::as_f64s_mut(outputs),
            )
        {
            let arrays =
                Arrays { registers, q, v, t: &[*t], outputs, changes: &mut [], scratch: &mut self.scratch };
            if code.run(arrays) {
                return;
            }
        }
        let n = self.tape.coordinates;
        self.registers[..n].clone_from_slice(q);
        self.registers[n..2 * n].clone_from_slice(v);
        self.registers[2 * n] = t.clone();
        run(&self.tape.body, &mut self.registers, outputs);
    }

    /// How many numbers an evaluation gives.
    pub fn outputs(&self) -> usize {
        self.tape.outputs
    }
}

/// The interpreter.
fn run<R: Real>(instructions: &[Instruction], registers: &mut [R], outputs: &mut [R]) {
    for instruction in instructions {
        let a = &registers[instruction.a as usize];
        let b = &registers[instruction.b as usize];
        let c = &registers[instruction.c as usize];
        let value = match instruction.action {
            Action::Add => a.clone() + b.clone(),
            Action::Sub => a.clone() - b.clone(),
            Action::Mul => a.clone() * b.clone(),
            Action::Div => a.clone() / b.clone(),
            Action::Neg => -a.clone(),
            Action::MulAdd => a.times_plus(b, c),
            Action::MulSub => a.times_plus(b, &-c.clone()),
            Action::MulFrom => (-a.clone()).times_plus(b, c),
            Action::Store => {
                outputs[instruction.target as usize] = a.clone();
                continue;
            }
            Action::SinCos => {
                let (sin, cos) = a.sin_cos();
                registers[instruction.b as usize] = cos;
                sin
            }
            Action::Unary(op) => apply_unary(op, a),
            Action::Binary(op) => apply_binary(op, a, b),
        };
        registers[instruction.target as usize] = value;
    }
}

/// The functions of one operand, out of the interpreter's way.
#[inline(never)]
fn apply_unary<R: Real>(op: Unary, a: &R) -> R {
    match op {
        Unary::Neg => -a.clone(),
        Unary::Sqrt => a.sqrt(),
        Unary::Exp => a.exp(),
        Unary::Ln => a.ln(),
        Unary::Sin => a.sin(),
        Unary::Cos => a.cos(),
        Unary::Tan => a.tan(),
        Unary::Asin => a.asin(),
        Unary::Acos => a.acos(),
        Unary::Atan => a.atan(),
        Unary::Sinh => a.sinh(),
        Unary::Cosh => a.cosh(),
        Unary::Tanh => a.tanh(),
        Unary::Abs => a.abs(),
        Unary::Sign => a.sign(),
        Unary::PowerOfTwo => a.power_of_two(),
    }
}

/// The rarer functions of two operands.
#[inline(never)]
fn apply_binary<R: Real>(op: Binary, a: &R, b: &R) -> R {
    match op {
        Binary::Add => a.clone() + b.clone(),
        Binary::Sub => a.clone() - b.clone(),
        Binary::Mul => a.clone() * b.clone(),
        Binary::Div => a.clone() / b.clone(),
        Binary::Atan2 => a.atan2(b),
        Binary::Pow => a.pow(b),
    }
}
