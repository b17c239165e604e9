//! Measuring what is claimed: order, symplecticity, reversibility, conservation.
//!
//! Everything here runs the same stepper as a simulation and reports numbers; thresholds are left to tests and to the
//! user. [`structure`] looks at one step, [`study`] at errors against steps and [`order`] at the slopes they show,
//! [`drift`] at energies over a long run.

pub mod drift;
mod measure;
pub mod order;
mod reference;
pub mod structure;
pub mod study;
pub(crate) mod truth;

pub use measure::{Measure, Over, Vector};
pub use study::{Finding, Findings, Studies, Study};
pub use truth::{Computed, Reference};
