//! Whole steps on one tape, for few unknowns.
//!
//! Where a system has few coordinates and a method few nodes, most of the time of a step is waiting: sweeps wait for each other, and
//! everything around them for little work. Here two corrections by Newton's method are one straight-line tape (`formulas`), which the
//! interpreter runs to the same bits as machine code. The guess are the increments of up to [`STEPS`] steps before continued, each as a
//! polynomial in time. That is so near that two corrections mostly are enough; else the tape runs again. What it does not solve soon is left to sweeps. In f64 only.

mod formulas;

use super::sweeps::Parts;
use super::{compensated_add, course};
use crate::expr::{COUPLED, Evaluator};
use crate::method::Tableau;
use crate::scalar::{Ledger, Real};
use crate::system::{Problem, Turn};
use formulas::Outputs;

/// What may be missing of increments, as a part of them: a thousandth of a unit of rounding, which two corrections leave mostly. Less, as sweeps leave, would take
/// a third one.
const MISSING: f64 = f64::EPSILON / 1024.0;
/// With more unknowns elimination takes longer than sweeps.
const MOST_UNKNOWNS: usize = 6;
/// Longer tapes wait for the memory their code comes from.
const LONGEST: usize = 4_000;
/// Increments of so many steps before are continued.
const STEPS: usize = 8;
/// So many steps must be known for a guess that is worth it, at first; after failures more and more, up to the most.
const LEAST_KNOWN: u32 = 3;
const MOST_KNOWN: u32 = 24;
/// Corrections of a step, at most so many times two.
const MOST_RUNS: u32 = 4;
/// A guess that is off by more than this part is left to sweeps: the equations have many solutions.
const FAR: f64 = 0.1;
/// After a guess from all steps that was off by more than this part, only half of them are continued.
const ROUGH: f64 = 1e-3;
/// A second correction of more than this part of the first one is none of Newton's method near a solution.
const SLOW: f64 = 0.25;
/// Where the first correction is below this part, the second one is rounding, and all that would follow.
const TINY: f64 = 1e-12;
/// Squares of smaller numbers are not to be trusted.
const LEAST: f64 = 1e-100;

/// What is to be done after a run of the tape.
enum Next {
    Again,
    Done,
    GiveUp,
}

/// Squares of the two corrections of a coordinate, and of its increments.
struct Corrections {
    first: f64,
    second: f64,
    size: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Whole {
    n: usize,
    evaluator: Evaluator<f64>,
    /// Those of the system, and the step size.
    parameters: Vec<f64>,
    /// q, p, what rounding took from both, and a guess of the increments.
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    places: Outputs,
    /// The group of coupled coordinates of each coordinate, and the largest size in each.
    group: Vec<usize>,
    largest: Vec<f64>,
    /// The part of the increments that may be missing when a step is done.
    missing: f64,
    /// Increments of the steps before, the last ones first, four unknowns side by side.
    history: Vec<[[f64; 4]; STEPS]>,
    /// How many steps are known, and how many must be.
    known: u32,
    needed: u32,
    /// Whether the last step was solved here.
    pub(super) took_last: bool,
}

impl Whole {
    /// For a method, if there are few unknowns.
    pub(super) fn new<R: Real>(problem: &Problem<R>, tableau: &Tableau<f64>, h: f64) -> Option<Self> {
        let model = &problem.system.model;
        let (n, s) = (model.n, tableau.degree);
        let parameters = R::as_f64s(&problem.parameters)?;
        if n * s > MOST_UNKNOWNS {
            return None;
        }
        let method = [&[s as f64], tableau.d.as_slice(), &tableau.b].concat();
        let tape = model.step_tape(&method, || formulas::tape(model, tableau, parameters.len()));
        if tape.len() > LONGEST {
            return None;
        }
        let parameters: Vec<f64> = parameters.iter().copied().chain([h]).collect();
        Some(Self {
            n,
            outputs: vec![0.0; tape.outputs()],
            places: Outputs::new(&tape, n, s),
            evaluator: model.evaluator(tape, &parameters),
            parameters,
            inputs: vec![0.0; (4 + s) * n],
            group: model.structure.group.clone(),
            largest: vec![0.0; model.structure.groups],
            missing: MISSING,
            history: vec![[[0.0; 4]; STEPS]; (n * s).div_ceil(4)],
            known: 0,
            needed: LEAST_KNOWN,
            took_last: false,
        })
    }

