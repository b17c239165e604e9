//! Bytes as a result, as `verify` reads it: CSV, NPZ or Parquet, by the bytes it begins with. Each is a table whose columns are as long as each
//! other, or refused.
#![no_main]

#[path = "../../crates/leastaction-cli/src/stored/mod.rs"]
#[allow(dead_code)]
mod stored;

use libfuzzer_sys::fuzz_target;
use stored::Stored;

fuzz_target!(|data: &[u8]| {
    let ending = match data.get(..2) {
        Some(b"PK") => "npz",
        Some(b"PA") => "parquet",
        _ => "csv",
    };
    let path = std::env::temp_dir().join(format!("leastaction-fuzz-{}.{ending}", std::process::id()));
    std::fs::write(&path, data).expect("a file is written");
    let _ = stored::run_of(&path);
    match Stored::read(&path) {
        Err(message) => assert!(!message.is_empty()),
        Ok(table) => {
            assert!(table.columns.iter().all(|(_, cells)| cells.len() == table.rows()));
            assert_eq!(table.own_seal().len(), 16);
        }
    }
});
