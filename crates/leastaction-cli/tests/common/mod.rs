//! Running the built command in a folder of its own.

#![allow(dead_code)]

pub(crate) mod footers;

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that is removed when the test ends.
pub(crate) struct Folder {
    path: PathBuf,
}

/// What a run of the command gave.
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Names and bytes of what fuzzing kept for a target.
pub(crate) fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.unwrap();
        (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
    };
    std::fs::read_dir(folder).unwrap().map(read).collect()
}

/// The built command.
pub(crate) fn leastaction() -> Command {
    Command::new(env!("CARGO_BIN_EXE_leastaction"))
}

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("leastaction-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self { path }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Runs the command with arguments separated by spaces.
    pub(crate) fn run(&self, arguments: &str) -> Output {
        let output =
            leastaction().current_dir(&self.path).args(arguments.split_whitespace()).output().unwrap();
        Output {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
