//! `leastaction simulate` and `leastaction resume`: plan, run, write, summarise.
//!
//! Output paths are checked before anything is computed; what was computed is written also when the run fails or is
//! interrupted. With a checkpoint, tables are written before each of them.

use crate::arguments::{ResumeFlags, SimulateFlags, SummaryFormat};
use crate::output::Table;
use crate::progress::{AFTER_THIS_STEP, Interrupt, Progress};
use crate::{Ending, counted, output, pick, picture, print, say, warn_of_text};
use leastaction::analysis::Attempts;
use leastaction::prelude::{Run, Solution};
use leastaction::simulate::{Journey, Keeper, Outcome, Plan, Summary};
use serde::Serialize;
use std::path::{Path, PathBuf};

pub(crate) fn simulate(flags: &SimulateFlags) -> Result<(), Ending> {
    let mut run = flags.to_run()?;
    if run.checkpoint.is_some() {
        // wherever it is resumed
        make_absolute(&mut run)?;
    }
    let files = Files::new(&run)?;
    match &run.checkpoint {
        // what cannot be written is told with the first checkpoint, and kept in it
        Some(checkpoint) => files.differ_from(Path::new(checkpoint))?,
        None => files.all().try_for_each(|path| output::try_place(path))?,
    }
    files.have_events(&run)?;
    let nothing_kept = files.tables.is_empty() && files.pictures.is_empty();
    if nothing_kept && run.every.is_none() && run.dense.is_none() {
        run.every = Some(0);
    }
    let interrupt = Interrupt::install(AFTER_THIS_STEP);
    let (picked, found) = pick::look(&run, Some(&interrupt))?.unzip();
    let mut attempts = Attempts::new(picked);
    let plan = attempts.picked().map_or(&run, |picked| &picked.run).plan()?;
    tell(&plan);
    if plan.every == 0 && !nothing_kept {
        return Err(Ending::BadInput(
            "nothing would be recorded for --out or --plot; try --every 1".to_owned(),
        ));
    }
    let interval = run.checkpoint_every.unwrap_or_default();
    let mut keeper =
        run.checkpoint.as_ref().map(|path| Keeper::create(Path::new(path), interval)).transpose()?;
    let mut plan = plan;
    loop {
        attempts.prepare(&mut plan);
        let travelled = travel(&plan, plan.begin()?, keeper.as_mut(), &files, &interrupt)?;
        let again = interrupt.flow().is_continue() && attempts.again(&travelled.solution);
        let Some(picked) = attempts.picked().filter(|_| again) else {
            return finish(flags.summary, &files, &plan, travelled, found.as_ref());
        };
        pick::say_again(&travelled.solution, picked);
        plan = picked.run.plan()?;
    }
}

/// Says what is to be known before a run.
fn tell(plan: &Plan) {
    warn_of_text(&plan.problem.system);
    for note in &plan.notes {
        say(&format!("note: {note}"));
    }
    for warning in plan.warnings() {
        say(&format!("warning: {warning}"));
    }
}

/// Continues a run from its checkpoint.
pub(crate) fn resume(flags: &ResumeFlags) -> Result<(), Ending> {
    let interrupt = Interrupt::install(AFTER_THIS_STEP);
    let (keeper, mut found) = Keeper::open(&flags.file)?;
    if flags.threads.is_some() {
        let message = "--threads is for ensembles: the steps of a run follow one another\n  leave it out";
        return Err(Ending::BadInput(message.to_owned()));
    }
    flags.fill(&mut found.run);
    make_absolute(&mut found.run)?;
    let files = Files { keep: found.over, ..Files::named(&found.run)? };
    files.check()?;
    files.differ_from(&flags.file)?;
    files.have_events(&found.run)?;
    let plan = found.run.plan()?;
    let mut keeper = keeper.every(found.run.checkpoint_every.unwrap_or_default());
    let mut journey = plan.begin()?;
    found.restore(&mut journey)?;
    let (steps, of) = (found.steps, found.of);
    if plan.steps != of {
        let message =
            format!("`{}` is of a run with {of} steps, and has {}", flags.file.display(), plan.steps);
        return Err(Ending::BadInput(message));
    }
    if found.version != env!("CARGO_PKG_VERSION") {
        let (other, own) = (&found.version, env!("CARGO_PKG_VERSION"));
        say(&format!("warning: the checkpoint is of version {other}, and this is {own}: bits may differ"));
    }
    match found.over {
        true if steps == of => {
            say(&format!("note: the run is finished: it was over after {steps} of {of} steps"));
        }
        true => say(&format!("note: the run has ended before, after the checkpoint at step {steps} of {of}")),
        false => say(&format!("note: goes on after {steps} of {of} steps")),
    }
    let travelled = travel(&plan, journey, Some(&mut keeper), &files, &interrupt)?;
    finish(flags.summary, &files, &plan, travelled, None)
}

