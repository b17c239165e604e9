//! What all contestants written in Rust share: the conversation with the benchmark (`conversation`), the clock
//! (`clock`), and, for those that do not derive them themselves, equations of motion with their energies (`motion`) and what is
//! measured of them (`solver`). `ours` is how leastaction takes part.

pub mod clock;
pub mod conversation;
pub mod motion;
pub mod ours;
pub mod solver;
