//! Files that describe runs and systems, from their path to a [`Run`]. Nothing else in the library reads files.
//!
//! A TOML file with `system` is a run, one with `coordinates` and `[lagrangian]` a system; a table that the command wrote
//! carries its run in comments. A run may name a system file, by a path from its own folder.

use super::Run;
use crate::error::{Diagnostic, Error, Result, Source};
use crate::system::{MAX_FILE, catalogue};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

impl Run {
    /// The run that a file describes.
    pub fn open(path: &Path) -> Result<Self> {
        // a table made by the command carries its run in comments, after a line with the version
        if is_table(path) {
            let text = &read(path)?.text;
            let comments = text.lines().skip(1);
            let text: Vec<&str> = comments.map(|line| line.strip_prefix("# ").unwrap_or("")).collect();
            let source = Source::new(format!("{} (the run in it)", path.display()), text.join("\n"));
            return Self::read(&stem(path), &source);
        }
        let text = read(path)?;
        let mut own = Self::read(&stem(path), &text)?;
        // a list is named by a path from the folder of the file that names it
        if let Some(list) = own.ensemble.as_mut().and_then(|ensemble| ensemble.list.as_mut()) {
            *list = path.parent().unwrap_or(Path::new("")).join(&*list).to_string_lossy().into_owned();
        }
        if own.definition.is_some() {
            return Ok(own);
        }
        let wrong = |message: String| Self::locate_system(&text, Error::BadStudy { message });
        if !is_file_name(&own.system) {
            let known = catalogue::ENTRIES.iter().any(|entry| entry.name == own.system);
            if !known && let Err(error) = catalogue::system(&own.system) {
                return Err(Self::locate_system(&text, error));
            }
            return Ok(own);
        }
        let other = path.parent().unwrap_or(Path::new("")).join(&own.system);
        if let Err(error) = std::fs::metadata(&other) {
            return Err(wrong(format!("cannot read the system's file `{}`: {error}", other.display())));
        }
        let base = Self::read(&stem(&other), &read(&other)?)?;
        if base.definition.is_none() {
            return Err(wrong(format!(
                "the system `{}` is a file that describes a run itself\nname a file that defines a system, with coordinates and [lagrangian]",
                own.system
            )));
        }
        Ok(own.over(base))
    }
}

/// Whether the system of a run file is a file.
fn is_file_name(system: &str) -> bool {
    system.contains(['/', '\\', '.'])
}

/// The name of a file without folder and extension.
fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "system".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"))
}

/// Whether a path is a pipe or a socket that nobody may write to. Those of this process have somebody at the other end.
fn waits(path: &Path) -> bool {
    let is_own = ["/dev/stdin", "/dev/fd", "/proc"].iter().any(|own| path.starts_with(own));
    #[cfg(unix)]
    let is_pipe = std::fs::metadata(path).is_ok_and(|data| {
        use std::os::unix::fs::FileTypeExt;
        data.file_type().is_fifo() || data.file_type().is_socket()
    });
    #[cfg(not(unix))]
    let is_pipe = false;
    is_pipe && !is_own
}

/// The text of a file, of a table its comments; what is not text is shown.
fn read(path: &Path) -> Result<Arc<Source>> {
    let name = path.display().to_string();
    let cannot = |error| Error::BadStudy { message: format!("cannot read `{name}`: {error}") };
    if waits(path) {
        let message = format!(
            "cannot read `{name}`: it is no regular file\n  give the path of a file; what comes through a pipe is read from /dev/stdin"
        );
        return Err(Error::BadStudy { message });
    }
    let mut bytes = Vec::new();
    // a device may never end
    let file = File::open(path).map_err(cannot)?;
    file.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if is_table(path) {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').take_while(|line| line.starts_with(b"#"));
        let comments = lines.map(<[u8]>::len).sum();
        bytes.truncate(comments);
    }
    if bytes.len() > MAX_FILE {
        let source = Source::new(name, String::new());
        let title = format!("the file has more than {} MB", MAX_FILE / 1_000_000);
        return Err(Diagnostic::new(&source, 0..0, title)
            .help("write repeated terms with sum and list")
            .into());
    }
    String::from_utf8(bytes).map(|text| Source::new(name.clone(), text.replace("\r\n", "\n"))).map_err(
        |error| {
            let at = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            Diagnostic::new(&Source::new(name, text), at..at + 3, "the file is not text in UTF-8")
                .label("not a character")
                .help("save it as UTF-8")
                .into()
        },
    )
}
