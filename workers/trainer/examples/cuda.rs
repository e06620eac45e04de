//! The measuring half of `bench/cuda.sh`: `cuda TRAINER OUT [DEVICE] [LAYERS]`.
//!
//! 1. a base of Qwen3-0.6B's shape with random weights, and pairs of texts of some 500 tokens
//! 2. trainings by the program TRAINER: full and adapters in bf16 on DEVICE (`cuda`), full in bf16 on the CPU with fewer pairs
//! 3. the same few steps in fp32 on both, for the difference of their losses
//! 4. scores of the base's head on both, for speed and difference
//!
//! OUT gets one JSON object. With `cpu` for DEVICE and few LAYERS it runs anywhere, which shows that the script works.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};
use stash_model::arch::Role;
use stash_model::config::{self, ModelConfig};
use stash_model::rng::Rng;
use stash_model::tokenize::{Segmented, TOKEN_LIMIT, TextTokenizer};
use stash_model::{files, tiny_base};
use stash_trainer::device::{self, DeviceChoice, Found};
use stash_trainer::model::{Model, Setup};
use tch::Kind;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Layers of Qwen3-0.6B, and rows of its embedding.
const LAYERS: usize = 28;
const ROWS: usize = 151_936;
/// Pairs on the device; a CPU takes some seconds for each.
const PAIRS: usize = 256;
const PAIRS_ON_CPU: usize = 8;
/// Steps of a pair whose losses are compared.
const STEPS_COMPARED: usize = 4;
/// Words of an answer: some 250 tokens, behind a question as long.
const WORDS: usize = 120;
/// Texts scored at once, and how often.
const TEXTS: usize = 16;
const REPEATS: usize = 4;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [trainer, out, rest @ ..] = arguments.as_slice() else {
        return Err("usage: cuda TRAINER OUT [DEVICE] [LAYERS]".into());
    };
    let name = rest.first().map_or("cuda", String::as_str);
    let layers = rest.get(1).map_or(Ok(LAYERS), |layers| layers.parse())?;
    let choice: DeviceChoice = serde_json::from_value(json!(name))?;
    // Says so where there is none.
    device::choose(choice, Found::here())?;
    let folder = std::env::temp_dir().join(format!("stash-cuda-{}", std::process::id()));
    let figures = measure(&folder, Path::new(trainer), name, choice, layers);
    fs::remove_dir_all(&folder)?;
    let text = serde_json::to_string_pretty(&figures?)?;
    fs::write(out, format!("{text}\n"))?;
    println!("{text}");
    Ok(())
}

fn measure(folder: &Path, trainer: &Path, name: &str, choice: DeviceChoice, layers: usize) -> Outcome<Value> {
    let small = layers < LAYERS;
    let base = folder.join("base");
    make_base(&base, layers, if small { 2_048 } else { ROWS })?;
    let pairs = if small { PAIRS_ON_CPU } else { PAIRS };
    let run = |part: &str, pairs: usize, fields: Value| train(folder, trainer, part, pairs, fields);
    let on = |method: &str, device: &str| json!({"method": method, "device": device, "precision": "bf16"});
    let full = run("full", pairs, on("full", name))?;
    let lora = run("lora", pairs, on("lora", name))?;
    let cpu = run("cpu", PAIRS_ON_CPU, on("full", "cpu"))?;
    let exact = |device: &str| json!({"device": device, "precision": "fp32", "batch_pairs": 1, "order": "file", "learning_rate": 1e-5, "warmup": 0});
    run("exact", STEPS_COMPARED, exact(name))?;
    run("exact-cpu", STEPS_COMPARED, exact("cpu"))?;
    let (ours, theirs) = (losses(&folder.join("exact"))?, losses(&folder.join("exact-cpu"))?);
    let difference = ours.iter().zip(&theirs).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
    Ok(json!({
        "gpu": gpu(), "stash": env!("CARGO_PKG_VERSION"), "parameters": full["parameters"],
        "full_bf16": figures(&full), "lora_bf16": figures(&lora), "cpu_full_bf16": figures(&cpu),
        "loss_max_diff_fp32": difference, "steps_compared": ours.len(), "scoring": score(&base, choice)?,
    }))
}

/// What nvidia-smi calls the device; null without it.
fn gpu() -> Value {
    let asked = Command::new("nvidia-smi")
        .args(["--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"])
        .output();
    asked.map_or(Value::Null, |said| json!(String::from_utf8_lossy(&said.stdout).trim()))
}

fn figures(result: &Value) -> Value {
    let number = |name: &str| result[name].as_f64().unwrap_or_default();
    json!({
        "device": result["device"], "pairs_per_s": number("train_pairs") / number("train_seconds").max(f64::MIN_POSITIVE),
        "tokens_per_s": result["tokens_per_s"], "seconds": result["train_seconds"], "peak_mb": result["peak_mb"],
        "final_loss": result["final_loss"],
    })
}

