//! What a run is compared with: the closed-form solution, or states computed beforehand with more care.
//!
//! [`Reference`] is the description, [`Truth`] the right state at the time of a step.

use crate::error::{Error, Result};
use crate::exact;
use crate::method::Method;
use crate::scalar::{Dual, Real};
use crate::system::{Problem, Velocities};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What errors are measured against.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reference {
    /// The closed-form solution where there is one that says enough, else a computed one.
    #[default]
    Auto,
    /// The closed-form solution.
    Exact,
    /// A run of higher order, smaller steps and more digits.
    Computed(Computed),
}

/// How a reference is computed. What is not given is chosen so that its errors do not show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Computed {
    /// Another system, with its own defaults, whose coordinates have the same names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Steps of the reference for each step of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refine: Option<u64>,
    /// Decimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<usize>,
}

impl Reference {
    /// By a word: `exact`, `auto` or the name of a method, with details of a computed one.
    pub fn by_name(name: Option<&str>, refine: Option<u64>, precision: Option<usize>) -> Result<Self> {
        let computed = name.filter(|name| !matches!(*name, "exact" | "auto"));
        if let Some(Err(error)) = computed.map(Method::named) {
            let message = format!("the reference is neither `exact` nor a method: {error}");
            return Err(Error::BadStudy { message });
        }
        let details = refine.is_some() || precision.is_some();
        Ok(match name {
            Some("exact") if details => {
                let message = "the exact solution has neither steps nor digits to choose\n  leave out refine and its digits, or name a method as reference";
                return Err(Error::BadStudy { message: message.to_owned() });
            }
            Some("exact") => Self::Exact,
            None | Some("auto") if !details => Self::Auto,
            _ => {
                let method = computed.map(str::to_owned);
                Self::Computed(Computed { system: None, method, refine, precision })
            }
        })
    }
}

/// What has to be known of the right motion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs {
    pub(crate) coordinates: BTreeSet<usize>,
    pub(crate) momenta: bool,
}

impl Needs {
    /// Whether only conserved quantities are measured.
    pub(super) fn nothing(&self) -> bool {
        self.coordinates.is_empty() && !self.momenta
    }
}

/// States computed beforehand, one or more for every step of a run.
#[derive(Debug)]
pub(super) struct Track<R> {
    /// For every coordinate of the run its place in a row, and that of its momentum.
    pub(super) places: Vec<Option<usize>>,
    pub(super) width: usize,
    /// Coordinates, row by row.
    pub(super) q: Vec<R>,
    /// Momenta, row by row.
    pub(super) p: Vec<R>,
}

/// The right state, step by step.
pub(crate) struct Truth<R> {
    source: Source<R>,
    /// Coordinates; those not needed are zero.
    pub(crate) q: Vec<R>,
    /// Momenta, if needed.
    pub(crate) p: Vec<R>,
    v: Vec<R>,
    velocities: Velocities<R>,
    t0: R,
}

enum Source<R> {
    /// Only conserved quantities are measured.
    Unneeded,
    Coordinates(exact::Solution<R>),
    /// In dual numbers a solution gives velocities too.
    Motion(exact::Solution<Dual<R>>),
    /// With so many rows for each step.
    Track(Arc<Track<R>>, u64),
}

impl<R: Real + 'static> Truth<R> {
    fn new(problem: &Problem<R>, source: Source<R>) -> Self {
        Self {
            source,
            q: problem.q0.clone(),
            p: problem.p0.clone(),
            v: problem.v0.clone(),
            velocities: Velocities::new(&problem.system.model, &problem.parameters),
            t0: problem.t0.clone(),
        }
    }

    /// The closed form, or why there is none that says enough.
    pub(crate) fn exact(problem: &Problem<R>, needs: &Needs) -> Result<Self> {
        if needs.nothing() {
            return Ok(Self::new(problem, Source::Unneeded));
        }
        let system = &problem.system;
        let none = || Error::BadStudy {
            message: format!(
                "there is no closed-form solution of `{}` for this motion\n  try a computed reference: leave out `exact`, or name a method",
                system.name
            ),
        };
        let plain = exact::solution(problem).ok_or_else(none)?;
        let missing = (0..system.n()).find(|i| {
            let needed = needs.momenta || needs.coordinates.contains(i);
            needed && !plain.coordinates.contains(i)
        });
        if let Some(i) = missing {
            let known: Vec<&str> =
                plain.coordinates.iter().map(|i| system.coordinates[*i].name.as_str()).collect();
            return Err(Error::BadStudy {
                message: format!(
                    "the closed-form solution of `{}` gives {}, not {}\n  measure that, or try a computed reference: name a method instead of `exact`",
                    system.name,
                    known.join(", "),
                    system.coordinates[i].name
                ),
            });
        }
        if !needs.momenta {
            return Ok(Self::new(problem, Source::Coordinates(plain)));
        }
        let moving = problem.map(|x| Dual::constant(x.clone()));
        Ok(Self::new(problem, Source::Motion(exact::solution(&moving).ok_or_else(none)?)))
    }

    /// States computed beforehand, with so many rows for each step.
    pub(super) fn track(problem: &Problem<R>, track: Arc<Track<R>>, rows: u64) -> Self {
        Self::new(problem, Source::Track(track, rows))
    }

    /// Moves on to a step, which is at time t.
    pub(crate) fn advance(&mut self, step: u64, t: &R) {
        let since = t.clone() - self.t0.clone();
        match &self.source {
            Source::Unneeded => {}
            Source::Coordinates(solution) => {
                for (i, x) in solution.coordinates.iter().zip(solution.at(&since)) {
                    self.q[*i] = x;
                }
            }
            Source::Motion(solution) => {
                for (i, x) in solution.coordinates.iter().zip(solution.at(&Dual::variable(since))) {
                    self.q[*i] = x.value;
                    self.v[*i] = x.tangent;
                }
                self.velocities.momenta(&self.q, &self.v, t, &mut self.p);
            }
            Source::Track(track, rows) => {
                let row = (step * rows) as usize * track.width;
                for (i, place) in track.places.iter().enumerate() {
                    if let Some(place) = place {
                        self.q[i] = track.q[row + place].clone();
                        self.p[i] = track.p[row + place].clone();
                    }
                }
            }
        }
    }
}
