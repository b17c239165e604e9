//! The members of an ensemble as CSV, NPZ or Parquet, from a journal, in little memory. Every file carries its run.

use super::csv::{comments, quoted};
use super::journal::Journal;
use super::{npz, write_whole};
use crate::stored::{Seal, extension};
use leastaction::error::number;
use leastaction::simulate::ensemble::{Column, Kind, Status};
use std::io::{Result, Seek, Write};
use std::path::Path;

/// What a file says about itself.
pub(crate) struct Heading<'a> {
    pub(crate) columns: &'a [Column],
    pub(crate) members: u64,
    /// The run as TOML.
    pub(crate) run: &'a str,
}

pub(crate) fn write_members(
    path: &Path,
    heading: &Heading<'_>,
    journal: &mut Journal,
) -> std::result::Result<(), String> {
    write_whole(path, |file| match extension(path).as_str() {
        #[cfg(feature = "parquet")]
        "parquet" => super::parquet::write_members(file, heading, journal),
        "npz" => write_npz(file, heading, journal),
        _ => write_csv(file, heading, journal),
    })
}

/// The checksum of all members.
pub(super) fn seal(heading: &Heading<'_>, journal: &mut Journal) -> Result<String> {
    let mut seal = Seal::new(
        Some(env!("CARGO_PKG_VERSION")),
        heading.run,
        heading.columns.iter().map(|column| column.name.as_str()),
    );
    for block in 0..journal.blocks {
        let block = journal.read(block)?;
        for (index, column) in heading.columns.iter().enumerate() {
            for cell in block.column(index) {
                match column.kind {
                    Kind::Whole => seal.number(index, *cell as f64),
                    Kind::Real => seal.number(index, f64::from_bits(*cell)),
                    Kind::Status => seal.word(index, Status::of_code(*cell).word()),
                }
            }
        }
    }
    Ok(seal.close())
}

fn write_csv(file: &mut impl Write, heading: &Heading<'_>, journal: &mut Journal) -> Result<()> {
    comments(file, heading.run, Some(&seal(heading, journal)?))?;
    let names: Vec<String> = heading.columns.iter().map(|column| quoted(&column.name)).collect();
    writeln!(file, "{}", names.join(","))?;
    for block in 0..journal.blocks {
        let block = journal.read(block)?;
        for row in 0..block.rows {
            for (index, column) in heading.columns.iter().enumerate() {
                let cell = block.column(index)[row];
                let gap = if index == 0 { "" } else { "," };
                match column.kind {
                    Kind::Whole => write!(file, "{gap}{cell}")?,
                    Kind::Real => write!(file, "{gap}{}", number(f64::from_bits(cell)))?,
                    Kind::Status => write!(file, "{gap}{}", Status::of_code(cell).word())?,
                }
            }
            writeln!(file)?;
        }
    }
    Ok(())
}

/// An array for each column. The status is a code; `statuses` has its words.
fn write_npz(file: impl Write + Seek, heading: &Heading<'_>, journal: &mut Journal) -> Result<()> {
    let mut archive = npz::archive(file);
    let shape = [heading.members as usize];
    for (index, column) in heading.columns.iter().enumerate() {
        let kind = match column.kind {
            Kind::Whole => "<i8",
            Kind::Real => "<f8",
            Kind::Status => "|i1",
        };
        npz::begin(&mut archive, &column.name, kind, &shape)?;
        for block in 0..journal.blocks {
            let cells = journal.column(block, index)?;
            let bytes: Vec<u8> = match column.kind {
                Kind::Status => cells.iter().map(|cell| *cell as u8).collect(),
                _ => cells.iter().flat_map(|cell| cell.to_le_bytes()).collect(),
            };
            archive.write_all(&bytes)?;
        }
    }
    let words = Status::ALL.map(Status::word);
    npz::texts(&mut archive, "statuses", &[words.len()], &words)?;
    npz::texts(&mut archive, "run", &[], &[heading.run])?;
    npz::seal(&mut archive, &seal(heading, journal)?)?;
    archive.finish()?;
    Ok(())
}
