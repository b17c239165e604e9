//! From the parts of a formula to values: nodes of a graph.
//!
//! Everything is evaluated from left to right, as a Rust function would be, so that the same formula gives the same graph and
//! the same bits. Indices and ranges are whole numbers that are known beforehand.

use super::graph::{Graph, NodeId, Unary};
use super::scope::{Meaning, Scope};
use super::syntax::{Ast, Flaw, Formula, Kind, Loop, LoopKind, Shared};
use super::value::{FUNCTIONS, Mismatch, OTHERS, Value, functions};
use crate::error::{Origin, nearest};
use std::sync::Arc;

type Evaluated<T> = std::result::Result<T, Box<Flaw>>;

/// One formula under evaluation.
pub(super) struct Evaluation<'a> {
    pub(super) scope: &'a mut Scope,
    pub(super) graph: &'a mut Graph,
    pub(super) formula: &'a Formula,
    /// The variables of the loops around, and their values.
    pub(super) bindings: Vec<(Arc<str>, i64)>,
}

impl Evaluation<'_> {
    fn bound(&self, name: &str) -> Option<i64> {
        self.bindings.iter().rev().find(|(variable, _)| **variable == *name).map(|(_, value)| *value)
    }

    /// The value of a part.
    pub(super) fn value(&mut self, ast: &Ast) -> Evaluated<Value> {
        match &ast.kind {
            Kind::Number => Ok(Value::Scalar(self.graph.decimal(self.formula.of(ast)))),
            Kind::Name => self.name(ast),
            Kind::Entry(vector, index) => self.entry(vector, index),
            Kind::Vector(list) => {
                let mut nodes = Vec::with_capacity(list.len());
                for part in list {
                    let value = self.value(part)?;
                    // vectors of vectors grow faster than the text
                    self.scope.spend(value.nodes().len() as u64, ast)?;
                    nodes.extend_from_slice(value.nodes());
                }
                Ok(Value::Vector(nodes))
            }
            Kind::Minus(a) => Ok(self.value(a)?.minus(self.graph)),
            Kind::Sum(first, rest) => {
                let mut sum = self.value(first)?;
                for (subtract, term) in rest {
                    let value = self.value(term)?;
                    sum = sum.plus(self.graph, value, *subtract).map_err(|m| mismatch(m, term))?;
                }
                Ok(sum)
            }
            Kind::Product(first, rest) => {
                let mut product = self.value(first)?;
                for (divide, factor) in rest {
                    let value = self.value(factor)?;
                    product = product.times(self.graph, value, *divide).map_err(|m| mismatch(m, factor))?;
                }
                Ok(product)
            }
            Kind::Power(base, exponent) => {
                let base = self.scalar(base, "the base of a power")?;
                let exponent = self.scalar(exponent, "an exponent")?;
                Ok(Value::Scalar(self.graph.pow(base, exponent)))
            }
            Kind::Call(length, list) => self.call(ast, *length as usize, list),
            Kind::Loop(l) => self.repeat(ast, l),
        }
    }

    /// The value of a part that must be a number.
    fn scalar(&mut self, ast: &Ast, what: &str) -> Evaluated<NodeId> {
        match self.value(ast)? {
            Value::Scalar(node) => Ok(node),
            vector => {
                Err(Flaw::new(ast.range(), format!("{what} must be a number, but this is {}", vector.kind()))
                    .help("the length of a vector is norm(v), its square dot(v, v)"))
            }
        }
    }

    fn number(&mut self, whole: i64) -> Value {
        Value::Scalar(self.graph.number(whole as f64))
    }

    fn name(&mut self, ast: &Ast) -> Evaluated<Value> {
        let name = self.formula.of(ast);
        if let Some(whole) = self.bound(name) {
            return Ok(self.number(whole));
        }
        match self.scope.meaning(name) {
            Some(Meaning::Whole(whole)) => {
                let whole = *whole;
                Ok(self.number(whole))
            }
            Some(Meaning::Value(value)) => {
                let value = value.clone();
                let size = value.nodes().len() as u64;
                if size > 1 {
                    self.scope.spend(size, ast)?;
                }
                Ok(value)
            }
            Some(Meaning::Item(item)) => {
                let item = *item;
                self.item(item, ast)
            }
            Some(Meaning::Family(family)) => {
                let items: Vec<usize> = family.values().copied().collect();
                self.scope.spend(items.len() as u64, ast)?;
                let mut nodes = Vec::with_capacity(items.len());
                for item in items {
                    nodes.extend_from_slice(self.item(item, ast)?.nodes());
                }
                Ok(Value::Vector(nodes))
            }
            Some(Meaning::Refused(why)) => Err(Flaw::new(ast.range(), why.clone())),
            None if matches!(name, "pi" | "π") => Ok(Value::Scalar(self.graph.pi())),
            None => Err(self.unknown(ast)),
        }
    }

    fn unknown(&self, ast: &Ast) -> Box<Flaw> {
        let name = self.formula.of(ast);
        if let Some(function) = functions().find(|function| *function == name) {
            let flaw = Flaw::new(ast.range(), format!("`{name}` is a function"));
            let after = self.formula.text.get(ast.range().end..).unwrap_or("").trim_start();
            return match after.starts_with('^') {
                true => flaw.help(format!("write the power behind the argument: {function}(…)^2")),
                false => flaw.help(format!("write its argument in parentheses: {function}(…)")),
            };
        }
        self.scope.unknown(name, ast.range())
    }

    fn item(&mut self, item: usize, ast: &Ast) -> Evaluated<Value> {
        // what a formula needs was evaluated before it
        let value = self.scope.items[item].value.clone();
        value.ok_or_else(|| Flaw::new(ast.range(), "this definition has no value yet"))
    }

    /// `vector[index]`
    fn entry(&mut self, vector: &Ast, index: &Ast) -> Evaluated<Value> {
        let at = self.whole(index)?;
        let named = matches!(vector.kind, Kind::Name);
        let name = if named { self.formula.of(vector) } else { "" };
        if named && self.bound(name).is_none() {
            match self.scope.meaning(name) {
                Some(Meaning::Value(Value::Vector(list))) => {
                    let node = usize::try_from(at - 1).ok().and_then(|i| list.get(i)).copied();
                    let length = list.len() as i64;
                    return node.map(Value::Scalar).ok_or_else(|| out_of_range(name, at, 1, length, index));
                }
                Some(Meaning::Family(family)) => {
                    let (first, last) = ends(family.keys());
                    let item = family.get(&at).copied();
                    let item = item.ok_or_else(|| out_of_range(name, at, first, last, index))?;
                    return self.item(item, vector);
                }
                _ => {}
            }
        }
        match self.value(vector)? {
            Value::Vector(list) => {
                let node = usize::try_from(at - 1).ok().and_then(|i| list.get(i)).copied();
                let what = if named { name } else { "the vector" };
                node.map(Value::Scalar).ok_or_else(|| out_of_range(what, at, 1, list.len() as i64, index))
            }
            Value::Scalar(_) => {
                let what = if named { format!("`{name}`") } else { "this".to_owned() };
                Err(Flaw::new(vector.range(), format!("{what} is a number and has no entries")))
            }
        }
    }

    /// A whole number that is known beforehand.
    pub(super) fn whole(&mut self, ast: &Ast) -> Evaluated<i64> {
        let text = self.formula.of(ast);
        let too_large = || Flaw::new(ast.range(), "this whole number is too large");
        match &ast.kind {
            Kind::Number => {
                let value = text.parse::<f64>().unwrap_or(f64::NAN);
                if value.fract() != 0.0 {
                    return Err(Flaw::new(
                        ast.range(),
                        format!("expected a whole number, but found `{text}`"),
                    ));
                }
                if value.abs() > 1e15 { Err(too_large()) } else { Ok(value as i64) }
            }
            Kind::Name => {
                if let Some(value) = self.bound(text) {
                    return Ok(value);
                }
                match self.scope.meaning(text) {
                    Some(Meaning::Whole(value)) => Ok(*value),
                    Some(_) => Err(Flaw::new(ast.range(), format!("`{text}` cannot stand in an index or a range"))
                        .note("they are made of whole numbers, [sizes] and loop variables, which are known before the run")),
                    None => Err(self.unknown(ast)),
                }
            }
            Kind::Minus(a) => self.whole(a)?.checked_neg().ok_or_else(too_large),
            Kind::Sum(first, rest) => {
                let mut sum = self.whole(first)?;
                for (subtract, term) in rest {
                    let term = self.whole(term)?;
                    let next = if *subtract { sum.checked_sub(term) } else { sum.checked_add(term) };
                    sum = next.ok_or_else(too_large)?;
                }
                Ok(sum)
            }
            Kind::Product(first, rest) => {
                let mut product = self.whole(first)?;
                for (divide, factor) in rest {
                    let by = self.whole(factor)?;
                    if *divide && (by == 0 || product % by != 0) {
                        let title = format!("{product}/{by} is not a whole number");
                        return Err(Flaw::new(ast.range(), title));
                    }
                    let next = if *divide { product.checked_div(by) } else { product.checked_mul(by) };
                    product = next.ok_or_else(too_large)?;
                }
                Ok(product)
            }
            Kind::Power(base, exponent) => {
                let (base, exponent) = (self.whole(base)?, self.whole(exponent)?);
                let exponent = u32::try_from(exponent)
                    .map_err(|_| Flaw::new(ast.range(), "this is not a whole number"))?;
                base.checked_pow(exponent).ok_or_else(too_large)
            }
            Kind::Call(length, list) if text.get(..*length as usize) == Some("len") && list.len() == 1 => {
                Ok(self.value(&list[0])?.nodes().len() as i64)
            }
            _ => Err(Flaw::new(ast.range(), "this cannot stand in an index or a range").note(
                "they are made of whole numbers, [sizes] and loop variables, which are known before the run",
            )),
        }
    }

    /// The values of a loop's variable, checked.
    fn range(&mut self, ast: &Ast, l: &Loop) -> Evaluated<(Arc<str>, i64, i64)> {
        let name = self.formula.slice(&l.variable);
        let place = l.variable.start as usize..l.variable.end as usize;
        if self.bound(name).is_some() || self.scope.knows(name) || super::scope::is_reserved(name) {
            return Err(Flaw::new(place, format!("the loop variable `{name}` has a meaning already"))
                .help("take another name"));
        }
        let (from, to) = (self.whole(&l.from)?, self.whole(&l.to)?);
        // what is too large is refused before it is begun
        let before = self.scope.expanded;
        let parts = self.estimate(ast, 0);
        self.scope.spend(parts, ast)?;
        self.scope.expanded = before;
        Ok((name.into(), from, to))
    }

    /// About how much a part expands to: loops inside a loop are counted at both ends of its range.
    pub(super) fn estimate(&mut self, ast: &Ast, depth: u32) -> u64 {
        let Kind::Loop(l) = &ast.kind else {
            let parts = ast.parts().into_iter();
            return parts.fold(1, |sum: u64, part| sum.saturating_add(self.estimate(part, depth)));
        };
        let (Ok(from), Ok(to)) = (self.whole(&l.from), self.whole(&l.to)) else { return 1 };
        let length = to.saturating_sub(from).saturating_add(1).max(0) as u64;
        if length == 0 {
            return 1;
        }
        let mut at = |i: i64| {
            self.bindings.push((self.formula.slice(&l.variable).into(), i));
            let parts = self.estimate(&l.body, depth + 1);
            self.bindings.pop();
            parts
        };
        // deep nests are counted at one end, or counting would take long itself
        let (first, last) = if depth < 4 { (at(from), at(to)) } else { (at(to), 0) };
        length.saturating_mul(first.saturating_add(last)) / 2
    }

    /// `sum(i = a..b, e)` and its relatives.
    fn repeat(&mut self, ast: &Ast, l: &Loop) -> Evaluated<Value> {
        let mut result = match l.kind {
            LoopKind::List => Value::Vector(Vec::new()),
            LoopKind::Sum => self.number(0),
            LoopKind::Product => self.number(1),
        };
        let mut first = true;
        self.each(ast, l, |this| {
            let value = this.value(&l.body)?;
            match (l.kind, &mut result) {
                (LoopKind::List, Value::Vector(list)) => {
                    this.scope.spend(value.nodes().len() as u64, ast)?;
                    list.extend_from_slice(value.nodes());
                }
                // a sum of vectors starts with the first
                (LoopKind::Sum, sum) if first => *sum = value,
                (kind, result) => {
                    let before = std::mem::replace(result, Value::Vector(Vec::new()));
                    let after = match kind {
                        LoopKind::Sum => before.plus(this.graph, value, false),
                        _ => before.times(this.graph, value, false),
                    };
                    *result = after.map_err(|m| mismatch(m, &l.body))?;
                }
            }
            first = false;
            Ok(())
        })?;
        Ok(result)
    }

    /// Does something for each value of a loop's variable, and counts what that expands to.
    fn each(
        &mut self,
        ast: &Ast,
        l: &Loop,
        mut action: impl FnMut(&mut Self) -> Evaluated<()>,
    ) -> Evaluated<()> {
        let (variable, from, to) = self.range(ast, l)?;
        let size = l.body.size();
        self.bindings.push((variable, from));
        for i in from..=to {
            self.scope.spend(size, ast)?;
            if let Some(last) = self.bindings.last_mut() {
                last.1 = i;
            }
            action(self)?;
        }
        self.bindings.pop();
        Ok(())
    }

    fn call(&mut self, ast: &Ast, length: usize, list: &[Ast]) -> Evaluated<Value> {
        let name = self.formula.of(ast).get(..length).unwrap_or("");
        let place = ast.start as usize..ast.start as usize + length;
        if let Some((_, op)) = FUNCTIONS.iter().find(|(known, _)| *known == name) {
            let [argument] = list else { return Err(wrong_count(name, place, 1, 1, list.len(), None)) };
            let argument = self.scalar(argument, &format!("the argument of {name}"))?;
            return Ok(Value::Scalar(self.graph.unary(*op, argument)));
        }
        let Some((_, least, most, usage)) = OTHERS.iter().find(|(known, ..)| *known == name) else {
            return Err(self.unknown_function(name, place, list));
        };
        if name == "list" {
            return Err(Flaw::new(place, "`list` needs a range").help(format!("write {usage}")));
        }
        if !(*least..=*most).contains(&list.len()) {
            return Err(wrong_count(name, place, *least, *most, list.len(), Some(usage)));
        }
        match name {
            "atan2" | "pow" => {
                let what = format!("an argument of {name}");
                let (a, b) = (self.scalar(&list[0], &what)?, self.scalar(&list[1], &what)?);
                let node = if name == "pow" { self.graph.pow(a, b) } else { self.graph.atan2(a, b) };
                Ok(Value::Scalar(node))
            }
            "hypot" => {
                let mut nodes = Vec::new();
                for argument in list {
                    nodes.push(self.scalar(argument, "an argument of hypot")?);
                }
                Ok(Value::Scalar(self.graph.hypot(&nodes)))
            }
            "norm" => match self.value(&list[0])? {
                Value::Vector(nodes) => self.norm(&nodes),
                Value::Scalar(_) => {
                    Err(Flaw::new(list[0].range(), "norm needs a vector, but this is a number")
                        .help("the size of a number is abs(x)"))
                }
            },
            "len" => {
                let size = self.value(&list[0])?.nodes().len();
                Ok(self.number(size as i64))
            }
            "sum" | "product" => {
                let nodes = match self.value(&list[0])? {
                    Value::Vector(nodes) => nodes,
                    Value::Scalar(_) => {
                        return Err(Flaw::new(list[0].range(), format!("{name} needs a range or a vector"))
                            .help(format!("write {usage}")));
                    }
                };
                let mut result = self.graph.number(if name == "sum" { 0.0 } else { 1.0 });
                for node in nodes {
                    let g = &mut *self.graph;
                    result = if name == "sum" { g.add(result, node) } else { g.mul(result, node) };
                }
                Ok(Value::Scalar(result))
            }
            "dot" if list.len() == 1 => {
                let value = self.value(&list[0])?;
                value.rate(self.graph, &mut self.scope.rates).ok_or_else(|| {
                    Flaw::new(list[0].range(), "a Lagrangian must not contain accelerations")
                        .label("contains a velocity, so its time derivative is an acceleration")
                        .note("dot(x) is the time derivative of what depends on coordinates and time")
                })
            }
            _ => {
                let (a, b) = (self.value(&list[0])?, self.value(&list[1])?);
                let result = if name == "dot" { a.dot(self.graph, &b) } else { a.cross(self.graph, &b) };
                result.map_err(|m| mismatch(m, ast))
            }
        }
    }

    /// The root of the sum of squares.
    fn norm(&mut self, nodes: &[NodeId]) -> Evaluated<Value> {
        let g = &mut *self.graph;
        let mut sum = g.number(0.0);
        for node in nodes {
            let square = g.mul(*node, *node);
            sum = g.add(sum, square);
        }
        Ok(Value::Scalar(g.unary(Unary::Sqrt, sum)))
    }

    fn unknown_function(&self, name: &str, place: std::ops::Range<usize>, list: &[Ast]) -> Box<Flaw> {
        if self.scope.knows(name) || self.bound(name).is_some() {
            let flaw = Flaw::new(place, format!("`{name}` is not a function"));
            return match list {
                [argument] if self.formula.of(argument) == "t" => {
                    flaw.help(format!("write `{name}` alone: it is the value at the time t"))
                }
                [_] if self.scope.seems_vector(name) => {
                    flaw.help(format!("entries of vectors are written {name}[1]"))
                }
                _ => flaw.help(format!("write `*` between factors: {name}*(…)")),
            };
        }
        let hint = nearest(name, functions());
        let flaw = Flaw::new(place, format!("unknown function `{name}`{hint}"));
        match super::slips::function(name) {
            Some(help) => flaw.help(help),
            None if hint.is_empty() => {
                flaw.note(format!("functions: {}", functions().collect::<Vec<_>>().join(", ")))
            }
            None => flaw,
        }
    }

    /// Takes a vector apart into formulas, with the variables of loops replaced by their values.
    pub(super) fn entries(&mut self, ast: &Ast, found: &mut Vec<(String, Option<Origin>)>) -> Evaluated<()> {
        match &ast.kind {
            Kind::Vector(list) => list.iter().try_for_each(|part| self.entries(part, found)),
            Kind::Loop(l) if l.kind == LoopKind::List => {
                self.each(ast, l, |this| this.entries(&l.body, found))
            }
            Kind::Name if self.scope.is_vector(self.formula.of(ast)) => {
                let name = self.formula.of(ast);
                let origin = self.formula.origin.as_ref().map(|origin| origin.of_part(ast.range()).derived());
                let indices: Vec<i64> = match self.scope.meaning(name) {
                    Some(Meaning::Family(family)) => family.keys().copied().collect(),
                    _ => (1..=self.value(ast)?.nodes().len() as i64).collect(),
                };
                found.extend(indices.into_iter().map(|i| (format!("{name}[{i}]"), origin.clone())));
                Ok(())
            }
            _ => {
                found.push(self.substituted(ast));
                Ok(())
            }
        }
    }

    /// A part as a formula of its own, with the values of variables in place of them.
    fn substituted(&self, ast: &Ast) -> (String, Option<Origin>) {
        let origin = self.formula.origin.as_ref().map(|origin| origin.of_part(ast.range()));
        let mut names = Vec::new();
        let mut stack = vec![ast];
        while let Some(part) = stack.pop() {
            if matches!(part.kind, Kind::Name)
                && let Some(value) = self.bound(self.formula.of(part))
            {
                names.push((part.range(), value));
            }
            stack.extend(part.parts());
        }
        if names.is_empty() {
            return (self.formula.of(ast).to_owned(), origin);
        }
        names.sort_by_key(|(range, _)| range.start);
        let (mut text, mut at) = (String::new(), ast.range().start);
        for (range, value) in names {
            text.push_str(self.formula.text.get(at..range.start).unwrap_or(""));
            // a sign must not be taken for an operator
            text.push_str(&if value < 0 { format!("({value})") } else { value.to_string() });
            at = range.end;
        }
        text.push_str(self.formula.text.get(at..ast.range().end).unwrap_or(""));
        (text, origin.map(|origin| origin.derived()))
    }

    /// The smallest part that is not finite although its parts are; see [`Scope::culprit`].
    pub(super) fn culprit(
        &mut self,
        formula: &Shared,
        ast: &Ast,
        number: &mut dyn FnMut(&Graph, NodeId) -> f64,
        depth: u32,
    ) -> Option<(Shared, std::ops::Range<usize>, f64)> {
        let value = self.value(ast).ok()?;
        let bad = value.nodes().iter().map(|node| number(self.graph, *node)).find(|x| !x.is_finite())?;
        let here = Some((formula.clone(), ast.range(), bad));
        let item = match &ast.kind {
            Kind::Name => match self.scope.meaning(self.formula.of(ast)) {
                Some(Meaning::Item(item)) => Some(*item),
                _ => None,
            },
            Kind::Entry(vector, index) => {
                let at = self.whole(index).ok();
                match (self.scope.meaning(self.formula.of(vector)), at) {
                    (Some(Meaning::Family(family)), Some(at)) => family.get(&at).copied(),
                    _ => None,
                }
            }
            _ => None,
        };
        if let Some(item) = item {
            // chains of definitions may be longer than the stack is deep
            if depth >= 100 {
                return here;
            }
            let (formula, bindings) = self.scope.definition(item);
            let found = self.scope.culprit_with(self.graph, &formula, bindings, number, depth + 1);
            return found.or(here);
        }
        let mut found = None;
        match &ast.kind {
            Kind::Loop(l) => {
                let _ = self.each(ast, l, |this| {
                    if found.is_none() {
                        found = this.culprit(formula, &l.body, number, depth);
                    }
                    Ok(())
                });
            }
            Kind::Entry(..) => {}
            _ => found = ast.parts().into_iter().find_map(|part| self.culprit(formula, part, number, depth)),
        }
        found.or(here)
    }

    /// Collects the definitions without value that a part needs.
    pub(super) fn needs(&mut self, ast: &Ast, found: &mut Vec<usize>) -> Evaluated<()> {
        match &ast.kind {
            Kind::Number => Ok(()),
            Kind::Name => {
                let name = self.formula.of(ast);
                if self.bound(name).is_none() {
                    let items: Vec<usize> = match self.scope.entries.get(name).map(|e| &e.meaning) {
                        Some(Meaning::Item(item)) => vec![*item],
                        Some(Meaning::Family(family)) => family.values().copied().collect(),
                        _ => Vec::new(),
                    };
                    self.scope.spend(items.len() as u64, ast)?;
                    found.extend(items.into_iter().filter(|&i| self.scope.items[i].value.is_none()));
                }
                Ok(())
            }
            Kind::Entry(vector, index) if matches!(vector.kind, Kind::Name) => {
                let name = self.formula.of(vector);
                let family = self.scope.entries.get(name).map(|e| &e.meaning);
                if !matches!(family, Some(Meaning::Family(_))) {
                    return self.needs(vector, found);
                }
                let at = self.whole(index)?;
                let item = match self.scope.entries.get(name).map(|e| &e.meaning) {
                    Some(Meaning::Family(family)) => family.get(&at).copied(),
                    _ => None,
                };
                found.extend(item.filter(|&i| self.scope.items[i].value.is_none()));
                Ok(())
            }
            Kind::Loop(l) => {
                if !self.scope.waits(self.formula, &l.body) {
                    return Ok(());
                }
                self.each(ast, l, |this| this.needs(&l.body, found))
            }
            _ => ast.parts().into_iter().try_for_each(|part| self.needs(part, found)),
        }
    }
}

