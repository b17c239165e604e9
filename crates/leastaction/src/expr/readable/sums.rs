//! Sums taken apart: terms as products of powers, like terms added up, common factors taken out.

use super::product::{Base, Product, take_out_common};
use super::{MOST_NODES, Printer, Terms};
use crate::expr::{Binary, Graph, Node, NodeId, Unary};
use std::rc::Rc;

/// A sum of products, what they have in common apart.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    pub(super) common: Product,
    pub(super) products: Vec<Product>,
}

/// Sums within sums as one list.
pub(super) fn flatten(graph: &Graph, terms: &Terms) -> Terms {
    let mut stack: Terms = terms.iter().rev().copied().collect();
    let mut list = Terms::new();
    while let Some((minus, id)) = stack.pop() {
        match graph.node(id) {
            Node::Binary(Binary::Add, a, b) if list.len() < 10 * MOST_NODES => {
                stack.extend([(minus, b), (minus, a)]);
            }
            Node::Binary(Binary::Sub, a, b) if list.len() < 10 * MOST_NODES => {
                stack.extend([(!minus, b), (minus, a)]);
            }
            Node::Unary(Unary::Neg, a) => stack.push((!minus, a)),
            _ => list.push((minus, id)),
        }
    }
    list
}

impl Printer<'_> {
    /// Terms as products, like ones added up, with what all have in common taken out.
    pub(super) fn taken_apart(&mut self, terms: &Terms) -> Sum {
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

    /// How many terms a sum has when like ones are added up.
    pub(super) fn like_terms(&mut self, terms: &Terms) -> usize {
        let products = terms.iter().map(|&(minus, id)| self.product(minus, id)).collect();
        self.expanded(products).len()
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
        self.join_angles(&mut list);
        list
    }

    /// The node that stands for all sums of the same terms.
    fn representative(&mut self, id: NodeId, sum: &Sum) -> NodeId {
        let mut products = sum.products.clone();
        products.sort_unstable();
        *self.same.entry(products).or_insert(id)
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

    /// A node as a product of powers.
    pub(super) fn product(&mut self, negative: bool, id: NodeId) -> Product {
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
                            let base = Base::Sum(self.representative(id, &sum));
                            *product.factors.entry(base).or_default() += exponent;
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
}
