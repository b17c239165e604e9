//! What is measured along a run: the error of some quantity, gathered over the steps by some norm.
//!
//! [`Measure`] is the description, the same in data files and flags; [`Ruler`] does the measuring while a run goes on.
//! What the motion is compared with is the business of [`Truth`].

use super::truth::{Needs, Truth};
use crate::error::{Cause, Error, Result};
use crate::method::Method;
use crate::scalar::Real;
use crate::simulate::{EnergyMeter, Moment};
use crate::step::{Propagator, QuadraticForm};
use crate::system::{Problem, System};
use serde::{Deserialize, Serialize};

/// A quantity whose error is measured, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// `q`, `p`, `energy`, a coordinate such as `theta`, or its momentum `p_theta`; for linear systems also
    /// `energy of simpson` and `form of simpson`, the discrete energy and the quadratic form that this method conserves.
    pub of: String,
    /// Divided by the right value; if not said, only for the energy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative: Option<bool>,
    /// How the errors of all steps become one number.
    #[serde(default)]
    pub over: Over,
    /// How the errors of all coordinates become one number.
    #[serde(default)]
    pub vector: Vector,
    /// The unit of each coordinate of `q` or each momentum of `p`, all of which are meant then. Empty: no units.
    #[serde(skip)]
    pub units: Vec<f64>,
}

/// How the errors of all steps become one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// The largest.
    #[default]
    Sup,
    /// The last.
    End,
    /// The root of the mean square.
    Rms,
}

/// How the errors of all coordinates become one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Vector {
    /// The Euclidean length.
    #[default]
    Euclid,
    /// The largest component.
    Max,
}

impl Measure {
    /// The largest error of a quantity over all steps.
    pub fn of(quantity: &str) -> Self {
        Self {
            of: quantity.to_owned(),
            relative: None,
            over: Over::Sup,
            vector: Vector::Euclid,
            units: Vec::new(),
        }
    }

    /// Whether the error is divided by the right value.
    pub fn is_relative(&self) -> bool {
        self.relative.unwrap_or(self.of == "energy")
    }

    /// What is measured, in words: "largest relative energy error".
    pub fn title(&self) -> String {
        let over = match self.over {
            Over::Sup => "largest ",
            Over::End => "final ",
            Over::Rms => "root mean square ",
        };
        let relative = if self.is_relative() { "relative " } else { "" };
        let many = matches!(self.of.as_str(), "q" | "p");
        let component = if many && self.vector == Vector::Max { " (largest component)" } else { "" };
        format!("{over}{relative}error of {}{component}", self.of)
    }

    pub(super) fn target(&self, system: &System) -> Result<Target> {
        let index = |name: &str| system.coordinates.iter().position(|c| c.name == name);
        // a coordinate that is called q or energy is meant before the whole of them
        if let Some(i) = index(&self.of).filter(|_| self.units.is_empty()) {
            return Ok(Target::Coordinates(vec![i]));
        }
        for (prefix, normalised) in [("energy of ", true), ("form of ", false)] {
            if let Some(name) = self.of.strip_prefix(prefix) {
                return Ok(Target::Form { method: Box::new(Method::named(name)?), normalised });
            }
        }
        let all = (0..system.n()).collect();
        match self.of.as_str() {
            "q" => Ok(Target::Coordinates(all)),
            "p" => Ok(Target::Momenta(all)),
            "energy" => Ok(Target::Energy),
            other => match other.strip_prefix("p_").and_then(index) {
                Some(i) if system.structure().cyclic.contains(&i) => Ok(Target::Conserved(i)),
                Some(i) => Ok(Target::Momenta(vec![i])),
                None => Err(Error::BadStudy { message: unknown(system, other) }),
            },
        }
    }
}

fn unknown(system: &System, name: &str) -> String {
    let names = system.coordinate_names();
    let mut shown = vec!["energy".to_owned(), "q".to_owned(), "p".to_owned()];
    for known in names.iter().take(4).flat_map(|n| [n.clone(), format!("p_{n}")]) {
        if !shown.contains(&known) {
            shown.push(known);
        }
    }
    let more = if names.len() > 4 { ", …" } else { "" };
    format!("`{name}` of `{}` cannot be measured; try {}{more}", system.name, shown.join(", "))
}

/// What a measure measures, resolved for a system.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Coordinates(Vec<usize>),
    Momenta(Vec<usize>),
    /// The momentum of a cyclic coordinate, which should be what it was.
    Conserved(usize),
    Energy,
    /// What a method conserves on a linear system.
    Form {
        method: Box<Method>,
        normalised: bool,
    },
}

impl Target {
    /// What has to be known of the right motion.
    pub(super) fn needs(&self, needs: &mut Needs) {
        match self {
            Self::Coordinates(list) => needs.coordinates.extend(list),
            Self::Momenta(_) => needs.momenta = true,
            Self::Conserved(_) | Self::Energy | Self::Form { .. } => {}
        }
    }
}

/// Measures one thing along a run.
pub(super) struct Ruler<R> {
    target: Target,
    /// The form of a [`Target::Form`], and its value at the start.
    form: Option<(QuadraticForm<R>, R)>,
    relative: bool,
    over: Over,
    vector: Vector,
    /// One over the unit of each component, if they have units.
    units: Vec<R>,
    /// The error at the last step.
    last: R,
    /// Largest error, or sum of squares.
    gathered: R,
    count: u64,
    /// The largest right value seen: what rounding errors are compared with.
    size: f64,
}

