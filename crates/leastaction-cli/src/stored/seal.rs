//! The checksum of a table: of the version that wrote it, its run and what stands in its columns, whatever kind of file it is in.
//! Files of builds that left the version out are read as well.
//!
//! Every column has a sum of its own, so that cells may come by rows or by columns. A cell is a number or a word; numbers that are none are
//! all the same, because a text does not tell them apart.

use leastaction::scalar::Checksum;

/// Sums of the columns so far.
pub(crate) struct Seal {
    run: Checksum,
    columns: Vec<Checksum>,
}

impl Seal {
    /// Of a table with these columns and nothing in them. Without a version it is that of older files.
    pub(crate) fn new<'a>(version: Option<&str>, run: &str, names: impl Iterator<Item = &'a str>) -> Self {
        let of = |text: &str| {
            let mut sum = Checksum::new();
            sum.add_bytes(text.as_bytes());
            sum
        };
        // blanks at its end are not kept by every kind of file
        let mut whole = of(run.trim_end());
        if let Some(version) = version {
            whole.add(of(version).value());
        }
        Self { run: whole, columns: names.map(of).collect() }
    }

    /// A number more in a column.
    pub(crate) fn number(&mut self, column: usize, x: f64) {
        let x = if x.is_nan() { f64::NAN } else { x };
        self.columns[column].add(x.to_bits());
    }

    /// A word more in a column.
    pub(crate) fn word(&mut self, column: usize, word: &str) {
        self.columns[column].add_bytes(word.as_bytes());
    }

    /// The sum of all, as it is written.
    pub(crate) fn close(&self) -> String {
        let mut sum = self.run;
        self.columns.iter().for_each(|column| sum.add(column.value()));
        format!("{:016x}", sum.value())
    }
}
