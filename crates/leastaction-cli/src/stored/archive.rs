//! The layout of a ZIP archive of arrays, checked field by field before anything is read from it.
//!
//! The entries stand one after the other from the first byte, then their list (the central directory), then the end record.
//! Readers differ in which of the copies of a field they use, so all copies must agree. APPNOTE.TXT 6.3.10 is the format.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Result as Io, Seek, SeekFrom};

/// What is said of an archive whose parts contradict each other.
const DAMAGED: &str = "it is damaged: its arrays are not where its list of them says";
/// What is said of a file without an end record in its place.
const NO_END: &str = "it is no NPZ file, or cut off: the end of the archive is not where it must be";
/// What is said of a file that is not damaged, and cannot be read.
const COMPRESSED: &str = "its arrays are compressed, as by numpy.savez_compressed, and only those that are not are read\n  \
                          save it without: numpy.savez(\"new.npz\", **numpy.load(\"old.npz\"))";

/// Bytes of the records without the parts of variable length.
const LOCAL: usize = 30;
const CENTRAL: usize = 46;
const END: usize = 22;
const LOCATOR: usize = 20;
const END_64: usize = 56;
/// The longest extra field with numbers of 64 bits.
const EXTRA: usize = 28;

/// Versions that a reader may be asked for: plain files, folders, sizes of 64 bits.
const VERSIONS: [u64; 3] = [10, 20, 45];
/// The bit that says that a name is in UTF-8; no other may be set.
const UTF_8: u64 = 1 << 11;
/// Stands for a number that is in an extra field of 64 bits instead.
const ELSEWHERE: u64 = 0xffff_ffff;
/// The same for a number of entries.
const MANY: u64 = 0xffff;

/// Where the list of entries is, and how long.
struct Directory {
    start: u64,
    size: u64,
    entries: u64,
}

/// An error unless an archive has the layout that this program and NumPy write.
pub(super) fn check(file: &mut File) -> Result<(), String> {
    let directory = end_of(file).map_err(|error| error.to_string())?.ok_or(NO_END)?;
    let list = part(file, directory.start, directory.size as usize).map_err(|error| error.to_string())?;
    let (mut rest, mut next) = (list.as_slice(), 0);
    let (mut names, mut makers) = (HashSet::new(), HashSet::new());
    for _ in 0..directory.entries {
        let entry = Entry::read(rest).ok_or(DAMAGED)?;
        rest = rest.get(entry.length..).ok_or(DAMAGED)?;
        // 12 is bzip2, 14 LZMA, 93 Zstandard; others are no methods
        if [8, 9, 12, 14, 93].contains(&entry.method) {
            return Err(COMPRESSED.to_owned());
        }
        let local = part(file, next, LOCAL + entry.name.len() + EXTRA);
        let local = local.map_err(|error| error.to_string())?;
        if entry.start != next || !entry.is_plain() {
            return Err(DAMAGED.to_owned());
        }
        next = entry.end(&local).filter(|end| *end <= directory.start).ok_or(DAMAGED)?;
        makers.insert(entry.maker);
        if !names.insert(entry.name) {
            return Err("it is damaged: two of its arrays have the same name".to_owned());
        }
    }
    let is_filled = next == directory.start && rest.is_empty();
    if is_filled && makers.len() <= 1 { Ok(()) } else { Err(DAMAGED.to_owned()) }
}

