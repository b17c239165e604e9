//! A tape at four states side by side, as machine code only.

use super::abreast::ABREAST;
use super::aligned::Aligned;
use super::native::{Arrays, Code};
use super::tape::Evaluator;
use std::sync::Arc;

/// Evaluates a tape at four states, each with parameters of its own. Of every input and output there are four, one after the other.
#[derive(Clone, Debug)]
pub struct FourStates {
    code: Arc<Code>,
    registers: Aligned,
    outputs: Aligned,
    scratch: Vec<f64>,
}

impl FourStates {
    /// The tape of an evaluator, with its parameters for all four; `None` if there is no machine code for it.
    pub fn new(evaluator: &Evaluator<f64>) -> Option<Self> {
        let code = evaluator.code_for_four()?;
        let mut made = Self {
            registers: Aligned::zeros(ABREAST * evaluator.registers().len()),
            outputs: Aligned::zeros(ABREAST * evaluator.outputs()),
            scratch: vec![0.0; code.scratch()],
            code,
        };
        (0..ABREAST).for_each(|lane| made.assign(lane, evaluator));
        Some(made)
    }

    /// Gives one of the four the parameters of an evaluator of the same tape.
    pub fn assign(&mut self, lane: usize, evaluator: &Evaluator<f64>) {
        let places = self.registers[lane..].iter_mut().step_by(ABREAST);
        places.zip(evaluator.registers()).for_each(|(place, x)| *place = *x);
    }

    /// Evaluates the tape at states (q, v, t); `None` if a function is far from where machine code knows it.
    pub fn evaluate(&mut self, q: &[f64], v: &[f64], t: &[f64; ABREAST]) -> Option<&[f64]> {
        let Self { code, registers, outputs, scratch } = self;
        code.run(Arrays { registers, q, v, t, outputs, changes: &mut [], scratch }).then_some(&**outputs)
    }
}
