//! The recorded trajectories of an airline agent (tau-bench, MIT) as pairs: two halves by task, each held out once.

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use stash_bench::traces;
use stash_domain::rendering::{Form, RenderedTrace};
use stash_model::rng::Rng;
use stash_model::tokenize::{Segmented, TextTokenizer};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::model;

/// Seed of the halves and of the order of pairs.
const SEED: u64 = 0;

/// A whole trajectory, rendered.
pub(super) struct Trajectory {
    /// What was to be done; several trajectories have the same.
    pub(super) task: u64,
    succeeded: bool,
    text: String,
    cuts: Vec<u32>,
    /// Its last tokens.
    ids: Vec<u32>,
}

/// A successful trajectory and one that failed, by their places.
pub(super) type Pair = (usize, usize);

/// What one training is given and what it is tested on; no task is in both.
pub(super) struct Fold {
    /// Pairs of one task first, then pairs of two.
    pub(super) train: Vec<Pair>,
    /// Pairs of one task each.
    pub(super) held_out: Vec<Pair>,
}

#[derive(Deserialize)]
struct Line {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    task_id: u64,
    reward: f64,
}

/// Where the data lies, if it is beside the repository.
pub(super) fn file(repository: &Path) -> Option<PathBuf> {
    let file = repository.join("../shared/data/tau_airline/traces.openai_chat.jsonl");
    file.is_file().then_some(file)
}

/// Reads all trajectories; each keeps its last `tokens` tokens.
pub(super) fn read(file: &Path, tokenizer: &TextTokenizer, tokens: usize) -> anyhow::Result<Vec<Trajectory>> {
    let bytes = std::fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    let text = std::str::from_utf8(&bytes)?;
    let lines: Vec<Line> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let traces = traces::read("openai_chat", &bytes)?;
    ensure!(traces.len() == lines.len(), "{} traces of {} lines", traces.len(), lines.len());
    let both = traces.iter().zip(&lines);
    both.map(|(trace, line)| {
        let text = RenderedTrace::of(&trace.steps, Form::ChatMl).trace_text();
        let cuts = model::cuts(&text)?;
        let encoded = tokenizer.encode(&Segmented { text: &text.text, cuts: &cuts })?;
        Ok(Trajectory {
            task: line.metadata.task_id,
            succeeded: line.metadata.reward > 0.0,
            ids: encoded.window(tokens).ids.to_vec(),
            text: text.text,
            cuts,
        })
    })
    .collect()
}

/// Two folds, each with the other's tasks to train on. `train_pairs` bounds the pairs of a training.
pub(super) fn folds(trajectories: &[Trajectory], train_pairs: usize) -> [Fold; 2] {
    let tasks: BTreeSet<u64> = trajectories.iter().map(|trajectory| trajectory.task).collect();
    let mut tasks: Vec<u64> = tasks.into_iter().collect();
    let mut rng = Rng::for_part(SEED, "tasks");
    rng.shuffle(&mut tasks);
    let (one, other) = tasks.split_at(tasks.len() / 2);
    [(one, other), (other, one)].map(|(train, held_out)| {
        let (mut same, mut others) = (of_one_task(trajectories, train), of_two_tasks(trajectories, train));
        rng.shuffle(&mut others);
        same.append(&mut others);
        same.truncate(train_pairs);
        Fold { train: same, held_out: of_one_task(trajectories, held_out) }
    })
}

fn pairs(trajectories: &[Trajectory], tasks: &[u64], keep: impl Fn(u64, u64) -> bool) -> Vec<Pair> {
    let of = |succeeded: bool| {
        let all = trajectories.iter().enumerate();
        all.filter(move |(_, trajectory)| trajectory.succeeded == succeeded && tasks.contains(&trajectory.task))
    };
    of(true)
        .flat_map(|(good, one)| of(false).map(move |(bad, other)| ((good, bad), one.task, other.task)))
        .filter(|(_, one, other)| keep(*one, *other))
        .map(|(pair, ..)| pair)
        .collect()
}

fn of_one_task(trajectories: &[Trajectory], tasks: &[u64]) -> Vec<Pair> {
    pairs(trajectories, tasks, |one, other| one == other)
}

fn of_two_tasks(trajectories: &[Trajectory], tasks: &[u64]) -> Vec<Pair> {
    pairs(trajectories, tasks, |one, other| one != other)
}

/// Lines of Stash's `pairs.jsonl`.
pub(super) fn texts(trajectories: &[Trajectory], pairs: &[Pair]) -> anyhow::Result<Vec<u8>> {
    lines(pairs.iter().map(|(chosen, rejected)| {
        let (chosen, rejected) = (&trajectories[*chosen], &trajectories[*rejected]);
        json!({"chosen": chosen.text, "chosen_cuts": chosen.cuts, "rejected": rejected.text,
               "rejected_cuts": rejected.cuts, "split": "train"})
    }))
}

/// The same as token ids, cut as Stash cuts them.
pub(super) fn ids(trajectories: &[Trajectory], pairs: &[Pair]) -> anyhow::Result<Vec<u8>> {
    lines(pairs.iter().map(|(chosen, rejected)| {
        json!({"chosen_ids": trajectories[*chosen].ids, "rejected_ids": trajectories[*rejected].ids})
    }))
}

fn lines(values: impl Iterator<Item = Value>) -> anyhow::Result<Vec<u8>> {
    let mut out = Vec::new();
    for value in values {
        serde_json::to_writer(&mut out, &value)?;
        out.push(b'\n');
    }
    Ok(out)
}
