//! The book and the README say only what is so.
//!
//! Links and pictures exist, generated tables are what the command prints now, and every command in a ```` ```console ````
//! block is run, its printed lines compared with those below it. `…` in an expected line stands for anything.
//! `UPDATE_BOOK=1 cargo test --test book` rewrites the generated tables. ` | last table` or ` | table 2` at the end of a marker
//! takes one table of what its command prints. Rust blocks are tested with the library, Python blocks with the Python package.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const UPDATE: &str = "UPDATE_BOOK";
const BEGIN: &str = "<!-- begin: ";
const END: &str = "<!-- end -->";
/// Commands that are shown but not run here.
const NOT_RUN: [&str; 5] = ["cargo", "./check", "git", "cd", "pip"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the root of the repository")
}

/// The book's pages without its table of contents, and the README if there is one.
fn pages() -> Vec<PathBuf> {
    let folder = fs::read_dir(root().join("book/src")).expect("book/src");
    let mut pages: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
    pages.retain(|path| path.extension().is_some_and(|e| e == "md") && !path.ends_with("SUMMARY.md"));
    pages.push(root().join("README.md"));
    pages.retain(|path| path.exists());
    pages.sort();
    assert!(!pages.is_empty(), "the book has no pages");
    pages
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The path as a reader of a failed test looks for it.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Fails with all complaints at once.
fn report(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n\n"));
}

/// A fenced block: what follows its three backticks, the line it starts at, and its lines.
struct Block {
    kind: String,
    line: usize,
    text: Vec<String>,
}

/// Fenced blocks, and the lines outside of them with their numbers.
fn split(page: &str) -> (Vec<Block>, Vec<(usize, String)>) {
    let (mut blocks, mut prose) = (Vec::new(), Vec::new());
    let mut open: Option<Block> = None;
    for (index, line) in page.lines().enumerate() {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(kind)) => {
                open = Some(Block { kind: kind.trim().to_owned(), line: index + 1, text: Vec::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.text.push(line.to_owned()),
            (None, None) => prose.push((index + 1, line.to_owned())),
        }
    }
    assert!(open.is_none(), "a fenced block is not closed");
    (blocks, prose)
}

/// A line without what stands between single backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// The targets of `[text](target)`, `![text](target)` and `src="target"`.
fn targets(line: &str) -> Vec<String> {
    let line = without_code(line);
    let links = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let images = line.split("src=\"").skip(1).filter_map(|rest| rest.split_once('"'));
    links.chain(images).map(|(target, _)| target.trim().to_owned()).collect()
}

/// The names that mdBook and GitHub give to a page's headings.
fn headings(page: &str) -> Vec<String> {
    let (_, prose) = split(page);
    let titles = prose.iter().filter_map(|(_, line)| line.strip_prefix('#'));
    let kept = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let name = |title: &str| {
        let title = title.trim_start_matches('#').trim().to_lowercase();
        title.chars().filter(|c| kept(*c)).collect::<String>().replace(' ', "-")
    };
    titles.map(name).collect()
}

/// What is wrong with the relative links of a page.
fn broken_links(path: &Path) -> Vec<String> {
    let page = read(path);
    let mut complaints = Vec::new();
    for (number, line) in split(&page).1 {
        for target in targets(&line) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
            let file = if file.is_empty() { path.to_owned() } else { path.with_file_name("").join(file) };
            let place = format!("{}:{number}: `{target}`", shown(path));
            if !file.exists() {
                complaints.push(format!("{place} does not exist"));
            } else if !heading.is_empty() && !headings(&read(&file)).contains(&heading.to_owned()) {
                complaints.push(format!("{place}: no heading has this name"));
            }
        }
    }
    complaints
}

#[test]
fn links_and_pictures_exist() {
    let summary = root().join("book/src/SUMMARY.md");
    let all = pages().into_iter().chain([summary]);
    report(&all.flat_map(|page| broken_links(&page)).collect::<Vec<_>>());
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = read(&root().join("book/src/SUMMARY.md"));
    let listed: Vec<String> = summary.lines().flat_map(targets).collect();
    let missing = pages().into_iter().filter(|page| {
        let name = page.file_name().unwrap().to_string_lossy();
        name != "README.md" && !listed.iter().any(|target| *target == name)
    });
    report(&missing.map(|page| format!("{} is not in SUMMARY.md", shown(&page))).collect::<Vec<_>>());
}

/// The part of what a command prints that a marker asks for: `table 2`, counted from 1, or `last table`.
fn chosen_table(printed: &str, part: &str) -> String {
    let tables: Vec<&str> = printed.split("\n\n").filter(|block| block.starts_with('|')).collect();
    let table = match part.split_once(' ') {
        Some(("last", "table")) => tables.last(),
        Some(("table", number)) => tables.get(number.parse::<usize>().expect("a number after `table`") - 1),
        _ => panic!("`{part}` is neither `last table` nor `table` and a number"),
    };
    table.unwrap_or_else(|| panic!("there is no `{part}`")).to_string()
}

/// A page with every generated table as the command prints it now.
fn regenerated(path: &Path) -> String {
    let page = read(path);
    let mut result = String::new();
    let mut rest = page.as_str();
    while let Some(start) = rest.find(BEGIN) {
        let after = &rest[start + BEGIN.len()..];
        let (marker, body) = after.split_once(" -->").expect("the end of the marker");
        let (command, part) = marker.split_once(" | ").map_or((marker, None), |(c, part)| (c, Some(part)));
        let end = body.find(END).unwrap_or_else(|| panic!("{}: no {END} after {BEGIN}", shown(path)));
        let words = words(command);
        assert_eq!(words[0], "leastaction", "{}: what is generated is printed by the command", shown(path));
        let output = leastaction(&words[1..], &root());
        assert!(output.status.success(), "{}: `{command}` failed", shown(path));
        let printed = String::from_utf8(output.stdout).expect("text");
        let table = part.map_or(printed.clone(), |part| chosen_table(printed.trim_end(), part));
        result += &rest[..start];
        result += &format!("{BEGIN}{marker} -->\n\n{}\n\n{END}", table.trim_end());
        rest = &body[end + END.len()..];
    }
    result + rest
}

#[test]
fn a_marker_can_choose_a_table() {
    let printed = "## one\n\n| a |\n|---|\n\ntext\n\n| b |\n|---|";
    assert_eq!(chosen_table(printed, "table 1"), "| a |\n|---|");
    assert_eq!(chosen_table(printed, "last table"), "| b |\n|---|");
}

#[test]
fn generated_tables_are_current() {
    let mut complaints = Vec::new();
    for path in pages() {
        let (now, before) = (regenerated(&path), read(&path));
        if now == before {
            continue;
        }
        if std::env::var_os(UPDATE).is_some() {
            fs::write(&path, now).expect("the page can be written");
            continue;
        }
        let pair = now.lines().zip(before.lines()).find(|(a, b)| a != b);
        let (new, old) = pair.unwrap_or(("a table of another length", ""));
        complaints.push(format!(
            "{}: a generated table is out of date\n  the page says:      {old}\n  the command prints: {new}\n  \
             to update it: {UPDATE}=1 cargo test -p leastaction-cli --test book",
            shown(&path)
        ));
    }
    report(&complaints);
}

/// A folder that is removed when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("leastaction-book-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn leastaction(arguments: &[String], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leastaction"));
    command.args(arguments).current_dir(folder).output().expect("the command starts")
}

