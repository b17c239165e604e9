//! Derivatives of recorded functions against exact forward differentiation of the same tape.

use super::*;
use crate::scalar::{Dual, Real, Scalar};
use std::sync::Arc;

/// A function that uses every operation, of two coordinates, one velocity, time and a parameter.
fn everything<S: Scalar>(x: S, y: S, v: S, t: S, p: S) -> S {
    let a = (x * y + v).sin() * (x - y).cos() + (x / 3.0).tan() * p;
    let b = (x.squared() + y.squared() + p).sqrt().ln() + (-(v * v) * 0.1).exp();
    let c = (x * 0.3).asin() + (y * 0.2).acos() + (v + t).atan() + y.atan2(x);
    let d = (x * 0.5).sinh() * (y * 0.5).cosh() + (v * t).tanh() + (x - 2.0).abs();
    let e = x.powi(3) / y.powi(-2) + (p + x).powf(y) - S::pi() * v + x.powf(1.7);
    a + b * c - d / (e + 10.0)
}

fn recorded() -> (Graph, NodeId) {
    let mut graph = Graph::new();
    let nodes = record(&mut graph, || {
        let inputs = Inputs::new(2, 1);
        vec![everything(inputs.q[0], inputs.q[1], inputs.v[0], inputs.t, inputs.parameters[0])]
    })
    .expect("recorded");
    (graph, nodes[0])
}

const AT: [f64; 4] = [0.7, 1.3, -0.4, 0.9];
const PARAMETER: f64 = 0.8;

fn evaluate<R: Real>(graph: &Graph, node: NodeId, at: [R; 4]) -> R {
    let tape = Arc::new(Tape::new(graph, 2, &[node]));
    let [x, y, v, t] = at;
    let mut out = [R::zero()];
    let mut evaluator = Evaluator::new(tape, &[R::from_f64(PARAMETER)]);
    evaluator.evaluate(&[x, y], &[v, R::zero()], &t, &mut out);
    // a second evaluation must not be disturbed by the registers of the first
    let first = out[0].clone();
    evaluator.evaluate(&[R::zero(), R::zero()], &[R::one(), R::zero()], &R::one(), &mut out);
    first
}

#[test]
fn a_tape_gives_what_the_function_gives() {
    let (graph, node) = recorded();
    let direct = everything(AT[0], AT[1], AT[2], AT[3], PARAMETER);
    assert!((evaluate(&graph, node, AT) - direct).abs() < 1e-14 * direct.abs());
}

fn input_index(input: Node) -> usize {
    match input {
        Node::Coordinate(i) => i as usize,
        Node::Velocity(0) => 2,
        Node::Time => 3,
        other => panic!("unexpected input {other:?}"),
    }
}

fn dual_at(direction: usize) -> [Dual; 4] {
    std::array::from_fn(|i| Dual { value: AT[i], tangent: if i == direction { 1.0 } else { 0.0 } })
}

#[test]
fn first_and_second_derivatives_are_exact() {
    let (mut graph, node) = recorded();
    let mut differentiator = Differentiator::default();
    let gradient = differentiator.gradient(&mut graph, node, Depends::STATE);
    assert_eq!(gradient.len(), 4);
    for (input, first) in gradient {
        let i = input_index(input);
        let exact = evaluate(&graph, node, dual_at(i)).tangent;
        let value = evaluate(&graph, first, AT);
        assert!((value - exact).abs() < 1e-13 * (1.0 + exact.abs()), "{i}: {value} {exact}");
        for (input, second) in differentiator.gradient(&mut graph, first, Depends::STATE) {
            let j = input_index(input);
            let exact = evaluate(&graph, first, dual_at(j)).tangent;
            let value = evaluate(&graph, second, AT);
            assert!((value - exact).abs() < 1e-12 * (1.0 + exact.abs()), "{i}{j}: {value} {exact}");
        }
    }
}

