//! The main job on recorded data: 200 trajectories of an airline agent with known success (tau-bench, MIT), from import to
//! scores. The data is not part of this repository: where it is not beside the clone, the test says so and checks nothing.

use super::support::{Client, Folder, Stash, job_end};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

fn data() -> Option<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data/tau_airline/traces.openai_chat.jsonl");
    std::fs::read_to_string(path).ok()
}

/// What of a source message must come back: role, text, call, arguments, call id.
type Said = (String, String, Option<String>, Option<Value>, Option<String>);

#[tokio::test]
async fn two_hundred_recorded_trajectories_are_imported_rated_learnt_from_and_exported() {
    let Some(source) = data() else {
        say("SKIPPED: the recorded trajectories are not beside this clone, so nothing was checked");
        return;
    };
    let folder = Folder::new();
    let stash = Stash::up(&folder.data()).await;
    let client = stash.operator();

    let imported = import(&client, "openai_chat", source.clone()).await;
    assert_eq!((&imported["imported"], &imported["updated"]), (&json!(200), &json!(0)));
    let ids: Vec<String> = strings(&imported["trace_ids"]);

    let exported = client.get("export/traces").await.text;
    assert_export_equals_source(&exported, &source);
    let before = step_ids(&client, &ids).await;
    let again = import(&client, "stash", exported).await;
    assert_eq!((&again["imported"], &again["updated"]), (&json!(200), &json!(200)));
    assert_eq!(step_ids(&client, &ids).await, before, "an import of the export keeps every step's id");

    rate_by_success(&client, &source).await;
    let model = train(&client, &ids).await;
    let metrics = &model["metrics"];
    say(&format!(
        "tau airline: {} training pairs, {} held out, accuracy {} (95 % interval {}), {} excluded, {} s",
        metrics["train_pairs"],
        metrics["eval_pairs"],
        metrics["eval_accuracy"],
        metrics["eval_interval"],
        metrics["excluded_cross_trace_pairs"],
        metrics["seconds"]
    ));
    assert!(
        metrics["eval_accuracy"].is_f64() && metrics["eval_interval"].as_array().is_some_and(|both| both.len() == 2)
    );
    assert_everything_is_scored(&client, &ids, &model).await;
    assert_pairs_are_the_models(&client, &model).await;
}

/// Straight to the terminal, past the test runner's capture: a figure and a skip are to be seen in every run.
fn say(line: &str) {
    let mut terminal = std::io::stderr().lock();
    writeln!(terminal, "{line}").unwrap();
}

async fn import(client: &Client, format: &str, body: String) -> Value {
    let request = client
        .request(Method::POST, &format!("traces/import?format={format}"))
        .header("Content-Type", "application/jsonl")
        .body(body);
    client.send(request).await.ok()
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The steps that a source message becomes: its text, if any, and then each of its calls.
fn said_by_source(message: &Value) -> Vec<Said> {
    let role = text(&message["role"]);
    let content = text(&message["content"]);
    let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
    let mut said = Vec::new();
    if role == "tool" || !content.trim().is_empty() {
        let call_id = message["tool_call_id"].as_str().map(str::to_owned);
        said.push((role.clone(), content, None, None, call_id));
    }
    for call in calls {
        let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
        let name = Some(text(&call["function"]["name"]));
        said.push((role.clone(), String::new(), name, Some(arguments), Some(text(&call["id"]))));
    }
    said
}

fn said_by_step(step: &Value) -> Said {
    let call = step["role"] == "assistant" && step["tool_name"].is_string();
    let name = step["tool_name"].as_str().filter(|_| call).map(str::to_owned);
    let input = call.then(|| step["tool_input"].clone());
    (text(&step["role"]), text(&step["content"]), name, input, step["tool_call_id"].as_str().map(str::to_owned))
}

fn assert_export_equals_source(exported: &str, source: &str) {
    let by_id = |lines: &str| -> BTreeMap<String, Value> {
        lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|trace| (text(&trace["id"]), trace))
            .collect()
    };
    let (exported, source) = (by_id(exported), by_id(source));
    assert_eq!(exported.len(), 200);
    for (id, trace) in &source {
        let expected: Vec<Said> = trace["messages"].as_array().unwrap().iter().flat_map(said_by_source).collect();
        let found: Vec<Said> = exported[id]["steps"].as_array().unwrap().iter().map(said_by_step).collect();
        assert_eq!(found, expected, "trace {id}");
    }
}

