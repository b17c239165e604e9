//! What is picked for a tolerance resolves the motion, and not the energy alone; constants of the energy change nothing; tolerances are kept or
//! said not to be. Over generated systems; references are closed forms where parts are linear, and steps far smaller with another method elsewhere.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::analysis::{Attempts, Picked, pick_for, simulate_within};
use leastaction::error::Source;
use leastaction::prelude::*;
use leastaction::simulate::Outcome;
use leastaction::system::Quantity;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Numbers between 0 and 1, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }
}

/// A text of a system and the end of its run.
struct Case {
    name: String,
    coordinates: &'static [&'static str],
    kinetic: String,
    potential: String,
    q: Vec<f64>,
    v: Vec<f64>,
    until: f64,
    /// Rate and amplitude of a last coordinate that oscillates by itself.
    oscillator: Option<(f64, f64)>,
}

impl Case {
    fn text(&self, constant: f64) -> String {
        let Self { coordinates, kinetic, potential, q, v, until, .. } = self;
        format!(
            "coordinates = {coordinates:?}\n[lagrangian]\nkinetic = \"{kinetic}\"\npotential = \"{potential} + ({constant:?})\"\n\
             [initial]\nq = {q:?}\nv = {v:?}\n[run]\nuntil = {until:?}\nevery = 0\n"
        )
    }

    fn system(&self, constant: f64) -> System {
        let text = self.text(constant);
        System::from_text(&self.name, &Source::new("x.toml", &text), &mut BTreeMap::new()).expect(&text)
    }
}

fn with_tolerance(tolerance: f64, until: f64) -> Run {
    Run {
        tolerance: Some(Quantity::Number(tolerance)),
        until: Some(Quantity::Number(until)),
        every: Some(0),
        ..Run::default()
    }
}

fn picked(case: &Case, constant: f64, tolerance: f64) -> Picked {
    let run = with_tolerance(tolerance, case.until);
    let picked = pick_for(&run, &case.system(constant), &|_| ControlFlow::Continue(()));
    picked.unwrap_or_else(|error| panic!("{}: {error}", case.text(constant))).expect("something to pick")
}

/// Regular motions of many kinds.
fn cases() -> Vec<Case> {
    let mut random = Random(20);
    let mut cases = Vec::new();
    for k in 0..10 {
        let (rate, amplitude) = (random.between(3.0, 40.0), 10f64.powf(random.between(-4.0, 0.0)));
        let angle = random.between(0.3, 2.5);
        cases.push(Case {
            name: format!("pendulum beside an oscillator {k}"),
            coordinates: &["q", "x"],
            kinetic: "(v_q^2 + v_x^2)/2".into(),
            potential: format!("{}*(1 - cos(q)) + {:?}*x^2/2", random.between(0.5, 2.0), rate * rate),
            q: vec![angle, amplitude],
            v: vec![0.0, 0.0],
            until: 20.0,
            oscillator: Some((rate, amplitude)),
        });
        let (rate, mass) = (random.between(10.0, 60.0), random.between(0.01, 0.1));
        cases.push(Case {
            name: format!("a light and stiff partner {k}"),
            coordinates: &["x", "y"],
            kinetic: format!("(v_x^2 + {mass:?}*v_y^2)/2"),
            potential: format!("x^2/2 + x^4/4 + {:?}*(y - x)^2/2", mass * rate * rate),
            q: vec![1.0, 1.0 + random.between(0.01, 0.1)],
            v: vec![0.0, 0.0],
            until: 10.0,
            oscillator: None,
        });
        let field = random.between(2.0, 20.0);
        cases.push(Case {
            name: format!("a charge in a field {k}"),
            coordinates: &["x", "y"],
            kinetic: format!("(v_x^2 + v_y^2)/2 + {field:?}*(x*v_y - y*v_x)/2"),
            potential: format!("{:?}*x^2/2 + {:?}*y^2/2", random.between(0.2, 1.0), random.between(1.0, 2.0)),
            q: vec![1.0, 0.0],
            v: vec![0.0, random.between(-1.0, 1.0)],
            until: 20.0,
            oscillator: None,
        });
        let (drive, force) = (random.between(0.5, 8.0), random.between(0.1, 1.0));
        cases.push(Case {
            name: format!("a driven well {k}"),
            coordinates: &["x", "z"],
            kinetic: "(v_x^2 + v_z^2)/2".into(),
            potential: format!("x^2 - {force:?}*x*sin({drive:?}*t) + {:?}*z^2/2", 81.0),
            q: vec![0.5, 0.01],
            v: vec![0.1, 0.0],
            until: 15.0,
            oscillator: Some((9.0, 0.01)),
        });
    }
    cases
}