#[test]
fn derivatives_of_a_sum_stay_local() {
    // Σ (x_{i+1} − x_i)²: each derivative knows only its neighbours
    let n = 1000;
    let mut graph = Graph::new();
    let nodes = record(&mut graph, || {
        let inputs = Inputs::new(n, 0);
        vec![inputs.q.windows(2).map(|pair| (pair[1] - pair[0]).squared()).sum()]
    })
    .expect("recorded");
    let mut differentiator = Differentiator::default();
    let gradient = differentiator.gradient(&mut graph, nodes[0], Depends::COORDINATES);
    assert_eq!(gradient.len(), n);
    for (input, node) in &gradient {
        let Node::Coordinate(i) = input else { panic!("{input:?}") };
        let neighbours = if *i == 0 || *i as usize == n - 1 { 2 } else { 3 };
        assert_eq!(differentiator.gradient(&mut graph, *node, Depends::COORDINATES).len(), neighbours);
    }
    assert!(graph.len() < 20 * n, "{} nodes", graph.len());
}

#[test]
fn parameters_are_computed_once() {
    let mut graph = Graph::new();
    let (m, l, x) = (graph.parameter(0), graph.parameter(1), graph.coordinate(0));
    let ml = graph.mul(m, l);
    let root = graph.unary(Unary::Sqrt, ml);
    let node = graph.mul(root, x);
    let tape = Tape::new(&graph, 1, &[node]);
    assert_eq!(tape.len(), 2, "one product and one store");
}

/// The instructions of a formula of three coordinates beside its store, and what it gives where the product of the first two has more bits than a number and the
/// third is this.
fn of_three(third: f64, formula: impl Fn(&mut Graph, [NodeId; 3]) -> NodeId) -> (usize, f64) {
    let mut graph = Graph::new();
    let inputs = [0, 1, 2].map(|i| graph.coordinate(i));
    let node = formula(&mut graph, inputs);
    let tape = Arc::new(Tape::new(&graph, 3, &[node]));
    let mut value = [0.0];
    let x = 1.0 + f64::EPSILON;
    Evaluator::new(tape.clone(), &[]).evaluate(&[x, x, third], &[0.0; 3], &0.0, &mut value);
    (tape.len() - 1, value[0])
}

#[test]
fn a_product_that_one_sum_reads_is_not_rounded_by_itself() {
    // (1 + ε)² = 1 + 2ε + ε²
    let (twice, rest) = (2.0 * f64::EPSILON, f64::EPSILON * f64::EPSILON);
    let product = |graph: &mut Graph, [a, b, _]: [NodeId; 3]| graph.mul(a, b);
    let less = of_three(1.0, |graph, x| {
        let product = product(graph, x);
        graph.sub(product, x[2])
    });
    assert_eq!(less, (1, twice + rest));
    let from = of_three(1.0, |graph, x| {
        let product = product(graph, x);
        graph.sub(x[2], product)
    });
    assert_eq!(from, (1, -twice - rest));
    let plus = of_three(-1.0, |graph, x| {
        let product = product(graph, x);
        graph.add(product, x[2])
    });
    assert_eq!(plus, (1, twice + rest));
}

#[test]
fn a_product_that_others_read_is_rounded_once_for_all() {
    let twice = 2.0 * f64::EPSILON;
    let shared = of_three(1.0, |graph, [a, b, c]| {
        let product = graph.mul(a, b);
        let (less, more) = (graph.sub(product, c), graph.unary(Unary::Sqrt, product));
        let zero = graph.sub(more, a);
        let zero = graph.unary(Unary::Sign, zero);
        graph.add(less, zero)
    });
    assert_eq!(shared, (6, twice));
}

#[test]
fn of_two_products_the_one_that_is_ready_last_is_fused() {
    // a·b − (a·c)·b: the second has more to wait for, and the first is rounded
    let (count, value) = of_three(1.0, |graph, [a, b, c]| {
        let first = graph.mul(a, b);
        let second = graph.mul(a, c);
        let second = graph.unary(Unary::Abs, second);
        let second = graph.mul(second, b);
        graph.sub(first, second)
    });
    assert_eq!((count, value), (4, -f64::EPSILON * f64::EPSILON));
}
