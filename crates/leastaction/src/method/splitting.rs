//! Splitting methods as numbers: kicks by the forces and drifts by the velocities, in turn, for L = ½ vᵀMv − V(q, t) with constant M.
//!
//! ```text
//! p ← p + b_0 h F(q),  q ← q + a_1 h M⁻¹p,  p ← p + b_1 h F(q),  …,  q ← q + a_s h M⁻¹p,  p ← p + b_s h F(q)
//! ```
//!
//! That is the variational method of broken lines: pieces that last a_i h, and V at their ends with weights b_i. All methods here read the
//! same from both ends, so that orders are even and the conditions of odd order are enough. Digits as published are where Newton's method
//! starts; it solves the order conditions in the number type in use and stops where they end. Where there are fewer conditions than numbers
//! it takes the nearest solution.

use crate::linear::Matrix;
use crate::scalar::{Dual, Field, Real};

/// A splitting method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splitting {
    /// Its order.
    pub order: usize,
    /// How many drifts a step has; as many evaluations of the forces, because the last one serves the next step too.
    pub stages: usize,
    /// Which conditions give it its order.
    pub kind: Kind,
}

/// What a splitting method is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Kicks and drifts of their own. Third brackets of the potential with the kinetic energy vanish because that is quadratic, which leaves
    /// fewer conditions.
    Nystrom,
    /// Steps of `verlet` of different sizes.
    Composition,
}

/// A row of the registry.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) splitting: Splitting,
    /// The first half of the numbers as published, and the one in the middle: kicks and drifts in turn, or sizes of steps.
    start: &'static [f64],
    pub(super) reference: &'static str,
}

pub(super) const ROWS: [Row; 4] = [
    Row {
        name: "split4",
        splitting: Splitting { order: 4, stages: 6, kind: Kind::Nystrom },
        start: &[
            0.0829844064174052,
            0.245298957184271,
            0.396309801498368,
            0.604872665711080,
            -0.0390563049223486,
            -0.350171622895351,
            0.1195241940131508,
        ],
        reference: "Blanes & Moan (2002), SRKN 6b",
    },
    Row {
        name: "split6",
        splitting: Splitting { order: 6, stages: 11, kind: Kind::Nystrom },
        start: &[
            0.0414649985182624,
            0.123229775946271,
            0.198128671918067,
            0.290553797799558,
            -0.0400061921041533,
            -0.127049212625417,
            0.0752539843015807,
            -0.246331761062075,
            -0.0115113874206879,
            0.357208872795928,
            0.2366699247869311,
            0.20477705429147,
        ],
        reference: "Blanes & Moan (2002), SRKN 11b",
    },
    Row {
        name: "split8",
        splitting: Splitting { order: 8, stages: 17, kind: Kind::Composition },
        start: &[
            0.13020248308889007,
            0.5611629817751084,
            -0.38947496264484727,
            0.1588419065551556,
            -0.39590389413323757,
            0.1845396409783157,
            0.25837438768632204,
            0.2950117236093103,
            -0.6055085338300346,
        ],
        reference: "Kahan & Li (1997)",
    },
    Row {
        name: "split10",
        splitting: Splitting { order: 10, stages: 35, kind: Kind::Composition },
        start: &[
            0.07879572252168641,
            0.3130961034151085,
            0.02791838323507807,
            -0.22959284159390708,
            0.13096206107716485,
            -0.2697334056545107,
            0.07497334315589144,
            0.1119934239998102,
            0.36613344954622673,
            -0.3991056301360359,
            0.10308739852747108,
            0.41143087395589023,
            -0.00486636058313526,
            -0.3920333537086399,
            0.05194250296244965,
            0.0506650907599245,
            0.04967437063972988,
            0.04931773575959454,
        ],
        reference: "Sofroniou & Spaletta (2005)",
    },
];

/// The numbers of a splitting method.
#[derive(Clone, Debug)]
pub struct Flows<R> {
    /// b_0 … b_s.
    pub kicks: Vec<R>,
    /// a_1 … a_s.
    pub drifts: Vec<R>,
    /// When the kicks happen: a_1 + … + a_i, from 0 to 1.
    pub times: Vec<R>,
}

impl<R: Real> Flows<R> {
    /// The numbers of a method, computed in the wide type and rounded once.
    pub fn new(splitting: &Splitting) -> Self {
        let flows = Flows::<R::Wide>::solved(splitting);
        let narrow = |list: &[R::Wide]| list.iter().map(R::narrow).collect();
        Self { kicks: narrow(&flows.kicks), drifts: narrow(&flows.drifts), times: narrow(&flows.times) }
    }
}

