//! `train_loss_max_diff_20_steps`: the greatest difference between the trainer's loss and TRL's over the first 20 steps, in
//! fp32, from the same weights, with the same pairs in the same order, learning rate and optimizer. Shapes are those of
//! Qwen3-0.6B in fewer layers and with a small vocabulary; the embedding is trained in both.

use super::trl::{PEER, Race, is_left_out, memory};
use crate::bench::Bench;
use crate::figure::{Better, Kind, Measured};
use anyhow::ensure;
use serde_json::json;

pub(super) static KINDS: [Kind; 1] =
    [Kind { name: "train_loss_max_diff_20_steps", unit: "nats", better: Better::Lower, target: Some(1e-4) }];

const STEPS: usize = 20;
const BATCH: usize = 2;
const LAYERS: usize = 4;
/// Rows of the embedding: the tokenizer's, and some.
const ROWS: usize = 2_048;
/// Of a full fine-tuning.
const LEARNING_RATE: f64 = 1e-5;

/// Measures.
pub(super) fn run(bench: &Bench) -> anyhow::Result<Vec<Measured>> {
    if is_left_out(bench) {
        return Ok(Vec::new());
    }
    let steps = bench.full_or_quick(STEPS, 2);
    let race = Race::new(bench, "curves", LAYERS, ROWS, steps * BATCH)?;
    let (stash, ours) = race.stash(json!({
        "method": "full", "batch_pairs": BATCH, "precision": "fp32", "learning_rate": LEARNING_RATE, "warmup": 0,
        "weight_decay": 0, "freeze_embeddings": false, "order": "file",
    }))?;
    let trl = race.trl(json!({"batch": BATCH, "defaults": false, "learning_rate": LEARNING_RATE}))?;
    ensure!(ours.len() == steps && trl.losses.len() == steps, "{} and {} losses", ours.len(), trl.losses.len());
    let difference = ours.iter().zip(&trl.losses).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let (first, last) = (ours.first().unwrap_or(&0.0), ours.last().unwrap_or(&0.0));
    let note = format!(
        "against {PEER}: {steps} steps of {BATCH} pairs, {LAYERS} layers, loss {first:.4} to {last:.4}{}",
        memory(stash.peak_mb, trl.peak_mb)
    );
    Ok(vec![KINDS[0].is(difference, note)])
}
