//! Runs that do not come to their end: what they leave, the exit code, and what their pictures say. Outputs at the ends of members.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::Folder;

#[cfg(unix)]
mod signals {
    use super::common::{Folder, leastaction};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    const RUN: &str = "simulate double-pendulum --until 1e7 --step 0.001 --every 1000 --out r.csv --plot r.svg --checkpoint r.check";
    const MAP: &str = "ensemble double-pendulum --until 100 --vary q1=-3..3:100000 --out m.csv --threads 1";

    fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
        let start = Instant::now();
        while !is_there() {
            assert!(start.elapsed() < Duration::from_secs(60), "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Starts a command, and waits until it has begun with its work.
    fn start(folder: &Folder, mut command: Command, kept: &str) -> Child {
        command.current_dir(folder.path("")).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        wait_for(kept, || std::fs::metadata(folder.path(kept)).is_ok_and(|data| data.len() > 1000));
        child
    }

    fn send(signal: &str, child: &Child) {
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    #[test]
    fn each_signal_keeps_the_same_and_has_its_own_exit_code() {
        for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
            let folder = Folder::new(&format!("signal{signal}"));
            for (arguments, kept) in [(RUN, "r.check"), (MAP, "m.csv.part")] {
                let mut command = leastaction();
                command.args(arguments.split(' '));
                let mut child = start(&folder, command, kept);
                send(signal, &child);
                assert_eq!(child.wait().unwrap().code(), Some(code), "{signal} {arguments}");
                assert!(folder.path(kept).exists(), "{signal} {kept}");
            }
            let verified = folder.run("verify r.csv");
            assert_eq!(verified.code, 0, "{signal}: {}", verified.stdout + &verified.stderr);
            assert!(folder.read("r.svg").contains("INTERRUPTED at t = "), "{signal}");
        }
    }

    #[test]
    fn a_signal_that_is_ignored_from_the_start_stays_ignored() {
        // as by nohup
        let folder = Folder::new("signal-ignored");
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_leastaction")]);
        shell.args(RUN.split(' '));
        let mut child = start(&folder, shell, "r.check");
        send("-HUP", &child);
        std::thread::sleep(Duration::from_millis(500));
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        send("-TERM", &child);
        assert_eq!(child.wait().unwrap().code(), Some(143));
    }
}

#[test]
fn pictures_of_runs_that_failed_say_so() {
    let folder = Folder::new("failed-pictures");
    // a fall onto the centre, a member that falls, a motion that falls, and what nothing ended
    for (run, words) in [
        ("simulate kepler --q0 1,0 --p0 0,0 --until 5 --step 0.01 --method rk4", "FAILED at t = "),
        ("ensemble kepler --q0 1,0 --p0 0,0 --vary p_x=0,1 --until 5 --method rk4", "members FAILED"),
        (
            "section kepler --q0 1,0 --p0 0,0 --vary p_y=0,1 --event up=y --until 5 --method rk4",
            "motions FAILED",
        ),
        ("simulate pendulum --until 1 --event never=q+100 --stop never", "NOT REACHED: `never`"),
    ] {
        let done = folder.run(&format!("{run} --plot a.svg --plot a.png"));
        let picture = folder.read("a.svg");
        assert!(picture.contains(words), "{run}: exit {} {}", done.code, done.stderr);
        let png = std::fs::read(folder.path("a.png")).unwrap();
        assert!(png.len() > 5000, "{run}: {}", png.len());
    }
    for run in ["simulate kepler --until 1", "ensemble kepler --vary p_x=0,0.1 --until 1"] {
        assert_eq!(folder.run(&format!("{run} --plot b.svg")).code, 0, "{run}");
        assert!(
            !["FAILED", "NOT REACHED", "INTERRUPTED"].iter().any(|word| folder.read("b.svg").contains(word))
        );
    }
}

/// A column of a table, as it is written.
fn column(table: &str, name: &str) -> Vec<String> {
    let mut rows = table.lines().filter(|line| !line.starts_with('#'));
    let place = rows.next().unwrap().split(',').position(|own| own == name);
    let place = place.unwrap_or_else(|| panic!("there is no `{name}` in {table}"));
    rows.map(|row| row.split(',').nth(place).unwrap().to_owned()).collect()
}

#[test]
fn outputs_of_members_are_those_of_their_runs() {
    let folder = Folder::new("member-outputs");
    let outputs = "--output height=-cos(q1)-cos(q2) --output spin=v_q2*m1+t --output double=2*height";
    for (end, more) in [("--until 3", ""), ("--until 9", "--event low=q1 --stop low")] {
        let common = format!("double-pendulum {end} {outputs} {more}");
        let map = folder.run(&format!(
            "ensemble {common} --q0 0,1 --vary q1=0.5..2:9 --vary m1=1,2 --out m.csv --out m.npz"
        ));
        assert_eq!(map.code, 0, "{}", map.stderr);
        let table = folder.read("m.csv");
        let (q1, m1) = (column(&table, "q1"), column(&table, "m1"));
        for row in (0..18).step_by(5) {
            let run =
                folder.run(&format!("simulate {common} --set m1={} --q0 {},1 --out s.csv", m1[row], q1[row]));
            assert_eq!(run.code, 0, "{}", run.stderr);
            let alone = folder.read("s.csv");
            for name in ["q2", "p_q2", "height", "spin", "double"] {
                let own = &column(&table, &format!("{name}_end"))[row];
                assert_eq!(column(&alone, name).last(), Some(own), "{name} of member {row}, {end}");
            }
        }
        for file in ["m.csv", "m.npz"] {
            assert_eq!(folder.run(&format!("verify {file} --all")).code, 0, "{file}");
        }
    }
    // threads and shards change nothing
    let map = format!("ensemble double-pendulum --until 1 {outputs} --vary q1=0.5..2:50 --out m.csv");
    assert_eq!(folder.run(&format!("{map} --threads 1")).code, 0);
    let one = folder.read("m.csv");
    assert_eq!(folder.run(&format!("{map} --threads 3 --shard 2/2")).code, 0);
    assert_eq!(column(&one, "spin_end")[25..], column(&folder.read("m.2-of-2.csv"), "spin_end"));
}

#[test]
fn a_table_without_rows_and_checksum_is_not_good() {
    let folder = Folder::new("no-rows");
    let run = "simulate pendulum --until 1 --event never=q+100 --events e.csv --out s.csv";
    assert_eq!(folder.run(run).code, 0);
    assert_eq!(folder.run("verify e.csv").code, 0);
    for name in ["e.csv", "s.csv"] {
        let text = folder.read(name);
        let (title, rest) = text.split_once('\n').unwrap();
        let comments = rest.lines().take_while(|line| line.starts_with('#')).count();
        let head: String = rest.lines().take(comments + 1).map(|line| line.to_owned() + "\n").collect();
        // of this version, of an older one, and of none that has a number
        for version in [title.split_once(", ").unwrap().0, "# leastaction 0.0.9"] {
            folder.write("b.csv", &format!("{version}\n{head}"));
            let found = folder.run("verify b.csv");
            let said = found.stdout + &found.stderr;
            // states have a row at least, that of the start
            assert_eq!(found.code, if name == "e.csv" { 1 } else { 2 }, "{name} {version}: {said}");
            let words = match name {
                "e.csv" if version.ends_with("0.0.9") => "there is none, and no row to compare",
                "e.csv" => "it has none",
                _ => "row",
            };
            assert!(said.contains(words), "{name} {version}: {said}");
        }
        folder.write("b.csv", &format!("# leastaction\n{head}"));
        assert_eq!(folder.run("verify b.csv").code, 2);
    }
}
