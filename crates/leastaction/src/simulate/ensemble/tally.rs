//! What can be said of all members together, block by block, in little memory.

use super::plan::EnsemblePlan;
use super::record::{Block, Status};
use indexmap::IndexMap;
use serde::Serialize;
use std::ops::Range;

/// So many failures are kept.
const FIRST_FAILURES: usize = 5;

/// What happened to the members so far.
#[derive(Clone, Debug, Serialize)]
pub struct Tally {
    /// How many members there are.
    pub members: u64,
    /// How many ended in which way.
    pub statuses: IndexMap<&'static str, u64>,
    /// How many did not go as far as they were meant to.
    pub failed: u64,
    /// The first of them.
    pub failures: Vec<Failed>,
    /// The smallest and the largest step of all members that took one.
    pub step_sizes: Option<[f64; 2]>,
    /// The largest relative error of the energy, and whose it is.
    pub energy_error: Option<Extreme>,
    /// The events.
    pub events: IndexMap<String, EventTally>,
    #[serde(skip)]
    places: Places,
}

/// A member that failed.
#[derive(Clone, Debug, Serialize)]
pub struct Failed {
    /// The member.
    pub index: u64,
    /// Its values, by names.
    pub values: IndexMap<String, f64>,
    /// Why.
    pub status: &'static str,
    /// The time it reached.
    pub t: f64,
}

/// A number and the member it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Extreme {
    /// The number.
    pub value: f64,
    /// The member.
    pub index: u64,
}

/// How an event went.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EventTally {
    /// In how many members it happened.
    pub members: u64,
    /// How often in all.
    pub count: u64,
    /// The earliest of the members' first times.
    pub earliest: Option<f64>,
    /// The latest of the members' first times.
    pub latest: Option<f64>,
}

/// Where columns are.
#[derive(Clone, Debug)]
struct Places {
    varied: Range<usize>,
    status: usize,
    t: usize,
    step: usize,
    energy_error: usize,
    events: usize,
}

impl Tally {
    /// Nothing yet.
    pub fn new(plan: &EnsemblePlan) -> Self {
        let place = |name: &str| plan.columns.iter().position(|column| column.name == name).unwrap_or(0);
        let names = plan.run.events.keys();
        let energy_error = place("energy_error");
        Self {
            members: 0,
            statuses: IndexMap::new(),
            failed: 0,
            failures: Vec::new(),
            step_sizes: None,
            energy_error: None,
            events: names.map(|name| (name.clone(), EventTally::default())).collect(),
            places: Places {
                varied: 1..1 + plan.varied().len(),
                status: place("status"),
                t: place("t_end"),
                step: place("step"),
                energy_error,
                // low and high come between
                events: energy_error + 3,
            },
        }
    }

    /// Adds a block.
    pub fn add(&mut self, plan: &EnsemblePlan, block: &Block) {
        let index = block.column(0);
        self.members += block.rows as u64;
        for (row, code) in block.column(self.places.status).iter().enumerate() {
            let status = Status::of_code(*code);
            *self.statuses.entry(status.word()).or_default() += 1;
            if !status.is_complete() {
                self.failed += 1;
                if self.failures.len() < FIRST_FAILURES {
                    self.failures.push(self.failure(plan, block, row, status));
                }
            }
        }
        for step in block.reals(self.places.step).filter(|step| !step.is_nan()) {
            let [least, largest] = self.step_sizes.unwrap_or([step; 2]);
            self.step_sizes = Some([least.min(step), largest.max(step)]);
        }
        for (value, index) in block.reals(self.places.energy_error).zip(index) {
            if value.is_finite() && self.energy_error.as_ref().is_none_or(|largest| value > largest.value) {
                self.energy_error = Some(Extreme { value, index: *index });
            }
        }
        for (k, event) in self.events.values_mut().enumerate() {
            let counts = block.column(self.places.events + 2 * k);
            event.count += counts.iter().sum::<u64>();
            event.members += counts.iter().filter(|count| **count > 0).count() as u64;
            for first in block.reals(self.places.events + 2 * k + 1).filter(|first| !first.is_nan()) {
                event.earliest = Some(event.earliest.map_or(first, |earliest| earliest.min(first)));
                event.latest = Some(event.latest.map_or(first, |latest| latest.max(first)));
            }
        }
    }

    fn failure(&self, plan: &EnsemblePlan, block: &Block, row: usize, status: Status) -> Failed {
        let real = |column: usize| f64::from_bits(block.column(column)[row]);
        let values = self.places.varied.clone().map(real);
        Failed {
            index: block.column(0)[row],
            values: plan.varied().iter().cloned().zip(values).collect(),
            status: status.word(),
            t: real(self.places.t),
        }
    }
}
