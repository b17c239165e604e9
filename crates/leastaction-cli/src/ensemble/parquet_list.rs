//! Lists of starts as Parquet. Uses nothing of the command, so that it can be fuzzed alone.

use leastaction::simulate::ensemble::List;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::record::Field;
use std::panic::{self, AssertUnwindSafe};

/// A table of starts. The reader of the format panics at some damaged files, and that is an answer like any other.
pub(crate) fn read(file: impl ChunkReader + 'static) -> Result<List, String> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let list = panic::catch_unwind(AssertUnwindSafe(|| rows(file)));
    panic::set_hook(hook);
    list.unwrap_or_else(|_| Err("it is damaged: its parts do not fit together".to_owned()))
}

fn rows(file: impl ChunkReader + 'static) -> Result<List, String> {
    let reader = SerializedFileReader::new(file).map_err(|error| error.to_string())?;
    let mut list = List::default();
    for (row, fields) in reader.get_row_iter(None).map_err(|error| error.to_string())?.enumerate() {
        let fields = fields.map_err(|error| error.to_string())?;
        for (name, field) in fields.get_column_iter() {
            if row == 0 {
                list.names.push(name.clone());
            }
            let value = match field {
                Field::Double(x) => *x,
                Field::Float(x) => f64::from(*x),
                Field::Byte(x) => f64::from(*x),
                Field::Short(x) => f64::from(*x),
                Field::Int(x) => f64::from(*x),
                Field::Long(x) => *x as f64,
                Field::UInt(x) => f64::from(*x),
                Field::ULong(x) => *x as f64,
                other => return Err(format!("row {}: `{name}` is no number: {other}", row + 1)),
            };
            if !value.is_finite() {
                return Err(format!("row {}: `{name}` is not a finite number: {value}", row + 1));
            }
            list.values.push(value);
        }
    }
    Ok(list)
}
