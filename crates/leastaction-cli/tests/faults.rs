//! Runs and ensembles that are killed, starved of room or begun twice: nothing is lost, nothing is doubled, no bit differs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![cfg(unix)]

mod common;

use common::{Folder, leastaction};
use leastaction::simulate::Checkpoint;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// So many times a run and an ensemble are killed.
const KILLS: usize = 50;
/// What must become of them.
const NOTHING_LOST: &str = "kills 50, resumes 50, rows lost 0, rows doubled 0, final bits equal";
const SIGKILL: i32 = 9;

/// Numbers that look as if drawn; the same in every run of the test.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Whether a file is there and not empty.
fn holds_something(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.len() > 0)
}

/// Starts the command and kills it a while after a file is there, unless it ends by itself.
fn start_and_kill(folder: &Folder, arguments: &str, file: Option<&Path>, after: Duration) -> ExitStatus {
    let mut child = leastaction()
        .current_dir(folder.path(""))
        .args(arguments.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while file.is_some_and(|file| !holds_something(file)) && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(after);
    let _ = child.kill();
    child.wait().unwrap()
}

/// What became of a victim.
#[derive(Debug, Default, PartialEq)]
struct Toll {
    kills: usize,
    resumes: usize,
    /// Rows of the undisturbed tables that are not there, and rows that are there more often than in those.
    lost: usize,
    doubled: usize,
    /// Results with other bytes.
    differ: usize,
}

impl Toll {
    /// Compares results with those that were not disturbed.
    fn count(&mut self, own: &Folder, undisturbed: &Folder, results: &[&str]) {
        for result in results {
            let [own, whole] = [own, undisturbed].map(|folder| fs::read(folder.path(result)).unwrap());
            self.differ += usize::from(own != whole);
            if result.ends_with(".csv") {
                let [own, whole] = [own, whole].map(|bytes| rows(&String::from_utf8(bytes).unwrap()));
                let missing = |some: &BTreeMap<String, usize>, other: &BTreeMap<String, usize>| -> usize {
                    let other = |row: &String| other.get(row).copied().unwrap_or(0);
                    some.iter().map(|(row, count)| count.saturating_sub(other(row))).sum()
                };
                self.lost += missing(&whole, &own);
                self.doubled += missing(&own, &whole);
            }
        }
    }
}

impl fmt::Display for Toll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, resumes, lost, doubled, differ } = self;
        let bits = if *differ == 0 { "equal".to_owned() } else { format!("of {differ} files different") };
        write!(
            f,
            "kills {kills}, resumes {resumes}, rows lost {lost}, rows doubled {doubled}, final bits {bits}"
        )
    }
}

/// The rows of a table, and how often each is there.
fn rows(table: &str) -> BTreeMap<String, usize> {
    let mut rows = BTreeMap::new();
    for line in table.lines().filter(|line| !line.starts_with('#')).skip(1) {
        *rows.entry(line.to_owned()).or_default() += 1;
    }
    rows
}

/// What is killed and continued until it ends by itself.
struct Victim {
    /// The command that begins it.
    begin: &'static str,
    /// What is left of it if it is killed.
    left: &'static str,
    /// Its results, as bytes.
    results: &'static [&'static str],
    /// It lives so many milliseconds at most.
    life: u64,
}

impl Victim {
    fn undisturbed(&self, name: &str) -> Folder {
        let folder = Folder::new(name);
        let done = folder.run(self.begin);
        assert_eq!(done.code, 0, "{}", done.stderr);
        folder
    }

