//! What bad input is answered with: every message of the book's page of mistakes is what the built command says now.
//!
//! `UPDATE_BOOK=1 cargo test --release -p leastaction-cli --test mistakes` rewrites the page.
// a build with Parquet answers otherwise
#![cfg(not(feature = "parquet"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{Folder, leastaction};
use leastaction::prelude::Run;
use leastaction::scalar::checksum_of_bytes;
use leastaction::simulate::Checkpoint;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;

/// A file that is right, of which others are made.
const GOOD: &str = r#"coordinates = ["x", "y"]
[parameters]
m = 2
k = "m*3"
[definitions]
r = "sqrt(x^2 + y^2)"
[lagrangian]
kinetic = "m/2*(dot(x)^2 + dot(y)^2)"
potential = "k/2*(r - 1)^2"
[initial]
q = [1, 0.5]
v = [0, 1]
[run]
method = "simpson"
step = 0.01
until = 1
"#;

/// Commands as they are typed; arguments are separated by spaces.
const COMMANDS: &[(&str, &[&str])] = &[
    (
        "Names and numbers of a run",
        &[
            "simulate penduum",
            "simulate missing.toml",
            "simulate pendulum --method simson",
            "simulate pendulum --method lobatto7",
            "simulate double-pendulum --method split6",
            "simulate pendulum --step 0",
            "simulate pendulum --step -0.1",
            "simulate pendulum --step 0.1.2",
            "simulate pendulum --step 1e-20",
            "simulate pendulum --step 2*perod",
            "simulate pendulum --until -3",
            "simulate pendulum --until 1/0",
            "simulate pendulum --set lenght=2",
            "simulate pendulum --set m",
            "simulate pendulum --set m=",
            "simulate pendulum --set m=0",
            "simulate pendulum --set m=-1",
            "simulate fput --set n=2.5",
            "simulate fput --set n=1000000000",
            "simulate pendulum --tolerance 2",
            "simulate pendulum --tolerance 1e-30",
            "simulate pendulum --precision 0",
            "simulate pendulum --precision 100000",
            "simulate pendulum --backend gpu",
            "simulate pendulum --precision 40 --backend native",
        ],
    ),
    (
        "Initial states",
        &[
            "simulate double-pendulum --q0 1",
            "simulate double-pendulum --q0 1,2,3",
            "simulate double-pendulum --q0 1,two",
            "simulate double-pendulum --q0 1,1/0",
            "simulate double-pendulum --v0 0,0 --p0 0,0",
            "simulate kepler --q0 0,0",
            "simulate lagrange-top --q0 0,0,0",
            "simulate pendulum --t0 now",
        ],
    ),
    (
        "Outputs, events and files of a run",
        &[
            "simulate pendulum --output height",
            "simulate pendulum --output height=cos(thta)",
            "simulate pendulum --output t=q",
            "simulate pendulum --event low=q+",
            "simulate pendulum --event low=q:up",
            "simulate pendulum --event low=q --stop high",
            "simulate pendulum --event low=q --stop low=0",
            "simulate pendulum --event low=1/q --q0 0",
            "simulate pendulum --events hits.csv",
            "simulate pendulum --out run.xls",
            "simulate pendulum --out nowhere/run.csv",
            "simulate pendulum --out run.csv --every 0",
            "simulate pendulum --plot run.pdf",
            "simulate pendulum --dense 0",
            "simulate pendulum --dense 5000",
            "simulate pendulum --dense 4 --method rk4",
            "simulate pendulum --every 1 --step 1e-9 --until 1000 --out run.csv",
            "simulate pendulum --summary xml",
        ],
    ),
    (
        "Other commands",
        &[
            "simulte pendulum",
            "simulate",
            "simulate pendulum --stepp 0.1",
            "converge pendulum --steps 0.1,0.3 --until 1",
            "converge pendulum --methods simpson,newmark",
            "converge pendulum --of phi",
            "converge henon-heiles --reference exact",
            "certify pendulum --energy-error 0",
            "certify pendulum --tolerance 1e-30",
            "section henon-heiles",
            "section henon-heiles --event cut=x --on cross --x y --y p_y",
            "section henon-heiles --event cut=x --on cut --x y --y p_z",
            "reproduce 000.T99",
            "reproduce 007",
            "show pendulm",
            "show fput --set m=3",
            "init mine --from penduum",
            "verify .",
            "resume .",
            "systems --format csv",
        ],
    ),
    (
        "Ensembles",
        &[
            "ensemble pendulum",
            "ensemble pendulum --vary q",
            "ensemble pendulum --vary thta=0..1:3",
            "ensemble pendulum --vary q=0..1",
            "ensemble pendulum --vary q=0..1:0",
            "ensemble pendulum --draw q=poisson(1)",
            "ensemble pendulum --draw q=normal(0,-1) --members 5",
            "ensemble pendulum --vary q=0..1:3 --shard 4/3",
            "ensemble pendulum --vary q=0..1:3 --shard 1/3 --plot map.png",
            "ensemble pendulum --vary q=0..1:3 --precision 40",
            "ensemble pendulum --vary q=0..1:3 --out map.txt",
            "ensemble pendulum --vary q=0..1:3 --resume",
            "ensemble pendulum --list missing.csv",
            "ensemble pendulum --list starts.txt",
        ],
    ),
    (
        "Runs that fail",
        &[
            "simulate double-pendulum --method simpson --step 0.5 --until 100",
            "simulate double-pendulum --method rk4 --step 0.5 --until 100",
            "simulate kepler --q0 1,0 --v0 0,0 --step 0.01 --until 5 --method lobatto8",
        ],
    ),
];

