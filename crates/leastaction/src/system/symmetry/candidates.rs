//! Motions that may be symmetries, or of which symmetries may be combined.
//!
//! For a few coordinates: every shift, and every linear map, or where the mass matrix is constant and diagonal every
//! rotation of two coordinates of equal mass. There are n² of them, so for many coordinates there are only those that
//! a system of bodies may have: the coordinates of equal mass are taken as points in one, two or three dimensions,
//! body by body (x1, y1, x2, y2, …) or axis by axis (x1, x2, …, y1, y2, …), or all coordinates by their names, and all
//! points are shifted along an axis or turned in a plane. Nothing is decided here: a wrong guess is a candidate that
//! the search rejects.

use super::words::words;
use crate::system::System;
use std::collections::BTreeMap;

/// More candidates than this take too long to combine.
const MOST: usize = 160;
/// With more coordinates than this, they are only shifted all at once.
const LARGE: usize = 20_000;

/// Names that begin in more ways are no axes.
const AXES: usize = 6;

/// A place in A or in b.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// b_i.
    Shift(usize),
    /// A_ij for i > j, which comes first because its J is q_j p_i.
    Lower(usize, usize),
    /// A_ij for i ≤ j.
    Upper(usize, usize),
}

impl Place {
    /// The place of an entry of A.
    pub(super) fn of(row: usize, column: usize) -> Self {
        if row > column { Self::Lower(row, column) } else { Self::Upper(row, column) }
    }
}

/// A motion: entries of A and b that are not zero.
pub(super) type Motion<R> = BTreeMap<Place, R>;

/// Motions whose combinations are searched, without shifts of cyclic coordinates.
pub(super) fn candidates(system: &System) -> Vec<Motion<f64>> {
    let cyclic = &system.structure().cyclic;
    let mut list = proposals(system);
    for motion in &mut list {
        motion.retain(|place, _| !matches!(place, Place::Shift(i) if cyclic.binary_search(i).is_ok()));
    }
    list.retain(|motion| !motion.is_empty());
    list
}

fn proposals(system: &System) -> Vec<Motion<f64>> {
    let n = system.n();
    let shifts = || (0..n).map(|i| Motion::from([(Place::Shift(i), 1.0)]));
    let classes = classes(system);
    if classes.is_none() && n.saturating_mul(n + 1) <= MOST {
        let maps = (0..n * n).map(|k| Motion::from([(Place::of(k / n, k % n), 1.0)]));
        return shifts().chain(maps).collect();
    }
    let all = vec![(0..n).collect()];
    let classes = classes.unwrap_or_else(|| all.clone());
    let count: usize = classes.iter().map(|class| class.len() * class.len().saturating_sub(1) / 2).sum();
    if count + n <= MOST {
        return shifts().chain(classes.iter().flat_map(|class| pairs(class)).map(turn)).collect();
    }
    let mut found = by_names(system);
    // the arrangements of one class are at most eight rotations and eleven shifts
    if n + 8 * classes.len() <= MOST {
        found.extend(shifts().chain(arranged(&classes, false)));
    } else if 19 * classes.len() <= MOST {
        found.extend(arranged(&classes, true));
    } else {
        found.extend(arranged(&all, true));
        found.extend(groups(system));
    }
    found
}

/// Shifts of all coordinates that have to do with each other.
fn groups(system: &System) -> Vec<Motion<f64>> {
    let structure = system.structure();
    if system.n() > LARGE || !(2..=MOST / 2).contains(&structure.groups) {
        return Vec::new();
    }
    let mut groups = vec![Motion::new(); structure.groups];
    for i in 0..system.n() {
        groups[structure.group[i]].insert(Place::Shift(i), 1.0);
    }
    groups
}

/// Shifts and rotations of all coordinates whose names begin alike, for a few beginnings: x1, x2, … and y1, y2, …, in
/// any order.
fn by_names(system: &System) -> Vec<Motion<f64>> {
    let mut axes: BTreeMap<&str, BTreeMap<Vec<&str>, usize>> = BTreeMap::new();
    let named = system.coordinates.iter().take(if system.n() > LARGE { 0 } else { LARGE }).enumerate();
    for (i, coordinate) in named {
        if let Some((axis, body)) = words(&coordinate.name).split_first() {
            axes.entry(axis).or_default().insert(body.to_vec(), i);
        }
    }
    if axes.len() > AXES {
        return Vec::new();
    }
    let axes: Vec<_> = axes.into_values().collect();
    let shift = |axis: &BTreeMap<_, usize>| axis.values().map(|i| (Place::Shift(*i), 1.0)).collect();
    let shifts = axes.iter().map(shift);
    let rotation = |(a, b): (usize, usize)| -> Motion<f64> {
        let both = axes[a].iter().filter_map(|(body, i)| Some((*i, *axes[b].get(body)?)));
        both.flat_map(|(i, j)| turn((i, j))).collect()
    };
    let numbers: Vec<usize> = (0..axes.len()).collect();
    shifts.chain(pairs(&numbers).map(rotation)).collect()
}

/// Coordinates of equal mass, if the mass matrix is constant and diagonal.
fn classes(system: &System) -> Option<Vec<Vec<usize>>> {
    let model = &system.model;
    if !model.structure.constant_mass || model.l_vv.iter().any(|entry| entry.row != entry.column) {
        return None;
    }
    // equal masses are the same node of the graph
    let mut classes: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for entry in &model.l_vv {
        classes.entry(entry.node).or_default().push(entry.row);
    }
    Some(classes.into_values().collect())
}

/// All pairs of a list.
fn pairs(list: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    list.iter().enumerate().flat_map(|(k, &i)| list[k + 1..].iter().map(move |&j| (i, j)))
}

/// The rotation with J = q_i p_j − q_j p_i.
fn turn((i, j): (usize, usize)) -> Motion<f64> {
    Motion::from([(Place::of(j, i), 1.0), (Place::of(i, j), -1.0)])
}

/// Shifts and rotations of points whose coordinates are those of a class, for each class.
fn arranged(classes: &[Vec<usize>], with_shifts: bool) -> Vec<Motion<f64>> {
    let mut found: Vec<Motion<f64>> = Vec::new();
    for class in classes {
        for dimension in 1..=if class.len() > LARGE { 1 } else { 3 } {
            if !class.len().is_multiple_of(dimension) {
                continue;
            }
            let bodies = class.len() / dimension;
            let by_body = |axis: usize, body: usize| class[dimension * body + axis];
            let by_axis = |axis: usize, body: usize| class[bodies * axis + body];
            for coordinate in [&by_body as &dyn Fn(usize, usize) -> usize, &by_axis] {
                let axes: Vec<usize> = (0..dimension).collect();
                if with_shifts {
                    found.extend(axes.iter().map(|&axis| {
                        (0..bodies).map(|body| (Place::Shift(coordinate(axis, body)), 1.0)).collect()
                    }));
                }
                found.extend(pairs(&axes).map(|(a, b)| {
                    (0..bodies).flat_map(|body| turn((coordinate(a, body), coordinate(b, body)))).collect()
                }));
            }
        }
    }
    found.sort_by(|a, b| a.keys().cmp(b.keys()));
    found.dedup();
    found
}
