//! The columns of a Parquet file, decoded by the crate, batch after batch, so that room is made only for what there is.

use super::super::{Cells, Words};
use super::footer::{self, Column, Footer, Group, Kind};
use super::pages::Pages;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;
use std::sync::Arc;

/// Rows that are decoded at once.
const BATCH: usize = 8192;

/// The cells of each column.
pub(super) fn cells<R: ChunkReader + 'static>(file: &Arc<R>, footer: &Footer) -> Result<Vec<Cells>, String> {
    let schema = footer::schema(&footer.columns)?;
    let empty = |column: &Column| match column.kind {
        Kind::Word => Cells::Words(Words::default()),
        _ => Cells::Numbers(Vec::new()),
    };
    let mut all: Vec<Cells> = footer.columns.iter().map(empty).collect();
    for group in &footer.groups {
        for (index, (column, cells)) in footer.columns.iter().zip(&mut all).enumerate() {
            let reader =
                get_column_reader(schema.column(index), Box::new(pages(file, group, index, column.kind)));
            let place = Place { column, rows: group.rows as usize };
            place.read(reader, cells).map_err(|refused| match refused {
                Refused::Row(message) => message,
                Refused::Chunk(error) => format!("the column `{}`: {error}", column.title()),
            })?;
        }
    }
    Ok(all)
}

/// The pages of a column in a group of rows.
fn pages<R: ChunkReader>(file: &Arc<R>, group: &Group, index: usize, kind: Kind) -> Pages<R> {
    let part = &group.parts[index];
    let (start, end) = (part.start() as u64, (part.start() + part.length) as u64);
    Pages { file: file.clone(), start, end, kind, left: group.rows as u64, dictionary: false }
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
}

impl Place<'_> {
    fn read(&self, reader: ColumnReader, cells: &mut Cells) -> Result<(), Refused> {
        let numbers = match cells {
            Cells::Numbers(numbers) => numbers,
            Cells::Words(words) => return self.words(reader, words),
        };
        let before = numbers.len();
        let mut add = |x| {
            numbers.push(x);
            Ok(())
        };
        match (reader, self.column.kind) {
            (ColumnReader::DoubleColumnReader(reader), _) => self.batches(reader, before, add),
            (ColumnReader::FloatColumnReader(reader), _) => {
                self.batches(reader, before, |x| add(f64::from(x)))
            }
            (ColumnReader::Int32ColumnReader(reader), Kind::Int { signed: false }) => {
                self.batches(reader, before, |x| add(f64::from(x as u32)))
            }
            (ColumnReader::Int32ColumnReader(reader), _) => {
                self.batches(reader, before, |x| add(f64::from(x)))
            }
            (ColumnReader::Int64ColumnReader(reader), Kind::Long { signed: false }) => {
                self.batches(reader, before, |x| add(x as u64 as f64))
            }
            (ColumnReader::Int64ColumnReader(reader), _) => self.batches(reader, before, |x| add(x as f64)),
            _ => Err(ParquetError::General("it is no column of numbers".to_owned()).into()),
        }
    }

    fn words(&self, reader: ColumnReader, words: &mut Words) -> Result<(), Refused> {
        let ColumnReader::ByteArrayColumnReader(reader) = reader else {
            return Err(ParquetError::General("it is no column of words".to_owned()).into());
        };
        self.batches(reader, words.len(), |word| {
            let word = std::str::from_utf8(word.data()).map_err(|_| "a word is no UTF-8".to_owned());
            word.and_then(|word| words.push(word)).map_err(|what| ParquetError::General(what).into())
        })
    }

    /// Decodes batch after batch and hands on each cell. So many rows came before.
    fn batches<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        before: usize,
        mut add: impl FnMut(T::T) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let (mut done, mut levels, mut batch) = (0, Vec::new(), Vec::new());
        while done < self.rows {
            levels.clear();
            batch.clear();
            let most = BATCH.min(self.rows - done);
            let (rows, values, _) = reader.read_records(most, Some(&mut levels), None, &mut batch)?;
            if values < rows {
                let row = levels.iter().position(|&level| level == 0).unwrap_or(0);
                let row = before + done + row + 1;
                return Err(Refused::Row(format!("row {row}: `{}` is empty", self.column.title())));
            }
            if rows == 0 {
                let end = format!("it ends after {done} of {} rows", self.rows);
                return Err(ParquetError::General(end).into());
            }
            batch.drain(..).try_for_each(&mut add)?;
            done += rows;
        }
        Ok(())
    }
}
