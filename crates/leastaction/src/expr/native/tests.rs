//! Machine code and interpreter give the same bits.

use super::Backend;
use crate::expr::graph::{Binary, Graph, NodeId, Unary};
use crate::expr::tape::{Evaluator, Tape};
use std::sync::Arc;

const N: usize = 3;

const UNARY: [Unary; 16] = [
    Unary::Neg,
    Unary::Sqrt,
    Unary::Exp,
    Unary::Ln,
    Unary::Sin,
    Unary::Cos,
    Unary::Tan,
    Unary::Asin,
    Unary::Acos,
    Unary::Atan,
    Unary::Sinh,
    Unary::Cosh,
    Unary::Tanh,
    Unary::Abs,
    Unary::Sign,
    Unary::PowerOfTwo,
];

/// A small generator of numbers (xorshift).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
    fn unit(&mut self) -> f64 {
        self.below(1 << 53) as f64 / (1u64 << 53) as f64
    }
    /// An ordinary number mostly, sometimes a strange one.
    pub(super) fn number(&mut self, strange: bool) -> f64 {
        const STRANGE: [f64; 14] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            5e-324,
            -1e-310,
            1e308,
            -1e22,
            1e10,
            std::f64::consts::PI,
            -std::f64::consts::FRAC_PI_2,
        ];
        if strange && self.below(3) == 0 {
            STRANGE[self.below(STRANGE.len())]
        } else {
            6.0 * self.unit() - 3.0
        }
    }
}

/// A graph of random operations, and some of its nodes.
fn random_graph(random: &mut Random, operations: usize) -> (Graph, Vec<NodeId>) {
    let mut graph = Graph::new();
    let mut nodes = vec![graph.time(), graph.parameter(0), graph.parameter(1), graph.pi()];
    for i in 0..N {
        nodes.push(graph.coordinate(i));
        nodes.push(graph.velocity(i));
    }
    nodes.push(graph.number(0.3));
    nodes.push(graph.decimal("0.7"));
    for _ in 0..operations {
        // recent ones more often, so that the graph is deep
        let pick = |random: &mut Random| {
            let start = if random.below(2) == 0 { nodes.len().saturating_sub(6) } else { 0 };
            nodes[start + random.below(nodes.len() - start)]
        };
        let (a, b) = (pick(random), pick(random));
        let node = match random.below(10) {
            0 | 1 => graph.add(a, b),
            2 => graph.sub(a, b),
            3 | 4 => graph.mul(a, b),
            5 => graph.div(a, b),
            6 => match random.below(4) {
                0 => graph.atan2(a, b),
                1 => graph.pow(a, b),
                _ => graph.unary(Unary::Sin, a),
            },
            7 => graph.unary(Unary::Cos, a),
            _ => graph.unary(UNARY[random.below(UNARY.len())], a),
        };
        nodes.push(node);
    }
    let outputs = (0..1 + operations / 3).map(|_| nodes[random.below(nodes.len())]).collect();
    (graph, outputs)
}

pub(super) fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Sums and differences of products of few numbers, some of which are read again, much later or twice by one instruction.
fn random_products(random: &mut Random, operations: usize) -> (Graph, Vec<NodeId>) {
    let mut graph = Graph::new();
    let mut nodes = vec![graph.parameter(0), graph.number(0.3)];
    nodes.extend((0..N).flat_map(|i| [graph.coordinate(i), graph.velocity(i)]));
    for _ in 0..operations {
        let [a, b, c] = [0; 3].map(|_| nodes[random.below(nodes.len())]);
        let product = graph.mul(a, if random.below(4) == 0 { a } else { b });
        let node = match random.below(3) {
            0 => graph.add(product, c),
            1 => graph.sub(product, c),
            _ => graph.sub(c, product),
        };
        nodes.push(node);
    }
    (graph, nodes)
}

