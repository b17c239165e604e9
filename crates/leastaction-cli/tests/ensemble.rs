//! Ensembles, tested by running the command: files, shards, interruptions, lists, mistakes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{Folder, leastaction};
use leastaction::simulate::ensemble::Status;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

const FLIP: &str = "ensemble double-pendulum --method gauss8 --step 0.02 --until 1 \
                    --event flip=cos(q1/2)*cos(q2/2) --stop flip --vary q1=-pi..pi:31 --vary q2=-3..3:40";

/// Header and rows of a CSV file, without comments.
fn table(text: &str) -> (String, Vec<String>) {
    let mut lines = text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned);
    (lines.next().unwrap(), lines.collect())
}

/// The numbers of an array in an NPZ file.
fn array<T: npyz::Deserialize>(folder: &Folder, file: &str, name: &str) -> Vec<T> {
    let mut archive = zip::ZipArchive::new(fs::File::open(folder.path(file)).unwrap()).unwrap();
    let array = npyz::NpyFile::new(archive.by_name(&format!("{name}.npy")).unwrap()).unwrap();
    array.into_vec().unwrap()
}

#[test]
fn tables_have_a_row_for_each_member_whatever_the_file() {
    let folder = Folder::new("ensemble-tables");
    let done = folder.run(&format!("{FLIP} --out map.csv --out map.npz --plot map.png --plot map.svg"));
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("  members    1240, q1, q2 varied"), "{}", done.stdout);
    assert!(done.stdout.contains("  event      flip in "), "{}", done.stdout);
    let (header, rows) = table(&folder.read("map.csv"));
    assert_eq!(
        header,
        "index,q1,q2,status,t_end,step,q1_end,q2_end,p_q1_end,p_q2_end,\
         energy,energy_error,energy_error_low,energy_error_high,flip_count,flip_first"
    );
    assert_eq!(rows.len(), 1240);
    let column = |k: usize| rows.iter().map(move |row| row.split(',').nth(k).unwrap().to_owned());
    let index: Vec<i64> = array(&folder, "map.npz", "index");
    assert!(index.iter().zip(column(0)).all(|(a, b)| a.to_string() == b));
    let first: Vec<f64> = array(&folder, "map.npz", "flip_first");
    let same = |(a, b): (&f64, String)| a.to_bits() == b.parse::<f64>().unwrap().to_bits() || a.is_nan();
    assert!(first.iter().zip(column(15)).all(same));
    let status: Vec<i8> = array(&folder, "map.npz", "status");
    let word = |code: i8| Status::of_code(code as u64).word();
    assert!(status.iter().zip(column(3)).all(|(code, found)| word(*code) == found));
    assert!(column(3).any(|found| found == "stopped") && column(3).any(|found| found == "not reached"));
    assert!(!folder.path("map.csv.part").exists());
    let svg = folder.read("map.svg");
    assert!(svg.contains("first time of flip") && svg.contains("white: never until t = 1 s"));
    // the file is a run file, too
    let again = folder.run("ensemble map.csv --out again.csv --threads 1");
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(folder.read("again.csv"), folder.read("map.csv"));
}

#[test]
fn threads_and_shards_give_the_same_bytes() {
    let folder = Folder::new("ensemble-shards");
    let draws =
        "ensemble pendulum --until 0.5 --vary omega=5..8:9 --draw q=uniform(-pi,pi) --members 30 --seed 4";
    for threads in 1..=3 {
        let done =
            folder.run(&format!("{draws} --threads {threads} --out {threads}.csv --out {threads}.npz"));
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert_eq!(folder.read("1.csv"), folder.read(&format!("{threads}.csv")));
        let bytes = |name: &str| fs::read(folder.path(name)).unwrap();
        assert_eq!(bytes("1.npz"), bytes(&format!("{threads}.npz")));
    }
    let (header, whole) = table(&folder.read("1.csv"));
    for shards in [1, 3, 7] {
        let mut rows = Vec::new();
        for shard in 1..=shards {
            let done = folder.run(&format!("{draws} --shard {shard}/{shards} --out part.csv"));
            assert_eq!(done.code, 0, "{}", done.stderr);
            let (own, part) = table(&folder.read(&format!("part.{shard}-of-{shards}.csv")));
            assert_eq!(own, header);
            rows.extend(part);
        }
        assert_eq!(rows, whole, "{shards} shards");
    }
}

