//! Tables and figures by their names.

use super::{Figure, Paper, Table};
use crate::error::{Error, Result};

/// What was asked for.
#[derive(Debug)]
pub struct Selection<'a> {
    /// Tables, in their order.
    pub tables: Vec<&'a Table>,
    /// Figures, in their order.
    pub figures: Vec<&'a Figure>,
}

impl<'a> Selection<'a> {
    /// Tables (`000.T4`), figures (`001.F7`), papers (`003`), or `all`.
    pub fn new(papers: &'a [Paper], what: &[String]) -> Result<Self> {
        let is = |wanted: &str, id: &str| {
            wanted.eq_ignore_ascii_case("all")
                || wanted.eq_ignore_ascii_case(id)
                || id.split('.').next() == Some(wanted)
        };
        let tables: Vec<&Table> = papers.iter().flat_map(|paper| &paper.tables).collect();
        let figures: Vec<&Figure> = papers.iter().flat_map(|paper| &paper.figures).collect();
        let known = |wanted: &String| {
            let mut ids = tables.iter().map(|t| &t.id).chain(figures.iter().map(|f| &f.id));
            ids.any(|id| is(wanted, id))
        };
        if let Some(unknown) = what.iter().find(|wanted| !known(wanted)) {
            let ids: Vec<&str> = tables.iter().map(|t| t.id.as_str()).collect();
            let message = format!(
                "`{unknown}` is not a table, a figure or a paper\n  try all, a paper such as 000, one of the tables {}, or a figure such as 001.F7",
                ids.join(", ")
            );
            return Err(Error::BadStudy { message });
        }
        let wanted = |id: &str| what.iter().any(|wanted| is(wanted, id));
        Ok(Self {
            tables: tables.into_iter().filter(|t| wanted(&t.id)).collect(),
            figures: figures.into_iter().filter(|f| wanted(&f.id)).collect(),
        })
    }
}
