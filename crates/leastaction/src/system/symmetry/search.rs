//! Which combinations of candidates are symmetries: a null space, first in f64 and then beyond doubt.
//!
//! Each random state with random parameters gives one equation Σ x_k F_k = 0, with F_k = (A_k q + b_k)·L_q + (A_k v)·L_v of candidate k. More
//! equations than candidates leave only true symmetries open. In f64 that is quick and says in most cases that there are
//! none. What it leaves open is decided with 77 digits, where a symmetry that is broken by 1e-30 is no symmetry, and proved on the
//! graph by `proof`.

use super::candidates::{Motion, Place, candidates};
use super::proof::leaves_unchanged;
use crate::linear::{null_space, reduced_basis};
use crate::scalar::{Digits, Field, Real};
use crate::system::{Gradient, Problem, Quantity, Settings, System};
use std::collections::{BTreeMap, BTreeSet};

/// What decides.
pub(super) type Number = Digits<4>;

/// States at which a symmetry is proved.
const PROOFS: usize = 3;
/// Equations beyond the number of candidates.
const SPARE: usize = 4;
/// Parts of the sizes that occur, below which numbers count as zero: in f64 and with many digits.
pub(super) const ROUGH: f64 = 1e-9;
const SHARP: f64 = 1e-30;
/// Fractions have denominators up to this.
const DENOMINATORS: i32 = 24;
/// More candidates are only decided with many digits if f64 has reduced them before.
const FEW: usize = 100;

/// The symmetries, as a basis in which they are sparse, looked for around a state.
pub(super) fn symmetries(system: &System, centre: &Sample) -> Vec<Motion<f64>> {
    let candidates = candidates(system);
    let Some(samples) = Samples::new(system, centre, candidates.len() + SPARE) else { return Vec::new() };
    let rough = symmetries_in::<f64>(system, &samples, &candidates, ROUGH);
    if rough.is_empty() {
        return Vec::new();
    }
    let reduced: Option<Vec<_>> = rough.iter().map(|motion| fractions(motion, 1e-6)).collect();
    let left = match reduced {
        Some(reduced) => reduced,
        None if candidates.len() <= FEW => candidates,
        None => return Vec::new(),
    };
    let found = symmetries_in::<Number>(system, &samples, &left, SHARP);
    let found = found.iter().filter_map(|motion| fractions(motion, 1e-20));
    let proved = |motion: &Motion<f64>| {
        samples.states.iter().take(PROOFS).all(|at| leaves_unchanged(system, motion, at))
    };
    without_centres_of_mass(found.filter(proved).collect())
}

