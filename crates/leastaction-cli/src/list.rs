//! `leastaction systems` and `leastaction methods`: the catalogue and the registry, as a table for people, as JSON for
//! programs, or as Markdown for the book.

use crate::arguments::Format;
use crate::{Ending, print};
use leastaction::prelude::*;
use leastaction::system::catalogue::ENTRIES;

pub(crate) fn systems(format: Format) -> Result<(), Ending> {
    let mut rows = Vec::new();
    for entry in ENTRIES {
        let system = catalogue::system(entry.name)?;
        let sizes: Vec<String> = entry.sizes.iter().map(|size| format!("any {}", size.name)).collect();
        let count = if sizes.is_empty() { system.n().to_string() } else { sizes.join(", ") };
        let parameters: Vec<&str> = system.parameters.iter().map(|p| p.name.as_str()).collect();
        let parameters = if parameters.len() > 6 {
            format!("{}, …", parameters[..5].join(", "))
        } else {
            parameters.join(", ")
        };
        rows.push(vec![system.name.clone(), count, parameters, system.summary.clone()]);
    }
    write(format, &["system", "coordinates", "parameters", "what it is"], &rows)
}

pub(crate) fn methods(format: Format) -> Result<(), Ending> {
    let mut rows = Vec::new();
    for m in Method::all() {
        let name = if m.aliases.is_empty() {
            m.name.clone()
        } else {
            format!("{} = {}", m.name, m.aliases.join(" = "))
        };
        let limit = m.stability_limit()?;
        // rounded down, so that what is printed is stable
        let below = format!("{:.3}", (limit * 1e3).floor() / 1e3);
        let limit = if limit.is_finite() { below } else { "none".to_owned() };
        rows.push(vec![name, m.order.to_string(), limit, m.description(), m.reference.to_owned()]);
    }
    write(format, &["method", "order", "limit of ωh", "basis and quadrature", "reference"], &rows)
}

fn write(format: Format, header: &[&str], rows: &[Vec<String>]) -> Result<(), Ending> {
    match format {
        Format::Table => print(&table(header, rows)),
        Format::Markdown => print(&markdown(header, rows)),
        Format::Json => {
            let objects: Vec<serde_json::Map<String, serde_json::Value>> = rows
                .iter()
                .map(|row| {
                    let pair = |(key, value): (&&str, &String)| ((*key).to_owned(), value.clone().into());
                    header.iter().zip(row).map(pair).collect()
                })
                .collect();
            let json = serde_json::to_string_pretty(&objects);
            print(&json.map_err(|error| Ending::Failed(error.to_string()))?)
        }
    }
}

/// Makes a table of a header and rows.
pub(crate) type Layout = dyn Fn(&[&str], &[Vec<String>]) -> String;

/// Aligned columns, the last one free.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let head: Vec<String> = header.iter().map(|h| (*h).to_owned()).collect();
    let all: Vec<&Vec<String>> = std::iter::once(&head).chain(rows).collect();
    let width = |c: usize| all.iter().map(|row| row[c].chars().count()).max().unwrap_or(0);
    let lines: Vec<String> = all
        .iter()
        .map(|row| {
            let cells = row.iter().enumerate().map(|(c, cell)| {
                let room = width(c) - cell.chars().count();
                format!("{cell}{}", " ".repeat(room))
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        })
        .collect();
    lines.join("\n")
}

fn markdown(header: &[&str], rows: &[Vec<String>]) -> String {
    let code = |row: &Vec<String>| {
        let mut row = row.clone();
        row[0] = format!("`{}`", row[0].replace(" = ", "`, `"));
        row
    };
    plain_markdown(header, &rows.iter().map(code).collect::<Vec<_>>())
}

/// A table for a page.
pub(crate) fn plain_markdown(header: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let head: Vec<String> = header.iter().map(|h| (*h).to_owned()).collect();
    let mut lines = vec![line(&head), format!("|{}", "---|".repeat(header.len()))];
    lines.extend(rows.iter().map(|row| line(row)));
    lines.join("\n")
}
