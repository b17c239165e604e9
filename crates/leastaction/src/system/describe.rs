//! A system as a list of facts in readable formulas: what `show` prints and what it gives as JSON.
//!
//! The Lagrangian is taken apart by powers of the velocities: T is quadratic in them, G linear, and −V is the rest. T and the momenta
//! are printed as they are typed or by the mass matrix, T = ½ v·Mv and p = Mv + …, whichever is shorter (`expansion`). Lists are
//! cut at a length the caller chooses and say how many entries they have.

use super::expansion::Expansion;
use super::{Kind, Start, System};
use crate::expr::{Binary, Graph, Names, Node, NodeId, Readable, Terms, Unary};
use serde::Serialize;

/// Formulas are shortened to about this many characters.
const LONGEST_FORMULA: usize = 300;

/// What there is to know about a system.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// Its name, as typed.
    pub name: String,
    /// Its name, as printed.
    pub title: String,
    /// What it is.
    pub summary: String,
    /// Whole numbers that shape it, then parameters.
    pub parameters: Listed<ParameterFacts>,
    /// Coordinates with their initial values.
    pub coordinates: Listed<CoordinateFacts>,
    /// The default run.
    pub run: RunFacts,
    /// The Lagrangian and the energy.
    pub lagrangian: LagrangianFacts,
    /// Entries of the mass matrix L_vv, lower triangle, that are not zero.
    pub mass_matrix: Listed<MassFacts>,
    /// M, if the mass matrix is M times the unit matrix.
    pub equal_mass: Option<String>,
    /// Momenta L_v.
    pub momenta: Listed<Named>,
    /// What is conserved.
    pub conserved: Listed<ConservedFacts>,
    /// What can be read off the graph.
    pub graph: GraphFacts,
}

/// The first entries of a list.
#[derive(Clone, Debug, Serialize)]
pub struct Listed<T> {
    /// How many entries there are.
    pub count: usize,
    /// The first of them.
    pub first: Vec<T>,
}

/// A parameter or a size.
#[derive(Clone, Debug, Serialize)]
pub struct ParameterFacts {
    /// Its name.
    pub name: String,
    /// Its default value or formula.
    pub value: String,
    /// Its unit, empty if it has none.
    pub unit: String,
    /// What it is.
    pub meaning: String,
}

/// A coordinate and how it starts.
#[derive(Clone, Debug, Serialize)]
pub struct CoordinateFacts {
    /// Its name.
    pub name: String,
    /// Its unit, empty if it has none.
    pub unit: String,
    /// What it is, where that is said.
    pub meaning: String,
    /// Its initial value.
    pub initial: String,
    /// `v` or `p`: what else is given.
    pub given: &'static str,
    /// Its initial velocity or momentum.
    pub start: String,
}

/// The default run.
#[derive(Clone, Debug, Serialize)]
pub struct RunFacts {
    /// The method.
    pub method: String,
    /// The step.
    pub step: String,
    /// The end.
    pub until: String,
    /// The unit of time.
    pub unit: String,
}

/// L and its parts.
#[derive(Clone, Debug, Serialize)]
pub struct LagrangianFacts {
    /// L, by its parts if it has such: `T - V`.
    pub formula: String,
    /// T, G and V, those of them that there are.
    pub parts: Vec<Named>,
    /// The energy, by the same parts.
    pub energy: String,
}

/// A formula with a name.
#[derive(Clone, Debug, Serialize)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The formula.
    pub formula: String,
}

/// An entry of the mass matrix.
#[derive(Clone, Debug, Serialize)]
pub struct MassFacts {
    /// The coordinate of its row.
    pub row: String,
    /// The coordinate of its column.
    pub column: String,
    /// The entry.
    pub formula: String,
}

/// A conserved quantity.
#[derive(Clone, Debug, Serialize)]
pub struct ConservedFacts {
    /// Its name.
    pub name: String,
    /// What it is, written out.
    pub formula: String,
    /// Why it is conserved.
    pub why: String,
}

/// What can be read off the graph.
#[derive(Clone, Debug, Serialize)]
pub struct GraphFacts {
    /// Time does not occur.
    pub autonomous: bool,
    /// The mass matrix is constant.
    pub constant_mass: bool,
    /// The mass matrix does not depend on velocities.
    pub quadratic: bool,
    /// L = T(v) − V(q).
    pub separable: bool,
    /// Pairs of coordinates that are coupled.
    pub coupled: usize,
    /// The bandwidth of the step's matrix, counted in coordinates.
    pub bandwidth: usize,
    /// Groups of coordinates that do not influence each other.
    pub groups: usize,
    /// Instructions for the gradient.
    pub gradient_instructions: usize,
    /// Instructions for first and second derivatives.
    pub hessian_instructions: usize,
}

impl<T> Listed<T> {
    fn new(count: usize, most: usize, entry: impl FnMut(usize) -> T) -> Self {
        Self { count, first: (0..count.min(most)).map(entry).collect() }
    }

    /// Whether entries are left out.
    pub fn is_cut(&self) -> bool {
        self.first.len() < self.count
    }
}

