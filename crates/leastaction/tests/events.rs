//! Events: found where they happen, as exactly as the method steps, and without a trace in the run.
//!
//! Orders are measured with 77 digits, against the exact solution of the pendulum and against a run of high order of the double
//! pendulum; the table of the book is what is measured here. Edge cases: zeros at the start and at the ends of steps,
//! touches, several events in a step, formulas that are not finite.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::method;
use leastaction::error::Cause;
use leastaction::exact;
use leastaction::prelude::*;
use leastaction::scalar::{Digits, Field, Real};
use leastaction::simulate::{
    Crossings, Direction, Event, Events, Moment, Observed, Observer, Outcome, simulate,
};
use std::ops::ControlFlow;

type Number = Digits<4>;

/// A run of a catalogue system with events, each a name and a formula; `^` or `_` in front says rising or falling.
fn run_with(system: &str, events: &[(&str, &str)]) -> Run {
    let mut run = Run::of(system);
    for (name, formula) in events {
        let (direction, of) = match formula.split_at(1) {
            ("^", rest) => (Direction::Rising, rest),
            ("_", rest) => (Direction::Falling, rest),
            _ => (Direction::Both, *formula),
        };
        run.events.insert((*name).to_owned(), Event { of: of.into(), direction, stop: None });
    }
    run
}

/// Everything that happens in a number of steps, with all digits.
fn crossings<R: Real>(problem: &Problem<R>, name: &str, step: R, steps: u64, run: &Run) -> Crossings<R> {
    let observed = Observed::new(run, &problem.system, None).unwrap();
    let method = method(name);
    let (mut stepper, mut state) = (Stepper::new(problem, &method, step), State::new(problem));
    let mut events = Events::new(problem, &method, &stepper, &observed);
    let outcome = simulate(problem, &mut stepper, &mut state, steps, &mut [&mut events]);
    assert!(matches!(outcome, Outcome::Done), "{outcome:?}");
    events.crossings
}

fn digits(system: &str) -> Problem<Number> {
    catalogue::system(system).unwrap().problem(&Settings::default()).unwrap()
}

/// The slope of errors against numbers of steps, fitted in logarithms.
fn order(steps: &[u64], errors: &[f64]) -> f64 {
    let points: Vec<(f64, f64)> =
        steps.iter().zip(errors).map(|(steps, error)| (-(*steps as f64).ln(), error.ln())).collect();
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / count, sum.1 + p.1 / count));
    let (xy, xx) = points
        .iter()
        .fold((0.0, 0.0), |sum, p| (sum.0 + (p.0 - x) * (p.1 - y), sum.1 + (p.0 - x) * (p.0 - x)));
    xy / xx
}

/// The methods whose orders are measured.
const METHODS: [(&str, usize); 10] = [
    ("midpoint", 2),
    ("verlet", 2),
    ("simpson", 4),
    ("rk4", 4),
    ("rk4-velocity", 4),
    ("lobatto", 6),
    ("gauss6", 6),
    ("lobatto8", 8),
    ("split4", 4),
    ("split8", 8),
];

#[test]
fn event_times_of_the_pendulum_converge_to_the_exact_ones() {
    // released at rest it passes the lowest point after a quarter of the period, and every half period from then on
    let settings = Settings { q: Some(vec!["2".into()]), ..Settings::default() };
    let problem: Problem<Number> = catalogue::system("pendulum").unwrap().problem(&settings).unwrap();
    let period = exact::period(&problem).unwrap();
    let run = run_with("pendulum", &[("low", "q")]);
    // numbers of steps in two periods that do not put crossings at the ends of steps
    let steps = [401, 653, 1069, 1741];
    for (name, expected) in METHODS {
        let errors = steps.map(|steps| {
            let step = period * Number::from_f64(2.0) / Number::from_f64(steps as f64);
            let found = crossings(&problem, name, step, steps, &run);
            assert_eq!(found.len(), 4, "{name}");
            let error = |(k, t): (usize, &Number)| {
                (*t - period * Number::from_f64(0.25 + 0.5 * k as f64)).to_f64().abs()
            };
            found.t.iter().enumerate().map(error).fold(0.0, f64::max)
        });
        let found = order(&steps, &errors);
        assert!((found - expected as f64).abs() < 0.25, "{name}: {found:.3} {errors:?}");
    }
}

