//! Poincaré sections: points on the surface, one energy for all motions, the same result on any number of cores.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::analysis::{Orbit, Section, Vary};
use leastaction::prelude::*;
use leastaction::simulate::{Direction, Event, Outcome};
use leastaction::system::Quantity;
use std::ops::ControlFlow;

fn section(system: &str, formula: &str) -> Section {
    let mut run = Run::of(system);
    let event = Event { direction: Direction::Rising, ..Event::of(formula) };
    run.events.insert("section".into(), event);
    Section { run, ..Section::default() }
}

fn vary(name: &str, values: &[&str]) -> Vary {
    Vary { name: name.into(), values: values.iter().map(|value| Quantity::from(*value)).collect() }
}

fn orbits(section: &Section) -> Vec<Orbit> {
    section.plan().unwrap().run(&|_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn motions_without_coupling_stay_on_circles() {
    // λ = 0 leaves two oscillators, and the section shows one of them: y² + p_y² is constant on each motion
    let mut section = section("henon-heiles", "x");
    section.run.parameters.insert("lambda".into(), 0.0.into());
    section.run.method = Some("lobatto8".into());
    section.vary = vec![vary("y0", &["0.05", "0.1", "0.2", "0.3"])];
    section.points = Some(25);
    let found = orbits(&section);
    assert_eq!(found.len(), 4);
    for (orbit, y0) in found.iter().zip([0.05f64, 0.1, 0.2, 0.3]) {
        assert_eq!(orbit.points.len(), 25);
        assert!(matches!(orbit.outcome, Outcome::Stopped { .. }));
        for (k, ([y, p], t)) in orbit.points.iter().zip(&orbit.t).enumerate() {
            assert!((y * y + p * p - y0 * y0).abs() < 1e-12, "{y} {p}");
            // both have the period 2π, so that every motion comes back to its start
            assert!((t - (k + 1) as f64 * std::f64::consts::TAU).abs() < 1e-7, "{t}");
            assert!((y - y0).abs() < 1e-7 && p.abs() < 1e-7);
        }
    }
}

#[test]
fn all_starts_have_the_energy_of_their_panel() {
    let mut section = section("henon-heiles", "x");
    section.panels = Some(vary("E", &["1/12", "1/8"]));
    section.vary = vec![vary("y", &["-0.2", "0", "0.4", "0.9"]), vary("p_y", &["0", "0.1"])];
    section.same_energy = Some("p_x".into());
    (section.run.until, section.run.step) = (Some(100.0.into()), Some(0.05.into()));
    let plan = section.plan().unwrap();
    assert_eq!((plan.names.as_slice(), plan.panels), (["E", "y", "p_y"].map(str::to_owned).as_slice(), 2));
    // at y = 0.9 the potential alone has more energy
    assert_eq!(plan.left_out.len(), 4);
    assert!(plan.left_out[0].1.contains("no p_x gives the energy"), "{}", plan.left_out[0].1);
    assert_eq!(plan.starts.iter().map(|start| start.panel).collect::<Vec<_>>(), [[0; 6], [1; 6]].concat());
    let found = plan.run(&|_| ControlFlow::Continue(())).unwrap();
    for (start, orbit) in plan.starts.iter().zip(&found) {
        let energy = [1.0 / 12.0, 1.0 / 8.0][start.panel];
        assert!((orbit.summary.energy.initial - energy).abs() < 1e-15, "{}", orbit.summary.energy.initial);
        assert!(start.plan.problem.p0[0] > 0.0);
        assert!(orbit.points.len() > 10);
        for [y, p] in &orbit.points {
            // what is left for p_x on the section
            assert!(2.0 * energy - p * p - y * y + 2.0 / 3.0 * y.powi(3) > 0.0, "{y} {p}");
        }
    }
    // a relativistic energy is not quadratic in the momenta, and a negative momentum stays one
    let relativistic = System::build("relativistic", "Relativistic oscillator")
        .coordinate("x", "")
        .coordinate("y", "")
        .start_with_momenta(["0", "0.5"], ["-3", "0"])
        .run("gauss6", "0.01", "30")
        .lagrangian(|q, v, _, _| {
            let rest = (-v[0].squared() - v[1].squared() + 1.0).sqrt();
            -rest - (q[0].squared() + q[1].squared()) * 0.5
        })
        .unwrap();
    let mut section = section_of(&relativistic);
    section.vary = vec![vary("y", &["0.1", "1", "1.9"])];
    section.same_energy = Some("p_x".into());
    let plan = section.plan_for(&relativistic).unwrap();
    let energy = 10f64.sqrt() + 0.125;
    for start in &plan.starts {
        let (q, p) = (&start.plan.problem.q0, &start.plan.problem.p0);
        let own = (1.0 + p[0] * p[0]).sqrt() + q[1] * q[1] * 0.5;
        assert!(p[0] < 0.0 && (own - energy).abs() < 1e-14, "{own} {energy}");
    }
    assert_eq!(plan.starts.len(), 3);
}

fn section_of(system: &System) -> Section {
    let mut section = section("", "x");
    section.run.system = system.name.clone();
    section
}

#[test]
fn each_orbit_is_what_its_run_alone_gives() {
    let mut section = section("double-pendulum", "q1");
    section.vary = vec![vary("p_q2", &["0", "0.01", "0.02", "0.03", "0.04"])];
    section.run.until = Some(5.0.into());
    let plan = section.plan().unwrap();
    assert_eq!(plan.axes, ["q2", "p_q2"]);
    let found = orbits(&section);
    for (start, orbit) in plan.starts.iter().zip(&found) {
        let alone = start.plan.simulate().unwrap();
        let q2: Vec<f64> = alone.events.q.iter().skip(1).step_by(2).copied().collect();
        assert_eq!(orbit.points.iter().map(|point| point[0]).collect::<Vec<_>>(), q2);
        assert_eq!(orbit.t, alone.events.t);
        assert!(!orbit.t.is_empty());
    }
    let momenta: Vec<f64> = plan.starts.iter().map(|start| start.plan.problem.p0[1]).collect();
    assert_eq!(momenta, [0.0, 0.01, 0.02, 0.03, 0.04]);
}

#[test]
fn axes_are_formulas_and_have_defaults() {
    let axes = |system: &str, formula: &str| section(system, formula).plan().unwrap().axes;
    assert_eq!(axes("henon-heiles", "x"), ["y", "p_y"]);
    assert_eq!(axes("henon-heiles", "y - 0.1"), ["x", "p_x"]);
    assert_eq!(axes("henon-heiles", "v_x"), ["x", "p_x"]);
    assert_eq!(axes("pendulum", "sin(t)"), ["q", "p_q"]);
    assert_eq!(axes("pendulum", "q"), ["q", "p_q"]);
    let mut section = section("henon-heiles", "x");
    (section.x, section.y) = (Some("t".into()), Some("energy*12".into()));
    let orbit = &orbits(&section)[0];
    for ([x, y], t) in orbit.points.iter().zip(&orbit.t) {
        assert!(x == t && (y - 1.0).abs() < 1e-4);
    }
}

#[test]
fn angles_are_told_from_other_coordinates_and_folded() {
    let angles = |system: &str, formula: &str, x: &str, y: &str| {
        let section = Section { x: Some(x.into()), y: Some(y.into()), ..section(system, formula) };
        section.plan().unwrap().angles
    };
    assert_eq!(angles("double-pendulum", "q1", "q2", "p_q2"), [true, false]);
    assert_eq!(angles("double-pendulum", "q1", "q2", "q1"), [true, true]);
    // only a coordinate itself, and none whose force is linear
    assert_eq!(angles("double-pendulum", "q1", "2*q2", "v_q1"), [false, false]);
    assert_eq!(angles("linear-double-pendulum", "q1", "q2", "p_q2"), [false, false]);
    assert_eq!(angles("henon-heiles", "x", "y", "x"), [false, false]);
    // of what does not occur in L the unit tells: a cart is no angle, a precession is
    assert_eq!(angles("cart-pole", "theta", "x", "theta"), [false, true]);
    assert_eq!(angles("lagrange-top", "p_theta", "phi", "theta"), [true, true]);

    // a pendulum that turns over is folded into one turn, one that swings is not
    let mut section = section("pendulum", "sin(7*t)");
    (section.run.until, section.run.step) = (Some(20.0.into()), Some(0.01.into()));
    section.vary = vec![vary("v_q", &["20"])];
    let plan = section.plan().unwrap();
    let found = plan.run(&|_| ControlFlow::Continue(())).unwrap();
    let fold = plan.turns(&found);
    assert_eq!(fold, [true, false]);
    let folded = plan.folded(&found[0], fold);
    assert!(found[0].points.iter().any(|point| point[0] > 50.0));
    for (point, original) in folded.iter().zip(&found[0].points) {
        assert!(point[0].abs() <= std::f64::consts::PI + 1e-12 && point[1] == original[1]);
        assert!(((point[0] - original[0]).sin()).abs() < 1e-9 && (point[0] - original[0]).cos() > 0.9);
    }
    section.vary = vec![vary("v_q", &["1"])];
    let plan = section.plan().unwrap();
    let found = plan.run(&|_| ControlFlow::Continue(())).unwrap();
    assert_eq!(plan.turns(&found), [false, false]);
    assert_eq!(plan.folded(&found[0], plan.turns(&found)), found[0].points);
    assert!((plan.starts[0].value("v_q").unwrap() - 1.0).abs() < 1e-15);
}

#[test]
fn a_section_can_be_interrupted() {
    let mut section = section("henon-heiles", "x");
    section.vary = vec![vary("y0", &["0.1"; 40])];
    section.run.until = Some(10_000.0.into());
    let found = section.plan().unwrap().run(&|steps| {
        if steps > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let found = found.unwrap();
    assert!(found.iter().all(|orbit| matches!(orbit.outcome, Outcome::Interrupted)));
    assert!(!found.is_empty());
}

#[test]
fn mistakes_are_named() {
    let say = |change: &dyn Fn(&mut Section)| {
        let mut section = section("henon-heiles", "x");
        change(&mut section);
        section.plan().unwrap_err().to_string()
    };
    for (found, part) in [
        (say(&|s| s.run.events.clear()), "a section needs an event"),
        (say(&|s| drop(s.run.events.insert("b".into(), Event::of("y")))), "several events: section, b"),
        (say(&|s| s.event = Some("sektion".into())), "no event `sektion`; did you mean `section`?"),
        (say(&|s| s.x = Some("z".into())), "the axis x:1:1"),
        (say(&|s| s.vary = vec![vary("y1", &["1"])]), "`y1` cannot be varied; did you mean `y` or `y0`?"),
        (say(&|s| s.vary = vec![vary("y0", &[])]), "has no values"),
        (say(&|s| s.same_energy = Some("x".into())), "`x` is no momentum of `henon-heiles`"),
        (say(&|s| s.vary = vec![vary("y0", &["0.9"])]), "nowhere to start: initial v_x"),
        (say(&|s| s.vary = vec![vary("y0", &["0"; 1000]), vary("E", &["0"; 1000])]), "too many"),
        (say(&|s| s.points = Some(0)), "`points` must be at least 1"),
    ] {
        assert!(found.contains(part), "{found}");
    }
}