/// What is replaced by what in the good file.
const SYSTEMS: &[(&str, &str)] = &[
    ("m = 2", "m = "),
    ("m = 2", "m = 2\nm = 3"),
    ("[initial]", "[initial"),
    ("[run]", "[runn]"),
    ("step = 0.01", "stepp = 0.01"),
    ("step = 0.01", "step = true"),
    ("step = 0.01", "step = \"0.01 s\""),
    ("kinetic =", "kintic ="),
    ("[\"x\", \"y\"]", "[]"),
    ("[\"x\", \"y\"]", "[\"x\", \"x\"]"),
    ("[\"x\", \"y\"]", "[\"x\", \"2y\"]"),
    ("[\"x\", \"y\"]", "[\"x\", \"energy\"]"),
    ("k/2*(r - 1)^2", "k/2*(r - 1^2"),
    ("k/2*(r - 1)^2", "k/2*(R - 1)^2"),
    ("k/2*(r - 1)^2", "2k*(r - 1)^2"),
    ("k/2*(r - 1)^2", "k*max(r)"),
    ("k/2*(r - 1)^2", "k*sine(r)"),
    ("k/2*(r - 1)^2", "k/2*(r - 1)**2"),
    ("k/2*(r - 1)^2", "k/(m - 2)"),
    ("sqrt(x^2 + y^2)", "sqrt(x^2 + r^2)"),
    ("\"m*3\"", "\"x*3\""),
    ("m = 2", "m = -2"),
    ("m/2*(dot(x)^2 + dot(y)^2)", "m/2*dot(x)^2"),
    ("q = [1, 0.5]", "q = [1]"),
    ("v = [0, 1]", "v = [0, 1]\np = [0, 1]"),
];

/// Whole files that describe a run.
const RUNS: &[&str] = &[
    "",
    "method = \"rk4\"\n",
    "system = 3\n",
    "system = \"pendulum\"\nmetod = \"rk4\"\n",
    "system = \"pendulum\"\n[initial]\nq = [\"1 +\"]\n",
    "system = \"pendulum\"\n[initial]\nq = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n",
    "system = \"pendulum\"\n[events]\nlow = { of = \"q\", stop = -1 }\n",
    "system = \"pendulum\"\n[ensemble]\nvary = { q = true }\n",
];

/// Lists of starts.
const LISTS: &[&str] = &[
    "",
    "1,2\n3,4\n",
    "q,q\n1,2\n",
    "q,\n1,2\n",
    "q,omega\n1\n",
    "q\none\n",
    "q\nNaN\n",
    "q\n\"1\n",
    "angle\n1\n",
];

/// The page, as it is written.
struct Page {
    text: String,
    count: usize,
}

impl Page {
    fn heading(&mut self, title: &str) {
        write!(self.text, "\n## {title}\n").unwrap();
    }

    /// An input, the code the command ends with, and what it says.
    fn add(&mut self, input: &str, kind: &str, code: i32, message: &str) {
        self.count += 1;
        write!(
            self.text,
            "\n```{kind}\n{}\n```\n\nexit code {code}:\n\n```text\n{}\n```\n",
            input.trim_end(),
            message.trim_end()
        )
        .unwrap();
    }
}

/// Runs the command and returns its code and what it says.
fn answer(folder: &Folder, command: &str) -> (i32, String) {
    let arguments = command.split_whitespace();
    let output =
        leastaction().current_dir(folder.path("")).env("NO_COLOR", "1").args(arguments).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    // what is written beside a failure is not the message
    let from = stderr.find("error: ").unwrap_or(0);
    (output.status.code().unwrap(), stderr[from..].to_owned())
}

