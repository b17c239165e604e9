//! Sines and cosines of a sum put together: sin² + cos² = 1, and the addition theorems backwards.
//!
//! With the same k before both:  k sin²u + k cos²u = k,  k sin u sin w + k cos u cos w = k cos(u − w),
//! k sin u cos w − k cos u sin w = k sin(u − w).

use super::Printer;
use super::product::{Base, Product};
use crate::expr::{Node, NodeId, Unary};

/// In longer sums nothing is looked for.
const MOST_PRODUCTS: usize = 200;

impl Printer<'_> {
    /// Puts pairs of products together as long as there are such.
    pub(super) fn join_angles(&self, products: &mut Vec<Product>) {
        if products.len() > MOST_PRODUCTS {
            return;
        }
        let mut i = 0;
        while i < products.len() {
            let found = (i + 1..products.len())
                .find_map(|j| self.joined(&products[i], &products[j]).map(|product| (j, product)));
            match found {
                None => i += 1,
                Some((j, product)) => {
                    products.remove(j);
                    products.remove(i);
                    // what is left may be like another term
                    let like = products.iter_mut().find(|other| other.factors == product.factors);
                    if like.is_none_or(|other| !other.add(&product)) {
                        products.insert(i, product);
                    }
                    products.retain(|product| product.numerator != 0);
                    i = 0;
                }
            }
        }
    }

    /// Two terms as one.
    fn joined(&self, a: &Product, b: &Product) -> Option<Product> {
        if (a.numerator, a.denominator) != (b.numerator, b.denominator) {
            return None;
        }
        let (only_a, only_b) = (self.surplus(a, b)?, self.surplus(b, a)?);
        let same_sign = a.negative == b.negative;
        use Unary::{Cos, Sin};
        // what is to be replaced in the first, and by what
        let (taken, put) = match (only_a.as_slice(), only_b.as_slice()) {
            ([(Sin, u), (Sin, w)], [(Cos, x), (Cos, y)]) | ([(Cos, u), (Cos, w)], [(Sin, x), (Sin, y)])
                if same_sign && (u, w) == (x, y) =>
            {
                (&only_a, (u != w).then_some((Base::CosineBetween(*u, *w), false)))
            }
            // the sine comes first
            ([(Sin, u), (Cos, w)], [(Sin, x), (Cos, y)]) if !same_sign && (u, w) == (y, x) && u != w => {
                let (first, second, turned) = if u < w { (*u, *w, false) } else { (*w, *u, true) };
                (&only_a, Some((Base::SineBetween(first, second), turned)))
            }
            _ => return None,
        };
        let mut product = a.clone();
        for &(op, angle) in taken {
            let base = Base::Node(self.graph.find(Node::Unary(op, angle))?);
            *product.factors.get_mut(&base)? -= 1;
        }
        product.factors.retain(|_, exponent| *exponent != 0);
        if let Some((base, turned)) = put {
            *product.factors.entry(base).or_default() += 1;
            product.negative ^= turned;
        }
        Some(product)
    }

    /// The two sines and cosines that one product has more than the other, sines first, then by angle; `None` if it has anything
    /// else more.
    fn surplus(&self, of: &Product, than: &Product) -> Option<Vec<(Unary, NodeId)>> {
        let mut list = Vec::new();
        let exponent = |product: &Product, base| product.factors.get(base).copied().unwrap_or(0);
        for base in of.factors.keys().chain(than.factors.keys().filter(|base| !of.factors.contains_key(base)))
        {
            let more = exponent(of, base) - exponent(than, base);
            if more <= 0 {
                continue;
            }
            let Base::Node(id) = *base else { return None };
            match self.graph.node(id) {
                Node::Unary(op @ (Unary::Sin | Unary::Cos), angle) if exponent(than, base) >= 0 => {
                    list.extend((0..more).map(|_| (op, angle)));
                }
                _ => return None,
            }
        }
        list.sort_unstable_by_key(|&(op, angle)| (op == Unary::Cos, angle));
        (list.len() == 2).then_some(list)
    }
}