fn make_base(base: &Path, layers: usize, rows: usize) -> Outcome<()> {
    tiny_base::make(base, 1)?;
    let mut raw = ModelConfig::read(base)?.raw;
    let shape = json!({"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": layers,
                       "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "rope_theta": 1e6,
                       "rms_norm_eps": 1e-6, "vocab_size": rows});
    if let Value::Object(fields) = shape {
        raw.extend(fields);
    }
    files::write_json(&base.join(config::FILE), &raw)?;
    let spread = |role: Role| match role {
        Role::Embedding | Role::Linear => 0.02,
        Role::Score => 0.05,
        Role::Bias | Role::Norm => 0.0,
    };
    tiny_base::write_random_weights(base, &ModelConfig::from_json(raw)?, 1, |tensor, _| spread(tensor.role))?;
    Ok(())
}

/// A job of its own in `part`, done by the trainer.
fn train(folder: &Path, trainer: &Path, part: &str, pairs: usize, mut fields: Value) -> Outcome<Value> {
    let job = folder.join(part);
    fs::create_dir_all(&job)?;
    fields["kind"] = json!("train");
    fields["base_model_dir"] = json!("../base");
    fields["resume_every_s"] = json!(86_400);
    fs::write(job.join("job.json"), fields.to_string())?;
    let mut rng = Rng::for_part(1, "pairs");
    let lines: Vec<String> = (0..pairs).map(|_| pair(&mut rng).to_string()).collect();
    fs::write(job.join("pairs.jsonl"), lines.join("\n"))?;
    eprintln!("training: {part}, {pairs} pairs");
    let output = Command::new(trainer).arg(&job).output()?;
    if !output.status.success() {
        return Err(format!("{part}: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    Ok(files::read_json(&job.join("result.json"))?)
}

fn losses(job: &Path) -> Outcome<Vec<f64>> {
    let text = fs::read_to_string(job.join("progress.jsonl"))?;
    let loss = |line: &str| serde_json::from_str::<Value>(line).ok()?["loss"].as_f64();
    Ok(text.lines().filter_map(loss).collect())
}

/// Words of a chat, a different answer on each side.
fn pair(rng: &mut Rng) -> Value {
    let question = segment("user", &words(rng));
    let [(chosen, chosen_cuts), (rejected, rejected_cuts)] = [(); 2].map(|()| {
        let cuts = [question.len(), question.len() + 1];
        let text = format!("{question}\n{}", segment("assistant", &words(rng)));
        let cuts = [cuts[0], cuts[1], text.len()];
        (text, cuts)
    });
    json!({"chosen": chosen, "chosen_cuts": chosen_cuts, "rejected": rejected, "rejected_cuts": rejected_cuts, "split": "train"})
}

fn segment(role: &str, body: &str) -> String {
    format!("<|im_start|>{role}\n{body}<|im_end|>")
}

fn words(rng: &mut Rng) -> String {
    const WORD: [&str; 8] = ["refund", "the", "order", "number", "was", "late", "please", "ticket"];
    (0..WORDS).filter_map(|_| rng.pick(&WORD).copied()).collect::<Vec<_>>().join(" ")
}

/// Tokens scored in a second, and the greatest difference from the CPU in fp32.
fn score(base: &Path, choice: DeviceChoice) -> Outcome<Value> {
    let tokenizer = TextTokenizer::open(base)?;
    let mut rng = Rng::for_part(2, "texts");
    let mut texts: Vec<Vec<u32>> = Vec::new();
    for _ in 0..TEXTS {
        let text = segment("user", &words(&mut rng));
        texts.push(tokenizer.encode(&Segmented { text: &text, cuts: &[u32::try_from(text.len())?] })?.ids);
    }
    let texts: Vec<&[u32]> = texts.iter().map(Vec::as_slice).collect();
    let tokens: usize = texts.iter().map(|text| text.len()).sum();
    let model = |choice, compute| -> Outcome<Model> {
        let device = device::choose(choice, Found::here())?;
        let setup = Setup { device, compute, freeze_embeddings: true, lora: None, max_tokens: TOKEN_LIMIT, seed: 1 };
        Ok(Model::load(base, &setup)?)
    };
    let reference = model(DeviceChoice::Cpu, Kind::Float)?.score(&texts)?;
    let mut said = json!({"texts": TEXTS, "tokens": tokens});
    for (name, compute) in [("fp32", Kind::Float), ("bf16", Kind::BFloat16)] {
        let model = model(choice, compute)?;
        // Warms up; reading the scores waits for the device.
        let scores = model.score(&texts)?;
        let begin = Instant::now();
        for _ in 0..REPEATS {
            model.score(&texts)?;
        }
        let per_s = (tokens * REPEATS) as f64 / begin.elapsed().as_secs_f64();
        let far = scores.iter().zip(&reference).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
        said[name] = json!({"tokens_per_s": per_s, "max_diff_from_cpu_fp32": far});
    }
    Ok(said)
}
