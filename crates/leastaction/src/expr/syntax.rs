//! What a formula says, before it means anything: its parts with their places in the text.
//!
//! Sums and products are lists, not nested pairs, so that the depth of a tree is the depth of the parentheses and a formula of
//! a million terms is walked without a deep stack.

use crate::error::{Diagnostic, Error, Origin, Source};
use std::ops::Range;
use std::sync::Arc;

/// A part of a formula, and where it stands in bytes.
#[derive(Clone, Debug)]
pub struct Ast {
    /// What it is.
    pub kind: Kind,
    /// Where it starts.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}

/// The kinds of parts.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A number; its text is the literal.
    Number,
    /// A name; its text is the name.
    Name,
    /// One entry of a vector: `x[i+1]`.
    Entry(Box<Ast>, Box<Ast>),
    /// `[a, b, c]`.
    Vector(Vec<Ast>),
    /// `-a`.
    Minus(Box<Ast>),
    /// `a + b - c`: the first term, then the others, `true` where they are subtracted.
    Sum(Box<Ast>, Vec<(bool, Ast)>),
    /// `a*b/c`: the first factor, then the others, `true` where they divide.
    Product(Box<Ast>, Vec<(bool, Ast)>),
    /// `a^b`.
    Power(Box<Ast>, Box<Ast>),
    /// `f(a, b)`; the name is the first bytes.
    Call(u32, Vec<Ast>),
    /// `sum(i = a..b, e)`.
    Loop(Box<Loop>),
}

/// A sum, product or list over a range.
#[derive(Clone, Debug)]
pub struct Loop {
    /// What is made of the values.
    pub kind: LoopKind,
    /// Its variable.
    pub variable: Range<u32>,
    /// The first value of the variable.
    pub from: Ast,
    /// The last.
    pub to: Ast,
    /// The formula for each.
    pub body: Ast,
}

/// What is made of the values of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LoopKind {
    Sum,
    Product,
    List,
}

impl Ast {
    /// Where it stands.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The parts right below.
    pub fn parts(&self) -> Vec<&Ast> {
        match &self.kind {
            Kind::Number | Kind::Name => Vec::new(),
            Kind::Entry(a, b) | Kind::Power(a, b) => vec![a, b],
            Kind::Vector(list) | Kind::Call(_, list) => list.iter().collect(),
            Kind::Minus(a) => vec![a],
            Kind::Sum(a, rest) | Kind::Product(a, rest) => {
                std::iter::once(&**a).chain(rest.iter().map(|(_, part)| part)).collect()
            }
            Kind::Loop(l) => vec![&l.from, &l.to, &l.body],
        }
    }

    /// How many parts there are in all.
    pub fn size(&self) -> u64 {
        1 + self.parts().iter().map(|part| part.size()).sum::<u64>()
    }
}

/// A formula: its text, its parts, and where it comes from.
#[derive(Clone, Debug)]
pub struct Formula {
    /// The text.
    pub text: String,
    /// What it says.
    pub ast: Ast,
    /// Where it comes from, if from anywhere.
    pub origin: Option<Origin>,
}

impl Formula {
    /// Reads a formula that comes from nowhere.
    pub fn new(text: &str) -> Result<Self, Error> {
        Self::from_origin(text, None)
    }

    /// Reads a formula that stands somewhere.
    pub fn from_origin(text: &str, origin: Option<Origin>) -> Result<Self, Error> {
        match super::parse::read(text) {
            Ok(ast) => Ok(Self { text: text.to_owned(), ast, origin }),
            Err(flaw) => Err(flaw.within(text, origin.as_ref()).into()),
        }
    }

    /// The text of a part.
    pub fn of(&self, ast: &Ast) -> &str {
        self.text.get(ast.range()).unwrap_or("")
    }

    /// The text of a range.
    pub fn slice(&self, range: &Range<u32>) -> &str {
        self.text.get(range.start as usize..range.end as usize).unwrap_or("")
    }

    /// The error for a flaw of this formula.
    pub fn error(&self, flaw: Flaw) -> Error {
        flaw.within(&self.text, self.origin.as_ref()).into()
    }
}

/// What is wrong with a formula, by its own bytes.
#[derive(Clone, Debug)]
pub struct Flaw {
    /// Where.
    pub range: Range<usize>,
    /// What is wrong.
    pub title: String,
    /// What is to say at that place.
    pub label: String,
    /// Other places that matter.
    pub others: Vec<(Range<usize>, String)>,
    /// What else is to say.
    pub notes: Vec<String>,
    /// What to try.
    pub help: Vec<String>,
}

impl Flaw {
    /// A flaw at a place.
    pub fn new(range: Range<usize>, title: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            range,
            title: title.into(),
            label: String::new(),
            others: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
        })
    }

    /// Says something at the place.
    pub fn label(mut self: Box<Self>, text: impl Into<String>) -> Box<Self> {
        self.label = text.into();
        self
    }

    /// Shows another place.
    pub fn other(mut self: Box<Self>, range: Range<usize>, text: impl Into<String>) -> Box<Self> {
        self.others.push((range, text.into()));
        self
    }

    /// Adds a note.
    pub fn note(mut self: Box<Self>, text: impl Into<String>) -> Box<Self> {
        self.notes.push(text.into());
        self
    }

    /// Says what to try.
    pub fn help(mut self: Box<Self>, text: impl Into<String>) -> Box<Self> {
        self.help.push(text.into());
        self
    }

    /// The message, at the place where the formula stands.
    pub fn within(self, text: &str, origin: Option<&Origin>) -> Diagnostic {
        let own;
        let origin = match origin {
            Some(origin) => origin,
            None => {
                own = Origin::part(Source::new("formula", text), 0, text.len());
                &own
            }
        };
        let mut diagnostic =
            Diagnostic::new(origin.source(), origin.range(self.range), self.title).label(self.label);
        // places in a text that was made of another one are all the same
        let others = self.others.into_iter().map(|(range, text)| (origin.range(range), text));
        diagnostic.others = others.filter(|(range, _)| *range != diagnostic.range).collect();
        diagnostic.notes = self.notes;
        diagnostic.help = self.help;
        diagnostic
    }
}

/// A formula that several definitions share.
pub type Shared = Arc<Formula>;
