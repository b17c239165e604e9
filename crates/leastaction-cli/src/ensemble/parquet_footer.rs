//! The columns that the footer of a Parquet file names and where their bytes are, read without the crate that decodes these: that one
//! follows nested columns as deep as a file claims them to be, until the stack ends, and skips lists as long as a file claims.
//! Here whatever is not a flat table of numbers is refused, and the crate gets a schema that was made from what is left.
//!
//! A footer is a Thrift structure in the compact protocol. Its second field is a list of the table and its columns, its fourth
//! one of groups of rows.

use parquet::basic::{Repetition, Type as Physical};
use parquet::schema::types::{SchemaDescriptor, Type};
use std::sync::Arc;

/// Columns of a list.
const MAX_COLUMNS: usize = 100_000;
/// Structures within structures that are skipped.
const MAX_NESTING: usize = 16;
/// Letters of a name in a message.
const MAX_NAME: usize = 160;

// kinds of fields in the compact protocol
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
pub(super) const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
pub(super) const STRUCT: u8 = 12;

/// How the numbers of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Double,
    Float,
    Int { signed: bool },
    Long { signed: bool },
}

/// A column of numbers.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
    optional: bool,
}

impl Column {
    /// The bytes of a number.
    pub(super) fn width(&self) -> u64 {
        match self.kind {
            Kind::Double | Kind::Long { .. } => 8,
            Kind::Float | Kind::Int { .. } => 4,
        }
    }

    /// The name for a message.
    pub(super) fn title(&self) -> String {
        shortened(&self.name)
    }
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// Rows, with a part of each column.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) rows: i64,
    pub(super) parts: Vec<Part>,
}

/// Where the bytes of a column are.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) compression: i64,
    pub(super) length: i64,
    data: i64,
    dictionary: i64,
}

impl Part {
    /// The dictionary is first, if there is one.
    pub(super) fn start(&self) -> i64 {
        if self.dictionary > 0 { self.dictionary } else { self.data }
    }
}

/// The schema of these columns for the crate that reads the rest.
pub(super) fn schema(columns: &[Column]) -> Result<SchemaDescriptor, String> {
    let fields = columns.iter().map(|column| {
        let physical = match column.kind {
            Kind::Double => Physical::DOUBLE,
            Kind::Float => Physical::FLOAT,
            Kind::Int { .. } => Physical::INT32,
            Kind::Long { .. } => Physical::INT64,
        };
        let repetition = if column.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        Type::primitive_type_builder(&column.name, physical).with_repetition(repetition).build().map(Arc::new)
    });
    let fields = fields.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let table = Type::group_type_builder("list").with_fields(fields).build();
    Ok(SchemaDescriptor::new(Arc::new(table.map_err(|error| error.to_string())?)))
}

/// The columns of a footer and the groups of rows.
pub(super) fn contents(footer: &[u8]) -> Result<(Vec<Column>, Vec<Group>), String> {
    let mut bytes = Compact { bytes: footer };
    let (mut columns, mut groups, mut last) = (Vec::new(), Vec::new(), 0);
    while let Some(field) = bytes.field(&mut last)? {
        match field {
            (2, LIST) => columns = bytes.columns()?,
            (4, LIST) => {
                let count = bytes.structures()?;
                groups = (0..count).map(|_| bytes.group(columns.len())).collect::<Result<_, _>>()?;
            }
            (_, kind) => bytes.skip(kind, MAX_NESTING)?,
        }
    }
    if columns.is_empty() {
        return Err(damaged("names no columns"));
    }
    Ok((columns, groups))
}

fn damaged(what: &str) -> String {
    format!("it is damaged: its footer {what}")
}

/// What the schema says of the table or of a column.
#[derive(Default)]
struct Element {
    physical: Option<i64>,
    repetition: Option<i64>,
    name: String,
    children: Option<i64>,
    /// The older way to say what the bytes mean.
    converted: Option<i64>,
    logical: Option<Logical>,
}

/// What the bytes of a column mean.
#[derive(Clone, Copy)]
enum Logical {
    Integer { signed: bool },
    Other,
}

fn column(element: Element) -> Result<Column, String> {
    let name = shortened(&element.name);
    if element.children.unwrap_or(0) != 0 {
        return Err(format!("`{name}` has columns of its own; try a flat table of numbers"));
    }
    let signed = match (element.logical, element.converted) {
        (Some(Logical::Integer { signed }), _) => Some(signed),
        (Some(Logical::Other), _) => None,
        (None, None | Some(15..=18)) => Some(true),
        (None, Some(11..=14)) => Some(false),
        (None, Some(_)) => None,
    };
    let kind = match (element.physical, signed) {
        (Some(1), Some(signed)) => Kind::Int { signed },
        (Some(2), Some(signed)) => Kind::Long { signed },
        (Some(4), Some(_)) => Kind::Float,
        (Some(5), Some(_)) => Kind::Double,
        _ => return Err(format!("the column `{name}` is no column of numbers")),
    };
    let optional = match element.repetition {
        Some(0) => false,
        Some(1) => true,
        _ => return Err(format!("`{name}` has several values in a row; try a flat table of numbers")),
    };
    Ok(Column { name: element.name, kind, optional })
}

