//! Poincaré sections: where motions pass through a surface, as points in a plane.
//!
//! A [`Section`] is a run with an event, two formulas for the axes, and what distinguishes the starts of several motions: values of
//! parameters or of parts of the initial state, in all combinations, if wanted with one momentum adjusted so that all have the
//! same energy. [`SectionPlan`] is checked and runs on all cores; the motions come out in the order of their starts.

use super::starts::{give_energy, replace};
use super::structure::Random;
use super::studies::Watch;
use crate::error::{Error, Origin, Result, Source, nearest};
use crate::simulate::{Outcome, Plan, Run, Summary};
use crate::system::{Gradient, Problem, Quantity, System};
use std::f64::consts::TAU;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Steps between reports to whoever watches.
const REPORT: u64 = 256;
/// Names of the outputs that carry the axes.
const AXES: [&str; 2] = ["section_x", "section_y"];
/// An angle is seen at so many states, and gradients are the same to this part of them.
const STATES: usize = 8;
const SAME: f64 = 1e-9;
/// More starts than this are refused.
const MOST: usize = 100_000;

/// Values of one name, each a start of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Vary {
    /// A parameter, a coordinate, or the velocity or momentum of one.
    pub name: String,
    /// Its values.
    pub values: Vec<Quantity>,
}

/// A section as data.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The run, with its events.
    pub run: Run,
    /// The event that is the section; may be left out if there is one only.
    pub event: Option<String>,
    /// Formula of the horizontal axis; by default the first coordinate that the event does not name.
    pub x: Option<String>,
    /// Formula of the vertical axis; by default the momentum of that coordinate.
    pub y: Option<String>,
    /// The pictures to be drawn beside each other, if there are several.
    pub panels: Option<Vary>,
    /// What distinguishes the starts, in all combinations.
    pub vary: Vec<Vary>,
    /// The coordinate whose momentum is adjusted to give every start of a panel the energy of the run.
    pub same_energy: Option<String>,
    /// So many points are wanted of each motion.
    pub points: Option<u64>,
}

/// A checked section.
#[derive(Clone, Debug)]
pub struct SectionPlan {
    /// The run itself, nothing varied.
    pub base: Plan,
    /// The event that is the section.
    pub event: String,
    /// Formulas of the axes.
    pub axes: [String; 2],
    /// Whether an axis is an angle: a coordinate that comes back to the same place after 2π.
    pub angles: [bool; 2],
    /// Names of what is varied, that of the panels first.
    pub names: Vec<String>,
    /// How many panels there are; the starts of a panel follow each other.
    pub panels: usize,
    /// The motions.
    pub starts: Vec<SectionStart>,
    /// Starts that do not exist, by their values, and why.
    pub left_out: Vec<(Vec<Quantity>, String)>,
}

/// One motion before it moves.
#[derive(Clone, Debug)]
pub struct SectionStart {
    /// Its panel, counted from 0.
    pub panel: usize,
    /// What is varied, in the order of the names.
    pub values: Vec<Quantity>,
    /// Its run.
    pub plan: Plan,
}

/// One motion as points of the section.
#[derive(Clone, Debug)]
pub struct Orbit {
    /// Times.
    pub t: Vec<f64>,
    /// Points of the plane.
    pub points: Vec<[f64; 2]>,
    /// Outputs of the run at each point, a row after the other.
    pub outputs: Vec<f64>,
    /// The numbers of its run.
    pub summary: Summary,
    /// How its run ended.
    pub outcome: Outcome,
}

impl Section {
    /// Checks the section of the run's own system.
    pub fn plan(&self) -> Result<SectionPlan> {
        let (system, run) = self.run.resolve()?;
        Self { run, ..self.clone() }.plan_for(&system)
    }

    /// Checks the section of a system given as such.
    pub fn plan_for(&self, system: &System) -> Result<SectionPlan> {
        if self.points == Some(0) {
            return Err(Error::ZeroCount { what: "points".to_owned() });
        }
        let event = self.event_name()?;
        let axes = self.axes(system, &event);
        let mut run = Run { every: Some(0), ..self.run.clone() };
        for (name, formula) in AXES.iter().zip(&axes) {
            let axis = name.replace("section_", "the axis ");
            let origin = Origin::part(Source::new(axis, formula.as_str()), 0, formula.len());
            run.outputs.insert((*name).to_owned(), Quantity::written(formula, &origin));
        }
        self.set_length(&mut run, &event, system);
        let named = |error: Error| match error {
            Error::BadQuantity { what, message } => {
                let what = what.replace("output `section_", "the axis `");
                Error::BadQuantity { what, message }
            }
            other => other,
        };
        let base = run.plan_for(system).map_err(named)?;
        let names = self.panels.iter().chain(&self.vary).map(|vary| vary.name.clone()).collect();
        let panels = self.panels.as_ref().map_or(1, |vary| vary.values.len());
        let (starts, left_out) = (Vec::new(), Vec::new());
        let angles = axes.each_ref().map(|axis| {
            system
                .coordinates
                .iter()
                .position(|c| c.name == *axis)
                .is_some_and(|i| is_angle(&base.problem, i))
        });
        let mut plan = SectionPlan { base, event, axes, angles, names, panels, starts, left_out };
        self.add_starts(system, &run, &mut plan)?;
        if let (true, Some((_, why))) = (plan.starts.is_empty(), plan.left_out.first()) {
            let message = format!("there is nowhere to start: {why}\n  try other values");
            return Err(Error::BadStudy { message });
        }
        Ok(plan)
    }

