//! Every byte of a result is changed, one at a time: the file is refused, or its checksum does not fit, or nothing that a reader sees is different.
//!
//! The reader of results is compiled into this test, because starting the command takes longer than reading.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, dead_code, unused_imports)]

mod common;
#[path = "../src/stored/mod.rs"]
mod stored;

use common::Folder;
use std::fs;
use std::io::{Cursor, Write};
use stored::{Cells, Stored};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// What each byte becomes: with one bit changed, and others, such as those that end lines and cells.
fn changes(byte: u8, others: &[u8]) -> impl Iterator<Item = u8> {
    let flips = (0..8).map(move |bit| byte ^ (1 << bit));
    flips.chain(others.iter().copied()).filter(move |other| *other != byte)
}

/// The files of results with an ending: states, events, members, a table without rows.
fn results(folder: &Folder, ending: &str) -> Vec<Vec<u8>> {
    for run in [
        format!(
            "simulate pendulum --until 0.04 --output e=q*1e-9 --event low=q-1.57 --out s.{ending} --events e.{ending}"
        ),
        format!("simulate pendulum --until 0.04 --event never=q+100 --events n.{ending}"),
        format!("ensemble pendulum --until 0.1 --vary q=-1..1:4 --output h=cos(q) --out m.{ending}"),
    ] {
        let done = folder.run(&run);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    ["s", "e", "n", "m"].map(|name| fs::read(folder.path(&format!("{name}.{ending}"))).unwrap()).to_vec()
}

/// A table, if nothing in it says that it was changed.
fn accepted(folder: &Folder, ending: &str, bytes: &[u8]) -> Option<Stored> {
    let path = folder.path(&format!("changed.{ending}"));
    // written over: some file systems wait for the disk where a file is cut and written again
    let mut file = fs::File::options().write(true).create(true).truncate(false).open(&path).unwrap();
    file.write_all(bytes).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
    Stored::read(&path).ok().filter(Stored::is_sealed)
}

/// Changes each byte of a file, and shows what is accepted nevertheless, with the place.
fn flip(
    folder: &Folder,
    (ending, thorough): (&str, bool),
    whole: &[u8],
    mut passed: impl FnMut(usize, &[u8]),
) -> usize {
    let mut count = 0;
    let others: &[u8] = if ending == "csv" { b"09,\n\r \"_" } else { b"\xff" };
    for at in 0..whole.len() {
        // every bit of the first kind of file, and one bit of each byte of the others, which are written alike
        let bits = |(k, _): &(usize, u8)| thorough || k % 8 == at % 8;
        for (_, byte) in changes(whole[at], others).enumerate().filter(bits) {
            let mut changed = whole.to_vec();
            changed[at] = byte;
            count += 1;
            if accepted(folder, ending, &changed).is_some() {
                passed(at, &changed);
            }
        }
    }
    count
}

#[test]
fn every_byte_of_an_archive_counts() {
    let folder = Folder::new("flips-npz");
    let mut count = 0;
    for (index, whole) in results(&folder, "npz").into_iter().enumerate() {
        assert!(accepted(&folder, "npz", &whole).is_some());
        count += flip(&folder, ("npz", index == 0), &whole, |at, changed| {
            panic!("byte {at} of {} became {} and nobody noticed", whole.len(), changed[at]);
        });
        // bytes that are too many or too few
        for extra in [&b"\0"[..], b"PK", &whole] {
            assert!(accepted(&folder, "npz", &[&whole, extra].concat()).is_none(), "{}", extra.len());
            assert!(accepted(&folder, "npz", &[extra, &whole].concat()).is_none(), "{}", extra.len());
        }
        for end in (0..whole.len()).step_by(if index == 0 { 1 } else { 37 }) {
            assert!(accepted(&folder, "npz", &whole[..end]).is_none(), "cut at {end}");
        }
    }
    assert!(count > 40_000, "{count}");
}

#[test]
fn every_byte_of_a_table_of_text_counts() {
    let folder = Folder::new("flips-csv");
    let mut count = 0;
    for (index, whole) in results(&folder, "csv").into_iter().enumerate() {
        assert!(accepted(&folder, "csv", &whole).is_some());
        let text = String::from_utf8(whole.clone()).unwrap();
        count += flip(&folder, ("csv", index != 1), &whole, |at, changed| {
            let changed = String::from_utf8_lossy(changed);
            let same = text.lines().count() == changed.lines().count()
                && text.lines().zip(changed.lines()).all(|(a, b)| is_same(a, b));
            assert!(same, "byte {at} was changed and nobody noticed: {changed}");
        });
    }
    assert!(count > 25_000, "{count}");
}

/// Whether all readers see the same in two lines: other blanks at the end of a comment, or other digits of the same number.
fn is_same(a: &str, b: &str) -> bool {
    let bits = |cell: &str| cell.parse::<f64>().map(f64::to_bits);
    let cells =
        || a.split(',').zip(b.split(',')).all(|(a, b)| a == b || bits(a).is_ok_and(|x| Ok(x) == bits(b)));
    match a.starts_with('#') {
        true => a.trim_end() == b.trim_end(),
        false => a.matches(',').count() == b.matches(',').count() && cells(),
    }
}

/// An NPY file: the version of its header, the text in it, and what follows.
fn array(version: u8, header: &str, bytes: &[u8]) -> Vec<u8> {
    let length = (header.len() as u32).to_le_bytes();
    let length = if version == 1 { &length[..2] } else { &length[..] };
    [b"\x93NUMPY", &[version, 0][..], length, header.as_bytes(), bytes].concat()
}

/// Texts as an array.
fn texts(shape: &str, texts: &[&str]) -> Vec<u8> {
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap();
    let points =
        texts.iter().flat_map(|text| text.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest));
    let bytes: Vec<u8> = points.flat_map(u32::to_le_bytes).collect();
    array(1, &format!("{{'descr': '<U{longest}', 'fortran_order': False, 'shape': ({shape}), }}\n"), &bytes)
}

