//! Training and scoring over HTTP: a rule that can be learnt, a model of trace pairs alone, and what is refused.

use super::support::{Client, Folder, Stash, job_end};
use reqwest::Method;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Questions and answers of a trace that takes long to score.
const LONG_TURNS: usize = 1500;

/// Traces whose good answers ask for the order's number first, and whose bad ones promise at once.
pub(crate) fn traces(count: usize) -> String {
    let things = ["lamp", "rug", "chair", "desk", "shelf", "clock", "mirror"];
    let mut lines = String::new();
    for number in 0..count {
        let thing = things[number % things.len()];
        let answer = if number.is_multiple_of(2) {
            "May I have the number of your order, please?"
        } else {
            "Done, your money is on its way already!"
        };
        let line = json!({
            "id": format!("t{number}"),
            "steps": [
                {"role": "system", "content": "You are a shop's assistant."},
                {"role": "user", "content": format!("I want to send back the {thing} I bought, number {number}.")},
                {"role": "assistant", "content": answer},
            ],
        });
        writeln!(lines, "{line}").unwrap();
    }
    lines
}

pub(crate) async fn rate(client: &Client, trace: &str, number: usize, step: bool) {
    let mut body = json!({ "rating": if number.is_multiple_of(2) { 1 } else { -1 } });
    if step {
        let detail = client.get(&format!("traces/{trace}")).await.ok();
        body["step_id"] = detail["steps"][2]["id"].clone();
    }
    client.post(&format!("traces/{trace}/annotations"), &body).await.ok();
}

pub(crate) async fn train(client: &Client, name: &str, traces: &[String]) -> Value {
    let body = json!({ "name": name, "trace_ids": traces, "base_model": "stash/tiny", "epochs": 3, "max_pairs": 200 });
    let model = client.post("reward-models", &body).await.ok();
    over(client, &format!("reward-models/{}", model["id"].as_str().unwrap())).await
}

pub(crate) async fn over(client: &Client, path: &str) -> Value {
    job_end("the job's end", async || {
        let found = client.get(path).await.ok();
        (found["status"] != "queued" && found["status"] != "running").then_some(found)
    })
    .await
}

/// A request with an idempotency key, and its repeat.
async fn again_with(client: &Client, path: &str, body: &Value) -> Value {
    let request = client.request(Method::POST, path).header("Idempotency-Key", "again").json(body);
    client.send(request).await.ok()
}

#[tokio::test]
async fn a_rule_is_learnt_and_scores_new_traces() {
    let folder = Folder::new();
    let stash = Stash::up(&folder.data()).await;
    let client = stash.operator();
    let ids = client.import(&traces(60)).await;
    for (number, id) in ids.iter().enumerate() {
        rate(&client, id, number, true).await;
    }
    let model = train(&client, "asks first", &ids).await;
    assert_eq!(model["status"], "succeeded", "{model}");
    let metrics = &model["metrics"];
    assert!(metrics["eval_accuracy"].as_f64().unwrap() >= 0.9, "{metrics}");
    assert_eq!(metrics["action_scoring_version"], 1);
    assert!(metrics["action_eval_pairs"].as_u64().unwrap() > 0);
    assert!(metrics["tool_eval_accuracy"].is_null());
    // The whole curve was told while it trained, and what the model is made of afterwards.
    let (curve, points) = (&model["curve"], model["curve"]["points"].as_array().unwrap());
    assert_eq!((&curve["step"], &curve["eta_s"]), (&curve["steps"], &json!(0.0)));
    assert_eq!(points.last().unwrap()["step"], curve["steps"]);
    assert!(points[0]["loss"].as_f64() > points.last().unwrap()["loss"].as_f64(), "{curve}");
    for digest in ["dataset_digest", "base_checksum"] {
        assert_eq!(model[digest].as_str().map(str::len), Some(64), "{digest}");
    }
    assert_eq!(model["code_version"], env!("CARGO_PKG_VERSION"));

    // A trace that came later is scored on request, once for two requests at the same time.
    let later = client.import(&traces(62).lines().skip(60).fold(String::new(), |all, line| all + line + "\n")).await;
    let body = json!({ "reward_model_id": model["id"] });
    let path = format!("traces/{}/score", later[0]);
    let run = client.post(&path, &body).await;
    assert_eq!(run.status.as_u16(), 202);
    let run = run.ok();
    let again = again_with(&client, &path, &body).await;
    let done = over(&client, &format!("scoring-runs/{}", run["id"].as_str().unwrap())).await;
    assert_eq!(done["status"], "succeeded", "{done}");
    over(&client, &format!("scoring-runs/{}", again["id"].as_str().unwrap())).await;
    // Whether it joined the first run or began one, a repeat gets what it got, though that is over and another would begin now.
    let other = client.post(&path, &body).await.ok();
    assert_ne!(other["id"], again["id"]);
    assert_eq!(again_with(&client, &path, &body).await["id"], again["id"]);
    let other = over(&client, &format!("scoring-runs/{}", other["id"].as_str().unwrap())).await;
    assert_eq!(other["status"], "succeeded", "all its texts have scores already: {other}");
    let detail = client.get(&format!("traces/{}", later[0])).await.ok();
    let credit = detail["action_scores"][0]["credit"].as_f64().unwrap();
    assert!(credit > 0.0, "an action that keeps the rule has positive credit: {credit}");

    // A re-import that changes the steps drops their scores.
    let changed =
        json!({"id": "t60", "steps": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]});
    client.import(&changed.to_string()).await;
    let detail = client.get(&format!("traces/{}", later[0])).await.ok();
    assert_eq!(detail["action_scores"], json!([]));
    assert_eq!(detail["scores"], json!([]));
    let weights = client.get(&format!("reward-models/{}/weights", model["id"].as_str().unwrap())).await.ok();
    assert!(weights["url"].as_str().unwrap().contains("/artifacts/"));
}

