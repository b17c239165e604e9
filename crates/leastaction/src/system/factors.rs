//! The mass matrix L_vv factored on the graph.
//!
//! Elimination, LDLᵀ without pivoting, written as formulas: a straight tape computes the factors beside the derivatives of L, and what depends on
//! parameters alone, such as the factors of a constant mass matrix, is computed once. Where the matrix is not positive definite a pivot
//! may vanish; the factors are not finite then, and who asked must solve in another way.
//!
//! While a step is refined its angles change little, so refining turns sines and cosines by a short series instead of computing them. They are kept at
//! angles on a grid. Kept where the first sweep happens to begin, a sine that is turned by less than its last bit stays what it was:
//! forces then depend on where the sweeps came from, which is behind the motion more often than ahead of it, and energy drifts.

use super::Model;
use super::model::Entry;
use crate::expr::{Binary, Depends, Graph, Node, NodeId, Pattern, Tape, Tapes, Unary};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Elimination may take so many operations, or this many for each coordinate; else the tape would be long.
const MOST: usize = 60_000;
const MOST_EACH: usize = 40;

/// What sweeps solve.
pub(super) struct Equations {
    pub(super) graph: Arc<Graph>,
    /// How many coordinates there are.
    pub(super) n: usize,
    pub(super) l_q: Vec<NodeId>,
    pub(super) l_v: Vec<NodeId>,
    /// L_vv, lower triangle.
    pub(super) l_vv: Vec<Entry>,
    /// The places of the coordinates in the elimination.
    pub(super) position: Vec<usize>,
    /// Whether there is a force on each coordinate.
    pub(super) forced: Vec<bool>,
    /// Velocities that follow from the others.
    pub(super) following: Vec<NodeId>,
}

impl Equations {
    /// Those of all coordinates of a model.
    pub(super) fn of(model: &Model) -> Self {
        Self {
            graph: model.graph.clone(),
            n: model.n,
            l_q: model.l_q.clone(),
            l_v: model.l_v.clone(),
            l_vv: model.l_vv.clone(),
            position: model.structure.mass_ordering.position.clone(),
            forced: (0..model.n).map(|i| !model.structure.cyclic.contains(&i)).collect(),
            following: Vec::new(),
        }
    }
}

/// The tapes of sweeps: see [`Tapes`]. `None` if the factors of the mass matrix take too much.
///
/// What is kept are the factors, and an angle near each one that has a sine or cosine, with these.
pub(super) fn tapes(equations: &Equations) -> Option<Tapes> {
    let Equations { n, l_q, l_v, following, .. } = equations;
    let mut graph = (*equations.graph).clone();
    let (pattern, factors) = factor(&mut graph, &equations.position, &equations.l_vv)?;
    let (refine, angles) = refine(equations, &pattern);
    let varies = !angles.is_empty() || factors.iter().any(|&factor| !graph.is_fixed(factor));
    let mut near = BTreeMap::new();
    let mut kept = factors.clone();
    for angle in angles {
        let (known, turned) = turn_from_grid(&mut graph, angle);
        kept.extend(known);
        near.insert(angle, turned);
    }
    let roots: Vec<NodeId> = [l_q, l_v, following, &kept].into_iter().flatten().copied().collect();
    let turned = graph.substitute_all(&roots, |_, node| match node {
        Node::Unary(Unary::Sin, angle) => near.get(&angle).map(|turned| turned[0]),
        Node::Unary(Unary::Cos, angle) => near.get(&angle).map(|turned| turned[1]),
        _ => None,
    });
    let first = Tape::new(&graph, *n, &turned);
    let (l_q, rest) = turned.split_at(*n);
    let (l_v, rest) = rest.split_at(*n);
    let (following, kept) = rest.split_at(following.len());
    let fresh = varies.then(|| {
        let velocities = better_velocities(&mut graph, l_v, &pattern, |_, k| kept[k]);
        let forces = with_velocities(&mut graph, l_q, &velocities);
        let following = with_velocities(&mut graph, following, &velocities);
        let outputs = [&forces, l_v, &velocities, &following, kept].into_iter().flatten().copied();
        Arc::new(Tape::new(&graph, 2 * n, &outputs.collect::<Vec<_>>()))
    });
    Some(Tapes {
        first: Arc::new(first),
        fresh,
        refine: Arc::new(refine),
        kept: kept.len(),
        pattern,
        forced: equations.forced.clone(),
        following: following.len(),
    })
}

