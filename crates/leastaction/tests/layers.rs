//! The modules form layers: each uses only those before it.
//!
//! Reads the sources and collects every `crate::…` path in code; comments, `lib.rs` and test code are exempt. The order is
//! the one of `lib.rs`: a reader who starts at the top meets nothing that is explained only below.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const LAYERS: [&str; 11] = [
    "error", "scalar", "linear", "expr", "system", "exact", "method", "step", "simulate", "analysis",
    "papers",
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// All Rust files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The code of a file: without comments, and without what comes after the first `#[cfg(test)]`.
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]").next().unwrap();
    let without_comment = |line: &str| line.split("//").next().unwrap().to_owned();
    text.lines().map(without_comment).collect::<Vec<_>>().join("\n")
}

/// The modules named in `crate::name` and `crate::{name, …}`.
fn used(code: &str) -> BTreeSet<String> {
    let name = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut found = BTreeSet::new();
    for after in code.split("crate::").skip(1) {
        let Some(group) = after.strip_prefix('{') else {
            found.insert(name(after));
            continue;
        };
        let mut depth = 0;
        let mut start = true;
        for (i, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => start = true,
                c if start && !c.is_whitespace() => {
                    found.insert(name(&group[i..]));
                    start = false;
                }
                _ => {}
            }
        }
    }
    found
}

/// What a file of a layer uses although it must not.
fn violations(layer: &str, code: &str) -> Vec<String> {
    let place = LAYERS.iter().position(|known| *known == layer).unwrap();
    let allowed = |module: &String| LAYERS[..=place].contains(&module.as_str());
    let mut found: Vec<String> = used(code).into_iter().filter(|module| !allowed(module)).collect();
    // a way around: up to the root by `super`
    if code.contains("super::super") {
        found.push("super::super".to_owned());
    }
    found
}

#[test]
fn each_module_uses_only_those_before_it() {
    let mut checked = BTreeSet::new();
    for path in files(&source()) {
        let inside = path.strip_prefix(source()).unwrap();
        let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        if first == "lib.rs" || inside.ends_with("tests.rs") {
            continue;
        }
        let layer = first.trim_end_matches(".rs");
        assert!(LAYERS.contains(&layer), "`{layer}` is not among the layers: {}", LAYERS.join(", "));
        let found = violations(layer, &code(&fs::read_to_string(&path).unwrap()));
        assert!(
            found.is_empty(),
            "{} uses {}, which does not come before it: {}",
            inside.display(),
            found.join(", "),
            LAYERS.join(", ")
        );
        checked.insert(layer.to_owned());
    }
    assert_eq!(checked.len(), LAYERS.len(), "{checked:?}");
}

#[test]
fn the_order_is_the_one_that_is_documented() {
    let text = fs::read_to_string(source().join("lib.rs")).unwrap();
    let places: Vec<usize> = LAYERS
        .iter()
        .map(|layer| text.find(&format!("[`{layer}`]")).unwrap_or_else(|| panic!("`{layer}` in lib.rs")))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn violations_are_found() {
    assert_eq!(violations("method", "use crate::scalar::Field;\nuse crate::step::State;"), ["step"]);
    assert_eq!(
        violations("expr", "use crate::{\n    scalar::{Field, Real},\n    system::System,\n};"),
        ["system"]
    );
    assert_eq!(violations("error", "fn f(x: &crate::expr::Graph) {}"), ["expr"]);
    assert_eq!(violations("step", "use super::super::simulate::Run;"), ["super::super"]);
    assert!(violations("step", &code("//! [`x`](crate::simulate)\nuse super::State;")).is_empty());
    assert!(
        violations("step", &code("use crate::method::Method;\n#[cfg(test)]\nuse crate::simulate::Run;"))
            .is_empty()
    );
}
