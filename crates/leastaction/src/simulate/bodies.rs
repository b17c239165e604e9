//! Where the bodies of a system are, at the states of a run: what pictures and animations are made of.

use super::{Plan, Run};
use crate::error::Result;
use crate::expr::Evaluator;
use crate::system::{Motion, Problem};

/// Positions of bodies, and how to draw them.
#[derive(Clone, Debug)]
pub struct Bodies {
    /// What is known of the motion.
    pub motion: Motion,
    /// The radius of a sphere on which everything moves.
    pub sphere: Option<f64>,
    evaluator: Evaluator<f64>,
    out: Vec<f64>,
}

impl Plan {
    /// The bodies of the system, if it says where they are.
    pub fn bodies(&self) -> Result<Option<Bodies>> {
        let Some(motion) = &self.problem.system.motion else { return Ok(None) };
        let evaluator = Evaluator::new(motion.tape.clone(), &self.problem.parameters);
        Ok(Some(Bodies {
            sphere: radius(motion, &self.problem, &self.run)?,
            motion: motion.clone(),
            out: vec![0.0; evaluator.outputs()],
            evaluator,
        }))
    }
}

impl Bodies {
    /// Positions x, y, z, one body after the other.
    pub fn at(&mut self, q: &[f64], v: &[f64], t: f64) -> &[f64] {
        self.evaluator.evaluate(q, v, &t, &mut self.out);
        &self.out
    }
}

fn radius(motion: &Motion, problem: &Problem<f64>, run: &Run) -> Result<Option<f64>> {
    let Some(radius) = &motion.sphere else { return Ok(None) };
    let system = &problem.system;
    let mut parameters = run.parameters.clone();
    parameters.retain(|name, _| system.parameters.iter().any(|p| p.name == *name));
    Ok(Some(system.formulas(&parameters)?.value("the radius", radius)?))
}
