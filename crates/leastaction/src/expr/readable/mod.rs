//! Graph nodes as formulas for people.
//!
//! [`formula`](super::formula) prints what the graph holds, so that it can be read back to the same nodes. Here factors are gathered and
//! put in a fixed order, powers and fractions written as such, common factors taken out of sums, sines and cosines put together, and
//! sums of many terms shortened.
//! The result means the same; its rounding may differ.

mod angles;
mod product;
mod sums;

use super::display::{Names, function_name};
use super::graph::{Binary, Graph, Node, NodeId, Unary};
use product::{Base, Product, take_out_common};
use std::collections::HashMap;
use std::rc::Rc;
use sums::{Sum, flatten};

/// A signed list of terms.
pub type Terms = Vec<(bool, NodeId)>;

/// How much is shown: terms of a sum, levels of nesting.
const DETAIL: [(usize, usize); 4] = [(16, 40), (6, 12), (4, 6), (3, 4)];
/// Of a sum that is too long, one term less than this from its beginning.
const FEW_TERMS: usize = 5;
/// In sums of more terms nothing is looked for that all have in common.
const MANY_TERMS: usize = 400;
/// So many nodes are looked at in one formula at most.
const MOST_NODES: usize = 20_000;

/// Prints formulas for people, with at most so many characters where that can be had by leaving out terms.
#[derive(Clone, Copy, Debug)]
pub struct Readable<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// Names of its inputs.
    pub names: Names<'a>,
    /// How many characters a formula should have at most.
    pub limit: usize,
}

impl Readable<'_> {
    /// The formula of a node.
    pub fn node(&self, id: NodeId) -> String {
        self.sum(&vec![(false, id)])
    }

    /// The formula of a sum of nodes; `true` subtracts.
    pub fn sum(&self, terms: &Terms) -> String {
        let mut text = String::new();
        for (most_terms, most_levels) in DETAIL {
            let mut printer = Printer {
                graph: self.graph,
                names: self.names,
                most_terms,
                most_levels,
                level: 0,
                left: MOST_NODES,
                sums: HashMap::new(),
                same: HashMap::new(),
            };
            text = printer.sum(terms).text;
            if text.chars().count() <= self.limit && printer.left > 0 {
                break;
            }
        }
        text
    }

    /// The terms of a node that is a sum, all levels of sums in one list.
    pub fn terms(&self, id: NodeId) -> Terms {
        flatten(self.graph, &vec![(false, id)])
    }
}

struct Printer<'a> {
    graph: &'a Graph,
    names: Names<'a>,
    most_terms: usize,
    most_levels: usize,
    level: usize,
    /// How many nodes may still be looked at.
    left: usize,
    /// Sums that were taken apart before.
    sums: HashMap<NodeId, Option<Rc<Sum>>>,
    /// Which node stands for all sums of the same terms.
    same: HashMap<Vec<Product>, NodeId>,
}

/// How tightly a text holds together.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Strength {
    Sum,
    Product,
    Power,
    Whole,
}

struct Text {
    text: String,
    strength: Strength,
}

impl Text {
    fn new(text: impl Into<String>, strength: Strength) -> Self {
        Self { text: text.into(), strength }
    }

    /// In parentheses unless it holds together tightly enough.
    fn within(self, strength: Strength) -> String {
        if self.strength >= strength { self.text } else { format!("({})", self.text) }
    }
}