    /// Kills it until it has been killed so often in all with something left, and resumes it each time, or lets it end if it comes that far. Now and
    /// then it is killed while it begins, perhaps with nothing left, which does not count.
    fn suffer(&self, name: &str, kills: usize, look: impl Fn(&Folder)) -> Toll {
        let undisturbed = self.undisturbed(&format!("{name}-undisturbed"));
        let mut dice = Dice(7);
        let mut toll = Toll::default();
        while toll.kills < kills {
            let folder = Folder::new(name);
            loop {
                let left = folder.path(self.left);
                let goes_on = holds_something(&left);
                let resume = format!("resume {}", self.left);
                let command = if goes_on { resume.as_str() } else { self.begin };
                toll.resumes += usize::from(goes_on);
                // the last one lives as long as it wants
                let life = if toll.kills < kills { 1 + dice.below(self.life) } else { 600_000 };
                let status = if toll.kills < kills {
                    let file = (goes_on || dice.below(4) > 0).then_some(left.as_path());
                    start_and_kill(&folder, command, file, Duration::from_millis(life))
                } else {
                    let done = folder.run(command);
                    ExitStatus::from_raw(done.code << 8)
                };
                if status.signal() == Some(SIGKILL) {
                    toll.kills += usize::from(holds_something(&left));
                    look(&folder);
                    continue;
                }
                assert_eq!(status.code(), Some(0), "{command}");
                break;
            }
            assert!(
                fs::read_dir(folder.path("")).unwrap().count() <= self.results.len() + 1,
                "something is left over"
            );
            toll.count(&folder, &undisturbed, self.results);
            fs::remove_dir_all(folder.path("")).unwrap();
        }
        toll
    }
}

/// The times in the first column of a table, whole lines only.
fn times(text: &str) -> Vec<String> {
    assert!(text.ends_with('\n'), "the last line is cut off");
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|line| line.split(',').next().unwrap().to_owned()).collect()
}

#[test]
fn rows_that_are_lost_or_doubled_are_counted() {
    let [own, whole] = ["toll-own", "toll-whole"].map(Folder::new);
    whole.write("run.csv", "# a run\nt,q\n0,1\n1,2\n2,3\n3,4\n");
    let count = |text: &str| {
        own.write("run.csv", text);
        let mut toll = Toll::default();
        toll.count(&own, &whole, &["run.csv"]);
        toll.to_string()
    };
    for (rows, words) in [
        ("0,1\n1,2\n2,3\n3,4\n", "rows lost 0, rows doubled 0, final bits equal"),
        ("0,1\n3,4\n", "rows lost 2, rows doubled 0, final bits of 1 files different"),
        (
            "0,1\n1,2\n1,2\n2,3\n2,3\n2,3\n3,4\n",
            "rows lost 0, rows doubled 3, final bits of 1 files different",
        ),
        ("0,1\n2,3\n1,2\n3,4\n", "rows lost 0, rows doubled 0, final bits of 1 files different"),
    ] {
        let toll = count(&format!("# a run\nt,q\n{rows}"));
        assert!(toll.ends_with(words), "{rows}: {toll}");
    }
}

#[test]
fn fifty_kills_of_a_run_lose_nothing() {
    let victim = Victim {
        begin: "simulate double-pendulum --method gauss8 --step 0.01 --until 20000 --every 1000 --event down=q1 \
                --out run.csv --out run.npz --events down.csv --checkpoint run.check --checkpoint-every 20000steps",
        left: "run.check",
        results: &["run.csv", "run.npz", "down.csv"],
        life: 240,
    };
    let places = RefCell::new(BTreeSet::new());
    let toll = victim.suffer("killed-run", KILLS, |folder| {
        let Ok(kept) = Checkpoint::open(&folder.path("run.check")) else {
            assert!(fs::read(folder.path("run.check")).unwrap_or_default().is_empty(), "half a checkpoint");
            return;
        };
        places.borrow_mut().insert(kept.steps);
        // what is there can be read, each row once, up to the checkpoint at least
        if kept.steps > 0 {
            let found = times(&folder.read("run.csv"));
            let different: BTreeSet<&String> = found.iter().collect();
            assert_eq!(found.len(), different.len(), "a row is doubled");
            assert!(found.len() as u64 > kept.steps / 1000, "rows are behind the checkpoint");
        }
        if let Ok(file) = fs::File::open(folder.path("run.npz")) {
            assert!(zip::ZipArchive::new(file).is_ok());
        }
    });
    let places = places.borrow().len();
    println!("run: {toll}; at {places} places");
    // few if the machine has much else to do
    assert!(places >= 5, "{places}");
    assert_eq!(toll.to_string(), NOTHING_LOST);
}

