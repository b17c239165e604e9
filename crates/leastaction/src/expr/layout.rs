//! What sweeps are made of: where their numbers lie, the weights of a method, the tapes of a system.
//!
//! [`super::Nodes`] and [`super::Abreast`] run them, and `native` makes code of them.

use super::tape::Tape;
use std::sync::Arc;

/// Where the factors LDLᵀ of a sparse symmetric matrix are not zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// The coordinate at each place of the elimination.
    order: Vec<usize>,
    /// The places below the diagonal in each column of L.
    rows: Vec<Vec<usize>>,
    /// How many factors there are.
    factors: usize,
}

impl Pattern {
    /// A pattern, from the places of the coordinates in the elimination. The factors are all 1/D, then the columns of L.
    pub fn new(position: &[usize], rows: Vec<Vec<usize>>) -> Self {
        let mut order = vec![0; position.len()];
        for (i, &place) in position.iter().enumerate() {
            order[place] = i;
        }
        let factors = order.len() + rows.iter().map(Vec::len).sum::<usize>();
        Self { order, rows, factors }
    }
    /// How many factors there are.
    #[allow(clippy::len_without_is_empty)] // there is one for each coordinate at least
    pub fn len(&self) -> usize {
        self.factors
    }
    /// The coordinates in the order of the elimination, which is that of right-hand sides and solutions.
    pub fn order(&self) -> &[usize] {
        &self.order
    }
    /// Replaces a right-hand side by the solution, in whatever kind of number: `reduce` is x − factor · y in one rounding, `scale` is x · factor, with
    /// factors by their places.
    pub fn solve<X: Clone>(
        &self,
        x: &mut [X],
        mut reduce: impl FnMut(X, usize, X) -> X,
        mut scale: impl FnMut(X, usize) -> X,
    ) {
        let n = self.order.len();
        let mut factor = n;
        for k in 0..n {
            for &i in &self.rows[k] {
                x[i] = reduce(x[i].clone(), factor, x[k].clone());
                factor += 1;
            }
        }
        for k in (0..n).rev() {
            x[k] = scale(x[k].clone(), k);
            factor -= self.rows[k].len();
            for (place, &i) in self.rows[k].iter().enumerate() {
                x[k] = reduce(x[k].clone(), factor + place, x[i].clone());
            }
        }
    }
}

/// The matrices of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matrix {
    /// What shares of forces add to momenta.
    Forces,
    /// What shares of velocities add to coordinates.
    Positions,
    /// Velocities of the step before continued into this one, and what they add to coordinates.
    Ahead,
    PositionsAhead,
}

impl Matrix {
    pub(super) const ALL: [Self; 4] = [Self::Forces, Self::Positions, Self::Ahead, Self::PositionsAhead];
}

/// Numbers of a method at its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// h b: what a node's velocities and forces count.
    Share,
    /// u and w: the projection takes u Σ w x from x.
    Dropped,
    Dropping,
}

impl Column {
    pub(super) const ALL: [Self; 3] = [Self::Share, Self::Dropped, Self::Dropping];
}

/// What a sweep does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// The first of a step: continues the velocities of the step before, and evaluates L and the factors of L_vv there.
    First,
    /// Evaluates everything anew.
    Fresh,
    /// Evaluates L with what is kept of the last first or fresh sweep.
    Refine,
}

impl Sweep {
    pub(super) const ALL: [Self; 3] = [Self::First, Self::Fresh, Self::Refine];
}

