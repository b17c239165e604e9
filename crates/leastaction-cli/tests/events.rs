//! Outputs, events and sections, tested by running the command.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{Folder, Output, leastaction};

/// Runs the command with arguments as they are, blanks and all.
fn run(folder: &Folder, arguments: &[&str]) -> Output {
    let output = leastaction().current_dir(folder.path(".")).args(arguments).output().unwrap();
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Header and rows of a CSV file, without comments.
fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let split = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    (split(lines.next().unwrap()), lines.map(split).collect())
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

#[test]
fn outputs_are_columns_arrays_panels_and_lines_of_the_summary() {
    let folder = Folder::new("outputs");
    let flags = "simulate double-pendulum --until 1 --output height=-cos(q1)-cos(q2) --output double=2*height --dense 2";
    let done = folder.run(&format!("{flags} --out run.csv --out run.npz --plot run.svg"));
    assert_eq!(done.code, 0, "{}", done.stderr);
    let (header, rows) = table(&folder.read("run.csv"));
    assert_eq!(header.join(","), "t,q1,q2,v_q1,v_q2,p_q1,p_q2,energy,height,double");
    assert_eq!(rows.len(), 201);
    for row in &rows {
        let height = -number(&row[1]).cos() - number(&row[2]).cos();
        assert!((number(&row[8]) - height).abs() < 1e-14 && number(&row[9]) == 2.0 * number(&row[8]));
    }
    let npz = std::fs::read(folder.path("run.npz")).unwrap();
    for name in ["height.npy", "double.npy", "energy.npy", "coordinates.npy", "run.npy"] {
        assert!(npz.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
    }
    let svg = folder.read("run.svg");
    assert!(svg.contains("Outputs over time") && svg.contains(">height<") && svg.contains(">double<"));
    assert!(done.stdout.contains("  output     height = -1.98"), "{}", done.stdout);
    let json = folder.run(&format!("{flags} --summary json"));
    let summary: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let last = summary["outputs"]["height"]["final"].as_f64().unwrap();
    assert!((last - number(&rows[200][8])).abs() < 1e-15, "{last}");
    assert!(summary["outputs"]["double"]["max"].as_f64().unwrap() > -2.5);
    // the file repeats itself
    assert_eq!(folder.run("simulate run.csv --out again.csv").code, 0);
    assert_eq!(folder.read("run.csv"), folder.read("again.csv"));
}

#[test]
fn events_are_counted_written_and_stop_the_run() {
    let folder = Folder::new("events");
    let done = folder.run(
        "simulate pendulum --until 100 --event low=q:rising --event turn=p_q --stop low=5 --output height=1-cos(q) \
         --events e.csv --events e.npz",
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains(" of 10000 (stopped)"), "{}", done.stdout);
    assert!(done.stdout.contains("  event      low 5 times, first at t = 0.88525"), "{}", done.stdout);
    let (header, rows) = table(&folder.read("e.csv"));
    assert_eq!(header.join(","), "event,count,t,q,v_q,p_q,height");
    assert_eq!(rows.iter().filter(|row| row[0] == "low").count(), 5);
    assert!(rows.windows(2).all(|pair| number(&pair[0][2]) < number(&pair[1][2])));
    for row in &rows {
        let (zero, height) = if row[0] == "low" { (number(&row[3]), 0.0) } else { (number(&row[5]), 1.0) };
        assert!(zero.abs() < 1e-12 && (number(&row[6]) - height).abs() < 1e-6, "{row:?}");
    }
    assert_eq!(rows.last().unwrap()[..2], ["low".to_owned(), "5".to_owned()]);
    let npz = std::fs::read(folder.path("e.npz")).unwrap();
    for name in ["event.npy", "count.npy", "t.npy", "height.npy"] {
        assert!(npz.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
    }
    let json = folder.run("simulate e.csv --summary json");
    let summary: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&summary["outcome"], &summary["events"]["low"]["count"]), (&"stopped".into(), &5.into()));
    let times = summary["events"]["turn"]["times"].as_array().unwrap();
    assert_eq!(times.len() as u64, summary["events"]["turn"]["count"].as_u64().unwrap());
    assert_eq!(times.last().unwrap(), &summary["events"]["turn"]["last"]);
}

#[test]
fn what_does_not_happen_is_said() {
    let folder = Folder::new("never");
    let done = run(
        &folder,
        &[
            "simulate",
            "pendulum",
            "--until",
            "2",
            "--event",
            "over = q - 3",
            "--event",
            "low=q",
            "--stop",
            "low=10",
        ],
    );
    assert_eq!(done.code, 1);
    assert!(done.stdout.contains("200 of 200 (not reached)"), "{}", done.stdout);
    assert!(done.stdout.contains("event      over never happened"), "{}", done.stdout);
    assert!(done.stdout.contains("event      low 3 of 10 times"), "{}", done.stdout);
    assert!(done.stderr.contains("note: `over` never happened"), "{}", done.stderr);
    assert!(done.stderr.contains("before `low` happened 10 times: it happened 3 times"), "{}", done.stderr);
}

#[test]
fn files_describe_outputs_and_events() {
    let folder = Folder::new("files");
    folder.write(
        "run.toml",
        "system = \"kepler\"\n[run]\nuntil = \"5.2*period\"\n[outputs]\nr = \"sqrt(x^2+y^2)\"\n[events]\nfar = { of = \"x*v_x+y*v_y\", direction = \"falling\", stop = 3 }\n",
    );
    let done = folder.run("simulate run.toml --events e.csv");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(table(&folder.read("e.csv")).1.len(), 3);
    // flags go over the file, and the rest of the file stays
    let done = folder.run("simulate run.toml --stop far=2 --event near=x*v_x+y*v_y:rising --events f.csv");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(table(&folder.read("f.csv")).1.len(), 3);
}

#[test]
fn a_formula_that_breaks_down_keeps_what_was_found() {
    let folder = Folder::new("broken");
    let done = folder.run("simulate pendulum --event low=q --event bad=ln(q+1.5) --events e.csv");
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("the formula of the event `bad` gives NaN at t = "), "{}", done.stderr);
    assert!(!table(&folder.read("e.csv")).1.is_empty());
    // the step in which it happened, from its start
    let done = folder.run("simulate pendulum --event bad=ln(q+1.5) --events e.csv");
    assert!(done.stderr.contains("in step 54, from t = 0.53: "), "{}", done.stderr);
    assert!(done.stderr.contains("gives NaN at t = 0.54\n"), "{}", done.stderr);
    assert!(done.stderr.contains("wrote e.csv (1 event)\n"), "{}", done.stderr);
}

