//! `leastaction verify`: whether a file that the command wrote is whole and says what its run gives.

use crate::arguments::{SummaryFormat, VerifyFlags};
use crate::output::journal::{self, Journal};
use crate::progress::Interrupt;
use crate::stored::{Cells, Stored};
use crate::{Ending, counted, ensemble, output, print};
use leastaction::analysis::verify::{Check, Effort, verify_checkpoint, verify_events, verify_states};
use leastaction::prelude::Run;
use leastaction::simulate::ensemble::{EnsemblePlan, Kind, Status};
use leastaction::simulate::{Checkpoint, Crossings, Recording};
use serde::Serialize;
use std::ops::Range;
use std::path::Path;

pub(crate) fn verify(flags: &VerifyFlags) -> Result<(), Ending> {
    let interrupt = Interrupt::install("ending; what was found is told");
    let effort = flags.effort();
    let name = flags.file.display();
    if flags.file.is_dir() {
        return Err(Ending::BadInput(format!(
            "`{name}` is a folder\n  give a file in it: a result ({}) or a checkpoint",
            output::TABLES
        )));
    }
    let checks = if is_checkpoint(&flags.file)? {
        let found = Checkpoint::open(&flags.file)?;
        let mut checks = vec![Check::new("checksum", true, "fits")];
        checks.push(version(Some(&found.version)));
        checks.extend(verify_checkpoint(&found, &effort, &|| interrupt.flow())?);
        checks
    } else {
        match Journal::about(&flags.file) {
            Ok(Some(_)) => {
                return Err(Ending::BadInput(format!(
                    "`{name}` is left of an ensemble that was not finished\n  `leastaction resume {name}` continues it; verify its results then"
                )));
            }
            Err(error) if journal::is_damage(&error) => return Err(journal::damaged(&flags.file)),
            Ok(None) | Err(_) => {}
        }
        let damaged = |message: String| Ending::BadInput(format!("`{name}`: {message}"));
        let stored = Stored::read(&flags.file).map_err(damaged)?;
        let mut checks = vec![seal(&stored), version(stored.version.as_ref())];
        checks.extend(contents(&flags.file, &stored, &effort, &interrupt)?);
        checks
    };
    report(flags, &checks)?;
    if interrupt.flow().is_break() { Err(Ending::Interrupted) } else { Ok(()) }
}

fn is_checkpoint(path: &Path) -> Result<bool, Ending> {
    Checkpoint::is_one(path)
        .map_err(|error| Ending::BadInput(format!("cannot read `{}`: {error}", path.display())))
}

fn seal(stored: &Stored) -> Check {
    let own = stored.own_seal();
    match &stored.seal {
        Some(seal) if stored.is_sealed() => Check::new("checksum", true, format!("{seal} fits")),
        Some(seal) => Check::new("checksum", false, format!("it says {seal}, its contents have {own}")),
        // all that this version writes have one
        None if stored.version.as_deref() == Some(env!("CARGO_PKG_VERSION")) => {
            Check::new("checksum", false, format!("it has none; its contents have {own}"))
        }
        // without rows there is nothing else that could be compared
        None if stored.rows() == 0 => {
            Check::new("checksum", false, "there is none, and no row to compare: the table says nothing")
        }
        None => Check::new("checksum", true, "there is none to compare with"),
    }
}

fn version(version: Option<&String>) -> Check {
    let own = env!("CARGO_PKG_VERSION");
    let found = match version {
        Some(version) if version == own => format!("written by this version, {own}"),
        Some(version) => format!("written by version {version}; this is {own}"),
        None => "it does not say which version wrote it".to_owned(),
    };
    Check::new("version", true, found)
}

fn contents(
    path: &Path,
    stored: &Stored,
    effort: &Effort,
    interrupt: &Interrupt,
) -> Result<Vec<Check>, Ending> {
    let run = Run::from_toml(&stored.run)?;
    if run.ensemble.is_some() {
        let plan = EnsemblePlan::new(&run, ensemble::list_of(&run, path)?)?;
        return Ok(members(&plan, stored, effort, interrupt));
    }
    if stored.columns.first().is_some_and(|column| column.0 == "event") {
        return Ok(verify_events(&run, &crossings(&run, stored)?, effort, &|| interrupt.flow())?);
    }
    let rows = recording(&run, stored)?;
    Ok(verify_states(&run, &rows, effort, &|| interrupt.flow())?)
}