impl<F: Field> Flows<F> {
    /// Solves the order conditions, from the published digits on.
    fn solved(splitting: &Splitting) -> Self {
        let start = ROWS.iter().find(|row| row.splitting == *splitting).map_or(&[][..], |row| row.start);
        let newton = Newton::new(splitting, start);
        let mut half: Vec<F> = start.iter().map(|x| F::from_f64(*x)).collect();
        let mut before = f64::INFINITY;
        loop {
            let corrections = newton.corrections(&conditions(splitting, &half));
            let largest = corrections.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            // no smaller than half of the one before: rounding
            if largest >= 0.5 * before || largest.is_nan() {
                return Self::of(splitting, &half);
            }
            before = largest;
            for (x, correction) in half.iter_mut().zip(corrections) {
                *x = x.clone() - F::from_f64(correction);
            }
        }
    }

    /// Kicks and drifts from the numbers up to the middle.
    fn of(splitting: &Splitting, half: &[F]) -> Self {
        let numbers: Vec<F> = half.iter().chain(half.iter().rev().skip(1)).cloned().collect();
        let (kicks, drifts): (Vec<F>, Vec<F>) = match splitting.kind {
            Kind::Nystrom => {
                let every_other = |from: usize| numbers.iter().skip(from).step_by(2).cloned().collect();
                (every_other(0), every_other(1))
            }
            // half a kick at each end of a step of Verlet; neighbours add up
            Kind::Composition => {
                let halves: Vec<F> = numbers.iter().map(|x| x.clone() * F::from_f64(0.5)).collect();
                let end = || [F::zero()];
                let left = end().into_iter().chain(halves.iter().cloned());
                let right = halves.iter().cloned().chain(end());
                (left.zip(right).map(|(a, b)| a + b).collect(), numbers)
            }
        };
        let mut times = vec![F::zero()];
        for drift in &drifts {
            times.push(times[times.len() - 1].clone() + drift.clone());
        }
        Self { kicks, drifts, times }
    }
}

/// What the order conditions of a method miss, each zero if it is fulfilled.
fn conditions<F: Field>(splitting: &Splitting, half: &[F]) -> Vec<F> {
    match splitting.kind {
        Kind::Nystrom => nystrom_conditions(splitting.order, &Flows::of(splitting, half)),
        Kind::Composition => {
            let powers: Vec<Vec<F>> = half.iter().map(|gamma| odd_powers(gamma, splitting.order)).collect();
            let odd = (1..splitting.order).step_by(2);
            let words = odd.flat_map(lyndon_words);
            words.map(|word| composition_condition(&word, &powers)).collect()
        }
    }
}

/// The conditions of odd order of a symplectic Runge–Kutta–Nyström method with weights b, nodes c and a_ij = b_j (c_i − c_j), j < i: those
/// of its trees that do not follow from others by symplecticity. To order 6.
fn nystrom_conditions<F: Field>(order: usize, flows: &Flows<F>) -> Vec<F> {
    let (b, c) = (&flows.kicks, &flows.times);
    // Σ_j a_ij x_j
    let inner = |i: usize, x: &dyn Fn(usize) -> F| {
        (0..i).fold(F::zero(), |sum, j| sum + b[j].clone() * (c[i].clone() - c[j].clone()) * x(j))
    };
    let sum = |x: &dyn Fn(usize) -> F| (0..b.len()).fold(F::zero(), |sum, i| sum + b[i].clone() * x(i));
    let square = |x: F| x.clone() * x;
    let c2 = |i: usize| square(c[i].clone());
    let a1 = |i: usize| inner(i, &|_| F::one());
    let ac = |i: usize| inner(i, &|j| c[j].clone());
    let misses = |found: F, fraction: f64| found - F::one() / F::from_f64(fraction);
    let mut list = vec![misses(sum(&|_| F::one()), 1.0), misses(c[c.len() - 1].clone(), 1.0)];
    if order >= 4 {
        list.extend([misses(sum(&c2), 3.0), misses(sum(&a1), 6.0)]);
    }
    if order >= 6 {
        list.extend([
            misses(sum(&|i| square(c2(i))), 5.0),
            misses(sum(&|i| c2(i) * a1(i)), 10.0),
            misses(sum(&|i| square(a1(i))), 20.0),
            misses(sum(&|i| c[i].clone() * ac(i)), 30.0),
        ]);
    }
    list
}

/// A step of size γh of a symmetric method is exp(γ Y_1 + γ³ Y_3 + …). The coefficient of a word of these letters in the product of all
/// steps, less that in exp(Y_1). Coefficients of Lyndon words determine all others.
fn composition_condition<F: Field>(word: &[usize], powers: &[Vec<F>]) -> F {
    let fraction = |k: usize| F::one() / F::from_f64(k as f64);
    let fractions: Vec<F> = (1..=word.len()).map(fraction).collect();
    // of the parts of the word up to each letter
    let mut coefficients = vec![F::zero(); word.len() + 1];
    coefficients[0] = F::one();
    for powers in powers.iter().chain(powers.iter().rev().skip(1)) {
        for end in (1..=word.len()).rev() {
            let mut factor = F::one();
            for start in (0..end).rev() {
                factor = factor * powers[word[start] / 2].clone() * fractions[end - start - 1].clone();
                let earlier = coefficients[start].clone();
                coefficients[end].add_mul(&factor, &earlier);
            }
        }
    }
    let expected = if word == [1] { F::one() } else { F::zero() };
    coefficients[word.len()].clone() - expected
}