/// Both angles of the double pendulum pass heights where nothing is symmetric.
const HEIGHTS: [&str; 2] = ["0.1", "0.3"];
/// Numbers of steps to t = 3.
const STEPS: [u64; 8] = [301, 421, 599, 839, 1181, 1663, 2333, 3271];

fn generic_events() -> Run {
    run_with("double-pendulum", &[("first", "q1 - 0.1"), ("second", "q2 - 0.3")])
}

fn step(steps: u64) -> Number {
    Number::from_f64(3.0) / Number::from_f64(steps as f64)
}

/// All events of the double pendulum to t = 3 by a method of high order.
fn reference(problem: &Problem<Number>) -> Crossings<Number> {
    let found = crossings(problem, "gauss30", step(150), 150, &generic_events());
    assert!(found.len() >= 8, "{}", found.len());
    found
}

/// The largest difference.
fn distance(a: &[Number], b: &[Number]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| (*x - *y).to_f64().abs()).fold(0.0, f64::max)
}

#[test]
fn times_and_states_of_events_have_the_order_of_the_method() {
    let problem = digits("double-pendulum");
    let right = reference(&problem);
    for (name, expected) in METHODS {
        if Method::named(name).unwrap().fits(&problem.system).is_err() {
            continue;
        }
        let few = &STEPS[..5];
        let all: Vec<_> = few
            .iter()
            .map(|&steps| crossings(&problem, name, step(steps), steps, &generic_events()))
            .collect();
        for (what, part) in [
            ("t", (|c| &c.t) as fn(&Crossings<Number>) -> &Vec<Number>),
            ("q", |c| &c.q),
            ("v", |c| &c.v),
            ("p", |c| &c.p),
        ] {
            let errors: Vec<f64> = all.iter().map(|found| distance(part(found), part(&right))).collect();
            let found = order(few, &errors);
            assert!((found - expected as f64).abs() < 0.15, "{name}, {what}: {found:.3} {errors:?}");
        }
    }
}

/// The times at which the polynomials within the steps have the events, by bisection.
#[derive(Default)]
struct OnPolynomials {
    times: Vec<Number>,
    before: Vec<Number>,
}

impl Observer<Number> for OnPolynomials {
    fn observe(&mut self, moment: &Moment<'_, Number>) -> Result<ControlFlow<()>, Cause> {
        let value = |q: &[Number], i: usize| q[i] - Number::from_decimal(HEIGHTS[i]);
        let mut found = Vec::new();
        for i in 0..self.before.len() {
            if value(&moment.state.q, i).to_f64() * self.before[i].to_f64() > 0.0 {
                continue;
            }
            let (mut low, mut high) = (Number::zero(), Number::one());
            let (mut q, mut v) = (moment.state.q.clone(), moment.state.q.clone());
            for _ in 0..200 {
                let middle = (low + high) * Number::from_f64(0.5);
                moment.stepper.within(&moment.stepper.weights(&middle).unwrap(), &mut q, &mut v);
                let same = value(&q, i).to_f64() * self.before[i].to_f64() > 0.0;
                if same { low = middle } else { high = middle }
            }
            found.push(moment.t - (Number::one() - low) * *moment.stepper.step_size());
        }
        found.sort_by(|a, b| a.to_f64().total_cmp(&b.to_f64()));
        self.times.extend(found);
        self.before = (0..2).map(|i| value(&moment.state.q, i)).collect();
        Ok(ControlFlow::Continue(()))
    }
}

/// Errors of event times: located, and read off the polynomials of the steps.
fn both_errors(problem: &Problem<Number>, name: &str, steps: u64, right: &[Number]) -> [f64; 2] {
    let located = crossings(problem, name, step(steps), steps, &generic_events()).t;
    let mut reader = OnPolynomials::default();
    let mut stepper = Stepper::new(problem, &method(name), step(steps));
    simulate(problem, &mut stepper, &mut State::new(problem), steps, &mut [&mut reader]);
    [distance(&located, right), distance(&reader.times, right)]
}

