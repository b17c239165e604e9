//! `leastaction init NAME`: a file that defines a system, to start from.

use crate::arguments::InitFlags;
use crate::{Ending, output, say};
use leastaction::prelude::catalogue;
use std::path::Path;

/// A pendulum on a spring, with comments.
const STARTER: &str = include_str!("starter.toml");

pub(crate) fn init(flags: &InitFlags) -> Result<(), Ending> {
    let file = match flags.name.strip_suffix(".toml") {
        Some(_) => flags.name.clone(),
        None => format!("{}.toml", flags.name),
    };
    let path = Path::new(&file);
    // `.toml` has no name, only an ending
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if matches!(stem.trim(), "" | ".toml") || flags.name.ends_with(['/', '\\']) {
        return Err(Ending::BadInput(format!(
            "`{}` is not a name for a file\n  try `leastaction init mine`, which writes mine.toml",
            flags.name
        )));
    }
    output::check_folder(path)?;
    let text = match &flags.from {
        None => STARTER.replace("FILE", &file),
        Some(name) => {
            // an unknown name is an error with a hint
            catalogue::system(name)?;
            catalogue::text(name).unwrap_or(STARTER).to_owned()
        }
    };
    if path.exists() && !flags.force {
        return Err(Ending::BadInput(format!(
            "`{file}` exists\n  try another name, or --force to overwrite it"
        )));
    }
    output::write_bytes(path, text.as_bytes()).map_err(Ending::Failed)?;
    say(&format!("wrote {file}\n  try `leastaction simulate {file}`"));
    Ok(())
}
