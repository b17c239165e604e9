//! Bytes as a table of starts in Parquet: each is a list whose numbers are finite, or refused.
#![no_main]

#[path = "../../crates/leastaction-cli/src/stored/mod.rs"]
#[allow(dead_code)]
mod stored;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match stored::parquet::list(bytes::Bytes::copy_from_slice(data)) {
        Err(message) => assert!(!message.is_empty()),
        Ok(list) => {
            assert!(list.values.len() == list.rows() as usize * list.names.len());
            assert!(list.values.iter().all(|x| x.is_finite()));
        }
    }
});
