//! A system as text: everything a reader needs to know what is being simulated.

use super::{Start, System};
use crate::expr::{Names, NodeId, formula};
use std::fmt;

/// Formulas longer than this are not printed.
const MAX_FORMULA: usize = 160;
/// Longer lists are cut.
const MAX_LINES: usize = 12;

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({})", self.title, self.name)?;
        if !self.summary.is_empty() {
            writeln!(f, "  {}", self.summary)?;
        }
        self.write_parameters(f)?;
        self.write_start(f)?;
        self.write_formulas(f)?;
        self.write_structure(f)?;
        writeln!(
            f,
            "\ndefault run\n  method {}, step {}, until {}",
            self.defaults.method,
            with_unit(&self.defaults.step.to_string(), &self.time_unit),
            with_unit(&self.defaults.until.to_string(), &self.time_unit)
        )
    }
}

fn with_unit(value: &str, unit: &str) -> String {
    if unit.is_empty() { value.to_owned() } else { format!("{value} {unit}") }
}

/// Writes rows with their columns aligned, the last one free.
fn write_table(f: &mut fmt::Formatter<'_>, rows: &[Vec<String>]) -> fmt::Result {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows.iter().take(MAX_LINES) {
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(c, cell)| format!("{cell}{}", " ".repeat(widths[c].saturating_sub(cell.chars().count()))))
            .collect();
        writeln!(f, "  {}", cells.join("  ").trim_end())?;
    }
    if rows.len() > MAX_LINES {
        writeln!(f, "  … and {} more", rows.len() - MAX_LINES)?;
    }
    Ok(())
}

impl System {
    fn write_parameters(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self
            .sizes
            .iter()
            .map(|s| vec![s.name.clone(), s.value.to_string(), String::new(), s.meaning.clone()]);
        let parameters = self
            .parameters
            .iter()
            .map(|p| vec![p.name.clone(), p.value.to_string(), p.unit.clone(), p.meaning.clone()]);
        let rows: Vec<Vec<String>> = sizes.chain(parameters).collect();
        if !rows.is_empty() {
            writeln!(f, "\nparameters")?;
            write_table(f, &rows)?;
        }
        Ok(())
    }

    fn write_start(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (letter, list) = match &self.initial.start {
            Start::Velocities(list) => ("v", list),
            Start::Momenta(list) => ("p", list),
        };
        writeln!(f, "\ncoordinates and initial state")?;
        let rows: Vec<Vec<String>> = self
            .coordinates
            .iter()
            .zip(self.initial.q.iter().zip(list))
            .map(|(c, (q, start))| {
                let unit = if c.unit.is_empty() { String::new() } else { format!("[{}]", c.unit) };
                vec![
                    format!("{} = {q}", c.name),
                    format!("{letter}_{} = {start}", c.name),
                    unit,
                    c.meaning.clone(),
                ]
            })
            .collect();
        write_table(f, &rows)
    }

    fn formula(&self, node: NodeId) -> Option<String> {
        let coordinates = self.coordinate_names();
        let parameters: Vec<String> = self.parameters.iter().map(|p| p.name.clone()).collect();
        let names = Names { coordinates: &coordinates, parameters: &parameters };
        formula(&self.model.graph, node, names, MAX_FORMULA)
    }

    fn write_formulas(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = self.formula(self.model.lagrangian) {
            writeln!(f, "\nLagrangian\n  {text}")?;
        }
        if self.model.l_vv.len() > MAX_LINES {
            return Ok(());
        }
        let rows: Option<Vec<Vec<String>>> = self
            .model
            .l_vv
            .iter()
            .map(|entry| {
                let (row, column) = (&self.coordinates[entry.row].name, &self.coordinates[entry.column].name);
                Some(vec![format!("{row}, {column}"), self.formula(entry.node)?])
            })
            .collect();
        if let Some(rows) = rows {
            writeln!(f, "\nmass matrix (entries not shown follow by symmetry or are zero)")?;
            write_table(f, &rows)?;
        }
        Ok(())
    }

    fn write_structure(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = self.structure();
        let n = self.n();
        let mut facts = Vec::new();
        facts.push(if s.autonomous {
            "time does not occur: the energy is conserved".to_owned()
        } else {
            "time occurs: the energy is not conserved".to_owned()
        });
        for &i in s.cyclic.iter().take(MAX_LINES) {
            let name = &self.coordinates[i].name;
            facts.push(format!("{name} does not occur: its momentum p_{name} is conserved"));
        }
        facts.push(
            match (s.constant_mass, s.quadratic) {
                (true, _) => "the mass matrix is constant",
                (false, true) => "the mass matrix depends on the coordinates",
                (false, false) => "the Lagrangian is not quadratic in the velocities",
            }
            .to_owned(),
        );
        facts.push(
            if s.separable { "separable: L = T(v) - V(q)" } else { "not separable: q and v are coupled" }
                .to_owned(),
        );
        facts.push(format!(
            "second derivatives: {} of {} coordinate pairs are coupled, bandwidth {}",
            s.nonzeros,
            n * n,
            s.ordering.bandwidth
        ));
        if s.groups > 1 {
            facts.push(format!(
                "the coordinates fall into {} groups that do not influence each other",
                s.groups
            ));
        }
        facts.push(format!(
            "instructions: {} for the gradient, {} with second derivatives",
            self.model.gradient_tape().len(),
            self.model.hessian_tape().len()
        ));
        writeln!(f, "\nwhat the graph knows")?;
        for fact in facts {
            writeln!(f, "  {fact}")?;
        }
        Ok(())
    }
}
