//! Defining a system: names first, the Lagrangian last.
//!
//! [`Builder`] collects what cannot be read off a function; [`Builder::lagrangian`] then records the function, checks the
//! whole and differentiates. Mistakes are reported by name.

use super::model::{MAX_PAIRS, Model};
use super::symmetry::without_hidden;
use super::{Coordinate, Defaults, Initial, Motion, Parameter, Quantity, Size, Start, System};
use crate::error::{Diagnostic, Error, Origin, Result, nearest};
use crate::expr::{
    Depends, Elsewhere, Expr, Graph, Inputs, NodeId, Role, Scope, Shared, Tape, is_name, is_reserved, record,
};
use crate::scalar::Scalar;
use std::cell::RefCell;
use std::ops::Index;
use std::sync::Arc;

/// A system under definition.
///
/// ```
/// use leastaction::prelude::*;
///
/// fn lagrangian<S: Scalar>(q: &[S], v: &[S], _t: S, p: &Parameters<S>) -> S {
///     let kinetic = p["m"] * (p["l"] * v[0]).squared() * 0.5;
///     let potential = -p["m"] * p["g"] * p["l"] * q[0].cos();
///     kinetic - potential
/// }
///
/// let pendulum = System::build("my-pendulum", "My pendulum")
///     .coordinate("theta", "rad")
///     .parameter("m", "1", "kg", "mass")
///     .parameter("l", "0.5", "m", "length")
///     .parameter("g", "9.81", "m/s²", "gravity")
///     .start_at_rest(["pi/2"])
///     .lagrangian(lagrangian)?;
/// assert!(pendulum.structure().autonomous);
/// # Ok::<(), leastaction::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    name: String,
    title: String,
    summary: String,
    time_unit: String,
    energy_unit: String,
    sizes: Vec<Size>,
    coordinates: Vec<Coordinate>,
    parameters: Vec<Parameter>,
    initial: Option<Initial>,
    defaults: Defaults,
    motion: Option<MotionBuilder>,
}

/// How bodies move, under definition.
#[derive(Clone, Debug)]
struct MotionBuilder {
    dimension: usize,
    bodies: Vec<String>,
    links: Vec<(Option<usize>, usize)>,
    sphere: Option<Quantity>,
    unit: String,
    positions: Positions,
}

/// Positions x, y, z of the bodies: a function, or nodes of the graph.
#[derive(Clone, Debug)]
enum Positions {
    Function(fn(&[Expr], &Parameters<Expr>) -> Vec<[Expr; 3]>),
    Nodes(Vec<NodeId>),
}

/// A motion whose positions are in the graph already.
pub(super) struct RecordedMotion {
    pub(super) dimension: usize,
    pub(super) bodies: Vec<String>,
    pub(super) links: Vec<(Option<usize>, usize)>,
    pub(super) sphere: Option<Quantity>,
    pub(super) unit: String,
    pub(super) positions: Vec<NodeId>,
}

/// A Lagrangian that is in a graph already, and what is known of the text it was read from.
pub(super) struct Recorded {
    pub(super) graph: Graph,
    pub(super) lagrangian: NodeId,
    pub(super) scope: Scope,
    pub(super) origin: Origin,
    pub(super) definite: bool,
    pub(super) warnings: Vec<Diagnostic>,
    pub(super) written: Vec<Shared>,
    pub(super) names: Arc<Elsewhere>,
}

/// The values of the parameters, by name.
#[derive(Debug)]
pub struct Parameters<S> {
    names: Vec<String>,
    values: Vec<S>,
    /// What an unknown name gives; the first one is remembered and reported when the recording ends.
    nothing: S,
    unknown: RefCell<Option<String>>,
}

impl<S: Scalar> Parameters<S> {
    /// Parameters with these names and values.
    pub fn new(names: Vec<String>, values: Vec<S>) -> Self {
        Self { names, values, nothing: S::from(f64::NAN), unknown: RefCell::new(None) }
    }
}

