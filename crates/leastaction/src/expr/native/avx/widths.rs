//! Packs of four and of eight lanes: the bits they give, of forces and of stages.

use super::machine::{Code, has_eight_lanes};
use super::program::{Operation, Width};
use super::roll::roll;
use super::tests::{PARAMETERS, bits, chain_tape, numbers, spring};
use super::translate::translate;
use crate::expr::graph::{Graph, NodeId};
use crate::expr::native::Arrays;
use crate::expr::native::tests::{Random, random_chain, same};
use crate::expr::stage::Staging;
use crate::expr::tape::{Evaluator, Tape};
use std::sync::Arc;

/// The widths that this processor has registers for.
fn widths() -> impl Iterator<Item = Width> {
    [Width::Four, Width::Eight].into_iter().filter(|width| *width == Width::Four || has_eight_lanes())
}

/// Chains whose last packs are filled, nearly filled, and hardly.
fn lengths() -> impl Iterator<Item = usize> {
    (7..=41).chain([64, 127, 128, 129, 1000, 1001, 1007])
}

/// Code of a tape, and what the interpreter finds for it.
fn assert_same_outputs(code: &Code, tape: &Arc<Tape>, random: &mut Random, strange: bool, what: &str) {
    let mut interpreter = Evaluator::new(tape.clone(), &PARAMETERS);
    let mut list = || (0..tape.coordinates).map(|_| random.number(strange)).collect::<Vec<f64>>();
    let (q, v) = (list(), list());
    let (mut right, mut found) = (vec![0.0; tape.outputs], vec![0.0; tape.outputs]);
    interpreter.evaluate(&q, &v, &0.7, &mut right);
    let done = code.run(Arrays {
        registers: &mut interpreter.registers().to_vec(),
        q: &q,
        v: &v,
        t: &[0.7],
        outputs: &mut found,
        changes: &mut [],
        scratch: &mut vec![0.0; code.scratch],
    });
    // where it gives up the interpreter takes over
    let fits = !done || right.iter().zip(&found).all(|(a, b)| same(*a, *b));
    assert!(fits, "{what}: {right:?} {found:?}");
}

#[test]
fn chains_have_the_bits_of_the_interpreter_in_packs_of_any_width() {
    let mut random = Random(17);
    for (width, n) in widths().flat_map(|width| lengths().map(move |n| (width, n))) {
        let tape = Arc::new(chain_tape(n));
        let shortest = Code::new_in(width, &tape);
        for code in shortest.into_iter().chain(Code::in_packs(width, &tape)) {
            assert_same_outputs(&code, &tape, &mut random, false, &format!("{width:?}, {n} particles"));
        }
    }
}

#[test]
fn random_chains_have_the_bits_of_the_interpreter_in_packs_of_any_width() {
    let mut packed = 0;
    for seed in 1..=400 {
        let mut random = Random(seed * 0x2545_f491);
        let n = if seed % 40 == 0 { 1000 + random.below(16) } else { 7 + random.below(60) };
        let (graph, outputs) = random_chain(&mut random, n);
        let tape = Arc::new(Tape::new(&graph, n, &outputs));
        for width in widths() {
            let Some(code) = Code::in_packs(width, &tape) else { continue };
            packed += 1;
            for strange in [false, true] {
                let what = format!("seed {seed}, {width:?}, {n} particles");
                assert_same_outputs(&code, &tape, &mut random, strange, &what);
            }
        }
    }
    assert!(packed > 400, "{packed} programs with packs");
}

/// f(x_i) − f(x_{i+far}) for neighbours near and far, which are moved to their lanes by any number of lanes.
#[test]
fn neighbours_at_any_distance_have_the_bits_of_the_interpreter() {
    let mut random = Random(5);
    for (far, n) in (1..20).flat_map(|far| [40, 61, 200].map(|n| (far, n))) {
        let mut graph = Graph::new();
        let functions: Vec<NodeId> = (0..n).map(|i| spring(&mut graph, None, Some(i))).collect();
        let outputs: Vec<NodeId> =
            (0..n - far).map(|i| graph.sub(functions[i], functions[i + far])).collect();
        let tape = Arc::new(Tape::new(&graph, n, &outputs));
        for width in widths() {
            let what = format!("{far} of {n}, {width:?}");
            let code = Code::in_packs(width, &tape).expect("packs");
            assert_same_outputs(&code, &tape, &mut random, false, &what);
        }
    }
}

/// A stage as machine code beside the same in plain steps.
fn assert_same_stage(width: Width, tape: &Arc<Tape>, equal_masses: bool) {
    let n = tape.coordinates;
    let mut interpreter = Evaluator::new(tape.clone(), &PARAMETERS);
    let staging = Staging { n, equal_masses };
    let ([length, dq, dp], [fixed_length, q, p, m]) = (staging.changes(), staging.fixed());
    let (mut fixed, mut changes, stage) = (numbers(1, fixed_length), numbers(2, length), numbers(3, n));
    if equal_masses {
        fixed[m..m + n].fill(1.5);
    }
    let mut force = vec![0.0; n];
    interpreter.evaluate(&stage, &stage, &0.0, &mut force);
    let [kick, drift] = staging.sizes().map(|at| fixed[at]);
    let mut right = changes.clone();
    let mut right_next = vec![0.0; n];
    for i in 0..n {
        right[dp + i] += kick * force[i];
        right[dq + i] += drift * ((fixed[p + i] + right[dp + i]) * fixed[m + i]);
        right_next[i] = fixed[q + i] + right[dq + i];
    }
    let mut next = vec![0.0; n];
    let code = Code::stage_in(width, tape, staging).expect("a stage");
    let done = code.run(Arrays {
        registers: &mut interpreter.registers().to_vec(),
        q: &stage,
        v: &fixed,
        t: &[0.0],
        outputs: &mut next,
        changes: &mut changes,
        scratch: &mut vec![0.0; code.scratch],
    });
    assert!(done, "{width:?}, {n} particles");
    assert_eq!(bits(&next), bits(&right_next), "{width:?}, {n} particles");
    assert_eq!(bits(&changes), bits(&right), "{width:?}, {n} particles");
}

#[test]
fn stages_have_the_bits_of_forces_kick_and_drift() {
    for (width, n) in widths().flat_map(|width| (1..7).chain(lengths()).map(move |n| (width, n))) {
        let tape = Arc::new(chain_tape(n));
        assert_same_stage(width, &tape, true);
        assert_same_stage(width, &tape, false);
    }
}

/// A chain in eight lanes is one loop and hardly anything beside it: the ends of the chain fill packs as well.
#[test]
fn a_chain_in_eight_lanes_has_next_to_nothing_one_by_one() {
    for n in [64, 1000] {
        let program = translate(&chain_tape(n), Width::Eight);
        let of = |width: Width| program.operations.iter().filter(|(_, own)| *own == width).count();
        assert!(
            of(Width::Eight) > n / 2 && of(Width::One) < 20,
            "{} and {}",
            of(Width::Eight),
            of(Width::One)
        );
    }
    let loops = |(operation, _): &&(Operation, Width)| matches!(operation, Operation::LoopEnd { .. });
    let rolled = roll(&translate(&chain_tape(1000), Width::Eight));
    assert_eq!(rolled.operations.iter().filter(loops).count(), 1);
}
