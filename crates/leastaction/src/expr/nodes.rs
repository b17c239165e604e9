//! A Lagrangian at all nodes of a step at once.
//!
//! [`Nodes`] holds velocities V, forces F = L_q and momenta at the nodes of a step, and the factors of the mass matrix there. A sweep
//! goes, with weights that belong to a method and a step size,
//!
//! ```text
//! T = p + Σ forces · F            the momenta that are wanted, but for what the projection Π drops
//! Y = V + L_vv⁻¹ (T − T before)
//! V' = Π Y      Q = q + Σ positions · Y
//! P = L_v(Q, V')      V = V' + L_vv⁻¹ (T − P)      F = L_q(Q, V)
//! ```
//!
//! The first sweep of a step instead continues the velocities of the step before, and evaluates the factors of L_vv, which are then kept
//! until a fresh sweep evaluates them anew. Sines and cosines are kept as well: refining sweeps turn them by the little that angles change.
//! Π takes velocities to the polynomials of the method; with Gauss points it is the identity. Else what it drops of T is taken from P.
//! As machine code four nodes go side by side; without, they go one after the other, in the same order of operations and so to the same bits.

use super::aligned::Aligned;
use super::native::{Arrays, Backend, Code};
use super::tape::{Evaluator, Tape};
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
    /// Replaces a right-hand side by the solution, in whatever kind of number: `reduce` is x − factor · y, `scale` is x · factor, with
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
    /// h Π â: what forces add to momenta.
    Forces,
    /// Π.
    Projection,
    /// h a Π: what velocities add to coordinates.
    Positions,
    /// Velocities of the step before continued into this one, and what they add to coordinates.
    Ahead,
    PositionsAhead,
}

impl Matrix {
    pub(super) const ALL: [Self; 5] =
        [Self::Forces, Self::Projection, Self::Positions, Self::Ahead, Self::PositionsAhead];
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
    /// Lanes of a block: a multiple of four.
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
            lanes: (nodes * abreast).next_multiple_of(4),
            pattern: tapes.pattern.clone(),
            kept: tapes.kept,
            group: group.to_vec(),
            groups: group.iter().max().map_or(0, |group| group + 1),
            forced: tapes.forced.clone(),
            following: tapes.following,
            projected: weights.projection.is_some(),
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
    /// Velocities that follow from the others, at the nodes.
    pub(super) fn following(&self, k: usize) -> usize {
        self.corrected(self.n + k)
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
    /// The times of the nodes.
    pub(super) fn time(&self) -> usize {
        self.weight(Matrix::PositionsAhead, self.nodes).next_multiple_of(8)
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

/// The weights of a method, for a step of size 1: rows are nodes that something is added to.
#[derive(Clone, Debug)]
pub struct Weights {
    /// Π â.
    pub forces: Vec<Vec<f64>>,
    /// Π, unless it is the identity.
    pub projection: Option<Vec<Vec<f64>>>,
    /// a Π.
    pub positions: Vec<Vec<f64>>,
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
const COUPLED: f64 = 1e-3;

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

/// The size of the largest of some numbers; what is none is left out.
fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |largest, x| if x.abs() > largest { x.abs() } else { largest })
}

/// Velocities, forces and momenta at the nodes of a step, and how to get better ones.
#[derive(Clone, Debug)]
pub struct Nodes {
    pub(super) layout: Layout,
    /// Places of the layout that are asked for in every sweep.
    first_velocity: usize,
    first_force: usize,
    first_change: usize,
    /// All numbers.
    pub(super) variables: Aligned,
    pub(super) kernels: Kernels,
    scratch: Vec<f64>,
    /// Inputs of a tape at one node, and room for one linear solve.
    q: Vec<f64>,
    v: Vec<f64>,
    room: Vec<f64>,
    /// What changes, as it was before a sweep one by one.
    old: Vec<f64>,
    /// The largest size of each group.
    largest: Vec<f64>,
}

/// The kernels of the three kinds of sweeps.
#[derive(Clone, Debug)]
pub(super) struct Kernels {
    first: Kernel,
    fresh: Option<Kernel>,
    refine: Kernel,
}

impl Kernels {
    pub(super) fn of(&mut self, sweep: Sweep) -> &mut Kernel {
        match (sweep, &mut self.fresh) {
            (Sweep::First, _) => &mut self.first,
            (Sweep::Fresh, Some(fresh)) => fresh,
            _ => &mut self.refine,
        }
    }
    fn scratch(&self) -> usize {
        let kernels = [&self.first, &self.refine].into_iter().chain(&self.fresh);
        kernels.filter_map(|kernel| kernel.code.as_ref()).map(|code| code.scratch()).max().unwrap_or(0)
    }
}

/// A tape and its code.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    code: Option<Arc<Code>>,
    /// One node alone.
    single: Evaluator<f64>,
    out: Vec<f64>,
}

impl Kernel {
    fn new(tape: &Arc<Tape>, layout: &Layout, parameters: &[f64], backend: Option<Backend>) -> Self {
        let wanted = Evaluator::<f64>::wants_code(tape, backend);
        let code = if wanted { tape.sweep_code(layout) } else { None };
        // where there is code for sweeps, single nodes are rare
        let one = if code.is_some() { Some(Backend::Interpreter) } else { backend };
        let single = Evaluator::compiled(tape.clone(), parameters, one);
        Self { code, out: vec![0.0; single.outputs()], single }
    }
}

impl Nodes {
    /// Nodes for the tapes of a system, whose coordinates fall into groups.
    pub fn new(
        tapes: &Tapes,
        group: &[usize],
        weights: &Weights,
        h: f64,
        parameters: &[f64],
        backend: Option<Backend>,
    ) -> Self {
        let n = group.len();
        let layout = Layout::new(tapes, group, weights, 1);
        let kernel =
            |tape: &Arc<Tape>, sweep: Sweep| Kernel::new(tape, &layout.of(sweep), parameters, backend);
        let kernels = Kernels {
            first: kernel(&tapes.first, Sweep::First),
            fresh: tapes.fresh.as_ref().map(|tape| kernel(tape, Sweep::Fresh)),
            refine: kernel(&tapes.refine, Sweep::Refine),
        };
        let inputs = 2 * n + tapes.kept;
        let mut made = Self {
            variables: Aligned::zeros(layout.all(tapes)),
            scratch: vec![0.0; kernels.scratch()],
            kernels,
            q: vec![0.0; inputs],
            v: vec![0.0; inputs],
            room: vec![0.0; n],
            old: vec![0.0; layout.variables()],
            largest: vec![0.0; layout.groups],
            first_velocity: layout.velocity(0),
            first_force: layout.force(0),
            first_change: layout.change(0),
            layout,
        };
        made.weigh(weights, h);
        made.spread();
        made
    }

