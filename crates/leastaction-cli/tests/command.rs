//! The command, tested by running it: stdout, stderr, exit code, files.
//!
//! Every test works in a folder of its own that is removed afterwards. Data must come on stdout and everything else on
//! stderr; bad input must name the culprit and a way out; what was computed must be kept when a run fails.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{Folder, leastaction};
use std::collections::BTreeSet;

#[test]
fn the_first_command_prints_a_summary_and_writes_a_plot() {
    let folder = Folder::new("first");
    let run = folder.run("simulate double-pendulum --plot double-pendulum.svg");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("Double pendulum with simpson (order 4)"), "{}", run.stdout);
    assert!(run.stdout.contains("largest relative error 3.42240"), "{}", run.stdout);
    let svg = folder.read("double-pendulum.svg");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for label in ["Double pendulum", "q1", "q2", "relative energy error", "[s]", "[m]"] {
        assert!(svg.contains(label), "no {label} in the picture");
    }
}

#[test]
fn the_json_summary_has_the_documented_keys_and_reads_back_to_the_same_bits() {
    let folder = Folder::new("json");
    let run = folder.run("simulate lagrange-top --summary json --until period --step period/50");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let keys: BTreeSet<&str> = summary.as_object().unwrap().keys().map(String::as_str).collect();
    let documented = [
        "system",
        "method",
        "order",
        "step",
        "steps",
        "t_end",
        "q",
        "p",
        "energy",
        "resolution",
        "accuracy",
        "momenta",
        "newton",
        "wall_seconds",
        "backend",
        "outcome",
    ];
    assert_eq!(keys, documented.into_iter().collect());
    assert_eq!(summary["momenta"]["phi"], 0.0);
    assert_eq!(summary["momenta"]["psi"], 0.0);
    assert_eq!(summary["steps"], 50);
    let error = summary["energy"]["max_relative_error"].as_f64().unwrap();
    assert!((error / 3.555_236_59e-8 - 1.0).abs() < 1e-5, "{error:e}");
    for key in ["initial", "final"] {
        assert!((summary["energy"][key].as_f64().unwrap() - 4.262_751_7).abs() < 1e-6);
    }
    assert!(summary["newton"]["iterations_mean"].as_f64().unwrap() > 1.0);
    // started from the final state's printed digits, a run of one step differs in nothing
    let list = |key: &str| {
        let values = summary[key].as_array().unwrap().iter();
        values.map(|x| x.as_f64().unwrap().to_string()).collect::<Vec<_>>().join(",")
    };
    let again = folder.run(&format!(
        "simulate lagrange-top --q0 {} --p0 {} --step 1e-3 --until 1e-3 --out a.csv",
        list("q"),
        list("p")
    ));
    assert_eq!(again.code, 0, "{}", again.stderr);
    let first_row = folder.read("a.csv").lines().find(|line| line.starts_with("0,")).unwrap().to_owned();
    assert!(first_row.starts_with(&format!("0,{}", list("q"))), "{first_row}");
}

/// The rows of a CSV file, without comments and header.
fn rows(text: &str) -> Vec<Vec<f64>> {
    let data = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    data.map(|line| line.split(',').map(|x| x.parse().unwrap()).collect()).collect()
}

