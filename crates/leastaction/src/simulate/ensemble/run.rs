//! Blocks of members on several threads: computed in any order, handed on in theirs, never more of them in memory than a window holds.

use super::engine::{GoOn, Starts};
use super::plan::EnsemblePlan;
use super::record::{Block, Ending};
use crate::system::Gauge;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Blocks a thread may be ahead of the one that is waited for.
const AHEAD: u64 = 8;

/// Which blocks are taken and which are handed on.
struct Queue {
    progress: Mutex<Progress>,
    room: Condvar,
    window: u64,
}

struct Progress {
    next: u64,
    handed: u64,
    end: u64,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next block to compute, when there is room for it.
    fn take(&self) -> Option<u64> {
        let mut progress = self.lock();
        while progress.next < progress.end && progress.next >= progress.handed + self.window {
            progress = self.room.wait(progress).unwrap_or_else(PoisonError::into_inner);
        }
        let block = progress.next;
        (block < progress.end).then(|| {
            progress.next += 1;
            block
        })
    }

    /// A block was handed on.
    fn hand(&self) {
        self.lock().handed += 1;
        self.room.notify_all();
    }

    /// No further blocks.
    fn close(&self) {
        self.lock().end = 0;
        self.room.notify_all();
    }
}

impl EnsemblePlan {
    /// Computes blocks of a range of members, from the block `first` on, with so many threads. `keep` is given each block in its order;
    /// what it returns as an error ends the ensemble. `go_on` is asked now and then. Says how many blocks there are now.
    pub fn run<E>(
        &self,
        members: &Range<u64>,
        first: u64,
        threads: usize,
        go_on: GoOn<'_>,
        mut keep: impl FnMut(&Block) -> Result<(), E>,
    ) -> Result<u64, E> {
        let end = self.blocks(members);
        let threads = threads.max(1);
        let queue = Queue {
            progress: Mutex::new(Progress { next: first, handed: first, end }),
            room: Condvar::new(),
            window: AHEAD * threads as u64,
        };
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            for _ in 0..threads.min(end.saturating_sub(first) as usize) {
                let (sender, queue) = (sender.clone(), &queue);
                scope.spawn(move || self.work(members, queue, &sender, go_on));
            }
            drop(sender);
            let kept = hand_on(&receiver, &queue, first, &mut keep);
            // whoever waits for room after an error
            queue.close();
            kept
        })
    }

    /// Computes blocks until there are none, or it is told not to go on.
    fn work(&self, members: &Range<u64>, queue: &Queue, sender: &Sender<(u64, Block)>, go_on: GoOn<'_>) {
        let mut worker = self.worker();
        while let Some(block) = queue.take() {
            let rows = worker.run(self.block(members, block), go_on);
            let sent = rows.is_some_and(|rows| sender.send((block, rows)).is_ok());
            if !sent {
                queue.close();
                return;
            }
        }
    }
}

/// Hands blocks on in their order.
fn hand_on<E>(
    receiver: &Receiver<(u64, Block)>,
    queue: &Queue,
    first: u64,
    keep: &mut impl FnMut(&Block) -> Result<(), E>,
) -> Result<u64, E> {
    let mut waiting = BTreeMap::new();
    let mut next = first;
    for (block, rows) in receiver {
        waiting.insert(block, rows);
        while let Some(rows) = waiting.remove(&next) {
            if let Err(error) = keep(&rows) {
                queue.close();
                return Err(error);
            }
            next += 1;
            queue.hand();
        }
    }
    Ok(next)
}

/// Evaluates the outputs of a member at its end; they are NaN where its momenta belong to no velocities.
fn measure(gauge: &mut Gauge<f64>, (starts, row): (&Starts, usize), ending: &Ending, outputs: &mut Vec<f64>) {
    if gauge.is_empty() {
        return;
    }
    gauge.restart(Some(starts.of(&starts.parameters, row)), starts.of(&starts.v, row));
    outputs.clear();
    match gauge.at_momenta(&ending.q, &ending.p, &ending.t) {
        Ok(values) => outputs.extend_from_slice(values),
        Err(_) => outputs.resize(gauge.len(), f64::NAN),
    }
}

/// What one thread needs.
pub(super) struct Worker<'a> {
    pub(super) plan: &'a EnsemblePlan,
    pub(super) starter: crate::system::Starter,
    pub(super) engine: Box<dyn super::Engine>,
    pub(super) starts: Starts,
    /// Values of all members of a block.
    pub(super) values: Vec<f64>,
    /// Evaluates the outputs.
    pub(super) gauge: Gauge<f64>,
    /// Outputs of a member at its end.
    pub(super) outputs: Vec<f64>,
}

impl Worker<'_> {
    /// The rows of members; nothing if it was told not to go on.
    fn run(&mut self, members: Range<u64>, go_on: GoOn<'_>) -> Option<Block> {
        let rows = (members.end - members.start) as usize;
        self.start(members.clone(), rows);
        let width = self.plan.varied().len();
        let mut block = Block::new(rows, self.plan.columns.len());
        let Self { engine, starts, values, gauge, outputs, .. } = self;
        let flow = engine.run(starts, go_on, &mut |row, ending| {
            let own = &values[row * width..(row + 1) * width];
            measure(gauge, (starts, row), ending, outputs);
            block.fill(row, (members.start + row as u64, own), ending, outputs);
        });
        match flow {
            ControlFlow::Continue(()) => Some(block),
            ControlFlow::Break(()) => None,
        }
    }

    /// Computes the starts of members.
    pub(super) fn start(&mut self, members: impl Iterator<Item = u64>, rows: usize) {
        let Self { plan, starter, starts, values, .. } = self;
        let problem = &plan.base.problem;
        let (n, parameters, width) = (problem.system.n(), problem.parameters.len(), plan.varied().len());
        starts.resize(rows, n, parameters);
        values.resize(rows * width, 0.0);
        for (row, member) in members.enumerate() {
            let own = &mut values[row * width..(row + 1) * width];
            plan.values(member, own);
            let state = row * n..(row + 1) * n;
            let state = [&mut starts.q[state.clone()], &mut starts.v[state.clone()], &mut starts.p[state]];
            let range = row * parameters..(row + 1) * parameters;
            starts.refused[row] = starter.start(own, &mut starts.parameters[range], state).err();
        }
    }
}