    /// The one event, or the one that was asked for.
    fn event_name(&self) -> Result<String> {
        let events = &self.run.events;
        let list = || events.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let message = match &self.event {
            Some(name) if events.contains_key(name) => return Ok(name.clone()),
            Some(name) => {
                let hint = nearest(name, events.keys().map(String::as_str));
                format!("there is no event `{name}`{hint}\n  the events: {}", list())
            }
            None if events.len() == 1 => return Ok(list()),
            None if events.is_empty() => {
                "a section needs an event: the formula that is zero on it\n  try --event \
                 section=FORMULA:rising, or [events] in the file"
                    .to_owned()
            }
            None => format!(
                "there are several events: {}\n  say which one is the section, with --on NAME",
                list()
            ),
        };
        Err(Error::BadStudy { message })
    }

    /// The axes: as given, or the first coordinate that the event does not name, and its momentum.
    fn axes(&self, system: &System, event: &str) -> [String; 2] {
        let formula = self.run.events[event].of.to_string();
        let words: Vec<&str> = formula.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
        let free = system.coordinates.iter().find(|c| !words.contains(&c.name.as_str()));
        let name = free.or(system.coordinates.first()).map_or("t", |c| c.name.as_str());
        let x = self.x.clone().unwrap_or_else(|| name.to_owned());
        let y = self.y.clone().unwrap_or_else(|| format!("p_{name}"));
        [x, y]
    }

    /// Ends each motion when it has enough points, or, if no end was given, as many default runs later.
    fn set_length(&self, run: &mut Run, event: &str, system: &System) {
        let Some(points) = self.points else { return };
        run.events[event].stop = Some(points);
        if run.until.is_none() {
            run.until = Some(Quantity::from(format!("{points}*({})", system.defaults.until).as_str()));
        }
    }

