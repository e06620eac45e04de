//! Rendered texts to scores. Needs `ORT_DYLIB_PATH` (`infra/deps/env.sh` prints it).

use stash_model::manifest::{Manifest, RENDERING_VERSION, TruncationRule};
use stash_model::tokenize::{Form, Segmented, Truncation};
use stash_model::{onnx, parity, tiny_base};
use tempfile::TempDir;

use super::{OrtOptions, ScoreError, TextScorer};

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

#[test]
fn a_segment_scores_as_the_text_that_ends_with_it() {
    for token_limit in [1024, 50] {
        let dir = checkpoint(token_limit, Form::Chatml);
        let scorer = TextScorer::open(dir.path(), OrtOptions { threads: Some(1) }).unwrap();
        let (text, cuts) = trace(8);
        let segments = [1, 3, 5, 7, 0];
        let together = scorer.score_segments(&Segmented { text: &text, cuts: &cuts }, &segments).unwrap();
        let beginning = |segment: &usize| {
            let cuts = &cuts[..=2 * segment];
            Segmented { text: &text[..*cuts.last().unwrap() as usize], cuts }
        };
        let beginnings: Vec<Segmented<'_>> = segments.iter().map(beginning).collect();
        let apart = scorer.score_texts(&beginnings).unwrap();
        for (a, b) in together.iter().zip(&apart) {
            assert!((a.score - b.score).abs() <= 1e-4, "{a:?} {b:?}");
            assert_eq!(a.truncation, b.truncation);
        }
        assert_eq!(together[3].truncation.is_some(), token_limit == 50);
        assert_eq!(together[4].truncation, None);
    }
}

#[test]
fn a_target_longer_than_the_limit_says_so() {
    let dir = checkpoint(10, Form::Chatml);
    let scorer = TextScorer::open(dir.path(), OrtOptions::default()).unwrap();
    let (text, cuts) = trace(2);
    let scored = scorer.score_texts(&[Segmented { text: &text, cuts: &cuts }]).unwrap();
    assert!(matches!(scored[0].truncation, Some(Truncation { target_cut: true, .. })), "{scored:?}");
    let missing = scorer.score_segments(&Segmented { text: &text, cuts: &cuts }, &[0, 2]).unwrap_err();
    assert!(matches!(missing, ScoreError::Text { index: 1, .. }), "{missing}");
}

#[test]
fn a_tokenizer_of_another_form_than_the_manifests_is_refused() {
    let dir = checkpoint(1024, Form::Plain);
    let error = TextScorer::open(dir.path(), OrtOptions::default()).unwrap_err().to_string();
    assert!(error.contains("trained on the form Plain"), "{error}");
}