#[test]
fn bad_input_is_named() {
    let folder = Folder::new("bad");
    for (arguments, part) in [
        ("simulate pendulum --output x=thta", "error: unknown name `thta`\n --> --output x:1:1"),
        ("simulate pendulum --output energy=q", "output `energy`: the name is taken"),
        ("simulate pendulum --output q", "`--output q` is not of the form NAME=FORMULA"),
        ("simulate pendulum --event low=q:up", "`up` is not a direction"),
        ("simulate pendulum --event low", "`--event low` is not of the form NAME=FORMULA"),
        ("simulate pendulum --event low=q --stop lo=3", "there is no event `lo`; did you mean `low`?"),
        ("simulate pendulum --event low=q --stop low=x", "`x` is not a whole number"),
        ("simulate pendulum --event low=q --stop low=0", "event `low`: stop = 0"),
        ("simulate pendulum --event low=omega", "event `low`: `omega` is the same all the time"),
        ("simulate pendulum --event low=1/t", "the formula of the event `low` gives inf at t = 0"),
        ("simulate pendulum --events e.csv", "there are no events for --events to write"),
        ("simulate pendulum --event low=q --events e.txt", "unknown kind of table"),
        ("section henon-heiles", "a section needs an event"),
        ("section henon-heiles --event s=x --vary y0", "there is no `=`"),
        ("section henon-heiles --event s=x --vary y0=1..2", "there is no number of values"),
        ("section henon-heiles --event s=x --out p.npz", "points are written as .csv"),
        ("section henon-heiles --event s=x --vary mass=1", "`mass` cannot be varied"),
        ("section henon-heiles --event s=x --on t", "there is no event `t`"),
        ("section henon-heiles --event s=x --y p_z", "the axis y:1:1"),
    ] {
        let done = folder.run(arguments);
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{arguments}: {}", done.stderr);
        assert!(done.stderr.contains(part), "{arguments}: {}", done.stderr);
    }
}

