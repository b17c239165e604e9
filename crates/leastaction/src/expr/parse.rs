//! Formulas as text: `g/(2*pi)^2`, `-sqrt(m1 + m2)*cos(q1)`.
//!
//! A recursive-descent parser from text to a graph node. Names are resolved by the caller, so the same grammar
//! serves numbers given on the command line, parameters that depend on parameters, and Lagrangians.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = signed { ("*" | "/") signed }
//! signed  = { "-" | "+" } power
//! power   = atom [ "^" signed ]                 right-associative, binds tighter than a sign in front: -x^2 = -(x^2)
//! atom    = number | name | function "(" sum { "," sum } ")" | "(" sum ")"
//! ```

use super::graph::{Graph, NodeId, Unary};
use crate::error::{Error, Result, nearest};

/// Deeper nesting than this is refused before it can exhaust the stack.
const MAX_DEPTH: usize = 200;

/// Functions of one argument, by name.
const FUNCTIONS: [(&str, Unary); 15] = [
    ("sqrt", Unary::Sqrt),
    ("exp", Unary::Exp),
    ("log", Unary::Ln),
    ("ln", Unary::Ln),
    ("sin", Unary::Sin),
    ("cos", Unary::Cos),
    ("tan", Unary::Tan),
    ("asin", Unary::Asin),
    ("acos", Unary::Acos),
    ("atan", Unary::Atan),
    ("sinh", Unary::Sinh),
    ("cosh", Unary::Cosh),
    ("tanh", Unary::Tanh),
    ("abs", Unary::Abs),
    ("sign", Unary::Sign),
];

