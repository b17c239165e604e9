//! NPZ, for `numpy.load`: arrays such as t, q, v, p, energy and the outputs, the coordinates' names, and the run as text.
//!
//! Stored without compression: recorded states hardly compress, and NumPy maps them faster.

use super::table::Table;
use std::io::{ErrorKind, Result, Seek, SeekFrom, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

pub(super) fn write(file: impl Write + Seek, table: &Table<'_>) -> Result<()> {
    let mut archive = archive(file);
    let rows = table.rows;
    if let Some((name, words)) = &table.words {
        texts(&mut archive, name, &[rows], words)?;
    }
    for block in &table.blocks {
        let shape = [rows, block.columns.len()];
        let shape = if block.wide { shape.as_slice() } else { &shape[..1] };
        begin(&mut archive, &block.name, "<f8", shape)?;
        write_all(&mut archive, block.values.iter().map(|x| x.to_le_bytes()))?;
    }
    let names: Vec<&str> = table.coordinates.iter().map(String::as_str).collect();
    texts(&mut archive, "coordinates", &[names.len()], &names)?;
    texts(&mut archive, "run", &[], &[&table.run])?;
    seal(&mut archive, &table.seal())?;
    archive.finish()?;
    Ok(())
}

/// An empty archive.
pub(super) fn archive<W: Write + Seek>(file: W) -> ZipWriter<Once<W>> {
    ZipWriter::new(Once { file, place: 0, failed: false })
}

/// A file that fails once. The crate writes the end of an archive also where something failed before, and complains to the terminal if that fails again.
pub(super) struct Once<W> {
    file: W,
    place: u64,
    failed: bool,
}

impl<W> Once<W> {
    fn note<T>(&mut self, result: Result<T>) -> Result<T> {
        self.failed |= result.as_ref().is_err_and(|error| error.kind() != ErrorKind::Interrupted);
        result
    }
}

impl<W: Write> Write for Once<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = if self.failed { Ok(bytes.len()) } else { self.file.write(bytes) };
        self.place += *written.as_ref().unwrap_or(&0) as u64;
        self.note(written)
    }

    fn flush(&mut self) -> Result<()> {
        let flushed = if self.failed { Ok(()) } else { self.file.flush() };
        self.note(flushed)
    }
}

impl<W: Seek> Seek for Once<W> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let found = match (self.failed, to) {
            (false, to) => self.file.seek(to),
            (true, SeekFrom::Start(place)) => Ok(place),
            (true, SeekFrom::Current(by) | SeekFrom::End(by)) => Ok(self.place.saturating_add_signed(by)),
        };
        self.place = *found.as_ref().unwrap_or(&self.place);
        self.note(found)
    }
}

/// The checksum, and the version of the program.
pub(super) fn seal<W: Write + Seek>(archive: &mut ZipWriter<W>, seal: &str) -> Result<()> {
    texts(archive, "checksum", &[], &[seal])?;
    texts(archive, "leastaction", &[], &[env!("CARGO_PKG_VERSION")])
}

/// Text as NumPy keeps it: code points, all of the same length, filled up with zeros.
pub(super) fn texts<W: Write + Seek>(
    archive: &mut ZipWriter<W>,
    name: &str,
    shape: &[usize],
    values: &[&str],
) -> Result<()> {
    let length = values.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    begin(archive, name, &format!("<U{length}"), shape)?;
    let padded = values.iter().flat_map(|text| {
        text.chars().map(u32::from).chain(std::iter::repeat(0)).take(length).map(u32::to_le_bytes)
    });
    write_all(archive, padded)
}

/// A new array in the archive, up to where its numbers begin.
pub(super) fn begin<W: Write + Seek>(
    archive: &mut ZipWriter<W>,
    name: &str,
    kind: &str,
    shape: &[usize],
) -> Result<()> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    archive.start_file(format!("{name}.npy"), options)?;
    archive.write_all(&header(kind, shape))
}

/// The beginning of an NPY file of version 1.0: magic bytes, the length of what follows, and a Python dictionary, filled up with
/// blanks to a multiple of 64 bytes (numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
fn header(kind: &str, shape: &[usize]) -> Vec<u8> {
    // (), (5,), (5, 2)
    let shape = match shape {
        [] => String::new(),
        [rows] => format!("{rows},"),
        [first, others @ ..] => others.iter().fold(first.to_string(), |text, n| format!("{text}, {n}")),
    };
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.bytes());
    bytes
}

/// Writes many small pieces in few large ones.
fn write_all<const N: usize>(writer: &mut impl Write, pieces: impl Iterator<Item = [u8; N]>) -> Result<()> {
    let mut writer = std::io::BufWriter::with_capacity(1 << 16, writer);
    for piece in pieces {
        writer.write_all(&piece)?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::header;

    #[test]
    fn headers_are_as_numpy_writes_them() {
        // numpy.lib.format.header_data_from_array_1_0 and write_array_header_1_0, NumPy 2
        for (kind, shape, text) in [
            ("<f8", vec![1001, 2], "{'descr': '<f8', 'fortran_order': False, 'shape': (1001, 2), }"),
            ("<f8", vec![7], "{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }"),
            ("<U12", vec![], "{'descr': '<U12', 'fortran_order': False, 'shape': (), }"),
        ] {
            let found = header(kind, &shape);
            assert_eq!(&found[..10], b"\x93NUMPY\x01\x00\x76\x00");
            assert_eq!(String::from_utf8_lossy(&found[10..]), format!("{text:117}\n"));
        }
    }
}
