//! Certificates of many generated systems: time, units, constants and jumps in the Lagrangian.
//!
//! A certificate of a right method never fails where time occurs in L, whenever the run starts, and that of a wrong method does. It says the same in all
//! units, and with any constant in the potential. An energy that does not fall with the order of the method is never passed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::method;
use common::timed::{Row, SYSTEMS, system};
use leastaction::analysis::certify::{Certificate, DefectFound, Options, Verdict, certify};
use leastaction::prelude::*;
use leastaction::scalar::Scalar;
use leastaction::simulate::Plan;
use leastaction::system::Quantity;
use std::ops::ControlFlow;

fn certificate(plan: &Plan) -> Certificate {
    let c = certify(plan, &Options { energy_error: 1e-4 }, &|_| ControlFlow::Continue(())).unwrap();
    check_printed(&c);
    c
}

/// What is printed of defects does not contradict the verdict.
fn check_printed(c: &Certificate) {
    for check in [&c.symplecticity, &c.reversibility] {
        let DefectFound { defect: Some(_), .. } = check.measured else { continue };
        let words: Vec<&str> = check.finding.split([' ', ')']).collect();
        let limit = words.iter().position(|word| *word == "to").map(|i| words[i + 1].parse::<f64>().unwrap());
        let defect: f64 = words[0].parse().unwrap();
        assert_eq!(defect <= limit.unwrap(), check.verdict == Verdict::Pass, "{}", check.finding);
    }
}

fn plan(system: &System, name: &str, step: f64, t0: f64, length: f64) -> Plan {
    let number = |x: f64| Some(Quantity::Number(x));
    let mut run = Run {
        method: Some(name.to_owned()),
        step: number(step),
        until: number(t0 + length),
        every: Some(0),
        ..Run::default()
    };
    run.initial.t = number(t0);
    run.plan_for(system).unwrap()
}

/// Does something for every item, on both cores.
fn each<T: Sync>(items: &[T], check: impl Fn(&T) -> Result<(), String> + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    wrong.lock().unwrap().extend(check(item).err());
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), items.len(), wrong.join("\n"));
}

fn passes(c: &Certificate, what: &str) -> Result<(), String> {
    let judged = [c.symplecticity.verdict, c.reversibility.verdict, c.order.verdict, c.energy.verdict];
    let right = c.failed.is_empty() && judged.iter().all(|v| *v == Verdict::Pass);
    if right { Ok(()) } else { Err(format!("{what}\n{c}")) }
}

const RIGHT: [&str; 9] =
    ["gauss8", "simpson", "verlet", "lobatto", "midpoint", "gauss16", "gauss4", "split4", "split6"];

/// The first method from here on that fits.
fn fitting(system: &System, from: usize) -> &'static str {
    let mut names = RIGHT.iter().cycle().skip(from);
    names.find(|name| method(name).fits(system).is_ok()).unwrap()
}

#[test]
fn where_time_occurs_right_methods_pass() {
    let rows: Vec<(usize, &Row)> = SYSTEMS.iter().enumerate().collect();
    each(&rows, |(k, row)| {
        let system = system(row);
        // small steps, and those larger ones with which a defect is looked at too
        let name = fitting(&system, *k);
        let step = if k % 2 == 0 { 0.02 } else { 0.005 };
        passes(&certificate(&plan(&system, name, step, row.5, 2.0)), &format!("{} with {name}", row.0))
    });
}

#[test]
fn where_time_occurs_wrong_methods_fail() {
    let rows: Vec<(usize, &Row)> = SYSTEMS.iter().enumerate().collect();
    each(&rows, |(k, row)| {
        let name = ["rk4", "rk4-velocity"][k % 2];
        let c = certificate(&plan(&system(row), name, 0.02, row.5, 3.0));
        // a constant force is no test of symplecticity
        let wrong = if row.0 == "burning rocket" { "energy" } else { "symplecticity" };
        let right = c.failed.iter().any(|failed| failed == wrong);
        if right { Ok(()) } else { Err(format!("{} with {name}\n{c}", row.0)) }
    });
}

/// A system that is changed by the time: its Lagrangian, coordinates and start.
type Base = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

