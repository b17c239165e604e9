//! Runs and systems as files.
//!
//! A run file names a system and what differs from its defaults, in tables `[run]`, `[initial]`, `[parameters]`, `[outputs]`,
//! `[events]` and `[ensemble]`; a system file has the same tables beside coordinates and Lagrangian. [`Run::read`] reads either. The library
//! reads no files: it is given their text.

use super::ensemble::{self, Ensemble};
use super::numbers::MAX_DIGITS;
use super::plan::MAX_DENSE;
use super::run::InitialState;
use super::{Event, Interval, Run};
use crate::error::{Diagnostic, Error, Result, Source, nearest};
use crate::expr::{Backend, Formula, Kind, LoopKind};
use crate::method::Method;
use crate::system::Quantity;
use crate::system::text::{self, Document, Item, KEYS, syntax_error};
use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// The keys at the top of a run file.
const TOP: [&str; 8] =
    ["system", "definition", "run", "initial", "parameters", "outputs", "events", "ensemble"];

/// The text of a system file.
#[derive(Clone, Debug)]
pub struct Definition(Arc<Source>);

impl Definition {
    /// The text of a file, and its name for error messages.
    pub fn new(source: &Arc<Source>) -> Self {
        Self(source.clone())
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The text with a name; one that has none gets that of the system.
    pub(crate) fn source(&self, system: &str) -> Arc<Source> {
        match self.0.name.is_empty() {
            true => Source::new(format!("{system}.toml"), self.0.text.clone()),
            false => self.0.clone(),
        }
    }
}

impl From<&str> for Definition {
    fn from(text: &str) -> Self {
        Self(Source::new("", text))
    }
}

/// The same text, whatever the file is called.
impl PartialEq for Definition {
    fn eq(&self, other: &Self) -> bool {
        self.0.text == other.0.text
    }
}

impl Serialize for Definition {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.text)
    }
}

impl<'de> Deserialize<'de> for Definition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Ok(Self::from(String::deserialize(deserializer)?.as_str()))
    }
}

/// A run as it stands in a file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunFile {
    #[serde(default)]
    system: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<Definition>,
    #[serde(default, skip_serializing_if = "RunTable::is_empty")]
    run: RunTable,
    #[serde(default, skip_serializing_if = "InitialTable::is_empty")]
    initial: InitialTable,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<String, Nested>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    outputs: IndexMap<String, Quantity>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    events: IndexMap<String, Event>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ensemble: Option<Ensemble>,
}

/// What a system file says about runs.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PartOfSystem {
    run: RunTable,
    outputs: IndexMap<String, Quantity>,
    events: IndexMap<String, Event>,
    ensemble: Option<Ensemble>,
}

/// The table `[run]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunTable {
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Quantity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerance: Option<Quantity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Quantity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    precision: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backend: Option<Backend>,
    #[serde(skip_serializing_if = "Option::is_none")]
    every: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dense: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<bool>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "files")]
    out: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "files")]
    out_events: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "files")]
    plot: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint_every: Option<Interval>,
}