/// The last coordinate at the end, or both, of a run that is surely right.
fn right(case: &Case) -> Vec<f64> {
    let run = Run {
        method: Some("gauss12".into()),
        step: Some(Quantity::Number(case.until / 20_000.0)),
        ..with_tolerance(1e-8, case.until)
    };
    let run = Run { tolerance: None, ..run };
    let mut q = run.simulate_system(&case.system(0.0)).unwrap().summary.q;
    if let (Some((rate, amplitude)), Some(last)) = (case.oscillator, q.last_mut()) {
        *last = amplitude * (rate * case.until).cos();
    }
    q
}

#[test]
fn a_smaller_tolerance_never_gives_a_worse_motion() {
    for case in cases() {
        let right = right(&case);
        let mut before = f64::INFINITY;
        for tolerance in [1e-4, 1e-6, 1e-8, 1e-10, 1e-12] {
            let found = picked(&case, 0.0, tolerance);
            let q = found.run.simulate_system(&case.system(0.0)).unwrap().summary.q;
            let sizes = case.q.iter().map(|q| q.abs().max(case.oscillator.map_or(0.1, |_| 1e-9)));
            let errors = q.iter().zip(&right).zip(sizes).map(|((q, right), size)| (q - right).abs() / size);
            let error = errors.fold(0.0, |worst, error| if error <= worst { worst } else { error });
            let what = format!("{}, {tolerance:e}: {error:e} after {before:e} with {found}", case.name);
            // as much in each step, at worst, and a phase is worth more the longer a run is
            assert!(error <= 100.0 * tolerance * found.steps as f64 + 1e-9, "{what}");
            assert!(error <= 1.5 * before || error <= 10.0 * tolerance * found.steps as f64 + 1e-9, "{what}");
            before = error;
        }
    }
}

#[test]
fn constants_of_the_energy_change_nothing_that_is_picked() {
    for case in cases().iter().take(16) {
        for tolerance in [1e-5, 1e-9] {
            let plain = picked(case, 0.0, tolerance);
            for constant in [1e3, -1e6, 1e9] {
                let found = picked(case, constant, tolerance);
                let what = format!("{} plus {constant:e}, {tolerance:e}", case.name);
                assert_eq!((&found.method, found.step), (&plain.method, plain.step), "{what}");
                assert_eq!(found.error, plain.error, "{what}");
                let [a, b] = [(&plain, 0.0), (&found, constant)]
                    .map(|(found, constant)| found.run.simulate_system(&case.system(constant)).unwrap());
                assert_eq!(a.warnings(), b.warnings(), "{what}");
                assert_eq!(
                    (&a.summary.q, a.summary.energy.max_error),
                    (&b.summary.q, b.summary.energy.max_error)
                );
            }
        }
    }
}

#[test]
fn a_rest_energy_is_none_of_the_motion() {
    // the same orbit, slow beside light: the relativistic energy contains m c²
    for (c, tolerance) in [(20.0, 1e-6), (137.0, 1e-6), (1000.0, 1e-5)] {
        let case = Case {
            name: format!("relativistic Kepler, c = {c}"),
            coordinates: &["x", "y"],
            kinetic: String::new(),
            potential: String::new(),
            q: vec![1.0, 0.0],
            v: vec![0.0, 0.9],
            until: 30.0,
            oscillator: None,
        };
        let text = format!(
            "coordinates = [\"x\", \"y\"]\n[lagrangian]\nexpression = \"-{0}*sqrt(1 - (v_x^2 + v_y^2)/{0}) + 1/sqrt(x^2 + y^2)\"\n\
             [initial]\nq = [1, 0]\nv = [0, 0.9]\n[run]\nuntil = 30\n",
            c * c
        );
        let system =
            System::from_text(&case.name, &Source::new("x.toml", &text), &mut BTreeMap::new()).unwrap();
        let run = with_tolerance(tolerance, case.until);
        let found = pick_for(&run, &system, &|_| ControlFlow::Continue(())).unwrap().unwrap();
        let fine = Run {
            method: Some("gauss12".into()),
            step: Some(Quantity::Number(0.003)),
            tolerance: None,
            ..found.run.clone()
        };
        let [a, b] = [&found.run, &fine].map(|run| run.simulate_system(&system).unwrap().summary.q);
        let error = (a[0] - b[0]).hypot(a[1] - b[1]);
        assert!(error < 100.0 * tolerance * found.steps as f64, "{}: {error:e} with {found}", case.name);
    }
}

