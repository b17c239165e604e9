//! System files on the command line: run, shown, drawn, changed by flags, carried by outputs, and written by `init`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::Folder;

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
