//! The figures of the papers: that each can be computed, and that it shows what its caption says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::analysis::{Measure, Reference, Studies, Study};
use leastaction::papers::{Album, Chart, Drawing, Line, Plot};
use leastaction::papers::{Figure, papers};
use leastaction::prelude::Run;
use leastaction::system::Quantity;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Takes millions of steps; its numbers are tested below.
const LONG: &str = "004.F2";

fn drawings() -> HashMap<String, Drawing> {
    let papers = papers().unwrap();
    let figures: Vec<&Figure> = papers.iter().flat_map(|p| &p.figures).filter(|f| f.id != LONG).collect();
    assert_eq!(figures.len(), 24);
    let album = Album::new(&figures).unwrap();
    let drawn = album.run(&|_| ControlFlow::Continue(())).unwrap();
    drawn.into_iter().map(|drawing| (drawing.id.clone(), drawing)).collect()
}

fn chart(drawing: &Drawing, panel: usize) -> &Chart {
    match &drawing.plots[panel] {
        Plot::Chart(chart) => chart,
        Plot::Motion(_) => panic!("{} shows a motion", drawing.id),
    }
}

fn line<'a>(drawing: &'a Drawing, panel: usize, name: &str) -> &'a Line {
    let lines = &chart(drawing, panel).lines;
    lines.iter().find(|line| line.name.starts_with(name)).unwrap_or_else(|| panic!("no curve {name}"))
}

/// The largest distance of the points of a curve from another with more points, at the same abscissa.
fn distance(line: &Line, reference: &Line) -> f64 {
    let right = |x: f64| {
        let after = reference.points.partition_point(|p| p[0] < x).clamp(1, reference.points.len() - 1);
        let (a, b) = (reference.points[after - 1], reference.points[after]);
        a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0])
    };
    line.points.iter().map(|p| (p[1] - right(p[0])).abs()).fold(0.0, f64::max)
}

fn largest(line: &Line) -> f64 {
    line.points.iter().map(|p| p[1].abs()).fold(0.0, f64::max)
}

#[test]
fn figures_show_what_their_captions_say() {
    let drawn = drawings();
    for drawing in drawn.values() {
        for plot in &drawing.plots {
            match plot {
                Plot::Chart(chart) => {
                    assert!(
                        !chart.lines.is_empty() && !chart.x_label.is_empty() && !chart.y_label.is_empty()
                    );
                    for line in &chart.lines {
                        assert!(line.points.len() > 3, "{} {}", drawing.id, line.name);
                        assert!(line.points.iter().flatten().all(|x| x.is_finite()), "{}", drawing.id);
                    }
                }
                Plot::Motion(run) => assert!(run.1.recording.len() > 3000, "{}", drawing.id),
            }
        }
    }
    double_pendulum(&drawn);
    top(&drawn);
    linear(&drawn);
    pendulum(&drawn);
}

fn double_pendulum(drawn: &HashMap<String, Drawing>) {
    for (id, near, far) in [("000.F2", 0.01, 0.3), ("000.F3", 0.01, 0.3)] {
        for panel in 0..2 {
            let reference = line(&drawn[id], panel, "reference");
            let [simpson, rk4, midpoint] =
                ["Simpson", "RK4", "implicit"].map(|name| distance(line(&drawn[id], panel, name), reference));
            assert!(
                simpson < near && simpson < rk4 && rk4 < midpoint && midpoint > far,
                "{id} {simpson} {rk4} {midpoint}"
            );
        }
    }
    let slopes: Vec<f64> = chart(&drawn["000.F4"], 0).lines.iter().map(|l| l.order.unwrap().0).collect();
    assert!(
        (slopes[0] - 2.0).abs() < 0.15 && (slopes[1] - 5.0).abs() < 0.15 && (slopes[2] - 4.0).abs() < 0.15
    );
    // RK4 drifts: its largest error is its last
    let rk4 = line(&drawn["000.F5"], 0, "explicit");
    assert!((largest(rk4) / rk4.points.last().unwrap()[1].abs() - 1.0).abs() < 1e-12);
    // the entry of table 2 at T = 10, h = 0.04
    assert!((largest(line(&drawn["000.F5"], 0, "Simpson")) / 8.827_07e-6 - 1.0).abs() < 1e-4);
}

