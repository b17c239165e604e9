//! The Lagrangian's graph with all its derivatives, and what can be read off it.
//!
//! From the recorded L: the nodes of L_q, L_v, L_qq, L_qv, L_vv, the energy and the acceleration equations; then
//! [`Structure`]: cyclic coordinates, time independence, kind of mass matrix, coupling. Second derivatives are lists of
//! entries that are not structurally zero; a chain of n particles has O(n) of them. Where all pairs are coupled L_qq has
//! O(n²), and most methods do not need it: it is made when it is first asked for, on a copy of the graph.

use super::Symmetry;
use super::coupling::{are_linear, pairs};
use super::factors::{Equations, hamiltonian, tapes};
use super::flow;
use super::routh::Reduced;
use crate::expr::{Backend, Current, Depends, Differentiator, Evaluator, Graph, Node, NodeId, Tape, Tapes};
use crate::linear::Ordering;
use crate::scalar::Real;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One entry of a second-derivative matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Row.
    pub row: usize,
    /// Column.
    pub column: usize,
    /// The node of the entry.
    pub node: NodeId,
}

/// What the graph knows about the Lagrangian.
#[derive(Clone, Debug)]
pub struct Structure {
    /// Coordinates that do not occur in L; their momenta are conserved.
    pub cyclic: Vec<usize>,
    /// Time does not occur in L; the energy is conserved.
    pub autonomous: bool,
    /// L_vv does not depend on velocities: momenta are linear in velocities.
    pub quadratic: bool,
    /// L_vv is constant.
    pub constant_mass: bool,
    /// L_qq is constant.
    pub constant_stiffness: bool,
    /// L_qv is zero: L = T(v) − V(q).
    pub separable: bool,
    /// How many entries of the (symmetric) coupling pattern of q and v there are, both triangles counted.
    pub nonzeros: usize,
    /// The group of each coordinate: coordinates of different groups have nothing to do with each other.
    pub group: Vec<usize>,
    /// How many groups there are.
    pub groups: usize,
    /// Positions of the coordinates in the matrix of a step.
    pub ordering: Ordering,
    /// Positions of the coordinates in the mass matrix.
    pub mass_ordering: Ordering,
}

/// Lagrangians with more second derivatives than this are refused: all pairs of a thousand coordinates, or more of them where fewer kinds of pairs occur.
pub(super) const MAX_PAIRS: usize = 3_000_000;

/// L_qq is made at once where there are at most so many pairs for each coordinate: a chain or a lattice, or a small system.
const FEW_PAIRS: usize = 40;

/// L_qq, and the graph that holds its nodes beside those of the model.
#[derive(Debug)]
pub struct Stiffness {
    /// The model's graph, or a copy of it that has grown.
    pub graph: Arc<Graph>,
    /// The entries of the lower triangle.
    pub entries: Vec<Entry>,
}

/// The numbers of a method, and the tape of a step with it.
type StepTape = (Vec<f64>, Arc<Tape>);

/// The Lagrangian and its derivatives as one graph.
#[derive(Clone, Debug)]
pub struct Model {
    /// How many coordinates there are.
    pub n: usize,
    /// The graph that holds everything below; [`stiffness`](Self::stiffness) may need a larger one.
    pub graph: Arc<Graph>,
    /// L.
    pub lagrangian: NodeId,
    /// L_q.
    pub l_q: Vec<NodeId>,
    /// L_v: the momenta.
    pub l_v: Vec<NodeId>,
    /// L_qv: row q, column v.
    pub l_qv: Vec<Entry>,
    /// L_vv, lower triangle.
    pub l_vv: Vec<Entry>,
    /// v·L_v − L.
    pub energy: NodeId,
    /// The energy without its additive constant, and that constant: a rest energy or the zero of a potential would only cost digits of it.
    pub bare_energy: NodeId,
    /// The additive constant of the energy.
    pub energy_constant: NodeId,
    /// L_q − L_vq v − L_vt: what the mass matrix times the acceleration equals.
    pub force: Vec<NodeId>,
    /// What can be read off the graph.
    pub structure: Structure,
    /// What runs the tapes in `f64`; as suits if nothing is said.
    pub backend: Option<Backend>,
    /// Made when it is first asked for, where there are many entries.
    stiffness: OnceLock<Arc<Stiffness>>,
    tapes: [OnceLock<Arc<Tape>>; 10],
    /// The tapes of sweeps, where the factors of L_vv can be written down.
    sweeps: OnceLock<Option<Tapes>>,
    /// The motion without cyclic coordinates.
    reduced: OnceLock<Option<Reduced>>,
    /// The tape of the energy from momenta, where they can as well.
    hamiltonian: OnceLock<Option<Arc<Tape>>>,
    /// The tapes of whole steps, by the numbers of the method.
    steps: Arc<Mutex<Vec<StepTape>>>,
    /// Found when they are first asked for.
    pub(super) symmetries: OnceLock<Vec<Symmetry>>,
}

