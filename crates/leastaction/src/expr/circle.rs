//! sin² + cos² = 1 in sums.
//!
//! Who types positions, x = l sin φ, y = −l cos φ, gets velocities whose squares are k cos²φ + k sin²φ, and derivatives with products
//! k sin φ cos φ that cancel. A new term of a sum is compared with the terms that are there: k sin²u and k cos²u become k, and a
//! product with sin u cos u and its negative nothing. Products are compared as lists of factors, so that neither their order nor
//! their parentheses matter. Only terms with such factors are compared, with a few terms each, so that building stays linear.

use super::graph::{Binary, Graph, Node, NodeId, Unary, exact_product};

/// Products of more factors are left alone.
const FACTORS: usize = 16;
/// So are those of more products, whose other factors would all be numbers. A chain of them may be as deep as the graph is large.
const PRODUCTS: usize = 2 * FACTORS;
/// So many sums of a nested sum are looked into.
const SUMS: usize = 32;

/// The factors of a product, in order, but for numbers.
struct Factors {
    /// What the numbers among them give, where that is exact.
    number: f64,
    list: [NodeId; FACTORS],
    count: usize,
    /// How many products were taken apart.
    products: usize,
}

impl Factors {
    /// `None` if there are too many.
    fn of(graph: &Graph, id: NodeId) -> Option<Self> {
        let mut factors = Self { number: 1.0, list: [id; FACTORS], count: 0, products: 0 };
        factors.gather(graph, id).then(|| {
            factors.list[..factors.count].sort_unstable();
            factors
        })
    }

    fn gather(&mut self, graph: &Graph, id: NodeId) -> bool {
        if let Node::Binary(Binary::Mul, a, b) = graph.node(id) {
            self.products += 1;
            return self.products <= PRODUCTS && self.gather(graph, a) && self.gather(graph, b);
        }
        if let Some(x) = graph.as_number(id)
            && let Some(product) = exact_product(self.number, x)
        {
            self.number = product;
            return true;
        }
        let free = self.count < FACTORS;
        if free {
            self.list[self.count] = id;
            self.count += 1;
        }
        free
    }

    fn all(&self) -> &[NodeId] {
        &self.list[..self.count]
    }

    /// Factors that occur twice.
    fn squares(&self) -> impl Iterator<Item = NodeId> {
        let all = self.all();
        all.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }

    /// The rest after two factors `a`.
    fn without_square(&self, a: NodeId) -> impl Iterator<Item = NodeId> {
        let mut left = 2;
        self.all().iter().copied().filter(move |&id| {
            let taken = id == a && left > 0;
            left -= usize::from(taken);
            !taken
        })
    }
}

/// A term that may meet its other half in a sum.
pub(super) struct Half {
    term: NodeId,
    factors: Factors,
    /// Factors sin u or cos u that occur twice, with cos u or sin u.
    squares: Vec<(NodeId, NodeId)>,
    /// Whether sin u and cos u of one angle occur.
    mixed: bool,
}

impl Graph {
    /// A term with sin²u, cos²u or sin u cos u in it.
    fn half(&self, term: NodeId) -> Option<Half> {
        if !matches!(self.node(term), Node::Binary(Binary::Mul, ..)) {
            return None;
        }
        let factors = Factors::of(self, term)?;
        let other = |id: NodeId| match self.node(id) {
            Node::Unary(Unary::Sin, u) if self.may_drop(u) => self.find(Node::Unary(Unary::Cos, u)),
            Node::Unary(Unary::Cos, u) if self.may_drop(u) => self.find(Node::Unary(Unary::Sin, u)),
            _ => None,
        };
        let squares: Vec<_> = factors.squares().filter_map(|id| Some((id, other(id)?))).collect();
        let mixed = factors.all().iter().any(|id| other(*id).is_some_and(|id| factors.all().contains(&id)));
        (mixed || !squares.is_empty()).then_some(Half { term, factors, squares, mixed })
    }

    /// sum ± term, if the term meets its other half in the sum.
    pub(super) fn united(&mut self, sum: NodeId, term: NodeId, minus: bool) -> Option<NodeId> {
        let half = self.half(term)?;
        self.meet(sum, &half, minus, &mut SUMS.clone())
    }

