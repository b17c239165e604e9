//! Expressions as formulas of a text.
//!
//! What is used more than once becomes a definition of its own, and so does what would make a formula long or deep. The text is read
//! from left to right like any other, and equal formulas become one node of the graph there.

use super::Expression;
use super::term::{Binary, Node, Role, Term, Unary};
use pyo3::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Longer formulas are taken apart.
const LONGEST: usize = 400;
/// Deeper ones too; the reader takes 200.
const DEEPEST: u32 = 40;
/// What is shown of an expression.
const SHOWN: usize = 200;

/// How strongly the parts of a formula hold together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bond {
    Sum,
    Product,
    Power,
    Whole,
}

/// A formula under way.
#[derive(Clone)]
struct Text {
    text: String,
    bond: Bond,
    depth: u32,
}

impl Text {
    fn whole(text: String) -> Self {
        Self { text, bond: Bond::Whole, depth: 0 }
    }
    /// In brackets if it holds together less than that.
    fn within(&self, bond: Bond) -> String {
        if self.bond < bond { format!("({})", self.text) } else { self.text.clone() }
    }
}

/// Nodes below some, each after those it is made of.
fn ordered<'a>(roots: impl IntoIterator<Item = &'a Node>) -> Vec<&'a Node> {
    let mut seen = HashSet::new();
    let mut order = Vec::new();
    for root in roots {
        let mut stack = vec![(root, false)];
        while let Some((node, finished)) = stack.pop() {
            if finished {
                order.push(node);
            } else if seen.insert(node.address()) {
                stack.push((node, true));
                let operands: Vec<&Node> = node.operands().collect();
                // the left one is finished first
                stack.extend(operands.into_iter().rev().map(|operand| (operand, false)));
            }
        }
    }
    order
}

struct Writer {
    prefix: String,
    /// One formula without definitions, however long.
    inline: bool,
    definitions: Vec<(String, String)>,
    texts: HashMap<usize, Text>,
}

impl Writer {
    fn of(&self, node: &Node) -> Text {
        self.texts.get(&node.address()).cloned().unwrap_or_else(|| Text::whole("0".to_owned()))
    }

    /// Writes a node whose operands are written.
    fn write(&mut self, node: &Node, shared: bool) {
        let text = self.text(node);
        let simple = matches!(node.term(), Term::Number(_) | Term::Name { .. });
        let large = text.text.len() > LONGEST || text.depth > DEEPEST;
        let text = if !simple && !self.inline && (shared || large) {
            let name = format!("{}{}", self.prefix, self.definitions.len() + 1);
            self.definitions.push((name.clone(), text.text));
            Text::whole(name)
        } else {
            text
        };
        self.texts.insert(node.address(), text);
    }

    fn text(&self, node: &Node) -> Text {
        let (op, a, b) = match node.term() {
            Term::Number(x) => return number(*x),
            Term::Name { name, .. } => return Text::whole(name.clone()),
            Term::Unary(op, a) => return unary(*op, &self.of(a)),
            Term::Binary(op, a, b) => (*op, self.of(a), self.of(b)),
        };
        let depth = 1 + a.depth.max(b.depth);
        // brackets only where reading from left to right needs them
        let (text, bond) = match op {
            Binary::Add => (format!("{} + {}", a.text, b.within(Bond::Product)), Bond::Sum),
            Binary::Sub => (format!("{} - {}", a.text, b.within(Bond::Product)), Bond::Sum),
            Binary::Mul => (format!("{}*{}", a.within(Bond::Product), b.within(Bond::Power)), Bond::Product),
            Binary::Div => (format!("{}/{}", a.within(Bond::Product), b.within(Bond::Power)), Bond::Product),
            Binary::Pow => (format!("{}^{}", a.within(Bond::Whole), b.within(Bond::Whole)), Bond::Power),
            Binary::Atan2 => (format!("atan2({}, {})", a.text, b.text), Bond::Whole),
            Binary::Hypot => (format!("hypot({}, {})", a.text, b.text), Bond::Whole),
        };
        Text { text, bond, depth }
    }
}

fn unary(op: Unary, a: &Text) -> Text {
    let depth = 1 + a.depth;
    match op {
        Unary::Neg => Text { text: format!("-{}", a.within(Bond::Power)), bond: Bond::Sum, depth },
        Unary::Call(name) => Text { text: format!("{name}({})", a.text), bond: Bond::Whole, depth },
    }
}

/// A number so that it reads back to the same bits. The double next to π is π, also where there are more digits.
fn number(x: f64) -> Text {
    if x.to_bits() == std::f64::consts::PI.to_bits() {
        return Text::whole("pi".to_owned());
    }
    let text = leastaction::error::number(x);
    if x.is_sign_negative() { Text { text, bond: Bond::Sum, depth: 0 } } else { Text::whole(text) }
}

/// Formulas of expressions, and the definitions they need: `([(name, formula), …], [formula, …])`. Names begin with a word that
/// none of `taken` begins with; with `inline` there are no definitions.
#[pyfunction]
#[pyo3(signature = (expressions, taken, inline=false))]
pub(crate) fn write(
    expressions: Vec<PyRef<'_, Expression>>,
    taken: Vec<String>,
    inline: bool,
) -> (Vec<(String, String)>, Vec<String>) {
    let mut prefix = "part".to_owned();
    while taken.iter().any(|name| name.starts_with(&prefix)) {
        prefix.push('_');
    }
    let roots: Vec<&Node> = expressions.iter().map(|expression| &expression.0).collect();
    let nodes = ordered(roots.iter().copied());
    let mut uses: HashMap<usize, u32> = HashMap::new();
    for node in &nodes {
        for operand in node.operands() {
            *uses.entry(operand.address()).or_default() += 1;
        }
    }
    let mut writer = Writer { prefix, inline, definitions: Vec::new(), texts: HashMap::new() };
    for node in nodes {
        writer.write(node, uses.get(&node.address()).is_some_and(|count| *count > 1));
    }
    let formulas = roots.iter().map(|root| writer.of(root).text).collect();
    (writer.definitions, formulas)
}

/// The names of the coordinates and of the parameters in expressions, in the order in which they were made, and whether time occurs.
#[pyfunction]
pub(crate) fn symbols_in(expressions: Vec<PyRef<'_, Expression>>) -> (Vec<String>, Vec<String>, bool) {
    let nodes = ordered(expressions.iter().map(|expression| &expression.0));
    let mut names: [BTreeMap<u64, String>; 3] = Default::default();
    for node in nodes {
        if let Term::Name { role, name, made } = node.term() {
            names[*role as usize].insert(*made, name.clone());
        }
    }
    let [coordinates, parameters, time] = names.map(|list| list.into_values().collect::<Vec<_>>());
    let distinct = |list: Vec<String>| {
        let mut seen = HashSet::new();
        list.into_iter().filter(|name| seen.insert(name.clone())).collect()
    };
    (distinct(coordinates), distinct(parameters), !time.is_empty())
}

/// An expression as a formula, shortened.
pub(super) fn shown(root: &Node) -> String {
    let mut writer =
        Writer { prefix: "…".to_owned(), inline: false, definitions: Vec::new(), texts: HashMap::new() };
    for node in ordered([root]) {
        writer.write(node, false);
    }
    let text = match (root.term(), writer.of(root).text) {
        (Term::Name { role: Role::Time, .. }, _) => "t".to_owned(),
        (_, text) => text,
    };
    if text.chars().count() <= SHOWN { text } else { text.chars().take(SHOWN).chain(['…']).collect() }
}
