//! Every file that fuzzing has kept is read and planned or refused: none panics, hangs or takes all memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::error::Source;
use leastaction::prelude::*;
use leastaction::simulate::Checkpoint;
use leastaction::simulate::ensemble::List;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// The files of a corpus.
fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let files = std::fs::read_dir(folder).unwrap();
    files
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.display().to_string(), std::fs::read(&path).unwrap())
        })
        .collect()
}

/// Plans a file; whether it was accepted.
fn plan(name: &str, text: &str) -> bool {
    let start = Instant::now();
    let planned = Run::read("fuzz", &Source::new("fuzz.toml", text)).and_then(|run| run.plan());
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds < 20.0, "{name} took {seconds} s");
    if let Err(error) = &planned {
        assert!(!error.to_string().is_empty(), "{name}");
    }
    planned.is_ok()
}

#[test]
fn system_files_are_planned_or_refused() {
    let files = corpus("system_file");
    let texts = files.iter().filter_map(|(name, bytes)| Some((name, std::str::from_utf8(bytes).ok()?)));
    let accepted = texts.filter(|(name, text)| plan(name, text)).count();
    assert!(accepted >= 20, "{accepted} of {}", files.len());
}

#[test]
fn formulas_are_read_or_refused() {
    let files = corpus("formula");
    let accepted = files.iter().filter(|(name, bytes)| {
        let Ok(formula) = std::str::from_utf8(bytes) else { return false };
        let head =
            "coordinates = ['x', 'y']\n[parameters]\nm = 2\nk = [3, 4]\n[lagrangian]\nexpression = '''\n";
        plan(name, &format!("{head}{formula}'''\n[initial]\nq = [0.3, 0.4]\nv = [0.1, 0.2]\n"))
    });
    assert!(accepted.count() >= 5);
}

#[test]
fn run_files_are_planned_or_refused() {
    let files = corpus("run_file");
    let texts = files.iter().filter_map(|(name, bytes)| Some((name, std::str::from_utf8(bytes).ok()?)));
    assert!(texts.filter(|(name, text)| plan(name, text)).count() >= 5);
}

#[test]
fn lists_are_read_or_refused() {
    let lists = corpus("csv_list").into_iter().map(|(_, bytes)| List::read_csv(bytes.as_slice()));
    let read = lists.filter(|list| list.as_ref().is_ok_and(|list| list.values.iter().all(|x| x.is_finite())));
    assert!(read.count() >= 2);
}

#[test]
fn checkpoints_are_continued_or_refused() {
    let files = corpus("checkpoint");
    assert!(files.len() >= 5);
    // those of an older format are refused
    let mut continued = 0;
    for (name, bytes) in files {
        let Ok(found) = Checkpoint::read(&bytes) else { continue };
        let plan = found.run.plan().unwrap();
        let mut journey = plan.begin().unwrap();
        if found.restore(&mut journey).is_ok() {
            let most = journey.steps() + 3;
            journey
                .go(&mut |step| if step < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) });
            assert!(journey.steps() >= most, "{name}");
            continued += 1;
        }
    }
    assert!(continued >= 5, "{continued}");
}
