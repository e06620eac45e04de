//! ONNX Runtime gives the scores that transformers gave, whatever a text is computed with. Needs `ORT_DYLIB_PATH`
//! (`infra/deps/env.sh` prints it).

use std::path::Path;

use ort::session::Session;
use ort::value::TensorRef;
use stash_model::config::ModelConfig;
use stash_model::manifest::{Manifest, Precision, RENDERING_VERSION, TruncationRule};
use stash_model::onnx::{self, Attention};
use stash_model::parity;
use stash_model::tiny_base::Kind;
use stash_model::tokenize::Form;
use tempfile::TempDir;

use super::{OrtOptions, OrtScorer, lacks, precision, runtime};
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
        precision: None,
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

/// In fp32: these tests are about exact numbers.
fn open(dir: &Path) -> OrtScorer {
    let options = OrtOptions { precision: Some(Precision::Fp32), ..OrtOptions::default() };
    OrtScorer::open_with(dir, options).unwrap_or_else(|error| panic!("{error}"))
}

/// A graph by ONNX Runtime's own kernels.
fn on_cpu(graph: &Path) -> Session {
    let environment = runtime::environment().unwrap();
    let builder = Session::builder(environment).unwrap();
    builder.with_devices([runtime::cpu(environment).unwrap()], None).unwrap().commit_from_file(graph).unwrap()
}

/// Each text by itself.
fn one_by_one(scorer: &OrtScorer, texts: &[Vec<u32>]) -> Vec<f32> {
    texts.iter().map(|text| scorer.score(&[text]).unwrap()[0]).collect()
}

#[test]
fn scores_are_those_of_transformers() {
    let texts = parity::sequences();
    for (kind, family) in FAMILIES {
        let golden = golden(family);
        let dir = checkpoint(kind, 1024);
        let far = farthest(&one_by_one(&open(dir.path()), &texts), &golden);
        assert!(far <= 1e-4, "{family}: {far}");
        for attention in [Attention::Grouped, Attention::Primitive] {
            onnx::export_with(dir.path(), attention).unwrap();
            for (text, golden) in texts.iter().zip(&golden) {
                let far = (run_padded(dir.path(), std::slice::from_ref(text), false, 0)[0] - golden).abs();
                assert!(far <= 1e-4, "{family} {attention:?}: {far}");
            }
        }
    }
}

/// Whatever the length: attention in blocks has empty ones in a text shorter than their number.
#[test]
fn the_two_forms_of_the_engines_graph_agree() {
    let text = parity::sequences().pop().unwrap();
    let ids: Vec<i64> = text.iter().map(|id| i64::from(*id)).collect();
    for (kind, family) in FAMILIES {
        let dir = checkpoint(kind, 1024);
        let mut sessions = [Attention::Grouped, Attention::Primitive].map(|attention| {
            let graph = dir.path().join("engine.onnx");
            std::fs::write(&graph, onnx::engine_graph(dir.path(), attention).unwrap()).unwrap();
            on_cpu(&graph)
        });
        for [rows, length] in [[1, 1], [1, 2], [1, 3], [2, 3], [3, 6], [2, 341], [1, 1024]] {
            let (ids, positions) = (&ids[..rows * length], [0, rows * length / 2, rows * length - 1].map(|i| i as i64));
            let scores = sessions.each_mut().map(|session| {
                let inputs = ort::inputs! {
                    "input_ids" => TensorRef::from_array_view(([rows, length], ids)).unwrap(),
                    "positions" => TensorRef::from_array_view(([positions.len()], positions.as_slice())).unwrap(),
                };
                session.run(inputs).unwrap()["scores"].try_extract_tensor::<f32>().unwrap().1.to_vec()
            });
            let far = farthest(&scores[0], &scores[1]);
            assert!(far <= 1e-4, "{family}, {rows} times {length}: {far}");
        }
    }
}