#[test]
fn the_table_of_the_book_is_what_is_measured() {
    let problem = digits("double-pendulum");
    let right = reference(&problem).t;
    let mut lines = vec![
        "| method | order | error of event times | measured order | on the polynomial | measured order |"
            .to_owned(),
        "|---|---|---|---|---|---|".to_owned(),
    ];
    for (name, expected, inner) in
        [("midpoint", 2, 2), ("simpson", 4, 3), ("lobatto", 6, 4), ("lobatto8", 8, 5), ("gauss8", 8, 5)]
    {
        let errors = STEPS.map(|steps| both_errors(&problem, name, steps, &right));
        let orders = [0, 1].map(|i| order(&STEPS, &errors.map(|pair| pair[i])));
        assert!((orders[0] - f64::from(expected)).abs() < 0.15, "{name}: {orders:?}");
        // how large the error of a polynomial is depends on where in its step the event lies
        assert!((orders[1] - f64::from(inner)).abs() < 0.3, "{name}: {orders:?}");
        lines.push(format!(
            "| `{name}` | {expected} | {:.1e} | {:.1} | {:.1e} | {:.1} |",
            errors[0][0], orders[0], errors[0][1], orders[1]
        ));
    }
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/events.md");
    let text = std::fs::read_to_string(page).unwrap();
    assert!(
        text.contains(&lines.join("\n")),
        "the table of book/src/events.md should be\n{}",
        lines.join("\n")
    );
}

/// A free particle with one coordinate x = t, so that events can be placed at will.
fn clock() -> System {
    let builder =
        System::build("clock", "Clock").coordinate("x", "").start(["0"], ["1"]).run("simpson", "0.1", "1");
    builder.lagrangian(|_, v, _, _| v[0].squared() * 0.5).unwrap()
}

/// The times of all events of the clock with steps of a size, until t = 1.
fn times(step: f64, events: &[(&str, &str)]) -> Vec<(String, f64)> {
    let run = Run { step: Some(step.into()), every: Some(0), ..run_with("clock", events) };
    let solution = run.simulate_system(&clock()).unwrap();
    let found = &solution.events;
    found.event.iter().zip(&found.t).map(|(event, t)| (found.tallies[*event].name.clone(), *t)).collect()
}

fn assert_times(found: &[(String, f64)], expected: &[(&str, f64)]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((name, t), (expected, right)) in found.iter().zip(expected) {
        assert!(name == expected && (t - right).abs() < 1e-15, "{found:?}");
    }
}

#[test]
fn the_run_does_not_notice_that_it_is_watched() {
    let outputs = [("height", "-cos(q1) - cos(q2)"), ("twice", "2*height + p_q1")];
    for name in ["midpoint", "verlet", "simpson", "lobatto8", "gauss8", "rk4", "rk4-velocity"] {
        let plain = Run { method: Some(name.into()), until: Some(4.0.into()), ..Run::of("double-pendulum") };
        let watched = Run {
            events: run_with(
                "",
                &[("a", "q1"), ("b", "^p_q2 - v_q1"), ("c", "sin(20*t)"), ("d", "height + 1")],
            )
            .events,
            outputs: outputs.iter().map(|(n, f)| ((*n).to_owned(), (*f).into())).collect(),
            ..plain.clone()
        };
        let (plain, watched) = (plain.simulate().unwrap(), watched.simulate().unwrap());
        assert!(watched.events.len() > 20, "{name}: {}", watched.events.len());
        assert_eq!(plain.summary.q, watched.summary.q, "{name}");
        assert_eq!(plain.summary.p, watched.summary.p, "{name}");
        assert_eq!(plain.summary.newton.iterations_mean, watched.summary.newton.iterations_mean, "{name}");
        let (a, b) = (&plain.recording, &watched.recording);
        assert!(a.t == b.t && a.q == b.q && a.v == b.v && a.p == b.p && a.energy == b.energy, "{name}");
    }
}

#[test]
fn directions_choose_among_the_changes() {
    let events = [("all", "q"), ("up", "^q"), ("down", "_q")];
    let run = Run { until: Some("3*period".into()), ..run_with("pendulum", &events) };
    let found = run.simulate().unwrap().events;
    let list = |event: usize| found.times(event).copied().collect::<Vec<f64>>();
    // it starts above zero
    assert_eq!(list(0).len(), 6);
    assert_eq!(list(2), list(0).into_iter().step_by(2).collect::<Vec<_>>());
    assert_eq!(list(1), list(0).into_iter().skip(1).step_by(2).collect::<Vec<_>>());
    for (event, v) in found.event.iter().zip(&found.v) {
        assert!(*event == 0 || (*event == 1) == (*v > 0.0));
    }
    assert_eq!(found.count, [1, 1, 2, 1, 3, 2, 4, 2, 5, 3, 6, 3]);
}