/// Parses `text` into `graph`. `resolve` gives the node of a name, or `None` if it is unknown; `known` lists the
/// names for the error message.
pub fn parse(
    graph: &mut Graph,
    text: &str,
    known: &[String],
    resolve: &mut dyn FnMut(&mut Graph, &str) -> Option<NodeId>,
) -> Result<NodeId> {
    let mut parser = Parser { text, at: 0, depth: 0, graph, known, resolve };
    let result = parser.sum()?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.unexpected("an operator or the end of the formula"));
    }
    Ok(result)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    graph: &'a mut Graph,
    known: &'a [String],
    resolve: &'a mut dyn FnMut(&mut Graph, &str) -> Option<NodeId>,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    /// Takes the next character if it is one of `choices`.
    fn take(&mut self, choices: &[char]) -> Option<char> {
        let next = self.peek().filter(|c| choices.contains(c))?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn error(&self, at: usize, message: String) -> Error {
        let column = self.text[..at].chars().count() + 1;
        Error::Formula { formula: self.text.to_owned(), column, message }
    }

    fn unexpected(&mut self, expected: &str) -> Error {
        let found = match self.peek() {
            Some(c) => format!("found `{c}`"),
            None => "the formula ends".to_owned(),
        };
        self.error(self.at, format!("expected {expected}, but {found}"))
    }

    /// Runs a rule one level deeper.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return Err(
                self.error(self.at, format!("more than {MAX_DEPTH} levels of nesting; name parts of it"))
            );
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    fn sum(&mut self) -> Result<NodeId> {
        let mut sum = self.product()?;
        while let Some(sign) = self.take(&['+', '-', '−']) {
            let term = self.product()?;
            sum = if sign == '+' { self.graph.add(sum, term) } else { self.graph.sub(sum, term) };
        }
        Ok(sum)
    }

    fn product(&mut self) -> Result<NodeId> {
        let mut product = self.signed()?;
        while let Some(sign) = self.take(&['*', '/', '·']) {
            let factor = self.signed()?;
            product =
                if sign == '/' { self.graph.div(product, factor) } else { self.graph.mul(product, factor) };
        }
        Ok(product)
    }

    fn signed(&mut self) -> Result<NodeId> {
        let mut negative = false;
        while let Some(sign) = self.take(&['+', '-', '−']) {
            negative ^= sign != '+';
        }
        let value = self.power()?;
        Ok(if negative { self.graph.neg(value) } else { value })
    }

    fn power(&mut self) -> Result<NodeId> {
        let base = self.nested(Self::atom)?;
        if self.take(&['^']).is_some() {
            let exponent = self.nested(Self::signed)?;
            return Ok(self.graph.pow(base, exponent));
        }
        Ok(base)
    }

    fn atom(&mut self) -> Result<NodeId> {
        match self.peek() {
            Some('(') => {
                self.take(&['(']);
                let inner = self.sum()?;
                self.close()?;
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    fn close(&mut self) -> Result<()> {
        if self.take(&[')']).is_none() {
            return Err(self.unexpected("`)`"));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<NodeId> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let digits = |mut i: usize| {
            while bytes.get(i).is_some_and(u8::is_ascii_digit) {
                i += 1;
            }
            i
        };
        let mut end = digits(start);
        if bytes.get(end) == Some(&b'.') {
            end = digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let after = digits(end + 1 + signed);
            if after > end + 1 + signed {
                end = after;
            }
        }
        let literal = &self.text[start..end];
        match literal.parse::<f64>() {
            Ok(x) if x.is_finite() => {
                self.at = end;
                Ok(self.graph.decimal(literal))
            }
            Ok(_) => Err(self.error(start, format!("`{literal}` is too large for a number"))),
            Err(_) => Err(self.error(start, format!("`{literal}` is not a number"))),
        }
    }

    fn name(&mut self) -> Result<NodeId> {
        let start = self.at;
        let length =
            self.rest().find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(self.rest().len());
        let name = self.text[start..start + length].to_owned();
        self.at += length;
        if self.peek() == Some('(') {
            return self.call(&name, start);
        }
        if let Some(id) = (self.resolve)(self.graph, &name) {
            return Ok(id);
        }
        match name.as_str() {
            "pi" | "π" => Ok(self.graph.pi()),
            "period" => {
                let message =
                    "no period is known for this system and initial state; give a number".to_owned();
                Err(self.error(start, message))
            }
            "nan" | "NaN" | "inf" | "infinity" => {
                Err(self.error(start, format!("`{name}` is not a finite number; give one")))
            }
            _ => {
                let hint = nearest(&name, self.known.iter().map(String::as_str).chain(["pi"]));
                Err(self.error(start, format!("unknown name `{name}`{hint}")))
            }
        }
    }

    fn call(&mut self, name: &str, start: usize) -> Result<NodeId> {
        let unary = FUNCTIONS.iter().find(|(known, _)| *known == name);
        if unary.is_none() && !matches!(name, "atan2" | "pow") {
            let names = FUNCTIONS.iter().map(|(known, _)| *known).chain(["atan2", "pow"]);
            let hint = nearest(name, names);
            return Err(self.error(start, format!("unknown function `{name}`{hint}")));
        }
        self.take(&['(']);
        let first = self.nested(Self::sum)?;
        let result = match unary {
            Some((_, op)) => self.graph.unary(*op, first),
            None => {
                if self.take(&[',']).is_none() {
                    return Err(self.unexpected(&format!("`,` and the second argument of {name}")));
                }
                let second = self.nested(Self::sum)?;
                if name == "pow" { self.graph.pow(first, second) } else { self.graph.atan2(first, second) }
            }
        };
        self.close()?;
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tape::{Evaluator, Tape};
    use super::*;
    use std::sync::Arc;

    fn value(text: &str) -> Result<f64> {
        let mut graph = Graph::new();
        let known = ["g".to_owned(), "length".to_owned()];
        let node = parse(&mut graph, text, &known, &mut |graph, name| match name {
            "g" => Some(graph.decimal("9.81")),
            "length" => Some(graph.number(2.0)),
            _ => None,
        })?;
        let mut out = [0.0];
        Evaluator::new(Arc::new(Tape::new(&graph, 0, &[node])), &[]).evaluate(&[], &[], &0.0, &mut out);
        Ok(out[0])
    }

    #[test]
    fn precedence_and_functions() {
        for (text, expected) in [
            ("1 + 2*3", 7.0),
            ("-2^2", -4.0),
            ("2^-1", 0.5),
            ("2^3^2", 512.0),
            ("(1+2)*3/4 - -1", 3.25),
            ("g/(2*pi)^2", 9.81 / (2.0 * std::f64::consts::PI).powi(2)),
            ("atan2(1, 1)*4", std::f64::consts::PI),
            ("pow(length, 0.5)", 2f64.sqrt()),
            ("1.5e2 + .5", 150.5),
            ("sqrt(16) + abs(-3) + exp(0) + log(1)", 8.0),
            ("π", std::f64::consts::PI),
        ] {
            assert_eq!(value(text).expect(text), expected, "{text}");
        }
    }

    #[test]
    fn errors_name_the_place_and_the_nearest_name() {
        for (text, column, part) in [
            ("1 +", 4, "the formula ends"),
            ("lenght*2", 1, "did you mean `length`"),
            ("sn(1)", 1, "did you mean `sin`"),
            ("(1+2", 5, "expected `)`"),
            ("2 3", 3, "found `3`"),
            ("1e999", 1, "too large"),
            ("atan2(1)", 8, "second argument"),
            ("", 1, "the formula ends"),
        ] {
            match value(text) {
                Err(Error::Formula { column: c, message, .. }) => {
                    assert!(c == column && message.contains(part), "{text}: {c} {message}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = "(".repeat(100_000);
        assert!(matches!(value(&deep), Err(Error::Formula { .. })));
        let powers = "2^".repeat(100_000);
        assert!(value(&powers).is_err());
    }
}