    /// The sum with the term taken into one of its terms; `minus` if their signs differ.
    fn meet(&mut self, sum: NodeId, half: &Half, minus: bool, left: &mut usize) -> Option<NodeId> {
        match self.node(sum) {
            Node::Binary(op @ (Binary::Add | Binary::Sub), a, b) => {
                *left = left.checked_sub(1)?;
                let minus_b = minus != (op == Binary::Sub);
                let is_sum = |id| matches!(self.node(id), Node::Binary(Binary::Add | Binary::Sub, ..));
                // single terms first: long sums are nested on one side
                let found = if is_sum(a) {
                    let right = self.meet(b, half, minus_b, left).map(|b| (a, b));
                    right.or_else(|| self.meet(a, half, minus, left).map(|a| (a, b)))
                } else {
                    let left_side = self.meet(a, half, minus, left).map(|a| (a, b));
                    left_side.or_else(|| self.meet(b, half, minus_b, left).map(|b| (a, b)))
                };
                let (a, b) = found?;
                Some(if op == Binary::Add { self.add(a, b) } else { self.sub(a, b) })
            }
            Node::Unary(Unary::Neg, a) => {
                let inner = self.meet(a, half, !minus, left)?;
                Some(self.neg(inner))
            }
            Node::Binary(Binary::Mul, ..) => {
                let factors = Factors::of(self, sum)?;
                if factors.number != half.factors.number {
                    return None;
                }
                if minus {
                    let cancels = half.mixed && factors.all() == half.factors.all() && self.may_drop(sum);
                    return cancels.then(|| self.number(0.0));
                }
                if factors.count != half.factors.count {
                    return None;
                }
                let &(square, _) = half.squares.iter().find(|(square, other)| {
                    factors.squares().any(|id| id == *other)
                        && half.factors.without_square(*square).eq(factors.without_square(*other))
                })?;
                let once = self.without(half.term, square)?;
                self.without(once, square)
            }
            _ => None,
        }
    }

