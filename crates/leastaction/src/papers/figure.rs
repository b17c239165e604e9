//! Figures as data: curves, and panels that show them.
//!
//! A [`Figure`] has curves (runs, or the exact motion) and panels. A panel shows one quantity of every curve against another,
//! or the errors of a study against steps or times, or the motion in space.

use crate::analysis::{Measure, Reference, Study};
use crate::error::Result;
use crate::simulate::Run;
use crate::simulate::numbers::Numbers;
use crate::system::{Quantity, catalogue};
use serde::Deserialize;

/// A figure as data.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Such as `000.F2`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What to look at.
    pub caption: String,
    /// System, parameters and initial state of every curve that has no other.
    pub run: Run,
    /// End time of every curve.
    #[serde(default)]
    pub until: Option<Quantity>,
    /// The unit of time on axes; that of the system if not given.
    #[serde(default)]
    pub time: Option<TimeUnit>,
    /// Panels beside each other.
    #[serde(default = "one")]
    pub columns: usize,
    /// What is drawn in panels without a study.
    #[serde(default, rename = "curve")]
    pub curves: Vec<Curve>,
    /// The panels.
    #[serde(rename = "panel")]
    pub panels: Vec<Panel>,
}

fn one() -> usize {
    1
}

/// A unit of time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeUnit {
    /// Its length.
    pub unit: Quantity,
    /// The label of an axis in it.
    pub label: String,
}

/// A run, or the exact motion.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// The method; none is the exact motion.
    #[serde(default)]
    pub method: Option<String>,
    /// The step size.
    #[serde(default)]
    pub step: Option<Quantity>,
    /// Another system.
    #[serde(default)]
    pub run: Option<Run>,
    /// How it looks.
    #[serde(default)]
    pub style: Style,
    /// Points within each step, from its polynomial.
    #[serde(default)]
    pub dense: Option<u64>,
}

/// How a curve looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// A line with a marker at each step.
    #[default]
    Marked,
    /// A thin line.
    Line,
    /// Markers only.
    Points,
    /// A broad pale line behind the others.
    Reference,
}

/// A pair of axes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// Above it.
    #[serde(default)]
    pub title: String,
    /// The quantity on the horizontal axis.
    #[serde(default = "time")]
    pub x: String,
    /// The quantity on the vertical axis: a coordinate, `p_` and a coordinate, `energy error`, `p_phi error`, or
    /// `form of simpson`, the change of the quadratic form that a method conserves.
    #[serde(default)]
    pub y: String,
    /// Label of the horizontal axis.
    #[serde(default)]
    pub x_label: Option<String>,
    /// Label of the vertical axis.
    #[serde(default)]
    pub y_label: Option<String>,
    /// The vertical axis is logarithmic, for sizes.
    #[serde(default)]
    pub log: bool,
    /// Only these curves, by name.
    #[serde(default)]
    pub only: Option<Vec<String>>,
    /// The motion in space of the first curve instead.
    #[serde(default)]
    pub motion: bool,
    /// Errors against steps or times instead.
    #[serde(default)]
    pub study: Option<StudyPanel>,
}

fn time() -> String {
    "t".to_owned()
}

/// Errors against steps or times.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyPanel {
    /// Names of methods and their names in the legend.
    pub methods: Vec<(String, String)>,
    /// Step sizes.
    pub steps: Vec<Quantity>,
    /// Names of the step sizes in the legend, where errors are shown against times.
    #[serde(default)]
    pub names: Vec<String>,
    /// Growth rates that the paper prints, one for each step size, where errors are shown against times.
    #[serde(default)]
    pub printed: Vec<String>,
    /// Linear axes instead of logarithmic ones.
    #[serde(default)]
    pub linear: bool,
    /// End times.
    pub until: Vec<Quantity>,
    /// What is measured.
    pub measure: Measure,
    /// Against what.
    #[serde(default)]
    pub reference: Reference,
}

impl StudyPanel {
    /// Errors over time rather than over steps.
    pub(super) fn over_time(&self) -> bool {
        self.until.len() > 1
    }

    pub(super) fn study(&self, run: &Run) -> Study {
        Study {
            run: run.clone(),
            methods: self.methods.iter().map(|(name, _)| name.clone()).collect(),
            steps: self.steps.clone(),
            until: self.until.clone(),
            measures: vec![self.measure.clone()],
            reference: self.reference.clone(),
        }
    }
}

impl Figure {
    /// The length of the unit of time on its axes.
    pub(super) fn unit_of_time(&self) -> Result<f64> {
        let Some(time) = &self.time else { return Ok(1.0) };
        let mut run = self.run.clone();
        let system = catalogue::sized_system(&run.system, &mut run.parameters)?;
        Numbers::<f64>::new(&run, &system)?.until(Some(&time.unit))
    }

    /// The label of a time axis.
    pub(super) fn time_label(&self) -> String {
        self.time.as_ref().map_or("t [s]".to_owned(), |time| time.label.clone())
    }
}
