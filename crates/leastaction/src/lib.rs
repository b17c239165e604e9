//! Simulates mechanical systems with integrators derived from the principle of least action.
//!
//! You write the Lagrangian; `leastaction` differentiates it, discretises its action with finite elements in time, and
//! steps. The energy stays bounded and the momenta stay exact for as long as you run.
//!
//! ```text
//! System ─▶ Stepper(Method) ─▶ simulate(+ Observers) ─▶ Solution
//! ```
//!
//! ```
//! use leastaction::prelude::*;
//!
//! let run = Run { until: Some(10.0.into()), ..Run::of("double-pendulum") };
//! let solution = run.simulate()?;
//! assert!(solution.summary.energy.max_relative_error < 4e-8);
//! # Ok::<(), leastaction::Error>(())
//! ```
//!
//! The modules are the stages of the pipeline, and each uses only those above it: [`error`], [`scalar`], [`linear`],
//! [`expr`], [`system`], [`exact`], [`method`], [`step`], [`simulate`], [`analysis`], [`papers`].

// the platform's functions would give other bits on other machines; see `scalar::elementary`
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod analysis;
pub mod error;
pub mod exact;
pub mod expr;
pub mod linear;
pub mod method;
pub mod papers;
pub mod scalar;
pub mod simulate;
pub mod step;
pub mod system;

pub use error::{Error, Result};

/// What most programs need.
pub mod prelude {
    pub use crate::error::Error;
    pub use crate::expr::Expr;
    pub use crate::method::Method;
    pub use crate::scalar::Scalar;
    pub use crate::simulate::{Run, Solution};
    pub use crate::step::{State, Stepper};
    pub use crate::system::{Parameters, Problem, Settings, System, catalogue};
}

/// The Rust code of the README and of the book, compiled and run as documentation tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../book/src/introduction.md")]
    #[doc = include_str!("../../../book/src/first-run.md")]
    #[doc = include_str!("../../../book/src/write-a-system.md")]
    #[doc = include_str!("../../../book/src/choose-a-method.md")]
    #[doc = include_str!("../../../book/src/events.md")]
    #[doc = include_str!("../../../book/src/measure-errors.md")]
    #[doc = include_str!("../../../book/src/certify.md")]
    #[doc = include_str!("../../../book/src/the-summary.md")]
    struct Book;
}