    /// A product without one of its factors.
    fn without(&mut self, id: NodeId, factor: NodeId) -> Option<NodeId> {
        if id == factor {
            return Some(self.number(1.0));
        }
        let Node::Binary(Binary::Mul, a, b) = self.node(id) else { return None };
        if let Some(a) = self.without(a, factor) {
            return Some(self.mul(a, b));
        }
        let b = self.without(b, factor)?;
        Some(self.mul(a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// k sin u, k cos u for a few factors k.
    fn pairs(g: &mut Graph) -> Vec<(NodeId, NodeId, NodeId)> {
        let (x, y, v, m) = (g.coordinate(0), g.coordinate(1), g.velocity(0), g.parameter(0));
        let (sine, cosine) = (g.unary(Unary::Sin, x), g.unary(Unary::Cos, x));
        let (one, third) = (g.number(1.0), g.decimal("0.3"));
        let mut factors = vec![one, v, m, third, y];
        let mv = g.mul(m, v);
        let tan = g.unary(Unary::Tan, y);
        factors.extend([mv, tan, g.mul(mv, tan)]);
        factors.into_iter().map(|k| (k, g.mul(k, sine), g.mul(cosine, k))).collect()
    }

    #[test]
    fn squares_become_one() {
        let mut g = Graph::new();
        for (k, a, b) in pairs(&mut g) {
            let (aa, bb, kk) = (g.mul(a, a), g.mul(b, b), g.mul(k, k));
            assert_eq!(g.add(aa, bb), kk);
            assert_eq!(g.add(bb, aa), kk);
            // also among other terms, and both subtracted
            let z = g.coordinate(2);
            let zz = g.mul(z, z);
            let (mut sum, mut right) = (aa, kk);
            for exponent in 3..10 {
                let power = g.powi(z, exponent);
                (sum, right) = (g.sub(sum, power), g.sub(right, power));
            }
            assert_eq!(g.add(sum, bb), right);
            let minus = g.sub(zz, bb);
            assert_eq!(g.sub(minus, aa), g.sub(zz, kk));
        }
    }

    #[test]
    fn deep_products_are_left_alone_at_once() {
        // a new product of all factors so far, as derivatives of nested functions have it
        let mut g = Graph::new();
        let mut product = g.coordinate(0);
        let mut most = 0;
        for i in 1..1000 {
            let (next, sum) = (g.coordinate(i), g.velocity(i));
            product = g.mul(product, next);
            assert_eq!(Factors::of(&g, product).is_some(), i < FACTORS);
            let mut factors = Factors { number: 1.0, list: [product; FACTORS], count: 0, products: 0 };
            factors.gather(&g, product);
            most = most.max(factors.products);
            g.add(sum, product);
        }
        assert_eq!(most, PRODUCTS + 1);
    }

    #[test]
    fn a_square_may_stand_in_both_terms() {
        // cos²x sin²x + cos⁴x = cos²x
        let mut g = Graph::new();
        let x = g.coordinate(0);
        let (sine, cosine) = (g.unary(Unary::Sin, x), g.unary(Unary::Cos, x));
        let product = g.mul(sine, cosine);
        let (square, fourth) = (g.powi(cosine, 2), g.powi(cosine, 4));
        let product = g.mul(product, product);
        assert_eq!((g.add(product, fourth), g.add(fourth, product)), (square, square));
    }

    #[test]
    fn products_cancel_however_they_are_grouped() {
        let mut g = Graph::new();
        for (k, a, b) in pairs(&mut g) {
            let product = g.mul(a, b);
            let (sine, rest) = (g.coordinate(0), g.mul(b, k));
            let sine = g.unary(Unary::Sin, sine);
            let same = g.mul(sine, rest);
            let (z, v) = (g.coordinate(2), g.velocity(2));
            let sum = g.add(z, product);
            let sum = g.sub(v, sum);
            let right = g.sub(v, z);
            assert_eq!(g.add(sum, same), right);
            let difference = g.sub(product, same);
            assert!(g.is_zero(difference));
        }
    }

    #[test]
    fn other_sums_stay() {
        let mut g = Graph::new();
        let (x, y) = (g.coordinate(0), g.coordinate(1));
        let (s, c) = (g.unary(Unary::Sin, x), g.unary(Unary::Cos, x));
        let other = g.unary(Unary::Cos, y);
        let (ss, cc, oo) = (g.mul(s, s), g.mul(c, c), g.mul(other, other));
        let (two, m) = (g.number(2.0), g.parameter(0));
        let twice = g.mul(two, cc);
        let mcc = g.mul(m, cc);
        // numbers are compared as one, wherever they stand
        let (half, half_cc) = (g.number(0.5), g.mul(m, cc));
        let (inner, mss) = (g.mul(half, m), g.mul(m, ss));
        let nested = g.mul(inner, ss);
        let nested = g.mul(two, nested);
        assert_eq!((g.add(nested, half_cc), g.add(mss, mcc)), (m, m));
        let l = g.parameter(1);
        let lcc = g.mul(l, cc);
        for (a, b) in [(ss, oo), (ss, twice), (ss, mcc), (ss, ss), (mss, lcc), (lcc, mss)] {
            let sum = g.add(a, b);
            assert!(g.depends(sum).on(crate::expr::Depends::COORDINATES), "{a:?} {b:?}");
        }
        let difference = g.sub(cc, ss);
        assert!(matches!(g.node(difference), Node::Binary(Binary::Sub, ..)));
    }

    #[test]
    fn the_position_of_an_elastic_pendulum_has_a_diagonal_mass_matrix() {
        // ẋ² + ẏ² of x = r sin φ, y = r cos φ, its derivatives with respect to ṙ and φ̇
        let mut g = Graph::new();
        let (r, phi, w, v) = (g.coordinate(0), g.coordinate(1), g.velocity(0), g.velocity(1));
        let (s, c) = (g.unary(Unary::Sin, phi), g.unary(Unary::Cos, phi));
        let rv = g.mul(r, v);
        let (ws, wc, us, uc) = (g.mul(w, s), g.mul(w, c), g.mul(rv, s), g.mul(rv, c));
        let (x, y) = (g.add(ws, uc), g.sub(wc, us));
        let (xx, yy) = (g.mul(x, x), g.mul(y, y));
        let t = g.add(xx, yy);
        let mut differentiator = crate::expr::Differentiator::default();
        let velocities = crate::expr::Depends::VELOCITIES;
        let mut matrix = Vec::new();
        for (_, p) in differentiator.gradient(&mut g, t, velocities) {
            matrix.extend(differentiator.gradient(&mut g, p, velocities));
        }
        let two = g.number(2.0);
        let rr = g.mul(r, r);
        assert_eq!(matrix, [(Node::Velocity(0), two), (Node::Velocity(1), g.mul(two, rr))]);
    }
}
