//! Measuring what is claimed: order, symplecticity, reversibility, conservation.
//!
//! Everything here runs the same stepper as a simulation and reports numbers; thresholds are left to tests, to the user and
//! to certificates. [`structure`] looks at one step, a [`Study`] at errors against steps and [`order`] at the slopes they show,
//! [`drift`] at energies over a long run, a [`Section`] at where motions pass through a surface. [`certify`](mod@certify)
//! measures one run in all these ways and judges, and [`pick`] finds the method and the step for a tolerance;
//! [`verify`] looks at results that were written.

pub mod certify;
mod convergence;
pub mod drift;
mod measure;
pub mod order;
mod reference;
mod section;
mod starts;
pub mod structure;
mod studies;
mod study;
pub(crate) mod truth;
mod typed;
pub mod verify;

pub use certify::{Attempts, Picked, pick, pick_for, simulate_within};
pub use convergence::{Convergence, Series};
pub use measure::{Measure, Over, Vector};
pub use section::{Orbit, Section, SectionPlan, SectionStart, Vary};
pub use studies::{Studies, Watch};
pub use study::{Finding, Findings, Study};
pub use truth::{Computed, Reference};