    /// Replaces the parameters of the system.
    pub(super) fn assign(&mut self, parameters: &[f64]) {
        self.parameters[..parameters.len()].copy_from_slice(parameters);
        self.evaluator.assign(&self.parameters);
    }
    /// Changes the step size.
    pub(super) fn resize(&mut self, h: f64) {
        if let Some(last) = self.parameters.last_mut() {
            *last = h;
        }
        self.evaluator.assign(&self.parameters);
        self.forget();
    }
    /// Changes which part of the increments may be missing when a step is done.
    pub(super) fn leave(&mut self, missing: f64) {
        self.missing = missing.clamp(MISSING, course::MOST_MISSING);
    }
    /// Forgets the steps before.
    pub(super) fn forget(&mut self) {
        (self.known, self.needed, self.took_last) = (0, LEAST_KNOWN, false);
    }
    /// Writes or reads what the next step needs to know of those before.
    pub(super) fn exchange(&mut self, ledger: &mut Ledger) {
        for rows in &mut self.history {
            rows.iter_mut().for_each(|row| ledger.numbers(row));
        }
        ledger.numbers(&mut self.inputs[4 * self.n..]);
        ledger.small(&mut self.known);
        ledger.small(&mut self.needed);
        ledger.require(self.known <= MOST_KNOWN && self.needed <= MOST_KNOWN);
        ledger.flag(&mut self.took_last);
    }

    /// Whether enough is known of the steps before.
    pub(super) fn is_ready(&self) -> bool {
        self.known >= self.needed
    }

    /// Solves the equations of a step: how many corrections were made, and whether that was enough.
    pub(super) fn solve(&mut self, state: &Parts<'_>, t: f64) -> (u32, bool) {
        // one by one, because the lists are short
        for (place, list) in [&*state.q, &*state.p, &*state.q_low, &*state.p_low].into_iter().enumerate() {
            let places = &mut self.inputs[place * self.n..(place + 1) * self.n];
            places.iter_mut().zip(list).for_each(|(place, x)| *place = *x);
        }
        for run in 1..=MOST_RUNS {
            self.evaluator.evaluate(&self.inputs, &self.inputs, &t, &mut self.outputs);
            match self.judge(run) {
                Next::Done => {
                    self.needed = LEAST_KNOWN;
                    return (2 * run, true);
                }
                Next::Again => {
                    self.inputs[4 * self.n..]
                        .copy_from_slice(&self.outputs[self.places.increments..self.places.impulse]);
                }
                Next::GiveUp => return self.give_up(run),
            }
        }
        self.give_up(MOST_RUNS)
    }
    fn give_up(&mut self, runs: u32) -> (u32, bool) {
        (self.known, self.needed) = (0, (2 * self.needed).min(MOST_KNOWN));
        (2 * runs, false)
    }

    /// Looks at how large the corrections are, all as squares.
    fn judge(&mut self, run: u32) -> Next {
        let near = self.outputs[self.places.turns] <= Turn::SHORT * Turn::SHORT;
        let missing = self.missing * self.missing;
        let is_solved = |Corrections { first, second, size }: Corrections| {
            // the rate at which corrections shrink, times the last one
            let last = second * second <= missing * first * size;
            last && second <= SLOW * SLOW * first && first <= ROUGH * ROUGH * size && size >= LEAST
        };
        // mostly all are, whatever they are coupled to
        let solved = near && self.corrections().all(is_solved);
        if !solved {
            match self.judge_coupled(run, missing) {
                Next::Done if near => {}
                Next::GiveUp => return Next::GiveUp,
                Next::Done | Next::Again => return Next::Again,
            }
        }
        let impulse = &self.outputs[self.places.impulse..self.places.first];
        if impulse.iter().all(|x| x.is_finite()) { Next::Done } else { Next::GiveUp }
    }

