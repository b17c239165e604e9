//! Loops and stages: where there are some, where there must be none, and the bits they give.

use super::machine::{Code, has_eight_lanes};
use super::program::{Operation, Width};
use super::roll::roll;
use super::translate::translate;
use crate::expr::Backend;
use crate::expr::Sweep;
use crate::expr::convoy::{Berths, CONVOY, Task};
use crate::expr::graph::{Graph, NodeId, Unary};
use crate::expr::layout::Weights;
use crate::expr::native::Arrays;
use crate::expr::nodes::Nodes;
use crate::expr::stage::Staging;
use crate::expr::tape::{Evaluator, Tape};
use crate::system::{Problem, Settings, catalogue};
use std::sync::Arc;

pub(super) const PARAMETERS: [f64; 2] = [0.7, -1.3];

/// Numbers between −2 and 2 without any order.
pub(super) fn numbers(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 51) as f64 - 2.0
    };
    (0..n).map(|_| next()).collect()
}

/// The force of a spring from one coordinate to another, or to a wall.
pub(super) fn spring(graph: &mut Graph, from: Option<usize>, to: Option<usize>) -> NodeId {
    let mut end = |i: Option<usize>| match i {
        Some(i) => graph.coordinate(i),
        None => graph.number(0.0),
    };
    let (left, right) = (end(from), end(to));
    let d = graph.sub(right, left);
    let (square, alpha) = (graph.mul(d, d), graph.parameter(0));
    let bent = graph.mul(alpha, square);
    graph.add(d, bent)
}

/// Forces on the coordinates of a range, which springs join with each other and with walls.
pub(super) fn chain(graph: &mut Graph, particles: std::ops::Range<usize>) -> Vec<NodeId> {
    let inside = |i: usize| particles.contains(&i).then_some(i);
    let springs: Vec<NodeId> = (particles.start..=particles.end)
        .map(|i| spring(graph, if i == particles.start { None } else { inside(i - 1) }, inside(i)))
        .collect();
    springs.windows(2).map(|pair| graph.sub(pair[1], pair[0])).collect()
}

pub(super) fn chain_tape(n: usize) -> Tape {
    let mut graph = Graph::new();
    let outputs = chain(&mut graph, 0..n);
    Tape::new(&graph, n, &outputs)
}

/// How many turns the loops of a tape have.
fn turns(tape: &Tape) -> Vec<i32> {
    let turns = |(operation, _): &(Operation, _)| match *operation {
        Operation::LoopEnd { turns, .. } => Some(turns),
        _ => None,
    };
    roll(&translate(tape, Width::Four)).operations.iter().filter_map(turns).collect()
}

pub(super) fn bits(list: &[f64]) -> Vec<u64> {
    list.iter().map(|x| x.to_bits()).collect()
}

fn assert_same_bits(tape: Tape) {
    let (n, outputs) = (tape.coordinates, tape.outputs);
    let tape = Arc::new(tape);
    let mut interpreter = Evaluator::new(tape.clone(), &PARAMETERS);
    let mut native = Evaluator::compiled(tape, &PARAMETERS, Some(Backend::Native));
    for seed in 1..4 {
        let (q, v) = (numbers(seed, n), numbers(seed + 100, n));
        let (mut right, mut found) = (vec![0.0; outputs], vec![0.0; outputs]);
        interpreter.evaluate(&q, &v, &0.3, &mut right);
        native.evaluate(&q, &v, &0.3, &mut found);
        assert_eq!(bits(&right), bits(&found), "{n} coordinates");
    }
}

#[test]
fn chains_of_any_length_have_the_same_bits() {
    for n in (1..80).chain([127, 128, 129, 1000, 1001, 1002, 1003]) {
        assert_same_bits(chain_tape(n));
    }
}

#[test]
fn the_code_of_a_chain_is_no_longer_for_a_longer_one() {
    let bytes = |n: usize| Code::new(&chain_tape(n)).unwrap().bytes();
    let (short, long) = (bytes(101), bytes(4001));
    assert!(long < short + 100, "{short} bytes for 101 particles, {long} for 4001");
    assert!(turns(&chain_tape(4001))[0] > 990);
    assert_eq!(turns(&chain_tape(7)), []);
}

#[test]
fn two_chains_are_two_loops() {
    for n in [53, 64, 70] {
        let mut graph = Graph::new();
        let mut outputs = chain(&mut graph, 0..n);
        outputs.extend(chain(&mut graph, n..2 * n + 5));
        let tape = Tape::new(&graph, 2 * n + 5, &outputs);
        assert_eq!(turns(&tape).len(), 2, "{:?}", turns(&tape));
        assert_same_bits(tape);
    }
}