const BASES: [Base; 6] = [
    ("oscillator", "x", "v_x^2/2", "x^2/2", "1", "0.2"),
    ("pendulum", "x", "v_x^2/2", "-cos(x)", "1.2", "0.1"),
    ("quartic", "x", "v_x^2/2", "x^4/4 - x^2/2", "0.4", "0.9"),
    ("box", "x", "v_x^2/2", "0.1/x^2 + 0.1/(2 - x)^2", "0.9", "0.4"),
    ("Henon-Heiles", "x, y", "(v_x^2 + v_y^2)/2", "(x^2 + y^2)/2 + x^2*y - y^3/3", "0.1, 0.2", "0.3, -0.1"),
    (
        "double pendulum",
        "x, y",
        "v_x^2 + v_y^2/2 + v_x*v_y*cos(x - y)",
        "-2*cos(x) - cos(y)",
        "0.9, 0.4",
        "0.1, 0",
    ),
];

/// What time does: to the kinetic and to the potential energy T and V.
const CHANGES: [(&str, &str); 7] = [
    ("damped", "exp(0.4*(t - T0))*(KINETIC - (POTENTIAL))"),
    ("driven", "KINETIC - (POTENTIAL) + 0.3*x*sin(1.3*t)"),
    ("parametric", "KINETIC - (1 + 0.2*cos(2.2*t))*(POTENTIAL)"),
    ("heavier", "(1 + 0.1*sin(t))*(KINETIC) - (POTENTIAL)"),
    ("gauged", "KINETIC - (POTENTIAL) + 0.4*cos(t)*x*v_x"),
    ("pulse", "KINETIC - (POTENTIAL) + x*exp(-(t - T0 - 1)^2)"),
    ("slow and late", "KINETIC - (1 + 0.3*tanh(0.01*(t - T0)))*(POTENTIAL)"),
];

#[test]
fn whenever_a_run_starts_right_methods_pass() {
    let mut cases = Vec::new();
    for (i, base) in BASES.iter().enumerate() {
        for (j, change) in CHANGES.iter().enumerate() {
            cases.push((base, change, [0.0, 3.5, -7.25, 1000.0, 1e6][(i + 2 * j) % 5], 5 * i + 3 * j));
        }
    }
    each(&cases, |((name, coordinates, kinetic, potential, q, v), (what, formula), t0, k)| {
        let formula = formula.replace("KINETIC", kinetic).replace("POTENTIAL", potential);
        let formula = formula.replace("T0", &format!("({t0:?})"));
        let formula: &'static str = formula.leak();
        let system = system(&(name, coordinates, formula, q, v, *t0));
        let name_of_method = fitting(&system, *k);
        let c = certificate(&plan(&system, name_of_method, 0.02, *t0, 2.0));
        passes(&c, &format!("{name}, {what}, from t = {t0} with {name_of_method}"))
    });
}

#[test]
fn the_damped_oscillator_passes_with_all_steps() {
    let steps = [0.2, 0.05, 0.01, 0.002, 0.0004];
    let cases: Vec<(f64, &str)> = steps.iter().flat_map(|h| ["gauss8", "verlet"].map(|m| (*h, m))).collect();
    each(&cases, |(step, name)| {
        let row = ("damped", "x", "exp(0.4*t)*(v_x^2 - x^2)/2", "1", "0", 0.0);
        let c = certificate(&plan(&system(&row), name, *step, 0.0, 400.0 * step));
        let fails = |name: &str| c.failed.iter().any(|failed| failed == name);
        let wrong = fails("symplecticity") || fails("reversibility") || fails("order");
        if wrong { Err(format!("{step} with {name}\n{c}")) } else { Ok(()) }
    });
}

#[test]
fn larger_steps_start_at_the_time_of_their_state() {
    // a force that acts in the middle of the run only, and steps so small that only larger ones show what rk4 lacks
    let cases = [(0.0, "rk4"), (2.0, "rk4"), (0.0, "simpson"), (2.0, "simpson")];
    each(&cases, |(t0, name)| {
        let formula: &'static str = format!("v_x^2/2 - 1e4*x^4*exp(-((t - {t0:?} - 0.0025)/8e-4)^2)").leak();
        let system = system(&("pulse", "x", formula, "1", "0.5", *t0));
        let c = certificate(&plan(&system, name, 2e-6, *t0, 0.005));
        let found = (c.symplecticity.verdict, c.symplecticity.measured.step > 1e-4);
        let expected = if *name == "rk4" { (Verdict::Fail, true) } else { (Verdict::Pass, false) };
        if found == expected { Ok(()) } else { Err(format!("{name} from {t0}\n{c}")) }
    });
}

