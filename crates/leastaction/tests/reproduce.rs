//! The papers' tables against an independent computation, and the verdicts on what was printed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use leastaction::papers::{Batch, Entry, Options, Paper, Precision, Table, TableReport, Verdict, papers};
use leastaction::scalar::{Digits, Real};
use leastaction::system::Quantity;
use std::collections::HashMap;
use std::ops::ControlFlow;

const OWN: Options = Options { precision: Precision::Own, longest: None, beyond: false };

fn compute(papers: &[Paper], ids: &[&str], options: &Options) -> Vec<TableReport> {
    let wanted = |table: &&Table| ids.is_empty() || ids.contains(&table.id.as_str());
    let tables: Vec<&Table> = papers.iter().flat_map(|paper| &paper.tables).filter(wanted).collect();
    Batch::new(&tables, options).unwrap().run(&|_| ControlFlow::Continue(())).unwrap()
}

/// Values by table, row and column, as decimals.
fn independent() -> HashMap<[String; 3], String> {
    let lines = include_str!("data/independent.csv").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(';').collect();
            (std::array::from_fn(|i| cells[i].to_owned()), cells[3].to_owned())
        })
        .collect()
}

fn key(entry: &Entry) -> [String; 3] {
    [entry.table.clone(), entry.row.clone(), entry.column.clone()]
}

#[test]
fn all_tables() {
    let papers = papers().unwrap();
    let reports = compute(&papers, &[], &OWN);
    let entries: Vec<&Entry> = reports.iter().flat_map(|report| &report.entries).collect();
    assert_eq!(entries.len(), 252);

    let count = |verdict| entries.iter().filter(|e| e.verdict == verdict).count();
    assert_eq!(count(Verdict::LastDigit), 229);
    assert_eq!(count(Verdict::Close), 5);
    assert_eq!(count(Verdict::Truncated), 3);
    assert_eq!(count(Verdict::Rounding), 9);
    assert_eq!(count(Verdict::Missing), 0);

    values_agree(&entries);
    errata_are_found(&entries);
    orders_agree(&reports);
    choices_decide(&reports);
}

/// The smallest errors carry the rounding of what they are the difference of. That of the nutation is large: relative to an
/// angle that gets as small as 0.05, of a motion so close to the upright one that its phase depends strongly on the momenta.
fn tolerance(table: &str, expected: f64) -> f64 {
    if table == "000.T4" { 1e-4 * expected + 2e-12 } else { 1e-6 * expected + 1e-14 }
}

/// Six digits of every value that is not zero in exact arithmetic.
fn values_agree(entries: &[&Entry]) {
    let independent = independent();
    let mut compared = 0;
    for entry in entries.iter().filter(|e| e.verdict != Verdict::Rounding) {
        let expected: f64 = independent[&key(entry)].parse().unwrap();
        let found = entry.computed.unwrap();
        assert!(
            (found - expected).abs() < tolerance(&entry.table, expected),
            "{:?}: {found:e}, not {expected:e}",
            key(entry)
        );
        compared += 1;
    }
    assert_eq!(compared, 243);
}

fn errata_are_found(entries: &[&Entry]) {
    let errata: Vec<&&Entry> = entries.iter().filter(|e| e.verdict == Verdict::Erratum).collect();
    let expected = [
        (
            "000.T2",
            "T = 1000 s, Explicit RK4",
            "h = 0.04",
            7.42e-2,
            "repeats that of `T = 1 s, Explicit RK4`",
        ),
        ("000.T2", "T = 1000 s, Explicit RK4", "h = 0.02", 3.22e-3, "4.75 is that of the computed values"),
        (
            "000.T2",
            "T = 1000 s, Explicit RK4",
            "h = 0.01",
            1.03e-4,
            "repeats that of `T = 1 s, Explicit RK4`",
        ),
        ("001.T2", "T = 10 s, p, Newmark", "N = 400", 7.82e-2, "the power of ten is off by +1"),
        ("001.T2", "T = 10 s, p, RK4", "N = 400", 6.378e-4, "a supremum cannot shrink with time"),
        (
            "001.T2",
            "T = 10 s, q, RK4",
            "N = 400",
            2.172e-3,
            "falls 2.1-fold, the computed one falls 15.2-fold",
        ),
    ];
    assert_eq!(errata.len(), expected.len());
    for (entry, (table, row, column, value, reason)) in errata.iter().zip(expected) {
        assert_eq!(key(entry), [table, row, column]);
        assert!((entry.computed.unwrap() / value - 1.0).abs() < 2e-3, "{:?}", entry.computed);
        assert!(entry.note.contains(reason), "{row} {column}: {}", entry.note);
    }
}

