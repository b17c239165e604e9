//! Which combinations of candidates are symmetries: a null space.
//!
//! A random point of a prime field gives one equation Σ x_k F_k = 0, with F_k = (A_k q + b_k)·Φ_q + (A_k v)·Φ_v of
//! candidate k. Points are added until they say nothing new. What they leave open is a space of motions; it gets the
//! basis with the fewest entries, whose numbers must be simple fractions, and each of these motions is proved by
//! `proof`.

use super::candidates::{Motion, Place, candidates};
use super::echelon::Echelon;
use super::field::PrimeField;
use super::point::Formula;
use super::proof::Proof;
use crate::system::System;
use std::collections::BTreeSet;

/// So many equations that follow from the others end the search.
const SPARE: usize = 2;
/// Denominators of the numbers of a motion have a common multiple up to this.
const DENOMINATORS: i64 = 1000;

/// The symmetries, as a basis in which they are sparse.
pub(super) fn symmetries(system: &System) -> Vec<Motion<f64>> {
    let model = &system.model;
    let candidates = candidates(system);
    let formula = Formula::new(&model.graph, model.lagrangian, model.n, false);
    let Some(open) = open(&formula, &candidates) else { return Vec::new() };
    if open.is_empty() {
        return Vec::new();
    }
    let Some(proof) = Proof::of(&formula) else { return Vec::new() };
    let found = motions(&candidates, &open).into_iter().filter(|motion| proof.leaves_unchanged(motion));
    without_centres_of_mass(found.collect())
}

/// The field in which symmetries are looked for.
fn field() -> PrimeField {
    PrimeField::new(0)
}

/// The combinations of candidates that the equations leave open; `None` where L has no value.
fn open(formula: &Formula<'_>, candidates: &[Motion<f64>]) -> Option<Vec<Vec<u64>>> {
    let mut equations = Echelon::new(field());
    let (mut number, mut repeated) = (0, 0);
    while equations.rank() < candidates.len() && repeated < SPARE {
        // every so many points are in the same field
        number += PrimeField::COUNT as u64;
        let point = formula.at(number)?;
        let row: Option<_> = candidates.iter().map(|candidate| point.change(candidate)).collect();
        repeated += usize::from(!equations.insert(row?));
    }
    Some(equations.null_space(candidates.len()))
}

/// Combinations of candidates as motions with whole numbers.
fn motions(candidates: &[Motion<f64>], combinations: &[Vec<u64>]) -> Vec<Motion<f64>> {
    let field = field();
    let places = places(candidates);
    let mut basis = Echelon::new(field);
    for combination in combinations {
        let mut vector = vec![0; places.len()];
        for (x, candidate) in combination.iter().zip(candidates).filter(|(x, _)| **x != 0) {
            for (sum, y) in vector.iter_mut().zip(entries(candidate, &places)) {
                *sum = field.add(*sum, field.mul(*x, y));
            }
        }
        basis.insert(vector);
    }
    let motion = |x: Vec<u64>| {
        let numbers = whole_numbers(&x)?.into_iter();
        Some(places.iter().copied().zip(numbers).filter(|(_, x)| *x != 0.0).collect())
    };
    basis.reduced().into_iter().filter_map(motion).collect()
}

/// All places where some motion is not zero.
fn places(motions: &[Motion<f64>]) -> Vec<Place> {
    let places: BTreeSet<Place> = motions.iter().flat_map(|motion| motion.keys().copied()).collect();
    places.into_iter().collect()
}

/// The numbers of a motion at these places.
fn entries(motion: &Motion<f64>, places: &[Place]) -> impl Iterator<Item = u64> {
    places.iter().map(|place| motion.get(place).and_then(|x| field().number(*x)).unwrap_or(0))
}

/// Fractions with their least common denominator taken out; `None` if they are not simple.
fn whole_numbers(x: &[u64]) -> Option<Vec<f64>> {
    let fractions: Option<Vec<(i64, i64)>> = x.iter().map(|x| field().fraction(*x)).collect();
    let fractions = fractions?;
    let common = (1..=DENOMINATORS).find(|common| fractions.iter().all(|(_, d)| common % d == 0))?;
    Some(fractions.iter().map(|(n, d)| (n * (common / d)) as f64).collect())
}

/// Leaves out what follows from translations: if bodies of equal mass can be shifted along two axes, their centre of
/// mass can be turned alone. That says no more than that it moves uniformly.
fn without_centres_of_mass(found: Vec<Motion<f64>>) -> Vec<Motion<f64>> {
    let is_shift = |motion: &Motion<f64>| motion.keys().all(|place| matches!(place, Place::Shift(_)));
    let (mut chosen, maps): (Vec<_>, Vec<_>) = found.into_iter().partition(is_shift);
    let mut known: Vec<Motion<f64>> = Vec::new();
    for (k, a) in chosen.iter().enumerate() {
        known.extend(chosen[k + 1..].iter().filter(|b| a.len() * b.len() <= 10_000).map(|b| turned(a, b)));
    }
    let places = places(&[known.as_slice(), &maps].concat());
    let mut independent = Echelon::new(field());
    for motion in &known {
        independent.insert(entries(motion, &places).collect());
    }
    chosen.extend(maps.into_iter().filter(|motion| independent.insert(entries(motion, &places).collect())));
    chosen
}

/// The rotation of a·q and b·q into each other, for two shifts.
fn turned(a: &Motion<f64>, b: &Motion<f64>) -> Motion<f64> {
    let mut motion = Motion::new();
    for (&i, &x) in a {
        for (&j, &y) in b {
            if let (Place::Shift(i), Place::Shift(j)) = (i, j) {
                *motion.entry(Place::of(j, i)).or_default() += x * y;
                *motion.entry(Place::of(i, j)).or_default() -= x * y;
            }
        }
    }
    motion
}
