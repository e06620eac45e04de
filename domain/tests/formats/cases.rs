//! The golden cases.
//!
//! A case may also have `steps.json`: the steps of each trace as a person derived them from the format's rules. They are
//! compared as subsets (what was found may have more fields), ids that begin with `$` as variables.

use crate::support::{export, good, shown, traces_of};
use serde_json::{Value, json};
use stash_domain::formats::{Listed, OnError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folders(path: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn lines(listed: &Listed) -> Vec<String> {
    listed.first.iter().map(ToString::to_string).collect()
}

/// What reading gives: the traces, or the error; a case whose name ends in `_skip` skips errors.
fn found(format: &str, case: &str, bytes: &[u8]) -> Value {
    let on_error = if case.ends_with("_skip") { OnError::Skip } else { OnError::Fail };
    let (traces, report) = traces_of(format, bytes, on_error);
    match report {
        Ok(report) => json!({
            "traces": traces.iter().map(shown).collect::<Vec<_>>(),
            "warnings": lines(&report.warnings),
            "skipped": lines(&report.skipped),
        }),
        Err(error) => json!({ "error": error.to_string() }),
    }
}

#[test]
fn every_case_gives_what_is_expected() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let mut count = 0;
    for format_folder in folders(&root) {
        let format = format_folder.file_name().unwrap().to_str().unwrap();
        for folder in folders(&format_folder) {
            let case = folder.file_name().unwrap().to_str().unwrap();
            let bytes = std::fs::read(folder.join("in.jsonl")).unwrap();
            let found = found(format, case, &bytes);
            let expected_path = folder.join("expected.json");
            if std::env::var_os("STASH_BLESS").is_some() {
                std::fs::write(&expected_path, format!("{}\n", serde_json::to_string_pretty(&found).unwrap())).unwrap();
            }
            let expected: Value = serde_json::from_slice(&std::fs::read(expected_path).unwrap()).unwrap();
            assert_eq!(found, expected, "{format}/{case}\nfound: {}", serde_json::to_string_pretty(&found).unwrap());
            count += 1;
        }
    }
    assert!(count > 40, "only {count} cases were found");
}

#[test]
fn the_export_of_every_case_reads_back_the_same() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    for format_folder in folders(&root) {
        let format = format_folder.file_name().unwrap().to_str().unwrap();
        for folder in folders(&format_folder) {
            let bytes = std::fs::read(folder.join("in.jsonl")).unwrap();
            let (traces, report) = traces_of(format, &bytes, OnError::Skip);
            if report.is_ok_and(|report| report.traces > 0) {
                assert_eq!(good("stash", &export(&traces)), traces, "{}", folder.display());
            }
        }
    }
}

/// Whether everything expected stands in what was found. A text that begins with `$` is any text, the same wherever it stands.
fn holds(expected: &Value, found: &Value, variables: &mut BTreeMap<String, String>) -> bool {
    match (expected, found) {
        (Value::String(name), Value::String(text)) if name.starts_with('$') => {
            !text.is_empty() && variables.entry(name.clone()).or_insert_with(|| text.clone()) == text
        }
        (Value::Object(expected), Value::Object(found)) => {
            expected.iter().all(|(key, value)| holds(value, found.get(key).unwrap_or(&Value::Null), variables))
        }
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len()
                && expected.iter().zip(found).all(|(expected, found)| holds(expected, found, variables))
        }
        _ => expected == found,
    }
}

#[test]
fn the_steps_are_those_that_the_rules_give() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    for format_folder in folders(&root) {
        let format = format_folder.file_name().unwrap().to_str().unwrap();
        for folder in folders(&format_folder) {
            let Ok(written) = std::fs::read(folder.join("steps.json")) else { continue };
            let expected: Value = serde_json::from_slice(&written).unwrap();
            let traces = good(format, &std::fs::read(folder.join("in.jsonl")).unwrap());
            let found = json!(traces.iter().map(|trace| json!(trace.steps)).collect::<Vec<_>>());
            let shown = serde_json::to_string_pretty(&found).unwrap();
            assert!(holds(&expected, &found, &mut BTreeMap::new()), "{}\nfound: {shown}", folder.display());
        }
    }
}

/// A row of `cases.md`: number, formats, tests.
fn row(line: &str) -> Option<(u32, Vec<&str>, Vec<&str>)> {
    let cells: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
    let [number, _, formats, tests] = cells[..] else { panic!("a row of cases.md has four cells: {line}") };
    Some((number.parse().ok()?, listed_in(formats), listed_in(tests)))
}

fn listed_in(cell: &str) -> Vec<&str> {
    cell.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
}

#[test]
fn every_nasty_case_has_its_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let list = std::fs::read_to_string(root.join("cases.md")).unwrap();
    let rows: Vec<_> = list.lines().filter_map(row).collect();
    assert_eq!(rows.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), (1..=30).collect::<Vec<_>>());
    let known: Vec<&str> = stash_domain::formats::all().iter().map(|format| format.name).collect();
    let mut listed = Vec::new();
    for (number, formats, tests) in &rows {
        for test in tests {
            assert!(root.join(test).join("in.jsonl").is_file(), "case {number}: there is no {test}");
            let case = test.split('/').next_back().unwrap();
            assert!(case.starts_with(&format!("case_{number:02}_")), "{test} is not named after case {number}");
            listed.push(root.join(test));
        }
        // A format that is read has its cases: add the folder, and name it in the row.
        for format in formats.iter().filter(|format| known.contains(format)) {
            let has_test = tests.iter().any(|test| test.starts_with(&format!("{format}/")));
            assert!(has_test, "case {number} has no test for {format} in cases.md");
        }
    }
    for folder in folders(&root).iter().flat_map(|format| folders(format)) {
        let name = folder.file_name().unwrap().to_str().unwrap();
        assert!(!name.starts_with("case_") || listed.contains(&folder), "{} is not in cases.md", folder.display());
    }
}
