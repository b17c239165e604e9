//! NPZ, read: an archive of arrays, stored without compression.

use super::{Cells, Stored, Words};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use zip::{CompressionMethod, ZipArchive};

/// Arrays that describe the others.
const ABOUT: [&str; 5] = ["run", "coordinates", "statuses", "checksum", "leastaction"];

/// What is said of a file that is not damaged, and cannot be read.
const COMPRESSED: &str = "its arrays are compressed, as by numpy.savez_compressed, and only those that are not are read\n  \
                          save it without: numpy.savez(\"new.npz\", **numpy.load(\"old.npz\"))";

/// The text in the array `run` of a file.
pub(super) fn run_of(file: File) -> Option<String> {
    Archive::open(file).ok()?.text("run").ok()?
}

/// A table that was written.
pub(super) fn read(file: File) -> Result<Stored, String> {
    let mut archive = Archive::open(file)?;
    let (version, seal) = (archive.text("leastaction")?, archive.text("checksum")?);
    let run = archive.text("run")?.ok_or("it is no table of leastaction: it has no run")?;
    let coordinates = archive.texts("coordinates")?.unwrap_or_default();
    let statuses = archive.texts("statuses")?.unwrap_or_default();
    let mut columns = Vec::new();
    for name in archive.names() {
        let array = archive.array(&name)?;
        let damaged = || format!("the array `{name}` is damaged");
        if array.kind == "|i1" {
            let word = |code: &u8| statuses.get(usize::from(*code)).map(String::as_str);
            let words: Option<Vec<&str>> = array.bytes.iter().map(word).collect();
            columns.push((name.clone(), Cells::Words(Words::of(words.ok_or_else(damaged)?)?)));
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
            let words = array.words().ok_or_else(damaged)?;
            columns.push((name.clone(), Cells::Words(Words::of(words.iter().map(String::as_str))?)));
        }
    }
    Ok(Stored { version, seal, run, columns })
}

/// A file of arrays.
struct Archive {
    zip: ZipArchive<File>,
    /// Bytes that may still be read: arrays that share their bytes would take more room than the file has.
    left: u64,
}

impl Archive {
    fn open(file: File) -> Result<Self, String> {
        let left = file.metadata().map_err(|error| error.to_string())?.len();
        let none = |error| format!("it is no NPZ file, or cut off: {error}");
        let mut zip = ZipArchive::new(file).map_err(none)?;
        let mut places = Vec::new();
        for index in 0..zip.len() {
            let entry = zip.by_index_raw(index).map_err(|error| format!("it is damaged: {error}"))?;
            if entry.compression() != CompressionMethod::Stored {
                return Err(COMPRESSED.to_owned());
            }
            places.push((entry.header_start(), entry.name_raw().to_vec()));
        }
        let mut file = zip.into_inner();
        // the crate goes by the list at the end alone, and others by what stands before each array as well
        let agree = places.iter().all(|(place, name)| is_headed(&mut file, *place, name).unwrap_or(false));
        if !agree {
            return Err("it is damaged: its arrays are not where its list of them says".to_owned());
        }
        Ok(Self { zip: ZipArchive::new(file).map_err(none)?, left })
    }

    /// The names of the columns.
    fn names(&self) -> Vec<String> {
        let names =
            self.zip.file_names().filter_map(|name| name.ok()?.strip_suffix(".npy").map(str::to_owned));
        names.filter(|name| !ABOUT.contains(&name.as_str())).collect()
    }

    fn array(&mut self, name: &str) -> Result<Array, String> {
        let damaged = || format!("the array `{name}` is damaged");
        let file = self.zip.by_name(&format!("{name}.npy"));
        let file = file.map_err(|_| format!("there is no array `{name}`"))?;
        let mut bytes = Vec::new();
        file.take(self.left + 1).read_to_end(&mut bytes).map_err(|_| damaged())?;
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left = left.ok_or("it is damaged: its arrays have more bytes than it has")?;
        Array::new(bytes).ok_or_else(damaged)
    }

    /// The words of an array; none if there is no such array.
    fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, String> {
        if self.zip.index_for_name(&format!("{name}.npy")).is_none() {
            return Ok(None);
        }
        let words = self.array(name)?.words();
        words.map(Some).ok_or_else(|| format!("the array `{name}` is damaged"))
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        Ok(self.texts(name)?.and_then(|mut words| words.pop()))
    }
}

/// Whether an entry of an archive begins at a place of a file: a signature, 22 bytes that the list has as well, the length of the name, and the name.
fn is_headed(file: &mut File, place: u64, name: &[u8]) -> std::io::Result<bool> {
    let mut head = [0; 30];
    file.seek(SeekFrom::Start(place))?;
    file.read_exact(&mut head)?;
    let mut found = vec![0; name.len()];
    file.read_exact(&mut found)?;
    let length = usize::from(u16::from_le_bytes([head[26], head[27]]));
    Ok(head.starts_with(b"PK\x03\x04") && length == name.len() && found == name)
}

/// An array that was written.
struct Array {
    kind: String,
    /// Columns, if there are two dimensions.
    width: usize,
    bytes: Vec<u8>,
}

impl Array {
    /// From the bytes of an NPY file.
    fn new(mut bytes: Vec<u8>) -> Option<Self> {
        // after the magic bytes and the version, the length of the header
        let length = u16::from_le_bytes(bytes.get(8..10)?.try_into().ok()?);
        let end = 10 + usize::from(length);
        let header = std::str::from_utf8(bytes.get(10..end)?).ok()?;
        let between = |from: &str, to: &str| Some(header.split_once(from)?.1.split_once(to)?.0);
        let kind = between("'descr': '", "'")?.to_owned();
        let sizes = between("'shape': (", ")")?.split(',').map(str::trim).filter(|size| !size.is_empty());
        let width = sizes.skip(1).map(str::parse).next().unwrap_or(Ok(1)).ok()?;
        bytes.drain(..end);
        Some(Self { kind, width, bytes })
    }

    fn words(&self) -> Option<Vec<String>> {
        let length: usize = self.kind.strip_prefix("<U")?.parse().ok().filter(|length| *length > 0)?;
        let letter = |point: &[u8]| char::from_u32(u32::from_le_bytes(point.try_into().ok()?));
        let word = |bytes: &[u8]| bytes.chunks_exact(4).map(letter).collect::<Option<String>>();
        let words = self.bytes.chunks_exact(length.checked_mul(4)?).map(word);
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
