//! Steps of eight trajectories side by side, each with a fixed number of sweeps.
//!
//! For Gauss methods, which are the same in momenta as in velocities. A step begins with the rates of the one before continued, which are right to the order of the
//! number of points; each sweep gains an order, so that one sweep more than there are points leaves less than the error of
//! the method itself. Whether that holds is not judged here: what is missing shows in the energy, and whoever uses it must look
//! at that.
//!
//! Sines and cosines of a step are computed once: where it begins, from where the second sweep turns them to its points by up to a radian; or, where steps go farther, by the
//! second sweep at its points. The sweeps after it turn these a little, and all but the last do so with few digits, because what they give is a guess.

use crate::expr::{CONVOY, Convoy, Sailing};
use crate::method::{Method, Partitioned, Scheme};
use crate::system::{Problem, starter::same_bits};

/// Angles may be turned so far in the last sweep: the series of turns is exact to rounding then.
const TURN: f64 = 1.0 / 64.0;
/// And so far, from the start of a step, for the same reason.
const WIDE: f64 = 1.0;
/// Points of Gauss have the same weights for velocities and forces, but for rounding.
const SAME: f64 = 1e-12;

/// Where sines and cosines are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sines {
    /// At the start of a step. A step that turns an angle by more than a radian is not solved.
    AtStart,
    /// At the points of a step.
    AtPoints,
}

/// Eight trajectories on their way.
#[derive(Clone, Debug)]
pub struct Voyage {
    lanes: Convoy,
    sines: Sines,
    points: usize,
    /// The parameters of each lane.
    parameters: [Vec<f64>; CONVOY],
}

impl Voyage {
    /// So many trajectories go side by side.
    pub const SIZE: usize = CONVOY;

    /// Trajectories of a problem with a method; `None` if it does not [serve](Self::serves) them.
    pub fn new(problem: &Problem<f64>, method: &Method, sines: Sines) -> Option<Self> {
        let table = table(problem, method)?;
        let model = &problem.system.model;
        let entry = |row: &[f64], j: usize| row.iter().zip(&table.ahead).map(|(x, other)| x * other[j]).sum();
        let ahead = table.a.iter().map(|row| (0..row.len()).map(|j| entry(row, j)).collect()).collect();
        let points = table.b.len();
        let sailing = Sailing { ahead, within: table.a, end: table.b };
        let lanes = Convoy::new(&model.current()?, sailing, &problem.parameters, model.backend);
        Some(Self { lanes, sines, points, parameters: std::array::from_fn(|_| problem.parameters.clone()) })
    }
    /// Whether trajectories of a problem can go like this: not if the method is not of Gauss's kind with two points at least, time matters, or L is not
    /// quadratic in velocities and positive definite.
    pub fn serves(problem: &Problem<f64>, method: &Method) -> bool {
        table(problem, method).is_some() && problem.system.model.current().is_some()
    }

    fn outfit(&mut self, lane: usize, parameters: &[f64], step: f64) {
        if !same_bits(parameters, &self.parameters[lane]) {
            self.parameters[lane].copy_from_slice(parameters);
            self.lanes.assign(lane, Some(parameters));
        }
        self.lanes.resize(lane, step);
    }
    /// Puts a trajectory at the start of its first step.
    pub fn begin(&mut self, lane: usize, parameters: &[f64], step: f64, [q, p]: [&[f64]; 2]) {
        self.outfit(lane, parameters, step);
        self.lanes.place(lane, q, p);
    }
    /// Takes a trajectory over from another voyage, with its parameters and its step size.
    pub fn take_over(&mut self, lane: usize, parameters: &[f64], step: f64, from: &Self, other: usize) {
        self.outfit(lane, parameters, step);
        self.lanes.follow(lane, &from.lanes, other);
    }
    /// Leaves a lane at a state, where it stays.
    pub fn leave(&mut self, lane: usize, q: &[f64], p: &[f64]) {
        self.lanes.resize(lane, 0.0);
        self.lanes.place(lane, q, p);
    }
    /// Copies the state of a trajectory.
    pub fn state(&self, lane: usize, q: &mut [f64], p: &mut [f64]) {
        self.lanes.state(lane, q, p);
    }

    /// Takes the first step of all trajectories, from rest at all points: there is nothing to continue.
    pub fn first_step(&mut self) {
        for _ in 0..=2 * self.points {
            self.lanes.evaluate();
        }
        self.lanes.settle();
        self.lanes.arrive();
    }
    /// Takes a step of all trajectories.
    pub fn step(&mut self) {
        match self.sines {
            Sines::AtStart => {
                self.lanes.go_ahead();
                self.lanes.spread();
            }
            Sines::AtPoints => {
                self.lanes.go_ahead_by_nodes();
                self.lanes.evaluate();
            }
        }
        for _ in 3..=self.points {
            self.lanes.refine();
        }
        self.lanes.settle();
        self.lanes.arrive();
    }
    /// The energy and the kinetic energy of a trajectory after a step; no numbers if the step is not solved to rounding in its sines.
    pub fn energy(&self, lane: usize) -> [f64; 2] {
        let energies = self.lanes.energies();
        let [last, wide] = self.lanes.turns(lane);
        if last <= TURN && wide <= WIDE {
            [energies[lane], energies[CONVOY + lane].abs()]
        } else {
            [f64::NAN; 2]
        }
    }
}

/// The numbers of a method, if it is one that trajectories can go side by side with.
fn table(problem: &Problem<f64>, method: &Method) -> Option<Partitioned<f64>> {
    let Scheme::Galerkin(galerkin) = &method.scheme else { return None };
    let table: Partitioned<f64> = Partitioned::new(galerkin);
    let mut pairs = table.positions.iter().flatten().zip(table.forces.iter().flatten());
    let is_gauss = table.dropped.is_none() && pairs.all(|(a, b)| (a - b).abs() < SAME);
    let fits = problem.system.model.structure.autonomous && problem.indefinite().is_none();
    (is_gauss && table.b.len() >= 2 && fits).then_some(table)
}
