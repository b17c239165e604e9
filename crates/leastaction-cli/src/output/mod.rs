//! Files: recorded states and events as CSV, NPZ or Parquet, pictures as SVG or PNG. Every table carries its run.
//!
//! A file appears whole or not at all: it is written beside its place and then moved there.

mod csv;
pub(crate) mod journal;
mod members;
mod npz;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
mod points;
mod table;

use crate::Ending;
use crate::figure::{Figure, to_png, to_svg};
use crate::stored::extension;
use leastaction::simulate;
pub(crate) use members::{Heading, write_members};
pub(crate) use points::Points;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
#[cfg(unix)]
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
pub(crate) use table::Table;

pub(crate) const TABLES: &str =
    if cfg!(feature = "parquet") { ".csv, .npz or .parquet" } else { ".csv or .npz" };

/// Checks that a table can be written, before anything is computed.
pub(crate) fn check_table(path: &Path) -> Result<(), Ending> {
    check_kind(path).and_then(|()| check_folder(path))
}

/// Checks that there are tables of a kind.
pub(crate) fn check_kind(path: &Path) -> Result<(), Ending> {
    match extension(path).as_str() {
        "csv" | "npz" => Ok(()),
        "parquet" if cfg!(feature = "parquet") => Ok(()),
        "parquet" => Err(Ending::BadInput(format!(
            "`{}`: this build cannot write Parquet\n  try .npz, or build with `--features parquet`",
            path.display()
        ))),
        _ => Err(Ending::BadInput(format!("`{}`: unknown kind of table; try {TABLES}", path.display()))),
    }
}

/// Checks that a picture can be written, before anything is computed.
pub(crate) fn check_picture(path: &Path) -> Result<(), Ending> {
    match extension(path).as_str() {
        "svg" | "png" => check_folder(path),
        _ => {
            Err(Ending::BadInput(format!("`{}`: unknown kind of picture; try .svg or .png", path.display())))
        }
    }
}

pub(crate) fn check_folder(path: &Path) -> Result<(), Ending> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        return Err(Ending::BadInput(format!("`{}` is a folder; name a file in it", path.display())));
    }
    #[cfg(unix)]
    if std::fs::metadata(path).is_ok_and(|data| data.file_type().is_fifo() || data.file_type().is_socket()) {
        // it would wait for a reader, and a file cannot be moved to its place
        return Err(Ending::BadInput(format!(
            "`{}` is a pipe, and results are written to files that appear whole\n  name a file",
            path.display()
        )));
    }
    if std::fs::metadata(path).is_ok_and(|data| data.permissions().readonly()) {
        return Err(Ending::BadInput(format!(
            "`{}` exists and is read-only; name another file",
            path.display()
        )));
    }
    match std::fs::metadata(folder) {
        Ok(data) if !data.is_dir() => {
            Err(Ending::BadInput(format!("`{}` is not a folder", folder.display())))
        }
        Ok(data) if data.permissions().readonly() => {
            Err(Ending::BadInput(format!("the folder `{}` cannot be written to", folder.display())))
        }
        Ok(_) => Ok(()),
        Err(error) => Err(Ending::BadInput(format!("the folder of `{}`: {error}", path.display()))),
    }
}

/// Tries whether a file can be made where a result is to be written: permissions do not tell of file systems that can only be read, or of others'
/// folders, and a run that lasts for days should not end with that.
pub(crate) fn try_place(path: &Path) -> Result<(), Ending> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // a device has no need of a folder
    if path.exists() && !path.is_file() {
        return Ok(());
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".leastaction-try-{}", std::process::id()));
    let trial = path.with_file_name(name);
    let made = File::options().write(true).create_new(true).open(&trial);
    let _ = std::fs::remove_file(&trial);
    match made {
        // a name that is too long for the trial may be short enough itself
        Err(error) if !matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::InvalidFilename) => {
            Err(Ending::BadInput(format!(
                "cannot write `{}`: {error}\n  try another place with --out or --plot",
                path.display()
            )))
        }
        _ => Ok(()),
    }
}

pub(crate) fn write_table(path: &Path, table: &Table<'_>) -> Result<(), String> {
    write_whole(path, |file| match extension(path).as_str() {
        #[cfg(feature = "parquet")]
        "parquet" => parquet::write(file, table),
        "npz" => npz::write(file, table),
        _ => csv::write(file, table),
    })
}

/// The points of a section, with the run and what is varied.
pub(crate) fn write_points(path: &Path, points: &Points<'_>) -> Result<(), String> {
    write_whole(path, |file| points.write(file))
}

/// Checks that the points of a section can be written, before anything is computed.
pub(crate) fn check_points(path: &Path) -> Result<(), Ending> {
    match extension(path).as_str() {
        "csv" => check_folder(path),
        _ => Err(Ending::BadInput(format!("`{}`: points are written as .csv", path.display()))),
    }
}

/// A picture as it stands in a file with this ending.
pub(crate) fn picture(path: &Path, figure: &Figure) -> Result<Vec<u8>, String> {
    Ok(if extension(path) == "png" { to_png(figure, 2.0)? } else { to_svg(figure).into_bytes() })
}

pub(crate) fn write_picture(path: &Path, figure: &Figure) -> Result<(), String> {
    write_bytes(path, &picture(path, figure)?)
}

pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), String> {
    write_whole(path, |file| file.write_all(bytes))
}

/// Writes beside the path and moves the file there when it is complete.
fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> std::io::Result<()>,
) -> Result<(), String> {
    let buffered = |file: &mut File| {
        let mut file = BufWriter::with_capacity(1 << 16, file);
        write(&mut file)?;
        file.flush()
    };
    // a device is written to; moving a file there would replace it
    let written = if path.exists() && !path.is_file() {
        File::options().write(true).open(path).and_then(|mut device| buffered(&mut device))
    } else {
        simulate::write_whole(path, buffered).map(drop)
    };
    written.map_err(|error| {
        format!("cannot write `{}`: {error}\n  try another place with --out or --plot", path.display())
    })
}