#[tokio::test]
async fn a_run_at_work_fails_when_the_steps_under_it_are_replaced() {
    let folder = Folder::new();
    let stash = Stash::up(&folder.data()).await;
    let client = stash.operator();
    let ids = client.import(&traces(12)).await;
    for (number, id) in ids.iter().enumerate() {
        rate(&client, id, number, true).await;
    }
    let model = train(&client, "asks first", &ids).await;
    assert_eq!(model["status"], "succeeded", "{model}");

    // Every action but the first few is a text of its own of 1,024 tokens: seconds of work, even for the smallest base.
    let turn = |number: usize| {
        let text = format!("Where is parcel {number}, and when will it be here? ").repeat(8);
        [
            json!({"role": "user", "content": text}),
            json!({"role": "assistant", "content": format!("No idea, {number}.")}),
        ]
    };
    let long = json!({"id": "long", "steps": (0..LONG_TURNS).flat_map(turn).collect::<Vec<Value>>()});
    let trace = client.import(&long.to_string()).await;
    let path = format!("traces/{}/score", trace[0]);
    let run = client.post(&path, &json!({ "reward_model_id": model["id"] })).await.ok();
    let run = format!("scoring-runs/{}", run["id"].as_str().unwrap());
    job_end("the run at work", async || (client.get(&run).await.ok()["status"] == "running").then_some(())).await;
    let short =
        json!({"id": "long", "steps": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]});
    client.import(&short.to_string()).await;
    let done = over(&client, &run).await;
    assert_eq!(done["status"], "failed", "{done}");
    assert!(done["error"].as_str().unwrap().contains("were replaced while they were scored"), "{done}");
    let detail = client.get(&format!("traces/{}", trace[0])).await.ok();
    assert_eq!((&detail["action_scores"], &detail["scores"]), (&json!([]), &json!([])), "nothing of it is published");
    // It can be asked for again.
    let run = client.post(&path, &json!({ "reward_model_id": model["id"] })).await.ok();
    let done = over(&client, &format!("scoring-runs/{}", run["id"].as_str().unwrap())).await;
    assert_eq!(done["status"], "succeeded", "{done}");
}

#[tokio::test]
async fn a_model_of_trace_pairs_alone_scores_no_actions_and_says_so() {
    let folder = Folder::new();
    let stash = Stash::up(&folder.data()).await;
    let client = stash.operator();
    let ids = client.import(&traces(12)).await;
    for (number, id) in ids.iter().enumerate() {
        rate(&client, id, number, false).await;
    }
    let model = train(&client, "traces only", &ids).await;
    assert_eq!(model["status"], "succeeded", "{model}");
    assert!(model["metrics"]["action_scoring_version"].is_null());
    let detail = client.get(&format!("traces/{}", ids[0])).await.ok();
    assert_eq!(detail["scores"].as_array().unwrap().len(), 1);
    assert_eq!(detail["action_scores"], json!([]));
    let refused = client.post(&format!("traces/{}/score", ids[0]), &json!({ "reward_model_id": model["id"] })).await;
    assert_eq!(refused.status.as_u16(), 422);
    assert_eq!(refused.body["type"], "/docs/errors/incompatible_model");
}

#[tokio::test]
async fn too_few_pairs_fail_with_what_to_do_before_a_base_is_looked_for() {
    let folder = Folder::new();
    let stash = Stash::up(&folder.data()).await;
    let client = stash.operator();
    let ids = client.import(&traces(3)).await;
    rate(&client, &ids[0], 0, true).await;
    // A base that is nowhere: had it been looked for first, the error would name it.
    let body = json!({ "name": "too few", "trace_ids": ids, "base_model": "nobody/nothing" });
    let model = client.post("reward-models", &body).await.ok();
    let path = format!("reward-models/{}", model["id"].as_str().unwrap());
    let failed = over(&client, &path).await;
    assert_eq!(failed["status"], "failed");
    let error = failed["error"].as_str().unwrap();
    assert!(error.contains("at least 2") && error.contains("rate more"), "{error}");
    assert!(
        error.contains("RM_LEARNING_MODEL"),
        "no model judges here, and it is said which setting names one: {error}"
    );
    assert!(failed["num_pairs"].is_null() && failed["metrics"].is_null());

    rate(&client, &ids[1], 1, true).await;
    rate(&client, &ids[2], 2, true).await;
    let model = client.post("reward-models", &body).await.ok();
    let failed = over(&client, &format!("reward-models/{}", model["id"].as_str().unwrap())).await;
    assert!(failed["error"].as_str().unwrap().contains("nobody/nothing"), "{failed}");
}