impl RunTable {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The table `[initial]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct InitialTable {
    #[serde(skip_serializing_if = "Option::is_none")]
    t: Option<Quantity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    q: Option<Nested>,
    #[serde(skip_serializing_if = "Option::is_none")]
    v: Option<Nested>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<Nested>,
}

impl InitialTable {
    fn is_empty(&self) -> bool {
        self.t.is_none() && self.q.is_none() && self.v.is_none() && self.p.is_none()
    }
}

/// A quantity, or a list of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number, a formula in quotes, or a list of them")]
enum Nested {
    One(Quantity),
    Many(Vec<Nested>),
}

impl Nested {
    fn flat(self, list: &mut Vec<Quantity>) {
        match self {
            Self::One(quantity) => list.push(quantity),
            Self::Many(parts) => parts.into_iter().for_each(|part| part.flat(list)),
        }
    }

    /// A list; a number that stands alone is repeated.
    fn list(self) -> Vec<Quantity> {
        let alone = matches!(self, Self::One(_));
        let mut list = Vec::new();
        self.flat(&mut list);
        if alone && !list.first().is_some_and(is_list) {
            list.push("...".into());
        }
        list
    }
}

/// Whether a formula says that it is a list.
fn is_list(quantity: &Quantity) -> bool {
    match Formula::new(&quantity.to_string()).map(|formula| formula.ast.kind) {
        Ok(Kind::Vector(_)) => true,
        Ok(Kind::Loop(l)) => l.kind == LoopKind::List,
        _ => false,
    }
}

/// One file or a list of them.
fn files<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a file name or a list of them")]
    enum Files {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Files::deserialize(deserializer)? {
        Files::One(file) => vec![file],
        Files::Many(files) => files,
    })
}

impl From<RunFile> for Run {
    fn from(file: RunFile) -> Self {
        let RunFile { system, definition, run, initial, parameters, outputs, events, ensemble } = file;
        let mut named = BTreeMap::new();
        for (name, value) in parameters {
            match value {
                Nested::One(quantity) => {
                    named.insert(name, quantity);
                }
                many @ Nested::Many(_) => {
                    let entries = many.list().into_iter().enumerate();
                    named.extend(entries.map(|(i, quantity)| (format!("{name}[{}]", i + 1), quantity)));
                }
            }
        }
        let RunTable {
            method,
            step,
            tolerance,
            until,
            precision,
            backend,
            every,
            dense,
            accuracy,
            out,
            out_events,
            plot,
            checkpoint,
            checkpoint_every,
        } = run;
        let list = |nested: Option<Nested>| nested.map(Nested::list);
        let initial =
            InitialState { t: initial.t, q: list(initial.q), v: list(initial.v), p: list(initial.p) };
        Self {
            system,
            definition,
            method,
            step,
            tolerance,
            until,
            precision,
            backend,
            every,
            dense,
            accuracy,
            out,
            out_events,
            plot,
            checkpoint,
            checkpoint_every,
            initial,
            parameters: named,
            outputs,
            events,
            ensemble,
        }
    }
}

impl From<Run> for RunFile {
    fn from(run: Run) -> Self {
        let Run {
            system,
            definition,
            method,
            step,
            tolerance,
            until,
            precision,
            backend,
            every,
            dense,
            accuracy,
            out,
            out_events,
            plot,
            checkpoint,
            checkpoint_every,
            ..
        } = run;
        let many = |list: Vec<Quantity>| Nested::Many(list.into_iter().map(Nested::One).collect());
        let initial = InitialTable {
            t: run.initial.t,
            q: run.initial.q.map(many),
            v: run.initial.v.map(many),
            p: run.initial.p.map(many),
        };
        Self {
            system,
            definition,
            run: RunTable {
                method,
                step,
                tolerance,
                until,
                precision,
                backend,
                every,
                dense,
                accuracy,
                out,
                out_events,
                plot,
                checkpoint,
                checkpoint_every,
            },
            initial,
            parameters: run.parameters.into_iter().map(|(name, x)| (name, Nested::One(x))).collect(),
            outputs: run.outputs,
            events: run.events,
            ensemble: run.ensemble,
        }
    }
}

impl Run {
    /// Reads a run from TOML. Unknown keys are errors.
    pub fn from_toml(text: &str) -> Result<Self> {
        Self::read("run", &Source::new("run", text))
    }

    /// Reads a run file, or a system file as the default run of its system, which gets the name given.
    pub fn read(name: &str, source: &Arc<Source>) -> Result<Self> {
        let document = Document::new(source)?;
        let has = |key: &str| document.root.contains_key(key);
        if !has("system") && (has("coordinates") || has("lagrangian")) {
            return Self::of_definition(name, source);
        }
        check_keys(&document)?;
        check_values(&document)?;
        let file: RunFile = toml::from_str(&source.text).map_err(|error| syntax_error(source, &error))?;
        let mut run = Self::from(file);
        run.place(&document)?;
        Ok(run)
    }

    /// The default run of the system that a text defines: its definition, and what its file says about runs beyond method, step
    /// and end, which are the system's own. Method and step beside a tolerance are the run's.
    pub fn of_definition(name: &str, source: &Arc<Source>) -> Result<Self> {
        let document = Document::new(source)?;
        text::check_keys(&document)?;
        check_values(&document)?;
        let file: PartOfSystem =
            toml::from_str(&source.text).map_err(|error| syntax_error(source, &error))?;
        let PartOfSystem { run, outputs, events, ensemble } = file;
        // beside a tolerance it matters whether they are in the file
        let (method, step) = if run.tolerance.is_some() { (run.method, run.step) } else { (None, None) };
        let run = RunTable { method, step, until: None, ..run };
        let (system, definition) = (name.to_owned(), Some(Definition::new(source)));
        let rest = RunFile::default();
        let mut run = Self::from(RunFile { system, definition, run, outputs, events, ensemble, ..rest });
        if run.tolerance.is_some() {
            let table = document.table("run")?;
            run.step = placed(&document, table, "step")?;
            run.tolerance = placed(&document, table, "tolerance")?;
        }
        run.place_observed(&document)?;
        Ok(run)
    }

    /// An error about the system that a run file names, shown where it is named.
    pub fn locate_system(source: &Arc<Source>, error: Error) -> Error {
        let message = error.to_string();
        let (title, help) = match &error {
            Error::UnknownSystem { name, hint } => (
                format!("unknown system `{name}`{hint}"),
                "`leastaction systems` lists them; a file is named with its ending, `mine.toml`".to_owned(),
            ),
            _ => {
                let (title, help) = message.split_once('\n').unwrap_or((&message, ""));
                (title.to_owned(), help.trim().to_owned())
            }
        };
        let Ok(document) = Document::new(source) else { return error };
        let Some(item) = document.root.get("system") else { return error };
        let located = Diagnostic::new(source, item.span(), title);
        if help.is_empty() { located.into() } else { located.help(help).into() }
    }

    /// This run with what it leaves open taken from another one of the same system.
    #[must_use]
    pub fn over(self, base: Self) -> Self {
        let mut outputs = base.outputs;
        outputs.extend(self.outputs);
        let mut events = base.events;
        events.extend(self.events);
        let mut parameters = base.parameters;
        parameters.extend(self.parameters);
        let or = |own: Vec<String>, other: Vec<String>| if own.is_empty() { other } else { own };
        // an own tolerance is asked for instead of the other's method and step
        let (method, step) = if self.tolerance.is_some() { (None, None) } else { (base.method, base.step) };
        Self {
            system: base.system,
            definition: base.definition,
            method: self.method.or(method),
            step: self.step.or(step),
            tolerance: self.tolerance.or(base.tolerance),
            until: self.until.or(base.until),
            precision: self.precision.or(base.precision),
            backend: self.backend.or(base.backend),
            every: self.every.or(base.every),
            dense: self.dense.or(base.dense),
            accuracy: self.accuracy.or(base.accuracy),
            out: or(self.out, base.out),
            out_events: or(self.out_events, base.out_events),
            plot: or(self.plot, base.plot),
            checkpoint: self.checkpoint.or(base.checkpoint),
            checkpoint_every: self.checkpoint_every.or(base.checkpoint_every),
            initial: self.initial,
            parameters,
            outputs,
            events,
            ensemble: self.ensemble.or(base.ensemble),
        }
    }

    /// Writes the run as TOML, a definition as lines of text.
    pub fn to_toml(&self) -> Result<String> {
        let bare = Self { definition: None, ..self.clone() };
        let text = toml::to_string(&bare).map_err(|error| Error::BadRun { message: error.to_string() })?;
        let Some(definition) = &self.definition else { return Ok(text) };
        let plain = |c: char| c == '\n' || c == '\t' || !c.is_control();
        let literal = if definition.text().contains("'''") || !definition.text().chars().all(plain) {
            toml::Value::String(definition.text().to_owned()).to_string()
        } else {
            format!("'''\n{}'''", definition.text())
        };
        let (first, rest) = text.split_once('\n').unwrap_or((text.as_str(), ""));
        Ok(format!("{first}\ndefinition = {literal}\n{rest}"))
    }

    /// Notes where formulas were written, for errors that are found later.
    fn place(&mut self, document: &Document<'_>) -> Result<()> {
        let run = document.table("run")?;
        self.step = placed(document, run, "step")?;
        self.tolerance = placed(document, run, "tolerance")?;
        self.until = placed(document, run, "until")?;
        let initial = document.table("initial")?;
        self.initial.t = placed(document, initial, "t")?;
        let lists = [("q", &mut self.initial.q), ("v", &mut self.initial.v), ("p", &mut self.initial.p)];
        for (key, list) in lists {
            if let (Some(list), Some(item)) = (list, initial.and_then(|table| table.get(key))) {
                // a value that stands alone was completed by `...`
                for (old, new) in list.iter_mut().zip(document.quantities(item)?) {
                    *old = new;
                }
            }
        }
        for (key, item) in document.table("parameters")?.into_iter().flatten() {
            let key = key.get_ref();
            match item.get_ref().as_array() {
                None => {
                    self.parameters.insert(key.to_string(), document.quantity(item)?);
                }
                Some(_) => {
                    for (i, new) in document.quantities(item)?.into_iter().enumerate() {
                        self.parameters.insert(format!("{key}[{}]", i + 1), new);
                    }
                }
            }
        }
        self.place_observed(document)
    }

    /// The same for outputs, events and what varies.
    fn place_observed(&mut self, document: &Document<'_>) -> Result<()> {
        self.ensemble = ensemble::text::read(document)?;
        for (key, item) in document.table("outputs")?.into_iter().flatten() {
            if let Some(output) = self.outputs.get_mut(key.get_ref().as_ref()) {
                *output = document.quantity(item)?;
            }
        }
        for (key, item) in document.table("events")?.into_iter().flatten() {
            if let Some(event) = self.events.get_mut(key.get_ref().as_ref()) {
                let of = item.get_ref().as_table().and_then(|table| table.get("of")).unwrap_or(item);
                event.of = document.quantity(of)?;
            }
        }
        Ok(())
    }
}

/// A formula with the place where it was written.
fn placed(document: &Document<'_>, table: Option<&DeTable<'_>>, key: &str) -> Result<Option<Quantity>> {
    table.and_then(|table| table.get(key)).map(|item| document.quantity(item)).transpose()
}

/// Complains of unknown keys, and says where they belong.
fn check_keys(document: &Document<'_>) -> Result<()> {
    let run_keys = KEYS.iter().find(|(name, _)| *name == "run").map_or(&[] as &[&str], |(_, keys)| keys);
    document.check_keys(&document.root, "", &TOP, |key| {
        if run_keys.contains(&key) {
            Some(format!("move `{key}` under [run]"))
        } else if matches!(key, "q" | "v" | "p" | "t") {
            Some(format!("move `{key}` under [initial]"))
        } else if KEYS[0].1.contains(&key) {
            Some(format!(
                "`{key}` belongs to a file that defines a system, with `coordinates` and [lagrangian]"
            ))
        } else {
            None
        }
    })?;
    for (name, keys) in KEYS.iter().filter(|(name, _)| matches!(*name, "run" | "initial")) {
        if let Some(table) = document.table(name)? {
            document.check_keys(table, name, keys, |_| None)?;
        }
    }
    for name in ["parameters", "outputs", "events", "ensemble"] {
        document.table(name)?;
    }
    if !document.root.contains_key("system") {
        return Err(Diagnostic::new(
            document.source,
            0..0,
            "neither a run nor a system: `system` and `coordinates` are missing",
        )
        .help("name a system: system = \"double-pendulum\", or define one with coordinates and [lagrangian]")
        .into());
    }
    Ok(())
}

/// Checks what can be checked without a system, so that what is read afterwards cannot fail: kinds of values, the name of the
/// method, numbers of digits and points.
fn check_values(document: &Document<'_>) -> Result<()> {
    for key in ["system", "definition"] {
        document.root.get(key).map(|item| document.string(item)).transpose()?;
    }
    if let Some(table) = document.table("run")? {
        check_run(document, table)?;
    }
    // a system file reads its own parameters and initial state
    if document.root.contains_key("system") {
        for table in ["initial", "parameters"] {
            for (_, item) in document.table(table)?.into_iter().flatten() {
                document.quantities(item)?;
            }
        }
        if let Some(item) = document.table("initial")?.and_then(|table| table.get("t")) {
            document.quantity(item)?;
        }
    }
    for (_, item) in document.table("outputs")?.into_iter().flatten() {
        document.quantity(item)?;
    }
    for (key, item) in document.table("events")?.into_iter().flatten() {
        check_event(document, key.get_ref(), item)?;
    }
    ensemble::text::read(document)?;
    Ok(())
}

fn check_run(document: &Document<'_>, table: &DeTable<'_>) -> Result<()> {
    for (key, least, most) in
        [("precision", 1, MAX_DIGITS as i64), ("dense", 1, MAX_DENSE as i64), ("every", 0, i64::MAX)]
    {
        if let Some(item) = table.get(key) {
            let words = match most {
                i64::MAX => format!("`{key}` must be a whole number, {least} or more"),
                _ => format!("`{key}` must be a whole number from {least} to {most}"),
            };
            check_whole(document, item, least..=most, &words)?;
        }
    }
    for key in ["step", "tolerance", "until"] {
        table.get(key).map(|item| document.quantity(item)).transpose()?;
    }
    if let Some(item) = table.get("backend") {
        check_word(document, item, "backend", &["native", "interpreter"])?;
    }
    table.get("checkpoint").map(|item| document.string(item)).transpose()?;
    if let Some(item) = table.get("checkpoint_every") {
        let read = |text: String| text.parse::<Interval>().err();
        if let Some(message) = read(document.string(item)?) {
            return Err(document.error(item.span(), message).into());
        }
    }
    for key in ["out", "out_events", "plot"] {
        let Some(item) = table.get(key) else { continue };
        let files: Vec<&Item<'_>> = match item.get_ref() {
            DeValue::Array(list) => list.iter().collect(),
            _ => vec![item],
        };
        let example = if key == "plot" { "result.svg" } else { "result.csv" };
        let expected = format!("a file name or a list of them: {key} = \"{example}\"");
        if let Some(wrong) = files.into_iter().find(|file| file.get_ref().as_str().is_none()) {
            return Err(document.wrong_type(wrong, &expected).into());
        }
    }
    let Some(item) = table.get("method") else { return Ok(()) };
    match Method::named(&document.string(item)?) {
        Err(Error::UnknownMethod { name, hint }) => {
            Err(Diagnostic::new(document.source, item.span(), format!("unknown method `{name}`{hint}"))
                .help("`leastaction methods` lists them")
                .into())
        }
        other => other.map(|_| ()),
    }
}

/// An event is a formula, or a table with a formula.
fn check_event(document: &Document<'_>, name: &str, item: &Item<'_>) -> Result<()> {
    let expected = "a formula in quotes, or a table with `of`, `direction` and `stop`";
    let example = format!("{name} = {{ of = \"x\", direction = \"rising\", stop = 10 }}");
    let table = match item.get_ref() {
        DeValue::String(_) => return document.quantity(item).map(|_| ()),
        DeValue::Table(table) => table,
        _ => return Err(document.wrong_type(item, expected).help(example).into()),
    };
    document.check_keys(table, &format!("events.{name}"), &["of", "direction", "stop"], |_| None)?;
    let Some(of) = table.get("of") else {
        let title = format!("the event `{name}` has no formula");
        return Err(document.error(item.span(), title).label("`of` is missing").help(example).into());
    };
    document.quantity(of)?;
    if let Some(item) = table.get("direction") {
        check_word(document, item, "direction", &["rising", "falling", "both"])?;
    }
    match table.get("stop") {
        None => Ok(()),
        Some(item) => {
            let words =
                "`stop` must be a whole number, 1 or more: how often the event happens before the run ends";
            check_whole(document, item, 1..=i64::MAX, words).map(|_| ())
        }
    }
}

/// A value that must be a whole number.
pub(super) fn check_whole(
    document: &Document<'_>,
    item: &Item<'_>,
    range: std::ops::RangeInclusive<i64>,
    words: &str,
) -> Result<i64> {
    let number = item
        .get_ref()
        .as_integer()
        .and_then(|i| i64::from_str_radix(&i.as_str().replace('_', ""), i.radix()).ok());
    match (number, item.get_ref()) {
        (Some(x), _) if range.contains(&x) => Ok(x),
        (_, DeValue::Integer(_) | DeValue::Float(_)) => Err(document.error(item.span(), words).into()),
        _ => {
            let found = document.wrong_type(item, "").label;
            Err(document.error(item.span(), words).label(found).into())
        }
    }
}

/// A value that must be one of some words.
fn check_word(document: &Document<'_>, item: &Item<'_>, key: &str, known: &[&str]) -> Result<()> {
    let quoted: Vec<String> = known.iter().map(|word| format!("\"{word}\"")).collect();
    let expected = format!("`{key}` is {}", quoted.join(" or "));
    match item.get_ref().as_str() {
        Some(word) if known.contains(&word) => Ok(()),
        Some(word) => {
            let title = format!("{expected}, not \"{word}\"{}", nearest(word, known.iter().copied()));
            Err(document.error(item.span(), title).into())
        }
        None => Err(document.error(item.span(), expected).label(document.wrong_type(item, "").label).into()),
    }
}
