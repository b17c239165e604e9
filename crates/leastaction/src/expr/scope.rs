//! What names mean: numbers, vectors, and definitions that are evaluated when they are first needed.
//!
//! Definitions may come in any order and use each other. Before a formula is evaluated, the definitions it needs are, in the
//! order in which they were made; chains of any length are walked with a stack of their own. Every definition, and every
//! entry of an indexed one, is evaluated once.

use super::evaluate::Evaluation;
use super::graph::{Graph, NodeId};
use super::rate::Rates;
use super::syntax::{Ast, Flaw, Formula, Kind, LoopKind, Shared};
use super::value::{CONSTANTS, Value};
use crate::error::{Origin, Result};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Loops and indexed definitions that expand to more parts than this are refused.
pub const MAX_EXPANSION: u64 = 10_000_000;

/// The names that formulas may use.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    pub(super) entries: FxHashMap<String, Entry>,
    pub(super) items: Vec<Item>,
    hints: Vec<String>,
    elsewhere: Option<Arc<Elsewhere>>,
    pub(super) rates: Rates,
    /// How much has been expanded so far.
    pub(super) expanded: u64,
}

/// Names that mean something, but not in every formula.
pub type Elsewhere = FxHashMap<String, Role>;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Role {
    Size,
    Parameter,
    Coordinate,
    Definition,
    Output,
}

/// What a name means.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) meaning: Meaning,
    /// How many definitions of this name wait for their value.
    waiting: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Meaning {
    /// A whole number that may stand in an index.
    Whole(i64),
    /// A number or a vector.
    Value(Value),
    /// A definition.
    Item(usize),
    /// Definitions by index.
    Family(BTreeMap<i64, usize>),
    /// A name that may not be used here, and why.
    Refused(String),
}

/// A definition.
#[derive(Clone, Debug)]
pub(super) struct Item {
    name: Arc<str>,
    index: Option<i64>,
    formula: Shared,
    /// The variable of an indexed definition.
    variable: Option<Arc<str>>,
    pub(super) value: Option<Value>,
    open: bool,
}

impl Item {
    fn title(&self) -> String {
        self.index.map_or_else(|| format!("`{}`", self.name), |i| format!("`{}[{i}]`", self.name))
    }

    fn bindings(&self) -> Vec<(Arc<str>, i64)> {
        self.variable.iter().cloned().zip(self.index).collect()
    }
}

impl Scope {
    fn insert(&mut self, name: &str, meaning: Meaning, waiting: usize) {
        self.entries.insert(name.to_owned(), Entry { meaning, waiting });
    }

    /// A whole number, which may stand in an index.
    pub fn set_whole(&mut self, name: &str, value: i64) {
        self.insert(name, Meaning::Whole(value), 0);
    }

    /// A number or a vector.
    pub fn set(&mut self, name: &str, value: Value) {
        self.insert(name, Meaning::Value(value), 0);
    }

    /// A name that may not be used, and why.
    pub fn refuse(&mut self, name: &str, why: &str) {
        self.insert(name, Meaning::Refused(why.to_owned()), 0);
    }

    /// A name that is proposed instead of a wrong one, without a meaning.
    pub fn hint(&mut self, name: &str) {
        self.hints.push(name.to_owned());
    }

    /// Names that mean something in other formulas; who uses them here is told so.
    pub fn set_elsewhere(&mut self, names: Option<Arc<Elsewhere>>) {
        self.elsewhere = names;
    }

    /// Whether a name means something.
    pub fn knows(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// The names, but for refused ones.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let meant = self.entries.iter().filter(|(_, e)| !matches!(e.meaning, Meaning::Refused(_)));
        meant.map(|(name, _)| name.as_str()).chain(self.hints.iter().map(String::as_str))
    }

