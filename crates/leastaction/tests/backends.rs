//! Machine code and interpreter give the same bits: every tape of every system, and whole runs.
#![cfg(feature = "native")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::small_catalogue;
use leastaction::expr::{Backend, Evaluator, Tape};
use leastaction::prelude::*;
use leastaction::simulate::Plan;
use leastaction::system::Quantity;
use std::sync::Arc;

/// A small generator of numbers (xorshift).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
    /// Ordinary numbers, and now and then one that gives infinities, NaN or huge angles.
    fn number(&mut self, strange: bool) -> f64 {
        const STRANGE: [f64; 8] = [0.0, f64::NAN, f64::INFINITY, -1e300, 1e200, 5e-324, 3e6, -0.0];
        let choice = (self.unit() * 24.0) as usize;
        if strange && choice < STRANGE.len() { STRANGE[choice] } else { 8.0 * self.unit() - 4.0 }
    }
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

fn compare(name: &str, tape: &Arc<Tape>, n: usize, parameters: &[f64], random: &mut Random) {
    let mut interpreter = Evaluator::new(tape.clone(), parameters);
    let mut native = Evaluator::compiled(tape.clone(), parameters, Some(Backend::Native));
    assert!(tape.is_compiled(), "{name}");
    let (mut right, mut found) = (vec![0.0; tape.outputs()], vec![0.0; tape.outputs()]);
    for round in 0..200 {
        let mut list = |n: usize| (0..n).map(|_| random.number(round % 2 == 1)).collect::<Vec<_>>();
        let (q, v, t) = (list(n), list(n), list(1)[0]);
        interpreter.evaluate(&q, &v, &t, &mut right);
        native.evaluate(&q, &v, &t, &mut found);
        for (i, (a, b)) in right.iter().zip(&found).enumerate() {
            assert!(same(*a, *b), "{name}, output {i} at {q:?} {v:?} {t}: {a:e} and {b:e}");
        }
    }
}

#[test]
fn every_tape_of_every_system_has_the_same_bits() {
    let mut random = Random(20);
    for plan in small_catalogue() {
        let (system, parameters) = (&plan.problem.system, &plan.problem.parameters);
        let model = &system.model;
        for (what, tape) in [
            ("gradient", model.gradient_tape()),
            ("hessian", model.hessian_tape()),
            ("momentum", model.momentum_tape()),
            ("mass", model.mass_tape()),
            ("energy", model.energy_tape()),
            ("acceleration", model.acceleration_tape()),
        ] {
            compare(&format!("{} {what}", system.name), &tape, model.n, parameters, &mut random);
        }
    }
}