/// Takes the steps, with whoever watches them, and writes tables.
fn travel(
    plan: &Plan,
    mut journey: Journey<'_>,
    keeper: Option<&mut Keeper>,
    files: &Files,
    interrupt: &Interrupt,
) -> Result<Travelled, Ending> {
    // where a single step takes long, the clock is read at each
    let slow = plan.precision.is_some() || plan.problem.system.n() > 1000;
    let progress = Progress::new(plan.steps, if slow { 1 } else { 64 });
    progress.begin_at(journey.steps());
    let mut watch = |step| {
        progress.show(step);
        interrupt.flow()
    };
    let Some(keeper) = keeper else {
        journey.go(&mut watch);
        progress.finish();
        estimate(plan, &mut journey, interrupt);
        let solution = journey.into_solution();
        let written = files.write_tables(plan, &solution);
        return Ok(Travelled { solution, written });
    };
    let mut written = Vec::new();
    let mut write = |solution: &Solution| {
        written = files.write_tables(plan, solution).map_err(not_saved)?;
        Ok(())
    };
    let kept = keeper.go(plan, &mut journey, &mut watch, &mut write);
    progress.finish();
    kept.map_err(|error| Ending::Failed(format!("{error}\n  {}", what_is_kept(keeper, plan))))?;
    if !journey.is_over() {
        say(&what_is_kept(keeper, plan));
    }
    estimate(plan, &mut journey, interrupt);
    Ok(Travelled { solution: journey.into_solution(), written: Ok(written) })
}

/// Estimates the error of the final state where that was asked for or takes no time.
fn estimate(plan: &Plan, journey: &mut Journey<'_>, interrupt: &Interrupt) {
    if plan.run.accuracy.unwrap_or_else(|| journey.was_short()) {
        let progress = Progress::new(plan.steps, 64);
        journey.estimate_accuracy(&mut |_| interrupt.flow());
        progress.finish();
    }
}

/// A run that came to an end, and which of its tables were written.
struct Travelled {
    solution: Solution,
    written: Result<Vec<PathBuf>, String>,
}

/// What is said of a file that is what it should be.
fn unchanged(path: &Path) -> String {
    format!("note: {} is complete, and left as it is", path.display())
}

fn not_saved(message: String) -> leastaction::Error {
    leastaction::Error::NotSaved { message }
}

/// Where a run can be taken up again.
fn what_is_kept(keeper: &Keeper, plan: &Plan) -> String {
    match keeper.saved() {
        None => "nothing is kept".to_owned(),
        Some(step) => format!(
            "step {step} of {} is kept in `{name}`; `leastaction resume {name}` continues from there",
            plan.steps,
            name = keeper.path().display()
        ),
    }
}

/// Names of files that mean the same in every folder.
fn make_absolute(run: &mut Run) -> Result<(), Ending> {
    for name in run.out.iter_mut().chain(&mut run.out_events).chain(&mut run.plot) {
        let path =
            std::path::absolute(&*name).map_err(|error| Ending::BadInput(format!("`{name}`: {error}")))?;
        if let Some(path) = path.to_str() {
            path.clone_into(name);
        }
    }
    Ok(())
}

fn taken_twice(path: &Path) -> Ending {
    Ending::BadInput(format!("`{}` is named twice, for different things; name another file", path.display()))
}

/// Where the results go.
struct Files {
    tables: Vec<PathBuf>,
    events: Vec<PathBuf>,
    pictures: Vec<PathBuf>,
    /// Whether what is there and holds the result already is kept: the disk of a run that is over may be one that can only be read.
    keep: bool,
}

impl Files {
    /// Those of a run, if they can be written.
    fn new(run: &Run) -> Result<Self, Ending> {
        let files = Self::named(run)?;
        files.check().map(|()| files)
    }

    /// An error if one of them cannot be written. One that may be kept is not asked.
    fn check(&self) -> Result<(), Ending> {
        let is_asked = |path: &&PathBuf| !(self.keep && path.is_file());
        let tables = self.tables.iter().chain(&self.events);
        tables.clone().try_for_each(|path| output::check_kind(path))?;
        tables.filter(is_asked).try_for_each(|path| output::check_folder(path))?;
        self.pictures.iter().filter(is_asked).try_for_each(|path| output::check_picture(path))
    }

    /// An error if events are to be written and the run has none.
    fn have_events(&self, run: &Run) -> Result<(), Ending> {
        if run.events.is_empty() && !self.events.is_empty() {
            let message = "there are no events for --events to write; define one with --event NAME=FORMULA";
            return Err(Ending::BadInput(message.to_owned()));
        }
        Ok(())
    }