fn compare(seed: u64, operations: usize, evaluations: usize) {
    let mut random = Random(seed);
    let made = random_graph(&mut random, operations);
    compare_graph(seed, &mut random, made, evaluations);
}

fn compare_graph(seed: u64, random: &mut Random, (graph, outputs): (Graph, Vec<NodeId>), evaluations: usize) {
    let tape = Arc::new(Tape::new(&graph, N, &outputs));
    let parameters = [random.number(true), random.number(false)];
    let mut interpreter = Evaluator::new(tape.clone(), &parameters);
    let mut native = Evaluator::compiled(tape.clone(), &parameters, Some(Backend::Native));
    assert!(tape.is_compiled());
    #[cfg(feature = "cranelift")]
    let (cranelift, mut registers) =
        (super::cranelift::Code::new(&tape).unwrap(), interpreter.registers().to_vec());
    let (mut right, mut found) = (vec![0.0; outputs.len()], vec![0.0; outputs.len()]);
    for k in 0..evaluations {
        let mut list = || [0; N].map(|_| random.number(k % 2 == 1));
        let (q, v, t) = (list(), list(), list()[0]);
        interpreter.evaluate(&q, &v, &t, &mut right);
        #[cfg(feature = "cranelift")]
        if cranelift.run(&mut registers, &q, &v, &t, &mut found) {
            assert!(right.iter().zip(&found).all(|(a, b)| same(*a, *b)), "seed {seed}: {right:?}, {found:?}");
        }
        native.evaluate(&q, &v, &t, &mut found);
        for (i, (a, b)) in right.iter().zip(&found).enumerate() {
            assert!(
                same(*a, *b),
                "seed {seed}, output {i} at {q:?} {v:?} {t}: {a:e} interpreted, {b:e} as machine code"
            );
        }
    }
}

#[test]
fn fused_products_have_the_same_bits_as_machine_code() {
    for seed in 1..=200 {
        let mut random = Random(seed * 0x9e37_79b9);
        let made = random_products(&mut random, 1 + (seed as usize * 5) % 70);
        compare_graph(seed, &mut random, made, 10);
    }
}

#[test]
fn random_graphs_have_the_same_bits_as_machine_code() {
    for seed in 1..=300 {
        compare(seed * 0x9e37_79b9, 3 + (seed as usize * 7) % 60, 20);
    }
}

/// The same random formula of neighbours for each of n particles, but for the ends, and what it needs more than once.
pub(super) fn random_chain(random: &mut Random, n: usize) -> (Graph, Vec<NodeId>) {
    let mut graph = Graph::new();
    let operations = 2 + random.below(12);
    let recipe: Vec<[usize; 3]> =
        (0..operations).map(|_| [12, 40, 40].map(|end| random.below(end))).collect();
    let formula = |graph: &mut Graph, inputs: Vec<NodeId>| {
        let mut nodes = inputs;
        for [op, a, b] in &recipe {
            let (a, b) = (nodes[a % nodes.len()], nodes[nodes.len() - 1 - b % nodes.len()]);
            let node = match op {
                0..=2 => graph.add(a, b),
                3 | 4 => graph.sub(a, b),
                5..=7 => graph.mul(a, b),
                8 => graph.div(a, b),
                9 => graph.unary(Unary::Sqrt, a),
                10 => graph.unary(Unary::Sin, a),
                _ => graph.unary(Unary::Cos, a),
            };
            nodes.push(node);
        }
        nodes[nodes.len() - 1]
    };
    let fixed = [graph.parameter(0), graph.number(0.3), graph.time()];
    let links: Vec<NodeId> = (0..=n)
        .map(|i| {
            let zero = graph.number(0.0);
            let left = if i == 0 { zero } else { graph.coordinate(i - 1) };
            let right = if i == n { zero } else { graph.coordinate(i) };
            formula(&mut graph, [&fixed[..], &[left, right]].concat())
        })
        .collect();
    let outputs = (0..n)
        .map(|i| {
            let (velocity, parameter) = (graph.velocity(i), graph.parameter(1));
            formula(&mut graph, vec![links[i + 1], links[i], velocity, parameter])
        })
        .collect();
    (graph, outputs)
}

