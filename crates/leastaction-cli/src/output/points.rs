//! CSV of the points of a section: a row for each, with what distinguishes its orbit.

use super::csv::{comments, quoted};
use leastaction::analysis::{Orbit, SectionPlan};
use leastaction::error::number;
use std::io::{Result, Write};

/// The orbits of a section.
pub(crate) struct Points<'a> {
    pub(crate) plan: &'a SectionPlan,
    pub(crate) orbits: &'a [Orbit],
    /// The run as TOML.
    pub(crate) run: String,
    /// Names of the outputs of the run.
    pub(crate) outputs: Vec<String>,
}

impl Points<'_> {
    pub(super) fn write(&self, file: &mut impl Write) -> Result<()> {
        comments(file, &self.run, None)?;
        let varied = self.plan.names.iter().map(|name| quoted(name));
        let axes = self.plan.axes.iter().map(|axis| quoted(axis));
        let names: Vec<String> = ["orbit".to_owned()]
            .into_iter()
            .chain(varied)
            .chain(["t".to_owned()])
            .chain(axes)
            .chain(self.outputs.iter().cloned())
            .collect();
        writeln!(file, "{}", names.join(","))?;
        for (index, (start, orbit)) in self.plan.starts.iter().zip(self.orbits).enumerate() {
            let values: String =
                start.values.iter().map(|value| format!(",{}", quoted(&value.to_string()))).collect();
            let width = self.outputs.len();
            for (row, (t, [x, y])) in orbit.t.iter().zip(&orbit.points).enumerate() {
                write!(file, "{}{values},{},{},{}", index + 1, number(*t), number(*x), number(*y))?;
                for output in orbit.outputs.iter().skip(row * width).take(width) {
                    write!(file, ",{}", number(*output))?;
                }
                writeln!(file)?;
            }
        }
        Ok(())
    }
}
