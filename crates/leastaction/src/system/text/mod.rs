//! Systems written as text: a TOML file with coordinates and a Lagrangian in formulas.
//!
//! [`System::from_text`] reads such a file, records its formulas into a graph as a Rust function would be recorded, and hands
//! graph and names to the [`Builder`]. What a file says about runs is left to `simulate`. The grammar is
//! described in the book, page "Grammar".

mod check;
mod declare;
mod document;
mod plot;

pub use document::MAX_FILE;
pub(crate) use document::{Document, Item, syntax_error};

use super::build::Recorded;
use super::{Builder, Initial, Quantity, Start, System};
use crate::error::{Diagnostic, Error, Origin, Result, Source};
use crate::expr::{Elsewhere, Graph, NodeId, Role, Scope, Shared, Value};
use declare::{Coordinates, Named};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The keys of a system file, by table; the empty name is the top.
pub(crate) const KEYS: [(&str, &[&str]); 5] = [
    (
        "",
        &[
            "title",
            "summary",
            "time_unit",
            "energy_unit",
            "coordinates",
            "sizes",
            "parameters",
            "definitions",
            "lagrangian",
            "initial",
            "run",
            "outputs",
            "events",
            "ensemble",
            "plot",
        ],
    ),
    ("lagrangian", &["kinetic", "potential", "expression"]),
    ("initial", &["t", "q", "v", "p"]),
    (
        "run",
        &[
            "method",
            "step",
            "tolerance",
            "until",
            "precision",
            "every",
            "dense",
            "accuracy",
            "backend",
            "out",
            "out_events",
            "plot",
            "checkpoint",
            "checkpoint_every",
        ],
    ),
    ("plot", &["bodies", "links", "sphere", "unit"]),
];

impl System {
    /// Reads a system from the text of a file; sizes are taken out of the parameters. `name` is the system's name, and what
    /// errors call the file.
    pub fn from_text(
        name: &str,
        source: &Arc<Source>,
        parameters: &mut BTreeMap<String, Quantity>,
    ) -> Result<System> {
        if source.text.len() > MAX_FILE {
            let title = format!("the file has more than {} MB", MAX_FILE / 1_000_000);
            return Err(Diagnostic::new(source, 0..0, title)
                .help("write repeated terms with sum and list")
                .into());
        }
        let document = Document::new(source)?;
        let names = Arc::new(names(&document));
        Reader { document: &document, name, names }.read(parameters)
    }
}

/// A system file being read.
struct Reader<'a> {
    document: &'a Document<'a>,
    name: &'a str,
    /// What names of the file stand for.
    names: Arc<Elsewhere>,
}

/// The Lagrangian, and where it stands.
struct Lagrangian {
    node: NodeId,
    /// That of the kinetic energy, if it was given as such.
    origin: Origin,
    /// The name of the table, if more than one formula stands in it.
    whole: Origin,
    /// Whether its kinetic energy was given as such.
    kinetic: bool,
    /// Its formulas.
    written: Vec<Shared>,
}

