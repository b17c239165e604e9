//! Every flag of every subcommand changes what comes out, or is refused. The flags are those that `--help` lists.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::Folder;
use std::collections::{BTreeMap, BTreeSet};

/// A subcommand: what each flag is added to, and the flag with its value. `!` before it says that it is refused there.
type Case = (&'static str, &'static str);

const SIMULATE: &str = "simulate double-pendulum --until 0.3";
const CONVERGE: &str = "converge double-pendulum --until 0.4 --methods midpoint --steps 0.1,0.05";
const CERTIFY: &str = "certify pendulum --until 1 --json";
const SECTION: &str = "section henon-heiles --until 60 --event c=x:rising --format json --out out.csv";
const ENSEMBLE: &str = "ensemble double-pendulum --until 0.3 --vary q1=0.1..1:4 --out out.csv";

/// The flags of a start, for the double pendulum.
const START: [&str; 7] =
    ["--until 0.2", "--precision 30", "--set g=1.62", "--q0 0.1,0.2", "--p0 1,2", "--v0 1,2", "--t0 0.1"];

/// Flags that change no number, as their help says.
const SAME: [&str; 4] = ["--backend", "--threads", "verify --seed", "--force"];

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for base in [SIMULATE, CONVERGE] {
        cases.extend(START.map(|flag| (base, flag)));
    }
    cases.extend(
        START.map(|flag| (ENSEMBLE, if flag.starts_with("--pre") { "!--precision 30" } else { flag })),
    );
    for base in [CERTIFY, SECTION] {
        let two = base == SECTION;
        cases.extend([
            (base, "--until 2"),
            (base, "--precision 30"),
            (base, if two { "!--set g=1.62" } else { "--set m=2" }),
            (base, if two { "--q0 0.01,0.2" } else { "--q0 0.1" }),
            (base, if two { "--p0 0.1,0.2" } else { "--p0 1" }),
            (base, if two { "--v0 0.1,0.2" } else { "--v0 1" }),
            (base, "--t0 0.5"),
        ]);
    }
    for base in [SIMULATE, CERTIFY, SECTION, ENSEMBLE] {
        cases.extend([(base, "--method gauss8"), (base, "--step 0.02"), (base, "--tolerance 1e-3")]);
    }
    for base in [SIMULATE, SECTION, ENSEMBLE] {
        cases.extend([(base, "--output h=t*2"), (base, "!--stop nothing")]);
    }
    cases.extend([
        (SIMULATE, "--event low=q1-0.5"),
        (ENSEMBLE, "--event low=q1-0.5"),
        (SECTION, "!--event low=y"),
        ("simulate double-pendulum --until 3 --event low=q1", "--stop low"),
        ("ensemble double-pendulum --until 3 --event low=q1 --vary q1=1..2:3 --out out.csv", "--stop low"),
        (SECTION, "--stop c=2"),
        ("simulate double-pendulum --until 0.3 --out out.csv", "--every 3"),
        ("simulate double-pendulum --until 0.3 --out out.csv", "--dense 3"),
        ("simulate double-pendulum --until 2000 --step 0.01", "--accuracy"),
        (SIMULATE, "--out out.csv"),
        (SIMULATE, "!--events out.csv"),
        ("simulate double-pendulum --until 0.3 --event low=q1", "--events out.csv"),
        (SIMULATE, "--plot out.svg"),
        (SIMULATE, "--checkpoint out.check"),
        (SIMULATE, "!--checkpoint-every 5steps"),
        (SIMULATE, "--summary json"),
        (CONVERGE, "!--methods nothing"),
        (CONVERGE, "!--steps 0.3"),
        ("converge double-pendulum --until 0.4 --methods midpoint", "--steps 0.1"),
        ("converge double-pendulum --until 0.4 --steps 0.1,0.05", "--methods gauss8"),
        (CONVERGE, "--of p"),
        (CONVERGE, "--over end"),
        (CONVERGE, "--vector max"),
        (CONVERGE, "--relative"),
        (CONVERGE, "--absolute"),
        (CONVERGE, "--reference rk4"),
        ("converge double-pendulum --until 0.4 --methods midpoint --steps 0.1 --reference rk4", "--refine 3"),
        (CONVERGE, "--reference-precision 20"),
        ("converge pendulum --until 1 --reference exact", "!--refine 3"),
        ("converge pendulum --until 1 --reference exact", "!--reference-precision 20"),
        (CONVERGE, "--format json"),
        (CONVERGE, "--plot out.svg"),
        (CERTIFY, "--energy-error 1e-3"),
        ("certify pendulum --until 1", "--json"),
        ("resume run.check", "--out out.csv"),
        ("resume run.check", "!--events out.csv"),
        ("resume low.check", "--events out.csv"),
        ("resume run.check", "--plot out.svg"),
        ("resume run.check", "!--threads 2"),
        ("resume run.check", "--summary json"),
        ("verify map.csv", "--all"),
        ("verify map.csv", "--spots 2"),
        ("verify run.csv", "--format json"),
        (SECTION, "!--on nothing"),
        ("section henon-heiles --until 60 --event c=x --event d=y --format json --on c", "!--on e"),
        (SECTION, "--x y*2"),
        (SECTION, "--y y*3"),
        (SECTION, "--vary y=0.1,0.2"),
        (SECTION, "--panels y=0.1,0.2"),
        (SECTION, "!--same-energy nothing"),
        (
            "section henon-heiles --until 60 --event c=x:rising --vary y=0.1,0.15 --out out.csv",
            "--same-energy p_x",
        ),
        (SECTION, "--points 2"),
        ("section henon-heiles --until 60 --event c=x:rising", "--out out.csv"),
        (SECTION, "--plot out.svg"),
        ("section henon-heiles --until 60 --event c=x:rising", "--format markdown"),
        (ENSEMBLE, "--vary q2=0.1,0.2"),
        (ENSEMBLE, "--list starts.csv"),
        (ENSEMBLE, "--draw q2=uniform(0,1)"),
        (ENSEMBLE, "!--members 3"),
        ("ensemble pendulum --until 1 --draw q=uniform(0,1) --out out.csv", "--members 3"),
        ("ensemble pendulum --until 1 --draw q=uniform(0,1) --out out.csv", "--seed 3"),
        (ENSEMBLE, "!--seed 3"),
        ("ensemble pendulum --until 1 --vary q=0..1:3", "--out out.csv"),
        (ENSEMBLE, "--plot out.svg"),
        (ENSEMBLE, "!--colour t_end"),
        ("ensemble pendulum --until 1 --vary q=0..1:3 --plot out.svg", "--colour t_end"),
        (ENSEMBLE, "--shard 1/2"),
        ("ensemble pendulum --until 1 --vary q=0..1:3", "!--resume"),
        (ENSEMBLE, "--summary json"),
        ("reproduce 000.T4 --until 2", "--format json"),
        ("reproduce 000.T4 --until 2", "--out out"),
        ("reproduce 000.T4 --until 2", "--no-beyond"),
        ("reproduce 000.T4 --until 2", "!--until 1"),
        ("reproduce 000.T4 --until 2", "--precision 20"),
        ("systems", "--format json"),
        ("methods", "--format json"),
        ("show pendulum", "--json"),
        ("show pendulum", "--set m=2"),
        ("show simpson", "!--json"),
        ("show simpson", "!--set m=2"),
        ("init mine", "--from kepler"),
    ]);
    cases
}

