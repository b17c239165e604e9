//! Graph nodes as formulas for people.
//!
//! [`formula`](super::formula) prints what the graph holds, so that it can be read back to the same nodes. Here factors are gathered and
//! put in a fixed order, powers and fractions written as such, common factors taken out of sums, and sums of many terms shortened.
//! The result means the same; its rounding may differ.

use super::display::{Names, function_name};
use super::graph::{Binary, Graph, Node, NodeId, Unary};
use std::collections::BTreeMap;

/// A signed list of terms.
pub type Terms = Vec<(bool, NodeId)>;

/// How much is shown: terms of a sum, levels of nesting.
const DETAIL: [(usize, usize); 4] = [(24, 40), (6, 12), (4, 6), (3, 4)];
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
            let mut printer =
                Printer { graph: self.graph, names: self.names, most_terms, most_levels, level: 0, left: MOST_NODES };
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

/// A product: ± numerator/denominator · Π base^exponent.
#[derive(Clone, Debug, Default)]
struct Product {
    negative: bool,
    numerator: u64,
    denominator: u64,
    factors: BTreeMap<NodeId, i32>,
}

impl Product {
    fn one() -> Self {
        Self { negative: false, numerator: 1, denominator: 1, factors: BTreeMap::new() }
    }

    /// Multiplies by a small fraction to a power; says no if it is not one.
    fn multiply(&mut self, x: f64, exponent: i32) -> bool {
        let size = x.abs();
        let Some(denominator) = [1.0, 2.0, 4.0, 8.0, 16.0].into_iter().find(|d| (size * d).fract() == 0.0) else {
            return false;
        };
        let (mut p, mut q) = ((size * denominator) as u64, denominator as u64);
        if size > 1e6 || exponent.abs() > 4 || p == 0 {
            return false;
        }
        if exponent < 0 {
            (p, q) = (q, p);
        }
        let power = exponent.unsigned_abs();
        let parts = (p.checked_pow(power), q.checked_pow(power));
        let (Some(p), Some(q)) = parts else { return false };
        let parts = (self.numerator.checked_mul(p), self.denominator.checked_mul(q));
        let (Some(p), Some(q)) = parts else { return false };
        let common = gcd(p, q);
        (self.numerator, self.denominator) = (p / common, q / common);
        self.negative ^= x < 0.0 && exponent % 2 != 0;
        true
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Sums within sums as one list.
fn flatten(graph: &Graph, terms: &Terms) -> Terms {
    let mut stack: Terms = terms.iter().rev().copied().collect();
    let mut list = Terms::new();
    while let Some((minus, id)) = stack.pop() {
        match graph.node(id) {
            Node::Binary(Binary::Add, a, b) if list.len() < 10 * MOST_NODES => stack.extend([(minus, b), (minus, a)]),
            Node::Binary(Binary::Sub, a, b) if list.len() < 10 * MOST_NODES => stack.extend([(!minus, b), (minus, a)]),
            Node::Unary(Unary::Neg, a) => stack.push((!minus, a)),
            _ => list.push((minus, id)),
        }
    }
    list
}

impl Printer<'_> {
    fn sum(&mut self, terms: &Terms) -> Text {
        let mut terms = flatten(self.graph, terms);
        // a sum begins with something positive, if it has such a term
        if terms.first().is_some_and(|term| term.0)
            && let Some(k) = terms.iter().position(|term| !term.0)
        {
            terms[..=k].rotate_right(1);
        }
        if let [(minus, id)] = terms[..] {
            let product = self.product(minus, id);
            return self.product_text(&product, None);
        }
        let last = terms.len() > self.most_terms;
        let shown = if last { self.most_terms - 1 } else { terms.len() };
        let mut products: Vec<Product> = terms[..shown].iter().map(|&(minus, id)| self.product(minus, id)).collect();
        if last {
            let (minus, id) = terms[terms.len() - 1];
            let mut text = self.added(&products);
            text += " + …";
            products = vec![self.product(minus, id)];
            self.append(&mut text, &products[0]);
            return Text::new(text, Strength::Sum);
        }
        let common = take_out_common(&mut products);
        if common.numerator == 1 && common.denominator == 1 && common.factors.is_empty() {
            return Text::new(self.added(&products), Strength::Sum);
        }
        let inner = Text::new(self.added(&products), Strength::Sum);
        self.product_text(&common, Some(inner))
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

    /// A node as a product of powers.
    fn product(&mut self, negative: bool, id: NodeId) -> Product {
        let mut product = Product { negative, ..Product::one() };
        let mut stack = vec![(id, 1)];
        while let Some((id, exponent)) = stack.pop() {
            if self.left == 0 {
                *product.factors.entry(id).or_default() += exponent;
                continue;
            }
            self.left -= 1;
            match self.graph.node(id) {
                Node::Number(bits) if product.multiply(f64::from_bits(bits), exponent) => {}
                Node::Unary(Unary::Neg, a) => {
                    product.negative ^= exponent % 2 != 0;
                    stack.push((a, exponent));
                }
                Node::Binary(Binary::Mul, a, b) if a == b => stack.push((a, 2 * exponent)),
                Node::Binary(Binary::Mul, a, b) => stack.extend([(b, exponent), (a, exponent)]),
                Node::Binary(Binary::Div, a, b) => stack.extend([(b, -exponent), (a, exponent)]),
                _ => *product.factors.entry(id).or_default() += exponent,
            }
        }
        product.factors.retain(|_, exponent| *exponent != 0);
        product
    }

    /// Where a factor stands: constants and parameters, coordinates, functions, sums, velocities.
    fn rank(&self, id: NodeId) -> (u8, u32) {
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
        let mut factors: Vec<(NodeId, i32)> = product.factors.iter().map(|(id, e)| (*id, *e)).collect();
        factors.sort_by_key(|(id, _)| self.rank(*id));
        let alone = product.numerator == 1 && sum.is_none() && factors.iter().filter(|f| f.1 > 0).count() == 1;
        let whole = alone && product.denominator == 1 && factors.len() == 1 && !product.negative;
        if let (true, Some(&(id, 1))) = (whole, factors.first()) {
            return self.base(id);
        }
        let (mut above, mut below) = (Vec::new(), Vec::new());
        if product.numerator != 1 {
            above.push(product.numerator.to_string());
        }
        if product.denominator != 1 {
            below.push(product.denominator.to_string());
        }
        let mut sum = sum.map(|sum| sum.within(Strength::Product));
        for (id, exponent) in factors {
            if self.rank(id).0 == 9 && exponent > 0 {
                above.extend(sum.take());
            }
            let list = if exponent > 0 { &mut above } else { &mut below };
            list.push(self.power(id, exponent.unsigned_abs()));
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
            (false, true) => Strength::Power,
            (false, false) => Strength::Product,
        };
        Text::new(text, strength)
    }

    fn power(&mut self, id: NodeId, exponent: u32) -> String {
        let base = self.base(id);
        if exponent == 1 { base.within(Strength::Power) } else { format!("{}^{exponent}", base.within(Strength::Whole)) }
    }

    /// What is neither a product nor a quotient, unless nothing can be taken apart any more.
    fn base(&mut self, id: NodeId) -> Text {
        if self.level >= self.most_levels || self.left == 0 {
            return Text::new("…", Strength::Whole);
        }
        self.level += 1;
        let text = self.base_inside(id);
        self.level -= 1;
        text
    }

    fn base_inside(&mut self, id: NodeId) -> Text {
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
                Text::new(format!("{}^{}", a.within(Strength::Whole), b.within(Strength::Whole)), Strength::Power)
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

/// Takes out of a sum what all its products have in common.
fn take_out_common(products: &mut [Product]) -> Product {
    let mut common = Product::one();
    let Some((first, others)) = products.split_first() else { return common };
    for (&id, &exponent) in &first.factors {
        // the smallest power, if all have one of the same sign
        let shared = others.iter().try_fold(exponent, |shared: i32, product| {
            let &other = product.factors.get(&id)?;
            (other.signum() == shared.signum()).then(|| shared.signum() * shared.abs().min(other.abs()))
        });
        common.factors.extend(shared.map(|exponent| (id, exponent)));
    }
    if others.iter().all(|product| product.denominator == first.denominator) {
        common.denominator = first.denominator;
    }
    if others.iter().all(|product| product.numerator == first.numerator) {
        common.numerator = first.numerator;
    }
    for product in products {
        for (id, exponent) in &common.factors {
            *product.factors.entry(*id).or_default() -= exponent;
        }
        product.factors.retain(|_, exponent| *exponent != 0);
        product.numerator /= common.numerator;
        product.denominator /= common.denominator;
    }
    common
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn printed(text: &str, limit: usize) -> String {
        let names: Vec<String> = ["m", "l", "g"].map(str::to_owned).to_vec();
        let coordinates: Vec<String> = ["x", "y"].map(str::to_owned).to_vec();
        let mut graph = Graph::new();
        let mut resolve = |graph: &mut Graph, name: &str| match name {
            "m" => Some(graph.parameter(0)),
            "l" => Some(graph.parameter(1)),
            "g" => Some(graph.parameter(2)),
            "x" => Some(graph.coordinate(0)),
            "y" => Some(graph.coordinate(1)),
            "v_x" => Some(graph.velocity(0)),
            "v_y" => Some(graph.velocity(1)),
            _ => None,
        };
        let node = parse(&mut graph, text, &[], &mut resolve).expect(text);
        let names = Names { coordinates: &coordinates, parameters: &names };
        Readable { graph: &graph, names, limit }.node(node)
    }

    #[test]
    fn formulas_read_as_people_write_them() {
        for (text, expected) in [
            ("0.5*m*v_x^2", "m*v_x^2/2"),
            ("l*m*l*v_x*g*cos(x)", "m*l^2*g*cos(x)*v_x"),
            ("m*l^2*v_x + v_x*m*g", "m*(l^2 + g)*v_x"),
            ("-x - y", "-x - y"),
            ("-x + y", "y - x"),
            ("-(m*x + m*y)", "-m*(x + y)"),
            ("0.5*(v_x^2 + v_y^2) + m/sqrt(x^2 + y^2)", "(v_x^2 + v_y^2)/2 + m/sqrt(x^2 + y^2)"),
            ("((m - l*cos(x))/sin(x))^2/(2*g)", "(m - l*cos(x))^2/(2*g*sin(x)^2)"),
            ("y*x^2 - y*y^2/3", "y*(x^2 - y^2/3)"),
            ("x*x/x/y", "x/y"),
            ("1/x/y", "1/(x*y)"),
            ("2^-x", "2^(-x)"),
            ("(x + y)^1.7*sin(-x)", "-sin(x)*(x + y)^1.7"),
            ("3*x/4 - 0.1", "3*x/4 - 0.1"),
            ("atan2(x, 2*y)/(x - y)", "atan2(x, 2*y)/(x - y)"),
        ] {
            assert_eq!(printed(text, 200), expected, "{text}");
        }
    }

    #[test]
    fn long_sums_are_shortened() {
        let terms: Vec<String> = (1..=40).map(|k| format!("sin({k}*x)")).collect();
        assert_eq!(printed(&terms.join(" + "), 80), "sin(x) + sin(2*x) + sin(3*x) + sin(4*x) + sin(5*x) + … + sin(40*x)");
        // every level doubles what would have to be printed
        let mut nested = "x".to_owned();
        for _ in 0..12 {
            nested = format!("sin({nested} + y*({nested}))");
        }
        assert!(printed(&nested, 80).chars().count() <= 200);
    }
}
