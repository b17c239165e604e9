//! System files on the command line: run, shown, drawn, changed by flags, carried by outputs, and written by `init`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::Folder;
use std::fs;

#[test]
fn a_starter_file_runs_as_it_is() {
    let folder = Folder::new("init");
    let run = folder.run("init mine");
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    let run = folder.run("simulate mine.toml --plot mine.svg");
    assert!(run.code == 0 && run.stdout.contains("Pendulum on a spring with simpson"), "{}", run.stderr);
    // the rod from the origin to the mass, beside curves
    assert!(folder.read("mine.svg").contains("Pendulum on a spring"));
    let before = folder.read("mine.toml");
    let run = folder.run("init mine --from kepler");
    assert!(run.code == 2 && run.stderr.contains("--force"), "{}", run.stderr);
    assert_eq!(folder.read("mine.toml"), before);
    assert_eq!(folder.run("init mine --from kepler --force").code, 0);
    assert!(folder.read("mine.toml").contains("mu = 1"));
    let run = folder.run("init other --from keppler");
    assert!(run.code == 2 && run.stderr.contains("did you mean `kepler`?"), "{}", run.stderr);
}

#[test]
fn the_file_and_the_name_give_the_same_bits() {
    let folder = Folder::new("bits");
    assert_eq!(folder.run("init dp --from double-pendulum").code, 0);
    let flags = "--set g=1.62 --q0 1,-2 --v0 0,1 --method lobatto8 --until 3 --step 0.01 --out";
    assert_eq!(folder.run(&format!("simulate dp.toml {flags} text.csv")).code, 0);
    assert_eq!(folder.run(&format!("simulate double-pendulum {flags} rust.csv")).code, 0);
    let rows = |name: &str| -> Vec<String> {
        folder.read(name).lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    };
    assert_eq!(rows("text.csv"), rows("rust.csv"));
    assert_eq!(rows("text.csv").len(), 302);
}

#[test]
fn an_output_carries_the_text_of_its_system() {
    let folder = Folder::new("carry");
    assert_eq!(folder.run("init chain --from n-pendulum").code, 0);
    let run = folder.run("simulate chain.toml --set n=3 --until 0.1 --out a.csv --out a.npz");
    assert_eq!(run.code, 0, "{}", run.stderr);
    std::fs::remove_file(folder.path("chain.toml")).unwrap();
    let run = folder.run("simulate a.csv --out b.csv");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(folder.read("a.csv"), folder.read("b.csv"));
    assert!(folder.read("a.csv").contains("t,q[1],q[2],q[3],v_q[1]"));
}

#[test]
fn a_run_file_may_name_a_system_file() {
    let folder = Folder::new("named");
    assert_eq!(folder.run("init chain --from fput").code, 0);
    folder.write(
        "run.toml",
        "system = \"chain.toml\"\n[parameters]\nn = 4\nbeta = 0.5\n[initial]\nq = 0.25\n[run]\nuntil = 2\n",
    );
    let run = folder.run("simulate run.toml --summary json");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(summary["q"].as_array().unwrap().len(), 4);
    assert_eq!((summary["system"].as_str(), summary["steps"].as_u64()), (Some("chain"), Some(10)));
    folder.write("circle.toml", "system = \"run.toml\"\n");
    let run = folder.run("simulate circle.toml");
    assert!(run.code == 2 && run.stderr.contains("describes a run itself"), "{}", run.stderr);
}

