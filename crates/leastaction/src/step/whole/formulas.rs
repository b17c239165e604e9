//! A step written out on the graph.
//!
//! From where a step starts and a guess Z of its increments: two corrections by Newton's method with the matrix at the guess,
//!
//! ```text
//! Z' = Z − A⁻¹ G(Z)      Z'' = Z' − A⁻¹ G(Z')      h Σ b L_q at Z'' = h Σ b L_q(Z') + slope at Z · (Z'' − Z')
//! ```
//!
//! with A and the elimination as formulas. The order of equations is G_1 … G_{s−1}, G_0: the first ones have a symmetric definite matrix where L_vv is definite and
//! the step is small, so that elimination needs no exchange of rows.

use crate::expr::{Depends, Graph, Node, NodeId, Tape, Unary};
use crate::method::Tableau;
use crate::system::{Entry, Model, Turn, turn};

/// Where the outputs of the tape lie.
#[derive(Clone, Debug)]
pub(super) struct Outputs {
    /// Increments Z'', node by node.
    pub(super) increments: usize,
    /// h Σ b L_q.
    pub(super) impulse: usize,
    /// Σ_k (Z' − Z)², Σ_k (Z'' − Z')² and Σ_k Z''² of all coordinates.
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) size: usize,
    /// The sum of all squares of turns.
    pub(super) turns: usize,
}

impl Outputs {
    pub(super) fn new(tape: &Tape, n: usize, s: usize) -> Self {
        let increments = tape.outputs() - (s * n + 4 * n + 1);
        let impulse = increments + s * n;
        let first = impulse + n;
        Self { increments, impulse, first, second: first + n, size: first + 2 * n, turns: first + 3 * n }
    }
}

/// The tape of a step, whose inputs in place of coordinates are q, p, what rounding took from both, and Z. The step size is the last parameter.
pub(super) fn tape(model: &Model, tableau: &Tableau<f64>, parameters: usize) -> Tape {
    let mut graph = (*model.stiffness().graph).clone();
    let (n, s) = (model.n, tableau.degree);
    let h = graph.parameter(parameters);
    let mut writer = Writer { model, tableau, n, s, h, graph };
    let guess: Vec<NodeId> = (0..s * n).map(|i| writer.graph.coordinate(4 * n + i)).collect();
    let points = writer.points(&guess);
    let second = writer.second_derivatives(&points);
    let matrix = writer.matrix(&second);
    let solver = Solver::new(&mut writer.graph, &matrix);
    let slopes = writer.impulse_slopes(&second);
    let l_q: Vec<NodeId> = second.iter().flat_map(|at| at.l_q.iter().copied()).collect();
    let l_v: Vec<NodeId> = second.iter().flat_map(|at| at.l_v.iter().copied()).collect();
    let residual = writer.residual(&l_q, &l_v);
    let first = solver.solve(&mut writer.graph, &residual);
    let better = writer.sums(&guess, &first);

    let better_points = writer.points(&better);
    let Turned { l_q, l_v, turns } = writer.turned(&points, &better_points);
    let residual = writer.residual(&l_q, &l_v);
    let then = solver.solve(&mut writer.graph, &residual);
    let best = writer.sums(&better, &then);
    let impulse: Vec<NodeId> = (0..n).map(|j| writer.impulse(j, &l_q, &slopes[j], &then)).collect();

    // sines come first, so that machine code finds those that can go side by side
    let mut outputs = writer.sines(&second);
    outputs.extend(best.iter().chain(&impulse));
    for list in [&first, &then, &best] {
        outputs.extend((0..n).map(|j| {
            let own: Vec<NodeId> = list.iter().skip(j).step_by(n).copied().collect();
            writer.squares(&own)
        }));
    }
    outputs.push(writer.squares(&turns));
    Tape::new(&writer.graph, 4 * n + s * n, &outputs)
}

/// A point of the quadrature.
struct Point {
    q: Vec<NodeId>,
    v: Vec<NodeId>,
    t: NodeId,
}

impl Point {
    /// What an input is here.
    fn input(&self, node: Node) -> Option<NodeId> {
        match node {
            Node::Coordinate(j) => Some(self.q[j as usize]),
            Node::Velocity(j) => Some(self.v[j as usize]),
            Node::Time => Some(self.t),
            _ => None,
        }
    }
}