/// The numbers of a column that must be there.
fn numbers<'a>(stored: &'a Stored, name: &str) -> Result<&'a [f64], Ending> {
    let found = stored.numbers(name);
    found.ok_or_else(|| Ending::BadInput(format!("there is no column `{name}` of numbers in the table")))
}

/// Columns with these names, row after row.
fn side_by_side<'a>(
    stored: &Stored,
    names: impl Iterator<Item = &'a String>,
    prefix: &str,
) -> Result<Vec<f64>, Ending> {
    let columns: Vec<&[f64]> =
        names.map(|name| numbers(stored, &format!("{prefix}{name}"))).collect::<Result<_, _>>()?;
    Ok((0..stored.rows()).flat_map(|row| columns.iter().map(move |column| column[row])).collect())
}

/// The events of a table.
fn crossings(run: &Run, stored: &Stored) -> Result<Crossings<f64>, Ending> {
    let names = run.plan()?.problem.system.coordinate_names();
    let place = |name: &str| {
        let place = run.events.keys().position(|event| event == name);
        place.ok_or_else(|| Ending::BadInput(format!("the run has no event `{name}`")))
    };
    let Some((_, Cells::Words(events))) = stored.columns.first() else {
        return Err(Ending::BadInput("the events have no names".to_owned()));
    };
    let mut rows = Crossings::default();
    rows.n = names.len();
    rows.event = events.iter().map(place).collect::<Result<_, _>>()?;
    let whole = |count: &f64| {
        let whole = *count as u64;
        let is_whole = whole as f64 == *count;
        is_whole.then_some(whole).ok_or_else(|| Ending::BadInput(format!("an event cannot be the {count}th")))
    };
    rows.count = numbers(stored, "count")?.iter().map(whole).collect::<Result<_, _>>()?;
    rows.t = numbers(stored, "t")?.to_vec();
    rows.q = side_by_side(stored, names.iter(), "")?;
    rows.v = side_by_side(stored, names.iter(), "v_")?;
    rows.p = side_by_side(stored, names.iter(), "p_")?;
    rows.values = side_by_side(stored, run.outputs.keys(), "")?;
    rows.outputs = run.outputs.keys().cloned().collect();
    Ok(rows)
}

/// The states of a table.
fn recording(run: &Run, stored: &Stored) -> Result<Recording, Ending> {
    let names = run.plan()?.problem.system.coordinate_names();
    let mut rows = Recording::of(names.len());
    rows.t = numbers(stored, "t")?.to_vec();
    rows.q = side_by_side(stored, names.iter(), "")?;
    rows.v = side_by_side(stored, names.iter(), "v_")?;
    rows.p = side_by_side(stored, names.iter(), "p_")?;
    rows.energy = numbers(stored, "energy")?.to_vec();
    for name in run.outputs.keys() {
        rows.add_output(name, numbers(stored, name)?.to_vec());
    }
    Ok(rows)
}

