//! Files that are there whole or not at all.

use super::keeper::is_at;
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Writes a file beside its place, syncs it and moves it there. It stays locked as long as the result lives. What a process that was killed has
/// left beside the place is written over.
pub fn write_whole(path: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<File> {
    // a link is followed, not replaced
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let part = beside(&path);
    let mut file = open(&part)?;
    let written = file
        .set_len(0)
        .and_then(|()| write(&mut file))
        .and_then(|()| keep_mode(&path, &file))
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&part, &path));
    if let Err(error) = written {
        // if that fails it is written over next time
        let _ = std::fs::remove_file(&part);
        return Err(error);
    }
    // the folder's entry as well; not all systems can
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(file)
}

/// A file that no other process writes.
fn open(part: &Path) -> Result<File> {
    loop {
        // what a link points to is not to be written over
        if part.is_symlink() {
            std::fs::remove_file(part)?;
        }
        // a pipe would wait for a reader
        if std::fs::metadata(part).is_ok_and(|data| !data.is_file()) {
            return Err(std::io::Error::other(format!("`{}` is no regular file; remove it", part.display())));
        }
        let file = File::options().write(true).create(true).truncate(false).open(part)?;
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(std::io::Error::new(ErrorKind::ResourceBusy, "another process is writing it"));
        }
        // another process may have moved it to its place before it was locked
        if is_at(&file, part) {
            return Ok(file);
        }
    }
}

/// Who may read and write a file does not change when it is replaced.
fn keep_mode(path: &Path, file: &File) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(old) => file.set_permissions(old.permissions()),
        Err(_) => Ok(()),
    }
}

/// Where a file is written before it is moved to its place.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".leastaction-new");
    path.with_file_name(name)
}