/// Derivatives of L at a point.
struct Derivatives {
    l_q: Vec<NodeId>,
    l_v: Vec<NodeId>,
    l_qq: Vec<Vec<NodeId>>,
    l_qv: Vec<Vec<NodeId>>,
    l_vv: Vec<Vec<NodeId>>,
}

/// First derivatives at all points, point by point, with sines that were turned, and by how much.
struct Turned {
    l_q: Vec<NodeId>,
    l_v: Vec<NodeId>,
    turns: Vec<NodeId>,
}

struct Writer<'a> {
    model: &'a Model,
    tableau: &'a Tableau<f64>,
    n: usize,
    s: usize,
    h: NodeId,
    graph: Graph,
}

/// Weights that are rounding.
const NOTHING: f64 = 1e-14;

impl Writer<'_> {
    /// A weight of the method times a power of h.
    fn weight(&mut self, weight: f64, power: i32) -> NodeId {
        let weight = self.graph.number(if weight.abs() < NOTHING { 0.0 } else { weight });
        let one = self.graph.number(1.0);
        let factor = match power {
            0 => one,
            -1 => self.graph.div(one, self.h),
            _ => self.graph.powi(self.h, power),
        };
        self.graph.mul(weight, factor)
    }

    /// Σ weight · x, added two by two, so that a processor waits little.
    fn sum(&mut self, products: &[(NodeId, NodeId)]) -> NodeId {
        let terms: Vec<NodeId> = products.iter().map(|&(weight, x)| self.graph.mul(weight, x)).collect();
        let mut terms: Vec<NodeId> = terms.into_iter().filter(|&term| !self.graph.is_zero(term)).collect();
        while terms.len() > 1 {
            let add = |pair: &[NodeId]| match *pair {
                [a, b] => self.graph.add(a, b),
                _ => pair[0],
            };
            terms = terms.chunks(2).map(add).collect();
        }
        terms.first().copied().unwrap_or_else(|| self.graph.number(0.0))
    }
    fn sums(&mut self, a: &[NodeId], b: &[NodeId]) -> Vec<NodeId> {
        a.iter().zip(b).map(|(&a, &b)| self.graph.add(a, b)).collect()
    }
    fn squares(&mut self, list: &[NodeId]) -> NodeId {
        let products: Vec<(NodeId, NodeId)> = list.iter().map(|&x| (x, x)).collect();
        self.sum(&products)
    }

    /// q_i = q + Σ_k φ_k(d_i) Z_k,  v_i = (1/h) Σ_k φ'_k(d_i) Z_k
    fn points(&mut self, z: &[NodeId]) -> Vec<Point> {
        let (tableau, n, s) = (self.tableau, self.n, self.s);
        let point = |i: usize| {
            let mut combined = |weights: &[f64], power: i32, j: usize| {
                let products: Vec<(NodeId, NodeId)> =
                    (1..=s).map(|k| (self.weight(weights[k], power), z[(k - 1) * n + j])).collect();
                self.sum(&products)
            };
            let sums: Vec<NodeId> = (0..n).map(|j| combined(&tableau.phi[i], 0, j)).collect();
            let v = (0..n).map(|j| combined(&tableau.slope[i], -1, j)).collect();
            let beyond = |(j, sum): (usize, NodeId)| {
                let (start, lost) = (self.graph.coordinate(j), self.graph.coordinate(2 * n + j));
                let sum = self.graph.add(lost, sum);
                self.graph.add(start, sum)
            };
            let q = sums.into_iter().enumerate().map(beyond).collect();
            let (start, later) = (self.graph.time(), self.weight(tableau.d[i], 1));
            Point { q, v, t: self.graph.add(start, later) }
        };
        (0..tableau.d.len()).map(point).collect()
    }

    /// All derivatives at all points.
    fn second_derivatives(&mut self, points: &[Point]) -> Vec<Derivatives> {
        let Model { l_q, l_v, l_qv, l_vv, .. } = self.model;
        let l_qq = self.model.l_qq();
        let entries: Vec<NodeId> = l_qq.iter().chain(l_qv).chain(l_vv).map(|entry| entry.node).collect();
        let roots: Vec<NodeId> = [l_q, l_v, &entries].into_iter().flatten().copied().collect();
        let (zero, n) = (self.graph.number(0.0), self.n);
        let filled = |entries: &[Entry], nodes: &[NodeId], symmetric: bool| {
            let mut matrix = vec![vec![zero; n]; n];
            for (entry, &node) in entries.iter().zip(nodes) {
                matrix[entry.row][entry.column] = node;
                if symmetric {
                    matrix[entry.column][entry.row] = node;
                }
            }
            matrix
        };
        let derivatives = |point: &Point| {
            let found = self.graph.substitute_all(&roots, |_, node| point.input(node));
            let (first, second) = found.split_at(2 * n);
            let (of_qq, rest) = second.split_at(l_qq.len());
            let (of_qv, of_vv) = rest.split_at(l_qv.len());
            Derivatives {
                l_q: first[..n].to_vec(),
                l_v: first[n..].to_vec(),
                l_qq: filled(l_qq, of_qq, true),
                l_qv: filled(l_qv, of_qv, false),
                l_vv: filled(l_vv, of_vv, true),
            }
        };
        points.iter().map(derivatives).collect()
    }

    /// L_q and L_v at points near others, with sines and cosines turned from there.
    fn turned(&mut self, before: &[Point], now: &[Point]) -> Turned {
        let (roots, angles, place) = self.without_sines();
        let mut found = Turned { l_q: Vec::new(), l_v: Vec::new(), turns: Vec::new() };
        for (before, now) in before.iter().zip(now) {
            let old = self.graph.substitute_all(&angles, |_, node| before.input(node));
            let new = self.graph.substitute_all(&angles, |_, node| now.input(node));
            let turn = |(&old, &new): (&NodeId, &NodeId)| {
                let [sine, cosine] = [Unary::Sin, Unary::Cos].map(|op| self.graph.unary(op, old));
                turn(&mut self.graph, new, [old, sine, cosine], Turn::Short)
            };
            let turned: Vec<[NodeId; 3]> = old.iter().zip(&new).map(turn).collect();
            let first = self.graph.substitute_all(&roots, |_, node| match node {
                Node::Coordinate(i) if i as usize >= place => {
                    let at = i as usize - place;
                    Some(turned[at / 2][at % 2])
                }
                node => now.input(node),
            });
            found.l_q.extend(&first[..self.n]);
            found.l_v.extend(&first[self.n..]);
            found.turns.extend(turned.iter().map(|[_, _, by]| by));
        }
        found
    }

    /// L_q and L_v with more coordinates in place of sines and cosines of angles that depend on no velocity, these angles, and where those coordinates
    /// begin.
    fn without_sines(&mut self) -> (Vec<NodeId>, Vec<NodeId>, usize) {
        let place = (4 + self.s) * self.n;
        let roots: Vec<NodeId> = self.model.l_q.iter().chain(&self.model.l_v).copied().collect();
        let mut angles: Vec<NodeId> = Vec::new();
        let roots = self.graph.substitute_all(&roots, |graph, node| match node {
            Node::Unary(op @ (Unary::Sin | Unary::Cos), angle)
                if graph.depends(angle).on(Depends::STATE)
                    && !graph.depends(angle).on(Depends::VELOCITIES) =>
            {
                let known = angles.iter().position(|&known| known == angle);
                let index = known.unwrap_or_else(|| {
                    angles.push(angle);
                    angles.len() - 1
                });
                Some(graph.coordinate(place + 2 * index + usize::from(op == Unary::Cos)))
            }
            _ => None,
        });
        (roots, angles, place)
    }

    /// The sines among all derivatives.
    fn sines(&self, derivatives: &[Derivatives]) -> Vec<NodeId> {
        let mut found = Vec::new();
        for at in derivatives {
            let of_matrices = [&at.l_qq, &at.l_qv, &at.l_vv].into_iter().flatten();
            for &root in [&at.l_q, &at.l_v].into_iter().chain(of_matrices).flatten() {
                let sines = self.graph.below(root).into_iter().filter(|&id| {
                    matches!(self.graph.node(id), Node::Unary(Unary::Sin, _)) && !self.graph.is_fixed(id)
                });
                found.extend(sines);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// −h G_k − h p [k = 0], in the order of the equations, from L_q and L_v at all points.
    fn residual(&mut self, l_q: &[NodeId], l_v: &[NodeId]) -> Vec<NodeId> {
        let (tableau, n) = (self.tableau, self.n);
        let mut rows = Vec::with_capacity(self.s * n);
        for k in equations(self.s) {
            for j in 0..n {
                let mut products = Vec::new();
                for (i, b) in tableau.b.iter().enumerate() {
                    products.push((self.weight(-b * tableau.phi[i][k], 2), l_q[i * n + j]));
                    products.push((self.weight(-b * tableau.slope[i][k], 1), l_v[i * n + j]));
                }
                let mut row = self.sum(&products);
                if k == 0 {
                    let (p, lost) = (self.graph.coordinate(n + j), self.graph.coordinate(3 * n + j));
                    let (p, weight) = (self.graph.add(p, lost), self.weight(-1.0, 1));
                    let p = self.graph.mul(weight, p);
                    row = self.graph.add(row, p);
                }
                rows.push(row);
            }
        }
        rows
    }

    /// h ∂G_k/∂Z_l
    fn matrix(&mut self, derivatives: &[Derivatives]) -> Vec<Vec<NodeId>> {
        let (n, s) = (self.n, self.s);
        let mut rows = Vec::with_capacity(s * n);
        for k in equations(s) {
            for r in 0..n {
                let columns = (1..=s).flat_map(|l| (0..n).map(move |c| (l, c)));
                rows.push(columns.map(|(l, c)| self.entry(derivatives, (k, r), (l, c))).collect());
            }
        }
        rows
    }
    /// Σ_i b_i [ h² φ_k φ_l L_qq + h (φ_k φ'_l L_qv + φ'_k φ_l L_vq) + φ'_k φ'_l L_vv ]
    fn entry(
        &mut self,
        derivatives: &[Derivatives],
        (k, r): (usize, usize),
        (l, c): (usize, usize),
    ) -> NodeId {
        let tableau = self.tableau;
        let mut products = Vec::new();
        let mut fixed = 0.0;
        for (i, (b, at)) in tableau.b.iter().zip(derivatives).enumerate() {
            let (phi, slope) = (&tableau.phi[i], &tableau.slope[i]);
            products.push((self.weight(b * phi[k] * phi[l], 2), at.l_qq[r][c]));
            products.push((self.weight(b * phi[k] * slope[l], 1), at.l_qv[r][c]));
            products.push((self.weight(b * slope[k] * phi[l], 1), at.l_qv[c][r]));
            if self.graph.is_fixed(at.l_vv[r][c]) {
                fixed += b * slope[k] * slope[l];
            } else {
                products.push((self.weight(b * slope[k] * slope[l], 0), at.l_vv[r][c]));
            }
        }
        products.push((self.weight(fixed, 0), derivatives[0].l_vv[r][c]));
        self.sum(&products)
    }

    /// ∂/∂Z_l of h Σ_i b_i L_q: a row for each coordinate.
    fn impulse_slopes(&mut self, derivatives: &[Derivatives]) -> Vec<Vec<NodeId>> {
        let (tableau, n, s) = (self.tableau, self.n, self.s);
        let mut slope = |r: usize, l: usize, c: usize| {
            let mut products = Vec::new();
            for (i, (b, at)) in tableau.b.iter().zip(derivatives).enumerate() {
                products.push((self.weight(b * tableau.phi[i][l], 1), at.l_qq[r][c]));
                products.push((self.weight(b * tableau.slope[i][l], 0), at.l_qv[r][c]));
            }
            self.sum(&products)
        };
        let columns = |_| (1..=s).flat_map(|l| (0..n).map(move |c| (l, c)));
        (0..n).map(|r| columns(r).map(|(l, c)| slope(r, l, c)).collect()).collect()
    }

    /// h Σ_i b_i L_q of a coordinate, and what the last correction adds to it.
    fn impulse(&mut self, j: usize, l_q: &[NodeId], slopes: &[NodeId], correction: &[NodeId]) -> NodeId {
        let (tableau, n) = (self.tableau, self.n);
        let products: Vec<(NodeId, NodeId)> =
            tableau.b.iter().enumerate().map(|(i, &b)| (self.weight(b, 1), l_q[i * n + j])).collect();
        let sum = self.sum(&products);
        let products: Vec<(NodeId, NodeId)> =
            slopes.iter().copied().zip(correction.iter().copied()).collect();
        let change = self.sum(&products);
        self.graph.add(sum, change)
    }
}

/// The order of the equations G_k.
fn equations(s: usize) -> impl Iterator<Item = usize> {
    (1..s).chain([0])
}

/// Four entries of a matrix, row by row.
type Block = [NodeId; 4];

/// A matrix after elimination. Unknowns are eliminated two by two, because a division waits for the one before it.
struct Solver {
    unknowns: usize,
    /// Below the diagonal the factors, above it what is left.
    blocks: Vec<Vec<Block>>,
    /// The inverses of the blocks on the diagonal.
    inverses: Vec<Block>,
}

impl Solver {
    fn new(graph: &mut Graph, matrix: &[Vec<NodeId>]) -> Self {
        let unknowns = matrix.len();
        let count = unknowns.div_ceil(2);
        let (zero, one) = (graph.number(0.0), graph.number(1.0));
        // a last unknown without a partner gets one that is zero
        let entry = |i: usize, j: usize| match matrix.get(i).and_then(|row| row.get(j)) {
            Some(&entry) => entry,
            None if i == j => one,
            None => zero,
        };
        let block =
            |m: usize, l: usize| [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| entry(2 * m + i, 2 * l + j));
        let mut blocks: Vec<Vec<Block>> =
            (0..count).map(|m| (0..count).map(|l| block(m, l)).collect()).collect();
        let mut inverses = Vec::with_capacity(count);
        for k in 0..count {
            let inverse = inverse(graph, blocks[k][k]);
            for m in k + 1..count {
                let factor = product(graph, blocks[m][k], inverse);
                for l in k + 1..count {
                    let less = product(graph, factor, blocks[k][l]);
                    blocks[m][l] = std::array::from_fn(|e| graph.sub(blocks[m][l][e], less[e]));
                }
                blocks[m][k] = factor;
            }
            inverses.push(inverse);
        }
        Self { unknowns, blocks, inverses }
    }

    fn solve(&self, graph: &mut Graph, right: &[NodeId]) -> Vec<NodeId> {
        let zero = graph.number(0.0);
        let mut x: Vec<[NodeId; 2]> =
            right.chunks(2).map(|pair| [pair[0], pair.get(1).copied().unwrap_or(zero)]).collect();
        let count = x.len();
        for k in 0..count {
            for m in k + 1..count {
                x[m] = reduced(graph, x[m], self.blocks[m][k], x[k]);
            }
        }
        for k in (0..count).rev() {
            for l in (k + 1..count).rev() {
                x[k] = reduced(graph, x[k], self.blocks[k][l], x[l]);
            }
            x[k] = applied(graph, self.inverses[k], x[k]);
        }
        x.into_iter().flatten().take(self.unknowns).collect()
    }
}

/// x − block · y
fn reduced(graph: &mut Graph, x: [NodeId; 2], block: Block, y: [NodeId; 2]) -> [NodeId; 2] {
    let less = applied(graph, block, y);
    [graph.sub(x[0], less[0]), graph.sub(x[1], less[1])]
}

fn applied(graph: &mut Graph, block: Block, x: [NodeId; 2]) -> [NodeId; 2] {
    let mut row = |i: usize| {
        let (first, second) = (graph.mul(block[2 * i], x[0]), graph.mul(block[2 * i + 1], x[1]));
        graph.add(first, second)
    };
    [row(0), row(1)]
}

fn product(graph: &mut Graph, a: Block, b: Block) -> Block {
    let first = applied(graph, a, [b[0], b[2]]);
    let second = applied(graph, a, [b[1], b[3]]);
    [first[0], second[0], first[1], second[1]]
}

fn inverse(graph: &mut Graph, [a, b, c, d]: Block) -> Block {
    let (plus, minus) = (graph.mul(a, d), graph.mul(b, c));
    let (determinant, one) = (graph.sub(plus, minus), graph.number(1.0));
    let over = graph.div(one, determinant);
    let [b, c] = [b, c].map(|x| graph.neg(x));
    [d, b, c, a].map(|x| graph.mul(x, over))
}