#[test]
fn several_events_in_a_step_come_in_the_order_of_time() {
    let events = [("late", "x - 0.38"), ("early", "x - 0.32"), ("same", "2*x - 0.64"), ("mid", "t - 0.35")];
    let expected = [("early", 0.32), ("same", 0.32), ("mid", 0.35), ("late", 0.38)];
    assert_times(&times(0.1, &events), &expected);
    assert_times(&times(1.0, &events), &expected);
}

#[test]
fn two_changes_within_a_step_are_seen_however_near() {
    assert_times(&times(0.1, &[("a", "(x - 0.31)*(x - 0.34)")]), &[("a", 0.31), ("a", 0.34)]);
    assert_times(
        &times(1.0, &[("a", "(x - 0.2)*(x - 0.45)*(x - 0.7)*(x - 0.95)")]),
        &[("a", 0.2), ("a", 0.45), ("a", 0.7), ("a", 0.95)],
    );
    // both between the same two points that are looked at
    assert_times(&times(0.1, &[("a", "(x - 0.332)*(x - 0.343)")]), &[("a", 0.332), ("a", 0.343)]);
    assert_times(
        &times(1.0, &[("a", "(x - 0.1)*(x - 0.6)*(x - 0.60001)")]),
        &[("a", 0.1), ("a", 0.6), ("a", 0.60001)],
    );
    // a method without nodes has the continuous extension
    let run = Run {
        method: Some("rk4".into()),
        ..run_with("clock", &[("a", "(x - 0.31)*(x - 0.34)"), ("b", "x - 0.33")])
    };
    let found = run.simulate_system(&clock()).unwrap().events;
    assert_eq!(found.event, [0, 1, 0]);
}

#[test]
fn a_zero_at_the_start_is_no_event() {
    assert_times(
        &times(0.25, &[("a", "x"), ("b", "x*(x - 0.5)"), ("c", "t*(t - 0.1)*(t - 0.9)")]),
        &[("c", 0.1), ("b", 0.5), ("c", 0.9)],
    );
    // a start at the zero but for rounding
    assert_times(&times(0.25, &[("a", "x + 0.1 + 0.2 - 0.3"), ("b", "x - (0.1 + 0.2 - 0.3)")]), &[]);
    assert_times(&times(0.25, &[("a", "x - 1e-9")]), &[("a", 1e-9)]);
    // through zero and on: an orbit that starts on its section
    let mut run = run_with("henon-heiles", &[("section", "^x")]);
    run.until = Some(20.0.into());
    let found = run.simulate().unwrap().events;
    assert!(found.t[0] > 4.0 && found.len() == 3, "{:?}", found.t);
}

#[test]
fn a_zero_at_the_end_of_a_step_is_one_event_and_a_touch_is_none() {
    assert_times(&times(0.25, &[("a", "t - 0.5")]), &[("a", 0.5)]);
    assert_times(&times(0.25, &[("a", "(t - 0.5)^3")]), &[("a", 0.5)]);
    assert_times(
        &times(0.25, &[("touch", "(t - 0.5)^2"), ("inside", "(t - 0.6)^2"), ("at", "abs(t - 0.3125)")]),
        &[],
    );
    // whether it goes on through zero is not known at the end of the run
    assert_times(&times(0.25, &[("a", "t - 1")]), &[]);
    // zero for a while: one change, at some time while it was zero
    assert_times(&times(0.25, &[("a", "sign(t - 0.375) + sign(t - 0.625)")]), &[("a", 0.5)]);
}

#[test]
fn a_change_of_sign_without_a_zero_is_no_event() {
    // poles, at the end of a part of a step, within it, and where no number is; a jump, and an angle that starts again
    for pole in ["0.5", "0.3", "1/3", "0.51"] {
        let formulas = [
            ("pole", format!("1/(t - {pole} + 1e-17)")),
            ("tan", format!("tan(t - {pole} + pi/2)")),
            ("jump", format!("sign(t - {pole} + 1e-17) + 0.5")),
            ("angle", format!("atan2({pole} - t, -1)")),
        ];
        for (name, formula) in &formulas {
            for step in [0.25, 0.07, 1.0] {
                let found = times(step, &[(name, formula)]);
                assert_eq!(found, [], "{formula} with {step}");
            }
        }
    }
    // beside them zeros are found: tan has both
    let right = std::f64::consts::PI / 10.0;
    assert_times(
        &times(0.02, &[("a", "tan(10*t)")]),
        &[("a", right), ("a", 2.0 * right), ("a", 3.0 * right)],
    );
    // steep, flat and rooted zeros are zeros
    assert_times(&times(0.07, &[("a", "tanh(1e6*(t - 0.3))")]), &[("a", 0.3)]);
    assert_times(&times(0.07, &[("a", "sign(t - 0.3)*abs(t - 0.3)^(1/3)")]), &[("a", 0.3)]);
}

