//! How the errors of conserved quantities grow over many steps at machine precision, over several runs of one system.
//!
//! Energy and angular momentum are measured with 38 digits, with what compensated sums keep, so that what is seen is the motion and not
//! its measurement. Used by the benchmark `brouwer` and by the test of that name.

use leastaction::method::{Method, Partitioned, Scheme};
use leastaction::prelude::*;
use leastaction::scalar::{Digits, Field};
use leastaction::system::{Gradient, Hamiltonian, Momentum, Start, Sum, Velocities};

/// Numbers that measure.
type Wide = Digits<2>;

/// Takes one step.
type TakesSteps = Box<dyn FnMut(&mut State<f64>)>;

/// How steps are summed and solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As the library does it.
    Ours,
    /// The same, but what sums lose is lost.
    Naive,
    /// The iteration ends when 1e-12 of velocities and forces is missing.
    Early,
    /// The same method as books write it: coefficients as they are rounded, plain sums, an iteration until nothing changes any more.
    Textbook,
}

impl Way {
    pub(crate) const ALL: [Self; 4] = [Self::Ours, Self::Naive, Self::Early, Self::Textbook];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "leastaction",
            Self::Naive => "naive sums",
            Self::Early => "stopped at 1e-12",
            Self::Textbook => "textbook",
        }
    }
}

/// A system, a method and a step so small that only rounding is left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) system: &'static str,
    pub(crate) method: &'static str,
    pub(crate) step: f64,
}

/// Steps so small that the method's own error is below rounding.
pub(crate) const CASES: [Case; 3] = [
    Case { system: "double-pendulum", method: "gauss16", step: 0.005 },
    Case { system: "kepler", method: "gauss16", step: 0.1 },
    Case { system: "outer-solar-system", method: "gauss16", step: 200.0 },
];

/// A step's change is so small beside the state here that most of it is lost where sums are naive.
pub(crate) const SMALL_STEPS: Case = Case { system: "kepler", method: "gauss16", step: 0.001 };

/// The errors of energy and angular momentum at the samples of several runs.
pub(crate) type Runs = Vec<Vec<[f64; 2]>>;

/// A small generator of numbers (xorshift).
struct Random(u64);

