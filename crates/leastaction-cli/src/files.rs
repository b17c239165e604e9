//! Whether a source is a name or a file, and the [`Run`] of either.

use crate::Ending;
use leastaction::prelude::Run;
use std::path::Path;

/// Whether a source is meant as a file rather than as a name.
pub(crate) fn is_file(source: &str) -> bool {
    source.contains(['/', '\\', '.']) || Path::new(source).is_file()
}

/// The run of a system's name or of a file.
pub(crate) fn run(source: &str) -> Result<Run, Ending> {
    if is_file(source) { Ok(Run::open(Path::new(source))?) } else { Ok(Run::of(source)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_files_are_told_apart() {
        assert!(is_file("run.toml") && is_file("./x") && !is_file("double-pendulum"));
    }
}
