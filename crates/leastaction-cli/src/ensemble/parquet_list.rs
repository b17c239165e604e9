//! Lists of starts as Parquet. Uses nothing of the command, so that it can be fuzzed alone.
//!
//! The crate that reads the format makes room for as much as a file claims to have, and ends the process where there is no such
//! room. So what a file claims is compared with its size and with limits first: the columns (`parquet_footer`), the groups of
//! rows, and each page before it is decoded (`parquet_pages`).

#[path = "parquet_footer.rs"]
mod parquet_footer;
#[path = "parquet_pages.rs"]
mod parquet_pages;

use leastaction::simulate::ensemble::List;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::FooterTail;
use parquet::file::reader::ChunkReader;
use parquet_footer::{Column, Group, Kind};
use parquet_pages::Pages;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

/// Numbers of a list.
const MAX_NUMBERS: u64 = 50_000_000;
/// Bytes of the part that describes the others.
const MAX_FOOTER: u64 = 4_000_000;
/// Bytes at the end of a file: the length of its footer and a mark.
const TAIL: u64 = 8;
/// Rows that are decoded at once.
const BATCH: usize = 8192;

/// A table of starts. Should the reader of the format panic at a damaged file, that is an answer like any other.
pub(crate) fn read(file: impl ChunkReader + 'static) -> Result<List, String> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let list = panic::catch_unwind(AssertUnwindSafe(|| table(file)));
    panic::set_hook(hook);
    list.unwrap_or_else(|_| Err("it is damaged: its parts do not fit together".to_owned()))
}

fn table<R: ChunkReader + 'static>(file: R) -> Result<List, String> {
    let (columns, groups) = describe(&file)?;
    check_groups(&columns, &groups, file.len())?;
    let schema = parquet_footer::schema(&columns)?;
    let file = Arc::new(file);
    let mut list =
        List { names: columns.iter().map(|column| column.name.clone()).collect(), ..List::default() };
    for group in groups {
        let rows = group.rows as usize;
        let before = list.rows();
        let numbers = columns.iter().zip(&group.parts).enumerate().map(|(index, (column, part))| {
            let (start, end) = (part.start() as u64, (part.start() + part.length) as u64);
            let (file, width, left) = (file.clone(), column.width(), rows as u64);
            let pages = Pages { file, start, end, width, left, dictionary: false };
            let reader = get_column_reader(schema.column(index), Box::new(pages));
            Place { column, rows, before }.read(reader).map_err(|refused| match refused {
                Refused::Row(message) => message,
                Refused::Chunk(error) => format!("the column `{}`: {error}", column.title()),
            })
        });
        let numbers: Vec<Vec<f64>> = numbers.collect::<Result<_, _>>()?;
        let room = list.values.try_reserve(rows * columns.len());
        room.map_err(|_| format!("no memory for {rows} rows of {} numbers", columns.len()))?;
        list.values.extend((0..rows).flat_map(|row| numbers.iter().map(move |column| column[row])));
    }
    Ok(list)
}

/// The columns and where their parts are.
fn describe(file: &impl ChunkReader) -> Result<(Vec<Column>, Vec<Group>), String> {
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
    parquet_footer::contents(&footer)
}

/// Whether the groups of rows are within the limits, and their bytes within the file.
fn check_groups(columns: &[Column], groups: &[Group], bytes: u64) -> Result<(), String> {
    let (mut rows, mut used) = (0u64, 0u64);
    for group in groups {
        let count = u64::try_from(group.rows);
        rows = rows.saturating_add(count.map_err(|_| "it is damaged: a group has less than no rows")?);
        for (column, part) in columns.iter().zip(&group.parts) {
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
    if rows.saturating_mul(columns.len() as u64) > MAX_NUMBERS {
        let count = columns.len();
        return Err(format!("it has {rows} rows of {count} numbers; {MAX_NUMBERS} numbers can be read"));
    }
    Ok(())
}

/// Why a column is refused.
enum Refused {
    Row(String),
    Chunk(ParquetError),
}

impl From<ParquetError> for Refused {
    fn from(error: ParquetError) -> Self {
        Self::Chunk(error)
    }
}

/// A column in a group of rows.
struct Place<'a> {
    column: &'a Column,
    rows: usize,
    before: u64,
}

impl Place<'_> {
    fn read(&self, reader: ColumnReader) -> Result<Vec<f64>, Refused> {
        match (reader, self.column.kind) {
            (ColumnReader::DoubleColumnReader(reader), _) => self.numbers(reader, |x| x),
            (ColumnReader::FloatColumnReader(reader), _) => self.numbers(reader, f64::from),
            (ColumnReader::Int32ColumnReader(reader), Kind::Int { signed: false }) => {
                self.numbers(reader, |x| f64::from(x as u32))
            }
            (ColumnReader::Int32ColumnReader(reader), _) => self.numbers(reader, f64::from),
            (ColumnReader::Int64ColumnReader(reader), Kind::Long { signed: false }) => {
                self.numbers(reader, |x| x as u64 as f64)
            }
            (ColumnReader::Int64ColumnReader(reader), _) => self.numbers(reader, |x| x as f64),
            _ => Err(ParquetError::General("it is no column of numbers".to_owned()).into()),
        }
    }

    /// Decodes part after part, so that room is made only for what there is.
    fn numbers<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        number: impl Fn(T::T) -> f64,
    ) -> Result<Vec<f64>, Refused> {
        let (mut numbers, mut levels, mut part) = (Vec::new(), Vec::new(), Vec::new());
        while numbers.len() < self.rows {
            levels.clear();
            part.clear();
            let most = BATCH.min(self.rows - numbers.len());
            let (rows, values, _) = reader.read_records(most, Some(&mut levels), None, &mut part)?;
            if values < rows {
                let row = levels.iter().position(|&level| level == 0).unwrap_or(0);
                return Err(self.refused(numbers.len() + row, "is empty"));
            }
            if rows == 0 {
                let end = format!("it ends after {} of {} rows", numbers.len(), self.rows);
                return Err(ParquetError::General(end).into());
            }
            for value in part.drain(..) {
                let value = number(value);
                if !value.is_finite() {
                    return Err(self.refused(numbers.len(), &format!("is not a finite number: {value}")));
                }
                numbers.push(value);
            }
        }
        Ok(numbers)
    }

    fn refused(&self, row: usize, what: &str) -> Refused {
        Refused::Row(format!("row {}: `{}` {what}", self.before + row as u64 + 1, self.column.title()))
    }
}