#[test]
fn jumps_and_poles_are_told_of() {
    for (formula, jumps, first) in [
        ("sign(x - 0.3) + 0.5", 1, 0.3),
        ("1/(x - 0.3)", 1, 0.3),
        ("atan2(0.62 - x, -1)", 1, 0.62),
        ("tan(10*x)", 3, std::f64::consts::PI / 20.0),
        ("sign(x - 0.5)", 1, 0.5),
        ("x - 0.5", 0, 0.0),
        ("tanh(1e6*(x - 0.3))", 0, 0.0),
    ] {
        for (method, step) in [("simpson", 0.07), ("gauss16", 0.25), ("rk4", 0.07)] {
            let run = Run { step: Some(step.into()), ..run_with("clock", &[("jump", formula)]) };
            let run = Run { method: Some(method.into()), ..run };
            let solution = run.simulate_system(&clock()).unwrap();
            let tally = &solution.events.tallies[0];
            assert_eq!(tally.jumps, jumps, "{formula} with {method}");
            let notes = solution.notes().concat();
            if jumps == 0 {
                assert!(tally.first_jump.is_none() && notes.is_empty(), "{formula} with {method}: {notes}");
                continue;
            }
            let error = (tally.first_jump.unwrap() - first).abs();
            assert!(error < 1e-14, "{formula} with {method}: {error:e}");
            for part in ["`jump` changed its sign without a zero", "first at t = ", "try a formula"] {
                assert!(notes.contains(part), "{notes}");
            }
        }
    }
    // directions count here as well, and many digits do as f64
    let run = run_with("clock", &[("up", "^sign(x - 0.31)"), ("down", "_sign(x - 0.31)")]);
    for precision in [None, Some(30)] {
        let solution = Run { precision, ..run.clone() }.simulate_system(&clock()).unwrap();
        let jumps: Vec<u64> = solution.events.tallies.iter().map(|tally| tally.jumps).collect();
        assert_eq!(jumps, [1, 0], "{precision:?}");
        assert_eq!(solution.summary.events["up"].jumps, 1);
    }
}

#[test]
fn a_formula_that_changes_too_fast_is_told_of() {
    let solution = run_with("clock", &[("fast", "sin(1e7*x) + 0.9")]).simulate_system(&clock()).unwrap();
    assert!(solution.events.tallies[0].unresolved > 0);
    let notes = solution.notes().concat();
    assert!(notes.contains("`fast` changes too fast in ") && notes.contains("try a smaller step"), "{notes}");
    let solution = run_with("clock", &[("slow", "sin(30*x) + 0.9")]).simulate_system(&clock()).unwrap();
    assert_eq!((solution.events.tallies[0].unresolved, solution.events.len()), (0, 9));
}

#[test]
fn steep_and_flat_formulas_are_located_as_what_they_are_made_of() {
    for (method, step) in
        [("midpoint", 0.02), ("simpson", 0.05), ("rk4", 0.05), ("gauss8", 0.1), ("gauss24", 0.4)]
    {
        let formulas =
            [("q", "q"), ("steep", "tanh(1e6*q)"), ("root", "sign(q)*abs(q)^(1/3)"), ("flat", "q^3")];
        let run = Run { method: Some(method.into()), ..run_with("pendulum", &formulas) };
        let run = Run { step: Some(step.into()), until: Some(4.0.into()), ..run };
        let found = run.simulate().unwrap().events;
        let times = |event: usize| found.times(event).copied().collect::<Vec<f64>>();
        assert!(times(0).len() >= 6, "{method}: {:?}", times(0));
        for (event, band) in [(1, 1e-14), (2, 1e-14), (3, 1e-6)] {
            assert_eq!(times(event).len(), times(0).len(), "{method}, {}", formulas[event].0);
            for (t, right) in times(event).iter().zip(times(0)) {
                assert!((t - right).abs() < band, "{method}, {}: {t} {right}", formulas[event].0);
            }
        }
    }
}