#[test]
fn a_journal_cut_anywhere_is_resumed_to_the_same_bytes() {
    let folder = Folder::new("ensemble-resume");
    let flags = "ensemble pendulum --until 0.3 --vary q=-1..1:150 --threads 2 --out map.npz";
    let done = folder.run(flags);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let whole = fs::read(folder.path("map.npz")).unwrap();
    fs::remove_file(folder.path("map.npz")).unwrap();
    killed_and_resumed(&folder, &flags.replace("150", "150000"));
    // whoever is killed leaves a prefix of the journal
    let journal = complete_journal(&folder, flags);
    for cut in [0, 1, 40, 100, journal.len() / 3, journal.len() / 2, journal.len() - 1, journal.len()] {
        fs::write(folder.path("map.npz.part"), &journal[..cut]).unwrap();
        let refused = folder.run(flags);
        assert_eq!(refused.code, if cut == 0 { 0 } else { 2 }, "cut at {cut}: {}", refused.stderr);
        fs::write(folder.path("map.npz.part"), &journal[..cut]).unwrap();
        let _ = fs::remove_file(folder.path("map.npz"));
        let resumed = folder.run(&format!("{flags} --resume"));
        assert_eq!(resumed.code, 0, "cut at {cut}: {}", resumed.stderr);
        assert_eq!(fs::read(folder.path("map.npz")).unwrap(), whole, "cut at {cut}");
        assert!(!folder.path("map.npz.part").exists());
    }
    // nothing left to do, and something else
    let again = folder.run(&format!("{flags} --resume"));
    assert!(again.code == 0 && again.stderr.contains("nothing to resume"), "{}", again.stderr);
    let other = folder.run("ensemble pendulum --until 0.4 --vary q=-1..1:150 --out map.npz --resume");
    assert!(other.code == 2 && other.stderr.contains("holds something else"), "{}", other.stderr);
    fs::write(folder.path("map.npz.part"), &journal).unwrap();
    let other = folder.run("ensemble pendulum --until 0.4 --vary q=-1..1:150 --out map.npz --resume");
    assert!(other.code == 2 && other.stderr.contains("belongs to another ensemble"), "{}", other.stderr);
}

#[test]
fn a_list_is_a_file() {
    let folder = Folder::new("ensemble-no-list");
    fs::create_dir(folder.path("folder.csv")).unwrap();
    let refused = folder.run("ensemble pendulum --until 1 --list folder.csv --out map.npz");
    assert!(
        refused.code == 2 && refused.stderr.contains("`folder.csv`: it is no regular file"),
        "{}",
        refused.stderr
    );
}

#[test]
fn numbers_with_exponents_are_the_same_when_an_ensemble_is_resumed() {
    for flags in [
        "--vary omega=5..8:50 --tolerance 1e-8",
        "--vary omega=5..8:50 --tolerance 0.00000001",
        "--vary omega=5..8:50 --q0 1e-7 --step 1e-2",
        "--vary q=-1..1:50 --set omega=25e-1",
    ] {
        let folder = Folder::new("ensemble-exponents");
        let flags = format!("ensemble pendulum --until 0.3 {flags} --out map.npz");
        assert_eq!(folder.run(&flags).code, 0, "{flags}");
        let whole = fs::read(folder.path("map.npz")).unwrap();
        fs::remove_file(folder.path("map.npz")).unwrap();
        let journal = complete_journal(&folder, &flags);
        fs::write(folder.path("map.npz.part"), journal).unwrap();
        let resumed = folder.run("resume map.npz.part");
        assert_eq!(resumed.code, 0, "{flags}: {}", resumed.stderr);
        assert_eq!(fs::read(folder.path("map.npz")).unwrap(), whole, "{flags}");
    }
}

