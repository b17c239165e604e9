//! `leastaction show NAME`: everything about a system or a method.

use crate::arguments::{ShowFlags, assignments};
use crate::list::table;
use crate::{Ending, files, print, warn_of_text};
use leastaction::exact;
use leastaction::method::Window;
use leastaction::method::{Flows, Scheme, Tableau};
use leastaction::prelude::*;
use leastaction::system::Description;
use leastaction::system::catalogue::ENTRIES;
use serde::Serialize;

pub(crate) fn show(flags: &ShowFlags) -> Result<(), Ending> {
    if ENTRIES.iter().any(|entry| entry.name == flags.name) || files::is_file(&flags.name) {
        return show_system(flags);
    }
    match (Method::named(&flags.name), catalogue::system(&flags.name)) {
        (Ok(_), _) if !flags.set.is_empty() => {
            Err(Ending::BadInput(format!("`{}` is a method and has no parameters for --set", flags.name)))
        }
        (Ok(_), _) if flags.json => {
            Err(Ending::BadInput(format!("`{}` is a method; --json prints systems", flags.name)))
        }
        (Ok(method), _) => show_method(&method),
        // a name that is near to a method is taken for one, anything else for a system
        (Err(method_error), Err(system_error)) => {
            let near_method = matches!(&method_error, Error::UnknownMethod { hint, .. } if !hint.is_empty());
            let near_system = matches!(&system_error, Error::UnknownSystem { hint, .. } if !hint.is_empty());
            Err(if near_method && !near_system { method_error } else { system_error }.into())
        }
        (Err(error), Ok(_)) => Err(error.into()),
    }
}

/// Entries of a list in JSON.
const MOST_ENTRIES: usize = 1000;

/// What closed forms are known.
#[derive(Default, Serialize)]
struct ClosedForm {
    /// Coordinates whose exact motion is known.
    exact: Vec<String>,
    /// The period of the motion.
    period: Option<f64>,
}

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    description: Description,
    closed_form: ClosedForm,
}

/// Prints all about a system, with parameters replaced.
fn show_system(flags: &ShowFlags) -> Result<(), Ending> {
    let mut run = files::run(&flags.name)?;
    run.parameters.extend(assignments(&flags.set)?);
    let (mut system, run) = run.resolve()?;
    warn_of_text(&system);
    let settings = Settings { parameters: run.parameters, ..Settings::default() };
    let problem: Problem<f64> = system.problem(&settings)?;
    for (name, value) in system.entries_of_vectors(&settings.parameters)? {
        system.parameters.iter_mut().filter(|own| own.name == name).for_each(|own| own.value = value.clone());
    }
    let name = |i: &usize| system.coordinates[*i].name.clone();
    let exact = exact::solution(&problem).map(|known| known.coordinates.iter().map(name).collect());
    let closed_form = ClosedForm { exact: exact.unwrap_or_default(), period: exact::period(&problem) };
    if flags.json {
        let shown = Shown { description: system.describe(MOST_ENTRIES), closed_form };
        let text = serde_json::to_string_pretty(&shown);
        return print(&text.map_err(|error| Ending::Failed(error.to_string()))?);
    }
    let mut text = system.to_string();
    if !closed_form.exact.is_empty() || closed_form.period.is_some() {
        text += "\nclosed form\n";
    }
    if !closed_form.exact.is_empty() {
        text += &format!("  exact solution known for {}\n", closed_form.exact.join(", "));
    }
    if let Some(period) = closed_form.period {
        text += format!("  period {period} {}", system.time_unit).trim_end();
    }
    print(text.trim_end())
}

fn show_method(method: &Method) -> Result<(), Ending> {
    let mut text = format!(
        "{}, order {}\n  {}\n  {}\n",
        method.name,
        method.order,
        method.description(),
        method.reference
    );
    if !method.aliases.is_empty() {
        text += &format!("  also called {}\n", method.aliases.join(", "));
    }
    text += &format!("  {}\n", stability(method)?);
    if let Scheme::Galerkin(galerkin) = method.scheme {
        let tableau = Tableau::<f64>::new(&galerkin);
        let rows: Vec<Vec<String>> =
            tableau.d.iter().zip(&tableau.b).map(|(d, b)| vec![d.to_string(), b.to_string()]).collect();
        text += &format!("\n{}", table(&["point", "weight"], &rows));
    } else if let Scheme::Splitting(splitting) = method.scheme {
        let flows = Flows::<f64>::new(&splitting);
        let drifts = flows.drifts.iter().map(f64::to_string).chain([String::new()]);
        let rows: Vec<Vec<String>> =
            flows.kicks.iter().zip(drifts).map(|(kick, drift)| vec![kick.to_string(), drift]).collect();
        text += &format!("\n{}", table(&["kick", "then drift"], &rows));
    } else {
        text += "  explicit; conserves neither the symplectic form nor, in the long run, the energy";
    }
    print(text.trim_end())
}

/// For which steps oscillations stay bounded, in words.
fn stability(method: &Method) -> Result<String, Ending> {
    let windows = method.stable_windows()?;
    if windows.first().is_some_and(|window| window.to.is_infinite()) {
        return Ok("stable for every step".to_owned());
    }
    // windows whose gap does not show in the digits printed are named as one, and the gap is
    let mut shown: Vec<(f64, f64)> = Vec::new();
    let mut narrow = 0;
    for window in &windows {
        match shown.last_mut() {
            Some(last) if window.from - last.1 < 1e-6 => {
                last.1 = window.to;
                narrow += 1;
            }
            _ => shown.push((window.from, window.to)),
        }
    }
    // beyond the first few they are of no use
    let more = if shown.len() > 5 { " and in narrower ranges beyond" } else { "" };
    let text: Vec<String> =
        shown.iter().take(5).map(|(from, to)| Window { from: *from, to: *to }.to_string()).collect();
    let gaps = match narrow {
        0 => String::new(),
        1 => ", but for a gap narrower than 1e-6".to_owned(),
        count => format!(", but for {count} gaps narrower than 1e-6"),
    };
    Ok(format!("keeps an oscillation of frequency ω bounded for ωh from {}{more}{gaps}", text.join(", ")))
}
