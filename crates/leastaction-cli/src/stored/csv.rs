//! CSV, read: the run as comment lines, a header, a row for each state, event or member.

use super::{Cells, Stored, Words};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

/// What the first line begins with, before the version.
pub(crate) const TITLE: &str = "# leastaction ";
/// What stands between the version and the checksum.
pub(crate) const CHECKSUM: &str = ", checksum ";

/// What is said of other files.
const NO_TABLE: &str = "it is no table of leastaction\n  give a result as it was written, or a checkpoint";

/// The run in the comments of a file.
pub(super) fn run_of(file: File) -> Option<String> {
    let lines = BufReader::new(file).lines().map_while(Result::ok);
    let comments = lines.take_while(|line| line.starts_with('#')).skip(1);
    Some(comments.map(|line| line.strip_prefix("# ").unwrap_or("").to_owned() + "\n").collect())
}

/// A table that was written.
pub(super) fn read(mut file: File) -> Result<Stored, String> {
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(|error| error.to_string())?;
    let text = String::from_utf8(text).map_err(|_| NO_TABLE.to_owned())?;
    let mut lines = text.lines();
    let title = lines.next().and_then(|line| line.strip_prefix(TITLE)).ok_or(NO_TABLE)?;
    let (version, seal) = title.split_once(CHECKSUM).map_or((title, None), |(v, s)| (v, Some(s.to_owned())));
    if !is_version(version) {
        return Err(format!("its first line is damaged: `{version}` is no version"));
    }
    let mut run = String::new();
    let mut header = None;
    for line in lines.by_ref() {
        match line.strip_prefix('#') {
            Some(comment) => run += &(comment.strip_prefix(' ').unwrap_or(comment).to_owned() + "\n"),
            None => {
                header = Some(line);
                break;
            }
        }
    }
    let names = split(header.ok_or("it ends before its first row")?)?;
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
    let read = |(name, column): (String, &Vec<&str>)| {
        // an event may be called `inf`
        let cells = if ["event", "status"].contains(&name.as_str()) { words(column) } else { cells(column) };
        Ok((name, cells?))
    };
    let columns = names.into_iter().zip(&columns).map(read).collect::<Result<_, String>>()?;
    Ok(Stored { version: Some(version.to_owned()), seal, run, columns })
}

/// Whether a word may be a version, such as 1.2.3 or 1.2.3-beta.1.
fn is_version(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || ['.', '-', '+'].contains(&c))
}

/// Names of a header, of which some are in quotes.
fn split(header: &str) -> Result<Vec<String>, String> {
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
    if quoted {
        Err("a name of a column begins with a quote and does not end with one".to_owned())
    } else {
        Ok(names)
    }
}

/// Numbers, if all of them are.
fn cells(texts: &[&str]) -> Result<Cells, String> {
    let numbers: Option<Vec<f64>> = texts.iter().map(|text| text.parse().ok()).collect();
    numbers.map_or_else(|| words(texts), |numbers| Ok(Cells::Numbers(numbers)))
}

fn words(texts: &[&str]) -> Result<Cells, String> {
    Words::of(texts.iter().copied()).map(Cells::Words)
}
