//! What a step costs, counted, so that it is the same on every machine.
//!
//! A step is solved in rounds: sweeps over all points of the quadrature or corrections by Newton's method. A sweep takes the points
//! eight by eight through the registers, so an eighth point is free and a ninth is not, but costs little where operations wait for each other anyway; steps
//! whose sweeps did not converge pay for matrices as well. The weights are nanoseconds of a machine with AVX-512, fitted to the times of nine systems with
//! Gauss methods of orders 8 to 32 (a sweep of the double pendulum takes 39 ns there with `gauss8` and `gauss16`, 46 with `gauss24`; one of five pendula in
//! a chain 85 and 156); only their ratios matter.

use crate::method::{Galerkin, Method, Rule, Scheme};
use crate::step::Voyage;
use crate::system::Problem;

/// Points that go through a register together where registers are wide, and where they are not.
const LANES: usize = 8;
pub(super) const NARROW_LANES: usize = 4;
/// A step, what it takes for each coordinate, and an instruction of what is watched of it.
const STEP: f64 = 55.0;
const COORDINATE: f64 = 15.0;
const WATCHED: f64 = 0.4;
/// How long a sweep waits for itself, and for each instruction of its tape.
const SWEEP: f64 = 25.0;
const WAIT: f64 = 0.2;
/// One instruction for one group of points where nothing has to wait, and what a further group takes at least.
const INSTRUCTION: f64 = 0.18;
const GROUP: f64 = 10.0;
/// One operation on matrices of Newton's method.
const ENTRY: f64 = 0.3;
/// An evaluation of an explicit method, and of each instruction in it. Where there are many coordinates, code packs four of them, and its loops take
/// a part of an instruction's time.
const EVALUATION: f64 = 28.0;
const ALONE: f64 = 0.25;
const PACKED: f64 = 0.15;
/// So many coordinates are many.
pub(super) const MANY: usize = 64;
/// Rounds of a step that nothing is known of yet.
const USUAL: f64 = 10.0;

/// A step of a member of an ensemble that goes abreast of others, and an instruction of it at one point: measured with `--bench ensemble`.
const STEP_ABREAST: f64 = 27.0;
const INSTRUCTION_ABREAST: f64 = 0.018;

/// What the steps of a method cost.
#[derive(Clone, Debug)]
pub(super) struct Cost {
    step: f64,
    /// One sweep, or for explicit methods one evaluation.
    round: f64,
    /// What Newton's method takes for a matrix.
    matrix: f64,
    /// Points of a round.
    points: u64,
    /// Whether sweeps are tried at all.
    sweeps: bool,
}

impl Cost {
    pub(super) fn new(problem: &Problem<f64>, method: &Method) -> Self {
        let (model, n) = (&problem.system.model, problem.system.n() as f64);
        let (gradient, hessian) = (model.gradient_tape().len() as f64, model.hessian_tape().len() as f64);
        // the energy is watched at every step
        let step = STEP + COORDINATE * n + WATCHED * gradient;
        let Scheme::Galerkin(Galerkin { degree, rule, points }) = method.scheme else {
            let part = if problem.system.n() < MANY { 1.0 } else { PACKED };
            return Self {
                step,
                round: EVALUATION + part * ALONE * (gradient + 3.0 * n),
                matrix: 0.0,
                points: 1,
                sweeps: false,
            };
        };
        let groups = points.div_ceil(LANES) as f64;
        let reduced = model.reduced(problem.parameters.len()).filter(|_| rule == Rule::Gauss);
        let unknowns = reduced.map_or(n, |reduced| reduced.left.len() as f64);
        let tapes = reduced.map(|reduced| &reduced.tapes).or_else(|| model.sweeps());
        let tape = tapes.map_or(gradient, |tapes| tapes.refine.len() as f64);
        // sums over points, and projections of them
        let products = unknowns * points as f64 * if rule == Rule::Lobatto { 4.0 } else { 2.0 };
        let busy = groups * INSTRUCTION * (tape + products);
        let s = degree as f64;
        let band = s * (model.structure.ordering.bandwidth as f64 + 1.0).min(n);
        Self {
            step,
            round: busy.max(SWEEP + WAIT * tape) + GROUP * (groups - 1.0),
            matrix: ENTRY * (points as f64 * (hessian + n * s * s) + 0.5 * n * s * band * (band + 10.0)),
            points: points as u64,
            sweeps: tapes.is_some(),
        }
    }

    /// What a step costs each of the trajectories that go side by side with a fixed number of sweeps ([`crate::step::Voyage`]): one more than points, of which
    /// the two that turn sines from the start of the step take longer.
    pub(super) fn abreast(problem: &Problem<f64>, method: &Method) -> Option<Self> {
        let Scheme::Galerkin(Galerkin { points, .. }) = method.scheme else { return None };
        let current = problem.system.model.current().filter(|_| Voyage::serves(problem, method))?;
        let (sweeps, products) = (points + 2, 2 * current.n * points);
        let instructions = points * sweeps * (current.rough.len() + products);
        let step = STEP_ABREAST + INSTRUCTION_ABREAST * instructions as f64;
        Some(Self { step, round: 0.0, matrix: 0.0, points: points as u64, sweeps: true })
    }

    /// A step that took so many evaluations of derivatives and so many matrices.
    pub(super) fn of(&self, evaluations: u64, matrices: u32) -> f64 {
        let rounds = evaluations as f64 / self.points as f64;
        self.step + rounds * self.round + f64::from(matrices) * self.matrix
    }

    /// A step that nothing is known of yet.
    pub(super) fn usual(&self) -> f64 {
        self.step + USUAL * self.round + if self.sweeps { 0.0 } else { self.matrix }
    }
}