/// The run stored in the comments of a CSV file.
fn stored_run(text: &str) -> String {
    let comments = text.lines().take_while(|line| line.starts_with('#')).skip(1);
    comments.map(|line| line.trim_start_matches("# ").trim_start_matches('#')).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_csv_file_carries_its_run_which_repeats_it_bit_for_bit() {
    let folder = Folder::new("csv");
    let run =
        folder.run("simulate n-pendulum --set n=3 --set m=0.5 --until 0.5 --step 0.01 --every 5 --out a.csv");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let first = folder.read("a.csv");
    let table = rows(&first);
    assert_eq!(table.len(), 11);
    assert_eq!(table[0].len(), 1 + 3 * 3 + 1);
    assert_eq!(table[10][0], 0.5);
    folder.write("again.toml", &stored_run(&first));
    for source in ["again.toml", "a.csv"] {
        let run = folder.run(&format!("simulate {source} --out b.csv"));
        assert_eq!(run.code, 0, "{source}: {}", run.stderr);
        assert_eq!(first, folder.read("b.csv"));
    }
}

#[test]
fn many_digits_on_the_command_line() {
    let folder = Folder::new("digits");
    // one period of the pendulum, after which it is back: sixty digits of π/2 with a method of order 40
    let run = folder
        .run("simulate pendulum --precision 60 --until period --step period/40 -m gauss40 --summary json");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let q = summary["digits"]["q"][0].as_str().unwrap();
    let half_pi = "1.57079632679489661923132169163975144209858469968755291048747";
    assert_eq!(q.len(), half_pi.len(), "{q}");
    assert!(q.starts_with(&half_pi[..56]), "{q}");
    // a supremum that quad precision gave elsewhere as 7.608818120477352783889915e-4
    let run =
        folder.run("simulate double-pendulum -m midpoint --step 0.04 --until 1 --precision 64 --out a.csv");
    assert!(run.stdout.contains("largest relative error 7.608818e-4"), "{}", run.stdout);
    assert_eq!(folder.run("simulate a.csv --out b.csv").code, 0);
    assert_eq!(folder.read("a.csv"), folder.read("b.csv"));
    for bad in ["0", "201", "many"] {
        let run = folder.run(&format!("simulate pendulum --precision {bad}"));
        assert!(run.code == 2 && run.stderr.contains("from 1 to 200"), "{}", run.stderr);
    }
}

#[test]
fn flags_replace_what_a_run_file_says() {
    let folder = Folder::new("file");
    folder.write(
        "run.toml",
        "system = \"pendulum\"\n[run]\nmethod = \"midpoint\"\nstep = \"period/100\"\nuntil = \"period\"\n",
    );
    let run = folder.run("simulate run.toml --method gauss8 --v0 1 --summary json");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((summary["method"].as_str(), summary["steps"].as_u64()), (Some("gauss8"), Some(100)));
    folder.write("bad.toml", "system = \"pendulum\"\n[run]\nstepp = 0.1\n");
    let run = folder.run("simulate bad.toml");
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("bad.toml") && run.stderr.contains("stepp"), "{}", run.stderr);
}

#[test]
fn an_npz_file_holds_arrays_names_and_the_run() {
    let folder = Folder::new("npz");
    let run = folder.run("simulate kepler --until 1 --step 0.1 --out k.npz --out k.csv");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let file = std::fs::File::open(folder.path("k.npz")).unwrap();
    let mut archive = zip::ZipArchive::new(file).unwrap();
    let names: BTreeSet<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    let expected = ["t", "q", "v", "p", "energy", "coordinates", "run", "checksum", "leastaction"];
    let expected = expected.map(|name| format!("{name}.npy"));
    assert_eq!(names, expected.into_iter().collect());
    let table = rows(&folder.read("k.csv"));
    for (name, offset, width) in [("t", 0, 1), ("q", 1, 2), ("v", 3, 2), ("p", 5, 2), ("energy", 7, 1)] {
        let array = npyz::NpyFile::new(archive.by_name(&format!("{name}.npy")).unwrap()).unwrap();
        let shape = if width == 1 { vec![11] } else { vec![11, 2] };
        assert_eq!(array.shape(), shape, "{name}");
        let values: Vec<f64> = array.into_vec().unwrap();
        for (i, x) in values.iter().enumerate() {
            assert_eq!(*x, table[i / width][offset + i % width], "{name}[{i}]");
        }
    }
    let run = npyz::NpyFile::new(archive.by_name("run.npy").unwrap()).unwrap();
    let text: Vec<Vec<u32>> = run.into_vec().unwrap();
    let text: String = text[0].iter().filter_map(|c| char::from_u32(*c)).collect();
    assert!(text.contains("system = \"kepler\"") && text.contains("[parameters]"), "{text}");
}