/// A Lagrangian as a function, with a start and a run.
#[derive(Clone, Copy)]
struct Free {
    name: &'static str,
    lagrangian: fn(&[Expr], &[Expr]) -> Expr,
    q: &'static [f64],
    v: &'static [f64],
    method: &'static str,
    step: f64,
    /// The energy at the start.
    energy: f64,
}

const FREE: [Free; 8] = [
    Free {
        name: "pendulum",
        lagrangian: |q, v| v[0].squared() * 0.5 + q[0].cos(),
        q: &[1.0],
        v: &[0.3],
        method: "simpson",
        step: 0.05,
        energy: -0.495302,
    },
    Free {
        name: "henon-heiles",
        lagrangian: |q, v| {
            (v[0].squared() + v[1].squared() - q[0].squared() - q[1].squared()) * 0.5 - q[0].squared() * q[1]
                + q[1].powi(3) * (1.0 / 3.0)
        },
        q: &[0.1, 0.2],
        v: &[0.3, -0.1],
        method: "verlet",
        step: 0.05,
        energy: 0.0743333,
    },
    Free {
        name: "double pendulum",
        lagrangian: |q, v| {
            v[0].squared()
                + v[1].squared() * 0.5
                + v[0] * v[1] * (q[0] - q[1]).cos()
                + q[0].cos() * 2.0
                + q[1].cos()
        },
        q: &[0.9, 0.4],
        v: &[0.1, -0.3],
        method: "gauss4",
        step: 0.05,
        energy: -2.135598,
    },
    Free {
        name: "kepler",
        lagrangian: |q, v| {
            (v[0].squared() + v[1].squared()) * 0.5
                + Expr::from(1.0) / (q[0].squared() + q[1].squared()).sqrt()
        },
        q: &[1.0, 0.0],
        v: &[0.0, 1.1],
        method: "lobatto8",
        step: 0.1,
        energy: -0.395,
    },
    Free {
        name: "spherical pendulum",
        lagrangian: |q, v| (v[0].squared() + (q[0].sin() * v[1]).squared()) * 0.5 + q[0].cos(),
        q: &[1.0, 0.0],
        v: &[0.1, 0.8],
        method: "gauss8",
        step: 0.1,
        energy: -0.308710,
    },
    Free {
        name: "top",
        lagrangian: |q, v| {
            let spin = v[2] + v[1] * q[0].cos();
            (v[0].squared() + (q[0].sin() * v[1]).squared() + spin.squared() * 0.5) * 0.5 - q[0].cos()
        },
        q: &[0.8, 0.0, 0.0],
        v: &[0.1, 0.7, 3.0],
        method: "simpson",
        step: 0.05,
        energy: 3.891,
    },
    Free {
        name: "charge",
        lagrangian: |q, v| {
            (v[0].squared() + v[1].squared()) * 0.5 + q[0] * v[1] * 0.7
                - (q[0].squared() + q[1].powi(4)) * 0.5
        },
        q: &[1.0, 0.4],
        v: &[0.0, 0.5],
        method: "lobatto",
        step: 0.05,
        energy: 0.6378,
    },
    Free {
        name: "two bodies",
        lagrangian: |q, v| {
            v[0].squared() * 500.0 + v[1].squared() * 5e-4
                - (q[1] - q[0]).squared() * 5e-4
                - (q[1] - q[0]).powi(4) * 1e-4
        },
        q: &[0.0, 1.0],
        v: &[1e-6, 0.1],
        method: "midpoint",
        step: 0.05,
        energy: 6.05e-4,
    },
];

/// Units: of L, of the time and of each coordinate.
#[derive(Clone, Debug)]
struct Units {
    action: f64,
    time: f64,
    q: Vec<f64>,
}

