//! A training by Stash's trainer and the same by TRL's `RewardTrainer`: base, pairs and both programs.

use super::model;
use crate::bench::Bench;
use crate::machine;
use crate::peer;
use anyhow::{Context as _, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use stash_domain::rendering::{RenderedText, RenderedTrace, Revision};
use stash_model::arch::Role;
use stash_model::config::{self, ModelConfig};
use stash_model::tokenize::{Segmented, TOKEN_LIMIT, TextTokenizer};
use stash_model::{files, tiny_base};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Seed of the weights.
const SEED: u64 = 3;

/// TRL by name and version, as `bench/peers/hf.txt` has it.
pub(super) const PEER: &str = "TRL 1.16.0";

/// Whether to leave TRL out: in a short look nobody waits for five gigabytes of packages.
pub(super) fn is_left_out(bench: &Bench) -> bool {
    let is = bench.options.quick && std::env::var_os("STASH_BENCH_VENV_HF").is_none();
    if is {
        eprintln!("left out of a quick run, for STASH_BENCH_VENV_HF names no environment with TRL");
    }
    is
}

/// What TRL's script prints.
#[derive(Debug, Deserialize)]
pub(super) struct TrlResult {
    pub(super) seconds: f64,
    pub(super) losses: Vec<f64>,
    pub(super) peak_mb: Option<f64>,
}

/// What is used of the trainer's `result.json`.
#[derive(Debug, Deserialize)]
pub(super) struct StashResult {
    pub(super) train_seconds: f64,
    pub(super) tokens: u64,
    pub(super) text_tokens: u64,
    pub(super) peak_mb: Option<f64>,
}

#[derive(Deserialize)]
struct Step {
    loss: f64,
}

/// A base and pairs in a folder, ready for both.
pub(super) struct Race {
    folder: PathBuf,
    trainer: PathBuf,
    python: PathBuf,
    script: PathBuf,
}

impl Race {
    /// Makes the base, in the shape of Qwen3-0.6B with this many of its layers and rows of its embedding (151,936), and
    /// pairs of an action and another in its place. Every text stays below the token limit: TRL leaves out longer ones.
    pub(super) fn new(bench: &Bench, name: &str, layers: usize, rows: usize, pairs: usize) -> anyhow::Result<Self> {
        let race = Self::over(bench, name)?;
        race.make_base(layers, rows)?;
        race.write_pairs(pairs)?;
        Ok(race)
    }

    /// A race without base and pairs.
    pub(super) fn over(bench: &Bench, name: &str) -> anyhow::Result<Self> {
        let folder = bench.path(name);
        fs::create_dir_all(&folder)?;
        Ok(Self {
            trainer: bench.program("stash-trainer")?,
            python: peer::programs(&bench.repository, "hf")?.join("python"),
            script: bench.repository.join("bench/peers/trl_train.py"),
            folder,
        })
    }

    /// Puts these pairs in, as Stash's trainer and TRL read them.
    pub(super) fn put_pairs(&self, ours: &[u8], theirs: &[u8]) -> anyhow::Result<()> {
        fs::create_dir_all(self.folder.join("stash"))?;
        fs::write(self.folder.join("stash/pairs.jsonl"), ours)?;
        fs::write(self.folder.join("trl.jsonl"), theirs)?;
        Ok(())
    }

    /// The folder of the model that Stash's trainer made.
    pub(super) fn checkpoint(&self) -> PathBuf {
        self.folder.join("stash/model")
    }

    /// The base's folder.
    pub(super) fn base(&self) -> PathBuf {
        self.folder.join("base")
    }

    fn make_base(&self, layers: usize, rows: usize) -> anyhow::Result<()> {
        let base = self.base();
        tiny_base::make(&base, SEED)?;
        let mut raw = ModelConfig::read(&base)?.raw;
        let shape = json!({"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": layers,
                           "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "rope_theta": 1e6,
                           "rms_norm_eps": 1e-6, "vocab_size": rows, "id2label": {"0": "LABEL_0"},
                           "label2id": {"LABEL_0": 0}});
        if let Value::Object(fields) = shape {
            raw.extend(fields);
        }
        let pad = TextTokenizer::open(&base)?.pad().id;
        let raw = ModelConfig::from_json(raw)?.to_reward_model_json(pad, "float32");
        files::write_json(&base.join(config::FILE), &raw)?;
        // As transformers initialises, but for a head that tells texts apart from the beginning.
        let spread = |role: Role| match role {
            Role::Embedding | Role::Linear => 0.02,
            Role::Score => 0.05,
            Role::Bias | Role::Norm => 0.0,
        };
        tiny_base::write_random_weights(&base, &ModelConfig::from_json(raw)?, SEED, |tensor, _| spread(tensor.role))?;
        Ok(())
    }

    fn write_pairs(&self, count: usize) -> anyhow::Result<()> {
        let tokenizer = TextTokenizer::open(&self.base())?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let mut written = 0;
        // More traces than pairs, since some are too long.
        for trace in &model::rendered(4 * count as u64)? {
            let Some((chosen, rejected)) = of_action(trace) else { continue };
            let tokens = |text: &RenderedText| -> anyhow::Result<Vec<u32>> {
                Ok(tokenizer.encode(&Segmented { text: &text.text, cuts: &model::cuts(text)? })?.ids)
            };
            let (chosen_ids, rejected_ids) = (tokens(&chosen)?, tokens(&rejected)?);
            if chosen_ids.len().max(rejected_ids.len()) > TOKEN_LIMIT || written == count {
                continue;
            }
            let line = json!({"chosen": chosen.text, "chosen_cuts": model::cuts(&chosen)?, "rejected": rejected.text,
                              "rejected_cuts": model::cuts(&rejected)?, "split": "train"});
            writeln_json(&mut ours, &line)?;
            writeln_json(&mut theirs, &json!({"chosen_ids": chosen_ids, "rejected_ids": rejected_ids}))?;
            written += 1;
        }
        ensure!(written == count, "only {written} pairs of {count} are short enough");
        self.put_pairs(&ours, &theirs)
    }

    /// Trains with Stash's trainer, `fields` in `job.json`: its result, and the loss of each step.
    pub(super) fn stash(&self, mut fields: Value) -> anyhow::Result<(StashResult, Vec<f64>)> {
        let folder = self.folder.join("stash");
        fields["kind"] = json!("train");
        fields["base_model_dir"] = json!(self.base());
        fields["threads"] = json!(machine::cores());
        fs::write(folder.join("job.json"), serde_json::to_vec(&fields)?)?;
        let output = Command::new(&self.trainer).arg(&folder).stdin(Stdio::null()).output();
        let output = output.with_context(|| format!("{} cannot be run", self.trainer.display()))?;
        ensure!(output.status.success(), "stash-trainer: {}", String::from_utf8_lossy(&output.stderr).trim());
        let result = serde_json::from_slice(&fs::read(folder.join("result.json"))?)?;
        let progress = fs::read_to_string(folder.join("progress.jsonl"))?;
        let losses = progress.lines().map(|line| Ok(serde_json::from_str::<Step>(line)?.loss));
        Ok((result, losses.collect::<anyhow::Result<_>>()?))
    }

    /// Trains with TRL, `fields` in the script's job.
    pub(super) fn trl(&self, mut fields: Value) -> anyhow::Result<TrlResult> {
        let tokenizer = TextTokenizer::open(&self.base())?;
        fields["model"] = json!(self.base());
        fields["pairs"] = json!(self.folder.join("trl.jsonl"));
        fields["out"] = json!(self.folder.join("trl"));
        fields["threads"] = json!(machine::cores());
        fields["pad"] = json!(tokenizer.pad().text);
        fields["eos"] = json!("<|im_end|>");
        let job = self.folder.join("trl.json");
        fs::write(&job, serde_json::to_vec(&fields)?)?;
        let line = python(Command::new(&self.python).arg(&self.script).arg(&job))?;
        serde_json::from_str(&line).with_context(|| format!("TRL's script printed {line:?}"))
    }
}

/// Runs a script of a peer, which looks for nothing on the network, and returns the last line it prints.
pub(super) fn python(command: &mut Command) -> anyhow::Result<String> {
    let output = command
        .env("OMP_NUM_THREADS", machine::cores().to_string())
        .envs(["HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"].map(|name| (name, "1")))
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{} cannot be run", command.get_program().display()))?;
    let (said, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{}: {}{}", command.get_program().display(), said, error.trim());
    Ok(said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned())
}

fn writeln_json(to: &mut Vec<u8>, value: &Value) -> anyhow::Result<()> {
    serde_json::to_writer(&mut *to, value)?;
    to.push(b'\n');
    Ok(())
}

/// A trace's last action, and another in its place.
fn of_action(trace: &RenderedTrace) -> Option<(RenderedText, RenderedText)> {
    let step = trace.segments().iter().rev().find(|segment| segment.action_type.is_some())?.step_index;
    let other = Revision::Response { content: "I cannot do that before the refund was confirmed by you.".to_owned() };
    trace.action_text(step).zip(trace.alternative_text(step, &other))
}

/// `, N MB against M MB`, for a note.
pub(super) fn memory(ours: Option<f64>, theirs: Option<f64>) -> String {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => format!(", at most {ours:.0} MB resident against {theirs:.0} MB"),
        _ => String::new(),
    }
}
