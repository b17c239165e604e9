//! A checked ensemble, ready to go.

use super::convoy::EightAbreast;
use super::engine::{AnyEngine, OneByOne, Pace};
use super::ladder::Ladder;
use super::members::{Axis, List, Members};
use super::record::{Column, columns};
use super::run::Worker;
use super::spec::Ensemble;
use crate::error::{Error, Result};
use crate::simulate::numbers::Numbers;
use crate::simulate::plan::period_text;
use crate::simulate::{Observed, Outcome, Plan, Resolution, Run, simulate};
use crate::step::{Sines, State};
use crate::system::{Quantities, Quantity, Starter, System, Variable};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// A block takes about so many steps, so that little is lost when it is broken off.
const STEPS_A_BLOCK: u64 = 1 << 21;
/// The fewest and the most members of a block.
const BLOCK: (u64, u64) = (8, 1024);
/// Members that are tried before steps are chosen for all: so many steps in all, and so many members.
const STEPS_TRIED: u64 = 50_000;
const FEWEST_TRIED: u64 = 8;
const MOST_TRIED: u64 = 256;
/// A fixed number of sweeps may take so many times the steps that are needed if all are solved, as members that are tried tell. With twice the steps double
/// pendula within 1e-3 still took 0.41 s instead of 1.05 s in registers of eight lanes.
const MOST_MORE: f64 = 3.0;
/// So many steps of each size tell whether it resolves the motion.
const STEPS_COMPARED: u64 = 256;
/// So many times the steps are worth it to compute sines at the starts of steps instead of their points.
const AT_START: f64 = 1.15;
/// Even a small ensemble has about so many blocks, for threads to share.
const FEWEST_BLOCKS: u64 = 64;

/// A checked ensemble.
#[derive(Clone, Debug)]
pub struct EnsemblePlan {
    /// The run that members differ from.
    pub base: Plan,
    /// The run with its ensemble as it is stored in outputs: formulas stay formulas, because what they depend on may vary.
    pub run: Run,
    /// What is kept of each member.
    pub columns: Vec<Column>,
    members: Members,
    starter: Starter,
    engine: AnyEngine,
    outputs: Quantities,
    block: u64,
}

impl EnsemblePlan {
    /// Checks the ensemble of a run. The list is what its file holds, if it names one.
    pub fn new(run: &Run, list: Option<List>) -> Result<Self> {
        let (system, rest) = run.resolve()?;
        let plan = Self::of_system(&rest, &system, list)?;
        // with the sizes that shaped the system
        Ok(Self { run: stored(run, &plan.base, run.ensemble.clone().unwrap_or_default()), ..plan })
    }

    /// The same for a system given as such.
    pub fn of_system(run: &Run, system: &System, list: Option<List>) -> Result<Self> {
        let spec = run.ensemble.clone().unwrap_or_default();
        if let Some(digits) = run.precision {
            let message = format!(
                "precision = {digits}: ensembles run in f64\n  leave it out, or simulate the members that need more digits"
            );
            return Err(Error::BadRun { message });
        }
        let rest = Run { every: Some(0), dense: None, ensemble: None, ..run.clone() };
        let base = rest.plan_for(system)?;
        let system = &base.problem.system;
        let expanded = rest.expanded(system)?;
        let mut numbers: Numbers<f64> = Numbers::new(&expanded, system)?;
        let members = Members::new(&spec, list.unwrap_or_default(), &mut numbers)?;
        let variables = variables(&base, &members, &spec)?;
        let starter = Starter::new(&base.problem, &expanded.settings()?, &variables)?;
        let observed = Observed::new(&expanded, system, period_text(numbers.period.as_ref()).as_deref())?;
        let events: Vec<&str> = observed.events.iter().map(|(name, _)| name.as_str()).collect();
        let columns = columns(&members.names, &system.coordinate_names(), &events, &observed.output_names);
        check_columns(&columns)?;
        let mut made = Self {
            run: stored(run, &base, spec),
            block: block_size(members.count, base.steps),
            engine: AnyEngine::new(&base, &observed),
            outputs: observed.outputs.clone(),
            columns,
            members,
            starter,
            base,
        };
        if let Some(tolerance) = made.base.tolerance {
            made.climb(tolerance, &observed);
        }
        Ok(made)
    }

    /// Gives members steps that keep to a tolerance, after a look at some of them, and an engine that is good for it.
    fn climb(&mut self, tolerance: f64, observed: &Observed) {
        let own = Pace { step: self.base.step, steps: self.base.steps };
        let mut ladder = Ladder::new(tolerance, own, |pace| self.resolves(pace, tolerance));
        let affordable = STEPS_TRIED / own.steps.max(1);
        let count = affordable.clamp(FEWEST_TRIED, MOST_TRIED).min(self.count().div_ceil(4));
        // in the middle of equal parts
        let middle =
            |i: u64| (u128::from(self.count()) * u128::from(2 * i + 1) / u128::from(2 * count)) as u64;
        let mut worker = self.worker();
        worker.start((0..count).map(middle), count as usize);
        let (starts, blank) = (std::mem::take(&mut worker.starts), Arc::new(ladder.clone()));
        let tried = OneByOne::new(&self.base, observed).try_rungs(&blank, &starts);
        let alone: u64 = tried.iter().map(|tried| ladder.rungs[tried.1].steps).sum();
        let abreast = |sines: Sines| {
            let mut engine = EightAbreast::new(&self.base, observed, &blank, sines)?;
            let rungs = engine.try_rungs(&ladder, &starts, tried.iter().map(|tried| tried.1).collect());
            let steps: u64 = rungs.iter().map(|rung| ladder.rungs[*rung].steps).sum();
            Some((steps as f64, engine, rungs))
        };
        let at_start = abreast(Sines::AtStart);
        // what needs hardly more steps than alone has nothing to gain
        let slow = at_start.as_ref().is_some_and(|found| found.0 > AT_START * alone as f64);
        let at_points = if slow { abreast(Sines::AtPoints) } else { None };
        let cheapest = match (at_start, at_points) {
            (Some(start), Some(points)) if start.0 > AT_START * points.0 => Some(points),
            (start, _) => start,
        };
        match cheapest.filter(|found| found.0 <= MOST_MORE * alone as f64) {
            Some((_, engine, rungs)) => {
                let tried = tried.iter().zip(rungs).map(|(tried, rung)| (tried.0, rung));
                ladder.learn(tried.collect());
                self.engine = AnyEngine::Convoy(Box::new(engine));
            }
            None => ladder.learn(tried),
        }
        self.engine.climb(&Arc::new(ladder));
    }

