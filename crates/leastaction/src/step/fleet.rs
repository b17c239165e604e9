//! Steps of four trajectories side by side.
//!
//! States, velocities and forces of four trajectories lie in the lanes of registers, and go from step to step there. A trajectory takes the
//! sweeps that it would take alone, and so its steps have the same bits: lanes whose sweeps are done rest while others go on. A step that sweeps do
//! not solve, and the first one of a trajectory, is taken by its own stepper.

use super::course::{Course, Memory, Next};
use super::galerkin::GalerkinStepper;
use super::sweeps::Guess;
use super::{AnyStepper, State, Stepper, compensated_add};
use crate::error::Cause;
use crate::expr::{ABREAST, Abreast, Sweep, widely};
use crate::system::Problem;

/// Takes steps of four trajectories that have a method in common.
#[derive(Clone, Debug)]
pub struct Fleet {
    nodes: Abreast,
    /// The points of the method and their weights, and whether time matters.
    points: Vec<f64>,
    weights: Vec<f64>,
    timed: bool,
    sizes: [f64; ABREAST],
    courses: [Course; ABREAST],
    /// What courses knew when the step began.
    memories: [Memory; ABREAST],
    /// Whether there is a trajectory in a lane whose last step was solved by sweeps.
    aboard: [bool; ABREAST],
    /// Whether lanes have parameters and weights at all.
    manned: bool,
    increments: Vec<f64>,
}

/// How many sweeps solved the step of each lane.
type Solved = [Option<u32>; ABREAST];

impl Fleet {
    /// So many trajectories go side by side.
    pub const SIZE: usize = ABREAST;

    /// A fleet of steppers like this one; `None` if it makes no sweeps, or there is no machine code for them.
    pub fn new(problem: &Problem<f64>, stepper: &Stepper<f64>) -> Option<Self> {
        let AnyStepper::Galerkin(stepper) = &stepper.scheme else { return None };
        // alone, trajectories take steps that have other bits
        if stepper.whole.is_some() {
            return None;
        }
        let sweeper = stepper.sweeper.as_deref()?;
        let (points, weights, timed) = sweeper.method();
        Some(Self {
            nodes: sweeper.abreast(problem)?,
            points: points.to_vec(),
            weights: weights.to_vec(),
            timed,
            sizes: [0.0; ABREAST],
            courses: std::array::from_fn(|_| sweeper.course.clone()),
            memories: Default::default(),
            aboard: [false; ABREAST],
            manned: false,
            increments: vec![0.0; 2 * problem.system.n() * ABREAST],
        })
    }

    /// Gives a lane to a trajectory that begins: the parameters of its stepper, and the step size.
    pub fn assign(&mut self, lane: usize, stepper: &mut Stepper<f64>) {
        let size = stepper.step_size;
        let Some(sweeper) = galerkin(stepper).and_then(|stepper| stepper.sweeper.as_deref_mut()) else {
            return;
        };
        // lanes that are empty do what others do, and need sensible numbers for it
        for other in (0..ABREAST).filter(|&other| other == lane || !self.manned) {
            self.nodes.take_constants(other, &mut sweeper.nodes);
        }
        self.manned = true;
        self.sizes[lane] = size;
        self.courses[lane].follow(&sweeper.course);
        self.aboard[lane] = false;
    }

    /// q and p in all lanes, four of each coordinate. Those of lanes whose state is not here mean nothing.
    pub fn states(&self) -> [&[f64]; 2] {
        let [q, p, ..] = self.nodes.states();
        [q, p]
    }

    /// Brings a stepper and a state to where their lane is.
    pub fn show(&self, lane: usize, stepper: &mut Stepper<f64>, state: &mut State<f64>) {
        if self.aboard[lane] {
            stepper.began = stepper.time(state.steps.saturating_sub(1));
            if let Some(stepper) = galerkin(stepper) {
                self.nodes.start_coordinates(lane, &mut stepper.start);
            }
            self.give(lane, false, stepper, state);
        }
    }