/// A checkpoint of a short run.
fn checkpoint() -> Vec<u8> {
    let plan = Run { every: Some(0), ..Run::of("pendulum") }.plan().unwrap();
    let mut journey = plan.begin().unwrap();
    journey.go(&mut |step| if step == 50 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
    Checkpoint::new(&plan, &mut journey).to_bytes().unwrap()
}

/// A checkpoint with a checksum that fits what was changed.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - 8);
    bytes.extend(checksum_of_bytes(&bytes).to_le_bytes());
    bytes
}

/// A part of a checkpoint replaced by another of the same length.
fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    let mut changed = bytes.to_vec();
    changed[at..at + from.len()].copy_from_slice(to.as_bytes());
    changed
}

/// Damaged checkpoints.
fn damaged() -> Vec<(&'static str, Vec<u8>)> {
    let good = checkpoint();
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    let last = good.len() - 1;
    vec![
        ("an empty file", Vec::new()),
        ("a table", b"t,q\n0,1\n".to_vec()),
        ("a title without a format", b"leastaction checkpoint \n".to_vec()),
        ("another format", b"leastaction checkpoint 99\n".to_vec()),
        ("the first half", good[..good.len() / 2].to_vec()),
        ("all but the last byte", good[..last].to_vec()),
        ("one byte more", [good.as_slice(), b"\n"].concat()),
        ("a bit of the run flipped", flipped(60)),
        ("a bit of the checksum flipped", flipped(last)),
        (
            "another method in the run, with a checksum that fits",
            sealed(replaced(&good, "simpson", "simsonn")),
        ),
        (
            "another method that exists, with a checksum that fits",
            sealed(replaced(&good, "\"simpson\"", "\"gauss12\"")),
        ),
    ]
}

/// What the library says of a checkpoint.
fn refusal(bytes: &[u8]) -> String {
    let found = match Checkpoint::read(bytes) {
        Ok(found) => found,
        Err(error) => return error.to_string(),
    };
    let plan = match found.run.plan() {
        Ok(plan) => plan,
        Err(error) => return error.to_string(),
    };
    let mut journey = plan.begin().unwrap();
    found.restore(&mut journey).expect_err("a checkpoint that is damaged").to_string()
}

fn page() -> Page {
    let folder = Folder::new("mistakes");
    let mut page = Page { text: String::new(), count: 0 };
    let bad = |code: i32, expected: i32, input: &str| assert_eq!(code, expected, "{input}");
    for (title, commands) in COMMANDS {
        page.heading(title);
        let expected = if *title == "Runs that fail" { 1 } else { 2 };
        for command in *commands {
            let (code, message) = answer(&folder, command);
            bad(code, expected, command);
            page.add(&format!("leastaction {command}"), "sh", code, &message);
        }
    }
    page.heading("Systems as text");
    for (from, to) in SYSTEMS {
        assert!(GOOD.contains(from), "{from}");
        folder.write("mine.toml", &GOOD.replacen(from, to, 1));
        let (code, message) = answer(&folder, "simulate mine.toml");
        bad(code, 2, to);
        page.add(&format!("# {}\n{to}", from.replace('\n', " ")), "toml", code, &message);
    }
    page.heading("Runs as text");
    for text in RUNS {
        folder.write("run.toml", text);
        let command = if text.contains("ensemble") { "ensemble run.toml" } else { "simulate run.toml" };
        let (code, message) = answer(&folder, command);
        bad(code, 2, text);
        page.add(if text.is_empty() { "# (an empty file)" } else { text }, "toml", code, &message);
    }
    page.heading("Lists of starts");
    for text in LISTS {
        folder.write("starts.csv", text);
        let (code, message) = answer(&folder, "ensemble pendulum --list starts.csv");
        bad(code, 2, text);
        page.add(if text.is_empty() { "(an empty file)" } else { text }, "text", code, &message);
    }
    page.heading("Damaged checkpoints");
    for (what, bytes) in damaged() {
        page.add(what, "text", 2, &refusal(&bytes));
    }
    page
}

#[test]
fn every_mistake_has_the_answer_that_the_book_shows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/mistakes.md");
    let Page { text, count } = page();
    assert!(count >= 80, "{count}");
    let head = format!(
        "# Mistakes and their messages\n\n\
         What {count} bad inputs are answered with. The page is written by a test that makes each mistake. Bad input ends with exit code 2, before \
         anything is computed; a computation that fails ends with 1, and what was computed is kept.\n\n\
         Files are shown by the line that is wrong, with the right one as a comment above it.\n"
    );
    let made = head + &text;
    if std::env::var_os("UPDATE_BOOK").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let first = made.lines().zip(found.lines()).position(|(a, b)| a != b);
    assert!(
        made == found,
        "book/src/mistakes.md is not current, from line {:?} on; UPDATE_BOOK=1 rewrites it",
        first.map(|at| at + 1)
    );
}
