//! What the motion runs through: how fast it is at each place, and how near its mass matrix comes to having no inverse.
//!
//! The rate at a state is the largest |eigenvalue| of the equations of motion linearised there: a frequency, or a rate of growth.
//! Powers of that linear map are applied to a vector by accelerations in dual numbers, so that no matrix is made.

use super::trail::Trail;
use super::{Check, FrequencyFound, MassFound, Subject, Verdict, digits};
use crate::analysis::structure::Random;
use crate::error::combination;
use crate::linear::Matrix;
use crate::scalar::Dual;
use crate::scalar::elementary;
use crate::step::State;
use crate::system::{Accelerations, Hessian, Velocities};

/// The rate is the growth over the second half of so many applications.
const POWERS: usize = 40;
/// The work of all rates, in nanoseconds as estimated.
const WORK: f64 = 3e8;
/// Fewer points than this in a radian-period of the fastest motion are too few, a step of degree s having s of them.
pub(super) const LEAST_POINTS: f64 = 6.0;
/// The motion is close to something where its rate is so many times the median.
const CLOSE: f64 = 10.0;
/// A mass matrix with an eigenvalue below this, each velocity in its own unit, loses as many digits.
const SINGULAR: f64 = 1e-4;

/// Rates and masses along the run.
pub(super) struct Terrain {
    /// Time and rate.
    rates: Vec<(f64, f64)>,
    /// The smallest eigenvalue of the scaled mass matrix, when, and its direction.
    mass: Option<(f64, f64, Vec<f64>)>,
}

impl Terrain {
    pub(super) fn new(subject: &Subject<'_>, trail: &Trail) -> Self {
        let model = &subject.plan.problem.system.model;
        let band = (model.structure.mass_ordering.bandwidth as f64 + 1.0).min(model.n as f64);
        let cost = 10.0 * model.acceleration_tape().len() as f64 + model.n as f64 * band * (band + 50.0);
        let cost = POWERS as f64 * cost;
        let mut states: Vec<State<f64>> =
            trail.some((WORK / cost).clamp(4.0, 256.0) as usize).into_iter().cloned().collect();
        // where a step is least accurate there is something to see
        let worst = trail.worst().and_then(|(step, _)| trail.state_after(subject, step));
        states.extend(worst);
        let mut meter = Meter::new(subject);
        let rate = |state: &State<f64>| {
            let t = subject.time(state.steps);
            Some((t, meter.rate(state, t)?))
        };
        Self { rates: states.iter().filter_map(rate).collect(), mass: smallest_mass(subject, &states) }
    }

    /// The largest rate, and when.
    pub(super) fn fastest(&self) -> Option<(f64, f64)> {
        self.rates.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn median(&self) -> Option<f64> {
        let mut rates: Vec<f64> = self.rates.iter().map(|(_, rate)| *rate).collect();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied()
    }

    pub(super) fn frequency(&self, subject: &Subject<'_>) -> Check<FrequencyFound> {
        let (method, step) = (&subject.plan.method, subject.plan.step);
        let limit = method.stability_limit().ok();
        let mut found = FrequencyFound {
            stability_limit: limit.filter(|limit| limit.is_finite()),
            ..FrequencyFound::default()
        };
        let (Some((at, fastest)), Some(median)) = (self.fastest(), self.median()) else {
            return Check::new(Verdict::NotMeasured, "no rate of the motion could be computed", found);
        };
        let omega_h = fastest * step;
        found.fastest = Some(fastest);
        found.median = Some(median);
        found.at = Some(at);
        found.omega_h = Some(omega_h);
        if fastest == 0.0 {
            return Check::new(Verdict::NotApplicable, "nothing oscillates", found);
        }
        let points = std::f64::consts::TAU / omega_h * method.degree().unwrap_or(2) as f64;
        let finding = format!(
            "fastest rate {} at t = {}, median {}; times the step {}",
            digits(fastest),
            subject.with_unit(at),
            digits(median),
            digits(omega_h),
        );
        let unstable = subject.plan.warnings();
        if let Some(warning) = unstable.first() {
            return Check::new(Verdict::Fail, finding, found).advise(warning.clone());
        }
        let mut advice = Vec::new();
        if let Some(limit) = limit.filter(|limit| omega_h > *limit) {
            advice.push(format!(
                "the step is too large there: {} keeps oscillations bounded up to {}; try a step below {}",
                method.name,
                digits(limit),
                digits(limit / fastest)
            ));
        } else if points < LEAST_POINTS {
            let enough = step * points / LEAST_POINTS;
            advice.push(format!(
                "under-resolved: {points:.1} points in a turn of the fastest motion; try a step below {}",
                digits(enough)
            ));
        }
        if fastest > CLOSE * median && median > 0.0 {
            advice.push(format!(
                "a close approach: the motion is {} times as fast there as usual, and a fixed step must follow it everywhere",
                digits(fastest / median)
            ));
        }
        if advice.is_empty() {
            Check::new(Verdict::Pass, finding, found)
        } else {
            Check::new(Verdict::Warn, finding, found).advise(advice.join("\n"))
        }
    }

    pub(super) fn mass(&self, subject: &Subject<'_>) -> Check<MassFound> {
        let Some((smallest, at, direction)) = &self.mass else {
            return Check::new(
                Verdict::NotMeasured,
                "no mass matrix could be computed",
                MassFound::default(),
            );
        };
        let names = subject.plan.problem.system.coordinate_names();
        let direction = combination(&names, direction);
        let time = subject.with_unit(*at);
        let found =
            MassFound { smallest: Some(*smallest), at: Some(*at), direction: Some(direction.clone()) };
        let finding = format!("smallest eigenvalue {smallest:.1e} of its largest entries, at t = {time}");
        if *smallest >= SINGULAR {
            return Check::new(Verdict::Pass, finding, found);
        }
        Check::new(Verdict::Warn, finding, found).advise(format!(
            "nearly singular there: {direction} carries next to no energy, and its momentum hardly says how fast it is\n\
             a singular point of the coordinates needs other coordinates, or a motion that stays away from it"
        ))
    }
}

/// Measures rates.
struct Meter {
    velocities: Velocities<f64>,
    accelerations: Accelerations<Dual>,
    start: Vec<f64>,
}

impl Meter {
    fn new(subject: &Subject<'_>) -> Self {
        let problem = &subject.plan.problem;
        let model = &problem.system.model;
        let mut random = Random::new();
        let dual: Vec<Dual> = problem.parameters.iter().map(|x| Dual::constant(*x)).collect();
        Self {
            velocities: Velocities::new(model, &problem.parameters),
            accelerations: Accelerations::new(model, &dual),
            start: (0..2 * model.n).map(|_| random.next()).collect(),
        }
    }

