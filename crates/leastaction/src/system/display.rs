//! A system as text: everything a reader needs to know what is being simulated, on a page or so whatever its size.

use super::System;
use super::describe::{Description, Listed};
use std::fmt;

/// Longer lists are cut.
const MOST_LINES: usize = 12;
/// What is shown of a list that is cut.
const FEW_LINES: usize = 4;
/// Formulas are broken into lines of about this width.
const WIDTH: usize = 110;

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(MOST_LINES).fmt(f)
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({})", self.title, self.name)?;
        if !self.summary.is_empty() {
            writeln!(f, "  {}", self.summary)?;
        }
        self.write_givens(f)?;
        self.write_formulas(f)?;
        self.write_conserved(f)?;
        self.write_graph(f)
    }
}

fn with_unit(value: &str, unit: &str) -> String {
    if unit.is_empty() { value.to_owned() } else { format!("{value} {unit}") }
}

/// Writes rows with their columns aligned, and how many more there are.
fn write_table<T>(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    list: &Listed<T>,
    row: impl Fn(&T) -> Vec<String>,
) -> fmt::Result {
    if list.count == 0 {
        return Ok(());
    }
    writeln!(f, "\n{title}")?;
    let shown = if list.is_cut() || list.first.len() > MOST_LINES { FEW_LINES } else { MOST_LINES };
    let rows: Vec<Vec<String>> = list.first.iter().take(shown).map(row).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(c, cell)| format!("{cell}{}", " ".repeat(widths[c].saturating_sub(cell.chars().count()))))
            .collect();
        writeln!(f, "  {}", cells.join("  ").trim_end())?;
    }
    if rows.len() < list.count {
        writeln!(f, "  … and {} more", list.count - rows.len())?;
    }
    Ok(())
}

/// Writes `name = formula`, broken between terms, and a remark.
fn write_formula(f: &mut fmt::Formatter<'_>, name: &str, formula: &str, remark: &str) -> fmt::Result {
    let indent = 2 + name.chars().count();
    let mut width = indent + 3;
    write!(f, "  {name} = ")?;
    let mut first = true;
    // a long product of a sum is broken inside
    let outer = terms(formula, 0);
    let fits = |term: &&str| indent + 3 + term.chars().count() <= WIDTH;
    for term in if outer.iter().all(fits) { outer } else { terms(formula, 1) } {
        let length = term.chars().count();
        if !first && width + length > WIDTH {
            write!(f, "\n{}", " ".repeat(indent + 2))?;
            width = indent + 2;
        }
        write!(f, "{term}")?;
        width += length;
        first = false;
    }
    writeln!(f, "{remark}")
}

/// The terms of a formula with the signs before them: breaks at ` + ` and ` - ` inside at most so many parentheses.
fn terms(formula: &str, deepest: i32) -> Vec<&str> {
    let (mut list, mut start, mut depth) = (Vec::new(), 0, 0i32);
    for (i, c) in formula.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        let sign = [" + ", " - "].iter().any(|sign| formula[i..].starts_with(sign));
        if depth <= deepest && sign && i > start {
            list.push(&formula[start..i]);
            start = i;
        }
    }
    list.push(&formula[start..]);
    list
}

impl Description {
    fn write_givens(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_table(f, "parameters", &self.parameters, |p| {
            vec![p.name.clone(), p.value.clone(), p.unit.clone(), p.meaning.clone()]
        })?;
        write_table(f, "coordinates and initial state", &self.coordinates, |c| {
            let unit = if c.unit.is_empty() { String::new() } else { format!("[{}]", c.unit) };
            vec![
                format!("{} = {}", c.name, c.initial),
                format!("{}_{} = {}", c.given, c.name, c.start),
                unit,
                c.meaning.clone(),
            ]
        })?;
        let run = &self.run;
        let (step, until) = (with_unit(&run.step, &run.unit), with_unit(&run.until, &run.unit));
        writeln!(f, "\ndefault run\n  method {}, step {step}, until {until}", run.method)
    }

    fn write_formulas(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nLagrangian")?;
        write_formula(f, "L", &self.lagrangian.formula, "")?;
        for part in &self.lagrangian.parts {
            write_formula(f, &part.name, &part.formula, "")?;
        }
        match self.equal_mass.as_deref() {
            Some("1") => writeln!(f, "\nmass matrix\n  the unit matrix")?,
            Some(mass) => writeln!(f, "\nmass matrix\n  {mass} times the unit matrix")?,
            None => {
                let title = "mass matrix (entries not shown follow by symmetry or are zero)";
                write_table(f, title, &self.mass_matrix, |entry| {
                    vec![format!("{}, {}", entry.row, entry.column), entry.formula.clone()]
                })?;
            }
        }
        writeln!(f, "\nmomenta")?;
        let shown = if self.momenta.is_cut() { FEW_LINES } else { MOST_LINES };
        for momentum in self.momenta.first.iter().take(shown) {
            write_formula(f, &momentum.name, &momentum.formula, "")?;
        }
        if shown < self.momenta.count {
            writeln!(f, "  … and {} more", self.momenta.count - shown)?;
        }
        Ok(())
    }

    fn write_conserved(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nconserved quantities")?;
        let shown = if self.conserved.is_cut() { FEW_LINES } else { MOST_LINES };
        for quantity in self.conserved.first.iter().take(shown) {
            let why = format!("   ({})", quantity.why);
            if quantity.formula == quantity.name {
                writeln!(f, "  {}{why}", quantity.name)?;
            } else {
                write_formula(f, &quantity.name, &quantity.formula, &why)?;
            }
        }
        if shown < self.conserved.count {
            writeln!(f, "  … and {} more", self.conserved.count - shown)?;
        }
        if !self.graph.autonomous {
            writeln!(f, "  not the energy   (time occurs)")?;
        }
        Ok(())
    }

    fn write_graph(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (graph, n) = (&self.graph, self.coordinates.count);
        writeln!(f, "\nwhat the graph knows")?;
        let mass = match (graph.constant_mass, graph.quadratic) {
            (true, _) => "the mass matrix is constant",
            (false, true) => "the mass matrix depends on the coordinates",
            (false, false) => "the Lagrangian is not quadratic in the velocities",
        };
        writeln!(f, "  {mass}")?;
        let separable =
            if graph.separable { "separable: L = T(v) - V(q)" } else { "not separable: q and v are coupled" };
        writeln!(f, "  {separable}")?;
        writeln!(
            f,
            "  second derivatives: {} of {} coordinate pairs are coupled, bandwidth {}",
            graph.coupled,
            n * n,
            graph.bandwidth
        )?;
        if graph.groups > 1 {
            writeln!(
                f,
                "  the coordinates fall into {} groups that do not influence each other",
                graph.groups
            )?;
        }
        writeln!(
            f,
            "  instructions: {} for the gradient, {} with second derivatives",
            graph.gradient_instructions, graph.hessian_instructions
        )
    }
}