/// The energy and the kinetic energy, from q and momenta p in place of velocities. `None` if L is not quadratic in velocities, or the factors of its mass
/// matrix take too much.
pub(super) fn hamiltonian(model: &Model) -> Option<Tape> {
    if !model.structure.quadratic {
        return None;
    }
    let mut graph = (*model.graph).clone();
    let (pattern, factors) = factor(&mut graph, &model.structure.mass_ordering.position, &model.l_vv)?;
    let zero = graph.number(0.0);
    let at_rest = with_velocities(&mut graph, &model.l_v, &vec![zero; model.n]);
    let momenta: Vec<NodeId> = (0..model.n).map(|i| graph.velocity(i)).collect();
    let mut velocities = vec![zero; model.n];
    let solution = solve(&mut graph, &pattern, &momenta, &at_rest, |_, k| factors[k]);
    for (&i, velocity) in pattern.order().iter().zip(solution) {
        velocities[i] = velocity;
    }
    let energies = energies(&mut graph, model, &velocities, &at_rest);
    Some(Tape::new(&graph, model.n, &energies))
}

/// The energy without its constant and the kinetic energy of velocities that momenta have, which are in the place of velocities. Momenta at rest come from terms that are linear in
/// velocities, and have no energy.
pub(super) fn energies(
    graph: &mut Graph,
    model: &Model,
    velocities: &[NodeId],
    at_rest: &[NodeId],
) -> [NodeId; 2] {
    let energy = with_velocities(graph, &[model.bare_energy], velocities)[0];
    let mut product = graph.number(0.0);
    for (i, (&velocity, &rest)) in velocities.iter().zip(at_rest).enumerate() {
        let momentum = graph.velocity(i);
        let momentum = graph.sub(momentum, rest);
        let term = graph.mul(velocity, momentum);
        product = graph.add(product, term);
    }
    let half = graph.number(0.5);
    [energy, graph.mul(half, product)]
}

/// The factors of a symmetric matrix: see [`Pattern`]. `None` if they take too much.
pub(super) fn factor(
    graph: &mut Graph,
    position: &[usize],
    entries: &[Entry],
) -> Option<(Pattern, Vec<NodeId>)> {
    let n = position.len();
    let mut columns = vec![BTreeMap::new(); n];
    for entry in entries {
        let (i, j) = (position[entry.row], position[entry.column]);
        columns[i.min(j)].insert(i.max(j), entry.node);
    }
    let left = MOST.max(MOST_EACH * n);
    let (rows, factors) = Elimination { graph, columns, left }.factor()?;
    Some((Pattern::new(position, rows), factors))
}

/// The tape that refines, and the angles whose sines it takes from what is kept.
fn refine(equations: &Equations, pattern: &Pattern) -> (Tape, Vec<NodeId>) {
    let n = equations.n;
    // the elimination's nodes are not needed here
    let mut graph = (*equations.graph).clone();
    let kept = 2 * n + pattern.len();
    let mut angles = Vec::new();
    let mut turned: BTreeMap<NodeId, [NodeId; 3]> = BTreeMap::new();
    let roots = [&equations.l_q, &equations.l_v, &equations.following].into_iter().flatten();
    let roots: Vec<NodeId> = roots.copied().collect();
    let derivatives = graph.substitute_all(&roots, |graph, node| match node {
        Node::Unary(op @ (Unary::Sin | Unary::Cos), angle)
            if graph.depends(angle).on(Depends::STATE) && !graph.depends(angle).on(Depends::VELOCITIES) =>
        {
            let [sine, cosine, _] = *turned.entry(angle).or_insert_with(|| {
                angles.push(angle);
                let first = kept + 3 * (angles.len() - 1);
                let before = [first, first + 1, first + 2].map(|place| graph.coordinate(place));
                turn(graph, angle, before, Turn::Far)
            });
            Some(if op == Unary::Sin { sine } else { cosine })
        }
        _ => None,
    });
    let (l_q, rest) = derivatives.split_at(n);
    let (l_v, following) = rest.split_at(n);
    let factor = |graph: &mut Graph, k: usize| graph.coordinate(2 * n + k);
    let velocities = better_velocities(&mut graph, l_v, pattern, factor);
    let forces = with_velocities(&mut graph, l_q, &velocities);
    let following = with_velocities(&mut graph, following, &velocities);
    let turns = angles.iter().map(|angle| turned[angle][2]);
    let outputs = forces.iter().chain(l_v).chain(&velocities).chain(&following).copied().chain(turns);
    let tape = Tape::new(&graph, kept + 3 * angles.len(), &outputs.collect::<Vec<_>>());
    (tape, angles)
}

/// How far an angle may be from another one whose sine and cosine are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// [`Tapes::TURN`].
    Far,
    /// [`Turn::SHORT`].
    Short,
    /// As far as a third power is good for: what goes on from there is only a guess.
    Rough,
    /// One radian.
    Wide,
    /// As far as that, but only for a guess.
    WideRough,
}

