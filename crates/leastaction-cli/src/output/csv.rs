//! CSV: the run as comment lines, a header, a row for each recorded state. Numbers read back to the same bits.

use super::Columns;
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
        write!(file, "{}", recording.t[row])?;
        for list in [&recording.q, &recording.v, &recording.p] {
            for x in &list[row * n..(row + 1) * n] {
                // the shorter of the two notations; both read back to the same bits
                if *x == 0.0 || (1e-4..1e15).contains(&x.abs()) {
                    write!(file, ",{x}")?
                } else {
                    write!(file, ",{x:e}")?
                }
            }
        }
        writeln!(file, ",{}", recording.energy[row])?;
    }
    Ok(())
}
