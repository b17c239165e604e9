//! Cyclic coordinates taken out of the equations of motion, as Routh did.
//!
//! The momenta p of cyclic coordinates are numbers of a motion. Where L is quadratic in velocities, their velocities follow from
//! L_v = p, and what is left are equations for the other coordinates: L_q and L_v of those, with these velocities put in. The
//! derivative of L in the velocities that were put in needs no terms of its own, because L_q is meant at fixed velocities.

use super::Model;
use super::factors::{Equations, factor, solve, tapes};
use super::model::Entry;
use crate::expr::{Depends, Differentiator, Graph, Node, NodeId, Tapes};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The motion of the coordinates that are not cyclic.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The tapes of its sweeps. Momenta of cyclic coordinates are parameters behind those of the system, and their velocities follow.
    pub tapes: Tapes,
    /// The coordinates that are left.
    pub left: Vec<usize>,
    /// The cyclic coordinates.
    pub cyclic: Vec<usize>,
    /// The group of each coordinate that is left.
    pub group: Vec<usize>,
}

impl Reduced {
    /// The reduced motion of a model with so many parameters, where there is one and its sweeps take less than those of all coordinates.
    pub(super) fn new(model: &Model, parameters: usize) -> Option<Self> {
        let structure = &model.structure;
        let cyclic = structure.cyclic.clone();
        let place = places(model.n, &cyclic);
        let left: Vec<usize> = (0..model.n).filter(|&i| place[i].is_none()).collect();
        if !structure.quadratic || cyclic.is_empty() || left.is_empty() {
            return None;
        }
        let tapes = tapes(&equations(model, parameters, &left, &cyclic)?)?;
        if tapes.refine.len() > model.sweeps()?.refine.len() {
            return None;
        }
        Some(Self { tapes, group: renumbered(left.iter().map(|&i| structure.group[i])), left, cyclic })
    }
}

/// Numbers from 0 on in place of others, by the order in which these come first.
fn renumbered(numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut known = HashMap::new();
    let place = |number: usize| {
        let next = known.len();
        *known.entry(number).or_insert(next)
    };
    numbers.map(place).collect()
}

/// The equations of the coordinates that are left.
fn equations(model: &Model, parameters: usize, left: &[usize], cyclic: &[usize]) -> Option<Equations> {
    let mut graph = (*model.graph).clone();
    let zeros = vec![graph.number(0.0); cyclic.len()];
    let [left_places, cyclic_places] = [left, cyclic].map(|list| places(model.n, list));
    // formulas with the coordinates that are left counted anew, and with velocities in place of those of cyclic ones
    let is_cyclic = Cell::new(true);
    let replaced = |graph: &mut Graph, formulas: &[NodeId], velocities: &[NodeId]| {
        graph.substitute_all(formulas, |graph, node| match node {
            Node::Coordinate(i) => {
                // a sign changes nothing in L_q, but it is there
                is_cyclic.set(is_cyclic.get() && left_places[i as usize].is_some());
                left_places[i as usize].map(|k| graph.coordinate(k))
            }
            Node::Velocity(i) => match left_places[i as usize] {
                Some(k) => Some(graph.velocity(k)),
                None => cyclic_places[i as usize].map(|k| velocities[k]),
            },
            _ => None,
        })
    };
    let at_rest = replaced(&mut graph, &of(&model.l_v, cyclic), &zeros);
    let masses = among(model, &cyclic_places);
    let nodes: Vec<NodeId> = masses.iter().map(|entry| entry.node).collect();
    let nodes = replaced(&mut graph, &nodes, &zeros);
    let masses: Vec<Entry> = masses.iter().zip(nodes).map(|(entry, node)| Entry { node, ..*entry }).collect();
    let (pattern, factors) = factor(&mut graph, &order(model, cyclic), &masses)?;
    let momenta: Vec<NodeId> = (0..cyclic.len()).map(|k| graph.parameter(parameters + k)).collect();
    let solution = solve(&mut graph, &pattern, &momenta, &at_rest, |_, k| factors[k]);
    let mut following = zeros;
    for (&i, velocity) in pattern.order().iter().zip(solution) {
        following[i] = velocity;
    }
    let l_q = replaced(&mut graph, &of(&model.l_q, left), &following);
    let l_v = replaced(&mut graph, &of(&model.l_v, left), &following);
    let l_vv = derivatives(&mut graph, &l_v);
    is_cyclic.get().then(|| Equations {
        graph: Arc::new(graph),
        n: left.len(),
        l_q,
        l_v,
        l_vv,
        position: order(model, left),
        forced: vec![true; left.len()],
        following,
    })
}

/// The place of each coordinate in a list, if it is there.
fn places(n: usize, list: &[usize]) -> Vec<Option<usize>> {
    let mut places = vec![None; n];
    for (place, &i) in list.iter().enumerate() {
        places[i] = Some(place);
    }
    places
}

/// Some of a list.
fn of(list: &[NodeId], which: &[usize]) -> Vec<NodeId> {
    which.iter().map(|&i| list[i]).collect()
}

/// The entries of L_vv among some coordinates, counted by their places in the list.
fn among(model: &Model, places: &[Option<usize>]) -> Vec<Entry> {
    let entry = |entry: &Entry| {
        Some(Entry { row: places[entry.row]?, column: places[entry.column]?, node: entry.node })
    };
    model.l_vv.iter().filter_map(entry).collect()
}

