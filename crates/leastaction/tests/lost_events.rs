//! No events are lost in large steps.
//!
//! Generated systems and formulas, with steps as large as each method allows. The reference is computed another way: a run of high order with
//! steps forty times smaller, and formulas evaluated here at its ends alone, as the generator wrote them. Numbers of events,
//! directions and times must agree, but where the run itself is too inexact to tell.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::error::Source;
use leastaction::prelude::*;
use leastaction::simulate::{Direction, Event, Solution};
use std::collections::BTreeMap;

/// A small generator of numbers (xorshift).
struct Random(u64);

impl Random {
    /// A number between two others.
    fn within(&mut self, low: f64, high: f64) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + (high - low) * (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
    fn below(&mut self, count: usize) -> usize {
        self.within(0.0, count as f64) as usize
    }
}

/// Title, coordinates, Lagrangian, whether a kick and a drift can be told apart.
const SYSTEMS: [(&str, &str, &str, bool); 6] = [
    ("torus", "x, y", "((2 + 0.7*cos(x))^2*v_y^2 + 0.49*v_x^2)/2", false),
    ("kepler", "x, y", "(v_x^2 + v_y^2)/2 + 1/sqrt(x^2 + y^2)", true),
    ("lissajous", "x, y", "(v_x^2 + v_y^2)/2 - (x^2 + 1.7*y^2)/2", true),
    ("double pendulum", "x, y", "v_x^2 + v_y^2/2 + v_x*v_y*cos(x - y) + 2*cos(x) + cos(y)", false),
    ("pendulum and rotor", "x, y", "v_x^2/2 + cos(x) + v_y^2/2", true),
    ("henon-heiles", "x, y", "(v_x^2 + v_y^2 - x^2 - y^2)/2 - x^2*y + y^3/3", true),
];

/// Methods and steps: as large as a motion with a period of about 6 allows.
const METHODS: [(&str, f64, bool); 10] = [
    ("gauss24", 1.1, false),
    ("gauss16", 0.7, false),
    ("gauss12", 0.5, false),
    ("gauss8", 0.3, false),
    ("lobatto8", 0.3, false),
    ("simpson", 0.12, false),
    ("midpoint", 0.05, false),
    ("split4", 0.12, true),
    ("split8", 0.3, true),
    ("rk4", 0.12, false),
];

/// How many times smaller the steps of the reference are.
const FINER: usize = 40;

fn start(random: &mut Random, name: &str) -> ([f64; 2], [f64; 2]) {
    let mut pair = |size: f64| [random.within(-size, size), random.within(-size, size)];
    match name {
        "torus" => (pair(3.0), [0.9, 0.6].map(|v| v * (1.0 + pair(0.2)[0]))),
        "kepler" => {
            let [e, _] = pair(0.2);
            ([0.8 + e, 0.0], [0.1, ((1.2 - e) / (0.8 + e)).sqrt()])
        }
        "double pendulum" => (pair(0.9), pair(0.4)),
        "henon-heiles" => (pair(0.25), pair(0.25)),
        _ => (pair(1.2), pair(1.0)),
    }
}

fn system(number: usize, random: &mut Random) -> System {
    let (name, _, lagrangian, _) = SYSTEMS[number];
    let ([x, y], [v, w]) = start(random, name);
    let text = format!(
        "title = \"{name}\"\ncoordinates = [\"x\", \"y\"]\n[parameters]\nunused = 1\n[lagrangian]\n\
         expression = \"{lagrangian}\"\n[initial]\nq = [{x}, {y}]\nv = [{v}, {w}]\n"
    );
    System::from_text(name, &Source::new(format!("{name}.toml"), &text), &mut BTreeMap::new()).expect(name)
}

/// A formula, as the library reads it and as it is evaluated here.
struct Formula {
    text: String,
    value: Value,
}

/// The value at q, v and t.
type Value = Box<dyn Fn(&[f64], &[f64], f64) -> f64>;

fn formula(text: String, value: impl Fn(&[f64], &[f64], f64) -> f64 + 'static) -> Formula {
    Formula { text, value: Box::new(value) }
}

/// A formula that has zeros at some state of a motion.
fn generate(random: &mut Random, fine: &Solution) -> Formula {
    let rows = &fine.recording;
    let row = random.below(rows.len());
    let (q, v, t) = (&rows.q[2 * row..2 * row + 2], &rows.v[2 * row..2 * row + 2], rows.t[row]);
    let (a, b, k) = (random.within(-1.0, 1.0), random.within(-1.0, 1.0), random.within(0.8, 3.0));
    let apart = 10f64.powf(random.within(-3.0, -1.0));
    let i = random.below(2);
    let (name, x, u) = (["x", "y"][i], q[i], v[i]);
    match random.below(10) {
        0 => formula(format!("{name} - ({x:?})"), move |q, _, _| q[i] - x),
        1 => formula(format!("v_{name} - ({u:?})"), move |_, v, _| v[i] - u),
        2 => {
            let c = a * q[0] + b * q[1];
            formula(format!("({a:?})*x + ({b:?})*y - ({c:?})"), move |q, _, _| a * q[0] + b * q[1] - c)
        }
        3 => formula(format!("({name} - ({x:?}))*({name} - ({x:?}) - {apart:?})"), move |q, _, _| {
            (q[i] - x) * (q[i] - x - apart)
        }),
        4 => formula("x*v_x + y*v_y".to_owned(), |q, v, _| q[0] * v[0] + q[1] * v[1]),
        5 => {
            let c = q[0] * q[1];
            formula(format!("x*y - ({c:?})"), move |q, _, _| q[0] * q[1] - c)
        }
        6 => {
            let c = (k * x).sin();
            formula(format!("sin({k:?}*{name}) - ({c:?})"), move |q, _, _| (k * q[i]).sin() - c)
        }
        7 => formula(format!("cos({k:?}*t) - {name} - ({a:?})"), move |q, _, t| (k * t).cos() - q[i] - a),
        8 => {
            let c = (x + k * t).cos();
            formula(format!("cos({name} + {k:?}*t) - ({c:?})"), move |q, _, t| (q[i] + k * t).cos() - c)
        }
        _ => formula(format!("v_x*v_y - ({a:?})*{name}"), move |q, v, _| v[0] * v[1] - a * q[i]),
    }
}

fn run(name: &str, step: f64, until: f64) -> Run {
    Run {
        method: Some(name.into()),
        step: Some(step.into()),
        until: Some(until.into()),
        every: Some(1),
        ..Run::default()
    }
}

/// Sign changes along the fine rows: times, directions and errors of times; nothing where the run cannot tell them.
fn reference(values: &[f64], times: &[f64], margin: f64) -> Option<Vec<(f64, bool, f64)>> {
    let mut found = Vec::new();
    for k in 0..values.len() - 1 {
        let (g, next) = (values[k], values[k + 1]);
        if k > 0 {
            // an extremum that is as near to zero as the run is wrong
            let (slope, bend) = (0.5 * (next - values[k - 1]), next - 2.0 * g + values[k - 1]);
            let extremum = g - 0.5 * slope * slope / bend;
            if slope.abs() <= bend.abs() && (extremum.abs() <= margin + 0.2 * bend.abs()) {
                return None;
            }
        }
        if (g < 0.0) != (next < 0.0) {
            // where the parabola through three values is zero, by bisection
            let middle = k.max(1);
            let curve = values[middle + 1] - 2.0 * values[middle] + values[middle - 1];
            let parabola = |x: f64| g + (next - g) * x + 0.5 * curve * x * (x - 1.0);
            let (mut x, mut above) = (0.0, 1.0);
            for _ in 0..50 {
                let middle = 0.5 * (x + above);
                if (parabola(middle) < 0.0) == (g < 0.0) { x = middle } else { above = middle }
            }
            let slope = (next - g + curve * (x - 0.5)) / (times[1] - times[0]);
            // the error of the parabola: a third difference times x (x − 1) (x + 1)/6
            let first = middle.min(values.len() - 3) - 1;
            let third = values[first + 3] - 3.0 * values[first + 2] + 3.0 * values[first + 1] - values[first];
            let allowed = (2.0 * margin + 0.5 * third.abs()) / slope.abs() + 1e-3 * (times[1] - times[0]);
            found.push((times[k] + x * (times[1] - times[0]), next > g, allowed));
        }
    }
    let ends = [values[0], values[values.len() - 1]];
    ends.iter().all(|end| end.abs() > margin).then_some(found)
}

/// What came of a case.
enum Verdict {
    Same(usize),
    Untold,
}

/// Compares the events of a run with large steps with those of its reference.
fn compare(what: &str, formula: &Formula, coarse: &Solution, fine: &Solution) -> Verdict {
    let value = |solution: &Solution, row: usize| {
        let r = &solution.recording;
        (formula.value)(&r.q[2 * row..2 * row + 2], &r.v[2 * row..2 * row + 2], r.t[row])
    };
    let values: Vec<f64> = (0..fine.recording.len()).map(|row| value(fine, row)).collect();
    let (mut error, mut size) = (0.0, 0.0);
    for row in 0..coarse.recording.len() {
        let (right, own) = (values[row * FINER], value(coarse, row));
        assert!(own.is_finite() && right.is_finite(), "{what}");
        error = f64::max(error, (own - right).abs());
        size = f64::max(size, right.abs());
    }
    let margin = 10.0 * error + 1e-8 * size;
    let times = &fine.recording.t;
    let Some(right) = reference(&values, times, margin) else { return Verdict::Untold };
    let found: Vec<f64> = coarse.events.times(0).copied().collect();
    assert_eq!(found.len(), right.len(), "{what}: {}\n{found:?}\n{right:?}", formula.text);
    let rows = (0..coarse.events.len()).filter(|row| coarse.events.event[*row] == 0);
    for ((row, t), (expected, rising, allowed)) in rows.zip(found).zip(&right) {
        assert!((t - expected).abs() <= *allowed, "{what}: {}: {t} {expected} {allowed:e}", formula.text);
        let e = &coarse.events;
        let value = (formula.value)(&e.q[2 * row..2 * row + 2], &e.v[2 * row..2 * row + 2], t);
        assert!(value.abs() <= 1e-11 * (1.0 + size), "{what}: {}: {value:e} at {t}", formula.text);
        // the same time in the list of rising or falling events
        let direction = coarse.events.times(if *rising { 1 } else { 2 });
        assert!(direction.into_iter().any(|x| *x == t), "{what}: {}: direction at {t}", formula.text);
    }
    Verdict::Same(right.len())
}

#[test]
fn events_of_large_steps_are_those_of_small_ones() {
    let mut random = Random(0x5DEE_CE66_D012_3457);
    let (mut same, mut untold, mut events) = (0, 0, 0);
    for round in 0..12 {
        for number in 0..SYSTEMS.len() {
            let system = system(number, &mut random);
            let (name, step, needs_split) = METHODS[(round * 7 + number) % METHODS.len()];
            let (name, step) =
                if needs_split && !SYSTEMS[number].3 { ("gauss24", 1.3) } else { (name, step) };
            let what = format!("{} with {name}, case {round}", SYSTEMS[number].0);
            let until = step * (20.0 / step).ceil();
            let fine = run("gauss12", step / FINER as f64, until).simulate_system(&system).unwrap();
            let formulas: Vec<Formula> = (0..4).map(|_| generate(&mut random, &fine)).collect();
            for formula in &formulas {
                let mut run = run(name, step, until);
                let directions = [Direction::Both, Direction::Rising, Direction::Falling];
                for (name, direction) in ["both", "rising", "falling"].into_iter().zip(directions) {
                    run.events.insert(name.into(), Event { direction, ..Event::of(&formula.text) });
                }
                // a motion too fast for the step tells nothing
                let Ok(coarse) = run.simulate_system(&system) else { continue };
                match compare(&what, formula, &coarse, &fine) {
                    Verdict::Same(count) => (same, events) = (same + 1, events + count),
                    Verdict::Untold => untold += 1,
                }
            }
        }
    }
    println!("{same} cases with {events} events, {untold} untold");
    assert!(same >= 200 && events >= 1000, "{same} {events} {untold}");
}

#[test]
fn formulas_that_are_faster_than_the_points_of_a_step_are_seen_or_told_of() {
    // equidistant points of a step see another sine, or none
    let text = "coordinates = [\"x\"]\n[lagrangian]\nkinetic = \"v_x^2/2\"\npotential = \"x^2/50\"\n[initial]\nq = [1]\nv = [0]\n";
    let slow = Run::read("slow", &Source::new("slow.toml", text)).unwrap();
    let mut seen = 0;
    for rate in [7.0, 20.0, 30.0, 50.0, 100.0, 200.0, 333.0, 500.0] {
        for (method, step) in
            [("gauss8", 1.7), ("gauss12", 2.5), ("gauss16", 2.5), ("gauss24", 2.22), ("lobatto10", 2.0)]
        {
            let steps = (40.0f64 / step).floor();
            let run = Run {
                method: Some(method.to_owned()),
                step: Some(step.into()),
                until: Some((steps * step).into()),
                every: Some(0),
                events: [("beat".to_owned(), Event::of(format!("sin({rate:?}*t)").as_str()))]
                    .into_iter()
                    .collect(),
                ..slow.clone()
            };
            let solution = run.plan().unwrap().simulate().unwrap();
            let tally = &solution.events.tallies[0];
            let right = (rate * steps * step / std::f64::consts::PI).floor() as u64;
            let what = format!("{rate} {method}: {} of {right}", tally.count);
            assert!(tally.count == right || tally.unresolved > 0, "{what}");
            seen += u32::from(tally.count == right);
        }
    }
    assert!(seen >= 36, "{seen}");
}

#[test]
fn a_zero_at_the_very_start_is_no_event_whatever_steps_leave_unsolved() {
    for tolerance in [1e-6, 1e-10, 1e-12] {
        for formula in ["q - 1", "v_q^3"] {
            let run = Run {
                tolerance: Some(tolerance.into()),
                until: Some(20.0.into()),
                every: Some(0),
                initial: leastaction::simulate::InitialState {
                    q: Some(vec![1.0.into()]),
                    v: Some(vec![0.0.into()]),
                    ..Default::default()
                },
                events: [("a".to_owned(), Event::of(formula))].into_iter().collect(),
                ..Run::of("pendulum")
            };
            let solution =
                leastaction::analysis::simulate_within(&run, &|_| std::ops::ControlFlow::Continue(()))
                    .unwrap();
            let first = solution.events.tallies[0].first;
            assert!(first.is_none_or(|t| t > 0.1), "{formula}, {tolerance:e}: {first:?}");
        }
    }
}
