//! NPZ, for `numpy.load`: arrays such as t, q, v, p, energy and the outputs, the coordinates' names, and the run as text.
//!
//! Stored without compression: recorded states hardly compress, and NumPy maps them faster.

use super::stored::{Cells, Stored};
use super::table::Table;
use std::fs::File;
use std::io::{Read, Result, Seek, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

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
pub(super) fn archive<W: Write + Seek>(file: W) -> ZipWriter<W> {
    ZipWriter::new(file)
}

/// The checksum, and the version of the program.
pub(super) fn seal<W: Write + Seek>(archive: &mut ZipWriter<W>, seal: &str) -> Result<()> {
    texts(archive, "checksum", &[], &[seal])?;
    texts(archive, "leastaction", &[], &[env!("CARGO_PKG_VERSION")])
}

/// The text in the array `run` of a file.
pub(super) fn stored_run(path: &Path) -> Option<String> {
    let mut archive = ZipArchive::new(File::open(path).ok()?).ok()?;
    array(&mut archive, "run").ok()?.words()?.pop()
}

/// An array that was written.
struct Array {
    kind: String,
    /// Columns, if there are two dimensions.
    width: usize,
    bytes: Vec<u8>,
}

impl Array {
    fn words(&self) -> Option<Vec<String>> {
        let length: usize = self.kind.strip_prefix("<U")?.parse().ok().filter(|length| *length > 0)?;
        let letter = |point: &[u8]| char::from_u32(u32::from_le_bytes(point.try_into().ok()?));
        let word = |bytes: &[u8]| bytes.chunks_exact(4).map(letter).collect::<Option<String>>();
        let words = self.bytes.chunks_exact(4 * length).map(word);
        words.map(|word| word.map(|word| word.trim_end_matches('\0').to_owned())).collect()
    }

    fn numbers(&self) -> Option<Vec<f64>> {
        let words = || self.bytes.chunks_exact(8).map(|part| part.try_into().map_or(0, u64::from_le_bytes));
        match self.kind.as_str() {
            "<f8" => Some(words().map(f64::from_bits).collect()),
            "<i8" => Some(words().map(|word| word as i64 as f64).collect()),
            _ => None,
        }
    }
}

fn array<R: Read + Seek>(archive: &mut ZipArchive<R>, name: &str) -> std::result::Result<Array, String> {
    let damaged = || format!("the array `{name}` is damaged");
    let mut bytes = Vec::new();
    let mut file =
        archive.by_name(&format!("{name}.npy")).map_err(|_| format!("there is no array `{name}`"))?;
    file.read_to_end(&mut bytes).map_err(|_| damaged())?;
    // after the magic bytes and the version, the length of the header
    let length = bytes.get(8..10).and_then(|length| length.try_into().ok()).map(u16::from_le_bytes);
    let end = 10 + usize::from(length.ok_or_else(damaged)?);
    let header = std::str::from_utf8(bytes.get(10..end).ok_or_else(damaged)?).map_err(|_| damaged())?;
    let between = |from: &str, to: &str| Some(header.split_once(from)?.1.split_once(to)?.0);
    let kind = between("'descr': '", "'").ok_or_else(damaged)?.to_owned();
    let shape = between("'shape': (", ")").ok_or_else(damaged)?;
    let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
    let width = sizes.skip(1).map(str::parse).next().unwrap_or(Ok(1)).map_err(|_| damaged())?;
    Ok(Array { kind, width, bytes: bytes.split_off(end) })
}

/// A table that was written.
pub(super) fn read(path: &Path) -> std::result::Result<Stored, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut archive =
        ZipArchive::new(file).map_err(|error| format!("it is no NPZ file, or cut off: {error}"))?;
    let names: Vec<String> =
        archive.file_names().filter_map(|name| name.ok()?.strip_suffix(".npy").map(str::to_owned)).collect();
    let mut text = |name: &str| array(&mut archive, name).ok().and_then(|array| array.words()?.pop());
    let (version, seal) = (text("leastaction"), text("checksum"));
    let run = text("run").ok_or("it is no table of leastaction: it has no run")?;
    let mut texts = |name: &str| array(&mut archive, name).ok().and_then(|array| array.words());
    let coordinates = texts("coordinates").unwrap_or_default();
    let statuses = texts("statuses").unwrap_or_default();
    let mut columns = Vec::new();
    let about = ["run", "coordinates", "statuses", "checksum", "leastaction"];
    for name in names.iter().filter(|name| !about.contains(&name.as_str())) {
        let array = array(&mut archive, name)?;
        let damaged = || format!("the array `{name}` is damaged");
        if array.kind == "|i1" {
            let word = |code: &u8| statuses.get(usize::from(*code)).cloned();
            let words: Option<Vec<String>> = array.bytes.iter().map(word).collect();
            columns.push((name.clone(), Cells::Words(words.ok_or_else(damaged)?)));
        } else if let Some(numbers) = array.numbers() {
            let wide = ["q", "v", "p"].contains(&name.as_str()) && array.width == coordinates.len();
            if !wide {
                columns.push((name.clone(), Cells::Numbers(numbers)));
                continue;
            }
            let prefix = if name == "q" { String::new() } else { format!("{name}_") };
            for (k, coordinate) in coordinates.iter().enumerate() {
                let column = numbers.iter().skip(k).step_by(array.width).copied().collect();
                columns.push((format!("{prefix}{coordinate}"), Cells::Numbers(column)));
            }
        } else {
            columns.push((name.clone(), Cells::Words(array.words().ok_or_else(damaged)?)));
        }
    }
    Ok(Stored { version, seal, run, columns })
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