/// γ, γ³, γ⁵, … below an order.
fn odd_powers<F: Field>(gamma: &F, order: usize) -> Vec<F> {
    let square = gamma.clone() * gamma.clone();
    let mut powers = vec![gamma.clone()];
    while 2 * powers.len() + 1 < order {
        powers.push(powers[powers.len() - 1].clone() * square.clone());
    }
    powers
}

/// The words of odd letters with this sum that come before all their rotations.
fn lyndon_words(sum: usize) -> Vec<Vec<usize>> {
    let is_first = |word: &Vec<usize>| {
        (1..word.len()).all(|start| {
            let rotated = word[start..].iter().chain(&word[..start]);
            word.iter().lt(rotated)
        })
    };
    words(sum).into_iter().filter(is_first).collect()
}

fn words(sum: usize) -> Vec<Vec<usize>> {
    if sum == 0 {
        return vec![Vec::new()];
    }
    let letters = (1..=sum).step_by(2);
    let behind =
        |letter: usize| words(sum - letter).into_iter().map(move |rest| [&[letter], &rest[..]].concat());
    letters.flat_map(behind).collect()
}

/// Newton's method with one matrix, which is as good as the digits it starts from: each correction wins as many again.
struct Newton {
    /// Row i has the slopes of condition i.
    slopes: Vec<Vec<f64>>,
    /// slopes · slopesᵀ, factored.
    matrix: Matrix<f64>,
}

impl Newton {
    fn new(splitting: &Splitting, start: &[f64]) -> Self {
        let column = |k: usize| -> Vec<f64> {
            let one = |(i, x): (usize, &f64)| Dual { value: *x, tangent: f64::from(u8::from(i == k)) };
            let moved: Vec<Dual> = start.iter().enumerate().map(one).collect();
            conditions(splitting, &moved).iter().map(|x| x.tangent).collect()
        };
        let columns: Vec<Vec<f64>> = (0..start.len()).map(column).collect();
        let count = columns.first().map_or(0, Vec::len);
        let slopes: Vec<Vec<f64>> =
            (0..count).map(|i| columns.iter().map(|column| column[i]).collect()).collect();
        let mut matrix = Matrix::new(count, count);
        for (i, row) in slopes.iter().enumerate() {
            for (j, other) in slopes.iter().enumerate() {
                *matrix.entry(i, j) = row.iter().zip(other).map(|(a, b)| a * b).sum();
            }
        }
        // the rows are independent, as the tests of every method show; if they were not, nothing would converge
        let _ = matrix.factor();
        Self { slopes, matrix }
    }

    /// The smallest change of the numbers that makes up for what the conditions miss, to first order.
    fn corrections<F: Field>(&self, missed: &[F]) -> Vec<f64> {
        let mut y: Vec<f64> = missed.iter().map(F::to_f64).collect();
        self.matrix.solve(&mut y);
        let numbers = self.slopes.first().map_or(0, Vec::len);
        (0..numbers).map(|k| self.slopes.iter().zip(&y).map(|(row, y)| row[k] * y).sum()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Digits;

    #[test]
    fn published_digits_are_where_the_solution_is() {
        for Row { name, splitting, start, .. } in ROWS {
            let missed = conditions(&splitting, start);
            let largest = missed.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            assert!(largest < 1e-13, "{name}: {missed:?}");
            let flows = Flows::<f64>::new(&splitting);
            let published = Flows::of(&splitting, start);
            for (a, b) in
                flows.kicks.iter().chain(&flows.drifts).zip(published.kicks.iter().chain(&published.drifts))
            {
                assert!((a - b).abs() < 1e-14, "{name}: {a} {b}");
            }
        }
    }

    #[test]
    fn conditions_are_fulfilled_to_the_last_digit() {
        // 192 digits
        type Number = Digits<10>;
        for Row { name, splitting, .. } in ROWS {
            let flows = Flows::<Number>::solved(&splitting);
            let half: Vec<Number> = match splitting.kind {
                Kind::Composition => flows.drifts[..=splitting.stages / 2].to_vec(),
                Kind::Nystrom => {
                    let pairs = flows.kicks.iter().zip(&flows.drifts).flat_map(|(b, a)| [*b, *a]);
                    pairs.take(splitting.stages + 1).collect()
                }
            };
            let missed = conditions(&splitting, &half);
            let largest = missed.iter().map(Number::magnitude).fold(0.0, f64::max);
            assert!(largest < 1e3 * Number::epsilon(), "{name}: {largest:e}");
            assert_eq!((flows.drifts.len(), flows.kicks.len()), (splitting.stages, splitting.stages + 1));
        }
    }

    #[test]
    fn as_many_conditions_as_the_free_algebra_has() {
        let counts: Vec<usize> = (1..=9).step_by(2).map(|sum| lyndon_words(sum).len()).collect();
        assert_eq!(counts, [1, 1, 2, 4, 8]);
    }
}
