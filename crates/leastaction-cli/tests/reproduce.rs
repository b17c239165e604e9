//! `leastaction reproduce` and `leastaction converge`, as a user runs them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{Folder, Output};
use serde_json::Value;
use std::fs;

/// Runs the command in a folder nobody looks at.
fn leastaction(arguments: &str) -> Output {
    Folder::new(&format!("nowhere-{:?}", std::thread::current().id())).run(arguments)
}

fn json(arguments: &str) -> Value {
    let run = leastaction(arguments);
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn entries_as_json() {
    let entries = json("reproduce 002 004.t1 --format json");
    let entries = entries.as_array().unwrap();
    assert_eq!(entries.len(), 18 + 12);
    for entry in entries {
        for key in ["table", "row", "column", "printed", "computed", "verdict", "note"] {
            assert!(entry.get(key).is_some(), "{key} is missing in {entry}");
        }
    }
    let first = &entries[0];
    assert_eq!(first["table"], "002.T1");
    assert_eq!(first["row"], "momentum, Newmark");
    assert_eq!(first["column"], "N = 50");
    assert_eq!(first["printed"], 2.93e-2);
    assert_eq!(first["verdict"], "agrees to the last digit");
    assert!((first["computed"].as_f64().unwrap() - 2.933_264_5e-2).abs() < 1e-8);
    assert_eq!(entries.last().unwrap()["verdict"], "rounding level");
}

#[test]
fn tables_for_people() {
    let run = leastaction("reproduce 001.T2 --until 10");
    assert_eq!(run.code, 0);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].starts_with("001.T2  Linear double pendulum"));
    let row = lines.iter().find(|line| line.starts_with("T = 10 s, p")).unwrap();
    for word in ["Newmark", "7.82e-1", "7.8217e-2 !", "0.90"] {
        assert!(row.contains(word), "{word}: {row}");
    }
    assert!(run.stdout.contains("the digits are right, the power of ten is off by +1"));
    assert!(!run.stdout.contains("T = 100 s"));
    // the orders stand in one column
    let place = lines[2].find("order").unwrap();
    assert_eq!(&row[place..place + 4], "0.90");
    let markdown = leastaction("reproduce 002.T1 --format markdown");
    assert!(markdown.stdout.contains("| momentum | Newmark | 2.93e-2 | 2.9333e-2 |"), "{}", markdown.stdout);
}

#[test]
fn more_digits() {
    let entries = json("reproduce 000.T2 --precision 64 --until 1 --format json");
    let digits = entries[6]["computed_digits"].as_str().unwrap();
    // Simpson, h = 0.04, from an independent computation in quad precision
    assert!(digits.starts_with("8.088287905749441750071"), "{digits}");
}