impl Reader<'_> {
    fn read(&self, replaced: &mut BTreeMap<String, Quantity>) -> Result<System> {
        check_keys(self.document)?;
        let mut scope = Scope::default();
        scope.set_elsewhere(Some(self.names.clone()));
        let sizes = self.sizes(replaced)?;
        for size in &sizes {
            scope.set_whole(&size.name, size.value as i64);
        }
        let coordinates = self.coordinates(&mut scope)?;
        let parameters = self.parameters(&mut scope)?;
        let definitions = self.definitions(&mut scope)?;
        self.check_names(&sizes, &coordinates, &parameters, &definitions)?;

        let mut graph = Graph::strict();
        inputs(&mut graph, &mut scope, &coordinates, &parameters);
        for family in &definitions {
            family.define(&mut scope);
        }
        let lagrangian = self.lagrangian(&mut graph, &mut scope)?;
        self.check_occurrence(&graph, &lagrangian, &coordinates)?;
        let motion = self.motion(&mut graph, &mut scope)?;
        if scope.is_waiting() {
            // mistakes in definitions that nothing needs are found on a copy, so that these leave no trace in the graph
            scope.clone().settle_all(&mut graph.clone())?;
        }

        let mut builder = self.heading(&sizes)?;
        for c in &coordinates.list {
            builder = builder.coordinate_with_meaning(&c.name, &c.unit, &c.meaning);
        }
        for p in parameters.iter().flat_map(Named::entries) {
            builder = builder.parameter(&p.0, p.1, p.2, p.3);
        }
        if let Some(motion) = motion {
            builder = builder.recorded_motion(motion);
        }
        builder = self.run(builder)?;
        let recorded = Recorded {
            graph,
            lagrangian: lagrangian.node,
            scope,
            // what is refused as a whole may be due to each part
            origin: lagrangian.whole,
            definite: lagrangian.kinetic,
            warnings: self.warnings(&parameters, &definitions),
            written: lagrangian.written,
            names: self.names.clone(),
        };
        let mut system = builder.finish_recorded(recorded)?;
        system.origin = Some(lagrangian.origin);
        self.initial(&mut system)?;
        self.check_sphere(&system)?;
        Ok(system)
    }

    /// Title, summary, units and sizes.
    fn heading(&self, sizes: &[super::Size]) -> Result<Builder> {
        let d = self.document;
        let text = |key: &str| d.root.get(key).map(|item| d.string(item)).transpose();
        let title = text("title")?.unwrap_or_else(|| self.name.to_owned());
        let mut builder = System::build(self.name, &title).summary(&text("summary")?.unwrap_or_default());
        if let Some(unit) = text("time_unit")? {
            builder = builder.time_unit(&unit);
        }
        if let Some(unit) = text("energy_unit")? {
            builder = builder.energy_unit(&unit);
        }
        Ok(sizes.iter().fold(builder, |builder, s| builder.size(&s.name, s.value, &s.meaning)))
    }

    /// kinetic − potential, or an expression.
    fn lagrangian(&self, graph: &mut Graph, scope: &mut Scope) -> Result<Lagrangian> {
        let d = self.document;
        let end = self.document.source.text.len();
        let Some(table) = d.table("lagrangian")? else {
            return Err(d
                .error(end..end, "the table [lagrangian] is missing")
                .help(
                    "add [lagrangian] with kinetic = \"…\" and potential = \"…\", or with expression = \"…\"",
                )
                .into());
        };
        let mut formulas: BTreeMap<&str, Shared> = BTreeMap::new();
        for (key, item) in table {
            formulas.insert(key.get_ref(), Arc::new(d.formula(item)?));
        }
        let written: Vec<Shared> = formulas.values().cloned().collect();
        scope.check_expansion(&written)?;
        let mut node = |key: &str| match (formulas.get(key), table.get(key)) {
            (Some(formula), Some(item)) => {
                let node = scope.scalar(graph, formula)?;
                Ok::<_, Error>(Some((node, formula.origin.clone(), item.span())))
            }
            _ => Ok(None),
        };
        let kinetic = node("kinetic")?;
        let potential = node("potential")?;
        let expression = node("expression")?;
        let place = |span: std::ops::Range<usize>| Origin::new(d.source.clone(), &[], span);
        let header = d.root.get_key_value("lagrangian").map_or(end..end, |(key, _)| key.span());
        match (kinetic, potential, expression) {
            (None, None, Some((node, origin, span))) => {
                let origin = origin.unwrap_or_else(|| place(span));
                Ok(Lagrangian { node, whole: origin.clone(), origin, kinetic: false, written })
            }
            (Some((kinetic, origin, span)), potential, None) => {
                let origin = origin.unwrap_or_else(|| place(span));
                let (node, whole) = match potential {
                    Some((potential, ..)) => (graph.sub(kinetic, potential), place(header)),
                    None => (kinetic, origin.clone()),
                };
                Ok(Lagrangian { node, origin, whole, kinetic: true, written })
            }
            (None, Some((.., span)), None) => Err(d
                .error(span, "a Lagrangian needs a kinetic energy")
                .help("add kinetic = \"…\", or give all of it as expression = \"…\"")
                .into()),
            (None, None, None) => Err(d
                .error(header, "the Lagrangian is empty")
                .help("add kinetic = \"…\" and potential = \"…\"")
                .into()),
            (_, _, Some((.., span))) => Err(d
                .error(
                    span,
                    "`expression` is all of the Lagrangian, so that `kinetic` and `potential` are too much",
                )
                .help("give kinetic and potential, or expression")
                .into()),
        }
    }

    /// The default run.
    fn run(&self, builder: Builder) -> Result<Builder> {
        let d = self.document;
        let Some(table) = d.table("run")? else { return Ok(builder) };
        let defaults = builder.defaults().clone();
        let method = table.get("method").map(|item| d.string(item)).transpose()?.unwrap_or(defaults.method);
        let step = table.get("step").map(|item| d.quantity(item)).transpose()?.unwrap_or(defaults.step);
        let until = table.get("until").map(|item| d.quantity(item)).transpose()?.unwrap_or(defaults.until);
        Ok(builder.run(&method, step, until))
    }

    /// The initial state: lists, or one formula for all coordinates.
    fn initial(&self, system: &mut System) -> Result<()> {
        let d = self.document;
        let Some(table) = d.table("initial")? else { return Ok(()) };
        let n = system.n();
        let mut formulas = system.formulas(&BTreeMap::new())?;
        let mut list = |key: &str| -> Result<Option<Vec<Quantity>>> {
            let Some(item) = table.get(key) else { return Ok(None) };
            let mut given = d.quantities(item)?;
            // one number is that of every coordinate
            if item.get_ref().as_array().is_none() && !formulas.is_vector(&given[0])? {
                given.push("...".into());
            }
            let all = formulas.expand(&given, n)?;
            if all.len() != n {
                let names: Vec<String> = system.coordinate_names();
                return Err(d
                    .error(
                        item.span(),
                        format!("`{key}` has {}, but there are {}", values(all.len()), of_coordinates(n)),
                    )
                    .label(format!("{} here", values(all.len())))
                    .note(format!("coordinates: {}", super::problem::shortened(&names)))
                    .into());
            }
            Ok(Some(all))
        };
        let zeros = || vec![Quantity::Number(0.0); n];
        let q = list("q")?;
        let start = match (list("v")?, list("p")?) {
            (None, None) => Start::Velocities(zeros()),
            (Some(v), None) => Start::Velocities(v),
            (None, Some(p)) => Start::Momenta(p),
            (Some(_), Some(_)) => {
                let place = |key: &str| table.get_key_value(key).map_or(0..0, |(key, _)| key.span());
                return Err(d
                    .error(place("p"), "the initial state gives both velocities and momenta")
                    .other(place("v"), "velocities here")
                    .help("give v or p, not both")
                    .into());
            }
        };
        let t = table.get("t").map(|item| d.quantity(item)).transpose()?.unwrap_or(Quantity::Number(0.0));
        system.initial = Initial { q: q.unwrap_or_else(zeros), start, t };
        Ok(())
    }
}

