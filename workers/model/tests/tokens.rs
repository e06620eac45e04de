//! Tokens of rendered texts: prefixes, hostile bodies, the cut at the limit.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use stash_model::ModelError;
use stash_model::tiny_base;
use stash_model::tokenize::{Form, Segmented, TextTokenizer, Truncation, window, write_files};

static CHATML: LazyLock<TextTokenizer> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    tiny_base::make(dir.path(), 0).unwrap();
    TextTokenizer::open(dir.path()).unwrap()
});

static PLAIN: LazyLock<TextTokenizer> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    tiny_base::make(dir.path(), 0).unwrap();
    edit(&dir.path().join("tokenizer.json"), |json| json.replace("im_start|>", "a|>").replace("im_end|>", "b|>"));
    TextTokenizer::open(dir.path()).unwrap()
});

fn edit(path: &Path, change: impl FnOnce(String) -> String) {
    std::fs::write(path, change(std::fs::read_to_string(path).unwrap())).unwrap();
}

/// A text in ChatML form and its cuts, from (role, body) pairs.
fn render(segments: &[(&str, String)]) -> (String, Vec<u32>) {
    render_as(Form::Chatml, segments)
}

fn render_as(form: Form, segments: &[(&str, String)]) -> (String, Vec<u32>) {
    let (mut text, mut cuts) = (String::new(), Vec::new());
    for (index, (role, body)) in segments.iter().enumerate() {
        if index > 0 {
            text.push('\n');
            cuts.push(text.len() as u32);
        }
        match form {
            Form::Chatml => text.push_str(&format!("<|im_start|>{role}\n{body}<|im_end|>")),
            Form::Plain => text.push_str(&format!("### {role}\n{body}\n")),
        }
        cuts.push(text.len() as u32);
    }
    (text, cuts)
}

/// Bodies that try to look like structure, among arbitrary ones.
fn body() -> impl Strategy<Value = String> {
    let hostile =
        ["<|im_end|>", "<|im_start|>assistant\n", "<|endoftext|>", "\n", " ", "<|im_", "end|>", "### user\n", "x"];
    let pieces =
        prop_oneof![proptest::sample::select(hostile.to_vec()).prop_map(str::to_owned), "\\PC{0,12}", "[a-z \n]{0,20}"];
    proptest::collection::vec(pieces, 0..6).prop_map(|pieces| pieces.concat())
}

fn trace() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let role = proptest::sample::select(vec!["user", "assistant", "tool"]);
    proptest::collection::vec((role, body()), 1..7)
}

proptest! {
    #[test]
    fn tokens_of_an_action_text_are_a_prefix_of_the_traces(trace in trace(), at in any::<proptest::sample::Index>()) {
        let upto = at.index(trace.len()) + 1;
        for tokenizer in [&CHATML, &PLAIN] {
            let (whole, whole_cuts) = render_as(tokenizer.form(), &trace);
            let (action, action_cuts) = render_as(tokenizer.form(), &trace[..upto]);
            let whole = tokenizer.encode(&Segmented { text: &whole, cuts: &whole_cuts }).unwrap();
            let action = tokenizer.encode(&Segmented { text: &action, cuts: &action_cuts }).unwrap();
            prop_assert_eq!(&whole.ids[..action.ids.len()], &action.ids[..]);
            prop_assert_eq!(&whole.ends[..action.ends.len()], &action.ends[..]);
            prop_assert_eq!(whole.ends[action_cuts.len() - 1], action.ids.len());
        }
    }

    #[test]
    fn a_body_never_yields_a_marker_and_no_text_ends_with_the_pad(trace in trace()) {
        let (text, cuts) = render(&trace);
        let encoded = CHATML.encode(&Segmented { text: &text, cuts: &cuts }).unwrap();
        // The small base numbers its special tokens 0 (pad), 1 and 2.
        let specials: Vec<u32> = encoded.ids.iter().copied().filter(|id| *id <= 2).collect();
        prop_assert_eq!(specials, [1, 2].repeat(trace.len()));
        prop_assert_eq!(encoded.ids.last(), Some(&2));
        let (text, cuts) = render_as(Form::Plain, &trace);
        let plain = PLAIN.encode(&Segmented { text: &text, cuts: &cuts }).unwrap();
        prop_assert!(plain.ids.iter().all(|id| *id > 2));
        prop_assert_ne!(*plain.ids.last().unwrap(), PLAIN.pad().id);
    }

    #[test]
    fn the_cut_keeps_the_end(ids in proptest::collection::vec(0u32..9, 1..60), target in 0usize..60, limit in 1usize..60) {
        let target = target.min(ids.len() - 1);
        let kept = window(&ids, target, limit);
        prop_assert!(ids.ends_with(kept.ids));
        prop_assert_eq!(kept.ids.len(), ids.len().min(limit));
        let dropped_tokens = ids.len() - kept.ids.len();
        let expected = (dropped_tokens > 0).then_some(Truncation { dropped_tokens, target_cut: kept.ids.len() < ids.len() - target });
        prop_assert_eq!(kept.truncation, expected);
    }

    #[test]
    fn any_cuts_are_answered_without_a_panic(text in "\\PC{0,20}", cuts in proptest::collection::vec(0u32..30, 0..6)) {
        let _ = CHATML.encode(&Segmented { text: &text, cuts: &cuts });
    }
}

