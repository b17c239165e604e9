//! Bytes in the compact protocol of Thrift, which describe the parts of a Parquet file. Nothing is followed deeper than said and no list
//! is longer than the bytes that are left.

// kinds of fields in the compact protocol
const TRUE: u8 = 1;
pub(super) const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
pub(super) const I32: u8 = 5;
pub(super) const I64: u8 = 6;
const DOUBLE: u8 = 7;
pub(super) const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
const SET: u8 = 10;
pub(super) const STRUCT: u8 = 12;

/// What is left of bytes in the compact protocol.
pub(super) struct Compact<'a> {
    pub(super) bytes: &'a [u8],
}

pub(super) fn damaged(what: &str) -> String {
    format!("it is damaged: its footer {what}")
}

impl Compact<'_> {
    fn byte(&mut self) -> Result<u8, String> {
        let (&first, rest) = self.bytes.split_first().ok_or_else(|| damaged("ends too early"))?;
        self.bytes = rest;
        Ok(first)
    }

    fn take(&mut self, count: u64) -> Result<&[u8], String> {
        let count = usize::try_from(count).map_err(|_| damaged("ends too early"))?;
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or_else(|| damaged("ends too early"))?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Seven bits a byte, lowest first.
    fn natural(&mut self) -> Result<u64, String> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(damaged("has a number without end"))
    }

    /// The sign is the lowest bit.
    pub(super) fn integer(&mut self) -> Result<i64, String> {
        let value = self.natural()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The number and the kind of the next field; nothing at the end of a structure.
    pub(super) fn field(&mut self, last: &mut i64) -> Result<Option<(i64, u8)>, String> {
        let head = self.byte()?;
        if head & 0xf == 0 {
            return Ok(None);
        }
        *last = match head >> 4 {
            0 => self.integer()?,
            step => last.saturating_add(i64::from(step)),
        };
        Ok(Some((*last, head & 0xf)))
    }

    /// The kind and the number of elements.
    fn list(&mut self) -> Result<(u8, usize), String> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.natural()? } else { u64::from(head >> 4) };
        // an element has a byte at least
        if count > self.bytes.len() as u64 {
            return Err(damaged("has a list that is longer than itself"));
        }
        Ok((head & 0xf, count as usize))
    }

    /// The number of elements of a list of structures.
    pub(super) fn structures(&mut self) -> Result<usize, String> {
        match self.list()? {
            (STRUCT, count) | (_, count @ 0) => Ok(count),
            _ => Err(damaged("has a list of something else than structures")),
        }
    }

    /// A text, after its length.
    pub(super) fn text(&mut self) -> Result<&str, String> {
        let length = self.natural()?;
        std::str::from_utf8(self.take(length)?).map_err(|_| damaged("has a text that is no UTF-8"))
    }

    pub(super) fn skip(&mut self, kind: u8, nesting: usize) -> Result<(), String> {
        let inner = nesting.checked_sub(1).ok_or_else(|| damaged("is nested too deep"))?;
        match kind {
            TRUE | FALSE => {}
            BYTE => drop(self.byte()?),
            I16 | I32 | I64 => drop(self.natural()?),
            DOUBLE => drop(self.take(8)?),
            BINARY => {
                let length = self.natural()?;
                self.take(length)?;
            }
            LIST | SET => {
                let (kind, count) = self.list()?;
                for _ in 0..count {
                    // in a list a boolean is a byte
                    self.skip(if kind <= FALSE { BYTE } else { kind }, inner)?;
                }
            }
            STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip(kind, inner)?;
                }
            }
            _ => return Err(damaged("has a field of an unknown kind")),
        }
        Ok(())
    }
}