#[test]
fn errors_show_files_and_flags() {
    let folder = Folder::new("errors");
    folder.write("bad.toml", "coordinates = [\"x\"]\n[lagrangian]\nkinetic = \"dot(x)^2/2 - y\"\n");
    for command in ["simulate bad.toml", "show bad.toml", "converge bad.toml"] {
        let run = folder.run(command);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{command}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: unknown name `y`"), "{}", run.stderr);
        assert!(
            run.stderr.contains("--> bad.toml:3:25") && run.stderr.contains("^ not defined"),
            "{}",
            run.stderr
        );
        assert!(!run.stderr.contains('\u{1b}'), "no colours but on a terminal");
    }
    let run = folder.run("simulate double-pendulum --q0 pi/4,thta");
    assert!(run.code == 2 && run.stderr.contains("--> --q0:1:6"), "{}", run.stderr);
    let run = folder.run("simulate double-pendulum --set m1=-3");
    assert!(run.code == 2 && run.stderr.contains("v_q1 carries negative kinetic energy"), "{}", run.stderr);
    std::fs::write(folder.path("binary.toml"), b"title = \"\xff\"\n").unwrap();
    let run = folder.run("simulate binary.toml");
    assert!(run.code == 2 && run.stderr.contains("binary.toml:1:10"), "{}", run.stderr);
}

#[test]
fn unused_names_are_warnings() {
    let folder = Folder::new("unused");
    folder.write(
        "spare.toml",
        "coordinates = [\"x\"]\n[parameters]\nspare = 1\n[lagrangian]\nkinetic = \"dot(x)^2/2\"\n[run]\nuntil = 1\n",
    );
    let run = folder.run("simulate spare.toml");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("warning: the parameter `spare` is not used"), "{}", run.stderr);
    assert!(run.stderr.contains("spare.toml:3:1"), "{}", run.stderr);
}

/// A file with a vector of parameters.
const CHAIN: &str = "coordinates = [\"x\"]\n[parameters]\nk = [1, 2, 3]\nw = 1\n[lagrangian]\nkinetic = \"dot(x)^2/2\"\npotential = \"(k[1] + 2*k[2] + w*k[3])*x^2/2\"\n[initial]\nq = [1]\n[run]\nuntil = 1\n";

#[test]
fn errors_of_run_files_show_their_place() {
    let folder = Folder::new("placed");
    folder.write("chain.toml", CHAIN);
    for (text, parts) in [
        ("system = \"penduum\"\n", ["unknown system `penduum`; did you mean `pendulum`", "run.toml:1:10"]),
        ("\nsystem = \"other.toml\"\n", ["cannot read the system's file `other.toml`", "run.toml:2:10"]),
        ("system = \"run.toml\"\n", ["describes a run itself", "run.toml:1:10"]),
        (
            "system = \"pendulum\"\n[parameters]\nomga = 3\n",
            ["has no parameter `omga`; did you mean `omega`?", "run.toml:3:1"],
        ),
        (
            "system = \"pendulum\"\n[parameters]\nomega = [1, 2]\n",
            ["`omega` is a number, not a vector", "run.toml:3:1"],
        ),
        (
            "system = \"pendulum\"\n[parameters]\nq = 2\n",
            ["`q` is a coordinate of `pendulum`, not a parameter", "run.toml:3:1"],
        ),
        ("system = \"chain.toml\"\n[parameters]\nk = 2\n", ["`k` is a vector of 3 entries", "run.toml:3:5"]),
        (
            "system = \"chain.toml\"\n[parameters]\nk = \"[1, 2]\"\n",
            ["`k` has 3 entries, but 2 are given", "run.toml:3:6"],
        ),
        (
            "system = \"chain.toml\"\n[parameters]\nk = [1, 2, 3, 4]\n",
            ["`k` has no entry `k[4]`; its entries are 1 to 3", "run.toml:3:1"],
        ),
        (
            "system = \"chain.toml\"\n[run]\nuntil = \"2*x\"\n",
            ["`x` is a coordinate and cannot be used here", "run.toml:3:12"],
        ),
    ] {
        folder.write("run.toml", text);
        let run = folder.run("simulate run.toml");
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{text}: {}", run.stderr);
        assert!(parts.iter().all(|part| run.stderr.contains(part)), "{text}: {}", run.stderr);
    }
    let run = folder.run("simulate pendulum --set omga=3");
    assert!(run.code == 2 && run.stderr.contains("--> --set:1:1"), "{}", run.stderr);
    assert!(run.stderr.contains("did you mean `omega`?"), "{}", run.stderr);
}