/// Where numbers lie in the arrays of a sweep.
///
/// What belongs to the nodes of a step takes a block of lanes. One trajectory has a lane for each node. Several abreast have lanes side by side
/// for each node, and whatever there is once for a trajectory is there as often.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    /// Coordinates.
    pub(super) n: usize,
    pub(super) nodes: usize,
    /// Trajectories abreast: one or four.
    pub(super) abreast: usize,
    /// Lanes of a block: a multiple of four, and of eight where more than four nodes of one trajectory go side by side.
    pub(super) lanes: usize,
    pub(super) pattern: Pattern,
    /// How many numbers a first or fresh sweep keeps for others: factors first.
    pub(super) kept: usize,
    /// The group of coupled coordinates that each coordinate belongs to, and how many groups there are.
    pub(super) group: Vec<usize>,
    pub(super) groups: usize,
    /// Whether there is a force on each coordinate.
    pub(super) forced: Vec<bool>,
    /// How many velocities follow from the others.
    pub(super) following: usize,
    /// Whether Π is not the identity.
    pub(super) projected: bool,
    pub(super) sweep: Sweep,
    /// Whether some of the trajectories abreast may rest.
    pub(super) resting_allowed: bool,
    /// Where the weights are, and the registers of the tapes of all kinds of sweeps.
    weights: usize,
    registers: [usize; 3],
}

impl Layout {
    pub(super) fn new(tapes: &Tapes, group: &[usize], weights: &Weights, abreast: usize) -> Self {
        let nodes = weights.positions.len();
        let mut made = Self {
            n: group.len(),
            nodes,
            abreast,
            lanes: (nodes * abreast).next_multiple_of(if abreast == 1 && nodes > 4 { 8 } else { 4 }),
            pattern: tapes.pattern.clone(),
            kept: tapes.kept,
            group: group.to_vec(),
            groups: group.iter().max().map_or(0, |group| group + 1),
            forced: tapes.forced.clone(),
            following: tapes.following,
            projected: weights.dropped.is_some(),
            sweep: Sweep::Refine,
            resting_allowed: false,
            weights: 0,
            registers: [0; 3],
        };
        let aligned = |place: usize| place.next_multiple_of(8);
        made.weights = aligned(made.variables());
        let mut place = aligned(made.time() + made.lanes);
        for sweep in Sweep::ALL {
            made.registers[sweep as usize] = place;
            place = aligned(made.register(sweep, tapes.of(sweep).registers));
        }
        made
    }

    /// The same for a kind of sweep.
    pub(super) fn of(&self, sweep: Sweep) -> Self {
        Self { sweep, ..self.clone() }
    }

    /// The same where some of the trajectories abreast may rest.
    pub(super) fn with_rest(&self) -> Self {
        Self { resting_allowed: true, ..self.clone() }
    }

    /// Whether nodes fill registers of eight lanes.
    #[cfg(all(feature = "native", target_arch = "x86_64"))]
    pub(super) fn takes_eight(&self) -> bool {
        self.abreast == 1 && self.lanes.is_multiple_of(8)
    }