    /// Takes a step in each lane that takes part, as far as sweeps solve it: how many there were. The others are for [`step_alone`](Self::step_alone).
    /// States only count steps; where they are is told by [`show`](Self::show).
    pub fn step(
        &mut self,
        steppers: &[Stepper<f64>; ABREAST],
        states: &mut [State<f64>; ABREAST],
        takes_part: [bool; ABREAST],
    ) -> [Option<u32>; ABREAST] {
        for (aboard, takes_part) in self.aboard.iter_mut().zip(takes_part) {
            *aboard &= takes_part;
        }
        if !self.aboard.contains(&true) {
            return [None; ABREAST];
        }
        let solved = self.sail(steppers, states);
        for (state, solved) in states.iter_mut().zip(solved) {
            state.steps += u64::from(solved.is_some());
        }
        solved
    }

    /// Takes the step of a lane by its stepper, from where it began: see [`Stepper::step`].
    pub fn step_alone(
        &mut self,
        lane: usize,
        stepper: &mut Stepper<f64>,
        state: &mut State<f64>,
    ) -> Result<u32, Cause> {
        if self.aboard[lane] {
            self.give(lane, true, stepper, state);
            if let Some(sweeper) = galerkin(stepper).and_then(|stepper| stepper.sweeper.as_deref_mut()) {
                sweeper.course.remember(self.memories[lane]);
            }
        }
        let result = stepper.step(state);
        self.aboard[lane] = false;
        if result.is_ok()
            && let Some(stepper) = galerkin(stepper).filter(|stepper| stepper.swept)
            && let Some(sweeper) = stepper.sweeper.as_deref()
        {
            self.aboard[lane] = true;
            self.courses[lane].remember(sweeper.course.memory());
            self.nodes.take(lane, [&state.q, &state.p, &state.q_low, &state.p_low], &sweeper.nodes);
        }
        result
    }

    /// Gives state and velocities of a lane to those who have them alone, as they are or as they were when the step began.
    fn give(&self, lane: usize, before: bool, stepper: &mut Stepper<f64>, state: &mut State<f64>) {
        let State { q, p, q_low, p_low, .. } = state;
        self.nodes.state(lane, before, [q, p, q_low, p_low]);
        if let Some(sweeper) = galerkin(stepper).and_then(|stepper| stepper.sweeper.as_deref_mut()) {
            self.nodes.give(lane, before, &mut sweeper.nodes);
        }
    }

    /// Takes a step in all lanes that are aboard, as far as sweeps solve them.
    fn sail(&mut self, steppers: &[Stepper<f64>; ABREAST], states: &[State<f64>; ABREAST]) -> Solved {
        self.nodes.begin();
        let model = self.aboard.iter().position(|aboard| *aboard).unwrap_or(0);
        for lane in 0..ABREAST {
            if !self.aboard[lane] {
                self.nodes.copy(lane, model);
                continue;
            }
            if self.timed {
                let (t, size) = (steppers[lane].time(states[lane].steps), self.sizes[lane]);
                self.nodes.set_times(lane, |node| t + self.points[node] * size);
            }
            let course = &mut self.courses[lane];
            self.memories[lane] = course.memory();
            course.start(Guess::Continued);
            course.begin();
        }
        let mut solved = [None; ABREAST];
        if self.sweep(&mut solved) {
            self.update(&mut solved);
            return solved;
        }
        // some angle was far from where machine code knows its sine
        [None; ABREAST]
    }