impl<S> Index<&str> for Parameters<S> {
    type Output = S;
    fn index(&self, name: &str) -> &S {
        match self.names.iter().position(|n| n == name) {
            Some(i) => &self.values[i],
            None => {
                self.unknown.borrow_mut().get_or_insert_with(|| name.to_owned());
                &self.nothing
            }
        }
    }
}

impl Builder {
    pub(super) fn new(name: &str, title: &str) -> Self {
        let defaults = Defaults { method: "simpson".to_owned(), step: 0.01.into(), until: 10.0.into() };
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            summary: String::new(),
            time_unit: "s".to_owned(),
            energy_unit: String::new(),
            sizes: Vec::new(),
            coordinates: Vec::new(),
            parameters: Vec::new(),
            initial: None,
            defaults,
            motion: None,
        }
    }

    /// Says what the system is.
    pub fn summary(mut self, text: &str) -> Self {
        self.summary = text.to_owned();
        self
    }
    /// Names the unit of time; seconds if not said, empty for none.
    pub fn time_unit(mut self, unit: &str) -> Self {
        self.time_unit = unit.to_owned();
        self
    }
    /// Names the unit of energy; empty, for none, if not said. Units of momenta follow from it.
    pub fn energy_unit(mut self, unit: &str) -> Self {
        self.energy_unit = unit.to_owned();
        self
    }
    /// Notes a whole number that shaped the system.
    pub fn size(mut self, name: &str, value: usize, meaning: &str) -> Self {
        self.sizes.push(Size { name: name.to_owned(), value, meaning: meaning.to_owned() });
        self
    }
    /// Adds a coordinate.
    pub fn coordinate(self, name: &str, unit: &str) -> Self {
        self.coordinate_with_meaning(name, unit, "")
    }
    /// Adds a coordinate and says what it is.
    pub fn coordinate_with_meaning(mut self, name: &str, unit: &str, meaning: &str) -> Self {
        let (name, unit, meaning) = (name.to_owned(), unit.to_owned(), meaning.to_owned());
        self.coordinates.push(Coordinate { name, unit, meaning });
        self
    }
    /// Adds coordinates of the same unit.
    pub fn coordinates(self, names: impl IntoIterator<Item = String>, unit: &str) -> Self {
        names.into_iter().fold(self, |builder, name| builder.coordinate(&name, unit))
    }
    /// Adds a parameter. Its value is a number or a formula of other parameters.
    pub fn parameter(mut self, name: &str, value: impl Into<Quantity>, unit: &str, meaning: &str) -> Self {
        self.parameters.push(Parameter {
            name: name.to_owned(),
            value: value.into(),
            unit: unit.to_owned(),
            meaning: meaning.to_owned(),
        });
        self
    }
    /// Sets the initial coordinates and velocities.
    pub fn start<Q: Into<Quantity>>(
        mut self,
        q: impl IntoIterator<Item = Q>,
        v: impl IntoIterator<Item = Q>,
    ) -> Self {
        let v = v.into_iter().map(Into::into).collect();
        self.initial = Some(initial(q, Start::Velocities(v)));
        self
    }
    /// Sets the initial coordinates and momenta.
    pub fn start_with_momenta<Q: Into<Quantity>>(
        mut self,
        q: impl IntoIterator<Item = Q>,
        p: impl IntoIterator<Item = Q>,
    ) -> Self {
        let p = p.into_iter().map(Into::into).collect();
        self.initial = Some(initial(q, Start::Momenta(p)));
        self
    }
    /// Sets the initial coordinates, at rest.
    pub fn start_at_rest<Q: Into<Quantity>>(mut self, q: impl IntoIterator<Item = Q>) -> Self {
        let q: Vec<Quantity> = q.into_iter().map(Into::into).collect();
        let start = Start::Velocities(vec![Quantity::Number(0.0); q.len()]);
        self.initial = Some(initial(q, start));
        self
    }
    /// Sets the default method, step and end time.
    pub fn run(mut self, method: &str, step: impl Into<Quantity>, until: impl Into<Quantity>) -> Self {
        self.defaults = Defaults { method: method.to_owned(), step: step.into(), until: until.into() };
        self
    }
    /// Says how to draw the motion: names of the bodies, the rods between them, and their positions from q.
    pub fn motion(
        mut self,
        dimension: usize,
        unit: &str,
        bodies: impl IntoIterator<Item = String>,
        links: impl IntoIterator<Item = (Option<usize>, usize)>,
        positions: fn(&[Expr], &Parameters<Expr>) -> Vec<[Expr; 3]>,
    ) -> Self {
        self.motion = Some(MotionBuilder {
            dimension,
            bodies: bodies.into_iter().collect(),
            links: links.into_iter().collect(),
            sphere: None,
            unit: unit.to_owned(),
            positions: Positions::Function(positions),
        });
        self
    }
    /// Says how to draw the motion, by positions in the graph.
    pub(super) fn recorded_motion(mut self, motion: RecordedMotion) -> Self {
        let RecordedMotion { dimension, bodies, links, sphere, unit, positions } = motion;
        let positions = Positions::Nodes(positions);
        self.motion = Some(MotionBuilder { dimension, bodies, links, sphere, unit, positions });
        self
    }
    /// The default run so far.
    pub(super) fn defaults(&self) -> &Defaults {
        &self.defaults
    }
    /// Says that the motion takes place on a sphere around the origin.
    pub fn on_sphere(mut self, radius: impl Into<Quantity>) -> Self {
        if let Some(motion) = &mut self.motion {
            motion.sphere = Some(radius.into());
        }
        self
    }

    /// Records L(q, v, t; parameters) by calling the function once, and finishes the system.
    pub fn lagrangian(
        self,
        function: impl Fn(&[Expr], &[Expr], Expr, &Parameters<Expr>) -> Expr,
    ) -> Result<System> {
        self.check()?;
        let mut graph = Graph::strict();
        let nodes = self.recorded(&mut graph, |inputs, parameters| {
            vec![function(&inputs.q, &inputs.v, inputs.t, parameters)]
        })?;
        self.finish(graph, nodes[0], None)
    }

    /// Finishes a system whose Lagrangian is in a graph already.
    pub(super) fn finish_recorded(self, recorded: Recorded) -> Result<System> {
        self.check()?;
        let Recorded { graph, lagrangian, scope, origin, definite, warnings, written, names } = recorded;
        let located = |error| match error {
            Error::BadSystem { message, .. } => {
                Diagnostic::new(origin.source(), origin.whole(), message).into()
            }
            other => other,
        };
        let system = self.finish(graph, lagrangian, Some(Arc::new(scope))).map_err(located)?;
        Ok(System { origin: Some(origin), definite, warnings, written, names, ..system })
    }

    /// Records a function of the inputs and reports parameters it asked for in vain.
    fn recorded(
        &self,
        graph: &mut Graph,
        function: impl FnOnce(&Inputs, &Parameters<Expr>) -> Vec<Expr>,
    ) -> Result<Vec<NodeId>> {
        let names: Vec<String> = self.parameters.iter().map(|p| p.name.clone()).collect();
        let mut unknown = None;
        let nodes = record(graph, || {
            let inputs = Inputs::new(self.coordinates.len(), names.len());
            let parameters = Parameters::new(names.clone(), inputs.parameters.clone());
            let result = function(&inputs, &parameters);
            unknown = parameters.unknown.take();
            result
        })?;
        match unknown {
            None => Ok(nodes),
            Some(name) => {
                let hint = nearest(&name, names.iter().map(String::as_str));
                Err(Error::UndeclaredParameter { system: self.name.clone(), name, hint })
            }
        }
    }

    fn complain<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(Error::BadSystem { system: self.name.clone(), message: message.into() })
    }

    /// Checks names and counts.
    fn check(&self) -> Result<()> {
        let n = self.coordinates.len();
        if n == 0 {
            return self.complain("it has no coordinates; add at least one");
        }
        let names: Vec<&str> = self
            .coordinates
            .iter()
            .map(|c| c.name.as_str())
            .chain(self.parameters.iter().map(|p| p.name.as_str()))
            .collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return self.complain(format!("the name `{}` is used twice; rename one of them", pair[0]));
        }
        if let Some(name) = names.iter().find(|name| is_reserved(name)) {
            return self.complain(format!("the name `{name}` has a meaning of its own; take another"));
        }
        let derived = |c: &&Coordinate| c.name.starts_with("v_") || c.name.starts_with("p_");
        if let Some(c) = self.coordinates.iter().find(derived) {
            return self
                .complain(format!("`{}` would be taken for a velocity or momentum; rename it", c.name));
        }
        if let Some(name) = names.iter().find(|name| !is_name(without_index(name))) {
            return self
                .complain(format!("`{name}` is not a name: letters, digits and _ only, not a digit first"));
        }
        if let Some(initial) = &self.initial {
            let (Start::Velocities(list) | Start::Momenta(list)) = &initial.start;
            for (what, found) in [("the initial q", initial.q.len()), ("the initial v or p", list.len())] {
                if found != n {
                    return self.complain(format!("{what} has {found} values for {n} coordinates"));
                }
            }
        }
        Ok(())
    }

    fn finish(self, mut graph: Graph, lagrangian: NodeId, scope: Option<Arc<Scope>>) -> Result<System> {
        let n = self.coordinates.len();
        if !graph.depends(lagrangian).on(Depends::VELOCITIES) {
            return self.complain("no velocity occurs in the Lagrangian, so nothing determines the motion");
        }
        let motion = match &self.motion {
            None => None,
            Some(motion) => {
                let nodes = match &motion.positions {
                    Positions::Nodes(nodes) => nodes.clone(),
                    Positions::Function(positions) => self.recorded(&mut graph, |inputs, parameters| {
                        positions(&inputs.q, parameters).into_iter().flatten().collect()
                    })?,
                };
                if nodes.len() != 3 * motion.bodies.len() {
                    return self
                        .complain("the number of positions differs from the number of bodies to draw");
                }
                Some(Motion {
                    dimension: motion.dimension,
                    bodies: motion.bodies.clone(),
                    links: motion.links.clone(),
                    sphere: motion.sphere.clone(),
                    unit: motion.unit.clone(),
                    tape: Arc::new(Tape::new(&graph, n, &nodes)),
                })
            }
        };
        graph.set_strict(false);
        let Some(model) = Model::new(graph, n, lagrangian) else {
            return self.complain(format!(
                "the Lagrangian couples more than {MAX_PAIRS} pairs of coordinates; write it so that each coordinate is coupled to few others, or take fewer coordinates"
            ));
        };
        let model = Arc::new(model);
        let rest = Initial {
            q: vec![Quantity::Number(0.0); n],
            start: Start::Velocities(vec![Quantity::Number(0.0); n]),
            t: Quantity::Number(0.0),
        };
        // those of a text know more of its names
        let coordinates = self.coordinates.iter().filter(|_| scope.is_none());
        let names = coordinates.map(|c| (c.name.clone(), Role::Coordinate)).collect();
        let system = System {
            name: self.name,
            title: self.title,
            summary: self.summary,
            catalogued: false,
            time_unit: self.time_unit,
            energy_unit: self.energy_unit,
            sizes: self.sizes,
            coordinates: self.coordinates,
            parameters: self.parameters,
            initial: self.initial.unwrap_or(rest),
            defaults: self.defaults,
            motion,
            typed: model.clone(),
            model,
            scope,
            origin: None,
            definite: false,
            warnings: Vec::new(),
            written: Vec::new(),
            names: Arc::new(names),
        };
        Ok(without_hidden(system))
    }
}

/// `x` for `x[3]`.
fn without_index(name: &str) -> &str {
    let indexed = name.strip_suffix(']').and_then(|name| name.split_once('['));
    match indexed {
        Some((vector, index)) if !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) => vector,
        _ => name,
    }
}

fn initial<Q: Into<Quantity>>(q: impl IntoIterator<Item = Q>, start: Start) -> Initial {
    Initial { q: q.into_iter().map(Into::into).collect(), start, t: Quantity::Number(0.0) }
}