    /// The same, with sizes of coordinates that move little taken from those they are coupled to.
    fn judge_coupled(&mut self, run: u32, missing: f64) -> Next {
        self.largest.fill(0.0);
        for j in 0..self.n {
            let (size, largest) = (self.outputs[self.places.size + j], &mut self.largest[self.group[j]]);
            *largest = if size > *largest { size } else { *largest };
        }
        let (mut done, mut rough) = (true, false);
        for (j, Corrections { first, second, size }) in self.corrections().enumerate() {
            let coupled = COUPLED * COUPLED * self.largest[self.group[j]];
            let size = if size > coupled { size } else { coupled };
            let tiny = first <= TINY * TINY * size;
            if !(first <= FAR * FAR * size && size >= LEAST && (tiny || second <= SLOW * SLOW * first)) {
                if self.is_at_rest(j) && first == 0.0 {
                    continue;
                }
                return Next::GiveUp;
            }
            done &= tiny || second * second <= missing * first * size;
            rough |= first > ROUGH * ROUGH * size;
        }
        if rough && run == 1 && self.known >= STEPS as u32 {
            self.known = STEPS as u32 / 2;
        }
        if done { Next::Done } else { Next::Again }
    }

    /// The squares of both corrections of each coordinate, and of its increments.
    fn corrections(&self) -> impl Iterator<Item = Corrections> {
        let of = |place: usize| &self.outputs[place..place + self.n];
        let (first, second, size) = (of(self.places.first), of(self.places.second), of(self.places.size));
        (0..self.n).map(|j| Corrections { first: first[j], second: second[j], size: size[j] })
    }
    /// Whether a coordinate does not move at all.
    fn is_at_rest(&self, j: usize) -> bool {
        let increments = &self.outputs[self.places.increments..self.places.impulse];
        increments[j..].iter().step_by(self.n).all(|&z| z == 0.0)
    }

    /// q⁺ = q + Z_s,  p⁺ = p + h Σ b L_q
    pub(super) fn update(&mut self, state: &mut Parts<'_>) {
        let (impulse, n) = (self.places.impulse, self.n);
        for (x, low, from) in
            [(&mut *state.q, &mut *state.q_low, impulse - n), (&mut *state.p, &mut *state.p_low, impulse)]
        {
            let increments = &self.outputs[from..from + n];
            for ((x, low), increment) in x.iter_mut().zip(low).zip(increments) {
                compensated_add(x, low, *increment);
            }
        }
        self.took_last = true;
    }

    /// The increments of the step that was solved here.
    pub(super) fn increments(&self) -> &[f64] {
        &self.outputs[self.places.increments..self.places.impulse]
    }

    /// Takes note of the increments of a step, and continues those of all steps that are known: with backward differences ∇, the next ones are
    /// (1 + ∇ + ∇² + …) of the last ones.
    pub(super) fn remember(&mut self, increments: &[f64]) {
        self.known = (self.known + 1).min(MOST_KNOWN);
        let weights = &CONTINUED[(self.known as usize).min(STEPS) - 1];
        let guesses = self.inputs[4 * self.n..].chunks_mut(4);
        for ((rows, guess), increments) in self.history.iter_mut().zip(guesses).zip(increments.chunks(4)) {
            // the last step comes last, because it is waited for
            let mut sums = [0.0; 4];
            for k in (1..STEPS).rev() {
                rows[k] = rows[k - 1];
                for (sum, z) in sums.iter_mut().zip(rows[k]) {
                    *sum += weights[k] * z;
                }
            }
            for (place, z) in rows[0].iter_mut().zip(increments) {
                *place = *z;
            }
            for ((guess, sum), z) in guess.iter_mut().zip(sums).zip(rows[0]) {
                *guess = sum + weights[0] * z;
            }
        }
    }

