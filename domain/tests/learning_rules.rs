//! The table of docs/learning-rules.md: every sentence that learning is accepted by has a test that is there, or says why not.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Sentences of the two chapters.
const SENTENCES: [(char, usize); 2] = [('A', 69), ('B', 28)];

/// Entries of which a part is not built yet. Lower it when you build one; it never rises.
const NOT_BUILT_MAX: usize = 2;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The rows of the table: name, what holds, where.
fn rows() -> Vec<[String; 3]> {
    let page = fs::read_to_string(root().join("docs/learning-rules.md")).unwrap();
    let cells = |line: &str| -> Option<[String; 3]> {
        let cells: Vec<String> =
            line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").map(|cell| cell.trim().to_owned()).collect();
        cells.try_into().ok()
    };
    let is_entry = |row: &[String; 3]| row[0].starts_with(['A', 'B']);
    page.lines().filter_map(cells).filter(is_entry).collect()
}

/// Names of all tests of the workspace.
fn tests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let (path, name) = {
                let entry = entry.unwrap();
                (entry.path(), entry.file_name().to_string_lossy().into_owned())
            };
            if path.is_dir() {
                // What is built, fetched or hidden is no part of the source.
                if !name.starts_with('.') && !["target", "node_modules", "shared"].contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if name.ends_with(".rs") {
                collect(&fs::read_to_string(path).unwrap(), &mut found);
            }
        }
    }
    found
}

/// Adds the functions that have an attribute of a test right above them.
fn collect(source: &str, found: &mut BTreeSet<String>) {
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some((_, rest)) = line.split_once("fn ")
            && !line.starts_with("//")
        {
            if let Some((name, _)) = rest.split_once('(')
                && is_test
            {
                found.insert(name.to_owned());
            }
            is_test = false;
        }
    }
}

#[test]
fn every_sentence_has_one_entry_in_order() {
    let names: Vec<String> = rows().into_iter().map(|[name, ..]| name).collect();
    let expected: Vec<String> =
        SENTENCES.iter().flat_map(|(part, count)| (1..=*count).map(move |number| format!("{part}{number}"))).collect();
    assert_eq!(names, expected);
}

#[test]
fn every_entry_names_tests_that_are_there_or_says_why_not() {
    let tests = tests();
    let mut faults = Vec::new();
    for [name, what, places] in rows() {
        if what.is_empty() || places.is_empty() {
            faults.push(format!("{name} is empty"));
        }
        for place in places.split("; ") {
            if let Some((kind, why)) = place.split_once(": ") {
                if !["not testable", "not built yet"].contains(&kind) || why.trim().is_empty() {
                    faults.push(format!("{name}: neither tests nor a reason: {place}"));
                }
                continue;
            }
            for test in place.split(", ") {
                if !test
                    .strip_prefix('`')
                    .and_then(|test| test.strip_suffix('`'))
                    .is_some_and(|test| tests.contains(test))
                {
                    faults.push(format!("{name}: there is no test {test}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "docs/learning-rules.md:\n{}", faults.join("\n"));
}

#[test]
fn what_is_not_built_yet_only_becomes_less() {
    let missing: Vec<String> =
        rows().into_iter().filter(|[.., places]| places.contains("not built yet: ")).map(|[name, ..]| name).collect();
    // Fewer: lower NOT_BUILT_MAX to this number. More: build and test it, or take the entry's words back.
    assert_eq!(missing.len(), NOT_BUILT_MAX, "{missing:?}");
}