impl Printer<'_> {
    fn sum(&mut self, terms: &Terms) -> Text {
        let terms = flatten(self.graph, terms);
        if terms.len() > MANY_TERMS
            || terms.len() > self.most_terms && self.like_terms(&terms) > self.most_terms
        {
            return self.shortened(&terms);
        }
        let Sum { common, products } = self.taken_apart(&terms);
        match products.as_slice() {
            [] => Text::new("0", Strength::Whole),
            [one] if common.is_one() => self.product_text(one, None),
            _ => {
                let inner = Text::new(self.added(&products), Strength::Sum);
                if common.is_one() { inner } else { self.product_text(&common, Some(inner)) }
            }
        }
    }

    /// The first terms of a long sum, and the last; before them what all have in common, if they are not too many to find out.
    fn shortened(&mut self, terms: &Terms) -> Text {
        let shown = self.most_terms.min(FEW_TERMS) - 1;
        let (mut common, mut products) = (Product::one(), Vec::new());
        if terms.len() <= MANY_TERMS {
            products.extend(terms.iter().map(|&(minus, id)| self.product(minus, id)));
            common = take_out_common(&mut products);
        } else {
            products.extend(terms[..shown].iter().map(|&(minus, id)| self.product(minus, id)));
            products.extend(terms.last().map(|&(minus, id)| self.product(minus, id)));
        }
        let mut text = self.added(&products[..shown]);
        text += " + …";
        if let Some(product) = products.last() {
            self.append(&mut text, product);
        }
        let inner = Text::new(text, Strength::Sum);
        if common.is_one() { inner } else { self.product_text(&common, Some(inner)) }
    }

    fn added(&mut self, products: &[Product]) -> String {
        let mut text = String::new();
        for product in products {
            self.append(&mut text, product);
        }
        text
    }

    fn append(&mut self, text: &mut String, product: &Product) {
        let sign = match (text.is_empty(), product.negative) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        let positive = Product { negative: false, ..product.clone() };
        *text += sign;
        *text += &self.product_text(&positive, None).within(Strength::Product);
    }

    /// Where a factor stands: constants and parameters, coordinates, functions, sums, velocities.
    fn rank(&self, base: Base) -> (u8, u32) {
        let id = match base {
            Base::Node(id) | Base::Sum(id) => id,
            Base::SineBetween(id, _) | Base::CosineBetween(id, _) => return (7, id.0),
        };
        match self.graph.node(id) {
            Node::Number(_) | Node::Decimal(_) => (0, id.0),
            Node::Pi => (1, 0),
            Node::Binary(Binary::Add | Binary::Sub, ..) if self.graph.is_fixed(id) => (2, id.0),
            Node::Parameter(i) => (3, i),
            _ if self.graph.is_fixed(id) => (4, id.0),
            Node::Time => (5, 0),
            Node::Coordinate(i) => (6, i),
            Node::Velocity(i) => (9, i),
            Node::Binary(Binary::Add | Binary::Sub, ..) => (8, id.0),
            _ => (7, id.0),
        }
    }

    /// The text of a product, with a sum as its last factor but for velocities.
    fn product_text(&mut self, product: &Product, sum: Option<Text>) -> Text {
        let mut factors: Vec<(Base, i32)> = product.factors.iter().map(|(base, e)| (*base, *e)).collect();
        factors.sort_by_key(|(base, _)| self.rank(*base));
        let alone =
            product.numerator == 1 && sum.is_none() && factors.iter().filter(|f| f.1 > 0).count() == 1;
        let whole = alone && product.denominator == 1 && factors.len() == 1 && !product.negative;
        if let (true, Some(&(base, 1))) = (whole, factors.first()) {
            return self.base(base);
        }
        let (mut above, mut below) = (Vec::new(), Vec::new());
        if product.numerator != 1 {
            above.push(product.numerator.to_string());
        }
        if product.denominator != 1 {
            below.push(product.denominator.to_string());
        }
        let had_sum = sum.is_some();
        let mut sum = sum.map(|sum| sum.within(Strength::Product));
        for (base, exponent) in factors {
            if self.rank(base).0 == 9 && exponent > 0 {
                above.extend(sum.take());
            }
            let list = if exponent > 0 { &mut above } else { &mut below };
            list.push(self.power(base, exponent.unsigned_abs()));
        }
        above.extend(sum);
        let mut text = if product.negative { "-".to_owned() } else { String::new() };
        if above.is_empty() {
            above.push("1".to_owned());
        }
        text += &above.join("*");
        match below.len() {
            0 => {}
            1 => text += &format!("/{}", below[0]),
            _ => text += &format!("/({})", below.join("*")),
        }
        let single = above.len() == 1 && below.is_empty() && !product.negative;
        let strength = match (product.negative, single) {
            (true, _) => Strength::Sum,
            (false, true) if product.factors.is_empty() && !had_sum => Strength::Whole,
            (false, true) => Strength::Power,
            (false, false) => Strength::Product,
        };
        Text::new(text, strength)
    }

    fn power(&mut self, base: Base, exponent: u32) -> String {
        let base = self.base(base);
        if exponent == 1 {
            base.within(Strength::Power)
        } else {
            format!("{}^{exponent}", base.within(Strength::Whole))
        }
    }

    /// What is neither a product nor a quotient, unless nothing can be taken apart any more.
    fn base(&mut self, base: Base) -> Text {
        if self.level >= self.most_levels || self.left == 0 {
            return Text::new("…", Strength::Whole);
        }
        self.level += 1;
        let text = match base {
            Base::Node(id) => self.node(id),
            Base::Sum(id) => match self.sums.get(&id).cloned().flatten() {
                Some(sum) => Text::new(self.added(&sum.products), Strength::Sum),
                None => self.node(id),
            },
            Base::SineBetween(a, b) => self.between("sin", a, b),
            Base::CosineBetween(a, b) => self.between("cos", a, b),
        };
        self.level -= 1;
        text
    }

    fn between(&mut self, function: &str, a: NodeId, b: NodeId) -> Text {
        Text::new(format!("{function}({})", self.sum(&vec![(false, a), (true, b)]).text), Strength::Whole)
    }

    fn node(&mut self, id: NodeId) -> Text {
        match self.graph.node(id) {
            Node::Number(bits) => {
                let x = f64::from_bits(bits);
                Text::new(x.to_string(), if x < 0.0 { Strength::Sum } else { Strength::Whole })
            }
            Node::Decimal(index) => Text::new(self.graph.decimal_text(index), Strength::Whole),
            Node::Pi => Text::new("pi", Strength::Whole),
            Node::Parameter(i) => Text::new(self.names.parameters[i as usize].as_str(), Strength::Whole),
            Node::Coordinate(i) => Text::new(self.names.coordinates[i as usize].as_str(), Strength::Whole),
            Node::Velocity(i) => {
                Text::new(format!("v_{}", self.names.coordinates[i as usize]), Strength::Whole)
            }
            Node::Time => Text::new("t", Strength::Whole),
            Node::Binary(Binary::Pow, a, b) => {
                let (a, b) = (self.sum(&vec![(false, a)]), self.sum(&vec![(false, b)]));
                Text::new(
                    format!("{}^{}", a.within(Strength::Whole), b.within(Strength::Whole)),
                    Strength::Power,
                )
            }
            Node::Binary(Binary::Atan2, a, b) => {
                let (a, b) = (self.sum(&vec![(false, a)]), self.sum(&vec![(false, b)]));
                Text::new(format!("atan2({}, {})", a.text, b.text), Strength::Whole)
            }
            Node::Unary(op, a) if op != Unary::Neg => {
                let inner = self.sum(&vec![(false, a)]);
                Text::new(format!("{}({})", function_name(op), inner.text), Strength::Whole)
            }
            Node::Unary(..) | Node::Binary(..) => self.sum(&vec![(false, id)]),
        }
    }
}

#[cfg(test)]
mod tests;
