//! ONNX Runtime gives the scores that transformers gave, whatever a text is computed with. Needs `ORT_DYLIB_PATH`
//! (`infra/deps/env.sh` prints it).

use std::path::Path;

use ort::session::Session;
use ort::value::TensorRef;
use stash_model::config::ModelConfig;
use stash_model::manifest::{Manifest, RENDERING_VERSION, TruncationRule};
use stash_model::onnx::{self, Attention};
use stash_model::parity;
use stash_model::tiny_base::Kind;
use stash_model::tokenize::Form;
use tempfile::TempDir;

use super::{OrtScorer, runtime};
use crate::scoring::{ScoreError, Scorer, plan};

const FAMILIES: [(Kind, &str); 3] = [(Kind::Qwen3, "qwen3"), (Kind::Qwen2, "qwen2"), (Kind::Llama, "llama")];

fn write_manifest(dir: &Path, token_limit: usize) {
    let manifest = Manifest {
        rendering_version: RENDERING_VERSION,
        form: Form::Chatml,
        token_limit,
        truncation: TruncationRule::Strict,
        base_checksum: String::new(),
        seed: 0,
        code_version: String::new(),
    };
    manifest.write(dir).unwrap();
}

/// The parity model of a family as an exported checkpoint.
fn checkpoint(kind: Kind, token_limit: usize) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    parity::make(dir.path(), kind).unwrap();
    write_manifest(dir.path(), token_limit);
    onnx::export(dir.path()).unwrap();
    dir
}

fn golden(family: &str) -> Vec<f32> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("trainer/tests/parity/{family}.json"));
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert!(json["std"].as_f64().unwrap() >= 1.0, "scores that hardly differ prove little");
    json["scores"].as_array().unwrap().iter().map(|score| score.as_f64().unwrap() as f32).collect()
}

fn farthest(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, |far, d| if d.is_nan() { f32::NAN } else { far.max(d) })
}

fn open(dir: &Path) -> OrtScorer {
    OrtScorer::open(dir).unwrap_or_else(|error| panic!("{error}"))
}

/// Each text by itself.
fn one_by_one(scorer: &OrtScorer, texts: &[Vec<u32>]) -> Vec<f32> {
    texts.iter().map(|text| scorer.score(&[text]).unwrap()[0]).collect()
}

#[test]
fn scores_are_those_of_transformers() {
    let texts = parity::sequences();
    for (kind, family) in FAMILIES {
        for attention in [Attention::Grouped, Attention::Primitive] {
            let dir = checkpoint(kind, 1024);
            onnx::export_with(dir.path(), attention).unwrap();
            let far = farthest(&one_by_one(&open(dir.path()), &texts), &golden(family));
            assert!(far <= 1e-4, "{family} {attention:?}: {far}");
        }
    }
}

/// The graph on rows padded to `extra` more than the longest, on one side, with an id that means something elsewhere.
fn run_padded(dir: &Path, texts: &[Vec<u32>], left: bool, extra: usize) -> Vec<f32> {
    let mut session =
        Session::builder(runtime::environment().unwrap()).unwrap().commit_from_file(dir.join(onnx::FILE)).unwrap();
    let width = texts.iter().map(Vec::len).max().unwrap() + extra;
    let (mut ids, mut mask) = (vec![7_i64; texts.len() * width], vec![0_i64; texts.len() * width]);
    for (row, text) in texts.iter().enumerate() {
        let begin = row * width + if left { width - text.len() } else { 0 };
        for (offset, id) in text.iter().enumerate() {
            ids[begin + offset] = i64::from(*id);
            mask[begin + offset] = 1;
        }
    }
    let shape = [texts.len(), width];
    let outputs = session
        .run(ort::inputs! {
            "input_ids" => TensorRef::from_array_view((shape, ids.as_slice())).unwrap(),
            "attention_mask" => TensorRef::from_array_view((shape, mask.as_slice())).unwrap(),
        })
        .unwrap();
    outputs["score"].try_extract_tensor::<f32>().unwrap().1.to_vec()
}

