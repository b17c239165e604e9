//! Parquet: one column for each of t, coordinates, velocities, momenta and the energy; the run in the file's metadata.

use super::Columns;
use leastaction::simulate::Recording;
use parquet::basic::{Repetition, Type as Physical};
use parquet::data_type::DoubleType;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::{Error, Result, Write};
use std::sync::Arc;

/// Rows a group, so that a reader can take a long run in parts.
const GROUP: usize = 1 << 17;

pub(super) fn write(file: impl Write + Send, columns: &Columns, recording: &Recording) -> Result<()> {
    write_parquet(file, columns, recording).map_err(Error::other)
}

fn write_parquet(
    file: impl Write + Send,
    columns: &Columns,
    recording: &Recording,
) -> std::result::Result<(), ParquetError> {
    let fields: std::result::Result<Vec<_>, ParquetError> = columns
        .names
        .iter()
        .map(|name| {
            let field = Type::primitive_type_builder(name, Physical::DOUBLE);
            field.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
        })
        .collect();
    let schema = Arc::new(Type::group_type_builder("run").with_fields(fields?).build()?);
    let metadata = vec![
        KeyValue::new("leastaction".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        KeyValue::new("run".to_owned(), columns.run.clone()),
    ];
    let properties = WriterProperties::builder().set_key_value_metadata(Some(metadata)).build();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    let n = recording.n;
    for start in (0..recording.len()).step_by(GROUP) {
        let rows = start..(start + GROUP).min(recording.len());
        let mut group = writer.next_row_group()?;
        let mut index = 0;
        while let Some(mut column) = group.next_column()? {
            let values: Vec<f64> = match index {
                0 => recording.t[rows.clone()].to_vec(),
                last if last == 3 * n + 1 => recording.energy[rows.clone()].to_vec(),
                _ => {
                    let list = [&recording.q, &recording.v, &recording.p][(index - 1) / n];
                    rows.clone().map(|row| list[row * n + (index - 1) % n]).collect()
                }
            };
            column.typed::<DoubleType>().write_batch(&values, None, None)?;
            column.close()?;
            index += 1;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}
