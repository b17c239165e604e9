//! What the motion runs through: how fast it is at each place, and how near its mass matrix comes to having no inverse.
//!
//! The rate at a state is the largest |eigenvalue| of the equations of motion linearised there: a frequency, or a rate of growth.
//! Powers of that linear map are applied to a vector by accelerations in dual numbers, so that no matrix is made.
//!
//! Where time occurs in the Lagrangian the linearised motion does not show how fast a drive is. Its rate ω is that of the
//! accelerations a(q, v, t) in t alone: ω² is the mean of |∂²a/∂t²|² over that of |∂a/∂t|², at states of the run and at random
//! times within their steps, so that a drive that keeps pace with the steps is seen too.

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
/// Fewer points than this in a turn of the fastest motion are too few, a step of degree s having s of them: with fewer than two a
/// frequency is taken for another, with six a method of any order follows it. A ratio, so it needs no scale.
pub(super) const LEAST_POINTS: f64 = 6.0;
/// The motion is close to something where its rate is so many times the median; a fixed step costs as much more there.
const CLOSE: f64 = 10.0;
/// A mass matrix with an eigenvalue below this, each velocity in its own unit, loses as many digits of velocities: four of the
/// sixteen that there are.
const SINGULAR: f64 = 1e-4;

/// The rate of a drive is measured at least at so many times.
const LEAST_TIMES: usize = 64;
/// Second derivatives in time are differences over this part of a step, or less, until they turn the drive by less than this.
const CLOSE_TIMES: f64 = 1e-4;
const SMALL_TURN: f64 = 0.2;
/// Accelerations that change by less than this part of themselves in a step do so by rounding.
const UNDRIVEN: f64 = 1e-12;

/// Rates and masses along the run.
pub(super) struct Terrain {
    /// Time and rate.
    rates: Vec<(f64, f64)>,
    /// The rate at which the forces change with the time alone.
    drive: Option<f64>,
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
        Self { mass: smallest_mass(subject, &states), ..Self::rates(subject, &states) }
    }

    /// Rates alone, at some states.
    pub(super) fn rates(subject: &Subject<'_>, states: &[State<f64>]) -> Self {
        let mut meter = Meter::new(subject);
        let rate = |state: &State<f64>| {
            let t = subject.time(state.steps);
            Some((t, meter.rate(state, t)?))
        };
        let rates = states.iter().filter_map(rate).collect();
        let autonomous = subject.plan.problem.system.structure().autonomous;
        let drive = if autonomous { None } else { meter.drive(subject, states) };
        Self { rates, drive, mass: None }
    }

    /// The largest rate of all that steps must follow, of the motion or of a drive; 0 if there is none.
    pub(super) fn to_resolve(&self) -> f64 {
        self.fastest().map_or(0.0, |(_, rate)| rate).max(self.drive.unwrap_or(0.0))
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
        found.drive = self.drive;
        if fastest == 0.0 && self.drive.is_none() {
            return Check::new(Verdict::NotApplicable, "nothing oscillates", found);
        }
        let points = |rate: f64| std::f64::consts::TAU / (rate * step) * method.degree().unwrap_or(2) as f64;
        let mut finding = if fastest == 0.0 {
            "nothing oscillates by itself".to_owned()
        } else {
            format!(
                "fastest rate {} at t = {}, median {}; times the step {}",
                digits(fastest),
                subject.with_unit(at),
                digits(median),
                digits(omega_h),
            )
        };
        if let Some(drive) = self.drive {
            finding +=
                &format!("; rate of the drive {}, times the step {}", digits(drive), digits(drive * step));
        }
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
        } else if points(fastest) < LEAST_POINTS {
            let points = points(fastest);
            advice.push(format!(
                "under-resolved: {points:.1} points in a turn of the fastest motion; try a step below {}",
                digits(step * points / LEAST_POINTS)
            ));
        }
        if let Some(points) = self.drive.map(points).filter(|points| *points < LEAST_POINTS) {
            advice.push(format!(
                "under-resolved: {} points in a turn of the drive, so that the steps see another one\n\
                 try a step below {}",
                digits(points),
                digits(step * points / LEAST_POINTS)
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

    /// The rate at which accelerations change with the time alone: the root of Σ|a_tt|² / Σ|a_t|². Nothing if they do not.
    fn drive(&mut self, subject: &Subject<'_>, states: &[State<f64>]) -> Option<f64> {
        let step = subject.plan.step;
        let mut random = Random::new();
        let mut samples = Vec::new();
        for _ in 0..LEAST_TIMES.div_ceil(states.len().max(1)) {
            for state in states {
                let (start, mut v) = (subject.time(state.steps), vec![0.0; state.q.len()]);
                if self.velocities.velocities(&state.q, &state.p, &start, &mut v).is_ok() {
                    let t = start + step * random.next().abs();
                    samples.extend(self.in_time(&state.q, &v, t).map(|a| (state, v, t, a)));
                }
            }
        }
        // each coordinate in the unit of its accelerations, unless these are rounding of others
        let n = subject.plan.problem.system.n();
        let mean = |i: usize| samples.iter().map(|(.., a)| a[i].value * a[i].value).sum::<f64>().sqrt();
        let sizes: Vec<f64> = (0..n).map(mean).collect();
        let least = 1e-10 * sizes.iter().fold(0.0f64, |m, x| m.max(*x));
        let units: Vec<f64> = sizes.iter().map(|x| x.max(least)).collect();
        let part = |x: f64, i: usize| if units[i] > 0.0 { (x / units[i]).powi(2) } else { 0.0 };
        let first: f64 = samples.iter().flat_map(|(.., a)| (0..n).map(|i| part(a[i].tangent, i))).sum();
        // `first` is of the order of 1 if accelerations change by themselves in a unit of time
        if first.sqrt() * step <= UNDRIVEN {
            return None;
        }
        let mut close = CLOSE_TIMES * step;
        loop {
            let mut second = 0.0;
            for (state, v, t, a) in &samples {
                let later = t + close;
                let then = self.in_time(&state.q, v, later)?;
                let slope = |i: usize| (then[i].tangent - a[i].tangent) / (later - t);
                second += (0..n).map(|i| part(slope(i), i)).sum::<f64>();
            }
            let rate = (second / first).sqrt();
            let latest = samples.iter().fold(0.0f64, |m, (_, _, t, _)| m.max(t.abs()));
            if rate * close <= SMALL_TURN || close < 1e4 * f64::EPSILON * latest {
                return rate.is_finite().then_some(rate);
            }
            close *= 0.1;
        }
    }

    /// Accelerations at a state, and their derivatives in the time alone.
    fn in_time(&mut self, q: &[f64], v: &[f64], t: f64) -> Option<Vec<Dual>> {
        let lift = |x: &[f64]| x.iter().map(|x| Dual::constant(*x)).collect::<Vec<_>>();
        let mut a = vec![Dual::constant(0.0); q.len()];
        self.accelerations.at(&lift(q), &lift(v), &Dual { value: t, tangent: 1.0 }, &mut a).ok()?;
        a.iter().all(|a| a.value.is_finite() && a.tangent.is_finite()).then_some(a)
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