/// What is read of a table with an array `q` of two coordinates.
fn read(folder: &Folder, q: Vec<u8>) -> Result<[Vec<f64>; 2], String> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let others = [("run", texts("", &["system = \"kepler\""])), ("coordinates", texts("2,", &["x", "y"]))];
    for (name, bytes) in others.into_iter().chain([("q", q)]) {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    fs::write(folder.path("q.npz"), zip.finish().unwrap().into_inner()).unwrap();
    let stored = Stored::read(&folder.path("q.npz"))?;
    let column = |name: &str| stored.numbers(name).map(<[f64]>::to_vec).ok_or("no column".to_owned());
    Ok([column("x")?, column("y")?])
}

/// The bytes of a number of a type.
fn element(kind: &str, x: i64) -> Vec<u8> {
    let bytes = match &kind[1..] {
        "f8" => (x as f64).to_le_bytes().to_vec(),
        "f4" => (x as f32).to_le_bytes().to_vec(),
        whole => x.to_le_bytes()[..whole[1..].parse().unwrap()].to_vec(),
    };
    if kind.starts_with('>') { bytes.into_iter().rev().collect() } else { bytes }
}

#[test]
fn arrays_of_every_type_and_order_are_read() {
    let folder = Folder::new("flips-layouts");
    let mut kinds = vec!["|i1".to_owned(), "|u1".to_owned(), "|b1".to_owned(), "=f8".to_owned()];
    for kind in ["f8", "f4", "i2", "i4", "i8", "u2", "u4", "u8"] {
        kinds.extend(["<", ">"].map(|order| format!("{order}{kind}")));
    }
    let mut count = 0;
    for kind in &kinds {
        let is_signed = !["u", "b"].contains(&&kind[1..2]);
        let (a, b) = match kind.as_str() {
            "|b1" => ([1, 0, 1], [0, 0, 1]),
            _ if is_signed => ([-1, 2, -3], [40, -50, 60]),
            _ => ([1, 2, 3], [40, 250, 60]),
        };
        let rows: Vec<i64> = a.iter().zip(b).flat_map(|(a, b)| [*a, b]).collect();
        for by_columns in [false, true] {
            let order = if by_columns { [&a[..], &b].concat() } else { rows.clone() };
            let bytes: Vec<u8> = order.iter().flat_map(|x| element(kind, *x)).collect();
            let word = if by_columns { "True" } else { "False" };
            for version in [1, 2, 3] {
                for header in [
                    format!("{{'descr': '{kind}', 'fortran_order': {word}, 'shape': (3, 2), }}      \n"),
                    format!("{{\"shape\":(3,2),\"descr\":\"{kind}\",\"fortran_order\":{word}}}\n"),
                ] {
                    let found = read(&folder, array(version, &header, &bytes));
                    let expected = [a, b].map(|column| column.map(|x| x as f64).to_vec());
                    assert_eq!(found, Ok(expected), "{header}, version {version}");
                    count += 1;
                }
            }
        }
    }
    assert_eq!(count, 20 * 2 * 3 * 2);
}