#[test]
fn events_of_time_make_stroboscopic_sections() {
    let omega = 7.3;
    let mut run = run_with("pendulum", &[("strobe", "sin(7.3*t/2)")]);
    (run.until, run.step) = (Some(10.0.into()), Some(0.013.into()));
    let found = run.simulate().unwrap().events;
    assert_eq!(found.len(), 11);
    for (k, t) in found.t.iter().enumerate() {
        assert!((t - (k + 1) as f64 * std::f64::consts::TAU / omega).abs() < 4e-15, "{k}: {t}");
    }
}

#[test]
fn partial_steps_of_a_driven_system_start_at_the_right_time() {
    // x'' = cos t from x = −1 at rest: x = −cos t, zero at π/2, 3π/2, …
    let driven = System::build("driven", "Driven particle")
        .coordinate("x", "")
        .start_at_rest(["-1"])
        .run("lobatto8", "0.13", "13")
        .lagrangian(|q, v, t, _| v[0].squared() * 0.5 + q[0] * t.cos())
        .unwrap();
    for name in ["lobatto8", "gauss8"] {
        let run = Run { method: Some(name.into()), ..run_with("driven", &[("zero", "x")]) };
        let found = run.simulate_system(&driven).unwrap().events;
        assert_eq!(found.len(), 4, "{name}");
        for (k, t) in found.t.iter().enumerate() {
            assert!((t - (k as f64 + 0.5) * std::f64::consts::PI).abs() < 1e-10, "{name}: {t}");
        }
    }
}

#[test]
fn a_run_stops_at_the_wanted_event() {
    let mut run =
        Run { until: Some("10*period".into()), ..run_with("pendulum", &[("low", "q"), ("other", "q + 1")]) };
    run.events["low"].stop = Some(5);
    let solution = run.simulate().unwrap();
    let Outcome::Stopped { event, time } = &solution.outcome else { panic!("{:?}", solution.outcome) };
    let summary = &solution.summary;
    assert_eq!(
        (event.as_str(), *time, summary.outcome),
        ("low", solution.events.t.last().copied().unwrap(), "stopped")
    );
    assert_eq!(summary.events["low"].count, 5);
    // it ends after the step in which that happened
    assert!(summary.t_end >= *time && summary.t_end - time < summary.step, "{} {time}", summary.t_end);
    assert_eq!(solution.recording.t.last(), Some(&summary.t_end));
    let text = summary.to_string();
    assert!(text.contains("(stopped)") && text.contains("event      low 5 times, first at t = "), "{text}");

    // in the very last step it still counts, and before the end of the others
    run.until = Some(summary.t_end.into());
    assert!(matches!(run.simulate().unwrap().outcome, Outcome::Stopped { .. }));
    run.until = Some((summary.t_end - summary.step).into());
    let short = run.simulate().unwrap();
    assert!(matches!(&short.outcome, Outcome::NotReached { event } if event == "low"));
    let told = short.not_reached().concat();
    assert!(told.contains("before `low` happened 5 times: it happened 4 times"), "{told}");
    // as often as before, in a fifth of the time more
    let needed: f64 = told.split("t = ").last().unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!((needed - 1.25 * short.summary.t_end).abs() < 1e-3, "{told}");
    let text = short.summary.to_string();
    assert!(text.contains("event      low 4 of 5 times, first"), "{text}");

    // what comes after the stop in the same step is left out
    let mut run = run_with("clock", &[("stop", "x - 0.33"), ("after", "x - 0.36"), ("before", "x - 0.31")]);
    run.events["stop"].stop = Some(1);
    let solution = run.simulate_system(&clock()).unwrap();
    assert_eq!(solution.events.event, [2, 0]);
    assert!(solution.summary.to_string().contains("event      after never happened"));
}

