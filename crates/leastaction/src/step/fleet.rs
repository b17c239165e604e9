//! Steps of four trajectories side by side.
//!
//! The sweeps of four steppers go through the lanes of a register together; everything else a stepper does alone. Each trajectory
//! takes the sweeps that it would take alone, and so its steps have the same bits: lanes whose sweeps are done rest while others go on.

use super::course::Next;
use super::galerkin::GalerkinStepper;
use super::{AnyStepper, State, Stepper};
use crate::error::Cause;
use crate::expr::{ABREAST, Abreast, Sweep};
use crate::system::Problem;

/// Takes steps of four trajectories that have a method in common.
#[derive(Clone, Debug)]
pub struct Fleet {
    nodes: Abreast,
}

/// What a lane does next, if it takes part and is not done.
type Lanes = [Option<Sweep>; ABREAST];

impl Fleet {
    /// So many trajectories go side by side.
    pub const SIZE: usize = ABREAST;

    /// A fleet of steppers like this one; `None` if it makes no sweeps, or there is no machine code for them.
    pub fn new(problem: &Problem<f64>, stepper: &Stepper<f64>) -> Option<Self> {
        let AnyStepper::Galerkin(stepper) = &stepper.scheme else { return None };
        Some(Self { nodes: stepper.abreast(problem)? })
    }

    /// Gives a lane the parameters of a stepper and its step size.
    pub fn assign(&mut self, lane: usize, stepper: &mut Stepper<f64>) {
        if let Some((sweeper, _)) = galerkin(stepper).and_then(GalerkinStepper::sweeper) {
            self.nodes.take_constants(lane, &mut sweeper.nodes);
        }
    }

    /// Takes a step in each lane that takes part: see [`Stepper::step`].
    pub fn step(
        &mut self,
        steppers: &mut [Stepper<f64>; ABREAST],
        states: &mut [State<f64>; ABREAST],
        takes_part: [bool; ABREAST],
    ) -> [Option<Result<u32, Cause>>; ABREAST] {
        let mut lanes: Lanes = [None; ABREAST];
        for lane in (0..ABREAST).filter(|&lane| takes_part[lane]) {
            let t = steppers[lane].time(states[lane].steps);
            let Some(stepper) = galerkin(&mut steppers[lane]) else { continue };
            if stepper.begin(&mut states[lane], &t)
                && let Some((sweeper, _)) = stepper.sweeper()
            {
                self.nodes.take(lane, &sweeper.nodes);
                sweeper.course.begin();
                lanes[lane] = Some(Sweep::First);
            }
        }
        self.fill(steppers, lanes);
        if self.sweep(steppers, lanes).is_none() {
            // some angle was far from where machine code knows its sine
            for lane in (0..ABREAST).filter(|&lane| lanes[lane].is_some()) {
                galerkin(&mut steppers[lane]).into_iter().for_each(GalerkinStepper::sweep_alone);
            }
        }
        std::array::from_fn(|lane| {
            takes_part[lane].then(|| {
                let t = steppers[lane].time(states[lane].steps);
                let Some(stepper) = galerkin(&mut steppers[lane]) else { return Ok(0) };
                let corrections = stepper.conclude(&mut states[lane], &t)?;
                states[lane].steps += 1;
                Ok(corrections)
            })
        })
    }

    /// Lanes without a trajectory do what another one does, because they must do something.
    fn fill(&mut self, steppers: &mut [Stepper<f64>; ABREAST], lanes: Lanes) {
        let Some(model) = lanes.iter().position(Option::is_some) else { return };
        let Some((sweeper, _)) = galerkin(&mut steppers[model]).and_then(GalerkinStepper::sweeper) else {
            return;
        };
        for lane in (0..ABREAST).filter(|&lane| lanes[lane].is_none()) {
            self.nodes.take_constants(lane, &mut sweeper.nodes);
            self.nodes.take(lane, &sweeper.nodes);
        }
    }

    /// Sweeps until all lanes are done; `None` if machine code gave up.
    fn sweep(&mut self, steppers: &mut [Stepper<f64>; ABREAST], mut lanes: Lanes) -> Option<()> {
        let mut sweeps = 0;
        while lanes.iter().any(Option::is_some) {
            sweeps += 1;
            let present = lanes;
            for kind in [Sweep::First, Sweep::Fresh, Sweep::Refine] {
                let these = present.map(|lane| lane == Some(kind));
                if these.contains(&true) && !self.nodes.sweep(kind, these) {
                    return None;
                }
                // before another kind of sweep, which tells nothing of these lanes
                for lane in (0..ABREAST).filter(|&lane| these[lane]) {
                    lanes[lane] = self.judge(lane, &mut steppers[lane], sweeps, kind);
                }
            }
        }
        Some(())
    }

    /// What a lane does after a sweep; if it is done, its stepper is told.
    fn judge(&mut self, lane: usize, stepper: &mut Stepper<f64>, sweeps: u32, kind: Sweep) -> Option<Sweep> {
        let (sweeper, solved) = galerkin(stepper)?.sweeper()?;
        let course = &mut sweeper.course;
        if !course.is_measured(sweeps) {
            course.measure(self.nodes.sizes(lane, kind));
            self.nodes.set_inverse_sizes(lane, course.sizes());
            return Some(course.kind_after_measuring(sweeps));
        }
        match course.judge(sweeps, kind, self.nodes.turn(lane), self.nodes.changes(lane)) {
            Next::Sweep(next) => return Some(next),
            Next::Done => {
                self.nodes.give(lane, &mut sweeper.nodes);
                *solved = Some((sweeps, true));
            }
            Next::Failed => *solved = Some((sweeps, false)),
        }
        None
    }
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
            }
            let results = fleet.step(&mut steppers, &mut states, takes_part);
            for lane in (0..ABREAST).filter(|&lane| takes_part[lane]) {
                let expected = alone[lane].step(&mut alone_states[lane]);
                let case = format!("{name}, {}, step {step}, lane {lane}", method.name);
                assert_eq!(results[lane].as_ref().unwrap().is_ok(), expected.is_ok(), "{case}");
                if let (Some(Ok(count)), Ok(expected)) = (&results[lane], expected) {
                    assert_eq!(*count, expected, "{case}");
                }
                assert_eq!(states[lane], alone_states[lane], "{case}");
            }
        }
    }

    #[test]
    fn trajectories_side_by_side_have_the_bits_of_trajectories_alone() {
        for (name, method, h) in [
            ("double-pendulum", "gauss6", 0.05),
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
