//! TOML with places: tables, values and comments of a file, and errors that point at them.
//!
//! Reads nothing into a struct; it hands out keys and values in the order of the file, and says where they stand. Strings with
//! escapes are mapped back to the bytes of the file, so that an error inside a formula is shown where it was typed.

use crate::error::{Diagnostic, Error, Origin, Result, Source, nearest};
use crate::expr::{Formula, is_name, number_and_word};
use crate::system::Quantity;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// Larger system files are refused.
pub const MAX_FILE: usize = 4_000_000;

pub(crate) type Key<'a> = Spanned<DeString<'a>>;
pub(crate) type Item<'a> = Spanned<DeValue<'a>>;

/// A parsed file.
pub(crate) struct Document<'a> {
    pub(crate) source: &'a Arc<Source>,
    pub(crate) root: DeTable<'a>,
}

impl<'a> Document<'a> {
    /// Parses a file.
    pub(crate) fn new(source: &'a Arc<Source>) -> Result<Self> {
        match DeTable::parse(&source.text) {
            Ok(table) => Ok(Self { source, root: table.into_inner() }),
            Err(error) => Err(syntax_error(source, &error)),
        }
    }

    /// An error at a place.
    pub(crate) fn error(&self, range: Range<usize>, title: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.source, range, title)
    }

    /// A table of the file, if it is there.
    pub(crate) fn table(&self, name: &str) -> Result<Option<&DeTable<'a>>> {
        let Some((_, item)) = self.root.get_key_value(name) else { return Ok(None) };
        match item.get_ref() {
            DeValue::Table(table) => Ok(Some(table)),
            _ => Err(self.wrong_type(item, &format!("a table: write [{name}] on a line of its own")).into()),
        }
    }

    /// Complains of keys that are not known; `elsewhere` says where a key belongs if not here.
    pub(crate) fn check_keys(
        &self,
        table: &DeTable<'a>,
        name: &str,
        known: &[&str],
        elsewhere: impl Fn(&str) -> Option<String>,
    ) -> Result<()> {
        for (key, _) in table {
            let text = key.get_ref().as_ref();
            if known.contains(&text) {
                continue;
            }
            let place = if name.is_empty() { "here".to_owned() } else { format!("in [{name}]") };
            let title = format!("unknown key `{text}` {place}");
            return Err(match elsewhere(text) {
                Some(help) => self.error(key.span(), title).help(help),
                None => {
                    let hint = nearest(text, known.iter().copied());
                    let error = self.error(key.span(), format!("{title}{hint}"));
                    error.note(format!("known keys: {}", known.join(", ")))
                }
            }
            .into());
        }
        Ok(())
    }

    /// The error for a value of the wrong kind.
    pub(crate) fn wrong_type(&self, item: &Item<'a>, expected: &str) -> Diagnostic {
        let found = match item.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.error(item.span(), format!("expected {expected}")).label(format!("this is {found}"))
    }

    /// A text.
    pub(crate) fn string(&self, item: &Item<'a>) -> Result<String> {
        match item.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            _ => Err(self.wrong_type(item, "a text in quotes").into()),
        }
    }

    /// A number, or a formula in quotes.
    pub(crate) fn quantity(&self, item: &Item<'a>) -> Result<Quantity> {
        let number = |text: &str| {
            let text = text.replace('_', "");
            Quantity::written(
                &text,
                &Origin::new(self.source.clone(), &[(0, item.span().start)], item.span()),
            )
        };
        match item.get_ref() {
            DeValue::Integer(x) if x.radix() == 10 => Ok(number(x.as_str().trim_start_matches('+'))),
            DeValue::Integer(x) => match i64::from_str_radix(&x.as_str().replace('_', ""), x.radix()) {
                Ok(x) => Ok(Quantity::Number(x as f64)),
                Err(_) => Err(self.error(item.span(), "this number is too large").into()),
            },
            DeValue::Float(x) => {
                let text = x.as_str().trim_start_matches(['+', '-']);
                if matches!(text, "nan" | "inf") {
                    return Err(self.error(item.span(), format!("`{text}` is not a finite number")).into());
                }
                Ok(number(x.as_str().trim_start_matches('+')))
            }
            DeValue::String(text) => Ok(Quantity::written(text, &self.origin(item.span(), text))),
            _ => Err(self.wrong_type(item, "a number, or a formula in quotes").into()),
        }
    }

    /// A formula.
    pub(crate) fn formula(&self, item: &Item<'a>) -> Result<Formula> {
        self.quantity(item)?.formula()
    }

    /// A list of quantities, lists in it taken apart.
    pub(crate) fn quantities(&self, item: &Item<'a>) -> Result<Vec<Quantity>> {
        let mut list = Vec::new();
        match item.get_ref() {
            DeValue::Array(array) => {
                for part in array.iter() {
                    list.extend(self.quantities(part)?);
                }
            }
            _ => list.push(self.quantity(item)?),
        }
        Ok(list)
    }

    /// Where the text of a string or key stands, by its place with quotes.
    pub(crate) fn origin(&self, span: Range<usize>, text: &str) -> Origin {
        let raw = self.source.text.get(span.clone()).unwrap_or("");
        let pieces = pieces(raw, span.start, text);
        Origin::new(self.source.clone(), &pieces, span)
    }

    /// Unit and meaning from the comment `# [unit] meaning` behind a value that ends at a byte.
    pub(crate) fn comment(&self, end: usize) -> Option<(String, String)> {
        let rest = self.source.text.get(end..)?;
        let line = rest.lines().next()?.trim_start();
        let line = line.strip_prefix(',').unwrap_or(line).trim_start();
        let (unit, meaning) = line.strip_prefix('#')?.trim_start().strip_prefix('[')?.split_once(']')?;
        Some((unit.trim().to_owned(), meaning.trim().to_owned()))
    }
}