#[test]
fn events_carry_state_and_outputs() {
    let mut run = run_with("kepler", &[("peri", "^x*v_x + y*v_y")]);
    run.outputs.insert("r".into(), "sqrt(x^2 + y^2)".into());
    run.outputs.insert("spin".into(), "x*p_y - y*p_x".into());
    (run.method, run.until) = (Some("lobatto8".into()), Some("3.5*period".into()));
    run.step = Some("period/200".into());
    let solution = run.simulate().unwrap();
    let found = &solution.events;
    let problem = run.plan().unwrap().problem;
    assert_eq!((found.len(), found.outputs.as_slice()), (3, ["r".to_owned(), "spin".to_owned()].as_slice()));
    let spin = problem.q0[0] * problem.p0[1] - problem.q0[1] * problem.p0[0];
    for row in 0..3 {
        let (q, v, p) = (&found.q[2 * row..], &found.v[2 * row..], &found.p[2 * row..]);
        assert!((q[0] * v[0] + q[1] * v[1]).abs() < 1e-12);
        let values = &found.values[2 * row..];
        assert_eq!(values[0], (q[0] * q[0] + q[1] * q[1]).sqrt());
        assert!((values[1] - (q[0] * p[1] - q[1] * p[0])).abs() < 1e-15);
        assert!((values[1] - spin).abs() < 1e-13);
    }
}

#[test]
fn sixty_four_digits_are_located_to_the_last() {
    let mut run = run_with("pendulum", &[("low", "q"), ("turn", "p_q")]);
    run.precision = Some(60);
    (run.method, run.step) = (Some("gauss38".into()), Some("period/61".into()));
    run.until = Some("period".into());
    run.outputs.insert("speed".into(), "abs(v_q)".into());
    let solution = run.simulate().unwrap();
    let period = exact::period(&digits(&run.system)).unwrap();
    let digits = solution.summary.digits.as_ref().unwrap();
    for (name, fractions) in [("low", [0.25, 0.75].as_slice()), ("turn", &[0.5])] {
        assert_eq!(digits.events[name].len(), fractions.len(), "{name}");
        for (text, fraction) in digits.events[name].iter().zip(fractions) {
            let error = (Number::from_decimal(text) - period * Number::from_f64(*fraction)).to_f64().abs();
            assert!(error < 1e-57, "{name}: {error:e}");
        }
    }
    assert!(digits.outputs["speed"].len() > 50, "{}", digits.outputs["speed"]);
}

