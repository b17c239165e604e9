//! Results that are damaged or made to do harm, as `verify` and `ensemble --resume` meet them: they are read or refused, soon, and nothing
//! panics or runs out of stack or memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{Folder, Output, corpus};
use std::fs;
use std::io::{Cursor, Write};
use std::time::Instant;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The answer of `verify` to a file; it comes soon, and is no panic or signal.
fn answer(folder: &Folder, name: &str, bytes: &[u8]) -> Output {
    fs::write(folder.path(name), bytes).unwrap();
    let start = Instant::now();
    let output = folder.run(&format!("verify {name}"));
    assert!(start.elapsed().as_secs() < 20, "{}", output.stderr);
    assert!([0, 1, 2].contains(&output.code), "{}: {}", output.code, output.stderr);
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    output
}

#[track_caller]
fn refused(folder: &Folder, name: &str, bytes: &[u8], words: &str) {
    let output = answer(folder, name, bytes);
    assert!(output.code == 2 && output.stderr.contains(words), "{words}: {}", output.stderr);
}

#[test]
fn what_fuzzing_kept_is_read_or_refused() {
    let folder = Folder::new("hostile-kept");
    for (_, bytes) in corpus("result") {
        for name in ["kept.csv", "kept.npz", "kept.parquet"] {
            answer(&folder, name, &bytes);
        }
    }
}

#[test]
fn what_fuzzing_kept_of_ensembles_is_refused_for_what_it_is() {
    let folder = Folder::new("hostile-journals");
    let map = "ensemble pendulum --until 0.1 --vary q=-1..1:20 --out m.csv --resume";
    assert_eq!(folder.run(map).code, 0);
    let whole = folder.read("m.csv");
    fs::remove_file(folder.path("m.csv")).unwrap();
    for (name, bytes) in corpus("journal") {
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

/// An NPY file.
fn array(kind: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), bytes].concat()
}

/// One text as an array.
fn text(text: &str) -> Vec<u8> {
    let points: Vec<u8> = text.chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect();
    array(&format!("<U{}", text.chars().count()), "1,", &points)
}

fn archive(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn archives_that_claim_too_much_are_refused() {
    let folder = Folder::new("hostile-npz");
    let run = ("run", text("system = \"pendulum\""));
    // four times this length is nothing, in words of 64 bits
    let endless = array("<U4611686018427387904", "1,", b"abcd");
    refused(&folder, "a.npz", &archive(&[run.clone(), ("t", endless)]), "the array `t` is damaged");
    // a million times a word of a hundred thousand letters
    let word = ("statuses", text(&"x".repeat(100_000)));
    let codes = ("status", array("|i1", "1000000,", &[0; 1_000_000]));
    let repeated = archive(&[run.clone(), word, codes]);
    refused(&folder, "a.npz", &repeated, "a word has 100000 bytes; 200 can be read");
    // nine arrays in the place of the first: checksum and sizes are at 16, the place at 42 of what the end of the archive says of one
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let numbers = names.map(|name| (name, array("<f8", "1,", &[0; 8])));
    let large = ("large", array("<f8", "1000,", &[0; 8000]));
    let mut shared = archive(&[&[run, large][..], &numbers].concat());
    let entries: Vec<usize> =
        (0..shared.len() - 4).filter(|&at| shared[at..].starts_with(b"PK\x01\x02")).collect();
    assert_eq!(entries.len(), 11);
    for entry in &entries[2..] {
        shared.copy_within(entries[1] + 16..entries[1] + 28, entry + 16);
        shared.copy_within(entries[1] + 42..entries[1] + 46, entry + 42);
    }
    refused(&folder, "a.npz", &shared, "its arrays are not where its list of them says");
}

/// Results of three kinds of tables in a folder, as files with an ending.
fn results(folder: &Folder, ending: &str) -> [Vec<u8>; 3] {
    for run in [
        format!("simulate pendulum --until 2 --event low=q --out s.{ending} --events e.{ending}"),
        format!("ensemble pendulum --until 0.1 --vary q=-1..1:20 --out m.{ending}"),
    ] {
        let done = folder.run(&run);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    ["s", "e", "m"].map(|name| fs::read(folder.path(&format!("{name}.{ending}"))).unwrap())
}

/// Each damaged file is answered; one that is cut off is refused.
fn damage(folder: &Folder, ending: &str) {
    for whole in results(folder, ending) {
        let name = format!("d.{ending}");
        assert_eq!(answer(folder, &name, &whole).code, 0);
        let step = whole.len() / 60 + 1;
        for at in (0..whole.len()).step_by(step) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            answer(folder, &name, &damaged);
            assert_ne!(answer(folder, &name, &whole[..at]).code, 0, "cut at {at}");
        }
    }
}

#[test]
fn damaged_archives_are_read_or_refused() {
    damage(&Folder::new("hostile-damaged-npz"), "npz");
}

#[cfg(feature = "parquet")]
mod parquet {
    use super::common::footers::{file_of, footer_of};
    use super::{Folder, answer, damage, fs, refused, results};

    #[test]
    fn damaged_parquet_files_are_read_or_refused() {
        damage(&Folder::new("hostile-damaged-parquet"), "parquet");
    }

    #[test]
    fn parquet_files_that_claim_too_much_are_refused() {
        let folder = Folder::new("hostile-parquet");
        // required, called x, with one column of its own, and that again and again
        let deep = file_of(&footer_of(90_000, &[0x35, 0, 0x18, 1, b'x', 0x15, 2, 0]));
        refused(&folder, "deep.parquet", &deep, "`x` has columns of its own");
        let [states, events, _] = results(&folder, "parquet");
        // no continuation of an ensemble either; the file is not replaced
        let again = folder.run("ensemble pendulum --until 0.1 --vary q=-1..1:20 --out deep.parquet --resume");
        assert!([0, 2].contains(&again.code), "{}: {}", again.code, again.stderr);
        assert!(!again.stderr.contains("panicked"), "{}", again.stderr);
        // rows that are not there: 200 and a bit are claimed to be many
        let rows = fs::read(folder.path("s.parquet")).unwrap();
        assert_eq!(rows, states);
        refused(&folder, "tail.parquet", b"PAR1\xff\xff\xff\x7fPAR1", "16000000 can be read");
        // a column of words has a dictionary: its claim of more words than bytes
        let head = [0x4c, 0x15, 2, 0x15];
        let at = events.windows(head.len()).position(|bytes| bytes == head).unwrap();
        let mut damaged = events.clone();
        damaged[at + 2] = 0x7e;
        refused(&folder, "words.parquet", &damaged, "a page of 7 bytes cannot have 63 numbers");
        assert_eq!(answer(&folder, "events.parquet", &events).code, 0);
    }
}