/// An error of TOML itself, in the same form.
pub(crate) fn syntax_error(source: &Arc<Source>, error: &toml::de::Error) -> Error {
    let end = source.text.len();
    let span = error.span().unwrap_or(end..end);
    let (title, mut notes) = match error.message().split_once('\n') {
        Some((title, rest)) => (title, vec![rest.trim().to_owned()]),
        None => (error.message(), Vec::new()),
    };
    let (title, help) = match in_other_words(&source.text, &span, title) {
        Some((title, help)) => (title, Some(help)),
        None => (title, None),
    };
    let mut diagnostic = Diagnostic::new(source, span, title);
    diagnostic.help.extend(help);
    diagnostic.notes.append(&mut notes);
    diagnostic.into()
}

const QUOTES: &str = "formulas and texts stand in quotes";
const UNIT: &str = "a unit stands in a comment, not behind its number";

/// What TOML complains of in the words of who writes formulas, and what to try.
fn in_other_words<'a>(text: &str, span: &Range<usize>, title: &'a str) -> Option<(&'a str, String)> {
    let line = Line::new(text, span);
    if title.contains("unquoted key") && !line.part.is_ascii() {
        return said(title, "keys with other letters than a to z stand in quotes: \"θ\" = 1");
    }
    let unquoted = title.starts_with("string values must be quoted");
    let followed = title.starts_with("unexpected key or value");
    if (unquoted || followed || title.ends_with(", expected nothing"))
        && let Some(found) = line.with_unit()
    {
        return Some(found);
    }
    // words that start like true, false, inf and nan are taken for them
    let mistaken = ["invalid boolean, expected `", "invalid float, expected `"];
    let word = mistaken.iter().any(|said| title.starts_with(said));
    match title {
        _ if unquoted || word => line.unquoted(word),
        _ if followed => line.followed(),
        _ if title.starts_with("key with no value") => Some(line.without_value()),
        _ if title.starts_with("extra `=`") => {
            said("there are two `=`", "one `=` stands between key and value")
        }
        _ if title.starts_with("cannot recurse further") => said(
            "brackets or braces are nested too deeply",
            "lists and tables of a file stand in one another a few times at most; is a closing bracket missing?",
        ),
        _ if title.starts_with("invalid mantissa") => said("a number starts with a digit", "write 0.5"),
        _ if title.starts_with("invalid fraction") => {
            said("a number with a point has digits behind it", "write 5.0, or 5")
        }
        _ if title.starts_with("invalid basic string, expected `\"`") => {
            said("the text in quotes does not end", "a quote `\"` is missing at the end of the line")
        }
        _ => None,
    }
}

