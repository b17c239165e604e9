//! Parquet, read: flat tables of numbers and words, without compression.
//!
//! The crate that reads the format makes room for as much as a file claims to have, and ends the process where there is no such
//! room. So what a file claims is compared with its size and with limits first: the columns (`footer`), the groups of
//! rows, and each page before it is decoded (`pages`). `columns` does that.

mod columns;
mod compact;
mod footer;
mod pages;

use super::{Cells, Stored};
use footer::{Footer, Kind};
use leastaction::simulate::ensemble::List;
use parquet::file::metadata::FooterTail;
use parquet::file::reader::ChunkReader;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

/// Cells of a table, unless its file has more bytes.
const MAX_CELLS: u64 = 50_000_000;
/// Bytes of the part that describes the others.
const MAX_FOOTER: u64 = 16_000_000;
/// Bytes at the end of a file: the length of its footer and a mark.
const TAIL: u64 = 8;

/// A table of starts: all of its cells are finite numbers.
pub(crate) fn list(file: impl ChunkReader + 'static) -> Result<List, String> {
    let table = Table::open(file)?;
    if let Some(column) = table.footer.columns.iter().find(|column| column.kind == Kind::Word) {
        return Err(format!("the column `{}` is no column of numbers", column.title()));
    }
    let names = table.footer.columns.iter().map(|column| column.name.clone()).collect();
    let cells = table.cells()?;
    let columns: Vec<&[f64]> = cells.iter().map(numbers).collect();
    let rows = columns.first().map_or(0, |column| column.len());
    let mut list = List { names, ..List::default() };
    let room = list.values.try_reserve(rows * columns.len());
    room.map_err(|_| format!("no memory for {rows} rows of {} numbers", columns.len()))?;
    list.values.extend((0..rows).flat_map(|row| columns.iter().map(move |column| column[row])));
    if let Some(place) = list.values.iter().position(|x| !x.is_finite()) {
        let (row, column) = (place / columns.len() + 1, &table.footer.columns[place % columns.len()]);
        let value = list.values[place];
        return Err(format!("row {row}: `{}` is not a finite number: {value}", column.title()));
    }
    Ok(list)
}

fn numbers(cells: &Cells) -> &[f64] {
    match cells {
        Cells::Numbers(numbers) => numbers,
        Cells::Words(_) => &[],
    }
}

/// A result that was written.
pub(crate) fn read(file: impl ChunkReader + 'static) -> Result<Stored, String> {
    let table = Table::open(file)?;
    let run = table.note("run").ok_or("it is no table of leastaction: it has no run")?;
    let (version, seal) = (table.note("leastaction"), table.note("checksum"));
    let names: Vec<String> = table.footer.columns.iter().map(|column| column.name.clone()).collect();
    let columns = names.into_iter().zip(table.cells()?).collect();
    Ok(Stored { version, seal, run, columns })
}

/// The run in the notes of a file.
pub(super) fn run_of(file: impl ChunkReader) -> Option<String> {
    Table::open(file).ok()?.note("run")
}

/// A file whose footer was read and found within the limits.
struct Table<R> {
    file: Arc<R>,
    footer: Footer,
}

impl<R: ChunkReader> Table<R> {
    fn open(file: R) -> Result<Self, String> {
        let footer = footer::contents(&footer_of(&file)?)?;
        check_groups(&footer, file.len())?;
        Ok(Self { file: Arc::new(file), footer })
    }

    fn note(&self, key: &str) -> Option<String> {
        self.footer.notes.iter().find(|note| note.0 == key).map(|note| note.1.clone())
    }
}

impl<R: ChunkReader + 'static> Table<R> {
    /// All columns. Should the crate panic at a damaged file, that is an answer like any other.
    fn cells(&self) -> Result<Vec<Cells>, String> {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(|_| {}));
        let cells = panic::catch_unwind(AssertUnwindSafe(|| columns::cells(&self.file, &self.footer)));
        panic::set_hook(hook);
        cells.unwrap_or_else(|_| Err("it is damaged: its parts do not fit together".to_owned()))
    }
}

/// The bytes of the footer.
fn footer_of(file: &impl ChunkReader) -> Result<Vec<u8>, String> {
    let no_parquet = || "it is no Parquet file, or its end is missing".to_owned();
    let start = file.len().checked_sub(TAIL).ok_or_else(no_parquet)?;
    let tail = file.get_bytes(start, TAIL as usize).map_err(|error| error.to_string())?;
    let tail = tail.as_ref().try_into().map_err(|_| no_parquet())?;
    let tail = FooterTail::try_new(tail).map_err(|_| no_parquet())?;
    if tail.is_encrypted_footer() {
        return Err("it is encrypted; try a file without encryption".to_owned());
    }
    let length = tail.metadata_length() as u64;
    if length > MAX_FOOTER {
        return Err(format!("its footer has {length} bytes; {MAX_FOOTER} can be read"));
    }
    let start = start.checked_sub(length).ok_or_else(no_parquet)?;
    let footer = file.get_bytes(start, length as usize).map_err(|error| error.to_string())?;
    Ok(footer.to_vec())
}

/// Whether the groups of rows are within the limits, and their bytes within the file.
fn check_groups(footer: &Footer, bytes: u64) -> Result<(), String> {
    let (mut rows, mut used) = (0u64, 0u64);
    for group in &footer.groups {
        let count = u64::try_from(group.rows);
        rows = rows.saturating_add(count.map_err(|_| "it is damaged: a group has less than no rows")?);
        for (column, part) in footer.columns.iter().zip(&group.parts) {
            let name = column.title();
            if part.compression != 0 {
                return Err(format!("the column `{name}` is compressed; try a file without compression"));
            }
            let (Ok(start), Ok(length)) = (u64::try_from(part.start()), u64::try_from(part.length)) else {
                return Err(format!("it is damaged: the column `{name}` starts nowhere"));
            };
            if start.saturating_add(length) > bytes {
                return Err(format!("it is damaged: the column `{name}` goes beyond its end"));
            }
            used = used.saturating_add(length);
        }
    }
    // columns that share their bytes would be decoded again and again
    if used > bytes {
        return Err("it is damaged: its columns have more bytes than it has".to_owned());
    }
    let (columns, most) = (footer.columns.len() as u64, MAX_CELLS.max(bytes));
    if rows.saturating_mul(columns) > most {
        return Err(format!("it has {rows} rows of {columns} cells; {most} cells can be read"));
    }
    Ok(())
}