#[test]
fn fifty_kills_of_an_ensemble_lose_nothing() {
    let victim = Victim {
        begin: "ensemble double-pendulum --method gauss8 --step 0.02 --until 10 --vary q1=-3..3:80 --vary q2=-3..3:75 \
                --event flip=cos(q1/2)*cos(q2/2) --stop flip --out map.csv --out map.npz --threads 2",
        left: "map.csv.part",
        results: &["map.csv", "map.npz"],
        life: 250,
    };
    let places = RefCell::new(BTreeSet::new());
    let toll = victim.suffer("killed-ensemble", KILLS, |folder| {
        // what is left grows with every block of members
        places.borrow_mut().insert(fs::metadata(folder.path("map.csv.part")).map_or(0, |data| data.len()));
        // a file is there only when it is whole
        if folder.path("map.csv").exists() {
            assert_eq!(times(&folder.read("map.csv")).len(), 6000);
        }
    });
    let places = places.borrow().len();
    println!("ensemble: {toll}; at {places} places");
    // few if the machine has much else to do
    assert!(places >= 5, "{places}");
    assert_eq!(toll.to_string(), NOTHING_LOST);
}

#[cfg(feature = "parquet")]
#[test]
fn killed_runs_have_the_same_parquet_files() {
    let victim = Victim {
        begin: "simulate double-pendulum --method gauss8 --step 0.01 --until 5000 --every 500 --out run.parquet \
                --checkpoint run.check --checkpoint-every 20000steps",
        left: "run.check",
        results: &["run.parquet"],
        life: 80,
    };
    let toll = victim.suffer("killed-parquet", 10, |_| {});
    assert_eq!(toll, Toll { kills: 10, resumes: 10, ..Toll::default() });
}

/// Runs the command where no file may be longer than so many kilobytes: a write comes to its limit half way, as on a full disk.
fn run_without_room(folder: &Folder, kilobytes: u32, arguments: &str) -> (i32, String) {
    let script = format!("ulimit -f {}; exec \"$0\" {arguments}", 2 * kilobytes);
    let shell = Command::new("sh")
        .current_dir(folder.path(""))
        .args(["-c", &script, env!("CARGO_BIN_EXE_leastaction")])
        .output()
        .unwrap();
    (shell.status.code().unwrap(), String::from_utf8(shell.stderr).unwrap())
}

const RUN: &str = "simulate double-pendulum --method gauss8 --step 0.01 --until 100 --every 5 --out run.csv --checkpoint run.check \
                   --checkpoint-every 1000steps";

#[test]
fn a_full_disk_keeps_what_was_saved_and_the_run_goes_on() {
    let folder = Folder::new("full-disk");
    let undisturbed = Folder::new("full-disk-undisturbed");
    assert_eq!(undisturbed.run(RUN).code, 0);
    for kilobytes in [40, 60, 100, 150] {
        let (code, message) = run_without_room(&folder, kilobytes, RUN);
        assert_eq!(code, 1, "{kilobytes}: {message}");
        assert!(message.contains("cannot write"), "{kilobytes}: {message}");
        assert!(message.contains("`leastaction resume run.check` continues"), "{kilobytes}: {message}");
        // whatever is there is whole
        if folder.path("run.csv").exists() {
            let verified = folder.run("verify run.csv");
            assert_eq!(verified.code, 0, "{kilobytes}: {}{}", verified.stdout, verified.stderr);
        }
        assert_eq!(folder.run("verify run.check").code, 0);
        let names: Vec<String> = fs::read_dir(folder.path(""))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert!(names.iter().all(|name| ["run.csv", "run.check"].contains(&name.as_str())), "{names:?}");
        let resumed = folder.run("resume run.check");
        assert_eq!(resumed.code, 0, "{}", resumed.stderr);
        assert!(folder.read("run.csv") == undisturbed.read("run.csv"), "{kilobytes}");
        fs::remove_file(folder.path("run.check")).unwrap();
        fs::remove_file(folder.path("run.csv")).unwrap();
    }
    // no room for anything
    let (code, message) = run_without_room(&folder, 0, RUN);
    assert!(code == 1 && message.contains("nothing is kept"), "{code}: {message}");
    assert!(!folder.path("run.check").exists() && !folder.path("run.csv").exists());
}