/// Leaves out what follows from translations: if bodies of equal mass can be shifted along two axes, their centre of mass can be
/// turned alone. That says no more than that it moves uniformly.
fn without_centres_of_mass(found: Vec<Motion<f64>>) -> Vec<Motion<f64>> {
    let is_shift = |motion: &Motion<f64>| motion.keys().all(|place| matches!(place, Place::Shift(_)));
    let (mut chosen, maps): (Vec<_>, Vec<_>) = found.into_iter().partition(is_shift);
    let mut known: Vec<Motion<f64>> = Vec::new();
    for (k, a) in chosen.iter().enumerate() {
        known.extend(chosen[k + 1..].iter().filter(|b| a.len() * b.len() <= 10_000).map(|b| turned(a, b)));
    }
    for motion in maps {
        known.push(motion);
        let places: BTreeSet<Place> = known.iter().flat_map(|m| m.keys().copied()).collect();
        let vector =
            |m: &Motion<f64>| places.iter().map(|place| m.get(place).copied().unwrap_or(0.0)).collect();
        let rank = reduced_basis(known.iter().map(vector).collect(), ROUGH).len();
        if rank == known.len() {
            chosen.extend(known.last().cloned());
        } else {
            known.pop();
        }
    }
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

/// A motion whose numbers are simple fractions, scaled to whole numbers.
fn fractions<R: Field>(motion: &Motion<R>, tolerance: f64) -> Option<Motion<f64>> {
    let whole = |x: &R, factor: f64| {
        let scaled = x.clone() * R::from_f64(factor);
        let nearest = scaled.to_f64().round();
        let error = (scaled - R::from_f64(nearest)).magnitude();
        (error <= tolerance * factor && nearest.abs() < 1e6).then_some(nearest)
    };
    (1..=DENOMINATORS).find_map(|d| {
        let numbers = motion.iter().map(|(place, x)| Some((*place, whole(x, f64::from(d))?)));
        numbers.filter(|pair| pair.is_none_or(|(_, x)| x != 0.0)).collect()
    })
}

/// The combinations of candidates that are symmetries, computed in one number type.
fn symmetries_in<R: Real>(
    system: &System,
    samples: &Samples,
    candidates: &[Motion<f64>],
    zero: f64,
) -> Vec<Motion<R>> {
    let count = candidates.len();
    let mut sizes = Sizes { terms: vec![0.0; count], energies: vec![0.0; count], energy: 0.0 };
    let states = samples.states.iter().take(count + SPARE);
    let lists: Vec<Vec<(Place, f64)>> = candidates
        .iter()
        .map(|candidate| candidate.iter().map(|(place, x)| (*place, *x)).collect())
        .collect();
    let mut rows: Vec<Vec<R>> =
        states.map(|sample| equation(system, samples, sample, &lists, &mut sizes)).collect();
    let scales = sizes.scales(zero);
    for row in &mut rows {
        for (x, scale) in row.iter_mut().zip(&scales) {
            *x = x.clone() * R::from_f64(*scale);
        }
    }
    let combinations = null_space(rows, count, zero);
    let places: BTreeSet<Place> = candidates.iter().flat_map(|c| c.keys().copied()).collect();
    let places: Vec<Place> = places.into_iter().collect();
    let vectors = combinations.iter().map(|x| {
        let (mut entries, mut largest) = (Motion::<R>::new(), 0.0f64);
        for ((candidate, x), scale) in candidates.iter().zip(x).zip(&scales) {
            let x = x.clone() * R::from_f64(*scale);
            largest = largest.max(x.magnitude());
            for (place, value) in candidate {
                entries.entry(*place).or_insert_with(R::zero).add_mul(&x, &R::from_f64(*value));
            }
        }
        // candidates that are combinations of each other may add up to nothing, which must not be enlarged
        let unit = if largest > 0.0 { R::one() / R::from_f64(largest) } else { R::one() };
        places
            .iter()
            .map(|place| entries.get(place).map_or_else(R::zero, |x| x.clone() * unit.clone()))
            .collect()
    });
    let basis = reduced_basis(vectors.collect(), zero.sqrt());
    let motion = |x: Vec<R>| {
        let entries = places.iter().copied().zip(x);
        entries.filter(|(_, x)| x.magnitude() > zero.sqrt()).collect()
    };
    basis.into_iter().map(motion).collect()
}

/// How large things are over all states.
struct Sizes {
    /// The terms of each candidate's F, added up by size.
    terms: Vec<f64>,
    /// The same as energies: shifts times the size of their coordinate.
    energies: Vec<f64>,
    /// Energies of the system.
    energy: f64,
}

impl Sizes {
    /// What makes the numbers of each candidate of the size of 1: powers of two, so that scaling rounds nothing. Forces that are
    /// mere rounding beside the energies of the system stay as small as they are.
    fn scales(&self, zero: f64) -> Vec<f64> {
        let scale = |(terms, energies): (&f64, &f64)| {
            let size = if *energies > zero * self.energy { *terms } else { self.energy / energies * terms };
            if size.is_normal() { power_of_two(size) } else { 1.0 }
        };
        self.terms.iter().zip(&self.energies).map(scale).collect()
    }
}

/// The inverse of the power of two below a number.
fn power_of_two(size: f64) -> f64 {
    // without its 52 bits of digits a number is a power of two
    1.0 / f64::from_bits(size.to_bits() >> 52 << 52)
}

/// F of every candidate at a state.
fn equation<R: Real>(
    system: &System,
    samples: &Samples,
    sample: &Sample,
    candidates: &[Vec<(Place, f64)>],
    sizes: &mut Sizes,
) -> Vec<R> {
    let list = |x: &[f64]| -> Vec<R> { x.iter().map(|x| R::from_f64(*x)).collect() };
    let (q, v) = (list(&sample.q), list(&sample.v));
    let mut gradient = Gradient::new(&system.model, &list(&sample.parameters));
    let (l_q, l_v) = gradient.at(&q, &v, &R::from_f64(sample.t));
    for i in 0..q.len() {
        let (work, motion) = (l_q[i].magnitude() * samples.size[i], l_v[i].magnitude() * v[i].magnitude());
        sizes.energy = sizes.energy.max(work).max(motion);
    }
    let mut row = Vec::with_capacity(candidates.len());
    for (k, candidate) in candidates.iter().enumerate() {
        let (mut sum, mut size, mut energy) = (R::zero(), 0.0, 0.0);
        for (place, factor) in candidate {
            let (terms, unit) = match *place {
                Place::Shift(i) => ([l_q[i].clone(), R::zero()], samples.size[i]),
                Place::Lower(i, j) | Place::Upper(i, j) => {
                    ([l_q[i].clone() * q[j].clone(), l_v[i].clone() * v[j].clone()], 1.0)
                }
            };
            for term in terms {
                size += term.magnitude() * factor.abs();
                energy += term.magnitude() * factor.abs() * unit;
                sum.add_mul(&term, &R::from_f64(*factor));
            }
        }
        sizes.terms[k] = sizes.terms[k].max(size);
        sizes.energies[k] = sizes.energies[k].max(energy);
        row.push(sum);
    }
    row
}

/// A state with parameters.
pub(super) struct Sample {
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) t: f64,
    pub(super) parameters: Vec<f64>,
}