/// The coefficients of sin x = x + x³ (…) and of 1 − cos x = x² (…), the last ones first; beyond a radian there are more.
const ODD: [f64; 8] = [
    1.0 / 355687428096000.0,
    -1.0 / 1307674368000.0,
    1.0 / 6227020800.0,
    -1.0 / 39916800.0,
    1.0 / 362880.0,
    -1.0 / 5040.0,
    1.0 / 120.0,
    -1.0 / 6.0,
];
const EVEN: [f64; 9] = [
    1.0 / 6402373705728000.0,
    -1.0 / 20922789888000.0,
    1.0 / 87178291200.0,
    -1.0 / 479001600.0,
    1.0 / 3628800.0,
    -1.0 / 40320.0,
    1.0 / 720.0,
    -1.0 / 24.0,
    0.5,
];

impl Turn {
    /// A short turn.
    pub(crate) const SHORT: f64 = 1.0 / 16384.0;

    /// As many coefficients as it takes; none where products do without.
    fn series(self) -> Option<(&'static [f64], &'static [f64])> {
        match self {
            Self::Far => Some((&ODD[6..], &EVEN[6..])),
            Self::Short => Some((&ODD[7..], &EVEN[8..])),
            Self::Rough => None,
            Self::Wide => Some((&ODD, &EVEN)),
            Self::WideRough => Some((&ODD[5..], &EVEN[5..])),
        }
    }
}

/// The sine and cosine of an angle near another one whose sine and cosine are known, and how near. Unless it is rough, terms that are left out are below a hundredth of
/// a unit of rounding, or a tenth at a radian.
pub(crate) fn turn(
    graph: &mut Graph,
    angle: NodeId,
    [before, sine, cosine]: [NodeId; 3],
    turn: Turn,
) -> [NodeId; 3] {
    let by = graph.sub(angle, before);
    let Some((odd, even)) = turn.series() else {
        let [sine, cosine] = turn_roughly(graph, by, [sine, cosine]);
        return [sine, cosine, by];
    };
    let square = graph.mul(by, by);
    let series = |graph: &mut Graph, coefficients: &[f64]| {
        let mut sum = graph.number(coefficients[0]);
        for &coefficient in &coefficients[1..] {
            let (number, product) = (graph.number(coefficient), graph.mul(square, sum));
            sum = graph.add(number, product);
        }
        sum
    };
    let odd = series(graph, odd);
    let cube = graph.mul(by, square);
    let odd = graph.mul(cube, odd);
    let sine_of_turn = graph.add(by, odd);
    let even = series(graph, even);
    let rest_of_turn = graph.mul(square, even);
    let [sine_less, cosine_less] = [sine, cosine].map(|x| graph.mul(x, rest_of_turn));
    let [sine_turned, cosine_turned] = [sine, cosine].map(|x| graph.mul(x, sine_of_turn));
    let sine_change = graph.sub(cosine_turned, sine_less);
    let cosine_change = graph.add(sine_turned, cosine_less);
    [graph.add(sine, sine_change), graph.sub(cosine, cosine_change), by]
}

/// A sine and a cosine turned by an angle, up to its third power: both in a circle, each the slope of the other.
fn turn_roughly(graph: &mut Graph, by: NodeId, [sine, cosine]: [NodeId; 2]) -> [NodeId; 2] {
    let mut inner = [sine, cosine];
    for part in [1.0 / 3.0, 0.5, 1.0] {
        let part = graph.number(part);
        let share = graph.mul(part, by);
        let [of_sine, of_cosine] = inner.map(|x| graph.mul(x, share));
        inner = [graph.add(sine, of_cosine), graph.sub(cosine, of_sine)];
    }
    inner
}

/// Added to an angle and taken away again, this leaves a multiple of 2⁻³⁰; of angles beyond thousands of turns, something as near as they allow.
const GRID: f64 = 1.5 * (1u64 << 22) as f64;

/// A multiple of 2⁻³⁰ near an angle, its sine and cosine, and the sine and cosine of the angle that follow from them. The square of what
/// lies between is below a thousandth of a unit of rounding.
fn turn_from_grid(graph: &mut Graph, angle: NodeId) -> ([NodeId; 3], [NodeId; 2]) {
    let (up, down) = (graph.number(GRID), graph.number(-GRID));
    let raised = graph.add(angle, up);
    let near = graph.add(raised, down);
    let by = graph.sub(angle, near);
    let [sine, cosine] = [Unary::Sin, Unary::Cos].map(|op| graph.unary(op, near));
    let [sine_turned, cosine_turned] = [sine, cosine].map(|x| graph.mul(x, by));
    ([near, sine, cosine], [graph.add(sine, cosine_turned), graph.sub(cosine, sine_turned)])
}

