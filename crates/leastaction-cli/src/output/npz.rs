//! NPZ, for `numpy.load`: arrays t, q, v, p, energy, the coordinates' names, and the run as text.
//!
//! Stored without compression: recorded states hardly compress, and NumPy maps them faster.

use super::Columns;
use leastaction::simulate::Recording;
use npyz::{DType, WriterBuilder};
use std::io::{Error, Result, Seek, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

pub(super) fn write(file: impl Write + Seek, columns: &Columns, recording: &Recording) -> Result<()> {
    let mut archive = ZipWriter::new(file);
    let (rows, n) = (recording.len() as u64, recording.n as u64);
    numbers(&mut archive, "t", &[rows], &recording.t)?;
    numbers(&mut archive, "q", &[rows, n], &recording.q)?;
    numbers(&mut archive, "v", &[rows, n], &recording.v)?;
    numbers(&mut archive, "p", &[rows, n], &recording.p)?;
    numbers(&mut archive, "energy", &[rows], &recording.energy)?;
    let names: Vec<&str> = columns.names[1..=recording.n].iter().map(String::as_str).collect();
    texts(&mut archive, "coordinates", &[n], &names)?;
    texts(&mut archive, "run", &[], &[&columns.run])?;
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
