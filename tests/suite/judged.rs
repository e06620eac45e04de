//! Trainings that learn from traces without any rating: by a model that judges, which here is a server that answers by script.

use crate::support::{Client, Folder, Stash, job_end};
use serde_json::{Value, json};
use stash_infra::testing::llm::judge::critical;
use stash_infra::testing::llm::{Answer, Held, LlmServer};

/// Traces of one answer each.
fn traces(count: usize) -> String {
    (0..count)
        .map(|number| {
            let steps = json!([
                {"role": "user", "content": format!("Where is parcel {number}?")},
                {"role": "assistant", "content": format!("It is in Lyon, I guess, number {number}.")},
            ]);
            json!({ "id": format!("t{number}"), "steps": steps }).to_string() + "\n"
        })
        .collect()
}

async fn train(client: &Client, traces: &[String]) -> String {
    let body = json!({ "name": "judged", "trace_ids": traces, "base_model": "stash/tiny", "epochs": 1 });
    client.post("reward-models", &body).await.ok()["id"].as_str().unwrap().to_owned()
}

async fn over(client: &Client, model: &str) -> Value {
    job_end("the training's end", async || {
        let found = client.get(&format!("reward-models/{model}")).await.ok();
        (found["status"] != "queued" && found["status"] != "running").then_some(found)
    })
    .await
}

#[tokio::test]
async fn a_model_learns_without_any_rating_and_a_second_one_asks_nothing_again() {
    let server = LlmServer::start(critical).await;
    let folder = Folder::new();
    let stash = Stash::up_judged(&folder.data(), &server).await;
    let client = stash.operator();
    let ids = client.import(&traces(24)).await;
    let model = over(&client, &train(&client, &ids).await).await;
    assert_eq!(model["status"], "succeeded", "{model}");
    // A judgment and a review of each answer; nobody reacted, so nobody is asked about reactions.
    assert_eq!(server.asked().len(), 48);
    let pairs = client.get(&format!("export/pairs?reward_model_id={}", model["id"].as_str().unwrap())).await;
    assert!(pairs.text.contains("ai_judgment") && pairs.text.contains("Better than"), "{}", pairs.text);

    let again = over(&client, &train(&client, &ids).await).await;
    assert_eq!(again["status"], "succeeded", "{again}");
    assert_eq!(server.asked().len(), 48, "answers are kept");
}

#[tokio::test]
async fn a_kill_between_calls_repeats_only_those_under_way() {
    let held = Held::default();
    let hold = held.clone();
    let server = LlmServer::start(move |asked| critical(asked).held(&hold)).await;
    let folder = Folder::new();
    let stash = Stash::up_judged(&folder.data(), &server).await;
    let client = stash.operator();
    // All in one conversation, so that three calls are under way at once.
    let steps: Vec<Value> = (0..6)
        .flat_map(|number| {
            let question = json!({"role": "assistant", "content": format!("It is in Lyon, number {number}.")});
            [json!({"role": "system", "content": format!("note {number}")}), question]
        })
        .collect();
    let ids = client.import(&json!({ "id": "long", "steps": steps }).to_string()).await;
    let model = train(&client, &ids).await;
    let mut stash = stash;
    let mut answered = 0;
    for answers in [1, 3] {
        server.wait_for(answered + 3).await;
        held.let_go(answers);
        answered += answers;
        // The calls that follow the answered ones have come: so those are kept.
        server.wait_for(answered + 3).await;
        let data = folder.data();
        stash.kill();
        stash = Stash::up_judged(&data, &server).await;
        // Those under way died with the process and are made again.
        answered += 3;
    }
    held.let_go(1000);
    let client = stash.operator();
    let model = over(&client, &model).await;
    assert_eq!(model["status"], "succeeded", "{model}");
    let asked = server.asked().len();
    assert!(asked <= 12 + 2 * 3, "{asked} calls for 12 questions and two crashes");
}

#[tokio::test]
async fn malformed_answers_fail_the_job_and_are_asked_to_be_mended_once() {
    let server = LlmServer::start(|_| Answer::says("I would rather not say.")).await;
    let folder = Folder::new();
    let stash = Stash::up_judged(&folder.data(), &server).await;
    let client = stash.operator();
    let ids = client.import(&traces(1)).await;
    let model = over(&client, &train(&client, &ids).await).await;
    assert_eq!(model["status"], "failed", "{model}");
    assert!(model["error"].as_str().unwrap().contains("did not answer as asked"), "{model}");
    assert_eq!(server.asked().len(), 2, "one repair, and no second attempt");
}
