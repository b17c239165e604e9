//! A certificate as one page of text: a line for every property, what to do beneath those that are not as they should be, and a
//! table of what would do for the energy error asked for.

use super::{Candidate, Certificate, Verdict, digits};
use std::fmt;

/// At most so many momenta are listed.
const MOST_MOMENTA: usize = 6;
/// Where the text of a row begins.
const INDENT: usize = 24;

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.time_unit.is_empty() { String::new() } else { format!(" {}", self.time_unit) };
        writeln!(
            f,
            "{} with {}, step {}{unit}, {} steps to t = {}{unit}\n",
            self.title,
            self.method,
            digits(self.step),
            self.steps,
            digits(self.t_end)
        )?;
        let mut momenta = 0;
        for (name, verdict, finding, advice) in self.rows() {
            if name == "momentum" {
                momenta += 1;
                if momenta > MOST_MOMENTA && verdict == Verdict::Pass {
                    continue;
                }
            }
            if name == "energy" {
                self.rest_of_momenta(f)?;
            }
            writeln!(f, "  {verdict:<4}  {name:<14}  {finding}")?;
            for line in advice.iter().flat_map(|advice| advice.lines()) {
                writeln!(f, "{:INDENT$}{}", "", line.trim())?;
            }
        }
        self.recommendation(f)?;
        for note in &self.notes {
            writeln!(f, "\nnote: {note}")?;
        }
        match self.verdict {
            Verdict::Fail => write!(f, "\nFAIL: {}", self.failed.join(", ")),
            _ => write!(f, "\nPASS"),
        }
    }
}

impl Certificate {
    /// What is not listed of the momenta.
    fn rest_of_momenta(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = "momentum";
        if self.momenta.is_empty() {
            return writeln!(f, "  {:<4}  {name:<14}  none is conserved", Verdict::NotApplicable);
        }
        let rest = self.momenta.iter().skip(MOST_MOMENTA).filter(|m| m.verdict == Verdict::Pass).count();
        if rest > 0 {
            writeln!(f, "  {:<4}  {name:<14}  and {rest} more", Verdict::Pass)?;
        }
        Ok(())
    }

    fn recommendation(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = &self.recommendation;
        writeln!(f, "\nfor a relative energy error of {:e}", found.energy_error)?;
        if !found.candidates.is_empty() {
            let head = ["method", "step", "steps", "evaluations", "energy error"].map(str::to_owned);
            let row = |c: &Candidate, name: &str| {
                let error = format!("{:.1e}", c.energy_error);
                [
                    name.to_owned(),
                    format!("{:.12}", Short(c.step)),
                    c.steps.to_string(),
                    c.evaluations.to_string(),
                    error,
                ]
            };
            let mut rows = vec![head];
            rows.extend(found.candidates.iter().map(|c| row(c, &c.method)));
            rows.extend(found.own.iter().map(|c| row(c, &format!("{} (this run)", c.method))));
            let width = |i: usize| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
            for row in &rows {
                let cells: Vec<String> =
                    (0..row.len()).map(|i| format!("{:<width$}", row[i], width = width(i))).collect();
                writeln!(f, "  {}", cells.join("  ").trim_end())?;
            }
        }
        for note in &found.notes {
            writeln!(f, "  {note}")?;
        }
        Ok(())
    }
}

/// A number with so many significant digits as its precision says.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(6);
        let rounded: f64 = format!("{:.*e}", digits - 1, self.0).parse().unwrap_or(self.0);
        f.write_str(&crate::error::number(rounded))
    }
}
