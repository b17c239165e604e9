//! Formulas as text: `g/(2*pi)^2`, `-sqrt(m1 + m2)*cos(q1)`, `sum(i = 1..n, x[i]^2)`.
//!
//! A recursive-descent parser from text to an [`Ast`]. The same grammar serves numbers given on the command line, parameters
//! that depend on parameters, and Lagrangians; what names mean is left to `evaluate`.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = signed { ("*" | "/") signed }
//! signed  = { "-" | "+" } power
//! power   = entry [ "^" signed ]                right-associative, binds tighter than a sign in front: -x^2 = -(x^2)
//! entry   = atom { "[" sum "]" }
//! atom    = number | name | "(" sum ")" | "[" [ sum { "," sum } ] "]"
//!         | name "(" [ sum { "," sum } ] ")"
//!         | ("sum" | "product" | "list") "(" name "=" sum ".." sum "," sum ")"
//! ```

use super::graph::{Graph, NodeId};
use super::scope::Scope;
use super::slips;
use super::syntax::{Ast, Flaw, Formula, Kind, Loop, LoopKind};
use super::value::Value;
use crate::error::Result;

/// Deeper nesting than this is refused before it can exhaust the stack.
pub const MAX_DEPTH: usize = 200;
/// Numbers with more characters are refused.
const MAX_DIGITS: usize = 1000;
/// Formulas with more parts are refused before they fill the memory.
pub const MAX_PARTS: usize = 1_000_000;

/// Parses `text` into `graph`. `resolve` gives the node of a name, or `None` if it is unknown; `known` lists the
/// names for the error message.
pub fn parse(
    graph: &mut Graph,
    text: &str,
    known: &[String],
    resolve: &mut dyn FnMut(&mut Graph, &str) -> Option<NodeId>,
) -> Result<NodeId> {
    let formula = Formula::new(text)?;
    let mut scope = Scope::default();
    let mut stack = vec![&formula.ast];
    let mut names = Vec::new();
    while let Some(ast) = stack.pop() {
        if matches!(ast.kind, Kind::Name) {
            names.push(formula.of(ast));
        }
        stack.extend(ast.parts().into_iter().rev());
    }
    for name in names {
        if !scope.knows(name)
            && let Some(node) = resolve(graph, name)
        {
            scope.set(name, Value::Scalar(node));
        }
    }
    known.iter().for_each(|name| scope.hint(name));
    scope.scalar(graph, &formula)
}

type Parsed<T> = std::result::Result<T, Box<Flaw>>;

/// Reads a whole formula.
pub(super) fn read(text: &str) -> Parsed<Ast> {
    let mut parser = Parser { text, at: 0, depth: 0, parts: 0, opened: Vec::new() };
    if text.len() > u32::MAX as usize / 2 {
        return Err(Flaw::new(0..1, "the formula is too long"));
    }
    let ast = parser.sum()?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.unexpected("an operator or the end of the formula"));
    }
    Ok(ast)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    parts: usize,
    /// The brackets around.
    opened: Vec<(usize, char)>,
}

