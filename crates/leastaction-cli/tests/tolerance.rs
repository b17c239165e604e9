//! `--tolerance`: what is picked is said, kept to, stored and repeated; what cannot be is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::Folder;

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn what_is_picked_is_said_and_kept_to() {
    let folder = Folder::new("tolerance-said");
    let out = folder.run("simulate double-pendulum --until 10 --tolerance 1e-9 --summary json");
    assert_eq!(out.code, 0, "{}", out.stderr);
    for part in ["picked ", ", step ", " steps): energy error ", " measured up to t = 10, ", " tried in "] {
        assert!(out.stderr.contains(part), "{part}: {}", out.stderr);
    }
    assert!(!out.stderr.contains("warning"), "{}", out.stderr);
    let summary = json(&out.stdout);
    let error = summary["energy"]["max_error"].as_f64().unwrap();
    assert!(error <= 1e-9);
    assert_eq!(summary["tolerance"], 1e-9);
    assert_eq!(summary["picked"]["error"], error);
    assert_eq!(summary["picked"]["measured_until"], 10.0);
    assert!(summary["picked"]["tried"].as_u64().unwrap() > 3);
    // without a tolerance nothing of that
    let out = folder.run("simulate double-pendulum --until 1 --summary json");
    assert!(json(&out.stdout).get("tolerance").is_none() && !out.stderr.contains("picked"));
}

#[test]
fn a_stored_run_repeats_without_a_search() {
    let folder = Folder::new("tolerance-stored");
    folder.write("mine.toml", "system = \"pendulum\"\n[run]\ntolerance = 1e-7\nuntil = 5\nevery = 1\n");
    let first = folder.run("simulate mine.toml --out a.csv");
    assert!(first.stderr.contains("picked"), "{}", first.stderr);
    let second = folder.run("simulate a.csv --out b.csv");
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert!(!second.stderr.contains("picked"), "{}", second.stderr);
    assert_eq!(folder.read("a.csv"), folder.read("b.csv"));
    assert!(folder.read("a.csv").contains("# tolerance = "));
    // a flag asks anew, a flag for the step replaces what was stored
    let third = folder.run("simulate a.csv --tolerance 1e-4");
    assert!(third.stderr.contains("picked"), "{}", third.stderr);
    let fourth = folder.run("simulate a.csv --step 0.01 --summary json");
    assert!(!fourth.stderr.contains("picked"));
    assert_eq!(json(&fourth.stdout)["step"], 0.01);
}

#[test]
fn flags_replace_what_a_file_says() {
    let folder = Folder::new("tolerance-flags");
    folder.write("mine.toml", "system = \"pendulum\"\n[run]\nmethod = \"verlet\"\nstep = 0.01\nuntil = 5\n");
    let out = folder.run("simulate mine.toml --tolerance 1e-10 --summary json");
    assert_ne!(json(&out.stdout)["method"], "verlet");
    let out = folder.run("simulate mine.toml --tolerance 1e-5 --method simpson --summary json");
    assert_eq!(json(&out.stdout)["method"], "simpson");
    assert!(out.stderr.contains("picked simpson"), "{}", out.stderr);
}

#[test]
fn a_run_above_its_tolerance_ends_with_an_error() {
    let folder = Folder::new("tolerance-above");
    let out = folder.run("simulate pendulum --until 5 --tolerance 1e-9 --step 0.1 --method simpson");
    assert_eq!(out.code, 1, "{}", out.stderr);
    for part in [
        "error: the energy error is ",
        "the result is kept",
        "more than the tolerance of 1.0e-9",
        "leave out the step",
    ] {
        assert!(out.stderr.contains(part), "{part}: {}", out.stderr);
    }
    let section = "section henon-heiles --event s=x --until 40 --tolerance 1e-9 --step 0.5 --method simpson";
    let out = folder.run(section);
    assert!(out.code == 1 && out.stderr.contains("1 of 1 motions exceed the tolerance"), "{}", out.stderr);
}

