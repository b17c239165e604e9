//! Brouwer's law: how energy and angular momentum change over many steps at machine precision.
//!
//! `cargo bench --workspace --bench brouwer` takes a million steps, in a minute; `-- 1e7 16 ../../book/src/pictures` takes ten million in each of 16
//! runs, in three minutes of one core, and writes the book's picture as well.
//! Several runs of each system, and the root mean square of their errors: one random walk proves nothing. The library's sums beside naive
//! ones, an iteration that is stopped early, and the same method as books write it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[allow(dead_code, unused_imports)]
#[path = "../src/figure/mod.rs"]
mod figure;
#[path = "../../leastaction/tests/common/walk.rs"]
mod walk;

use figure::{AXIS, Axis, Figure, Mark, PAPER, Panel, Place, Shape, palette};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use walk::{CASES, Case, Growth, Runs, SMALL_STEPS, Way, drift, growth, rms, samples};

/// How many runs there are unless somebody asks for others.
const RUNS: usize = 16;
/// Where a fit begins.
const FIT_FROM: u64 = 1000;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let steps = arguments.next().map_or(1e6, |text| text.parse::<f64>().expect("a number of steps")) as u64;
    let runs = arguments.next().map_or(RUNS, |text| text.parse().expect("a number of runs"));
    let directory = arguments.next();
    let mut walks: Vec<Walk> = CASES.iter().flat_map(|case| walks_of(case, steps, runs)).collect();
    let small_steps = |way: Way| Walk::new(&SMALL_STEPS, way, steps.min(1_000_000), runs);
    walks.extend([Way::Ours, Way::Naive].map(small_steps));
    // what takes long comes last, so that there is something to look at
    walks.sort_by_key(|walk| walk.samples.last().copied());
    println!(
        "{:<21} {:>6} {:<16} {:>7} {:>9} {:>9} {:>19} {:>6}",
        "system", "h", "sums", "steps", "exponent", "constant", "drift", "µs"
    );
    take(&mut walks);
    if let Some(directory) = directory {
        let directory = Path::new(&directory);
        std::fs::write(directory.join("brouwer.csv"), table(&walks)).unwrap();
        let figure = picture(&walks);
        std::fs::write(directory.join("brouwer.svg"), figure::to_svg(&figure)).unwrap();
        std::fs::write(directory.join("brouwer.png"), figure::to_png(&figure, 2.0).unwrap()).unwrap();
    }
}

/// Some runs of a system in one way.
struct Walk {
    case: Case,
    way: Way,
    samples: Vec<u64>,
    runs: Vec<Option<(Runs, f64)>>,
}

/// All ways with a system. What is slow, or too bad to go on, takes fewer steps.
fn walks_of(case: &Case, steps: u64, runs: usize) -> Vec<Walk> {
    // after 200,000 steps Pluto passes Neptune in one of the runs, at a tenth of the distance of sun and earth, for which these steps are too large
    let steps = if case.system == "outer-solar-system" { (steps / 10).min(100_000) } else { steps };
    let affordable = |way: Way| match way {
        Way::Ours => steps,
        Way::Naive => steps / 10,
        Way::Early => (steps / 10).min(1_000_000),
        Way::Textbook => (steps / 100).min(100_000),
    };
    Way::ALL.into_iter().map(|way| Walk::new(case, way, affordable(way), runs)).collect()
}

impl Walk {
    fn new(case: &Case, way: Way, steps: u64, runs: usize) -> Self {
        Self { case: *case, way, samples: samples(10, steps.max(10_000), 4), runs: vec![None; runs] }
    }
    fn errors(&self) -> Runs {
        self.runs.iter().flatten().flat_map(|(errors, _)| errors.clone()).collect()
    }
    fn growth(&self, which: usize) -> Growth {
        growth(&self.samples, &self.errors(), which, FIT_FROM)
    }
    fn report(&self) {
        let steps = *self.samples.last().unwrap();
        let seconds: f64 = self.runs.iter().flatten().map(|(_, seconds)| seconds).sum();
        let microseconds = 1e6 * seconds / (self.runs.len() as u64 * steps) as f64;
        let errors = self.errors();
        let line = |which: usize, Growth { exponent, a_step }: Growth| {
            let name = format!("{}{}", self.case.system, ["", " L"][which]);
            let [drift, error] = drift(&self.samples, &errors, which);
            println!(
                "{name:<21} {:>6} {:<16} {steps:>7.0e} {exponent:>9.2} {a_step:>9.1e} {drift:>9.1e} ± {error:.1e} {microseconds:>6.2}",
                self.case.step,
                self.way.name()
            );
        };
        line(0, self.growth(0));
        let momentum = self.growth(1);
        if momentum.a_step > 0.0 {
            line(1, momentum);
        }
    }
}

