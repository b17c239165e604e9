//! Figures computed together: from data to the points of their curves. Drawing is left to the caller.

use super::figure::{Curve, Figure, Panel, StudyPanel, Style};
use super::samples::{Column, Samples};
use crate::analysis::order::fitted_order;
use crate::analysis::{Findings, Studies, Watch};
use crate::error::{Error, Result};
use crate::method::Method;
use crate::simulate::{Plan, Solution};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A figure, computed.
#[derive(Debug)]
pub struct Drawing {
    /// Such as `000.F2`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What to look at.
    pub caption: String,
    /// Panels beside each other.
    pub columns: usize,
    /// The panels.
    pub plots: Vec<Plot>,
}

/// A panel, computed.
#[derive(Debug)]
pub enum Plot {
    /// Curves on two axes.
    Chart(Chart),
    /// A motion in space.
    Motion(Box<(Plan, Solution)>),
}

/// Curves on two axes.
#[derive(Debug)]
pub struct Chart {
    /// Above it.
    pub title: String,
    /// Label of the horizontal axis.
    pub x_label: String,
    /// Label of the vertical axis.
    pub y_label: String,
    /// The horizontal axis is logarithmic.
    pub log_x: bool,
    /// The vertical axis is logarithmic: sizes are shown.
    pub log_y: bool,
    /// The curves.
    pub lines: Vec<Line>,
}

/// One curve.
#[derive(Debug)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// The method, for its colour.
    pub method: Option<String>,
    /// How it looks.
    pub style: Style,
    /// Its points.
    pub points: Vec<[f64; 2]>,
    /// The order it shows, and the method's own, for errors against steps.
    pub order: Option<(f64, usize)>,
}

/// Figures ready to be computed together.
pub struct Album<'a> {
    figures: Vec<&'a Figure>,
    /// The curves of all figures, with the figure each belongs to.
    curves: Vec<(usize, Prepared)>,
    /// The study panels of all figures: figure and panel.
    places: Vec<(usize, usize)>,
    studies: Studies,
}

/// A curve with its run checked.
struct Prepared {
    curve: Curve,
    plan: Plan,
}

/// Points of a drawn curve; a longer run is recorded only so often.
const MOST_POINTS: u64 = 4000;

impl<'a> Album<'a> {
    /// Checks figures and counts their steps.
    pub fn new(figures: &[&'a Figure]) -> Result<Self> {
        let mut curves = Vec::new();
        let (mut places, mut studies) = (Vec::new(), Vec::new());
        for (f, figure) in figures.iter().enumerate() {
            for curve in &figure.curves {
                curves.push((f, Prepared::new(figure, curve)?));
            }
            for (p, panel) in figure.panels.iter().enumerate() {
                if let Some(study) = &panel.study {
                    places.push((f, p));
                    studies.push(study.study(&figure.run));
                }
            }
        }
        Ok(Self { figures: figures.to_vec(), curves, places, studies: Studies::new(&studies)? })
    }

    /// How many steps there are to take.
    pub fn steps(&self) -> u64 {
        let of_curve = |(_, curve): &(usize, Prepared)| if curve.is_exact() { 0 } else { curve.plan.steps };
        self.studies.steps() + self.curves.iter().map(of_curve).sum::<u64>()
    }

    /// Computes the figures. What was not finished when the watch broke is left out.
    pub fn run(&self, watch: Watch<'_>) -> Result<Vec<Drawing>> {
        let findings = self.studies.run(watch);
        let samples = self.samples(watch)?;
        let mut drawings = Vec::new();
        for (f, figure) in self.figures.iter().enumerate() {
            if watch(0).is_break() {
                break;
            }
            drawings.push(self.drawing(f, figure, &findings, &samples)?);
        }
        Ok(drawings)
    }

    /// All curves, on all cores.
    fn samples(&self, watch: Watch<'_>) -> Result<Vec<Samples>> {
        let next = AtomicUsize::new(0);
        let made: Vec<Mutex<Option<Result<Samples>>>> =
            self.curves.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            while let Some((i, (_, curve))) =
                Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, self.curves.get(i)?)))
            {
                let samples = curve.samples(watch);
                *made[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(samples);
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 1..cores {
                scope.spawn(work);
            }
            work();
        });
        let lost = || Err(Error::BadStudy { message: "a curve was not computed".to_owned() });
        made.into_iter()
            .map(|cell| cell.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(lost))
            .collect()
    }

    fn drawing(
        &self,
        f: usize,
        figure: &Figure,
        findings: &[Findings],
        samples: &[Samples],
    ) -> Result<Drawing> {
        let own: Vec<(&Curve, &Samples)> = self
            .curves
            .iter()
            .zip(samples)
            .filter(|((of, _), _)| *of == f)
            .map(|((_, prepared), samples)| (&prepared.curve, samples))
            .collect();
        let unit = figure.unit_of_time()?;
        let mut plots = Vec::new();
        for (p, panel) in figure.panels.iter().enumerate() {
            plots.push(match (&panel.study, self.places.iter().position(|place| *place == (f, p))) {
                (Some(study), Some(place)) => {
                    Plot::Chart(study_chart(panel, study, &findings[place], figure, unit)?)
                }
                _ if panel.motion => motion(figure, &own)?,
                _ => Plot::Chart(curve_chart(panel, figure, &own, unit)?),
            });
        }
        let Figure { id, title, caption, columns, .. } = figure;
        Ok(Drawing {
            id: id.clone(),
            title: title.clone(),
            caption: caption.clone(),
            columns: *columns,
            plots,
        })
    }
}