fn top(drawn: &HashMap<String, Drawing>) {
    let exact = line(&drawn["000.F8"], 0, "exact");
    let [simpson, midpoint] =
        ["Simpson", "implicit"].map(|name| distance(line(&drawn["000.F8"], 0, name), exact));
    assert!(simpson < 6e-3 && midpoint > 0.04, "{simpson} {midpoint}");
    for panel in 0..2 {
        for (name, exact) in [("implicit", true), ("Simpson", true), ("explicit", false)] {
            assert_eq!(largest(line(&drawn["000.F10"], panel, name)) == 0.0, exact, "{name}");
        }
    }
    for panel in 0..2 {
        for (line, order) in chart(&drawn["000.F11"], panel).lines.iter().zip([2.0, 4.0, 4.0]) {
            assert!((line.order.unwrap().0 - order).abs() < 0.1, "{}", line.name);
        }
    }
    // cusps: the axis starts and stops at its highest, θ = π/6
    let theta = &chart(&drawn["000.F12"], 1).lines[0].points;
    let least = theta.iter().map(|p| p[1]).fold(f64::INFINITY, f64::min);
    assert!((least - std::f64::consts::FRAC_PI_6).abs() < 1e-6);
    let reference = line(&drawn["000.F13"], 0, "reference");
    let simpson = distance(line(&drawn["000.F13"], 0, "Simpson"), reference);
    let rk4 = distance(line(&drawn["000.F13"], 0, "RK4, reduced"), reference);
    // an independent computation has 4.534e-3 and 9.564e-3
    assert!((simpson - 4.534e-3).abs() < 1e-5 && (rk4 - 9.564e-3).abs() < 1e-5, "{simpson} {rk4}");
    assert!((chart(&drawn["000.F14"], 0).lines[0].order.unwrap().0 - 4.0).abs() < 0.1);
}

fn linear(drawn: &HashMap<String, Drawing>) {
    for panel in 0..2 {
        let exact = line(&drawn["001.F2"], panel, "exact");
        let [simpson, rk4, newmark] =
            ["Simpson", "RK4", "Newmark"].map(|name| distance(line(&drawn["001.F2"], panel, name), exact));
        assert!(simpson < rk4 && rk4 < newmark, "{simpson} {rk4} {newmark}");
    }
    // four orders of magnitude for a step ten times smaller
    let [coarse, fine] = [0, 1].map(|panel| largest(line(&drawn["001.F5"], panel, "Simpson")));
    assert!(
        (coarse / 3.887e-3 - 1.0).abs() < 1e-3 && (fine / 3.252e-7 - 1.0).abs() < 1e-3,
        "{coarse} {fine}"
    );
    for panel in 0..2 {
        assert!(largest(line(&drawn["001.F5"], panel, "Newmark")) < 1e-13);
        assert!(largest(&chart(&drawn["001.F6"], panel).lines[0]) < 1e-16);
        for (line, order) in chart(&drawn["001.F7"], panel).lines.iter().zip([2.0, 4.0, 4.0]) {
            assert!((line.order.unwrap().0 - order).abs() < 0.1, "{}", line.name);
        }
    }
}

fn pendulum(drawn: &HashMap<String, Drawing>) {
    let exact = line(&drawn["002.F2"], 0, "exact");
    let [simpson, newmark] =
        ["Simpson", "Newmark"].map(|name| distance(line(&drawn["002.F2"], 0, name), exact));
    assert!(simpson < 0.01 && newmark > 0.5, "{simpson} {newmark}");
    let exact = line(&drawn["004.F3"], 0, "exact");
    let [lobatto, simpson] =
        ["Lobatto", "Simpson"].map(|name| distance(line(&drawn["004.F3"], 0, name), exact));
    assert!(lobatto < 0.03 && simpson > 0.1, "{lobatto} {simpson}");
    let lines = &chart(&drawn["004.F4"], 0).lines;
    // an independent computation has the rate 1.183e-9
    let name =
        "10 steps a period: rises to 1.14e-5 and stays, 1.18e-9 a period on average (printed 7.99e-13)";
    assert_eq!(lines[0].name, name);
    assert_eq!(lines[1].name, "20: does not grow (printed 5.39e-11)");
}

#[test]
fn the_rising_supremum_of_004_figure_2_is_a_phase_error() {
    let study = Study {
        run: Run::of("harmonic-oscillator"),
        methods: vec!["lobatto".to_owned()],
        steps: vec![Quantity::from("period/10")],
        until: ["period", "100000*period"].map(Quantity::from).into(),
        measures: vec![Measure { relative: Some(false), ..Measure::of("energy") }],
        reference: Reference::Auto,
    };
    let found = Studies::new(&[study]).unwrap().run(&|_| ControlFlow::Continue(())).remove(0);
    let [first, last] = [0, 1].map(|until| found.cell(0, 0, until, 0).value());
    // from the closed form of Φ; a million steps leave a rounding error of 1e-9 J of 49 J
    assert!((first - 6.619_476_3e-5).abs() < 1e-12 && (last - 6.869_556_8e-5).abs() < 2e-9, "{first} {last}");
    let rate = (last - first) / 1e5;
    assert!((rate / 2.5008e-11 - 1.0).abs() < 1e-3, "{rate}");
}