    /// Changes the weights, or the step size.
    pub fn weigh(&mut self, weights: &Weights, h: f64) {
        for (matrix, factor, rows) in [
            (Matrix::Forces, h, weights.forces.as_slice()),
            (Matrix::Projection, 1.0, weights.projection.as_deref().unwrap_or_default()),
            (Matrix::Positions, h, &weights.positions),
            (Matrix::Ahead, 1.0, &weights.ahead),
            (Matrix::PositionsAhead, h, &weights.positions_ahead),
        ] {
            // lanes that are left over do what the last node does
            for (i, row) in (0..self.layout.lanes).zip(rows.iter().chain(rows.last().into_iter().cycle())) {
                for (j, &weight) in row.iter().enumerate() {
                    self.variables[self.layout.weight(matrix, j) + i] = factor * weight;
                }
            }
        }
    }

    /// Replaces the parameters.
    pub fn assign(&mut self, parameters: &[f64]) {
        for sweep in Sweep::ALL {
            self.kernels.of(sweep).single.assign(parameters);
        }
        self.spread();
    }

    /// Copies parameters, and what follows from them, into every lane.
    fn spread(&mut self) {
        for sweep in Sweep::ALL {
            for (i, &x) in self.kernels.of(sweep).single.registers().iter().enumerate() {
                let place = self.layout.register(sweep, i);
                self.variables[place..place + self.layout.lanes].fill(x);
            }
        }
    }
    /// The registers of a kind of sweep, in one lane.
    pub(super) fn registers(&mut self, sweep: Sweep) -> &[f64] {
        self.kernels.of(sweep).single.registers()
    }

    /// Where the step starts: q and p, and what rounding took from them, of some coordinates.
    pub fn start(&mut self, parts: [&[f64]; 4], which: &[usize]) {
        let places = self.variables.chunks_exact_mut(self.layout.n);
        for (place, list) in places.zip(parts) {
            place.iter_mut().zip(which).for_each(|(place, &i)| *place = list[i]);
        }
    }
    /// q where the step starts.
    pub fn start_coordinates(&self) -> &[f64] {
        &self.variables[..self.layout.n]
    }
    /// The times of the nodes.
    pub fn set_times(&mut self, time: impl Fn(usize) -> f64) {
        let place = self.layout.time();
        for i in 0..self.layout.lanes {
            self.variables[place + i] = time(i.min(self.layout.nodes - 1));
        }
    }

