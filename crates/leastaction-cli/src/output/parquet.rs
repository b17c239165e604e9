//! Parquet: one column for each of t, coordinates, velocities, momenta, the energy and outputs; the run in the file's metadata.

use super::table::Table;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
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
    let metadata = vec![
        KeyValue::new("leastaction".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        KeyValue::new("run".to_owned(), table.run.clone()),
    ];
    let properties = WriterProperties::builder().set_key_value_metadata(Some(metadata)).build();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    for start in (0..table.rows).step_by(GROUP) {
        write_group(&mut writer, table, start..(start + GROUP).min(table.rows))?;
    }
    writer.close()?;
    Ok(())
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