#[test]
fn cuts_that_do_not_describe_the_text_are_refused() {
    let text = "<|im_start|>user\na<|im_end|>";
    let cases: [(&str, &[u32]); 5] = [
        (text, &[]),
        (text, &[5, 28]),
        (text, &[27]),
        ("<|im_start|>user\na<|im_end|> <|im_start|>user\na<|im_end|>", &[28, 29, 57]),
        ("", &[]),
    ];
    for (text, cuts) in cases {
        let error = CHATML.encode(&Segmented { text, cuts }).unwrap_err();
        assert!(matches!(error, ModelError::Segments(_)), "{text:?} {cuts:?}: {error}");
    }
}

#[test]
fn the_plain_form_reads_a_segment_as_a_heading_and_lines() {
    assert_eq!(PLAIN.form(), Form::Plain);
    let (text, cuts) = render_as(Form::Plain, &[("user", "hello".to_owned())]);
    let segment = PLAIN.encode(&Segmented { text: &text, cuts: &cuts }).unwrap();
    // The same characters through the ChatML base stand between its two markers.
    let (text, cuts) = render(&[("### user", "hello\n".to_owned())]);
    let marked = CHATML.encode(&Segmented { text: &text, cuts: &cuts }).unwrap();
    assert_eq!(segment.ids, marked.ids[1..marked.ids.len() - 1]);
    let (chatml, cuts) = render(&[("user", "hello".to_owned())]);
    assert!(PLAIN.encode(&Segmented { text: &chatml, cuts: &cuts }).is_err(), "rendered in the other form");
}

#[test]
fn a_marker_never_serves_as_the_pad() {
    let dir = tempfile::tempdir().unwrap();
    tiny_base::make(dir.path(), 0).unwrap();
    // As SmolLM2 does: padding with the token every text ends with.
    edit(&dir.path().join("config.json"), |json| json.replace("\"pad_token_id\": 0", "\"pad_token_id\": 2"));
    let tokenizer = TextTokenizer::open(dir.path()).unwrap();
    assert_eq!(tokenizer.pad().text, "<|endoftext|>");
    let out = tempfile::tempdir().unwrap();
    write_files(dir.path(), out.path(), tokenizer.pad(), 1024).unwrap();
    assert_eq!(TextTokenizer::open(out.path()).unwrap().pad(), tokenizer.pad());
}

#[test]
fn a_leading_token_is_there_only_where_the_base_asks() {
    let dir = tempfile::tempdir().unwrap();
    tiny_base::make(dir.path(), 0).unwrap();
    let settings =
        r#"{"add_bos_token": true, "bos_token": {"content": "<|endoftext|>"}, "pad_token": "<|endoftext|>"}"#;
    std::fs::write(dir.path().join("tokenizer_config.json"), settings).unwrap();
    let (text, cuts) = render(&[("user", "hello".to_owned())]);
    let text = Segmented { text: &text, cuts: &cuts };
    let with = TextTokenizer::open(dir.path()).unwrap().encode(&text).unwrap();
    let without = CHATML.encode(&text).unwrap();
    assert_eq!(with.ids[0], 0);
    assert_eq!(with.ids[1..], without.ids);
}

#[test]
fn a_base_that_spells_a_marker_as_a_word_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    tiny_base::make(dir.path(), 0).unwrap();
    edit(&dir.path().join("tokenizer.json"), |json| {
        let whole_words = json.replace("\"ignore_merges\": false", "\"ignore_merges\": true");
        whole_words.replace("\"use_regex\": true", "\"use_regex\": false")
    });
    let error = TextTokenizer::open(dir.path()).unwrap_err();
    assert!(error.to_string().contains("segment marker"), "{error}");
}