#[test]
fn vectors_of_parameters_are_given_whole_or_by_entries() {
    let folder = Folder::new("vectors");
    folder.write("chain.toml", CHAIN);
    folder.write(
        "run.toml",
        "system = \"chain.toml\"\n[parameters]\nk = \"[4, w, list(i = 5..5, i)]\"\nw = 2\n",
    );
    folder.write("list.toml", "system = \"chain.toml\"\n[parameters]\nk = [4, \"w\", 5]\nw = 2\n");
    let rows = |name: &str| -> Vec<String> {
        folder.read(name).lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    };
    for (i, command) in [
        "simulate run.toml",
        "simulate list.toml",
        "simulate chain.toml --set k=[4,w,5] --set w=2",
        "simulate chain.toml --set k[1]=4 --set k[2]=2 --set k[3]=5 --set w=2",
    ]
    .iter()
    .enumerate()
    {
        let run = folder.run(&format!("{command} --out {i}.csv"));
        assert_eq!(run.code, 0, "{command}: {}", run.stderr);
        assert_eq!(rows(&format!("{i}.csv")), rows("0.csv"), "{command}");
    }
    assert_eq!(folder.run("simulate chain.toml --out other.csv").code, 0);
    assert_ne!(rows("other.csv"), rows("0.csv"));
}

#[test]
fn outputs_that_are_no_numbers_are_a_warning() {
    let folder = Folder::new("broken");
    let run = folder.run("simulate pendulum --output a=log(2.005-t) --output b=t --until 3 --step 0.01");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let warning = "warning: the output `a` is not a finite number at t = 2.01";
    assert_eq!(run.stderr.matches("warning:").count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains(warning), "{}", run.stderr);
}

#[test]
fn names_that_are_none_write_no_files() {
    let folder = Folder::new("names");
    for (name, part) in [
        ("", "is not a name for a file"),
        (" ", "is not a name for a file"),
        (".toml", "is not a name for a file"),
        ("a/", "is not a name for a file"),
        ("a/b", "the folder of `a/b.toml`"),
    ] {
        let output =
            common::leastaction().current_dir(folder.path("")).args(["init", name]).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains(part), "{name}: {stderr}");
    }
    assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 0);
}

#[test]
fn wrong_counts_in_flags_say_what_is_wanted() {
    let folder = Folder::new("counts");
    for (flags, part) in [
        ("--every -1", "1 records every step, 10 every tenth, 0 none"),
        ("--every often", "1 records every step"),
        ("--dense 0", "a whole number of points a step, 1 or more"),
        ("--dense -3", "a whole number of points a step, 1 or more"),
    ] {
        let run = folder.run(&format!("simulate pendulum {flags}"));
        assert!(run.code == 2 && run.stderr.contains(part), "{flags}: {}", run.stderr);
    }
    let name = "a".repeat(100_000);
    for command in [
        format!("simulate {name}"),
        format!("simulate pendulum --set {name}=1"),
        format!("simulate pendulum --q0 {name}"),
    ] {
        let run = folder.run(&command);
        assert!(run.code == 2 && run.stderr.len() < 3000, "{}", run.stderr.len());
    }
}

#[test]
fn run_files_that_never_end_are_refused() {
    let folder = Folder::new("text-endless");
    let long = format!("system = \"pendulum\"\n#{}", "x".repeat(5_000_000));
    fs::write(folder.path("long.toml"), long).unwrap();
    let refused = folder.run("simulate long.toml");
    assert!(refused.code == 2 && refused.stderr.contains("more than 4 MB"), "{}", refused.stderr);
    #[cfg(unix)]
    {
        let endless = folder.run("simulate /dev/zero");
        assert!(endless.code == 2 && endless.stderr.contains("more than 4 MB"), "{}", endless.stderr);
    }
    // a table of any length tells its run
    folder.run("simulate pendulum --until 1 --out run.csv");
    let mut table = fs::read_to_string(folder.path("run.csv")).unwrap();
    table.push_str(&"1,2,3\n".repeat(1_000_000));
    fs::write(folder.path("run.csv"), table).unwrap();
    let again = folder.run("simulate run.csv --summary json");
    assert_eq!(again.code, 0, "{}", again.stderr);
}