    /// A definition.
    pub fn define(&mut self, name: &str, formula: Shared) {
        let item = self.items.len();
        let name: Arc<str> = name.into();
        self.insert(&name.clone(), Meaning::Item(item), 1);
        self.items.push(Item { name, index: None, formula, variable: None, value: None, open: false });
    }

    /// One entry of an indexed definition; the variable, if there is one, has the value of the index in the formula.
    pub fn define_entry(&mut self, name: &str, index: i64, formula: Shared, variable: Option<Arc<str>>) {
        let item = self.items.len();
        let new = || Entry { meaning: Meaning::Family(BTreeMap::new()), waiting: 0 };
        let entry = self.entries.entry(name.to_owned()).or_insert_with(new);
        if let Meaning::Family(family) = &mut entry.meaning {
            entry.waiting += 1;
            family.insert(index, item);
            self.items.push(Item {
                name: name.into(),
                index: Some(index),
                formula,
                variable,
                value: None,
                open: false,
            });
        }
    }

    /// Evaluates a formula, after the definitions it needs.
    pub fn evaluate(&mut self, graph: &mut Graph, formula: &Formula) -> Result<Value> {
        self.evaluate_with(graph, formula, Vec::new())
    }

    /// The same, with values for variables.
    pub fn evaluate_with(
        &mut self,
        graph: &mut Graph,
        formula: &Formula,
        bindings: Vec<(Arc<str>, i64)>,
    ) -> Result<Value> {
        let needs = self.needs(formula, bindings.clone())?;
        self.settle(graph, needs)?;
        let mut evaluation = Evaluation { scope: self, graph, formula, bindings };
        evaluation.value(&formula.ast).map_err(|flaw| formula.error(*flaw))
    }

    /// The smallest part of a formula, or of a definition it uses, that is not finite although its parts are: the formula, the
    /// place in it, and the value. `number` gives the numbers of nodes.
    pub fn culprit(
        &mut self,
        graph: &mut Graph,
        formula: &Shared,
        number: &mut dyn FnMut(&Graph, NodeId) -> f64,
    ) -> Option<(Shared, Range<usize>, f64)> {
        self.culprit_with(graph, formula, Vec::new(), number, 0)
    }

    /// The same, with values for variables.
    pub(super) fn culprit_with(
        &mut self,
        graph: &mut Graph,
        formula: &Shared,
        bindings: Vec<(Arc<str>, i64)>,
        number: &mut dyn FnMut(&Graph, NodeId) -> f64,
        depth: u32,
    ) -> Option<(Shared, Range<usize>, f64)> {
        let mut evaluation = Evaluation { scope: self, graph, formula, bindings };
        evaluation.culprit(formula, &formula.ast, number, depth)
    }

    /// The formula of a definition, and the value of its variable.
    pub(super) fn definition(&self, item: usize) -> (Shared, Vec<(Arc<str>, i64)>) {
        (self.items[item].formula.clone(), self.items[item].bindings())
    }

    /// Evaluates a formula that must give a number.
    pub fn scalar(&mut self, graph: &mut Graph, formula: &Formula) -> Result<NodeId> {
        match self.evaluate(graph, formula)? {
            Value::Scalar(node) => Ok(node),
            vector => {
                let flaw = Flaw::new(
                    formula.ast.range(),
                    format!("expected a number, but this is {}", vector.kind()),
                );
                Err(formula
                    .error(*flaw.help("the length of a vector is norm(v), the sum of its entries sum(v)")))
            }
        }
    }

    /// Evaluates a formula of whole numbers and sizes.
    pub fn whole(&mut self, formula: &Formula) -> Result<i64> {
        self.whole_part(formula, &formula.ast, Vec::new())
    }

    /// The same for a part of a formula, with values for variables.
    pub fn whole_part(
        &mut self,
        formula: &Formula,
        part: &Ast,
        bindings: Vec<(Arc<str>, i64)>,
    ) -> Result<i64> {
        let mut graph = Graph::new();
        let mut evaluation = Evaluation { scope: self, graph: &mut graph, formula, bindings };
        evaluation.whole(part).map_err(|flaw| formula.error(*flaw))
    }

