//! `auto`, and names of formats.

use crate::support::traces_of;
use stash_domain::formats::{AUTO, OnError, all};

fn detected(text: &str) -> String {
    match traces_of(AUTO, text.as_bytes(), OnError::Skip).1 {
        Ok(report) => report.format.to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn each_shape_is_recognised() {
    for (text, format) in [
        (r#"{"id":"a","steps":[{"role":"user","content":"x"}]}"#, "stash"),
        (r#"[{"steps":[{"role":"user","content":"x"}]}]"#, "stash"),
        ("{\n\"steps\": []}", "stash"),
        (r#"{"messages":[{"role":"user","content":"x"}]}"#, "openai_chat"),
        (r#"[{"role":"user","content":"x"}]"#, "openai_chat"),
        (r#"[[{"role":"user","content":"x"}]]"#, "openai_chat"),
        (r#"{"input":{"messages":[]},"preferred_output":[]}"#, "openai_chat"),
        (r#"{"custom_id":"a","body":{"messages":[]}}"#, "openai_chat"),
        (r#"{"choices":[]}"#, "openai_chat"),
        ("\u{FEFF}\n{\"messages\":[]}", "openai_chat"),
        ("damaged {\n{\"messages\":[]}", "openai_chat"),
    ] {
        assert_eq!(detected(text), format, "{text}");
    }
}

#[test]
fn what_is_not_recognised_names_the_formats_tried() {
    for text in ["", "hello", "{}", "[]", "[1]", "7", r#"{"a":1}"#, "\0\0"] {
        let error = detected(text);
        for format in all() {
            assert!(error.contains(format.name), "{error}");
        }
    }
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let (_, report) = traces_of("stash2", b"{}", OnError::Fail);
    assert_eq!(report.unwrap_err().to_string(), "unknown format \"stash2\"; known are stash, openai_chat");
}

#[test]
fn every_format_has_a_name_a_description_and_cases() {
    for format in all() {
        assert!(format.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
        assert!(format.description.len() > 20);
        let cases = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(format.name);
        assert!(cases.is_dir(), "{} has no cases", format.name);
        let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/formats/{}.md", format.name));
        assert!(page.is_file(), "{} has no page", format.name);
    }
}
