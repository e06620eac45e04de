//! Every public error code has a page that explains it, and every page a code.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

use serde_json::Value;
use stash_domain::error::Code;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn pages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors")
}

#[test]
fn pages_and_codes_are_the_same_set() {
    let found: BTreeSet<String> = std::fs::read_dir(pages())
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let expected: BTreeSet<String> = Code::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    // Left: a page without a code; right: a code without a page. Write docs/errors/<code>.md, or delete the page.
    assert_eq!(found, expected);
}

#[test]
fn each_page_says_what_happened_what_to_do_and_shows_an_answer_of_this_code() {
    for code in Code::ALL {
        let page = std::fs::read_to_string(pages().join(format!("{code}.md"))).unwrap();
        assert!(page.starts_with(&format!("# `{code}` ({})\n", code.status())), "the heading of {code}");
        for section in ["\n## What happened\n", "\n## What to do\n", "\n## Example\n"] {
            assert!(page.contains(section), "{code} lacks {section:?}");
        }
        let (_, example) = page.split_once("```json\n").unwrap();
        let example: Value = serde_json::from_str(example.split_once("```").unwrap().0).unwrap();
        assert_eq!(example["type"], format!("/docs/errors/{code}"));
        assert_eq!(example["title"], code.title());
        assert_eq!(example["status"], code.status());
        assert!(example["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{code}");
    }
}

#[test]
fn codes_are_words_that_read_back_and_never_a_success() {
    let names: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(names.len(), Code::ALL.len());
    for code in Code::ALL {
        assert_eq!(code.as_str().parse(), Ok(*code));
        assert!(code.as_str().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
        assert!((400..=503).contains(&code.status()), "{code}");
    }
    assert!("no_such_code".parse::<Code>().is_err());
}
