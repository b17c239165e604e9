//! NPZ, read: an archive of arrays, stored without compression.

use super::npy::Array;
use super::{Cells, Stored, Words, archive};
use std::fs::File;
use std::io::Read;
use zip::ZipArchive;

/// Arrays that describe the others.
const ABOUT: [&str; 5] = ["run", "coordinates", "statuses", "checksum", "leastaction"];

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
        let Some(numbers) = array.numbers() else {
            let words = array.words().ok_or_else(damaged)?;
            columns.push((name.clone(), Cells::Words(Words::of(words.iter().map(String::as_str))?)));
            continue;
        };
        if name == "status" && !statuses.is_empty() {
            let word = |code: &f64| {
                statuses
                    .iter()
                    .zip(0u8..)
                    .find(|(_, at)| f64::from(*at) == *code)
                    .map(|(word, _)| word.as_str())
            };
            let words: Option<Vec<&str>> = numbers.iter().map(word).collect();
            columns.push((name.clone(), Cells::Words(Words::of(words.ok_or_else(damaged)?)?)));
            continue;
        }
        let width = array.width();
        let wide = ["q", "v", "p"].contains(&name.as_str()) && width == coordinates.len();
        if !wide {
            columns.push((name.clone(), Cells::Numbers(numbers)));
            continue;
        }
        let prefix = if name == "q" { String::new() } else { format!("{name}_") };
        for (k, coordinate) in coordinates.iter().enumerate() {
            let column = numbers.iter().skip(k).step_by(width).copied().collect();
            columns.push((format!("{prefix}{coordinate}"), Cells::Numbers(column)));
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
    fn open(mut file: File) -> Result<Self, String> {
        let left = file.metadata().map_err(|error| error.to_string())?.len();
        archive::check(&mut file)?;
        let zip = ZipArchive::new(file).map_err(|error| format!("it is no NPZ file, or cut off: {error}"))?;
        Ok(Self { zip, left })
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
        let array = Array::new(bytes).map_err(|why| format!("the array `{name}` {why}"))?;
        let flat = array.is_flat().then_some(array);
        flat.ok_or_else(|| {
            format!("the array `{name}` has more than two dimensions; arrays of a table have one or two")
        })
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