    /// q_i at the start of the step, and what rounding took from it.
    pub(super) fn start(&self, i: usize) -> (usize, usize) {
        (self.abreast * i, self.abreast * (2 * self.n + i))
    }
    /// p_i at the start of the step, and what rounding took from it.
    pub(super) fn start_momentum(&self, i: usize) -> (usize, usize) {
        (self.abreast * (self.n + i), self.abreast * (3 * self.n + i))
    }
    /// One over the size of V_i, or of F_{i−n}.
    pub(super) fn inverse_size(&self, i: usize) -> usize {
        self.abreast * (4 * self.n + i)
    }
    fn block(&self, k: usize) -> usize {
        (6 * self.n * self.abreast).next_multiple_of(8) + self.lanes * k
    }
    /// V_i at the nodes.
    pub(super) fn velocity(&self, i: usize) -> usize {
        self.block(i)
    }
    pub(super) fn force(&self, i: usize) -> usize {
        self.block(self.n + i)
    }
    pub(super) fn momentum(&self, i: usize) -> usize {
        self.block(2 * self.n + i)
    }
    pub(super) fn kept(&self, k: usize) -> usize {
        self.block(3 * self.n + k)
    }
    /// T_i at the nodes.
    pub(super) fn target(&self, i: usize) -> usize {
        self.kept(self.kept + i)
    }
    /// Y_i at the nodes.
    pub(super) fn corrected(&self, i: usize) -> usize {
        self.target(self.n + i)
    }
    /// What Y_i at the nodes counts, or F_{i−n}: its product with the share of the node.
    pub(super) fn counted(&self, i: usize) -> usize {
        self.corrected(self.n + i)
    }
    /// Velocities that follow from the others, at the nodes.
    pub(super) fn following(&self, k: usize) -> usize {
        self.counted(2 * self.n + k)
    }
    /// The largest of V_i, or of F_{i−n}, at the nodes.
    pub(super) fn size(&self, i: usize) -> usize {
        self.following(self.following) + self.abreast * i
    }
    /// How much the velocities and forces of a group changed at most, relative to their sizes; behind the groups, how far an angle is from
    /// where its sine was evaluated, at most.
    pub(super) fn change(&self, group: usize) -> usize {
        self.size(2 * self.n) + self.abreast * group
    }
    pub(super) fn turn(&self) -> usize {
        self.change(self.groups)
    }
    /// Which of the trajectories abreast are left as they are: those with a negative number.
    pub(super) fn resting(&self) -> usize {
        self.change(self.groups + 1)
    }
    /// What the k-th output of a sweep's tape is.
    pub(super) fn output(&self, sweep: Sweep, k: usize) -> Output {
        let n = self.n;
        let (velocities, following) = if sweep == Sweep::First { (2 * n, 2 * n) } else { (2 * n, 3 * n) };
        let rest = following + self.following;
        match (sweep, k) {
            (_, k) if k < n => Output::Force(k),
            (_, k) if k < velocities => Output::Momentum(k - n),
            (_, k) if k < following => Output::Velocity(k - velocities),
            (_, k) if k < rest => Output::Following(k - following),
            (Sweep::Refine, _) => Output::Turn,
            (_, k) => Output::Kept(k - rest),
        }
    }
    /// How many numbers there are.
    pub(super) fn variables(&self) -> usize {
        self.resting() + if self.abreast > 1 { self.abreast } else { 0 }
    }
    /// What node j adds to all nodes, a number for each lane.
    pub(super) fn weight(&self, matrix: Matrix, node: usize) -> usize {
        self.weights + self.lanes * (self.nodes * matrix as usize + node)
    }
    /// Numbers of a method at its nodes.
    pub(super) fn column(&self, column: Column) -> usize {
        self.weight(Matrix::PositionsAhead, self.nodes) + self.lanes * column as usize
    }
    /// The times of the nodes.
    pub(super) fn time(&self) -> usize {
        (self.column(Column::Dropping) + self.lanes).next_multiple_of(8)
    }
    /// A register of the tape of a kind of sweep: those of one trajectory are in every lane.
    pub(super) fn register(&self, sweep: Sweep, register: usize) -> usize {
        let each = if self.abreast > 1 { self.abreast } else { self.lanes };
        self.registers[sweep as usize] + each * register
    }
    /// How many numbers there are in all.
    pub(super) fn all(&self, tapes: &Tapes) -> usize {
        self.register(Sweep::Refine, tapes.refine.registers)
    }
}

/// What a sweep's tape computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Output {
    Force(usize),
    Momentum(usize),
    Velocity(usize),
    Following(usize),
    Kept(usize),
    /// How far an angle is from where its sine was evaluated.
    Turn,
}

/// Σ_j of products: two by two, and the sums again two by two, so that a processor waits little. `product` is the j-th one, added to something
/// in one rounding.
pub(super) fn sum_of_products<X>(
    start: Option<X>,
    from: usize,
    to: usize,
    product: &mut impl FnMut(Option<X>, usize) -> X,
    add: &mut impl FnMut(X, X) -> X,
) -> X {
    if to - from <= 2 {
        let first = product(start, from);
        return if to - from == 2 { product(Some(first), from + 1) } else { first };
    }
    let middle = from + (to - from).next_power_of_two() / 2;
    let lower = sum_of_products(start, from, middle, product, add);
    let upper = sum_of_products(None, middle, to, product, add);
    add(lower, upper)
}