#[test]
fn a_section_is_a_list_points_and_a_picture() {
    let folder = Folder::new("section");
    let done = folder.run(
        "section henon-heiles --event s=x:rising --panels E=1/12,1/8 --vary y0=-0.1..0.2:4 --points 20 --out p.csv \
         --plot p.svg --plot p.png",
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.stdout.lines().count(), 9);
    assert!(done.stdout.starts_with("orbit  E     y0    energy"), "{}", done.stdout);
    assert!(done.stderr.contains("wrote p.csv (160 points)"), "{}", done.stderr);
    let (header, rows) = table(&folder.read("p.csv"));
    assert_eq!(header.join(","), "orbit,E,y0,t,y,p_y");
    assert_eq!(rows.len(), 160);
    assert_eq!(rows[159][..3], ["8", "1/8", "0.2"].map(str::to_owned));
    let svg = folder.read("p.svg");
    for part in ["Poincaré section", "E = 1/12", "E = 1/8", "section x = 0, 160 points of 8 motions"] {
        assert!(svg.contains(part), "{part}");
    }
    assert_eq!(svg.matches("h0").count(), 160);
    assert!(std::fs::read(folder.path("p.png")).unwrap().starts_with(b"\x89PNG"));
    // the points file carries the run without variations, and the order does not depend on threads
    assert_eq!(folder.run("simulate p.csv").code, 0);
    let again = folder.run(
        "section henon-heiles --event s=x:rising --panels E=1/12,1/8 --vary y0=-0.1..0.2:4 --points 20 --out p2.csv",
    );
    assert_eq!((again.code, folder.read("p.csv") == folder.read("p2.csv")), (0, true));
    // legends have few digits, the list all of them
    let few = run(
        &folder,
        &[
            "section",
            "henon-heiles",
            "--event",
            "s=x:rising",
            "--vary",
            "y=0..0.2:4",
            "--vary",
            "p_y=sqrt(0.0002)*2",
            "--plot",
            "few.svg",
        ],
    );
    let svg = folder.read("few.svg");
    assert!(
        svg.contains("y = 0.06667, p<") && svg.contains("> = 0.02828<") && !svg.contains("0.0666666"),
        "{}",
        few.stderr
    );
    assert!(few.stdout.contains("0.06666666666"), "{}", few.stdout);
    let json = folder.run("section henon-heiles --event s=x --vary y0=0.1,0.9 --until 20 --format json");
    assert!(
        json.stderr.contains("1 of 2 starts do not exist and are left out, the first with y0 = 0.9"),
        "{}",
        json.stderr
    );
    let list: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((list[0]["values"]["y0"].as_str(), list[0]["outcome"].as_str()), (Some("0.1"), Some("done")));
}

#[test]
fn a_motion_that_never_passes_and_one_that_fails_are_said() {
    let folder = Folder::new("section-notes");
    let done = folder.run("section pendulum --event s=q-3 --vary q=0.5,1");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("2 of 2 motions never pass through the section"), "{}", done.stderr);
    let failed = folder.run("section double-pendulum --event s=q1 --step 0.2 --vary q2=0.1,3 --out p.csv");
    assert_eq!(failed.code, 1, "{}", failed.stdout);
    assert!(failed.stderr.contains("error: motion 2 (q2 = 3): in step"), "{}", failed.stderr);
    assert!(!table(&folder.read("p.csv")).1.is_empty());
}