/// Places of some coordinates in an elimination, in the order that they have among all, but those first whose masses are constant: what is divided by
/// them is divided once.
fn order(model: &Model, which: &[usize]) -> Vec<usize> {
    let position = &model.structure.mass_ordering.position;
    let mut sorted: Vec<usize> = (0..which.len()).collect();
    let varies: HashSet<usize> = model
        .l_vv
        .iter()
        .filter(|entry| entry.row == entry.column && !model.graph.is_fixed(entry.node))
        .map(|entry| entry.row)
        .collect();
    sorted.sort_by_key(|&k| (varies.contains(&which[k]), position[which[k]]));
    let mut order = vec![0; which.len()];
    for (place, k) in sorted.into_iter().enumerate() {
        order[k] = place;
    }
    order
}

/// The derivatives of momenta in velocities, lower triangle.
fn derivatives(graph: &mut Graph, l_v: &[NodeId]) -> Vec<Entry> {
    let mut differentiator = Differentiator::default();
    let mut entries = Vec::new();
    for (row, &momentum) in l_v.iter().enumerate() {
        for (input, node) in differentiator.gradient(graph, momentum, Depends::VELOCITIES) {
            if let Node::Velocity(j) = input
                && j as usize <= row
            {
                entries.push(Entry { row, column: j as usize, node });
            }
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use crate::expr::Evaluator;
    use crate::system::{Problem, Settings, catalogue};

    /// Forces and velocities of the reduced motion are those of the whole one.
    #[test]
    fn what_is_left_moves_as_before() {
        for (name, left) in [("lagrange-top", 1), ("spherical-pendulum", 1), ("cart-pole", 1)] {
            let system = catalogue::system(name).unwrap();
            let problem: Problem<f64> = system.problem(&Settings::default()).unwrap();
            let model = &system.model;
            let reduced = model.reduced(problem.parameters.len()).unwrap();
            assert_eq!((reduced.left.len(), reduced.group.as_slice()), (left, &[0][..]), "{name}");
            // another state than the start, where much is zero
            let q: Vec<f64> = (0..model.n).map(|i| 0.7 + 0.1 * i as f64).collect();
            let v: Vec<f64> = (0..model.n).map(|i| 0.3 - 0.2 * i as f64).collect();
            let mut whole = vec![0.0; 2 * model.n];
            Evaluator::new(model.gradient_tape(), &problem.parameters).evaluate(&q, &v, &0.0, &mut whole);
            let momenta = reduced.cyclic.iter().map(|&i| whole[model.n + i]);
            let parameters: Vec<f64> = problem.parameters.iter().copied().chain(momenta).collect();
            let mut first = Evaluator::new(reduced.tapes.first.clone(), &parameters);
            let mut found = vec![0.0; first.outputs()];
            let part = |list: &[f64]| reduced.left.iter().map(|&i| list[i]).collect::<Vec<_>>();
            first.evaluate(&part(&q), &part(&v), &0.0, &mut found);
            let following = reduced.cyclic.iter().map(|&i| v[i]);
            let expected =
                part(&whole[..model.n]).into_iter().chain(part(&whole[model.n..])).chain(following);
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found - expected).abs() <= 1e-14 * expected.abs().max(1.0),
                    "{name}: {found} {expected}"
                );
            }
        }
    }

    /// A sign changes nothing in L_q, yet its coordinate matters.
    #[test]
    fn coordinates_that_matter_stay() {
        let text = |kinetic: &str| {
            format!(
                "coordinates = [\"phi\", \"r\"]\n[lagrangian]\nkinetic = \"{kinetic}\"\npotential = \"-1/r\"\n\
                 [initial]\nq = [-5, 1]\nv = [1.1, 0.2]\n[run]\nmethod = \"gauss8\"\nstep = 0.01\nuntil = 1\n"
            )
        };
        let system = |kinetic: &str| {
            let source = crate::error::Source::new("x.toml", text(kinetic));
            let run = crate::simulate::Run::read("x", &source).unwrap();
            (run.resolve().unwrap().0, run)
        };
        assert!(system("(v_r^2 + r^2*v_phi^2)/2").0.model.reduced(0).is_some());
        let (signed, run) = system("(v_r^2 + r^2*(2 + sign(phi))*v_phi^2)/2");
        assert!(signed.model.reduced(0).is_none());
        assert!(run.simulate().unwrap().summary.energy.max_relative_error < 1e-12);
    }

    /// The first mass is zero: without exchanges of rows there are no factors.
    #[test]
    fn without_a_mass_of_its_own_a_coordinate_stays() {
        let text = "coordinates = [\"a\", \"z\"]\n[lagrangian]\n\
                    expression = \"v_z^2/2*(1 + z^2) + v_a*v_z - cos(z)\"\n[initial]\nq = [0, 0.3]\nv = [0.1, 0.2]\n\
                    [run]\nmethod = \"gauss8\"\nstep = 0.01\nuntil = 1\n";
        let source = crate::error::Source::new("x.toml", text.to_owned());
        let (system, _) = crate::simulate::Run::read("x", &source).unwrap().resolve().unwrap();
        assert!(system.model.reduced(0).is_none());
    }

    #[test]
    fn sweeps_without_cyclic_coordinates_are_shorter() {
        let system = catalogue::system("lagrange-top").unwrap();
        let reduced = system.model.reduced(5).unwrap();
        let (reduced, whole) = (reduced.tapes.refine.len(), system.model.sweeps().unwrap().refine.len());
        assert!(4 * reduced < 3 * whole, "{reduced} of {whole} instructions");
        // nothing is left of what does not move but by itself
        assert!(catalogue::system("pendulum").unwrap().model.reduced(2).is_none());
    }
}
