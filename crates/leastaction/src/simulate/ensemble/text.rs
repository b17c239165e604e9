//! The table `[ensemble]` of a file, read so that errors show their place.

use super::spec::{Draw, Ensemble, MAX_SEED, Spread};
use crate::error::Result;
use crate::simulate::file::check_whole;
use crate::system::text::{Document, Item};
use indexmap::IndexMap;
use toml::de::{DeTable, DeValue};

/// Its keys.
const KEYS: [&str; 5] = ["vary", "draw", "list", "members", "seed"];

/// Reads the table, if there is one.
pub(in crate::simulate) fn read(document: &Document<'_>) -> Result<Option<Ensemble>> {
    let Some(table) = document.table("ensemble")? else { return Ok(None) };
    document.check_keys(table, "ensemble", &KEYS, |_| None)?;
    let seed = format!("`seed` must be a whole number from 0 to {MAX_SEED}");
    Ok(Some(Ensemble {
        list: table.get("list").map(|item| document.string(item)).transpose()?,
        members: whole(document, table, "members", 1, "`members` must be a whole number, 1 or more")?,
        seed: whole(document, table, "seed", 0, &seed)?,
        vary: named(document, table, "vary", |item| spread(document, item))?,
        draw: named(document, table, "draw", |item| {
            let text = document.string(item)?;
            Draw::read(&text, &document.origin(item.span(), &text))
        })?,
    }))
}

fn spread(document: &Document<'_>, item: &Item<'_>) -> Result<Spread> {
    match item.get_ref() {
        DeValue::String(text) => Spread::read(text, &document.origin(item.span(), text)),
        _ => Ok(Spread::Values(document.quantities(item)?)),
    }
}

/// A table in the table.
fn named<T>(
    document: &Document<'_>,
    table: &DeTable<'_>,
    key: &str,
    read: impl Fn(&Item<'_>) -> Result<T>,
) -> Result<IndexMap<String, T>> {
    let Some(item) = table.get(key) else { return Ok(IndexMap::new()) };
    let DeValue::Table(inner) = item.get_ref() else {
        let example = if key == "vary" { "q = \"0..1:100\"" } else { "q = \"uniform(0, 1)\"" };
        let expected = format!("a table of names: [ensemble.{key}] and below it {example}");
        return Err(document.wrong_type(item, &expected).into());
    };
    inner.iter().map(|(name, item)| Ok((name.get_ref().to_string(), read(item)?))).collect()
}

fn whole(
    document: &Document<'_>,
    table: &DeTable<'_>,
    key: &str,
    least: i64,
    words: &str,
) -> Result<Option<u64>> {
    table
        .get(key)
        .map(|item| check_whole(document, item, least..=i64::MAX, words))
        .transpose()
        .map(|x| x.map(|x| x as u64))
}