/// Random states.
pub(super) struct Samples {
    pub(super) states: Vec<Sample>,
    /// How large each coordinate typically is.
    pub(super) size: Vec<f64>,
}

impl Samples {
    /// So many states around the initial one, at which the derivatives of L are finite.
    pub(super) fn new(system: &System, centre: &Sample, count: usize) -> Option<Self> {
        let sizes = |x: &[f64]| -> Vec<f64> {
            // the largest of those with the same unit
            let units = || system.coordinates.iter().map(|c| c.unit.as_str());
            let mut largest: BTreeMap<&str, f64> = BTreeMap::new();
            for (unit, x) in units().zip(x) {
                let size = largest.entry(unit).or_default();
                *size = size.max(x.abs());
            }
            units().map(|unit| largest[unit]).map(|size| if size > 0.0 { size } else { 1.0 }).collect()
        };
        let (size, speed) = (sizes(&centre.q), sizes(&centre.v));
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let spreads = [1.0, 0.25, 0.06, 0.015, 0.004];
        let states = spreads.into_iter().find_map(|spread| {
            let mut draw = || {
                let mut around = |x: &[f64], size: &[f64]| -> Vec<f64> {
                    x.iter().zip(size).map(|(x, size)| x + spread * size * random.next()).collect()
                };
                let (q, v) = (around(&centre.q, &size), around(&centre.v, &speed));
                let t = centre.t + spread * random.next();
                let vary = |x: &f64| if *x == 0.0 { spread } else { 0.7 * spread * x };
                let parameters = centre.parameters.iter().map(|x| x + vary(x) * random.next()).collect();
                let sample = Sample { q, v, t, parameters };
                let mut gradient = Gradient::new(&system.model, &sample.parameters);
                let (l_q, l_v) = gradient.at(&sample.q, &sample.v, &sample.t);
                l_q.iter().chain(l_v).all(|x| x.is_finite()).then_some(sample)
            };
            (0..count).map(|_| (0..3).find_map(|_| draw())).collect()
        })?;
        Some(Self { states, size })
    }
}

impl Sample {
    /// The initial state of a problem.
    pub(super) fn of<R: Real>(problem: &Problem<R>) -> Self {
        let list = |x: &[R]| x.iter().map(R::to_f64).collect();
        let (q, v, parameters) = (list(&problem.q0), list(&problem.v0), list(&problem.parameters));
        Self { q, v, t: problem.t0.to_f64(), parameters }
    }

    /// The default initial state; if no run can start from that, the origin.
    pub(super) fn default_of(system: &System) -> Option<Self> {
        if let Ok(problem) = system.problem::<f64>(&Settings::default()) {
            return Some(Self::of(&problem));
        }
        let names = system.parameters.iter().map(|p| Quantity::Formula(p.name.clone()));
        let mut formulas = system.formulas(&BTreeMap::new()).ok()?;
        let parameters = formulas.values(&names.collect::<Vec<_>>(), |_| String::new()).ok()?;
        let zeros = vec![0.0; system.n()];
        Some(Self { q: zeros.clone(), v: zeros, t: 0.0, parameters })
    }
}

/// Numbers between −1 and 1, the same in every run (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as i64 as f64 / 9_223_372_036_854_775_808.0
    }
}
