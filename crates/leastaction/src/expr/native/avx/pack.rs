//! Which steps of a tape can be done four or eight at a time, as many as a register has lanes.
//!
//! A long chain has the same formula for every particle. Neighbouring outputs whose formulas are alike become one *pack*, their operands
//! become packs in turn, down to loads of neighbouring numbers or one number for all. A step is computed in one pack only, or again
//! to fill the last pack of a chain. An operand pack that has members of two such packs, as the springs on the other side of the particles,
//! is put together from both, at the ends of a chain from one of them and a single number. All members of a pack have the same depth, so
//! that no pack can wait for itself.

use crate::expr::native::steps::{Source, Step};
use crate::expr::tape::Action;
use rustc_hash::FxHashMap;
use std::array;

/// With so many outputs packs begin where whole vectors of an array do, which are stored at once; with fewer they begin anywhere.
const LONG: usize = 64;
/// Deeper formulas are not packed: packs are found by recursion.
const DEEPEST: u32 = 400;
/// What it costs to move members of two packs to their lanes, in instructions.
const SHIFTED: i64 = 2;

/// So many members of a pack may be computed elsewhere already.
const AGAIN: usize = 1;

/// Some numbers of a tape side by side.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pack<const LANES: usize> {
    /// One number in all lanes.
    Same(Source),
    /// Neighbouring inputs from this register on.
    Inputs(u32),
    /// Steps that do the same to packs.
    Steps { members: [usize; LANES], operands: [Option<usize>; 3] },
    /// A result of a pack of steps.
    Result { pack: usize, place: usize },
    /// Anything else.
    Mixed([Source; LANES]),
}

/// What all lanes of a register hold.
#[derive(Clone, Copy, Debug)]
pub(super) enum Whole {
    /// One number.
    Same(Source),
    /// A result of a pack of steps.
    Result { pack: usize, place: usize },
}

/// The lanes of two registers, from one of the first on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shift {
    pub(super) first: Whole,
    pub(super) second: Whole,
    pub(super) by: usize,
}

/// The packs of a tape.
#[derive(Default)]
pub(super) struct Packs<const LANES: usize> {
    pub(super) packs: Vec<Pack<LANES>>,
    /// For each step the pack that computes it, and its lane there.
    pub(super) home: Vec<Option<(usize, usize)>>,
    /// For each step that stores the first output of a pack: what it stores.
    pub(super) stores: FxHashMap<usize, usize>,
    /// Steps that store the others.
    pub(super) stored: Vec<bool>,
}

impl<const LANES: usize> Packs<LANES> {
    /// Packs the outputs of a piece of a tape. Inputs with neighbouring registers are neighbours in memory within a class.
    pub(super) fn new(steps: &[Step], class: &dyn Fn(u32) -> u32) -> Self {
        let mut finder = Finder {
            steps,
            class,
            depth: depths(steps),
            known: FxHashMap::default(),
            journal: Vec::new(),
            found: Self {
                home: vec![None; steps.len()],
                stored: vec![false; steps.len()],
                ..Self::default()
            },
        };
        finder.pack_outputs();
        finder.found
    }

    /// How a group is moved to its lanes from two packs, or from a pack and one number at its end, if that is all it takes.
    pub(super) fn shift(&self, group: &[Source; LANES]) -> Option<Shift> {
        let home = match group[0] {
            Source::Step(step, _) => self.home[step],
            Source::Register(_) => None,
        };
        let by = home.map_or(LANES - 1, |(_, lane)| lane);
        let (head, tail) = group.split_at(LANES - by);
        let first = self.part(head, by)?;
        let second = if tail.is_empty() { first } else { self.part(tail, 0)? };
        Some(Shift { first, second, by })
    }

    /// What neighbours are part of from a lane on.
    fn part(&self, neighbours: &[Source], from: usize) -> Option<Whole> {
        let home = |source: Source| match source {
            Source::Step(step, place) => self.home[step].map(|(pack, lane)| (pack, lane, place)),
            Source::Register(_) => None,
        };
        if let Some((pack, _, place)) = home(neighbours[0])
            && (from..).zip(neighbours).all(|(lane, &source)| home(source) == Some((pack, lane, place)))
        {
            return Some(Whole::Result { pack, place });
        }
        (neighbours.len() == 1).then_some(Whole::Same(neighbours[0]))
    }
}

/// How many steps have to be done one after the other for each.
fn depths(steps: &[Step]) -> Vec<u32> {
    let mut depth = vec![0; steps.len()];
    for (i, step) in steps.iter().enumerate() {
        depth[i] = 1 + step.waits_for().map(|other| depth[other]).max().unwrap_or(0);
    }
    depth
}

struct Finder<'a, const LANES: usize> {
    steps: &'a [Step],
    class: &'a dyn Fn(u32) -> u32,
    depth: Vec<u32>,
    known: FxHashMap<[Source; LANES], usize>,
    /// What was added since the last output, to take it back if it does not pay.
    journal: Vec<[Source; LANES]>,
    found: Packs<LANES>,
}