/// What the names of a file stand for, before anything of it is understood.
fn names(d: &Document<'_>) -> Elsewhere {
    let mut names = Elsewhere::default();
    let mut add = |text: &str, role| {
        names.entry(text.split('[').next().unwrap_or("").trim().to_owned()).or_insert(role);
    };
    let roles = [
        ("sizes", Role::Size),
        ("parameters", Role::Parameter),
        ("definitions", Role::Definition),
        ("outputs", Role::Output),
    ];
    for item in d.root.get("coordinates").and_then(|item| item.get_ref().as_array()).into_iter().flatten() {
        if let Some(text) = item.get_ref().as_str() {
            add(text, Role::Coordinate);
        }
    }
    for (table, role) in roles {
        for (key, _) in d.root.get(table).and_then(|item| item.get_ref().as_table()).into_iter().flatten() {
            add(key.get_ref(), role);
        }
    }
    names
}

/// What other programs call a key of a table.
fn alias(table: &str, key: &str) -> Option<&'static str> {
    let aliases: &[(&str, &[&str])] = match table {
        "lagrangian" => &[
            ("kinetic", &["T", "K", "kinetic_energy"]),
            ("potential", &["V", "U", "potential_energy"]),
            ("expression", &["L", "lagrangian", "formula"]),
        ],
        "run" => &[
            ("step", &["dt", "h", "timestep", "time_step", "step_size", "stepsize"]),
            ("tolerance", &["tol", "rtol", "eps", "epsilon", "energy_error"]),
            ("until", &["end", "t_end", "tend", "t_max", "tmax", "duration", "stop", "time", "T"]),
            ("method", &["integrator", "solver", "scheme"]),
            ("precision", &["digits"]),
            ("out", &["output", "file", "csv"]),
        ],
        "" => &[
            ("coordinates", &["coords", "variables", "q", "names"]),
            ("parameters", &["constants", "params", "parameter", "const"]),
            ("title", &["name"]),
            ("summary", &["description"]),
            ("run", &["simulation", "simulate", "settings"]),
            ("lagrangian", &["kinetic_energy", "energy", "L"]),
            ("initial", &["initial_state", "initial_conditions", "start", "init"]),
        ],
        _ => &[],
    };
    aliases.iter().find(|(_, others)| others.contains(&key)).map(|(name, _)| *name)
}

