//! Phase portraits: from coordinates and momenta to small panels (q_i, p_i).
//!
//! Momenta differ in unit and size from one coordinate to the next, so each coordinate
//! has its own pair of axes. A coordinate whose momentum never changes has a straight
//! line for a portrait and is left out if others remain.

use super::run::{chosen_curves, colour_of, extent, selection};
use super::{Axis, Mark, Panel, Place, RunPicture, Shape, with_unit};
use std::f64::consts::{PI, TAU};

/// Portraits that have room in one block.
const MOST_PORTRAITS: usize = 4;

/// The portraits in their places in the block; empty if there are no momenta.
pub(super) fn phase_block(picture: &RunPicture) -> Vec<Panel> {
    let total = picture.coordinates.len().min(picture.momenta.len());
    let moving: Vec<usize> = (0..total).filter(|&i| changes(&picture.momenta[i].values)).collect();
    let candidates: Vec<usize> = if moving.is_empty() { (0..total).collect() } else { moving };
    // of the coordinates that are drawn over time, so that the colours say which is which
    let curves = chosen_curves(picture.coordinates.len());
    let both: Vec<usize> = candidates.iter().copied().filter(|i| curves.contains(i)).collect();
    let pool = if both.is_empty() { &candidates } else { &both };
    let shown: Vec<usize> = selection(pool.len(), MOST_PORTRAITS).into_iter().map(|k| pool[k]).collect();
    let places = places(shown.len());
    let mut panels: Vec<Panel> = Vec::new();
    for (k, (&i, place)) in shown.iter().zip(places).enumerate() {
        let mut panel = portrait(picture, i);
        panel.place = place;
        let colour = if curves.contains(&i) { colour_of(&i, &curves) } else { super::palette(k) };
        for mark in &mut panel.marks {
            mark.colour = colour;
        }
        panels.push(panel);
    }
    let left_out: Vec<&str> =
        (0..total).filter(|i| !candidates.contains(i)).map(|i| picture.momenta[i].name.as_str()).collect();
    let constant = match left_out.len() {
        1..=3 => format!(" ({} constant)", left_out.join(", ")),
        _ => String::new(),
    };
    if let Some(first) = panels.first_mut() {
        first.title = match (shown.len(), candidates.len()) {
            (s, c) if s < c => format!("Phase portraits ({s} of {total} coordinates)"),
            (1, _) => format!("Phase portrait{constant}"),
            _ => format!("Phase portraits{constant}"),
        };
    }
    panels
}

/// Whether a momentum moves by more than rounding.
fn changes(values: &[f64]) -> bool {
    let (low, high) = extent(values);
    high - low > 1e-9 * low.abs().max(high.abs())
}

fn places(count: usize) -> Vec<Place> {
    let place = |x: f64, y: f64, width: f64, height: f64| Place { x, y, width, height };
    // the upper row is higher by the line of the title
    let split = 0.53;
    match count {
        0 => Vec::new(),
        1 => vec![place(0.0, 0.0, 1.0, 1.0)],
        2 => vec![place(0.0, 0.0, 0.5, 1.0), place(0.5, 0.0, 0.5, 1.0)],
        3 => vec![
            place(0.0, 0.0, 0.5, split),
            place(0.5, 0.0, 0.5, split),
            place(0.0, split, 1.0, 1.0 - split),
        ],
        _ => vec![
            place(0.0, 0.0, 0.5, split),
            place(0.5, 0.0, 0.5, split),
            place(0.0, split, 0.5, 1.0 - split),
            place(0.5, split, 0.5, 1.0 - split),
        ],
    }
}

fn portrait(picture: &RunPicture, i: usize) -> Panel {
    let (q, p) = (&picture.coordinates[i], &picture.momenta[i]);
    let (low, high) = extent(&q.values);
    // an angle that goes round many times is drawn on one turn
    let turns = q.unit == "rad" && high - low > 2.0 * TAU;
    let points: Vec<[f64; 2]> = q.values.iter().zip(&p.values).map(|(&q, &p)| [q, p]).collect();
    let (points, name) =
        if turns { (on_one_turn(&points), format!("{} mod 2π", q.name)) } else { (points, q.name.clone()) };
    let mut x = Axis::linear(with_unit(&name, &q.unit));
    if turns {
        x.range = Some((-PI, PI));
    }
    let mut panel = Panel::new("", x, Axis::linear(with_unit(&p.name, &p.unit)));
    let width = if points.len() > 20_000 { 0.7 } else { 1.2 };
    panel.marks.push(Mark::new(super::palette(0), Shape::Line { points, width, dashed: false, fade: true }));
    panel
}

/// The first number of each point moved into −π..π, with a break where it jumps.
fn on_one_turn(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut out = Vec::with_capacity(points.len() + points.len() / 16);
    let mut before: Option<f64> = None;
    for &[q, p] in points {
        let wrapped = (q + PI).rem_euclid(TAU) - PI;
        if before.is_some_and(|b| (b - wrapped).abs() > PI) {
            out.push([f64::NAN; 2]);
        }
        out.push([wrapped, p]);
        before = Some(wrapped);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Series;

    fn series(name: &str, unit: &str, value: impl Fn(f64) -> f64) -> Series {
        let values = (0..200).map(|i| value(f64::from(i) * 0.1)).collect();
        Series { name: name.into(), unit: unit.into(), values }
    }

    #[test]
    fn coordinates_with_constant_momentum_are_left_out_unless_alone() {
        let mut picture = RunPicture {
            coordinates: vec![series("θ", "rad", f64::sin), series("ψ", "rad", |t| 250.0 * t)],
            momenta: vec![series("pθ", "", f64::cos), series("pψ", "", |_| 0.0315)],
            ..RunPicture::default()
        };
        let shown = phase_block(&picture);
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].x.label, "θ [rad]");
        picture.momenta[0] = series("pθ", "", |_| 1.0);
        let both = phase_block(&picture);
        assert_eq!(both.len(), 2);
        assert_eq!(both[1].x.label, "ψ mod 2π [rad]");
    }

    #[test]
    fn angles_that_go_round_are_broken_where_they_jump() {
        let points: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i) * 0.2, 1.0]).collect();
        let wrapped = on_one_turn(&points);
        assert_eq!(wrapped.iter().filter(|p| p[0].is_nan()).count(), 3);
        assert!(wrapped.iter().all(|p| p[0].is_nan() || p[0].abs() <= PI));
    }
}
