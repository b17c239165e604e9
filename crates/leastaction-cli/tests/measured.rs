//! Tables of measured energy errors in the book and the README hold what the command gives now.
//!
//! A comment `<!-- measured: leastaction … {row} … {column} … -->` stands above such a table. The command is run for each cell
//! that starts with a number, with the names of its row and column filled in, and its largest relative energy error is
//! compared with that number. Columns whose head names nothing (an order, a time) are passed over.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::Folder;
use std::path::Path;

const MARK: &str = "<!-- measured: leastaction ";

/// What a head stands for: the text in backticks, a formula, or the first number.
fn meaning(head: &str) -> Option<String> {
    if let Some(code) = head.split('`').nth(1) {
        return Some(code.to_owned());
    }
    if head.contains("period/") {
        return Some(head.trim().to_owned());
    }
    head.split_whitespace().find(|word| word.parse::<f64>().is_ok()).map(str::to_owned)
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

/// The number a cell starts with.
fn number(cell: &str) -> Option<f64> {
    cell.split([',', ' ']).next()?.parse().ok()
}

/// Runs the command of every cell of the tables of a page; returns how many there were.
fn check(page: &Path, folder: &Folder) -> usize {
    let text = std::fs::read_to_string(page).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut count = 0;
    for (at, line) in lines.iter().enumerate() {
        let Some(command) = line.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(" -->")) else {
            continue;
        };
        let table: Vec<Vec<&str>> = lines[at + 1..]
            .iter()
            .skip_while(|l| l.is_empty())
            .take_while(|l| l.starts_with('|'))
            .map(|l| cells(l))
            .collect();
        for row in &table[2..] {
            for (head, cell) in table[0].iter().zip(row).skip(1) {
                let (Some(column), Some(printed)) = (meaning(head), number(cell)) else { continue };
                let row_name = meaning(row[0]).unwrap_or_default();
                let command = command.replace("{row}", &row_name).replace("{column}", &column);
                let run = folder.run(&format!("{command} --summary json"));
                assert_eq!(run.code, 0, "{command}: {}", run.stderr);
                let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
                let found = summary["energy"]["max_relative_error"].as_f64().unwrap();
                // two digits are printed; near rounding only the size is the same everywhere
                let band = if printed < 1e-13 { 4.0 } else { 1.06 };
                let ratio = found / printed;
                let good = ratio < band && ratio > 1.0 / band;
                assert!(
                    good,
                    "{}: {command} gives {found:.2e}, the table says {printed:.2e}",
                    page.display()
                );
                count += 1;
            }
        }
    }
    count
}

#[test]
fn tables_of_energy_errors_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = Folder::new("measured");
    for (page, cells) in
        [("README.md", 12), ("book/src/introduction.md", 8), ("book/src/choose-a-method.md", 30)]
    {
        let found = check(&root.join(page), &folder);
        assert!(found >= cells, "{page}: only {found} cells were found");
    }
}

#[test]
fn heads_say_what_they_stand_for() {
    assert_eq!(meaning("`lobatto8`").as_deref(), Some("lobatto8"));
    assert_eq!(meaning("h = 0.04 s").as_deref(), Some("0.04"));
    assert_eq!(meaning("period/5.8").as_deref(), Some("period/5.8"));
    assert_eq!(meaning("order"), None);
    assert_eq!(number("5.1e-4, 6 ms"), Some(5.1e-4));
    assert_eq!(number(""), None);
}