/// The same system in other units, and with a constant in L.
fn in_units(free: &Free, units: &Units, constant: f64) -> Plan {
    let Units { action, time, q: lengths } = units.clone();
    let lagrangian = free.lagrangian;
    let list = |x: &[f64], f: &dyn Fn(f64, f64) -> f64| -> Vec<Quantity> {
        x.iter().zip(&units.q).map(|(x, unit)| Quantity::Number(f(*x, *unit))).collect()
    };
    let system = System::build("free", free.name)
        .coordinates((0..free.q.len()).map(|i| format!("x{i}")), "")
        .start(list(free.q, &|x, unit| x / unit), list(free.v, &|v, unit| v * time / unit))
        .run("simpson", "1", "2")
        .lagrangian(move |q, v, _, _| {
            let q: Vec<Expr> = q.iter().zip(&lengths).map(|(q, unit)| *q * *unit).collect();
            let v: Vec<Expr> = v.iter().zip(&lengths).map(|(v, unit)| *v * (*unit / time)).collect();
            (lagrangian(&q, &v) - constant) * action
        })
        .unwrap();
    plan(&system, free.method, free.step / time, 0.0, 40.0 * free.step / time)
}

/// Repeatable numbers between −1 and 1.
fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// The verdicts of all lines but those of momenta: which there are depends on whether lengths have one unit.
fn verdicts(c: &Certificate) -> Vec<(String, Verdict)> {
    let rows = c.rows().into_iter().filter(|row| row.0 != "momentum");
    rows.map(|row| (row.0.to_owned(), row.1)).collect()
}

/// Whether two certificates say the same, up to rounding.
fn agree(here: &Certificate, there: &Certificate, what: &str) -> Result<(), String> {
    let close = |a: Option<f64>, b: Option<f64>, part: f64| match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= part * a.abs(),
        (a, b) => a == b,
    };
    let (order, other) = (&here.order.measured, &there.order.measured);
    let (energy, swing) = (here.energy.measured.largest, there.energy.measured.largest);
    let (step, half) = (here.run.measured.largest_step_error, there.run.measured.largest_step_error);
    // defects are rounding; that they are is all that can agree
    let rounding = |a: Option<f64>, b: Option<f64>| [a, b].iter().all(|x| x.is_some_and(|x| x < 1e-13));
    let same = verdicts(here) == verdicts(there)
        && close(order.q, other.q, 0.01)
        && close(order.p, other.p, 0.01)
        && (close(energy, swing, 1e-3) || rounding(energy, swing))
        && (close(step, half, 1e-3) || rounding(step, half));
    let kept = here.momenta.iter().chain(&there.momenta).all(|check| check.verdict == Verdict::Pass);
    if same && kept { Ok(()) } else { Err(format!("{what}\n{here}\n{there}")) }
}

#[test]
fn certificates_say_the_same_in_all_units() {
    let plain = |free: &Free| Units { action: 1.0, time: 1.0, q: vec![1.0; free.q.len()] };
    let mut seed = 5;
    let mut cases = Vec::new();
    for (i, free) in FREE.iter().enumerate() {
        for variant in 0..8 {
            let mut units = plain(free);
            let mut power = |of: f64| 10f64.powf(of * random(&mut seed));
            if variant % 4 != 1 {
                units.action = power(30.0);
            }
            if variant % 4 > 1 {
                units.time = power(10.0);
            }
            let all = power(20.0);
            for unit in &mut units.q {
                *unit = match variant % 4 {
                    0 => 1.0,
                    1 | 2 => all,
                    // nanometres beside kilometres
                    _ => power(6.0),
                };
            }
            cases.push((i, units));
        }
    }
    assert!(cases.len() >= 60);
    let plain: Vec<Certificate> =
        FREE.iter().map(|free| certificate(&in_units(free, &plain(free), 0.0))).collect();
    for c in &plain {
        println!("{c}");
        assert_eq!(c.verdict, Verdict::Pass, "{c}");
    }
    each(&cases, |(i, units)| {
        let there = certificate(&in_units(&FREE[*i], units, 0.0));
        agree(&plain[*i], &there, &format!("{} in {units:?}", FREE[*i].name))
    });
}

#[test]
fn wrong_methods_fail_in_all_units() {
    each(&FREE, |free| {
        let mut seed = 9;
        let q = free.q.iter().map(|_| 10f64.powf(12.0 * random(&mut seed))).collect();
        let units = Units { action: 1e-30, time: 1e8, q };
        let c = certificate(&in_units(&Free { method: "rk4", step: 2.0 * free.step, ..*free }, &units, 0.0));
        let fails = c.failed.iter().any(|failed| failed == "symplecticity");
        if fails { Ok(()) } else { Err(format!("{}\n{c}", free.name)) }
    });
}