impl Model {
    /// Differentiates L; `None` if it couples too many pairs of coordinates for their second derivatives to be kept.
    pub fn new(mut graph: Graph, n: usize, lagrangian: NodeId) -> Option<Self> {
        let most = MAX_PAIRS.max(FEW_PAIRS * n);
        let mut differentiator = Differentiator::default();
        let zero = graph.number(0.0);
        let (l_q, l_v) = first_derivatives(&mut graph, &mut differentiator, n, lagrangian);
        let coupling = Coupling::of(&graph, &l_q, &l_v, most)?;
        let at_once = matches!(coupling, Coupling::Few);
        let Second { l_qq, l_qv, l_vv, force } =
            Second::new(&mut graph, &mut differentiator, [&l_q, &l_v], at_once, most)?;

        let mut energy = zero;
        for i in 0..n {
            let velocity = graph.velocity(i);
            let term = graph.mul(velocity, l_v[i]);
            energy = graph.add(energy, term);
        }
        let (changing, constant) = graph.split_constant(lagrangian);
        let bare_energy = graph.sub(energy, changing);
        let energy_constant = graph.neg(constant);
        let energy = graph.sub(energy, lagrangian);

        let forces = match coupling {
            Coupling::Few => Pattern::of_entries(&graph, &l_qq),
            Coupling::Many(pairs) => Pattern { pairs, constant: are_linear(&graph, &l_q) },
        };
        let structure = Structure::new(&graph, n, lagrangian, forces, (&l_qv, &l_vv));
        let graph = Arc::new(graph);
        let stiffness = OnceLock::new();
        if at_once {
            stiffness.get_or_init(|| Arc::new(Stiffness { graph: graph.clone(), entries: l_qq }));
        }
        Some(Self {
            n,
            graph,
            lagrangian,
            l_q,
            l_v,
            l_qv,
            l_vv,
            energy,
            bare_energy,
            energy_constant,
            force,
            structure,
            backend: None,
            stiffness,
            tapes: Default::default(),
            sweeps: OnceLock::new(),
            reduced: OnceLock::new(),
            hamiltonian: OnceLock::new(),
            steps: Arc::default(),
            symmetries: OnceLock::new(),
        })
    }

    /// L_qq. Where all pairs of many coordinates are coupled it takes time and memory, so ask only to solve with it.
    pub fn stiffness(&self) -> &Stiffness {
        self.stiffness.get_or_init(|| {
            let mut graph = (*self.graph).clone();
            let mut differentiator = Differentiator::default();
            let rows = 0..self.n;
            let entries =
                rows.flat_map(|row| stiffness_row(&mut graph, &mut differentiator, &self.l_q, row)).collect();
            Arc::new(Stiffness { graph: Arc::new(graph), entries })
        })
    }
    /// L_qq, lower triangle. The nodes are those of the graph of [`stiffness`](Self::stiffness).
    pub fn l_qq(&self) -> &[Entry] {
        &self.stiffness().entries
    }
    /// Whether L_qq has been made.
    pub fn has_stiffness(&self) -> bool {
        self.stiffness.get().is_some()
    }

    fn tape(&self, slot: usize, outputs: impl FnOnce() -> Vec<NodeId>) -> Arc<Tape> {
        self.tapes[slot].get_or_init(|| Arc::new(Tape::new(&self.graph, self.n, &outputs()))).clone()
    }