#[test]
fn one_figure_here_or_in_a_folder() {
    let folder = Folder::new("figure");
    let run = folder.run("reproduce 001.F7");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.is_empty());
    let svg = fs::read_to_string(folder.path("001.F7.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("Simpson, slope 3.99") && svg.contains("001.F7"));
    assert!(fs::read(folder.path("001.F7.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(!folder.path("index.html").exists());
}

#[test]
fn a_report_in_the_order_of_the_paper() {
    let folder = Folder::new("report");
    let run = folder.run("reproduce 003 002.F2 --out deep/er");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let page = fs::read_to_string(folder.path("deep/er/index.html")).unwrap();
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is missing"));
    assert!(
        place("id=\"002.F2\"") < place("id=\"003.F1\"") && place("id=\"003.F1\"") < place("id=\"003.T1\"")
    );
    // every picture the page shows is there
    for name in page.split("src=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(folder.path(&format!("deep/er/{name}")).is_file(), "{name}");
    }
    assert!(page.contains("q = sin(omega t)") && page.contains("class=\"zero\""));
    let entries: Value =
        serde_json::from_str(&fs::read_to_string(folder.path("deep/er/entries.json")).unwrap()).unwrap();
    assert_eq!(entries.as_array().unwrap().len(), 24);
}

#[test]
fn every_figure_of_the_papers_is_there() {
    let papers = leastaction::papers::papers().unwrap();
    let ids: Vec<&str> = papers.iter().flat_map(|p| &p.figures).map(|f| f.id.as_str()).collect();
    let mut expected: Vec<String> = Vec::new();
    let numbers: [(&str, &[u32]); 5] = [
        ("000", &[2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14]),
        ("001", &[2, 3, 4, 5, 6, 7]),
        ("002", &[1, 2]),
        ("003", &[1]),
        ("004", &[1, 2, 3, 4]),
    ];
    for (paper, figures) in numbers {
        expected.extend(figures.iter().map(|n| format!("{paper}.F{n}")));
    }
    assert_eq!(ids, expected);
}

#[test]
fn unknown_things_are_refused() {
    let run = leastaction("reproduce 000.T9");
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("`000.T9` is not a table, a figure or a paper"), "{}", run.stderr);
    assert!(run.stderr.contains("000.T2, 000.T4") && run.stderr.contains("001.F7"));
    let run = leastaction("reproduce 003 --out /dev/null/x");
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("cannot make the folder `/dev/null/x`"), "{}", run.stderr);
    let run = leastaction("reproduce 003 --until 1e-9");
    assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("no row of these tables ends by t = 1e-9"), "{}", run.stderr);
    let run = leastaction("reproduce 003 --until nan");
    assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
}

#[test]
fn odd_requests() {
    assert_eq!(leastaction("reproduce 002.F1 --format json").stdout.trim(), "[]");
    assert!(leastaction("reproduce 002.T1 --until -1").stderr.contains("no row of these tables"));
    // the system has no default step here, but one is given
    let run = leastaction(
        "converge lagrange-top --set g=0 --q0 0,1,0 --v0 1,5,30 --until 0.2 --steps 0.02,0.01 --of theta -m simpson",
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let run = leastaction("converge harmonic-oscillator -m simpson --steps 0.5,0.25 --until 5 --of energy");
    assert!(run.stderr.starts_with("warning: with a step of 0.5 the motion will grow"), "{}", run.stderr);
}

#[test]
fn converge_measures_orders() {
    let report = json("converge pendulum --until period --format json");
    assert_eq!(report["reference"], "the exact solution");
    let series = report["series"].as_array().unwrap();
    assert_eq!(series.len(), 9);
    for s in series {
        let (fitted, order) = (s["fitted_order"].as_f64().unwrap(), s["order"].as_f64().unwrap());
        assert!((fitted - order).abs() < 0.2, "{s}");
        assert_eq!(s["errors"].as_array().unwrap().len(), 6);
        assert_eq!(s["pairwise_orders"].as_array().unwrap().len(), 5);
    }
}

#[test]
fn converge_draws_and_tabulates() {
    let folder = Folder::new("converge");
    let run = folder.run(
        "converge double-pendulum --until 1 --methods simpson,rk4 --steps 0.04,0.02,0.01 --of q,energy --plot c.svg --plot c.png",
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    // the energies of paper 000, table 2
    for value in ["8.0883e-6", "4.9376e-7", "3.0680e-8", "7.2811e-5", "4.02", "5.09"] {
        assert!(run.stdout.contains(value), "{value}: {}", run.stdout);
    }
    assert!(
        run.stdout
            .starts_with("double-pendulum until 1, compared with a run of double-pendulum with gauss12")
    );
    let svg = fs::read_to_string(folder.path("c.svg")).unwrap();
    assert!(svg.contains("simpson, slope 4.02") && svg.contains("rk4, slope 5.09"));
    assert!(folder.path("c.png").is_file());
}

#[test]
fn converge_says_what_is_wrong() {
    let bad = |arguments: &str, words: &[&str]| {
        let run = leastaction(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        for word in words {
            assert!(run.stderr.contains(word), "{arguments:?}: {word}: {}", run.stderr);
        }
    };
    bad("converge pendulum --until 1 --steps 0.3", &["not a whole number of steps", "0.25"]);
    bad("converge pendulum --of thta", &["`thta`", "energy, q, p"]);
    bad("converge double-pendulum --reference exact", &["no closed-form solution"]);
    bad("converge pendulum --reference exact --refine 2", &["refine"]);
    bad("converge pendulum --reference gaus8", &["unknown method `gaus8`", "gauss8"]);
    bad("converge pendulum --plot x.pdf", &["x.pdf", ".svg or .png"]);
    bad("converge pendulum --refine 0", &["refine"]);
    // a run that fails is said, the others are kept
    let run =
        leastaction("converge double-pendulum --until 3 --steps 3,0.01 --methods lobatto20 --of energy");
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stdout.contains("failed") && run.stderr.contains("lobatto20, step 3"), "{}", run.stderr);
}