impl System {
    /// What there is to know about the system; lists have at most so many entries.
    pub fn describe(&self, most: usize) -> Description {
        let names = Inputs::of(self);
        let readable = names.readable(self);
        let model = &self.model;
        let expansion = Expansion::of(&self.model);
        let lagrangian = self.lagrangian_facts(&readable, expansion.as_ref());
        let coordinate = |i: usize| self.coordinates[i].name.clone();
        let (given, start) = match &self.initial.start {
            Start::Velocities(list) => ("v", list),
            Start::Momenta(list) => ("p", list),
        };
        Description {
            name: self.name.clone(),
            title: self.title.clone(),
            summary: self.summary.clone(),
            parameters: Listed::new(self.sizes.len() + self.parameters.len(), most, |i| {
                self.parameter_facts(i)
            }),
            coordinates: Listed::new(self.n(), most, |i| CoordinateFacts {
                name: coordinate(i),
                unit: self.coordinates[i].unit.clone(),
                meaning: self.coordinates[i].meaning.clone(),
                initial: self.initial.q[i].to_string(),
                given,
                start: start[i].to_string(),
            }),
            run: RunFacts {
                method: self.defaults.method.clone(),
                step: self.defaults.step.to_string(),
                until: self.defaults.until.to_string(),
                unit: self.time_unit.clone(),
            },
            mass_matrix: self.mass_facts(&readable, most),
            equal_mass: match model.l_vv.as_slice() {
                [first, ..] if self.n() > 1 && model.l_vv.len() == self.n() => {
                    let equal = model.l_vv.iter().all(|e| e.row == e.column && e.node == first.node);
                    equal.then(|| readable.node(first.node))
                }
                _ => None,
            },
            momenta: Listed::new(self.n(), most, |i| {
                let mut formula = readable.node(model.l_v[i]);
                if let Some(expansion) = &expansion {
                    let other = expansion.readable(&readable).sum(&expansion.momentum(i));
                    formula = shorter(formula, other);
                }
                Named { name: format!("p_{}", coordinate(i)), formula }
            }),
            conserved: self.conserved(most, &lagrangian.energy),
            graph: self.graph_facts(),
            lagrangian,
        }
    }

    fn parameter_facts(&self, i: usize) -> ParameterFacts {
        match (self.sizes.get(i), self.parameters.get(i.wrapping_sub(self.sizes.len()))) {
            (None, Some(p)) => ParameterFacts {
                name: p.name.clone(),
                value: p.value.to_string(),
                unit: p.unit.clone(),
                meaning: p.meaning.clone(),
            },
            (size, _) => ParameterFacts {
                name: size.map(|s| s.name.clone()).unwrap_or_default(),
                value: size.map(|s| s.value.to_string()).unwrap_or_default(),
                unit: String::new(),
                meaning: size.map(|s| s.meaning.clone()).unwrap_or_default(),
            },
        }
    }

    /// Entries of the mass matrix. The graph may hold some that are zero, which shows when they are printed.
    fn mass_facts(&self, readable: &Readable<'_>, most: usize) -> Listed<MassFacts> {
        let mut list = Listed { count: self.model.l_vv.len(), first: Vec::new() };
        for entry in &self.model.l_vv {
            if list.first.len() == most {
                break;
            }
            let formula = readable.node(entry.node);
            if formula == "0" {
                list.count -= 1;
                continue;
            }
            let [row, column] = [entry.row, entry.column].map(|i| self.coordinates[i].name.clone());
            list.first.push(MassFacts { row, column, formula });
        }
        list
    }

    /// T, G and V as they are typed, if all terms of L are quadratic in the velocities, linear, or free of them.
    fn typed_parts(&self, readable: &Readable<'_>) -> Option<[String; 3]> {
        let (graph, lagrangian) = (&self.model.graph, self.model.lagrangian);
        let degrees = degrees(graph, lagrangian);
        let mut parts = [Terms::new(), Terms::new(), Terms::new()];
        for (minus, id) in readable.terms(lagrangian) {
            match degrees[id.0 as usize] {
                Some(2) => parts[0].push((minus, id)),
                Some(1) => parts[1].push((minus, id)),
                Some(0) => parts[2].push((!minus, id)),
                _ => return None,
            }
        }
        Some(parts.map(|terms| readable.sum(&terms)))
    }