/// Complains of unknown keys, and says where they belong.
pub(crate) fn check_keys(d: &Document<'_>) -> Result<()> {
    let elsewhere = |key: &str| {
        if let Some(name) = alias("", key) {
            return Some(format!("it is called `{name}` here"));
        }
        let home = KEYS.iter().find(|(name, keys)| !name.is_empty() && keys.contains(&key))?;
        Some(format!("`{key}` belongs in [{}]", home.0))
    };
    if let Some((key, _)) = d.root.get_key_value("system") {
        return Err(d
            .error(key.span(), "a system file has no key `system`")
            .note("a file with `coordinates` and [lagrangian] defines a system; one with `system` describes a run")
            .help("leave out `system`, or move coordinates and Lagrangian to a file of their own")
            .into());
    }
    d.check_keys(&d.root, "", KEYS[0].1, elsewhere)?;
    for (name, keys) in &KEYS[1..] {
        if let Some(table) = d.table(name)? {
            d.check_keys(table, name, keys, |key| {
                if *name == "initial" {
                    return Some(
                        "give coordinates in their order, as q = […], and velocities v or momenta p"
                            .to_owned(),
                    );
                }
                if let Some(known) = alias(name, key) {
                    return Some(format!("it is called `{known}` here"));
                }
                KEYS[0]
                    .1
                    .contains(&key)
                    .then(|| format!("`{key}` belongs to the top of the file, before the first table"))
                    .or_else(|| elsewhere(key))
            })?;
        }
    }
    for name in ["outputs", "events", "ensemble"] {
        d.table(name)?;
    }
    Ok(())
}

fn values(count: usize) -> String {
    if count == 1 { "1 value".to_owned() } else { format!("{count} values") }
}

fn of_coordinates(count: usize) -> String {
    if count == 1 { "1 coordinate".to_owned() } else { format!("{count} coordinates") }
}

/// Makes the nodes of coordinates, velocities, time and parameters, in the order in which Rust functions get them.
fn inputs(graph: &mut Graph, scope: &mut Scope, coordinates: &Coordinates, parameters: &[Named]) {
    let n = coordinates.list.len();
    let q: Vec<NodeId> = (0..n).map(|i| graph.coordinate(i)).collect();
    let v: Vec<NodeId> = (0..n).map(|i| graph.velocity(i)).collect();
    let time = graph.time();
    scope.set("t", Value::Scalar(time));
    for group in &coordinates.groups {
        let value = |nodes: &[NodeId]| match group.vector {
            false => Value::Scalar(nodes[group.range.start]),
            true => Value::Vector(nodes[group.range.clone()].to_vec()),
        };
        scope.set(&group.name, value(&q));
        scope.set(&format!("v_{}", group.name), value(&v));
        let momentum = format!("p_{}", group.name);
        if !scope.knows(&momentum) {
            scope.refuse(
                &momentum,
                "momenta follow from the Lagrangian: they can be used in [outputs] and [events] only",
            );
        }
    }
    let mut next = 0;
    for parameter in parameters {
        let nodes: Vec<NodeId> = (0..parameter.values.len()).map(|i| graph.parameter(next + i)).collect();
        next += nodes.len();
        let value = if parameter.vector { Value::Vector(nodes) } else { Value::Scalar(nodes[0]) };
        scope.set(&parameter.name, value);
    }
}
