//! Graph nodes as formulas for people.
//!
//! [`formula`](super::formula) prints what the graph holds, so that it can be read back to the same nodes. Here factors are gathered and
//! put in a fixed order, powers and fractions written as such, common factors taken out of sums, and sums of many terms shortened.
//! The result means the same; its rounding may differ.

use super::display::{Names, function_name};
use super::graph::{Binary, Graph, Node, NodeId, Unary};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// A signed list of terms.
pub type Terms = Vec<(bool, NodeId)>;

/// How much is shown: terms of a sum, levels of nesting.
const DETAIL: [(usize, usize); 4] = [(16, 40), (6, 12), (4, 6), (3, 4)];
/// Of a sum that is too long, one term less than this from its beginning.
const FEW_TERMS: usize = 5;
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
}

/// A sum of products, what they have in common apart.
#[derive(Clone, Debug)]
struct Sum {
    common: Product,
    products: Vec<Product>,
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
    factors: BTreeMap<Base, i32>,
}

/// What is raised to a power in a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Base {
    /// A node.
    Node(NodeId),
    /// The node of a sum, without what its terms have in common.
    Sum(NodeId),
}

impl Product {
    fn one() -> Self {
        Self { negative: false, numerator: 1, denominator: 1, factors: BTreeMap::new() }
    }

    fn is_one(&self) -> bool {
        !self.negative && self.numerator == 1 && self.denominator == 1 && self.factors.is_empty()
    }

    /// Multiplies by a small number to a power; says no if it is not one.
    fn multiply(&mut self, x: f64, exponent: i32) -> bool {
        let size = x.abs();
        let denominators = [1.0, 2.0, 4.0, 8.0, 16.0];
        let Some(denominator) = denominators.into_iter().find(|d| (size * d).fract() == 0.0) else {
            return false;
        };
        let fraction = ((size * denominator) as u64, denominator as u64);
        size < 1e6 && size > 0.0 && self.multiply_fraction(x < 0.0, fraction, exponent)
    }

    /// Multiplies by a fraction to a power; says no if that becomes too large.
    fn multiply_fraction(&mut self, negative: bool, (p, q): (u64, u64), exponent: i32) -> bool {
        let (p, q) = if exponent < 0 { (q, p) } else { (p, q) };
        let power = |x: u64, times: u64| {
            x.checked_pow(exponent.unsigned_abs()).and_then(|x| x.checked_mul(times)).filter(|x| *x < 1 << 31)
        };
        let (Some(p), Some(q)) = (power(p, self.numerator), power(q, self.denominator)) else { return false };
        let common = gcd(p, q).max(1);
        (self.numerator, self.denominator) = (p / common, q / common);
        self.negative ^= negative && exponent % 2 != 0;
        true
    }

    /// Multiplies by another product to a power; says no if its numbers become too large.
    fn multiply_product(&mut self, other: &Self, exponent: i32) -> bool {
        if !self.multiply_fraction(other.negative, (other.numerator, other.denominator), exponent) {
            return false;
        }
        for (base, power) in &other.factors {
            *self.factors.entry(*base).or_default() += power * exponent;
        }
        true
    }

    /// Adds a product with the same factors; says no if numbers become too large.
    fn add(&mut self, other: &Self) -> bool {
        let signed = |x: &Self| if x.negative { -(x.numerator as i64) } else { x.numerator as i64 };
        // numbers are below 2³¹, so that products of two fit
        let sum = signed(self) * other.denominator as i64 + signed(other) * self.denominator as i64;
        let (p, q) = (sum.unsigned_abs(), self.denominator * other.denominator);
        let common = gcd(p, q).max(1);
        if p / common >= 1 << 31 || q / common >= 1 << 31 {
            return false;
        }
        (self.negative, self.numerator, self.denominator) = (sum < 0, p / common, q / common);
        true
    }

    /// The sum that this is, with nothing before it but a sign.
    fn as_sum(&self) -> Option<NodeId> {
        let mut factors = self.factors.iter();
        match (factors.next(), factors.next()) {
            (Some((Base::Sum(id), 1)), None) if self.numerator == 1 && self.denominator == 1 => Some(*id),
            _ => None,
        }
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
            Node::Binary(Binary::Add, a, b) if list.len() < 10 * MOST_NODES => {
                stack.extend([(minus, b), (minus, a)])
            }
            Node::Binary(Binary::Sub, a, b) if list.len() < 10 * MOST_NODES => {
                stack.extend([(!minus, b), (minus, a)])
            }
            Node::Unary(Unary::Neg, a) => stack.push((!minus, a)),
            _ => list.push((minus, id)),
        }
    }
    list
}