#[test]
fn an_ensemble_without_room_goes_on_later() {
    const MAP: &str = "ensemble pendulum --until 1 --vary q=-1..1:3000 --out map.csv";
    let folder = Folder::new("full-disk-ensemble");
    assert_eq!(folder.run(&MAP.replace("map", "other")).code, 0);
    let (code, message) = run_without_room(&folder, 100, MAP);
    assert!(
        code == 1
            && message.contains("cannot write `map.csv.part`")
            && message.contains("`leastaction resume map.csv.part`"),
        "{code}: {message}"
    );
    assert!(!folder.path("map.csv").exists());
    let resumed = folder.run("resume map.csv.part");
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    assert!(folder.read("map.csv") == folder.read("other.csv"));
}

#[test]
fn results_that_cannot_be_written_are_written_elsewhere_when_it_is_resumed() {
    let folder = Folder::new("elsewhere");
    std::os::unix::fs::symlink("/dev/full", folder.path("run.csv")).unwrap();
    let full = folder.run(RUN);
    assert_eq!(full.code, 1, "{}", full.stderr);
    assert!(full.stderr.contains("step 1000 of 10000 is kept in `run.check`"), "{}", full.stderr);
    let resumed = folder.run("resume run.check --out other.csv");
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    assert_eq!(times(&folder.read("other.csv")).len(), 2001);
    // a folder that is no more
    let run = RUN.replace("run.csv", "gone/run.csv").replace("run.check", "second.check");
    assert_eq!(folder.run(&run).code, 2, "there is no such folder");
}