/// Momenta are evaluated at velocities rounded to multiples of so many units of rounding. Corrections of less than a unit would leave a velocity
/// where it came from, which is behind the motion more often than ahead of it, and energy would drift.
pub(super) const COARSE: f64 = 256.0;

/// The weights of a method, for a step of size 1: rows are nodes that something is added to.
#[derive(Clone, Debug)]
pub struct Weights {
    /// b: what a node's velocities and forces count. What follows multiplies products with these.
    pub shares: Vec<f64>,
    /// What forces add to momenta.
    pub forces: Vec<Vec<f64>>,
    /// What velocities add to coordinates: 1 minus the transpose of the forces', exactly.
    pub positions: Vec<Vec<f64>>,
    /// u and w of the projection Πx = x − u Σ w x, unless it is the identity.
    pub dropped: Option<[Vec<f64>; 2]>,
    /// From the velocities of the step before to those of this one.
    pub ahead: Vec<Vec<f64>>,
    /// The same, and then to positions.
    pub positions_ahead: Vec<Vec<f64>>,
}

/// The tapes of sweeps.
#[derive(Clone, Debug)]
pub struct Tapes {
    /// L_q, L_v and what is kept, from (q, v).
    pub first: Arc<Tape>,
    /// L_q at w, L_v at v, w = v + L_vv⁻¹ (p − L_v), and what is kept, from q and momenta p in place of q, and v. `None` if refining is as
    /// good.
    pub fresh: Option<Arc<Tape>>,
    /// The same from q, p and what is kept in place of q; instead of what is kept, how far angles are from where they were.
    pub refine: Arc<Tape>,
    /// Which factors of L_vv there are.
    pub pattern: Pattern,
    /// How many numbers are kept: the factors of the pattern first.
    pub kept: usize,
    /// Whether there is a force on each coordinate.
    pub forced: Vec<bool>,
    /// How many velocities follow from the others: outputs before what is kept, or before how far angles are.
    pub following: usize,
}

impl Tapes {
    /// The tape of a kind of sweep.
    pub(super) fn of(&self, sweep: Sweep) -> &Arc<Tape> {
        match (sweep, &self.fresh) {
            (Sweep::First, _) => &self.first,
            (Sweep::Fresh, Some(fresh)) => fresh,
            _ => &self.refine,
        }
    }
    /// Angles may be so far from where their sines were evaluated.
    pub const TURN: f64 = 1.0 / 128.0;
}

/// A number near zero carries rounding errors of the others it is coupled to, so it is measured against this part of the largest.
pub const COUPLED: f64 = 1e-3;

/// Replaces the sizes of all V and F by those that their changes are measured by, and stores one over them. `L` is the number of trajectories.
#[inline]
pub(super) fn measure<const L: usize>(layout: &Layout, variables: &mut [f64], largest: &mut [f64]) {
    let (n, first, inverse) = (layout.n, layout.size(0), layout.inverse_size(0));
    for half in [0, n] {
        largest.fill(f64::MIN_POSITIVE);
        let sizes = &mut variables[first + half * L..][..n * L];
        for (sizes, &group) in sizes.chunks_exact(L).zip(&layout.group) {
            let largest = &mut largest[group * L..][..L];
            for lane in 0..L {
                largest[lane] = if sizes[lane] > largest[lane] { sizes[lane] } else { largest[lane] };
            }
        }
        for (sizes, &group) in sizes.chunks_exact_mut(L).zip(&layout.group) {
            let largest = &largest[group * L..][..L];
            for lane in 0..L {
                let least = COUPLED * largest[lane];
                sizes[lane] = if sizes[lane] > least { sizes[lane] } else { least };
            }
        }
        let (before, sizes) = variables.split_at_mut(first);
        let inverses = before[inverse + half * L..].chunks_exact_mut(L);
        for (inverses, sizes) in inverses.zip(sizes[half * L..][..n * L].chunks_exact(L)) {
            for lane in 0..L {
                inverses[lane] = 1.0 / sizes[lane];
            }
        }
    }
}
