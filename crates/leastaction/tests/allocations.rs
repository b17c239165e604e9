//! Nothing allocates in the loop.
//!
//! A counting allocator watches this thread: a step of any method, and a whole simulation with its observers, ask for no
//! memory once they are made. One test function, because the counter belongs to a thread.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{method, problem, problem_with};
use leastaction::prelude::*;
use leastaction::scalar::{Digits, Field, Real};
use leastaction::simulate::ensemble::{Engine, OneByOne, Starts};
use leastaction::simulate::{Event, Events, Invariants, Observed, Outcome, Outputs, Recorder, simulate};
use leastaction::step::Propagator;
use std::alloc::{GlobalAlloc, Layout, System as SystemAllocator};
use std::cell::Cell;
use std::ops::ControlFlow;

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // a thread that is being taken down has no counter any more
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract; counting touches only a
// cell of this thread and does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { SystemAllocator.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { SystemAllocator.dealloc(pointer, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { SystemAllocator.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { SystemAllocator.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a piece of work asks for.
fn allocations<T>(work: impl FnOnce() -> T) -> u64 {
    let before = COUNT.get();
    let result = work();
    let count = COUNT.get() - before;
    drop(result);
    count
}

fn steps<R: Real>(problem: &Problem<R>, method: &Method, step: R) -> u64 {
    let mut stepper = Stepper::new(problem, method, step);
    let mut state = State::new(problem);
    allocations(|| {
        for _ in 0..20 {
            stepper.step(&mut state).unwrap();
        }
    })
}

/// The whole loop with energy, momenta and recording, also within the steps.
fn simulation(problem: &Problem<f64>, method: &Method, step: f64, steps: u64) -> u64 {
    allocations(|| {
        let mut stepper = Stepper::new(problem, method, step);
        let mut state = State::new(problem);
        let mut invariants = Invariants::new(problem);
        let mut recorder = Recorder::new(problem, &stepper, 1, 3, 3 * steps as usize + 1);
        let outcome =
            simulate(problem, &mut stepper, &mut state, steps, &mut [&mut invariants, &mut recorder]);
        assert!(matches!(outcome, Outcome::Done));
    })
}

/// The loop asks for memory so often, before its first step: for q and p of the state before a step, which is what is left if an observer refuses it.
const KEPT: u64 = 2;

/// The loop with outputs and with events, some of which happen in every step.
fn watched<R: Real>(problem: &Problem<R>, method: &Method, step: R, steps: u64) -> (u64, usize) {
    let mut run = Run::default();
    run.outputs.insert("height".into(), "-cos(q1) - cos(q2) + p_q1*v_q2".into());
    for (name, formula) in [("often", "sin(200*t)"), ("sometimes", "q1"), ("state", "p_q2 - height")] {
        run.events.insert(name.into(), Event::of(formula));
    }
    let observed = Observed::new(&run, &problem.system, None).unwrap();
    let mut stepper = Stepper::new(problem, method, step);
    let mut state = State::new(problem);
    let mut outputs = Outputs::new(problem, &observed.outputs);
    let mut events = Events::new(problem, method, &stepper, &observed);
    let count = allocations(|| {
        let outcome = simulate(problem, &mut stepper, &mut state, steps, &mut [&mut outputs, &mut events]);
        assert!(matches!(outcome, Outcome::Done));
    });
    (count, events.crossings.len())
}

/// Members of an ensemble that differ in parameters and states, with an event.
fn members(system: &str, name: &str) -> u64 {
    let mut run = Run { method: Some(name.into()), until: Some(0.2.into()), ..Run::of(system) };
    run.events.insert("low".into(), Event::of("q1*v_q1"));
    let plan = run.plan().unwrap();
    let observed = Observed::new(&run, &plan.problem.system, None).unwrap();
    let mut engine = OneByOne::new(&plan, &observed);
    let (mut starts, count) = (Starts::default(), 20);
    for i in 0..count {
        let x = f64::from(i) / 10.0;
        starts.refused.push(None);
        starts.parameters.extend(plan.problem.parameters.iter().map(|p| p * (1.0 + x)));
        starts.q.extend([x, 1.0 - x]);
        starts.v.extend([0.0, 0.0]);
        starts.p.extend([0.0, 0.0]);
    }
    let mut ended = 0;
    let count = allocations(|| {
        let _ = engine.run(&starts, &|| ControlFlow::Continue(()), &mut |_, _| ended += 1);
    });
    assert_eq!(ended, starts.len());
    count
}

