//! What is left of ensembles, as fuzzing kept it: taken up at a whole block and continued, or refused. `hostile_results.rs` gives the same files to the command.
//!
//! Nothing is started here: what is started has for a moment all files that are open, with their locks.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;
// the reader belongs to the command, which is no library; the fuzz target has it in the same way
#[path = "../src/output/journal.rs"]
#[allow(dead_code)]
mod journal;

use common::{Folder, corpus};
use journal::{Journal, Shape};
use leastaction::simulate::ensemble::Block;
use std::fs;

/// How the command ends, as far as a journal knows.
#[derive(Debug)]
#[allow(dead_code)]
enum Ending {
    BadInput(String),
    Failed(String),
}

/// What the command says beside its results.
fn say(_: &str) {}

#[test]
fn what_fuzzing_kept_is_continued_to_its_end_or_refused() {
    const SHAPE: Shape = Shape { members: 20, block: 8, columns: 2 };
    let folder = Folder::new("journals-kept");
    let path = folder.path("kept.part");
    let (mut taken_up, mut refused) = (Vec::new(), Vec::new());
    for (name, bytes) in corpus("journal") {
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
