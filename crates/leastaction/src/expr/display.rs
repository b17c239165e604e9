//! Graph nodes as readable formulas, with parentheses only where needed.
//!
//! Long expressions are cut at a length the caller chooses: a formula nobody can read helps nobody.

use super::graph::{Binary, Graph, Node, NodeId, Unary};

/// The names under which inputs are printed.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// Coordinates.
    pub coordinates: &'a [String],
    /// Parameters.
    pub parameters: &'a [String],
}

/// Writes the formula of a node, or `None` if it would be longer than `limit` characters.
pub fn formula(graph: &Graph, id: NodeId, names: Names<'_>, limit: usize) -> Option<String> {
    let mut printer = Printer { graph, names, limit, depth: 0, text: String::new() };
    printer.print(id, 0).map(|()| printer.text)
}

struct Printer<'a> {
    graph: &'a Graph,
    names: Names<'a>,
    limit: usize,
    depth: usize,
    text: String,
}

/// How tightly an operator binds: sum 1, product 2, sign 3, power 4.
fn strength(op: Binary) -> u8 {
    match op {
        Binary::Add | Binary::Sub => 1,
        Binary::Mul | Binary::Div => 2,
        Binary::Pow => 4,
        Binary::Atan2 => 5,
    }
}

impl Printer<'_> {
    fn push(&mut self, text: &str) -> Option<()> {
        self.text.push_str(text);
        (self.text.len() <= self.limit).then_some(())
    }

    /// Prints a node inside an operator of the given strength. Each level of nesting prints at least one character, so
    /// the limit on length bounds the depth too.
    fn print(&mut self, id: NodeId, outer: u8) -> Option<()> {
        self.depth += 1;
        if self.depth > self.limit {
            return None;
        }
        let result = self.print_node(id, outer);
        self.depth -= 1;
        result
    }

    fn print_node(&mut self, id: NodeId, outer: u8) -> Option<()> {
        match self.graph.node(id) {
            Node::Number(bits) => {
                let x = f64::from_bits(bits);
                if x < 0.0 && outer > 1 { self.push(&format!("({x})")) } else { self.push(&x.to_string()) }
            }
            Node::Decimal(index) => {
                let text = self.graph.decimal_text(index).to_owned();
                self.push(&text)
            }
            Node::Pi => self.push("pi"),
            Node::Parameter(i) => self.push(&self.names.parameters[i as usize].clone()),
            Node::Coordinate(i) => self.push(&self.names.coordinates[i as usize].clone()),
            Node::Velocity(i) => {
                let name = format!("v_{}", self.names.coordinates[i as usize]);
                self.push(&name)
            }
            Node::Time => self.push("t"),
            Node::Unary(Unary::Neg, a) => self.wrapped(outer > 1, |p| {
                p.push("-")?;
                p.print(a, 3)
            }),
            Node::Unary(op, a) => {
                self.push(function_name(op))?;
                self.wrapped(true, |p| p.print(a, 0))
            }
            Node::Binary(op, a, b) => self.binary(op, a, b, outer),
        }
    }

    fn binary(&mut self, op: Binary, a: NodeId, b: NodeId, outer: u8) -> Option<()> {
        let own = strength(op);
        if op == Binary::Mul && a == b {
            return self.wrapped(outer >= 4, |p| {
                p.print(a, 4)?;
                p.push("^2")
            });
        }
        if op == Binary::Atan2 {
            self.push("atan2")?;
            return self.wrapped(true, |p| {
                p.print(a, 0)?;
                p.push(", ")?;
                p.print(b, 0)
            });
        }
        self.wrapped(outer > own, |p| {
            p.print(a, if op == Binary::Pow { 5 } else { own })?;
            p.push(match op {
                Binary::Add => " + ",
                Binary::Sub => " - ",
                Binary::Mul => "*",
                Binary::Div => "/",
                Binary::Pow | Binary::Atan2 => "^",
            })?;
            p.print(b, if matches!(op, Binary::Sub | Binary::Div | Binary::Pow) { own + 1 } else { own })
        })
    }

    fn wrapped(&mut self, parentheses: bool, inner: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        if parentheses {
            self.push("(")?;
            inner(self)?;
            self.push(")")
        } else {
            inner(self)
        }
    }
}

pub(super) fn function_name(op: Unary) -> &'static str {
    match op {
        Unary::Neg => "-",
        Unary::Sqrt => "sqrt",
        Unary::Exp => "exp",
        Unary::Ln => "log",
        Unary::Sin => "sin",
        Unary::Cos => "cos",
        Unary::Tan => "tan",
        Unary::Asin => "asin",
        Unary::Acos => "acos",
        Unary::Atan => "atan",
        Unary::Sinh => "sinh",
        Unary::Cosh => "cosh",
        Unary::Tanh => "tanh",
        Unary::Abs => "abs",
        Unary::Sign => "sign",
        Unary::PowerOfTwo => "scale",
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    #[test]
    fn printed_formulas_parse_back_to_the_same_node() {
        let parameters = ["m".to_owned(), "l".to_owned()];
        let coordinates = ["x".to_owned(), "y".to_owned()];
        let names = Names { coordinates: &coordinates, parameters: &parameters };
        let known: Vec<String> = Vec::new();
        for text in [
            "m*l^2*(x - y)",
            "-(x + y)/(m - l)",
            "x - (y - m)",
            "(x/y)/m",
            "x/(y*m)",
            "sin(x)^2 + cos(x - y)",
            "atan2(x, y)^1.7",
            "(-x)^3",
            "2^-x",
            "(x + y)*(x - y)/3",
            "1/x^4",
        ] {
            let mut graph = Graph::new();
            let mut resolve = |graph: &mut Graph, name: &str| match name {
                "m" => Some(graph.parameter(0)),
                "l" => Some(graph.parameter(1)),
                "x" => Some(graph.coordinate(0)),
                "y" => Some(graph.coordinate(1)),
                _ => None,
            };
            let node = parse(&mut graph, text, &known, &mut resolve).expect(text);
            let printed = formula(&graph, node, names, 200).expect("short");
            let again = parse(&mut graph, &printed, &known, &mut resolve).expect(&printed);
            assert_eq!(node, again, "{text} was printed as {printed}");
        }
    }
}