    /// The tape of a step with a method, made once for all who ask.
    pub fn step_tape(&self, method: &[f64], make: impl FnOnce() -> Tape) -> Arc<Tape> {
        let mut known = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, tape)) = known.iter().find(|(numbers, _)| numbers == method) {
            return tape.clone();
        }
        let tape = Arc::new(make());
        known.push((method.to_vec(), tape.clone()));
        tape
    }

    /// A tape of this model with parameters, for many evaluations.
    pub fn evaluator<R: Real>(&self, tape: Arc<Tape>, parameters: &[R]) -> Evaluator<R> {
        Evaluator::compiled(tape, parameters, self.backend)
    }
    /// The same model with its tapes run by another back end. The tapes are shared.
    pub fn with_backend(&self, backend: Option<Backend>) -> Self {
        Self { backend, ..self.clone() }
    }
    /// What runs the longest of the tapes that steps have asked for, in `f64`.
    pub fn backend_used(&self) -> Backend {
        // momenta, masses and energies may have been evaluated for a start only
        let of_steps = [0, 1, 5, 6].map(|slot| self.tapes[slot].get());
        let longest = of_steps.into_iter().flatten().max_by_key(|tape| tape.len());
        match longest {
            Some(tape) if tape.is_compiled() && self.backend != Some(Backend::Interpreter) => Backend::Native,
            _ => Backend::Interpreter,
        }
    }

    /// Whether the equations of motion are linear, with coefficients that do not change, and maybe gyroscopic terms.
    pub fn is_linear(&self) -> bool {
        let Structure { constant_mass, constant_stiffness, .. } = self.structure;
        constant_mass && constant_stiffness && self.l_qv.iter().all(|entry| self.graph.is_fixed(entry.node))
    }

    /// L_q, L_v.
    pub fn gradient_tape(&self) -> Arc<Tape> {
        self.tape(0, || [self.l_q.as_slice(), &self.l_v].concat())
    }
    /// L_q, L_v, then the entries of L_qq, L_qv, L_vv.
    pub fn hessian_tape(&self) -> Arc<Tape> {
        let make = || {
            let Stiffness { graph, entries } = self.stiffness();
            let entries = entries.iter().chain(&self.l_qv).chain(&self.l_vv).map(|e| e.node);
            let outputs: Vec<NodeId> = self.l_q.iter().chain(&self.l_v).copied().chain(entries).collect();
            Arc::new(Tape::new(graph, self.n, &outputs))
        };
        self.tapes[1].get_or_init(make).clone()
    }
    /// L_q.
    pub fn force_tape(&self) -> Arc<Tape> {
        self.tape(6, || self.l_q.clone())
    }
    /// L_v.
    pub fn momentum_tape(&self) -> Arc<Tape> {
        self.tape(2, || self.l_v.clone())
    }
    /// L_v, then the entries of L_vv.
    pub fn mass_tape(&self) -> Arc<Tape> {
        self.tape(3, || self.l_v.iter().copied().chain(self.l_vv.iter().map(|e| e.node)).collect())
    }
    /// The energy, L itself.
    pub fn energy_tape(&self) -> Arc<Tape> {
        self.tape(4, || vec![self.energy, self.lagrangian])
    }
    /// The energy without its additive constant, and that constant.
    pub fn bare_energy_tape(&self) -> Arc<Tape> {
        self.tape(7, || vec![self.bare_energy, self.energy_constant])
    }
    /// The sizes of all terms of the energy added up, which is what its rounding is a part of: the terms may cancel; and of those that it has at
    /// rest and that are not the same in all states.
    pub fn energy_sizes_tape(&self) -> Arc<Tape> {
        let derive = || {
            let mut graph = (*self.graph).clone();
            let at_rest =
                graph.substitute(self.bare_energy, |node| matches!(node, Node::Velocity(_)).then_some(0.0));
            let sizes = [graph.size_of_terms(self.bare_energy), graph.size_of_moving_terms(at_rest)];
            Arc::new(Tape::new(&graph, self.n, &sizes))
        };
        self.tapes[9].get_or_init(derive).clone()
    }
    /// The tapes of sweeps; `None` if L_vv couples too many velocities.
    pub fn sweeps(&self) -> Option<&Tapes> {
        self.sweeps.get_or_init(|| tapes(&Equations::of(self))).as_ref()
    }
    /// The motion without cyclic coordinates, for a system with so many parameters; `None` if there are none of these, or little is won.
    pub fn reduced(&self, parameters: usize) -> Option<&Reduced> {
        self.reduced.get_or_init(|| Reduced::new(self, parameters)).as_ref()
    }
    /// The energy and the kinetic energy from (q, p); `None` if L is not quadratic in velocities, or L_vv couples too many of them.
    pub fn hamiltonian_tape(&self) -> Option<Arc<Tape>> {
        self.hamiltonian.get_or_init(|| hamiltonian(self).map(Arc::new)).clone()
    }
    /// The motion in momenta; `None` where there is no [`hamiltonian_tape`](Self::hamiltonian_tape).
    pub fn current(&self) -> Option<Current> {
        flow::current(self)
    }
    /// L_t, zero if time does not occur in L. It is differentiated on a copy of the graph: further nodes here would change how others are ordered.
    pub fn time_derivative_tape(&self) -> Arc<Tape> {
        let differentiate = || {
            let mut graph = (*self.graph).clone();
            let zero = graph.number(0.0);
            let slopes = Differentiator::default().gradient(&mut graph, self.lagrangian, Depends::TIME);
            let l_t = slopes.first().map_or(zero, |(_, node)| *node);
            Arc::new(Tape::new(&graph, self.n, &[l_t]))
        };
        self.tapes[8].get_or_init(differentiate).clone()
    }
    /// The right-hand side of L_vv a = force, then the entries of L_vv.
    pub fn acceleration_tape(&self) -> Arc<Tape> {
        self.tape(5, || self.force.iter().copied().chain(self.l_vv.iter().map(|e| e.node)).collect())
    }
}