impl Random {
    /// A number between −1 and 1.
    fn number(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

impl Case {
    /// The start of one of many runs.
    pub(crate) fn problem(&self, run: u64) -> Problem<f64> {
        let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ (run + 1).wrapping_mul(0xD134_2543_DE82_EF95));
        for _ in 0..20 {
            random.number();
        }
        let system = catalogue::system(self.system).unwrap();
        let mut settings = Settings::default();
        match self.system {
            // both angles up to 1, at rest
            "double-pendulum" => {
                settings.q = Some((0..2).map(|_| random.number().into()).collect());
            }
            // any eccentricity from 0.1 to 0.5, in any direction
            "kepler" => {
                let (e, angle) = (0.3 + 0.2 * random.number(), 3.0 * random.number());
                let (near, fast) = (1.0 - e, ((1.0 + e) / (1.0 - e)).sqrt());
                settings.q = Some(vec![(near * angle.cos()).into(), (near * angle.sin()).into()]);
                let v = vec![(-fast * angle.sin()).into(), (fast * angle.cos()).into()];
                settings.start = Some(Start::Velocities(v));
            }
            // the catalogue's start moved by a hundredth, with the centre of mass at rest: else it leaves, and takes digits with it
            _ => {
                let problem: Problem<f64> = system.problem(&settings).unwrap();
                let masses: Vec<f64> = problem.p0.iter().zip(&problem.v0).map(|(p, v)| p / v).collect();
                let mass = |i: usize| if i < 3 { problem.parameters[1] } else { masses[i] };
                let mut moved = |list: &[f64]| {
                    let mut list: Vec<f64> =
                        list.iter().map(|x| x * (1.0 + 0.01 * random.number())).collect();
                    for axis in 0..3 {
                        let places = (axis..list.len()).step_by(3);
                        let whole: f64 = places.clone().map(mass).sum();
                        let centre = places.clone().map(|i| mass(i) * list[i]).sum::<f64>() / whole;
                        places.for_each(|i| list[i] -= centre);
                    }
                    list.into_iter().map(Into::into).collect()
                };
                settings.q = Some(moved(&problem.q0));
                settings.start = Some(Start::Velocities(moved(&problem.v0)));
            }
        }
        system.problem(&settings).unwrap()
    }

    /// Relative errors of the energy and of angular momentum, if there is one, after these numbers of steps.
    pub(crate) fn errors(&self, way: Way, run: u64, samples: &[u64]) -> Vec<[f64; 2]> {
        let problem = self.problem(run);
        let mut meter = Meter::new(&problem);
        let mut step = self.steps(way, &problem);
        let mut state = State::new(&problem);
        let mut errors = Vec::new();
        for &sample in samples {
            while state.steps < sample {
                step(&mut state);
            }
            errors.push(meter.errors(&state));
        }
        errors
    }

    /// What takes one step.
    fn steps(&self, way: Way, problem: &Problem<f64>) -> TakesSteps {
        let method = Method::named(self.method).unwrap();
        if way == Way::Textbook {
            let mut textbook = Textbook::new(problem, &method, self.step);
            return Box::new(move |state| textbook.step(state));
        }
        let mut stepper = Stepper::new(problem, &method, self.step);
        if way == Way::Early {
            // of which a tenth may be missing, in one step
            stepper.tolerate(1e-11, 1);
        }
        Box::new(move |state| {
            stepper.step(state).unwrap();
            if way == Way::Naive {
                state.q_low.fill(0.0);
                state.p_low.fill(0.0);
            }
        })
    }
}

/// A Gauss method with rounded coefficients and plain sums: Q_i = q + h Σ a_ij V_j, P_i = p + h Σ a_ij F_j, again and again.
struct Textbook {
    h: f64,
    table: Partitioned<f64>,
    gradient: Gradient<f64>,
    velocities: Velocities<f64>,
    /// V and F at the points, and room for Q and P of one.
    rates: [Vec<Vec<f64>>; 2],
    room: [Vec<f64>; 2],
}

impl Textbook {
    fn new(problem: &Problem<f64>, method: &Method, h: f64) -> Self {
        let Scheme::Galerkin(galerkin) = method.scheme else { panic!("{} is no Gauss method", method.name) };
        let table = Partitioned::new(&galerkin);
        let (model, n) = (&problem.system.model, problem.q0.len());
        Self {
            h,
            gradient: Gradient::new(model, &problem.parameters),
            velocities: Velocities::new(model, &problem.parameters),
            rates: [vec![problem.v0.clone(); table.d.len()], vec![vec![0.0; n]; table.d.len()]],
            room: [vec![0.0; n], vec![0.0; n]],
            table,
        }
    }

    /// Evaluates all points: the largest change of a rate, relative to the largest rate.
    fn sweep(&mut self, state: &State<f64>) -> f64 {
        let (mut change, mut size) = ([0.0f64; 2], [f64::MIN_POSITIVE; 2]);
        let before = self.rates.clone();
        for (i, row) in self.table.a.iter().enumerate() {
            for (room, start, rates) in [(0, &state.q, &before[0]), (1, &state.p, &before[1])] {
                for k in 0..start.len() {
                    let sum: f64 = row.iter().zip(rates).map(|(a, rates)| a * rates[k]).sum();
                    self.room[room][k] = start[k] + self.h * sum;
                }
            }
            let [q, p] = &self.room;
            self.velocities.velocities(q, p, &0.0, &mut self.rates[0][i]).unwrap();
            let (force, _) = self.gradient.at(q, &self.rates[0][i], &0.0);
            self.rates[1][i].copy_from_slice(force);
            for which in 0..2 {
                for (now, before) in self.rates[which][i].iter().zip(&before[which][i]) {
                    change[which] = change[which].max((now - before).abs());
                    size[which] = size[which].max(now.abs());
                }
            }
        }
        (change[0] / size[0]).max(change[1] / size[1])
    }

