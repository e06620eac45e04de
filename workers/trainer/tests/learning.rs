//! A training learns a rule, and learns nothing where there is none.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

mod support;

use serde_json::json;
use stash_model::rng::Rng;
use stash_model::tiny_base::Kind;
use stash_model::tokenize::{Segmented, TextTokenizer};
use stash_trainer::model::{Model, Setup};
use support::{JobDir, Text, TextPair, refund_pairs};
use tch::{Device, Kind as Number};

const TRAIN: usize = 400;
const HELD_OUT: usize = 200;

fn score(model: &Model, tokenizer: &TextTokenizer, texts: &[&Text]) -> Vec<f32> {
    let encode = |text: &&Text| tokenizer.encode(&Segmented { text: &text.text, cuts: &text.cuts }).unwrap().ids;
    let ids: Vec<Vec<u32>> = texts.iter().map(encode).collect();
    let ids: Vec<&[u32]> = ids.iter().map(Vec::as_slice).collect();
    ids.chunks(50).flat_map(|chunk| model.score(chunk).unwrap()).collect()
}

/// Trains on the first pairs, and counts the held-out ones whose chosen text scores higher.
fn held_out_wins(kind: Kind, method: &str, pairs: &[TextPair]) -> usize {
    let job = JobDir::new(kind);
    job.job(json!({"epochs": 3, "seed": 1, "method": method})).pairs(pairs, TRAIN);
    let result = job.train();
    assert_eq!(result["train_pairs"], TRAIN);
    eprintln!("loss {} in {} s, {} tokens/s", result["final_loss"], result["train_seconds"], result["tokens_per_s"]);
    let checkpoint = job.file("model");
    let setup = Setup {
        device: Device::Cpu,
        compute: Number::Float,
        freeze_embeddings: true,
        lora: None,
        max_tokens: 1024,
        seed: 0,
    };
    let model = Model::load(&checkpoint, &setup).unwrap();
    let tokenizer = TextTokenizer::open(&checkpoint).unwrap();
    let chosen: Vec<&Text> = pairs[TRAIN..].iter().map(|pair| &pair.chosen).collect();
    let rejected: Vec<&Text> = pairs[TRAIN..].iter().map(|pair| &pair.rejected).collect();
    let (chosen, rejected) = (score(&model, &tokenizer, &chosen), score(&model, &tokenizer, &rejected));
    let wins = chosen.iter().zip(&rejected).filter(|(chosen, rejected)| chosen > rejected).count();
    eprintln!("{wins} of {HELD_OUT} held-out pairs");
    wins
}

/// The 95 % interval of a share (Wilson, 1927).
fn wilson(wins: usize, n: usize) -> (f64, f64) {
    let (n, share, z) = (n as f64, wins as f64 / n as f64, 1.959_964);
    let middle = share + z * z / (2.0 * n);
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    ((middle - half) / scale, (middle + half) / scale)
}

#[test]
fn a_rule_is_learnt() {
    for (kind, method) in [(Kind::Qwen3, "full"), (Kind::Llama, "full"), (Kind::Qwen3, "lora")] {
        let wins = held_out_wins(kind, method, &refund_pairs(TRAIN + HELD_OUT, 3));
        assert!(wins * 10 >= HELD_OUT * 9, "{kind:?} {method}: {wins} of {HELD_OUT} held-out pairs");
    }
}

#[test]
fn nothing_is_learnt_from_shuffled_labels() {
    let mut rng = Rng::new(11);
    let shuffled: Vec<TextPair> = refund_pairs(TRAIN + HELD_OUT, 3)
        .into_iter()
        .map(|pair| if rng.below(2) == 0 { pair } else { TextPair { chosen: pair.rejected, rejected: pair.chosen } })
        .collect();
    let wins = held_out_wins(Kind::Qwen3, "full", &shuffled);
    let (low, high) = wilson(wins, HELD_OUT);
    assert!(low < 0.5 && 0.5 < high, "{wins} of {HELD_OUT}: {low:.3} to {high:.3}");
}