#[test]
fn sections_and_certificates_pick_too() {
    let folder = Folder::new("tolerance-others");
    let out = folder.run("section henon-heiles --event s=x --until 40 --tolerance 1e-9");
    assert_eq!(out.code, 0, "{}", out.stderr);
    assert!(out.stderr.contains("picked") && !out.stderr.contains("warning"), "{}", out.stderr);
    let out = folder.run("certify pendulum --until 5 --tolerance 1e-6 --json");
    assert!(out.stderr.contains("picked"), "{}", out.stderr);
    let certificate = json(&out.stdout);
    assert_eq!(certificate["recommendation"]["energy_error"], 1e-6);
    assert!(out.stderr.contains(certificate["method"].as_str().unwrap()));
    let out = folder.run("ensemble pendulum --until 5 --tolerance 1e-6 --vary q=0.1..3:20 --summary json");
    assert_eq!(out.code, 0, "{}", out.stderr);
    assert!(out.stderr.contains("picked") && !out.stderr.contains("warning"), "{}", out.stderr);
    let summary = json(&out.stdout);
    assert!(summary["energy_error"]["value"].as_f64().unwrap() <= 1e-6);
    // the calm one has larger steps
    assert!(summary["step_sizes"][0].as_f64() < summary["step_sizes"][1].as_f64(), "{summary}");
    let out =
        folder.run("ensemble pendulum --until 5 --tolerance 3e-16 --step 1 --method midpoint --vary q=0.1,3");
    assert!(out.stderr.contains("more than the tolerance of 3.0e-16"), "{}", out.stderr);
    // converge has steps of its own, also for a file with a tolerance
    folder.write("mine.toml", "system = \"pendulum\"\n[run]\ntolerance = 1e-7\nuntil = 2\n");
    assert_eq!(folder.run("converge mine.toml").code, 0);
    let out = folder.run("converge pendulum --tolerance 1e-7");
    assert_eq!(out.code, 2);
}

#[test]
fn bad_tolerances_are_refused() {
    let folder = Folder::new("tolerance-bad");
    for (value, part) in [
        ("0", "a tolerance of 0 cannot be asked for"),
        ("-1e-8", "a tolerance of -1e-8 cannot"),
        ("2", "a tolerance of 2 cannot"),
        ("nan", "nan"),
        ("tight", "tight"),
        ("1e-40", "a tolerance of 1e-40 is below the rounding of the numbers, 2.2e-16"),
        ("1e-40", "the smallest tolerance that makes sense is a few times that: try 1e-15"),
        (
            "1e-40 --step 0.1",
            "for more digits give a precision with a method and a step, such as --precision 40",
        ),
    ] {
        let out = folder.run(&format!("simulate pendulum --until 5 --tolerance {value}"));
        assert_eq!(out.code, 2, "{value}: {}", out.stderr);
        assert!(out.stderr.contains(part), "{value}: {}", out.stderr);
    }
    let out = folder.run("simulate pendulum --until 5 --tolerance 1e-8 --precision 40");
    assert_eq!(out.code, 2);
    assert!(out.stderr.contains("64-bit numbers"), "{}", out.stderr);
    // more digits have less rounding; what did not keep to it is told what would
    let out =
        folder.run("simulate pendulum --until 5 --tolerance 1e-30 --precision 40 --step 0.1 --method gauss4");
    assert!(out.code == 1 && out.stderr.contains("\n  give a smaller step, or"), "{}", out.stderr);
    // more than the digits there are: the last attempt goes to the end, and its result is kept
    let out = folder.run("simulate pendulum --until 5 --tolerance 3e-16 --out kept.csv");
    assert!(out.code == 1 && out.stderr.contains("more than the tolerance of 3.0e-16"), "{}", out.stderr);
    assert!(out.stderr.contains("begins again") && folder.path("kept.csv").is_file(), "{}", out.stderr);
    folder.write("mine.toml", "system = \"pendulum\"\n[run]\ntolerance = [1]\n");
    assert_eq!(folder.run("simulate mine.toml").code, 2);
}
