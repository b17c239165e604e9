//! Which steps of a tape can be done four at a time.
//!
//! A long chain has the same formula for every particle. Four neighbouring outputs whose formulas are alike become one *pack*, their operands
//! become packs in turn, down to loads of neighbouring numbers or one number for all. A step is computed in one pack only. An operand pack
//! that has members of two such packs, as the springs on the other side of four particles, is put together from both. All members of a
//! pack have the same depth, so that no pack can wait for itself.

use crate::expr::native::steps::{Source, Step};
use crate::expr::tape::Action;
use rustc_hash::FxHashMap;

/// So many numbers fit side by side.
pub(super) const FULL: usize = 4;
/// With so many outputs packs begin where whole vectors of an array do, which are stored at once; with fewer they begin anywhere.
const LONG: usize = 64;
/// Deeper formulas are not packed: packs are found by recursion.
const DEEPEST: u32 = 400;
/// What a pack of operations saves, and what it costs to bring numbers together that are not, in instructions.
const SAVED: i64 = 3;
const GATHERED: i64 = 6;
const SHIFTED: i64 = 2;

/// Four numbers of a tape.
pub(super) type Four = [Source; FULL];

/// Four numbers side by side.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pack {
    /// One number four times.
    Same(Source),
    /// Neighbouring inputs from this register on.
    Inputs(u32),
    /// Four steps that do the same to packs.
    Steps { members: [usize; FULL], operands: [Option<usize>; 3] },
    /// A result of a pack of steps.
    Result { pack: usize, place: usize },
    /// Anything else.
    Mixed(Four),
}

/// The packs of a tape.
#[derive(Default)]
pub(super) struct Packs {
    pub(super) packs: Vec<Pack>,
    /// For each step the pack that computes it, and its lane there.
    pub(super) home: Vec<Option<(usize, usize)>>,
    /// For each step that stores the first output of four: what it stores.
    pub(super) stores: FxHashMap<usize, usize>,
    /// Steps that store the others.
    pub(super) stored: Vec<bool>,
}

impl Packs {
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

    /// Two packs of steps and how far to move from the first one to the second, if that is all it takes.
    pub(super) fn shift(&self, four: &Four) -> Option<(usize, usize, usize, usize)> {
        let mut homes = [(0, 0); FULL];
        let mut place = 0;
        for (lane, source) in four.iter().enumerate() {
            let Source::Step(step, own) = *source else { return None };
            if lane > 0 && own != place {
                return None;
            }
            place = own;
            homes[lane] = self.home[step]?;
        }
        let (first, by) = homes[0];
        let (second, _) = homes[FULL - 1];
        let right = |(lane, home): (usize, &(usize, usize))| {
            let pack = if lane + by < FULL { first } else { second };
            *home == (pack, (lane + by) % FULL)
        };
        homes.iter().enumerate().all(right).then_some((first, second, by, place))
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

struct Finder<'a> {
    steps: &'a [Step],
    class: &'a dyn Fn(u32) -> u32,
    depth: Vec<u32>,
    known: FxHashMap<Four, usize>,
    /// What was added since the last output, to take it back if it does not pay.
    journal: Vec<Four>,
    found: Packs,
}

impl Finder<'_> {
    /// Looks at four neighbouring outputs after the other.
    fn pack_outputs(&mut self) {
        let mut stores: Vec<(u32, usize)> = Vec::new();
        for (i, step) in self.steps.iter().enumerate() {
            if step.instruction.action == Action::Store {
                stores.push((step.instruction.target, i));
            }
        }
        stores.sort_unstable();
        let mut at = 0;
        while let Some(group) = stores.get(at..at + FULL) {
            let neighbours = (0..FULL as u32).all(|k| group[k as usize].0 == group[0].0 + k);
            let in_line = stores.len() < LONG || group[0].0.is_multiple_of(FULL as u32);
            if neighbours && in_line && self.pack_group(&[group[0].1, group[1].1, group[2].1, group[3].1]) {
                at += FULL;
            } else {
                at += 1;
            }
        }
    }

    fn pack_group(&mut self, stores: &[usize; FULL]) -> bool {
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

    /// What the packs from a place on save.
    fn gain(&self, start: usize) -> i64 {
        let worth = |pack: &Pack| match pack {
            Pack::Steps { .. } => SAVED,
            Pack::Mixed(four) if self.is_nearly_at_home(four) => -SHIFTED,
            Pack::Mixed(_) => -GATHERED,
            _ => 0,
        };
        self.found.packs[start..].iter().map(worth).sum()
    }

    /// Whether the members that are computed in packs are neighbours there; the others may follow.
    fn is_nearly_at_home(&self, four: &Four) -> bool {
        let home = |source: &Source| match source {
            Source::Step(step, _) => self.found.home[*step],
            Source::Register(_) => None,
        };
        let homes: Vec<(usize, usize)> = four.iter().filter_map(home).collect();
        homes.len() >= FULL / 2 && homes.windows(2).all(|pair| pair[1].1 == (pair[0].1 + 1) % FULL)
    }

    fn take_back(&mut self, start: usize) {
        for four in self.journal.drain(..) {
            self.known.remove(&four);
        }
        for pack in self.found.packs.drain(start..) {
            if let Pack::Steps { members, .. } = pack {
                for member in members {
                    self.found.home[member] = None;
                }
            }
        }
    }

    fn add(&mut self, pack: Pack) -> usize {
        self.found.packs.push(pack);
        self.found.packs.len() - 1
    }

    /// The pack of four numbers, and those it needs.
    fn pack(&mut self, four: Four) -> usize {
        if let Some(&pack) = self.known.get(&four) {
            return pack;
        }
        let pack = self.find(four);
        self.known.insert(four, pack);
        self.journal.push(four);
        pack
    }

    fn find(&mut self, four: Four) -> usize {
        if four.iter().all(|source| *source == four[0]) {
            return self.add(Pack::Same(four[0]));
        }
        let inputs = four.map(|source| match source {
            Source::Register(register) => Some(register),
            Source::Step(..) => None,
        });
        if let [Some(first), ..] = inputs
            && inputs.iter().enumerate().all(|(k, register)| {
                register.is_some_and(|r| r == first + k as u32 && (self.class)(r) == (self.class)(first))
            })
        {
            return self.add(Pack::Inputs(first));
        }
        self.pack_of_steps(&four).unwrap_or_else(|| self.add(Pack::Mixed(four)))
    }

    fn pack_of_steps(&mut self, four: &Four) -> Option<usize> {
        let mut members = [0; FULL];
        let Source::Step(first, place) = four[0] else { return None };
        for (member, source) in members.iter_mut().zip(four) {
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
            self.steps[*step].instruction.action == action
                && self.depth[*step] == self.depth[first]
                && self.found.home[*step].is_none()
        };
        let different = (1..FULL).all(|k| !members[..k].contains(&members[k]));
        if !different || self.depth[first] > DEEPEST || !members.iter().all(fits) {
            return None;
        }
        // taken before the operands are looked at, which cannot be among them because they are less deep
        let pack = self.add(Pack::Mixed(*four));
        for (lane, member) in members.iter().enumerate() {
            self.found.home[*member] = Some((pack, lane));
        }
        let mut operands = [None; 3];
        for k in 0..self.steps[first].reads().len() {
            operands[k] = Some(self.pack(members.map(|step| self.steps[step].operands[k])));
        }
        self.found.packs[pack] = Pack::Steps { members, operands };
        Some(if place == 0 { pack } else { self.add(Pack::Result { pack, place }) })
    }
}