    /// Every combination of what is varied, panel by panel.
    fn add_starts(&self, system: &System, run: &Run, plan: &mut SectionPlan) -> Result<()> {
        let panels = combinations(self.panels.as_slice())?;
        let varied = combinations(&self.vary)?;
        if panels.len() as f64 * varied.len() as f64 > MOST as f64 {
            let message = format!("{} starts are too many; at most {MOST}", panels.len() * varied.len());
            return Err(Error::BadStudy { message });
        }
        for (panel, of_panel) in panels.iter().enumerate() {
            let mut common = run.clone();
            replace_all(system, &mut common, self.panels.as_slice(), of_panel)?;
            for own in &varied {
                let mut start = common.clone();
                replace_all(system, &mut start, &self.vary, own)?;
                let values = [of_panel.as_slice(), own].concat();
                if let Some(momentum) = &self.same_energy
                    && !give_energy(system, &mut start, &common, momentum)?
                {
                    plan.left_out.push((values, format!("no {momentum} gives the energy of the run")));
                    continue;
                }
                match start.plan_for(system) {
                    Ok(own) => plan.starts.push(SectionStart { panel, values, plan: own }),
                    Err(why @ (Error::NotANumber { .. } | Error::BadStart { .. })) => {
                        plan.left_out.push((values, why.to_string()));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}

/// All combinations of values, the last name changing fastest; one empty one if nothing is varied.
fn combinations(list: &[Vary]) -> Result<Vec<Vec<Quantity>>> {
    let mut all = vec![Vec::new()];
    for vary in list {
        if vary.values.is_empty() {
            return Err(Error::BadStudy { message: format!("`{}` is varied, but has no values", vary.name) });
        }
        if all.len() * vary.values.len() > MOST {
            return Err(Error::BadStudy {
                message: format!("more than {MOST} starts are too many; vary less"),
            });
        }
        let longer = |old: &Vec<Quantity>| {
            vary.values
                .iter()
                .map(|value| [old.as_slice(), std::slice::from_ref(value)].concat())
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    Ok(all)
}

fn replace_all(system: &System, run: &mut Run, names: &[Vary], values: &[Quantity]) -> Result<()> {
    names.iter().zip(values).try_for_each(|(vary, value)| replace(system, run, &vary.name, value))
}

/// Whether a coordinate is an angle: 2π more of it leave the equations of motion as they are. Of a coordinate that does not occur
/// in them only its unit can tell.
fn is_angle(problem: &Problem<f64>, i: usize) -> bool {
    let system = &problem.system;
    let unit = system.coordinates[i].unit.as_str();
    if !matches!(unit, "" | "rad") || (unit.is_empty() && system.structure().cyclic.contains(&i)) {
        return false;
    }
    let mut gradient = Gradient::new(&system.model, &problem.parameters);
    let mut random = Random::new();
    let mut moved = |x: &[f64]| x.iter().map(|x| x + 3.0 * random.next()).collect::<Vec<f64>>();
    (0..STATES).all(|_| {
        let (mut q, v) = (moved(&problem.q0), moved(&problem.v0));
        let mut at = |q: &[f64]| {
            let (l_q, l_v) = gradient.at(q, &v, &problem.t0);
            [l_q, l_v].concat()
        };
        let here = at(&q);
        q[i] += TAU;
        let there = at(&q);
        let size = here.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        here.iter().zip(&there).all(|(a, b)| (a - b).abs() <= SAME * size)
    })
}

impl SectionStart {
    /// The number that a parameter, a coordinate, a velocity or a momentum has at the start.
    pub fn value(&self, name: &str) -> Option<f64> {
        let problem = &self.plan.problem;
        let system = &problem.system;
        if let Some(i) = system.parameters.iter().position(|p| p.name == name) {
            return problem.parameters.get(i).copied();
        }
        let lists = [("", &problem.q0), ("v_", &problem.v0), ("p_", &problem.p0)];
        lists.into_iter().find_map(|(prefix, values)| {
            let name = name.strip_prefix(prefix)?;
            let i = system.coordinates.iter().position(|c| c.name == name)?;
            values.get(i).copied()
        })
    }
}

impl SectionPlan {
    /// Which axes are angles that make more than a turn, so that points belong to the same place though they are apart.
    pub fn turns(&self, orbits: &[Orbit]) -> [bool; 2] {
        [0, 1].map(|axis| {
            let values = orbits.iter().flat_map(|orbit| orbit.points.iter().map(|point| point[axis]));
            let (low, high) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
            self.angles[axis] && high - low > TAU
        })
    }

    /// The points of a motion, with some axes brought into the turn from −π to π.
    pub fn folded(&self, orbit: &Orbit, axes: [bool; 2]) -> Vec<[f64; 2]> {
        let fold = |x: f64, fold: bool| if fold { x - TAU * (x / TAU).round() } else { x };
        orbit.points.iter().map(|[x, y]| [fold(*x, axes[0]), fold(*y, axes[1])]).collect()
    }

    /// How many steps there are to take at most.
    pub fn steps(&self) -> u64 {
        self.starts.iter().map(|start| start.plan.steps).sum()
    }

    /// What the user should be warned of before the motions start.
    pub fn warnings(&self) -> Vec<String> {
        let mut all: Vec<String> = self.starts.iter().flat_map(|start| start.plan.warnings()).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Moves, on all cores. The orbits are in the order of the starts; those that were not begun are missing at the end.
    pub fn run(&self, watch: Watch<'_>) -> Result<Vec<Orbit>> {
        let orbits: Vec<Mutex<Option<Result<Orbit>>>> =
            self.starts.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(start) = self.starts.get(index) else { break };
                if watch(0).is_break() {
                    break;
                }
                let orbit = self.orbit(start, watch);
                if let Ok(mut place) = orbits[index].lock() {
                    *place = Some(orbit);
                }
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from).min(self.starts.len());
        std::thread::scope(|scope| {
            for _ in 1..cores {
                scope.spawn(work);
            }
            work();
        });
        orbits.into_iter().filter_map(|place| place.into_inner().ok().flatten()).collect()
    }

    fn orbit(&self, start: &SectionStart, watch: Watch<'_>) -> Result<Orbit> {
        let mut seen = 0;
        let solution = start.plan.simulate_watched(&mut |steps| {
            if steps < seen + REPORT {
                return ControlFlow::Continue(());
            }
            let new = steps - seen;
            seen = steps;
            watch(new)
        })?;
        // what a stop has saved counts as done
        let _ = watch(start.plan.steps - seen);
        let found = &solution.events;
        let section = found.tallies.iter().position(|tally| tally.name == self.event);
        let rows: Vec<usize> = (0..found.len()).filter(|row| Some(found.event[*row]) == section).collect();
        let width = found.outputs.len();
        let axis = |row: usize, k: usize| found.values[row * width + width - 2 + k];
        let points = rows.iter().map(|row| [axis(*row, 0), axis(*row, 1)]).collect();
        let t = rows.iter().map(|row| found.t[*row]).collect();
        let own = |row: &usize| &found.values[row * width..(row + 1) * width - 2];
        let outputs = rows.iter().flat_map(own).copied().collect();
        Ok(Orbit { t, points, outputs, summary: solution.summary, outcome: solution.outcome })
    }
}
