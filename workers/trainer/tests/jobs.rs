//! What a job directory holds after a training that ended well, ended badly, or was stopped.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

mod support;

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use stash_model::arch::{self, Role};
use stash_model::config::ModelConfig;
use stash_model::manifest::Manifest;
use stash_model::safetensors::Weights;
use stash_model::tiny_base::{self, Kind};
use stash_model::tokenize::TextTokenizer;
use stash_model::{checksum, files};
use support::{JobDir, refund_pairs};

/// Between two looks at what another process has done.
const POLL: Duration = Duration::from_millis(10);

fn read(job: &JobDir, name: &str) -> String {
    std::fs::read_to_string(job.file(name)).unwrap()
}

/// Runs a job that must fail and returns its exit code and last line of stderr. Nothing may be published.
fn fail(job: &JobDir) -> (i32, String) {
    let output = job.run();
    assert!(!job.file("model").exists() && !job.file("result.json").exists());
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), stderr.lines().last().unwrap_or_default().to_owned())
}

#[test]
fn a_training_leaves_a_whole_checkpoint_and_its_figures() {
    let job = JobDir::new(Kind::Qwen3);
    job.job(json!({"epochs": 2, "batch_pairs": 4, "seed": 5, "max_tokens": 64, "freeze_embeddings": true}));
    let result = job.pairs(&refund_pairs(20, 1), 18).train();
    assert_eq!((&result["train_pairs"], &result["epochs"], &result["steps"]), (&json!(18), &json!(2), &json!(10)));
    assert_eq!((&result["device"], &result["precision"]), (&json!("cpu"), &json!("fp32")));
    assert!(result["truncated_texts"].as_u64().unwrap() > 0, "{result}");
    assert_eq!(result["loss_curve"].as_array().unwrap().len(), 10);
    assert_eq!(result["final_loss"].as_f64().map(f64::is_finite), Some(true));

    let lines: Vec<Value> =
        read(&job, "progress.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let steps: Vec<u64> = lines.iter().map(|line| line["step"].as_u64().unwrap()).collect();
    assert_eq!(steps, (1..=10).collect::<Vec<_>>());
    assert_eq!((&lines[9]["of"], &lines[9]["eta_s"]), (&json!(10), &json!(0.0)));
    assert!(read(&job, "worker.log").contains("18 pairs"));

    let model = job.file("model");
    let config = ModelConfig::read(&model).unwrap();
    let mut weights = Weights::open(&model).unwrap();
    let mut base = Weights::open(&job.file("base")).unwrap();
    for spec in arch::tensors(&config) {
        let after = weights.read_f32(&spec.name, &spec.shape).unwrap();
        let before = base.read_f32(&spec.name, &spec.shape).ok();
        assert_eq!(before.as_ref() == Some(&after), spec.name == arch::EMBEDDING, "{}: frozen or trained", spec.name);
    }
    let manifest = Manifest::read(&model).unwrap();
    assert_eq!((manifest.token_limit, manifest.seed), (64, 5));
    assert_eq!(manifest.base_checksum, checksum::of_model(&job.file("base")).unwrap());
    assert_eq!(config.pad_token_id, Some(TextTokenizer::open(&model).unwrap().pad().id));
}

#[test]
fn adapters_are_part_of_the_weights_that_are_saved() {
    let job = JobDir::new(Kind::Qwen3);
    job.job(json!({"method": "lora", "lora_rank": 4, "epochs": 2, "batch_pairs": 4}));
    let result = job.pairs(&refund_pairs(12, 1), 12).train();
    let numbers = |name: &str| result[name].as_u64().unwrap();
    assert!(numbers("trained_parameters") * 5 < numbers("parameters"), "{result}");
    let model = job.file("model");
    let config = ModelConfig::read(&model).unwrap();
    let (mut weights, mut base) = (Weights::open(&model).unwrap(), Weights::open(&job.file("base")).unwrap());
    // The names are those of any checkpoint of the base; projections and head changed, nothing else did.
    for spec in arch::tensors(&config) {
        let after = weights.read_f32(&spec.name, &spec.shape).unwrap();
        let before = base.read_f32(&spec.name, &spec.shape).ok();
        let is_trained = matches!(spec.role, Role::Linear | Role::Score);
        assert_eq!(before.as_ref() != Some(&after), is_trained, "{}", spec.name);
    }
    // What adapters add to a projection has their rank, so a weight's change of more rows is not of full rank: every minor
    // of rank + 1 vanishes. Two rows of a change of rank 1 are multiples of each other.
    job.job(json!({"method": "lora", "lora_rank": 1, "epochs": 1, "batch_pairs": 4})).train();
    let spec = arch::tensors(&config).into_iter().find(|spec| spec.role == Role::Linear).unwrap();
    let after = Weights::open(&model).unwrap().read_f32(&spec.name, &spec.shape).unwrap();
    let before = base.read_f32(&spec.name, &spec.shape).unwrap();
    let change: Vec<f64> = after.iter().zip(&before).map(|(a, b)| f64::from(a - b)).collect();
    let rows: Vec<&[f64]> = change.chunks(spec.shape[1]).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (a, b) = (rows[0], rows[7]);
    assert!(dot(a, a) > 0.0);
    assert!(dot(a, b).abs() > 0.99 * (dot(a, a) * dot(b, b)).sqrt());
}

#[test]
fn equal_jobs_give_equal_checkpoints() {
    let train = |seed: u64| {
        let job = JobDir::new(Kind::Llama);
        job.job(json!({"epochs": 1, "batch_pairs": 4, "seed": seed})).pairs(&refund_pairs(24, 2), 24).train();
        checksum::of_file(&job.file("model/model.safetensors")).unwrap()
    };
    assert_eq!(train(1), train(1));
    assert_ne!(train(1), train(2));
}

#[test]
fn passes_of_any_size_give_the_same_step() {
    let losses = [1, 300, 100_000].map(|tokens_per_pass| {
        let job = JobDir::new(Kind::Qwen3);
        job.job(json!({"epochs": 2, "batch_pairs": 8, "tokens_per_pass": tokens_per_pass, "learning_rate": 1e-4}));
        job.pairs(&refund_pairs(24, 2), 24).train()["final_loss"].as_f64().unwrap()
    });
    assert!((losses[0] - losses[1]).abs() < 1e-4 && (losses[0] - losses[2]).abs() < 1e-4, "{losses:?}");
}

#[test]
fn a_loss_that_is_not_a_number_fails_naming_the_step() {
    let job = JobDir::new(Kind::Qwen3);
    job.job(json!({"epochs": 1, "batch_pairs": 4})).pairs(&refund_pairs(8, 1), 8).train();
    let config = ModelConfig::read(&job.file("base")).unwrap();
    tiny_base::write_random_weights(&job.file("base"), &config, 0, |_, _| f64::NAN).unwrap();
    // What the first training left must not be taken for the second's.
    let (code, message) = fail(&job);
    assert_eq!(code, 3);
    assert!(message.starts_with("error: step 1 of 2: the loss is not finite"), "{message}");
    assert!(!job.file("resume").exists());
    assert!(read(&job, "worker.log").contains("the loss is not finite"));
}

#[test]
fn a_job_that_cannot_be_trained_says_why() {
    let pairs = refund_pairs(4, 1);
    let job = JobDir::new(Kind::Qwen3);
    let check = |expected: &str| {
        let (code, message) = fail(&job);
        assert!(message.contains(expected), "{expected}: {message}");
        assert_eq!(code, 2, "{message}");
    };
    check("job.json");
    std::fs::write(job.file("job.json"), "{").unwrap();
    check("job.json");
    std::fs::write(job.file("job.json"), json!({"kind": "score", "base_model_dir": "base"}).to_string()).unwrap();
    check("kind \"score\"");
    for (field, value) in
        [("epochs", json!(0)), ("learning_rate", json!(-1)), ("max_tokens", json!(5_000)), ("lora_rank", json!(0))]
    {
        job.job(json!({field: value}));
        check(field);
    }
    job.job(json!({}));
    job.pairs(&pairs, 1);
    check("1 pairs to train on, at least 2");
    let mut broken = pairs.clone();
    broken[1].rejected.cuts.pop();
    job.pairs(&broken, 4);
    check("pairs.jsonl line 2: segments");
    std::fs::write(job.file("pairs.jsonl"), "{}\n").unwrap();
    check("pairs.jsonl line 1");
    job.pairs(&pairs, 4);
    let mut config: Value = files::read_json(&job.file("base/config.json")).unwrap();
    config["vocab_size"] = json!(100);
    files::write_json(&job.file("base/config.json"), &config).unwrap();
    check("ids, the model's embedding 100 rows");
    config["model_type"] = json!("mamba");
    files::write_json(&job.file("base/config.json"), &config).unwrap();
    check("unknown architecture \"mamba\"");
}

#[test]
fn a_request_to_stop_is_honoured_within_a_step() {
    let job = JobDir::new(Kind::Qwen3);
    job.job(json!({"epochs": 1000, "batch_pairs": 4})).pairs(&refund_pairs(40, 1), 40);
    let mut child = job.command().spawn().unwrap();
    while !std::fs::read_to_string(job.file("progress.jsonl")).is_ok_and(|lines| lines.contains("step")) {
        assert!(child.try_wait().unwrap().is_none(), "ended before it was asked to");
        std::thread::sleep(POLL);
    }
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("of 10000"));
    assert!(!job.file("model").exists() && !job.file("result.json").exists() && !job.file("model.part").exists());
}