#[cfg(feature = "parquet")]
#[test]
fn a_parquet_file_holds_the_same_numbers_and_the_run() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let folder = Folder::new("parquet");
    let run = folder.run("simulate cart-pole --until 1 --out c.parquet --out c.csv");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let reader = SerializedFileReader::new(std::fs::File::open(folder.path("c.parquet")).unwrap()).unwrap();
    let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let run = metadata.iter().find(|pair| pair.key == "run").unwrap().value.clone().unwrap();
    assert!(run.contains("system = \"cart-pole\""));
    let table = rows(&folder.read("c.csv"));
    let mut count = 0;
    for (row, expected) in reader.get_row_iter(None).unwrap().zip(&table) {
        let row = row.unwrap();
        for (i, (_, field)) in row.get_column_iter().enumerate() {
            assert_eq!(field.to_string().parse::<f64>().unwrap(), expected[i]);
        }
        count += 1;
    }
    assert_eq!(count, table.len());
}

#[test]
fn dense_output_lies_between_the_steps() {
    let folder = Folder::new("dense");
    let run = folder
        .run("simulate harmonic-oscillator --step 0.1 --until 1 --method lobatto8 --dense 5 --out d.csv");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let table = rows(&folder.read("d.csv"));
    assert_eq!(table.len(), 51);
    for row in &table {
        let exact = std::f64::consts::FRAC_PI_2 * (2.0 * std::f64::consts::PI * row[0]).cos();
        assert!((row[1] - exact).abs() < 1e-5, "{row:?}");
    }
}

#[test]
fn every_system_runs_by_default_and_can_be_drawn() {
    let folder = Folder::new("every");
    let listed: serde_json::Value =
        serde_json::from_str(&folder.run("systems --format json").stdout).unwrap();
    let names: Vec<String> =
        listed.as_array().unwrap().iter().map(|row| row["system"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names.len(), leastaction::system::catalogue::ENTRIES.len());
    for name in names {
        let run = folder.run(&format!("simulate {name} --plot p.png --summary json"));
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let error = summary["energy"]["max_relative_error"].as_f64().unwrap();
        assert!(error < 1e-3, "{name}: the default step gives an energy error of {error:e}");
        let bytes = std::fs::read(folder.path("p.png")).unwrap();
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 20_000, "{name}: {} bytes", bytes.len());
        assert_eq!(folder.run(&format!("show {name}")).code, 0);
    }
}

#[test]
fn bad_input_names_the_culprit_and_a_way_out() {
    let folder = Folder::new("bad");
    let cases = [
        (
            "simulate duble-pendulum",
            vec!["`duble-pendulum`", "did you mean `double-pendulum`", "leastaction systems"],
        ),
        (
            "simulate double-pendulum --method simpsn",
            vec!["`simpsn`", "did you mean `simpson`", "leastaction methods"],
        ),
        ("simulate double-pendulum --method gauss7", vec!["`gauss7`", "`gauss6` or `gauss8`"]),
        ("simulate double-pendulum --set mass=3", vec!["`double-pendulum`", "`mass`", "m1, m2, g"]),
        ("simulate double-pendulum --set m1", vec!["`--set m1`", "NAME=VALUE"]),
        ("simulate double-pendulum --steps 1", vec!["--steps", "'--step'"]),
        ("simulate double-pendulum --step 0", vec!["step must be positive", "0", "try 0.01"]),
        ("simulate double-pendulum --step -0.1", vec!["-0.1", "try 0.01"]),
        ("simulate double-pendulum --step nan", vec!["`nan`", "not a finite number"]),
        ("simulate double-pendulum --q0 1,1/0", vec!["initial q2", "--> --q0:1:3", "gives inf"]),
        ("simulate double-pendulum --q0 1,nan", vec!["`nan`"]),
        ("simulate double-pendulum --q0 1", vec!["2 values", "q1, q2", "1 was given"]),
        ("simulate double-pendulum --p0 1,2,3", vec!["the initial p", "2 values", "3 were given"]),
        ("simulate double-pendulum --p0 1,2 --v0 1,2", vec!["--p0", "--v0"]),
        ("simulate double-pendulum --q0 1,lenth", vec!["`lenth`"]),
        (
            "simulate double-pendulum --set l1=l2 --set l2=l1",
            vec!["`l1` → `l2` → `l1`", "give one of them a value"],
        ),
        ("simulate double-pendulum --until 0.001", vec!["0.01", "until = 0.001", "smaller step"]),
        ("simulate double-pendulum --until 1e30", vec!["steps", "larger step"]),
        ("simulate double-pendulum --dense 0", vec!["--dense"]),
        ("simulate double-pendulum --dense 1000000000000", vec!["dense", "at most 1000"]),
        ("show gauss8 --set a=1", vec!["`gauss8` is a method", "--set"]),
        ("simulate henon-heiles --step period/10", vec!["--step:1:1", "no period is known"]),
        ("simulate double-pendulum --dense 4 --method rk4", vec!["`rk4`", "variational"]),
        ("simulate double-pendulum --every 0 --out a.csv", vec!["--every 1"]),
        ("simulate fput --set n=0", vec!["`n`", "whole number from 1"]),
        ("simulate fput --set n=10000 --until 1e6 --every 1", vec!["GB", "try every ="]),
        ("simulate double-pendulum --out a.xyz", vec!["`a.xyz`", ".csv"]),
        ("simulate double-pendulum --plot a.jpg", vec!["`a.jpg`", ".svg or .png"]),
        ("simulate double-pendulum --out missing/a.csv", vec!["missing/a.csv"]),
        ("simulate missing.toml", vec!["cannot read `missing.toml`"]),
        ("simulate lagrange-top --q0 0,0,0", vec!["v_phi - v_psi", "theta = 0.0", "try "]),
        ("simulate double-pendulum --set m2=0", vec!["v_q2", "singular"]),
        ("simulate kepler --q0 0,0 --v0 1,0", vec!["not finite", "x = 0.0"]),
        ("show gauss8 --json", vec!["`gauss8` is a method", "--json"]),
        ("show nothing-like-it", vec!["`nothing-like-it`", "leastaction systems"]),
        ("", vec!["Usage"]),
    ];
    for (arguments, parts) in cases {
        let run = folder.run(arguments);
        assert_eq!(run.code, 2, "{arguments}: {}{}", run.stdout, run.stderr);
        assert_eq!(run.stdout, "", "{arguments}");
        for part in parts {
            assert!(run.stderr.contains(part), "{arguments}: no `{part}` in\n{}", run.stderr);
        }
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    }
}