impl Structure {
    /// Why the equations of motion are not linear with constant coefficients and without gyroscopic terms, if they are not.
    pub fn nonlinearity(&self) -> Option<&'static str> {
        match self {
            Self { autonomous: false, .. } => Some("time occurs in its Lagrangian"),
            Self { constant_mass: false, .. } => Some("its mass matrix L_vv is not constant"),
            Self { separable: false, .. } => Some("its Lagrangian couples coordinates and velocities"),
            Self { constant_stiffness: false, .. } => {
                Some("its forces are not linear, or are so for special parameters only")
            }
            _ => None,
        }
    }

    fn new(
        graph: &Graph,
        n: usize,
        lagrangian: NodeId,
        forces: Pattern,
        (l_qv, l_vv): (&[Entry], &[Entry]),
    ) -> Self {
        let mut coupling = forces.pairs;
        coupling.extend(l_qv.iter().chain(l_vv).map(pair));
        coupling.sort_unstable();
        coupling.dedup();
        let diagonal = coupling.iter().filter(|(i, j)| i == j).count();
        let (group, groups) = connected(n, &coupling);
        let mut masses: Vec<(usize, usize)> = l_vv.iter().map(pair).collect();
        masses.sort_unstable();
        masses.dedup();
        let mass_depends = depends(graph, l_vv);
        // a coordinate may occur although its force is zero: sign(x) jumps
        let mut occurs = vec![false; n];
        for id in graph.below(lagrangian) {
            if let Node::Coordinate(i) = graph.node(id) {
                occurs[i as usize] = true;
            }
        }
        Self {
            cyclic: (0..n).filter(|&i| !occurs[i]).collect(),
            autonomous: !graph.depends(lagrangian).on(Depends::TIME),
            quadratic: !mass_depends.on(Depends::VELOCITIES),
            constant_mass: !mass_depends.on(Depends::STATE),
            constant_stiffness: forces.constant,
            separable: l_qv.is_empty(),
            nonzeros: 2 * coupling.len() - diagonal,
            group,
            groups,
            ordering: Ordering::new(n, &coupling),
            mass_ordering: Ordering::new(n, &masses),
        }
    }
}

/// Which entries L_qq has, and whether they are constant.
struct Pattern {
    pairs: Vec<(usize, usize)>,
    constant: bool,
}

impl Pattern {
    fn of_entries(graph: &Graph, l_qq: &[Entry]) -> Self {
        let constant = !depends(graph, l_qq).on(Depends::STATE);
        Self { pairs: l_qq.iter().map(pair).collect(), constant }
    }
}

/// Row and column of an entry of the lower triangle that it couples.
fn pair(entry: &Entry) -> (usize, usize) {
    (entry.row.max(entry.column), entry.row.min(entry.column))
}

/// What entries depend on.
fn depends(graph: &Graph, entries: &[Entry]) -> Depends {
    entries.iter().fold(Depends::NOTHING, |set, e| set.and(graph.depends(e.node)))
}

/// L_q and L_v.
fn first_derivatives(
    graph: &mut Graph,
    differentiator: &mut Differentiator,
    n: usize,
    lagrangian: NodeId,
) -> (Vec<NodeId>, Vec<NodeId>) {
    let zero = graph.number(0.0);
    let (mut l_q, mut l_v) = (vec![zero; n], vec![zero; n]);
    let state = Depends::COORDINATES.and(Depends::VELOCITIES);
    for (input, node) in differentiator.gradient(graph, lagrangian, state) {
        match input {
            Node::Coordinate(i) => l_q[i as usize] = node,
            Node::Velocity(i) => l_v[i as usize] = node,
            _ => {}
        }
    }
    (l_q, l_v)
}

