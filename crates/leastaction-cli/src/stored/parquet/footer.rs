//! The columns that the footer of a Parquet file names and where their bytes are, read without the crate that decodes these: that one
//! follows nested columns as deep as a file claims them to be, until the stack ends, and skips lists as long as a file claims.
//! Here whatever is not a flat table of numbers and words is refused, and the crate gets a schema that was made from what is left.
//!
//! A footer is a Thrift structure in the compact protocol (`compact`). Its second field is a list of the table and its columns, its
//! fourth one of groups of rows, its fifth one of notes: keys and values.

use super::compact::{BINARY, Compact, FALSE, I32, I64, LIST, STRUCT, damaged};
use parquet::basic::{Repetition, Type as Physical};
use parquet::schema::types::{SchemaDescriptor, Type};
use std::sync::Arc;

/// Columns of a table.
const MAX_COLUMNS: usize = 100_000;
/// Structures within structures that are skipped.
const MAX_NESTING: usize = 16;
/// Letters of a name in a message.
const MAX_NAME: usize = 160;

/// How the cells of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Double,
    Float,
    Int { signed: bool },
    Long { signed: bool },
    Word,
}

impl Kind {
    /// The bytes of a number, and those of a word at least, which are its length.
    pub(super) fn width(self) -> u64 {
        match self {
            Self::Double | Self::Long { .. } => 8,
            Self::Float | Self::Int { .. } | Self::Word => 4,
        }
    }
}

/// A column of numbers or words.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
    optional: bool,
}

impl Column {
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
            Kind::Word => Physical::BYTE_ARRAY,
        };
        let repetition = if column.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        Type::primitive_type_builder(&column.name, physical).with_repetition(repetition).build().map(Arc::new)
    });
    let fields = fields.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let table = Type::group_type_builder("table").with_fields(fields).build();
    Ok(SchemaDescriptor::new(Arc::new(table.map_err(|error| error.to_string())?)))
}

/// What a footer says.
#[derive(Default)]
pub(super) struct Footer {
    pub(super) columns: Vec<Column>,
    pub(super) groups: Vec<Group>,
    /// Keys and values that the writer left.
    pub(super) notes: Vec<(String, String)>,
}

pub(super) fn contents(footer: &[u8]) -> Result<Footer, String> {
    let mut bytes = Compact { bytes: footer };
    let (mut found, mut last) = (Footer::default(), 0);
    while let Some(field) = bytes.field(&mut last)? {
        match field {
            (2, LIST) => found.columns = bytes.columns()?,
            (4, LIST) => {
                let (count, columns) = (bytes.structures()?, found.columns.len());
                found.groups = (0..count).map(|_| bytes.group(columns)).collect::<Result<_, _>>()?;
            }
            (5, LIST) => {
                let count = bytes.structures()?;
                found.notes = (0..count).map(|_| bytes.note()).collect::<Result<_, _>>()?;
            }
            (_, kind) => bytes.skip(kind, MAX_NESTING)?,
        }
    }
    if found.columns.is_empty() {
        return Err(damaged("names no columns"));
    }
    // a group may say nothing of its columns, and the list of these may come after it
    if found.groups.iter().any(|group| group.parts.len() != found.columns.len()) {
        return Err(damaged("has a group of rows that lacks columns"));
    }
    Ok(found)
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
    Text,
    Other,
}

fn column(element: Element) -> Result<Column, String> {
    let name = shortened(&element.name);
    if element.children.unwrap_or(0) != 0 {
        return Err(format!("`{name}` has columns of its own; try a flat table of numbers"));
    }
    let meaning = element.logical.unwrap_or(match element.converted {
        None | Some(15..=18) => Logical::Integer { signed: true },
        Some(11..=14) => Logical::Integer { signed: false },
        Some(0) => Logical::Text,
        Some(_) => Logical::Other,
    });
    let kind = match (element.physical, meaning) {
        (Some(1), Logical::Integer { signed }) => Kind::Int { signed },
        (Some(2), Logical::Integer { signed }) => Kind::Long { signed },
        (Some(4), Logical::Integer { .. }) => Kind::Float,
        (Some(5), Logical::Integer { .. }) => Kind::Double,
        (Some(6), Logical::Text) => Kind::Word,
        _ => return Err(format!("the column `{name}` is no column of numbers")),
    };
    let optional = match element.repetition {
        Some(0) => false,
        Some(1) => true,
        _ => return Err(format!("`{name}` has several values in a row; try a flat table of numbers")),
    };
    Ok(Column { name: element.name, kind, optional })
}

impl Compact<'_> {
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
                    if count != columns {
                        return Err(damaged("has a group of rows that lacks columns"));
                    }
                    group.parts = (0..count).map(|_| self.part()).collect::<Result<_, _>>()?;
                }
                (3, I64) => group.rows = self.integer()?,
                (_, kind) => self.skip(kind, MAX_NESTING)?,
            }
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

    fn note(&mut self) -> Result<(String, String), String> {
        let (mut note, mut last) = ((String::new(), String::new()), 0);
        while let Some(field) = self.field(&mut last)? {
            match field {
                (1, BINARY) => note.0 = self.text()?.to_owned(),
                (2, BINARY) => note.1 = self.text()?.to_owned(),
                (_, kind) => self.skip(kind, MAX_NESTING)?,
            }
        }
        Ok(note)
    }

    fn element(&mut self) -> Result<Element, String> {
        let mut element = Element::default();
        let mut last = 0;
        while let Some(field) = self.field(&mut last)? {
            match field {
                (1, I32) => element.physical = Some(self.integer()?),
                (3, I32) => element.repetition = Some(self.integer()?),
                (4, BINARY) => element.name = self.text()?.to_owned(),
                (5, I32) => element.children = Some(self.integer()?),
                (6, I32) => element.converted = Some(self.integer()?),
                (10, STRUCT) => element.logical = self.logical()?,
                (_, kind) => self.skip(kind, MAX_NESTING)?,
            }
        }
        Ok(element)
    }

    /// One of several structures; that of texts is the first, that of integers the tenth.
    fn logical(&mut self) -> Result<Option<Logical>, String> {
        let (mut logical, mut last) = (None, 0);
        while let Some(field) = self.field(&mut last)? {
            logical = Some(if field == (10, STRUCT) {
                self.integer_type()?
            } else {
                self.skip(field.1, MAX_NESTING)?;
                if field == (1, STRUCT) { Logical::Text } else { Logical::Other }
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
}