    fn step(&mut self, state: &mut State<f64>) {
        let mut before = f64::INFINITY;
        loop {
            let change = self.sweep(state);
            if change == 0.0 || change >= before && change < 1e-13 {
                break;
            }
            before = change;
        }
        for (x, rates) in [(&mut state.q, &self.rates[0]), (&mut state.p, &self.rates[1])] {
            for k in 0..x.len() {
                x[k] += self.h * self.table.b.iter().zip(rates).map(|(b, rates)| b * rates[k]).sum::<f64>();
            }
        }
        state.steps += 1;
    }
}

/// Measures states with many digits.
struct Meter {
    hamiltonian: Hamiltonian<Wide>,
    energy: Wide,
    angular: Option<(Momentum<f64>, Sum<f64>)>,
}

impl Meter {
    fn new(problem: &Problem<f64>) -> Self {
        let parameters: Vec<Wide> = problem.parameters.iter().map(|x| Wide::from_f64(*x)).collect();
        let hamiltonian = Hamiltonian::new(&problem.system.model, &parameters).unwrap();
        let momenta = problem.symmetries();
        let angular =
            momenta.iter().find(|symmetry| symmetry.coordinate().is_none() && symmetry.name.contains('*'));
        let state = State::new(problem);
        let angular = angular.map(|symmetry| {
            let momentum = Momentum::new(symmetry);
            let initial = momentum.at((&state.q, &state.q_low), (&state.p, &state.p_low));
            (momentum, initial)
        });
        let mut made = Self { hamiltonian, energy: Wide::from_f64(0.0), angular };
        made.energy = made.energy(&state);
        made
    }

    fn energy(&mut self, state: &State<f64>) -> Wide {
        let whole = |high: &[f64], low: &[f64]| -> Vec<Wide> {
            high.iter().zip(low).map(|(x, low)| Wide::from_f64(*x) + Wide::from_f64(*low)).collect()
        };
        let (q, p) = (whole(&state.q, &state.q_low), whole(&state.p, &state.p_low));
        let [energy, _] = self.hamiltonian.at(&q, &p, &Wide::from_f64(0.0));
        energy
    }

    fn errors(&mut self, state: &State<f64>) -> [f64; 2] {
        let error = (self.energy(state) - self.energy) / self.energy;
        let angular = self.angular.as_ref().map_or(0.0, |(momentum, initial)| {
            let now = momentum.at((&state.q, &state.q_low), (&state.p, &state.p_low));
            ((now.high - initial.high) + (now.low - initial.low)) / initial.high
        });
        [error.to_f64(), angular]
    }
}

/// Numbers of steps, so many to a decade.
pub(crate) fn samples(from: u64, to: u64, to_a_decade: u32) -> Vec<u64> {
    let decades = (to as f64 / from as f64).log10();
    let count = (decades * f64::from(to_a_decade)).round() as u32;
    let sample = |k: u32| (from as f64 * 10f64.powf(f64::from(k) / f64::from(to_a_decade))).round() as u64;
    (0..=count).map(sample).collect()
}

/// How errors grow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// Of the power of steps that fits.
    pub(crate) exponent: f64,
    /// The root mean square error divided by the root of the number of steps, at the end.
    pub(crate) a_step: f64,
}

/// The root mean square over runs at one sample, of the energy or of angular momentum.
pub(crate) fn rms(errors: &Runs, sample: usize, which: usize) -> f64 {
    let sum: f64 = errors.iter().map(|run| run[sample][which].powi(2)).sum();
    (sum / errors.len() as f64).sqrt()
}

/// Fits a line to the logarithms of the root mean square errors after so many steps and more.
pub(crate) fn growth(samples: &[u64], errors: &Runs, which: usize, from: u64) -> Growth {
    let points: Vec<[f64; 2]> = samples
        .iter()
        .enumerate()
        .filter(|(_, n)| **n >= from)
        .map(|(k, n)| [(*n as f64).ln(), rms(errors, k, which).ln()])
        .collect();
    let mean = |i: usize| points.iter().map(|p| p[i]).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(0), mean(1));
    let exponent = points.iter().map(|p| (p[0] - x) * (p[1] - y)).sum::<f64>()
        / points.iter().map(|p| (p[0] - x).powi(2)).sum::<f64>();
    let last = samples.len() - 1;
    Growth { exponent, a_step: rms(errors, last, which) / (samples[last] as f64).sqrt() }
}

/// The change of an error a step, as the mean over runs at the end and its standard error.
pub(crate) fn drift(samples: &[u64], errors: &Runs, which: usize) -> [f64; 2] {
    let last = samples.len() - 1;
    mean(errors.iter().map(|run| run[last][which] / samples[last] as f64))
}

/// The mean of some numbers and its standard error.
pub(crate) fn mean(numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    let numbers: Vec<f64> = numbers.collect();
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
    [mean, (variance / count).sqrt()]
}
