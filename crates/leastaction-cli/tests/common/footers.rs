//! Footers of Parquet files, written to do harm.

/// Seven bits a byte, lowest first.
fn natural(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A file with nothing but a footer.
pub(crate) fn file_of(footer: &[u8]) -> Vec<u8> {
    [b"PAR1", footer, &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
}

/// A footer whose table has so many elements, each with these bytes.
pub(crate) fn footer_of(count: usize, element: &[u8]) -> Vec<u8> {
    // version 1; a list of structures; the table, called t, has one column
    let table = [0x48, 1, b't', 0x15, 2, 0];
    [&[0x15, 2, 0x19, 0xfc], &natural(count + 1)[..], &table, &element.repeat(count)].concat()
}
