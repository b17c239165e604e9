//! Measuring what is claimed: order, symplecticity, reversibility, conservation.
//!
//! Everything here runs the same stepper as a simulation and reports numbers; thresholds are left to tests and to the
//! user. [`structure`] looks at one step, [`order`] at errors against steps, [`drift`] at energies over a long run.

pub mod drift;
pub mod order;
pub mod structure;