#[test]
fn a_formula_that_is_not_finite_names_its_event_and_keeps_what_was_found() {
    let mut run = run_with("clock", &[("fine", "x - 0.2"), ("root", "sqrt(0.5 - x) - 0.5")]);
    run.step = Some(0.07.into());
    let solution = run.plan_for(&clock()).unwrap().simulate().unwrap();
    let Outcome::Failed(failure) = &solution.outcome else { panic!("{:?}", solution.outcome) };
    assert!(matches!(&failure.cause, Cause::EventNotFinite { event, .. } if event == "root"));
    let text = failure.to_string();
    for part in [
        "in step 8, from t = 0.49",
        "the formula of the event `root` gives NaN at t = 0.56",
        "a root or logarithm",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(solution.events.event, [0, 1]);
    assert!((solution.events.t[1] - 0.25).abs() < 1e-15);

    // not finite within a step only: there the partial step says so
    let run =
        Run { step: Some(1.0.into()), ..run_with("clock", &[("gap", "sqrt((x - 0.5)^2 - 0.01) - 0.3")]) };
    let solution = run.plan_for(&clock()).unwrap().simulate().unwrap();
    let Outcome::Failed(failure) = &solution.outcome else { panic!("{:?}", solution.outcome) };
    assert!(failure.to_string().contains("`gap` gives NaN at t = 0.5"), "{failure}");

    // at the start nothing is computed
    let error = run_with("clock", &[("log", "ln(x)")]).plan_for(&clock()).unwrap_err();
    assert!(error.is_input() && error.to_string().contains("event `log` gives -inf"), "{error}");
}

#[test]
fn mistakes_are_named() {
    let plan = |change: &dyn Fn(&mut Run)| {
        let mut run = Run::of("double-pendulum");
        change(&mut run);
        run.plan().unwrap_err().to_string()
    };
    let event = |name: &str, formula: &str, stop: Option<u64>| {
        let event = Event { stop, ..Event::of(formula) };
        plan(&|run: &mut Run| drop(run.events.insert(name.to_owned(), event.clone())))
    };
    let output = |name: &str, formula: &str| {
        plan(&|run: &mut Run| drop(run.outputs.insert(name.to_owned(), formula.into())))
    };
    for (found, parts) in [
        (event("hit", "q3", None), ["event `hit`:1:1", "unknown name `q3`; did you mean `q1`"]),
        (event("hit", "q1 +", None), ["event `hit`:1:5", "the formula ends"]),
        (event("hit", "g - l1", None), ["event `hit`: `g - l1` is the same all the time", "sign"]),
        (event("hit", "q1", Some(0)), ["event `hit`: stop = 0", "at least 1"]),
        (event("a b", "q1", None), ["event `a b`", "letters"]),
        (event("hit", "", None), ["event `hit`", "the formula ends"]),
        (output("energy", "q1"), ["output `energy`", "taken"]),
        (output("p_q1", "q1"), ["output `p_q1`", "taken"]),
        (output("m1", "q1"), ["output `m1`", "taken"]),
        (output("run", "q1"), ["output `run`", "files use this name"]),
        (output("x", "dott(q1)"), ["output `x`", "unknown function `dott`"]),
        (output("1x", "q1"), ["output `1x`", "does not start with a digit"]),
    ] {
        for part in parts {
            assert!(found.contains(part), "{found}");
        }
    }
}

#[test]
fn files_keep_outputs_and_events_in_their_order() {
    let text = r#"
system = "pendulum"
[run]
until = 3

[outputs]
z = "-cos(q)"
a = "z^2"

[events]
turn = { of = "p_q", direction = "falling", stop = 10 }
low = "q"
both = { of = "z", direction = "both" }
"#;
    let run = Run::from_toml(text).unwrap();
    assert_eq!(run.outputs.keys().collect::<Vec<_>>(), ["z", "a"]);
    assert_eq!(run.events.keys().collect::<Vec<_>>(), ["turn", "low", "both"]);
    assert_eq!(run.events["turn"], Event { of: "p_q".into(), direction: Direction::Falling, stop: Some(10) });
    assert_eq!(run.events["low"], Event::of("q"));
    let solution = run.simulate().unwrap();
    let again = Run::from_toml(&solution.run.to_toml().unwrap()).unwrap();
    assert_eq!((&again.outputs, &again.events), (&run.outputs, &run.events));
    assert_eq!(again.events.keys().collect::<Vec<_>>(), ["turn", "low", "both"]);
    let repeated = again.simulate().unwrap();
    assert_eq!((&repeated.events.t, &repeated.events.values), (&solution.events.t, &solution.events.values));
    for (wrong, part) in [
        ("hit = 3", "a formula in quotes, or a table"),
        (
            "hit = { of = \"q\", direction = \"up\" }",
            "`direction` is \"rising\" or \"falling\" or \"both\", not \"up\"",
        ),
        ("hit = { of = \"q\", stops = 3 }", "stops"),
        ("hit = { direction = \"rising\" }", "the event `hit` has no formula"),
        ("hit = { of = \"q\", stop = -1 }", "`stop` must be a whole number, 1 or more"),
    ] {
        let error =
            Run::from_toml(&format!("system = \"pendulum\"\n[events]\n{wrong}")).unwrap_err().to_string();
        assert!(error.contains(part), "{wrong}: {error}");
    }
}

#[test]
fn outputs_are_right_at_every_row() {
    let mut run = Run::of("double-pendulum");
    run.outputs.insert("height".into(), "-cos(q1) - cos(q2)".into());
    run.outputs.insert("work".into(), "p_q1*dot(q1) + 3*v_q2 - energy + t".into());
    for (precision, dense, every) in [(None, 1, 1), (None, 4, 3), (Some(30), 3, 2), (None, 1, 0)] {
        (run.until, run.precision, run.dense, run.every) =
            (Some(1.0.into()), precision, Some(dense), Some(every));
        let solution = run.simulate().unwrap();
        let r = &solution.recording;
        assert_eq!(r.outputs.len(), if every == 0 { 0 } else { 2 });
        for row in 0..r.len() {
            let (q, v, p) = (&r.q[2 * row..], &r.v[2 * row..], &r.p[2 * row..]);
            assert!((r.outputs[0].values[row] - (-q[0].cos() - q[1].cos())).abs() < 1e-14);
            let work = p[0] * v[0] + 3.0 * v[1] - r.energy[row] + r.t[row];
            assert!((r.outputs[1].values[row] - work).abs() < 1e-12);
        }
        // the summary looks at every step, recorded or not
        let height = &solution.summary.outputs["height"];
        let right = |q: &[f64]| -q[0].cos() - q[1].cos();
        assert!((height.r#final - right(&solution.summary.q)).abs() < 1e-14);
        assert!((height.min + 1.998_88).abs() < 1e-5 && (height.max + 1.207_11).abs() < 1e-5, "{height:?}");
    }
}
