//! What is left of ensembles, as fuzzing kept it: taken up at a whole block and continued, or refused, by the reader and by the command.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;
// the reader belongs to the command, which is no library; the fuzz target has it in the same way
#[path = "../src/output/journal.rs"]
#[allow(dead_code)]
mod journal;

use common::Folder;
use journal::{Journal, Shape};
use leastaction::simulate::ensemble::Block;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// How the command ends, as far as a journal knows.
#[derive(Debug)]
#[allow(dead_code)]
enum Ending {
    BadInput(String),
    Failed(String),
}

/// What the command says beside its results.
fn say(_: &str) {}

/// The names and bytes of all files.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/journal");
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.unwrap();
        (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
    };
    fs::read_dir(folder).unwrap().map(read).collect()
}

#[test]
fn what_fuzzing_kept_is_continued_to_its_end_or_refused() {
    const SHAPE: Shape = Shape { members: 20, block: 8, columns: 2 };
    let folder = Folder::new("journals-kept");
    let path = folder.path("kept.part");
    let (mut taken_up, mut refused) = (Vec::new(), Vec::new());
    for (name, bytes) in corpus() {
        fs::write(&path, bytes).unwrap();
        let Ok(mut journal) = Journal::open(&path, "which", "a note", SHAPE, true) else {
            refused.push(name);
            continue;
        };
        taken_up.push((name, journal.blocks));
        for number in journal.blocks..SHAPE.blocks() {
            let rows = (SHAPE.members - number * SHAPE.block).min(SHAPE.block) as usize;
            journal.append(&Block { rows, cells: vec![number; 2 * rows] }).unwrap();
        }
        for number in 0..SHAPE.blocks() {
            journal.read(number).unwrap();
        }
    }
    taken_up.sort();
    let blocks = |name: &str| taken_up.iter().find(|found| found.0 == name).map(|found| found.1);
    assert_eq!(
        ["noted-whole", "noted-two", "noted-damaged", "noted-cut", "empty", "head"].map(blocks),
        [3, 2, 1, 1, 0, 0].map(Some),
        "{taken_up:?}"
    );
    // from before there were notes
    assert_eq!(["whole", "two", "damaged"].map(blocks), [Some(0); 3], "{taken_up:?}");
    assert_eq!(refused, ["other"]);
}

#[test]
fn the_command_takes_them_for_what_they_are() {
    let folder = Folder::new("journals-command");
    let map = "ensemble pendulum --until 0.1 --vary q=-1..1:20 --out m.csv --resume";
    assert_eq!(folder.run(map).code, 0);
    let whole = folder.read("m.csv");
    fs::remove_file(folder.path("m.csv")).unwrap();
    for (name, bytes) in corpus() {
        for command in ["resume m.csv.part", "verify m.csv.part", map] {
            fs::write(folder.path("m.csv.part"), &bytes).unwrap();
            let start = Instant::now();
            let output = folder.run(command);
            assert!(start.elapsed().as_secs() < 20, "{name} {command}: {}", output.stderr);
            assert!(!output.stderr.contains("panicked"), "{name} {command}: {}", output.stderr);
            // none is of this ensemble; nothing is in the way of another
            let begins = name == "empty" && command == map;
            assert_eq!(output.code, if begins { 0 } else { 2 }, "{name} {command}: {}", output.stderr);
            assert_eq!(folder.path("m.csv").exists(), begins, "{name} {command}");
            if begins {
                assert!(folder.read("m.csv") == whole);
                fs::remove_file(folder.path("m.csv")).unwrap();
            }
        }
    }
}