    /// Replaces the velocities of the step before by V_i the same at all nodes.
    pub fn set_velocity(&mut self, i: usize, v: f64) {
        self.variables[self.layout.velocity(i)..][..self.layout.lanes].fill(v);
    }
    /// V_i at the nodes, for all coordinates, and between them what fills registers.
    pub fn velocities(&self) -> &[f64] {
        &self.variables[self.first_velocity..self.first_force]
    }
    /// V_i at the nodes.
    pub fn velocity(&self, i: usize) -> &[f64] {
        &self.variables[self.first_velocity + i * self.layout.lanes..][..self.layout.nodes]
    }
    /// F_i at the nodes.
    pub fn force(&self, i: usize) -> &[f64] {
        &self.variables[self.first_force + i * self.layout.lanes..][..self.layout.nodes]
    }
    /// All velocities that follow from the others.
    pub fn all_following(&self) -> &[f64] {
        let (first, layout) = (self.layout.following(0), &self.layout);
        &self.variables[first..first + layout.following * layout.lanes]
    }
    /// Velocities that follow from the others, at the nodes.
    pub fn following(&self, k: usize) -> &[f64] {
        &self.variables[self.layout.following(k)..][..self.layout.nodes]
    }
    /// Measures V and F after a sweep, which went as [`sweep`](Self::sweep) was told: from now on changes are relative to this.
    pub fn measure(&mut self, sweep: Sweep, one_by_one: bool) {
        let (first, count) = (self.layout.size(0), 2 * self.layout.n);
        // the code of first sweeps does this
        if sweep != Sweep::First || one_by_one || self.kernels.first.code.is_none() {
            for i in 0..count {
                let numbers =
                    &self.variables[self.first_velocity + i * self.layout.lanes..][..self.layout.nodes];
                self.variables[first + i] = largest(numbers);
            }
        }
        measure::<1>(&self.layout, &mut self.variables, &mut self.largest);
    }
    /// The sizes of all V and then of all F, as they were measured.
    pub fn sizes(&self) -> &[f64] {
        &self.variables[self.layout.size(0)..][..2 * self.layout.n]
    }
    /// Replaces all V by what they were.
    pub fn restore_velocities(&mut self, velocities: &[f64]) {
        self.variables[self.first_velocity..self.first_force].copy_from_slice(velocities);
    }
    /// How much V and F of each group changed in the last sweep, relative to their sizes, at the node where they changed most. Where a V or F is no
    /// number this may overlook it once.
    pub fn changes(&self) -> &[f64] {
        &self.variables[self.first_change..self.first_change + self.layout.groups]
    }
    /// How far an angle is from where its sine was evaluated, at most, as of the last refining sweep.
    pub fn turn(&self) -> f64 {
        self.variables[self.first_change + self.layout.groups]
    }
    /// A sweep. `false` if the code gave up on the way: then nothing here means anything, and the step has to be done again from its start,
    /// one node after the other.
    pub fn sweep(&mut self, sweep: Sweep, one_by_one: bool) -> bool {
        // where nothing can be fresh, refining is as good
        let sweep = match (sweep, &self.kernels.fresh) {
            (Sweep::Fresh, None) => Sweep::Refine,
            _ => sweep,
        };
        let kernel = self.kernels.of(sweep);
        let Some(code) = kernel.code.as_ref().filter(|_| !one_by_one) else {
            self.sweep_one_by_one(sweep);
            return true;
        };
        code.run(Arrays {
            registers: &mut [],
            q: &[],
            v: &[],
            t: &[],
            outputs: &mut self.variables,
            changes: &mut [],
            scratch: &mut self.scratch,
        })
    }

    fn sweep_one_by_one(&mut self, sweep: Sweep) {
        self.old.copy_from_slice(&self.variables[..self.layout.variables()]);
        self.variables[self.layout.change(0)..self.layout.variables()].fill(0.0);
        if sweep != Sweep::First {
            self.find_targets();
        }
        for node in 0..self.layout.nodes {
            self.evaluate(node, sweep);
            if sweep == Sweep::First {
                for i in 0..self.layout.n {
                    self.variables[self.layout.velocity(i) + node] = self.v[i];
                }
            }
            for k in 0..self.kernels.of(sweep).out.len() {
                self.put(sweep, k, node);
            }
        }
    }