/// The end of a run, as bits.
fn end(plan: &Plan, backend: Backend, method: &str, steps: f64) -> (Vec<u64>, Backend) {
    let step = Quantity::Number(plan.step);
    let run = Run {
        method: Some(method.to_owned()),
        until: Some(Quantity::Number(plan.problem.t0 + steps * plan.step)),
        step: Some(step),
        backend: Some(backend),
        every: Some(0),
        ..plan.run.clone()
    };
    let solution = run.simulate().unwrap_or_else(|error| panic!("{} {method}: {error}", plan.run.system));
    let numbers = solution.summary.q.iter().chain(&solution.summary.p);
    let energy = solution.summary.energy;
    let bits = numbers.chain([&energy.r#final, &energy.max_relative_error]).map(|x| x.to_bits()).collect();
    (bits, solution.summary.backend)
}

#[test]
fn final_states_of_every_system_have_the_same_bits() {
    for plan in small_catalogue() {
        for method in ["midpoint", "verlet", "simpson", "lobatto8", "gauss6", "split6", "rk4", "rk4-velocity"]
        {
            if common::method(method).fits(&plan.problem.system).is_err() {
                continue;
            }
            let (right, interpreted) = end(&plan, Backend::Interpreter, method, 100.0);
            let (found, native) = end(&plan, Backend::Native, method, 100.0);
            assert_eq!((interpreted, native), (Backend::Interpreter, Backend::Native), "{}", plan.run.system);
            assert_eq!(right, found, "{} with {method}", plan.run.system);
        }
    }
}

/// Machine code gives up on angles that are far from zero.
#[test]
fn steps_with_huge_angles_have_the_same_bits() {
    for method in ["midpoint", "simpson", "gauss6", "gauss16"] {
        let run = |backend: Backend| {
            let mut run = Run { method: Some(method.to_owned()), ..Run::of("double-pendulum") };
            (run.step, run.until, run.backend) = (Some(0.05.into()), Some(5.0.into()), Some(backend));
            run.initial.q = Some(vec![1e9.into(), 1.0.into()]);
            run.initial.v = Some(vec![0.0.into(), 1.0.into()]);
            let summary = run.simulate().unwrap().summary;
            let bits: Vec<u64> = summary.q.iter().chain(&summary.p).map(|x| x.to_bits()).collect();
            (bits, summary.newton)
        };
        let (right, found) = (run(Backend::Interpreter), run(Backend::Native));
        assert_eq!(right.0, found.0, "{method}");
        assert_eq!(format!("{:?}", right.1), format!("{:?}", found.1), "{method}");
    }
}

#[test]
fn machine_code_is_the_default_and_is_not_written_into_files() {
    let solution = Run { until: Some(1.0.into()), ..Run::of("pendulum") }.simulate().unwrap();
    assert_eq!(solution.summary.backend, Backend::Native);
    assert_eq!(solution.run.backend, None);
    let run = Run::from_toml("system = \"pendulum\"\n[run]\nuntil = 1\nbackend = \"interpreter\"").unwrap();
    assert_eq!(run.simulate().unwrap().summary.backend, Backend::Interpreter);
    assert!(run.to_toml().unwrap().contains("backend = \"interpreter\""));
}

#[test]
fn many_digits_are_interpreted_and_refuse_machine_code() {
    let run = Run { precision: Some(30), until: Some(0.1.into()), ..Run::of("pendulum") };
    assert_eq!(run.simulate().unwrap().summary.backend, Backend::Interpreter);
    let error = Run { backend: Some(Backend::Native), ..run }.simulate().unwrap_err().to_string();
    assert!(error.contains("precision = 30") && error.contains("interpreter"), "{error}");
}

#[test]
fn a_tape_that_is_too_long_is_interpreted_unless_machine_code_is_asked_for() {
    let run = Run {
        parameters: [("n".to_owned(), Quantity::Number(12_000.0))].into(),
        until: Some(Quantity::Formula("2*0.1".to_owned())),
        step: Some(0.1.into()),
        every: Some(0),
        ..Run::of("fput")
    };
    let left_open = run.simulate().unwrap();
    let asked = Run { backend: Some(Backend::Native), ..run }.simulate().unwrap();
    assert_eq!(asked.summary.backend, Backend::Native);
    assert_eq!(left_open.summary.backend, Backend::Interpreter);
    assert_eq!(left_open.summary.q, asked.summary.q);
}

#[test]
fn angles_beyond_the_fast_range_leave_the_same_bits() {
    // the interpreter takes over where machine code gives up, in the middle of a run
    let run = |backend| {
        let initial = leastaction::simulate::InitialState {
            q: Some(vec![1.6470990e6.into()]),
            v: Some(vec![50.0.into()]),
            ..Default::default()
        };
        let run = Run { initial, backend: Some(backend), until: Some(1.0.into()), ..Run::of("pendulum") };
        run.simulate().unwrap().summary
    };
    let (right, found) = (run(Backend::Interpreter), run(Backend::Native));
    assert!(found.q[0] > 1.6471e6, "{:?}", found.q);
    assert_eq!((right.q, right.p), (found.q, found.p));
}

/// Which chain of particles between walls.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Chain {
    Equal,
    /// Masses that differ.
    Masses,
    /// Every particle is moved by the next one: the mass matrix is a band.
    Coupled,
    /// A wall that is shaken.
    Shaken,
    /// Each particle is a pendulum too.
    Pendulums,
}

fn chain(n: usize, kind: Chain) -> System {
    let names = (1..=n).map(|i| format!("x{i}"));
    let start = (1..=n).map(|i| 0.1 * (i * 37 % 11) as f64 - 0.5);
    let build = System::build("chain", "Chain").coordinates(names, "").parameter("m", "1.5", "", "mass");
    let lagrangian = move |q: &[Expr], v: &[Expr], t: Expr, p: &Parameters<Expr>| {
        let mut sum = Expr::from(0.0);
        for i in 0..=n {
            let left = if i == 0 { Expr::from(0.0) } else { q[i - 1] };
            let right = match i < n {
                true => q[i],
                false if kind == Chain::Shaken => t.sin(),
                false => Expr::from(0.0),
            };
            let d = right - left;
            sum = sum - d.squared() * 0.5 - d.powi(3) * 0.1 - d.powi(4) * 0.05;
        }
        for i in 0..n {
            let mass = if kind == Chain::Masses { p["m"] + 0.01 * i as f64 } else { p["m"] };
            sum += mass * v[i].squared() * 0.5;
            if kind == Chain::Coupled && i > 0 {
                sum += v[i] * v[i - 1] * 0.3;
            }
            if kind == Chain::Pendulums {
                sum += q[i].cos();
            }
        }
        sum
    };
    build.start_at_rest(start).lagrangian(lagrangian).unwrap()
}

/// States and what lies within steps, after steps with two sets of parameters.
fn course(system: &System, backend: Backend, method: &str) -> Vec<u64> {
    let system = system.with_backend(Some(backend)).unwrap();
    let problem = system.problem(&Settings::default()).unwrap();
    let mut stepper = Stepper::new(&problem, &common::method(method), 0.1);
    let mut numbers = Vec::new();
    for mass in [1.5, 2.25] {
        stepper.restart(Some(&[mass]), &problem.v0);
        let mut state = State::new(&problem);
        for step in 0..7 {
            // forces of another place than where the last step ended
            if step == 4 {
                state.q[0] += 0.01;
            }
            stepper.step(&mut state).unwrap();
        }
        let (mut q, mut v) = (state.q.clone(), state.q.clone());
        stepper.within(&stepper.weights(&0.3).unwrap(), &mut q, &mut v);
        for list in [state.q, state.p, state.q_low, state.p_low, q, v] {
            numbers.extend(list.iter().map(|x| x.to_bits()));
        }
    }
    numbers
}

#[test]
fn splitting_steps_of_chains_have_the_same_bits() {
    for n in [1, 5, 7, 64, 101, 1001] {
        for kind in [Chain::Equal, Chain::Masses, Chain::Coupled, Chain::Shaken, Chain::Pendulums] {
            let system = chain(n, kind);
            for method in ["verlet", "split4", "split6", "split8", "split10"] {
                if n == 1001 && method != "split6" || common::method(method).fits(&system).is_err() {
                    continue;
                }
                let (right, found) =
                    (course(&system, Backend::Interpreter, method), course(&system, Backend::Native, method));
                assert!(right == found, "{n} particles, {kind:?}, {method}");
            }
        }
    }
}