    /// Sweeps until all lanes are done; false if machine code gave up.
    fn sweep(&mut self, solved: &mut Solved) -> bool {
        if !self.nodes.sweep(Sweep::First, [true; ABREAST]) {
            return false;
        }
        self.nodes.measure();
        let mut sweeps = 1;
        let mut kinds: [Sweep; ABREAST] =
            std::array::from_fn(|lane| self.courses[lane].kind_after_measuring(sweeps));
        let mut left = self.aboard;
        while left.contains(&true) {
            sweeps += 1;
            // before another kind of sweep, which tells nothing of these lanes, they are judged
            let (present, mut rest) = (kinds, left);
            while let Some(first) = rest.iter().position(|left| *left) {
                let kind = present[first];
                let these: [bool; ABREAST] = std::array::from_fn(|lane| rest[lane] && present[lane] == kind);
                if !self.nodes.sweep(kind, these) {
                    return false;
                }
                for lane in 0..ABREAST {
                    if these[lane] {
                        rest[lane] = false;
                        match self.judge(lane, sweeps, kind) {
                            Next::Sweep(next) => kinds[lane] = next,
                            Next::Done => (left[lane], solved[lane]) = (false, Some(sweeps)),
                            Next::Failed => left[lane] = false,
                        }
                    }
                }
            }
        }
        true
    }

    /// What a lane does after a sweep.
    fn judge(&mut self, lane: usize, sweeps: u32, kind: Sweep) -> Next {
        let (course, nodes) = (&mut self.courses[lane], &self.nodes);
        course.note(nodes.changes(lane));
        if course.goes_on(sweeps) {
            return Next::Sweep(Sweep::Refine);
        }
        let q = nodes.states()[0].iter().skip(lane).step_by(ABREAST).copied();
        course.judge(sweeps, kind, nodes.turn(lane), q, nodes.sizes(lane))
    }

    /// q⁺ = q + Σ (h b) V,  p⁺ = p + Σ (h b) F where that was solved and is a number: else it is not solved.
    fn update(&mut self, solved: &mut Solved) {
        let Self { nodes, weights, sizes, increments, .. } = self;
        let (states, rates) = nodes.states_and_rates();
        let (states, lows) = states.split_at_mut(increments.len());
        let mut is_finite = [true; ABREAST];
        widely(|| {
            for (increments, rates) in
                increments.chunks_exact_mut(ABREAST).zip(rates.chunks_exact(ABREAST * weights.len()))
            {
                let sums = sums_of_four(weights, sizes, rates);
                increments.copy_from_slice(&sums);
                for lane in 0..ABREAST {
                    is_finite[lane] &= sums[lane].is_finite();
                }
            }
        });
        for (solved, is_finite) in solved.iter_mut().zip(is_finite) {
            *solved = solved.filter(|_| is_finite);
        }
        let moves = solved.map(|solved| solved.is_some());
        widely(|| {
            let numbers = states.chunks_exact_mut(ABREAST).zip(lows.chunks_exact_mut(ABREAST));
            for ((x, low), increment) in numbers.zip(increments.chunks_exact(ABREAST)) {
                for lane in 0..ABREAST {
                    let (mut sum, mut rest) = (x[lane], low[lane]);
                    compensated_add(&mut sum, &mut rest, increment[lane]);
                    x[lane] = if moves[lane] { sum } else { x[lane] };
                    low[lane] = if moves[lane] { rest } else { low[lane] };
                }
            }
        });
    }
}

/// Σ (size · weight) · rate in each lane, in the order of a trajectory alone.
#[inline]
fn sums_of_four(weights: &[f64], sizes: &[f64; ABREAST], rates: &[f64]) -> [f64; ABREAST] {
    const NODES: usize = 4;
    let mut sums = [[0.0; ABREAST]; NODES];
    let (fours, of_rates) = (weights.chunks_exact(NODES), rates.chunks_exact(NODES * ABREAST));
    let (rest, rest_of_rates) = (fours.remainder(), of_rates.remainder());
    for (weights, rates) in fours.zip(of_rates) {
        for k in 0..NODES {
            for lane in 0..ABREAST {
                sums[k][lane] += sizes[lane] * weights[k] * rates[k * ABREAST + lane];
            }
        }
    }
    for (k, sums) in sums.iter_mut().enumerate() {
        if let (Some(weight), Some(rates)) = (rest.get(k), rest_of_rates.get(k * ABREAST..(k + 1) * ABREAST))
        {
            for lane in 0..ABREAST {
                sums[lane] += sizes[lane] * weight * rates[lane];
            }
        }
    }
    std::array::from_fn(|lane| (sums[0][lane] + sums[2][lane]) + (sums[1][lane] + sums[3][lane]))
}

