//! Lists of starts in files: which kind, by the ending. They are held in memory, eight bytes a number.

use crate::{Ending, stored};
use leastaction::simulate::ensemble::List;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Reads a list, by the ending of its file.
pub(super) fn read(path: &Path) -> Result<List, Ending> {
    let file = || match std::fs::metadata(path) {
        // a device may never end
        Ok(data) if !data.is_file() => Err("it is no regular file\n  give the path of a table".to_owned()),
        _ => File::open(path).map_err(|error| error.to_string()),
    };
    let list = match stored::extension(path).as_str() {
        "csv" => file().and_then(|file| List::read_csv(BufReader::new(file)).map_err(|e| e.to_string())),
        #[cfg(feature = "parquet")]
        "parquet" => file().and_then(stored::parquet::list),
        #[cfg(not(feature = "parquet"))]
        "parquet" => {
            Err("this build cannot read Parquet\n  try .csv, or build with `--features parquet`".to_owned())
        }
        _ => Err("unknown kind of list; try a table with named columns as .csv".to_owned()),
    };
    list.map_err(|message| Ending::BadInput(format!("the list `{}`: {message}", path.display())))
}
