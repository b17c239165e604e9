//! `leastaction reproduce`: the tables and figures of the papers, computed now, beside what was printed.

mod index;
mod table;

use crate::arguments::{Format, ReproduceFlags};
use crate::progress::{AFTER_THIS_STEP, Interrupt, Progress};
use crate::{Ending, chart, output, print, say};
use leastaction::papers::{Album, Drawing};
use leastaction::papers::{Batch, Figure, Selection, Table, TableReport, papers};
use std::path::Path;

pub(crate) fn reproduce(flags: &ReproduceFlags) -> Result<(), Ending> {
    let papers = papers()?;
    let wanted = Selection::new(&papers, &flags.what)?;
    if let Some(folder) = &flags.out {
        make_folder(folder)?;
    }
    let interrupt = Interrupt::install(AFTER_THIS_STEP);
    let reports = tables(&wanted.tables, flags, &interrupt)?;
    if !reports.is_empty() || flags.format == Format::Json {
        match flags.format {
            Format::Json => print(&table::json(&reports)?)?,
            Format::Table => print(&table::text(&reports))?,
            Format::Markdown => print(&table::markdown(&reports))?,
        }
    }
    // a figure asked for by its name is drawn here if no folder is given; many are not
    let here = Path::new("");
    let folder = flags.out.as_deref().or_else(|| wanted.tables.is_empty().then_some(here));
    match folder {
        Some(folder) => {
            let drawn = figures(&wanted.figures, folder, &interrupt)?;
            if flags.out.is_some() {
                let mut files = vec![("index.html", index::page(&papers, &reports, &drawn))];
                if !reports.is_empty() {
                    files.push(("entries.json", table::json(&reports)?));
                }
                for (name, text) in files {
                    let path = folder.join(name);
                    output::write_bytes(&path, text.as_bytes()).map_err(Ending::Failed)?;
                    say(&format!("wrote {}", path.display()));
                }
            }
        }
        None if !wanted.figures.is_empty() => {
            say(&format!("figures ({}) are drawn with --out DIR", wanted.figures.len()));
        }
        None => {}
    }
    if interrupt.flow().is_break() {
        say("interrupted; what is missing is marked `not computed` or left out");
        return Err(Ending::Interrupted);
    }
    Ok(())
}

fn make_folder(folder: &Path) -> Result<(), Ending> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Ending::BadInput(format!(
            "cannot make the folder `{}`: {error}\n  try another --out",
            folder.display()
        ))
    })
}

/// Computes figures and writes each as SVG and PNG.
fn figures(figures: &[&Figure], folder: &Path, interrupt: &Interrupt) -> Result<Vec<Drawing>, Ending> {
    let album = Album::new(figures)?;
    let progress = Progress::new(album.steps(), 1);
    let drawings = album.run(&|steps| {
        progress.advance(steps);
        interrupt.flow()
    })?;
    progress.finish();
    for drawing in &drawings {
        let title = format!("{}  {}", drawing.id, drawing.title);
        let figure = chart::figure(title, drawing.caption.clone(), drawing.columns, &drawing.plots);
        let figure = figure.map_err(Ending::Failed)?;
        let paths = ["svg", "png"].map(|extension| folder.join(format!("{}.{extension}", drawing.id)));
        for path in &paths {
            output::write_picture(path, &figure).map_err(Ending::Failed)?;
        }
        say(&format!("wrote {} {}", paths[0].display(), paths[1].display()));
    }
    Ok(drawings)
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