#[test]
fn a_loop_leaves_its_last_turn_to_the_rest() {
    // a ring: its last particle reads the spring that was computed first
    for n in [40, 65, 203] {
        let mut graph = Graph::new();
        let springs: Vec<NodeId> = (0..n).map(|i| spring(&mut graph, Some(i), Some((i + 1) % n))).collect();
        let outputs: Vec<NodeId> = (0..n).map(|i| graph.sub(springs[i], springs[(i + n - 1) % n])).collect();
        let tape = Tape::new(&graph, n, &outputs);
        assert!(!turns(&tape).is_empty());
        assert_same_bits(tape);
    }
}

#[test]
fn what_is_read_later_than_in_the_next_turn_is_not_rolled() {
    // f(x_i) − f(x_{i+far}), where f is computed once, also by the last ones that fill no pack
    let n = 403;
    let mut graph = Graph::new();
    let functions: Vec<NodeId> = (0..n).map(|i| spring(&mut graph, None, Some(i))).collect();
    for (far, rolled) in [(4, true), (8, true), (12, true), (120, false)] {
        let outputs: Vec<NodeId> =
            (0..n - far).map(|i| graph.sub(functions[i], functions[i + far])).collect();
        let tape = Tape::new(&graph, n, &outputs);
        assert_eq!(turns(&tape).is_empty(), !rolled, "{far}: {:?}", turns(&tape));
        assert_same_bits(tape);
    }
    // f(x_i) itself, and the sum of all of them at the end
    let mut outputs = functions.clone();
    let sum = functions.iter().skip(1).fold(functions[0], |sum, f| graph.add(sum, *f));
    outputs.push(sum);
    let tape = Tape::new(&graph, n, &outputs);
    assert!(turns(&tape).iter().all(|&turns| turns < 40), "{:?}", turns(&tape));
    assert_same_bits(tape);
}

#[test]
fn turns_that_wait_for_each_other_are_done_one_after_the_other() {
    // y_i = x_i + y_{i−1}²: carried from turn to turn, never side by side
    let mut graph = Graph::new();
    let mut y = graph.coordinate(0);
    let outputs: Vec<NodeId> = (1..100)
        .map(|i| {
            let (x, square) = (graph.coordinate(i), graph.mul(y, y));
            let (half, sum) = (graph.number(0.25), graph.add(x, square));
            y = graph.mul(half, sum);
            y
        })
        .collect();
    let tape = Tape::new(&graph, 100, &outputs);
    assert!(turns(&tape)[0] > 90, "{:?}", turns(&tape));
    assert_same_bits(tape);
}

#[test]
fn loops_put_values_aside() {
    // more is kept from turn to turn, and needed in one, than there are registers
    let n = 120;
    let mut graph = Graph::new();
    let outputs: Vec<NodeId> = (0..n)
        .map(|i| {
            let (x, v) = (graph.coordinate(i), graph.velocity((i + 1) % n));
            let terms: Vec<NodeId> = (1..20)
                .map(|k| {
                    let (factor, parameter) =
                        (graph.number(0.1 * f64::from(k)), graph.parameter(k as usize % 2));
                    let (a, b) = (graph.mul(factor, x), graph.sub(parameter, v));
                    let (square, sum) = (graph.mul(a, a), graph.add(factor, b));
                    graph.div(square, sum)
                })
                .collect();
            let back = terms.iter().rev().skip(1).fold(terms[18], |sum, term| graph.add(sum, *term));
            terms.iter().fold(back, |product, term| graph.mul(product, *term))
        })
        .collect();
    let tape = Tape::new(&graph, n, &outputs);
    assert!(!turns(&tape).is_empty());
    assert_same_bits(tape);
}

#[test]
fn a_loop_gives_up_in_any_turn() {
    let n = 101;
    let mut graph = Graph::new();
    let outputs: Vec<NodeId> = (0..n)
        .map(|i| {
            let force = spring(&mut graph, None, Some(i));
            graph.unary(Unary::Sin, force)
        })
        .collect();
    let tape = Arc::new(Tape::new(&graph, n, &outputs));
    assert!(!turns(&tape).is_empty());
    let mut interpreter = Evaluator::new(tape.clone(), &PARAMETERS);
    let mut native = Evaluator::compiled(tape, &PARAMETERS, Some(Backend::Native));
    for far in [0, 3, 50, 96, 100] {
        let mut q = numbers(5, n);
        q[far] = 1e200;
        let (mut right, mut found) = (vec![0.0; n], vec![0.0; n]);
        interpreter.evaluate(&q, &q, &0.0, &mut right);
        native.evaluate(&q, &q, &0.0, &mut found);
        assert_eq!(bits(&right), bits(&found), "{far}");
    }
}

