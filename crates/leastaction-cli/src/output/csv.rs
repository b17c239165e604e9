//! CSV: the run as comment lines, a header, a row for each state or event. Numbers read back to the same bits.

use super::stored::{Cells, Stored};
use super::table::Table;
use leastaction::error::number;
use std::fs::File;
use std::io::{BufRead, BufReader, Result, Write};
use std::path::Path;

const TITLE: &str = "# leastaction ";
const CHECKSUM: &str = ", checksum ";

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

/// The run in the comments of a file.
pub(super) fn stored_run(path: &Path) -> Option<String> {
    let lines = BufReader::new(File::open(path).ok()?).lines().map_while(Result::ok);
    let comments = lines.take_while(|line| line.starts_with('#')).skip(1);
    Some(comments.map(|line| line.strip_prefix("# ").unwrap_or("").to_owned() + "\n").collect())
}

/// A table that was written.
pub(super) fn read(path: &Path) -> std::result::Result<Stored, String> {
    let text = std::fs::read(path).map_err(|error| error.to_string())?;
    let text = String::from_utf8(text).map_err(|_| "it is no text".to_owned())?;
    let mut lines = text.lines();
    let title =
        lines.next().and_then(|line| line.strip_prefix(TITLE)).ok_or("it is no table of leastaction")?;
    let (version, seal) = title.split_once(CHECKSUM).map_or((title, None), |(v, s)| (v, Some(s.to_owned())));
    let mut run = String::new();
    let mut header = None;
    for line in lines.by_ref() {
        match line.strip_prefix('#') {
            Some(comment) => run += &(comment.strip_prefix(' ').unwrap_or("").to_owned() + "\n"),
            None => {
                header = Some(line);
                break;
            }
        }
    }
    let names = split(header.ok_or("it ends before its first row")?);
    let mut columns: Vec<Vec<&str>> = vec![Vec::new(); names.len()];
    for (row, line) in lines.enumerate() {
        let mut count = 0;
        for (column, cell) in columns.iter_mut().zip(line.split(',')) {
            column.push(cell);
            count += 1;
        }
        if count != names.len() || line.split(',').count() != count {
            return Err(format!(
                "row {row} has other columns than the first line names: it is damaged or cut off"
            ));
        }
    }
    let columns = names.into_iter().zip(columns.iter().map(|column| cells(column))).collect();
    Ok(Stored { version: Some(version.to_owned()), seal, run, columns })
}

/// Names of a header, of which some are in quotes.
fn split(header: &str) -> Vec<String> {
    let (mut names, mut quoted) = (vec![String::new()], false);
    for c in header.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => names.push(String::new()),
            _ => {
                if let Some(name) = names.last_mut() {
                    name.push(c);
                }
            }
        }
    }
    names
}

/// Numbers, if all of them are.
fn cells(texts: &[&str]) -> Cells {
    let numbers: Option<Vec<f64>> = texts.iter().map(|text| text.parse().ok()).collect();
    numbers.map_or_else(|| Cells::Words(texts.iter().map(|&text| text.to_owned()).collect()), Cells::Numbers)
}

/// A name in a header: in quotes where it would be taken for several.
pub(super) fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