/// What several rulers share at one moment.
pub(super) struct Shared<'a, R> {
    pub(super) problem: &'a Problem<R>,
    pub(super) truth: &'a mut Truth<R>,
    pub(super) meter: &'a mut EnergyMeter<R>,
}

impl<R: Real + 'static> Ruler<R> {
    /// A ruler for runs with this step size.
    pub(super) fn new(measure: &Measure, problem: &Problem<R>, step: &R) -> Result<Self> {
        let target = measure.target(&problem.system)?;
        let form = match &target {
            Target::Form { method, normalised } => {
                let propagator = Propagator::new(problem, method, step)?;
                let form =
                    if *normalised { propagator.discrete_energy()? } else { propagator.quadratic_form()? };
                let initial = form.at(&problem.q0, &problem.p0);
                Some((form, initial))
            }
            _ => None,
        };
        Ok(Self {
            target,
            form,
            relative: measure.is_relative(),
            over: measure.over,
            vector: measure.vector,
            units: measure.units.iter().map(|unit| R::one() / R::from_f64(*unit)).collect(),
            last: R::zero(),
            gathered: R::zero(),
            count: 0,
            size: 0.0,
        })
    }

    /// Adds a moment. The truth has been brought to its time.
    pub(super) fn observe(
        &mut self,
        moment: &Moment<'_, R>,
        shared: &mut Shared<'_, R>,
    ) -> std::result::Result<(), Cause> {
        let state = moment.state;
        let mut size = 0.0;
        self.last = match &self.target {
            Target::Energy => {
                let initial = shared.meter.initial().clone();
                let energy = shared.meter.measure(moment)?;
                size = shared.meter.scale();
                let typed = initial.clone() + shared.meter.constant().clone();
                let scale = if self.relative { typed.abs() } else { R::one() };
                // an initial energy of zero measures nothing; the meter knows what does
                let scale = if scale.magnitude() == shared.meter.scale() || !self.relative {
                    scale
                } else {
                    R::from_f64(shared.meter.scale())
                };
                (energy - initial).abs() / scale
            }
            Target::Form { .. } => match &self.form {
                None => R::zero(),
                Some((form, initial)) => {
                    let value = form.at(&state.q, &state.p);
                    self.length(std::iter::once((&value, initial)), &mut size)
                }
            },
            Target::Conserved(i) => {
                let right = &shared.problem.p0[*i];
                self.length(std::iter::once((&state.p[*i], right)), &mut size)
            }
            Target::Coordinates(list) => {
                self.length(list.iter().map(|i| (&state.q[*i], &shared.truth.q[*i])), &mut size)
            }
            Target::Momenta(list) => {
                self.length(list.iter().map(|i| (&state.p[*i], &shared.truth.p[*i])), &mut size)
            }
        };
        self.size = self.size.max(size);
        self.count += 1;
        match self.over {
            // what is not a number stays, so that it shows
            Over::Sup if self.gathered.is_finite() => {
                let grows = (self.last.clone() - self.gathered.clone()).to_f64();
                if grows > 0.0 || !self.last.is_finite() {
                    self.gathered = self.last.clone();
                }
            }
            Over::Rms => self.gathered.add_mul(&self.last, &self.last),
            _ => {}
        }
        Ok(())
    }

    /// The length of the differences of pairs (found, right), if wanted relative to that of the right ones.
    fn length<'a>(&self, pairs: impl Iterator<Item = (&'a R, &'a R)> + Clone, size: &mut f64) -> R
    where
        R: 'a,
    {
        let error = self.norm(pairs.clone().map(|(a, b)| a.clone() - b.clone()));
        let right = self.norm(pairs.map(|(_, b)| b.clone()));
        *size = right.magnitude();
        if self.relative { error / right } else { error }
    }

    fn norm(&self, values: impl Iterator<Item = R>) -> R {
        let units = self.units.iter().map(Some).chain(std::iter::repeat(None));
        let values = values.zip(units).map(|(x, unit)| match unit {
            Some(unit) => x * unit.clone(),
            None => x,
        });
        match self.vector {
            Vector::Max => values
                .map(|x| x.abs())
                .fold(R::zero(), |a, b| if (b.clone() - a.clone()).to_f64() > 0.0 { b } else { a }),
            Vector::Euclid => {
                // one component is its own length, without the rounding of a root
                let mut values = values.peekable();
                let Some(first) = values.next() else { return R::zero() };
                if values.peek().is_none() {
                    return first.abs();
                }
                let mut sum = first.clone() * first;
                for x in values {
                    sum.add_mul(&x, &x);
                }
                sum.sqrt()
            }
        }
    }

    /// The size of an error that is a unit of rounding.
    pub(super) fn unit(&self) -> f64 {
        R::epsilon() * if self.relative { 1.0 } else { self.size }
    }

    /// What has been gathered so far.
    pub(super) fn reading(&self) -> R {
        match self.over {
            Over::Sup => self.gathered.clone(),
            Over::End => self.last.clone(),
            Over::Rms => (self.gathered.clone() / R::from_f64(self.count.max(1) as f64)).sqrt(),
        }
    }
}
