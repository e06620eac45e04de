//! `stash-domain` stays free of input and output, async runtimes, databases and randomness: none of them is among the packages
//! it is built with.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Packages that must not be there. `jiff` can read the clock and `uuid` make random ids (with a feature that other packages of
/// the workspace need, and that brings `getrandom`); the second test forbids both in the sources.
const FORBIDDEN: &[&str] =
    &["tokio", "sqlx", "sqlx-core", "rdkafka", "rdkafka-sys", "rand", "chrono", "reqwest", "axum"];

/// All packages that `stash-domain` is built with, itself included; those of its tests and build scripts are left out. Asked of
/// cargo's tree for this machine, whose packages are there, since this test was built from them.
fn built_with() -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "tree",
            "--package=stash-domain",
            "--edges=normal",
            "--prefix=none",
            "--format={p}",
            "--locked",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn the_domain_is_built_with_nothing_that_acts_on_the_world() {
    let found = built_with();
    assert!(found.contains("serde_json"), "the dependency tree was not read: {found:?}");
    let forbidden: Vec<&&str> = FORBIDDEN.iter().filter(|name| found.contains(**name)).collect();
    // If this fails, take the dependency out of domain/Cargo.toml and pass in what it did: a time, a random number, bytes.
    assert!(forbidden.is_empty(), "stash-domain is built with {forbidden:?}");
}

#[test]
fn the_sources_ask_for_no_clock_file_process_or_thread() {
    const CALLS: &[&str] = &[
        "::now()",
        "now_v7",
        "new_v4",
        "std::fs",
        "std::net",
        "std::process",
        "std::thread",
        "std::env",
        "SystemTime",
        "Instant",
        "async fn",
    ];
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut files = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        files += 1;
        for (number, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
            let code = line.split("//").next().unwrap();
            let found = CALLS.iter().find(|call| code.contains(**call));
            assert!(found.is_none(), "{}:{}: {}", path.display(), number + 1, line.trim());
        }
    }
    assert!(files > 20);
}