fn ends<'a>(mut keys: impl DoubleEndedIterator<Item = &'a i64>) -> (i64, i64) {
    let first = keys.next().copied().unwrap_or(1);
    (first, keys.next_back().copied().unwrap_or(first))
}

fn mismatch((title, label): Mismatch, at: &Ast) -> Box<Flaw> {
    Flaw::new(at.range(), title).label(label)
}

fn out_of_range(name: &str, at: i64, first: i64, last: i64, index: &Ast) -> Box<Flaw> {
    let range = match last - first + 1 {
        0 => "it has no entries".to_owned(),
        1 => format!("it has the entry {first} only"),
        _ => format!("its entries are {first} to {last}"),
    };
    let name = if name.contains(' ') { name.to_owned() } else { format!("`{name}`") };
    Flaw::new(index.range(), format!("{name} has no entry {at}; {range}")).label(format!("this is {at}"))
}

fn wrong_count(
    name: &str,
    place: std::ops::Range<usize>,
    least: usize,
    most: usize,
    found: usize,
    usage: Option<&&str>,
) -> Box<Flaw> {
    let expected = match (least, most) {
        (1, 1) => "1 argument".to_owned(),
        (a, b) if a == b => format!("{a} arguments"),
        (a, b) => format!("{a} or {b} arguments"),
    };
    let flaw = Flaw::new(
        place,
        format!("{name} takes {expected}, but {found} {} given", if found == 1 { "is" } else { "are" }),
    );
    match usage {
        Some(usage) => flaw.help(format!("write {usage}")),
        None => flaw,
    }
}