#[test]
fn random_chains_have_the_same_bits_as_machine_code() {
    for seed in 1..=300 {
        let mut random = Random(seed * 0x51ed_2701);
        // long ones have loops
        let n = if seed % 3 == 0 { 40 + seed as usize % 97 } else { 1 + seed as usize % 23 };
        let (graph, outputs) = random_chain(&mut random, n);
        let tape = Arc::new(Tape::new(&graph, n, &outputs));
        let parameters = [random.number(false), random.number(true)];
        let mut interpreter = Evaluator::new(tape.clone(), &parameters);
        let mut native = Evaluator::compiled(tape, &parameters, Some(Backend::Native));
        let (mut right, mut found) = (vec![0.0; n], vec![0.0; n]);
        for k in 0..8 {
            let mut list = || (0..n).map(|_| random.number(k % 4 == 3)).collect::<Vec<f64>>();
            let (q, v) = (list(), list());
            interpreter.evaluate(&q, &v, &0.7, &mut right);
            native.evaluate(&q, &v, &0.7, &mut found);
            assert!(right.iter().zip(&found).all(|(a, b)| same(*a, *b)), "seed {seed}: {right:?}, {found:?}");
        }
    }
}

#[test]
fn long_tapes_pass_values_on_through_memory() {
    for seed in 1..=5 {
        compare(seed * 0x1234_5677, 3000, 6);
    }
}

#[test]
fn every_function_has_the_same_bits_as_machine_code() {
    let mut random = Random(99);
    for op in UNARY {
        let mut graph = Graph::new();
        let (x, y) = (graph.coordinate(0), graph.coordinate(1));
        let outputs = [graph.unary(op, x), graph.atan2(x, y), graph.pow(x, y)];
        assert!(matches!(graph.node(outputs[2]), super::super::Node::Binary(Binary::Pow, ..)));
        let tape = Arc::new(Tape::new(&graph, N, &outputs));
        let mut interpreter = Evaluator::new(tape.clone(), &[]);
        let mut native = Evaluator::compiled(tape, &[], Some(Backend::Native));
        let (mut right, mut found) = ([0.0; 3], [0.0; 3]);
        for _ in 0..3000 {
            let q = [0; N].map(|_| random.number(true));
            interpreter.evaluate(&q, &q, &0.0, &mut right);
            native.evaluate(&q, &q, &0.0, &mut found);
            assert!((0..3).all(|i| same(right[i], found[i])), "{op:?} at {q:?}: {right:?}, {found:?}");
        }
    }
}

#[test]
fn the_interpreter_takes_over_where_machine_code_gives_up() {
    let mut graph = Graph::new();
    let x = graph.coordinate(0);
    let sine = graph.unary(Unary::Sin, x);
    let tape = Arc::new(Tape::new(&graph, 1, &[x, sine]));
    let mut native = Evaluator::compiled(tape, &[], Some(Backend::Native));
    let mut out = [0.0; 2];
    native.evaluate(&[1e300], &[0.0], &0.0, &mut out);
    assert_eq!(out, [1e300, crate::scalar::elementary::sin(1e300)]);
}

#[test]
fn other_numbers_and_the_interpreter_have_no_machine_code() {
    let mut graph = Graph::new();
    let x = graph.coordinate(0);
    let tape = Arc::new(Tape::new(&graph, 1, &[x]));
    let _ = Evaluator::compiled(tape.clone(), &[], Some(Backend::Interpreter)) as Evaluator<f64>;
    let _ = Evaluator::compiled(tape.clone(), &[], None) as Evaluator<crate::scalar::Dual<f64>>;
    assert!(!tape.is_compiled());
    let _ = Evaluator::compiled(tape.clone(), &[], None) as Evaluator<f64>;
    assert!(tape.is_compiled());
}