/// Takes all runs, on all cores.
fn take(walks: &mut [Walk]) {
    let tasks: Vec<(usize, u64)> = walks
        .iter()
        .enumerate()
        .flat_map(|(k, walk)| (0..walk.runs.len() as u64).map(move |run| (k, run)))
        .collect();
    let (next, walks) = (AtomicUsize::new(0), Mutex::new(walks));
    let work = || {
        while let Some(&(k, run)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (case, way, samples) = {
                let walk = &walks.lock().unwrap()[k];
                (walk.case, walk.way, walk.samples.clone())
            };
            let start = Instant::now();
            let errors = case.errors(way, run, &samples);
            let walk = &mut walks.lock().unwrap()[k];
            walk.runs[run as usize] = Some((vec![errors], start.elapsed().as_secs_f64()));
            if walk.runs.iter().all(Option::is_some) {
                walk.report();
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
}

/// All root mean square errors.
fn table(walks: &[Walk]) -> String {
    let mut text = "system,method,step,sums,steps,energy,angular_momentum\n".to_owned();
    for walk in walks {
        let (Case { system, method, step }, errors) = (walk.case, walk.errors());
        for (k, steps) in walk.samples.iter().enumerate() {
            let [energy, momentum] = [0, 1].map(|which| rms(&errors, k, which));
            writeln!(
                text,
                "{system},{method},{step},{},{steps},{energy:.3e},{momentum:.3e}",
                walk.way.name()
            )
            .unwrap();
        }
    }
    text
}

fn picture(walks: &[Walk]) -> Figure {
    let width = 1.0 / CASES.len() as f64;
    let panels = CASES.iter().enumerate().map(|(i, case)| {
        let mut panel = panel(case, walks, i == 0);
        panel.place = Place { x: width * i as f64, y: 0.0, width, height: 1.0 };
        panel
    });
    Figure {
        title: "Brouwer's law".to_owned(),
        alert: String::new(),
        subtitle: format!(
            "relative energy error, root mean square of {} runs; the broad pale line grows like √steps",
            walks.first().map_or(0, |walk| walk.runs.len())
        ),
        width: 1320.0,
        height: 520.0,
        panels: panels.collect(),
    }
}

fn panel(case: &Case, walks: &[Walk], named: bool) -> Panel {
    let label = if named { "relative energy error" } else { "" };
    let title = format!("{}, {}, h = {}", case.system, case.method, case.step);
    let mut panel = Panel::new(title, Axis::log("steps"), Axis::log(label));
    let longest =
        walks.iter().filter_map(|walk| walk.samples.last()).max().map_or(1e6, |steps| *steps as f64);
    (panel.x.range, panel.y.range) = (Some((10.0, longest)), Some((1e-18, 1e-8)));
    let mut of_case: Vec<&Walk> = walks.iter().filter(|walk| walk.case == *case).collect();
    of_case.sort_by_key(|walk| walk.way as usize);
    for walk in &of_case {
        let errors = walk.errors();
        let points: Vec<[f64; 2]> =
            walk.samples.iter().enumerate().map(|(k, steps)| [*steps as f64, rms(&errors, k, 0)]).collect();
        let growth = walk.growth(0);
        if walk.way == Way::Ours {
            let root = |steps: f64| [steps, growth.a_step * steps.sqrt()];
            panel.marks.push(Mark::line(PAPER.mix(AXIS, 0.5), 6.0, vec![root(10.0), root(longest)]));
        }
        let colour = palette(Way::ALL.iter().position(|way| *way == walk.way).unwrap());
        let mut line = Mark::line(colour, if walk.way == Way::Ours { 2.4 } else { 1.6 }, points.clone());
        line.name = format!("{}, exponent {:.2}", walk.way.name(), growth.exponent);
        panel.marks.push(line);
        panel.marks.push(Mark::new(colour, Shape::Points { points, radius: 2.6, filled: true }));
    }
    panel
}
