//! Rendered texts to scores. Needs `ORT_DYLIB_PATH` (`infra/deps/env.sh` prints it).

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use stash_model::manifest::{Manifest, RENDERING_VERSION, TruncationRule};
use stash_model::tokenize::{Form, Segmented, Truncation};
use stash_model::{onnx, parity, tiny_base};
use tempfile::TempDir;

use super::{OrtOptions, Precision, Scored, TextScorer, TraceScores, plan};

/// Exact scoring, whatever this machine has.
fn fp32() -> OrtOptions {
    OrtOptions { threads: Some(1), precision: Some(Precision::Fp32) }
}

/// An exported checkpoint with the small base's tokenizer and the weights of a parity model of its vocabulary.
fn checkpoint(token_limit: usize, form: Form) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    tiny_base::make(dir.path(), 0).unwrap();
    let config = stash_model::config::ModelConfig::read(dir.path()).unwrap();
    tiny_base::write_random_weights(dir.path(), &config, 1, parity::deviation).unwrap();
    let manifest = Manifest {
        rendering_version: RENDERING_VERSION,
        form,
        token_limit,
        truncation: TruncationRule::Strict,
        base_checksum: String::new(),
        seed: 0,
        code_version: String::new(),
        precision: None,
    };
    manifest.write(dir.path()).unwrap();
    onnx::export(dir.path()).unwrap();
    dir
}

/// A trace of `n` turns, its text and cuts.
fn trace(n: usize) -> (String, Vec<u32>) {
    let (mut text, mut cuts) = (String::new(), Vec::new());
    for turn in 0..n {
        if turn > 0 {
            text.push('\n');
            cuts.push(text.len() as u32);
        }
        let role = if turn % 2 == 0 { "user" } else { "assistant" };
        text.push_str(&format!("<|im_start|>{role}\nPlease check order {} again, it is late.<|im_end|>", turn * 37));
        cuts.push(text.len() as u32);
    }
    (text, cuts)
}

/// A trace's segments.
fn segments<'a>(text: &'a str, cuts: &[u32]) -> Vec<&'a str> {
    let mut begin = 0;
    let mut pieces = Vec::new();
    for cut in cuts {
        pieces.push(&text[begin..*cut as usize]);
        begin = *cut as usize;
    }
    pieces.into_iter().step_by(2).collect()
}

/// The scores of the wanted segments and of the whole, by the stream, and the most tokens that it held.
fn streamed(scorer: &Arc<TextScorer>, segments: &[&str], wanted: &[usize]) -> (Vec<Scored>, Scored, usize) {
    let mut stream = TraceScores::new(Arc::clone(scorer));
    let mut resident = 0;
    for (index, segment) in segments.iter().enumerate() {
        stream.push(segment, wanted.contains(&index)).unwrap();
        resident = resident.max(stream.resident_tokens());
    }
    let (scores, whole) = stream.finish().unwrap().unwrap();
    (scores, whole, resident)
}

/// The scores of the same texts, each rendered, tokenised and cut by itself.
fn one_by_one(scorer: &TextScorer, text: &str, cuts: &[u32], wanted: &[usize]) -> Vec<Scored> {
    let beginning = |segment: &usize| {
        let cuts = &cuts[..=2 * segment];
        Segmented { text: &text[..*cuts.last().unwrap() as usize], cuts }
    };
    wanted.iter().flat_map(|segment| scorer.score_texts(&[beginning(segment)]).unwrap()).collect()
}

#[test]
fn a_trace_in_one_pass_scores_as_text_by_text() {
    // Under the limit, around it, far beyond it; one wanted segment, several, all, the last or not.
    let opened: Vec<(TempDir, Arc<TextScorer>)> = [1024, 120, 50, 7]
        .into_iter()
        .map(|limit| {
            let dir = checkpoint(limit, Form::Chatml);
            let scorer = Arc::new(TextScorer::open(dir.path(), fp32()).unwrap());
            (dir, scorer)
        })
        .collect();
    let bodies = proptest::collection::vec("[a-z ,.<|>\\n\u{e9}\u{4e2d}]{0,60}", 1..14);
    let mut runner = TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
    runner
        .run(&(bodies, proptest::collection::vec(any::<bool>(), 14), 0..opened.len()), |(bodies, wanted, which)| {
            let scorer = &opened[which].1;
            let (mut text, mut cuts) = (String::new(), Vec::new());
            for (turn, body) in bodies.iter().enumerate() {
                if turn > 0 {
                    text.push('\n');
                    cuts.push(text.len() as u32);
                }
                text.push_str(&format!("<|im_start|>user\n{body}<|im_end|>"));
                cuts.push(text.len() as u32);
            }
            let segments = segments(&text, &cuts);
            let wanted: Vec<usize> = (0..segments.len()).filter(|index| wanted[*index]).collect();
            let (together, whole, _) = streamed(scorer, &segments, &wanted);
            let apart = one_by_one(scorer, &text, &cuts, &wanted);
            let of_whole = one_by_one(scorer, &text, &cuts, &[segments.len() - 1]);
            prop_assert_eq!(together.len(), apart.len());
            for (a, b) in together.iter().chain([&whole]).zip(apart.iter().chain(&of_whole)) {
                prop_assert!((a.score - b.score).abs() <= 1e-4, "{:?} {:?}", a, b);
                prop_assert_eq!(a.truncation, b.truncation);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_trace_of_any_length_is_scored_in_bounded_memory() {
    let limit = 50;
    let dir = checkpoint(limit, Form::Chatml);
    let scorer = Arc::new(TextScorer::open(dir.path(), fp32()).unwrap());
    let (text, cuts) = trace(1_200);
    let segments = segments(&text, &cuts);
    let wanted: Vec<usize> = (0..segments.len()).filter(|index| index % 2 == 1).collect();
    let (scores, _, resident) = streamed(&scorer, &segments, &wanted);
    assert_eq!(scores.len(), 600);
    let segment_tokens_max = 60;
    assert!(resident <= limit + segment_tokens_max + plan::BATCH_CELLS_MAX, "{resident} tokens held");
    // The last one cut is what it is by itself.
    let apart = one_by_one(&scorer, &text, &cuts, &[1_199]);
    assert!((scores[599].score - apart[0].score).abs() <= 1e-4);
    assert_eq!(scores[599].truncation, apart[0].truncation);
}

#[test]
fn a_trace_without_segments_has_no_scores() {
    let dir = checkpoint(50, Form::Chatml);
    let scorer = Arc::new(TextScorer::open(dir.path(), fp32()).unwrap());
    assert!(TraceScores::new(Arc::clone(&scorer)).finish().unwrap().is_none());
    let error = TraceScores::new(scorer).push("no segment", true).unwrap_err();
    assert!(error.to_string().contains("segment"), "{error}");
}

#[test]
fn a_target_longer_than_the_limit_says_so() {
    let dir = checkpoint(10, Form::Chatml);
    let scorer = TextScorer::open(dir.path(), fp32()).unwrap();
    let (text, cuts) = trace(2);
    let scored = scorer.score_texts(&[Segmented { text: &text, cuts: &cuts }]).unwrap();
    assert!(matches!(scored[0].truncation, Some(Truncation { target_cut: true, .. })), "{scored:?}");
}

#[test]
fn a_tokenizer_of_another_form_than_the_manifests_is_refused() {
    let dir = checkpoint(1024, Form::Plain);
    let error = TextScorer::open(dir.path(), OrtOptions::default()).unwrap_err().to_string();
    assert!(error.contains("trained on the form Plain"), "{error}");
}
