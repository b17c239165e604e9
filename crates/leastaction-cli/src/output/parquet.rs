//! Parquet: one column for each of t, coordinates, velocities, momenta, the energy and outputs; the run in the file's metadata.

use super::journal::Journal;
use super::members::Heading;
use super::table::Table;
use leastaction::simulate::ensemble::{Kind, Status};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::{Error, Result, Write};
use std::ops::Range;
use std::sync::Arc;

/// Rows a group, so that a reader can take a long run in parts.
const GROUP: usize = 1 << 17;

pub(super) fn write(file: impl Write + Send, table: &Table<'_>) -> Result<()> {
    write_parquet(file, table).map_err(Error::other)
}

fn write_parquet(file: impl Write + Send, table: &Table<'_>) -> std::result::Result<(), ParquetError> {
    let mut fields = Vec::new();
    if let Some((name, _)) = &table.words {
        let field = Type::primitive_type_builder(name, Physical::BYTE_ARRAY);
        let field = field.with_logical_type(Some(LogicalType::String));
        fields.push(Arc::new(field.with_repetition(Repetition::REQUIRED).build()?));
    }
    for name in table.names() {
        let field = Type::primitive_type_builder(name, Physical::DOUBLE);
        fields.push(Arc::new(field.with_repetition(Repetition::REQUIRED).build()?));
    }
    let schema = Arc::new(Type::group_type_builder("run").with_fields(fields).build()?);
    let mut writer = SerializedFileWriter::new(file, schema, properties(&table.run, table.seal()))?;
    for start in (0..table.rows).step_by(GROUP) {
        write_group(&mut writer, table, start..(start + GROUP).min(table.rows))?;
    }
    writer.close()?;
    Ok(())
}

/// The version, the run and the checksum, as the file's metadata.
fn properties(run: &str, seal: String) -> Arc<WriterProperties> {
    let metadata = vec![
        KeyValue::new("leastaction".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        KeyValue::new("run".to_owned(), run.to_owned()),
        KeyValue::new("checksum".to_owned(), seal),
    ];
    Arc::new(WriterProperties::builder().set_key_value_metadata(Some(metadata)).build())
}

fn write_group(
    writer: &mut SerializedFileWriter<impl Write + Send>,
    table: &Table<'_>,
    rows: Range<usize>,
) -> std::result::Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    if let (Some((_, words)), Some(mut column)) =
        (&table.words, if table.words.is_some() { group.next_column()? } else { None })
    {
        let words: Vec<ByteArray> = words[rows.clone()].iter().map(|word| ByteArray::from(*word)).collect();
        column.typed::<ByteArrayType>().write_batch(&words, None, None)?;
        column.close()?;
    }
    for block in &table.blocks {
        for index in 0..block.columns.len() {
            let values: Vec<f64> = rows.clone().map(|row| block.row(row)[index]).collect();
            let Some(mut column) = group.next_column()? else { break };
            column.typed::<DoubleType>().write_batch(&values, None, None)?;
            column.close()?;
        }
    }
    group.close()?;
    Ok(())
}

/// The members of an ensemble, blocks of them in groups.
pub(super) fn write_members(
    file: impl Write + Send,
    heading: &Heading<'_>,
    journal: &mut Journal,
) -> Result<()> {
    let fields = heading.columns.iter().map(|column| {
        let (physical, logical) = match column.kind {
            Kind::Whole => (Physical::INT64, None),
            Kind::Real => (Physical::DOUBLE, None),
            Kind::Status => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(&column.name, physical).with_logical_type(logical);
        field.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
    });
    let fields = fields.collect::<std::result::Result<Vec<_>, _>>().map_err(Error::other)?;
    let schema = Type::group_type_builder("run").with_fields(fields).build().map_err(Error::other)?;
    let seal = super::members::seal(heading, journal)?;
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), properties(heading.run, seal))
        .map_err(Error::other)?;
    let blocks: Vec<u64> = (0..journal.blocks).collect();
    for group in blocks.chunks(BLOCKS_A_GROUP) {
        write_blocks(&mut writer, heading, journal, group)?;
    }
    writer.close().map_err(Error::other)?;
    Ok(())
}

/// Blocks a group.
const BLOCKS_A_GROUP: usize = 128;

fn write_blocks(
    writer: &mut SerializedFileWriter<impl Write + Send>,
    heading: &Heading<'_>,
    journal: &mut Journal,
    blocks: &[u64],
) -> Result<()> {
    let mut group = writer.next_row_group().map_err(Error::other)?;
    for (index, column) in heading.columns.iter().enumerate() {
        let mut cells = Vec::new();
        for block in blocks {
            cells.extend(journal.column(*block, index)?);
        }
        let Some(mut target) = group.next_column().map_err(Error::other)? else { break };
        let written = match column.kind {
            Kind::Whole => {
                let values: Vec<i64> = cells.iter().map(|cell| *cell as i64).collect();
                target.typed::<Int64Type>().write_batch(&values, None, None)
            }
            Kind::Real => {
                let values: Vec<f64> = cells.iter().map(|cell| f64::from_bits(*cell)).collect();
                target.typed::<DoubleType>().write_batch(&values, None, None)
            }
            Kind::Status => {
                let word = |cell: &u64| ByteArray::from(Status::of_code(*cell).word());
                let values: Vec<ByteArray> = cells.iter().map(word).collect();
                target.typed::<ByteArrayType>().write_batch(&values, None, None)
            }
        };
        written.and_then(|_| target.close()).map_err(Error::other)?;
    }
    group.close().map_err(Error::other)?;
    Ok(())
}