fn said<'a>(title: &'a str, help: &str) -> Option<(&'a str, String)> {
    Some((title, help.to_owned()))
}

/// The line in which TOML found something wrong.
struct Line<'t> {
    /// What was found wrong, what stands before it and what from it on.
    part: &'t str,
    before: &'t str,
    rest: &'t str,
    key: &'t str,
    in_list: bool,
    /// All of the value: a sign, or a number that a word follows, is not part of the place.
    value: String,
}

impl<'t> Line<'t> {
    fn new(text: &'t str, span: &Range<usize>) -> Self {
        let part = text.get(span.clone()).unwrap_or("");
        let start = text.get(..span.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let before = text.get(start..span.start).unwrap_or("");
        let rest = text.get(span.start..).unwrap_or("").lines().next().unwrap_or("");
        let key = match before.starts_with('"') {
            true => before.rsplit_once('=').map_or("", |(key, _)| key).trim(),
            false => before.split('=').next().unwrap_or("").trim(),
        };
        let key = if key.is_empty() || key.len() > 40 { "key" } else { key };
        // a line of its own is one of a list
        let in_list = before.rsplit_once('=').is_none_or(|(_, value)| value.contains('['));
        let begun = before.rfind(['=', '[', ',']).map_or(before, |at| &before[at + 1..]).trim_start();
        let ends = if in_list { [',', ']', '#'] } else { ['#'; 3] };
        let following = rest.split(ends).next().unwrap_or("").trim_end();
        Self { part, before, rest, key, in_list, value: format!("{begun}{following}") }
    }

    /// A number with a unit, or a product without its sign.
    fn with_unit(&self) -> Option<(&'static str, String)> {
        let Self { key, in_list, value, .. } = self;
        if let Some((number, unit)) = bracketed(value) {
            return Some((UNIT, format!("write {key} = {number}  # [{unit}]")));
        }
        match number_and_word(value)? {
            (number, unit, true) if *in_list => {
                Some((UNIT, format!("write {number} here, and # [{unit}] behind the list")))
            }
            (number, unit, true) => {
                let product = format!("{key} = \"{number}*{unit}\" for a product");
                Some((UNIT, format!("write {key} = {number}  # [{unit}], or {product}")))
            }
            (number, word, false) if !in_list && value.len() < 60 && is_name(word) => {
                Some((QUOTES, format!("write {key} = \"{number}*{word}\"")))
            }
            _ => None,
        }
    }

    /// A text or formula without quotes.
    fn unquoted(&self, word: bool) -> Option<(&'static str, String)> {
        let part = if word { self.value.as_str() } else { self.part };
        let number = part.trim_start_matches(['-', '+']).to_ascii_lowercase();
        if matches!(number.as_str(), "nan" | "inf" | "infinity") {
            return said("this is not a finite number", "give one");
        }
        if part.contains(['“', '”', '„', '‘', '’']) {
            return said(QUOTES, "quotes are straight: \"…\"");
        }
        let operators = ['+', '*', '/', '^', '('];
        if self.in_list && part.contains([';', ' ']) && !part.contains(operators) {
            return said("expected `,` between the values of a list", "write [1, 0.5]");
        }
        match (self.in_list, part.len() < 60) {
            (true, true) => Some((QUOTES, format!("write \"{part}\""))),
            (false, true) => Some((QUOTES, format!("write {} = \"{part}\"", self.key))),
            _ => said(QUOTES, "write \"…\""),
        }
    }

    /// A value with something behind it.
    fn followed(&self) -> Option<(&'static str, String)> {
        let title = "something follows the value";
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let value = self.before.split_once('=').map_or("", |(_, value)| value.trim());
        if value.starts_with('"') {
            return said(title, "all of the formula stands in the quotes");
        }
        if value.contains(';') || self.rest.starts_with(';') {
            return said(title, "every key stands on a line of its own");
        }
        if self.rest.starts_with(',') {
            if digit(value.chars().next_back()) && digit(self.rest.chars().nth(1)) {
                return said(title, "a decimal point is written `.`, a list in brackets: [1, 0.5]");
            }
            return Some((title, format!("a list stands in brackets: {} = [a, b]", self.key)));
        }
        said(title, "a value ends with its line; formulas stand in quotes")
    }

    /// A key alone.
    fn without_value(&self) -> (&'static str, String) {
        let before = self.before.trim();
        let help = if before.starts_with("//") || before.starts_with("--") {
            "a comment starts with `#`".to_owned()
        } else if before.ends_with(':') {
            let name = before.trim_end_matches(':');
            format!("write {name} = …, or [{name}] for a table")
        } else if self.rest.starts_with('[') {
            format!("a key with brackets stands in quotes: \"{before}[i = 1..n]\" = …")
        } else {
            format!("write {before} = …")
        };
        ("expected `=` and a value", help)
    }
}

/// `9.81` and `m/s^2` for `9.81 [m/s^2]`.
fn bracketed(value: &str) -> Option<(&str, &str)> {
    let (number, unit) = value.strip_suffix(']')?.split_once('[')?;
    let number = number.trim();
    let found = number.parse::<f64>().is_ok() && value.len() < 60 && !unit.contains(['[', ',', '"']);
    found.then_some((number, unit.trim()))
}

/// Pairs of bytes, in the text of a string and in the file, for a string as it was typed with its quotes.
fn pieces(raw: &str, start: usize, text: &str) -> Vec<(usize, usize)> {
    let (quotes, escapes) = match raw {
        _ if raw.starts_with("\"\"\"") => (3, true),
        _ if raw.starts_with("'''") => (3, false),
        _ if raw.starts_with('"') => (1, true),
        _ if raw.starts_with('\'') => (1, false),
        _ => (0, false),
    };
    let mut at = quotes;
    if quotes == 3 {
        // a line break right behind the quotes does not count
        at += ["\r\n", "\n"].iter().find(|end| raw[at..].starts_with(**end)).map_or(0, |end| end.len());
    }
    let mut pieces = vec![(0, start + at)];
    if !escapes || !raw.contains('\\') {
        return pieces;
    }
    let bytes = raw.as_bytes();
    for (byte, c) in text.char_indices() {
        // a backslash at the end of a line swallows what is blank after it
        while bytes.get(at) == Some(&b'\\') && bytes.get(at + 1).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
            while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
                at += 1;
            }
        }
        if pieces.last().is_none_or(|(from, to)| to + (byte - from) != start + at) {
            pieces.push((byte, start + at));
        }
        at += match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'\\'), Some(b'u')) => 6,
            (Some(b'\\'), Some(b'U')) => 10,
            (Some(b'\\'), Some(b'x')) => 4,
            (Some(b'\\'), _) => 2,
            _ => c.len_utf8(),
        };
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the first `@` of a string stands in the file.
    fn place_of_mark(text: &str) -> (usize, usize) {
        let source = Source::new("f", text);
        let document = Document::new(&source).unwrap();
        let (_, item) = document.root.iter().next().unwrap();
        let value = item.get_ref().as_str().unwrap();
        let mark = value.find('@').unwrap();
        let origin = document.origin(item.span(), value);
        source.line_and_column(origin.range(mark..mark + 1).start)
    }

    #[test]
    fn places_inside_strings_are_those_of_the_file() {
        for (text, place) in [
            ("a = \"12@\"", (1, 8)),
            ("a = '12@'", (1, 8)),
            ("a = \"\\u03b8 \\t@\"", (1, 15)),
            ("a = \"\"\"\n1 +\n  @\"\"\"", (3, 3)),
            ("a = '''\nθ+\n @'''", (3, 2)),
            ("a = \"\"\"1 + \\\n   2\\\"@\"\"\"", (2, 7)),
        ] {
            assert_eq!(place_of_mark(text), place, "{text}");
        }
    }
}