/// Says that a test is left out here, and why. With LEASTACTION_NO_SKIPS it fails instead.
fn skip(why: &str) {
    assert!(std::env::var_os("LEASTACTION_NO_SKIPS").is_none(), "not tested: {why}");
    // not through a macro, whose words are shown only of tests that fail
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// Runs a script in a shell that may mount: for root in a name space of its own, for others as root of one. Nothing that it mounts is seen elsewhere, or
/// left behind. None, with a word, where that is not allowed. The command is `$0`; standard output is returned.
fn where_mounting_is_allowed(folder: &Folder, script: &str) -> Option<String> {
    fs::create_dir_all(folder.path("disk")).unwrap();
    let shell = |flags: &str, script: &str| {
        let mut command = Command::new("unshare");
        command
            .current_dir(folder.path(""))
            .args([flags, "sh", "-c", script])
            .arg(env!("CARGO_BIN_EXE_leastaction"));
        command.output()
    };
    let allowed = |flags: &&str| {
        let tried = shell(flags, "mount -t tmpfs -o size=100k none disk && mount -o remount,size=200k disk");
        tried.is_ok_and(|output| output.status.success())
    };
    let Some(flags) = ["-m", "-rm"].into_iter().find(allowed) else {
        skip("nothing may be mounted here");
        return None;
    };
    let output = shell(flags, script).unwrap();
    let (said, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{errors}");
    Some(said)
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_system_that_fills_up_is_given_room_and_the_run_goes_on() {
    let folder = Folder::new("small-disk");
    let map = "ensemble pendulum --until 1 --vary q=-1..1:3000 --out map.csv";
    assert_eq!(folder.run(RUN).code, 0);
    assert_eq!(folder.run(map).code, 0);
    // a checkpoint and the next one have 16 to 290 kB, the table as many again; the last is full when the results of the ensemble are written
    for (kilobytes, command, left) in [
        (24, RUN, "run.check"),
        (100, RUN, "run.check"),
        (200, RUN, "run.check"),
        (400, RUN, "run.check"),
        (100, map, "map.csv.part"),
        (500, map, "map.csv.part"),
    ] {
        let script = format!(
            "mount -t tmpfs -o size={kilobytes}k none disk && cd disk || exit 9
            \"$0\" {command} >/dev/null 2>../message; echo $?
            ls -A
            if test -e run.check; then \"$0\" verify run.check || exit 8; fi >../verified
            if test -e run.csv; then \"$0\" verify run.csv || exit 7; fi >>../verified
            mount -o remount,size=9M . || exit 6
            \"$0\" resume {left} >/dev/null 2>../resumed || exit 5
            cmp run.csv ../run.csv || cmp map.csv ../map.csv"
        );
        let Some(said) = where_mounting_is_allowed(&folder, &script) else { return };
        let message = folder.read("message");
        let mut said = said.lines();
        assert_eq!(said.next(), Some("1"), "{kilobytes}: {message}");
        assert!(message.contains("No space left on device"), "{kilobytes}: {message}");
        assert!(
            message.contains(&format!("kept in `{left}`")) || message.contains("are kept in it"),
            "{kilobytes}: {message}"
        );
        assert!(message.contains(&format!("`leastaction resume {left}`")), "{kilobytes}: {message}");
        // nothing half written is left, and nothing in the way
        assert!(said.all(|name| name == left || name == "run.csv"), "{kilobytes}: {message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_system_that_turns_read_only_loses_nothing() {
    let folder = Folder::new("read-only");
    let long = RUN.replace("--until 100 --every 5", "--until 20000 --every 1000");
    assert_eq!(folder.run(&long).code, 0);
    // another view of the same files, which may only be read, is laid over them while the run goes on: the file system itself cannot be turned, as a run on
    // it holds a file. Paths are absolute, because a working folder stays what it was. What was being written at that moment cannot be removed any more.
    let disk = folder.path("disk").display().to_string();
    let there = long.replace("run.", &format!("{disk}/run."));
    let script = format!(
        "mount -t tmpfs -o size=9M none disk || exit 9
        \"$0\" {there} >/dev/null 2>message & run=$!
        while ! test -s disk/run.csv; do kill -0 $run || exit 8; sleep 0.01; done
        mkdir view && mount --bind disk view && mount -o remount,bind,ro view && mount --bind view disk || exit 7
        wait $run; echo $?
        \"$0\" verify disk/run.check >verified || exit 6
        \"$0\" verify disk/run.csv >>verified || exit 5
        \"$0\" resume disk/run.check >/dev/null 2>refused; echo $?
        \"$0\" {there} >/dev/null 2>again; echo $?
        \"$0\" {} >/dev/null 2>new; echo $?
        \"$0\" simulate pendulum --out disk/new.csv 2>at_once; echo $?
        ls -A disk | grep -v leastaction-new
        umount disk || exit 4
        \"$0\" resume disk/run.check >/dev/null 2>resumed || exit 3
        cmp disk/run.csv run.csv",
        there.replace("run.", "new.")
    );
    let Some(said) = where_mounting_is_allowed(&folder, &script) else { return };
    let read = |name: &str| folder.read(name).replace(&format!("{disk}/"), "").replace("disk/", "");
    assert_eq!(
        said,
        "1\n1\n2\n2\n2\nrun.check\nrun.csv\n",
        "{}{}{}",
        read("message"),
        read("refused"),
        read("new")
    );
    for name in ["message", "refused"] {
        let message = read(name);
        assert!(message.contains("Read-only file system"), "{message}");
        assert!(
            message.contains("is kept in `run.check`; `leastaction resume run.check` continues"),
            "{message}"
        );
    }
    assert!(read("again").contains("`leastaction resume run.check` continues it"), "{}", read("again"));
    assert!(read("new").contains("Read-only file system"), "{}", read("new"));
    // without a checkpoint it is better known before anything is computed, and nothing is told of a motion
    assert!(read("at_once").contains("cannot write `new.csv`: Read-only file system"), "{}", read("at_once"));
    assert!(read("resumed").contains("goes on after"), "{}", read("resumed"));
}

/// What differs of a file that was written again; its number alone may come back.
fn identity(path: &Path) -> [i64; 3] {
    let data = fs::metadata(path).unwrap();
    [data.ino() as i64, data.ctime(), data.ctime_nsec()]
}

#[test]
fn a_run_that_is_over_writes_nothing_that_is_there_already() {
    let folder = Folder::new("over");
    let run = "simulate pendulum --until 3 --event low=q --out run.csv --out run.npz --events low.csv --plot run.svg \
               --plot run.png --checkpoint run.check";
    let failed = "simulate double-pendulum --method rk4 --step 0.5 --until 100 --every 1 --out run.csv --checkpoint run.check";
    let names = ["run.csv", "run.npz", "low.csv", "run.svg", "run.png", "run.check"];
    let stopped = format!("{run} --stop low");
    for (command, code, said) in
        [(run, 0, "the run is finished"), (&stopped, 0, "has ended before"), (failed, 1, "has ended before")]
    {
        let begun = folder.run(command);
        assert_eq!(begun.code, code, "{}", begun.stderr);
        let names = names.map(|name| folder.path(name)).into_iter().filter(|path| path.exists());
        let there: Vec<(PathBuf, [i64; 3], Vec<u8>)> =
            names.map(|path| (path.clone(), identity(&path), fs::read(&path).unwrap())).collect();
        let resumed = folder.run("resume run.check");
        assert_eq!(resumed.code, code, "{}", resumed.stderr);
        assert!(resumed.stderr.contains(said), "{}", resumed.stderr);
        assert_eq!(resumed.stdout.lines().next(), begun.stdout.lines().next());
        assert!(there.iter().all(|(path, own, _)| identity(path) == *own), "{}", resumed.stderr);
        // what is gone or changed is made again
        fs::remove_file(folder.path("run.csv")).unwrap();
        if command == run {
            folder.write("run.svg", "<svg/>");
            folder.write("low.csv", &folder.read("low.csv").replacen("low,1,0", "low,1,9", 1));
        }
        let resumed = folder.run("resume run.check");
        assert_eq!(resumed.code, code, "{}", resumed.stderr);
        assert!(there.iter().all(|(path, _, bytes)| fs::read(path).unwrap() == *bytes), "{}", resumed.stderr);
        for (path, _, _) in &there {
            fs::remove_file(path).unwrap();
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_is_over_is_told_of_on_a_disk_that_can_only_be_read() {
    let folder = Folder::new("over-read-only");
    let script = format!(
        "mount -t tmpfs -o size=9M none disk && cd disk || exit 9
        \"$0\" {RUN} --plot run.svg >../first 2>../message || exit 8
        cd .. && mount -o remount,ro disk && cd disk || exit 7
        \"$0\" resume run.check >../second 2>../resumed; echo $?
        \"$0\" resume run.check --out other.csv >../third 2>../other; echo $?"
    );
    let Some(said) = where_mounting_is_allowed(&folder, &script) else { return };
    let told = folder.read("resumed");
    assert_eq!(said, "0\n1\n", "{told}{}", folder.read("other"));
    for words in ["the run is finished: it was over after 10000 of 10000", "run.csv is complete, and left"] {
        assert!(told.contains(words), "{told}");
    }
    // its summary, but for how long it took
    let without_time = |name: &str| folder.read(name).lines().take(5).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(without_time("first"), without_time("second"));
    assert!(folder.read("other").contains("Read-only file system"), "{}", folder.read("other"));
}

#[test]
fn two_processes_do_not_compute_one_checkpoint() {
    let folder = Folder::new("two-processes");
    let begin = "simulate double-pendulum --step 0.001 --until 100000 --checkpoint run.check";
    let spawn = |arguments: &str| {
        leastaction()
            .current_dir(folder.path(""))
            .args(arguments.split_whitespace())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut first = spawn(begin);
    while fs::metadata(folder.path("run.check")).map_or(0, |data| data.len()) == 0 {
        assert!(first.try_wait().unwrap().is_none(), "it has ended");
        std::thread::sleep(Duration::from_millis(2));
    }
    for command in ["resume run.check", begin] {
        let second = folder.run(command);
        assert_eq!(second.code, 2, "{command}");
        assert!(second.stderr.contains("another process is computing"), "{}", second.stderr);
    }
    // asked to end, it saves and ends
    assert!(Command::new("kill").arg(first.id().to_string()).status().unwrap().success());
    assert_eq!(first.wait().unwrap().code(), Some(143));
    let begun = folder.run(begin);
    assert_eq!(begun.code, 2);
    assert!(begun.stderr.contains("`leastaction resume run.check` continues it"), "{}", begun.stderr);
    let mut second = spawn("resume run.check");
    std::thread::sleep(Duration::from_millis(100));
    second.kill().unwrap();
    second.wait().unwrap();
    // what is not a checkpoint is not overwritten
    folder.write("notes.txt", "dear diary\n");
    let other = folder.run(&begin.replace("run.check", "notes.txt"));
    assert!(other.code == 2 && other.stderr.contains("it is no checkpoint"), "{}", other.stderr);
    assert_eq!(folder.read("notes.txt"), "dear diary\n");
}

#[test]
fn a_run_may_be_resumed_in_another_folder_and_when_it_is_over() {
    let folder = Folder::new("another-folder");
    fs::create_dir(folder.path("inner")).unwrap();
    assert_eq!(folder.run(RUN).code, 0);
    let whole = folder.read("run.csv");
    fs::remove_file(folder.path("run.csv")).unwrap();
    let again =
        leastaction().current_dir(folder.path("inner")).args(["resume", "../run.check"]).output().unwrap();
    assert!(again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("was over after 10000 of 10000 steps"));
    assert!(folder.read("run.csv") == whole);
    // and its file may be used for another run
    assert_eq!(folder.run(&RUN.replace("--until 100", "--until 20")).code, 0);
    assert_eq!(times(&folder.read("run.csv")).len(), 401);
}

#[test]
fn pipes_are_refused_at_once() {
    let folder = Folder::new("pipes");
    for name in ["run.toml", "run.csv", "run.npz", "run.svg", "run.check", "other.csv.leastaction-new"] {
        assert!(Command::new("mkfifo").arg(folder.path(name)).status().unwrap().success());
    }
    for (arguments, message) in [
        ("simulate run.toml", "cannot read `run.toml`: it is no regular file"),
        ("simulate run.csv", "cannot read `run.csv`: it is no regular file"),
        ("verify run.csv", "it is no regular file"),
        ("verify run.npz", "it is no regular file"),
        ("resume run.check", "it is no regular file"),
        ("simulate pendulum --checkpoint run.check", "it is no regular file"),
        ("ensemble pendulum --list run.csv --out map.npz", "it is no regular file"),
        ("simulate pendulum --out run.csv", "`run.csv` is a pipe"),
        ("simulate pendulum --events run.csv --event down=q", "`run.csv` is a pipe"),
        ("simulate pendulum --plot run.svg", "`run.svg` is a pipe"),
        ("simulate pendulum --out other.csv", "is no regular file; remove it"),
    ] {
        let mut child = leastaction()
            .current_dir(folder.path(""))
            .args(arguments.split_whitespace())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // it may wait for a machine that is busy, not for somebody at the other end
        for _ in 0..3000 {
            if child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let code = if arguments.contains("other.csv") { 1 } else { 2 };
        assert_eq!(output.status.code(), Some(code), "{arguments}: {said}");
        assert!(said.contains(message), "{arguments}: {said}");
    }
}

#[test]
fn nothing_depends_on_the_clock_on_the_wall() {
    // it may jump; durations are taken from a clock that only goes forward
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut folders = vec![format!("{root}/leastaction/src"), format!("{root}/leastaction-cli/src")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.to_str().unwrap().to_owned());
            } else if path.extension().is_some_and(|e| e == "rs") {
                files += 1;
                assert!(!fs::read_to_string(&path).unwrap().contains("SystemTime"), "{}", path.display());
            }
        }
    }
    assert!(files > 100);
}

/// A library that stands before the system's own and tells the command other times: the clock on the wall goes years back and forth; if
/// LEASTACTION_SLEEP is a number, the one for durations goes an hour ahead after so many looks at it and in the middle of the first checkpoint that has a
/// table, as on a machine that sleeps. It leaves how often it was asked in the file that LEASTACTION_LOOKS names.
#[cfg(target_os = "linux")]
const CLOCKS: &str = r#"
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_long wall, steady, asleep, synced;
static long sleepy;

int clock_gettime(clockid_t clock, struct timespec *time) {
    static const long jumps[] = {3600, -7200, 31557600, -315576000, 0, 86400};
    long done = syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        time->tv_sec += jumps[wall++ % 6];
    else if (clock == CLOCK_MONOTONIC) {
        if (++steady % (sleepy ? sleepy : 1) == 0 && sleepy) asleep += 3600;
        time->tv_sec += asleep;
    }
    return done;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *out, void *zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return 0;
}

int fsync(int file) {
    if (++synced == 4 && sleepy) asleep += 3600;
    return syscall(SYS_fsync, file);
}

__attribute__((constructor)) static void begin(void) {
    const char *number = getenv("LEASTACTION_SLEEP");
    sleepy = number ? atol(number) : 0;
}

__attribute__((destructor)) static void end(void) {
    const char *name = getenv("LEASTACTION_LOOKS");
    FILE *file = name ? fopen(name, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld %ld %ld %ld\n", (long)wall, (long)steady, (long)asleep, (long)synced);
    fclose(file);
}
"#;

#[cfg(target_os = "linux")]
#[test]
fn clocks_that_jump_change_nothing() {
    let folder = Folder::new("clocks");
    folder.write("clocks.c", CLOCKS);
    let compile = ["-shared", "-fPIC", "-O1", "-o", "clocks.so", "clocks.c"];
    match Command::new("cc").current_dir(folder.path("")).args(compile).output() {
        Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr)),
        Err(error) => {
            skip(&format!("there is no C compiler here ({error})"));
            return;
        }
    }
    let run = "simulate double-pendulum --method gauss8 --step 0.01 --until 100000 --every 10000 --out run.csv \
               --checkpoint run.check --checkpoint-every 1s";
    let map = "ensemble double-pendulum --method gauss8 --step 0.02 --until 20 --vary q1=-3..3:40 --vary q2=-3..3:40 \
               --out map.csv --threads 2";
    assert_eq!(folder.run(run).code, 0);
    assert_eq!(folder.run(map).code, 0);
    let [whole, whole_map] = ["run.csv", "map.csv"].map(|name| folder.read(name));
    for sleeps in [false, true] {
        for (command, result, expected, number) in
            [(run, "run.csv", &whole, "100000"), (map, "map.csv", &whole_map, "20")]
        {
            for name in ["run.check", "looks", result] {
                let _ = fs::remove_file(folder.path(name));
            }
            let mut disturbed = leastaction();
            disturbed
                .current_dir(folder.path(""))
                .args(command.split_whitespace())
                .env("LD_PRELOAD", folder.path("clocks.so"))
                .env("LEASTACTION_LOOKS", folder.path("looks"))
                .stdout(Stdio::null())
                .stderr(Stdio::piped());
            if sleeps {
                disturbed.env("LEASTACTION_SLEEP", number);
            }
            let mut child = disturbed.spawn().unwrap();
            let mut places = BTreeSet::new();
            while child.try_wait().unwrap().is_none() {
                places.extend(Checkpoint::open(&folder.path("run.check")).map(|kept| kept.steps));
                std::thread::sleep(Duration::from_millis(10));
            }
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{command}: {said}");
            assert!(folder.read(result) == *expected, "{result} differs");
            // the clocks were those of the library
            let looks = folder.read("looks");
            let looks: Vec<u64> = looks.split_whitespace().map(|word| word.parse().unwrap()).collect();
            assert!(looks[1] > 0 && (looks[2] > 0) == sleeps, "{looks:?}");
            // and nobody asked the one on the wall
            assert_eq!(looks[0], 0, "{looks:?}");
            println!("{result}: {looks:?} looks, {} checkpoints seen", places.len());
            if result == "run.csv" {
                // also after an hour in which one was written
                assert!(places.len() > 2, "{places:?}");
            }
        }
    }
}