/// The bytes of a file from a place on: so many, or as many as there are.
fn part(file: &mut File, start: u64, length: usize) -> Io<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A little-endian number of a record.
fn number(record: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let part = record.get(at..at + bytes)?;
    Some(part.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Reads the end record, which is the last thing in a file.
fn end_of(file: &mut File) -> Io<Option<Directory>> {
    let length = file.seek(SeekFrom::End(0))?;
    let Some(place) = length.checked_sub(END as u64) else { return Ok(None) };
    let record = part(file, place, END)?;
    let Some(found) = directory(&record, b"PK\x05\x06", [4, 8, 12, 16], 2) else { return Ok(None) };
    // no disks but the first, and no comment
    let is_plain = number(&record, 4, 4) == Some(0) && number(&record, 20, 2) == Some(0);
    let is_large = found.size == ELSEWHERE || found.start == ELSEWHERE || found.entries == MANY;
    let found = if is_large {
        // a number that fits into the smaller record may be in both
        let large = end_of_64(file, place)?;
        large.filter(|(large, _)| {
            [found.size, found.start]
                .iter()
                .zip([large.size, large.start])
                .all(|(a, b)| *a == ELSEWHERE || *a == b)
                && (found.entries == MANY || found.entries == large.entries)
        })
    } else {
        Some((found, place))
    };
    let fits = |(found, end): (Directory, u64)| {
        (is_plain && found.start.checked_add(found.size) == Some(end)).then_some(found)
    };
    Ok(found.and_then(fits))
}

/// The end record of an archive with large numbers, which stands before that of 32 bits, and its place.
fn end_of_64(file: &mut File, end: u64) -> Io<Option<(Directory, u64)>> {
    let Some(locator) = end.checked_sub(LOCATOR as u64) else { return Ok(None) };
    let Some(place) = locator.checked_sub(END_64 as u64) else { return Ok(None) };
    let (record, pointer) = (part(file, place, END_64)?, part(file, locator, LOCATOR)?);
    let points = pointer.starts_with(b"PK\x06\x07")
        && number(&pointer, 4, 4) == Some(0)
        && number(&pointer, 8, 8) == Some(place)
        && number(&pointer, 16, 4) == Some(1);
    // the size of what follows, both versions, both disks
    let is_plain = number(&record, 4, 8) == Some(END_64 as u64 - 12)
        && number(&record, 14, 2).is_some_and(|version| VERSIONS.contains(&version))
        && number(&record, 16, 8) == Some(0);
    let found = directory(&record, b"PK\x06\x06", [16, 24, 40, 48], 8);
    Ok(found.filter(|_| points && is_plain).map(|found| (found, place)))
}

/// Reads where the list is from an end record, if its two numbers of entries are the same.
fn directory(record: &[u8], mark: &[u8], at: [usize; 4], bytes: usize) -> Option<Directory> {
    let [_, counts, size, start] = at;
    let width = bytes.max(4);
    let entries = number(record, counts, bytes)?;
    let is_one = record.starts_with(mark) && number(record, counts + bytes, bytes)? == entries;
    let found =
        Directory { start: number(record, start, width)?, size: number(record, size, width)?, entries };
    is_one.then_some(found)
}

/// What the list says of an entry.
struct Entry<'a> {
    name: &'a [u8],
    method: u64,
    /// Version, flags, method, time and sum, as they stand before the array too.
    common: &'a [u8],
    /// Sizes, compressed and not.
    sizes: [u64; 2],
    /// Where the array is.
    start: u64,
    /// The program that made it, and its permissions.
    maker: [u64; 2],
    /// Whether fields that mean nothing here are zero.
    is_zero: bool,
    /// Bytes of the record.
    length: usize,
}

impl<'a> Entry<'a> {
    fn read(list: &'a [u8]) -> Option<Self> {
        let field = |at, bytes| number(list, at, bytes);
        let (name, extra) = (field(28, 2)? as usize, field(30, 2)? as usize);
        let length = CENTRAL + name + extra;
        let own = [field(24, 4)?, field(20, 4)?, field(42, 4)?];
        let [size, compressed, start] = large(list.get(CENTRAL + name..length)?, own)?;
        list.starts_with(b"PK\x01\x02").then_some(Self {
            name: &list[CENTRAL..CENTRAL + name],
            method: field(10, 2)?,
            common: &list[6..20],
            sizes: [size, compressed],
            start,
            maker: [field(4, 2)?, field(38, 4)?],
            // comment, disk and kind of contents
            is_zero: field(32, 6)? == 0,
            length,
        })
    }

    /// Whether it is an array that is stored as it is.
    fn is_plain(&self) -> bool {
        let version = number(self.common, 0, 2).is_some_and(|version| VERSIONS.contains(&version));
        let flags = number(self.common, 2, 2).is_some_and(|flags| flags & !UTF_8 == 0);
        version && flags && self.is_zero && self.method == 0 && self.sizes[0] == self.sizes[1]
    }

    /// The end of its array, if the record before the array says the same as the list.
    fn end(&self, local: &[u8]) -> Option<u64> {
        let (name, extra) = (number(local, 26, 2)? as usize, number(local, 28, 2)? as usize);
        let data = LOCAL + name + extra;
        let own = [number(local, 22, 4)?, number(local, 18, 4)?, 0];
        let [size, compressed, _] = large(local.get(LOCAL + name..data)?, own)?;
        let agrees = local.starts_with(b"PK\x03\x04")
            && local.get(4..18)? == self.common
            && local.get(LOCAL..LOCAL + name)? == self.name
            && [size, compressed] == self.sizes;
        self.start.checked_add(data as u64)?.checked_add(size).filter(|_| agrees)
    }
}

/// Size, compressed size and place, of which those that are too large for 32 bits are in an extra field; there may be no other.
fn large(extra: &[u8], own: [u64; 3]) -> Option<[u64; 3]> {
    let mut found = own;
    let mut at = 4;
    for value in found.iter_mut().filter(|value| **value == ELSEWHERE) {
        *value = number(extra, at, 8)?;
        at += 8;
    }
    let kind = extra.is_empty() || (number(extra, 0, 2)? == 1 && number(extra, 2, 2)? as usize == at - 4);
    (kind && extra.len() == if extra.is_empty() { 0 } else { at }).then_some(found)
}
