//! Lists of starts as text: a table with a line of names.

use super::List;
use crate::error::{Error, Result};
use std::io::BufRead;

impl List {
    /// Reads a table: comment lines with `#`, a line of names, a line for each row.
    pub fn read_csv(text: impl BufRead) -> Result<Self> {
        csv(text).map_err(|message| Error::BadStudy { message })
    }
}

type Read<T> = std::result::Result<T, String>;

fn csv(text: impl BufRead) -> Read<List> {
    let mut list = List::default();
    for (number, line) in text.lines().enumerate() {
        let line = line.map_err(|error| format!("line {}: {error}", number + 1))?;
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Read<Vec<&str>> = line.split(',').map(|field| unquoted(field.trim())).collect();
        let row = fields.and_then(|fields| {
            if list.names.is_empty() {
                names(fields.into_iter()).map(|names| list.names = names)
            } else {
                values(&list.names, &fields).map(|row| list.values.extend(row))
            }
        });
        row.map_err(|message| format!("line {}: {message}", number + 1))?;
    }
    if list.names.is_empty() {
        return Err("it is empty; the first line has the names of the columns, such as q1,q2".to_owned());
    }
    Ok(list)
}

/// A field without the quotes around it.
fn unquoted(field: &str) -> Read<&str> {
    let inner = field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(field);
    if inner.contains('"') {
        return Err(format!(
            "a quote is not closed, or stands within a value: `{field}`\n  close it before the next comma, or leave quotes out"
        ));
    }
    Ok(inner)
}

fn names<'a>(fields: impl Iterator<Item = &'a str>) -> Read<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for name in fields {
        if name.is_empty() {
            return Err("a column has no name".to_owned());
        }
        if name.parse::<f64>().is_ok() {
            return Err(format!(
                "`{name}` is a number; the first line has the names of the columns, such as q1,q2"
            ));
        }
        if names.iter().any(|other| other == name) {
            return Err(format!("two columns are called `{name}`"));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

fn values(names: &[String], fields: &[&str]) -> Read<Vec<f64>> {
    if fields.len() != names.len() {
        return Err(format!("{} values for {} columns ({})", fields.len(), names.len(), names.join(", ")));
    }
    let value = |(name, field): (&String, &&str)| match field.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err(format!("the value of `{name}` is not a finite number: {field}")),
        Err(_) if field.is_empty() => Err(format!("the value of `{name}` is missing")),
        Err(_) => Err(format!("the value of `{name}` is no number: `{field}`")),
    };
    names.iter().zip(fields).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_and_mistakes_have_their_line() {
        let list = csv("# a comment\n q1 , \"q2\"\n1,2\n\n-3e-2, 4 \n".as_bytes()).unwrap();
        assert_eq!(list.names, ["q1", "q2"]);
        assert_eq!(list.values, [1.0, 2.0, -0.03, 4.0]);
        for (text, message) in [
            ("", "it is empty"),
            ("1,2\n3,4\n", "line 1: `1` is a number"),
            ("q1,q1\n", "line 1: two columns are called `q1`"),
            ("q1,\n", "line 1: a column has no name"),
            ("q1,q2\n1,2\n3\n", "line 3: 1 values for 2 columns (q1, q2)"),
            ("q1,q2\n1,\n", "line 2: the value of `q2` is missing"),
            ("q1,q2\n1,one\n", "line 2: the value of `q2` is no number: `one`"),
            ("q1,\"q2\n1,2\n", "line 1: a quote is not closed, or stands within a value: `\"q2`"),
            ("q1,q2\n1,\"2\n", "line 2: a quote is not closed, or stands within a value: `\"2`"),
            ("q1,q2\n1,\"\n", "line 2: a quote is not closed"),
            ("q1,q2\n\"1,2\",3\n", "line 2: a quote is not closed"),
            ("q1,q2\n1,NaN\n", "line 2: the value of `q2` is not a finite number: NaN"),
        ] {
            let found = csv(text.as_bytes()).unwrap_err();
            assert!(found.contains(message), "{text}: {found}");
        }
    }
}
