//! The compiled half of the Python package `leastaction`: Python values in, a [`Run`](leastaction::simulate::Run), and arrays out.
//!
//! No numerics here, and no Python while steps are taken: `expression` records formulas, `keywords` fills a run, `watch` lets
//! the library work on a thread of its own while the calling one listens to Ctrl-C, and the rest hands results over. What is pleasant
//! in Python (classes, plots, tables) is written in Python, in `python/leastaction`.

// Python's arguments arrive as values
#![allow(clippy::needless_pass_by_value)]

mod analysis;
mod ensemble;
mod errors;
mod expression;
mod keywords;
mod lists;
mod quantity;
mod solution;
mod system;
mod watch;

/// The module `leastaction._core`.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use super::analysis::{certify, converge, reproduce};
    #[pymodule_export]
    use super::ensemble::{EnsembleWork, ensemble};
    #[pymodule_export]
    use super::expression::{Expression, symbols_in, write};
    #[pymodule_export]
    use super::lists::{methods, papers, systems, version};
    #[pymodule_export]
    use super::solution::{Solution, resume, simulate};
    #[pymodule_export]
    use super::system::System;
    #[pymodule_export]
    use super::watch::panic_for_tests;
}