/// All printed orders are those of the computed values, but for the two that follow from wrong entries.
fn orders_agree(reports: &[TableReport]) {
    let orders = reports.iter().flat_map(|report| &report.orders);
    let wrong: Vec<&str> = orders.filter(|order| !order.agrees).map(|order| order.row.as_str()).collect();
    assert_eq!(wrong, ["T = 10 s, p, RK4", "T = 10 s, q, RK4"]);
}

/// What the papers leave open or misprint matters: taken as printed, entries would be other numbers.
fn choices_decide(reports: &[TableReport]) {
    let choices: Vec<_> = reports.iter().flat_map(|report| &report.choices).collect();
    assert_eq!(choices.len(), 10);
    for choice in choices {
        let off = |value: f64| (value / choice.value_printed - 1.0).abs();
        assert!(off(choice.value_used) < 0.01, "{choice:?}");
        assert!(off(choice.value_as_printed) > 0.2, "{choice:?}");
    }
}

#[test]
fn the_table_that_needs_more_digits_in_f64() {
    let papers = papers().unwrap();
    let reports = compute(&papers, &["004.T2"], &Options { precision: Precision::F64, ..OWN });
    for entry in &reports[0].entries {
        assert!(matches!(entry.verdict, Verdict::LastDigit | Verdict::Close), "{entry:?}");
        assert!(entry.computed_digits.is_none());
    }
}

type Number = Digits<4>;

/// The largest relative difference of the values of some tables from the independent ones.
fn compare_digits(reports: &[TableReport]) -> (f64, usize) {
    let independent = independent();
    let (mut largest, mut compared) = (0f64, 0);
    for entry in reports.iter().flat_map(|report| &report.entries) {
        let found = Number::from_decimal(entry.computed_digits.as_ref().unwrap());
        let Some(expected) = independent.get(&key(entry)) else {
            assert_eq!(entry.verdict, Verdict::Rounding, "{:?}", key(entry));
            assert!(entry.computed.unwrap() < 1e-70, "{:?}: {:?}", key(entry), entry.computed);
            continue;
        };
        let expected = Number::from_decimal(expected);
        use leastaction::scalar::Field;
        largest = largest.max(((found - expected) / expected).magnitude());
        compared += 1;
    }
    (largest, compared)
}

#[test]
fn energies_of_the_double_pendulum_to_twenty_digits() {
    let papers = papers().unwrap();
    let options =
        Options { precision: Precision::Digits(64), longest: Some(Quantity::Number(10.0)), beyond: false };
    let (difference, compared) = compare_digits(&compute(&papers, &["000.T2"], &options));
    assert_eq!(compared, 18);
    assert!(difference < 2e-20, "{difference:e}");
}

#[test]
fn a_row_of_every_table_with_64_digits() {
    let papers = papers().unwrap();
    // one period, or one second
    let options =
        Options { precision: Precision::Digits(64), longest: Some(Quantity::Number(2.0)), beyond: false };
    for (id, rows, digits) in [
        ("000.T4", 3, 1e-18),
        ("000.T5", 3, 1e-18),
        ("001.T2", 6, 1e-16),
        ("002.T1", 6, 1e-20),
        ("003.T1", 6, 1e-20),
        ("004.T1", 3, 1e-20),
        ("004.T2", 3, 1e-20),
    ] {
        let (difference, compared) = compare_digits(&compute(&papers, &[id], &options));
        assert_eq!(compared, 3 * rows, "{id}");
        assert!(difference < digits, "{id}: {difference:e}");
    }
}

