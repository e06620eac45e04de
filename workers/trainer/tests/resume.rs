//! A training that was killed goes on where it was last saved, and ends as if nothing had happened.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

mod support;

use std::time::Duration;

use serde_json::{Value, json};
use stash_model::checksum;
use stash_model::tiny_base::Kind;
use support::{JobDir, TextPair, refund_pairs};

/// Between two looks at what another process has done.
const POLL: Duration = Duration::from_millis(5);

fn lines(job: &JobDir) -> Vec<Value> {
    let text = std::fs::read_to_string(job.file("progress.jsonl")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn steps(job: &JobDir) -> Vec<u64> {
    lines(job).iter().filter_map(|line| line["step"].as_u64()).collect()
}

fn log(job: &JobDir) -> String {
    std::fs::read_to_string(job.file("worker.log")).unwrap_or_default()
}

fn resumed(job: &JobDir) -> usize {
    log(job).matches("going on after step").count()
}

/// Starts the trainer and kills it, with no chance to clean up, once it has told of a step. `before` is how often it was
/// killed already, and so must have gone on.
fn kill_at(job: &JobDir, before: usize, step: u64) {
    let mut child = job.command().spawn().unwrap();
    // The line of the second step comes after the state of the first.
    while resumed(job) < before || steps(job).last().is_none_or(|last| *last < step) {
        assert!(child.try_wait().unwrap().is_none(), "ended before step {step}");
        std::thread::sleep(POLL);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(job.file("resume").exists() && !job.file("model").exists() && !job.file("result.json").exists());
}

fn job(fields: Value, pairs: &[TextPair]) -> JobDir {
    let job = JobDir::new(Kind::Qwen3);
    job.job(fields).pairs(pairs, pairs.len());
    job
}

#[test]
fn a_killed_training_ends_with_the_weights_and_losses_of_one_that_was_not() {
    let pairs = refund_pairs(40, 4);
    for method in ["full", "lora"] {
        let fields =
            json!({"method": method, "epochs": 2, "batch_pairs": 4, "resume_every_s": 0, "schedule": "cosine"});
        let whole = job(fields.clone(), &pairs);
        let expected = whole.train();
        let killed = job(fields, &pairs);
        for (before, step) in [2, 9].into_iter().enumerate() {
            kill_at(&killed, before, step);
        }
        let result = killed.train();
        assert_eq!(resumed(&killed), 2, "{}", log(&killed));
        assert_eq!(result["loss_curve"], expected["loss_curve"]);
        assert_eq!(result["tokens"], expected["tokens"]);
        let weights = |job: &JobDir| checksum::of_file(&job.file("model/model.safetensors")).unwrap();
        assert_eq!(weights(&killed), weights(&whole), "{method}");
        // The curve has every step once, in order, and the same figures.
        assert_eq!(steps(&killed), (1..=20).collect::<Vec<_>>());
        for (a, b) in lines(&killed).iter().zip(lines(&whole)) {
            assert_eq!((&a["loss"], &a["gradient_norm"]), (&b["loss"], &b["gradient_norm"]));
        }
        assert!(!killed.file("resume").exists());
    }
}

#[test]
fn another_job_does_not_go_on_from_it() {
    let pairs = refund_pairs(40, 4);
    let fields = |seed: u64| json!({"epochs": 3, "batch_pairs": 4, "resume_every_s": 0, "seed": seed});
    let killed = job(fields(1), &pairs);
    kill_at(&killed, 0, 3);
    let result = killed.job(fields(2)).train();
    assert!(!log(&killed).contains("going on"));
    assert_eq!(result["loss_curve"], job(fields(2), &pairs).train()["loss_curve"]);
}
