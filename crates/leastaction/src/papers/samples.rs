//! A curve as numbers: recorded states of a run, or the exact motion at many times.

use super::figure::Curve;
use crate::analysis::truth::{Needs, Truth};
use crate::error::{Error, Result};
use crate::method::Method;
use crate::simulate::{Plan, Recording, Solution};
use crate::step::Propagator;

/// Times and states along a curve.
#[derive(Debug)]
pub(super) struct Samples {
    pub(super) plan: Plan,
    recording: Recording,
    /// The run, if it is one.
    pub(super) solution: Option<Solution>,
}

/// A quantity that can be drawn.
#[derive(Debug)]
pub(super) enum Column {
    Time,
    /// Relative change since the start.
    EnergyError,
    /// Relative change of a momentum since the start.
    MomentumError(String),
    /// Change of the quadratic form that a method conserves.
    Form(String),
    /// A coordinate or a momentum.
    Named(String),
}

impl Column {
    pub(super) fn parse(name: &str) -> Self {
        if let Some(method) = name.strip_prefix("form of ") {
            return Self::Form(method.to_owned());
        }
        match (name, name.strip_suffix(" error")) {
            ("t", _) => Self::Time,
            (_, Some("energy")) => Self::EnergyError,
            (_, Some(momentum)) => Self::MomentumError(momentum.to_owned()),
            _ => Self::Named(name.to_owned()),
        }
    }
}

impl Samples {
    pub(super) fn of_run(plan: &Plan, solution: Solution) -> Result<Self> {
        Ok(Self { plan: plan.clone(), recording: solution.recording.clone(), solution: Some(solution) })
    }

    /// The exact motion at evenly spaced times.
    pub(super) fn exact(plan: &Plan, intervals: usize) -> Result<Self> {
        let problem = &plan.problem;
        let n = problem.system.n();
        let needs = Needs { coordinates: (0..n).collect(), momenta: true };
        let mut truth = Truth::exact(problem, &needs)?;
        let mut recording = Recording { n, ..Recording::default() };
        let length = plan.steps as f64 * plan.step;
        for i in 0..=intervals {
            let t = problem.t0 + length * i as f64 / intervals as f64;
            truth.advance(i as u64, &t);
            recording.t.push(t);
            recording.q.extend(&truth.q);
            recording.p.extend(&truth.p);
            recording.energy_change.push(0.0);
        }
        Ok(Self { plan: plan.clone(), recording, solution: None })
    }

    /// The values of a quantity.
    pub(super) fn column(&self, column: &Column, curve: &Curve) -> Result<Vec<f64>> {
        let recording = &self.recording;
        match column {
            Column::Time => Ok(recording.t.clone()),
            Column::EnergyError => {
                let scale = self.solution.as_ref().map_or(1.0, |s| s.summary.energy.scale);
                Ok(recording.energy_change.iter().map(|change| change / scale).collect())
            }
            Column::MomentumError(name) => {
                let values = self.named(name, curve)?;
                let first = values.first().copied().unwrap_or(1.0);
                Ok(values.iter().map(|p| (p - first) / first).collect())
            }
            Column::Form(name) => {
                let method = Method::named(name)?;
                let form = Propagator::new(&self.plan.problem, &method, &self.plan.step)?.quadratic_form()?;
                let rows = recording.q.chunks(recording.n).zip(recording.p.chunks(recording.n));
                let values: Vec<f64> = rows.map(|(q, p)| form.at(q, p)).collect();
                let first = values.first().copied().unwrap_or(0.0);
                Ok(values.iter().map(|value| value - first).collect())
            }
            Column::Named(name) => self.named(name, curve),
        }
    }

    fn named(&self, name: &str, curve: &Curve) -> Result<Vec<f64>> {
        let names = self.plan.problem.system.coordinate_names();
        let index = |name: &str| names.iter().position(|other| other == name);
        if let Some(i) = index(name) {
            return Ok(self.recording.coordinate(i).collect());
        }
        if let Some(i) = name.strip_prefix("p_").and_then(index) {
            return Ok(self.recording.momentum(i).collect());
        }
        let message = format!("the curve `{}` has no quantity `{name}`", curve.name);
        Err(Error::BadStudy { message })
    }
}
