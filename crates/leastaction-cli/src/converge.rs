//! `leastaction converge`: errors against steps as a table with orders, as JSON, and as a plot.

use crate::arguments::{ConvergeFlags, Format};
use crate::figure::{Figure, with_unit};
use crate::list::{self, Layout};
use crate::progress::{AFTER_THIS_STEP, Interrupt, Progress};
use crate::{Ending, chart, output, print, say};
use leastaction::analysis::{Convergence, Finding, Findings, Measure, Series, Studies, Study};
use leastaction::papers::{Chart, Line, Plot, figure::Style};
use std::collections::BTreeMap;

pub(crate) fn converge(flags: &ConvergeFlags) -> Result<(), Ending> {
    for path in &flags.plot {
        output::check_picture(path)?;
    }
    let study = flags.to_study()?;
    let studies = Studies::new(std::slice::from_ref(&study))?;
    for warning in studies.warnings() {
        say(&format!("warning: {warning}"));
    }
    let interrupt = Interrupt::install(AFTER_THIS_STEP);
    let progress = Progress::new(studies.steps(), 1);
    let all = studies.run(&|steps| {
        progress.advance(steps);
        interrupt.flow()
    });
    progress.finish();
    let Some(findings) = all.first() else { return Ok(()) };
    let report = Convergence::new(&study, findings)?;
    let series = &report.series;
    match flags.format {
        Format::Json => {
            let json = serde_json::to_string_pretty(&report);
            print(&json.map_err(|error| Ending::Failed(error.to_string()))?)?;
        }
        Format::Table => print(&text(&study, findings, series, &list::table))?,
        Format::Markdown => print(&text(&study, findings, series, &list::plain_markdown))?,
    }
    for path in &flags.plot {
        let figure = picture(&study, findings, series).map_err(Ending::Failed)?;
        output::write_picture(path, &figure).map_err(Ending::Failed)?;
        say(&format!("wrote {}", path.display()));
    }
    ending(&study, findings, &interrupt)
}

/// Failed runs are said once each.
fn ending(study: &Study, findings: &Findings, interrupt: &Interrupt) -> Result<(), Ending> {
    if interrupt.flow().is_break() {
        say("interrupted; what is missing is left out");
        return Err(Ending::Interrupted);
    }
    // by method and reason, with the steps
    let mut failures: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for (m, method) in study.methods.iter().enumerate() {
        for k in 0..study.measures.len() {
            for (h, cell) in findings.steps.iter().zip(findings.row(m, k, 0)) {
                if let Finding::Failed(why) = cell {
                    let steps = failures.entry((method, why)).or_default();
                    if !steps.contains(&short(*h)) {
                        steps.push(short(*h));
                    }
                }
            }
        }
    }
    if failures.is_empty() {
        return Ok(());
    }
    let line = |((method, why), steps): ((&str, &str), Vec<String>)| {
        format!("{method}, step {}: {why}", steps.join(", "))
    };
    Err(Ending::Failed(failures.into_iter().map(line).collect::<Vec<_>>().join("\nerror: ")))
}

/// Six digits say enough about a step such as period/200.
fn short(step: f64) -> String {
    format!("{step:.5e}").parse::<f64>().unwrap_or(step).to_string()
}

/// One table a measure: steps downwards, methods with their orders sideways.
fn text(study: &Study, findings: &Findings, series: &[Series], layout: &Layout) -> String {
    let until = findings.until.first().copied().unwrap_or(f64::NAN);
    let mut parts = vec![format!("{} until {until}, compared with {}", study.run.system, findings.reference)];
    for (k, measure) in study.measures.iter().enumerate() {
        let own = &series[k * study.methods.len()..(k + 1) * study.methods.len()];
        let step = with_unit("step", &findings.time_unit);
        let mut header = vec![step.as_str()];
        header.extend(own.iter().flat_map(|s| [s.method.as_str(), "order"]));
        let mut rows: Vec<Vec<String>> =
            findings.steps.iter().enumerate().map(|(i, h)| row(i, *h, own)).collect();
        let mut last = vec!["fitted".to_owned()];
        for s in own {
            let fitted = s.fitted_order.map_or("—".to_owned(), |x| format!("{x:.2}"));
            last.extend([String::new(), fitted]);
        }
        rows.push(last);
        parts.push(format!("{}\n\n{}", measure.title(), layout(&header, &rows)));
    }
    parts.join("\n\n")
}

/// The end time with its unit.
fn until(findings: &Findings) -> String {
    let until = findings.until.first().copied().unwrap_or(f64::NAN);
    format!("{until} {}", findings.time_unit).trim_end().to_owned()
}

fn row(i: usize, step: f64, series: &[Series]) -> Vec<String> {
    let mut cells = vec![short(step)];
    for s in series {
        cells.push(s.errors[i].map_or("failed".to_owned(), |x| format!("{x:.4e}")));
        let order = i.checked_sub(1).and_then(|before| s.pairwise_orders[before]);
        cells.push(order.map_or(String::new(), |x| format!("{x:.2}")));
    }
    cells
}

/// A doubly logarithmic plot for each measure.
fn picture(study: &Study, findings: &Findings, series: &[Series]) -> Result<Figure, String> {
    let plot = |(k, measure): (usize, &Measure)| {
        let own = &series[k * study.methods.len()..(k + 1) * study.methods.len()];
        Plot::Chart(Chart {
            title: String::new(),
            x_label: with_unit("step h", &findings.time_unit),
            y_label: measure.title(),
            log_x: true,
            log_y: true,
            lines: own.iter().map(|s| line(s, &findings.steps)).collect(),
        })
    };
    let plots: Vec<Plot> = study.measures.iter().enumerate().map(plot).collect();
    let title = format!("{}: errors against the step", study.run.system);
    let caption = format!("until t = {}, compared with {}", until(findings), findings.reference);
    chart::figure(title, caption, plots.len(), &plots)
}

fn line(series: &Series, steps: &[f64]) -> Line {
    let pairs = steps.iter().zip(&series.errors);
    Line {
        name: series.method.clone(),
        method: Some(series.method.clone()),
        style: Style::Marked,
        points: pairs.filter_map(|(h, error)| error.map(|e| [*h, e])).collect(),
        order: series.fitted_order.map(|fitted| (fitted, series.order)),
    }
}