/// Splits a command line as a shell does: blanks separate, quotes join, a `#` after a blank starts a comment.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(q), _) if c == q => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Whether a printed line is as expected, where `…` stands for anything and blanks count as one.
fn alike(expected: &str, printed: &str) -> bool {
    let even = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let (expected, printed) = (even(expected), even(printed));
    let parts: Vec<&str> = expected.split('…').collect();
    let [first, middle @ .., last] = parts.as_slice() else { return expected == printed };
    let Some(mut rest) = printed.strip_prefix(first) else { return false };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// The first expected line that is missing. Lines keep their order within each stream; the streams may interleave.
fn missing<'a>(expected: &'a [String], streams: [&str; 2]) -> Option<&'a String> {
    let mut rest = streams.map(str::lines);
    expected.iter().filter(|line| !matches!(line.trim(), "" | "…")).find(|line| {
        !rest.iter_mut().any(|stream| {
            let mut ahead = stream.clone();
            let found = ahead.any(|printed| alike(line, printed));
            if found {
                *stream = ahead;
            }
            found
        })
    })
}

/// A command of a console block, with the lines that should follow.
struct Session {
    line: usize,
    command: String,
    expected: Vec<String>,
}

fn sessions(block: &Block) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    for (index, text) in block.text.iter().enumerate() {
        let continued = sessions.last_mut().filter(|s| s.expected.is_empty() && s.command.ends_with('\\'));
        if let Some(session) = continued {
            session.command.pop();
            session.command += text.trim();
        } else if let Some(command) = text.strip_prefix("$ ") {
            let line = block.line + 1 + index;
            sessions.push(Session { line, command: command.to_owned(), expected: Vec::new() });
        } else if let Some(session) = sessions.last_mut() {
            session.expected.push(text.clone());
        } else {
            panic!("line {}: a console block starts with `$ `", block.line);
        }
    }
    sessions
}