#[test]
fn a_journal_is_resumed_under_any_name_and_damage_is_told() {
    let folder = Folder::new("ensemble-renamed");
    let flags = "ensemble pendulum --until 0.3 --vary q=-1..1:150 --out map.npz";
    assert_eq!(folder.run(flags).code, 0);
    let whole = fs::read(folder.path("map.npz")).unwrap();
    fs::remove_file(folder.path("map.npz")).unwrap();
    let journal = complete_journal(&folder, flags);
    let resumed = |journal: &[u8], note: &str| {
        fs::write(folder.path("kept.part"), journal).unwrap();
        let resumed = folder.run("resume kept.part");
        assert!(resumed.code == 0 && resumed.stderr.contains(note), "{}", resumed.stderr);
        assert_eq!(fs::read(folder.path("map.npz")).unwrap(), whole);
        assert!(!folder.path("kept.part").exists() && !folder.path("map.npz.part").exists());
    };
    resumed(&journal, "150 of 150 members were computed before");
    // without a beginning that can be read nobody knows what it belongs to; the command that began it does
    let title = "leastaction: an ensemble that is not finished\n".len();
    for (what, bytes, words) in [
        ("cut", journal[..title + 20].to_vec(), "is left of an ensemble, and its beginning"),
        ("no text", [&journal[..title + 20], &[0xff], &journal[title + 21..]].concat(), "and its beginning"),
        ("a long text", [&journal[..title], &[0xff; 8], &journal[title + 8..]].concat(), "and its beginning"),
        ("no run", [&journal[..title + 8], b"!", &journal[title + 9..]].concat(), "and its beginning"),
        ("no journal", [b"?", &journal[1..]].concat(), "it is no checkpoint"),
    ] {
        fs::write(folder.path("kept.part"), &bytes).unwrap();
        let refused = folder.run("resume kept.part");
        assert!(refused.code == 2 && refused.stderr.contains(words), "{what}: {}", refused.stderr);
        let advice = ["with --resume", "remove the file to begin anew"];
        let told = advice.iter().all(|part| refused.stderr.contains(part));
        assert!(told || words == "it is no checkpoint", "{what}: {}", refused.stderr);
        assert_eq!(folder.run("verify kept.part").code, 2, "{what}");
    }
    let mut damaged = journal;
    let place = damaged.len() - damaged.len() / 8;
    damaged[place] ^= 16;
    resumed(&damaged, "kept.part` is damaged behind");
}

/// An ensemble that is killed while at work, and continued.
fn killed_and_resumed(folder: &Folder, flags: &str) {
    let mut child = leastaction()
        .current_dir(folder.path("."))
        .args(flags.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let part = folder.path("map.npz.part");
    let start = Instant::now();
    while fs::metadata(&part).map_or(0, |data| data.len()) < 100_000
        && start.elapsed() < Duration::from_secs(60)
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!folder.path("map.npz").exists());
    let resumed = folder.run(&format!("{flags} --resume"));
    assert!(
        resumed.code == 0 && resumed.stderr.contains("members were computed before"),
        "{}",
        resumed.stderr
    );
    let index: Vec<i64> = array(folder, "map.npz", "index");
    assert_eq!(index, (0..150_000).collect::<Vec<_>>());
    fs::remove_file(folder.path("map.npz")).unwrap();
}

/// The journal of an ensemble that could not be written at its end: the output is a device without room.
fn complete_journal(folder: &Folder, flags: &str) -> Vec<u8> {
    let link = folder.path("map.npz");
    std::os::unix::fs::symlink("/dev/full", &link).unwrap();
    let full = folder.run(flags);
    assert!(
        full.code == 1 && full.stderr.contains("all members are kept in `map.npz.part`"),
        "{} {}",
        full.code,
        full.stderr
    );
    assert!(full.stderr.contains("error: cannot write `map.npz`"), "{}", full.stderr);
    fs::remove_file(&link).unwrap();
    let bytes = fs::read(folder.path("map.npz.part")).unwrap();
    fs::remove_file(folder.path("map.npz.part")).unwrap();
    bytes
}

#[test]
fn failures_are_counted_and_named_and_the_others_go_on() {
    let folder = Folder::new("ensemble-failures");
    let some =
        folder.run("ensemble double-pendulum --until 0.1 --vary m2=-1..1:5 --out map.csv --summary json");
    assert_eq!(some.code, 0, "{}", some.stderr);
    assert!(some.stderr.contains("warning: 3 of 5 members failed"), "{}", some.stderr);
    assert!(some.stderr.contains("member 0: not definite at t = 0 (m2 = -1)"), "{}", some.stderr);
    assert!(some.stdout.contains("\"failed\":3") && some.stdout.contains("\"done\":2"), "{}", some.stdout);
    let (_, rows) = table(&folder.read("map.csv"));
    assert!(
        rows[2].starts_with("2,0,singular mass,0,") && rows[3].starts_with("3,0.5,done,0.1,"),
        "{rows:?}"
    );
    let all = folder.run("ensemble double-pendulum --until 0.1 --vary m2=-3..-1:5 --out all.csv");
    assert!(all.code == 1 && all.stderr.contains("every member failed"), "{}", all.stderr);
    assert_eq!(table(&folder.read("all.csv")).1.len(), 5);
}

