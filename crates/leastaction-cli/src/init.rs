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
    if path.file_stem().is_none_or(|stem| stem.is_empty()) {
        return Err(Ending::BadInput(format!("`{}` is not a name for a file", flags.name)));
    }
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
    output::write_text(path, &text).map_err(Ending::Failed)?;
    say(&format!("wrote {file}\n  try `leastaction simulate {file}`"));
    Ok(())
}