/// How many pairs of coordinates L_q couples.
enum Coupling {
    /// So few that L_qq is made at once.
    Few,
    /// So many that L_qq has to wait: the pairs of its lower triangle.
    Many(Vec<(usize, usize)>),
}

impl Coupling {
    /// Only L = T(v) − V(q, t) can do without L_qq; `None` if there are too many pairs.
    fn of(graph: &Graph, l_q: &[NodeId], l_v: &[NodeId], most: usize) -> Option<Self> {
        let few = FEW_PAIRS * l_q.len();
        let on = |nodes: &[NodeId], inputs: Depends| nodes.iter().any(|&node| graph.depends(node).on(inputs));
        let others = Depends::COORDINATES.and(Depends::TIME);
        if l_q.len() <= FEW_PAIRS || on(l_q, Depends::VELOCITIES) || on(l_v, others) {
            return Some(Self::Few);
        }
        // both triangles count
        let pairs = pairs(graph, l_q, most / 2)?;
        Some(if pairs.len() > few { Self::Many(pairs) } else { Self::Few })
    }
}

/// Second derivatives, and what the mass matrix times the acceleration equals.
struct Second {
    l_qq: Vec<Entry>,
    l_qv: Vec<Entry>,
    l_vv: Vec<Entry>,
    force: Vec<NodeId>,
}

impl Second {
    /// With L_qq or, where L_q depends on coordinates and time alone, without; `None` if there are too many.
    fn new(
        graph: &mut Graph,
        differentiator: &mut Differentiator,
        [l_q, l_v]: [&[NodeId]; 2],
        with_l_qq: bool,
        most: usize,
    ) -> Option<Self> {
        let (mut l_qq, mut l_qv, mut l_vv) = (Vec::new(), Vec::new(), Vec::new());
        let mut force = l_q.to_vec();
        let state = Depends::COORDINATES.and(Depends::VELOCITIES);
        let mut pairs = 0;
        for row in 0..l_q.len() {
            let slopes = if with_l_qq { differentiator.gradient(graph, l_q[row], state) } else { Vec::new() };
            pairs += slopes.len();
            if pairs > most {
                return None;
            }
            for (input, node) in slopes {
                match input {
                    Node::Coordinate(j) if j as usize <= row => {
                        l_qq.push(Entry { row, column: j as usize, node });
                    }
                    Node::Velocity(j) => {
                        let column = j as usize;
                        l_qv.push(Entry { row, column, node });
                        // force_j −= L_qv(i, j) v_i
                        let velocity = graph.velocity(row);
                        let term = graph.mul(node, velocity);
                        force[column] = graph.sub(force[column], term);
                    }
                    _ => {}
                }
            }
            let rates = Depends::VELOCITIES.and(Depends::TIME);
            let slopes = differentiator.gradient(graph, l_v[row], rates);
            pairs += slopes.len();
            for (input, node) in slopes {
                match input {
                    Node::Velocity(j) if j as usize <= row => {
                        l_vv.push(Entry { row, column: j as usize, node });
                    }
                    Node::Time => force[row] = graph.sub(force[row], node),
                    _ => {}
                }
            }
        }
        Some(Self { l_qq, l_qv, l_vv, force })
    }
}

/// A row of the lower triangle of L_qq.
fn stiffness_row(
    graph: &mut Graph,
    differentiator: &mut Differentiator,
    l_q: &[NodeId],
    row: usize,
) -> Vec<Entry> {
    let slopes = differentiator.gradient(graph, l_q[row], Depends::COORDINATES);
    let entry = |(input, node)| match input {
        Node::Coordinate(j) if j as usize <= row => Some(Entry { row, column: j as usize, node }),
        _ => None,
    };
    slopes.into_iter().filter_map(entry).collect()
}

/// Numbers the connected groups of coordinates: the group of each, and how many there are.
fn connected(n: usize, pairs: &[(usize, usize)]) -> (Vec<usize>, usize) {
    // each coordinate points towards an older one of its group
    let mut parent: Vec<usize> = (0..n).collect();
    let find = |parent: &mut Vec<usize>, mut i: usize| {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    };
    for &(i, j) in pairs {
        let (a, b) = (find(&mut parent, i), find(&mut parent, j));
        parent[a.max(b)] = a.min(b);
    }
    let mut groups = 0;
    let mut group = vec![0; n];
    for i in 0..n {
        let root = find(&mut parent, i);
        if root == i {
            group[i] = groups;
            groups += 1;
        } else {
            group[i] = group[root];
        }
    }
    (group, groups)
}
