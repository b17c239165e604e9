//! NPZ, for `numpy.load`: arrays such as t, q, v, p, energy and the outputs, the coordinates' names, and the run as text.
//!
//! Stored without compression: recorded states hardly compress, and NumPy maps them faster.

use super::table::Table;
use npyz::{DType, WriterBuilder};
use std::io::{Error, Result, Seek, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

pub(super) fn write(file: impl Write + Seek, table: &Table<'_>) -> Result<()> {
    let mut archive = ZipWriter::new(file);
    let rows = table.rows as u64;
    if let Some((name, words)) = &table.words {
        texts(&mut archive, name, &[rows], words)?;
    }
    for block in &table.blocks {
        let shape = [rows, block.columns.len() as u64];
        let shape = if block.wide { shape.as_slice() } else { &shape[..1] };
        numbers(&mut archive, &block.name, shape, &block.values)?;
    }
    let names: Vec<&str> = table.coordinates.iter().map(String::as_str).collect();
    texts(&mut archive, "coordinates", &[names.len() as u64], &names)?;
    texts(&mut archive, "run", &[], &[&table.run])?;
    archive.finish()?;
    Ok(())
}

fn begin<W: Write + Seek>(archive: &mut ZipWriter<W>, name: &str) -> Result<()> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    Ok(archive.start_file(format!("{name}.npy"), options)?)
}

fn numbers<W: Write + Seek>(
    archive: &mut ZipWriter<W>,
    name: &str,
    shape: &[u64],
    values: &[f64],
) -> Result<()> {
    begin(archive, name)?;
    let mut writer = npyz::WriteOptions::new().default_dtype().shape(shape).writer(archive).begin_nd()?;
    writer.extend(values.iter())?;
    writer.finish()
}

/// Text as NumPy keeps it: code points, all of the same length.
fn texts<W: Write + Seek>(
    archive: &mut ZipWriter<W>,
    name: &str,
    shape: &[u64],
    values: &[&str],
) -> Result<()> {
    begin(archive, name)?;
    let length = values.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    let kind = format!("<U{length}").parse().map_err(|_| Error::other("the type of a text array"))?;
    let options = npyz::WriteOptions::new().dtype(DType::Plain(kind)).shape(shape).writer(archive);
    let mut writer = options.begin_nd()?;
    for text in values {
        let points: Vec<u32> = text.chars().map(u32::from).collect();
        writer.push(&points)?;
    }
    writer.finish()
}
