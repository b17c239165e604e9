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
use parquet::basic::Compression;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, FooterTail, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
    ParquetStatisticsPolicy,
};
use parquet::file::reader::ChunkReader;
use parquet_footer::{Column, Kind};
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
    let (columns, metadata) = describe(&file)?;
    check_groups(&columns, &metadata, file.len())?;
    let file = Arc::new(file);
    let mut list =
        List { names: columns.iter().map(|column| column.name.clone()).collect(), ..List::default() };
    for group in metadata.row_groups() {
        let rows = group.num_rows() as usize;
        let before = list.rows();
        let numbers = columns.iter().zip(group.columns()).map(|(column, chunk)| {
            column_numbers(&file, column, chunk, rows, before).map_err(|message| match message {
                Refused::Row(message) => message,
                Refused::Chunk(error) => format!("the column `{}`: {error}", column.title()),
            })
        });
        let numbers: Vec<Vec<f64>> = numbers.collect::<Result<_, _>>()?;
        let room = list.values.try_reserve_exact(rows * columns.len());
        room.map_err(|_| format!("no memory for {rows} rows of {} numbers", columns.len()))?;
        list.values.extend((0..rows).flat_map(|row| numbers.iter().map(move |column| column[row])));
    }
    Ok(list)
}

/// The columns and where their parts are.
fn describe(file: &impl ChunkReader) -> Result<(Vec<Column>, ParquetMetaData), String> {
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
    let columns = parquet_footer::columns(&footer)?;
    let options = ParquetMetaDataOptions::new()
        .with_schema(Arc::new(parquet_footer::schema(&columns)?))
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll);
    let metadata = ParquetMetaDataReader::decode_metadata_with_options(&footer, Some(&options));
    Ok((columns, metadata.map_err(|error| format!("it is damaged: {error}"))?))
}

/// Whether the groups of rows are within the limits, and their bytes within the file.
fn check_groups(columns: &[Column], metadata: &ParquetMetaData, bytes: u64) -> Result<(), String> {
    let (mut rows, mut used) = (0u64, 0u64);
    for group in metadata.row_groups() {
        let count = u64::try_from(group.num_rows());
        rows = rows.saturating_add(count.map_err(|_| "it is damaged: a group has less than no rows")?);
        if group.num_columns() != columns.len() {
            return Err("it is damaged: a group of rows lacks columns".to_owned());
        }
        for (column, chunk) in columns.iter().zip(group.columns()) {
            let name = column.title();
            if chunk.compression() != Compression::UNCOMPRESSED {
                let kind = chunk.compression();
                return Err(format!(
                    "the column `{name}` is compressed ({kind}); try a file without compression"
                ));
            }
            let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
            let (start, length) = (u64::try_from(start), u64::try_from(chunk.compressed_size()));
            let (Ok(start), Ok(length)) = (start, length) else {
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

/// The numbers of a column in a group of rows, before which there are others.
fn column_numbers<R: ChunkReader + 'static>(
    file: &Arc<R>,
    column: &Column,
    chunk: &ColumnChunkMetaData,
    rows: usize,
    before: u64,
) -> Result<Vec<f64>, Refused> {
    let (start, length) = chunk.byte_range();
    let (file, end) = (file.clone(), start + length);
    let pages = Pages { file, start, end, width: column.width(), left: rows as u64, dictionary: false };
    let reader = get_column_reader(chunk.column_descr_ptr(), Box::new(pages));
    let place = Place { column, rows, before };
    match (reader, column.kind) {
        (ColumnReader::DoubleColumnReader(reader), _) => place.numbers(reader, |x| x),
        (ColumnReader::FloatColumnReader(reader), _) => place.numbers(reader, f64::from),
        (ColumnReader::Int32ColumnReader(reader), Kind::Int { signed: false }) => {
            place.numbers(reader, |x| f64::from(x as u32))
        }
        (ColumnReader::Int32ColumnReader(reader), _) => place.numbers(reader, f64::from),
        (ColumnReader::Int64ColumnReader(reader), Kind::Long { signed: false }) => {
            place.numbers(reader, |x| x as u64 as f64)
        }
        (ColumnReader::Int64ColumnReader(reader), _) => place.numbers(reader, |x| x as f64),
        _ => Err(ParquetError::General("it is no column of numbers".to_owned()).into()),
    }
}

/// A column in a group of rows.
struct Place<'a> {
    column: &'a Column,
    rows: usize,
    before: u64,
}

impl Place<'_> {
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