/// What a command gives that does not depend on the clock: its exit code, what it prints, and the files it makes.
fn outcome(folder: &Folder, arguments: &str) -> (i32, String, BTreeMap<String, Vec<u8>>, String) {
    let made = || std::fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().path());
    for path in made().filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("out")) {
        let _ = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(&path));
    }
    let _ = std::fs::remove_file(folder.path("mine.toml"));
    let found = folder.run(arguments);
    let timed = |line: &&str| !line.contains("  time ") && !line.contains("seconds");
    let printed = found.stdout.lines().filter(timed).collect::<Vec<_>>().join("\n");
    let own = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("out") || name == "mine.toml"
    };
    let read =
        |path: std::path::PathBuf| (path.display().to_string(), std::fs::read(&path).unwrap_or_default());
    (found.code, printed, made().filter(own).map(read).collect(), found.stderr)
}

#[test]
fn every_flag_changes_something_or_is_refused() {
    let folder = Folder::new("flags");
    folder.write("starts.csv", "q2\n0.1\n0.2\n");
    for run in [
        "simulate pendulum --until 1 --checkpoint run.check --out run.csv",
        "simulate pendulum --until 1 --event low=q --checkpoint low.check",
        "ensemble pendulum --until 0.1 --vary q=-1..1:30 --out map.csv",
    ] {
        assert_eq!(folder.run(run).code, 0, "{run}");
    }
    let (mut bases, mut wrong) = (BTreeMap::new(), Vec::new());
    for (base, flag) in cases() {
        let (flag, refused) = flag.strip_prefix('!').map_or((flag, false), |flag| (flag, true));
        let without = bases.entry(base).or_insert_with(|| outcome(&folder, base)).clone();
        // a flag that may be given once replaces the one that is there
        let name = flag.split(' ').next().unwrap();
        let base = match base.split_once(&format!("{name} ")).filter(|_| ["--until", "--on"].contains(&name))
        {
            Some((before, after)) => before.to_owned() + after.split_once(' ').map_or("", |rest| rest.1),
            None => base.to_owned(),
        };
        let with = outcome(&folder, &format!("{} {flag}", base.trim()));
        let same = (without.1 == with.1, without.2 == with.2);
        let good = match refused {
            true => with.0 == 2 && with.3.len() > 20,
            false => with.0 < 2 && same != (true, true),
        };
        if !good {
            wrong.push(format!("{base} {flag}: exit {}, the same {same:?}: {}", with.0, with.3));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_flag_is_tried() {
    let folder = Folder::new("flags-listed");
    let mut tried: BTreeSet<String> = cases()
        .iter()
        .map(|(base, flag)| {
            let flag = flag.trim_start_matches('!').split(' ').next().unwrap();
            format!("{} {flag}", base.split(' ').next().unwrap())
        })
        .collect();
    let help = folder.run("--help").stdout;
    let commands =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let mut count = 0;
    for command in commands.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        let help = folder.run(&format!("{command} --help")).stdout;
        for line in help.lines().map(str::trim_start).filter(|line| line.starts_with('-')) {
            let Some(at) = line.find("--") else { continue };
            let end = line[at + 2..]
                .find(|c: char| !c.is_alphanumeric() && c != '-')
                .map_or(line.len(), |n| at + 2 + n);
            let flag = format!("{command} {}", &line[at..end]);
            if flag.ends_with("--help") || SAME.iter().any(|same| flag.ends_with(same)) {
                continue;
            }
            count += 1;
            // resume refuses it of runs that have none, as simulate does
            let known = tried.remove(&flag) || flag == "resume --checkpoint-every";
            assert!(known, "`{flag}` is in the help and not in this test");
        }
    }
    assert!(count > 80, "{count}");
    assert!(
        tried.iter().all(|flag| SAME.iter().any(|same| flag.ends_with(same))),
        "no such flags: {tried:?}"
    );
}