    /// Those that a run names, each once.
    fn named(run: &Run) -> Result<Self, Ending> {
        let paths = |names: &[String]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let (tables, events, pictures) = (paths(&run.out), paths(&run.out_events), paths(&run.plot));
        let files = Self { tables, events, pictures, keep: false };
        let all: Vec<&PathBuf> = files.all().collect();
        for (k, path) in all.iter().enumerate() {
            if all[..k].contains(path) {
                return Err(taken_twice(path));
            }
        }
        Ok(files)
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.tables.iter().chain(&self.events).chain(&self.pictures)
    }

    /// An error if one of them is also the checkpoint.
    fn differ_from(&self, checkpoint: &Path) -> Result<(), Ending> {
        let place =
            |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_default();
        match self.all().find(|path| place(path) == place(checkpoint)) {
            Some(path) => Err(taken_twice(path)),
            None => Ok(()),
        }
    }

    /// Writes states and events, and says which files. What cannot be written does not keep the others from it.
    fn write_tables(&self, plan: &Plan, solution: &Solution) -> Result<Vec<PathBuf>, String> {
        let states = || Table::of_states(plan, solution);
        let events = || Table::of_events(plan, solution);
        let all = self
            .tables
            .iter()
            .map(|path| (path, states()))
            .chain(self.events.iter().map(|path| (path, events())));
        let (mut written, mut failed) = (Vec::new(), Vec::new());
        for (path, table) in all {
            let done = table.and_then(|table| match self.keep && table.is_in(path) {
                true => Ok(()),
                false => output::write_table(path, &table).map(|()| written.push(path.clone())),
            });
            failed.extend(done.err());
        }
        if failed.is_empty() { Ok(written) } else { Err(failed.join("\nerror: ")) }
    }

    /// Draws a picture, and says what became of it.
    fn draw(&self, path: &Path, plan: &Plan, solution: &Solution) -> Result<String, String> {
        let picture = output::picture(path, &picture::draw(plan, solution)?)?;
        if self.keep && std::fs::read(path).is_ok_and(|found| found == picture) {
            return Ok(unchanged(path));
        }
        output::write_bytes(path, &picture).map(|()| format!("wrote {}", path.display()))
    }
}

/// The summary, and what was picked for the run.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    picked: Option<&'a pick::Found>,
}

/// Writes what there is, prints the summary, and says how it ended.
fn finish(
    summary: SummaryFormat,
    files: &Files,
    plan: &Plan,
    travelled: Travelled,
    picked: Option<&pick::Found>,
) -> Result<(), Ending> {
    let Travelled { solution, written } = travelled;
    let mut failed_writes = Vec::new();
    match written {
        Ok(written) => {
            let rows = counted(solution.recording.len(), "row");
            let events = counted(solution.events.len(), "event");
            let all = files.tables.iter().map(|path| (path, &rows));
            for (path, count) in all.chain(files.events.iter().map(|path| (path, &events))) {
                say(&match written.contains(path) {
                    true => format!("wrote {} ({count})", path.display()),
                    false => unchanged(path),
                });
            }
        }
        Err(message) => failed_writes.push(message),
    }
    for path in &files.pictures {
        match files.draw(path, plan, &solution) {
            Ok(words) => say(&words),
            Err(message) => failed_writes.push(message),
        }
    }
    match summary {
        SummaryFormat::Text => print(&solution.summary.to_string())?,
        SummaryFormat::Json => {
            let json = serde_json::to_string(&Report { summary: &solution.summary, picked });
            print(&json.map_err(|error| Ending::Failed(error.to_string()))?)?;
        }
    }
    for note in solution.notes() {
        say(&format!("note: {note}"));
    }
    for warning in solution.warnings() {
        say(&format!("warning: {warning}"));
    }
    let all_written = failed_writes.is_empty();
    match &solution.outcome {
        Outcome::Failed(failure) => {
            let kept = solution.summary.steps;
            let mut messages = vec![format!("{failure}\n  steps computed and kept before it: {kept}")];
            messages.append(&mut failed_writes);
            Err(Ending::Failed(messages.join("\nerror: ")))
        }
        _ if !all_written => Err(Ending::Failed(failed_writes.join("\nerror: "))),
        Outcome::Interrupted => {
            say(&format!("interrupted after {} of {} steps", solution.summary.steps, plan.steps));
            Err(Ending::Interrupted)
        }
        Outcome::NotReached { .. } => Err(Ending::Failed(solution.not_reached().join("\nerror: "))),
        Outcome::Done | Outcome::Stopped { .. } | Outcome::Exceeded => {
            match pick::missed(&solution.summary, picked.is_some()) {
                Some(message) => Err(Ending::Failed(message)),
                None => Ok(()),
            }
        }
    }
}
