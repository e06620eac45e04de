//! The model that scoring and training are measured on: the shape of a Qwen3 with few weights, made from a seed, and texts for
//! it. Speed does not depend on what the weights are.

use anyhow::Context as _;
use serde_json::{Value, json};
use stash_bench::corpus::{Corpus, FORMAT, Shape};
use stash_bench::traces;
use stash_domain::rendering::{Form, RenderedText, RenderedTrace};
use stash_model::arch::Role;
use stash_model::config::{self, ModelConfig};
use stash_model::tokenize::{TOKEN_LIMIT, TextTokenizer};
use stash_model::{checksum, files, manifest, onnx, tiny_base};
use std::path::Path;

/// Seed of the weights.
const SEED: u64 = 1;

/// Bytes of a trace: most texts then stay below the token limit, some above.
const TRACE_BYTES: u64 = 2_500;

/// Fields of the config that make the small base a larger one, of about 3.7 million weights.
fn larger() -> Value {
    json!({"hidden_size": 256, "intermediate_size": 768, "num_hidden_layers": 4, "num_attention_heads": 4,
           "num_key_value_heads": 2, "head_dim": 64})
}

/// Makes the base in a folder, with the small base's tokenizer.
pub(super) fn make_base(folder: &Path) -> anyhow::Result<()> {
    tiny_base::make(folder, SEED)?;
    let mut raw = ModelConfig::read(folder)?.raw;
    if let Value::Object(fields) = larger() {
        raw.extend(fields);
    }
    files::write_json(&folder.join(config::FILE), &raw)?;
    let spread = |role: Role, inputs: f64| match role {
        Role::Embedding => 0.5,
        Role::Linear => 0.5 / inputs.sqrt(),
        Role::Score => 1.0,
        Role::Bias | Role::Norm => 0.0,
    };
    tiny_base::write_random_weights(folder, &ModelConfig::from_json(raw)?, SEED, |tensor, _| {
        spread(tensor.role, tensor.shape.last().copied().unwrap_or(1) as f64)
    })?;
    Ok(())
}

/// Makes the base and what turns it into a checkpoint that can be scored with.
pub(super) fn make_checkpoint(folder: &Path) -> anyhow::Result<()> {
    make_base(folder)?;
    let manifest = manifest::Manifest {
        rendering_version: manifest::RENDERING_VERSION,
        form: TextTokenizer::open(folder)?.form(),
        token_limit: TOKEN_LIMIT,
        truncation: manifest::TruncationRule::Strict,
        base_checksum: checksum::of_model(folder)?,
        seed: SEED,
        code_version: env!("CARGO_PKG_VERSION").to_owned(),
        precision: None,
    };
    manifest.write(folder)?;
    onnx::export(folder)?;
    Ok(())
}

/// Generated traces, rendered.
pub(super) fn rendered(count: u64) -> anyhow::Result<Vec<RenderedTrace>> {
    let lines = Corpus::new(7).lines(Shape::Equal { count, bytes_each: TRACE_BYTES });
    let traces = traces::read(FORMAT, &lines)?;
    Ok(traces.iter().map(|trace| RenderedTrace::of(&trace.steps, Form::ChatMl)).collect())
}

/// Where the pieces of a text end, its last one included, as tokenizers are told.
pub(super) fn cuts(text: &RenderedText) -> anyhow::Result<Vec<u32>> {
    let ends = text.cuts.iter().copied().chain([text.text.len()]);
    ends.map(|end| u32::try_from(end).context("a text is too long")).collect()
}
