//! What a formula gives: a number or a vector of numbers, as nodes of a graph.
//!
//! Vectors are flat: a list of vectors is one long vector. Sums and differences work entry by entry, products and quotients
//! with a number.

use super::graph::{Graph, NodeId, Unary};
use super::rate::Rates;

/// A number or a vector.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Scalar(NodeId),
    /// A vector.
    Vector(Vec<NodeId>),
}

/// Functions of one number, by name.
pub(super) const FUNCTIONS: [(&str, Unary); 15] = [
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

/// Other functions: name, least and largest number of arguments, how they are written.
pub(super) const OTHERS: [(&str, usize, usize, &str); 10] = [
    ("atan2", 2, 2, "atan2(y, x)"),
    ("pow", 2, 2, "pow(base, exponent)"),
    ("hypot", 2, 3, "hypot(x, y)"),
    ("dot", 1, 2, "dot(x), the time derivative, or dot(a, b), the scalar product"),
    ("cross", 2, 2, "cross(a, b)"),
    ("norm", 1, 1, "norm(v)"),
    ("len", 1, 1, "len(v)"),
    ("sum", 1, 1, "sum(i = 1..n, x[i]) or sum(v)"),
    ("product", 1, 1, "product(i = 1..n, x[i]) or product(v)"),
    ("list", 0, 0, "list(i = 1..n, x[i])"),
];

/// Names that mean something by themselves, besides functions.
pub const CONSTANTS: [&str; 5] = ["t", "pi", "π", "period", "energy"];

/// Names of all functions.
pub fn functions() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name).chain(OTHERS.iter().map(|(name, ..)| *name))
}

/// What went wrong with values, as title and label.
pub(super) type Mismatch = (String, String);

impl Value {
    /// What it is, in words.
    pub fn kind(&self) -> String {
        match self {
            Self::Scalar(_) => "a number".to_owned(),
            Self::Vector(list) if list.len() == 1 => "a vector of 1 entry".to_owned(),
            Self::Vector(list) => format!("a vector of {} entries", list.len()),
        }
    }

    /// Its entries; a number is one.
    pub fn nodes(&self) -> &[NodeId] {
        match self {
            Self::Scalar(node) => std::slice::from_ref(node),
            Self::Vector(list) => list,
        }
    }

    fn map(self, mut f: impl FnMut(NodeId) -> NodeId) -> Self {
        match self {
            Self::Scalar(node) => Self::Scalar(f(node)),
            Self::Vector(list) => Self::Vector(list.into_iter().map(f).collect()),
        }
    }

    /// −a
    pub(super) fn minus(self, g: &mut Graph) -> Self {
        self.map(|node| g.neg(node))
    }

    /// a ± b
    pub(super) fn plus(self, g: &mut Graph, other: Self, subtract: bool) -> Result<Self, Mismatch> {
        let mut term = |a, b| if subtract { g.sub(a, b) } else { g.add(a, b) };
        match (self, other) {
            (Self::Scalar(a), Self::Scalar(b)) => Ok(Self::Scalar(term(a, b))),
            (Self::Vector(a), Self::Vector(b)) if a.len() == b.len() => {
                Ok(Self::Vector(a.into_iter().zip(b).map(|(a, b)| term(a, b)).collect()))
            }
            (a, b) => {
                let (verb, word) = if subtract { ("subtract", "from") } else { ("add", "to") };
                Err((
                    format!("cannot {verb} {} {word} {}", b.kind(), a.kind()),
                    format!("this is {}", b.kind()),
                ))
            }
        }
    }

    /// a·b or a/b
    pub(super) fn times(self, g: &mut Graph, other: Self, divide: bool) -> Result<Self, Mismatch> {
        match (self, other) {
            (a, Self::Scalar(b)) => Ok(a.map(|a| if divide { g.div(a, b) } else { g.mul(a, b) })),
            (Self::Scalar(a), b) if !divide => Ok(b.map(|b| g.mul(a, b))),
            (a, b) if divide => {
                Err((format!("cannot divide {} by {}", a.kind(), b.kind()), "divide by a number".to_owned()))
            }
            (a, b) => Err((
                format!("cannot multiply {} by {}", a.kind(), b.kind()),
                "the scalar product is written dot(a, b), the vector product cross(a, b)".to_owned(),
            )),
        }
    }

    /// Σ aᵢbᵢ, from left to right.
    pub(super) fn dot(&self, g: &mut Graph, other: &Self) -> Result<Self, Mismatch> {
        match (self, other) {
            (Self::Vector(a), Self::Vector(b)) if a.len() == b.len() => {
                let mut sum = g.number(0.0);
                for (a, b) in a.iter().zip(b) {
                    let term = g.mul(*a, *b);
                    sum = g.add(sum, term);
                }
                Ok(Self::Scalar(sum))
            }
            (a, b) => Err((
                format!("the scalar product of {} and {} does not exist", a.kind(), b.kind()),
                "it needs two vectors of the same length".to_owned(),
            )),
        }
    }

    /// The vector product of two vectors of three entries.
    pub(super) fn cross(&self, g: &mut Graph, other: &Self) -> Result<Self, Mismatch> {
        let (Self::Vector(a), Self::Vector(b)) = (self, other) else { return Err(self.no_cross(other)) };
        let ([a1, a2, a3], [b1, b2, b3]) = (a.as_slice(), b.as_slice()) else {
            return Err(self.no_cross(other));
        };
        let mut entry = |a: NodeId, b: NodeId, c: NodeId, d: NodeId| {
            let (left, right) = (g.mul(a, b), g.mul(c, d));
            g.sub(left, right)
        };
        Ok(Self::Vector(vec![
            entry(*a2, *b3, *a3, *b2),
            entry(*a3, *b1, *a1, *b3),
            entry(*a1, *b2, *a2, *b1),
        ]))
    }

    fn no_cross(&self, other: &Self) -> Mismatch {
        (
            format!("the vector product of {} and {} does not exist", self.kind(), other.kind()),
            "it needs two vectors of 3 entries".to_owned(),
        )
    }

    /// The time derivative of every entry.
    pub(super) fn rate(self, g: &mut Graph, rates: &mut Rates) -> Option<Self> {
        match self {
            Self::Scalar(node) => rates.of(g, node).map(Self::Scalar),
            Self::Vector(list) => {
                let list: Option<Vec<NodeId>> = list.into_iter().map(|node| rates.of(g, node)).collect();
                list.map(Self::Vector)
            }
        }
    }
}