impl Printer<'_> {
    fn sum(&mut self, terms: &Terms) -> Text {
        let terms = flatten(self.graph, terms);
        if terms.len() > self.most_terms {
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

    /// The first terms of a long sum, and the last.
    fn shortened(&mut self, terms: &Terms) -> Text {
        let shown = self.most_terms.min(FEW_TERMS) - 1;
        let mut text = String::new();
        for &(minus, id) in &terms[..shown] {
            let product = self.product(minus, id);
            self.append(&mut text, &product);
        }
        text += " + …";
        if let Some(&(minus, id)) = terms.last() {
            let product = self.product(minus, id);
            self.append(&mut text, &product);
        }
        Text::new(text, Strength::Sum)
    }

    /// Terms as products, like ones added up, with what all have in common taken out.
    fn taken_apart(&mut self, terms: &Terms) -> Sum {
        let mut products: Vec<Product> = terms.iter().map(|&(minus, id)| self.product(minus, id)).collect();
        let mut common = Product::one();
        // what is taken out may leave plain sums, which become terms, which may have something in common
        for _ in 0..4 {
            products = self.expanded(products);
            let further = take_out_common(&mut products);
            let done = further.factors.is_empty() && !products.iter().any(|p| p.as_sum().is_some());
            common.multiply_product(&further, 1);
            common.factors.retain(|_, exponent| *exponent != 0);
            if done || products.len() > self.most_terms {
                break;
            }
        }
        // a sum begins with something positive
        if products.first().is_some_and(|p| p.negative)
            && let Some(k) = products.iter().position(|p| !p.negative)
        {
            products[..=k].rotate_right(1);
        }
        if products.len() == 1
            && let Some(one) = products.pop()
        {
            let mut product = common.clone();
            if product.multiply_product(&one, 1) {
                product.factors.retain(|_, exponent| *exponent != 0);
                return Sum { common: Product::one(), products: vec![product] };
            }
            products.push(one);
        }
        Sum { common, products }
    }

    /// Sums among the terms of a sum become terms, and like terms are added up.
    fn expanded(&mut self, products: Vec<Product>) -> Vec<Product> {
        let mut list: Vec<Product> = Vec::with_capacity(products.len());
        let mut push = |product: Product| {
            let added = list
                .iter_mut()
                .find(|other| other.factors == product.factors)
                .map(|other| other.add(&product));
            if added != Some(true) {
                list.push(product);
            }
        };
        for product in products {
            match product.as_sum().and_then(|id| self.sums.get(&id).cloned().flatten()) {
                Some(sum) => sum.products.iter().for_each(|inner| {
                    push(Product { negative: inner.negative ^ product.negative, ..inner.clone() });
                }),
                None => push(product),
            }
        }
        list.retain(|product| product.numerator != 0);
        list
    }

    /// The node of a sum taken apart, unless it is too long or too deep for that.
    fn sum_of(&mut self, id: NodeId) -> Option<Rc<Sum>> {
        if let Some(known) = self.sums.get(&id) {
            return known.clone();
        }
        let terms = flatten(self.graph, &vec![(false, id)]);
        let sum = if terms.len() > self.most_terms || self.level >= self.most_levels {
            None
        } else {
            self.level += 1;
            let sum = self.taken_apart(&terms);
            self.level -= 1;
            Some(Rc::new(sum)).filter(|sum| !sum.products.is_empty())
        };
        self.sums.insert(id, sum.clone());
        sum
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
            let base = Base::Node(id);
            if self.left == 0 {
                *product.factors.entry(base).or_default() += exponent;
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
                Node::Binary(Binary::Add | Binary::Sub, ..) => match self.sum_of(id) {
                    Some(sum) => {
                        let one = if sum.products.len() == 1 { sum.products.first() } else { None };
                        if !product.multiply_product(one.unwrap_or(&sum.common), exponent) {
                            *product.factors.entry(base).or_default() += exponent;
                        } else if one.is_none() {
                            *product.factors.entry(Base::Sum(id)).or_default() += exponent;
                        }
                    }
                    None => *product.factors.entry(base).or_default() += exponent,
                },
                _ => *product.factors.entry(base).or_default() += exponent,
            }
        }
        product.factors.retain(|_, exponent| *exponent != 0);
        product
    }

    /// Where a factor stands: constants and parameters, coordinates, functions, sums, velocities.
    fn rank(&self, base: Base) -> (u8, u32) {
        let (Base::Node(id) | Base::Sum(id)) = base;
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
        };
        self.level -= 1;
        text
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
    common.negative = products.iter().all(|product| product.negative);
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
        product.negative ^= common.negative;
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
            ("-x - y", "-(x + y)"),
            ("m*x/2 + l*y + x*m/2", "m*x + l*y"),
            ("m*(x + y) + m*x", "m*(2*x + y)"),
            ("sin(x)*(m*l*x + m*l*y) + m*y", "m*(l*sin(x)*(x + y) + y)"),
            ("x/3 + x/6 - x/2 + y", "y"),
            ("x - x*1", "0"),
            ("-x + y", "y - x"),
            ("-(m*x + m*y)", "-m*(x + y)"),
            ("0.5*(v_x^2 + v_y^2) + m/sqrt(x^2 + y^2)", "(v_x^2 + v_y^2)/2 + m/sqrt(x^2 + y^2)"),
            ("((m - l*cos(x))/sin(x))^2/(2*g)", "(m - l*cos(x))^2/(2*g*sin(x)^2)"),
            ("m*(y*x^2 - y*y^2/3)", "m*y*(x^2 - y^2/3)"),
            ("x*(y - x)^2/(y - x)", "x*(y - x)"),
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
        assert_eq!(
            printed(&terms.join(" + "), 80),
            "sin(x) + sin(2*x) + sin(3*x) + sin(4*x) + … + sin(40*x)"
        );
        // every level doubles what would have to be printed
        let mut nested = "x".to_owned();
        for _ in 0..12 {
            nested = format!("sin({nested} + y*({nested}))");
        }
        assert!(printed(&nested, 80).chars().count() <= 200);
    }
}