#[test]
fn sixteen_padded_left_or_right_score_as_each_alone() {
    let texts = parity::sequences();
    for (kind, family) in FAMILIES {
        for attention in [Attention::Grouped, Attention::Primitive] {
            let dir = checkpoint(kind, 1024);
            onnx::export_with(dir.path(), attention).unwrap();
            let alone = one_by_one(&open(dir.path()), &texts);
            // Every second one: short and long in one batch, the pad-ending one among them.
            let some: Vec<usize> = (0..texts.len()).filter(|i| i % 2 == parity::PAD_ENDING % 2).take(16).collect();
            let batch: Vec<Vec<u32>> = some.iter().map(|i| texts[*i].clone()).collect();
            let alone: Vec<f32> = some.iter().map(|i| alone[*i]).collect();
            for left in [false, true] {
                let far = farthest(&run_padded(dir.path(), &batch, left, 5), &alone);
                assert!(far <= 1e-5, "{family} {attention:?} left={left}: {far}");
            }
        }
    }
}

#[test]
fn a_score_depends_neither_on_the_batch_nor_on_the_order() {
    let texts = parity::sequences();
    let dir = checkpoint(Kind::Qwen3, 1024);
    let scorer = open(dir.path());
    let alone = one_by_one(&scorer, &texts);
    let mut order: Vec<usize> = (0..texts.len()).collect();
    stash_model::rng::Rng::new(5).shuffle(&mut order);
    let shuffled: Vec<&[u32]> = order.iter().map(|i| texts[*i].as_slice()).collect();
    let expected: Vec<f32> = order.iter().map(|i| alone[*i]).collect();
    let far = farthest(&scorer.score(&shuffled).unwrap(), &expected);
    assert!(far <= 1e-5, "{far}");
    assert!(scorer.score(&[]).unwrap().is_empty());
}

#[test]
fn one_pass_scores_every_beginning_as_by_itself() {
    for (kind, family) in FAMILIES {
        let dir = checkpoint(kind, 300);
        let scorer = open(dir.path());
        let text = parity::sequences().pop().unwrap();
        // Out of order, twice the same, and beyond the limit.
        let ends = [1, 299, 300, 17, 17, 301, 500, 1024];
        let by_itself = |end: &usize| scorer.score(&[&text[end.saturating_sub(300)..*end]]).unwrap()[0];
        let alone: Vec<f32> = ends.iter().map(by_itself).collect();
        let far = farthest(&scorer.score_prefixes(&text, &ends).unwrap(), &alone);
        assert!(far <= 1e-4, "{family}: {far}");
        assert!(scorer.score_prefixes(&text, &[]).unwrap().is_empty());
    }
}

#[test]
fn what_has_no_score_is_refused_by_its_index() {
    let dir = checkpoint(Kind::Llama, 8);
    let scorer = open(dir.path());
    let vocab = ModelConfig::read(dir.path()).unwrap().vocab_size as u32;
    let bad: [&[u32]; 3] = [&[], &[1; 9], &[1, vocab]];
    for text in bad {
        let error = scorer.score(&[&[1, 2], text]).unwrap_err();
        assert!(matches!(error, ScoreError::Text { index: 1, .. }), "{error}");
    }
    for end in [0, 4] {
        let error = scorer.score_prefixes(&[1, 2, 3], &[1, end]).unwrap_err();
        assert!(matches!(error, ScoreError::Text { index: 1, .. }), "{error}");
    }
}

#[test]
fn more_texts_than_a_batch_holds_are_scored() {
    let dir = checkpoint(Kind::Qwen3, 1024);
    let scorer = open(dir.path());
    let texts: Vec<Vec<u32>> = (0..plan::BATCH_TEXTS_MAX as u32 * 2 + 3).map(|i| vec![1 + i % 7; 3]).collect();
    let texts: Vec<&[u32]> = texts.iter().map(Vec::as_slice).collect();
    let scores = scorer.score(&texts).unwrap();
    assert!((0..texts.len() - 7).all(|i| (scores[i] - scores[i + 7]).abs() <= 1e-5), "equal texts score alike");
}

#[test]
fn a_checkpoint_that_was_not_exported_says_so() {
    let dir = tempfile::tempdir().unwrap();
    parity::make(dir.path(), Kind::Qwen3).unwrap();
    write_manifest(dir.path(), 1024);
    let error = OrtScorer::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("has not been exported"), "{error}");
}
