//! `leastaction reproduce`: the tables and figures of the papers, computed now, beside what was printed.

mod table;

use crate::arguments::{Format, ReproduceFlags};
use crate::progress::{Interrupt, Progress};
use crate::{Ending, print, say};
use leastaction::papers::{Batch, Figure, Paper, Table, TableReport, papers};

pub(crate) fn reproduce(flags: &ReproduceFlags) -> Result<(), Ending> {
    let papers = papers()?;
    let wanted = Wanted::new(&papers, &flags.what)?;
    let interrupt = Interrupt::install();
    let reports = tables(&wanted.tables, flags, &interrupt)?;
    match flags.format {
        Format::Json => print(&table::json(&reports)?)?,
        Format::Table => print(&table::text(&reports))?,
        Format::Markdown => print(&table::markdown(&reports))?,
    }
    if interrupt.flow().is_break() {
        say("interrupted; what is missing is marked `not computed`");
        return Err(Ending::Interrupted);
    }
    Ok(())
}

/// What was asked for.
struct Wanted<'a> {
    tables: Vec<&'a Table>,
    figures: Vec<&'a Figure>,
}

impl<'a> Wanted<'a> {
    fn new(papers: &'a [Paper], what: &[String]) -> Result<Self, Ending> {
        let matches = |id: &str| {
            what.iter().any(|w| w == "all" || w.eq_ignore_ascii_case(id) || id.split('.').next() == Some(w))
        };
        let all_tables = || papers.iter().flat_map(|paper| &paper.tables);
        let all_figures = || papers.iter().flat_map(|paper| &paper.figures);
        let known = |w: &String| {
            let ids = all_tables().map(|t| &t.id).chain(all_figures().map(|f| &f.id));
            w == "all"
                || ids.into_iter().any(|id| id.eq_ignore_ascii_case(w) || id.split('.').next() == Some(w))
        };
        if let Some(unknown) = what.iter().find(|w| !known(w)) {
            let ids: Vec<&str> = all_tables().map(|t| t.id.as_str()).collect();
            return Err(Ending::BadInput(format!(
                "`{unknown}` is not a table, a figure or a paper\n  try all, a paper such as 000, one of the tables {}, or a figure such as 001.F7",
                ids.join(", ")
            )));
        }
        Ok(Self {
            tables: all_tables().filter(|t| matches(&t.id)).collect(),
            figures: all_figures().filter(|f| matches(&f.id)).collect(),
        })
    }
}

fn tables(
    tables: &[&Table],
    flags: &ReproduceFlags,
    interrupt: &Interrupt,
) -> Result<Vec<TableReport>, Ending> {
    let batch = Batch::new(tables, &flags.options())?;
    let progress = Progress::new(batch.steps(), 1);
    let reports = batch.run(&|steps| {
        progress.advance(steps);
        interrupt.flow()
    })?;
    progress.finish();
    Ok(reports)
}
