//! CSV: the run as comment lines, a header, a row for each recorded state. Numbers read back to the same bits.

use super::Columns;
use leastaction::simulate::Recording;
use std::fmt;
use std::io::{Result, Write};

pub(super) fn write(file: &mut impl Write, columns: &Columns, recording: &Recording) -> Result<()> {
    writeln!(file, "# leastaction {}", env!("CARGO_PKG_VERSION"))?;
    for line in columns.run.lines() {
        writeln!(file, "# {line}")?;
    }
    writeln!(file, "{}", columns.names.join(","))?;
    let n = recording.n;
    for row in 0..recording.len() {
        write!(file, "{}", Number(recording.t[row]))?;
        for list in [&recording.q, &recording.v, &recording.p] {
            for x in &list[row * n..(row + 1) * n] {
                write!(file, ",{}", Number(*x))?;
            }
        }
        writeln!(file, ",{}", Number(recording.energy[row]))?;
    }
    Ok(())
}

/// A number in the shorter of two notations; both read back to the same bits.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x = self.0;
        if x == 0.0 || (1e-4..1e15).contains(&x.abs()) { write!(f, "{x}") } else { write!(f, "{x:e}") }
    }
}
