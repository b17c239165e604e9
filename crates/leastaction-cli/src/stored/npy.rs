//! An array in the NPY format, read: real numbers and text, in any byte order, by rows (C) or by columns (Fortran).
//!
//! The format: numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1 to 3.

/// What is said of an array whose header and bytes do not fit.
const DAMAGED: &str = "is damaged";

/// An array: its type, its shape, and its elements as bytes.
pub(super) struct Array {
    /// The letter of the type: `f`, `i`, `u`, `b` or `U`.
    letter: char,
    /// Bytes of an element.
    size: usize,
    big_endian: bool,
    by_columns: bool,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Array {
    /// From the bytes of an NPY file. The error continues a sentence that begins with the name.
    pub(super) fn new(mut bytes: Vec<u8>) -> Result<Self, String> {
        let end = end_of_header(&bytes).ok_or(DAMAGED)?;
        let header = end.1.and_then(|text| Header::read(&text)).ok_or(DAMAGED)?;
        bytes.drain(..end.0);
        let (letter, size, big_endian) = kind(&header.descr)
            .ok_or_else(|| format!("has the type `{}`; real numbers and text can be read", header.descr))?;
        let count = header.shape.iter().try_fold(1usize, |count, length| count.checked_mul(*length));
        if count.and_then(|count| count.checked_mul(size)) != Some(bytes.len()) {
            return Err(DAMAGED.to_owned());
        }
        let Header { by_columns, shape, .. } = header;
        Ok(Self { letter, size, big_endian, by_columns, shape, bytes })
    }

    /// Columns, if there are two dimensions.
    pub(super) fn width(&self) -> usize {
        self.shape.get(1).copied().unwrap_or(1)
    }

    /// Whether it has two dimensions at most, as the arrays of a table have.
    pub(super) fn is_flat(&self) -> bool {
        self.shape.len() <= 2
    }

    /// The bytes of its elements, row after row.
    fn elements(&self) -> impl Iterator<Item = &[u8]> {
        let width = self.width().max(1);
        let rows = self.bytes.len() / self.size / width;
        (0..rows * width).filter_map(move |k| {
            let place = if self.by_columns { k % width * rows + k / width } else { k };
            self.bytes.get(place * self.size..(place + 1) * self.size)
        })
    }

    /// An unsigned number of up to eight bytes.
    fn unsigned(&self, bytes: &[u8]) -> u64 {
        let append = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        if self.big_endian { bytes.iter().fold(0, append) } else { bytes.iter().rev().fold(0, append) }
    }

    /// Its texts, if it holds text.
    pub(super) fn words(&self) -> Option<Vec<String>> {
        let letter = |point: &[u8]| char::from_u32(self.unsigned(point) as u32);
        let word = |bytes: &[u8]| {
            let word: String = bytes.chunks_exact(4).map(letter).collect::<Option<_>>()?;
            Some(word.trim_end_matches('\0').to_owned())
        };
        if self.letter == 'U' { self.elements().map(word).collect() } else { None }
    }

    /// Its numbers, if it holds numbers.
    pub(super) fn numbers(&self) -> Option<Vec<f64>> {
        // the sign of a whole number is its first bit
        let unused = 64 - 8 * self.size.min(8) as u32;
        let number = |bytes: &[u8]| {
            let word = self.unsigned(bytes);
            match (self.letter, self.size) {
                ('f', 8) => f64::from_bits(word),
                ('f', _) => f64::from(f32::from_bits(word as u32)),
                ('i', _) => ((word << unused) as i64 >> unused) as f64,
                _ => word as f64,
            }
        };
        (self.letter != 'U').then(|| self.elements().map(number).collect())
    }
}

/// Where the header ends, and its text: after the magic bytes and the version, its length and itself.
fn end_of_header(bytes: &[u8]) -> Option<(usize, Option<String>)> {
    let version = bytes.strip_prefix(b"\x93NUMPY")?.get(..2)?;
    let (start, length) = match version {
        [1, 0] => (10usize, usize::from(u16::from_le_bytes(bytes.get(8..10)?.try_into().ok()?))),
        [2 | 3, 0] => (12, u32::from_le_bytes(bytes.get(8..12)?.try_into().ok()?) as usize),
        _ => return None,
    };
    let end = start.checked_add(length)?;
    Some((end, String::from_utf8(bytes.get(start..end)?.to_vec()).ok()))
}

/// Letter, bytes and order of a type such as `<f8`.
fn kind(descr: &str) -> Option<(char, usize, bool)> {
    let plain = descr.trim_start_matches(['<', '>', '|', '=']);
    let order = &descr[..descr.len() - plain.len()];
    let mut letters = plain.chars();
    let (letter, size) = (letters.next()?, letters.as_str().parse::<usize>().ok()?);
    let size = match (letter, size) {
        ('f', 4 | 8) | ('i' | 'u', 1 | 2 | 4 | 8) | ('b', 1) => size,
        // code points of four bytes
        ('U', 1..) => size.saturating_mul(4),
        _ => return None,
    };
    let is_ordered = ["<", ">"].contains(&order) || (order == "|" && size == 1) || order == "=";
    is_ordered.then_some((letter, size, order == ">"))
}

/// The dictionary before the elements.
struct Header {
    descr: String,
    by_columns: bool,
    shape: Vec<usize>,
}

impl Header {
    /// From a Python literal such as `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }`.
    fn read(text: &str) -> Option<Self> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descr, mut by_columns, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            let value = after.trim_start().strip_prefix(':')?.trim_start();
            let after = match key {
                "descr" if descr.is_none() => {
                    let (text, after) = quoted(value)?;
                    descr = Some(text.to_owned());
                    after
                }
                "fortran_order" if by_columns.is_none() => {
                    let yes = value.strip_prefix("True");
                    by_columns = Some(yes.is_some());
                    yes.or_else(|| value.strip_prefix("False"))?
                }
                "shape" if shape.is_none() => {
                    let (sizes, after) = value.strip_prefix('(')?.split_once(')')?;
                    let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
                    shape = Some(
                        sizes.map(|size| size.trim_end_matches('L').parse().ok()).collect::<Option<_>>()?,
                    );
                    after
                }
                _ => return None,
            };
            let after = after.trim_start();
            rest = after.strip_prefix(',').unwrap_or(after).trim_start();
        }
        Some(Self { descr: descr?, by_columns: by_columns?, shape: shape? })
    }
}

/// A text in quotes at the beginning, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| ['\'', '"'].contains(c))?;
    text[1..].split_once(quote)
}
