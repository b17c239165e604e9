//! The page of limits says what the program does: numbers of limits, and where unsafe code is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The rows of the table below a heading, cell by cell.
fn table(heading: &str) -> Vec<Vec<String>> {
    let page = fs::read_to_string(root().join("book/src/limits.md")).unwrap();
    let part = page.split(&format!("## {heading}\n")).nth(1).unwrap();
    let part = part.split("\n## ").next().unwrap();
    let rows = part.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn limits_are_those_of_the_program() {
    let rows = table("Limits");
    assert!(rows.len() >= 15, "{rows:?}");
    for row in rows {
        let words: Vec<&str> = row[2].split('`').collect();
        let (name, file) = (words[1], words[3]);
        let sources =
            ["leastaction", "leastaction-cli"].map(|name| root().join("crates").join(name).join("src"));
        let source = sources.iter().find_map(|folder| fs::read_to_string(folder.join(file)).ok()).unwrap();
        let line = source.lines().find(|line| line.contains(&format!("const {name}: "))).unwrap();
        let value = line.split('=').nth(1).unwrap().trim().trim_end_matches(';').replace('_', "");
        assert_eq!(value, row[1], "{name} of {file}");
    }
}

/// How often each source file of a folder uses unsafe code.
fn unsafe_uses(folder: &Path, found: &mut BTreeMap<String, usize>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            unsafe_uses(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.lines().map(|line| line.split("//").next().unwrap_or(""));
            let uses =
                |line: &str| ["unsafe {", "unsafe fn", "unsafe impl"].iter().any(|word| line.contains(word));
            let count = code.clone().filter(|line| uses(line)).count();
            if count > 0 || code.clone().any(|line| line.contains("allow(unsafe_code)")) {
                let name = path.strip_prefix(root()).unwrap().display().to_string();
                found.insert(name, count);
            }
        }
    }
}

#[test]
fn unsafe_code_is_where_the_book_says() {
    let mut found = BTreeMap::new();
    for name in ["leastaction", "leastaction-cli", "leastaction-python"] {
        unsafe_uses(&root().join("crates").join(name).join("src"), &mut found);
    }
    let rows = table("Unsafe code");
    let listed = rows.iter().map(|row| (row[0].trim_matches('`').to_owned(), row[1].parse().unwrap()));
    assert_eq!(listed.collect::<BTreeMap<String, usize>>(), found);
}