    /// The largest |eigenvalue| of (δq, δv) → (δv, a_q δq + a_v δv).
    fn rate(&mut self, state: &State<f64>, t: f64) -> Option<f64> {
        let n = state.q.len();
        let mut v = vec![0.0; n];
        self.velocities.velocities(&state.q, &state.p, &t, &mut v).ok()?;
        let lift = |values: &[f64], tangents: &[f64]| -> Vec<Dual> {
            values.iter().zip(tangents).map(|(&value, &tangent)| Dual { value, tangent }).collect()
        };
        let (mut dq, mut dv) = (self.start[..n].to_vec(), self.start[n..].to_vec());
        let mut a = vec![Dual::constant(0.0); n];
        let mut logarithm = 0.0;
        for power in 0..POWERS {
            let (q, v) = (lift(&state.q, &dq), lift(&v, &dv));
            self.accelerations.at(&q, &v, &Dual::constant(t), &mut a).ok()?;
            dq.clone_from_slice(&dv);
            for (x, a) in dv.iter_mut().zip(&a) {
                *x = a.tangent;
            }
            let size = dq.iter().chain(&dv).fold(0.0f64, |m, x| m.max(x.abs()));
            if size == 0.0 {
                return Some(0.0);
            }
            if !size.is_finite() {
                return None;
            }
            dq.iter_mut().chain(&mut dv).for_each(|x| *x /= size);
            // an even number of applications, because every second one is in the unit of q again
            if power >= POWERS / 2 {
                logarithm += elementary::ln(size);
            }
        }
        Some(elementary::exp(logarithm / (POWERS - POWERS / 2) as f64))
    }
}

/// The smallest |eigenvalue| of L_vv over the states, each velocity scaled by its largest diagonal entry over all of them.
fn smallest_mass(subject: &Subject<'_>, states: &[State<f64>]) -> Option<(f64, f64, Vec<f64>)> {
    let problem = &subject.plan.problem;
    let model = &problem.system.model;
    let n = model.n;
    let mut hessian = Hessian::new(model, &problem.parameters);
    let mut velocities = Velocities::new(model, &problem.parameters);
    let mut entries = |state: &State<f64>| -> Option<Vec<f64>> {
        let t = subject.time(state.steps);
        let mut v = vec![0.0; n];
        velocities.velocities(&state.q, &state.p, &t, &mut v).ok()?;
        Some(hessian.at(&state.q, &v, &t).l_vv.to_vec())
    };
    let constant = model.structure.constant_mass;
    let states = if constant { &states[..1.min(states.len())] } else { states };
    let all: Vec<(f64, Vec<f64>)> =
        states.iter().filter_map(|s| Some((subject.time(s.steps), entries(s)?))).collect();
    let mut scale = vec![0.0f64; n];
    for (_, values) in &all {
        for (entry, value) in model.l_vv.iter().zip(values).filter(|(e, _)| e.row == e.column) {
            scale[entry.row] = scale[entry.row].max(value.abs());
        }
    }
    let scale: Vec<f64> = scale.iter().map(|d| if *d > 0.0 { d.sqrt() } else { 1.0 }).collect();
    let mut smallest: Option<(f64, f64, Vec<f64>)> = None;
    for (t, values) in &all {
        let ordering = &model.structure.mass_ordering;
        let mut matrix = Matrix::new(n, ordering.bandwidth);
        for (entry, value) in model.l_vv.iter().zip(values) {
            let (i, j) = (ordering.position[entry.row], ordering.position[entry.column]);
            let scaled = value / (scale[entry.row] * scale[entry.column]);
            *matrix.entry(i, j) = scaled;
            *matrix.entry(j, i) = scaled;
        }
        if matrix.factor().is_err() {
            continue;
        }
        let (eigenvalue, vector) = inverse_iteration(&matrix, n);
        if smallest.as_ref().is_none_or(|(least, ..)| eigenvalue < *least) {
            let direction = (0..n).map(|i| vector[ordering.position[i]] / scale[i]).collect();
            smallest = Some((eigenvalue, *t, direction));
        }
    }
    smallest
}

/// The smallest |eigenvalue| of a factored matrix, and its vector.
fn inverse_iteration(matrix: &Matrix<f64>, n: usize) -> (f64, Vec<f64>) {
    let mut random = Random::new();
    let mut x: Vec<f64> = (0..n).map(|_| random.next()).collect();
    let mut size = 1.0;
    for _ in 0..12 {
        let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        x.iter_mut().for_each(|x| *x /= norm);
        matrix.solve(&mut x);
        size = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    }
    (1.0 / size, x)
}
