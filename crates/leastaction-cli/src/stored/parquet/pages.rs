//! The pages of a column of a Parquet file, each compared with its bytes and with the rows that are left before it is decoded.
//! Their heads are read here, because the crate that decodes them skips lists that are as long as a file claims.

use super::compact::{Compact, I32, STRUCT};
use super::footer::Kind;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::ChunkReader;
use std::sync::Arc;

/// Bytes of the head of a page; that of numbers has about a hundred.
const MAX_HEAD: u64 = 1024;

/// The pages of a column in a group of rows.
pub(super) struct Pages<R: ChunkReader> {
    pub(super) file: Arc<R>,
    /// Where the next page starts.
    pub(super) start: u64,
    /// Where the column ends; within the file.
    pub(super) end: u64,
    /// How its cells are stored.
    pub(super) kind: Kind,
    /// Rows that are left.
    pub(super) left: u64,
    /// Whether there was a page of the cells that others count off.
    pub(super) dictionary: bool,
}

/// What the head of a page says: numbers by the numbers of their fields.
#[derive(Default)]
struct Head {
    kind: Option<i64>,
    length: Option<i64>,
    /// A page of the first kind, of the second, and a dictionary: fields one to seven.
    data: [i64; 8],
    second: [i64; 8],
    dictionary: [i64; 8],
}

fn refuse<T>(what: String) -> Result<T> {
    Err(ParquetError::General(what))
}

/// The integers of a structure.
fn integers(bytes: &mut Compact<'_>, nesting: usize) -> std::result::Result<[i64; 8], String> {
    let (mut found, mut last) = ([-1; 8], 0);
    while let Some((number, kind)) = bytes.field(&mut last)? {
        match (usize::try_from(number).ok().and_then(|number| found.get_mut(number)), kind) {
            (Some(place), I32) => *place = bytes.integer()?,
            _ => bytes.skip(kind, nesting)?,
        }
    }
    Ok(found)
}

fn head(bytes: &mut Compact<'_>) -> std::result::Result<Head, String> {
    const NESTING: usize = 8;
    let (mut head, mut last) = (Head::default(), 0);
    while let Some(field) = bytes.field(&mut last)? {
        match field {
            (1, I32) => head.kind = Some(bytes.integer()?),
            (3, I32) => head.length = Some(bytes.integer()?),
            (5, STRUCT) => head.data = integers(bytes, NESTING)?,
            (7, STRUCT) => head.dictionary = integers(bytes, NESTING)?,
            (8, STRUCT) => head.second = integers(bytes, NESTING)?,
            (_, kind) => bytes.skip(kind, NESTING)?,
        }
    }
    Ok(head)
}

fn encoding(code: i64) -> Result<Encoding> {
    Ok(match code {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        3 => Encoding::RLE,
        5 => Encoding::DELTA_BINARY_PACKED,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        other => return refuse(format!("a page has the unknown encoding {other}; try the encoding PLAIN")),
    })
}

fn count(value: i64) -> Result<u32> {
    u32::try_from(value).or_else(|_| refuse("a page does not say how much it has".to_owned()))
}

impl<R: ChunkReader> Pages<R> {
    /// The next page; its bytes lie within the column.
    fn page(&mut self) -> Result<Page> {
        let most = MAX_HEAD.min(self.end - self.start);
        let bytes = self.file.get_bytes(self.start, most as usize)?;
        let mut compact = Compact { bytes: &bytes };
        let head = head(&mut compact).or_else(|_| refuse("the head of a page is damaged".to_owned()))?;
        let start = self.start + most - compact.bytes.len() as u64;
        let length = head.length.and_then(|length| u64::try_from(length).ok());
        let Some(length) = length.filter(|length| *length <= self.end - start) else {
            return refuse("a page goes beyond the end of its column".to_owned());
        };
        let buf = self.file.get_bytes(start, length as usize)?;
        self.start = start + length;
        Ok(match head.kind {
            Some(0) => Page::DataPage {
                buf,
                num_values: count(head.data[1])?,
                encoding: encoding(head.data[2])?,
                def_level_encoding: encoding(head.data[3])?,
                rep_level_encoding: encoding(head.data[4])?,
                statistics: None,
            },
            Some(2) => Page::DictionaryPage {
                buf,
                num_values: count(head.dictionary[1])?,
                encoding: encoding(head.dictionary[2])?,
                is_sorted: false,
            },
            Some(3) => Page::DataPageV2 {
                buf,
                num_values: count(head.second[1])?,
                num_nulls: count(head.second[2])?,
                num_rows: count(head.second[3])?,
                encoding: encoding(head.second[4])?,
                def_levels_byte_len: count(head.second[5])?,
                rep_levels_byte_len: count(head.second[6])?,
                is_compressed: false,
                statistics: None,
            },
            _ => return refuse("a page is of an unknown kind".to_owned()),
        })
    }

    fn check(&mut self, page: &Page) -> Result<()> {
        let (count, bytes) = (u64::from(page.num_values()), page.buffer().len() as u64);
        if let Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } = page
            && u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len) > bytes
        {
            return refuse(format!("the levels of a page of {bytes} bytes are longer"));
        }
        if page.is_data_page() {
            self.left = match self.left.checked_sub(count) {
                Some(left) => left,
                None => return refuse(format!("a page has {count} numbers where {} are left", self.left)),
            };
        }
        match (page, page.encoding()) {
            (Page::DictionaryPage { .. }, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY) => {
                // room for all of them is made at once
                if count * self.kind.width() > bytes {
                    return refuse(format!("a page of {bytes} bytes cannot have {count} numbers"));
                }
                self.dictionary = true;
                Ok(())
            }
            (Page::DictionaryPage { .. }, other) => {
                refuse(format!("a dictionary cannot be encoded as {other}"))
            }
            (_, Encoding::PLAIN) => Ok(()),
            (_, Encoding::BYTE_STREAM_SPLIT | Encoding::DELTA_BINARY_PACKED) if self.kind != Kind::Word => {
                Ok(())
            }
            (_, Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY) if self.dictionary => Ok(()),
            (_, other) => refuse(format!("a page cannot be read as {other}; try the encoding PLAIN")),
        }
    }
}

impl<R: ChunkReader> Iterator for Pages<R> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<R: ChunkReader> PageReader for Pages<R> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        if self.start >= self.end {
            return Ok(None);
        }
        let page = self.page()?;
        self.check(&page)?;
        Ok(Some(page))
    }

    // asked for only where rows are skipped or have several values
    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        refuse("pages are read one after the other".to_owned())
    }

    fn skip_next_page(&mut self) -> Result<()> {
        refuse("pages are read one after the other".to_owned())
    }
}
