//! Coordinates, and time, that stand in the formulas of L although L does not change with them.
//!
//! The azimuth of a pendulum in space, typed by its Cartesian position, cancels by sin² + cos² = 1 only after squares of sums are
//! written out, which the graph does not do. Such a coordinate is a shift among the symmetries. L is the same at every value of it,
//! so it is set to zero in the formulas: they get shorter, and its momentum is conserved to the last bit, as that of a coordinate
//! that was never typed. Time is taken out in the same way: a bead on a wire that turns uniformly has the energy of its own frame.

use super::find;
use super::proof::time_drops_out;
use super::search::{ROUGH, Sample, Samples};
use crate::expr::Node;
use crate::system::{Energy, Gradient, Model, System};
use std::sync::Arc;

/// Larger systems are taken as they are typed.
const LARGEST: usize = 200;
/// States at which a force must vanish to be looked at more closely.
const STATES: usize = 3;

/// The system with hidden cyclic coordinates, and hidden time, taken out of its Lagrangian.
pub(in crate::system) fn without_hidden(system: System) -> System {
    let structure = system.structure();
    if system.n() > LARGEST || structure.autonomous && structure.cyclic.len() == system.n() {
        return system;
    }
    let Some(centre) = Sample::default_of(&system) else { return system };
    let Some(samples) = Samples::new(&system, &centre, STATES) else { return system };
    let hidden: Vec<usize> = if may_hide(&system, &samples) {
        find(&system, &centre).iter().filter_map(super::Symmetry::coordinate).collect()
    } else {
        Vec::new()
    };
    let no_time = !structure.autonomous && samples.states.iter().all(|at| time_drops_out(&system, at));
    if hidden.is_empty() && !no_time {
        return system;
    }
    let is_hidden = |node: Node| match node {
        Node::Coordinate(i) => hidden.contains(&(i as usize)),
        Node::Time => no_time,
        _ => false,
    };
    let mut graph = (*system.model.graph).clone();
    let lagrangian = graph.substitute(system.model.lagrangian, |node| is_hidden(node).then_some(0.0));
    if lagrangian == system.model.lagrangian {
        return system;
    }
    let Some(model) = Model::new(graph, system.n(), lagrangian) else { return system };
    let value = |model: &Model| Energy::new(model, &centre.parameters).at(&centre.q, &centre.v, &centre.t);
    let ((energy, l), (old_energy, old_l)) = (value(&model), value(&system.model));
    // zero may be the one value at which a formula such as x²/x² has none
    let same = (energy - old_energy).abs() + (l - old_l).abs() <= ROUGH * (old_energy.abs() + old_l.abs());
    if same { System { model: Arc::new(model), ..system } } else { system }
}

/// Whether the force on some coordinate that is not known to be cyclic is mere rounding.
fn may_hide(system: &System, samples: &Samples) -> bool {
    let (mut work, mut energy) = (vec![0.0f64; system.n()], 0.0f64);
    for sample in &samples.states {
        let mut gradient = Gradient::new(&system.model, &sample.parameters);
        let (l_q, l_v) = gradient.at(&sample.q, &sample.v, &sample.t);
        for i in 0..work.len() {
            work[i] = work[i].max((l_q[i] * samples.size[i]).abs());
            energy = energy.max(work[i]).max((l_v[i] * sample.v[i]).abs());
        }
    }
    let known = &system.structure().cyclic;
    (0..work.len()).any(|i| work[i] <= ROUGH * energy && !known.contains(&i))
}