/// v + L_vv⁻¹ (p − L_v), with momenta p in place of the coordinates that follow q.
fn better_velocities(
    graph: &mut Graph,
    l_v: &[NodeId],
    pattern: &Pattern,
    factor: impl Fn(&mut Graph, usize) -> NodeId,
) -> Vec<NodeId> {
    let n = l_v.len();
    let momenta: Vec<NodeId> = (n..2 * n).map(|i| graph.coordinate(i)).collect();
    let corrections = solve(graph, pattern, &momenta, l_v, factor);
    let mut velocities: Vec<NodeId> = (0..n).map(|i| graph.velocity(i)).collect();
    for (&i, correction) in pattern.order().iter().zip(corrections) {
        velocities[i] = graph.add(velocities[i], correction);
    }
    velocities
}

/// L_vv⁻¹ (momenta − present), in the order of the elimination.
pub(super) fn solve(
    graph: &mut Graph,
    pattern: &Pattern,
    momenta: &[NodeId],
    present: &[NodeId],
    factor: impl Fn(&mut Graph, usize) -> NodeId,
) -> Vec<NodeId> {
    let missing: Vec<NodeId> =
        momenta.iter().zip(present).map(|(&p, &present)| graph.sub(p, present)).collect();
    solve_for(graph, pattern, &missing, factor)
}

/// L_vv⁻¹ times what is missing of momenta, in the order of the elimination.
fn solve_for(
    graph: &mut Graph,
    pattern: &Pattern,
    missing: &[NodeId],
    factor: impl Fn(&mut Graph, usize) -> NodeId,
) -> Vec<NodeId> {
    let mut solution: Vec<NodeId> = pattern.order().iter().map(|&i| missing[i]).collect();
    let shared = RefCell::new(graph);
    let reduce = |x: NodeId, k: usize, y: NodeId| {
        let graph = &mut **shared.borrow_mut();
        let factor = factor(graph, k);
        let product = graph.mul(factor, y);
        graph.sub(x, product)
    };
    let scale = |x: NodeId, k: usize| {
        let graph = &mut **shared.borrow_mut();
        let factor = factor(graph, k);
        graph.mul(x, factor)
    };
    pattern.solve(&mut solution, reduce, scale);
    solution
}

/// Formulas with other velocities.
pub(super) fn with_velocities(graph: &mut Graph, formulas: &[NodeId], velocities: &[NodeId]) -> Vec<NodeId> {
    graph.substitute_all(formulas, |_, node| match node {
        Node::Velocity(i) => Some(velocities[i as usize]),
        _ => None,
    })
}

/// A symmetric matrix on its way to LDLᵀ.
struct Elimination<'g> {
    graph: &'g mut Graph,
    /// The lower triangle, column by column.
    columns: Vec<BTreeMap<usize, NodeId>>,
    /// So many operations may follow.
    left: usize,
}

impl Elimination<'_> {
    /// The rows of L that are not zero, column by column, and the nodes: all 1/D, then the columns of L. `None` if that takes too much.
    fn factor(mut self) -> Option<(Vec<Vec<usize>>, Vec<NodeId>)> {
        let n = self.columns.len();
        let (one, zero) = (self.graph.number(1.0), self.graph.number(0.0));
        let (mut rows, mut inverses, mut entries) =
            (Vec::with_capacity(n), Vec::with_capacity(n), Vec::new());
        for k in 0..n {
            let column = std::mem::take(&mut self.columns[k]);
            // without exchanges of rows this leads nowhere
            let pivot = column.get(&k).copied().filter(|&pivot| !self.graph.is_zero(pivot))?;
            let inverse = self.graph.div(one, pivot);
            let below: Vec<(usize, NodeId)> = column.into_iter().filter(|(i, _)| *i > k).collect();
            self.left = self.left.checked_sub(below.len() * (below.len() + 3) + 1)?;
            let factors: Vec<NodeId> =
                below.iter().map(|&(_, entry)| self.quotient(entry, pivot, inverse)).collect();
            for (place, &(i, _)) in below.iter().enumerate() {
                for &(j, entry_j) in &below[..=place] {
                    let entry = self.columns[j].get(&i).copied().unwrap_or(zero);
                    let product = self.graph.mul(factors[place], entry_j);
                    let entry = self.graph.sub(entry, product);
                    self.columns[j].insert(i, entry);
                }
            }
            rows.push(below.iter().map(|(i, _)| *i).collect());
            inverses.push(inverse);
            entries.extend(factors);
        }
        inverses.extend(entries);
        Some((rows, inverses))
    }

    /// An entry over a pivot: what is left of a product with it, or the entry times the inverse.
    fn quotient(&mut self, entry: NodeId, pivot: NodeId, inverse: NodeId) -> NodeId {
        match self.graph.node(entry) {
            Node::Binary(Binary::Mul, a, b) if a == pivot => b,
            Node::Binary(Binary::Mul, a, b) if b == pivot => a,
            _ => self.graph.mul(entry, inverse),
        }
    }
}
