//! Style as a test: what a reader would stumble over, by place.

use std::path::{Path, PathBuf};

/// Lines of a source file. A longer one holds more than one thing.
const LINES_MAX: usize = 500;

const FOLDERS: &[&str] = &[
    "src",
    "domain",
    "schemas",
    "infra",
    "migrations",
    "projections",
    "command-api",
    "query-api",
    "workers",
    "bench",
    "tests",
];

fn files(extension: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut todo: Vec<PathBuf> = FOLDERS.iter().map(|folder| root.join(folder)).collect();
    let mut found = Vec::new();
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
                todo.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn assert_none(what: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{what}:\n{}", faults.join("\n"));
}

#[test]
fn no_source_file_is_too_long() {
    let faults: Vec<String> = files("rs")
        .iter()
        .map(|path| (path, std::fs::read_to_string(path).unwrap().lines().count()))
        .filter(|(_, lines)| *lines > LINES_MAX)
        .map(|(path, lines)| format!("{}: {lines} lines", path.display()))
        .collect();
    assert_none(&format!("files of more than {LINES_MAX} lines; give each thing its own"), &faults);
}

#[test]
fn every_sql_file_is_used_and_no_sql_stands_in_the_code() {
    let sources: Vec<(PathBuf, String)> =
        files("rs").into_iter().map(|path| (path.clone(), std::fs::read_to_string(&path).unwrap())).collect();
    let mut inline = Vec::new();
    for (path, text) in &sources {
        let is_test = path
            .components()
            .any(|part| ["tests", "testing", "bench", "examples"].iter().any(|name| part.as_os_str() == *name))
            || path.file_stem().is_some_and(|stem| stem.to_string_lossy().contains("tests"));
        let code = text.split("#[cfg(test)]").next().unwrap();
        for verb in ["SELECT ", "INSERT INTO ", "DELETE FROM ", "UPDATE "] {
            if !is_test && code.contains(&format!("query(\"{verb}")) {
                inline.push(format!("{}: {verb}", path.display()));
            }
        }
    }
    // A statement is named by the code beside it, directly or through a macro that builds on it.
    let names_it = |sql: &Path| {
        let name = sql.file_name().unwrap().to_string_lossy().into_owned();
        let folder = sql.parent().unwrap();
        let near = [Some(folder), folder.parent()];
        sources
            .iter()
            .filter(|(path, _)| near.contains(&path.parent()))
            .any(|(_, text)| text.contains(name.trim_end_matches(".sql")))
    };
    let unused: Vec<String> = files("sql")
        .into_iter()
        .filter(|path| !path.components().any(|part| part.as_os_str() == "migrations"))
        .filter(|path| !names_it(path))
        .map(|path| path.display().to_string())
        .collect();
    assert_none("SQL files that nothing includes", &unused);
    assert_none("SQL in the code; it belongs in a .sql file beside it", &inline);
}

#[test]
fn nothing_unfinished_is_left() {
    let marks = ["todo!(", "unimplemented!(", "dbg!(", "FIXME"];
    let faults: Vec<String> = files("rs")
        .into_iter()
        .filter(|path| !path.ends_with("tests/suite/tidy.rs"))
        .flat_map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let hits: Vec<String> = text
                .lines()
                .enumerate()
                .filter(|(_, line)| marks.iter().any(|mark| line.contains(mark)))
                .map(|(number, line)| format!("{}:{}: {}", path.display(), number + 1, line.trim()))
                .collect();
            hits
        })
        .collect();
    assert_none("unfinished", &faults);
}