impl Prepared {
    fn new(figure: &Figure, curve: &Curve) -> Result<Self> {
        let mut run = curve.run.clone().unwrap_or_else(|| figure.run.clone());
        run.method = curve.method.clone().or(run.method);
        run.step = curve.step.clone().or(run.step);
        run.until = figure.until.clone().or(run.until);
        run.dense = curve.dense;
        run.every = None;
        let steps = run.plan()?.steps;
        run.every = Some(steps.div_ceil(MOST_POINTS).max(1));
        Ok(Self { curve: curve.clone(), plan: run.plan()? })
    }

    fn is_exact(&self) -> bool {
        self.curve.method.is_none()
    }

    fn samples(&self, watch: Watch<'_>) -> Result<Samples> {
        if self.is_exact() {
            return Samples::exact(&self.plan, MOST_POINTS as usize / 2);
        }
        let mut reported = 0;
        let solution = self.plan.simulate_watched(&mut |step| {
            if step.is_multiple_of(64) || step == self.plan.steps {
                let flow = watch(step - reported);
                reported = step;
                return flow;
            }
            std::ops::ControlFlow::Continue(())
        })?;
        Samples::of_run(&self.plan, solution.into_result()?)
    }
}

fn motion(figure: &Figure, curves: &[(&Curve, &Samples)]) -> Result<Plot> {
    let first = curves.first().and_then(|(_, samples)| samples.solution.as_ref().map(|s| (samples, s)));
    let Some((samples, solution)) = first else {
        let message =
            format!("figure {}: a panel that shows a motion needs a curve with a method", figure.id);
        return Err(Error::BadStudy { message });
    };
    Ok(Plot::Motion(Box::new((samples.plan.clone(), solution.clone()))))
}

fn curve_chart(panel: &Panel, figure: &Figure, curves: &[(&Curve, &Samples)], unit: f64) -> Result<Chart> {
    let shown = |name: &str| panel.only.as_ref().is_none_or(|only| only.iter().any(|o| o == name));
    let mut lines = Vec::new();
    for (curve, samples) in curves.iter().filter(|(curve, _)| shown(&curve.name)) {
        let x = samples.column(&Column::parse(&panel.x), curve)?;
        let y = samples.column(&Column::parse(&panel.y), curve)?;
        let scale = if panel.x == "t" { 1.0 / unit } else { 1.0 };
        let size = |y: f64| if panel.log { y.abs() } else { y };
        lines.push(Line {
            name: curve.name.clone(),
            method: curve.method.clone(),
            style: curve.style,
            points: x.into_iter().zip(y).map(|(x, y)| [x * scale, size(y)]).collect(),
            order: None,
        });
    }
    let label = |name: &String, given: &Option<String>| {
        given.clone().unwrap_or_else(|| if name == "t" { figure.time_label() } else { name.clone() })
    };
    Ok(Chart {
        title: panel.title.clone(),
        x_label: label(&panel.x, &panel.x_label),
        y_label: label(&panel.y, &panel.y_label),
        log_x: false,
        log_y: panel.log,
        lines,
    })
}

fn study_chart(
    panel: &Panel,
    study: &StudyPanel,
    findings: &Findings,
    figure: &Figure,
    unit: f64,
) -> Result<Chart> {
    let mut lines = Vec::new();
    for (m, (method, name)) in study.methods.iter().enumerate() {
        if study.over_time() {
            for s in 0..findings.steps.len() {
                let points: Vec<[f64; 2]> = (0..findings.until.len())
                    .map(|u| [findings.until[u] / unit, findings.cell(m, 0, u, s).value()])
                    .collect();
                let step = study.names.get(s).map_or("", String::as_str);
                let printed = study.printed.get(s).map_or(String::new(), |rate| format!(" (printed {rate})"));
                let name = format!("{step}: {}{printed}", growth(&points));
                lines.push(Line { name, method: None, style: Style::Marked, points, order: None });
            }
            continue;
        }
        let found = findings.points(m, 0, 0);
        let order = fitted_order(&found, 0.0);
        let points = found.iter().map(|&(h, error)| [h / unit, error]).collect();
        lines.push(Line {
            name: name.clone(),
            method: Some(method.clone()),
            style: Style::Marked,
            points,
            order: order.zip(Method::named(method).ok().map(|method| method.order)),
        });
    }
    let x_label = if study.over_time() { figure.time_label() } else { "step h".to_owned() };
    Ok(Chart {
        title: panel.title.clone(),
        x_label: panel.x_label.clone().unwrap_or(x_label),
        y_label: panel.y_label.clone().unwrap_or_else(|| study.measure.title()),
        log_x: !study.linear,
        log_y: !study.linear,
        lines,
    })
}

/// A supremum that has changed by less than this part has not changed: rounding does as much in thousands of periods whose steps fall on the same places.
const UNCHANGED: f64 = 1e-5;
/// One that is within this part of its last value has arrived.
const NEARLY: f64 = 1e-2;

/// How a supremum grows with time, in words.
fn growth(points: &[[f64; 2]]) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
    let same = |a: f64, b: f64, part: f64| (a - b).abs() <= part * b;
    let rate = (last[1] - first[1]) / (last[0] - first[0]);
    // at its last value already in the first half of the time
    let early = points.iter().any(|p| p[0] <= 0.5 * last[0] && same(p[1], last[1], NEARLY));
    if same(first[1], last[1], UNCHANGED) {
        "does not grow".to_owned()
    } else if early {
        format!("rises to {:.2e} and stays, {rate:.2e} a period on average", last[1])
    } else {
        format!("grows by {rate:.2e} a period")
    }
}
