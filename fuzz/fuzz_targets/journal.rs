//! Bytes as the journal of an ensemble that was left unfinished: whatever stands there, it is taken up at a whole block or refused, and can
//! be continued to its end.
#![no_main]

#[path = "../../crates/leastaction-cli/src/output/journal.rs"]
#[allow(dead_code)]
mod journal;

use journal::{Journal, Shape};
use leastaction::simulate::ensemble::Block;
use libfuzzer_sys::fuzz_target;

/// How the command ends, as far as a journal knows.
#[derive(Debug)]
#[allow(dead_code)]
enum Ending {
    BadInput(String),
    Failed(String),
}

/// What the command says beside its results.
fn say(_: &str) {}

const SHAPE: Shape = Shape { members: 20, block: 8, columns: 2 };

fuzz_target!(|data: &[u8]| {
    let path = std::env::temp_dir().join(format!("leastaction-fuzz-{}.part", std::process::id()));
    std::fs::write(&path, data).expect("a file is written");
    let Ok(mut journal) = Journal::open(&path, "which", "a note", SHAPE, true) else { return };
    for number in journal.blocks..SHAPE.blocks() {
        let rows = (SHAPE.members - number * SHAPE.block).min(SHAPE.block) as usize;
        journal.append(&Block { rows, cells: vec![number; 2 * rows] }).expect("a block is added");
    }
    for number in 0..SHAPE.blocks() {
        journal.read(number).expect("all blocks are there");
    }
});
