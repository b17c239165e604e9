//! A column of words. Each is kept once and is short, because a few bytes of a file can say a word any number of times.

use std::collections::HashMap;

/// Bytes of a word: the name of an event or a status.
const MAX_WORD: usize = 200;

/// Words, one a row.
#[derive(Debug, Default)]
pub(crate) struct Words {
    different: Vec<String>,
    numbers: HashMap<String, u32>,
    rows: Vec<u32>,
}

impl Words {
    /// From one word after the other.
    pub(crate) fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut all = Self::default();
        words.into_iter().try_for_each(|word| all.push(word))?;
        Ok(all)
    }

    pub(crate) fn push(&mut self, word: &str) -> Result<(), String> {
        if word.len() > MAX_WORD {
            return Err(format!("a word has {} bytes; {MAX_WORD} can be read", word.len()));
        }
        let number = self.numbers.get(word).copied().unwrap_or_else(|| {
            let number = self.different.len() as u32;
            self.different.push(word.to_owned());
            self.numbers.insert(word.to_owned(), number);
            number
        });
        self.rows.push(number);
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|number| self.different[*number as usize].as_str())
    }

    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        self.rows.get(row).map(|number| self.different[*number as usize].as_str())
    }
}