    /// The whole numbers.
    pub fn wholes(&self) -> impl Iterator<Item = (&str, i64)> {
        self.entries.iter().filter_map(|(name, entry)| match entry.meaning {
            Meaning::Whole(value) => Some((name.as_str(), value)),
            _ => None,
        })
    }

    /// Whether a name is a vector.
    pub fn is_vector(&self, name: &str) -> bool {
        let entry = self.entries.get(name);
        match entry.map(|entry| &entry.meaning) {
            Some(Meaning::Family(_) | Meaning::Value(Value::Vector(_))) => true,
            Some(Meaning::Item(item)) => matches!(self.items[*item].value, Some(Value::Vector(_))),
            _ => false,
        }
    }

    /// The same, also for a definition that has no value yet, by what it says.
    pub(super) fn seems_vector(&self, name: &str) -> bool {
        let says = match self.meaning(name) {
            Some(Meaning::Item(item)) => match &self.items[*item].formula.ast.kind {
                Kind::Vector(_) => true,
                Kind::Loop(l) => l.kind == LoopKind::List,
                _ => false,
            },
            _ => false,
        };
        says || self.is_vector(name)
    }

    /// The entries of a vector as formulas of their own, by taking `[…]` and `list(…)` apart; a number is one entry.
    pub fn entries_of(&mut self, formula: &Formula) -> Result<Vec<(String, Option<Origin>)>> {
        self.entries_with(formula, Vec::new())
    }

    /// The same, with values for variables.
    pub fn entries_with(
        &mut self,
        formula: &Formula,
        bindings: Vec<(Arc<str>, i64)>,
    ) -> Result<Vec<(String, Option<Origin>)>> {
        let mut graph = Graph::new();
        let mut evaluation = Evaluation { scope: self, graph: &mut graph, formula, bindings };
        let mut found = Vec::new();
        evaluation.entries(&formula.ast, &mut found).map_err(|flaw| formula.error(*flaw))?;
        Ok(found)
    }

    /// Whether some definition has no value yet.
    pub fn is_waiting(&self) -> bool {
        self.items.iter().any(|item| item.value.is_none())
    }

    /// Evaluates all definitions that still wait, so that mistakes in them are found.
    pub fn settle_all(&mut self, graph: &mut Graph) -> Result<()> {
        let waiting = (0..self.items.len()).filter(|&i| self.items[i].value.is_none()).collect();
        self.settle(graph, waiting)
    }

    /// Refuses formulas whose loops expand to too much together, before any of them is begun.
    pub fn check_expansion(&mut self, formulas: &[Shared]) -> Result<()> {
        let before = self.expanded;
        for formula in formulas {
            let mut graph = Graph::new();
            let mut evaluation = Evaluation { scope: self, graph: &mut graph, formula, bindings: Vec::new() };
            let loops = evaluation.estimate(&formula.ast, 0).saturating_sub(formula.ast.size());
            self.spend(loops, &formula.ast).map_err(|flaw| formula.error(*flaw))?;
        }
        self.expanded = before;
        Ok(())
    }

