//! Figures.
use serde::Deserialize;
/// A figure.
#[derive(Clone, Debug, Deserialize)]
pub struct Figure {
    /// Such as `000.F2`.
    pub id: String,
}