#[test]
fn arrays_that_are_no_columns_of_numbers_are_refused() {
    let folder = Folder::new("flips-refused");
    let header = |kind: &str, shape: &str| {
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}\n")
    };
    let six = [0; 48];
    for (version, header, bytes, words) in [
        (1, header("<c16", "3, 1"), &six[..], "has the type `<c16`; real numbers and text can be read"),
        (1, header("<f2", "12, 2"), &six, "has the type `<f2`"),
        (1, header("|O", "3, 2"), &six, "has the type `|O`"),
        (1, header("|S8", "3, 2"), &six, "has the type `|S8`"),
        (1, header("<M8[s]", "3, 2"), &six, "has the type `<M8[s]`"),
        (1, header("|f8", "3, 2"), &six, "has the type `|f8`"),
        (1, header("f8", "3, 2"), &six, "has the type `f8`"),
        (1, header("<f8", "3, 2, 1"), &six, "has more than two dimensions"),
        (1, header("<f8", "3, 3"), &six, "is damaged"),
        (1, header("<f8", "3, 1"), &six, "is damaged"),
        (1, header("<f8", "-3, -2"), &six, "is damaged"),
        (1, header("<f8", "4611686018427387904, 4611686018427387904"), &six, "is damaged"),
        (1, header("<f8", "3, 2").replace("False", "Maybe"), &six, "is damaged"),
        (1, header("<f8", "3, 2").replace("descr", "dtype"), &six, "is damaged"),
        (1, header("<f8", "3, 2").replace("'shape'", "'descr'"), &six, "is damaged"),
        (1, header("<f8", "3, 2").replace('}', ""), &six, "is damaged"),
        (4, header("<f8", "3, 2"), &six, "is damaged"),
        (0, header("<f8", "3, 2"), &six, "is damaged"),
        (1, header("<f8", "3, 2"), &six[1..], "is damaged"),
        (1, String::new(), &[], "is damaged"),
    ] {
        let found = read(&folder, array(version, &header, bytes));
        assert!(
            found.as_ref().is_err_and(|why| why.contains("`q`") && why.contains(words)),
            "{header}: {found:?}"
        );
    }
    let found = read(&folder, b"no array".to_vec());
    assert_eq!(found, Err("the array `q` is damaged".to_owned()));
}

#[test]
fn archives_whose_end_is_in_records_of_64_bits_are_read() {
    // as they are where there are more arrays than 16 bits count, or more bytes than 32 bits
    let folder = Folder::new("flips-large");
    let small = results(&folder, "npz").remove(0);
    let (body, end) = small.split_at(small.len() - 22);
    let number = |at: usize, bytes: usize| {
        end[at..at + bytes].iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte))
    };
    let [entries, size, start] = [number(10, 2), number(12, 4), number(16, 4)].map(u64::to_le_bytes);
    let record = [
        b"PK\x06\x06",
        &44u64.to_le_bytes()[..],
        &[45, 3, 45, 0],
        &[0; 8],
        &entries,
        &entries,
        &size,
        &start,
    ];
    let locator = [b"PK\x06\x07", &[0; 4][..], &(body.len() as u64).to_le_bytes(), &[1, 0, 0, 0]];
    let end = [&b"PK\x05\x06"[..], &[0; 4], &[0xff; 12], &[0; 2]];
    let whole = [body, &record.concat(), &locator.concat(), &end.concat()].concat();
    assert!(accepted(&folder, "npz", &whole).is_some());
    let first = body.len();
    for at in first..whole.len() {
        for byte in changes(whole[at], &[]) {
            let mut changed = whole.clone();
            changed[at] = byte;
            // which version made the record is nobody's business
            let is_idle = (first + 12..first + 14).contains(&at);
            assert!(is_idle || accepted(&folder, "npz", &changed).is_none(), "byte {}: {byte}", at - first);
        }
    }
}