    /// Evaluates definitions, each after those it needs.
    fn settle(&mut self, graph: &mut Graph, mut needs: Vec<usize>) -> Result<()> {
        needs.reverse();
        let mut stack = needs;
        while let Some(&id) = stack.last() {
            if self.items[id].value.is_some() {
                stack.pop();
                continue;
            }
            let formula = self.items[id].formula.clone();
            let bindings = self.items[id].bindings();
            if !self.items[id].open {
                let needs = self.needs(&formula, bindings.clone())?;
                self.items[id].open = true;
                if let Some(&again) = needs.iter().find(|&&need| self.items[need].open) {
                    return Err(self.cycle(&stack, again, &formula));
                }
                if !needs.is_empty() {
                    stack.extend(needs.into_iter().rev());
                    continue;
                }
            }
            if !bindings.is_empty() {
                self.spend(formula.ast.size(), &formula.ast).map_err(|flaw| formula.error(*flaw))?;
            }
            let mut evaluation = Evaluation { scope: self, graph, formula: &formula, bindings };
            let value = evaluation.value(&formula.ast).map_err(|flaw| formula.error(*flaw))?;
            let item = &mut self.items[id];
            (item.value, item.open) = (Some(value), false);
            if let Some(entry) = self.entries.get_mut(&*self.items[id].name) {
                entry.waiting = entry.waiting.saturating_sub(1);
            }
            stack.pop();
        }
        Ok(())
    }

    /// The error for definitions that need each other: those open on the stack from `again` on.
    fn cycle(&self, stack: &[usize], again: usize, formula: &Formula) -> crate::error::Error {
        let mut chain: Vec<usize> = Vec::new();
        for &id in stack.iter().filter(|&&id| self.items[id].open) {
            if chain.last() != Some(&id) {
                chain.push(id);
            }
        }
        let start = chain.iter().position(|&id| id == again).unwrap_or(0);
        let mut names: Vec<String> = chain[start..].iter().map(|&id| self.items[id].title()).collect();
        names.push(self.items[again].title());
        if names.len() > 8 {
            names.splice(3..names.len() - 3, ["…".to_owned()]);
        }
        let title = if names.len() == 2 {
            format!("{} is defined through itself", names[0])
        } else {
            format!("{} is defined through itself: {}", names[0], names.join(" → "))
        };
        let needed = self.items[again].name.clone();
        let place = find_name(formula, &formula.ast, &needed).unwrap_or(formula.ast.range());
        let flaw = Flaw::new(place, title).label(format!("needs {}", self.items[again].title()));
        formula.error(*flaw.help("give one of them a value that does not need the others"))
    }

    /// Counts what is expanded.
    pub(super) fn spend(&mut self, parts: u64, at: &Ast) -> std::result::Result<(), Box<Flaw>> {
        self.expanded = self.expanded.saturating_add(parts);
        if self.expanded > MAX_EXPANSION {
            return Err(Flaw::new(at.range(), format!("this expands to more than {MAX_EXPANSION} parts"))
                .label("too large")
                .help("take a smaller range, or give what does not depend on the variable a name in [definitions]"));
        }
        Ok(())
    }

