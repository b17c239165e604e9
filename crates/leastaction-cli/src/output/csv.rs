//! CSV: the run as comment lines, a header, a row for each state or event. Numbers read back to the same bits.

use super::table::Table;
use crate::stored::csv::{CHECKSUM, TITLE};
use leastaction::error::number;
use std::io::{Result, Write};

pub(super) fn write(file: &mut impl Write, table: &Table<'_>) -> Result<()> {
    comments(file, &table.run, Some(&table.seal()))?;
    let words = table.words.as_ref();
    let names: Vec<&str> = words.map(|(name, _)| *name).into_iter().chain(table.names()).collect();
    writeln!(file, "{}", names.join(","))?;
    for row in 0..table.rows {
        let mut gap = "";
        if let Some((_, words)) = words {
            write!(file, "{}", words[row])?;
            gap = ",";
        }
        for x in table.blocks.iter().flat_map(|block| block.row(row)) {
            write!(file, "{gap}{}", number(*x))?;
            gap = ",";
        }
        writeln!(file)?;
    }
    Ok(())
}

/// The version, the checksum, and the run, from which it can be repeated.
pub(super) fn comments(file: &mut impl Write, run: &str, seal: Option<&str>) -> Result<()> {
    let seal = seal.map(|seal| format!("{CHECKSUM}{seal}")).unwrap_or_default();
    writeln!(file, "{TITLE}{}{seal}", env!("CARGO_PKG_VERSION"))?;
    run.lines().try_for_each(|line| writeln!(file, "# {line}"))
}

/// A name in a header: in quotes where it would be taken for several.
pub(super) fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