/// What is left of bytes in the compact protocol.
pub(super) struct Compact<'a> {
    pub(super) bytes: &'a [u8],
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
    fn structures(&mut self) -> Result<usize, String> {
        match self.list()? {
            (STRUCT, count) | (_, count @ 0) => Ok(count),
            _ => Err(damaged("has a list of something else than structures")),
        }
    }

    fn columns(&mut self) -> Result<Vec<Column>, String> {
        let Some(count) = self.structures()?.checked_sub(1) else { return Ok(Vec::new()) };
        if count > MAX_COLUMNS {
            return Err(format!("it has {count} columns; {MAX_COLUMNS} can be read"));
        }
        let table = self.element()?;
        let columns = (0..count).map(|_| column(self.element()?)).collect::<Result<Vec<_>, _>>()?;
        if table.children.unwrap_or(0) != count as i64 {
            return Err(damaged("miscounts its columns"));
        }
        Ok(columns)
    }

    /// A group of rows with parts of so many columns.
    fn group(&mut self, columns: usize) -> Result<Group, String> {
        let (mut group, mut last) = (Group::default(), 0);
        while let Some(field) = self.field(&mut last)? {
            match field {
                (1, LIST) => {
                    let count = self.structures()?;
                    group.parts = (0..count).map(|_| self.part()).collect::<Result<_, _>>()?;
                }
                (3, I64) => group.rows = self.integer()?,
                (_, kind) => self.skip(kind, MAX_NESTING)?,
            }
        }
        if group.parts.len() != columns {
            return Err(damaged("has a group of rows that lacks columns"));
        }
        Ok(group)
    }

    /// Where a column is; that is the third field of a part.
    fn part(&mut self) -> Result<Part, String> {
        let (mut part, mut last) = (Part::default(), 0);
        while let Some(field) = self.field(&mut last)? {
            match field {
                (3, STRUCT) => {
                    let mut last = 0;
                    while let Some(field) = self.field(&mut last)? {
                        match field {
                            (4, I32) => part.compression = self.integer()?,
                            (7, I64) => part.length = self.integer()?,
                            (9, I64) => part.data = self.integer()?,
                            (11, I64) => part.dictionary = self.integer()?,
                            (_, kind) => self.skip(kind, MAX_NESTING)?,
                        }
                    }
                }
                (_, kind) => self.skip(kind, MAX_NESTING)?,
            }
        }
        Ok(part)
    }

    fn element(&mut self) -> Result<Element, String> {
        let mut element = Element::default();
        let mut last = 0;
        while let Some(field) = self.field(&mut last)? {
            match field {
                (1, I32) => element.physical = Some(self.integer()?),
                (3, I32) => element.repetition = Some(self.integer()?),
                (4, BINARY) => {
                    let length = self.natural()?;
                    let name = std::str::from_utf8(self.take(length)?);
                    element.name = name.map_err(|_| damaged("has a name that is no UTF-8"))?.to_owned();
                }
                (5, I32) => element.children = Some(self.integer()?),
                (6, I32) => element.converted = Some(self.integer()?),
                (10, STRUCT) => element.logical = self.logical()?,
                (_, kind) => self.skip(kind, MAX_NESTING)?,
            }
        }
        Ok(element)
    }

    /// One of several structures; that of integers is the tenth.
    fn logical(&mut self) -> Result<Option<Logical>, String> {
        let (mut logical, mut last) = (None, 0);
        while let Some(field) = self.field(&mut last)? {
            logical = Some(if field == (10, STRUCT) {
                self.integer_type()?
            } else {
                self.skip(field.1, MAX_NESTING)?;
                Logical::Other
            });
        }
        Ok(logical)
    }

    /// Its second field is whether there is a sign; the kind of a boolean field is its value.
    fn integer_type(&mut self) -> Result<Logical, String> {
        let (mut signed, mut last) = (true, 0);
        while let Some((number, kind)) = self.field(&mut last)? {
            if number == 2 {
                signed = kind != FALSE;
            }
            self.skip(kind, MAX_NESTING)?;
        }
        Ok(Logical::Integer { signed })
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