async fn step_ids(client: &Client, traces: &[String]) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for trace in traces {
        let detail = client.get(&format!("traces/{trace}")).await.ok();
        all.push(detail["steps"].as_array().unwrap().iter().map(|step| text(&step["id"])).collect());
    }
    all
}

/// Rates each trace, and its last action, by whether the task was done.
async fn rate_by_success(client: &Client, source: &str) {
    for line in source.lines() {
        let trace: Value = serde_json::from_str(line).unwrap();
        let rating = if trace["metadata"]["reward"].as_f64().unwrap() > 0.5 { 1 } else { -1 };
        let id = text(&trace["id"]);
        let detail = client.get(&format!("traces/external:{id}")).await.ok();
        let path = format!("traces/{}/annotations", text(&detail["id"]));
        client.post(&path, &json!({ "rating": rating })).await.ok();
        let steps = detail["steps"].as_array().unwrap();
        let last = steps.iter().rev().find(|step| step["role"] == "assistant").unwrap();
        client.post(&path, &json!({ "rating": rating, "step_id": last["id"] })).await.ok();
    }
}

async fn train(client: &Client, traces: &[String]) -> Value {
    let body = json!({ "name": "airline", "trace_ids": traces, "base_model": "stash/tiny", "max_pairs": 240 });
    let model = client.post("reward-models", &body).await.ok();
    assert_eq!(model["status"], "queued");
    let path = format!("reward-models/{}", text(&model["id"]));
    let done = job_end("the training's end", async || {
        let model = client.get(&path).await.ok();
        (model["status"] != "queued" && model["status"] != "running").then_some(model)
    })
    .await;
    assert_eq!(done["status"], "succeeded", "{done}");
    done
}

async fn assert_everything_is_scored(client: &Client, traces: &[String], model: &Value) {
    for trace in traces {
        let detail = client.get(&format!("traces/{trace}")).await.ok();
        let of_model = |list: &Value| {
            list.as_array()
                .unwrap()
                .iter()
                .filter(|score| score["reward_model_id"] == model["id"])
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(of_model(&detail["scores"]).len(), 1, "trace {trace}");
        let actions: Vec<&Value> = detail["steps"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|step| step["role"] == "assistant")
            .map(|step| &step["id"])
            .collect();
        let scored = of_model(&detail["action_scores"]);
        let mut scored_ids: Vec<&Value> = scored.iter().map(|score| &score["step_id"]).collect();
        assert_eq!(scored_ids.len(), actions.len(), "trace {trace}");
        scored_ids.retain(|id| !actions.contains(id));
        assert!(scored_ids.is_empty());
        for score in &scored {
            assert!(score["credit"].as_f64().unwrap().abs() <= 1.0);
            assert!(score["score"].as_f64().unwrap().is_finite());
        }
    }
}

async fn assert_pairs_are_the_models(client: &Client, model: &Value) {
    let pairs = client.get(&format!("export/pairs?reward_model_id={}", text(&model["id"]))).await;
    assert!(pairs.status.is_success());
    let pairs: Vec<Value> = pairs.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json!(pairs.len()), model["num_pairs"]);
    for pair in &pairs {
        assert!(pair["chosen"].is_string() && pair["rejected"].is_string() && pair["chosen"] != pair["rejected"]);
        assert!((1..=2).contains(&pair["trace_ids"].as_array().unwrap().len()));
    }
}