    /// Whether steps of this size resolve the run that is not varied, to a tolerance.
    fn resolves(&self, pace: Pace, tolerance: f64) -> bool {
        let problem = &self.base.problem;
        let steps = pace.steps.min(STEPS_COMPARED);
        let (mut stepper, mut state) = (self.base.stepper(problem, pace.step), State::new(problem));
        let mut resolution = Resolution::new(&state, steps);
        let outcome = simulate(problem, &mut stepper, &mut state, steps, &mut [&mut resolution]);
        matches!(outcome, Outcome::Done) && resolution.error() <= tolerance
    }

    /// How many members there are.
    pub fn count(&self) -> u64 {
        self.members.count
    }

    /// The names of what varies, in the order of a member's values.
    pub fn varied(&self) -> &[String] {
        &self.members.names
    }

    /// The grid, the slowest name first, if members are a grid and nothing else.
    pub fn grid(&self) -> Option<&[Axis]> {
        let axes = self.members.axes.as_slice();
        let points: u64 = axes.iter().map(|axis| axis.count).product();
        (axes.len() == self.varied().len() && points == self.count()).then_some(axes)
    }

    /// The values of a member.
    pub fn values(&self, member: u64, values: &mut [f64]) {
        self.members.values(member, values);
    }

    /// The members of the shard `index` of `count`, which are counted from 1: neighbours, as many in each, but for one.
    pub fn shard(&self, index: u64, count: u64) -> Range<u64> {
        let edge = |i: u64| (u128::from(self.count()) * u128::from(i) / u128::from(count.max(1))) as u64;
        edge(index.saturating_sub(1))..edge(index)
    }

    /// How many members a block has, but for the last.
    pub fn block_size(&self) -> u64 {
        self.block
    }

    /// How many blocks a range of members has.
    pub fn blocks(&self, members: &Range<u64>) -> u64 {
        (members.end - members.start).div_ceil(self.block)
    }

    /// The members of a block.
    pub(super) fn block(&self, members: &Range<u64>, block: u64) -> Range<u64> {
        let start = members.start + block * self.block;
        start..(start + self.block).min(members.end)
    }

    pub(super) fn worker(&self) -> Worker<'_> {
        Worker {
            plan: self,
            starter: self.starter.clone(),
            engine: self.engine.clone().boxed(),
            starts: Default::default(),
            values: Vec::new(),
            gauge: self.outputs.gauge(&self.base.problem),
            outputs: Vec::new(),
        }
    }
}

/// What the varied names stand for.
fn variables(base: &Plan, members: &Members, spec: &Ensemble) -> Result<Vec<Variable>> {
    let place = |name: &String| {
        let grid = spec.vary.get(name).and_then(|spread| spread.place());
        grid.or_else(|| spec.draw.get(name).map(|draw| &draw.numbers[0]))
    };
    let variable = |name: &String| {
        let found = base.problem.system.variable(name);
        found.map_err(|error| match place(name) {
            Some(quantity) => quantity.locate_name(name, error),
            None => error,
        })
    };
    members.names.iter().map(variable).collect()
}

/// What a file of members says about itself has names as well.
const ABOUT: [&str; 5] = ["run", "statuses", "coordinates", "checksum", "leastaction"];

/// Columns must have names of their own.
fn check_columns(columns: &[Column]) -> Result<()> {
    let mut names = HashSet::new();
    for name in columns.iter().map(|column| column.name.as_str()).chain(ABOUT) {
        if !names.insert(name) {
            let message = format!(
                "two columns of the ensemble would be called `{name}`\n  rename the parameter, the output or the event of which it is made"
            );
            return Err(Error::BadStudy { message });
        }
    }
    Ok(())
}

/// Members a block: a multiple of the smallest, whatever the number of threads and shards.
fn block_size(members: u64, steps: u64) -> u64 {
    let (least, most) = BLOCK;
    let by_steps = STEPS_A_BLOCK / steps.max(1);
    let by_members = members / FEWEST_BLOCKS;
    by_steps.min(by_members).clamp(least, most) / least * least
}

/// The run as it was given, with numbers for what it leaves open and no member changes.
fn stored(run: &Run, base: &Plan, spec: Ensemble) -> Run {
    let end = base.problem.t0 + base.steps as f64 * base.step;
    Run {
        method: Some(base.method.name.clone()),
        step: Some(Quantity::Number(base.step)),
        until: Some(Quantity::Number(end)),
        every: None,
        dense: None,
        // a file that named itself would be overwritten when its run is repeated
        out: Vec::new(),
        out_events: Vec::new(),
        plot: Vec::new(),
        checkpoint: None,
        checkpoint_every: None,
        ensemble: Some(spec),
        ..run.clone()
    }
}
