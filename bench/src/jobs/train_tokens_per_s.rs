//! `train_tokens_per_s`: tokens of pair texts that `stash-trainer` trains on each second, by its own `result.json`: the training
//! loop without start-up and checkpoint, padding not counted.
//!
//! Half of the pairs are of two traces, half of one action and another in its place, which share all that comes before.

use super::model;
use crate::bench::Bench;
use crate::figure::{Better, Kind, Measured};
use crate::machine;
use crate::statistics::{median, spread};
use anyhow::{Context as _, ensure};
use serde::Deserialize;
use serde_json::json;
use stash_domain::rendering::{RenderedText, RenderedTrace, Revision};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

pub(super) static KINDS: [Kind; 1] =
    [Kind { name: "train_tokens_per_s", unit: "tokens/s", better: Better::Higher, target: None }];

#[derive(Deserialize)]
struct TrainResult {
    text_tokens: u64,
    tokens_per_s: f64,
}

/// Measures.
pub(super) fn run(bench: &Bench) -> anyhow::Result<Vec<Measured>> {
    let trainer = bench.program("stash-trainer")?;
    let base = bench.path("trained-base");
    model::make_base(&base)?;
    let folder = bench.path("training");
    fs::create_dir_all(&folder)?;
    let job =
        json!({"kind": "train", "base_model_dir": base, "epochs": 1, "batch_pairs": 8, "threads": machine::cores()});
    fs::write(folder.join("job.json"), serde_json::to_vec(&job)?)?;
    let pairs = write_pairs(&folder.join("pairs.jsonl"), &model::rendered(bench.full_or_quick(32, 8))?)?;
    let (mut rates, mut tokens) = (Vec::new(), 0);
    for _ in 0..bench.full_or_quick(5, 1) {
        let output = Command::new(&trainer).arg(&folder).stdin(Stdio::null()).output();
        let output = output.with_context(|| format!("{} cannot be run", trainer.display()))?;
        ensure!(output.status.success(), "stash-trainer: {}", String::from_utf8_lossy(&output.stderr).trim());
        let result: TrainResult = serde_json::from_slice(&fs::read(folder.join("result.json"))?)?;
        rates.push(result.tokens_per_s);
        tokens = result.text_tokens;
    }
    let note = format!("{pairs} pairs, {tokens} tokens, 3.7 million weights; {}", spread(&rates));
    Ok(vec![KINDS[0].is(median(&rates), note)])
}

/// Writes a pair of each two traces: of their texts, or of the first one's last action and another in its place.
fn write_pairs(path: &Path, traces: &[RenderedTrace]) -> anyhow::Result<usize> {
    let mut lines = Vec::new();
    let (pairs, _) = traces.as_chunks::<2>();
    for (number, [first, second]) in pairs.iter().enumerate() {
        let (chosen, rejected) =
            if number % 2 == 0 { (first.trace_text(), second.trace_text()) } else { of_action(first)? };
        let line = json!({
            "chosen": chosen.text, "chosen_cuts": model::cuts(&chosen)?,
            "rejected": rejected.text, "rejected_cuts": model::cuts(&rejected)?,
            "split": "train",
        });
        serde_json::to_writer(&mut lines, &line)?;
        lines.push(b'\n');
    }
    fs::write(path, lines)?;
    Ok(pairs.len())
}

fn of_action(trace: &RenderedTrace) -> anyhow::Result<(RenderedText, RenderedText)> {
    let last = trace.segments().iter().rev().find(|segment| segment.action_type.is_some());
    let step = last.context("a generated trace has no action")?.step_index;
    let other = Revision::Response { content: "I cannot do that before the refund was confirmed by you.".to_owned() };
    let texts = trace.action_text(step).zip(trace.alternative_text(step, &other));
    texts.context("the action has no text")
}