fn galerkin(stepper: &mut Stepper<f64>) -> Option<&mut GalerkinStepper<f64>> {
    match &mut stepper.scheme {
        AnyStepper::Galerkin(stepper) => Some(stepper),
        AnyStepper::Splitting(_) | AnyStepper::RungeKutta4(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Method;
    use crate::system::{Settings, catalogue};

    /// Takes steps of four trajectories together, each also alone, and compares their bits. They leave one after the other.
    fn compare(name: &str, method: &str, h: f64, steps: u64) {
        let system = catalogue::system(name).unwrap();
        let problem: Problem<f64> = system.problem(&Settings::default()).unwrap();
        let method = Method::named(method).unwrap();
        let mut steppers: [_; ABREAST] = std::array::from_fn(|lane| {
            let mut stepper = Stepper::new(&problem, &method, h);
            let parameters: Vec<f64> =
                problem.parameters.iter().map(|x| x * (1.0 + 0.01 * lane as f64)).collect();
            stepper.restart(Some(&parameters), &problem.v0);
            stepper.resize(&(h * (1.0 - 0.01 * lane as f64)));
            // sweeps are what is compared
            galerkin(&mut stepper).unwrap().whole = None;
            stepper
        });
        let mut fleet = Fleet::new(&problem, &steppers[0]).unwrap();
        let mut states: [_; ABREAST] = std::array::from_fn(|lane| {
            let q = problem.q0.iter().map(|q| q * (1.0 + 0.03 * lane as f64)).collect();
            State::at(q, problem.p0.clone())
        });
        let (mut alone, mut alone_states) = (steppers.clone(), states.clone());
        for (lane, stepper) in steppers.iter_mut().enumerate() {
            fleet.assign(lane, stepper);
        }
        for step in 0..steps {
            let takes_part = std::array::from_fn(|lane| step < steps - 3 * lane as u64);
            // one begins anew on its way, while others go on
            if step == steps / 2 {
                for stepper in [&mut steppers[1], &mut alone[1]] {
                    stepper.restart(None, &problem.v0);
                }
                fleet.assign(1, &mut steppers[1]);
            }
            let solved = fleet.step(&steppers, &mut states, takes_part);
            for lane in (0..ABREAST).filter(|&lane| takes_part[lane]) {
                let result = match solved[lane] {
                    Some(sweeps) => Ok(sweeps),
                    None => fleet.step_alone(lane, &mut steppers[lane], &mut states[lane]),
                };
                fleet.show(lane, &mut steppers[lane], &mut states[lane]);
                let expected = alone[lane].step(&mut alone_states[lane]);
                let case = format!("{name}, {}, step {step}, lane {lane}", method.name);
                assert_eq!(result.is_ok(), expected.is_ok(), "{case}");
                if let (Ok(count), Ok(expected)) = (result, expected) {
                    assert_eq!(count, expected, "{case}");
                }
                assert_eq!(states[lane], alone_states[lane], "{case}");
            }
        }
    }

    #[test]
    fn trajectories_side_by_side_have_the_bits_of_trajectories_alone() {
        for (name, method, h) in [
            ("double-pendulum", "gauss6", 0.05),
            ("double-pendulum", "gauss8", 0.05),
            ("double-pendulum", "gauss12", 0.1),
            ("double-pendulum", "midpoint", 0.01),
            ("double-pendulum", "simpson", 0.02),
            // too large for sweeps now and then
            ("double-pendulum", "gauss6", 0.2),
            ("lagrange-top", "simpson", 0.01),
            ("pendulum", "verlet", 0.01),
            ("kepler", "gauss6", 0.02),
            ("outer-solar-system", "gauss6", 100.0),
            ("fput", "gauss4", 0.1),
        ] {
            compare(name, method, h, 60);
        }
    }
}
