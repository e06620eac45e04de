//! The small base: complete, equal for equal seeds, and of use as a tokenizer.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

use stash_model::arch::{self, SCORE};
use stash_model::checksum;
use stash_model::config::ModelConfig;
use stash_model::safetensors::Weights;
use stash_model::tiny_base::{self, Kind};
use stash_model::tokenize::{Form, Segmented, TextTokenizer};

#[test]
fn equal_seeds_give_equal_bytes() {
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    for (dir, seed) in dirs.iter().zip([7, 7, 8]) {
        tiny_base::make(dir.path(), seed).unwrap();
    }
    let sums = dirs.each_ref().map(|dir| checksum::of_model(dir.path()).unwrap());
    assert_eq!(sums[0], sums[1]);
    assert_ne!(sums[0], sums[2]);
}

#[test]
fn a_base_has_every_tensor_but_the_head() {
    for kind in [Kind::Qwen3, Kind::Qwen2, Kind::Llama] {
        let dir = tempfile::tempdir().unwrap();
        tiny_base::make_kind(dir.path(), kind, 0).unwrap();
        let config = ModelConfig::read(dir.path()).unwrap();
        let mut weights = Weights::open(dir.path()).unwrap();
        for spec in arch::tensors(&config) {
            if spec.name == SCORE {
                assert!(!weights.contains(SCORE), "a base has no head: training draws it from its seed");
                continue;
            }
            let values = weights.read_f32(&spec.name, &spec.shape).unwrap();
            assert!(values.iter().all(|v| v.is_finite()), "{}", spec.name);
        }
    }
}

#[test]
fn the_tokenizer_has_chatml_and_merges_usual_words() {
    let dir = tempfile::tempdir().unwrap();
    tiny_base::make(dir.path(), 0).unwrap();
    let tokenizer = TextTokenizer::open(dir.path()).unwrap();
    assert_eq!(tokenizer.form(), Form::Chatml);
    assert_eq!(tokenizer.pad().text, tiny_base::PAD);
    let text = "<|im_start|>user\nPlease cancel my reservation and refund the full amount to my credit card.<|im_end|>";
    let encoded = tokenizer.encode(&Segmented { text, cuts: &[text.len() as u32] }).unwrap();
    let inner = text.len() - "<|im_start|><|im_end|>".len();
    assert!(encoded.ids.len() - 2 <= inner / 4, "{} tokens for {inner} bytes", encoded.ids.len());
    let config = ModelConfig::read(dir.path()).unwrap();
    assert!(tokenizer.vocab_size() <= config.vocab_size);
}