/// Some members, computed again.
fn members(plan: &EnsemblePlan, stored: &Stored, effort: &Effort, interrupt: &Interrupt) -> Vec<Check> {
    let index = stored.numbers("index").unwrap_or_default();
    let names: Vec<&str> = stored.columns.iter().map(|column| column.0.as_str()).collect();
    let expected: Vec<&str> = plan.columns.iter().map(|column| column.name.as_str()).collect();
    if names != expected || index.iter().any(|x| *x < 0.0 || *x >= plan.count() as f64) {
        return vec![Check::new("members", false, "columns or numbers of members are not those of the run")];
    }
    let Range { start, end } = match range(plan, stored) {
        Ok(range) => range,
        Err(found) => return vec![Check::new("members", false, found)],
    };
    if !index.iter().copied().eq((start..end).map(|member| member as f64)) {
        let found =
            format!("there are {} rows, and not one for each of the members {start} to {end}", index.len());
        return vec![Check::new("members", false, found)];
    }
    let steps = plan.base.steps.max(1);
    let affordable = effort.steps.map_or(u64::MAX, |most| (most / steps).max(1)) as usize;
    let spots =
        if effort.steps.is_none() { index.len() } else { effort.spots.min(affordable).min(index.len()) };
    let mut compared = 0;
    for spot in 0..spots {
        // spread over all of them, other ones with another seed
        let row = (spot * index.len() / spots + effort.seed as usize % index.len()) % index.len();
        let member = index[row] as u64;
        let mut found = None;
        let keep = |block: &leastaction::simulate::ensemble::Block| -> Result<(), std::convert::Infallible> {
            found = plan.columns.iter().enumerate().position(|(k, column)| {
                let cell = block.column(k)[0];
                !same(&stored.columns[k].1, row, column.kind, cell)
            });
            compared += 1;
            Ok(())
        };
        let _ = plan.run(&(member..member + 1), 0, 1, &|| interrupt.flow(), keep);
        if let Some(column) = found {
            let name = &plan.columns[column].name;
            return vec![Check::new("same bits", false, format!("no: `{name}` of member {member} differs"))];
        }
    }
    let rows = counted(stored.rows(), "member");
    vec![Check::new("same bits", true, format!("yes: {compared} of {rows} computed again"))]
}

/// The members that a table has: all, or those of the part that it says it is.
fn range(plan: &EnsemblePlan, stored: &Stored) -> Result<Range<u64>, String> {
    let first_line = stored.run.lines().next().unwrap_or_default();
    let Some(part) = first_line.strip_prefix("# shard ") else { return Ok(0..plan.count()) };
    let shard = part.split_once(':').and_then(|(shard, _)| {
        let (index, count) = shard.split_once('/')?;
        Some((index.parse::<u64>().ok()?, count.parse::<u64>().ok()?))
    });
    let members = shard
        .filter(|(index, count)| (1..=*count).contains(index))
        .map(|(index, count)| (index, count, plan.shard(index, count)));
    // anybody may have written anything there
    match members {
        Some((index, count, range)) if first_line == ensemble::title_of_shard(index, count, plan) => {
            Ok(range)
        }
        _ => Err(format!("it says that it is the shard {part}, and there is none like that")),
    }
}

/// Whether a cell is what was computed.
fn same(cells: &Cells, row: usize, kind: Kind, computed: u64) -> bool {
    match (cells, kind) {
        (Cells::Numbers(numbers), Kind::Whole) => numbers[row] == computed as f64,
        (Cells::Numbers(numbers), Kind::Real) => {
            let (a, b) = (numbers[row], f64::from_bits(computed));
            a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
        }
        (Cells::Words(words), Kind::Status) => words.get(row) == Some(Status::of_code(computed).word()),
        _ => false,
    }
}

#[derive(Serialize)]
struct Report<'a> {
    file: String,
    good: bool,
    checks: &'a [Check],
}

fn report(flags: &VerifyFlags, checks: &[Check]) -> Result<(), Ending> {
    let good = checks.iter().all(|check| check.good);
    let file = flags.file.display().to_string();
    match flags.format {
        SummaryFormat::Json => {
            let json = serde_json::to_string(&Report { file: file.clone(), good, checks });
            print(&json.map_err(|error| Ending::Failed(error.to_string()))?)?;
        }
        SummaryFormat::Text => {
            let line = |check: &Check| {
                let verdict = if check.good { "ok" } else { "WRONG" };
                format!("  {:<10} {verdict:<6} {}", check.what, check.found)
            };
            let lines: Vec<String> = checks.iter().map(line).collect();
            print(&format!("{file}\n{}", lines.join("\n")))?;
        }
    }
    if good {
        return Ok(());
    }
    Err(Ending::Failed(format!("`{file}` is not what its run gives, or it was changed")))
}