/// Whether a character can be part of a name.
pub fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a text is a name.
pub fn is_name(text: &str) -> bool {
    text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_') && text.chars().all(in_name)
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

    /// What comes next is not what the grammar wants here; common slips are recognised.
    fn unexpected(&mut self, expected: &str) -> Box<Flaw> {
        let Some(c) = self.peek() else {
            let flaw = Flaw::new(self.at..self.at, format!("expected {expected}, but the formula ends"));
            return self.with_opened(flaw);
        };
        let rest = self.rest();
        let slip = slips::slip(&self.text[..self.at], rest);
        let start = match c {
            // two signs that are one elsewhere
            '*' | '/' if slip.is_some() => self.text[..self.at].trim_end().len() - 1,
            _ => self.at,
        };
        let length = match &slip {
            Some(slip) if slip.length > 0 => slip.length,
            _ if in_name(c) => rest.find(|c: char| !in_name(c)).unwrap_or(rest.len()),
            _ => c.len_utf8(),
        };
        let place = start..self.at + length;
        let found = shortened(&self.text[place.clone()]);
        let flaw = Flaw::new(place, format!("expected {expected}, but found `{found}`"));
        match slip {
            Some(slip) => flaw.help(slip.help),
            None if matches!(c, ')' | ']' | ',' | ';') => self.with_opened(flaw),
            None => flaw,
        }
    }

    /// Shows the bracket that is still open, or that there is none.
    fn with_opened(&self, flaw: Box<Flaw>) -> Box<Flaw> {
        match (self.opened.last(), self.rest().chars().next()) {
            (Some((at, bracket)), _) => flaw.other(*at..*at + 1, format!("this `{bracket}` is open")),
            (None, Some(')' | ']')) => {
                flaw.help("there is no bracket that it closes: remove it, or open one before it")
            }
            (None, Some(',')) => {
                flaw.help("a decimal point is written `.`; a list stands in brackets: [a, b]")
            }
            (None, Some(';')) => flaw.help("entries of a list are separated by `,`"),
            _ => flaw,
        }
    }

    /// Takes an opening bracket.
    fn open(&mut self, bracket: char) {
        self.opened.push((self.at, bracket));
        self.at += bracket.len_utf8();
    }

    /// Runs a rule one level deeper.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            let place = self.at..(self.at + 1).min(self.text.len());
            return Err(Flaw::new(place, format!("more than {MAX_DEPTH} levels of nesting"))
                .help("give parts of it a name in [definitions]"));
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    fn make(&mut self, kind: Kind, start: usize) -> Parsed<Ast> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            let place = start..self.at.max(start);
            return Err(Flaw::new(place, format!("the formula has more than {MAX_PARTS} parts"))
                .help("write repeated terms with sum(i = 1..n, …)"));
        }
        let end = start + self.text[start..self.at].trim_end().len();
        Ok(Ast { kind, start: start as u32, end: end as u32 })
    }

    fn sum(&mut self) -> Parsed<Ast> {
        self.skip_space();
        let start = self.at;
        let first = self.product()?;
        let mut rest = Vec::new();
        while let Some(sign) = self.take(&['+', '-', '−']) {
            rest.push((sign != '+', self.product()?));
        }
        if rest.is_empty() { Ok(first) } else { self.make(Kind::Sum(Box::new(first), rest), start) }
    }

    fn product(&mut self) -> Parsed<Ast> {
        self.skip_space();
        let start = self.at;
        let first = self.signed()?;
        let mut rest = Vec::new();
        while let Some(sign) = self.take(&['*', '/', '·']) {
            rest.push((sign == '/', self.signed()?));
        }
        if rest.is_empty() { Ok(first) } else { self.make(Kind::Product(Box::new(first), rest), start) }
    }

    fn signed(&mut self) -> Parsed<Ast> {
        self.skip_space();
        let start = self.at;
        let mut negative = false;
        while let Some(sign) = self.take(&['+', '-', '−']) {
            negative ^= sign != '+';
        }
        let value = self.power()?;
        if negative { self.make(Kind::Minus(Box::new(value)), start) } else { Ok(value) }
    }

    fn power(&mut self) -> Parsed<Ast> {
        self.skip_space();
        let start = self.at;
        let base = self.nested(Self::entry)?;
        if self.take(&['^']).is_some() {
            let exponent = self.nested(Self::signed)?;
            return self.make(Kind::Power(Box::new(base), Box::new(exponent)), start);
        }
        Ok(base)
    }

    fn entry(&mut self) -> Parsed<Ast> {
        self.skip_space();
        let start = self.at;
        let mut value = self.atom()?;
        let mut depth = 0;
        while self.peek() == Some('[') {
            depth += 1;
            if depth > 8 {
                return Err(self.unexpected("an operator or the end of the formula"));
            }
            self.open('[');
            let index = self.nested(Self::sum)?;
            self.close(']')?;
            value = self.make(Kind::Entry(Box::new(value), Box::new(index)), start)?;
        }
        Ok(value)
    }

    fn atom(&mut self) -> Parsed<Ast> {
        match self.peek() {
            Some('(') => {
                self.open('(');
                let inner = self.sum()?;
                self.close(')')?;
                Ok(inner)
            }
            Some('[') => {
                let start = self.at;
                self.open('[');
                let list = self.list(']')?;
                self.make(Kind::Vector(list), start)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    fn close(&mut self, bracket: char) -> Parsed<()> {
        if self.take(&[bracket]).is_none() {
            return Err(self.unexpected(&format!("`{bracket}`")));
        }
        self.opened.pop();
        Ok(())
    }

    /// Formulas separated by commas, up to a bracket.
    fn list(&mut self, bracket: char) -> Parsed<Vec<Ast>> {
        let mut list = Vec::new();
        if self.take(&[bracket]).is_some() {
            self.opened.pop();
            return Ok(list);
        }
        loop {
            list.push(self.nested(Self::sum)?);
            if self.take(&[',']).is_some() {
                continue;
            }
            if self.take(&[bracket]).is_some() {
                self.opened.pop();
                return Ok(list);
            }
            return Err(self.unexpected(&format!("`,` or `{bracket}`")));
        }
    }

    fn number(&mut self) -> Parsed<Ast> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let digits = |mut i: usize| {
            while bytes.get(i).is_some_and(u8::is_ascii_digit) {
                i += 1;
            }
            i
        };
        let mut end = digits(start);
        // two points make a range: 1..n
        if bytes.get(end) == Some(&b'.') && bytes.get(end + 1) != Some(&b'.') {
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
        if literal.len() > MAX_DIGITS {
            let title = format!("a number with more than {MAX_DIGITS} characters");
            return Err(Flaw::new(start..end, title).help("so many digits are beyond every precision"));
        }
        match literal.parse::<f64>() {
            Ok(x) if x.is_finite() => {
                self.at = end;
                self.make(Kind::Number, start)
            }
            Ok(_) => {
                Err(Flaw::new(start..end, format!("`{}` is too large for a number", shortened(literal))))
            }
            Err(_) => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    fn name(&mut self) -> Parsed<Ast> {
        let start = self.at;
        let length = self.rest().find(|c: char| !in_name(c)).unwrap_or(self.rest().len());
        self.at += length;
        let end = self.at;
        if self.peek() != Some('(') {
            self.at = end;
            return self.make(Kind::Name, start);
        }
        self.open('(');
        let kind = match &self.text[start..end] {
            "sum" => Some(LoopKind::Sum),
            "product" => Some(LoopKind::Product),
            "list" => Some(LoopKind::List),
            _ => None,
        };
        if let Some(kind) = kind
            && self.is_loop()
        {
            return self.repeated(kind, start);
        }
        let list = match self.list(')') {
            Err(flaw) if kind.is_some() => return Err(self.loop_usage(flaw, start)),
            list => list?,
        };
        self.make(Kind::Call(length as u32, list), start)
    }

    /// Whether a name and `=` come next.
    fn is_loop(&mut self) -> bool {
        self.skip_space();
        let rest = self.rest();
        let after = rest.trim_start_matches(in_name);
        after.len() < rest.len() && after.trim_start().starts_with('=')
    }

    /// `i = a..b, e)`
    fn repeated(&mut self, kind: LoopKind, start: usize) -> Parsed<Ast> {
        let at = self.at;
        let length = self.rest().find(|c: char| !in_name(c)).unwrap_or(self.rest().len());
        let variable = at as u32..(at + length) as u32;
        if !is_name(&self.text[at..at + length]) {
            return Err(Flaw::new(at..at + length, "a loop variable is a name, such as `i`"));
        }
        self.at += length;
        self.take(&['=']);
        let from = self.nested(Self::sum)?;
        self.skip_space();
        if !self.rest().starts_with("..") {
            let flaw = self.unexpected("`..` and the end of the range, as in `i = 1..n`");
            return Err(self.loop_usage(flaw, start));
        }
        self.at += 2;
        if self.rest().starts_with('.') {
            let flaw = Flaw::new(self.at - 2..self.at + 1, "a range has two points");
            return Err(self.loop_usage(flaw, start));
        }
        let to = self.nested(Self::sum)?;
        if self.take(&[',']).is_none() {
            let flaw = self.unexpected("`,` and the formula to repeat");
            return Err(self.loop_usage(flaw, start));
        }
        let body = self.nested(Self::sum)?;
        self.close(')')?;
        self.make(Kind::Loop(Box::new(Loop { kind, variable, from, to, body })), start)
    }

    /// Adds how a sum, product or list that starts at a byte is written.
    fn loop_usage(&self, mut flaw: Box<Flaw>, start: usize) -> Box<Flaw> {
        let name: String = self.text[start..].chars().take_while(|c| in_name(*c)).collect();
        let range = ['.', ':'].iter().any(|c| self.rest().starts_with(*c));
        if !range && !["in ", "to ", "from ", ","].iter().any(|word| self.rest().starts_with(word)) {
            return flaw;
        }
        flaw.help.clear();
        flaw.help(format!("write {name}(i = 1..n, x[i])"))
    }
}

/// At most 24 characters.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(24) {
        None => text.to_owned(),
        Some(_) => text.chars().take(20).chain("…".chars()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tape::{Evaluator, Tape};
    use super::*;
    use crate::error::Error;
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
            ("sum(i = 1..4, i^2)", 30.0),
            ("product(i = 1..4, i)", 24.0),
            ("sum(i = 2..1, i) + product(i = 2..1, i)", 1.0),
            ("sum(i = 1..3, sum(j = i+1..3, i*j))", 11.0),
            ("list(i = 1..3, i/2)[3]", 1.5),
            ("norm([3, 4])", 5.0),
            ("dot([1, 2, 3], [4, 5, 6])", 32.0),
            ("cross([1, 2, 3], [4, 5, 6])[2]", 6.0),
            ("sum([1, 2] + 2*[3, 4]/2 - [0.5, 0.5])", 9.0),
            ("len(list(i = 1..7, 0)) + sum([])", 7.0),
            ("hypot(3, 4) + (length)", 7.0),
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
            ("atan2(1)", 1, "takes 2 arguments, but 1 is given"),
            ("", 1, "the formula ends"),
            ("1 + [1, 2]", 5, "cannot add a vector of 2 entries to a number"),
            ("[1, 2] - [1, 2, 3]", 10, "cannot subtract a vector of 3 entries from a vector of 2 entries"),
            ("[1, 2]*[3, 4]", 8, "cannot multiply"),
            ("1/[1, 2]", 3, "cannot divide a number by a vector"),
            ("[1, 2]^2", 1, "the base of a power must be a number"),
            ("sin([1])", 5, "the argument of sin must be a number"),
            ("[1, 2][3]", 8, "the vector has no entry 3; its entries are 1 to 2"),
            ("length[1]", 1, "is a number and has no entries"),
            ("[1, 2][g]", 8, "`g` cannot stand in an index"),
            ("[1, 2][3/2]", 8, "3/2 is not a whole number"),
            ("sum(i = 1..1000000000, i)", 1, "expands to more than"),
            ("sum(i = 1..100000, sum(j = 1..100000, i*j))", 1, "expands to more than"),
            ("sum(i = 1..9999999999999999, i)", 12, "too large"),
            ("sum(g = 1..2, g)", 5, "has a meaning already"),
            ("sum(i = 1, i)", 10, "expected `..`"),
            ("sum(1)", 5, "needs a range or a vector"),
            ("list(1, 2)", 1, "`list` needs a range"),
            ("a ** 2", 3, "found `**`"),
            ("g < 2", 3, "found `<`"),
            ("2 length", 3, "found `length`"),
            ("length(2)", 1, "unknown function `length`; did you mean `len`?"),
            ("nan + 1", 1, "not a finite number"),
            ("max(1, 2)", 1, "unknown function `max`"),
            ("sin", 1, "`sin` is a function"),
            ("cross([1, 2], [3, 4])", 1, "the vector product"),
            ("norm(2)", 6, "norm needs a vector"),
        ] {
            match value(text) {
                Err(Error::Source(d)) => {
                    assert!(
                        d.place() == (1, column) && d.title.contains(part),
                        "{text}: {:?} {d}",
                        d.place()
                    );
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_is_too_deep_or_too_long_is_refused_at_once() {
        let start = std::time::Instant::now();
        let terms = "1+".repeat(1_000_000) + "1";
        let nested = format!("{}1{}", "sum(i=1..2,".repeat(150), ")".repeat(150));
        for text in ["(".repeat(10_000_000), "2^".repeat(1_000_000), "[".repeat(1_000_000), terms, nested] {
            assert!(matches!(value(&text), Err(Error::Source(_))), "{}", &text[..10]);
        }
        assert!(start.elapsed().as_secs_f64() < 5.0, "{:?}", start.elapsed());
    }
}
