//! `train_pairs_per_s_vs_trl`: how many times the pairs per second of TRL's `RewardTrainer` at its defaults the trainer does.
//!
//! Both train the same base from the same weights on the same pairs, eight to a step as TRL has it, on as many threads, all of
//! the training loop counted (start-up and checkpoint are not). The base has the shape of Qwen3-0.6B, all layers, with random
//! weights; each pair is an action and another in its place, behind what came before. One warms the machine for the other:
//! they take turns. The trainer fine-tunes every weight but the embedding, as it does by default; TRL the embedding too.

use super::trl::{PEER, Race, is_left_out, memory};
use crate::bench::Bench;
use crate::figure::{Better, Kind, Measured};
use crate::statistics::{median, number};
use serde_json::json;

pub(super) static KINDS: [Kind; 1] =
    [Kind { name: "train_pairs_per_s_vs_trl", unit: "times", better: Better::Higher, target: Some(3.0) }];

/// Pairs of a step.
const BATCH: usize = 8;

/// Rows of Qwen3's embedding.
const ROWS: usize = 151_936;

/// Measures.
pub(super) fn run(bench: &Bench) -> anyhow::Result<Vec<Measured>> {
    if is_left_out(bench) {
        return Ok(Vec::new());
    }
    let (layers, pairs, rounds) = bench.full_or_quick((28, 2 * BATCH, 2), (2, 2, 1));
    let race = Race::new(bench, "race", layers, ROWS, pairs)?;
    let (mut ours, mut theirs, mut note) = (Vec::new(), Vec::new(), String::new());
    for _ in 0..rounds {
        let (stash, _) = race.stash(json!({"method": "full", "batch_pairs": BATCH, "precision": "bf16"}))?;
        let trl = race.trl(json!({"batch": BATCH, "defaults": true}))?;
        ours.push(pairs as f64 / stash.train_seconds);
        theirs.push(pairs as f64 / trl.seconds);
        let tokens = format!("{pairs} pairs of {} tokens, {} computed", stash.text_tokens, stash.tokens);
        note = format!("{tokens}{}", memory(stash.peak_mb, trl.peak_mb));
    }
    let (ours, theirs) = (median(&ours), median(&theirs));
    let note = format!("{} pairs/s against {} of {PEER}; {layers} layers, {note}", number(ours), number(theirs));
    Ok(vec![KINDS[0].is(ours / theirs, note)])
}
