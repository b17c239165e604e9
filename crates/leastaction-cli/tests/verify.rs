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
        "simulate pendulum --t0 1e7 --until 10000050 --step 1e-3 --every 5 --out late.csv",
        "simulate double-pendulum --tolerance 1e-6 --until 300 --out loose.csv",
        "simulate n-pendulum --precision 30 --every 3 --until 0.5 --out many.csv",
        "simulate pendulum --until 1 --event inf=q-0.5 --event never=q+100 --out named.csv --events named-events.csv",
        "ensemble pendulum --until 1 --vary q=-1..1:300 --out map.csv --out map.npz",
    ] {
        let done = folder.run(run);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    for file in ["a.csv", "a.npz"] {
        let text = assert_good(&folder, file);
        for part in ["bit by bit", "yes: all 668 rows", "all were taken again from the start"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    assert!(assert_good(&folder, "top.csv").contains("p_phi, p_psi to the last bit"));
    assert!(assert_good(&folder, "top.check").contains("yes: all that it holds"));
    assert!(assert_good(&folder, "kepler.npz").contains("yes: all"));
    assert!(assert_good(&folder, "stopped.csv").contains("same bits"));
    for file in ["e.csv", "late.csv", "loose.csv", "many.csv", "named.csv", "named-events.csv"] {
        assert_good(&folder, file);
    }
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
    for (column, what) in [
        (0, "times"),
        (1, "same bits"),
        (3, "same bits"),
        (5, "same bits"),
        (7, "energies"),
        (7, "same bits"),
    ] {
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
    // rows that the run does not have
    let stop = folder.run("simulate pendulum --until 3 --event low=q --stop low --out s.csv");
    assert_eq!(stop.code, 0, "{}", stop.stderr);
    assert_eq!(folder.run("simulate pendulum --until 3 --out l.csv").code, 0);
    let (short, long) = (folder.read("s.csv"), folder.read("l.csv"));
    let more = long.lines().last().unwrap();
    folder.write("b.csv", &format!("{short}{more}\n"));
    assert_eq!(verify(&folder, "b.csv").0, 1);
    // a time between two steps
    assert_eq!(folder.run("simulate pendulum --until 1 --dense 3 --out d.csv").code, 0);
    folder.write("b.csv", &replaced(&folder.read("d.csv"), 7, 0, next));
    assert!(verify(&folder, "b.csv").1.contains(&"same bits".to_owned()));
    // members
    assert_eq!(folder.run("ensemble pendulum --until 1 --vary q=-1..1:30 --out m.csv").code, 0);
    let members = folder.read("m.csv");
    let lines: Vec<&str> = members.lines().collect();
    folder.write("b.csv", &(lines[..lines.len() - 3].join("\n") + "\n"));
    assert!(verify(&folder, "b.csv").1.contains(&"members".to_owned()));
    // a run whose end is missing is still what the run gives
    folder.write("b.csv", &(rows[..rows.len() - 100].join("\n") + "\n"));
    let (code, wrong, text) = verify(&folder, "b.csv");
    assert!(code == 1 && wrong == ["checksum"] && text.contains("the run goes on for 100 more"), "{text}");
}

#[test]
fn events_are_computed_again() {
    let folder = Folder::new("verify-events");
    let run = "simulate double-pendulum --until 40 --output height=-cos(q1) --event down=q1 --event fast=v_q2-3 --events e.csv";
    assert_eq!(folder.run(run).code, 0);
    let text = assert_good(&folder, "e.csv");
    for part in ["the formulas of all events vanish", "yes: all "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // event, count, t, q1, q2, v_q1, v_q2, p_q1, p_q2, height; without its checksum the rest must notice
    let text = folder.read("e.csv");
    let unsealed = text.replacen(&text[text.find(", checksum").unwrap()..text.find('\n').unwrap()], "", 1);
    let next = |x: f64| f64::from_bits(x.to_bits() + 1).to_string();
    for column in 1..10 {
        let change = |x: f64| if column == 1 { (x + 1.0).to_string() } else { next(x) };
        folder.write("b.csv", &replaced(&unsealed, 7, column, change));
        let (code, wrong, text) = verify(&folder, "b.csv");
        assert!(code == 1 && wrong.contains(&"same bits".to_owned()), "column {column}: {text}");
    }
    folder.write("b.csv", &replaced(&unsealed, 0, 3, |_| "1e-9".to_owned()));
    assert!(verify(&folder, "b.csv").1.contains(&"zeros".to_owned()));
    // events that did not happen, and those of others
    let last = unsealed.lines().last().unwrap();
    folder.write("b.csv", &format!("{unsealed}{last}\n"));
    assert_eq!(verify(&folder, "b.csv").1, ["checksum", "same bits"]);
    folder.write("b.csv", &unsealed.replace("\ndown,", "\nup,"));
    let (code, _, text) = verify(&folder, "b.csv");
    assert!(code == 2 && text.contains("the run has no event `up`"), "{text}");
}

#[test]
fn the_list_of_an_ensemble_may_lie_beside_its_result() {
    let folder = Folder::new("verify-list");
    folder.write("starts.csv", "q\n0.5\n0.6\n");
    assert_eq!(folder.run("ensemble pendulum --until 1 --list starts.csv --out m.csv").code, 0);
    assert_good(&folder, "m.csv");
    let elsewhere = folder.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    for file in ["starts.csv", "m.csv"] {
        fs::rename(folder.path(file), elsewhere.join(file)).unwrap();
    }
    assert_good(&folder, "elsewhere/m.csv");
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
    // states of other moments: their energies are right, their velocities fit their momenta
    let rows: Vec<&str> = text.lines().collect();
    let mut changed: Vec<String> = rows.iter().map(|&row| row.to_owned()).collect();
    for at in (rows.len() - 200..rows.len()).step_by(3) {
        let time = rows[at].split_once(',').unwrap().0;
        let other = rows[at - 7].split_once(',').unwrap().1;
        changed[at] = format!("{time},{other}");
    }
    folder.write("b.csv", &(changed.join("\n") + "\n"));
    let (code, wrong, text) = verify(&folder, "b.csv --spots 40");
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
    fs::write(folder.path("other.part"), [0xff; 20]).unwrap();
    fs::create_dir(folder.path("folder.npz")).unwrap();
    folder.write("old.check", "leastaction checkpoint 1\n");
    // the number of the method: at 8 before each array, and at 10 in the list of them
    let mut compressed = npz.clone();
    for at in 0..npz.len() - 4 {
        match &npz[at..at + 4] {
            b"PK\x03\x04" => compressed[at + 8] = 8,
            b"PK\x01\x02" => compressed[at + 10] = 8,
            _ => {}
        }
    }
    fs::write(folder.path("compressed.npz"), &compressed).unwrap();
    for (file, reason) in [
        ("compressed.npz", "its arrays are compressed"),
        ("compressed.npz", "save it without: numpy.savez(\"new.npz\", **numpy.load(\"old.npz\"))"),
        ("folder.npz", "`folder.npz` is a folder\n  give a file in it: a result (.csv"),
        ("old.check", "it has format 1, and this build (version"),
        ("old.check", "reads format 3; builds of one version may have different formats\n  continue it with"),
        ("other.part", "no table of leastaction\n  give a result"),
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

#[test]
fn bits_of_an_archive_that_readers_need_are_noticed() {
    // the version of the program, or a name before an array, was not looked at: `numpy.load` refused what `verify` found good
    let folder = Folder::new("verify-archive");
    assert_eq!(folder.run("simulate pendulum --until 0.1 --out good.npz").code, 0);
    let bytes = fs::read(folder.path("good.npz")).unwrap();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(&bytes)).unwrap();
    let mut places = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).unwrap();
        let (head, data) = (entry.header_start() as usize, entry.data_start().unwrap() as usize);
        places.extend(head..head + 4);
        places.extend(head + 26..head + 30 + entry.name_raw().len());
        places.extend((data..data + entry.compressed_size() as usize).step_by(13));
    }
    assert!(places.len() > 200, "{}", places.len());
    for place in places {
        let mut changed = bytes.clone();
        changed[place] ^= 1 << (place % 8);
        fs::write(folder.path("bad.npz"), changed).unwrap();
        assert_ne!(folder.run("verify bad.npz").code, 0, "byte {place} of {}", bytes.len());
    }
}

#[test]
fn line_ends_of_another_editor_are_no_change() {
    let folder = Folder::new("verify-line-ends");
    let runs = [
        "simulate pendulum --until 1 --event low=q --out a.csv --events e.csv",
        "ensemble pendulum --until 1 --list starts.csv --out m.csv",
    ];
    folder.write("starts.csv", "# by hand\r\nq\r\n0.1\r\n0.2\r\n");
    for run in runs {
        let done = folder.run(run);
        assert_eq!(done.code, 0, "{run}: {}", done.stderr);
    }
    let as_others_write = |name: &str| folder.write(name, &folder.read(name).replace('\n', "\r\n"));
    for name in ["a.csv", "e.csv", "m.csv"] {
        as_others_write(name);
        assert_good(&folder, name);
    }
    // the run in a table, and a list that was changed after it was used
    let again = folder.run("simulate a.csv");
    assert_eq!(again.code, 0, "{}", again.stderr);
    let again = folder.run(&format!("{} --resume", runs[1]));
    assert!(again.code == 0 && again.stderr.contains("nothing to resume"), "{}", again.stderr);
    folder.write("starts.csv", "q\n0.1\n0.2\n");
    assert_good(&folder, "m.csv");
}

/// A result without its checksum, changed.
fn forged(text: &str, from: &str, to: &str) -> String {
    let (start, end) = (text.find(", checksum").unwrap(), text.find('\n').unwrap());
    let unsealed = text[..start].to_owned() + &text[end..];
    assert!(unsealed.contains(from), "{from}: {unsealed}");
    unsealed.replacen(from, to, 1)
}

#[test]
fn numbers_that_a_file_claims_are_compared_before_they_are_used() {
    let folder = Folder::new("verify-forged");
    for run in [
        "simulate pendulum --until 1 --every 50 --out a.csv",
        "ensemble pendulum --until 0.1 --vary q=-1..1:9 --shard 2/3 --out m.csv",
    ] {
        assert_eq!(folder.run(run).code, 0, "{run}");
    }
    let rows = folder.read("a.csv");
    let header = rows.find("\nt,q").unwrap() + 1;
    let head = &rows[..=header + rows[header..].find('\n').unwrap()];
    let last = rows.lines().last().unwrap();
    // one row, which is not that of the start
    let lone = format!("{head}{last}\n");
    folder.write("b.csv", &forged(&lone, "every = 50", "every = 50"));
    let (code, wrong, text) = verify(&folder, "b.csv");
    assert!(code == 1 && wrong.contains(&"times".to_owned()), "{text}");
    assert!(text.contains("row 0 has t = 1, which is no time of the run"), "{text}");
    // and so late that it would be behind the one before the first
    let late = format!("{head}{}\n", last.replacen('1', "1e17", 1));
    folder.write("b.csv", &forged(&late, "every = 50", "every = 9223372036854775807"));
    let (code, wrong, text) = verify(&folder, "b.csv");
    assert!(code == 1 && wrong.contains(&"times".to_owned()), "{text}");
    // a row in so many steps that three rows are more than can be counted
    folder.write("b.csv", &forged(&rows, "every = 50", "every = 9223372036854775807"));
    let (code, wrong, text) = verify(&folder, "b.csv");
    assert!(code == 1 && wrong.contains(&"times".to_owned()), "{text}");
    // parts that there are not, or with other members
    let part = folder.read("m.2-of-3.csv");
    let title = "# # shard 2/3: members 3 to 6 of 9";
    assert_good(&folder, "m.2-of-3.csv --seed 18446744073709551615");
    for claim in [
        "2/3: members 6 to 3 of 9",
        "2/3: members 18446744073709551615 to 6 of 9",
        "2/3: members 3 to 18446744073709551615 of 9",
        "2/0: members 3 to 6 of 9",
        "0/3: members 0 to 0 of 9",
        "18446744073709551615/18446744073709551615: members 3 to 6 of 9",
        "two",
    ] {
        folder.write("b.csv", &forged(&part, title, &format!("# # shard {claim}")));
        let (code, wrong, text) = verify(&folder, "b.csv");
        assert!(code == 1 && wrong.contains(&"members".to_owned()), "{claim}: {text}");
        let words = format!("it says that it is the shard {claim}, and there is none like that");
        assert!(text.contains(&words), "{claim}: {text}");
    }
}
