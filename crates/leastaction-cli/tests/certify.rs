//! `leastaction certify`, tested by running it: the page, the exit codes, the JSON.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::Folder;
use serde_json::Value;
use std::collections::BTreeSet;

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn a_good_run_passes_on_one_page() {
    let folder = Folder::new("certify-pass");
    let run = folder.run("certify double-pendulum");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.trim_end().ends_with("\nPASS"), "{}", run.stdout);
    assert!(run.stdout.contains("4.00 in q, 4.00 in p, expected 4"), "{}", run.stdout);
    assert!(run.stdout.lines().count() <= 50);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 160), "{}", run.stdout);
}

#[test]
fn a_failing_certificate_is_printed_and_ends_with_1() {
    let folder = Folder::new("certify-fail");
    let run = folder.run("certify double-pendulum --method rk4");
    assert_eq!(run.code, 1);
    assert_eq!(run.stderr, "error: the certificate fails: symplecticity, reversibility, energy\n");
    assert!(run.stdout.contains("  FAIL  symplecticity"), "{}", run.stdout);
    assert!(run.stdout.trim_end().ends_with("FAIL: symplecticity, reversibility, energy"));
}

#[test]
fn the_json_has_the_documented_keys() {
    let folder = Folder::new("certify-json");
    folder.write("run.toml", "system = \"lagrange-top\"\n[run]\nuntil = \"period\"\n");
    let run = folder.run("certify run.toml --json --energy-error 1e-6");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let certificate: Value = serde_json::from_str(&run.stdout).unwrap();
    let book = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/certify.md"));
    // the table of the book: keys in its first column, their numbers in the second
    let book = book.unwrap();
    let rows = book.lines().filter(|line| line.starts_with("| `"));
    let names =
        |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let mut documented = BTreeSet::new();
    for row in rows {
        let cells: Vec<&str> = row.split('|').collect();
        for key in names(cells[1]) {
            let check = match &certificate[&key] {
                Value::Array(list) if key == "momenta" => &list[0],
                value => value,
            };
            if let Some(object) = check.as_object().filter(|_| key != "recommendation") {
                let found: BTreeSet<&str> = object.keys().map(String::as_str).collect();
                let mut wanted: BTreeSet<String> = names(cells[2]).into_iter().collect();
                wanted.extend(["verdict", "finding"].map(str::to_owned));
                if found.contains("advice") {
                    wanted.insert("advice".to_owned());
                }
                assert_eq!(found, wanted.iter().map(String::as_str).collect(), "{key}");
            }
            // only where something was taken out of L
            if key != "lagrangian" || certificate.get("lagrangian").is_some() {
                documented.insert(key);
            }
        }
    }
    assert_eq!(keys(&certificate), documented.iter().map(String::as_str).collect());
    assert_eq!(certificate["verdict"], "pass");
    assert_eq!(certificate["momenta"][0]["name"], "p_phi");
    assert_eq!(certificate["momenta"][0]["largest_change"], 0.0);
    let recommendation = &certificate["recommendation"];
    assert_eq!(recommendation["energy_error"], 1e-6);
    let of_candidate = ["method", "step", "steps", "evaluations", "cost", "energy_error", "measured_until"];
    for candidate in recommendation["candidates"].as_array().unwrap() {
        assert_eq!(keys(candidate), of_candidate.into_iter().collect());
        assert!(candidate["energy_error"].as_f64().unwrap() <= 1e-6);
    }
}

#[test]
fn a_recommended_step_can_be_used_as_printed() {
    let folder = Folder::new("certify-use");
    let page = folder.run("certify henon-heiles --energy-error 1e-7").stdout;
    let row = page.lines().skip_while(|line| !line.contains("evaluations")).nth(1).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    let command = format!("simulate henon-heiles --method {} --step {} --summary json", cells[0], cells[1]);
    let run = folder.run(&command);
    // no note that the steps do not fill the time
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{command}");
    let summary: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(summary["steps"].to_string(), cells[2]);
    assert!(summary["energy"]["max_relative_error"].as_f64().unwrap() <= 1.001e-7, "{command}");
}

#[test]
fn bad_input_ends_with_2() {
    let folder = Folder::new("certify-bad");
    for (arguments, part) in [
        ("certify pendulum --energy-error 0", "try 1e-8"),
        ("certify pendulum --method simson", "`simpson`"),
        ("certify pendulun", "`pendulum`"),
        ("certify pendulum --step -1", "step"),
    ] {
        let run = folder.run(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments}");
        assert!(run.stderr.contains(part), "{arguments}: {}", run.stderr);
    }
}

#[test]
fn what_is_not_as_usual_is_noted() {
    let folder = Folder::new("certify-notes");
    let run = folder.run("certify pendulum --step 0.03 --until 1 --precision 40");
    assert!(run.stdout.contains("note: until = 1 is not a whole number of steps"), "{}", run.stdout);
    assert!(run.stdout.contains("note: measured with 64-bit numbers"), "{}", run.stdout);
}
