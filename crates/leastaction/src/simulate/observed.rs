//! The outputs and events of a run, read and checked: formulas on tapes, ready for the observers of any number type.
//!
//! [`Outputs`] watches the outputs over every step. The recorder and the events evaluate them where they need them.

use super::{Event, Moment, Observer, Run};
use crate::error::{Cause, Error, Result};
use crate::expr::NodeId;
use crate::scalar::{Ledger, Real};
use crate::system::{Dictionary, Gauge, Problem, Quantities, Quantity, System};
use std::ops::ControlFlow;

/// Names that files give to other columns.
const TAKEN: [&str; 9] = ["q", "v", "p", "coordinates", "run", "checksum", "leastaction", "event", "count"];

/// The outputs and events of a run.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Names of the outputs.
    pub output_names: Vec<String>,
    /// Their formulas.
    pub outputs: Quantities,
    /// Names and events.
    pub events: Vec<(String, Event)>,
    /// Their formulas.
    pub(crate) formulas: Quantities,
    /// Constants in all of these formulas that may not be finite, and for each the name and the formula.
    constants: (Quantities, Vec<(String, Quantity)>),
}

impl Observed {
    /// Reads the formulas of a run. Outputs may be used by the outputs after them and by events.
    pub fn new(run: &Run, system: &System, period: Option<&str>) -> Result<Self> {
        if run.outputs.is_empty() && run.events.is_empty() {
            // a dictionary copies the graph, which may be large
            return Ok(Self::nothing(system));
        }
        let mut dictionary = Dictionary::new(system, period);
        let (mut constants, mut owners) = (Vec::new(), Vec::new());
        let mut note = |found: Vec<NodeId>, what: &str, formula: &Quantity| {
            owners.extend(found.iter().map(|_| (what.to_owned(), formula.clone())));
            constants.extend(found);
        };
        let mut outputs = Vec::new();
        for (name, formula) in &run.outputs {
            let what = format!("output `{name}`");
            if TAKEN.contains(&name.as_str()) {
                let message = "files use this name for something else; choose another".to_owned();
                return Err(formula.locate(Error::BadQuantity { what, message }));
            }
            let node = dictionary.define(&what, name, formula)?;
            note(dictionary.constants(node), &what, formula);
            outputs.push(node);
        }
        let mut formulas = Vec::new();
        for (name, event) in &run.events {
            let node = event_formula(&mut dictionary, name, event)?;
            note(dictionary.constants(node), &format!("event `{name}`"), &event.of);
            formulas.push(node);
        }
        Ok(Self {
            output_names: run.outputs.keys().cloned().collect(),
            outputs: dictionary.quantities(&outputs),
            events: run.events.iter().map(|(name, event)| (name.clone(), event.clone())).collect(),
            formulas: dictionary.quantities(&formulas),
            constants: (dictionary.quantities(&constants), owners),
        })
    }

    fn nothing(system: &System) -> Self {
        let none = || Quantities::none(system);
        let constants = (none(), Vec::new());
        Self { output_names: Vec::new(), outputs: none(), events: Vec::new(), formulas: none(), constants }
    }

    /// Checks that constants in formulas are finite, and the formulas of events at the start.
    pub(super) fn check_start(&self, problem: &Problem<f64>) -> Result<()> {
        let (constants, owners) = &self.constants;
        let mut gauge = constants.gauge(problem);
        let values = gauge.at(&problem.q0, &problem.v0, &problem.t0);
        if let Some(((what, formula), value)) = owners.iter().zip(values).find(|(_, x)| !x.is_finite()) {
            let what = format!("a constant in the {what}");
            return Err(formula.locate(Error::NotANumber {
                what,
                formula: formula.to_string(),
                value: *value,
            }));
        }
        let mut gauge = self.formulas.gauge(problem);
        let values = gauge.at(&problem.q0, &problem.v0, &problem.t0);
        match values.iter().position(|x| !x.is_finite()) {
            None => Ok(()),
            Some(at) => {
                let (event, value, time) = (self.events[at].0.clone(), values[at], problem.t0);
                let cause = Cause::EventNotFinite { event, value, time };
                let failure = problem.failure(0, &problem.t0, (&problem.q0, &problem.p0), cause);
                Err(self.events[at].1.of.locate(failure.into()))
            }
        }
    }
}

fn event_formula(dictionary: &mut Dictionary, name: &str, event: &Event) -> Result<NodeId> {
    let what = format!("event `{name}`");
    let bad = |message: String| Err(event.of.locate(Error::BadQuantity { what: what.clone(), message }));
    if !crate::expr::is_name(name) {
        return bad("a name has letters, digits and `_`, and does not start with a digit".to_owned());
    }
    if event.stop == Some(0) {
        return bad(
            "stop = 0 would end the run before it starts; give at least 1, or leave it out".to_owned()
        );
    }
    let node = dictionary.formula(&what, &event.of)?;
    if !dictionary.varies(node) {
        return bad(format!(
            "`{}` is the same all the time, so its sign never changes; use a coordinate, a velocity, a momentum or t",
            event.of
        ));
    }
    Ok(node)
}

/// Watches the outputs over every step.
#[derive(Clone, Debug)]
pub struct Outputs<R> {
    gauge: Gauge<R>,
    v0: Vec<R>,
    /// Values at the last step seen.
    pub last: Vec<R>,
    /// The least and the largest value of each over all steps; values that are no numbers are passed over.
    pub range: Vec<(f64, f64)>,
    /// When each was first no finite number.
    pub broken: Vec<Option<f64>>,
}

impl<R: Real> Outputs<R> {
    /// Watches the outputs of a problem.
    pub fn new(problem: &Problem<R>, outputs: &Quantities) -> Self {
        Self {
            gauge: outputs.gauge(problem),
            v0: problem.v0.clone(),
            last: vec![R::zero(); outputs.len()],
            range: vec![(f64::NAN, f64::NAN); outputs.len()],
            broken: vec![None; outputs.len()],
        }
    }

    /// Writes or reads what it has seen.
    pub fn exchange(&mut self, ledger: &mut Ledger) {
        self.gauge.exchange(ledger);
        ledger.numbers(&mut self.last);
        for (range, broken) in self.range.iter_mut().zip(&mut self.broken) {
            ledger.number(&mut range.0);
            ledger.number(&mut range.1);
            ledger.perhaps(broken);
        }
    }
}

impl<R: Real> Observer<R> for Outputs<R> {
    fn observe(&mut self, moment: &Moment<'_, R>) -> std::result::Result<ControlFlow<()>, Cause> {
        let state = moment.state;
        let values = if state.steps == 0 {
            self.gauge.at(&state.q, &self.v0, &moment.t)
        } else {
            self.gauge.at_momenta(&state.q, &state.p, &moment.t)?
        };
        self.last.clone_from_slice(values);
        for ((range, broken), value) in self.range.iter_mut().zip(&mut self.broken).zip(values) {
            let value = value.to_f64();
            *range = (range.0.min(value), range.1.max(value));
            if !value.is_finite() && broken.is_none() {
                *broken = Some(moment.t.to_f64());
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
