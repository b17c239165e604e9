//! Lists as Parquet, tested by running the command: what fuzzing kept, what is made to do harm, and what is read.
#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::footers::{file_of, footer_of};
use common::{Folder, Output};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The answer to a list; it comes soon, and is no panic or signal.
fn answer(folder: &Folder, bytes: &[u8]) -> Output {
    std::fs::write(folder.path("list.parquet"), bytes).unwrap();
    let start = Instant::now();
    let output =
        folder.run("ensemble double-pendulum --list list.parquet --until 0.01 --step 0.01 --out m.csv");
    assert!(start.elapsed().as_secs() < 20, "{}", output.stderr);
    assert!(output.code == 0 || output.code == 2, "{}: {}", output.code, output.stderr);
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    output
}

fn refused(folder: &Folder, bytes: &[u8], words: &str) {
    let output = answer(folder, bytes);
    assert!(output.code == 2 && output.stderr.contains(words), "{words}: {}", output.stderr);
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/parquet_list")
}

fn kept(name: &str) -> Vec<u8> {
    std::fs::read(corpus().join(name)).unwrap()
}

#[test]
fn what_fuzzing_kept_is_read_or_refused() {
    let folder = Folder::new("parquet-kept");
    let refusals = [
        ("dictionary", "the column `name` is no column of numbers"),
        ("slow", "it is damaged: its footer ends too early"),
        ("endless", "it is damaged: its footer has a field of an unknown kind"),
        ("endless_groups", "it is damaged: the column `x` starts nowhere"),
        ("heads", "the column `x`: Parquet error: the head of a page is damaged"),
        ("compressed", "the column `q1` is compressed; try a file without compression"),
        ("nested", "`x` has columns of its own; try a flat table of numbers"),
        ("nulls", "row 2: `x` is empty"),
        ("words", "the column `name` is no column of numbers"),
        ("empty", "no rows"),
    ];
    for (name, words) in refusals {
        refused(&folder, &kept(name), words);
    }
    for entry in std::fs::read_dir(corpus()).unwrap() {
        answer(&folder, &std::fs::read(entry.unwrap().path()).unwrap());
    }
}

#[test]
fn encodings_and_kinds_of_numbers_are_read() {
    let folder = Folder::new("parquet-read");
    let halves = ["0.5,1", "0.25,2", "0.125,3"];
    let cases: [(&str, &[&str]); 5] = [
        ("pages", &halves),
        ("split", &halves),
        ("groups", &halves),
        ("differences", &["1,1", "2,5", "4,2"]),
        ("unsigned", &["1,1", "4294967295,9.223372036854776e18"]),
    ];
    for (name, starts) in cases {
        let output = answer(&folder, &kept(name));
        assert_eq!(output.code, 0, "{name}: {}", output.stderr);
        let table = folder.read("m.csv");
        let rows: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).skip(1).collect();
        assert_eq!(rows.len(), starts.len(), "{name}: {table}");
        for (index, (row, start)) in rows.iter().zip(starts).enumerate() {
            assert!(row.starts_with(&format!("{index},{start},")), "{name}: {row}");
        }
    }
}

#[test]
fn footers_that_claim_too_much_are_refused() {
    let folder = Folder::new("parquet-footers");
    // required, called x, with one column of its own, and that again and again
    let nested = [0x35, 0, 0x18, 1, b'x', 0x15, 2, 0];
    refused(&folder, &file_of(&footer_of(90_000, &nested)), "`x` has columns of its own");
    let plain = [0x15, 10, 0x25, 0, 0x18, 1, b'x', 0];
    refused(&folder, &file_of(&footer_of(100_001, &plain)), "it has 100001 columns; 100000 can be read");
    refused(&folder, &file_of(&footer_of(2, &plain)), "its footer miscounts its columns");
    refused(&folder, &file_of(&[0x15, 2, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x7f]), "longer than itself");
    refused(&folder, &file_of(&vec![0; 16_000_001]), "its footer has 16000001 bytes; 16000000 can be read");
    refused(&folder, &file_of(&[]), "its footer ends too early");
    refused(&folder, b"PAR1", "it is no Parquet file");
    refused(&folder, b"PAR1\xff\xff\xff\x00PAR1", "its footer has 16777215 bytes; 16000000");
}

#[test]
fn pages_that_claim_too_much_are_refused() {
    let folder = Folder::new("parquet-pages");
    let whole = kept("groups");
    // a dictionary of two numbers in sixteen bytes, and a page of two that count them off
    for (head, place, value, words) in [
        (&[0x4c, 0x15, 4, 0x15][..], 2, 6, "a page of 16 bytes cannot have 3 numbers"),
        (&[0x2c, 0x15, 4, 0x15], 2, 6, "a page has 3 numbers where 2 are left"),
        (&[0x2c, 0x15, 4, 0x15], 2, 2, "it ends after 1 of 2 rows"),
        (&[0x2c, 0x15, 4, 0x15], 4, 14, "a page has the unknown encoding 7; try the encoding PLAIN"),
    ] {
        let at = whole.windows(head.len()).position(|bytes| bytes == head).unwrap();
        let mut damaged = whole.clone();
        damaged[at + place] = value;
        refused(&folder, &damaged, &format!("the column `q1`: Parquet error: {words}"));
    }
}

#[test]
fn damaged_files_are_read_or_refused() {
    let folder = Folder::new("parquet-damaged");
    let whole = kept("doubles");
    assert_eq!(answer(&folder, &whole).code, 0);
    for at in (0..whole.len()).step_by(3) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        answer(&folder, &damaged);
        refused(&folder, &whole[..at], "the list `list.parquet`: ");
    }
}