/// Runs a command of a page and says what is not as the page says.
fn complaint(session: &Session, folder: &Path) -> Option<String> {
    let words = words(&session.command);
    let comment = session.command.split_once("# exit ").map(|(_, code)| code.trim());
    let wanted: i32 = comment.map_or(0, |code| code.parse().expect("a number after `# exit`"));
    let (stdout, stderr, code) = match words[0].as_str() {
        "leastaction" => {
            let output = leastaction(&words[1..], folder);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            (text(&output.stdout), text(&output.stderr), output.status.code())
        }
        "cat" => (read(&folder.join(&words[1])), String::new(), Some(0)),
        command if NOT_RUN.contains(&command) => return None,
        command => return Some(format!("`{command}` is neither run nor known as not to be run")),
    };
    let said = format!("$ {}\n{stdout}{stderr}", session.command);
    if code != Some(wanted) {
        return Some(format!("the exit code is {code:?} instead of {wanted}:\n{said}"));
    }
    missing(&session.expected, [&stdout, &stderr]).map(|line| format!("not printed: {line}\n{said}"))
}

#[test]
fn commands_print_what_the_pages_say() {
    let mut complaints = Vec::new();
    for path in pages() {
        let folder = Folder::new(&path.file_stem().unwrap().to_string_lossy());
        for block in split(&read(&path)).0 {
            if block.kind == "toml" {
                let name = block.text.first().and_then(|line| line.strip_prefix("# file: "));
                if let Some(name) = name {
                    fs::write(folder.0.join(name.trim()), block.text.join("\n")).expect("a file");
                }
            }
            if block.kind == "console" {
                for session in sessions(&block) {
                    let place = format!("{}:{}", shown(&path), session.line);
                    complaints.extend(complaint(&session, &folder.0).map(|text| format!("{place}: {text}")));
                }
            }
        }
    }
    report(&complaints);
}

#[test]
fn an_ellipsis_stands_for_anything() {
    for (expected, printed) in [
        ("time … s", "time 0.003 s"),
        ("  energy … error 3.4…e-8", "  energy -4.66 at the start, error 3.422407e-8"),
        ("…", "x"),
        ("same  line", " same line  "),
        ("a…a", "aa"),
    ] {
        assert!(alike(expected, printed), "{expected}");
    }
    for (expected, printed) in
        [("same", "the same"), ("a…a", "a"), ("3.4…e-8", "3.5e-8"), ("x…yy…z", "x y z")]
    {
        assert!(!alike(expected, printed), "{expected}");
    }
}

#[test]
fn command_lines_split_as_in_a_shell() {
    assert_eq!(
        words("leastaction a --q0 'pi/4, 0' \"b c\" # exit 1"),
        ["leastaction", "a", "--q0", "pi/4, 0", "b c"]
    );
}