    /// How much smaller the second correction of the last step was than the first, at worst.
    pub(super) fn contraction(&self) -> Option<f64> {
        let ratios = self.corrections().filter_map(|Corrections { first, second, size }| {
            (first > TINY * TINY * size).then(|| (second / first).sqrt())
        });
        ratios.reduce(f64::max)
    }
}

/// Weights of the last steps, the last one first, that continue a polynomial through so many of them: binomial coefficients.
const CONTINUED: [[f64; STEPS]; STEPS] = {
    let mut rows = [[0.0; STEPS]; STEPS];
    let mut order = 1;
    while order <= STEPS {
        let mut weight = -1.0;
        let mut k = 0;
        while k < order {
            weight = -weight * (order - k) as f64 / (k + 1) as f64;
            rows[order - 1][k] = weight;
            k += 1;
        }
        order += 1;
    }
    rows
};

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::super::galerkin::GalerkinStepper;
    use super::*;
    use crate::method::{Method, Scheme};
    use crate::system::{Settings, catalogue};

    /// Takes steps as one tape and by Newton's method: the largest difference, relative to the largest number, and which steps the tape took.
    fn compare(name: &str, method: &str, h: f64, steps: u32) -> (f64, Vec<bool>) {
        let problem: Problem<f64> = catalogue::system(name).unwrap().problem(&Settings::default()).unwrap();
        let Scheme::Galerkin(galerkin) = Method::named(method).unwrap().scheme else { panic!("{method}") };
        let mut newton = GalerkinStepper::new(&problem, &galerkin, h);
        let mut whole = newton.clone().with_sweeps(&problem, &galerkin);
        let (mut a, mut b) = (State::new(&problem), State::new(&problem));
        let mut took = Vec::new();
        for k in 0..steps {
            let t = problem.t0 + f64::from(k) * h;
            newton.step(&mut a, &t).unwrap();
            whole.step(&mut b, &t).unwrap();
            took.push(whole.whole.as_ref().is_some_and(|whole| whole.took_last));
        }
        let largest = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(0.0, |x: f64, y| x.max(y.abs()));
        let difference = |x: &[f64], y: &[f64]| {
            largest(&mut x.iter().zip(y).map(|(x, y)| x - y)) / largest(&mut x.iter().copied())
        };
        (difference(&a.q, &b.q).max(difference(&a.p, &b.p)), took)
    }

    #[test]
    fn whole_steps_and_newton_solve_the_same_equations() {
        for (name, method, h) in [
            ("pendulum", "verlet", 0.01),
            ("pendulum", "gauss8", 0.02),
            ("double-pendulum", "midpoint", 0.005),
            ("double-pendulum", "simpson", 0.01),
            ("double-pendulum", "lobatto6", 0.02),
            ("double-pendulum", "gauss4", 0.02),
            ("lagrange-top", "simpson", 0.001),
            ("kepler", "gauss6", 0.02),
            ("charged-particle", "simpson", 0.02),
            ("cart-pole", "simpson", 0.005),
            ("spherical-pendulum", "simpson", 0.005),
        ] {
            let (difference, took) = compare(name, method, h, 40);
            assert!(difference < 2e-14, "{name}, {method}: {difference:e}");
            // the first steps give it what it continues
            let least = LEAST_KNOWN as usize;
            assert!(took[..least].iter().all(|took| !took), "{name}, {method}: {took:?}");
            assert!(took[least + 4..].iter().all(|took| *took), "{name}, {method}: {took:?}");
        }
    }

    #[test]
    fn steps_that_are_too_large_are_left_to_sweeps() {
        let (difference, took) = compare("double-pendulum", "simpson", 0.12, 60);
        assert!(difference < 1e-11, "{difference:e}");
        assert!(took[10..].contains(&false), "{took:?}");
    }

    #[test]
    fn a_motion_at_rest_and_one_without_size_are_solved() {
        let problem: Problem<f64> =
            catalogue::system("pendulum").unwrap().problem(&Settings::default()).unwrap();
        let method = Method::named("simpson").unwrap();
        for angle in [0.0, 1e-180] {
            let mut stepper = super::super::Stepper::new(&problem, &method, 0.01);
            let mut state = State::at(vec![angle], vec![0.0]);
            for _ in 0..25 {
                stepper.step(&mut state).unwrap();
            }
            // a quarter of the period of 1
            assert!(state.q[0].abs() <= 1e-6 * angle, "{angle:e}: {:e}", state.q[0]);
        }
    }
}