    /// L = T + G − V, if it is quadratic in the velocities.
    fn lagrangian_facts(&self, readable: &Readable<'_>, expansion: Option<&Expansion>) -> LagrangianFacts {
        let expanded = expansion.map(|expansion| {
            let readable = expansion.readable(readable);
            expansion.parts().map(|terms| readable.sum(&terms))
        });
        let texts = match (self.typed_parts(readable), expanded) {
            (Some([t, g, v]), Some([t2, g2, v2])) => [shorter(t, t2), shorter(g, g2), shorter(v, v2)],
            (Some(texts), None) | (None, Some(texts)) => texts,
            (None, None) => {
                let formula = readable.node(self.model.lagrangian);
                let energy = readable.node(self.model.energy);
                return LagrangianFacts { formula, parts: Vec::new(), energy };
            }
        };
        let (mut formula, mut energy, mut parts) = (String::new(), String::new(), Vec::new());
        for (name, text) in ["T", "G", "V"].into_iter().zip(texts) {
            if text == "0" {
                continue;
            }
            formula += match (formula.is_empty(), name == "V") {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            formula += name;
            if name != "G" {
                energy += if energy.is_empty() { "" } else { " + " };
                energy += name;
            }
            parts.push(Named { name: name.to_owned(), formula: text });
        }
        let formula = if formula.is_empty() { "0".to_owned() } else { formula };
        let energy = if energy.is_empty() { "0".to_owned() } else { energy };
        LagrangianFacts { formula, parts, energy }
    }

    /// Names of what is conserved: the energy, momenta of coordinates that do not occur, and those of other symmetries.
    pub fn conserved_names(&self) -> Vec<String> {
        self.conserved(usize::MAX, "").first.into_iter().map(|facts| facts.name).collect()
    }

    fn conserved(&self, most: usize, energy: &str) -> Listed<ConservedFacts> {
        let structure = self.structure();
        let mut list = Vec::new();
        if structure.autonomous {
            let why = "time does not occur".to_owned();
            list.push(ConservedFacts { name: "energy".to_owned(), formula: energy.to_owned(), why });
        }
        let cyclic = structure.cyclic.iter().take(most).map(|&i| {
            let name = &self.coordinates[i].name;
            let why = format!("{name} does not occur");
            ConservedFacts { name: format!("p_{name}"), formula: format!("p_{name}"), why }
        });
        list.extend(cyclic);
        let symmetries = self.symmetries();
        list.extend(symmetries.iter().map(|symmetry| ConservedFacts {
            name: symmetry.name.clone(),
            formula: symmetry.formula.clone(),
            why: match (symmetry.kind, symmetry.coordinate()) {
                (Kind::Translation, Some(i)) => {
                    format!("L does not change with {}", self.coordinates[i].name)
                }
                (Kind::Translation, None) => "translation".to_owned(),
                (Kind::Rotation, _) => "rotation".to_owned(),
                (Kind::Linear, _) => "symmetry".to_owned(),
            },
        }));
        let count = usize::from(structure.autonomous) + structure.cyclic.len() + symmetries.len();
        list.truncate(most);
        Listed { count, first: list }
    }

    fn graph_facts(&self) -> GraphFacts {
        let s = self.structure();
        GraphFacts {
            autonomous: s.autonomous,
            constant_mass: s.constant_mass,
            quadratic: s.quadratic,
            separable: s.separable,
            coupled: s.nonzeros,
            bandwidth: s.ordering.bandwidth,
            groups: s.groups,
            gradient_instructions: self.model.gradient_tape().len(),
            hessian_instructions: self.model.hessian_tape().len(),
        }
    }
}

/// The one of two formulas from which less is left out, or which is shorter.
fn shorter(one: String, other: String) -> String {
    let length = |text: &String| (text.matches('…').count(), text.chars().count());
    if length(&other) < length(&one) { other } else { one }
}

/// The names of a system's inputs.
struct Inputs {
    coordinates: Vec<String>,
    parameters: Vec<String>,
}

impl Inputs {
    fn of(system: &System) -> Self {
        let parameters = system.parameters.iter().map(|p| p.name.clone()).collect();
        Self { coordinates: system.coordinate_names(), parameters }
    }

    fn readable<'a>(&'a self, system: &'a System) -> Readable<'a> {
        let names = Names { coordinates: &self.coordinates, parameters: &self.parameters };
        Readable { graph: &system.model.graph, names, limit: LONGEST_FORMULA }
    }
}

/// The power of the velocities to which each node up to one is proportional, if it is.
fn degrees(graph: &Graph, last: NodeId) -> Vec<Option<i32>> {
    let mut degrees: Vec<Option<i32>> = Vec::with_capacity(last.0 as usize + 1);
    for id in 0..=last.0 {
        let of = |id: NodeId| degrees[id.0 as usize];
        let degree = match graph.node(NodeId(id)) {
            Node::Velocity(_) => Some(1),
            Node::Unary(Unary::Neg | Unary::Abs, a) => of(a),
            Node::Unary(Unary::Sqrt, a) => of(a).filter(|d| d % 2 == 0).map(|d| d / 2),
            Node::Unary(_, a) => of(a).filter(|d| *d == 0),
            Node::Binary(Binary::Add | Binary::Sub, a, b) => of(a).filter(|d| of(b) == Some(*d)),
            Node::Binary(Binary::Mul, a, b) => of(a).zip(of(b)).and_then(|(a, b)| a.checked_add(b)),
            Node::Binary(Binary::Div, a, b) => of(a).zip(of(b)).and_then(|(a, b)| a.checked_sub(b)),
            Node::Binary(_, a, b) => of(a).zip(of(b)).filter(|pair| *pair == (0, 0)).map(|_| 0),
            _ => Some(0),
        };
        degrees.push(degree);
    }
    degrees
}
