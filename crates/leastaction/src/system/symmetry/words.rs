//! Symmetries in words: the name and the formula of what each conserves.
//!
//! J = Σ A_ij q_j p_i + Σ b_i p_i. A sum over bodies is named after what their coordinates have in common: `total p_x` for
//! p_x_sun + p_x_jupiter + …, `total x*p_y - y*p_x` for the angular momentum.

use super::candidates::{Motion, Place};
use super::{Kind, Symmetry};
use crate::error::number;
use crate::system::System;

/// Sums of more terms than this are shortened.
const MOST_TERMS: usize = 6;

/// Symmetries with names, no two alike.
pub(super) fn named(system: &System, motions: Vec<Motion<f64>>) -> Vec<Symmetry> {
    let mut list: Vec<Symmetry> = Vec::with_capacity(motions.len());
    for motion in motions {
        let mut symmetry = describe(system, &motion);
        if list.iter().any(|other| other.name == symmetry.name) {
            symmetry.name.clone_from(&symmetry.formula);
        }
        let count = list.iter().filter(|other| other.name.starts_with(&symmetry.name)).count();
        if count > 0 {
            symmetry.name += &format!(" ({})", count + 1);
        }
        list.push(symmetry);
    }
    list
}

fn describe(system: &System, motion: &Motion<f64>) -> Symmetry {
    let name = |i: usize| system.coordinates[i].name.as_str();
    let planes = planes(motion);
    let (mut linear, mut shift) = (Vec::new(), Vec::new());
    for (place, &x) in motion {
        match *place {
            Place::Shift(i) => shift.push((i, x)),
            Place::Lower(i, j) | Place::Upper(i, j) => linear.push((i, j, x)),
        }
    }
    let mut parts: Vec<Vec<Term>> = Vec::new();
    for (place, &x) in motion {
        match *place {
            Place::Lower(i, j) => {
                let mut part = vec![(x, format!("{}*p_{}", name(j), name(i)))];
                if let Some(&back) = motion.get(&Place::Upper(j, i)) {
                    part.push((back, format!("{}*p_{}", name(i), name(j))));
                }
                parts.push(part);
            }
            Place::Upper(i, j) if !motion.contains_key(&Place::Lower(j, i)) => {
                parts.push(vec![(x, format!("{}*p_{}", name(j), name(i)))]);
            }
            _ => {}
        }
    }
    parts.extend(shift.iter().map(|&(i, x)| vec![(x, format!("p_{}", name(i)))]));
    let formula = sum(&parts);
    let (kind, short) = match (&planes, linear.is_empty()) {
        (_, true) => (Kind::Translation, total_momentum(system, &shift)),
        (Some(planes), _) => (Kind::Rotation, total_rotation(system, planes)),
        (None, _) => (Kind::Linear, None),
    };
    Symmetry { name: short.unwrap_or_else(|| formula.clone()), formula, kind, linear, shift }
}

/// The planes (i, j, J = x (q_i p_j − q_j p_i)) of a rotation.
fn planes(motion: &Motion<f64>) -> Option<Vec<(usize, usize, f64)>> {
    let mut planes = Vec::new();
    for (place, &x) in motion {
        match *place {
            Place::Lower(j, i) if motion.get(&Place::Upper(i, j)) == Some(&-x) => planes.push((i, j, x)),
            Place::Upper(i, j) if motion.get(&Place::Lower(j, i)) == Some(&-x) => {}
            _ => return None,
        }
    }
    Some(planes)
}

fn total_momentum(system: &System, shift: &[(usize, f64)]) -> Option<String> {
    let axis = common(system, shift.iter().map(|(i, _)| *i))?;
    let uniform = shift.len() > 1 && shift.iter().all(|(_, x)| *x == 1.0);
    uniform.then(|| format!("total p_{axis}"))
}

fn total_rotation(system: &System, planes: &[(usize, usize, f64)]) -> Option<String> {
    let a = common(system, planes.iter().map(|(i, ..)| *i))?;
    let b = common(system, planes.iter().map(|(_, j, _)| *j))?;
    let uniform = planes.len() > 1 && a != b && planes.iter().all(|(.., x)| *x == 1.0);
    uniform.then(|| format!("total {a}*p_{b} - {b}*p_{a}"))
}

/// What the names of coordinates have in common at their beginning or at their end.
fn common(system: &System, coordinates: impl Iterator<Item = usize>) -> Option<String> {
    let names: Vec<Vec<&str>> = coordinates.map(|i| words(&system.coordinates[i].name)).collect();
    let first = names.first()?;
    let leading = (0..first.len()).take_while(|&k| names.iter().all(|n| n.get(k) == first.get(k))).count();
    let from_end = |n: &[&str], k: usize| n.len().checked_sub(k + 1).map(|at| n[at].to_owned());
    let trailing =
        (0..first.len()).take_while(|&k| names.iter().all(|n| from_end(n, k) == from_end(first, k))).count();
    let shared = if leading > 0 { &first[..leading] } else { &first[first.len() - trailing..] };
    let starts_well = shared.first().is_some_and(|word| !word.starts_with(|c: char| c.is_numeric()));
    starts_well.then(|| shared.join("_"))
}

/// The words of a name: what stands between underscores and brackets, and numbers apart from letters.
pub(super) fn words(name: &str) -> Vec<&str> {
    let mut list = Vec::new();
    for word in name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let letters = word.trim_end_matches(|c: char| c.is_numeric());
        list.extend([letters, &word[letters.len()..]].into_iter().filter(|part| !part.is_empty()));
    }
    list
}

/// A coefficient and what it multiplies.
type Term = (f64, String);

/// Parts added up; of many, the first and the last.
fn sum(parts: &[Vec<Term>]) -> String {
    let mut text = String::new();
    let long = parts.len() > 3 && parts.iter().map(Vec::len).sum::<usize>() > MOST_TERMS;
    let shown = if long { 2 } else { parts.len() };
    for term in parts[..shown].iter().flatten() {
        push(&mut text, term);
    }
    if let (true, Some(last)) = (shown < parts.len(), parts.last()) {
        text += " + …";
        for term in last {
            push(&mut text, term);
        }
    }
    text
}

fn push(text: &mut String, (factor, what): &Term) {
    let sign = match (text.is_empty(), *factor < 0.0) {
        (true, true) => "-",
        (true, false) => "",
        (false, true) => " - ",
        (false, false) => " + ",
    };
    *text += sign;
    if factor.abs() != 1.0 {
        *text += &format!("{}*", number(factor.abs()));
    }
    *text += what;
}