#[test]
fn nothing_allocates_after_the_stepper_is_made() {
    assert!(allocations(|| vec![0.0; 3]) == 1, "the counter counts");

    let pendulum = problem("double-pendulum");
    for method in Method::all().into_iter().filter(|method| method.fits(&pendulum.system).is_ok()) {
        assert_eq!(steps(&pendulum, &method, 0.01), 0, "{}", method.name);
    }
    let relativistic = System::build("relativistic", "Relativistic oscillator")
        .coordinate("x", "")
        .start(["0"], ["0.9"])
        .lagrangian(|q, v, _, _| -(-v[0].squared() + 1.0).sqrt() - q[0].squared() * 0.5)
        .unwrap();
    let relativistic = relativistic.problem(&Settings::default()).unwrap();
    for name in ["simpson", "gauss8", "rk4", "rk4-velocity"] {
        assert_eq!(steps(&relativistic, &method(name), 0.01), 0, "relativistic, {name}");
    }
    // constant and varying mass matrices, dense and banded solvers
    let chain = problem_with("fput", &[("n", 100.0)], None);
    for name in ["simpson", "lobatto8", "split6", "split10", "rk4", "rk4-velocity"] {
        assert_eq!(steps(&chain, &method(name), 0.2), 0, "chain, {name}");
    }
    for name in ["lagrange-top", "kepler", "charged-particle", "n-pendulum"] {
        assert_eq!(steps(&problem(name), &method("lobatto8"), 1e-3), 0, "{name}");
    }
    let linear = problem("linear-double-pendulum");
    for name in ["simpson", "gauss8", "split6", "rk4"] {
        assert_eq!(steps(&linear, &method(name), 0.02), 0, "full mass matrix, {name}");
        let mut propagator = Propagator::new(&linear, &method(name), &0.02).unwrap();
        let mut state = State::new(&linear);
        assert_eq!(allocations(|| propagator.step(&mut state)), 0, "propagator, {name}");
    }
    // with many digits: tables for sine and cosine are made where they are first used, with the problem
    let digits: Problem<Digits<4>> = pendulum.system.problem(&Settings::default()).unwrap();
    for name in ["simpson", "gauss8", "rk4"] {
        assert_eq!(steps(&digits, &method(name), Digits::from_f64(0.01)), 0, "many digits, {name}");
    }

    for name in ["simpson", "gauss8", "rk4"] {
        let (few, many) = (100, 1000);
        // one with nothing but an energy to watch, one with six more quantities
        for (problem, step) in [(&pendulum, 0.01), (&problem("outer-solar-system"), 100.0)] {
            // tapes are made and symmetries looked for once in the life of a system
            simulation(problem, &method(name), step, 1);
            let counts = [few, many].map(|steps| simulation(problem, &method(name), step, steps));
            assert_eq!(counts[0], counts[1], "{name}: a simulation of {few} and of {many} steps");
            assert!(counts[0] > 0);
        }
    }

    // events are found without asking for memory, and kept in room that is made before
    for name in ["simpson", "gauss8", "rk4", "rk4-velocity"] {
        let (count, found) = watched(&pendulum, &method(name), 0.01, 500);
        assert_eq!(count, KEPT, "events, {name}");
        assert!(found > 300, "{name}: {found}");
    }
    for name in ["simpson", "gauss8", "rk4"] {
        assert_eq!(members("double-pendulum", name), 0, "members, {name}");
    }
    assert_eq!(members("linear-double-pendulum", "split6"), 0, "members, split6");
    let (count, found) = watched(&linear, &method("split6"), 0.01, 500);
    assert!((count, found > 0) == (KEPT, true), "events, split6: {count}, {found}");
    let (count, found) = watched(&digits, &method("simpson"), Digits::from_f64(0.01), 50);
    assert_eq!(count, KEPT, "events with many digits");
    assert!(found > 30, "{found}");
}