#[test]
fn a_failed_run_keeps_what_was_computed() {
    let folder = Folder::new("failed");
    let run =
        folder.run("simulate double-pendulum --step 0.5 --out f.csv --out f.npz --plot f.svg --summary json");
    assert_eq!(run.code, 1, "{}", run.stderr);
    for part in [
        "in step 3, from t = 1",
        "did not converge",
        "still changed `q",
        "accepted below",
        "state: q1 = ",
        "a smaller step",
    ] {
        assert!(run.stderr.contains(part), "no `{part}` in\n{}", run.stderr);
    }
    let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((summary["outcome"].as_str(), summary["steps"].as_u64()), (Some("failed"), Some(2)));
    let table = rows(&folder.read("f.csv"));
    assert_eq!(table.len(), 3);
    assert!(table.iter().flatten().all(|x| x.is_finite()));
    assert!(folder.path("f.npz").is_file() && folder.path("f.svg").is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn a_failed_write_is_told_also_when_the_run_failed() {
    use std::os::unix::fs::FileTypeExt;
    let folder = Folder::new("both");
    std::os::unix::fs::symlink("/dev/full", folder.path("full.csv")).unwrap();
    let run = folder.run("simulate double-pendulum --step 0.5 --out full.csv --out good.csv");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("did not converge") && run.stderr.contains("cannot write"), "{}", run.stderr);
    assert_eq!(rows(&folder.read("good.csv")).len(), 3);
    let run = folder.run("simulate pendulum --out full.csv");
    assert!(run.code == 1 && run.stderr.contains("cannot write"), "{}", run.stderr);
    // the device is still one
    assert!(std::fs::metadata("/dev/full").unwrap().file_type().is_char_device());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_an_error_and_a_closed_one_is_not() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for arguments in [vec!["systems"], vec!["simulate", "pendulum"], vec!["show", "kepler"]] {
        let status =
            leastaction().args(&arguments).stdout(full()).stderr(std::process::Stdio::null()).status();
        assert_eq!(status.unwrap().code(), Some(1), "{arguments:?}");
    }
    // nobody can be told, but that is no reason to panic
    let status = leastaction().args(["simulate", "nothing"]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn files_of_others_are_left_alone() {
    let folder = Folder::new("others");
    folder.write("a.csv.part", "mine");
    assert_eq!(folder.run("simulate pendulum --out a.csv").code, 0);
    assert_eq!(folder.read("a.csv.part"), "mine");
    #[cfg(unix)]
    {
        folder.write("real.csv", "old");
        std::os::unix::fs::symlink(folder.path("real.csv"), folder.path("link.csv")).unwrap();
        assert_eq!(folder.run("simulate pendulum --out link.csv").code, 0);
        assert!(folder.read("real.csv").starts_with("# leastaction"));
    }
}

#[test]
fn a_run_file_may_name_its_outputs() {
    let folder = Folder::new("outputs");
    folder.write(
        "run.toml",
        "system = \"kepler\"\n[run]\nuntil = \"period\"\nout = [\"k.csv\"]\nplot = [\"k.svg\"]\n",
    );
    let run = folder.run("simulate run.toml");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(folder.path("k.csv").is_file() && folder.path("k.svg").is_file());
    folder.write("bad.toml", "system = \"kepler\"\n[run]\nstep = true\n");
    let run = folder.run("simulate bad.toml");
    assert!(run.code == 2 && run.stderr.contains("a number, or a formula in quotes"), "{}", run.stderr);
}

#[test]
fn an_energy_far_off_is_warned_of() {
    let folder = Folder::new("warned");
    let run = folder.run("simulate kepler --v0 0,0 --step 0.1 --method simpson");
    assert!(run.stderr.contains("warning: the energy error is"), "{}", run.stderr);
    let good = folder.run("simulate kepler");
    assert_eq!(good.stderr, "");
}

#[test]
fn an_unstable_step_is_warned_of_before_the_run() {
    let folder = Folder::new("unstable");
    let run = folder.run("simulate harmonic-oscillator --step 0.46 --until 46");
    let expected = "warning: with a step of 0.46 the motion will grow without bound: it oscillates with omega = 6.28319, so \
        omega*h = 2.89027, but `simpson` is stable for omega*h from 0 to 2.828427, 3.464102 to 4.898979\n  \
        try a step below 0.4501, or `midpoint` or another Gauss method, which are stable for every step\n";
    assert!(run.stderr.starts_with(expected), "{}", run.stderr);
    assert!(run.stderr.contains("warning: the energy error is"), "{}", run.stderr);
    for arguments in ["--step 0.45", "--step 0.46 --method midpoint", "--step 2 --method gauss8"] {
        let run = folder.run(&format!("simulate harmonic-oscillator --until 46 {arguments}"));
        assert!(!run.stderr.contains("without bound"), "{arguments}: {}", run.stderr);
    }
    assert_eq!(folder.run("simulate harmonic-oscillator --step 0.05 --until 46").stderr, "");
}

#[test]
fn a_remainder_of_the_time_is_never_stepped_silently() {
    let folder = Folder::new("remainder");
    let run = folder.run("simulate pendulum --step 0.03 --until 1 --summary json");
    assert_eq!(run.code, 0);
    assert!(run.stderr.contains("the run ends at t = 0.99 after 33 steps"), "{}", run.stderr);
    let summary: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(summary["t_end"], 0.99);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_cleanly_with_what_was_computed() {
    let folder = Folder::new("interrupt");
    let mut child = leastaction()
        .current_dir(folder.path("."))
        .args(["simulate", "double-pendulum", "--until", "1e7", "--every", "100000", "--out", "i.csv"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let code = child.wait().unwrap().code();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code, Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("interrupted"));
    let table = rows(&folder.read("i.csv"));
    assert!(!table.is_empty() && table.iter().flatten().all(|x| x.is_finite()));
}

#[test]
fn a_folder_that_cannot_be_written_is_found_before_the_run() {
    let folder = Folder::new("readonly");
    folder.write("file", "");
    let run = folder.run("simulate double-pendulum --until 1e9 --out file/a.csv");
    assert_eq!(run.code, 2, "{}", run.stderr);
}

#[test]
fn listings_come_as_table_json_and_markdown() {
    let folder = Folder::new("lists");
    for (command, word) in [("systems", "double-pendulum"), ("methods", "lobatto12")] {
        for format in ["table", "json", "markdown"] {
            let run = folder.run(&format!("{command} --format {format}"));
            assert!(
                run.code == 0 && run.stdout.contains(word) && run.stderr.is_empty(),
                "{command} {format}"
            );
        }
    }
    let shown = folder.run("show lagrange-top").stdout;
    for part in [
        "p_phi   (phi does not occur)",
        "p_psi = I3*(v_psi + cos(theta)*v_phi)",
        "energy = T + V   (time does not occur)",
        "exact solution known for phi, theta, psi",
        "period 1.84670847708163",
    ] {
        assert!(shown.contains(part), "no `{part}` in\n{shown}");
    }
    assert!(folder.run("show gauss4").stdout.contains("0.2113248654051871"));
}

#[test]
fn show_gives_the_same_facts_as_json() {
    let folder = Folder::new("show");
    let shown = folder.run("show outer-solar-system --json");
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let facts: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(facts["name"], "outer-solar-system");
    assert_eq!(facts["lagrangian"]["formula"], "T - V");
    assert_eq!(facts["momenta"]["first"][3]["formula"], "m_jupiter*v_x_jupiter");
    assert_eq!(facts["coordinates"]["first"].as_array().unwrap().len(), 18);
    let conserved = facts["conserved"]["first"].as_array().unwrap();
    let names: Vec<&str> = conserved.iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names[..2], ["energy", "total p_x"]);
    assert_eq!(names.len(), 7);
    let kepler: serde_json::Value = serde_json::from_str(&folder.run("show kepler --json").stdout).unwrap();
    assert_eq!(kepler["closed_form"]["period"], std::f64::consts::TAU);
    assert_eq!(kepler["conserved"]["first"][1]["formula"], "x*p_y - y*p_x");
}

#[test]
fn show_fits_on_a_page_whatever_the_size() {
    let folder = Folder::new("page");
    let systems =
        ["fput --set n=10000", "n-pendulum --set n=100", "n-pendulum", "outer-solar-system", "lagrange-top"];
    for system in systems {
        let shown = folder.run(&format!("show {system}"));
        assert_eq!(shown.code, 0, "{}", shown.stderr);
        assert!(shown.stdout.lines().count() <= 65, "{}", shown.stdout);
        for part in ["parameters", "default run", "Lagrangian", "momenta", "conserved quantities"] {
            assert!(shown.stdout.contains(&format!("\n{part}\n")), "no {part} in {}", shown.stdout);
        }
    }
}

#[test]
fn both_back_ends_print_the_same_numbers_and_say_who_ran() {
    let folder = Folder::new("backends");
    let state = |backend: &str| {
        let run = folder.run(&format!("simulate double-pendulum --summary json {backend}"));
        assert_eq!(run.code, 0, "{}", run.stderr);
        let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        (value["q"].clone(), value["p"].clone(), value["backend"].as_str().unwrap().to_owned())
    };
    let (q, p, interpreter) = state("--backend interpreter");
    assert_eq!(interpreter, "interpreter");
    let left_open = state("");
    assert_eq!((&left_open.0, &left_open.1), (&q, &p));
    if cfg!(feature = "native") {
        assert_eq!(state("--backend native"), (q, p, "native".to_owned()));
        assert!(folder.run("simulate pendulum --until 1").stdout.contains("time       machine code, "));
        folder.write("run.toml", "system = \"pendulum\"\n[run]\nuntil = 1\nbackend = \"interpreter\"\n");
        assert!(folder.run("simulate run.toml").stdout.contains("time       interpreter, "));
        assert!(
            folder.run("simulate run.toml --backend native").stdout.contains("time       machine code, ")
        );
        let refused = folder.run("simulate pendulum --backend native --precision 30");
        assert!(refused.code == 2 && refused.stderr.contains("64-bit numbers"), "{}", refused.stderr);
    } else {
        let refused = folder.run("simulate pendulum --backend native");
        assert!(refused.code == 2 && refused.stderr.contains("feature `native`"), "{}", refused.stderr);
    }
}