#[test]
fn steps_that_do_not_resolve_the_motion_are_warned_of() {
    let mut random = Random(3);
    for case in cases() {
        let fastest = case.oscillator.map_or(0.0, |(rate, _)| rate);
        if fastest == 0.0 {
            continue;
        }
        for method in ["gauss4", "gauss8", "gauss12", "midpoint", "lobatto"] {
            let period = std::f64::consts::TAU / fastest;
            let run = |steps: f64| Run {
                method: Some(method.to_owned()),
                step: Some(Quantity::Number(steps * period)),
                until: Some(Quantity::Number(steps * period * 200.0)),
                every: Some(0),
                ..Run::default()
            };
            let said = |steps: f64| {
                // a step that fails says so
                let plan = run(steps).plan_for(&case.system(0.0)).unwrap();
                let solution = plan.simulate().unwrap();
                matches!(solution.outcome, Outcome::Failed(_)) || !solution.warnings().is_empty()
            };
            let steps = random.between(1.1, 1.7);
            assert!(said(steps), "{}, {method}, a step of {steps} periods of x", case.name);
            assert!(!said(0.005), "{}, {method}, two hundred steps to a period of x", case.name);
        }
    }
}

#[test]
fn tolerances_are_kept_or_said_not_to_be() {
    let mut random = Random(7);
    let mut kept = 0;
    for k in 0..24 {
        // orbits from round to nearly straight, in a centre that is softened or not
        let (eccentricity, softening) = (1.0 - 10f64.powf(random.between(-2.5, -0.3)), [0.0, 1e-4][k % 2]);
        let tolerance = 10f64.powf(random.between(-9.0, -4.0));
        let text = format!(
            "coordinates = [\"x\", \"y\"]\n[lagrangian]\nkinetic = \"(v_x^2 + v_y^2)/2\"\n\
             potential = \"-1/sqrt(x^2 + y^2 + {softening:?})\"\n[initial]\nq = [{:?}, 0]\nv = [0, {:?}]\n[run]\nuntil = 30\nevery = 0\n",
            1.0 + eccentricity,
            ((1.0 - eccentricity) / (1.0 + eccentricity)).sqrt(),
        );
        let run = Run::read("orbit", &Source::new("x.toml", &text)).unwrap();
        let run = Run { tolerance: Some(Quantity::Number(tolerance)), ..run };
        let solution = simulate_within(&run, &|_| ControlFlow::Continue(())).unwrap();
        let summary = &solution.summary;
        let [q, p] = [&summary.q, &summary.p];
        let energy = 0.5 * (p[0] * p[0] + p[1] * p[1]) - 1.0 / (q[0] * q[0] + q[1] * q[1] + softening).sqrt();
        let error = (energy - summary.energy.initial).abs() / summary.energy.energy_scale;
        let what = format!("e = {eccentricity}, {tolerance:e}: {error:e}");
        match (&solution.outcome, summary.exceeded()) {
            (Outcome::Done, None) => {
                assert!(error <= tolerance + 1e-12, "{what}");
                kept += 1;
            }
            (Outcome::Done, Some((_, told))) => assert!(told > tolerance, "{what}"),
            (Outcome::Failed(_), _) => {}
            (outcome, _) => panic!("{what}: {outcome:?}"),
        }
    }
    assert!(kept >= 22, "{kept}");
    // the attempts of a run that was not picked are one
    assert!(Attempts::new(None).picked().is_none());
}

#[test]
fn motions_that_run_off_in_time_do_not_end_well() {
    let mut random = Random(11);
    for k in 0..12 {
        // a wall of exponential growth, a fall into a centre whose strength grows, a resonance that a large step makes another
        let rate = random.between(20.0, 40.0);
        let potential = match k % 3 {
            0 => format!("-x*exp({rate:?}*t)"),
            1 => format!("-(1 + {rate:?}*t)/sqrt(x^2 + 1e-8)"),
            _ => format!("x^2/2*(1 + 0.5*sin({rate:?}*t)) + x^4/100"),
        };
        let case = Case {
            name: format!("driven {k}"),
            coordinates: &["x"],
            kinetic: "v_x^2/2".into(),
            potential,
            q: vec![1.0],
            v: vec![0.1],
            until: 5.0,
            oscillator: None,
        };
        let run = Run {
            method: Some("simpson".into()),
            step: Some(Quantity::Number(0.5)),
            until: Some(Quantity::Number(5.0)),
            ..Run::default()
        };
        let solution = run.plan_for(&case.system(0.0)).unwrap().simulate().unwrap();
        let failed = matches!(solution.outcome, Outcome::Failed(_));
        assert!(failed || !solution.warnings().is_empty(), "{}: {:?}", case.name, solution.summary.energy);
    }
}
