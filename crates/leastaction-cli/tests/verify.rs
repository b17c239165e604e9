//! `leastaction verify`, tested on whole and on damaged files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::Folder;
use std::fs;

/// Runs `verify` and gives its exit code and the names of what was wrong.
fn verify(folder: &Folder, arguments: &str) -> (i32, Vec<String>, String) {
    let found = folder.run(&format!("verify {arguments} --format json"));
    let wrong = serde_json::from_str::<serde_json::Value>(&found.stdout).map_or_else(
        |_| Vec::new(),
        |report| {
            let checks = report["checks"].as_array().unwrap().iter();
            let wrong = checks.filter(|check| check["good"] == false);
            wrong.map(|check| check["what"].as_str().unwrap().to_owned()).collect()
        },
    );
    (found.code, wrong, found.stdout + &found.stderr)
}

#[track_caller]
fn assert_good(folder: &Folder, arguments: &str) -> String {
    let (code, wrong, text) = verify(folder, arguments);
    assert!(code == 0 && wrong.is_empty(), "{arguments}: {text}");
    text
}

#[test]
fn results_of_all_kinds_are_verified() {
    let folder = Folder::new("verify-good");
    for run in [
        "simulate double-pendulum --until 20 --every 3 --output height=-cos(q1) --event down=q1 --out a.csv --out a.npz --events e.csv",
        "simulate lagrange-top --until 5 --dense 3 --out top.csv --checkpoint top.check",
        "simulate kepler --precision 40 --until 3 --out kepler.npz",
        "simulate pendulum --method rk4 --until 5 --event low=q --stop low --out stopped.csv",
        "ensemble pendulum --until 1 --vary q=-1..1:300 --out map.csv --out map.npz",
    ] {
        let done = folder.run(run);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    for file in ["a.csv", "a.npz"] {
        let text = assert_good(&folder, file);
        for part in ["bit by bit", "yes: all 667 rows", "12 rows are reached from those before"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    assert!(assert_good(&folder, "top.csv").contains("p_phi, p_psi to the last bit"));
    assert!(assert_good(&folder, "top.check").contains("yes: all that it holds"));
    assert!(assert_good(&folder, "kepler.npz").contains("yes: all"));
    assert!(assert_good(&folder, "stopped.csv").contains("same bits"));
    assert_good(&folder, "e.csv");
    for file in ["map.csv", "map.npz"] {
        assert!(assert_good(&folder, file).contains("12 of 300 members"));
    }
    assert!(assert_good(&folder, "map.csv --all").contains("300 of 300 members"));
}

/// The number of a place in a row of a CSV file, replaced.
fn replaced(text: &str, row: usize, column: usize, change: impl Fn(f64) -> String) -> String {
    let mut data = 0;
    let line = |line: &str| {
        if line.starts_with('#') {
            return line.to_owned();
        }
        data += 1;
        if data != row + 2 {
            return line.to_owned();
        }
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        cells[column] = change(cells[column].parse().unwrap());
        cells.join(",")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn what_was_changed_is_noticed() {
    let folder = Folder::new("verify-bad");
    assert_eq!(folder.run("simulate double-pendulum --until 30 --every 2 --out a.csv --out a.npz").code, 0);
    let text = folder.read("a.csv");
    // t, q1, q2, v_q1, v_q2, p_q1, p_q2, energy; without its checksum the rest must notice
    let unsealed = text.replacen(&text[text.find(", checksum").unwrap()..text.find('\n').unwrap()], "", 1);
    let next = |x: f64| f64::from_bits(x.to_bits() + 1).to_string();
    for (column, what) in
        [(0, "times"), (1, "same bits"), (3, "same bits"), (5, "same bits"), (7, "energies")]
    {
        folder.write("b.csv", &replaced(&text, 700, column, next));
        let (code, wrong, text) = verify(&folder, "b.csv");
        assert!(code == 1 && wrong.contains(&"checksum".to_owned()), "column {column}: {text}");
        folder.write("b.csv", &replaced(&unsealed, 700, column, next));
        let (code, wrong, text) = verify(&folder, "b.csv");
        assert!(code == 1 && wrong.contains(&what.to_owned()), "column {column}: {text}");
    }
    // one row in the place of another, a row too few, a state that is none
    let rows: Vec<&str> = unsealed.lines().collect();
    let without = |gone: usize| {
        rows.iter().enumerate().filter(|(k, _)| *k != gone).map(|(_, row)| *row).collect::<Vec<_>>()
    };
    folder.write("b.csv", &(without(rows.len() - 300).join("\n") + "\n"));
    assert!(verify(&folder, "b.csv").1.contains(&"times".to_owned()));
    folder.write("b.csv", &replaced(&unsealed, 9, 2, |_| "NaN".to_owned()));
    assert!(verify(&folder, "b.csv").1.contains(&"numbers".to_owned()));
    // a parameter of the run
    folder.write("b.csv", &unsealed.replacen("# g = 9.81", "# g = 9.82", 1));
    let (code, wrong, text) = verify(&folder, "b.csv");
    assert!(code == 1 && wrong.contains(&"energies".to_owned()), "{text}");
    // a run whose end is missing is still what the run gives
    folder.write("b.csv", &(rows[..rows.len() - 100].join("\n") + "\n"));
    assert!(assert_good(&folder, "b.csv").contains("the run goes on for 100 more"));
}

#[test]
fn steps_between_rows_are_taken_again() {
    let folder = Folder::new("verify-steps");
    assert_eq!(
        folder.run("simulate double-pendulum --step 0.001 --until 2000 --every 5000 --out a.csv").code,
        0
    );
    // the rows after the first million steps are only reached from those before
    let text = assert_good(&folder, "a.csv");
    assert!(
        text.contains("the first 200 rows, over 1000000 steps") || text.contains("rows, over 500000 steps"),
        "{text}"
    );
    let text = folder.read("a.csv");
    // a state of another moment: its energy is right, its velocities fit its momenta
    let rows: Vec<&str> = text.lines().collect();
    let at = rows.len() - 50;
    let time = rows[at].split_once(',').unwrap().0;
    let other = rows[at - 7].split_once(',').unwrap().1;
    let mut changed: Vec<String> = rows.iter().map(|&row| row.to_owned()).collect();
    changed[at] = format!("{time},{other}");
    folder.write("b.csv", &(changed.join("\n") + "\n"));
    let (code, wrong, text) = verify(&folder, "b.csv --spots 400");
    assert!(code == 1 && wrong.contains(&"steps".to_owned()), "{text}");
}

#[test]
fn damaged_files_are_refused_with_a_reason() {
    let folder = Folder::new("verify-damaged");
    assert_eq!(
        folder.run("simulate pendulum --until 5 --out a.csv --out a.npz --checkpoint a.check").code,
        0
    );
    folder.write("c.csv", &folder.read("a.csv")[..20_000]);
    let npz = fs::read(folder.path("a.npz")).unwrap();
    let mut flipped = npz.clone();
    flipped[npz.len() / 3] ^= 1;
    fs::write(folder.path("b.npz"), &flipped).unwrap();
    fs::write(folder.path("c.npz"), &npz[..npz.len() / 2]).unwrap();
    let check = fs::read(folder.path("a.check")).unwrap();
    let mut flipped = check.clone();
    flipped[check.len() / 2] ^= 16;
    fs::write(folder.path("b.check"), &flipped).unwrap();
    fs::write(folder.path("c.check"), &check[..check.len() / 2]).unwrap();
    folder.write("other.csv", "t,q\n0,1\n");
    for (file, reason) in [
        ("c.csv", "cut off"),
        ("b.npz", "is damaged"),
        ("c.npz", "cut off"),
        ("b.check", "its checksum does not fit"),
        ("c.check", "it is cut off"),
        ("other.csv", "no table of leastaction"),
        ("nothing.csv", "No such file"),
    ] {
        let (code, _, text) = verify(&folder, file);
        assert!(code == 2 && text.contains(reason), "{file}: {code} {text}");
    }
}