impl<const LANES: usize> Finder<'_, LANES> {
    /// Looks at one group of neighbouring outputs after the other.
    fn pack_outputs(&mut self) {
        let mut stores: Vec<(u32, usize)> = Vec::new();
        for (i, step) in self.steps.iter().enumerate() {
            if step.instruction.action == Action::Store {
                stores.push((step.instruction.target, i));
            }
        }
        stores.sort_unstable();
        let mut at = 0;
        while let Some(group) = stores.get(at..at + LANES) {
            let neighbours = (0..LANES as u32).all(|k| group[k as usize].0 == group[0].0 + k);
            let in_line = stores.len() < LONG || group[0].0.is_multiple_of(LANES as u32);
            if neighbours && in_line && self.pack_group(array::from_fn(|lane| group[lane].1)) {
                at += LANES;
            } else {
                at += 1;
            }
        }
    }

    fn pack_group(&mut self, stores: [usize; LANES]) -> bool {
        let start = self.found.packs.len();
        self.journal.clear();
        let root = self.pack(stores.map(|store| self.steps[store].operands[0]));
        if matches!(self.found.packs[root], Pack::Mixed(_)) || self.gain(start) < 0 {
            self.take_back(start);
            return false;
        }
        self.found.stores.insert(stores[0], root);
        for store in &stores[1..] {
            self.found.stored[*store] = true;
        }
        true
    }

    /// What the packs from a place on save, in instructions.
    fn gain(&self, start: usize) -> i64 {
        let saved = LANES as i64 - 1;
        let worth = |pack: &Pack<LANES>| match pack {
            Pack::Steps { .. } => saved,
            Pack::Mixed(group) if self.is_nearly_at_home(group) => -SHIFTED,
            // taken from where they are, and put side by side
            Pack::Mixed(_) => -2 * saved,
            _ => 0,
        };
        self.found.packs[start..].iter().map(worth).sum()
    }

    /// Whether the members that are computed in packs are neighbours there; the others may follow.
    fn is_nearly_at_home(&self, group: &[Source; LANES]) -> bool {
        let home = |source: &Source| match source {
            Source::Step(step, _) => self.found.home[*step],
            Source::Register(_) => None,
        };
        let homes: Vec<(usize, usize)> = group.iter().filter_map(home).collect();
        homes.len() >= LANES / 2 && homes.windows(2).all(|pair| pair[1].1 == (pair[0].1 + 1) % LANES)
    }

    fn take_back(&mut self, start: usize) {
        for group in self.journal.drain(..) {
            self.known.remove(&group);
        }
        for pack in self.found.packs.drain(start..) {
            if let Pack::Steps { members, .. } = pack {
                for member in members {
                    self.found.home[member].take_if(|(home, _)| *home >= start);
                }
            }
        }
    }

    fn add(&mut self, pack: Pack<LANES>) -> usize {
        self.found.packs.push(pack);
        self.found.packs.len() - 1
    }

    /// The pack of some numbers, and those it needs.
    fn pack(&mut self, group: [Source; LANES]) -> usize {
        if let Some(&pack) = self.known.get(&group) {
            return pack;
        }
        let pack = self.find(group);
        self.known.insert(group, pack);
        self.journal.push(group);
        pack
    }

    fn find(&mut self, group: [Source; LANES]) -> usize {
        if group.iter().all(|source| *source == group[0]) {
            return self.add(Pack::Same(group[0]));
        }
        let inputs = group.map(|source| match source {
            Source::Register(register) => Some(register),
            Source::Step(..) => None,
        });
        if let Some(first) = inputs[0]
            && inputs.iter().enumerate().all(|(k, register)| {
                register.is_some_and(|r| r == first + k as u32 && (self.class)(r) == (self.class)(first))
            })
        {
            return self.add(Pack::Inputs(first));
        }
        self.pack_of_steps(&group).unwrap_or_else(|| self.add(Pack::Mixed(group)))
    }

    fn pack_of_steps(&mut self, group: &[Source; LANES]) -> Option<usize> {
        let mut members = [0; LANES];
        let Source::Step(first, place) = group[0] else { return None };
        for (member, source) in members.iter_mut().zip(group) {
            match *source {
                Source::Step(step, own) if own == place => *member = step,
                _ => return None,
            }
        }
        if let Some((pack, 0)) = self.found.home[first]
            && members.iter().enumerate().all(|(lane, step)| self.found.home[*step] == Some((pack, lane)))
        {
            return Some(self.add(Pack::Result { pack, place }));
        }
        let action = self.steps[first].instruction.action;
        let fits = |step: &usize| {
            self.steps[*step].instruction.action == action && self.depth[*step] == self.depth[first]
        };
        let at_home = members.iter().filter(|&&step| self.found.home[step].is_some()).count();
        let different = (1..LANES).all(|k| !members[..k].contains(&members[k]));
        if !different || at_home > AGAIN || self.depth[first] > DEEPEST || !members.iter().all(fits) {
            return None;
        }
        // taken before the operands are looked at, which cannot be among them because they are less deep
        let pack = self.add(Pack::Mixed(*group));
        for (lane, member) in members.iter().enumerate() {
            self.found.home[*member].get_or_insert((pack, lane));
        }
        let mut operands = [None; 3];
        for k in 0..self.steps[first].reads().len() {
            operands[k] = Some(self.pack(members.map(|step| self.steps[step].operands[k])));
        }
        self.found.packs[pack] = Pack::Steps { members, operands };
        Some(if place == 0 { pack } else { self.add(Pack::Result { pack, place }) })
    }
}
