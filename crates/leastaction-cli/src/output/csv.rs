//! CSV: the run as comment lines, a header, a row for each recorded state. Numbers read back to the same bits.

use super::Columns;
use leastaction::error::number;
use leastaction::simulate::Recording;
use std::io::{Result, Write};

pub(super) fn write(file: &mut impl Write, columns: &Columns, recording: &Recording) -> Result<()> {
    writeln!(file, "# leastaction {}", env!("CARGO_PKG_VERSION"))?;
    for line in columns.run.lines() {
        writeln!(file, "# {line}")?;
    }
    writeln!(file, "{}", columns.names.join(","))?;
    let n = recording.n;
    for row in 0..recording.len() {
        write!(file, "{}", number(recording.t[row]))?;
        for list in [&recording.q, &recording.v, &recording.p] {
            for x in &list[row * n..(row + 1) * n] {
                write!(file, ",{}", number(*x))?;
            }
        }
        writeln!(file, ",{}", number(recording.energy[row]))?;
    }
    Ok(())
}