#[test]
fn lists_are_rows_of_starts() {
    let folder = Folder::new("ensemble-lists");
    folder.write("starts.csv", "# by hand\nq1,p_q2,g\n0.5,0,9.81\n1.5,0.1,1.62\n");
    folder.write(
        "run.toml",
        "system = \"double-pendulum\"\n[run]\nuntil = 1\n[ensemble]\nlist = \"starts.csv\"\n",
    );
    let done = folder.run("ensemble run.toml --out map.csv");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let (header, rows) = table(&folder.read("map.csv"));
    assert!(header.starts_with("index,q1,p_q2,g,status,t_end,step,"));
    let single =
        folder.run("simulate double-pendulum --until 1 --q0 1.5,pi/3 --p0 0,0.1 --set g=1.62 --summary json");
    let end = rows[1].split(',').nth(7).unwrap();
    assert!(single.stdout.contains(&format!("\"q\":[{end},")), "{} {rows:?}", single.stdout);
    for (text, words) in [
        ("q1,z\n1,2\n", "`z` cannot be varied"),
        ("q1,g\n1,\n", "starts.csv`: line 2: the value of `g` is missing"),
        ("q1\none\n", "no number: `one`"),
        ("q1,q1\n1,2\n", "two columns are called `q1`"),
        ("q1\n", "no rows"),
    ] {
        folder.write("starts.csv", text);
        let wrong = folder.run("ensemble run.toml --out wrong.csv");
        assert!(wrong.code == 2 && wrong.stderr.contains(words), "{text}: {}", wrong.stderr);
    }
    let missing = folder.run("ensemble pendulum --list nothing.csv");
    assert!(missing.code == 2 && missing.stderr.contains("the list `nothing.csv`"), "{}", missing.stderr);
}

#[test]
fn mistakes_are_told_before_anything_is_computed() {
    let folder = Folder::new("ensemble-mistakes");
    for (flags, words) in [
        ("", "nothing varies"),
        ("--vary q", "not of the form NAME=VALUES"),
        ("--vary z=0..1:3", "`z` cannot be varied\n --> --vary:1:1"),
        ("--vary r=0..1:3", "`r` cannot be varied\n --> --vary:1:1"),
        ("--draw r=uniform(0,1)", "`r` cannot be varied\n --> --draw:1:1"),
        (
            "--vary q=0..1:3 --draw q=uniform(0,1)",
            "`q` is varied twice; leave out one of them\n --> --draw:1:1",
        ),
        ("--vary q=0..1", "how many values is missing"),
        ("--vary q=0..sni(1):3", "unknown function `sni`"),
        ("--draw q=gauss(0,1)", "unknown distribution `gauss`"),
        ("--draw q=uniform(1,0)", "try uniform(0, 1)"),
        ("--vary q=0..1:3 --vary q=0..2:3", "`--vary q` is given twice"),
        ("--draw q=uniform(0,1) --draw q=uniform(0,2)", "`--draw q` is given twice"),
        ("--vary q=0..1:3 --tolerance 1e-8 --until 0", "the run ends where it starts"),
        ("--vary q=0..1:3 --members 4", "nothing is drawn"),
        ("--draw q=uniform(0,1) --seed -1", "whole number from 0"),
        ("--vary q=0..1:3 --shard 0/3", "from 1/7 to 7/7"),
        ("--vary q=0..1:3 --shard 4/3", "from 1/7 to 7/7"),
        ("--vary q=0..1:3 --threads 0", "from 1 to 4096"),
        ("--vary q=0..1:3 --shard 1/3 --plot a.png", "--plot needs all members"),
        ("--vary q=0..1:3 --shard 1/3 --plot a.png", "leave out --plot, and when all parts are there join"),
        ("--vary q=0..1:3 --resume", "nothing to resume without"),
        ("--vary q=0..1:3 --out a.txt", "unknown kind of table"),
        ("--vary q=0..1:3 --precision 64", "ensembles run in f64"),
        ("--draw q=uniform(0,1) --members 9 --plot a.png", "draws grids of one or two names"),
        ("--vary q=1,2,4 --vary omega=1,2 --plot a.png", "not evenly spaced"),
        ("--vary q=0..1:3 --plot a.png --colour qend", "there is no column `qend`; did you mean `q_end`"),
    ] {
        let wrong = folder.run(&format!("ensemble pendulum {flags}"));
        assert!(wrong.code == 2 && wrong.stderr.contains(words), "{flags}: {} {}", wrong.code, wrong.stderr);
    }
    assert_eq!(fs::read_dir(folder.path(".")).unwrap().count(), 0);
}

#[test]
fn curves_and_other_columns_are_drawn() {
    let folder = Folder::new("ensemble-curves");
    let done =
        folder.run("ensemble pendulum --until 1 --vary q=0.1..3:40 --plot a.svg --colour t_end --plot b.png");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(folder.read("a.svg").contains("t end") && folder.path("b.png").exists());
    assert!(!folder.path("a.svg.part").exists());
}
