//! Real weights: SmolLM2-135M-Instruct, imported from GGUF, gives the tokens of llama.cpp and the logits of transformers (see
//! `make_golden.py`).
//!
//! A reward model has a score head in place of the language model's. The two are the same product: with a token's row of the
//! (tied) embedding as the head, the score of a text is that token's logit. So what the head reads is taken times those rows.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking, its helper functions too")]

use std::path::{Path, PathBuf};

use serde_json::Value;
use stash_model::arch::EMBEDDING;
use stash_model::tokenize::{Form, Segmented, TextTokenizer};
use stash_model::{base, gguf};
use stash_trainer::model::{Model, Setup};
use tch::{Device, Kind, Tensor, no_grad};

struct Text {
    text: String,
    cuts: Vec<u32>,
    ids: Vec<u32>,
    /// Token and logit, by transformers in fp32.
    logits: Vec<(i64, f32)>,
    /// Token and log probability, by llama.cpp.
    likely: Vec<(i64, f32)>,
}

fn golden() -> Vec<Text> {
    let golden: Value = serde_json::from_str(include_str!("golden.json")).unwrap();
    golden["texts"].as_array().unwrap().iter().map(text).collect()
}

fn text(golden: &Value) -> Text {
    let (mut text, mut cuts) = (String::new(), Vec::new());
    for segment in golden["segments"].as_array().unwrap() {
        if !text.is_empty() {
            text.push('\n');
            cuts.push(text.len() as u32);
        }
        let (role, body) = (segment[0].as_str().unwrap(), segment[1].as_str().unwrap());
        text.push_str(&format!("<|im_start|>{role}\n{body}<|im_end|>"));
        cuts.push(text.len() as u32);
    }
    let pairs = |key: &str| {
        let pairs = golden[key].as_array().unwrap().iter();
        pairs.map(|pair| (pair[0].as_i64().unwrap(), pair[1].as_f64().unwrap() as f32)).collect()
    };
    let ids = golden["ids"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect();
    Text { text, cuts, ids, logits: pairs("logits"), likely: pairs("llama_cpp_log_probabilities") }
}

/// How far from its own logits in fp32 transformers is in bfloat16, over all texts.
fn bfloat16_farthest() -> f32 {
    let golden: Value = serde_json::from_str(include_str!("golden.json")).unwrap();
    golden["bfloat16_farthest"].as_f64().unwrap() as f32
}

/// The imported base, in a folder that goes with the test.
fn import(folder: &Path) -> PathBuf {
    let file = std::env::var_os("STASH_TEST_SMOLLM2");
    let file = PathBuf::from(file.expect("STASH_TEST_SMOLLM2 names no GGUF file; run: infra/deps/install.sh smollm2"));
    let mut shares = Vec::new();
    gguf::import(&file, folder, |share| shares.push(share)).unwrap();
    assert!(shares.is_sorted() && shares.last() == Some(&1.0));
    folder.to_owned()
}

/// The logits of these tokens for each text, from one model.
fn logits(model: &Model, texts: &[Text], tokens: &[i64]) -> Vec<Vec<f32>> {
    let embedding = &model.weights().iter().find(|weight| weight.name == EMBEDDING).unwrap().tensor;
    let heads = embedding.index_select(0, &Tensor::from_slice(tokens)).to_kind(Kind::Float);
    let ids: Vec<&[u32]> = texts.iter().map(|text| text.ids.as_slice()).collect();
    let logits = no_grad(|| model.last_hidden(&ids).unwrap().matmul(&heads.transpose(0, 1)));
    Vec::<Vec<f32>>::try_from(&logits).unwrap()
}

#[test]
fn smollm2_has_llama_cpps_tokens_and_transformers_logits() {
    let folder = tempfile::tempdir().unwrap();
    let dir = import(folder.path());
    let found = base::check(&dir).unwrap();
    assert_eq!((found.parameters, found.form), (134_515_008, Form::Chatml));
    let texts = golden();
    let tokenizer = TextTokenizer::open(&dir).unwrap();
    for text in &texts {
        let encoded = tokenizer.encode(&Segmented { text: &text.text, cuts: &text.cuts }).unwrap();
        assert_eq!(encoded.ids, text.ids, "{}", text.text);
    }

    let mut tokens: Vec<i64> =
        texts.iter().flat_map(|text| text.logits.iter().chain(&text.likely)).map(|(token, _)| *token).collect();
    tokens.sort_unstable();
    tokens.dedup();
    let place = |token: i64| tokens.binary_search(&token).unwrap();
    // The largest differences from transformers in logits, and from llama.cpp between two log probabilities. In bfloat16 as
    // near as transformers itself is.
    for (compute, near, llama_cpp_near) in [(Kind::Float, 1e-3, 0.5), (Kind::BFloat16, bfloat16_farthest(), 0.75)] {
        let setup =
            Setup { device: Device::Cpu, compute, freeze_embeddings: true, lora: None, max_tokens: 1024, seed: 0 };
        let model = Model::load(&dir, &setup).unwrap();
        let found = logits(&model, &texts, &tokens);
        for (text, found) in texts.iter().zip(&found) {
            let far = text.logits.iter().map(|(token, logit)| (found[place(*token)] - logit).abs()).fold(0.0, f32::max);
            let (first, most) = text.likely[0];
            let against =
                |(token, likely): &(i64, f32)| (found[place(*token)] - found[place(first)] - (likely - most)).abs();
            let llama_cpp = text.likely.iter().map(against).fold(0.0, f32::max);
            println!(
                "{compute:?}, {} tokens: {far:.5} from transformers, {llama_cpp:.3} from llama.cpp",
                text.ids.len()
            );
            assert!(far <= near && llama_cpp <= llama_cpp_near, "{compute:?}, {:?}: {far}, {llama_cpp}", text.text);
        }
    }
}