    /// Stores an output, and looks how much it changed.
    fn put(&mut self, sweep: Sweep, k: usize, node: usize) {
        let (layout, value) = (&self.layout, self.kernels.of(sweep).out[k]);
        let (place, changed) = match layout.output(sweep, k) {
            Output::Force(i) => (layout.force(i), Some(layout.n + i)),
            Output::Velocity(i) => (layout.velocity(i), Some(i)),
            Output::Momentum(i) => {
                if sweep == Sweep::First {
                    self.variables[layout.target(i) + node] = value;
                }
                (layout.momentum(i), None)
            }
            Output::Following(k) => (layout.following(k), None),
            Output::Kept(k) => (layout.kept(k), None),
            Output::Turn => {
                let turn = &mut self.variables[layout.turn()];
                *turn = turn.max(value.abs());
                return;
            }
        };
        self.variables[place + node] = value;
        if let Some(i) = changed
            && sweep != Sweep::First
        {
            let difference = (value - self.old[place + node]).abs() * self.old[layout.inverse_size(i)];
            let change = &mut self.variables[layout.change(layout.group[i % layout.n])];
            *change = change.max(difference);
        }
    }

    /// Runs the tape at a node.
    fn evaluate(&mut self, node: usize, sweep: Sweep) {
        let (layout, n, nodes) = (&self.layout, self.layout.n, self.layout.nodes);
        let first = sweep == Sweep::First;
        let (velocities, positions) = match first {
            true => (Matrix::Ahead, Matrix::PositionsAhead),
            false => (Matrix::Projection, Matrix::Positions),
        };
        for i in 0..n {
            let from =
                if first { &self.old[layout.velocity(i)..] } else { &self.variables[layout.corrected(i)..] };
            let from = &from[..nodes];
            self.v[i] = if first || layout.projected {
                self.weighted(None, velocities, node, from)
            } else {
                from[node]
            };
            let (start, lost) = layout.start(i);
            self.q[i] = self.old[start] + self.weighted(Some(self.old[lost]), positions, node, from);
        }
        for i in 0..n {
            self.q[n + i] = self.variables[layout.target(i) + node];
        }
        for k in 0..layout.kept {
            self.q[2 * n + k] = self.old[layout.kept(k) + node];
        }
        // what there is of velocities of momenta and of what is kept is not read
        let inputs = match sweep {
            Sweep::First => n,
            Sweep::Fresh => 2 * n,
            Sweep::Refine => self.q.len(),
        };
        let (kernel, time) = (self.kernels.of(sweep), &self.variables[self.layout.time() + node]);
        kernel.single.evaluate(&self.q[..inputs], &self.v[..inputs], time, &mut kernel.out);
    }

    /// Σ_j weight_ij · x_j, added to something.
    fn weighted(&self, start: Option<f64>, matrix: Matrix, node: usize, numbers: &[f64]) -> f64 {
        let weight = |j: usize| self.variables[self.layout.weight(matrix, j) + node];
        let mut product = |sum: Option<f64>, j: usize| match sum {
            Some(sum) => numbers[j].mul_add(weight(j), sum),
            None => numbers[j] * weight(j),
        };
        sum_of_products(start, 0, numbers.len(), &mut product, &mut |a, b| a + b)
    }

    /// T = p + Σ forces · F + (P − Π P) and Y = V + L_vv⁻¹ (T − T before) at all nodes.
    fn find_targets(&mut self) {
        let (n, nodes) = (self.layout.n, self.layout.nodes);
        for node in 0..nodes {
            for i in 0..n {
                let layout = &self.layout;
                let (start, lost) = layout.start_momentum(i);
                let forces = &self.old[layout.force(i)..][..nodes];
                let mut target =
                    self.old[start] + self.weighted(Some(self.old[lost]), Matrix::Forces, node, forces);
                if layout.projected {
                    let present = &self.old[layout.momentum(i)..][..nodes];
                    target += present[node] - self.weighted(None, Matrix::Projection, node, present);
                }
                let place = layout.target(i) + node;
                self.variables[place] = target;
            }
            let (layout, old) = (&self.layout, &self.old);
            let factor = |k: usize| old[layout.kept(k) + node];
            for (x, &i) in self.room.iter_mut().zip(layout.pattern.order()) {
                *x = self.variables[layout.target(i) + node] - old[layout.target(i) + node];
            }
            layout.pattern.solve(&mut self.room, |x, k, y| x - factor(k) * y, |x, k| x * factor(k));
            for (x, &i) in self.room.iter().zip(layout.pattern.order()) {
                self.variables[layout.corrected(i) + node] = old[layout.velocity(i) + node] + x;
            }
        }
    }
}
