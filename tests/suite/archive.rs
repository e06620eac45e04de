//! What a training leaves: an archive in the store, with the statistics that credit stands on, and nothing on the worker's disk.

use crate::learning::{over, rate, traces, train};
use crate::support::{Folder, Stash, command, eventually, run};
use serde_json::{Value, json};
use sqlx::Connection as _;
use stash_domain::reward::credit::Statistics;
use stash_infra::postgres::embedded;
use stash_workers::scoring::{Precision, lacks};
use std::path::{Path, PathBuf};

/// `stash up` that scores in this arithmetic.
fn up(data: &Path, precision: Precision) -> Stash {
    let mut up = command(data, &["up", "--listen", "127.0.0.1:0", "--no-sample"]);
    up.env("RM_SCORE_PRECISION", precision.name());
    let mut stash = Stash::spawn(up, data);
    stash.served();
    stash
}

/// Trains a model on a few rated actions.
async fn train_in(data: &Path, precision: Precision) -> (Stash, Value) {
    let stash = up(data, precision);
    let client = stash.operator();
    let ids = client.import(&traces(20)).await;
    for (number, id) in ids.iter().enumerate() {
        rate(&client, id, number, true).await;
    }
    let model = train(&client, "mine", &ids).await;
    (stash, model)
}

/// A stash with a trained model, and its id.
async fn trained(data: &Path) -> (Stash, String) {
    let (stash, model) = train_in(data, Precision::Fp32).await;
    assert_eq!(model["status"], "succeeded", "{model}");
    let id = model["id"].as_str().unwrap().to_owned();
    (stash, id)
}

/// A model's checkpoint, from its archive.
fn unpacked(folder: &Folder, id: &str) -> PathBuf {
    let file = folder.path().join("weights.tar.gz");
    run(&folder.data(), &["models", "weights", id, "-o", file.to_str().unwrap()]);
    stash_workers::jobs::train::unpack(&file, folder.path()).unwrap();
    folder.path().join("model")
}

#[tokio::test]
async fn the_archive_holds_the_statistics_of_the_action_pairs_that_trained() {
    let folder = Folder::new();
    let data = folder.data();
    let (stash, id) = trained(&data).await;
    let checkpoint = unpacked(&folder, &id);
    let text = std::fs::read_to_string(checkpoint.join("action_reward_stats.json")).unwrap();
    let saved: Statistics = serde_json::from_str(&text).unwrap();

    let options = embedded::running(&data).expect("the embedded Postgres runs");
    let mut connection = sqlx::PgConnection::connect_with(&options).await.unwrap();
    let scores = "SELECT score.score, score.credit
        FROM rm.rm_training_pairs AS side
        JOIN rm.rm_action_scores AS score
            ON score.reward_model_id = side.reward_model_id AND score.step_id = side.step_id
        WHERE side.reward_model_id = $1::uuid AND side.granularity = 'action' AND side.split = 'train'";
    let rows: Vec<(f64, f64)> = sqlx::query_as(scores).bind(&id).fetch_all(&mut connection).await.unwrap();
    let scores: Vec<f64> = rows.iter().map(|(score, _)| *score).collect();
    let expected = Statistics::of(&scores).unwrap();
    assert_eq!(saved.count, expected.count, "both sides of each pair");
    assert!(!checkpoint.join("score_precision.json").exists(), "fp32 is what others are measured against");
    assert!(std::fs::read_to_string(checkpoint.join("README.md")).unwrap().contains("scores in fp32"));
    assert!((saved.mean - expected.mean).abs() < 1e-4, "{saved:?} {expected:?}");
    assert!((saved.std - expected.std).abs() < 1e-4, "{saved:?} {expected:?}");
    for (score, credit) in rows {
        assert!((credit - saved.credit(score)).abs() < 1e-9, "{credit} of {score} by {saved:?}");
    }
    assert_eq!(stash.terminate().code(), Some(0));
}

#[tokio::test]
async fn the_workers_folder_is_empty_after_its_jobs_and_none_needs_what_was_in_it() {
    let folder = Folder::new();
    let data = folder.data();
    let jobs = data.join("jobs");
    let (stash, id) = trained(&data).await;
    let client = stash.operator();
    assert_eq!(std::fs::read_dir(&jobs).unwrap().count(), 0, "after a training that succeeded");
    let again = client.get(&format!("reward-models/{id}")).await.ok();
    let body = json!({ "name": "none", "trace_ids": again["trace_ids"], "base_model": "stash/none" });
    let failed = client.post("reward-models", &body).await.ok();
    let failed = over(&client, &format!("reward-models/{}", failed["id"].as_str().unwrap())).await;
    assert_eq!(failed["status"], "failed");
    assert_eq!(std::fs::read_dir(&jobs).unwrap().count(), 0, "after one that failed");

    // What a worker that was killed has left of a job that is over.
    let left = jobs.join(format!("{}-1", uuid::Uuid::now_v7()));
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join("pairs.jsonl"), "texts").unwrap();
    eventually("the removal of what was left", async || (!left.exists()).then_some(())).await;

    std::fs::remove_dir_all(&jobs).unwrap();
    let later = client.import(traces(21).lines().last().unwrap()).await;
    let run = client.post(&format!("traces/{}/score", later[0]), &json!({ "reward_model_id": id })).await.ok();
    let run: Value = over(&client, &format!("scoring-runs/{}", run["id"].as_str().unwrap())).await;
    assert_eq!(run["status"], "succeeded", "{run}");
    assert_eq!(std::fs::read_dir(&jobs).unwrap().count(), 0, "after a scoring");
    assert_eq!(stash.terminate().code(), Some(0));
}

#[tokio::test]
async fn scores_in_bfloat16_tell_how_far_they_are_from_fp32() {
    let folder = Folder::new();
    let (stash, model) = train_in(&folder.data(), Precision::Bf16).await;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if let Some(lacking) = lacks(Precision::Bf16, threads) {
        let error = model["error"].as_str().unwrap();
        assert!(error.contains("RM_SCORE_PRECISION") && error.contains(&lacking), "{error}");
        return;
    }
    assert_eq!(model["status"], "succeeded", "{model}");
    let checkpoint = unpacked(&folder, model["id"].as_str().unwrap());
    let text = std::fs::read_to_string(checkpoint.join("score_precision.json")).unwrap();
    let told: Value = serde_json::from_str(&text).unwrap();
    let texts = told["texts"].as_u64().unwrap();
    assert!(told["precision"] == "bf16" && (1..=16).contains(&texts), "{told}");
    // Equal scores would say that fp32 was compared with itself.
    let (largest, of_std) = (told["largest"].as_f64().unwrap(), told["of_std"].as_f64().unwrap());
    assert!(largest > 0.0 && of_std < 0.1, "{told}");
    let card = std::fs::read_to_string(checkpoint.join("README.md")).unwrap();
    assert!(card.contains(&format!("scores in bf16. On {texts} texts")), "{card}");

    let client = stash.operator();
    let later = client.import(traces(21).lines().last().unwrap()).await;
    for expected in [json!("bf16"), Value::Null] {
        let body = json!({ "reward_model_id": model["id"] });
        let run = client.post(&format!("traces/{}/score", later[0]), &body).await.ok();
        let run = over(&client, &format!("scoring-runs/{}", run["id"].as_str().unwrap())).await;
        assert_eq!(
            (&run["status"], &run["precision"]),
            (&json!("succeeded"), &expected),
            "the second computed nothing"
        );
    }
    assert_eq!(stash.terminate().code(), Some(0));
}