#[test]
fn a_constant_changes_nothing() {
    let plain = |free: &Free| Units { action: 1.0, time: 1.0, q: vec![1.0; free.q.len()] };
    each(&FREE, |free| {
        let here = certificate(&in_units(free, &plain(free), 0.0));
        for constant in [1e3, 1e6, -free.energy] {
            let there = certificate(&in_units(free, &plain(free), constant));
            agree(&here, &there, &format!("{} plus {constant}", free.name))?;
        }
        Ok(())
    });
}

#[test]
fn energies_that_the_order_does_not_explain_are_not_passed() {
    // each with the verdicts that will not do; a force with a kink is no more than a method of order 2 can take
    let rough: [(&str, &str); 7] = [
        ("jump", "x^2/2 + 0.0025*sign(x - 0.3)"),
        ("steep", "x^2/2 + 0.0025*tanh(1e4*(x - 0.3))"),
        ("wedge", "abs(x)"),
        ("bounce", "x^2/2 + 5*abs(x - 0.3)"),
        ("tanh", "tanh(1e4*x)*x"),
        ("spring", "x^2/2 + x*abs(x)/3"),
        ("stop", "x^2/2 + 2*(x - 0.3)*(x - 0.3 + abs(x - 0.3))"),
    ];
    let mut cases = Vec::new();
    for (k, (name, potential)) in rough.into_iter().enumerate() {
        for method in ["simpson", "gauss8", "verlet", "midpoint"] {
            for when in ["", "*(1 + 0.1*sin(2*t))"] {
                let low = matches!(method, "verlet" | "midpoint");
                if !(low && k >= 5) {
                    cases.push((name, potential, method, when));
                }
            }
        }
    }
    assert!(cases.len() >= 40);
    each(&cases, |(name, potential, method, when)| {
        let formula: &'static str = format!("v_x^2/2 - ({potential}){when}").leak();
        let system = system(&(name, "x", formula, "1", "0.1", 0.0));
        let c = certificate(&plan(&system, method, 0.02, 0.0, 6.0));
        let fails = c.energy.verdict == Verdict::Fail;
        let noticed = c.energy.verdict == Verdict::Warn
            && c.energy.advice.as_ref().is_some_and(|advice| advice.contains("instead of"));
        // where the energy itself jumps it fails
        let right = if matches!(*name, "jump" | "steep") { fails } else { fails || noticed };
        if right { Ok(()) } else { Err(format!("{name}, {method}, {when}\n{c}")) }
    });
}

#[test]
fn smooth_energies_pass_with_all_methods() {
    let steps = [0.02, 0.1, 0.3];
    let mut cases = Vec::new();
    for (k, free) in FREE.iter().enumerate() {
        for (j, step) in steps.iter().enumerate() {
            cases.push((free, RIGHT[(k + 3 * j) % 7], *step));
        }
    }
    each(&cases, |(free, method, step)| {
        let units = Units { action: 1.0, time: 1.0, q: vec![1.0; free.q.len()] };
        let c = certificate(&in_units(&Free { method, step: *step, ..**free }, &units, 0.0));
        let right = c.energy.verdict == Verdict::Pass;
        if right { Ok(()) } else { Err(format!("{} with {method}, {step}\n{c}", free.name)) }
    });
}

#[test]
fn what_is_picked_for_a_tolerance_conserves_what_it_should() {
    // steps of these are solved only as exactly as the tolerance needs
    for name in ["kepler", "henon-heiles", "double-pendulum", "linear-double-pendulum", "lagrange-top"] {
        for tolerance in [1e-4, 1e-8] {
            let run = Run { tolerance: Some(Quantity::Number(tolerance)), ..Run::of(name) };
            let picked = leastaction::analysis::pick(&run, &|_| ControlFlow::Continue(())).unwrap().unwrap();
            let c = certificate(&picked.run.plan().unwrap());
            let conserved = |line: &String| line == "momentum" || line == "energy";
            assert!(!c.failed.iter().any(conserved), "{name}, {tolerance:e}: {:?}", c.failed);
        }
    }
    // a method that conserves neither has no tolerance to hide behind
    let run = Run {
        method: Some("rk4-velocity".into()),
        step: Some(Quantity::Number(0.01)),
        tolerance: Some(Quantity::Number(1e-3)),
        ..Run::of("lagrange-top")
    };
    assert!(!certificate(&run.plan().unwrap()).failed.is_empty());
}