    /// The definitions without value that a formula needs, in the order in which they were made.
    fn needs(&mut self, formula: &Formula, bindings: Vec<(Arc<str>, i64)>) -> Result<Vec<usize>> {
        if !self.waits(formula, &formula.ast) {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        // looking costs as much as evaluating, but is not counted twice
        let before = self.expanded;
        let mut graph = Graph::new();
        let mut evaluation = Evaluation { scope: self, graph: &mut graph, formula, bindings };
        let result = evaluation.needs(&formula.ast, &mut found);
        self.expanded = before;
        result.map_err(|flaw| formula.error(*flaw))?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Whether a part of a formula names a definition that has no value yet.
    pub(super) fn waits(&self, formula: &Formula, ast: &Ast) -> bool {
        match ast.kind {
            Kind::Name => self.entries.get(formula.of(ast)).is_some_and(|entry| entry.waiting > 0),
            _ => ast.parts().into_iter().any(|part| self.waits(formula, part)),
        }
    }

    /// The meaning of a name.
    pub(super) fn meaning(&self, name: &str) -> Option<&Meaning> {
        self.entries.get(name).map(|entry| &entry.meaning)
    }

    /// What to say of a name that means nothing.
    pub(super) fn unknown(&self, name: &str, range: Range<usize>) -> Box<Flaw> {
        match name {
            "period" => {
                Flaw::new(range, "no period is known for this system and initial state").help("give a number")
            }
            "nan" | "NaN" | "inf" | "infinity" | "Inf" | "NAN" | "INF" => {
                Flaw::new(range, format!("`{name}` is not a finite number")).help("give one")
            }
            "t" => Flaw::new(range, "time is not known here"),
            "energy" => Flaw::new(range, "the energy is not known here")
                .note("it can be used in [outputs] and [events]"),
            _ if let Some(flaw) = self.misplaced(name, range.clone()) => flaw,
            _ => {
                let mut known: Vec<&str> = self.names().chain(["pi"]).collect();
                // velocities are proposed to who asks for them
                if !name.starts_with("v_") {
                    known.retain(|known| !known.starts_with("v_"));
                }
                known.sort_unstable();
                let defined =
                    |n: &str| matches!(self.meaning(n), Some(Meaning::Item(_) | Meaning::Family(_)));
                let hint = match name.strip_prefix("v_") {
                    // the velocity of a definition is none of the known names
                    Some(base) if defined(base) => String::new(),
                    _ => crate::error::nearest(name, known.iter().copied()),
                };
                let flaw = Flaw::new(range, format!("unknown name `{name}`{hint}")).label("not defined");
                let (knows, vector) = (|n: &str| self.knows(n), |n: &str| self.seems_vector(n));
                if let Some(help) = super::slips::name(name, knows, vector, defined) {
                    return flaw.help(help);
                }
                if !hint.is_empty() || known.len() > 40 {
                    return flaw;
                }
                flaw.note(format!("known names: {}", known.join(", ")))
            }
        }
    }
}

impl Scope {
    /// What to say of a name that means something elsewhere, but nothing here.
    fn misplaced(&self, name: &str, range: Range<usize>) -> Option<Box<Flaw>> {
        let elsewhere = self.elsewhere.as_ref()?;
        let of = |prefix: &str| {
            let coordinate = name.strip_prefix(prefix)?;
            (elsewhere.get(coordinate) == Some(&Role::Coordinate)).then_some(())
        };
        let (what, usable) = match elsewhere.get(name) {
            Some(Role::Size) => ("a size", "after it in [sizes] and everywhere else"),
            Some(Role::Parameter) => ("a parameter", "in formulas, but not in sizes, indices and ranges"),
            Some(Role::Coordinate) => {
                ("a coordinate", "in [definitions], [lagrangian], [plot], [outputs] and [events]")
            }
            Some(Role::Definition) => {
                ("a definition", "in [definitions], [lagrangian], [plot], [outputs] and [events]")
            }
            Some(Role::Output) => ("an output", "in the outputs after it and in [events]"),
            None if of("v_").is_some() => {
                ("a velocity", "in [definitions], [lagrangian], [plot], [outputs] and [events]")
            }
            None if of("p_").is_some() => ("a momentum", "in [outputs] and [events]"),
            None => return None,
        };
        let mut known: Vec<&str> = self.names().chain(["pi"]).collect();
        known.sort_unstable();
        let more = if known.len() > 12 { ", …" } else { "" };
        known.truncate(12);
        Some(
            Flaw::new(range, format!("`{name}` is {what} and cannot be used here"))
                .label("has no value here")
                .note(format!("it can be used {usable}"))
                .help(format!("here are known: {}{more}", known.join(", "))),
        )
    }
}

/// The place of a name in a formula.
fn find_name(formula: &Formula, ast: &Ast, name: &str) -> Option<Range<usize>> {
    match ast.kind {
        Kind::Name => (formula.of(ast) == name).then(|| ast.range()),
        _ => ast.parts().into_iter().find_map(|part| find_name(formula, part, name)),
    }
}

/// Whether a name has a meaning of its own, so that nothing else can have it.
pub fn is_reserved(name: &str) -> bool {
    CONSTANTS.contains(&name) || super::value::functions().any(|function| function == name)
}