#[test]
fn there_is_no_stage_that_gives_up_or_knows_velocities() {
    let mut graph = Graph::new();
    let (x, v) = (graph.coordinate(0), graph.velocity(0));
    let sine = graph.unary(Unary::Sin, x);
    for (output, able) in [(x, true), (v, false), (sine, false)] {
        let tape = Tape::new(&graph, 1, &[output]);
        let code = Code::stage(&tape, Staging { n: 1, equal_masses: true });
        assert_eq!(code.is_some(), able);
    }
}

/// All functions of a coordinate and a momentum, in registers of four and of eight lanes, where every lane has numbers of its own.
#[test]
fn lanes_of_a_convoy_have_the_bits_of_the_interpreter() {
    let mut graph = Graph::new();
    let (q, p) = (graph.coordinate(0), graph.velocity(0));
    let functions = [
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
    let mut outputs = vec![graph.mul(q, p), graph.div(p, q)];
    for function in functions {
        outputs.extend([graph.unary(function, q), graph.unary(function, p)]);
    }
    outputs.extend([graph.atan2(q, p), graph.pow(q, p)]);
    let tape = Tape::new(&graph, 1, &outputs);
    let berths = Berths { n: 1, nodes: 2, kept: outputs.len() - 2 };
    let mut interpreter = Evaluator::new(Arc::new(tape.clone()), &PARAMETERS);
    for width in [Width::Four, Width::Eight] {
        if width == Width::Eight && !has_eight_lanes() {
            continue;
        }
        let code = Code::convoy_in(width, &tape, &berths, Task::Fresh).unwrap();
        for seed in 1..20 {
            let mut state = numbers(seed, berths.all());
            state[berths.lost(0)..berths.kept(0, 0)].fill(0.0);
            let mut rates = vec![0.0; berths.rates()];
            let registers = interpreter.registers().iter().flat_map(|&x| [x; CONVOY]);
            let done = code.run(Arrays {
                registers: &mut registers.collect::<Vec<_>>(),
                q: &numbers(7, berths.rates()),
                // every node is where the step begins
                v: &vec![0.0; berths.weight(berths.nodes, 0)],
                t: &[0.0; CONVOY],
                outputs: &mut rates,
                changes: &mut state,
                scratch: &mut vec![0.0; code.scratch],
            });
            assert!(done);
            for (lane, node) in (0..CONVOY).flat_map(|lane| [(lane, 0), (lane, 1)]) {
                let mut right = vec![0.0; outputs.len()];
                let [q, p] = [state[berths.state(0) + lane], state[berths.state(1) + lane]];
                interpreter.evaluate(&[q], &[p], &0.0, &mut right);
                let mut found = vec![rates[berths.rate(0, node) + lane], rates[berths.rate(1, node) + lane]];
                found.extend((0..berths.kept).map(|index| state[berths.kept(index, node) + lane]));
                let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                assert!(right.iter().zip(&found).all(same), "{width:?} {q} {p}: {right:?} {found:?}");
            }
        }
    }
}

/// What is turned, kept and told, in registers of four lanes as in those of eight; with an odd number of nodes, which do not go two by two.
#[test]
fn all_tasks_of_a_convoy_have_the_same_bits_in_registers_of_any_width() {
    if !has_eight_lanes() {
        return;
    }
    for name in ["double-pendulum", "lagrange-top", "henon-heiles"] {
        let problem: Problem<f64> = catalogue::system(name).unwrap().problem(&Settings::default()).unwrap();
        let current = problem.system.model.current().unwrap();
        let berths = Berths { n: current.n, nodes: 5, kept: current.kept };
        for (task, tape) in [
            (Task::Fresh, &current.fresh),
            (Task::Ahead, &current.ahead),
            (Task::Wide, &current.wide),
            (Task::Rough, &current.rough),
            (Task::Last, &current.last),
            (Task::Arrive, &current.arrive),
        ] {
            let evaluator = Evaluator::<f64>::new(tape.clone(), &problem.parameters);
            let registers: Vec<f64> = evaluator.registers().iter().flat_map(|&x| [x; CONVOY]).collect();
            let [four, eight] = [Width::Four, Width::Eight].map(|width| {
                let code = Code::convoy_in(width, tape, &berths, task).unwrap();
                let mut found = [vec![0.0; berths.rates()], numbers(3, berths.all())];
                let [rates, state] = &mut found;
                let (v, outputs) = match task {
                    Task::Arrive => (berths.weight(1, 0), &mut rates[..2 * CONVOY]),
                    _ => (berths.weight(berths.nodes, 0), &mut rates[..]),
                };
                let done = code.run(Arrays {
                    registers: &mut registers.clone(),
                    q: &numbers(1, berths.rates()),
                    v: &numbers(2, v),
                    t: &[0.0; CONVOY],
                    outputs,
                    changes: state,
                    scratch: &mut vec![0.0; code.scratch],
                });
                assert!(done, "{name} {task:?}");
                found.map(|list| list.iter().map(|x| x.to_bits()).collect::<Vec<u64>>())
            });
            assert_eq!(four, eight, "{name} {task:?}");
            assert!(four[0].iter().any(|bits| *bits != 0), "{name} {task:?}");
        }
    }
}

/// Weights without any meaning.
fn weights(nodes: usize) -> Weights {
    let matrix = |seed: u64| -> Vec<Vec<f64>> {
        (0..nodes as u64).map(|row| numbers(seed + row, nodes).iter().map(|x| x / 8.0).collect()).collect()
    };
    Weights {
        shares: numbers(90, nodes),
        forces: matrix(100),
        positions: matrix(200),
        dropped: None,
        ahead: matrix(300),
        positions_ahead: matrix(400),
    }
}

#[test]
fn sweeps_have_the_bits_of_the_interpreter_in_registers_of_any_width() {
    let system = catalogue::system("double-pendulum").unwrap();
    let problem: Problem<f64> = system.problem(&Settings::default()).unwrap();
    let model = &problem.system.model;
    let (tapes, group) = (model.sweeps().unwrap(), &model.structure.group);
    for count in [3, 4, 5, 8, 12, 17] {
        let mut nodes =
            Nodes::new(tapes, group, &weights(count), 0.01, &problem.parameters, Some(Backend::Interpreter));
        nodes.start([&[0.3, 0.4], &[0.1, -0.2], &[1e-18, 2e-18], &[3e-18, 0.0]], &[0, 1]);
        nodes.set_velocities(0, |node| 0.3 + 0.01 * node as f64);
        nodes.set_velocities(1, |node| 0.1 - 0.02 * node as f64);
        for sweep in [Sweep::First, Sweep::Refine, Sweep::Fresh, Sweep::Refine] {
            let layout = nodes.layout.of(sweep);
            let before = nodes.variables.to_vec();
            assert!(nodes.sweep(sweep, true));
            if sweep == Sweep::First {
                nodes.measure(sweep, true);
            }
            // momenta that nothing drops are not needed, sizes are measured later, and only refining tells of turns
            let idle = [layout.momentum(0)..layout.kept(0), layout.size(0)..layout.variables()];
            for width in [Width::Four, Width::Eight] {
                if width == Width::Eight && !(layout.takes_eight() && has_eight_lanes()) {
                    continue;
                }
                let code = Code::sweep_in(width, tapes.of(sweep), &layout).unwrap();
                let mut found = before.clone();
                assert!(code.run(Arrays {
                    registers: &mut [],
                    q: &[],
                    v: &[],
                    t: &[],
                    outputs: &mut found,
                    changes: &mut [],
                    scratch: &mut vec![0.0; code.scratch],
                }));
                if sweep == Sweep::Refine && count == layout.lanes {
                    assert_eq!(bits(nodes.changes()), bits(&found[layout.change(0)..][..1]), "{width:?}");
                    assert_eq!(nodes.turn().to_bits(), found[layout.turn()].to_bits(), "{width:?}");
                }
                for place in 0..layout.variables() {
                    // lanes that no node fills mean nothing
                    let block = layout.velocity(0)..layout.size(0);
                    let lane = if block.contains(&place) { (place - block.start) % layout.lanes } else { 0 };
                    let counts = lane < count && !idle.iter().any(|range| range.contains(&place));
                    if counts && place >= block.start {
                        let [right, found] = [nodes.variables[place], found[place]].map(f64::to_bits);
                        assert_eq!(right, found, "{width:?}, {count} nodes, {sweep:?}, place {place}");
                    }
                }
            }
        }
    }
}
