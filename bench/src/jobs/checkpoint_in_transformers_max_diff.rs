//! `checkpoint_in_transformers_max_diff`: the greatest difference between a score that Stash serves and the score that transformers
//! computes from the model's downloaded checkpoint, opened with `AutoModelForSequenceClassification` in fp32, the exported text
//! tokenised there. Over the texts of all pairs of a model that was trained on generated traces, texts beyond the token limit among
//! them. `bench/peers/checkpoint.py` compares, and fails by itself where a text is too far off.

use super::trl::{is_left_out, python};
use crate::bench::{Bench, Log};
use crate::figure::{Better, Kind, Measured};
use crate::http::{Answer, Connection};
use crate::load::read_at;
use crate::peer;
use anyhow::{Context as _, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use stash_bench::corpus::Shape;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

pub(super) static KINDS: [Kind; 1] =
    [Kind { name: "checkpoint_in_transformers_max_diff", unit: "score", better: Better::Lower, target: Some(1e-4) }];

/// Traces of each size.
const TRACES: u64 = 16;
/// Bytes of a trace: of the longer ones, most texts are beyond the token limit of the small base.
const SIZES: [u64; 2] = [1_500, 9_000];
/// How long the training may take.
const TRAINING_MAX: Duration = Duration::from_secs(900);
/// Between two looks at it.
const LOOK: Duration = Duration::from_millis(500);

/// What `checkpoint.py` prints.
#[derive(Deserialize)]
struct Compared {
    texts: u64,
    cut_to_the_limit: u64,
    largest_difference: f64,
}

/// Measures.
pub(super) async fn run(bench: &mut Bench) -> anyhow::Result<Vec<Measured>> {
    if is_left_out(bench) {
        return Ok(Vec::new());
    }
    // Scores in bfloat16 are compared elsewhere.
    let place = bench.place(Log::Postgres)?.with("RM_SCORE_PRECISION", "fp32");
    let server = place.start().await?;
    let mut traces = Vec::new();
    for (seed, bytes_each) in (1..).zip(SIZES) {
        traces.extend(bench.import(&server.access, seed, Shape::Equal { count: TRACES, bytes_each }).await?);
    }
    let mut connection = Connection::open(&server.access).await?;
    let position = rate(&mut connection, &traces).await?;
    ensure!(read_at(&mut connection, "/traces?limit=1", position.as_deref()).await?, "ratings could not be read");
    let model = train(&mut connection, &traces).await?;
    let folder = unpack(bench, &mut connection, &model).await?;
    let script = bench.repository.join("bench/peers/checkpoint.py");
    let mut command = Command::new(peer::programs(&bench.repository, "hf")?.join("python"));
    command
        .arg(script)
        .args([model.as_str(), folder.to_str().context("the scratch folder is no Unicode")?])
        .env("STASH_URL", format!("http://{}", server.access.address))
        .env("STASH_API_KEY", &server.access.key);
    // The server runs on while the script asks it.
    let said = tokio::task::spawn_blocking(move || python(&mut command)).await??;
    let compared: Compared = serde_json::from_str(&said).with_context(|| format!("checkpoint.py printed {said:?}"))?;
    server.stop()?;
    ensure!(compared.cut_to_the_limit > 0, "no text was beyond the token limit");
    let note = format!("{} texts of pairs, {} of them beyond the limit", compared.texts, compared.cut_to_the_limit);
    Ok(vec![KINDS[0].is(compared.largest_difference, note)])
}

/// Rates each trace as a whole and its last answer, turn and turn about; gives the position of the last rating.
async fn rate(connection: &mut Connection, traces: &[String]) -> anyhow::Result<Option<String>> {
    let mut position = None;
    for (number, trace) in traces.iter().enumerate() {
        let detail: Value = connection.get(&format!("/traces/{trace}"), None).await?.json(200)?;
        let steps = detail["steps"].as_array().context("a trace without steps")?;
        let answer =
            steps.iter().rev().find(|step| step["role"] == "assistant").context("a trace without an answer")?;
        let rating = if number % 2 == 0 { 1 } else { -1 };
        for body in [json!({"rating": rating}), json!({"rating": rating, "step_id": answer["id"]})] {
            let answer = connection.post(&format!("/traces/{trace}/annotations"), &serde_json::to_vec(&body)?).await?;
            answer.expect(201)?;
            position = answer.position;
        }
    }
    Ok(position)
}

/// Trains on the small base and returns the model's id.
async fn train(connection: &mut Connection, traces: &[String]) -> anyhow::Result<String> {
    let body = json!({"name": "checkpoint", "trace_ids": traces, "base_model": "stash/tiny"});
    let made: Value = connection.post("/reward-models", &serde_json::to_vec(&body)?).await?.json(201)?;
    let id = made["id"].as_str().context("a model without an id")?.to_owned();
    let begin = Instant::now();
    loop {
        let model: Value = connection.get(&format!("/reward-models/{id}"), None).await?.json(200)?;
        match model["status"].as_str() {
            Some("succeeded") => return Ok(id),
            Some("queued" | "running") => {}
            _ => anyhow::bail!("the training failed: {}", model["error"]),
        }
        ensure!(begin.elapsed() < TRAINING_MAX, "the training took more than {} s", TRAINING_MAX.as_secs());
        tokio::time::sleep(LOOK).await;
    }
}

/// Downloads the checkpoint by its link and unpacks it.
async fn unpack(bench: &Bench, connection: &mut Connection, model: &str) -> anyhow::Result<PathBuf> {
    let link: Value = connection.get(&format!("/reward-models/{model}/weights"), None).await?.json(200)?;
    let url = link["url"].as_str().context("no link")?;
    // From the server's root, or with its address where it knows that.
    let path =
        url.find("://").and_then(|at| url[at + 3..].find('/').map(|slash| &url[at + 3 + slash..])).unwrap_or(url);
    let answer: Answer = connection.get_plain(path).await?;
    answer.expect(200)?;
    let (folder, archive) = (bench.path("checkpoint"), bench.path("checkpoint.tar.gz"));
    fs::create_dir_all(&folder)?;
    fs::write(&archive, &answer.body)?;
    let status = Command::new("tar").arg("xzf").arg(&archive).arg("-C").arg(&folder).status()?;
    ensure!(status.success(), "the checkpoint is no archive");
    Ok(folder.join("model"))
}