#[test]
fn lobatto_beyond_the_papers() {
    let papers = papers().unwrap();
    // 100 seconds, or ten periods
    let options = Options { longest: Some(Quantity::Number(100.0)), beyond: true, ..OWN };
    let reports = compute(&papers, &["000.T2", "000.T4", "000.T5"], &options);
    let mut compared = 0;
    for line in include_str!("data/independent_lobatto.csv").lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split(';').collect();
        let report = reports.iter().find(|report| report.table.id == cells[0]).unwrap();
        let row = report.beyond.iter().find(|row| row.label == cells[1] && row.method == "lobatto");
        let Some(row) = row else { continue };
        let found = row.values[cells[2].parse::<usize>().unwrap()].unwrap();
        let expected: f64 = cells[3].parse().unwrap();
        assert!((found - expected).abs() < tolerance(cells[0], expected), "{line}: {found:e}");
        compared += 1;
    }
    assert_eq!(compared, 21);
    for row in reports.iter().flat_map(|report| &report.beyond) {
        let digits = row.method.trim_start_matches(char::is_alphabetic);
        let order: f64 = if digits.is_empty() { 6.0 } else { digits.parse().unwrap() };
        // at such large steps and next to rounding the slope is only roughly the order
        assert!(row.order.is_none_or(|slope| (slope - order).abs() < 2.0), "{row:?}");
    }
}

#[test]
fn a_broken_table_is_refused_with_its_name() {
    let text = include_str!("../../../papers/003.toml");
    let refused = |text: &str| Paper::from_toml("mine.toml", text).unwrap_err().to_string();
    let broken = text.replacen("columns = [", "columns = [\"extra\", ", 1);
    assert!(refused(&broken).contains("table 003.T1: there must be as many columns as steps"));
    let broken = text.replacen("measure = \"state\"", "measure = \"velocity\"", 1);
    assert!(refused(&broken).contains("must name one of its measures"));
    let broken = text.replacen("entry = [0, 0]", "entry = [99, 0]", 1);
    assert!(refused(&broken).contains("outside of the table"));
    let broken = text.replacen("\"1.91\"", "\"1,91\"", 1);
    assert!(refused(&broken).contains("mine.toml") && refused(&broken).contains("`1,91` is not a number"));
    let broken = text.replacen("\"003.F1\", ", "", 1);
    assert!(refused(&broken).contains("`003.F1` must be both in `order`"));
    let broken = text.replacen("steps =", "stepz =", 1);
    assert!(refused(&broken).contains("stepz"));
}

#[test]
fn verdicts_follow_the_numbers() {
    let text = include_str!("../../../papers/001.toml");
    let judged = |from: &str, to: &str| -> Entry {
        assert!(text.contains(from), "{from}");
        let paper = Paper::from_toml("changed.toml", &text.replacen(from, to, 1)).unwrap();
        let options = Options { longest: Some(Quantity::Number(10.0)), ..OWN };
        let reports = compute(&[paper], &[], &options);
        reports[0]
            .entries
            .iter()
            .find(|e| e.row == "T = 10 s, p, Simpson" && e.column == "N = 400")
            .unwrap()
            .clone()
    };
    let right = judged("2.68e-5", "2.68e-5");
    assert_eq!(right.verdict, Verdict::LastDigit);
    let wrong = judged("2.68e-5", "2.68e-4");
    assert!(wrong.verdict == Verdict::Erratum && wrong.note.contains("off by +1"), "{}", wrong.note);
    let wrong = judged("2.68e-5", "2.86e-5");
    assert!(wrong.verdict == Verdict::Erratum && wrong.note.contains("falls"), "{}", wrong.note);
    // a first digit with zeros behind it is a cut number only if little is lost
    assert_eq!(judged("2.68e-5", "2.00e-5").verdict, Verdict::Erratum);
    let row = "\"7.20e-3\", \"4.33e-4\", \"2.68e-5\"";
    let wrong = judged(row, "\"6.40e-4\", \"4.16e-5\", \"2.57e-6\"");
    assert!(wrong.note.contains("repeats that of `T = 1 s, p, Simpson`"), "{}", wrong.note);
}

#[test]
fn an_interrupted_table_says_what_is_missing() {
    let papers = papers().unwrap();
    let tables: Vec<&Table> = papers[4].tables.iter().collect();
    let reports = Batch::new(&tables, &OWN).unwrap().run(&|_| ControlFlow::Break(())).unwrap();
    // nothing is said of orders that were not measured
    for order in reports.iter().flat_map(|report| &report.orders) {
        assert!(!order.measured && order.computed.is_none() && order.agrees);
    }
    for entry in reports.iter().flat_map(|report| &report.entries) {
        assert_eq!(entry.verdict, Verdict::Missing);
        assert!(entry.computed.is_none() && entry.note == "interrupted");
    }
}
