//! Ensembles: many members of one run that differ in parameters and initial states.
//!
//! ```text
//! Ensemble (in a Run) ─ members ─▶ values ─ Starter ─▶ Starts ─ Engine ─▶ Endings ─▶ Blocks, in order
//! ```
//!
//! [`Ensemble`] says what varies: a grid, a list, draws. [`EnsemblePlan`] is the checked ensemble; it computes blocks of members on
//! several threads and hands them on in their order, a column for each quantity that is kept. Everything about a member
//! follows from its number, so that threads, shards and interruptions change no bit. Files are left to the callers.

mod convoy;
mod draws;
mod engine;
mod ladder;
mod list;
mod members;
mod plan;
mod record;
mod run;
mod spec;
mod tally;
pub(super) mod text;

pub use convoy::EightAbreast;
pub use engine::{AnyEngine, Engine, FourAbreast, GoOn, OneByOne, Pace, Starts};
pub use members::{Axis, List};
pub use plan::EnsemblePlan;
pub use record::{Block, Column, Ending, Kind, Status};
pub use spec::{Draw, Ensemble, MAX_SEED, Shape, Spread};
pub use tally::{EventTally, Extreme, Failed, Tally};