/// On a machine without the plugin, or whose processor has no bfloat16, that this is said instead is what is tested.
#[test]
fn bf16_orders_texts_as_fp32_does_where_it_can_be_had() {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let texts = parity::sequences();
    let dir = checkpoint(Kind::Qwen3, 1024);
    let options = OrtOptions { precision: Some(Precision::Bf16), threads: Some(threads) };
    let opened = OrtScorer::open_with(dir.path(), options);
    if let Some(missing) = lacks(Precision::Bf16, threads) {
        assert!(opened.unwrap_err().to_string().contains(&missing));
        assert_eq!(precision::choose(None, Some(Precision::Bf16), threads).unwrap(), Precision::Fp32);
        return;
    }
    let scorer = opened.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scorer.precision(), Precision::Bf16);
    let (exact, scores) = (one_by_one(&open(dir.path()), &texts), one_by_one(&scorer, &texts));
    let mean = exact.iter().sum::<f32>() / exact.len() as f32;
    let std = (exact.iter().map(|score| (score - mean).powi(2)).sum::<f32>() / exact.len() as f32).sqrt();
    // The parity models are small and unruly; what a real shape deviates by is measured, not tested.
    assert!(farthest(&scores, &exact) <= 0.1 * std, "{} of {std}", farthest(&scores, &exact));
    assert_eq!(precision::choose(None, None, threads).unwrap(), Precision::Bf16);
}

/// On a machine without the instructions, that this is said instead is what is tested.
#[test]
fn int8_scores_are_near_those_in_fp32_and_depend_on_their_text_alone() {
    let texts = parity::sequences();
    for (kind, family) in FAMILIES {
        let dir = checkpoint(kind, 300);
        let options = OrtOptions { precision: Some(Precision::Int8), ..OrtOptions::default() };
        let opened = OrtScorer::open_with(dir.path(), options);
        if let Some(missing) = lacks(Precision::Int8, 1) {
            assert!(opened.unwrap_err().to_string().contains(&missing));
            return;
        }
        let scorer = opened.unwrap_or_else(|error| panic!("{family}: {error}"));
        assert_eq!(scorer.precision(), Precision::Int8);
        let short: Vec<Vec<u32>> = texts.iter().filter(|text| text.len() <= 300).cloned().collect();
        let alone = one_by_one(&scorer, &short);
        let exact = one_by_one(&open(dir.path()), &short);
        let mean = exact.iter().sum::<f32>() / exact.len() as f32;
        let std = (exact.iter().map(|score| (score - mean).powi(2)).sum::<f32>() / exact.len() as f32).sqrt();
        let far = farthest(&alone, &exact);
        assert!(far > 0.0 && far <= 0.3 * std, "{family}: {far} of {std}");
        let together: Vec<&[u32]> = short.iter().map(Vec::as_slice).collect();
        let far = farthest(&scorer.score(&together).unwrap(), &alone);
        assert!(far <= 1e-5, "{family}, in a batch: {far}");
        let text = parity::sequences().pop().unwrap();
        let ends = [1, 17, 299, 300, 301, 1024];
        let by_itself = |end: &usize| scorer.score(&[&text[end.saturating_sub(300)..*end]]).unwrap()[0];
        let by_itself: Vec<f32> = ends.iter().map(by_itself).collect();
        let far = farthest(&scorer.score_prefixes(&text, &ends).unwrap(), &by_itself);
        assert!(far <= 1e-4, "{family}, in one pass: {far}");
    }
}

#[test]
fn the_arithmetic_is_what_was_asked_for_or_the_models_own() {
    assert_eq!(precision::choose(Some(Precision::Fp32), Some(Precision::Bf16), 1).unwrap(), Precision::Fp32);
    assert_eq!(precision::choose(None, Some(Precision::Fp32), 2).unwrap(), Precision::Fp32);
    // One thread is never enough for bf16, so these are the same on every machine.
    assert_eq!(precision::choose(None, None, 1).unwrap(), Precision::Fp32);
    let refused = precision::choose(Some(Precision::Bf16), None, 1).unwrap_err();
    assert!(matches!(refused, ScoreError::Precision { name: "bf16", .. }), "{refused}");
}

/// The graph on rows padded to `extra` more than the longest, on one side, with an id that means something elsewhere.
fn run_padded(dir: &Path, texts: &[Vec<u32>], left: bool, extra: usize) -> Vec<f32> {
    let mut session = on_cpu(&dir.join(onnx::FILE));
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
fn opening_leaves_nothing_beside_the_weights() {
    let dir = tempfile::tempdir().unwrap();
    parity::make(dir.path(), Kind::Qwen3).unwrap();
    write_manifest(dir.path(), 1024);
    let scorer = open(dir.path());
    assert!(scorer.score(&[&[1, 2]]).is_ok());
    let mut names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["config.json", "model.safetensors", "stash_manifest.json"]);
}
